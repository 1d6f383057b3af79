//! Changes that are asked for while a network runs: each is what the same event of a script would be.

use std::io;

use slantpath_base::{Duration, Instant};
use slantpath_net::InterfaceId;
use slantpath_runner::{
    AskedChange, Attachment, InterfaceReport, Outside, RunOptions, RunOutput, Scenario, Turn, files_in,
    run_attached_without_records,
};
use slantpath_wire::Packet;

const SCENARIO: &str = "\
[scenario]
name = \"t\"
duration = \"10 s\"
[nodes]
a.kind = \"host\"
b.kind = \"host\"
near.kind = \"attached\"
[links.satellite]
ends = [\"a\", \"b\"]
rate = \"2 Mbit/s\"
delay = \"50 ms\"
[links.access]
ends = [\"near\", \"a\"]
rate = \"2 Mbit/s\"
delay = \"1 ms\"
[flows.f]
from = \"a\"
to = \"b\"
transport = \"sctp\"
application = { kind = \"bulk\", total = \"1 MB\" }
";

/// Instant of a change, its keys with their values, and if it is an event.
type Asked = (Instant, Vec<(String, String)>, bool);

/// Somebody who asks for changes, each once its instant has come.
#[derive(Default)]
struct Asking {
    asked: Vec<Asked>,
    told: Vec<String>,
}

impl Outside for Asking {
    fn changes_links(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &[Attachment]) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        let until = turn.now + Duration::from_millis(7);
        while let Some((at, pairs, is_event)) = self.asked.first().filter(|(at, ..)| *at < until) {
            let change = if *is_event { AskedChange::Event(pairs) } else { AskedChange::Settings(pairs) };
            self.told.push(match turn.change(*at, &change) {
                Ok(events) => format!("{events:?}"),
                Err(faults) => faults.to_string(),
            });
            self.asked.remove(0);
        }
        Ok((turn.now < Instant::from_secs(20)).then_some(until))
    }

    fn depart(&mut self, _: Instant, _: InterfaceId, _: Packet) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        Ok(vec![InterfaceReport::default()])
    }
}

fn run(script: &str, asking: &mut Asking) -> RunOutput {
    let text = format!("{SCENARIO}{script}");
    let scenario = Scenario::parse("t", &text, &[], files_in(std::path::Path::new(".")))
        .unwrap_or_else(|e| panic!("{e}"));
    run_attached_without_records(&scenario, &RunOptions::default(), asking).unwrap()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// Changes of every kind that a script can make, of both directions and of one.
fn asked() -> Vec<Asked> {
    let down = [("action", "\"down\""), ("link", "\"satellite\""), ("direction", "\"reverse\"")];
    let up = [("action", "\"up\""), ("link", "\"satellite\""), ("direction", "\"reverse\"")];
    let slow = [("links.satellite.forward.rate", "500 kbit/s"), ("links.satellite.forward.loss", "5 %")];
    vec![
        (Instant::from_millis(1_000), pairs(&slow), false),
        (Instant::from_millis(2_000), pairs(&down), true),
        (Instant::from_millis(2_500), pairs(&up), true),
        (Instant::from_millis(3_000), pairs(&[("links.satellite.loss", "0")]), false),
    ]
}

const SCRIPT: &str = "\
[[script]]
at = \"1 s\"
link = \"satellite\"
direction = \"forward\"
action = \"set\"
rate = \"500 kbit/s\"
loss = \"5 %\"
[[script]]
at = \"2 s\"
link = \"satellite\"
direction = \"reverse\"
action = \"down\"
[[script]]
at = \"2.5 s\"
link = \"satellite\"
direction = \"reverse\"
action = \"up\"
[[script]]
at = \"3 s\"
link = \"satellite\"
action = \"set\"
loss = \"0 %\"
";

#[test]
fn a_change_that_is_asked_for_is_the_same_event_of_a_script() {
    let mut asking = Asking { asked: asked(), ..Asking::default() };
    let live = run("", &mut asking);
    assert_eq!(asking.told.len(), 4, "{:?}", asking.told);
    let scripted = run(SCRIPT, &mut Asking::default());
    assert_eq!(live.digest, scripted.digest);
    assert_eq!(live.tables, scripted.tables);
    let untouched = run("", &mut Asking::default());
    assert_ne!(live.digest, untouched.digest);
    let script = live.tables.iter().find(|table| table.name() == "script").expect("events were asked for");
    assert_eq!(script.rows(), 4);
    assert!(untouched.tables.iter().all(|table| table.name() != "script"));
}

#[test]
fn what_is_refused_leaves_no_trace() {
    let settings = pairs(&[("links.satellite.delay", "1 ms"), ("links.satelite.loss", "5 %")]);
    let mut asking =
        Asking { asked: vec![(Instant::from_millis(1_000), settings, false)], ..Asking::default() };
    let refused = run("", &mut asking);
    assert!(asking.told[0].contains("did you mean `satellite`?"), "{:?}", asking.told);
    let untouched = run("", &mut Asking::default());
    assert_eq!((refused.digest, refused.tables), (untouched.digest, untouched.tables));
}

#[test]
fn a_change_of_an_instant_that_has_begun_happens_at_the_next() {
    let settings = pairs(&[("links.satellite.loss", "5 %")]);
    let mut asking = Asking { asked: vec![(Instant::START, settings, false)], ..Asking::default() };
    let late = run("", &mut asking);
    let script = late.tables.iter().find(|table| table.name() == "script").unwrap();
    assert_eq!(format!("{:?}", script.columns()[0].at(0)), "F64(1e-9)");
}
