//! The states of RFC 9293, section 3.3.2, in its order. LISTEN is a property of the endpoint.

use slantpath_base::Instant;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived {
        /// Side that started the connection.
        opening: Opening,
    },
    /// Data flows both ways.
    Established,
    /// This side has closed; its FIN is not acknowledged yet.
    FinWait1,
    /// FIN of this side is acknowledged; the peer has not closed.
    FinWait2,
    /// The peer has closed; this side has not.
    CloseWait,
    /// Both have closed at once; this side's FIN is not acknowledged yet.
    Closing,
    /// The peer closed first, then this side; its FIN is not acknowledged yet.
    LastAck,
    /// Both are done; old segments may still arrive.
    TimeWait {
        /// Instant from which on they no longer may.
        until: Instant,
    },
    /// There is no connection.
    Closed,
}

/// Origin of a connection in SYN-RECEIVED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// This side called too: a simultaneous open.
    Active,
    /// A listener accepted it.
    Passive,
}

impl ConnectionState {
    /// Tells if the handshake is still under way.
    pub const fn is_opening(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived { .. })
    }

    /// Tells if both sides know each other's sequence numbers.
    pub const fn is_synchronised(self) -> bool {
        !matches!(self, Self::SynSent | Self::Closed)
    }

    /// Tells if the application may still write.
    pub const fn may_send(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived { .. } | Self::Established | Self::CloseWait)
    }

    /// Tells if data or a FIN may be on its way to the peer.
    pub(crate) const fn transmits(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::CloseWait | Self::Closing | Self::LastAck)
    }

    /// Tells if data from the peer is still taken.
    pub(crate) const fn receives(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
}
