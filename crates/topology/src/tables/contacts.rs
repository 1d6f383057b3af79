//! `contacts`, `passes`, `coverage` and `gaps`: who sees whom, and when nobody is seen.

use slantpath_orbit::contact::ContactKind;
use slantpath_results::{Table, TableError};

use super::Answer;
use super::declared;
use super::paths::contact_id;
use super::rows::{Cell, Rows};

impl Answer<'_> {
    /// `contacts`: who can send to whom from when to when, with the delay at both ends.
    pub(super) fn contacts(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::CONTACTS);
        for (index, contact) in self.plan.contacts().iter().enumerate() {
            let delay = self.plan.delay(contact_id(index));
            let antenna = match contact.kind {
                ContactKind::Ground { antenna } => Cell::Count(u64::from(antenna) + 1),
                ContactKind::InterSatellite | ContactKind::Terrestrial => Cell::Missing,
            };
            rows.push([
                index.into(),
                contact.kind.as_str().into(),
                self.name(contact.a).into(),
                self.name(contact.b).into(),
                antenna,
                contact.start.into(),
                contact.end.into(),
                contact.opens.as_str().into(),
                contact.closes.as_str().into(),
                delay.at(contact.start).into(),
                delay.at(contact.end).into(),
            ]);
        }
        rows.finish()
    }

    /// `passes`: when each satellite is in sight of each site, whatever the antennas choose, and how high it
    /// comes. Antennas that see the same sky share their passes and are named by the first.
    pub(super) fn passes(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::PASSES);
        for (index, (site, passes)) in self.site_names().into_iter().zip(self.passes).enumerate() {
            for (antenna, sky) in passes.skies() {
                for pass in sky {
                    let (opens, closes) = pass.causes();
                    let (highest_s, elevation) = self.planner.culmination(index, pass);
                    rows.push([
                        site.into(),
                        (antenna + 1).into(),
                        self.plan.names()[pass.satellite as usize].as_str().into(),
                        pass.start_seconds().into(),
                        pass.end_seconds().into(),
                        (pass.end_seconds() - pass.start_seconds()).into(),
                        highest_s.into(),
                        elevation.as_degrees().into(),
                        opens.as_str().into(),
                        closes.as_str().into(),
                    ]);
                }
            }
        }
        rows.finish()
    }

    /// `coverage`: how much of the time each site sees a satellite.
    pub(super) fn coverage(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::COVERAGE);
        for ((site, coverage), passes) in self.site_names().into_iter().zip(self.coverage).zip(self.passes) {
            if passes.has_no_antenna() {
                continue;
            }
            // A sum of nothing is minus zero.
            let covered = coverage.covered.iter().map(|(start, end)| (*end - *start).as_secs_f64());
            let covered = covered.fold(0.0, |sum, seconds| sum + seconds);
            let gaps = coverage.gaps.iter().map(|(start, end)| *end - *start);
            let mut satellites: Vec<u32> =
                passes.skies().flat_map(|(_, sky)| sky).map(|pass| pass.satellite).collect();
            let count = satellites.len();
            satellites.sort_unstable();
            satellites.dedup();
            rows.push([
                site.into(),
                coverage.share.into(),
                covered.into(),
                (self.plan.span().as_secs_f64() - covered).into(),
                coverage.gaps.len().into(),
                gaps.max().unwrap_or_default().into(),
                count.into(),
                satellites.len().into(),
            ]);
        }
        rows.finish()
    }

    /// `gaps`: when a site sees no satellite, and when a path does not exist.
    pub(super) fn gaps(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::GAPS);
        let sites = self.site_names().into_iter().zip(self.coverage).zip(self.passes);
        let sites = sites.filter(|(_, passes)| !passes.has_no_antenna());
        let sites = sites.map(|((site, coverage), _)| ("site", site, coverage.gaps.clone()));
        let paths = self.paths.iter().map(|path| ("path", path.name.as_str(), path.timeline.gaps()));
        for (of, name, gaps) in sites.chain(paths) {
            for (start, end) in gaps {
                rows.push([of.into(), name.into(), start.into(), end.into(), (end - start).into()]);
            }
        }
        rows.finish()
    }
}
