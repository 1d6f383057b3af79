//! Q.714, section 5: subsystems and nodes that come and go.

use slantpath_base::{Duration, Instant};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::gtt::{Entity, RouteOn, Translator};
use slantpath_ss7::sccp::{
    Indication, Message, NodeConfig, PointCodeStatus, RemoteSccpStatus, RequestError, ReturnCause,
    ScmgMessage, Subsystem, UnitdataRequest,
};
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use super::net::{A, B, C, HLR, Net, VLR, at, config, request, rule, titled};

/// The names of the management messages among those sent.
fn management(net: &mut Net) -> Vec<String> {
    let name = |transfer: slantpath_ss7::transfer::Transfer| {
        let Ok(Message::Udt { data, .. }) = Message::parse(&transfer.user_data) else { return None };
        let message = format!("{:?}", ScmgMessage::parse(&data).ok()?);
        Some(format!("{}>{} {}", transfer.label.opc.0, transfer.label.dpc.0, message.split('(').next()?))
    };
    net.sent.drain(..).filter_map(name).collect()
}

fn state(in_service: bool) -> Indication {
    Indication::SubsystemState { point_code: B, ssn: HLR, in_service }
}

fn set(net: &mut Net, code: slantpath_ss7::PointCode, in_service: bool) {
    let now = net.now;
    net.node(code).set_subsystem(now, HLR, in_service).unwrap();
    net.settle();
}

#[test]
fn a_message_for_a_failed_subsystem_comes_back_and_its_sender_learns_and_asks_until_it_is_back() {
    let mut net = Net::three();
    set(&mut net, B, false);
    net.indications(B);
    net.unitdata(A, request(at(B, HLR), "x"));
    let indications = net.indications(A);
    assert!(indications.contains(&state(false)));
    assert!(indications.iter().any(|indication| {
        matches!(indication, Indication::Notice { cause: ReturnCause::SUBSYSTEM_FAILURE, .. })
    }));
    // What follows does not even leave.
    net.sent.clear();
    net.unitdata(A, request(at(B, HLR), "x"));
    assert_eq!(net.trace(), Vec::<String>::new());
    // T(stat info) doubles: 5, 10, 20, 40 seconds.
    net.pass(Duration::from_secs(76));
    assert_eq!(management(&mut net), ["1>2 Sst"; 4]);
    set(&mut net, B, true);
    net.indications(A);
    net.pass(Duration::from_secs(80));
    assert_eq!(management(&mut net), ["1>2 Sst", "2>1 Ssa"]);
    assert_eq!(net.indications(A).iter().filter(|indication| **indication == state(true)).count(), 2);
    net.indications(B);
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(net.indications(B)[..], [Indication::Unitdata { .. }]));
}

#[test]
fn t_stat_info_grows_no_further_than_ten_minutes() {
    let mut net = Net::three();
    set(&mut net, B, false);
    net.unitdata(A, request(at(B, HLR), "x"));
    net.pass(Duration::from_secs(24 * 3_600));
    net.sent.clear();
    net.pass(Duration::from_secs(3_600));
    assert_eq!(management(&mut net).len(), 6);
}

#[test]
fn concerned_nodes_are_told_at_once() {
    let mut second = config(B);
    let indicated = Subsystem { concerned: [A].into(), backup: None };
    second.subsystems.insert(HLR, indicated);
    let mut net = Net::new([config(A), second, config(C)]);
    net.sent.clear();
    set(&mut net, B, false);
    assert_eq!(management(&mut net), ["2>1 Ssp"]);
    assert!(net.indications(A).contains(&state(false)));
    set(&mut net, B, true);
    assert_eq!(management(&mut net), ["2>1 Ssa"]);
    assert!(net.indications(A).contains(&state(true)));
    // Neighbours in the same node hear it from SCCP itself.
    assert_eq!(net.indications(B), [state(false), state(true)]);
}

#[test]
fn a_node_that_cannot_be_reached_is_told_and_its_messages_come_back() {
    let mut net = Net::three();
    net.indicate(A, TransferIndication::Pause(B));
    let indications = net.indications(A);
    assert!(indications.iter().any(|indication| matches!(
        indication,
        Indication::PointCodeState { point_code: B, status: PointCodeStatus::Inaccessible, .. }
    )));
    assert!(indications.contains(&state(false)));
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(net.indications(A)[..], [Indication::Notice { cause: ReturnCause::MTP_FAILURE, .. }]));
    net.indicate(A, TransferIndication::Resume(B));
    assert!(net.indications(A).contains(&state(true)));
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(net.indications(B)[..], [Indication::Unitdata { .. }]));
}

#[test]
fn sccp_that_does_not_answer_is_tested_as_subsystem_1() {
    let mut net = Net::three();
    let unavailable = |reason| TransferIndication::Status {
        affected: B,
        cause: StatusCause::UserPartUnavailable { user: ServiceIndicator::SCCP, reason },
    };
    net.indicate(A, unavailable(UserPartUnavailability::Unknown));
    assert!(net.indications(A).iter().any(|indication| matches!(
        indication,
        Indication::PointCodeState { remote_sccp: RemoteSccpStatus::Unavailable, .. }
    )));
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(net.indications(A)[..], [Indication::Notice { cause: ReturnCause::SCCP_FAILURE, .. }]));
    net.sent.clear();
    net.pass(Duration::from_secs(5));
    assert_eq!(management(&mut net), ["1>2 Sst", "2>1 Ssa"]);
    let indications = net.indications(A);
    assert!(indications.iter().any(|indication| matches!(
        indication,
        Indication::PointCodeState { remote_sccp: RemoteSccpStatus::Available, .. }
    )));
    assert!(indications.contains(&state(true)));
    net.indicate(A, unavailable(UserPartUnavailability::Unequipped));
    net.sent.clear();
    net.pass(Duration::from_secs(3_600));
    assert_eq!(management(&mut net), Vec::<String>::new(), "what is not there is not asked");
}

#[test]
fn a_subsystem_goes_when_its_backup_agrees() {
    let with = |code, backup| {
        let mut config = config(code);
        config.subsystems.insert(HLR, Subsystem { concerned: [C].into(), backup: Some(backup) });
        config
    };
    let mut net = Net::new([with(A, B), with(B, A), config(C)]);
    net.sent.clear();
    let now = net.now;
    net.node(A).coord_request(now, HLR).unwrap();
    net.settle();
    assert_eq!(management(&mut net), ["1>2 Sor"]);
    assert_eq!(net.indications(B), [Indication::Coord { point_code: A, ssn: HLR }]);
    net.node(B).coord_response(now, HLR, A).unwrap();
    net.settle();
    assert_eq!(management(&mut net), ["2>1 Sog", "1>3 Ssp", "3>1 Sst"][..2]);
    assert!(net.indications(A).contains(&Indication::CoordConfirm { ssn: HLR }));
    let gone = Indication::SubsystemState { point_code: A, ssn: HLR, in_service: false };
    assert!(net.indications(C).contains(&gone));
    net.pass(Duration::from_secs(31));
    assert!(!management(&mut net).iter().any(|line| line.ends_with("Ssa")), "SST is not answered");
}

#[test]
fn a_backup_that_does_not_answer_keeps_the_subsystem_in_service() {
    let mut first = config(A);
    first.subsystems.insert(HLR, Subsystem { concerned: [].into(), backup: Some(B) });
    let mut net = Net::new([first, config(B)]);
    let now = net.now;
    net.node(A).coord_request(now, HLR).unwrap();
    assert_eq!(net.node(A).coord_request(now, HLR), Err(RequestError::NotNow));
    net.pass(Duration::from_secs(60));
    assert!(net.indications(A).contains(&Indication::CoordRefused { ssn: HLR }));
    net.unitdata(B, request(at(A, HLR), "x"));
    assert!(matches!(net.indications(A)[..], [Indication::Unitdata { .. }]));
}

#[test]
fn congestion_holds_back_what_matters_less_and_passes() {
    let mut net = Net::three();
    for _ in 0..4 * 5 {
        net.indicate(A, TransferIndication::Status { affected: B, cause: StatusCause::Congestion(1) });
        net.now += Duration::from_millis(500);
    }
    let restricted = net.indications(A).into_iter().rev().find_map(|indication| match indication {
        Indication::PointCodeState { restricted_importance, .. } => Some(restricted_importance),
        _ => None,
    });
    assert_eq!(restricted, Some(5));
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(
        net.indications(A)[..],
        [Indication::Notice { cause: ReturnCause::NETWORK_CONGESTION, .. }]
    ));
    net.unitdata(A, UnitdataRequest { importance: Some(6), ..request(at(B, HLR), "y") });
    assert!(matches!(net.indications(B)[..], [Indication::Unitdata { .. }]));
    net.pass(Duration::from_secs(60));
    net.indications(A);
    net.unitdata(A, request(at(B, HLR), "x"));
    assert!(matches!(net.indications(B)[..], [Indication::Unitdata { .. }]));
}

#[test]
fn a_network_with_levels_says_when_congestion_is_over() {
    let mut net = Net::three();
    for _ in 0..4 {
        net.indicate(A, TransferIndication::Status { affected: B, cause: StatusCause::Congestion(2) });
        net.now += Duration::from_millis(500);
    }
    net.indications(A);
    net.indicate(A, TransferIndication::Status { affected: B, cause: StatusCause::Congestion(0) });
    assert!(net.indications(A).iter().any(|indication| matches!(
        indication,
        Indication::PointCodeState { restricted_importance: 0, status: PointCodeStatus::Accessible, .. }
    )));
}

#[test]
fn a_congested_node_says_so_for_every_eighth_message() {
    let mut net = Net::three();
    net.node(B).set_congestion(6);
    net.sent.clear();
    for _ in 0..9 {
        net.unitdata(A, UnitdataRequest { importance: Some(7), ..request(at(B, HLR), "x") });
    }
    assert_eq!(management(&mut net), ["2>1 Ssc"; 2]);
    assert!(net.indications(A).iter().any(|indication| matches!(
        indication,
        Indication::PointCodeState { restricted_importance: 6, status: PointCodeStatus::Congested, .. }
    )));
}

#[test]
fn messages_of_a_congestion_are_counted_for_each_node_and_anew_with_each_level() {
    let mut net = Net::three();
    let important = || UnitdataRequest { importance: Some(7), ..request(at(B, HLR), "x") };
    let say = |net: &mut Net, from, times: usize| -> Vec<usize> {
        net.sent.clear();
        let said = |net: &mut Net, number| {
            net.unitdata(from, important());
            management(net).iter().any(|line| line.ends_with("Ssc")).then_some(number)
        };
        (1..=times).filter_map(|number| said(net, number)).collect()
    };
    assert_eq!(say(&mut net, A, 3), [], "it is not congested");
    net.node(B).set_congestion(6);
    assert_eq!(say(&mut net, A, 17), [1, 9, 17]);
    assert_eq!(say(&mut net, C, 8), [1], "another node");
    assert_eq!(say(&mut net, A, 2), [], "the second and third of eight");
    net.node(B).set_congestion(7);
    assert_eq!(say(&mut net, A, 9), [1, 9], "another level is said at once");
    net.node(B).set_congestion(0);
    assert_eq!(say(&mut net, A, 9), []);
}

/// Takes the states of B as a whole that users at A hear.
fn heard(net: &mut Net) -> Vec<(PointCodeStatus, RemoteSccpStatus)> {
    let heard = |indication| match indication {
        Indication::PointCodeState { point_code: B, status, remote_sccp, .. } => Some((status, remote_sccp)),
        _ => None,
    };
    // Both users hear the same.
    net.indications(A).into_iter().filter_map(heard).step_by(2).collect()
}

#[test]
fn a_node_that_goes_and_comes_is_told_once_whatever_its_sccp_did_before() {
    use PointCodeStatus::{Accessible, Inaccessible};
    use RemoteSccpStatus::{Available, Unavailable, Unequipped};
    let status = |reason| TransferIndication::Status {
        affected: B,
        cause: StatusCause::UserPartUnavailable { user: ServiceIndicator::SCCP, reason },
    };
    let gone = (Inaccessible, RemoteSccpStatus::Inaccessible);
    let back = (Accessible, Available);
    let table = [
        (None, vec![]),
        (Some(UserPartUnavailability::Unknown), vec![(Accessible, Unavailable)]),
        (Some(UserPartUnavailability::Unequipped), vec![(Accessible, Unequipped)]),
    ];
    for (before, told) in table {
        let mut net = Net::three();
        if let Some(reason) = before {
            net.indicate(A, status(reason));
        }
        assert_eq!(heard(&mut net), told, "{before:?}");
        net.indicate(A, TransferIndication::Pause(B));
        assert_eq!(heard(&mut net), [gone], "{before:?}");
        net.indicate(A, TransferIndication::Resume(B));
        assert_eq!(heard(&mut net), [back], "{before:?}");
        net.sent.clear();
        net.pass(Duration::from_secs(3_600));
        assert_eq!(management(&mut net), Vec::<String>::new(), "{before:?}: nothing is asked any more");
    }
}

#[test]
fn a_subsystem_that_has_failed_at_a_translator_does_not_keep_titles_from_it() {
    for (routing, reaches) in [(RouteOn::GlobalTitle, true), (RouteOn::Ssn, false)] {
        let (rules, groups) = [rule("49*", B, routing)].into_iter().unzip();
        let first = NodeConfig { translator: Translator::new(rules, groups).unwrap(), ..config(A) };
        let (rules, groups) = [rule("49*", C, RouteOn::Ssn)].into_iter().unzip();
        let second = NodeConfig { translator: Translator::new(rules, groups).unwrap(), ..config(B) };
        let mut net = Net::new([first, second, config(C)]);
        // B's own HLR is out of service, and A knows.
        set(&mut net, B, false);
        net.unitdata(A, request(at(B, HLR), "x"));
        net.indications(A);
        net.unitdata(A, request(titled("49171", HLR), "x"));
        let arrived = net.indications(C).iter().any(|heard| matches!(heard, Indication::Unitdata { .. }));
        assert_eq!(arrived, reaches, "{routing:?}");
        let failed = |heard: &Indication| {
            matches!(heard, Indication::Notice { cause: ReturnCause::SUBSYSTEM_FAILURE, .. })
        };
        assert_eq!(net.indications(A).iter().any(failed), !reaches, "{routing:?}");
    }
}

#[test]
fn translations_go_round_what_has_failed() {
    let (mut rules, mut groups): (Vec<_>, Vec<_>) = [rule("49*", B, RouteOn::Ssn)].into_iter().unzip();
    let backup = Entity { point_code: C, ..groups[0].entities[0] };
    groups[0].entities.push(backup);
    rules[0].name = "hlr".into();
    let first = NodeConfig { translator: Translator::new(rules, groups).unwrap(), ..config(A) };
    let mut net = Net::new([first, config(B), config(C)]);
    net.unitdata(A, request(titled("49171", HLR), "x"));
    assert!(matches!(net.indications(B)[..], [Indication::Unitdata { .. }]));
    net.indicate(A, TransferIndication::Pause(B));
    net.unitdata(A, request(titled("49171", HLR), "x"));
    assert!(matches!(net.indications(C)[..], [Indication::Unitdata { .. }]));
    net.indicate(A, TransferIndication::Pause(C));
    net.indications(A);
    net.unitdata(A, request(titled("49171", HLR), "x"));
    assert!(matches!(net.indications(A)[..], [Indication::Notice { cause: ReturnCause::MTP_FAILURE, .. }]));
}

#[test]
fn a_user_that_never_came_gets_nothing_and_asks_for_nothing() {
    let mut node = slantpath_ss7::sccp::Node::new(config(A)).unwrap();
    let unequipped = slantpath_ss7::sccp::Ssn(99);
    assert_eq!(node.set_subsystem(Instant::START, unequipped, true), Err(RequestError::NotAUser));
    assert_eq!(node.coord_request(Instant::START, VLR), Err(RequestError::NoBackup(VLR)));
}
