//! Lines of MTP2 between two points.

use slantpath_base::{Duration, Instant};
use slantpath_signalling::PointEventKind;
use slantpath_signalling::network::{LinkChange, NetworkConfig, Side, SignallingLinkId};
use slantpath_simulation::LinkAvailability;
use slantpath_ss7::mtp3::node::SequenceNumbers;

use crate::fixture::{Run, Script, direction, line, link, load, point, run, settle};

fn two_lines(script: Script<'_>, delay: &str, bit_error_rate: f64, erlang: f64) -> Run {
    let bits = SequenceNumbers::Bits7;
    let config = NetworkConfig {
        points: vec![point(0, &[(1, 2, bits)]), point(1, &[(0, 2, bits)])],
        links: (0..2).map(|number| link(number, line(delay, bit_error_rate))).collect(),
        loads: vec![load(2, erlang, "20 s", "80 s")],
        ..NetworkConfig::default()
    };
    run(config, &direction("1 Mbit/s", "1 ms"), script, "100 s")
}

#[test]
fn a_line_at_a_third_of_its_load_delivers_everything_in_its_turn() {
    let mut run = two_lines(&[], "5 ms", 0.0, 0.36);
    let reports = run.reports();
    let [sent, rest @ ..] = settle(&reports);
    assert!((5_000..6_300).contains(&sent), "{sent}");
    assert_eq!(rest, [0, 0, 0]);
    for report in &reports {
        // 60 octets take 7.5 ms, the way 5 ms; what waits is that of Q.706's queue: some milliseconds.
        let mean = report.delay_mean.unwrap();
        assert!((Duration::from_millis(13)..Duration::from_millis(17)).contains(&mean), "{mean}");
        assert_eq!(report.unavailable, Duration::ZERO);
    }
}

#[test]
fn changeover_to_the_other_line_loses_nothing_and_keeps_the_sequence() {
    let mut run =
        two_lines(&[("40 s", 0, LinkChange::Fail), ("55 s", 0, LinkChange::Restore)], "5 ms", 0.0, 0.2);
    let [_, rest @ ..] = settle(&run.reports());
    assert_eq!(rest, [0, 0, 0]);
    let signalling = run.simulation.signalling();
    for side in Side::BOTH {
        let mut availability = LinkAvailability::default();
        let events = signalling.events().iter().filter(|e| e.is_at(SignallingLinkId(0), side));
        events.for_each(|event| availability.observe(event));
        let availability = availability.until(Instant::from_secs(100));
        assert_eq!((availability.times_available, availability.times_unavailable), (2, 1));
        // 15 s of break, and then the alignment that is under way or begins.
        let outage = availability.outage;
        assert!((Duration::from_secs(15)..Duration::from_secs(40)).contains(&outage), "{outage}");
    }
    let lossy = |kind: PointEventKind| kind == PointEventKind::ChangeoverWithoutSequence;
    assert!(!signalling.events().iter().any(|event| lossy(event.kind)));
}

#[test]
fn management_takes_a_line_out_in_order() {
    let mut run = two_lines(
        &[("40 s", 1, LinkChange::Deactivate), ("50 s", 1, LinkChange::Activate)],
        "5 ms",
        0.0,
        0.2,
    );
    let [_, rest @ ..] = settle(&run.reports());
    assert_eq!(rest, [0, 0, 0]);
}

#[test]
fn without_any_line_every_message_is_refused_or_lost_and_counted() {
    let mut run =
        two_lines(&[("40 s", 0, LinkChange::Fail), ("40 s", 1, LinkChange::Fail)], "5 ms", 0.0, 0.2);
    let reports = run.reports();
    let [sent, lost, repeated, out_of_sequence] = settle(&reports);
    assert!(lost > sent / 2 && lost < sent, "{lost} of {sent}");
    assert_eq!((repeated, out_of_sequence), (0, 0));
    for report in &reports {
        assert!(report.refused > 0 && report.unavailable > Duration::from_secs(55), "{report:?}");
    }
}

#[test]
fn errors_that_the_line_corrects_cost_delay_alone() {
    let mut clean = two_lines(&[], "5 ms", 0.0, 0.1);
    let mut noisy = two_lines(&[], "5 ms", 3e-6, 0.1);
    let delay = |run: &mut Run| run.reports()[0].delay_max.unwrap();
    assert!(delay(&mut noisy) > delay(&mut clean));
    assert_eq!(settle(&noisy.reports())[1..], [0, 0, 0]);
    let counters = noisy.simulation.signalling().link_counters(SignallingLinkId(0), Side::Second);
    assert!(counters.errored > 0 && counters.received > 0, "{counters:?}");
}

#[test]
fn equal_seeds_give_equal_runs() {
    let script = [("40 s", 0, LinkChange::Fail), ("55 s", 0, LinkChange::Restore)];
    let [mut first, mut second] = [(); 2].map(|()| two_lines(&script, "30 ms", 1e-6, 0.36));
    assert_eq!(first.reports(), second.reports());
    assert_eq!(first.simulation.signalling().events(), second.simulation.signalling().events());
}
