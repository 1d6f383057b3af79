//! Record of all that a live host was told, and its replay in virtual time.
//!
//! A record has the secret from which the run drew its chance, every packet, and the instant of every call. A host that
//! is set up alike and told the same sends the same at the same instants: [`Replay`] proves it by a [`Digest`]. Whoever
//! has the record can foretell what the run's cookies were signed with; it is not for others while the run lasts.
//!
//! The file is a record of `slantpath_wire`. Its content is the secret, and then entries. Files of older versions have
//! no container, and are read as well.

use std::io::{self, Read};
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Instant, RunDigest};
use slantpath_interface::{AddressNews, EndSystem, InterfaceId};
use slantpath_wire::record::{RECORD_MAGIC, RecordError, RecordKind, RecordPart, RecordReader, RecordWriter};
use slantpath_wire::{Checksum, Packet, Reader, WireError};

/// Bytes with which a record without a container begins: those of versions that had none.
const MAGIC: [u8; 16] = *b"slantpath live 1";

/// Length of the secret that stands in front of the entries.
const SECRET_LEN: usize = 32;

/// The kinds of entries.
mod kind {
    pub(super) const START: u8 = 0;
    pub(super) const PACKET: u8 = 1;
    pub(super) const DEADLINE: u8 = 2;
    pub(super) const COMMAND: u8 = 3;
    pub(super) const ABOUT: u8 = 4;
    pub(super) const DIGEST: u8 = 5;
    pub(super) const ADDRESS: u8 = 6;
    pub(super) const ROUTES: u8 = 7;
    pub(super) const ORDER: u8 = 8;
    pub(super) const TOLD: u8 = 9;
}

/// Kinds of changes of an own address.
mod news {
    pub(super) const BACK: u8 = 0;
    pub(super) const ADDED: u8 = 1;
    pub(super) const REMOVED: u8 = 2;
    pub(super) const DOWN: u8 = 3;
}

/// A digest of all that a host has sent, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    run: RunDigest,
    packets: u64,
}

impl Digest {
    /// Takes in a packet, from its IP header on.
    pub fn transmitted(&mut self, now: Instant, interface: InterfaceId, packet: &Packet) {
        // FNV-1a, 64 bits, over the bytes as they lie.
        let parts = [packet.head(), packet.tail(), &[0; 3][..usize::from(packet.padding())]];
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for octets in parts.iter().flat_map(|part| part.chunks(8)) {
            let mut word = [0; 8];
            word[..octets.len()].copy_from_slice(octets);
            hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        }
        self.run.record(now, interface.index(), hash);
        self.packets += 1;
    }

    /// Number of packets that were taken in.
    pub const fn packets(&self) -> u64 {
        self.packets
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} packets", self.run, self.packets)
    }
}

/// Writes a record.
#[derive(Clone, Debug)]
pub struct Recorder {
    writer: RecordWriter,
    /// Parts of the file that nobody has taken.
    file: Vec<u8>,
    /// Content that is in none of them.
    bytes: Vec<u8>,
}

impl Recorder {
    /// A record of a run that draws its chance from this secret.
    pub fn new(secret: [u8; 32]) -> Self {
        let mut file = Vec::new();
        Self { writer: RecordWriter::begin(RecordKind::Live, &mut file), file, bytes: secret.to_vec() }
    }

    /// Writes down a description of the run, in words that whoever repeats it understands. It stands in front of
    /// everything else.
    pub fn about(&mut self, words: &str) {
        self.entry(kind::ABOUT, Instant::START);
        self.words(words);
    }

    /// The run is over: what it has sent comes to this digest.
    pub fn digest(&mut self, now: Instant, digest: &Digest) {
        self.entry(kind::DIGEST, now);
        self.words(&digest.to_string());
    }

    fn words(&mut self, words: &str) {
        let len = u32::try_from(words.len()).expect("words are shorter than 4 GiB");
        self.bytes.extend_from_slice(&len.to_be_bytes());
        self.bytes.extend_from_slice(words.as_bytes());
    }

    fn entry(&mut self, kind: u8, now: Instant) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(&now.as_nanos().to_be_bytes());
    }

    /// The host is drained for the first time.
    pub fn start(&mut self, now: Instant) {
        self.entry(kind::START, now);
    }

    /// A packet has come.
    ///
    /// # Panics
    /// If it is longer than 4 GiB.
    pub fn packet(&mut self, now: Instant, interface: InterfaceId, octets: &[u8]) {
        self.entry(kind::PACKET, now);
        self.bytes.extend_from_slice(&interface.number().to_be_bytes());
        let len = u32::try_from(octets.len()).expect("a packet is shorter than 4 GiB");
        self.bytes.extend_from_slice(&len.to_be_bytes());
        self.bytes.extend_from_slice(octets);
    }

    /// A deadline is served.
    pub fn deadline(&mut self, now: Instant) {
        self.entry(kind::DEADLINE, now);
    }

    /// A command is given, which whoever repeats the run knows by its number.
    pub fn command(&mut self, now: Instant, number: u8) {
        self.entry(kind::COMMAND, now);
        self.bytes.push(number);
    }

    /// A command is given that has words beside its number.
    pub fn order(&mut self, now: Instant, number: u8, words: &str) {
        self.entry(kind::ORDER, now);
        self.bytes.push(number);
        self.words(words);
    }

    /// The host's program was told something in a command, which are these bytes.
    ///
    /// # Panics
    /// If they are more than 4 GiB.
    pub fn told(&mut self, now: Instant, number: u8, told: &[u8]) {
        self.entry(kind::TOLD, now);
        self.bytes.push(number);
        let len = u32::try_from(told.len()).expect("what is told at a time is shorter than 4 GiB");
        self.bytes.extend_from_slice(&len.to_be_bytes());
        self.bytes.extend_from_slice(told);
    }

    /// Something has become of an own address.
    pub fn address(&mut self, now: Instant, news: AddressNews) {
        self.entry(kind::ADDRESS, now);
        match news {
            AddressNews::Added(address, interface) => {
                self.bytes.push(news::ADDED);
                self.bytes.extend_from_slice(&interface.number().to_be_bytes());
                self.ip(address);
            }
            AddressNews::Down(address) => {
                self.bytes.push(news::DOWN);
                self.ip(address);
            }
            AddressNews::Back(address) => {
                self.bytes.push(news::BACK);
                self.ip(address);
            }
            AddressNews::Removed(address) => {
                self.bytes.push(news::REMOVED);
                self.ip(address);
            }
        }
    }

    /// A question about routes is answered.
    ///
    /// # Panics
    /// If there are 2^32 addresses.
    pub fn routes(&mut self, now: Instant, sources: &[Vec<IpAddr>]) {
        self.entry(kind::ROUTES, now);
        self.count(sources.len());
        for sources in sources {
            self.count(sources.len());
            for &address in sources {
                self.ip(address);
            }
        }
    }

    fn count(&mut self, count: usize) {
        let count = u32::try_from(count).expect("a host has few addresses");
        self.bytes.extend_from_slice(&count.to_be_bytes());
    }

    fn ip(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(v4) => {
                self.bytes.push(4);
                self.bytes.extend_from_slice(&v4.octets());
            }
            IpAddr::V6(v6) => {
                self.bytes.push(6);
                self.bytes.extend_from_slice(&v6.octets());
            }
        }
    }

    /// Takes what has been written since this was last asked: the next part of the file.
    pub fn take(&mut self) -> Vec<u8> {
        self.writer.write(&self.bytes, &mut self.file);
        self.bytes.clear();
        std::mem::take(&mut self.file)
    }
}

/// Why a record cannot be repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// Bytes that do not begin as a record of a live run does.
    #[error("not a record of a live run")]
    NotARecord,
    /// Container that cannot be read, or has been changed.
    #[error(transparent)]
    Container(#[from] RecordError),
    /// Record that ends in the middle of an entry: [`Replayed::is_cut`] tells it of one that is repeated.
    #[error("the record is cut off: {0}")]
    CutOff(#[from] WireError),
    /// An entry is of no kind that there is.
    #[error("there is no entry of kind {0}")]
    UnknownEntry(u8),
    /// Change of an address of a kind that does not exist, or an address of no IP version.
    #[error("there is no news of an address of kind {0}, nor IP of that version")]
    UnknownNews(u8),
    /// Time goes back.
    #[error("an entry of {at} stands behind one of {before}")]
    Disordered {
        /// The entry's instant.
        at: Instant,
        /// Instant of the entry before it.
        before: Instant,
    },
}

/// Whom an entry was for.
enum Told {
    Host,
    Nobody,
}

/// A record that is told to a host.
#[derive(Clone, Debug)]
pub struct Replay {
    entries: Vec<u8>,
    secret: [u8; SECRET_LEN],
    /// True if the container ends within a block.
    is_cut: bool,
}

impl Replay {
    /// Reads a record that is in memory, as far as it goes.
    ///
    /// # Errors
    /// If it is no record of a live run, or has been changed.
    pub fn new(record: &[u8]) -> Result<Self, ReplayError> {
        Self::read(record)
    }

    /// Reads a record from its file, as far as it goes. Of that no more is kept than what the host is told: the file of
    /// an hour is long.
    ///
    /// # Errors
    /// If it is no record of a live run, has been changed, or cannot be read.
    pub fn read(mut source: impl Read) -> Result<Self, ReplayError> {
        let unreadable = |error: io::Error| RecordError::Unreadable(error.to_string());
        let mut magic = Vec::with_capacity(RECORD_MAGIC.len());
        source.by_ref().take(RECORD_MAGIC.len() as u64).read_to_end(&mut magic).map_err(unreadable)?;
        let (mut entries, is_cut) = if magic == RECORD_MAGIC {
            content(magic.as_slice().chain(source))?
        } else if magic == MAGIC {
            let mut content = Vec::new();
            source.read_to_end(&mut content).map_err(unreadable)?;
            (content, false)
        } else {
            return Err(ReplayError::NotARecord);
        };
        let secret = *entries.first_chunk().ok_or(ReplayError::NotARecord)?;
        entries.drain(..SECRET_LEN);
        Ok(Self { entries, secret, is_cut })
    }

    /// The secret that the run drew its chance from.
    pub const fn secret(&self) -> [u8; SECRET_LEN] {
        self.secret
    }

    /// Description of the run, if the record has one.
    pub fn about(&self) -> Option<String> {
        let mut reader = Reader::new(&self.entries);
        if reader.u8().ok()? != kind::ABOUT {
            return None;
        }
        reader.u64().ok()?;
        words(&mut reader).ok()
    }

    /// Tells a host, which has been set up as the one of the run, all that is in the record, and gives the digest of
    /// what it has sent. `command` does what a command's number stands for, with its words or bytes if it has any.
    pub fn run<H: EndSystem>(
        self,
        host: &mut H,
        command: impl FnMut(&mut H, Instant, u8, &[u8]),
    ) -> Result<Digest, ReplayError> {
        self.run_watched(host, command, |_, _| {}).map(|replayed| replayed.digest)
    }

    /// Variant of [`Replay::run`] in which `watch` looks at the host behind every entry, when it has sent what it had
    /// to.
    pub fn run_watched<H: EndSystem>(
        self,
        host: &mut H,
        mut command: impl FnMut(&mut H, Instant, u8, &[u8]),
        mut watch: impl FnMut(&mut H, Instant),
    ) -> Result<Replayed, ReplayError> {
        let mut replayed =
            Replayed { digest: Digest::default(), recorded: None, until: Instant::START, is_cut: false };
        let mut telling = Telling { reader: Reader::new(&self.entries) };
        host.ask_for_routes();
        while !telling.reader.is_empty() && !replayed.is_cut {
            match telling.tell(host, &mut command, &mut replayed) {
                Ok(Told::Host) => watch(host, replayed.until),
                Ok(Told::Nobody) => {}
                Err(ReplayError::CutOff(_)) => replayed.is_cut = true,
                Err(error) => return Err(error),
            }
        }
        replayed.is_cut |= self.is_cut;
        Ok(replayed)
    }
}

/// The content of a record, and whether it is cut.
fn content(record: impl Read) -> Result<(Vec<u8>, bool), ReplayError> {
    let mut reader = RecordReader::open(record)?;
    if reader.kind() != RecordKind::Live {
        return Err(ReplayError::NotARecord);
    }
    let mut content = Vec::new();
    loop {
        match reader.read(&mut content)? {
            RecordPart::Block => {}
            RecordPart::Cut => return Ok((content, true)),
            RecordPart::End => return Ok((content, false)),
        }
    }
}

/// Entries on their way to a host.
struct Telling<'a> {
    reader: Reader<'a>,
}

impl Telling<'_> {
    /// Tells the host what the next entry has, and takes in what it sends.
    fn tell<H: EndSystem>(
        &mut self,
        host: &mut H,
        command: &mut impl FnMut(&mut H, Instant, u8, &[u8]),
        replayed: &mut Replayed,
    ) -> Result<Told, ReplayError> {
        let kind = self.reader.u8()?;
        let (at, before) = (Instant::from_nanos(self.reader.u64()?), replayed.until);
        if at < before {
            return Err(ReplayError::Disordered { at, before });
        }
        match kind {
            kind::START => {}
            kind::PACKET => {
                let interface = InterfaceId::new(self.reader.u32()?);
                let len = self.reader.u32()? as usize;
                let octets = Bytes::copy_from_slice(self.reader.take(len)?);
                host.handle_packet(at, interface, &mut Packet::shared(octets, Checksum::Complete));
                // As who learned from it asked.
                host.verified_peer_tag();
            }
            kind::ADDRESS => {
                let news = news(&mut self.reader)?;
                host.handle_address(at, news);
            }
            kind::DEADLINE => host.handle_deadline(at),
            kind::COMMAND => {
                let number = self.reader.u8()?;
                command(host, at, number, &[]);
            }
            kind::ORDER | kind::TOLD => {
                let number = self.reader.u8()?;
                let len = self.reader.u32()? as usize;
                command(host, at, number, self.reader.take(len)?);
            }
            // The host was told nothing then, and not asked either.
            kind::ABOUT => {
                words(&mut self.reader)?;
                replayed.until = at;
                return Ok(Told::Nobody);
            }
            // Of a host that has not asked: it is not set up alike.
            kind::ROUTES => {
                routes(&mut self.reader)?;
                replayed.until = at;
                return Ok(Told::Nobody);
            }
            kind::DIGEST => {
                replayed.recorded = Some(words(&mut self.reader)?);
                replayed.until = at;
                return Ok(Told::Nobody);
            }
            unknown => return Err(ReplayError::UnknownEntry(unknown)),
        }
        replayed.until = at;
        let mut packet = Packet::default();
        loop {
            self.answer_routes(at, host)?;
            match host.poll_transmit(at, &mut packet) {
                Some(interface) => replayed.digest.transmitted(at, interface, &packet),
                None if host.route_question().is_some() => {}
                None => return Ok(Told::Host),
            }
        }
    }

    /// Answers what the host asks as it was answered then: behind what has made it ask. Records of a time when no host
    /// asked have no answers.
    fn answer_routes<H: EndSystem>(&mut self, at: Instant, host: &mut H) -> Result<(), ReplayError> {
        while host.route_question().is_some() {
            let mut reader = self.reader;
            let mut sources = Vec::new();
            if reader.u8().is_ok_and(|kind| kind == kind::ROUTES) {
                reader.u64()?;
                sources = routes(&mut reader)?;
                self.reader = reader;
            }
            host.answer_routes(at, &sources);
        }
        Ok(())
    }
}

/// A run that has been repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The digest of what the host has sent.
    pub digest: Digest,
    /// Digest of the live run, as the record has it; `None` if it ends before the run did.
    pub recorded: Option<String>,
    /// The instant of the last entry.
    pub until: Instant,
    /// True if the record ends in the middle of an entry, as that of a run whose machine failed. All before it was told
    /// to the host.
    pub is_cut: bool,
}

impl Replayed {
    /// Tells if it is known to be the run of the record.
    pub fn is_same(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| *recorded == self.digest.to_string())
    }
}

fn news(reader: &mut Reader<'_>) -> Result<AddressNews, ReplayError> {
    match reader.u8()? {
        news::ADDED => {
            let interface = InterfaceId::new(reader.u32()?);
            Ok(AddressNews::Added(ip(reader)?, interface))
        }
        news::DOWN => Ok(AddressNews::Down(ip(reader)?)),
        news::BACK => Ok(AddressNews::Back(ip(reader)?)),
        news::REMOVED => Ok(AddressNews::Removed(ip(reader)?)),
        unknown => Err(ReplayError::UnknownNews(unknown)),
    }
}

/// Counts are not believed before that many are there.
fn routes(reader: &mut Reader<'_>) -> Result<Vec<Vec<IpAddr>>, ReplayError> {
    let mut all = Vec::new();
    for _ in 0..reader.u32()? {
        let mut sources = Vec::new();
        for _ in 0..reader.u32()? {
            sources.push(ip(reader)?);
        }
        all.push(sources);
    }
    Ok(all)
}

fn ip(reader: &mut Reader<'_>) -> Result<IpAddr, ReplayError> {
    match reader.u8()? {
        4 => Ok(reader.array::<4>()?.into()),
        6 => Ok(reader.array::<16>()?.into()),
        unknown => Err(ReplayError::UnknownNews(unknown)),
    }
}

fn words(reader: &mut Reader<'_>) -> Result<String, WireError> {
    let len = reader.u32()? as usize;
    Ok(String::from_utf8_lossy(reader.take(len)?).into_owned())
}

#[cfg(test)]
mod tests;
