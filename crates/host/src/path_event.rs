//! Kinds of events of a path: the steps of a failover.

use slantpath_base::Duration;

/// Kind of event of a path (SCTP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEventKind {
    /// The path has proved to work.
    Active,
    /// The path has failed.
    Inactive,
    /// A message went out here for the first time, and the one before it somewhere else.
    NewData {
        /// The number of the message.
        message: u32,
    },
    /// The path may have failed (RFC 7829).
    PotentiallyFailed,
    /// The path has become the primary path.
    Primary,
    /// A message, or a fragment of it, was retransmitted here.
    Retransmitted {
        /// The number of the message.
        message: u32,
    },
    /// T3-rtx has expired.
    T3RtxExpired {
        /// The RTO before it is backed off.
        rto: Duration,
        /// Bytes of DATA that were in flight here.
        outstanding_bytes: u64,
    },
    /// T3-rtx ran and has been started anew.
    T3RtxRestarted {
        /// With this RTO.
        rto: Duration,
    },
    /// T3-rtx did not run and has been started.
    T3RtxStarted {
        /// With this RTO.
        rto: Duration,
    },
    /// Everything sent here has been acknowledged.
    T3RtxStopped,
}

impl PathEventKind {
    /// Name of the event, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
            Self::NewData { .. } => "new data",
            Self::PotentiallyFailed => "potentially failed",
            Self::Primary => "primary",
            Self::Retransmitted { .. } => "retransmitted",
            Self::T3RtxExpired { .. } => "T3-rtx expired",
            Self::T3RtxRestarted { .. } => "T3-rtx restarted",
            Self::T3RtxStarted { .. } => "T3-rtx started",
            Self::T3RtxStopped => "T3-rtx stopped",
        }
    }

    /// The RTO, where a timer is spoken of.
    pub const fn rto(self) -> Option<Duration> {
        match self {
            Self::T3RtxExpired { rto, .. } | Self::T3RtxRestarted { rto } | Self::T3RtxStarted { rto } => {
                Some(rto)
            }
            Self::Active
            | Self::Inactive
            | Self::NewData { .. }
            | Self::PotentiallyFailed
            | Self::Primary
            | Self::Retransmitted { .. }
            | Self::T3RtxStopped => None,
        }
    }

    /// The number of the message, where one is spoken of.
    pub const fn message(self) -> Option<u32> {
        match self {
            Self::NewData { message } | Self::Retransmitted { message } => Some(message),
            Self::Active
            | Self::Inactive
            | Self::PotentiallyFailed
            | Self::Primary
            | Self::T3RtxExpired { .. }
            | Self::T3RtxRestarted { .. }
            | Self::T3RtxStarted { .. }
            | Self::T3RtxStopped => None,
        }
    }

    /// The bytes given up, where a timer has expired.
    pub const fn outstanding_bytes(self) -> Option<u64> {
        if let Self::T3RtxExpired { outstanding_bytes, .. } = self { Some(outstanding_bytes) } else { None }
    }
}
