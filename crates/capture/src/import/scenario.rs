//! Scenarios around traces: hosts, links that add nothing, and settings that hold nothing back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_ss7::{PointCode, PointCodeFormat};

use super::flows::{CapturedProtocol, FlowReport};
use super::loads::ImportedLoad;

/// Times at which traces begin to be played: associations and links are up by then.
const FLOWS_START: Duration = Duration::from_secs(1);
const LOADS_START: Duration = Duration::from_secs(10);
/// Time for which a run goes on behind its last message.
const BEHIND: Duration = Duration::from_secs(12);
/// The usual MTU, and the longest that there is.
const MTU: u32 = 1_500;
const LONGEST_PACKET: u32 = 65_535;
/// Keys of both transports: more than is ever on its way.
const WINDOWS: &str = "initial_cwnd = \"64 MiB\"\nsend_buffer = \"64 MiB\"\nreceive_buffer = \"64 MiB\"";
/// Headers of IPv4 and TCP.
const HEADERS_LEN: u32 = 40;

/// A name of the user's in a comment: it ends no line.
pub(super) fn in_a_comment(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

/// Ends that belong together, since one flow has both: addresses, and ports where one address is both ends.
#[derive(Debug, Default)]
struct Hosts {
    /// Index of the parent, of a root its own.
    parents: Vec<usize>,
    by_end: BTreeMap<(IpAddr, Option<u16>), usize>,
    /// Hosts by their roots, in the order in which they are asked for.
    numbers: BTreeMap<usize, usize>,
}

impl Hosts {
    fn root(&self, mut place: usize) -> usize {
        while self.parents[place] != place {
            place = self.parents[place];
        }
        place
    }

    fn join(&mut self, ends: impl Iterator<Item = (IpAddr, Option<u16>)>) -> Option<usize> {
        let mut joined = None;
        for end in ends {
            let place = *self.by_end.entry(end).or_insert(self.parents.len());
            if place == self.parents.len() {
                self.parents.push(place);
            }
            let root = self.root(place);
            match joined {
                None => joined = Some(root),
                // The earlier one stays, so that numbers follow the order of flows.
                Some(other) => {
                    let (low, high) = (root.min(other), root.max(other));
                    self.parents[high] = low;
                    joined = Some(low);
                }
            }
        }
        joined
    }

    fn number(&mut self, place: usize) -> usize {
        let (root, next) = (self.root(place), self.numbers.len() + 1);
        *self.numbers.entry(root).or_insert(next)
    }
}

/// Numbers of the hosts of each flow, and of hosts in all.
fn hosts(flows: &[FlowReport]) -> (Vec<[usize; 2]>, usize) {
    let mut hosts = Hosts::default();
    let mut ends = |flow: &FlowReport| {
        let is_local = flow.sources.iter().any(|source| flow.destinations.contains(source));
        let [source, destination] =
            [flow.source_port, flow.destination_port].map(|port| is_local.then_some(port));
        let source = hosts.join(flow.sources.iter().map(|address| (*address, source)));
        let destination = hosts.join(flow.destinations.iter().map(|address| (*address, destination)));
        [source, destination].map(Option::unwrap_or_default)
    };
    let places: Vec<[usize; 2]> = flows.iter().map(&mut ends).collect();
    let mut numbers: Vec<[usize; 2]> =
        places.into_iter().map(|ends| ends.map(|place| hosts.number(place))).collect();
    let mut count = hosts.numbers.len();
    // Addresses that moved from one end to the other make one host of both: the far end is another one all the same.
    for [from, to] in &mut numbers {
        if from == to {
            count += 1;
            *to = count;
        }
    }
    (numbers, count)
}

/// Scenario of flows.
pub(super) fn of_flows(capture: &str, flows: &[FlowReport], base: Instant) -> String {
    let mut text = String::new();
    let (hosts, count) = hosts(flows);
    let last = flows.iter().map(|flow| flow.last).max().unwrap_or(base);
    let mtu = flows.iter().filter(|flow| flow.protocol == CapturedProtocol::Tcp).map(|flow| flow.longest);
    let mtu = mtu.max().unwrap_or(0).saturating_add(HEADERS_LEN).clamp(MTU, LONGEST_PACKET);
    let _ = writeln!(
        text,
        "# The messages of `{capture}`: their sizes and instants. Nothing of this network adds to\n\
         # them. Write the rates, delays and losses that are to be studied into its links, and the\n\
         # settings of a real stack into its profiles. Each direction is a flow of its own, over an\n\
         # association or a connection of its own.\n\n\
         [scenario]\nname = \"imported-flows\"\nduration = \"{}\"\n\n[nodes]",
        duration(base, last, FLOWS_START),
    );
    for number in 1..=count {
        let _ = writeln!(text, "host-{number} = {{ kind = \"host\" }}");
    }
    links(&mut text, (1..=count).map(|number| format!("host-{number}")), mtu);
    if flows.iter().any(|flow| flow.protocol == CapturedProtocol::Sctp) {
        sctp_profile(&mut text, mtu);
    }
    if flows.iter().any(|flow| flow.protocol == CapturedProtocol::Tcp) {
        let _ = writeln!(
            text,
            "\n# Windows and buffers that hold nothing back.\n[tcp.imported]\nmss = \"{} B\"\n{WINDOWS}",
            mtu - HEADERS_LEN,
        );
    }
    for (flow, [from, to]) in flows.iter().zip(hosts) {
        let FlowReport { name, streams, .. } = flow;
        let _ = writeln!(text, "\n# {}", described(flow));
        let _ = writeln!(
            text,
            "[flows.{name}]\ntransport = \"{}\"\nfrom = \"host-{from}\"\nto = \"host-{to}\"",
            flow.protocol.name(),
        );
        // Datagrams have no connection that needs time to be set up, and wait for nothing.
        if flow.protocol != CapturedProtocol::Udp {
            let _ = writeln!(text, "profile = \"imported\"\nconnect = \"0 s\"");
        }
        let _ = writeln!(text, "start = \"{FLOWS_START}\"");
        if flow.protocol != CapturedProtocol::Udp {
            let _ = writeln!(text, "when_blocked = \"queue\"");
            if *streams > 1 {
                let _ = writeln!(text, "streams = {streams}");
            }
            if flow.unordered == flow.messages {
                let _ = writeln!(text, "unordered = true");
            }
        }
        let _ = writeln!(text, "application = {{ kind = \"trace\", file = \"{name}.csv\" }}");
    }
    text
}

/// Scenario of loads.
pub(super) fn of_loads(
    capture: &str,
    loads: &[ImportedLoad],
    format: PointCodeFormat,
    base: Instant,
) -> String {
    let mut text = String::new();
    let last = loads.iter().map(|load| load.last).max().unwrap_or(base);
    let points: BTreeSet<PointCode> = loads.iter().flat_map(|load| [load.from, load.to]).collect();
    // Points of a scenario that talk to each other are of one network: that of most messages.
    let mut of_network = [0_u64; 4];
    for load in loads {
        of_network[usize::from(load.network & 3)] += load.messages;
    }
    let network = match (0..4).max_by_key(|network| (of_network[*network], 4 - network)) {
        Some(0) => "international",
        Some(1) => "international-spare",
        Some(2) => "national",
        _ => "national-spare",
    };
    let format_name = match format {
        PointCodeFormat::Ansi => "ansi",
        PointCodeFormat::Itu => "itu",
        PointCodeFormat::Ttc => "ttc",
    };
    let name = |code: PointCode| format!("point-{}", code.display(format));
    let _ = writeln!(
        text,
        "# The signalling messages of `{capture}`: their lengths, instants and signalling link\n\
         # selections. Each two points that exchange some have a link of M2PA between them, over a\n\
         # network that adds nothing. Write the links, rates and delays that are to be studied into it.\n\n\
         [scenario]\nname = \"imported-signalling\"\nduration = \"{}\"\n\n[nodes]",
        duration(base, last, LOADS_START),
    );
    for code in &points {
        let _ = writeln!(text, "{} = {{ kind = \"host\" }}", name(*code));
    }
    links(&mut text, points.iter().map(|code| name(*code)), MTU);
    sctp_profile(&mut text, MTU);
    for code in &points {
        let _ = writeln!(
            text,
            "\n[signalling.points.{}]\npoint_code = \"{}\"\nformat = \"{format_name}\"\n\
             network = \"{network}\"\nrestart = \"omitted\"\nt4 = \"1.2 s\"\nt5 = \"1.2 s\"",
            name(*code),
            code.display(format),
        );
    }
    let mut pairs: Vec<[PointCode; 2]> =
        loads.iter().map(|load| [load.from.min(load.to), load.from.max(load.to)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (number, [one, other]) in (1..).zip(pairs) {
        let _ = writeln!(
            text,
            "\n[signalling.links.link-{number}]\nbetween = [\"{}\", \"{}\"]\n\
             carrier = {{ kind = \"m2pa\", profile = \"imported\", proving = \"omitted\" }}",
            name(one),
            name(other),
        );
    }
    for load in loads {
        let services = load.services.iter().enumerate().filter(|(_, count)| **count > 0);
        let services = services.map(|(service, count)| format!("{count} of service indicator {service}"));
        let span = load.last.saturating_since(load.first).as_secs_f64();
        let bits = load.octets as f64 * 8.0;
        // Of a line of 64 kbit/s; a trace brings its own load, and this is what it comes to.
        let erlang = if span > 0.0 { (bits / 64_000.0 / span).min(100.0) } else { 1.0 };
        let _ = writeln!(
            text,
            "\n# {} messages: {}.\n[signalling.load.{}]\nfrom = \"{}\"\nto = [\"{}\"]\nerlang_per_link = {erlang:.6}\n\
             lengths = \"trace\"\nselection = \"trace\"\narrivals = \"trace\"\ntrace = \"{}.csv\"\n\
             start = \"{LOADS_START}\"",
            load.messages,
            services.collect::<Vec<_>>().join(", "),
            load.name,
            name(load.from),
            name(load.to),
            load.name,
        );
    }
    text
}

fn duration(base: Instant, last: Instant, start: Duration) -> Duration {
    let whole = last.saturating_since(base).saturating_add(start).saturating_add(BEHIND);
    // Whole seconds are read more easily. A capture may have any two times.
    Duration::from_nanos(whole.as_nanos().div_ceil(1_000_000_000).saturating_mul(1_000_000_000))
}

/// A link between two hosts, or of each to a router between them.
fn links(text: &mut String, hosts: impl Iterator<Item = String>, mtu: u32) {
    let hosts: Vec<String> = hosts.collect();
    let ideal = format!("rate = \"1000 Gbit/s\"\ndelay = \"1 us\"\nqueue = \"unlimited\"\nmtu = \"{mtu} B\"");
    if let [one, other] = &hosts[..] {
        let _ = writeln!(text, "\n[links.path]\nends = [\"{one}\", \"{other}\"]\n{ideal}");
        return;
    }
    let _ = writeln!(text, "network = {{ kind = \"router\" }}");
    for host in hosts {
        let _ = writeln!(text, "\n[links.{host}]\nends = [\"{host}\", \"network\"]\n{ideal}");
    }
}

fn sctp_profile(text: &mut String, mtu: u32) {
    let _ = writeln!(
        text,
        "\n# Windows and buffers that hold nothing back.\n[sctp.imported]\nmax_burst = \"off\"\n\
         initial_path_mtu = \"{mtu} B\"\n{WINDOWS}"
    );
}

/// A flow in words.
fn described(flow: &FlowReport) -> String {
    let ends = [(&flow.sources, flow.source_port), (&flow.destinations, flow.destination_port)];
    let [from, to] = ends.map(|(addresses, port)| {
        let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
        format!("{} port {port}", addresses.join(" and "))
    });
    format!("{} messages of {} bytes in all, from {from} to {to}.", flow.messages, flow.bytes)
}
