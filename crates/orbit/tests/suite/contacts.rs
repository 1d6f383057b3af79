//! Contacts against what needs no solver: dense sampling, exact orbits, counting, and turning the whole
//! world.

mod delay;
mod fixture;
mod ground;
mod joint;
mod links;
mod passes;

use core::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_orbit::ContactNetwork;
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{ContactId, ContactPlan, Planner};
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::network::NetworkError;

use self::fixture::{degrees, epoch, plan, site};
use self::ground::policies;

#[test]
fn whoever_sets_the_flag_ends_every_step_of_a_plan() {
    let network = fixture::london_boston(slantpath_orbit::ground::GroundPolicy::default());
    let (never, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let span = Duration::from_secs(1_800);
    let planner = Planner::until(&network, span, &stop).unwrap();
    let passes = [0, 1].map(|site| planner.passes(site).unwrap());
    assert_eq!(planner.finish(&passes).unwrap().contacts(), plan(&network, span).contacts());
    stop.store(true, Ordering::Relaxed);
    let stopped = Some(NetworkError::Stopped);
    assert_eq!(planner.passes(0).err(), stopped);
    assert_eq!(planner.finish(&passes).err(), stopped);
    assert_eq!(planner.plan(&mut |_, _| panic!("no site is done")).err(), stopped);
    assert_eq!(Planner::until(&network, span, &stop).err(), stopped);
    // Set as the first site is done, the second is not.
    let (late, mut heard) = (AtomicBool::new(false), 0);
    let planner = Planner::until(&network, span, &late).unwrap();
    let ended = planner.plan(&mut |_, _| {
        heard += 1;
        late.store(true, Ordering::Relaxed);
    });
    assert_eq!((ended.err(), heard), (stopped, 1));
    assert!(Planner::until(&network, span, &never).unwrap().plan(&mut |_, _| {}).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn turning_the_world_turns_no_distance(turn in -180.0..180.0_f64, latitude in -60.0..60.0_f64) {
        // Sites, nodes and slots turned together about the axis: every contact keeps its times and delays.
        use slantpath_orbit::constellation::shell::FirstNode;
        let build = |turn: f64| {
            let mut shell = Preset::Iridium.shells().remove(0);
            shell.first_node = FirstNode::Longitude(degrees(turn));
            let mut network = ContactNetwork::new(epoch(), vec![shell.build(epoch()).unwrap()]);
            network.sites = vec![site("s", latitude, turn + 10.0, Antenna::new(degrees(8.2)))];
            plan(&network, Duration::from_secs(1_500))
        };
        let (still, turned) = (build(0.0), build(turn));
        prop_assert_eq!(still.contacts().len(), turned.contacts().len());
        // Events that are simultaneous by symmetry may come in another order.
        let ids = |plan: &ContactPlan| {
            let count = u32::try_from(plan.contacts().len()).unwrap();
            let mut ids: Vec<ContactId> = (0..count).map(ContactId).collect();
            ids.sort_by_key(|&id| (plan.contact(id).a, plan.contact(id).b, plan.contact(id).start));
            ids
        };
        for (x, y) in ids(&still).into_iter().zip(ids(&turned)) {
            let (a, b) = (still.contact(x), turned.contact(y));
            prop_assert!(a.start.since_start().abs_diff(b.start.since_start()) < Duration::from_micros(10));
            let middle = a.start + (a.end - a.start) / 2;
            let (here, there) = (still.delay(x).nanos_at(middle), turned.delay(y).nanos_at(middle));
            prop_assert!((here - there).abs() < 1.0, "{a:?} {here} {b:?} {there}");
        }
    }

    #[test]
    fn any_site_anywhere_gets_a_plan_or_a_reason(
        latitude in -90.0..90.0_f64, longitude in -180.0..180.0_f64, elevation in 0.0..80.0_f64, pick in 0..12_usize,
    ) {
        let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
        let antenna = Antenna::new(degrees(elevation)).with_policy(policies()[pick]);
        network.sites = vec![site("s", latitude, longitude, antenna)];
        if let Ok(plan) = Planner::new(&network, Duration::from_secs(1_200)).unwrap().plan(&mut |_, _| {}) {
            for contact in plan.contacts() {
                prop_assert!(contact.start < contact.end && contact.a < contact.b);
            }
        }
    }
}
