//! Structs of Linux as bytes (`linux/sctp.h`), in the order of the machines that it serves: least byte first.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use slantpath_requests::Errno;

/// Length of `struct sockaddr_storage`.
pub(crate) const STORAGE_LEN: usize = 128;

const AF_UNSPEC: u16 = 0;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const IN_LEN: usize = 16;
const IN6_LEN: usize = 28;

/// A struct that a program has handed over. A field that is not there is an `EINVAL`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'a>(pub(crate) &'a [u8]);

impl<'a> Given<'a> {
    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], Errno> {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(Errno::EINVAL)
    }

    pub(crate) fn u8(self, at: usize) -> Result<u8, Errno> {
        Ok(u8::from_le_bytes(self.array(at)?))
    }

    pub(crate) fn u16(self, at: usize) -> Result<u16, Errno> {
        Ok(u16::from_le_bytes(self.array(at)?))
    }

    pub(crate) fn u32(self, at: usize) -> Result<u32, Errno> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    pub(crate) fn i32(self, at: usize) -> Result<i32, Errno> {
        Ok(i32::from_le_bytes(self.array(at)?))
    }

    pub(crate) fn tail(self, at: usize) -> Result<&'a [u8], Errno> {
        self.0.get(at..).ok_or(Errno::EINVAL)
    }

    /// Checks that it has this length at least.
    pub(crate) fn at_least(self, length: usize) -> Result<Self, Errno> {
        if self.0.len() < length { Err(Errno::EINVAL) } else { Ok(self) }
    }

    /// Checks that it has this length.
    pub(crate) fn exactly(self, length: usize) -> Result<Self, Errno> {
        if self.0.len() == length { Ok(self) } else { Err(Errno::EINVAL) }
    }

    /// Numbers of 16 bits from here on, so many of them.
    pub(crate) fn numbers(self, at: usize, count: usize) -> Result<Vec<u16>, Errno> {
        (0..count).map(|place| self.u16(at + 2 * place)).collect()
    }

    /// A `struct sockaddr_storage`; `None`: it names nobody.
    pub(crate) fn storage(self, at: usize) -> Result<Option<SocketAddr>, Errno> {
        let storage: [u8; STORAGE_LEN] = self.array(at)?;
        match Given(&storage).u16(0)? {
            AF_UNSPEC => Ok(None),
            AF_INET | AF_INET6 => Ok(Some(Given(&storage).address()?.0)),
            _ => Err(Errno::EINVAL),
        }
    }

    /// A `struct sockaddr` of either family at the beginning, and its length.
    fn address(self) -> Result<(SocketAddr, usize), Errno> {
        let port = u16::from_be_bytes(self.array(2)?);
        match self.u16(0)? {
            AF_INET => {
                let octets: [u8; 4] = self.at_least(IN_LEN)?.array(4)?;
                Ok((SocketAddr::new(Ipv4Addr::from(octets).into(), port), IN_LEN))
            }
            AF_INET6 => {
                let octets: [u8; 16] = self.at_least(IN6_LEN)?.array(8)?;
                let address = SocketAddrV6::new(Ipv6Addr::from(octets), port, 0, self.u32(24)?);
                Ok((address.into(), IN6_LEN))
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// Addresses one behind the other, each as long as its family has it; at least one.
    pub(crate) fn addresses(self) -> Result<Vec<SocketAddr>, Errno> {
        let mut rest = self.0;
        let mut addresses = Vec::new();
        while !rest.is_empty() {
            let (address, length) = Given(rest).address()?;
            addresses.push(address);
            rest = rest.get(length..).ok_or(Errno::EINVAL)?;
        }
        if addresses.is_empty() { Err(Errno::EINVAL) } else { Ok(addresses) }
    }
}

/// A struct for a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told(pub(crate) Vec<u8>);

impl Told {
    pub(crate) fn u8(mut self, value: u8) -> Self {
        self.0.push(value);
        self
    }

    pub(crate) fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn i32(mut self, value: i32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend_from_slice(value);
        self
    }

    /// Fills it up to a length, as alignment has it.
    pub(crate) fn padded_to(mut self, length: usize) -> Self {
        self.0.resize(length, 0);
        self
    }

    /// A `struct sockaddr` as long as its family has it.
    pub(crate) fn address(self, address: SocketAddr) -> Self {
        let family = if address.is_ipv4() { AF_INET } else { AF_INET6 };
        let begun = self.u16(family).bytes(&address.port().to_be_bytes());
        match address.ip() {
            IpAddr::V4(ip) => begun.bytes(&ip.octets()).bytes(&[0; 8]),
            IpAddr::V6(ip) => {
                let scope = if let SocketAddr::V6(v6) = address { v6.scope_id() } else { 0 };
                begun.u32(0).bytes(&ip.octets()).u32(scope)
            }
        }
    }

    /// A `struct sockaddr_storage`.
    pub(crate) fn storage(self, address: Option<SocketAddr>) -> Self {
        let end = self.0.len() + STORAGE_LEN;
        let filled = match address {
            Some(address) => self.address(address),
            None => self,
        };
        filled.padded_to(end)
    }
}

/// Number as a field of 32 bits has it: the most that fits.
pub(crate) fn narrowed(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Number as a field of 16 bits has it: the most that fits.
pub(crate) fn short(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn addresses_are_read_as_they_were_written(
            v4 in any::<([u8; 4], u16)>(), v6 in any::<([u8; 16], u16, u32)>(),
        ) {
            let first = SocketAddr::from(v4);
            let second = SocketAddr::from(SocketAddrV6::new(v6.0.into(), v6.1, 0, v6.2));
            let list = Told::default().address(first).address(second).address(first);
            prop_assert_eq!(Given(&list.0).addresses(), Ok(vec![first, second, first]));
            for one in [first, second] {
                let told = Told::default().u32(7).storage(Some(one));
                prop_assert_eq!(told.0.len(), 4 + STORAGE_LEN);
                prop_assert_eq!(Given(&told.0).storage(4), Ok(Some(one)));
            }
            prop_assert_eq!(Given(&Told::default().storage(None).0).storage(0), Ok(None));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..300) {
            let given = Given(&bytes);
            let _ = (given.addresses(), given.storage(at), given.u8(at), given.numbers(at, 100), given.tail(at));
        }
    }
}
