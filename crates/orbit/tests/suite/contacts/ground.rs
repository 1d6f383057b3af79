//! Satellite that a ground antenna holds, by each policy, and effects of outages on it.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{Contact, ContactCause, ContactKind, ContactPlan, Pass, Planner};
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::site::{Look, SitePosition, Track};
use slantpath_orbit::{ContactNetwork, Site};

use super::fixture::{degrees, epoch, hours, london_boston, plan, site};

pub(crate) fn policies() -> Vec<GroundPolicy> {
    let grid = Reselect::Grid { period: Duration::from_secs(15), offset: Duration::ZERO };
    let mut policies = Vec::new();
    for criterion in
        [Criterion::Nearest, Criterion::Highest, Criterion::LongestRemaining, Criterion::LeastLoaded]
    {
        for reselect in [Reselect::OnLoss, Reselect::Always, grid] {
            policies.push(GroundPolicy { criterion, reselect, handover: Handover::default() });
        }
    }
    policies
}

#[test]
fn every_policy_holds_one_visible_satellite_and_never_idles_while_one_is_visible() {
    for policy in policies() {
        let network = london_boston(policy);
        let span = hours(2);
        let plan = plan(&network, span);
        for site in 0..2 {
            let node = network.site_node(site);
            let stance = network.sites[site].place.at(Instant::START);
            let mut held: Vec<_> = plan.contacts().iter().filter(|contact| contact.b == node).collect();
            held.sort_by_key(|contact| contact.start);
            assert!(held.windows(2).all(|pair| pair[0].end <= pair[1].start), "{policy:?}");
            let mut served = Duration::ZERO;
            for contact in &held {
                served += contact.end - contact.start;
                let orbit = &network.satellites().nth(contact.a.index()).unwrap().orbit;
                for at in [contact.start + Duration::from_millis(1), contact.end - Duration::from_millis(1)] {
                    let look = stance.look(orbit.fixed(epoch().at(at)).unwrap().position);
                    assert!(look.elevation.to_degrees() > 8.199, "{policy:?} {contact:?}");
                }
            }
            let visible: f64 = plan.site_passes(site).iter().map(|(start, end)| end - start).sum();
            let idle = visible - served.as_secs_f64();
            // On a grid, what sets between two ticks is replaced at the next one.
            let is_grid = matches!(policy.reselect, Reselect::Grid { .. });
            let most = if is_grid { 15.0 * held.len() as f64 } else { 1e-3 };
            assert!(idle > -1e-3 && idle < most, "{policy:?} {idle}");
        }
    }
}

#[test]
fn a_look_every_ten_seconds_keeps_what_has_set_and_takes_the_next_in_the_plane_first() {
    let reselect = Reselect::Periodic { interval: Duration::from_secs(10), offset: Duration::from_secs(3) };
    let policy = GroundPolicy { criterion: Criterion::Highest, reselect, handover: Handover::default() };
    let network = london_boston(policy);
    let plan = plan(&network, hours(6));
    let (mut in_plane, mut across, mut late) = (0, 0, 0);
    for site in 0..2 {
        let stance = network.sites[site].place.at(Instant::START);
        let elevation = |node: usize, at: Instant| {
            let orbit = &network.satellites().nth(node).unwrap().orbit;
            stance.look(orbit.fixed(epoch().at(at)).unwrap().position).elevation.to_degrees()
        };
        let node = network.site_node(site);
        let mut held: Vec<&Contact> = plan.contacts().iter().filter(|contact| contact.b == node).collect();
        held.sort_by_key(|contact| contact.start);
        for pair in held.windows(2) {
            let (before, after) = (pair[0], pair[1]);
            assert_eq!(before.end, after.start);
            let seconds = after.start.since_start().as_secs_f64();
            assert!(((seconds - 3.0) / 10.0).fract().abs() < 1e-9, "{seconds} is no look");
            // It has set since the last look.
            let (old, new) = (before.a.index(), after.a.index());
            assert!(elevation(old, after.start) < 8.2);
            assert!(elevation(old, after.start - Duration::from_secs(10)) > 8.2);
            late += usize::from(elevation(old, after.start) < 8.19);
            let behind = old / 11 * 11 + (old + 10) % 11;
            if elevation(behind, after.start) > 8.2 {
                assert_eq!(new, behind);
                in_plane += 1;
            } else {
                let highest =
                    (0..66).max_by(|&a, &b| elevation(a, after.start).total_cmp(&elevation(b, after.start)));
                assert_eq!(Some(new), highest);
                across += 1;
            }
        }
    }
    assert!(in_plane > 20 && across > 2 && late > 20, "{in_plane} {across} {late}");
}

#[test]
fn what_sets_between_the_last_look_and_the_end_of_the_span_is_held_until_the_span_ends() {
    let first = |reselect, span| {
        let policy = GroundPolicy { criterion: Criterion::Highest, reselect, ..GroundPolicy::default() };
        let network = london_boston(policy);
        let plan = plan(&network, span);
        let node = network.site_node(0);
        let held = plan.contacts().iter().filter(|contact| contact.b == node);
        *held.min_by_key(|contact| contact.start).unwrap()
    };
    let set = first(Reselect::OnLoss, hours(1)).end;
    let second = set.since_start().as_nanos() / 1_000_000_000;
    let span = Duration::from_secs(second + 4);
    let look = |interval| Reselect::Periodic { interval, offset: Duration::ZERO };
    for (reselect, end, closes) in [
        (Reselect::OnLoss, set, ContactCause::Sets),
        (look(Duration::from_secs(second + 2)), Instant::from_secs(second + 2), ContactCause::Sets),
        (look(span), Instant::START + span, ContactCause::SpanEnds),
        (look(hours(1)), Instant::START + span, ContactCause::SpanEnds),
    ] {
        let held = first(reselect, span);
        let apart = held.end.since_start().abs_diff(end.since_start());
        assert!(apart < Duration::from_millis(1), "{reselect:?}: {held:?}");
        assert_eq!(held.closes, closes, "{reselect:?}: {held:?}");
    }
}

#[test]
fn always_nearest_and_always_highest_hold_the_best_at_every_instant() {
    for criterion in [Criterion::Nearest, Criterion::Highest] {
        let policy = GroundPolicy { criterion, reselect: Reselect::Always, handover: Handover::default() };
        let network = london_boston(policy);
        let plan = plan(&network, hours(1));
        let stance = network.sites[0].place.at(Instant::START);
        let node = network.site_node(0);
        for second in 1..3_599 {
            let at = Instant::from_millis(second * 1_000 + 137);
            let angles =
                network.satellites().map(|s| stance.look(s.orbit.fixed(epoch().at(at)).unwrap().position));
            let score = |look: Look| {
                if criterion == Criterion::Nearest { look.range_m } else { -look.elevation }
            };
            let scores: Vec<f64> = angles.map(score).collect();
            let best = scores.iter().copied().fold(f64::MAX, f64::min);
            let held =
                plan.contacts().iter().find(|contact| contact.b == node && contact.holds_at(at)).unwrap();
            assert!(
                scores[held.a.index()] <= best + 1e-9 + 1e-3 * f64::from(criterion == Criterion::Nearest)
            );
        }
    }
}

#[test]
fn longest_remaining_takes_the_satellite_that_sets_last() {
    let policy = GroundPolicy { criterion: Criterion::LongestRemaining, ..GroundPolicy::default() };
    let network = london_boston(policy);
    let span = hours(2);
    let planner = Planner::new(&network, span).unwrap();
    let passes = planner.passes(0).unwrap();
    let plan = planner.plan(&mut |_, _| {}).unwrap();
    let node = network.site_node(0);
    for contact in plan.contacts().iter().filter(|contact| contact.b == node) {
        let start = contact.start.since_start().as_secs_f64();
        let under_way = |pass: &&Pass| pass.start_seconds() <= start && pass.end_seconds() > start + 1e-3;
        let last = passes.of_antenna(0).iter().filter(under_way).map(Pass::end_seconds).fold(0.0, f64::max);
        assert!(
            (contact.end.since_start().as_secs_f64() - last).abs() < 1e-3
                || contact.closes == ContactCause::SpanEnds
        );
    }
}

#[test]
fn breaks_pause_and_overlaps_overlap() {
    let held = |handover| {
        let policy = GroundPolicy { handover, ..GroundPolicy::default() };
        let network = london_boston(policy);
        let plan = plan(&network, hours(3));
        let node = network.site_node(0);
        let mut held: Vec<_> = plan.contacts().iter().filter(|c| c.b == node).copied().collect();
        held.sort_by_key(|contact| contact.start);
        held
    };
    let gap = Duration::from_millis(250);
    let broken = held(Handover::BreakBeforeMake { gap });
    assert!(broken.len() > 8);
    assert!(broken.windows(2).all(|pair| pair[1].start.saturating_since(pair[0].end) == gap));
    let overlap = Duration::from_secs(5);
    let made = held(Handover::MakeBeforeBreak { overlap });
    let both = |pair: &[Contact]| pair[0].end.saturating_since(pair[1].start);
    assert!(made.windows(2).all(|pair| both(pair).abs_diff(overlap) <= Duration::from_micros(1)), "{made:?}");
}

#[test]
fn loads_spread_where_the_policy_asks_for_it() {
    let busiest = |criterion| {
        let policy = GroundPolicy { criterion, reselect: Reselect::Always, handover: Handover::default() };
        let mut network = ContactNetwork::new(epoch(), Preset::StarlinkShell1.build(epoch()).unwrap());
        let antenna = Antenna::new(degrees(25.0)).with_policy(policy);
        network.sites =
            (0..12).map(|k| site(&format!("s{k}"), 48.0, 0.01 * f64::from(k), antenna.clone())).collect();
        let plan = plan(&network, Duration::from_secs(300));
        let at = Instant::from_secs(150);
        let mut load = vec![0; plan.satellite_count()];
        for contact in plan.contacts().iter().filter(|c| c.holds_at(at) && plan.is_site(c.b)) {
            load[contact.a.index()] += 1;
        }
        load.into_iter().max().unwrap()
    };
    assert_eq!(busiest(Criterion::Highest), 12);
    assert!(busiest(Criterion::LeastLoaded) <= 2);
}

#[test]
fn nobody_who_balances_loads_could_do_better_by_moving() {
    // Sites so far apart that satellites rise and set for each at its own times.
    let mut network = london_boston(GroundPolicy::default());
    let policy = GroundPolicy {
        criterion: Criterion::LeastLoaded,
        reselect: Reselect::Always,
        handover: Handover::default(),
    };
    let antenna = Antenna::new(degrees(8.2)).with_policy(policy);
    let place = |k: u32| (35.0 + 3.0 * f64::from(k % 6), -10.0 + 4.0 * f64::from(k));
    network.sites =
        (0..16).map(|k| site(&format!("s{k}"), place(k).0, place(k).1, antenna.clone())).collect();
    let planner = Planner::new(&network, Duration::from_secs(3_000)).unwrap();
    let passes: Vec<_> = (0..16).map(|site| planner.passes(site).unwrap()).collect();
    let plan = planner.finish(&passes).unwrap();
    let mut moves = 0;
    for ms in (500..2_999_000).step_by(7_321) {
        let at = Instant::from_millis(ms);
        let mut load = vec![0_u32; plan.satellite_count()];
        let held: Vec<&Contact> =
            plan.contacts().iter().filter(|c| c.holds_at(at) && plan.is_site(c.b)).collect();
        for contact in &held {
            load[contact.a.index()] += 1;
        }
        for contact in held {
            let site = contact.b.index() - plan.satellite_count();
            for pass in passes[site].of_antenna(0) {
                let t = ms as f64 / 1e3;
                if pass.start_seconds() < t && t < pass.end_seconds() {
                    let (here, there) = (load[contact.a.index()], load[pass.satellite as usize]);
                    assert!(
                        there + 2 > here,
                        "{contact:?} at {at}: {here} here, {there} on {}",
                        pass.satellite
                    );
                }
            }
        }
    }
    for contact in plan.contacts().iter().filter(|contact| plan.is_site(contact.b)) {
        moves += usize::from(contact.opens == ContactCause::Preferred);
    }
    assert!(moves > 20, "{moves}");
}

#[test]
fn an_outage_ends_contacts_and_another_satellite_takes_over() {
    let mut network = london_boston(GroundPolicy::default());
    let before = plan(&network, hours(1));
    let node = network.site_node(0);
    let first = before.contacts().iter().find(|contact| contact.b == node).unwrap();
    let name = &before.names()[first.a.index()];
    let script = format!("100 s, 200 s, {name}\n");
    network.outages = slantpath_orbit::outage::read(&script, "outages.csv").unwrap();
    let after = plan(&network, hours(1));
    let held: Vec<_> = after.contacts().iter().filter(|contact| contact.b == node).collect();
    assert_eq!((held[0].end, held[0].closes), (Instant::from_secs(100), ContactCause::Outage));
    assert_eq!((held[1].start, held[1].opens), (Instant::from_secs(100), ContactCause::Replacement));
    let during = Instant::from_secs(150);
    let touches = |c: &&Contact| c.a == first.a || c.b == first.a;
    assert_eq!(after.contacts().iter().filter(touches).filter(|c| c.holds_at(during)).count(), 0);
}

#[test]
fn a_network_that_starts_later_has_the_contacts_that_it_would_have_had_by_then() {
    let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
    let antenna = |reselect| {
        Antenna::new(degrees(8.2)).with_policy(GroundPolicy { reselect, ..GroundPolicy::default() })
    };
    let seconds = Duration::from_secs;
    let grid = Reselect::Grid { period: seconds(15), offset: seconds(7) };
    let periodic = Reselect::Periodic { interval: seconds(10), offset: seconds(3) };
    let flight = Track::read("0 s, 50, -10, 10000\n2 h, 42, -60, 11000\n", "flight.csv").unwrap();
    let mut plane = site("plane", 0.0, 0.0, antenna(grid));
    plane.place = SitePosition::Track(flight);
    network.sites = vec![
        plane,
        site("london", 51.5, -0.1, antenna(periodic)),
        site("north", 80.0, 0.0, antenna(Reselect::Always)),
    ];
    let script = "10 min, 20 min, north\n40 min, 55 min, north\n";
    network.outages = slantpath_orbit::outage::read(script, "outages.csv").unwrap();
    let (start, span) = (seconds(30 * 60 + 4), seconds(3_600));
    let (whole, later) = (plan(&network, start + span), plan(&network.starting_after(start), span));
    // Contacts with the ground that begin and end within both; of those in progress at the start nothing is known.
    let within = |plan: &ContactPlan, start: Duration| -> Vec<(u32, u32, f64, f64)> {
        let settled = Instant::START + start + seconds(700);
        let end = Instant::START + start + span;
        let contacts = plan.contacts().iter().filter(|contact| {
            matches!(contact.kind, ContactKind::Ground { .. }) && contact.start > settled && contact.end < end
        });
        let time = |at: Instant| (at - (Instant::START + start)).as_secs_f64();
        let mut rows: Vec<_> = contacts
            .map(|contact| (contact.b.0, contact.a.0, time(contact.start), time(contact.end)))
            .collect();
        rows.sort_by(|one, other| one.partial_cmp(other).unwrap());
        rows
    };
    let (expected, found) = (within(&whole, start), within(&later, Duration::ZERO));
    assert!(expected.len() > 30, "{}", expected.len());
    assert_eq!(expected.len(), found.len());
    for (one, other) in expected.iter().zip(&found) {
        assert_eq!((one.0, one.1), (other.0, other.1));
        assert!((one.2 - other.2).abs() < 1e-4 && (one.3 - other.3).abs() < 1e-4, "{one:?} {other:?}");
    }
    // The outage at 40 minutes, 596 s after the later start: the one before it is over.
    assert_eq!(network.starting_after(start).outages.len(), 1);
    let north = later.node("north").unwrap();
    let cut = (Instant::from_secs(596), Instant::from_secs(1_496));
    assert!(
        later
            .contacts()
            .iter()
            .all(|contact| contact.b != north || contact.end <= cut.0 || contact.start >= cut.1)
    );
}

#[test]
fn the_first_antenna_of_a_site_takes_over_from_the_second_rather_than_have_no_satellite() {
    // At the equator often one satellite of Iridium is in sight, and seldom three.
    let periodic = Reselect::Periodic { interval: Duration::from_secs(10), offset: Duration::ZERO };
    for (reselect, most_idle_s) in [(Reselect::OnLoss, 0.01), (Reselect::Always, 0.01), (periodic, 10.0)] {
        let policy = GroundPolicy { criterion: Criterion::Highest, reselect, handover: Handover::default() };
        let antenna = Antenna::new(degrees(8.2)).with_policy(policy);
        let mut network = ContactNetwork::new(epoch(), Preset::Iridium.build(epoch()).unwrap());
        let two = Site { antennas: vec![antenna.clone(), antenna.clone()], ..site("two", 1.0, 7.0, antenna) };
        network.sites = vec![two];
        let plan = plan(&network, hours(3));
        let held = |antenna| {
            let of_antenna =
                plan.contacts().iter().filter(move |c| c.kind == ContactKind::Ground { antenna });
            let mut held: Vec<_> = of_antenna.copied().collect();
            held.sort_by_key(|contact| contact.start);
            held
        };
        let (first, second) = (held(0), held(1));
        let served = |held: &[Contact]| held.iter().map(|c| (c.end - c.start).as_secs_f64()).sum::<f64>();
        let visible: f64 = plan.site_passes(0).iter().map(|(start, end)| end - start).sum();
        assert!(visible - served(&first) < most_idle_s, "{reselect:?}: {} of {visible} s", served(&first));
        assert!(served(&second) < 0.9 * served(&first), "the second has what is left");
        for other in &second {
            let both = |c: &&Contact| c.a == other.a && c.start < other.end && other.start < c.end;
            assert_eq!(first.iter().find(both), None, "{reselect:?}: one satellite for two antennas");
        }
        let taken_over = second.iter().filter(|contact| contact.closes == ContactCause::HandedOver).count();
        assert!(taken_over > 3, "{reselect:?}: {taken_over}");
    }
}
