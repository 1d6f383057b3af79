//! Events that are asked for while a network runs: the words, readers and checks of `[[script]]`, but for the instant.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_reader::{
    Diagnostics, Entries, Entry, Fault, Faults, Named, Place, Section as _, ValueData, ValueNode, assign,
    section, suggest,
};

use super::check::check;
use super::schema::{Action, Event, Which};
use crate::checked::Checked;
use crate::sky_links::changes::{self, check_satellites};
use crate::{access, zero_checksum};

section! {
    /// Events that are asked for together.
    struct Asked {
        /// Events at links.
        script: Vec<Named<Event>>;
    }
}

/// Keys of an event that change something of a link.
const SETTABLE: [&str; 7] =
    ["rate", "delay", "loss", "bit_error_rate", "duplicate", "reorder", "reorder_delay"];

/// Makes events of settings `links.NAME.KEY`, or `links.NAME.DIRECTION.KEY`, with their values. A value is TOML if it
/// reads as such, and a string if not. Settings of one link and direction are one event, which happens at `at`.
///
/// # Errors
/// If one of them is not what a script could set at this scenario: none of them holds then.
pub fn events_of_settings<'a>(
    scenario: &Checked,
    at: Instant,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Named<Event>>, Diagnostics> {
    let mut faults = Faults::default();
    let mut events = BTreeMap::<(&str, &str), Entries>::new();
    for (path, value) in settings {
        match Path::of(path) {
            Ok(Path { link, direction, key }) => {
                let event = events.entry((link, direction)).or_default();
                if event.is_empty() {
                    name(event, link, direction, &mut faults);
                }
                assign(event, &[key], path, value, &mut faults);
            }
            Err(fault) => {
                let source = faults.add_source("set", path);
                faults.report(Place::new(source, 0..path.len()), fault);
            }
        }
    }
    checked(scenario, at, events.into_values(), faults)
}

/// Makes an event of a table of `[[script]]` without `at`: keys with their values, as TOML.
///
/// # Errors
/// If a script could not have it at this scenario.
pub fn event_of_table<'a>(
    scenario: &Checked,
    at: Instant,
    table: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Named<Event>>, Diagnostics> {
    let mut faults = Faults::default();
    let mut event = Entries::new();
    for (key, value) in table {
        if key == "at" {
            let source = faults.add_source("do", key);
            let fault = Fault::new("`at` has no meaning here").help("leave it out: it happens at once");
            faults.report(Place::new(source, 0..key.len()), fault);
            continue;
        }
        assign(&mut event, &[key], key, value, &mut faults);
    }
    checked(scenario, at, [event], faults)
}

/// Parts of the path of a setting.
struct Path<'a> {
    link: &'a str,
    direction: &'static str,
    key: &'static str,
}

impl<'a> Path<'a> {
    fn of(path: &'a str) -> Result<Self, Fault> {
        let parts = path.strip_prefix("links.").and_then(|rest| rest.rsplit_once('.'));
        let Some((link, key)) = parts.filter(|(link, key)| !link.is_empty() && !key.is_empty()) else {
            let fault = Fault::new(format!("`{path}` is no path of what can be set"));
            return Err(fault.help("write it like `links.satellite.loss`, or `links.satellite.forward.loss`"));
        };
        let Some(key) = SETTABLE.into_iter().find(|known| *known == key) else {
            let fault = Fault::new(format!("`{key}` is nothing that can be set while a network runs"));
            return Err(fault.help(suggest(key, "what can be set", &SETTABLE)));
        };
        let whole = Self { link, direction: Which::Both.as_str(), key };
        let Some((name, last)) = link.rsplit_once('.').filter(|(name, _)| !name.is_empty()) else {
            return Ok(whole);
        };
        let of = [Which::Forward, Which::Reverse].into_iter().find(|which| which.as_str() == last);
        Ok(of.map_or(whole, |which| Self { link: name, direction: which.as_str(), key }))
    }
}

fn name(event: &mut Entries, link: &str, direction: &str, faults: &mut Faults) {
    for (key, value) in [("link", link), ("direction", direction), ("action", Action::Set.as_str())] {
        let source = faults.add_source("set", value);
        event.insert(key.to_owned(), string(Place::new(source, 0..value.len()), value));
    }
}

fn string(place: Place, value: &str) -> Entry {
    Entry { key: place, node: ValueNode { place, data: ValueData::Text(value.to_owned()) } }
}

/// Reads and checks events as those of a script: all of them, or none.
fn checked(
    scenario: &Checked,
    at: Instant,
    events: impl IntoIterator<Item = Entries>,
    mut faults: Faults,
) -> Result<Vec<Named<Event>>, Diagnostics> {
    let instant = format!("{} ns", at.as_nanos());
    let source = faults.add_source("at", &instant);
    let place = Place::new(source, 0..instant.len());
    let with_instant = |mut event: Entries| {
        event.insert("at".to_owned(), string(place, &instant));
        ValueNode { place, data: ValueData::Table(event) }
    };
    let events = ValueData::Array(events.into_iter().map(with_instant).collect());
    let script = Entry { key: place, node: ValueNode { place, data: events } };
    let entries = Entries::from([("script".to_owned(), script)]);
    let asked = Asked::read_root(&entries, "a change", &mut faults);
    if let Some((Asked { script }, _)) = &asked {
        check_at(scenario, script, &mut faults);
    }
    faults.whole(asked.map(|(asked, _)| asked.script))
}

/// Checks events against a scenario that is itself whole.
fn check_at(scenario: &Checked, events: &[Named<Event>], faults: &mut Faults) {
    let wiring = scenario.wiring();
    let sky = scenario.sky.as_ref().map(|sky| &sky.0);
    let plan = scenario.sky_plan();
    // An emulation goes on after the scenario's `duration`.
    check(events, wiring, sky.is_some(), None, faults);
    zero_checksum::check_events(&scenario.sctp, &scenario.links, sky, events, faults);
    access::check::check_events(wiring, sky, events, plan.map(|plan| &plan.bodies), faults);
    if let Some((sky, plan)) = sky.zip(plan) {
        changes::check_events(sky, &plan.bodies, wiring.nodes, events, faults);
        check_satellites(sky, wiring.nodes, events, plan, faults);
    }
}

#[cfg(test)]
mod tests;
