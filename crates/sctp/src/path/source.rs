//! Which of our addresses packets to a destination leave from.

use std::net::IpAddr;

/// The one of `locals` that shares the longest prefix with `destination`, the first among equals (RFC 6724,
/// section 5, rule 8); `None` if none is of its IP version.
pub(crate) fn source_for(destination: IpAddr, locals: &[IpAddr]) -> Option<IpAddr> {
    let mut best = None;
    for &local in locals {
        let Some(len) = common_prefix_len(destination, local) else { continue };
        if best.is_none_or(|(longest, _)| len > longest) {
            best = Some((len, local));
        }
    }
    best.map(|(_, local)| local)
}

fn common_prefix_len(a: IpAddr, b: IpAddr) -> Option<u32> {
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
    fn packets_leave_from_the_address_nearest_to_their_destination() {
        let locals: Vec<IpAddr> =
            ["10.1.0.1", "10.2.0.1", "2001:db8::1"].map(|text| text.parse().unwrap()).to_vec();
        let from = |text: &str| source_for(text.parse().unwrap(), &locals).map(|source| source.to_string());
        assert_eq!(from("10.1.0.2").as_deref(), Some("10.1.0.1"));
        assert_eq!(from("10.2.0.2").as_deref(), Some("10.2.0.1"));
        assert_eq!(from("192.0.2.1").as_deref(), Some("10.1.0.1"));
        assert_eq!(from("2001:db8:1::1").as_deref(), Some("2001:db8::1"));
        assert_eq!(source_for("2001:db8::1".parse().unwrap(), &locals[..2]), None);
    }
}
