//! What the network asks of an end system.

use slantpath_base::Instant;
use slantpath_wire::Packet;

use crate::InterfaceId;

/// An end system, driven by the network: after [`handle_packet`](Self::handle_packet) or
/// [`handle_deadline`](Self::handle_deadline) it is drained by [`poll_transmit`](Self::poll_transmit) until
/// `None`, and then asked for its next [`deadline`](Self::deadline). At the start of a run every host is
/// drained once.
pub trait Host {
    /// Takes a packet that came in, from its IP header on. What a bit error did to it is for the host to find
    /// out: nothing is checked yet, not even that the host has the destination address. The hop limit is as
    /// the last router left it. An ICMP message about a packet of the host's own that its first link could
    /// not carry comes the same way, on the interface that refused it.
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: Packet);

    /// Does what is due by `now`. May come early: a host that has nothing to do does nothing.
    fn handle_deadline(&mut self, now: Instant);

    /// The next packet to send, from its IP header on, and the interface that it leaves by, which must be one
    /// of the host's own. The network reads its destination off the header and never asks again.
    fn poll_transmit(&mut self, now: Instant) -> Option<(InterfaceId, Packet)>;

    /// When [`handle_deadline`](Self::handle_deadline) is wanted next.
    fn deadline(&self) -> Option<Instant>;
}
