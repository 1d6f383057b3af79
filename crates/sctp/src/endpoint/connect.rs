//! Options with which an association is begun, and the errors for which it may not be.

use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::Stream;

use super::port::PortId;
use crate::config::SctpConfig;

/// Whom to connect to, and from where.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The own port, which has been bound.
    pub local_port: u16,
    /// Own port by its name, where several have its number; `None`: the one that was bound first.
    pub own: Option<PortId>,
    /// The peer's addresses, as far as they are known; at least one.
    pub peer_addresses: Vec<IpAddr>,
    /// The peer's port; not zero.
    pub peer_port: u16,
    /// Address of the primary path; `None`: the first.
    pub primary: Option<IpAddr>,
    /// The association's settings; `None`: its port's.
    pub config: Option<Arc<SctpConfig>>,
    /// Stream from which the association draws its tags, numbers and nonces, so that others of its port change nothing
    /// of it; `None`: its port's stream.
    pub stream: Option<Stream>,
}

/// Why an association cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// There is one with that peer already.
    #[error("there is an association with {0} already")]
    AlreadyAssociated(IpAddr),
    /// There is one with that peer that is on its way to its end. Once that has been told
    /// ([`Event::Closed`](crate::Event::Closed)), another can be begun.
    #[error("the association with {0} has not ended yet")]
    Ending(IpAddr),
    /// An address that names no single host, or port zero.
    #[error("{address}, port {port}, is no address to connect to")]
    Unusable {
        /// Address that was given.
        address: IpAddr,
        /// Port that was given.
        port: u16,
    },
    /// No address was given, or none of an IP version that the endpoint has an address of.
    #[error("no address of the peer is of an IP version that this endpoint has")]
    Unreachable,
    /// The primary address is not among the peer's.
    #[error("the primary address {0} is not among the peer's")]
    UnknownPrimary(IpAddr),
    /// The own port has not been bound.
    #[error("port {0} has not been bound")]
    NotBound(u16),
    /// The port holds as many associations as it may.
    #[error("the port holds as many associations as it may")]
    TooManyAssociations,
}
