//! Apache Parquet, written column by column without the Arrow layer.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::cells::Values;
use crate::column::Column;
use crate::long_table::{Cursor, LongTable};
use crate::table::Table;

/// Writes a table as one Parquet file.
///
/// Every column is optional, so that files of one kind have one schema whether or not a cell is missing in
/// them. Rows stand in groups of a million. The file's metadata holds the table's name (`slantpath.table`)
/// and for each column with a unit its symbol (`slantpath.unit.delay_s` = `s`).
pub fn write_parquet<W: Write + Send>(table: &Table, out: &mut W) -> io::Result<()> {
    let pieces = |column: usize, rows: Range<u64>, each: &mut EachPiece<'_>| {
        // Rows of a table that is held are counted by a `usize`.
        let place = |row| usize::try_from(row).map_err(|_| ParquetError::EOF("no such row".to_owned()));
        each(&table.columns()[column], place(rows.start)?..place(rows.end)?)
    };
    write(table, table.rows() as u64, pieces, out).map_err(unwrapped)
}

/// Writes a long table as the same file, a column of a row group at a time.
pub(super) fn write_long_parquet<W: Write + Send>(table: &LongTable, out: &mut W) -> io::Result<()> {
    let last = table.header().columns().len() - 1;
    // Every column of a row group is read from the place where the group begins.
    let mut begin = Cursor::default();
    let pieces = |column: usize, rows: Range<u64>, each: &mut EachPiece<'_>| {
        let mut cursor = begin.clone();
        let each = |cells: &Column, rows| each(cells, rows).map_err(unwrapped);
        table.each_piece(&mut cursor, column, rows.end - rows.start, each)?;
        if column == last {
            begin = cursor;
        }
        Ok(())
    };
    write(table.header(), table.rows(), pieces, out).map_err(unwrapped)
}

/// Is given some rows of a column.
type EachPiece<'a> = dyn FnMut(&Column, Range<usize>) -> Result<(), ParquetError> + 'a;

/// The error of the disk, if it is one.
fn unwrapped(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// Writes `rows` rows under the columns of `header`; `pieces` gives those of a column in a range, group by group and in
/// a group column by column.
fn write<W: Write + Send>(
    header: &Table,
    rows: u64,
    mut pieces: impl FnMut(usize, Range<u64>, &mut EachPiece<'_>) -> Result<(), ParquetError>,
    out: &mut W,
) -> Result<(), ParquetError> {
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(concat!("slantpath ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata(header)))
        .set_dictionary_enabled(true)
        .set_encoding(Encoding::PLAIN)
        .build();
    let mut file = SerializedFileWriter::new(out, schema(header)?, Arc::new(properties))?;
    let mut from = 0;
    while from < rows {
        let to = rows.min(from + GROUP_ROWS);
        let mut group = file.next_row_group()?;
        for (place, column) in header.columns().iter().enumerate() {
            let mut writer = group.next_column()?.ok_or_else(|| {
                ParquetError::General(format!("the schema has no column `{}`", column.name()))
            })?;
            let mut cells = Cells::of(column);
            pieces(place, from..to, &mut |column, rows| cells.push(column, rows, &mut writer))?;
            cells.flush(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        from = to;
    }
    file.close()?;
    Ok(())
}

fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("table").with_fields(fields).build().map(Arc::new)
}

fn field(column: &Column) -> Result<TypePtr, ParquetError> {
    let (physical, logical) = match column.values() {
        Values::Bool(_) => (PhysicalType::BOOLEAN, None),
        Values::F64(_) => (PhysicalType::DOUBLE, None),
        Values::I64(_) => (PhysicalType::INT64, None),
        Values::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        Values::U64(_) => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
    };
    Type::primitive_type_builder(column.name(), physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
        .map(Arc::new)
}

fn metadata(table: &Table) -> Vec<KeyValue> {
    let name = KeyValue::new("slantpath.table".to_owned(), table.name().to_owned());
    let units = table.columns().iter().filter(|column| !column.unit().symbol().is_empty()).map(|column| {
        KeyValue::new(format!("slantpath.unit.{}", column.name()), column.unit().symbol().to_owned())
    });
    core::iter::once(name).chain(units).collect()
}

/// Cells on their way into a file.
enum Cells {
    Bool(Batch<BoolType>),
    F64(Batch<DoubleType>),
    I64(Batch<Int64Type>),
    Text(Batch<ByteArrayType>),
    /// Whole numbers without sign in the same 64 bits: the logical type says that they have none.
    U64(Batch<Int64Type>),
}

impl Cells {
    fn of(column: &Column) -> Self {
        match column.values() {
            Values::Bool(_) => Self::Bool(Batch::default()),
            Values::F64(_) => Self::F64(Batch::default()),
            Values::I64(_) => Self::I64(Batch::default()),
            Values::Text(_) => Self::Text(Batch::default()),
            Values::U64(_) => Self::U64(Batch::default()),
        }
    }

    fn push(
        &mut self,
        column: &Column,
        mut rows: Range<usize>,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        match (self, column.values()) {
            (Self::Bool(batch), Values::Bool(cells)) => {
                rows.try_for_each(|row| batch.push(cells.at(row), writer))
            }
            (Self::F64(batch), Values::F64(cells)) => {
                rows.try_for_each(|row| batch.push(cells.at(row), writer))
            }
            (Self::I64(batch), Values::I64(cells)) => {
                rows.try_for_each(|row| batch.push(cells.at(row), writer))
            }
            (Self::Text(batch), Values::Text(texts)) => {
                let entries: Vec<ByteArray> =
                    texts.dictionary().map(|text| Bytes::copy_from_slice(text.as_bytes()).into()).collect();
                let codes = texts.codes();
                let cell = |row| codes.at(row).map(|code| entries[code as usize].clone());
                rows.try_for_each(|row| batch.push(cell(row), writer))
            }
            (Self::U64(batch), Values::U64(cells)) => {
                rows.try_for_each(|row| batch.push(cells.at(row).map(u64::cast_signed), writer))
            }
            _ => Err(ParquetError::General(format!("column `{}` has changed its type", column.name()))),
        }
    }

    fn flush(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Bool(batch) => batch.flush(writer),
            Self::F64(batch) => batch.flush(writer),
            Self::I64(batch) | Self::U64(batch) => batch.flush(writer),
            Self::Text(batch) => batch.flush(writer),
        }
    }
}

/// Cells of one type that are written together.
struct Batch<T: DataType> {
    present: Vec<T::T>,
    levels: Vec<i16>,
}

impl<T: DataType> Default for Batch<T> {
    fn default() -> Self {
        Self { present: Vec::new(), levels: Vec::new() }
    }
}

impl<T: DataType> Batch<T> {
    fn push(
        &mut self,
        cell: Option<T::T>,
        writer: &mut SerializedColumnWriter<'_>,
    ) -> Result<(), ParquetError> {
        self.levels.push(i16::from(cell.is_some()));
        self.present.extend(cell);
        if self.levels.len() == BATCH_ROWS { self.flush(writer) } else { Ok(()) }
    }

    fn flush(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        writer.typed::<T>().write_batch(&self.present, Some(&self.levels), None)?;
        self.present.clear();
        self.levels.clear();
        Ok(())
    }
}

const GROUP_ROWS: u64 = 1 << 20;

/// The writer looks for the end of a page after every 1,024 rows of a batch: batches of a multiple of that leave the
/// bytes of a file what they would be if all rows were given at once.
const BATCH_ROWS: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextColumn, TypedColumn};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use proptest::prelude::*;

    fn written(table: &Table) -> Bytes {
        let mut file = Vec::new();
        write_parquet(table, &mut file).unwrap();
        file.into()
    }

    type Row = (Option<f64>, Option<u64>, Option<i64>, Option<bool>, Option<String>);

    fn table_of(rows: &[Row]) -> Table {
        let mut delay = TypedColumn::<f64>::new("delay_s");
        let mut count = TypedColumn::<u64>::new("count");
        let mut change = TypedColumn::<i64>::new("change_bytes");
        let mut flag = TypedColumn::<bool>::new("is_lost");
        let mut path = TextColumn::new("path");
        for row in rows {
            delay.push_optional(row.0);
            count.push_optional(row.1);
            change.push_optional(row.2);
            flag.push_optional(row.3);
            path.push_optional(row.4.as_deref());
        }
        Table::new("t", [delay.into(), count.into(), change.into(), flag.into(), path.into()]).unwrap()
    }

    #[test]
    fn the_file_says_what_it_holds() {
        let file = SerializedFileReader::new(written(&table_of(&[]))).unwrap();
        let metadata = file.metadata().file_metadata();
        let pairs: Vec<_> = metadata
            .key_value_metadata()
            .unwrap()
            .iter()
            .map(|pair| (pair.key.as_str(), pair.value.as_deref().unwrap()))
            .collect();
        assert_eq!(
            pairs,
            [("slantpath.table", "t"), ("slantpath.unit.delay_s", "s"), ("slantpath.unit.change_bytes", "B")]
        );
        assert_eq!(metadata.num_rows(), 0);
        // Whatever reads Parquet at all reads its first version.
        assert_eq!(metadata.version(), 1);
        assert!(metadata.created_by().is_some_and(|by| by.starts_with("slantpath ")));
    }

    #[test]
    fn a_group_of_rows_is_full_before_the_next_begins() {
        let mut flag = TypedColumn::<bool>::new("is_lost");
        (0..=GROUP_ROWS).for_each(|_| flag.push_optional(Some(true)));
        let file = SerializedFileReader::new(written(&Table::new("t", [flag.into()]).unwrap())).unwrap();
        let rows = file.metadata().row_groups().iter().map(|group| group.num_rows().cast_unsigned());
        assert_eq!(rows.collect::<Vec<_>>(), [GROUP_ROWS, 1]);
    }

    #[test]
    fn what_is_repeated_is_written_once_whatever_its_type() {
        const ROWS: usize = 10_000;
        const NAME: &str = "a name as long as that of a path between two hosts over a satellite";
        let row: Row = (Some(0.25), Some(7), Some(-7), Some(true), Some(NAME.to_owned()));
        let bytes = written(&table_of(&vec![row; ROWS]));
        assert!(bytes.len() < ROWS, "{} bytes for {ROWS} rows", bytes.len());
        let file = SerializedFileReader::new(bytes).unwrap();
        let [group] = file.metadata().row_groups() else { panic!("{:?}", file.metadata()) };
        let dictionaries = group.columns().iter().map(|column| column.dictionary_page_offset().is_some());
        // A bit is no longer than a place in a dictionary.
        assert_eq!(dictionaries.collect::<Vec<_>>(), [true, true, true, false, true]);
    }

    #[test]
    fn a_full_disk_is_the_error_that_the_disk_gave() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write_parquet(&table_of(&[]), &mut Full).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    proptest! {
        #[test]
        fn an_independent_reader_gets_every_cell_back(rows in proptest::collection::vec(
            (any::<Option<f64>>(), any::<Option<u64>>(), any::<Option<i64>>(), any::<Option<bool>>(),
             proptest::option::of("[a-c]{0,2}|ü")), 0..40)) {
            let table = table_of(&rows);
            let bytes = written(&table);
            prop_assert_eq!(&bytes, &written(&table.clone()));
            let file = SerializedFileReader::new(bytes).unwrap();
            let read: Vec<Vec<Field>> = file
                .get_row_iter(None)
                .unwrap()
                .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
                .collect();
            prop_assert_eq!(read.len(), rows.len());
            for (fields, row) in read.iter().zip(&rows) {
                let optional = |field: Option<Field>| field.unwrap_or(Field::Null);
                prop_assert_eq!(&fields[..], &[
                    optional(row.0.map(Field::Double)),
                    optional(row.1.map(Field::ULong)),
                    optional(row.2.map(Field::Long)),
                    optional(row.3.map(Field::Bool)),
                    optional(row.4.clone().map(Field::Str)),
                ]);
            }
        }
    }
}
