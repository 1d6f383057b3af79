//! Configuration of a direction of a link.

use slantpath_base::{DataRate, Duration, Probability, Seed};

use crate::conditioner::ConditioningRule;
use crate::link::bursts::GilbertElliott;
use crate::link::channel::{Channel, ChannelConfig};
use crate::link::counters::DropReason;
use crate::link::lane::Lane;
use crate::link::outage::WhileDown;
use crate::link::propagation::Delay;
use crate::link::queue::QueueConfig;
use crate::link::reordering::Reordering;
use crate::link::sending::SendingConfig;

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionConfig {
    /// Rules by which packets are conditioned before they queue: each packet falls under the first that holds for it.
    pub conditioner: Vec<ConditioningRule>,
    /// Rate at which the transmitter sends; not zero.
    pub rate: DataRate,
    /// Way in which it sends: one of those that exclude each other.
    pub sending: SendingConfig,
    /// Bytes that the link puts around each packet. They take time to send and count nowhere else: queues, counters
    /// and the MTU know packets from the IP header on.
    pub overhead_bytes: u32,
    /// Propagation: from the last bit's leaving to its arrival.
    pub delay: Delay,
    /// Queue in which packets wait for the transmitter.
    pub queue: QueueConfig,
    /// The longest packet that is carried, in bytes from the IP header on. Longer ones are fragmented if they may be,
    /// and dropped otherwise.
    pub mtu_bytes: u32,
    /// True if ICMP tells the sender of a packet that is too long. Where something filters it, the path is a black hole
    /// for such packets.
    pub is_mtu_reported: bool,
    /// The chance of each packet to vanish.
    pub loss: Probability,
    /// The chance of each bit to be flipped.
    pub bit_errors: Probability,
    /// Loss and bit errors in bursts, beside those.
    pub bursts: Option<GilbertElliott>,
    /// The chance of each packet that arrives to arrive twice.
    pub duplication: Probability,
    /// Extra delay of some packets, by which others may overtake them.
    pub reordering: Reordering,
    /// Treatment of packets while the direction is down.
    pub while_down: WhileDown,
}

impl DirectionConfig {
    /// A clean channel: nothing is lost, damaged, doubled or reordered; an MTU of 1,500 bytes as on Ethernet;
    /// what waits when the direction goes down is dropped.
    pub const fn new(rate: DataRate, delay: Duration, queue: QueueConfig) -> Self {
        Self {
            conditioner: Vec::new(),
            rate,
            sending: SendingConfig::Plain,
            overhead_bytes: 0,
            delay: Delay::Constant(delay),
            queue,
            mtu_bytes: 1_500,
            is_mtu_reported: true,
            loss: Probability::NEVER,
            bit_errors: Probability::NEVER,
            bursts: None,
            duplication: Probability::NEVER,
            reordering: Reordering::NONE,
            while_down: WhileDown::Drop,
        }
    }
}

impl DirectionConfig {
    /// Tells if the time that a packet takes to be sent, or the instant at which it is, is known only then.
    pub const fn is_settled_when_sent(&self) -> bool {
        !matches!(self.sending, SendingConfig::Plain)
    }

    /// The lane of the direction, with random streams that are named by `path`.
    pub(crate) fn lane(&self, seed: Seed, path: &str) -> Lane {
        let channel = ChannelConfig {
            loss: self.loss,
            bit_errors: self.bit_errors,
            bursts: self.bursts,
            duplication: self.duplication,
            reordering: self.reordering,
        };
        let lost_as = match self.sending {
            SendingConfig::Repeated(_) => DropReason::GivenUp,
            _ => DropReason::Loss,
        };
        Lane::new(&self.delay, Channel::new(channel, seed, path), lost_as)
    }

    /// True if packets fare by the flow that they belong to.
    pub(crate) const fn tells_flows_apart(&self) -> bool {
        !self.conditioner.is_empty() || self.queue.tells_flows_apart()
    }
}
