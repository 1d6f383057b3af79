//! Captures in the pcapng format (draft-ietf-opsawg-pcapng), as Wireshark and tshark read them.
//!
//! One section, little-endian; interfaces of raw IP packets, or of frames, with time in nanoseconds since the start of
//! the run; a packet block per packet with its direction and, where there is something to say, a comment. Nothing in
//! the bytes depends on anything but the packets.

use slantpath_base::Instant;

use crate::tlv::padding;
use crate::{Reader, WireError};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

const OPT_COMMENT: u16 = 1;
const SHB_USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;
const EPB_FLAGS: u16 = 2;
/// Time is counted in 10⁻⁹ seconds.
const NANOSECONDS: u8 = 9;

/// Direction in which a packet passed an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received by the interface.
    Inbound,
    /// Sent by the interface.
    Outbound,
}

/// Kind of the packets of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u16)]
pub enum CapturedKind {
    /// Frames, from their header on (LINKTYPE_ETHERNET).
    Ethernet = 1,
    /// IP packets, from their header on (LINKTYPE_RAW).
    #[default]
    Ip = 101,
    /// Messages of SS7, from their service information octet on (LINKTYPE_MTP3).
    Mtp3 = 141,
}

/// An interface of a capture, numbered in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureInterface(u32);

/// Writes a capture into memory.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    interfaces: u32,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// A capture without interfaces.
    pub fn new() -> Self {
        let mut writer = Self { bytes: Vec::new(), interfaces: 0 };
        writer.block(SECTION_HEADER, |out| {
            out.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
            // Version 1.0, then a section length that is not given.
            out.extend_from_slice(&[1, 0, 0, 0]);
            out.extend_from_slice(&u64::MAX.to_le_bytes());
            option(out, SHB_USER_APPLICATION, b"slantpath");
            option(out, 0, &[]);
        });
        writer
    }

    /// Declares an interface of IP packets. Its name is what readers show.
    pub fn interface(&mut self, name: &str) -> CaptureInterface {
        self.interface_of(CapturedKind::Ip, name)
    }

    /// Variant of [`interface`](Self::interface) for packets of another kind.
    pub fn interface_of(&mut self, link_type: CapturedKind, name: &str) -> CaptureInterface {
        self.block(INTERFACE_DESCRIPTION, |out| {
            out.extend_from_slice(&(link_type as u16).to_le_bytes());
            // Two reserved bytes, and a snapshot length of zero: packets are whole.
            out.extend_from_slice(&[0; 6]);
            option(out, IF_NAME, name.as_bytes());
            option(out, IF_TIME_RESOLUTION, &[NANOSECONDS]);
            option(out, 0, &[]);
        });
        self.interfaces += 1;
        CaptureInterface(self.interfaces - 1)
    }

    /// Adds a packet, from its IP header on, or a frame.
    ///
    /// # Panics
    /// If the packet is longer than 4 GiB.
    pub fn packet(
        &mut self,
        interface: CaptureInterface,
        time: Instant,
        packet: &[u8],
        direction: Direction,
        comment: Option<&str>,
    ) {
        let length = u32::try_from(packet.len()).expect("a packet is shorter than 4 GiB");
        self.block(ENHANCED_PACKET, |out| {
            out.extend_from_slice(&interface.0.to_le_bytes());
            let nanos = time.as_nanos().to_le_bytes();
            // The upper half goes first.
            out.extend_from_slice(&nanos[4..]);
            out.extend_from_slice(&nanos[..4]);
            // As captured, and as it was.
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(packet);
            out.resize(out.len() + padding(packet.len()), 0);
            let flags: u32 = match direction {
                Direction::Inbound => 1,
                Direction::Outbound => 2,
            };
            option(out, EPB_FLAGS, &flags.to_le_bytes());
            if let Some(comment) = comment {
                option(out, OPT_COMMENT, comment.as_bytes());
            }
            option(out, 0, &[]);
        });
    }

    fn block(&mut self, kind: u32, write_body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&[0; 4]);
        write_body(&mut self.bytes);
        let length = self.bytes.len() + 4 - start;
        let length = u32::try_from(length).expect("a block is shorter than 4 GiB").to_le_bytes();
        self.bytes[start + 4..start + 8].copy_from_slice(&length);
        self.bytes.extend_from_slice(&length);
    }

    /// Takes the bytes written since the start or since the last call: the next part of the file.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

/// Appends an option; texts longer than it can hold are cut.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    #[expect(clippy::cast_possible_truncation, reason = "cut to 16 bits above")]
    let length = value.len() as u16;
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(value);
    out.resize(out.len() + padding(value.len()), 0);
}

/// A block of a capture, as far as [`Writer`] writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// An interface of the capture.
    Interface {
        /// Kind of its packets.
        link_type: CapturedKind,
        /// Name of the interface, if it has one.
        name: Option<String>,
    },
    /// A block of another kind.
    Other(u32),
    /// A packet.
    Packet {
        /// The number of its interface.
        interface: u32,
        /// Instant at which the packet passed.
        time: Instant,
        /// From its IP header on, or its frame's.
        bytes: &'a [u8],
        /// Direction of the packet, if it is known.
        direction: Option<Direction>,
        /// Comment on the packet.
        comment: Option<String>,
    },
    /// The start of a section.
    Section,
}

/// Reads the blocks of a little-endian capture, one after the other.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    reader: Reader<'a>,
}

impl<'a> Blocks<'a> {
    /// Reads from the first byte of a capture.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes) }
    }

    fn block(&mut self) -> Result<Block<'a>, WireError> {
        let kind = u32_le(&mut self.reader)?;
        let length = u32_le(&mut self.reader)?;
        let bad_length = WireError::BadValue { field: "block length", value: length.into() };
        if !length.is_multiple_of(4) {
            return Err(bad_length);
        }
        let body =
            usize::try_from(length).ok().and_then(|length| length.checked_sub(12)).ok_or(bad_length)?;
        let mut body = Reader::new(self.reader.take(body)?);
        if u32_le(&mut self.reader)? != length {
            return Err(bad_length);
        }
        match kind {
            SECTION_HEADER => {
                let magic = u32_le(&mut body)?;
                if magic != BYTE_ORDER_MAGIC {
                    return Err(WireError::Unsupported { field: "byte order", value: magic.into() });
                }
                Ok(Block::Section)
            }
            INTERFACE_DESCRIPTION => interface(body),
            ENHANCED_PACKET => packet(body),
            other => Ok(Block::Other(other)),
        }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let block = self.block();
        if block.is_err() {
            // Nothing says where the next block would start.
            self.reader = Reader::new(&[]);
        }
        Some(block)
    }
}

fn interface(mut body: Reader<'_>) -> Result<Block<'_>, WireError> {
    let link_type = u16_le(&mut body)?;
    let known =
        [CapturedKind::Ethernet, CapturedKind::Ip].into_iter().find(|known| *known as u16 == link_type);
    let link_type = known.ok_or(WireError::Unsupported { field: "link type", value: link_type.into() })?;
    body.take(6)?;
    let (mut name, mut resolution) = (None, None);
    while let Some((code, value)) = next_option(&mut body)? {
        match code {
            IF_NAME => name = Some(String::from_utf8_lossy(value).into_owned()),
            IF_TIME_RESOLUTION => resolution = value.first().copied(),
            _ => {}
        }
    }
    match resolution {
        Some(NANOSECONDS) => Ok(Block::Interface { link_type, name }),
        other => Err(WireError::Unsupported { field: "time resolution", value: other.unwrap_or(6).into() }),
    }
}

fn packet(mut body: Reader<'_>) -> Result<Block<'_>, WireError> {
    let interface = u32_le(&mut body)?;
    let upper = u64::from(u32_le(&mut body)?);
    let lower = u64::from(u32_le(&mut body)?);
    let captured = u32_le(&mut body)?;
    let _original = u32_le(&mut body)?;
    let captured = usize::try_from(captured)
        .map_err(|_| WireError::BadValue { field: "captured length", value: captured.into() })?;
    let bytes = body.take(captured)?;
    body.take(padding(captured).min(body.left()))?;
    let (mut direction, mut comment) = (None, None);
    while let Some((code, value)) = next_option(&mut body)? {
        match (code, value.first()) {
            (EPB_FLAGS, Some(flags)) => {
                direction = match flags & 3 {
                    1 => Some(Direction::Inbound),
                    2 => Some(Direction::Outbound),
                    _ => None,
                }
            }
            (OPT_COMMENT, _) => comment = Some(String::from_utf8_lossy(value).into_owned()),
            _ => {}
        }
    }
    let time = Instant::from_nanos(upper << 32 | lower);
    Ok(Block::Packet { interface, time, bytes, direction, comment })
}

fn next_option<'a>(reader: &mut Reader<'a>) -> Result<Option<(u16, &'a [u8])>, WireError> {
    if reader.is_empty() {
        return Ok(None);
    }
    let code = u16_le(reader)?;
    let length = usize::from(u16_le(reader)?);
    if code == 0 {
        return Ok(None);
    }
    let value = reader.take(length)?;
    reader.take(padding(length).min(reader.left()))?;
    Ok(Some((code, value)))
}

fn u16_le(reader: &mut Reader<'_>) -> Result<u16, WireError> {
    reader.array().map(u16::from_le_bytes)
}

fn u32_le(reader: &mut Reader<'_>) -> Result<u32, WireError> {
    reader.array().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_of_a_small_capture_are_these() {
        let mut writer = Writer::new();
        let interface = writer.interface("a");
        writer.packet(
            interface,
            Instant::from_nanos(1 << 32 | 2),
            &[0x45; 5],
            Direction::Inbound,
            Some("hm"),
        );
        let expected: &[&[u8]] = &[
            &[0x0a, 0x0d, 0x0d, 0x0a, 48, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0],
            &[0xff; 8],
            &[4, 0, 9, 0],
            b"slantpath\0\0\0",
            &[0, 0, 0, 0, 48, 0, 0, 0],
            &[1, 0, 0, 0, 40, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0, 1, 0, b'a', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0],
            &[6, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0],
            &[0x45, 0x45, 0x45, 0x45, 0x45, 0, 0, 0, 2, 0, 4, 0, 1, 0, 0, 0],
            &[1, 0, 2, 0, b'h', b'm', 0, 0, 0, 0, 0, 0, 60, 0, 0, 0],
        ];
        assert_eq!(writer.take(), expected.concat());
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            packets in proptest::collection::vec(
                (
                    any::<(bool, u64)>(),
                    proptest::collection::vec(any::<u8>(), 0..50),
                    any::<(bool, Option<String>)>(),
                ),
                0..20,
            ),
        ) {
            let mut writer = Writer::new();
            let interfaces =
                [writer.interface("first"), writer.interface_of(CapturedKind::Ethernet, "second")];
            let mut expected = vec![
                Block::Section,
                Block::Interface { link_type: CapturedKind::Ip, name: Some("first".to_owned()) },
                Block::Interface { link_type: CapturedKind::Ethernet, name: Some("second".to_owned()) },
            ];
            let mut bytes = writer.take();
            for ((second, nanos), packet, (inbound, comment)) in &packets {
                let direction = if *inbound { Direction::Inbound } else { Direction::Outbound };
                let time = Instant::from_nanos(*nanos);
                writer.packet(interfaces[usize::from(*second)], time, packet, direction, comment.as_deref());
                bytes.extend(writer.take());
                let (interface, direction, comment) = (u32::from(*second), Some(direction), comment.clone());
                expected.push(Block::Packet { interface, time, bytes: packet, direction, comment });
            }
            let read: Result<Vec<_>, _> = Blocks::new(&bytes).collect();
            prop_assert_eq!(read, Ok(expected));
        }

        #[test]
        fn any_bytes_end_in_blocks_or_an_error(bytes: Vec<u8>) {
            for block in Blocks::new(&bytes) {
                let _ = block;
            }
        }

        #[test]
        fn a_broken_capture_ends_in_blocks_or_an_error(place in 0_usize..200, value: u8) {
            let mut writer = Writer::new();
            let interface = writer.interface("a");
            writer.packet(interface, Instant::START, &[1; 40], Direction::Outbound, Some("x"));
            let mut bytes = writer.take();
            let len = bytes.len();
            bytes[place % len] = value;
            for block in Blocks::new(&bytes) {
                let _ = block;
            }
        }
    }
}
