//! Tests 3 of Q.782: changeover.

use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp3::node::{
    ChangeoverState, DiscardReason, ManagementEvent, Mtp3LinkId, Mtp3Timer, SequenceNumbers,
};
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{B, C, D, Said, Tester, configuration_a, configuration_b, configuration_c};

/// Two links, and on link 1 the messages with odd numbers.
fn loaded() -> Tester {
    let mut tester = Tester::ready(configuration_a(2));
    tester.bsnt = Some(5);
    tester.send_all(B);
    tester.carried();
    tester
}

/// Takes the numbers of the messages that went over link 0 since it was asked last.
fn numbers(tester: &mut Tester) -> Vec<u32> {
    let carried = tester.carried();
    assert!(carried.iter().all(|message| message.over == 0), "{carried:?}");
    carried.iter().map(|message| message.number).collect()
}

const fn about(message: M) -> Said {
    Said { over: 0, to: B, slc: 1, message }
}

#[test]
fn q782_3_1_order_and_acknowledgement() {
    let mut tester = loaded();
    tester.fail(1);
    assert_eq!(tester.said(), [about(M::Coo(Fsn(5)))]);
    tester.send(B, 1, 101);
    tester.send(B, 0, 100);
    assert_eq!(numbers(&mut tester), [100], "other traffic goes on, the link's waits");
    tester.say(0, B, 1, M::Coa(Fsn(6)));
    assert_eq!(tester.asked_after, [(1, Some(6))]);
    assert_eq!(numbers(&mut tester), [13, 15, 101], "what B has not got, then what was new");
}

#[test]
fn q782_3_2_orders_from_both_ends() {
    let mut tester = loaded();
    tester.fail(1);
    tester.said();
    tester.say(0, B, 1, M::Coo(Fsn(6)));
    assert_eq!(tester.said(), [about(M::Coa(Fsn(5)))]);
    assert_eq!(numbers(&mut tester), [13, 15]);
    tester.say(0, B, 1, M::Coa(Fsn(6)));
    assert_eq!(numbers(&mut tester), Vec::<u32>::new(), "the later acknowledgement changes nothing");
}

#[test]
fn q782_3_3_order_against_emergency_order() {
    let mut tester = loaded();
    tester.fail(1);
    tester.said();
    tester.say(0, B, 1, M::Eco);
    assert_eq!(tester.said(), [about(M::Coa(Fsn(5)))]);
    assert_eq!(tester.asked_after, [(1, None)], "B does not know what it has");
}

#[test]
fn q782_3_4_number_that_fits_nothing() {
    let mut tester = loaded();
    tester.fail(1);
    tester.send(B, 1, 101);
    tester.say(0, B, 1, M::Coa(Fsn(99)));
    assert_eq!(tester.asked_after, [(1, Some(99))]);
    assert_eq!(numbers(&mut tester), [101], "nothing comes back, and new traffic starts");
}

#[test]
fn q782_3_5_order_answered_by_emergency_acknowledgement() {
    let mut tester = loaded();
    tester.fail(1);
    tester.send(B, 1, 101);
    tester.say(0, B, 1, M::Eca);
    assert_eq!(tester.asked_after, [(1, None)]);
    assert_eq!(numbers(&mut tester), [101]);
    assert!(tester.events.contains(&ManagementEvent::ChangeoverWithoutSequence(Mtp3LinkId(1))));
}

#[test]
fn q782_3_6_emergency_order_answered_by_acknowledgement() {
    let mut tester = loaded();
    tester.bsnt = None;
    tester.fail(1);
    assert_eq!(tester.said(), [about(M::Eco)]);
    tester.say(0, B, 1, M::Coa(Fsn(6)));
    assert_eq!(numbers(&mut tester), [13, 15], "A lost its number, B did not");
}

#[test]
fn q782_3_7_emergency_order_answered_by_emergency_acknowledgement() {
    let mut tester = loaded();
    tester.bsnt = None;
    tester.fail(1);
    tester.said();
    tester.say(0, B, 1, M::Eca);
    assert_eq!(tester.asked_after, [(1, None)]);
}

#[test]
fn q782_3_8_emergency_orders_from_both_ends() {
    let mut tester = loaded();
    tester.bsnt = None;
    tester.fail(1);
    tester.said();
    tester.say(0, B, 1, M::Eco);
    assert_eq!(tester.said(), [about(M::Eca)]);
    assert_eq!(tester.asked_after, [(1, None)]);
}

#[test]
fn q782_3_9_nobody_acknowledges() {
    let mut tester = loaded();
    tester.fail(1);
    tester.send(B, 1, 101);
    tester.said();
    tester.expire(Mtp3Timer::T2);
    assert_eq!(numbers(&mut tester), [101]);
    assert_eq!(tester.asked_after, [(1, None)]);
    assert_eq!(tester.said(), []);
}

#[test]
fn q782_3_10_order_for_a_link_in_service() {
    let mut tester = loaded();
    tester.aligns = false;
    tester.say(0, B, 1, M::Coo(Fsn(6)));
    assert_eq!(tester.said(), [about(M::Coa(Fsn(5)))]);
    assert_eq!(numbers(&mut tester), [13, 15]);
    assert!(!tester.is_available(1));
    assert!(tester.requests.contains(&(1, LinkRequest::Stop)), "A gives the link up too");
}

#[test]
fn q782_3_11_emergency_order_for_a_link_in_service() {
    let mut tester = loaded();
    tester.aligns = false;
    tester.say(0, B, 1, M::Eco);
    assert_eq!(tester.said(), [about(M::Coa(Fsn(5)))]);
    assert_eq!(tester.asked_after, [(1, None)]);
}

#[test]
fn q782_3_12_order_after_the_changeover() {
    let mut tester = loaded();
    tester.fail(1);
    tester.say(0, B, 1, M::Coa(Fsn(8)));
    tester.said();
    tester.say(0, B, 1, M::Coo(Fsn(8)));
    assert_eq!(tester.said(), [about(M::Coa(Fsn(5)))], "B had not heard the order");
    assert_eq!(numbers(&mut tester), Vec::<u32>::new());
}

#[test]
fn q782_3_13_acknowledgement_without_order() {
    let mut tester = loaded();
    tester.say(0, B, 1, M::Coa(Fsn(6)));
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 1);
    assert!(tester.is_available(1));
    assert_eq!(tester.said(), []);
}

#[test]
fn q782_3_14_to_another_link_set() {
    let mut tester = Tester::ready(configuration_b());
    tester.fail(0);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    tester.send_all(D);
    assert_eq!(tester.links_used(), [1]);
    tester.said();
    tester.fail(1);
    let order = Said { over: 3, to: B, slc: 1, message: M::Coo(Fsn(0)) };
    assert_eq!(tester.said(), [order], "B is reached over C");
    tester.say(2, B, 1, M::Coa(Fsn(10)));
    let carried = tester.carried();
    assert_eq!(carried.iter().map(|message| message.number).collect::<Vec<_>>(), [10, 11, 12, 13, 14, 15]);
    assert!(carried.iter().all(|message| message.over >= 2));
}

#[test]
fn q782_3_15_adjacent_point_out_of_reach() {
    let mut tester = Tester::ready(configuration_c());
    // B is not reached over C any more: only time can keep the order.
    tester.say(2, C, 0, M::Tfp(PointCode(B)));
    tester.fail(0);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    tester.said();
    tester.fail(1);
    tester.send(D, 1, 101);
    assert_eq!((tester.said(), tester.carried()), (vec![], vec![]));
    tester.expire(Mtp3Timer::T1);
    assert_eq!(tester.links_used(), [3]);
    assert_eq!(tester.node.counters().timed_changeovers, 1);
}

#[test]
fn q782_3_16_short_processor_outage() {
    let mut tester = loaded();
    tester.link(1, LinkIndication::RemoteProcessorOutage);
    tester.send(B, 1, 101);
    tester.pass(slantpath_base::Duration::from_millis(300));
    assert_eq!((tester.said(), numbers(&mut tester)), (vec![], vec![]));
    tester.link(1, LinkIndication::RemoteProcessorRecovered);
    assert_eq!(tester.requests, [(1, LinkRequest::Continue)]);
    let carried = tester.carried();
    assert_eq!((carried.len(), carried[0].over), (1, 1), "it goes behind the others on its own link");
    // A's own is over T24 after it ended, unless it returns meanwhile.
    tester.node.local_processor_outage(tester.now, Mtp3LinkId(1), true);
    tester.node.local_processor_outage(tester.now, Mtp3LinkId(1), false);
    tester.pass(slantpath_base::Duration::from_millis(100));
    tester.node.local_processor_outage(tester.now, Mtp3LinkId(1), true);
    tester.node.local_processor_outage(tester.now, Mtp3LinkId(1), false);
    tester.said();
    tester.requests.clear();
    tester.expire(Mtp3Timer::T24);
    assert_eq!(
        tester.requests,
        [LinkRequest::LocalProcessorRecovered, LinkRequest::Continue].map(|request| (1, request))
    );
}

#[test]
fn q782_3_17_long_processor_outage() {
    let mut tester = loaded();
    tester.link(1, LinkIndication::RemoteProcessorOutage);
    tester.send(B, 1, 101);
    tester.expire(Mtp3Timer::T1);
    assert_eq!(numbers(&mut tester), [101]);
    assert_eq!(
        core::mem::take(&mut tester.requests),
        [(1, LinkRequest::FlushBuffers)],
        "before the first goes elsewhere"
    );
    tester.link(1, LinkIndication::RemoteProcessorRecovered);
    assert_eq!(tester.requests, [(1, LinkRequest::FlushBuffers), (1, LinkRequest::Continue)]);
    assert_eq!(tester.node.counters().flushed_links, 1);
}

#[test]
fn q782_3_18_failure_during_a_processor_outage() {
    let mut tester = loaded();
    tester.link(1, LinkIndication::RemoteProcessorOutage);
    tester.fail(1);
    assert_eq!(tester.said(), [about(M::Coo(Fsn(5)))]);
    tester.say(0, B, 1, M::Coa(Fsn(6)));
    assert_eq!(numbers(&mut tester), [13, 15]);
}

#[test]
fn q782_3_19_to_several_links() {
    let mut tester = Tester::ready(configuration_a(3));
    tester.send_all(B);
    tester.carried();
    tester.fail(2);
    tester.said();
    tester.say(0, B, 2, M::Coa(Fsn(0)));
    let carried = tester.carried();
    assert_eq!(carried.iter().map(|message| message.number).collect::<Vec<_>>(), [2, 5, 8, 11, 14]);
    assert!([0, 1].iter().all(|link| carried.iter().any(|message| message.over == *link)));
    assert_eq!(tester.node.changeover_state(Mtp3LinkId(2)), ChangeoverState::Completed);
}

#[test]
fn q782_3_20_compatibility() {
    let mut config = configuration_a(2);
    config.link_sets[0].links[1].sequence = SequenceNumbers::Bits24;
    let mut tester = Tester::ready(config);
    tester.bsnt = Some(0x12_3456);
    tester.send_all(B);
    tester.carried();
    tester.fail(1);
    assert_eq!(tester.said(), [about(M::Xco(Fsn(0x12_3456)))]);
    tester.say(0, B, 1, M::Xca(Fsn(6)));
    assert_eq!(numbers(&mut tester), [13, 15]);
    assert_eq!(tester.indications, Vec::<TransferIndication>::new(), "users notice nothing");
}
