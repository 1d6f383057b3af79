//! `slantpath explain TRACE --what-if PATH=VALUE`: what was, beside what another setting would have made of it.

pub(super) mod captured;
#[cfg(target_os = "linux")]
pub(super) mod live;
mod paths;
pub(super) mod simulated;

use std::io::{self, Write};

use slantpath_trace::TraceOutcome;

use crate::table::TextTable;

/// Prints outcomes side by side, each with a word above it. What none of them knows is left out.
fn print(outcomes: &[(&str, &TraceOutcome)], out: &mut impl Write) -> io::Result<()> {
    let mut table = TextTable::default();
    let words = outcomes.iter().map(|(word, _)| *word);
    table.row(std::iter::once("").chain(words).chain([""]).map(str::to_owned));
    let all: Vec<_> = outcomes.iter().map(|(_, outcome)| outcome.rows()).collect();
    for (row, (name, unit, _)) in outcomes[0].1.rows().into_iter().enumerate() {
        let cells: Vec<Option<String>> = all.iter().map(|rows| rows[row].2.clone()).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "–".to_owned()));
        table.row(std::iter::once(name.to_owned()).chain(cells).chain([unit.to_owned()]));
    }
    table.print(1, out)
}

#[cfg(not(target_os = "linux"))]
pub(super) mod live {
    use std::io::{BufRead, Write};

    use slantpath_runner::OwnKinds;
    use slantpath_trace::TraceReader;

    use crate::arguments::ExplainArguments;
    use crate::failure::Failure;

    pub(in super::super) fn main(
        _: TraceReader<impl BufRead>,
        _: &[String],
        _: &ExplainArguments,
        _: &OwnKinds,
        _: &mut impl Write,
    ) -> Result<(), Failure> {
        Err(Failure::Failed(
            "the load of a live trace is made again on Linux only, where loads are".to_owned(),
        ))
    }
}
