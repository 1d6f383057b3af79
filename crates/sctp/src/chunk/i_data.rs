//! I-DATA (RFC 8260, section 2.1).

use bytes::Bytes;
use slantpath_wire::{Reader, WireError, tlv};

use super::{CHUNK_HEADER_LEN, Data, DataFlags, kind};
use crate::bytes_view::BytesView;
use crate::types::{FragmentSequence, MessageId, Ppid, StreamId, Tsn};

/// An I-DATA chunk: a message or a fragment of one, which says itself where in its message it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IData {
    /// Beginning, ending, unordered, immediate.
    pub flags: DataFlags,
    /// The chunk's number.
    pub tsn: Tsn,
    /// The stream that it belongs to.
    pub stream: StreamId,
    /// Number of the message in its stream, and of the fragment in the message; ordered and unordered messages are
    /// counted apart.
    pub place: FragmentPlace,
    /// Payload Protocol Identifier, for the layer above. Only a first fragment has it; zero in any other.
    pub ppid: Ppid,
    /// User data. Empty only in a chunk that breaks the protocol.
    pub payload: Bytes,
}

/// Position of a fragment in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentPlace {
    /// The Message Identifier.
    pub message_id: MessageId,
    /// The Fragment Sequence Number; zero in a first fragment.
    pub fragment: FragmentSequence,
}

impl IData {
    /// The chunk's length without payload: its header and its fixed fields, in bytes.
    pub const HEADER_LEN: usize = CHUNK_HEADER_LEN + 16;

    /// Appends a chunk without payload and padding that says of itself what `data` does, but for its place.
    ///
    /// # Panics
    /// If the payload is longer than 65,515 bytes.
    pub(crate) fn write_header_of(data: &Data, place: FragmentPlace, out: &mut Vec<u8>) {
        let len = u16::try_from(Self::HEADER_LEN + data.payload.len()).expect("a payload fits into a chunk");
        //= https://www.rfc-editor.org/rfc/rfc8260#section-2.1
        //# If the B bit is set, this field contains the PPID of the user
        //# message.

        //= https://www.rfc-editor.org/rfc/rfc8260#section-2.1
        //# If the B bit is not set, this field contains the FSN.
        let last = if data.flags.is_beginning() { data.ppid.0 } else { place.fragment.0 };
        let mut header = [0; Self::HEADER_LEN];
        header[0] = kind::I_DATA;
        header[1] = data.flags.bits();
        header[2..4].copy_from_slice(&len.to_be_bytes());
        header[4..8].copy_from_slice(&data.tsn.0.to_be_bytes());
        header[8..10].copy_from_slice(&data.stream.0.to_be_bytes());
        header[12..16].copy_from_slice(&place.message_id.0.to_be_bytes());
        header[16..20].copy_from_slice(&last.to_be_bytes());
        out.extend_from_slice(&header);
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If the payload is longer than 65,515 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Self { flags, tsn, stream, place, ppid, payload } = self.clone();
        let data = Data { flags, tsn, stream, sequence: place.message_id.stream_sequence(), ppid, payload };
        Self::write_header_of(&data, place, out);
        out.extend_from_slice(&self.payload);
        out.resize(out.len() + tlv::padding(self.payload.len()), 0);
    }

    pub(super) fn parse(flags: u8, value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let [t0, t1, t2, t3, i0, i1, _, _, m0, m1, m2, m3, f0, f1, f2, f3] = reader.array()?;
        let flags = DataFlags::of_bits(flags);
        let last = u32::from_be_bytes([f0, f1, f2, f3]);
        let (ppid, fragment) = if flags.is_beginning() { (last, 0) } else { (0, last) };
        Ok(Self {
            flags,
            tsn: Tsn(u32::from_be_bytes([t0, t1, t2, t3])),
            stream: StreamId(u16::from_be_bytes([i0, i1])),
            place: FragmentPlace {
                message_id: MessageId(u32::from_be_bytes([m0, m1, m2, m3])),
                fragment: FragmentSequence(fragment),
            },
            ppid: Ppid(ppid),
            payload: value.part(reader.rest()).to_bytes(),
        })
    }
}
