//! A transmitter that several directions share: a satellite's downlink to all terminals that it serves.
//!
//! Packets wait for each other whichever way they go, and each goes the way of its own lane. The closed form gives
//! every packet its departure when it comes, so that one that is withdrawn changes those of all behind it.

use slantpath_base::{Duration, Instant, Seed};

use crate::DirectionId;
use crate::link::LinkDirection;
use crate::link::config::DirectionConfig;
use crate::link::counters::{DirectionCounters, DropReason};
use crate::link::lane::Outlet;
use crate::link::occupancy::QueueStatistics;
use crate::link::outage::AtHandover;
use crate::link::port::Port;
use crate::packets::PacketStore;
use crate::parcel::Parcel;
use crate::script::Change;

#[derive(Clone, Debug)]
pub(crate) struct SharedPort {
    port: Port,
    /// The directions that send by it at present.
    directions: Vec<DirectionId>,
    /// Counts of what was offered to it, dropped, handed over and marked, whichever way it was to go.
    pub(crate) counters: DirectionCounters,
    /// Packets that it took.
    taken: u64,
}

/// Statistics of a shared transmitter since they were started.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedPortStatistics {
    /// Offered, dropped, handed over and marked, of all directions; nothing else is counted. Each direction counts its
    /// own as well.
    pub counters: DirectionCounters,
    /// Statistics of its queue.
    pub queue: QueueStatistics,
    /// Packets that it took in.
    pub taken: u64,
    /// Mean time that the packets that it took have waited, up to now; `None` if it took none.
    pub mean_wait: Option<Duration>,
}

impl SharedPort {
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, name: &str) -> Self {
        Self {
            port: Port::new(config, seed, &format!("ports/{name}")),
            directions: Vec::new(),
            counters: DirectionCounters::default(),
            taken: 0,
        }
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> SharedPortStatistics {
        let queue = self.port.statistics(now);
        // The time that packets wait in all is the integral of how many do.
        let waited = queue.mean_packets * queue.span.as_secs_f64();
        let mean_wait = (self.taken > 0).then(|| Duration::from_secs_f64(waited / self.taken as f64));
        SharedPortStatistics { counters: self.counters, queue, taken: self.taken, mean_wait }
    }

    /// Variant of [`statistics`](Self::statistics) in which those of the queue are since the last window ended; another
    /// one begins.
    pub(crate) fn end_queue_window(&mut self, now: Instant) -> SharedPortStatistics {
        SharedPortStatistics { queue: self.port.end_queue_window(now), ..self.statistics(now) }
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.port.restart_statistics(now);
        (self.counters, self.taken) = (DirectionCounters::default(), 0);
    }

    /// Time for which it sends a packet of this length.
    pub(crate) fn time_to_send(&self, length: u32) -> Duration {
        self.port.time_to_send(length)
    }

    /// Has a direction send by it.
    pub(crate) fn join(&mut self, direction: DirectionId) {
        self.directions.push(direction);
    }

    /// The directions that send by it.
    pub(crate) fn directions(&self) -> &[DirectionId] {
        &self.directions
    }

    /// Takes a packet in for one of its directions, as that one's own transmitter would.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        direction: &mut LinkDirection,
        packets: &mut PacketStore,
    ) -> Result<Parcel, DropReason> {
        self.counters.offered.add(parcel.length());
        let is_taken_down = direction.is_taken_down();
        let LinkDirection { lane, counters, contacts, .. } = direction;
        if is_taken_down {
            counters.offered.add(parcel.length());
            counters.drop(now, DropReason::Down, parcel, packets);
            self.counters.drop(DropReason::Down, parcel.length());
            return Err(DropReason::Down);
        }
        let outcome = self.port.offer(now, parcel, &mut Outlet { lane, counters, packets });
        match outcome {
            Ok(taken) => {
                self.taken += 1;
                if let Some(contacts) = contacts {
                    contacts.add_shared_busy(self.port.time_to_send(parcel.length()));
                }
                if taken.traffic_class() != parcel.traffic_class() {
                    self.counters.marked.add(taken.length());
                }
            }
            Err(refusal) => self.counters.drop(refusal, parcel.length()),
        }
        outcome
    }

    /// Has a direction leave whose contact ends, and returns the packets that its node has to send on. The transmitter
    /// goes on sending what it has begun to send; if that was for this direction, it is lost.
    pub(crate) fn leave(
        &mut self,
        now: Instant,
        leaving: DirectionId,
        at_handover: AtHandover,
        directions: &mut [LinkDirection],
        packets: &mut PacketStore,
    ) -> Vec<Parcel> {
        let mut left = Vec::new();
        for (id, parcel) in self.withdraw_waiting(now, directions, packets) {
            if id == leaving {
                left.push(parcel);
            } else {
                self.send_again(now, (id, parcel), directions, packets);
            }
        }
        self.directions.retain(|&id| id != leaving);
        let direction = &mut directions[leaving.index()];
        let cut_off = direction.cut_off_shared(now, packets);
        if let Some(contacts) = &mut direction.contacts {
            contacts.leave_shared_port();
        }
        direction.look_at_parts();
        let LinkDirection { lane, counters, .. } = direction;
        let mut outlet = Outlet { lane, counters, packets };
        for parcel in &cut_off {
            self.counters.drop(DropReason::Handover, parcel.length());
        }
        for parcel in &left {
            match at_handover {
                AtHandover::Lost => self.counters.drop(DropReason::Handover, parcel.length()),
                AtHandover::HandedOver | AtHandover::Held => self.counters.handed_over.add(parcel.length()),
            }
        }
        outlet.drop_all(now, cut_off, DropReason::Handover);
        outlet.give_up(now, left, at_handover)
    }

    /// Changes one of its directions, for packets whose transmission has not begun. What belongs to the transmitter
    /// stays as it is. If the direction is taken down, the packet that is being sent for it is lost, and those that
    /// wait are.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        changed: DirectionId,
        change: Change,
        directions: &mut [LinkDirection],
        packets: &mut PacketStore,
    ) {
        let waiting = self.withdraw_waiting(now, directions, packets);
        let direction = &mut directions[changed.index()];
        direction.change_service(now, change, packets);
        let is_taken_down = direction.is_taken_down();
        direction.lane.change(change);
        direction.look_at_parts();
        if change == Change::Down {
            let cut_off = direction.cut_off_shared(now, packets);
            for parcel in &cut_off {
                self.counters.drop(DropReason::Down, parcel.length());
            }
            let LinkDirection { lane, counters, .. } = direction;
            Outlet { lane, counters, packets }.drop_all(now, cut_off, DropReason::Down);
        }
        for (id, parcel) in waiting {
            if id == changed && is_taken_down {
                let LinkDirection { lane, counters, .. } = &mut directions[id.index()];
                self.counters.drop(DropReason::Down, parcel.length());
                Outlet { lane, counters, packets }.drop_all(now, [parcel], DropReason::Down);
            } else {
                self.send_again(now, (id, parcel), directions, packets);
            }
        }
    }

    fn send_again(
        &mut self,
        now: Instant,
        (id, parcel): (DirectionId, Parcel),
        directions: &mut [LinkDirection],
        packets: &mut PacketStore,
    ) {
        let LinkDirection { lane, counters, contacts, .. } = &mut directions[id.index()];
        if let Some(contacts) = contacts {
            contacts.add_shared_busy(self.port.time_to_send(parcel.length()));
        }
        self.port.send_again(now, parcel, &mut Outlet { lane, counters, packets });
    }

    /// Takes what waits back from the lanes of all directions, in order.
    fn withdraw_waiting(
        &mut self,
        now: Instant,
        directions: &mut [LinkDirection],
        packets: &mut PacketStore,
    ) -> Vec<(DirectionId, Parcel)> {
        let transmitted_until =
            self.port.forget_waiting(now).expect("a shared transmitter has the closed form");
        let mut waiting: Vec<(Instant, DirectionId, Parcel)> = Vec::new();
        for &id in &self.directions {
            let LinkDirection { lane, counters, contacts, .. } = &mut directions[id.index()];
            let taken = lane.take_back_departing(transmitted_until, counters, packets);
            if let Some(contacts) = contacts {
                for (_, parcel) in &taken {
                    contacts.remove_shared_busy(self.port.time_to_send(parcel.length()));
                }
            }
            waiting.extend(taken.into_iter().map(|(departure, parcel)| (departure, id, parcel)));
        }
        waiting.sort_by_key(|&(departure, ..)| departure);
        waiting.into_iter().map(|(_, id, parcel)| (id, parcel)).collect()
    }
}
