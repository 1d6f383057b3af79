//! `slantpath sweep`.

use std::io::Write;

use slantpath_scenario::{Store, Sweep, SweepOutcome, Workers};

use crate::arguments::SweepArguments;
use crate::failure::Failure;
use crate::{files, interrupt, progress};

pub(crate) fn main(arguments: &SweepArguments, out: &mut impl Write) -> Result<(), Failure> {
    let sweep = Sweep::load(&arguments.sweep, &arguments.common.set)?;
    let store = Store::new(&arguments.out.join("runs"));
    let stop = interrupt::flag();
    let bar = progress::bar(sweep.jobs());
    let update = |done: usize, _: usize| progress::update(&bar, done);
    let workers = Workers { threads: arguments.common.jobs, progress: &update, stop: &stop };
    let outcome = sweep.run(&store, workers);
    bar.finish_and_clear();
    match outcome? {
        SweepOutcome::Finished { tables, found, done } => {
            for table in &tables {
                files::write_table(table, &arguments.out)?;
            }
            let names: Vec<String> = tables.iter().map(|table| format!("{}.parquet", table.name())).collect();
            writeln!(out, "{} points, {} runs: {done} made, {found} found", sweep.points(), sweep.jobs())?;
            writeln!(out, "{} (and .csv) in {}", names.join(", "), arguments.out.display())?;
            Ok(())
        }
        SweepOutcome::Stopped { finished, runs } => Err(Failure::Interrupted(format!(
            "interrupted: {finished} of {runs} runs are kept in {}; the same command goes on",
            arguments.out.display()
        ))),
    }
}
