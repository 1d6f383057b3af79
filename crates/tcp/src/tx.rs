//! The sending half: what may be sent next, what an acknowledgement means, what a timeout does.
//!
//! Offsets are 64-bit: 0 is the first byte of the stream, and a FIN takes the offset past its last.

mod congestion;
mod mark;
mod probe;
mod recovery;
mod scoreboard;
mod stream;
mod timed;
mod too_big;
mod waiting;
mod window;

#[cfg(test)]
mod tests;

use core::num::NonZeroU64;
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Timer};
use slantpath_cc::{self as cc, CongestionControl, Controller, Pacer, RttEstimator};

use crate::config::{LossDetection, LossRecovery, RttSampling, TcpConfig};
use mark::Marks;
use recovery::Recovery;
pub(crate) use scoreboard::{Range, Sent};
use scoreboard::{Scoreboard, Timed};
use stream::SendStream;
use timed::{Early, Timing};
use window::PeerWindow;

/// An acknowledgement from the peer, with offsets unwrapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    /// SEG.ACK, not beyond SND.NXT and not before SND.UNA.
    pub(crate) ack: u64,
    /// SEG.SEQ in the peer's offsets.
    pub(crate) sequence: i64,
    /// SEG.WND, scaled.
    pub(crate) window: u64,
    /// Ranges that the peer has beyond `ack`.
    pub(crate) sacked: &'a [Range],
    /// True if the segment carries nothing but the acknowledgement.
    pub(crate) is_pure: bool,
    /// True if it says that something was marked (ECE), where both ends use ECN.
    pub(crate) is_echo: bool,
    /// The round-trip time that an echoed timestamp gives.
    pub(crate) echoed_rtt: Option<Duration>,
}

/// Outcome of the handshake with the peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Negotiated {
    /// The largest segment to send, in bytes of data.
    pub(crate) mss_bytes: u32,
    /// True if SACK is used.
    pub(crate) sack: bool,
    /// True if a SYN or its answer was lost.
    pub(crate) was_syn_lost: bool,
}

/// Segment that must go out next, beside those that the windows allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Urgent {
    /// The first unacknowledged segment, again.
    First,
    /// A probe for the loss of the last segments (RFC 8985, section 7).
    LossProbe,
    Nothing,
    /// A little of what the peer's window does not allow (RFC 9293, section 3.8.6.1).
    WindowProbe,
}

/// Ability of the connection to go on after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endurance {
    Exhausted,
    Lasts,
}

/// News in an acknowledgement, in offsets.
#[derive(Clone, Copy, Debug, Default)]
struct Marked {
    newly_sacked: u64,
    /// Beyond SND.UNA as it was.
    acknowledged: u64,
    /// Of the last block that gives one, else of what is acknowledged.
    round_trip: Option<Duration>,
}

/// Counts of events in the sending half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_recoveries: u64,
    /// Reductions that were in error.
    pub(crate) undone: u64,
}

#[derive(Debug)]
// In this order in memory: what segments and acknowledgements touch together, and what losses do in the end.
#[repr(C)]
pub(crate) struct Tx {
    sack: bool,
    /// True if a FIN follows the stream.
    is_closed: bool,
    /// True if more than half of the send buffer was in use.
    is_filled: bool,
    urgent: Urgent,
    timeouts_in_a_row: u32,
    /// Probes of a closed window since the peer last said anything.
    probes_in_a_row: u32,
    /// The retransmission timer; while the peer's window is closed, the persist timer.
    timer: Timer,
    /// Something waits for this time although the window would let it out.
    held_until: Timer,
    /// The earliest wake-up that the endpoint has noted for that.
    pub(crate) release_wakeup: Instant,
    /// Due before the retransmission timer, while losses are found by time.
    early: Option<Early>,
    stream: SendStream,
    mss: u64,
    window_limit: u64,
    last_sent: Instant,
    peer: PeerWindow,
    /// A segment that ends beyond this offset gives the next round-trip time.
    next_sample: u64,
    config: Arc<TcpConfig>,
    board: Scoreboard,
    /// SND.NXT when the last recovery began (RFC 6582's `recover`): something had been sent.
    recover: Option<NonZeroU64>,
    counters: Counters,
    recovery: Recovery,
    control: Controller<cc::NewReno>,
    rtt: RttEstimator,
    pacer: Pacer,
    timing: Timing,
    marks: Marks,
}

impl Tx {
    pub(crate) fn new(config: Arc<TcpConfig>) -> Self {
        Self {
            mss: config.mss_bytes.into(),
            sack: false,
            window_limit: u64::MAX,
            stream: SendStream::default(),
            is_closed: false,
            board: Scoreboard::default(),
            control: config.controller(config.mss_bytes),
            recovery: Recovery::default(),
            recover: None,
            rtt: RttEstimator::new(config.rto),
            next_sample: 0,
            peer: PeerWindow::default(),
            urgent: Urgent::Nothing,
            timer: Timer::OFF,
            timeouts_in_a_row: 0,
            probes_in_a_row: 0,
            last_sent: Instant::START,
            is_filled: false,
            counters: Counters::default(),
            marks: Marks::default(),
            early: None,
            timing: Timing::default(),
            pacer: Pacer::default(),
            held_until: Timer::OFF,
            release_wakeup: Instant::FAR_FUTURE,
            config,
        }
    }

    /// The handshake is done: data may flow.
    pub(crate) fn establish(&mut self, negotiated: Negotiated) {
        self.mss = negotiated.mss_bytes.into();
        self.sack = negotiated.sack;
        if self.sack && self.config.loss_detection == LossDetection::Rack {
            self.board.time_losses(self.config.duplicate_ack_threshold);
        }
        self.control = self.config.controller(negotiated.mss_bytes);
        self.window_limit = self.config.window_limit_bytes(negotiated.mss_bytes);
        if negotiated.was_syn_lost {
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# Further, if the SYN or SYN/ACK is lost, the initial window
            //# used by a sender after a correctly transmitted SYN MUST be one
            //# segment consisting of at most SMSS bytes.
            self.control.limit_cwnd(self.mss);
            self.rtt.raise_to(Duration::from_secs(3));
        }
        self.timer = Timer::OFF;
        self.timeouts_in_a_row = 0;
    }

    pub(crate) fn write(&mut self, bytes: Bytes) {
        self.stream.write(bytes);
        self.is_filled |= self.stream.held() > self.config.send_buffer_bytes / 2;
    }

    pub(crate) const fn close(&mut self) {
        self.is_closed = true;
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Tells if the FIN, and so everything, has been acknowledged.
    pub(crate) const fn is_finished(&self) -> bool {
        self.is_closed && self.board.una() > self.stream.end()
    }

    /// Bytes that fit into the send buffer.
    pub(crate) fn writable(&self) -> u64 {
        self.config.send_buffer_bytes.saturating_sub(self.stream.held())
    }

    pub(crate) const fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Tells if the send buffer has become half empty since this was last asked.
    pub(crate) fn take_writable(&mut self) -> bool {
        let is_writable = self.is_filled && self.stream.held() <= self.config.send_buffer_bytes / 2;
        self.is_filled &= !is_writable;
        is_writable
    }

    pub(crate) const fn una(&self) -> u64 {
        self.board.una()
    }

    pub(crate) const fn nxt(&self) -> u64 {
        self.board.nxt()
    }

    /// Bytes of the stream that are acknowledged.
    pub(crate) fn acked(&self) -> u64 {
        self.board.una().min(self.stream.end())
    }

    pub(crate) const fn flight(&self) -> u64 {
        self.board.flight()
    }

    pub(crate) const fn pipe(&self) -> u64 {
        self.board.pipe()
    }

    pub(crate) const fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    pub(crate) const fn rtt_mut(&mut self) -> &mut RttEstimator {
        &mut self.rtt
    }

    pub(crate) const fn peer_window(&self) -> u64 {
        self.peer.latest()
    }

    pub(crate) const fn is_recovering(&self) -> bool {
        !matches!(self.recovery, Recovery::Open { .. })
    }

    pub(crate) const fn counters(&self) -> Counters {
        self.counters
    }

    /// Instant at which anything is due.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        earlier(self.next_timer(), self.held_until())
    }

    /// Instant at which the next timer expires.
    #[inline]
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.timer.or_earlier(Timer::from(self.early.map(Early::at))).at()
    }

    /// Instant at which data that is held back by the controller's rate may leave.
    #[inline]
    pub(crate) fn held_until(&self) -> Option<Instant> {
        self.held_until.at()
    }

    /// Starts the timer for the handshake's own segments.
    pub(crate) fn start_timer(&mut self, now: Instant) {
        self.timer = Timer::set(now.saturating_add(self.rtt.rto()));
    }

    /// Nothing is to be sent any more.
    pub(crate) const fn stop_timer(&mut self) {
        self.timer = Timer::OFF;
        self.early = None;
        self.held_until = Timer::OFF;
    }

    /// Cuts the bytes of a segment out of the stream, and tells whether it carries the FIN.
    pub(crate) fn cut(&mut self, range: Range) -> (Bytes, bool) {
        let has_fin = range.end > self.stream.end();
        (self.stream.slice(range.start, range.end - u64::from(has_fin)), has_fin)
    }

    /// Tells if everything written lies before `offset`: a push.
    pub(crate) const fn is_end(&self, offset: u64) -> bool {
        offset >= self.stream.end()
    }

    /// The next segment to send, if any may be sent.
    #[inline]
    pub(crate) fn next_segment(&mut self, now: Instant) -> Option<Sent> {
        self.held_until = Timer::OFF;
        if self.unsent() == 0 && self.board.is_empty() {
            self.board.limit_by_application();
            return None;
        }
        if self.urgent != Urgent::Nothing
            && let Some(sent) = self.next_urgent(now)
        {
            return Some(sent);
        }
        self.next_allowed(now)
    }

    /// Gives the segment that must go out whatever the windows allow, if any.
    #[cold]
    fn next_urgent(&mut self, now: Instant) -> Option<Sent> {
        match core::mem::replace(&mut self.urgent, Urgent::Nothing) {
            Urgent::First if self.board.is_timed() && self.board.next_lost().is_some() => {
                let sent = self.board.retransmit_next(now);
                Some(self.resent(sent, now))
            }
            Urgent::First => {
                let sent = self.board.retransmit_first(now, self.sack)?;
                Some(self.resent(sent, now))
            }
            Urgent::LossProbe => self.next_probe(now),
            Urgent::WindowProbe if self.unsent() > 0 => {
                let allowed = self.peer.edge().saturating_sub(self.board.nxt());
                let len = self.data_ready().min(allowed.max(1));
                Some(self.sent_new(len, now))
            }
            Urgent::Nothing | Urgent::WindowProbe => None,
        }
    }

    /// Gives the next segment that the windows allow, if any.
    fn next_allowed(&mut self, now: Instant) -> Option<Sent> {
        let mut cwnd = self.cwnd();
        if let Some(range) = self.board.next_lost() {
            let pipe = self.board.pipe();
            //= https://www.rfc-editor.org/rfc/rfc6675#section-5
            //# (C) If cwnd - pipe >= 1 SMSS, the sender SHOULD transmit one or more
            //# segments as follows:
            if pipe != 0 && pipe + (range.end - range.start) > cwnd {
                return None;
            }
            if self.is_held(now) {
                return None;
            }
            let sent = self.board.retransmit_next(now);
            return Some(self.resent(sent, now));
        }
        if self.unsent() > 0 {
            if self.board.is_empty() {
                self.restart_if_idle(now);
                cwnd = self.cwnd();
            }
            if let Some(len) = self.sendable(cwnd) {
                if self.is_held(now) {
                    return None;
                }
                return Some(self.sent_new(len, now));
            }
        }
        if let Recovery::Fast(_) = self.recovery
            && self.sack
            && !self.board.is_timed()
            && self.board.pipe() + self.mss <= cwnd
            && let Some(sent) = self.last_resort(now)
        {
            return Some(self.resent(sent, now));
        }
        if self.unsent() == 0 && self.board.pipe() < cwnd {
            self.board.limit_by_application();
        }
        if self.timer.is_off() {
            // Nothing is in flight and nothing may be sent: only a probe can learn that the window opened.
            self.start_timer(now);
        }
        None
    }

    /// The last two rules of RFC 6675's NextSeg.
    fn last_resort(&mut self, now: Instant) -> Option<Sent> {
        if self.board.next_unsacked().is_some() {
            return Some(self.board.retransmit_next(now));
        }
        let Recovery::Fast(fast) = &mut self.recovery else { return None };
        //= https://www.rfc-editor.org/rfc/rfc6675#section-4
        //# (4) If the conditions for (1), (2), and (3) fail, but there exists
        //# outstanding unSACKed data, we provide the opportunity for a
        //# single "rescue" retransmission per entry into loss recovery.
        if self.board.una() < fast.rescue_from? {
            return None;
        }
        fast.rescue_from = None;
        self.board.retransmit_last(now)
    }

    /// Offsets that were never sent: data and FIN.
    fn unsent(&self) -> u64 {
        self.stream.end() + u64::from(self.is_closed) - self.board.nxt()
    }

    /// Data for one segment.
    fn data_ready(&self) -> u64 {
        (self.stream.end().saturating_sub(self.board.nxt())).min(self.mss)
    }

    /// Number of bytes of data that the next new segment may carry now; zero is a FIN alone.
    fn sendable(&self, cwnd: u64) -> Option<u64> {
        let ready = self.data_ready();
        let nxt = self.board.nxt();
        let (outstanding, cwnd) = match self.recovery {
            Recovery::Open { duplicates, .. }
                if !self.board.is_timed() && (!self.config.limited_transmit || !self.sack) =>
            {
                // RFC 3042, section 2: one new segment for each of the first two duplicate ACKs.
                let extra =
                    if self.config.limited_transmit { u64::from(duplicates.min(2)) * self.mss } else { 0 };
                (self.board.flight(), cwnd + extra)
            }
            _ => (self.board.pipe(), cwnd),
        };
        if outstanding + ready > cwnd && ready > 0 {
            return None;
        }
        let edge = self.peer.edge().min(self.board.una().saturating_add(self.window_limit));
        let allowed = edge.saturating_sub(nxt);
        if ready > allowed {
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.2.1
            //# or if at least a fraction Fs of the maximum window can be sent,
            let is_worth_it = allowed > 0 && 2 * allowed >= self.peer.largest();
            return is_worth_it.then_some(allowed);
        }
        let is_full = ready == self.mss || self.is_closed;
        if self.config.nagle && !is_full && !self.board.is_empty() {
            return None;
        }
        Some(ready)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly all segments are sent here")]
    fn sent_new(&mut self, data_len: u64, now: Instant) -> Sent {
        if let Recovery::Open { duplicates: 1.., limited_transmit } = &mut self.recovery {
            *limited_transmit += data_len;
        }
        let takes_all = self.board.nxt() + data_len == self.stream.end();
        let in_flight_before = self.board.pipe();
        let sent = self.board.push(data_len + u64::from(takes_all && self.is_closed), now);
        self.report_sent(now, sent.range.len(), in_flight_before);
        self.arm(now);
        if self.board.is_timed() {
            self.schedule_probe(now);
        }
        sent
    }

    fn resent(&mut self, sent: Sent, now: Instant) -> Sent {
        self.counters.retransmissions += 1;
        self.note_repetition(now, sent.range.end);
        self.report_sent(now, sent.range.len(), self.board.pipe().saturating_sub(sent.range.len()));
        if self.sack && matches!(self.recovery, Recovery::Fast(_)) {
            // A repetition that waits behind a full queue is acknowledged later than the timer, which runs since
            // the last progress and has measured an emptier queue, would allow.
            //= https://www.rfc-editor.org/rfc/rfc6675#section-6
            //# a more careful variant
            //# that re-arms the RTO timer on each retransmission that is sent during
            //# recovery MAY be used.
            self.timer = Timer::OFF;
        }
        self.arm(now);
        sent
    }

    //= https://www.rfc-editor.org/rfc/rfc6298#section-5
    //# (5.1) Every time a packet containing data is sent (including a
    //# retransmission), if the timer is not running, start it running
    //# so that it will expire after RTO seconds (for the current value
    //# of RTO).
    fn arm(&mut self, now: Instant) {
        self.last_sent = now;
        if self.timer.is_off() {
            self.start_timer(now);
        }
    }

    fn restart_if_idle(&mut self, now: Instant) {
        if self.config.idle_restart
            && self.board.nxt() > 0
            && now.saturating_since(self.last_sent) > self.rtt.rto()
        {
            self.control.on_idle(1);
        }
    }

    /// Tells if an acknowledgement without SACK blocks can tell of nothing but a window: all is acknowledged, and no
    /// probe is out.
    #[inline]
    pub(crate) fn waits_for_nothing(&self) -> bool {
        self.board.is_empty() && !self.board.is_timed()
    }

    /// Takes in the window of such an acknowledgement.
    #[inline]
    pub(crate) fn handle_window(&mut self, sequence: i64, window: u64) {
        self.probes_in_a_row = 0;
        self.peer.update(sequence, self.board.una(), window);
    }

    /// Takes in an acknowledgement.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it says stays where it has been made out")]
    pub(crate) fn handle_ack(&mut self, now: Instant, input: Acknowledgement<'_>) {
        self.probes_in_a_row = 0;
        let was_shut = self.peer.edge() <= self.board.una();
        let latest_window = self.peer.latest();
        self.peer.update(input.sequence, input.ack, input.window);
        if input.is_echo {
            self.handle_echo(input.ack);
        }
        if self.board.is_timed() {
            return self.handle_ack_by_time(now, &input, was_shut);
        }
        let in_flight_before = self.board.pipe();
        let Marked { newly_sacked, acknowledged, round_trip } = self.mark(now, &input);
        if acknowledged > 0 {
            let delivered =
                self.report_acknowledged(now, acknowledged, in_flight_before, round_trip, input.is_echo);
            self.handle_progress(now, acknowledged);
            //= https://www.rfc-editor.org/rfc/rfc6675#section-5
            //# If the incoming ACK is a duplicate acknowledgment per the definition
            //# in Section 2 (regardless of its status as a cumulative
            //# acknowledgment), and the TCP is not currently in loss recovery, the
            //# TCP MUST increase DupAcks by one
            if newly_sacked > 0 {
                self.handle_duplicate();
            }
            self.shrink_proportionally(delivered);
            return;
        }
        let mut delivered = 0;
        if newly_sacked > 0 {
            delivered = self.report_acknowledged(now, 0, in_flight_before, round_trip, input.is_echo);
        }
        if was_shut && self.peer.edge() > self.board.una() && !self.board.is_empty() {
            // What was sent into the closed window was refused; it fits now.
            self.urgent = Urgent::First;
            self.rtt.clear_back_off();
            self.start_timer(now);
            return;
        }
        let is_duplicate = if self.sack {
            newly_sacked > 0
        } else {
            input.is_pure && input.window == latest_window && !self.board.is_empty()
        };
        if is_duplicate {
            self.handle_duplicate();
            self.shrink_proportionally(delivered);
        }
    }

    /// Marks on the scoreboard what the peer has.
    fn mark(&mut self, now: Instant, input: &Acknowledgement<'_>) -> Marked {
        let mut marked = Marked::default();
        if self.sack {
            for range in input.sacked {
                let sacked = self.board.sack(*range);
                marked.newly_sacked += sacked.count;
                let round_trip = sacked.timed.map(|timed| now.saturating_since(timed.sent_at));
                marked.round_trip = round_trip.or(marked.round_trip);
                // The receiver reports at once what it gets out of order, so that the timeout learns how long the
                // queue has become while nothing is acknowledged. What an echoed timestamp would give belongs to
                // an older segment (RFC 7323, section 4.1).
                self.take_time(sacked.timed, |sent_at| now.saturating_since(sent_at));
            }
        }
        if input.ack > self.board.una() {
            let acked = self.board.acknowledge(input.ack);
            marked.acknowledged = acked.count;
            let round_trip = acked.timed.map(|timed| now.saturating_since(timed.sent_at));
            marked.round_trip = marked.round_trip.or(round_trip);
            self.stream.release(input.ack);
            self.timeouts_in_a_row = 0;
            let echoed = input.echoed_rtt;
            self.take_time(acked.timed, |sent_at| echoed.unwrap_or(now.saturating_since(sent_at)));
        }
        marked
    }

    /// `count` offsets were newly acknowledged.
    fn handle_progress(&mut self, now: Instant, count: u64) {
        let restarts_timer = self.recover_with(now, count);
        //= https://www.rfc-editor.org/rfc/rfc6298#section-5
        //# (5.2) When all outstanding data has been acknowledged, turn off the
        //# retransmission timer.
        if self.board.is_empty() {
            self.timer = Timer::OFF;
        } else if restarts_timer {
            //= https://www.rfc-editor.org/rfc/rfc6298#section-5
            //# (5.3) When an ACK is received that acknowledges new data, restart the
            //# retransmission timer so that it will expire after RTO seconds
            //# (for the current value of RTO).
            self.start_timer(now);
        }
    }

    /// Takes the round-trip time that a segment gives, unless this round trip has given one.
    fn take_time(&mut self, timed: Option<Timed>, round_trip_since: impl FnOnce(Instant) -> Duration) {
        let Some(Timed { sent_at, end }) = timed else { return };
        if end <= self.next_sample {
            return;
        }
        self.rtt.sample(round_trip_since(sent_at));
        if self.board.is_timed() {
            self.timing.probe.on_measured();
        }
        if self.config.rtt_sampling == RttSampling::OncePerRoundTrip {
            self.next_sample = self.board.nxt();
        }
    }

    /// The timer expired.
    pub(crate) fn handle_deadline(&mut self, now: Instant) -> Endurance {
        // What was held may go; a state that sends nothing more will not ask again.
        if self.held_until.is_due(now) {
            self.pacer.release(now);
            self.held_until = Timer::OFF;
        }
        match self.early.filter(|early| early.at() <= now) {
            Some(Early::Probe(_)) => {
                self.early = None;
                self.handle_probe_timeout(now);
                return Endurance::Lasts;
            }
            Some(Early::Reordering(_)) => self.find_overtaken(now),
            None => {}
        }
        if !self.timer.is_due(now) {
            return Endurance::Lasts;
        }
        if self.board.is_empty() || self.peer.edge() <= self.board.una() {
            //= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.6.1
            //# As long as the receiving TCP peer continues to send
            //# acknowledgments in response to the probe segments, the sending TCP
            //# peer MUST allow the connection to stay open
            self.probes_in_a_row += 1;
            self.urgent = if self.board.is_empty() { Urgent::WindowProbe } else { Urgent::First };
        } else {
            self.timeouts_in_a_row += 1;
            self.counters.timeouts += 1;
            self.collapse(now);
        }
        if self.timeouts_in_a_row.max(self.probes_in_a_row) > self.config.data_retransmission_limit {
            return Endurance::Exhausted;
        }
        //= https://www.rfc-editor.org/rfc/rfc6298#section-5
        //# (5.5) The host MUST set RTO <- RTO * 2 ("back off the timer").
        self.rtt.back_off();
        self.start_timer(now);
        Endurance::Lasts
    }
}

/// The earlier of two times, of which there may be none.
#[inline]
pub(crate) fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
