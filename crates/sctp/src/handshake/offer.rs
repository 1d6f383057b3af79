//! Offer of an INIT or INIT ACK: its fields checked, its parameters sorted.

use std::net::IpAddr;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::address::is_usable;
use crate::authentication::AuthenticationOffer;
use crate::cause::Cause;
use crate::chunk::InitFields;
use crate::extension::{Extension, Extensions};
use crate::parameter::{Parameter, kind};
use crate::unknown::UnknownAction;
use crate::zero_checksum::ErrorDetectionMethod;

/// The least receive buffer that a peer may advertise (RFC 9260, section 3.3.2).
pub(crate) const LEAST_RWND: u32 = 1_500;

/// An INIT or INIT ACK that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) fields: InitFields,
    /// The peer's addresses: the packet's source first, then those listed, each once.
    pub(crate) addresses: SmallVec<[IpAddr; 2]>,
    /// The cookie of an INIT ACK.
    pub(crate) cookie: Option<Bytes>,
    /// By how many milliseconds the sender of an INIT wishes its cookie to live longer.
    pub(crate) cookie_increment_ms: u32,
    /// IP versions that the peer can use.
    pub(crate) families: Families,
    /// True if the peer offers ECN.
    pub(crate) is_ecn_capable: bool,
    /// The extensions that it offers and that are known here.
    pub(crate) extensions: Extensions,
    /// By which method it finds errors in packets without a checksum, if it takes any.
    pub(crate) zero_checksum: Option<ErrorDetectionMethod>,
    /// Offer for the authentication of chunks, if one was made and is known here.
    pub(crate) authentication: Option<AuthenticationOffer>,
    /// Adaptation Code Point for the peer's layer above.
    pub(crate) adaptation_layer: Option<u32>,
    /// Address at which the peer wants DATA.
    pub(crate) wanted_primary: Option<IpAddr>,
    /// Unknown parameters that are to be reported, each whole.
    pub(crate) unrecognized: Vec<Bytes>,
}

/// IP versions of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Families {
    /// Nothing was said, so both.
    Any,
    /// Versions that are listed, or used all the same.
    Only {
        /// True if IPv4 is among them.
        ipv4: bool,
        /// True if IPv6 is among them.
        ipv6: bool,
    },
}

impl Families {
    /// Tells if an address can be used.
    pub(crate) const fn include(self, address: IpAddr) -> bool {
        match (self, address) {
            (Self::Any, _) => true,
            (Self::Only { ipv4, .. }, IpAddr::V4(_)) => ipv4,
            (Self::Only { ipv6, .. }, IpAddr::V6(_)) => ipv6,
        }
    }

    fn and(self, other: IpAddr) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Only { ipv4, ipv6 } => {
                Self::Only { ipv4: ipv4 || other.is_ipv4(), ipv6: ipv6 || other.is_ipv6() }
            }
        }
    }
}

impl Offer {
    /// Sorts the parameters of a chunk that came from `source`, at an end that knows `supported`. The error is the
    /// cause of the ABORT that answers it.
    pub(crate) fn read(
        fields: InitFields,
        parameters: &[Parameter],
        source: IpAddr,
        max_addresses: usize,
        supported: Extensions,
    ) -> Result<Self, Cause> {
        let mut offer = Self {
            fields,
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.2
            //# C)  If there are only IPv4/IPv6 addresses present in the received
            //# INIT or INIT ACK chunk, the receiver MUST derive and record all
            //# the transport addresses from the received chunk AND the source IP
            //# address that sent the INIT or INIT ACK chunk.
            addresses: [source].into_iter().collect(),
            cookie: None,
            cookie_increment_ms: 0,
            families: Families::Any,
            is_ecn_capable: false,
            extensions: Extensions::NONE,
            zero_checksum: None,
            authentication: None,
            adaptation_layer: None,
            wanted_primary: None,
            unrecognized: Vec::new(),
        };
        for parameter in parameters {
            match parameter {
                Parameter::Address(address) => {
                    let has_room = offer.addresses.len() < max_addresses;
                    if has_room && is_usable(*address) && !offer.addresses.contains(address) {
                        offer.addresses.push(*address);
                    }
                }
                Parameter::StateCookie(cookie) => offer.cookie = Some(cookie.clone()),
                Parameter::CookiePreservative { increment_ms } => offer.cookie_increment_ms = *increment_ms,
                Parameter::SupportedAddressTypes(types) => {
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2.1.5
                    //# The
                    //# value indicating the Host Name Address parameter MUST NOT be used
                    //# when sending this parameter and MUST be ignored when receiving
                    //# this parameter.
                    offer.families = Families::Only {
                        ipv4: types.contains(&kind::IPV4_ADDRESS),
                        ipv6: types.contains(&kind::IPV6_ADDRESS),
                    };
                }
                //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.2
                //# B)  If there is a Host Name Address parameter present in the received
                //# INIT or INIT ACK chunk, the endpoint MUST immediately send an
                //# ABORT chunk and MAY include an "Unresolvable Address" error cause
                //# to its peer.
                Parameter::HostNameAddress(_) => {
                    return Err(Cause::UnresolvableAddress(parameter.to_bytes()));
                }
                Parameter::EcnCapable => offer.is_ecn_capable = true,
                Parameter::ZeroChecksumAcceptable { method } => {
                    offer.zero_checksum = ErrorDetectionMethod::from_id(*method);
                }
                Parameter::SupportedExtensions(types) => {
                    offer.extensions = offer.extensions.union(Extensions::announced_by(types)).and(supported);
                }
                Parameter::ForwardTsnSupported if supported.contain(Extension::PartialReliability) => {
                    offer.extensions = offer.extensions.with(Extension::PartialReliability);
                }
                // Without meaning here, as a Heartbeat Info; or, as an Unrecognized Parameter, to be read by whoever
                // sent the INIT.
                //= https://www.rfc-editor.org/rfc/rfc4820#section-4
                //# The receiver of the PAD
                //# parameter MUST silently discard this parameter and continue
                //# processing the rest of the INIT chunk.
                Parameter::HeartbeatInfo(_)
                | Parameter::UnrecognizedParameter(_)
                | Parameter::Random(_)
                | Parameter::ChunkList(_)
                | Parameter::HmacAlgorithms(_)
                | Parameter::Padding { .. } => {}
                Parameter::AdaptationLayer(code_point) => offer.adaptation_layer = Some(*code_point),
                //= https://www.rfc-editor.org/rfc/rfc5061#section-4.2.4
                //# The inclusion of this parameter in
                //# the INIT or INIT-ACK can be used to indicate an initial preference of
                //# primary address.
                Parameter::SetPrimary { address, .. } if supported.contain(Extension::DynamicAddresses) => {
                    offer.wanted_primary = Some(if address.is_unspecified() { source } else { *address });
                }
                // An extension that is switched off is not known.
                Parameter::Unknown { .. } | Parameter::ForwardTsnSupported | Parameter::SetPrimary { .. } => {
                    let action = UnknownAction::of_parameter(parameter.kind());
                    if action.reports() {
                        offer.unrecognized.push(parameter.to_bytes());
                    }
                    //= https://www.rfc-editor.org/rfc/rfc9260#section-3.2.1
                    //# In the 00 or 01 case, the processing of the parameters
                    //# after the unknown parameter is canceled, but no processing already
                    //# done is rolled back.
                    if action.stops() {
                        break;
                    }
                }
            }
        }
        if supported.contain(Extension::Authentication) {
            //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
            //# The ABORT
            //# chunk SHOULD contain the error cause 'Protocol Violation'.
            offer.authentication = AuthenticationOffer::read(parameters)
                .map_err(|_| Cause::violation("a random number that is not 32 bytes long"))?;
        }
        // Its own parameters say whether it is used, which are older than the list.
        offer.extensions = match &offer.authentication {
            Some(_) => offer.extensions.with(Extension::Authentication),
            None => offer.extensions.without(Extension::Authentication),
        };
        // RFC 5061, section 5.4: what is none of its addresses is passed over.
        offer.wanted_primary = offer.wanted_primary.filter(|wanted| offer.addresses.contains(wanted));
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.2
        //# then the address family that is not listed
        //# in the 'Supported Address Types' parameter SHOULD also be considered
        //# as supported by the receiver of the INIT chunk.
        offer.families =
            offer.addresses.iter().fold(offer.families, |families, address| families.and(*address));
        Ok(offer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Tsn, VerificationTag};
    use std::net::Ipv4Addr;

    const FIELDS: InitFields = InitFields {
        initiate_tag: VerificationTag(1),
        a_rwnd: 1_500,
        outbound_streams: 1,
        inbound_streams: 1,
        initial_tsn: Tsn(0),
    };

    fn v4(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn read(parameters: &[Parameter]) -> Result<Offer, Cause> {
        Offer::read(FIELDS, parameters, v4(1), 4, Extensions::NONE)
    }

    fn unknown(kind: u16) -> Parameter {
        Parameter::Unknown { kind, value: Bytes::from_static(b"abc") }
    }

    #[test]
    fn a_wish_for_a_primary_address_counts_if_it_is_listed_and_dynamic_addresses_are_known() {
        let wish = |address| Parameter::SetPrimary { correlation: 7, address };
        let with = |wish: Parameter, supported| {
            let parameters = [wish, Parameter::Address(v4(2))];
            let offer = Offer::read(FIELDS, &parameters, v4(1), 4, supported).unwrap();
            (offer.wanted_primary, offer.unrecognized.len())
        };
        let known = Extensions::of(&[Extension::DynamicAddresses]);
        assert_eq!(with(wish(v4(2)), known), (Some(v4(2)), 0));
        assert_eq!(with(wish(v4(1)), known), (Some(v4(1)), 0));
        assert_eq!(with(wish(v4(3)), known), (None, 0));
        assert_eq!(with(wish(Ipv4Addr::UNSPECIFIED.into()), known), (Some(v4(1)), 0));
        assert_eq!(with(wish(v4(2)), Extensions::NONE), (None, 1));
    }

    #[test]
    fn the_source_is_an_address_of_the_peer_and_no_address_counts_twice() {
        let offer = read(&[Parameter::Address(v4(2)), Parameter::Address(v4(1)), Parameter::Address(v4(2))]);
        assert_eq!(offer.unwrap().addresses[..], [v4(1), v4(2)]);
    }

    #[test]
    fn addresses_beyond_the_limit_and_those_of_no_single_host_are_left_out() {
        let broadcast = Parameter::Address(Ipv4Addr::BROADCAST.into());
        let multicast = Parameter::Address(Ipv4Addr::new(224, 0, 0, 1).into());
        let listed = (2..9).map(|last| Parameter::Address(v4(last)));
        let offer = read(&[broadcast, multicast].into_iter().chain(listed).collect::<Vec<_>>());
        assert_eq!(offer.unwrap().addresses[..], [v4(1), v4(2), v4(3), v4(4)]);
    }

    #[test]
    fn the_high_bits_of_an_unknown_parameter_decide_what_follows() {
        let follows = Parameter::Address(v4(2));
        let cases =
            [(0x3000, false, false), (0x7000, true, false), (0xb000, false, true), (0xf000, true, true)];
        for (kind, is_reported, goes_on) in cases {
            let offer = read(&[unknown(kind), follows.clone()]).unwrap();
            assert_eq!(offer.unrecognized.len(), usize::from(is_reported), "{kind:#x}");
            assert_eq!(offer.addresses.contains(&v4(2)), goes_on, "{kind:#x}");
        }
    }

    #[test]
    fn extensions_count_if_they_are_known_at_both_ends() {
        let both = Extensions::NONE.with(Extension::PartialReliability);
        for parameters in
            [both.parameters(), vec![Parameter::ForwardTsnSupported], both.parameters().split_off(1)]
        {
            let offer = Offer::read(FIELDS, &parameters, v4(1), 4, both).unwrap();
            assert_eq!((offer.extensions, offer.unrecognized.len()), (both, 0));
        }
    }

    #[test]
    fn an_extension_that_is_switched_off_is_reported_as_unknown() {
        let offer = read(&Extensions::NONE.with(Extension::PartialReliability).parameters()).unwrap();
        assert_eq!(offer.extensions, Extensions::NONE);
        assert_eq!(offer.unrecognized, [Parameter::ForwardTsnSupported.to_bytes()]);
    }

    #[test]
    fn padding_is_neither_reported_nor_in_the_way_of_what_follows() {
        let offer = read(&[Parameter::Padding { len: 1_001 }, Parameter::Address(v4(2))]).unwrap();
        assert_eq!((offer.unrecognized.len(), &offer.addresses[..]), (0, &[v4(1), v4(2)][..]));
    }

    #[test]
    fn a_host_name_is_answered_by_an_unresolvable_address() {
        let host = Parameter::HostNameAddress(Bytes::from_static(b"a.example\0"));
        assert_eq!(read(std::slice::from_ref(&host)), Err(Cause::UnresolvableAddress(host.to_bytes())));
    }

    #[test]
    fn a_family_in_use_is_supported_even_if_it_is_not_listed() {
        let types = Parameter::SupportedAddressTypes([kind::IPV6_ADDRESS, 11].into_iter().collect());
        let offer = read(&[types]).unwrap();
        assert_eq!(offer.families, Families::Only { ipv4: true, ipv6: true });
    }

    #[test]
    fn a_family_that_the_peer_cannot_use_is_left_out() {
        let six = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);
        let includes = |families: Families| [families.include(v4(1)), families.include(six)];
        assert_eq!(includes(Families::Any), [true, true]);
        for (ipv4, ipv6) in [(true, false), (false, true)] {
            assert_eq!(includes(Families::Only { ipv4, ipv6 }), [ipv4, ipv6]);
        }
    }
}
