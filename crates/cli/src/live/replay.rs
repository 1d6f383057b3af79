//! `slantpath replay`: a live run again, from its record, in virtual time.

use std::fs::File;
use std::io::{Read as _, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::{Value, json};
use slantpath_live::record::{Replay, Replayed};
use slantpath_live::{HostCapture, Program, SctpConfig, Station, Tap};
use slantpath_profiles::Profile;

use super::like::Like;
use super::outputs::{About, TraceFile};
use super::settings::profile;
use super::{client, server};
use crate::arguments::{Arguments, Command, ReplayArguments};
use crate::failure::Failure;

/// Description of its run that a record holds.
struct Recorded {
    command: Vec<String>,
    addresses: Vec<IpAddr>,
    first_port: u16,
    like: Option<String>,
    /// SCTP's settings by their names in scenarios, if the record has them.
    settings: Option<Value>,
}

/// The bytes of a file that begins as a record does: another one may have no end.
fn record_in(path: &Path) -> Result<Vec<u8>, String> {
    const BEGINNING: u64 = 64;
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    (&file).take(BEGINNING).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if !Replay::is_begun_by(&bytes) {
        return Err("not a record of a live run".to_owned());
    }
    file.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

pub(crate) fn replay(arguments: &ReplayArguments, out: &mut impl Write) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.record.display()));
    let record = record_in(&arguments.record).map_err(misused)?;
    let replay = Replay::new(&record).map_err(|error| misused(error.to_string()))?;
    let about = replay.about().as_deref().and_then(Recorded::read);
    let about = about.ok_or_else(|| misused("it does not say which command it is of".to_owned()))?;
    let line = std::iter::once("slantpath").chain(about.command.iter().map(String::as_str));
    let parsed = Arguments::try_parse_from(line)
        .map_err(|_| misused(format!("this program has no command `{}`", about.command.join(" "))))?;
    let (secret, is_traced) = (replay.secret(), arguments.trace.is_some());
    let recorded = about.settings.as_ref().map(|settings| {
        let name = arguments.record.display().to_string();
        Profile::from_json(&name, settings).map_err(|error| misused(error.to_string()))
    });
    let recorded = recorded.transpose()?;
    let replayed = match parsed.command {
        Command::Echo(mut said) => {
            said.sctp.resolved = Some(recorded.map_or_else(|| profile(&said.sctp), Ok)?);
            let profile = said.sctp.resolved.clone();
            let config = server::config(&said, &about.addresses, is_traced)?;
            let sctp = config.port.sctp.clone();
            repeat(replay, server::station(config, secret), arguments, &about, (&sctp, profile.as_ref()))?
        }
        Command::Load(mut said) => {
            let like = Like::read(&said)?;
            if let Some(like) = like.as_ref().filter(|like| Some(like.hash()) != about.like) {
                let hash = like.hash();
                return Err(misused(format!("the scenario of --like is another one by now, of hash {hash}")));
            }
            match &like {
                Some(like) => said = like.arguments(&said)?,
                None => said.sctp.resolved = Some(recorded.map_or_else(|| profile(&said.sctp), Ok)?),
            }
            let profile = said.sctp.resolved.clone();
            let config = client::config(&said, like.as_ref(), &about.addresses, about.first_port, is_traced)?;
            let sctp = config.port.sctp.clone();
            repeat(replay, client::station(config, secret), arguments, &about, (&sctp, profile.as_ref()))?
        }
        _ => return Err(misused(format!("`{}` is no live run", about.command.join(" ")))),
    };
    tell(&replayed, &about, arguments.json, out)?;
    match (&replayed.recorded, replayed.is_same()) {
        (Some(recorded), false) => {
            Err(Failure::Failed(format!("the repetition is another run: the record's digest is {recorded}")))
        }
        _ => Ok(()),
    }
}

impl Recorded {
    fn read(text: &str) -> Option<Self> {
        let about: Value = serde_json::from_str(text).ok()?;
        let texts = |name: &str| -> Option<Vec<String>> {
            about[name].as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let addresses: Option<Vec<IpAddr>> =
            texts("addresses")?.iter().map(|address| address.parse().ok()).collect();
        Some(Self {
            command: texts("command")?,
            addresses: addresses.filter(|addresses| !addresses.is_empty())?,
            first_port: about["first_port"].as_u64().and_then(|port| u16::try_from(port).ok())?,
            like: about["like"].as_str().map(str::to_owned),
            settings: about.get("settings").filter(|settings| settings.is_object()).cloned(),
        })
    }
}

/// Tells a station the record, and writes what was asked for.
fn repeat<P: Program>(
    replay: Replay<'_>,
    station: Station<P>,
    arguments: &ReplayArguments,
    about: &Recorded,
    (sctp, profile): (&SctpConfig, Option<&Profile>),
) -> Result<Replayed, Failure> {
    let mut trace = arguments.trace.as_ref().map(TraceFile::create).transpose()?;
    let of_run = About {
        command: &about.command,
        addresses: &about.addresses,
        first_port: about.first_port,
        like: None,
        sctp,
        profile,
    };
    if let Some(trace) = &mut trace {
        trace.begin(&of_run)?;
    }
    let mut pcap = arguments.pcap.as_ref().map(created).transpose()?;
    let mut tap = Tap { host: station, observer: HostCapture::of(&about.addresses) };
    let mut failure = None;
    let replayed = replay.run_watched(
        &mut tap,
        |tap, now, number| {
            if number == server::STOP {
                tap.host.stop(now);
            }
        },
        |tap, _| {
            let capture = tap.observer.take();
            let kept = match &mut pcap {
                Some((path, file)) => file.write_all(&capture).map_err(Failure::of_file(path.clone())),
                None => Ok(()),
            };
            let kept = kept.and_then(|()| match &mut trace {
                Some(trace) => trace.keep(&mut tap.host.host),
                None => Ok(()),
            });
            if let Err(error) = kept {
                failure.get_or_insert(error);
            }
        },
    );
    let replayed =
        replayed.map_err(|error| Failure::Misused(format!("{}: {error}", arguments.record.display())))?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Some(trace) = &mut trace {
        trace.end(replayed.until)?;
    }
    Ok(replayed)
}

fn created(path: &PathBuf) -> Result<(PathBuf, File), Failure> {
    let file = File::create(path).map_err(Failure::of_file(path.clone()))?;
    Ok((path.clone(), file))
}

fn tell(replayed: &Replayed, about: &Recorded, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let command = about.command.join(" ");
    if is_json {
        let report = json!({
            "command": about.command,
            "until_s": replayed.until.since_start().as_secs_f64(),
            "digest": replayed.digest.to_string(),
            "recorded": replayed.recorded,
            "is_same": replayed.is_same(),
            "is_cut": replayed.is_cut,
        });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    writeln!(out, "slantpath {command}: repeated up to {}", replayed.until)?;
    writeln!(out, "digest {}", replayed.digest)?;
    let verdict = match (&replayed.recorded, replayed.is_same()) {
        (None, _) if replayed.is_cut => {
            "the record is cut off in an entry: what stands before that was repeated"
        }
        (None, _) => "the record ends before the run did: there is no digest to hold it against",
        (Some(_), true) => "the same as that of the live run",
        (Some(_), false) => "not that of the live run",
    };
    writeln!(out, "{verdict}")?;
    Ok(())
}
