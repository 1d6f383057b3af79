//! The messages of management, ASP state and ASP traffic maintenance, which the layers share but for what names the
//! traffic (RFC 3331, sections 3.3.2 and 3.3.3).

use super::interface_tag;
use crate::asp::kind;
use crate::common::{MessageKind, tag};

/// One message of a layer: what it is called and which parameters it has.
#[derive(Debug)]
pub struct Format {
    /// Class and type.
    pub kind: MessageKind,
    /// The name that its RFC gives it.
    pub name: &'static str,
    /// Tags that must be there; of each list one, for what can be said in several formats.
    pub mandatory: &'static [&'static [u16]],
    /// Tags that may be there.
    pub optional: &'static [u16],
}

impl Format {
    /// A row of a table.
    pub(crate) const fn new(
        kind: MessageKind,
        name: &'static str,
        mandatory: &'static [&'static [u16]],
        optional: &'static [u16],
    ) -> Self {
        Self { kind, name, mandatory, optional }
    }

    /// Whether the message may have that parameter.
    pub fn has(&self, tag: u16) -> bool {
        self.optional.contains(&tag) || self.mandatory.iter().any(|choices| choices.contains(&tag))
    }
}

const INFO: &[u16] = &[tag::INFO];

/// ASP state maintenance: the same in every layer.
pub(crate) const STATE_MAINTENANCE: &[Format] = &[
    Format::new(kind::ASP_UP, "ASP Up", &[], &[tag::ASP_IDENTIFIER, tag::INFO]),
    // RFC 4666 lets the identifier of the gateway come back; the others do not forbid it.
    Format::new(kind::ASP_UP_ACK, "ASP Up Ack", &[], &[tag::ASP_IDENTIFIER, tag::INFO]),
    Format::new(kind::ASP_DOWN, "ASP Down", &[], INFO),
    Format::new(kind::ASP_DOWN_ACK, "ASP Down Ack", &[], INFO),
    Format::new(kind::BEAT, "BEAT", &[], &[tag::HEARTBEAT]),
    Format::new(kind::BEAT_ACK, "BEAT Ack", &[], &[tag::HEARTBEAT]),
];

const INTERFACES: &[u16] = &[interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::INFO];
const MODE_AND_INTERFACES: &[u16] =
    &[tag::TRAFFIC_MODE, interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::INFO];

/// ASP traffic maintenance where interfaces name the traffic and the mode may be left to configuration: M2UA.
pub(crate) const INTERFACE_TRAFFIC: &[Format] = &[
    Format::new(kind::ASP_ACTIVE, "ASP Active", &[], MODE_AND_INTERFACES),
    Format::new(kind::ASP_ACTIVE_ACK, "ASP Active Ack", &[], MODE_AND_INTERFACES),
    Format::new(kind::ASP_INACTIVE, "ASP Inactive", &[], INTERFACES),
    Format::new(kind::ASP_INACTIVE_ACK, "ASP Inactive Ack", &[], INTERFACES),
];

/// The same where the mode must be said: IUA.
pub(crate) const INTERFACE_TRAFFIC_WITH_MODE: &[Format] = &[
    Format::new(kind::ASP_ACTIVE, "ASP Active", &[&[tag::TRAFFIC_MODE]], INTERFACES),
    Format::new(kind::ASP_ACTIVE_ACK, "ASP Active Ack", &[&[tag::TRAFFIC_MODE]], INTERFACES),
    Format::new(kind::ASP_INACTIVE, "ASP Inactive", &[], INTERFACES),
    Format::new(kind::ASP_INACTIVE_ACK, "ASP Inactive Ack", &[], INTERFACES),
];

/// Management where interfaces name the traffic.
pub(crate) const INTERFACE_MANAGEMENT: &[Format] = &[
    Format::new(
        kind::ERR,
        "ERR",
        &[&[tag::ERROR_CODE]],
        &[interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::DIAGNOSTIC],
    ),
    Format::new(
        kind::NTFY,
        "NTFY",
        &[&[tag::STATUS]],
        &[tag::ASP_IDENTIFIER, interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::INFO],
    ),
];

/// ASP traffic maintenance and management where routing contexts name the traffic: SUA.
pub(crate) const CONTEXT_MAINTENANCE: &[Format] = &[
    Format::new(
        kind::ASP_ACTIVE,
        "ASP Active",
        &[],
        &[tag::TRAFFIC_MODE, tag::ROUTING_CONTEXT, TID_LABEL, DRN_LABEL, tag::INFO],
    ),
    // The table of RFC 3868, section 3.6.2, calls the routing context mandatory; section 4.3.4.3 asks for it only
    // where the request had one.
    Format::new(
        kind::ASP_ACTIVE_ACK,
        "ASP Active Ack",
        &[],
        &[tag::TRAFFIC_MODE, tag::ROUTING_CONTEXT, tag::INFO],
    ),
    Format::new(kind::ASP_INACTIVE, "ASP Inactive", &[], &[tag::ROUTING_CONTEXT, tag::INFO]),
    Format::new(kind::ASP_INACTIVE_ACK, "ASP Inactive Ack", &[], &[tag::ROUTING_CONTEXT, tag::INFO]),
    Format::new(
        kind::ERR,
        "ERR",
        &[&[tag::ERROR_CODE]],
        &[tag::ROUTING_CONTEXT, NETWORK_APPEARANCE, tag::AFFECTED_POINT_CODE, tag::DIAGNOSTIC],
    ),
    Format::new(
        kind::NTFY,
        "NTFY",
        &[&[tag::STATUS]],
        &[tag::ASP_IDENTIFIER, tag::ROUTING_CONTEXT, tag::INFO],
    ),
];

const NETWORK_APPEARANCE: u16 = 0x010d;
const DRN_LABEL: u16 = 0x010f;
const TID_LABEL: u16 = 0x0110;
