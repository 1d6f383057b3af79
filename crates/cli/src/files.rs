//! What a run leaves in `--out`.

use std::io::Write;
use std::path::Path;

use serde_json::{Value as Json, json};
use slantpath_results::{Table, TypedColumn, write_file, write_table_file};
use slantpath_scenario::{RunOutput, Scenario, summary};

use crate::failure::Failure;

/// Writes tables, captures, the merged scenario and a manifest, each file whole or not at all. Equal runs leave
/// equal files. Returns the names of the files.
pub(crate) fn write_run(
    scenario: &Scenario,
    outputs: &[RunOutput],
    directory: &Path,
) -> Result<Vec<String>, Failure> {
    let mut tables = stacked(outputs)?;
    tables.push(summary(outputs));
    let mut names = Vec::new();
    for table in &tables {
        names.extend(write_table(table, directory)?);
    }
    for capture in outputs.first().into_iter().flat_map(|output| &output.captures) {
        let name = format!("{}.pcapng", capture.link);
        write_bytes(&directory.join(&name), &capture.pcapng)?;
        names.push(name);
    }
    write_bytes(&directory.join("scenario.toml"), scenario.merged().as_bytes())?;
    names.push("scenario.toml".to_owned());
    let mut manifest = manifest(scenario, outputs);
    manifest["files"] = json!(names);
    let text = format!("{manifest:#}\n");
    write_bytes(&directory.join("manifest.json"), text.as_bytes())?;
    names.push("manifest.json".to_owned());
    Ok(names)
}

/// A table as Parquet and as CSV.
pub(crate) fn write_table(table: &Table, directory: &Path) -> Result<[String; 2], Failure> {
    let names = ["parquet", "csv"].map(|extension| format!("{}.{extension}", table.name()));
    for name in &names {
        let path = directory.join(name);
        write_table_file(table, &path).map_err(Failure::of_file(path))?;
    }
    Ok(names)
}

/// The rows of a table as JSON objects.
pub(crate) fn json_rows(table: &Table) -> Result<Vec<Json>, Failure> {
    let mut rows = Vec::new();
    slantpath_results::write_json_lines(table, &mut rows)?;
    let rows = String::from_utf8_lossy(&rows);
    Ok(rows.lines().map(|line| serde_json::from_str(line).expect("a line of JSON lines is JSON")).collect())
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_file(path, |file| file.write_all(bytes)).map_err(Failure::of_file(path.to_owned()))
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
