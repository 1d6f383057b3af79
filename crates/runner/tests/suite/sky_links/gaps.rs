//! Breaks of a path: what is told of them before the run is what happens in it, and the setting that is proposed
//! carries them.

use std::path::Path;
use std::sync::Arc;

use slantpath_runner::{Files, Scenario};

use super::{LONDON_TO_BOSTON, number, run_once, text};

/// Two sites below a geostationary satellite, or two of them, of which one fails for a while.
fn scenario(outage: [u64; 2], duration: u64, more: &str) -> Scenario {
    seeded(1, 1, outage, duration, more)
}

fn seeded(seed: u64, antennas: u64, [from, until]: [u64; 2], duration: u64, more: &str) -> Scenario {
    let (east, west) = ("{ constellation = \"east\" }", "{ constellation = \"west\" }");
    let antennas = if antennas == 1 { format!("[{east}]") } else { format!("[{east}, {west}]") };
    let text = format!(
        r#"
        [scenario]
        name = "gap"
        seed = {seed}
        duration = "{duration} s"
        [sky]
        epoch = "2026-03-01T00:00:00Z"
        [sky.constellations.east]
        satellites = {{ kind = "slots", longitudes = ["10 deg"] }}
        [sky.constellations.west]
        satellites = {{ kind = "slots", longitudes = ["-10 deg"] }}
        [sky.ground]
        min_elevation = "10 deg"
        [sky.sites.here]
        latitude = "0 deg"
        longitude = "0 deg"
        antennas = {antennas}
        [sky.sites.there]
        latitude = "0 deg"
        longitude = "1 deg"
        antennas = {antennas}
        [[sky.outages]]
        node = "there"
        from = "{from} s"
        until = "{until} s"
        [sky.access.all]
        rate = "2 Mbit/s"
        [nodes.a]
        kind = "host"
        site = "here"
        [nodes.b]
        kind = "host"
        site = "there"
        {more}
        "#
    );
    parse(&text)
}

fn parse(text: &str) -> Scenario {
    let files: Files = Arc::new(|name: &str| panic!("{name} is not asked for"));
    Scenario::parse("gap.toml", text, &[], files).unwrap_or_else(|error| panic!("{error}"))
}

/// One message a second from `start` to `end`.
fn flow(transport: &str, start: u64, end: u64, settings: &str) -> String {
    format!(
        r#"
        [flows.f]
        from = "a"
        to = "b"
        transport = "{transport}"
        start = "{start} s"
        end = "{end} s"
        application = {{ kind = "constant-rate", message_size = "512 B", interval = "1 s" }}
        [{transport}.default]
        {settings}
        "#
    )
}

/// Warning that a scenario gives.
#[derive(Debug)]
struct Told {
    text: String,
    /// Length of the gap, and the time at which it begins.
    gap: f64,
    since: f64,
    /// Times after that at which the transport may send for the last time, and end.
    end: f64,
    /// A setting, as in `association_max_retrans = 14`.
    setting: String,
}

fn told(scenario: &Scenario) -> Vec<Told> {
    let between = |text: &str, before: &str, behind: &str| {
        let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
        rest.split_once(behind).map_or(rest, |(own, _)| own).to_owned()
    };
    let seconds = |text: String| -> f64 { text.trim_end_matches(" s").parse().expect("seconds") };
    let of_gaps = scenario.warnings().iter().filter(|warning| warning.message.starts_with("no path"));
    let warnings = of_gaps.map(|warning| {
        let help = warning.help.as_deref().expect("a cure");
        Told {
            gap: seconds(between(&warning.message, " for ", " from")),
            since: seconds(between(&warning.message, " from ", " on")),
            end: seconds(between(&warning.message, "end after ", ",")),
            setting: between(help, "write `", "`"),
            text: warning.message.clone(),
        }
    });
    warnings.collect()
}

/// A run of the flow: what failed, when it ended, and how many messages were sent and delivered.
fn outcome(scenario: &Scenario) -> (String, f64, f64, f64) {
    let output = run_once(scenario);
    let flows = output.table("flows").expect("always");
    let ended = if text(flows, 0, "failure").is_empty() { 0.0 } else { number(flows, 0, "ended_s") };
    (
        text(flows, 0, "failure"),
        ended,
        number(flows, 0, "messages_sent"),
        number(flows, 0, "messages_delivered"),
    )
}

/// A flow that meets a gap.
struct Case {
    transport: &'static str,
    /// Number of the receiver's antennas.
    antennas: u64,
    /// Time at which the flow begins.
    start: u64,
    outage: [u64; 2],
    settings: &'static str,
    /// Name of the setting that is to be proposed.
    key: &'static str,
    /// Latest time after the gap's beginning at which it has failed.
    latest: f64,
}

impl Case {
    /// The flow goes on for so long behind the gap.
    const BEHIND: u64 = 200;

    fn with(&self, seed: u64, settings: &str) -> Scenario {
        let end = self.outage[1] + Self::BEHIND;
        let flow = flow(self.transport, self.start, end, settings);
        seeded(seed, self.antennas, self.outage, end + 150, &flow)
    }

    /// The flow is told of the gap; it dies no sooner than told, and not much later. With the proposed setting, and
    /// nothing else changed, nothing is told, and all of its messages arrive.
    fn dies_as_told_and_lives_as_proposed(&self) {
        let Self { start, outage: [from, until], settings, key, .. } = *self;
        let told = told(&self.with(1, settings));
        let [told] = &told[..] else { panic!("{told:?}") };
        assert!(told.text.contains("flow `f`"), "{}", told.text);
        assert_eq!((told.since, told.gap), (from.max(start) as f64, (until - from.max(start)) as f64));
        assert!(told.setting.starts_with(&format!("{key} = ")), "{}", told.setting);
        let changed: Vec<&str> = settings.lines().filter(|line| !line.starts_with(key)).collect();
        let proposed = format!("{}\n{}", changed.join("\n"), told.setting);
        for seed in 1..=4 {
            let (failure, ended, ..) = outcome(&self.with(seed, settings));
            assert_ne!(failure, "", "seed {seed}: {}", told.text);
            let after = ended - told.since;
            assert!((told.end..=self.latest).contains(&after), "seed {seed}: after {after} s, {}", told.text);
            let carried = self.with(seed, &proposed);
            assert!(carried.warnings().is_empty(), "{proposed}: {}", carried.warnings()[0]);
            let (failure, _, sent, delivered) = outcome(&carried);
            assert_eq!((failure.as_str(), delivered), ("", sent), "seed {seed}: {proposed}");
            // What was due before there was a connection is left out by a source of a constant rate, and a set-up
            // tries once a minute.
            let least = if from > start { until + Self::BEHIND - start } else { Self::BEHIND - 61 };
            assert!(sent >= least as f64, "seed {seed}: {sent}");
        }
    }
}

#[test]
fn an_association_that_a_gap_kills_dies_as_told_and_lives_with_the_proposed_limit() {
    let key = "association_max_retrans";
    // Time-outs alone would let it live for 362 s.
    let plain = Case {
        transport: "sctp",
        antennas: 1,
        start: 10,
        outage: [300, 700],
        settings: "",
        key,
        latest: 305.0,
    };
    plain.dies_as_told_and_lives_as_proposed();
    let settings = "hb_interval = \"off\"\nrto_max = \"20 s\"";
    Case { outage: [100, 300], settings, latest: 170.0, ..plain }.dies_as_told_and_lives_as_proposed();
    let settings = "rto_max = \"4 s\"\nhb_interval = \"2 s\"";
    Case { outage: [100, 160], settings, latest: 45.0, ..plain }.dies_as_told_and_lives_as_proposed();
}

#[test]
fn an_association_of_two_paths_that_break_together_dies_as_told_and_lives_with_the_proposed_limit() {
    let (settings, key) = ("", "association_max_retrans");
    let outage = [100, 300];
    Case { transport: "sctp", antennas: 2, start: 10, outage, settings, key, latest: 150.0 }
        .dies_as_told_and_lives_as_proposed();
}

#[test]
fn an_association_that_a_gap_keeps_from_its_set_up_lives_with_the_proposed_repetitions() {
    let key = "max_init_retransmits";
    let plain = Case {
        transport: "sctp",
        antennas: 1,
        start: 10,
        outage: [0, 400],
        settings: "",
        key,
        latest: 243.1,
    };
    plain.dies_as_told_and_lives_as_proposed();
    Case { antennas: 2, latest: 46.1, ..plain }.dies_as_told_and_lives_as_proposed();
    let settings = "max_init_retransmits = 2";
    Case { outage: [0, 60], settings, latest: 7.1, ..plain }.dies_as_told_and_lives_as_proposed();
}

#[test]
fn a_connection_that_a_gap_kills_dies_as_told_and_lives_with_the_proposed_limit() {
    let (key, settings) = ("data_retransmission_limit", "data_retransmission_limit = 6");
    Case { transport: "tcp", antennas: 1, start: 10, outage: [100, 300], settings, key, latest: 130.0 }
        .dies_as_told_and_lives_as_proposed();
}

#[test]
fn a_connection_that_a_gap_keeps_from_its_set_up_lives_with_the_proposed_repetitions() {
    let (key, settings) = ("syn_retransmission_limit", "");
    Case { transport: "tcp", antennas: 1, start: 10, outage: [0, 330], settings, key, latest: 183.1 }
        .dies_as_told_and_lives_as_proposed();
}

#[test]
fn a_gap_that_kills_nothing_is_not_told() {
    let told_of = |outage, flow: &str| {
        scenario(outage, 1_000, flow).warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let none = Vec::<String>::new();
    assert_eq!(told_of([300, 449], &flow("sctp", 10, 900, "")), none);
    assert_eq!(told_of([300, 890], &flow("tcp", 10, 900, "")), none);
    // A set-up that begins behind it, or a flow that has closed before.
    assert_eq!(told_of([300, 900], &flow("sctp", 901, 950, "")), none);
    assert_eq!(told_of([300, 900], &flow("sctp", 10, 290, "")), none);
    // The run ends before the association does.
    assert_eq!(told_of([800, 1_200], &flow("sctp", 10, 990, "")), none);
    assert_eq!(told_of([700, 1_200], &flow("sctp", 10, 990, "")).len(), 1);
    // Whether the handshake is over when the path breaks is not known.
    assert_eq!(told_of([300, 900], &flow("sctp", 299, 950, "")).len(), 2);
}

/// The set-up is told of the first gap, what stands of the second.
#[test]
fn a_gap_at_the_start_and_a_later_one_are_told_each() {
    let later = "[[sky.outages]]\nnode = \"here\"\nfrom = \"1000 s\"\nuntil = \"1500 s\"\n";
    let told = told(&scenario([0, 600], 2_000, &format!("{later}{}", flow("sctp", 0, 1_900, ""))));
    let keys: Vec<&str> = told.iter().map(|told| told.setting.split(' ').next().expect("a key")).collect();
    assert_eq!(keys, ["max_init_retransmits", "association_max_retrans"], "{told:?}");
    assert_eq!([told[0].since, told[1].since], [0.0, 1_000.0]);
}

#[test]
fn a_fixed_route_that_holds_for_some_minutes_is_told_of_the_rest_of_the_run() {
    let with = |route: &str| {
        parse(&format!(
            "{}{}{}{}{route}",
            "[scenario]\nname = \"fixed\"\nduration = \"20 min\"\n[sky]\nepoch = \"2026-03-01T00:00:00Z\"\n",
            "[sky.constellations.iridium]\nsatellites = { kind = \"preset\", preset = \"iridium\" }\n",
            "[sky.sites.london]\nlatitude = \"51.5 deg\"\nlongitude = \"-0.1 deg\"\n\
             [sky.sites.boston]\nlatitude = \"42.3 deg\"\nlongitude = \"-71.1 deg\"\n",
            LONDON_TO_BOSTON
        ))
    };
    let free = with("");
    assert!(told(&free).is_empty());
    let output = run_once(&free);
    let via =
        text(output.table("sky_paths").expect("there is a sky"), 0, "satellites").replace(" > ", "\", \"");
    let route = "[sky.routes.r]\nends = [\"london\", \"boston\"]\nselection = \"fixed\"\n";
    let fixed = told(&with(&format!("{route}via = [\"{via}\"]\n")));
    assert_eq!(fixed.len(), 1, "{fixed:?}");
    assert_eq!(fixed[0].since + fixed[0].gap, 1_200.0, "{fixed:?}");
}

#[test]
fn a_break_of_the_only_antenna_by_a_script_is_told() {
    let flow = flow("sctp", 10, 900, "");
    let script = "[[script]]\nat = \"200 s\"\nlink = \"sky.there\"\ndirection = \"reverse\"\naction = \"down\"\n\
                  [[script]]\nat = \"700 s\"\nlink = \"sky.there\"\naction = \"up\"\n";
    let scripted = told(&scenario([2_000, 2_001], 1_000, &format!("{script}{flow}")));
    let gaps: Vec<[f64; 2]> = scripted.iter().map(|told| [told.since, told.gap]).collect();
    assert_eq!(gaps, [[200.0, 500.0]], "{scripted:?}");
}

#[test]
fn what_carries_signalling_and_sessions_are_told_as_well() {
    let signalling = r#"
        [signalling.points.one]
        point_code = "2-15-3"
        node = "a"
        [signalling.points.two]
        point_code = "3-20-1"
        node = "b"
        [signalling.links.l]
        between = ["one", "two"]
        carrier = { kind = "m2pa" }
        [signalling.load.isup]
        from = "one"
        to = ["two"]
        links = 1
        erlang_per_link = 0.1
        lengths = [60]
        arrivals = "poisson"
        start = "30 s"
    "#;
    let told_of = |more: &str| told(&scenario([300, 700], 1_000, more));
    let of_link = told_of(signalling);
    assert!(of_link.iter().any(|told| told.text.contains("signalling link `l`")), "{of_link:?}");
    let sessions = r#"
        [sessions.s]
        transport = "tcp"
        from = "a"
        to = "b"
        arrivals = { kind = "constant", interval = "20 s" }
        sizes = { kind = "fixed", size = "10 kB" }
    "#;
    let of_sessions = told_of(sessions);
    assert_eq!(of_sessions.len(), 1, "{of_sessions:?}");
    assert!(of_sessions[0].text.contains("sessions `s`"), "{}", of_sessions[0].text);
    assert!(of_sessions[0].setting.starts_with("syn_retransmission_limit"), "{}", of_sessions[0].setting);
}

/// One satellite of low orbit: hours without a path, and passes of some minutes.
#[test]
fn the_doubtful_scenario_fails_as_it_stands_and_lives_with_what_is_proposed() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warned/sky-gap-that-no-association-outlives.toml");
    let load = |values: &[String]| Scenario::load(&path, values).unwrap_or_else(|error| panic!("{error}"));
    for start in ["0 s", "2900 s"] {
        let start = format!("flows.f.start={start}");
        let told = told(&load(std::slice::from_ref(&start)));
        assert_ne!(outcome(&load(std::slice::from_ref(&start))).0, "", "{start}");
        let settings = told.iter().map(|told| format!("sctp.default.{}", told.setting.replace(" = ", "=")));
        let proposed: Vec<String> = settings.chain([start]).collect();
        assert_eq!(outcome(&load(&proposed)).0, "", "{proposed:?}");
    }
}

#[test]
fn ends_at_different_shells_of_a_constellation_are_told_so_with_what_to_write() {
    let text = |minutes: u32| {
        let flow = LONDON_TO_BOSTON;
        format!(
            r#"
            [scenario]
            name = "shells"
            duration = "{minutes} min"
            [sky]
            epoch = "2026-03-01T00:00:00Z"
            start = "40 min"
            [sky.constellations.many]
            satellites = {{ kind = "preset", preset = "telesat" }}
            [sky.sites.london]
            latitude = "40.4 deg"
            longitude = "-3.7 deg"
            [sky.sites.boston]
            latitude = "-1.3 deg"
            longitude = "36.8 deg"
            {flow}
            "#
        )
    };
    let load = |minutes| {
        let files: Files = Arc::new(|name: &str| panic!("{name} is not asked for"));
        Scenario::parse("shells.toml", &text(minutes), &[], files)
    };
    let faults = load(20).expect_err("there is no path in this time").to_string();
    let never = "no path over the sky ever joins `a` and `b` in this run: its ends hold satellites of different \
                 shells of `many`";
    assert!(faults.contains(never), "{faults}");
    assert!(faults.contains("no link leads from shell to shell: let `many` be one shell"), "{faults}");
    let later = load(120).unwrap_or_else(|error| panic!("{error}"));
    let (all, longest) = later.warnings().split_first().expect("they are apart at times");
    assert!(all.message.starts_with("no path joins the ends of flow `f` for "), "{all}");
    assert!(
        all.message.ends_with(" s in all, as its ends hold satellites of different shells of `many`"),
        "{all}"
    );
    // Neither a set-up nor an association outlasts it, and more repetitions would be no cure.
    let ends = ["its set-up may end", "its association may end"];
    assert_eq!(longest.len(), ends.len());
    for (warning, end) in longest.iter().zip(ends) {
        assert!(warning.message.contains(end), "{warning}");
        assert_eq!(warning.help, all.help);
    }
}
