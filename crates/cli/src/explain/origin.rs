//! Scenario of a simulated trace, read from where the trace says.

use std::net::IpAddr;
use std::path::PathBuf;

use slantpath_runner::{OwnKinds, Scenario};
use slantpath_trace::{TraceHeader, TraceOrigin};

use crate::arguments::ExplainArguments;
use crate::failure::Failure;

/// The scenario of a simulated trace with the file that it was read from, or the reason why there is none.
pub(super) fn scenario(
    header: &TraceHeader,
    arguments: &ExplainArguments,
    own: &OwnKinds,
) -> Result<(Scenario, PathBuf), Failure> {
    let misused = |error: String| Failure::Misused(format!("{}: {error}", arguments.trace.display()));
    let TraceOrigin::Simulated { scenario, hash, set, .. } = &header.origin else {
        return Err(misused("it is of no simulated run".to_owned()));
    };
    let path = place_of(arguments, scenario);
    let as_it_was = Scenario::load_observed(&path, set, own, &|_| {})?;
    if as_it_was.hash() != *hash {
        return Err(misused(format!(
            "{} is not the scenario of the trace any more: its hash is {}, that of the trace {hash}",
            path.display(),
            as_it_was.hash()
        )));
    }
    Ok((as_it_was, path))
}

/// The scenario's file: what was said, or what the trace says, seen from here or from where the trace is.
fn place_of(arguments: &ExplainArguments, scenario: &str) -> PathBuf {
    if let Some(path) = &arguments.scenario {
        return path.clone();
    }
    let here = PathBuf::from(scenario);
    let beside = arguments.trace.parent().map(|directory| directory.join(scenario));
    match beside {
        Some(beside) if !here.exists() && beside.exists() => beside,
        _ => here,
    }
}

/// Name of the link, or of the antenna, at which an address is.
pub(super) fn link_of(scenario: &Scenario, address: IpAddr) -> Option<&str> {
    let mut links = scenario.links.iter();
    let of_link = links.find(|(_, link)| link.addresses.0 == address || link.addresses.1 == address);
    of_link.map(|(name, _)| name).or_else(|| {
        scenario.nodes.iter().find_map(|(_, node)| {
            let antennas = node.antennas.as_ref()?.iter().zip(node.addresses.as_ref()?.iter());
            antennas.filter(|(_, own)| **own == address).map(|(name, _)| name.as_str()).next()
        })
    })
}
