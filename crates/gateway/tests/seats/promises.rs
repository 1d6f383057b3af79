//! Promises of a gateway when something dies, under load.

use slantpath_base::{Duration, Instant};
use slantpath_gateway::Happening;
use slantpath_live::Station;
use slantpath_sigtran::asp::TrafficMode;
use slantpath_ss7::PointCodeFormat;

use super::site::{Far, Fate, Plan, Site};

/// Something dies then.
const DEATH: Instant = Instant::from_millis(5_500);
/// All messages have arrived, or will not.
const END: Instant = Instant::from_secs(16);
/// Most time from the detection to the first message that goes another way.
const CHANGEOVER: Duration = Duration::from_millis(200);
const OVERRIDE: Far = Far::Processes(2, TrafficMode::Override);
const LOADSHARE: Far = Far::Processes(2, TrafficMode::Loadshare);

/// The plan as it is, and both formats and families under less load.
fn variants(plan: Plan) -> impl Iterator<Item = Plan> {
    let slow = Plan { rate: 1_000, ..plan };
    let others =
        [(PointCodeFormat::Ansi, true), (PointCodeFormat::Itu, true), (PointCodeFormat::Ansi, false)];
    let others = others.map(|(format, is_ipv6)| Plan { format, is_ipv6, ..slow });
    std::iter::once(plan).chain(others)
}

fn first(happened: &[Happening], event: &str, of: &str) -> Instant {
    let is_meant = |own: &&Happening| {
        own.at >= DEATH && own.event == event && own.subjects.iter().any(|(_, name)| name == of)
    };
    happened.iter().find(is_meant).unwrap_or_else(|| panic!("no {event} of {of} in {happened:#?}")).at
}

/// Time from an event to the first message that goes another way.
fn changeover(happened: &[Happening], detected: &str, of: &str) -> Duration {
    first(happened, "traffic-diverted", of) - first(happened, detected, of)
}

/// Nothing came twice or out of its order; gives what was lost.
fn lost(site: &mut Site, plan: &Plan) -> [u64; 2] {
    let sent = u64::from(plan.rate) / 2 * plan.lasts.as_millis() / 1_000;
    site.fates().map(|fate| {
        assert!(fate.sent.abs_diff(sent) <= sent / 50, "{fate:?} of {sent}, {plan:?}");
        let Fate { repeated, out_of_sequence, lost, .. } = fate;
        assert_eq!((repeated, out_of_sequence), (0, 0), "{fate:?} {plan:?}");
        lost
    })
}

/// A process that answers and reads nothing is told of, and what waits for it is sent once it reads.
#[test]
fn a_peer_that_lives_and_takes_nothing_is_told_with_its_time() {
    for far in [Far::Exchange, Far::Processes(1, TrafficMode::Override)] {
        let plan = Plan { far, rate: 4_000, lasts: Duration::from_secs(6), ..Plan::default() };
        let name = if far == Far::Exchange { "link-1-2-0" } else { "asp-0-at-1" };
        let mut site = Site::new(&plan);
        let way = site.way(name);
        site.run_until(DEATH);
        site.read(way, false);
        // Another file changes nothing of it.
        site.run_until(Instant::from_millis(5_900));
        site.reload(0, "renamed");
        site.run_until(Instant::from_secs(10));
        let status = |site: &mut Site| {
            let now = site.now();
            let Station { host, program } = site.gateway(0);
            let all = program.status(now, host).associations;
            all.into_iter().find(|end| end.association == name).unwrap()
        };
        let begun = first(site.at_gateway(0), "peer-takes-nothing", name);
        let end = status(&mut site);
        assert!(end.takes_nothing && end.standstills == 1 && end.standstill_s > 1.0, "{end:?} {plan:?}");
        assert_eq!((end.state, end.times_lost), ("up", 0));
        site.read(way, true);
        site.run_until(Instant::from_secs(20));
        let over = first(site.at_gateway(0), "peer-takes-again", name);
        let after = status(&mut site);
        assert!(!after.takes_nothing && over > begun, "{after:?}");
        assert!(after.standstill_s >= end.standstill_s && after.standstill_s < 6.0, "{after:?}");
        assert_eq!(lost(&mut site, &plan), [0, 0], "{plan:?}");
    }
}

/// So many seconds, with 2 % of all packets lost, in which one association after the other is cut and mended and the
/// gateways take other files; then what is needed until nothing is on its way.
pub(crate) fn churn(site: &mut Site, seconds: u64) {
    let turns = seconds / 2 - 1;
    site.lose(Instant::from_secs(4), 0.02);
    let names = site.names();
    for (turn, number) in (0..turns).zip(0_usize..) {
        let way = site.way(&names[number % names.len()]);
        site.cut(Instant::from_millis(5_500 + 2_000 * turn), way);
        site.mend(Instant::from_millis(6_900 + 2_000 * turn), way);
        site.run_until(Instant::from_millis(5_600 + 2_000 * turn));
        site.reload(number % 2, if turn % 4 < 2 { "renamed" } else { "server" });
    }
    site.run_until(Instant::from_secs(2 * turns + 32));
}

/// Half a minute of it, or as long as SLANTPATH_CHURN_SECONDS says.
#[test]
fn associations_come_and_go_over_lossy_paths_and_nothing_is_left_behind() {
    let seconds = std::env::var("SLANTPATH_CHURN_SECONDS").ok().and_then(|text| text.parse().ok());
    let seconds = seconds.unwrap_or(30_u64);
    for (far, is_ipv6) in [(Far::Exchange, true), (LOADSHARE, false), (OVERRIDE, true)] {
        let lasts = Duration::from_secs(seconds);
        let plan = Plan { far, is_ipv6, gateways: 2, rate: 500, lasts, ..Plan::default() };
        let mut site = Site::new(&plan);
        churn(&mut site, seconds);
        let names = site.names();
        let mut in_doubt = 0;
        for name in &names {
            let way = site.way(name);
            in_doubt += site.counts(way).iter().map(|counts| counts.in_doubt).sum::<u64>();
        }
        let fates = site.fates();
        let lost: u64 = fates.iter().map(|fate| fate.lost).sum();
        assert!(fates.iter().all(|fate| fate.repeated == 0), "{fates:?}");
        let bound = match far {
            // Both ends of M2PA say what they have had. What has no way left, or comes back too late, is counted.
            Far::Exchange => site.discards_of(&["inaccessible-destination", "not-retrieved"]),
            Far::Processes(..) => in_doubt,
        };
        assert!(lost <= bound, "{fates:?} {bound}");
        let now = site.now();
        for number in [0, 1] {
            let Station { host, program } = site.gateway(number);
            let status = program.status(now, host);
            let waiting = status.associations.iter().map(|end| end.waiting).sum::<u64>()
                + status.links.iter().map(|link| link.queued_msus).sum::<u64>()
                + status.counters.values().filter_map(|own| own.get("waiting")).sum::<u64>();
            assert_eq!(waiting, 0, "{status:#?}");
            assert!(status.associations.iter().all(|end| end.state == "up"), "{status:#?}");
        }
    }
}

#[test]
fn a_path_fails_and_nothing_is_lost() {
    for (far, name) in [(Far::Exchange, "link-0-1-0"), (OVERRIDE, "asp-0-at-1")] {
        for plan in variants(Plan { far, rate: 4_000, ..Plan::default() }) {
            let mut site = Site::new(&plan);
            let way = site.way(name);
            site.cut_path(DEATH, way, 0);
            site.run_until(END);
            assert_eq!(lost(&mut site, &plan), [0, 0], "{plan:?}");
            let inactive = first(site.at_gateway(0), "inactive", name);
            assert!(inactive < Instant::from_secs(7), "{inactive:?}");
            assert_eq!(site.counts(way).map(|counts| counts.times_lost), [0, 0]);
        }
    }
}

/// By the extended changeover order (RFC 4165, section 4.2.3): both ends say what they have had.
#[test]
fn an_association_of_m2pa_dies_between_two_that_live_and_nothing_is_lost() {
    for plan in variants(Plan::default()) {
        let mut site = Site::new(&plan);
        let way = site.way("link-0-1-0");
        site.cut(DEATH, way);
        site.mend(Instant::from_millis(6_300), way);
        site.run_until(END);
        assert_eq!(lost(&mut site, &plan), [0, 0], "{plan:?}");
        for happened in [site.at_gateway(0), site.at_user(0)] {
            let took = changeover(happened, "unavailable", "link-0-1-0");
            assert!(took <= CHANGEOVER, "{took:?}");
            first(happened, "available", "link-0-1-0");
        }
    }
}

/// Messages that wait go to the other process. Those on their way, which the count in doubt bounds, go nowhere a second
/// time.
#[test]
fn a_process_dies_and_the_other_one_gets_all_that_waits() {
    for far in [OVERRIDE, LOADSHARE] {
        for plan in variants(Plan { far, ..Plan::default() }) {
            let mut site = Site::new(&plan);
            site.kill_process(DEATH, 0);
            site.run_until(END);
            let way = site.way("asp-0-at-1");
            let counts = site.counts(way)[0];
            let [there, back] = lost(&mut site, &plan);
            assert!(there > 0 && there <= counts.in_doubt, "{there} {counts:?} {plan:?}");
            // A round trip and the window: 50 ms of the traffic, far less than the detection takes.
            assert!(counts.in_doubt <= u64::from(plan.rate) / 40 + 100, "{counts:?} {plan:?}");
            assert!(counts.returned > u64::from(plan.rate) / 20, "{counts:?} {plan:?}");
            assert_eq!((counts.discarded_down, counts.discarded_full), (0, 0));
            let now = site.now();
            let Station { host, program } = site.gateway(0);
            let m3ua = program.status(now, host).counters["m3ua"].clone();
            assert!(m3ua["returned"] > 0 && m3ua["returned"] <= counts.returned, "{m3ua:?} {counts:?}");
            // Its own users die with it.
            assert!(back > 0, "{plan:?}");
            let took = changeover(site.at_gateway(0), "association-ended", "asp-0-at-1");
            assert!(took <= CHANGEOVER, "{took:?}");
        }
    }
}

/// The process lives on: it speaks by the other gateway, and so does the first gateway's exchange.
#[test]
fn an_association_of_a_process_dies_and_both_ends_send_what_waits_elsewhere() {
    for plan in variants(Plan { far: LOADSHARE, gateways: 2, rate: 4_000, ..Plan::default() }) {
        let mut site = Site::new(&plan);
        let way = site.way("asp-0-at-1");
        site.cut(DEATH, way);
        site.run_until(END);
        let [at_gateway, at_process] = site.counts(way);
        let [there, back] = lost(&mut site, &plan);
        assert!(there <= at_gateway.in_doubt && back <= at_process.in_doubt, "{there} {back} {plan:?}");
        assert!(at_gateway.returned > 0 && at_process.returned > 0, "{at_gateway:?} {at_process:?}");
        for counts in [at_gateway, at_process] {
            assert!(counts.in_doubt <= u64::from(plan.rate) / 40 + 100, "{counts:?} {plan:?}");
        }
    }
}

/// Lost is what it held, and what was on its way to it.
#[test]
fn a_gateway_dies_and_the_other_one_of_a_pair_takes_over() {
    for far in [Far::Exchange, LOADSHARE] {
        let plan = Plan { far, gateways: 2, lasts: Duration::from_secs(4), rate: 2_000, ..Plan::default() };
        for plan in variants(plan) {
            let mut site = Site::new(&plan);
            site.kill_gateway(DEATH, 0);
            site.run_until(END);
            let to_users: &[&str] = match far {
                Far::Exchange => &["link-1-3-0"],
                Far::Processes(..) => &["asp-0-at-1", "asp-1-at-1"],
            };
            let mut bounds = [0; 2];
            for (names, towards, from) in [(&["link-0-1-0", "link-0-1-1"][..], 0, 1), (to_users, 1, 0)] {
                for name in names {
                    let way = site.way(name);
                    let [at_gateway, at_user] = site.counts(way);
                    bounds[towards] += at_user.in_doubt;
                    bounds[from] += at_gateway.in_doubt + at_gateway.returned;
                }
            }
            let lost = lost(&mut site, &plan);
            assert!(lost[0] <= bounds[0] && lost[1] <= bounds[1], "{lost:?} {bounds:?} {plan:?}");
        }
    }
}
