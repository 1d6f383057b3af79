//! State cookies: the whole state of a handshake, signed, in the peer's hands (RFC 9260, sections 5.1.3 to
//! 5.1.5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Stream};
use slantpath_wire::{Reader, WireError};
use smallvec::SmallVec;

use crate::authentication::{AuthenticationOffer, RANDOM_LEN};
use crate::extension::Extensions;
use crate::types::{Tsn, VerificationTag};

/// Contents of a cookie: the state that the sender of the INIT ACK forgets until the COOKIE ECHO brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    /// Instant at which it was made.
    pub(crate) created: Instant,
    /// Time for which it is valid.
    pub(crate) life: Duration,
    pub(crate) local_port: u16,
    pub(crate) peer_port: u16,
    pub(crate) local_tag: VerificationTag,
    pub(crate) peer_tag: VerificationTag,
    /// The Local-Tie-Tag and the Peer's-Tie-Tag of the association that existed already, else zero.
    pub(crate) tie_tags: TieTags,
    pub(crate) local_initial_tsn: Tsn,
    pub(crate) peer_initial_tsn: Tsn,
    pub(crate) outbound_streams: u16,
    pub(crate) inbound_streams: u16,
    pub(crate) peer_rwnd: u32,
    /// The peer's addresses, first the one that the INIT ACK goes to.
    pub(crate) peer_addresses: SmallVec<[IpAddr; 2]>,
    /// True if ECN is used. It takes a byte only if it is: the length of a cookie is part of what packets are like.
    pub(crate) uses_ecn: bool,
    /// The extensions that both ends have offered, in three bytes if there are any.
    pub(crate) extensions: Extensions,
    /// True if the peer takes our packets without a checksum; takes a byte if so.
    pub(crate) omits_checksum: bool,
    /// Adaptation Code Point of the peer, if it has sent one.
    pub(crate) adaptation_layer: Option<u32>,
    /// Address at which the peer wants DATA, if it says so: the place among its addresses, in three bytes.
    pub(crate) wanted_primary: Option<u16>,
    /// If chunks are authenticated: our random number and what the peer has offered.
    pub(crate) authentication: Option<Box<CookieAuthentication>>,
}

/// Terms in a cookie on which chunks are authenticated; no key.
//= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
//# it is important that the cookie contained in an INIT-ACK
//# chunk and in a COOKIE-ECHO chunk MUST NOT contain any endpoint pair
//# shared keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CookieAuthentication {
    pub(crate) random: [u8; RANDOM_LEN],
    pub(crate) peer: AuthenticationOffer,
}

impl CookieAuthentication {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.random);
        out.extend_from_slice(&self.peer.random);
        // 0: none was sent; an empty list is another vector.
        let chunks = self.peer.chunks.as_deref();
        let count = chunks.map_or(0, |chunks| chunks.len() + 1);
        out.extend_from_slice(&u16::try_from(count).expect("at most 256 types").to_be_bytes());
        out.extend_from_slice(chunks.unwrap_or_default());
        let count = u16::try_from(self.peer.hmacs.len()).expect("at most 16 identifiers");
        out.extend_from_slice(&count.to_be_bytes());
        for hmac in &self.peer.hmacs {
            out.extend_from_slice(&hmac.to_be_bytes());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (random, peer_random) = (reader.array()?, reader.array()?);
        let chunks = match reader.u16()?.checked_sub(1) {
            Some(count) => Some(Bytes::copy_from_slice(reader.take(count.into())?)),
            None => None,
        };
        let mut hmacs = Vec::new();
        for _ in 0..reader.u16()? {
            hmacs.push(reader.u16()?);
        }
        Ok(Self { random, peer: AuthenticationOffer { random: peer_random, chunks, hmacs } })
    }
}

/// Stands in the list of addresses, where other values are IP versions.
const USES_ECN: u8 = 1;

/// Stands there, too, and a set of extensions follows.
const EXTENSIONS: u8 = 2;

/// Stands in the list of addresses, and the terms of authentication follow.
const AUTHENTICATION: u8 = 3;

/// Stands in the list of addresses, and an Adaptation Code Point follows. (4 is an IP version.)
const ADAPTATION_LAYER: u8 = 5;

/// Stands there by itself. (6 is an IP version.)
const OMITS_CHECKSUM: u8 = 7;

/// Stands in the list of addresses, and the place of the address that is to be the primary one follows.
const WANTED_PRIMARY: u8 = 8;

/// Two random numbers that recognise an association in a cookie without telling its verification tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TieTags {
    pub(crate) local: u32,
    pub(crate) peer: u32,
}

impl TieTags {
    /// No association existed.
    pub(crate) const NONE: Self = Self { local: 0, peer: 0 };

    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.2.2
    //# Only when a TCB exists and the association is not in a COOKIE-WAIT or
    //# SHUTDOWN-ACK-SENT state are the Tie-Tags populated with a random
    //# value other than 0.
    pub(crate) fn random(stream: &mut Stream) -> Self {
        Self { local: VerificationTag::random(stream).0, peer: VerificationTag::random(stream).0 }
    }
}

impl Cookie {
    /// Time by which the cookie is too late at `now`, if it is.
    pub(crate) fn staleness(&self, now: Instant) -> Option<Duration> {
        let age = now.saturating_since(self.created);
        (age > self.life).then(|| age.saturating_sub(self.life))
    }

    fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        out.extend_from_slice(&self.created.as_nanos().to_be_bytes());
        out.extend_from_slice(&self.life.as_nanos().to_be_bytes());
        for port in [self.local_port, self.peer_port, self.outbound_streams, self.inbound_streams] {
            out.extend_from_slice(&port.to_be_bytes());
        }
        for word in [
            self.local_tag.0,
            self.peer_tag.0,
            self.tie_tags.local,
            self.tie_tags.peer,
            self.local_initial_tsn.0,
            self.peer_initial_tsn.0,
            self.peer_rwnd,
        ] {
            out.extend_from_slice(&word.to_be_bytes());
        }
        for address in &self.peer_addresses {
            match address {
                IpAddr::V4(address) => {
                    out.push(4);
                    out.extend_from_slice(&address.octets());
                }
                IpAddr::V6(address) => {
                    out.push(6);
                    out.extend_from_slice(&address.octets());
                }
            }
        }
        if self.uses_ecn {
            out.push(USES_ECN);
        }
        if !self.extensions.is_empty() {
            out.push(EXTENSIONS);
            out.extend_from_slice(&self.extensions.bits().to_be_bytes());
        }
        if self.omits_checksum {
            out.push(OMITS_CHECKSUM);
        }
        if let Some(authentication) = &self.authentication {
            out.push(AUTHENTICATION);
            authentication.write(&mut out);
        }
        if let Some(code_point) = self.adaptation_layer {
            out.push(ADAPTATION_LAYER);
            out.extend_from_slice(&code_point.to_be_bytes());
        }
        if let Some(place) = self.wanted_primary {
            out.push(WANTED_PRIMARY);
            out.extend_from_slice(&place.to_be_bytes());
        }
        out
    }

    fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let created = Instant::from_nanos(reader.u64()?);
        let life = Duration::from_nanos(reader.u64()?);
        let [local_port, peer_port] = [reader.u16()?, reader.u16()?];
        let [outbound_streams, inbound_streams] = [reader.u16()?, reader.u16()?];
        let [local_tag, peer_tag] = [VerificationTag(reader.u32()?), VerificationTag(reader.u32()?)];
        let tie_tags = TieTags { local: reader.u32()?, peer: reader.u32()? };
        let [local_initial_tsn, peer_initial_tsn] = [Tsn(reader.u32()?), Tsn(reader.u32()?)];
        let peer_rwnd = reader.u32()?;
        let mut peer_addresses = SmallVec::new();
        let mut uses_ecn = false;
        let mut extensions = Extensions::NONE;
        let mut omits_checksum = false;
        let mut authentication = None;
        let mut adaptation_layer = None;
        let mut wanted_primary = None;
        while !reader.is_empty() {
            peer_addresses.push(match reader.u8()? {
                USES_ECN => {
                    uses_ecn = true;
                    continue;
                }
                EXTENSIONS => {
                    extensions = Extensions::from_bits(reader.u16()?);
                    continue;
                }
                OMITS_CHECKSUM => {
                    omits_checksum = true;
                    continue;
                }
                AUTHENTICATION => {
                    authentication = Some(Box::new(CookieAuthentication::read(&mut reader)?));
                    continue;
                }
                ADAPTATION_LAYER => {
                    adaptation_layer = Some(reader.u32()?);
                    continue;
                }
                WANTED_PRIMARY => {
                    wanted_primary = Some(reader.u16()?);
                    continue;
                }
                4 => Ipv4Addr::from(reader.array::<4>()?).into(),
                6 => Ipv6Addr::from(reader.array::<16>()?).into(),
                version => return Err(WireError::BadValue { field: "IP version", value: version.into() }),
            });
        }
        Ok(Self {
            created,
            life,
            local_port,
            peer_port,
            local_tag,
            peer_tag,
            tie_tags,
            local_initial_tsn,
            peer_initial_tsn,
            outbound_streams,
            inbound_streams,
            peer_rwnd,
            peer_addresses,
            uses_ecn,
            extensions,
            omits_checksum,
            adaptation_layer,
            wanted_primary,
            authentication,
        })
    }
}

/// Half of BLAKE3's output: as hard to forge as a key of 128 bits is to guess, and a smaller cookie.
const MAC_LEN: usize = 16;

//= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.3
//# The secret key SHOULD be changed reasonably
//# frequently (e.g., hourly)
const KEY_LIFE: Duration = Duration::from_secs(3_600);

/// Signs cookies and knows its own signature. Holds nothing for any cookie.
#[derive(Clone, Debug)]
pub(crate) struct CookieSigner {
    key: [u8; 32],
    key_since: Instant,
    /// The key before, for cookies that were made just before the change.
    last_key: Option<[u8; 32]>,
}

impl CookieSigner {
    /// Draws its first key.
    pub(crate) fn new(now: Instant, stream: &mut Stream) -> Self {
        Self { key: fresh_key(stream), key_since: now, last_key: None }
    }

    /// Signs a cookie, with a new key if the present one is old.
    pub(crate) fn sign(&mut self, now: Instant, cookie: &Cookie, stream: &mut Stream) -> Bytes {
        if now.saturating_since(self.key_since) >= KEY_LIFE {
            self.last_key = Some(core::mem::replace(&mut self.key, fresh_key(stream)));
            self.key_since = now;
        }
        let mut bytes = cookie.write();
        let mac = blake3::keyed_hash(&self.key, &bytes);
        bytes.extend_from_slice(&mac.as_bytes()[..MAC_LEN]);
        bytes.into()
    }

    /// Gives the contents of a cookie, if we have made it and still know the key.
    pub(crate) fn open(&self, bytes: &[u8]) -> Option<Cookie> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.5
        //# 2)  Authenticate the State Cookie as one that it previously generated
        //# by comparing the computed MAC against the one carried in the
        //# State Cookie.
        let (cookie, mac) = bytes.split_at_checked(bytes.len().checked_sub(MAC_LEN)?)?;
        let is_ours = [Some(&self.key), self.last_key.as_ref()].into_iter().flatten().any(|key| {
            let expected = blake3::keyed_hash(key, cookie);
            is_equal_in_constant_time(&expected.as_bytes()[..MAC_LEN], mac)
        });
        if is_ours { Cookie::parse(cookie).ok() } else { None }
    }
}

fn fresh_key(stream: &mut Stream) -> [u8; 32] {
    let mut key = [0; 32];
    stream.fill(&mut key);
    key
}

/// Comparison that takes as long whichever byte differs, so that a MAC cannot be guessed byte by byte.
pub(crate) fn is_equal_in_constant_time(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::Seed;

    fn stream() -> Stream {
        Seed::new(1, 0).stream("cookies")
    }

    prop_compose! {
        fn any_authentication()(
            random: [u8; 32],
            peer_random: [u8; 32],
            chunks in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..9)),
            hmacs in proptest::collection::vec(any::<u16>(), 0..4),
        ) -> CookieAuthentication {
            let peer = AuthenticationOffer { random: peer_random, chunks: chunks.map(Bytes::from), hmacs };
            CookieAuthentication { random, peer }
        }
    }

    prop_compose! {
        fn any_cookie()(
            (created, life) in any::<(u64, u64)>(),
            ports in any::<[u16; 4]>(),
            words in any::<[u32; 7]>(),
            peer_addresses in proptest::collection::vec(any::<IpAddr>(), 0..4),
            uses_ecn: bool,
            omits_checksum: bool,
            extensions: u16,
            authentication in proptest::option::of(any_authentication()),
            adaptation_layer: Option<u32>,
            wanted_primary: Option<u16>,
        ) -> Cookie {
            Cookie {
                created: Instant::from_nanos(created),
                life: Duration::from_nanos(life),
                local_port: ports[0],
                peer_port: ports[1],
                local_tag: VerificationTag(words[0]),
                peer_tag: VerificationTag(words[1]),
                tie_tags: TieTags { local: words[2], peer: words[3] },
                local_initial_tsn: Tsn(words[4]),
                peer_initial_tsn: Tsn(words[5]),
                outbound_streams: ports[2],
                inbound_streams: ports[3],
                peer_rwnd: words[6],
                peer_addresses: peer_addresses.into(),
                uses_ecn,
                extensions: Extensions::from_bits(extensions),
                omits_checksum,
                authentication: authentication.map(Box::new),
                adaptation_layer,
                wanted_primary,
            }
        }
    }

    fn cookie_of(created: Instant) -> Cookie {
        Cookie {
            created,
            life: Duration::from_secs(60),
            local_port: 1,
            peer_port: 2,
            local_tag: VerificationTag(3),
            peer_tag: VerificationTag(4),
            tie_tags: TieTags::NONE,
            local_initial_tsn: Tsn(5),
            peer_initial_tsn: Tsn(6),
            outbound_streams: 7,
            inbound_streams: 8,
            peer_rwnd: 9,
            peer_addresses: [Ipv4Addr::LOCALHOST.into()].into_iter().collect(),
            uses_ecn: false,
            extensions: Extensions::NONE,
            omits_checksum: false,
            authentication: None,
            adaptation_layer: None,
            wanted_primary: None,
        }
    }

    #[test]
    fn a_cookie_for_one_ipv4_address_takes_73_bytes() {
        let mut stream = stream();
        let mut signer = CookieSigner::new(Instant::START, &mut stream);
        assert_eq!(signer.sign(Instant::START, &cookie_of(Instant::START), &mut stream).len(), 73);
    }

    #[test]
    fn ecn_takes_a_byte_of_a_cookie_if_it_is_used() {
        let mut stream = stream();
        let mut signer = CookieSigner::new(Instant::START, &mut stream);
        let cookie = Cookie { uses_ecn: true, ..cookie_of(Instant::START) };
        assert_eq!(signer.sign(Instant::START, &cookie, &mut stream).len(), 74);
    }

    #[test]
    fn a_cookie_is_stale_only_after_its_life() {
        let cookie = cookie_of(Instant::from_secs(10));
        assert_eq!(cookie.staleness(Instant::from_secs(70)), None);
        assert_eq!(cookie.staleness(Instant::from_secs(72)), Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_key_is_known_until_the_second_change() {
        let mut stream = stream();
        let mut signer = CookieSigner::new(Instant::START, &mut stream);
        let cookie = cookie_of(Instant::START);
        let signed = signer.sign(Instant::START, &cookie, &mut stream);
        signer.sign(Instant::from_secs(3_600), &cookie, &mut stream);
        assert_eq!(signer.open(&signed), Some(cookie.clone()));
        signer.sign(Instant::from_secs(7_200), &cookie, &mut stream);
        assert_eq!(signer.open(&signed), None);
    }

    #[test]
    fn the_cookie_of_another_endpoint_is_refused() {
        let mut stream = stream();
        let mut ours = CookieSigner::new(Instant::START, &mut stream);
        let theirs = CookieSigner::new(Instant::START, &mut stream);
        let signed = ours.sign(Instant::START, &cookie_of(Instant::START), &mut stream);
        assert!(ours.open(&signed).is_some());
        assert_eq!(theirs.open(&signed), None);
    }

    proptest! {
        #[test]
        fn cookies_round_trip(cookie in any_cookie()) {
            let mut stream = stream();
            let mut signer = CookieSigner::new(Instant::START, &mut stream);
            let signed = signer.sign(Instant::START, &cookie, &mut stream);
            prop_assert_eq!(signer.open(&signed), Some(cookie));
        }

        #[test]
        fn a_cookie_with_one_flipped_bit_is_refused(cookie in any_cookie(), bit in 0_usize..584) {
            let mut stream = stream();
            let mut signer = CookieSigner::new(Instant::START, &mut stream);
            let mut signed = signer.sign(Instant::START, &cookie, &mut stream).to_vec();
            let byte = bit / 8 % signed.len();
            signed[byte] ^= 1 << (bit % 8);
            prop_assert_eq!(signer.open(&signed), None);
        }

        #[test]
        fn any_bytes_are_no_cookie(bytes: Vec<u8>) {
            let mut stream = stream();
            let signer = CookieSigner::new(Instant::START, &mut stream);
            prop_assert_eq!(signer.open(&bytes), None);
            let _ = Cookie::parse(&bytes);
        }
    }
}
