//! Choosing among IP addresses.

use std::net::IpAddr;

use smallvec::SmallVec;

/// Tells if an address names one host that packets can go to.
pub(crate) fn is_usable(address: IpAddr) -> bool {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
    //# 1)  If the OOTB packet is to or from a non-unicast address, a
    //# receiver SHOULD silently discard the packet.
    match address {
        IpAddr::V4(address) => {
            !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast()
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2.1.2
        //# A sender MUST NOT use an IPv4-mapped IPv6 address [RFC4291]
        IpAddr::V6(address) => {
            !address.is_unspecified() && !address.is_multicast() && address.to_ipv4_mapped().is_none()
        }
    }
}

/// The one of `locals` that packets to `destination` leave from: of its IP version, and with the longest
/// prefix in common (RFC 6724, section 5, rule 8), so that paths through different networks stay apart.
/// Among equals the first. `None` if no address is of that version.
pub(crate) fn source_for(destination: IpAddr, locals: &[IpAddr]) -> Option<IpAddr> {
    let mut best = None;
    for &local in locals {
        if let Some(common) = common_prefix_len(local, destination)
            && best.is_none_or(|(longest, _)| common > longest)
        {
            best = Some((common, local));
        }
    }
    best.map(|(_, local)| local)
}

/// Sources that each of several destinations gets, of those that the routes allow it: the one that it has, or the
/// first, but another that no other destination has, if there is one. The destination with the least choice chooses
/// first. `None` where none is allowed.
pub(crate) fn spread(allowed: &[SmallVec<[IpAddr; 2]>], current: Option<&[IpAddr]>) -> Vec<Option<IpAddr>> {
    let mut chosen = vec![None; allowed.len()];
    let mut order: Vec<usize> = (0..allowed.len()).collect();
    order.sort_by_key(|place| allowed[*place].len());
    for place in order {
        let kept = current.map(|current| current[place]).filter(|source| allowed[place].contains(source));
        let mut choice = kept.iter().chain(&allowed[place]).copied();
        let unused = choice.clone().find(|source| !chosen.contains(&Some(*source)));
        chosen[place] = unused.or_else(|| choice.next());
    }
    chosen
}

/// Addresses of ours that a peer has been told of and that are ours still, if any of them reaches one of the peer's;
/// otherwise all of ours.
pub(crate) fn still_own(
    listed: &[IpAddr],
    own: &[IpAddr],
    mut peer: impl Iterator<Item = IpAddr>,
) -> SmallVec<[IpAddr; 2]> {
    let kept: SmallVec<[IpAddr; 2]> = listed.iter().copied().filter(|one| own.contains(one)).collect();
    if peer.any(|address| source_for(address, &kept).is_some()) { kept } else { own.into() }
}

/// Addresses of ours that a peer at these of its own can use: ours of the loopback are of no use elsewhere, and there
/// they belong to another host.
pub(crate) fn in_scope(own: &[IpAddr], mut peer: impl Iterator<Item = IpAddr>) -> SmallVec<[IpAddr; 2]> {
    let mut is_here = || peer.any(|address| address.is_loopback());
    let has_others = || own.iter().any(|address| !address.is_loopback());
    if own.iter().any(IpAddr::is_loopback) && has_others() && !is_here() {
        return own.iter().copied().filter(|address| !address.is_loopback()).collect();
    }
    own.into()
}

const fn common_prefix_len(a: IpAddr, b: IpAddr) -> Option<u32> {
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        (IpAddr::V6(a), IpAddr::V6(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_loopback_are_for_peers_there_and_for_who_has_no_other() {
        let all =
            |texts: &[&str]| -> Vec<IpAddr> { texts.iter().map(|text| text.parse().unwrap()).collect() };
        let cases: [(&[&str], &[&str], &[&str]); 6] = [
            (&["10.0.0.1", "127.0.0.1", "::1"], &["10.0.0.2"], &["10.0.0.1"]),
            (&["10.0.0.1", "127.0.0.1", "fd00::1", "::1"], &["fd00::2"], &["10.0.0.1", "fd00::1"]),
            (&["10.0.0.1", "127.0.0.1"], &["127.0.0.1"], &["10.0.0.1", "127.0.0.1"]),
            (&["10.0.0.1", "::1"], &["10.0.0.2", "::1"], &["10.0.0.1", "::1"]),
            (&["127.0.0.1", "::1"], &["10.0.0.2"], &["127.0.0.1", "::1"]),
            (&["10.0.0.1", "fd00::1"], &["10.0.0.2"], &["10.0.0.1", "fd00::1"]),
        ];
        for (own, peer, expected) in cases {
            assert_eq!(in_scope(&all(own), all(peer).into_iter())[..], all(expected), "{own:?}, {peer:?}");
        }
    }

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_destination_is_reached_from_the_address_in_its_own_network() {
        let locals = addresses(&["10.0.1.1", "10.0.2.1", "fd00::1"]);
        let from = |to: &str| source_for(to.parse().unwrap(), &locals).map(|from| from.to_string());
        assert_eq!(from("10.0.1.2").as_deref(), Some("10.0.1.1"));
        assert_eq!(from("10.0.2.2").as_deref(), Some("10.0.2.1"));
        assert_eq!(from("192.0.2.1").as_deref(), Some("10.0.1.1"), "among equals the first");
        assert_eq!(from("fd00::2").as_deref(), Some("fd00::1"));
        assert_eq!(source_for("fd00::2".parse().unwrap(), &locals[..2]), None);
        let locals = addresses(&["fd00:1::1", "fd00:2::1"]);
        assert_eq!(source_for("fd00:2::2".parse().unwrap(), &locals), Some(locals[1]));
    }

    #[test]
    fn destinations_leave_from_different_sources_as_far_as_the_routes_allow() {
        let all = addresses(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        let spread = |allowed: &[&[usize]], current: Option<&[usize]>| -> Vec<Option<usize>> {
            let of = |places: &[usize]| places.iter().map(|place| all[*place]).collect::<Vec<_>>();
            let allowed: Vec<SmallVec<[IpAddr; 2]>> =
                allowed.iter().map(|places| of(places).into()).collect();
            let current = current.map(of);
            let chosen = spread(&allowed, current.as_deref());
            let place = |source: IpAddr| all.iter().position(|one| *one == source);
            chosen.into_iter().map(|source| source.and_then(place)).collect()
        };
        // Over one interface, which the routes leave by the first.
        assert_eq!(spread(&[&[0, 1], &[0, 1]], None), [Some(0), Some(1)]);
        assert_eq!(spread(&[&[0, 1], &[0, 1], &[0, 1]], None), [Some(0), Some(1), Some(0)]);
        assert_eq!(spread(&[&[0, 1], &[0]], None), [Some(1), Some(0)], "the second has no choice");
        assert_eq!(spread(&[&[1], &[0, 1, 2]], None), [Some(1), Some(0)]);
        assert_eq!(spread(&[&[], &[2]], None), [None, Some(2)]);
        assert_eq!(spread(&[&[0], &[0]], None), [Some(0), Some(0)]);
        // What is in use stays, if it can.
        assert_eq!(spread(&[&[0, 1], &[0, 1]], Some(&[1, 0])), [Some(1), Some(0)]);
        assert_eq!(spread(&[&[0, 1], &[0, 1]], Some(&[2, 1])), [Some(0), Some(1)]);
        assert_eq!(spread(&[&[0], &[0, 1]], Some(&[0, 0])), [Some(0), Some(1)]);
    }

    #[test]
    fn what_names_no_single_host_is_not_usable() {
        for address in
            addresses(&["0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "ff02::1", "::ffff:1.2.3.4"])
        {
            assert!(!is_usable(address), "{address}");
        }
        for address in addresses(&["127.0.0.1", "10.0.0.1", "::1", "fe80::1"]) {
            assert!(is_usable(address), "{address}");
        }
    }
}
