//! Satellites chosen together for both ends of a pair.

use std::collections::BTreeSet;

use slantpath_base::{Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::constellation::{Constellation, IslConfig, IslPattern, Payload};
use slantpath_orbit::contact::{Contact, ContactCause, ContactKind, ContactPlan};
use slantpath_orbit::ground::{Antenna, Criterion, GroundPolicy, Handover, Reselect};
use slantpath_orbit::network::NetworkError;
use slantpath_orbit::outage::{Failing, Outage};
use slantpath_orbit::pair::{Cable, CableDelay, FIBRE_SPEED_RATIO, SitePair};
use slantpath_orbit::site::Relay;
use slantpath_orbit::topology::{RouteChoice, Timeline, follow};
use slantpath_orbit::{ContactNetwork, ContactNodeId, Site};

use super::fixture::{degrees, epoch, hours, plan, site};

fn policy(criterion: Criterion, reselect: Reselect) -> GroundPolicy {
    GroundPolicy { criterion, reselect, handover: Handover::default() }
}

fn antenna(policy: GroundPolicy) -> Antenna {
    Antenna::new(degrees(25.0)).with_policy(policy)
}

fn with_antennas(site: Site, count: usize) -> Site {
    Site { antennas: vec![site.antennas[0].clone(); count], ..site }
}

/// A ship in the ice and the ground station on Svalbard below OneWeb.
fn ship_and_svalbard(policy: GroundPolicy) -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch(), Preset::OneWeb.build(epoch()).unwrap());
    network.sites =
        vec![site("ship", 81.0, 0.0, antenna(policy)), site("svalbard", 78.23, 15.39, antenna(policy))];
    network.pairs = vec![SitePair::new("ship", "svalbard")];
    network
}

fn joined(plan: &ContactPlan, from: &str, to: &str) -> Timeline {
    follow(plan, plan.node(from).unwrap(), plan.node(to).unwrap(), &RouteChoice::LeastDelay)
}

fn connected(plan: &ContactPlan, from: &str, to: &str) -> f64 {
    joined(plan, from, to).summary(plan).connected.as_secs_f64() / plan.span().as_secs_f64()
}

/// The length of the way over each satellite in sight of both sites at a second, and the lower of its two elevations.
fn in_common(network: &ContactNetwork, second: u64, ends: [usize; 2]) -> Vec<(ContactNodeId, f64, f64)> {
    let (now, date) = (Instant::from_secs(second), network.epoch.after(Duration::from_secs(second)));
    let looks = network.satellites().enumerate().map(|(node, satellite)| {
        let position = satellite.orbit.fixed(date).unwrap().position;
        (ContactNodeId::new(node), ends.map(|end| network.sites[end].place.at(now).look(position)))
    });
    let lowest = 25.0_f64.to_radians();
    looks
        .filter(|(_, looks)| looks.iter().all(|look| look.elevation > lowest + 1e-4))
        .map(|(node, [a, b])| (node, a.range_m + b.range_m, a.elevation.min(b.elevation)))
        .collect()
}

fn held(plan: &ContactPlan, site: &str, now: Instant) -> Vec<ContactNodeId> {
    let node = plan.node(site).unwrap();
    plan.contacts().iter().filter(|one| one.b == node && one.holds_at(now)).map(|one| one.a).collect()
}

#[test]
fn a_ship_at_81_north_is_joined_with_svalbard_all_day() {
    for reselect in [Reselect::OnLoss, Reselect::Always, starlink_grid()] {
        let mut network = ship_and_svalbard(policy(Criterion::Nearest, reselect));
        let plan_of_pairs = plan(&network, hours(24));
        assert_eq!(joined(&plan_of_pairs, "ship", "svalbard").gaps(), []);
        network.pairs.clear();
        let alone = connected(&plan(&network, hours(24)), "ship", "svalbard");
        println!("{reselect:?}: each for itself {:.1} %", alone * 100.0);
        assert!(alone < 0.6, "{alone}");
    }
}

fn starlink_grid() -> Reselect {
    Reselect::Grid { period: Duration::from_secs(15), offset: Duration::ZERO }
}

#[test]
fn a_pair_has_a_way_exactly_while_a_satellite_is_in_sight_of_both() {
    // Far apart: a satellite in common is there only now and then.
    let mut network = ship_and_svalbard(policy(Criterion::Highest, Reselect::OnLoss));
    network.sites[0] = site("ship", 52.0, 0.0, network.sites[0].antennas[0].clone());
    let plan = plan(&network, hours(3));
    let timeline = joined(&plan, "ship", "svalbard");
    let mut seen = [0, 0];
    for second in 1..3 * 3_600 - 1 {
        let is_possible = !in_common(&network, second, [0, 1]).is_empty();
        let is_joined = timeline.leg_at(Instant::from_secs(second)).unwrap().path.is_some();
        // A hair above the limit is left out of what is expected.
        assert!(is_joined || !is_possible, "{second}");
        seen[usize::from(is_possible)] += 1;
        if !is_joined {
            assert_eq!(
                held(&plan, "ship", Instant::from_secs(second)),
                [],
                "an antenna holds what joins nobody"
            );
        }
    }
    assert!(seen.iter().all(|&count| count > 500), "{seen:?}");
}

#[test]
fn always_nearest_is_the_shortest_way_and_always_highest_the_highest_lower_end() {
    for criterion in [Criterion::Nearest, Criterion::Highest] {
        let network = ship_and_svalbard(policy(criterion, Reselect::Always));
        let plan = plan(&network, hours(1));
        let mut several = 0;
        for second in (5..3_595).step_by(7) {
            let ways = in_common(&network, second, [0, 1]);
            let better = |a: &&(ContactNodeId, f64, f64), b: &&(ContactNodeId, f64, f64)| match criterion {
                Criterion::Nearest => a.1.total_cmp(&b.1),
                _ => b.2.total_cmp(&a.2),
            };
            let best = ways.iter().min_by(better).unwrap().0;
            several += usize::from(ways.len() > 1);
            for end in ["ship", "svalbard"] {
                assert_eq!(
                    held(&plan, end, Instant::from_secs(second)),
                    [best],
                    "{criterion:?} {second} {end}"
                );
            }
        }
        assert!(several > 400, "{several}");
    }
}

#[test]
fn a_gateway_holds_as_many_satellites_as_it_has_antennas_and_shares_them() {
    let mut network = ship_and_svalbard(policy(Criterion::LongestRemaining, Reselect::OnLoss));
    let places = [(81.0, 0.0), (80.5, 30.0), (74.0, 19.0), (70.7, 23.6), (79.0, 5.0), (70.0, 31.1)];
    let terminal = |(index, (latitude, longitude))| {
        site(&format!("t{index}"), latitude, longitude, network.sites[0].antennas[0].clone())
    };
    let terminals: Vec<Site> = places.into_iter().enumerate().map(terminal).collect();
    let gateway = network.sites[1].clone();
    let mut counts = Vec::new();
    for antennas in [1, 2, 8] {
        network.sites = terminals.iter().cloned().chain([with_antennas(gateway.clone(), antennas)]).collect();
        network.pairs = terminals.iter().map(|terminal| SitePair::new(&terminal.name, "svalbard")).collect();
        let plan = plan(&network, hours(2));
        let mut most = 0;
        for second in (0..7_200).step_by(10) {
            let held = held(&plan, "svalbard", Instant::from_secs(second));
            let different: BTreeSet<&ContactNodeId> = held.iter().collect();
            assert_eq!(different.len(), held.len(), "two antennas hold one satellite");
            most = most.max(held.len());
        }
        assert!(most <= antennas);
        counts.push((most, terminals.iter().map(|one| connected(&plan, &one.name, "svalbard")).sum::<f64>()));
    }
    println!("{counts:?}");
    assert_eq!(counts[0].0, 1);
    assert_eq!(counts[1].0, 2);
    assert!(counts[2].0 > 2);
    assert!(counts[0].1 > 1.0 && counts[1].1 > counts[0].1 && counts[2].1 > counts[1].1, "{counts:?}");
    // With antennas for everyone, each is joined whenever it could be.
    assert!((counts[2].1 - alone(&terminals, &gateway)).abs() < 1e-9, "{counts:?}");
}

#[test]
fn an_antenna_that_becomes_free_is_taken_at_once_by_whoever_waits_for_it() {
    let mut network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
    let one = network.sites[0].antennas[0].clone();
    // Both at the edge of what Svalbard can reach.
    network.sites = vec![
        site("east", 53.0, 45.0, one.clone()),
        site("svalbard", 78.23, 15.39, one.clone()),
        site("west", 52.0, -5.0, one),
    ];
    network.pairs = vec![SitePair::new("east", "svalbard"), SitePair::new("west", "svalbard")];
    let plan = plan(&network, hours(6));
    let mut idle = 0;
    for second in 1..6 * 3_600 - 1 {
        if held(&plan, "svalbard", Instant::from_secs(second)).is_empty() {
            idle += 1;
            for end in [0, 2] {
                assert!(in_common(&network, second, [end, 1]).is_empty(), "{second} {end}");
            }
        }
    }
    assert!(idle > 100, "{idle}");
}

/// Satellites that a ship holds one after the other, each from and until a second. She and her shore take the least
/// loaded of two at every tick, of which `geo-1` is higher; others that hold that one are in service from 100 to 200 s.
fn least_loaded_beside(others: &[&str], pair: Option<SitePair>) -> Vec<(String, u64, u64)> {
    let constellation = Constellation::geostationary("geo", &[-20.0, -5.0]);
    let mut network = ContactNetwork::new(epoch(), vec![constellation]);
    let there =
        |criterion| move |name: &&str| site(name, 45.0, -20.0, antenna(policy(criterion, starlink_grid())));
    let own = ["ship", "shore"].iter().map(there(Criterion::LeastLoaded));
    network.sites = own.chain(others.iter().map(there(Criterion::Highest))).collect();
    network.pairs = [SitePair::new("ship", "shore")].into_iter().chain(pair).collect();
    let outage = |name: &&str, from, until| Outage {
        what: Failing::Node((*name).to_owned()),
        from: Instant::from_secs(from),
        until: Instant::from_secs(until),
    };
    let both = |name| [outage(name, 0, 100), outage(name, 200, 300)];
    network.outages = others.iter().flat_map(both).collect();
    let plan = plan(&network, Duration::from_secs(300));
    let ship = plan.node("ship").unwrap();
    let mut held: Vec<&Contact> = plan.contacts().iter().filter(|contact| contact.b == ship).collect();
    held.sort_by_key(|contact| contact.start);
    let second = |at: Instant| at.since_start().as_nanos() / 1_000_000_000;
    let row = |one: &Contact| (plan.names()[one.a.index()].clone(), second(one.start), second(one.end));
    held.into_iter().map(row).collect()
}

#[test]
fn a_pair_leaves_a_satellite_for_a_less_loaded_one_and_for_no_equal_one() {
    let only_first = SitePair { satellites: vec!["geo-1".to_owned()], ..SitePair::new("boat", "pier") };
    // The other pair takes its satellite at the tick of 105 s. Once it has gone, nothing is gained by moving back.
    assert_eq!(
        least_loaded_beside(&["boat", "pier"], Some(only_first)),
        [("geo-1".to_owned(), 0, 120), ("geo-2".to_owned(), 120, 300)]
    );
    // One antenna more on the satellite is less than the two that the pair would burden the other with.
    assert_eq!(least_loaded_beside(&["pier"], None), [("geo-1".to_owned(), 0, 300)]);
    assert_eq!(least_loaded_beside(&[], None), [("geo-1".to_owned(), 0, 300)]);
}

#[test]
fn who_takes_what_lasts_longest_heeds_a_cable_that_will_fail() {
    let mut network = sea_and_exchange(Criterion::LongestRemaining);
    let cut = |from, until| Outage {
        what: Failing::Link("exchange".to_owned(), "norway".to_owned()),
        from: Instant::from_secs(from),
        until: Instant::from_secs(until),
    };
    network.sites.iter_mut().flat_map(|site| &mut site.antennas).for_each(|antenna| {
        antenna.policy.reselect = Reselect::OnLoss;
    });
    // Cut for a second in every minute: whatever lands in Norway lasts a minute at most.
    network.outages = (0..60).map(|minute| cut(60 * minute + 59, 60 * minute + 60)).collect();
    let plan = plan(&network, hours(1));
    let timeline = joined(&plan, "ship", "exchange");
    let norway = plan.node("norway").unwrap();
    let lands_in_norway = |path: &slantpath_orbit::route::Path| path.nodes.contains(&norway);
    assert!(timeline.legs.iter().all(|leg| !leg.path.as_ref().is_some_and(lands_in_norway)));
    assert_eq!(timeline.gaps(), []);
}

/// The sum of what each terminal has if the gateway is there for it alone.
fn alone(terminals: &[Site], gateway: &Site) -> f64 {
    let share = |terminal: &Site| {
        let mut network = ship_and_svalbard(GroundPolicy::default());
        network.sites = vec![terminal.clone(), gateway.clone()];
        network.pairs = vec![SitePair::new(&terminal.name, "svalbard")];
        connected(&plan(&network, hours(2)), &terminal.name, "svalbard")
    };
    terminals.iter().map(share).sum()
}

#[test]
fn a_satellite_serves_no_more_antennas_than_it_has_beams() {
    for is_joint in [true, false] {
        let mut network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
        let one = network.sites[0].antennas[0].clone();
        let name = |index: u32| format!("t{index}");
        network.sites = (0..4).map(|index| site(&name(index), 81.0, f64::from(index), one.clone())).collect();
        network.sites.push(with_antennas(site("svalbard", 78.23, 15.39, one), 8));
        network.pairs = if is_joint {
            (0..4).map(|index| SitePair::new(&name(index), "svalbard")).collect()
        } else {
            Vec::new()
        };
        let most_of = |network: &ContactNetwork| {
            let plan = plan(network, hours(1));
            let at = |second| {
                let holds: Vec<&Contact> =
                    plan.contacts().iter().filter(|one| one.holds_at(Instant::from_secs(second))).collect();
                holds
                    .iter()
                    .map(|one| holds.iter().filter(|other| other.a == one.a).count())
                    .max()
                    .unwrap_or(0)
            };
            (0..3_600).step_by(10).map(at).max().unwrap()
        };
        assert!(most_of(&network) > 2);
        network.constellations[0].beams = Some(2);
        assert_eq!(most_of(&network), 2);
    }
}

#[test]
fn both_contacts_of_a_way_change_at_one_instant_for_stated_reasons() {
    let network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
    let plan = plan(&network, hours(2));
    let of = |name: &str| -> Vec<&Contact> {
        plan.contacts().iter().filter(|one| one.b == plan.node(name).unwrap()).collect()
    };
    let (ship, svalbard) = (of("ship"), of("svalbard"));
    assert_eq!(ship.len(), svalbard.len());
    let mut other_end = 0;
    for (one, other) in ship.iter().zip(&svalbard) {
        assert_eq!((one.a, one.start, one.end), (other.a, other.start, other.end));
        if one.closes == ContactCause::SpanEnds {
            continue;
        }
        let causes = [one.closes, other.closes];
        assert!(
            causes.contains(&ContactCause::Sets) && causes.contains(&ContactCause::OtherEnd),
            "{causes:?}"
        );
        other_end += 1;
    }
    assert!(other_end > 10);
    assert_eq!(ship[0].opens, ContactCause::SpanBegins);
    assert_eq!(ship[1].opens, ContactCause::Replacement);
}

#[test]
fn a_handover_of_a_pair_breaks_or_overlaps_at_both_ends() {
    let mut network = ship_and_svalbard(policy(Criterion::LongestRemaining, Reselect::OnLoss));
    let with = |network: &mut ContactNetwork, handover| {
        for site in &mut network.sites {
            site.antennas[0].policy.handover = handover;
        }
        plan(network, hours(2))
    };
    let second = Duration::from_secs(1);
    let broken = with(&mut network, Handover::BreakBeforeMake { gap: second });
    let timeline = joined(&broken, "ship", "svalbard");
    assert!(timeline.gaps().len() > 5);
    assert!(timeline.gaps().iter().all(|(from, to)| *to - *from == second), "{:?}", timeline.gaps());
    let whole = with(&mut network, Handover::MakeBeforeBreak { overlap: second });
    assert_eq!(joined(&whole, "ship", "svalbard").gaps(), []);
    for name in ["ship", "svalbard"] {
        let node = whole.node(name).unwrap();
        let own: Vec<&Contact> = whole.contacts().iter().filter(|one| one.b == node).collect();
        for pair in own.windows(2) {
            assert_eq!(pair[0].end - pair[1].start, second, "{name}");
        }
    }
}

#[test]
fn a_second_pair_stays_apart_from_the_first() {
    let mut network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
    network.sites = network.sites.into_iter().map(|site| with_antennas(site, 2)).collect();
    network.pairs.push(SitePair { is_apart: true, ..SitePair::new("ship", "svalbard") });
    let plan = plan(&network, hours(1));
    for second in (0..3_600).step_by(5) {
        let (ship, svalbard) = (
            held(&plan, "ship", Instant::from_secs(second)),
            held(&plan, "svalbard", Instant::from_secs(second)),
        );
        let different: BTreeSet<&ContactNodeId> = ship.iter().collect();
        assert_eq!(different.len(), ship.len());
        assert_eq!(different, svalbard.iter().collect(), "{second}");
    }
    let second =
        follow(&plan, plan.node("ship").unwrap(), plan.node("svalbard").unwrap(), &RouteChoice::Disjoint);
    assert!(second.summary(&plan).connected > Duration::from_secs(3_000));
}

#[test]
fn a_pair_takes_only_the_satellites_and_the_constellation_that_it_names() {
    let mut network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
    network.pairs[0].satellites = vec!["oneweb-3-7".to_owned()];
    let only = plan(&network, hours(6));
    assert!(!only.contacts().is_empty());
    assert!(only.contacts().iter().all(|one| only.names()[one.a.index()] == "oneweb-3-7"));
    // Over Iridium satellites forward: nobody has to agree with anybody.
    network.constellations.extend(Preset::Iridium.build(epoch()).unwrap());
    network.pairs = vec![SitePair::new("ship", "svalbard")];
    let mixed = plan(&network, hours(1));
    network.pairs.clear();
    assert_eq!(mixed.contacts(), plan(&network, hours(1)).contacts());
    let oneweb = SitePair { constellation: Some("oneweb".to_owned()), ..SitePair::new("ship", "svalbard") };
    network.pairs = vec![oneweb];
    let restricted = plan(&network, hours(1));
    let ground = restricted.contacts().iter().filter(|one| one.kind != ContactKind::InterSatellite);
    assert!(ground.clone().count() > 5);
    assert!(ground.into_iter().all(|one| restricted.names()[one.a.index()].starts_with("oneweb")));
}

/// A ship and a shore with an antenna to bent pipes in low orbits, and another to geostationary satellites of which
/// each end prefers its own.
fn low_and_geostationary() -> ContactNetwork {
    let mut shells = Preset::OneWeb.build(epoch()).unwrap();
    shells.push(Constellation::geostationary("geo", &[-60.0, -25.0, 0.0, 30.0]));
    let mut network = ContactNetwork::new(epoch(), shells);
    let policy = policy(Criterion::Highest, Reselect::OnLoss);
    let site = |name, longitude| Site {
        antennas: vec![
            antenna(policy).of("oneweb"),
            Antenna::new(degrees(10.0)).with_policy(policy).of("geo"),
        ],
        ..site(name, 48.0, longitude, antenna(policy))
    };
    network.sites = vec![site("ship", -20.0), site("shore", -8.0)];
    network.pairs = vec![SitePair::new("ship", "shore")];
    network
}

#[test]
fn a_pair_has_a_way_over_each_constellation_that_antennas_of_both_ends_follow() {
    let network = low_and_geostationary();
    // Which hold the same satellite at a second, by antenna; nothing else is held.
    let ways = |plan: &ContactPlan, second| {
        let [ship, shore] = ["ship", "shore"].map(|site| held(plan, site, Instant::from_secs(second)));
        assert_eq!(ship, shore, "{second}");
        ship.into_iter().map(|node| plan.names()[node.index()].clone()).collect::<Vec<_>>()
    };
    let both = plan(&network, hours(1));
    for second in (0..3_600).step_by(10) {
        let low = !in_common(&network, second, [0, 1]).is_empty();
        let held = ways(&both, second);
        assert_eq!(held.len(), 1 + usize::from(low), "{second}: {held:?}");
        // 25 degrees west is seen highest by the ship, and is 17 degrees from the shore.
        assert!(held.iter().any(|name| name == "geo-2"), "{second}: {held:?}");
    }
    // Each by itself is what it is beside the other.
    for name in ["oneweb", "geo"] {
        let only = SitePair { constellation: Some(name.to_owned()), ..SitePair::new("ship", "shore") };
        let alone = plan(&ContactNetwork { pairs: vec![only], ..network.clone() }, hours(1));
        for site in ["ship", "shore"] {
            let held = |plan: &ContactPlan| {
                let node = plan.node(site).unwrap();
                let is_own = |one: &&Contact| {
                    one.b == node
                        && plan.names()[one.a.index()].starts_with(name)
                        && one.kind != ContactKind::InterSatellite
                };
                plan.contacts()
                    .iter()
                    .filter(is_own)
                    .map(|one| (one.a, one.start, one.end))
                    .collect::<Vec<_>>()
            };
            assert_eq!(held(&both), held(&alone), "{name} from {site}");
        }
    }
    // An antenna that follows any constellation makes one sky of both: there is one way at a time.
    let mut mixed = network.clone();
    mixed.sites[0].antennas[1].constellation = None;
    let mixed = plan(&mixed, hours(1));
    assert!((0..3_600).step_by(10).all(|second| ways(&mixed, second).len() == 1));
    // Satellites of the one forward: those of the other join their own way all the same.
    let mut network = low_and_geostationary();
    network.constellations[0] = network.constellations[0]
        .clone()
        .with_payload(Payload::Regenerative)
        .with_isl(IslConfig { pattern: IslPattern::Grid, ..IslConfig::default() });
    let forwarding = plan(&network, hours(1));
    let geostationary = |site: &str| {
        let held = held(&forwarding, site, Instant::from_secs(1_800)).into_iter();
        held.filter(|node| forwarding.names()[node.index()].starts_with("geo")).collect::<Vec<_>>()
    };
    assert_eq!(geostationary("shore"), [forwarding.node("geo-2").unwrap()]);
    assert_eq!(geostationary("ship"), geostationary("shore"));
}

/// A ship in the middle of the sea between two gateways, which cables join with an exchange.
fn sea_and_exchange(criterion: Criterion) -> ContactNetwork {
    let mut network = ship_and_svalbard(policy(criterion, Reselect::Always));
    let antenna = network.sites[0].antennas[0].clone();
    let gateway = |name, latitude, longitude| Site {
        relay: Relay::Gateway,
        ..with_antennas(site(name, latitude, longitude, antenna.clone()), 3)
    };
    let exchange = Site { antennas: Vec::new(), ..site("exchange", 52.4, 4.9, antenna.clone()) };
    network.sites = vec![
        exchange,
        gateway("iceland", 64.1, -21.9),
        gateway("norway", 69.7, 18.9),
        site("ship", 67.0, 2.0, antenna.clone()),
    ];
    let cable = |end: &str, delay| Cable { ends: [end.to_owned(), "exchange".to_owned()], delay };
    network.cables = vec![
        cable("iceland", CableDelay::Fixed(Duration::from_millis(30))),
        cable("norway", CableDelay::GreatCircle),
    ];
    network.pairs = vec![SitePair::new("ship", "exchange")];
    network
}

#[test]
fn a_path_lands_at_whichever_gateway_makes_it_shorter_and_goes_on_by_cable() {
    let network = sea_and_exchange(Criterion::Nearest);
    let plan = plan(&network, hours(2));
    let timeline = joined(&plan, "ship", "exchange");
    assert_eq!(timeline.gaps(), []);
    let mut landed = BTreeSet::new();
    for leg in &timeline.legs {
        let path = leg.path.as_ref().unwrap();
        assert_eq!(path.nodes.len(), 4);
        assert_eq!(plan.contact(path.contacts[2]).kind, ContactKind::Terrestrial);
        landed.insert(plan.names()[path.nodes[2].index()].clone());
    }
    // The cable from Iceland is longer by 19 ms than that from Norway: nobody lands there who need not.
    assert!(landed.contains("norway"), "{landed:?}");
    let cable = plan
        .contacts()
        .iter()
        .position(|one| one.kind == ContactKind::Terrestrial && one.a == plan.node("norway").unwrap());
    let delay = plan.delay(slantpath_orbit::contact::ContactId(u32::try_from(cable.unwrap()).unwrap()));
    // 2,054 km of great circle between 69.7 N 18.9 E and 52.4 N 4.9 E by the haversine on the mean sphere.
    let (a, b) =
        ((69.7_f64.to_radians(), 18.9_f64.to_radians()), (52.4_f64.to_radians(), 4.9_f64.to_radians()));
    let squared = |angle: f64| libm::sin(angle / 2.0) * libm::sin(angle / 2.0);
    let half = squared(a.0 - b.0) + libm::cos(a.0) * libm::cos(b.0) * squared(a.1 - b.1);
    let expected = 2.0 * 6_371_008.8 * libm::asin(libm::sqrt(half)) / (299_792_458.0 * FIBRE_SPEED_RATIO);
    assert!((delay.at(Instant::START).as_secs_f64() - expected).abs() < 1e-8, "{expected}");
    let summary = timeline.summary(&plan);
    assert!(summary.handovers > 10, "{summary:?}");
}

#[test]
fn a_cable_that_is_cut_leaves_the_other_gateway() {
    let mut network = sea_and_exchange(Criterion::Highest);
    network.outages = vec![Outage {
        what: Failing::Link("exchange".to_owned(), "norway".to_owned()),
        from: Instant::from_secs(600),
        until: Instant::from_secs(1_200),
    }];
    let plan = plan(&network, hours(1));
    let timeline = joined(&plan, "ship", "exchange");
    let gateway = |second| {
        let path = timeline.leg_at(Instant::from_secs(second))?.path.as_ref()?;
        Some(plan.names()[path.nodes[2].index()].as_str())
    };
    for second in 600..1_200 {
        assert!(!in_common(&network, second, [1, 3]).is_empty(), "Iceland is in reach");
        assert_eq!(gateway(second), Some("iceland"), "{second}");
    }
    // The ship is nearer to Norway: the lower end of the best way is higher there for most of the time.
    for part in [0..600, 1_200..3_600] {
        let norway = part.clone().filter(|&second| gateway(second) == Some("norway")).count();
        assert!(2 * norway > part.count(), "{norway}");
    }
}

#[test]
fn a_cable_between_two_gateways_is_no_part_of_the_way_over_their_own_antennas() {
    let mut network = sea_and_exchange(Criterion::Highest);
    network.cables.push(Cable {
        ends: ["iceland", "norway"].map(str::to_owned),
        delay: CableDelay::Fixed(Duration::from_millis(9)),
    });
    network.pairs = vec![SitePair::new("iceland", "norway")];
    let undisturbed = plan(&network, hours(1));
    network.outages = vec![Outage {
        what: Failing::Link("iceland".to_owned(), "norway".to_owned()),
        from: Instant::from_secs(600),
        until: Instant::from_secs(601),
    }];
    let cut = plan(&network, hours(1));
    let up = |plan: &ContactPlan| {
        let contacts = plan.contacts().iter().filter(|contact| contact.kind != ContactKind::Terrestrial);
        // Crossings are found to a microsecond.
        let rounded = |at: Instant| (at.as_nanos() + 500) / 1_000;
        contacts.map(|contact| (contact.a, contact.b, rounded(contact.start))).collect::<Vec<_>>()
    };
    let [cut, undisturbed] = [up(&cut), up(&undisturbed)];
    assert_eq!(cut.len(), undisturbed.len());
    assert!(cut == undisturbed);
}

#[test]
fn two_terminals_out_of_each_others_reach_meet_at_a_gateway() {
    let mut network = ship_and_svalbard(policy(Criterion::Nearest, Reselect::OnLoss));
    let antenna = network.sites[0].antennas[0].clone();
    network.sites = vec![
        site("south", 45.0, 10.0, antenna.clone()),
        site("north", 78.0, 20.0, antenna.clone()),
        Site { relay: Relay::Gateway, ..with_antennas(site("middle", 63.0, 15.0, antenna), 2) },
    ];
    network.pairs = vec![SitePair::new("south", "north")];
    let plan = plan(&network, hours(2));
    let timeline = joined(&plan, "south", "north");
    let hops: BTreeSet<usize> =
        timeline.legs.iter().filter_map(|leg| leg.path.as_ref().map(|path| path.contacts.len())).collect();
    assert!(hops.contains(&4), "{hops:?}");
    assert!(connected(&plan, "south", "north") > 0.95, "{}", connected(&plan, "south", "north"));
}

#[test]
fn pairs_and_cables_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&mut ContactNetwork)| {
        let mut network = sea_and_exchange(Criterion::Nearest);
        change(&mut network);
        network.check(hours(1)).unwrap_err()
    };
    assert_eq!(
        refused(&|network| network.pairs[0].to = "nobody".into()),
        NetworkError::NoSite("nobody".into())
    );
    let error = refused(&|network| network.sites[1].relay = Relay::None).to_string();
    assert!(error.contains("between `iceland` and `exchange` has no gateway at either end"), "{error}");
    let error = refused(&|network| network.cables[0].ends[1] = "iceland".into()).to_string();
    assert!(error.contains("leads nowhere"), "{error}");
    assert_eq!(refused(&|network| network.cables.clear()), NetworkError::NoAntenna("exchange".into()));
}
