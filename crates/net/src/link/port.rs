//! A port: the near part of a direction, where packets wait and are sent.
//!
//! A port feeds a [`Lane`], which it is handed with every call: it keeps nothing of it. One
//! that is to feed another withdraws what waits from the first, and sends it into the second.

use slantpath_base::{DataRate, Duration, Instant, Seed};

use crate::address_names::AddressNames;
use crate::link::config::DirectionConfig;
use crate::link::counters::DropReason;
use crate::link::frames::SlotRuns;
use crate::link::lane::{Lane, Outlet};
use crate::link::occupancy::QueueStatistics;
use crate::link::outage::{AtHandover, WhileDown};
use crate::link::queue::{PortTerms, Queue};
use crate::link::scheduler::Scheduler;
use crate::link::service::{Service, Transmission};
use crate::link::transmitter::{ClosedForm, State};
use crate::parcel::Parcel;
use crate::probe::{QueueProbe, QueueSample, Sampling};

/// Outcome for a packet for which [nothing is asked](Port::offer_plainly).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offered {
    /// The packet arrives after others.
    Behind,
    /// The packet arrives at this time, before all others.
    Next(Instant),
    /// The packet is dropped: the queue has no room.
    NoRoom,
}

#[derive(Clone, Debug)]
pub(crate) struct Port {
    transmitter: Transmitter,
    /// Instant at which the transmitter has to choose a packet; [`Instant::FAR_FUTURE`] if it never has to.
    next_choice: Instant,
    mtu_bytes: u32,
    while_down: WhileDown,
    /// Reason of the drop of a packet that comes while the port is down.
    refused_as: DropReason,
}

/// The closed form serves what knows a packet's departure when it comes; the other what does not.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every port has the closed form, and every packet passes it"
)]
enum Transmitter {
    ClosedForm(ClosedForm),
    EventDriven(Box<Scheduler>),
}

impl Port {
    /// A port whose random stream is named by `path`.
    pub(crate) fn new(config: &DirectionConfig, seed: Seed, path: &str) -> Self {
        let service = Service::new(config.rate, config.overhead_bytes);
        let terms = PortTerms { mtu_bytes: config.mtu_bytes, seed, path };
        let closed_form = if config.is_settled_when_sent() { None } else { Queue::of(&config.queue, &terms) };
        let transmitter = if let Some(queue) = closed_form {
            Transmitter::ClosedForm(ClosedForm::new(service, queue))
        } else {
            let scheduler = Scheduler::new(service, &config.queue, &terms);
            Transmitter::EventDriven(Box::new(scheduler.sending(config.sending, config.overhead_bytes)))
        };
        Self {
            transmitter,
            next_choice: Instant::FAR_FUTURE,
            mtu_bytes: config.mtu_bytes,
            while_down: config.while_down,
            refused_as: DropReason::Down,
        }
    }

    /// Has flows told apart by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        if let Transmitter::EventDriven(scheduler) = &mut self.transmitter {
            scheduler.name_addresses(names);
        }
    }

    /// Has it wait for a first contact, and send in contacts only from now on.
    pub(crate) fn await_contact(&mut self, now: Instant) {
        self.refused_as = DropReason::NoContact;
        self.set_down(now);
    }

    /// Says as what packets are dropped that come while it is down.
    pub(crate) fn refuse_as(&mut self, reason: DropReason) {
        self.refused_as = reason;
    }

    /// Tells if packets follow the plain rule: they are kept in order, and dropped if there is no room.
    pub(crate) const fn is_plain(&self) -> bool {
        matches!(&self.transmitter, Transmitter::ClosedForm(form) if form.is_plain())
    }

    /// Tells if each change of the queue is recorded.
    pub(crate) fn is_observed(&self) -> bool {
        let probe = match &self.transmitter {
            Transmitter::ClosedForm(form) => &form.probe,
            Transmitter::EventDriven(scheduler) => &scheduler.probe,
        };
        probe.as_ref().is_some_and(|probe| probe.sampling() == Sampling::OnChange)
    }

    /// Variant of [`offer`](Self::offer) for a port that [is plain](Self::is_plain) and a lane whose channel does
    /// nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet passes it on each hop")]
    pub(crate) fn offer_plainly(&mut self, now: Instant, parcel: Parcel, lane: &mut Lane) -> Offered {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => match form.offer_plainly(now, parcel.length()) {
                Some(departure) => match lane.carry_plainly(departure, parcel) {
                    Some(arrival) => Offered::Next(arrival),
                    None => Offered::Behind,
                },
                None => Offered::NoRoom,
            },
            Transmitter::EventDriven(_) => unreachable!("no plain port"),
        }
    }

    /// Gives a packet its time in the transmitter, of a port that [is plain](Self::is_plain). `None` if there is no
    /// room.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is called from one place")]
    pub(crate) fn transmit_plainly(
        &mut self,
        now: Instant,
        length: u32,
        is_observed: bool,
    ) -> Option<Transmission> {
        let Transmitter::ClosedForm(form) = &mut self.transmitter else { unreachable!("no plain port") };
        let start = form.free_at().max(now);
        let end =
            if is_observed { form.offer_observed(now, length) } else { form.offer_plainly(now, length) }?;
        Some(Transmission { start, end })
    }

    /// Takes a packet in that is no longer than the MTU, and returns it with what is known of its fate and mark; or
    /// says why not. The drop is counted; the packet stays with the caller.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        outlet: &mut Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        outlet.counters.offered.add(parcel.length());
        let Transmitter::ClosedForm(form) = &mut self.transmitter else {
            return self.offer_event_driven(now, parcel, outlet);
        };
        let refused_as = (self.while_down == WhileDown::Drop).then_some(self.refused_as);
        match form.offer(now, parcel, refused_as) {
            Ok((admitted, transmission)) => {
                if admitted != parcel {
                    outlet.counters.marked.add(admitted.length());
                }
                Ok(admitted.with_fate(outlet.carry(transmission, admitted)))
            }
            Err(refusal) => {
                outlet.counters.drop(now, refusal, parcel, outlet.packets);
                Err(refusal)
            }
        }
    }

    #[inline(never)]
    fn offer_event_driven(
        &mut self,
        now: Instant,
        parcel: Parcel,
        outlet: &mut Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        let Transmitter::EventDriven(scheduler) = &mut self.transmitter else {
            unreachable!("the other transmitter has been asked")
        };
        let outcome = if scheduler.state() == State::Down && self.while_down == WhileDown::Drop {
            Err(self.refused_as)
        } else {
            if self.next_choice <= now {
                scheduler.run(now, outlet);
            }
            let admission = scheduler.admit(now, parcel, outlet);
            let outcome = admission.and_then(|admitted| {
                if admitted != parcel {
                    outlet.counters.marked.add(admitted.length());
                }
                Ok(admitted.with_fate(scheduler.offer(now, admitted, outlet)?))
            });
            self.next_choice = scheduler.next_choice();
            outcome
        };
        if let Err(refusal) = outcome {
            outlet.counters.drop(now, refusal, parcel, outlet.packets);
        }
        outcome
    }

    /// Instant at which [`run`](Self::run) is wanted; [`Instant::FAR_FUTURE`] if never.
    #[inline]
    pub(crate) const fn next_choice(&self) -> Instant {
        self.next_choice
    }

    /// Lets the transmitter choose what it sends next, if that is due.
    pub(crate) fn run(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        if let Transmitter::EventDriven(scheduler) = &mut self.transmitter {
            self.next_choice = scheduler.run(now, outlet);
        }
    }

    /// Sends a packet that was [withdrawn](Self::withdraw_waiting).
    pub(crate) fn send_again(&mut self, now: Instant, parcel: Parcel, outlet: &mut Outlet<'_>) {
        if let Transmitter::ClosedForm(form) = &mut self.transmitter {
            form.readmit(now, parcel);
            outlet.carry(form.enqueue(now, parcel.length()), parcel);
        }
    }

    /// Takes back from the lane the packets whose transmission has not begun, in their order, to be
    /// [retransmitted](Self::send_again). An event-driven transmitter has not given the lane any.
    pub(crate) fn withdraw_waiting(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> Vec<Parcel> {
        self.run(now, outlet);
        match self.forget_waiting(now) {
            Some(transmitted_until) => outlet.take_back(transmitted_until),
            None => Vec::new(),
        }
    }

    /// Forgets the packets whose transmission has not begun, if lanes have them already: those that leave after the
    /// instant that is returned, for whoever knows all the lanes to take them back.
    pub(crate) fn forget_waiting(&mut self, now: Instant) -> Option<Instant> {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => Some(form.withdraw_waiting(now)),
            Transmitter::EventDriven(_) => None,
        }
    }

    fn set_down(&mut self, now: Instant) {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.set_down(now),
            Transmitter::EventDriven(scheduler) => scheduler.set_down(now),
        }
        self.next_choice = Instant::FAR_FUTURE;
    }

    /// Cuts the packet in transmission off, and holds or drops what waits.
    pub(crate) fn go_down(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        let waiting = self.withdraw_waiting(now, outlet);
        let cut_off = self.cut_off(now, outlet);
        outlet.drop_all(now, cut_off, DropReason::Down);
        self.set_down(now);
        match self.while_down {
            WhileDown::Drop => {
                outlet.drop_all(now, waiting, DropReason::Down);
                let scheduled = self.take_scheduled(now, outlet.lane);
                outlet.drop_all(now, scheduled, DropReason::Down);
            }
            WhileDown::Hold => waiting.into_iter().for_each(|parcel| self.send_again(now, parcel, outlet)),
        }
    }

    /// Takes out what an event-driven transmitter keeps.
    fn take_scheduled(&mut self, now: Instant, lane: &mut Lane) -> Vec<Parcel> {
        match &mut self.transmitter {
            Transmitter::ClosedForm(_) => Vec::new(),
            Transmitter::EventDriven(scheduler) => scheduler.take_waiting(now, lane),
        }
    }

    /// Takes the packet out whose transmission ends after `now`, if it would have come through.
    fn cut_off(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> Vec<Parcel> {
        let mut cut_off = outlet.take_back(now);
        if let Transmitter::EventDriven(scheduler) = &mut self.transmitter {
            cut_off.extend(scheduler.cut_off(now));
        }
        cut_off
    }

    /// Has what is sent or repeated from now on go to another receiver.
    pub(crate) fn change_receiver(&mut self, now: Instant, lane: &mut Lane) {
        if let Transmitter::EventDriven(scheduler) = &mut self.transmitter {
            scheduler.change_receiver(now, lane);
        }
    }

    /// Goes down at the end of a contact: the packet in transmission is cut off, what waits is dropped, goes on
    /// waiting, or is returned. It is counted.
    pub(crate) fn end_contact(
        &mut self,
        now: Instant,
        at_handover: AtHandover,
        outlet: &mut Outlet<'_>,
    ) -> Vec<Parcel> {
        let mut waiting = self.withdraw_waiting(now, outlet);
        let cut_off = self.cut_off(now, outlet);
        outlet.drop_all(now, cut_off, DropReason::Handover);
        self.set_down(now);
        if at_handover == AtHandover::Held {
            for parcel in waiting {
                self.send_again(now, parcel, outlet);
            }
            let (packets, bytes) = self.waiting(now);
            outlet.counters.held.add_all(packets, bytes);
            if let Transmitter::EventDriven(scheduler) = &self.transmitter {
                let (packets, bytes) = scheduler.to_repeat();
                outlet.counters.held.add_all(packets, bytes);
            }
            return Vec::new();
        }
        waiting.extend(self.take_scheduled(now, outlet.lane));
        outlet.give_up(now, waiting, at_handover)
    }

    /// Comes up. What waited in a closed form has been withdrawn.
    pub(crate) fn go_up(&mut self, now: Instant, outlet: &mut Outlet<'_>) {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.set_up(now),
            Transmitter::EventDriven(scheduler) => scheduler.set_up(now),
        }
        self.run(now, outlet);
    }

    /// Rate at which packets leave in the long run, were there always some.
    pub(crate) fn rate_at(&self, now: Instant) -> DataRate {
        match &self.transmitter {
            Transmitter::ClosedForm(form) => form.rate(),
            Transmitter::EventDriven(scheduler) => scheduler.rate_at(now),
        }
    }

    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.set_rate(rate),
            Transmitter::EventDriven(scheduler) => scheduler.set_rate(rate),
        }
    }

    /// Has the transmitter have these slots from `from` on.
    pub(crate) fn allocate(
        &mut self,
        now: Instant,
        from: Instant,
        bursts: SlotRuns,
        outlet: &mut Outlet<'_>,
    ) {
        self.run(now, outlet);
        if let Transmitter::EventDriven(scheduler) = &mut self.transmitter {
            scheduler.allocate(now, from, bursts);
            self.next_choice = scheduler.next_choice();
        }
    }

    /// Bytes that the link puts around each packet that is sent in frames.
    pub(crate) fn overhead_bytes(&self) -> u64 {
        match &self.transmitter {
            Transmitter::ClosedForm(_) => 0,
            Transmitter::EventDriven(scheduler) => u64::from(scheduler.overhead_bytes()),
        }
    }

    /// Bytes that are to be sent at `now`, with what the link puts around each packet.
    pub(crate) fn backlog_bytes(&mut self, now: Instant) -> u64 {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => {
                form.advance(now);
                form.waiting_bytes()
            }
            Transmitter::EventDriven(scheduler) => scheduler.backlog_bytes(now),
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        let state = match &self.transmitter {
            Transmitter::ClosedForm(form) => form.state(),
            Transmitter::EventDriven(scheduler) => scheduler.state(),
        };
        state == State::Up
    }

    pub(crate) const fn mtu_bytes(&self) -> u32 {
        self.mtu_bytes
    }

    /// Packets that wait at `now`, and their bytes.
    fn waiting(&mut self, now: Instant) -> (u64, u64) {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => {
                form.advance(now);
                (form.waiting_packets(), form.waiting_bytes())
            }
            Transmitter::EventDriven(scheduler) => scheduler.waiting(),
        }
    }

    /// Time that a packet that comes at `now` waits until all before it has left.
    pub(crate) fn wait_at(&self, now: Instant) -> Duration {
        match &self.transmitter {
            Transmitter::ClosedForm(form) => form.free_at().saturating_since(now),
            Transmitter::EventDriven(scheduler) => scheduler.wait_at(now),
        }
    }

    /// Time for which a packet of this length is sent; only the closed form knows it.
    pub(crate) fn time_to_send(&self, length: u32) -> Duration {
        match &self.transmitter {
            Transmitter::ClosedForm(form) => form.time_to_send(length),
            Transmitter::EventDriven(_) => unreachable!("a shared transmitter has the closed form"),
        }
    }

    fn probe_slot(&mut self) -> &mut Option<Box<QueueProbe>> {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => &mut form.probe,
            Transmitter::EventDriven(scheduler) => &mut scheduler.probe,
        }
    }

    /// Records how much waits at `now`.
    pub(crate) fn sample(&mut self, now: Instant) {
        let (packets, bytes) = self.waiting(now);
        if let Some(probe) = self.probe_slot() {
            probe.sample(now, packets, bytes);
        }
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> QueueStatistics {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.statistics(now),
            Transmitter::EventDriven(scheduler) => scheduler.statistics(now),
        }
    }

    pub(crate) fn end_queue_window(&mut self, now: Instant) -> QueueStatistics {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.end_window(now),
            Transmitter::EventDriven(scheduler) => scheduler.end_window(now),
        }
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        match &mut self.transmitter {
            Transmitter::ClosedForm(form) => form.restart_statistics(now),
            Transmitter::EventDriven(scheduler) => scheduler.restart_statistics(now),
        }
    }

    pub(crate) fn set_probe(&mut self, probe: QueueProbe) {
        *self.probe_slot() = Some(Box::new(probe));
    }

    /// Takes out what the probe has recorded for good.
    pub(crate) fn take_samples(&mut self) -> Vec<QueueSample> {
        self.probe_slot().as_mut().map(|probe| probe.take_settled()).unwrap_or_default()
    }

    pub(crate) fn probe(&mut self, now: Instant) -> Option<&QueueProbe> {
        self.waiting(now);
        self.probe_slot().as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DirectionId;
    use crate::link::admission::QueueLimit;
    use crate::link::counters::DirectionTally;
    use crate::link::frames::{FrameConfig, SlotRun};
    use crate::link::queue::QueueConfig;
    use crate::link::sending::SendingConfig;
    use crate::packets::PacketStore;
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

    /// Instants at which the packets of a lane arrive, and their lengths.
    fn arrivals(
        lane: &mut Lane,
        (counters, packets): (&mut DirectionTally, &mut PacketStore),
    ) -> Vec<(Instant, u32)> {
        let mut next = || {
            let at = lane.next_arrival();
            let parcel = lane.take_arrival()?;
            Some((at, lane.count_arrival(at, parcel, counters, packets).length()))
        };
        std::iter::from_fn(&mut next).collect()
    }

    #[test]
    fn a_port_that_changes_its_lane_leaves_what_it_sent_where_it_sent_it() {
        let near = config(Duration::from_millis(1_000));
        let mut port = Port::new(&near, Seed::new(1, 0), "links/first");
        let mut first = near.lane(Seed::new(1, 0), "links/first");
        let mut second = config(Duration::from_millis(5)).lane(Seed::new(1, 0), "links/second");
        let (mut counters, mut packets) = (DirectionTally::new(DirectionId(0)), PacketStore::default());
        for length in [100, 101, 102, 103] {
            let packet = packets.insert(Packet::copied(&[], Checksum::Complete));
            let parcel = Parcel::new(packet, DestinationId(0), length, 64, 0);
            let mut outlet = Outlet { lane: &mut first, counters: &mut counters, packets: &mut packets };
            assert_eq!(port.offer(millis(0), parcel, &mut outlet), Ok(parcel));
        }

        // One has left, one is being sent, two wait.
        let mut old = Outlet { lane: &mut first, counters: &mut counters, packets: &mut packets };
        let waiting = port.withdraw_waiting(millis(150), &mut old);
        let mut new = Outlet { lane: &mut second, counters: &mut counters, packets: &mut packets };
        for parcel in waiting {
            port.send_again(millis(150), parcel, &mut new);
        }

        assert_eq!(
            arrivals(&mut first, (&mut counters, &mut packets)),
            [(millis(1_100), 100), (millis(1_201), 101)]
        );
        assert_eq!(
            arrivals(&mut second, (&mut counters, &mut packets)),
            [(millis(308), 102), (millis(411), 103)]
        );
        assert_eq!(counters.carried.packets, 4);
        // 100, 201 and 303 ms of waiting, as if the lane were the same.
        let statistics = port.statistics(millis(406));
        assert_eq!(statistics.busy, Duration::from_millis(406));
        assert_eq!(statistics.mean_packets, 604.0 / 406.0);
    }

    #[test]
    fn what_is_sent_in_slots_keeps_the_transmitter_busy_for_its_slots_alone() {
        // Of a frame of 10 ms the first three slots of 1 ms, each of 100 bytes; a packet has 20 more on the link.
        let frames = FrameConfig {
            length: Duration::from_millis(10),
            slots: 10,
            slot_overhead: Duration::from_micros(100),
            slot_payload_bytes: 100,
        };
        let sending = SendingConfig::InFrames(frames);
        let config = DirectionConfig { sending, overhead_bytes: 20, ..config(Duration::ZERO) };
        let mut port = Port::new(&config, Seed::new(1, 0), "links/first");
        let mut lane = config.lane(Seed::new(1, 0), "links/first");
        let (mut counters, mut packets) = (DirectionTally::new(DirectionId(0)), PacketStore::default());
        let parcels = [480, 200].map(|length| {
            let packet = packets.insert(Packet::copied(&[], Checksum::Complete));
            Parcel::new(packet, DestinationId(0), length, 64, 0)
        });
        let mut outlet = Outlet { lane: &mut lane, counters: &mut counters, packets: &mut packets };
        port.allocate(
            millis(0),
            millis(0),
            [SlotRun { first: 0, slots: 3 }, SlotRun::default()],
            &mut outlet,
        );
        for parcel in parcels {
            assert_eq!(port.offer(millis(0), parcel, &mut outlet), Ok(parcel));
        }
        // Five slots for the first packet, and two and a fifth for the second, of which the last fifth is cut off.
        let mut anew = None;
        for (at, slots) in [(1, 1), (3, 3), (9, 3), (12, 5), (13, 6), (20, 6)] {
            port.run(millis(at), &mut outlet);
            assert_eq!(port.statistics(millis(at)).busy, Duration::from_millis(slots), "at {at} ms");
            if at == 12 {
                let mut started = port.clone();
                started.restart_statistics(millis(at));
                anew = Some(started);
            }
        }
        let mut cut = port.clone();
        cut.go_down(millis(20), &mut outlet);
        assert_eq!(cut.statistics(millis(40)).busy, Duration::from_millis(6));
        port.run(millis(40), &mut outlet);
        assert_eq!(port.statistics(millis(40)).busy, Duration::from_micros(7_200));
        let mut anew = anew.expect("it was at 12 ms");
        anew.run(millis(40), &mut outlet);
        assert_eq!(anew.statistics(millis(40)).busy, Duration::from_micros(2_200));
    }
}
