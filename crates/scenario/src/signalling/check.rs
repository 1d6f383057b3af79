//! Signalling networks: names that exist, and what points, links, translations and loads say together.

use slantpath_base::Duration;
use slantpath_profiles::default::{self, DEFAULT_PROFILE};
use slantpath_reader::{Fault, Faults, Files, Place, Setting};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Slc;

use crate::fault::resolve;
use crate::flow::trace::Traces;
use crate::schema::File;
use crate::signalling::names::{is_served, link_sets, node_of, point};
use crate::signalling::schema::{Carrier, Signalling, SignallingLink};

pub(crate) fn check(file: &mut File, files: &Files, traces: &mut Traces, faults: &mut Faults) {
    if let Some(signalling) = file.signalling.whole_mut() {
        super::link::several::expand(&mut signalling.links, faults);
    }
    let Some(signalling) = file.signalling.whole() else { return };
    if !super::server::check::all_whole(signalling)
        || !signalling.points.all_whole()
        || !signalling.links.all_whole()
        || !signalling.load.all_whole()
    {
        return;
    }
    let before = faults.len();
    names(file, signalling, faults);
    super::point::check::names(signalling, faults);
    super::server::check::names(file, signalling, faults);
    super::server::check::routes(signalling, faults);
    super::route::titles::names(signalling, faults);
    super::load::check::names(file, signalling, faults);
    super::script::check::names(file, signalling, faults);
    if faults.len() > before {
        return;
    }
    complete(file, faults);
    super::server::check::complete(file, faults);
    let duration = file.scenario.whole().map(|head| *head.duration);
    let Some(signalling) = file.signalling.whole_mut() else { return };
    super::point::check::complete(signalling);
    super::load::check::complete(signalling, duration.unwrap_or(Duration::ZERO), files, traces, faults);
    if faults.len() > before {
        return;
    }
    super::server::check::check(signalling, faults);
    super::network::check(signalling, faults);
    let translators = super::route::titles::check(signalling, faults);
    super::point::check::check(signalling, faults);
    if faults.len() == before {
        super::load::check::check(signalling, traces, faults);
    }
    if faults.len() == before {
        super::load::calls::check(signalling, traces, &translators, faults);
    }
}

fn names(file: &File, signalling: &Signalling, faults: &mut Faults) {
    for (_, point) in signalling.points.iter() {
        if let Err(error) = PointCode::parse(&point.point_code, point.format.policy()) {
            let help = "write a number, or three with dashes like \"2-15-3\"";
            faults.report(point.point_code.place(), Fault::new(error.to_string()).help(help));
        }
        if let Some(node) = &point.node {
            resolve(&file.nodes, node, "node", node.place(), faults);
        }
    }
    for (name, link) in signalling.links.iter() {
        for end in [&link.between.0, &link.between.1] {
            point(signalling, end, link.between.place(), faults);
        }
        if link.between.0 == link.between.1 {
            let message = format!("link `{name}` joins `{}` to itself", link.between.0);
            let help = "let it join two points";
            faults.report(link.between.place(), Fault::new(message).help(help));
        }
        one_network(signalling, link, faults);
        if let Carrier::M2pa(m2pa) = &*link.carrier {
            association_ends(
                file,
                signalling,
                &link.between.0,
                &link.between.1,
                link.between.place(),
                faults,
            );
            if let Some(profile) = &m2pa.profile {
                resolve(&file.sctp, profile, "SCTP profile", profile.place(), faults);
            }
            if let Some(primary) = &m2pa.primary {
                let node = node_of(signalling, &link.between.1);
                crate::link::check::must_end_at(file, primary, &node, faults);
            }
        }
    }
    for route in &signalling.routes {
        for name in [&route.from, &route.to, &route.via] {
            point(signalling, name, name.place(), faults);
        }
        // It has no links at all, which is reported elsewhere.
        if is_served(signalling, &route.from) {
            continue;
        }
        let is_joined = link_sets(signalling, &route.from).iter().any(|(far, _)| *far == *route.via);
        if !is_joined && signalling.points.find(&route.via).is_some() {
            let message = format!("no link joins `{}` to `{}`", *route.from, *route.via);
            let help = "let `via` be the far end of a link of `from`";
            faults.report(route.via.place(), Fault::new(message).help(help));
        }
    }
}

/// Both ends of a link write point codes alike, and say that they are of the same network: a point discards what bears
/// another network indicator than its own.
fn one_network(signalling: &Signalling, link: &SignallingLink, faults: &mut Faults) {
    let ends = [&link.between.0, &link.between.1].map(|end| signalling.points.find(end));
    let [Some(first), Some(second)] = ends else { return };
    let (one, other) = (&link.between.0, &link.between.1);
    if *first.format != *second.format {
        let (first, second) = (*first.format, *second.format);
        let message = format!("`{one}` writes point codes as {first} and `{other}` as {second}");
        let help = "let both ends of a link be of one network";
        faults.report(link.between.place(), Fault::new(message).help(help));
    }
    if *first.network != *second.network {
        let (first, second) = (*first.network, *second.network);
        let message = format!(
            "`{one}` is in the network `{first}` and `{other}` in `{second}`: each discards what the other sends"
        );
        let help = format!(
            "write `network = \"{second}\"` in `[signalling.points.{one}]`, or `{first}` in the other"
        );
        faults.report(link.between.place(), Fault::new(message).help(help));
    }
}

fn association_ends(
    file: &File,
    signalling: &Signalling,
    first: &str,
    second: &str,
    place: Place,
    faults: &mut Faults,
) {
    for end in [first, second] {
        let node = node_of(signalling, end);
        if file.nodes.find(&node).is_none() && signalling.points.find(end).is_some() {
            let message =
                format!("no host carries the associations of `{end}`: there is no node `{}`", *node);
            let help =
                format!("name a host as `node` in `[signalling.points.{end}]`, or add `[nodes.{end}]`");
            faults.report(place, Fault::new(message).help(help));
        }
    }
    let nodes = [first, second].map(|end| (*node_of(signalling, end)).clone());
    if nodes[0] == nodes[1] && first != second {
        let message = format!("`{first}` and `{second}` are both on node `{}`", nodes[0]);
        faults.report(place, Fault::new(message).help("an association joins two hosts"));
    }
}

/// Writes down what is left to the order of names and to defaults.
fn complete(file: &mut File, faults: &mut Faults) {
    let Some(signalling) = file.signalling.whole() else { return };
    let mut uses_default = None;
    let mut codes = Vec::new();
    let mut primaries = Vec::new();
    for (name, link) in signalling.links.iter() {
        let sets = link_sets(signalling, &link.between.0);
        let own = sets.into_iter().find(|(far, _)| *far == link.between.1).map(|(_, links)| links);
        let own = own.unwrap_or_default();
        let given = |other: &&str| {
            let slc = signalling.links.find(other).and_then(|link| link.slc);
            slc.map(|slc| *slc)
        };
        let taken: Vec<u8> = own.iter().filter_map(given).collect();
        let mut free = (0_u8..).filter(|code| !taken.contains(code));
        let before = own.iter().take_while(|other| **other != name).filter(|other| given(other).is_none());
        let code = free.nth(before.count()).unwrap_or(u8::MAX);
        codes.push(Slc(code));
        let mut primary = None;
        if let Carrier::M2pa(m2pa) = &*link.carrier {
            if m2pa.profile.is_none() {
                uses_default = Some(link.between.place());
            }
            let node = node_of(signalling, &link.between.1);
            primary = crate::link::check::links_of(file, &node).next().map(str::to_owned);
            if primary.is_none() {
                let message = format!("node `{}` has no link that could carry the association", *node);
                let help = "join it by a table `[links.<name>]`";
                faults.report(link.between.place(), Fault::new(message).help(help));
            }
        }
        primaries.push(primary);
    }
    if let Some(place) = uses_default {
        default::add(&mut file.sctp, place);
    }
    let Some(signalling) = file.signalling.whole_mut() else { return };
    for (((_, link), code), primary) in signalling.links.iter_mut().zip(codes).zip(primaries) {
        let place = link.between.place();
        if link.slc.is_none() {
            link.slc = Some(Setting::derived(code.0, "by the order of names", place));
        }
        match &mut link.carrier.0 {
            Carrier::M2pa(m2pa) => {
                if m2pa.profile.is_none() {
                    m2pa.profile = Some(Setting::default(DEFAULT_PROFILE.to_owned(), place));
                }
                if let (None, Some(primary)) = (&m2pa.primary, primary) {
                    m2pa.primary =
                        Some(Setting::derived(primary, "first link of the second point's host", place));
                }
            }
            Carrier::Mtp2(mtp2) => {
                if mtp2.n2.is_none() {
                    let octets = mtp2.loop_octets().saturating_add(1);
                    mtp2.n2 = Some(Setting::derived(octets, "one more than fits into the loop", place));
                }
            }
        }
    }
}
