//! Arguments of `slantpath plan`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct PlanArguments {
    /// File of known values, as TOML; the flags alone if absent.
    pub(crate) question: Option<PathBuf>,
    /// From a packet to its acknowledgement, with nothing waiting: `650 ms`.
    #[arg(long, value_name = "TIME")]
    pub(crate) round_trip: Option<String>,
    /// The share of packets that the path loses.
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<String>,
    /// Rate that the terminal may send for good, in bits of Ethernet: `2048 kbit/s`.
    #[arg(long, value_name = "RATE")]
    pub(crate) permanent: Option<String>,
    /// Rate that it may send beyond that when it has been asked for.
    #[arg(long, value_name = "RATE")]
    pub(crate) on_demand: Option<String>,
    /// Time from such a request until there is capacity for it.
    #[arg(long, value_name = "TIME")]
    pub(crate) allocation_time: Option<String>,
    /// Carrier of the messages: `m2pa`, as it is if absent, `m3ua`, or `sctp` alone.
    #[arg(long, value_name = "CARRIER")]
    pub(crate) carrier: Option<String>,
    /// Number of signalling links; 30 if absent.
    #[arg(long, value_name = "N")]
    pub(crate) links: Option<String>,
    /// The share of each link's time that its messages take.
    #[arg(long, value_name = "ERLANG")]
    pub(crate) erlang: Option<String>,
    /// The largest step by which that grows at once.
    #[arg(long, value_name = "ERLANG")]
    pub(crate) step: Option<String>,
    /// Messages a second in each direction, in place of `--erlang`.
    #[arg(long, value_name = "N", conflicts_with_all = ["erlang", "step"])]
    pub(crate) messages: Option<String>,
    /// The largest step by which those grow at once.
    #[arg(long, value_name = "N", conflicts_with_all = ["erlang", "step"])]
    pub(crate) step_messages: Option<String>,
    /// Octets of a message: on a link, or of SCTP alone as it is handed over.
    #[arg(long, value_name = "N")]
    pub(crate) octets: Option<String>,
    /// In which time a path that fails has to be left.
    #[arg(long, value_name = "TIME")]
    pub(crate) failover: Option<String>,
    /// The round trip of another path that an association can turn to.
    #[arg(long, value_name = "TIME")]
    pub(crate) backup_round_trip: Option<String>,
    /// The longest fade, or other break of the path, that an association has to outlive.
    #[arg(long, value_name = "TIME")]
    pub(crate) fade: Option<String>,
    /// An own address of the gateway that is configured; several are several paths.
    #[arg(long = "address", value_name = "ADDRESS")]
    pub(crate) addresses: Vec<IpAddr>,
    /// An address of its peer; several are several paths.
    #[arg(long = "peer-address", value_name = "ADDRESS")]
    pub(crate) peer_addresses: Vec<IpAddr>,
    /// The gateway's own point code: `1.2.3`.
    #[arg(long, value_name = "CODE")]
    pub(crate) point_code: Option<String>,
    /// The point code that is reached through the peer.
    #[arg(long, value_name = "CODE")]
    pub(crate) peer_point_code: Option<String>,
    /// The routing context of M3UA.
    #[arg(long, value_name = "N")]
    pub(crate) routing_context: Option<String>,
    /// Set a value of the file: `band.interruption=1 s`.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Format of the answer.
    #[arg(long, value_enum, default_value_t = PlanFormat::Text)]
    pub(crate) format: PlanFormat,
    /// Keep question and answer in this directory, for `slantpath report`; it must hold no other results.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Simulate the answer, and say of each promise whether it is kept.
    #[arg(long)]
    pub(crate) verify: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The settings of a signalling gateway, by name.
    Gateway,
    /// JSON, for programs.
    Json,
    /// The configuration of osmo-stp.
    OsmoStp,
    /// The settings of Linux.
    Sysctl,
    /// Text, for people.
    Text,
    /// A scenario that `slantpath run` takes.
    Toml,
}
