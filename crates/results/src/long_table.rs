//! Tables that are too long to be held: they lie in spools and are read in blocks.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::column::{Column, TypedColumn};
use crate::spool::{SpoolBlock, SpoolFile};
use crate::table::Table;

/// A table whose rows lie in some streams of a spool, those of the first stream first.
#[derive(Clone, Debug)]
pub struct SpooledTable {
    /// Name and columns of the table, without rows.
    pub header: Table,
    /// Spool that holds its rows.
    pub spool: Arc<SpoolFile>,
    /// Streams of the spool that hold its rows.
    pub streams: Range<usize>,
    /// Number of rows.
    pub rows: u64,
}

/// Spooled tables of one kind below each other, each under a key that tells its rows from those of the others.
#[derive(Clone, Debug)]
pub struct LongTable {
    header: Table,
    parts: Vec<(u64, SpooledTable)>,
}

/// A place in a long table; by default its top.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursor {
    part: usize,
    /// The stream of `part` to be opened next.
    stream: usize,
    /// Block that is being read, and the number of its rows that have been read.
    block: Option<(SpoolBlock, usize)>,
}

impl SpooledTable {
    /// Appends rows to a spool's block, so that each column can be read alone.
    pub fn encode(rows: &Table, out: &mut Vec<u8>) {
        let columns = rows.columns();
        let lengths = out.len() + 16;
        for number in [rows.rows(), columns.len()] {
            out.extend_from_slice(&(number as u64).to_le_bytes());
        }
        out.resize(lengths + 8 * columns.len(), 0);
        for (place, column) in columns.iter().enumerate() {
            let before = out.len();
            column.encode(out);
            let len = (out.len() - before) as u64;
            out[lengths + 8 * place..lengths + 8 * (place + 1)].copy_from_slice(&len.to_le_bytes());
        }
    }

    /// Reads what [`SpooledTable::encode`] has written of rows with the columns of `header`. Nothing if it is something
    /// else.
    pub fn decode(header: &Table, block: &[u8]) -> Option<Table> {
        let columns = header.columns().len();
        let mut rest = block.get(16 + 8 * columns..)?;
        let columns: Option<Vec<Column>> = (0..columns).map(|_| Column::decode(&mut rest)).collect();
        let table = Table::new(header.name(), columns?).ok()?;
        table.has_columns_of(header).then_some(table)
    }

    fn numbers(&self, block: &SpoolBlock, from: u64, count: usize) -> io::Result<Vec<u64>> {
        let bytes = self.spool.read_part(block, from, 8 * count as u64)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|number| u64::from_le_bytes(*number)).collect())
    }

    fn rows_of(&self, block: &SpoolBlock) -> io::Result<usize> {
        let rows = self.numbers(block, 0, 1)?;
        usize::try_from(rows[0]).map_err(|_| self.spool.damaged())
    }

    /// One column of a block.
    fn column(&self, block: &SpoolBlock, column: usize) -> io::Result<Column> {
        let all = self.header.columns().len();
        let lengths = self.numbers(block, 16, all)?;
        let before: u64 = lengths[..column].iter().sum();
        let bytes = self.spool.read_part(block, 16 + 8 * all as u64 + before, lengths[column])?;
        Column::decode(&mut &bytes[..]).ok_or_else(|| self.spool.damaged())
    }

    fn table(&self, block: &SpoolBlock) -> io::Result<Table> {
        let columns = (0..self.header.columns().len()).map(|column| self.column(block, column));
        let table = Table::new(self.header.name(), columns.collect::<io::Result<Vec<_>>>()?);
        table.ok().filter(|table| table.has_columns_of(&self.header)).ok_or_else(|| self.spool.damaged())
    }
}

impl LongTable {
    /// Lays tables below each other, with a column `key` in front. Nothing if there is none, or if they differ in their
    /// columns.
    pub fn stacked(key: &str, parts: impl IntoIterator<Item = (u64, SpooledTable)>) -> Option<Self> {
        let parts: Vec<(u64, SpooledTable)> = parts.into_iter().collect();
        let (_, first) = parts.first()?;
        let header = first.header.clone().keyed([TypedColumn::<u64>::new(key).into()]).ok()?;
        parts
            .iter()
            .all(|(_, part)| part.header.has_columns_of(&first.header))
            .then_some(Self { header, parts })
    }

    /// Name and columns of the table, without rows.
    pub const fn header(&self) -> &Table {
        &self.header
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|(_, part)| part.rows).sum()
    }

    /// Hands over the rows, some thousands at a time.
    pub fn each_block(&self, mut each: impl FnMut(&Table) -> io::Result<()>) -> io::Result<()> {
        let mut cursor = Cursor::default();
        while let Some((part, block)) = self.block(&mut cursor)? {
            let (number, table) = &self.parts[part];
            let rows = table.table(&block)?;
            let key = TypedColumn::<u64>::repeated(self.key(), *number, rows.rows());
            each(&rows.keyed([key.into()]).map_err(|_| table.spool.damaged())?)?;
            self.pass(&mut cursor)?;
        }
        Ok(())
    }

    fn key(&self) -> &str {
        self.header.columns()[0].name()
    }

    /// Gives the next `rows` cells of a column in pieces, and moves the cursor behind them.
    pub(crate) fn each_piece(
        &self,
        cursor: &mut Cursor,
        column: usize,
        mut rows: u64,
        mut each: impl FnMut(&Column, Range<usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        while rows > 0 {
            let Some((part, block)) = self.block(cursor)? else {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
            };
            let (number, table) = &self.parts[part];
            let behind = cursor.block.map_or(0, |(_, behind)| behind);
            let all = table.rows_of(&block)?;
            let left = all.checked_sub(behind).ok_or_else(|| table.spool.damaged())?;
            let taken = usize::try_from(rows).map_or(left, |rows| rows.min(left));
            let cells = match column.checked_sub(1) {
                None => TypedColumn::<u64>::repeated(self.key(), *number, all).into(),
                Some(column) => table.column(&block, column)?,
            };
            let is_sound = cells.len() == all
                && cells.values().type_name() == self.header.columns()[column].values().type_name();
            if !is_sound {
                return Err(table.spool.damaged());
            }
            each(&cells, behind..behind + taken)?;
            rows -= taken as u64;
            if behind + taken == all {
                self.pass(cursor)?;
            } else {
                cursor.block = Some((block, behind + taken));
            }
        }
        Ok(())
    }

    /// The block under the cursor, which is moved on to the next one where it stands between two streams.
    fn block(&self, cursor: &mut Cursor) -> io::Result<Option<(usize, SpoolBlock)>> {
        loop {
            if let Some((block, _)) = cursor.block {
                return Ok(Some((cursor.part, block)));
            }
            let Some((_, part)) = self.parts.get(cursor.part) else { return Ok(None) };
            if cursor.stream < part.streams.len() {
                cursor.block = part.spool.first(part.streams.start + cursor.stream)?.map(|block| (block, 0));
                cursor.stream += 1;
            } else {
                *cursor = Cursor { part: cursor.part + 1, stream: 0, block: None };
            }
        }
    }

    /// Moves the cursor behind its block.
    fn pass(&self, cursor: &mut Cursor) -> io::Result<()> {
        if let (Some((block, _)), Some((_, part))) = (cursor.block, self.parts.get(cursor.part)) {
            cursor.block = part.spool.next(&block)?.map(|block| (block, 0));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    use crate::spool::Spool;
    use crate::{Format, TextColumn, write_long_table, write_table};
    use proptest::prelude::*;

    fn rows(from: usize, count: usize, spread: usize) -> Table {
        let mut delay = TypedColumn::<f64>::new("delay_s");
        let mut number = TypedColumn::<u64>::new("number");
        let mut change = TypedColumn::<i64>::new("change_bytes");
        let mut flag = TypedColumn::<bool>::new("is_lost");
        let mut path = TextColumn::new("path");
        for row in from..from + count {
            delay.push_optional((row % 7 != 3).then_some(row as f64 / 1e3));
            number.push((row % spread) as u64);
            change.push(-i64::try_from(row).unwrap());
            flag.push_optional((row % 5 != 0).then_some(row % 3 == 0));
            path.push_optional((row % 11 != 0).then(|| ["a", "b", "ü"][row % 3]));
        }
        Table::new("t", [delay.into(), number.into(), change.into(), flag.into(), path.into()]).unwrap()
    }

    /// A directory for the spools of a test.
    struct Place(PathBuf);

    impl Place {
        fn new(test: &str) -> Self {
            Self(std::env::temp_dir().join(format!("slantpath-long-{test}-{}", std::process::id())))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Writes blocks of so many rows into the streams of a spool; gives it back with the table that all rows make.
    fn spooled(path: &Path, blocks: &[(usize, usize)], spread: usize) -> (SpooledTable, Table) {
        let mut spool = Spool::create(path, 3).unwrap();
        let mut parts = vec![Vec::new(); 3];
        let mut from = 0;
        for (stream, count) in blocks {
            let table = rows(from, *count, spread);
            let mut bytes = Vec::new();
            SpooledTable::encode(&table, &mut bytes);
            spool.append(*stream, &bytes).unwrap();
            parts[*stream].push(table);
            from += count;
        }
        let header = rows(0, 0, spread);
        let whole = Table::stacked("t", [header.clone()].into_iter().chain(parts.into_iter().flatten()));
        let spool = Arc::new(spool.finish(&[]).unwrap());
        (SpooledTable { header, spool, streams: 0..3, rows: from as u64 }, whole.unwrap())
    }

    fn assert_equal_files(parts: Vec<(SpooledTable, Table)>) {
        let (spooled, held): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let long = LongTable::stacked("run", (0..).zip(spooled)).unwrap();
        let held = held.into_iter().zip(0..).map(|(table, run)| {
            let run = TypedColumn::<u64>::repeated("run", run, table.rows());
            table.keyed([run.into()]).unwrap()
        });
        let held = Table::stacked("t", held).unwrap();
        assert_eq!(long.rows(), held.rows() as u64);
        for format in Format::ALL {
            let (mut ours, mut wanted) = (Vec::new(), Vec::new());
            write_long_table(&long, format, &mut ours).unwrap();
            write_table(&held, format, &mut wanted).unwrap();
            assert!(ours == wanted, "{format:?} differs");
        }
    }

    proptest! {
        #[test]
        fn a_spooled_table_makes_the_files_of_one_that_is_held(
            runs in proptest::collection::vec(proptest::collection::vec((0_usize..3, 0_usize..5), 0..8), 1..4),
        ) {
            let place = Place::new("files");
            let part = |(run, blocks): (usize, &Vec<_>)| spooled(&place.0.join(run.to_string()), blocks, 4);
            assert_equal_files(runs.iter().enumerate().map(part).collect());
        }
    }

    /// More rows than a Parquet row group and batch have, of so many values that the dictionary is given up.
    #[test]
    fn the_rows_of_many_batches_make_the_same_file() {
        let blocks: Vec<(usize, usize)> = (0..400).map(|block| (block % 3, 2_000 + block)).collect();
        let rows: usize = blocks.iter().map(|(_, rows)| rows).sum();
        let place = Place::new("many");
        let [first, second] = ["0", "1"].map(|run| place.0.join(run));
        let parts = vec![spooled(&first, &blocks, usize::MAX), spooled(&second, &blocks[..120], usize::MAX)];
        assert!(rows > 700_000);
        assert_equal_files(parts);
    }

    #[test]
    fn tables_of_other_columns_are_no_long_table() {
        let place = Place::new("one");
        let (one, _) = spooled(&place.0.join("0"), &[(0, 1)], 1);
        let mut other = one.clone();
        other.header = Table::new("t", [TypedColumn::<u64>::new("number").into()]).unwrap();
        assert!(LongTable::stacked("run", [(0, one), (1, other)]).is_none());
        assert!(LongTable::stacked("run", []).is_none());
    }
}
