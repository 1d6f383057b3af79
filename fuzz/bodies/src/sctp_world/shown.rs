//! Evidence in the packets of honest ends: that an extension is used, and that it has been agreed on.

use std::collections::BTreeSet;

use slantpath_sctp::chunk::{AddressChange, ReconfigurationParameter, kind};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{Chunk, Extension, Extensions, SctpConfig};

/// Notes what is in a packet beyond RFC 9260.
pub(super) fn note(shown: &mut BTreeSet<&'static str>, packet: &ParsedPacket<'_>) {
    let mut is_authenticated = false;
    for chunk in packet.chunks() {
        match chunk.expect("a chunk that can be read") {
            Chunk::Auth(auth) => {
                is_authenticated = true;
                shown.insert(match auth.key {
                    0 => "AUTH by the first key",
                    1 => "AUTH by the second key",
                    _ => "AUTH by the third key",
                });
            }
            Chunk::Data(_) if is_authenticated => _ = shown.insert("DATA behind AUTH"),
            Chunk::IData(_) => {
                shown.insert("I-DATA");
                if is_authenticated {
                    shown.insert("I-DATA behind AUTH");
                }
            }
            Chunk::NrSack(_) => _ = shown.insert("NR-SACK"),
            Chunk::ForwardTsn(_) => _ = shown.insert("FORWARD-TSN"),
            Chunk::IForwardTsn(_) => _ = shown.insert("I-FORWARD-TSN"),
            Chunk::ReConfig(request) => {
                shown.extend(request.parameters.iter().map(|parameter| match parameter {
                    ReconfigurationParameter::OutgoingSsnReset { .. } => "RE-CONFIG: outgoing reset",
                    ReconfigurationParameter::IncomingSsnReset { .. } => "RE-CONFIG: incoming reset",
                    ReconfigurationParameter::SsnTsnReset { .. } => "RE-CONFIG: SSN/TSN reset",
                    ReconfigurationParameter::Response { .. } => "RE-CONFIG: response",
                    ReconfigurationParameter::AddOutgoingStreams { .. } => "RE-CONFIG: add outgoing",
                    ReconfigurationParameter::AddIncomingStreams { .. } => "RE-CONFIG: add incoming",
                }));
            }
            Chunk::Asconf(asconf) => {
                shown.extend(asconf.requests.iter().filter_map(|request| match request.change {
                    AddressChange::Add(_) => Some("ASCONF: add"),
                    AddressChange::Delete(_) => Some("ASCONF: delete"),
                    AddressChange::SetPrimary(_) => Some("ASCONF: set primary"),
                    AddressChange::Unknown { .. } => None,
                }));
            }
            Chunk::AsconfAck(_) => _ = shown.insert("ASCONF-ACK"),
            _ => {}
        }
    }
}

/// Chunks of an extension are sent by an end where both have agreed on it.
pub(super) fn check_agreed(configs: &[SctpConfig; 2], from: usize, packet: &ParsedPacket<'_>) {
    let extensions: Extensions = configs[0].extensions.and(configs[1].extensions);
    let has = |extension| extensions.contain(extension);
    let (interleaves, abandons) = (has(Extension::Interleaving), has(Extension::PartialReliability));
    for kind in packet.chunk_kinds() {
        let is_agreed = match kind {
            kind::DATA => !interleaves,
            kind::I_DATA => interleaves,
            kind::NR_SACK => has(Extension::NonRenegableSack),
            kind::FORWARD_TSN => abandons && !interleaves,
            kind::I_FORWARD_TSN => abandons && interleaves,
            kind::RE_CONFIG => has(Extension::Reconfiguration),
            kind::AUTH => has(Extension::Authentication),
            kind::ASCONF | kind::ASCONF_ACK => may_change_addresses(configs, from),
            _ => true,
        };
        assert!(is_agreed, "a chunk of type {kind} that nobody has agreed on");
    }
}

/// Tells if an end believes that addresses may change.
pub(super) fn may_change_addresses(configs: &[SctpConfig; 2], end: usize) -> bool {
    let extensions = configs[0].extensions.and(configs[1].extensions);
    extensions.contain(Extension::DynamicAddresses)
        && (extensions.contain(Extension::Authentication) || configs[end].unauthenticated_addresses)
}
