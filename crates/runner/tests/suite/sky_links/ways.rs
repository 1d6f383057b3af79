//! Ways that a ground network takes by whatever the sky has at the time: the cable of a host, the terminal of a router.

use std::sync::Arc;

use slantpath_runner::{Files, RunOutput, Scenario};

use super::{number, run_once, text};

fn parse(text: &str) -> Result<Scenario, String> {
    let files: Files = Arc::new(|name: &str| panic!("{name} is not asked for"));
    Scenario::parse("f.toml", text, &[], files).map_err(|error| error.to_string())
}

fn read(text: &str) -> Scenario {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A ship and a host at the end of two cables, `lisbon` and `cork`, over one geostationary satellite; the cable from
/// Cork is out of service between two instants, that from Lisbon, the first by name and the shorter one, in the first
/// 200 s.
fn two_cables(family: &str, [from, until]: [u32; 2], more: &str) -> String {
    let address = if family == "ipv6" { "fd01::1" } else { "10.200.0.1" };
    format!(
        r#"
        [scenario]
        name = "two cables"
        duration = "400 s"
        routing = "dynamic"
        [sky]
        epoch = "2026-03-01T00:00:00Z"
        [sky.constellations.geo]
        satellites = {{ kind = "slots", longitudes = ["-20 deg"] }}
        [sky.ground]
        min_elevation = "5 deg"
        [sky.sites.ship]
        latitude = "45 deg"
        longitude = "-30 deg"
        [sky.sites.cork]
        latitude = "51.9 deg"
        longitude = "-8.5 deg"
        relay = "gateway"
        [sky.sites.lisbon]
        latitude = "38.7 deg"
        longitude = "-9.1 deg"
        relay = "gateway"
        [sky.sites.paris]
        latitude = "48.9 deg"
        longitude = "2.4 deg"
        [[sky.cables]]
        ends = ["paris", "cork"]
        delay = "50 ms"
        [[sky.cables]]
        ends = ["paris", "lisbon"]
        delay = "5 ms"
        [[sky.outages]]
        link = ["paris", "lisbon"]
        from = "0 s"
        until = "200 s"
        [[sky.outages]]
        link = ["paris", "cork"]
        from = "{from} s"
        until = "{until} s"
        [sky.access.all]
        rate = "2 Mbit/s"
        [nodes.ship]
        kind = "host"
        site = "ship"
        addresses = ["{address}"]
        [nodes.cork]
        kind = "router"
        site = "cork"
        addresses = ["{}"]
        [nodes.lisbon]
        kind = "router"
        site = "lisbon"
        addresses = ["{}"]
        [nodes.server]
        kind = "host"
        site = "paris"
        [links.a-lisbon]
        ends = ["lisbon", "server"]
        cable = true
        rate = "1 Gbit/s"
        family = "{family}"
        [links.b-cork]
        ends = ["cork", "server"]
        cable = true
        rate = "1 Gbit/s"
        family = "{family}"
        [flows.up]
        from = "ship"
        to = "server"
        transport = "tcp"
        end = "390 s"
        application = {{ kind = "constant-rate", message_size = "512 B", interval = "1 s" }}
        {more}
        "#,
        address.replace(".1", ".2").replace("::1", "::2"),
        address.replace(".1", ".3").replace("::1", "::3"),
    )
}

fn carried(output: &RunOutput, link: &str) -> [f64; 2] {
    let links = output.table("links").expect("always");
    let mut rows = (0..links.rows()).filter(|&row| text(links, row, "link") == link);
    core::array::from_fn(|_| number(links, rows.next().expect("both directions"), "carried_packets"))
}

fn all_arrive(output: &RunOutput, at_least: f64) {
    let flows = output.table("flows").expect("always");
    for row in 0..flows.rows() {
        assert_eq!(number(flows, row, "messages_delivered"), number(flows, row, "messages_sent"));
        assert!(number(flows, row, "messages_sent") >= at_least);
    }
}

#[test]
fn tcp_takes_the_cable_of_a_host_by_which_the_way_leads_when_it_connects() {
    let down = "[flows.down]\nfrom = \"server\"\nto = \"ship\"\ntransport = \"tcp\"\nend = \"390 s\"\n\
                application = { kind = \"constant-rate\", message_size = \"512 B\", interval = \"1 s\" }\n";
    for family in ["ipv4", "ipv6"] {
        let output = run_once(&read(&two_cables(family, [399, 400], down)));
        all_arrive(&output, 389.0);
        assert_eq!(carried(&output, "a-lisbon"), [0.0, 0.0], "{family}");
        assert!(carried(&output, "b-cork").iter().all(|&packets| packets > 390.0), "{family}");
    }
    // One that connects when the other is in service takes that.
    let later = two_cables("ipv4", [200, 400], "connect = \"250 s\"\nstart = \"250 s\"\n");
    let scenario = read(&later);
    let merged = scenario.merged();
    assert!(merged.contains("primary = \"a-lisbon\"  # by which the way leads"), "{merged}");
    let output = run_once(&scenario);
    all_arrive(&output, 139.0);
    assert_eq!(carried(&output, "b-cork"), [0.0, 0.0]);
    // What is written is kept, and merged forms are the same scenario.
    assert_eq!(read(&merged).hash(), scenario.hash());
    let written = read(&two_cables("ipv4", [399, 400], "primary = \"a-lisbon\"\n"));
    assert!(written.merged().contains("primary = \"a-lisbon\"\n"), "{}", written.merged());
}

#[test]
fn an_association_begins_by_the_cable_by_which_the_way_leads() {
    let sctp = two_cables("ipv4", [399, 400], "").replace("\"tcp\"", "\"sctp\"");
    let output = run_once(&read(&sctp));
    all_arrive(&output, 389.0);
    let [up, _] = carried(&output, "b-cork");
    assert!(up > 390.0, "{up}");
}

/// An ASP on the ship, whose application server the exchange behind the server in Paris sends to, and a signalling link
/// of M2PA between the two hosts.
const SIGNALLING: &str = r#"
    connect = "250 s"
    start = "250 s"
    [sessions.ftp]
    from = "ship"
    to = "server"
    transport = "tcp"
    start = "250 s"
    arrivals = { kind = "constant", interval = "10 s" }
    sizes = { kind = "fixed", size = "1 kB" }
    [signalling.points]
    paris = { point_code = "1", node = "server", function = "transfer-point", restart = "omitted" }
    bridge = { point_code = "2", node = "ship", restart = "omitted" }
    register = { point_code = "3" }
    [signalling.links.between]
    between = ["bridge", "paris"]
    carrier = { kind = "m2pa" }
    [[signalling.routes]]
    from = "bridge"
    to = "register"
    via = "paris"
    [signalling.gateways.paris]
    [signalling.asps.ship]
    [signalling.associations.first]
    gateway = "paris"
    asp = "ship"
    [signalling.application_servers.register]
    routing_context = 100
    dpc = "register"
    asps = ["ship"]
    [signalling.load.there]
    from = "bridge"
    to = ["register"]
    links = 1
    erlang_per_link = 0.1
    lengths = [60]
"#;

#[test]
fn whatever_needs_an_association_or_connection_begins_by_the_cable_of_its_own_way() {
    // Flow and sessions begin when the cable from Lisbon is in service, and the associations before that.
    let scenario = read(&two_cables("ipv4", [200, 400], SIGNALLING));
    let merged = scenario.merged();
    let chosen = |table: &str| {
        let (_, own) = merged.split_once(table).unwrap_or_else(|| panic!("{table} of {merged}"));
        let own = own.split("\n[").next().expect("there is a first");
        let line = own.lines().find_map(|line| line.strip_prefix("primary = "));
        line.unwrap_or_else(|| panic!("{table} of {merged}")).to_owned()
    };
    for (table, link) in [
        ("[flows.up]", "a-lisbon"),
        ("[sessions.ftp]", "a-lisbon"),
        ("[signalling.links.between.carrier]", "b-cork"),
        ("[signalling.associations.first]", "b-cork"),
    ] {
        assert_eq!(chosen(table), format!("\"{link}\"  # by which the way leads"), "{table}");
    }
}

#[test]
fn tcp_is_told_of_breaks_of_its_own_cable_where_another_would_carry_it() {
    let scenario = read(&two_cables("ipv4", [200, 400], "[tcp.default]\ndata_retransmission_limit = 3\n"));
    let told: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
    let told = told.join("\n");
    assert!(
        told.contains("no path joins the ends of flow `up` over `b-cork` for 200 s from 200 s on"),
        "{told}"
    );
    assert!(told.contains("let a router stand where `server` does"), "{told}");
    // And one that never is in service while it is needed is refused.
    let never = two_cables("ipv4", [0, 400], "primary = \"b-cork\"\n");
    let error = parse(&never).expect_err("it never connects");
    assert!(
        error.contains("no path over the sky ever joins `ship` and `server` in this run over `b-cork`"),
        "{error}"
    );
    assert!(error.contains("name another link of `server` as `primary`, or leave it out"), "{error}");
}

/// A host behind a router with a terminal to each of two satellites; that to the nearer one, `east`, is out between
/// 100 and 200 s, and its gateway between 250 and 300 s.
const TWO_TERMINALS: &str = r#"
    [scenario]
    name = "two terminals"
    duration = "400 s"
    routing = "dynamic"
    [sky]
    epoch = "2026-03-01T00:00:00Z"
    [sky.constellations.east]
    satellites = { kind = "slots", longitudes = ["0 deg"] }
    [sky.constellations.west]
    satellites = { kind = "slots", longitudes = ["-40 deg"] }
    [sky.ground]
    min_elevation = "5 deg"
    [sky.sites.east]
    latitude = "40 deg"
    longitude = "0 deg"
    antennas = [{ constellation = "east" }]
    [sky.sites.west]
    latitude = "40 deg"
    longitude = "0 deg"
    antennas = [{ constellation = "west" }]
    [sky.sites.gateway-east]
    latitude = "45 deg"
    longitude = "0 deg"
    antennas = [{ constellation = "east" }]
    [sky.sites.gateway-west]
    latitude = "45 deg"
    longitude = "0 deg"
    antennas = [{ constellation = "west" }]
    [[sky.outages]]
    node = "east"
    from = "100 s"
    until = "200 s"
    [[sky.outages]]
    node = "gateway-east"
    from = "250 s"
    until = "300 s"
    [sky.access.all]
    rate = "2 Mbit/s"
    [nodes.a]
    kind = "host"
    [nodes.router-a]
    kind = "router"
    [nodes.east]
    kind = "router"
    site = "east"
    [nodes.west]
    kind = "router"
    site = "west"
    [nodes.gateway-east]
    kind = "router"
    site = "gateway-east"
    [nodes.gateway-west]
    kind = "router"
    site = "gateway-west"
    [nodes.router-b]
    kind = "router"
    [nodes.b]
    kind = "host"
    [links]
    l1 = { ends = ["a", "router-a"], rate = "1 Gbit/s", delay = "1 ms" }
    l2 = { ends = ["router-a", "east"], rate = "1 Gbit/s", delay = "1 ms" }
    l3 = { ends = ["router-a", "west"], rate = "1 Gbit/s", delay = "1 ms" }
    l4 = { ends = ["gateway-east", "router-b"], rate = "1 Gbit/s", delay = "1 ms" }
    l5 = { ends = ["gateway-west", "router-b"], rate = "1 Gbit/s", delay = "1 ms" }
    l6 = { ends = ["router-b", "b"], rate = "1 Gbit/s", delay = "1 ms" }
    [flows.up]
    from = "a"
    to = "b"
    transport = "tcp"
    end = "390 s"
    application = { kind = "constant-rate", message_size = "512 B", interval = "1 s" }
    [flows.down]
    from = "b"
    to = "a"
    transport = "tcp"
    end = "390 s"
    application = { kind = "constant-rate", message_size = "512 B", interval = "1 s" }
"#;

#[test]
fn a_router_before_two_terminals_falls_back_to_the_one_that_has_a_satellite_and_comes_back() {
    let output = run_once(&read(TWO_TERMINALS));
    all_arrive(&output, 389.0);
    let paths = output.table("sky_paths").expect("there is a sky");
    for flow in ["up", "down"] {
        let path = |at: f64| {
            let is_it = |&row: &usize| text(paths, row, "flow") == flow && number(paths, row, "at_s") <= at;
            text(paths, (0..paths.rows()).rev().find(is_it).expect("from the start"), "satellites")
        };
        for (at, by) in [
            (99.9, "east"),
            (100.0, "west"),
            (199.9, "west"),
            (200.0, "east"),
            (249.9, "east"),
            (250.0, "west"),
            (299.9, "west"),
            (300.0, "east"),
        ] {
            assert!(path(at).contains(by), "{flow} at {at} s: {}", path(at));
        }
    }
    // Routes that are worked out once stay by the nearer one.
    let output = run_once(&read(&TWO_TERMINALS.replace("\"dynamic\"", "\"static\"")));
    assert_eq!(carried(&output, "l3"), [0.0, 0.0]);
}

#[test]
fn what_waits_for_the_next_contact_of_the_only_antenna_is_not_turned_away() {
    // Both terminals are out at once: what comes meanwhile is held for the nearer one.
    let both_out = TWO_TERMINALS.replace(
        "[sky.access.all]",
        "[[sky.outages]]\nnode = \"west\"\nfrom = \"100 s\"\nuntil = \"400 s\"\n[sky.access.all]",
    );
    let output = run_once(&read(&both_out));
    all_arrive(&output, 389.0);
    let links = output.table("links").expect("always");
    let waited = (0..links.rows())
        .any(|row| text(links, row, "link") == "sky.east" && number(links, row, "queue_max_packets") > 1.0);
    assert!(waited);
}
