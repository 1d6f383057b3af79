//! Signalling networks: names that exist, and what points, links, translations and loads say together.

use std::sync::Arc;

use slantpath_base::Duration;
use slantpath_profiles::default::{self, DEFAULT_PROFILE};
use slantpath_reader::{Fault, Faults, Files, Part, Place, Setting, Tables, finished};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Slc;

use crate::below::PacketNetwork;
use crate::build::{SignallingPlan, plan};
use crate::by_point::ByPoint;
use crate::names::{is_served, node_of, point, resolved};
use crate::schema::{self, Carrier};
use crate::written::{Signalling, SignallingLink};
use slantpath_profiles::default::name_of;
use slantpath_profiles::sctp::SctpProfile;
use slantpath_reader::resolve;

/// Checks and completes the part of a file, and takes it out. It is whole if nothing in it is at fault; then its plan
/// is given too, if it has a point.
pub fn check(
    part: &mut Part<Signalling>,
    sctp: &mut Tables<SctpProfile>,
    (below, duration): (&dyn PacketNetwork, Option<Duration>),
    files: &Files,
    faults: &mut Faults,
) -> (Part<schema::Signalling>, Option<SignallingPlan>) {
    let own = core::mem::replace(part, Part::new(None)).into_whole();
    let completed = own.and_then(|mut signalling| {
        crate::link::several::expand(&mut signalling.links, faults);
        complete(signalling, sctp, (below, duration), files, faults)
    });
    let completed = completed.filter(|signalling| holds(signalling, faults));
    let signals = completed.as_ref().filter(|signalling| !signalling.points.is_empty());
    let plan = signals.and_then(|signalling| resolved(plan(signalling), faults));
    (Part::new(completed), plan)
}

/// Writes down what is left to the order of names and to defaults, if names are right.
fn complete(
    mut signalling: Signalling,
    sctp: &mut Tables<SctpProfile>,
    (below, duration): (&dyn PacketNetwork, Option<Duration>),
    files: &Files,
    faults: &mut Faults,
) -> Option<schema::Signalling> {
    if !crate::server::check::all_whole(&signalling)
        || !signalling.points.all_whole()
        || !signalling.links.all_whole()
        || !signalling.load.all_whole()
    {
        return None;
    }
    let before = faults.len();
    let by_point = ByPoint::new(&signalling);
    names(&signalling, &by_point, below, sctp, faults);
    crate::point::check::names(&signalling, &by_point, faults);
    crate::server::check::names(&signalling, below, sctp, faults);
    crate::server::check::routes(&signalling, faults);
    crate::route::titles::names(&signalling, faults);
    crate::screening::check::names(&signalling, faults);
    crate::load::check::names(&signalling, duration, faults);
    crate::script::check::names(&signalling, duration, faults);
    if faults.len() > before {
        return None;
    }
    codes(&mut signalling);
    links(&mut signalling, below, sctp, faults);
    crate::server::check::complete(&mut signalling, below, sctp, faults);
    crate::point::check::complete(&mut signalling);
    crate::load::check::complete(&mut signalling, duration.unwrap_or_default(), files, faults);
    if faults.len() > before { None } else { finished(signalling, "signalling", faults) }
}

/// Tells whether a network in which every value is there has no fault.
fn holds(signalling: &schema::Signalling, faults: &mut Faults) -> bool {
    let before = faults.len();
    crate::server::check::check(signalling, faults);
    let by_point = ByPoint::new(signalling);
    let reach = crate::network::check(signalling, &by_point, faults);
    let translators = crate::route::titles::check(signalling, &by_point, &reach, faults);
    crate::point::check::check(signalling, &by_point, faults);
    crate::screening::check::check(signalling, faults);
    if faults.len() == before {
        crate::load::check::check(signalling, &reach, faults);
    }
    if faults.len() == before {
        crate::load::calls::check(signalling, &translators, faults);
    }
    faults.len() == before
}

fn names(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    below: &dyn PacketNetwork,
    sctp: &Tables<SctpProfile>,
    faults: &mut Faults,
) {
    for (_, point) in signalling.points.iter() {
        if let Err(error) = PointCode::parse(&point.point_code, point.format.policy()) {
            let help = "write a number, or three with dashes like \"2-15-3\"";
            faults.report(point.point_code.place(), Fault::new(error.to_string()).help(help));
        }
        if let Some(node) = &point.node {
            below.must_be_node(node, faults);
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
                below,
                signalling,
                &link.between.0,
                &link.between.1,
                link.between.place(),
                faults,
            );
            if let Some(profile) = &*m2pa.profile {
                resolve(sctp, profile, "SCTP profile", profile.place(), faults);
            }
            if let Some(primary) = &*m2pa.primary {
                let node = node_of(signalling, &link.between.1);
                below.must_end_at(primary, &node, faults);
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
        let is_joined = !by_point.link_set(&route.from, &route.via).is_empty();
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
    below: &dyn PacketNetwork,
    signalling: &Signalling,
    first: &str,
    second: &str,
    place: Place,
    faults: &mut Faults,
) {
    for end in [first, second] {
        let node = node_of(signalling, end);
        if !below.has_node(&node) && signalling.points.find(end).is_some() {
            let message =
                format!("no host carries the associations of `{end}`: there is no node `{}`", *node);
            let help =
                format!("name a host as `node` in `[signalling.points.{end}]`, or add `[nodes.{end}]`");
            faults.report(place, Fault::new(message).help(help));
        }
    }
    let own = [first, second].map(|end| (*node_of(signalling, end)).clone());
    if own[0] == own[1] && first != second {
        let message = format!("`{first}` and `{second}` are both on node `{}`", own[0]);
        faults.report(place, Fault::new(message).help("an association joins two hosts"));
    }
}

/// Gives points their codes.
fn codes(signalling: &mut Signalling) {
    for (_, point) in signalling.points.iter_mut() {
        point.code.resolve(PointCode::parse(&point.point_code, point.format.policy()).ok());
    }
}

/// Gives links their codes, profiles and primary links.
fn links(
    signalling: &mut Signalling,
    below: &dyn PacketNetwork,
    sctp: &mut Tables<SctpProfile>,
    faults: &mut Faults,
) {
    let by_point = ByPoint::new(signalling);
    let mut uses_default = None;
    let mut codes = Vec::new();
    let mut primaries = Vec::new();
    for (name, link) in signalling.links.iter() {
        let own = by_point.link_set(&link.between.0, &link.between.1);
        let given = |other: &&str| {
            let slc = signalling.links.find(other).and_then(|link| *link.slc);
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
            primary = below.links_of(&node).first().map(|link| (*link).to_owned());
            if primary.is_none() {
                let message = format!("node `{}` has no link that could carry the association", *node);
                let help = "join it by a table `[links.<name>]`";
                faults.report(link.between.place(), Fault::new(message).help(help));
            }
        }
        primaries.push(primary);
    }
    if let Some(place) = uses_default {
        default::add(sctp, place);
    }
    for (((_, link), code), primary) in signalling.links.iter_mut().zip(codes).zip(primaries) {
        let place = link.between.place();
        link.slc.get_or_insert_with(|| Setting::derived(code.0, "by the order of names", place));
        match &mut link.carrier.0 {
            Carrier::M2pa(m2pa) => {
                m2pa.settings.resolve(sctp.find(name_of(m2pa.profile.as_ref())).cloned().map(Arc::new));
                m2pa.profile.get_or_insert_with(|| Setting::default(DEFAULT_PROFILE.to_owned(), place));
                let derived = primary
                    .map(|name| Setting::derived(name, "first link of the second point's host", place));
                m2pa.primary = m2pa.primary.take().or(derived).into();
            }
            Carrier::Mtp2(mtp2) => {
                let octets = mtp2.loop_octets().saturating_add(1);
                let why = "one more than fits into the loop";
                mtp2.n2.get_or_insert_with(|| Setting::derived(octets, why, place));
            }
        }
    }
}
