//! The receiving application of a flow: it checks every byte and keeps the record.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{DataRate, DataSize, Duration, Instant};
use slantpath_host::{ArrivedPart, MessagePlace};
use slantpath_interface::Journey;

use crate::adaptation::FlowAdaptation;
use crate::arrivals::Arrivals;
use crate::message::{Content, Deframer, verify};
use crate::record::{DeliveredMessage, ReceiverReport};

/// Settings of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// Content of the messages.
    pub content: Content,
    /// Streams that the sender uses in turn, to check the order of each; at least 1.
    pub streams: u16,
    /// True if messages may come in any order.
    pub unordered: bool,
    /// True if any stream may carry a message, and messages may be missing: then the numbers on each stream only have
    /// to rise.
    pub may_skip: bool,
    /// Records to keep of each message.
    pub records: MessageRecords,
    /// Rate at which it reads: what comes faster fills the receive buffer, and closes the sender's window. `None` takes
    /// everything at once. With SCTP it reads a message at a time, with TCP the bytes that came in one segment.
    pub read_rate: Option<DataRate>,
    /// Layer below it.
    pub adaptation: FlowAdaptation,
}

/// Extent of the record of each message that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageRecords {
    /// No record at all.
    Nothing,
    /// Instant of each delivery.
    Times,
    /// And what the packet went through with which the last of it came.
    TimesAndJourneys,
}

#[derive(Debug)]
// In this order in memory: what all bytes touch, then what messages do.
#[repr(C)]
pub(crate) struct Receiver {
    config: ReceiverConfig,
    /// Until when it is busy with what it has read; `None` if it reads everything at once, or waits.
    busy_until: Option<Instant>,
    report: ReceiverReport,
    deframer: Deframer,
    /// If journeys are recorded.
    arrivals: Option<Box<Arrivals>>,
    /// The number that each stream must deliver next.
    expected: Vec<u32>,
    /// Messages that came while it was busy: no more than one packet brings, or than an association leaves behind.
    in_hand: VecDeque<InHand>,
}

/// A message that waits to be read.
#[derive(Debug)]
struct InHand {
    stream: Option<u16>,
    message: Bytes,
    journey: Option<Journey>,
}

impl Receiver {
    pub(crate) fn new(config: ReceiverConfig) -> Self {
        let streams = 0..u32::from(config.streams.max(1));
        let expected = streams.map(|stream| if config.may_skip { 0 } else { stream }).collect();
        Self {
            config,
            busy_until: None,
            deframer: Deframer::default(),
            arrivals: (config.records == MessageRecords::TimesAndJourneys).then(Box::default),
            expected,
            in_hand: VecDeque::new(),
            report: ReceiverReport::default(),
        }
    }

    pub(crate) const fn report(&self) -> &ReceiverReport {
        &self.report
    }

    /// Forgets the longest time without a delivery. One that goes on now counts from its beginning once it ends.
    pub(crate) const fn restart_gap(&mut self) {
        self.report.gap_max = Duration::ZERO;
    }

    /// Takes the recorded deliveries out of the report.
    pub(crate) fn take_deliveries(&mut self) -> Vec<DeliveredMessage> {
        std::mem::take(&mut self.report.messages)
    }

    /// The packet at hand, of which this is the journey, has brought something that will be delivered.
    pub(crate) fn note_arrival(&mut self, arrival: ArrivedPart, journey: Journey) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.note(arrival, journey);
        }
    }

    /// The journey of a message that is delivered, if it is known.
    #[inline]
    pub(crate) fn take_journey(&mut self, place: MessagePlace) -> Option<Journey> {
        self.arrivals.as_mut()?.take_message(place)
    }

    /// A whole message came in over SCTP; on this stream, unless it may have overtaken others.
    pub(crate) fn handle_message(
        &mut self,
        now: Instant,
        stream: Option<u16>,
        message: &Bytes,
        journey: Option<Journey>,
    ) {
        if self.busy_until.is_some_and(|until| until > now) || !self.in_hand.is_empty() {
            return self.in_hand.push_back(InHand { stream, message: message.clone(), journey });
        }
        self.read(now, stream, message, journey);
    }

    /// Reads the next message in hand, now that it is no longer busy; `false` if there is none.
    pub(crate) fn read_next(&mut self, now: Instant) -> bool {
        self.busy_until = None;
        let Some(InHand { stream, message, journey }) = self.in_hand.pop_front() else { return false };
        self.read(now, stream, &message, journey);
        true
    }

    fn read(&mut self, now: Instant, stream: Option<u16>, message: &Bytes, journey: Option<Journey>) {
        let Some((len, content)) = self.config.adaptation.unframe(message) else {
            self.report.messages_delivered += 1;
            self.report.messages_corrupt += 1;
            return;
        };
        self.count(now, len);
        match self.config.content {
            Content::Pattern => self.report.messages_delivered += 1,
            Content::Stamped => self.check(now, stream, content, journey),
        }
    }

    /// The next bytes of a stream came in.
    pub(crate) fn handle_bytes(&mut self, now: Instant, bytes: &Bytes) {
        self.count(now, bytes.len());
        if self.config.content == Content::Pattern {
            return;
        }
        let mut deframer = std::mem::take(&mut self.deframer);
        let outcome = deframer.push(bytes, |message| {
            let journey = self.arrivals.as_mut().and_then(|arrivals| arrivals.take_bytes(message.len()));
            self.check(now, Some(0), message, journey);
        });
        self.deframer = deframer;
        if outcome.is_err() {
            // Nothing behind a broken stamp can be told apart: one corrupt message stands for all of it.
            self.report.messages_corrupt += 1;
        }
    }

    pub(crate) fn handle_ended(&mut self, now: Instant, reason: String) {
        self.report.ended.get_or_insert((now, reason));
    }

    fn count(&mut self, now: Instant, len: usize) {
        self.report.bytes_delivered += len as u64;
        match self.report.last_delivery.replace(now) {
            Some(last) => self.report.gap_max = self.report.gap_max.max(now.saturating_since(last)),
            None => self.report.first_delivery = Some(now),
        }
        if let Some(rate) = self.config.read_rate {
            let begins = self.busy_until.map_or(now, |until| until.max(now));
            self.busy_until =
                Some(begins.saturating_add(rate.time_to_send(DataSize::from_bytes(len as u64))));
        }
    }

    /// Until when it takes nothing more; `None` if it takes what comes.
    #[inline]
    pub(crate) const fn busy_until(&self) -> Option<Instant> {
        self.busy_until
    }

    fn check(&mut self, now: Instant, stream: Option<u16>, message: &[u8], journey: Option<Journey>) {
        self.report.messages_delivered += 1;
        let Some(number) = verify(message) else {
            self.report.messages_corrupt += 1;
            return;
        };
        if let Some(stream) = stream.filter(|_| !self.config.unordered) {
            match self.expected.get_mut(usize::from(stream)) {
                Some(expected) if self.config.may_skip && *expected <= number => *expected = number + 1,
                Some(expected) if !self.config.may_skip && *expected == number => {
                    *expected += u32::from(self.config.streams.max(1));
                }
                _ => self.report.messages_out_of_order += 1,
            }
        }
        if self.config.records != MessageRecords::Nothing {
            self.report.messages.push(DeliveredMessage { number, delivered: now, journey });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::compose;

    fn receiver(streams: u16) -> Receiver {
        let config = ReceiverConfig {
            content: Content::Stamped,
            streams,
            unordered: false,
            may_skip: false,
            records: MessageRecords::Times,
            read_rate: None,
            adaptation: FlowAdaptation::None,
        };
        Receiver::new(config)
    }

    fn message(number: u32) -> Bytes {
        compose(Content::Stamped, number, 100)
    }

    #[test]
    fn order_is_checked_per_stream() {
        let mut receiver = receiver(2);
        for (stream, number) in [(1, 1), (0, 0), (0, 2), (1, 5), (1, 3)] {
            receiver.handle_message(Instant::START, Some(stream), &message(number), None);
        }
        assert_eq!(receiver.report().messages_out_of_order, 1);
        assert_eq!(receiver.report().messages_delivered, 5);
    }

    #[test]
    fn where_messages_may_be_missing_each_stream_only_counts_on() {
        let config = ReceiverConfig { may_skip: true, ..receiver(2).config };
        let mut receiver = Receiver::new(config);
        for (stream, number) in [(1, 0), (0, 1), (0, 5), (1, 2), (1, 2), (0, 4)] {
            receiver.handle_message(Instant::START, Some(stream), &message(number), None);
        }
        assert_eq!(receiver.report().messages_out_of_order, 2);
    }

    #[test]
    fn what_may_overtake_others_breaks_no_order() {
        let config = ReceiverConfig { may_skip: true, ..receiver(1).config };
        let mut receiver = Receiver::new(config);
        for (stream, number) in [(Some(0), 4), (None, 1), (None, 0), (Some(0), 5), (Some(0), 3)] {
            receiver.handle_message(Instant::START, stream, &message(number), None);
        }
        assert_eq!(receiver.report().messages_out_of_order, 1);
    }

    #[test]
    fn a_repeated_message_is_out_of_order() {
        let mut receiver = receiver(1);
        for number in [0, 0] {
            receiver.handle_message(Instant::START, Some(0), &message(number), None);
        }
        assert_eq!(receiver.report().messages_out_of_order, 1);
    }

    #[test]
    fn a_wrong_byte_is_counted() {
        let mut receiver = receiver(1);
        let mut bytes = message(0).to_vec();
        bytes[50] ^= 1;
        receiver.handle_message(Instant::START, Some(0), &bytes.into(), None);
        assert_eq!(receiver.report().messages_corrupt, 1);
        assert!(receiver.report().messages.is_empty());
    }

    #[test]
    fn a_byte_stream_is_cut_back_into_messages() {
        let mut receiver = receiver(1);
        let stream = [message(0), message(1)].concat();
        let (front, back) = stream.split_at(130);
        receiver.handle_bytes(Instant::from_millis(1), &Bytes::copy_from_slice(front));
        receiver.handle_bytes(Instant::from_millis(2), &Bytes::copy_from_slice(back));
        let delivered: Vec<_> =
            receiver.report().messages.iter().map(|m| (m.number, m.delivered.as_nanos())).collect();
        assert_eq!(delivered, [(0, 1_000_000), (1, 2_000_000)]);
    }

    #[test]
    fn a_busy_receiver_reads_what_comes_meanwhile_one_after_the_other() {
        // 100 bytes take a millisecond.
        let config =
            ReceiverConfig { read_rate: Some(DataRate::from_bits_per_sec(800_000)), ..receiver(1).config };
        let mut receiver = Receiver::new(config);
        let millis = Instant::from_millis;
        for (at, number) in [(10, 0), (10, 1), (10, 2)] {
            receiver.handle_message(millis(at), Some(0), &message(number), None);
        }
        assert_eq!((receiver.report().messages_delivered, receiver.busy_until()), (1, Some(millis(11))));
        assert!(receiver.read_next(millis(11)));
        // What comes just as it gets free stands behind what is in hand.
        receiver.handle_message(millis(12), Some(0), &message(3), None);
        assert!(receiver.read_next(millis(12)) && receiver.read_next(millis(13)));
        assert!(!receiver.read_next(millis(14)));
        assert_eq!(receiver.busy_until(), None);
        receiver.handle_message(millis(20), Some(0), &message(4), None);
        let delivered: Vec<_> = receiver.report().messages.iter().map(|m| (m.number, m.delivered)).collect();
        let wanted = [(0, 10), (1, 11), (2, 12), (3, 13), (4, 20)];
        assert_eq!(delivered, wanted.map(|(number, at)| (number, millis(at))));
        assert_eq!(receiver.report().messages_out_of_order, 0);
    }
}
