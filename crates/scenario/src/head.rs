//! `[scenario]` and `[nodes.<name>]`.

use slantpath_base::Duration;
use slantpath_reader::{Setting, choice, section};

use crate::bounds::RUN;

section! {
    /// What is run, for how long and from which seed.
    pub struct Head {
        /// The scenario's name, which heads its results.
        name: Setting<String>;
        /// What it shows, in a sentence.
        description: Setting<String> = String::new();
        /// How long it runs, in simulated time.
        duration: Setting<Duration>, at most RUN;
        /// From when on results count: what was sent earlier is not in the statistics.
        warm_up: Setting<Duration> = Duration::ZERO, at most RUN;
        /// What every random draw derives from, with the number of the replication.
        seed: Setting<u64> = 1;
        /// How routes follow links that go down and come up.
        routing: Setting<Routing> = Routing::Static;
    }
}

choice! {
    /// How routes follow the state of links.
    pub enum Routing {
        /// They are worked out anew whenever a link goes down or comes up.
        Dynamic = "dynamic",
        /// They are worked out once, with every link up.
        Static = "static",
    }
}

section! {
    /// A host or a router.
    pub struct Node {
        /// Hosts end flows, routers forward.
        kind: Setting<NodeKind>;
    }
}

choice! {
    /// What a node does.
    pub enum NodeKind {
        /// Ends flows and forwards nothing.
        Host = "host",
        /// Forwards packets along shortest paths.
        Router = "router",
    }
}
