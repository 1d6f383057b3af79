//! Requests and events of changes of addresses (RFC 5061) that pass between an association and the layer above.

use std::net::IpAddr;

use crate::chunk::AddressChange;

/// Changes of an association's addresses, as told to the layer above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressEvent {
    /// The peer has answered a request of ours.
    Answered {
        /// Request that has been answered.
        change: AddressChange,
        /// True if the peer has done what was asked for.
        is_accepted: bool,
    },
    /// The peer has another address, which is probed before DATA is sent there.
    PeerAdded(IpAddr),
    /// The peer has an address no more.
    PeerRemoved(IpAddr),
    /// The peer wants DATA at this address from now on.
    PeerPrimary(IpAddr),
}

/// Why a change of addresses was not asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// No such association, it is not established, or it ends.
    #[error("there is no established association")]
    NotEstablished,
    /// Both ends have to offer the extension, or the peer has said that it does not know it.
    #[error("dynamic addresses were not negotiated with this peer")]
    NotSupported,
    /// As many changes wait for the peer's answer as may.
    #[error("too many changes wait for the peer")]
    TooMany,
    /// The address is one of the association's already, names no single host, or is none of the port's.
    #[error("{0} cannot be added")]
    Unusable(IpAddr),
    /// The address is none of the association's.
    #[error("{0} is no address of this association")]
    Unknown(IpAddr),
    /// Address that cannot be deleted, since it is the last one.
    #[error("{0} is the last address of this association")]
    Last(IpAddr),
}
