//! Entries of an emulation's record.
//!
//! All numbers are big-endian. The first entry describes the run. Then a stretch of the run is: what came and how links
//! were changed, what went while the network ran, and the instant up to which it ran. The last entry has the digest of
//! the run.

use std::io::Read;

use slantpath_base::Instant;
use slantpath_net::InjectError;
use slantpath_wire::ethernet::ETHERNET_HEADER_MAX;
use slantpath_wire::ip::IPV6_HEADER_LEN;
use slantpath_wire::record::{RecordError, RecordKind, RecordPart, RecordReader};
use slantpath_wire::{Reader, WireError};

use crate::run::AskedChange;

/// Kinds of entries.
mod kind {
    pub(super) const ABOUT: u8 = 0;
    pub(super) const ARRIVED: u8 = 1;
    pub(super) const DEPARTED: u8 = 2;
    pub(super) const RAN: u8 = 3;
    pub(super) const ENDED: u8 = 4;
    pub(super) const CHANGED: u8 = 5;
}

/// Longest packet: a frame's header with tags, an IPv6 header and as much as it can announce.
const PACKET_MAX: usize = ETHERNET_HEADER_MAX + IPV6_HEADER_LEN + 65_535;
/// Most keys of a change of links.
const KEYS_MAX: usize = 1_000;
/// Longest string: that of a scenario's file.
const STRING_MAX: usize = 256 << 20;

/// Description of an emulation, from its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedRun {
    /// Version of the program that has made it.
    pub version: String,
    /// Directory to which names of files in the scenario are relative.
    pub directory: String,
    /// Merged scenario, its seed in it.
    pub scenario: String,
    /// Interfaces of attached nodes, by the numbers of entries.
    pub interfaces: Vec<RecordedInterface>,
}

/// An interface of an attached node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedInterface {
    /// Name of its node.
    pub node: String,
    /// Name of its link.
    pub link: String,
}

/// A packet that went to an attached node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedDeparture {
    /// Instant at which it went.
    pub at: Instant,
    /// Number of its interface.
    pub place: u16,
    /// Length of the packet in bytes.
    pub len_bytes: u32,
    /// First eight bytes of the packet's BLAKE3.
    pub hash: u64,
}

impl RecordedDeparture {
    pub(super) fn of(at: Instant, place: u16, packet: &[u8]) -> Self {
        let len_bytes = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        Self { at, place, len_bytes, hash: hash_of(&[packet]) }
    }
}

/// First eight bytes of the BLAKE3 of parts one behind the other.
pub(super) fn hash_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let hash = hasher.finalize();
    u64::from_be_bytes(*hash.as_bytes().first_chunk().expect("it has 32 bytes"))
}

/// Why a record is not repeated, or no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayFault {
    /// Container that cannot be read, or has been changed.
    #[error(transparent)]
    Container(#[from] RecordError),
    /// File that is no record, or one of something else.
    #[error("not a record of an emulation")]
    NotEmulated,
    /// Record that is cut in its first entry.
    #[error("the record is cut before its run began: nothing in it can be repeated")]
    NoRun,
    /// Entry of no kind that there is, or the description of the run in another place than the first.
    #[error("entry {number} is of kind {kind}, where none of that kind is allowed")]
    UnknownEntry {
        /// Number of the entry, counted from 0.
        number: u64,
        /// Kind that it says.
        kind: u8,
    },
    /// String or packet that is longer than allowed.
    #[error("entry {number}: {found} bytes, at most {most} are allowed")]
    TooLong {
        /// Number of the entry, counted from 0.
        number: u64,
        /// Length that it says.
        found: usize,
        /// Greatest length that is allowed.
        most: usize,
    },
    /// String that is not UTF-8.
    #[error("entry {number}: a string is not UTF-8")]
    NotUtf8 {
        /// Number of the entry, counted from 0.
        number: u64,
    },
    /// Interface that the description of the run does not have.
    #[error("there is no interface {place}: the record has {interfaces}")]
    UnknownPlace {
        /// Number of the interface.
        place: u16,
        /// Number of interfaces.
        interfaces: usize,
    },
    /// Interface that the scenario does not have.
    #[error("the scenario has no attached node `{node}` at a link `{link}`, from which packets came")]
    UnknownInterface {
        /// Name of the node.
        node: String,
        /// Name of the link.
        link: String,
    },
    /// Time that goes back.
    #[error("an entry of {at} stands behind one of {before}")]
    Disordered {
        /// Instant of the entry.
        at: Instant,
        /// Instant before it.
        before: Instant,
    },
    /// Packet that the network does not take.
    #[error("a packet that came at {at} is not taken: {error}")]
    Refused {
        /// Instant of the packet.
        at: Instant,
        /// Reason for which it is not taken.
        error: InjectError,
    },
    /// Change of links that the network does not take.
    #[error("a change of links at {at} is not taken: {told}")]
    ChangeRefused {
        /// Instant of the change.
        at: Instant,
        /// Reason for which it is not taken.
        told: String,
    },
    /// Content behind the last entry.
    #[error("the record goes on behind its end")]
    BehindEnd,
}

/// Reads the record of an emulation without a run: gives the number of its entries behind the first, and whether it is
/// whole.
///
/// # Errors
/// If it is no such record, or has been changed.
pub fn read_whole_record<R: Read>(source: R) -> Result<(u64, bool), ReplayFault> {
    let mut entries = Entries::open(source)?;
    loop {
        let next = entries.next()?;
        if !matches!(next, Next::Entry(_)) {
            return Ok((entries.number - 1, matches!(next, Next::Ended { .. })));
        }
    }
}

/// An entry behind the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A packet came.
    Arrived { at: Instant, place: u16, packet: Vec<u8> },
    /// Links were changed.
    Changed { at: Instant, change: RecordedChange },
    /// A packet went.
    Departed(RecordedDeparture),
    /// The network ran up to this instant.
    Ran(Instant),
}

/// Change of links that somebody asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedChange {
    /// True if the pairs are the keys of one event, in place of settings.
    is_event: bool,
    pairs: Vec<(String, String)>,
}

impl RecordedChange {
    pub(super) fn of(asked: &AskedChange<'_>) -> Self {
        let (is_event, pairs) = match asked {
            AskedChange::Settings(pairs) => (false, pairs),
            AskedChange::Event(pairs) => (true, pairs),
        };
        Self { is_event, pairs: pairs.to_vec() }
    }

    pub(super) fn asked(&self) -> AskedChange<'_> {
        if self.is_event { AskedChange::Event(&self.pairs) } else { AskedChange::Settings(&self.pairs) }
    }
}

/// Outcome of reading the next entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Entry(Entry),
    /// The run is over: its digest.
    Ended {
        digest: String,
    },
    /// The record ends before the run did.
    Cut,
}

pub(super) fn about(run: &EmulatedRun, content: &mut Vec<u8>) {
    content.push(kind::ABOUT);
    for string in [&run.version, &run.directory, &run.scenario] {
        emit(string.as_bytes(), content);
    }
    let count = u16::try_from(run.interfaces.len()).expect("a place holds fewer interfaces");
    content.extend_from_slice(&count.to_be_bytes());
    for interface in &run.interfaces {
        emit(interface.node.as_bytes(), content);
        emit(interface.link.as_bytes(), content);
    }
}

pub(super) fn arrived(at: Instant, place: u16, packet: &[u8], content: &mut Vec<u8>) {
    content.push(kind::ARRIVED);
    content.extend_from_slice(&at.as_nanos().to_be_bytes());
    content.extend_from_slice(&place.to_be_bytes());
    emit(packet, content);
}

pub(super) fn changed(at: Instant, change: &RecordedChange, content: &mut Vec<u8>) {
    content.push(kind::CHANGED);
    content.extend_from_slice(&at.as_nanos().to_be_bytes());
    content.push(change.is_event.into());
    let pairs = &change.pairs[..change.pairs.len().min(KEYS_MAX)];
    content.extend_from_slice(&u16::try_from(pairs.len()).unwrap_or(u16::MAX).to_be_bytes());
    for (key, value) in pairs {
        emit(key.as_bytes(), content);
        emit(value.as_bytes(), content);
    }
}

pub(super) fn departed(departure: &RecordedDeparture, content: &mut Vec<u8>) {
    content.push(kind::DEPARTED);
    content.extend_from_slice(&departure.at.as_nanos().to_be_bytes());
    content.extend_from_slice(&departure.place.to_be_bytes());
    content.extend_from_slice(&departure.len_bytes.to_be_bytes());
    content.extend_from_slice(&departure.hash.to_be_bytes());
}

pub(super) fn ran(until: Instant, content: &mut Vec<u8>) {
    content.push(kind::RAN);
    content.extend_from_slice(&until.as_nanos().to_be_bytes());
}

pub(super) fn ended(digest: &str, content: &mut Vec<u8>) {
    content.push(kind::ENDED);
    emit(digest.as_bytes(), content);
}

fn emit(octets: &[u8], content: &mut Vec<u8>) {
    let len = u32::try_from(octets.len()).expect("a string is shorter than 4 GiB");
    content.extend_from_slice(&len.to_be_bytes());
    content.extend_from_slice(octets);
}

/// Why the next entry is not read: its bytes are not all there, or are wrong.
enum Unread {
    Incomplete,
    Wrong(ReplayFault),
}

impl From<WireError> for Unread {
    fn from(_: WireError) -> Self {
        Self::Incomplete
    }
}

/// Entries of a record, read one by one.
#[derive(Debug)]
pub(super) struct Entries<R> {
    source: RecordReader<R>,
    run: EmulatedRun,
    content: Vec<u8>,
    /// Bytes of the content that have been read.
    read: usize,
    number: u64,
}

impl<R: Read> Entries<R> {
    /// Opens a record, and reads the description of its run.
    pub(super) fn open(source: R) -> Result<Self, ReplayFault> {
        let source = match RecordReader::open(source) {
            Err(RecordError::NotARecord) => return Err(ReplayFault::NotEmulated),
            opened => opened?,
        };
        if source.kind() != RecordKind::Emulated {
            return Err(ReplayFault::NotEmulated);
        }
        let run = EmulatedRun {
            version: String::new(),
            directory: String::new(),
            scenario: String::new(),
            interfaces: Vec::new(),
        };
        let mut entries = Self { source, run, content: Vec::new(), read: 0, number: 0 };
        entries.run = entries.parsed(parse_run)?.ok_or(ReplayFault::NoRun)?;
        Ok(entries)
    }

    /// The run that it is of.
    pub(super) const fn run(&self) -> &EmulatedRun {
        &self.run
    }

    pub(super) fn next(&mut self) -> Result<Next, ReplayFault> {
        let interfaces = self.run.interfaces.len();
        let next = self.parsed(|reader, number| parse_next(reader, number, interfaces))?;
        let Some(next) = next else { return Ok(Next::Cut) };
        if let Next::Ended { .. } = next {
            let rest = self.source.read(&mut self.content)?;
            if rest != RecordPart::End || self.read < self.content.len() {
                return Err(ReplayFault::BehindEnd);
            }
        }
        Ok(next)
    }

    /// Value that stands next in the content; `None` if the record ends in it.
    fn parsed<T>(
        &mut self,
        parse: impl Fn(&mut Reader<'_>, u64) -> Result<T, Unread>,
    ) -> Result<Option<T>, ReplayFault> {
        loop {
            let mut reader = Reader::new(&self.content[self.read..]);
            match parse(&mut reader, self.number) {
                Ok(value) => {
                    self.read = self.content.len() - reader.left();
                    self.number += 1;
                    return Ok(Some(value));
                }
                Err(Unread::Wrong(fault)) => return Err(fault),
                Err(Unread::Incomplete) => {}
            }
            self.content.drain(..std::mem::take(&mut self.read));
            if self.source.read(&mut self.content)? != RecordPart::Block {
                return Ok(None);
            }
        }
    }
}

fn parse_run(reader: &mut Reader<'_>, number: u64) -> Result<EmulatedRun, Unread> {
    let found = reader.u8()?;
    if found != kind::ABOUT {
        return Err(Unread::Wrong(ReplayFault::UnknownEntry { number, kind: found }));
    }
    let mut string = || parse_string(reader, number);
    let [version, directory, scenario] = [string()?, string()?, string()?];
    let mut interfaces = Vec::new();
    for _ in 0..reader.u16()? {
        let node = parse_string(reader, number)?;
        interfaces.push(RecordedInterface { node, link: parse_string(reader, number)? });
    }
    Ok(EmulatedRun { version, directory, scenario, interfaces })
}

fn parse_next(reader: &mut Reader<'_>, number: u64, interfaces: usize) -> Result<Next, Unread> {
    let entry = match reader.u8()? {
        kind::ARRIVED => Entry::Arrived {
            at: Instant::from_nanos(reader.u64()?),
            place: parse_place(reader, interfaces)?,
            packet: parse_octets(reader, number, PACKET_MAX)?.to_vec(),
        },
        kind::DEPARTED => Entry::Departed(RecordedDeparture {
            at: Instant::from_nanos(reader.u64()?),
            place: parse_place(reader, interfaces)?,
            len_bytes: reader.u32()?,
            hash: reader.u64()?,
        }),
        kind::CHANGED => {
            Entry::Changed { at: Instant::from_nanos(reader.u64()?), change: parse_change(reader, number)? }
        }
        kind::RAN => Entry::Ran(Instant::from_nanos(reader.u64()?)),
        kind::ENDED => return Ok(Next::Ended { digest: parse_string(reader, number)? }),
        kind => return Err(Unread::Wrong(ReplayFault::UnknownEntry { number, kind })),
    };
    Ok(Next::Entry(entry))
}

fn parse_change(reader: &mut Reader<'_>, number: u64) -> Result<RecordedChange, Unread> {
    let is_event = match reader.u8()? {
        0 => false,
        1 => true,
        kind => return Err(Unread::Wrong(ReplayFault::UnknownEntry { number, kind })),
    };
    let found = usize::from(reader.u16()?);
    if found > KEYS_MAX {
        return Err(Unread::Wrong(ReplayFault::TooLong { number, found, most: KEYS_MAX }));
    }
    let mut pairs = Vec::new();
    for _ in 0..found {
        let key = parse_string(reader, number)?;
        pairs.push((key, parse_string(reader, number)?));
    }
    Ok(RecordedChange { is_event, pairs })
}

fn parse_place(reader: &mut Reader<'_>, interfaces: usize) -> Result<u16, Unread> {
    let place = reader.u16()?;
    if usize::from(place) < interfaces {
        return Ok(place);
    }
    Err(Unread::Wrong(ReplayFault::UnknownPlace { place, interfaces }))
}

fn parse_octets<'a>(reader: &mut Reader<'a>, number: u64, most: usize) -> Result<&'a [u8], Unread> {
    let found = reader.u32()? as usize;
    if found > most {
        return Err(Unread::Wrong(ReplayFault::TooLong { number, found, most }));
    }
    Ok(reader.take(found)?)
}

fn parse_string(reader: &mut Reader<'_>, number: u64) -> Result<String, Unread> {
    let octets = parse_octets(reader, number, STRING_MAX)?;
    String::from_utf8(octets.to_vec()).map_err(|_| Unread::Wrong(ReplayFault::NotUtf8 { number }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_wire::record::RecordWriter;

    use super::*;

    fn described() -> EmulatedRun {
        let of = |node: &str, link: &str| RecordedInterface { node: node.to_owned(), link: link.to_owned() };
        EmulatedRun {
            version: "1.2.3".to_owned(),
            directory: "labs".to_owned(),
            scenario: "[scenario]\nname = \"ü\"\n".to_owned(),
            interfaces: vec![of("far", "core"), of("near", "access")],
        }
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let instant = any::<u64>().prop_map(Instant::from_nanos);
        prop_oneof![
            (instant.clone(), 0..2_u16, proptest::collection::vec(any::<u8>(), 0..60))
                .prop_map(|(at, place, packet)| Entry::Arrived { at, place, packet }),
            (instant.clone(), 0..2_u16, any::<u32>(), any::<u64>()).prop_map(
                |(at, place, len_bytes, hash)| Entry::Departed(RecordedDeparture {
                    at,
                    place,
                    len_bytes,
                    hash
                })
            ),
            (instant.clone(), any::<bool>(), proptest::collection::vec(("[a-z.]{0,9}", "[ -~]{0,9}"), 0..4))
                .prop_map(|(at, is_event, pairs)| Entry::Changed {
                    at,
                    change: RecordedChange { is_event, pairs }
                }),
            instant.prop_map(Entry::Ran),
        ]
    }

    /// A record whose blocks have so many bytes of content.
    fn record(content: &[u8], block: usize) -> Vec<u8> {
        let mut file = Vec::new();
        let mut writer = RecordWriter::begin(RecordKind::Emulated, &mut file);
        content.chunks(block).for_each(|part| writer.write(part, &mut file));
        file
    }

    fn read(file: &[u8]) -> Result<Vec<Next>, ReplayFault> {
        let mut entries = Entries::open(file)?;
        let mut all = Vec::new();
        loop {
            all.push(entries.next()?);
            if !matches!(all.last(), Some(Next::Entry(_))) {
                return Ok(all);
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_wherever_blocks_end(
            all in proptest::collection::vec(entry(), 0..12), block in 1_usize..200,
        ) {
            let mut content = Vec::new();
            about(&described(), &mut content);
            for entry in &all {
                match entry {
                    Entry::Arrived { at, place, packet } => arrived(*at, *place, packet, &mut content),
                    Entry::Changed { at, change } => changed(*at, change, &mut content),
                    Entry::Departed(departure) => departed(departure, &mut content),
                    Entry::Ran(until) => ran(*until, &mut content),
                }
            }
            let cut = content.len();
            ended("digest", &mut content);
            let file = record(&content, block);
            prop_assert_eq!(Entries::open(&file[..]).unwrap().run, described());
            let mut expected: Vec<Next> = all.into_iter().map(Next::Entry).collect();
            expected.push(Next::Ended { digest: "digest".to_owned() });
            prop_assert_eq!(read(&file), Ok(expected.clone()));
            *expected.last_mut().unwrap() = Next::Cut;
            prop_assert_eq!(read(&record(&content[..cut], block)), Ok(expected));
            content.push(kind::RAN);
            prop_assert_eq!(read(&record(&content, block)), Err(ReplayFault::BehindEnd));
        }

        #[test]
        fn any_content_gives_entries_or_a_fault(bytes: Vec<u8>) {
            let mut content = Vec::new();
            about(&described(), &mut content);
            content.extend(&bytes);
            let _ = read(&record(&content, 64));
            let _ = read(&record(&bytes, 64));
        }
    }

    #[test]
    fn faults_say_what_is_wrong() {
        let mut begun = Vec::new();
        about(&described(), &mut begun);
        let behind = |bytes: &[u8]| read(&record(&[&begun[..], bytes].concat(), 64));
        assert_eq!(behind(&[9]), Err(ReplayFault::UnknownEntry { number: 1, kind: 9 }));
        let elsewhere = [&[kind::ARRIVED][..], &[0; 8], &[0, 2]].concat();
        assert_eq!(behind(&elsewhere), Err(ReplayFault::UnknownPlace { place: 2, interfaces: 2 }));
        let (found, most) = (PACKET_MAX + 1, PACKET_MAX);
        let long = [&[kind::ARRIVED][..], &[0; 10], &u32::try_from(found).unwrap().to_be_bytes()].concat();
        assert_eq!(behind(&long), Err(ReplayFault::TooLong { number: 1, found, most }));
        assert_eq!(behind(&[kind::ENDED, 0, 0, 0, 1, 0xff]), Err(ReplayFault::NotUtf8 { number: 1 }));
        assert_eq!(read(&record(&begun[..9], 64)), Err(ReplayFault::NoRun));
        assert_eq!(read(&record(&[kind::RAN], 64)), Err(ReplayFault::UnknownEntry { number: 0, kind: 3 }));
        let mut live = Vec::new();
        RecordWriter::begin(RecordKind::Live, &mut live);
        assert_eq!(read(&live), Err(ReplayFault::NotEmulated));
        assert_eq!(read(b"slantpath"), Err(ReplayFault::NotEmulated));
    }
}
