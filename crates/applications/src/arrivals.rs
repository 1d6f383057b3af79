//! Journeys of the packets that have brought messages, kept until the messages are delivered.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use slantpath_host::{ArrivedPart, MessagePlace};
use slantpath_interface::Journey;

/// The journeys of what waits to be delivered: no more than a transport holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    ordered: BTreeMap<(u16, u16), Journey>,
    unordered: VecDeque<Journey>,
    /// Parts of a byte stream, by their starts, with their ends. None overlaps another.
    parts: BTreeMap<u64, (u64, Journey)>,
    /// Number of bytes of the stream that have been taken.
    taken_bytes: u64,
}

impl Arrivals {
    pub(crate) fn note(&mut self, arrival: ArrivedPart, journey: Journey) {
        match arrival {
            ArrivedPart::Bytes(range) => self.note_bytes(range, journey),
            ArrivedPart::Message(MessagePlace::Ordered { stream, sequence }) => {
                self.ordered.insert((stream, sequence), journey);
            }
            ArrivedPart::Message(MessagePlace::Unordered) => self.unordered.push_back(journey),
        }
    }

    /// Notes a journey for the bytes of `range` that have none yet: the first arrival of each byte counts.
    fn note_bytes(&mut self, range: Range<u64>, journey: Journey) {
        let mut at = range.start;
        if let Some((_, &(end, _))) = self.parts.range(..=at).next_back() {
            at = at.max(end);
        }
        while at < range.end {
            let next = self.parts.range(at..range.end).next().map(|(&start, &(end, _))| (start, end));
            let (gap_end, resume) = next.unwrap_or((range.end, range.end));
            if at < gap_end {
                self.parts.insert(at, (gap_end, journey));
            }
            at = resume;
        }
    }

    /// The journey of the packet that brought the last of a message, which is delivered.
    pub(crate) fn take_message(&mut self, place: MessagePlace) -> Option<Journey> {
        match place {
            MessagePlace::Ordered { stream, sequence } => self.ordered.remove(&(stream, sequence)),
            MessagePlace::Unordered => self.unordered.pop_front(),
        }
    }

    /// The journey of the segment that came last of those with the next `len` bytes of the stream, which are delivered.
    pub(crate) fn take_bytes(&mut self, len: usize) -> Option<Journey> {
        self.taken_bytes += len as u64;
        let mut latest: Option<Journey> = None;
        while let Some(part) = self.parts.first_entry().filter(|part| *part.key() < self.taken_bytes) {
            let (end, journey) = *part.get();
            if latest.is_none_or(|latest| latest.arrived <= journey.arrived) {
                latest = Some(journey);
            }
            part.remove();
            if end > self.taken_bytes {
                self.parts.insert(self.taken_bytes, (end, journey));
            }
        }
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::{Duration, Instant};

    /// A journey that ends at so many milliseconds.
    fn journey(arrived: u64) -> Journey {
        let zero = Duration::ZERO;
        let (sent, arrived) = (Instant::START, Instant::from_millis(arrived));
        Journey { sent, arrived, transmission: zero, propagation: zero, repetition: zero }
    }

    #[test]
    fn of_bytes_that_came_several_times_the_first_arrival_counts_and_of_a_message_the_last() {
        let mut arrivals = Arrivals::default();
        let parts = [(100..200, 5), (300..400, 6), (150..350, 7), (0..400, 8), (400..500, 9)];
        for (range, at) in parts {
            arrivals.note(ArrivedPart::Bytes(range), journey(at));
        }
        // Bytes 0 to 99 came at 8, up to 199 at 5, 299 at 7, 399 at 6 and 499 at 9.
        let taken = [50, 50, 50, 200, 50, 60, 40].map(|len| arrivals.take_bytes(len));
        assert_eq!(taken, [8, 8, 5, 7, 6, 9, 9].map(|at| Some(journey(at))));
        assert!(arrivals.parts.is_empty());
        assert_eq!(arrivals.take_bytes(1), None);
    }

    #[test]
    fn a_message_is_found_by_its_number_and_an_unordered_one_by_its_turn() {
        let mut arrivals = Arrivals::default();
        let ordered = |stream, sequence| MessagePlace::Ordered { stream, sequence };
        let places = [ordered(1, 7), MessagePlace::Unordered, ordered(2, 7), MessagePlace::Unordered];
        for (at, place) in (1..).zip(places) {
            arrivals.note(ArrivedPart::Message(place), journey(at));
        }
        let asked =
            [ordered(2, 7), ordered(1, 8), ordered(1, 7), MessagePlace::Unordered, MessagePlace::Unordered];
        let taken = asked.map(|place| arrivals.take_message(place).map(|journey| journey.arrived));
        assert_eq!(taken, [Some(3), None, Some(1), Some(2), Some(4)].map(|at| at.map(Instant::from_millis)));
    }
}
