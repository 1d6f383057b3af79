//! Record of single drops, if they are asked for.

use std::io;

use slantpath_scenario::build::RunNetwork;

use super::tables::drops;
use crate::observer::Observer;

/// Most rows, as of samples. The counters of links have all drops.
const MOST: usize = 100_000_000;

/// Drops that have been handed over.
pub(super) struct DropsRecord {
    /// The place of `drops` among the tables that were announced.
    table: usize,
    rows: usize,
}

impl DropsRecord {
    pub(super) const fn new(table: usize) -> Self {
        Self { table, rows: 0 }
    }
}

/// Hands over the packets that were dropped since the last call.
pub(super) fn collect(
    record: &mut Option<DropsRecord>,
    network: &mut RunNetwork<'_>,
    observer: &mut dyn Observer,
) -> io::Result<()> {
    let Some(DropsRecord { table, rows }) = record else { return Ok(()) };
    let mut dropped = network.take_drops();
    dropped.truncate(MOST - *rows);
    *rows += dropped.len();
    if dropped.is_empty() { Ok(()) } else { observer.rows(*table, 0, drops::rows(network, &dropped)) }
}
