//! Satellite access with capacity on demand: MF-TDMA carriers, terminals that ask, and a controller that allocates.
//!
//! Terminals share carriers that are divided into frames and slots. Each has some slots for good (PAMA; CRA in
//! DVB-RCS2) and asks for more as it needs them (DAMA). What lies between need and capacity, the allocation time, is
//! not a parameter: it follows from when a terminal looks at what it has to send, the hop to the controller, when that
//! makes its next plan, what it takes for it, the hop back, and the frame from which on the plan holds.
//!
//! Terminals, [`controller`] and the placement of bursts know no network; an [`Access`] carries what they
//! say to the links of one.

mod contention;
mod controller;
mod on_demand;
mod placement;
mod sharing;
mod terminal;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_net::{Demand, DirectionId, FrameConfig, Links, SlotRuns};

pub use contention::ContentionConfig;
use contention::RequestSlots;
use controller::Controller;
pub use on_demand::OnDemand;
use terminal::{Grant, Request, Terminal};

/// Carriers and the loop of asking and allocating.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessConfig {
    /// The frame of each carrier.
    pub frame: FrameConfig,
    /// Number of carriers. A terminal sends on one at a time.
    pub carriers: u32,
    /// Interval at which each terminal looks at its demand, and may ask. Terminals do so one after the other, evenly
    /// spread.
    pub ask_every: Duration,
    /// From a terminal to the controller, and back.
    pub hop: Duration,
    /// Interval at which the controller makes a plan, if anything has changed.
    pub plan_every: Duration,
    /// Time that the controller takes for a plan.
    pub processing: Duration,
    /// Time for which terminals have a plan before it holds; from the next frame on.
    pub lead: Duration,
    /// Way in which requests come to the controller.
    pub requests: AccessRequests,
    /// True if slots that nobody has asked for are given to all terminals in turn (FCA), up to what each has at most.
    pub gives_free_slots: bool,
    /// Terminals that send on the carriers.
    pub terminals: Vec<TerminalConfig>,
}

/// Ways in which requests come to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequests {
    /// Each terminal has room for one whenever it looks, outside the frame.
    Assigned,
    /// In slots for requests, which terminals choose at random.
    Contention(ContentionConfig),
    /// In the bursts that it sends: a terminal without a slot cannot ask.
    Piggybacked,
}

/// Settings of one terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalConfig {
    /// By which direction it sends.
    pub direction: DirectionId,
    /// Slots of each frame that it has for good.
    pub permanent_slots: u32,
    /// Slots of each frame that it has at most; no more than a carrier has.
    pub most_slots: u32,
    /// Kind of capacity that it asks for.
    pub ask: Ask,
    /// Time for which it needs less before it asks for less: the most that it has needed meanwhile.
    pub release_after: Duration,
    /// Time for which it sends nothing, beginning when its number of slots changes.
    pub interruption: Duration,
}

/// Kinds of capacity that a terminal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Nothing: it has what it has.
    Never,
    /// The rate at which packets have come since it last looked, and what sends the backlog within a time (RBDC). It
    /// holds until it asks for another.
    Rate {
        /// In which time the backlog is to be sent.
        drain: Duration,
    },
    /// Capacity for what is to be sent and has not been asked for yet (VBDC). It is used up.
    Volume,
    /// Capacity for all that is to be sent, in place of what it has asked for before (AVBDC); not again before the
    /// answer must be there. It is used up.
    AbsoluteVolume,
}

/// Sample of what a terminal saw and had when it looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccessSample {
    /// Instant at which the terminal looked.
    pub at: Instant,
    /// The terminal's direction.
    pub direction: DirectionId,
    /// Bytes that have been offered to it since it looked before.
    pub offered_bytes: u64,
    /// Bytes that it has to send.
    pub backlog_bytes: u64,
    /// Slots of a frame that it asks for, with those that it has for good; of one that asks for volumes, those that it
    /// has.
    pub asked_slots: u32,
    /// Slots of a frame that it has.
    pub slots: u32,
    /// Requests that it has sent since it looked before.
    pub requests: u32,
    /// Requests among those that met others in their slot, and were not heard.
    pub collided: u32,
}

/// Counts of a terminal's requests: those sent, and those that collided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sent {
    requests: u32,
    collided: u32,
}

impl AccessConfig {
    /// In which time the answer to a request is there at the latest, and holds.
    fn answer_time(&self) -> Duration {
        let there_and_back = self.hop.saturating_add(self.hop);
        let planned = self.plan_every.saturating_add(self.processing);
        let [there_and_back, planned] = [there_and_back, planned].map(Duration::as_nanos);
        let holds = self.lead.saturating_add(self.frame.length).as_nanos();
        Duration::from_nanos(there_and_back.saturating_add(planned).saturating_add(holds))
    }

    /// Slots of a frame that are for requests.
    fn request_slots(&self) -> u32 {
        match self.requests {
            AccessRequests::Assigned | AccessRequests::Piggybacked => 0,
            AccessRequests::Contention(contention) => contention.slots,
        }
    }
}

/// An access system in a run.
#[derive(Clone, Debug)]
pub struct Access {
    config: AccessConfig,
    terminals: Vec<Terminal>,
    controller: Controller,
    /// Requests on their way to the controller, with the instants at which they arrive.
    requests: VecDeque<(Instant, usize, Request)>,
    /// Slots in which requests are sent, if terminals contend for them.
    request_slots: Option<RequestSlots>,
    /// Counts of each terminal's requests since it last looked.
    sent: Vec<Sent>,
    /// Number of turns that terminals have had, all together: in each one looks at its demand.
    turns: u64,
    /// Number of times that the controller could have made a plan.
    plans: u64,
    /// Slots of each terminal by the plans that hold from these instants on, the first of which holds now.
    allocated: VecDeque<(Instant, Vec<Grant>)>,
    /// The bursts of each by the last plan, and until when it is interrupted.
    placed: Vec<SlotRuns>,
    interrupted_until: Vec<Instant>,
    samples: Option<Vec<AccessSample>>,
}

impl Access {
    /// A system whose terminals, where they contend for slots, choose each by its own stream of `chance`, which has one
    /// for each terminal then.
    ///
    /// # Panics
    /// If there is no terminal, an interval is zero, the permanent slots are more than the carriers have beside those
    /// for requests, or terminals that contend lack streams.
    pub fn new(config: AccessConfig, chance: Vec<Stream>) -> Self {
        assert!(!config.terminals.is_empty(), "somebody sends on the carriers");
        assert!(!config.ask_every.is_zero() && !config.plan_every.is_zero(), "intervals pass");
        let controller = Controller::new(&config);
        let terminals: Vec<Terminal> =
            config.terminals.iter().map(|terminal| Terminal::new(*terminal, &config)).collect();
        let granted =
            |terminal: &TerminalConfig| Grant { slots: terminal.permanent_slots, ..Grant::default() };
        let permanent = config.terminals.iter().map(granted).collect();
        let placed = controller.place_permanent();
        let request_slots = match config.requests {
            AccessRequests::Assigned | AccessRequests::Piggybacked => None,
            AccessRequests::Contention(contention) => {
                assert_eq!(chance.len(), terminals.len(), "each terminal chooses by itself");
                Some(RequestSlots::new(contention, config.frame, config.answer_time(), chance))
            }
        };
        let sent = vec![Sent::default(); terminals.len()];
        let interrupted_until = vec![Instant::START; terminals.len()];
        Self {
            config,
            terminals,
            controller,
            requests: VecDeque::new(),
            request_slots,
            sent,
            turns: 0,
            plans: 0,
            allocated: VecDeque::from([(Instant::START, permanent)]),
            placed,
            interrupted_until,
            samples: None,
        }
    }

    /// Keeps what terminals see and have whenever they look.
    pub fn record(&mut self) {
        self.samples = Some(Vec::new());
    }

    /// Takes the samples that were kept since this was last asked.
    pub fn take_samples(&mut self) -> Vec<AccessSample> {
        self.samples.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Gives each terminal what it has for good.
    pub fn begin(&mut self, links: &mut Links<'_>) {
        for (terminal, bursts) in self.config.terminals.iter().zip(&self.placed) {
            links.allocate(terminal.direction, Instant::START, *bursts);
        }
    }

    /// Gives the instant at which the next terminal has its turn. The first does so an interval after the start.
    fn next_turn(&self) -> Instant {
        let terminals = self.terminals.len() as u64;
        let (rounds, place) = (self.turns / terminals, self.turns % terminals);
        let interval = u128::from(self.config.ask_every.as_nanos());
        let within = interval * u128::from(place) / u128::from(terminals);
        let nanos = interval * (u128::from(rounds) + 1) + within;
        Instant::START.saturating_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// Gives the instant at which the controller may make its next plan.
    fn next_plan(&self) -> Instant {
        let nanos = self.config.plan_every.as_nanos().saturating_mul(self.plans + 1);
        Instant::START.saturating_add(Duration::from_nanos(nanos))
    }

    /// Gives the instant at which something happens next.
    pub fn next_change(&self) -> Instant {
        let arrives = self.requests.front().map_or(Instant::FAR_FUTURE, |&(at, _, _)| at);
        let contends = self.request_slots.as_ref().map_or(Instant::FAR_FUTURE, RequestSlots::next);
        self.next_turn().min(self.next_plan()).min(arrives).min(contends)
    }

    /// Carries out all that is due by `now`: what arrives, then what is planned, then which requests are sent, then who
    /// looks.
    pub fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        while let Some((_, terminal, request)) = self.requests.pop_front_if(|(at, _, _)| *at <= now) {
            self.controller.handle_request(terminal, request);
        }
        if self.next_plan() <= now {
            self.plans += 1;
            self.plan(now, links);
        }
        self.contend(now);
        while self.next_turn() <= now {
            #[expect(clippy::cast_possible_truncation, reason = "a place among terminals")]
            let terminal = (self.turns % self.terminals.len() as u64) as usize;
            self.turns += 1;
            self.observe(now, terminal, links);
        }
    }

    fn plan(&mut self, now: Instant, links: &mut Links<'_>) {
        let Some(grants) = self.controller.plan() else { return };
        let AccessConfig { frame, processing, hop, lead, .. } = self.config;
        let heard = now.saturating_add(processing).saturating_add(hop);
        let from = frame.next_frame(heard.saturating_add(lead));
        let before = self.allocated.back();
        let slots: Vec<u32> = grants.iter().map(|&(slots, _)| slots).collect();
        let placed = placement::place(&slots, frame.slots, self.config.request_slots());
        for (place, terminal) in self.config.terminals.iter().enumerate() {
            let bursts = placed[place];
            let changes = before.is_none_or(|(_, before)| before[place].slots != slots[place]);
            if changes && !terminal.interruption.is_zero() {
                links.allocate(terminal.direction, from, SlotRuns::default());
                let resumes = frame.next_frame(from.saturating_add(terminal.interruption));
                links.allocate(terminal.direction, resumes, bursts);
                self.interrupted_until[place] = resumes;
            } else if bursts != self.placed[place] {
                links.allocate(terminal.direction, from.max(self.interrupted_until[place]), bursts);
            }
        }
        self.placed = placed;
        let grants = grants.iter().enumerate().map(|(place, &(slots, free))| {
            let carried_before = before.map_or(0, |before| self.carried_by(before, place, from));
            Grant { slots, free, carried_before }
        });
        let grants = grants.collect();
        self.allocated.push_back((from, grants));
    }

    /// Bytes that slots which a terminal had asked for have carried by `now`, under the plan that holds then.
    fn carried_by(&self, (from, grants): &(Instant, Vec<Grant>), place: usize, now: Instant) -> u64 {
        let frame = &self.config.frame;
        let frames = now.saturating_since(*from).as_nanos() / frame.length.as_nanos().max(1);
        grants[place].carried_by(self.config.terminals[place].permanent_slots, frames, frame)
    }

    /// Has the requests sent whose slots have come: one that is alone in its slot is heard.
    fn contend(&mut self, now: Instant) {
        let Some(request_slots) = &mut self.request_slots else { return };
        while let Some((at, contending)) = request_slots.take_due(now) {
            // Who has nothing to ask for any more leaves its slot to others.
            let asking: Vec<usize> =
                contending.into_iter().filter(|&place| self.terminals[place].has_request(at)).collect();
            let collide = asking.len() > 1;
            for place in asking {
                self.sent[place].requests += 1;
                if collide {
                    self.sent[place].collided += 1;
                    request_slots.repeat(at, place);
                } else if let Some(request) = self.terminals[place].take_request(at) {
                    self.requests.push_back((at.saturating_add(self.config.hop), place, request));
                }
            }
        }
    }

    fn observe(&mut self, now: Instant, place: usize, links: &mut Links<'_>) {
        while self.allocated.get(1).is_some_and(|&(from, _)| from <= now) {
            self.allocated.pop_front();
        }
        let holds = &self.allocated[0];
        let (slots, carried_bytes) = (holds.1[place].slots, self.carried_by(holds, place, now));
        let direction = self.config.terminals[place].direction;
        let demand: Demand = links.demand(direction);
        let terminal = &mut self.terminals[place];
        let seen = terminal.observe(now, demand, slots, carried_bytes);
        if let Some(request_slots) = &mut self.request_slots {
            if terminal.has_request(now) {
                request_slots.choose(now, place);
            }
        } else if (self.config.requests == AccessRequests::Assigned || slots > 0)
            && let Some(request) = terminal.take_request(now)
        {
            self.sent[place].requests += 1;
            self.requests.push_back((now.saturating_add(self.config.hop), place, request));
        }
        let Sent { requests, collided } = core::mem::take(&mut self.sent[place]);
        if let Some(samples) = &mut self.samples {
            samples.push(AccessSample {
                at: now,
                direction,
                offered_bytes: seen.offered_bytes,
                backlog_bytes: demand.backlog_bytes,
                asked_slots: seen.asked_slots,
                slots,
                requests,
                collided,
            });
        }
    }
}

/// A direction of some link.
#[cfg(test)]
fn any_direction() -> DirectionId {
    use slantpath_base::DataRate;
    use slantpath_net::{DirectionConfig, NetworkBuilder, QueueConfig, QueueLimit};

    let mut builder = NetworkBuilder::new();
    let ends = (builder.host("terminal"), builder.host("hub"));
    let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
    let config = DirectionConfig::new(DataRate::from_bits_per_sec(1), Duration::ZERO, queue);
    builder.link("satellite", ends.0, ends.1, config.clone(), config).forward()
}
