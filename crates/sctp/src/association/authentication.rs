//! Chunks that are authenticated (RFC 4895): the keys of an association, AUTH in front of what the peer wants
//! authenticated, and what is dropped that should have been.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};

use super::{Association, Chunk};
use crate::authentication::{
    AuthenticationEvent, AuthenticationTerms, ChunkKinds, HmacAlgorithm, SharedKey, WrongKey,
};
use crate::cause::Cause;
use crate::chunk::{Auth, CHUNK_HEADER_LEN, kind};
use crate::config::SctpConfig;
use crate::cookie::is_equal_in_constant_time;
use crate::event::Event;
use crate::packet::{Chunks, FoundChunk, PacketBuilder, ParsedPacket};
use crate::path::PathId;
use crate::tcb::Tcb;

/// State of an association that authenticates chunks.
#[derive(Clone, Debug)]
pub(crate) struct Authentication {
    terms: AuthenticationTerms,
    /// Association shared keys, by the identifiers of the endpoint pair shared keys that they follow from.
    keys: BTreeMap<u16, Vec<u8>>,
    /// These endpoint pair shared keys.
    secrets: BTreeMap<u16, SharedKey>,
    /// Identifier of the key that authenticates what we send.
    active_key: u16,
    algorithm: HmacAlgorithm,
    /// Types of the chunks that we accept only if they are authenticated.
    wanted: ChunkKinds,
    /// Types of the chunks that the peer accepts only if they are authenticated.
    required: ChunkKinds,
    /// True if `required` has types of chunks that any packet may have, such as DATA and SACK.
    is_general: bool,
    proof: Proof,
    /// Number of the key by which the peer authenticates: until it does, the one that was active here at first.
    peer_key: u16,
}

/// Proof that the peer has our keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// Nothing has come that is authenticated.
    Awaited,
    /// Nothing has come that is authenticated by our keys, and by others it has since this time.
    Failing(Instant),
    /// Authenticated chunks have come by our keys; `is_failing`: not the last ones.
    Given { is_failing: bool },
}

/// Time for which a peer may authenticate by other keys before it is told: keys are not given to both ends at the same
/// time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Treatment of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Reads the chunk.
    Read,
    /// Skips the chunk.
    PassOver,
    /// Skips the chunk and all that follow.
    Stop,
    /// Skips the chunk, since it is not authenticated by a key of ours.
    Forged(WrongKey),
    /// Skips the chunk, since its algorithm was not offered.
    Unsupported(u16),
}

/// Chunks that leave only if they have been queued as control chunks: it is seen beforehand whether a packet has one.
const CONTROL: [u8; 10] = [
    kind::HEARTBEAT,
    kind::HEARTBEAT_ACK,
    kind::ABORT,
    kind::ERROR,
    kind::COOKIE_ECHO,
    kind::COOKIE_ACK,
    kind::CWR,
    kind::ASCONF,
    kind::ASCONF_ACK,
    kind::RE_CONFIG,
];

/// Why a key cannot be taken away or made active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// No such association, or none that authenticates.
    #[error("there is no association that authenticates chunks")]
    NotSupported,
    /// There is no such key.
    #[error("there is no key {0}")]
    NoSuchKey(u16),
    /// Key that authenticates what is sent, and so cannot be deleted.
    #[error("key {0} is the active one")]
    Active(u16),
    /// There are as many keys as there may be.
    #[error("there are as many keys as there may be")]
    TooManyKeys,
}

/// Number of keys that an association holds at most.
const MAX_KEYS: usize = 256;

impl Association {
    /// The types of the chunks that each end accepts only if they are authenticated: of this one, and of the peer.
    /// `None` if the ends do not authenticate chunks.
    pub fn authenticated_chunks(&self) -> Option<[&[u8]; 2]> {
        let terms = &self.authentication.as_ref()?.terms;
        Some([&terms.local, &terms.peer].map(|offer| offer.chunks.as_deref().unwrap_or_default()))
    }
}

impl Authentication {
    /// Creates the state if both ends have offered the extension.
    pub(super) fn negotiated(tcb: &Tcb, config: &SctpConfig) -> Option<Box<Self>> {
        tcb.authentication.as_ref().map(|terms| Box::new(Self::new((**terms).clone(), config)))
    }

    /// An association on these terms with the keys of `config`.
    pub(crate) fn new(terms: AuthenticationTerms, config: &SctpConfig) -> Self {
        let secrets = config.authentication.initial_keys();
        let keys: BTreeMap<u16, Vec<u8>> =
            secrets.iter().map(|(id, secret)| (*id, terms.association_key(secret))).collect();
        let active_key = config.authentication.active_key;
        let first = keys.keys().next().copied().unwrap_or(0);
        let required = terms.peer.required();
        let active_key = if keys.contains_key(&active_key) { active_key } else { first };
        Self {
            active_key,
            peer_key: active_key,
            algorithm: terms.algorithm(),
            wanted: terms.local.required(),
            is_general: !required.without(&CONTROL).is_empty(),
            required,
            keys,
            secrets,
            terms,
            proof: Proof::Awaited,
        }
    }

    /// Goes on with the endpoint pair shared keys of the association before, on the terms of this one.
    pub(super) fn take_keys(&mut self, other: &Self) {
        self.secrets.clone_from(&other.secrets);
        let derived = self.secrets.iter().map(|(id, secret)| (*id, self.terms.association_key(secret)));
        self.keys = derived.collect();
        self.active_key = other.active_key;
        self.peer_key = other.peer_key;
    }

    /// Number of bytes that authentication takes of every packet with DATA.
    pub(super) const fn data_overhead(&self) -> usize {
        let is_meant = self.required.contain(kind::DATA) || self.required.contain(kind::I_DATA);
        if is_meant { self.chunk_len() } else { 0 }
    }

    const fn chunk_len(&self) -> usize {
        Auth::FIXED_LEN + self.algorithm.digest_len()
    }

    /// Tells if a chunk must be authenticated on its way to the peer.
    pub(crate) const fn requires(&self, kind: u8) -> bool {
        self.required.contain(kind)
    }

    /// Puts an AUTH chunk without its digest at the front of a packet that has been started.
    pub(crate) fn reserve(&self, builder: &mut PacketBuilder) {
        let digest = vec![0; self.algorithm.digest_len()].into();
        builder.reserve_auth(&Auth { key: self.active_key, hmac: self.algorithm.identifier(), digest });
    }

    /// Fills the digest in, or takes the AUTH chunk out where nothing needs it. Returns whether it has stayed.
    pub(crate) fn sign(&self, builder: &mut PacketBuilder) -> bool {
        let Some(key) = self.keys.get(&self.active_key) else { return false };
        builder.sign(|kind| self.required.contain(kind), |parts| self.algorithm.digest(key, parts))
    }

    /// DATA follows in a packet, and nothing behind that: takes the AUTH chunk out if neither needs it, so that it
    /// takes no room and the packet is known to be as short as it will be.
    pub(crate) fn prepare_for_data(&self, builder: &mut PacketBuilder) {
        if self.data_overhead() == 0 {
            builder.waive_auth(|kind| self.required.contain(kind));
        }
    }

    /// Decides the treatment of a chunk of a packet; `is_authenticated`: an AUTH chunk in front of it was right.
    fn judge(&self, chunks: &Chunks<'_>, found: FoundChunk, is_authenticated: &mut bool) -> Verdict {
        if found.header.kind != kind::AUTH {
            //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
            //# It MUST silently discard these chunks if they
            //# are not placed after an AUTH chunk in the packet.
            let is_missed = !*is_authenticated && self.wanted.contain(found.header.kind);
            //= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
            //# If either authentication fails, or the AUTH chunk is missing,
            //# the receiver MUST silently discard this chunk and the rest of
            //# the packet.
            return match found.header.kind {
                kind::ASCONF if is_missed => Verdict::Stop,
                _ if is_missed => Verdict::PassOver,
                _ => Verdict::Read,
            };
        }
        //= https://www.rfc-editor.org/rfc/rfc4895#section-5.1
        //# The control chunk AUTH MUST NOT appear more than once in an SCTP
        //# packet.
        if *is_authenticated {
            return Verdict::Stop;
        }
        let Ok(Chunk::Auth(auth)) = chunks.read(found) else { return Verdict::Stop };
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# If this algorithm was not specified by the
        //# receiver in the HMAC-ALGO parameter in the INIT or INIT-ACK chunk
        //# during association setup, the AUTH chunk and all the chunks after it
        //# MUST be discarded and an ERROR chunk SHOULD be sent with the error
        //# cause defined in Section 4.1.
        let Some(algorithm) = HmacAlgorithm::of_identifier(auth.hmac) else {
            return Verdict::Unsupported(auth.hmac);
        };
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# If no endpoint pair shared key has been configured for that Shared
        //# Key Identifier, all authenticated chunks MUST be silently discarded.
        let Some(key) = self.keys.get(&auth.key) else { return Verdict::Forged(WrongKey::Unknown(auth.key)) };
        if auth.digest.len() != algorithm.digest_len() {
            return Verdict::Stop;
        }
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.2
        //# The
        //# 'data' used for the computation of the AUTH-chunk is given by the
        //# AUTH chunk with its HMAC field set to zero (as shown in Figure 6)
        //# followed by all the chunks that are placed after the AUTH chunk in
        //# the SCTP packet.
        let (head, tail, padding) = chunks.bytes_from(found);
        let (fixed, rest) = head.split_at(Auth::FIXED_LEN);
        let zeros = [0; 32];
        let behind = &rest[algorithm.digest_len()..];
        let parts = [fixed, &zeros[..algorithm.digest_len()], behind, tail, &zeros[..padding]];
        let digest = algorithm.digest(key, &parts);
        //= https://www.rfc-editor.org/rfc/rfc4895#section-6.3
        //# If the field does not match the result of the
        //# calculation, all the chunks following the AUTH chunk MUST be silently
        //# discarded.
        if !is_equal_in_constant_time(&digest, &auth.digest) {
            return Verdict::Forged(WrongKey::Different(auth.key));
        }
        *is_authenticated = true;
        Verdict::PassOver
    }

    /// Tells if every chunk of a packet may be read.
    pub(crate) fn vouches_for(&self, packet: &ParsedPacket<'_>) -> bool {
        let mut chunks = packet.chunks();
        let mut is_authenticated = false;
        while let Some(found) = chunks.next_header() {
            let Ok(found) = found else { continue };
            let is_auth = found.header.kind == kind::AUTH;
            match self.judge(&chunks, found, &mut is_authenticated) {
                Verdict::Read => {}
                Verdict::PassOver if is_auth => {}
                Verdict::PassOver | Verdict::Stop | Verdict::Forged(_) | Verdict::Unsupported(_) => {
                    return false;
                }
            }
        }
        true
    }
}

impl Association {
    /// State of the authentication of chunks, if both ends have offered that.
    pub(crate) fn authentication(&self) -> Option<&Authentication> {
        self.authentication.as_deref()
    }

    /// Adds an endpoint pair shared key, or replaces it.
    pub fn add_key(&mut self, id: u16, key: &SharedKey) -> Result<(), KeyError> {
        let state = self.authentication.as_mut().ok_or(KeyError::NotSupported)?;
        if state.keys.len() >= MAX_KEYS && !state.keys.contains_key(&id) {
            return Err(KeyError::TooManyKeys);
        }
        state.keys.insert(id, state.terms.association_key(key));
        state.secrets.insert(id, key.clone());
        // It may be the peer's.
        if matches!(state.proof, Proof::Failing(_)) {
            state.proof = Proof::Awaited;
        }
        Ok(())
    }

    /// Tells if there is an endpoint pair shared key of this number.
    pub fn has_key(&self, id: u16) -> bool {
        self.authentication.as_ref().is_some_and(|state| state.keys.contains_key(&id))
    }

    /// Authenticates what is sent by this key from now on.
    pub fn activate_key(&mut self, id: u16) -> Result<(), KeyError> {
        let state = self.authentication.as_mut().ok_or(KeyError::NotSupported)?;
        if !state.keys.contains_key(&id) {
            return Err(KeyError::NoSuchKey(id));
        }
        state.active_key = id;
        Ok(())
    }

    /// Takes a key away that is not the active one: what comes by it is dropped from now on.
    pub fn delete_key(&mut self, id: u16) -> Result<(), KeyError> {
        let state = self.authentication.as_mut().ok_or(KeyError::NotSupported)?;
        if state.active_key == id {
            return Err(KeyError::Active(id));
        }
        state.secrets.remove(&id);
        state.keys.remove(&id).map(|_| ()).ok_or(KeyError::NoSuchKey(id))
    }

    /// Leaves room for an AUTH chunk in a packet to `path` that has been started, if it may need one.
    #[cold]
    pub(super) fn reserve_auth(&mut self, builder: &mut PacketBuilder, path: PathId) {
        let Some(state) = &self.authentication else { return };
        let is_needed = |(to, chunk): &(PathId, Chunk)| *to == path && state.requires(chunk.kind());
        let is_last = self.state.is_closed() && state.requires(kind::ABORT);
        if state.is_general || is_last || self.control.iter().any(is_needed) {
            state.reserve(builder);
        }
    }

    /// Reserves room for an AUTH chunk in a packet that has been started and will hold chunks of these types and no
    /// others.
    #[cold]
    pub(super) fn reserve_auth_for(&mut self, builder: &mut PacketBuilder, kinds: &[u8]) {
        if let Some(state) = &self.authentication
            && kinds.iter().any(|kind| state.requires(*kind))
        {
            state.reserve(builder);
        }
    }

    /// Authenticates the packet that has been made, if it needs that.
    #[cold]
    pub(super) fn sign_packet(&mut self, builder: &mut PacketBuilder) {
        if let Some(state) = &self.authentication {
            self.stats.control_chunks_sent += u64::from(state.sign(builder));
        }
    }

    /// Decides the treatment of a chunk that has arrived.
    #[cold]
    pub(super) fn judge_chunk(
        &mut self,
        now: Instant,
        chunks: &Chunks<'_>,
        found: FoundChunk,
        is_authenticated: &mut bool,
        from: Option<PathId>,
    ) -> Verdict {
        let Some(state) = &mut self.authentication else { return Verdict::Read };
        let verdict = state.judge(chunks, found, is_authenticated);
        self.stats.control_chunks_received += u64::from(found.header.kind == kind::AUTH);
        match verdict {
            Verdict::Read => {}
            Verdict::PassOver if found.header.kind == kind::AUTH => {
                state.proof = Proof::Given { is_failing: false };
                if let Ok(Chunk::Auth(auth)) = chunks.read(found)
                    && std::mem::replace(&mut state.peer_key, auth.key) != auth.key
                {
                    self.events.push_back(Event::Authentication(AuthenticationEvent::NewKey(auth.key)));
                }
            }
            Verdict::PassOver | Verdict::Stop => self.stats.unauthenticated_chunks += 1,
            Verdict::Forged(wrong) => {
                self.stats.unauthenticated_chunks += 1;
                self.doubt_key(now, wrong);
            }
            Verdict::Unsupported(hmac) => {
                self.stats.unauthenticated_chunks += 1;
                self.report(Cause::UnsupportedHmac(hmac), from);
            }
        }
        verdict
    }

    /// Something has come that no key of ours authenticates. The layer above is told once, and the peer if none ever
    /// has: it would wait in silence for what is dropped here.
    fn doubt_key(&mut self, now: Instant, wrong: WrongKey) {
        let Some(state) = &mut self.authentication else { return };
        match state.proof {
            Proof::Awaited => state.proof = Proof::Failing(now),
            Proof::Given { is_failing: false } => state.proof = Proof::Given { is_failing: true },
            Proof::Given { is_failing: true } => return,
            Proof::Failing(since) => {
                // Whoever wants ABORT authenticated may not be made to send one by whoever knows no key.
                if since + PATIENCE <= now && !state.wanted.contain(kind::ABORT) {
                    self.abort(now, Cause::UserInitiatedAbort(wrong.to_string().into()));
                }
                return;
            }
        }
        self.events.push_back(Event::Authentication(AuthenticationEvent::Failed(wrong)));
    }
}

const _: () = assert!(Auth::FIXED_LEN == CHUNK_HEADER_LEN + 4);
