//! A table of texts on the terminal.

use std::io::{self, Write};

use crate::terminal::in_one_line;

/// Columns aligned under their headings and units: the first to the left, the others to the right.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| in_one_line(&cell)).collect());
    }

    pub(crate) fn print(&self, left: usize, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width_of = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width_of(column).unwrap_or(0)).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width - cell.chars().count());
                if column < left {
                    line.extend([cell, &padding, "  "]);
                } else {
                    line.extend([&padding, cell, "  "]);
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_numbers_right() {
        let mut table = TextTable::default();
        table.row(["flow", "sent", "delay"].map(str::to_owned));
        table.row(["µ", "1", "250.1"].map(str::to_owned));
        table.row(["signalling", "2000", "3"].map(str::to_owned));
        table.row(["a\nb", "1", "1"].map(str::to_owned));
        let mut out = Vec::new();
        table.print(1, &mut out).unwrap();
        let expected = "flow        sent  delay\n\
                        µ              1  250.1\n\
                        signalling  2000      3\n\
                        a\\u000ab       1      1\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
