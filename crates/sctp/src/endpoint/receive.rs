//! Sorts received packets: to an association, to the handshake, or out of the blue (RFC 9260, sections 8.4
//! and 8.5).

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_wire::ip::{Envelope, IpFields};
use slantpath_wire::{Packet, WireError};

use super::Endpoint;
use super::table::{Entry, Route, State};
use crate::address::is_usable;
use crate::cause::Cause;
use crate::chunk::{Abort, Chunk, Init, InitAck, ShutdownComplete, kind};
use crate::event::{CloseReason, Event};
use crate::packet::{ChunkError, CommonHeader, ParsedPacket};
use crate::parameter::Parameter;
use crate::types::VerificationTag;
use crate::zero_checksum::may_lack_checksum;

/// Way in which the association of a packet was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Packets from its source are laid to it.
    ByAddress,
    /// By the packet's tag, in an association that lists the source, which belongs to another, or did.
    ByTag,
}

/// A received packet and where it came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received<'a> {
    /// The place of the port that it went to.
    pub(super) port: u32,
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) ip: IpFields,
    pub(super) packet: &'a ParsedPacket<'a>,
}

impl Received<'_> {
    pub(super) const fn own_port(&self) -> u16 {
        self.packet.header.destination_port
    }

    pub(super) const fn peer_port(&self) -> u16 {
        self.packet.header.source_port
    }

    pub(super) const fn tag(&self) -> VerificationTag {
        self.packet.header.verification_tag
    }

    fn has(&self, kind: u8) -> bool {
        self.packet.chunk_kinds().any(|found| found == kind)
    }

    /// The packet's only chunk, if it can be read.
    fn only_chunk(&self) -> Option<Chunk> {
        let mut chunks = self.packet.chunks();
        let only = chunks.next()?.ok()?;
        chunks.next().is_none().then_some(only)
    }
}

impl Endpoint {
    /// Variant of [`handle_input`](Self::handle_input) for a packet that stays where it is: it is large to move.
    pub fn handle_packet(&mut self, now: Instant, envelope: &Envelope, packet: &Packet) {
        self.stats.packets_received += 1;
        self.verified_peer_tag = None;
        let parsed = match ParsedPacket::parse(packet) {
            Ok(parsed) => parsed,
            Err(WireError::BadChecksum { found: 0, .. }) => {
                let Some(parsed) = self.parse_without_checksum(envelope, packet) else {
                    self.stats.bad_checksums += 1;
                    return;
                };
                parsed
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.8
            //# The default procedure for handling invalid SCTP packets is to
            //# silently discard them.
            Err(WireError::BadChecksum { .. }) => {
                self.stats.bad_checksums += 1;
                return;
            }
            Err(_) => {
                self.stats.malformed_packets += 1;
                return;
            }
        };
        let header = parsed.header;
        let latest = self.table.latest(envelope, header);
        let Some((port, slot)) = latest.or_else(|| self.find(envelope, header)) else {
            self.stats.misdirected_packets += 1;
            if self.refuses_misdirected && parsed.chunk_kinds().next() == Some(kind::INIT) {
                self.answer_stray(now, envelope, &parsed);
            }
            return;
        };
        let mut kinds = parsed.chunk_kinds();
        let Some(first) = kinds.next() else {
            self.stats.malformed_packets += 1;
            return;
        };
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# it MUST use the chunks after the AUTH chunk to look up
        //# an existing association.
        let first = if first == kind::AUTH { kinds.next().unwrap_or(first) } else { first };
        if !matches!(first, kind::INIT | kind::INIT_ACK | kind::COOKIE_ECHO | kind::ABORT)
            && let Some(slot) = slot
            && let Entry { state: State::Established(association), .. } = &mut self.table[slot]
            && association.local_tag() == header.verification_tag
        {
            // What most packets are.
            self.verified_peer_tag = Some(association.peer_tag());
            let had_outstanding = association.has_outstanding();
            association.handle_packet(now, &parsed, envelope.source, envelope.fields);
            // An endpoint that waits holds no memory for packets. Of several associations one would take from the
            // others what they use again.
            let is_all_acknowledged = had_outstanding && !association.has_outstanding();
            if association.may_change_addresses() {
                self.follow_addresses(slot);
            }
            if is_all_acknowledged && self.table.len() == 1 {
                self.outbox.builder().forget_buffers();
            }
            self.wake_behind_packet(slot);
            return;
        }
        let &Envelope { source, destination, fields: ip } = envelope;
        self.handle_unusual_packet(now, Received { port, source, destination, ip, packet: &parsed }, first);
    }

    /// Reads a packet that has zero for a checksum, if that is what the other end of an association may send: we have
    /// said that we take it, and it bears our tag. So does one of an association that we know no more: its sender
    /// learns of that the sooner (RFC 9653, section 5.3).
    #[cold]
    fn parse_without_checksum<'a>(
        &mut self,
        envelope: &Envelope,
        packet: &'a Packet,
    ) -> Option<ParsedPacket<'a>> {
        let parsed = ParsedPacket::parse_unverified(packet).ok()?;
        let (port, slot) = self.find(envelope, parsed.header)?;
        let tag = parsed.header.verification_tag;
        let is_meant = |slot: &u32| self.table[*slot].state.tags().0 == tag;
        // As without this extension, its source need not be known, as of one that has just moved.
        let slot = slot.filter(is_meant).or_else(|| {
            let &Envelope { source, destination, fields: ip } = envelope;
            let first = parsed.chunk_kinds().find(|kind| *kind != kind::AUTH)?;
            let received = Received { port, source, destination, ip, packet: &parsed };
            self.slot_of(received, first).map(|(slot, _)| slot)
        });
        let Some(slot) = slot else {
            let CommonHeader { source_port, destination_port, .. } = parsed.header;
            let is_ours = self.table.slot_at(port, destination_port, envelope.source, source_port).is_some();
            let is_taken = !is_ours
                && self.ports[port as usize].config.zero_checksum.is_some()
                && may_lack_checksum(&parsed);
            self.stats.zero_checksums += u64::from(is_taken);
            return is_taken.then_some(parsed);
        };
        let entry = &self.table[slot];
        let is_announced = entry.config.zero_checksum.is_some();
        let is_of_peer = entry.state.tags().0 == tag;
        let is_taken = is_announced && is_of_peer && may_lack_checksum(&parsed);
        self.stats.zero_checksums += u64::from(is_taken);
        is_taken.then_some(parsed)
    }

    /// The place of the port that a packet goes to, and the slot of the association that its source is laid to; `None`
    /// if it goes to no port of ours or has no sender.
    fn find(&mut self, envelope: &Envelope, header: CommonHeader) -> Option<(u32, Option<u32>)> {
        let &Envelope { source, destination, .. } = envelope;
        let CommonHeader { source_port, destination_port, .. } = header;
        let slot = self.table.slot_of(destination_port, source, source_port);
        let port = match slot {
            Some(slot) => {
                self.table.prefetch(slot);
                self.table[slot].port
            }
            None => *self.by_number.get(&destination_port)?,
        };
        if source_port == 0 || !is_usable(source) {
            return None;
        }
        let own = &self.ports[port as usize];
        let is_there = own.addresses.contains(&destination);
        let is_right = match slot {
            Some(slot) => is_there || self.table.is_at(slot, destination),
            None => is_there && own.beside.is_none(),
        };
        let (port, slot) =
            if is_right { (port, slot) } else { self.find_beside(destination, source, header)? };
        if let Some(slot) = slot {
            let route = Route { source, destination, source_port, destination_port };
            self.table.set_latest(route, port, slot);
        }
        Some((port, slot))
    }

    /// Variant of [`find`](Self::find) among all ports of a number: an association at the address comes first, then who
    /// listens there.
    #[cold]
    pub(super) fn find_beside(
        &self,
        destination: IpAddr,
        source: IpAddr,
        header: CommonHeader,
    ) -> Option<(u32, Option<u32>)> {
        let CommonHeader { source_port, destination_port, .. } = header;
        let here = || {
            let has_it = |place: &u32| self.ports[*place as usize].addresses.contains(&destination);
            self.places(destination_port).filter(has_it)
        };
        let slot = here().find_map(|place| self.table.slot_at(place, destination_port, source, source_port));
        if let Some(slot) = slot {
            return Some((self.table[slot].port, Some(slot)));
        }
        let listens = |place: &u32| self.ports[*place as usize].is_listening();
        here().find(listens).or_else(|| here().next()).map(|place| (place, None))
    }

    /// A packet for a port that is not DATA, SACK and the like for an established association.
    #[inline(never)]
    fn handle_unusual_packet(&mut self, now: Instant, received: Received<'_>, first: u8) {
        if matches!(first, kind::INIT | kind::INIT_ACK | kind::COOKIE_ECHO) {
            self.ended.in_ctrl_chunks += 1;
        }
        match first {
            kind::INIT if received.tag() == VerificationTag::ZERO => self.receive_init(now, received),
            //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5.1
            //# *  When an endpoint receives an SCTP packet with the Verification
            //# Tag set to 0, it SHOULD verify that the packet contains only an
            //# INIT chunk.  Otherwise, the receiver MUST silently discard the
            //# packet.
            _ if received.tag() == VerificationTag::ZERO => self.stats.wrong_tags += 1,
            kind::COOKIE_ECHO => self.receive_cookie_echo(now, received),
            _ => match self.slot_of(received, first) {
                Some((slot, found)) => {
                    self.receive_in_association(now, slot, received, first);
                    if found == Found::ByTag {
                        self.table.claim(slot);
                    }
                }
                None => self.receive_out_of_the_blue(now, received),
            },
        }
    }

    /// The association that a packet belongs to.
    fn slot_of(&self, received: Received<'_>, first: u8) -> Option<(u32, Found)> {
        let (own_port, port) = (received.own_port(), received.peer_port());
        let by_address = self.table.slot_at(received.port, own_port, received.source, port);
        if by_address.is_some_and(|slot| self.table[slot].state.tags().0 == received.tag()) {
            return by_address.zip(Some(Found::ByAddress));
        }
        // Of two associations that list an address only one has it: the other is known by its tag.
        let by_tag = self.table.slot_of_tag(received.port, received.tag(), port);
        if by_tag.is_some_and(|slot| self.table[slot].peer_addresses.contains(&received.source)) {
            return by_tag.zip(Some(Found::ByTag));
        }
        if by_address.is_some() {
            return by_address.zip(Some(Found::ByAddress));
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.2
        //# D)  An INIT or INIT ACK chunk MUST be treated as belonging to an
        //# already established association (or one in the process of being
        //# established) if the use of any of the valid address parameters
        //# contained within the chunk would identify an existing TCB.
        match (first, received.only_chunk()) {
            (kind::INIT_ACK, Some(Chunk::InitAck(InitAck { parameters, .. }))) => {
                self.slot_of_listed(received, &parameters).zip(Some(Found::ByAddress))
            }
            _ => self.slot_of_asconf(received).zip(Some(Found::ByAddress)),
        }
    }

    /// The association of a peer that lists its address among parameters.
    fn slot_of_listed(&self, received: Received<'_>, parameters: &[Parameter]) -> Option<u32> {
        let (own_port, port) = (received.own_port(), received.peer_port());
        parameters.iter().find_map(|parameter| match parameter {
            Parameter::Address(address) => {
                self.table.confirmed_slot_of(received.port, own_port, *address, port)
            }
            _ => None,
        })
    }

    fn receive_init(&mut self, now: Instant, received: Received<'_>) {
        match received.only_chunk() {
            Some(Chunk::Init(init)) => self.receive_valid_init(now, received, &init),
            // Not alone, or not to be read.
            _ => self.stats.malformed_packets += 1,
        }
    }

    fn receive_valid_init(&mut self, now: Instant, received: Received<'_>, init: &Init) {
        let slot = self
            .table
            .confirmed_slot_of(received.port, received.own_port(), received.source, received.peer_port())
            .or_else(|| self.slot_of_listed(received, &init.parameters));
        if let Some(slot) = slot {
            self.receive_unexpected_init(now, slot, received, init);
        } else {
            self.stats.out_of_the_blue += 1;
            self.receive_new_init(now, received, init);
        }
    }

    fn receive_in_association(&mut self, now: Instant, slot: u32, received: Received<'_>, first: u8) {
        let (local_tag, peer_tag) = self.table[slot].state.tags();
        if received.tag() != local_tag && !is_reflected(received, peer_tag) {
            // In COOKIE-WAIT and COOKIE-ECHOED a SHUTDOWN ACK is of an association before.
            if received.has(kind::SHUTDOWN_ACK) && !self.table[slot].state.is_established() {
                self.receive_out_of_the_blue(now, received);
            } else {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5
                //# If the received Verification Tag value does not
                //# match the receiver's own tag value, the receiver MUST silently
                //# discard the packet
                self.stats.wrong_tags += 1;
            }
            return;
        }
        self.verified_peer_tag = peer_tag.filter(|_| received.tag() == local_tag);
        let entry = &mut self.table[slot];
        match &mut entry.state {
            State::Established(association) => {
                if matches!(first, kind::INIT | kind::INIT_ACK) {
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.3
                    //# If an INIT ACK chunk is received by an endpoint in any state other
                    //# than the COOKIE-WAIT or CLOSED state, the endpoint SHOULD discard the
                    //# INIT ACK chunk.
                    self.stats.unexpected_chunks += 1;
                    return;
                }
                if first == kind::ABORT && association.ignores_aborts_at(received.destination) {
                    self.stats.unexpected_chunks += 1;
                    return;
                }
                association.handle_packet(now, received.packet, received.source, received.ip);
                self.follow_addresses(slot);
                self.wake(slot);
            }
            State::CookieWait(_) => self.receive_in_cookie_wait(now, slot, received, first),
            State::CookieEchoed(_) => self.receive_in_cookie_echoed(now, slot, received, first),
        }
    }

    fn receive_in_cookie_wait(&mut self, now: Instant, slot: u32, received: Received<'_>, first: u8) {
        match (first, received.only_chunk()) {
            (kind::INIT_ACK, Some(Chunk::InitAck(init_ack))) => {
                self.receive_init_ack(now, slot, received, &init_ack);
            }
            (kind::SHUTDOWN_ACK, _) => self.receive_out_of_the_blue(now, received),
            _ => self.receive_abort_in_setup(slot, received),
        }
    }

    fn receive_in_cookie_echoed(&mut self, now: Instant, slot: u32, received: Received<'_>, first: u8) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
        //# E)  Upon reception of the COOKIE ACK chunk, endpoint "A" moves from
        //# the COOKIE-ECHOED state to the ESTABLISHED state, stopping the
        //# T1-cookie timer.
        if let State::CookieEchoed(handshake) = &self.table[slot].state
            && let Some(authentication) = handshake.association.authentication()
            && !authentication.vouches_for(received.packet)
        {
            self.stats.unauthenticated_cookies += 1;
            return;
        }
        // It proves the same wherever in its packet it stands.
        if received.has(kind::COOKIE_ACK) {
            self.establish(now, slot, received.source);
            if let State::Established(association) = &mut self.table[slot].state {
                association.handle_packet(now, received.packet, received.source, received.ip);
            }
            // The peer may have moved before its COOKIE ACK arrived.
            self.follow_addresses(slot);
            return;
        }
        match first {
            kind::SHUTDOWN_ACK => self.receive_out_of_the_blue(now, received),
            _ if received.has(kind::ABORT) => self.receive_abort_in_setup(slot, received),
            kind::ERROR => self.receive_error_in_cookie_echoed(now, slot, received),
            kind::HEARTBEAT => self.receive_heartbeat_in_cookie_echoed(slot, received),
            _ => self.receive_abort_in_setup(slot, received),
        }
    }

    /// Looks for an ABORT; all else is too early, or of an association before, and is dropped.
    fn receive_abort_in_setup(&mut self, slot: u32, received: Received<'_>) {
        let (local_tag, _) = self.table[slot].state.tags();
        let abort = received.packet.chunks().find_map(|chunk| match chunk {
            Ok(Chunk::Abort(abort)) => Some(abort),
            _ => None,
        });
        match abort {
            Some(abort) if abort.is_tag_reflected != (received.tag() == local_tag) => {
                self.fail(slot, CloseReason::PeerAborted(abort.causes));
            }
            _ => self.stats.unexpected_chunks += 1,
        }
    }

    fn receive_error_in_cookie_echoed(&mut self, now: Instant, slot: u32, received: Received<'_>) {
        let mut causes = Vec::new();
        for chunk in received.packet.chunks() {
            if let Ok(Chunk::Error(error)) = chunk {
                causes.extend(error.causes);
            }
        }
        if causes.iter().any(is_stale_cookie) {
            self.restart_setup(now, slot);
        } else if !causes.is_empty() {
            let id = self.table.id(slot);
            self.outbox.push_event(id, Event::PeerReported(causes));
        }
    }

    /// The peer is established and probes us; its COOKIE ACK was lost or overtaken.
    fn receive_heartbeat_in_cookie_echoed(&mut self, slot: u32, received: Received<'_>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
        //# A receiver of a HEARTBEAT
        //# chunk MUST respond to a HEARTBEAT chunk with a HEARTBEAT ACK chunk
        //# after entering the COOKIE-ECHOED state (sender of the INIT chunk) or
        //# the ESTABLISHED state (receiver of the INIT chunk)
        let (_, Some(tag)) = self.table[slot].state.tags() else { return };
        if let Some(Ok(Chunk::Heartbeat(heartbeat))) = received.packet.chunks().next() {
            self.reply(received, tag, Chunk::HeartbeatAck(heartbeat.into_ack()));
        }
    }

    fn receive_out_of_the_blue(&mut self, now: Instant, received: Received<'_>) {
        self.stats.out_of_the_blue += 1;
        let Some(answer) = answer_out_of_the_blue(received.packet) else { return };
        let is_abort = matches!(answer, Chunk::Abort(_));
        let of_known_tag = self.table.slot_of_tag(received.port, received.tag(), received.peer_port());
        // A peer speaks from an address that it has not told us, or that was one too many for us: its association must
        // not be aborted for that. Nor is one that has ended in order, since its last packets come late.
        if !is_abort || of_known_tag.is_none() && !self.table.ended.is_late(now, received.tag()) {
            self.reply(received, received.tag(), answer);
        }
    }

    /// Answers a packet to where it came from.
    pub(super) fn reply(&mut self, received: Received<'_>, tag: VerificationTag, chunk: Chunk) {
        let Received { port, source, destination, .. } = received;
        let sender = self.ports[port as usize].sender();
        self.outbox.transmit(sender, destination, source, received.peer_port(), tag, &[chunk]);
    }
}

/// Answer to a packet without an association, with the packet's own tag; nothing where silence is asked for.
pub(super) fn answer_out_of_the_blue(packet: &ParsedPacket<'_>) -> Option<Chunk> {
    let has = |kind| packet.chunk_kinds().any(|found| found == kind);
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
    //# 2)  If the OOTB packet contains an ABORT chunk, the receiver MUST
    //# silently discard the OOTB packet and take no further action.
    if has(kind::ABORT) {
        return None;
    }
    if has(kind::SHUTDOWN_ACK) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
        //# 5)  If the packet contains a SHUTDOWN ACK chunk, the receiver SHOULD
        //# respond to the sender of the OOTB packet with a SHUTDOWN COMPLETE
        //# chunk.
        return Some(Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: true }));
    }
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
    //# 7)  If the packet contains an ERROR chunk with the "Stale Cookie"
    //# error cause or a COOKIE ACK chunk, the SCTP packet SHOULD be
    //# silently discarded.
    if has(kind::SHUTDOWN_COMPLETE)
        || has(kind::COOKIE_ACK)
        || packet.chunks().any(|chunk| is_stale_cookie_error(&chunk))
    {
        return None;
    }
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
    //# 8)  The receiver SHOULD respond to the sender of the OOTB packet with
    //# an ABORT chunk.  When sending the ABORT chunk, the receiver of
    //# the OOTB packet MUST fill in the Verification Tag field of the
    //# outbound packet with the value found in the Verification Tag
    //# field of the OOTB packet and set the T bit in the Chunk Flags to
    //# indicate that the Verification Tag is reflected.
    Some(Chunk::Abort(Abort { is_tag_reflected: true, causes: Vec::new() }))
}

fn is_stale_cookie_error(chunk: &Result<Chunk, ChunkError>) -> bool {
    matches!(chunk, Ok(Chunk::Error(error)) if error.causes.iter().any(is_stale_cookie))
}

const fn is_stale_cookie(cause: &Cause) -> bool {
    matches!(cause, Cause::StaleCookie { .. })
}

/// Tells if a packet carries the peer's own tag, as an ABORT or SHUTDOWN COMPLETE with the T bit may.
fn is_reflected(received: Received<'_>, peer_tag: Option<VerificationTag>) -> bool {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5.1
    //# *  The receiver of an ABORT chunk MUST accept the packet if the
    //# Verification Tag field of the packet matches its own tag and
    //# the T bit is not set OR if it is set to its Peer's Tag and the
    //# T bit is set in the Chunk Flags.
    // Nothing else may come in with the peer's tag, so that it must come first.
    peer_tag == Some(received.tag())
        && match received.packet.chunks().next() {
            Some(Ok(Chunk::Abort(abort))) => abort.is_tag_reflected,
            Some(Ok(Chunk::ShutdownComplete(complete))) => complete.is_tag_reflected,
            _ => false,
        }
}
