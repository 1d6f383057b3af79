//! Settings of SCTP as a command line or a program gives them: a key of the declaration and a value each, laid over a
//! profile of a file, or over RFC 9260's values.

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_reader::{Entries, Entry, Faults, Json, Section, ValueData, ValueNode, assign};

use super::schema::SctpProfile;

/// A key of `[sctp.NAME]` and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Name by which faults call it: `--sctp rto_min`.
    pub name: String,
    /// The key, or [`Assignment::PATH_MTU`].
    pub key: String,
    /// TOML, as a scenario has it. What is no TOML by itself, such as `200 ms`, stands for that string in quotes.
    pub value: String,
}

impl Assignment {
    /// No key of a table: the path MTU of an endpoint on real sockets. It stands for `initial_path_mtu`, and where
    /// probes look for the path MTU for `max_path_mtu`, too. Keys that are assigned themselves stand above it.
    pub const PATH_MTU: &'static str = "path_mtu";

    /// Assigns a value, which faults call by this name, to a key.
    pub fn new(name: impl Into<String>, key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), key: key.into(), value: value.into() }
    }

    /// The value of a key that is a quantity, from a number of seconds, bytes, or bits a second. `None` for any other
    /// key.
    pub fn quantity(key: &str, number: f64) -> Option<String> {
        let schema = SctpProfile::schema();
        let key = if key == Self::PATH_MTU { "initial_path_mtu" } else { key };
        // The declaration gives an example of each quantity, whose unit says which it is.
        let examples = schema["properties"][key]["examples"].as_array()?.iter().filter_map(Json::as_str);
        examples.clone().find_map(|example| {
            if example.parse::<Duration>().is_ok() {
                // As near as a clock tells it: 0.1 + 0.2 is 300 ms.
                let is_one = (0.0..=1e9).contains(&number);
                return Some(match is_one.then(|| Duration::from_secs_f64(number)) {
                    Some(time) => time.to_string(),
                    None => format!("{number} s"),
                });
            }
            let is_size = example.parse::<DataSize>().is_ok();
            let is_rate = example.parse::<DataRate>().is_ok();
            is_size.then(|| format!("{number} B")).or_else(|| is_rate.then(|| format!("{number} bit/s")))
        })
    }
}

/// Lays assignments over the table of a profile, the later over the earlier.
pub(super) fn lay(entries: &mut Entries, profile: &str, assignments: &[Assignment], faults: &mut Faults) {
    for Assignment { name, key, value } in assignments {
        assign(entries, &["sctp", profile, key], name, value, faults);
    }
}

/// Lays the assignments of an endpoint on real sockets over the table of a profile, and what differs there from a
/// scenario:
///
/// - Extensions that an assignment requires are offered.
/// - Where `authentication` is offered, DATA is authenticated, unless a file or `authenticated_chunks` says otherwise.
/// - [`Assignment::PATH_MTU`] is known.
pub(super) fn lay_live(
    entries: &mut Entries,
    profile: &str,
    assignments: &[Assignment],
    is_of_file: bool,
    faults: &mut Faults,
) {
    let (path_mtus, keys): (Vec<_>, Vec<_>) =
        assignments.iter().cloned().partition(|one| one.key == Assignment::PATH_MTU);
    lay(entries, profile, &keys, faults);
    let is_assigned = |key: &str| keys.iter().any(|one| one.key == key);
    if let Some(table) = table(entries, profile) {
        if is_assigned("required_extensions") {
            offer_required(table);
        }
        if !is_of_file {
            authenticate_data(table);
        }
        let is_probed = is_text(table.get("path_mtu_discovery"), "probing");
        for Assignment { name, value, .. } in path_mtus {
            let probed = is_probed.then_some("max_path_mtu");
            for key in ["initial_path_mtu"].into_iter().chain(probed).filter(|key| !is_assigned(key)) {
                assign(table, &[key], &name, &value, faults);
            }
        }
    }
}

/// The table of a profile, if it is one.
fn table<'a>(entries: &'a mut Entries, profile: &str) -> Option<&'a mut Entries> {
    let mut node = &mut entries.get_mut("sctp")?.node;
    let ValueData::Table(profiles) = &mut node.data else { return None };
    node = &mut profiles.get_mut(profile)?.node;
    let ValueData::Table(table) = &mut node.data else { return None };
    Some(table)
}

/// Adds what is required to what is offered.
fn offer_required(table: &mut Entries) {
    let Some(required) = table.get("required_extensions").cloned() else { return };
    let ValueData::Array(wanted) = &required.node.data else { return };
    let offered = table.entry("extensions".to_owned()).or_insert_with(|| {
        let place = required.node.place;
        Entry { key: place, node: ValueNode { place, data: ValueData::Array(Vec::new()) } }
    });
    let ValueData::Array(offered) = &mut offered.node.data else { return };
    let missing: Vec<ValueNode> =
        wanted.iter().filter(|one| !offered.iter().any(|other| are_equal(one, other))).cloned().collect();
    offered.extend(missing);
}

/// Has DATA authenticated where chunks can be and nothing says which.
fn authenticate_data(table: &mut Entries) {
    let Some(Entry { key, node: ValueNode { place, data: ValueData::Array(offered) } }) =
        table.get("extensions")
    else {
        return;
    };
    let is_offered =
        offered.iter().any(|one| matches!(&one.data, ValueData::Text(name) if name == "authentication"));
    if is_offered && !table.contains_key("authenticated_chunks") {
        let node = |data| ValueNode { place: *place, data };
        // I-DATA takes the place of DATA where messages interleave.
        let names = ["data", "i-data"].map(|name| node(ValueData::Text(name.to_owned())));
        let chunks = Entry { key: *key, node: node(ValueData::Array(names.to_vec())) };
        table.insert("authenticated_chunks".to_owned(), chunks);
    }
}

fn are_equal(one: &ValueNode, other: &ValueNode) -> bool {
    matches!((&one.data, &other.data), (ValueData::Text(one), ValueData::Text(other)) if one == other)
}

fn is_text(entry: Option<&Entry>, wanted: &str) -> bool {
    entry.is_some_and(|entry| matches!(&entry.node.data, ValueData::Text(text) if text == wanted))
}

#[cfg(test)]
mod tests;
