//! Arguments of the command line.

mod gateway_flags;
mod plan_flags;
mod program_flags;
mod sctp_flags;
mod tool_flags;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use slantpath_base::{DataSize, Duration};
use slantpath_profiles::{Assignment, Profile};
use slantpath_runner::schema::NamedDscp;

use crate::criteria::{Until, Within};
use crate::usage::STATUS;
pub(crate) use gateway_flags::{
    ClockRelation, GatewayArguments, GatewayQuestion, OperationArguments, SeatArguments, SeatOutputArguments,
    TitleArguments, TrafficArguments,
};
pub(crate) use plan_flags::{PlanArguments, PlanFormat};
pub(crate) use program_flags::{Door, NotifierArguments, ProgramArguments};
use sctp_flags::Flags;
pub(crate) use tool_flags::{CompletionsArguments, KeysArguments, ManArguments, NewArguments};

/// Simulates transport protocols over satellite networks, and runs them over real ones.
#[derive(Debug, Parser)]
#[command(name = "slantpath", version, about, max_term_width = 100)]
#[command(after_help = format!("{STATUS}

\
Of the Python packages (pip install . ./studies): `slantpath plot DIR`,
`slantpath report DIR [DIR]`, `slantpath view DIR` and `slantpath study NAME`;
`slantpath help plot` and so on tell more."))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check a scenario, a sweep, a topology or a plan without running it: what is wrong, and what is probably a
    /// mistake.
    Check(CheckArguments),
    /// Print a script with which a shell completes this command: `slantpath completions bash > slantpath.bash`.
    Completions(CompletionsArguments),
    /// Answer SCTP associations on this machine's network: send back every message, until Ctrl-C.
    Echo(EchoArguments),
    /// Run the network of a scenario in real time, with real programs at its attached nodes.
    Emulate(EmulateArguments),
    /// Tell in words what a trace or a packet capture holds: why a path went down, when each message was retransmitted,
    /// what was waited for.
    Explain(ExplainArguments),
    /// Take one signalling point or process of a scenario live, on this machine's network: all else is outside.
    Gateway(GatewayArguments),
    /// Make scenarios of a packet capture: its messages, by their sizes and instants, as traces for `slantpath run`.
    Import(ImportArguments),
    /// Find keys of files, columns of tables, events of traces and flags by a word of their names or meanings.
    Keys(KeysArguments),
    /// Load a server that echoes over this machine's network, and measure throughput, latency and failover.
    Load(LoadArguments),
    /// Print the manual page of the program or of a command: `slantpath man run | man -l -`.
    Man(ManArguments),
    /// Write a commented file to begin with: a scenario, a sweep or a topology that runs as it is.
    New(NewArguments),
    /// Work out which settings carry signalling over a path, why, and with what margin.
    Plan(PlanArguments),
    /// Repeat a live run or an emulation from its record, in virtual time, and say whether it comes out the same.
    Replay(ReplayArguments),
    /// Run a scenario once or several times and print a summary.
    Run(RunArguments),
    /// Print the JSON Schema of the scenario file, or of another, for editors.
    Schema(SchemaArguments),
    /// Give a program that exists the SCTP sockets of RFC 6458, on a machine whose kernel has none.
    Sctp(ProgramArguments),
    #[command(hide = true)]
    SctpNotifier(NotifierArguments),
    /// Change a network that runs, such as an emulation with `--control`, and ask how it does.
    Set(SetArguments),
    /// Run a grid of scenarios on all cores. What was interrupted goes on where it was.
    Sweep(SweepArguments),
    /// Tell which path, which delay and which handover there is between sites under a sky of satellites.
    Topology(TopologyArguments),
    /// Send loads of a scenario's signalling network on this machine's network, and account for every message.
    Traffic(TrafficArguments),
}

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The file. Its tables tell which kind it is.
    pub(crate) file: PathBuf,
    /// Replace a value of the file, of a sweep's base scenario, as the command that runs it does. May be given several
    /// times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Print as JSON: kind, errors and warnings, each with its place and its cure.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct EchoArguments {
    /// An address to serve at; several make a server with several paths. All of the machine's if absent, but for those
    /// of single links; peers elsewhere are told of none of the loopback.
    #[arg(long = "address", value_name = "ADDRESS")]
    pub(crate) addresses: Vec<IpAddr>,
    /// The SCTP port.
    #[arg(long, value_name = "PORT", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// Carry SCTP in UDP (RFC 6951), at this port, for which no privilege is needed.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "9899")]
    pub(crate) udp: Option<u16>,
    /// Throw messages away in place of sending them back.
    #[arg(long)]
    pub(crate) discard: bool,
    /// Stop by itself once so many associations have ended.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) associations: Option<u64>,
    #[command(flatten)]
    pub(crate) sctp: SctpArguments,
    #[command(flatten)]
    pub(crate) outputs: LiveOutputArguments,
}

/// Arguments that the flow of `--like` sets itself, so that they may not stand beside it.
const LIKE_SAYS: [&str; 16] = [
    "profile",
    "settings",
    sctp_flags::GROUP,
    "associations",
    "size",
    "rate",
    "streams",
    "unordered",
    "key",
    "dscp",
    "total_send_buffer",
    "stream_values",
    "lifetime",
    "max_retransmissions",
    "sack_immediately",
    "destination",
];

#[derive(Args, Clone, Debug)]
pub(crate) struct LoadArguments {
    /// The server's address; several make several paths, of which the first is the primary.
    #[arg(required = true, value_name = "PEER")]
    pub(crate) peers: Vec<IpAddr>,
    /// The server's SCTP port.
    #[arg(long, value_name = "PORT", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// An own address; several make several paths. Those from which the routes lead to the peers if absent.
    #[arg(long = "address", value_name = "ADDRESS")]
    pub(crate) addresses: Vec<IpAddr>,
    /// The own SCTP port, or the first of several; one by the number of the process if absent.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) own_port: Option<u16>,
    /// Send what a flow of this scenario sends, with its settings of SCTP, and print beside it what the same load comes
    /// to on the scenario's network.
    #[arg(long, value_name = "SCENARIO", conflicts_with_all = LIKE_SAYS)]
    pub(crate) like: Option<PathBuf>,
    /// Name of the flow; the only one of SCTP if absent.
    #[arg(long, value_name = "NAME", requires = "like")]
    pub(crate) flow: Option<String>,
    /// Carry SCTP in UDP (RFC 6951) to this port of the server, for which no privilege is needed.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "9899")]
    pub(crate) udp: Option<u16>,
    /// The own UDP port; any that is free if absent.
    #[arg(long, value_name = "PORT", requires = "udp")]
    pub(crate) own_udp: Option<u16>,
    /// Number of associations.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(crate) associations: u16,
    /// Length of a message: bytes, or with a unit, for example '1 kB'.
    #[arg(long, value_name = "BYTES", default_value_t = 1_000, value_parser = a_message_size)]
    pub(crate) size: u32,
    /// Messages a second on each association; as fast as possible if absent.
    #[arg(long, value_name = "N", value_parser = a_rate)]
    pub(crate) rate: Option<f64>,
    /// Over how many streams.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) streams: u16,
    /// Let messages overtake each other.
    #[arg(long)]
    pub(crate) unordered: bool,
    /// Number of messages on each association.
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// For how long to send; `10 s` if there is no `--count` either.
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<Duration>,
    /// Expect nothing back: the server discards.
    #[arg(long)]
    pub(crate) one_way: bool,
    /// Give a message up that has not arrived after this time: needs `--extension partial-reliability` at both ends.
    #[arg(long, value_name = "TIME", conflicts_with = "max_retransmissions")]
    pub(crate) lifetime: Option<Duration>,
    /// Give a message up that would be retransmitted more often than this; the same.
    #[arg(long, value_name = "N")]
    pub(crate) max_retransmissions: Option<u32>,
    /// Ask the server to acknowledge each message at once (RFC 7053).
    #[arg(long)]
    pub(crate) sack_immediately: bool,
    /// Send messages to this address of the server, and not to the first, as long as its path is active.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) destination: Option<IpAddr>,
    /// Keep what was measured in this directory, for `slantpath report`; it must hold no other results.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sctp: SctpArguments,
    #[command(flatten)]
    pub(crate) outputs: LiveOutputArguments,
}

/// The settings of associations: those of the declaration in `slantpath_profiles`, and what is no transport's.
#[derive(Args, Clone, Debug)]
pub(crate) struct SctpArguments {
    /// Take the settings of SCTP from a scenario's [sctp.NAME]; the name may be left out where there is one. Nothing
    /// else of the file is looked at. Other settings given here stand above it.
    #[arg(long, value_name = "FILE[:NAME]")]
    pub(crate) profile: Option<String>,
    /// Set a key of [sctp.NAME] as a scenario does, for example `rto_min="200 ms"`; above --profile and the flags
    /// below. May be given several times; the last one of a key holds.
    #[arg(long = "sctp", value_name = "KEY=VALUE", value_parser = a_setting)]
    pub(crate) settings: Vec<Assignment>,
    #[command(flatten)]
    pub(crate) flags: Flags,
    /// Limit on what all associations of the port together hold to be sent: `256 MiB`, or four send buffers, if absent.
    #[arg(long, value_name = "SIZE", value_parser = a_total_send_buffer)]
    pub(crate) total_send_buffer: Option<DataSize>,
    /// The DSCP of every packet: EF, CS0, as it is if absent, to CS7, or AF11 to AF43.
    #[arg(long, value_name = "NAME", value_parser = a_dscp)]
    pub(crate) dscp: Option<NamedDscp>,
    /// The priority or weight of each stream from 0 on, with commas between.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) stream_values: Vec<u16>,
    /// The secret that chunks are authenticated with, as key 1: the bytes of this file. The null key, 0, if absent.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Profile that all of this comes to, once that is known: worked out, or read from the file of an earlier run.
    #[arg(skip)]
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "live commands are refused there"))]
    pub(crate) resolved: Option<Profile>,
}

impl SctpArguments {
    /// Settings that were given one by one, the later above the earlier.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "live commands are refused there"))]
    pub(crate) fn assignments(&self) -> Vec<Assignment> {
        [&self.flags.0[..], &self.settings].concat()
    }

    /// Lays settings below all that were given.
    #[cfg(target_os = "linux")]
    pub(crate) fn lay_below(&mut self, settings: impl IntoIterator<Item = Assignment>) {
        self.flags.0.splice(0..0, settings);
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct LiveOutputArguments {
    /// Write the summary as JSON into this file, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Record all that the host is told, for `slantpath replay`. The file has the run's secret.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write what each association decided and why into this file, for `slantpath explain`.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ReplayArguments {
    /// Record that `--record` of `slantpath echo`, `load`, `gateway`, `sctp` or `emulate` has written.
    pub(crate) record: PathBuf,
    /// Let the packets of an emulation come to another network: replace a value of its scenario, for example
    /// `links.link.rate="1 Mbit/s"`, and compare. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write what each association decided and why into this file, for `slantpath explain`; of a gateway into files of
    /// this directory, `NAME.trace`.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write all packets, in both directions, into this file, as pcapng.
    #[arg(long, value_name = "FILE")]
    pub(crate) pcap: Option<PathBuf>,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaArguments {
    /// The file that is described.
    #[arg(value_enum, default_value_t = SchemaOf::Scenario)]
    pub(crate) of: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// File that `slantpath plan` reads.
    Plan,
    /// File that `slantpath run` reads.
    Scenario,
    /// File that `slantpath sweep` reads.
    Sweep,
    /// File that `slantpath topology` reads.
    Topology,
}

#[derive(Args, Debug)]
pub(crate) struct TopologyArguments {
    /// The topology file.
    pub(crate) topology: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Replace a value of the topology, for example `topology.span="2 h"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Number of stretches of each path that are printed.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
    /// Write every table (Parquet and CSV), figures, the merged topology and a manifest into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write a CZML scene of each path for the Cesium globe, and the files that Hypatia's simulator reads, into
    /// this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Time between Hypatia's forwarding states, in whole milliseconds.
    #[arg(long, value_name = "TIME", requires = "export", default_value = "1 s", value_parser = whole_milliseconds)]
    pub(crate) export_step: Duration,
    /// Print the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the merged topology with every default written out, and do not work it out.
    #[arg(long, conflicts_with_all = ["json", "out", "export"])]
    pub(crate) show: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The trace: of `slantpath run --trace`, `slantpath echo --trace` or `slantpath load --trace`; or a packet capture
    /// (pcap, pcapng) with SCTP, whose associations are then told as one point has seen them.
    pub(crate) trace: PathBuf,
    /// Tell only what became of the message of this number.
    #[arg(long, value_name = "N", conflicts_with = "path")]
    pub(crate) message: Option<u64>,
    /// Tell only what concerns the path to this address; of a simulated run also by the name of the link or antenna at
    /// which that address is.
    #[arg(long, value_name = "ADDRESS|LINK", group = "of_scenario")]
    pub(crate) path: Option<String>,
    /// Tell every step and every message, however many there are.
    #[arg(long)]
    pub(crate) all: bool,
    /// The shortest span without DATA that is told.
    #[arg(long, value_name = "TIME", default_value = "1 s")]
    pub(crate) idle: Duration,
    /// Make the run of the trace again, and once more with this value of its scenario, and compare them. May be given
    /// several times. A live load is made again over a network as its trace shows it, whose scenario has
    /// `sctp.default`, `flows.load` and a link for each path, `links.path-01` and so on; so are the messages of a
    /// capture.
    #[arg(long, value_name = "PATH=VALUE", conflicts_with_all = ["message", "path", "all"], group = "of_scenario")]
    pub(crate) what_if: Vec<String>,
    /// Of a capture with `--what-if`: the direction whose messages are made again, by its number; that of most messages
    /// if absent.
    #[arg(long, value_name = "N", requires = "what_if")]
    pub(crate) direction: Option<u32>,
    /// Write the scenario that a live load or a capture is made again by into this file, for `slantpath run` and
    /// others.
    #[arg(long, value_name = "FILE", requires = "what_if")]
    pub(crate) rebuilt: Option<PathBuf>,
    /// The scenario of the trace, if it has moved.
    #[arg(long, value_name = "SCENARIO", requires = "of_scenario")]
    pub(crate) scenario: Option<PathBuf>,
    /// Of a capture: RTO.Min of the senders, the least time without a SACK after which a retransmission is a time-out;
    /// `1 s` if absent.
    #[arg(long, value_name = "TIME")]
    pub(crate) rto_min: Option<Duration>,
    /// Of a capture: format of the point codes in signalling messages, which they do not tell themselves; `itu` if
    /// absent.
    #[arg(long, value_enum)]
    pub(crate) point_codes: Option<PointCodes>,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The capture: pcap or pcapng.
    pub(crate) capture: PathBuf,
    /// Directory for scenarios and traces, which must not exist; that of the capture's name, here, if absent.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Import only this: flows of a transport, or signalling that a layer carries. May be given several times.
    #[arg(long, value_enum, value_name = "PROTOCOL")]
    pub(crate) only: Vec<Importable>,
    /// Import only what comes from or goes to this port. May be given several times.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Vec<u16>,
    /// Format of the point codes in signalling messages, which they do not tell themselves.
    #[arg(long, value_enum, default_value_t = PointCodes::Itu)]
    pub(crate) point_codes: PointCodes,
    /// Print as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Part of a capture that `slantpath import` may be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Importable {
    /// Signalling messages over M2PA.
    M2pa,
    /// Signalling messages over M3UA.
    M3ua,
    /// Signalling messages of captures of MTP2 and MTP3.
    Mtp,
    /// Messages of SCTP.
    Sctp,
    /// Segments of TCP.
    Tcp,
    /// Datagrams of UDP.
    Udp,
}

/// Formats of point codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointCodes {
    /// 24 bits, of ANSI.
    Ansi,
    /// 14 bits, of ITU-T.
    Itu,
    /// 16 bits, of TTC.
    Ttc,
}

#[derive(Args, Debug)]
pub(crate) struct EmulateArguments {
    /// The scenario file, whose nodes of kind `attached` are real places. Without one there are two, `near` and `far`,
    /// with one link between.
    pub(crate) scenario: Option<PathBuf>,
    /// Delay of that link, one way, each way: for example '250 ms'. None if absent.
    #[arg(long, value_name = "TIME", conflicts_with = "scenario")]
    pub(crate) delay: Option<String>,
    /// Rate of that link, each way: for example '2 Mbit/s'. 10 Gbit/s if absent.
    #[arg(long, value_name = "RATE", conflicts_with = "scenario")]
    pub(crate) rate: Option<String>,
    /// Share of packets that are lost on that link, each way: for example '1 %'. None if absent.
    #[arg(long, value_name = "SHARE", conflicts_with = "scenario")]
    pub(crate) loss: Option<String>,
    /// Most that waits for that link, each way: for example '100 packets' or '64 kB'.
    #[arg(long, value_name = "SIZE", conflicts_with = "scenario")]
    pub(crate) queue: Option<String>,
    /// Run a line of the shell in an attached node. May be given several times: they start in this order.
    #[arg(long = "in", num_args = 2, value_names = ["NODE", "COMMAND"])]
    pub(crate) commands: Vec<String>,
    /// Start what comes after the last command of NODE once somebody listens there at this port of TCP or UDP. May be
    /// given several times.
    #[arg(long, value_name = "NODE:PORT")]
    pub(crate) ready: Vec<String>,
    /// Carry a port of this machine over the network, without namespaces: `5000:far:6000` leads from 127.0.0.1:5000 to
    /// a server at 127.0.0.1:6000, as if that were at `far`. `/udp` behind it carries datagrams. Where there is a file
    /// the node at which programs enter stands in front: `5000:near:far:6000`. Both ports may have an address. May be
    /// given several times; all attached nodes are relays then.
    #[arg(long, value_name = "[ADDRESS:]PORT:[NODE:]NODE:[ADDRESS:]PORT[/udp]",
        conflicts_with_all = ["commands", "ready", "shell", "root"])]
    pub(crate) relay: Vec<String>,
    /// Run a shell in an attached node, on this terminal, until it is left.
    #[arg(long, value_name = "NODE", conflicts_with = "program")]
    pub(crate) shell: Option<String>,
    /// Let the programs of this node configure its network: they see themselves as root. May be given several times.
    #[arg(long, value_name = "NODE")]
    pub(crate) root: Vec<String>,
    /// Lateness that a packet may leave with. More makes the run void from then on: the exit status is 3.
    #[arg(long, value_name = "TIME", default_value = "5 ms", value_parser = a_duration)]
    pub(crate) late: Duration,
    /// Stay awake for so long before each packet is to leave: for example '50 us'. Packets are less late, and a
    /// processor is busy for that time.
    #[arg(long, value_name = "TIME", default_value = "0 us", value_parser = a_duration)]
    pub(crate) spin: Duration,
    /// Seed of all random draws, in place of the scenario's `seed`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=i64::MAX.unsigned_abs()))]
    pub(crate) seed: Option<u64>,
    /// Replace a value of the scenario, for example `links.link.reorder="1 %"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write the packets of a link to `LINK.pcapng` in `--out`.
    #[arg(long, value_name = "LINK", requires = "out")]
    pub(crate) pcap: Vec<String>,
    /// Write every table, the merged scenario and a manifest into this directory, as `run` does.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Open a socket at this path, by which `slantpath set` changes links while it runs. Its owner alone may use it.
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Record all that comes from programs, for `slantpath replay`.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// A program with its arguments that runs in `near`; with `--relay` on this machine as it is. At its end all is
    /// over.
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SetArguments {
    /// The socket that `slantpath emulate --control` or `slantpath gateway --control` has opened.
    pub(crate) socket: PathBuf,
    /// Keys with their values, in turn: for example `links.satellite.loss '5 %'`. A link has the keys of `[[script]]`;
    /// `links.satellite.forward.loss` is that of one direction. What is given at one time happens at one instant.
    #[arg(value_name = "KEY VALUE")]
    pub(crate) settings: Vec<String>,
    /// Take a link out of service. May be given several times.
    #[arg(long, value_name = "LINK")]
    pub(crate) down: Vec<String>,
    /// Bring a link back. May be given several times.
    #[arg(long, value_name = "LINK")]
    pub(crate) up: Vec<String>,
    /// Have it do what an event of a script does, in the same words: for example `--do action=inhibit link=trunk`.
    #[arg(long = "do", value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) act: Vec<String>,
    /// Print what has passed each interface, how late, and if the run is void; of a gateway its links, routes,
    /// associations, application servers and counts.
    #[arg(long)]
    pub(crate) status: bool,
    /// Print events until the run is over: of scripts, of programs that end, of signalling, and if the run becomes
    /// void.
    #[arg(long)]
    pub(crate) events: bool,
    /// Print messages of a title or of a point as they come to a gateway, and what becomes of each: for example
    /// `--trace title=4917* messages=20`, or `--trace point=boston`.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub(crate) trace: Vec<String>,
    /// Have a gateway capture its packets from now on into a new file, as pcapng.
    #[arg(long, value_name = "FILE", conflicts_with = "end_capture")]
    pub(crate) capture: Option<PathBuf>,
    /// Have a gateway end its capture.
    #[arg(long)]
    pub(crate) end_capture: bool,
    /// Have a gateway read its file anew, as SIGHUP does; `--events` tells what comes of it.
    #[arg(long)]
    pub(crate) reload: bool,
    /// End the run: its programs are asked to end.
    #[arg(long)]
    pub(crate) stop: bool,
    /// Print answers and events as JSON, one a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// The scenario file.
    pub(crate) scenario: PathBuf,
    /// Seed of all random draws, in place of the scenario's `seed`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=i64::MAX.unsigned_abs()))]
    pub(crate) seed: Option<u64>,
    /// Number of independent runs to make, 1 if absent; means get 99 % intervals from them. With `--until` the most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) reps: Option<u32>,
    /// Make as many runs as it takes to know the mean of a measure of each flow so well, with a 99 % interval: for
    /// example 'failover ± 5 %' or 'gap ± 20 ms'. 30 at least and 10000 at most, or as many as `--reps` says.
    #[arg(long, value_name = "MEASURE ± PRECISION", value_parser = Until::parse)]
    pub(crate) until: Option<Until>,
    /// Tell in how many runs a measure of each flow keeps a limit: for example 'failover 2 s' or 'gap 800 ms'.
    #[arg(long, value_name = "MEASURE LIMIT", value_parser = Within::parse)]
    pub(crate) within: Vec<Within>,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Replace a value of the scenario, for example `links.satellite.loss="3 %"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Write the packets of a link to `LINK.pcapng` in `--out`, of the first run if there are several.
    #[arg(long, value_name = "LINK", conflicts_with = "show")]
    pub(crate) pcap: Vec<String>,
    /// Write what the association of a flow decided and why into this file, for `slantpath explain`; of the first run
    /// if there are several. That run is made once more for it. Associations that carry signalling are called by their
    /// link or association of M3UA, and by the end that is meant: `trunk@london`; the first end if it is left out.
    #[arg(long, value_name = "FLOW=FILE", conflicts_with = "show")]
    pub(crate) trace: Vec<String>,
    /// Write every table (Parquet and CSV), the merged scenario and a manifest into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print as JSON: what was run, means of all that has means, and flows that failed.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the merged scenario with every default written out, and do not run it.
    #[arg(long, conflicts_with_all = ["json", "out"])]
    pub(crate) show: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SweepArguments {
    /// The sweep file: a base scenario, axes of values and repetitions.
    pub(crate) sweep: PathBuf,
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    /// Replace a value of the base scenario, for example `links.satellite.loss="3 %"`; axes stand above it. May be
    /// given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Directory for the finished runs and the joined tables.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct CommonArguments {
    /// Threads; one for each processor if absent. Results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) jobs: usize,
}

/// A setting as `KEY=VALUE`.
fn a_setting(text: &str) -> Result<Assignment, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok(Assignment::new(format!("--sctp {}", key.trim()), key.trim(), value))
        }
        _ => Err("write it like `rto_min=200 ms`".to_owned()),
    }
}

/// Bytes of a message: room for its stamp, and no more than a receiver gathers.
fn a_message_size(text: &str) -> Result<u32, String> {
    const CURE: &str = "give 16 to 1000000 bytes, like `1000` or `1 kB`";
    let bytes = match text.parse::<u64>() {
        Ok(bytes) => bytes,
        Err(_) => text.parse::<DataSize>().map_err(|error| format!("{error}; {CURE}"))?.as_bytes(),
    };
    u32::try_from(bytes).ok().filter(|bytes| (16..=1_000_000).contains(bytes)).ok_or_else(|| CURE.to_owned())
}

fn a_total_send_buffer(text: &str) -> Result<DataSize, String> {
    a_buffer(text, DataSize::from_bytes(4_000), DataSize::from_bytes(1 << 40))
}

fn a_dscp(text: &str) -> Result<NamedDscp, String> {
    text.parse().map_err(|()| "give EF, CS0 to CS7, or AF11 to AF43".to_owned())
}

fn a_buffer(text: &str, least: DataSize, most: DataSize) -> Result<DataSize, String> {
    let size: DataSize = text.parse().map_err(|error: slantpath_base::QuantityError| error.to_string())?;
    if (least..=most).contains(&size) {
        return Ok(size);
    }
    Err(format!("give {least} to {most}"))
}

/// Messages a second: more than none, and no more than nanoseconds tell apart.
fn a_rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-3..=1e9).contains(&rate) => Ok(rate),
        _ => {
            Err("give messages a second without a unit, from 0.001 to 1e9; their length is `--size`"
                .to_owned())
        }
    }
}

fn a_duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|error: slantpath_base::QuantityError| error.to_string())
}

/// A step that the names of Hypatia's directories can tell: they count milliseconds.
fn whole_milliseconds(text: &str) -> Result<Duration, String> {
    let step: Duration = text.parse().map_err(|error: slantpath_base::QuantityError| error.to_string())?;
    if step.is_zero() || !step.as_nanos().is_multiple_of(1_000_000) {
        return Err("give whole milliseconds, at least one, like `100 ms`".to_owned());
    }
    Ok(step)
}

/// Threads at most: more than any machine has processors for, and few enough for every machine to start.
const THREADS_MAX: usize = 1_024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= THREADS_MAX => Ok(threads),
        Ok(_) => Err(format!("{THREADS_MAX} is the most; more threads than processors gain nothing")),
        Err(_) => Err(format!("give a whole number from 0, one for each processor, to {THREADS_MAX}")),
    }
}
