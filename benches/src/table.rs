//! The table that `make bench` prints.

use core::fmt;

/// Row of the table: one comparison.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// Our units per CPU second.
    pub ours: f64,
    /// Name of the peer that did it too, and its units per CPU second; `None` if it is not installed.
    pub peer: Option<(String, f64)>,
}

/// Rows under one heading, all of one unit.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name of a unit: "packet-hops", "messages".
    pub unit: String,
    /// In the order in which they were run.
    pub rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "million {} per CPU second", self.unit)?;
        writeln!(f, "{:<38} {:>8}  {:<12} {:>8} {:>7}", "case", "ours", "peer", "", "ratio")?;
        for Row { case, ours, peer } in &self.rows {
            write!(f, "{case:<38} {:>8.2}  ", ours / 1e6)?;
            match peer {
                Some((name, theirs)) => {
                    writeln!(f, "{name:<12} {:>8.2} {:>7.2}", theirs / 1e6, ours / theirs)?;
                }
                None => writeln!(f, "{:<12} {:>8} {:>7}", "not installed", "", "")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_both_sides_and_their_ratio() {
        let peer = Some(("ns-2.35".to_owned(), 2.0e6));
        let table = Table {
            unit: "packet-hops".into(),
            rows: vec![Row { case: "10 flows".into(), ours: 6.0e6, peer }],
        };
        let text = table.to_string();
        let row: Vec<&str> = text.lines().nth(2).expect("a row").split_whitespace().collect();
        assert_eq!(row, ["10", "flows", "6.00", "ns-2.35", "2.00", "3.00"]);
    }

    #[test]
    fn a_missing_peer_is_said_to_be_missing() {
        let row = Row { case: "10 flows".into(), ours: 6.0e6, peer: None };
        assert!(Table { unit: "x".into(), rows: vec![row] }.to_string().contains("not installed"));
    }
}
