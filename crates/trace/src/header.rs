//! The first line of a trace: what it is of.

use serde_json::{Map, Value, json};
use slantpath_base::Duration;
use slantpath_sctp::SctpConfig;

/// The version of the format that is written and read.
pub(crate) const VERSION: u64 = 1;

/// Subject of a trace: its origin and the association's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeader {
    /// Run from which the trace comes.
    pub origin: TraceOrigin,
    /// Settings of the association.
    pub settings: TraceSettings,
    /// All settings of its profile by their names in scenarios, with values as there, as a JSON object; `None` in
    /// traces of programs that did not write them.
    pub profile: Option<Value>,
}

/// Origin of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceOrigin {
    /// A run of a scenario. Its clock begins with the run.
    Simulated {
        /// The scenario's file, as it was given.
        scenario: String,
        /// The hash of the scenario with its overrides.
        hash: String,
        /// Overrides that replaced values of the file, in their order.
        set: Vec<String>,
        /// The seed of the run.
        seed: u64,
        /// The number of the replication.
        run: u64,
        /// Name of the flow, or of the association.
        flow: String,
        /// True of an association that carries signalling, and no flow. Older traces do not tell it.
        is_signalling: bool,
        /// The node that sends.
        from: String,
        /// The node that receives.
        to: String,
    },
    /// Packets of a real network, seen at one point. The clock began with the first of them. Settings are not known:
    /// those of the header are what was assumed to tell what was decided.
    Captured {
        /// Name of the capture.
        capture: String,
    },
    /// A run on real sockets, or its repetition. Its clock began when they were opened.
    Live {
        /// The command, without the program's name.
        command: Vec<String>,
    },
}

/// The settings that tell why something was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceSettings {
    /// RTO.Initial.
    pub rto_initial: Duration,
    /// RTO.Min.
    pub rto_min: Duration,
    /// RTO.Max.
    pub rto_max: Duration,
    /// Path.Max.Retrans.
    pub path_max_retrans: u32,
    /// Association.Max.Retrans.
    pub association_max_retrans: u32,
    /// HB.interval; `None`: there are no HEARTBEATs but to verify addresses.
    pub heartbeat_interval: Option<Duration>,
}

impl Default for TraceSettings {
    fn default() -> Self {
        Self::of(&SctpConfig::default())
    }
}

impl TraceSettings {
    /// Takes the settings of an association from its configuration.
    pub fn of(config: &SctpConfig) -> Self {
        Self {
            rto_initial: config.rto_initial,
            rto_min: config.rto_min,
            rto_max: config.rto_max,
            path_max_retrans: config.path_max_retrans,
            association_max_retrans: config.association_max_retrans,
            heartbeat_interval: config.heartbeat_interval,
        }
    }

    fn write(self) -> Value {
        json!({
            "rto_initial_ns": self.rto_initial.as_nanos(),
            "rto_min_ns": self.rto_min.as_nanos(),
            "rto_max_ns": self.rto_max.as_nanos(),
            "path_max_retrans": self.path_max_retrans,
            "association_max_retrans": self.association_max_retrans,
            "heartbeat_interval_ns": self.heartbeat_interval.map(Duration::as_nanos),
        })
    }

    fn read(settings: &Value) -> Option<Self> {
        let time = |name: &str| settings[name].as_u64().map(Duration::from_nanos);
        let count = |name: &str| settings[name].as_u64().and_then(|count| u32::try_from(count).ok());
        Some(Self {
            rto_initial: time("rto_initial_ns")?,
            rto_min: time("rto_min_ns")?,
            rto_max: time("rto_max_ns")?,
            path_max_retrans: count("path_max_retrans")?,
            association_max_retrans: count("association_max_retrans")?,
            heartbeat_interval: time("heartbeat_interval_ns"),
        })
    }
}

impl TraceOrigin {
    /// Subject of a trace of a simulated run in words: its flow or its association, with its name.
    pub fn subject(&self) -> Option<String> {
        let Self::Simulated { flow, is_signalling, .. } = self else { return None };
        let kind = if *is_signalling { "association" } else { "flow" };
        Some(format!("{kind} `{flow}`"))
    }
}

impl TraceHeader {
    /// The line, without its end.
    pub(crate) fn line(&self) -> String {
        let origin = match &self.origin {
            TraceOrigin::Simulated { scenario, hash, set, seed, run, flow, is_signalling, from, to } => {
                let mut origin = json!({
                    "kind": "simulated",
                    "scenario": scenario,
                    "hash": hash,
                    "set": set,
                    "seed": seed,
                    "run": run,
                    "flow": flow,
                    "from": from,
                    "to": to,
                });
                if *is_signalling {
                    origin["is_signalling"] = true.into();
                }
                origin
            }
            TraceOrigin::Captured { capture } => json!({ "kind": "captured", "capture": capture }),
            TraceOrigin::Live { command } => json!({ "kind": "live", "command": command }),
        };
        let program = env!("CARGO_PKG_VERSION");
        let settings = self.settings.write();
        let profile = self.profile.as_ref().map_or_else(String::new, |all| format!(",\"profile\":{all}"));
        let run = format!("\"program\":\"{program}\",\"origin\":{origin}");
        format!("{{\"slantpath_trace\":{VERSION},{run},\"sctp\":{settings}{profile}}}")
    }

    /// Reads what [`TraceHeader::line`] wrote; `None` if a part of it is missing or no such thing.
    pub(crate) fn read(line: &Map<String, Value>) -> Option<Self> {
        let origin = line.get("origin")?;
        let text = |name: &str| origin[name].as_str().map(str::to_owned);
        let texts = |name: &str| -> Option<Vec<String>> {
            origin[name].as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        };
        let origin = match origin["kind"].as_str()? {
            "simulated" => TraceOrigin::Simulated {
                scenario: text("scenario")?,
                hash: text("hash")?,
                set: texts("set")?,
                seed: origin["seed"].as_u64()?,
                run: origin["run"].as_u64()?,
                flow: text("flow")?,
                is_signalling: origin["is_signalling"].as_bool().unwrap_or_default(),
                from: text("from")?,
                to: text("to")?,
            },
            "captured" => TraceOrigin::Captured { capture: text("capture")? },
            "live" => TraceOrigin::Live { command: texts("command")? },
            _ => return None,
        };
        let profile = match line.get("profile") {
            None => None,
            Some(profile) => Some(profile.is_object().then(|| profile.clone())?),
        };
        Some(Self { origin, settings: TraceSettings::read(line.get("sctp")?)?, profile })
    }
}
