//! Reports of doors: what passed them, and why a run says nothing any more.

use slantpath_base::{Duration, Instant};

use crate::lateness::DepartureSummary;

/// Counts of what passed a door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoorCounters {
    /// IP packets, or frames, that came from the attached interface.
    pub packets_in: u64,
    /// Bytes of them, of frames those that they carry.
    pub bytes_in: u64,
    /// IP packets, or frames, that went to it.
    pub packets_out: u64,
    /// Bytes of them, of frames those that they carry.
    pub bytes_out: u64,
    /// Packets that came when the network had gone on.
    pub overtaken: u64,
    /// Frames to all machines of a link.
    pub multicast: u64,
    /// Frames that are neither IP nor questions for neighbours, or whose packet is broken.
    pub unreadable: u64,
    /// Packets for which the interface had no room, or that it dropped.
    pub refused: u64,
    /// Packets to a station behind a port that has not shown its MAC address.
    pub unresolved: u64,
    /// Frames that the kernel dropped before they were read.
    pub lost: u64,
}

/// Why a run says nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// A packet left too late.
    #[error("a packet left {late} later than at {at}")]
    Late {
        /// Instant at which it should have left.
        at: Instant,
        /// By how much it was late.
        late: Duration,
    },
    /// Stop of this process, or others had the processor.
    #[error("this process did not run for {time} from {at} on: it was stopped, or the machine was busy")]
    Stopped {
        /// Instant at which it was to go on.
        at: Instant,
        /// By how much later it did.
        time: Duration,
    },
    /// The machine was suspended.
    #[error("the machine was suspended for {time} before {at}")]
    Suspended {
        /// Instant at which it was found out, by a clock that suspension stops.
        at: Instant,
        /// Length of the suspension.
        time: Duration,
    },
    /// Frames were dropped before they were read.
    #[error("{frames} frames were dropped before they were read, up to {at}")]
    Lost {
        /// Instant at which it was found out.
        at: Instant,
        /// Number of them.
        frames: u64,
    },
    /// Packets were dropped when they left.
    #[error("{packets} packets were dropped when they left, up to {at}: an interface had no room for them")]
    Refused {
        /// Instant at which it was found out.
        at: Instant,
        /// Number of them.
        packets: u64,
    },
}

/// Report of a door.
#[derive(Clone, Copy, Debug)]
pub struct DoorReport {
    /// Counts of what passed it.
    pub counters: DoorCounters,
    /// Lateness of what left by it, if anything did.
    pub lateness: Option<DepartureSummary>,
}
