//! A load once more, over a network as its trace shows it: what `slantpath explain TRACE --what-if` does for the trace
//! of a live run, whose own network cannot be asked a second time.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use clap::Parser as _;
use serde_json::Value;
use slantpath_base::{Duration, Instant};
use slantpath_live::PathMtuDiscovery;
use slantpath_profiles::Profile;
use slantpath_runner::{OwnKinds, Scenario, Watch};
use slantpath_trace::{NetworkEstimate, PathEstimate, Record, Story, TraceHeader};

use super::client;
use super::like::Like;
use super::settings::read_profile;
use crate::arguments::{Arguments, Command, LoadArguments};
use crate::failure::Failure;
use crate::link_estimate::{LinkEstimate, one_line, write_changes, write_link};

/// Duration of a load that does not give one.
const DURATION: Duration = Duration::from_secs(10);
/// The share of the time for which a load waited for a window from which on it filled the path.
const FULL: f64 = 0.5;
/// The longest message of a scenario.
const MESSAGE_BYTES_MOST: u32 = 65_536;

/// A load, and the scenario that its trace comes to.
pub(crate) struct Rebuilt {
    arguments: LoadArguments,
    name: String,
    /// The scenario, as a file of its own.
    pub(crate) scenario: String,
    /// Links of the scenario, in the order of the paths of the estimate.
    pub(crate) links: Vec<LinkEstimate>,
    own: OwnKinds,
}

/// Reads the arguments of a trace's command, if it is a load that can be made again. Its settings are those that the
/// trace has, or those of the command.
pub(crate) fn load_of(
    command: &[String],
    settings: Option<&Value>,
    own: &OwnKinds,
) -> Result<LoadArguments, String> {
    let line = std::iter::once("slantpath").chain(command.iter().map(String::as_str));
    let words = command.join(" ");
    let parsed =
        Arguments::try_parse_from(line).map_err(|_| format!("this program has no command `{words}`"))?;
    let mut load = match parsed.command {
        Command::Load(load) => load,
        Command::Echo(_) => {
            return Err(
                "it is of a server, which sends what others want: give the trace of the load".to_owned()
            );
        }
        _ => return Err(format!("`{words}` is no load, and only a load can be made again")),
    };
    if let Some(like) = &load.like {
        return Err(format!(
            "its load was that of a flow of {0}: ask `slantpath run {0} --trace`, whose trace can be made again",
            like.display()
        ));
    }
    if load.size > MESSAGE_BYTES_MOST {
        return Err(format!(
            "its messages have {} bytes, and those of a simulated flow {MESSAGE_BYTES_MOST} at most",
            load.size
        ));
    }
    let settings = settings.map(|settings| Profile::from_json("its settings", settings, own.controllers()));
    load.sctp.resolved = settings.transpose().map_err(|error| error.to_string())?;
    Ok(load)
}

impl Rebuilt {
    /// Rebuilds the load of the trace at `trace`, and the scenario that it comes to.
    pub(crate) fn of(
        trace: &Path,
        load: LoadArguments,
        network: &NetworkEstimate,
        recorded: &Story,
        own: &OwnKinds,
    ) -> Result<Self, String> {
        if network.paths.iter().all(|path| path.round_trips.is_empty()) {
            return Err(
                "nothing that was sent was acknowledged: it does not show what its paths are like".to_owned()
            );
        }
        let profile = read_profile(&load.sctp, own).map_err(|error| format!("its settings: {error}"))?;
        let is_full = load.rate.is_none() || recorded.held_up() >= FULL;
        let bits = wire_bits(&load, &profile);
        let known = network.paths.iter().filter_map(PathEstimate::least_round_trip).min().unwrap_or_default();
        let links: Vec<LinkEstimate> = network
            .paths
            .iter()
            .enumerate()
            .map(|(number, path)| LinkEstimate::of(number, path, known, is_full.then_some(bits)))
            .collect();
        let scenario = text(trace, &load, &profile, network, &links);
        // What the scenario says need not be said twice.
        let mut arguments = load;
        arguments.flow = Some("load".to_owned());
        if arguments.count.is_none() {
            arguments.duration = None;
        }
        let name = format!("the scenario of {}", trace.display());
        Ok(Self { arguments, name, scenario, links, own: own.clone() })
    }

    /// Makes the load over the scenario with these values replaced, and follows its trace.
    pub(crate) fn run(&self, set: &[String], header: &TraceHeader, idle: Duration) -> Result<Story, Failure> {
        let none = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
        let watch = Watch::new(&|_| {});
        let scenario =
            Scenario::parse_observed(&self.name, &self.scenario, set, Arc::new(none), &self.own, watch)
                .map_err(Failure::Invalid)?;
        let misused = |error: String| Failure::Misused(format!("{}: {error}", self.name));
        let like = Like::of(Path::new(&self.name), scenario, &self.arguments).map_err(misused)?;
        let arguments = like.arguments(&self.arguments)?;
        let own = self.arguments.peers.clone();
        let config = client::config(&arguments, Some(&like), &own, 1, true)?;
        let mut story = Story::new(header.clone(), idle);
        let mut until = Instant::START;
        like.simulate_traced(&config, &mut |host| {
            for traced in host.take_trace().0 {
                until = traced.at;
                if let Some(record) = Record::of_event(traced.at, traced.socket.0, &traced.event) {
                    story.follow(&record);
                }
            }
        })?;
        story.finish();
        Ok(story)
    }
}

/// Number of bits of IP that a DATA chunk of a load takes, with its share of the headers in front of it.
fn wire_bits(load: &LoadArguments, profile: &Profile) -> f64 {
    /// IPv4's header and the common header.
    const HEADERS: u32 = 20 + 12;
    /// Header of a DATA chunk.
    const CHUNK: u32 = 16;
    let sctp = profile.config(1);
    let mtu = match sctp.path_mtu_discovery {
        PathMtuDiscovery::Off => sctp.initial_path_mtu,
        PathMtuDiscovery::Probing => sctp.max_path_mtu,
    };
    let room = u32::from(mtu) - HEADERS;
    let chunk = load.size.min(room - CHUNK).next_multiple_of(4) + CHUNK;
    let together = (room / chunk).max(1);
    8.0 * (f64::from(chunk) + f64::from(HEADERS) / f64::from(together))
}

/// Writes the scenario as TOML.
fn text(
    trace: &Path,
    load: &LoadArguments,
    profile: &Profile,
    network: &NetworkEstimate,
    links: &[LinkEstimate],
) -> String {
    let lasts = load.duration.or(if load.count.is_none() { Some(DURATION) } else { None });
    let until = network.until.since_start().max(lasts.unwrap_or_default()).as_millis() / 1_000 + 60;
    let mut text = format!(
        "# The network that a trace shows: {}. What it cannot show is taken for nothing.\n\
         [scenario]\nname = \"rebuilt\"\nduration = \"{until} s\"\n\n\
         [nodes]\nclient = {{ kind = \"host\" }}\nserver = {{ kind = \"host\" }}\n",
        one_line(trace)
    );
    for (path, link) in network.paths.iter().zip(links) {
        write_link(&mut text, ["client", "server"], path, link);
    }
    text.extend(["\n[sctp.default]\n", &profile.differing_keys()]);
    write_flow(&mut text, load, lasts, network, links);
    for (path, link) in network.paths.iter().zip(links) {
        write_changes(&mut text, path, link);
    }
    text
}

fn write_flow(
    text: &mut String,
    load: &LoadArguments,
    lasts: Option<Duration>,
    network: &NetworkEstimate,
    links: &[LinkEstimate],
) {
    let link_to = |address| {
        let place = network.paths.iter().position(|path| Some(path.address) == address)?;
        Some(format!("\"{}\"", links[place].name))
    };
    let mut push = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(text, "{name} = {value}").expect("a string takes everything");
        }
    };
    push("\n[flows.load]\nfrom", Some("\"client\"".to_owned()));
    push("to", Some("\"server\"".to_owned()));
    push("transport", Some("\"sctp\"".to_owned()));
    push("count", Some(load.associations.to_string()));
    push("streams", Some(load.streams.to_string()));
    push("when_blocked", Some("\"queue\"".to_owned()));
    push("primary", link_to(network.primary));
    push("dscp", load.sctp.dscp.map(|dscp| format!("\"{dscp}\"")));
    push("destination", link_to(load.destination));
    push("end", lasts.map(|lasts| format!("\"{lasts}\"")));
    let size = load.size;
    let application = match load.rate {
        None => format!("{{ kind = \"bulk\", message_size = \"{size} B\", total = \"unlimited\" }}"),
        Some(rate) => {
            let interval = Duration::from_secs_f64(1.0 / rate);
            format!("{{ kind = \"constant-rate\", message_size = \"{size} B\", interval = \"{interval}\" }}")
        }
    };
    push("application", Some(application));
    let values: Vec<String> = load.sctp.stream_values.iter().map(u16::to_string).collect();
    push("stream_values", (!values.is_empty()).then(|| format!("[{}]", values.join(", "))));
    push("unordered", load.unordered.then(|| "true".to_owned()));
    push("lifetime", load.lifetime.map(|lifetime| format!("\"{lifetime}\"")));
    push("max_retransmissions", load.max_retransmissions.map(|most| most.to_string()));
    push("sack_immediately", load.sack_immediately.then(|| "true".to_owned()));
}
