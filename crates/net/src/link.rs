//! One direction of a link: a port (queue, transmitter), and the lane that it feeds (channel, propagation).
//!
//! Everything about a packet is settled when its first bit is sent: the rate at which it is sent, the delay
//! after which it arrives, and its fate. Since that instant is known as soon as the packet comes, all of it
//! is worked out then, and one deadline serves the direction: the next arrival. A change of the link
//! withdraws the packets whose transmission has not begun and sends them anew under the new rules.
//!
//! A queue in which a packet's departure depends on what comes later keeps its packets until they are sent. The
//! direction's deadline is then the earlier of the next arrival and of the end of the present transmission.

mod admission;
mod arq;
mod asked;
mod bit_errors;
mod bursts;
mod carriage_terms;
mod channel;
mod config;
mod contact;
mod contact_delay;
mod counters;
mod flight;
mod frames;
mod header_compression;
mod lane;
mod occupancy;
mod outage;
mod port;
mod propagation;
pub(crate) mod queue;
mod reordering;
mod ring;
mod scheduler;
mod sending;
mod service;
mod shaper;
mod shared_port;
mod transmitter;

pub use admission::{CongestionSignal, QueueLimit};
pub use arq::{ArqConfig, ArqOrder};
pub(crate) use asked::Asked;
pub use bursts::{ChannelState, GilbertElliott};
pub use carriage_terms::CarriageTerms;
pub use config::DirectionConfig;
pub use contact::{LeftBehind, LinkContact};
pub use contact_delay::DelayPiece;
pub(crate) use counters::DirectionTally;
pub use counters::{DirectionCounters, DropReason, PacketCount};
pub use frames::{FrameConfig, SlotRun, SlotRuns};
pub use header_compression::HeaderCompression;
pub use occupancy::QueueStatistics;
pub use outage::{AtHandover, WhileDown};
pub(crate) use port::Offered;
pub use propagation::{Delay, DelayCurve};
pub use reordering::Reordering;
pub use sending::SendingConfig;
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
use crate::packets::PacketStore;
use crate::parcel::{Fate, Parcel};
use crate::probe::{QueueProbe, QueueSample};
use crate::script::Change;
use crate::ways::OutageCause;
use crate::{DirectionId, NodeId};

#[derive(Clone, Debug)]
pub(crate) struct LinkDirection {
    /// Work that it is asked for.
    asked: Asked,
    /// The longest packet for which that is nothing: what the MTU allows, or none while anything is asked for.
    plain_bytes_max: u32,
    lane: Lane,
    port: Port,
    pub(crate) counters: DirectionTally,
    /// If packets are conditioned before they queue.
    conditioner: Option<Box<Conditioner>>,
    /// If it exists in contacts only.
    contacts: Option<Box<Contacts>>,
}

impl LinkDirection {
    pub(crate) fn new(id: DirectionId, config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let mut direction = Self {
            asked: Asked::default(),
            plain_bytes_max: 0,
            lane: config.lane(seed, path),
            port: Port::new(config, seed, path),
            counters: DirectionTally::new(id),
            conditioner: (!config.conditioner.is_empty())
                .then(|| Box::new(Conditioner::new(&config.conditioner, seed, path))),
            contacts: None,
        };
        direction.asked.set(Asked::CONDITIONER, direction.conditioner.is_some());
        direction.look_at_parts();
        direction
    }

    /// Has flows told apart by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        self.port.name_addresses(names);
        if let Some(conditioner) = &mut self.conditioner {
            conditioner.name_addresses(names);
        }
    }

    /// Asks it for work from now on, of every packet.
    pub(crate) fn ask(&mut self, work: Asked) {
        self.asked.set(work, true);
        self.note_asked();
    }

    /// Finds out which work its parts have, after one of them has changed.
    fn look_at_parts(&mut self) {
        self.asked.set(Asked::CHANNEL, !self.lane.is_clean());
        self.asked.set(Asked::QUEUE_CHANGES, self.port.is_observed());
        self.asked.set(Asked::SHARED_PORT, self.shared_port().is_some());
        self.asked.set(Asked::TRANSMITTER, !self.port.is_plain());
        self.note_asked();
    }

    const fn note_asked(&mut self) {
        self.plain_bytes_max = if self.asked.is_nothing() { self.port.mtu_bytes() } else { 0 };
    }

    /// Work that it is asked for.
    #[inline]
    pub(crate) const fn asked(&self) -> Asked {
        self.asked
    }

    /// Tells if a packet is [carried](Self::carries) and nothing is asked for: nearly every packet of nearly every run.
    #[inline]
    pub(crate) const fn is_plain_for(&self, length: u32) -> bool {
        length <= self.plain_bytes_max
    }

    /// Variant of [`offer`](Self::offer) for a packet for which [nothing is asked](Self::is_plain_for).
    #[inline]
    pub(crate) fn offer_plainly(&mut self, now: Instant, parcel: Parcel) -> Offered {
        let Self { lane, port, counters, .. } = self;
        counters.offered.add(parcel.length());
        port.offer_plainly(now, parcel, lane)
    }

    /// Variant of [`offer`](Self::offer) for a packet for which nothing is asked that is [more than the plain
    /// rule](Asked::MORE_THAN_PLAIN): the channel and observers.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is called from one place")]
    pub(crate) fn offer_and_observe(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Result<Fate, DropReason> {
        let Self { asked, lane, port, counters, .. } = self;
        counters.offered.add(parcel.length());
        match port.transmit_plainly(now, parcel.length(), asked.has(Asked::QUEUE_CHANGES)) {
            Some(transmission) => Ok(lane.carry(transmission, parcel, counters, packets)),
            None => Err(self.refuse_for_room(now, parcel, packets)),
        }
    }

    /// Instant at which the next packet arrives at the far end; [`Instant::FAR_FUTURE`] if none does.
    #[inline]
    pub(crate) const fn next_arrival(&self) -> Instant {
        self.lane.next_arrival()
    }

    /// Counts a packet for which there was no room where nothing is asked for.
    #[cold]
    pub(crate) fn refuse_for_room(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> DropReason {
        self.counters.drop(now, DropReason::QueueFull, parcel, packets);
        DropReason::QueueFull
    }

    /// Conditions a packet that is [no longer than the MTU](Self::carries), before it is [offered](Self::offer). One
    /// that is refused is counted, and stays with the caller.
    pub(crate) fn condition(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Result<Parcel, DropReason> {
        let Some(conditioner) = &mut self.conditioner else { return Ok(parcel) };
        conditioner.condition(now, parcel, packets, &mut self.counters)
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
    pub(crate) fn refuse_too_long(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketStore) {
        self.counters.offered.add(parcel.length());
        self.counters.drop(now, DropReason::Mtu, parcel, packets);
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
    pub(crate) fn count_arrival(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Parcel {
        self.lane.count_arrival(now, parcel, &mut self.counters, packets)
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
        self.look_at_parts();
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
        bursts: SlotRuns,
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

    /// Reason for which it carries no packet at present; `None` if it does.
    pub(crate) fn outage(&self) -> Option<OutageCause> {
        if !self.is_up() {
            return Some(OutageCause::Down);
        }
        if self.contacts.as_ref().is_some_and(|contacts| !contacts.has_contact()) {
            return Some(OutageCause::NoContact);
        }
        self.lane.loses_all().then_some(OutageCause::AllLost)
    }

    /// Receiver of what is sent at present, of a direction that exists in contacts.
    pub(crate) fn contact_receiver(&self) -> Option<NodeId> {
        self.contacts.as_ref()?.present_receiver()
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

    /// Rate, delay and loss for packets that come at `now`.
    pub(crate) fn terms_at(&self, now: Instant) -> CarriageTerms {
        CarriageTerms {
            rate: self.port.rate_at(now),
            delay: self.delay_at(now),
            loss: self.lane.loss(),
            is_carrying: self.outage().is_none(),
        }
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
        self.counters.restart();
    }

    pub(crate) fn set_queue_probe(&mut self, probe: QueueProbe) {
        self.port.set_probe(probe);
        self.look_at_parts();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::queue::QueueConfig;
    use crate::probe::Sampling;
    use slantpath_base::{DataRate, Probability};

    fn direction() -> LinkDirection {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(1));
        let config =
            DirectionConfig::new(DataRate::from_bits_per_sec(8_000), Duration::from_millis(1), queue);
        LinkDirection::new(DirectionId(0), &config, Seed::new(1, 0), "links/first")
    }

    #[test]
    fn a_direction_is_told_what_it_is_asked_for_when_that_changes() {
        let (mut direction, mut packets) = (direction(), PacketStore::default());
        assert!(direction.is_plain_for(1_500) && !direction.is_plain_for(1_501));
        let mut after = |change| {
            direction.change(Instant::START, change, &mut packets);
            (direction.asked().has(Asked::CHANNEL), direction.asked().has(Asked::TRANSMITTER))
        };
        assert_eq!(after(Change::Loss(Probability::ALWAYS)), (true, false));
        assert_eq!(after(Change::Down), (true, true));
        assert_eq!(after(Change::Loss(Probability::NEVER)), (false, true));
        assert_eq!(after(Change::Up), (false, false));
        assert!(direction.is_plain_for(1_500));
        direction.ask(Asked::STEERING);
        assert!(!direction.is_plain_for(1));
    }

    #[test]
    fn a_probe_asks_something_of_a_direction_if_it_wants_each_change_alone() {
        let mut direction = direction();
        direction.set_queue_probe(QueueProbe::new(Sampling::Every(Duration::from_millis(1))));
        assert!(direction.is_plain_for(1_500));
        direction.set_queue_probe(QueueProbe::new(Sampling::OnChange));
        assert!(!direction.is_plain_for(1) && direction.asked().has(Asked::QUEUE_CHANGES));
        direction.set_queue_probe(QueueProbe::new(Sampling::Every(Duration::from_millis(1))));
        assert!(direction.is_plain_for(1_500));
    }
}
