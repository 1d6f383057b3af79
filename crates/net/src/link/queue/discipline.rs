//! Calls of an event-driven transmitter on a queue's discipline, and what that says of itself.

use slantpath_base::{Instant, Seed};

use crate::address_names::AddressNames;
use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::service::Service;
use crate::parcel::Parcel;

/// Terms of a port that its queue is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortTerms<'a> {
    /// The longest packet that the link carries.
    pub(crate) mtu_bytes: u32,
    /// Seed of random streams, which are named by the path.
    pub(crate) seed: Seed,
    pub(crate) path: &'a str,
}

/// A discipline with what waits in it.
pub(crate) trait QueueDiscipline {
    /// Choices of one queue.
    type Config;

    /// True if packets are dropped for other reasons than want of room.
    const IS_MANAGED: bool = false;
    /// True if packets fare by the flow that they belong to.
    const TELLS_FLOWS_APART: bool = false;
    /// True if it [decides](Self::admit) about a packet by more than the room for it.
    const DECIDES_EARLY: bool = false;
    /// True if it [makes room](Self::take_excess) by dropping what waits, and not what comes.
    const MAKES_ROOM: bool = false;
    /// True if packets are dropped as [`pop`](Self::pop) finds that they have waited for too long.
    const DROPS_WAITING: bool = false;

    /// An empty queue of a port.
    fn new(config: &Self::Config, port: &PortTerms<'_>) -> Self;

    /// Limit of all that waits, as far as it does not keep to one of its own.
    fn limit(config: &Self::Config) -> QueueLimit;

    /// Signal by which it slows senders down.
    fn signal(_: &Self::Config) -> CongestionSignal {
        CongestionSignal::Drop
    }

    /// Returns a packet that is to be pushed, with a mark if the queue gives it one, or says why it may not be.
    fn admit(
        &mut self,
        _: Instant,
        parcel: Parcel,
        _: Waiting,
        _: &Service,
        _: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        Ok(parcel)
    }

    /// Tells if there is room for a packet, beside one that has left the queue and waits for its tokens.
    fn has_room(&mut self, limit: QueueLimit, parcel: Parcel, held: Option<Parcel>) -> bool;

    /// Has a packet wait.
    fn push(&mut self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>);

    /// Takes out packets that are dropped for others to have room.
    fn take_excess(&mut self) -> Vec<Parcel> {
        Vec::new()
    }

    /// Takes the packet off that is sent next, if one is left. Those that it drops are counted, and gone.
    fn pop(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel>;

    /// Takes out all that waits.
    fn take(&mut self) -> Vec<Parcel>;

    /// Has flows told apart by what these call their addresses.
    fn name_addresses(&mut self, _: &AddressNames) {}
}
