//! Choices that RFC 9260 leaves open or papers vary, one small enum each, with its source.

mod after_timeout;
mod failover;
mod multipath;
mod new_data;
mod path_mtu;

pub use after_timeout::RetransmissionAfterTimeout;
pub use failover::{FailoverThresholds, PotentiallyFailed, PrimarySwitchover, SwitchoverTooEarly};
pub use multipath::Multipath;
pub use new_data::NewDataAfterTimeout;
pub use path_mtu::PathMtuDiscovery;

/// From which SACKs a round-trip time is taken. Karn's rule holds in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttSampling {
    /// Any that acknowledges the timed DATA (RFC 9260, section 6.3.1).
    #[default]
    AnySack,
    /// Only one without Gap Ack Blocks that comes from the address that the DATA was sent to (Jungmaier et
    /// al., section 4.4.2): a SACK that answers on another path has measured neither.
    GapFreeSackOnDataPath,
    /// Only one that comes from the address that the DATA was sent to.
    SackOnDataPath,
}

/// Rule that chooses the next stream to be served (RFC 8260, section 3): message by message, or chunk by chunk where
/// messages are interleaved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamScheduling {
    /// In the order in which the messages were handed over.
    #[default]
    FirstComeFirstServed,
    /// Each stream in turn.
    RoundRobin,
    /// Each stream in turn, and a packet holds chunks of one stream only.
    RoundRobinPerPacket,
    /// The streams with the highest priority, which is the lowest [stream
    /// value](crate::SctpConfig::stream_values), in turn. A stream without one has the highest.
    Priority,
    /// Each stream that has something to send gets the same share of the capacity.
    FairCapacity,
    /// Each gets a share in proportion to its weight, which is its [stream value](crate::SctpConfig::stream_values). A
    /// stream without one, or of weight 0, has the weight 1.
    WeightedFairQueueing,
}

impl StreamScheduling {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::FirstComeFirstServed,
        Self::RoundRobin,
        Self::RoundRobinPerPacket,
        Self::Priority,
        Self::FairCapacity,
        Self::WeightedFairQueueing,
    ];

    /// Name of the rule in scenarios, commands and Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstComeFirstServed => "first-come-first-served",
            Self::RoundRobin => "round-robin",
            Self::RoundRobinPerPacket => "round-robin-per-packet",
            Self::Priority => "priority",
            Self::FairCapacity => "fair-capacity",
            Self::WeightedFairQueueing => "weighted-fair-queueing",
        }
    }

    /// Tells if the rule reads [stream values](crate::SctpConfig::stream_values).
    pub const fn reads_values(self) -> bool {
        matches!(self, Self::Priority | Self::WeightedFairQueueing)
    }
}
