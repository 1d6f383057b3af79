//! Ports of tables of sessions, which follow from the order of the tables.

use core::ops::RangeInclusive;

/// Ports of servers, one a table. Flows have those from 20,000 to 29,999 and from 40,000 to 49,999.
const SERVER_PORTS: u16 = 30_000;
/// Ports from which sessions are opened: each table has an equal part of them.
const SOURCE_PORTS: RangeInclusive<u16> = 50_000..=64_999;

/// Ports of the sessions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    /// Port of the server.
    pub(crate) server: u16,
    /// Ports of the openers.
    pub(crate) sources: RangeInclusive<u16>,
}

impl Ports {
    /// Ports of one of so many tables, by its number; `None` if there are too many tables.
    pub(crate) fn of(number: usize, tables: usize) -> Option<Self> {
        let (number, tables) = (u16::try_from(number).ok()?, u16::try_from(tables).ok()?);
        let each = SOURCE_PORTS.len() / usize::from(tables);
        let each = u16::try_from(each).ok().filter(|each| *each > 0)?;
        let first = SOURCE_PORTS.start().checked_add(number.checked_mul(each)?)?;
        let last = first.checked_add(each - 1).filter(|last| SOURCE_PORTS.contains(last))?;
        Some(Self { server: SERVER_PORTS.checked_add(number)?, sources: first..=last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_equal_parts_of_the_source_ports_one_behind_the_other() {
        assert_eq!(Ports::of(0, 1), Some(Ports { server: 30_000, sources: 50_000..=64_999 }));
        for tables in [1, 2, 3, 7, 4_000, 15_000] {
            let parts: Vec<_> =
                (0..tables).map(|number| Ports::of(number, tables).expect("a part").sources).collect();
            let each = 15_000 / tables;
            assert!(parts.iter().all(|part| part.len() == each), "{tables}: {parts:?}");
            assert_eq!(*parts[0].start(), 50_000);
            assert!(
                parts.windows(2).all(|pair| *pair[1].start() == pair[0].end() + 1),
                "{tables}: {parts:?}"
            );
            assert!(parts.iter().all(|part| *part.end() < 65_000), "{tables}: {parts:?}");
        }
        assert_eq!([Ports::of(0, 15_001), Ports::of(3, 3), Ports::of(0, 70_000)], [None, None, None]);
    }
}
