//! Authenticated chunks (RFC 4895): what two ends agree on, the keys that follow from it, and the digests.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::chunk::kind;
use crate::parameter::Parameter;

/// The length of a RANDOM parameter's value in bytes (RFC 4895, section 6.1).
pub(crate) const RANDOM_LEN: usize = 32;

/// Number of HMAC identifiers of a peer that are read; two are defined.
const MAX_HMACS: usize = 16;

/// Events of the authentication of a peer's chunks, for the layer above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationEvent {
    /// AUTH_NEW_KEY (RFC 6458, section 6.1.8): the peer authenticates by the key of this number from here on. It is not
    /// told of the one that was active here at first.
    NewKey(u16),
    /// AUTH_NO_AUTH (RFC 6458, section 6.1.8): it is offered here, and the peer has not offered it. The association
    /// goes on without, unless it is required ([`SctpConfig::required_extensions`](crate::SctpConfig)).
    NotOffered,
    /// Dropped chunks that are authenticated by a key that is none of ours. Told for the first of several in a row.
    /// Where nothing has ever come that a key of ours authenticates, and the same is seen again a second later or more,
    /// the association is aborted.
    Failed(WrongKey),
}

/// Why a key of the peer's authenticates nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongKey {
    /// The secrets of this number differ.
    #[error("key {0} is another one here: give both ends the same")]
    Different(u16),
    /// There is no key of this number.
    #[error("there is no key {0} here: give both ends the same")]
    Unknown(u16),
}

/// An algorithm for the digest of an AUTH chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HmacAlgorithm {
    /// HMAC with SHA-1, which everybody has.
    Sha1,
    /// HMAC with SHA-256.
    Sha256,
}

impl HmacAlgorithm {
    /// Algorithms that are offered, the preferred one first.
    //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
    //# The HMAC algorithm based on SHA-1 MUST
    //# be supported and included in the HMAC-ALGO parameter.
    const OFFERED: [Self; 2] = [Self::Sha256, Self::Sha1];

    /// The HMAC Identifier (RFC 4895, table 2).
    pub const fn identifier(self) -> u16 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 3,
        }
    }

    /// The algorithm of an identifier, if it is known.
    pub const fn of_identifier(identifier: u16) -> Option<Self> {
        match identifier {
            1 => Some(Self::Sha1),
            3 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// The length of the digest in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// The digest of `parts`, one behind the other.
    pub(crate) fn digest(self, key: &[u8], parts: &[&[u8]]) -> Bytes {
        match self {
            Self::Sha1 => hmac::<Sha1>(key, parts),
            Self::Sha256 => hmac::<Sha256>(key, parts),
        }
    }
}

/// HMAC (RFC 2104). Both hashes take blocks of 64 bytes.
fn hmac<H: Digest>(key: &[u8], parts: &[&[u8]]) -> Bytes {
    const BLOCK: usize = 64;
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        let hashed = H::digest(key);
        block[..hashed.len()].copy_from_slice(&hashed);
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = H::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    for part in parts {
        inner.update(part);
    }
    let mut outer = H::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    Bytes::copy_from_slice(&outer.finalize())
}

/// A secret that both ends of an association have been given: an endpoint pair shared key.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedKey(Bytes);

impl SharedKey {
    /// The key of these bytes.
    pub fn new(secret: impl Into<Bytes>) -> Self {
        Self(secret.into())
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedKey({} bytes)", self.0.len())
    }
}

/// A set of chunk types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkKinds([u64; 4]);

impl ChunkKinds {
    pub(crate) fn of(kinds: &[u8]) -> Self {
        let mut set = Self::default();
        for kind in kinds {
            //= https://www.rfc-editor.org/rfc/rfc4895#section-3.2
            //# However, if a
            //# CHUNKS parameter is received then the types for INIT, INIT-ACK,
            //# SHUTDOWN-COMPLETE, and AUTH chunks MUST be ignored.
            if !matches!(*kind, kind::INIT | kind::INIT_ACK | kind::SHUTDOWN_COMPLETE | kind::AUTH) {
                set.0[usize::from(kind / 64)] |= 1 << (kind % 64);
            }
        }
        set
    }

    #[inline]
    pub(crate) const fn contain(&self, kind: u8) -> bool {
        self.0[(kind / 64) as usize] & 1 << (kind % 64) != 0
    }

    /// Types that are not among `others`.
    pub(crate) fn without(mut self, others: &[u8]) -> Self {
        for kind in others {
            self.0[usize::from(kind / 64)] &= !(1 << (kind % 64));
        }
        self
    }

    pub(crate) const fn is_empty(&self) -> bool {
        matches!(self.0, [0, 0, 0, 0])
    }

    fn to_vec(self) -> Vec<u8> {
        (0..=u8::MAX).filter(|kind| self.contain(*kind)).collect()
    }
}

/// Chunks that an end authenticates, and the keys; read where [`Extension::Authentication`](crate::Extension) is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthenticationConfig {
    /// The types of the chunks that are accepted only if they are authenticated. ASCONF and ASCONF-ACK are, wherever
    /// dynamic addresses are offered as well (RFC 5061, section 4.2.7).
    pub chunks: Vec<u8>,
    /// Endpoint pair shared keys by their identifiers. Without any, an empty key with identifier 0 is used: then
    /// whoever has seen the handshake can authenticate as well.
    pub keys: BTreeMap<u16, SharedKey>,
    /// The identifier of the key by which what is sent is authenticated.
    pub active_key: u16,
    /// Algorithms that the peer may use, the preferred one first; none listed: SHA-256, then SHA-1.
    pub algorithms: Vec<HmacAlgorithm>,
}

impl AuthenticationConfig {
    /// DATA is accepted only if it is authenticated, whichever chunk it comes in; by the empty key, unless there is
    /// another.
    pub fn of_data() -> Self {
        Self { chunks: vec![kind::DATA, kind::I_DATA], ..Self::default() }
    }

    /// The key of an identifier; the empty one of 0 unless another has been given.
    pub(crate) fn initial_keys(&self) -> BTreeMap<u16, SharedKey> {
        let mut keys = self.keys.clone();
        if keys.is_empty() {
            keys.insert(0, SharedKey::new(Bytes::new()));
        }
        keys
    }
}

/// Offer of one end in its INIT or INIT ACK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationOffer {
    /// Random number of the RANDOM parameter.
    pub(crate) random: [u8; RANDOM_LEN],
    /// Value of the CHUNKS parameter; `None`: none was sent.
    pub(crate) chunks: Option<Bytes>,
    /// The identifiers of its HMAC-ALGO parameter.
    pub(crate) hmacs: Vec<u16>,
}

impl AuthenticationOffer {
    /// Offer of an end that has drawn `random`, and accepts `chunks` only if they are authenticated.
    pub(crate) fn new(random: [u8; RANDOM_LEN], chunks: ChunkKinds) -> Self {
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
        //# This list is included in the INIT
        //# and INIT-ACK, and MAY be omitted if it is empty.
        let chunks = (!chunks.is_empty()).then(|| Bytes::from(chunks.to_vec()));
        let hmacs = HmacAlgorithm::OFFERED.map(HmacAlgorithm::identifier).to_vec();
        Self { random, chunks, hmacs }
    }

    /// Lists these algorithms in the place of the usual ones, if there are any.
    pub(crate) fn listing(mut self, algorithms: &[HmacAlgorithm]) -> Self {
        if !algorithms.is_empty() {
            self.hmacs = algorithms.iter().map(|one| one.identifier()).collect();
        }
        self
    }

    /// The parameters that say so.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::Random(Bytes::copy_from_slice(&self.random))];
        if let Some(chunks) = &self.chunks {
            parameters.push(Parameter::ChunkList(chunks[..].into()));
        }
        parameters.push(Parameter::HmacAlgorithms(self.hmacs[..].into()));
        parameters
    }

    /// Reads the parameters of an INIT or INIT ACK. `None`: it does not offer authentication, or what it offers is of
    /// no use. The error is a random number of another length, for which the association is aborted.
    pub(crate) fn read(parameters: &[Parameter]) -> Result<Option<Self>, WrongRandom> {
        let mut found = (None, None, None);
        for parameter in parameters {
            match parameter {
                Parameter::Random(random) => found.0 = Some(random),
                Parameter::ChunkList(chunks) => found.1 = Some(chunks),
                Parameter::HmacAlgorithms(hmacs) => found.2 = Some(hmacs),
                _ => {}
            }
        }
        let (Some(random), chunks, Some(hmacs)) = found else { return Ok(None) };
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
        //# If the Random
        //# Number is not 32 bytes, the association MUST be aborted.
        let random: [u8; RANDOM_LEN] = random[..].try_into().map_err(|_| WrongRandom)?;
        let is_usable = hmacs.iter().any(|one| HmacAlgorithm::of_identifier(*one).is_some());
        let fits = hmacs.len() <= MAX_HMACS && chunks.is_none_or(|chunks| chunks.len() <= 256);
        let chunks = chunks.map(|chunks| Bytes::copy_from_slice(chunks));
        Ok((is_usable && fits).then(|| Self { random, chunks, hmacs: hmacs.to_vec() }))
    }

    /// The chunks that must be authenticated on their way to who offers this.
    pub(crate) fn required(&self) -> ChunkKinds {
        self.chunks.as_deref().map_or_else(ChunkKinds::default, ChunkKinds::of)
    }

    /// The algorithm for what is sent to who offers this.
    fn algorithm(&self) -> HmacAlgorithm {
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
        //# The receiver of an HMAC-ALGO parameter SHOULD use the first
        //# listed algorithm it supports.
        self.hmacs.iter().find_map(|one| HmacAlgorithm::of_identifier(*one)).unwrap_or(HmacAlgorithm::Sha1)
    }

    /// The key vector.
    fn vector(&self) -> Vec<u8> {
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
        //# These parameters include the parameter type, parameter length, and
        //# the parameter value, but padding is omitted
        let mut vector = Vec::new();
        for parameter in self.parameters() {
            let whole = parameter.to_bytes();
            let len = usize::from(u16::from_be_bytes([whole[2], whole[3]]));
            vector.extend_from_slice(&whole[..len]);
        }
        vector
    }
}

/// A RANDOM parameter does not hold 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongRandom;

/// Offers of both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthenticationTerms {
    /// Offer of our end.
    pub(crate) local: AuthenticationOffer,
    /// Offer of the peer.
    pub(crate) peer: AuthenticationOffer,
}

impl AuthenticationTerms {
    /// The association shared key that follows from an endpoint pair shared key.
    pub(crate) fn association_key(&self, key: &SharedKey) -> Vec<u8> {
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.1
        //# This is performed by selecting
        //# the numerically smaller key vector and concatenating it to the
        //# endpoint pair shared key, and then concatenating the numerically
        //# larger key vector to that.
        let (local, peer) = (self.local.vector(), self.peer.vector());
        let (smaller, larger) = if is_smaller(&peer, &local) { (peer, local) } else { (local, peer) };
        [&key.0[..], &smaller, &larger].concat()
    }

    /// The algorithm for what we send.
    pub(crate) fn algorithm(&self) -> HmacAlgorithm {
        self.peer.algorithm()
    }
}

/// Tells if one vector is smaller than another as a number, or equal to it and shorter.
fn is_smaller(one: &[u8], other: &[u8]) -> bool {
    let len = one.len().max(other.len());
    let padded = |vector: &[u8]| [&vec![0; len - vector.len()][..], vector].concat();
    (padded(one), one.len()) < (padded(other), other.len())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn hex(bytes: &[u8]) -> String {
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        digits.map(|digit| char::from_digit(digit.into(), 16).expect("four bits")).collect()
    }

    /// RFC 2202, section 3, and RFC 4231, section 4: cases 1, 2 and 6.
    #[test]
    fn the_digests_are_those_of_the_published_vectors() {
        let cases: [(&[u8], &[u8], &str, &str); 3] = [
            (
                &[0x0b; 20],
                b"Hi There",
                "b617318655057264e28bc0b6fb378c8ef146be00",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "90d0dace1c1bdc957339307803160335bde6df2b",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ];
        for (key, data, sha1, sha256) in cases {
            let (head, tail) = data.split_at(3);
            assert_eq!(hex(&HmacAlgorithm::Sha1.digest(key, &[head, tail])), sha1);
            assert_eq!(hex(&HmacAlgorithm::Sha256.digest(key, &[data])), sha256);
        }
    }

    fn terms(local: u8, peer: u8) -> AuthenticationTerms {
        let offer = |byte, chunks| AuthenticationOffer::new([byte; RANDOM_LEN], ChunkKinds::of(chunks));
        AuthenticationTerms { local: offer(local, &[kind::ASCONF, kind::DATA]), peer: offer(peer, &[]) }
    }

    #[test]
    fn both_ends_come_to_the_same_key_whichever_vector_is_smaller() {
        let key = SharedKey::new(&b"secret"[..]);
        for (one, other) in [(1, 2), (2, 1), (9, 9)] {
            let terms = terms(one, other);
            let turned = AuthenticationTerms { local: terms.peer.clone(), peer: terms.local.clone() };
            assert_eq!(terms.association_key(&key), turned.association_key(&key));
        }
        // The peer's vector: RANDOM (36 bytes) and HMAC-ALGO (8). It is shorter, so it is the smaller number.
        let association_key = terms(1, 2).association_key(&key);
        assert_eq!(association_key[..10], [b's', b'e', b'c', b'r', b'e', b't', 0x80, 0x02, 0, 36]);
        assert_eq!(association_key[42..50], [0x80, 0x04, 0, 8, 0, 3, 0, 1]);
        // Ours: RANDOM, CHUNKS with two types and without padding, HMAC-ALGO.
        assert_eq!(association_key[86..92], [0x80, 0x03, 0, 6, 0, 193]);
        assert_eq!(association_key.len(), 6 + 44 + 50);
    }

    #[test]
    fn the_algorithm_is_the_first_that_the_peer_lists() {
        use HmacAlgorithm::{Sha1, Sha256};
        for (listed, chosen) in
            [(&[][..], Sha256), (&[Sha1, Sha256], Sha1), (&[Sha1], Sha1), (&[Sha256, Sha1], Sha256)]
        {
            let AuthenticationTerms { local, peer } = terms(1, 2);
            let terms = AuthenticationTerms { local, peer: peer.listing(listed) };
            assert_eq!(terms.algorithm(), chosen, "{listed:?}");
        }
    }

    #[test]
    fn numbers_are_compared_and_not_strings() {
        assert!(is_smaller(&[9], &[1, 0]) && !is_smaller(&[1, 0], &[9]));
        assert!(is_smaller(&[1], &[0, 1]) && !is_smaller(&[0, 1], &[1]));
        assert!(!is_smaller(&[1, 2], &[1, 2]));
    }

    #[test]
    fn a_random_number_of_another_length_is_an_error_and_an_unknown_algorithm_no_offer() {
        let offer = terms(1, 2).local;
        assert_eq!(AuthenticationOffer::read(&offer.parameters()), Ok(Some(offer)));
        let hmacs = |one: u16| Parameter::HmacAlgorithms([one].into_iter().collect());
        let random = |len: usize| Parameter::Random(vec![7; len].into());
        assert_eq!(AuthenticationOffer::read(&[random(31), hmacs(1)]), Err(WrongRandom));
        for parameters in [vec![random(32)], vec![hmacs(1)], vec![random(32), hmacs(2)]] {
            assert_eq!(AuthenticationOffer::read(&parameters), Ok(None));
        }
    }

    #[test]
    fn chunks_of_the_handshake_are_never_required() {
        let kinds =
            ChunkKinds::of(&[kind::INIT, kind::INIT_ACK, kind::SHUTDOWN_COMPLETE, kind::AUTH, 0, 255]);
        assert_eq!(kinds.to_vec(), [0, 255]);
        assert!(ChunkKinds::of(&[kind::AUTH]).is_empty());
    }

    #[test]
    fn a_key_does_not_show_itself() {
        assert_eq!(format!("{:?}", SharedKey::new(&b"abc"[..])), "SharedKey(3 bytes)");
    }
}
