//! Command `slantpath plan`.

#[cfg(test)]
mod agreement;
mod measured;
mod verify;

use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use serde_json::{Value as Json, json};
use slantpath_plan::{Answer, MessageCarrier, Question, plan, print};
use slantpath_runner::{Scenario, read_text};

use crate::arguments::{PlanArguments, PlanFormat};
use crate::directory::{Contents, Directory};
use crate::failure::Failure;
use crate::{interrupt, terminal};

/// Values without which no answer can be given, each with the flag that sets it.
const REQUIRED: [(&str, &str); 4] = [
    ("path.round_trip", "--round-trip '650 ms', from a packet to its acknowledgement"),
    ("band.permanent", "--permanent '2048 kbit/s', what the terminal may send for good"),
    (
        "signalling.erlang_per_link",
        "--erlang 0.2, the share of each link's time that messages take, or --messages 400",
    ),
    ("signalling.octets", "--octets 120, the length of a message on a link"),
];

/// Files of `--out`.
const KEPT: [&str; 3] = ["plan.json", "plan.toml", "scenario.toml"];

pub(crate) fn main(
    arguments: &PlanArguments,
    command: &[String],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let question = question(arguments)?;
    if arguments.format == PlanFormat::OsmoStp {
        speaks_m3ua(&question)?;
    }
    // Found fit before the answer is simulated.
    let directory = arguments.out.as_ref().map(|path| Directory::fresh(path, &KEPT)).transpose()?;
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
            let configuration = print::osmo_stp(&question, &answer);
            if !configuration.blanks.is_empty() {
                let blanks = configuration.blanks.join("; ");
                terminal::warn(&format!("blanks that the program stops at, FILL-IN-…: {blanks}"))?;
            }
            write!(out, "{}", configuration.text)?;
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
    if let Some(directory) = directory {
        keep(directory, command, &question, &answer, verified.as_ref())?;
    }
    // What the run contradicts is the worse news.
    match verified {
        Some(verified) if !verified.is_borne_out() => Err(Failure::NotHeld),
        _ if !answer.impossible.is_empty() => Err(Failure::Unmet(answer.impossible.len())),
        Some(verified) if !verified.is_held() => Err(Failure::NotHeld),
        _ => Ok(()),
    }
}

/// Refuses a carrier that osmo-stp has not.
fn speaks_m3ua(question: &Question) -> Result<(), Failure> {
    let carrier = question.signalling.whole().map(|load| *load.carrier);
    if carrier.is_none_or(|carrier| carrier == MessageCarrier::M3ua) {
        return Ok(());
    }
    Err(Failure::Misused(
        "osmo-stp speaks M3UA: ask with `--carrier m3ua`, which has its own answer".to_owned(),
    ))
}

/// Keeps question, answer and what was simulated as results that a report is made of.
fn keep(
    mut directory: Directory,
    command: &[String],
    question: &Question,
    answer: &Answer,
    verified: Option<&verify::Verified>,
) -> Result<(), Failure> {
    let scenario = print::scenario(question, answer);
    let files: slantpath_runner::Files = slantpath_runner::files_in(Path::new(""));
    let hash = Scenario::parse("the answer", &scenario, &[], files).map_err(Failure::Invalid)?.hash();
    let mut kept = print::kept(question, answer);
    let version = env!("CARGO_PKG_VERSION");
    for (key, value) in [
        ("kind", json!("plan")),
        ("version", json!(version)),
        ("command", json!(command)),
        ("hash", json!(hash)),
    ] {
        kept.insert(key.to_owned(), value);
    }
    if let Some(verified) = verified {
        kept.insert("simulated".to_owned(), verify::json(verified));
    }
    let (plan, asked) = (format!("{:#}\n", Json::Object(kept)), question.merged());
    let mut contents = Contents::default();
    for (name, text) in KEPT.into_iter().zip([&plan, &asked, &scenario]) {
        contents.bytes(name, text.as_bytes());
    }
    let mut manifest = json!({
        "program": "slantpath",
        "version": version,
        "kind": "plan",
        "command": command,
        "hash": hash,
    });
    directory.replace(&contents, &mut manifest, interrupt::flag())?;
    Ok(())
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
        ("path.backup_round_trip", &arguments.backup_round_trip),
        ("path.fade", &arguments.fade),
        ("signalling.carrier", &arguments.carrier),
        ("signalling.messages_per_second", &arguments.messages),
        ("signalling.step_messages_per_second", &arguments.step_messages),
        ("gateway.point_code", &arguments.point_code),
        ("gateway.peer_point_code", &arguments.peer_point_code),
        ("gateway.routing_context", &arguments.routing_context),
    ];
    // As a list of TOML has them.
    let list = |path: &str, addresses: &[IpAddr]| {
        let quoted: Vec<String> = addresses.iter().map(|address| format!("\"{address}\"")).collect();
        (!quoted.is_empty()).then(|| format!("{path}=[{}]", quoted.join(", ")))
    };
    let lists = [
        list("gateway.addresses", &arguments.addresses),
        list("gateway.peer_addresses", &arguments.peer_addresses),
    ];
    let flags = flags.iter().filter_map(|(path, value)| Some(format!("{path}={}", value.as_ref()?)));
    let sets: Vec<String> =
        flags.chain(lists.into_iter().flatten()).chain(arguments.set.iter().cloned()).collect();
    if arguments.question.is_none() {
        let is_set = |path: &str| sets.iter().any(|set| set.split('=').next().map(str::trim) == Some(path));
        let is_there = |path: &str| {
            is_set(path) || path == "signalling.erlang_per_link" && is_set("signalling.messages_per_second")
        };
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
