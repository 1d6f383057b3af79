//! Columns as bytes and back, for files of this program alone: what is spooled or kept is read by who wrote it.

use std::sync::Arc;

use crate::cells::{Cell, Numbers, TextValues, Values};
use crate::column::Column;

impl Column {
    /// Appends the column: its name, its type, how many cells it has, which of them are missing, and the cells.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, self.name());
        match self.values() {
            Values::Bool(numbers) => {
                out.push(0);
                put_numbers(out, numbers, |flag| [u8::from(flag)]);
            }
            Values::F64(numbers) => {
                out.push(1);
                put_numbers(out, numbers, |number| number.to_bits().to_le_bytes());
            }
            Values::I64(numbers) => {
                out.push(2);
                put_numbers(out, numbers, i64::to_le_bytes);
            }
            Values::Text(texts) => {
                out.push(3);
                put_len(out, texts.dictionary().len());
                texts.dictionary().for_each(|text| put_text(out, text));
                put_numbers(out, texts.codes(), u32::to_le_bytes);
            }
            Values::U64(numbers) => {
                out.push(4);
                put_numbers(out, numbers, u64::to_le_bytes);
            }
        }
    }

    /// Takes a column off the front of `rest`. Nothing if the bytes are not those of one.
    pub fn decode(rest: &mut &[u8]) -> Option<Self> {
        let name = take_text(rest)?.to_owned();
        let (kind, later) = rest.split_first()?;
        *rest = later;
        let values = match kind {
            0 => bool::values(take_numbers(rest, |[byte]| byte == 1)?),
            1 => f64::values(take_numbers(rest, |bytes| f64::from_bits(u64::from_le_bytes(bytes)))?),
            2 => i64::values(take_numbers(rest, i64::from_le_bytes)?),
            3 => {
                let mut dictionary = Vec::new();
                for _ in 0..take_len(rest)? {
                    dictionary.push(Arc::from(take_text(rest)?));
                }
                Values::Text(TextValues::of_parts(dictionary, take_numbers(rest, u32::from_le_bytes)?)?)
            }
            4 => u64::values(take_numbers(rest, u64::from_le_bytes)?),
            _ => return None,
        };
        Some(Self::new(name, values))
    }
}

/// The cells, behind a bit for each that says whether it is there, unless all are.
fn put_numbers<T: Copy + Default, const N: usize>(
    out: &mut Vec<u8>,
    numbers: &Numbers<T>,
    bytes: impl Fn(T) -> [u8; N],
) {
    put_len(out, numbers.len());
    let bitmap = numbers.validity_bitmap();
    out.push(u8::from(bitmap.is_some()));
    out.extend_from_slice(bitmap.unwrap_or_default());
    numbers.cells().iter().for_each(|cell| out.extend_from_slice(&bytes(*cell)));
}

fn take_numbers<T: Copy + Default, const N: usize>(
    rest: &mut &[u8],
    cell: impl Fn([u8; N]) -> T,
) -> Option<Numbers<T>> {
    let rows = take_len(rest)?;
    let (has_bitmap, later) = rest.split_first()?;
    let bitmap_len = if *has_bitmap == 1 { rows.div_ceil(8) } else { 0 };
    let (bitmap, later) = later.split_at_checked(bitmap_len)?;
    let (cells, later) = later.split_at_checked(rows.checked_mul(N)?)?;
    *rest = later;
    let mut numbers = Numbers::default();
    for (row, bytes) in cells.as_chunks::<N>().0.iter().enumerate() {
        let is_present = bitmap.get(row / 8).is_none_or(|byte| byte & (1 << (row % 8)) != 0);
        numbers.push(is_present.then(|| cell(*bytes)));
    }
    Some(numbers)
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&(len as u64).to_le_bytes());
}

fn take_len(rest: &mut &[u8]) -> Option<usize> {
    let (len, later) = rest.split_first_chunk::<8>()?;
    *rest = later;
    usize::try_from(u64::from_le_bytes(*len)).ok()
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_len(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = take_len(rest)?;
    let (text, later) = rest.split_at_checked(len)?;
    *rest = later;
    core::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextColumn, TypedColumn};
    use proptest::prelude::*;

    type Row = (Option<f64>, Option<u64>, Option<i64>, Option<bool>, Option<String>);

    fn columns(rows: &[Row]) -> [Column; 5] {
        let mut floats = TypedColumn::<f64>::new("delay_s");
        let mut counts = TypedColumn::<u64>::new("packets");
        let mut numbers = TypedColumn::<i64>::new("difference");
        let mut flags = TypedColumn::<bool>::new("is_lost");
        let mut texts = TextColumn::new("path");
        for row in rows {
            floats.push_optional(row.0);
            counts.push_optional(row.1);
            numbers.push_optional(row.2);
            flags.push_optional(row.3);
            texts.push_optional(row.4.as_deref());
        }
        [floats.into(), counts.into(), numbers.into(), flags.into(), texts.into()]
    }

    proptest! {
        #[test]
        fn columns_come_back_as_they_were(rows in proptest::collection::vec(
            (any::<Option<f64>>(), any::<Option<u64>>(), any::<Option<i64>>(), any::<Option<bool>>(),
             proptest::option::of(".{0,3}")), 0..40)) {
            let columns = columns(&rows);
            let mut bytes = Vec::new();
            for column in &columns {
                column.encode(&mut bytes);
            }
            let mut rest = &bytes[..];
            for column in &columns {
                let decoded = Column::decode(&mut rest);
                prop_assert_eq!(decoded.as_ref(), Some(column));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn damaged_bytes_never_panic(
            at: prop::sample::Index, byte: u8, cut: prop::sample::Index, text in ".{0,3}",
        ) {
            let row = (Some(1.0), None, Some(-1), Some(true), Some(text));
            for column in columns(&[row.clone(), row]) {
                let mut bytes = Vec::new();
                column.encode(&mut bytes);
                let at = at.index(bytes.len());
                bytes[at] = byte;
                bytes.truncate(cut.index(bytes.len()));
                let _ = Column::decode(&mut &bytes[..]);
            }
        }
    }
}
