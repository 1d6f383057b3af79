//! The state of destinations, as the gateway knows and announces it (RFC 4666, sections 4.5 and 4.6).

use std::collections::{BTreeMap, BTreeSet};

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use crate::affected::AffectedCodes;
use crate::asp::{AsState, AspMessage, ErrorCode, RoutingContexts};
use crate::m3ua::sgp::{Sgp, SgpOutput};
use crate::m3ua::{
    AffectedDestinations, AffectedPlace, Availability, Message, NetworkPoint, UnavailabilityCause,
    destination,
};
use crate::transport::AssociationNumber;

/// An ERR has been sent.
pub(super) struct Refused;

impl Sgp {
    /// Takes an indication of the SS7 network, in MTP3's primitives: pause, resume and status become DUNA, DAVA, SCON
    /// and DUPU for the ASPs that are concerned; a message goes to its ASP.
    pub fn handle_indication(&mut self, network: Option<u32>, indication: TransferIndication) {
        match indication {
            TransferIndication::Pause(code) => {
                self.set_availability((network, code), Availability::Unavailable);
            }
            TransferIndication::Resume(code) => {
                self.set_availability((network, code), Availability::Available);
            }
            TransferIndication::Status { affected, cause: StatusCause::Congestion(level) } => {
                self.set_congestion((network, affected), level);
            }
            TransferIndication::Status {
                affected,
                cause: StatusCause::UserPartUnavailable { user, reason },
            } => self.announce_user_part_unavailable((network, affected), user, reason),
            TransferIndication::Transfer(message) => self.transfer(network, message),
        }
    }

    /// A destination of the SS7 network can be reached, or no more, or by a worse way only (which MTP3's primitives
    /// do not tell).
    pub fn set_availability(&mut self, place: NetworkPoint, availability: Availability) {
        let state = self.destinations.entry(place).or_default();
        let before = std::mem::replace(&mut state.availability, availability);
        if before != availability && !self.isolated.contains(&place.0) {
            self.announce_availability(place, availability, None);
        }
    }

    /// A destination lacks a user part.
    fn announce_user_part_unavailable(
        &mut self,
        (network, code): NetworkPoint,
        user: ServiceIndicator,
        reason: UserPartUnavailability,
    ) {
        let cause = match reason {
            UserPartUnavailability::Unknown => 0,
            UserPartUnavailability::Unequipped => 1,
            UserPartUnavailability::Inaccessible => 2,
        };
        let cause = UnavailabilityCause { cause, user: user.value().into() };
        for (association, contexts) in self.concerned(network, None) {
            let affected = destination::affected(network, &contexts, &[(0, code)]);
            self.send(association, &Message::Dupu { affected, cause });
        }
    }

    /// The gateway has lost a network, or its MTP3 restarts: all destinations there are told unavailable, and stay so.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.6
    //# When the SG discovers SS7 network isolation, the SGPs send an
    //# indication to all concerned available ASPs (i.e., ASPs in the ASP-
    //# ACTIVE state), using DUNA messages for the concerned destinations.
    pub fn isolate(&mut self, network: Option<u32>) {
        if self.isolated.insert(network) {
            self.announce_all(network, |_| Availability::Unavailable);
        }
    }

    /// The network is there again: destinations are told as they are known by now.
    pub fn end_isolation(&mut self, network: Option<u32>) {
        if self.isolated.remove(&network) {
            self.announce_all(network, |availability| availability);
        }
    }

    /// Tells the destinations of a network that were or are not unavailable.
    fn announce_all(&mut self, network: Option<u32>, as_announced: impl Fn(Availability) -> Availability) {
        let mut by_state: [Vec<(u8, PointCode)>; 3] = Default::default();
        for ((of, code), state) in &self.destinations {
            if *of == network && state.availability != Availability::Unavailable {
                by_state[as_announced(state.availability) as usize].push((0, *code));
            }
        }
        for (association, contexts) in self.concerned(network, None) {
            self.send_states(association, network, &contexts, &by_state);
        }
    }

    fn send_states(
        &mut self,
        to: AssociationNumber,
        network: Option<u32>,
        contexts: &[u32],
        by_state: &[Vec<(u8, PointCode)>; 3],
    ) {
        let states = [Availability::Unavailable, Availability::Restricted, Availability::Available];
        for (state, codes) in states.into_iter().zip(by_state) {
            for message in destination::availability_messages(state, network, contexts, codes) {
                self.send(to, &message);
            }
        }
    }

    /// Gives the availability of a destination: by its ASPs, or through the SS7 network.
    pub fn availability(&self, place: NetworkPoint) -> Availability {
        let mut servers = self.table.servers_at(place).peekable();
        if servers.peek().is_none() {
            if self.isolated.contains(&place.0) {
                return Availability::Unavailable;
            }
            return self
                .destinations
                .get(&place)
                .map_or(Availability::Unavailable, |known| known.availability);
        }
        let serves = |state| matches!(state, Some(AsState::Active | AsState::Pending));
        if servers.any(|context| serves(self.gateway.as_state(&context))) {
            Availability::Available
        } else {
            Availability::Unavailable
        }
    }

    /// The active ASPs of a network with their routing contexts there, without those of one application server.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.1
    //# In this way, all ASPs configured to
    //# send/receive traffic within a particular Network Appearance are
    //# informed.
    pub(super) fn concerned(
        &self,
        network: Option<u32>,
        except: Option<u32>,
    ) -> Vec<(AssociationNumber, Vec<u32>)> {
        let links = self.links.keys().copied();
        links
            .filter(|asp| except.is_none_or(|context| !self.gateway.active(&context).contains(asp)))
            .map(|asp| (asp, self.active_contexts(asp, network)))
            .filter(|(_, contexts)| !contexts.is_empty())
            .collect()
    }

    /// The routing contexts of a network for which an ASP is active.
    pub(super) fn active_contexts(&self, asp: AssociationNumber, network: Option<u32>) -> Vec<u32> {
        let of_network = self.table.keys().filter(|(_, key)| key.network_appearance == network);
        of_network
            .map(|(context, _)| context)
            .filter(|context| self.gateway.active(context).contains(&asp))
            .collect()
    }

    fn announce_availability(
        &mut self,
        (network, code): NetworkPoint,
        availability: Availability,
        except: Option<u32>,
    ) {
        for (association, contexts) in self.concerned(network, except) {
            for message in destination::availability_messages(availability, network, &contexts, &[(0, code)])
            {
                self.send(association, &message);
            }
        }
    }

    /// Tells the point codes of an application server to the others and to the SS7 network, if their state is new.
    pub(super) fn follow_availability(&mut self, routing_context: u32) {
        let Some(key) = self.key(routing_context) else { return };
        let places: Vec<NetworkPoint> = key.points().collect();
        self.follow_availability_of(routing_context, &places);
    }

    /// Variant of `follow_availability` for point codes that are an application server's, or were until now.
    pub(super) fn follow_availability_of(&mut self, routing_context: u32, places: &[NetworkPoint]) {
        for place in places.iter().copied() {
            let is_served = self.table.servers_at(place).next().is_some();
            let availability = self.availability(place);
            // The SS7 network has no way through here to what no ASP serves.
            let served = if is_served { availability } else { Availability::Unavailable };
            let before =
                if is_served { self.announced.insert(place, served) } else { self.announced.remove(&place) };
            if before.unwrap_or_default() == served {
                continue;
            }
            let (network, code) = place;
            let indication = if served == Availability::Unavailable {
                TransferIndication::Pause(code)
            } else {
                TransferIndication::Resume(code)
            };
            self.outputs.push_back(SgpOutput::Indication(network, indication));
            self.announce_availability(place, availability, Some(routing_context));
        }
    }

    /// Tells an ASP that becomes active what is known of destinations, before its ASP Active Ack.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.6
    //# These
    //# messages can be sent after receiving the ASP Active, and before
    //# sending the ASP Active Ack, to ensure that traffic is not initiated
    //# by the ASP to these destinations before the SSNM are received.  In
    //# addition to DUNA messages, SCON, DRST, and DAVA can also be sent.
    pub(super) fn announce_known_destinations(&mut self, to: AssociationNumber, routing_context: u32) {
        let Some(key) = self.key(routing_context) else { return };
        let network = key.network_appearance;
        let own: Vec<PointCode> = key.destinations.iter().map(|destination| destination.dpc).collect();
        let mut codes = self.known_codes(network);
        codes.retain(|code| !own.contains(code) && !self.is_undisclosed(*code));
        self.announce_states(to, network, &[routing_context], &codes);
    }

    /// Congestion first, then availability, of each point code.
    fn announce_states(
        &mut self,
        to: AssociationNumber,
        network: Option<u32>,
        contexts: &[u32],
        codes: &BTreeSet<PointCode>,
    ) {
        let mut by_state: [Vec<(u8, PointCode)>; 3] = Default::default();
        let mut by_level: BTreeMap<u8, Vec<(u8, PointCode)>> = BTreeMap::new();
        for code in codes {
            let place = (network, *code);
            let level = self.congestion(place);
            if level > 0 {
                by_level.entry(level).or_default().push((0, *code));
            }
            by_state[self.availability(place) as usize].push((0, *code));
        }
        //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
        //# For
        //# national networks, the SGP SHOULD additionally respond with a SCON
        //# message (if the destination is congested) before the DAVA or DRST.
        for (level, codes) in by_level {
            for message in destination::congestion_messages(Some(level), network, contexts, &codes) {
                self.send(to, &message);
            }
        }
        self.send_states(to, network, contexts, &by_state);
    }

    /// The point codes of a network that the gateway knows, each once.
    fn known_codes(&self, network: Option<u32>) -> BTreeSet<PointCode> {
        let known = self.destinations.keys().copied().chain(self.table.points());
        known.filter(|(of, _)| *of == network).map(|(_, code)| code).collect()
    }

    fn is_undisclosed(&self, code: PointCode) -> bool {
        self.config.undisclosed.contains(&code)
    }

    /// The network of a message about destinations, if its parameters are configured; an ERR answers otherwise.
    pub(super) fn network_of_ssnm(
        &mut self,
        from: AssociationNumber,
        affected: &AffectedDestinations,
        octets: &[u8],
    ) -> Result<Option<u32>, Refused> {
        if let Some(unknown) =
            affected.network_appearance.filter(|network| !self.network_appearances.contains(network))
        {
            self.send_network_error(from, unknown, octets);
            return Err(Refused);
        }
        let unknown: Vec<u32> = affected
            .routing_contexts
            .iter()
            .copied()
            .filter(|context| self.gateway.as_state(context).is_none())
            .collect();
        if !unknown.is_empty() {
            self.send_context_error(from, &unknown, octets);
            return Err(Refused);
        }
        let named = affected.routing_contexts.first().copied();
        let context = named.or_else(|| self.gateway.active_key(from).copied());
        let own = context.and_then(|context| self.key(context)?.network_appearance);
        Ok(affected.network_appearance.or(own))
    }

    /// Answers a DAUD: destination state audit.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
    //# The SGP SHOULD respond to a DAUD message with the MTP3
    //# availability/congestion status of the routeset associated with each
    //# Destination Point Codes in the DAUD message.
    pub(super) fn handle_audit(
        &mut self,
        from: AssociationNumber,
        asked: &AffectedDestinations,
        octets: &[u8],
    ) {
        let Ok(network) = self.network_of_ssnm(from, asked, octets) else { return };
        let affected = AffectedCodes::of(&asked.point_codes);
        let mut codes = self.known_codes(network);
        // However often a point code is named, it is answered once.
        codes.retain(|code| affected.contains(*code));
        //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
        //# An SG SHOULD respond with a DUNA message when DAUD was received with
        //# an unknown Signalling Point Code.
        codes.extend(asked.point_codes.iter().filter(|(mask, _)| *mask == 0).map(|(_, code)| *code));
        let (secret, codes): (BTreeSet<_>, BTreeSet<_>) =
            codes.into_iter().partition(|code| self.is_undisclosed(*code));
        let contexts = &asked.routing_contexts;
        self.announce_states(from, asked.network_appearance.or(network), contexts, &codes);
        if !secret.is_empty() {
            let secret = secret.into_iter().map(|code| (0, code)).collect();
            self.refuse_status(from, network, contexts, secret, octets);
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
    //# For this error,
    //# the invalid or unauthorized Point Code(s) MUST be included along with
    //# the Network Appearance and/or Routing Context associated with the
    //# Point Code(s).
    fn refuse_status(
        &mut self,
        from: AssociationNumber,
        network: Option<u32>,
        contexts: &[u32],
        point_codes: Vec<(u8, PointCode)>,
        octets: &[u8],
    ) {
        self.counters.errors_sent += 1;
        let active = self.active_contexts(from, network);
        let contexts = if contexts.is_empty() { active } else { contexts.to_vec() };
        let scope = RoutingContexts(contexts);
        let mut message = AspMessage::error(ErrorCode::DESTINATION_STATUS_UNKNOWN, scope, octets);
        if let AspMessage::Err { evidence, .. } = &mut message {
            *evidence = AffectedPlace { network_appearance: network, point_codes };
        }
        self.send(from, &Message::Asp(message));
    }
}
