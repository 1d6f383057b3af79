//! Errors that only building shows.

use slantpath_host::NoSourceAddress;
use slantpath_net::GraphError;
use slantpath_simulation::NetworkConfigError;

/// Why the network of a run cannot be built. What a check can see beforehand is not among it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// Graph of nodes and links that is none.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A host has no address on the link by which it is to be reached first.
    #[error("`{host}` has no address on link `{link}`, by which it is to be reached first")]
    NoAddress {
        /// Name of the host.
        host: String,
        /// Name of the link.
        link: String,
    },
    /// An association ends at a node that is no host.
    #[error("no association ends at `{0}`, which is no host")]
    NoHost(String),
    /// A host cannot send to an address.
    #[error(transparent)]
    NoSourceAddress(#[from] NoSourceAddress),
    /// The signalling network cannot be built.
    #[error(transparent)]
    Signalling(#[from] NetworkConfigError),
}
