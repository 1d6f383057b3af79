//! Addresses with ports: a family, a port, the number of a link, and 16 bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use crate::fields::{Fields, Malformed};

/// Length of an address in a piece.
pub(crate) const ADDRESS_LEN: usize = 24;

const NONE: u16 = 0;
const V4: u16 = 4;
const V6: u16 = 6;

/// Appends an address, or that there is none.
pub(crate) fn put(address: Option<SocketAddr>, bytes: &mut Vec<u8>) {
    let (family, port, scope, octets) = match address {
        None => (NONE, 0, 0, [0; 16]),
        Some(SocketAddr::V4(v4)) => {
            let mut octets = [0; 16];
            octets[..4].copy_from_slice(&v4.ip().octets());
            (V4, v4.port(), 0, octets)
        }
        Some(SocketAddr::V6(v6)) => (V6, v6.port(), v6.scope_id(), v6.ip().octets()),
    };
    bytes.extend_from_slice(&family.to_le_bytes());
    bytes.extend_from_slice(&port.to_le_bytes());
    bytes.extend_from_slice(&scope.to_le_bytes());
    bytes.extend_from_slice(&octets);
}

/// Reads an address, if there is one.
pub(crate) fn get(fields: &mut Fields<'_>) -> Result<Option<SocketAddr>, Malformed> {
    const WHAT: &str = "an address";
    let (family, port, scope) = (fields.u16(WHAT)?, fields.u16(WHAT)?, fields.u32(WHAT)?);
    let octets: [u8; 16] = fields.array(WHAT)?;
    match family {
        NONE if (port, scope, octets) == (0, 0, [0; 16]) => Ok(None),
        V4 if scope == 0 && octets[4..] == [0; 12] => {
            let ip = IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]));
            Ok(Some(SocketAddr::new(ip, port)))
        }
        V6 => Ok(Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, 0, scope).into())),
        _ => Err(Malformed(WHAT)),
    }
}
