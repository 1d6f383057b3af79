//! Writing tables: to any writer, or whole and at once to a file.
//!
//! Equal tables give equal bytes in every format.

mod csv;
mod file;
mod json;
mod parquet_file;

use std::io;
use std::path::Path;

pub use csv::write_csv;
pub use file::{PartialFile, write_file};
pub(crate) use file::{about, is_at, remove_abandoned};
pub use json::write_json_lines;
pub use parquet_file::write_parquet;

use crate::long_table::LongTable;
use crate::table::Table;

/// A format of table files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Comma-separated values with a header line (RFC 4180), `.csv`.
    Csv,
    /// One JSON object a line, `.jsonl`.
    JsonLines,
    /// Apache Parquet, `.parquet`.
    Parquet,
}

/// A file name whose ending names no format of tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not say its format: a table is written as `.parquet`, `.csv` or `.jsonl`")]
pub struct UnknownFormat(
    /// The name that was given.
    pub String,
);

impl Format {
    /// All of the formats.
    pub const ALL: [Self; 3] = [Self::Csv, Self::JsonLines, Self::Parquet];

    /// The format that a file's extension names.
    pub fn of_path(path: &Path) -> Result<Self, UnknownFormat> {
        let given = path.extension().and_then(|extension| extension.to_str());
        Self::ALL
            .into_iter()
            .find(|format| given == Some(format.extension()))
            .ok_or_else(|| UnknownFormat(path.display().to_string()))
    }

    /// Extension of the names of its files, after the point.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes a table in one format.
pub fn write_table<W: io::Write + Send>(table: &Table, format: Format, out: &mut W) -> io::Result<()> {
    match format {
        Format::Csv => write_csv(table, out),
        Format::JsonLines => write_json_lines(table, out),
        Format::Parquet => write_parquet(table, out),
    }
}

/// Writes a long table in one format: the bytes of [`write_table`] for the same rows, without holding them.
pub fn write_long_table<W: io::Write + Send>(
    table: &LongTable,
    format: Format,
    out: &mut W,
) -> io::Result<()> {
    match format {
        Format::Csv => {
            csv::write_header(table.header(), out)?;
            table.each_block(|rows| csv::write_rows(rows, out))
        }
        Format::JsonLines => table.each_block(|rows| write_json_lines(rows, out)),
        Format::Parquet => parquet_file::write_long_parquet(table, out),
    }
}

/// Writes a table to a file, whole or not at all, in the format that the file's extension names.
/// Directories on the way are created.
pub fn write_table_file(table: &Table, path: &Path) -> io::Result<()> {
    let format = format_of(path)?;
    write_file(path, |out| write_table(table, format, out))
}

fn format_of(path: &Path) -> io::Result<Format> {
    Format::of_path(path).map_err(|unknown| io::Error::new(io::ErrorKind::InvalidInput, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_names_the_format() {
        for format in Format::ALL {
            let path = format!("a.b/messages.{}", format.extension());
            assert_eq!(Format::of_path(Path::new(&path)), Ok(format));
        }
        let error = Format::of_path(Path::new("messages.xls")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`messages.xls` does not say its format: a table is written as `.parquet`, `.csv` or `.jsonl`"
        );
    }
}
