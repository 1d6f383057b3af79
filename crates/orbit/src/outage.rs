//! Outages by script: what is out of service, from when to when.

use core::str::FromStr;
use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};

use crate::network::ContactNodeId;

/// A node or a link that is out of service for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Node or link that fails.
    pub what: Failing,
    /// Instant at which it begins.
    pub from: Instant,
    /// Instant at which it ends.
    pub until: Instant,
}

/// Target of an outage, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failing {
    /// Every contact between two nodes.
    Link(String, String),
    /// Every contact of a node.
    Node(String),
}

/// An outage that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutageError {
    /// A line that does not follow the form.
    #[error(
        "{file}:{line}: `{text}` is no outage: \
         write `from, until, node` or `from, until, node, node`, as in `10 min, 15 min, iridium-1-4`"
    )]
    Form {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// An end that is not after its start.
    #[error("the outage of `{0}` ends before it begins: give the later time second")]
    Order(String),
    /// A name that no node has.
    #[error("an outage names `{0}`, which is neither a satellite nor a site of the network")]
    Unknown(String),
}

impl Outage {
    /// Outage that keeps its date in a network that starts later by `time`, unless it is over by then.
    pub(crate) fn after(&self, time: Duration) -> Option<Self> {
        let start = Instant::START + time;
        let after = |at: Instant| Instant::START + at.saturating_since(start);
        let what = self.what.clone();
        (self.until > start).then(|| Self { what, from: after(self.from), until: after(self.until) })
    }
}

/// Reads a script of outages: a line for each, `#` for comments.
pub fn read(text: &str, file: &str) -> Result<Vec<Outage>, OutageError> {
    Ok(read_lines(text, file)?.into_iter().map(|(_, outage)| outage).collect())
}

/// As [`read`], each outage with its line, from 1, for those who find fault with it later.
pub fn read_lines(text: &str, file: &str) -> Result<Vec<(usize, Outage)>, OutageError> {
    let mut outages = Vec::new();
    for (index, row) in text.lines().enumerate() {
        let row = row.trim();
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let form = || OutageError::Form { file: file.to_owned(), line: index + 1, text: row.to_owned() };
        let parts: Vec<&str> = row.split(',').map(str::trim).collect();
        let what = match parts.as_slice() {
            [_, _, node] if !node.is_empty() => Failing::Node((*node).to_owned()),
            [_, _, a, b] if !a.is_empty() && !b.is_empty() => Failing::Link((*a).to_owned(), (*b).to_owned()),
            _ => return Err(form()),
        };
        let time =
            |text: &str| Duration::from_str(text).map(|after| Instant::START + after).map_err(|_| form());
        outages.push((index + 1, Outage { what, from: time(parts[0])?, until: time(parts[1])? }));
    }
    Ok(outages)
}

/// Outages with their nodes found, for lookup by node and by link.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutageTable {
    nodes: BTreeMap<ContactNodeId, Vec<(f64, f64)>>,
    links: BTreeMap<(ContactNodeId, ContactNodeId), Vec<(f64, f64)>>,
}

impl OutageTable {
    pub(crate) fn new(
        outages: &[Outage],
        names: &BTreeMap<String, ContactNodeId>,
    ) -> Result<Self, OutageError> {
        let find = |name: &String| names.get(name).copied().ok_or_else(|| OutageError::Unknown(name.clone()));
        let mut table = Self::default();
        for outage in outages {
            let seconds = |instant: Instant| instant.since_start().as_secs_f64();
            let time = (seconds(outage.from), seconds(outage.until));
            let (list, name) = match &outage.what {
                Failing::Node(name) => (table.nodes.entry(find(name)?).or_default(), name),
                Failing::Link(a, b) => {
                    let (first, second) = (find(a)?, find(b)?);
                    (table.links.entry((first.min(second), first.max(second))).or_default(), a)
                }
            };
            if outage.until <= outage.from {
                return Err(OutageError::Order(name.clone()));
            }
            list.push(time);
        }
        Ok(table)
    }

    /// The times at which two nodes cannot be in contact, in no order.
    pub(crate) fn of_link(&self, a: ContactNodeId, b: ContactNodeId) -> Vec<(f64, f64)> {
        let none = Vec::new();
        let lists = [
            self.nodes.get(&a).unwrap_or(&none),
            self.nodes.get(&b).unwrap_or(&none),
            self.links.get(&(a.min(b), a.max(b))).unwrap_or(&none),
        ];
        lists.into_iter().flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_and_bad_lines_are_named() {
        let outages = read("# eclipse\n10 s, 20 s, a\n1 min, 2 min, a, b\n", "o.csv").unwrap();
        assert_eq!(outages[1].what, Failing::Link("a".into(), "b".into()));
        assert!(
            read("10 s, a", "o.csv").unwrap_err().to_string().starts_with("o.csv:1: `10 s, a` is no outage")
        );
        assert!(read("10, 20, a", "o.csv").is_err());
        let names: BTreeMap<_, _> =
            [("a".to_owned(), ContactNodeId(0)), ("b".to_owned(), ContactNodeId(1))].into();
        let table = OutageTable::new(&outages, &names).unwrap();
        assert_eq!(table.of_link(ContactNodeId(1), ContactNodeId(0)), vec![(10.0, 20.0), (60.0, 120.0)]);
        assert!(OutageTable::new(&read("1 s, 2 s, c", "o").unwrap(), &names).is_err());
        assert!(OutageTable::new(&read("2 s, 1 s, a", "o").unwrap(), &names).is_err());
    }

    #[test]
    fn what_is_over_at_a_later_start_is_gone_and_the_rest_keeps_its_date() {
        let outages = read("10 s, 20 s, a\n15 s, 21 s, a\n30 s, 40 s, a\n", "o.csv").unwrap();
        let later: Vec<(u64, u64)> = outages
            .iter()
            .filter_map(|outage| outage.after(Duration::from_secs(20)))
            .map(|outage| (outage.from.as_nanos() / 1_000_000_000, outage.until.as_nanos() / 1_000_000_000))
            .collect();
        assert_eq!(later, [(0, 1), (10, 20)]);
    }
}
