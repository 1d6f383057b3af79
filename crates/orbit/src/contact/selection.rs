//! Satellite that each antenna holds over time: passes in, contacts out.
//!
//! All sites decide in one order of time, so that a policy by load sees the loads of the instant. Pairs that choose
//! together ([`super::joint`]) decide in the same order, after the sites of an instant.

mod duel;
pub(super) mod handover;
pub(super) mod ticks;

use core::sync::atomic::{self, AtomicBool};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::ephemeris::Ephemeris;
use super::joint::Joint;
use super::root::first_positive;
use super::stretch::{ContactCause, Stretch};
use super::visibility::{Pass, Viewpoint, sight};
use crate::ground::{Antenna, Criterion, Handover, Reselect};
use duel::Duel;
use ticks::Ticks;

/// Satellite that one antenna holds from one time to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hold {
    pub(crate) site: usize,
    pub(crate) antenna: usize,
    pub(crate) satellite: usize,
    pub(crate) stretch: Stretch,
    /// Beginning and end of the pass that it is part of; for a pair, of the time that its links have in common.
    pub(crate) pass: (f64, f64),
}

/// One site's view, as the selection needs it.
pub(crate) struct SiteView<'a> {
    pub(crate) viewpoint: Viewpoint<'a>,
    pub(crate) antennas: &'a [Antenna],
    /// For each antenna, its passes in order of their start.
    pub(crate) passes: Vec<&'a [Pass]>,
}

/// Times closer than this, seconds, are one: decisions are made just after the event that calls for them.
pub(crate) const TOGETHER: f64 = 1e-6;

/// Lets every antenna choose over the whole span. `beams` is how many antennas each satellite serves, and `followers`
/// which one comes behind it in its plane.
///
/// A site decides when something rises or sets for it, or at its ticks; one that always takes the least loaded
/// satellite decides again at once when the load of a satellite that it sees has changed. It moves only where that
/// makes the two loads more equal, so that no round of moves goes on for ever. An antenna without a satellite decides
/// again when a beam has become free. Once `stop` is set nobody decides any more.
pub(crate) fn select(
    sites: &[SiteView<'_>],
    ephemeris: &Ephemeris,
    beams: &[u32],
    followers: &[Option<u32>],
    mut joint: Joint<'_>,
    stop: &AtomicBool,
) -> Vec<Hold> {
    let mut load = vec![0_u32; beams.len()];
    let mut choosers: Vec<Chooser<'_>> = sites
        .iter()
        .enumerate()
        .map(|(site, view)| Chooser::new(site, view, ephemeris, (beams, followers)))
        .collect();
    let is_limited = beams.iter().any(|&beams| beams != u32::MAX);
    let watchers: Vec<usize> =
        (0..sites.len()).filter(|&site| is_limited || choosers[site].balances()).collect();
    // When each decides next, sites and then pairs; turns of other times are out of date.
    let mut due = vec![Some(0.0); sites.len() + joint.len()];
    let mut order: BinaryHeap<Turn> = (0..due.len()).map(|who| Turn { at: 0.0, who }).collect();
    while let Some(Turn { at, who }) = order.pop() {
        if due[who] != Some(at) {
            continue;
        }
        if stop.load(atomic::Ordering::Relaxed) {
            break;
        }
        let before = if watchers.is_empty() { Vec::new() } else { load.clone() };
        if who < sites.len() {
            let next = choosers[who].decide(at, &mut load).map(|next| next.max(at + TOGETHER));
            due[who] = next.filter(|&next| next < ephemeris.span());
            order.extend(due[who].map(|at| Turn { at, who }));
        } else {
            // All pairs of the instant at once: what any of them gives up is free before the first chooses.
            let mut together = vec![who - sites.len()];
            while let Some(turn) = order.peek().filter(|turn| turn.at <= at) {
                if due[turn.who] == Some(at) && turn.who != who {
                    together.push(turn.who - sites.len());
                    due[turn.who] = None;
                }
                order.pop();
            }
            for (pair, next) in joint.decide(at, &together, &mut load) {
                let who = sites.len() + pair;
                due[who] = next.map(|next| next.max(at + TOGETHER)).filter(|&next| next < ephemeris.span());
                order.extend(due[who].map(|at| Turn { at, who }));
            }
        }
        let changed: Vec<u32> =
            (0..).zip(before.iter().zip(&load)).filter(|(_, (a, b))| a != b).map(|(id, _)| id).collect();
        if changed.is_empty() {
            continue;
        }
        for &other in watchers.iter().filter(|&&other| other != who) {
            if due[other] != Some(at) && choosers[other].chooses_again(&changed) {
                due[other] = Some(at);
                order.push(Turn { at, who: other });
            }
        }
        // Pairs tell each other what they free; of what others free they hear where there is a limit.
        if is_limited && who < sites.len() {
            for other in joint.hopeful().map(|pair| sites.len() + pair) {
                if due[other] != Some(at) {
                    due[other] = Some(at);
                    order.push(Turn { at, who: other });
                }
            }
        }
    }
    let span = ephemeris.span();
    let alone = choosers.into_iter().flat_map(|chooser| chooser.finish(span));
    alone.chain(joint.finish()).collect()
}

/// A turn to decide: the earliest first, then the lower number.
#[derive(PartialEq)]
struct Turn {
    at: f64,
    who: usize,
}

impl Eq for Turn {}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.who.cmp(&self.who))
    }
}

struct Chooser<'a> {
    site: usize,
    view: &'a SiteView<'a>,
    ephemeris: &'a Ephemeris,
    /// Number of antennas that each satellite serves at most.
    beams: &'a [u32],
    /// Satellite that comes behind each in its plane.
    followers: &'a [Option<u32>],
    antennas: Vec<State<'a>>,
    holds: Vec<Hold>,
}

fn is_balancing(antenna: &Antenna) -> bool {
    antenna.policy.criterion == Criterion::LeastLoaded && antenna.policy.reselect == Reselect::Always
}

/// Until when an antenna keeps a satellite that it does not leave: until it is lost, or until a look finds that it has
/// set.
fn kept_until(antenna: &Antenna, stretch: &Stretch, span: f64) -> f64 {
    match antenna.policy.reselect {
        Reselect::Periodic { interval, offset } if stretch.closes == ContactCause::Sets => {
            let look = Ticks::new(interval.as_secs_f64(), offset.as_secs_f64());
            let end = stretch.end;
            if look.is_one(end) { end } else { look.after(end).min(span) }
        }
        Reselect::Always | Reselect::Grid { .. } | Reselect::Periodic { .. } | Reselect::OnLoss => {
            stretch.end
        }
    }
}

/// One antenna between decisions.
struct State<'a> {
    config: &'a Antenna,
    passes: &'a [Pass],
    /// The first pass that has not begun.
    next: usize,
    /// Passes under way, by index.
    active: Vec<usize>,
    held: Option<Held>,
}

#[derive(Clone, Copy)]
struct Held {
    pass: usize,
    since: f64,
    opens: ContactCause,
}

impl<'a> Chooser<'a> {
    fn new(
        site: usize,
        view: &'a SiteView<'a>,
        ephemeris: &'a Ephemeris,
        (beams, followers): (&'a [u32], &'a [Option<u32>]),
    ) -> Self {
        let state = |(config, passes): (&'a Antenna, &&'a [Pass])| State {
            config,
            passes,
            next: 0,
            active: Vec::new(),
            held: None,
        };
        let antennas = view.antennas.iter().zip(&view.passes).map(state).collect();
        Self { site, view, ephemeris, beams, followers, antennas, holds: Vec::new() }
    }

    /// Tells if an antenna moves when loads change elsewhere.
    fn balances(&self) -> bool {
        self.view.antennas.iter().any(is_balancing)
    }

    /// Tells if an antenna that balances loads, or has no satellite, may use any of these satellites now.
    fn chooses_again(&self, satellites: &[u32]) -> bool {
        let sees = |state: &State<'_>| {
            state.active.iter().any(|&pass| satellites.contains(&state.passes[pass].satellite))
        };
        let chooses = |state: &&State<'_>| is_balancing(state.config) || state.held.is_none();
        self.antennas.iter().filter(chooses).any(sees)
    }

    /// Decides at a time, and says when to decide again.
    fn decide(&mut self, now: f64, load: &mut [u32]) -> Option<f64> {
        for antenna in 0..self.antennas.len() {
            self.follow_sky(antenna, now, load);
        }
        for antenna in 0..self.antennas.len() {
            self.choose(antenna, now, load);
        }
        (0..self.antennas.len()).filter_map(|antenna| self.next_decision(antenna, now)).min_by(f64::total_cmp)
    }

    /// Takes in what has risen, and gives up what has set.
    fn follow_sky(&mut self, antenna: usize, now: f64, load: &mut [u32]) {
        let state = &mut self.antennas[antenna];
        while let Some(pass) =
            state.passes.get(state.next).filter(|pass| pass.stretch.start <= now + TOGETHER)
        {
            if pass.stretch.end > now + TOGETHER {
                state.active.push(state.next);
            }
            state.next += 1;
        }
        let passes = state.passes;
        state.active.retain(|&pass| passes[pass].stretch.end > now + TOGETHER);
        if let Some(held) = state.held
            && let stretch = passes[held.pass].stretch
            && let end = kept_until(state.config, &stretch, self.ephemeris.span())
            && end <= now + TOGETHER
        {
            self.give_up(antenna, end, stretch.closes, load);
        }
    }

    fn give_up(&mut self, antenna: usize, end: f64, closes: ContactCause, load: &mut [u32]) {
        let state = &mut self.antennas[antenna];
        let Some(held) = state.held.take() else { return };
        let pass = state.passes[held.pass];
        let satellite = pass.satellite as usize;
        load[satellite] -= 1;
        // Taken and given up at one instant.
        if end <= held.since {
            return;
        }
        let stretch = Stretch { start: held.since, end, opens: held.opens, closes };
        let pass = (pass.stretch.start, pass.stretch.end);
        self.holds.push(Hold { site: self.site, antenna, satellite, stretch, pass });
    }

    fn choose(&mut self, antenna: usize, now: f64, load: &mut [u32]) {
        let state = &self.antennas[antenna];
        let policy = state.config.policy;
        let mut follower = None;
        let horizon = match policy.reselect {
            Reselect::Periodic { interval, offset } => {
                let look = Ticks::new(interval.as_secs_f64(), offset.as_secs_f64());
                if state.held.is_some() || (now > 0.0 && !look.is_one(now)) {
                    return;
                }
                follower = self.follower(antenna, load);
                now
            }
            Reselect::OnLoss if state.held.is_some() => return,
            Reselect::OnLoss | Reselect::Always => now,
            Reselect::Grid { period, offset } => {
                let tick = Ticks::new(period.as_secs_f64(), offset.as_secs_f64());
                if now > 0.0 && !tick.is_one(now) {
                    return;
                }
                tick.after(now).min(self.ephemeris.span())
            }
        };
        let others = self.antennas.len();
        let best = follower.or_else(|| self.best(antenna, (now, horizon), others, load));
        let best = best.or_else(|| self.best(antenna, (now, now), others, load));
        // One that would have none takes over what a later antenna of its site holds.
        let is_idle = self.antennas[antenna].held.is_none();
        let best = best.or_else(|| is_idle.then(|| self.best(antenna, (now, now), antenna, load)).flatten());
        let Some(best) = best else { return };
        let state = &self.antennas[antenna];
        let pass = state.passes[best];
        let is_grid = matches!(policy.reselect, Reselect::Grid { .. });
        let opens = match state.held {
            Some(held) if held.pass == best => return,
            _ if now <= 0.0 => ContactCause::SpanBegins,
            _ if is_grid => ContactCause::Reconfiguration,
            Some(_) => ContactCause::Preferred,
            None if pass.stretch.start >= now - TOGETHER => pass.stretch.opens,
            None => ContactCause::Replacement,
        };
        let closes = if is_grid { ContactCause::Reconfiguration } else { ContactCause::HandedOver };
        // The pass itself knows its edges better than the turn that follows them.
        let since = if pass.stretch.start > now - TOGETHER { pass.stretch.start } else { now };
        let lost = self.holds.iter().rev().find(|hold| hold.antenna == antenna);
        let since = match lost {
            Some(hold)
                if libm::fabs(hold.stretch.end - now) <= 2.0 * TOGETHER && since > hold.stretch.end =>
            {
                hold.stretch.end.max(pass.stretch.start)
            }
            _ => since,
        };
        self.give_up(antenna, since, closes, load);
        if let Some(later) = self.holder(antenna + 1..self.antennas.len(), pass.satellite) {
            self.give_up(later, since, ContactCause::HandedOver, load);
        }
        load[pass.satellite as usize] += 1;
        self.antennas[antenna].held = Some(Held { pass: best, since, opens });
    }

    /// The pass under way of the satellite behind the one that was held last.
    fn follower(&self, antenna: usize, load: &[u32]) -> Option<usize> {
        let last = self.holds.iter().rev().find(|hold| hold.antenna == antenna)?;
        let follower = self.followers[last.satellite]?;
        let is_held =
            |state: &State<'_>| state.held.is_some_and(|held| state.passes[held.pass].satellite == follower);
        let is_full = load[follower as usize] >= self.beams[follower as usize];
        let state = &self.antennas[antenna];
        let pass = state.active.iter().copied().find(|&pass| state.passes[pass].satellite == follower);
        pass.filter(|_| !is_full && !self.antennas.iter().any(is_held))
    }

    /// Antenna, of the given ones, that holds a satellite.
    fn holder(&self, mut antennas: impl Iterator<Item = usize>, satellite: u32) -> Option<usize> {
        let held = |state: &State<'_>| Some(state.passes[state.held?.pass].satellite);
        antennas.find(|&other| held(&self.antennas[other]) == Some(satellite))
    }

    /// The best pass under way that lasts to `until` and that no other of the site's first `rivals` antennas holds.
    fn best(&self, antenna: usize, (now, until): (f64, f64), rivals: usize, load: &[u32]) -> Option<usize> {
        let state = &self.antennas[antenna];
        let taken =
            |satellite: u32| self.holder((0..rivals).filter(|&other| other != antenna), satellite).is_some();
        let is_freed = |satellite: u32| self.holder(rivals..self.antennas.len(), satellite).is_some();
        let current = state.held.map(|held| held.pass);
        let candidates = state.active.iter().copied().filter(|&pass| {
            let satellite = state.passes[pass].satellite;
            let is_full = load[satellite as usize] >= self.beams[satellite as usize];
            state.passes[pass].stretch.end >= until
                && !taken(satellite)
                && (current == Some(pass) || !is_full || is_freed(state.passes[pass].satellite))
        });
        let score = |pass: usize| self.score(antenna, pass, current == Some(pass), now + TOGETHER, load);
        let order = |&a: &usize, &b: &usize| {
            let satellite = |pass: usize| state.passes[pass].satellite;
            let ((a0, a1), (b0, b1)) = (score(a), score(b));
            a0.total_cmp(&b0).then(a1.total_cmp(&b1)).then(satellite(a).cmp(&satellite(b)))
        };
        let best = candidates.min_by(order)?;
        match (state.config.policy.criterion, current) {
            // Moving must relieve the satellite that is left by more than it burdens the other.
            (Criterion::LeastLoaded, Some(current))
                if state.active.contains(&current) && score(best).0 + 1.0 > score(current).0 + 0.5 =>
            {
                Some(current)
            }
            _ => Some(best),
        }
    }

    /// Value that a criterion minimises, and value that decides between equals.
    fn score(&self, antenna: usize, pass: usize, is_held: bool, now: f64, load: &[u32]) -> (f64, f64) {
        let state = &self.antennas[antenna];
        let pass = &state.passes[pass];
        let satellite = pass.satellite as usize;
        let see = || sight(&self.view.viewpoint.stance(now), &self.ephemeris.state(satellite, now));
        match state.config.policy.criterion {
            Criterion::Nearest => (see().range, 0.0),
            Criterion::Highest => {
                let sight = see();
                (-sight.upward / sight.range, 0.0)
            }
            Criterion::LongestRemaining => (-pass.stretch.end, 0.0),
            Criterion::LeastLoaded => {
                let sight = see();
                let others = f64::from(load[satellite]) - if is_held { 1.0 } else { 0.0 };
                (others, -sight.upward / sight.range)
            }
        }
    }

    fn next_decision(&self, antenna: usize, now: f64) -> Option<f64> {
        let state = &self.antennas[antenna];
        let rise = state.passes.get(state.next).map(|pass| pass.stretch.start);
        let kept =
            |held: Held| kept_until(state.config, &state.passes[held.pass].stretch, self.ephemeris.span());
        let set = state.held.map(kept);
        let earliest = |times: [Option<f64>; 2]| times.into_iter().flatten().min_by(f64::total_cmp);
        match state.config.policy.reselect {
            Reselect::Periodic { interval, offset } => {
                let look = Ticks::new(interval.as_secs_f64(), offset.as_secs_f64());
                set.or_else(|| Some(look.after(now)))
            }
            Reselect::OnLoss => set.or(rise),
            Reselect::Grid { period, offset } => {
                let tick = Ticks::new(period.as_secs_f64(), offset.as_secs_f64()).after(now);
                earliest([Some(tick), set])
            }
            Reselect::Always => {
                let event = earliest([rise, set])?;
                Some(self.next_crossing(antenna, now, event.min(self.ephemeris.span())).unwrap_or(event))
            }
        }
    }

    /// The first time at which another satellite under way becomes better than the one held.
    fn next_crossing(&self, antenna: usize, now: f64, until: f64) -> Option<f64> {
        let state = &self.antennas[antenna];
        let held = state.held?;
        let current = state.passes[held.pass].satellite as usize;
        let criterion = state.config.policy.criterion;
        if !matches!(criterion, Criterion::Nearest | Criterion::Highest) {
            return None;
        }
        let mut earliest = None;
        let mut until = until;
        let taken: Vec<u32> =
            self.antennas.iter().filter_map(|state| Some(state.passes[state.held?.pass].satellite)).collect();
        for &pass in &state.active {
            let other = state.passes[pass].satellite;
            if taken.contains(&other) {
                continue;
            }
            let (viewpoint, ephemeris) = (&self.view.viewpoint, self.ephemeris);
            let duel = Duel { viewpoint, ephemeris, criterion, current, other: other as usize };
            let from = now + 2.0 * TOGETHER;
            if from < until
                && let Some(at) = first_positive(|t| duel.advantage(t), duel.curvature(), (from, until))
            {
                until = at;
                earliest = Some(at);
            }
        }
        earliest
    }

    fn finish(mut self, span: f64) -> Vec<Hold> {
        for antenna in 0..self.antennas.len() {
            let state = &mut self.antennas[antenna];
            if let Some(held) = state.held.take() {
                let pass = state.passes[held.pass];
                let end = kept_until(state.config, &pass.stretch, span);
                let (end, closes) =
                    if end < span { (end, pass.stretch.closes) } else { (span, ContactCause::SpanEnds) };
                let stretch = Stretch { start: held.since, end, opens: held.opens, closes };
                let satellite = pass.satellite as usize;
                let pass = (pass.stretch.start, pass.stretch.end);
                self.holds.push(Hold { site: self.site, antenna, satellite, stretch, pass });
            }
        }
        let handovers: Vec<Handover> =
            self.view.antennas.iter().map(|antenna| antenna.policy.handover).collect();
        let mut made = Vec::with_capacity(self.holds.len());
        for (antenna, handover) in handovers.into_iter().enumerate() {
            let mut holds: Vec<Hold> =
                self.holds.iter().copied().filter(|hold| hold.antenna == antenna).collect();
            handover::make(&mut holds, handover);
            made.extend(holds);
        }
        made
    }
}
