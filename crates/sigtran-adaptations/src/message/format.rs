//! One message of a layer: its kind and parameters. ASP state maintenance, which all layers share, is here.

use slantpath_sigtran::asp::kind;
use slantpath_sigtran::common::{MessageKind, tag};

/// One message of a layer: what it is called and which parameters it has.
#[derive(Debug)]
pub struct MessageFormat {
    /// Class and type.
    pub kind: MessageKind,
    /// The name that its RFC gives it.
    pub name: &'static str,
    /// Tags that must be there; of each list one, for what can be said in several formats.
    pub mandatory: &'static [&'static [u16]],
    /// Tags that may be there.
    pub optional: &'static [u16],
}

impl MessageFormat {
    /// A row of a table.
    pub(crate) const fn new(
        kind: MessageKind,
        name: &'static str,
        mandatory: &'static [&'static [u16]],
        optional: &'static [u16],
    ) -> Self {
        Self { kind, name, mandatory, optional }
    }

    /// Tells whether the message may have that parameter.
    pub fn has(&self, tag: u16) -> bool {
        self.optional.contains(&tag) || self.mandatory.iter().any(|choices| choices.contains(&tag))
    }
}

const INFO: &[u16] = &[tag::INFO];

/// ASP state maintenance: the same in every layer.
pub(crate) const STATE_MAINTENANCE: &[MessageFormat] = &[
    MessageFormat::new(kind::ASP_UP, "ASP Up", &[], &[tag::ASP_IDENTIFIER, tag::INFO]),
    // RFC 4666 lets the identifier of the gateway come back; the others do not forbid it.
    MessageFormat::new(kind::ASP_UP_ACK, "ASP Up Ack", &[], &[tag::ASP_IDENTIFIER, tag::INFO]),
    MessageFormat::new(kind::ASP_DOWN, "ASP Down", &[], INFO),
    MessageFormat::new(kind::ASP_DOWN_ACK, "ASP Down Ack", &[], INFO),
    MessageFormat::new(kind::BEAT, "BEAT", &[], &[tag::HEARTBEAT]),
    MessageFormat::new(kind::BEAT_ACK, "BEAT Ack", &[], &[tag::HEARTBEAT]),
];
