//! A swarm: pairs of endpoints with random extensions and settings in random networks, each from its seed.
//!
//! Each seed has one extension alone, or each or not, and draws what goes wrong in the network. While that lasts
//! nothing wrong may be delivered or sent: safety. Then the network clears, and the association has to finish what it
//! was asked for and to end in order, or to have ended with a reason where the network was too bad: liveness.
//!
//! A case that fails says how to run it again. More of them than every test run needs, all of them fresh:
//!
//!     PROPTEST_CASES=20000 cargo test --release -p slantpath-sctp --test swarm

#![allow(clippy::print_stderr, reason = "a panic must tell its seed")]

mod case;
mod judge;
mod users;
mod wire_rules;
mod world;

use std::collections::BTreeSet;

use proptest::prelude::*;
use slantpath_base::{Duration, Seed};
use slantpath_sctp::{Association, AssociationState};

use case::{CLEARS, Case, Feature};
use world::World;

const VARIABLE: &str = "SLANTPATH_SWARM_SEED";

/// Says how to replay a seed when the stack unwinds through it.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(seed) = self;
            eprintln!("seed {seed}; again: {VARIABLE}={seed} cargo test -p slantpath-sctp --test swarm any");
        }
    }
}

fn run(seed: u64, is_shown: bool) {
    let named = Named(seed);
    let mut random = Seed::new(seed, 0).stream("swarm");
    let case = Case::draw(&mut random);
    if is_shown {
        eprintln!("{case:#?}");
    }
    let mut world = World::new(seed, case);
    for _ in 0..world.case.acts {
        world.act(&mut random);
        let pause = match random.below(30) {
            0 => Duration::from_millis(random.below(10_000)),
            1..10 => Duration::ZERO,
            _ => Duration::from_millis(random.below(60)),
        };
        let next = world.now + pause;
        world.run_until(next);
    }
    for end in [0, 1] {
        if let Some(id) = world.ends[end].id {
            world.ends[end].endpoint.resume_delivery(id);
            world.drain(end);
        }
    }
    let is_patient = random.below(4) > 0;
    if is_patient {
        settle(&mut world);
    }
    let closer = usize::from(random.below(2) == 0);
    if let Some(id) = world.ends[closer].id.or(world.ends[0].id) {
        let closer = if world.ends[closer].id.is_some() { closer } else { 0 };
        let now = world.now;
        world.ends[closer].endpoint.shutdown(now, id);
        world.drain(closer);
    }
    let last = CLEARS.max(world.now) + Duration::from_secs(3_000);
    while world.ends.iter().any(|end| end.endpoint.association_count() > 0) && world.now < last {
        assert!(world.step(), "nothing will ever happen");
    }
    judge::judge(&world, is_patient);
    drop(named);
}

/// Waits until all that was asked for has been done.
fn settle(world: &mut World) {
    let last = CLEARS.max(world.now) + Duration::from_secs(1_000);
    while world.now < last {
        if world.now >= CLEARS && (is_settled(world) || world.ends.iter().any(|end| end.closed.is_some())) {
            return;
        }
        if !world.step() {
            return;
        }
    }
    for end in &world.ends {
        let association = end.id.and_then(|id| end.endpoint.association(id));
        eprintln!("asked {:?}, {:?}", end.asked, association.map(Association::snapshot));
    }
    panic!("what was asked for is not done");
}

fn is_settled(world: &World) -> bool {
    world.ends.iter().all(|end| {
        let association = end.id.and_then(|id| end.endpoint.association(id));
        association.is_some_and(|association| {
            let snapshot = association.snapshot();
            let is_open = snapshot.state == AssociationState::Established;
            is_open && snapshot.send_buffered == 0 && snapshot.receive_buffered == 0 && end.asked == [0, 0]
        })
    })
}

proptest! {
    // The seed says it all.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_extensions_together_deliver_what_they_promise_or_say_why_not(seed in any::<u64>().no_shrink()) {
        match std::env::var(VARIABLE) {
            Ok(seed) => run(seed.parse().expect("a seed is a number"), true),
            Err(_) => run(seed, false),
        }
    }
}

/// With RACK, paced, over a path whose round trip took no time.
#[test]
fn a_loss_probe_is_never_due_at_the_instant_that_it_is_set_at() {
    run(18_221_324_500_835_073_673, false);
}

#[test]
fn every_extension_is_drawn_alone_and_without_and_with_every_other() {
    let mut drawn = BTreeSet::new();
    for seed in 0..500 {
        let case = Case::draw(&mut Seed::new(seed, 0).stream("swarm"));
        let has: Vec<Feature> = Feature::ALL.into_iter().filter(|feature| case.has(*feature)).collect();
        if let [alone] = has[..] {
            drawn.insert((alone, None));
        }
        for one in &has {
            for other in Feature::ALL {
                drawn.insert((*one, Some((other, has.contains(&other)))));
            }
        }
    }
    let all = Feature::ALL;
    for one in all {
        assert!(drawn.contains(&(one, None)), "{one:?} is never alone");
        for other in all.into_iter().filter(|other| *other != one) {
            assert!(drawn.contains(&(one, Some((other, true)))), "{one:?} is never with {other:?}");
            assert!(drawn.contains(&(one, Some((other, false)))), "{one:?} is never without {other:?}");
        }
    }
}
