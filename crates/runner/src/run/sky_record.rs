//! Handovers and changes of paths, handed over as they come, and what the table of antennas needs of them.

use std::io;

use slantpath_net::Way;
use slantpath_orbit::contact::ContactPlan;
use slantpath_results::Table;
use slantpath_sat::Sky;
use slantpath_scenario::build::RunNetwork;

use super::tables::sky::{self, AntennaTotals};
use crate::observer::Observer;
use crate::scenario::Scenario;

/// Record of the events in a sky.
pub(super) struct SkyRecord<'a> {
    plan: &'a ContactPlan,
    sky: &'a Sky,
    ways: &'a [(String, String, Way)],
    /// The places of `handovers` and `sky_paths` among the tables that were announced.
    handovers: usize,
    paths: usize,
    antennas: Vec<AntennaTotals>,
}

impl<'a> SkyRecord<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        sky: &'a Sky,
        ways: &'a [(String, String, Way)],
        [handovers, paths]: [usize; 2],
    ) -> Self {
        let plan = plan(scenario);
        let antennas = vec![AntennaTotals::default(); sky.antennas().len()];
        Self { plan, sky, ways, handovers, paths, antennas }
    }

    /// Hands over what has happened since the last time.
    pub(super) fn collect(
        &mut self,
        network: &mut RunNetwork<'_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let source = network.source_mut().inner_mut();
        let (handovers, changes) = (source.take_handovers(), source.take_path_changes());
        for handover in &handovers {
            self.antennas[handover.antenna].add(handover);
        }
        if !handovers.is_empty() {
            observer.rows(self.handovers, 0, sky::handovers(self.plan, self.sky, &handovers))?;
        }
        if !changes.is_empty() {
            observer.rows(self.paths, 0, sky::paths(self.plan.names(), self.ways, changes))?;
        }
        Ok(())
    }

    /// `antennas`, once everything has been handed over.
    pub(super) fn table(&self) -> Table {
        sky::antennas(self.plan, self.sky, &self.antennas)
    }
}

fn plan(scenario: &Scenario) -> &ContactPlan {
    &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts
}
