//! `[scenario]`: what is run, for how long and from which seed.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Setting, choice, section};

use crate::bounds::RUN;

section! {
    /// Name, length and seed of a run.
    pub struct Head {
        /// The scenario's name, which heads its results.
        name: Setting<String>;
        /// Description of what it shows, in a sentence.
        description: Setting<String> = String::new();
        /// Length of the run, in simulated time.
        duration: Setting<Duration>, at most RUN;
        /// From when on results count: what was sent earlier is not in the statistics.
        warm_up: Setting<Duration> = Duration::ZERO, at most RUN;
        /// Seed from which every random draw derives, with the number of the replication.
        seed: Setting<u64> = 1;
        /// Way in which routes follow links that go down and come up.
        routing: Setting<Routing> = Routing::Static;
    }
}

choice! {
    /// Way in which routes follow the state of links.
    pub enum Routing {
        /// They are worked out anew whenever a link goes down or comes up.
        Dynamic = "dynamic",
        /// They are worked out once, with every link up.
        Static = "static",
    }
}

/// A run that has a length.
pub(crate) fn check(head: &Head, faults: &mut Faults) {
    if head.duration.is_zero() {
        let fault = Fault::new("a run of no length shows nothing").help("write `duration = \"60 s\"`");
        faults.report(head.duration.place(), fault);
    } else if *head.warm_up >= *head.duration {
        let message =
            format!("the warm-up of {} leaves nothing of the run of {}", *head.warm_up, *head.duration);
        faults.report(head.warm_up.place(), Fault::new(message).help("let it end before `duration`"));
    }
}

/// Reports a run in which nobody sends.
pub(crate) fn nothing_sent(head: &Head, faults: &mut Faults) {
    let help = "add a table `[flows.<name>]` that says who sends what to whom, or nodes of kind `attached`";
    faults.report(head.name.place(), Fault::new("the scenario has no flow").help(help));
}
