//! Delays through the seat: from the arrival of a user's message at an association to its hand-over to SCTP at another.
//!
//! A message is known again by its data ([`UserMessage::known_by`]). So nothing has to go with it through the layers,
//! and none allocates: what has arrived stands in a table of fixed size. One that finds its place taken displaces the
//! other, which is then not measured; two alike that wait at one time count as the later one.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_applications::ProgramMessage;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCodeFormat;

use crate::user_message::UserMessage;

/// Upper bounds of the buckets of a histogram.
pub(crate) const BOUNDS: [Duration; 14] = [
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];
/// Places of messages that have arrived; a power of two.
const PLACES: usize = 1 << 16;
/// Age beyond which what has arrived went elsewhere: to a user here, or nowhere.
const OLDEST: Duration = Duration::from_secs(60);

/// Number of a group of associations: a link set, or a process.
type GroupNumber = usize;

/// Delays of a seat: its associations in groups.
#[derive(Debug)]
pub(crate) struct SeatDelays {
    delays: Delays,
    names: Vec<String>,
    /// Group of each association.
    groups: Vec<GroupNumber>,
}

impl SeatDelays {
    /// Nothing measured yet; with the name of the group of each association.
    pub(crate) fn new(format: PointCodeFormat, of_associations: Vec<String>) -> Self {
        let mut own = Self { delays: Delays::new(format), names: Vec::new(), groups: Vec::new() };
        own.regroup(of_associations);
        own
    }

    /// Goes on with other associations; with the name of the group of each. Groups that are known keep their delays.
    pub(crate) fn regroup(&mut self, of_associations: Vec<String>) {
        self.groups.clear();
        for name in of_associations {
            let group = self.names.iter().position(|own| *own == name).unwrap_or_else(|| {
                self.names.push(name);
                self.names.len() - 1
            });
            self.groups.push(group);
        }
    }

    /// A message has come by an association.
    pub(crate) fn arrived(&mut self, now: Instant, association: usize, message: &ProgramMessage) {
        let ProgramMessage { payload_protocol, payload, .. } = message;
        self.delays.arrived(now, self.groups[association], *payload_protocol, payload);
    }

    /// A message has been handed over to the SCTP of an association.
    pub(crate) fn left(&mut self, now: Instant, association: usize, message: &ProgramMessage) {
        let ProgramMessage { payload_protocol, payload, .. } = message;
        self.delays.left(now, self.groups[association], *payload_protocol, payload);
    }

    /// Every pair of groups with messages: the names of both, and the delays.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str, &DelayHistogram)> {
        let pairs = self.delays.pairs.iter();
        pairs.map(|((from, to), histogram)| (&self.names[*from][..], &self.names[*to][..], histogram))
    }
}

/// Delays of one pair of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DelayHistogram {
    /// Messages by the bucket that they fall into; the last has what is longer than every bound.
    pub(crate) counts: [u64; BOUNDS.len() + 1],
    /// All delays together.
    pub(crate) sum: Duration,
}

/// A message that has arrived, and has not been handed over.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Hash of what it is known by; zero for none.
    known_by: u64,
    at: Instant,
    from: GroupNumber,
}

/// Delays of all pairs of groups.
#[derive(Clone, Debug)]
struct Delays {
    format: PointCodeFormat,
    arrived: Box<[Arrived]>,
    pairs: BTreeMap<(GroupNumber, GroupNumber), DelayHistogram>,
}

impl Delays {
    fn new(format: PointCodeFormat) -> Self {
        let nothing = Arrived { known_by: 0, at: Instant::START, from: 0 };
        Self { format, arrived: vec![nothing; PLACES].into(), pairs: BTreeMap::new() }
    }

    /// A message has come.
    fn arrived(&mut self, at: Instant, from: GroupNumber, payload_protocol: u32, octets: &Bytes) {
        if let Some(known_by) = known_by(self.format, payload_protocol, octets) {
            self.arrived[place(known_by)] = Arrived { known_by, at, from };
        }
    }

    /// A message has been handed over.
    fn left(&mut self, now: Instant, to: GroupNumber, payload_protocol: u32, octets: &Bytes) {
        let Some(known_by) = known_by(self.format, payload_protocol, octets) else { return };
        let arrived = &mut self.arrived[place(known_by)];
        if arrived.known_by != known_by {
            return;
        }
        arrived.known_by = 0;
        let delay = now.saturating_since(arrived.at);
        if delay <= OLDEST {
            let histogram = self.pairs.entry((arrived.from, to)).or_default();
            let bucket = BOUNDS.partition_point(|bound| *bound < delay);
            histogram.counts[bucket] += 1;
            histogram.sum += delay;
        }
    }
}

/// Hash of what a user's message is known by; `None` of other messages.
fn known_by(format: PointCodeFormat, payload_protocol: u32, octets: &Bytes) -> Option<u64> {
    UserMessage::read(format, payload_protocol, octets).map(|message| message.known_by())
}

/// Place of a hash in the table: its high bits are the mixed ones.
const fn place(known_by: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "so many bits are left")]
    let place = (known_by >> (u64::BITS - PLACES.trailing_zeros())) as usize;
    place
}

#[cfg(test)]
mod tests {
    use slantpath_sigtran::m2pa;

    use super::*;

    const M3UA: u32 = 3;

    fn m2pa(user: u8, data: &[u8]) -> Bytes {
        let mut octets = vec![1, 0, 11, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, user, 1, 2, 3, 4];
        octets.extend_from_slice(data);
        octets.into()
    }

    fn m3ua(user: u8, data: &[u8]) -> Bytes {
        let length = u16::try_from(4 + 12 + data.len()).unwrap();
        let padded = length.next_multiple_of(4);
        let mut octets = vec![1, 0, 1, 1];
        octets.extend_from_slice(&u32::from(8 + padded).to_be_bytes());
        octets.extend_from_slice(&[2, 0x10]);
        octets.extend_from_slice(&length.to_be_bytes());
        octets.extend_from_slice(&[0, 0, 0, 9, 0, 0, 0, 8, user, 2, 0, 5]);
        octets.extend_from_slice(data);
        octets.resize(8 + usize::from(padded), 0);
        octets.into()
    }

    fn delays() -> Delays {
        Delays::new(PointCodeFormat::Itu)
    }

    /// Counts of a pair that are not zero, with the places of their buckets.
    fn counts(delays: &Delays, pair: (GroupNumber, GroupNumber)) -> Vec<(usize, u64)> {
        let histogram = delays.pairs.get(&pair).cloned().unwrap_or_default();
        histogram.counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn a_message_is_known_again_across_m2pa_and_m3ua() {
        let mut delays = delays();
        let at = Instant::from_millis;
        let data = b"a message of isup, longer than a word";
        delays.arrived(at(0), 0, m2pa::PAYLOAD_PROTOCOL, &m2pa(5, data));
        delays.arrived(at(1), 1, M3UA, &m3ua(5, b"another"));
        delays.left(at(7), 1, M3UA, &m3ua(5, data));
        delays.left(at(7), 0, m2pa::PAYLOAD_PROTOCOL, &m2pa(5, b"another"));
        assert_eq!((counts(&delays, (0, 1)), counts(&delays, (1, 0))), (vec![(4, 1)], vec![(4, 1)]));
        assert_eq!(delays.pairs[&(0, 1)].sum, Duration::from_millis(7));
        // It is handed over once; one that has not come is not measured.
        delays.left(at(8), 1, M3UA, &m3ua(5, data));
        delays.left(at(8), 1, M3UA, &m3ua(5, b"from here"));
        assert_eq!(counts(&delays, (0, 1)), [(4, 1)]);
    }

    #[test]
    fn a_title_that_is_translated_changes_no_data() {
        let mut delays = delays();
        // UDT: class, pointers, the called party, the calling party, the data.
        let before = [0x09, 0, 3, 5, 7, 2, 1, 2, 2, 3, 4, 3, 7, 8, 9];
        let after = [0x09, 0, 3, 8, 10, 5, 1, 2, 3, 4, 5, 2, 3, 4, 3, 7, 8, 9];
        delays.arrived(Instant::START, 0, M3UA, &m3ua(3, &before));
        delays.left(Instant::START, 1, m2pa::PAYLOAD_PROTOCOL, &m2pa(3, &after));
        assert_eq!(counts(&delays, (0, 1)), [(0, 1)]);
        // XUDT: class and hop counter, pointers, and the same; the hop counter is one less behind the translation.
        let before = [0x11, 0, 15, 4, 6, 8, 0, 2, 1, 2, 2, 3, 4, 3, 5, 6, 7];
        let after = [0x11, 0, 14, 4, 7, 9, 0, 3, 1, 2, 3, 2, 3, 4, 3, 5, 6, 7];
        let other = [0x11, 0, 14, 4, 7, 9, 0, 3, 1, 2, 3, 2, 3, 4, 3, 5, 6, 8];
        delays.arrived(Instant::START, 0, M3UA, &m3ua(3, &before));
        delays.left(Instant::START, 1, m2pa::PAYLOAD_PROTOCOL, &m2pa(3, &other));
        assert_eq!(counts(&delays, (0, 1)), [(0, 1)]);
        delays.left(Instant::START, 1, m2pa::PAYLOAD_PROTOCOL, &m2pa(3, &after));
        assert_eq!(counts(&delays, (0, 1)), [(0, 2)]);
    }

    #[test]
    fn management_and_what_went_elsewhere_is_not_measured() {
        let mut delays = delays();
        delays.arrived(Instant::START, 0, M3UA, &m3ua(0, b"tfp"));
        delays.left(Instant::START, 1, M3UA, &m3ua(0, b"tfp"));
        delays.arrived(Instant::START, 0, M3UA, &m3ua(5, b"old"));
        delays.left(Instant::from_millis(60_001), 1, M3UA, &m3ua(5, b"old"));
        delays.left(Instant::START, 1, M3UA, &Bytes::from_static(&[1, 0, 1, 1, 0, 0, 0, 9]));
        delays.left(Instant::START, 1, m2pa::PAYLOAD_PROTOCOL, &Bytes::from_static(&[1, 0, 11, 1]));
        assert_eq!(delays.pairs.len(), 0);
    }

    #[test]
    fn a_bound_belongs_to_its_bucket_and_what_is_longer_to_the_last() {
        let mut delays = delays();
        for (micros, data) in [(500, b"a"), (501, b"b"), (10_000_000, b"c"), (10_000_001, b"d")] {
            delays.arrived(Instant::START, 0, M3UA, &m3ua(5, data));
            delays.left(Instant::from_nanos(micros * 1_000), 1, M3UA, &m3ua(5, data));
        }
        assert_eq!(counts(&delays, (0, 1)), [(0, 1), (1, 1), (13, 1), (14, 1)]);
    }
}
