//! A connection of class 3 between two ASPs under any order of what both do and of what arrives.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};

use super::{Net, subsystem};
use crate::sua::{
    ConnectRequest, ConnectionConfig, ConnectionEvent, ConnectionId, ConnectionState, Message, SuaParameter,
    UserProcessConfig, UserProcessOutput, kind,
};

#[derive(Clone, Copy, Debug)]
enum Step {
    AnswerReset(usize),
    Credit(usize, u8),
    /// The next message of one of the streams on which there is something.
    Deliver(usize),
    Expedited(usize),
    Reset(usize),
    Send(usize, usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let at = || 0_usize..2;
    prop_oneof![
        1 => at().prop_map(Step::AnswerReset),
        2 => (at(), 0_u8..12).prop_map(|(at, credit)| Step::Credit(at, credit)),
        12 => any::<usize>().prop_map(Step::Deliver),
        2 => at().prop_map(Step::Expedited),
        1 => at().prop_map(Step::Reset),
        8 => (at(), 0_usize..700).prop_map(|(at, len)| Step::Send(at, len)),
    ]
}

/// Knowledge of an end about the window that it has to keep to, from the octets alone.
#[derive(Clone, Copy, Debug)]
struct Seen {
    agreed: u8,
    credit: u8,
    lower: u8,
    is_resetting: bool,
}

impl Seen {
    const fn new(agreed: u8) -> Self {
        Self { agreed, credit: agreed, lower: 0, is_resetting: false }
    }

    /// A message as it leaves the end. False if it is outside the window.
    fn leaves(&mut self, octets: &[u8]) -> bool {
        let Ok(Message::Own(message)) = Message::receive(octets) else { return true };
        if message.kind == kind::RESRE {
            *self = Self { is_resetting: true, ..Self::new(self.agreed) };
        }
        let sequence = message.own().find_map(|own| match own {
            SuaParameter::SequenceNumber(sequence) => Some(*sequence),
            _ => None,
        });
        let Some(sequence) = sequence.filter(|_| message.kind == kind::CODT) else { return true };
        !self.is_resetting && sequence.sent.wrapping_sub(self.lower) % 128 < self.credit
    }

    /// A message as it reaches the end.
    fn arrives(&mut self, octets: &[u8]) {
        let Ok(Message::Own(message)) = Message::receive(octets) else { return };
        match message.kind {
            kind::RESRE if self.is_resetting => self.is_resetting = false,
            kind::RESRE => *self = Self::new(self.agreed),
            kind::RESCO => self.is_resetting = false,
            kind::CODT | kind::CODA if !self.is_resetting => {
                for own in message.own() {
                    match own {
                        SuaParameter::SequenceNumber(sequence) => self.lower = sequence.received,
                        SuaParameter::ReceiveSequenceNumber(octet) => self.lower = octet >> 1,
                        SuaParameter::Credit(credit) => self.credit = *credit,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// Messages that one user sent or got: numbers in their order.
#[derive(Clone, Debug, Default)]
struct Log {
    sent: Vec<u32>,
    got: Vec<u32>,
    /// Number of messages that had been sent when the connection was last reset: those before may be lost.
    lost_before: usize,
}

struct Pair {
    net: Net,
    ends: [ConnectionId; 2],
    seen: [Seen; 2],
    streams: BTreeMap<(bool, AssociationNumber, StreamNumber), VecDeque<Bytes>>,
    data: [Log; 2],
    expedited: [Log; 2],
    resets: usize,
}

/// A message that says its number and can be checked.
fn numbered(number: u32, len: usize) -> Bytes {
    let pattern = number.to_be_bytes().into_iter().cycle();
    pattern.take(len + 4).collect()
}

fn number_of(data: &[u8]) -> u32 {
    let number = u32::from_be_bytes(*data.first_chunk().unwrap());
    assert_eq!(data, numbered(number, data.len() - 4), "the message is whole");
    number
}

impl Pair {
    fn new(credits: [u8; 2]) -> Self {
        let configs = credits.map(|credit| UserProcessConfig {
            connections: ConnectionConfig { credit, ..ConnectionConfig::default() },
            ..UserProcessConfig::default()
        });
        let mut net = Net::connected_with(&configs);
        let request = ConnectRequest { with_flow_control: true, ..ConnectRequest::new(subsystem(1)) };
        let (near, far) = net.open_as(request);
        let agreed = credits[0].min(credits[1]);
        for indications in &mut net.indications {
            indications.clear();
        }
        Self {
            net,
            ends: [near, far],
            seen: [Seen::new(agreed); 2],
            streams: BTreeMap::new(),
            data: Default::default(),
            expedited: Default::default(),
            resets: 0,
        }
    }

    fn was_reset(&mut self, at: usize) {
        self.resets += 1;
        for log in [&mut self.data[at], &mut self.expedited[at]] {
            log.lost_before = log.sent.len();
        }
    }

    /// Takes what was sent onto its stream, and what was told to the users.
    fn collect(&mut self) {
        self.net.drain();
        for (to_asp, Transmit { association, stream, octets, .. }) in self.net.wire.drain(..) {
            if !to_asp {
                let at = usize::try_from(association.0).unwrap();
                assert!(self.seen[at].leaves(&octets), "{at} sends beyond its window: {:?}", self.seen[at]);
            }
            self.streams.entry((to_asp, association, stream)).or_default().push_back(octets);
        }
        for at in 0..2 {
            for indication in std::mem::take(&mut self.net.indications[at]) {
                match indication {
                    UserProcessOutput::Connection(_, ConnectionEvent::Data(data)) => {
                        self.data[1 - at].got.push(number_of(&data));
                    }
                    UserProcessOutput::Connection(_, ConnectionEvent::ExpeditedData(data)) => {
                        self.expedited[1 - at].got.push(number_of(&data));
                    }
                    UserProcessOutput::Connection(_, ConnectionEvent::Reset(cause)) => {
                        assert_eq!(cause.0, 0, "only users reset");
                        self.was_reset(at);
                    }
                    UserProcessOutput::Connection(_, ConnectionEvent::ResetConfirmed) => self.was_reset(at),
                    UserProcessOutput::Connection(_, ConnectionEvent::Congested(_)) => {}
                    other => panic!("{at} got {other:?}"),
                }
            }
        }
    }

    /// False if there is nothing to deliver.
    fn deliver(&mut self, choice: usize) -> bool {
        let busy = self.streams.values().filter(|queue| !queue.is_empty()).count();
        let Some(choice) = choice.checked_rem(busy) else { return false };
        let chosen = self.streams.iter_mut().filter(|(_, queue)| !queue.is_empty()).nth(choice);
        let ((to_asp, association, stream), queue) = chosen.unwrap();
        let at = usize::try_from(association.0).unwrap();
        let octets = queue.pop_front().unwrap();
        if *to_asp {
            self.seen[at].arrives(&octets);
        }
        let input = TransportInput::Message { stream: *stream, payload_protocol: 4, octets };
        self.net.deliver(at, *to_asp, input);
        self.collect();
        true
    }

    fn send(&mut self, at: usize, len: usize) {
        let number = u32::try_from(self.data[at].sent.len()).unwrap();
        if self.net.asps[at].send_data(self.net.now, self.ends[at], numbered(number, len)) {
            self.data[at].sent.push(number);
        }
    }

    fn step(&mut self, step: Step) {
        let now = self.net.now;
        match step {
            Step::AnswerReset(at) => {
                self.net.asps[at].answer_reset(now, self.ends[at]);
            }
            Step::Credit(at, credit) => {
                self.net.asps[at].set_credit(now, self.ends[at], credit);
            }
            Step::Deliver(choice) => {
                self.deliver(choice);
            }
            Step::Expedited(at) => {
                let number = u32::try_from(self.expedited[at].sent.len()).unwrap();
                if self.net.asps[at].send_expedited(now, self.ends[at], numbered(number, 0)) {
                    self.expedited[at].sent.push(number);
                }
            }
            Step::Reset(at) => {
                if self.net.asps[at].reset(now, self.ends[at]) {
                    self.was_reset(at);
                }
            }
            Step::Send(at, len) => self.send(at, len),
        }
        self.collect();
    }

    /// Answers every reset and delivers everything.
    fn settle(&mut self) {
        for _ in 0..100_000 {
            for at in 0..2 {
                self.net.asps[at].answer_reset(self.net.now, self.ends[at]);
            }
            self.collect();
            if !self.deliver(0) {
                return;
            }
        }
        panic!("the pair does not come to rest");
    }

    fn check(&self) {
        for log in self.data.iter().chain(&self.expedited) {
            assert!(log.got.is_sorted_by(|first, second| first < second), "{log:?}");
            let kept = &log.sent[log.lost_before..];
            assert!(log.got.ends_with(kept), "{log:?}");
            assert!(self.resets > 0 || log.got == log.sent, "{log:?}");
        }
    }
}

proptest! {
    #[test]
    fn order_holds_nothing_is_lost_but_by_a_reset_and_no_window_is_exceeded(
        credits in [1_u8..12, 1_u8..12],
        steps in proptest::collection::vec(any_step(), 0..250),
    ) {
        let mut pair = Pair::new(credits);
        for step in steps {
            pair.step(step);
        }
        pair.settle();
        for at in 0..2 {
            pair.step(Step::Credit(at, 7));
        }
        pair.settle();
        pair.check();
        // Across the end of the numbers and the inactivity test.
        for number in 0..140 {
            pair.send(number % 2, 300);
            pair.settle();
        }
        pair.net.wait(Duration::from_secs(300));
        pair.settle();
        pair.check();
        for at in 0..2 {
            prop_assert_eq!(pair.net.asps[at].state(pair.ends[at]), ConnectionState::Active);
        }
    }
}
