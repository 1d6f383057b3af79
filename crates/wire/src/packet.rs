//! A packet in memory: real header bytes held inline, bulk payload held by reference.
//!
//! A transport writes its headers into the inline part and hangs a message's payload behind it uncopied; the
//! IP layer prepends its header into the headroom that was left free. Taken together, [`head`](Packet::head),
//! [`tail`](Packet::tail) and the zero padding are exactly the bytes of the wire.

use bytes::Bytes;
use core::fmt;

/// State of the checksums in a packet: filled in or left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// Every checksum is in its place; a receiver verifies it.
    Complete,
    /// The sender left checksums zero because nobody can observe them, as with offload to hardware. Whoever
    /// does observe the bytes (a capture, a bit error, a real interface) completes them first with
    /// [`Packet::complete`]; a receiver trusts them.
    Omitted,
}

/// One packet, from the transport header on, or from the IP header on once it has been prepended.
///
/// It is large to move. Whoever has a place for packets lends it: it is [composed](Packet::compose) there, and read
/// there.
#[derive(Clone)]
pub struct Packet {
    tail: Bytes,
    head: [u8; Packet::HEADROOM + Packet::HEAD_CAPACITY],
    head_start: u8,
    head_end: u8,
    padding: u8,
    checksum: Checksum,
}

impl Packet {
    /// Bytes kept free in front of a transport header: an IPv6 header.
    pub const HEADROOM: usize = 40;
    /// Transport bytes that fit inline: a TCP header with all its options, or SCTP's with a SACK of a dozen
    /// gap blocks.
    pub const HEAD_CAPACITY: usize = 88;

    /// A transport packet of `bytes`, copied: inline if they fit, else into one shared buffer.
    pub fn copied(bytes: &[u8], checksum: Checksum) -> Self {
        if bytes.len() <= Self::HEAD_CAPACITY {
            Self::with_tail(bytes, Bytes::new(), 0, checksum)
        } else {
            Self::shared(Bytes::copy_from_slice(bytes), checksum)
        }
    }

    /// A packet whose bytes are all in `bytes`, uncopied.
    pub fn shared(bytes: Bytes, checksum: Checksum) -> Self {
        Self::with_tail(&[], bytes, 0, checksum)
    }

    /// A transport packet that starts with `head`, copied inline, goes on with `tail`, uncopied, and ends in
    /// `padding` zero bytes.
    ///
    /// # Panics
    /// If `head` is longer than [`HEAD_CAPACITY`](Self::HEAD_CAPACITY) or `padding` is more than 3.
    pub fn with_tail(head: &[u8], tail: Bytes, padding: u8, checksum: Checksum) -> Self {
        assert!(head.len() <= Self::HEAD_CAPACITY, "{} bytes do not fit inline", head.len());
        assert!(padding <= 3, "no transport pads by {padding} bytes");
        let mut packet = Self {
            tail,
            head: [0; Self::HEADROOM + Self::HEAD_CAPACITY],
            head_start: HEAD_START,
            #[expect(clippy::cast_possible_truncation, reason = "at most 128")]
            head_end: (Self::HEADROOM + head.len()) as u8,
            padding,
            checksum,
        };
        packet.head[Self::HEADROOM..Self::HEADROOM + head.len()].copy_from_slice(head);
        packet
    }

    /// Writes a transport packet in place of whatever was here. `write` fills the front of the inline part, with
    /// `tail` at hand for a checksum, and returns how many bytes of it are the packet's; `tail` and `padding` zero
    /// bytes follow.
    ///
    /// # Panics
    /// If `padding` is more than 3, or more bytes are the packet's than there are.
    #[inline]
    pub fn compose(
        &mut self,
        tail: Bytes,
        padding: u8,
        checksum: Checksum,
        write: impl FnOnce(&mut [u8; Self::HEAD_CAPACITY], &Bytes) -> usize,
    ) {
        assert!(padding <= 3, "no transport pads by {padding} bytes");
        let head = self.head.last_chunk_mut().expect("behind the headroom there is as much");
        let len = write(head, &tail);
        assert!(len <= Self::HEAD_CAPACITY, "{len} bytes do not fit inline");
        self.tail = tail;
        self.head_start = HEAD_START;
        #[expect(clippy::cast_possible_truncation, reason = "at most 88")]
        let len = len as u8;
        self.head_end = HEAD_START + len;
        self.padding = padding;
        self.checksum = checksum;
    }

    /// Takes the second, shared part out.
    #[inline]
    pub fn take_tail(&mut self) -> Bytes {
        core::mem::take(&mut self.tail)
    }

    /// The length of the packet in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.head_end - self.head_start) + self.tail.len() + usize::from(self.padding)
    }

    /// Tells if there is no byte in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first, inline part.
    #[inline]
    pub fn head(&self) -> &[u8] {
        &self.head[usize::from(self.head_start)..usize::from(self.head_end)]
    }

    /// The inline part, to patch.
    #[inline]
    pub fn head_mut(&mut self) -> &mut [u8] {
        &mut self.head[usize::from(self.head_start)..usize::from(self.head_end)]
    }

    /// The second, shared part.
    pub const fn tail(&self) -> &Bytes {
        &self.tail
    }

    /// The second, shared part, from which to take what one has use for. What is left of it is the packet's.
    pub const fn tail_mut(&mut self) -> &mut Bytes {
        &mut self.tail
    }

    /// Number of zero bytes that follow the tail.
    pub const fn padding(&self) -> u8 {
        self.padding
    }

    /// State of the checksums: filled in or left out.
    pub const fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Makes room for `count` bytes in front of the packet and returns them to be written.
    ///
    /// # Panics
    /// If the headroom is shorter than that.
    #[inline]
    pub fn prepend(&mut self, count: usize) -> &mut [u8] {
        let start = usize::from(self.head_start).checked_sub(count).expect("headroom is left");
        #[expect(clippy::cast_possible_truncation, reason = "less than before")]
        let head_start = start as u8;
        self.head_start = head_start;
        &mut self.head[start..start + count]
    }

    /// Drops the first `count` bytes, which must lie in the inline part or be contiguous in the tail.
    ///
    /// # Panics
    /// If the packet is shorter than that, or `count` ends inside the tail while the head is not empty.
    #[inline]
    pub fn strip(&mut self, count: usize) {
        let head_len = usize::from(self.head_end - self.head_start);
        if count <= head_len {
            #[expect(clippy::cast_possible_truncation, reason = "at most the inline length")]
            let step = count as u8;
            self.head_start += step;
        } else {
            assert!(head_len == 0, "a header lies across head and tail");
            self.tail = self.tail.slice(count..);
        }
    }

    /// Appends the packet's bytes to `out`.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head());
        out.extend_from_slice(&self.tail);
        out.resize(out.len() + usize::from(self.padding), 0);
    }

    /// The packet's bytes in one piece: the tail itself if it holds them all, else a copy.
    pub fn contiguous(&self) -> Bytes {
        if self.head().is_empty() && self.padding == 0 {
            return self.tail.clone();
        }
        let mut bytes = Vec::with_capacity(self.len());
        self.write_to(&mut bytes);
        bytes.into()
    }

    /// The bytes of this whole IP packet with every checksum in its place, as an observer would see them.
    pub fn observed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.write_to(&mut bytes);
        if self.checksum == Checksum::Omitted {
            crate::checksum::complete(&mut bytes);
        }
        bytes
    }

    /// Fills in omitted checksums of this whole IP packet, and makes its bytes contiguous to do so.
    pub fn complete(&mut self) {
        if self.checksum == Checksum::Omitted {
            *self = Self::shared(self.observed().into(), Checksum::Complete);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "40")]
const HEAD_START: u8 = Packet::HEADROOM as u8;

impl Default for Packet {
    /// No bytes at all: a place for a packet.
    fn default() -> Self {
        Self {
            tail: Bytes::new(),
            head: [0; Self::HEADROOM + Self::HEAD_CAPACITY],
            head_start: HEAD_START,
            head_end: HEAD_START,
            padding: 0,
            checksum: Checksum::Complete,
        }
    }
}

impl From<Vec<u8>> for Packet {
    /// Whole bytes, every checksum in its place.
    fn from(bytes: Vec<u8>) -> Self {
        Self::shared(bytes.into(), Checksum::Complete)
    }
}

impl PartialEq for Packet {
    /// Equal bytes and checksum state, however they are held.
    fn eq(&self, other: &Self) -> bool {
        self.checksum == other.checksum && self.contiguous() == other.contiguous()
    }
}

impl Eq for Packet {}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packet({} bytes, {:?}: ", self.len(), self.checksum)?;
        for byte in self.contiguous().iter().take(64) {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn payload_is_not_copied() {
        let payload = Bytes::from(vec![7; 1_000]);
        let packet = Packet::with_tail(&[1, 2, 3], payload.clone(), 1, Checksum::Omitted);
        assert_eq!(packet.tail().as_ptr(), payload.as_ptr());
        assert_eq!(packet.len(), 1_004);
    }

    #[test]
    fn an_ip_header_goes_into_the_headroom_and_off_again() {
        let mut packet = Packet::copied(&[9; 20], Checksum::Complete);
        packet.prepend(20).fill(4);
        assert_eq!(packet.contiguous()[..], [[4; 20], [9; 20]].concat());
        packet.strip(20);
        assert_eq!(packet.head(), [9; 20]);
    }

    proptest! {
        #[test]
        fn what_is_composed_is_what_would_have_been_made_whatever_was_there(
            before in proptest::collection::vec(any::<u8>(), 0..200),
            stripped in 0_usize..50,
            head in proptest::collection::vec(any::<u8>(), 0..=Packet::HEAD_CAPACITY),
            tail: Vec<u8>,
            padding in 0_u8..4,
        ) {
            let mut packet = Packet::copied(&before, Checksum::Complete);
            packet.prepend(20).fill(9);
            packet.strip(stripped.min(packet.head().len()));
            packet.compose(tail.clone().into(), padding, Checksum::Omitted, |place, rest| {
                assert_eq!(rest[..], tail[..]);
                place[..head.len()].copy_from_slice(&head);
                head.len()
            });
            prop_assert_eq!(packet, Packet::with_tail(&head, tail.into(), padding, Checksum::Omitted));
        }

        #[test]
        fn bytes_are_the_same_however_they_are_held(
            head in proptest::collection::vec(any::<u8>(), 0..Packet::HEAD_CAPACITY),
            tail: Vec<u8>,
            padding in 0_u8..4,
        ) {
            let split = Packet::with_tail(&head, tail.clone().into(), padding, Checksum::Complete);
            let whole = [head, tail, vec![0; usize::from(padding)]].concat();
            prop_assert_eq!(split.len(), whole.len());
            prop_assert_eq!(&split.contiguous()[..], &whole[..]);
            prop_assert_eq!(&split, &Packet::copied(&whole, Checksum::Complete));
            prop_assert_eq!(&split.observed(), &whole);
        }
    }
}
