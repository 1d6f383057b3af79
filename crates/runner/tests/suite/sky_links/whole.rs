//! Whole scenarios under a sky: one whose tables stand in it, one that is turned, one over two orbits.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_runner::{Files, OwnKinds, Progress, RunOutput, Scenario, Sweep, Watch};

use super::{LONDON_TO_BOSTON, load, number, run_once, text};
use crate::project;

#[test]
fn a_sky_whose_tables_stand_in_the_scenario_is_the_one_of_a_file_with_the_same_tables() {
    let head = "[scenario]\nname = \"held\"\nduration = \"10 min\"\n";
    let bodies = [
        "[constellations.iridium]\nsatellites = { kind = \"preset\", preset = \"iridium\" }\n",
        "[sites.london]\nlatitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\n",
        "[sites.boston]\nlatitude = \"42.3 deg\"\nlongitude = \"-71.1 deg\"\n",
        // One is over before the run begins, one comes during it.
        "[[outages]]\nnode = \"boston\"\nfrom = \"10 min\"\nuntil = \"11 min\"\n",
        "[[outages]]\nnode = \"london\"\nfrom = \"62 min\"\nuntil = \"63 min\"\n",
        "[ground]\nhandover = \"break-before-make\"\nhandover_time = \"1 s\"\n",
    ]
    .concat();
    let epoch = "epoch = \"2026-03-01T00:00:00Z\"\n";
    let named = format!("{head}[sky]\ntopology = \"sky.toml\"\nstart = \"1 h\"\n{LONDON_TO_BOSTON}");
    let topology = format!("[topology]\nname = \"t\"\n{epoch}span = \"24 h\"\n{bodies}");
    let held_bodies = bodies
        .replace("[[outages", "[[sky.outages")
        .replace("\n[", "\n[sky.")
        .replace("[sky.[sky.", "[[sky.");
    let held = format!("{head}[sky]\n{epoch}start = \"1 h\"\n[sky.{}{LONDON_TO_BOSTON}", &held_bodies[1..]);
    let parse = |text: &str, topology: String| {
        let files: Files = Arc::new(move |_| Ok(topology.clone()));
        Scenario::parse("f.toml", text, &[], files).unwrap_or_else(|error| panic!("{error}"))
    };
    let named = run_once(&parse(&named, topology));
    let held = parse(&held, String::new());
    let output = run_once(&held);
    assert_eq!(output.digest, named.digest);
    let handovers = output.table("handovers").expect("there is a sky");
    let gaps: Vec<f64> = (0..handovers.rows())
        .filter(|&row| text(handovers, row, "cause") == "outage")
        .map(|row| number(handovers, row, "at_s"))
        .collect();
    // 62 minutes after the epoch are 2 minutes after the start; a second after its end there is a link again.
    assert_eq!(gaps, [120.0, 181.0]);
    // The merged form says all that the sky is, and is itself a scenario.
    let again = parse(&held.merged(), String::new());
    assert_eq!((again.canonical(), again.hash()), (held.canonical(), held.hash()));
    assert!(held.canonical().contains("min_elevation"));
}

#[test]
fn whoever_waits_for_the_contacts_of_a_sky_hears_of_the_beginning_and_of_each_site() {
    let heard = RefCell::new(Vec::new());
    let path = project::path("sctp-over-iridium.toml");
    let scenario =
        Scenario::load_observed(&path, &[], &OwnKinds::none(), &|progress| heard.borrow_mut().push(progress));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let heard = heard.into_inner();
    assert_eq!(
        heard.iter().map(|one| (one.done, one.all, one.share)).collect::<Vec<_>>(),
        [(0, 2, 0.0), (1, 2, 0.5), (2, 2, 1.0)]
    );
    assert_eq!(scenario, load(&[]));
}

#[test]
fn whoever_waits_for_the_contacts_of_a_sky_may_stop_them() {
    let scenario = load(&[]);
    let changed = ["sky.start=\"1 h\"".to_owned()];
    // At the beginning, after a site, and after the last one, when paths are looked through.
    for stopped_at in 0..3 {
        let (stop, heard) = (AtomicBool::new(false), Cell::new(0));
        let progress = |made: Progress| {
            heard.set(heard.get() + 1);
            if made.done == stopped_at {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let read = scenario.with_observed(
            "stopped",
            &changed,
            Watch { progress: &progress, stop: &stop, pieces: None },
        );
        let faults = read.expect_err("it was stopped").to_string();
        assert!(faults.contains("it was stopped before its contacts were worked out"), "{faults}");
        assert_eq!(heard.get(), stopped_at + 1, "nothing more is worked out");
    }
    // Contacts that are known are looked through all the same.
    let stop = AtomicBool::new(true);
    let longer = ["flows.telemetry.end=3400 s".to_owned()];
    let read =
        scenario.with_observed("stopped", &longer, Watch { progress: &|_| {}, stop: &stop, pieces: None });
    let faults = read.expect_err("it was stopped").to_string();
    assert!(faults.contains("it was stopped before its paths were looked through"), "{faults}");
    assert!(scenario.with("later", &longer).is_ok());
}

#[test]
fn whoever_reads_a_sweep_hears_of_the_contacts_of_each_point_that_has_its_own() {
    let directory = std::env::temp_dir().join(format!("slantpath-sweep-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("sweep.toml");
    let base = project::path("sctp-over-iridium.toml");
    let heard_of = |axis: &str| {
        let text = format!("[sweep]\nscenario = '{}'\n[[axis]]\n{axis}\n", base.display());
        std::fs::write(&file, text).expect("a file");
        let heard = RefCell::new(Vec::new());
        let sweep = Sweep::load_observed(&file, &[], &OwnKinds::none(), &|progress| {
            heard.borrow_mut().push(progress);
        });
        assert_eq!(sweep.unwrap_or_else(|error| panic!("{error}")).points(), 2);
        let shares = heard.into_inner().into_iter().map(|one| (one.done, one.all, 6.0 * one.share));
        shares.map(|(done, all, sixths)| (done, all, sixths.round())).collect::<Vec<_>>()
    };
    let of_base = vec![(0, 6, 0.0), (1, 6, 1.0), (2, 6, 2.0)];
    let rates = heard_of("\"sky.isls.iridium.rate\" = [\"10 Mbit/s\", \"25 Mbit/s\"]");
    assert_eq!(rates, of_base);
    let starts = heard_of("\"sky.start\" = [\"1 min\", \"2 min\"]");
    let of_points = vec![(2, 6, 2.0), (3, 6, 3.0), (4, 6, 4.0), (4, 6, 4.0), (5, 6, 5.0), (6, 6, 6.0)];
    assert_eq!(starts, [of_base, of_points].concat());
    std::fs::remove_dir_all(&directory).expect("it was there");
}

#[test]
fn a_world_that_is_turned_about_its_axis_carries_every_message_alike() {
    let turned = |degrees: f64| {
        let east = |longitude: f64| {
            let turned = longitude + degrees;
            if turned > 180.0 { turned - 360.0 } else { turned }
        };
        let text = format!(
            r#"
            [scenario]
            name = "turned"
            duration = "15 min"
            [sky]
            epoch = "2026-03-01T00:00:00Z"
            [sky.constellations.star]
            satellites = {{ kind = "shell", arrangement = "star", planes = 6, per_plane = 11, altitude = "780 km",
                inclination = "86.4 deg", first_longitude = "{first} deg" }}
            isl.pattern = "grid"
            [sky.ground]
            min_elevation = "8.2 deg"
            [sky.access.all]
            rate = "1 Mbit/s"
            [sky.isls.all]
            rate = "25 Mbit/s"
            [sky.sites.a]
            latitude = "51.5 deg"
            longitude = "{a} deg"
            [sky.sites.b]
            latitude = "-33.9 deg"
            longitude = "{b} deg"
            [nodes.a]
            kind = "host"
            site = "a"
            [nodes.b]
            kind = "host"
            site = "b"
            [flows.f]
            from = "a"
            to = "b"
            transport = "sctp"
            end = "890 s"
            application = {{ kind = "constant-rate", message_size = "512 B", interval = "50 ms" }}
            "#,
            first = degrees,
            a = east(0.0),
            b = east(18.5),
        );
        let none: Files = Arc::new(|_| Ok(String::new()));
        let scenario = Scenario::parse("f.toml", &text, &[], none).unwrap_or_else(|error| panic!("{error}"));
        run_once(&scenario)
    };
    let (still, moved) = (turned(0.0), turned(130.0));
    let handovers = |output: &RunOutput| -> Vec<(f64, String, String)> {
        let table = output.table("handovers").expect("there is a sky");
        let row = |row| (number(table, row, "at_s"), text(table, row, "link"), text(table, row, "to"));
        (0..table.rows()).map(row).collect()
    };
    let (one, other) = (handovers(&still), handovers(&moved));
    assert!(one.len() > 4, "{one:?}");
    assert_eq!(one.len(), other.len());
    for ((at, link, to), (other_at, other_link, other_to)) in one.iter().zip(&other) {
        assert!((at - other_at).abs() < 1e-5, "{at} {other_at}");
        assert_eq!((link, to), (other_link, other_to));
    }
    let delays = |output: &RunOutput| -> Vec<f64> {
        let table = output.table("messages").expect("they are recorded");
        (0..table.rows()).map(|row| number(table, row, "delay_s")).collect()
    };
    let (one, other) = (delays(&still), delays(&moved));
    assert!(one.len() > 17_000, "{}", one.len());
    assert_eq!(one.len(), other.len());
    let furthest = one.iter().zip(&other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    assert!(furthest < 1e-6, "{furthest}");
}

#[test]
fn an_association_over_two_orbits_takes_the_geostationary_one_while_there_is_no_way_over_the_low_one() {
    let path = project::path("leo-with-geo-backup.toml");
    let scenario = Scenario::load(&path, &["flows.telemetry.end=3500 s".to_owned()]);
    let output = run_once(&scenario.unwrap_or_else(|error| panic!("{error}")));
    let flows = output.table("flows").expect("always");
    assert!(number(flows, 0, "messages_sent") > 34_000.0);
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
    // Boston has no satellite of low orbit from 842 s to 2,276 s.
    let messages = output.table("messages").expect("they are recorded");
    let delays_of = |from: f64, until: f64| -> Vec<f64> {
        let within = |&row: &usize| (from..until).contains(&number(messages, row, "sent_s"));
        (0..messages.rows()).filter(within).map(|row| number(messages, row, "delay_s")).collect()
    };
    let over_geo = delays_of(860.0, 2_270.0);
    assert_eq!(over_geo.len(), 14_100);
    assert!(over_geo.iter().all(|delay| (0.26..0.28).contains(delay)));
    // Heartbeats find the low orbit again.
    let again = delays_of(2_350.0, 2_500.0);
    assert!(again.iter().all(|&delay| delay < 0.15), "{again:?}");
    // The first messages of the gap wait for three time-outs.
    let longest = delays_of(840.0, 860.0).into_iter().fold(0.0, f64::max);
    assert!((2.0..9.0).contains(&longest), "{longest}");
}

#[test]
fn routes_lead_over_no_gateway_at_which_nobody_stands() {
    // Of four satellites each is linked with its neighbours: down and up again at the gateway is shorter than by the
    // one in between.
    let file = r#"
        [scenario]
        name = "empty"
        duration = "60 s"

        [sky]
        epoch = "2026-03-01T00:00:00Z"

        [sky.constellations.geo]
        satellites = { kind = "slots", longitudes = ["-60 deg", "0 deg", "60 deg", "180 deg"] }
        payload = "regenerative"
        isl = { pattern = "grid" }

        [sky.ground]
        min_elevation = "5 deg"

        [sky.sites]
        a = { latitude = "0 deg", longitude = "-100 deg" }
        b = { latitude = "0 deg", longitude = "100 deg" }
        gateway = { latitude = "0 deg", longitude = "0 deg", relay = "gateway", antennas = 3 }

        [sky.access.all]
        rate = "2 Mbit/s"

        [sky.isls.all]
        rate = "25 Mbit/s"

        [nodes]
        a = { kind = "host", site = "a" }
        b = { kind = "host", site = "b" }

        [flows.f]
        from = "a"
        to = "b"
        transport = "sctp"
        end = "50 s"
        application = { kind = "constant-rate", message_size = "512 B", interval = "1 s" }
    "#;
    let path_with = |more: &str| {
        let files: Files = Arc::new(|_| Ok(String::new()));
        let scenario = Scenario::parse("f.toml", &(file.to_owned() + more), &[], files);
        let output = run_once(&scenario.unwrap_or_else(|error| panic!("{error}")));
        let flows = output.table("flows").expect("always");
        assert!(number(flows, 0, "messages_sent") > 40.0);
        assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
        text(output.table("sky_paths").expect("there is a sky"), 0, "satellites")
    };
    assert_eq!(path_with(""), "geo-1 > geo-2 > geo-3");
    let node = "\n[nodes.gateway]\nkind = \"router\"\nsite = \"gateway\"\n";
    assert_eq!(path_with(node), "geo-1 > gateway > geo-3");
}
