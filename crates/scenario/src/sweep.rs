//! A sweep: a base scenario, axes of values, repetitions. Every point of the grid is checked before the first
//! run; every finished run is kept at once, so that an interrupted sweep goes on where it was.

mod codec;
mod grid;
mod join;
mod kept;
mod store;

use std::path::{Path, PathBuf};

pub use grid::{Axis, Sweep};
pub use kept::replicate_kept;
pub use store::{Store, StoreError};

use crate::replicate::{Progress, Workers};
use crate::run::{RunError, RunOptions};
use slantpath_results::{Table, TableError};

/// What became of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepOutcome {
    /// Every run is done.
    Finished {
        /// The runs' tables, those of one name below each other, in the order of the grid.
        tables: Vec<Table>,
        /// Runs that an earlier call had done.
        found: usize,
        /// Runs that this call did.
        done: usize,
    },
    /// It was stopped; what is finished is kept.
    Stopped {
        /// Runs that are done by now.
        finished: usize,
        /// Runs in all.
        runs: usize,
    },
}

/// Why a sweep failed.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The results of a run cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The tables of different points have different columns.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Sweep {
    /// Makes every run that `store` does not have, and joins all.
    pub fn run(&self, store: &Store, workers: Workers<'_>) -> Result<SweepOutcome, SweepError> {
        let jobs = self.jobs();
        let missing: Vec<usize> = (0..jobs).filter(|job| !store.has(&self.key(*job))).collect();
        let found = jobs - missing.len();
        let progress = |made: Progress| {
            let share = (found as f64 + made.share * missing.len() as f64) / jobs as f64;
            (workers.progress)(Progress { done: found + made.done, all: jobs, share });
        };
        (workers.progress)(Progress { done: found, all: jobs, share: found as f64 / jobs as f64 });
        let outcomes = Workers { progress: &progress, ..workers }.each(missing.len(), |index, piece| {
            let job = missing[index];
            let (point, number) = self.job(job);
            let scenario = self.scenario(point);
            let options = RunOptions { run: number, ..RunOptions::default() };
            let Some(output) = piece.run(&scenario, &options)? else { return Ok(None) };
            store.put(&self.key(job), &output.select(&self.tables))?;
            Ok::<_, SweepError>(Some(()))
        })?;
        let done = outcomes.iter().flatten().count();
        if done < missing.len() {
            return Ok(SweepOutcome::Stopped { finished: found + done, runs: jobs });
        }
        let tables = self.join(|job| store.get(&self.key(job)))?;
        Ok(SweepOutcome::Finished { tables, found, done })
    }
}

/// The directory of a path, `.` where it names none.
fn directory_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}
