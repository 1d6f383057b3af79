//! Scripts and fades that change links of the sky: an antenna's, by its name, and those between satellites.
//!
//! Contacts begin and end as the sky says; what is changed here comes on top. So an antenna that a script takes down
//! keeps its satellite, and sends again when it is let to.

use std::collections::BTreeSet;

use slantpath_base::DataRate;
use slantpath_net::NetworkBuilder;
use slantpath_orbit::constellation::Payload;
use slantpath_orbit::contact::ContactKind;
use slantpath_orbit::{ContactNetwork, ContactNodeId};
use slantpath_reader::{Fault, Faults, Named, Place, Stage, Tables, Written};

use super::plan::SkyPlan;
use super::schema::SkyTable;
use super::tables::access_table;
use crate::link::fade_step::FadeStep;
use crate::link::wiring::Wiring;
use crate::network::planned::{PlannedLink, directions_called};
use crate::schema::{Event, File, Node, Which};

/// Whose transmitter sends from satellites to an antenna.
enum Downlink {
    /// The antenna's alone.
    Own,
    /// Transmitter of a satellite that repeats, which has no rate.
    Repeater,
    /// All antennas' that the satellite serves.
    Shared,
}

/// Reports scripts and fades of links of the sky that cannot be, but for satellites that nothing joins.
pub(crate) fn check(
    sky: &SkyTable<Written>,
    bodies: &ContactNetwork,
    wiring: Wiring<'_, Written>,
    events: &[Named<Event>],
    faults: &mut Faults,
) {
    check_events(sky, bodies, wiring.nodes, events, faults);
    let is_of_sky = |name: &str| is_of_sky(wiring.nodes, true, name);
    for (_, fade) in sky.fades.iter() {
        if !is_of_sky(&fade.link) {
            if wiring.links.find(&fade.link).is_some() {
                let fault = Fault::new(format!("`{}` is no link of the sky", *fade.link));
                let help = "write `fade_trace` into its table of `links`, or name an antenna";
                faults.report(fade.link.place(), fault.help(help));
            } else {
                wiring.check_is_link(&fade.link, fade.link.place(), faults);
            }
            continue;
        }
        if fade.trace.0.steps.as_ref().is_some_and(|steps| steps.iter().any(FadeStep::changes_rate)) {
            let place = fade.trace.0.file.place();
            rate_of_downlink(wiring.nodes, sky, bodies, (&fade.link, *fade.direction), place, faults);
        }
    }
}

/// Reports events of links of the sky that cannot be.
pub(crate) fn check_events<S: Stage>(
    sky: &SkyTable<S>,
    bodies: &ContactNetwork,
    nodes: &Tables<Node>,
    events: &[Named<Event>],
    faults: &mut Faults,
) {
    for event in events.iter().filter(|event| is_of_sky(nodes, true, &event.link)) {
        parameters(event, faults);
        if let Some(rate) = event.rate {
            rate_of_downlink(nodes, sky, bodies, (&event.link, *event.direction), rate.place(), faults);
        }
    }
}

/// Tells whether a name is that of an antenna, or like those of links between satellites.
pub(crate) fn is_of_sky(nodes: &Tables<Node>, has_sky: bool, name: &str) -> bool {
    antenna(nodes, name).is_some() || (has_sky && name.starts_with("sky.") && name.contains("--"))
}

/// The site of an antenna, and its place there.
fn antenna<'a>(nodes: &'a Tables<Node>, name: &str) -> Option<(&'a str, usize)> {
    nodes.iter().find_map(|(_, node)| {
        let place = node.antennas.as_ref()?.iter().position(|known| known == name)?;
        Some((node.site.as_ref()?.as_str(), place))
    })
}

fn parameters(event: &Event, faults: &mut Faults) {
    if let Some(delay) = event.delay {
        let fault = Fault::new("how long a link of the sky is, is for the sky to say");
        faults.report(delay.place(), fault.help("set `rate`, `loss` or `bit_error_rate`"));
    }
    let by_chance = [
        ("duplicate", event.duplicate.map(|chance| chance.place())),
        ("reorder", event.reorder.map(|chance| chance.place())),
    ];
    for (key, place) in by_chance {
        let Some(place) = place else { continue };
        let fault =
            Fault::new(format!("`{key}` has no meaning on a link of the sky, which keeps packets in order"));
        faults.report(place, fault.help("set `rate`, `loss` or `bit_error_rate`"));
    }
}

/// Reports a rate that is set for the way from satellites to an antenna and is not the antenna's to set.
fn rate_of_downlink<S: Stage>(
    nodes: &Tables<Node>,
    sky: &SkyTable<S>,
    bodies: &ContactNetwork,
    (link, direction): (&str, Which),
    place: Place,
    faults: &mut Faults,
) {
    let Some((site, antenna)) = antenna(nodes, link).filter(|_| direction != Which::Forward) else { return };
    match downlink(sky, bodies, site, antenna) {
        None | Some(Downlink::Own) => {}
        Some(Downlink::Repeater) => {
            let fault =
                Fault::new(format!("a satellite that only repeats has no rate to send to `{link}` at"));
            faults.report(place, fault.help("write `direction = \"forward\"`, or set losses and bit errors"));
        }
        Some(Downlink::Shared) => {
            let fault = Fault::new(format!(
                "the rate at which satellites send to `{link}` is that of a transmitter which antennas share"
            ));
            let help = "write `direction = \"forward\"`, or `shared_downlink = false` into its table of `sky.access`";
            faults.report(place, fault.help(help));
        }
    }
}

/// Highest rate at which an antenna sends up, by its name: its own rate, or that of the slots that it may have.
pub fn uplink_rate(file: &File, bodies: &ContactNetwork, name: &str) -> Option<DataRate> {
    let (site, place) = antenna(&file.nodes, name)?;
    let known = bodies.sites.iter().find(|known| known.name == site)?;
    let sky = &file.sky.as_ref()?.0;
    let table = access_table(sky, site, known.antennas.get(place)?.constellation.as_deref())?;
    let (_, table) = sky.access.iter().nth(table)?;
    Some(table.uplink.port.transmitter()?.top_rate.0)
}

fn downlink<S: Stage>(
    sky: &SkyTable<S>,
    bodies: &ContactNetwork,
    site: &str,
    antenna: usize,
) -> Option<Downlink> {
    let known = bodies.sites.iter().find(|known| known.name == site)?;
    let constellation = known.antennas.get(antenna)?.constellation.as_deref();
    let followed = |name: &str| constellation.is_none_or(|own| own == name);
    let mut followed = bodies.constellations.iter().filter(|known| followed(&known.name));
    let (_, table) = sky.access.iter().nth(access_table(sky, site, constellation)?)?;
    Some(if followed.any(|known| known.payload == Payload::BentPipe) {
        Downlink::Repeater
    } else if *table.shared_downlink {
        Downlink::Shared
    } else {
        Downlink::Own
    })
}

/// Reports names of links between satellites that nothing joins in this run.
pub fn check_satellites(
    sky: &SkyTable,
    nodes: &Tables<Node>,
    events: &[Named<Event>],
    plan: &SkyPlan,
    faults: &mut Faults,
) {
    let of_script = events.iter().map(|event| &event.link);
    let named = of_script.chain(sky.fades.iter().map(|(_, fade)| &fade.link));
    let named: Vec<_> =
        named.filter(|name| is_of_sky(nodes, true, name) && antenna(nodes, name).is_none()).collect();
    if named.is_empty() {
        return;
    }
    let names = plan.contacts.names();
    let between =
        plan.contacts.contacts().iter().filter(|contact| contact.kind == ContactKind::InterSatellite);
    let pairs: BTreeSet<_> = between.map(|contact| (contact.a, contact.b)).collect();
    let called =
        |(a, b): (ContactNodeId, ContactNodeId)| format!("sky.{}--{}", names[a.index()], names[b.index()]);
    let known: BTreeSet<String> = pairs.iter().copied().map(called).collect();
    let turned: BTreeSet<String> = pairs.iter().map(|&(a, b)| called((b, a))).collect();
    for name in named.into_iter().filter(|name| !known.contains(name.as_str())) {
        let fault = Fault::new(format!("no link `{}` ever joins two satellites in this run", **name));
        let help = match name.trim_start_matches("sky.").split_once("--") {
            Some((a, b)) if turned.contains(name.as_str()) => format!("write `sky.{b}--{a}`"),
            _ => "the table `inter_satellite_links` of a run has the names".to_owned(),
        };
        faults.report(name.place(), fault.help(help));
    }
}

/// Gives a network that is being built the changes of every fade of the sky.
pub(crate) fn schedule(file: &File, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    for (_, fade) in file.sky.iter().flat_map(|sky| sky.0.fades.iter()) {
        let directions = directions_called(links, &fade.link, *fade.direction);
        for step in &*fade.trace.0.steps.0 {
            for &direction in &directions {
                step.schedule(direction, builder);
            }
        }
    }
}
