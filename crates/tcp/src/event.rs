//! Events that a connection tells the layer above.

use std::fmt;

use bytes::Bytes;

/// Events of a connection, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The peer acknowledged the stream up to this offset. Only if [`TcpReports::acked`](crate::TcpReports::acked).
    Acked {
        /// Bytes since the start of the stream.
        up_to_bytes: u64,
    },
    /// A segment has come with data that may still have to wait for what lies before it. Some of it may have come
    /// before. Only if [`TcpReports::arrived`](crate::TcpReports::arrived).
    Arrived {
        /// Offset of its first byte in the peer's stream that has not been in order yet.
        start_bytes: u64,
        /// Offset past its last byte.
        end_bytes: u64,
    },
    /// Both sides have closed and everything was acknowledged. Nothing follows.
    Closed,
    /// The handshake is complete.
    Connected,
    /// The next bytes of the peer's stream.
    Data(Bytes),
    /// The peer will send no more; its whole stream has been delivered.
    PeerClosed,
    /// The connection is gone. Nothing follows.
    Reset(ResetCause),
    /// A segment with data went out. Only if [`TcpReports::transmitted`](crate::TcpReports::transmitted).
    Transmitted {
        /// Offset of its first byte in the stream.
        start_bytes: u64,
        /// Offset past its last byte.
        end_bytes: u64,
        /// 1 for the first transmission.
        transmissions: u32,
    },
    /// Half of the send buffer is free, after more than that was in use.
    Writable,
}

/// Why a connection broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    /// The peer sent a reset.
    ByPeer,
    /// The peer refused the connection.
    Refused,
    /// The peer did not answer, however often a segment was repeated.
    TimedOut,
}

impl fmt::Display for ResetCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByPeer => "the peer has reset the connection",
            Self::Refused => "the peer has refused the connection",
            Self::TimedOut => "the peer does not answer",
        })
    }
}
