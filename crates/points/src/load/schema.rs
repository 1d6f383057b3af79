//! `[signalling.load.<name>]`: what a generator sends on signalling links.

use slantpath_base::{DataRate, Duration, Probability};
use slantpath_reader::{
    Fault, Json, KeyValue, Later, Named, Resolved, Setting, ValueData, ValueNode, choice, json, section,
};
use slantpath_ss7::load::TracedArrival;

use crate::bounds::{ERLANG, RATE, RUN, WEIGHT};

section! {
    /// A generator at one point whose messages are accounted for at others.
    pub struct Load<S> {
        /// The point that sends.
        from: Setting<String>;
        /// The points that receive, in turn.
        to: Setting<Vec<String>>;
        /// Number of links that the load is for.
        links: Setting<u16> = 1;
        /// The share of a line's time that the messages of one of them take.
        erlang_per_link: Setting<f64>, at most ERLANG;
        /// Changes of the load, with `constant` and `poisson` arrivals: in order of time, none before another has
        /// ended.
        steps: Vec<Named<LoadStep>>;
        /// Rate that one Erlang fills.
        line_rate: Setting<DataRate> = DataRate::from_bits_per_sec(64_000), at most RATE;
        /// Octets of a message on the line, flag and check bits included; several are as frequent, or as their weights
        /// say. `"isup-calls"` is the mix of a real generator of ISUP calls, `"trace"` what the trace says of each
        /// message.
        lengths: Setting<LengthMix>;
        /// Process by which messages come.
        arrivals: Setting<Arrivals> = Arrivals::Poisson;
        /// With `on-off`: mean length of a period of activity.
        mean_on: Option<Setting<Duration>>, at most RUN;
        /// With `on-off`: mean length of a pause.
        mean_off: Option<Setting<Duration>>, at most RUN;
        /// Rule by which messages get their signalling link selection.
        selection: Setting<LoadSelection> = LoadSelection::Link;
        /// With `trace`: a file with a line for each message, its time, and if `lengths` or `selection` say so its size
        /// and its selection: `30 ms,120 B,5`.
        trace: Option<Setting<String>>;
        /// With `trace`: BLAKE3 of the file; worked out if absent.
        trace_digest: Option<Setting<String>>;
        /// Routing of the messages.
        routing: Setting<LoadRouting> = LoadRouting::PointCode;
        /// With `shared`: the share of the messages that go by global title.
        title_share: Option<Setting<Probability>>;
        /// With `point-code` and `shared`: the service indicator of messages by point code. If absent, that of no user
        /// part (15), since stamps are no messages of any, or one that the application servers of both ends take.
        service: Later<S, Setting<u8>>;
        /// Priority of the messages, 0 to 3, where the point that sends indicates congestion as national networks do.
        priority: Setting<u8> = 0;
        /// With `global-title` and `shared`: the point that translates.
        translator: Option<Setting<String>>;
        /// With `global-title` and `shared`: digits of the called parties, in turn.
        called: Option<Setting<Vec<String>>>;
        /// With `global-title` and `shared`: the called subsystem.
        subsystem: Option<Setting<u8>>;
        /// With `global-title` and `shared`: the translation type of the called parties.
        translation_type: Setting<u8> = 0;
        /// With `global-title` and `shared`: their numbering plan; 1 is E.164.
        plan: Setting<u8> = 1;
        /// With `global-title` and `shared`: their nature of address; 4 is international.
        nature: Setting<u8> = 4;
        /// Declares that more of it than lines and windows carry is meant: no warning is given then.
        overload: Option<Setting<bool>>;
        /// Time at which the load begins.
        start: Setting<Duration> = Duration::ZERO, at most RUN;
        /// Time at which the load ends; `give_up_after` before the end of the run if absent, or with it.
        stop: Later<S, Setting<Duration>>, at most RUN;
        /// Time after which a message that has not arrived is given up: it is lost, or late if it comes after all.
        give_up_after: Setting<Duration> = Duration::from_secs(10), at most RUN;
        /// Messages that the trace lists; none without one.
        messages: Later<S, Resolved<Vec<TracedArrival>>>;
    }
}

section! {
    /// A change of a load.
    pub struct LoadStep {
        /// Time at which the load begins to change.
        at: Setting<Duration>, at most RUN;
        /// Duration of the change, in which the load rises or falls evenly.
        over: Setting<Duration> = Duration::ZERO, at most RUN;
        /// The share of a line's time that the messages of one link take from then on; with 0 nothing is sent.
        erlang_per_link: Setting<f64>, at most ERLANG;
    }
}

choice! {
    /// Process by which messages come.
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
    /// Routing of the messages of a load.
    pub enum LoadRouting {
        /// By global title, over a point that translates.
        GlobalTitle = "global-title",
        /// By destination point code.
        PointCode = "point-code",
        /// The share `title_share` by global title, the others by destination point code, evenly among each other.
        Shared = "shared",
    }
}

choice! {
    /// Rule by which messages get their signalling link selection.
    pub enum LoadSelection {
        /// Messages of link n have n modulo 16.
        Link = "link",
        /// Selection that the trace gives for each message.
        Trace = "trace",
    }
}

/// Lengths of messages. Written `"isup-calls"`, `"trace"`, as a list of octets, or as one of octets and weights.
#[derive(Clone, Debug, PartialEq)]
pub enum LengthMix {
    /// The mix of a real generator of ISUP calls.
    IsupCalls,
    /// These, all as frequent.
    Octets(Vec<u16>),
    /// Lengths that the trace gives for each message.
    Trace,
    /// These, each with its weight.
    Weighted(Vec<(u16, f64)>),
}

/// Help on the forms in which a length may be written.
const LENGTHS: &str =
    "write \"isup-calls\", \"trace\", a list like [60, 120], or one like [{ octets = 60, weight = 3 }]";

/// A length with its weight: a table of two keys.
fn weighted(node: &ValueNode) -> Result<(u16, f64), Fault> {
    let ValueData::Table(entries) = &node.data else {
        let message = format!("octets with a weight are wanted here, not {}", node.kind());
        return Err(Fault::new(message).help("give every length of the list its weight, or none"));
    };
    if let Some(key) = entries.keys().find(|key| !["octets", "weight"].contains(&key.as_str())) {
        return Err(Fault::new(format!("a length has no key `{key}`")).help("its keys: `octets`, `weight`"));
    }
    let entry = |key: &str| {
        let lacks =
            || Fault::new(format!("a length lacks `{key}`")).help("write { octets = 60, weight = 3 }");
        entries.get(key).map(|entry| &entry.node).ok_or_else(lacks)
    };
    let (octets, weight) = (u16::read(entry("octets")?)?, f64::read(entry("weight")?)?);
    if weight < 0.0 {
        return Err(Fault::new(format!("a weight of {weight} is negative")).help("a weight is 0 or more"));
    }
    let most = f64::from(WEIGHT.most);
    if weight > most {
        let help = format!("let it be at most {most}: {}", WEIGHT.why);
        return Err(Fault::new(format!("a weight of {weight} is too large")).help(help));
    }
    Ok((octets, weight))
}

impl KeyValue for LengthMix {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        match &node.data {
            ValueData::Text(text) if text.trim() == "isup-calls" => Ok(Self::IsupCalls),
            ValueData::Text(text) if text.trim() == "trace" => Ok(Self::Trace),
            ValueData::Array(items) if items.iter().any(|item| matches!(item.data, ValueData::Table(_))) => {
                items.iter().map(weighted).collect::<Result<_, _>>().map(Self::Weighted)
            }
            _ => Vec::<u16>::read(node)
                .map(Self::Octets)
                .map_err(|fault| Fault::new(fault.message).help(LENGTHS)),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::IsupCalls => "\"isup-calls\"".to_owned(),
            Self::Octets(octets) => octets.write(),
            Self::Trace => "\"trace\"".to_owned(),
            Self::Weighted(mix) => {
                let item = |(octets, weight): &(u16, f64)| {
                    format!("{{ octets = {}, weight = {} }}", octets.write(), weight.write())
                };
                format!("[{}]", mix.iter().map(item).collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn schema() -> Json {
        let examples = json!(["isup-calls", "trace", [60, 120, 270], [{ "octets": 60, "weight": 3 }]]);
        let weighted = json!({
            "type": "object",
            "properties": {
                "octets": u16::schema(),
                "weight": { "type": "number", "minimum": 0, "maximum": WEIGHT.most },
            },
            "required": ["octets", "weight"],
            "additionalProperties": false,
        });
        let forms = json!([
            { "const": "isup-calls" },
            { "const": "trace" },
            Vec::<u16>::schema(),
            { "type": "array", "items": weighted },
        ]);
        json!({ "anyOf": forms, "examples": examples })
    }
}

impl LoadRouting {
    /// Tells whether messages go by global title.
    pub const fn is_by_title(self) -> bool {
        matches!(self, Self::GlobalTitle | Self::Shared)
    }

    /// Tells whether messages go by destination point code.
    pub const fn is_by_code(self) -> bool {
        matches!(self, Self::PointCode | Self::Shared)
    }
}
