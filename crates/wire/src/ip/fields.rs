//! The fields of an IP header that a transport and its user have a say in, and are told of.

use std::net::IpAddr;

use super::IpHeader;

/// Addresses and fields that a transport gives to IP with a packet that it sends, and gets with one that it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Address of the packet's sender.
    pub source: IpAddr,
    /// Address to which the packet goes.
    pub destination: IpAddr,
    /// Other fields of the IP header.
    pub fields: IpFields,
}

/// Hop limit, class and congestion mark of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpFields {
    /// IPv4's time to live, IPv6's hop limit.
    pub hop_limit: u8,
    /// The class that it is forwarded in.
    pub dscp: Dscp,
    /// ECN codepoint: capable of ECN or not, and congestion experienced.
    pub ecn: Ecn,
}

impl Default for IpFields {
    /// 64 hops, as Linux has it: 63 routers and so 64 links. The default class, and no ECN.
    fn default() -> Self {
        Self { hop_limit: 64, dscp: Dscp::DEFAULT, ecn: Ecn::NotCapable }
    }
}

impl IpFields {
    /// The octet of an IPv4 header's type of service, or an IPv6 header's traffic class.
    pub const fn traffic_class(self) -> u8 {
        self.dscp.0 << 2 | self.ecn as u8
    }

    /// Takes the fields from a header.
    pub const fn of(header: &IpHeader) -> Self {
        Self::from_octets(header.hop_limit, header.traffic_class)
    }

    /// Reads the fields from two octets of a header.
    #[inline]
    pub const fn from_octets(hop_limit: u8, traffic_class: u8) -> Self {
        let ecn = match traffic_class & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        };
        Self { hop_limit, dscp: Dscp(traffic_class >> 2), ecn }
    }
}

/// A differentiated services code point (RFC 2474): 6 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

impl Dscp {
    /// Default forwarding, best effort (RFC 2474, section 4.1).
    pub const DEFAULT: Self = Self(0);

    /// The code point with this number; `None` if it has more than 6 bits.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    /// Number of the code point.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// The ECN field (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not-ECT: the transport does not use ECN.
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// CE: a router has met congestion.
    CongestionExperienced = 3,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::Fragmentation;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_traffic_class_is_what_its_fields_say(traffic_class: u8, hop_limit: u8) {
            let addresses = [IpAddr::from([10, 0, 0, 1]); 2];
            let header = IpHeader {
                source: addresses[0],
                destination: addresses[1],
                protocol: 132,
                hop_limit,
                traffic_class,
                payload_len: 0,
                fragmentation: Fragmentation::Forbidden,
            };
            let fields = IpFields::of(&header);
            prop_assert_eq!((fields.traffic_class(), fields.hop_limit), (traffic_class, hop_limit));
            prop_assert_eq!(Dscp::new(fields.dscp.number()), Some(fields.dscp));
        }
    }

    #[test]
    fn expedited_forwarding_that_met_congestion_is_bb() {
        let fields = IpFields { hop_limit: 1, dscp: Dscp::new(46).unwrap(), ecn: Ecn::CongestionExperienced };
        assert_eq!(fields.traffic_class(), 0xbb);
        assert_eq!(Dscp::new(64), None);
    }
}
