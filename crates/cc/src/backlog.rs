//! Backlog: a window that keeps a small standing queue at the bottleneck, whatever is lost on the way.
//!
//! For paths whose loss is random, as a satellite's is. A segment that left with `f` bytes in flight and took a round
//! trip `r`, on a path that takes `base` without queue, had `f * (r - base) / r` bytes of the flow waiting at the
//! bottleneck: Little's law. Once a round the window is led to where that backlog is a target: the law of FAST TCP
//! (Wei, Jin, Low, Hegde 2006). Loss has no place in it. The target is at most the root of the product in segments, so
//! that of flows that share a bottleneck the slower one asks for more than its share of the queue.
//!
//! A round with loss lowers the target by three tenths and one without raises it by a segment, which is all that a
//! random loss costs; where a short queue overflows with a little of each of many flows, targets fall until it does
//! not. Where a tenth and more of everything is lost, the window itself is reduced as CUBIC's is.
//!
//! - `opening`: the window doubles each round until it is what a train of segments has shown the path to hold.
//! - `path`: what is known of the path, its round trip without queue, rate and loss. When none has been that short for
//!   long, the window empties the queue for a round to look.
//! - `crowd`: tells a path that has become longer from a queue that others keep, who do not yield. With those, the
//!   window is CUBIC's, until the queue empties once it yields again.

mod crowd;
mod opening;
mod path;

use slantpath_base::{DataRate, Instant};

use crate::control::{Acknowledged, Congestion, CongestionControl, Sent, TimedOut};
use crate::cubic::{Cubic, CubicConfig, IdleWindow};
use crate::delivery::{Departure, LostSegment, rate_of};
use crate::new_reno::AvoidanceIncrease;
use crate::slow_start::SlowStart;
use crate::terms::{Selectable, Terms};
use crowd::{Crowd, Finding};
use opening::Opening;
use path::{PathModel, Round, multiplied};

/// The choices of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacklogConfig {
    /// The longest segment, as the transport counts bytes. Not zero.
    pub segment_bytes: u64,
    /// The window before the first acknowledgement.
    pub initial_cwnd_bytes: u64,
    /// cwnd never exceeds this.
    pub max_cwnd_bytes: u64,
    /// Rate that the path is known to carry, in such bytes; `None`: to be measured. Nothing leaves faster, and after
    /// the first round trip the window is what the path holds.
    pub capacity: Option<DataRate>,
}

/// The window of one path.
#[derive(Clone, Debug)]
pub struct Backlog {
    config: BacklogConfig,
    cwnd: u64,
    path: PathModel,
    round: Round,
    crowd: Crowd,
    /// The backlog that the window is led to, in bytes.
    target: u64,
    /// Count of bytes that had been delivered when the retransmission timer last expired.
    silent_since: Option<u64>,
    mode: Mode,
}

#[derive(Clone, Debug)]
enum Mode {
    /// Window that doubles each round.
    Opening(Opening),
    /// The backlog leads the window.
    Steady {
        /// By how much it opens in a round that finds no backlog, in bytes.
        step: u64,
    },
    /// A window that empties the queue, for one round, to see the round trip without one.
    Draining { resume: u64 },
    /// A queue that others keep: the window is CUBIC's, which has had so many rounds.
    Competing { cubic: Box<Cubic>, rounds: u32 },
    /// The window yields again for so many rounds more, to see whether others still keep the queue.
    Yielding { cubic: Box<Cubic>, rounds_left: u32 },
    /// The retransmission timer has expired: one segment, until something arrives.
    Silent { resume: u64 },
}

/// Greatest part of all that is sent in some rounds that may be lost: more is congestion, whatever the backlog is.
const GREATEST_LOSS: u64 = LOSS_UNIT / 10;
/// The unit of a ratio of loss.
const LOSS_UNIT: u64 = 1 << 16;
/// Part to which a window is reduced when congestion is certain, in tenths: CUBIC's factor (RFC 9438, section 4.6).
const REDUCTION: u64 = 7;
/// The least window, in segments: a receiver may acknowledge every second one.
const LEAST_WINDOW: u64 = 4;
/// The greatest target of the backlog on a path that holds next to nothing, in segments.
const LEAST_GREATEST_TARGET: u64 = 2;
/// Part of the path that a window that drains the queue leaves free beside the target, as a divisor.
const DRAINED_PART: u64 = 32;
/// Rounds of CUBIC before the window yields again to see whether the others still keep the queue, and rounds of that.
const COMPETING_ROUNDS: u32 = 64;
const YIELDING_ROUNDS: u32 = 4;

impl Backlog {
    /// A controller before any transmission.
    ///
    /// # Panics
    /// If a segment has no bytes.
    pub fn new(config: BacklogConfig) -> Self {
        assert!(config.segment_bytes > 0, "a segment carries at least one byte");
        Self {
            config,
            cwnd: config.initial_cwnd_bytes.max(config.segment_bytes).min(config.max_cwnd_bytes),
            path: PathModel::default(),
            round: Round::default(),
            crowd: Crowd::default(),
            target: config.initial_cwnd_bytes,
            silent_since: None,
            mode: Mode::Opening(Opening::default()),
        }
    }

    /// The backlog that the window is led to, in bytes, where so much is in flight without it.
    fn target(&self, product: u64) -> u64 {
        self.target.min(self.greatest_target(product))
    }

    fn greatest_target(&self, product: u64) -> u64 {
        let segments = (product / self.config.segment_bytes).isqrt().max(LEAST_GREATEST_TARGET);
        segments * self.config.segment_bytes
    }

    /// A round with loss lowers the target, one without raises it: where a queue overflows, it may be that of many
    /// flows with a little in it each.
    fn adapt_target(&mut self, product: u64) {
        let segment = self.config.segment_bytes;
        self.target = if self.path.has_lost() {
            (self.target * REDUCTION / 10).max(segment / 4)
        } else {
            (self.target + segment).min(self.greatest_target(product))
        };
    }

    /// Number of bytes that the path holds without queue, by the rate that was measured or is known.
    fn product(&self) -> Option<u64> {
        let base = self.path.base()?;
        let rate = self.config.capacity.or_else(|| self.path.rate())?;
        Some(rate.size_in(base).as_bytes())
    }

    /// Tells if data with this departure was sent before something arrived again after the last silence.
    fn met_silence(&self, departure: &Departure) -> bool {
        self.silent_since.is_some_and(|delivered| departure.delivered() <= delivered)
    }

    fn set_cwnd(&mut self, bytes: u64) {
        let least = LEAST_WINDOW * self.config.segment_bytes;
        self.cwnd = bytes.max(least).min(self.config.max_cwnd_bytes);
    }

    fn open(&mut self, acknowledged: &Acknowledged) {
        let Mode::Opening(opening) = &mut self.mode else { return };
        opening.observe(acknowledged, self.path.base(), self.config.segment_bytes);
        let Some(base) = self.path.base() else { return };
        let limit = self.config.capacity.or(opening.train_rate()).map(|rate| rate.size_in(base).as_bytes());
        if let Some(product) = limit
            && (self.config.capacity.is_some() || self.cwnd + acknowledged.counts.newly_delivered >= product)
        {
            self.settle(product);
            return;
        }
        if opening.has_queue(acknowledged, base) {
            let product = self.round.in_flight_without_queue(base).unwrap_or(self.cwnd / 2);
            self.settle(product);
            return;
        }
        self.set_cwnd(self.cwnd + acknowledged.counts.newly_delivered);
    }

    /// The opening is over: so much is the product.
    fn settle(&mut self, product: u64) {
        let target = self.target(product);
        self.target = target;
        self.mode = Mode::Steady { step: target };
        self.set_cwnd(product + target);
    }

    /// A round is over that the window was led by its backlog.
    fn steer(&mut self, step: u64) {
        let Some(base) = self.path.base() else { return };
        let Some((in_flight, round_trip)) = self.round.least() else { return };
        let without = multiplied(in_flight, base, round_trip);
        let backlog = in_flight - without;
        self.adapt_target(without);
        let target = self.target;
        let is_empty = backlog < target / 2;
        // Where there is no backlog, the path may hold much more than it did: each further round asks for twice as
        // much. Less boldly where something was lost lately: the queue may be shorter than such a step.
        let greatest_step = if self.path.loss() == 0 { without / 4 } else { without / 16 };
        let step = if is_empty { (2 * step).min(greatest_step) } else { 0 }.max(target);
        self.mode = Mode::Steady { step };
        let wanted = without + step;
        let cwnd = if wanted >= self.cwnd || backlog > in_flight / 4 {
            wanted.min(self.cwnd + step)
        } else if is_empty {
            // The window has not been filled.
            self.cwnd
        } else {
            u64::midpoint(self.cwnd, wanted)
        };
        self.set_cwnd(cwnd);
    }

    fn end_round(&mut self, now: Instant) {
        self.path.end_round(&self.round);
        let excess = self.path.loss() > GREATEST_LOSS;
        match &mut self.mode {
            Mode::Opening(opening) => {
                opening.start_round(self.cwnd);
                if excess {
                    self.settle(self.cwnd / 2);
                }
            }
            Mode::Steady { step } => {
                let step = *step;
                match self.crowd.observe(&self.round, self.path.base(), self.cwnd, self.path.has_lost()) {
                    Finding::LongerPath(base) => {
                        self.path.set_base(base);
                        let product = self.product().unwrap_or(self.cwnd);
                        self.settle(product);
                    }
                    Finding::Crowded => self.compete(),
                    Finding::Alone => {
                        self.steer(step);
                        if excess {
                            self.set_cwnd(self.cwnd * REDUCTION / 10);
                        } else if self.path.is_base_stale(now) {
                            self.drain();
                        }
                    }
                }
            }
            Mode::Draining { resume } => {
                let resume = *resume;
                self.path.renew_base(now);
                self.crowd = self.crowd.renewed();
                self.mode = Mode::Steady { step: 0 };
                self.set_cwnd(resume);
            }
            Mode::Competing { rounds, .. } => *rounds += 1,
            Mode::Yielding { rounds_left, .. } => {
                *rounds_left -= 1;
                let is_over = *rounds_left == 0;
                let Mode::Yielding { cubic, rounds_left } =
                    std::mem::replace(&mut self.mode, Mode::Steady { step: 0 })
                else {
                    unreachable!("it is this mode")
                };
                self.steer(0);
                if is_over {
                    self.set_cwnd(cubic.cwnd());
                    self.mode = Mode::Competing { cubic, rounds: 0 };
                } else if !Crowd::is_empty(&self.round, self.path.base()) {
                    self.mode = Mode::Yielding { cubic, rounds_left };
                }
            }
            Mode::Silent { .. } => {}
        }
        self.round = Round::default();
    }

    /// Lowers the window so that the queue drains. Those who share a bottleneck come to drain it together: the drain of
    /// one of them shows the others a shorter round trip, from which on they count alike.
    fn drain(&mut self) {
        let Some(base) = self.path.base() else { return };
        let Some(without) = self.round.in_flight_without_queue(base) else { return };
        self.mode = Mode::Draining { resume: self.cwnd };
        let drained = (without - without / DRAINED_PART).saturating_sub(self.target);
        self.cwnd = drained.max(2 * self.config.segment_bytes);
    }

    /// The window is CUBIC's from now on, and what it was before the flow yielded.
    fn compete(&mut self) {
        let cwnd = self.crowd.window_held().clamp(self.cwnd, self.config.max_cwnd_bytes);
        let cubic = Box::new(Cubic::new(CubicConfig {
            segment_bytes: self.config.segment_bytes,
            initial_cwnd_bytes: cwnd,
            initial_ssthresh_bytes: Some(cwnd.saturating_sub(1)),
            max_cwnd_bytes: self.config.max_cwnd_bytes,
            slow_start: SlowStart::Standard,
            byte_counting_limit: 1,
            avoidance_increase: AvoidanceIncrease::ByteCounting,
            fast_convergence: true,
            idle_window: IdleWindow::Restart,
        }));
        self.set_cwnd(cwnd);
        self.mode = Mode::Competing { cubic, rounds: 0 };
    }

    /// CUBIC has been told of a loss: all that compete are, and yield together from time to time.
    fn yield_again(&mut self) {
        if let Mode::Competing { rounds, .. } = self.mode
            && rounds >= COMPETING_ROUNDS
            && let Mode::Competing { cubic, .. } = std::mem::replace(&mut self.mode, Mode::Steady { step: 0 })
        {
            self.mode = Mode::Yielding { cubic, rounds_left: YIELDING_ROUNDS };
        }
    }
}

impl Selectable for Backlog {
    const NEEDS_LOSS_TIMES: bool = true;
    const READS_CAPACITY: bool = true;

    fn on(terms: &Terms) -> Self {
        let &Terms { segment_bytes, initial_cwnd_bytes, max_cwnd_bytes, known_capacity: capacity, .. } =
            terms;
        Self::new(BacklogConfig { segment_bytes, initial_cwnd_bytes, max_cwnd_bytes, capacity })
    }
}

impl CongestionControl for Backlog {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        match self.mode {
            Mode::Opening(_) => u64::MAX,
            _ => self.cwnd,
        }
    }

    fn pacing_rate(&self) -> Option<DataRate> {
        let base = self.path.base()?;
        let rate = if let Mode::Opening(opening) = &self.mode {
            opening.pacing_rate(self.cwnd, base, self.config.segment_bytes)?
        } else {
            // A little more than the window in a round trip, so that it is the window that limits.
            let rate = rate_of(self.cwnd, self.path.round_trip().unwrap_or(base));
            DataRate::from_bits_per_sec(rate.as_bits_per_sec() / 16 + rate.as_bits_per_sec())
        };
        Some(self.config.capacity.map_or(rate, |capacity| rate.min(capacity)))
    }

    fn send_quantum(&self) -> u64 {
        2 * self.config.segment_bytes
    }

    fn rules_recovery(&self) -> bool {
        !matches!(self.mode, Mode::Competing { .. })
    }

    fn on_sent(&mut self, sent: Sent) {
        if let Mode::Competing { cubic, .. } = &mut self.mode {
            cubic.on_sent(sent);
        }
    }

    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if let Mode::Silent { resume } = self.mode {
            // What the timeout has given up is no measure of what the path loses by chance.
            self.mode = Mode::Steady { step: 0 };
            self.round = Round::default();
            self.path.skip_losses(acknowledged.counts.lost);
            self.set_cwnd(resume * REDUCTION / 10);
        }
        let has_shortened = self.path.observe(acknowledged);
        // A segment of before the silence has taken as long as that.
        if acknowledged.counts.newest.is_some_and(|newest| !self.met_silence(&newest)) {
            self.round.observe(acknowledged, self.send_quantum());
        }
        if has_shortened && !matches!(self.mode, Mode::Opening(_)) {
            // What was in flight on the longer path would wait at the bottleneck of the shorter one.
            if let Some(product) = self.product() {
                let bytes = self.cwnd.min(product + self.target(product));
                self.set_cwnd(bytes);
            }
            self.round = Round::default();
        }
        self.open(acknowledged);
        if let Mode::Competing { cubic, .. } = &mut self.mode {
            cubic.on_acknowledged(acknowledged);
            self.cwnd = cubic.cwnd();
        }
        if acknowledged.starts_round {
            self.end_round(acknowledged.now);
        }
    }

    fn on_segment_lost(&mut self, lost: &LostSegment) {
        if self.met_silence(&lost.departure) {
            self.path.excuse(lost.bytes);
        }
    }

    fn on_lost(&mut self, congestion: Congestion) {
        if let Mode::Competing { cubic, .. } = &mut self.mode {
            cubic.on_lost(congestion);
            self.cwnd = cubic.cwnd();
            self.yield_again();
        }
    }

    fn on_timed_out(&mut self, _: TimedOut) {
        let resume = match self.mode {
            Mode::Silent { resume } => resume,
            _ => self.cwnd,
        };
        self.mode = Mode::Silent { resume };
        self.silent_since = Some(self.path.delivered());
        self.cwnd = self.config.segment_bytes;
    }

    fn on_marked(&mut self, congestion: Congestion) {
        if let Mode::Competing { .. } = self.mode {
            self.on_lost(congestion);
            return;
        }
        self.settle(self.cwnd * REDUCTION / 10);
    }

    fn on_idle(&mut self, _: u64) {
        // The window stays, since what it lets out is paced.
        if let Mode::Steady { step } = &mut self.mode {
            *step = 0;
        }
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
        if let Mode::Competing { cubic, .. } = &mut self.mode {
            cubic.limit_cwnd(at_most);
        }
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.segment_bytes = segment_bytes;
        if let Mode::Competing { cubic, .. } = &mut self.mode {
            cubic.set_segment_bytes(segment_bytes);
        }
    }
}

#[cfg(test)]
mod tests;
