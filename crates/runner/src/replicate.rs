//! Many runs of a scenario at once.

use core::ops::ControlFlow;

use slantpath_base::Instant;
use slantpath_workers::{Piece, Workers};

use crate::observer::Observer;
use crate::output::RunOutput;
use crate::run::{RunError, RunOptions, run_observed, run_while};
use crate::scenario::Scenario;
use crate::spooled::TransientSpool;

/// Makes a run, of which a piece of work consists.
pub(crate) fn run_piece(
    piece: &mut Piece<'_>,
    scenario: &Scenario,
    options: &RunOptions,
) -> Result<Option<RunOutput>, RunError> {
    run_while(scenario, options, &mut progress(piece, scenario))
}

/// Variant of [`run_piece`] that hands results that grow to an observer.
pub(crate) fn run_observed_piece(
    piece: &mut Piece<'_>,
    scenario: &Scenario,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Option<RunOutput>, RunError> {
    run_observed(scenario, options, observer, &mut progress(piece, scenario))
}

/// Question that a run asks: reports its progress by its simulated time.
fn progress(piece: &mut Piece<'_>, scenario: &Scenario) -> impl FnMut(Instant) -> ControlFlow<()> {
    let duration = scenario.scenario.duration.as_secs_f64();
    move |now: Instant| piece.go_on(now.since_start().as_secs_f64() / duration)
}

/// Makes replications `first..first + count` of a scenario. `None` where they were stopped.
pub fn replicate(
    scenario: &Scenario,
    options: &RunOptions,
    count: usize,
    workers: Workers<'_>,
) -> Result<Vec<Option<RunOutput>>, RunError> {
    workers.each(count, |index, piece| {
        let options = RunOptions { run: options.run + index as u64, ..options.clone() };
        run_piece(piece, scenario, &options)
    })
}

/// Like [`replicate`], but gives only what does not grow with the length of a run: no messages, no samples, no events
/// and no captures. What statistics of delays and the digest need lies in files of the directory for temporary ones
/// meanwhile.
pub fn replicate_without_records(
    scenario: &Scenario,
    options: &RunOptions,
    count: usize,
    workers: Workers<'_>,
) -> Result<Vec<Option<RunOutput>>, RunError> {
    workers.each(count, |index, piece| {
        let options = RunOptions { run: options.run + index as u64, ..options.clone() };
        let name = format!("slantpath-delays-{}-{}", std::process::id(), options.run);
        let path = std::env::temp_dir().join(name);
        run_observed_piece(piece, scenario, &options, &mut TransientSpool::new(&path))
    })
}
