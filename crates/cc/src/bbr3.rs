//! BBR, version 3, as draft-ietf-ccwg-bbr has it (the text of August 2026, after draft-04): version 1's model of rate
//! and round trip, with bounds that it learns from loss.
//!
//! What the names of the draft are here: `inflight_longterm` is `long_term`, set when probing for bandwidth lost more
//! than 2 %; `bw_shortterm` and `inflight_shortterm` are `short_term`, which loss outside of probing lowers once a
//! round, to what has been delivered in it and by three tenths at most, until the next probe.
//!
//! The state machine: Startup, then Drain, then the cycle of ProbeBW: down at 0.9 of the rate until the queue is gone
//! and headroom is left, cruise, refill the pipe for a round, up at 1.25 until the rate does not grow or too much is
//! lost. Every five seconds without as short a round trip ProbeRTT halves what is in flight for 200 ms.
//!
//! Where the draft leaves a choice: losses of one acknowledgement count as one range, as in Linux; three quanta are the
//! offload budget, as for TCP; what the draft draws at random comes from the time, as in [version 1](crate::bbr).

mod choice;
mod model;
#[cfg(test)]
mod tests;

use slantpath_base::{DataRate, Duration, Instant};

use crate::bbr::{BbrConfig, paced, scattered};
use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, Spacing, TimedOut};
use crate::delivery::{LostSegment, rate_of};
use crate::pacing::Pacing;
use crate::probe_rtt::{ProbeRtt, is_limited};
use model::{Model, is_too_high};

/// Gains of the rate are multiples of this.
const UNIT: u64 = 100;
/// 4 ln 2: the least gain that doubles what is sent each round, as the draft reckons.
const STARTUP_GAIN: u64 = 277;
/// BBR.DrainPacingGain.
const DRAIN_GAIN: u64 = 50;
/// Gains of the window are multiples of this, so that a shift divides by it.
const WINDOW_UNIT: u64 = 4;
/// BBR.DefaultCwndGain.
const CWND_GAIN: u64 = 2 * WINDOW_UNIT;
/// Gain of the window in a probe upwards: 2.25.
const UP_CWND_GAIN: u64 = 9;
/// BBR.ProbeRTTCwndGain: 0.5.
const PROBE_RTT_CWND_GAIN: u64 = 2;
/// BBR.Beta, in tenths.
const BETA: u64 = 7;
/// BBR.Headroom, in hundredths.
const HEADROOM: u64 = 15;
/// BBR.MinPipeCwnd, in segments.
const LEAST_WINDOW: u64 = 4;
/// BBR.StartupFullLossCnt.
const STARTUP_LOSSES: u32 = 6;
/// Drain lasts no longer, in rounds.
const DRAIN_ROUNDS: u64 = 3;
/// The least time between probes for bandwidth; up to a second more is drawn.
const PROBE_TIME: Duration = Duration::from_secs(2);
/// The rounds after which a probe is due, for a window of so many segments and more: a Reno flow has grown as much.
const RENO_ROUNDS: u64 = 63;
/// The greatest quantum.
const GREATEST_QUANTUM: u64 = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Which it is stands in front of it, since each acknowledgement asks several times.
#[repr(u8)]
enum State {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(ProbeRtt),
}

/// Phase of a probe for bandwidth to which the acknowledgements that come belong (BBR.ack_phase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Outcome of the last probe for bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastProbe {
    /// Probe that lost too much (BBR.prev_probe_too_high).
    TooHigh,
    /// Probe that went up to the bound that the one before it had set, and no further (BBR.prev_probe_precautionary).
    Precautionary {
        was_too_high: bool,
    },
    Unbounded,
}

/// The probes for bandwidth.
#[derive(Clone, Copy, Debug)]
struct Probe {
    acks: AckPhase,
    last: LastProbe,
    /// BBR.is_bw_probe_sample.
    is_sample: bool,
    /// BBR.cycle_stamp and BBR.bw_probe_wait after it: when the next is due.
    due: Instant,
    /// BBR.rounds_since_probe_up.
    rounds: u64,
    /// With less in flight a flow of Reno would have grown as much in these rounds, so that the next is due.
    reno_in_flight: u64,
    /// BBR.bw_probe_up_rounds, bw_probe_up_acked, probe_up_acked_per_inc.
    up_rounds: u32,
    up_acked: u64,
    acked_per_segment: u64,
}

/// State that is restored after a spurious loss.
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    short_term: (u64, u64),
    long_term: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    Open,
    Repairing,
}

/// The window and the rate of one path.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    config: BbrConfig,
    cwnd: u64,
    prior_cwnd: u64,
    pacing: Option<Pacing>,
    /// Number of bytes that may leave together at that rate.
    quantum: u64,
    /// The model's rate and the gain that the rate is made of; zero before.
    paced_by: (u64, u64),
    state: State,
    recovery: Recovery,
    model: Model,
    probe: Probe,
    undo: Undo,
    /// BBR.inflight_longterm; `u64::MAX` is none.
    long_term: u64,
    /// Part of it that leaves headroom to others. Most acknowledgements ask for it, and few change it.
    with_headroom: u64,
    /// True if the window was full in the last round, and in this one (C.is_cwnd_limited).
    was_full: [bool; 2],
    /// Samples of what is sent until so much is delivered say less than the rate: ProbeRTT limits them.
    limited_until: u64,
    is_restarting: bool,
    now: Instant,
}

impl Bbr3 {
    /// A controller before any transmission.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: BbrConfig) -> Self {
        assert!(config.segment_bytes > 0, "a segment carries at least one byte");
        Self {
            config,
            cwnd: config.initial_cwnd_bytes.max(config.segment_bytes).min(config.max_cwnd_bytes),
            prior_cwnd: 0,
            pacing: None,
            quantum: 2 * config.segment_bytes,
            paced_by: (0, 0),
            state: State::Startup,
            recovery: Recovery::Open,
            model: Model::new(config.initial_cwnd_bytes),
            probe: Probe {
                acks: AckPhase::Init,
                last: LastProbe::Unbounded,
                is_sample: false,
                due: Instant::START,
                rounds: 0,
                reno_in_flight: config.segment_bytes,
                up_rounds: 0,
                up_acked: 0,
                acked_per_segment: u64::MAX,
            },
            undo: Undo { state: None, short_term: (0, 0), long_term: 0 },
            long_term: u64::MAX,
            with_headroom: u64::MAX,
            was_full: [false; 2],
            limited_until: 0,
            is_restarting: false,
            now: Instant::START,
        }
    }

    /// Of the rate and of the window.
    const fn gains(&self) -> (u64, u64) {
        match self.state {
            State::Startup => (STARTUP_GAIN, CWND_GAIN),
            State::Drain { .. } => (DRAIN_GAIN, CWND_GAIN),
            State::Down => (90, CWND_GAIN),
            State::Cruise | State::Refill => (UNIT, CWND_GAIN),
            State::Up => (125, UP_CWND_GAIN),
            State::ProbeRtt(_) => (UNIT, PROBE_RTT_CWND_GAIN),
        }
    }

    const fn is_in_probe_bw(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    const fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    const fn is_window_full(&self) -> bool {
        self.was_full[0] || self.was_full[1]
    }

    fn least_window(&self) -> u64 {
        LEAST_WINDOW * self.config.segment_bytes
    }

    /// The product times a gain of the window (BDPMultiple).
    fn product(&self, gain: u64) -> u64 {
        self.model.product().saturating_mul(gain) / WINDOW_UNIT
    }

    fn with_room(&self, bytes: u64) -> u64 {
        // Three quanta are six segments or more, and so more than the least window.
        let room = bytes.max(3 * self.quantum);
        if matches!(self.state, State::Up) {
            room.saturating_add(2 * self.config.segment_bytes)
        } else {
            room
        }
    }

    /// Number of bytes that a gain of one keeps in flight (BBR.Inflight of 1).
    fn in_flight_at_unit_gain(&self) -> u64 {
        self.with_room(self.model.product())
    }

    fn target_in_flight(&self) -> u64 {
        self.model.product().min(self.cwnd)
    }

    fn set_long_term(&mut self, in_flight: u64) {
        self.long_term = in_flight;
        let headroom = (in_flight / 100 * HEADROOM).max(self.config.segment_bytes);
        self.with_headroom = if in_flight == u64::MAX {
            u64::MAX
        } else {
            in_flight.saturating_sub(headroom).max(self.least_window())
        };
    }

    fn check_startup(&mut self) {
        if !matches!(self.state, State::Startup) {
            return;
        }
        if self.model.sample.ends_loss_round
            && self.recovery == Recovery::Repairing
            && self.model.losses_in_round >= STARTUP_LOSSES
            && self.model.sample.is_loss_high
        {
            self.undo.state = Some(State::Startup);
            self.model.pipe.is_reached = true;
            self.set_long_term(self.model.product().max(self.model.latest_in_flight));
        }
        if self.model.pipe.is_reached {
            self.state = State::Drain { since_round: self.model.rounds };
        }
    }

    fn check_drain(&mut self, in_flight: u64) {
        if let State::Drain { since_round } = self.state
            && (in_flight <= self.in_flight_at_unit_gain() || self.model.rounds > since_round + DRAIN_ROUNDS)
        {
            self.start_down();
        }
    }

    fn start_down(&mut self) {
        self.model.reset_signals();
        self.probe.acked_per_segment = u64::MAX;
        let draw = scattered(self.now);
        self.count_rounds(draw >> 63);
        self.probe.due = self.now.saturating_add(PROBE_TIME + Duration::from_nanos(draw % 1_000_000_000));
        self.probe.acks = AckPhase::Stopping;
        self.model.start_round();
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.model.reset_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        if let LastProbe::Precautionary { was_too_high } = self.probe.last {
            self.probe.last = if was_too_high { LastProbe::TooHigh } else { LastProbe::Unbounded };
        }
        self.probe.acks = AckPhase::Refilling;
        self.model.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, rate: u64) {
        self.probe.is_sample = true;
        self.probe.acks = AckPhase::Starting;
        self.model.start_round();
        self.model.pipe.reset(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    fn raise_slope(&mut self) {
        let growth = 1_u64 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_segment = (self.cwnd / growth).max(self.config.segment_bytes);
    }

    /// Moves on to the next phase of the cycle of ProbeBW if it is time (UpdateProbeBWCyclePhase).
    fn cycle(&mut self, acknowledged: &Acknowledged) {
        if !self.model.pipe.is_reached || self.adapt_long_term(acknowledged) {
            return;
        }
        let rate = self.model.sample.rate;
        let goes_down = matches!(self.state, State::Up) && self.is_time_to_go_down(acknowledged, rate);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe() => self.start_refill(),
            State::Down => {
                let in_flight = acknowledged.in_flight;
                if in_flight <= self.with_headroom && in_flight <= self.in_flight_at_unit_gain() {
                    self.state = State::Cruise;
                }
            }
            State::Refill if self.model.sample.starts_round => self.start_up(rate),
            State::Up if goes_down => self.start_down(),
            _ => {}
        }
    }

    /// So many rounds have passed since the last probe began.
    fn count_rounds(&mut self, rounds: u64) {
        self.probe.rounds = rounds;
        // As many rounds as the target has whole segments.
        self.probe.reno_in_flight =
            if rounds >= RENO_ROUNDS { u64::MAX } else { (rounds + 1) * self.config.segment_bytes };
    }

    fn is_time_to_probe(&self) -> bool {
        self.now > self.probe.due || self.target_in_flight() < self.probe.reno_in_flight
    }

    fn is_time_to_go_down(&mut self, acknowledged: &Acknowledged, rate: u64) -> bool {
        if self.probe.last == LastProbe::TooHigh && acknowledged.in_flight >= self.long_term {
            // The bound held: that nothing was lost is still to be seen.
            self.probe.last = LastProbe::Precautionary { was_too_high: false };
            return true;
        }
        if self.is_window_full() && self.cwnd >= self.long_term {
            self.model.pipe.reset(rate);
        } else if self.model.pipe.is_now {
            self.probe.last = LastProbe::Unbounded;
            return true;
        }
        false
    }

    /// AdaptLongTermModel. Returns whether it has decided on another state.
    fn adapt_long_term(&mut self, acknowledged: &Acknowledged) -> bool {
        if self.model.sample.starts_round {
            match self.probe.acks {
                AckPhase::Starting => self.probe.acks = AckPhase::Feedback,
                AckPhase::Stopping => {
                    self.probe.is_sample = false;
                    self.probe.acks = AckPhase::Init;
                    if self.is_in_probe_bw() {
                        if !is_limited(acknowledged, self.limited_until) {
                            self.model.advance_rates();
                        }
                        if self.probe.last == (LastProbe::Precautionary { was_too_high: false }) {
                            self.start_refill();
                            return true;
                        }
                    }
                }
                AckPhase::Init | AckPhase::Refilling | AckPhase::Feedback => {}
            }
        }
        let Some(newest) = acknowledged.counts.newest else { return false };
        if is_too_high(newest.lost_since(acknowledged.counts.lost), newest.in_flight()) {
            return false;
        }
        // Nothing is above a bound that is none.
        if newest.in_flight() > self.long_term {
            self.set_long_term(newest.in_flight());
        }
        if matches!(self.state, State::Up) {
            self.probe_upward(acknowledged.counts.newly_delivered);
        }
        false
    }

    fn probe_upward(&mut self, newly_delivered: u64) {
        if !self.is_window_full() || self.cwnd < self.long_term {
            return;
        }
        self.probe.up_acked += newly_delivered;
        let segments = self.probe.up_acked / self.probe.acked_per_segment;
        self.probe.up_acked -= segments * self.probe.acked_per_segment;
        self.set_long_term(self.long_term.saturating_add(segments * self.config.segment_bytes));
        if self.model.sample.starts_round {
            self.raise_slope();
        }
    }

    /// HandleInflightTooHigh: a probe for bandwidth that left with so much in flight has lost too much.
    fn bound(&mut self, in_flight: u64, is_limited: bool) {
        self.probe.last = match self.probe.last {
            LastProbe::Precautionary { .. } => LastProbe::Precautionary { was_too_high: true },
            LastProbe::TooHigh | LastProbe::Unbounded => LastProbe::TooHigh,
        };
        self.probe.is_sample = false;
        if !is_limited {
            self.set_long_term(in_flight.max(self.target_in_flight() * BETA / 10));
        }
        if matches!(self.state, State::Up) {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    fn check_probe_rtt(&mut self, acknowledged: &Acknowledged, is_stale: bool) {
        let counts = &acknowledged.counts;
        if is_stale {
            self.start_probe_rtt();
        }
        if let State::ProbeRtt(before) = self.state {
            self.limited_until = counts.delivered + acknowledged.in_flight;
            let starts_round = self.model.sample.starts_round;
            let after = before.advance(acknowledged, self.probe_rtt_window(), starts_round);
            self.state = State::ProbeRtt(after);
            if before == ProbeRtt::Falling && after != before {
                self.model.start_round();
            }
            if after.has_lasted_a_round() {
                self.leave_probe_rtt();
            }
        }
        if counts.newly_delivered > 0 {
            self.is_restarting = false;
        }
    }

    #[cold]
    fn start_probe_rtt(&mut self) {
        if !self.is_restarting && !matches!(self.state, State::ProbeRtt(_)) {
            self.save_cwnd();
            self.state = State::ProbeRtt(ProbeRtt::Falling);
            self.probe.acks = AckPhase::Stopping;
            self.model.start_round();
        }
    }

    fn leave_probe_rtt(&mut self) {
        if !matches!(self.state, State::ProbeRtt(probe) if probe.is_over(self.now)) {
            return;
        }
        self.model.renew_round_trip(self.now);
        self.restore_cwnd();
        self.model.reset_short_term();
        if self.model.pipe.is_reached {
            self.start_down();
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_rtt_window(&self) -> u64 {
        self.product(PROBE_RTT_CWND_GAIN).max(self.least_window())
    }

    fn save_cwnd(&mut self) {
        let is_good = self.recovery == Recovery::Open && !matches!(self.state, State::ProbeRtt(_));
        self.prior_cwnd = if is_good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd).min(self.config.max_cwnd_bytes);
    }

    fn save_undo(&mut self) {
        self.save_cwnd();
        self.undo = Undo { state: None, short_term: self.model.short_term(), long_term: self.long_term };
    }

    fn pace(&mut self, gain: u64) {
        // Most acknowledgements leave both as they are.
        if self.paced_by != (self.model.rate(), gain) {
            self.pace_anew(gain);
        }
    }

    #[inline(never)]
    fn pace_anew(&mut self, gain: u64) {
        let rate = paced(DataRate::from_bits_per_sec(self.model.rate()), gain, UNIT);
        let is_faster = self.pacing.is_some_and(|pacing| rate > pacing.rate());
        if rate.as_bits_per_sec() > 0 && (self.model.pipe.is_reached || is_faster) {
            self.set_rate(rate);
            self.paced_by = (self.model.rate(), gain);
        }
    }

    fn set_rate(&mut self, rate: DataRate) {
        let segment = self.config.segment_bytes;
        self.quantum = quantum_at(rate, segment);
        self.pacing = Some(Pacing::new(rate, segment, self.quantum));
    }

    fn set_cwnd(&mut self, acknowledged: &Acknowledged, gain: u64) {
        let acked = acknowledged.counts.newly_delivered;
        let greatest = self.with_room(self.product(gain).saturating_add(self.model.extra_acked()));
        if self.model.pipe.is_reached {
            self.cwnd = (self.cwnd + acked).min(greatest);
        } else if self.cwnd < greatest || acknowledged.counts.delivered < self.config.initial_cwnd_bytes {
            self.cwnd += acked;
        }
        if matches!(self.state, State::ProbeRtt(_)) {
            self.cwnd = self.cwnd.min(self.probe_rtt_window());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.long_term,
            State::Cruise | State::ProbeRtt(_) => self.with_headroom,
            State::Startup | State::Drain { .. } => u64::MAX,
        };
        let bounded = self.cwnd.min(cap).min(self.model.short_term_in_flight);
        self.cwnd = bounded.max(self.least_window()).min(self.config.max_cwnd_bytes);
    }
}

impl CongestionControl for Bbr3 {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        if self.model.pipe.is_reached { self.in_flight_at_unit_gain() } else { u64::MAX }
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        self.pacing.map(|pacing| pacing.rate())
    }

    #[inline]
    fn spacing(&self, bytes: u64) -> Option<Spacing> {
        self.pacing.as_ref().map(|pacing| pacing.spacing(bytes))
    }

    fn send_quantum(&self) -> u64 {
        self.quantum
    }

    fn rules_recovery(&self) -> bool {
        true
    }

    #[inline]
    fn on_sent(&mut self, sent: Sent) {
        self.now = sent.now;
        if sent.in_flight_before + sent.bytes + self.config.segment_bytes > self.cwnd {
            self.was_full[1] = true;
        }
        // With a recovery open it is not the application that has paused.
        if sent.in_flight_before > 0 || self.recovery != Recovery::Open {
            return;
        }
        self.is_restarting = true;
        self.model.restart_aggregation(sent.now);
        if self.is_in_probe_bw() {
            self.pace(UNIT);
        } else {
            self.leave_probe_rtt();
        }
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.now = acknowledged.now;
        let limited_until = self.limited_until;
        self.model.observe(acknowledged, || is_limited(acknowledged, limited_until), self.cwnd);
        if self.model.sample.starts_round {
            self.count_rounds(self.probe.rounds + 1);
            self.was_full = [self.was_full[1], false];
        }
        if self.model.sample.ends_loss_round && self.model.is_loss_in_round && !self.is_probing() {
            self.model.lower_short_term(self.cwnd);
        }
        self.check_startup();
        self.model.end_signals();
        self.check_drain(acknowledged.in_flight);
        self.cycle(acknowledged);
        let is_stale = self.model.observe_round_trip(acknowledged);
        self.check_probe_rtt(acknowledged, is_stale);
        self.model.advance_latest(acknowledged);
        if self.pacing.is_none()
            && let Some(round_trip) = acknowledged.smoothed_round_trip.or(acknowledged.round_trip)
        {
            let nominal =
                rate_of(self.config.initial_cwnd_bytes.saturating_mul(STARTUP_GAIN) / UNIT, round_trip);
            self.set_rate(nominal.max(DataRate::from_bits_per_sec(1)));
        }
        let (pacing_gain, cwnd_gain) = self.gains();
        self.pace(pacing_gain);
        self.set_cwnd(acknowledged, cwnd_gain);
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        if !self.model.is_loss_in_round {
            self.save_undo();
        }
        self.model.note_loss(lost);
        if !self.probe.is_sample {
            return;
        }
        let (in_flight, found_lost) = (lost.departure.in_flight(), lost.departure.lost_since(lost.lost));
        if is_too_high(found_lost, in_flight) {
            let before = model::in_flight_at_loss(in_flight, found_lost, lost.bytes);
            self.bound(before, lost.departure.is_application_limited());
        }
    }

    fn on_lost(&mut self, _: Congestion) {
        // The first lost segment of the round has saved what an undo needs.
        self.save_cwnd();
        self.recovery = Recovery::Repairing;
    }

    fn on_recovered(&mut self, _: Instant) {
        self.recovery = Recovery::Open;
        self.restore_cwnd();
    }

    fn on_spurious(&mut self, now: Instant) {
        self.now = now;
        self.restore_cwnd();
        self.recovery = Recovery::Open;
        self.model.is_loss_in_round = false;
        self.model.pipe.reset(0);
        self.model.raise_short_term(self.undo.short_term);
        self.set_long_term(self.long_term.max(self.undo.long_term));
        match self.undo.state.take() {
            Some(State::Startup) if !matches!(self.state, State::Startup) => {
                self.model.pipe.is_reached = false;
                if !matches!(self.state, State::ProbeRtt(_)) {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !matches!(self.state, State::ProbeRtt(_)) => {
                self.start_refill();
            }
            _ => {}
        }
    }

    fn on_timed_out(&mut self, _: TimedOut) {
        self.save_cwnd();
        self.recovery = Recovery::Repairing;
        self.cwnd = self.config.segment_bytes;
    }

    fn on_marked(&mut self, _: Congestion) {
        // The draft leaves ECN to later work.
    }

    fn on_idle(&mut self, _: u64) {
        // The window stays, since what it lets out is paced.
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.segment_bytes = segment_bytes;
        self.set_long_term(self.long_term);
        self.count_rounds(self.probe.rounds);
        match self.pacing {
            Some(pacing) => self.set_rate(pacing.rate()),
            None => self.quantum = 2 * segment_bytes,
        }
    }
}

/// Number of bytes that leave together at a rate: those that it carries in a millisecond, and two segments at least.
#[inline(never)]
fn quantum_at(rate: DataRate, segment: u64) -> u64 {
    rate.size_in(Duration::from_millis(1)).as_bytes().min(GREATEST_QUANTUM).max(2 * segment)
}
