//! Packets and frames on their way out by a door.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};
use slantpath_wire::{Checksum, Packet};

/// A packet or a frame that leaves with others.
#[derive(Debug)]
pub(crate) struct Departing {
    pub(crate) at: Instant,
    pub(crate) before: Before,
    /// From the IP header on; empty if a frame carries none.
    pub(crate) packet: Packet,
}

/// Bytes of a frame before an IP packet: of one that carries none, the whole frame.
#[derive(Debug)]
pub(crate) enum Before {
    Ip([u8; ETHERNET_HEADER_LEN]),
    Frame(Bytes),
}

impl Before {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Ip(header) => header,
            Self::Frame(bytes) => bytes,
        }
    }
}

impl Departing {
    /// A frame that leaves as it came.
    pub(crate) fn frame(at: Instant, frame: &Packet) -> Self {
        let bytes = frame.contiguous();
        let end = ethernet::ip_at(&bytes).unwrap_or(bytes.len());
        let packet = Packet::shared(bytes.slice(end..), Checksum::Complete);
        Self { at, before: Before::Frame(bytes.slice(..end)), packet }
    }

    /// Bytes of the packet, or of what a frame carries.
    pub(crate) fn content_len(&self) -> usize {
        match &self.before {
            Before::Frame(frame) if self.packet.is_empty() => ethernet::content_len(frame),
            Before::Ip(_) | Before::Frame(_) => self.packet.len(),
        }
    }
}
