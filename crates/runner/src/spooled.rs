//! Runs whose growing results lie on the disk: written while the run goes on, read when tables and captures are made.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_results::{Spool, SpoolFile, SpooledTable, Table, quantiles_in_passes};

use crate::observer::{Announcement, GrowingTable, Observer, Reading};
use crate::output::RunOutput;

/// Records that grow with the length of a finished run: its tables of messages and samples, and its captures. They lie
/// in a file, one for the run.
#[derive(Debug)]
pub struct RunRecords {
    tables: Vec<SpooledTable>,
    captures: Vec<String>,
    spool: Arc<SpoolFile>,
}

/// Rows of a subject that are written together. A look at a run gives a few, a block of a file shall be worth its
/// place.
const ROWS_OF_A_BLOCK: usize = 4_096;

/// Rows of all subjects that are held back. Beyond that, all are written, whether or not they fill a block.
const ROWS_HELD: usize = 65_536;

/// Delays of a subject that are written together.
const DELAYS_OF_A_BLOCK: usize = 4_096;

/// Delays of all subjects that are held back.
const DELAYS_HELD: usize = 65_536;

/// The observer that writes a run into its file.
pub(crate) struct RunSpool<'a> {
    path: &'a Path,
    /// From the announcement on.
    state: Option<State>,
}

struct State {
    spool: Spool,
    tables: Vec<TableState>,
    captures: Vec<String>,
    /// The stream of the first capture.
    first_capture: usize,
    /// Rows that are held back.
    held: usize,
    delays: Delays,
}

struct TableState {
    header: Table,
    /// The stream of the first subject.
    first: usize,
    /// Rows of each subject that are held back.
    held: Vec<Table>,
    rows: u64,
}

/// The delays of each subject, on their way into streams of a spool.
struct Delays {
    /// The stream of the first one.
    first: usize,
    subjects: Vec<DelaysOfSubject>,
    held: usize,
}

#[derive(Clone, Default)]
struct DelaysOfSubject {
    /// Delays that are not written yet, in nanoseconds.
    held: Vec<u64>,
    count: usize,
}

impl<'a> RunSpool<'a> {
    /// Writes into a file that will be called `path`.
    pub(crate) const fn new(path: &'a Path) -> Self {
        Self { path, state: None }
    }

    fn state(&mut self) -> &mut State {
        self.state.as_mut().expect("a run announces what it gives")
    }

    /// Writes the rest, with what `encode` makes of the run's output, and gives the file its name.
    pub(crate) fn finish(
        self,
        output: RunOutput,
        encode: impl FnOnce(&RunOutput) -> Vec<u8>,
    ) -> io::Result<(RunOutput, RunRecords)> {
        let mut state = self.state.expect("a run announces what it gives");
        state.write_rows()?;
        let mut head = Vec::new();
        put(&mut head, state.tables.len());
        for table in &state.tables {
            put(&mut head, table.held.len());
            head.extend_from_slice(&table.rows.to_le_bytes());
            put_bytes(&mut head, table.header.name().as_bytes());
            let mut columns = Vec::new();
            for column in table.header.columns() {
                column.encode(&mut columns);
            }
            put(&mut head, table.header.columns().len());
            put_bytes(&mut head, &columns);
        }
        put(&mut head, state.captures.len());
        for link in &state.captures {
            put_bytes(&mut head, link.as_bytes());
        }
        head.extend(encode(&output));
        let spool = Arc::new(state.spool.finish(&head)?);
        let table = |table: TableState| SpooledTable {
            streams: table.first..table.first + table.held.len(),
            header: table.header,
            spool: Arc::clone(&spool),
            rows: table.rows,
        };
        let tables = state.tables.into_iter().map(table).collect();
        Ok((output, RunRecords { tables, captures: state.captures, spool }))
    }
}

impl Observer for RunSpool<'_> {
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()> {
        let mut streams = 0;
        let mut next = |count: usize| {
            streams += count;
            streams - count
        };
        let tables = announcement.tables.iter();
        let tables = tables.map(|table| TableState::new(table, next(table.subjects))).collect();
        let first_capture = next(announcement.captures.len());
        let delays = Delays::new(next(announcement.delays), announcement.delays);
        let spool = Spool::create(self.path, streams)?;
        let captures = announcement.captures.clone();
        self.state = Some(State { spool, tables, captures, first_capture, held: 0, delays });
        Ok(())
    }

    fn rows(&mut self, table: usize, subject: usize, rows: Table) -> io::Result<()> {
        let state = self.state();
        let own = &mut state.tables[table];
        own.rows += rows.rows() as u64;
        state.held += rows.rows();
        let held = &mut own.held[subject];
        assert!(held.append(&rows), "rows come under the columns that were announced");
        if held.rows() >= ROWS_OF_A_BLOCK {
            state.held -= own.write(subject, &mut state.spool)?;
        }
        if state.held >= ROWS_HELD { state.write_rows() } else { Ok(()) }
    }

    fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        let State { spool, tables, .. } = self.state();
        tables[table].read_back(Some(spool), each)
    }

    fn packets(&mut self, capture: usize, pcapng: Vec<u8>) -> io::Result<()> {
        let state = self.state();
        state.spool.append(state.first_capture + capture, &pcapng)
    }

    fn delays(&mut self, subject: usize, delays: &[Duration]) -> io::Result<()> {
        let State { spool, delays: own, .. } = self.state();
        own.add(subject, delays, &mut |stream, block| spool.append(stream, block))
    }

    fn delay_quantiles(&mut self, subject: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>> {
        let State { spool, delays, .. } = self.state();
        delays.quantiles(subject, shares, Some(spool))
    }
}

impl State {
    fn write_rows(&mut self) -> io::Result<()> {
        for table in &mut self.tables {
            for subject in 0..table.held.len() {
                table.write(subject, &mut self.spool)?;
            }
        }
        self.held = 0;
        Ok(())
    }
}

impl TableState {
    fn new(table: &GrowingTable, first: usize) -> Self {
        let held = vec![table.header.clone(); table.subjects];
        Self { header: table.header.clone(), first, held, rows: 0 }
    }

    /// Goes over all rows, those that are written and those that are held back.
    fn read_back(&self, spool: Option<&Spool>, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        for (subject, held) in self.held.iter().enumerate() {
            if let Some(spool) = spool {
                spool.read_back(self.first + subject, |block| {
                    each(&SpooledTable::decode(&self.header, block).ok_or(io::ErrorKind::InvalidData)?);
                    Ok(())
                })?;
            }
            each(held);
        }
        Ok(())
    }

    /// Writes the rows of a subject that are held back; gives how many there were.
    fn write(&mut self, subject: usize, spool: &mut Spool) -> io::Result<usize> {
        let rows = self.held[subject].rows();
        if rows > 0 {
            let mut block = Vec::new();
            SpooledTable::encode(&self.held[subject], &mut block);
            spool.append(self.first + subject, &block)?;
            self.held[subject] = self.header.clone();
        }
        Ok(rows)
    }
}

/// Adds a block to a stream.
type Append<'a> = dyn FnMut(usize, &[u8]) -> io::Result<()> + 'a;

impl Delays {
    fn new(first: usize, subjects: usize) -> Self {
        Self { first, subjects: vec![DelaysOfSubject::default(); subjects], held: 0 }
    }

    fn add(&mut self, subject: usize, delays: &[Duration], append: &mut Append<'_>) -> io::Result<()> {
        let own = &mut self.subjects[subject];
        own.held.extend(delays.iter().map(|delay| delay.as_nanos()));
        own.count += delays.len();
        self.held += delays.len();
        if own.held.len() >= DELAYS_OF_A_BLOCK {
            self.write(subject, append)?;
        }
        if self.held >= DELAYS_HELD {
            for subject in 0..self.subjects.len() {
                self.write(subject, append)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, subject: usize, append: &mut Append<'_>) -> io::Result<()> {
        let held = std::mem::take(&mut self.subjects[subject].held);
        self.held -= held.len();
        if held.is_empty() {
            return Ok(());
        }
        let block: Vec<u8> = held.iter().flat_map(|delay| delay.to_le_bytes()).collect();
        append(self.first + subject, &block)
    }

    fn quantiles(
        &self,
        subject: usize,
        shares: &[f64],
        spool: Option<&Spool>,
    ) -> io::Result<Vec<Option<f64>>> {
        let DelaysOfSubject { held, count } = &self.subjects[subject];
        let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64();
        quantiles_in_passes(*count, shares, seconds, |each| {
            for delay in held {
                each(*delay);
            }
            spool.map_or(Ok(()), |spool| {
                spool.read_back(self.first + subject, |block| {
                    for delay in block.as_chunks::<8>().0 {
                        each(u64::from_le_bytes(*delay));
                    }
                    Ok(())
                })
            })
        })
    }
}

/// The observer that keeps nothing but what the run itself needs at its end, for the statistics of flows and its
/// digest: a few blocks, and beyond that a file that is gone with it.
pub(crate) struct TransientSpool<'a> {
    delays: Delays,
    /// Tables that will be read again.
    tables: Vec<Option<TableState>>,
    file: TransientFile<'a>,
}

/// The file, from the first block on.
struct TransientFile<'a> {
    path: &'a Path,
    streams: usize,
    spool: Option<Spool>,
}

impl TransientFile<'_> {
    fn open(&mut self) -> io::Result<&mut Spool> {
        Ok(match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::create(self.path, self.streams)?),
        })
    }
}

impl<'a> TransientSpool<'a> {
    /// Beside a file of this name that is never made.
    pub(crate) fn new(path: &'a Path) -> Self {
        let file = TransientFile { path, streams: 0, spool: None };
        Self { delays: Delays::new(0, 0), tables: Vec::new(), file }
    }
}

impl Observer for TransientSpool<'_> {
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()> {
        self.delays = Delays::new(0, announcement.delays);
        self.file.streams = announcement.delays;
        let mut state = |table: &GrowingTable| {
            (table.reading == Reading::Again).then(|| {
                self.file.streams += table.subjects;
                TableState::new(table, self.file.streams - table.subjects)
            })
        };
        self.tables = announcement.tables.iter().map(&mut state).collect();
        Ok(())
    }

    fn rows(&mut self, table: usize, subject: usize, rows: Table) -> io::Result<()> {
        let Some(own) = &mut self.tables[table] else { return Ok(()) };
        assert!(own.held[subject].append(&rows), "rows come under the columns that were announced");
        if own.held[subject].rows() >= ROWS_OF_A_BLOCK {
            own.write(subject, self.file.open()?)?;
        }
        Ok(())
    }

    fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        self.tables[table].as_ref().map_or(Ok(()), |own| own.read_back(self.file.spool.as_ref(), each))
    }

    fn packets(&mut self, _: usize, _: Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    fn delays(&mut self, subject: usize, delays: &[Duration]) -> io::Result<()> {
        let Self { delays: own, file, .. } = self;
        own.add(subject, delays, &mut |stream, block| file.open()?.append(stream, block))
    }

    fn delay_quantiles(&mut self, subject: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>> {
        self.delays.quantiles(subject, shares, self.file.spool.as_ref())
    }
}

impl RunRecords {
    /// Opens the file of a run. Nothing if there is none, or none that is whole; `decode` makes the run's output of its
    /// bytes.
    pub(crate) fn open(
        path: &Path,
        decode: impl FnOnce(&[u8]) -> Option<RunOutput>,
    ) -> Option<(RunOutput, Self)> {
        let spool = Arc::new(SpoolFile::open(path)?);
        let mut rest = spool.head();
        let mut streams = 0_usize;
        let mut tables = Vec::new();
        for _ in 0..take(&mut rest)? {
            let subjects = usize::try_from(take(&mut rest)?).ok()?;
            let rows = take(&mut rest)?;
            let name = core::str::from_utf8(take_bytes(&mut rest)?).ok()?.to_owned();
            let count = take(&mut rest)?;
            let mut columns = take_bytes(&mut rest)?;
            let columns = (0..count).map(|_| slantpath_results::Column::decode(&mut columns));
            let header = Table::new(name, columns.collect::<Option<Vec<_>>>()?).ok()?;
            let begin = streams;
            streams = begin.checked_add(subjects)?;
            tables.push(SpooledTable { header, spool: Arc::clone(&spool), streams: begin..streams, rows });
        }
        let mut captures = Vec::new();
        for _ in 0..take(&mut rest)? {
            captures.push(core::str::from_utf8(take_bytes(&mut rest)?).ok()?.to_owned());
        }
        let output = decode(rest)?;
        let is_sound = streams.checked_add(captures.len())? <= spool.streams();
        is_sound.then_some((output, Self { tables, captures, spool }))
    }

    /// Tables of messages and samples, in alphabetical order.
    pub fn tables(&self) -> &[SpooledTable] {
        &self.tables
    }

    /// The links that were captured, in alphabetical order.
    pub fn captures(&self) -> &[String] {
        &self.captures
    }

    /// Writes the pcapng file of a link that was captured.
    pub fn write_capture(&self, link: &str, out: &mut dyn Write) -> io::Result<()> {
        let Some(place) = self.captures.iter().position(|captured| captured == link) else { return Ok(()) };
        let first = self.tables.last().map_or(0, |table| table.streams.end);
        let mut next = self.spool.first(first + place)?;
        while let Some(block) = next {
            out.write_all(&self.spool.read(&block)?)?;
            next = self.spool.next(&block)?;
        }
        Ok(())
    }
}

fn put(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

fn put_bytes(bytes: &mut Vec<u8>, added: &[u8]) {
    put(bytes, added.len());
    bytes.extend_from_slice(added);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let (number, later) = rest.split_first_chunk::<8>()?;
    *rest = later;
    Some(u64::from_le_bytes(*number))
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take(rest)?).ok()?;
    let (taken, later) = rest.split_at_checked(len)?;
    *rest = later;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use core::ops::ControlFlow;

    use slantpath_results::{Format, LongTable, TypedColumn, write_long_table, write_table};

    use super::*;
    use crate::{
        RunOptions, Scenario, Store, Workers, replicate_stored, replicate_without_records, run, run_observed,
    };

    /// Two flows whose rows come interleaved, more of them than a block has.
    fn scenario() -> Scenario {
        let overrides = [
            "scenario.duration=200 s",
            "scenario.warm_up=10 s",
            "probes.queues=on change",
            "probes.paths=100 ms",
            "flows.signalling.count=2",
            "probes.intervals=1 s",
            "probes.delays=1 %",
        ];
        let text = include_str!("../../../scenarios/first.toml");
        let files = crate::files_in("../../scenarios".as_ref());
        Scenario::parse("first.toml", text, &overrides.map(str::to_owned), files).unwrap()
    }

    fn options() -> RunOptions {
        RunOptions { captures: vec!["satellite".to_owned()], ..RunOptions::default() }
    }

    #[test]
    fn a_run_on_the_disk_makes_the_files_of_one_in_memory() {
        let directory = std::env::temp_dir().join(format!("slantpath-spooled-{}", std::process::id()));
        let store = Store::new(&directory);
        let scenario = scenario();
        let make = || replicate_stored(&scenario, &options(), 2, &store, Workers::new(1)).unwrap();
        let (made, found) = (make(), make());
        for ((run_number, made), found) in (0..).zip(made).zip(found) {
            let (output, records) = made.unwrap();
            let whole = run(&scenario, &RunOptions { run: run_number, ..options() }).unwrap();
            assert!(whole.table("messages").is_some_and(|messages| messages.rows() > 2 * ROWS_OF_A_BLOCK));
            let (again, found) = found.unwrap();
            assert_eq!(again, output);
            for records in [records, found] {
                assert_same_records(&records, &whole);
            }
            let held = whole.tables.iter().filter(|table| output.table(table.name()).is_some());
            assert!(held.eq(&output.tables) && output.tables.len() == 5);
        }
        store.clear().unwrap();
        assert!(!directory.exists());
    }

    #[test]
    fn events_of_signalling_lie_on_the_disk_and_stand_in_the_digest() {
        let directory = std::env::temp_dir().join(format!("slantpath-events-{}", std::process::id()));
        let store = Store::new(&directory);
        let text = include_str!("../../../scenarios/sigtran-gateway-over-geo.toml");
        let files = crate::files_in("../../scenarios".as_ref());
        let scenario = Scenario::parse("gateway.toml", text, &[], files).unwrap();
        let options = RunOptions::default();
        let mut made = replicate_stored(&scenario, &options, 1, &store, Workers::new(1)).unwrap();
        let (output, records) = made.pop().flatten().unwrap();
        let whole = run(&scenario, &options).unwrap();
        assert_eq!(output.digest, whole.digest);
        let tables = ["messages", "signalling_events", "signalling_failovers", "signalling_server_events"];
        assert_same_tables(&records, &whole, &tables);
        assert!(whole.table("signalling_server_events").is_some_and(|events| events.rows() > 10));
        store.clear().unwrap();
    }

    fn assert_same_records(records: &RunRecords, whole: &RunOutput) {
        let tables = ["flow_intervals", "link_intervals", "messages", "paths", "queues"];
        assert_same_tables(records, whole, &tables);
        let mut pcapng = Vec::new();
        records.write_capture("satellite", &mut pcapng).unwrap();
        assert!(pcapng == whole.captures[0].pcapng && pcapng.len() > 1_000_000);
    }

    fn assert_same_tables(records: &RunRecords, whole: &RunOutput, wanted: &[&str]) {
        let names: Vec<&str> = records.tables().iter().map(|table| table.header.name()).collect();
        assert_eq!(names, wanted);
        for table in records.tables() {
            let long = LongTable::stacked("run", [(7, table.clone())]).unwrap();
            let held = whole.table(table.header.name()).unwrap().clone();
            let held =
                held.clone().keyed([TypedColumn::<u64>::repeated("run", 7, held.rows()).into()]).unwrap();
            for format in Format::ALL {
                let (mut ours, mut wanted) = (Vec::new(), Vec::new());
                write_long_table(&long, format, &mut ours).unwrap();
                write_table(&held, format, &mut wanted).unwrap();
                assert!(ours == wanted, "{} as {format:?}", held.name());
            }
        }
    }

    #[test]
    fn a_run_without_records_has_the_same_statistics() {
        let scenario = scenario();
        let outputs = replicate_without_records(&scenario, &options(), 1, Workers::new(1)).unwrap();
        let output = outputs.into_iter().flatten().next().unwrap();
        let whole = run(&scenario, &options()).unwrap();
        let held = whole.tables.iter().filter(|table| output.table(table.name()).is_some());
        assert!(held.eq(&output.tables) && output.tables.len() == 5);
        assert_eq!((output.digest, output.failures), (whole.digest, whole.failures));
    }

    #[test]
    fn a_run_that_is_stopped_leaves_no_file() {
        let directory = std::env::temp_dir().join(format!("slantpath-stopped-{}", std::process::id()));
        let path = directory.join("a.run");
        let mut spool = RunSpool::new(&path);
        let mut questions = 0;
        let mut go_on = |_| {
            questions += 1;
            if questions == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let output = run_observed(&scenario(), &options(), &mut spool, &mut go_on);
        assert_eq!(output, Ok(None));
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
        drop(spool);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        std::fs::remove_dir(directory).unwrap();
    }

    #[test]
    fn a_disk_that_cannot_be_written_ends_the_run_with_the_name_of_the_file() {
        let file = std::env::temp_dir().join(format!("slantpath-no-directory-{}", std::process::id()));
        std::fs::write(&file, "a file, not a directory").unwrap();
        let path = file.join("a.run");
        let mut spool = RunSpool::new(&path);
        let output = run_observed(&scenario(), &options(), &mut spool, &mut |_| ControlFlow::Continue(()));
        let error = output.unwrap_err().to_string();
        assert!(error.starts_with("results cannot be kept: ") && error.contains("a.run: "), "{error}");
        std::fs::remove_file(file).unwrap();
    }
}
