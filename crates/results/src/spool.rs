//! Many streams in one file: written as they come, interleaved, and read stream by stream.
//!
//! A stream is a chain of blocks, each of which names the place of the next, so that a spool keeps two numbers a
//! stream in memory, however much is written. Behind the blocks stands a head: a few bytes of the user's own and the
//! places where the streams begin, with a checksum. A spool takes its name when it is whole; an unfinished one
//! leaves nothing.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::sink::{PartialFile, about};

const MAGIC: &[u8; 8] = b"slntspl1";

/// Bytes in front of a block: where the next one stands, and how many bytes this one has.
const BLOCK_HEADER: u64 = 16;

/// No block: the magic stands there.
const NOWHERE: u64 = 0;

/// A file of streams that is being written.
#[derive(Debug)]
pub struct Spool {
    partial: PartialFile,
    path: PathBuf,
    streams: Vec<Chain>,
    end: u64,
}

/// The first and the last block of a stream.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    first: u64,
    last: u64,
}

/// A file of streams that is whole. It is opened for each block that is read: a thousand runs of a command have a spool
/// each, and a process may not have as many files open.
#[derive(Debug)]
pub struct SpoolFile {
    path: PathBuf,
    first: Vec<u64>,
    head: Vec<u8>,
}

/// A block of a stream, not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpoolBlock {
    next: u64,
    at: u64,
    len: u64,
}

impl Spool {
    /// A spool of so many streams that will be called `path`. Directories on the way are created.
    pub fn create(path: &Path, streams: usize) -> io::Result<Self> {
        let partial = PartialFile::create(path)?;
        let mut spool =
            Self { partial, path: path.to_owned(), streams: vec![Chain::default(); streams], end: 0 };
        spool.write(MAGIC)?;
        spool.end = MAGIC.len() as u64;
        Ok(spool)
    }

    /// Adds a block to a stream.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn append(&mut self, stream: usize, block: &[u8]) -> io::Result<()> {
        let place = self.end;
        self.seek(place)?;
        let header = [NOWHERE.to_le_bytes(), (block.len() as u64).to_le_bytes()].concat();
        self.write(&header)?;
        self.write(block)?;
        self.end += BLOCK_HEADER + block.len() as u64;
        let chain = self.streams[stream];
        if chain.first == NOWHERE {
            self.streams[stream].first = place;
        } else {
            self.seek(chain.last)?;
            self.write(&place.to_le_bytes())?;
        }
        self.streams[stream].last = place;
        Ok(())
    }

    /// Reads what a stream has so far, block by block.
    pub fn read_back(&self, stream: usize, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut place = self.streams[stream].first;
        while let Some(block) = block_at(&self.partial.file, &self.path, place)? {
            each(&read(&self.partial.file, &self.path, block.at, block.len)?)?;
            place = block.next;
        }
        Ok(())
    }

    /// Writes the head, has everything on the disk, and takes the name.
    pub fn finish(mut self, head: &[u8]) -> io::Result<SpoolFile> {
        let mut directory = Vec::new();
        directory.extend_from_slice(&(self.streams.len() as u64).to_le_bytes());
        for chain in &self.streams {
            directory.extend_from_slice(&chain.first.to_le_bytes());
        }
        directory.extend_from_slice(head);
        let mut trailer = checksum(&directory).to_le_bytes().to_vec();
        trailer.extend_from_slice(&(directory.len() as u64).to_le_bytes());
        trailer.extend_from_slice(MAGIC);
        self.seek(self.end)?;
        self.write(&directory)?;
        self.write(&trailer)?;
        self.partial.take_name()?;
        let first = self.streams.iter().map(|chain| chain.first).collect();
        Ok(SpoolFile { path: self.path, first, head: head.to_vec() })
    }

    fn seek(&mut self, place: u64) -> io::Result<()> {
        self.partial.file.seek(SeekFrom::Start(place)).map_err(|error| about(&self.path, &error))?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.partial.file.write_all(bytes).map_err(|error| about(&self.path, &error))
    }
}

impl SpoolFile {
    /// Opens a spool. Nothing if there is none, or none that is whole.
    pub fn open(path: &Path) -> Option<Self> {
        const TRAILER: u64 = 24;
        let file = File::open(path).ok()?;
        let end = (&file).seek(SeekFrom::End(0)).ok()?;
        let trailer = read(&file, path, end.checked_sub(TRAILER)?, TRAILER).ok()?;
        let (sum, trailer) = trailer.split_first_chunk::<8>()?;
        let (len, magic) = trailer.split_first_chunk::<8>()?;
        let len = u64::from_le_bytes(*len);
        if magic != MAGIC || read(&file, path, 0, MAGIC.len() as u64).ok()? != MAGIC {
            return None;
        }
        let directory = read(&file, path, (end - TRAILER).checked_sub(len)?, len).ok()?;
        if checksum(&directory) != u64::from_le_bytes(*sum) {
            return None;
        }
        let (streams, rest) = directory.split_first_chunk::<8>()?;
        let places = usize::try_from(u64::from_le_bytes(*streams)).ok()?.checked_mul(8)?;
        let (places, head) = rest.split_at_checked(places)?;
        let first = places.as_chunks::<8>().0.iter().map(|place| u64::from_le_bytes(*place)).collect();
        Some(Self { head: head.to_vec(), first, path: path.to_owned() })
    }

    /// The user's own bytes.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Number of streams.
    pub fn streams(&self) -> usize {
        self.first.len()
    }

    /// The first block of a stream, if it has any.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn first(&self, stream: usize) -> io::Result<Option<SpoolBlock>> {
        self.block_at(self.first[stream])
    }

    /// The block behind another.
    pub fn next(&self, block: &SpoolBlock) -> io::Result<Option<SpoolBlock>> {
        self.block_at(block.next)
    }

    /// The bytes of a block.
    pub fn read(&self, block: &SpoolBlock) -> io::Result<Vec<u8>> {
        self.read_part(block, 0, block.len)
    }

    /// Some of the bytes of a block.
    pub(crate) fn read_part(&self, block: &SpoolBlock, from: u64, len: u64) -> io::Result<Vec<u8>> {
        if from.checked_add(len).is_none_or(|end| end > block.len) {
            return Err(self.damaged());
        }
        read(&self.file()?, &self.path, block.at + from, len)
    }

    fn block_at(&self, place: u64) -> io::Result<Option<SpoolBlock>> {
        if place == NOWHERE { Ok(None) } else { block_at(&self.file()?, &self.path, place) }
    }

    fn file(&self) -> io::Result<File> {
        File::open(&self.path).map_err(|error| about(&self.path, &error))
    }

    pub(crate) fn damaged(&self) -> io::Error {
        damaged(&self.path)
    }
}

fn damaged(path: &Path) -> io::Error {
    about(path, &io::Error::new(io::ErrorKind::InvalidData, "the file is damaged"))
}

fn block_at(file: &File, path: &Path, place: u64) -> io::Result<Option<SpoolBlock>> {
    if place == NOWHERE {
        return Ok(None);
    }
    let header = read(file, path, place, BLOCK_HEADER)?;
    let (numbers, _) = header.as_chunks::<8>();
    let [next, len] = [numbers[0], numbers[1]].map(u64::from_le_bytes);
    // Blocks stand in the order in which they were written: a chain that leads back would never end.
    if next != NOWHERE && next <= place {
        return Err(damaged(path));
    }
    Ok(Some(SpoolBlock { next, at: place + BLOCK_HEADER, len }))
}

fn read(mut file: &File, path: &Path, at: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut read = || {
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        // A length that the file does not have costs no memory.
        file.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error: io::Error| about(path, &error))?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(damaged(path)) }
}

/// FNV-1a: tells a torn head from a whole one.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!("slantpath-spool-{test}-{}/a.run", std::process::id()))
    }

    fn remove(path: &Path) {
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    fn stream(file: &SpoolFile, stream: usize) -> Vec<Vec<u8>> {
        let mut blocks = Vec::new();
        let mut next = file.first(stream).unwrap();
        while let Some(block) = next {
            blocks.push(file.read(&block).unwrap());
            next = file.next(&block).unwrap();
        }
        blocks
    }

    proptest! {
        #[test]
        fn each_stream_is_read_as_it_was_written(
            blocks in proptest::collection::vec((0_usize..4, proptest::collection::vec(any::<u8>(), 0..20)), 0..30),
            head: Vec<u8>,
        ) {
            let path = path("streams");
            let mut spool = Spool::create(&path, 4).unwrap();
            for (stream, block) in &blocks {
                spool.append(*stream, block).unwrap();
            }
            let of = |wanted| {
                let own = blocks.iter().filter(move |(stream, _)| *stream == wanted);
                own.map(|(_, block)| block.clone()).collect::<Vec<_>>()
            };
            for number in 0..4 {
                let mut read = Vec::new();
                spool.read_back(number, |block| { read.push(block.to_vec()); Ok(()) }).unwrap();
                prop_assert_eq!(read, of(number));
            }
            let finished = spool.finish(&head).unwrap();
            let opened = SpoolFile::open(&path).unwrap();
            for file in [finished, opened] {
                prop_assert_eq!(file.head(), &head[..]);
                prop_assert_eq!(file.streams(), 4);
                for number in 0..4 {
                    prop_assert_eq!(stream(&file, number), of(number));
                }
            }
            remove(&path);
        }
    }

    #[test]
    fn a_spool_that_is_never_finished_leaves_nothing() {
        let path = path("unfinished");
        let mut spool = Spool::create(&path, 1).unwrap();
        spool.append(0, b"rows").unwrap();
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        drop(spool);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        remove(&path);
    }

    #[test]
    fn a_torn_file_is_none_and_a_chain_that_leads_back_is_an_error() {
        let path = path("torn");
        let mut spool = Spool::create(&path, 1).unwrap();
        spool.append(0, b"one").unwrap();
        spool.append(0, b"two").unwrap();
        spool.finish(b"head").unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 7, 30, whole.len() - 25, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(SpoolFile::open(&path).is_none(), "cut at {cut}");
        }
        let mut looped = whole;
        let second = MAGIC.len() + 16 + 3;
        looped[second..second + 8].copy_from_slice(&(MAGIC.len() as u64).to_le_bytes());
        std::fs::write(&path, &looped).unwrap();
        let file = SpoolFile::open(&path).unwrap();
        let first = file.first(0).unwrap().unwrap();
        let error = file.next(&first).unwrap_err();
        assert!(error.to_string().ends_with("a.run: the file is damaged"), "{error}");
        remove(&path);
    }
}
