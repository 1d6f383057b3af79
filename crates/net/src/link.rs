//! One direction of a link: a port (queue, transmitter), and the lane that it feeds (channel, propagation).
//!
//! Everything about a packet is settled when its first bit is sent: the rate at which it is sent, the delay
//! after which it arrives, and its fate. Since that instant is known as soon as the packet comes, all of it
//! is worked out then, and one deadline serves the direction: the next arrival. A change of the link
//! withdraws the packets whose transmission has not begun and sends them anew under the new rules.
//!
//! A queue in which a packet's departure depends on what comes later keeps its packets until they are sent. The
//! direction's deadline is then the earlier of the next arrival and of the end of the present transmission.

mod arq;
mod bit_errors;
mod bursts;
mod channel;
mod class;
mod codel;
mod config;
mod contact;
mod contact_delay;
mod counters;
mod drr;
mod flight;
mod fq_codel;
mod frames;
mod header_compression;
mod lane;
mod occupancy;
mod port;
mod propagation;
mod queue;
mod red;
mod reordering;
mod ring;
mod scheduler;
mod service;
mod shaper;
mod shared_port;
mod transmitter;

pub use arq::{ArqConfig, ArqOrder};
pub use bursts::{ChannelState, GilbertElliott};
pub use codel::CoDelConfig;
pub use config::{DirectionConfig, WhileDown};
pub use contact::{AtHandover, Contact, LeftBehind};
pub use contact_delay::DelayPiece;
pub use counters::{Count, Counters, DropReason};
pub use drr::{DrrClass, DrrConfig};
pub use fq_codel::FqCoDelConfig;
pub use frames::{Bursts, FrameConfig, SlotRun};
pub use header_compression::HeaderCompression;
pub use occupancy::QueueStatistics;
pub(crate) use port::Offered;
pub use propagation::{Delay, DelayCurve};
pub use queue::{CongestionSignal, QueueConfig, QueueLimit};
pub use red::{BeyondMax, Measure, Precedence, RedConfig, RedThresholds};
pub use reordering::Reordering;
pub(crate) use service::Transmission;
pub use shaper::ShaperConfig;
pub(crate) use shared_port::SharedPort;
pub use shared_port::SharedPortStatistics;

use slantpath_base::{Duration, Instant, Seed};

use crate::address_names::AddressNames;
use crate::conditioner::Conditioner;
use crate::link::contact::Contacts;
use crate::link::lane::{Lane, Outlet};
use crate::link::port::Port;
use crate::parcel::{PacketStore, Parcel};
use crate::probe::{QueueProbe, QueueSample};
use crate::script::Change;

#[derive(Clone, Debug)]
pub(crate) struct LinkDirection {
    /// The longest packet that takes the short way of [`offer_plainly`](Self::offer_plainly): what the MTU allows, or
    /// none while more is asked of the direction than to keep packets in order and to drop those without room.
    plain_bytes_max: u32,
    /// The longest packet that may be put on it without looking further: what the MTU allows, or none if the source of
    /// the run says first where each goes.
    taken_bytes_max: u32,
    is_steered: bool,
    is_captured: bool,
    /// True if the journeys of packets are watched.
    is_watched: bool,
    lane: Lane,
    port: Port,
    pub(crate) counters: Counters,
    /// If packets are conditioned before they queue.
    conditioner: Option<Box<Conditioner>>,
    /// If it exists in contacts only.
    contacts: Option<Box<Contacts>>,
}

impl LinkDirection {
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let mut direction = Self {
            plain_bytes_max: 0,
            taken_bytes_max: 0,
            is_steered: false,
            is_captured: false,
            is_watched: false,
            lane: Lane::new(config, seed, path),
            port: Port::new(config, seed, path),
            counters: Counters::default(),
            conditioner: (!config.conditioner.is_empty())
                .then(|| Box::new(Conditioner::new(&config.conditioner, seed, path))),
            contacts: None,
        };
        direction.choose_way();
        direction
    }

    /// Has flows told apart by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        self.port.name_addresses(names);
        if let Some(conditioner) = &mut self.conditioner {
            conditioner.name_addresses(names);
        }
    }

    /// Finds out which packets take the short way, after a change of what is asked of the direction.
    fn choose_way(&mut self) {
        let has_own_port = self.shared_port().is_none();
        let is_seen = self.is_captured || self.is_watched || self.conditioner.is_some();
        let is_plain = has_own_port && self.port.is_plain() && self.lane.is_clean() && !is_seen;
        self.taken_bytes_max = if self.is_steered { 0 } else { self.port.mtu_bytes() };
        self.plain_bytes_max = if is_plain { self.taken_bytes_max } else { 0 };
    }

    /// Has the source of the run say of every packet where it goes.
    pub(crate) fn steer(&mut self) {
        self.is_steered = true;
        self.choose_way();
    }

    /// Tells if the source of the run says of every packet where it goes.
    pub(crate) const fn is_steered(&self) -> bool {
        self.is_steered
    }

    /// Tells if a packet of this length may be put on it without looking further.
    pub(crate) const fn takes_at_once(&self, length: u32) -> bool {
        length <= self.taken_bytes_max
    }

    /// Tells if a packet of this length takes the short way.
    #[inline]
    pub(crate) const fn is_plain_for(&self, length: u32) -> bool {
        length <= self.plain_bytes_max
    }

    /// Variant of [`offer`](Self::offer) for packets that take [the short way](Self::is_plain_for), which nearly all
    /// do.
    #[inline]
    pub(crate) fn offer_plainly(&mut self, now: Instant, parcel: Parcel) -> Offered {
        let Self { lane, port, counters, .. } = self;
        counters.offered.add(parcel.length());
        port.offer_plainly(now, parcel, lane)
    }

    /// Counts a packet for which there was no room on the short way.
    #[cold]
    pub(crate) fn refuse_for_room(&mut self, length: u32) -> DropReason {
        self.counters.drop(DropReason::QueueFull, length);
        DropReason::QueueFull
    }

    /// Conditions a packet that is [no longer than the MTU](Self::carries), before it is [offered](Self::offer). One
    /// that is refused is counted, and stays with the caller.
    pub(crate) fn condition(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &PacketStore,
    ) -> Result<Parcel, DropReason> {
        let Some(conditioner) = &mut self.conditioner else { return Ok(parcel) };
        conditioner.condition(now, parcel, packets.packet(parcel.packet()), &mut self.counters)
    }

    /// Takes a packet in that is [no longer than the MTU](Self::carries), or says why not. The drop is counted; the
    /// packet stays with the caller.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Result<Parcel, DropReason> {
        let Self { lane, port, counters, .. } = self;
        port.offer(now, parcel, &mut Outlet { lane, counters, packets })
    }

    /// Tells if a packet of this length is no longer than the MTU.
    #[inline]
    pub(crate) const fn carries(&self, length: u32) -> bool {
        length <= self.port.mtu_bytes()
    }

    /// Counts a packet that is longer than the MTU and must not be cut.
    pub(crate) fn refuse_too_long(&mut self, length: u32) {
        self.counters.offered.add(length);
        self.counters.drop(DropReason::Mtu, length);
    }

    /// Instant of the next event: the transmitter chooses a packet, or one arrives at the far end;
    /// [`Instant::FAR_FUTURE`] if there is none.
    #[inline]
    pub(crate) fn next_event(&self) -> Instant {
        self.lane.next_arrival().min(self.port.next_choice())
    }

    /// Lets the event of `now` happen. If that is an arrival, the packet is taken off, for it to be
    /// [counted](Self::count_arrival).
    #[inline]
    pub(crate) fn handle_event(&mut self, now: Instant, packets: &mut PacketStore) -> Option<Parcel> {
        if self.port.next_choice() <= now {
            return self.run_port(now, packets);
        }
        self.lane.take_arrival()
    }

    /// Counts a packet that has arrived as [plain](Parcel::is_plain).
    #[inline]
    pub(crate) fn count_plain_arrival(&mut self, parcel: Parcel) {
        self.counters.carried.add(parcel.length());
    }

    /// Counts any packet that has arrived, or was lost, and returns it as it goes on.
    pub(crate) fn count_arrival(&mut self, parcel: Parcel) -> Parcel {
        self.lane.count_arrival(parcel, &mut self.counters)
    }

    /// Lets the transmitter choose: nothing arrives by that.
    #[inline(never)]
    fn run_port(&mut self, now: Instant, packets: &mut PacketStore) -> Option<Parcel> {
        let Self { lane, port, counters, .. } = self;
        port.run(now, &mut Outlet { lane, counters, packets });
        None
    }

    /// Flips the bits of a packet whose fate it was to be damaged.
    pub(crate) fn damage(&mut self, parcel: Parcel, bytes: &mut [u8]) {
        self.lane.damage(parcel, bytes);
    }

    /// Carries out a scripted change.
    pub(crate) fn change(&mut self, now: Instant, change: Change, packets: &mut PacketStore) {
        match change {
            Change::Down | Change::Up if self.contacts.is_some() => self.change_service(now, change, packets),
            _ => self.carry_out(now, change, packets),
        }
        self.choose_way();
    }

    fn carry_out(&mut self, now: Instant, change: Change, packets: &mut PacketStore) {
        let Self { lane, port, counters, .. } = self;
        let mut outlet = Outlet { lane, counters, packets };
        match (change, port.is_up()) {
            (Change::Down, true) => return port.go_down(now, &mut outlet),
            (Change::Down, false) | (Change::Up, true) => return,
            _ => {}
        }
        let waiting = port.withdraw_waiting(now, &mut outlet);
        match change {
            Change::Rate(rate) => port.set_rate(rate),
            Change::Up => port.go_up(now, &mut outlet),
            _ => outlet.lane.change(change),
        }
        for parcel in waiting {
            port.send_again(now, parcel, &mut outlet);
        }
    }

    /// Has the transmitter have these slots of its frames from `from` on. One that has no frames has none.
    pub(crate) fn allocate(
        &mut self,
        now: Instant,
        from: Instant,
        bursts: Bursts,
        packets: &mut PacketStore,
    ) {
        let Self { lane, port, counters, .. } = self;
        port.allocate(now, from, bursts, &mut Outlet { lane, counters, packets });
    }

    /// Bytes that the link puts around each packet that is sent in frames.
    pub(crate) fn overhead_bytes(&self) -> u64 {
        self.port.overhead_bytes()
    }

    /// Number of bytes still to be sent at `now`, by the transmitter's own count: with what the link puts around each
    /// packet, and without what has been sent of the packet at hand.
    pub(crate) fn backlog_bytes(&mut self, now: Instant) -> u64 {
        self.port.backlog_bytes(now)
    }

    /// Tells if no script has taken it down. Contacts come and go beside that.
    pub(crate) fn is_up(&self) -> bool {
        if self.contacts.is_some() { !self.is_taken_down() } else { self.port.is_up() }
    }

    pub(crate) const fn mtu_bytes(&self) -> u32 {
        self.port.mtu_bytes()
    }

    /// Time that a packet that comes at `now` waits until all before it has left, as far as that is known: repetitions
    /// after errors to come are not. Only a direction that is up tells it.
    pub(crate) fn wait_at(&self, now: Instant) -> Duration {
        self.port.wait_at(now)
    }

    /// The propagation delay of what leaves at `now`.
    pub(crate) fn delay_at(&self, now: Instant) -> Duration {
        self.lane.delay_at(now)
    }

    /// Records how much waits at `now`.
    pub(crate) fn sample(&mut self, now: Instant) {
        self.port.sample(now);
    }

    pub(crate) fn queue_statistics(&mut self, now: Instant) -> QueueStatistics {
        self.port.statistics(now)
    }

    /// Time for which packets of this direction were being sent; `shared` is the transmitter that serves it at present,
    /// if others send by it, too.
    pub(crate) fn busy(&mut self, now: Instant, shared: Option<&SharedPort>) -> Duration {
        let of_shared = self.shared_busy(now, |length| time_of(shared, length));
        self.port.statistics(now).busy + of_shared
    }

    pub(crate) fn end_queue_window(&mut self, now: Instant) -> QueueStatistics {
        self.port.end_queue_window(now)
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant, shared: Option<&SharedPort>) {
        self.restart_shared_busy(now, |length| time_of(shared, length));
        self.port.restart_statistics(now);
        self.counters = Counters::default();
    }

    pub(crate) fn set_queue_probe(&mut self, probe: QueueProbe) {
        self.port.set_probe(probe);
        self.choose_way();
    }

    /// Notes that somebody wants to see every packet that is offered.
    pub(crate) fn set_captured(&mut self) {
        self.is_captured = true;
        self.choose_way();
    }

    /// Notes that somebody wants to know what the journey of every packet takes.
    pub(crate) fn set_watched(&mut self) {
        self.is_watched = true;
        self.choose_way();
    }

    pub(crate) const fn is_captured(&self) -> bool {
        self.is_captured
    }

    pub(crate) fn take_queue_samples(&mut self) -> Vec<QueueSample> {
        self.port.take_samples()
    }

    pub(crate) fn queue_probe(&mut self, now: Instant) -> Option<&QueueProbe> {
        self.port.probe(now)
    }
}

/// Time for which a shared transmitter sends a packet of this length; zero without one, since a direction's own counts
/// for itself.
fn time_of(shared: Option<&SharedPort>, length: u32) -> Duration {
    shared.map_or(Duration::ZERO, |port| port.time_to_send(length))
}
