//! A port: the near part of a direction, where packets wait and are sent.
//!
//! A port feeds a [`Lane`], which it is handed with every call: it keeps nothing of it. One that is to feed
//! another withdraws what waits from the first, and sends it into the second.

use slantpath_base::{DataRate, Instant, Seed};

use crate::link::config::{DirectionConfig, WhileDown};
use crate::link::counters::{Counters, DropReason};
use crate::link::lane::Lane;
use crate::link::occupancy::QueueStatistics;
use crate::link::queue::{Queue, QueueConfig};
use crate::link::transmitter::{State, Transmitter};
use crate::parcel::{Fate, PacketStore, Parcel};
use crate::probe::QueueProbe;

/// What a port sends into, and what else it needs to do so.
pub(crate) struct Outlet<'a> {
    pub(crate) lane: &'a mut Lane,
    pub(crate) counters: &'a mut Counters,
    pub(crate) packets: &'a mut PacketStore,
}

#[derive(Clone, Debug)]
pub(crate) struct Port {
    transmitter: Transmitter,
    mtu_bytes: u32,
    while_down: WhileDown,
}

impl Port {
    /// A port whose random stream is named by `path`.
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let queue = match config.queue {
            QueueConfig::DropTail(limit) => Queue::DropTail(limit),
            QueueConfig::Red(red) => Queue::red(red, seed, path),
        };
        Self {
            transmitter: Transmitter::new(config.rate, queue),
            mtu_bytes: config.mtu_bytes,
            while_down: config.while_down,
        }
    }

    /// Takes a packet in that is no longer than the MTU, or says why not. The drop is counted; the packet
    /// stays with the caller.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        outlet: &mut Outlet<'_>,
    ) -> Result<Fate, DropReason> {
        outlet.counters.offered.add(parcel.length());
        self.transmitter.advance(now);
        let refusal = if self.transmitter.state() == State::Down && self.while_down == WhileDown::Drop {
            DropReason::Down
        } else {
            match self.transmitter.admit(now, parcel) {
                Ok(()) => return Ok(self.send(now, parcel, outlet)),
                Err(refusal) => refusal,
            }
        };
        outlet.counters.drop(refusal, parcel.length());
        Err(refusal)
    }

    /// Sends a packet that was withdrawn.
    pub(crate) fn send_again(&mut self, now: Instant, parcel: Parcel, outlet: &mut Outlet<'_>) {
        self.transmitter.readmit(now, parcel);
        self.send(now, parcel, outlet);
    }

    #[inline]
    fn send(&mut self, now: Instant, parcel: Parcel, outlet: &mut Outlet<'_>) -> Fate {
        let departure = self.transmitter.enqueue(now, parcel.length());
        outlet.lane.carry(departure, parcel, outlet.counters, outlet.packets)
    }

    /// Takes back the packets whose transmission has not begun, in their order, to be [sent again](Self::send_again).
    pub(crate) fn withdraw_waiting(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> Vec<Parcel> {
        let transmitted_until = self.transmitter.withdraw_waiting(now);
        outlet.lane.take_back(transmitted_until, outlet.counters, outlet.packets)
    }

    /// Cuts the packet in transmission off, and holds or drops what waits.
    pub(crate) fn go_down(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        let waiting = self.withdraw_waiting(now, outlet);
        let mut dropped = outlet.lane.take_back(now, outlet.counters, outlet.packets);
        self.transmitter.set_down(now);
        match self.while_down {
            WhileDown::Drop => dropped.extend(waiting),
            WhileDown::Hold => {
                for parcel in waiting {
                    self.send_again(now, parcel, outlet);
                }
            }
        }
        for parcel in dropped {
            outlet.counters.drop(DropReason::Down, parcel.length());
            outlet.packets.remove(parcel.packet());
        }
    }

    /// Comes up with an empty queue, for what waited to be sent again.
    pub(crate) fn go_up(&mut self, now: Instant) {
        self.transmitter.set_up(now);
    }

    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        self.transmitter.set_rate(rate);
    }

    pub(crate) fn is_up(&self) -> bool {
        self.transmitter.state() == State::Up
    }

    pub(crate) const fn mtu_bytes(&self) -> u32 {
        self.mtu_bytes
    }

    /// Records how much waits at `now`.
    pub(crate) fn sample(&mut self, now: Instant) {
        self.transmitter.advance(now);
        let (packets, bytes) = (self.transmitter.waiting_packets(), self.transmitter.waiting_bytes());
        if let Some(probe) = &mut self.transmitter.probe {
            probe.sample(now, packets, bytes);
        }
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> QueueStatistics {
        self.transmitter.statistics(now)
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.transmitter.restart_statistics(now);
    }

    pub(crate) fn set_probe(&mut self, probe: QueueProbe) {
        self.transmitter.probe = Some(Box::new(probe));
    }

    pub(crate) fn probe(&mut self, now: Instant) -> Option<&QueueProbe> {
        self.transmitter.advance(now);
        self.transmitter.probe.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::queue::QueueLimit;
    use crate::parcel::DestinationId;
    use slantpath_base::Duration;
    use slantpath_wire::{Checksum, Packet};

    const fn millis(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// A byte takes a millisecond; nothing is lost.
    fn config(delay: Duration) -> DirectionConfig {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(10));
        DirectionConfig::new(DataRate::from_bits_per_sec(8_000), delay, queue)
    }

    /// When the packets of a lane arrive, and how long they are.
    fn arrivals(lane: &mut Lane, counters: &mut Counters) -> Vec<(Instant, u32)> {
        let mut next = || Some((lane.next_arrival(), lane.take_arrival(counters)?.length()));
        std::iter::from_fn(&mut next).collect()
    }

    #[test]
    fn a_port_that_changes_its_lane_leaves_what_it_sent_where_it_sent_it() {
        let near = config(Duration::from_millis(1_000));
        let mut port = Port::new(&near, Seed::new(1, 0), "links/first");
        let mut first = Lane::new(&near, Seed::new(1, 0), "links/first");
        let mut second = Lane::new(&config(Duration::from_millis(5)), Seed::new(1, 0), "links/second");
        let (mut counters, mut packets) = (Counters::default(), PacketStore::default());
        for length in [100, 101, 102, 103] {
            let packet = packets.insert(Packet::copied(&[], Checksum::Complete));
            let parcel = Parcel::new(packet, DestinationId(0), length, 64, 0);
            let mut outlet = Outlet { lane: &mut first, counters: &mut counters, packets: &mut packets };
            assert_eq!(port.offer(millis(0), parcel, &mut outlet), Ok(Fate::Arrives));
        }

        // One has left, one is being sent, two wait.
        let mut old = Outlet { lane: &mut first, counters: &mut counters, packets: &mut packets };
        let waiting = port.withdraw_waiting(millis(150), &mut old);
        let mut new = Outlet { lane: &mut second, counters: &mut counters, packets: &mut packets };
        for parcel in waiting {
            port.send_again(millis(150), parcel, &mut new);
        }

        assert_eq!(arrivals(&mut first, &mut counters), [(millis(1_100), 100), (millis(1_201), 101)]);
        assert_eq!(arrivals(&mut second, &mut counters), [(millis(308), 102), (millis(411), 103)]);
        assert_eq!(counters.carried.packets, 4);
        // 100, 201 and 303 ms of waiting, as if the lane were the same.
        let statistics = port.statistics(millis(406));
        assert_eq!(statistics.busy, Duration::from_millis(406));
        assert_eq!(statistics.mean_packets, 604.0 / 406.0);
    }
}
