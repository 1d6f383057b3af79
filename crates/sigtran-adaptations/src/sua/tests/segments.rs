//! Long messages in segments, over a gateway, in time and out of it.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_sigtran::asp::{self, AspMessage, ErrorCode, TrafficMode};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::sccp::ReassemblyLimits;

use super::{Net, association, net_of, subsystem};
use crate::drops::DropReason;
use crate::sua::{
    Message, RoutingKey, Segmentation, SegmentationConfig, SignallingGateway, SignallingGatewayConfig,
    Unitdata, UnitdataNotice, UserProcess, UserProcessConfig, UserProcessOutput, return_cause,
};

const ERROR_IN_MESSAGE_TRANSPORT: u8 = 8;

fn config(segment_octets: usize, limits: ReassemblyLimits) -> UserProcessConfig {
    UserProcessConfig {
        segmentation: SegmentationConfig { segment_octets, limits, ..SegmentationConfig::default() },
        ..UserProcessConfig::default()
    }
}

fn small() -> Net {
    let limits = SegmentationConfig::default().limits;
    Net::connected_with(&[config(10, limits), config(10, limits)])
}

fn long(len: usize) -> Unitdata {
    let data = (0..=255_u8).cycle().take(len).collect();
    Unitdata { return_on_error: true, sequence_control: 3, ..Unitdata::new(subsystem(0), subsystem(1), data) }
}

/// Gives the output at the receiver of such a message: segments go in sequence, and a whole one is said to have.
fn arrived(sent: Unitdata) -> UserProcessOutput {
    UserProcessOutput::Unitdata(2, Unitdata { in_sequence: true, ..sent })
}

/// Drops one of the messages that are on their way to the second ASP, counted from the first.
fn lose(net: &mut Net, at: usize) {
    net.drain();
    while let Some((false, transmit)) = net.wire.pop_front() {
        let Transmit { association, stream, payload_protocol, octets, .. } = transmit;
        let input = TransportInput::Message { stream, payload_protocol, octets };
        net.gateway.handle_transport(net.now, association, input);
    }
    net.drain();
    net.wire.remove(at);
    net.run();
}

#[test]
fn a_long_message_goes_in_segments_and_arrives_whole() {
    let mut net = small();
    assert!(net.asps[0].unitdata(1, &long(95)));
    net.drain();
    assert_eq!(net.wire.len(), 10);
    net.run();
    assert_eq!(net.indications[1], [arrived(long(95))]);
    assert_eq!(net.asps[1].segment_octets(), 0);
    // A short one is no segment.
    net.asps[0].unitdata(1, &long(10));
    net.run();
    assert_eq!(net.indications[1].last(), Some(&UserProcessOutput::Unitdata(2, long(10))));
}

#[test]
fn what_takes_more_than_sixteen_segments_comes_back_at_once() {
    let mut net = small();
    assert!(!net.asps[0].unitdata(1, &long(161)));
    net.run();
    let notice = UnitdataNotice::returning(&long(161), return_cause::SEGMENTATION_FAILURE);
    assert_eq!(net.indications, [vec![UserProcessOutput::Notice(1, notice)], vec![]]);
    assert_eq!(net.asps[0].drops().of(DropReason::TooLong), 1);
}

#[test]
fn a_gap_gives_the_first_segment_back() {
    let mut net = small();
    net.asps[0].unitdata(1, &long(35));
    lose(&mut net, 1);
    let Some(UserProcessOutput::Notice(1, notice)) = net.indications[0].first() else { panic!("N-NOTICE") };
    assert_eq!(notice.cause.value, ERROR_IN_MESSAGE_TRANSPORT);
    assert_eq!(notice.segmentation.map(|part| (part.first, part.remaining)), Some((true, 3)));
    assert_eq!(notice.data, Some(long(10).data));
    assert_eq!((net.indications[0].len(), net.indications[1].len()), (1, 0));
    // The message, and the last segment, which then belongs to none.
    assert_eq!(net.asps[1].drops().of(DropReason::SegmentLost), 2);
    assert_eq!(net.asps[1].segment_octets(), 0);
}

#[test]
fn a_message_whose_end_does_not_come_in_time_goes_back_only_if_asked() {
    for return_on_error in [true, false] {
        let mut net = small();
        net.asps[0].unitdata(1, &Unitdata { return_on_error, ..long(35) });
        lose(&mut net, 3);
        assert_eq!(net.asps[1].segment_octets(), 30);
        net.wait(Duration::from_secs(10));
        assert_eq!(net.asps[1].segment_octets(), 0);
        assert_eq!(net.indications[0].len(), usize::from(return_on_error));
        assert_eq!(net.asps[1].drops().of(DropReason::SegmentLost), 1);
    }
}

#[test]
fn of_what_has_no_room_the_first_segment_comes_back() {
    let narrow = ReassemblyLimits { messages: 8, octets: 25 };
    let mut net = Net::connected_with(&[config(10, narrow), config(10, narrow)]);
    net.asps[0].unitdata(1, &long(35));
    net.run();
    let Some(UserProcessOutput::Notice(1, notice)) = net.indications[0].first() else { panic!("N-NOTICE") };
    assert_eq!((notice.cause.value, &notice.data), (10, &Some(long(10).data)));
    assert_eq!(net.indications[1], []);
}

#[test]
fn more_segments_than_there_may_be_are_an_invalid_value_at_both_ends() {
    let part = Segmentation { first: true, remaining: 16, reference: 1 };
    for (to_asp, at, context) in [(true, 1, 2), (false, 0, 1)] {
        let mut net = Net::connected();
        let octets =
            Message::Own(Unitdata { segmentation: Some(part), ..long(5) }.to_message(context)).to_bytes();
        net.deliver(
            at,
            to_asp,
            TransportInput::Message { stream: StreamNumber(1), payload_protocol: 4, octets },
        );
        net.drain();
        let (_, answer) = net.wire.pop_front().unwrap();
        let Ok(Message::Asp(AspMessage::Err { code, .. })) = Message::receive(&answer.octets) else {
            panic!("ERR");
        };
        assert_eq!(code, ErrorCode::INVALID_PARAMETER_VALUE);
    }
}

#[test]
fn the_segments_of_a_message_go_to_one_asp_of_a_loadshare() {
    let mut gateway = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
    let traffic_mode = Some(TrafficMode::Loadshare);
    gateway.add_server(
        1,
        RoutingKey::default(),
        asp::ServerConfig { traffic_mode, ..asp::ServerConfig::default() },
    );
    let asps = [0, 1].map(|at| {
        let mut asp = UserProcess::new(association(at), UserProcessConfig::default()).unwrap();
        asp.add_server(1, traffic_mode);
        asp.start(super::Instant::START);
        asp
    });
    let mut net = net_of(gateway, asps);
    for indications in &mut net.indications {
        indications.clear();
    }
    let whole = [long(95), Unitdata { source: subsystem(7), ..long(95) }, long(85)];
    let mut messages = Vec::new();
    for (reference, message) in (0..).zip(&whole) {
        messages.push(VecDeque::from(message.segments(10, reference).unwrap()));
    }
    // Taken in turn, so that the three are under way together.
    while messages.iter().any(|left| !left.is_empty()) {
        for segment in messages.iter_mut().filter_map(VecDeque::pop_front) {
            net.gateway.handle_network(Unitdata { in_sequence: false, ..segment }.to_message(0));
        }
    }
    net.run();
    let got = net.indications.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(got.iter().sum::<usize>(), 3, "{:?}", net.indications);
    assert!(!got.contains(&0), "they are shared: {got:?}");
    // A segment whose first nobody saw has no place, and later segments never come back.
    let mut late = long(95).segments(10, 77).unwrap().pop().unwrap();
    late.return_on_error = true;
    net.gateway.handle_network(late.to_message(0));
    assert_eq!(net.gateway.drops().of(DropReason::SegmentLost), 1);
    net.run();
    assert_eq!(net.network, []);
}

#[derive(Clone, Debug)]
enum Step {
    /// The next message of one of the streams, delivered or lost.
    Next(usize, bool),
    Send(usize, usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<usize>(), prop::bool::weighted(0.02)).prop_map(|(choice, lost)| Step::Next(choice, lost)),
        1 => (0_usize..2, 0_usize..200).prop_map(|(at, len)| Step::Send(at, len)),
    ]
}

proptest! {
    #[test]
    fn every_message_arrives_whole_or_not_at_all_and_memory_is_bounded(
        steps in proptest::collection::vec(any_step(), 0..400),
        octets in 20_usize..60,
    ) {
        const LIMITS: ReassemblyLimits = ReassemblyLimits { messages: 6, octets: 300 };
        let mut net = Net::connected_with(&[config(octets, LIMITS), config(octets / 2, LIMITS)]);
        let mut streams: BTreeMap<(bool, AssociationNumber, StreamNumber), VecDeque<Transmit>> = BTreeMap::new();
        let mut sent: [Vec<Unitdata>; 2] = Default::default();
        let (mut was_lost, mut tick) = (false, 0_u32);
        let end = std::iter::repeat_n(Step::Next(0, false), 10_000);
        for step in steps.into_iter().chain(end) {
            match step {
                Step::Send(at, len) => {
                    tick += 1;
                    let data: Bytes = tick.to_be_bytes().into_iter().cycle().take(len).collect();
                    let message = Unitdata {
                        return_on_error: true,
                        sequence_control: tick,
                        ..Unitdata::new(subsystem(at), subsystem(1 - at), data)
                    };
                    if net.asps[at].unitdata(super::context(at), &message) {
                        sent[at].push(message);
                    }
                }
                Step::Next(choice, lost) => {
                    let busy = streams.values().filter(|queue| !queue.is_empty()).count();
                    let Some(choice) = choice.checked_rem(busy) else { continue };
                    let mut chosen = streams.iter_mut().filter(|(_, queue)| !queue.is_empty());
                    let ((to_asp, association, _), queue) = chosen.nth(choice).unwrap();
                    let Transmit { stream, payload_protocol, octets, .. } = queue.pop_front().unwrap();
                    let (to_asp, at) = (*to_asp, usize::try_from(association.0).unwrap());
                    was_lost |= lost;
                    if !lost {
                        net.deliver(at, to_asp, TransportInput::Message { stream, payload_protocol, octets });
                    }
                }
            }
            net.drain();
            for (to_asp, transmit) in net.wire.drain(..) {
                let key = (to_asp, transmit.association, transmit.stream);
                streams.entry(key).or_default().push_back(transmit);
            }
            prop_assert!(net.asps.iter().all(|asp| asp.segment_octets() <= LIMITS.octets));
        }
        net.wait(Duration::from_secs(20));
        for at in 0..2 {
            prop_assert_eq!(net.asps[at].segment_octets(), 0);
            let mut left = sent[1 - at].clone();
            for indication in &net.indications[at] {
                let UserProcessOutput::Unitdata(_, got) = indication else { continue };
                let known = left.iter().position(|sent| {
                    sent.data == got.data && sent.sequence_control == got.sequence_control && got.segmentation.is_none()
                });
                left.swap_remove(known.expect("what arrives was sent, and arrives once"));
            }
            if !was_lost {
                // What had no room has come back.
                let returned = net.indications[1 - at]
                    .iter()
                    .filter(|one| matches!(one, UserProcessOutput::Notice(_, notice) if notice.cause.value == 10));
                prop_assert_eq!(returned.count(), left.len());
            }
        }
    }
}
