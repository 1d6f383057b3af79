//! Framing of messages in datagrams: RTP (RFC 3550) in front of media, GTP-U (3GPP TS 29.281) in front of the packets
//! of a mobile subscriber.
//!
//! Both are read by whoever looks at a capture: the sequence numbers and timestamps of RTP tell its losses and its
//! jitter, and behind a header of GTP-U stands a whole packet of IPv4 and UDP. What is a function of a message's
//! number and time is computed from them, so that nothing is kept.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_wire::ip::{Fragmentation, IPV4_HEADER_LEN, IpHeader, protocol};
use slantpath_wire::udp::UDP_HEADER_LEN;
use slantpath_wire::{Reader, WireError};

use crate::adaptation::FlowAdaptation;
use crate::message::{Content, append};

/// Length of a header of RTP without contributing sources, in bytes.
pub const RTP_HEADER_LEN: usize = 12;
/// Length of a header of GTP-U without options, in bytes.
pub const GTP_U_HEADER_LEN: usize = 8;
/// Headers of the packet inside a tunnel, in bytes.
const INNER_LEN: usize = IPV4_HEADER_LEN + UDP_HEADER_LEN;

/// Time between two ticks of a clock of 8 kHz, as telephony has it.
const TICK_NS: u64 = 125_000;
/// PCMU, whose clock has 8 kHz (RFC 3551, section 6).
const PCMU: u8 = 0;

/// Header of RTP, with no contributing source, padding or extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtpHeader {
    /// First packet of a talkspurt.
    pub marker: bool,
    /// Payload type, of seven bits.
    pub payload_type: u8,
    /// Sequence number, which begins anew after its greatest value.
    pub sequence: u16,
    /// Instant of the first sample, in ticks of the payload's clock.
    pub timestamp: u32,
    /// Identifier of the synchronization source.
    pub source: u32,
}

impl RtpHeader {
    /// The header as it stands in front of a payload.
    pub fn emit(&self) -> [u8; RTP_HEADER_LEN] {
        let [q0, q1] = self.sequence.to_be_bytes();
        let [t0, t1, t2, t3] = self.timestamp.to_be_bytes();
        let [s0, s1, s2, s3] = self.source.to_be_bytes();
        let second = u8::from(self.marker) << 7 | self.payload_type & 0x7f;
        [0x80, second, q0, q1, t0, t1, t2, t3, s0, s1, s2, s3]
    }

    /// Reads a header, and gives the payload behind it.
    ///
    /// # Errors
    /// If it is cut, of another version, or has more than the fixed fields.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut reader = Reader::new(bytes);
        let [first, second] = reader.array()?;
        if first != 0x80 {
            return Err(WireError::Unsupported { field: "RTP version and flags", value: first.into() });
        }
        let header = Self {
            marker: second & 0x80 != 0,
            payload_type: second & 0x7f,
            sequence: reader.u16()?,
            timestamp: reader.u32()?,
            source: reader.u32()?,
        };
        Ok((header, reader.rest()))
    }
}

/// Header of a G-PDU of GTP-U: one that carries a packet, without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GtpUHeader {
    /// Length of the packet behind it, in bytes.
    pub payload_len: u16,
    /// Tunnel endpoint identifier of the receiver.
    pub tunnel: u32,
}

impl GtpUHeader {
    /// Version 1 of GTP, not GTP', and none of the optional fields.
    const FLAGS: u8 = 0x30;
    const G_PDU: u8 = 255;

    /// The header as it stands in front of a packet.
    pub const fn emit(self) -> [u8; GTP_U_HEADER_LEN] {
        let [l0, l1] = self.payload_len.to_be_bytes();
        let [t0, t1, t2, t3] = self.tunnel.to_be_bytes();
        [Self::FLAGS, Self::G_PDU, l0, l1, t0, t1, t2, t3]
    }

    /// Reads a header, and gives the packet behind it.
    ///
    /// # Errors
    /// If it or its packet is cut, or it is no G-PDU without options.
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut reader = Reader::new(bytes);
        let [flags, kind] = reader.array()?;
        if (flags, kind) != (Self::FLAGS, Self::G_PDU) {
            let value = u64::from(flags) << 8 | u64::from(kind);
            return Err(WireError::Unsupported { field: "GTP-U flags and message type", value });
        }
        let header = Self { payload_len: reader.u16()?, tunnel: reader.u32()? };
        Ok((header, reader.take(header.payload_len.into())?))
    }
}

/// Moment at which a message is framed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// True for the first message after a silence.
    pub(crate) begins_talk: bool,
}

impl FlowAdaptation {
    /// Bytes that stand in front of each message.
    #[inline]
    pub(crate) const fn header_len(self) -> usize {
        match self {
            Self::GtpU { .. } => GTP_U_HEADER_LEN,
            Self::Rtp { .. } => RTP_HEADER_LEN,
            Self::None | Self::Signalling(_) => 0,
        }
    }

    /// The bytes of message `number`, of this length, behind what stands in front of it.
    pub(crate) fn frame(self, content: Content, number: u32, len: usize, moment: Moment) -> Bytes {
        let mut bytes = Vec::with_capacity(self.header_len() + len);
        let len = match self {
            Self::GtpU { tunnel } => {
                let payload_len = u16::try_from(len).expect("a packet is at most 65,535 bytes long");
                bytes.extend_from_slice(&GtpUHeader { payload_len, tunnel }.emit());
                let data_len = len.checked_sub(INNER_LEN).expect("a packet has its headers");
                inner_headers(data_len, tunnel, &mut bytes);
                data_len
            }
            Self::Rtp { source } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "both begin anew after their greatest value"
                )]
                let (sequence, timestamp) =
                    (number as u16, (moment.now.since_start().as_nanos() / TICK_NS) as u32);
                let marker = moment.begins_talk;
                let header = RtpHeader { marker, payload_type: PCMU, sequence, timestamp, source };
                bytes.extend_from_slice(&header.emit());
                len
            }
            Self::None | Self::Signalling(_) => len,
        };
        append(content, number, len, &mut bytes);
        bytes.into()
    }

    /// The length of the message in a frame, and its content behind all headers; `None` if it is framed otherwise.
    #[inline]
    pub(crate) fn unframe(self, frame: &[u8]) -> Option<(usize, &[u8])> {
        match self {
            Self::None | Self::Signalling(_) => Some((frame.len(), frame)),
            Self::GtpU { tunnel } => {
                let (header, packet) = GtpUHeader::parse(frame).ok()?;
                let content = packet.get(INNER_LEN..).filter(|_| header.tunnel == tunnel)?;
                Some((packet.len(), content))
            }
            Self::Rtp { source } => {
                let (header, payload) = RtpHeader::parse(frame).ok()?;
                (header.source == source).then_some((payload.len(), payload))
            }
        }
    }
}

/// Headers of a packet that a server sends to a subscriber, whose address follows from the tunnel. UDP has no checksum.
fn inner_headers(data_len: usize, tunnel: u32, bytes: &mut Vec<u8>) {
    let [_, _, high, low] = tunnel.to_be_bytes();
    let (source, destination) = ([198, 18, 0, 1].into(), [10, 45, high, low].into());
    let payload_len =
        u16::try_from(UDP_HEADER_LEN + data_len).expect("a packet is at most 65,535 bytes long");
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::UDP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len,
        fragmentation: Fragmentation::Forbidden,
    };
    let mut octets = [0; IPV4_HEADER_LEN];
    header.emit(&mut octets);
    bytes.extend_from_slice(&octets);
    let [p0, p1] = INNER_PORT.to_be_bytes();
    let [l0, l1] = payload_len.to_be_bytes();
    bytes.extend_from_slice(&[p0, p1, p0, p1, l0, l1, 0, 0]);
}

/// Port of both ends inside a tunnel: that of the discard protocol.
const INNER_PORT: u16 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::verify;
    use proptest::prelude::*;
    use slantpath_wire::Checksum;
    use slantpath_wire::udp::UdpHeader;

    const MOMENT: Moment = Moment { now: Instant::from_millis(20), begins_talk: true };

    #[test]
    fn media_stands_behind_a_header_of_rtp() {
        let frame = FlowAdaptation::Rtp { source: 7 }.frame(Content::Stamped, 65_538, 20, MOMENT);
        // Version 2, marker and PCMU, the lower half of the number, 160 ticks in 20 ms, the source.
        assert_eq!(frame[..12], [0x80, 0x80, 0, 2, 0, 0, 0, 160, 0, 0, 0, 7]);
        assert_eq!((frame.len(), verify(&frame[12..])), (32, Some(65_538)));
    }

    #[test]
    fn a_tunnel_carries_a_whole_packet() {
        let tunnel = FlowAdaptation::GtpU { tunnel: 258 };
        let frame = tunnel.frame(Content::Stamped, 5, 100, MOMENT);
        assert_eq!(frame[..8], [0x30, 0xff, 0, 100, 0, 0, 1, 2]);
        let (header, len) = IpHeader::parse(&frame[8..]).unwrap();
        assert_eq!((header.destination, header.protocol), ([10, 45, 1, 2].into(), 17));
        let (ports, data) =
            UdpHeader::parse(&frame[8 + len..], header.source, header.destination, Checksum::Complete)
                .unwrap();
        assert_eq!((ports.destination_port, verify(data)), (9, Some(5)));
        assert_eq!(tunnel.unframe(&frame).map(|(len, content)| (len, verify(content))), Some((100, Some(5))));
        assert_eq!(FlowAdaptation::GtpU { tunnel: 1 }.unframe(&frame), None, "another tunnel");
    }

    proptest! {
        #[test]
        fn headers_round_trip(
            marker: bool,
            payload_type in 0_u8..128,
            sequence: u16,
            timestamp: u32,
            source: u32,
            packet: Vec<u8>,
        ) {
            let rtp = RtpHeader { marker, payload_type, sequence, timestamp, source };
            let bytes = [&rtp.emit()[..], &packet].concat();
            prop_assert_eq!(RtpHeader::parse(&bytes), Ok((rtp, &packet[..])));
            let payload_len = u16::try_from(packet.len()).unwrap();
            let gtp_u = GtpUHeader { payload_len, tunnel: source };
            let bytes = [&gtp_u.emit()[..], &packet].concat();
            prop_assert_eq!(GtpUHeader::parse(&bytes), Ok((gtp_u, &packet[..])));
        }

        #[test]
        fn any_bytes_give_a_frame_or_nothing(bytes: Vec<u8>, tunnel: u32) {
            for framing in [FlowAdaptation::GtpU { tunnel }, FlowAdaptation::Rtp { source: tunnel }] {
                let _ = framing.unframe(&bytes);
            }
        }
    }
}
