//! Source of satellites and sites: the topology file that `[sky]` names, or tables that it holds.

use std::path::Path;
use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_orbit::ContactNetwork;
use slantpath_reader::{
    AllKnown, Awaited, Entries, Fault, Faults, Files, Nested, Part, Place, Section, Setting, Stage, Tables,
    Written,
};
use slantpath_topology::schema::{TopologyFile, TopologyHead};
use slantpath_topology::{self as topology, Topology};

use super::schema::{HeldTopology, SkyTable};
use crate::head::Head as ScenarioHead;

/// The satellites and sites of a sky.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    pub(crate) network: ContactNetwork,
    /// The hash of the topology's merged form.
    pub(super) hash: String,
}

/// Place at which faults of the sky as a whole are reported.
pub(super) fn place<S: Stage>(sky: &SkyTable<S>) -> Place {
    let named = sky.topology.as_ref().map(Setting::place);
    named.or(sky.held.epoch.as_ref().map(Setting::place)).unwrap_or_default()
}

/// The topology of a sky, read and checked.
pub(crate) fn load(
    sky: &mut SkyTable<Written>,
    head: Option<&ScenarioHead>,
    all_known: AllKnown,
    files: &Files,
    faults: &mut Faults,
) -> Option<Bodies> {
    let (head_place, duration) = (head.map(|head| head.name.place()), head.map(|head| *head.duration));
    let Some(name) = sky.topology.clone() else {
        return tables(sky, head_place.unwrap_or_default(), duration, all_known, files, faults);
    };
    if let Some((key, place)) = first_of(&sky.held.0) {
        let fault = Fault::new(format!("the topology has a file, and `{key}` stands here, too"));
        let help = format!("write it into `{}`, or remove `topology`", *name);
        faults.report(place.unwrap_or(name.place()), fault.help(help));
        return None;
    }
    named(sky, &name, name.place(), files, faults)
}

/// First key of a topology that stands here, and its place where that is known.
fn first_of(held: &HeldTopology<Written>) -> Option<(&'static str, Option<Place>)> {
    let constellation = held.constellations.iter().next().map(|(_, table)| Some(table.place()));
    let site = held.sites.iter().next().map(|(_, table)| Some(table.place()));
    [
        ("epoch", held.epoch.as_ref().map(|epoch| Some(epoch.place()))),
        ("constellations", constellation),
        ("sites", site),
        ("ground", held.ground.as_ref().map(|_| None)),
        ("cables", held.cables.first().map(|cable| Some(cable.place()))),
        ("outages", held.outages.first().map(|outage| Some(outage.place()))),
        ("validity", held.validity.as_ref().map(|_| None)),
    ]
    .into_iter()
    .find_map(|(key, place)| Some((key, place?)))
}

/// The topology whose tables stand in the scenario; what its check completes is written back there.
fn tables(
    sky: &mut SkyTable<Written>,
    scenario: Place,
    duration: Option<Duration>,
    all_known: AllKnown,
    files: &Files,
    faults: &mut Faults,
) -> Option<Bodies> {
    let Some(epoch) =
        sky.held.epoch.as_ref().map(|epoch| Setting::derived(**epoch, "of the sky", epoch.place()))
    else {
        let found = first_of(&sky.held.0);
        let what = if found.is_some() { "has no epoch" } else { "has neither a topology nor tables of one" };
        let help = "name a file with `topology = \"sky.toml\"`, or write `epoch` and tables as in `[sky.sites.<name>]`";
        let place = found.and_then(|(_, place)| place).unwrap_or(scenario);
        faults.report(place, Fault::new(format!("the sky {what}")).help(help));
        return None;
    };
    if let Some(digest) = &sky.digest {
        let fault = Fault::new("`digest` has no meaning without a topology file");
        faults.report(digest.place(), fault.help("remove it: the scenario's own hash holds these tables"));
    }
    let (place, span) = (epoch.place(), sky.start.saturating_add(duration?));
    let own = core::mem::replace(
        &mut sky.held.0,
        HeldTopology {
            epoch: None,
            constellations: Tables::default(),
            sites: Tables::default(),
            ground: None,
            cables: Vec::new(),
            outages: Vec::new(),
            validity: None,
        },
    );
    let mut held = TopologyFile {
        topology: Part::new(Some(TopologyHead {
            name: Setting::derived("sky".to_owned(), "of the sky", place),
            description: Setting::default(String::new(), place),
            epoch,
            span: Setting::derived(span, "of the run", place),
            sample_every: Setting::default(Duration::from_secs(10), place),
            access: None,
            positions_every: Awaited::open(),
        })),
        constellations: own.constellations,
        sites: own.sites,
        ground: or_absent(own.ground, "sky.ground", place, faults),
        paths: Tables::default(),
        cables: own.cables,
        outages: own.outages,
        validity: or_absent(own.validity, "sky.validity", place, faults),
        map: or_absent(None, "sky.map", place, faults),
    };
    let network = topology::check(&mut held, all_known, files, faults);
    let hash = topology::hash_of(&held);
    sky.held.0 = HeldTopology {
        epoch: own.epoch,
        constellations: held.constellations,
        sites: held.sites,
        ground: held.ground.into_whole().map(Nested),
        cables: held.cables,
        outages: held.outages,
        validity: held.validity.into_whole().map(Nested),
    };
    Some(Bodies { network: network?, hash })
}

/// A table of the file, or what it is where nobody wrote it.
fn or_absent<S: Section>(table: Option<Nested<S>>, path: &str, place: Place, faults: &mut Faults) -> Part<S> {
    let table = table.map(|table| table.0);
    Part::new(table.or_else(|| S::read(&Entries::new(), path, place, faults)))
}

/// The topology in a file of this name.
fn named(
    sky: &mut SkyTable<Written>,
    name: &str,
    place: Place,
    files: &Files,
    faults: &mut Faults,
) -> Option<Bodies> {
    let text = match files(name) {
        Ok(text) => text,
        Err(error) => {
            let help = "the name is relative to the directory of the scenario";
            faults.report(place, Fault::new(format!("topology `{name}` cannot be read: {error}")).help(help));
            return None;
        }
    };
    // Files that the topology names are beside it.
    let beside = Path::new(name).parent().map(Path::to_owned).unwrap_or_default();
    let files = Arc::clone(files);
    let own: Files = Arc::new(move |file| files(&beside.join(file).to_string_lossy()));
    let topology = match Topology::parse(name, &text, &[], own) {
        Ok(topology) => topology,
        // They stand in the topology, and so do their places and cures.
        Err(diagnostics) => {
            diagnostics.iter().for_each(|diagnostic| faults.adopt(diagnostic));
            return None;
        }
    };
    let hash = topology.hash();
    match &sky.digest {
        Some(given) if **given != hash => {
            let message = format!("topology `{name}` has changed: its hash is {hash}");
            let help = "remove `digest`, or bring back the topology that it was taken from";
            faults.report(given.place(), Fault::new(message).help(help));
        }
        Some(_) => {}
        None => sky.digest = Some(Setting::derived(hash.clone(), "of the topology", place)),
    }
    topology.warnings().iter().for_each(|warning| faults.adopt_warning(warning));
    Some(Bodies { network: topology.network().clone(), hash })
}
