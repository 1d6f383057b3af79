//! Record of all segments that have been sent and of their fate: RFC 6675's scoreboard, with `pipe` kept up to date.
//!
//! Each transmitted segment has a record, in order; its number never changes while the front moves on. What is
//! lost and what has been retransmitted since are prefixes of the records, so two numbers tell both:
//! an unacknowledged, unSACKed segment is *lost* if its number is below `lost_below`, and was *retransmitted* if
//! its number is below `retransmitted_below` (HighRxt). `pipe` then is the sum over all such segments of
//! their length, once if not lost and once if retransmitted (RFC 6675, SetPipe). All three move forward only,
//! except at a timeout and where segments are cut anew, so that an ACK costs what it newly acknowledges, SACKs or
//! declares lost.
//!
//! Where losses are found by time there are no such prefixes; [`timed`] says what takes their place.

mod recut;
mod timed;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};
use slantpath_cc::delivery::{self, DeliveryMeter, DeliverySample, Departure, LostSegment};
use timed::ByTime;

/// The number of a record since the start of the connection.
pub(crate) type RecordNumber = u64;

#[derive(Clone, Copy, Debug)]
// It fills a line of the cache.
#[repr(align(64))]
struct Record {
    /// Offset past its last byte; it starts where the one before it ends.
    end: u64,
    departure: Departure,
    transmissions: u32,
    /// The epoch in which the peer SACKed it; when the peer reneges a new epoch starts, which turns all bits off.
    sacked_in: u32,
}

/// A range of offsets, `start` up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Range {
    pub(crate) const fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Places for a few ranges.
const NO_RANGES: [Range; 3] = [Range { start: 0, end: 0 }; 3];

/// A segment to be sent, again or for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) range: Range,
    pub(crate) transmissions: u32,
}

/// News in an acknowledgement, cumulative or selective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acked {
    /// Offsets newly acknowledged.
    pub(crate) count: u64,
    /// The segment that gives a round-trip time: the newest one. None of a cumulative acknowledgement's may have
    /// been retransmitted or held back by the receiver.
    pub(crate) timed: Option<Timed>,
}

/// A segment that was sent once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed {
    pub(crate) sent_at: Instant,
    /// Offset past its last byte.
    pub(crate) end: u64,
}

/// The records of all segments between SND.UNA and SND.NXT.
#[derive(Debug)]
// In this order in memory: what is touched while nothing is lost in front.
#[repr(C)]
pub(crate) struct Scoreboard {
    una: u64,
    nxt: u64,
    pipe: u64,
    /// Losses are found by time, and the three prefixes are not used.
    timed: Option<Box<ByTime>>,
    delivery: DeliveryMeter,
    /// The number of the front record.
    first: RecordNumber,
    epoch: u32,
    records: VecDeque<Record>,
    lost_below: RecordNumber,
    retransmitted_below: RecordNumber,
    /// Offset at which the record starts that follows the one that was SACKed last, and its number.
    behind_sacked: (u64, RecordNumber),
    /// Ranges that the peer has SACKed, in order, without overlap or contact.
    sacked: VecDeque<Range>,
    /// Blocks that told nothing new when they last came. Most come again and again behind the one that does.
    repeated: [Range; NO_RANGES.len()],
    /// The offset up to which the loss rule has been applied.
    lost_up_to: u64,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            records: VecDeque::new(),
            first: 0,
            lost_below: 0,
            retransmitted_below: 0,
            behind_sacked: (0, 0),
            una: 0,
            nxt: 0,
            pipe: 0,
            epoch: 1,
            sacked: VecDeque::new(),
            repeated: NO_RANGES,
            lost_up_to: 0,
            delivery: DeliveryMeter::default(),
            timed: None,
        }
    }
}

impl Scoreboard {
    /// The first offset not acknowledged (HighACK).
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// The first offset not sent (HighData).
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Sent and not acknowledged, in offsets.
    pub(crate) const fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// The estimate of what is in the network (RFC 6675, section 2).
    pub(crate) const fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Reads rate and round from the acknowledgement at hand, which has been taken in.
    pub(crate) fn read_delivery(&mut self, now: Instant, round_trip: Option<Duration>) -> delivery::Reading {
        self.delivery.read(now, round_trip)
    }

    /// The last sample of the delivery rate.
    pub(crate) const fn latest_delivery(&self) -> Option<DeliverySample> {
        self.delivery.latest()
    }

    /// There is nothing more to send although the window would let it out.
    pub(crate) fn limit_by_application(&mut self) {
        self.delivery.limit_by_application(self.pipe);
    }

    /// Tells if everything sent has been acknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.una == self.nxt
    }

    /// Offset at which the first unacknowledged segment ends.
    pub(crate) fn first_end(&self) -> Option<u64> {
        self.records.front().map(|record| record.end)
    }

    /// Tells if the first unacknowledged segment is lost.
    pub(crate) fn is_first_lost(&self) -> bool {
        self.lost_below > self.first
    }

    /// Notes the first transmission of the next `len` offsets.
    #[inline]
    pub(crate) fn push(&mut self, len: u64, now: Instant) -> Sent {
        let start = self.nxt;
        self.nxt += len;
        self.pipe += len;
        let departure = self.delivery.depart(now, self.records.is_empty(), self.pipe);
        self.records.push_back(Record { end: self.nxt, departure, transmissions: 1, sacked_in: 0 });
        if let Some(timed) = &mut self.timed {
            timed.order.push();
        }
        Sent { range: Range { start, end: self.nxt }, transmissions: 1 }
    }

    /// Takes in a cumulative acknowledgement of everything before `to`, which lies after SND.UNA and not beyond
    /// SND.NXT.
    pub(crate) fn acknowledge(&mut self, to: u64) -> Acked {
        let count = to - self.una;
        let mut timed = None;
        let mut is_timeable = true;
        while let Some(record) = self.records.front()
            && record.end <= to
        {
            let end = record.end;
            let is_sacked = record.sacked_in == self.epoch;
            is_timeable &= record.transmissions == 1 && !is_sacked;
            timed = Some(Timed { sent_at: record.departure.sent_at, end });
            if !is_sacked {
                self.delivery.deliver(end - self.una, &record.departure);
                self.pipe -= self.weight(self.first) * (end - self.una);
            }
            if let Some(timed) = &mut self.timed {
                timed.on_acknowledged(record, is_sacked);
            }
            self.una = end;
            self.records.pop_front();
            self.first += 1;
        }
        if to > self.una {
            self.acknowledge_part(to);
        }
        self.lost_below = self.lost_below.max(self.first);
        self.retransmitted_below = self.retransmitted_below.max(self.first);
        if !self.sacked.is_empty() {
            self.forget_sacked(to);
        }
        Acked { count, timed: if is_timeable { timed } else { None } }
    }

    /// The peer took part of a segment.
    #[cold]
    fn acknowledge_part(&mut self, to: u64) {
        let front = self.records.front().expect("what is sent and not acknowledged has a record");
        if front.sacked_in != self.epoch {
            self.delivery.deliver(to - self.una, &front.departure);
            self.pipe -= self.weight(self.first) * (to - self.una);
        }
        self.una = to;
    }

    /// The peer has not kept what it SACKed.
    fn forget_all_sacked(&mut self) {
        self.epoch += 1;
        self.sacked.clear();
        self.repeated = NO_RANGES;
    }

    /// Discards SACKed ranges before `to`: of acknowledged data it need not be known that it was SACKed.
    #[inline(never)]
    fn forget_sacked(&mut self, to: u64) {
        while let Some(range) = self.sacked.front_mut() {
            if range.end > to {
                range.start = range.start.max(to);
                break;
            }
            self.sacked.pop_front();
        }
    }

    /// Takes in one SACK block (RFC 6675, Update).
    #[inline]
    pub(crate) fn sack(&mut self, block: Range) -> Acked {
        // A block at or below SND.UNA is old, or reports a duplicate (RFC 2883); one beyond SND.NXT is a lie.
        let is_news = self.una < block.start && block.start < block.end && block.end <= self.nxt;
        if !is_news || self.repeated.contains(&block) {
            return Acked::default();
        }
        let newly = self.sack_news(block);
        if newly == Acked::default() {
            self.repeated.rotate_right(1);
            self.repeated[0] = block;
        }
        newly
    }

    #[inline(never)]
    fn sack_news(&mut self, block: Range) -> Acked {
        match self.sacked.back_mut() {
            // Most blocks extend the last range.
            Some(last) if last.start <= block.start && block.start <= last.end && last.end < block.end => {
                let start = core::mem::replace(&mut last.end, block.end);
                Acked { count: block.end - start, timed: self.mark_sacked(start, block.end) }
            }
            _ => self.sack_among_others(block),
        }
    }

    #[inline(never)]
    fn sack_among_others(&mut self, block: Range) -> Acked {
        let Range { mut start, end } = block;
        // The ranges that the block overlaps or touches are one afterwards.
        let from = self.sacked.partition_point(|range| range.end < start);
        let mut merged = Range { start, end };
        let mut to = from;
        let mut newly = Acked::default();
        while let Some(&range) = self.sacked.get(to) {
            if range.start > end {
                break;
            }
            if range.start <= start && end <= range.end {
                return Acked::default();
            }
            if range.start > start {
                newly.count += range.start - start;
                newly.timed = self.mark_sacked(start, range.start).or(newly.timed);
            }
            start = start.max(range.end);
            merged = Range { start: merged.start.min(range.start), end: merged.end.max(range.end) };
            to += 1;
        }
        if start < end {
            newly.count += end - start;
            newly.timed = self.mark_sacked(start, end).or(newly.timed);
        }
        if from == to {
            self.sacked.insert(from, merged);
        } else {
            self.sacked[from] = merged;
            self.sacked.drain(from + 1..to);
        }
        newly
    }

    /// Marks the records that lie wholly within the offsets, and returns the newest that was sent once.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most blocks bring one record, behind the one before")]
    fn mark_sacked(&mut self, start: u64, end: u64) -> Option<Timed> {
        let mut timed = None;
        let (mut number, mut record_start) = self.find(start);
        while record_start < end
            && let Some(record) = self.records.get_mut(usize_of(number - self.first))
        {
            let record_end = record.end;
            if record_end > end {
                break;
            }
            if record_start >= start && record.sacked_in != self.epoch {
                record.sacked_in = self.epoch;
                self.delivery.deliver(record_end - record_start, &record.departure);
                if record.transmissions == 1 {
                    timed = Some(Timed { sent_at: record.departure.sent_at, end: record_end });
                }
                self.pipe -= match &mut self.timed {
                    Some(timed) => u64::from(timed.on_sacked(number, record)),
                    None => weight(number, self.lost_below, self.retransmitted_below),
                } * (record_end - record_start);
            }
            record_start = record_end;
            number += 1;
        }
        self.behind_sacked = (record_start, number);
        timed
    }

    /// Applies the loss rule to what is SACKed by now (RFC 6675, IsLost), and returns whether it found a loss.
    //= https://www.rfc-editor.org/rfc/rfc6675#section-4
    //# The routine returns true when either DupThresh discontiguous SACKed
    //# sequences have arrived above 'SeqNum' or more than (DupThresh - 1) *
    //# SMSS bytes with sequence numbers greater than 'SeqNum' have been
    //# SACKed.
    pub(crate) fn detect_losses(
        &mut self,
        duplicate_threshold: u32,
        mss: u64,
        mut on_lost: impl FnMut(LostSegment),
    ) -> bool {
        // Nothing behind the start of the last range is found lost.
        if self.sacked.back().is_none_or(|last| last.start <= self.lost_up_to) {
            return false;
        }
        let enough_bytes = u64::from(duplicate_threshold.saturating_sub(1)) * mss;
        let mut bytes = 0;
        let mut bound = None;
        // From the top: at most as many ranges as the threshold are looked at.
        for (ranges, range) in (1..).zip(self.sacked.iter().rev()) {
            bytes += range.end - range.start;
            if ranges >= duplicate_threshold || bytes > enough_bytes {
                bound = Some(range.start);
                break;
            }
        }
        let Some(bound) = bound.filter(|bound| *bound > self.lost_up_to) else { return false };
        self.lost_up_to = bound;
        let mut found = false;
        let mut index = usize_of(self.lost_below - self.first);
        let mut start = self.start_of(index);
        while let Some(record) = self.records.get(index) {
            if record.end > bound {
                break;
            }
            if record.sacked_in != self.epoch {
                self.pipe -= record.end - start;
                on_lost(self.delivery.lose(record.end - start, &record.departure));
                found = true;
            }
            start = record.end;
            index += 1;
        }
        self.lost_below = self.first + index as u64;
        found
    }

    /// The first segment that is lost and has not been retransmitted, if any (RFC 6675, NextSeg rule 1).
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<Range> {
        if self.may_have_lost() { self.find_lost() } else { None }
    }

    #[inline(never)]
    fn find_lost(&mut self) -> Option<Range> {
        if self.is_timed() {
            return self.next_timed_lost();
        }
        self.next_to_retransmit(self.lost_below)
    }

    /// Tells if it takes a look to know that there is [none](Self::next_lost).
    #[inline]
    pub(crate) fn may_have_lost(&self) -> bool {
        match &self.timed {
            Some(timed) => timed.may_have_lost(),
            None => self.retransmitted_below < self.lost_below,
        }
    }

    /// The first segment that has not been retransmitted, below the highest SACKed offset, lost or not (RFC
    /// 6675, NextSeg rule 3).
    pub(crate) fn next_unsacked(&mut self) -> Option<Range> {
        let highest = self.sacked.back()?.start;
        let below = self.first + self.index_at(highest) as u64;
        self.next_to_retransmit(below)
    }

    /// Moves `retransmitted_below` over SACKed segments, which weigh nothing in `pipe` either way.
    fn next_to_retransmit(&mut self, below: RecordNumber) -> Option<Range> {
        while self.retransmitted_below < below {
            let index = usize_of(self.retransmitted_below - self.first);
            let record = self.records[index];
            if record.sacked_in != self.epoch {
                return Some(Range { start: self.start_of(index), end: record.end });
            }
            self.retransmitted_below += 1;
        }
        None
    }

    /// Notes that what [`next_lost`](Self::next_lost) or [`next_unsacked`](Self::next_unsacked) returned was
    /// retransmitted.
    pub(crate) fn retransmit_next(&mut self, now: Instant) -> Sent {
        if self.is_timed() {
            return self.retransmit_timed_lost(now);
        }
        let index = usize_of(self.retransmitted_below - self.first);
        let sent = self.resend(index, now);
        self.pipe += sent.range.end - sent.range.start;
        self.retransmitted_below += 1;
        sent
    }

    /// Notes that the first unacknowledged segment was retransmitted. `counts`: it also counts for HighRxt and in
    /// `pipe`, unless it did already.
    pub(crate) fn retransmit_first(&mut self, now: Instant, counts: bool) -> Option<Sent> {
        let front = self.records.front()?;
        if self.is_timed() {
            return Some(self.retransmit_timed(now, self.first));
        }
        if counts && self.retransmitted_below == self.first && front.sacked_in != self.epoch {
            return Some(self.retransmit_next(now));
        }
        Some(self.resend(0, now))
    }

    /// Notes that the last unSACKed segment was retransmitted, outside of HighRxt and `pipe` (RFC 6675, NextSeg
    /// rule 4).
    pub(crate) fn retransmit_last(&mut self, now: Instant) -> Option<Sent> {
        let mut index = self.records.len().checked_sub(1)?;
        // The highest SACKed range may end the records; below it lies the segment that is meant.
        if let Some(range) = self.sacked.back().filter(|range| range.end == self.nxt) {
            index = self.index_at(range.start).checked_sub(1)?;
        }
        Some(self.resend(index, now))
    }

    fn resend(&mut self, index: usize, now: Instant) -> Sent {
        let start = self.start_of(index);
        let record = &mut self.records[index];
        record.departure = self.delivery.depart(now, false, self.pipe + record.end - start);
        record.transmissions += 1;
        Sent { range: Range { start, end: record.end }, transmissions: record.transmissions }
    }

    /// The retransmission timer expired: what is not SACKed is lost, and nothing is retransmitted yet.
    //= https://www.rfc-editor.org/rfc/rfc2018#section-5
    //= type=exception
    //= reason=RFC 6675 allows to keep them; to send a window again that has arrived overflows the same queue.
    //# After a retransmit timeout the data sender SHOULD turn off all of the
    //# SACKed bits, since the timeout might indicate that the data receiver
    //# has reneged.
    //= https://www.rfc-editor.org/rfc/rfc6675#section-5.1
    //# as long as robust tests for
    //# reneging are present, an implementation can retain and use SACK
    //# information across a timeout event
    pub(crate) fn on_timeout(
        &mut self,
        now: Instant,
        smoothed_round_trip: Option<Duration>,
        mut on_lost: impl FnMut(LostSegment),
    ) {
        if self.is_timed() {
            return self.time_out_by_time(now, smoothed_round_trip, on_lost);
        }
        if self.has_peer_reneged() {
            self.forget_all_sacked();
        }
        let mut start = self.una;
        for (number, record) in (self.first..).zip(&self.records) {
            let is_on_its_way = number >= self.lost_below || number < self.retransmitted_below;
            if is_on_its_way && record.sacked_in != self.epoch {
                on_lost(self.delivery.lose(record.end - start, &record.departure));
            }
            start = record.end;
        }
        self.lost_below = self.first + self.records.len() as u64;
        self.lost_up_to = self.nxt;
        self.retransmitted_below = self.first;
        self.pipe = 0;
    }

    /// Tells if the peer SACKed data that it still does not acknowledge although nothing before it is missing: it no
    /// longer has it. Any other data that it dropped comes to stand here in its turn.
    fn has_peer_reneged(&self) -> bool {
        self.sacked.front().is_some_and(|range| range.start == self.una)
    }

    /// Number of times that an unSACKed segment counts in `pipe`.
    #[inline]
    fn weight(&self, number: RecordNumber) -> u64 {
        if let Some(timed) = &self.timed {
            return u64::from(timed.order.contains(number));
        }
        weight(number, self.lost_below, self.retransmitted_below)
    }

    /// The number of the record that holds `offset`, which lies after SND.UNA, and where it starts.
    #[inline]
    fn find(&self, offset: u64) -> (RecordNumber, u64) {
        debug_assert!(offset > self.una, "only what lies there is remembered");
        // Mostly it follows the one that was SACKed last.
        let (start, number) = self.behind_sacked;
        if start == offset {
            return (number, start);
        }
        let index = self.index_at(offset);
        (self.first + index as u64, self.start_of(index))
    }

    /// Index of the record that holds `offset`.
    fn index_at(&self, offset: u64) -> usize {
        self.index_among_equals(offset)
            .unwrap_or_else(|| self.records.partition_point(|record| record.end <= offset))
    }

    /// Variant of [`Self::index_at`] for the case that all segments before it are as long as the first, as they mostly
    /// are: it is then not searched.
    #[inline]
    fn index_among_equals(&self, offset: u64) -> Option<usize> {
        let first_len = self.first_end()?.checked_sub(self.una).filter(|len| *len > 0)?;
        let index = usize_of(offset.checked_sub(self.una)? / first_len);
        let record = self.records.get(index)?;
        (self.start_of(index) <= offset && offset < record.end).then_some(index)
    }

    fn start_of(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(self.una, |before| self.records[before].end)
    }
}

/// Number of times that an unSACKed segment counts in `pipe`, by the prefixes.
fn weight(number: RecordNumber, lost_below: RecordNumber, retransmitted_below: RecordNumber) -> u64 {
    u64::from(number >= lost_below) + u64::from(number < retransmitted_below)
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).expect("an index within memory")
}

#[cfg(test)]
mod tests;
