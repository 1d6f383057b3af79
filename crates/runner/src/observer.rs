//! Whom a run tells what it gives, while it goes on.
//!
//! What grows with the length of a run (rows of messages and samples, captured packets, delays) is handed over as
//! soon as nothing will change it any more. What does not, such as counters of flows and links, stands in the run's
//! output at its end.

use std::io;

use slantpath_base::Duration;
use slantpath_results::{Quantiles, Table};

use crate::output::{Capture, RunOutput, TableKind};

/// Announcement of what a run will hand over.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// Tables whose rows come on the way, in alphabetical order.
    pub tables: Vec<GrowingTable>,
    /// Links whose packets come on the way, in alphabetical order.
    pub captures: Vec<String>,
    /// Number of subjects of which delays are told: flows, then tables of sessions, whose requests have been answered
    /// after them.
    pub delays: usize,
}

/// A table whose rows come while the run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowingTable {
    /// Kind of the table.
    pub kind: TableKind,
    /// Name and columns of the table, without rows.
    pub header: Table,
    /// Number of subjects that it has rows of: flows, directions of links, tables of sessions, systems of access. The
    /// table has all rows of the first, then those of the second, and so on. Of one subject are tables whose rows come
    /// in the order of time.
    pub subjects: usize,
    /// Need to read its rows again at the end of the run.
    pub reading: Reading,
}

/// Need to read the rows of a table again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// [`Observer::read_again`] will be asked for them.
    Again,
    /// They are not.
    Once,
}

/// Is told what a run gives while it goes on.
///
/// A run that is stopped just ends: whoever observes it drops what it has.
pub trait Observer {
    /// Announces what will come. Called once, before all else.
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()>;

    /// The next rows of one subject of an announced table.
    fn rows(&mut self, table: usize, subject: usize, rows: Table) -> io::Result<()>;

    /// Goes over all rows of a table that was announced as read [again](Reading::Again), in the order in which they
    /// came. Asked at the end, several times.
    fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()>;

    /// The next bytes of an announced capture, a pcapng file.
    fn packets(&mut self, capture: usize, pcapng: Vec<u8>) -> io::Result<()>;

    /// Delays of the next messages of a flow, or answers of a table of sessions, that count for its statistics.
    fn delays(&mut self, subject: usize, delays: &[Duration]) -> io::Result<()>;

    /// For each share the quantile in seconds of all of these delays; none where there are none. Asked at the end.
    fn delay_quantiles(&mut self, subject: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>>;
}

/// Holds in memory what a run gives.
#[derive(Debug, Default)]
pub struct Collector {
    tables: Vec<Vec<Table>>,
    captures: Vec<Capture>,
    delays: Vec<Vec<f64>>,
}

impl Observer for Collector {
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()> {
        let empty = |table: &GrowingTable| vec![table.header.clone(); table.subjects.max(1)];
        self.tables = announcement.tables.iter().map(empty).collect();
        let empty = |link: &String| Capture { link: link.clone(), pcapng: Vec::new() };
        self.captures = announcement.captures.iter().map(empty).collect();
        self.delays = vec![Vec::new(); announcement.delays];
        Ok(())
    }

    fn rows(&mut self, table: usize, subject: usize, rows: Table) -> io::Result<()> {
        assert!(self.tables[table][subject].append(&rows), "rows come under the columns that were announced");
        Ok(())
    }

    fn read_again(&mut self, table: usize, each: &mut dyn FnMut(&Table)) -> io::Result<()> {
        self.tables[table].iter().for_each(each);
        Ok(())
    }

    fn packets(&mut self, capture: usize, mut pcapng: Vec<u8>) -> io::Result<()> {
        self.captures[capture].pcapng.append(&mut pcapng);
        Ok(())
    }

    fn delays(&mut self, subject: usize, delays: &[Duration]) -> io::Result<()> {
        self.delays[subject].extend(delays.iter().map(|delay| delay.as_secs_f64()));
        Ok(())
    }

    fn delay_quantiles(&mut self, subject: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>> {
        let quantiles = Quantiles::of(std::mem::take(&mut self.delays[subject]));
        Ok(shares.iter().map(|share| quantiles.at(*share)).collect())
    }
}

impl Collector {
    /// The run with all that was collected.
    pub fn complete(self, mut output: RunOutput) -> RunOutput {
        for parts in self.tables {
            let name = parts.first().map_or_else(String::new, |part| part.name().to_owned());
            output.tables.push(Table::stacked(name, parts).expect("parts have the columns of their table"));
        }
        output.tables.sort_by(|one, other| one.name().cmp(other.name()));
        output.captures = self.captures;
        output
    }
}
