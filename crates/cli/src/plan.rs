//! Command `slantpath plan`.

#[cfg(test)]
mod agreement;
mod measured;
mod verify;

use std::io::Write;

use slantpath_plan::{Question, plan, print};
use slantpath_runner::read_text;

use crate::arguments::{PlanArguments, PlanFormat};
use crate::failure::Failure;

/// Values without which no answer can be given, each with the flag that sets it.
const REQUIRED: [(&str, &str); 4] = [
    ("path.round_trip", "--round-trip '650 ms', from a packet to its acknowledgement"),
    ("band.permanent", "--permanent '2048 kbit/s', what the terminal may send for good"),
    ("signalling.erlang_per_link", "--erlang 0.2, the share of each link's time that messages take"),
    ("signalling.octets", "--octets 120, the length of a message on a link"),
];

pub(crate) fn main(arguments: &PlanArguments, out: &mut impl Write) -> Result<(), Failure> {
    let question = question(arguments)?;
    let answer = plan(&question);
    let verified = if arguments.verify { Some(verify::verify(&question, &answer)?) } else { None };
    let mut comment = None;
    match arguments.format {
        PlanFormat::Text => {
            write!(out, "{}", print::text(&answer))?;
            comment = Some("");
        }
        PlanFormat::Json => {
            let mut json = print::json(&answer);
            if let Some(verified) = &verified {
                json["simulated"] = verify::json(verified);
            }
            writeln!(out, "{json:#}")?;
        }
        PlanFormat::Toml => {
            write!(out, "{}", print::scenario(&question, &answer))?;
            comment = Some("# ");
        }
        PlanFormat::Sysctl => {
            write!(out, "{}", print::linux_sysctl(&answer))?;
            comment = Some("# ");
        }
        PlanFormat::OsmoStp => {
            write!(out, "{}", print::osmo_stp(&answer))?;
            comment = Some("! ");
        }
        PlanFormat::Gateway => {
            write!(out, "{}", print::signalling_gateway(&answer))?;
            comment = Some("! ");
        }
    }
    if let (Some(verified), Some(comment)) = (&verified, comment) {
        verify::write(verified, comment, out)?;
    }
    // What the run contradicts is the worse news.
    match verified {
        Some(verified) if !verified.is_borne_out() => Err(Failure::NotHeld),
        _ if !answer.impossible.is_empty() => Err(Failure::Unmet(answer.impossible.len())),
        Some(verified) if !verified.is_held() => Err(Failure::NotHeld),
        _ => Ok(()),
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
