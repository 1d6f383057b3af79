//! INIT sent; INIT and INIT ACK received, and what answers them (RFC 9260, sections 5.1, 5.2.1 and 5.2.2).

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use smallvec::SmallVec;

use super::Endpoint;
use super::receive::Received;
use super::table::State;
use crate::address::{in_scope, source_for, still_own};
use crate::association::Association;
use crate::authentication::AuthenticationOffer;
use crate::cause::Cause;
use crate::chunk::{Abort, Chunk, Init, InitAck, InitFields};
use crate::config::SctpConfig;
use crate::cookie::{Cookie, CookieAuthentication, TieTags};
use crate::event::CloseReason;
use crate::handshake::{CookieEchoed, Families, LEAST_RWND, LocalStart, Offer, Refusal};
use crate::packet::COMMON_HEADER_LEN;
use crate::parameter::Parameter;
use crate::types::VerificationTag;

/// Parts from which an INIT ACK is made.
struct Answer {
    config: Arc<SctpConfig>,
    start: LocalStart,
    tie_tags: TieTags,
    outbound_streams: u16,
    inbound_streams: u16,
    /// Destination of the INIT ACK.
    destination: IpAddr,
}

impl Endpoint {
    /// Sends INIT, now or once the routes to its destination are known.
    pub(super) fn send_init(&mut self, slot: u32) {
        if let State::CookieWait(handshake) = &self.table[slot].state {
            let (_, destination) = handshake.init();
            if !self.asks_for_init(slot, destination) {
                self.send_init_from(slot, &[]);
            }
        }
        self.wake(slot);
    }

    /// Sends it from the first of the addresses that the routes allow.
    pub(super) fn send_init_from(&mut self, slot: u32, allowed: &[IpAddr]) {
        if let State::CookieWait(handshake) = &self.table[slot].state {
            let (init, destination) = handshake.init();
            let (port, peer_port) = (&self.ports[self.table[slot].port as usize], self.table[slot].peer_port);
            // An address that the port has been given since is not told, so that the peer would not know it again.
            let own = still_own(handshake.local_addresses(), &port.addresses, [destination].into_iter());
            let by_route = allowed.iter().copied().find(|address| own.contains(address));
            if let Some(source) = by_route.or_else(|| source_for(destination, &own)) {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-8.5.1
                //# *  The sender MUST set the Verification Tag of the packet to 0.
                let tag = VerificationTag::ZERO;
                self.outbox.transmit(port.sender(), source, destination, peer_port, tag, &[init]);
            }
        }
        self.wake(slot);
    }

    /// An INIT from a peer that there is no association with.
    pub(super) fn receive_new_init(&mut self, now: Instant, received: Received<'_>, init: &Init) {
        let Some(offer) = self.read_init(received, init) else { return };
        let port = &mut self.ports[received.port as usize];
        if !port.is_listening() {
            return self.abort_init(received, init, Vec::new());
        }
        if !port.has_room() {
            return self.abort_init(received, init, vec![Cause::OutOfResource]);
        }
        let answer = Answer {
            start: port.start_for(received, init.fields.initiate_tag),
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.2
            //# For a normal association INIT chunk (i.e., the
            //# endpoint is in the CLOSED state), the Tie-Tags MUST be set to 0
            tie_tags: TieTags::NONE,
            outbound_streams: port.config.outbound_streams,
            inbound_streams: port.config.inbound_streams,
            config: Arc::clone(&port.config),
            destination: received.source,
        };
        self.send_init_ack(now, received, &offer, &answer);
    }

    /// An INIT from a peer that there is an association with: a collision, a restart or an old packet. The
    /// association stays as it is.
    pub(super) fn receive_unexpected_init(
        &mut self,
        now: Instant,
        slot: u32,
        received: Received<'_>,
        init: &Init,
    ) {
        if let State::Established(association) = &mut self.table[slot].state
            && association.is_shutdown_ack_sent()
        {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-9.2
            //# it SHOULD discard the
            //# INIT chunk and retransmit the SHUTDOWN ACK chunk.
            association.resend_shutdown_ack(now, received.source);
            return self.wake(slot);
        }
        let Some(offer) = self.read_init(received, init) else { return };
        if !matches!(self.table[slot].state, State::CookieWait(_)) {
            let new = self.new_addresses(slot, &offer);
            if !new.is_empty() {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.2
                //# If
                //# new addresses are added to the association, the endpoint MUST respond
                //# with an ABORT chunk
                let mut addresses = Vec::new();
                for address in new {
                    Parameter::Address(address).write(&mut addresses);
                }
                return self.abort_init(
                    received,
                    init,
                    vec![Cause::RestartWithNewAddresses(addresses.into())],
                );
            }
        }
        let tie_tags = self.table[slot].tie_tags;
        let config = Arc::clone(&self.table[slot].config);
        let fresh = LocalStart::draw(self.stream_of(slot), &config);
        let (config_outbound, config_inbound) = (config.outbound_streams, config.inbound_streams);
        let answer = match &self.table[slot].state {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.1
            //# Upon receipt of an INIT chunk in the COOKIE-WAIT state, an endpoint
            //# MUST respond with an INIT ACK chunk using the same parameters it sent
            //# in its original INIT chunk (including its Initiate Tag, unchanged).
            State::CookieWait(handshake) => {
                //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.1
                //# 1)  The packet containing the INIT ACK chunk MUST only be sent to an
                //# address passed by the upper layer in the request to initialize
                //# the association.
                let named = &handshake.destinations;
                let may_go_to = |address: &&IpAddr| named.contains(address);
                let Some(&destination) = offer.addresses.iter().find(may_go_to) else {
                    self.stats.unexpected_chunks += 1;
                    return;
                };
                Answer {
                    start: handshake.start,
                    tie_tags: TieTags::NONE,
                    outbound_streams: handshake.fields().outbound_streams,
                    inbound_streams: handshake.fields().inbound_streams,
                    config,
                    destination,
                }
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.1
            //# For an endpoint that is in the COOKIE-ECHOED state, it MUST populate
            //# its Tie-Tags within both the association TCB and inside the State
            //# Cookie
            State::CookieEchoed(handshake) => Answer {
                start: handshake.origin().start,
                tie_tags,
                outbound_streams: config_outbound,
                inbound_streams: config_inbound,
                config,
                destination: received.source,
            },
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.2
            //# And the INIT ACK chunk MUST contain a new
            //# Initiate Tag (randomly generated; see Section 5.3.1).
            State::Established(_) => Answer {
                start: fresh,
                tie_tags,
                outbound_streams: config_outbound,
                inbound_streams: config_inbound,
                config,
                destination: received.source,
            },
        };
        self.send_init_ack(now, received, &offer, &answer);
    }

    /// Checks an INIT, and answers it if it cannot be accepted whatever there is.
    fn read_init(&mut self, received: Received<'_>, init: &Init) -> Option<Offer> {
        let fields = &init.fields;
        if fields.initiate_tag == VerificationTag::ZERO {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2
            //# If the value of the Initiate Tag in a received INIT chunk is found
            //# to be 0, the receiver MUST silently discard the packet.
            self.stats.malformed_packets += 1;
            return None;
        }
        if fields.a_rwnd < LEAST_RWND || fields.outbound_streams == 0 || fields.inbound_streams == 0 {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2
            //# A receiver of an INIT chunk with the OS value set to 0 MUST
            //# discard the packet, SHOULD send a packet in response containing an
            //# ABORT chunk and using the Initiate Tag as the Verification Tag,
            //# and MUST NOT change the state of any existing association.
            self.abort_init(received, init, vec![Cause::InvalidMandatoryParameter]);
            return None;
        }
        let config = &self.ports[received.port as usize].config;
        let (max_addresses, supported) = (config.max_peer_addresses, config.extensions);
        let read = Offer::read(*fields, &init.parameters, received.source, max_addresses, supported);
        match read.and_then(|offer| config.admit(offer.extensions).map(|()| offer)) {
            Ok(offer) => Some(offer),
            Err(cause) => {
                self.abort_init(received, init, vec![cause]);
                None
            }
        }
    }

    fn abort_init(&mut self, received: Received<'_>, init: &Init, causes: Vec<Cause>) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
        //# the Verification
        //# Tag of the packet containing the ABORT chunk MUST be the Initiate
        //# Tag of the received INIT chunk, and the T bit of the ABORT chunk
        //# has to be set to 0, indicating that the Verification Tag is not
        //# reflected.
        let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes });
        self.reply(received, init.fields.initiate_tag, abort);
    }

    /// Addresses that the offer adds to an association.
    fn new_addresses(&self, slot: u32, offer: &Offer) -> SmallVec<[IpAddr; 2]> {
        let known = &self.table[slot].peer_addresses;
        offer.addresses.iter().copied().filter(|address| !known.contains(address)).collect()
    }

    fn send_init_ack(&mut self, now: Instant, received: Received<'_>, offer: &Offer, answer: &Answer) {
        let config = &answer.config;
        let peer = offer.fields;
        let outbound_streams = answer.outbound_streams.min(peer.inbound_streams);
        let mut peer_addresses = offer.addresses.clone();
        if let Some(place) = peer_addresses.iter().position(|address| *address == answer.destination) {
            peer_addresses[..=place].rotate_right(1);
        }
        let wanted = offer.wanted_primary;
        let wanted_primary = peer_addresses.iter().position(|address| Some(*address) == wanted);
        // A longer life is granted up to twice the usual, which bounds how long a cookie can be replayed.
        let increment = Duration::from_millis(offer.cookie_increment_ms.into());
        let cookie = Cookie {
            created: now,
            life: config.valid_cookie_life.saturating_add(increment.min(config.valid_cookie_life)),
            local_port: self.ports[received.port as usize].number,
            peer_port: received.peer_port(),
            local_tag: answer.start.tag,
            peer_tag: peer.initiate_tag,
            tie_tags: answer.tie_tags,
            local_initial_tsn: answer.start.initial_tsn,
            peer_initial_tsn: peer.initial_tsn,
            outbound_streams,
            inbound_streams: answer.inbound_streams.min(peer.outbound_streams),
            peer_rwnd: peer.a_rwnd,
            peer_addresses,
            uses_ecn: config.ecn && offer.is_ecn_capable,
            extensions: config.agreed(offer.extensions),
            omits_checksum: config.zero_checksum.is_some() && config.zero_checksum == offer.zero_checksum,
            adaptation_layer: offer.adaptation_layer,
            wanted_primary: wanted_primary.and_then(|place| u16::try_from(place).ok()),
            authentication: offer
                .authentication
                .clone()
                .map(|peer| Box::new(CookieAuthentication { random: answer.start.random, peer })),
        };
        let port = &mut self.ports[received.port as usize];
        let (signed, sender) = (port.sign(now, &cookie), port.sender());
        let mut parameters = vec![Parameter::StateCookie(signed)];
        parameters
            .extend(self.listed_addresses(received, offer.families).into_iter().map(Parameter::Address));
        // Who did not offer it has no use for it.
        if cookie.uses_ecn {
            parameters.push(Parameter::EcnCapable);
        }
        parameters.extend(cookie.extensions.parameters());
        parameters.extend(config.zero_checksum_parameter());
        parameters.extend(config.adaptation_layer.map(Parameter::AdaptationLayer));
        if let Some(authentication) = &cookie.authentication {
            let chunks = config.authenticated_chunks();
            let own = AuthenticationOffer::new(authentication.random, chunks)
                .listing(&config.authentication.algorithms);
            parameters.extend(own.parameters());
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.2.2
        //# If the receiver of an INIT chunk detects unrecognized parameters and
        //# has to report them according to Section 3.2.1, it MUST put the
        //# "Unrecognized Parameter" parameter(s) in the INIT ACK chunk sent in
        //# response to the INIT chunk.
        let fields = InitFields {
            initiate_tag: answer.start.tag,
            a_rwnd: config.receive_buffer_bytes.max(LEAST_RWND),
            outbound_streams,
            inbound_streams: answer.inbound_streams,
            initial_tsn: answer.start.initial_tsn,
        };
        let mut init_ack = InitAck { fields, parameters };
        if !offer.unrecognized.is_empty() {
            let longest = longest_packet(config, answer.destination);
            report_unrecognized(&mut init_ack, &offer.unrecognized, longest);
        }
        let init_ack = Chunk::InitAck(init_ack);
        self.stats.init_acks_sent += 1;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
        //# "Z" MUST NOT allocate any resources or keep any states for the
        //# new association.
        self.outbox.transmit(
            sender,
            received.destination,
            answer.destination,
            received.peer_port(),
            peer.initiate_tag,
            &[init_ack],
        );
    }

    /// Our addresses that a peer can use, if there are several.
    fn listed_addresses(&self, received: Received<'_>, families: Families) -> SmallVec<[IpAddr; 2]> {
        let own = &self.ports[received.port as usize].addresses;
        let mut addresses = in_scope(own, core::iter::once(received.source));
        if addresses.len() == 1 {
            return SmallVec::new();
        }
        addresses.retain(|address| families.include(*address));
        addresses
    }

    /// An INIT ACK in COOKIE-WAIT, with our tag.
    pub(super) fn receive_init_ack(
        &mut self,
        now: Instant,
        slot: u32,
        received: Received<'_>,
        init_ack: &InitAck,
    ) {
        let config = Arc::clone(&self.table[slot].config);
        let port = &self.ports[received.port as usize];
        let State::CookieWait(handshake) = &self.table[slot].state else { return };
        let endpoint = (port.number, &port.addresses[..]);
        let peer_port = received.peer_port();
        let accepted = match handshake.accept(now, init_ack, received.source, endpoint, peer_port, &config) {
            Ok(accepted) => accepted,
            Err(refusal) => return self.refuse_init_ack(slot, received, init_ack, refusal),
        };
        let mut origin = (**handshake).clone();
        self.verified_peer_tag = Some(accepted.tcb.peer_tag);
        let stream = self.stream_of(slot).fork("association");
        let mut association =
            Box::new(Association::new(now, accepted.tcb.clone(), Arc::clone(&config), stream));
        association.want_primary(now, accepted.wanted);
        let not_taken = origin.early_requests.hand_to(now, &mut association);
        let id = self.table.id(slot);
        for event in not_taken {
            self.outbox.push_event(id, event);
        }
        let addresses: SmallVec<[IpAddr; 2]> =
            accepted.tcb.peer_addresses.iter().map(|peer| peer.address).collect();
        self.table[slot].state =
            State::CookieEchoed(Box::new(CookieEchoed::begin(now, origin, accepted, association, &config)));
        self.table.readdress(slot, addresses.into_iter());
        self.send_cookie_echo(now, slot);
    }

    fn refuse_init_ack(&mut self, slot: u32, received: Received<'_>, init_ack: &InitAck, refusal: Refusal) {
        let (tag, is_tag_reflected) = match refusal {
            Refusal::EndsUntagged(_) => (received.tag(), true),
            Refusal::Ends(_) | Refusal::Discards(_) => (init_ack.fields.initiate_tag, false),
        };
        let (Refusal::Ends(cause) | Refusal::EndsUntagged(cause) | Refusal::Discards(cause)) = &refusal;
        let abort = Abort { is_tag_reflected, causes: vec![cause.clone()] };
        self.reply(received, tag, Chunk::Abort(abort));
        match refusal {
            Refusal::Ends(cause) | Refusal::EndsUntagged(cause) => {
                self.fail(slot, CloseReason::Aborted(cause));
            }
            Refusal::Discards(_) => {}
        }
    }

    /// Sends the COOKIE ECHO, the first time with as much DATA as fits behind it.
    pub(super) fn send_cookie_echo(&mut self, now: Instant, slot: u32) {
        let State::CookieEchoed(handshake) = &self.table[slot].state else { return };
        let (_, destination) = handshake.echo();
        if self.asks_for_cookie_echo(slot, destination) {
            self.wake(slot);
        } else {
            self.send_cookie_echo_from(now, slot, &[]);
        }
    }

    /// Sends it from the first of the addresses that the routes allow.
    pub(super) fn send_cookie_echo_from(&mut self, now: Instant, slot: u32, allowed: &[IpAddr]) {
        let Some(entry) = self.table.get_mut(slot) else { return };
        let config = Arc::clone(&entry.config);
        let port = &self.ports[entry.port as usize];
        let State::CookieEchoed(handshake) = &mut entry.state else { return };
        let (peer_port, tag) = (entry.peer_port, handshake.tcb.peer_tag);
        let (chunks, destination) = handshake.echo();
        let chunks: SmallVec<[Chunk; 2]> = chunks.iter().cloned().collect();
        let own = still_own(&handshake.tcb.local_addresses, &port.addresses, [destination].into_iter());
        let by_route = allowed.iter().copied().find(|address| own.contains(address));
        let Some(source) = by_route.or_else(|| source_for(destination, &own)) else { return };
        let max_len = longest_packet(&config, destination);
        let mut has_auth = false;
        self.outbox.transmit_with(port.sender(), source, destination, peer_port, tag, max_len, |builder| {
            let authentication = handshake.association.authentication();
            if let Some(authentication) = authentication {
                authentication.reserve(builder);
            }
            for chunk in &chunks {
                builder.push(chunk);
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
            //# The COOKIE ECHO chunk MAY be bundled with any pending outbound
            //# DATA chunks, but it MUST be the first chunk in the packet and,
            //# until the COOKIE ACK chunk is returned, the sender MUST NOT send
            //# any other packets to the peer.
            if handshake.takes_data() {
                if let Some(authentication) = handshake.association.authentication() {
                    authentication.prepare_for_data(builder);
                }
                handshake.association.bundle_data(now, builder, destination);
            }
            if let Some(authentication) = handshake.association.authentication() {
                has_auth = authentication.sign(builder);
            }
        });
        self.outbox.count_control_chunks(chunks.len() + usize::from(has_auth));
        self.wake(slot);
    }

    /// The cookie was stale: begins anew, unless that has happened too often.
    pub(super) fn restart_setup(&mut self, now: Instant, slot: u32) {
        let config = Arc::clone(&self.table[slot].config);
        if let State::CookieEchoed(handshake) = &self.table[slot].state
            && handshake.origin().stale_cookies >= config.max_init_retransmits
        {
            return self.fail(slot, CloseReason::StaleCookie);
        }
        self.table.change_state(slot, |state| match state {
            State::CookieEchoed(handshake) => {
                (State::CookieWait(Box::new(handshake.again(now, &config))), ())
            }
            state => (state, ()),
        });
        self.send_init(slot);
    }
}

/// Greatest length of a packet that sets an association up, in bytes from the common header on.
fn longest_packet(config: &SctpConfig, destination: IpAddr) -> usize {
    let ip_header_len = if destination.is_ipv6() { 40 } else { 20 };
    usize::from(config.initial_path_mtu).saturating_sub(ip_header_len).max(COMMON_HEADER_LEN)
}

/// Adds what the sender of the INIT is to know was not understood, as far as it fits a packet of `longest` bytes.
fn report_unrecognized(init_ack: &mut InitAck, unrecognized: &[Bytes], longest: usize) {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-12.4
    //# An SCTP implementation that receives an INIT chunk that would require
    //# a large packet in response, due to the inclusion of multiple
    //# "Unrecognized Parameter" parameters, MAY (at its discretion) elect to
    //# omit some or all of the "Unrecognized Parameter" parameters to reduce
    //# the size of the INIT ACK chunk.
    let mut written = Vec::new();
    init_ack.write(&mut written);
    let mut len = COMMON_HEADER_LEN + written.len();
    for parameter in unrecognized {
        let report = Parameter::UnrecognizedParameter(parameter.clone());
        len += report.to_bytes().len().next_multiple_of(4);
        if len > longest {
            return;
        }
        init_ack.parameters.push(report);
    }
}
