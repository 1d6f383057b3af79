//! Files that a run leaves in `--out`.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use serde_json::{Value as Json, json};
use slantpath_results::{LongTable, Table, TypedColumn};
use slantpath_runner::{FlowFailure, RunOutput, RunRecords, Scenario, TABLES, summary};

use crate::directory::{AnyTable, Contents, Directory, files_of_table};
use crate::failure::Failure;

/// Name of the merged scenario in a directory of results.
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

/// Files of an account of signalling loads.
pub(crate) fn of_account() -> impl Iterator<Item = String> {
    files_of_table("signalling_load").into_iter().chain([SCENARIO.to_owned()])
}

/// Writes the tables of an account as those of a run, with the merged scenario and this manifest.
pub(crate) fn write_account(
    scenario: &Scenario,
    account: &RunOutput,
    mut manifest: Json,
    directory: &mut Directory,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let tables = stacked(std::slice::from_ref(account))?;
    let merged = scenario.merged();
    let mut contents = Contents::default();
    contents.tables(&tables);
    contents.bytes(SCENARIO, merged.as_bytes());
    directory.replace(&contents, &mut manifest, stop)
}

/// A JSON object as text: the members of another one, and tables under their names, as lists of one object a row. As in
/// others of ours its members stand in alphabetical order; of tables there may be very many rows, so that each is one
/// line, and written as such.
pub(crate) fn json_with_tables(object: &Json, tables: &[(&str, Option<&Table>)]) -> Result<String, Failure> {
    let mut members = BTreeMap::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        members.insert(name.as_str(), format!("{value:#}").replace('\n', "\n  "));
    }
    for &(name, table) in tables {
        members.insert(name, table.map_or_else(|| Ok("null".to_owned()), json_rows)?);
    }
    let mut text = String::from("{");
    for (place, (name, value)) in members.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        text.push_str(comma);
        text.push_str("\n  ");
        text.push_str(&json!(name).to_string());
        text.push_str(": ");
        text.push_str(&value);
    }
    text.push_str("\n}");
    Ok(text)
}

/// The rows of a table as a list of JSON objects.
fn json_rows(table: &Table) -> Result<String, Failure> {
    let mut rows = Vec::new();
    slantpath_results::write_json_lines(table, &mut rows)?;
    let rows = String::from_utf8_lossy(&rows);
    let mut list = String::with_capacity(rows.len() + 8 * table.rows() + 8);
    list.push('[');
    for (place, row) in rows.lines().enumerate() {
        list.push_str(if place > 0 { ",\n    " } else { "\n    " });
        list.push_str(row);
    }
    list.push_str(if table.rows() > 0 { "\n  ]" } else { "]" });
    Ok(list)
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

/// Variant of [`stacked`] for the tables that are too long to be held.
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

/// Manifest of the results, with their origin. The manifest has no date: equal runs have equal manifests.
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

#[cfg(test)]
mod tests {
    use slantpath_results::TextColumn;

    use super::*;

    #[test]
    fn tables_stand_in_json_a_row_a_line_among_members_in_order() {
        let mut name = TextColumn::new("name");
        let mut number = TypedColumn::<f64>::new("number");
        for (text, cell) in [("a\"\n", Some(0.5)), ("µ", None)] {
            name.push(text);
            number.push_optional(cell);
        }
        let table = Table::new("t", [name.into(), number.into()]).unwrap();
        let empty = Table::new("e", [TextColumn::new("name").into()]).unwrap();
        let object = json!({ "hash": "x", "runs": [{ "run": 0 }] });
        let tables = [("summary", Some(&table)), ("gaps", None), ("links", Some(&empty))];
        let text = json_with_tables(&object, &tables).unwrap();
        let wanted = r#"{
  "gaps": null,
  "hash": "x",
  "links": [],
  "runs": [
    {
      "run": 0
    }
  ],
  "summary": [
    {"name":"a\"\n","number":0.5},
    {"name":"µ","number":null}
  ]
}"#;
        assert_eq!(text, wanted);
        let read: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(read["summary"][0], json!({ "name": "a\"\n", "number": 0.5 }));
    }
}
