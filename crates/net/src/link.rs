//! One direction of a link: queue, transmitter, channel, propagation.
//!
//! Everything about a packet is settled when its first bit is sent: the rate at which it is sent, the delay
//! after which it arrives, and its fate. Since that instant is known as soon as the packet comes, all of it
//! is worked out then, and one deadline serves the direction: the next arrival. A change of the link
//! withdraws the packets whose transmission has not begun and sends them anew under the new rules.

mod channel;
mod config;
mod counters;
mod flight;
mod queue;
mod transmitter;

pub use config::{DirectionConfig, QueueConfig, QueueLimit, Reordering, WhileDown};
pub use counters::{Count, Counters, DropReason};
pub use transmitter::QueueStatistics;

use slantpath_base::{Duration, Instant, Seed};

use crate::link::channel::Channel;
use crate::link::flight::{Flight, Transit};
use crate::link::queue::Queue;
use crate::link::transmitter::{State, Transmitter};
use crate::parcel::{Fate, PacketStore, Parcel, Role};
use crate::probe::{QueueProbe, QueueSample};
use crate::script::Change;

#[derive(Clone, Debug)]
pub(crate) struct LinkDirection {
    flight: Flight,
    transmitter: Transmitter,
    delay: Duration,
    mtu_bytes: u32,
    while_down: WhileDown,
    pub(crate) counters: Counters,
    /// Whether the channel does nothing to packets at present, so that they need not ask it.
    is_clean: bool,
    channel: Box<Channel>,
}

impl LinkDirection {
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let channel = Box::new(Channel::new(config, seed, path));
        Self {
            flight: Flight::default(),
            transmitter: Transmitter::new(config.rate, Queue::new(config.queue)),
            delay: config.delay,
            mtu_bytes: config.mtu_bytes,
            while_down: config.while_down,
            counters: Counters::default(),
            is_clean: channel.is_clean(),
            channel,
        }
    }

    /// Takes a packet in that is [no longer than the MTU](Self::carries), or says why not. The drop is counted; the
    /// packet stays with the caller.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Result<Fate, DropReason> {
        self.counters.offered.add(parcel.length());
        self.transmitter.advance(now);
        let refusal = if self.transmitter.state() == State::Down && self.while_down == WhileDown::Drop {
            DropReason::Down
        } else if !self.transmitter.admits(parcel.length()) {
            DropReason::QueueFull
        } else {
            return Ok(self.send(now, parcel, packets));
        };
        self.counters.drop(refusal, parcel.length());
        Err(refusal)
    }

    /// Whether a packet of this length is no longer than the MTU.
    #[inline]
    pub(crate) const fn carries(&self, length: u32) -> bool {
        length <= self.mtu_bytes
    }

    /// Counts a packet that is longer than the MTU and must not be cut.
    pub(crate) fn refuse_too_long(&mut self, length: u32) {
        self.counters.offered.add(length);
        self.counters.drop(DropReason::Mtu, length);
    }

    #[inline]
    fn send(&mut self, now: Instant, parcel: Parcel, packets: &mut PacketStore) -> Fate {
        let departure = self.transmitter.enqueue(now, parcel.length());
        let arrival = departure.saturating_add(self.delay);
        if self.is_clean {
            self.flight.insert(Transit { arrival, departure, parcel });
            return Fate::Arrives;
        }
        self.send_through_channel(arrival, departure, parcel, packets)
    }

    #[inline(never)]
    fn send_through_channel(
        &mut self,
        arrival: Instant,
        departure: Instant,
        mut parcel: Parcel,
        packets: &mut PacketStore,
    ) -> Fate {
        parcel = parcel.with_fate(self.channel.fate(parcel));
        let delayed = arrival.saturating_add(self.channel.extra_delay());
        self.flight.insert(Transit { arrival: delayed, departure, parcel });
        if parcel.fate() == Fate::Arrives && self.channel.duplicates() {
            let packet = packets.insert(packets.packet(parcel.packet()).clone());
            let copy = parcel.with_packet(packet).with_role(Role::Copy);
            let delayed = arrival.saturating_add(self.channel.extra_delay());
            self.counters.duplicated.add(parcel.length());
            self.flight.insert(Transit { arrival: delayed, departure, parcel: copy });
        }
        parcel.fate()
    }

    /// When the next packet arrives at the far end; [`Instant::FAR_FUTURE`] if none does.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Instant {
        self.flight.next_arrival()
    }

    /// Takes the packet off that arrives now, and counts it unless it was lost.
    #[inline]
    pub(crate) fn take_arrival(&mut self) -> Option<Parcel> {
        let parcel = self.flight.take_next()?.parcel;
        match parcel.fate() {
            Fate::Lost => self.counters.drop(DropReason::Loss, parcel.length()),
            Fate::Damaged => {
                self.counters.carried.add(parcel.length());
                self.counters.damaged.add(parcel.length());
            }
            Fate::Arrives => self.counters.carried.add(parcel.length()),
        }
        Some(parcel.with_role(Role::Original))
    }

    /// Flips the bits of a packet whose fate it was to be damaged.
    pub(crate) fn damage(&mut self, parcel: Parcel, bytes: &mut [u8]) {
        self.channel.damage(parcel.packet(), bytes);
    }

    /// Carries out a scripted change.
    pub(crate) fn change(&mut self, now: Instant, change: Change, packets: &mut PacketStore) {
        match change {
            Change::Down if self.transmitter.state() == State::Up => return self.go_down(now, packets),
            Change::Down => return,
            Change::Up if self.transmitter.state() == State::Up => return,
            Change::BitErrors(_)
            | Change::Delay(_)
            | Change::Duplication(_)
            | Change::Loss(_)
            | Change::Rate(_)
            | Change::Reordering(_)
            | Change::Up => {}
        }
        let waiting = self.withdraw_waiting(now, packets);
        match change {
            Change::BitErrors(probability) => self.channel.set_bit_errors(probability),
            Change::Delay(delay) => self.delay = delay,
            Change::Down => {}
            Change::Duplication(probability) => self.channel.set_duplication(probability),
            Change::Loss(probability) => self.channel.set_loss(probability),
            Change::Rate(rate) => self.transmitter.set_rate(rate),
            Change::Reordering(reordering) => self.channel.set_reordering(reordering),
            Change::Up => self.transmitter.set_up(now),
        }
        self.is_clean = self.channel.is_clean();
        for parcel in waiting {
            self.send(now, parcel, packets);
        }
    }

    fn go_down(&mut self, now: Instant, packets: &mut PacketStore) {
        let waiting = self.withdraw_waiting(now, packets);
        let mut dropped = self.take_originals_departing_after(now, packets);
        self.transmitter.set_down(now);
        match self.while_down {
            WhileDown::Drop => dropped.extend(waiting),
            WhileDown::Hold => {
                for parcel in waiting {
                    self.send(now, parcel, packets);
                }
            }
        }
        for parcel in dropped {
            self.counters.drop(DropReason::Down, parcel.length());
            packets.remove(parcel.packet());
        }
    }

    /// Takes back the packets whose transmission has not begun, in their order.
    fn withdraw_waiting(&mut self, now: Instant, packets: &mut PacketStore) -> Vec<Parcel> {
        let transmitted_until = self.transmitter.withdraw_waiting(now);
        self.take_originals_departing_after(transmitted_until, packets)
    }

    /// Takes packets out of the flight as if they had not been sent: their copies are undone.
    fn take_originals_departing_after(
        &mut self,
        departure: Instant,
        packets: &mut PacketStore,
    ) -> Vec<Parcel> {
        let mut originals = Vec::new();
        for Transit { parcel, .. } in self.flight.take_departing_after(departure) {
            if parcel.fate() == Fate::Damaged {
                self.channel.forget(parcel.packet());
            }
            match parcel.role() {
                Role::Copy => {
                    self.counters.duplicated.remove(parcel.length());
                    packets.remove(parcel.packet());
                }
                Role::Original => originals.push(parcel.with_fate(Fate::Arrives)),
            }
        }
        originals
    }

    pub(crate) fn is_up(&self) -> bool {
        self.transmitter.state() == State::Up
    }

    pub(crate) const fn mtu_bytes(&self) -> u32 {
        self.mtu_bytes
    }

    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    /// Records how much waits at `now`.
    pub(crate) fn sample(&mut self, now: Instant) {
        self.transmitter.advance(now);
        let (packets, bytes) = (self.transmitter.waiting_packets(), self.transmitter.waiting_bytes());
        if let Some(probe) = &mut self.transmitter.probe {
            probe.sample(now, packets, bytes);
        }
    }

    pub(crate) fn queue_statistics(&mut self, now: Instant) -> QueueStatistics {
        self.transmitter.statistics(now)
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.transmitter.restart_statistics(now);
        self.counters = Counters::default();
    }

    pub(crate) fn set_queue_probe(&mut self, probe: Option<QueueProbe>) {
        self.transmitter.probe = probe.map(Box::new);
    }

    pub(crate) fn take_queue_samples(&mut self) -> Vec<QueueSample> {
        self.transmitter.probe.as_mut().map(|probe| probe.take_settled()).unwrap_or_default()
    }

    pub(crate) fn queue_probe(&mut self, now: Instant) -> Option<&QueueProbe> {
        self.transmitter.advance(now);
        self.transmitter.probe.as_deref()
    }
}
