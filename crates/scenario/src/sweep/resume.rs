//! Replications of one scenario that outlive an interruption.

use super::SweepError;
use super::store::Store;
use crate::output::RunOutput;
use crate::replicate::Workers;
use crate::run::RunOptions;
use crate::scenario::Scenario;

/// Like [`replicate`](crate::replicate), but each finished run is written to `store`, and what is there already is
/// not made again.
pub fn replicate_stored(
    scenario: &Scenario,
    options: &RunOptions,
    count: usize,
    store: &Store,
    workers: Workers<'_>,
) -> Result<Vec<Option<RunOutput>>, SweepError> {
    let hash = scenario.hash();
    workers.each(count, |index, piece| {
        let options = RunOptions { run: options.run + index as u64, ..options.clone() };
        // Under its own name: a sweep may keep fewer tables of the same run.
        let key = format!("whole {hash}-{:?}-{}-{:?}", options.seed, options.run, options.captures);
        if let Some(output) = store.get(&key) {
            return Ok(Some(output));
        }
        let Some(output) = piece.run(scenario, &options)? else { return Ok(None) };
        store.put(&key, &output)?;
        Ok(Some(output))
    })
}
