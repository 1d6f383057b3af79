//! A message of a trace, as a client is told it.

use serde_json::{Value as Json, json};

/// Something that has become of a message that is traced.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedMessage {
    /// Time from the start, in seconds.
    pub at_s: f64,
    /// Event: `arrived`, `left`, `delivered` or `discarded`.
    pub event: &'static str,
    /// Name of the association by which it has come or left.
    pub association: String,
    /// Name of the point of its OPC, or the code.
    pub from: String,
    /// Name of the point of its DPC, or the code.
    pub to: String,
    /// Name of the user part, or its service indicator.
    pub service: String,
    /// Called party of a message of SCCP, in words.
    pub called: Option<String>,
    /// Calling party of a message of SCCP, in words.
    pub calling: Option<String>,
    /// Octets of its user part.
    pub octets: usize,
    /// Time since it came, in seconds; `None` of its arrival, and of what has not come but was sent here.
    pub after_s: Option<f64>,
    /// Reason for which it was discarded.
    pub reason: Option<String>,
}

impl TracedMessage {
    /// The message as an event of the type `message`.
    pub fn to_json(&self) -> Json {
        json!({
            "type": "message",
            "at_s": self.at_s,
            "event": self.event,
            "association": self.association,
            "from": self.from,
            "to": self.to,
            "service": self.service,
            "called": self.called,
            "calling": self.calling,
            "octets": self.octets,
            "after_s": self.after_s,
            "reason": self.reason,
        })
    }
}
