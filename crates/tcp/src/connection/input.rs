//! Effects of a segment on a connection: RFC 9293, section 3.10.7, in its order.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use super::state::{ConnectionState, Opening};
use super::{Connection, Control, Ending, TimestampState};
use crate::event::{Event, ResetCause};
use crate::options::{Options, SackBlocks};
use crate::segment::{Flags, Received};
use crate::tx::{Acknowledgement, Range};

/// The least time between two answers to unacceptable segments without data.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(500);

/// Content of a segment beside the acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carries {
    /// Data or a FIN.
    Data,
    Nothing,
}

impl Connection {
    /// Takes in a segment. Nearly all are what comes next in an open connection, and need none of the checks in their
    /// order.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the segment stays where it has been read")]
    pub(super) fn handle_segment(&mut self, now: Instant, segment: Received<'_>, data: &mut Bytes) {
        let nxt = self.rx.nxt();
        let is_next = self.state == ConnectionState::Established
            && segment.flags | Flags::PSH == Flags::ACK | Flags::PSH
            && segment.sequence == self.peer_sequence(nxt)
            && nxt + data.len() as u64 <= self.rx.edge()
            && self.timestamps.is_none();
        let ack = self.own_offset(segment.acknowledgment);
        if !is_next || !(self.tx.una().cast_signed()..=self.tx.nxt().cast_signed()).contains(&ack) {
            return self.handle_otherwise(now, segment, data);
        }
        let carries = if data.is_empty() { Carries::Nothing } else { Carries::Data };
        let (sequence, window) = (nxt.cast_signed(), u64::from(segment.window) << self.peer_shift);
        self.handle_valid_ack(now, ack.cast_unsigned(), sequence, window, segment, carries);
        if carries == Carries::Data {
            self.note_mark(segment.flags);
            self.handle_data(now, sequence, data, false);
        }
    }

    /// Takes in a segment that is not simply the next. Most have data behind a gap and nothing else, and are taken here
    /// unless their arrival is to be reported.
    #[inline(never)]
    fn handle_otherwise(&mut self, now: Instant, segment: Received<'_>, data: &mut Bytes) {
        // What has come before seems to begin further ahead than any window reaches.
        let nxt = self.rx.nxt();
        let start = nxt + u64::from(segment.sequence.distance_from(self.peer_sequence(nxt)));
        let ack = self.own_offset(segment.acknowledgment);
        let is_ahead = self.state == ConnectionState::Established
            && segment.flags | Flags::PSH == Flags::ACK | Flags::PSH
            && self.rx.takes_ahead(start, data.len())
            && self.timestamps.is_none()
            && !self.config.reports.arrived;
        if !is_ahead || !(self.tx.una().cast_signed()..=self.tx.nxt().cast_signed()).contains(&ack) {
            return self.handle_any(now, segment, data);
        }
        let (sequence, window) = (start.cast_signed(), u64::from(segment.window) << self.peer_shift);
        self.handle_valid_ack(now, ack.cast_unsigned(), sequence, window, segment, Carries::Data);
        self.note_mark(segment.flags);
        self.rx.receive_ahead(start, data);
    }

    /// Takes in any segment, with all checks in their order.
    fn handle_any(&mut self, now: Instant, segment: Received<'_>, data: &mut Bytes) {
        match self.state {
            ConnectionState::Closed => {}
            ConnectionState::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronised(now, segment, data),
        }
    }

    fn handle_synchronised(&mut self, now: Instant, segment: Received<'_>, data: &mut Bytes) {
        let flags = segment.flags;
        let sequence = self.peer_offset(segment.sequence);
        let has_fin = flags.contains(Flags::FIN);
        let carries = if data.is_empty() && !has_fin { Carries::Nothing } else { Carries::Data };
        if let Some(state) = self.timestamps
            && !flags.contains(Flags::RST)
            && !self.take_timestamp(state, segment, sequence)
        {
            self.challenge(now, carries);
            return;
        }
        let len = segment.sequence_len(data);
        if !self.is_acceptable(sequence, len) {
            self.rx.note_old(sequence, len);
            self.handle_unacceptable(now, segment, sequence, carries);
            return;
        }
        if flags.intersects(Flags::RST | Flags::SYN) {
            return self.handle_reset_or_syn(now, segment, sequence);
        }
        if !flags.contains(Flags::ACK)
            || !self.handle_ack(now, segment, sequence, carries)
            || carries == Carries::Nothing
        {
            return;
        }
        if self.state.receives() {
            self.note_mark(flags);
            self.handle_data(now, sequence, data, has_fin);
        } else {
            // Only a repetition of what was taken already can come after the peer's FIN.
            self.rx.acknowledge_now();
            if let ConnectionState::TimeWait { .. } = self.state {
                self.wait_out(now);
            }
        }
    }

    /// Takes in the data of an acceptable segment.
    #[inline]
    fn handle_data(&mut self, now: Instant, sequence: i64, data: &mut Bytes, has_fin: bool) {
        if self.config.reports.arrived {
            self.report_arrival(sequence, data.len());
        }
        self.rx.receive(now, sequence, data, has_fin);
        if self.rx.is_finished() {
            self.handle_end_of_peer(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_arrival(&mut self, sequence: i64, len: usize) {
        let nxt = self.rx.nxt();
        let end = sequence.saturating_add_unsigned(len as u64);
        let end = u64::try_from(end).unwrap_or(0).min(self.rx.edge());
        let start = u64::try_from(sequence).unwrap_or(0).max(nxt);
        if start < end {
            self.events.push_back(Event::Arrived { start_bytes: start, end_bytes: end });
        }
    }

    /// Tells if any part of a segment lies in the window (RFC 9293, section 3.10.7.4, first check).
    fn is_acceptable(&self, sequence: i64, len: u32) -> bool {
        let (nxt, edge) = (self.rx.nxt().cast_signed(), self.rx.edge().cast_signed());
        match len {
            0 if nxt >= edge => sequence == nxt,
            0 => (nxt..edge).contains(&sequence),
            len => sequence < edge && sequence + i64::from(len) > nxt,
        }
    }

    #[cold]
    fn handle_unacceptable(&mut self, now: Instant, segment: Received<'_>, sequence: i64, carries: Carries) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            return;
        }
        if let ConnectionState::SynReceived { .. } = self.state
            && flags.contains(Flags::SYN)
            && !flags.contains(Flags::ACK)
        {
            // The answer to the peer's SYN was lost, or is late; which of the two the peer will acknowledge
            // cannot be told (Karn).
            self.syn_repeats = self.syn_repeats.max(1);
            //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.1
            //# If a host has received at least one non-ECN-setup SYN
            //# or non-ECN-setup SYN-ACK packet, then it SHOULD NOT set ECT on
            //# data packets.
            self.ecn = self.ecn.after_syn_of_peer(flags);
            self.control = Control::SynAck;
            return;
        }
        self.challenge(now, carries);
        //= https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4
        //# If the RCV.WND is zero, no segments will be acceptable, but
        //# special allowance should be made to accept valid ACKs, URGs,
        //# and RSTs.
        let is_at_nxt = sequence == self.rx.nxt().cast_signed();
        if is_at_nxt && flags.contains(Flags::ACK) && !flags.contains(Flags::SYN) {
            self.handle_ack(now, segment, sequence, carries);
        }
        if let ConnectionState::TimeWait { .. } = self.state
            && flags.contains(Flags::FIN)
        {
            self.wait_out(now);
        }
    }

    /// Answers a segment that should not have come with the state of things. What carries no data may itself be
    /// such an answer: two sides that disagree would go on for ever, so that these answers are rationed, as RFC
    /// 5961, section 7, proposes.
    fn challenge(&mut self, now: Instant, carries: Carries) {
        if carries == Carries::Nothing {
            if now < self.next_challenge {
                return;
            }
            self.next_challenge = now.saturating_add(CHALLENGE_INTERVAL);
        }
        self.rx.acknowledge_now();
    }

    #[cold]
    fn handle_reset_or_syn(&mut self, now: Instant, segment: Received<'_>, sequence: i64) {
        let is_exact = sequence == self.rx.nxt().cast_signed();
        if !segment.flags.contains(Flags::RST) || !is_exact {
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4
            //# TCP endpoints MUST send an acknowledgment (challenge ACK):
            self.challenge(now, Carries::Nothing);
            return;
        }
        if let ConnectionState::SynReceived { opening: Opening::Passive } = self.state {
            // The listener goes on listening; nobody was told of this connection.
            self.state = ConnectionState::Closed;
            return;
        }
        match self.state {
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4
            //# If the RST bit is set, then enter the CLOSED state, delete the
            //# TCB, and return.
            // Both ends have closed: nothing is lost, and the user is told nothing of it. A peer that has
            // forgotten the connection answers so to an acknowledgement of its repeated FIN.
            ConnectionState::Closing | ConnectionState::LastAck | ConnectionState::TimeWait { .. } => {
                self.finish(Ending::Closed);
            }
            _ => self.finish(Ending::Reset(ResetCause::ByPeer)),
        }
    }

    /// Takes in the acknowledgement of an acceptable segment. Returns whether the rest of it counts.
    fn handle_ack(&mut self, now: Instant, segment: Received<'_>, sequence: i64, carries: Carries) -> bool {
        let ack = self.own_offset(segment.acknowledgment);
        let window = u64::from(segment.window) << self.peer_shift;
        if let ConnectionState::SynReceived { .. } = self.state {
            if ack != 0 {
                self.control = Control::Reset { sequence: segment.acknowledgment };
                return false;
            }
            self.control = Control::Nothing;
            self.establish(now, segment, window);
        }
        if ack > self.tx.nxt().cast_signed() {
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4
            //# If the ACK acks something not yet sent (SEG.ACK >
            //# SND.NXT), then send an ACK, drop the segment, and return.
            self.challenge(now, carries);
            return false;
        }
        if ack < self.tx.una().cast_signed() {
            // An old acknowledgement; the data beside it may be new.
            return true;
        }
        self.handle_valid_ack(now, ack.cast_unsigned(), sequence, window, segment, carries);
        true
    }

    /// Takes in an acknowledgement that is neither old nor of what was not sent.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "for half of all segments, those that carry data, it is a few steps"
    )]
    fn handle_valid_ack(
        &mut self,
        now: Instant,
        ack: u64,
        sequence: i64,
        window: u64,
        segment: Received<'_>,
        carries: Carries,
    ) {
        if segment.options.sack.is_empty() && self.tx.waits_for_nothing() {
            self.tx.handle_window(sequence, window);
        } else {
            self.handle_ack_of_outstanding(now, ack, sequence, window, segment, carries);
        }
    }

    #[inline(never)]
    fn handle_ack_of_outstanding(
        &mut self,
        now: Instant,
        ack: u64,
        sequence: i64,
        window: u64,
        segment: Received<'_>,
        carries: Carries,
    ) {
        let before = self.tx.una();
        let options = segment.options;
        let mut ranges;
        let sacked = if options.sack.is_empty() {
            &[][..]
        } else {
            ranges = [Range { start: 0, end: 0 }; SackBlocks::MAX];
            self.unwrap_sack(&options.sack, &mut ranges)
        };
        let echoed_rtt = self.echoed_rtt(now, options);
        let is_pure = carries == Carries::Nothing;
        let is_echo = self.is_echo(segment.flags);
        let input = Acknowledgement { ack, sequence, window, sacked, is_pure, is_echo, echoed_rtt };
        self.tx.handle_ack(now, input);
        if self.tx.una() > before {
            self.report_progress();
            if self.tx.is_finished() {
                self.handle_own_end_acknowledged(now);
            }
        }
    }

    /// The round-trip time that an echoed timestamp gives, unless the echo is older than the connection.
    fn echoed_rtt(&self, now: Instant, options: &Options) -> Option<Duration> {
        let echo = self.timestamps.and(options.timestamps)?.echo;
        let rtt = Duration::from_millis(super::output::timestamp_clock(now).wrapping_sub(echo).into());
        (rtt <= now.saturating_since(self.syn_sent_at)).then_some(rtt)
    }

    fn unwrap_sack<'a>(&self, blocks: &SackBlocks, ranges: &'a mut [Range; SackBlocks::MAX]) -> &'a [Range] {
        let mut count = 0;
        for block in blocks.iter() {
            let (left, right) = (self.own_offset(block.left), self.own_offset(block.right));
            if let (Ok(start), Ok(end)) = (u64::try_from(left), u64::try_from(right)) {
                ranges[count] = Range { start, end };
                count += 1;
            }
        }
        &ranges[..count]
    }

    #[inline]
    fn report_progress(&mut self) {
        if self.config.reports.acked {
            self.events.push_back(Event::Acked { up_to_bytes: self.tx.acked() });
        }
        if self.tx.take_writable() && self.state.may_send() {
            self.events.push_back(Event::Writable);
        }
    }

    /// Everything sent, FIN included, has been acknowledged.
    fn handle_own_end_acknowledged(&mut self, now: Instant) {
        match self.state {
            ConnectionState::FinWait1 => self.state = ConnectionState::FinWait2,
            ConnectionState::Closing => self.close_orderly(now),
            ConnectionState::LastAck => self.finish(Ending::Closed),
            _ => {}
        }
    }

    /// Everything that the peer sent, FIN included, has arrived.
    fn handle_end_of_peer(&mut self, now: Instant) {
        match self.state {
            ConnectionState::Established => self.state = ConnectionState::CloseWait,
            ConnectionState::FinWait1 => self.state = ConnectionState::Closing,
            ConnectionState::FinWait2 => self.close_orderly(now),
            _ => {}
        }
    }

    /// Both streams have ended here, while the peer may not know yet.
    fn close_orderly(&mut self, now: Instant) {
        self.wait_out(now);
        self.tx.stop_timer();
        self.ending = Some(Ending::Closed);
    }

    fn wait_out(&mut self, now: Instant) {
        let until = now.saturating_add(self.config.maximum_segment_lifetime.saturating_mul(2));
        self.state = ConnectionState::TimeWait { until };
    }

    /// Checks and notes a segment's timestamp (RFC 7323, sections 4.3 and 5.3). False for a segment from the
    /// past.
    fn take_timestamp(&mut self, state: TimestampState, segment: Received<'_>, sequence: i64) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc7323#section-3.2
        //# If a non-<RST> segment is received without a TSopt, a TCP
        //# SHOULD silently drop the segment.
        let Some(timestamps) = segment.options.timestamps else { return false };
        let age = state.recent.wrapping_sub(timestamps.value).cast_signed();
        if age > 0 {
            return false;
        }
        if sequence <= self.last_ack_sent.cast_signed() {
            self.timestamps = Some(TimestampState { recent: timestamps.value });
        }
        true
    }
}
