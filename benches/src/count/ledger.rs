//! The counts that were last committed, and how far a new count may be from them.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::rounds::Failure;

/// A count may grow by so much before it is a fault, as a share of the ledger's.
const GROWTH_MAX: f64 = 0.05;

/// Fewer allocations a unit than this are those of buffers that grow now and then.
const ALLOCATIONS_NOTICED: f64 = 0.005;

/// Costs of one unit of a case.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Instructions of one unit.
    pub instructions: f64,
    /// Allocations of one unit.
    pub allocations: f64,
}

/// Verdict on counts beside the ledger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within 5 %.
    AsBefore,
    /// Less by more than 5 %: the ledger is to be written anew, so that it holds the gain.
    Better,
    /// The ledger has no such case.
    New,
    /// More by more than 5 %.
    Worse,
}

/// Counts by the names of their cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger(BTreeMap<String, Counts>);

impl Ledger {
    /// Reads what [`Ledger::text`] wrote.
    ///
    /// # Errors
    /// If the text is not a ledger.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        Ok(Self(toml::from_str(text)?))
    }

    /// The ledger as a file.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Instructions and allocations a packet-hop or a message: `make counts` holds the code to them.\n\
             # Written by `make counts COUNTS=--write`.\n",
        );
        for (name, Counts { instructions, allocations }) in &self.0 {
            write!(text, "\n[{name}]\ninstructions = {instructions:.1}\nallocations = {allocations:.4}\n")
                .expect("a text takes what is written");
        }
        text
    }

    /// The counts of a case.
    pub fn get(&self, case: &str) -> Option<Counts> {
        self.0.get(case).copied()
    }

    /// Replaces the counts of a case.
    pub fn set(&mut self, case: &str, counts: Counts) {
        self.0.insert(case.to_owned(), counts);
    }

    /// Compares new counts of a case with the ledger's.
    pub fn judge(&self, case: &str, counts: Counts) -> Verdict {
        let Some(before) = self.get(case) else { return Verdict::New };
        let instructions_change = GROWTH_MAX * before.instructions;
        let allocations_change = (GROWTH_MAX * before.allocations).max(ALLOCATIONS_NOTICED);
        if counts.instructions > before.instructions + instructions_change
            || counts.allocations > before.allocations + allocations_change
        {
            Verdict::Worse
        } else if counts.instructions < before.instructions - instructions_change
            || counts.allocations < before.allocations - allocations_change
        {
            Verdict::Better
        } else {
            Verdict::AsBefore
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let mut ledger = Ledger::default();
        ledger.set("pair", Counts { instructions: 1_000.0, allocations: 2.0 });
        ledger.set("dumbbell", Counts { instructions: 500.0, allocations: 0.0 });
        ledger
    }

    #[test]
    fn a_count_may_grow_by_a_twentieth_and_no_more() {
        let judge = |instructions, allocations| ledger().judge("pair", Counts { instructions, allocations });
        assert_eq!(judge(1_050.0, 2.0), Verdict::AsBefore);
        assert_eq!(judge(1_051.0, 2.0), Verdict::Worse);
        assert_eq!(judge(1_000.0, 2.11), Verdict::Worse);
        assert_eq!(judge(950.0, 1.9), Verdict::AsBefore);
        assert_eq!(judge(949.0, 2.0), Verdict::Better);
        assert_eq!(judge(1_000.0, 1.8), Verdict::Better);
    }

    #[test]
    fn an_allocation_a_unit_where_there_was_none_is_noticed() {
        let judge = |allocations| ledger().judge("dumbbell", Counts { instructions: 500.0, allocations });
        assert_eq!(judge(0.004), Verdict::AsBefore);
        assert_eq!(judge(0.006), Verdict::Worse);
    }

    #[test]
    fn a_case_that_the_ledger_does_not_have_is_new() {
        assert_eq!(ledger().judge("star", Counts { instructions: 1.0, allocations: 0.0 }), Verdict::New);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let ledger = ledger();
        assert_eq!(Ledger::parse(&ledger.text()).expect("its own text"), ledger);
        assert!(Ledger::parse("[pair]\ninstructions = 1.0\n").is_err());
    }
}
