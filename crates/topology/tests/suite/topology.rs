//! The topology file: its merged form, its schema, what is wrong with broken ones, and its answer.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use slantpath_reader::{Diagnostics, Files, files_in};
use slantpath_testkit::{Told, page};
use slantpath_topology::{FollowError, Topology, TopologyOutput, follow, json_schema};
use slantpath_workers::Workers;

fn path(file: &str) -> PathBuf {
    page::path("scenarios").join(file)
}

fn topology(name: &str, overrides: &[&str]) -> Topology {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Topology::load(&path(name), &overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn no_files() -> Files {
    files_in(Path::new("nowhere"))
}

pub(crate) fn answer(topology: &Topology) -> TopologyOutput {
    let answer = follow(topology, None, Workers::new(2), &|_| {}).unwrap_or_else(|error| panic!("{error}"));
    answer.expect("nobody stops it")
}

#[test]
fn the_merged_form_of_a_topology_says_everything() {
    insta::assert_snapshot!(topology("iridium-london-boston.toml", &[]).merged());
}

#[test]
fn merging_the_merged_topology_changes_nothing() {
    for name in ["iridium-london-boston.toml", "geo-london-boston.toml", "starlink-madrid-nairobi.toml"] {
        let first = topology(name, &[]);
        for text in [first.merged(), first.canonical()] {
            let again = Topology::parse("merged", &text, &[], no_files())
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(again.canonical(), first.canonical());
            assert_eq!(again.hash(), first.hash());
        }
    }
}

#[test]
fn the_committed_topology_schema_is_the_one_that_the_code_makes() {
    page::hold("schema/topology.schema.json", &json_schema());
}

const BROKEN: &str = "crates/topology/tests/broken";

/// Faults of a broken topology, when it is read or when its contacts are solved.
fn faults_of(file: &Told) -> Diagnostics {
    let name = file.name();
    let topology = match Topology::parse(name, &file.text, &[], files_in(&page::path(BROKEN))) {
        Err(diagnostics) => return diagnostics,
        Ok(topology) => topology,
    };
    match follow(&topology, None, Workers::new(1), &|_| {}) {
        Err(FollowError::Invalid(diagnostics)) => diagnostics,
        Err(error) => panic!("{name}: {error}"),
        Ok(_) => panic!("{name} is taken for right:\n{}", topology.merged()),
    }
}

/// Each file holds at its end what is told of it, which `SLANTPATH_UPDATE=1` writes.
#[test]
fn each_broken_topology_is_told_its_fault_place_and_cure() {
    let files = Told::files_in(BROKEN);
    assert!(files.len() > 25, "the broken topologies are gone");
    for file in files {
        let faults = faults_of(&file);
        file.hold(&faults.to_string());
        for diagnostic in &faults {
            let syntax = diagnostic.message.starts_with("this is not TOML");
            let cure = diagnostic.help.as_ref().is_some_and(|help| !help.is_empty());
            assert!(cure || syntax, "no cure: {diagnostic}");
            assert!(diagnostic.span.end <= diagnostic.source.text.len(), "{diagnostic}");
        }
    }
}

#[test]
fn a_day_of_iridium_leads_from_london_to_boston_without_a_gap() {
    let output = answer(&topology("iridium-london-boston.toml", &[]));
    let path = &output.paths[0];
    assert!(path.summary.disconnected.is_zero());
    let milliseconds = |time: slantpath_base::Duration| time.as_millis_f64();
    let (least, greatest) = (milliseconds(path.summary.delay_min), milliseconds(path.summary.delay_max));
    assert!((20.0..30.0).contains(&least) && (115.0..125.0).contains(&greatest), "{least} {greatest}");
    let legs = output.table("legs").unwrap();
    assert_eq!(legs.rows(), path.timeline.legs.len());
    assert_eq!(output.table("delay").unwrap().rows(), 8_641);
    assert_eq!(output.table("map_nodes").unwrap().rows(), 68);
    assert_eq!(output.table("positions").unwrap().rows(), 66 * 1_441);
    // A row for each end, and one handover where both change at once.
    let handovers = output.table("handovers").unwrap().column("at_s").unwrap().as_f64().unwrap();
    let mut instants = handovers.clone();
    instants.dedup();
    assert_eq!(instants.len(), path.summary.handovers);
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let topology = topology("iridium-london-boston.toml", &["topology.span=2 h"]);
    let tables = [1, 3]
        .map(|threads| follow(&topology, None, Workers::new(threads), &|_| {}).unwrap().unwrap().tables);
    assert_eq!(tables[0], tables[1]);
}

#[test]
fn a_site_that_stays_below_the_horizon_for_a_while_has_gaps_and_no_error() {
    let output = answer(&topology(
        "iridium-london-boston.toml",
        &["topology.span=6 h", "ground.min_elevation=30 deg"],
    ));
    let gaps = output.table("gaps").unwrap();
    assert!(gaps.rows() > 10);
    let path = &output.paths[0];
    assert!(!path.summary.disconnected.is_zero() && !path.summary.connected.is_zero());
}

#[test]
fn the_two_paths_of_a_multihomed_host_share_no_satellite() {
    let output = answer(&topology("starlink-madrid-nairobi.toml", &["topology.span=5 min"]));
    let [first, second] = output.paths.as_slice() else { panic!("two paths") };
    assert_eq!([first.name.as_str(), second.name.as_str()], ["first", "second"]);
    assert_eq!(first.selection.as_str(), "disjoint-first");
    for leg in &first.timeline.legs {
        let other = second.timeline.legs.iter().find(|other| other.end > leg.start).unwrap();
        let (one, two) = (leg.path.as_ref().unwrap(), other.path.as_ref().unwrap());
        let ends = [first.timeline.from, first.timeline.to];
        assert!(one.nodes.iter().all(|node| ends.contains(node) || !two.nodes.contains(node)), "{leg:?}");
        assert!(one.delay(&output.plan, leg.start) <= two.delay(&output.plan, leg.start));
    }
    assert!(first.timeline.legs.len() > 3);
}

/// A ship in the ice, a gateway with three antennas on Svalbard, and an exchange behind it.
const ICE: &str = r#"
    [topology]
    name = "ice"
    epoch = "2026-03-01T00:00:00Z"
    span = "3 h"

    [constellations.oneweb]
    satellites = { kind = "preset", preset = "oneweb" }
    beams = 3

    [constellations.iridium]
    satellites = { kind = "preset", preset = "iridium" }

    [ground]
    min_elevation = "25 deg"

    [sites.ship]
    latitude = "81 deg"
    longitude = "0 deg"

    [[sites.ship.antennas]]
    constellation = "oneweb"

    [[sites.ship.antennas]]
    constellation = "iridium"
    min_elevation = "8.2 deg"

    [sites.svalbard]
    latitude = "78.23 deg"
    longitude = "15.39 deg"
    relay = "gateway"
    antennas = 3

    [sites.exchange]
    latitude = "59.9 deg"
    longitude = "10.7 deg"

    [[cables]]
    ends = ["svalbard", "exchange"]
    delay = "12 ms"

    [paths.main]
    from = "ship"
    to = "exchange"
    constellation = "oneweb"
"#;

fn ice(overrides: &[&str]) -> Topology {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Topology::parse("ice.toml", ICE, &overrides, no_files()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_path_over_satellites_that_do_not_forward_ends_behind_a_cable_without_a_gap() {
    let topology = ice(&[]);
    let output = answer(&topology);
    let path = &output.paths[0];
    assert_eq!(path.timeline.gaps(), []);
    assert!(path.summary.delay_min > slantpath_base::Duration::from_millis(12 + 8));
    assert_eq!((path.summary.hops_min, path.summary.hops_max), (3, 3));
    let first = &path.timeline.legs[0].path.as_ref().unwrap().nodes;
    let names: Vec<&str> = first.iter().map(|node| output.plan.names()[node.index()].as_str()).collect();
    assert!(names[1].starts_with("oneweb-"), "{names:?}");
    assert_eq!([names[0], names[2], names[3]], ["ship", "svalbard", "exchange"]);
    // The exchange sees no sky, and nobody expects it to.
    assert_eq!(output.table("coverage").unwrap().rows(), 2);
    assert_eq!(output.table("gaps").unwrap().rows(), 0);
    let handovers = output.table("handovers").unwrap();
    assert!(handovers.rows() > 20);
}

#[test]
fn a_number_of_antennas_is_that_many_equal_ones() {
    let counted = ice(&[]);
    let gateway = &counted.network().sites[2];
    assert_eq!((gateway.name.as_str(), gateway.antennas.len()), ("svalbard", 3));
    assert!(gateway.antennas.iter().all(|antenna| *antenna == gateway.antennas[0]));
    assert_eq!(counted.network().sites[0].antennas, []);
    for text in [counted.merged(), counted.canonical()] {
        let again =
            Topology::parse("merged", &text, &[], no_files()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.hash(), counted.hash());
    }
}

#[test]
fn a_second_path_over_repeaters_shares_no_satellite_with_the_first() {
    let output = answer(&ice(&[
        "sites.ship.antennas=[{constellation = \"oneweb\"}, {constellation = \"oneweb\"}]",
        "paths.main.selection=disjoint-first",
        "paths.main.to=svalbard",
        "paths.second={from = \"ship\", to = \"svalbard\", selection = \"disjoint\"}",
    ]));
    let [first, second] = output.paths.as_slice() else { panic!("two paths") };
    assert_eq!(first.timeline.gaps(), []);
    let connected = second.summary.connected.as_secs_f64();
    assert!(connected > 10_000.0, "{connected}");
}

/// A file of 7,500 sets as Starlink's would be: three shells, satellites that climb, two of one name, one that decays,
/// two of long ago, one whose lines were altered, and one that is there twice.
fn starlink_file() -> String {
    use slantpath_base::Angle;
    use slantpath_orbit::elements::{ElementSet, ElementSource, tle};
    let epoch: slantpath_orbit::Utc = "2026-02-28T12:00:00Z".parse().expect("a date");
    let set = |number: u32, altitude_km: f64, inclination: f64, node: f64, anomaly: f64| {
        let axis_m = 6_378_137.0 + altitude_km * 1e3;
        let radians_per_s = (3.986_004_418e14 / axis_m.powi(3)).sqrt();
        ElementSet {
            name: format!("BIRD-{number}"),
            catalogue_number: number,
            designator: "19074A".to_owned(),
            epoch,
            inclination: Angle::from_degrees(inclination),
            right_ascension: Angle::from_degrees(node % 360.0),
            eccentricity: 0.000_1,
            argument_of_perigee: Angle::from_degrees(90.0),
            mean_anomaly: Angle::from_degrees(anomaly % 360.0),
            mean_motion_rev_per_day: radians_per_s * 86_400.0 / core::f64::consts::TAU,
            bstar: 1e-4,
            mean_motion_dot: 0.0,
            source: ElementSource::default(),
        }
    };
    let mut sets = Vec::new();
    for (planes, per_plane, altitude_km, inclination) in
        [(72, 22, 550.0, 53.05), (72, 42, 540.0, 53.22), (36, 70, 560.0, 43.0)]
    {
        for plane in 0..planes {
            for slot in 0..per_plane {
                let number = 40_000 + u32::try_from(sets.len()).expect("some thousands");
                // Nobody flies exactly where it was filed.
                let off = (f64::from(number % 7) - 3.0) * 0.02;
                let (node, anomaly) = (360.0 / f64::from(planes), 360.0 / f64::from(per_plane));
                let node = node * f64::from(plane) + off;
                sets.push(set(
                    number,
                    altitude_km + 10.0 * off,
                    inclination,
                    node,
                    anomaly * f64::from(slot),
                ));
            }
        }
    }
    let flying = sets.len();
    for index in 0..(7_500 - 5 - flying) {
        let step = f64::from(u32::try_from(index).expect("some hundreds"));
        let number = 40_000 + u32::try_from(sets.len()).expect("some thousands");
        sets.push(set(number, 300.0 + step * 0.6, 53.05 + 0.17 * (step % 2.0), step * 7.3, step * 31.0));
    }
    let mut strangers: Vec<ElementSet> =
        (0..5_u32).map(|k| set(90_000 + k, 550.0, 53.05, 2.0, 10.0)).collect();
    "BIRD-40000".clone_into(&mut strangers[0].name);
    (strangers[1].bstar, strangers[1].mean_motion_rev_per_day) = (0.5, 16.4);
    for old in &mut strangers[2..4] {
        old.epoch = "2025-11-01T00:00:00Z".parse().expect("a date");
    }
    strangers[4].catalogue_number = 40_001;
    strangers[4].epoch = "2026-02-28T11:00:00Z".parse().expect("a date");
    sets.extend(strangers);
    let lines: Vec<String> = sets
        .iter()
        .map(|set| {
            let [first, second] = tle::write(set);
            format!("{}\n{first}\n{second}\n", set.name)
        })
        .collect();
    lines.concat() + "BIRD-CUT\n1 99999U 19074A   26059.50000000  .00000000  00000-0  10000-3 0  9990\n"
}

#[test]
fn a_whole_file_of_7500_sets_is_told_apart_and_one_warning_counts_what_is_left_out() {
    let text = r#"
        [topology]
        name = "whole"
        epoch = "2026-03-01T00:00:00Z"
        span = "30 s"
        positions_every = "off"

        [constellations.birds]
        satellites = { kind = "elements", file = "birds.tle", exclude = ["BIRD-4000*", "40100"] }

        [sites.ship]
        latitude = "30 deg"
        longitude = "0 deg"

        [ground]
        min_elevation = "25 deg"
    "#;
    let file = starlink_file();
    let files = || -> Files {
        let file = file.clone();
        std::sync::Arc::new(move |_: &str| Ok(file.clone()))
    };
    let error = Topology::parse("whole.toml", text, &[], files()).unwrap_err().to_string();
    assert!(
        error.starts_with("birds.tle:22502:1: BIRD-CUT (99999): line 1 stands without line 2"),
        "{error}"
    );
    let overrides = ["constellations.birds.satellites.on_invalid=leave-out".to_owned()];
    let topology = Topology::parse("whole.toml", text, &overrides, files()).unwrap();
    let [warning] = topology.warnings() else { panic!("{:?}", topology.warnings()) };
    assert_eq!(
        warning.message,
        "4 of 7489 objects of `birds.tle` are left out: 1 altered, cut or not whole (BIRD-CUT (99999)); 1 decayed \
         (BIRD-90001); 2 too far from their epoch (BIRD-90002, BIRD-90003)"
    );
    let shells: Vec<(usize, usize)> = topology
        .network()
        .constellations
        .iter()
        .map(|shell| (shell.satellites.len(), shell.plane_count()))
        .collect();
    // Eleven are excluded, all of them of the first shell; what climbs stands outside.
    assert_eq!(shells, [(2_520, 36), (1_573, 72), (3_024, 72), (368, 1)]);
}

#[test]
fn objects_of_one_name_are_told_apart_by_number_and_the_newer_set_of_one_object_is_taken() {
    let text = r#"
        [topology]
        name = "twice"
        epoch = "2026-03-01T00:00:00Z"
        span = "30 s"

        [constellations.birds]
        satellites = { kind = "elements", file = "birds.tle", names = ["BIRD-40000", "BIRD-40001", "BIRD-90004"] }
    "#;
    let file = starlink_file();
    let files: Files = std::sync::Arc::new(move |_: &str| Ok(file.clone()));
    let overrides = ["constellations.birds.satellites.on_invalid=leave-out".to_owned()];
    let topology = Topology::parse("twice.toml", text, &overrides, files).unwrap();
    assert_eq!(topology.network().names(), ["BIRD-40000 (40000)", "BIRD-40001", "BIRD-40000 (90000)"]);
    let message = &topology.warnings()[0].message;
    assert!(message.contains("1 there is a newer set of the object (BIRD-90004)"), "{message}");
}

#[test]
fn a_pass_says_how_high_it_comes() {
    let output = answer(&topology("iridium-london-boston.toml", &["topology.span=2 h"]));
    let passes = output.table("passes").unwrap();
    let numbers = |name: &str| passes.column(name).unwrap().as_f64().unwrap();
    let (start, end, highest) = (numbers("start_s"), numbers("end_s"), numbers("highest_s"));
    let elevation = numbers("elevation_max_deg");
    assert!(passes.rows() > 30);
    for row in 0..passes.rows() {
        assert!(start[row] <= highest[row] && highest[row] <= end[row]);
        assert!((8.19..=90.0).contains(&elevation[row]), "{}", elevation[row]);
    }
    assert!(elevation.iter().any(|&degrees| degrees > 60.0));
}

#[test]
fn an_access_report_says_where_a_satellite_rises_and_sets_and_how_its_frequency_shifts() {
    let topology = topology("iridium-london-boston.toml", &["topology.span=3 h"]);
    let output = answer(&topology);
    let (access, passes) = (output.table("access").unwrap(), output.table("passes").unwrap());
    assert_eq!(access.rows(), passes.rows());
    let of = |column: &str| access.column(column).unwrap().as_f64().unwrap();
    let [rise, highest, set] = ["rise_s", "highest_s", "set_s"].map(of);
    let [up, top, down] = ["rise_elevation_deg", "highest_elevation_deg", "set_elevation_deg"].map(of);
    let [coming, passing, going] =
        ["rise_doppler_ratio", "highest_doppler_ratio", "set_doppler_ratio"].map(of);
    let range = of("highest_range_km");
    let mut whole = 0;
    for pass in 0..access.rows() {
        assert!(rise[pass] < set[pass] && top[pass] >= 8.199 && range[pass] < 2_500.0);
        // What was up when it began, or is when it ends, rises or sets elsewhere.
        if rise[pass] == 0.0 || set[pass] >= 10_799.9 {
            continue;
        }
        whole += 1;
        assert!(
            (up[pass] - 8.2).abs() < 1e-3 && (down[pass] - 8.2).abs() < 1e-3,
            "{} {}",
            up[pass],
            down[pass]
        );
        assert!(rise[pass] < highest[pass] && highest[pass] < set[pass]);
        // 7.4 km/s over the speed of light is 2.5e-5; at the highest point it neither comes nor goes, but for the
        // turning of the Earth.
        assert!(coming[pass] > 0.0 && coming[pass] < 2.5e-5 && going[pass] < 0.0 && going[pass] > -2.5e-5);
        assert!(passing[pass].abs() < 2e-6, "{}", passing[pass]);
    }
    assert!(whole > 40, "{whole}");
    // Each number against the look angles of the same instant.
    let text = |column: &str| match access.column(column).unwrap().at(0) {
        slantpath_results::CellValue::Text(text) => text.to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text("rise_utc"), "2026-03-01T00:00:00Z");
    let (site, first) = (&text("site"), &text("satellite"));
    let look = topology.look_angles(site, first, &[highest[0]]).unwrap();
    for (mine, theirs) in [("highest_azimuth_deg", "azimuth_deg"), ("highest_range_km", "range_km")] {
        let theirs = look.column(theirs).unwrap().as_f64().unwrap()[0];
        assert!((of(mine)[0] - theirs).abs() < 1e-6, "{mine}");
    }
    let none = answer(&self::topology(
        "iridium-london-boston.toml",
        &["topology.span=1 h", "topology.access=false"],
    ));
    assert!(none.table("access").is_none());
}

#[test]
fn the_sky_and_the_coverage_of_the_instant_of_the_map_agree_with_the_look_angles() {
    let topology = topology("iridium-london-boston.toml", &["topology.span=1 h", "map.at=20 min"]);
    let output = answer(&topology);
    let of =
        |table: &str, column: &str| output.table(table).unwrap().column(column).unwrap().as_f64().unwrap();
    let elevations = of("sky_tracks", "elevation_deg");
    assert!(elevations.len() > 20 && elevations.iter().all(|&elevation| elevation > 8.199));
    let (latitudes, counts) = (of("coverage_map", "latitude_deg"), of("coverage_map", "satellites"));
    assert_eq!(counts.len(), 36 * 72);
    // Iridium covers the whole Earth, its poles many times.
    assert!(counts.iter().all(|&count| count >= 1.0));
    let mean_beyond = |least: f64| {
        let own: Vec<f64> =
            latitudes.iter().zip(&counts).filter(|(l, _)| l.abs() > least).map(|(_, count)| *count).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    assert!(mean_beyond(80.0) > 2.0 * mean_beyond(0.0), "{} {}", mean_beyond(80.0), mean_beyond(0.0));
    let stand = of("map_journeys", "at_s");
    assert!(stand.is_empty(), "nobody travels");
}

#[test]
fn kept_passes_give_the_same_answer() {
    let place = std::env::temp_dir().join(format!("slantpath-passes-{}", std::process::id()));
    let topology = topology("iridium-london-boston.toml", &["topology.span=2 h"]);
    let store = slantpath_topology::PassStore::new(&place);
    let tables =
        [(); 2].map(|()| follow(&topology, Some(&store), Workers::new(1), &|_| {}).unwrap().unwrap().tables);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2);
    store.clear().unwrap();
    assert_eq!(tables[0], tables[1]);
    assert!(!place.exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_the_reader_of_topologies_panic(text in "\\PC{0,200}") {
        let _ = Topology::parse("noise", &text, &[], no_files());
    }

    #[test]
    fn no_damage_to_a_topology_makes_the_reader_panic(
        at: prop::sample::Index,
        with in "\\PC{0,3}",
        cut in 0_usize..20,
    ) {
        let path = path("geo-london-boston.toml");
        let mut text: Vec<char> = std::fs::read_to_string(path).unwrap().chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let _ = Topology::parse("damaged", &text, &[], no_files());
    }

    #[test]
    fn any_values_survive_the_merged_topology(
        latitude in -90.0..=90.0_f64, longitude in -180.0..=180.0_f64, altitude in -500.0..9_000.0_f64,
        span in 1_u64..1_000_000, elevation in -1.0..89.0_f64, walker in 0_u32..6, cut_off in 0.0..=90.0_f64,
    ) {
        let first = topology("iridium-london-boston.toml", &[
            &format!("sites.london.latitude={latitude} deg"),
            &format!("sites.london.longitude={longitude} deg"),
            &format!("sites.london.altitude={altitude} m"),
            &format!("topology.span={span} s"),
            &format!("ground.min_elevation={elevation} deg"),
            &format!("constellations.iridium.satellites.phasing=walker {walker}"),
            &format!("constellations.iridium.isl.cut_off_latitude={cut_off} deg"),
        ]);
        let again = Topology::parse("merged", &first.merged(), &[], no_files()).unwrap();
        prop_assert_eq!(again.canonical(), first.canonical());
        prop_assert_eq!(&again.network().sites, &first.network().sites);
    }
}

#[test]
fn every_setting_reaches_the_network() {
    use slantpath_orbit::constellation::{IslPattern, Payload, Seam};
    use slantpath_orbit::ground::{Criterion, Handover, Reselect};
    use slantpath_orbit::outage::Failing;
    use slantpath_orbit::site::{Relay, SitePosition};
    let text = r#"
        [topology]
        name = "all"
        epoch = 2026-03-01T00:00:00Z
        span = "1 h"
        [constellations.polar]
        satellites = { kind = "shell", arrangement = "star", planes = 6, per_plane = 11, altitude = "780 km",
            inclination = "86.4 deg", plane_separation = "31.6 deg", seam_separation = "22 deg", total = 66,
            turns_per_day = 14.34, phasing = "8.2 deg", first_longitude = "10 deg", first_phase = "3 deg",
            perturbation = "none" }
        isl = { pattern = "nearest", seam = "dynamic", cut_off_latitude = "65 deg", grazing_altitude = "100 km",
            longest = "6000 km", acquisition = "20 s" }
        [constellations.ring]
        satellites = { kind = "preset", preset = "euroskyway" }
        [constellations.many]
        satellites = { kind = "preset", preset = "telesat" }
        [ground]
        min_elevation = "12 deg"
        criterion = "least-loaded"
        handover = "make-before-break"
        handover_time = "2 s"
        [sites.plane]
        track = "flight.csv"
        [[sites.plane.antennas]]
        constellation = "polar"
        reselect = "grid"
        grid_period = "15 s"
        grid_offset = "5 s"
        [[sites.plane.antennas]]
        constellation = "many"
        min_elevation = "20 deg"
        criterion = "longest-remaining"
        reselect = "always"
        handover = "break-before-make"
        [sites.hub]
        latitude = "45 deg"
        longitude = "10 deg"
        altitude = "430 m"
        horizon = [["0 deg", "3 deg"], ["180 deg", "7 deg"]]
        relay = "gateway"
        [[outages]]
        from = "10 min"
        until = "11 min"
        link = ["polar-1-1", "polar-1-2"]
        [[outages]]
        file = "outages.csv"
        [validity]
        warn_after = "1 d"
        refuse_after = "2 d"
        [paths.fixed]
        from = "plane"
        to = "hub"
        selection = "fixed"
        via = ["polar-1-1"]
        refresh = "1 s"
    "#;
    let files: Files = std::sync::Arc::new(|name| {
        Ok(match name {
            "flight.csv" => "0 s, 50, 10, 10000\n1 h, 51, 20, 11000\n",
            _ => "1 min, 2 min, hub\n",
        }
        .to_owned())
    });
    let topology = Topology::parse("all.toml", text, &[], files.clone()).unwrap_or_else(|e| panic!("{e}"));
    let network = topology.network();
    // In the order of their names; Telesat's two shells go under one.
    let names: Vec<&str> = network.constellations.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["many", "many", "polar", "ring"]);
    assert_eq!(network.constellations[0].satellites[0].name, "many-polar-1-1");
    assert_eq!(network.constellations[3].payload, Payload::Regenerative);
    let isl = network.constellations[2].isl;
    assert_eq!((isl.pattern, isl.seam), (IslPattern::Nearest, Seam::Dynamic));
    assert!((isl.cut_off_latitude.unwrap().as_degrees() - 65.0).abs() < 1e-9);
    assert_eq!((isl.grazing_altitude_m, isl.range_max_m), (100e3, Some(6000e3)));
    assert_eq!(isl.acquisition, slantpath_base::Duration::from_secs(20));
    let (hub, plane) = (&network.sites[0], &network.sites[1]);
    assert_eq!((hub.relay, hub.horizon.is_open(), plane.relay), (Relay::Gateway, false, Relay::None));
    assert!(matches!(hub.place, SitePosition::Fixed(_)) && matches!(plane.place, SitePosition::Track(_)));
    let (first, second) = (&plane.antennas[0].policy, &plane.antennas[1].policy);
    let seconds = slantpath_base::Duration::from_secs;
    assert_eq!(first.reselect, Reselect::Grid { period: seconds(15), offset: seconds(5) });
    assert_eq!(first.criterion, Criterion::LeastLoaded);
    assert_eq!(first.handover, Handover::MakeBeforeBreak { overlap: seconds(2) });
    assert_eq!(second.handover, Handover::BreakBeforeMake { gap: seconds(0) });
    assert_eq!((second.reselect, second.criterion), (Reselect::Always, Criterion::LongestRemaining));
    assert_eq!(network.outages[0].what, Failing::Link("polar-1-1".into(), "polar-1-2".into()));
    assert_eq!(network.outages[1].what, Failing::Node("hub".into()));
    assert_eq!(network.validity.refuse_after, seconds(2 * 86_400));
    let again =
        Topology::parse("again.toml", &topology.merged(), &[], files).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.canonical(), topology.canonical());
    assert!(answer(&topology).table("legs").is_some());
}
