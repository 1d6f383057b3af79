//! Files of captures: pcap in its four forms, and pcapng (draft-ietf-opsawg-pcapng) with all that has packets.
//!
//! A file is read as a stream. Its bytes are shared, so that a frame is no copy, and the buffer is used anew
//! when nothing of it is held any more.

mod error;
mod options;

use std::io::Read;

use bytes::{Bytes, BytesMut};
use slantpath_base::Instant;

use crate::frame::LinkType;

pub use error::CaptureError;
use options::Clock;

/// Bytes that are read at once.
const READ: usize = 256 << 10;
/// Longest packet, and longest block with a packet: what nothing that captures writes.
const LONGEST: usize = 16 << 20;
/// Most interfaces of a section.
const INTERFACES_MAX: usize = 65_536;

const CLASSIC_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
/// The packet block of the first drafts.
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Type and length, and the length again behind the body.
const BLOCK_FRAME_LEN: usize = 12;

/// Tells by the first four bytes of a file if it may be a capture.
pub fn is_capture(first: [u8; 4]) -> bool {
    let word = u32::from_be_bytes(first);
    let known = [SECTION_HEADER, MICROSECONDS, NANOSECONDS];
    known.contains(&word) || known.contains(&word.swap_bytes())
}

/// A frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFrame {
    /// Number of the frame in its file, from 1.
    pub number: u64,
    /// Interface that it was captured on, counted from 0 over all sections of the file.
    pub interface: u32,
    /// Type of the interface's link.
    pub link: LinkType,
    /// Instant of its capture, since the epoch of its file; simple packet blocks have none.
    pub time: Option<Instant>,
    /// Bytes of the frame, as far as they were captured.
    pub bytes: Bytes,
    /// Length of the frame on its link.
    pub original_len: u32,
}

/// Order of the bytes of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let field = [bytes[at], bytes[at + 1]];
        match self {
            Self::Big => u16::from_be_bytes(field),
            Self::Little => u16::from_le_bytes(field),
        }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let field = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Self::Big => u32::from_be_bytes(field),
            Self::Little => u32::from_le_bytes(field),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    clock: Clock,
    snap_len: u32,
}

#[derive(Clone, Debug)]
enum Format {
    Classic {
        order: Order,
        nanos_per_unit: u64,
        link: LinkType,
    },
    /// `before` counts the interfaces of earlier sections.
    Ng {
        order: Order,
        interfaces: Vec<Interface>,
        before: u32,
    },
}

/// A packet of a block: its place in the body, and what stands before it.
struct Found {
    interface: usize,
    ticks: Option<u64>,
    captured: u32,
    original_len: u32,
    at: usize,
}

/// Reads the frames of a capture.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: R,
    buffer: BytesMut,
    /// Place of the buffer's first byte in the file.
    offset: u64,
    frames: u64,
    format: Format,
    is_over: bool,
}

impl<R: Read> CaptureReader<R> {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// If it is that of no capture.
    pub fn open(input: R) -> Result<Self, CaptureError> {
        let format = Format::Ng { order: Order::Little, interfaces: Vec::new(), before: 0 };
        let mut reader =
            Self { input, buffer: BytesMut::new(), offset: 0, frames: 0, format, is_over: false };
        reader.fill(4)?;
        let Some(magic) = reader.buffer.first_chunk::<4>().copied() else {
            return Err(match reader.buffer.len() {
                0 => CaptureError::Empty,
                left => CaptureError::Cut { offset: 0, frame: 0, wanted: 4, left },
            });
        };
        let word = u32::from_be_bytes(magic);
        let (order, nanos_per_unit) = match word {
            SECTION_HEADER => return Ok(reader),
            MICROSECONDS => (Order::Big, 1_000),
            NANOSECONDS => (Order::Big, 1),
            _ if word == MICROSECONDS.swap_bytes() => (Order::Little, 1_000),
            _ if word == NANOSECONDS.swap_bytes() => (Order::Little, 1),
            _ => return Err(CaptureError::NotACapture { first: magic }),
        };
        reader.need(CLASSIC_HEADER_LEN)?;
        let header = reader.take(CLASSIC_HEADER_LEN);
        // The upper half tells how long a check sequence is that ends frames.
        let link = LinkType(order.u32(&header, 20) & 0xffff);
        reader.format = Format::Classic { order, nanos_per_unit, link };
        Ok(reader)
    }

    /// Number of frames that were read.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Place in the file up to which it was read, in bytes.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Gives the next frame; `None` at the end.
    ///
    /// # Errors
    /// If the file is cut or broken here. Nothing tells where another frame would begin: none follows.
    pub fn next_frame(&mut self) -> Result<Option<CapturedFrame>, CaptureError> {
        if self.is_over {
            return Ok(None);
        }
        let frame = match self.format {
            Format::Classic { order, nanos_per_unit, link } => self.classic(order, nanos_per_unit, link),
            Format::Ng { .. } => self.block(),
        };
        if !matches!(frame, Ok(Some(_))) {
            self.is_over = true;
        }
        frame
    }

    fn classic(
        &mut self,
        order: Order,
        nanos_per_unit: u64,
        link: LinkType,
    ) -> Result<Option<CapturedFrame>, CaptureError> {
        if self.is_at_end()? {
            return Ok(None);
        }
        self.need(RECORD_HEADER_LEN)?;
        let [seconds, units, captured, original_len] = [0, 4, 8, 12].map(|at| order.u32(&self.buffer, at));
        let len = self.checked_len(captured)?;
        self.need(RECORD_HEADER_LEN + len)?;
        let bytes = self.take(RECORD_HEADER_LEN + len).slice(RECORD_HEADER_LEN..);
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(units) * nanos_per_unit;
        self.frames += 1;
        let time = Some(Instant::from_nanos(nanos));
        Ok(Some(CapturedFrame { number: self.frames, interface: 0, link, time, bytes, original_len }))
    }

    /// Reads blocks up to the next packet.
    fn block(&mut self) -> Result<Option<CapturedFrame>, CaptureError> {
        loop {
            if self.is_at_end()? {
                return Ok(None);
            }
            self.need(8)?;
            // The same in either order.
            if Order::Big.u32(&self.buffer, 0) == SECTION_HEADER {
                self.section()?;
                continue;
            }
            let Format::Ng { order, .. } = self.format else { return Ok(None) };
            let (kind, length) = (order.u32(&self.buffer, 0), order.u32(&self.buffer, 4));
            let offset = self.offset;
            let wrong = CaptureError::BlockLength { offset, length };
            let len =
                usize::try_from(length).ok().filter(|len| *len >= BLOCK_FRAME_LEN && len.is_multiple_of(4));
            let Some(len) = len else { return Err(wrong) };
            match kind {
                INTERFACE_DESCRIPTION | ENHANCED_PACKET | OBSOLETE_PACKET | SIMPLE_PACKET => {}
                _ => {
                    self.skip(len)?;
                    continue;
                }
            }
            if len > LONGEST {
                return Err(wrong);
            }
            self.need(len)?;
            if order.u32(&self.buffer, len - 4) != length {
                return Err(wrong);
            }
            let block = self.take(len);
            let body = block.slice(8..len - 4);
            if kind == INTERFACE_DESCRIPTION {
                self.interface(&body, order, offset)?;
                continue;
            }
            let found = found(kind, order, &body).ok_or(wrong)?;
            return self.packet(&found, &body, offset).map(Some);
        }
    }

    fn section(&mut self) -> Result<(), CaptureError> {
        self.need(BLOCK_FRAME_LEN)?;
        let offset = self.offset;
        let order = match Order::Big.u32(&self.buffer, 8) {
            BYTE_ORDER_MAGIC => Order::Big,
            magic if magic == BYTE_ORDER_MAGIC.swap_bytes() => Order::Little,
            magic => return Err(CaptureError::ByteOrder { offset, magic }),
        };
        let length = order.u32(&self.buffer, 4);
        // With version, length of the section and the length again.
        let len =
            usize::try_from(length).ok().filter(|len| (28..=LONGEST).contains(len) && len.is_multiple_of(4));
        let len = len.ok_or(CaptureError::BlockLength { offset, length })?;
        let Format::Ng { interfaces, before, .. } = &self.format else { return Ok(()) };
        let before = before.saturating_add(u32::try_from(interfaces.len()).unwrap_or(u32::MAX));
        self.format = Format::Ng { order, interfaces: Vec::new(), before };
        self.skip(len)
    }

    fn interface(&mut self, body: &[u8], order: Order, offset: u64) -> Result<(), CaptureError> {
        let length = u32::try_from(body.len() + BLOCK_FRAME_LEN).unwrap_or(u32::MAX);
        let wrong = CaptureError::BlockLength { offset, length };
        let Some((fixed, options)) = body.split_at_checked(8) else { return Err(wrong) };
        let clock = options::clock(options, order).map_err(|resolution| {
            // Nothing that captures counts time so.
            CaptureError::Resolution { offset, resolution }
        })?;
        let Format::Ng { interfaces, .. } = &mut self.format else { return Ok(()) };
        if interfaces.len() >= INTERFACES_MAX {
            return Err(CaptureError::TooManyInterfaces { offset, most: INTERFACES_MAX });
        }
        let link = LinkType(order.u16(fixed, 0).into());
        interfaces.push(Interface { link, clock, snap_len: order.u32(fixed, 4) });
        Ok(())
    }

    fn packet(&mut self, found: &Found, body: &Bytes, offset: u64) -> Result<CapturedFrame, CaptureError> {
        let frame = self.frames + 1;
        let Format::Ng { interfaces, before, .. } = &self.format else {
            return Err(CaptureError::Interface { offset, frame, interface: found.interface, known: 0 });
        };
        let known = interfaces.len();
        let Some(interface) = interfaces.get(found.interface) else {
            return Err(CaptureError::Interface { offset, frame, interface: found.interface, known });
        };
        let room = body.len() - found.at;
        // A simple packet block has as much as there is, but for padding.
        let most =
            if found.ticks.is_none() && interface.snap_len > 0 { interface.snap_len } else { u32::MAX };
        let captured = found.captured.min(most);
        let len = usize::try_from(captured).ok().filter(|len| *len <= room);
        let len = len.ok_or(CaptureError::PacketLength { offset, frame, captured, most: room })?;
        self.frames = frame;
        Ok(CapturedFrame {
            number: frame,
            interface: before.saturating_add(u32::try_from(found.interface).unwrap_or(u32::MAX)),
            link: interface.link,
            time: found.ticks.map(|ticks| interface.clock.instant(ticks)),
            bytes: body.slice(found.at..found.at + len),
            original_len: found.original_len,
        })
    }

    fn checked_len(&self, captured: u32) -> Result<usize, CaptureError> {
        let (offset, frame) = (self.offset, self.frames + 1);
        let wrong = CaptureError::PacketLength { offset, frame, captured, most: LONGEST };
        usize::try_from(captured).ok().filter(|len| *len <= LONGEST).ok_or(wrong)
    }

    fn is_at_end(&mut self) -> Result<bool, CaptureError> {
        self.fill(1)?;
        Ok(self.buffer.is_empty())
    }

    /// Reads until there are so many bytes, or the file ends.
    fn fill(&mut self, wanted: usize) -> Result<(), CaptureError> {
        while self.buffer.len() < wanted {
            let len = self.buffer.len();
            self.buffer.resize(len + READ.max(wanted - len), 0);
            let got = self.input.read(&mut self.buffer[len..]);
            let got = match got {
                Ok(got) => got,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    self.buffer.truncate(len);
                    continue;
                }
                Err(error) => {
                    self.buffer.truncate(len);
                    return Err(CaptureError::Read { offset: self.offset + len as u64, error });
                }
            };
            self.buffer.truncate(len + got);
            if got == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Variant of [`fill`](Self::fill) for bytes without which the file is cut.
    fn need(&mut self, wanted: usize) -> Result<(), CaptureError> {
        if self.buffer.len() >= wanted {
            return Ok(());
        }
        self.fill(wanted)?;
        let left = self.buffer.len();
        if left >= wanted {
            return Ok(());
        }
        Err(CaptureError::Cut { offset: self.offset, frame: self.frames + 1, wanted, left })
    }

    fn take(&mut self, len: usize) -> Bytes {
        self.offset += len as u64;
        self.buffer.split_to(len).freeze()
    }

    /// Passes over bytes, of which no more than a part is held at a time.
    fn skip(&mut self, len: usize) -> Result<(), CaptureError> {
        let mut rest = len;
        while rest > 0 {
            self.fill(rest.min(READ))?;
            let step = self.buffer.len().min(rest);
            if step == 0 {
                return Err(CaptureError::Cut {
                    offset: self.offset,
                    frame: self.frames + 1,
                    wanted: rest,
                    left: 0,
                });
            }
            drop(self.take(step));
            rest -= step;
        }
        Ok(())
    }
}

/// Reads what stands before the packet of a block; `None` if the block is too short for it.
fn found(kind: u32, order: Order, body: &[u8]) -> Option<Found> {
    let (at, captured_at) = match kind {
        SIMPLE_PACKET => (4, 0),
        _ => (20, 12),
    };
    let fixed = body.get(..at)?;
    let word = |at: usize| order.u32(fixed, at);
    let interface = match kind {
        SIMPLE_PACKET => {
            let original_len = word(0);
            let room = u32::try_from(body.len() - at).unwrap_or(u32::MAX);
            let captured = original_len.min(room);
            return Some(Found { interface: 0, ticks: None, captured, original_len, at });
        }
        OBSOLETE_PACKET => usize::from(order.u16(fixed, 0)),
        _ => usize::try_from(word(0)).unwrap_or(usize::MAX),
    };
    let ticks = Some(u64::from(word(4)) << 32 | u64::from(word(8)));
    Some(Found { interface, ticks, captured: word(captured_at), original_len: word(16), at })
}

#[cfg(test)]
mod tests;
