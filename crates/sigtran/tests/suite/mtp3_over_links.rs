//! Two points with MTP3 over links of M2PA and of MTP2: processor outages of any length at either end, failures,
//! inhibitions and deactivations at once. What is delivered is delivered once and in order; what is not was counted.
mod carrier;
mod world;

use self::world::{Kind, World};
use proptest::prelude::*;
use slantpath_base::Duration;

#[derive(Clone, Debug)]
enum Step {
    Activate(usize, u16),
    Break(u16),
    Deactivate(usize, u16),
    Inhibit(usize, u16),
    Mend(u16),
    Outage(usize, u16, bool),
    Run(u64),
    Send(usize, u8, u8),
    Uninhibit(usize, u16),
}

const LINKS: u16 = 3;

fn any_step() -> impl Strategy<Value = Step> {
    let end = 0..2_usize;
    let link = 0..LINKS;
    prop_oneof![
        30 => (end.clone(), 0..4_u8, 1..5_u8).prop_map(|(from, sls, count)| Step::Send(from, sls, count)),
        12 => (1..120_u64).prop_map(Step::Run),
        6 => (300..1_800_u64).prop_map(Step::Run),
        1 => (4_000..20_000_u64).prop_map(Step::Run),
        6 => (end.clone(), link.clone()).prop_map(|(end, link)| Step::Outage(end, link, true)),
        8 => (end.clone(), link.clone()).prop_map(|(end, link)| Step::Outage(end, link, false)),
        2 => link.clone().prop_map(Step::Break),
        2 => link.clone().prop_map(Step::Mend),
        1 => (end.clone(), link.clone()).prop_map(|(end, link)| Step::Inhibit(end, link)),
        1 => (end.clone(), link.clone()).prop_map(|(end, link)| Step::Uninhibit(end, link)),
        1 => (end.clone(), link.clone()).prop_map(|(end, link)| Step::Deactivate(end, link)),
        1 => (end, link).prop_map(|(end, link)| Step::Activate(end, link)),
    ]
}

fn take(world: &mut World, step: &Step) {
    match *step {
        Step::Activate(end, link) => world.activate(end, link),
        Step::Break(link) => world.break_link(link),
        Step::Deactivate(end, link) => world.deactivate(end, link),
        Step::Inhibit(end, link) => world.inhibit(end, link),
        Step::Mend(link) => world.mend_link(link),
        Step::Outage(end, link, holds) => world.processor_outage(end, link, holds),
        Step::Run(ms) => world.run(Duration::from_millis(ms)),
        Step::Send(from, sls, count) => (0..count).for_each(|_| world.send(from, sls)),
        Step::Uninhibit(end, link) => world.uninhibit(end, link),
    }
}

/// Plays the steps, ends every trouble, and looks at what has become of each message.
fn check(kinds: [Kind; LINKS as usize], seed: u64, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut world = World::new(&kinds, seed);
    world.begin();
    for step in steps {
        take(&mut world, step);
    }
    world.end_all_trouble();
    for (stream, numbers) in world.delivered() {
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{stream:?}: {numbers:?}\n{}", world.report());
    }
    let missing =
        world.accepted() - world.delivered().values().map(|numbers| numbers.len() as u64).sum::<u64>();
    prop_assert!(missing <= world.counted(), "{missing} of {}\n{}", world.accepted(), world.report());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn m2pa_keeps_order_and_accounts_through_every_outage(
        seed: u64,
        steps in proptest::collection::vec(any_step(), 1..150),
    ) {
        check([Kind::M2pa; 3], seed, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mtp2_keeps_order_and_accounts_through_every_outage(
        seed: u64,
        steps in proptest::collection::vec(any_step(), 1..150),
    ) {
        check([Kind::Mtp2; 3], seed, &steps)?;
    }

    #[test]
    fn a_link_set_of_both_kinds_keeps_order_and_accounts(
        seed: u64,
        steps in proptest::collection::vec(any_step(), 1..150),
    ) {
        check([Kind::M2pa, Kind::Mtp2, Kind::M2pa], seed, &steps)?;
    }
}

/// Numbers 0 to 3 of one stream over one link, the last three of which meet an outage there; three more follow after
/// `length_ms`.
fn outage_under_traffic(kind: Kind, at: usize, length_ms: u64) -> World {
    let mut world = World::new(&[kind; 2], 1);
    world.begin();
    world.send(0, 1);
    world.run(Duration::from_millis(200));
    world.processor_outage(at, 1, true);
    // The other end has not heard of it yet.
    world.run(Duration::from_millis(5));
    (0..3).for_each(|_| world.send(0, 1));
    world.run(Duration::from_millis(length_ms));
    (0..3).for_each(|_| world.send(0, 1));
    world.run(Duration::from_millis(50));
    world.processor_outage(at, 1, false);
    world.end_all_trouble();
    world
}

#[test]
fn an_outage_longer_than_t1_reorders_nothing_and_counts_what_it_costs() {
    for kind in [Kind::M2pa, Kind::Mtp2] {
        for at in [0, 1] {
            let world = outage_under_traffic(kind, at, 1_600);
            let numbers = &world.delivered()[&(0, 1)];
            assert!(numbers.is_sorted_by(|a, b| a < b), "{kind:?} {at}: {numbers:?}\n{}", world.report());
            let missing = world.accepted() - numbers.len() as u64;
            assert!(missing <= world.counted(), "{kind:?} {at}: {numbers:?}\n{}", world.report());
            assert_eq!(numbers[numbers.len() - 3..], [4, 5, 6], "{kind:?} {at}");
            assert_eq!(world.link_failures(), 0, "{kind:?} {at}: {}", world.report());
        }
    }
}

#[test]
fn an_outage_shorter_than_t1_loses_nothing() {
    for kind in [Kind::M2pa, Kind::Mtp2] {
        for at in [0, 1] {
            // With T24 it takes 605 ms, and T1 is 800 ms.
            let world = outage_under_traffic(kind, at, 50);
            assert_eq!(
                world.delivered()[&(0, 1)],
                [0, 1, 2, 3, 4, 5, 6],
                "{kind:?} {at}\n{}",
                world.report()
            );
        }
    }
}
