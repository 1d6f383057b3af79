//! Losses by time (RFC 8985): which records are on their way, in the order of their last transmission, and which are
//! lost and wait to be retransmitted.
//!
//! A record is *in flight* while it is in the order, and counts once in `pipe`. It leaves the order when it is SACKed
//! or lost. What is lost is retransmitted in the order of the stream; the heap of it may hold records that have arrived
//! since, which are passed over.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slantpath_base::{Duration, Instant};
use slantpath_cc::delivery::LostSegment;
use slantpath_cc::rack::{self, Repair};
use slantpath_cc::{Rack, SentOrder};

use super::{Range, Record, RecordNumber, Scoreboard, Sent, usize_of};

#[derive(Debug)]
pub(super) struct ByTime {
    pub(super) order: SentOrder,
    rack: Rack,
    lost: BinaryHeap<Reverse<RecordNumber>>,
    /// SACKed records that are not acknowledged (RACK.segs_sacked).
    sacked: u32,
    /// Instant at which the acknowledgement at hand came.
    now: Instant,
    /// Of what it told of that was sent once: where the first ends.
    first_original: Option<u64>,
}

/// Segments that have been found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Overtaken {
    /// Number of offsets in them.
    pub(crate) count: u64,
    /// Offset at which the last in the stream ends.
    pub(crate) end: u64,
    /// Instant at which the next will be, if nothing comes before.
    pub(crate) next_at: Option<Instant>,
}

impl ByTime {
    /// A record has arrived for all that is known.
    pub(super) fn on_delivered(&mut self, record: &Record) {
        let sent = rack::Transmission { sent_at: record.departure.sent_at, end: record.end };
        self.rack.on_delivered(self.now, sent, record.transmissions);
        if record.transmissions == 1 && self.first_original.is_none_or(|first| record.end < first) {
            self.first_original = Some(record.end);
        }
    }

    /// Tells if something may be lost that has not been retransmitted.
    pub(super) fn may_have_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The record is SACKed. Returns whether it was on its way.
    pub(super) fn on_sacked(&mut self, number: RecordNumber, record: &Record) -> bool {
        self.sacked += 1;
        self.on_delivered(record);
        self.order.remove(number)
    }

    /// The front record is acknowledged.
    pub(super) fn on_acknowledged(&mut self, record: &Record, is_sacked: bool) {
        self.order.pop_front();
        if is_sacked {
            self.sacked -= 1;
        } else {
            self.on_delivered(record);
        }
    }
}

impl Scoreboard {
    /// Finds losses by time from now on. Nothing has been sent yet.
    pub(crate) fn time_losses(&mut self, duplicate_threshold: u32) {
        self.timed = Some(Box::new(ByTime {
            order: SentOrder::default(),
            rack: Rack::new(duplicate_threshold),
            lost: BinaryHeap::new(),
            sacked: 0,
            now: Instant::START,
            first_original: None,
        }));
    }

    /// Tells if losses are found by time.
    pub(crate) const fn is_timed(&self) -> bool {
        self.timed.is_some()
    }

    /// An acknowledgement comes.
    pub(crate) fn begin_ack(&mut self, now: Instant) {
        if let Some(timed) = &mut self.timed {
            timed.now = now;
            timed.first_original = None;
        }
    }

    /// Of what it told of that was sent once: where the first ends.
    pub(crate) fn first_original(&self) -> Option<u64> {
        self.timed.as_ref()?.first_original
    }

    /// Ends the reading of an acknowledgement. `is_spurious`: it shows that retransmitted data had arrived before.
    pub(crate) fn end_ack(&mut self, is_spurious: bool) {
        if let Some(timed) = &mut self.timed {
            timed.rack.end_of_ack(timed.now, is_spurious);
        }
    }

    /// The peer reports that something came twice.
    pub(crate) fn on_duplicate_reported(&mut self) {
        if let Some(timed) = &mut self.timed {
            timed.rack.on_duplicate_reported(self.una, self.nxt);
        }
    }

    /// Something came so late that it had been retransmitted.
    pub(crate) fn on_reordering_seen(&mut self) {
        if let Some(timed) = &mut self.timed {
            timed.rack.on_reordering_seen();
        }
    }

    /// A recovery has ended.
    pub(crate) fn on_recovery_ended(&mut self) {
        if let Some(timed) = &mut self.timed {
            timed.rack.on_recovery_ended();
        }
    }

    /// Tells if nothing is SACKed.
    pub(crate) fn is_in_order(&self) -> bool {
        self.sacked.is_empty()
    }

    /// Finds what is lost by now (RFC 8985, section 6.2, step 5). Each is found at its own time: the RFC's timer waits
    /// for the last of them.
    pub(crate) fn detect_overtaken(
        &mut self,
        now: Instant,
        smoothed_round_trip: Option<Duration>,
        is_recovering: bool,
        mut on_lost: impl FnMut(LostSegment),
    ) -> Overtaken {
        let mut found = Overtaken::default();
        let Some(timed) = &mut self.timed else { return found };
        let repair =
            if is_recovering { Repair::Running } else { Repair::None { out_of_order: timed.sacked } };
        let window = timed.rack.reordering_window(smoothed_round_trip, repair);
        while let Some(number) = timed.order.oldest() {
            let index = usize_of(number - self.first);
            let Record { end, departure, .. } = self.records[index];
            let sent = rack::Transmission { sent_at: departure.sent_at, end };
            match timed.rack.lost_at(sent, window) {
                Some(lost_at) if lost_at <= now => {
                    timed.order.remove(number);
                    timed.lost.push(Reverse(number));
                    let start = index.checked_sub(1).map_or(self.una, |before| self.records[before].end);
                    self.pipe -= end - start;
                    on_lost(self.delivery.lose(end - start, &departure));
                    found.count += end - start;
                    found.end = found.end.max(end);
                }
                next_at => {
                    found.next_at = next_at;
                    break;
                }
            }
        }
        found
    }

    /// The first in the stream that is lost and not retransmitted.
    pub(super) fn next_timed_lost(&mut self) -> Option<Range> {
        let timed = self.timed.as_mut()?;
        while let Some(&Reverse(number)) = timed.lost.peek() {
            if number >= self.first && !timed.order.contains(number) {
                let index = usize_of(number - self.first);
                let record = self.records[index];
                if record.sacked_in != self.epoch {
                    return Some(Range { start: self.start_of(index), end: record.end });
                }
            }
            timed.lost.pop();
        }
        None
    }

    /// Notes that it was retransmitted.
    pub(super) fn retransmit_timed_lost(&mut self, now: Instant) -> Sent {
        let lost = self.timed.as_mut().and_then(|timed| timed.lost.pop());
        let Reverse(number) = lost.expect("something lost has been asked for");
        self.retransmit_timed(now, number)
    }

    /// Notes that a record was retransmitted, whatever had become of it.
    pub(super) fn retransmit_timed(&mut self, now: Instant, number: RecordNumber) -> Sent {
        let index = usize_of(number - self.first);
        let sent = self.resend(index, now);
        let is_sacked = self.records[index].sacked_in == self.epoch;
        let timed = self.timed.as_mut().expect("losses are found by time");
        if !is_sacked {
            if !timed.order.remove(number) {
                self.pipe += sent.range.len();
            }
            timed.order.append(number);
        }
        sent
    }

    /// Nothing was lost: what waits to be retransmitted is on its way after all.
    pub(crate) fn restore_lost(&mut self) {
        self.reorder(|_| false);
    }

    /// The last segment is retransmitted as a probe (RFC 8985, section 7.3).
    pub(crate) fn retransmit_as_probe(&mut self, now: Instant) -> Option<Sent> {
        let last = self.records.len().checked_sub(1)?;
        Some(self.retransmit_timed(now, self.first + last as u64))
    }

    /// The retransmission timer expired.
    //= https://www.rfc-editor.org/rfc/rfc8985#section-6.3
    //# Upon RTO timer expiration, RACK marks the first outstanding segment
    //# as lost (since it was sent an RTO ago); for all the other segments,
    //# RACK only marks the segment as lost if the time elapsed since the
    //# segment was transmitted is at least the sum of the recent RTT and the
    //# reordering window.
    pub(super) fn time_out_by_time(
        &mut self,
        now: Instant,
        smoothed_round_trip: Option<Duration>,
        mut on_lost: impl FnMut(LostSegment),
    ) {
        let reneged = self.has_peer_reneged();
        if reneged {
            self.forget_all_sacked();
        }
        let Some(timed) = &mut self.timed else { return };
        if reneged {
            // All that it has given up waits to be retransmitted.
            timed.sacked = 0;
            for number in (self.first..).take(self.records.len()) {
                if !timed.order.contains(number) {
                    timed.lost.push(Reverse(number));
                }
            }
        }
        let window = timed.rack.reordering_window(smoothed_round_trip, Repair::Running);
        let mut next = Some(self.first);
        while let Some(number) = next {
            let index = usize_of(number - self.first);
            let Record { end, departure, .. } = self.records[index];
            if number != self.first && !timed.rack.is_overdue(now, departure.sent_at, window) {
                break;
            }
            if timed.order.remove(number) {
                let start = index.checked_sub(1).map_or(self.una, |before| self.records[before].end);
                timed.lost.push(Reverse(number));
                self.pipe -= end - start;
                on_lost(self.delivery.lose(end - start, &departure));
            }
            next = timed.order.oldest();
        }
    }

    /// Segments have been cut anew: `lost` says of each record, by its place, whether it is to be retransmitted. What
    /// is in flight keeps the order of its departures.
    pub(super) fn reorder(&mut self, is_lost: impl Fn(usize) -> bool) {
        let Some(timed) = &mut self.timed else { return };
        let mut order = SentOrder::starting_at(self.first);
        let mut in_flight = Vec::new();
        timed.lost.clear();
        timed.sacked = 0;
        self.pipe = 0;
        let mut start = self.una;
        for (index, record) in self.records.iter().enumerate() {
            order.push_outside();
            let number = self.first + index as u64;
            if record.sacked_in == self.epoch {
                timed.sacked += 1;
            } else if is_lost(index) {
                timed.lost.push(Reverse(number));
            } else {
                in_flight.push((record.departure.sent_at, number));
                self.pipe += record.end - start;
            }
            start = record.end;
        }
        in_flight.sort_unstable();
        for (_, number) in in_flight {
            order.append(number);
        }
        timed.order = order;
    }

    /// Cuts every unacknowledged segment with more than `mss` bytes of data into shorter ones, to be retransmitted.
    pub(super) fn recut_timed(&mut self, mss: u64, stream_end: u64) -> bool {
        let Some(timed) = &self.timed else { return false };
        let mut records = VecDeque::with_capacity(self.records.len());
        let mut is_lost = Vec::with_capacity(self.records.len());
        let mut start = self.una;
        let mut has_cut = false;
        for (number, record) in (self.first..).zip(&self.records) {
            let is_sacked = record.sacked_in == self.epoch;
            let is_too_long = !is_sacked && record.end.min(stream_end).saturating_sub(start) > mss;
            has_cut |= is_too_long;
            while is_too_long && record.end.min(stream_end) - start > mss {
                start += mss;
                records.push_back(Record { end: start, ..*record });
                is_lost.push(true);
            }
            records.push_back(*record);
            is_lost.push(is_too_long || (!is_sacked && !timed.order.contains(number)));
            start = record.end;
        }
        if has_cut {
            self.renumber(records);
            self.reorder(|index| is_lost[index]);
        }
        has_cut
    }
}
