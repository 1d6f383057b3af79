//! State of a path whose losses are found by time (RFC 8985): delivery times, the present recovery, the outstanding
//! probe, and the record by which the last reduction can be taken back.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};
use slantpath_cc::control::{self, LossEvent};
use slantpath_cc::rack::{self, Repair};
use slantpath_cc::sctp::SctpController;
use slantpath_cc::{CongestionControl, Controller, ProportionalWindow, Rack};

use super::{Allowance, Path};
use crate::types::Tsn;

/// Time after which a probe is due while no round trip is known.
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// A path whose losses are found by time.
#[derive(Clone, Debug)]
pub(crate) struct Timing {
    rack: Rack,
    /// Transmissions on this path, in the order of their departure. Those that have arrived, were lost or went
    /// elsewhere since are skipped when they come to the front, so that each transmission is met once.
    pub(crate) departures: VecDeque<Departed>,
    /// Transmissions before all of `departures`, of which the peer's SACKs have no room to tell.
    pub(crate) set_aside: VecDeque<Departed>,
    /// Due before T3-rtx.
    pub(crate) early: Option<Early>,
    pub(crate) recovery: Recovery,
    /// The probe that is out, if any.
    probe: Option<LossProbe>,
    /// True if a probe has been sent since a round trip was last measured.
    is_unmeasured: bool,
    /// Chunks sent here last that Gap Ack Blocks acknowledge (RACK.segs_sacked).
    out_of_order: u32,
    /// Something was lost that was sent after the present recovery began: the next one follows.
    has_later_loss: bool,
    at_hand: AtHand,
    undo: Option<Undo>,
    /// A chunk with this number or a higher one gives the next round-trip time.
    next_sample: u64,
}

/// Properties of what the SACK at hand acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct AtHand {
    /// True if it acknowledges a chunk that T3-rtx gave up after a time in which it should have arrived, and that was
    /// not retransmitted.
    has_late_arrival: bool,
    /// True if it acknowledges a chunk that gives a round-trip time.
    has_sample: bool,
}

/// A DATA chunk that was sent here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departed {
    pub(crate) tsn: Tsn,
    /// Ordinal of the transmission among those of its chunk.
    pub(crate) transmission: u32,
}

/// Queue that holds the oldest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    SetAside,
    Departures,
}

/// A timer that runs beside T3-rtx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// A loss probe (PTO).
    Probe(Instant),
    /// Something in flight counts as lost unless it is acknowledged before.
    Reordering(Instant),
}

impl Early {
    pub(crate) const fn at(self) -> Instant {
        let (Self::Probe(at) | Self::Reordering(at)) = self;
        at
    }
}

/// State of the path between losses. TSNs are points: a recovery lasts until all up to there is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    Open,
    /// Repair of what has been found lost.
    Fast {
        exit: Tsn,
        /// Window that limits the bytes in flight meanwhile; `None`: the controller's.
        window: Option<ProportionalWindow>,
    },
    /// T3-rtx has expired.
    Timeout {
        exit: Tsn,
        at: Instant,
    },
}

/// Content of a probe (RFC 8985, section 7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProbeKind {
    /// DATA that was not sent before.
    New,
    /// The last chunk in flight, again.
    Repeated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LossProbe {
    tsn: Tsn,
    kind: ProbeKind,
}

/// The controller before a reduction, and what was retransmitted because of it.
#[derive(Clone, Debug)]
struct Undo {
    /// `None` if the controller gives back by itself what a reduction has taken.
    control: Option<Controller<SctpController>>,
    /// Range of the TSNs that were outstanding: those after `from`, up to `to`.
    from: Tsn,
    to: Tsn,
    /// Repetitions of which the peer has not said that they came in vain.
    repetitions: u64,
}

impl Undo {
    fn covers(&self, tsn: Tsn) -> bool {
        tsn.is_after(self.from) && tsn.is_at_or_before(self.to)
    }
}

impl Timing {
    /// TSNs begin anew, while nothing is outstanding.
    pub(super) fn forget_numbers(&mut self) {
        self.departures.clear();
        self.set_aside.clear();
        self.early = None;
        self.recovery = Recovery::Open;
        self.probe = None;
        self.out_of_order = 0;
        self.has_later_loss = false;
        self.undo = None;
    }

    pub(super) fn new(duplicate_threshold: u32) -> Self {
        Self {
            rack: Rack::new(duplicate_threshold),
            departures: VecDeque::new(),
            set_aside: VecDeque::new(),
            early: None,
            recovery: Recovery::Open,
            probe: None,
            is_unmeasured: false,
            out_of_order: 0,
            has_later_loss: false,
            at_hand: AtHand::default(),
            undo: None,
            next_sample: 0,
        }
    }

    /// The oldest of what was sent here and of which the peer's SACKs tell, up to `last_told`. What they do not tell of
    /// is set aside: it is missing from them whether it has arrived or not.
    pub(crate) fn oldest(&mut self, last_told: Option<Tsn>) -> Option<(Order, Departed)> {
        let is_told = |departed: &Departed| last_told.is_none_or(|last| !departed.tsn.is_after(last));
        if let Some(&departed) = self.set_aside.front().filter(|departed| is_told(departed)) {
            return Some((Order::SetAside, departed));
        }
        loop {
            let departed = *self.departures.front()?;
            if is_told(&departed) {
                return Some((Order::Departures, departed));
            }
            self.departures.pop_front();
            self.set_aside.push_back(departed);
        }
    }

    /// Removes the oldest transmission, which has arrived, was lost or went elsewhere.
    pub(crate) fn forget_oldest(&mut self, order: Order) {
        match order {
            Order::SetAside => self.set_aside.pop_front(),
            Order::Departures => self.departures.pop_front(),
        };
    }

    /// Tells if the SACK at hand gives a round-trip time: one is taken in a round trip, from a SACK that has come by a
    /// path by which it may. The next new chunk has the number `next`.
    pub(crate) fn take_sample(&mut self, next: u64, may_have: bool) -> bool {
        let has_sample = core::mem::take(&mut self.at_hand.has_sample) && may_have;
        if has_sample {
            self.next_sample = next;
        }
        has_sample
    }

    /// A round trip has been measured.
    pub(super) const fn on_measured(&mut self) {
        self.is_unmeasured = false;
    }

    /// A chunk, sent here last, is acknowledged by a Gap Ack Block.
    pub(crate) const fn on_out_of_order(&mut self) {
        self.out_of_order += 1;
    }

    /// Such a chunk is acknowledged cumulatively, or revoked.
    pub(crate) const fn on_in_order(&mut self) {
        self.out_of_order -= 1;
    }

    /// Tells if nothing that was sent here has overtaken anything.
    pub(crate) const fn is_in_order(&self) -> bool {
        self.out_of_order == 0
    }

    /// The SACK at hand acknowledges a chunk, which was sent so many times.
    pub(crate) fn on_delivered(&mut self, now: Instant, sent: rack::Transmission, transmissions: u32) {
        self.rack.on_delivered(now, sent, transmissions);
        self.at_hand.has_sample |= transmissions == 1 && sent.end >= self.next_sample;
    }

    /// The SACK at hand acknowledges a chunk, sent once, that T3-rtx has given up.
    pub(crate) fn on_given_up_arrived(&mut self, sent_at: Instant, smoothed_round_trip: Option<Duration>) {
        if let Recovery::Timeout { at, .. } = self.recovery {
            let window = self.rack.reordering_window(smoothed_round_trip, Repair::Running);
            let is_long_ago = smoothed_round_trip.is_some_and(|round_trip| sent_at + round_trip <= at);
            self.at_hand.has_late_arrival |= is_long_ago && self.rack.is_overdue(at, sent_at, window);
        }
    }

    /// The SACK has been read. Returns whether it shows that T3-rtx expired although nothing was lost (F-RTO, RFC
    /// 5682): the network went on delivering what was due long before.
    pub(crate) fn end_sack(&mut self, now: Instant) -> bool {
        let is_spurious = core::mem::take(&mut self.at_hand.has_late_arrival) && self.undo.is_some();
        self.rack.end_of_ack(now, is_spurious);
        is_spurious
    }

    /// Time that packets out of order may take longer.
    pub(crate) fn reordering_window(&self, smoothed_round_trip: Option<Duration>) -> Duration {
        let repair = match self.recovery {
            Recovery::Open => Repair::None { out_of_order: self.out_of_order },
            Recovery::Fast { .. } | Recovery::Timeout { .. } => Repair::Running,
        };
        self.rack.reordering_window(smoothed_round_trip, repair)
    }

    /// Instant at which something in flight counts as lost; `None` while nothing that was sent after it has arrived.
    pub(crate) fn lost_at(&self, sent: rack::Transmission, reordering_window: Duration) -> Option<Instant> {
        self.rack.lost_at(sent, reordering_window)
    }

    /// Something was found lost, `last` of it with the highest TSN. Returns whether a recovery begins.
    pub(crate) fn on_found_lost(&mut self, last: Option<Tsn>) -> bool {
        match self.recovery {
            Recovery::Open => core::mem::take(&mut self.has_later_loss) || last.is_some(),
            // A loss of what the recovery itself retransmitted is of the same congestion (RFC 8985, section 9.3).
            Recovery::Fast { exit, .. } | Recovery::Timeout { exit, .. } => {
                self.has_later_loss |= last.is_some_and(|last| last.is_after(exit));
                false
            }
        }
    }

    fn begin(&mut self, recovery: Recovery) {
        self.recovery = recovery;
        // Whatever has been lost until now is of the recovery that begins, and what a probe would tell is known.
        self.has_later_loss = false;
        self.probe = None;
        self.early = None;
    }
}

impl Path {
    /// Instant at which something is due before T3-rtx.
    pub(crate) fn early(&self) -> Option<Instant> {
        self.timing.as_ref()?.early.map(Early::at)
    }

    /// Tells if something lost on this path is being repaired, where losses are found by time or several paths are used
    /// at once.
    pub(crate) fn is_in_fast_recovery(&self) -> bool {
        self.fast_recovery_exit.is_some()
            || self.timing.as_ref().is_some_and(|timing| matches!(timing.recovery, Recovery::Fast { .. }))
    }

    /// Tells if a chunk that was lost again belongs to losses for which the window has been reduced.
    pub(crate) fn has_reduced_for(&self, tsn: Tsn) -> bool {
        self.timing.as_ref().is_some_and(
            |timing| matches!(timing.recovery, Recovery::Fast { exit, .. } if tsn.is_at_or_before(exit)),
        )
    }

    /// Begins a recovery: with `in_flight` bytes in flight before the loss was found, everything after `from` and up to
    /// `to` outstanding.
    pub(crate) fn begin_recovery(&mut self, loss: LossEvent, in_flight: u64, from: Tsn, to: Tsn) {
        self.remember_window(from, to);
        self.reduce_window_from(in_flight, loss, to);
        let window = (!self.cc.rules_recovery()).then(|| ProportionalWindow::new(self.cc.cwnd(), in_flight));
        if let Some(timing) = &mut self.timing {
            timing.begin(Recovery::Fast { exit: to, window });
        }
    }

    /// T3-rtx has expired: everything after `from` and up to `to` is outstanding.
    pub(crate) fn begin_timeout(&mut self, now: Instant, from: Tsn, to: Tsn) {
        let Some(timing) = &self.timing else { return };
        if !matches!(timing.recovery, Recovery::Timeout { .. }) {
            self.remember_window(from, to);
        }
        if let Some(timing) = &mut self.timing {
            timing.begin(Recovery::Timeout { exit: to, at: now });
        }
    }

    /// Tells if losses are being repaired, where they are found by time.
    pub(crate) fn is_repairing(&self) -> bool {
        self.timing.as_ref().is_some_and(|timing| timing.recovery != Recovery::Open)
    }

    /// Everything up to `cumulative` is acknowledged: a recovery may be over.
    pub(crate) fn settle_recovery(&mut self, now: Instant, cumulative: Tsn) {
        let Some(timing) = &mut self.timing else { return };
        if let Recovery::Fast { exit, .. } | Recovery::Timeout { exit, .. } = timing.recovery
            && exit.is_at_or_before(cumulative)
        {
            timing.recovery = Recovery::Open;
            timing.rack.on_recovery_ended();
            self.cc.on_recovered(now);
        }
    }

    /// The window of a recovery follows what the SACK at hand has told.
    pub(crate) fn shrink_proportionally(&mut self) {
        let (delivered, in_flight, pmdcs) = (self.tally.newly_acked, self.flight_size, u64::from(self.pmdcs));
        if let Some(timing) = &mut self.timing
            && let Recovery::Fast { window: Some(window), .. } = &mut timing.recovery
        {
            window.on_delivered(delivered, in_flight, pmdcs);
        }
    }

    /// There is nothing to be taken back.
    pub(super) fn forget_undo(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.undo = None;
        }
    }

    fn remember_window(&mut self, from: Tsn, to: Tsn) {
        let control = (!self.cc.rules_recovery()).then(|| self.cc.clone());
        if let Some(timing) = &mut self.timing {
            timing.undo = Some(Undo { control, from, to, repetitions: 0 });
        }
    }

    /// A chunk that was lost here is retransmitted, here or elsewhere.
    pub(crate) fn note_repetition(&mut self, tsn: Tsn) {
        if let Some(timing) = &mut self.timing
            && let Some(undo) = &mut timing.undo
            && undo.covers(tsn)
        {
            undo.repetitions += 1;
        }
    }

    /// The peer had `tsn` already when it came again. If nothing that was retransmitted was missing, neither was there
    /// a loss. Everything up to `acknowledged` is acknowledged, numbers up to `next` have been used.
    pub(crate) fn forgive(&mut self, now: Instant, tsn: Tsn, acknowledged: u64, next: u64) {
        let Some(timing) = &mut self.timing else { return };
        let Some(undo) = timing.undo.as_mut().filter(|undo| undo.covers(tsn) && undo.repetitions > 0) else {
            return;
        };
        undo.repetitions -= 1;
        let is_over = undo.repetitions == 0;
        timing.rack.on_duplicate_reported(acknowledged, next);
        if is_over {
            self.take_back(now);
        }
    }

    /// The last reduction was in error: the window is again what it was, and the recovery is over.
    pub(crate) fn take_back(&mut self, now: Instant) {
        let Some(undo) = self.timing.as_mut().and_then(|timing| timing.undo.take()) else { return };
        match undo.control {
            None => self.cc.on_spurious(now),
            Some(control) if control.cwnd() >= self.cc.cwnd() => {
                self.cc = control;
                // The path may have become narrower since.
                self.cc.set_segment_bytes(self.pmdcs.into());
            }
            Some(_) => {}
        }
        self.allowance = Allowance::Window;
        self.stats.undone_reductions += 1;
        if let Some(timing) = &mut self.timing {
            timing.begin(Recovery::Open);
        }
    }

    /// Sets when the next loss probe is due: after new DATA, and after every SACK.
    //= https://www.rfc-editor.org/rfc/rfc8985#section-7.2
    //# The sender SHOULD start or
    //# restart a loss probe PTO timer after transmitting new data (that was
    //# not itself a loss probe) or upon receiving an ACK that cumulatively
    //# acknowledges new data unless it is already in fast recovery, RTO
    //# recovery, or segments have been SACKed
    pub(crate) fn schedule_probe(&mut self, now: Instant, max_sack_delay: Duration) {
        let Some(timing) = &mut self.timing else { return };
        if let Some(Early::Reordering(_)) = timing.early {
            return;
        }
        timing.early = None;
        let is_due = timing.recovery == Recovery::Open && timing.is_in_order() && timing.probe.is_none();
        let Some(timeout_at) = self.t3_rtx.at().filter(|_| is_due) else { return };
        let interval = match self.rtt.srtt() {
            Some(srtt) if self.flight_size <= self.pmdcs.into() => {
                srtt.saturating_mul(2).saturating_add(max_sack_delay)
            }
            Some(srtt) => srtt.saturating_mul(2),
            None => FIRST_PROBE,
        };
        // A round trip that took no time leaves some: a probe is never due at the instant that it is set at.
        let interval = interval.max(Duration::from_nanos(1));
        timing.early = Some(Early::Probe(now.saturating_add(interval).min(timeout_at)));
    }

    /// A probe is due. Returns whether one may be sent.
    pub(crate) fn on_probe_due(&mut self, now: Instant) -> bool {
        let Some(timing) = &mut self.timing else { return false };
        timing.early = None;
        let may_be_sent = !timing.is_unmeasured;
        //= https://www.rfc-editor.org/rfc/rfc8985#section-7.3
        //# After attempting to send a loss probe, regardless of whether a loss
        //# probe was sent, the sender MUST re-arm the RTO timer, not the PTO
        //# timer, if the FlightSize is not zero.
        self.restart_t3_rtx(now);
        may_be_sent
    }

    /// A probe leaves, whose last chunk is `tsn`.
    pub(crate) fn on_probe_sent(&mut self, tsn: Tsn, kind: ProbeKind) {
        if let Some(timing) = &mut self.timing {
            timing.probe = Some(LossProbe { tsn, kind });
            timing.is_unmeasured = true;
            timing.early = None;
        }
    }

    /// A SACK has come, which reports `duplicates`: what it says of the probe (RFC 8985, section 7.4.2).
    pub(crate) fn settle_loss_probe(&mut self, cumulative: Tsn, duplicates: &[Tsn]) {
        let Some(timing) = &mut self.timing else { return };
        let Some(LossProbe { tsn, kind }) =
            timing.probe.filter(|probe| probe.tsn.is_at_or_before(cumulative))
        else {
            return;
        };
        if kind == ProbeKind::New || duplicates.contains(&tsn) {
            timing.probe = None;
        } else if cumulative.is_after(tsn) {
            //= https://www.rfc-editor.org/rfc/rfc8985#section-7.4.2
            //# if the TLP.end_seq is still set and thus indicates that the TLP probe
            //# retransmission remains unacknowledged, then the sender should presume
            //# that at least one of its data segments was lost.
            timing.probe = None;
            self.cc.on_lost(control::Congestion { in_flight: self.tally.flight_size_before });
        }
    }
}
