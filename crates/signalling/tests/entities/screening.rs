//! Screening and rates at a gateway between a line and a process: what passes, what is answered, and what is counted.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_signalling::{
    Gate, RateLimit, ScreenedType, ScreeningAction, ScreeningConfig, ScreeningCounts, ScreeningCriteria,
    ScreeningRule,
};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{DiscardReason, LinkSetId};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation};
use slantpath_ss7::sccp::gtt::{DigitPattern, INTERNATIONAL};
use slantpath_ss7::sccp::{
    self, AddressFormat, Digits, GlobalTitle, MessageView, PartyAddress, ProtocolClass, ReturnCause, Ssn,
};
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication, UserPartUnavailability};

use crate::gateway::{BEHIND, CONTEXT, EXCHANGE, GATEWAY, registering_world, screening_world};
use crate::world::{Holder, World, transfer};

const LINE: Gate = Gate::LinkSet(LinkSetId(0));
const SERVER: Gate = Gate::Server(CONTEXT);

fn from(gate: Gate) -> ScreeningCriteria {
    ScreeningCriteria { arrivals: vec![gate], ..ScreeningCriteria::default() }
}

fn rule(criteria: ScreeningCriteria, action: ScreeningAction) -> ScreeningRule {
    ScreeningRule { name: "rule".to_owned(), criteria, action, copies: false }
}

fn rules(rules: Vec<ScreeningRule>) -> ScreeningConfig {
    ScreeningConfig { rules, rates: Vec::new() }
}

fn rate(criteria: ScreeningCriteria, towards: Option<Gate>, messages_per_second: u32) -> ScreeningConfig {
    let rate = RateLimit { name: "rate".to_owned(), criteria, towards, messages_per_second, burst: 1 };
    ScreeningConfig { rules: Vec::new(), rates: vec![rate] }
}

fn counts(world: &World) -> Vec<ScreeningCounts> {
    world.points[1].screening_counts().map(|(_, counts)| counts).collect()
}

fn matched(world: &World) -> Vec<(u64, u64)> {
    counts(world).iter().map(|counts| (counts.matched, counts.refused)).collect()
}

fn titled(digits: &str, ssn: u8) -> PartyAddress {
    let digits = Digits::parse(digits).unwrap();
    let global_title = Some(GlobalTitle::with(Some(0), Some(1), Some(INTERNATIONAL), digits));
    PartyAddress { ssn: Some(Ssn(ssn)), global_title, ..PartyAddress::default() }
}

fn unitdata(from: u32, to: u32, digits: &str) -> Transfer {
    let class = ProtocolClass { class: 0, handling: 8 };
    let message =
        sccp::Message::Udt { class, called: titled(digits, 6), calling: titled("4930", 8), data: vec![7; 9] };
    let mut octets = Vec::new();
    message.emit(&mut octets).unwrap();
    let indicator = ServiceIndicator::SCCP;
    let service = ServiceInformation { indicator, ..ServiceInformation::from_octet(0) };
    Transfer { service, user_data: Bytes::from(octets), ..transfer(from, to, 5, 0) }
}

/// The exchange sends so many messages to the process, and the process as many back, 50 ms apart.
fn both_ways(world: &mut World, messages: u32) {
    for number in 0..messages {
        world.points[0].transfer(world.now, &transfer(EXCHANGE, BEHIND, 5, number)).unwrap();
        assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, number)));
        world.pass(Duration::from_millis(50));
    }
    world.pass(Duration::from_secs(1));
}

fn delivered(world: &World, at: Holder) -> usize {
    world.delivered.iter().filter(|((holder, _), _)| *holder == at).map(|(_, numbers)| numbers.len()).sum()
}

#[test]
fn the_first_rule_that_fits_decides_about_a_message_from_either_side() {
    let opc = |code| ScreeningCriteria { opcs: vec![PointCode(code)], ..ScreeningCriteria::default() };
    let mut world = screening_world(rules(vec![
        rule(ScreeningCriteria { opcs: vec![PointCode(99)], ..from(LINE) }, ScreeningAction::Discard),
        rule(ScreeningCriteria { dpcs: vec![PointCode(EXCHANGE)], ..from(SERVER) }, ScreeningAction::Allow),
        rule(opc(BEHIND), ScreeningAction::Discard),
        rule(opc(EXCHANGE), ScreeningAction::Discard),
    ]));
    both_ways(&mut world, 4);
    assert_eq!(matched(&world), [(0, 0), (4, 0), (0, 0), (4, 4)]);
    assert_eq!((delivered(&world, Holder::Point(0)), delivered(&world, Holder::Process(0))), (4, 0));
}

#[test]
fn rules_of_a_successor_go_on_counting_by_their_names() {
    let named = |name: &str| ScreeningRule {
        name: name.to_owned(),
        ..rule(ScreeningCriteria { opcs: vec![PointCode(BEHIND)], ..from(SERVER) }, ScreeningAction::Allow)
    };
    let mut world = screening_world(rules(vec![named("kept"), named("gone")]));
    both_ways(&mut world, 3);
    let mut successor = screening_world(rules(vec![named("new"), named("kept")])).points.remove(1);
    let succession = world.points[1].succession(&successor).unwrap();
    successor.take_over(world.now, world.points.remove(1), &succession);
    let counts = successor.screening_counts().map(|(name, counts)| (name.to_owned(), counts.matched));
    assert_eq!(counts.collect::<Vec<_>>(), [("new".to_owned(), 0), ("kept".to_owned(), 3)]);
}

#[test]
fn a_rate_of_a_successor_has_no_more_left_than_before() {
    let limit = || rate(from(SERVER), None, 1);
    let mut world = screening_world(limit());
    both_ways(&mut world, 2);
    let mut successor = screening_world(limit()).points.remove(1);
    let succession = world.points[1].succession(&successor).unwrap();
    for number in [2, 3] {
        assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, number)));
    }
    world.pass(Duration::from_millis(100));
    let former = world.points.remove(1);
    successor.take_over(world.now, former, &succession);
    world.points.insert(1, successor);
    assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, 4)));
    world.pass(Duration::from_millis(100));
    assert_eq!(matched(&world), [(5, 3)]);
}

#[test]
fn a_message_takes_from_each_of_a_hundred_rates_that_it_belongs_to_and_from_no_other() {
    let limit = |name: usize, (to, burst)| RateLimit {
        name: name.to_string(),
        criteria: ScreeningCriteria::default(),
        towards: Some(to),
        messages_per_second: 1,
        burst,
    };
    let other = |number| if number == 0 { (LINE, 1) } else { (SERVER, 2) };
    let rates = (0..100).map(|number| limit(number, other(number))).collect();
    let mut world = screening_world(ScreeningConfig { rules: Vec::new(), rates });
    for number in 0..3 {
        world.points[0].transfer(world.now, &transfer(EXCHANGE, BEHIND, 5, number)).unwrap();
    }
    world.pass(Duration::from_millis(300));
    assert_eq!(delivered(&world, Holder::Process(0)), 2);
    let mut expected = vec![(2, 0); 100];
    (expected[0], expected[1]) = ((0, 0), (3, 1));
    assert_eq!(matched(&world), expected);
}

#[test]
fn a_rule_fits_by_each_of_its_criteria() {
    let all = ScreeningCriteria::default;
    let fitting = [
        ScreeningCriteria { calling_ssns: vec![Ssn(8)], ..all() },
        ScreeningCriteria { called_ssns: vec![Ssn(6)], ..all() },
        ScreeningCriteria { network: Some(NetworkIndicator::International), ..all() },
        ScreeningCriteria { dpcs: vec![PointCode(BEHIND)], ..all() },
        ScreeningCriteria { types: vec![ScreenedType { service: 3, code: 9 }], ..all() },
        ScreeningCriteria { called: DigitPattern::parse("49*").ok(), ..all() },
    ];
    let others = [
        ScreeningCriteria { calling_ssns: vec![Ssn(6)], ..all() },
        ScreeningCriteria { called_ssns: vec![Ssn(8)], ..all() },
        ScreeningCriteria { network: Some(NetworkIndicator::National), ..all() },
        ScreeningCriteria { dpcs: vec![PointCode(EXCHANGE)], ..all() },
        ScreeningCriteria { types: vec![ScreenedType { service: 3, code: 10 }], ..all() },
        ScreeningCriteria { called: DigitPattern::parse("33*").ok(), ..all() },
    ];
    for (is_fitting, criteria) in
        fitting.into_iter().map(|own| (true, own)).chain(others.into_iter().map(|own| (false, own)))
    {
        let mut world = screening_world(rules(vec![rule(criteria.clone(), ScreeningAction::Allow)]));
        world.points[0].transfer(world.now, &unitdata(EXCHANGE, BEHIND, "4912")).unwrap();
        world.pass(Duration::from_millis(300));
        assert_eq!(matched(&world), [(u64::from(is_fitting), 0)], "{criteria:?}");
    }
}

/// A title of a kind that says nothing has no digits, and so none that a pattern fits.
#[test]
fn digits_of_an_opaque_title_are_those_of_no_pattern() {
    for (pattern, expected) in [(Some("*"), 0), (None, 1)] {
        let called = pattern.map(|digits| DigitPattern::parse(digits).unwrap());
        let criteria =
            ScreeningCriteria { called, called_ssns: vec![Ssn(6)], ..ScreeningCriteria::default() };
        let mut world = screening_world(rules(vec![rule(criteria, ScreeningAction::Allow)]));
        let mut message = unitdata(EXCHANGE, BEHIND, "4912");
        let mut octets = message.user_data.to_vec();
        // The address indicator of the called party, behind the pointers: an indicator of 7 is of no kind.
        octets[6] |= 7 << 2;
        message.user_data = octets.into();
        world.points[0].transfer(world.now, &message).unwrap();
        world.pass(Duration::from_millis(300));
        assert_eq!(matched(&world), [(expected, 0)], "{pattern:?}");
    }
}

#[test]
fn what_comes_from_a_server_that_a_process_has_registered_is_screened_as_well() {
    for criteria in [from(SERVER), from(LINE), ScreeningCriteria::default()] {
        let is_any = criteria.arrivals.is_empty();
        let mut world = registering_world(rules(vec![rule(criteria, ScreeningAction::Discard)]));
        assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, 0)));
        world.pass(Duration::from_secs(1));
        assert_eq!(matched(&world), [if is_any { (1, 1) } else { (0, 0) }]);
        assert_eq!(delivered(&world, Holder::Point(0)), usize::from(!is_any));
    }
}

#[test]
fn seventy_thousand_rules_are_all_asked() {
    let other = ScreeningCriteria { opcs: vec![PointCode(99)], ..from(SERVER) };
    let mut own = vec![rule(other, ScreeningAction::Discard); 70_000];
    own.push(rule(from(SERVER), ScreeningAction::Discard));
    let mut world = screening_world(rules(own));
    both_ways(&mut world, 1);
    assert_eq!(matched(&world)[70_000], (1, 1));
}

#[test]
fn a_rule_for_everything_leaves_management_alone_and_one_by_name_does_not() {
    let all = ScreeningCriteria::default;
    let mut world = screening_world(rules(vec![rule(all(), ScreeningAction::Discard)]));
    both_ways(&mut world, 1);
    // The link is up, by its tests, and nothing of users passes.
    assert!(world.points[1].is_accessible(PointCode(EXCHANGE)));
    assert_eq!(matched(&world), [(2, 2)]);
    let tfp = ScreenedType { service: 0, code: 0x14 };
    let named = ScreeningCriteria { types: vec![tfp], ..all() };
    let mut world = screening_world(rules(vec![rule(named, ScreeningAction::Discard)]));
    let indicator = ServiceIndicator::MANAGEMENT;
    let service = ServiceInformation { indicator, ..ServiceInformation::from_octet(0) };
    let user_data = Bytes::from_static(&[0x14, 9, 0]);
    let prohibited = Transfer { service, user_data, ..transfer(EXCHANGE, GATEWAY, 0, 0) };
    world.points[0].transfer(world.now, &prohibited).unwrap();
    both_ways(&mut world, 1);
    assert_eq!(matched(&world), [(1, 1)]);
    assert_eq!(world.points[1].mtp3().counters().management_received.get("TFP"), None);
}

#[test]
fn a_rejected_title_comes_back_from_the_gateway_to_either_side() {
    let foreign = ScreeningCriteria {
        called: Some(DigitPattern::parse("33*").unwrap()),
        called_ssns: vec![Ssn(6)],
        calling_ssns: vec![Ssn(8)],
        ..ScreeningCriteria::default()
    };
    let cause = ReturnCause::NO_TRANSLATION_FOR_ADDRESS;
    let mut world = screening_world(rules(vec![rule(foreign, ScreeningAction::Reject(cause))]));
    for digits in ["3312", "4912"] {
        world.points[0].transfer(world.now, &unitdata(EXCHANGE, BEHIND, digits)).unwrap();
        assert!(world.processes[0].transfer(None, &unitdata(BEHIND, EXCHANGE, digits)));
    }
    world.pass(Duration::from_secs(1));
    let own = counts(&world)[0];
    assert_eq!((own.matched, own.refused, own.returned), (2, 2, 2));
    for (holder, far) in [(Holder::Point(0), BEHIND), (Holder::Process(0), EXCHANGE)] {
        let came = world.told.iter().filter(|(at, _)| *at == holder);
        let came: Vec<(u32, Option<u8>)> = came
            .map(|(_, told)| {
                let TransferIndication::Transfer(message) = told else { panic!("{told:?}") };
                let view = MessageView::new(AddressFormat::Itu, &message.user_data);
                (message.label.opc.0, view.code())
            })
            .collect();
        // UDTS of the gateway, and the other's UDT.
        assert_eq!(came.len(), 2, "{holder:?}");
        assert!(came.contains(&(GATEWAY, Some(10))) && came.contains(&(far, Some(9))), "{came:?}");
    }
}

#[test]
fn a_copy_has_all_octets_of_a_message_from_either_side() {
    let copying =
        ScreeningRule { copies: true, ..rule(ScreeningCriteria::default(), ScreeningAction::Allow) };
    let mut world = screening_world(rules(vec![copying]));
    both_ways(&mut world, 1);
    assert_eq!((delivered(&world, Holder::Point(0)), delivered(&world, Holder::Process(0))), (1, 1));
    let arrivals: Vec<Gate> = world.copies.iter().map(|copy| copy.arrival).collect();
    assert_eq!((arrivals, counts(&world)[0].copied), (vec![SERVER, LINE], 2));
    for copy in &world.copies {
        assert_eq!((copy.octets.len(), &copy.octets[5..]), (9, &[0, 0, 0, 0][..]), "{copy:?}");
    }
}

#[test]
fn what_is_beyond_the_rate_of_a_link_set_is_told_by_transfer_controlled_now_and_then() {
    let mut world = screening_world(rate(from(LINE), None, 2));
    // 20 in a second: two pass, and the first one.
    both_ways(&mut world, 20);
    let own = counts(&world)[0];
    assert_eq!((own.matched, own.refused, own.transfer_controlled), (20, 18, 3));
    assert_eq!((delivered(&world, Holder::Process(0)), delivered(&world, Holder::Point(0))), (2, 20));
    let congested =
        TransferIndication::Status { affected: PointCode(BEHIND), cause: StatusCause::Congestion(1) };
    let told = world.told.iter().filter(|(at, told)| *at == Holder::Point(0) && *told == congested);
    assert!(told.count() >= 3);
}

#[test]
fn what_is_beyond_the_rate_of_an_application_server_is_told_by_scon() {
    let mut world = screening_world(rate(from(SERVER), None, 2));
    both_ways(&mut world, 20);
    let own = counts(&world)[0];
    assert_eq!((own.matched, own.refused, own.congestion_indicated), (20, 18, 3));
    assert_eq!((delivered(&world, Holder::Process(0)), delivered(&world, Holder::Point(0))), (20, 2));
    let congested =
        TransferIndication::Status { affected: PointCode(EXCHANGE), cause: StatusCause::Congestion(1) };
    assert!(world.told.contains(&(Holder::Process(0), congested)));
}

#[test]
fn messages_of_one_instant_beyond_a_rate_are_told_by_as_many_scon_as_are_counted() {
    let mut world = screening_world(rate(from(SERVER), None, 2));
    for number in 0..20 {
        assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, number)));
    }
    world.pass(Duration::from_secs(1));
    let congested =
        TransferIndication::Status { affected: PointCode(EXCHANGE), cause: StatusCause::Congestion(1) };
    let told = world.told.iter().filter(|told| **told == (Holder::Process(0), congested.clone()));
    assert_eq!((counts(&world)[0].congestion_indicated, told.count()), (3, 3));
}

#[test]
fn a_rate_towards_a_link_set_or_an_application_server_counts_what_leaves_there() {
    for (towards, passed) in [(LINE, (20, 2)), (SERVER, (2, 20))] {
        let mut world = screening_world(rate(ScreeningCriteria::default(), Some(towards), 2));
        both_ways(&mut world, 20);
        assert_eq!(matched(&world), [(20, 18)]);
        assert_eq!((delivered(&world, Holder::Process(0)), delivered(&world, Holder::Point(0))), passed);
    }
}

#[test]
fn a_unitdata_beyond_the_rate_of_its_titles_comes_back_with_network_congestion() {
    let called = Some(DigitPattern::parse("49*").unwrap());
    let mut world =
        screening_world(rate(ScreeningCriteria { called, ..ScreeningCriteria::default() }, None, 1));
    for digits in ["4911", "4912", "3311"] {
        world.points[0].transfer(world.now, &unitdata(EXCHANGE, BEHIND, digits)).unwrap();
    }
    world.pass(Duration::from_millis(500));
    let own = counts(&world)[0];
    assert_eq!((own.matched, own.refused, own.returned), (2, 1, 1));
    assert!(world.processes[0].transfer(None, &unitdata(BEHIND, EXCHANGE, "4913")));
    world.pass(Duration::from_millis(100));
    let own = counts(&world)[0];
    assert_eq!((own.matched, own.refused, own.returned), (3, 2, 2));
    for holder in [Holder::Point(0), Holder::Process(0)] {
        let services = world.told.iter().filter_map(|(at, told)| match told {
            TransferIndication::Transfer(message) if *at == holder => {
                sccp::Message::parse(&message.user_data).ok()
            }
            _ => None,
        });
        let causes = services.filter_map(|message| match message {
            sccp::Message::Udts { cause, .. } => Some(cause),
            _ => None,
        });
        assert_eq!(causes.collect::<Vec<_>>(), [ReturnCause::NETWORK_CONGESTION.0], "{holder:?}");
    }
}

#[test]
fn a_process_that_calls_a_user_the_gateway_lacks_is_told_by_dupu() {
    let mut world = screening_world(ScreeningConfig::default());
    // A user part that the gateway's own point does not have.
    let indicator = ServiceIndicator::new(9).unwrap();
    let service = ServiceInformation { indicator, ..ServiceInformation::from_octet(0) };
    let message = Transfer { service, ..transfer(BEHIND, GATEWAY, 5, 0) };
    assert!(world.processes[0].transfer(None, &message));
    world.pass(Duration::from_secs(1));
    let counters = world.points[1].mtp3().counters();
    assert_eq!(counters.discarded(DiscardReason::UserPartUnavailable), 1);
    let missing = world.told.iter().any(|(at, told)| {
        let TransferIndication::Status { affected, cause } = told else { return false };
        *at == Holder::Process(0)
            && *affected == PointCode(GATEWAY)
            && matches!(cause, StatusCause::UserPartUnavailable { user, .. } if *user == indicator)
    });
    assert!(missing, "{:?}", world.told);
}

/// Words of another point to one behind the gateway are for the MTP3 of the gateway: no DATA has them.
#[test]
fn what_the_network_tells_a_point_behind_the_gateway_is_told_to_its_processes() {
    // A user part that the gateway's own point does not have.
    let user = ServiceIndicator::new(9).unwrap();
    let reason = UserPartUnavailability::Unequipped;
    let missing = StatusCause::UserPartUnavailable { user, reason };
    // UPU has the cause "unequipped remote user".
    let told: [(&str, &'static [u8], StatusCause); 2] =
        [("TFC", &[0x23, 1, 0], StatusCause::Congestion(1)), ("UPU", &[0x1a, 1, 0, 0x19], missing)];
    for (name, octets, cause) in told {
        let mut world = screening_world(ScreeningConfig::default());
        let indicator = ServiceIndicator::MANAGEMENT;
        let service = ServiceInformation { indicator, ..ServiceInformation::from_octet(0) };
        let user_data = Bytes::from_static(octets);
        let message = Transfer { service, user_data, ..transfer(EXCHANGE, BEHIND, 0, 0) };
        world.points[0].transfer(world.now, &message).unwrap();
        world.pass(Duration::from_secs(1));
        let status = TransferIndication::Status { affected: PointCode(EXCHANGE), cause };
        // Once, however many users the gateway's point has.
        let told = world.told.iter().filter(|told| **told == (Holder::Process(0), status.clone()));
        assert_eq!(told.count(), 1, "{name}: {:?}", world.told);
        assert_eq!(world.points[1].mtp3().counters().management_received.get(name), Some(&1));
    }
}

#[test]
fn who_calls_a_user_part_that_no_application_server_has_is_told_by_upu() {
    // The only key is for service indicator 13, and the process has registered 5.
    let mut world = registering_world(ScreeningConfig::default());
    for user in [3, 5] {
        let indicator = ServiceIndicator::new(user).unwrap();
        let service = ServiceInformation { indicator, ..ServiceInformation::from_octet(0) };
        let message = Transfer { service, ..transfer(EXCHANGE, BEHIND, 5, u32::from(user)) };
        world.points[0].transfer(world.now, &message).unwrap();
    }
    world.pass(Duration::from_secs(1));
    assert_eq!(delivered(&world, Holder::Process(0)), 1);
    let counters = world.points[1].mtp3().counters();
    assert_eq!(counters.discarded(DiscardReason::UserPartUnavailable), 1);
    let (user, reason) = (ServiceIndicator::SCCP, UserPartUnavailability::Unequipped);
    let cause = StatusCause::UserPartUnavailable { user, reason };
    let status = TransferIndication::Status { affected: PointCode(BEHIND), cause };
    let told = world.told.iter().filter(|told| **told == (Holder::Point(0), status.clone()));
    assert_eq!(told.count(), 1, "{:?}", world.told);
}
