//! The questions: ends that are sites, and routes of nodes that are there.

use std::collections::BTreeMap;

use slantpath_orbit::NodeId;

use super::outages::unknown;
use crate::diagnostic::{Fault, Faults, suggest};
use crate::section::Lookup;
use crate::sky::schema::{RouteSelection, SkyFile};

pub(super) fn check(file: &SkyFile, nodes: &BTreeMap<String, NodeId>, faults: &mut Faults) {
    let known: Vec<&str> = nodes.keys().map(String::as_str).collect();
    for (name, path) in file.paths.iter() {
        for end in [&path.from, &path.to] {
            if matches!(file.sites.lookup(end), Lookup::Unknown) {
                let help = suggest(end, "sites", &file.sites.names());
                faults.report(end.place(), Fault::new(format!("there is no site `{}`", **end)).help(help));
            }
        }
        if *path.from == *path.to {
            let fault = Fault::new(format!("path `{name}` leads from `{}` to itself", *path.from));
            faults.report(path.to.place(), fault.help("let it end at another site"));
        }
        match (&path.via, *path.selection) {
            (Some(via), RouteSelection::Fixed) => {
                for node in via.iter().filter(|node| !nodes.contains_key(*node)) {
                    faults.report(via.place(), unknown(node, &known));
                }
            }
            (None, RouteSelection::Fixed) => {
                let help = "write `via = [\"iridium-1-4\"]`, with all nodes between the two sites";
                let fault = Fault::new(format!("the fixed path `{name}` does not say where it leads"));
                faults.report(path.selection.place(), fault.help(help));
            }
            (Some(via), selection) => {
                let fault = Fault::new(format!("a path of `{selection}` finds its own nodes"));
                faults.report(via.place(), fault.help("write `selection = \"fixed\"`, or leave `via` out"));
            }
            (None, _) => {}
        }
    }
}
