//! Seats on a simulated network do what the same points and processes do in a run.

mod fixture;
mod hostile;
mod metrics;
mod operation;
mod overload;
mod patience;
mod peer;
mod promises;
mod recorded;
mod reload;
mod site;
mod traced;
mod twins;

use slantpath_base::{Duration, Instant};
use slantpath_gateway::SeatReport;
use slantpath_live::Program;
use slantpath_signalling::network::{AspId, GatewayId, PointId, SignallingProcess};

use fixture::{END, Lab, lab_of_bundles, lab_of_m2pa, lab_of_m3ua, lab_of_strangers};

/// Reports of both loads in the run: sent, and arrived.
fn loads(lab: &mut Lab) -> Vec<[u64; 2]> {
    (0..lab.loads()).map(|load| lab.in_run(load)).collect()
}

/// Tells events apart that are not the same, at nearly the same times: what an entity sends at one instant may share a
/// packet in a seat, and none in a run.
fn alike(happened: &[(Instant, &'static str)], in_run: &[(Instant, &'static str)]) {
    let names = |events: &[(Instant, &'static str)]| events.iter().map(|(_, name)| *name).collect::<Vec<_>>();
    assert_eq!(names(happened), names(in_run));
    for ((happened, name), (in_run, _)) in happened.iter().zip(in_run) {
        let apart = happened.saturating_since(*in_run).max(in_run.saturating_since(*happened));
        assert!(apart <= Duration::from_millis(2), "{name}: {happened:?} {in_run:?}");
    }
}

fn associations_up(report: &SeatReport) -> Vec<u64> {
    report.associations.iter().map(|(_, counts)| counts.times_up).collect()
}

#[test]
fn two_points_over_m2pa_do_live_what_they_do_in_a_run() {
    let mut lab = lab_of_m2pa();
    lab.run_until(END);
    for (seat, point) in [(0, PointId(0)), (1, PointId(1))] {
        let in_run = lab.events_of_point(point);
        assert!(in_run.iter().any(|(_, event)| *event == "available"), "{in_run:?}");
        alike(&lab.happened(seat), &in_run);
    }
    let [[sent, arrived]] = loads(&mut lab)[..] else { panic!("one load") };
    assert!(sent > 500 && sent == arrived, "{sent} {arrived}");
    let now = lab.now();
    let report = lab.seat(0).load_reports(now, 0);
    assert_eq!(report.iter().map(|link| link.report.sent).sum::<u64>(), sent);
    let [first, second] = [0, 1].map(|seat| lab.seat(seat).report());
    assert_eq!((second.arrived, second.of_no_load, first.arrived), (arrived, 0, 0));
    assert_eq!((associations_up(&first), associations_up(&second)), (vec![1], vec![1]));
    let [here, there] = [&first, &second].map(|report| report.associations[0].1);
    assert_eq!((here.sent, here.sent_octets), (there.received, there.received_octets));
    assert_eq!((there.sent, there.sent_octets), (here.received, here.received_octets));
}

#[test]
fn a_gateway_between_an_exchange_and_a_process_does_live_what_it_does_in_a_run() {
    let mut lab = lab_of_m3ua();
    lab.run_until(END);
    let gateway = lab.events_above_m3ua(SignallingProcess::Gateway(GatewayId(0)));
    assert!(gateway.iter().any(|(_, event)| *event == "as-active"), "{gateway:?}");
    alike(&lab.happened_above_m3ua(1), &gateway);
    let process = lab.events_above_m3ua(SignallingProcess::Asp(AspId(0)));
    assert!(process.iter().any(|(_, event)| *event == "asp-active"), "{process:?}");
    alike(&lab.happened_above_m3ua(2), &process);
    let in_run = loads(&mut lab);
    let [[there, arrived_there], [back, arrived_back]] = in_run[..] else { panic!("two loads") };
    assert!(there > 500 && there == arrived_there && back == arrived_back, "{in_run:?}");
    let reports = [0, 1, 2].map(|seat| lab.seat(seat).report().arrived);
    assert_eq!(reports, [back, 0, there]);
}

/// As in a run, where all messages of one packet come before any of them is acknowledged.
#[test]
fn messages_of_one_packet_are_acknowledged_by_one() {
    let mut lab = lab_of_bundles();
    lab.run_until(END);
    let [first, second] = [0, 1].map(|seat| lab.seat(seat).report().associations[0].1);
    let (messages, acknowledgements) = (first.sent, second.sent);
    assert!(messages > 10_000 && acknowledgements < messages / 2, "{messages} {acknowledgements}");
}

#[test]
fn destinations_are_told_of_by_the_names_of_their_points() {
    let mut lab = lab_of_m3ua();
    lab.run_until(Instant::from_secs(20));
    assert_eq!(lab.subjects(2, "destination"), ["point-0", "point-1"].into());
}

#[test]
fn who_is_told_to_stop_leaves_traffic_before_its_associations_are_shut_down() {
    let mut lab = lab_of_m3ua();
    lab.run_until(Instant::from_secs(20));
    lab.stop(2);
    lab.run_until(Instant::from_secs(25));
    assert!(lab.seat(2).is_over());
    let events: Vec<String> = lab.happened_at(2, Instant::from_secs(20));
    let wanted = [
        "stopping",
        "destination-unavailable",
        "destination-unavailable",
        "asp-inactive",
        "notify-as-pending",
        "association-ended",
        "association-down",
        "asp-down",
    ];
    assert_eq!(events, wanted);
    lab.stop(0);
    lab.run_until(Instant::from_secs(35));
    assert!(lab.seat(0).is_over());
    let events = lab.happened_at(0, Instant::from_secs(25));
    let wanted = ["stopping", "unavailable", "link-set-unavailable", "association-ended"];
    assert_eq!(events[..4], wanted, "{events:?}");
    assert!(!lab.seat(1).is_over());
}

/// From its former port it is a restart of SCTP, from another one a second association in the place of the first.
#[test]
fn a_peer_that_vanishes_and_calls_anew_has_its_link_back() {
    for (port, times_up) in [(3_565, 1), (40_000, 2)] {
        let mut lab = lab_of_m2pa();
        lab.run_until(Instant::from_secs(15));
        lab.begin_anew(0, port);
        lab.run_until(END);
        let of_link = |event: &(Instant, &str)| ["available", "unavailable"].contains(&event.1);
        let events: Vec<_> = lab.happened(1).into_iter().filter(of_link).collect();
        assert_eq!(
            events.iter().map(|event| event.1).collect::<Vec<_>>(),
            ["available", "unavailable", "available"]
        );
        // At the COOKIE ECHO, after three ways of 20 ms: before the new link says anything.
        assert!(events[1].0 < Instant::from_millis(15_080), "{events:?}");
        let now = lab.now();
        let sent: u64 = lab.seat(0).load_reports(now, 0).iter().map(|link| link.report.sent).sum();
        let report = lab.seat(1).report();
        assert!(sent > 300, "{sent}");
        assert_eq!((report.arrived, report.strangers), (sent, 0));
        assert_eq!(associations_up(&report), [times_up]);
    }
}

#[test]
fn a_caller_that_nobody_knows_is_refused_and_told() {
    let mut lab = lab_of_strangers();
    lab.run_until(Instant::from_secs(5));
    let [first, second] = [0, 1].map(|seat| lab.seat(seat).report());
    assert_eq!(second.strangers, associations_up(&first)[0]);
    assert!(second.strangers > 3, "{second:?}");
    assert_eq!(associations_up(&second), [0]);
    assert_eq!(lab.happened_at(1, Instant::START)[0], "stranger-refused");
}
