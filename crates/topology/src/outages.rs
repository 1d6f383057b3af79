//! Nodes and links that are out of service.

use std::collections::BTreeMap;
use std::rc::Rc;

use slantpath_base::Instant;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::outage::{Failing, Outage, read_lines};
use slantpath_reader::{Fault, Faults, Files, Place, suggest};

use super::files as named_files;
use crate::written::TopologyFile;

/// Place at which an outage is written.
pub(super) enum Written {
    /// In the topology.
    Here(Place),
    /// In a line, from 1, of a file with this name and text.
    Line(Rc<(String, String)>, usize),
}

impl Written {
    fn place(&self, faults: &mut Faults) -> Place {
        match self {
            Self::Here(place) => *place,
            Self::Line(file, number) => named_files::line(&file.0, &file.1, *number, faults),
        }
    }
}

/// The outages with the places that name them, in the order of the file.
pub(super) fn check(
    file: &mut TopologyFile,
    files: &Files,
    faults: &mut Faults,
) -> Option<Vec<(Outage, Written)>> {
    let before = faults.len();
    let mut found = Vec::new();
    for named in &mut file.outages {
        let place = named.place();
        let row = named.section_mut();
        if let Some(name) = &row.file {
            if row.from.is_some() || row.until.is_some() || row.node.is_some() || row.link.is_some() {
                let help = "give the file its own `[[outages]]`";
                faults
                    .report(place, Fault::new("an outage is written here or in a file, not both").help(help));
                continue;
            }
            let Some(text) = named_files::read(name, &mut row.digest, files, faults) else { continue };
            match read_lines(&text, name) {
                Ok(outages) => {
                    let file = Rc::new(((**name).clone(), text));
                    let written = |line| Written::Line(Rc::clone(&file), line);
                    found.extend(outages.into_iter().map(|(line, outage)| (outage, written(line))));
                }
                Err(error) => {
                    let message = error.to_string();
                    let at = named_files::place_of(name, &text, &message, faults);
                    faults.report(at, named_files::without_place(name, &message));
                }
            }
            continue;
        }
        let what = match (&row.node, &row.link) {
            (Some(node), None) => Some((Failing::Node((**node).clone()), node.place())),
            (None, Some(link)) => Some((Failing::Link(link.0.clone(), link.1.clone()), link.place())),
            _ => None,
        };
        let (Some((what, at)), Some(from), Some(until)) = (what, &row.from, &row.until) else {
            let help = "write `from`, `until`, and either `node = \"iridium-1-4\"` or `link = [\"iridium-1-4\", \
                        \"iridium-1-5\"]`; or `file`";
            faults.report(place, Fault::new("the outage is not whole").help(help));
            continue;
        };
        if **until <= **from {
            let fault = Fault::new(format!("the outage ends at {} before it begins at {}", **until, **from));
            faults.report(until.place(), fault.help("give the later time in `until`"));
            continue;
        }
        let outage = Outage { what, from: Instant::START + **from, until: Instant::START + **until };
        found.push((outage, Written::Here(at)));
    }
    (faults.len() == before).then_some(found)
}

/// The outages, if all that they strike is there.
pub(super) fn resolved(
    outages: Vec<(Outage, Written)>,
    nodes: &BTreeMap<String, ContactNodeId>,
    file: &TopologyFile,
    faults: &mut Faults,
) -> Option<Vec<Outage>> {
    let before = faults.len();
    let known: Vec<&str> = nodes.keys().map(String::as_str).collect();
    let is_site = |name: &str| file.sites.names().contains(&name);
    let is_cable = |a: &str, b: &str| {
        let joins = |one: &str, other: &str| {
            file.cables.iter().any(|cable| cable.ends.0 == one && cable.ends.1 == other)
        };
        joins(a, b) || joins(b, a)
    };
    for (outage, written) in &outages {
        let names: Vec<&String> = match &outage.what {
            Failing::Link(a, b) => vec![a, b],
            Failing::Node(node) => vec![node],
        };
        for name in names.into_iter().filter(|name| !nodes.contains_key(*name)) {
            let place = written.place(faults);
            faults.report(place, unknown(name, &known));
        }
        if let Failing::Link(a, b) = &outage.what
            && (a == b || [a, b].iter().all(|name| is_site(name)) && !is_cable(a, b))
        {
            let fault = Fault::new(format!("`{a}` and `{b}` are never linked, so that nothing fails"));
            let place = written.place(faults);
            faults.report(
                place,
                fault
                    .help("name two satellites, a satellite and a site, or the ends of a cable; or one node"),
            );
        }
        if outage.until <= outage.from {
            let what = match &outage.what {
                Failing::Link(a, b) => format!("`{a}` - `{b}`"),
                Failing::Node(node) => format!("`{node}`"),
            };
            let place = written.place(faults);
            let fault = Fault::new(format!("the outage of {what} ends before it begins"));
            faults.report(place, fault.help("give the later time second"));
        }
    }
    (faults.len() == before).then(|| outages.into_iter().map(|(outage, _)| outage).collect())
}

/// A name that neither a satellite nor a site has.
pub(super) fn unknown(name: &str, known: &[&str]) -> Fault {
    let message = format!("`{name}` is neither a satellite nor a site");
    // A constellation's hundreds of names are no help; a few show how they are made.
    let few: Vec<&str> = if known.len() > 12 { Vec::new() } else { known.to_vec() };
    match slantpath_reader::nearest(name, known.iter().copied()) {
        Some(near) => Fault::new(message).help(format!("did you mean `{near}`?")),
        None if few.is_empty() => {
            let example = known.first().copied().unwrap_or_default();
            Fault::new(message).help(format!("nodes are called like `{example}`"))
        }
        None => Fault::new(message).help(suggest(name, "nodes", &few)),
    }
}
