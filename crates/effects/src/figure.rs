//! Figures of the tables of a run.

use core::fmt;

/// A table as rows of figures read it.
#[derive(Clone, Debug)]
pub struct PlainTable {
    /// Name of the table.
    pub name: String,
    /// Columns by their names, all of one length.
    pub columns: Vec<(String, PlainColumn)>,
}

/// The cells of a column; one that is missing is `None`.
#[derive(Clone, Debug)]
pub enum PlainColumn {
    /// Numbers and flags.
    Numbers(Vec<Option<f64>>),
    /// Cells that are strings.
    Texts(Vec<Option<String>>),
}

/// A number or a string that a row looks at.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Max,
    Mean,
    Min,
    Sum,
}

#[derive(Clone, Debug)]
pub(super) struct Figure {
    text: String,
    of: Of,
    table: String,
    holding: Vec<String>,
    column: String,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PlainTable {
    fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| match column {
            PlainColumn::Numbers(cells) => cells.len(),
            PlainColumn::Texts(cells) => cells.len(),
        })
    }

    fn holds(&self, row: usize, wanted: &str) -> bool {
        self.columns.iter().any(|(_, column)| match column {
            PlainColumn::Texts(cells) => cells[row].as_deref() == Some(wanted),
            PlainColumn::Numbers(_) => false,
        })
    }
}

impl Figure {
    /// Reads a figure such as `max:links[satellite, forward].queue_max_packets`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (of, rest) = match text.split_once(':') {
            Some(("max", rest)) => (Of::Max, rest),
            Some(("mean", rest)) => (Of::Mean, rest),
            Some(("min", rest)) => (Of::Min, rest),
            _ => (Of::Sum, text),
        };
        let (table, column) = rest.rsplit_once('.')?;
        let (table, holding) = match table.split_once('[') {
            Some((table, holding)) => {
                let holding = holding.strip_suffix(']')?.split(',').map(|text| text.trim().to_owned());
                (table, holding.collect())
            }
            None => (table, Vec::new()),
        };
        let [text, table, column] = [text, table, column].map(str::to_owned);
        Some(Self { text, of, table, holding, column })
    }

    /// Gives the value of the figure; nothing if no table has it.
    pub(super) fn read(&self, tables: &[PlainTable]) -> Option<Value> {
        let table = tables.iter().find(|table| table.name == self.table)?;
        let rows: Vec<usize> = (0..table.rows())
            .filter(|&row| self.holding.iter().all(|wanted| table.holds(row, wanted)))
            .collect();
        if self.column == "rows" {
            return Some(Value::Number(rows.len() as f64));
        }
        let (_, column) = table.columns.iter().find(|(name, _)| *name == self.column)?;
        match column {
            PlainColumn::Texts(cells) => {
                let texts: Vec<&str> = rows.iter().map(|&row| cells[row].as_deref().unwrap_or("-")).collect();
                Some(Value::Text(texts.join(" ")))
            }
            PlainColumn::Numbers(cells) => {
                let numbers: Vec<f64> = rows.iter().filter_map(|&row| cells[row]).collect();
                let sum: f64 = numbers.iter().sum();
                let number = match self.of {
                    Of::Max => numbers.iter().copied().reduce(f64::max)?,
                    Of::Mean if numbers.is_empty() => return None,
                    Of::Mean => sum / numbers.len() as f64,
                    Of::Min => numbers.iter().copied().reduce(f64::min)?,
                    Of::Sum => sum,
                };
                Some(Value::Number(number))
            }
        }
    }
}

/// The figures that differ most between two runs, for whoever writes a row.
pub(super) fn moved(before: &[PlainTable], after: &[PlainTable]) -> String {
    const SHOWN: usize = 14;
    let mut found: Vec<(f64, String)> = Vec::new();
    for table in after {
        let rows =
            |tables: &[PlainTable]| tables.iter().find(|t| t.name == table.name).map_or(0, PlainTable::rows);
        if rows(before) != rows(after) {
            found.push((f64::INFINITY, format!("{}.rows {} to {}", table.name, rows(before), rows(after))));
        }
        for (column, cells) in &table.columns {
            let figure = Figure {
                text: format!("{}.{column}", table.name),
                of: Of::Sum,
                table: table.name.clone(),
                holding: Vec::new(),
                column: column.clone(),
            };
            let [old, new] = [before, after].map(|tables| figure.read(tables));
            match (cells, old, new) {
                (PlainColumn::Numbers(_), None, Some(new)) => {
                    found.push((1.0, format!("{figure} appears as {new}")));
                }
                (PlainColumn::Numbers(_), Some(Value::Number(old)), Some(Value::Number(new)))
                    if old != new =>
                {
                    let change = (new - old).abs() / old.abs().max(new.abs());
                    found.push((change, format!("{figure} {old} to {new}")));
                }
                _ => {}
            }
        }
    }
    if found.is_empty() {
        return "nothing".to_owned();
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    let shown: Vec<String> = found.into_iter().take(SHOWN).map(|(_, text)| text).collect();
    shown.join(", ")
}
