//! Queues: whether a packet that comes may wait.

use crate::link::config::{QueueConfig, QueueLimit};

/// A queue's discipline with its state. What waits lies with the transmitter; a discipline only decides.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(QueueLimit),
}

impl Queue {
    pub(crate) const fn new(config: QueueConfig) -> Self {
        match config {
            QueueConfig::DropTail(limit) => Self::DropTail(limit),
        }
    }

    /// Whether a packet of `length` bytes may join `waiting_packets` of `waiting_bytes` in all.
    #[inline]
    pub(crate) fn admits(&self, waiting_packets: u64, waiting_bytes: u64, length: u32) -> bool {
        match self {
            Self::DropTail(QueueLimit::Bytes(limit)) => waiting_bytes + u64::from(length) <= limit.as_bytes(),
            Self::DropTail(QueueLimit::Packets(limit)) => waiting_packets < u64::from(*limit),
            Self::DropTail(QueueLimit::Unlimited) => true,
        }
    }
}
