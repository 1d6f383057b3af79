//! `slantpath plan`.

mod verify;

use std::io::Write;

use slantpath_plan::{Question, plan, print};
use slantpath_scenario::read_text;

use crate::arguments::{PlanArguments, PlanFormat};
use crate::failure::Failure;

/// What nobody can answer without, and the flag that says it.
const REQUIRED: [(&str, &str); 4] = [
    ("path.round_trip", "--round-trip '650 ms', from a packet to its acknowledgement"),
    ("band.permanent", "--permanent '2048 kbit/s', what the terminal may send for good"),
    ("signalling.erlang_per_link", "--erlang 0.2, the share of each link's time that messages take"),
    ("signalling.octets", "--octets 120, the length of a message on a link"),
];

pub(crate) fn main(arguments: &PlanArguments, out: &mut impl Write) -> Result<(), Failure> {
    let question = question(arguments)?;
    let answer = plan(&question);
    match arguments.format {
        PlanFormat::Text => write!(out, "{}", print::text(&answer))?,
        PlanFormat::Json => writeln!(out, "{:#}", print::json(&answer))?,
        PlanFormat::Toml => write!(out, "{}", print::scenario(&question, &answer))?,
        PlanFormat::Sysctl => write!(out, "{}", print::linux_sysctl(&answer))?,
        PlanFormat::OsmoStp => write!(out, "{}", print::osmo_stp(&answer))?,
        PlanFormat::Gateway => write!(out, "{}", print::signalling_gateway(&answer))?,
    }
    // What cannot be is said first: that a run shows it, too, is no news.
    let verified = if arguments.verify { verify::verify(&question, &answer, out) } else { Ok(()) };
    match verified {
        Ok(()) | Err(Failure::NotHeld) if !answer.impossible.is_empty() => {
            Err(Failure::Unmet(answer.impossible.len()))
        }
        verified => verified,
    }
}

/// The file, if there is one, with the flags laid over it.
fn question(arguments: &PlanArguments) -> Result<Question, Failure> {
    let (name, text) = match &arguments.question {
        None => ("the flags".to_owned(), String::new()),
        Some(path) => (path.display().to_string(), read_text(path)?),
    };
    let flags = [
        ("path.round_trip", &arguments.round_trip),
        ("path.loss", &arguments.loss),
        ("band.permanent", &arguments.permanent),
        ("band.on_demand", &arguments.on_demand),
        ("band.allocation_time", &arguments.allocation_time),
        ("signalling.links", &arguments.links),
        ("signalling.erlang_per_link", &arguments.erlang),
        ("signalling.step_erlang", &arguments.step),
        ("signalling.octets", &arguments.octets),
        ("limits.failover", &arguments.failover),
    ];
    let flags = flags.iter().filter_map(|(path, value)| Some(format!("{path}={}", value.as_ref()?)));
    let sets: Vec<String> = flags.chain(arguments.set.iter().cloned()).collect();
    if arguments.question.is_none() {
        let is_there = |path: &str| sets.iter().any(|set| set.split('=').next().map(str::trim) == Some(path));
        let missing: Vec<&str> =
            REQUIRED.into_iter().filter(|(path, _)| !is_there(path)).map(|(_, flag)| flag).collect();
        if !missing.is_empty() {
            let missing = missing.join("\n  ");
            return Err(Failure::Misused(format!(
                "without a file of what is known there must also be\n  {missing}"
            )));
        }
    }
    Question::parse(&name, &text, &sets).map_err(Failure::Invalid)
}
