//! The trace of a live load: its network is gone, so that the load is made again over one like what the trace shows,
//! with the settings as they were and with others. How near the first comes to the trace says what the second is
//! worth.

use std::io::{BufRead, Write};

use serde_json::json;
use slantpath_runner::OwnKinds;
use slantpath_trace::{Estimator, Story, TraceReader};

use super::paths::{of_path, print_paths};
use crate::arguments::ExplainArguments;
use crate::failure::Failure;
use crate::live::{Rebuilt, load_of};

pub(in super::super) fn main(
    reader: TraceReader<impl BufRead>,
    command: &[String],
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.trace.display()));
    let header = reader.header().clone();
    let load = load_of(command, header.profile.as_ref(), own).map_err(misused)?;
    let mut estimator = Estimator::new(load.one_way);
    let mut recorded = Story::new(header.clone(), arguments.idle);
    for record in reader {
        let record = record.map_err(|error| misused(error.to_string()))?;
        estimator.follow(&record);
        recorded.follow(&record);
    }
    recorded.finish();
    let network = estimator.finish();
    let rebuilt = Rebuilt::of(&arguments.trace, load, &network, &recorded, own).map_err(misused)?;
    if let Some(path) = &arguments.rebuilt {
        std::fs::write(path, &rebuilt.scenario).map_err(Failure::of_file(path.clone()))?;
    }
    let was = recorded.outcome();
    let again = rebuilt.run(&[], &header, arguments.idle)?.outcome();
    let other = rebuilt.run(&arguments.what_if, &header, arguments.idle)?.outcome();
    if arguments.json {
        let all = json!({
            "what_if": arguments.what_if,
            "paths": network.paths.iter().zip(&rebuilt.links).map(of_path).collect::<Vec<_>>(),
            "scenario": rebuilt.scenario,
            "as_it_was": was.json(),
            "rebuilt": again.json(),
            "otherwise": other.json(),
        });
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    writeln!(out, "{command}: its network, as the trace shows it\n", command = command.join(" "))?;
    print_paths(&network, &rebuilt.links, out)?;
    let what_if = arguments.what_if.join(", ");
    writeln!(out, "\nthe load as it was, over a network rebuilt of that, and there with {what_if}\n")?;
    super::print(&[("as it was", &was), ("rebuilt", &again), ("what if", &other)], out)?;
    if again == other {
        writeln!(out, "\nThe setting makes no difference to what is counted here.")?;
    }
    if !recorded.is_whole || recorded.dropped > 0 {
        writeln!(out, "\nThe trace is not whole: what is missing in it is not in the network either.")?;
    }
    Ok(())
}
