//! Networks that tables of constellations give: shells under one name, and beams.

use slantpath_topology::{FollowedPath, Topology};

use crate::topology::{answer, no_files};

#[test]
fn paths_between_shells_of_a_constellation_are_warned_of() {
    let text = r#"
        [topology]
        name = "shells"
        epoch = "2026-03-01T00:00:00Z"
        span = "2 h"
        [constellations.many]
        satellites = { kind = "preset", preset = "telesat" }
        [sites]
        madrid = { latitude = "40.4 deg", longitude = "-3.7 deg" }
        nairobi = { latitude = "-1.3 deg", longitude = "36.8 deg" }
        lisbon = { latitude = "38.7 deg", longitude = "-9.1 deg" }
        [paths.far]
        from = "madrid"
        to = "nairobi"
        [paths.near]
        from = "madrid"
        to = "lisbon"
    "#;
    let topology = Topology::parse("shells.toml", text, &[], no_files()).unwrap_or_else(|e| panic!("{e}"));
    let output = answer(&topology);
    assert_eq!(output.absent(), Vec::<&str>::new());
    let lines = output.warning_lines();
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    let told =
        " % of the span, as its ends hold satellites of different shells of `many` (and 1 more like it); ";
    let rest = line.strip_prefix("path `far` is not there for ");
    let (share, rest) = rest.and_then(|rest| rest.split_once(told)).unwrap_or_else(|| panic!("{line}"));
    let far = output.paths.iter().find(|path| path.name == "far").unwrap();
    let gone = 1.0 - far.summary.connected.as_secs_f64() / 7_200.0;
    assert_eq!(share, format!("{:.1}", 100.0 * gone));
    assert!(rest.starts_with("no link leads from shell to shell: let `many` be one shell"), "{rest}");
    // Of those that are kept apart for equally long, the first by name is told.
    let mut more = output.clone();
    more.paths.push(FollowedPath { name: "other".to_owned(), ..far.clone() });
    let told = [line.replace("(and 1 more", "(and 2 more")];
    assert_eq!(more.warning_lines(), told);
    // A path that is kept apart for less long may stand before it.
    more.paths.swap(0, 1);
    assert_eq!((more.paths[0].name.as_str(), more.warning_lines()), ("near", told.to_vec()));
}

#[test]
fn beams_are_those_of_every_shell_and_serve_no_more_antennas_at_once() {
    let text = |beams: &str| {
        format!(
            r#"
            [topology]
            name = "beams"
            epoch = "2026-03-01T00:00:00Z"
            span = "10 min"
            [constellations.geo]
            satellites = {{ kind = "slots", longitudes = ["0 deg"] }}
            {beams}
            [constellations.many]
            satellites = {{ kind = "preset", preset = "telesat" }}
            beams = 7
            [ground]
            min_elevation = "10 deg"
            [sites]
            a = {{ latitude = "10 deg", longitude = "0 deg", antennas = [{{ constellation = "geo" }}] }}
            b = {{ latitude = "20 deg", longitude = "0 deg", antennas = [{{ constellation = "geo" }}] }}
            c = {{ latitude = "30 deg", longitude = "0 deg", antennas = [{{ constellation = "geo" }}] }}
            "#
        )
    };
    for (beams, limit, held) in
        [("beams = 1", Some(1), 1), ("beams = 2", Some(2), 2), ("beams = 3", Some(3), 3), ("", None, 3)]
    {
        let topology = Topology::parse("beams.toml", &text(beams), &[], no_files());
        let topology = topology.unwrap_or_else(|error| panic!("{error}"));
        let of_each: Vec<_> = topology.network().constellations.iter().map(|one| one.beams).collect();
        assert_eq!(of_each, [limit, Some(7), Some(7)], "{beams}");
        let plan = answer(&topology).plan;
        let ground = plan.contacts().iter().filter(|one| !plan.is_site(one.a) && plan.is_site(one.b));
        assert_eq!(ground.count(), held, "{beams}");
    }
}
