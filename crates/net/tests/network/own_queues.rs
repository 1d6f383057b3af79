//! Queues of a program's own: what they learn of a packet, and what the link holds them to.

use slantpath_base::{Declaration, Duration, Instant, Seed};
use slantpath_net::{
    Change, DirectionConfig, DropReason, OwnQueue, OwnQueueConfig, QueueConfig, QueueControl, QueueLimit,
    QueueState, QueuedPacket, WhileDown,
};
use slantpath_wire::Packet;

use crate::fixture::{Pair, address, byte_a_millisecond, millis, packet, packet_of_class, tag};

const ECT: u8 = 2;
const CE: u8 = 3;

/// Deviation of a test's queue from first in, first out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whim {
    /// Nothing is handed out if a change has it empty itself.
    Forgets,
    /// Nothing that has waited is sent.
    Hoards,
    /// Packets are marked as they come, if the argument is true, or else as they leave.
    Marks(bool),
    /// A packet of a flow is refused after the first.
    OneOfAFlow,
    /// A packet is sent twice.
    Repeats,
}

#[derive(Clone, Debug)]
struct Whimsical {
    whim: Whim,
    waiting: Vec<QueuedPacket>,
    flows: Vec<u64>,
}

impl QueueControl for Whimsical {
    fn admit(&mut self, now: Instant, packet: &mut QueuedPacket, _: QueueState) -> bool {
        assert_eq!(packet.came(), now);
        if self.whim == Whim::Marks(true) {
            packet.mark();
        }
        self.whim != Whim::OneOfAFlow || !self.flows.contains(&packet.flow())
    }

    fn push(&mut self, _: Instant, packet: QueuedPacket) {
        self.flows.push(packet.flow());
        self.waiting.push(packet);
    }

    fn pop(&mut self, now: Instant, _: &mut Vec<QueuedPacket>) -> Option<QueuedPacket> {
        let first = self.waiting.first_mut()?;
        match self.whim {
            Whim::Hoards if first.came() < now => return None,
            Whim::Marks(false) => assert_eq!(first.mark(), first.dscp().number() == 0),
            Whim::Repeats => return Some(first.clone()),
            _ => {}
        }
        Some(self.waiting.remove(0))
    }

    fn take(&mut self) -> Vec<QueuedPacket> {
        if self.whim == Whim::Forgets { Vec::new() } else { std::mem::take(&mut self.waiting) }
    }

    fn copied(&self) -> Box<dyn QueueControl> {
        Box::new(self.clone())
    }
}

/// A link on which a byte takes a millisecond, with such a queue, over which host 1 sends packets at once.
fn link(whim: Whim, sent: impl IntoIterator<Item = Packet>) -> Pair {
    let declaration = Declaration::new("whimsical", "First in, first out, with a whim.");
    let make = move |_: &_, _| Whimsical { whim, waiting: Vec::new(), flows: Vec::new() };
    let chosen = OwnQueue::new(declaration, make).chosen(&[]).expect("it has no parameters");
    let queue = QueueConfig::Own(OwnQueueConfig { limit: QueueLimit::Unlimited, chosen });
    let config = DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue);
    let config = DirectionConfig { while_down: WhileDown::Drop, ..config };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        builder.change(millis(150), link.forward(), Change::Rate(byte_a_millisecond()));
        builder.change(millis(160), link.forward(), Change::Down);
    });
    let interface = pair.link.first();
    for packet in sent {
        pair.network.command(pair.first, |host, _| host.send(millis(0), interface, packet));
    }
    pair
}

fn alike(count: u8) -> impl Iterator<Item = Packet> {
    (0..count).map(|tag| packet(address(1), address(2), 100, tag))
}

#[test]
fn a_mark_is_made_and_counted_as_a_packet_comes_or_leaves() {
    for at_admission in [true, false] {
        // The third is of a class, and of a transport that knows no marks.
        let classes = [ECT, CE, 0xb8];
        let sent = (0..).zip(classes).map(|(tag, class)| packet_of_class(class, 40, tag));
        let mut pair = link(Whim::Marks(at_admission), sent);
        pair.network.run_until(millis(145));
        let received = pair.network.host(pair.second).received.iter();
        let classes: Vec<u8> = received.map(|(_, _, packet)| packet.contiguous()[1]).collect();
        assert_eq!(classes, [CE, CE, 0xb8]);
        let counters = pair.network.counters(pair.link.forward());
        assert_eq!(
            (counters.marked.packets, counters.marked.bytes),
            (1, 40),
            "the second came with its mark"
        );
    }
}

#[test]
fn a_packet_is_told_by_its_flow_before_it_is_admitted() {
    // The tag is the upper half of the source port.
    let of = |source: u8, tag| packet(address(source), address(2), 40, tag);
    let mut pair = link(Whim::OneOfAFlow, [of(1, 0), of(1, 0), of(1, 2), of(3, 0), of(3, 0), of(1, 2)]);
    pair.network.run_until(millis(145));
    let received = pair.network.host(pair.second).received.iter();
    assert_eq!(received.map(|(_, _, packet)| tag(packet)).collect::<Vec<_>>(), [0, 2, 0]);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!(counters.dropped(DropReason::Early).packets, 3);
}

#[test]
#[should_panic(expected = "the queue `whimsical` sends nothing, and packets wait in it")]
fn a_queue_that_keeps_packets_back_ends_the_run() {
    link(Whim::Hoards, alike(2)).network.run_until(millis(145));
}

#[test]
#[should_panic(expected = "the queue `whimsical` hands a packet out that it does not have")]
fn a_queue_that_sends_a_packet_twice_ends_the_run() {
    let mut pair = link(Whim::Repeats, alike(1));
    pair.network.run_until(millis(50));
    let interface = pair.link.first();
    pair.network.command(pair.first, |host, _| {
        host.send(millis(50), interface, packet(address(1), address(2), 50, 1));
    });
    pair.network.run_until(millis(145));
}

#[test]
#[should_panic(expected = "the queue `whimsical` does not hand out all that waits in it")]
fn a_queue_that_loses_packets_ends_the_run() {
    link(Whim::Forgets, alike(3)).network.run_until(millis(200));
}
