//! State of a seat, and orders to it.

use slantpath_base::Instant;
use slantpath_control::{ControlEvent, Refusal, RouteStatus, SignallingLinkStatus};
use slantpath_live::Program as _;

use super::fixture::{Lab, lab_of_m2pa, lab_of_m3ua, lab_to_reload};
use super::reload::with_second;

/// An instant at which everything is up, and the load on its way.
const UP: Instant = Instant::from_secs(40);

fn refused(outcome: Result<ControlEvent, Refusal>) -> String {
    let refusal = outcome.expect_err("it is refused");
    format!("{}: {}", refusal.message, refusal.help.expect("a cure"))
}

fn link(lab: &mut Lab, seat: usize) -> SignallingLinkStatus {
    lab.status(seat).links.remove(0)
}

/// Goes on by so many seconds.
fn go_on(lab: &mut Lab, seconds: u64) {
    let now = lab.now();
    lab.run_until(Instant::from_millis(now.since_start().as_millis() + seconds * 1_000));
}

#[test]
fn a_gateway_tells_its_state_part_by_part() {
    let mut lab = lab_of_m3ua();
    lab.run_until(UP);
    let status = lab.status(1);
    assert_eq!((status.gateway.as_str(), status.phase, status.at_s), ("point-1", "serving", 40.0));
    let SignallingLinkStatus { link, link_set, adjacent, state, is_available, ref inhibited, .. } =
        status.links[0].clone();
    assert_eq!((link.as_str(), link_set.as_str(), adjacent.as_str()), ("trunk", "to-0", "point-0"));
    assert!(state == "available" && is_available && inhibited.is_empty());
    assert!(status.links[0].received_msus > 100, "{status:#?}");
    let wanted = RouteStatus {
        destination: "point-0".to_owned(),
        is_accessible: true,
        over: Some("to-0".to_owned()),
        priority: 0,
        state: "allowed",
    };
    assert_eq!(status.routes, [wanted]);
    let [trunk, adaptation] = &status.associations[..] else { panic!("two associations") };
    assert_eq!((trunk.state, adaptation.state), ("up", "up"));
    assert!(trunk.sent > 0 && adaptation.sent > 0 && adaptation.received > 0, "{status:#?}");
    let paths = &adaptation.paths;
    assert_eq!((paths.len(), paths[0].state, paths[0].is_primary), (1, "active", true));
    assert!(paths[0].srtt_s.is_some_and(|srtt| srtt > 0.04 && srtt < 0.3), "{paths:?}");
    let server = &status.application_servers[0];
    assert_eq!((server.application_server.as_str(), server.state), ("server", Some("active")));
    assert_eq!((server.processes[0].asp.as_str(), server.processes[0].state), ("a", "active"));
    assert!(status.counters["m3ua"]["forwarded"] > 100, "{status:#?}");
    // The process knows the same from its own side.
    let status = lab.status(2);
    assert_eq!((status.gateway.as_str(), status.links.len()), ("a", 0));
    assert_eq!(status.application_servers[0].state, None);
    assert_eq!(status.application_servers[0].processes[0].state, "active");
    assert!(status.routes.iter().any(|route| route.destination == "point-0" && route.is_accessible));
}

#[test]
fn a_link_is_taken_out_and_brought_back_by_order() {
    let mut lab = lab_of_m2pa();
    lab.run_until(Instant::from_secs(20));
    let done = lab.order(0, &[("action", "deactivate"), ("link", "trunk")]).expect("it is done");
    let wanted = ControlEvent::Script {
        at_s: 20.0,
        kind: "link".to_owned(),
        name: "trunk".to_owned(),
        part: None,
        event: "deactivate".to_owned(),
    };
    assert_eq!(done, wanted);
    go_on(&mut lab, 1);
    assert_eq!(link(&mut lab, 0).state, "inactive");
    let events = lab.happened_at(0, Instant::from_secs(20));
    assert_eq!(events[..3], ["ordered", "unavailable", "link-set-unavailable"], "{events:?}");
    lab.order(0, &[("action", "activate"), ("link", "trunk"), ("point", "point-0")]).expect("it is done");
    go_on(&mut lab, 20);
    assert_eq!(link(&mut lab, 0).state, "available");
}

#[test]
fn a_process_is_kept_out_by_its_gateway_and_let_in_again() {
    let mut lab = lab_of_m3ua();
    lab.run_until(UP);
    lab.order(1, &[("action", "deactivate"), ("asp", "a")]).expect("it is done");
    go_on(&mut lab, 5);
    let server = lab.status(1).application_servers.remove(0);
    assert_eq!((server.state, server.processes[0].state), (Some("down"), "down"), "{server:?}");
    assert_ne!(lab.status(2).application_servers[0].processes[0].state, "active");
    lab.order(2, &[("action", "activate")]).expect("it is done");
    go_on(&mut lab, 5);
    assert_eq!(lab.status(1).application_servers[0].state, Some("down"), "it is not let in");
    lab.order(1, &[("action", "activate"), ("asp", "a")]).expect("it is done");
    lab.order(2, &[("action", "activate")]).expect("it is done");
    go_on(&mut lab, 10);
    assert_eq!(lab.status(1).application_servers[0].state, Some("active"));
    // From its own side it leaves, and comes back.
    lab.order(2, &[("action", "deactivate"), ("asp", "a")]).expect("it is done");
    go_on(&mut lab, 1);
    assert_eq!(lab.status(2).application_servers[0].processes[0].state, "inactive");
    lab.order(2, &[("action", "activate")]).expect("it is done");
    go_on(&mut lab, 1);
    assert_eq!(lab.status(2).application_servers[0].processes[0].state, "active");
}

#[test]
fn the_primary_path_is_one_that_the_peer_has() {
    let mut lab = lab_of_m2pa();
    lab.run_until(UP);
    let mut ask =
        |path: &str| lab.order(0, &[("action", "set-primary"), ("association", "port-3565"), ("path", path)]);
    let ControlEvent::Script { kind, part, .. } = ask("10.0.0.2").expect("it is done") else {
        panic!("an event of a script")
    };
    assert_eq!((kind.as_str(), part.as_deref()), ("association", Some("10.0.0.2")));
    let told = "10.0.0.9 is no confirmed address of the peer: `status` lists the paths of each association";
    assert_eq!(refused(ask("10.0.0.9")), told);
    assert_eq!(refused(ask("there")), "there is no path `there`: there is `10.0.0.2`");
    // One that is being set up has no path yet.
    let mut lab = lab_of_m2pa();
    lab.run_until(Instant::from_millis(10));
    let keys = [("action", "set-primary"), ("association", "port-3565"), ("path", "10.0.0.2")];
    assert_eq!(refused(lab.order(0, &keys)), "association `port-3565` is not up: try it once it is");
}

#[test]
fn who_is_told_twice_to_stop_ends_at_once_and_its_loads_send_no_more() {
    let sent = |lab: &mut Lab| {
        let now = lab.now();
        lab.seat(0).load_reports(now, 0).iter().map(|link| link.report.sent).sum::<u64>()
    };
    let mut lab = lab_of_m2pa();
    lab.run_until(UP);
    let by_then = sent(&mut lab);
    lab.stop(0);
    assert!(by_then > 100 && !lab.seat(0).is_over());
    go_on(&mut lab, 5);
    assert_eq!(sent(&mut lab), by_then);
    let mut lab = lab_of_m2pa();
    lab.run_until(UP);
    lab.stop(0);
    lab.stop(0);
    assert!(lab.seat(0).is_over());
}

#[test]
fn an_order_that_cannot_be_is_refused_with_what_there_is() {
    let mut lab = lab_of_m3ua();
    lab.run_until(UP);
    for (seat, keys, told) in [
        (1, &[("link", "trunk")][..], "write `action`: there is `activate`, `deactivate`, `emergency`"),
        (1, &[("action", "stop")], "there is no action `stop`: there is `activate`, `deactivate`"),
        (1, &[("action", "inhibit")], "`inhibit` needs `link`: there is `trunk`"),
        (1, &[("action", "inhibit"), ("link", "x")], "there is no link `x`: there is `trunk`"),
        (
            1,
            &[("action", "inhibit"), ("asp", "a")],
            "a gateway cannot `inhibit` a process: it can `activate` or",
        ),
        (1, &[("action", "deactivate"), ("asp", "b")], "there is no asp `b`: there is `a`"),
        (
            1,
            &[("action", "deactivate"), ("link", "trunk"), ("path", "x")],
            "`path` has no meaning with `deactivate`",
        ),
        (1, &[("action", "activate"), ("lnik", "x")], "there is no key `lnik`: there is `action`, `asp`"),
        (1, &[("action", "activate"), ("link", "trunk"), ("point", "x")], "`x` is not here: `point-1` is"),
        (1, &[("action", "fail"), ("link", "trunk")], "a live link has no line that `fail` is for: write"),
        (
            1,
            &[("action", "subsystem-goes"), ("subsystem", "8")],
            "there is no subsystem `8`: there is no subsystem",
        ),
        (
            1,
            &[("action", "set-primary"), ("association", "x")],
            "there is no association `x`: there is `port-3565`",
        ),
        (2, &[("action", "inhibit"), ("link", "trunk")], "there is no action `inhibit`: there is `activate`"),
        (2, &[("action", "activate"), ("asp", "b")], "`b` is not here: `a` is"),
        (
            2,
            &[("action", "activate"), ("link", "trunk")],
            "`link` has no meaning with `activate`: there is `asp`",
        ),
    ] {
        let refusal = refused(lab.order(seat, keys));
        assert!(refusal.starts_with(told), "{keys:?}: {refusal}");
    }
    let before = lab.happened_at(1, UP);
    go_on(&mut lab, 1);
    assert_eq!(lab.happened_at(1, UP), before, "nothing has happened");
    lab.stop(1);
    assert!(refused(lab.order(1, &[("action", "restart")])).starts_with("it is ending"));
}

#[test]
fn a_link_that_somebody_needs_is_not_inhibited() {
    let mut lab = lab_of_m2pa();
    lab.run_until(Instant::from_secs(20));
    lab.order(0, &[("action", "inhibit"), ("link", "trunk")]).expect("it is asked for");
    go_on(&mut lab, 1);
    assert_eq!(lab.happened_at(0, Instant::from_secs(20)), ["ordered", "inhibition-refused"]);
    assert!(link(&mut lab, 0).is_available);
}

/// Two seats with two links between them, all of them up.
fn lab_of_two_links() -> Lab {
    let mut lab = lab_to_reload();
    let (config, ways) = lab.config();
    let (both, ways) = with_second(&config, &ways);
    lab.run_until(Instant::from_secs(2));
    for seat in [1, 0] {
        lab.reload(seat, &both, &ways).expect("it is right");
    }
    lab.run_until(UP);
    assert_eq!([0, 1].map(|seat| available(&mut lab, seat)), [["a-second", "trunk"]; 2]);
    lab
}

/// Links in service of a seat, by name.
fn available(lab: &mut Lab, seat: usize) -> Vec<String> {
    let links = lab.status(seat).links.into_iter().filter(|link| link.is_available);
    links.map(|link| link.link).collect()
}

#[test]
fn a_link_is_inhibited_and_both_ends_know_from_where() {
    let mut lab = lab_of_two_links();
    let inhibited = |lab: &mut Lab| {
        [0, 1].map(|seat| {
            let links = lab.status(seat).links;
            links.into_iter().map(|link| (link.link, link.inhibited)).collect::<Vec<_>>()
        })
    };
    let of_trunk = |ends: &[&'static str]| {
        vec![("a-second".to_owned(), Vec::new()), ("trunk".to_owned(), ends.to_vec())]
    };
    lab.order(0, &[("action", "inhibit"), ("link", "trunk")]).expect("it is asked for");
    go_on(&mut lab, 1);
    assert_eq!(inhibited(&mut lab), [of_trunk(&["here"]), of_trunk(&["there"])]);
    lab.order(1, &[("action", "inhibit"), ("link", "trunk")]).expect("it is asked for");
    go_on(&mut lab, 1);
    assert_eq!(inhibited(&mut lab), [0, 1].map(|_| of_trunk(&["here", "there"])));
    for (seat, left) in [(0, [&["there"][..], &["here"]]), (1, [&[][..], &[]])] {
        lab.order(seat, &[("action", "uninhibit"), ("link", "trunk")]).expect("it is asked for");
        go_on(&mut lab, 1);
        assert_eq!(inhibited(&mut lab), left.map(of_trunk));
    }
}

#[test]
fn a_processor_fails_and_recovers_for_one_link_or_for_all() {
    let mut lab = lab_of_two_links();
    let order = |lab: &mut Lab, keys: &[(&str, &str)]| {
        let ControlEvent::Script { kind, name, .. } = lab.order(0, keys).expect("it is done") else {
            panic!("an event of a script")
        };
        go_on(lab, 5);
        (kind, name, available(lab, 1))
    };
    let told = |kind: &str, name: &str, links: &[&str]| {
        (kind.to_owned(), name.to_owned(), links.iter().map(|link| (*link).to_owned()).collect::<Vec<_>>())
    };
    let (outage, recovered) = (("action", "processor-outage"), ("action", "processor-recovered"));
    let one = ("link", "trunk");
    assert_eq!(order(&mut lab, &[outage, one]), told("link", "trunk", &["a-second"]));
    assert_eq!(order(&mut lab, &[recovered, one]), told("link", "trunk", &["a-second", "trunk"]));
    assert_eq!(order(&mut lab, &[outage]), told("point", "point-0", &[]));
    assert_eq!(order(&mut lab, &[recovered]), told("point", "point-0", &["a-second", "trunk"]));
}

/// The proving period is half a minute, and half a second in an emergency (Q.703, section 12.3).
#[test]
fn a_link_is_proved_for_a_short_time_in_an_emergency_alone() {
    let mut lab = lab_of_two_links();
    for (action, links) in [("emergency", &["a-second", "trunk"][..]), ("emergency-ceases", &["a-second"])] {
        for action in [action, "deactivate", "activate"] {
            lab.order(0, &[("action", action), ("link", "trunk")]).expect("it is done");
            go_on(&mut lab, 3);
        }
        assert_eq!(available(&mut lab, 0), links, "{action}");
    }
}

#[test]
fn a_point_restarts_by_order() {
    let mut lab = lab_of_m2pa();
    lab.run_until(UP);
    let done = lab.order(0, &[("action", "restart")]).expect("it is done");
    let ControlEvent::Script { kind, name, event, .. } = done else { panic!("an event of a script") };
    assert_eq!((kind.as_str(), name.as_str(), event.as_str()), ("point", "point-0", "restart"));
    go_on(&mut lab, 40);
    let wanted = [
        "ordered",
        "unavailable",
        "link-set-unavailable",
        "changeover-without-sequence",
        "link-set-available",
        "restart-over",
        "available",
    ];
    assert_eq!(lab.happened_at(0, UP), wanted);
}
