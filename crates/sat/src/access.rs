//! Satellite access with capacity on demand: MF-TDMA carriers, terminals that ask, and a controller that allocates.
//!
//! Terminals share carriers that are divided into frames and slots. Each has some slots for good (PAMA; CRA in
//! DVB-RCS2) and asks for more as it needs them (DAMA). What lies between need and capacity, the allocation time, is
//! not a parameter: it follows from when a terminal looks at what it has to send, the hop to the controller, when that
//! makes its next plan, what it takes for it, the hop back, and the frame from which on the plan holds.
//!
//! Terminals, [controller](controller) and the placement of bursts know no network; an [`Access`] carries what they
//! say to the links of one.

mod controller;
mod on_demand;
mod placement;
mod terminal;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant};
use slantpath_net::{Bursts, Demand, DirectionId, FrameConfig, Links};

use controller::Controller;
pub use on_demand::OnDemand;
use terminal::{Request, Terminal};

/// Carriers and the loop of asking and allocating.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessConfig {
    /// The frame of each carrier.
    pub frame: FrameConfig,
    /// How many carriers there are. A terminal sends on one at a time.
    pub carriers: u32,
    /// How often each terminal looks at its demand, and may ask. Terminals do so one after the other, evenly spread.
    pub ask_every: Duration,
    /// From a terminal to the controller, and back.
    pub hop: Duration,
    /// How often the controller makes a plan, if anything has changed.
    pub plan_every: Duration,
    /// What it takes to.
    pub processing: Duration,
    /// How long terminals have a plan before it holds; from the next frame on.
    pub lead: Duration,
    /// Those that send on the carriers.
    pub terminals: Vec<TerminalConfig>,
}

/// A terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalConfig {
    /// By which direction it sends.
    pub direction: DirectionId,
    /// Slots of each frame that it has for good.
    pub permanent_slots: u32,
    /// Slots of each frame that it has at most; no more than a carrier has.
    pub most_slots: u32,
    /// What it asks for.
    pub ask: Ask,
    /// How long it needs less before it asks for less: the most that it has needed meanwhile.
    pub release_after: Duration,
    /// How long it sends nothing from when on its number of slots is another.
    pub interruption: Duration,
}

/// What a terminal asks for.
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
}

/// What a terminal saw and had when it looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessSample {
    /// When.
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
}

/// An access system in a run.
#[derive(Clone, Debug)]
pub struct Access {
    config: AccessConfig,
    terminals: Vec<Terminal>,
    controller: Controller,
    /// What is on its way to the controller, with when it arrives.
    requests: VecDeque<(Instant, usize, Request)>,
    /// How often terminals have looked, all together.
    looks: u64,
    /// How many times the controller could have made a plan.
    plans: u64,
    /// Slots of each terminal by the plans that hold from these instants on, the first of which holds now.
    allocated: VecDeque<(Instant, Vec<u32>)>,
    samples: Option<Vec<AccessSample>>,
}

impl Access {
    /// # Panics
    /// If there is no terminal, an interval is zero, or the permanent slots are more than the carriers have.
    pub fn new(config: AccessConfig) -> Self {
        assert!(!config.terminals.is_empty(), "somebody sends on the carriers");
        assert!(!config.ask_every.is_zero() && !config.plan_every.is_zero(), "intervals pass");
        let controller = Controller::new(&config);
        let terminals = config.terminals.iter().map(|terminal| Terminal::new(*terminal, &config)).collect();
        let permanent = config.terminals.iter().map(|terminal| terminal.permanent_slots).collect();
        Self {
            config,
            terminals,
            controller,
            requests: VecDeque::new(),
            looks: 0,
            plans: 0,
            allocated: VecDeque::from([(Instant::START, permanent)]),
            samples: None,
        }
    }

    /// Keeps what terminals see and have whenever they look.
    pub fn record(&mut self) {
        self.samples = Some(Vec::new());
    }

    /// What was kept since this was last asked.
    pub fn take_samples(&mut self) -> Vec<AccessSample> {
        self.samples.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Gives each terminal what it has for good.
    pub fn begin(&mut self, links: &mut Links<'_>) {
        for (terminal, bursts) in self.config.terminals.iter().zip(self.controller.place_permanent()) {
            links.allocate(terminal.direction, Instant::START, bursts);
        }
    }

    /// When a terminal looks next. The first does so an interval after the start.
    fn next_look(&self) -> Instant {
        let terminals = self.terminals.len() as u64;
        let (rounds, place) = (self.looks / terminals, self.looks % terminals);
        let interval = u128::from(self.config.ask_every.as_nanos());
        let within = interval * u128::from(place) / u128::from(terminals);
        let nanos = interval * (u128::from(rounds) + 1) + within;
        Instant::START.saturating_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }

    /// When the controller may make its next plan.
    fn next_plan(&self) -> Instant {
        let nanos = self.config.plan_every.as_nanos().saturating_mul(self.plans + 1);
        Instant::START.saturating_add(Duration::from_nanos(nanos))
    }

    /// When something happens next.
    pub fn next_change(&self) -> Instant {
        let arrives = self.requests.front().map_or(Instant::FAR_FUTURE, |&(at, _, _)| at);
        self.next_look().min(self.next_plan()).min(arrives)
    }

    /// Carries out all that is due by `now`: what arrives, then what is planned, then who looks.
    pub fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        while let Some((_, terminal, request)) = self.requests.pop_front_if(|(at, _, _)| *at <= now) {
            self.controller.handle_request(terminal, request);
        }
        if self.next_plan() <= now {
            self.plans += 1;
            self.plan(now, links);
        }
        while self.next_look() <= now {
            #[expect(clippy::cast_possible_truncation, reason = "a place among terminals")]
            let terminal = (self.looks % self.terminals.len() as u64) as usize;
            self.looks += 1;
            self.look(now, terminal, links);
        }
    }

    fn plan(&mut self, now: Instant, links: &mut Links<'_>) {
        let Some(grants) = self.controller.plan() else { return };
        let AccessConfig { frame, processing, hop, lead, .. } = self.config;
        let heard = now.saturating_add(processing).saturating_add(hop);
        let from = frame.next_frame(heard.saturating_add(lead));
        let before = self.allocated.back().map(|(_, slots)| slots.clone()).unwrap_or_default();
        let placed = placement::place(&grants, frame.slots);
        for (place, (terminal, bursts)) in self.config.terminals.iter().zip(placed).enumerate() {
            let changes = before.get(place) != grants.get(place);
            if changes && !terminal.interruption.is_zero() {
                links.allocate(terminal.direction, from, Bursts::default());
                let resumes = frame.next_frame(from.saturating_add(terminal.interruption));
                links.allocate(terminal.direction, resumes, bursts);
            } else {
                links.allocate(terminal.direction, from, bursts);
            }
        }
        self.allocated.push_back((from, grants));
    }

    fn look(&mut self, now: Instant, place: usize, links: &mut Links<'_>) {
        while self.allocated.get(1).is_some_and(|&(from, _)| from <= now) {
            self.allocated.pop_front();
        }
        let slots = self.allocated.front().map_or(0, |(_, slots)| slots[place]);
        let direction = self.config.terminals[place].direction;
        let demand: Demand = links.demand(direction);
        let terminal = &mut self.terminals[place];
        let seen = terminal.look(now, demand, slots);
        if let Some(request) = seen.request {
            self.requests.push_back((now.saturating_add(self.config.hop), place, request));
        }
        if let Some(samples) = &mut self.samples {
            samples.push(AccessSample {
                at: now,
                direction,
                offered_bytes: seen.offered_bytes,
                backlog_bytes: demand.backlog_bytes,
                asked_slots: seen.asked_slots,
                slots,
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
