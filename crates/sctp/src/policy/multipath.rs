//! Use of several paths at once for new DATA, and the coupling of their windows.

/// Paths that carry new DATA, and the pooling of their windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Multipath {
    /// The primary path, or another one if that is not active (RFC 9260, section 6.4).
    #[default]
    Off,
    /// All active ones (CMT-SCTP: Iyengar, Amer, Stewart 2006), each with a window of its own: over a shared
    /// bottleneck they take as much as so many associations.
    Concurrent,
    /// All active ones, whose windows are pooled by their ssthresh: together they open and close as one (CMT/RPv1:
    /// Dreibholz, Becke, Pulinthanath, Rathgeb 2010).
    PooledV1,
    /// All active paths, whose windows are pooled by their rates, cwnd over round-trip time (CMT/RPv2: Dreibholz,
    /// Becke, Adhari, Rathgeb 2011), which suits paths of different delay.
    PooledV2,
}

impl Multipath {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Off, Self::Concurrent, Self::PooledV1, Self::PooledV2];

    /// Name of the choice in scenarios and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Concurrent => "concurrent",
            Self::PooledV1 => "pooled-v1",
            Self::PooledV2 => "pooled-v2",
        }
    }

    /// Tells if several paths carry new DATA at once.
    pub const fn is_on(self) -> bool {
        !matches!(self, Self::Off)
    }

    /// Tells if the windows of the paths are pooled.
    pub const fn is_pooled(self) -> bool {
        matches!(self, Self::PooledV1 | Self::PooledV2)
    }
}
