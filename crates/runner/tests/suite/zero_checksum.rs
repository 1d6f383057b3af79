//! Packets of a scenario without SCTP's checksum.

use std::sync::Arc;

use slantpath_runner::Scenario;
use slantpath_sctp::chunk::kind;

use crate::alone::run_text;
use crate::project;

/// The first chunk of each packet of SCTP in the capture of the scenario's link, and whether its checksum is zero; with
/// this in place of the profile's method.
fn captured(method: &str) -> Vec<(u8, bool)> {
    let text = std::fs::read_to_string(project::path("data-channel-over-leo.toml")).unwrap();
    let changed =
        text.replace("zero_checksum = \"dtls\"\n", method).replace("end = \"120 s\"", "end = \"10 s\"");
    assert_ne!(text, changed, "the scenario has other keys");
    let output = run_text(&format!("{changed}\n[probes]\ncaptures = [\"satellite\"]\n"));
    let bytes = &output.captures[0].pcapng;
    // An IPv4 header of 20 bytes with protocol 132, between two hosts of the scenario, and SCTP's own.
    let is_header = |bytes: &&[u8]| bytes[0] == 0x45 && bytes[9] == 132 && bytes[12] == 10 && bytes[16] == 10;
    let packets = bytes.windows(33).filter(is_header);
    packets.map(|bytes| (bytes[32], bytes[28..32] == [0; 4])).collect()
}

#[test]
fn what_sets_an_association_up_or_may_find_it_gone_has_a_checksum_and_all_else_none() {
    let packets = captured("zero_checksum = \"dtls\"\n");
    assert!(packets.len() > 500, "{}", packets.len());
    for (first, is_zero) in packets {
        let has_one = matches!(first, kind::INIT | kind::INIT_ACK | kind::COOKIE_ECHO | kind::SHUTDOWN_ACK);
        assert_eq!(is_zero, !has_one, "chunk type {first}");
    }
}

#[test]
fn every_packet_has_a_checksum_unless_the_profile_says_otherwise() {
    let packets = captured("");
    assert!(packets.len() > 500 && packets.iter().all(|(_, is_zero)| !is_zero), "{packets:?}");
}

/// A profile without checksums under a sky, with these keys of its access links, of its links between satellites, and
/// these tables besides: what is said of it.
fn under_a_sky(access: &str, isls: &str, more: &str) -> Result<(), String> {
    let text = format!(
        r#"
[scenario]
name = "sky"
duration = "20 s"
[sky]
epoch = "2026-03-01T00:00:00Z"
constellations.leo.isl = {{ pattern = "grid" }}
constellations.leo.satellites.kind = "shell"
constellations.leo.satellites.arrangement = "star"
constellations.leo.satellites.planes = 6
constellations.leo.satellites.per_plane = 11
constellations.leo.satellites.altitude = "780 km"
constellations.leo.satellites.inclination = "86.4 deg"
ground.min_elevation = "8.2 deg"
sites.london = {{ latitude = "51.5 deg", longitude = "-0.1 deg" }}
sites.boston = {{ latitude = "42.3 deg", longitude = "-71.1 deg", relay = "gateway" }}
[sky.access.all]
rate = "2 Mbit/s"
shared_downlink = false
{access}
[sky.isls.all]
rate = "25 Mbit/s"
{isls}
[nodes]
a = {{ kind = "host", site = "london" }}
b = {{ kind = "host", site = "boston" }}
[sctp.default]
zero_checksum = "dtls"
[flows.f]
transport = "sctp"
from = "a"
to = "b"
application = {{ kind = "constant-rate", message_size = "200 B", interval = "1 s" }}
{more}
"#
    );
    let files = |name: &str| match name {
        "fade.csv" => Ok("5 s,,,1e-5\n".to_owned()),
        "loss.csv" => Ok("5 s,,1 %,\n".to_owned()),
        _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
    };
    let scenario = Scenario::parse("sky.toml", &text, &[], Arc::new(files));
    scenario.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn links_of_a_sky_that_flip_bits_are_refused_unless_they_repeat_what_is_broken() {
    let errors = "bit_error_rate = \"1e-6\"";
    let good = "good = { mean = \"1 s\", bit_error_rate = \"1e-6\" }";
    let bursts = &format!("gilbert_elliott = {{ {good}, bad = {{ mean = \"1 s\", loss = 1.0 }} }}");
    let arq = "arq = { tries = 5 }";
    let fade = |file: &str| format!("[sky.fades.rain]\nlink = \"sky.london\"\nfile = \"{file}\"\n");
    let set =
        "[[script]]\nat = \"5 s\"\nlink = \"sky.london\"\naction = \"set\"\nbit_error_rate = \"1e-6\"\n";
    let both = |one: &str, other: &str| format!("{one}\n{other}");
    let cable = |errors: &str| {
        format!(
            "[[sky.cables]]\nends = [\"london\", \"boston\"]\ndelay = \"20 ms\"\n\
             [sky.terrestrial.all]\nrate = \"10 Mbit/s\"\n{errors}\n"
        )
    };
    for (access, isls, more, named) in [
        ("", "", "", None),
        (errors, "", "", Some("`sky.access.all` flips bits")),
        (&format!("downlink = {{ {errors} }}"), "", "", Some("`sky.access.all` flips bits")),
        (&format!("uplink = {{ {bursts} }}"), "", "", Some("`sky.access.all` flips bits")),
        (&both(errors, arq), "", "", None),
        ("", errors, "", Some("`sky.isls.all` flips bits")),
        ("", &both(errors, arq), "", None),
        ("", "", &fade("fade.csv"), Some("`sky.fades.rain` flips bits")),
        ("", "", &fade("loss.csv"), None),
        (arq, "", &fade("fade.csv"), Some("`sky.fades.rain` flips bits")),
        (arq, arq, &fade("fade.csv"), None),
        ("", "", &cable(errors), Some("` flips bits")),
        ("", "", &cable(""), None),
        ("", "", set, Some("`sky.london`, as the script has it, flips bits")),
        (arq, arq, set, None),
    ] {
        let said = under_a_sky(access, isls, more);
        let is_right = match (&said, named) {
            (Ok(()), None) => true,
            (Err(said), Some(named)) => said.contains(named),
            _ => false,
        };
        assert!(is_right, "{access} {isls} {more}: {said:?}");
    }
}
