//! Layer between a flow's application and its transport.

use crate::layer::FlowLayer;

/// Layer between the application and the transport.
#[derive(Clone, Copy, Debug, Default)]
pub enum FlowAdaptation {
    /// GTP-U (3GPP TS 29.281): messages are packets of a subscriber in a tunnel. Over UDP only.
    GtpU {
        /// Tunnel endpoint identifier of the receiver.
        tunnel: u32,
    },
    /// No adaptation layer.
    #[default]
    None,
    /// RTP (RFC 3550): messages are media, at a clock of 8 kHz. Over UDP only.
    Rtp {
        /// Identifier of the synchronization source.
        source: u32,
    },
    /// A layer of signalling, which speaks for itself. Over SCTP only.
    Signalling(&'static FlowLayer),
}

// Every sender and receiver holds one, and copies it with its settings.
const _: () = assert!(size_of::<FlowAdaptation>() <= 2 * size_of::<usize>());
