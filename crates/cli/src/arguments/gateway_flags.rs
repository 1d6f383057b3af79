//! Arguments of `slantpath gateway`.

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

#[derive(Args, Debug)]
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
