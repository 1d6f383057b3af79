//! State of a network that runs, as a client is told it.

use serde_json::{Value as Json, json};

/// State of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlStatus {
    /// Present instant, in seconds from the start of the run.
    pub at_s: f64,
    /// Interfaces to what is attached.
    pub interfaces: Vec<InterfaceStatus>,
    /// Antenna that gains or loses a satellite next, if that is known.
    pub next_handover: Option<NextHandover>,
    /// Reason for which the run says nothing any more, if there is one.
    pub void: Option<String>,
}

/// Antenna that gains or loses a satellite next.
#[derive(Clone, Debug, PartialEq)]
pub struct NextHandover {
    /// Instant at which it does, in seconds from the start of the run.
    pub at_s: f64,
    /// Name of the antenna.
    pub antenna: String,
}

/// Counts of what passed an interface so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterfaceStatus {
    /// Name of the attached node.
    pub node: String,
    /// Name of the link.
    pub link: String,
    /// IP packets that came from the node.
    pub packets_in: u64,
    /// IP packets that went to it.
    pub packets_out: u64,
    /// Packets that went later than allowed.
    pub late: u64,
    /// Lateness of what went to it, in seconds, if anything did: median, 99 %, 99.9 % and greatest.
    pub lateness_s: Option<[f64; 4]>,
}

impl ControlStatus {
    /// The state as a table.
    pub fn to_json(&self) -> Json {
        let interfaces = self.interfaces.iter().map(InterfaceStatus::to_json).collect::<Vec<_>>();
        let next_handover = self
            .next_handover
            .as_ref()
            .map(|NextHandover { at_s, antenna }| json!({ "at_s": at_s, "antenna": antenna }));
        json!({
            "at_s": self.at_s, "interfaces": interfaces, "next_handover": next_handover, "void": self.void,
        })
    }
}

impl InterfaceStatus {
    fn to_json(&self) -> Json {
        let lateness = self.lateness_s.map(
            |[median, p99, p999, max]| json!({ "p50_s": median, "p99_s": p99, "p999_s": p999, "max_s": max }),
        );
        json!({
            "node": self.node,
            "link": self.link,
            "packets_in": self.packets_in,
            "packets_out": self.packets_out,
            "late": self.late,
            "lateness": lateness,
        })
    }
}
