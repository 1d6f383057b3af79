//! Congestion (RFC 4666, sections 1.4.6 and 4.5): of the SS7 network, of ASPs, and of the way to them.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use slantpath_ss7::transfer::{StatusCause, TransferIndication};

use crate::affected::AffectedCodes;
use crate::m3ua::destination;
use crate::m3ua::sgp::{Sgp, SgpOutput};
use crate::m3ua::{AffectedDestinations, NetworkPoint, TrafficKey};
use crate::transport::AssociationNumber;

/// The congestion of the way to an application server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Congestion {
    /// There is none.
    #[default]
    Free,
    /// There is, and these destinations were told of: each with how many of its messages came since the last time.
    /// There are no more than the application server's point codes and, for the default one, those that messages name.
    Announced(BTreeMap<NetworkPoint, u8>),
}

impl Congestion {
    fn is_announced(&self, place: NetworkPoint) -> bool {
        match self {
            Self::Free => false,
            Self::Announced(places) => places.contains_key(&place),
        }
    }
}

/// Number of messages after which congestion without levels is told once more, while it lasts (as by MTP3; Q.704,
/// 11.2).
const MESSAGES_PER_INDICATION: u8 = 8;

impl Sgp {
    /// The SS7 network towards a destination is congested: 0 not at all, to 3. An international network tells so again
    /// and again, and never of an end: that is passed on, and not kept.
    pub fn set_congestion(&mut self, place: NetworkPoint, level: u8) {
        let is_news = if self.has_levels(place.0) {
            let state = self.destinations.entry(place).or_default();
            std::mem::replace(&mut state.congestion, level) != level
        } else {
            true
        };
        if is_news {
            self.announce_congestion(place, level, None);
        }
    }

    /// Tells whether congestion has levels in a network, and a status that lasts.
    fn has_levels(&self, network: Option<u32>) -> bool {
        !self.config.international.contains(&network)
    }

    /// The congestion status of a destination, as far as the network has such a thing.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.5.3
    //# Where the SGP does not maintain the congestion status of the SS7
    //# destination, the response to a DAUD message should always only be a
    //# DAVA, DRST, or DUNA message, as appropriate.
    pub(super) fn congestion(&self, place: NetworkPoint) -> u8 {
        if !self.has_levels(place.0) {
            return 0;
        }
        if self.is_announced(place) {
            return 1;
        }
        if self.table.servers_at(place).next().is_some() {
            return 0;
        }
        self.destinations.get(&place).map_or(0, |known| known.congestion)
    }

    /// Tells whether the way to an application server that gets messages for a point code was told to be congested.
    fn is_announced(&self, place: NetworkPoint) -> bool {
        let mut servers = self.table.servers_at(place).chain(self.config.default_server);
        servers.any(|context| {
            self.distribution
                .get(&context)
                .is_some_and(|distribution| distribution.congestion.is_announced(place))
        })
    }

    /// Tells the ASPs of a network, but those of one application server.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-3.4.4
    //# For MTP
    //# congestion methods without multiple congestion levels (e.g., the
    //# ITU international method) the parameter is not included.
    fn announce_congestion(&mut self, (network, code): NetworkPoint, level: u8, except: Option<u32>) {
        let congestion_level = match self.has_levels(network) {
            true => Some(level),
            // There is no such thing as an end.
            false if level == 0 => return,
            false => None,
        };
        for (association, contexts) in self.concerned(network, except) {
            for message in
                destination::congestion_messages(congestion_level, network, &contexts, &[(0, code)])
            {
                self.send(association, &message);
            }
        }
    }

    /// SCON of an ASP: it, or its host, is congested. The SS7 network and the other ASPs are told.
    pub(super) fn handle_congestion_of_asp(
        &mut self,
        from: AssociationNumber,
        affected: &AffectedDestinations,
        level: Option<u8>,
        octets: &[u8],
    ) {
        let Ok(network) = self.network_of_ssnm(from, affected, octets) else { return };
        // Without a level the network has one only.
        let level = level.unwrap_or(1);
        let affected = AffectedCodes::of(&affected.point_codes);
        let served: Vec<NetworkPoint> =
            self.table.points().filter(|(of, code)| *of == network && affected.contains(*code)).collect();
        for (network, affected) in served {
            let cause = StatusCause::Congestion(level);
            self.outputs
                .push_back(SgpOutput::Indication(network, TransferIndication::Status { affected, cause }));
            let except = self.table.servers_at((network, affected)).next();
            self.announce_congestion((network, affected), level, except);
        }
    }

    /// Looks after the congestion of all application servers.
    pub(super) fn follow_congestion(&mut self) {
        let contexts: Vec<u32> = self.gateway.keys().copied().collect();
        for context in contexts {
            self.follow_congestion_of(context);
        }
    }

    /// Tells that an application server's queue has grown past the onset, or that an association is congested that its
    /// messages take; and tells when neither holds any more.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-1.4.6
    //# When an SG determines that the transport of SS7 messages to a
    //# Signalling Point Management Cluster (SPMC) is encountering IP network
    //# congestion, the SG MAY trigger SS7 MTP3 Transfer Controlled
    //# management messages to originating SS7 nodes, per the congestion
    //# procedures of the relevant MTP3 standard.
    pub(super) fn follow_congestion_of(&mut self, routing_context: u32) {
        let active = self.gateway.active(&routing_context);
        // Selections are bound to their ASPs: those of a congested one cannot go another way.
        let is_slow = active.iter().any(|asp| self.links.get(asp).is_some_and(|link| link.is_congested));
        let distribution = self.distribution.entry(routing_context).or_default();
        let was_congested = distribution.congestion != Congestion::Free;
        let is_congested = is_slow || self.config.queue.is_congested(distribution.waiting(), was_congested);
        match (was_congested, is_congested) {
            (false, true) => {
                let own = self.table.key(routing_context).into_iter().flat_map(TrafficKey::points);
                let places: BTreeSet<_> = own.chain(distribution.destinations()).collect();
                let announced = places.iter().map(|place| (*place, 0)).collect();
                distribution.congestion = Congestion::Announced(announced);
                for place in places {
                    self.announce_congestion_of_server(routing_context, place, 1);
                }
            }
            (true, false) => self.end_congestion(routing_context),
            (false, false) | (true, true) => {}
        }
    }

    /// The way to an application server is free, or is about to have other point codes.
    pub(super) fn end_congestion(&mut self, routing_context: u32) {
        let Some(distribution) = self.distribution.get_mut(&routing_context) else { return };
        let Congestion::Announced(places) = std::mem::take(&mut distribution.congestion) else { return };
        for place in places.into_keys() {
            // Another application server of the point code may still be congested.
            if !self.is_announced(place) {
                self.announce_congestion_of_server(routing_context, place, 0);
            }
        }
    }

    /// A message is about to take the way to an application server: if that is congested, who sends to its destination
    /// is told, unless that was done.
    pub(super) fn note_congested(&mut self, routing_context: u32, place: NetworkPoint) {
        let Some(distribution) = self.distribution.get_mut(&routing_context) else { return };
        let Congestion::Announced(places) = &mut distribution.congestion else { return };
        match places.entry(place) {
            btree_map::Entry::Vacant(new) => {
                new.insert(0);
                self.announce_congestion_of_server(routing_context, place, 1);
            }
            btree_map::Entry::Occupied(mut since) => {
                let count = (since.get() + 1) % MESSAGES_PER_INDICATION;
                since.insert(count);
                if count == 0 && !self.has_levels(place.0) {
                    self.announce_congestion(place, 1, Some(routing_context));
                }
            }
        }
    }

    /// Tells the SS7 network, whose interworking function keeps a status, and the other ASPs.
    fn announce_congestion_of_server(&mut self, routing_context: u32, place: NetworkPoint, level: u8) {
        let (network, affected) = place;
        let cause = StatusCause::Congestion(level);
        let indication = TransferIndication::Status { affected, cause };
        self.outputs.push_back(SgpOutput::Indication(network, indication));
        self.announce_congestion(place, level, Some(routing_context));
    }
}
