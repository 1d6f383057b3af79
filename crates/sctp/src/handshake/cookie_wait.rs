//! COOKIE-WAIT: an INIT has been sent, its INIT ACK is awaited.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::Instant;
use smallvec::SmallVec;

use super::t1::T1;
use super::{EarlyRequests, LEAST_RWND, LocalStart, Offer, Refusal, unrecognized_parameters};
use crate::address::still_own;
use crate::authentication::{AuthenticationOffer, AuthenticationTerms};
use crate::cause::Cause;
use crate::chunk::{Chunk, Error, Init, InitAck, InitFields};
use crate::config::SctpConfig;
use crate::extension::Extension;
use crate::parameter::{Parameter, kind};
use crate::tcb::{PeerAddress, Tcb};
use crate::types::VerificationTag;

/// An association in COOKIE-WAIT.
#[derive(Clone, Debug)]
pub(crate) struct CookieWait {
    pub(crate) start: LocalStart,
    /// Addresses that the layer above named, the wished primary address first; at least one.
    pub(crate) destinations: SmallVec<[IpAddr; 2]>,
    pub(crate) early_requests: EarlyRequests,
    /// Number of times that the peer has refused a cookie as stale.
    pub(crate) stale_cookies: u32,
    /// Number of times that T1-init and T1-cookie have expired.
    pub(crate) t1_expiries: u32,
    init: Init,
    /// The addresses of ours that the INIT tells: what the port gets later is no part of the association.
    local_addresses: SmallVec<[IpAddr; 2]>,
    t1_init: T1,
}

/// Result of an INIT ACK.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) tcb: Tcb,
    /// The cookie to echo.
    pub(crate) cookie: Bytes,
    /// Chunk behind the cookie: a report of unknown parameters.
    pub(crate) report: Option<Chunk>,
    /// Address that the COOKIE ECHO goes to first.
    pub(crate) echo_to: IpAddr,
    /// The address that the layer above wants DATA at: the primary one, unless another has answered in its place.
    pub(crate) wanted: IpAddr,
}

impl CookieWait {
    /// Has just sent an INIT to the first of `destinations`; `local_addresses` are listed in it.
    pub(crate) fn begin(
        now: Instant,
        start: LocalStart,
        destinations: SmallVec<[IpAddr; 2]>,
        local_addresses: &[IpAddr],
        config: &SctpConfig,
    ) -> Self {
        let fields = InitFields {
            initiate_tag: start.tag,
            a_rwnd: config.receive_buffer_bytes.max(LEAST_RWND),
            outbound_streams: config.outbound_streams,
            inbound_streams: config.inbound_streams,
            initial_tsn: start.initial_tsn,
        };
        let mut parameters = parameters(local_addresses, config);
        if config.extensions.contain(Extension::Authentication) {
            parameters.extend(local_offer(&start, config).parameters());
        }
        let init = Init { fields, parameters };
        let t1_init = T1::start(now, destinations.len(), config);
        Self {
            start,
            destinations,
            early_requests: EarlyRequests::default(),
            stale_cookies: 0,
            t1_expiries: 0,
            init,
            local_addresses: local_addresses.iter().copied().collect(),
            t1_init,
        }
    }

    /// Begins anew, since the peer has refused the cookie as stale, and asks for a longer life of the next.
    pub(crate) fn again(mut self, now: Instant, increment_ms: u32, config: &SctpConfig) -> Self {
        self.init.parameters.retain(|parameter| !matches!(parameter, Parameter::CookiePreservative { .. }));
        self.init.parameters.push(Parameter::CookiePreservative { increment_ms });
        self.t1_init = T1::start(now, self.destinations.len(), config);
        self.stale_cookies += 1;
        self
    }

    /// The INIT, and where it goes now.
    pub(crate) fn init(&self) -> (Chunk, IpAddr) {
        (Chunk::Init(self.init.clone()), self.destinations[self.t1_init.current()])
    }

    /// The addresses of ours that the INIT tells.
    pub(crate) fn local_addresses(&self) -> &[IpAddr] {
        &self.local_addresses
    }

    /// The fields of the INIT.
    pub(crate) const fn fields(&self) -> &InitFields {
        &self.init.fields
    }

    /// Instant at which T1-init or a message expires.
    pub(crate) fn deadline(&self) -> Instant {
        let expiry = self.early_requests.next_expiry();
        expiry.map_or(self.t1_init.deadline(), |expiry| expiry.min(self.t1_init.deadline()))
    }

    /// Tells if T1-init has expired.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.t1_init.deadline() <= now
    }

    /// T1-init has expired; whether the INIT is to be retransmitted.
    pub(crate) fn expire(&mut self, now: Instant, config: &SctpConfig) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-4
        //# 2)  If the T1-init timer expires, the endpoint MUST retransmit the
        //# INIT chunk and restart the T1-init timer.
        self.t1_expiries += 1;
        self.t1_init.expire(now, config).is_some()
    }

    /// Reads an INIT ACK that came from `source` with our tag.
    pub(crate) fn accept(
        &self,
        now: Instant,
        init_ack: &InitAck,
        source: IpAddr,
        endpoint: (u16, &[IpAddr]),
        peer_port: u16,
        config: &SctpConfig,
    ) -> Result<Accepted, Refusal> {
        let fields = init_ack.fields;
        if fields.initiate_tag == VerificationTag::ZERO {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.3
            //# If an endpoint in the COOKIE-WAIT state receives an INIT ACK chunk
            //# with the Initiate Tag set to 0, it MUST destroy the TCB and SHOULD
            //# send an ABORT chunk with the T bit set.
            return Err(Refusal::EndsUntagged(Cause::InvalidMandatoryParameter));
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.3
        //# If an endpoint in the COOKIE-WAIT state receives an INIT ACK chunk
        //# with the OS value set to 0, it MUST destroy the TCB and SHOULD
        //# send an ABORT chunk.
        if fields.outbound_streams == 0 || fields.inbound_streams == 0 {
            return Err(Refusal::Ends(Cause::InvalidMandatoryParameter));
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.3
        //# A receiver of an INIT ACK chunk with the a_rwnd value set to a
        //# value smaller than 1500 MUST discard the packet, SHOULD send a
        //# packet in response containing an ABORT chunk and using the
        //# Initiate Tag as the Verification Tag, and MUST NOT change the
        //# state of any existing association.
        if fields.a_rwnd < LEAST_RWND {
            return Err(Refusal::Discards(Cause::InvalidMandatoryParameter));
        }
        let max_addresses = config.max_peer_addresses;
        let offer = Offer::read(fields, &init_ack.parameters, source, max_addresses, config.extensions)
            .map_err(Refusal::Ends)?;
        config.admit(offer.extensions).map_err(Refusal::Ends)?;
        let Some(cookie) = offer.cookie else {
            let missing = [kind::STATE_COOKIE].into_iter().collect();
            return Err(Refusal::Ends(Cause::MissingMandatoryParameter(missing)));
        };
        let (local_port, own_addresses) = endpoint;
        let sent_to = self.destinations[self.t1_init.current()];
        let peer_addresses = self.paths(&offer.addresses, sent_to);
        let wanted = peer_addresses[0].address;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4
        //# An endpoint SHOULD transmit reply chunks (e.g., INIT ACK, COOKIE ACK,
        //# and HEARTBEAT ACK) in response to control chunks to the same
        //# destination transport address from which it received the control
        //# chunk to which it is replying.
        // The address that has answered, or at least the one that was asked: the primary may be dead.
        let is_confirmed = |address: &IpAddr| {
            peer_addresses.iter().any(|peer: &PeerAddress| peer.address == *address && peer.is_confirmed)
        };
        let echo_to = [source, sent_to].into_iter().find(is_confirmed).unwrap_or(wanted);
        // DATA begins where the peer has been reached for certain (RFC 9260, section 5.1.2, C, leaves the first primary
        // path to the endpoint). An INIT that went out once has reached it at the wanted address, wherever the answer
        // comes from.
        let primary = if self.t1_init.is_first() && wanted == sent_to { wanted } else { echo_to };
        let to = peer_addresses.iter().map(|peer| peer.address);
        let tcb = Tcb {
            local_port,
            peer_port,
            local_tag: self.start.tag,
            peer_tag: fields.initiate_tag,
            local_initial_tsn: self.start.initial_tsn,
            peer_initial_tsn: fields.initial_tsn,
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.1
            //# After the association is initialized, the valid outbound stream
            //# identifier range for either endpoint MUST be 0 to min(local OS,
            //# remote MIS) - 1.
            outbound_streams: config.outbound_streams.min(fields.inbound_streams),
            inbound_streams: config.inbound_streams.min(fields.outbound_streams),
            peer_rwnd: fields.a_rwnd,
            uses_ecn: config.ecn && offer.is_ecn_capable,
            extensions: config.agreed(offer.extensions),
            omits_checksum: config.zero_checksum.is_some() && config.zero_checksum == offer.zero_checksum,
            adaptation_layer: offer.adaptation_layer,
            wanted_primary: offer.wanted_primary,
            authentication: offer
                .authentication
                .map(|peer| Box::new(AuthenticationTerms { local: local_offer(&self.start, config), peer })),
            local_addresses: still_own(&self.local_addresses, own_addresses, to),
            peer_addresses,
            primary,
            round_trip: self.t1_init.round_trip(now).filter(|_| primary == sent_to),
        };
        let report = unrecognized_parameters(&offer.unrecognized);
        let report = report.map(|cause| Chunk::Error(Error::because(cause)));
        Ok(Accepted { tcb, cookie, report, echo_to, wanted })
    }

    /// The peer's addresses, the wanted one first; those named by the layer above are confirmed.
    fn paths(&self, offered: &[IpAddr], sent_to: IpAddr) -> SmallVec<[PeerAddress; 2]> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
        //# 1)  Any addresses passed to the sender of the INIT chunk by its upper
        //# layer in the request to initialize an association are
        //# automatically considered to be CONFIRMED.
        let named = self.destinations.iter().copied().filter(|address| offered.contains(address));
        let mut addresses: SmallVec<[PeerAddress; 2]> =
            named.map(|address| PeerAddress { address, is_confirmed: true }).collect();
        if addresses.is_empty() {
            // The peer owns none of the addresses that led to it, as behind a translator: what has worked
            // is kept, since the COOKIE ECHO needs an address that is confirmed.
            addresses.push(PeerAddress { address: sent_to, is_confirmed: true });
        }
        for &address in offered {
            if addresses.iter().all(|known| known.address != address) {
                addresses.push(PeerAddress { address, is_confirmed: false });
            }
        }
        addresses
    }
}

/// Offer of our end for the authentication of chunks.
fn local_offer(start: &LocalStart, config: &SctpConfig) -> AuthenticationOffer {
    AuthenticationOffer::new(start.random, config.authenticated_chunks())
        .listing(&config.authentication.algorithms)
}

/// The parameters of an INIT: they tell the peer of our addresses, and what it may use.
pub(crate) fn parameters(local_addresses: &[IpAddr], config: &SctpConfig) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    // A single address is the packet's source; not to list it helps translators (RFC 9260, section
    // 3.3.2.1.2).
    if local_addresses.len() > 1 {
        parameters.extend(local_addresses.iter().copied().map(Parameter::Address));
    }
    let families = [
        (local_addresses.iter().any(IpAddr::is_ipv4), kind::IPV4_ADDRESS),
        (local_addresses.iter().any(IpAddr::is_ipv6), kind::IPV6_ADDRESS),
    ];
    let types = families.into_iter().filter(|(has, _)| *has).map(|(_, kind)| kind).collect();
    parameters.push(Parameter::SupportedAddressTypes(types));
    //= https://www.rfc-editor.org/rfc/rfc4960#appendix-A
    //# To indicate that an
    //# endpoint is ECN capable, an endpoint SHOULD add to the INIT and or
    //# INIT ACK chunk the TLV reserved for ECN.
    if config.ecn {
        parameters.push(Parameter::EcnCapable);
    }
    parameters.extend(config.extensions.parameters());
    parameters.extend(config.zero_checksum_parameter());
    parameters.extend(config.adaptation_layer.map(Parameter::AdaptationLayer));
    parameters
}
