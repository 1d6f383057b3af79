//! The life of one circuit: seizure, address complete, answer, release, reset (Q.764, sections 2.1 to 2.3 and 2.9).

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, TimerTable};

use super::basic_call;
use super::circuit_state::{
    CIRCUIT, CircuitAction, CircuitAction as Do, CircuitInput, CircuitInput as On, CircuitState,
    CircuitState as In,
};
use super::layout::MessageType;
use super::message::{CircuitIdentification, Message, Parameter};
use super::number::{CalledPartyNumber, CallingPartyNumber};

/// Parameters of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitConfig {
    /// Circuit that these parameters are for.
    pub circuit: CircuitIdentification,
    /// True if this exchange keeps its call when both seize the circuit at once: the one with the higher point code
    /// controls the even circuits, the other one the odd ones (Q.764, section 2.9.1.4).
    pub controls: bool,
    /// T1: REL is repeated; 15 to 60 s.
    pub t1: Duration,
    /// T5: the circuit is reset instead; 5 to 15 minutes.
    pub t5: Duration,
    /// T7: ACM is waited for; 20 to 30 s.
    pub t7: Duration,
    /// T9: ANM is waited for; 1.5 to 3 minutes.
    pub t9: Duration,
    /// T17: RSC is repeated; 5 to 15 minutes.
    pub t17: Duration,
}

impl CircuitConfig {
    /// The middle of the ranges of Q.764, annex A.
    pub const fn new(circuit: CircuitIdentification, controls: bool) -> Self {
        Self {
            circuit,
            controls,
            t1: Duration::from_secs(30),
            t5: Duration::from_secs(600),
            t7: Duration::from_secs(25),
            t9: Duration::from_secs(120),
            t17: Duration::from_secs(600),
        }
    }
}

/// Requests of call control to a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CircuitCommand {
    /// The called party is being alerted.
    Alert,
    /// The called party has answered.
    Answer,
    /// End the call with this cause value of Q.850: 16 is normal clearing.
    Release(u8),
    /// Begin a call: speech between ordinary subscribers over a terrestrial circuit.
    Seize {
        /// Whom to call.
        called: CalledPartyNumber,
        /// Number of the calling party, if it is to be sent.
        calling: Option<CallingPartyNumber>,
    },
}

/// Indications of a circuit to call control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CircuitEvent {
    /// The called party is being alerted.
    Alerting,
    /// The called party has answered.
    Answered,
    /// Our call has failed: no answer in time, or the peer's call went before it.
    Failed,
    /// The circuit is free again.
    Idle,
    /// The peer has released.
    Released,
    /// The peer calls: its IAM.
    Setup(Message),
}

/// Outputs of a circuit, for its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CircuitOutput {
    /// For call control.
    Event(CircuitEvent),
    /// A message goes to the peer.
    Send(Message),
    /// Nothing until then.
    Wait(Option<Instant>),
}

/// Numbers of messages received, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CircuitCounters {
    /// Messages that the state took.
    pub accepted: u64,
    /// Messages that the state had no use for.
    pub discarded_unexpected: u64,
}

#[derive(Clone, Copy)]
enum Timer {
    T1,
    T5,
    T7,
    T9,
    T17,
}

const EXPIRIES: [CircuitInput; 5] =
    [On::T1Expired, On::T5Expired, On::T7Expired, On::T9Expired, On::T17Expired];

/// A circuit at one exchange.
#[derive(Clone, Debug)]
pub struct Circuit {
    config: CircuitConfig,
    state: CircuitState,
    timers: TimerTable<5>,
    initial_address: Vec<Parameter>,
    calling: Option<Vec<Parameter>>,
    cause: u8,
    received: Option<Message>,
    outputs: VecDeque<CircuitOutput>,
    counters: CircuitCounters,
}

impl Circuit {
    /// A free circuit.
    pub fn new(config: CircuitConfig) -> Self {
        Self {
            config,
            state: CIRCUIT.initial,
            timers: TimerTable::default(),
            initial_address: Vec::new(),
            calling: None,
            cause: 0,
            received: None,
            outputs: VecDeque::new(),
            counters: CircuitCounters::default(),
        }
    }

    /// Gives the state of the call.
    pub const fn state(&self) -> CircuitState {
        self.state
    }

    /// Gives the numbers of messages received, by what became of them.
    pub const fn counters(&self) -> CircuitCounters {
        self.counters
    }

    /// Call control asks for something; whether the state has room for it.
    pub fn command(&mut self, now: Instant, command: CircuitCommand) -> bool {
        let input = match command {
            CircuitCommand::Alert => On::Alert,
            CircuitCommand::Answer => On::Answer,
            CircuitCommand::Release(cause) => {
                self.cause = cause;
                On::Release
            }
            CircuitCommand::Seize { called, calling } => {
                if self.state == In::Idle {
                    self.initial_address = basic_call::initial_address(&called);
                    self.calling = calling.as_ref().map(basic_call::calling_party);
                }
                On::Seize
            }
        };
        self.input(now, input)
    }

    /// A message of this circuit came.
    pub fn handle_message(&mut self, now: Instant, message: Message) {
        let input = match message.kind {
            MessageType::IAM => Some(self.input_of_iam()),
            MessageType::ACM => Some(On::Acm),
            MessageType::ANM => Some(On::Anm),
            MessageType::CON => Some(On::Con),
            MessageType::CPG => Some(On::Cpg),
            MessageType::REL => Some(On::Rel),
            MessageType::RLC => Some(On::Rlc),
            MessageType::RSC => Some(On::Rsc),
            _ => None,
        };
        let is_of_a_call = matches!(input, Some(On::Acm | On::Anm | On::Con | On::Cpg));
        let input =
            if is_of_a_call && self.state == In::Idle { Some(On::CallMessageWithoutCall) } else { input };
        self.received = Some(message);
        if input.is_some_and(|input| self.input(now, input)) {
            self.counters.accepted += 1;
        } else {
            self.counters.discarded_unexpected += 1;
        }
    }

    fn input_of_iam(&self) -> CircuitInput {
        match (self.state, self.config.controls) {
            (In::AwaitingAddressComplete, true) => On::IamHoldingDualSeizure,
            (In::AwaitingAddressComplete, false) => On::IamYieldingDualSeizure,
            _ => On::Iam,
        }
    }

    /// Gives the next output of the circuit. Timers that have expired are worked off first.
    pub fn poll_output(&mut self, now: Instant) -> CircuitOutput {
        while let Some(timer) = self.timers.take_expired(now) {
            self.input(now, EXPIRIES[timer]);
        }
        self.outputs.pop_front().unwrap_or_else(|| CircuitOutput::Wait(self.timers.next_deadline()))
    }

    fn input(&mut self, now: Instant, input: CircuitInput) -> bool {
        let Some(row) = CIRCUIT.next(self.state, input) else { return false };
        self.state = row.to;
        for action in row.actions {
            self.act(now, *action);
        }
        true
    }

    fn act(&mut self, now: Instant, action: CircuitAction) {
        match action {
            Do::SendIam => {
                let (mandatory, optional) = (self.initial_address.clone(), self.calling.clone());
                self.send(MessageType::IAM, mandatory, optional);
            }
            Do::SendAcm => self.send(MessageType::ACM, basic_call::backward_call(), None),
            Do::SendCon => self.send(MessageType::CON, basic_call::backward_call(), None),
            Do::SendAnm => self.send(MessageType::ANM, Vec::new(), None),
            Do::SendRel | Do::RepeatRel => self.send_release(),
            Do::SendRelTimerExpired => {
                self.cause = basic_call::RECOVERY_ON_TIMER_EXPIRY;
                self.send_release();
            }
            Do::SendRlc => self.send(MessageType::RLC, Vec::new(), None),
            Do::SendRsc => self.send(MessageType::RSC, Vec::new(), None),
            Do::IndicateSetup => {
                if let Some(message) = self.received.take() {
                    self.indicate(CircuitEvent::Setup(message));
                }
            }
            Do::IndicateAlerting => self.indicate(CircuitEvent::Alerting),
            Do::IndicateAnswer => self.indicate(CircuitEvent::Answered),
            Do::IndicateRelease => self.indicate(CircuitEvent::Released),
            Do::IndicateFailure => self.indicate(CircuitEvent::Failed),
            Do::IndicateIdle => self.indicate(CircuitEvent::Idle),
            Do::StartT1 => self.start(now, Timer::T1, self.config.t1),
            Do::StartT5 => self.start(now, Timer::T5, self.config.t5),
            Do::StartT7 => self.start(now, Timer::T7, self.config.t7),
            Do::StartT9 => self.start(now, Timer::T9, self.config.t9),
            Do::StartT17 => self.start(now, Timer::T17, self.config.t17),
            Do::StopTimers => self.timers = TimerTable::default(),
        }
    }

    fn start(&mut self, now: Instant, timer: Timer, duration: Duration) {
        self.timers.start(timer as usize, now + duration);
    }

    fn indicate(&mut self, event: CircuitEvent) {
        self.outputs.push_back(CircuitOutput::Event(event));
    }

    fn send_release(&mut self) {
        self.send(MessageType::REL, basic_call::cause(self.cause), None);
    }

    fn send(&mut self, kind: MessageType, mandatory: Vec<Parameter>, optional: Option<Vec<Parameter>>) {
        let message = Message { circuit: self.config.circuit, spare: 0, kind, mandatory, optional };
        self.outputs.push_back(CircuitOutput::Send(message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_ss7::sccp::Digits;

    const START: Instant = Instant::START;

    fn seize() -> CircuitCommand {
        let digits = Digits::parse("0483902899").expect("digits");
        let called =
            CalledPartyNumber { nature: 3, internal_not_allowed: true, plan: 1, digits, spare: 0, filler: 0 };
        CircuitCommand::Seize { called, calling: None }
    }

    fn circuit(controls: bool) -> Circuit {
        Circuit::new(CircuitConfig::new(CircuitIdentification(5), controls))
    }

    /// Carries all messages between two ends at once, over the wire; what was indicated to call control at each.
    fn exchange(now: Instant, ends: &mut [Circuit; 2]) -> [Vec<CircuitEvent>; 2] {
        let mut events = [Vec::new(), Vec::new()];
        loop {
            let mut is_quiet = true;
            for end in 0..2 {
                loop {
                    match ends[end].poll_output(now) {
                        CircuitOutput::Event(event) => events[end].push(event),
                        CircuitOutput::Send(message) => {
                            is_quiet = false;
                            let mut octets = Vec::new();
                            message.emit(&mut octets).expect("our own message");
                            ends[1 - end]
                                .handle_message(now, Message::parse(&octets).expect("our own message"));
                        }
                        CircuitOutput::Wait(_) => break,
                    }
                }
            }
            if is_quiet {
                return events;
            }
        }
    }

    fn states(ends: &[Circuit; 2]) -> [CircuitState; 2] {
        [ends[0].state(), ends[1].state()]
    }

    #[test]
    fn a_call_is_set_up_answered_and_released() {
        let mut ends = [circuit(true), circuit(false)];
        assert!(ends[0].command(START, seize()));
        let events = exchange(START, &mut ends);
        assert!(matches!(&events[1][..], [CircuitEvent::Setup(message)] if message.kind == MessageType::IAM));
        assert!(ends[1].command(START, CircuitCommand::Alert));
        assert_eq!(exchange(START, &mut ends)[0], [CircuitEvent::Alerting]);
        assert!(ends[1].command(START, CircuitCommand::Answer));
        assert_eq!(exchange(START, &mut ends)[0], [CircuitEvent::Answered]);
        assert_eq!(states(&ends), [CircuitState::Answered; 2]);
        assert!(ends[0].command(START, CircuitCommand::Release(16)));
        let events = exchange(START, &mut ends);
        assert_eq!(events, [vec![CircuitEvent::Idle], vec![CircuitEvent::Released, CircuitEvent::Idle]]);
        assert_eq!(states(&ends), [CircuitState::Idle; 2]);
    }

    #[test]
    fn when_both_seize_the_circuit_the_one_that_controls_it_keeps_its_call() {
        let mut ends = [circuit(true), circuit(false)];
        ends[0].command(START, seize());
        ends[1].command(START, seize());
        let events = exchange(START, &mut ends);
        assert!(matches!(&events[1][..], [CircuitEvent::Failed, CircuitEvent::Setup(_)]), "{events:?}");
        assert_eq!(events[0], []);
        assert_eq!(states(&ends), [CircuitState::AwaitingAddressComplete, CircuitState::Presented]);
    }

    #[test]
    fn a_call_without_address_complete_is_released_after_t7() {
        let mut end = circuit(true);
        end.command(START, seize());
        let mut sent = Vec::new();
        let mut now = START;
        for _ in 0..200 {
            match end.poll_output(now) {
                CircuitOutput::Send(message) => sent.push((now, message.kind)),
                CircuitOutput::Event(_) => {}
                CircuitOutput::Wait(deadline) => now = deadline.expect("it waits for something"),
            }
        }
        let at = |secs| START + Duration::from_secs(secs);
        assert_eq!(
            sent[..3],
            [(at(0), MessageType::IAM), (at(25), MessageType::REL), (at(55), MessageType::REL)]
        );
        let reset = sent.iter().find(|(_, kind)| *kind == MessageType::RSC);
        assert_eq!(reset.map(|(at, _)| *at), Some(at(625)));
    }

    #[test]
    fn a_message_of_a_call_that_is_not_there_resets_the_circuit() {
        let mut ends = [circuit(true), circuit(false)];
        let answer = Message {
            circuit: CircuitIdentification(5),
            spare: 0,
            kind: MessageType::ANM,
            mandatory: Vec::new(),
            optional: None,
        };
        ends[0].handle_message(START, answer);
        assert_eq!(ends[0].state(), CircuitState::AwaitingReset);
        exchange(START, &mut ends);
        assert_eq!(states(&ends), [CircuitState::Idle; 2]);
    }

    proptest! {
        /// Whatever call control does, once it is quiet and the timers have run, both ends agree.
        #[test]
        fn both_ends_agree_in_the_end(steps in prop::collection::vec((0_usize..2, 0_u8..4, 0_u64..40), 0..60)) {
            let mut ends = [circuit(true), circuit(false)];
            let mut now = START;
            for (end, what, pause) in steps {
                let command = match what {
                    0 => CircuitCommand::Alert,
                    1 => CircuitCommand::Answer,
                    2 => CircuitCommand::Release(16),
                    _ => seize(),
                };
                ends[end].command(now, command);
                exchange(now, &mut ends);
                now += Duration::from_secs(pause);
                exchange(now, &mut ends);
            }
            let both = states(&ends);
            let agree = [
                [CircuitState::Idle, CircuitState::Idle],
                [CircuitState::Answered, CircuitState::Answered],
                [CircuitState::AwaitingAddressComplete, CircuitState::Presented],
                [CircuitState::AwaitingAnswer, CircuitState::Alerting],
            ];
            prop_assert!(agree.iter().any(|pair| both == *pair || [both[1], both[0]] == *pair), "{both:?}");
        }
    }
}
