//! M3UA under whatever comes: random messages, commands and times to an SGP, to an ASP, and to both over wires whose
//! associations are lost and come back.
mod inputs;
mod world;

use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{AsState, AspState, ServerName, TrafficMode};
use slantpath_sigtran::m3ua::{Asp, AspOutput, Availability, Counters, Message, Sgp, SgpOutput};
use slantpath_sigtran::transport::AssociationNumber;

use self::inputs::{AspStep, CONTEXTS, QUEUE_MAX, SgpStep, any_asp_step, any_sgp_step, asp, message, sgp};
use self::world::{Step, World, any_step};

/// Every message is somewhere.
fn assert_accounted(counters: &Counters, waiting: usize) {
    let came = counters.received + counters.requested + counters.returned;
    let went = counters.forwarded + counters.indicated + counters.dropped_in_all() + waiting as u64;
    assert_eq!(came, went, "{counters:?}, {waiting} wait");
}

fn step_sgp(sgp: &mut Sgp, now: &mut Instant, step: SgpStep) {
    match step {
        SgpStep::Input(association, input) => sgp.handle_input(*now, association, input),
        SgpStep::Transfer(message) => sgp.transfer(None, message),
        SgpStep::Availability(code, availability) => sgp.set_availability((None, code), availability),
        SgpStep::Congestion(code, level) => sgp.set_congestion((None, code), level),
        SgpStep::Isolation(true) => sgp.isolate(None),
        SgpStep::Isolation(false) => sgp.end_isolation(None),
        SgpStep::LockOut(association, true) => sgp.lock_out(*now, association),
        SgpStep::LockOut(association, false) => sgp.unlock(association),
        SgpStep::Block(context, true) => sgp.block(*now, context),
        SgpStep::Block(context, false) => sgp.unblock(context),
        SgpStep::Wait(time) => {
            *now += time;
            sgp.handle_deadline(*now);
        }
    }
}

/// Takes all that an SGP says, and checks what holds of every DATA.
fn drain_sgp(sgp: &mut Sgp, now: Instant) {
    loop {
        match sgp.poll_output(now) {
            SgpOutput::Wait(deadline) => {
                assert!(deadline.is_none_or(|deadline| deadline > now), "{deadline:?} is over at {now:?}");
                return;
            }
            SgpOutput::Transmit(transmit) => {
                let Message::Data(data) = Message::parse(&transmit.octets).unwrap() else { continue };
                let context = data.routing_context.unwrap();
                assert_eq!(sgp.asp_state(transmit.association, context), AspState::Active);
                assert!(transmit.stream.0 > 0);
            }
            SgpOutput::Diverted { .. }
            | SgpOutput::Event(_)
            | SgpOutput::Examine { .. }
            | SgpOutput::Indication(..)
            | SgpOutput::Registration { .. } => {}
        }
    }
}

fn step_asp(asp: &mut Asp, now: &mut Instant, step: AspStep) {
    match step {
        AspStep::Input(association, input) => asp.handle_input(*now, association, input),
        AspStep::Transfer(message) => asp.transfer(None, message),
        AspStep::Up(association) => asp.up(*now, association),
        AspStep::Down(association) => asp.down(*now, association),
        AspStep::Activate(association) => asp.activate(*now, association, &[]),
        AspStep::Deactivate(association) => asp.deactivate(*now, association, &[]),
        AspStep::Register(association, keys) => {
            // Refused while the ASP is down, as it must be.
            let is_up = asp.is_up(association);
            assert_eq!(asp.register(association, keys).is_ok(), is_up);
        }
        AspStep::Wait(time) => {
            *now += time;
            asp.handle_deadline(*now);
        }
    }
}

fn drain_asp(asp: &mut Asp, now: Instant) {
    loop {
        match asp.poll_output(now) {
            AspOutput::Wait(deadline) => {
                assert!(deadline.is_none_or(|deadline| deadline > now), "{deadline:?} is over at {now:?}");
                return;
            }
            AspOutput::Transmit(transmit) => {
                let Message::Data(data) = Message::parse(&transmit.octets).unwrap() else { continue };
                let name = ServerName::Named(data.routing_context.unwrap());
                assert_eq!(asp.state(transmit.association, &name), AspState::Active);
                assert!(transmit.stream.0 > 0);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_sgp_keeps_its_word_whatever_comes(steps in proptest::collection::vec(any_sgp_step(), 1..120)) {
        let (mut sgp, mut now) = (sgp(), Instant::START);
        for step in steps {
            step_sgp(&mut sgp, &mut now, step);
            drain_sgp(&mut sgp, now);
            prop_assert!(sgp.waiting() <= QUEUE_MAX * 8);
            assert_accounted(sgp.counters(), sgp.waiting());
            for context in CONTEXTS {
                let is_active = (0..3).any(|a| sgp.asp_state(AssociationNumber(a), context) == AspState::Active);
                let state = sgp.as_state(context);
                prop_assert!(is_active || state != Some(AsState::Active), "{context} is active without ASP");
            }
        }
    }

    #[test]
    fn an_asp_keeps_its_word_whatever_comes(steps in proptest::collection::vec(any_asp_step(), 1..120)) {
        let (mut asp, mut now) = (asp(), Instant::START);
        for step in steps {
            step_asp(&mut asp, &mut now, step);
            drain_asp(&mut asp, now);
            assert_accounted(asp.counters(), 0);
        }
    }

    #[test]
    fn both_ends_agree_in_the_end_and_no_selection_is_out_of_sequence(
        mode in prop_oneof![Just(TrafficMode::Override), Just(TrafficMode::Loadshare)],
        steps in proptest::collection::vec(any_step(), 1..80),
        seed: u64,
    ) {
        let mut world = World::new(mode, seed);
        for step in steps {
            world.step(&step);
            assert_accounted(world.sgp.counters(), world.sgp.waiting());
            prop_assert!(world.sgp.waiting() <= QUEUE_MAX * 2);
        }
        for number in 0..world::ASPS {
            world.step(&Step::Connect(number));
            world.step(&Step::Unlock(number));
        }
        // What was refused before is known by then.
        world.step(&Step::Wait(Duration::from_secs(1)));
        for number in 0..world::ASPS {
            world.step(&Step::Up(number));
            world.step(&Step::Wait(Duration::from_secs(1)));
        }
        world.step(&Step::Wait(Duration::from_secs(60)));
        for (number, asp) in world.asps.iter().enumerate() {
            assert_accounted(asp.counters(), 0);
            let association = world::association(number);
            let here = asp.state(association, &ServerName::Named(world::CONTEXT));
            let there = world.sgp.asp_state(association, world::CONTEXT);
            prop_assert_eq!(here, there, "ASP {}", number);
            prop_assert!(asp.is_up(association));
        }
        prop_assert_eq!(world.sgp.as_state(world::CONTEXT), Some(AsState::Active));
        prop_assert!(world.is_in_sequence());
    }
}

#[test]
fn a_full_queue_tells_congestion_before_it_drops() {
    let mut world = World::new(TrafficMode::Override, 1);
    world.step(&Step::Connect(0));
    world.step(&Step::Up(0));
    world.step(&Step::Wait(Duration::from_secs(1)));
    world.step(&Step::Lose(0));
    let mut indicated_at = None;
    for number in 0..QUEUE_MAX + 10 {
        world.sgp.transfer(None, message(world::POINT, 5, 0));
        let is_indicated = world.drain_indications().iter().any(world::is_congestion);
        indicated_at = indicated_at.or(is_indicated.then_some(number));
        if indicated_at.is_none() {
            assert_eq!(world.sgp.counters().dropped_in_all(), 0);
        }
    }
    assert!(indicated_at.unwrap() < QUEUE_MAX);
    assert_eq!(world.sgp.counters().dropped_in_all(), 10);
    assert_eq!(world.sgp.waiting(), QUEUE_MAX);
    world.step(&Step::Wait(Duration::from_secs(3)));
    assert_eq!(world.sgp.waiting(), 0);
    assert_accounted(world.sgp.counters(), 0);
    assert_eq!(world.sgp.availability((None, world::POINT)), Availability::Unavailable);
}
