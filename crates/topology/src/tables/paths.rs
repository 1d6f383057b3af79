//! `legs`, `hops`, `handovers`, `delay`, `summary`: how one site reaches another.

use slantpath_base::Instant;
use slantpath_orbit::contact::ContactId;
use slantpath_orbit::topology::Leg;
use slantpath_results::{Table, TableError};

use super::Answer;
use super::declared;
use super::rows::{Cell, Rows};
use crate::answer::FollowedPath;

impl Answer<'_> {
    /// `legs`: stretches of time with one path, or with none.
    pub(super) fn legs(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::LEGS);
        for path in self.paths {
            for (index, leg) in path.timeline.legs.iter().enumerate() {
                let nodes = leg.path.as_ref().map(|path| self.joined(&path.nodes));
                let reasons = self.reasons(leg);
                let delay = leg.delay;
                rows.push([
                    path.name.as_str().into(),
                    index.into(),
                    leg.start.into(),
                    leg.end.into(),
                    (leg.end - leg.start).into(),
                    leg.path.as_ref().map(|path| path.contacts.len()).into(),
                    delay.map(|delay| delay.start).into(),
                    delay.map(|delay| delay.end).into(),
                    delay.map(|delay| delay.min).into(),
                    delay.map(|delay| delay.max).into(),
                    nodes.as_deref().into(),
                    reasons.as_str().into(),
                ]);
            }
        }
        rows.finish()
    }

    /// `hops`: the links of each leg.
    pub(super) fn hops(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::HOPS);
        for path in self.paths {
            for (index, leg) in path.timeline.legs.iter().enumerate() {
                let Some(route) = &leg.path else { continue };
                for (hop, (&contact, ends)) in route.contacts.iter().zip(route.nodes.windows(2)).enumerate() {
                    let delay = self.plan.delay(contact);
                    rows.push([
                        path.name.as_str().into(),
                        index.into(),
                        hop.into(),
                        self.name(ends[0]).into(),
                        self.name(ends[1]).into(),
                        self.plan.contact(contact).kind.as_str().into(),
                        contact.index().into(),
                        delay.at(leg.start).into(),
                        delay.at(leg.end).into(),
                    ]);
                }
            }
        }
        rows.finish()
    }

    /// `handovers`: changes of the satellite that serves either end of a path.
    pub(super) fn handovers(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::HANDOVERS);
        for path in self.paths {
            let legs: Vec<&Leg> = path.timeline.legs.iter().filter(|leg| leg.path.is_some()).collect();
            for pair in legs.windows(2) {
                let (before, after) = (pair[0], pair[1]);
                let reasons = self.reasons(after);
                for at_start in [true, false] {
                    let (old, new) = (self.serving(before, at_start), self.serving(after, at_start));
                    if old == new {
                        continue;
                    }
                    let site = if at_start { path.timeline.from } else { path.timeline.to };
                    rows.push([
                        path.name.as_str().into(),
                        after.start.into(),
                        self.name(site).into(),
                        old.into(),
                        new.into(),
                        (after.start - before.end).into(),
                        before.delay.map(|delay| delay.end).into(),
                        after.delay.map(|delay| delay.start).into(),
                        reasons.as_str().into(),
                    ]);
                }
            }
        }
        rows.finish()
    }

    /// `delay`: the delay of each path at regular times, none in a gap.
    pub(super) fn delay(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::DELAY);
        let every = *self.topology.topology.sample_every;
        for path in self.paths {
            for (at, delay) in path.timeline.samples(self.plan, every) {
                let hops = leg_at(path, at).and_then(|leg| Some(leg.path.as_ref()?.contacts.len()));
                rows.push([path.name.as_str().into(), at.into(), delay.into(), hops.into()]);
            }
        }
        rows.finish()
    }

    /// `summary`: what each path amounts to.
    pub(super) fn summary(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::SUMMARY);
        for path in self.paths {
            let (summary, gaps) = (&path.summary, path.timeline.gaps());
            let connected = !summary.connected.is_zero();
            let if_connected = |cell: Cell<'static>| if connected { cell } else { Cell::Missing };
            let longest = gaps.iter().map(|(start, end)| *end - *start).max().unwrap_or_default();
            rows.push([
                path.name.as_str().into(),
                self.name(path.timeline.from).into(),
                self.name(path.timeline.to).into(),
                path.selection.as_str().into(),
                (summary.connected.as_secs_f64() / self.plan.span().as_secs_f64()).into(),
                summary.connected.into(),
                summary.disconnected.into(),
                gaps.len().into(),
                longest.into(),
                if_connected(summary.delay_min.into()),
                if_connected(summary.delay_mean_s.into()),
                if_connected(summary.delay_max.into()),
                if_connected(summary.hops_min.into()),
                if_connected(summary.hops_max.into()),
                summary.path_changes.into(),
                summary.handovers.into(),
            ]);
        }
        rows.finish()
    }

    fn joined(&self, nodes: &[slantpath_orbit::ContactNodeId]) -> String {
        let names: Vec<&str> = nodes.iter().map(|&node| self.name(node)).collect();
        names.join(" > ")
    }

    fn reasons(&self, leg: &Leg) -> String {
        let reasons: Vec<String> = leg.reasons.iter().map(|reason| reason.describe(self.plan)).collect();
        reasons.join(", ")
    }

    /// The satellite at the sending or the receiving end of a leg: behind cables, that of the gateway.
    fn serving(&self, leg: &Leg, at_start: bool) -> Option<&str> {
        let nodes = &leg.path.as_ref()?.nodes;
        let is_satellite = |node: &&slantpath_orbit::ContactNodeId| !self.plan.is_site(**node);
        let found =
            if at_start { nodes.iter().find(is_satellite) } else { nodes.iter().rev().find(is_satellite) };
        Some(self.name(*found?))
    }
}

/// The leg of an instant.
pub(super) fn leg_at(path: &FollowedPath, at: Instant) -> Option<&Leg> {
    path.timeline.leg_at(at)
}

/// A contact by its place in the plan.
pub(super) fn contact_id(index: usize) -> ContactId {
    ContactId(u32::try_from(index).expect("a plan counts its contacts in 32 bits"))
}
