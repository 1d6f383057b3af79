//! The closed-form transmitter and the queue before it, without an event of their own.
//!
//! A first-in, first-out queue knows a packet's departure when it comes: the later of now and the departure
//! of the packet before it, plus the time that it takes to send. So packets are given their departures at
//! once, and how much waits at any instant follows from the departures that have passed by then: a cursor
//! over them, moved when somebody looks.

use slantpath_base::{DataRate, Duration, Instant};

use crate::link::admission::Waiting;
use crate::link::counters::DropReason;
use crate::link::occupancy::{Occupancy, QueueStatistics, Waits};
use crate::link::queue::Queue;
use crate::link::ring::Ring;
use crate::link::service::{Service, Transmission};
use crate::parcel::Parcel;
use crate::probe::QueueProbe;

/// A packet that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    departure: Instant,
    length: u32,
}

/// State of a transmitter: packets are being sent or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Down,
    Up,
}

#[derive(Clone, Debug)]
pub(crate) struct ClosedForm {
    /// The last departure that was given: while up, a packet is being transmitted if this is later than now.
    free_at: Instant,
    /// Instant at which the packet that is being transmitted leaves; [`Instant::FAR_FUTURE`] if none is.
    sending_until: Instant,
    /// Packets queued behind it, in the order of departure.
    waiting: Ring<Pending>,
    waiting_bytes: u64,
    state: State,
    queue: Queue,
    service: Service,
    occupancy: Occupancy,
    pub(crate) probe: Option<Box<QueueProbe>>,
}

impl ClosedForm {
    pub(crate) fn new(service: Service, queue: Queue) -> Self {
        Self {
            free_at: Instant::START,
            sending_until: Instant::FAR_FUTURE,
            waiting: Ring::default(),
            waiting_bytes: 0,
            state: State::Up,
            queue,
            service,
            occupancy: Occupancy::default(),
            probe: None,
        }
    }

    /// The last departure that was given.
    #[inline]
    pub(crate) const fn free_at(&self) -> Instant {
        self.free_at
    }

    pub(crate) const fn rate(&self) -> DataRate {
        self.service.rate()
    }

    /// Time for which a packet of this length is sent.
    pub(crate) fn time_to_send(&self, length: u32) -> Duration {
        self.service.time_to_send(length)
    }

    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// Lets every departure up to `now` happen.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant) {
        if self.state == State::Down {
            self.add_held_waits(now);
        }
        while self.sending_until <= now {
            let departure = self.sending_until;
            self.send_next();
            self.observe(departure);
        }
    }

    /// Starts the transmission of what has waited longest, if anything waits.
    #[inline]
    fn send_next(&mut self) {
        self.sending_until = match self.waiting.pop() {
            Some(Pending { departure, length }) => {
                self.waiting_bytes -= u64::from(length);
                departure
            }
            None => Instant::FAR_FUTURE,
        };
    }

    /// Tells if it is up, and a packet waits that finds room, and is dropped otherwise: the plain rule.
    pub(crate) const fn is_plain(&self) -> bool {
        matches!((self.state, &self.queue), (State::Up, Queue::DropTail(_)))
    }

    /// Variant of [`offer`](Self::offer) for [the plain rule](Self::is_plain), while nobody observes each change of the
    /// queue. Returns when the packet's last bit leaves, or `None` if there is no room.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet passes it on each hop")]
    pub(crate) fn offer_plainly(&mut self, now: Instant, length: u32) -> Option<Instant> {
        if self.free_at <= now {
            self.waiting.truncate(0);
            self.waiting_bytes = 0;
            self.start(now, length);
            self.sending_until = self.free_at;
            return Some(self.free_at);
        }
        while self.sending_until <= now {
            self.send_next();
        }
        self.queue_up_if_admitted(now, length)
    }

    /// Variant of [`offer_plainly`](Self::offer_plainly) while each change of the queue is observed.
    #[inline(never)]
    pub(crate) fn offer_observed(&mut self, now: Instant, length: u32) -> Option<Instant> {
        while self.sending_until <= now {
            let departure = self.sending_until;
            self.send_next();
            self.observe(departure);
        }
        if self.free_at <= now {
            self.start(now, length);
            self.sending_until = self.free_at;
        } else {
            self.queue_up_if_admitted(now, length)?;
        }
        self.observe(now);
        Some(self.free_at)
    }

    /// Has a packet wait for those before it, if there is room.
    #[inline]
    fn queue_up_if_admitted(&mut self, now: Instant, length: u32) -> Option<Instant> {
        if let Queue::DropTail(limit) = &self.queue
            && !limit.admits(self.waiting_packets(), self.waiting_bytes, length)
        {
            return None;
        }
        self.queue_up(now, length);
        Some(self.free_at)
    }

    /// Takes a packet in, and returns it as it waits or is sent with when that is; or says why not. While it is down
    /// that is `refused_as`, if there is such a reason.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        refused_as: Option<DropReason>,
    ) -> Result<(Parcel, Transmission), DropReason> {
        self.advance(now);
        if let (State::Down, Some(reason)) = (self.state, refused_as) {
            return Err(reason);
        }
        let admitted = self.admit(now, parcel)?;
        Ok((admitted, self.enqueue(now, admitted.length())))
    }

    #[cold]
    fn add_held_waits(&mut self, now: Instant) {
        let (packets, bytes) = (self.waiting_packets(), self.waiting_bytes());
        self.occupancy.count_until(now, packets, bytes);
    }

    /// Part of the sums that lies beyond `now`: the rest of each wait, and of each transmission.
    fn waits_to_come(&self, now: Instant) -> Waits {
        let mut to_come = Waits::default();
        if self.state == State::Up {
            let mut free_at = now;
            if let Some(departure) = self.departure_of_sending(now) {
                to_come.busy += departure - now;
                free_at = departure;
            }
            for Pending { departure, length } in self.waiting.iter() {
                to_come.add(1, length.into(), free_at - now);
                to_come.busy += departure - free_at;
                free_at = departure;
            }
        }
        to_come
    }

    /// Tells if there is nothing to send, and a packet could be.
    #[inline]
    fn is_idle(&self, now: Instant) -> bool {
        self.state == State::Up && self.free_at <= now
    }

    /// Instant at which the packet that is being transmitted leaves, if one is.
    fn departure_of_sending(&self, now: Instant) -> Option<Instant> {
        (self.state == State::Up && self.free_at > now).then_some(self.sending_until)
    }

    /// Packets that wait, without the one that is being transmitted. As of the last
    /// [`advance`](Self::advance).
    #[inline]
    pub(crate) fn waiting_packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Bytes of these packets.
    #[inline]
    pub(crate) const fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Returns a packet that comes now as it waits or is sent at once, or says why it may not.
    #[inline]
    fn admit(&mut self, now: Instant, parcel: Parcel) -> Result<Parcel, DropReason> {
        let is_idle = self.is_idle(now);
        if let Queue::DropTail(limit) = self.queue {
            let has_room =
                is_idle || limit.admits(self.waiting_packets(), self.waiting_bytes(), parcel.length());
            return if has_room { Ok(parcel) } else { Err(DropReason::QueueFull) };
        }
        self.admit_early(now, parcel, is_idle)
    }

    /// Variant of [`admit`](Self::admit) for a queue that decides by more than its room.
    #[inline(never)]
    fn admit_early(&mut self, now: Instant, parcel: Parcel, is_idle: bool) -> Result<Parcel, DropReason> {
        let waiting = Waiting {
            packets: self.waiting_packets(),
            bytes: self.waiting_bytes(),
            idle_since: is_idle.then_some(self.free_at),
            start: self.next_start(now),
        };
        match &mut self.queue {
            Queue::DropTail(_) => Ok(parcel),
            Queue::Red(red) => red.admit(now, parcel, waiting, &self.service),
        }
    }

    /// Notes a packet that was withdrawn and is enqueued next.
    pub(crate) fn readmit(&mut self, now: Instant, parcel: Parcel) {
        self.queue.readmit(self.next_start(now), parcel);
    }

    /// Instant at which the transmission of a packet that comes now starts.
    #[inline]
    fn next_start(&self, now: Instant) -> Instant {
        match self.state {
            State::Down => Instant::FAR_FUTURE,
            State::Up => self.free_at.max(now),
        }
    }

    /// Takes a packet in and returns when it is sent.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Instant, length: u32) -> Transmission {
        let start = self.next_start(now);
        let end = match self.state {
            State::Down => {
                self.wait(Pending { departure: Instant::FAR_FUTURE, length });
                Instant::FAR_FUTURE
            }
            State::Up => {
                if self.is_idle(now) {
                    self.start(now, length);
                    self.sending_until = self.free_at;
                } else {
                    self.queue_up(now, length);
                }
                self.free_at
            }
        };
        self.observe(now);
        Transmission { start, end }
    }

    /// Gives a packet its departure, whose transmission starts at `start`.
    #[inline]
    fn start(&mut self, start: Instant, length: u32) {
        self.free_at = self.service.finish(start, length);
        self.occupancy.waits.busy += self.free_at - start;
    }

    /// Has a packet wait for those before it.
    #[inline]
    fn queue_up(&mut self, now: Instant, length: u32) {
        let start = self.free_at;
        self.occupancy.waits.add_packet(length, start - now);
        self.start(start, length);
        self.wait(Pending { departure: self.free_at, length });
    }

    #[inline]
    fn wait(&mut self, pending: Pending) {
        self.waiting.push(pending);
        self.waiting_bytes += u64::from(pending.length);
        self.occupancy.note_peak(self.waiting_packets(), self.waiting_bytes());
    }

    /// Forgets what waits, for it to be [enqueued](Self::enqueue) anew. What is being transmitted stays:
    /// returns when it leaves, or `now`.
    pub(crate) fn withdraw_waiting(&mut self, now: Instant) -> Instant {
        self.advance(now);
        self.withdraw(now, self.departure_of_sending(now));
        self.free_at
    }

    /// Forgets all but what is being sent, which leaves at `departure` from now on, if it does.
    fn withdraw(&mut self, now: Instant, departure: Option<Instant>) {
        self.advance(now);
        self.occupancy.waits = self.occupancy.waits.minus(self.waits_to_come(now));
        self.queue.forget_waiting();
        self.sending_until = departure.unwrap_or(Instant::FAR_FUTURE);
        self.waiting.truncate(0);
        self.waiting_bytes = 0;
        self.free_at = departure.unwrap_or(now);
        self.occupancy.waits = self.occupancy.waits.plus(self.waits_to_come(now));
        self.observe(now);
    }

    /// Changes the rate of what is enqueued from now on.
    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        self.service.set_rate(rate);
    }

    /// Comes up with an empty queue, for what waited to be enqueued anew.
    pub(crate) fn set_up(&mut self, now: Instant) {
        self.withdraw(now, None);
        self.state = State::Up;
    }

    /// Goes down with an empty queue, the packet in transmission cut off.
    pub(crate) fn set_down(&mut self, now: Instant) {
        self.withdraw(now, None);
        self.state = State::Down;
        self.occupancy.counted_until = now;
    }

    #[inline]
    fn observe(&mut self, now: Instant) {
        if self.probe.is_some() {
            let (packets, bytes) = (self.waiting_packets(), self.waiting_bytes());
            if let Some(probe) = &mut self.probe {
                probe.observe(now, packets, bytes);
            }
        }
    }

    /// Starts the statistics anew, as at the end of a warm-up.
    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.advance(now);
        let to_come = self.waits_to_come(now);
        self.occupancy.restart(now, to_come, self.waiting_packets(), self.waiting_bytes());
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> QueueStatistics {
        self.advance(now);
        self.occupancy.statistics(now, self.waits_to_come(now))
    }

    /// Variant of [`statistics`](Self::statistics) over the time since this was last asked.
    pub(crate) fn end_window(&mut self, now: Instant) -> QueueStatistics {
        self.advance(now);
        let to_come = self.waits_to_come(now);
        self.occupancy.end_window(now, to_come, self.waiting_packets(), self.waiting_bytes())
    }
}
