//! Draws a scenario under a sky from a seed.

use std::fmt::Write;

use slantpath_base::{Seed, Stream};

use crate::case::{self, END_S, Faults, Link, pick};

/// The scenario of a seed: two hosts under geostationary satellites, Iridium or a small delta.
pub(crate) fn toml(seed: u64) -> String {
    let mut stream = Seed::new(seed, 0).stream("swarm-sky");
    let faults = Faults::draw(&mut stream);
    let mut text = format!(
        "[scenario]\nname = \"swarm-sky-{seed}\"\nduration = \"{END_S} s\"\nseed = {seed}\n\n[sky]\n\
         epoch = \"2026-03-01T00:00:00Z\"\nstart = \"{} min\"\n\n",
        stream.below(1_440),
    );
    let forwards = constellation(&mut stream, &mut text);
    ground(&mut stream, &mut text);
    // Where satellites do not forward, one is in sight of both.
    let far = forwards && stream.below(2) == 1;
    let there = if far { ("42.3 deg", "-71.1 deg") } else { ("48.9 deg", "2.3 deg") };
    let mut links: Vec<Link> = Vec::new();
    for (name, (latitude, longitude)) in [("a", ("51.5 deg", "-0.1 deg")), ("b", there)] {
        let antennas = 1 + stream.below(2);
        let _ = writeln!(
            text,
            "[sky.sites.{name}]\nlatitude = \"{latitude}\"\nlongitude = \"{longitude}\"\nantennas = {antennas}\n\n\
             [nodes.{name}]\nkind = \"host\"\nsite = \"{name}\"\n",
        );
        match antennas {
            1 => links.push((format!("sky.{name}"), name, name)),
            _ => links.extend((1..=antennas).map(|number| (format!("sky.{name}.{number}"), name, name))),
        }
    }
    text.push_str("[sky.access.all]\n");
    direction(&mut stream, &faults, &mut text);
    let _ = writeln!(text, "shared_downlink = {}\n", stream.below(2) == 1);
    if forwards {
        text.push_str("[sky.isls.all]\n");
        direction(&mut stream, &faults, &mut text);
        text.push('\n');
    }
    case::profiles(&mut stream, &faults, &mut text);
    for number in 0..=stream.below(3) {
        case::flow(&mut stream, &faults, &links, number, &mut text);
    }
    case::script(&mut stream, &faults, &links, &mut text);
    text
}

/// The satellites, and whether they forward to each other.
fn constellation(stream: &mut Stream, text: &mut String) -> bool {
    text.push_str("[sky.constellations.c]\n");
    let satellites = match stream.below(3) {
        0 => "{ kind = \"slots\", longitudes = [\"-30 deg\", \"-10 deg\", \"10 deg\"] }",
        1 => "{ kind = \"preset\", preset = \"iridium\" }",
        _ => {
            "{ kind = \"shell\", arrangement = \"delta\", planes = 8, per_plane = 10, altitude = \"1300 km\", \
             inclination = \"60 deg\" }"
        }
    };
    let _ = writeln!(text, "satellites = {satellites}");
    let (payload, pattern, forwards) = match stream.below(4) {
        0 => ("bent-pipe", "none", false),
        1 => ("regenerative", "none", false),
        _ => ("regenerative", "grid", true),
    };
    let _ = writeln!(text, "payload = \"{payload}\"\nisl = {{ pattern = \"{pattern}\" }}\n");
    forwards
}

/// Writes the rules by which antennas choose their satellites and change them.
fn ground(stream: &mut Stream, text: &mut String) {
    let criterion = pick(stream, &["highest", "least-loaded", "longest-remaining", "nearest"]);
    let _ = writeln!(text, "[sky.ground]\nmin_elevation = \"8 deg\"\ncriterion = \"{criterion}\"");
    let _ = match stream.below(3) {
        0 => writeln!(text, "reselect = \"on-loss\""),
        1 => writeln!(text, "reselect = \"always\""),
        _ => writeln!(text, "reselect = \"grid\"\ngrid_period = \"{} s\"", 5 + stream.below(60)),
    };
    let handover = pick(stream, &["break-before-make", "make-before-break"]);
    let _ = writeln!(text, "handover = \"{handover}\"\nhandover_time = \"{} ms\"\n", 1 + stream.below(5_000));
}

/// Writes the properties of the links of a table, either way. A script heals those of the antennas alone, so that links
/// between satellites go on losing packets: few.
fn direction(stream: &mut Stream, faults: &Faults, text: &mut String) {
    let _ = writeln!(text, "rate = \"{} kbit/s\"", 64 << stream.below(8));
    let queue = if faults.small_queues { 2 + stream.below(10) } else { 200 };
    let _ = writeln!(text, "queue = \"{queue} packets\"");
    if faults.loss {
        let _ = writeln!(text, "loss = \"{} %\"", stream.below(5));
    }
    if faults.bit_errors {
        let _ = writeln!(text, "bit_error_rate = \"{}e-6\"", stream.below(10));
    }
    let _ = writeln!(text, "at_handover = \"{}\"", pick(stream, &["kept", "lost"]));
}
