//! Comma-separated values, RFC 4180.

use std::io::{self, Write};

use crate::column::CellValue;
use crate::table::Table;

/// Writes a header line of the columns' names and one line a row.
///
/// A missing cell is empty, an empty text is `""`. Floats are written with the fewest digits that read back
/// exactly and always show that they are floats: `2.0`, `1e-9`.
pub fn write_csv(table: &Table, out: &mut impl Write) -> io::Result<()> {
    write_header(table, out)?;
    write_rows(table, out)
}

pub(super) fn write_header(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for (place, column) in table.columns().iter().enumerate() {
        separate(place, out)?;
        write_text(column.name(), out)?;
    }
    writeln!(out)
}

pub(super) fn write_rows(table: &Table, out: &mut impl Write) -> io::Result<()> {
    for row in 0..table.rows() {
        for (place, cell) in table.row(row).enumerate() {
            separate(place, out)?;
            match cell {
                CellValue::Bool(flag) => write!(out, "{flag}")?,
                CellValue::F64(number) => write!(out, "{number:?}")?,
                CellValue::I64(number) => write!(out, "{number}")?,
                CellValue::Missing => {}
                CellValue::Text(text) => write_text(text, out)?,
                CellValue::U64(number) => write!(out, "{number}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn separate(place: usize, out: &mut impl Write) -> io::Result<()> {
    if place > 0 { write!(out, ",") } else { Ok(()) }
}

fn write_text(text: &str, out: &mut impl Write) -> io::Result<()> {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        write!(out, "\"{}\"", text.replace('"', "\"\""))
    } else {
        write!(out, "{text}")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Table, TextColumn, TypedColumn};

    #[test]
    fn a_table_is_plain_text() {
        let mut path = TextColumn::new("path");
        let mut delay = TypedColumn::<f64>::new("delay_s");
        let mut number = TypedColumn::<u64>::new("number");
        let mut is_lost = TypedColumn::<bool>::new("is_lost");
        for (text, seconds) in
            [(Some("a,b"), Some(0.1)), (None, Some(2.0)), (Some(""), None), (Some("say \"so\""), Some(1e-9))]
        {
            path.push_optional(text);
            delay.push_optional(seconds);
            number.push(u64::MAX);
            is_lost.push(seconds.is_none());
        }
        let table =
            Table::new("t", [path.into(), delay.into(), number.into(), is_lost.into()]).expect("a table");
        let mut csv = Vec::new();
        super::write_csv(&table, &mut csv).unwrap();
        assert_eq!(
            String::from_utf8(csv).unwrap(),
            "path,delay_s,number,is_lost\n\
             \"a,b\",0.1,18446744073709551615,false\n\
             ,2.0,18446744073709551615,false\n\
             \"\",,18446744073709551615,true\n\
             \"say \"\"so\"\"\",1e-9,18446744073709551615,false\n"
        );
    }
}
