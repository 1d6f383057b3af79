//! Result of a finished handshake: the boundary between the handshake and the association.

use std::net::IpAddr;

use slantpath_base::Duration;
use smallvec::SmallVec;

use crate::authentication::AuthenticationTerms;
use crate::extension::Extensions;
use crate::types::{Tsn, VerificationTag};

/// An address of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress {
    /// Address of the peer.
    pub address: IpAddr,
    /// True if the peer is known to be there (RFC 9260, section 5.4); if not, the address must be probed before DATA is
    /// sent to it.
    pub is_confirmed: bool,
}

/// The part of a Transmission Control Block that both ends have agreed on. This, signed, is what a state
/// cookie carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcb {
    /// Port of our end.
    pub local_port: u16,
    /// The peer's port.
    pub peer_port: u16,
    /// The tag that packets to us carry.
    pub local_tag: VerificationTag,
    /// The tag that packets to the peer carry.
    pub peer_tag: VerificationTag,
    /// The TSN of our first DATA chunk.
    pub local_initial_tsn: Tsn,
    /// The TSN of the peer's first DATA chunk.
    pub peer_initial_tsn: Tsn,
    /// Number of streams that we send on: the lesser of what we asked for and the peer allows.
    pub outbound_streams: u16,
    /// Number of streams that the peer sends on.
    pub inbound_streams: u16,
    /// The peer's receive buffer in bytes.
    pub peer_rwnd: u32,
    /// True if ECN is used: both ends have offered it.
    pub uses_ecn: bool,
    /// The extensions that both ends have offered.
    pub extensions: Extensions,
    /// True if our packets need no checksum: the peer takes them without, for the method that we use, too (RFC 9653).
    pub omits_checksum: bool,
    /// Terms on which chunks are authenticated, if they are.
    pub authentication: Option<Box<AuthenticationTerms>>,
    /// Adaptation Code Point of the peer's layer above.
    pub adaptation_layer: Option<u32>,
    /// Address at which the peer wants DATA, if its INIT or INIT ACK said so.
    pub wanted_primary: Option<IpAddr>,
    /// Our addresses; packets leave from one of them that is of the destination's IP version.
    pub local_addresses: SmallVec<[IpAddr; 2]>,
    /// The peer's addresses; at least one.
    pub peer_addresses: SmallVec<[PeerAddress; 2]>,
    /// The one of the peer's addresses that DATA goes to as long as it is reachable.
    pub primary: IpAddr,
    /// The round trip of the handshake to the primary address, if it was measured without ambiguity.
    pub round_trip: Option<Duration>,
}
