//! The merged form: complete, itself a scenario, and independent of how the file was written.

use std::path::Path;

use proptest::prelude::*;
use slantpath_effects::expanded;
use slantpath_runner::{Files, Scenario, files_in, json_schema, sweep_schema};
use slantpath_testkit::page;

use crate::project;

fn no_files() -> Files {
    files_in(Path::new("nowhere"))
}

fn reread(text: &str) -> Scenario {
    Scenario::parse("merged", text, &[], no_files()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_merged_form_of_the_first_scenario_says_everything() {
    insta::assert_snapshot!(project::load("first.toml", &[]).merged());
}

#[test]
fn merging_the_merged_form_changes_nothing() {
    for name in [
        "first.toml",
        "multi-link.toml",
        "dumbbell.toml",
        "controllers-over-geo.toml",
        "cubic-over-geo.toml",
        "ss7-over-geo.toml",
        "sigtran-gateway-over-geo.toml",
    ] {
        let first = project::load(name, &[]);
        for text in [first.merged(), first.canonical()] {
            let again = reread(&text);
            assert_eq!(again.canonical(), first.canonical());
            assert_eq!(again.hash(), first.hash());
        }
    }
}

#[test]
fn the_order_of_tables_and_the_spelling_of_units_do_not_change_the_hash() {
    let text = |first: &str, second: &str| {
        format!(
            "[scenario]\nname = \"x\"\nduration = \"1 min\"\n{first}\n{second}\n\
             [links.l]\nends = [\"a\", \"b\"]\ndelay = \"0.25 s\"\nrate = \"1536 kbit/s\"\n\
             [flows.f]\ntransport = \"sctp\"\nfrom = \"a\"\nto = \"b\"\n\
             application = {{ kind = \"bulk\", total = \"unlimited\" }}\n"
        )
    };
    let (a, b) = ("[nodes.a]\nkind = \"host\"", "[nodes.b]\nkind = \"host\"");
    let first = reread(&text(a, b));
    let other = reread(&text(b, a).replace("0.25 s", "250 ms").replace("1536 kbit/s", "1.536 Mbit/s"));
    assert_eq!(first.hash(), other.hash());
}

#[test]
fn an_override_is_checked_like_the_file() {
    let path = project::path("first.toml");
    let overrides = ["links.satellite.loss=120 %".to_owned(), "links.cable.delay=1 ms".to_owned()];
    let text = Scenario::load(&path, &overrides).unwrap_err().to_string();
    assert!(text.contains("--set:1:22: `120 %` is out of range"), "{text}");
    assert!(text.contains("`links.cable` lacks `ends`"), "{text}");
}

#[test]
fn a_scenario_takes_overrides_after_it_was_read() {
    let first = project::load("first.toml", &[]);
    let lossy = first.with("--set", &["links.satellite.loss=3 %".to_owned()]).unwrap();
    assert_eq!(lossy, project::load("first.toml", &["links.satellite.loss=3 %"]));
    assert_ne!(lossy, first);
    let text = first.with("--set", &["links.satellite.loss=300 %".to_owned()]).unwrap_err().to_string();
    assert!(text.starts_with("--set:1:22: `300 %` is out of range"), "{text}");
}

#[test]
fn the_committed_schema_is_the_one_that_the_code_makes() {
    page::hold("schema/slantpath.schema.json", &json_schema());
    page::hold("schema/sweep.schema.json", &sweep_schema());
}

#[test]
fn each_reference_of_a_schema_leads_to_a_definition_and_each_definition_is_used() {
    let schema = expanded(&json_schema());
    assert!(schema.to_string().len() > json_schema().len(), "nothing is written once");
    expanded(&sweep_schema());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_values_survive_the_merged_form(
        rate in 1_u64..=10_000_000_000,
        delay in 0_u64..=10_000_000_000,
        loss in 0.0..=1.0_f64,
        queue in 1_u32..=100_000,
        in_bytes: bool,
        streams in 1_u16..=2_048,
        seed in 0..=i64::MAX,
        name in "\\PC{0,20}",
        ipv6: bool,
    ) {
        let overrides = [
            format!("scenario.name={}", serde_json::to_string(&name).unwrap().replace('\u{7f}', "\\u007f")),
            format!("scenario.seed={seed}"),
            format!("links.satellite.rate={rate} bit/s"),
            format!("links.satellite.reverse.delay={delay} ns"),
            format!("links.satellite.forward.loss={loss:e}"),
            format!("links.satellite.queue={queue} {}", if in_bytes { "B" } else { "packets" }),
            format!("links.satellite.family={}", if ipv6 { "ipv6" } else { "ipv4" }),
            format!("flows.signalling.streams={streams}"),
        ];
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        let first = project::load("first.toml", &overrides);
        let again = reread(&first.merged());
        prop_assert_eq!(again.canonical(), first.canonical());
        prop_assert_eq!(again.links.find("satellite"), first.links.find("satellite"));
        prop_assert_eq!(&*again.scenario.name, &name);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Scenario::parse("noise", &text, &[], no_files());
    }

    #[test]
    fn no_damage_to_a_scenario_makes_the_reader_panic(
        at: prop::sample::Index,
        with in "\\PC{0,3}",
        cut in 0_usize..20,
    ) {
        let mut text: Vec<char> = std::fs::read_to_string(project::path("multi-link.toml")).unwrap().chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let _ = Scenario::parse("damaged", &text, &[], no_files());
    }
}
