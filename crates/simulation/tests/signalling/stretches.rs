//! Runs in stretches of so many events.

use slantpath_base::Instant;
use slantpath_sctp::SctpConfig;
use slantpath_signalling::network::{LinkCarrier, LinkChange, NetworkConfig};
use slantpath_ss7::mtp3::node::SequenceNumbers;

use crate::fixture::{Run, direction, line, link, load, m2pa, point, start};

const END: Instant = Instant::from_secs(30);

/// Two points and a link of this kind, which is out for a while.
fn begin(carrier: LinkCarrier) -> Run {
    let sequence = match carrier {
        LinkCarrier::Association(_) => SequenceNumbers::Bits24,
        LinkCarrier::Line(_) => SequenceNumbers::Bits7,
    };
    let config = NetworkConfig {
        points: vec![point(0, &[(1, 1, sequence)]), point(1, &[(0, 1, sequence)])],
        links: vec![link(0, carrier)],
        loads: vec![load(1, 0.2, "20 s", "28 s")],
        ..NetworkConfig::default()
    };
    let script = [("23 s", 0, LinkChange::Deactivate), ("24 s", 0, LinkChange::Activate)];
    start(config, &SctpConfig::default(), &direction("2 Mbit/s", "20 ms"), &script)
}

/// Runs up to the end in stretches of so many events; gives the instants at which they ended before.
fn stretched(run: &mut Run, events: u64) -> Vec<Instant> {
    let mut ends = Vec::new();
    while !run.simulation.run_at_most(events, &mut run.network, END) {
        ends.push(run.network.now());
    }
    ends
}

#[test]
fn a_stretch_has_as_many_instants_as_it_asks_for_where_only_the_signalling_network_is_due() {
    let mut run = begin(line("5 ms", 0.0));
    let instants = stretched(&mut run, 1);
    assert!(instants.len() > 100 && instants.is_sorted());
    assert_eq!(run.network.events(), 0);
    for events in [2, 3, 10] {
        let every = usize::try_from(events).unwrap();
        let expected: Vec<Instant> = instants.iter().skip(every - 1).step_by(every).copied().collect();
        assert_eq!(stretched(&mut begin(line("5 ms", 0.0)), events), expected, "{events}");
    }
}

#[test]
fn a_run_in_stretches_is_the_same_run_and_none_is_much_longer_or_shorter_than_it_asks_for() {
    let mut whole = begin(m2pa());
    whole.simulation.run_until(&mut whole.network, END);
    let (all, instants) = (whole.network.events(), stretched(&mut begin(m2pa()), 1).len() as u64);
    for events in [10, 30] {
        let mut run = begin(m2pa());
        let stretches = stretched(&mut run, events).len() as u64;
        assert_eq!((run.network.now(), run.network.digest()), (END, whole.network.digest()));
        assert_eq!(run.simulation.signalling().events(), whole.simulation.signalling().events());
        // Each but the last has as many instants, or as many events, and all of those of its last instant.
        assert!(stretches * events <= instants + all, "{stretches} stretches of {events} events");
        assert!(all < 2 * stretches * events, "{stretches} stretches of {events} events");
    }
}
