//! ICMP messages about packets that were sent (RFC 9260, section 10).

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_wire::Reader;
use slantpath_wire::icmp::{IcmpError, Unreachable};

use super::Endpoint;
use super::table::State;
use crate::chunk::{Abort, Chunk, kind};
use crate::event::CloseReason;
use crate::packet::{ChecksumPolicy, CommonHeader, PacketBuilder, ParsedPacket};
use crate::types::VerificationTag;
use slantpath_wire::ip::IpFields;

/// Contents of the quoted bytes of a packet of ours.
struct Quote {
    header: CommonHeader,
    /// The Initiate Tag, if the first chunk is an INIT and enough of it is there.
    initiate_tag: Option<VerificationTag>,
}

impl Quote {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let header = CommonHeader {
            source_port: reader.u16().ok()?,
            destination_port: reader.u16().ok()?,
            verification_tag: VerificationTag(reader.u32().ok()?),
        };
        // Checksum, then type, flags and length of the first chunk.
        let initiate_tag = reader.array::<8>().ok().filter(|bytes| bytes[4] == kind::INIT);
        let initiate_tag = initiate_tag.and_then(|_| reader.u32().ok()).map(VerificationTag);
        Some(Self { header, initiate_tag })
    }
}

impl Endpoint {
    pub(super) fn handle_icmp(
        &mut self,
        now: Instant,
        source: IpAddr,
        destination: IpAddr,
        error: IcmpError,
        quote: &[u8],
    ) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-10
        //# ICMP5)  An implementation MUST use the payload of the ICMP message
        //# (v4 or v6) to locate the association that sent the message to
        //# which ICMP is responding.
        let Some(quote) = Quote::parse(quote) else { return };
        let Some(slot) = self.slot_of_sender(source, destination, quote.header) else { return };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-10
        //# ICMP6)  An implementation MUST validate that the Verification Tag
        //# contained in the ICMP message matches the Verification Tag of
        //# the peer.  If the Verification Tag is not 0 and does not
        //# match, discard the ICMP message.
        let (local_tag, peer_tag) = self.table[slot].state.tags();
        let is_init = quote.header.verification_tag == VerificationTag::ZERO;
        // An INIT names the tag of the side that sent it, which is ours.
        let is_ours = if is_init {
            quote.initiate_tag == Some(local_tag)
        } else {
            peer_tag == Some(quote.header.verification_tag)
        };
        if !is_ours {
            self.stats.wrong_tags += 1;
            return;
        }
        match error {
            IcmpError::PacketTooBig { mtu_bytes } => {
                if let State::Established(association) = &mut self.table[slot].state {
                    let mtu = u16::try_from(mtu_bytes).unwrap_or(u16::MAX);
                    association.handle_packet_too_big(now, destination, mtu);
                    self.wake(slot);
                }
            }
            IcmpError::Unreachable(Unreachable::Protocol) => {
                self.on_protocol_unreachable(now, slot, destination, is_init);
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-10
            //# ICMP3)  An implementation SHOULD ignore any ICMP messages where the
            //# code indicates "Port Unreachable".
            // Of the others, heartbeats and timers find out more surely than by what anybody may have sent.
            IcmpError::Unreachable(Unreachable::Host | Unreachable::Network | Unreachable::Port)
            | IcmpError::ParameterProblem { .. }
            | IcmpError::TimeExceeded => {}
        }
    }

    /// Slot of the association that has sent a packet: where several ports have its number, of the one at its source.
    fn slot_of_sender(&self, source: IpAddr, destination: IpAddr, sent: CommonHeader) -> Option<u32> {
        let slot = self.table.slot_of(sent.source_port, destination, sent.destination_port)?;
        let own = &self.ports[self.table[slot].port as usize];
        if own.addresses.contains(&source) || self.table.is_at(slot, source) {
            return Some(slot);
        }
        let answer =
            CommonHeader { source_port: sent.destination_port, destination_port: sent.source_port, ..sent };
        self.find_beside(source, destination, answer)?.1
    }

    fn on_protocol_unreachable(&mut self, now: Instant, slot: u32, destination: IpAddr, is_init: bool) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-10
        //# ICMP8)  If the ICMP code is "Unrecognized Next Header Type
        //# Encountered" or "Protocol Unreachable", an implementation
        //# MUST treat this message as an abort with the T bit set if it
        //# does not contain an INIT chunk.  If it does contain an INIT
        //# chunk and the association is in the COOKIE-WAIT state, handle
        //# the ICMP message like an ABORT chunk.
        let own_port = self.ports[self.table[slot].port as usize].number;
        match &mut self.table[slot].state {
            // There is no peer's tag yet: what is ours is an INIT.
            State::CookieWait(_) => self.fail(slot, CloseReason::PeerAborted(Vec::new())),
            State::CookieEchoed(_) if !is_init => self.fail(slot, CloseReason::PeerAborted(Vec::new())),
            State::Established(association) if !is_init => {
                let header = CommonHeader {
                    source_port: 0,
                    destination_port: own_port,
                    verification_tag: association.peer_tag(),
                };
                let abort = Chunk::Abort(Abort { is_tag_reflected: true, causes: Vec::new() });
                let mut builder = PacketBuilder::default();
                builder.start(header, usize::MAX);
                builder.push(&abort);
                let packet = builder.finish(ChecksumPolicy::Omit);
                let parsed = ParsedPacket::parse(&packet).expect("what is built can be read");
                association.handle_packet(now, &parsed, destination, IpFields::default());
                self.wake(slot);
            }
            State::CookieEchoed(_) | State::Established(_) => {}
        }
    }
}
