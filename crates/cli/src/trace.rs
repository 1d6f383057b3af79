//! `slantpath run --trace FLOW=FILE`: what a flow's association decided and why, in a file.

use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::Instant;
use slantpath_results::PartialFile;
use slantpath_runner::{RunOptions, RunOutput, Scenario, TraceRequest, run_traced};
use slantpath_trace::{Record, TraceWriter, What};

use crate::failure::Failure;

/// Files of traces, opened before the run. They take their names when they are whole.
pub(crate) struct TraceFiles {
    request: TraceRequest,
    writers: Vec<(PathBuf, PartialFile, TraceWriter<BufWriter<File>>)>,
}

impl TraceFiles {
    /// Opens the file of each flow, given as `FLOW=FILE`. `file` is the scenario's, `set` what replaced values in it.
    pub(crate) fn create(
        scenario: &Scenario,
        file: &Path,
        set: &[String],
        options: &RunOptions,
        traces: &[String],
    ) -> Result<Self, Failure> {
        let misused = |error: String| Failure::Misused(format!("--trace: {error}"));
        let pair = |trace: &String| {
            let (flow, path) =
                trace.split_once('=').filter(|(flow, path)| !flow.is_empty() && !path.is_empty())?;
            Some((flow.to_owned(), PathBuf::from(path)))
        };
        let mut flows = Vec::new();
        let mut paths = Vec::new();
        for trace in traces {
            let (flow, path) = pair(trace)
                .ok_or_else(|| misused(format!("`{trace}` is no FLOW=FILE, like calls=calls.trace")))?;
            if flows.contains(&flow) || paths.contains(&path) {
                return Err(misused(format!("{flow}={} is named twice", path.display())));
            }
            flows.push(flow);
            paths.push(path);
        }
        let request = scenario.trace_request(&flows).map_err(|error| misused(error.to_string()))?;
        let mut writers = Vec::new();
        for (flow, path) in flows.iter().zip(paths) {
            let created = PartialFile::create(&path).map_err(|error| unwritable(&error))?;
            let out = created.file().try_clone().map_err(Failure::of_file(path.clone()))?;
            let header = scenario.trace_header(&file.to_string_lossy(), set, options, flow);
            let writer = TraceWriter::begin(BufWriter::new(out), &header);
            writers.push((path.clone(), created, writer.map_err(Failure::of_file(path))?));
        }
        Ok(Self { request, writers })
    }

    /// Makes the run and writes what it tells. Gives the run, unless it was stopped.
    pub(crate) fn write(
        mut self,
        scenario: &Scenario,
        options: &RunOptions,
        stop: &AtomicBool,
    ) -> Result<Option<RunOutput>, Failure> {
        let mut sink = |place: usize, records: &[Record]| {
            let (path, _, writer) = &mut self.writers[place];
            let named = |error: std::io::Error| std::io::Error::other(format!("{}: {error}", path.display()));
            records.iter().try_for_each(|record| writer.write(record)).map_err(named)
        };
        let mut latest = Instant::START;
        let mut go_on = |now: Instant| {
            latest = now;
            if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let output = run_traced(scenario, options, &self.request, &mut sink, &mut go_on)?;
        if output.is_none() {
            return Ok(None);
        }
        let at = latest.max(Instant::START + *scenario.scenario.duration);
        for (path, file, mut writer) in self.writers {
            let end = writer.write(&Record { at, association: 0, what: What::End {} });
            end.and_then(|()| writer.flush()).map_err(Failure::of_file(path))?;
            file.take_name().map_err(|error| unwritable(&error))?;
        }
        Ok(output)
    }
}

/// The error names the file.
fn unwritable(error: &std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}

/// Makes the run once more for its traces, and sees that it was the same.
pub(crate) fn write(
    files: TraceFiles,
    scenario: &Scenario,
    options: &RunOptions,
    digest: &str,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let Some(output) = files.write(scenario, options, stop)? else {
        return Err(Failure::Interrupted("interrupted: no trace was written".to_owned()));
    };
    if output.digest != digest {
        let (was, is) = (digest, output.digest);
        return Err(Failure::Failed(format!("the traced run has digest {is}, the run had {was}")));
    }
    Ok(())
}
