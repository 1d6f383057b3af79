//! Arguments of `slantpath gateway`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct GatewayArguments {
    #[command(subcommand)]
    pub(crate) question: Option<GatewayQuestion>,
    #[command(flatten)]
    pub(crate) seat: Option<SeatArguments>,
    #[command(flatten)]
    pub(crate) outputs: SeatOutputArguments,
    #[command(flatten)]
    pub(crate) operation: OperationArguments,
}

impl GatewayArguments {
    /// The scenario file.
    pub(crate) fn scenario(&self) -> Option<&Path> {
        match &self.question {
            Some(GatewayQuestion::Check(seat)) => Some(&seat.scenario),
            Some(GatewayQuestion::Explain(title)) => Some(&title.scenario),
            None => self.seat.as_ref().map(|seat| seat.scenario.as_path()),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayQuestion {
    /// Say which associations a point would have, from where to where, and who opens each, and do nothing.
    Check(SeatArguments),
    /// Say which rule takes a global title at each point, and where it goes.
    Explain(TitleArguments),
}

#[derive(Args, Debug)]
pub(crate) struct TitleArguments {
    /// The scenario file.
    pub(crate) scenario: PathBuf,
    /// The point that is given the message first.
    #[arg(long, value_name = "NAME")]
    pub(crate) point: String,
    /// Digits of the called party's title.
    pub(crate) digits: String,
    /// Translation type of the title, or `none`.
    #[arg(long, visible_alias = "tt", value_name = "N", default_value = "0")]
    pub(crate) translation_type: TitleAttribute,
    /// Numbering plan of the title, or `none`; 1 is E.164, 6 E.212, 7 E.214.
    #[arg(long, visible_alias = "np", value_name = "N", default_value = "1")]
    pub(crate) plan: TitleAttribute,
    /// Nature of address of the title, or `none`; 4 is international.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) nature: TitleAttribute,
    /// Subsystem of the called party.
    #[arg(long, visible_alias = "ssn", value_name = "N")]
    pub(crate) subsystem: Option<u8>,
    /// Digits of the calling party's title.
    #[arg(long, value_name = "DIGITS")]
    pub(crate) calling: Option<String>,
    /// Ask the point that is live with this control socket, in place of the file: it says what it cannot reach now.
    #[arg(long, value_name = "SOCKET", conflicts_with = "set")]
    pub(crate) now: Option<PathBuf>,
    /// Replace a value of the scenario. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Attribute of a title, which it may lack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TitleAttribute(pub(crate) Option<u8>);

impl FromStr for TitleAttribute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let value = text.parse().map_err(|_| "write a number from 0 to 255, or `none`".to_owned())?;
        Ok(Self(Some(value)))
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SeatArguments {
    /// The scenario file. Of all but the point that is live it says point codes, addresses and ports.
    pub(crate) scenario: PathBuf,
    /// The signalling point, gateway or application server process that is live.
    #[arg(long, value_name = "NAME")]
    pub(crate) point: String,
    /// Addresses that a node has on the real network, in place of those of the scenario. May be given several times.
    #[arg(long, value_name = "NODE=ADDRESS")]
    pub(crate) at: Vec<String>,
    /// Carry SCTP in UDP (RFC 6951), at this port here and at every peer, for which no privilege is needed.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "9899",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) udp: Option<u16>,
    /// Send a load of the scenario from here, as its times say from the start on. May be given several times.
    #[arg(long = "load", value_name = "LOAD")]
    pub(crate) loads: Vec<String>,
    /// Seed of the loads, in place of the scenario's `seed`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=i64::MAX.unsigned_abs()))]
    pub(crate) seed: Option<u64>,
    /// Replace a value of the scenario, for example `sctp.default.rto_min="200 ms"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Lay settings over the point, its links and profiles: a file that `slantpath plan --format gateway` printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SeatOutputArguments {
    /// Record all that the point is told, for `slantpath replay`. The file has the run's secret, and the scenario.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write all packets, in both directions, into this file, as pcapng. They are in IP, whatever carries them.
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,
    /// Write the messages that rules of `[[signalling.screening]]` have copied into this file, as pcapng.
    #[arg(long, value_name = "FILE")]
    pub(crate) copies: Option<PathBuf>,
    /// Write what each association decided and why into a file of this directory, `NAME.trace`, for `slantpath
    /// explain`.
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct OperationArguments {
    /// Open a socket there, by which `slantpath set` asks it and changes it. Only its owner may use it.
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Tell figures for Prometheus there, at `/metrics`, over HTTP. A port alone is one of this machine's loopback.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = scraped_at)]
    pub(crate) metrics: Option<SocketAddr>,
}

/// Reads the place of figures.
fn scraped_at(text: &str) -> Result<SocketAddr, String> {
    let loopback = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    loopback.or_else(|_| text.parse()).map_err(|_| {
        "write a port, or an address of this machine with one: `9464`, `192.0.2.1:9464`, `[::1]:9464`"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_at_the_loopback_unless_an_address_is_given() {
        let at = |text| scraped_at(text).map(|at| at.to_string());
        assert_eq!(at("9464").as_deref(), Ok("127.0.0.1:9464"));
        assert_eq!(at("192.0.2.1:9464").as_deref(), Ok("192.0.2.1:9464"));
        assert_eq!(at("[::1]:0").as_deref(), Ok("[::1]:0"));
        for wrong in ["", "65536", "192.0.2.1", "localhost:9464"] {
            assert!(at(wrong).is_err_and(|error| error.contains("`9464`")), "{wrong}");
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct TrafficArguments {
    /// The scenario file, which has the loads, and of all gateways between their ends point codes, addresses and ports.
    pub(crate) scenario: PathBuf,
    /// Send a load of the scenario from its points, and keep the account where it arrives, if that is on this machine,
    /// too. May be given several times; all loads if nothing is named.
    #[arg(long = "load", value_name = "LOAD")]
    pub(crate) loads: Vec<String>,
    /// Send a load, and leave its account to `--receive` of another program. May be given several times.
    #[arg(long = "send", value_name = "LOAD")]
    pub(crate) sends: Vec<String>,
    /// Keep the account of a load that another program sends. May be given several times.
    #[arg(long = "receive", value_name = "LOAD")]
    pub(crate) receives: Vec<String>,
    /// Addresses that a node has on the real network, in place of those of the scenario. May be given several times.
    #[arg(long, value_name = "NODE=ADDRESS")]
    pub(crate) at: Vec<String>,
    /// Carry SCTP in UDP (RFC 6951), at this port here and at every peer, for which no privilege is needed.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "9899",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) udp: Option<u16>,
    /// Seed of the loads, in place of the scenario's `seed`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=i64::MAX.unsigned_abs()))]
    pub(crate) seed: Option<u64>,
    /// Replace a value of the scenario, for example `sctp.default.rto_min="200 ms"`. May be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub(crate) set: Vec<String>,
    /// Time after which nothing is sent any more; the end of the loads if absent.
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<slantpath_base::Duration>,
    /// With `--receive`: relation of the sender's clock to this machine's.
    #[arg(long, value_enum, default_value_t = ClockRelation::Together)]
    pub(crate) clocks: ClockRelation,
    /// Write the account into this directory, as the table `signalling_load` of a run.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print beside it what a run of the scenario came to, whose results `run --out DIR` wrote.
    #[arg(long, value_name = "DIR")]
    pub(crate) like: Option<PathBuf>,
}

/// Relation of a sender's clock to the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ClockRelation {
    /// Nothing keeps them together: delays are counted from the least of them.
    Apart,
    /// One machine has both, or both are synchronised.
    Together,
}
