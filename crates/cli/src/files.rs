//! What a run leaves in `--out`.

use std::sync::atomic::AtomicBool;

use serde_json::{Value as Json, json};
use slantpath_results::{LongTable, Table, TypedColumn};
use slantpath_scenario::{FlowFailure, RunOutput, RunRecords, Scenario, TABLES, summary};

use crate::directory::{AnyTable, Contents, Directory, files_of_table};
use crate::failure::Failure;

/// How the merged scenario is called in a directory of results.
pub(crate) const SCENARIO: &str = "scenario.toml";

/// All files that a run may write.
pub(crate) fn of_run<'a>(captures: impl IntoIterator<Item = &'a String>) -> impl Iterator<Item = String> {
    let captures: Vec<String> = captures.into_iter().map(|link| file_of_capture(link)).collect();
    let tables = TABLES.iter().copied().chain(["summary"]);
    tables.flat_map(files_of_table).chain(captures).chain([SCENARIO.to_owned()])
}

fn file_of_capture(link: &str) -> String {
    format!("{link}.pcapng")
}

/// Writes tables, captures, the merged scenario and a manifest, each file whole or not at all. Equal runs leave
/// equal files. Returns the names of the files.
pub(crate) fn write_run(
    scenario: &Scenario,
    outputs: &[RunOutput],
    records: &[RunRecords],
    directory: &mut Directory,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let held = stacked(outputs)?;
    let long = stacked_long(outputs, records)?;
    let summary = summary(outputs);
    let mut tables: Vec<AnyTable<'_>> = held.iter().map(AnyTable::Held).collect();
    tables.extend(long.iter().map(AnyTable::Long));
    tables.sort_by_key(|table| table.name().to_owned());
    tables.push(AnyTable::Held(&summary));
    let merged = scenario.merged();
    let mut contents = Contents::default();
    for table in tables {
        contents.table(table);
    }
    // One run's packets are enough to look at.
    if let Some(records) = records.first() {
        for link in records.captures() {
            contents.capture(file_of_capture(link), records, link);
        }
    }
    contents.bytes(SCENARIO, merged.as_bytes());
    directory.replace(&contents, &mut manifest(scenario, outputs), stop)
}

/// The rows of a table as JSON objects.
pub(crate) fn json_rows(table: &Table) -> Result<Vec<Json>, Failure> {
    let mut rows = Vec::new();
    slantpath_results::write_json_lines(table, &mut rows)?;
    let rows = String::from_utf8_lossy(&rows);
    Ok(rows.lines().map(|line| serde_json::from_str(line).expect("a line of JSON lines is JSON")).collect())
}

/// The tables of all runs below each other, with the number of the run in front.
fn stacked(outputs: &[RunOutput]) -> Result<Vec<Table>, Failure> {
    let names: Vec<&str> =
        outputs.first().iter().flat_map(|output| &output.tables).map(Table::name).collect();
    let stack = |name: &&str| {
        let keyed = outputs.iter().filter_map(|output| {
            let table = output.table(name)?.clone();
            let run = TypedColumn::<u64>::repeated("run", output.run, table.rows());
            Some(table.keyed([run.into()]))
        });
        let parts = keyed.collect::<Result<Vec<_>, _>>()?;
        Table::stacked(*name, parts)
    };
    names.iter().map(stack).collect::<Result<_, _>>().map_err(|error| Failure::Failed(error.to_string()))
}

/// The same of the tables that are too long to be held.
fn stacked_long(outputs: &[RunOutput], records: &[RunRecords]) -> Result<Vec<LongTable>, Failure> {
    let Some(first) = records.first() else { return Ok(Vec::new()) };
    let stack = |place: usize| {
        let runs = outputs.iter().map(|output| output.run).zip(records);
        let parts = runs.map(|(run, records)| Some((run, records.tables().get(place)?.clone())));
        let parts: Option<Vec<_>> = parts.collect();
        parts
            .and_then(|parts| LongTable::stacked("run", parts))
            .ok_or_else(|| Failure::Failed("runs of one scenario have different tables".to_owned()))
    };
    (0..first.tables().len()).map(stack).collect()
}

/// What the results came from. Without a date: equal runs have equal manifests.
pub(crate) fn manifest(scenario: &Scenario, outputs: &[RunOutput]) -> Json {
    let runs: Vec<Json> = outputs
        .iter()
        .map(|output| {
            json!({
                "run": output.run,
                "digest": output.digest,
                "events": output.events,
                "packet_hops": output.packet_hops,
                "failures": failures(&output.failures),
            })
        })
        .collect();
    json!({
        "program": "slantpath",
        "version": env!("CARGO_PKG_VERSION"),
        "scenario": *scenario.scenario.name,
        "hash": scenario.hash(),
        "seed": *scenario.scenario.seed,
        "runs": runs,
    })
}

/// Flows that failed, and what of and when.
pub(crate) fn failures(failures: &[FlowFailure]) -> Json {
    let failure = |failure: &FlowFailure| {
        let at = failure.at.map(slantpath_base::Duration::as_secs_f64);
        json!({ "flow": failure.flow, "reason": failure.reason, "at_s": at })
    };
    failures.iter().map(failure).collect()
}
