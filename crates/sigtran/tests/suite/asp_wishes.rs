//! Requests of an ASP's management while a request of the ASP is outstanding, or while the peer changes the state.

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::RoutingContexts;
use slantpath_sigtran::asp::{
    AspMessage, AspState, ErrorCode, Process, ProcessConfig, ProcessEvent, ProcessOutput, Request, Scope,
    ServerName, Status, TrafficMode,
};
use slantpath_sigtran::m3ua::M3ua;

const CONTEXT: u32 = 7;

/// A step, and what the ASP sends on it.
type Step = (Input, &'static [Sent]);

/// Inputs of the ASP.
#[derive(Clone, Copy, Debug)]
enum Input {
    /// M-ASP_ACTIVE request.
    Activate,
    /// ASP Active Ack.
    ActiveAck,
    /// The other IPSP has taken the traffic away.
    AdoptInactive,
    /// The other IPSP has gone down.
    AdoptDown,
    /// NTFY: another ASP has taken over.
    Alternate,
    /// M-ASP_INACTIVE request.
    Deactivate,
    /// M-ASP_DOWN request.
    Down,
    /// ASP Down Ack.
    DownAck,
    /// ASP Inactive Ack.
    InactiveAck,
    /// The association is lost, and comes again.
    Lose,
    /// ERR "Refused - Management Blocking".
    Refuse,
    /// M-ASP_UP request.
    Up,
    /// ASP Up Ack.
    UpAck,
    /// So many milliseconds pass.
    Wait(u64),
}

/// Messages that the ASP sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Active,
    Down,
    Inactive,
    Up,
    GivenUp(Request),
}

struct Bench {
    now: Instant,
    process: Process<M3ua>,
}

impl Bench {
    fn new(tries_max: Option<u32>) -> Self {
        let config = ProcessConfig { tries_max, ..ProcessConfig::default() };
        let mut process = Process::new(config).unwrap();
        process.add_server(ServerName::Named(CONTEXT), Some(TrafficMode::Override));
        process.handle_association_up(Instant::START);
        Self { now: Instant::START, process }
    }

    fn take(&mut self, input: Input) -> Vec<Sent> {
        let now = self.now;
        let scope = || RoutingContexts::of(&[CONTEXT]);
        let name = ServerName::Named(CONTEXT);
        let mut hear = |message| self.process.handle_message(now, message, &[]);
        match input {
            Input::Activate => self.process.activate(now, &[]),
            Input::ActiveAck => {
                hear(AspMessage::AspActiveAck { traffic_mode: None, scope: scope(), info: None });
            }
            Input::AdoptInactive => self.process.adopt(&name, AspState::Inactive),
            Input::AdoptDown => self.process.adopt_up(now, false),
            Input::Alternate => {
                let (status, asp_identifier) = (Status::ALTERNATE_ASP_ACTIVE, Some(2));
                hear(AspMessage::Ntfy { status, asp_identifier, scope: scope(), info: None });
            }
            Input::Deactivate => self.process.deactivate(now, &[]),
            Input::Down => self.process.down(now),
            Input::DownAck => hear(AspMessage::AspDownAck { info: None }),
            Input::InactiveAck => hear(AspMessage::AspInactiveAck { scope: scope(), info: None }),
            Input::Lose => {
                self.process.handle_association_down(now);
                self.process.handle_association_up(now);
            }
            Input::Refuse => {
                hear(AspMessage::error(ErrorCode::REFUSED_MANAGEMENT_BLOCKING, scope(), &[]));
            }
            Input::Up => self.process.up(now),
            Input::UpAck => hear(AspMessage::AspUpAck { asp_identifier: None, info: None }),
            Input::Wait(milliseconds) => {
                self.now += Duration::from_millis(milliseconds);
                self.process.handle_deadline(self.now);
            }
        }
        let mut sent = Vec::new();
        while let Some(output) = self.process.poll_output() {
            match output {
                ProcessOutput::Send(AspMessage::AspUp { .. }) => sent.push(Sent::Up),
                ProcessOutput::Send(AspMessage::AspDown { .. }) => sent.push(Sent::Down),
                ProcessOutput::Send(AspMessage::AspActive { .. }) => sent.push(Sent::Active),
                ProcessOutput::Send(AspMessage::AspInactive { .. }) => sent.push(Sent::Inactive),
                ProcessOutput::Send(other) => panic!("{other:?}"),
                ProcessOutput::Event(ProcessEvent::NotAcknowledged(request)) => {
                    sent.push(Sent::GivenUp(request));
                }
                ProcessOutput::Event(_) => {}
            }
        }
        sent
    }

    fn state(&self) -> AspState {
        self.process.state(&ServerName::Named(CONTEXT))
    }
}

const START: &[Step] = &[
    (Input::Up, &[Sent::Up]),
    (Input::Activate, &[]),
    (Input::UpAck, &[Sent::Active]),
    (Input::ActiveAck, &[]),
];

#[track_caller]
fn play(name: &str, tries_max: Option<u32>, steps: &[Step], ends: AspState) {
    let mut bench = Bench::new(tries_max);
    for (number, (input, sent)) in START.iter().chain(steps).enumerate() {
        assert_eq!(bench.take(*input), *sent, "{name}: step {number}, {input:?}");
    }
    assert_eq!(bench.state(), ends, "{name}");
}

#[test]
fn what_is_asked_for_while_a_request_is_under_way_is_asked_for_after_it() {
    use Input::{Activate, ActiveAck, Deactivate, Down, DownAck, InactiveAck, Up, UpAck, Wait};
    let table: &[(&str, Option<u32>, &[Step], AspState)] = &[
        (
            "active with the Ack",
            None,
            &[
                (Deactivate, &[Sent::Inactive]),
                (Wait(300), &[]),
                (Activate, &[]),
                (InactiveAck, &[Sent::Active]),
                (Wait(1999), &[]),
                (ActiveAck, &[]),
                (Wait(2000), &[]),
            ],
            AspState::Active,
        ),
        (
            "active in place of the repeated ASP Inactive, which its Ack still answers",
            None,
            &[
                (Deactivate, &[Sent::Inactive]),
                (Wait(300), &[]),
                (Activate, &[]),
                (Wait(1699), &[]),
                (Wait(1), &[Sent::Active]),
                (InactiveAck, &[]),
                (Wait(1999), &[]),
                (Wait(1), &[Sent::Active]),
                (ActiveAck, &[]),
                (Wait(2000), &[]),
            ],
            AspState::Active,
        ),
        (
            "active though ASP Inactive would have been given up",
            Some(1),
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (Wait(2000), &[Sent::Active]),
                (Wait(2000), &[Sent::GivenUp(Request::Active)]),
            ],
            AspState::Active,
        ),
        (
            "inactive after all",
            None,
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (Deactivate, &[Sent::Inactive]),
                (InactiveAck, &[]),
                (Wait(2000), &[]),
            ],
            AspState::Inactive,
        ),
        (
            "up with the Ack",
            None,
            &[
                (Down, &[Sent::Down]),
                (Up, &[]),
                (Activate, &[]),
                (DownAck, &[Sent::Up]),
                (UpAck, &[Sent::Active]),
                (ActiveAck, &[]),
            ],
            AspState::Active,
        ),
        (
            "up in place of the repeated ASP Down, down until then",
            Some(1),
            &[
                (Down, &[Sent::Down]),
                (Up, &[]),
                (Activate, &[]),
                (Wait(1999), &[]),
                (Wait(1), &[Sent::Up]),
                (UpAck, &[Sent::Active]),
                (ActiveAck, &[]),
                (Wait(2000), &[]),
            ],
            AspState::Active,
        ),
        (
            "no ASP Inactive behind ASP Down",
            None,
            &[(Down, &[Sent::Down]), (Deactivate, &[]), (DownAck, &[]), (Wait(2000), &[])],
            AspState::Down,
        ),
        (
            "down stays down",
            Some(2),
            &[
                (Down, &[Sent::Down]),
                (Wait(2000), &[Sent::Down]),
                (Wait(2000), &[Sent::GivenUp(Request::Down)]),
            ],
            AspState::Active,
        ),
    ];
    for (name, tries_max, steps, ends) in table {
        play(name, *tries_max, steps, *ends);
    }
}

#[test]
fn what_is_asked_for_outlasts_what_the_peer_does_meanwhile() {
    use Input::{
        Activate, AdoptDown, AdoptInactive, Alternate, Deactivate, Down, DownAck, InactiveAck, Lose, Refuse,
        Up, UpAck, Wait,
    };
    let table: &[(&str, &[Step], AspState)] = &[
        (
            "another ASP takes over before the Ack",
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (Alternate, &[]),
                (InactiveAck, &[Sent::Active]),
            ],
            AspState::Inactive,
        ),
        (
            "another ASP takes over",
            &[(Alternate, &[]), (Lose, &[Sent::Up]), (UpAck, &[])],
            AspState::Inactive,
        ),
        (
            "the association is lost",
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (Lose, &[Sent::Up]),
                (UpAck, &[Sent::Active]),
            ],
            AspState::Inactive,
        ),
        (
            "ASP Inactive is refused",
            &[(Deactivate, &[Sent::Inactive]), (Refuse, &[]), (Lose, &[Sent::Up]), (UpAck, &[])],
            AspState::Inactive,
        ),
        (
            "ASP Inactive is refused, and traffic is wanted again",
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (Refuse, &[]),
                (Wait(2000), &[]),
                (Lose, &[Sent::Up]),
                (UpAck, &[Sent::Active]),
            ],
            AspState::Inactive,
        ),
        (
            "the other IPSP takes the traffic away, too",
            &[
                (Deactivate, &[Sent::Inactive]),
                (Activate, &[]),
                (AdoptInactive, &[]),
                (InactiveAck, &[Sent::Active]),
            ],
            AspState::Inactive,
        ),
        (
            "the other IPSP takes the traffic away",
            &[(AdoptInactive, &[]), (Lose, &[Sent::Up]), (UpAck, &[])],
            AspState::Inactive,
        ),
        (
            "the other IPSP goes down, too",
            &[
                (Down, &[Sent::Down]),
                (Up, &[]),
                (Activate, &[]),
                (AdoptDown, &[]),
                (DownAck, &[Sent::Up]),
                (UpAck, &[Sent::Active]),
            ],
            AspState::Inactive,
        ),
        ("the other IPSP goes down", &[(AdoptDown, &[]), (Lose, &[])], AspState::Down),
    ];
    for (name, steps, ends) in table {
        play(name, None, steps, *ends);
    }
}
