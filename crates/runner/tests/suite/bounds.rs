//! No key of a scenario or of a topology takes an absurd quantity: both schemas are walked, so that no key that is
//! added later escapes.

use std::path::Path;

use serde_json::Value as Json;
use slantpath_effects::expanded;
use slantpath_runner::{Diagnostics, LoadError, Scenario, files_in, json_schema};
use slantpath_topology::{Topology, json_schema as topology_schema};

use crate::project;

/// A key of a file: its path, and the file with nothing but a value for it.
struct Key {
    path: String,
    schema: Json,
    /// Text before and behind its value.
    around: (String, String),
}

/// Every key that takes a value, those of kinds and of lists of tables included.
fn keys(schema: &str) -> Vec<Key> {
    let root = expanded(schema);
    let mut keys = Vec::new();
    for (name, table) in root["properties"].as_object().expect("a file has tables") {
        walk(table, name, (format!("{name} = "), "\n".to_owned()), &mut keys);
    }
    keys
}

fn walk(schema: &Json, path: &str, around: (String, String), keys: &mut Vec<Key>) {
    let within = |open: &str, close: &str| (format!("{}{open}", around.0), format!("{close}{}", around.1));
    let kinds = schema["oneOf"].as_array().into_iter().flatten().filter(|kind| kind["type"] == "object");
    let objects: Vec<&Json> =
        if schema["type"] == "object" { vec![schema] } else { kinds.collect::<Vec<_>>() };
    for object in &objects {
        for (name, property) in object["properties"].as_object().into_iter().flatten() {
            let kind = object.pointer("/properties/kind/const");
            let kind = kind.map(|kind| format!("kind = {kind}, ")).unwrap_or_default();
            if name != "kind" {
                walk(property, &format!("{path}.{name}"), within(&format!("{{ {kind}{name} = "), " }"), keys);
            }
        }
        if object["additionalProperties"].is_object() {
            walk(&object["additionalProperties"], &format!("{path}.x"), within("{ x = ", " }"), keys);
        }
    }
    if !objects.is_empty() {
        return;
    }
    if schema["items"]["type"] == "object" {
        return walk(&schema["items"], &format!("{path}.0"), within("[", "]"), keys);
    }
    keys.push(Key { path: path.to_owned(), schema: schema.clone(), around });
}

impl Key {
    /// Tells whether it takes a quantity: what is neither a string, nor a choice, nor `true` or `false`, nor a list of
    /// such.
    fn takes_a_quantity(&self) -> bool {
        let mut schema = &self.schema;
        while schema["type"] == "array" {
            schema = &schema["items"];
        }
        let is_choice = schema["oneOf"].is_array() || schema["enum"].is_array();
        let is_text = schema["type"] == "string" && schema.get("pattern").is_none();
        !(is_choice || is_text || schema["type"] == "boolean" || schema.get("const").is_some())
    }

    /// Faults of the value that the key is given, not of all else that the file lacks.
    fn faults(&self, load: Load, value: &str) -> Vec<String> {
        let value = listed(&self.schema, value);
        let text = format!("{}{value}{}", self.around.0, self.around.1);
        let place = self.around.0.len()..self.around.0.len() + value.len();
        let Err(diagnostics) = load(&text) else { return Vec::new() };
        let at_value = diagnostics.iter().filter(|diagnostic| {
            place.start <= diagnostic.span.start
                && diagnostic.span.end <= place.end
                && !diagnostic.span.is_empty()
        });
        at_value.map(ToString::to_string).collect()
    }
}

/// A value in the lists that a schema takes.
fn listed(schema: &Json, value: &str) -> String {
    if schema["type"] != "array" {
        return value.to_owned();
    }
    let item = listed(&schema["items"], value);
    if schema["minItems"] == 2 { format!("[{item}, {item}]") } else { format!("[{item}]") }
}

type Load = fn(&str) -> Result<(), Diagnostics>;

fn scenario(text: &str) -> Result<(), Diagnostics> {
    Scenario::parse("t.toml", text, &[], files_in("".as_ref())).map(drop)
}

fn topology(text: &str) -> Result<(), Diagnostics> {
    Topology::parse("t.toml", text, &[], files_in("".as_ref())).map(drop)
}

fn both() -> Vec<(Key, Load)> {
    let scenario = keys(&json_schema()).into_iter().map(|key| (key, scenario as Load));
    scenario.chain(keys(&topology_schema()).into_iter().map(|key| (key, topology as Load))).collect()
}

/// A value of every unit that is beyond all sense, and can be read.
const ABSURD: [&str; 13] = [
    "1000000000000000000",
    "1e18",
    "\"200000 d\"",
    "\"1000000 Tbit/s\"",
    "\"1000000000 GB\"",
    "\"4000000000 packets\"",
    "\"1000000 %\"",
    "\"1e18\"",
    "\"1000000 deg\"",
    "\"1000000000000 km\"",
    "\"walker 4000000000\"",
    "\"-1000000 deg\"",
    "{ octets = 60, weight = 1e18 }",
];

/// Any seed is as good as another, and a date is held to the calendar.
const ANY: [&str; 2] = ["scenario.seed", "topology.epoch"];

#[test]
fn no_key_takes_an_absurd_quantity() {
    let keys = both();
    let quantities: Vec<_> = keys.iter().filter(|(key, _)| key.takes_a_quantity()).collect();
    assert!(quantities.len() > 200, "the walk finds {} quantities", quantities.len());
    for (key, load) in quantities.iter().filter(|(key, _)| !ANY.contains(&key.path.as_str())) {
        for absurd in ABSURD {
            let faults = key.faults(*load, absurd);
            assert!(!faults.is_empty(), "{} takes {absurd}", key.path);
            assert!(faults.iter().all(|fault| fault.contains("help: ")), "{}: {faults:?}", key.path);
        }
    }
}

/// Twice a bound as it is written in a schema: `86400 s`, `16`, `walker 100000`.
fn doubled(bound: &str) -> String {
    let word = |word: &str| match word.parse::<f64>() {
        Ok(number) => (number * 2.0).to_string(),
        Err(_) => word.to_owned(),
    };
    bound.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_key_takes_its_bound_and_nothing_above_it() {
    let mut bounds = 0;
    for (key, load) in both() {
        let Some(text) = key.schema["x-at-most"].as_str() else { continue };
        let description = key.schema["description"].as_str().expect("every key has a description");
        assert!(description.contains(&format!("At most {text}: ")), "{}: {description}", key.path);
        for bound in text.split(" or ") {
            let quoted = |bound: &str| match bound.parse::<f64>() {
                Ok(_) => bound.to_owned(),
                Err(_) => format!("\"{bound}\""),
            };
            let too_large = |value: &str| {
                let faults = key.faults(load, &quoted(value));
                faults
                    .iter()
                    .any(|fault| fault.contains("is too large") && fault.contains("let it be at most"))
            };
            // A name of 32 bits has no greater one.
            let has_greater = bound != u32::MAX.to_string();
            assert!(!too_large(bound), "{} does not take {bound}", key.path);
            assert!(too_large(&doubled(bound)) || !has_greater, "{} takes {}", key.path, doubled(bound));
            bounds += 1;
        }
    }
    assert!(bounds > 180, "the walk finds {bounds} bounds");
}

#[test]
fn a_million_times_its_default_reaches_the_bound_of_every_number() {
    for (key, _) in both() {
        let (Some(default), Some(most)) = (key.schema["default"].as_f64(), key.schema["maximum"].as_f64())
        else {
            continue;
        };
        let is_bounded = default * 1e6 >= most || default == 0.0 || ANY.contains(&key.path.as_str());
        assert!(is_bounded || key.path.ends_with("first_run"), "{}: {default} of {most}", key.path);
    }
}

#[test]
fn every_preset_lies_within_the_bounds() {
    let root = expanded(&json_schema());
    let presets = root.pointer("/properties/sctp/additionalProperties/properties/preset/oneOf");
    let presets = presets.and_then(Json::as_array).expect("a profile has presets");
    assert_eq!(presets.len(), 6);
    let first = std::fs::read_to_string(project::path("first.toml")).expect("the scenario is there");
    for preset in presets.iter().map(|preset| preset["const"].as_str().expect("a preset has a name")) {
        let text = format!("{first}\n[sctp.default]\npreset = \"{preset}\"\n");
        let files = || files_in(Path::new("nowhere"));
        let scenario = Scenario::parse("first", &text, &[], files()).expect("a preset is no fault");
        let merged =
            Scenario::parse("merged", &scenario.merged(), &[], files()).expect("nor when written out");
        assert_eq!(merged.hash(), scenario.hash(), "{preset}");
    }
}

#[test]
fn the_load_that_never_ended_is_told_its_bound() {
    let text = "[signalling.load.calls]\nfrom = \"a\"\nto = [\"b\"]\nlengths = [60]\nerlang_per_link = 1e9\n";
    let Err(diagnostics) = Scenario::parse("t.toml", text, &[], files_in("".as_ref())) else {
        panic!("it is refused")
    };
    let told: Vec<_> = diagnostics.iter().filter(|diagnostic| diagnostic.line == 5).collect();
    let [told] = told[..] else { panic!("one fault: {diagnostics}") };
    assert_eq!(told.message, "`erlang_per_link` of 1000000000 is too large");
    let help = "let it be at most 100: 1 fills a line, and a hundred overload it a hundredfold";
    assert_eq!(told.help.as_deref(), Some(help));
}

#[test]
fn a_file_of_a_sweep_is_bounded_too() {
    let directory = std::env::temp_dir().join(format!("slantpath-bounds-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("sweep.toml");
    std::fs::write(&file, "[sweep]\nscenario = \"x.toml\"\nrepetitions = 4000000000\n").expect("a file");
    let error = slantpath_runner::Sweep::load(&file, &[]).expect_err("it is refused");
    std::fs::remove_dir_all(&directory).expect("it was there");
    let LoadError::Invalid(diagnostics) = error else { panic!("{error}") };
    let text = diagnostics.to_string();
    assert!(text.contains("sweep.toml:3:15: `repetitions` of 4000000000 is too large"), "{text}");
}
