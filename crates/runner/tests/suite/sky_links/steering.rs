//! Sites with several antennas: packets spread over them, and routes of two sites of their own.

use std::collections::BTreeSet;
use std::sync::Arc;

use slantpath_results::CellValue;
use slantpath_runner::{Files, RunOutput, Scenario};

use super::{number, run_once, text};

fn parse(text: &str) -> Scenario {
    let none: Files = Arc::new(|_| Ok(String::new()));
    Scenario::parse("f.toml", text, &[], none).unwrap_or_else(|error| panic!("{error}"))
}

/// Eight TCP flows between hosts behind gateways, each with so many antennas, over two satellites that are as far away.
fn over_gateways(antennas: usize, balance: &str, payload: &str) -> RunOutput {
    over_gateways_beside("", antennas, balance, payload)
}

/// Variant of [`over_gateways`] with more in the file.
fn over_gateways_beside(more: &str, antennas: usize, balance: &str, payload: &str) -> RunOutput {
    let site = |name: &str, latitude: u8| {
        format!(
            "[sky.sites.{name}]\nlatitude = \"{latitude} deg\"\nlongitude = \"0 deg\"\nantennas = {antennas}\n\
             [nodes.gateway-{name}]\nkind = \"router\"\nsite = \"{name}\"\n{balance}\
             [nodes.{name}]\nkind = \"host\"\n\
             [links.{name}]\nends = [\"{name}\", \"gateway-{name}\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n"
        )
    };
    let flow = |flow: usize| {
        format!(
            "[flows.f{flow}]\nfrom = \"near\"\nto = \"far\"\ntransport = \"tcp\"\nend = \"110 s\"\n\
             application = {{ kind = \"bulk\", total = \"unlimited\" }}\n"
        )
    };
    let flows: String = (0..8).map(flow).collect();
    let (near, far) = (site("near", 0), site("far", 40));
    run_once(&parse(&format!(
        "[scenario]\nname = \"gateways\"\nduration = \"120 s\"\n\
         [sky]\nepoch = \"2026-03-01T00:00:00Z\"\n\
         [sky.constellations.geo]\npayload = \"{payload}\"\n\
         satellites = {{ kind = \"slots\", longitudes = [\"-20 deg\", \"20 deg\"] }}\n\
         [sky.ground]\nmin_elevation = \"10 deg\"\n\
         [sky.access.all]\nrate = \"2 Mbit/s\"\n{near}{far}{flows}{more}"
    )))
}

fn carried(output: &RunOutput, link: &str, direction: &str) -> f64 {
    let links = output.table("links").expect("always");
    let is_it = |&row: &usize| text(links, row, "link") == link && text(links, row, "direction") == direction;
    (0..links.rows()).filter(is_it).map(|row| number(links, row, "carried_bytes")).sum()
}

#[test]
fn two_antennas_of_gateways_carry_twice_what_one_does() {
    for payload in ["regenerative", "bent-pipe"] {
        let one = carried(&over_gateways(1, "", payload), "far", "reverse");
        // 2 Mbit/s for 110 s, less what TCP takes to begin.
        assert!(one > 20e6, "{payload}: {one}");
        for balance in ["per-packet", "by-backlog"] {
            let output = over_gateways(2, &format!("balance = \"{balance}\"\n"), payload);
            let ratio = carried(&output, "far", "reverse") / one;
            assert!((1.8..2.05).contains(&ratio), "{payload}, {balance}: {ratio}");
            // Acknowledgements go by both, too.
            for antenna in ["near.1", "near.2", "far.1", "far.2"] {
                let sent = carried(&output, &format!("sky.{antenna}"), "forward");
                assert!(sent > 1e5, "{payload}, {balance}: {antenna} sent {sent}");
            }
        }
    }
}

#[test]
fn a_link_beside_moves_no_flow_to_another_antenna() {
    let beside = "[nodes.aaa]\nkind = \"host\"\n[nodes.aab]\nkind = \"host\"\n\
                  [links.aaa]\nends = [\"aaa\", \"aab\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let sent = |more: &str| {
        let output = over_gateways_beside(more, 2, "balance = \"per-flow\"\n", "regenerative");
        ["near.1", "near.2", "far.1", "far.2"]
            .map(|antenna| carried(&output, &format!("sky.{antenna}"), "forward"))
    };
    assert_eq!(sent(""), sent(beside));
}

/// An association between hosts with two antennas over Iridium, with what else stands in the sky.
fn multihomed(more: &str) -> RunOutput {
    run_once(&parse(&format!(
        r#"
        [scenario]
        name = "multihomed"
        duration = "90 s"
        [sky]
        epoch = "2026-03-01T00:00:00Z"
        [sky.constellations.iridium]
        satellites = {{ kind = "preset", preset = "iridium" }}
        [sky.sites.london]
        latitude = "51.53 deg"
        longitude = "0 deg"
        antennas = 2
        [sky.sites.boston]
        latitude = "42.3 deg"
        longitude = "-71.1 deg"
        antennas = 2
        [sky.access.all]
        rate = "2 Mbit/s"
        [sky.isls.all]
        rate = "25 Mbit/s"
        [nodes.a]
        kind = "host"
        site = "london"
        [nodes.b]
        kind = "host"
        site = "boston"
        [flows.f]
        from = "a"
        to = "b"
        transport = "sctp"
        end = "80 s"
        application = {{ kind = "constant-rate", message_size = "512 B", interval = "50 ms" }}
        {more}
        "#
    )))
}

/// The path to an address at a time, as the table says.
fn path_at(output: &RunOutput, link: &str, at: f64) -> (BTreeSet<String>, Option<u64>) {
    let paths = output.table("sky_paths").expect("there is a sky");
    let row = (0..paths.rows())
        .rev()
        .find(|&row| text(paths, row, "link") == link && number(paths, row, "at_s") <= at)
        .expect("from the start");
    let shared = match paths.column("shared_satellite_count").expect("it is there").at(row) {
        CellValue::U64(count) => Some(count),
        _ => None,
    };
    (text(paths, row, "satellites").split(" > ").map(str::to_owned).collect(), shared)
}

#[test]
fn a_satellite_that_fails_strikes_one_of_two_disjoint_paths_of_an_association() {
    let routes = "[sky.routes.apart]\nends = [\"london\", \"boston\"]\nselection = \"disjoint\"\n";
    let whole = multihomed(routes);
    let [(one, shared), (other, _)] =
        ["sky.boston.1", "sky.boston.2"].map(|link| path_at(&whole, link, 29.9));
    assert_eq!(shared, Some(0));
    assert!(one.is_disjoint(&other), "{one:?} {other:?}");
    assert_eq!(path_at(&multihomed(""), "sky.boston.1", 29.9).1, None, "nothing is said of other routes");
    // One in the middle of the first path: neither antenna has it.
    let handovers = whole.table("handovers").expect("there is a sky");
    let at_ends: BTreeSet<String> = (0..handovers.rows()).map(|row| text(handovers, row, "to")).collect();
    let failing = one.difference(&at_ends).next().expect("there is one between those of the ends");
    let outage = format!("[[sky.outages]]\nnode = \"{failing}\"\nfrom = \"30 s\"\nuntil = \"60 s\"\n");
    let broken = multihomed(&format!("{routes}{outage}"));
    let [(new, shared), (kept, _)] =
        ["sky.boston.1", "sky.boston.2"].map(|link| path_at(&broken, link, 30.0));
    assert_eq!(kept, other, "the second is untouched");
    assert!(!new.contains(failing) && new.is_disjoint(&kept));
    assert_eq!(shared, Some(0));
    let flows = broken.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
}

#[test]
fn a_fixed_route_takes_the_satellite_that_it_names_where_another_is_nearer() {
    let path = |payload: &str, route: &str| {
        let output = run_once(&parse(&format!(
            r#"
            [scenario]
            name = "fixed"
            duration = "20 s"
            [sky]
            epoch = "2026-03-01T00:00:00Z"
            [sky.constellations.geo]
            payload = "{payload}"
            satellites = {{ kind = "slots", longitudes = ["-5 deg", "40 deg"] }}
            [sky.ground]
            min_elevation = "10 deg"
            [sky.sites.near]
            latitude = "0 deg"
            longitude = "0 deg"
            antennas = 2
            [sky.sites.far]
            latitude = "40 deg"
            longitude = "0 deg"
            antennas = 2
            [sky.access.all]
            rate = "2 Mbit/s"
            [nodes.a]
            kind = "host"
            site = "near"
            [nodes.b]
            kind = "host"
            site = "far"
            [flows.f]
            from = "a"
            to = "b"
            transport = "tcp"
            end = "15 s"
            application = {{ kind = "constant-rate", message_size = "512 B", interval = "1 s" }}
            {route}
            "#
        )));
        let flows = output.table("flows").expect("always");
        assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
        path_at(&output, "sky.far.1", 0.0).0
    };
    let route = "[sky.routes.east]\nends = [\"far\", \"near\"]\nselection = \"fixed\"\nvia = [\"geo-2\"]\n";
    for payload in ["regenerative", "bent-pipe"] {
        assert_eq!(path(payload, ""), BTreeSet::from(["geo-1".to_owned()]), "{payload}");
        assert_eq!(path(payload, route), BTreeSet::from(["geo-2".to_owned()]), "{payload}");
    }
}
