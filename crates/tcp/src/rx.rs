//! The receiving half: what has arrived, when to acknowledge it, how much more may come.
//!
//! Offsets are 64-bit as in the sending half: 0 is the first byte of the peer's stream, and its FIN takes the
//! offset past the last.

mod reassembly;

use bytes::{Buf, Bytes};
use slantpath_base::Instant;

use crate::config::{DelayedAck, TcpConfig};
use crate::line::Line;
use crate::segment::Flags;
use crate::tx::Range;
use reassembly::Reassembly;

/// Time at which the next acknowledgement is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckDue {
    By(Instant),
    NotDue,
    Now,
}

/// Echo of marks of congestion in acknowledgements (RFC 3168, section 6.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    /// No mark has come that the peer has not answered.
    Silent,
    /// One has: so they say until a segment with CWR comes.
    UntilReduced,
}

/// Readiness of the application for data in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// The application takes it at once.
    Flowing,
    /// The application takes nothing: data waits, and the window closes.
    Held,
}

#[derive(Debug)]
// In this order in memory: what packets of either direction touch, then what data does.
#[repr(C)]
pub(crate) struct Rx {
    ack_due: AckDue,
    /// RCV.NXT.
    nxt: u64,
    /// The first offset that the peer was never allowed to send.
    edge: u64,
    buffer_bytes: u64,
    /// The shift of the windows that are advertised.
    shift: u8,
    reader: Reader,
    is_end_reported: bool,
    echo: Echo,
    /// Once something has come ahead of a gap.
    reassembly: Option<Box<Reassembly>>,
    /// Data that has come twice and is to be reported; `None` if nothing ever is (RFC 2883).
    duplicates: Option<Box<Duplicates>>,
    /// Offset at which the peer's stream ends, once its FIN has come.
    fin: Option<u64>,
    /// Of data that the application has not taken; it lies in `ready`.
    ready_bytes: u64,
    ready: Line<Bytes>,
    delayed_ack: DelayedAck,
}

/// Data that has come before, while such data is reported.
#[derive(Debug, Default)]
struct Duplicates {
    /// The last of it. The next acknowledgement reports it.
    latest: Option<Range>,
}

impl Rx {
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            nxt: 0,
            fin: None,
            reassembly: None,
            ready: Line::default(),
            ready_bytes: 0,
            reader: Reader::Flowing,
            ack_due: AckDue::NotDue,
            delayed_ack: config.delayed_ack,
            buffer_bytes: config.receive_buffer_bytes,
            shift: 0,
            // A window is never scaled on a SYN (RFC 7323, section 2.2).
            edge: config.receive_buffer_bytes.min(0xffff),
            is_end_reported: false,
            echo: Echo::Silent,
            duplicates: config.duplicate_reports.then(Box::default),
        }
    }

    /// Both sides agreed to scale windows, this one by `shift`.
    pub(crate) const fn scale(&mut self, shift: u8) {
        self.shift = shift;
    }

    /// RCV.NXT, with the FIN counted.
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Bytes of the stream that have arrived in order.
    pub(crate) fn received(&self) -> u64 {
        self.fin.map_or(self.nxt, |fin| fin.min(self.nxt))
    }

    /// The first offset outside of the window.
    pub(crate) const fn edge(&self) -> u64 {
        self.edge
    }

    /// Tells if everything up to the peer's FIN has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Takes in a segment of the window, and its data out of its packet: `start` is its first offset, which may lie
    /// before RCV.NXT.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all data is in sequence, which takes a few steps")]
    pub(crate) fn receive(&mut self, now: Instant, start: i64, data: &mut Bytes, has_fin: bool) {
        if start == self.nxt.cast_signed() && !self.has_gap() && !has_fin {
            let end = self.nxt + data.len() as u64;
            if end <= self.edge && self.fin.is_none() {
                self.nxt = end;
                self.ready_bytes += data.len() as u64;
                self.ready.push(core::mem::take(data));
                self.delay_ack(now);
                return;
            }
        }
        self.receive_otherwise(start, core::mem::take(data), has_fin);
    }

    /// Tells if `len` bytes of data at `start` lie behind a gap, and wholly in the window, and the end of the peer's
    /// stream is not known.
    #[inline]
    pub(crate) const fn takes_ahead(&self, start: u64, len: usize) -> bool {
        self.nxt < start && len > 0 && start + len as u64 <= self.edge && self.fin.is_none()
    }

    /// Takes in data that [lies so](Self::takes_ahead).
    #[inline]
    pub(crate) fn receive_ahead(&mut self, start: u64, data: &mut Bytes) {
        self.ack_due = AckDue::Now;
        self.keep(start, data);
    }

    /// Keeps data from RCV.NXT on, though it may come next.
    #[inline]
    fn keep(&mut self, start: u64, data: &mut Bytes) {
        if let Some(duplicate) = self.reassembly.get_or_insert_default().insert(start, data) {
            self.note_duplicate(duplicate);
        }
    }

    /// Takes in a segment that does not simply follow the last one.
    #[inline(never)]
    fn receive_otherwise(&mut self, start: i64, mut data: Bytes, has_fin: bool) {
        self.ack_due = AckDue::Now;
        let behind = (self.nxt.cast_signed() - start).clamp(0, data.len().cast_signed() as i64);
        if behind > 0 {
            data.advance(usize_of(behind.cast_unsigned()));
            if let Ok(start) = u64::try_from(start) {
                self.note_duplicate(Range { start, end: start + behind.cast_unsigned() });
            }
        }
        let start = start + behind;
        if start < self.nxt.cast_signed() {
            // Nothing new.
            return;
        }
        let start = start.cast_unsigned();
        let end = start + data.len() as u64;
        let limit = self.fin.map_or(self.edge, |fin| fin.min(self.edge));
        if end > limit {
            // What lies beyond the window, or beyond the peer's own FIN, is not taken.
            data.truncate(usize_of(limit.saturating_sub(start)));
        } else if has_fin && self.fin.is_none() {
            self.fin = Some(end);
        }
        if !data.is_empty() {
            self.keep(start, &mut data);
            // What lies behind a gap leaves it as it is.
            if start == self.nxt
                && let Some(reassembly) = &mut self.reassembly
                && let Some(end) = reassembly.take_from(self.nxt, &mut self.ready)
            {
                self.ready_bytes += end - self.nxt;
                self.nxt = end;
            }
        }
        if self.fin == Some(self.nxt) {
            self.nxt += 1;
        }
    }

    /// A segment has come that takes `len` offsets from `start` and does not lie in the window: if they have all come
    /// before, they are a duplicate (RFC 2883, section 4.1).
    pub(crate) fn note_old(&mut self, start: i64, len: u32) {
        let Ok(start) = u64::try_from(start) else { return };
        let end = start + u64::from(len);
        if start < end && end <= self.nxt {
            self.note_duplicate(Range { start, end });
        }
    }

    fn note_duplicate(&mut self, range: Range) {
        if let Some(duplicates) = &mut self.duplicates {
            duplicates.latest = Some(range);
        }
    }

    /// Tells if something has come twice and is not reported yet.
    pub(crate) fn has_duplicate(&self) -> bool {
        self.duplicates.as_ref().is_some_and(|duplicates| duplicates.latest.is_some())
    }

    /// Takes the range that has come twice and is not reported yet: the first block of the next acknowledgement (RFC
    /// 2883, section 4).
    pub(crate) fn take_duplicate(&mut self) -> Option<Range> {
        self.duplicates.as_mut()?.latest.take()
    }

    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.3
    //# the delay MUST be less than 0.5 seconds (MUST-40).  An ACK SHOULD be
    fn delay_ack(&mut self, now: Instant) {
        self.ack_due = match (self.delayed_ack, self.ack_due) {
            (DelayedAck::EverySecondSegment { timeout }, AckDue::NotDue) => {
                AckDue::By(now.saturating_add(timeout))
            }
            _ => AckDue::Now,
        };
    }

    /// Sets whether acknowledgements tell of a mark, from now on.
    pub(crate) const fn set_echo(&mut self, echo: Echo) {
        self.echo = echo;
    }

    /// The bit of every acknowledgement.
    #[inline]
    pub(crate) const fn echo_flags(&self) -> Flags {
        match self.echo {
            Echo::Silent => Flags(0),
            Echo::UntilReduced => Flags::ECE,
        }
    }

    /// An acknowledgement is due at once.
    pub(crate) const fn acknowledge_now(&mut self) {
        self.ack_due = AckDue::Now;
    }

    pub(crate) const fn is_ack_due(&self) -> bool {
        matches!(self.ack_due, AckDue::Now)
    }

    pub(crate) const fn deadline(&self) -> Option<Instant> {
        match self.ack_due {
            AckDue::By(deadline) => Some(deadline),
            AckDue::NotDue | AckDue::Now => None,
        }
    }

    /// Makes a delayed acknowledgement due that has waited long enough.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.ack_due = AckDue::Now;
        }
    }

    /// An acknowledgement goes out with this window field.
    pub(crate) fn acknowledge(&mut self) -> u16 {
        self.ack_due = AckDue::NotDue;
        let field = (self.window() >> self.shift).min(0xffff);
        self.edge = self.edge.max(self.nxt + (field << self.shift));
        u16::try_from(field).unwrap_or(u16::MAX)
    }

    /// The window field of a SYN.
    pub(crate) fn syn_window(&self) -> u16 {
        u16::try_from(self.buffer_bytes).unwrap_or(u16::MAX)
    }

    /// The room in front of RCV.NXT. It never takes back what was advertised, but for what scaling rounds off.
    fn window(&self) -> u64 {
        let room = match self.reader {
            Reader::Flowing => self.buffer_bytes,
            Reader::Held => self.buffer_bytes.saturating_sub(self.ready_bytes),
        };
        room.max(self.edge.saturating_sub(self.nxt))
    }

    /// The blocks to report beside RCV.NXT.
    pub(crate) fn sack_blocks(&self) -> &[Option<Range>] {
        self.reassembly.as_ref().map_or(&[], |reassembly| reassembly.recent())
    }

    pub(crate) fn has_gap(&self) -> bool {
        self.reassembly.as_ref().is_some_and(|reassembly| !reassembly.is_empty())
    }

    /// The application stops taking data.
    pub(crate) const fn hold(&mut self) {
        self.reader = Reader::Held;
    }

    /// The application takes data again; tells the peer if the window opens by much.
    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.2.2
    //# min( Fr * RCV.BUFF, Eff.snd.MSS )
    pub(crate) fn release(&mut self, mss_bytes: u64) {
        self.reader = Reader::Flowing;
        let opens_by = (self.nxt + self.window()).saturating_sub(self.edge);
        if opens_by >= mss_bytes.min(self.buffer_bytes / 2) {
            self.ack_due = AckDue::Now;
        }
    }

    /// The next data for the application.
    pub(crate) fn poll_data(&mut self) -> Option<Bytes> {
        if !self.has_data() {
            return None;
        }
        let data = self.ready.pop()?;
        self.ready_bytes -= data.len() as u64;
        Some(data)
    }

    /// Tells if there is data that the application takes.
    pub(crate) fn has_data(&self) -> bool {
        self.reader == Reader::Flowing && !self.is_drained()
    }

    /// Tells if the application has all that has arrived in order.
    pub(crate) const fn is_drained(&self) -> bool {
        self.ready_bytes == 0
    }

    /// Tells if the end of the peer's stream is to be told now, once.
    pub(crate) fn take_end(&mut self) -> bool {
        let is_reported_now = self.is_end_due();
        self.is_end_reported |= is_reported_now;
        is_reported_now
    }

    /// Tells if the end of the peer's stream is to be told.
    pub(crate) fn is_end_due(&self) -> bool {
        !self.is_end_reported && self.is_drained() && self.is_finished()
    }
}

fn usize_of(count: u64) -> usize {
    usize::try_from(count).expect("a position within memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that has advertised the whole of its buffer.
    fn receiver(buffer_bytes: u64, shift: u8) -> Rx {
        let mut rx = Rx::new(&TcpConfig { receive_buffer_bytes: buffer_bytes, ..TcpConfig::default() });
        rx.scale(shift);
        rx.acknowledge();
        rx
    }

    fn receive(rx: &mut Rx, len: usize) {
        let start = rx.nxt().cast_signed();
        rx.receive(Instant::START, start, &mut Bytes::from(vec![0; len]), false);
    }

    #[test]
    fn the_window_and_the_end_of_the_stream_bound_what_is_taken() {
        let mut rx = receiver(1_000, 0);
        rx.receive(Instant::START, 0, &mut Bytes::from(vec![0; 1_500]), true);
        assert_eq!((rx.nxt(), rx.is_finished()), (1_000, false), "the FIN lies beyond the window");
        rx.acknowledge();
        rx.receive(Instant::START, 500, &mut Bytes::from(vec![0; 1_000]), true);
        assert_eq!((rx.nxt(), rx.received(), rx.is_finished()), (1_501, 1_500, true));
        rx.receive(Instant::START, 1_501, &mut Bytes::from(vec![0; 10]), false);
        assert_eq!((rx.nxt(), rx.received()), (1_501, 1_500), "nothing comes after the FIN");
        let mut rx = receiver(1_000, 0);
        rx.receive(Instant::START, 0, &mut Bytes::from(vec![0; 1_001]), false);
        assert_eq!(rx.nxt(), 1_000);
    }

    #[test]
    fn a_fin_right_behind_a_full_window_is_taken() {
        let mut rx = receiver(1_000, 0);
        rx.receive(Instant::START, 0, &mut Bytes::from(vec![0; 1_000]), true);
        assert_eq!((rx.nxt(), rx.is_finished()), (1_001, true));
    }

    #[test]
    fn what_fills_a_gap_takes_room_until_the_application_takes_it() {
        let mut rx = receiver(10_000, 0);
        receive(&mut rx, 500);
        rx.receive(Instant::START, 2_500, &mut Bytes::from(vec![0; 1_000]), false);
        assert_eq!((rx.nxt(), rx.has_gap()), (500, true));
        rx.receive(Instant::START, 500, &mut Bytes::from(vec![0; 2_000]), false);
        assert_eq!(rx.nxt(), 3_500);
        rx.hold();
        assert_eq!(rx.acknowledge(), 6_500);
        rx.release(1_000);
        while rx.poll_data().is_some() {}
        rx.hold();
        assert_eq!(rx.acknowledge(), 10_000);
    }

    #[test]
    fn a_segment_in_order_waits_for_a_second_one_or_for_the_timer() {
        let mut rx = receiver(10_000, 0);
        receive(&mut rx, 100);
        assert_eq!((rx.is_ack_due(), rx.deadline()), (false, Some(Instant::from_millis(200))));
        receive(&mut rx, 100);
        assert_eq!((rx.is_ack_due(), rx.deadline()), (true, None));
        rx.acknowledge();
        receive(&mut rx, 100);
        rx.handle_deadline(Instant::from_nanos(199_999_999));
        assert!(!rx.is_ack_due());
        rx.handle_deadline(Instant::from_millis(200));
        assert!(rx.is_ack_due());
        rx.acknowledge();
        rx.acknowledge_now();
        assert!(rx.is_ack_due());
    }

    #[test]
    fn a_window_is_never_taken_back() {
        let mut rx = receiver(128 << 10, 7);
        assert_eq!(rx.edge(), 128 << 10);
        rx.hold();
        receive(&mut rx, 50);
        // 131022 bytes are left, which 7 bits of scale round down to 130944: the edge stays.
        assert_eq!((rx.acknowledge(), rx.edge()), (1_023, 128 << 10));
        receive(&mut rx, 1_000);
        assert_eq!((rx.acknowledge(), rx.edge()), (1_015, 128 << 10));
    }

    #[test]
    fn a_window_moves_on_with_what_the_application_takes() {
        let mut rx = receiver(10_000, 0);
        receive(&mut rx, 1_000);
        assert_eq!((rx.acknowledge(), rx.edge()), (10_000, 11_000));
        rx.hold();
        receive(&mut rx, 500);
        assert_eq!((rx.acknowledge(), rx.edge()), (9_500, 11_000));
    }

    #[test]
    fn what_the_application_has_taken_frees_its_room() {
        let mut rx = receiver(10_000, 0);
        receive(&mut rx, 4_000);
        receive(&mut rx, 3_000);
        assert_eq!(rx.poll_data().map(|data| data.len()), Some(4_000));
        rx.hold();
        assert_eq!((rx.poll_data(), rx.acknowledge()), (None, 7_000));
    }

    #[test]
    fn a_reader_that_goes_on_tells_the_peer_if_the_window_opens_by_a_segment_or_half_of_the_buffer() {
        for (buffer_bytes, opens_by, is_reported) in
            [(10_000, 1_459, false), (10_000, 1_460, true), (1_000, 499, false), (1_000, 500, true)]
        {
            let mut rx = receiver(buffer_bytes, 0);
            rx.hold();
            receive(&mut rx, opens_by);
            rx.acknowledge();
            rx.release(1_460);
            assert_eq!(rx.is_ack_due(), is_reported, "{opens_by} of {buffer_bytes}");
        }
    }

    /// A receiver that reports what comes twice.
    fn reporter() -> Rx {
        let mut rx = Rx::new(&TcpConfig { duplicate_reports: true, ..TcpConfig::default() });
        rx.acknowledge();
        rx
    }

    fn receive_at(rx: &mut Rx, start: i64, len: usize) {
        rx.receive(Instant::START, start, &mut Bytes::from(vec![0; len]), false);
    }

    /// Takes the range that is to be reported, as its start and end.
    fn duplicate(rx: &mut Rx) -> Option<(u64, u64)> {
        let has_one = rx.has_duplicate();
        let taken = rx.take_duplicate().map(|range| (range.start, range.end));
        assert_eq!(taken.is_some(), has_one);
        taken
    }

    #[test]
    fn the_part_of_a_segment_that_has_come_before_is_reported_once() {
        let mut rx = reporter();
        receive(&mut rx, 1_000);
        receive(&mut rx, 1_000);
        assert_eq!(duplicate(&mut rx), None);
        receive_at(&mut rx, 1_500, 1_000);
        assert_eq!((duplicate(&mut rx), rx.nxt()), (Some((1_500, 2_000)), 2_500));
        assert_eq!(duplicate(&mut rx), None);
        // Out of order: nothing of the first has come, half of the second has, and what lies within the third.
        receive_at(&mut rx, 4_000, 1_000);
        assert_eq!(duplicate(&mut rx), None);
        receive_at(&mut rx, 4_500, 1_000);
        assert_eq!(duplicate(&mut rx), Some((4_500, 5_000)));
        receive_at(&mut rx, 3_800, 1_900);
        assert_eq!(duplicate(&mut rx), Some((4_000, 5_500)));
        assert_eq!((rx.nxt(), duplicate(&mut rx)), (2_500, None));
    }

    #[test]
    fn what_has_all_come_before_is_reported_and_what_lies_beyond_the_window_or_before_the_stream_is_not() {
        let mut rx = reporter();
        receive(&mut rx, 2_000);
        for (start, len, expected) in [
            (500, 1_000, Some((500, 1_500))),
            (0, 2_000, Some((0, 2_000))),
            (1_500, 501, None),
            (1_500, 0, None),
            (-1, 1, None),
        ] {
            rx.note_old(start, len);
            assert_eq!(duplicate(&mut rx), expected, "{len} from {start}");
        }
    }

    #[test]
    fn duplicates_are_reported_only_where_that_is_wanted() {
        let mut rx = receiver(10_000, 0);
        receive(&mut rx, 1_000);
        receive_at(&mut rx, 500, 1_000);
        rx.note_old(0, 500);
        assert_eq!(duplicate(&mut rx), None);
    }
}
