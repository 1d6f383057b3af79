//! `slantpath replay`: a live run again, from its record, in virtual time.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser as _;
use serde_json::{Value, json};
use slantpath_base::Instant;
use slantpath_control::{Command as Ordered, Line};
use slantpath_daemon::{SERVE, Sockets};
use slantpath_gateway::Seat;
use slantpath_live::record::{Replay, Replayed};
use slantpath_live::{HostCapture, Observer as _, Program, SctpConfig, Station, Tap};
use slantpath_profiles::Profile;
use slantpath_runner::OwnKinds;

use super::gateway::{Prepared, RELOAD, Reloaded, TraceFiles, in_record, parsed};
use super::like::Like;
use super::outputs::{About, TraceFile};
use super::settings::profile;
use super::{client, server};
use crate::arguments::{Arguments, Command, GatewayArguments, ReplayArguments, SeatArguments};
use crate::failure::Failure;
use crate::sctp::repeated_settings;

/// Description of its run that a record holds.
struct Recorded {
    command: Vec<String>,
    addresses: Vec<IpAddr>,
    first_port: u16,
    like: Option<String>,
    /// SCTP's settings by their names in scenarios, if the record has them.
    settings: Option<Value>,
    /// Scenario of a point that was live, as it was read, and its hash.
    scenario: Option<String>,
    scenario_hash: Option<String>,
}

pub(crate) fn replay(
    arguments: &ReplayArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.record.display()));
    let file = File::open(&arguments.record).map_err(|error| misused(error.to_string()))?;
    let replay = Replay::read(BufReader::new(file)).map_err(|error| misused(error.to_string()))?;
    let about = replay.about().as_deref().and_then(Recorded::read);
    let about = about.ok_or_else(|| misused("it does not say which command it is of".to_owned()))?;
    let line = std::iter::once("slantpath").chain(about.command.iter().map(String::as_str));
    let parsed = Arguments::try_parse_from(line)
        .map_err(|_| misused(format!("this program has no command `{}`", about.command.join(" "))))?;
    let (secret, is_traced) = (replay.secret(), arguments.trace.is_some());
    let recorded = about.settings.as_ref().map(|settings| {
        let name = arguments.record.display().to_string();
        Profile::from_json(&name, settings, own.controllers()).map_err(|error| misused(error.to_string()))
    });
    let recorded = recorded.transpose()?;
    let replayed = match parsed.command {
        Command::Echo(mut said) => {
            said.sctp.resolved = Some(recorded.map_or_else(|| profile(&said.sctp, own), Ok)?);
            let profile = said.sctp.resolved.clone();
            let config = server::config(&said, &about.addresses, is_traced)?;
            let sctp = config.port.sctp.clone();
            let settings = (&*sctp, profile.as_ref());
            repeat_traced(replay, server::station(config, secret), arguments, &about, settings, nothing)?
        }
        Command::Load(mut said) => {
            let like = Like::read(&said, own)?;
            if let Some(like) = like.as_ref().filter(|like| Some(like.hash()) != about.like) {
                let hash = like.hash();
                return Err(misused(format!("the scenario of --like is another one by now, of hash {hash}")));
            }
            match &like {
                Some(like) => said = like.arguments(&said)?,
                None => said.sctp.resolved = Some(recorded.map_or_else(|| profile(&said.sctp, own), Ok)?),
            }
            let profile = said.sctp.resolved.clone();
            let config = client::config(&said, like.as_ref(), &about.addresses, about.first_port, is_traced)?;
            let sctp = config.port.sctp.clone();
            let settings = (&*sctp, profile.as_ref());
            repeat_traced(replay, client::station(config, secret), arguments, &about, settings, nothing)?
        }
        Command::Sctp(mut said) => {
            said.sctp.resolved = Some(recorded.map_or_else(|| profile(&said.sctp, own), Ok)?);
            let profile = said.sctp.resolved.clone();
            let sctp = repeated_settings(&said, about.first_port, is_traced)?;
            let station = slantpath_daemon::station(&about.addresses, secret);
            let settings = (&sctp, profile.as_ref());
            let defaults = Arc::new(sctp.clone());
            let tell = |tap: &mut Tapped<Sockets>, now, told: &[u8]| {
                let Station { host, program } = &mut tap.host;
                program.repeat(now, host, &defaults, told).map_err(|error| misused(error.to_string()))
            };
            repeat_traced(replay, station, arguments, &about, settings, tell)?
        }
        Command::Gateway(GatewayArguments { seat: Some(seat), .. }) => {
            repeat_gateway(replay, &seat, own, arguments, &about)?
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
            scenario: about["scenario"].as_str().map(str::to_owned),
            scenario_hash: about["scenario_hash"].as_str().map(str::to_owned),
        })
    }
}

/// Variant of [`repeat`] that writes one trace of all associations.
fn repeat_traced<P: Program>(
    replay: Replay,
    station: Station<P>,
    arguments: &ReplayArguments,
    about: &Recorded,
    (sctp, profile): (&SctpConfig, Option<&Profile>),
    mut tell: impl FnMut(&mut Tapped<P>, Instant, &[u8]) -> Result<(), Failure>,
) -> Result<Replayed, Failure> {
    let mut trace = arguments.trace.as_ref().map(|path| TraceFile::create(path)).transpose()?;
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
    let replayed = repeat(
        replay,
        station,
        arguments,
        about,
        // A load is given no orders, and sockets are told something by one number.
        |tap, now, number, told| if number == SERVE { tell(tap, now, told) } else { Ok(()) },
        |station| match &mut trace {
            Some(trace) => trace.keep(&mut station.host),
            None => Ok(()),
        },
    )?;
    if let Some(trace) = &mut trace {
        trace.end(replayed.until)?;
    }
    Ok(replayed)
}

/// Tells a station nothing that its record has.
#[expect(clippy::unnecessary_wraps, reason = "sockets of programs may refuse what they are told")]
fn nothing<P>(_: &mut Tapped<P>, _: Instant, _: &[u8]) -> Result<(), Failure> {
    Ok(())
}

/// Variant of [`repeat`] for a point that was live, whose associations have traces of their own.
fn repeat_gateway(
    replay: Replay,
    seat: &SeatArguments,
    own: &OwnKinds,
    arguments: &ReplayArguments,
    about: &Recorded,
) -> Result<Replayed, Failure> {
    let is_traced = arguments.trace.is_some();
    let secret = replay.secret();
    let prepared = match &about.scenario {
        Some(text) => {
            let scenario = parsed(&arguments.record, seat, own, text)?;
            Prepared::within(scenario, &in_record(seat), is_traced)?
        }
        None => Prepared::of(seat, own, is_traced)?,
    };
    if let Some(hash) = about.scenario_hash.as_ref().filter(|hash| **hash != prepared.hash) {
        let record = arguments.record.display();
        let other = format!("{record}: the scenario is another one by now: that of the run has hash {hash}");
        return Err(Failure::Misused(other));
    }
    let mut traces = arguments.trace.as_ref().map(|path| TraceFiles::create(path, &prepared)).transpose()?;
    if let Some(traces) = &mut traces {
        traces.begin(&about.command, &prepared)?;
    }
    let traces = RefCell::new(traces);
    let reload = |tap: &mut Tapped<Seat>, now, words: &str| {
        let unread = || Failure::Misused("the record has a reload that cannot be read".to_owned());
        let reloaded = Reloaded::read(words).ok_or_else(unread)?;
        let running = tap.host.program.running();
        let successor = reloaded.successor(&arguments.record, (seat, own), is_traced, &running)?;
        if let Some(traces) = &mut *traces.borrow_mut() {
            traces.go_on(&about.command, &successor)?;
        }
        for (address, interface) in &reloaded.addresses {
            tap.observer.note_address(*address, *interface);
        }
        Reloaded::repeat(&mut tap.host, now, successor)
    };
    let order = |tap: &mut Tapped<Seat>, now, number, words: &[u8]| {
        let words = &String::from_utf8_lossy(words);
        if number == RELOAD {
            return reload(tap, now, words);
        }
        order_again(&mut tap.host, now, words);
        Ok(())
    };
    let keep = |station: &mut Station<Seat>| match &mut *traces.borrow_mut() {
        Some(traces) => traces.keep(station),
        None => Ok(()),
    };
    let replayed = repeat(replay, prepared.station(secret)?, arguments, about, order, keep)?;
    if let Some(traces) = &mut *traces.borrow_mut() {
        traces.end(replayed.until)?;
    }
    Ok(replayed)
}

/// A station whose packets are seen.
type Tapped<P> = Tap<Station<P>, HostCapture>;

/// Does what an order of the record says. One that was refused is refused here, too.
fn order_again(station: &mut Station<Seat>, now: Instant, words: &str) {
    if let Ok(Ordered::Do(pairs)) = Ordered::parse(Line::Whole(words.trim_end().as_bytes())) {
        let _ = station.program.order(now, &mut station.host, &pairs);
    }
}

/// Tells a station the record. `order` does what an order's words say, and `keep` takes what is told behind each entry.
fn repeat<P: Program>(
    replay: Replay,
    station: Station<P>,
    arguments: &ReplayArguments,
    about: &Recorded,
    mut order: impl FnMut(&mut Tapped<P>, Instant, u8, &[u8]) -> Result<(), Failure>,
    mut keep: impl FnMut(&mut Station<P>) -> Result<(), Failure>,
) -> Result<Replayed, Failure> {
    let mut pcap = arguments.pcap.as_ref().map(created).transpose()?;
    let mut tap = Tap { host: station, observer: HostCapture::of(&about.addresses) };
    let failure = RefCell::new(None);
    let replayed = replay.run_watched(
        &mut tap,
        |tap, now, number, words| match number {
            server::STOP => tap.host.stop(now),
            server::ORDER | RELOAD | SERVE => {
                if let Err(error) = order(tap, now, number, words) {
                    failure.borrow_mut().get_or_insert(error);
                }
            }
            _ => {}
        },
        |tap, _| {
            let capture = tap.observer.take();
            let kept = match &mut pcap {
                Some((path, file)) => file.write_all(&capture).map_err(Failure::of_file(path.clone())),
                None => Ok(()),
            };
            if let Err(error) = kept.and_then(|()| keep(&mut tap.host)) {
                failure.borrow_mut().get_or_insert(error);
            }
        },
    );
    let replayed =
        replayed.map_err(|error| Failure::Misused(format!("{}: {error}", arguments.record.display())))?;
    failure.into_inner().map_or(Ok(replayed), Err)
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
