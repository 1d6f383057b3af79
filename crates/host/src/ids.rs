//! Numbers by which a host's sockets are known.

/// One of a host's sockets: numbers in the order in which they were added or accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u32);

impl SocketId {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}
