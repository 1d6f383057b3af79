//! The ways that a pair may take now, and which of them is best.

use std::cmp::Ordering;

use super::rank::{Rank, first_better};
use super::{Bound, Joint, Landing, Link, Sky, State};
use crate::contact::selection::TOGETHER;
use crate::ground::Criterion;

/// Numbers of antennas that each satellite serves, and that it can serve.
pub(super) struct Beams<'l> {
    pub(super) load: &'l [u32],
    pub(super) limits: &'l [u32],
}

/// The pass under way of a satellite in a sky.
pub(super) fn in_sky(sky: &Sky<'_>, satellite: u32) -> Option<usize> {
    sky.active.iter().copied().find(|&pass| sky.passes[pass].satellite == satellite)
}

/// A way with the length of the cables behind it.
struct Candidate {
    links: Vec<Link>,
    cables_m: f64,
    /// Time at which its first link is lost.
    end: f64,
}

impl Joint<'_> {
    /// The best way that lasts to a time; if none does, the best of those that are there. One satellite is better
    /// than two.
    pub(super) fn best(&self, pair: usize, now: f64, until: f64, beams: &Beams<'_>) -> Option<Vec<Link>> {
        let candidates = self.candidates(pair, now, beams);
        let lasting = |candidate: &&Candidate| candidate.end >= until;
        let of = |candidates: Vec<&Candidate>| {
            let score = |candidate: &&Candidate| self.score(pair, candidate, now + TOGETHER, beams);
            let mut scored: Vec<_> = candidates.into_iter().map(|one| (score(&one), one)).collect();
            scored.sort_by(|(a, one), (b, other)| order(a, b).then(one.links.cmp(&other.links)));
            self.unless_it_gains_too_little(pair, &scored).or_else(|| Some(scored.first()?.1.links.clone()))
        };
        of(candidates.iter().filter(lasting).collect()).or_else(|| of(candidates.iter().collect()))
    }

    /// Moving must relieve the satellites that are left by more than it burdens the others.
    fn unless_it_gains_too_little(
        &self,
        pair: usize,
        scored: &[([f64; 3], &Candidate)],
    ) -> Option<Vec<Link>> {
        let State::On { links, .. } = &self.choosers[pair].state else { return None };
        if self.choosers[pair].policy.criterion != Criterion::LeastLoaded {
            return None;
        }
        let is_current = |candidate: &Candidate| {
            candidate.links.len() == links.len()
                && links.iter().all(|(link, _)| candidate.links.contains(link))
        };
        let (current, candidate) = scored.iter().find(|(_, candidate)| is_current(candidate))?;
        let (best, _) = scored.first()?;
        let gains = best[0] < current[0] || best[1] + links.len() as f64 <= current[1];
        (!gains).then(|| candidate.links.clone())
    }

    /// The number of satellites, then what the criterion minimises, then what decides between equals.
    fn score(&self, pair: usize, candidate: &Candidate, now: f64, beams: &Beams<'_>) -> [f64; 3] {
        let satellites = (candidate.links.len() / 2) as f64;
        let rank = |criterion| self.rank(criterion, &candidate.links, candidate.cables_m);
        let (first, second) = match self.choosers[pair].policy.criterion {
            Criterion::Nearest => (-rank(Criterion::Nearest).value(now), 0.0),
            Criterion::Highest => (-rank(Criterion::Highest).value(now), 0.0),
            Criterion::LongestRemaining => (-candidate.end, 0.0),
            Criterion::LeastLoaded => {
                let load = |link: &Link| self.others(pair, link.satellite, beams);
                let most = candidate.links.iter().map(load).max().unwrap_or(0);
                (f64::from(most), -rank(Criterion::Highest).value(now))
            }
        };
        [satellites, first, second]
    }

    fn rank(&self, criterion: Criterion, links: &[Link], cables_m: f64) -> Rank<'_> {
        let sights =
            links.iter().map(|link| (&self.grounds[link.site].viewpoint, link.satellite as usize)).collect();
        Rank { ephemeris: self.ephemeris, criterion, sights, cables_m }
    }

    /// Number of antennas that a satellite serves and that are not the pair's alone.
    fn others(&self, pair: usize, satellite: u32, beams: &Beams<'_>) -> u32 {
        let own = self.own_antennas(pair).filter(|&(link, _)| link.satellite == satellite).count();
        beams.load[satellite as usize] - u32::try_from(own).unwrap_or(u32::MAX)
    }

    /// The antennas that are free as soon as the pair leaves them.
    fn own_antennas(&self, pair: usize) -> impl Iterator<Item = (Link, usize)> + '_ {
        let links = match &self.choosers[pair].state {
            State::On { links, .. } => links.as_slice(),
            State::Waiting(_) => &[],
        };
        links.iter().copied().filter(|&(link, antenna)| {
            self.grounds[link.site].antennas[antenna].held.is_some_and(|held| held.users == 1)
        })
    }

    fn is_free(&self, pair: usize, site: usize, antenna: usize) -> bool {
        self.grounds[site].antennas[antenna].held.is_none()
            || self.own_antennas(pair).any(|(link, own)| link.site == site && own == antenna)
    }

    /// Tells if another pair makes a site hold a satellite.
    fn is_shared(&self, pair: usize, link: Link) -> bool {
        let holds = |(antenna, bound): (usize, &Bound<'_>)| {
            bound.held.is_some_and(|held| held.satellite == link.satellite)
                && !self.is_free(pair, link.site, antenna)
        };
        self.grounds[link.site].antennas.iter().enumerate().any(holds)
    }

    /// The satellites that a site may hold for a pair, each with the time at which it is lost: by satellite.
    fn reach(&self, pair: usize, site: usize) -> Vec<(u32, f64)> {
        let chooser = &self.choosers[pair];
        let ground = &self.grounds[site];
        let mut found: Vec<(u32, f64)> = Vec::new();
        for (antenna, bound) in ground.antennas.iter().enumerate() {
            let sky = &ground.skies[bound.sky];
            let passes = sky.active.iter().map(|&pass| &sky.passes[pass]);
            let usable = passes.filter(|pass| chooser.usable[pass.satellite as usize]);
            match bound.held {
                Some(held) if !self.is_free(pair, site, antenna) => {
                    let own = usable.filter(|pass| pass.satellite == held.satellite);
                    found.extend(own.map(|pass| (pass.satellite, pass.stretch.end)));
                }
                _ => found.extend(usable.map(|pass| (pass.satellite, pass.stretch.end))),
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|entry| entry.0);
        found
    }

    /// Every way for which antennas and beams are free. Those over two satellites only where none is over one.
    fn candidates<'l>(&'l self, pair: usize, now: f64, beams: &Beams<'_>) -> Vec<Candidate> {
        let chooser = &self.choosers[pair];
        let reaches = chooser.landings.each_ref().map(|landings| {
            let reach = |landing: &'l Landing| {
                let stands = landing.stands_until(now + TOGETHER)?;
                let satellites = self.reach(pair, landing.site).into_iter();
                Some((
                    landing,
                    satellites.map(|(satellite, end)| (satellite, end.min(stands))).collect::<Vec<_>>(),
                ))
            };
            landings.iter().filter_map(reach).collect::<Vec<_>>()
        });
        let mut found = Vec::new();
        for (from, own) in &reaches[0] {
            for (to, other) in reaches[1].iter().filter(|(to, _)| to.site != from.site) {
                for (satellite, end) in common(own, other) {
                    let links = [from.site, to.site].map(|site| Link { site, satellite });
                    found.push(Candidate {
                        links: links.to_vec(),
                        cables_m: from.cables_m + to.cables_m,
                        end,
                    });
                }
            }
        }
        found.retain(|candidate| self.can_take(pair, candidate, beams));
        if !found.is_empty() {
            return found;
        }
        for &gateway in &chooser.gateways {
            let middle = self.reach(pair, gateway);
            for (from, own) in reaches[0].iter().filter(|(from, _)| from.site != gateway) {
                for (to, other) in
                    reaches[1].iter().filter(|(to, _)| ![gateway, from.site].contains(&to.site))
                {
                    for (up, first_end) in common(own, &middle) {
                        for (down, second_end) in
                            common(&middle, other).into_iter().filter(|down| down.0 != up)
                        {
                            let ends = [(from.site, up), (gateway, up), (gateway, down), (to.site, down)];
                            let links = ends.map(|(site, satellite)| Link { site, satellite }).to_vec();
                            let cables_m = from.cables_m + to.cables_m;
                            found.push(Candidate { links, cables_m, end: first_end.min(second_end) });
                        }
                    }
                }
            }
        }
        found.retain(|candidate| self.can_take(pair, candidate, beams));
        found
    }

    /// Tells if each link has an antenna of its own and each satellite the beams, and the pair stays apart from those
    /// that it must.
    fn can_take(&self, pair: usize, candidate: &Candidate, beams: &Beams<'_>) -> bool {
        let holds = |other: &usize| match &self.choosers[*other].state {
            State::On { links, .. } => links
                .iter()
                .any(|(link, _)| candidate.links.iter().any(|own| own.satellite == link.satellite)),
            State::Waiting(_) => false,
        };
        if self.choosers[pair].apart_from.iter().any(holds) {
            return false;
        }
        let new: Vec<Link> =
            candidate.links.iter().copied().filter(|&link| !self.is_shared(pair, link)).collect();
        let has_beams = |link: &Link| {
            let wanted = new.iter().filter(|other| other.satellite == link.satellite).count();
            let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
            self.others(pair, link.satellite, beams).saturating_add(wanted)
                <= beams.limits[link.satellite as usize]
        };
        new.iter().all(has_beams) && new.iter().all(|link| self.has_antennas(pair, link.site, &new))
    }

    /// Tells if a site has an antenna for each of its links among these: there are at most two.
    fn has_antennas(&self, pair: usize, site: usize, links: &[Link]) -> bool {
        let ground = &self.grounds[site];
        let able = |link: &Link| -> Vec<usize> {
            let is_able = |antenna: &usize| {
                let sky = &ground.skies[ground.antennas[*antenna].sky];
                self.is_free(pair, site, *antenna) && in_sky(sky, link.satellite).is_some()
            };
            (0..ground.antennas.len()).filter(is_able).collect()
        };
        let lists: Vec<Vec<usize>> = links.iter().filter(|link| link.site == site).map(able).collect();
        match lists.as_slice() {
            [one] => !one.is_empty(),
            [one, other] => one.iter().any(|antenna| other.iter().any(|second| second != antenna)),
            _ => true,
        }
    }

    /// The first time at which another way becomes better than the one held.
    pub(super) fn next_crossing(
        &self,
        pair: usize,
        (now, until): (f64, f64),
        beams: &Beams<'_>,
    ) -> Option<f64> {
        let State::On { links, .. } = &self.choosers[pair].state else { return None };
        let criterion = self.choosers[pair].policy.criterion;
        if !matches!(criterion, Criterion::Nearest | Criterion::Highest) {
            return None;
        }
        let candidates = self.candidates(pair, now, beams);
        let is_current =
            |candidate: &&Candidate| links.iter().all(|(link, _)| candidate.links.contains(link));
        let held = candidates.iter().find(is_current)?;
        let current = self.rank(criterion, &held.links, held.cables_m);
        let (mut until, mut earliest) = (until, None);
        let from = now + 2.0 * TOGETHER;
        for candidate in candidates.iter().filter(|candidate| !is_current(candidate)) {
            let other = self.rank(criterion, &candidate.links, candidate.cables_m);
            if from < until
                && candidate.links.len() == held.links.len()
                && let Some(at) = first_better(&other, &current, (from, until))
            {
                (until, earliest) = (at, Some(at));
            }
        }
        earliest
    }
}

fn order(a: &[f64; 3], b: &[f64; 3]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The satellites of both lists, and when the first of their two links is lost.
fn common(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while let (Some(one), Some(other)) = (a.get(i), b.get(j)) {
        match one.0.cmp(&other.0) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                both.push((one.0, one.1.min(other.1)));
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    both
}
