//! What a run gives.

use slantpath_results::Table;

/// Names of all tables that a run can give.
pub const TABLES: [&str; 10] = [
    "flows",
    "hosts",
    "links",
    "messages",
    "paths",
    "queues",
    "signalling_events",
    "signalling_links",
    "signalling_load",
    "timelines",
];

/// What one run gave. Equal runs have equal outputs, byte for byte, on any machine and any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutput {
    /// The seed that all random streams derived from.
    pub seed: u64,
    /// The number of the replication.
    pub run: u64,
    /// A hash over every event of the run, in hexadecimal.
    pub digest: String,
    /// Events that happened.
    pub events: u64,
    /// How many times a packet came to the end of a link.
    pub packet_hops: u64,
    /// Tables in alphabetical order: `flows`, `hosts` and `links` always, `messages`, `paths`, `queues` and `timelines` as
    /// the scenario's probes say, `signalling_events`, `signalling_links` and `signalling_load` if it has signalling
    /// points.
    pub tables: Vec<Table>,
    /// Captured links, in alphabetical order.
    pub captures: Vec<Capture>,
}

/// The packets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The link.
    pub link: String,
    /// A pcapng file.
    pub pcapng: Vec<u8>,
}

impl RunOutput {
    /// Only the tables of these names, and no captures.
    pub(crate) fn select(self, names: &[String]) -> Self {
        let mut tables = self.tables;
        tables.retain(|table| names.iter().any(|name| name == table.name()));
        Self { tables, captures: Vec::new(), ..self }
    }

    /// The table of that name, if it was asked for.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}
