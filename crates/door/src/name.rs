//! Addresses as Linux lays them out (`struct sockaddr_in`, `sockaddr_in6`).

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use slantpath_requests::Errno;

const AF_UNSPEC: u16 = 0;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const V4_LEN: usize = 16;
const V6_LEN: usize = 28;

/// Address that a program names. None: it names none on purpose (`AF_UNSPEC`).
///
/// # Errors
/// `EINVAL` if it is too short, or of another family, as Linux says for SCTP.
pub fn address_of(bytes: &[u8]) -> Result<Option<SocketAddr>, Errno> {
    let (family, rest) = bytes.split_first_chunk().ok_or(Errno::EINVAL)?;
    match u16::from_ne_bytes(*family) {
        AF_UNSPEC => Ok(None),
        AF_INET => {
            let fields: &[u8; V4_LEN - 2] = rest.first_chunk().ok_or(Errno::EINVAL)?;
            let [high, low, a, b, c, d, ..] = *fields;
            Ok(Some((Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])).into()))
        }
        AF_INET6 => {
            let fields: &[u8; V6_LEN - 2] = rest.first_chunk().ok_or(Errno::EINVAL)?;
            let (port, rest) = fields.split_first_chunk().ok_or(Errno::EINVAL)?;
            let (flow, rest) = rest.split_first_chunk().ok_or(Errno::EINVAL)?;
            let (octets, rest) = rest.split_first_chunk::<16>().ok_or(Errno::EINVAL)?;
            let scope = rest.first_chunk().ok_or(Errno::EINVAL)?;
            let ip = Ipv6Addr::from(*octets);
            let (flow, scope) = (u32::from_be_bytes(*flow), u32::from_ne_bytes(*scope));
            Ok(Some(SocketAddrV6::new(ip, u16::from_be_bytes(*port), flow, scope).into()))
        }
        _ => Err(Errno::EINVAL),
    }
}

/// Bytes of an address.
pub fn bytes_of(address: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(V6_LEN);
    match address {
        SocketAddr::V4(v4) => {
            bytes.extend(AF_INET.to_ne_bytes());
            bytes.extend(v4.port().to_be_bytes());
            bytes.extend(v4.ip().octets());
            bytes.extend([0; 8]);
        }
        SocketAddr::V6(v6) => {
            bytes.extend(AF_INET6.to_ne_bytes());
            bytes.extend(v6.port().to_be_bytes());
            bytes.extend(v6.flowinfo().to_be_bytes());
            bytes.extend(v6.ip().octets());
            bytes.extend(v6.scope_id().to_ne_bytes());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_an_address_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = address_of(&bytes);
        }

        #[test]
        fn an_address_is_read_as_it_was_written(
            v4 in any::<[u8; 4]>(), v6 in any::<[u8; 16]>(), port: u16, scope: u32,
        ) {
            let of_six = SocketAddrV6::new(v6.into(), port, 0, scope);
            for address in [SocketAddr::from((v4, port)), of_six.into()] {
                let bytes = bytes_of(address);
                prop_assert_eq!(address_of(&bytes), Ok(Some(address)));
                prop_assert_eq!(address_of(&bytes[..bytes.len() - 1]), Err(Errno::EINVAL));
            }
        }
    }

    #[test]
    fn addresses_of_other_families_are_refused_and_none_is_none() {
        assert_eq!(address_of(&[1, 0, b'/', 0]), Err(Errno::EINVAL));
        assert_eq!(address_of(&[0; 16]), Ok(None));
        assert_eq!(address_of(&[2]), Err(Errno::EINVAL));
    }
}
