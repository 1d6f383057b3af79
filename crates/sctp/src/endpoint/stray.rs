//! Packets that are of no port, and whether a packet was of an association: what whoever has the host's network to
//! itself asks for.

use slantpath_base::Instant;
use slantpath_wire::ip::{Envelope, IpFields};
use slantpath_wire::{Packet, WireError};

use super::Endpoint;
use super::outbox::Sender;
use super::receive::answer_out_of_the_blue;
use crate::address::is_usable;
use crate::chunk::{Abort, Chunk, kind};
use crate::packet::{ChecksumPolicy, ParsedPacket};
use crate::types::VerificationTag;

impl Endpoint {
    /// The tag that packets to the peer of an association bear, if the packet that was [taken in](Self::handle_packet)
    /// last bore ours of it, or a cookie of ours. Only then does where it came from say anything about that peer (RFC
    /// 6951, section 5.4).
    pub const fn verified_peer_tag(&self) -> Option<VerificationTag> {
        self.verified_peer_tag
    }

    /// Takes in a packet to a port that nobody has bound, and answers it as one out of the blue. Only for a host whose
    /// SCTP is all here: else the port may be another's.
    pub fn handle_stray(&mut self, now: Instant, envelope: &Envelope, packet: &Packet) {
        self.stats.packets_received += 1;
        self.verified_peer_tag = None;
        let parsed = match ParsedPacket::parse(packet) {
            Ok(parsed) => parsed,
            Err(WireError::BadChecksum { .. }) => {
                self.stats.bad_checksums += 1;
                return;
            }
            Err(_) => {
                self.stats.malformed_packets += 1;
                return;
            }
        };
        self.stats.out_of_the_blue += 1;
        self.answer_stray(now, envelope, &parsed);
    }

    /// Has an INIT that comes to a port at an address that this has not be refused. Only for a host whose SCTP is all
    /// here.
    pub const fn refuse_misdirected(&mut self) {
        self.refuses_misdirected = true;
    }

    pub(super) fn answer_stray(&mut self, now: Instant, envelope: &Envelope, parsed: &ParsedPacket<'_>) {
        let header = parsed.header;
        let (tag, answer) = if parsed.chunk_kinds().next() == Some(kind::INIT) {
            let Some(Ok(Chunk::Init(init))) = parsed.chunks().next() else { return };
            //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
            //# 3)  If the packet contains an INIT chunk with a Verification Tag set
            //# to 0, it SHOULD be processed as described in Section 5.1.
            // Nobody listens: section 5.1 answers by an ABORT.
            let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() });
            (init.fields.initiate_tag, abort)
        } else {
            let Some(answer) = answer_out_of_the_blue(parsed) else { return };
            // The port was let go behind an association that ended in order.
            if matches!(answer, Chunk::Abort(_)) && self.table.ended.is_late(now, header.verification_tag) {
                return;
            }
            (header.verification_tag, answer)
        };
        if tag == VerificationTag::ZERO || header.source_port == 0 || !is_usable(envelope.source) {
            return;
        }
        let sender = Sender {
            port: header.destination_port,
            checksum: ChecksumPolicy::default(),
            ip: IpFields::default(),
        };
        let &Envelope { source, destination, .. } = envelope;
        self.outbox.transmit(sender, destination, source, header.source_port, tag, &[answer]);
    }
}
