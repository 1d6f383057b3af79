//! TCP options: MSS (RFC 9293), window scale and timestamps (RFC 7323), SACK (RFC 2018).

use core::ops::Deref;

use slantpath_wire::{Reader, WireError};

use crate::segment::SequenceNumber;

/// The most that options can take: a header of 60 bytes less its fixed 20.
pub(crate) const MAX_OPTIONS_LEN: usize = 40;

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The options of one segment that this stack knows. Others are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The largest segment the sender wants to receive; on a SYN.
    pub mss_bytes: Option<u16>,
    /// The shift of every later window field; on a SYN.
    pub window_shift: Option<u8>,
    /// The sender understands SACK; on a SYN.
    pub sack_permitted: bool,
    /// Data received beyond the acknowledgement.
    pub sack: SackBlocks,
    /// Time at which the segment was sent, by its sender's clock, and an echo.
    pub timestamps: Option<Timestamps>,
}

/// Timestamps of RFC 7323, in the senders' own units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// Timestamp value that the sender last saw from its peer.
    pub echo: u32,
}

/// One block of data that was received: from `left` up to, not including, `right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: SequenceNumber,
    /// The sequence number past its last.
    pub right: SequenceNumber,
}

/// Up to four SACK blocks, held inline.
#[derive(Clone, Copy)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    count: u8,
}

impl SackBlocks {
    /// As many as fit into one header.
    pub const MAX: usize = 4;

    /// Adds a block unless four are there; returns whether there was room.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.count)) else { return false };
        *slot = block;
        self.count += 1;
        true
    }
}

impl SackBlocks {
    const NONE: Self = {
        let nothing = SackBlock { left: SequenceNumber(0), right: SequenceNumber(0) };
        Self { blocks: [nothing; Self::MAX], count: 0 }
    };
}

impl SackBlocks {
    /// Reads at most four blocks of eight bytes each, in place of those that were there.
    #[inline]
    fn read(&mut self, bytes: &[u8]) {
        self.count = 0;
        for (block, &[l0, l1, l2, l3, r0, r1, r2, r3]) in self.blocks.iter_mut().zip(bytes.as_chunks().0) {
            let left = SequenceNumber(u32::from_be_bytes([l0, l1, l2, l3]));
            let right = SequenceNumber(u32::from_be_bytes([r0, r1, r2, r3]));
            *block = SackBlock { left, right };
            self.count += 1;
        }
    }
}

impl Default for SackBlocks {
    fn default() -> Self {
        Self::NONE
    }
}

impl Deref for SackBlocks {
    type Target = [SackBlock];

    fn deref(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.count)]
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for SackBlocks {}

impl core::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Options {
    /// Options of a bare segment.
    pub(crate) const NONE: Self = Self {
        mss_bytes: None,
        window_shift: None,
        sack_permitted: false,
        sack: SackBlocks::NONE,
        timestamps: None,
    };

    /// Reads the options between the fixed header and the data.
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let mut options = Self::NONE;
        options.read(bytes)?;
        Ok(options)
    }

    /// Variant of [`Options::parse`] that writes over [none](Self::NONE).
    #[inline(never)]
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if let [NO_OPERATION, NO_OPERATION, SACK, len, blocks @ ..] = bytes
            && matches!(blocks.len(), 8 | 16 | 24 | 32)
            && usize::from(*len) == 2 + blocks.len()
        {
            // Nothing but blocks, as in nearly all segments with options.
            self.sack.read(blocks);
            return Ok(());
        }
        self.read_any(bytes)
    }

    fn read_any(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let kind = reader.u8()?;
            match kind {
                END => break,
                NO_OPERATION => continue,
                _ => {}
            }
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.1
            //# All TCP Options except End of Option List Option (EOL) and
            //# No-Operation (NOP) MUST have length fields
            let len = reader.u8()?;
            let bad_length = WireError::BadValue { field: "TCP option length", value: len.into() };
            let value_len = usize::from(len).checked_sub(2).ok_or(bad_length)?;
            let mut value = Reader::new(reader.take(value_len)?);
            match (kind, value_len) {
                (MSS, 2) => self.mss_bytes = Some(value.u16()?),
                (WINDOW_SCALE, 1) => self.window_shift = Some(value.u8()?),
                (SACK_PERMITTED, 0) => self.sack_permitted = true,
                (SACK, 8 | 16 | 24 | 32) => self.sack.read(value.take(value_len)?),
                (TIMESTAMPS, 8) => {
                    self.timestamps = Some(Timestamps { value: value.u32()?, echo: value.u32()? });
                }
                (MSS | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => return Err(bad_length),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the options, padded to four bytes, into the front of `buffer` and returns their length.
    ///
    /// # Panics
    /// If they are longer than `buffer`: a SYN's options, or timestamps with three SACK blocks, or four SACK
    /// blocks, fit into 40 bytes.
    #[inline]
    pub fn emit(&self, buffer: &mut [u8]) -> usize {
        let mut len = 0;
        let mut put = |bytes: &[u8]| {
            buffer[len..len + bytes.len()].copy_from_slice(bytes);
            len += bytes.len();
        };
        if let Some(mss) = self.mss_bytes {
            let [high, low] = mss.to_be_bytes();
            put(&[MSS, 4, high, low]);
        }
        if let Some(shift) = self.window_shift {
            put(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
        }
        if self.sack_permitted {
            put(&[NO_OPERATION, NO_OPERATION, SACK_PERMITTED, 2]);
        }
        if let Some(Timestamps { value, echo }) = self.timestamps {
            put(&[NO_OPERATION, NO_OPERATION, TIMESTAMPS, 10]);
            put(&value.to_be_bytes());
            put(&echo.to_be_bytes());
        }
        len + emit_blocks(self.sack.iter().copied(), &mut buffer[len..])
    }
}

/// Writes an option of at most four SACK blocks, behind what pads it to four bytes, into the front of `buffer` and
/// returns how much that is: nothing without a block.
///
/// # Panics
/// If it is longer than `buffer`.
#[inline]
pub(crate) fn emit_blocks(blocks: impl Iterator<Item = SackBlock>, buffer: &mut [u8]) -> usize {
    let mut len = 4;
    let mut value_len = 0;
    for block in blocks {
        let octets = (u64::from(block.left.0) << 32 | u64::from(block.right.0)).to_be_bytes();
        buffer[len..len + octets.len()].copy_from_slice(&octets);
        len += octets.len();
        value_len += 8;
    }
    if value_len == 0 {
        return 0;
    }
    buffer[..4].copy_from_slice(&[NO_OPERATION, NO_OPERATION, SACK, 2 + value_len]);
    len
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = SequenceNumber> {
        any::<u32>().prop_map(SequenceNumber)
    }

    fn blocks(most: usize) -> impl Strategy<Value = SackBlocks> {
        proptest::collection::vec((number(), number()), 0..=most).prop_map(|pairs| {
            let mut blocks = SackBlocks::default();
            for (left, right) in pairs {
                blocks.push(SackBlock { left, right });
            }
            blocks
        })
    }

    /// Any options that one header can hold: a SYN's, or others.
    pub(crate) fn options() -> impl Strategy<Value = Options> {
        let timestamps =
            || proptest::option::of(any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo }));
        let syn = (
            proptest::option::of(any::<u16>()),
            proptest::option::of(any::<u8>()),
            any::<bool>(),
            timestamps(),
        );
        let syn = syn.prop_map(|(mss_bytes, window_shift, sack_permitted, timestamps)| Options {
            mss_bytes,
            window_shift,
            sack_permitted,
            timestamps,
            ..Options::default()
        });
        let timed = (timestamps(), blocks(3)).prop_map(|(timestamps, sack)| Options {
            sack,
            timestamps,
            ..Options::default()
        });
        let untimed = blocks(4).prop_map(|sack| Options { sack, ..Options::default() });
        prop_oneof![syn, timed, untimed]
    }

    #[test]
    fn a_linux_syn_is_read() {
        // From a capture: MSS 1460, SACK permitted, timestamps, NOP, window scale 7.
        let bytes = [
            0x02, 0x04, 0x05, 0xb4, 0x04, 0x02, 0x08, 0x0a, 0x8f, 0x53, 0x38, 0x52, 0, 0, 0, 0, 0x01, 0x03,
            0x03, 7,
        ];
        let expected = Options {
            mss_bytes: Some(1_460),
            window_shift: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x8f53_3852, echo: 0 }),
            ..Options::default()
        };
        assert_eq!(Options::parse(&bytes), Ok(expected));
    }

    #[test]
    fn blocks_are_equal_and_shown_as_far_as_there_are_any() {
        let block = |left, right| SackBlock { left: SequenceNumber(left), right: SequenceNumber(right) };
        let mut blocks = SackBlocks::default();
        assert_eq!(format!("{blocks:?}"), "[]");
        assert!(blocks.push(block(1, 2)));
        assert_eq!(format!("{blocks:?}"), format!("{:?}", [block(1, 2)]));
        assert_ne!(blocks, SackBlocks::default());
        let mut others = SackBlocks::default();
        others.push(block(1, 3));
        assert_ne!(blocks, others);
        for number in 3..6 {
            assert!(others.push(block(number, 9)));
        }
        assert!(!others.push(block(6, 9)), "four are the most");
    }

    #[test]
    fn sack_blocks_end_where_their_length_says() {
        let mut bytes = vec![NO_OPERATION, NO_OPERATION, SACK, 10];
        bytes.extend([0, 0, 0, 1, 0, 0, 0, 2]);
        bytes.extend([NO_OPERATION; 8]);
        let options = Options::parse(&bytes).unwrap();
        assert_eq!(options.sack.len(), 1);
        bytes[3] = 18;
        assert_eq!(Options::parse(&bytes).unwrap().sack.len(), 2);
    }

    #[test]
    fn of_two_sack_options_the_last_counts() {
        let bytes = [[5, 10, 0, 0, 0, 1, 0, 0, 0, 2], [5, 10, 0, 0, 0, 3, 0, 0, 0, 4]].concat();
        let block = SackBlock { left: SequenceNumber(3), right: SequenceNumber(4) };
        assert_eq!(Options::parse(&bytes).unwrap().sack[..], [block]);
    }

    #[test]
    fn unknown_options_are_skipped_and_an_end_ends_them() {
        assert_eq!(Options::parse(&[30, 4, 1, 2, 2, 4, 0, 100]).unwrap().mss_bytes, Some(100));
        assert_eq!(Options::parse(&[0, 2, 4, 0, 100]), Ok(Options::default()));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for bytes in
            [&[2, 3, 1][..], &[2, 0], &[2, 1], &[2], &[5, 6, 1, 2, 3, 4], &[8, 10, 1], &[3, 2], &[4, 3, 0]]
        {
            assert!(Options::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn options_round_trip(options in options()) {
            let mut buffer = [0xff; MAX_OPTIONS_LEN];
            let len = options.emit(&mut buffer);
            prop_assert_eq!(len % 4, 0);
            prop_assert_eq!(Options::parse(&buffer[..len]), Ok(options));
        }

        #[test]
        fn any_bytes_are_options_or_an_error(bytes: Vec<u8>) {
            let _ = Options::parse(&bytes);
        }
    }
}
