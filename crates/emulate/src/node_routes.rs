//! Routes of an attached node: a default, and as few prefixes as the ways need that differ from it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Route of a node by one of its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeRoute {
    /// First address of the prefix, and its length.
    pub(crate) destination: (IpAddr, u8),
    /// Place of the interface that leads there.
    pub(crate) place: usize,
}

/// Gives the routes by which a node reaches these addresses, each by the interface at its place: prefixes that cover
/// no address whose way is another. What the default route of its family does, whose interfaces are `defaults` (IPv4
/// and IPv6), needs none.
pub(crate) fn routes(
    reached: impl Iterator<Item = (IpAddr, usize)>,
    defaults: [Option<usize>; 2],
) -> Vec<NodeRoute> {
    let mut families = [Vec::new(), Vec::new()];
    for (address, place) in reached {
        families[usize::from(address.is_ipv6())].push((bits(address), place));
    }
    let mut routes = Vec::new();
    for (is_ipv6, (mut reached, default)) in [false, true].into_iter().zip(families.into_iter().zip(defaults))
    {
        reached.sort_by_key(|&(bits, _)| bits);
        reached.dedup_by_key(|&mut (bits, _)| bits);
        cover(&reached, default, &mut |bits, len, place| {
            // All bits of one address are common, of which IPv4 has 32.
            let len = if is_ipv6 { len } else { len.min(32) };
            routes.push(NodeRoute { destination: (address(bits, is_ipv6), len), place });
        });
    }
    routes
}

/// Covers addresses in order by prefixes of one place each. At most 128 deep: each part has a longer prefix.
fn cover(reached: &[(u128, usize)], default: Option<usize>, take: &mut impl FnMut(u128, u8, usize)) {
    let (Some(&(first, place)), Some(&(last, _))) = (reached.first(), reached.last()) else { return };
    let common = (first ^ last).leading_zeros();
    if reached.iter().all(|&(_, other)| other == place) {
        if default != Some(place) {
            let kept = u128::MAX.checked_shl(128 - common).unwrap_or(0);
            take(first & kept, u8::try_from(common).unwrap_or(u8::MAX), place);
        }
        return;
    }
    // There are two at least, which differ in the bit behind what they have in common.
    let split = reached.partition_point(|(bits, _)| bits & (1 << (127 - common)) == 0);
    let (low, high) = reached.split_at(split);
    cover(low, default, take);
    cover(high, default, take);
}

/// An address as bits, the first of them on the left.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn address(bits: u128, is_ipv6: bool) -> IpAddr {
    if is_ipv6 {
        return Ipv6Addr::from_bits(bits).into();
    }
    let bits = u32::try_from(bits >> 96).unwrap_or(u32::MAX);
    Ipv4Addr::from_bits(bits).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(reached: &[(&str, usize)], defaults: [Option<usize>; 2]) -> Vec<String> {
        let reached = reached.iter().map(|(address, place)| (address.parse().unwrap(), *place));
        let told = |NodeRoute { destination: (address, len), place }| format!("{address}/{len} by {place}");
        routes(reached, defaults).into_iter().map(told).collect()
    }

    #[test]
    fn a_node_of_one_link_needs_no_route_but_its_default() {
        let reached = [("10.0.0.2", 0), ("10.0.1.9", 0), ("fd00::2", 0)];
        assert_eq!(told(&reached, [Some(0), Some(0)]), [""; 0]);
    }

    #[test]
    fn ways_that_differ_have_prefixes_of_their_own() {
        let reached = [("10.0.0.2", 0), ("10.0.1.1", 1), ("10.0.1.2", 1), ("10.0.2.1", 0), ("fd00::2", 1)];
        assert_eq!(told(&reached, [Some(0), Some(0)]), ["10.0.1.0/30 by 1", "fd00::2/128 by 1"]);
        assert_eq!(told(&reached[4..], [Some(0), Some(1)]), [""; 0]);
        // Without a default every way has a route.
        assert_eq!(told(&reached[..1], [None; 2]), ["10.0.0.2/32 by 0"]);
    }

    #[test]
    fn no_prefix_covers_what_goes_by_another_link() {
        let reached = [("10.0.0.0", 1), ("10.0.0.1", 0), ("10.0.0.2", 1), ("10.0.0.3", 1)];
        assert_eq!(told(&reached, [Some(0), None]), ["10.0.0.0/32 by 1", "10.0.0.2/31 by 1"]);
        // The whole of a family.
        assert_eq!(told(&[("0.0.0.0", 1), ("255.255.255.255", 1)], [Some(0), None]), ["0.0.0.0/0 by 1"]);
    }

    proptest! {
        #[test]
        fn the_longest_prefix_leads_each_address_by_its_way(
            reached in prop::collection::btree_map(
                prop_oneof![any::<u8>().prop_map(|low| IpAddr::from([10, 0, 0, low])),
                    any::<u16>().prop_map(|low| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, low]))], 0_usize..3, 0..60),
        ) {
            let defaults = [Some(0), Some(1)];
            let routes = routes(reached.iter().map(|(address, place)| (*address, *place)), defaults);
            prop_assert!(routes.len() <= reached.len());
            for (&to, &place) in &reached {
                let is_covering = |route: &&NodeRoute| {
                    let (first, len) = route.destination;
                    first.is_ipv6() == to.is_ipv6()
                        && (len == 0 || (bits(first) ^ bits(to)) >> (128 - u32::from(len)) == 0)
                };
                let longest = routes.iter().filter(is_covering).max_by_key(|route| route.destination.1);
                let led = longest.map(|route| route.place).or(defaults[usize::from(to.is_ipv6())]);
                prop_assert_eq!(led, Some(place));
            }
        }
    }
}
