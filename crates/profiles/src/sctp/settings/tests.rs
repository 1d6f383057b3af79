use slantpath_sctp::{AuthenticationConfig, Extension, Extensions, PathMtuDiscovery, SctpConfig};

use super::*;
use crate::{OwnControllers, Profile, ProfileError};

fn assignments(pairs: &[(&str, &str)]) -> Vec<Assignment> {
    pairs.iter().map(|(key, value)| Assignment::new(format!("--sctp {key}"), *key, *value)).collect()
}

fn config(pairs: &[(&str, &str)]) -> Result<SctpConfig, String> {
    told(Profile::from_settings(&assignments(pairs), &OwnControllers::default()))
}

fn live(file: Option<&str>, pairs: &[(&str, &str)]) -> Result<SctpConfig, String> {
    told(Profile::live(file, &assignments(pairs), &OwnControllers::default()))
}

fn told(profile: Result<Profile, ProfileError>) -> Result<SctpConfig, String> {
    profile.map(|profile| profile.config(1)).map_err(|error| error.to_string())
}

/// Values of all kinds, and those that the schema of a key names.
fn candidates(key: &str) -> Vec<String> {
    fn texts(schema: &Json, all: &mut Vec<String>) {
        match schema {
            Json::Array(items) => items.iter().for_each(|item| texts(item, all)),
            Json::Object(members) => {
                for (name, member) in members {
                    match (name.as_str(), member) {
                        ("const", _) => all.push(member.to_string()),
                        ("description" | "pattern" | "default", _) => {}
                        _ => texts(member, all),
                    }
                }
            }
            Json::String(text) => all.push(text.clone()),
            _ => {}
        }
    }
    let plain =
        ["true", "false", "1", "2", "5", "20", "150", "10 ms", "300 ms", "2 s", "90 s", "600 B", "3000 B"];
    let mut all: Vec<String> = plain.map(str::to_owned).to_vec();
    texts(&SctpProfile::schema()["properties"][key], &mut all);
    let lists: Vec<String> = all.iter().map(|item| format!("[{item}]")).collect();
    all.extend(lists);
    all.push("[\"a\", \"b\"]".to_owned());
    all
}

/// Settings without which others say nothing.
const CONTEXTS: [&[(&str, &str)]; 7] = [
    &[],
    &[("extensions", "[\"authentication\"]")],
    &[("path_mtu_discovery", "probing")],
    &[("multipath", "concurrent")],
    &[("extensions", "[\"authentication\"]"), ("shared_keys", "[\"a\", \"b\"]")],
    &[("extensions", "[\"dynamic-addresses\"]")],
    &[("congestion_control", "backlog"), ("loss_detection", "rack")],
];

#[test]
fn every_key_of_the_declaration_is_set_by_a_pair_and_reaches_the_configuration() {
    for key in SctpProfile::names() {
        let makes_a_difference = |context: &&[(&str, &str)]| {
            let without = config(context).expect("a context is right");
            candidates(key).iter().any(|value| {
                let with = [*context, &[(key, value.as_str())]].concat();
                config(&with).is_ok_and(|with| with != without)
            })
        };
        // Of extensions those that are required have to be offered, too.
        let required = [("extensions", "[\"nr-sack\"]")];
        let contexts = CONTEXTS.iter().copied().chain([&required[..]]);
        assert!(contexts.into_iter().any(|context| makes_a_difference(&context)), "nothing sets `{key}`");
    }
}

#[test]
fn what_is_wrong_is_told_at_the_pair_with_what_would_be_right() {
    for (pairs, wanted) in [
        (&[("rto_mim", "1 s")][..], "--sctp rto_mim:1:1: `sctp.default` has no key `rto_mim`"),
        (&[("rto_mim", "1 s")], "did you mean `rto_min`?"),
        (&[("rto_min", "200")], "--sctp rto_min:1:1: `200` has no unit"),
        (&[("rto_min", "200")], "write a time as a string with its unit, like \"250 ms\""),
        (&[("rto_min", "25 h")], "`rto_min` of 90000 s is too large"),
        (&[("rto_max", "1 s"), ("rto_min", "2 s")], "--sctp rto_min:1:1: `rto_min` is 2 s, `rto_max` is 1 s"),
        (&[("congestion_control", "cubik")], "did you mean `cubic`?"),
        (&[("max_burst", "0")], "with `max_burst = 0` nothing is ever sent"),
        (&[("multipath", "on")], "--sctp multipath:1:1: `on` is none of the choices"),
    ] {
        let error = config(pairs).expect_err("a fault");
        assert!(error.contains(wanted), "{pairs:?}: {error}");
    }
    let two = config(&[("rto_mim", "1 s"), ("max_burst", "none")]).expect_err("two faults");
    assert!(two.contains("--sctp rto_mim:") && two.contains("--sctp max_burst:"), "{two}");
}

#[test]
fn the_later_pair_stands_above_the_earlier_and_both_above_the_file() {
    let both = config(&[("rto_min", "300 ms"), ("rto_min", "\"400 ms\"")]).unwrap();
    assert_eq!(both.rto_min.as_millis(), 400);
    let directory = std::env::temp_dir().join(format!("slantpath-settings-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.toml");
    std::fs::write(&path, "[sctp.leo]\nrto_min = \"500 ms\"\nsack_delay = \"20 ms\"\n[sctp.geo]\n").unwrap();
    let leo = format!("{}:leo", path.display());
    let above = live(Some(&leo), &[("rto_min", "300 ms")]).unwrap();
    assert_eq!((above.rto_min.as_millis(), above.sack_delay.as_millis()), (300, 20));
    let error = live(Some(&leo), &[("sack_dalay", "1 ms")]).expect_err("no such key");
    assert!(error.contains("`sctp.leo` has no key `sack_dalay`"), "{error}");
    let error = live(Some(&path.display().to_string()), &[("rto_min", "1 s")]).expect_err("two profiles");
    assert!(error.contains("has several profiles of SCTP: name one of geo, leo"), "{error}");
    let error = live(Some(&format!("{}:meo", path.display())), &[("rto_min", "1 s")]).expect_err("no such");
    assert!(error.contains("has no profile [sctp.meo]"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn an_endpoint_offers_what_it_requires_and_authenticates_data() {
    let both =
        live(None, &[("extensions", "[\"nr-sack\"]"), ("required_extensions", "[\"authentication\"]")]);
    let both = both.unwrap();
    let offered = Extensions::of(&[Extension::NonRenegableSack, Extension::Authentication]);
    assert_eq!(both.extensions, offered);
    assert_eq!(both.required_extensions, Extensions::of(&[Extension::Authentication]));
    let data = AuthenticationConfig::of_data().chunks;
    assert_eq!(both.authentication.chunks, data);
    let chosen = [("extensions", "[\"authentication\"]"), ("authenticated_chunks", "[\"sack\"]")];
    assert_ne!(live(None, &chosen).unwrap().authentication.chunks, data);
    // A scenario does neither.
    let error = config(&[("required_extensions", "[\"nr-sack\"]")]).expect_err("it is not offered");
    assert!(error.contains("add them to `extensions`"), "{error}");
    let plain = config(&[("extensions", "[\"authentication\"]")]).unwrap();
    assert_ne!(plain.authentication.chunks, data);
}

#[test]
fn a_path_mtu_is_where_a_path_begins_and_the_most_that_is_probed() {
    let mtu = |more: &[(&str, &str)]| {
        let config = live(None, &[&[(Assignment::PATH_MTU, "1000 B")], more].concat()).unwrap();
        (config.path_mtu_discovery, config.initial_path_mtu, config.max_path_mtu)
    };
    assert_eq!(mtu(&[]), (PathMtuDiscovery::Off, 1_000, 1_500));
    let probing = [("path_mtu_discovery", "probing"), ("base_path_mtu", "600 B")];
    assert_eq!(mtu(&probing), (PathMtuDiscovery::Probing, 1_000, 1_000));
    assert_eq!(mtu(&[("initial_path_mtu", "1300 B")]), (PathMtuDiscovery::Off, 1_300, 1_500));
    let error = live(None, &[(Assignment::PATH_MTU, "100 B")]).expect_err("too small");
    assert!(error.contains("--sctp path_mtu:1:1: `initial_path_mtu` of 100 B cannot be"), "{error}");
    assert!(config(&[(Assignment::PATH_MTU, "1000 B")]).is_err(), "it is no key of a table");
}

#[test]
fn a_number_has_the_unit_of_its_key() {
    let of = |key, number| Assignment::quantity(key, number);
    assert_eq!(of("rto_min", 0.1 + 0.2), Some("300 ms".to_owned()));
    assert_eq!(of("hb_interval", 3.0), Some("3 s".to_owned()));
    assert_eq!(of("rto_min", -1.0), Some("-1 s".to_owned()));
    assert_eq!(of("send_buffer", 65_536.0), Some("65536 B".to_owned()));
    assert_eq!(of("initial_cwnd", 3_000.0), Some("3000 B".to_owned()));
    assert_eq!(of(Assignment::PATH_MTU, 1_000.0), Some("1000 B".to_owned()));
    assert_eq!(of("known_capacity", 5e6), Some("5000000 bit/s".to_owned()));
    for key in ["max_burst", "path_max_retrans", "ecn", "extensions", "rto_mim"] {
        assert_eq!(of(key, 1.0), None, "{key}");
    }
}

#[test]
fn what_was_written_as_json_is_read_again_without_its_secrets() {
    let pairs = [
        ("extensions", "[\"authentication\", \"nr-sack\"]"),
        ("shared_keys", "[\"a\", \"b\"]"),
        ("active_key", "1"),
        ("preset", "mb9"),
        ("hb_interval", "off"),
    ];
    let profile = Profile::from_settings(&assignments(&pairs), &OwnControllers::default()).unwrap();
    let written = profile.table().settings();
    assert_eq!(written["rto_min"], profile.config(1).rto_min.to_string());
    assert_eq!((written.get("shared_keys"), written.get("active_key")), (None, None));
    let again = Profile::from_json("a.trace", &written, &OwnControllers::default()).unwrap();
    let shared =
        |config: SctpConfig| SctpConfig { authentication: AuthenticationConfig::default(), ..config };
    assert_eq!(shared(again.config(1)), shared(profile.config(1)));
    assert_eq!(
        again.differing_keys(),
        "preset = \"mb9\"\nextensions = [\"authentication\",\"nr-sack\"]\nhb_interval = \"off\"\n"
    );
    let settings = slantpath_reader::json!({ "rto_mim": "1 s" });
    let error = Profile::from_json("a.trace", &settings, &OwnControllers::default()).unwrap_err();
    assert!(error.to_string().starts_with("a.trace rto_mim:1:1: "), "{error}");
}
