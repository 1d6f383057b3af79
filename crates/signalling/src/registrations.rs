//! Routing keys that a process registers at its gateways, and the routing contexts that these have given for them.
//!
//! Each gateway gives contexts of its own choice. Above, an application server has the context of the configuration.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_sigtran::m3ua::{RegistrationResult, RegistrationStatus, RoutingKey};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;

/// Registrations of a process.
#[derive(Debug)]
pub(crate) struct Registrations {
    /// Each with the routing context of the configuration.
    keys: Vec<(u32, RoutingKey)>,
    /// Contexts that gateways have given, by that of the configuration.
    given: BTreeMap<(AssociationNumber, u32), u32>,
    /// Instants at which a gateway that has not answered is asked anew.
    asked: BTreeMap<AssociationNumber, Instant>,
}

impl Registrations {
    pub(crate) fn new(mut keys: Vec<(u32, RoutingKey)>) -> Self {
        for ((_, key), number) in keys.iter_mut().zip(1..) {
            key.local_identifier = number;
        }
        Self { keys, given: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Tells if an application server is registered, and not configured at both ends.
    pub(crate) fn is_registered(&self, context: u32) -> bool {
        self.keys.iter().any(|(own, _)| *own == context)
    }

    /// The routing context of an application server at a gateway, if it has one there.
    pub(crate) fn given(&self, at: AssociationNumber, context: u32) -> Option<u32> {
        if self.is_registered(context) { self.given.get(&(at, context)).copied() } else { Some(context) }
    }

    /// The routing context of the configuration for one that a gateway has given.
    pub(crate) fn own(&self, at: AssociationNumber, given: u32) -> u32 {
        let mut of_gateway = self.given.iter().filter(|((gateway, _), _)| *gateway == at);
        of_gateway.find(|(_, context)| **context == given).map_or(given, |((_, own), _)| *own)
    }

    /// All keys, as they are asked for.
    pub(crate) fn keys(&self) -> Vec<RoutingKey> {
        self.keys.iter().map(|(_, key)| key.clone()).collect()
    }

    /// A gateway has been asked, and is asked anew unless it answers by then.
    pub(crate) fn ask(&mut self, at: AssociationNumber, again: Instant) {
        self.asked.insert(at, again);
    }

    /// A gateway has answered: whom it concerns, and the key's first destination.
    pub(crate) fn answer(
        &mut self,
        at: AssociationNumber,
        result: &RegistrationResult,
    ) -> Option<(u32, Option<PointCode>)> {
        self.rest(at);
        let mut keys = self.keys.iter();
        let (context, key) = keys.find(|(_, key)| key.local_identifier == result.local_identifier)?;
        if matches!(result.status, RegistrationStatus::REGISTERED | RegistrationStatus::ALREADY_REGISTERED) {
            self.given.insert((at, *context), result.routing_context);
        }
        Some((*context, key.destinations.first().map(|destination| destination.dpc)))
    }

    /// Asks a gateway no more until it is up the next time.
    pub(crate) fn rest(&mut self, at: AssociationNumber) {
        self.asked.remove(&at);
    }

    /// A gateway holds the process for down, and so for deregistered.
    pub(crate) fn forget(&mut self, at: AssociationNumber) {
        self.rest(at);
        self.given.retain(|(gateway, _), _| *gateway != at);
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.asked.values().copied().min()
    }

    /// Gateways that have not answered by now.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<AssociationNumber> {
        self.asked.extract_if(.., |_, again| *again <= now).map(|(at, _)| at).collect()
    }
}
