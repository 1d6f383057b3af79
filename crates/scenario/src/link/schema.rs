//! `[links.<name>]`: a full-duplex link, each direction with its own transmitter, queue and impairments.

use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_net::{Delay, WhileDown};
use slantpath_reader::{
    Entries, Faults, Flat, Later, Nested, Pair, Place, Resolved, Section, Setting, Spent, Written, choice,
    policy, section,
};

use super::channel::Channel;
use super::port::Port;
use super::shaper::Shaper;
use super::trace::{DelayTrace, FadeTrace};
use crate::access::schema::TerminalAccess;
use crate::bounds::{DELAY, PACKET, RATE};

section! {
    /// A link between two nodes. What stands in the table itself holds for both directions; `forward` (from
    /// the first end to the second) and `reverse` replace what they name.
    pub struct Link<S> {
        /// The nodes that it joins, first and second.
        ends: Setting<Pair<String>>;
        /// Internet protocol of the link; taken from the addresses if those are given.
        family: Later<S, Setting<Family>>;
        /// Addresses of the two ends; assigned if absent.
        addresses: Later<S, Setting<Pair<IpAddr>>>;
        /// Largest IP packet.
        mtu: Setting<DataSize> = DataSize::from_bytes(1_500), at most PACKET;
        /// Makes the link the cable that the sky's topology has between the sites of its ends: then the topology says
        /// its delay and when it is out of service.
        cable: Option<Setting<bool>>;
        /// Lets ICMP tell the sender of a packet that is longer. With `false` it is filtered: the link swallows such
        /// packets. It does if absent.
        report_mtu: Option<Setting<bool>>;
        /// Parameters of both directions.
        both: Spent<S, Flat<LinkParameters<Written>>>;
        /// From the first end to the second.
        forward: Nested<LinkParameters<S>>;
        /// From the second end to the first.
        reverse: Nested<LinkParameters<S>>;
    }
}

section! {
    /// One direction of a link.
    pub struct LinkParameters<S> {
        /// Rate of the transmitter.
        rate: Option<Setting<DataRate>>, at most RATE;
        /// Slots of shared carriers on which it sends, in place of `rate`.
        access: Option<Nested<TerminalAccess>>;
        /// Propagation delay. Give it or `delay_trace`.
        delay: Option<Setting<Duration>>, at most DELAY;
        /// A propagation delay that follows a file, in place of `delay`.
        delay_trace: Option<Nested<DelayTrace<S>>>;
        /// Queue before the transmitter, and what is put around it.
        port: Flat<Port<S>>;
        /// Packets wait until a bucket has their tokens. They do not if absent.
        shaper: Option<Nested<Shaper>>;
        /// Errors and repetitions that packets meet on their way.
        channel: Flat<Channel<S>>;
        /// A rate, a loss and a bit error rate that follow a file.
        fade_trace: Option<Nested<FadeTrace<S>>>;
        /// Probability that a packet arrives twice. Never if absent.
        duplicate: Later<S, Setting<Probability>>;
        /// Probability that a packet is held back by `reorder_delay`. Never if absent.
        reorder: Later<S, Setting<Probability>>;
        /// Longest time for which a reordered packet is held back; less is as likely. 0 s if absent.
        reorder_delay: Later<S, Setting<Duration>>, at most DELAY;
        /// Fate of packets that are queued or come while the link is down. `drop` if absent.
        while_down: Later<S, Setting<WhileDownChoice>>;
        /// Time that packets take to the far end: `delay`, or that of `delay_trace`.
        propagation: Later<S, Resolved<Delay>>;
    }
}

choice! {
    /// Version of the Internet protocol.
    pub enum Family {
        /// IP version 4.
        Ipv4 = "ipv4",
        /// IP version 6.
        Ipv6 = "ipv6",
    }
}

policy! {
    /// Fate of packets while a link is down.
    pub struct WhileDownChoice of WhileDown {
        /// Waiting packets and new ones are dropped.
        Drop = "drop",
        /// Packets wait, as far as the queue has room, and are sent when the link comes up again.
        Hold = "hold",
    }
}

impl Family {
    /// The family of an address.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Ipv4,
            IpAddr::V6(_) => Self::Ipv6,
        }
    }

    /// The least MTU that its standard allows: RFC 791, section 3.2, and RFC 8200, section 5.
    pub const fn least_mtu(self) -> DataSize {
        match self {
            Self::Ipv4 => DataSize::from_bytes(68),
            Self::Ipv6 => DataSize::from_bytes(1_280),
        }
    }
}

/// A direction of which nothing is said.
///
/// # Panics
/// If a key of it must not be absent.
pub(crate) fn nothing<S: Section>(place: Place) -> S {
    let read = S::read(&Entries::new(), "", place, &mut Faults::default());
    read.expect("every key of a direction may be absent")
}
