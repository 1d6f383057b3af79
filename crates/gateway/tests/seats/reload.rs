//! Seats that are given another configuration while they serve.

use slantpath_base::{Duration, Instant};
use slantpath_gateway::{ReloadError, SeatConfig};
use slantpath_live::Program as _;
use slantpath_signalling::network::{
    AspId, Carried, LinkCarrier, NetworkConfig, PointId, SignallingEntity, SignallingLinkId,
};
use slantpath_signalling::{ScreeningAction, ScreeningCriteria, ScreeningRule};
use slantpath_sigtran::asp::TrafficMode;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator};
use slantpath_ss7::sccp::{NodeConfig, Ssn, Subsystem};

use super::fixture::{END, Lab, Way, lab_of_m3ua, lab_to_reload, with_others_in_front, with_second_link};

/// The counts by association: up, lost.
fn ups(lab: &mut Lab, seat: usize) -> Vec<(String, u64, u64)> {
    let report = lab.seat(seat).report();
    report.associations.into_iter().map(|(name, own)| (name, own.times_up, own.times_lost)).collect()
}

/// The network with its second link, and its ways then: that link is the first in the order of names.
pub(crate) fn with_second(config: &NetworkConfig, ways: &[Way]) -> (NetworkConfig, Vec<Way>) {
    let mut both = ways.to_vec();
    both[0].carried = Carried::Link(SignallingLinkId(1));
    both[1].carried = Carried::Link(SignallingLinkId(0));
    (with_second_link(config), both)
}

#[test]
fn a_link_that_comes_and_goes_under_traffic_costs_no_message_and_the_other_notices_nothing() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    // The normal proving period takes half a minute.
    let begin = Instant::from_secs(2);
    lab.run_until(begin);
    for seat in [1, 0] {
        lab.reload(seat, &other, &both).unwrap();
    }
    lab.run_until(Instant::from_secs(40));
    for seat in [0, 1] {
        let up = |name: &str| (name.to_owned(), 1, 0);
        assert_eq!(ups(&mut lab, seat), [up("port-3565"), up("port-3566")]);
        let events = lab.happened_at(seat, begin);
        assert!(events.iter().any(|event| event == "available"), "{events:?}");
        assert!(!events.iter().any(|event| event == "unavailable"), "{events:?}");
    }
    let reason = lab.reason(0, "reloaded").unwrap();
    assert_eq!(
        reason,
        "association port-3566 added; own address fd00::1 added; link a-second added; destination 3 added"
    );
    for seat in [0, 1] {
        lab.reload(seat, &config, &ways).unwrap();
    }
    lab.run_until(END);
    let events = lab.happened_at(0, Instant::from_secs(40));
    let order = ["reload-begun", "unavailable", "association-ended", "reloaded"];
    let told: Vec<&str> = events.iter().map(String::as_str).filter(|event| order.contains(event)).collect();
    assert_eq!(told, order);
    let now = lab.now();
    let sent: u64 = lab.seat(0).load_reports(now, 0).iter().map(|link| link.report.sent).sum();
    let second = lab.seat(1).report();
    assert!(sent > 500 && second.arrived == sent, "{sent} {second:?}");
    assert_eq!((second.of_no_load, second.strangers), (0, 0));
    for seat in [0, 1] {
        assert_eq!(ups(&mut lab, seat), [("port-3565".to_owned(), 1, 0)]);
    }
}

#[test]
fn a_change_that_needs_a_restart_leaves_everything_as_it_is() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    lab.run_until(Instant::from_secs(33));
    let mut other = with_second_link(&config);
    other.points[0].mtp3.point_code = PointCode(77);
    let refused = lab.reload(0, &other, &ways).unwrap_err();
    assert!(matches!(refused, ReloadError::Fixed(_)), "{refused}");
    assert_eq!(
        refused.to_string(),
        "another point code of MTP3 cannot be taken while it runs: restart for this"
    );
    let mut faulty = config;
    faulty.points[0].mtp3.held_limit = 0;
    assert!(matches!(lab.reload(0, &faulty, &ways), Err(ReloadError::Network(_))));
    lab.run_until(END);
    assert_eq!(lab.happened_at(0, Instant::from_secs(33)), Vec::<String>::new());
    assert_eq!(ups(&mut lab, 0), [("port-3565".to_owned(), 1, 0)]);
}

#[test]
fn a_reload_says_what_it_changes_of_screening_and_of_m2pa() {
    let mut lab = lab_to_reload();
    let (mut config, ways) = lab.config();
    lab.run_until(Instant::from_secs(2));
    let told = |lab: &mut Lab, config: &NetworkConfig| {
        lab.reload(0, config, &ways).unwrap();
        lab.run_until(lab.now().saturating_add(Duration::from_secs(10)));
        lab.reason(0, "reloaded").unwrap()
    };
    let criteria = ScreeningCriteria { opcs: vec![PointCode(9)], ..ScreeningCriteria::default() };
    let (name, action) = ("inner".to_owned(), ScreeningAction::Discard);
    config.points[0].screening.rules = vec![ScreeningRule { name, criteria, action, copies: false }];
    assert_eq!(told(&mut lab, &config), "screening rule inner added");
    config.points[0].screening.rules[0].copies = true;
    let LinkCarrier::Association(m2pa) = &mut config.links[0].carrier else { unreachable!("it has no line") };
    m2pa.timers.t7 = Duration::from_secs(1);
    assert_eq!(told(&mut lab, &config), "link trunk changed; screening rule inner changed");
    // The normal proving period takes half a minute.
    lab.run_until(lab.now().saturating_add(Duration::from_secs(60)));
    assert_eq!(lab.status(0).links[0].state, "available");
}

/// A port that nothing uses any more stays open: its settings would not be those of the file.
#[test]
fn a_port_has_the_settings_with_which_it_was_opened() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    let rto = |own: &mut SeatConfig| own.associations[1].port.sctp.rto_min = Duration::from_millis(77);
    lab.run_until(Instant::from_secs(2));
    lab.reload(0, &other, &both).unwrap();
    lab.run_until(Instant::from_secs(4));
    let refused = lab.reload_changed(0, &other, &both, rto).unwrap_err();
    assert!(matches!(refused, ReloadError::Port(3_566)), "{refused}");
    lab.reload(0, &config, &ways).unwrap();
    lab.run_until(Instant::from_secs(20));
    assert_eq!(ups(&mut lab, 0).len(), 1);
    let refused = lab.reload_changed(0, &other, &both, rto).unwrap_err();
    assert!(matches!(refused, ReloadError::Port(3_566)), "{refused}");
    lab.reload(0, &other, &both).unwrap();
}

#[test]
fn application_servers_come_go_and_change_their_names_and_the_others_stay_active() {
    let mut lab = lab_of_m3ua();
    let (config, ways) = lab.config();
    let mut other = config.clone();
    let mut second = config.m3ua.servers[0].clone();
    second.name = "a-second".to_owned();
    second.routing_context = 50;
    second.services = vec![ServiceIndicator::SCCP.value()];
    second.traffic_mode = TrafficMode::Loadshare;
    other.m3ua.servers[0].name = "renamed".to_owned();
    other.m3ua.servers.insert(0, second);
    lab.run_until(Instant::from_secs(35));
    for seat in [1, 2] {
        lab.reload(seat, &other, &ways).unwrap();
    }
    lab.run_until(Instant::from_secs(40));
    let reason = "application server of context 50 added; application server of context 100 changed";
    for seat in [1, 2] {
        assert_eq!(lab.reason(seat, "reloaded").as_deref(), Some(reason));
        let events = lab.happened_at(seat, Instant::from_secs(35));
        let of_second = lab.of_server(seat, "a-second", Instant::from_secs(35));
        assert!(of_second.contains(&"asp-active"), "{of_second:?}");
        assert_eq!(lab.of_server(seat, "renamed", Instant::from_secs(35)), [""; 0]);
        assert!(!events.iter().any(|event| event == "association-ended"), "{events:?}");
    }
    // The process first: what is on its way in an application server that the gateway has no more is lost.
    for (seat, until) in [(2, 42), (1, 44)] {
        lab.reload(seat, &config, &ways).unwrap();
        lab.run_until(Instant::from_secs(until));
    }
    lab.run_until(END);
    let reports = [0, 1, 2].map(|seat| lab.seat(seat).report());
    let sent = [(0, 0), (2, 1)].map(|(seat, load)| {
        let now = lab.now();
        lab.seat(seat).load_reports(now, load).iter().map(|link| link.report.sent).sum::<u64>()
    });
    assert!(sent[0] > 500, "{sent:?}");
    assert_eq!(reports.map(|report| report.arrived), [sent[1], 0, sent[0]]);
    let events = lab.happened_at(2, Instant::from_secs(40));
    assert_eq!(events.iter().filter(|event| *event == "asp-inactive").count(), 1, "{events:?}");
}

/// Names stand in the file in their order, so that one that comes before numbers all others anew.
#[test]
fn who_has_another_number_in_the_new_file_is_told_of_by_its_own_name() {
    let mut lab = lab_of_m3ua();
    let (mut config, ways) = lab.config();
    let mut sccp = NodeConfig::new(PointCode(2), NetworkIndicator::International);
    sccp.subsystems.insert(Ssn(6), Subsystem::default());
    config.points[1].sccp = Some(sccp.clone());
    sccp.point_code = PointCode(3);
    config.m3ua.points[0].sccp = Some(sccp);
    for seat in [1, 2] {
        lab.reload(seat, &config, &ways).unwrap();
    }
    let other = with_others_in_front(&config);
    lab.run_until(Instant::from_secs(35));
    let named = [SignallingEntity::Point(PointId(2)), SignallingEntity::Process(AspId(1))];
    for (seat, occupant) in [1, 2].into_iter().zip(named) {
        lab.reload_changed(seat, &other, &ways, |own| own.occupant = occupant).unwrap();
    }
    lab.run_until(Instant::from_secs(40));
    for (seat, name, point) in [(1, "point-1", "point-1"), (2, "a", "behind")] {
        let status = lab.status(seat);
        assert_eq!((status.gateway.as_str(), status.phase), (name, "serving"));
        assert_eq!(status.titles.keys().collect::<Vec<_>>(), [point]);
        let servers: Vec<&str> =
            status.application_servers.iter().map(|server| &server.application_server[..]).collect();
        assert_eq!(servers, ["server"]);
    }
    let order = [("action", "subsystem-goes"), ("subsystem", "6"), ("point", "point-1")];
    lab.order(1, &order).expect("it is its own subsystem");
}

#[test]
fn what_was_made_for_another_state_is_refused_and_so_is_a_reload_of_one_that_stops() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    lab.run_until(Instant::from_secs(2));
    let late = lab.prepared(0, &config, &ways, |_| {}).unwrap();
    lab.reload(0, &other, &both).unwrap();
    lab.run_until(Instant::from_secs(4));
    assert!(matches!(lab.take(0, late), Err(ReloadError::Busy)));
    assert_eq!(ups(&mut lab, 0).len(), 2);
    lab.stop(0);
    assert!(matches!(lab.reload(0, &config, &ways), Err(ReloadError::Busy)));
}

#[test]
fn one_that_is_stopped_in_the_middle_of_a_reload_gives_that_up() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    lab.run_until(Instant::from_secs(2));
    for seat in [1, 0] {
        lab.reload(seat, &other, &both).unwrap();
    }
    let begin = Instant::from_secs(40);
    lab.run_until(begin);
    lab.reload(0, &config, &ways).unwrap();
    // An association of 40 ms is shut down in no less than that.
    lab.run_until(Instant::from_millis(40_010));
    lab.stop(0);
    lab.run_until(Instant::from_secs(55));
    assert!(lab.seat(0).is_over());
    let events = lab.happened_at(0, begin);
    let is_of_reload = |event: &&String| event.starts_with("reload");
    assert_eq!(
        events.iter().filter(is_of_reload).collect::<Vec<_>>(),
        ["reload-begun", "reload-given-up"],
        "{events:?}"
    );
}

/// The link that stays gets another number by the reload: it is out of traffic at once, and not when patience ends.
#[test]
fn one_that_was_reloaded_stops_as_soon_as_its_links_are_out_of_traffic() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    lab.run_until(Instant::from_secs(34));
    assert!(lab.status(0).links[0].is_available);
    lab.reload(0, &other, &both).unwrap();
    lab.run_until(Instant::from_secs(35));
    lab.stop(0);
    lab.run_until(Instant::from_secs(37));
    assert!(lab.seat(0).is_over());
}

#[test]
fn a_port_that_nobody_is_waited_for_at_any_more_refuses_callers_by_itself() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    lab.run_until(Instant::from_secs(2));
    for seat in [1, 0] {
        lab.reload(seat, &other, &both).unwrap();
    }
    lab.run_until(Instant::from_secs(4));
    lab.reload(0, &config, &ways).unwrap();
    lab.run_until(Instant::from_secs(20));
    let calls =
        lab.happened_at(1, Instant::from_secs(4)).iter().filter(|event| *event == "not-opened").count();
    assert!(calls > 5, "{calls}");
    assert_eq!(lab.seat(0).report().strangers, 0);
}

#[test]
fn delays_go_on_by_the_names_of_link_sets_through_a_reload() {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (other, both) = with_second(&config, &ways);
    lab.measure(0);
    lab.run_until(Instant::from_secs(2));
    for seat in [1, 0] {
        lab.reload(seat, &other, &both).unwrap();
    }
    lab.run_until(END);
    let now = lab.now();
    let sent: u64 = lab.seat(0).load_reports(now, 0).iter().map(|link| link.report.sent).sum();
    let second = lab.seat(1).report();
    assert!(sent > 500 && second.arrived == sent, "{sent} {second:?}");
    assert!(second.associations.iter().all(|(_, own)| own.received > 0), "{second:?}");
}
