//! The sending application of a flow: it plays a workload into a transport and keeps the record.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Instant, Stream};
use slantpath_host::{
    Abandoned, AcknowledgedPart, MessageSource, Offer, OutgoingMessage, PathEventKind, SentPart,
};
use slantpath_sctp::SendOptions;

use crate::adaptation::FlowAdaptation;
use crate::failover::Failover;
use crate::framing::Moment;
use crate::message::{Content, compose, verify};
use crate::record::{DeliveredMessage, Finality, SenderRecords, SenderReport, SentMessage};
use crate::schedule::Schedule;
use crate::timeline::PathEvent;
use crate::workload::{WhenBlocked, Workload};

/// Settings of a sender.
#[derive(Clone, Debug)]
// In this order in memory: what every message asks for in front.
#[repr(C)]
pub struct SenderConfig {
    /// Instant at which it stops and closes; `None` runs until its workload ends or the run does.
    pub stop: Option<Instant>,
    /// Streams to send on in turn (SCTP); at least 1.
    pub streams: u16,
    /// True if messages are sent unordered (SCTP).
    pub unordered: bool,
    /// Content of its messages.
    pub content: Content,
    /// Conduct while the transport takes nothing.
    pub when_blocked: WhenBlocked,
    /// Measurements that need no record of messages.
    pub measurement: Measurement,
    /// True if each message is recorded.
    pub record_messages: bool,
    /// True if the events of the paths are recorded (SCTP). Messages are traced for it, recorded or not.
    pub record_timeline: bool,
    /// Instant at which it opens the association or connection.
    pub connect: Instant,
    /// Instant at which its first message is due, or as soon as it is connected if that is later.
    pub start: Instant,
    /// Workload that it sends.
    pub workload: Workload,
    /// Least time between two samples of each path's congestion state; `None` if paths are not sampled.
    pub sample_paths: Option<slantpath_base::Duration>,
    /// Options that a message asks for (SCTP), unless its kind has its own.
    pub options: SendOptions,
    /// Layer below it.
    pub adaptation: FlowAdaptation,
}

/// Measurement that a sender makes without a record of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measurement {
    /// Instant at which each message was sent, if its content says which it is: the other end knows when it was
    /// delivered.
    Delays,
    /// Measurement of `Delays`, and count of retransmissions. Messages are traced for it.
    DelaysAndRetransmissions,
    /// No measurement at all.
    #[default]
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Until the time to connect.
    Idle,
    /// From there until the transport is up.
    Connecting,
    /// Messages may be offered.
    Sending,
    /// All is sent; the transport has been told to close.
    Closing,
    /// Nothing more happens.
    Ended,
}

/// Demand of the sender on its transport now.
#[derive(Debug)]
pub(crate) enum Want {
    /// Open the association or connection.
    Connect,
    /// Offer this message and report with [`Sender::offered`].
    Send(OutgoingMessage),
    /// Close in order.
    Close,
    /// Nothing until this time, or until an event.
    Wait(Option<Instant>),
}

#[derive(Debug)]
// In this order in memory: what every message touches, then what recorded ones do.
#[repr(C)]
pub(crate) struct Sender {
    phase: Phase,
    /// The path of the latest message that went out for the first time.
    new_data_path: Option<u8>,
    next_number: u32,
    /// Present from the moment that the transport is up.
    schedule: Option<Schedule>,
    report: SenderReport,
    config: SenderConfig,
    /// Of each message in the report; only if messages are recorded.
    tracks: VecDeque<Track>,
    /// Number of messages that were taken out of the report: also the number of the first one that is there.
    taken: usize,
    stream: Stream,
}

/// State needed to find a recorded message and to know that nothing more happens to it.
#[derive(Clone, Copy, Debug)]
struct Track {
    /// Offset in the byte stream at which the message ends.
    end: u64,
    is_acknowledged: bool,
}

impl Sender {
    pub(crate) fn new(config: SenderConfig, stream: Stream) -> Self {
        Self {
            config,
            phase: Phase::Idle,
            schedule: None,
            stream,
            next_number: 0,
            new_data_path: None,
            tracks: VecDeque::new(),
            taken: 0,
            report: SenderReport::default(),
        }
    }

    pub(crate) const fn config(&self) -> &SenderConfig {
        &self.config
    }

    pub(crate) const fn report(&self) -> &SenderReport {
        &self.report
    }

    pub(crate) fn report_mut(&mut self) -> &mut SenderReport {
        &mut self.report
    }

    pub(crate) fn handle_connected(&mut self, now: Instant) {
        self.report.connected.get_or_insert(now);
        if self.phase == Phase::Connecting {
            self.phase = Phase::Sending;
            let start = self.config.start.max(now);
            let workload = self.config.workload.clone();
            let when_blocked = self.config.when_blocked;
            self.schedule = Some(Schedule::new(workload, when_blocked, start, self.stream.clone()));
        }
    }

    pub(crate) fn handle_writable(&mut self) {
        if let Some(schedule) = &mut self.schedule {
            schedule.try_again();
        }
    }

    pub(crate) fn handle_ended(&mut self, now: Instant, failure: Option<String>) {
        self.phase = Phase::Ended;
        self.report.ended.get_or_insert(now);
        if self.report.failure.is_none() {
            self.report.failure = failure;
        }
    }

    /// Gives the next thing to do; ask again until it is to wait.
    #[inline(never)]
    pub(crate) fn want(&mut self, now: Instant) -> Want {
        match self.phase {
            Phase::Idle if self.config.connect <= now => {
                self.phase = Phase::Connecting;
                Want::Connect
            }
            Phase::Idle => Want::Wait(Some(self.config.connect)),
            Phase::Connecting | Phase::Closing | Phase::Ended => Want::Wait(None),
            Phase::Sending => self.want_to_send(now),
        }
    }

    fn want_to_send(&mut self, now: Instant) -> Want {
        if let Some(message) = self.next_message(now) {
            return Want::Send(message);
        }
        let due = self.schedule.as_ref().and_then(Schedule::due);
        let Some(due) = due.filter(|_| !self.is_stopped(now)) else {
            self.phase = Phase::Closing;
            return Want::Close;
        };
        if due > now {
            return Want::Wait(Some(self.config.stop.map_or(due, |stop| stop.min(due))));
        }
        Want::Wait(self.config.stop)
    }

    #[inline]
    fn is_stopped(&self, now: Instant) -> bool {
        self.config.stop.is_some_and(|stop| stop <= now)
    }

    /// Remembers a message that counts as sent at `sent`.
    #[inline(never)]
    fn record(&mut self, size: usize, sent: Instant, measures: bool) {
        if measures {
            self.report.sent.push(sent);
        }
        if self.config.record_messages {
            self.tracks.push_back(Track { end: self.report.bytes_sent, is_acknowledged: false });
            self.report.messages.push_back(SentMessage {
                size: u32::try_from(size).unwrap_or(u32::MAX),
                sent,
                first_transmitted: None,
                last_part_transmitted: None,
                first_path: 0,
                last_path: 0,
                retransmitted: None,
                retransmissions: 0,
            });
        }
    }

    /// The bytes of a message.
    #[inline]
    fn compose(&self, now: Instant, schedule: &Schedule, number: u32, len: usize) -> Bytes {
        let SenderConfig { adaptation, content, .. } = self.config;
        match adaptation {
            FlowAdaptation::None | FlowAdaptation::Signalling(_) => compose(content, number, len),
            FlowAdaptation::GtpU { .. } | FlowAdaptation::Rtp { .. } => {
                adaptation.frame(content, number, len, Moment { now, begins_talk: schedule.begins_talk() })
            }
        }
    }

    /// An echo of a message has come back.
    pub(crate) fn handle_reply(&mut self, now: Instant, message: &[u8]) {
        if let Some(number) = verify(message).filter(|_| self.config.measurement != Measurement::Off) {
            self.report.replies.push(DeliveredMessage { number, delivered: now, journey: None });
        }
    }

    /// Something has happened to a path.
    pub(crate) fn handle_path_event(&mut self, now: Instant, path: u8, kind: PathEventKind) {
        if self.config.record_timeline {
            self.report.timeline.push(PathEvent { at: now, path, kind });
        }
    }

    /// New messages go by another path.
    pub(crate) fn handle_failover(&mut self, failover: Failover) {
        self.report.failovers.push(failover);
    }

    /// The transport put a part of the flow on the wire.
    pub(crate) fn handle_transmitted(&mut self, now: Instant, sent: &SentPart, path: u8, again: bool) {
        self.report.retransmissions += u64::from(again);
        if let SentPart::Message(message) = *sent
            && self.config.record_timeline
        {
            if again {
                self.handle_path_event(now, path, PathEventKind::Retransmitted { message });
            } else if self.new_data_path.replace(path) != Some(path) {
                self.handle_path_event(now, path, PathEventKind::NewData { message });
            }
        }
        let numbers = match sent {
            SentPart::Message(number) => match (*number as usize).checked_sub(self.taken) {
                Some(index) => index..index + 1,
                None => return,
            },
            SentPart::Bytes(range) => {
                let first = self.tracks.partition_point(|track| track.end <= range.start);
                let last = self.tracks.partition_point(|track| track.end < range.end);
                first..last + 1
            }
        };
        let end = numbers.end.min(self.report.messages.len());
        for message in self.report.messages.range_mut(numbers.start.min(end)..end) {
            message.last_path = path;
            if again {
                message.retransmitted = Some(now);
                message.retransmissions = message.retransmissions.saturating_add(1);
            } else {
                message.last_part_transmitted = Some(now);
                if message.first_transmitted.is_none() {
                    message.first_transmitted = Some(now);
                    message.first_path = path;
                }
            }
        }
    }

    /// The peer has a part of the flow for good.
    pub(crate) fn handle_acknowledged(&mut self, acknowledged: AcknowledgedPart) {
        match acknowledged {
            AcknowledgedPart::Bytes(up_to) => {
                // All that is acknowledged stands in front: what was marked before is not gone over again.
                let from = self.tracks.partition_point(|track| track.is_acknowledged);
                let to = self.tracks.partition_point(|track| track.end <= up_to);
                self.tracks.range_mut(from.min(to)..to).for_each(|track| track.is_acknowledged = true);
            }
            AcknowledgedPart::Message(number) => {
                let index = (number as usize).checked_sub(self.taken);
                if let Some(track) = index.and_then(|index| self.tracks.get_mut(index)) {
                    track.is_acknowledged = true;
                }
            }
            // What an adaptation layer has sent for itself.
            AcknowledgedPart::Unnumbered => {}
        }
    }

    /// There are so many streams to send on now: messages of one kind take them all in turn.
    pub(crate) const fn handle_streams_added(&mut self, outbound_streams: u16) {
        self.config.streams = outbound_streams;
    }

    /// A message has been given up as its reliability asks: nothing more happens to it at this end.
    pub(crate) fn handle_abandoned(&mut self, message: Abandoned) {
        let Abandoned { number, stream, policy, was_sent } = message;
        let abandoned = self.report.abandoned.get_or_insert_default();
        abandoned.entry((stream, policy)).or_default()[usize::from(was_sent)] += 1;
        if let Some(number) = number {
            self.handle_acknowledged(AcknowledgedPart::Message(number));
        }
    }

    /// Takes records out of the report.
    pub(crate) fn take_records(&mut self, finality: Finality) -> SenderRecords {
        // Nothing changes an instant at which a message was sent.
        let sent = std::mem::take(&mut self.report.sent);
        let replies = std::mem::take(&mut self.report.replies);
        let settled = match finality {
            Finality::Over => self.tracks.len(),
            // Rows name the paths, which the handshake may add to.
            Finality::Settled if self.report.paths.is_empty() => {
                return SenderRecords { sent, replies, ..SenderRecords::default() };
            }
            Finality::Settled => self.tracks.iter().take_while(|track| track.is_acknowledged).count(),
        };
        self.tracks.drain(..settled);
        self.taken += settled;
        SenderRecords {
            messages: self.report.messages.drain(..settled).collect(),
            samples: self.report.take_samples(finality),
            timeline: std::mem::take(&mut self.report.timeline),
            failovers: std::mem::take(&mut self.report.failovers),
            sent,
            replies,
        }
    }
}

impl MessageSource for Sender {
    /// The message that may be offered now, if there is one. To be reported with [`Sender::offered`].
    #[expect(clippy::inline_always, reason = "what it gives is large to move")]
    #[inline(always)]
    fn next_message(&self, now: Instant) -> Option<OutgoingMessage> {
        let schedule = self.schedule.as_ref()?;
        let is_due = schedule.due().is_some_and(|due| due <= now) && schedule.may_offer();
        if !is_due || self.phase != Phase::Sending || self.is_stopped(now) {
            return None;
        }
        let number = self.next_number;
        let len = schedule.next_bytes();
        #[expect(clippy::cast_possible_truncation, reason = "the remainder is below a u16")]
        let in_turn = (number % u32::from(self.config.streams.max(1))) as u16;
        let (stream, unordered, options) = match schedule.next_class() {
            Some(class) => (class.stream, class.unordered, class.options),
            None => (in_turn, self.config.unordered, self.config.options),
        };
        Some(OutgoingMessage {
            number: Some(number),
            stream,
            unordered,
            payload_protocol: 0,
            payload: self.compose(now, schedule, number, len),
            options: options.for_message(),
        })
    }

    /// The transport's answer to the message that was wanted to be sent.
    #[inline]
    fn offered(&mut self, now: Instant, size: usize, offer: Offer) {
        match offer {
            Offer::Full => {
                if let Some(schedule) = &mut self.schedule {
                    schedule.refuse(now);
                }
            }
            Offer::Refused(reason) => {
                // Nothing follows, so that it closes.
                self.schedule = None;
                self.report.failure.get_or_insert(reason);
            }
            Offer::Accepted => self.accepted(now, size),
        }
    }

    /// The transport has taken the message.
    #[expect(clippy::inline_always, reason = "each message passes it, most by its first lines")]
    #[inline(always)]
    fn accepted(&mut self, now: Instant, size: usize) {
        let Some(schedule) = &mut self.schedule else { return };
        let measures = self.config.measurement != Measurement::Off && self.config.content == Content::Stamped;
        self.next_number += 1;
        self.report.messages_sent += 1;
        // What stands in front of a message is not its own.
        let size = size - self.config.adaptation.header_len();
        self.report.bytes_sent += size as u64;
        if measures || self.config.record_messages {
            let sent = schedule.counts_from(now);
            schedule.take(now);
            return self.record(size, sent, measures);
        }
        schedule.take(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::MessageClass;
    use slantpath_base::{DataSize, Duration, Seed};

    fn sender(when_blocked: WhenBlocked) -> Sender {
        let config = SenderConfig {
            connect: Instant::START,
            start: Instant::START,
            stop: None,
            workload: Workload::ConstantRate {
                message: DataSize::from_bytes(100),
                interval: Duration::from_millis(10),
            },
            when_blocked,
            content: Content::Stamped,
            streams: 2,
            unordered: false,
            record_messages: true,
            measurement: Measurement::Off,
            record_timeline: false,
            sample_paths: None,
            options: SendOptions::default(),
            adaptation: FlowAdaptation::None,
        };
        let mut sender = Sender::new(config, Seed::new(1, 0).stream("flow"));
        assert!(matches!(sender.want(Instant::START), Want::Connect));
        sender.handle_connected(Instant::START);
        sender
    }

    /// Offers what is wanted at `now`, with the transport's answer; returns the message's number and stream.
    fn offer(sender: &mut Sender, now: Instant, offer: Offer) -> (u32, u16) {
        let Want::Send(outgoing) = sender.want(now) else { panic!("nothing is due at {now}") };
        sender.offered(now, outgoing.payload.len(), offer);
        (outgoing.number.unwrap(), outgoing.stream)
    }

    #[test]
    fn streams_are_used_in_turn() {
        let mut sender = sender(WhenBlocked::Wait);
        let offers = [0, 10, 20].map(|ms| offer(&mut sender, Instant::from_millis(ms), Offer::Accepted));
        assert_eq!(offers, [(0, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn a_waiting_source_slides_and_counts_delay_from_its_call() {
        let mut sender = sender(WhenBlocked::Wait);
        offer(&mut sender, Instant::START, Offer::Full);
        assert!(matches!(sender.want(Instant::from_millis(35)), Want::Wait(None)));
        sender.handle_writable();
        offer(&mut sender, Instant::from_millis(35), Offer::Accepted);
        assert_eq!(sender.report().messages[0].sent, Instant::START);
        assert!(
            matches!(sender.want(Instant::from_millis(35)), Want::Wait(Some(next)) if next == Instant::from_millis(45))
        );
    }

    #[test]
    fn a_queueing_source_keeps_its_timetable() {
        let mut sender = sender(WhenBlocked::Queue);
        offer(&mut sender, Instant::START, Offer::Full);
        sender.handle_writable();
        let later = Instant::from_millis(35);
        for _ in 0..4 {
            offer(&mut sender, later, Offer::Accepted);
        }
        let sent: Vec<_> = sender.report().messages.iter().map(|message| message.sent).collect();
        assert_eq!(sent, [0, 10, 20, 30].map(Instant::from_millis));
    }

    /// Kind 0 every 10 ms, kind 1 every 25 ms, both from 0 on.
    fn mixed_sender(when_blocked: WhenBlocked) -> Sender {
        let mut sender = sender(when_blocked);
        let class = |stream, ms| MessageClass {
            stream,
            message: DataSize::from_bytes(100),
            messages: 1,
            interval: Duration::from_millis(ms),
            options: SendOptions::default(),
            unordered: stream == 1,
        };
        let workload = Workload::Mixed { classes: vec![class(0, 10), class(1, 25)] };
        let stream = Seed::new(1, 0).stream("flow");
        sender.schedule = Some(Schedule::new(workload, when_blocked, Instant::START, stream));
        sender
    }

    #[test]
    fn a_kind_of_messages_without_room_holds_up_no_other() {
        let mut sender = mixed_sender(WhenBlocked::Wait);
        let ms = Instant::from_millis;
        let (short, long) = (0, 1);
        assert_eq!(offer(&mut sender, ms(0), Offer::Accepted).1, short);
        assert_eq!(offer(&mut sender, ms(0), Offer::Full).1, long);
        assert!(matches!(sender.want(ms(0)), Want::Wait(Some(next)) if next == ms(10)));
        assert_eq!(offer(&mut sender, ms(10), Offer::Accepted).1, short);
        // Now there is no room for either.
        assert_eq!(offer(&mut sender, ms(20), Offer::Full).1, short);
        assert!(matches!(sender.want(ms(31)), Want::Wait(None)));
        sender.handle_writable();
        // What has waited longest goes first; each counts from when it was offered, and its source slides.
        let again = [32, 33].map(|at| offer(&mut sender, ms(at), Offer::Accepted).1);
        assert_eq!(again, [long, short]);
        let sent: Vec<_> = sender.report().messages.iter().map(|message| message.sent).collect();
        assert_eq!(sent, [0, 10, 0, 20].map(ms));
        let next = [43, 53, 57].map(|at| offer(&mut sender, ms(at), Offer::Accepted).1);
        assert_eq!(next, [short, short, long]);
    }

    #[test]
    fn kinds_that_queue_keep_their_timetables_when_there_is_room_again() {
        let mut sender = mixed_sender(WhenBlocked::Queue);
        let ms = Instant::from_millis;
        for offered in [Offer::Full, Offer::Full] {
            offer(&mut sender, ms(0), offered);
        }
        sender.handle_writable();
        let streams = [(); 5].map(|()| offer(&mut sender, ms(29), Offer::Accepted).1);
        assert_eq!(streams, [0, 1, 0, 0, 1]);
        let sent: Vec<_> = sender.report().messages.iter().map(|message| message.sent).collect();
        assert_eq!(sent, [0, 0, 10, 20, 25].map(ms));
    }

    #[test]
    fn a_kind_may_be_unordered_and_streams_that_are_added_are_taken_in_turn() {
        let mut mixed = mixed_sender(WhenBlocked::Wait);
        let unordered = [(); 2].map(|()| {
            let Want::Send(outgoing) = mixed.want(Instant::START) else { panic!("both are due") };
            mixed.offered(Instant::START, 100, Offer::Accepted);
            outgoing.unordered
        });
        assert_eq!(unordered, [false, true]);
        let mut sender = sender(WhenBlocked::Wait);
        sender.handle_streams_added(4);
        let streams =
            [0, 10, 20, 30].map(|at| offer(&mut sender, Instant::from_millis(at), Offer::Accepted).1);
        assert_eq!(streams, [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_given_up_is_counted_by_stream_and_policy() {
        use slantpath_sctp::ReliabilityPolicy::{Lifetime, Priority};
        let mut sender = sender(WhenBlocked::Wait);
        let cases = [(0, Lifetime, true), (0, Lifetime, false), (0, Lifetime, true), (1, Priority, false)];
        for (stream, policy, was_sent) in cases {
            sender.handle_abandoned(Abandoned { number: None, stream, policy, was_sent });
        }
        let counts: Vec<_> = sender.report().abandoned_by_stream().collect();
        assert_eq!(counts, [((0, Lifetime), [1, 2]), ((1, Priority), [1, 0])]);
        assert_eq!(sender.report().messages_abandoned(), 4);
    }

    #[test]
    fn a_retransmitted_range_marks_every_message_in_it() {
        let mut sender = sender(WhenBlocked::Wait);
        for ms in [0, 10, 20, 30] {
            offer(&mut sender, Instant::from_millis(ms), Offer::Accepted);
        }
        let now = Instant::from_millis(40);
        sender.handle_transmitted(now, &SentPart::Bytes(100..301), 0, false);
        sender.handle_transmitted(now, &SentPart::Bytes(150..200), 0, true);
        let marks: Vec<_> = sender
            .report()
            .messages
            .iter()
            .map(|message| (message.first_transmitted.is_some(), message.retransmissions))
            .collect();
        assert_eq!(marks, [(false, 0), (true, 1), (true, 0), (true, 0)]);
    }

    fn retransmissions(records: &SenderRecords) -> Vec<u16> {
        records.messages.iter().map(|message| message.retransmissions).collect()
    }

    #[test]
    fn a_message_is_taken_once_it_and_all_before_it_are_acknowledged() {
        let mut sender = sender(WhenBlocked::Wait);
        sender.report_mut().paths = vec!["10.0.0.1".parse().unwrap()];
        for ms in [0, 10, 20, 30] {
            offer(&mut sender, Instant::from_millis(ms), Offer::Accepted);
        }
        let now = Instant::from_millis(40);
        for number in 0..4 {
            sender.handle_transmitted(now, &SentPart::Message(number), 0, false);
        }
        sender.handle_transmitted(now, &SentPart::Message(1), 0, true);
        for number in [1, 3] {
            sender.handle_acknowledged(AcknowledgedPart::Message(number));
        }
        assert_eq!(retransmissions(&sender.take_records(Finality::Settled)), []);
        sender.handle_acknowledged(AcknowledgedPart::Message(0));
        assert_eq!(retransmissions(&sender.take_records(Finality::Settled)), [0, 1]);
        // What is left is still found by its number, and what is gone is not taken for it.
        sender.handle_transmitted(now, &SentPart::Message(3), 0, true);
        sender.handle_transmitted(now, &SentPart::Message(0), 0, true);
        assert_eq!(retransmissions(&sender.take_records(Finality::Over)), [0, 1]);
        assert_eq!(sender.report().messages_sent, 4);
    }

    #[test]
    fn bytes_settle_the_messages_that_end_among_them() {
        let mut sender = sender(WhenBlocked::Wait);
        sender.report_mut().paths = vec!["10.0.0.1".parse().unwrap()];
        for ms in [0, 10, 20] {
            offer(&mut sender, Instant::from_millis(ms), Offer::Accepted);
        }
        for (up_to, settled) in [(99, 0), (100, 1), (299, 1), (300, 1)] {
            sender.handle_acknowledged(AcknowledgedPart::Bytes(up_to));
            assert_eq!(sender.take_records(Finality::Settled).messages.len(), settled, "{up_to} bytes");
        }
    }

    #[test]
    fn before_the_paths_are_known_nothing_is_settled() {
        let mut sender = sender(WhenBlocked::Wait);
        offer(&mut sender, Instant::START, Offer::Accepted);
        sender.handle_acknowledged(AcknowledgedPart::Message(0));
        assert_eq!(sender.take_records(Finality::Settled), SenderRecords::default());
        assert_eq!(sender.take_records(Finality::Over).messages.len(), 1);
    }

    #[test]
    fn a_refused_message_ends_the_flow_and_says_why() {
        let mut sender = sender(WhenBlocked::Wait);
        offer(&mut sender, Instant::START, Offer::Refused("no such stream".to_owned()));
        assert!(matches!(sender.want(Instant::START), Want::Close));
        assert!(matches!(sender.want(Instant::from_millis(50)), Want::Wait(None)));
        let (ended, later) = (Instant::from_millis(60), Some("the peer is gone".to_owned()));
        sender.handle_ended(ended, later);
        let report = sender.report();
        assert_eq!((report.failure.as_deref(), report.ended), (Some("no such stream"), Some(ended)));
    }

    #[test]
    fn a_stopped_source_closes() {
        let mut sender = sender(WhenBlocked::Wait);
        sender.config.stop = Some(Instant::from_millis(15));
        offer(&mut sender, Instant::START, Offer::Accepted);
        offer(&mut sender, Instant::from_millis(10), Offer::Accepted);
        assert!(matches!(sender.want(Instant::from_millis(15)), Want::Close));
        assert!(matches!(sender.want(Instant::from_millis(15)), Want::Wait(None)));
    }
}
