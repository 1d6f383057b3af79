//! Container of records: what a run was told, as one file that is written bit by bit.
//!
//! A file has a header of [`HEADER_LEN`] bytes and then blocks. The bytes of all blocks one behind the other are the
//! content, which only whoever knows the [`RecordKind`] understands. All numbers are big-endian:
//!
//! ```text
//! header  magic (16 bytes), version (1), kind (1), zero (2), CRC32c of these 20 (4)
//! block   length (4), CRC32c of number and length (4), content, CRC32c of number and content (4)
//! ```
//!
//! A block's number is its place in the file, counted from 0 in 64 bits, and is not written. So a byte that has changed
//! and a block that is missing are found, and a file that ends within a block can be told from both.

use std::io::Read;

/// Bytes with which a record begins.
pub const RECORD_MAGIC: [u8; 16] = *b"slantpath record";
/// Length of a record's header.
pub const HEADER_LEN: usize = 24;
/// Version of the container that is written and read.
const VERSION: u8 = 1;
/// Most content that a block holds.
const BLOCK_MAX: usize = 1 << 20;
/// Bytes of a block in front of its content.
const BLOCK_HEAD_LEN: usize = 8;
/// Bytes of a block behind its content.
const CHECK_LEN: usize = 4;

/// Kind of run that a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// Network of a scenario with attached nodes, in real time.
    Emulated,
    /// A host on real sockets.
    Live,
}

impl RecordKind {
    const fn number(self) -> u8 {
        match self {
            Self::Live => 0,
            Self::Emulated => 1,
        }
    }
}

/// Why a file is not read as a record, or no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Bytes that do not begin as a record does.
    #[error("not a record: it does not begin with `slantpath record`")]
    NotARecord,
    /// Header whose checksum does not match.
    #[error("the header of the record has been changed")]
    DamagedHeader,
    /// Version of the container that is not known.
    #[error("the record is of version {0}, this program reads version 1")]
    UnknownVersion(u8),
    /// Kind of run that is not known.
    #[error("there are no records of kind {0}: 0 is a live run, 1 an emulation")]
    UnknownKind(u8),
    /// Block whose checksum does not match.
    #[error("the record has been changed in its block {number}, which begins at byte {at}")]
    Damaged {
        /// Number of the block, counted from 0.
        number: u64,
        /// Place of its first byte in the file.
        at: u64,
    },
    /// The file cannot be read.
    #[error("the record cannot be read: {0}")]
    Unreadable(String),
}

/// Writes a record.
#[derive(Clone, Debug)]
pub struct RecordWriter {
    number: u64,
}

impl RecordWriter {
    /// Begins a record: puts its header into `file`.
    pub fn begin(kind: RecordKind, file: &mut Vec<u8>) -> Self {
        let start = file.len();
        file.extend_from_slice(&RECORD_MAGIC);
        file.extend_from_slice(&[VERSION, kind.number(), 0, 0]);
        let check = crc32c::crc32c(&file[start..]);
        file.extend_from_slice(&check.to_be_bytes());
        Self { number: 0 }
    }

    /// Appends content to `file`: as one block, or as several if there is much. Nothing if there is none.
    pub fn write(&mut self, content: &[u8], file: &mut Vec<u8>) {
        for part in content.chunks(BLOCK_MAX) {
            let len = u32::try_from(part.len()).expect("a block is shorter than 4 GiB").to_be_bytes();
            file.extend_from_slice(&len);
            file.extend_from_slice(&check(self.number, &len));
            file.extend_from_slice(part);
            file.extend_from_slice(&check(self.number, part));
            self.number += 1;
        }
    }
}

fn check(number: u64, bytes: &[u8]) -> [u8; CHECK_LEN] {
    crc32c::crc32c_append(crc32c::crc32c(&number.to_be_bytes()), bytes).to_be_bytes()
}

/// Outcome of reading the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPart {
    /// A whole block was read.
    Block,
    /// The file ends within a block.
    Cut,
    /// The file ends behind a block.
    End,
}

/// Reads a record block by block.
#[derive(Debug)]
pub struct RecordReader<R> {
    source: R,
    kind: RecordKind,
    number: u64,
    at: u64,
}

impl<R: Read> RecordReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is not that of a record, or cannot be read.
    pub fn open(mut source: R) -> Result<Self, RecordError> {
        let mut header = Vec::with_capacity(HEADER_LEN);
        read_most(&mut source, HEADER_LEN, &mut header)?;
        let (known, found) = header
            .split_last_chunk::<CHECK_LEN>()
            .filter(|(known, _)| known.len() == HEADER_LEN - CHECK_LEN && known.starts_with(&RECORD_MAGIC))
            .ok_or(RecordError::NotARecord)?;
        if crc32c::crc32c(known).to_be_bytes() != *found {
            return Err(RecordError::DamagedHeader);
        }
        if known[16] != VERSION {
            return Err(RecordError::UnknownVersion(known[16]));
        }
        let kind = match known[17] {
            0 => RecordKind::Live,
            1 => RecordKind::Emulated,
            unknown => return Err(RecordError::UnknownKind(unknown)),
        };
        Ok(Self { source, kind, number: 0, at: HEADER_LEN as u64 })
    }

    /// Kind of run that it is of.
    pub const fn kind(&self) -> RecordKind {
        self.kind
    }

    /// Appends the content of the next block to `content`, if there is a whole one.
    ///
    /// # Errors
    /// If the block has been changed, or the file cannot be read.
    pub fn read(&mut self, content: &mut Vec<u8>) -> Result<RecordPart, RecordError> {
        let damaged = RecordError::Damaged { number: self.number, at: self.at };
        let mut head = Vec::with_capacity(BLOCK_HEAD_LEN);
        read_most(&mut self.source, BLOCK_HEAD_LEN, &mut head)?;
        let Some((len, found)) = head.first_chunk::<4>().zip(head.get(4..BLOCK_HEAD_LEN)) else {
            return Ok(if head.is_empty() { RecordPart::End } else { RecordPart::Cut });
        };
        let count = u32::from_be_bytes(*len) as usize;
        if check(self.number, len) != *found || count > BLOCK_MAX {
            return Err(damaged);
        }
        let start = content.len();
        read_most(&mut self.source, count + CHECK_LEN, content)?;
        if content.len() - start < count + CHECK_LEN {
            content.truncate(start);
            return Ok(RecordPart::Cut);
        }
        let is_whole = check(self.number, &content[start..start + count]) == content[start + count..];
        content.truncate(if is_whole { start + count } else { start });
        if !is_whole {
            return Err(damaged);
        }
        self.number += 1;
        self.at += (BLOCK_HEAD_LEN + count + CHECK_LEN) as u64;
        Ok(RecordPart::Block)
    }
}

/// Appends so many bytes, or fewer if there are no more.
fn read_most(source: &mut impl Read, count: usize, bytes: &mut Vec<u8>) -> Result<(), RecordError> {
    let read = source.by_ref().take(count as u64).read_to_end(bytes);
    read.map(|_| ()).map_err(|error| RecordError::Unreadable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Content of a whole file, and how it ends.
    fn read(file: &[u8]) -> Result<(RecordKind, Vec<u8>, RecordPart), RecordError> {
        let mut reader = RecordReader::open(file)?;
        let mut content = Vec::new();
        loop {
            match reader.read(&mut content)? {
                RecordPart::Block => {}
                end => return Ok((reader.kind(), content, end)),
            }
        }
    }

    fn written(kind: RecordKind, parts: &[Vec<u8>]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = RecordWriter::begin(kind, &mut file);
        for part in parts {
            writer.write(part, &mut file);
        }
        file
    }

    fn parts() -> impl Strategy<Value = Vec<Vec<u8>>> {
        proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(parts in parts(), is_live: bool) {
            let kind = if is_live { RecordKind::Live } else { RecordKind::Emulated };
            prop_assert_eq!(read(&written(kind, &parts)), Ok((kind, parts.concat(), RecordPart::End)));
        }

        #[test]
        fn a_record_that_is_cut_gives_its_whole_blocks(parts in parts()) {
            let file = written(RecordKind::Live, &parts);
            // At the end of a block nothing shows that there were more.
            let ends: Vec<usize> =
                (0..=parts.len()).map(|count| written(RecordKind::Live, &parts[..count]).len()).collect();
            for len in HEADER_LEN..=file.len() {
                let (_, content, end) = read(&file[..len]).unwrap();
                let whole = ends.iter().rposition(|end| *end <= len).unwrap();
                prop_assert_eq!(content, parts[..whole].concat());
                prop_assert_eq!(end == RecordPart::End, ends.contains(&len));
            }
            for len in 0..HEADER_LEN {
                prop_assert_eq!(read(&file[..len]), Err(RecordError::NotARecord));
            }
        }

        #[test]
        fn a_changed_byte_is_found(parts in parts(), place: prop::sample::Index, change in 1_u8..) {
            let mut file = written(RecordKind::Emulated, &parts);
            let place = place.index(file.len());
            file[place] ^= change;
            prop_assert!(read(&file).is_err(), "byte {}", place);
        }

        #[test]
        fn any_bytes_behind_a_header_give_content_or_an_error(bytes: Vec<u8>) {
            let mut file = written(RecordKind::Live, &[]);
            file.extend(bytes);
            let _ = read(&file);
        }
    }

    #[test]
    fn a_block_that_is_missing_or_too_long_is_found_and_much_content_is_split() {
        let parts = [vec![1; 5], vec![2; 5], vec![3; 5]];
        let file = written(RecordKind::Live, &parts);
        let block = BLOCK_HEAD_LEN + 5 + CHECK_LEN;
        let shortened = [&file[..HEADER_LEN], &file[HEADER_LEN + block..]].concat();
        let at = HEADER_LEN as u64;
        assert_eq!(read(&shortened), Err(RecordError::Damaged { number: 0, at }));
        let much = vec![7; BLOCK_MAX + 1];
        let split = written(RecordKind::Live, std::slice::from_ref(&much));
        assert_eq!(split.len(), HEADER_LEN + 2 * (BLOCK_HEAD_LEN + CHECK_LEN) + BLOCK_MAX + 1);
        assert_eq!(read(&split).unwrap().1, much);
        let len = u32::try_from(BLOCK_MAX + 1).unwrap().to_be_bytes();
        let long =
            [&written(RecordKind::Live, &[])[..], &len, &check(0, &len), &much, &check(0, &much)].concat();
        assert_eq!(read(&long), Err(RecordError::Damaged { number: 0, at }));
    }

    #[test]
    fn another_version_or_kind_is_refused() {
        let of = |version, kind| {
            let mut file = [&RECORD_MAGIC[..], &[version, kind, 0, 0]].concat();
            file.extend(crc32c::crc32c(&file).to_be_bytes());
            read(&file).map(|(kind, ..)| kind)
        };
        assert_eq!(of(1, 0), Ok(RecordKind::Live));
        assert_eq!(of(1, 1), Ok(RecordKind::Emulated));
        assert_eq!(of(2, 0), Err(RecordError::UnknownVersion(2)));
        assert_eq!(of(1, 2), Err(RecordError::UnknownKind(2)));
    }
}
