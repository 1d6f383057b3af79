//! Costs of a packet-hop or a message in instructions and in allocations: counts that no other load on the machine
//! disturbs, held to the ledger `benches/counts.toml`. They hide cache misses; the ratios of time stand beside them.

mod callgrind;
mod cases;
mod ledger;

use core::fmt;

pub use callgrind::{instructions, measured};
pub use cases::{Case, Work};
pub use ledger::{Counts, Ledger, Verdict};

/// A case's counts beside the ledger's.
#[derive(Clone, Debug)]
pub struct Row {
    /// Of the case.
    pub name: &'static str,
    /// Unit for which one is counted.
    pub unit: &'static str,
    /// Counts of this run.
    pub counts: Counts,
    /// The ledger's counts, if it has the case.
    pub before: Option<Counts>,
}

/// Counts of all cases, a row for each.
#[derive(Clone, Debug, Default)]
pub struct Table(pub Vec<Row>);

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<22} {:>12} {:>9} {:>7} {:>12}", "case", "instructions", "ledger", "", "allocations")?;
        for Row { name, unit, counts, before } in &self.0 {
            write!(f, "{name:<22} {:>12.0} ", counts.instructions)?;
            match before {
                Some(before) => {
                    let change = 100.0 * (counts.instructions / before.instructions - 1.0);
                    write!(f, "{:>9.0} {change:>+6.1}%", before.instructions)?;
                }
                None => write!(f, "{:>9} {:>7}", "new", "")?,
            }
            writeln!(f, " {:>12.4}  a {unit}", counts.allocations)?;
        }
        Ok(())
    }
}
