//! ECNE and CWR of RFC 4960, appendix A. RFC 9260 has taken ECN out and only reserves them.

use slantpath_wire::{Reader, WireError};

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::types::Tsn;

/// An ECNE chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecne {
    /// The lowest TSN of the packet that was marked.
    pub lowest_tsn: Tsn,
}

/// A CWR chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cwr {
    /// The TSN of the ECNE that it answers.
    pub lowest_tsn: Tsn,
}

impl Ecne {
    /// Length of the chunk in a packet, in bytes.
    pub(crate) const WIRE_LEN: usize = 8;

    /// Appends the chunk with its header.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::ECNE, self.lowest_tsn);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { lowest_tsn: Tsn(Reader::new(value.as_slice()).u32()?) })
    }
}

impl Cwr {
    /// Appends the chunk with its header.
    pub fn write(&self, out: &mut Vec<u8>) {
        write(out, kind::CWR, self.lowest_tsn);
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { lowest_tsn: Tsn(Reader::new(value.as_slice()).u32()?) })
    }
}

fn write(out: &mut Vec<u8>, kind: u8, tsn: Tsn) {
    framing::write(out, kind, 0, |out| out.extend_from_slice(&tsn.0.to_be_bytes()));
}
