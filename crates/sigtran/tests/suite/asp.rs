//! The shared ASP machinery: processes and a gateway that speak to each other.
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{
    AsState, AspMessage, AspState, Gateway, GatewayConfig, GatewayEvent, GatewayOutput, Members, Process,
    ProcessConfig, ProcessEvent, ProcessOutput, ServerConfig, ServerName, Status, TrafficMode,
};
use slantpath_sigtran::m3ua::M3ua;
use slantpath_sigtran::transport::AssociationNumber;

const CONTEXT: u32 = 7;

fn named() -> ServerName<u32> {
    ServerName::Named(CONTEXT)
}

/// A gateway and some ASPs over associations that lose nothing.
struct Pair {
    now: Instant,
    gateway: Gateway<M3ua>,
    asps: Vec<Process<M3ua>>,
    events: Vec<GatewayEvent<u32>>,
    indicated: Vec<Vec<ProcessEvent<u32>>>,
}

impl Pair {
    fn new(mode: TrafficMode, needed_active: usize, asps: u32) -> Self {
        let mut gateway = Gateway::new(GatewayConfig::default()).unwrap();
        let members = Members::Only((0..asps).map(AssociationNumber).collect());
        gateway.add_server(CONTEXT, ServerConfig { traffic_mode: Some(mode), needed_active, members });
        let asps: Vec<Process<M3ua>> = (0..asps)
            .map(|number| {
                let config = ProcessConfig { identifier: Some(number + 1), ..ProcessConfig::default() };
                let mut process = Process::new(config).unwrap();
                process.add_server(named(), Some(mode));
                process
            })
            .collect();
        let indicated = vec![Vec::new(); asps.len()];
        Self { now: Instant::START, gateway, asps, events: Vec::new(), indicated }
    }

    fn connect(&mut self, number: usize) {
        self.gateway.handle_association_up(self.now, association(number));
        self.asps[number].handle_association_up(self.now);
        self.exchange();
    }

    fn lose(&mut self, number: usize) {
        self.gateway.handle_association_down(self.now, association(number));
        self.asps[number].handle_association_down(self.now);
        self.exchange();
    }

    fn activate(&mut self, number: usize) {
        self.asps[number].up(self.now);
        self.asps[number].activate(self.now, &[]);
        self.exchange();
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.gateway.handle_deadline(self.now);
        for asp in &mut self.asps {
            asp.handle_deadline(self.now);
        }
        self.exchange();
    }

    fn exchange(&mut self) {
        loop {
            let mut is_quiet = true;
            while let Some(output) = self.gateway.poll_output() {
                is_quiet = false;
                match output {
                    GatewayOutput::Event(event) => self.events.push(event),
                    GatewayOutput::Send(AssociationNumber(to), message) => {
                        self.asps[to as usize].handle_message(self.now, message, &[]);
                    }
                }
            }
            for (number, asp) in self.asps.iter_mut().enumerate() {
                while let Some(output) = asp.poll_output() {
                    is_quiet = false;
                    match output {
                        ProcessOutput::Event(event) => self.indicated[number].push(event),
                        ProcessOutput::Send(message) => {
                            self.gateway.handle_message(self.now, association(number), message, &[]);
                        }
                    }
                }
            }
            if is_quiet {
                return;
            }
        }
    }

    fn states(&self) -> Vec<AspState> {
        self.asps.iter().map(|asp| asp.state(&named())).collect()
    }
}

fn association(number: usize) -> AssociationNumber {
    AssociationNumber(u32::try_from(number).unwrap())
}

#[test]
fn an_asp_comes_up_and_takes_traffic_and_comes_back_after_its_association() {
    let mut pair = Pair::new(TrafficMode::Override, 1, 1);
    pair.activate(0);
    assert_eq!(pair.states(), [AspState::Down]);
    pair.connect(0);
    assert_eq!(pair.states(), [AspState::Active]);
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Active));
    pair.lose(0);
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Pending));
    pair.connect(0);
    assert_eq!((pair.states()[0], pair.gateway.active(&CONTEXT).len()), (AspState::Active, 1));
    assert!(pair.events.contains(&GatewayEvent::FlushQueue(CONTEXT)));
    assert_eq!(pair.gateway.next_deadline(), None, "T(r) is stopped");
}

#[test]
fn an_asp_that_is_overridden_learns_by_whom_and_does_not_quarrel() {
    let mut pair = Pair::new(TrafficMode::Override, 1, 2);
    for number in [0, 1] {
        pair.connect(number);
        pair.activate(number);
    }
    assert_eq!(pair.states(), [AspState::Inactive, AspState::Active]);
    let notice = ProcessEvent::Notified(Status::ALTERNATE_ASP_ACTIVE, vec![named()], Some(2));
    assert!(pair.indicated[0].contains(&notice), "{:?}", pair.indicated[0]);
    pair.wait(Duration::from_secs(10));
    assert_eq!(pair.states(), [AspState::Inactive, AspState::Active]);
}

#[test]
fn loadshared_traffic_waits_for_as_many_asps_as_it_needs_and_tells_when_they_do_not_suffice() {
    let mut pair = Pair::new(TrafficMode::Loadshare, 2, 3);
    for number in [0, 1, 2] {
        pair.connect(number);
    }
    pair.asps[2].up(pair.now);
    pair.activate(0);
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Inactive));
    pair.activate(1);
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Active));
    pair.lose(1);
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Active));
    let notified = |status, about| ProcessEvent::Notified(status, vec![named()], about);
    assert!(pair.indicated[2].contains(&notified(Status::ASP_FAILURE, Some(2))), "{:?}", pair.indicated[2]);
    assert!(pair.indicated[2].contains(&notified(Status::INSUFFICIENT_ASP_RESOURCES, None)));
}

#[test]
fn waiting_ends_with_the_recovery_timer() {
    let mut pair = Pair::new(TrafficMode::Override, 1, 2);
    pair.connect(0);
    pair.activate(0);
    pair.lose(0);
    pair.wait(Duration::from_millis(1999));
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Pending));
    pair.wait(Duration::from_millis(1));
    assert_eq!(pair.gateway.as_state(&CONTEXT), Some(AsState::Down));
    assert!(pair.events.contains(&GatewayEvent::DiscardQueue(CONTEXT)));
}

#[test]
fn an_asp_that_is_locked_out_goes_down_is_refused_and_rests() {
    let mut pair = Pair::new(TrafficMode::Override, 1, 1);
    pair.connect(0);
    pair.activate(0);
    pair.gateway.lock_out(pair.now, association(0));
    pair.exchange();
    assert_eq!(pair.states(), [AspState::Down]);
    pair.wait(Duration::from_secs(10));
    assert!(!pair.gateway.is_up(association(0)));
    pair.gateway.unlock(association(0));
    pair.activate(0);
    assert_eq!(pair.states(), [AspState::Active]);
}

#[test]
fn a_request_is_repeated_until_it_is_answered_or_given_up() {
    let config = ProcessConfig { tries_max: Some(3), ..ProcessConfig::default() };
    let mut process: Process<M3ua> = Process::new(config).unwrap();
    let mut now = Instant::START;
    process.handle_association_up(now);
    process.up(now);
    let mut ups = 0;
    while let Some(deadline) = process.next_deadline() {
        now = deadline;
        process.handle_deadline(now);
    }
    let mut events = Vec::new();
    while let Some(output) = process.poll_output() {
        match output {
            ProcessOutput::Send(AspMessage::AspUp { .. }) => ups += 1,
            ProcessOutput::Send(other) => panic!("{other:?}"),
            ProcessOutput::Event(event) => events.push(event),
        }
    }
    assert_eq!((ups, now), (3, Instant::START + Duration::from_secs(6)));
    assert_eq!(events.len(), 1);
}

#[test]
fn a_timer_out_of_its_range_is_refused_with_the_range() {
    let config = ProcessConfig { acknowledgement: Duration::from_secs(61), ..ProcessConfig::default() };
    let error = Process::<M3ua>::new(config).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("T(ack)") && error.contains("choose between"), "{error}");
}
