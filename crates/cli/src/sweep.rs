//! Command `slantpath sweep`.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value as Json, json};
use slantpath_results::Table;
use slantpath_runner::{OwnKinds, Store, Sweep, SweepOutcome, SweptRun, TABLES, Workers};

use crate::arguments::SweepArguments;
use crate::directory::{Contents, Directory, files_of_table};
use crate::failure::Failure;
use crate::progress::{Bar, ContactsBar};
use crate::{files, interrupt, terminal};

pub(crate) fn main(arguments: &SweepArguments, own: &OwnKinds, out: &mut impl Write) -> Result<(), Failure> {
    let contacts = ContactsBar::default();
    let sweep =
        Sweep::load_observed(&arguments.sweep, &arguments.set, own, &|progress| contacts.update(progress))?;
    drop(contacts);
    for warning in sweep.warnings() {
        terminal::warn(warning)?;
    }
    let more = sweep.points_with_more_warnings();
    if more > 0 {
        let points = if more == 1 { "1 point has".to_owned() } else { format!("{more} points have") };
        terminal::warn(&format_args!("{points} further warnings: `slantpath run --set` shows those of one"))?;
    }
    let stop = interrupt::flag();
    let mut directory = Directory::open(&arguments.out, may_be_written())?;
    let store = store_in(directory.path());
    let bar = Bar::of_runs(Some(&arguments.out));
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    let outcome = sweep.run(&store, workers);
    drop(bar);
    match outcome? {
        SweepOutcome::Finished { tables, runs, found, done } => {
            write(&sweep, &tables, &runs, &mut directory, stop)?;
            let is_missing = |name: &&String| tables.iter().all(|table| table.name() != name.as_str());
            for name in sweep.tables().iter().filter(is_missing) {
                terminal::warn(&format_args!(
                    "no run gives the table `{name}`: the scenario does not ask for it"
                ))?;
            }
            let names: Vec<String> = tables.iter().map(|table| format!("{}.parquet", table.name())).collect();
            writeln!(out, "{} points, {} runs: {done} made, {found} found", sweep.points(), sweep.jobs())?;
            writeln!(out, "{} (and .csv) in {}", names.join(", "), directory.path().display())?;
            let failed = runs.iter().filter(|run| !run.failures.is_empty()).count();
            if failed == 0 {
                return Ok(());
            }
            Err(Failure::Flows(format!("flows failed in {failed} of {} runs", runs.len())))
        }
        SweepOutcome::Stopped { finished, runs } => Err(Failure::Interrupted(format!(
            "interrupted: {finished} of {runs} runs are kept in {}; the same command goes on",
            arguments.out.display()
        ))),
    }
}

/// Names of the files that a sweep may write.
fn may_be_written() -> impl Iterator<Item = String> {
    let tables = TABLES.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_summary")]);
    tables.flat_map(|name| files_of_table(&name)).chain([files::SCENARIO.to_owned()])
}

fn store_in(directory: &Path) -> Store {
    Store::new(&directory.join("runs"))
}

/// Directory of a sweep whose runs the caller makes, and who holds the lock on it. The runs and the files in it are
/// those of the command.
#[derive(Debug)]
pub struct SweepResults {
    directory: Directory,
}

/// Reason for which results of a sweep are not written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// Files of someone else are in the way.
    #[error("{0}")]
    Refused(String),
    /// The files cannot be written.
    #[error("{0}")]
    Failed(String),
}

impl From<Failure> for ResultsError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Misused(why) => Self::Refused(why),
            Failure::Failed(why) | Failure::Interrupted(why) => Self::Failed(why),
            other => Self::Failed(format!("{other:?}")),
        }
    }
}

impl SweepResults {
    /// Refuses a directory with files of someone else that results may be called like.
    pub fn open(path: &Path) -> Result<Self, ResultsError> {
        Ok(Self { directory: Directory::of_holder(path, may_be_written())? })
    }

    /// Store of its finished runs.
    pub fn store(&self) -> Store {
        store_in(self.directory.path())
    }

    /// Writes the joined tables, the merged scenario and the manifest, as the command does. `stop` ends it at once.
    pub fn write(
        &mut self,
        sweep: &Sweep,
        tables: &[Table],
        runs: &[SweptRun],
        stop: &AtomicBool,
    ) -> Result<(), ResultsError> {
        Ok(write(sweep, tables, runs, &mut self.directory, stop)?)
    }
}

/// Writes tables, the merged base scenario and a manifest. Equal sweeps leave equal files.
fn write(
    sweep: &Sweep,
    tables: &[Table],
    runs: &[SweptRun],
    directory: &mut Directory,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let merged = sweep.base().merged();
    let mut contents = Contents::default();
    contents.tables(tables);
    contents.bytes(files::SCENARIO, merged.as_bytes());
    directory.replace(&contents, &mut manifest(sweep, runs), stop)?;
    Ok(())
}

/// Manifest of the results, with their origin. The manifest has no date: equal sweeps have equal manifests.
fn manifest(sweep: &Sweep, runs: &[SweptRun]) -> Json {
    let axes: Vec<Json> = sweep
        .axes()
        .iter()
        .map(|axis| {
            Json::Object(
                axis.values().map(|(path, values)| (path.to_owned(), json!(values))).collect::<Map<_, _>>(),
            )
        })
        .collect();
    let runs: Vec<Json> = runs
        .iter()
        .map(|run| {
            json!({
                "point": run.point,
                "run": run.run,
                "hash": sweep.hash(run.point),
                "seed": run.seed,
                "digest": run.digest,
                "events": run.events,
                "failures": files::failures(&run.failures),
            })
        })
        .collect();
    let base = sweep.base();
    json!({
        "program": "slantpath",
        "version": env!("CARGO_PKG_VERSION"),
        "sweep_of": *base.scenario.name,
        "hash": base.hash(),
        "axes": axes,
        "repetitions": sweep.repetitions(),
        "first_run": sweep.first_run(),
        "tables": sweep.tables(),
        "runs": runs,
    })
}
