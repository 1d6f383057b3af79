//! The event-driven transmitter: it chooses the next packet only when the one before has been sent.
//!
//! For disciplines in which a packet's departure depends on what comes after it (priority), or that drop when
//! a packet leaves (CoDel), and for any discipline before a link that finds out what a packet takes, or when it
//! may leave, only as it is sent (repetition, compression, tokens, slots). What waits lies here. Each choice is
//! due at a known instant, when the transmitter falls idle while something waits; [`run`](Scheduler::run) makes
//! all that are due. Where several things happen at one instant, the choice comes before what is offered then,
//! as a departure does in the closed form.

use slantpath_base::{DataRate, Duration, Instant};

use crate::address_names::AddressNames;
use crate::link::admission::{QueueLimit, Waiting};
use crate::link::arq::{Arq, Frame};
use crate::link::counters::DropReason;
use crate::link::frames::{Frames, SlotRuns};
use crate::link::header_compression::Compressor;
use crate::link::lane::{Lane, Outlet};
use crate::link::occupancy::{Occupancy, QueueStatistics, Waits};
use crate::link::queue::{Discipline, PortTerms, QueueConfig};
use crate::link::sending::SendingConfig;
use crate::link::service::{Service, Transmission};
use crate::link::shaper::Shaper;
use crate::link::transmitter::State;
use crate::parcel::{Fate, Parcel};
use crate::probe::QueueProbe;

#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    discipline: Discipline,
    limit: QueueLimit,
    /// Number of packets queued in all classes.
    packets: u64,
    bytes: u64,
    /// Instant at which the last transmission ends or ended.
    free_at: Instant,
    state: State,
    service: Service,
    sending: Sending,
    occupancy: Occupancy,
    pub(crate) probe: Option<Box<QueueProbe>>,
}

/// A [`SendingConfig`] with its state.
#[derive(Clone, Debug)]
enum Sending {
    Compressed(Box<Compressor>),
    InFrames {
        frames: Box<Frames>,
        /// Bytes that the link puts around each packet.
        overhead_bytes: u32,
    },
    Plain,
    Repeated(Box<Arq>),
    Shaped {
        shaper: Box<Shaper>,
        /// The packet whose turn it is, until it has its tokens. It counts among those that wait, and none overtakes
        /// it.
        held: Option<(Instant, Parcel)>,
    },
}

impl Scheduler {
    /// One whose queue has this discipline.
    pub(crate) fn new(service: Service, queue: &QueueConfig, port: &PortTerms<'_>) -> Self {
        Self {
            discipline: Discipline::of(queue, port),
            limit: queue.limit(),
            packets: 0,
            bytes: 0,
            free_at: Instant::START,
            state: State::Up,
            service,
            sending: Sending::Plain,
            occupancy: Occupancy::default(),
            probe: None,
        }
    }

    /// Has flows told apart by what these call their addresses.
    pub(crate) fn name_addresses(&mut self, names: &AddressNames) {
        self.discipline.name_addresses(names);
    }

    /// Has packets be sent this way. In frames, the link puts so many bytes around each.
    pub(crate) fn sending(mut self, config: SendingConfig, overhead_bytes: u32) -> Self {
        self.sending = match config {
            SendingConfig::Compressed(config) => Sending::Compressed(Box::new(Compressor::new(config))),
            SendingConfig::InFrames(config) => {
                Sending::InFrames { frames: Box::new(Frames::new(config)), overhead_bytes }
            }
            SendingConfig::Plain => Sending::Plain,
            SendingConfig::Repeated(config) => Sending::Repeated(Box::new(Arq::new(config))),
            SendingConfig::Shaped(config) => {
                Sending::Shaped { shaper: Box::new(Shaper::new(config)), held: None }
            }
        };
        self
    }

    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// Instant at which the next packet is to be chosen; [`Instant::FAR_FUTURE`] while none waits.
    #[inline]
    pub(crate) fn next_choice(&self) -> Instant {
        match &self.sending {
            _ if self.state == State::Down => Instant::FAR_FUTURE,
            Sending::InFrames { frames, .. } => self.next_in(frames),
            Sending::Shaped { held: Some((until, _)), .. } => self.free_at.max(*until),
            _ if self.packets > 0 => self.free_at,
            Sending::Repeated(arq) => self.free_at.max(arq.next_due()),
            Sending::Compressed(_) | Sending::Plain | Sending::Shaped { .. } => Instant::FAR_FUTURE,
        }
    }

    fn frames(&self) -> Option<&Frames> {
        if let Sending::InFrames { frames, .. } = &self.sending { Some(frames) } else { None }
    }

    fn frames_mut(&mut self) -> Option<&mut Frames> {
        if let Sending::InFrames { frames, .. } = &mut self.sending { Some(frames) } else { None }
    }

    fn arq_mut(&mut self) -> Option<&mut Arq> {
        if let Sending::Repeated(arq) = &mut self.sending { Some(arq) } else { None }
    }

    /// The packet that waits for its tokens, and until when.
    fn held(&self) -> Option<(Instant, Parcel)> {
        if let Sending::Shaped { held, .. } = &self.sending { *held } else { None }
    }

    fn take_held(&mut self) -> Option<Parcel> {
        let Sending::Shaped { held, .. } = &mut self.sending else { return None };
        held.take().map(|(_, parcel)| parcel)
    }

    /// Instant at which a packet has been sent in frames, or else the next can be.
    fn next_in(&self, frames: &Frames) -> Instant {
        match frames.completion() {
            Some(completion) => completion,
            None if self.packets > 0 => frames.opportunity(self.free_at),
            None => Instant::FAR_FUTURE,
        }
    }

    /// Makes every choice that is due by `now`, and says when the next one is.
    pub(crate) fn run(&mut self, now: Instant, outlet: &mut Outlet<'_>) -> Instant {
        let mut at = self.next_choice();
        while at <= now {
            self.count_waits(at);
            if let Some((parcel, start)) = self.frames_mut().and_then(Frames::take_sent) {
                self.free_at = at;
                outlet.carry(Transmission { start, end: at }, parcel);
            } else if let Some(parcel) = self.take_held() {
                self.count_out(parcel);
                self.shape(at, parcel, outlet);
            } else if let Some(frame) = self.arq_mut().and_then(|arq| arq.take_due(at)) {
                self.repeat(at, frame, outlet);
            } else if let Some(parcel) = self.choose(at, outlet) {
                self.shape(at, parcel, outlet);
            }
            self.observe(at);
            at = self.next_choice();
        }
        at
    }

    /// Returns a packet that is to be [offered](Self::offer), with a mark if the queue gives it one, or says why it may
    /// not be; no [choice](Self::run) is due.
    pub(crate) fn admit(
        &mut self,
        now: Instant,
        parcel: Parcel,
        outlet: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        if !self.discipline.decides_early() {
            return Ok(parcel);
        }
        let is_sending = self.frames().is_some_and(Frames::is_sending);
        let is_idle = self.state == State::Up && self.packets == 0 && self.free_at <= now && !is_sending;
        let waiting = Waiting {
            packets: self.packets,
            bytes: self.bytes,
            idle_since: is_idle.then_some(self.free_at),
            // It is told when the packet leaves.
            start: Instant::FAR_FUTURE,
        };
        self.discipline.admit(now, parcel, waiting, &self.service, outlet)
    }

    /// Takes a packet in, or says why not; no [choice](Self::run) is due. What becomes of one that waits is not known
    /// yet.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        parcel: Parcel,
        outlet: &mut Outlet<'_>,
    ) -> Result<Fate, DropReason> {
        // Where others wait for a slot, that is known.
        if self.packets == 0
            && let Some(frames) = self.frames_mut()
        {
            frames.seek(now);
        }
        if self.is_idle(now) {
            if !self.has_tokens(now, parcel) && !self.admits(parcel) {
                return Err(DropReason::QueueFull);
            }
            self.free_at = now;
            self.push(now, parcel, outlet);
            let fate = self.choose(now, outlet).map(|parcel| self.shape(now, parcel, outlet));
            return Ok(fate.expect("a packet that has not waited leaves at once"));
        }
        if !self.admits(parcel) {
            return Err(DropReason::QueueFull);
        }
        self.count_waits(now);
        if self.packets == 0 && self.frames().is_some_and(|frames| !frames.is_sending()) {
            // It waits for a slot, and not for a packet.
            self.free_at = self.free_at.max(now);
        }
        self.push(now, parcel, outlet);
        let is_kept = self.make_room(now, parcel, outlet);
        self.occupancy.note_peak(self.packets, self.bytes);
        self.observe(now);
        if is_kept { Ok(Fate::Arrives) } else { Err(DropReason::QueueFull) }
    }

    /// Tells if a packet that comes now has its tokens, if it needs any.
    fn has_tokens(&self, now: Instant, parcel: Parcel) -> bool {
        match &self.sending {
            Sending::Shaped { shaper, .. } => shaper.wait(now, u64::from(parcel.length())).is_zero(),
            _ => true,
        }
    }

    /// Tells if a packet that comes now is sent now.
    fn is_idle(&self, now: Instant) -> bool {
        let has_slot = match self.frames() {
            None => true,
            Some(frames) => !frames.is_sending() && self.packets == 0 && frames.opportunity(now) == now,
        };
        self.state == State::Up && self.free_at <= now && self.held().is_none() && has_slot
    }

    /// Tells if there is room for a packet in the queue: one that waits for tokens takes its place there as well.
    fn admits(&mut self, parcel: Parcel) -> bool {
        let held = self.held().map(|(_, held)| held);
        self.discipline.has_room(self.limit, parcel, held)
    }

    fn push(&mut self, now: Instant, parcel: Parcel, outlet: &Outlet<'_>) {
        self.discipline.push(now, parcel, outlet);
        self.packets += 1;
        self.bytes += u64::from(parcel.length());
    }

    /// Has a discipline that drops what waits, and not what comes, keep to its limit. Returns whether the packet that
    /// has come is not dropped itself; it stays with the caller.
    fn make_room(&mut self, now: Instant, arrival: Parcel, outlet: &mut Outlet<'_>) -> bool {
        if !self.discipline.makes_room() {
            return true;
        }
        // The arrival is counted already.
        if self.limit.admits(
            self.packets.saturating_sub(1),
            self.bytes - u64::from(arrival.length()),
            arrival.length(),
        ) {
            return true;
        }
        let mut is_kept = true;
        for parcel in self.discipline.take_excess() {
            self.packets -= 1;
            self.bytes -= u64::from(parcel.length());
            if parcel.packet() == arrival.packet() {
                is_kept = false;
            } else {
                outlet.drop_accepted(now, parcel, DropReason::QueueFull);
            }
        }
        is_kept
    }

    /// Takes the packet off that is sent next, if one is left.
    fn choose(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        let chosen = if self.discipline.drops_waiting() {
            self.choose_by_wait(at, outlet)
        } else {
            self.discipline.pop(at, outlet)
        };
        if let Some(parcel) = chosen {
            self.count_out(parcel);
        }
        chosen
    }

    /// Variant of [`choose`](Self::choose) for disciplines that drop packets which have waited for too long.
    fn choose_by_wait(&mut self, at: Instant, outlet: &mut Outlet<'_>) -> Option<Parcel> {
        // By the law of CoDel, or by that of a queue from elsewhere.
        let reasons = [DropReason::CoDel, DropReason::Early];
        let dropped_before = reasons.map(|reason| outlet.counters.dropped(reason));
        let chosen = self.discipline.pop(at, outlet);
        for (reason, before) in reasons.into_iter().zip(dropped_before) {
            let dropped = outlet.counters.dropped(reason);
            self.packets -= dropped.packets - before.packets;
            self.bytes -= dropped.bytes - before.bytes;
        }
        chosen
    }

    fn count_out(&mut self, parcel: Parcel) {
        self.packets -= 1;
        self.bytes -= u64::from(parcel.length());
    }

    /// Transmits the packet whose turn it is, or keeps it until it has its tokens.
    fn shape(&mut self, at: Instant, parcel: Parcel, outlet: &mut Outlet<'_>) -> Fate {
        if let Sending::Shaped { shaper, held } = &mut self.sending
            && let Err(until) = shaper.take(at, parcel.length())
        {
            *held = Some((until, parcel));
            self.count_waits(at);
            self.packets += 1;
            self.bytes += u64::from(parcel.length());
            self.occupancy.note_peak(self.packets, self.bytes);
            self.observe(at);
            return Fate::Arrives;
        }
        self.transmit(at, parcel, outlet)
    }

    fn transmit(&mut self, at: Instant, parcel: Parcel, outlet: &mut Outlet<'_>) -> Fate {
        match &mut self.sending {
            Sending::Compressed(compressor) => {
                let packet = outlet.packets.packet(parcel.packet());
                let encoded = compressor.encode(at, packet, parcel);
                let transmission = Transmission { start: at, end: self.service.finish(at, encoded.bytes) };
                let fate = compressor.send(encoded, transmission, parcel, outlet);
                self.occupy_until(at, transmission.end);
                fate
            }
            Sending::InFrames { frames, overhead_bytes } => {
                let bytes = u64::from(parcel.length()) + u64::from(*overhead_bytes);
                frames.begin(at, parcel, bytes);
                self.occupancy.waits.busy += frames.time_of(bytes);
                Fate::Arrives
            }
            Sending::Plain | Sending::Shaped { .. } => {
                let transmission = self.occupy(at, parcel.length());
                outlet.carry(transmission, parcel)
            }
            Sending::Repeated(arq) => {
                let frame = arq.first(parcel);
                self.repeat(at, frame, outlet);
                Fate::Arrives
            }
        }
    }

    fn repeat(&mut self, at: Instant, frame: Frame, outlet: &mut Outlet<'_>) {
        let transmission = self.occupy(at, frame.length());
        if let Some(arq) = self.arq_mut() {
            arq.send(frame, transmission, outlet);
        }
    }

    fn occupy(&mut self, at: Instant, length: u32) -> Transmission {
        let end = self.service.finish(at, length);
        self.occupy_until(at, end);
        Transmission { start: at, end }
    }

    fn occupy_until(&mut self, at: Instant, end: Instant) {
        self.free_at = end;
        self.occupancy.waits.busy += end - at;
    }

    fn count_waits(&mut self, at: Instant) {
        self.occupancy.count_until(at, self.packets, self.bytes);
    }

    /// The rest of the transmission at `now`: in frames, the slots that it still takes.
    fn busy_to_come(&self, now: Instant) -> Waits {
        Waits::of_transmission(match self.frames() {
            None => self.free_at.saturating_since(now),
            Some(frames) => frames.time_of(frames.left_bytes(now)),
        })
    }

    /// Rate at which packets leave in the long run: in frames that of the slots that it has at `now`, and no more than
    /// a shaper lets through.
    pub(crate) fn rate_at(&self, now: Instant) -> DataRate {
        match &self.sending {
            Sending::InFrames { frames, .. } => frames.rate_at(now),
            Sending::Shaped { shaper, .. } => shaper.rate().min(self.service.rate()),
            Sending::Compressed(_) | Sending::Plain | Sending::Repeated(_) => self.service.rate(),
        }
    }

    pub(crate) fn set_rate(&mut self, rate: DataRate) {
        self.service.set_rate(rate);
    }

    /// Comes up; what waits is sent from `now` on.
    pub(crate) fn set_up(&mut self, now: Instant) {
        self.state = State::Up;
        self.free_at = now;
    }

    /// Cuts the packet in transmission off; what waits goes on waiting.
    pub(crate) fn set_down(&mut self, now: Instant) {
        self.count_waits(now);
        self.occupancy.waits = self.occupancy.waits.minus(self.busy_to_come(now));
        self.free_at = self.free_at.min(now);
        self.state = State::Down;
        if let Sending::Compressed(compressor) = &mut self.sending {
            compressor.reset();
        }
    }

    /// Takes out what is held back at the far end of the transmission that ends after `now`.
    pub(crate) fn cut_off(&mut self, now: Instant) -> Option<Parcel> {
        let busy_to_come = self.busy_to_come(now);
        match &mut self.sending {
            Sending::InFrames { frames, .. } => {
                self.occupancy.waits = self.occupancy.waits.minus(busy_to_come);
                frames.cut_off()
            }
            Sending::Repeated(arq) => arq.cut_off(now),
            Sending::Compressed(_) | Sending::Plain | Sending::Shaped { .. } => None,
        }
    }

    /// Has what is repeated from now on go to another receiver, which has no context of any flow.
    pub(crate) fn change_receiver(&mut self, now: Instant, lane: &mut Lane) {
        match &mut self.sending {
            Sending::Compressed(compressor) => compressor.reset(),
            Sending::Repeated(arq) => arq.change_receiver(now, lane),
            Sending::InFrames { .. } | Sending::Plain | Sending::Shaped { .. } => {}
        }
    }

    /// Takes all out that waits, first what is to be repeated, then what has waited for tokens.
    pub(crate) fn take_waiting(&mut self, now: Instant, lane: &mut Lane) -> Vec<Parcel> {
        self.count_waits(now);
        (self.packets, self.bytes) = (0, 0);
        let taken = self.discipline.take();
        let held = self.take_held();
        let repeats = self.arq_mut().map(|arq| arq.take_repeats(now, lane));
        let taken = repeats.into_iter().flatten().chain(held).chain(taken).collect();
        self.observe(now);
        taken
    }

    /// Has it have these slots of its frames from `from` on.
    pub(crate) fn allocate(&mut self, now: Instant, from: Instant, bursts: SlotRuns) {
        if let Sending::InFrames { frames, .. } = &mut self.sending {
            frames.allocate(now, from, bursts);
            if !frames.is_sending() {
                // What was there for it to send before has been sent.
                self.free_at = self.free_at.max(now);
            }
        }
    }

    /// Bytes that the link puts around each packet that is sent in frames.
    pub(crate) const fn overhead_bytes(&self) -> u32 {
        match self.sending {
            Sending::InFrames { overhead_bytes, .. } => overhead_bytes,
            _ => 0,
        }
    }

    /// Bytes that are to be sent, with what the link puts around each packet.
    pub(crate) fn backlog_bytes(&self, now: Instant) -> u64 {
        let at_hand = self.frames().map_or(0, |frames| frames.left_bytes(now));
        self.waiting_bytes() + at_hand
    }

    /// Bytes of what waits, with what the link puts around each packet in frames.
    fn waiting_bytes(&self) -> u64 {
        self.bytes + self.packets * u64::from(self.overhead_bytes())
    }

    /// Packets that are to be repeated, and their bytes.
    pub(crate) fn to_repeat(&self) -> (u64, u64) {
        if let Sending::Repeated(arq) = &self.sending { arq.waiting() } else { (0, 0) }
    }

    /// Time that a packet that comes at `now` waits, if all that is queued is sent before it.
    pub(crate) fn wait_at(&self, now: Instant) -> Duration {
        if let Some(frames) = self.frames() {
            return frames.sent_at(now, self.waiting_bytes()).saturating_since(now);
        }
        let length = u32::try_from(self.bytes).unwrap_or(u32::MAX);
        let waiting = if length == 0 { Duration::ZERO } else { self.service.time_to_send(length) };
        let of_tokens = match &self.sending {
            Sending::Shaped { shaper, .. } => shaper.wait(now, self.bytes),
            _ => Duration::ZERO,
        };
        self.free_at.saturating_since(now).saturating_add(waiting).max(of_tokens)
    }

    /// Packets that wait for the first time, without the one that is being transmitted, and their bytes.
    pub(crate) const fn waiting(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn observe(&mut self, now: Instant) {
        if let Some(probe) = &mut self.probe {
            probe.observe(now, self.packets, self.bytes);
        }
    }

    pub(crate) fn restart_statistics(&mut self, now: Instant) {
        self.occupancy.restart(now, self.busy_to_come(now), self.packets, self.bytes);
    }

    pub(crate) fn statistics(&mut self, now: Instant) -> QueueStatistics {
        self.count_waits(now);
        self.occupancy.statistics(now, self.busy_to_come(now))
    }

    /// Variant of [`statistics`](Self::statistics) over the time since this was last asked.
    pub(crate) fn end_window(&mut self, now: Instant) -> QueueStatistics {
        self.count_waits(now);
        let to_come = self.busy_to_come(now);
        self.occupancy.end_window(now, to_come, self.packets, self.bytes)
    }
}
