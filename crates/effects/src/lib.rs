//! Tables of one row a key: what must move when a value of a file changes, and which way.
//!
//! A row file has a line for each value, `KEY = VALUE | FIGURE WAY`, below the file that it changes:
//!
//! ```text
//! base: pair                                     # bases/pair.toml
//! with: links.l.discipline = { kind = "codel" }  # also set in the run compared with, until `base:`
//! links.l.discipline.target = 50 ms | links[l, forward].dropped_codel_packets <
//! links.l.mtu = 20 B | refused at least
//! nodes.r.kind = router | mends no route leads   # refused without the value
//! place: pair links.l.forward = links[l, forward]
//! @.loss = 10 % | @.dropped_loss_packets >
//! @.delay = 80 ms | mean:messages.delay_s > | except sky.terrestrial.all
//! ```
//!
//! An empty `with:` sets nothing any more. A row with an `@` is tried at each place; a place without figures of its own
//! wants any figure to differ, which the table `run` has as `all`.
//!
//! A figure is the sum of a column over the rows that hold all texts in brackets; `max:`, `mean:` and `min:` before the
//! table take another, and `rows` counts. A column of texts gives the texts in order. Ways are `>`, `<`, `!=`, and
//! `= TEXT`. What is refused says the text behind `refused`, or behind `mends` if it is so without the value alone.

mod figure;
mod keys;
mod row;
mod schema;
mod word;

pub use figure::{PlainColumn, PlainTable};
pub use keys::Keys;
pub use row::{Row, rows};
pub use schema::expanded;
pub use word::word_at;

use std::collections::BTreeMap;

use figure::moved;
use row::Check;

/// Tables of a run, or the reason for which a file was refused.
pub type FileOutcome = Result<Vec<PlainTable>, String>;

/// Runs each row's file with its value and without, and compares. Gives the rows that did not hold, each with what
/// moved.
pub fn failures(rows: &[Row], run: &dyn Fn(&str, &[String]) -> FileOutcome) -> Vec<String> {
    let mut known: BTreeMap<(&str, &[String]), FileOutcome> = BTreeMap::new();
    let mut failures = Vec::new();
    for row in rows {
        let settings: Vec<String> = row.given.iter().chain([&row.assignment]).cloned().collect();
        let after = run(&row.base, &settings);
        // What is refused may be so with what is given already.
        if let (Check::Refused(wanted), Err(reason)) = (&row.check, &after)
            && reason.contains(wanted)
        {
            continue;
        }
        let before =
            known.entry((&row.base, &row.given)).or_insert_with(|| run(&row.base, &row.given)).as_ref();
        if let Err(fault) = judge(row, before, after.as_ref()) {
            failures.push(format!("{}: {}\n    {fault}", row.place, row.text));
        }
    }
    failures
}

fn judge(
    row: &Row,
    before: Result<&Vec<PlainTable>, &String>,
    after: Result<&Vec<PlainTable>, &String>,
) -> Result<(), String> {
    let before = match (&row.check, before) {
        (Check::Mends(wanted), Err(reason)) if reason.contains(wanted) => {
            return after.map(drop).map_err(|reason| format!("refused: {reason}"));
        }
        (_, Err(reason)) => return Err(format!("refused without the value: {reason}")),
        (_, Ok(before)) => before,
    };
    match (&row.check, after) {
        (_, Err(reason)) => Err(format!("refused: {reason}")),
        (Check::Mends(_), Ok(_)) => Err("not refused without the value".to_owned()),
        (Check::Refused(_), Ok(_)) => Err("not refused".to_owned()),
        (Check::Moves { figures, way }, Ok(after)) => {
            for figure in figures {
                let [old, new] = [before, after].map(|tables| figure.read(tables));
                if old.is_none() && new.is_none() {
                    return Err(format!("{figure} is in no table; moved: {}", moved(before, after)));
                }
                if !way.holds(old.as_ref(), new.as_ref()) {
                    let shown =
                        |value: Option<figure::Value>| value.map_or("nothing".to_owned(), |v| v.to_string());
                    return Err(format!(
                        "{figure} was {}, is {}; moved: {}",
                        shown(old),
                        shown(new),
                        moved(before, after)
                    ));
                }
            }
            Ok(())
        }
    }
}
