//! The scenario of an emulation: a file, or two places with a link between.

use std::path::Path;

use serde_json::Value as Json;
use slantpath_runner::{OwnKinds, Scenario, Watch, files_in};

use crate::arguments::EmulateArguments;
use crate::failure::Failure;
use crate::progress::ContactsBar;

/// Scenario without a file, but for the values of its link.
const TWO_PLACES: &str = "\
[scenario]
name = \"emulate\"
duration = \"1 h\"

[nodes]
near.kind = \"attached\"
far.kind = \"attached\"

[links.link]
ends = [\"near\", \"far\"]
";

/// Rate of the link of two places, if none is said: more than a machine carries.
const RATE: &str = "10 Gbit/s";
/// Delay of that link, if none is said.
const DELAY: &str = "0 ms";

/// Reads the file, or makes the scenario of two places.
pub(super) fn scenario(arguments: &EmulateArguments, own: &OwnKinds) -> Result<Scenario, Failure> {
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.seed.map(|seed| format!("scenario.seed={seed}")));
    if let Some(path) = &arguments.scenario {
        let bar = ContactsBar::default();
        return Ok(Scenario::load_open_ended(path, &overrides, own, &|progress| bar.update(progress))?);
    }
    let text = two_places(arguments);
    let (files, watch) = (files_in(Path::new(".")), Watch::new(&|_| {}));
    Scenario::parse_observed("emulate", &text, &overrides, files, own, watch).map_err(Failure::Invalid)
}

fn two_places(arguments: &EmulateArguments) -> String {
    let mut text = TWO_PLACES.to_owned();
    let keys = [
        ("rate", Some(arguments.rate.as_deref().unwrap_or(RATE))),
        ("delay", Some(arguments.delay.as_deref().unwrap_or(DELAY))),
        ("loss", arguments.loss.as_deref()),
        ("queue", arguments.queue.as_deref()),
    ];
    let given = keys.into_iter().filter_map(|(key, value)| Some((key, Json::from(value?))));
    text.extend(given.map(|(key, value)| format!("{key} = {value}\n")));
    text
}
