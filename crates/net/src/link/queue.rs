//! Queues: whether a packet that comes may wait.

use slantpath_base::Instant;

use crate::link::admission::{CongestionSignal, QueueLimit};
use crate::link::codel::CoDelConfig;
use crate::link::drr::DrrConfig;
use crate::link::fq_codel::FqCoDelConfig;
use crate::link::red::{Red, RedConfig};
use crate::parcel::Parcel;

/// A queue's discipline.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out; packets are dropped when they leave, if all have waited for too long.
    CoDel(CoDelConfig),
    /// First in, first out; a packet that finds no room is dropped.
    DropTail(QueueLimit),
    /// Classes by the DSCP, which share the transmitter in proportion to their quanta.
    Drr(DrrConfig),
    /// Flows share the transmitter alike, each with CoDel.
    FqCoDel(FqCoDelConfig),
    /// Eight classes by the upper three bits of the DSCP, each with such a limit. A packet waits for all those of
    /// higher classes, but interrupts none.
    Priority(QueueLimit),
    /// First in, first out; packets are dropped at random before the queue is full.
    Red(RedConfig),
}

impl QueueConfig {
    /// Tells if packets are dropped for other reasons than want of room.
    pub const fn is_managed(&self) -> bool {
        matches!(self, Self::CoDel(_) | Self::FqCoDel(_) | Self::Red(_))
    }

    /// Tells if packets are marked in place of being dropped.
    pub const fn marks(&self) -> bool {
        match self {
            Self::CoDel(CoDelConfig { signal, .. })
            | Self::FqCoDel(FqCoDelConfig { codel: CoDelConfig { signal, .. }, .. })
            | Self::Red(RedConfig { signal, .. }) => {
                matches!(signal, CongestionSignal::Mark)
            }
            Self::DropTail(_) | Self::Drr(_) | Self::Priority(_) => false,
        }
    }
}

/// The admission of a first-in, first-out queue with its state. What waits lies with the transmitter, which asks.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    DropTail(QueueLimit),
    Red(Box<Red>),
}

impl Queue {
    /// Notes a packet that was admitted before and [forgotten](Self::forget_waiting) since.
    pub(crate) fn readmit(&mut self, start: Instant, parcel: Parcel) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.readmit(start, parcel),
        }
    }

    /// Forgets what waits, since it was withdrawn.
    pub(crate) fn forget_waiting(&mut self) {
        match self {
            Self::DropTail(_) => {}
            Self::Red(red) => red.forget_waiting(),
        }
    }
}
