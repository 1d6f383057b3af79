//! The tables of an answer.

mod access;
mod contacts;
mod declared;
mod map;
mod paths;
mod rows;

use slantpath_orbit::contact::{ContactPlan, Planner, SitePasses};
use slantpath_orbit::coverage::Coverage;
use slantpath_results::{Table, TableError};

use super::Topology;
use super::answer::FollowedPath;

pub use declared::{ANSWER_TABLES, AnswerColumn, AnswerTable};

/// Sources of the tables.
pub(super) struct Answer<'a> {
    pub(super) topology: &'a Topology,
    pub(super) planner: &'a Planner<'a>,
    pub(super) plan: &'a ContactPlan,
    pub(super) paths: &'a [FollowedPath],
    pub(super) coverage: &'a [Coverage],
    pub(super) passes: &'a [SitePasses],
}

impl Answer<'_> {
    /// All of them, in alphabetical order.
    pub(super) fn tables(&self) -> Result<Vec<Table>, TableError> {
        let mut tables = vec![
            self.contacts()?,
            self.coverage()?,
            self.coverage_map()?,
            self.delay()?,
            self.gaps()?,
            self.handovers()?,
            self.hops()?,
            self.legs()?,
            self.map_journeys()?,
            self.map_links()?,
            self.map_nodes()?,
            self.map_tracks()?,
            self.passes()?,
            self.sky_limits()?,
            self.sky_tracks()?,
            self.summary()?,
        ];
        tables.extend(self.access()?);
        tables.extend(self.positions()?);
        tables.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(tables)
    }

    fn name(&self, node: slantpath_orbit::ContactNodeId) -> &str {
        &self.plan.names()[node.index()]
    }

    fn site_names(&self) -> Vec<&str> {
        self.topology.network().sites.iter().map(|site| site.name.as_str()).collect()
    }
}
