//! Segments in flight are cut anew, since they were too long for the path.

use std::collections::VecDeque;

use super::{Record, Scoreboard};

impl Scoreboard {
    /// Cuts every unacknowledged segment with more than `mss` bytes of data into shorter ones, to be retransmitted, and
    /// returns whether there was one. The stream ends at `stream_end`; what lies beyond is the FIN.
    ///
    /// What is lost is a prefix: shorter segments before the last one that was too long count as lost, too.
    pub(crate) fn recut(&mut self, mss: u64, stream_end: u64) -> bool {
        if self.is_timed() {
            return self.recut_timed(mss, stream_end);
        }
        let mut records = VecDeque::with_capacity(self.records.len());
        let mut lost_below = None;
        let mut lost_before = 0;
        let mut start = self.una;
        for (number, record) in (self.first..).zip(&self.records) {
            let is_too_long =
                record.sacked_in != self.epoch && record.end.min(stream_end).saturating_sub(start) > mss;
            if is_too_long {
                while record.end.min(stream_end) - start > mss {
                    start += mss;
                    records.push_back(Record { end: start, ..*record });
                }
            }
            records.push_back(*record);
            start = record.end;
            if is_too_long {
                lost_below = Some(self.first + records.len() as u64);
                self.lost_up_to = self.lost_up_to.max(record.end);
            }
            if number < self.lost_below {
                lost_before = records.len() as u64;
            }
        }
        let Some(lost_below) = lost_below else { return false };
        self.renumber(records);
        self.lost_below = lost_below.max(self.first + lost_before);
        self.retransmitted_below = self.first;
        let mut start = self.una;
        self.pipe = 0;
        for (number, record) in (self.first..).zip(&self.records) {
            if number >= self.lost_below && record.sacked_in != self.epoch {
                self.pipe += record.end - start;
            }
            start = record.end;
        }
        true
    }

    /// Takes other records of the same offsets.
    pub(super) fn renumber(&mut self, records: VecDeque<Record>) {
        self.records = records;
        self.behind_sacked = (0, 0);
    }
}
