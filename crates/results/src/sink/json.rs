//! JSON, one object a line.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::column::CellValue;
use crate::table::Table;

/// Writes one JSON object a row, its members named by the columns and in their order.
///
/// A missing cell is `null`. JSON has no word for numbers that are not finite: they are the texts `"NaN"`,
/// `"Infinity"` and `"-Infinity"`.
pub fn write_json_lines(table: &Table, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<String> = table.columns().iter().map(|column| quoted(column.name())).collect();
    for row in 0..table.rows() {
        write!(out, "{{")?;
        for (place, (name, cell)) in names.iter().zip(table.row(row)).enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}{name}:")?;
            write_cell(cell, out)?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn write_cell(cell: CellValue<'_>, out: &mut impl Write) -> io::Result<()> {
    match cell {
        CellValue::Bool(flag) => write!(out, "{flag}"),
        CellValue::F64(number) if number.is_nan() => write!(out, "\"NaN\""),
        CellValue::F64(f64::INFINITY) => write!(out, "\"Infinity\""),
        CellValue::F64(f64::NEG_INFINITY) => write!(out, "\"-Infinity\""),
        CellValue::F64(number) => write!(out, "{number:?}"),
        CellValue::I64(number) => write!(out, "{number}"),
        CellValue::Missing => write!(out, "null"),
        CellValue::Text(text) => write!(out, "{}", quoted(text)),
        CellValue::U64(number) => write!(out, "{number}"),
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                write!(json, "\\u{:04x}", u32::from(control)).expect("a string takes everything");
            }
            plain => json.push(plain),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use crate::{Table, TextColumn, TypedColumn};

    #[test]
    fn a_row_is_an_object() {
        let mut path = TextColumn::new("path");
        let mut delay = TypedColumn::<f64>::new("delay_s");
        path.push("a \"b\"\\\n\u{1}ü");
        delay.push(0.5);
        path.push_optional(None);
        delay.push(f64::NAN);
        let table = Table::new("t", [path.into(), delay.into()]).unwrap();
        let mut json = Vec::new();
        super::write_json_lines(&table, &mut json).unwrap();
        assert_eq!(
            String::from_utf8(json).unwrap(),
            "{\"path\":\"a \\\"b\\\"\\\\\\n\\u0001ü\",\"delay_s\":0.5}\n{\"path\":null,\"delay_s\":\"NaN\"}\n"
        );
    }
}
