//! The transmitter and the queue before it, without an event of their own.
//!
//! A first-in, first-out queue knows a packet's departure when it comes: the later of now and the departure
//! of the packet before it, plus the time that it takes to send. So packets are given their departures at
//! once, and how much waits at any instant follows from the departures that have passed by then: a cursor
//! over them, moved when somebody looks.

use std::collections::VecDeque;

use slantpath_base::{DataRate, DataSize, Duration, Instant};

use crate::link::queue::Queue;
use crate::probe::QueueProbe;

/// A packet that has not left yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    departure: Instant,
    length: u32,
}

/// Whether packets are being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Down,
    Up,
}

#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// What has not left, in the order of departure. While up, the first is being transmitted.
    pending: VecDeque<Pending>,
    pending_bytes: u64,
    /// The last departure that was given.
    free_at: Instant,
    /// The last length and what it takes at the present rate: most packets are as long as the one before.
    last_send: (u32, Duration),
    state: State,
    queue: Queue,
    rate: DataRate,
    occupancy: Occupancy,
    pub(crate) probe: Option<Box<QueueProbe>>,
}

/// How much has waited for how long. The integral of a queue's length over time is the sum of the times that
/// its packets wait, and those are known as soon as the packets are: so the sums run ahead of time, by what
/// is still [pending](Transmitter::waits_to_come).
#[derive(Clone, Copy, Debug, Default)]
struct Occupancy {
    start: Instant,
    waits: Waits,
    packets_max: u64,
    bytes_max: u64,
    /// Until when the waits of a direction that is down, which end at no known time, have been added.
    held_until: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    packet_nanos: u128,
    byte_nanos: u128,
    busy: Duration,
}

impl Waits {
    #[inline]
    fn add(&mut self, packets: u64, bytes: u64, time: Duration) {
        self.packet_nanos += u128::from(packets) * u128::from(time.as_nanos());
        self.byte_nanos += u128::from(bytes) * u128::from(time.as_nanos());
    }

    fn plus(self, other: Self) -> Self {
        Self {
            packet_nanos: self.packet_nanos + other.packet_nanos,
            byte_nanos: self.byte_nanos + other.byte_nanos,
            busy: self.busy + other.busy,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            packet_nanos: self.packet_nanos - other.packet_nanos,
            byte_nanos: self.byte_nanos - other.byte_nanos,
            busy: self.busy - other.busy,
        }
    }
}

/// How full a queue was, over the time since the statistics were started. Counted is what waits, without the
/// packet that is being transmitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueStatistics {
    /// The time over which these are.
    pub span: Duration,
    /// Packets, as a mean over time.
    pub mean_packets: f64,
    /// Bytes, as a mean over time.
    pub mean_bytes: f64,
    /// Packets, at most.
    pub max_packets: u64,
    /// Bytes, at most.
    pub max_bytes: u64,
    /// How long the transmitter was sending.
    pub busy: Duration,
}

impl Transmitter {
    pub(crate) fn new(rate: DataRate, queue: Queue) -> Self {
        Self {
            pending: VecDeque::new(),
            pending_bytes: 0,
            free_at: Instant::START,
            state: State::Up,
            queue,
            rate,
            last_send: (0, Duration::ZERO),
            occupancy: Occupancy::default(),
            probe: None,
        }
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
        while let Some(&Pending { departure, length }) = self.pending.front() {
            if departure > now {
                break;
            }
            self.pending.pop_front();
            self.pending_bytes -= u64::from(length);
            self.observe(departure);
        }
    }

    #[cold]
    fn add_held_waits(&mut self, now: Instant) {
        let elapsed = now.saturating_since(self.occupancy.held_until);
        self.occupancy.waits.add(self.waiting_packets(), self.waiting_bytes(), elapsed);
        self.occupancy.held_until = now;
    }

    /// What the sums hold beyond `now`: the rest of each wait, and of each transmission.
    fn waits_to_come(&self, now: Instant) -> Waits {
        let mut to_come = Waits::default();
        if self.state == State::Up {
            let mut free_at = now;
            for pending in &self.pending {
                to_come.add(1, pending.length.into(), free_at - now);
                to_come.busy += pending.departure - free_at;
                free_at = pending.departure;
            }
        }
        to_come
    }

    /// Packets that wait, without the one that is being transmitted. As of the last
    /// [`advance`](Self::advance).
    #[inline]
    pub(crate) fn waiting_packets(&self) -> u64 {
        let sending = u64::from(self.state == State::Up);
        (self.pending.len() as u64).saturating_sub(sending)
    }

    /// Their bytes.
    #[inline]
    pub(crate) fn waiting_bytes(&self) -> u64 {
        match (self.state, self.pending.front()) {
            (State::Up, Some(first)) => self.pending_bytes - u64::from(first.length),
            _ => self.pending_bytes,
        }
    }

    /// Whether a packet that comes now finds the transmitter idle or room to wait.
    #[inline]
    pub(crate) fn admits(&self, length: u32) -> bool {
        let idle = self.state == State::Up && self.pending.is_empty();
        idle || self.queue.admits(self.waiting_packets(), self.waiting_bytes(), length)
    }

    /// Takes a packet in and returns when its last bit leaves: [`Instant::FAR_FUTURE`] while down.
    #[inline]
    pub(crate) fn enqueue(&mut self, now: Instant, length: u32) -> Instant {
        let departure = match self.state {
            State::Down => Instant::FAR_FUTURE,
            State::Up => {
                let time = self.time_to_send(length);
                let start = self.free_at.max(now);
                self.occupancy.waits.busy = self.occupancy.waits.busy.saturating_add(time);
                if start > now {
                    self.occupancy.waits.add(1, length.into(), start - now);
                }
                self.free_at = start.saturating_add(time);
                self.free_at
            }
        };
        self.pending.push_back(Pending { departure, length });
        self.pending_bytes += u64::from(length);
        self.occupancy.packets_max = self.occupancy.packets_max.max(self.waiting_packets());
        self.occupancy.bytes_max = self.occupancy.bytes_max.max(self.waiting_bytes());
        self.observe(now);
        departure
    }

    #[inline]
    fn time_to_send(&mut self, length: u32) -> Duration {
        if self.last_send.0 != length {
            self.last_send = (length, self.rate.time_to_send(DataSize::from_bytes(length.into())));
        }
        self.last_send.1
    }

    /// Forgets what waits, for it to be [enqueued](Self::enqueue) anew. What is being transmitted stays:
    /// returns when it leaves, or `now`.
    pub(crate) fn withdraw_waiting(&mut self, now: Instant) -> Instant {
        let keep = usize::from(self.state == State::Up);
        self.withdraw(now, keep);
        self.free_at
    }

    /// Forgets all but the first `keep` packets.
    fn withdraw(&mut self, now: Instant, keep: usize) {
        self.advance(now);
        self.occupancy.waits = self.occupancy.waits.minus(self.waits_to_come(now));
        self.pending.truncate(keep);
        self.pending_bytes = self.pending.iter().map(|pending| u64::from(pending.length)).sum();
        self.free_at = self.pending.front().map_or(now, |first| first.departure);
        self.occupancy.waits = self.occupancy.waits.plus(self.waits_to_come(now));
        self.observe(now);
    }

    /// Changes the rate of what is enqueued from now on.
    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        self.rate = rate;
        self.last_send = (0, Duration::ZERO);
    }

    /// Comes up with an empty queue, for what waited to be enqueued anew.
    pub(crate) fn set_up(&mut self, now: Instant) {
        self.withdraw(now, 0);
        self.state = State::Up;
    }

    /// Goes down with an empty queue, the packet in transmission cut off.
    pub(crate) fn set_down(&mut self, now: Instant) {
        self.withdraw(now, 0);
        self.state = State::Down;
        self.occupancy.held_until = now;
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
        self.occupancy = Occupancy {
            start: now,
            waits: self.waits_to_come(now),
            packets_max: self.waiting_packets(),
            bytes_max: self.waiting_bytes(),
            held_until: now,
        };
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> QueueStatistics {
        self.advance(now);
        let span = now.saturating_since(self.occupancy.start);
        let waits = self.occupancy.waits.minus(self.waits_to_come(now));
        let mean = |sum: u128| if span.is_zero() { 0.0 } else { sum as f64 / span.as_nanos() as f64 };
        QueueStatistics {
            span,
            mean_packets: mean(waits.packet_nanos),
            mean_bytes: mean(waits.byte_nanos),
            max_packets: self.occupancy.packets_max,
            max_bytes: self.occupancy.bytes_max,
            busy: waits.busy,
        }
    }
}
