//! Choice of the application server that a message is for.

use slantpath_ss7::sccp::Digits;

use crate::sua::{Address, AddressRange, RoutingIndicator, RoutingKey};

/// Tells whether a message between these addresses is of the key's traffic. A key that says nothing takes everything.
pub(super) fn answers(key: &RoutingKey, source: Option<&Address>, destination: &Address) -> bool {
    let of_destination = key.destinations.iter().any(|wanted| is_alike(wanted, destination));
    let of_source = source.is_some_and(|source| key.sources.iter().any(|wanted| is_alike(wanted, source)));
    let in_range = key.ranges.iter().any(|range| match range {
        AddressRange::Destination(pairs) => is_between(pairs, destination),
        AddressRange::Source(pairs) => source.is_some_and(|source| is_between(pairs, source)),
    });
    let names_destinations = !key.destinations.is_empty()
        || key.ranges.iter().any(|range| matches!(range, AddressRange::Destination(_)));
    let names_sources =
        !key.sources.is_empty() || key.ranges.iter().any(|range| matches!(range, AddressRange::Source(_)));
    (!names_destinations || of_destination || in_range) && (!names_sources || of_source || in_range)
}

/// Tells whether an address has what a key's address names: for a title, its first digits.
fn is_alike(wanted: &Address, address: &Address) -> bool {
    match wanted.routing {
        RoutingIndicator::GlobalTitle => {
            let (Some(wanted), Some(title)) = (wanted.global_title(), address.global_title()) else {
                return false;
            };
            address.routing == RoutingIndicator::GlobalTitle
                && wanted.plan == title.plan
                && wanted.translation_type == title.translation_type
                && title.digits().values().starts_with(wanted.digits().values())
        }
        RoutingIndicator::PointCode => {
            let code = wanted.point_code().is_none_or(|code| address.point_code() == Some(code));
            let subsystem = wanted.subsystem().is_none_or(|number| address.subsystem() == Some(number));
            address.routing == RoutingIndicator::PointCode && code && subsystem
        }
        RoutingIndicator::Hostname | RoutingIndicator::IpAddress => {
            address.routing == wanted.routing && wanted.parts.iter().all(|part| address.parts.contains(part))
        }
    }
}

/// Tells whether an address lies between a first and a last: by point code, or by digits of a title.
fn is_between(pairs: &[Address], address: &Address) -> bool {
    let (pairs, _) = pairs.as_chunks::<2>();
    pairs.iter().any(|[first, last]| {
        let codes = (first.point_code(), last.point_code(), address.point_code());
        let titles = (first.global_title(), last.global_title(), address.global_title());
        match (codes, titles) {
            (_, (Some(first), Some(last), Some(title))) => {
                let digits: Digits = title.digits();
                let upper = last.digits();
                let most = digits.values().len().min(upper.values().len());
                first.digits().values() <= digits.values() && digits.values()[..most] <= *upper.values()
            }
            ((Some(first), Some(last), Some(code)), _) => (first..=last).contains(&code),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sua::SuaGlobalTitle;
    use slantpath_ss7::PointCode;

    fn title(digits: &str) -> Address {
        Address::of_title(SuaGlobalTitle::international(0, 1, 4, &Digits::parse(digits).unwrap()), None)
    }

    #[test]
    fn a_title_is_known_by_its_first_digits() {
        let key = RoutingKey { destinations: vec![title("4912")], ..RoutingKey::default() };
        assert!(answers(&key, None, &title("49123")));
        assert!(!answers(&key, None, &title("4913")));
        assert!(!answers(&key, None, &Address::of_subsystem(PointCode(1), 8)));
    }

    #[test]
    fn a_range_takes_what_lies_between_its_ends() {
        let pair = vec![Address::of_subsystem(PointCode(10), 8), Address::of_subsystem(PointCode(20), 8)];
        let key = RoutingKey { ranges: vec![AddressRange::Destination(pair)], ..RoutingKey::default() };
        assert!(answers(&key, None, &Address::of_subsystem(PointCode(15), 8)));
        assert!(!answers(&key, None, &Address::of_subsystem(PointCode(21), 8)));
    }

    #[test]
    fn sources_and_destinations_must_both_answer() {
        let key = RoutingKey {
            sources: vec![Address::of_subsystem(PointCode(1), 8)],
            destinations: vec![Address::of_subsystem(PointCode(2), 8)],
            ..RoutingKey::default()
        };
        let (one, two) = (Address::of_subsystem(PointCode(1), 8), Address::of_subsystem(PointCode(2), 8));
        assert!(answers(&key, Some(&one), &two));
        assert!(!answers(&key, Some(&two), &two));
        assert!(!answers(&key, None, &two));
    }
}
