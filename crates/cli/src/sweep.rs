//! `slantpath sweep`.

use std::io::Write;

use slantpath_scenario::{Store, Sweep, SweepOutcome, Workers};

use crate::arguments::SweepArguments;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::{files, interrupt};

pub(crate) fn main(arguments: &SweepArguments, out: &mut impl Write) -> Result<(), Failure> {
    let sweep = Sweep::load(&arguments.sweep, &arguments.common.set)?;
    let store = Store::new(&arguments.out.join("runs"));
    let stop = interrupt::flag();
    let bar = Bar::new("runs");
    let workers =
        Workers { threads: arguments.common.jobs, progress: &|progress| bar.update(progress), stop };
    let outcome = sweep.run(&store, workers);
    drop(bar);
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
