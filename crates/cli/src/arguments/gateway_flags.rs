//! Arguments of `slantpath gateway`.

use std::path::{Path, PathBuf};

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
}

impl GatewayArguments {
    /// The scenario file.
    pub(crate) fn scenario(&self) -> Option<&Path> {
        match &self.question {
            Some(GatewayQuestion::Check(seat)) => Some(&seat.scenario),
            None => self.seat.as_ref().map(|seat| seat.scenario.as_path()),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum GatewayQuestion {
    /// Say which associations a point would have, from where to where, and who opens each, and do nothing.
    Check(SeatArguments),
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
}

#[derive(Args, Debug)]
pub(crate) struct SeatOutputArguments {
    /// Record all that the point is told, for `slantpath replay`. The file has the run's secret, and the scenario.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write all packets, in both directions, into this file, as pcapng. They are in IP, whatever carries them.
    #[arg(long, value_name = "FILE")]
    pub(crate) capture: Option<PathBuf>,
    /// Write what each association decided and why into a file of this directory, `NAME.trace`, for `slantpath
    /// explain`.
    #[arg(long, value_name = "DIR")]
    pub(crate) trace: Option<PathBuf>,
}
