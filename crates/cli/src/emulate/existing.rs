//! Attached nodes that exist already: namespaces and ports, found before anything is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use slantpath_emulate::ExistingPlace;
use slantpath_runner::Scenario;
use slantpath_runner::schema::ExistingNamespace;
use slantpath_system::network::NetNamespace;
use slantpath_system::reentry::Entered;

use crate::failure::Failure;

/// The nodes of a scenario that exist already, by their names.
pub(super) fn of(scenario: &Scenario, origin: &Entered) -> Result<BTreeMap<String, ExistingPlace>, Failure> {
    let mut existing = BTreeMap::new();
    for (name, node) in scenario.nodes.iter() {
        if let Some(device) = &node.device {
            let network = origin.network.same().map(Arc::new)?;
            // The checks of the file have found a port of each.
            let by_link = device.by_link(scenario.wiring().links_of(name)).unwrap_or_default();
            existing.insert(name.to_owned(), ExistingPlace::Ports { by_link, network });
        }
        if let Some(namespace) = &node.namespace {
            let found = match &**namespace {
                ExistingNamespace::Path(path) => NetNamespace::open(path),
                ExistingNamespace::Process(id) => NetNamespace::of_process_in(&origin.processes, *id),
            };
            let found =
                found.map_err(|error| Failure::Failed(format!("the namespace of `{name}`: {error}")))?;
            existing.insert(name.to_owned(), ExistingPlace::Namespace(Arc::new(found)));
        }
    }
    Ok(existing)
}
