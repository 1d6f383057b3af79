//! Option `--like` of `slantpath traffic`: what a run came to, beside what is live.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use slantpath_results::CellValue;
use slantpath_runner::{RunOutput, TEXT_MAX, read_bounded};

use crate::failure::Failure;
use crate::table::TextTable;

/// Columns that are laid side by side: name, heading, factor and decimals.
const MEASURES: [(&str, &str, f64, usize); 11] = [
    ("sent_messages", "sent", 1.0, 0),
    ("delivered_messages", "delivered", 1.0, 0),
    ("late_messages", "late", 1.0, 0),
    ("lost_messages", "lost", 1.0, 0),
    ("repeated_messages", "repeated", 1.0, 0),
    ("out_of_sequence_messages", "misordered", 1.0, 0),
    ("delay_mean_s", "mean ms", 1e3, 3),
    ("delay_p50_s", "50 %", 1e3, 3),
    ("delay_p95_s", "95 %", 1e3, 3),
    ("delay_p99_s", "99 %", 1e3, 3),
    ("delay_max_s", "at most", 1e3, 3),
];

/// Table `signalling_load` of runs: means over the runs for each load and link.
#[derive(Debug)]
pub(super) struct Beside {
    path: PathBuf,
    runs: usize,
    rows: BTreeMap<(String, String), [Option<f64>; MEASURES.len()]>,
}

impl Beside {
    /// Reads the results of `slantpath run --out DIR`.
    pub(super) fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join("signalling_load.csv");
        let wrong = |why: String| {
            Failure::Misused(format!(
                "--like: {}: {why}; name a directory of `slantpath run --out`",
                path.display()
            ))
        };
        let bytes = read_bounded(&path, TEXT_MAX).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        let (runs, rows) = of_csv(&text).map_err(wrong)?;
        Ok(Self { path: directory.to_owned(), runs, rows })
    }

    /// Prints both, for each link of each load that is live.
    pub(super) fn print(&self, account: &RunOutput, out: &mut impl Write) -> io::Result<()> {
        let Some(live) = account.table("signalling_load") else { return Ok(()) };
        let runs = if self.runs == 1 { "run".to_owned() } else { format!("{} runs", self.runs) };
        writeln!(out, "\nbeside {}:", self.path.display())?;
        let mut table = TextTable::default();
        let headings = MEASURES.iter().map(|(_, heading, ..)| (*heading).to_owned());
        table.row(["load", "link", ""].map(str::to_owned).into_iter().chain(headings));
        for row in 0..live.rows() {
            let cell = |name: &str| live.column(name).map_or(CellValue::Missing, |column| column.at(row));
            let CellValue::Text(load) = cell("load") else { continue };
            let CellValue::U64(link) = cell("link") else { continue };
            let (load, link) = (load.to_owned(), link.to_string());
            let measured = MEASURES.iter().map(|(name, _, factor, decimals)| {
                let value = match cell(name) {
                    CellValue::F64(value) => Some(value),
                    CellValue::U64(value) => Some(value as f64),
                    _ => None,
                };
                words(value, *factor, *decimals)
            });
            table.row([load.clone(), link.clone(), "live".to_owned()].into_iter().chain(measured));
            let of_run = self.rows.get(&(load, link)).copied().unwrap_or_default();
            let of_run = MEASURES.iter().zip(of_run);
            let of_run = of_run.map(|((_, _, factor, decimals), value)| words(value, *factor, *decimals));
            table.row([String::new(), String::new(), runs.clone()].into_iter().chain(of_run));
        }
        table.print(3, out)
    }
}

fn words(value: Option<f64>, factor: f64, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.decimals$}", value * factor))
}

type Rows = BTreeMap<(String, String), [Option<f64>; MEASURES.len()]>;

/// Number of runs, and the means for each load and link.
fn of_csv(text: &str) -> Result<(usize, Rows), String> {
    let mut lines = text.lines();
    let header = fields(lines.next().unwrap_or_default());
    let place = |name: &str| {
        header.iter().position(|own| own == name).ok_or_else(|| format!("it has no column `{name}`"))
    };
    let (run, load, link) = (place("run")?, place("load")?, place("link")?);
    let measured = MEASURES.iter().map(|(name, ..)| place(name)).collect::<Result<Vec<_>, _>>()?;
    let mut runs = std::collections::BTreeSet::new();
    let mut sums: BTreeMap<(String, String), [(f64, u32); MEASURES.len()]> = BTreeMap::new();
    for (line, number) in lines.zip(2..) {
        let cells = fields(line);
        if cells.len() != header.len() {
            return Err(format!("line {number} has {} columns in place of {}", cells.len(), header.len()));
        }
        runs.insert(cells[run].clone());
        let sums = sums.entry((cells[load].clone(), cells[link].clone())).or_default();
        for (sum, place) in sums.iter_mut().zip(&measured) {
            if let Ok(value) = cells[*place].parse::<f64>() {
                *sum = (sum.0 + value, sum.1 + 1);
            }
        }
    }
    let mean = |(sum, count): (f64, u32)| (count > 0).then(|| sum / f64::from(count));
    Ok((runs.len(), sums.into_iter().map(|(key, sums)| (key, sums.map(mean))).collect()))
}

/// Fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    all.push(field);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_several_runs_are_their_means_and_a_cell_that_is_missing_counts_for_none() {
        let columns: Vec<&str> = MEASURES.iter().map(|(name, ..)| *name).collect();
        let text = format!(
            "run,load,link,{}\n0,\"a,\"\"b\",3,1,2,0,0,0,0,0.1,,0.3,0.4,0.5\n\
             1,\"a,\"\"b\",3,3,2,0,0,0,0,0.3,0.2,0.3,0.4,0.5\n",
            columns.join(",")
        );
        let (runs, rows) = of_csv(&text).unwrap();
        let row = rows[&("a,\"b".to_owned(), "3".to_owned())];
        assert_eq!((runs, row[0], row[1], row[6], row[7]), (2, Some(2.0), Some(2.0), Some(0.2), Some(0.2)));
        assert_eq!(of_csv("run,load\n").unwrap_err(), "it has no column `link`");
        let short = text.replace(",0.5\n1", "\n1");
        assert_eq!(of_csv(&short).unwrap_err(), "line 2 has 13 columns in place of 14");
    }
}
