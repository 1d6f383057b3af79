//! Replications of one scenario that outlive an interruption.

use slantpath_workers::Workers;

use super::SweepError;
use super::store::Store;
use crate::output::RunOutput;
use crate::replicate::run_observed_piece;
use crate::run::RunOptions;
use crate::scenario::Scenario;
use crate::spooled::RunRecords;

/// Like [`replicate`](crate::replicate()), but each finished run is written to `store`, and what is there already is
/// not made again. What grows with the length of a run goes to the disk as it comes.
pub fn replicate_stored(
    scenario: &Scenario,
    options: &RunOptions,
    count: usize,
    store: &Store,
    workers: Workers<'_>,
) -> Result<Vec<Option<(RunOutput, RunRecords)>>, SweepError> {
    let hash = scenario.hash();
    let runs = workers.each(count, |index, piece| {
        let options = RunOptions { run: options.run + index as u64, ..options.clone() };
        // Under its own name: a sweep may keep fewer tables of the same run.
        let key = format!("whole {hash}-{:?}-{}-{:?}", options.seed, options.run, options.captures);
        if let Some(run) = store.open(&key) {
            return Ok(Some(run));
        }
        store.keep(&key, |spool| Ok(run_observed_piece(piece, scenario, &options, spool)?))
    });
    store.tidy();
    runs
}
