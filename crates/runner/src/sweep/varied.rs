//! The values of a varied path as a column: numbers in base units with their unit in the name, as in every other table.

use core::str::FromStr;

use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_reader::{ValueData, ValueNode};
use slantpath_results::{Column, TextColumn, TypedColumn};

/// A varied path and all its values, which are of one type so that the tables of all points fit together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Varied {
    /// The path, and the unit behind it.
    name: String,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq)]
enum Cells {
    Flags(Vec<bool>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// Words, and whatever else has no number: as it is written.
    Texts(Vec<String>),
}

/// The end of a column's name, and what reads a value of that unit.
type Unit<T> = (&'static str, fn(&ValueNode) -> Option<T>);

impl Varied {
    pub(super) fn new(path: &str, values: &[ValueNode]) -> Self {
        let all = |cell: fn(&ValueNode) -> Option<f64>| values.iter().map(cell).collect::<Option<Vec<f64>>>();
        let measures: [Unit<f64>; 2] = [
            ("_s", |value| quantity(value, Duration::as_secs_f64)),
            ("_bit_per_s", |value| quantity(value, |rate: DataRate| rate.as_bits_per_sec() as f64)),
        ];
        for (unit, cell) in measures {
            if let Some(numbers) = all(cell) {
                return Self { name: format!("{path}{unit}"), cells: Cells::Numbers(numbers) };
            }
        }
        let counts: [Unit<i64>; 2] = [("_bytes", bytes), ("_packets", packets)];
        for (unit, cell) in counts {
            if let Some(numbers) = values.iter().map(cell).collect() {
                return Self { name: format!("{path}{unit}"), cells: Cells::Integers(numbers) };
            }
        }
        // A probability may be written as a number. One of them has to look like a probability.
        if values.iter().any(is_share)
            && let Some(numbers) = all(share)
        {
            return Self { name: format!("{path}_ratio"), cells: Cells::Numbers(numbers) };
        }
        Self { name: path.to_owned(), cells: Cells::plain(values) }
    }

    /// The value of that place in every row.
    pub(super) fn column(&self, place: usize, rows: usize) -> Column {
        match &self.cells {
            Cells::Flags(flags) => TypedColumn::<bool>::repeated(&self.name, flags[place], rows).into(),
            Cells::Integers(numbers) => TypedColumn::<i64>::repeated(&self.name, numbers[place], rows).into(),
            Cells::Numbers(numbers) => TypedColumn::<f64>::repeated(&self.name, numbers[place], rows).into(),
            Cells::Texts(texts) => TextColumn::repeated(&self.name, &texts[place], rows).into(),
        }
    }
}

impl Cells {
    fn plain(values: &[ValueNode]) -> Self {
        let flag = |value: &ValueNode| match value.data {
            ValueData::Boolean(flag) => Some(flag),
            _ => None,
        };
        let integer = |value: &ValueNode| match value.data {
            ValueData::Integer(number) => Some(number),
            _ => None,
        };
        if let Some(flags) = values.iter().map(flag).collect() {
            return Self::Flags(flags);
        }
        if let Some(integers) = values.iter().map(integer).collect() {
            return Self::Integers(integers);
        }
        if let Some(numbers) = values.iter().map(number).collect() {
            return Self::Numbers(numbers);
        }
        Self::Texts(values.iter().map(as_written).collect())
    }
}

fn as_written(value: &ValueNode) -> String {
    match &value.data {
        ValueData::Text(text) => text.clone(),
        _ => value.to_toml(),
    }
}

fn number(value: &ValueNode) -> Option<f64> {
    match &value.data {
        ValueData::Integer(number) => Some(*number as f64),
        ValueData::Float(text) => text.replace('_', "").parse().ok(),
        _ => None,
    }
}

/// A quantity that is written with its unit.
fn quantity<T: FromStr, N>(value: &ValueNode, in_base_units: impl Fn(T) -> N) -> Option<N> {
    match &value.data {
        ValueData::Text(text) => text.parse().ok().map(in_base_units),
        _ => None,
    }
}

fn bytes(value: &ValueNode) -> Option<i64> {
    quantity(value, DataSize::as_bytes).and_then(|bytes| bytes.try_into().ok())
}

fn packets(value: &ValueNode) -> Option<i64> {
    let ValueData::Text(text) = &value.data else { return None };
    let text = text.trim();
    let number = text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"))?;
    number.trim().replace('_', "").parse().ok()
}

fn share(value: &ValueNode) -> Option<f64> {
    number(value).or_else(|| quantity(value, Probability::as_f64))
}

/// Tells whether this is a probability and nothing else: `"1 %"`, `"0.01"`, `"1e-6"`.
fn is_share(value: &ValueNode) -> bool {
    matches!(&value.data, ValueData::Text(text) if text.contains(['%', '.', 'e'])) && share(value).is_some()
}

#[cfg(test)]
mod tests {
    use slantpath_reader::Document;
    use slantpath_results::CellValue;

    use super::*;

    /// The name of the column, and its cell at each place.
    fn column(values: &str) -> (String, Vec<String>) {
        let (entries, _) = Document::parse("t", &format!("v = {values}")).entries().unwrap();
        let ValueData::Array(values) = &entries["v"].node.data else { panic!("a list") };
        let varied = Varied::new("links.sky.it", values);
        let cell = |place| match varied.column(place, 1).at(0) {
            CellValue::Bool(flag) => flag.to_string(),
            CellValue::F64(number) => format!("{number:?}"),
            CellValue::I64(number) => number.to_string(),
            CellValue::Text(text) => format!("'{text}'"),
            other => panic!("{other:?}"),
        };
        (varied.name.clone(), (0..values.len()).map(cell).collect())
    }

    #[test]
    fn quantities_are_numbers_in_base_units_with_the_unit_in_the_name() {
        let cases = [
            ("['25 ms', '1 min']", "_s", ["0.025", "60.0"]),
            ("['1.5 Mbit/s', '64 kbit/s']", "_bit_per_s", ["1500000.0", "64000.0"]),
            ("['64 KiB', '1500 B']", "_bytes", ["65536", "1500"]),
            ("['10 packets', '1 packet']", "_packets", ["10", "1"]),
            ("['0 %', '1 %']", "_ratio", ["0.0", "0.01"]),
            ("['1e-6', 0]", "_ratio", ["1e-6", "0.0"]),
            ("[0.25, '0.5']", "_ratio", ["0.25", "0.5"]),
        ];
        for (values, unit, cells) in cases {
            let wanted = (format!("links.sky.it{unit}"), cells.map(str::to_owned).to_vec());
            assert_eq!(column(values), wanted, "{values}");
        }
    }

    #[test]
    fn values_without_a_unit_stand_under_the_path_as_what_they_are() {
        let cases = [
            ("[1, 2]", ["1", "2"]),
            ("[1, 2.5]", ["1.0", "2.5"]),
            ("[true, false]", ["true", "false"]),
            ("['rfc9260', 'off']", ["'rfc9260'", "'off'"]),
            ("['1', '2']", ["'1'", "'2'"]),
        ];
        for (values, cells) in cases {
            let wanted = ("links.sky.it".to_owned(), cells.map(str::to_owned).to_vec());
            assert_eq!(column(values), wanted, "{values}");
        }
    }

    #[test]
    fn values_that_share_no_unit_are_texts_as_they_are_written() {
        let cases = [
            ("['10 ms', 'off']", ["'10 ms'", "'off'"]),
            ("['10 packets', '64 KiB']", ["'10 packets'", "'64 KiB'"]),
            ("[1, 'off']", ["'1'", "'off'"]),
            ("[['a', 'b'], ['c']]", ["'[\"a\", \"b\"]'", "'[\"c\"]'"]),
            ("[{ kind = 'bulk' }, 'x']", ["'{ kind = \"bulk\" }'", "'x'"]),
        ];
        for (values, cells) in cases {
            let wanted = ("links.sky.it".to_owned(), cells.map(str::to_owned).to_vec());
            assert_eq!(column(values), wanted, "{values}");
        }
    }
}
