//! Rate, delay and loss that an attached node has at present, as an emulation tells them while it runs.

use std::io;
use std::path::Path;

use slantpath_base::{Duration, Instant};
use slantpath_net::InterfaceId;
use slantpath_runner::{
    Attachment, CarriageTerms, InterfaceReport, Outside, RunOptions, Scenario, Turn, files_in,
    run_attached_without_records,
};
use slantpath_wire::Packet;

/// Link whose directions change, each for itself.
const CHANGING: &str = r#"
[scenario]
name = "changing"
duration = "10 s"

[nodes]
near.kind = "attached"
far.kind = "host"

[links.access]
ends = ["near", "far"]
rate = "2 Mbit/s"
delay = "10 ms"

[[script]]
at = "1 s"
link = "access"
direction = "forward"
action = "set"
delay = "20 ms"
loss = "1 %"

[[script]]
at = "2 s"
link = "access"
direction = "reverse"
action = "down"

[[script]]
at = "3 s"
link = "access"
direction = "forward"
action = "down"
"#;

/// Somebody who asks each second what a packet finds that leaves an attached node by an interface.
struct Asking {
    /// Link or antenna of the interface.
    link: &'static str,
    interface: Option<InterfaceId>,
    seconds: u64,
    found: Vec<CarriageTerms>,
}

impl Outside for Asking {
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        let mut interfaces = attachments.iter().flat_map(|node| &node.interfaces);
        self.interface = interfaces.find(|own| own.link == self.link).map(|own| own.id);
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        self.found.push(turn.carriage_terms(self.interface.unwrap()));
        self.seconds -= 1;
        Ok((self.seconds > 0).then(|| turn.now + Duration::from_secs(1)))
    }

    fn depart(&mut self, _: Instant, _: InterfaceId, _: Packet) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        Ok(vec![])
    }
}

/// Terms at the start and at each of the next seconds, so many in all.
fn found(scenario: &Scenario, link: &'static str, seconds: u64) -> Vec<CarriageTerms> {
    let mut asking = Asking { link, interface: None, seconds, found: Vec::new() };
    run_attached_without_records(scenario, &RunOptions::default(), &mut asking).unwrap();
    asking.found
}

#[test]
fn a_packet_finds_what_its_direction_has_at_present() {
    let scenario = Scenario::parse("changing", CHANGING, &[], files_in(Path::new("."))).unwrap();
    let told = found(&scenario, "access", 4).into_iter().map(|terms| {
        (terms.rate.as_bits_per_sec(), terms.delay.as_millis(), terms.loss.as_f64(), terms.is_carrying)
    });
    let told: Vec<_> = told.collect();
    let (before, after) = ((2_000_000, 10, 0.0, true), (2_000_000, 20, 0.01, true));
    assert_eq!(told, [before, after, after, (2_000_000, 20, 0.01, false)]);
}

/// The satellite that the islands see sets 12.6 s after the start, and the next one rises 6.3 s later.
#[test]
fn an_antenna_without_a_satellite_carries_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/emulated-islands.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let scenario = Scenario::parse("islands", &text, &[], files_in(path.parent().unwrap())).unwrap();
    let found = found(&scenario, "leo-faial", 26);
    let carried: Vec<usize> = (0..26).filter(|second| found[*second].is_carrying).collect();
    assert_eq!(carried, (0..=12).chain(19..26).collect::<Vec<_>>());
    // One leaves, and the other one comes.
    let delays = |seconds: core::ops::Range<usize>| found[seconds].iter().map(|terms| terms.delay);
    assert!(delays(0..13).is_sorted() && delays(19..26).rev().is_sorted(), "{found:?}");
}
