//! Links of M2PA over SCTP over a satellite.

use slantpath_base::Duration;
use slantpath_sctp::SctpConfig;
use slantpath_signalling::PointEventKind;
use slantpath_signalling::network::{LinkCarrier, LinkChange, NetworkConfig, Side, SignallingLinkId};
use slantpath_sigtran::m2pa;
use slantpath_ss7::mtp3::node::SequenceNumbers;

use crate::fixture::{Run, Script, direction, line, link, load, m2pa, point, run, settle, start};

fn two_links(carriers: [LinkCarrier; 2], script: Script<'_>, delay: &str) -> Run {
    run(network(carriers), &direction("2 Mbit/s", delay), script, "100 s")
}

fn network(carriers: [LinkCarrier; 2]) -> NetworkConfig {
    let sequence = |carrier: &LinkCarrier| match carrier {
        LinkCarrier::Association(_) => SequenceNumbers::Bits24,
        LinkCarrier::Line(_) => SequenceNumbers::Bits7,
    };
    let kinds = [sequence(&carriers[0]), sequence(&carriers[1])];
    let mut points = vec![point(0, &[(1, 2, kinds[0])]), point(1, &[(0, 2, kinds[0])])];
    for point in &mut points {
        point.mtp3.link_sets[0].links[1].sequence = kinds[1];
    }
    let links = (0_u16..).zip(carriers).map(|(number, carrier)| link(number, carrier)).collect();
    NetworkConfig { points, links, loads: vec![load(2, 0.36, "25 s", "80 s")], ..NetworkConfig::default() }
}

#[test]
fn a_satellite_delays_every_message_and_loses_none() {
    let mut run = two_links([m2pa(), m2pa()], &[], "270 ms");
    let reports = run.reports();
    let [sent, rest @ ..] = settle(&reports);
    assert!(sent > 4_500, "{sent}");
    assert_eq!(rest, [0, 0, 0]);
    for report in reports {
        let (least, mean) = (report.delay_min.unwrap(), report.delay_mean.unwrap());
        assert!(least >= Duration::from_millis(270), "{least}");
        assert!((Duration::from_millis(270)..Duration::from_millis(300)).contains(&mean), "{mean}");
    }
}

#[test]
fn a_t7_below_the_round_trip_never_lets_the_link_carry_traffic() {
    let mut config = m2pa::LinkConfig::default();
    config.timers.t7 = Duration::from_millis(500);
    let carriers = [LinkCarrier::Association(config.clone()), LinkCarrier::Association(config)];
    let mut run = two_links(carriers, &[], "350 ms");
    let reports = run.reports();
    assert!(reports.iter().all(|report| report.delivered == 0 && report.refused == report.sent));
    // The link test is the first message: T7 takes the link out before its answer can come.
    let signalling = run.simulation.signalling();
    assert!(signalling.events().iter().all(|event| event.kind != PointEventKind::Available));
    assert!(signalling.link_counters(SignallingLinkId(0), Side::First).sent >= 1);
}

#[test]
fn an_association_that_is_taken_out_changes_over_to_a_line_in_sequence() {
    let script = [("40 s", 0, LinkChange::Deactivate), ("60 s", 0, LinkChange::Activate)];
    let mut run = two_links([m2pa(), line("270 ms", 0.0)], &script, "270 ms");
    let [_, rest @ ..] = settle(&run.reports());
    assert_eq!(rest, [0, 0, 0]);
    let events = run.simulation.signalling().events();
    let back = events.iter().filter(|e| {
        e.link.is_some_and(|(link, _)| link == SignallingLinkId(0)) && e.kind == PointEventKind::Available
    });
    assert_eq!(back.count(), 4, "{events:?}");
}

/// The path carries about half of what the load gives to the association.
#[test]
fn what_the_send_buffer_does_not_take_waits_in_m2pa_and_changes_over_in_sequence() {
    let script = [("65 s", 0, LinkChange::Deactivate)];
    let sctp = SctpConfig { send_buffer_bytes: 2_000, ..SctpConfig::default() };
    let config = network([m2pa(), line("270 ms", 0.0)]);
    let mut run = start(config, &sctp, &direction("32 kbit/s", "270 ms"), &script);
    for second in 26..=64 {
        run.until(&format!("{second} s"));
        let signalling = run.simulation.signalling();
        let end = |side| signalling.link_counters(SignallingLinkId(0), side);
        let under_way = end(Side::First).sent - end(Side::Second).received;
        // In front of each message of 60 octets, which its level 2 counts with two more, stand the 17 octets of M2PA;
        // behind a full buffer there is one message more.
        assert!(under_way <= 2_000 / 75 + 1, "{under_way} at {second} s");
    }
    let end = run.simulation.signalling().link_counters(SignallingLinkId(0), Side::First);
    assert!(end.given - end.sent > 400, "{end:?}");
    run.until("200 s");
    let [_, rest @ ..] = settle(&run.reports());
    assert_eq!(rest, [0, 0, 0]);
}

#[test]
fn both_ends_count_what_passes() {
    let mut run = two_links([m2pa(), m2pa()], &[], "270 ms");
    let [sent, ..] = settle(&run.reports());
    let signalling = run.simulation.signalling();
    let ends = |side| [0, 1].map(|link| signalling.link_counters(SignallingLinkId(link), side));
    let carried: u64 = ends(Side::First).iter().map(|counters| counters.sent).sum();
    let received: u64 = ends(Side::Second).iter().map(|counters| counters.received).sum();
    assert_eq!(carried, received);
    // Tests of links and the restart's messages are among them.
    assert!((sent + 2..sent + 20).contains(&carried), "{carried} of {sent}");
}
