//! Content of a message: a stamp that names it, and a pattern that shows when a byte is wrong.

use bytes::Bytes;

/// Bytes of the stamp: the message's number and its length, big-endian.
pub const STAMP_LEN: usize = 8;

/// Way in which a flow fills its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// A slice of one constant pattern, shared and never copied: for load that nobody looks into.
    Pattern,
    /// Number and length in front, then the pattern at an offset that depends on the number: the receiver
    /// knows each message, and checks each byte.
    #[default]
    Stamped,
}

/// A prime period: two messages whose numbers differ by less than it differ in their bytes.
const PERIOD: usize = 251;
/// The longest slice of the pattern that is handed out at once.
const PATTERN_LEN: usize = 1 << 16;

static PATTERN: [u8; PATTERN_LEN + PERIOD] = pattern();

#[expect(clippy::cast_possible_truncation, reason = "below the period, 251")]
#[expect(clippy::large_stack_arrays, reason = "it is on no stack: the compiler runs this")]
const fn pattern() -> [u8; PATTERN_LEN + PERIOD] {
    let mut bytes = [0; PATTERN_LEN + PERIOD];
    let mut index = 0;
    while index < bytes.len() {
        bytes[index] = (index % PERIOD) as u8;
        index += 1;
    }
    bytes
}

/// The longest message there is.
pub const MAX_MESSAGE_LEN: usize = PATTERN_LEN;

/// The pattern as the tail of message `number` holds it.
#[inline]
fn pattern_for(number: u32, len: usize) -> &'static [u8] {
    let offset = number as usize % PERIOD;
    &PATTERN[offset..offset + len]
}

/// The bytes of message `number`.
///
/// # Panics
/// If `len` exceeds [`MAX_MESSAGE_LEN`], or a stamped message is shorter than [`STAMP_LEN`].
#[inline]
pub fn compose(content: Content, number: u32, len: usize) -> Bytes {
    match content {
        Content::Pattern => Bytes::from_static(pattern_for(number, len)),
        Content::Stamped => stamped(number, len),
    }
}

fn stamped(number: u32, len: usize) -> Bytes {
    let mut bytes = Vec::with_capacity(len);
    append(Content::Stamped, number, len, &mut bytes);
    bytes.into()
}

/// Writes message `number` behind what stands in front of it.
///
/// # Panics
/// As [`compose`] does.
pub(crate) fn append(content: Content, number: u32, len: usize, bytes: &mut Vec<u8>) {
    let len = match content {
        Content::Pattern => len,
        Content::Stamped => {
            let length = u32::try_from(len).expect("a message is at most 64 KiB");
            bytes.extend_from_slice(&number.to_be_bytes());
            bytes.extend_from_slice(&length.to_be_bytes());
            len - STAMP_LEN
        }
    };
    bytes.extend_from_slice(pattern_for(number, len));
}

/// The number and length that a stamp names.
pub fn read_stamp(stamp: [u8; STAMP_LEN]) -> (u32, u32) {
    let both = u64::from_be_bytes(stamp);
    ((both >> 32) as u32, (both & 0xffff_ffff) as u32)
}

/// The number of a stamped message, if every byte of it is right.
pub fn verify(message: &[u8]) -> Option<u32> {
    let (stamp, body) = message.split_first_chunk::<STAMP_LEN>()?;
    let (number, length) = read_stamp(*stamp);
    let whole = length as usize == message.len() && message.len() <= MAX_MESSAGE_LEN;
    (whole && body == pattern_for(number, body.len())).then_some(number)
}

/// Cuts a byte stream back into the stamped messages that were written into it.
#[derive(Clone, Debug, Default)]
pub struct Deframer {
    partial: Vec<u8>,
}

/// A stream whose framing is lost: a stamp names an impossible length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stamp in the stream names a message of {length} bytes")]
pub struct FramingLost {
    /// The length that the stamp names.
    pub length: u32,
}

impl Deframer {
    /// Takes the next bytes of the stream and calls `deliver` with each message that they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut deliver: impl FnMut(&[u8])) -> Result<(), FramingLost> {
        loop {
            if !self.partial.is_empty() {
                let wanted = match message_len(&self.partial)? {
                    Some(len) => len - self.partial.len(),
                    None => STAMP_LEN - self.partial.len(),
                };
                let (now, later) = bytes.split_at(wanted.min(bytes.len()));
                self.partial.extend_from_slice(now);
                bytes = later;
                if message_len(&self.partial)? == Some(self.partial.len()) {
                    deliver(&self.partial);
                    self.partial.clear();
                } else if bytes.is_empty() {
                    return Ok(());
                }
                continue;
            }
            match message_len(bytes)? {
                Some(len) if len <= bytes.len() => {
                    let (message, later) = bytes.split_at(len);
                    deliver(message);
                    bytes = later;
                }
                _ => {
                    self.partial.extend_from_slice(bytes);
                    return Ok(());
                }
            }
        }
    }
}

/// The length of the message that starts here, once its stamp is complete.
fn message_len(bytes: &[u8]) -> Result<Option<usize>, FramingLost> {
    let Some(stamp) = bytes.first_chunk::<STAMP_LEN>() else { return Ok(None) };
    let (_, length) = read_stamp(*stamp);
    let len = length as usize;
    if (STAMP_LEN..=MAX_MESSAGE_LEN).contains(&len) { Ok(Some(len)) } else { Err(FramingLost { length }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pattern_content_is_not_allocated() {
        let one = compose(Content::Pattern, 3, 1_000);
        let other = compose(Content::Pattern, 3 + 251, 1_000);
        assert_eq!(one.as_ptr(), other.as_ptr());
    }

    proptest! {
        #[test]
        fn a_stamped_message_is_known_by_its_bytes(number: u32, len in STAMP_LEN..3_000) {
            prop_assert_eq!(verify(&compose(Content::Stamped, number, len)), Some(number));
        }

        #[test]
        fn a_wrong_bit_is_seen(number: u32, len in STAMP_LEN + 1..500, at: prop::sample::Index, bit in 0_u8..8) {
            let mut bytes = compose(Content::Stamped, number, len).to_vec();
            let at = at.index(len);
            bytes[at] ^= 1 << bit;
            prop_assert_ne!(verify(&bytes), Some(number));
        }

        #[test]
        fn a_stream_cut_anywhere_gives_its_messages_back(
            lens in proptest::collection::vec(STAMP_LEN..300, 1..20),
            cuts in proptest::collection::vec(1_usize..100, 1..50),
        ) {
            let mut stream = Vec::new();
            for (number, len) in (0_u32..).zip(&lens) {
                stream.extend_from_slice(&compose(Content::Stamped, number, *len));
            }
            let mut deframer = Deframer::default();
            let mut numbers = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                deframer.push(now, |message| numbers.push(verify(message))).unwrap();
                rest = later;
            }
            let expected: Vec<_> = (0..lens.len()).map(|number| u32::try_from(number).ok()).collect();
            prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn any_stream_ends_in_messages_or_an_error(bytes: Vec<u8>) {
            let _ = Deframer::default().push(&bytes, |_| {});
        }
    }
}
