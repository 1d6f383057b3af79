//! One terminal of a signalling link: the procedures of Q.703 put together.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, TimerTable};

use super::alignment::{ALIGNMENT, AlignmentAction, AlignmentInput, AlignmentState};
use super::config::{Config, ConfigError};
use super::counters::Counters;
use super::link_state::{LINK_STATE, LinkAction, LinkInput, LinkState};
use super::monitor::ErrorMonitor;
use super::receiver::{Receiver, Reception};
use super::sender::{Acknowledgement, Sender};
use super::unit::{Header, LinkStatus, SignalUnit};
use crate::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use crate::mtp3::Fsn;

/// A unit on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// What.
    pub unit: SignalUnit,
    /// When its first bit is sent: now.
    pub start: Instant,
    /// When its last bit has been sent.
    pub end: Instant,
    /// Whether it is sent again and again until the next transmission.
    pub repeats: bool,
}

/// What a terminal wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Level 3 is to be told.
    Indication(LinkIndication),
    /// A unit goes on the line.
    Transmit(Transmission),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

/// Timers of Q.703, section 12.3, as slots.
#[derive(Clone, Copy)]
enum Timer {
    T1,
    T2,
    T3,
    T4,
    T5,
    T6,
    T7,
}

const TIMERS: [Timer; 7] = [Timer::T1, Timer::T2, Timer::T3, Timer::T4, Timer::T5, Timer::T6, Timer::T7];

/// What is sent when there is no message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    FillIn,
    Status(LinkStatus),
}

/// Who cannot be served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outages {
    local: bool,
    remote: bool,
}

/// Our direction of the line.
#[derive(Clone, Debug)]
struct Line {
    /// Until when the unit now being sent, or its first copy, takes.
    first_end: Instant,
    /// What repeats after that, and its period.
    repeating: Option<(SignalUnit, Duration)>,
}

impl Line {
    /// When the next unit can begin, from `now` on.
    fn next_boundary(&self, now: Instant) -> Instant {
        next_end(self.first_end, self.repeating.as_ref().map(|(_, period)| *period), now)
    }
}

/// The peer's direction of the line.
#[derive(Clone, Debug)]
struct Heard {
    /// When the last unit told of had come.
    last_end: Instant,
    /// What has repeated since, and its period.
    repeating: Option<(SignalUnit, Duration)>,
    /// When the copy ends that a new state has to read.
    read_again: Option<Instant>,
}

/// The first end of a unit at or after `now`: the first one's, or that of a copy.
fn next_end(first: Instant, period: Option<Duration>, now: Instant) -> Instant {
    match period {
        Some(period) if now > first => {
            let copies = (now - first).as_nanos().div_ceil(period.as_nanos());
            first + period * copies
        }
        _ => first.max(now),
    }
}

/// A terminal.
#[derive(Clone, Debug)]
pub struct Link {
    config: Config,
    state: LinkState,
    alignment: AlignmentState,
    /// Level 3 wants the emergency proving period.
    wants_emergency: bool,
    /// It holds: level 3 or the peer wants it.
    is_emergency: bool,
    proving_attempts_left: u32,
    outages: Outages,
    failure: OutOfServiceReason,
    fill: Fill,
    /// Reception is congested: the backward number stays at this value, and SIB is sent.
    busy_since: Option<u8>,
    is_sib_due: bool,
    sender: Sender,
    receiver: Receiver,
    monitor: ErrorMonitor,
    timers: TimerTable<7>,
    line: Line,
    heard: Heard,
    congestion: u8,
    indications: VecDeque<LinkIndication>,
    counters: Counters,
}

impl Link {
    /// A terminal that is out of service and sends SIOS.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            state: LINK_STATE.initial,
            alignment: ALIGNMENT.initial,
            wants_emergency: false,
            is_emergency: false,
            proving_attempts_left: 0,
            outages: Outages::default(),
            failure: OutOfServiceReason::Stopped,
            fill: Fill::Status(LinkStatus::OutOfService),
            busy_since: None,
            is_sib_due: false,
            sender: Sender::new(config.error_correction),
            receiver: Receiver::new(config.error_correction),
            monitor: ErrorMonitor::new(&config),
            timers: TimerTable::default(),
            line: Line { first_end: Instant::START, repeating: None },
            heard: Heard { last_end: Instant::START, repeating: None, read_again: None },
            congestion: 0,
            indications: VecDeque::new(),
            counters: Counters::default(),
            config,
        })
    }

    /// Where the link stands.
    pub const fn state(&self) -> LinkState {
        self.state
    }

    /// What has been counted.
    pub fn counters(&self) -> Counters {
        Counters {
            negative_acknowledgements_sent: self.receiver.negative_acknowledgements(),
            forced_retransmissions: self.sender.forced_retransmissions(),
            ..self.counters
        }
    }

    /// Messages in the transmit and retransmit buffers.
    pub fn queued(&self) -> usize {
        self.sender.queued()
    }

    /// Level 3 asks for something.
    pub fn request(&mut self, now: Instant, request: LinkRequest) {
        match request {
            LinkRequest::Start => self.link_input(now, LinkInput::Start),
            LinkRequest::Stop => self.link_input(now, LinkInput::Stop),
            LinkRequest::Emergency => {
                self.wants_emergency = true;
                self.is_emergency = true;
                self.alignment_input(now, AlignmentInput::Emergency);
            }
            LinkRequest::EmergencyCeases => self.wants_emergency = false,
            LinkRequest::LocalProcessorOutage => {
                self.outages.local = true;
                self.link_input(now, LinkInput::LocalOutage);
            }
            LinkRequest::LocalProcessorRecovered => {
                self.outages.local = false;
                let is_alone = !self.outages.remote;
                self.link_input(
                    now,
                    if is_alone { LinkInput::LocalRecoveredAlone } else { LinkInput::LocalRecovered },
                );
            }
            LinkRequest::Continue => self.go_on(now),
            LinkRequest::FlushBuffers => {
                self.counters.flushed += self.sender.flush() as u64;
                self.timers.stop(Timer::T7 as usize);
                self.tell_congestion();
                self.go_on(now);
            }
            LinkRequest::RetrieveBsnt => {
                self.indications.push_back(LinkIndication::Bsnt(Fsn(self.receiver.bsn().into())));
            }
            LinkRequest::RetrieveMessagesAfter(Fsn(fsn)) => {
                let taken = u8::try_from(fsn).ok().filter(|fsn| *fsn < 128);
                match taken.and_then(|fsn| self.sender.take_after(fsn)) {
                    Some(messages) => self.hand_back(messages),
                    None => self.indications.push_back(LinkIndication::RetrievalNotPossible),
                }
            }
            LinkRequest::RetrieveUnsent => {
                let messages = self.sender.take_waiting();
                self.hand_back(messages);
            }
            LinkRequest::Transmit(body) => self.transmit(body),
        }
    }

    fn hand_back(&mut self, messages: Vec<bytes::Bytes>) {
        self.indications.extend(messages.into_iter().map(LinkIndication::Retrieved));
        self.indications.push_back(LinkIndication::RetrievalComplete);
        self.tell_congestion();
    }

    fn go_on(&mut self, now: Instant) {
        if self.outages == Outages::default() {
            self.link_input(now, LinkInput::ContinueNoOutage);
        }
    }

    fn transmit(&mut self, body: bytes::Bytes) {
        self.counters.messages_given += 1;
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            self.counters.refused_out_of_service += 1;
        } else if self.sender.waiting() >= self.config.transmit_buffer {
            self.counters.refused_buffer_full += 1;
        } else {
            self.sender.queue(body);
            self.tell_congestion();
        }
    }

    /// Tells a congestion level that has changed: onset at the thresholds, abatement at three quarters of them.
    fn tell_congestion(&mut self) {
        let queued = self.sender.queued();
        let onset = self.config.congestion_onset;
        let mut level = usize::from(self.congestion);
        while level < onset.len() && queued >= onset[level] {
            level += 1;
        }
        while level > 0 && queued < onset[level - 1] - onset[level - 1] / 4 {
            level -= 1;
        }
        let level = u8::try_from(level).expect("there are three levels");
        if level != self.congestion {
            self.congestion = level;
            self.indications.push_back(LinkIndication::Congestion(level));
        }
    }

    /// Reception is congested, or no longer: messages are still accepted, but not acknowledged, and SIB is sent every
    /// T5 (Q.703, section 9).
    pub fn set_busy(&mut self, now: Instant, is_busy: bool) {
        if !is_busy {
            self.busy_since = None;
            self.is_sib_due = false;
            self.timers.stop(Timer::T5 as usize);
        } else if self.busy_since.is_none() && self.state == LinkState::InService {
            self.busy_since = Some(self.receiver.bsn());
            self.is_sib_due = true;
            self.start(now, Timer::T5, self.config.t5);
        }
    }

    /// The bearer has failed: there is no signal any more.
    pub fn handle_bearer_failure(&mut self, now: Instant) {
        self.fail(now, OutOfServiceReason::BearerFailed);
    }

    /// A damaged unit came.
    pub fn handle_errored_unit(&mut self, now: Instant) {
        self.counters.errored_units += 1;
        let period = self.heard.repeating.as_ref().map_or(Duration::ZERO, |(_, period)| *period);
        self.count_units(now, period);
        self.heard.last_end = now;
        if !self.monitor.count_error() {
            return;
        }
        if self.alignment == AlignmentState::Proving {
            self.proving_attempts_left -= 1;
            let is_last = self.proving_attempts_left == 0;
            let input = if is_last {
                AlignmentInput::ErrorRateHighLastAttempt
            } else {
                AlignmentInput::ErrorRateHigh
            };
            self.alignment_input(now, input);
        } else {
            self.fail(now, OutOfServiceReason::BearerFailed);
        }
    }

    /// A good unit came; it repeats from now on with this period, or it does not.
    pub fn handle_unit(&mut self, now: Instant, unit: SignalUnit, repeats: Option<Duration>) {
        let duration = self.config.time_of(unit.octets_on_line());
        self.count_units(now, duration);
        self.heard = Heard { last_end: now, repeating: None, read_again: None };
        if let Some(period) = repeats {
            self.heard.repeating = Some((unit.clone(), period));
        }
        self.read(now, unit);
    }

    /// Counts the units since the last one that was told of: copies of what repeats, and this one.
    fn count_units(&mut self, now: Instant, duration: Duration) {
        let copies = match &self.heard.repeating {
            Some((_, period)) => {
                let between = (now - self.heard.last_end).as_nanos().saturating_sub(duration.as_nanos());
                between / period.as_nanos()
            }
            None => 0,
        };
        self.monitor.count_units(copies + 1);
    }

    fn read(&mut self, now: Instant, unit: SignalUnit) {
        let header = unit.header();
        match unit {
            SignalUnit::Status(_, status) => self.read_status(now, header, status),
            SignalUnit::FillIn(_) => {
                self.link_input_from_peer(now);
                self.read_numbers(now, header, None);
            }
            SignalUnit::Message { body, .. } => {
                self.link_input_from_peer(now);
                self.read_numbers(now, header, Some(body));
            }
        }
    }

    fn link_input_from_peer(&mut self, now: Instant) {
        if self.alignment == AlignmentState::Idle {
            self.link_input(now, LinkInput::FillInOrMessage);
        }
    }

    fn read_status(&mut self, now: Instant, header: Header, status: LinkStatus) {
        let (link, alignment) = match status {
            LinkStatus::OutOfAlignment => (LinkInput::PeerLeaves, Some(AlignmentInput::Sio)),
            LinkStatus::OutOfService => (LinkInput::PeerLeaves, Some(AlignmentInput::Sios)),
            LinkStatus::Normal => (LinkInput::PeerProves, Some(AlignmentInput::Sin)),
            LinkStatus::Emergency => (LinkInput::PeerProves, Some(AlignmentInput::Sie)),
            LinkStatus::ProcessorOutage => (LinkInput::Sipo, None),
            LinkStatus::Busy => {
                self.read_busy(now, header);
                return;
            }
        };
        match alignment {
            Some(input) if self.alignment != AlignmentState::Idle => self.alignment_input(now, input),
            _ => self.link_input(now, link),
        }
        if status == LinkStatus::ProcessorOutage {
            self.read_acknowledgement(now, header);
        }
    }

    /// SIB: acknowledgements are withheld on purpose, for at most T6.
    fn read_busy(&mut self, now: Instant, header: Header) {
        if self.state != LinkState::InService {
            return;
        }
        self.read_acknowledgement(now, header);
        if self.sender.has_unacknowledged() {
            self.start(now, Timer::T7, self.config.t7);
        }
        if !self.timers.is_running(Timer::T6 as usize) {
            self.start(now, Timer::T6, self.config.t6);
        }
    }

    fn read_numbers(&mut self, now: Instant, header: Header, message: Option<bytes::Bytes>) {
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            self.counters.discarded_not_in_service += u64::from(message.is_some());
            return;
        }
        if self.timers.is_running(Timer::T6 as usize) && self.busy_has_ended(header) {
            self.timers.stop(Timer::T6 as usize);
        }
        if !self.read_acknowledgement(now, header) {
            return;
        }
        if self.state == LinkState::ProcessorOutage {
            self.counters.discarded_not_in_service += u64::from(message.is_some());
            return;
        }
        match self.receiver.handle(header, message.is_some()) {
            Reception::Accepted => {
                self.counters.messages_received += 1;
                self.indications.extend(message.map(LinkIndication::Received));
            }
            Reception::Repeated => self.counters.discarded_repeated += 1,
            Reception::OutOfSequence => self.counters.discarded_out_of_sequence += 1,
            Reception::Nothing => {}
            Reception::Abnormal => self.fail(now, OutOfServiceReason::AbnormalSequence),
        }
    }

    /// Congestion at the peer has ended when it acknowledges again (Q.703, section 9.3).
    fn busy_has_ended(&self, header: Header) -> bool {
        !self.sender.has_unacknowledged()
            || self.sender.would_progress(header.bsn)
            || header.bib != self.sender.fib()
    }

    /// Reads the backward number and indicator; whether the unit may be read on.
    fn read_acknowledgement(&mut self, now: Instant, header: Header) -> bool {
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            return true;
        }
        match self.sender.acknowledge(header.bsn) {
            Acknowledgement::Nothing => {}
            Acknowledgement::Progress => {
                self.timers.stop(Timer::T7 as usize);
                self.await_acknowledgement(now);
                self.tell_congestion();
            }
            Acknowledgement::Unreasonable => return false,
            Acknowledgement::Abnormal => {
                self.fail(now, OutOfServiceReason::AbnormalSequence);
                return false;
            }
        }
        if self.sender.follow_indicator(header.bib) {
            self.counters.negative_acknowledgements_received += 1;
        }
        true
    }

    fn await_acknowledgement(&mut self, now: Instant) {
        let is_due = self.state == LinkState::InService && self.sender.has_unacknowledged();
        if is_due && !self.timers.is_running(Timer::T7 as usize) {
            self.start(now, Timer::T7, self.config.t7);
        }
    }

    fn fail(&mut self, now: Instant, reason: OutOfServiceReason) {
        self.failure = reason;
        self.link_input(now, LinkInput::Failure);
    }

    fn start(&mut self, now: Instant, timer: Timer, duration: Duration) {
        self.timers.start(timer as usize, now + duration);
    }

    fn link_input(&mut self, now: Instant, input: LinkInput) {
        let Some(row) = LINK_STATE.next(self.state, input) else { return };
        let has_changed = self.state != row.to;
        self.state = row.to;
        for action in row.actions {
            self.act_on_link(now, *action);
        }
        if has_changed {
            self.read_repeating_again(now);
        }
    }

    fn act_on_link(&mut self, now: Instant, action: LinkAction) {
        match action {
            LinkAction::IndicateOutOfService(reason) => {
                self.indications.push_back(LinkIndication::OutOfService(reason));
            }
            LinkAction::IndicateFailure => {
                self.indications.push_back(LinkIndication::OutOfService(self.failure));
            }
            LinkAction::IndicateInService => self.indications.push_back(LinkIndication::InService),
            LinkAction::IndicateRemoteOutage => {
                if !self.outages.remote {
                    self.outages.remote = true;
                    self.timers.stop(Timer::T7 as usize);
                    self.indications.push_back(LinkIndication::RemoteProcessorOutage);
                }
            }
            LinkAction::IndicateRemoteRecovered => {
                if self.outages.remote {
                    self.outages.remote = false;
                    self.indications.push_back(LinkIndication::RemoteProcessorRecovered);
                }
            }
            LinkAction::SendFillIn => {
                self.fill = Fill::FillIn;
                self.await_acknowledgement(now);
            }
            LinkAction::SendSios => self.fill = Fill::Status(LinkStatus::OutOfService),
            LinkAction::SendSipo => {
                self.timers.stop(Timer::T7 as usize);
                self.fill = Fill::Status(LinkStatus::ProcessorOutage);
            }
            LinkAction::StartAlignment => self.start_alignment(now),
            LinkAction::StopAlignment => self.alignment_input(now, AlignmentInput::Stop),
            LinkAction::StartMonitor => self.monitor.start_in_service(),
            LinkAction::StopMonitor => {
                self.monitor.stop();
                for timer in [Timer::T5, Timer::T6, Timer::T7] {
                    self.timers.stop(timer as usize);
                }
                self.busy_since = None;
                self.is_sib_due = false;
                self.outages.remote = false;
            }
            LinkAction::StartT1 => self.start(now, Timer::T1, self.config.t1),
            LinkAction::StopT1 => self.timers.stop(Timer::T1 as usize),
        }
    }

    fn start_alignment(&mut self, now: Instant) {
        self.counters.flushed += self.sender.flush() as u64;
        let forced = self.sender.forced_retransmissions();
        let asked = self.receiver.negative_acknowledgements();
        self.sender = Sender::new(self.config.error_correction).with_history(forced);
        self.receiver = Receiver::new(self.config.error_correction).with_history(asked);
        self.outages.remote = false;
        self.is_emergency = self.wants_emergency;
        self.proving_attempts_left = self.config.proving_attempts;
        self.tell_congestion();
        self.alignment_input(now, AlignmentInput::Start);
    }

    fn alignment_input(&mut self, now: Instant, input: AlignmentInput) {
        let Some(row) = ALIGNMENT.next(self.alignment, input) else { return };
        let has_changed = self.alignment != row.to;
        // A peer that goes on saying SIE changes nothing more once its wish is known.
        if !has_changed && input == AlignmentInput::Sie && self.is_emergency {
            return;
        }
        self.alignment = row.to;
        for action in row.actions {
            self.act_on_alignment(now, *action);
        }
        if has_changed {
            self.read_repeating_again(now);
        }
    }

    fn act_on_alignment(&mut self, now: Instant, action: AlignmentAction) {
        match action {
            AlignmentAction::Complete => {
                let input = if self.outages.local {
                    LinkInput::AlignmentCompleteLocalOutage
                } else {
                    LinkInput::AlignmentComplete
                };
                self.link_input(now, input);
            }
            AlignmentAction::NotPossible => self.link_input(now, LinkInput::AlignmentNotPossible),
            AlignmentAction::SendSinOrSie => {
                let status = if self.wants_emergency { LinkStatus::Emergency } else { LinkStatus::Normal };
                self.fill = Fill::Status(status);
            }
            AlignmentAction::SendSio => self.fill = Fill::Status(LinkStatus::OutOfAlignment),
            AlignmentAction::UseEmergencyPeriod => self.is_emergency = true,
            AlignmentAction::StartT2 => self.start(now, Timer::T2, self.config.t2),
            AlignmentAction::StartT3 => self.start(now, Timer::T3, self.config.t3),
            AlignmentAction::StartProving => {
                let (period, limit) = if self.is_emergency {
                    (self.config.t4_emergency, self.config.proving_errors_emergency)
                } else {
                    (self.config.t4_normal, self.config.proving_errors_normal)
                };
                self.start(now, Timer::T4, period);
                self.monitor.start_proving(limit);
            }
            AlignmentAction::StopT2 => self.timers.stop(Timer::T2 as usize),
            AlignmentAction::StopT3 => self.timers.stop(Timer::T3 as usize),
            AlignmentAction::StopProving => {
                self.timers.stop(Timer::T4 as usize);
                self.monitor.stop();
            }
        }
    }

    /// In a new state, what the peer repeats is news: the next whole copy is read.
    fn read_repeating_again(&mut self, now: Instant) {
        if let Some((_, period)) = &self.heard.repeating {
            let after = now + Duration::from_nanos(1);
            self.heard.read_again = Some(next_end(self.heard.last_end, Some(*period), after));
        }
    }

    fn expire(&mut self, now: Instant, timer: Timer) {
        match timer {
            Timer::T1 => self.link_input(now, LinkInput::T1Expired),
            Timer::T2 => self.alignment_input(now, AlignmentInput::T2Expired),
            Timer::T3 => self.alignment_input(now, AlignmentInput::T3Expired),
            Timer::T4 => self.alignment_input(now, AlignmentInput::T4Expired),
            Timer::T5 => {
                self.is_sib_due = true;
                self.start(now, Timer::T5, self.config.t5);
            }
            Timer::T6 => self.fail(now, OutOfServiceReason::PeerBusy),
            Timer::T7 => self.fail(now, OutOfServiceReason::AcknowledgementTimeout),
        }
    }

    /// What the terminal wants next. Deadlines that have come are worked off first.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        loop {
            if let Some(indication) = self.indications.pop_front() {
                return Output::Indication(indication);
            }
            if let Some(timer) = self.timers.take_expired(now) {
                self.expire(now, TIMERS[timer]);
                continue;
            }
            if self.heard.read_again.is_some_and(|at| at <= now) {
                self.heard.read_again = None;
                if let Some((unit, _)) = self.heard.repeating.clone() {
                    self.read(now, unit);
                }
                continue;
            }
            return self.poll_line(now);
        }
    }

    fn poll_line(&mut self, now: Instant) -> Output {
        let may_send_messages = self.state == LinkState::InService;
        let has_message = may_send_messages && self.sender.has_next();
        let has_single = has_message || self.is_sib_due;
        let filler = self.filler();
        let is_news = has_single || self.line.repeating.as_ref().is_none_or(|(unit, _)| *unit != filler);
        let boundary = self.line.next_boundary(now);
        if !is_news || boundary > now {
            let line = is_news.then_some(boundary);
            let deadlines = [line, self.timers.next_deadline(), self.heard.read_again];
            return Output::Wait(deadlines.into_iter().flatten().min());
        }
        let unit = if self.is_sib_due {
            self.is_sib_due = false;
            SignalUnit::Status(self.header(self.sender.fsn()), LinkStatus::Busy)
        } else if has_message {
            self.next_message(now)
        } else {
            filler
        };
        let period = self.config.time_of(unit.octets_on_line());
        let end = now + period;
        let repeating = (!has_single).then(|| (unit.clone(), period));
        self.line = Line { first_end: end, repeating };
        Output::Transmit(Transmission { unit, start: now, end, repeats: !has_single })
    }

    fn next_message(&mut self, now: Instant) -> SignalUnit {
        let sending = self.sender.next().expect("there is a message to send");
        if sending.is_first {
            self.counters.messages_sent += 1;
        } else {
            self.counters.messages_repeated += 1;
        }
        self.await_acknowledgement(now);
        SignalUnit::Message { header: self.header(sending.fsn), spare: 0, body: sending.body }
    }

    fn filler(&self) -> SignalUnit {
        let header = self.header(self.sender.fsn());
        match self.fill {
            Fill::FillIn => SignalUnit::FillIn(header),
            Fill::Status(status) => SignalUnit::Status(header, status),
        }
    }

    fn header(&self, fsn: u8) -> Header {
        let bsn = self.busy_since.unwrap_or_else(|| self.receiver.bsn());
        Header { bsn, bib: self.receiver.bib(), fsn, fib: self.sender.fib() }
    }
}
