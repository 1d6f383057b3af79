//! Routing keys that a process registers at its gateways, and the routing contexts that these have given for them.
//!
//! Each gateway gives contexts of its own choice. Above, an application server has the context of the configuration.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_sigtran::m3ua::{self, RegistrationStatus};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;

/// Registrations of a process.
#[derive(Debug)]
pub(crate) struct Registrations {
    /// Each with the routing context of the configuration.
    keys: Vec<(u32, m3ua::RoutingKey)>,
    /// Contexts that gateways have given, by that of the configuration.
    given: BTreeMap<(AssociationNumber, u32), u32>,
    /// Instants at which a gateway that has not answered is asked anew.
    asked: BTreeMap<AssociationNumber, Instant>,
}

impl Registrations {
    pub(crate) fn new(mut keys: Vec<(u32, m3ua::RoutingKey)>) -> Self {
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

    /// The keys that a gateway is asked for: those that it has given nothing for.
    pub(crate) fn wanted(&self, at: AssociationNumber) -> Vec<m3ua::RoutingKey> {
        let wanted = self.keys.iter().filter(|(context, _)| !self.given.contains_key(&(at, *context)));
        wanted.map(|(_, key)| key.clone()).collect()
    }

    /// Takes the place of those of a running process. A key that both have stays registered, under its number, by
    /// which a late answer names it.
    pub(crate) fn take_over(&mut self, former: Self) {
        let last = former.keys.iter().map(|(_, key)| key.local_identifier).max().unwrap_or_default();
        let mut free = last.wrapping_add(1)..;
        for (context, key) in &mut self.keys {
            let before = former.same_key(*context, key);
            let number = before.map(|before| before.local_identifier).or_else(|| free.next());
            key.local_identifier = number.unwrap_or_default();
        }
        let is_kept = |context: u32| {
            let own = self.keys.iter().find(|(own, _)| *own == context);
            own.is_some_and(|(_, key)| former.same_key(context, key).is_some())
        };
        self.given = former
            .given
            .iter()
            .map(|(at, given)| (*at, *given))
            .filter(|((_, own), _)| is_kept(*own))
            .collect();
        self.asked = former.asked;
    }

    /// Application servers that another process does not register, or by another key.
    pub(crate) fn not_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = u32> + 'a {
        let gone = self.keys.iter().filter(|(context, key)| other.same_key(*context, key).is_none());
        gone.map(|(context, _)| *context)
    }

    /// The key of an application server, if it is this one by whatever number.
    fn same_key(&self, context: u32, key: &m3ua::RoutingKey) -> Option<&m3ua::RoutingKey> {
        let (_, own) = self.keys.iter().find(|(own, _)| *own == context)?;
        (m3ua::RoutingKey { local_identifier: own.local_identifier, ..key.clone() } == *own).then_some(own)
    }

    /// A gateway has been asked, and is asked anew unless it answers by then.
    pub(crate) fn ask(&mut self, at: AssociationNumber, again: Instant) {
        self.asked.insert(at, again);
    }

    /// A gateway has answered: whom it concerns, and the key's first destination.
    pub(crate) fn answer(
        &mut self,
        at: AssociationNumber,
        result: &m3ua::RegistrationResult,
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

#[cfg(test)]
mod tests {
    use slantpath_sigtran::m3ua::KeyDestination;

    use super::*;

    const HERE: AssociationNumber = AssociationNumber(1);
    const THERE: AssociationNumber = AssociationNumber(2);

    fn key(dpc: u32) -> m3ua::RoutingKey {
        let (service_indicators, opcs) = (Vec::new(), Vec::new());
        let destinations = vec![KeyDestination { dpc: PointCode(dpc), service_indicators, opcs }];
        m3ua::RoutingKey {
            local_identifier: 0,
            routing_context: None,
            traffic_mode: None,
            network_appearance: None,
            destinations,
            others: Vec::new(),
        }
    }

    fn result(
        local_identifier: u32,
        status: RegistrationStatus,
        routing_context: u32,
    ) -> m3ua::RegistrationResult {
        m3ua::RegistrationResult { local_identifier, status, routing_context }
    }

    #[test]
    fn each_gateway_gives_contexts_of_its_own_and_above_there_is_one() {
        let mut registrations = Registrations::new(vec![(100, key(7)), (200, key(8))]);
        let numbers: Vec<u32> = registrations.wanted(HERE).iter().map(|key| key.local_identifier).collect();
        assert_eq!(numbers, [1, 2]);
        let (registered, already) = (RegistrationStatus::REGISTERED, RegistrationStatus::ALREADY_REGISTERED);
        assert_eq!(registrations.answer(HERE, &result(1, registered, 200)), Some((100, Some(PointCode(7)))));
        assert_eq!(registrations.answer(HERE, &result(2, already, 5)), Some((200, Some(PointCode(8)))));
        assert_eq!(
            registrations.answer(THERE, &result(1, RegistrationStatus::INVALID_DPC, 0)).unwrap().0,
            100
        );
        assert_eq!(registrations.answer(THERE, &result(3, registered, 9)), None);
        assert_eq!([100, 200].map(|own| registrations.given(HERE, own)), [Some(200), Some(5)]);
        assert_eq!(registrations.given(THERE, 100), None, "it was refused");
        assert_eq!([200, 5, 300].map(|given| registrations.own(HERE, given)), [100, 200, 300]);
        assert_eq!(registrations.given(THERE, 300), Some(300), "it is configured");
        registrations.forget(HERE);
        assert_eq!(registrations.given(HERE, 100), None);
    }

    #[test]
    fn a_successor_keeps_what_both_register_and_asks_for_the_rest_by_new_numbers() {
        let mut former = Registrations::new(vec![(100, key(7)), (200, key(8)), (300, key(9))]);
        for (number, given) in [(1, 50), (2, 51), (3, 52)] {
            former.answer(HERE, &result(number, RegistrationStatus::REGISTERED, given));
        }
        let mut own = Registrations::new(vec![(200, key(8)), (300, key(6)), (400, key(7))]);
        assert_eq!(former.not_in(&own).collect::<Vec<_>>(), [100, 300]);
        own.take_over(former);
        assert_eq!(
            [100, 200, 300, 400].map(|context| own.given.get(&(HERE, context))),
            [None, Some(&51), None, None]
        );
        let numbers = |at| own.wanted(at).iter().map(|key| key.local_identifier).collect::<Vec<_>>();
        assert_eq!((numbers(HERE), numbers(THERE)), (vec![4, 5], vec![2, 4, 5]));
    }

    #[test]
    fn a_gateway_is_asked_anew_until_it_answers_or_refuses() {
        let mut registrations = Registrations::new(vec![(100, key(7))]);
        let (first, second) = (Instant::from_secs(2), Instant::from_secs(3));
        registrations.ask(HERE, first);
        registrations.ask(THERE, second);
        assert_eq!(registrations.deadline(), Some(first));
        assert_eq!(registrations.take_due(first), [HERE]);
        registrations.rest(THERE);
        assert_eq!((registrations.deadline(), registrations.take_due(second)), (None, Vec::new()));
    }
}
