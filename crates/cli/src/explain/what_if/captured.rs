//! A capture of real ends: the messages of one direction, made again over a network like what it shows, with the
//! settings of a new profile and with others. How near the first comes to the capture says what the second is worth.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use slantpath_base::{Duration, Instant};
use slantpath_capture::{
    CapturedDirection, CapturedEnds, CapturedFrame, CapturedProtocol, Filter, FlowReport, Importer,
    PointCodeFormat,
};
use slantpath_runner::{OwnKinds, RunOptions, Scenario, Watch};
use slantpath_trace::{Estimator, NetworkEstimate, PathEstimate, Record, Story, TraceOutcome};

use super::paths::{of_path, print_paths};
use super::simulated;
use crate::arguments::ExplainArguments;
use crate::explain::captured::{Followed, header};
use crate::failure::Failure;
use crate::import::end;
use crate::link_estimate::{LinkEstimate, one_line, write_changes, write_link};

/// Instant at which the messages begin: the association is up by then.
const START: Duration = Duration::from_secs(1);
/// Time for which a run goes on behind its last message.
const BEHIND_S: u64 = 60;
/// Most bytes of lines of messages that are held.
const LINES_MAX: usize = 256 << 20;

/// Account of one direction, as a capture shows it.
struct Shown<'a> {
    direction: &'a CapturedDirection,
    flow: &'a FlowReport,
    network: NetworkEstimate,
    links: Vec<LinkEstimate>,
    was: TraceOutcome,
}

pub(in super::super) fn main(
    file: impl Read,
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.trace.display()));
    let mut story = Story::new(header(arguments), arguments.idle);
    let mut estimators: BTreeMap<u32, Estimator> = BTreeMap::new();
    let filter = Filter {
        protocols: vec![CapturedProtocol::Sctp],
        m2pa: false,
        m3ua: false,
        mtp: false,
        ports: Vec::new(),
    };
    let mut importer = Importer::new(filter, PointCodeFormat::Itu);
    let mut lines = Lines::default();
    let mut follow = |record: Record| {
        estimators.entry(record.association).or_insert_with(Estimator::of_captured).follow(&record);
        story.follow(&record);
    };
    let mut each = |frame: &CapturedFrame| {
        importer.frame(frame, &mut |name, more| lines.add(name, more)).map_err(|TooMuch| {
            misused(format!(
                "its messages take more than {LINES_MAX} bytes as lines; cut it with `editcap` or `tshark -Y`"
            ))
        })
    };
    let Followed { ends } = Followed::of(file, arguments, &mut follow, &mut each)?;
    let report = importer.finish("", &mut |name, more| lines.add(name, more));
    let report = report.map_err(|TooMuch| misused("it has too many messages: cut it".to_owned()))?;
    story.finish();
    let direction = chosen(&ends, &story, arguments.direction).map_err(misused)?;
    let flow = flow_of(direction, &ends, &story, &report.flows).ok_or_else(|| {
        misused(format!(
            "no message of direction {} was captured whole; capture whole packets from the start",
            direction.number
        ))
    })?;
    let mut network = estimators.remove(&direction.number).unwrap_or_else(Estimator::of_captured).finish();
    if network.paths.iter().all(|path| path.round_trips.is_empty()) {
        return Err(misused(format!(
            "nothing that direction {} sent was acknowledged in it, so that it does not show what the paths are \
             like; capture where SACKs pass, too, and give another direction with `--direction`",
            direction.number
        )));
    }
    let first_frame = report.span.map(|(first, _)| first).unwrap_or_default();
    let base = report.flows.iter().map(|flow| flow.first).min().unwrap_or(first_frame);
    shift(&mut network, base.saturating_since(first_frame), direction.turnaround.unwrap_or_default());
    let known = network.paths.iter().filter_map(PathEstimate::least_round_trip).min().unwrap_or_default();
    let paths = network.paths.iter().enumerate();
    let links = paths.map(|(number, path)| LinkEstimate::of(number, path, known, None)).collect();
    story.associations.retain(|number, _| *number == direction.number);
    let shown = Shown { direction, flow, network, links, was: story.outcome() };
    let messages = lines.files.remove(&format!("{}.csv", flow.name)).unwrap_or_default();
    answer(&shown, messages, arguments, own, out)
}

/// Makes both runs, and prints them beside the capture.
fn answer(
    shown: &Shown<'_>,
    messages: String,
    arguments: &ExplainArguments,
    own: &OwnKinds,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let file = arguments.rebuilt.as_deref().and_then(Path::file_stem);
    let file = file.map_or_else(|| "load.csv".to_owned(), |stem| format!("{}.csv", stem.display()));
    let text = scenario(&arguments.trace, shown, &file);
    if let Some(path) = &arguments.rebuilt {
        std::fs::write(path, &text).map_err(Failure::of_file(path.clone()))?;
        let beside = path.with_file_name(&file);
        std::fs::write(&beside, &messages).map_err(Failure::of_file(beside.clone()))?;
    }
    let name = format!("the scenario of {}", arguments.trace.display());
    let (file, messages) = (Arc::new(file), Arc::new(messages));
    let run = |set: &[String]| {
        let (file, messages) = (Arc::clone(&file), Arc::clone(&messages));
        let read = move |wanted: &str| {
            let is_it = Path::new(wanted).file_name().is_some_and(|name| name == file.as_str());
            if is_it { Ok(messages.to_string()) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
        };
        let watch = Watch::new(&|_| {});
        let scenario = Scenario::parse_observed(&name, &text, set, Arc::new(read), own, watch)
            .map_err(Failure::Invalid)?;
        let story =
            simulated::story(&scenario, &RunOptions::default(), "load", &header(arguments), arguments)?;
        Ok::<_, Failure>(story.outcome())
    };
    let again = run(&[])?;
    let other = run(&arguments.what_if)?;
    let Shown { direction, network, links, was, .. } = shown;
    if arguments.json {
        let all = json!({
            "what_if": arguments.what_if,
            "direction": direction.number,
            "paths": network.paths.iter().zip(links).map(of_path).collect::<Vec<_>>(),
            "scenario": text,
            "as_it_was": was.json(),
            "rebuilt": again.json(),
            "otherwise": other.json(),
        });
        writeln!(out, "{all:#}")?;
        return Ok(());
    }
    writeln!(
        out,
        "direction {}, {}: its network, as one point shows it\n",
        direction.number,
        ends(direction)
    )?;
    print_paths(network, links, out)?;
    let what_if = arguments.what_if.join(", ");
    writeln!(
        out,
        "\nits messages as they were captured, over a network rebuilt of that, and there with {what_if}\n"
    )?;
    super::print(&[("as it was", was), ("rebuilt", &again), ("what if", &other)], out)?;
    if again == other {
        writeln!(out, "\nThe setting makes no difference to what is counted here.")?;
    }
    writeln!(
        out,
        "\nA capture has no settings: those of the rebuilt one are a new profile's. Where they are known, give them,\n\
         too. The other direction sends nothing. What was lost before the point is not known."
    )?;
    Ok(())
}

/// The direction that was asked for, or that which sent the most messages.
fn chosen<'a>(
    ends: &'a CapturedEnds,
    story: &Story,
    asked: Option<u32>,
) -> Result<&'a CapturedDirection, String> {
    let sent = |number: u32| story.associations.get(&number).map_or(0, |of| of.messages_sent);
    let mut directions = ends.directions.iter().filter(|direction| sent(direction.number) > 0);
    let none = "none of its frames has a message of SCTP; capture where SCTP passes, from the start";
    match asked {
        Some(number) => directions.find(|direction| direction.number == number).ok_or_else(|| {
            format!("direction {number} has sent no message; `slantpath explain` lists the directions")
        }),
        // Of equals the first.
        None => directions
            .max_by_key(|direction| (sent(direction.number), std::cmp::Reverse(direction.number)))
            .ok_or_else(|| none.to_owned()),
    }
}

/// The flow of a direction: of several between the same ends the one at the same place.
fn flow_of<'a>(
    direction: &CapturedDirection,
    ends: &CapturedEnds,
    story: &Story,
    flows: &'a [FlowReport],
) -> Option<&'a FlowReport> {
    let shares = |one: &[_], other: &[_]| one.iter().any(|address| other.contains(address));
    let has_sent = |other: &&CapturedDirection| {
        story.associations.get(&other.number).is_some_and(|of| of.messages_sent > 0)
    };
    let is_alike = |other: &&CapturedDirection| {
        (other.source_port, other.destination_port) == (direction.source_port, direction.destination_port)
            && shares(&other.sources, &direction.sources)
            && shares(&other.destinations, &direction.destinations)
    };
    let alike = ends.directions.iter().filter(has_sent).filter(is_alike);
    let place = alike.take_while(|other| other.number != direction.number).count();
    let is_its = |flow: &&FlowReport| {
        (flow.source_port, flow.destination_port) == (direction.source_port, direction.destination_port)
            && shares(&flow.sources, &direction.sources)
            && shares(&flow.destinations, &direction.destinations)
    };
    flows.iter().filter(is_its).nth(place)
}

/// Counts instants from the first message, and round trips from the sender: the point sees those beyond it, and knows
/// from the handshake how long the sender takes to answer.
fn shift(network: &mut NetworkEstimate, base: Duration, turnaround: Duration) {
    let moved = |at: Instant| Instant::START + (at.since_start() + START).saturating_sub(base);
    for path in &mut network.paths {
        for (at, round_trip) in &mut path.round_trips {
            *at = moved(*at);
            *round_trip = round_trip.saturating_add(turnaround);
        }
        path.longest_round_trip = path.longest_round_trip.map(|longest| longest.saturating_add(turnaround));
        for (from, to) in &mut path.outages {
            *from = moved(*from);
            *to = to.map(moved);
        }
    }
    network.until = moved(network.until);
}

fn ends(direction: &CapturedDirection) -> String {
    let from = end(&direction.sources, direction.source_port);
    let to = end(&direction.destinations, direction.destination_port);
    format!("from {from} to {to}")
}

/// Writes the scenario as TOML.
fn scenario(capture: &Path, shown: &Shown<'_>, file: &str) -> String {
    let Shown { direction, flow, network, links, .. } = shown;
    let until = network.until.since_start().as_millis() / 1_000 + BEHIND_S;
    let mut text = format!(
        "# The network that a capture shows: {}, {}.\n\
         # What it cannot show is taken for nothing, and settings are those of a new profile.\n\
         [scenario]\nname = \"rebuilt\"\nduration = \"{until} s\"\n\n\
         [nodes]\nsender = {{ kind = \"host\" }}\nreceiver = {{ kind = \"host\" }}\n",
        one_line(capture),
        ends(direction),
    );
    for (path, link) in network.paths.iter().zip(links) {
        write_link(&mut text, ["sender", "receiver"], path, link);
    }
    let primary = links.first().map_or("", |link| &link.name);
    let streams = flow.streams;
    let unordered = if flow.unordered == flow.messages { "unordered = true\n" } else { "" };
    write!(
        text,
        "\n[sctp.default]\n\n[flows.load]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"sctp\"\n\
         primary = \"{primary}\"\nconnect = \"0 s\"\nstart = \"{START}\"\nwhen_blocked = \"queue\"\n\
         streams = {streams}\n{unordered}application = {{ kind = \"trace\", file = \"{file}\" }}\n"
    )
    .expect("a string takes everything");
    for (path, link) in network.paths.iter().zip(links) {
        write_changes(&mut text, path, link);
    }
    text
}

/// Lines of messages, by the name of their file.
#[derive(Default)]
struct Lines {
    files: BTreeMap<String, String>,
    bytes: usize,
}

/// More lines than are held.
struct TooMuch;

impl Lines {
    fn add(&mut self, name: &str, more: &str) -> Result<(), TooMuch> {
        self.bytes += more.len();
        if self.bytes > LINES_MAX {
            return Err(TooMuch);
        }
        self.files.entry(name.to_owned()).or_default().push_str(more);
        Ok(())
    }
}
