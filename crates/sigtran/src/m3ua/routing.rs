//! Choice of the application server that a message is for: routing keys and their match (RFC 4666, section 1.4.2).

use std::collections::BTreeMap;

use slantpath_ss7::PointCode;

use crate::m3ua::{KeyDestination, NetworkPoint, ProtocolData};

/// Traffic that an application server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficKey {
    /// The network that the point codes belong to; none where there is only one.
    pub network_appearance: Option<u32>,
    /// Destinations, each with what narrows it.
    pub destinations: Vec<KeyDestination>,
}

impl TrafficKey {
    /// All traffic to one point code.
    pub fn to_point_code(code: PointCode) -> Self {
        let destination = KeyDestination { dpc: code, service_indicators: Vec::new(), opcs: Vec::new() };
        Self { network_appearance: None, destinations: vec![destination] }
    }

    /// The point codes, as places in the network.
    pub fn points(&self) -> impl Iterator<Item = NetworkPoint> {
        self.destinations.iter().map(|destination| (self.network_appearance, destination.dpc))
    }

    /// Tells whether a message of an origin and a service indicator, to one of the destinations, matches.
    pub fn matches(&self, dpc: PointCode, opc: PointCode, service: u8) -> bool {
        let mut to = self.destinations.iter().filter(|destination| destination.dpc == dpc);
        to.any(|destination| Filter::of(destination).matches(service, opc))
    }

    /// Tells whether both mean the same traffic, in whichever order it is listed.
    fn is_same(&self, other: &Self) -> bool {
        let normal = |key: &Self| {
            let mut destinations: Vec<_> = key
                .destinations
                .iter()
                .map(|destination| (destination.dpc, Filter::of(destination)))
                .collect();
            destinations.sort();
            destinations.dedup();
            destinations
        };
        self.network_appearance == other.network_appearance && normal(self) == normal(other)
    }

    /// Tells whether a message can match both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.network_appearance == other.network_appearance
            && self.destinations.iter().any(|ours| {
                let alike = |theirs: &KeyDestination| {
                    ours.dpc == theirs.dpc && Filter::of(ours).overlaps(&Filter::of(theirs))
                };
                other.destinations.iter().any(alike)
            })
    }
}

/// Restrictions that narrow a destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Filter {
    /// A bit for each service indicator.
    services: u16,
    /// Originating point codes in order; all if empty.
    opcs: Vec<PointCode>,
}

impl Filter {
    fn of(destination: &KeyDestination) -> Self {
        let bits = destination.service_indicators.iter().map(|service| 1_u16 << (service & 0xf));
        let services = if destination.service_indicators.is_empty() {
            u16::MAX
        } else {
            bits.fold(0, |all, bit| all | bit)
        };
        let mut opcs = destination.opcs.clone();
        opcs.sort_unstable();
        opcs.dedup();
        Self { services, opcs }
    }

    fn matches(&self, service: u8, opc: PointCode) -> bool {
        self.services & 1 << (service & 0xf) != 0
            && (self.opcs.is_empty() || self.opcs.binary_search(&opc).is_ok())
    }

    fn overlaps(&self, other: &Self) -> bool {
        let share_opc = self.opcs.is_empty()
            || other.opcs.is_empty()
            || self.opcs.iter().any(|opc| other.opcs.binary_search(opc).is_ok());
        self.services & other.services != 0 && share_opc
    }
}

/// Relation of a routing key to those that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// A message could match it and another.
    Ambiguous,
    /// Key that is new.
    New,
    /// There is the same already, with this routing context.
    Same(u32),
}

/// All routing keys.
#[derive(Clone, Debug, Default)]
pub(super) struct RoutingTable {
    keys: BTreeMap<u32, TrafficKey>,
    index: BTreeMap<NetworkPoint, Vec<(Filter, u32)>>,
}

impl RoutingTable {
    pub(super) fn insert(&mut self, routing_context: u32, key: TrafficKey) {
        self.remove(routing_context);
        for destination in &key.destinations {
            let place = (key.network_appearance, destination.dpc);
            self.index.entry(place).or_default().push((Filter::of(destination), routing_context));
        }
        self.keys.insert(routing_context, key);
    }

    pub(super) fn remove(&mut self, routing_context: u32) {
        let Some(key) = self.keys.remove(&routing_context) else { return };
        for place in key.points() {
            if let Some(entries) = self.index.get_mut(&place) {
                entries.retain(|(_, context)| *context != routing_context);
                if entries.is_empty() {
                    self.index.remove(&place);
                }
            }
        }
    }

    pub(super) fn key(&self, routing_context: u32) -> Option<&TrafficKey> {
        self.keys.get(&routing_context)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = (u32, &TrafficKey)> {
        self.keys.iter().map(|(context, key)| (*context, key))
    }

    /// The application server of a message.
    pub(super) fn lookup(&self, network: Option<u32>, message: &ProtocolData) -> Option<u32> {
        self.server_of((network, message.dpc), message.service_indicator, message.opc)
    }

    /// The application server of a message to that place, of that service indicator and origin.
    pub(super) fn server_of(&self, place: NetworkPoint, service: u8, opc: PointCode) -> Option<u32> {
        let entries = self.index.get(&place)?;
        let matching = entries.iter().find(|(filter, _)| filter.matches(service, opc));
        matching.map(|(_, context)| *context)
    }

    /// The application servers that have a point code, for whichever of its traffic.
    pub(super) fn servers_at(&self, place: NetworkPoint) -> impl Iterator<Item = u32> {
        self.index.get(&place).into_iter().flatten().map(|(_, context)| *context)
    }

    /// All point codes that application servers have.
    pub(super) fn points(&self) -> impl Iterator<Item = NetworkPoint> {
        self.index.keys().copied()
    }

    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.4.1
    //# An incoming signalling message received at an SGP
    //# should not match against more than one Routing Key.
    pub(super) fn compare(&self, key: &TrafficKey) -> Comparison {
        if let Some((context, _)) = self.keys().find(|(_, known)| known.is_same(key)) {
            return Comparison::Same(context);
        }
        if self.keys().any(|(_, known)| known.overlaps(key)) {
            Comparison::Ambiguous
        } else {
            Comparison::New
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use slantpath_ss7::mtp3::Sls;

    fn key(dpc: u32, services: &[u8], opcs: &[u32]) -> TrafficKey {
        let destination = KeyDestination {
            dpc: PointCode(dpc),
            service_indicators: services.to_vec(),
            opcs: opcs.iter().map(|opc| PointCode(*opc)).collect(),
        };
        TrafficKey { network_appearance: None, destinations: vec![destination] }
    }

    fn message(dpc: u32, service_indicator: u8, opc: u32) -> ProtocolData {
        ProtocolData {
            opc: PointCode(opc),
            dpc: PointCode(dpc),
            service_indicator,
            network_indicator: 2,
            priority: 0,
            sls: Sls(0),
            user_data: Bytes::new(),
        }
    }

    #[test]
    fn a_message_goes_where_destination_service_and_origin_match() {
        let mut table = RoutingTable::default();
        table.insert(1, key(10, &[5], &[]));
        table.insert(2, key(10, &[3], &[7, 8]));
        assert_eq!(table.lookup(None, &message(10, 5, 1)), Some(1));
        assert_eq!(table.lookup(None, &message(10, 3, 8)), Some(2));
        assert_eq!(table.lookup(None, &message(10, 3, 9)), None);
        assert_eq!(table.lookup(Some(1), &message(10, 5, 1)), None);
        table.remove(1);
        assert_eq!(table.lookup(None, &message(10, 5, 1)), None);
    }

    #[test]
    fn keys_that_share_traffic_are_ambiguous_and_equal_ones_are_the_same() {
        let mut table = RoutingTable::default();
        table.insert(1, key(10, &[3, 5], &[7, 8]));
        assert_eq!(table.compare(&key(10, &[5, 3], &[8, 7, 7])), Comparison::Same(1));
        assert_eq!(table.compare(&key(10, &[], &[])), Comparison::Ambiguous);
        assert_eq!(table.compare(&key(10, &[4], &[])), Comparison::New);
        assert_eq!(table.compare(&key(10, &[3], &[9])), Comparison::New);
        assert_eq!(table.compare(&key(11, &[3], &[7])), Comparison::New);
    }
}
