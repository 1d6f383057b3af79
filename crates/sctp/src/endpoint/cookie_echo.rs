//! COOKIE ECHO received: an association is made, restarted, or told again that it is there (RFC 9260,
//! sections 5.1.5 and 5.2.4).

use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::{Duration, Instant};
use smallvec::SmallVec;

use super::Endpoint;
use super::receive::Received;
use super::table::{Entry, State};
use crate::address::{in_scope, still_own};
use crate::association::{Association, Authentication};
use crate::authentication::{AuthenticationEvent, AuthenticationOffer, AuthenticationTerms};
use crate::cause::Cause;
use crate::chunk::{Abort, Chunk, Error, kind};
use crate::config::SctpConfig;
use crate::cookie::{Cookie, TieTags};
use crate::event::{CloseReason, Event};
use crate::extension::Extension;
use crate::packet::ParsedPacket;
use crate::tcb::{PeerAddress, Tcb};
use crate::types::VerificationTag;

/// Meaning of a valid cookie for an association that exists: the actions of RFC 9260, table 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Collision {
    /// A: the peer has restarted.
    Restart,
    /// B: both sides have begun at about the same time, and the peer has a new tag.
    SimultaneousOpen,
    /// C: our own cookie has come late. And all that the table does not show.
    Discard,
    /// D: the cookie of this very association.
    Duplicate,
}

impl Collision {
    fn of(cookie: &Cookie, tags: (VerificationTag, Option<VerificationTag>), tie_tags: TieTags) -> Self {
        let (local_tag, peer_tag) = tags;
        let local_matches = cookie.local_tag == local_tag;
        let peer_matches = peer_tag == Some(cookie.peer_tag);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
        //# For any case not shown in Table 12, the cookie SHOULD be silently
        //# discarded.
        match (local_matches, peer_matches) {
            (false, false) if cookie.tie_tags == tie_tags => Self::Restart,
            (true, false) => Self::SimultaneousOpen,
            (true, true) => Self::Duplicate,
            (false, _) => Self::Discard,
        }
    }
}

impl Endpoint {
    pub(super) fn receive_cookie_echo(&mut self, now: Instant, received: Received<'_>) {
        // An AUTH chunk may stand in front of it.
        let mut chunks = received.packet.chunks();
        let first = match chunks.next() {
            Some(Ok(Chunk::Auth(_))) => chunks.next(),
            first => first,
        };
        let Some(Ok(Chunk::CookieEcho(echo))) = first else { return };
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.5
        //# 3)  Compare the port numbers and the Verification Tag contained
        //# within the COOKIE ECHO chunk to the actual port numbers and the
        //# Verification Tag within the SCTP common header of the received
        //# packet.  If these values do not match, the packet MUST be
        //# silently discarded.
        let port = &self.ports[received.port as usize];
        let is_of_packet = |cookie: &Cookie| {
            cookie.local_port == port.number
                && cookie.peer_port == received.peer_port()
                && cookie.local_tag == received.tag()
        };
        let Some(cookie) = port.open(&echo.cookie).filter(is_of_packet) else {
            self.stats.forged_cookies += 1;
            return;
        };
        let port = received.peer_port();
        let known = core::iter::once(&received.source).chain(&cookie.peer_addresses);
        let slot = known.into_iter().find_map(|address| {
            self.table.confirmed_slot_of(received.port, cookie.local_port, *address, port)
        });
        if !self.is_authentic(slot, received, &cookie) {
            self.stats.unauthenticated_cookies += 1;
            return;
        }
        self.verified_peer_tag = Some(cookie.peer_tag);
        let staleness = cookie.staleness(now);
        match slot {
            None => match staleness {
                Some(staleness) => self.refuse_stale_cookie(received, &cookie, staleness),
                None => self.accept_cookie(now, received, &cookie),
            },
            Some(slot) => {
                let entry = &self.table[slot];
                let collision = Collision::of(&cookie, entry.state.tags(), entry.tie_tags);
                match staleness {
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
                    //# If both Verification Tags in the State Cookie match the
                    //# Verification Tags of the current association, consider the State
                    //# Cookie valid (this is case E in Section 5.2), even if the
                    //# lifespan is exceeded.
                    Some(staleness) if collision != Collision::Duplicate => {
                        self.refuse_stale_cookie(received, &cookie, staleness);
                    }
                    _ => self.resolve(now, slot, received, &cookie, collision),
                }
            }
        }
    }

    /// Tells if a packet with a COOKIE ECHO is authenticated as it should be.
    fn is_authentic(&self, slot: Option<u32>, received: Received<'_>, cookie: &Cookie) -> bool {
        let config = match slot {
            Some(slot) => &self.table[slot].config,
            None => &self.ports[received.port as usize].config,
        };
        if !config.extensions.contain(Extension::Authentication) {
            return true;
        }
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# If the receiver has an STCB, it MUST process the
        //# AUTH chunk as described above using the STCB from the existing
        //# association to authenticate the COOKIE-ECHO chunk and all the chunks
        //# after it.
        let known = slot.and_then(|slot| match &self.table[slot].state {
            State::CookieWait(_) => None,
            State::CookieEchoed(handshake) => handshake.association.authentication(),
            State::Established(association) => association.authentication(),
        });
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# In this situation, the receiver MUST authenticate the
        //# chunks in the packet by using the RANDOM parameters, CHUNKS
        //# parameters and HMAC_ALGO parameters obtained from the COOKIE-ECHO
        //# chunk, and possibly a local shared secret as inputs to the
        //# authentication procedure specified in Section 6.3.
        match (known, terms_of(cookie, config)) {
            (Some(known), _) => known.vouches_for(received.packet),
            (None, Some(terms)) => Authentication::new(terms, config).vouches_for(received.packet),
            (None, None) => !config.authenticated_chunks().contain(kind::COOKIE_ECHO),
        }
    }

    fn refuse_stale_cookie(&mut self, received: Received<'_>, cookie: &Cookie, staleness: Duration) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.5
        //# and the endpoint MUST transmit an ERROR chunk with a
        //# "Stale Cookie" error cause to the peer endpoint.
        self.stats.stale_cookies += 1;
        let micros = staleness.as_nanos().div_ceil(1_000);
        let cause = Cause::StaleCookie { staleness_us: u32::try_from(micros).unwrap_or(u32::MAX) };
        self.reply(received, cookie.peer_tag, Chunk::Error(Error::because(cause)));
    }

    /// The cookie of a peer that there is no association with.
    fn accept_cookie(&mut self, now: Instant, received: Received<'_>, cookie: &Cookie) {
        let port = &self.ports[received.port as usize];
        let has_room = port.has_room();
        // The cookie of an association that came and went proves nothing new: a copy of it that was long under
        // way, with the DATA behind it, would have the same messages delivered again.
        let has_ended = self.table.ended.contains(cookie.local_tag);
        if self.table.ended.is_late(now, cookie.local_tag) {
            // An ABORT could still end the peer's end of it otherwise than in order.
            self.stats.unexpected_chunks += 1;
            return;
        }
        if !port.takes_cookies() || !has_room || has_ended {
            let causes = if has_room { Vec::new() } else { vec![Cause::OutOfResource] };
            let abort = Chunk::Abort(Abort { is_tag_reflected: false, causes });
            return self.reply(received, cookie.peer_tag, abort);
        }
        let tcb = self.tcb_of(received.port, cookie, &[]);
        let port = &mut self.ports[received.port as usize];
        let config = Arc::clone(&port.config);
        let mut own = port.stream_for(received, cookie.peer_tag);
        let drawn_from = own.as_mut().unwrap_or(&mut port.stream);
        let stream = drawn_from.fork("association");
        let tie_tags = TieTags::random(drawn_from);
        let peer_addresses = tcb.peer_addresses.iter().map(|peer| peer.address).collect();
        let mut association = Association::new(now, tcb, Arc::clone(&config), stream);
        association.was_found_at(now, received.source);
        let id = self.insert(Entry {
            state: State::Established(Box::new(association)),
            port: received.port,
            own_port: cookie.local_port,
            peer_port: cookie.peer_port,
            held: 0,
            peer_addresses,
            config,
            stream: own.map(Box::new),
            tie_tags,
        });
        self.ended.passive_estabs += 1;
        self.announce(id.slot(), cookie.outbound_streams, cookie.inbound_streams);
        self.acknowledge_cookie(now, id.slot(), received);
    }

    /// A valid cookie for an association that exists.
    fn resolve(
        &mut self,
        now: Instant,
        slot: u32,
        received: Received<'_>,
        cookie: &Cookie,
        collision: Collision,
    ) {
        match collision {
            Collision::Discard => self.stats.unexpected_chunks += 1,
            // Its end has not been told yet. The cookie comes again.
            Collision::Restart if self.table[slot].state.is_over() => self.stats.unexpected_chunks += 1,
            Collision::Restart => self.restart(now, slot, received, cookie),
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
            //# The
            //# endpoint SHOULD stay in or enter the ESTABLISHED state, but it
            //# MUST update its peer's Verification Tag from the State Cookie,
            //# stop any T1-init or T1-cookie timers that might be running, and
            //# send a COOKIE ACK chunk.
            Collision::SimultaneousOpen => {
                match &mut self.table[slot].state {
                    State::Established(association) => association.set_peer_tag(cookie.peer_tag),
                    State::CookieWait(_) | State::CookieEchoed(_) => {
                        self.establish_from_cookie(now, slot, received.source, cookie);
                    }
                }
                self.acknowledge_cookie(now, slot, received);
            }
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
            //# D)  When both local and remote tags match, the endpoint SHOULD enter
            //# the ESTABLISHED state if it is in the COOKIE-ECHOED state.
            Collision::Duplicate => {
                self.establish(now, slot, received.source);
                self.acknowledge_cookie(now, slot, received);
            }
        }
    }

    fn restart(&mut self, now: Instant, slot: u32, received: Received<'_>, cookie: &Cookie) {
        // What is still being set up answers an INIT with the tag that it has, so that a cookie with its Tie-Tags and
        // another tag is of an association that is there.
        let State::Established(old) = &mut self.table[slot].state else { return };
        if old.is_shutdown_ack_sent() {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
            //# If the endpoint is in the SHUTDOWN-ACK-SENT state and recognizes
            //# that the peer has restarted (Action A), it MUST NOT set up a new
            //# association but instead resend the SHUTDOWN ACK chunk and send an
            //# ERROR chunk with a "Cookie Received While Shutting Down" error
            //# cause to its peer.
            old.resend_shutdown_ack(now, received.source);
            let error = Error::because(Cause::CookieReceivedWhileShuttingDown);
            self.reply(received, cookie.peer_tag, Chunk::Error(error));
            return self.wake(slot);
        }
        if old.is_end_wanted() {
            return self.replace_ended(now, slot, received, cookie);
        }
        let open_changes = old.open_changes();
        let tcb = self.tcb_of(received.port, cookie, &[]);
        let stream = self.stream_of(slot).fork("association");
        let config = Arc::clone(&self.table[slot].config);
        let mut association = Box::new(Association::new(now, tcb.clone(), config, stream));
        association.was_found_at(now, received.source);
        let id = self.table.id(slot);
        let ended = &mut self.ended;
        let remains = self.table.change_state(slot, |before| {
            let State::Established(old) = before else { return (before, Vec::new()) };
            association.take_over(now, &old);
            ended.add(&old);
            (State::Established(association), old.into_remains())
        });
        for event in remains {
            self.outbox.push_event(id, event);
        }
        // The tags in an old cookie must not recognise the new association.
        self.table[slot].tie_tags = TieTags::random(self.stream_of(slot));
        self.table.readdress(slot, tcb.peer_addresses.iter().map(|peer| peer.address));
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
        //# *  A RESTART notification SHOULD be sent to the ULP instead of a
        //# COMMUNICATION LOST notification.
        self.outbox.push_event(id, Event::Restarted);
        self.tell_unauthenticated(slot);
        self.ask_for_paths(slot);
        self.acknowledge_cookie(now, slot, received);
        if let State::Established(association) = &mut self.table[slot].state {
            association.ask_for_changes_again(now, open_changes);
            self.follow_addresses(slot);
        }
    }

    /// The peer has begun anew while our user waits for the end of the association: that has come, and the
    /// cookie is one of a stranger.
    fn replace_ended(&mut self, now: Instant, slot: u32, received: Received<'_>, cookie: &Cookie) {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.4
        //# the existing session is
        //# treated the same as if it received an ABORT chunk followed by a
        //# new COOKIE ECHO chunk
        let id = self.table.id(slot);
        let Some(Entry { state: State::Established(old), .. }) = self.remove(slot) else { return };
        for event in old.into_remains() {
            self.outbox.push_event(id, event);
        }
        let reason = CloseReason::PeerRestarted;
        self.ended.count_end(&reason);
        self.outbox.push_event(id, Event::Closed(reason));
        self.accept_cookie(now, received, cookie);
    }

    /// Answers with a COOKIE ACK, and takes in what came behind the COOKIE ECHO.
    fn acknowledge_cookie(&mut self, now: Instant, slot: u32, received: Received<'_>) {
        let State::Established(association) = &mut self.table[slot].state else { return };
        association.acknowledge_cookie(now, received.source);
        let packet: &ParsedPacket<'_> = received.packet;
        association.handle_packet(now, packet, received.source, received.ip);
        // An address may have come behind the INIT ACK.
        self.follow_port(now, slot);
        self.wake(slot);
    }

    /// COOKIE-ECHOED ends, by a packet from `source`; in any other state nothing happens.
    pub(super) fn establish(&mut self, now: Instant, slot: u32, source: IpAddr) {
        let streams = self.table.change_state(slot, |state| match state {
            State::CookieEchoed(handshake) => {
                let streams = (handshake.tcb.outbound_streams, handshake.tcb.inbound_streams);
                let t1_expiries = handshake.origin().t1_expiries;
                let was_repeated = !handshake.takes_data();
                let (mut association, early_requests) = handshake.into_parts();
                association.begin_row(now, t1_expiries);
                if was_repeated {
                    association.begin_at(now, source);
                }
                if early_requests.is_shutdown_requested() {
                    association.shutdown(now);
                }
                (State::Established(association), Some(streams))
            }
            state => (state, None),
        });
        if let Some((outbound, inbound)) = streams {
            self.ended.active_estabs += 1;
            self.announce(slot, outbound, inbound);
            self.follow_port(now, slot);
            self.wake(slot);
        }
    }

    /// The setup of both sides has collided, and the peer's cookie has come first.
    fn establish_from_cookie(&mut self, now: Instant, slot: u32, source: IpAddr, cookie: &Cookie) {
        let (mut early_requests, named, t1_expiries) = match &mut self.table[slot].state {
            State::CookieWait(handshake) => {
                let early_requests = core::mem::take(&mut handshake.early_requests);
                (early_requests, handshake.destinations.clone(), handshake.t1_expiries)
            }
            State::CookieEchoed(handshake) => {
                let named = handshake.named().iter().copied().collect();
                (core::mem::take(handshake.early_requests()), named, handshake.origin().t1_expiries)
            }
            State::Established(_) => return,
        };
        let tcb = self.tcb_of(self.table[slot].port, cookie, &named);
        let streams = (tcb.outbound_streams, tcb.inbound_streams);
        let stream = self.stream_of(slot).fork("association");
        let config = Arc::clone(&self.table[slot].config);
        let addresses: SmallVec<[IpAddr; 2]> = tcb.peer_addresses.iter().map(|peer| peer.address).collect();
        // Messages get TSNs anew: a peer that has another tag by now has taken nothing of what went behind our COOKIE
        // ECHO, which it discards (RFC 9260, section 5.2.4, action C).
        let mut association = Box::new(Association::new(now, tcb, config, stream));
        association.begin_row(now, t1_expiries);
        if let Some(wanted) = named.iter().find(|address| addresses.contains(address)) {
            association.want_primary(now, *wanted);
        }
        association.was_found_at(now, source);
        let not_taken = early_requests.hand_to(now, &mut association);
        let id = self.table.id(slot);
        for event in not_taken {
            self.outbox.push_event(id, event);
        }
        if early_requests.is_shutdown_requested() {
            association.shutdown(now);
        }
        self.table[slot].state = State::Established(association);
        self.table.readdress(slot, addresses.into_iter());
        self.ended.active_estabs += 1;
        self.announce(slot, streams.0, streams.1);
    }

    fn announce(&mut self, slot: u32, outbound_streams: u16, inbound_streams: u16) {
        let id = self.table.id(slot);
        self.outbox.push_event(id, Event::Established { outbound_streams, inbound_streams });
        self.tell_unauthenticated(slot);
        self.ask_for_paths(slot);
    }

    /// Says so where chunks were to be authenticated, and the peer has not offered that.
    fn tell_unauthenticated(&mut self, slot: u32) {
        let entry = &self.table[slot];
        if entry.config.extensions.contain(Extension::Authentication)
            && let State::Established(association) = &entry.state
            && association.authentication().is_none()
        {
            let id = self.table.id(slot);
            self.outbox.push_event(id, Event::Authentication(AuthenticationEvent::NotOffered));
        }
    }

    /// Makes the TCB that a cookie stands for. The addresses in `named`, which the layer above has named, are
    /// confirmed.
    fn tcb_of(&self, port: u32, cookie: &Cookie, named: &[IpAddr]) -> Tcb {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
        //# 2)  For the receiver of the COOKIE ECHO chunk, the only CONFIRMED
        //# address is the address to which the packet containing the INIT
        //# ACK chunk was sent.
        let answered = cookie.peer_addresses[0];
        let is_confirmed = |address: IpAddr| address == answered || named.contains(&address);
        let peer_addresses = cookie
            .peer_addresses
            .iter()
            .map(|&address| PeerAddress { address, is_confirmed: is_confirmed(address) })
            .collect();
        Tcb {
            local_port: cookie.local_port,
            peer_port: cookie.peer_port,
            local_tag: cookie.local_tag,
            peer_tag: cookie.peer_tag,
            local_initial_tsn: cookie.local_initial_tsn,
            peer_initial_tsn: cookie.peer_initial_tsn,
            outbound_streams: cookie.outbound_streams,
            inbound_streams: cookie.inbound_streams,
            peer_rwnd: cookie.peer_rwnd,
            uses_ecn: cookie.uses_ecn,
            extensions: cookie.extensions,
            omits_checksum: cookie.omits_checksum,
            adaptation_layer: cookie.adaptation_layer,
            wanted_primary: cookie
                .wanted_primary
                .and_then(|place| cookie.peer_addresses.get(usize::from(place)).copied()),
            authentication: terms_of(cookie, &self.ports[port as usize].config).map(Box::new),
            local_addresses: in_scope(
                &still_own(
                    &self.ports[port as usize].addresses_told(cookie.created),
                    &self.ports[port as usize].addresses,
                    cookie.peer_addresses.iter().copied(),
                ),
                cookie.peer_addresses.iter().copied(),
            ),
            peer_addresses,
            primary: answered,
            round_trip: None,
        }
    }
}

/// The terms on which chunks are authenticated that a cookie brings back.
fn terms_of(cookie: &Cookie, config: &SctpConfig) -> Option<AuthenticationTerms> {
    let authentication = cookie.authentication.as_ref()?;
    let local = AuthenticationOffer::new(authentication.random, config.authenticated_chunks())
        .listing(&config.authentication.algorithms);
    Some(AuthenticationTerms { local, peer: authentication.peer.clone() })
}
