//! Whole answers: the studies' two paths, coverage, and the files for other programs.

use std::ops::ControlFlow;

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::constellation::shell::FirstNode;
use slantpath_orbit::constellation::{IslPattern, Satellite};
use slantpath_orbit::contact::{ContactId, ContactKind, ContactPlan, Planner};
use slantpath_orbit::elements::{Checksums, ElementSet};
use slantpath_orbit::export::{czml, ground_track, hypatia};
use slantpath_orbit::ground::{Antenna, Handover};
use slantpath_orbit::orbit::Perturbation;
use slantpath_orbit::outage::{Failing, Outage};
use slantpath_orbit::route::{Path, Refresh};
use slantpath_orbit::sgp4::Sgp4;
use slantpath_orbit::shells::shells_apart;
use slantpath_orbit::site::{Horizon, Relay, SitePosition, Track};
use slantpath_orbit::topology::{Reason, RouteChoice, Timeline, TimelineTable, follow, follow_while};
use slantpath_orbit::{Constellation, ContactNetwork, Geodetic, Site, Utc, Vec3, coverage};

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

fn site(name: &str, latitude: f64, longitude: f64) -> Site {
    Site {
        name: name.into(),
        place: SitePosition::Fixed(Geodetic::new(latitude, longitude, 0.0)),
        antennas: vec![Antenna::new(Angle::from_degrees(8.2))],
        horizon: Horizon::default(),
        relay: Relay::None,
    }
}

fn london_boston(constellations: Vec<Constellation>) -> ContactNetwork {
    let mut network = ContactNetwork::new(epoch(), constellations);
    network.sites = vec![site("london", 51.53, 0.0), site("boston", 42.3, -71.1)];
    network
}

fn plan(network: &ContactNetwork, span: Duration) -> ContactPlan {
    Planner::new(network, span).unwrap().plan(&mut |_, _| {}).unwrap()
}

fn timeline(plan: &ContactPlan, selection: &RouteChoice) -> Timeline {
    follow(plan, plan.node("london").unwrap(), plan.node("boston").unwrap(), selection)
}

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn london_to_boston_over_a_geostationary_satellite_takes_half_a_second_there_and_back() {
    let network = london_boston(vec![Constellation::geostationary("geo", &[-30.0])]);
    let plan = plan(&network, Duration::from_secs(3_600));
    let timeline = timeline(&plan, &RouteChoice::LeastDelay);
    assert_eq!(timeline.legs.len(), 1);
    let delay = timeline.legs[0].delay.unwrap();
    // By hand, on the ellipsoid.
    let range = |latitude: f64, longitude: f64| {
        let place = Geodetic::new(latitude, longitude, 0.0).to_fixed();
        let r = 42_164_169.6;
        let (sine, cosine) = libm::sincos((-30.0_f64).to_radians());
        let (x, y) = (r * cosine - place.x, r * sine - place.y);
        libm::sqrt(x * x + y * y + place.z * place.z)
    };
    let expected = (range(51.53, 0.0) + range(42.3, -71.1)) / 299_792_458.0 * 1e3;
    assert!((delay.start.as_millis_f64() - expected).abs() < 1e-3, "{expected}");
    assert_eq!(delay.min, delay.max);
    // ns-2 gives 260.41 ms, on a sphere of the equator's radius: see `tests/ns2.rs`.
    let sphere = 260.411 - delay.start.as_millis_f64();
    assert!(sphere > 0.0 && sphere < 0.07, "{sphere}");
}

#[test]
fn london_to_boston_over_iridium_stays_between_22_and_122_ms_and_takes_3_to_10_links() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, DAY);
    let timeline = timeline(&plan, &RouteChoice::LeastDelay);
    let summary = timeline.summary(&plan);
    assert_eq!(summary.disconnected, Duration::ZERO);
    // The least is up, one link, and down; the most is a way round the seam or over the pole.
    assert!(summary.delay_min > Duration::from_millis(20) && summary.delay_min < Duration::from_millis(30));
    assert!(summary.delay_max > Duration::from_millis(110) && summary.delay_max < Duration::from_millis(125));
    assert_eq!((summary.hops_min, summary.hops_max), (3, 10));
    assert!(summary.handovers > 200);
}

#[test]
fn following_tells_how_far_it_is_and_can_be_broken_off() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, Duration::from_secs(2_000));
    let (from, to) = (plan.node("london").unwrap(), plan.node("boston").unwrap());
    let mut heard = Vec::new();
    let mut all = |done, all| {
        heard.push((done, all));
        ControlFlow::Continue(())
    };
    let whole = follow_while(&plan, (from, to), &RouteChoice::LeastDelay, Refresh::All, &mut all);
    assert_eq!(whole, Some(follow(&plan, from, to, &RouteChoice::LeastDelay)));
    assert!(heard.len() > 10 && heard.is_sorted() && heard.iter().all(|(done, all)| done <= all));
    let mut steps = 0;
    let mut three = |_, _| {
        steps += 1;
        if steps < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    assert_eq!(follow_while(&plan, (from, to), &RouteChoice::LeastDelay, Refresh::All, &mut three), None);
    assert_eq!(steps, 3);
}

#[test]
fn legs_join_without_holes_and_every_change_has_its_reason() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, Duration::from_secs(20_000));
    for selection in
        [RouteChoice::LeastDelay, RouteChoice::LeastHops, RouteChoice::Disjoint, RouteChoice::DisjointFirst]
    {
        let timeline = timeline(&plan, &selection);
        assert_eq!(timeline.legs[0].start, Instant::START);
        assert_eq!(timeline.legs.last().unwrap().end, Instant::START + plan.span());
        assert!(
            timeline.legs.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].path != pair[1].path)
        );
        assert!(timeline.legs.iter().all(|leg| !leg.reasons.is_empty()));
        for leg in &timeline.legs {
            if let Some(path) = &leg.path {
                assert!(path.holds_at(&plan, leg.start), "{leg:?}");
                assert!(path.contacts.iter().all(|&id| plan.contact(id).end >= leg.end));
            }
        }
    }
    let hops = timeline(&plan, &RouteChoice::LeastHops).summary(&plan);
    let delay = timeline(&plan, &RouteChoice::LeastDelay).summary(&plan);
    assert!(hops.hops_max <= delay.hops_max && delay.delay_mean_s <= hops.delay_mean_s + 1e-9);
    let text =
        TimelineTable { timeline: &timeline(&plan, &RouteChoice::LeastDelay), plan: &plan }.to_string();
    assert!(text.contains("sets") && text.contains("london > iridium-"), "{text}");
}

#[test]
fn only_another_satellite_is_a_handover_whatever_pause_lies_between() {
    let mut network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    // What leads away from London's satellite fails for ten seconds; the satellite stays the same.
    let script = "60 s, 70 s, iridium-5-2\n60 s, 70 s, iridium-6-1\n60 s, 70 s, iridium-6-3\n";
    network.outages = slantpath_orbit::outage::read(script, "outages.csv").unwrap();
    let plan_of_outage = plan(&network, Duration::from_secs(180));
    let summary = timeline(&plan_of_outage, &RouteChoice::LeastDelay).summary(&plan_of_outage);
    assert_eq!((summary.disconnected, summary.path_changes), (Duration::from_secs(10), 2));
    assert_eq!(summary.handovers, 0);
    // Nor is a handover with a pause two of them.
    network.outages.clear();
    let pause = Handover::BreakBeforeMake { gap: Duration::from_secs(2) };
    for site in &mut network.sites {
        site.antennas[0].policy.handover = pause;
    }
    let plan = plan(&network, Duration::from_secs(3_600));
    let timeline = timeline(&plan, &RouteChoice::LeastDelay);
    let paths: Vec<_> = timeline.legs.iter().filter_map(|leg| leg.path.as_ref()).collect();
    let ends = |path: &Path| (path.nodes[1], path.nodes[path.nodes.len() - 2]);
    let changes = paths.windows(2).filter(|pair| ends(pair[0]) != ends(pair[1])).count();
    assert!(changes > 10 && !timeline.gaps().is_empty());
    assert_eq!(timeline.summary(&plan).handovers, changes);
}

#[test]
fn the_first_of_two_paths_stands_where_no_second_can() {
    let mut network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    for site in &mut network.sites {
        site.antennas.push(site.antennas[0].clone());
    }
    let plan = plan(&network, Duration::from_secs(3_600));
    let [first, second, least] = [RouteChoice::DisjointFirst, RouteChoice::Disjoint, RouteChoice::LeastDelay]
        .map(|selection| timeline(&plan, &selection));
    assert!(!second.gaps().is_empty() && second.summary(&plan).connected > Duration::ZERO);
    assert_eq!(first.gaps(), least.gaps());
    let path_at = |timeline: &Timeline, now: Instant| {
        timeline.legs.iter().find(|leg| leg.start <= now && now < leg.end).unwrap().path.clone()
    };
    for now in (1..3_600).step_by(7).map(Instant::from_secs) {
        if path_at(&second, now).is_none() {
            assert_eq!(path_at(&first, now), path_at(&least, now), "{now}");
        }
    }
}

#[test]
fn the_last_sample_is_that_of_the_end() {
    let network = london_boston(vec![Constellation::geostationary("geo", &[-30.0])]);
    let plan = plan(&network, Duration::from_secs(60));
    let samples = timeline(&plan, &RouteChoice::LeastDelay).samples(&plan, Duration::from_secs(10));
    assert_eq!(samples.len(), 7);
    assert!(samples.iter().all(|(_, delay)| delay.is_some()), "{samples:?}");
}

#[test]
fn a_fixed_path_has_gaps_when_its_contacts_have() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, Duration::from_secs(10_000));
    let first = timeline(&plan, &RouteChoice::LeastDelay).legs[0].path.clone().unwrap();
    let fixed = timeline(&plan, &RouteChoice::Fixed(first.nodes));
    assert!(fixed.legs[0].path.is_some() && fixed.legs[1].path.is_none());
    assert!(matches!(fixed.legs[1].reasons[0], Reason::Ended { .. }));
    assert_eq!(fixed.gaps()[0].0, fixed.legs[0].end);
    assert_eq!(fixed.delay_at(&plan, fixed.legs[1].start), None);
    assert_eq!(fixed.samples(&plan, Duration::from_secs(10)).len(), 1_001);
}

#[test]
fn coverage_of_a_band_and_its_gaps_add_up() {
    // O3b serves the tropics always and the poles never.
    let network = ContactNetwork::new(epoch(), Preset::O3b.build(epoch()).unwrap());
    let rows =
        coverage::by_latitude(&network, Angle::from_degrees(10.0), Duration::from_secs(20_000), 7).unwrap();
    let share = |latitude: f64| {
        rows.iter().find(|row| (row.latitude.as_degrees() - latitude).abs() < 1e-9).unwrap().share
    };
    assert!(share(0.0) > 0.999_999 && share(90.0) == 0.0 && share(-30.0) > 0.999);
    let mut network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    network.sites[0].antennas = vec![Antenna::new(Angle::from_degrees(40.0))];
    let plan = plan(&network, DAY);
    let coverage = coverage::of_site(&plan, 0);
    let sum = |list: &[(Instant, Instant)]| list.iter().map(|(a, b)| (*b - *a).as_secs_f64()).sum::<f64>();
    assert!((sum(&coverage.covered) + sum(&coverage.gaps) - 86_400.0).abs() < 1e-6);
    assert!(coverage.gaps.len() > 50 && coverage.share > 0.1 && coverage.share < 0.6, "{}", coverage.share);
}

#[test]
fn czml_is_json_with_every_object_and_contact() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, Duration::from_secs(600));
    let timeline = timeline(&plan, &RouteChoice::LeastDelay);
    let text = czml::scene(&network, &plan, Duration::from_secs(60), Some(&timeline)).unwrap();
    let scene: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packets = scene.as_array().unwrap();
    assert_eq!(packets[0]["id"], "document");
    assert_eq!(packets.len(), 1 + 66 + 2 + plan.contacts().len() + timeline.legs.len());
    // Seconds after the epoch, and metres in the frame that turns with the Earth.
    for (packet, satellite) in packets[1..].iter().zip(network.satellites()) {
        let position = &packet["position"];
        assert_eq!(
            (&packet["id"], &position["referenceFrame"]),
            (&satellite.name.as_str().into(), &"FIXED".into())
        );
        assert_eq!(position["epoch"], "2026-03-01T00:00:00Z");
        let numbers: Vec<f64> =
            position["cartesian"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect();
        assert_eq!(numbers.len(), 4 * 11);
        for (minute, row) in numbers.chunks(4).enumerate() {
            let after = Duration::from_secs(60 * minute as u64);
            assert!((row[0] - after.as_secs_f64()).abs() < 1e-9);
            let exact = satellite.orbit.fixed(epoch().after(after)).unwrap().position;
            assert!((exact - Vec3::new(row[1], row[2], row[3])).norm() < 1e-2, "{row:?}");
        }
    }
    let track =
        ground_track::at(&network, &plan, Instant::from_secs(300), timeline.legs[0].path.as_ref()).unwrap();
    assert_eq!((track.places.len(), track.accesses.len()), (68, 2));
    assert!(track.places[..66].iter().all(|place| (place.height_m - 780e3).abs() < 25e3));
}

#[test]
fn a_scene_moves_a_travelling_site() {
    let mut network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let track = Track::read("0 s, 40, -70, 0\n90 s, 41, -69, 10000\n1 h, 51, 0, 0\n", "flight.csv").unwrap();
    network.sites[0].place = SitePosition::Track(track.clone());
    let plan = plan(&network, Duration::from_secs(600));
    let text = czml::scene(&network, &plan, Duration::from_secs(60), None).unwrap();
    let scene: serde_json::Value = serde_json::from_str(&text).unwrap();
    let packet = scene.as_array().unwrap().iter().find(|packet| packet["id"] == "london").unwrap();
    let numbers: Vec<f64> = packet["position"]["cartesian"]
        .as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_f64().unwrap())
        .collect();
    // Every minute from 0 to 600 s, and the corner at 90 s.
    assert_eq!(numbers.len(), 4 * 12);
    for row in numbers.chunks(4) {
        let at =
            SitePosition::Track(track.clone()).at(Instant::START + Duration::from_secs_f64(row[0])).position;
        assert!((at - Vec3::new(row[1], row[2], row[3])).norm() < 0.01, "{row:?}");
    }
    assert!(numbers.chunks(4).any(|row| (row[0] - 90.0).abs() < 1e-9));
}

/// The satellites of Hypatia's files, and how far from ours each is some time after the start.
fn off_in_hypatia(network: &ContactNetwork, after: Duration) -> Vec<f64> {
    let plan = plan(network, Duration::from_secs(60));
    let files = hypatia::setting(network, &plan).unwrap();
    let lines: Vec<&str> = files[0].1.lines().skip(1).collect();
    let sets = slantpath_orbit::elements::read(&lines.join("\n"), "tles.txt", Checksums::Verify).unwrap();
    let date = network.epoch.after(after);
    let off = |(set, satellite): (&ElementSet, &Satellite)| {
        assert!(set.epoch.seconds_since(network.epoch).abs() < 1e-3, "{}", set.epoch);
        let theirs = Sgp4::new(set).unwrap().at(date).unwrap().position;
        (theirs - satellite.orbit.inertial(date).unwrap().position).norm()
    };
    sets.iter().zip(network.satellites()).map(off).collect()
}

#[test]
fn hypatia_s_satellites_are_all_of_the_start_and_where_ours_are() {
    // Low, high and eccentric, each of its own epoch.
    let text = include_str!("../data/elements.tle");
    let mut sets = slantpath_orbit::elements::read(text, "elements.tle", Checksums::Verify).unwrap();
    for (set, hours) in sets.iter_mut().zip([0, 7, 14, 21, 28, 35]) {
        set.epoch = set.epoch.after(Duration::from_secs(hours * 3_600));
    }
    let epoch = sets[0].epoch.after(Duration::from_secs(172_800));
    let flown = Constellation::from_elements("flown", sets, epoch).unwrap();
    let mut network = ContactNetwork::new(epoch, vec![flown]);
    network.sites = vec![site("equator", 0.0, 0.0)];
    network.sites[0].antennas = vec![Antenna::new(Angle::from_degrees(-90.0))];
    // What the digits of the format leave.
    for (after, metres) in [(0, 300.0), (21_600, 3_000.0)] {
        let off = off_in_hypatia(&network, Duration::from_secs(after));
        assert!(off.iter().all(|&off| off < metres), "after {after} s: {off:?}");
    }
    // Circles keep to SGP4's short periods, and do not run ahead of it in a day.
    for preset in [Preset::Iridium, Preset::StarlinkShell1, Preset::Clarke] {
        let mut network = london_boston(preset.build(self::epoch()).unwrap());
        network.sites[0].antennas = vec![Antenna::new(Angle::from_degrees(-90.0))];
        network.sites[1].antennas = network.sites[0].antennas.clone();
        let off = off_in_hypatia(&network, DAY).into_iter().fold(0.0, f64::max);
        assert!(off < 40e3, "{}: {off} m after a day", preset.name());
    }
}

#[test]
fn hypatia_s_greatest_lengths_bound_every_link_at_every_time() {
    let network = london_boston(Preset::Iridium.build(epoch()).unwrap());
    let plan = plan(&network, Duration::from_secs(20_000));
    let files = hypatia::setting(&network, &plan).unwrap();
    let text = &files.iter().find(|(name, _)| name == "description.txt").unwrap().1;
    let stated = |key: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split_once('=').unwrap().1.parse().unwrap()
    };
    let mut longest = [0.0_f64; 2];
    for (index, contact) in plan.contacts().iter().enumerate() {
        let delay = plan.delay(ContactId(u32::try_from(index).unwrap()));
        let of = usize::from(contact.kind == ContactKind::InterSatellite);
        for step in 0..=100 {
            let at = contact.start + (contact.end - contact.start) / 100 * step;
            longest[of] = longest[of].max(delay.nanos_at(at) * 0.299_792_458);
        }
    }
    for (key, longest) in ["max_gsl_length_m", "max_isl_length_m"].into_iter().zip(longest) {
        assert!((1.005..1.02).contains(&(stated(key) / longest)), "{key}: {} for {longest}", stated(key));
    }
}

#[test]
fn hypatia_files_lead_every_packet_home() {
    let mut shell = Preset::Iridium.shells().remove(0);
    shell.perturbation = Perturbation::None;
    shell.first_node = FirstNode::Longitude(Angle::ZERO);
    let network = london_boston(vec![shell.build(epoch()).unwrap()]);
    let plan = plan(&network, Duration::from_secs(60));
    let files = hypatia::files(&network, &plan, Duration::from_secs(10)).unwrap();
    let text = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
    assert!(text("description.txt").starts_with("max_gsl_length_m="));
    assert_eq!(text("tles.txt").lines().count(), 1 + 3 * 66);
    assert!(text("tles.txt").starts_with("6 11\n"));
    let isls: Vec<&str> = text("isls.txt").lines().collect();
    // The elements lead back to the satellites they were made from.
    let lines: Vec<&str> = text("tles.txt").lines().skip(1).collect();
    let sets = slantpath_orbit::elements::read(&lines.join("\n"), "tles.txt", Checksums::Verify).unwrap();
    for (set, satellite) in sets.iter().zip(network.satellites()) {
        let theirs = Sgp4::new(set).unwrap().at(epoch()).unwrap().position;
        let ours = satellite.orbit.inertial(epoch()).unwrap().position;
        assert!(
            (theirs - ours).norm() < 20e3,
            "{} is {} km off",
            satellite.name,
            (theirs - ours).norm() / 1e3
        );
    }
    let state = text("dynamic_state_10000ms_for_60s/fstate_0.txt");
    let rows: Vec<Vec<i64>> =
        state.lines().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 2 * 67);
    for row in &rows {
        let (mut at, to, mut hops) = (row[0], row[1], 0);
        while at != to {
            let next = rows.iter().find(|row| row[0] == at && row[1] == to).unwrap();
            assert!(next[2] >= 0 && next[3] >= 0 && next[4] >= 0);
            let joined = isls.contains(&format!("{} {}", at.min(next[2]), at.max(next[2])).as_str());
            assert!(joined || at >= 66 || next[2] >= 66, "{next:?}");
            at = next[2];
            hops += 1;
            assert!(hops < 30);
        }
    }
}

/// Two sites whose antennas follow Telesat, both shells of it under one name.
fn two_shells() -> ContactNetwork {
    let mut shells = Preset::Telesat.build(epoch()).unwrap();
    for shell in &mut shells {
        "telesat".clone_into(&mut shell.name);
    }
    let mut network = london_boston(shells);
    for site in &mut network.sites {
        site.antennas[0] = site.antennas[0].clone().of("telesat");
    }
    network
}

#[test]
fn ends_at_different_shells_of_a_constellation_are_told_apart_from_what_else_parts_them() {
    let apart = |network: &ContactNetwork| {
        let plan = plan(network, Duration::from_secs(6 * 3_600));
        let gaps = timeline(&plan, &RouteChoice::LeastDelay).gaps();
        let all = gaps.iter().fold(Duration::ZERO, |all, (since, until)| all + (*until - *since));
        let ends = ["london", "boston"].map(|name| [plan.node(name).unwrap()]);
        let shells = network.constellations.iter().map(|shell| shell.satellites.len());
        let first: usize = shells.take(1).sum();
        // Every second of a gap, both ends hold a satellite of which the one is of the first shell.
        let differ = gaps.iter().flat_map(|&(since, until)| {
            (since.since_start().as_millis() / 1_000 + 1..until.since_start().as_millis() / 1_000)
                .map(Instant::from_secs)
        });
        let held = |now: Instant, end: [slantpath_orbit::ContactNodeId; 1]| {
            plan.contacts()
                .iter()
                .find(|one| one.b == end[0] && one.holds_at(now))
                .map(|one| one.a.index() < first)
        };
        let differ = differ.filter(|&now| {
            let [london, boston] = ends.map(|end| held(now, end));
            london.is_some() && boston.is_some() && london != boston
        });
        let seconds = differ.count() as f64;
        (shells_apart(network, &plan, [&ends[0], &ends[1]], &gaps), all, seconds, gaps.len() as f64)
    };
    let (told, all, seconds, gaps) = apart(&two_shells());
    let told = told.expect("they are apart at times");
    assert_eq!((told.constellation.as_str(), told.time), ("telesat", all));
    assert!(all.as_secs_f64() > 3_600.0);
    assert!((seconds - all.as_secs_f64()).abs() <= 2.0 * gaps, "{seconds} of {all}");
    // A night without a satellite at one end is no matter of shells, as long as it is the longer part.
    let mut dark = two_shells();
    let outage = |hours: u64| Outage {
        what: Failing::Node("boston".to_owned()),
        from: Instant::START,
        until: Instant::from_secs(hours * 3_600),
    };
    dark.outages = vec![outage(5)];
    assert_eq!(apart(&dark).0, None);
    dark.outages = vec![outage(1)];
    let (told, all, ..) = apart(&dark);
    assert!(told.is_some_and(|told| told.time < all));
    // Without links each satellite is alone, and two names are two constellations.
    let mut alone = two_shells();
    for shell in &mut alone.constellations {
        shell.isl.pattern = IslPattern::None;
    }
    assert_eq!(apart(&alone).0, None);
    let mut named = two_shells();
    named.constellations[1].name = "inclined".to_owned();
    assert_eq!(apart(&named).0, None);
}
