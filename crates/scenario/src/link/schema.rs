//! `[links.<name>]`: a full-duplex link, each direction with its own transmitter, queue and impairments.

use core::fmt;
use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_net::{QueueLimit, WhileDown};
use slantpath_reader::{
    Entries, Fault, Faults, Flat, Json, Limit, Nested, Node, Pair, Place, Section, Setting, Value, choice,
    json, policy, section,
};

use super::channel::Channel;
use super::delay_trace::DelayTrace;
use super::fade_trace::FadeTrace;
use super::port::Port;
use super::shaper::Shaper;
use crate::access::schema::TerminalAccess;
use crate::bounds::{DELAY, PACKET, RATE};

section! {
    /// A link between two nodes. What stands in the table itself holds for both directions; `forward` (from
    /// the first end to the second) and `reverse` replace what they name.
    pub struct Link {
        /// The nodes that it joins, first and second.
        ends: Setting<Pair<String>>;
        /// Internet protocol of the link; taken from the addresses if those are given.
        family: Option<Setting<Family>>;
        /// Addresses of the two ends; assigned if absent.
        addresses: Option<Setting<Pair<IpAddr>>>;
        /// Largest IP packet.
        mtu: Setting<DataSize> = DataSize::from_bytes(1_500), at most PACKET;
        /// Makes the link the cable that the sky's topology has between the sites of its ends: then the topology says
        /// its delay and when it is out of service.
        cable: Option<Setting<bool>>;
        /// Lets ICMP tell the sender of a packet that is longer. With `false` it is filtered: the link swallows such
        /// packets. It does if absent.
        report_mtu: Option<Setting<bool>>;
        /// Parameters of both directions.
        both: Flat<LinkParameters>;
        /// From the first end to the second.
        forward: Nested<LinkParameters>;
        /// From the second end to the first.
        reverse: Nested<LinkParameters>;
    }
}

section! {
    /// One direction of a link.
    pub struct LinkParameters {
        /// Rate of the transmitter.
        rate: Option<Setting<DataRate>>, at most RATE;
        /// Slots of shared carriers on which it sends, in place of `rate`.
        access: Option<Nested<TerminalAccess>>;
        /// Propagation delay. Give it or `delay_trace`.
        delay: Option<Setting<Duration>>, at most DELAY;
        /// A propagation delay that follows a file, in place of `delay`.
        delay_trace: Option<Nested<DelayTrace>>;
        /// Queue before the transmitter, and what is put around it.
        port: Flat<Port>;
        /// Packets wait until a bucket has their tokens. They do not if absent.
        shaper: Option<Nested<Shaper>>;
        /// Errors and repetitions that packets meet on their way.
        channel: Flat<Channel>;
        /// A rate, a loss and a bit error rate that follow a file.
        fade_trace: Option<Nested<FadeTrace>>;
        /// Probability that a packet arrives twice. Never if absent.
        duplicate: Option<Setting<Probability>>;
        /// Probability that a packet is held back by `reorder_delay`. Never if absent.
        reorder: Option<Setting<Probability>>;
        /// Longest time for which a reordered packet is held back; less is as likely. 0 s if absent.
        reorder_delay: Option<Setting<Duration>>, at most DELAY;
        /// Fate of packets that are queued or come while the link is down. `drop` if absent.
        while_down: Option<Setting<WhileDownChoice>>;
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

/// Largest content of a queue, as a file has it: `"100 packets"`, `"64 KiB"` or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSize(pub QueueLimit);

impl QueueSize {
    /// The limit where none is given, twice ns-2's.
    pub const DEFAULT: Self = Self(QueueLimit::Packets(100));

    /// Tells whether nothing fits.
    pub const fn is_zero(self) -> bool {
        match self.0 {
            QueueLimit::Bytes(size) => size.as_bytes() == 0,
            QueueLimit::Packets(count) => count == 0,
            QueueLimit::Unlimited => false,
        }
    }
}

impl fmt::Display for QueueSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            QueueLimit::Bytes(size) => size.fmt(f),
            QueueLimit::Packets(count) => write!(f, "{count} packets"),
            QueueLimit::Unlimited => f.write_str("unlimited"),
        }
    }
}

/// The most that a limit of a queue may be, in either of its units.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct QueueMost {
    /// Of a number of packets.
    pub packets: u32,
    /// Of an amount of data.
    pub size: DataSize,
}

impl fmt::Display for QueueMost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} packets or {}", self.packets, self.size)
    }
}

impl Limit for QueueMost {
    fn number(self) -> Option<Json> {
        None
    }
}

impl Value for QueueSize {
    type Most = QueueMost;

    fn beyond(&self, most: &QueueMost) -> Option<String> {
        let is_beyond = match self.0 {
            QueueLimit::Bytes(size) => size > most.size,
            QueueLimit::Packets(count) => count > most.packets,
            QueueLimit::Unlimited => false,
        };
        is_beyond.then(|| self.to_string())
    }

    fn read(node: &Node) -> Result<Self, Fault> {
        let help = "a queue is written \"100 packets\", \"64 KiB\" or \"unlimited\"";
        let text = String::read(node).map_err(|_| {
            Fault::new(format!("a queue's limit is wanted here, not {}", node.kind())).help(help)
        })?;
        let trimmed = text.trim();
        if trimmed == "unlimited" {
            return Ok(Self(QueueLimit::Unlimited));
        }
        let number = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"));
        let wrong = || Fault::new(format!("`{text}` is no limit of a queue")).help(help);
        let limit = match number {
            Some(number) => number.trim().parse().map(QueueLimit::Packets).map_err(|_| wrong()),
            None => trimmed.parse().map(QueueLimit::Bytes).map_err(|_| wrong()),
        };
        limit.map(Self)
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }

    fn schema() -> Json {
        let pattern =
            "^\\s*[0-9][0-9_]*(\\.[0-9_]+)?\\s*(packets?|B|bytes?|[kMG]B|[KMG]iB)\\s*$|^\\s*unlimited\\s*$";
        json!({ "type": "string", "pattern": pattern, "examples": ["100 packets", "64 KiB", "unlimited"] })
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

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_reader::Data;

    fn limit(text: &str) -> Result<QueueLimit, String> {
        let node = Node { place: Place::default(), data: Data::Text(text.to_owned()) };
        QueueSize::read(&node).map(|size| size.0).map_err(|fault| fault.message)
    }

    #[test]
    fn a_queue_is_limited_in_packets_or_in_bytes() {
        assert_eq!(limit("100 packets"), Ok(QueueLimit::Packets(100)));
        assert_eq!(limit("1 packet"), Ok(QueueLimit::Packets(1)));
        assert_eq!(limit("13 kB"), Ok(QueueLimit::Bytes(DataSize::from_bytes(13_000))));
        for wrong in ["100", "-1 packets", "many packets", "1.5 packets", "10 ms", ""] {
            assert_eq!(limit(wrong), Err(format!("`{wrong}` is no limit of a queue")));
        }
    }
}
