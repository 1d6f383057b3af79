//! Gateways that are offered far more than their links carry.

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::TrafficMode;

use super::patience::Patience;
use super::site::{Far, Plan, Site};

/// For three seconds paths are too slow for what is offered. Messages wait above SCTP: in its buffer they would wait
/// in front of acknowledgements, until T7 takes links out that work.
#[test]
fn links_that_are_offered_more_than_they_carry_stay_up_and_all_that_is_thrown_away_is_counted() {
    for (far, is_ipv6) in [(Far::Exchange, true), (Far::Processes(2, TrafficMode::Loadshare), false)] {
        let lasts = Duration::from_secs(7);
        let plan = Plan { far, lasts, is_ipv6, patience: Patience::Short, ..Plan::default() };
        let mut site = Site::new(&plan);
        site.narrow(Instant::from_secs(6), "1 Mbit/s");
        site.narrow(Instant::from_secs(9), "1 Gbit/s");
        site.run_until(Instant::from_secs(10));
        let by_then = site.discards();
        site.run_until(Instant::from_secs(35));
        let happened = [site.at_gateway(0), site.at_user(0), site.at_user(1)].concat();
        let failed = happened.iter().filter(|own| own.event.ends_with("unavailable")).count();
        assert_eq!(failed, 0, "{happened:#?}");
        assert!(happened.iter().any(|own| own.event == "congestion"), "{plan:?}");
        let fates = site.fates();
        assert!(fates.iter().all(|fate| (fate.repeated, fate.out_of_sequence) == (0, 0)), "{fates:?}");
        // Management is thrown away as well.
        let (lost, discards) = (fates.iter().map(|fate| fate.lost).sum::<u64>(), site.discards());
        assert!(lost > 0 && (lost..=lost + lost / 100).contains(&discards), "{fates:?} {discards}");
        assert_eq!(discards, by_then, "nothing is once there is room for all");
    }
}
