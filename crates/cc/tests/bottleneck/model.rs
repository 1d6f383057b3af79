//! One bottleneck: a drop-tail queue before a link with a rate, a delay and a loss, and what happens to it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use slantpath_base::{DataRate, DataSize, Duration, Instant, Seed, Stream};
use slantpath_cc::CongestionControl;

use crate::flow::{Flow, Transmission};

/// Length of a packet on the link, and of its payload, in bytes.
pub(crate) const PACKET: u64 = 1_500;
pub(crate) const PAYLOAD: u64 = 1_452;

/// A path that all flows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathSpec {
    pub(crate) rate: DataRate,
    /// Without queue and transmission.
    pub(crate) round_trip: Duration,
    pub(crate) queue_bytes: u64,
    pub(crate) loss: Loss,
}

/// Loss behind the queue, of data as of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loss {
    /// Each packet by itself.
    Random(f64),
    /// Gilbert and Elliott: everything is lost in bursts of so many packets on average.
    Bursts { mean: f64, packets: f64 },
}

/// Change of the path while a run lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Rate(DataRate),
    RoundTrip(Duration),
    /// Nothing passes, or it does again.
    Fade(bool),
}

impl PathSpec {
    /// A geostationary satellite: 10 Mbit/s, 560 ms.
    pub(crate) const fn geo() -> Self {
        Self::new(10_000_000, 560)
    }

    /// A low orbit: 50 Mbit/s, 50 ms.
    pub(crate) const fn leo() -> Self {
        Self::new(50_000_000, 50)
    }

    /// A queue of one product, and no loss.
    pub(crate) const fn new(bits_per_sec: u64, millis: u64) -> Self {
        Self {
            rate: DataRate::from_bits_per_sec(bits_per_sec),
            round_trip: Duration::from_millis(millis),
            queue_bytes: bits_per_sec / 8 * millis / 1_000,
            loss: Loss::Random(0.0),
        }
    }

    pub(crate) const fn losing(self, probability: f64) -> Self {
        Self { loss: Loss::Random(probability), ..self }
    }

    /// The queue in hundredths of the product.
    pub(crate) const fn queue_percent(self, percent: u64) -> Self {
        Self { queue_bytes: self.queue_bytes * percent / 100, ..self }
    }

    /// Part of the rate that is left for payload, in bytes a second.
    fn payload_rate(&self) -> f64 {
        self.rate.as_bits_per_sec() as f64 / 8.0 * PAYLOAD as f64 / PACKET as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The packet at the head of the queue has been sent.
    Served,
    Arrived {
        flow: usize,
        transmission: u64,
    },
    /// An acknowledgement of the first so many arrivals.
    Acknowledged {
        flow: usize,
        arrivals: usize,
    },
    DelayedAck {
        flow: usize,
        pending_since: usize,
    },
    Start {
        flow: usize,
    },
    End {
        flow: usize,
    },
    Wake {
        flow: usize,
    },
    Timer {
        flow: usize,
    },
    Change {
        index: usize,
    },
}

/// State of the receiver of a flow.
#[derive(Debug, Default)]
struct Receiver {
    /// Transmissions in the order in which they came.
    arrivals: Vec<u64>,
    /// Number of arrivals for which an acknowledgement has been sent.
    acknowledged: usize,
    next_in_order: u64,
}

/// Results of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    /// Payload that came for the first time, in bytes, by slots.
    slots: Vec<u64>,
    /// Packets that the queue had no room for.
    pub(crate) queue_losses: u64,
    pub(crate) sent: u64,
}

/// The length of a slot of an [`Account`].
const SLOT: Duration = Duration::from_millis(10);

#[derive(Debug)]
enum Channel {
    Good,
    Bad,
}

/// A run of flows over one path.
pub(crate) struct Run {
    spec: PathSpec,
    now: Instant,
    events: BinaryHeap<Reverse<(Instant, u64, Event)>>,
    count: u64,
    queue: VecDeque<(usize, u64)>,
    is_faded: bool,
    channel: Channel,
    random: Stream,
    last_arrival: Instant,
    flows: Vec<Flow>,
    receivers: Vec<Receiver>,
    pub(crate) accounts: Vec<Account>,
    changes: Vec<(Instant, Change)>,
    round_trip: Duration,
    rate: DataRate,
    /// Bytes in the queue whenever a packet came, and how many did: for the average.
    queue_seen: (u64, u64),
}

impl Run {
    pub(crate) fn new(spec: PathSpec, seed: u64) -> Self {
        Self {
            spec,
            now: Instant::START,
            events: BinaryHeap::new(),
            count: 0,
            queue: VecDeque::new(),
            is_faded: false,
            channel: Channel::Good,
            random: Seed::new(seed, 0).stream("bottleneck"),
            last_arrival: Instant::START,
            flows: Vec::new(),
            receivers: Vec::new(),
            accounts: Vec::new(),
            changes: Vec::new(),
            round_trip: spec.round_trip,
            rate: spec.rate,
            queue_seen: (0, 0),
        }
    }

    /// A flow without end, from `start` on.
    pub(crate) fn with_flow(mut self, start: Instant, control: Box<dyn CongestionControl>) -> Self {
        let flow = self.flows.len();
        self.flows.push(Flow::new(control));
        self.receivers.push(Receiver::default());
        self.accounts.push(Account::default());
        self.schedule(start, Event::Start { flow });
        self
    }

    /// A flow has nothing more to send from then on.
    pub(crate) fn with_end(mut self, flow: usize, at: Instant) -> Self {
        self.schedule(at, Event::End { flow });
        self
    }

    pub(crate) fn with_change(mut self, at: Instant, change: Change) -> Self {
        let index = self.changes.len();
        self.changes.push((at, change));
        self.schedule(at, Event::Change { index });
        self
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, event)));
    }

    pub(crate) fn until(mut self, end: Instant) -> Self {
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            self.handle(event);
        }
        self.now = end;
        self
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Served => self.serve(),
            Event::Arrived { flow, transmission } => self.arrive(flow, transmission),
            Event::Acknowledged { flow, arrivals } => {
                let known = self.flows[flow].known_arrivals;
                if arrivals > known {
                    let news = &self.receivers[flow].arrivals[known..arrivals];
                    self.flows[flow].acknowledge(self.now, news);
                    self.flows[flow].known_arrivals = arrivals;
                }
                self.pump(flow);
            }
            Event::DelayedAck { flow, pending_since } => {
                if self.receivers[flow].acknowledged == pending_since {
                    self.send_acknowledgement(flow);
                }
            }
            Event::Start { flow } | Event::Wake { flow } => {
                self.flows[flow].woken();
                self.pump(flow);
            }
            Event::End { flow } => self.flows[flow].end(),
            Event::Timer { flow } => {
                if let Some(next) = self.flows[flow].handle_timer(self.now) {
                    self.schedule(next, Event::Timer { flow });
                }
                self.pump(flow);
            }
            Event::Change { index } => match self.changes[index].1 {
                Change::Rate(rate) => self.rate = rate,
                Change::RoundTrip(round_trip) => self.round_trip = round_trip,
                Change::Fade(is_faded) => self.is_faded = is_faded,
            },
        }
    }

    fn pump(&mut self, flow: usize) {
        loop {
            match self.flows[flow].next(self.now) {
                Transmission::Sent(transmission) => self.enqueue(flow, transmission),
                Transmission::Wait(at) => {
                    self.schedule(at, Event::Wake { flow });
                    break;
                }
                Transmission::Blocked => break,
            }
        }
        if let Some(at) = self.flows[flow].take_new_timer() {
            self.schedule(at, Event::Timer { flow });
        }
    }

    fn enqueue(&mut self, flow: usize, transmission: u64) {
        self.accounts[flow].sent += 1;
        let waiting = (self.queue.len() as u64).saturating_sub(1) * PACKET;
        self.queue_seen = (self.queue_seen.0 + waiting, self.queue_seen.1 + 1);
        if !self.queue.is_empty() && waiting + PACKET > self.spec.queue_bytes {
            self.accounts[flow].queue_losses += 1;
            return;
        }
        self.queue.push_back((flow, transmission));
        if self.queue.len() == 1 {
            self.start_service();
        }
    }

    fn start_service(&mut self) {
        let time = self.rate.time_to_send(DataSize::from_bytes(PACKET));
        self.schedule(self.now + time, Event::Served);
    }

    fn serve(&mut self) {
        let (flow, transmission) = self.queue.pop_front().expect("it was being sent");
        if !self.queue.is_empty() {
            self.start_service();
        }
        if self.is_lost() {
            return;
        }
        // Nothing overtakes: a shorter path delivers what comes over it after what is still on the longer one.
        let at = (self.now + self.round_trip / 2).max(self.last_arrival);
        self.last_arrival = at;
        self.schedule(at, Event::Arrived { flow, transmission });
    }

    fn is_lost(&mut self) -> bool {
        if self.is_faded {
            return true;
        }
        match self.spec.loss {
            Loss::Random(probability) => probability > 0.0 && self.random.uniform() < probability,
            Loss::Bursts { mean, packets } => {
                let draw = self.random.uniform();
                let flips = match self.channel {
                    Channel::Good => draw < mean / (1.0 - mean) / packets,
                    Channel::Bad => draw < 1.0 / packets,
                };
                if flips {
                    self.channel = match self.channel {
                        Channel::Good => Channel::Bad,
                        Channel::Bad => Channel::Good,
                    };
                }
                matches!(self.channel, Channel::Bad)
            }
        }
    }

    fn arrive(&mut self, flow: usize, transmission: u64) {
        if let Some(bytes) = self.flows[flow].first_arrival(transmission) {
            let slot = usize::try_from(self.now.as_nanos() / SLOT.as_nanos()).expect("a short run");
            let slots = &mut self.accounts[flow].slots;
            slots.resize(slots.len().max(slot + 1), 0);
            slots[slot] += bytes;
        }
        let receiver = &mut self.receivers[flow];
        receiver.arrivals.push(transmission);
        let is_in_order = transmission == receiver.next_in_order;
        receiver.next_in_order = transmission + 1;
        // Every second packet is acknowledged at once, and what shows a gap.
        if !is_in_order || receiver.arrivals.len() - receiver.acknowledged >= 2 {
            self.send_acknowledgement(flow);
        } else {
            let pending_since = receiver.acknowledged;
            self.schedule(self.now + Duration::from_millis(40), Event::DelayedAck { flow, pending_since });
        }
    }

    fn send_acknowledgement(&mut self, flow: usize) {
        let receiver = &mut self.receivers[flow];
        let arrivals = receiver.arrivals.len();
        receiver.acknowledged = arrivals;
        let is_lost = self.is_faded
            || matches!(self.spec.loss, Loss::Random(probability) if probability > 0.0
                && self.random.uniform() < probability);
        if !is_lost {
            self.schedule(self.now + self.round_trip / 2, Event::Acknowledged { flow, arrivals });
        }
    }

    /// Goodput of a flow from `from` to `to`, in seconds, in per cent of the rate that the path began with.
    pub(crate) fn goodput(&self, flow: usize, from: u64, to: u64) -> f64 {
        self.bytes(flow, from * 1_000, to * 1_000) as f64 * 8.0
            / (to - from) as f64
            / self.spec.rate.as_bits_per_sec() as f64
            * 100.0
    }

    fn bytes(&self, flow: usize, from_ms: u64, to_ms: u64) -> u64 {
        let slot = |ms| usize::try_from(ms / SLOT.as_millis()).expect("a short run");
        let slots = &self.accounts[flow].slots;
        slots[slot(from_ms).min(slots.len())..slot(to_ms).min(slots.len())].iter().sum()
    }

    /// After how many round trips a flow had brought nine tenths of what the path carries for one round trip.
    pub(crate) fn ramp(&self, flow: usize) -> Option<f64> {
        let round_trip = self.spec.round_trip.as_millis();
        let whole = self.spec.payload_rate() * self.spec.round_trip.as_secs_f64();
        let mut at = round_trip;
        while at < self.now.as_nanos() / 1_000_000 {
            if self.bytes(flow, at - round_trip, at) as f64 >= 0.9 * whole {
                return Some(at as f64 / round_trip as f64);
            }
            at += SLOT.as_millis();
        }
        None
    }

    /// The average queue that a packet found, in per cent of the product.
    pub(crate) fn mean_queue(&self) -> f64 {
        let product = self.spec.rate.size_in(self.spec.round_trip).as_bytes();
        self.queue_seen.0 as f64 / self.queue_seen.1.max(1) as f64 / product as f64 * 100.0
    }
}

#[derive(Debug)]
pub(crate) struct Alone {
    /// From 20 to 120 s, in per cent of the link; payload can have 96.8.
    pub(crate) goodput: f64,
    /// Round trips to nine tenths of that.
    pub(crate) ramp: Option<f64>,
    pub(crate) queue_losses: u64,
}

pub(crate) fn alone(spec: PathSpec, seed: u64, control: Box<dyn CongestionControl>) -> Alone {
    let run = Run::new(spec, seed).with_flow(Instant::START, control).until(Instant::from_secs(120));
    Alone { goodput: run.goodput(0, 20, 120), ramp: run.ramp(0), queue_losses: run.accounts[0].queue_losses }
}
