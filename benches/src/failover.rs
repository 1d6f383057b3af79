//! The runs of figure 4 of the failover study: a signalling association that loses its primary path under four
//! loads and with three sizes of queue, forty times each.

use core::fmt;

use slantpath_runner::{RunOptions, Scenario, Workers, replicate};

use crate::cpu_time::CpuTime;
use crate::rounds::Failure;

const SCENARIO: &str = include_str!("../../studies/failover/scenario.toml");
const QUEUES: [&str; 3] = ["3 kB", "6 kB", "13 kB"];
/// Table 1 of the paper, as the study reads it.
const LOADS: [&str; 4] = [
    r#"{ kind = "bulk", message_size = "1000 B", total = "1000 B" }"#,
    r#"{ kind = "bursts", message_size = "1000 B", burst_size = "4 kB", interval = "200 ms", jitter = "100 ms" }"#,
    r#"{ kind = "bursts", message_size = "1000 B", burst_size = "8 kB", interval = "100 ms", jitter = "50 ms" }"#,
    r#"{ kind = "bulk", message_size = "1000 B", total = "unlimited" }"#,
];
const REPETITIONS: usize = 40;

/// CPU time that the runs took.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    count: usize,
    /// Of all processors together.
    cpu_seconds: f64,
    processors: usize,
}

impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, cpu_seconds, processors } = *self;
        let each = cpu_seconds / processors as f64;
        writeln!(f, "the failover study: {count} runs of two minutes")?;
        writeln!(f, "{cpu_seconds:.1} s of CPU, {each:.1} s on each of {processors} processors")
    }
}

/// Makes all of them, on every processor.
///
/// # Errors
/// A scenario that is refused, or a run that fails.
pub fn runs() -> Result<Runs, Failure> {
    let cells = cells()?;
    let before = CpuTime::read()?;
    for cell in &cells {
        replicate(cell, &RunOptions::default(), REPETITIONS, Workers::new(0))?;
    }
    let cpu_seconds = CpuTime::read()?.own - before.own;
    let processors = std::thread::available_parallelism()?.get();
    Ok(Runs { count: cells.len() * REPETITIONS, cpu_seconds, processors })
}

fn cells() -> Result<Vec<Scenario>, Failure> {
    let files = slantpath_runner::files_in(std::path::Path::new(""));
    let scenario = Scenario::parse("studies/failover/scenario.toml", SCENARIO, &[], files)?;
    let cell = |queue: &str, load: &str| {
        let values = [
            format!("links.bottleneck1.forward.queue={queue}"),
            format!("links.bottleneck2.forward.queue={queue}"),
            format!("flows.cross1.application={load}"),
            format!("flows.cross2.application={load}"),
        ];
        scenario.with("cell", &values)
    };
    let all = QUEUES.iter().flat_map(|queue| LOADS.iter().map(move |load| cell(queue, load)));
    Ok(all.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twelve_cells_that_differ() {
        let cells = cells().expect("every cell is a scenario");
        let merged: std::collections::BTreeSet<String> = cells.iter().map(Scenario::merged).collect();
        assert_eq!(merged.len(), QUEUES.len() * LOADS.len());
    }
}
