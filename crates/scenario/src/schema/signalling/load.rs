//! `[signalling.load.<name>]`: what a generator sends on signalling links.

use serde_json::{Value as Json, json};
use slantpath_base::{DataRate, Duration};

use crate::diagnostic::Fault;
use crate::document::Node;
use crate::section::{Setting, section};
use crate::value::{Value, choice};

section! {
    /// A generator at one point whose messages are accounted for at others.
    pub struct Load {
        /// The point that sends.
        from: Setting<String>;
        /// The points that receive, in turn.
        to: Setting<Vec<String>>;
        /// How many links' worth of load; link n takes signalling link selection n modulo 16.
        links: Setting<u16> = 1;
        /// The share of a line's time that the messages of one of them take.
        erlang_per_link: Setting<f64>;
        /// What one Erlang fills.
        line_rate: Setting<DataRate> = DataRate::from_bits_per_sec(64_000);
        /// Octets of a message on the line, flag and check bits included; several are as frequent. `"isup-calls"` is
        /// the mix of a real generator of ISUP calls.
        lengths: Setting<LengthMix>;
        /// When messages come.
        arrivals: Setting<Arrivals> = Arrivals::Poisson;
        /// With `on-off`: mean length of a period of activity.
        mean_on: Option<Setting<Duration>>;
        /// With `on-off`: mean length of a pause.
        mean_off: Option<Setting<Duration>>;
        /// With `trace`: a file with lines of time and size, of which the times are taken.
        trace: Option<Setting<String>>;
        /// With `trace`: BLAKE3 of the file; worked out if absent.
        trace_digest: Option<Setting<String>>;
        /// How messages find their way.
        routing: Setting<LoadRouting> = LoadRouting::PointCode;
        /// With `point-code`: the service indicator.
        service: Setting<u8> = 5;
        /// Priority of the messages, 0 to 3, where the point that sends tells congestion as national networks do.
        priority: Setting<u8> = 0;
        /// With `global-title`: the point that translates.
        translator: Option<Setting<String>>;
        /// With `global-title`: digits of the called parties, in turn.
        called: Option<Setting<Vec<String>>>;
        /// With `global-title`: the called subsystem.
        subsystem: Option<Setting<u8>>;
        /// With `global-title`: the translation type of the called parties.
        translation_type: Setting<u8> = 0;
        /// With `global-title`: their numbering plan; 1 is E.164.
        plan: Setting<u8> = 1;
        /// With `global-title`: their nature of address; 4 is international.
        nature: Setting<u8> = 4;
        /// When it begins.
        start: Setting<Duration> = Duration::ZERO;
        /// When it ends; `give_up_after` before the end of the run if absent, or with it.
        stop: Option<Setting<Duration>>;
        /// When a message that has not arrived is given up: it is lost, or late if it comes after all.
        give_up_after: Setting<Duration> = Duration::from_secs(10);
    }
}

choice! {
    /// When messages come.
    pub enum Arrivals {
        /// At equal intervals, each link with a phase of its own.
        Constant = "constant",
        /// As a Poisson process in periods of activity, with pauses between them; both are exponential.
        OnOff = "on-off",
        /// As a Poisson process.
        Poisson = "poisson",
        /// At the times that a file lists; the load is what it is.
        Trace = "trace",
    }
}

choice! {
    /// How messages of a load find their way.
    pub enum LoadRouting {
        /// By global title, over a point that translates.
        GlobalTitle = "global-title",
        /// By destination point code.
        PointCode = "point-code",
    }
}

/// Lengths of messages. Written `"isup-calls"` or as a list of octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LengthMix {
    /// The mix of a real generator of ISUP calls.
    IsupCalls,
    /// These, all as frequent.
    Octets(Vec<u16>),
}

impl Value for LengthMix {
    fn read(node: &Node) -> Result<Self, Fault> {
        if String::read(node).is_ok_and(|text| text.trim() == "isup-calls") {
            return Ok(Self::IsupCalls);
        }
        Vec::<u16>::read(node).map(Self::Octets).map_err(|fault| {
            Fault::new(fault.message).help("write \"isup-calls\" or a list of octets like [60, 120, 270]")
        })
    }

    fn write(&self) -> String {
        match self {
            Self::IsupCalls => "\"isup-calls\"".to_owned(),
            Self::Octets(octets) => octets.write(),
        }
    }

    fn schema() -> Json {
        let examples = json!(["isup-calls", [60, 120, 270]]);
        json!({ "anyOf": [{ "const": "isup-calls" }, Vec::<u16>::schema()], "examples": examples })
    }
}
