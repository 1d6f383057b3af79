//! `slantpath replay`: a run again, from its record, in virtual time.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use serde_json::{Value, json};
use slantpath_runner::{
    EmulationReplay, InterfacePassage, OwnKinds, RepeatError, Repetition, ReplayFault, Scenario, WaySummary,
    files_in,
};

use crate::arguments::ReplayArguments;
use crate::failure::Failure;
use crate::live;

/// Version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Limit of what another network tells of the same arrivals.
const OPEN_LOOP: &str = "the packets that came are the same: senders did not react to the other network";

pub(crate) fn main(arguments: &ReplayArguments, own: &OwnKinds, out: &mut impl Write) -> Result<(), Failure> {
    match opened(arguments) {
        Ok(replay) => emulation(replay, arguments, own, out),
        Err(Unopened::OfAnother) if arguments.set.is_empty() => live::replay(arguments, own, out),
        Err(Unopened::OfAnother) => {
            Err(misused(arguments, "--set is for records of `slantpath emulate` alone"))
        }
        Err(Unopened::Unreadable(failure)) => Err(failure),
    }
}

/// Why a record is not opened here.
enum Unopened {
    /// Not the record of an emulation.
    OfAnother,
    Unreadable(Failure),
}

fn opened(arguments: &ReplayArguments) -> Result<EmulationReplay<BufReader<File>>, Unopened> {
    let file = File::open(&arguments.record)
        .map_err(|error| Unopened::Unreadable(misused(arguments, &error.to_string())))?;
    EmulationReplay::open(BufReader::new(file)).map_err(|fault| match fault {
        // One of a live run, by this version or an older one, or none at all.
        ReplayFault::NotEmulated => Unopened::OfAnother,
        fault => Unopened::Unreadable(misused(arguments, &fault.to_string())),
    })
}

fn misused(arguments: &ReplayArguments, message: &str) -> Failure {
    Failure::Misused(format!("{}: {message}", arguments.record.display()))
}

fn emulation(
    replay: EmulationReplay<BufReader<File>>,
    arguments: &ReplayArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if arguments.trace.is_some() || arguments.pcap.is_some() {
        return Err(misused(arguments, "--trace and --pcap are for records of `echo` and `load` alone"));
    }
    let failed = |error: RepeatError| match error {
        RepeatError::Record(fault) => misused(arguments, &fault.to_string()),
        RepeatError::Run(error) => error.into(),
    };
    let run = replay.run().clone();
    let name = arguments.record.display().to_string();
    let scenario = |overrides: &[String]| {
        let files = files_in(Path::new(&run.directory));
        Scenario::parse_open_ended(&name, &run.scenario, overrides, files, own).map_err(Failure::Invalid)
    };
    // Faults of `--set` come before all work.
    let other =
        if arguments.set.is_empty() { None } else { Some(scenario(&both_directions(&arguments.set))?) };
    let repetition = replay.repeat(&scenario(&[])?).map_err(failed)?;
    let elsewhere = match &other {
        Some(other) if repetition.difference.is_none() => {
            let replay = opened(arguments).map_err(|unopened| match unopened {
                Unopened::OfAnother => misused(arguments, "the record is another one by now"),
                Unopened::Unreadable(failure) => failure,
            })?;
            Some(replay.repeat_elsewhere(other).map_err(failed)?)
        }
        _ => None,
    };
    if arguments.json {
        let mut report = of_repetition(&repetition);
        report["version"] = json!(run.version);
        report["set"] = json!(arguments.set);
        report["elsewhere"] = elsewhere.as_ref().map_or(Value::Null, of_repetition);
        writeln!(out, "{report:#}")?;
    } else {
        tell(&repetition, out)?;
        if let Some(elsewhere) = &elsewhere {
            compare(&repetition, elsewhere, out)?;
        }
    }
    let Some(difference) = &repetition.difference else { return Ok(()) };
    let version = if run.version == VERSION {
        String::new()
    } else {
        format!("; the record is of version {}, this is {VERSION}", run.version)
    };
    Err(Failure::Failed(format!("the repetition is another run: {difference}{version}")))
}

fn tell(repetition: &Repetition, out: &mut impl Write) -> Result<(), Failure> {
    let Repetition { until, packets_in, packets_out, .. } = repetition;
    let verdict = if repetition.difference.is_some() { "then another one" } else { "all the same" };
    writeln!(out, "repeated {}: {packets_in} packets in, {packets_out} out, {verdict}", until.since_start())?;
    if repetition.is_cut {
        writeln!(out, "the record is cut there: the run went on, and there is no digest of it")?;
    }
    Ok(())
}

/// Prints what the same arrivals met before and after, by interface and direction.
fn compare(before: &Repetition, after: &Repetition, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out)?;
    for interface in &before.interfaces {
        let same = |own: &&InterfacePassage| own.node == interface.node && own.link == interface.link;
        let Some(other) = after.interfaces.iter().find(same) else { continue };
        let ways = [("from", &interface.from, &other.from), ("to", &interface.to, &other.to)];
        for (direction, was, is) in ways {
            writeln!(out, "{direction} `{}` at `{}`", interface.node, interface.link)?;
            for (when, way) in [("before", was), ("after", is)] {
                writeln!(out, "  {when:<6}  {}", words(way))?;
            }
        }
    }
    writeln!(out, "\n{OPEN_LOOP}")?;
    Ok(())
}

fn words(way: &WaySummary) -> String {
    let WaySummary { packets, offered, lost, .. } = way;
    let counts = format!("{packets} packets; between attached nodes {} out, {lost} lost", offered - lost);
    match way.delays {
        None => counts,
        Some(delays) => format!(
            "{counts}, delay {:.3} ms (mean), {:.3} ms (99 %)",
            1e3 * delays.mean_s,
            1e3 * delays.p99_s
        ),
    }
}

fn of_repetition(repetition: &Repetition) -> Value {
    let of_way = |way: &WaySummary| {
        json!({
            "packets": way.packets,
            "between_attached": way.offered,
            "lost": way.lost,
            "delay_mean_s": way.delays.map(|delays| delays.mean_s),
            "delay_p99_s": way.delays.map(|delays| delays.p99_s),
        })
    };
    let interfaces: Vec<Value> = repetition
        .interfaces
        .iter()
        .map(|own| {
            json!({ "node": own.node, "link": own.link, "from": of_way(&own.from), "to": of_way(&own.to) })
        })
        .collect();
    json!({
        "until_s": repetition.until.since_start().as_secs_f64(),
        "packets_in": repetition.packets_in,
        "packets_out": repetition.packets_out,
        "digest": repetition.digest,
        "difference": repetition.difference.as_ref().map(ToString::to_string),
        "is_same": repetition.difference.is_none() && !repetition.is_cut,
        "is_cut": repetition.is_cut,
        "interfaces": interfaces,
    })
}
/// Keys of a link itself, which are no direction's.
const OF_LINKS: [&str; 8] =
    ["addresses", "cable", "ends", "family", "forward", "mtu", "report_mtu", "reverse"];

/// Settings as the merged form has them, in which each direction of a link has its own values: what is set for a link
/// is set for both.
fn both_directions(settings: &[String]) -> Vec<String> {
    let expanded = |setting: &String| {
        let parts =
            setting.split_once('=').map(|(path, value)| (path.trim().split('.').collect::<Vec<_>>(), value));
        match parts {
            Some((path, value)) if path.len() == 3 && path[0] == "links" && !OF_LINKS.contains(&path[2]) => {
                ["forward", "reverse"]
                    .map(|way| format!("links.{}.{way}.{}={value}", path[1], path[2]))
                    .to_vec()
            }
            _ => vec![setting.clone()],
        }
    };
    settings.iter().flat_map(expanded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_a_link_is_set_for_both_directions() {
        let set = |text: &str| both_directions(&[text.to_owned()]);
        assert_eq!(set("links.a.loss=5 %"), ["links.a.forward.loss=5 %", "links.a.reverse.loss=5 %"]);
        for same in [
            "links.a.forward.loss=5 %",
            "links.a.mtu=900 B",
            "scenario.seed=4",
            "links.a",
            "nodes.a.kind=host",
        ] {
            assert_eq!(set(same), [same]);
        }
    }
}
