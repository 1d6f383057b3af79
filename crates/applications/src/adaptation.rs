//! Layer between a flow's application and its transport.

/// Layer between the application and the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowAdaptation {
    /// GTP-U (3GPP TS 29.281): messages are packets of a subscriber in a tunnel. Over UDP only.
    GtpU {
        /// Tunnel endpoint identifier of the receiver.
        tunnel: u32,
    },
    /// M3UA (RFC 4666): messages are MSUs, their streams are signalling link selections. Over SCTP only.
    M3ua,
    /// No adaptation layer.
    #[default]
    None,
    /// RTP (RFC 3550): messages are media, at a clock of 8 kHz. Over UDP only.
    Rtp {
        /// Identifier of the synchronization source.
        source: u32,
    },
}
