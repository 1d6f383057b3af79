//! Satellites chosen together for both ends of a pair, where no satellite forwards to another.
//!
//! A *way* of a pair is what a packet needs from the one end to the other: a satellite in sight of both, or, through
//! a gateway that takes it down and up again, two. An end lands at the site itself or at a gateway that cables join
//! with it. Each link of a way occupies an antenna of its site; a satellite that a site holds already serves any
//! number of pairs.
//!
//! At one instant pairs first give up what they have lost, and then choose in their order, each among the ways for
//! which antennas and beams are free. The first antenna with which `from` may take part says by which criterion,
//! when, and the way holds until a link of it is lost or the criterion prefers another. A pair that finds no way
//! looks again whenever something rises for it, or an antenna or beam becomes free.

mod choice;
mod landing;
mod rank;

use std::collections::BTreeSet;

use super::ephemeris::Ephemeris;
use super::planner::SitePasses;
use super::selection::{Hold, TOGETHER, handover, ticks::Ticks};
use super::stretch::{ContactCause, Stretch};
use super::visibility::{Pass, Viewpoint};
use crate::ground::{Antenna, GroundPolicy, Reselect};
use crate::network::ContactNetwork;
use crate::outage::OutageTable;
use choice::Beams;
use landing::Landing;

/// One site, as pairs use it.
struct Ground<'a> {
    viewpoint: Viewpoint<'a>,
    skies: Vec<Sky<'a>>,
    antennas: Vec<Bound<'a>>,
}

/// The passes of antennas that see the same sky.
struct Sky<'a> {
    passes: &'a [Pass],
    /// The first pass that has not begun.
    next: usize,
    /// Passes under way, by index.
    active: Vec<usize>,
}

/// An antenna that holds what pairs need, and nothing else.
struct Bound<'a> {
    index: usize,
    config: &'a Antenna,
    sky: usize,
    held: Option<Held>,
}

/// A satellite that an antenna holds for pairs.
#[derive(Clone, Copy)]
struct Held {
    satellite: u32,
    pass: usize,
    since: f64,
    opens: ContactCause,
    users: usize,
    /// Time at which the way for which it was taken became possible.
    possible_since: f64,
}

/// A link of a way: a site and a satellite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    site: usize,
    satellite: u32,
}

/// A pair that chooses satellites of a sky together: of one constellation, or of all where an antenna follows any.
struct Chooser {
    landings: [Vec<Landing>; 2],
    /// Gateways that may take it down and up again.
    gateways: Vec<usize>,
    /// Every site that may take part.
    sites: Vec<usize>,
    policy: GroundPolicy,
    /// Satellites that it may use, by node: true if it may.
    usable: Vec<bool>,
    /// The pairs whose satellites it leaves to them.
    apart_from: Vec<usize>,
    state: State,
    decided_at: f64,
}

/// State of a pair: with a way or without one.
enum State {
    /// No way. When the last one was lost, if one was.
    Waiting(Option<f64>),
    /// A way: its links, each with the place of its antenna, and since when.
    On { links: Vec<(Link, usize)>, since: f64 },
}

/// For each site of a network, the antennas that hold what pairs need and nothing else.
pub fn bound_antennas(network: &ContactNetwork) -> Vec<Vec<usize>> {
    landing::bound_antennas(network, &landing::choosers(network, &OutageTable::default()))
}

/// All pairs of a network that choose together.
pub(crate) struct Joint<'a> {
    ephemeris: &'a Ephemeris,
    grounds: Vec<Ground<'a>>,
    choosers: Vec<Chooser>,
    beams: &'a [u32],
    holds: Vec<Hold>,
}

impl<'a> Joint<'a> {
    /// The pairs of a network that have to choose together. `beams` is how many antennas each satellite serves.
    pub(crate) fn new(
        network: &'a ContactNetwork,
        passes: &'a [SitePasses],
        ephemeris: &'a Ephemeris,
        outages: &OutageTable,
        beams: &'a [u32],
    ) -> Self {
        let choosers = landing::choosers(network, outages);
        let bound = landing::bound_antennas(network, &choosers);
        let ground = |(site, passes): (usize, &'a SitePasses)| {
            let sky = |list: &'a Vec<Pass>| Sky { passes: list, next: 0, active: Vec::new() };
            let antenna = |&index: &usize| Bound {
                index,
                config: &network.sites[site].antennas[index],
                sky: passes.of_antenna[index],
                held: None,
            };
            Ground {
                viewpoint: Viewpoint::new(&network.sites[site].place),
                skies: passes.lists.iter().map(sky).collect(),
                antennas: bound[site].iter().map(antenna).collect(),
            }
        };
        let grounds = passes.iter().enumerate().map(ground).collect();
        Self { ephemeris, grounds, choosers, beams, holds: Vec::new() }
    }

    /// Number of pairs that choose together.
    pub(crate) fn len(&self) -> usize {
        self.choosers.len()
    }

    /// Tells if pairs hold this antenna of a site, so that it does not choose for itself.
    pub(crate) fn binds(&self, site: usize, antenna: usize) -> bool {
        self.grounds[site].antennas.iter().any(|bound| bound.index == antenna)
    }

    /// The pairs that look again when an antenna or a beam has become free.
    pub(crate) fn hopeful(&self) -> impl Iterator<Item = usize> + '_ {
        let chooses = |chooser: &Chooser| {
            matches!(chooser.state, State::Waiting(_)) || chooser.policy.reselect == Reselect::Always
        };
        self.choosers.iter().enumerate().filter(move |(_, chooser)| chooses(chooser)).map(|(index, _)| index)
    }

    /// Lets pairs decide at a time, and says when each of those that did decides again.
    pub(crate) fn decide(
        &mut self,
        now: f64,
        together: &[usize],
        load: &mut [u32],
    ) -> Vec<(usize, Option<f64>)> {
        let mut due: BTreeSet<usize> = together.iter().copied().collect();
        let mut freed = BTreeSet::new();
        for &pair in &due {
            self.follow_sky(pair, now);
            self.lose(pair, now, load, &mut freed);
        }
        let mut decided = BTreeSet::new();
        while let Some(pair) = due.pop_first() {
            self.choose(pair, now, load, &mut freed);
            self.choosers[pair].decided_at = now;
            decided.insert(pair);
            if freed.is_empty() {
                continue;
            }
            let woken: Vec<usize> = self
                .hopeful()
                .filter(|&other| self.choosers[other].decided_at < now)
                .filter(|&other| self.choosers[other].sites.iter().any(|site| freed.contains(site)))
                .collect();
            for other in woken {
                self.follow_sky(other, now);
                self.lose(other, now, load, &mut freed);
                due.insert(other);
            }
            freed.clear();
        }
        decided.into_iter().map(|pair| (pair, self.next_decision(pair, now, load))).collect()
    }

    /// Takes in what has risen and set over the sites of a pair.
    fn follow_sky(&mut self, pair: usize, now: f64) {
        for &site in &self.choosers[pair].sites {
            for sky in &mut self.grounds[site].skies {
                while let Some(pass) =
                    sky.passes.get(sky.next).filter(|pass| pass.stretch.start <= now + TOGETHER)
                {
                    if pass.stretch.end > now + TOGETHER {
                        sky.active.push(sky.next);
                    }
                    sky.next += 1;
                }
                let passes = sky.passes;
                sky.active.retain(|&pass| passes[pass].stretch.end > now + TOGETHER);
            }
        }
    }

    fn pass_of(&self, site: usize, antenna: usize) -> Option<&'a Pass> {
        let bound = &self.grounds[site].antennas[antenna];
        bound.held.map(|held| &self.grounds[site].skies[bound.sky].passes[held.pass])
    }

    /// Time from which, and time until which, the links of a pair's way are all there.
    fn possible(&self, pair: usize, since: f64, links: &[(Link, usize)]) -> (f64, f64) {
        let stretches = links.iter().filter_map(|&(link, antenna)| self.pass_of(link.site, antenna));
        let cables = self.cables_stand_until(pair, since, links).unwrap_or(since);
        stretches.fold((0.0, cables), |(start, end), pass| {
            (pass.stretch.start.max(start), pass.stretch.end.min(end))
        })
    }

    /// Time at which the cables that a way needs fail next, if they stand at a time. Where each end could land at
    /// either site of the way, only those count of the landing that holds for longer: both may be joined by a cable
    /// themselves.
    fn cables_stand_until(&self, pair: usize, now: f64, links: &[(Link, usize)]) -> Option<f64> {
        if links.is_empty() {
            return Some(f64::INFINITY);
        }
        let [from, to] = &self.choosers[pair].landings;
        let of_way = |landings: &'_ [Landing]| {
            let own =
                landings.iter().filter(|landing| links.iter().any(|(link, _)| link.site == landing.site));
            own.filter_map(|landing| Some((landing.site, landing.stands_until(now)?))).collect::<Vec<_>>()
        };
        let (from, to) = (of_way(from), of_way(to));
        let ends = from.iter().flat_map(|one| to.iter().map(move |other| (one, other)));
        let apart = ends.filter(|(one, other)| one.0 != other.0);
        apart.map(|(one, other)| one.1.min(other.1)).max_by(f64::total_cmp)
    }

    /// Gives up a way of which a link is lost.
    fn lose(&mut self, pair: usize, now: f64, load: &mut [u32], freed: &mut BTreeSet<usize>) {
        let State::On { links, since } = &self.choosers[pair].state else { return };
        let (_, end) = self.possible(pair, *since, links);
        if end > now + TOGETHER {
            return;
        }
        let links = links.clone();
        self.choosers[pair].state = State::Waiting(Some(end));
        for (link, antenna) in links {
            let pass = self.pass_of(link.site, antenna).map(|pass| pass.stretch);
            let own = pass.filter(|stretch| stretch.end <= end + TOGETHER);
            let closes = own.map_or(ContactCause::OtherEnd, |stretch| stretch.closes);
            self.release(link.site, antenna, end, (closes, end), load);
            freed.insert(link.site);
        }
    }

    /// One pair less needs what an antenna holds.
    fn release(
        &mut self,
        site: usize,
        antenna: usize,
        end: f64,
        (closes, possible_until): (ContactCause, f64),
        load: &mut [u32],
    ) {
        let bound = &mut self.grounds[site].antennas[antenna];
        let Some(held) = &mut bound.held else { return };
        held.users -= 1;
        if held.users > 0 {
            return;
        }
        let held = *held;
        bound.held = None;
        load[held.satellite as usize] -= 1;
        if end <= held.since {
            return;
        }
        let stretch = Stretch { start: held.since, end, opens: held.opens, closes };
        let (antenna, satellite) = (bound.index, held.satellite as usize);
        let pass = (held.possible_since, possible_until);
        self.holds.push(Hold { site, antenna, satellite, stretch, pass });
    }

    fn choose(&mut self, pair: usize, now: f64, load: &mut [u32], freed: &mut BTreeSet<usize>) {
        let chooser = &self.choosers[pair];
        let span = self.ephemeris.span();
        let horizon = match (chooser.policy.reselect, &chooser.state) {
            (Reselect::Periodic { .. } | Reselect::OnLoss, State::On { .. }) => return,
            (Reselect::Periodic { interval, offset }, State::Waiting(_)) => {
                let look = Ticks::new(interval.as_secs_f64(), offset.as_secs_f64());
                if now > 0.0 && !look.is_one(now) {
                    return;
                }
                now
            }
            (Reselect::OnLoss | Reselect::Always, _) => now,
            (Reselect::Grid { period, offset }, _) => {
                let tick = Ticks::new(period.as_secs_f64(), offset.as_secs_f64());
                if now > 0.0 && !tick.is_one(now) {
                    return;
                }
                tick.after(now).min(span)
            }
        };
        let Some(way) = self.best(pair, now, horizon, &Beams { load, limits: self.beams }) else { return };
        let is_grid = matches!(chooser.policy.reselect, Reselect::Grid { .. });
        let (old, lost_at) = match &chooser.state {
            State::On { links, .. } => (links.clone(), None),
            State::Waiting(lost_at) => (Vec::new(), *lost_at),
        };
        if old.len() == way.len() && old.iter().all(|(link, _)| way.contains(link)) {
            return;
        }
        let start = |link: &Link| self.pass_in_sight(pair, *link).map_or(now, |pass| pass.stretch.start);
        let rise = way.iter().map(start).fold(0.0, f64::max);
        let since = lost_at.filter(|at| now - at <= 2.0 * TOGETHER).unwrap_or(now).max(rise);
        let possible_until = self.possible(pair, now, &old).1;
        let closes = if is_grid { ContactCause::Reconfiguration } else { ContactCause::HandedOver };
        let (kept, left): (Vec<_>, Vec<_>) = old.iter().copied().partition(|(link, _)| way.contains(link));
        for &(link, antenna) in &left {
            self.release(link.site, antenna, since, (closes, possible_until), load);
            freed.insert(link.site);
        }
        let opens = Opening {
            now,
            is_grid,
            is_preferred: !old.is_empty(),
            rises: way.iter().any(|link| start_is(now, self.pass_in_sight(pair, *link))),
        };
        let mut links = kept;
        for link in way.into_iter().filter(|link| !old.iter().any(|(own, _)| own == link)) {
            let last = left.iter().find(|(own, _)| own.site == link.site).map(|&(_, antenna)| antenna);
            let antenna = self.take(link, last, (since, rise), &opens, load);
            links.push((link, antenna));
        }
        links.sort_unstable();
        self.choosers[pair].state = State::On { links, since: since + TOGETHER };
    }

    /// The pass of a satellite under way over a site of a pair.
    fn pass_in_sight(&self, pair: usize, link: Link) -> Option<&'a Pass> {
        let ground = &self.grounds[link.site];
        debug_assert!(self.choosers[pair].sites.contains(&link.site));
        ground.skies.iter().find_map(|sky| {
            sky.active.iter().map(|&pass| &sky.passes[pass]).find(|pass| pass.satellite == link.satellite)
        })
    }

    /// One pair more needs a satellite at a site: shares the antenna that holds it, or takes a free one, if it can
    /// the one that the pair has just left.
    fn take(
        &mut self,
        link: Link,
        last: Option<usize>,
        (since, possible_since): (f64, f64),
        opening: &Opening,
        load: &mut [u32],
    ) -> usize {
        let ground = &self.grounds[link.site];
        let holds = |bound: &Bound<'_>| bound.held.is_some_and(|held| held.satellite == link.satellite);
        if let Some(antenna) = ground.antennas.iter().position(holds) {
            if let Some(held) = &mut self.grounds[link.site].antennas[antenna].held {
                held.users += 1;
            }
            return antenna;
        }
        let free = |antenna: usize| {
            let bound = &ground.antennas[antenna];
            bound.held.is_none() && choice::in_sky(&ground.skies[bound.sky], link.satellite).is_some()
        };
        let any = || (0..ground.antennas.len()).find(|&antenna| free(antenna));
        let antenna =
            last.filter(|&antenna| free(antenna)).or_else(any).expect("a way has an antenna for each link");
        let sky = &ground.skies[ground.antennas[antenna].sky];
        let pass = choice::in_sky(sky, link.satellite).expect("the antenna sees it");
        let opens = opening.cause(&sky.passes[pass]);
        load[link.satellite as usize] += 1;
        let held = Held { satellite: link.satellite, pass, since, opens, users: 1, possible_since };
        self.grounds[link.site].antennas[antenna].held = Some(held);
        antenna
    }

    fn next_decision(&self, pair: usize, now: f64, load: &[u32]) -> Option<f64> {
        let chooser = &self.choosers[pair];
        let skies = chooser.sites.iter().flat_map(|&site| &self.grounds[site].skies);
        let rises = skies.filter_map(|sky| sky.passes.get(sky.next).map(|pass| pass.stretch.start));
        let returns = chooser.landings.iter().flatten().filter_map(|landing| landing.returns_after(now));
        let rise = || rises.chain(returns).min_by(f64::total_cmp);
        let loss = match &chooser.state {
            State::On { links, since } => Some(self.possible(pair, *since, links).1),
            State::Waiting(_) => None,
        };
        let earliest = |times: [Option<f64>; 2]| times.into_iter().flatten().min_by(f64::total_cmp);
        match chooser.policy.reselect {
            Reselect::Periodic { interval, offset } => {
                let look = Ticks::new(interval.as_secs_f64(), offset.as_secs_f64());
                loss.or_else(|| Some(look.after(now)))
            }
            Reselect::OnLoss => loss.or_else(rise),
            Reselect::Grid { period, offset } => {
                let tick = Ticks::new(period.as_secs_f64(), offset.as_secs_f64()).after(now);
                earliest([Some(tick), loss])
            }
            Reselect::Always => {
                let event = earliest([rise(), loss])?.min(self.ephemeris.span());
                let beams = Beams { load, limits: self.beams };
                Some(self.next_crossing(pair, (now, event), &beams).unwrap_or(event))
            }
        }
    }

    /// Gives all that the antennas held, with their handovers made.
    pub(crate) fn finish(mut self) -> Vec<Hold> {
        let span = self.ephemeris.span();
        let mut no_load = vec![u32::MAX; self.beams.len()];
        for pair in 0..self.choosers.len() {
            let State::On { links, since } = &self.choosers[pair].state else { continue };
            let (links, since) = (links.clone(), *since);
            let end = self.possible(pair, since, &links).1;
            let (end, causes) = if end < span { (end, None) } else { (span, Some(ContactCause::SpanEnds)) };
            for (link, antenna) in links {
                let pass = self.pass_of(link.site, antenna).map(|pass| pass.stretch);
                let own = pass.filter(|stretch| stretch.end <= end + TOGETHER).map(|stretch| stretch.closes);
                let closes = causes.or(own).unwrap_or(ContactCause::OtherEnd);
                self.release(link.site, antenna, end, (closes, end), &mut no_load);
            }
        }
        let mut made = Vec::new();
        for (site, ground) in self.grounds.iter().enumerate() {
            for bound in &ground.antennas {
                let own = |hold: &&Hold| hold.site == site && hold.antenna == bound.index;
                let mut holds: Vec<Hold> = self.holds.iter().filter(own).copied().collect();
                holds.sort_by(|a, b| a.stretch.start.total_cmp(&b.stretch.start));
                handover::make(&mut holds, bound.config.policy.handover);
                made.extend(holds);
            }
        }
        made
    }
}

fn start_is(now: f64, pass: Option<&Pass>) -> bool {
    pass.is_some_and(|pass| pass.stretch.start >= now - TOGETHER)
}

/// Why a way is taken.
struct Opening {
    now: f64,
    is_grid: bool,
    is_preferred: bool,
    /// True if a satellite of it has just risen somewhere.
    rises: bool,
}

impl Opening {
    /// The reason for one link of it.
    fn cause(&self, pass: &Pass) -> ContactCause {
        match () {
            () if self.now <= 0.0 => ContactCause::SpanBegins,
            () if self.is_grid => ContactCause::Reconfiguration,
            () if self.is_preferred => ContactCause::Preferred,
            () if start_is(self.now, Some(pass)) => pass.stretch.opens,
            () if self.rises => ContactCause::OtherEnd,
            () => ContactCause::Replacement,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::stretch::Stretch;

    #[test]
    fn the_first_reason_that_holds_is_told() {
        let pass = |start| Pass {
            satellite: 0,
            stretch: Stretch { start, end: 900.0, opens: ContactCause::Rises, closes: ContactCause::Sets },
        };
        let opening = |now, is_grid, is_preferred, rises| Opening { now, is_grid, is_preferred, rises };
        for (opening, start, cause) in [
            (opening(0.0, true, true, true), 0.0, ContactCause::SpanBegins),
            (opening(60.0, true, true, true), 60.0, ContactCause::Reconfiguration),
            (opening(60.0, false, true, true), 60.0, ContactCause::Preferred),
            (opening(60.0, false, false, true), 60.0, ContactCause::Rises),
            (opening(60.0, false, false, true), 10.0, ContactCause::OtherEnd),
            (opening(60.0, false, false, false), 10.0, ContactCause::Replacement),
        ] {
            assert_eq!(opening.cause(&pass(start)), cause);
        }
    }
}
