//! Networks that lie behind an outside node: to whom an address belongs that nobody has for himself.

use std::net::IpAddr;

use ipnet::IpNet;
use rustc_hash::FxHashMap;

use crate::parcel::DestinationId;

/// Destinations by prefix: the longest that holds an address counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefixes {
    destinations: FxHashMap<IpNet, DestinationId>,
    /// The lengths that there are, the longest first.
    lengths: Vec<u8>,
}

impl Prefixes {
    /// Takes a prefix in, whatever its host bits; `false` if it has a destination already.
    pub(crate) fn insert(&mut self, prefix: IpNet, destination: DestinationId) -> bool {
        if let Err(place) = self.lengths.binary_search_by(|length| prefix.prefix_len().cmp(length)) {
            self.lengths.insert(place, prefix.prefix_len());
        }
        self.destinations.insert(prefix.trunc(), destination).is_none()
    }

    /// Destination of packets for an address.
    pub(crate) fn find(&self, address: IpAddr) -> Option<DestinationId> {
        self.lengths.iter().find_map(|&length| {
            let prefix = IpNet::new(address, length).ok()?;
            self.destinations.get(&prefix.trunc()).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn net(text: &str) -> IpNet {
        text.parse().unwrap()
    }

    #[test]
    fn the_longest_prefix_that_holds_an_address_counts() {
        let mut prefixes = Prefixes::default();
        for (number, prefix) in (0..).zip(["10.1.0.0/16", "10.1.2.0/24", "0.0.0.0/0", "2001:db8::/32"]) {
            assert!(prefixes.insert(net(prefix), DestinationId(number)));
        }
        assert!(!prefixes.insert(net("10.1.2.77/24"), DestinationId(9)), "it is one of them");
        let found = ["10.1.2.3", "10.1.3.3", "11.0.0.1", "2001:db8::1", "2001:db9::1"]
            .map(|address| prefixes.find(address.parse().unwrap()).map(|id| id.0));
        assert_eq!(found, [Some(9), Some(0), Some(2), Some(3), None]);
    }

    proptest! {
        /// Comparison with a search of all prefixes.
        #[test]
        fn the_destination_is_that_of_the_longest_of_all_that_hold_the_address(
            prefixes in prop::collection::vec((0_u32..64, 24_u8..=32), 0..20), address in 0_u32..64,
        ) {
            let mut table = Prefixes::default();
            let mut all: Vec<(IpNet, u32)> = Vec::new();
            for (number, (low, length)) in (0..).zip(prefixes) {
                let prefix = IpNet::new(IpAddr::V4((0x0a00_0000 + low).into()), length).unwrap().trunc();
                table.insert(prefix, DestinationId(number));
                all.retain(|(other, _)| *other != prefix);
                all.push((prefix, number));
            }
            let address = IpAddr::V4((0x0a00_0000 + address).into());
            let longest = all.iter().filter(|(prefix, _)| prefix.contains(&address));
            let expected = longest.max_by_key(|(prefix, _)| prefix.prefix_len()).map(|(_, number)| *number);
            prop_assert_eq!(table.find(address).map(|id| id.0), expected);
        }
    }
}
