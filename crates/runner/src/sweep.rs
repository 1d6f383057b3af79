//! A sweep: a base scenario, axes of values, repetitions. Every point of the grid is checked before the first
//! run; every finished run is stored at once, so that an interrupted sweep goes on where it was.

mod codec;
mod grid;
mod join;
mod json_schema;
mod resume;
mod store;
mod varied;

use std::path::{Path, PathBuf};

pub use grid::{Axis, Sweep};
pub use json_schema::sweep_schema;
pub use resume::replicate_stored;
pub use store::{MadeRun, Store};

use slantpath_results::{StoreError, Table, TableError};
use slantpath_workers::{Progress, Workers};

use crate::output::{FlowFailure, RunOutput};

use crate::replicate::run_piece;
use crate::run::{RunError, RunOptions};

/// Outcome of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepOutcome {
    /// Every run is done.
    Finished {
        /// The runs' tables, those of one name below each other, in the order of the grid; and the means of each point.
        tables: Vec<Table>,
        /// Records of each run besides its tables, in the order of the grid.
        runs: Vec<SweptRun>,
        /// Runs that an earlier call had done.
        found: usize,
        /// Runs that this call did.
        done: usize,
    },
    /// Sweep that was stopped; what is finished is stored.
    Stopped {
        /// Runs that are done by now.
        finished: usize,
        /// Runs in all.
        runs: usize,
    },
}

/// A run of a sweep, without its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweptRun {
    /// The point of the grid, in the order of the file: the last axis changes fastest.
    pub point: usize,
    /// The number of the replication.
    pub run: u64,
    /// The seed that all random streams derived from.
    pub seed: u64,
    /// A hash over every event of the run.
    pub digest: String,
    /// Events that happened.
    pub events: u64,
    /// Flows that failed.
    pub failures: Vec<FlowFailure>,
}

/// Why a sweep failed.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The results of a run cannot be stored.
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
        let missing: Vec<usize> = (0..jobs).filter(|job| !self.is_kept(store, *job)).collect();
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
            let Some(output) = run_piece(piece, &scenario, &options)? else { return Ok(None) };
            self.keep(store, job, &MadeRun::of(output, self.tables()))?;
            Ok::<_, SweepError>(Some(()))
        })?;
        let done = outcomes.iter().flatten().count();
        if done < missing.len() {
            return Ok(SweepOutcome::Stopped { finished: found + done, runs: jobs });
        }
        let (tables, runs) = self.joined(|job| store.get(&self.key(job), self.tables()))?;
        Ok(SweepOutcome::Finished { tables, runs, found, done })
    }

    /// Tells whether a store has the run of a job.
    pub fn is_kept(&self, store: &Store, job: usize) -> bool {
        store.has(&self.key(job), self.tables())
    }

    /// Keeps the run of a job in a store.
    pub fn keep(&self, store: &Store, job: usize, run: &MadeRun) -> Result<(), StoreError> {
        store.put(&self.key(job), run)
    }

    /// Joins the runs that a store has.
    pub fn join_kept(&self, store: &Store) -> Result<(Vec<Table>, Vec<SweptRun>), TableError> {
        self.joined(|job| store.get(&self.key(job), self.tables()))
    }

    /// Joins runs that are in memory, by their jobs.
    pub fn join_made<'a>(
        &self,
        mut run: impl FnMut(usize) -> Option<&'a MadeRun>,
    ) -> Result<(Vec<Table>, Vec<SweptRun>), TableError> {
        self.joined(|job| run(job)?.output())
    }

    /// Tables of all runs, and what there is of each besides.
    fn joined(
        &self,
        mut output: impl FnMut(usize) -> Option<RunOutput>,
    ) -> Result<(Vec<Table>, Vec<SweptRun>), TableError> {
        let mut runs = Vec::with_capacity(self.jobs());
        let tables = self.join(|job| {
            let output = output(job)?;
            let (point, run) = self.job(job);
            runs.push(SweptRun {
                point,
                run,
                seed: output.seed,
                digest: output.digest.clone(),
                events: output.events,
                failures: output.failures.clone(),
            });
            Some(output)
        })?;
        Ok((tables, runs))
    }
}

/// The directory of a path, `.` where it names none.
fn directory_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}
