//! Requests of management while a procedure is under way, or that level 2 forgets.

use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::node::{
    Function, LocalInhibition, ManagementEvent, Mtp3LinkId, Output, SequenceNumbers,
};
use slantpath_ss7::mtp3::{ManagementLayout, ManagementMessage as M, Msu, Node, ServiceIndicator, Slc};

use super::network::{Network, heard, link_set, node};

const LINK: Mtp3LinkId = Mtp3LinkId(1);

/// One of two nodes with two links between them; the test is the other.
fn ready() -> (Node, Instant) {
    let point = |code, far| node(code, Function::EndPoint, vec![link_set(far, 2, SequenceNumbers::Bits7)]);
    let mut network = Network::new(vec![point(1, 2), point(2, 1)]);
    network.activate_all();
    (network.nodes.swap_remove(0), network.now)
}

fn hear(node: &mut Node, now: Instant, message: M) {
    let indication = heard(node, PointCode(2), Slc(1), message);
    node.handle_link(now, Mtp3LinkId(0), indication);
}

/// Messages of inhibiting that are sent, and what is told of it; what asks level 2 for a proving period or to start.
fn said(node: &mut Node, now: Instant) -> Vec<String> {
    let mut said = Vec::new();
    let format = node.config().format;
    loop {
        match node.poll_output(now) {
            Output::Link(_, LinkRequest::Transmit(octets)) => {
                let msu = Msu::parse(&octets, format).unwrap();
                if msu.service.indicator == ServiceIndicator::MANAGEMENT {
                    let message = M::parse(msu.user_part, ManagementLayout::Itu, msu.label.sls).unwrap().0;
                    said.push(format!("{message:?}"));
                }
            }
            Output::Link(LINK, request) => said.push(format!("{request:?}")),
            Output::Management(
                event @ (ManagementEvent::LinkInhibited(_)
                | ManagementEvent::LinkUninhibited(_)
                | ManagementEvent::InhibitionUnanswered(_)),
            ) => said.push(format!("{event:?}")),
            Output::Wait(_) => return said,
            _ => {}
        }
    }
}

enum Step {
    Hear(M),
    Inhibit,
    Uninhibit,
    /// So many milliseconds pass.
    Wait(u64),
}

/// Steps in their order, each with what is sent for it.
type Course<'a> = &'a [(Step, &'a [&'a str])];

#[test]
fn a_link_that_is_to_be_used_again_before_the_far_end_has_agreed_is_not_inhibited() {
    use Step::{Hear, Inhibit, Uninhibit, Wait};
    let table: &[(&str, Course<'_>, LocalInhibition)] = &[
        (
            "the far end agrees",
            &[
                (Inhibit, &["Lin"]),
                (Uninhibit, &["Lun"]),
                (Hear(M::Lia), &[]),
                (Hear(M::Lua), &[]),
                (Wait(10_000), &[]),
            ],
            LocalInhibition::Uninhibited,
        ),
        (
            "the far end refuses",
            &[(Inhibit, &["Lin"]), (Uninhibit, &["Lun"]), (Hear(M::Lid), &[]), (Hear(M::Lua), &[])],
            LocalInhibition::Uninhibited,
        ),
        (
            "LIN was repeated, and LUN is",
            &[
                (Inhibit, &["Lin"]),
                (Wait(2_500), &["Lin"]),
                (Uninhibit, &["Lun"]),
                (Wait(1_199), &[]),
                (Wait(1), &["Lun"]),
                (Hear(M::Lia), &[]),
                (Hear(M::Lua), &[]),
                (Wait(10_000), &[]),
            ],
            LocalInhibition::Uninhibited,
        ),
        (
            "the far end says nothing, and then that it thinks the link inhibited",
            &[
                (Inhibit, &["Lin"]),
                (Uninhibit, &["Lun"]),
                (Wait(1_200), &["Lun"]),
                (Wait(1_200), &["InhibitionUnanswered(Mtp3LinkId(1))"]),
                (Hear(M::Lrt), &["Lun"]),
                (Hear(M::Lua), &[]),
            ],
            LocalInhibition::Uninhibited,
        ),
        (
            "after it has agreed",
            &[
                (Inhibit, &["Lin"]),
                (Hear(M::Lia), &["LinkInhibited(Mtp3LinkId(1))"]),
                (Uninhibit, &["Lun"]),
                (Hear(M::Lua), &["LinkUninhibited(Mtp3LinkId(1))"]),
            ],
            LocalInhibition::Uninhibited,
        ),
    ];
    for (name, steps, ends) in table {
        let (mut node, mut now) = ready();
        said(&mut node, now);
        for (number, (step, expected)) in steps.iter().enumerate() {
            match step {
                Hear(message) => hear(&mut node, now, *message),
                Inhibit => node.inhibit(now, LINK).unwrap(),
                Uninhibit => node.uninhibit(now, LINK),
                Wait(milliseconds) => {
                    let until = now + Duration::from_millis(*milliseconds);
                    while let Output::Wait(Some(due)) = node.poll_output(now)
                        && due < until
                    {
                        now = due;
                        assert_eq!(said(&mut node, now), [""; 0], "{name}: step {number} too early");
                    }
                    now = until;
                }
            }
            assert_eq!(said(&mut node, now), *expected, "{name}: step {number}");
        }
        assert_eq!(node.inhibition(LINK).0, *ends, "{name}");
        assert!(node.is_link_available(LINK), "{name}");
    }
}

#[test]
fn an_outage_that_begins_again_before_t24_has_expired_lasts() {
    let (mut node, mut now) = ready();
    said(&mut node, now);
    node.local_processor_outage(now, LINK, true);
    assert_eq!(said(&mut node, now), ["LocalProcessorOutage"]);
    node.local_processor_outage(now, LINK, false);
    now += Duration::from_millis(499);
    assert_eq!(said(&mut node, now), [""; 0]);
    node.local_processor_outage(now, LINK, true);
    assert_eq!(said(&mut node, now), ["LocalProcessorOutage"]);
    now += Duration::from_secs(60);
    let later = said(&mut node, now);
    assert!(!later.contains(&"LocalProcessorRecovered".into()), "T24 of the first outage: {later:?}");
    assert!(!node.is_link_available(LINK));
    node.local_processor_outage(now, LINK, false);
    now += Duration::from_millis(499);
    assert_eq!(said(&mut node, now), [""; 0]);
    now += Duration::from_millis(1);
    assert!(said(&mut node, now).contains(&"LocalProcessorRecovered".into()));
    assert!(node.is_link_available(LINK));
}

#[test]
fn the_wish_for_emergency_proving_outlasts_level_2_which_forgets_it_when_it_stops() {
    let (mut node, now) = ready();
    node.emergency(LINK, true);
    assert_eq!(said(&mut node, now), ["Emergency"]);
    node.deactivate(now, LINK);
    let asked = said(&mut node, now);
    assert!(asked.contains(&"Stop".into()), "{asked:?}");
    node.handle_link(now, LINK, LinkIndication::OutOfService(OutOfServiceReason::Stopped));
    node.handle_link(now, LINK, LinkIndication::BsntNotRetrievable);
    hear(&mut node, now, M::Eca);
    node.handle_link(now, LINK, LinkIndication::RetrievalComplete);
    said(&mut node, now);
    node.activate(now, LINK);
    assert_eq!(said(&mut node, now), ["Emergency", "Start"]);
    // Without the wish it is level 2's own.
    node.deactivate(now, LINK);
    node.emergency(LINK, false);
    said(&mut node, now);
    node.activate(now, LINK);
    assert_eq!(said(&mut node, now), ["Start"]);
}
