//! The link by which a host at the end of several cables is reached, and by which it sends: that of the way over the
//! sky. Each has an address of its own, and a packet comes by that of its address alone.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::contact::{Contact, ContactKind, ContactPlan};
use slantpath_orbit::route::{self, Path, Router};
use slantpath_reader::{Origin, Setting};

use super::plan::SkyPlan;
use super::subject::{Begins, Subject, end_of_run, subjects};
use super::{cables, pairs};
use crate::schema::signalling::Carrier;
use crate::schema::{File, Transport};

/// Has flows, sessions and associations that name no link of such a receiver begin by the one to which the way leads
/// when they are set up, or as soon as there is a way.
pub(super) fn choose(file: &mut File, plan: &SkyPlan) {
    let subjects = subjects(file);
    let mut chosen = vec![None; subjects.len()];
    for Found { subject, links: [_, last] } in find(file, plan, &subjects) {
        chosen[subject] = last.filter(|_| has_choice(file, &subjects[subject].to));
    }
    drop(subjects);
    for (primary, chosen) in primaries(file).into_iter().zip(chosen) {
        if let Some(chosen) = chosen.filter(|_| primary.origin() != Origin::Given) {
            *primary = Setting::derived(chosen, "by which the way leads", primary.place());
        }
    }
}

/// By which of its links a host sends to another: by both their names, and by the other's link whose address it is, or
/// none if all its addresses are meant.
pub(crate) type Departures = BTreeMap<(String, String, Option<String>), String>;

/// The departures of hosts with several links to the sky, where a way leads by one of them: for the first that goes
/// between two of them.
pub(crate) fn departures(file: &File, plan: &SkyPlan) -> Departures {
    let subjects = subjects(file);
    let mut departures = Departures::new();
    for Found { subject, links: [first, last] } in find(file, plan, &subjects) {
        let Subject { from, to, .. } = &subjects[subject];
        for (host, peer, own, other) in [(from, to, &first, &last), (to, from, &last, &first)] {
            if let Some(own) = own.as_ref().filter(|_| has_choice(file, host)) {
                let key = (host.clone(), peer.clone(), other.clone());
                departures.entry(key).or_insert_with(|| own.clone());
            }
        }
    }
    departures
}

/// The gateway at the other end of the cable by which alone something over TCP reaches its receiver, and when the cable
/// is in service.
pub struct Bound {
    /// The site of the gateway.
    pub gateway: ContactNodeId,
    in_service: Vec<(Instant, Instant)>,
}

impl Bound {
    /// Finds the link that a subject is bound to, if there is one.
    pub fn of(file: &File, contacts: &ContactPlan, subject: &Subject<'_>) -> Option<Self> {
        if subject.transport == Transport::Sctp || !has_choice(file, &subject.to) {
            return None;
        }
        let link = file.links.find(subject.primary).filter(|link| is_cable(link))?;
        let far = if *link.ends.0 == subject.to { &link.ends.1 } else { &link.ends.0 };
        let site = |node: &str| contacts.node(file.nodes.find(node)?.site.as_ref()?);
        let (gateway, own) = (site(far)?, site(&subject.to)?);
        let joins = |contact: &&Contact| {
            contact.kind == ContactKind::Terrestrial
                && ([contact.a, contact.b] == [gateway, own] || [contact.b, contact.a] == [gateway, own])
        };
        let spans = contacts.contacts().iter().filter(joins).map(|contact| (contact.start, contact.end));
        Some(Self { gateway, in_service: spans.collect() })
    }

    /// Tells whether the cable is in service.
    pub fn is_in_service(&self, now: Instant) -> bool {
        self.in_service.iter().any(|&(start, end)| start <= now && now < end)
    }
}

/// By which of their own links two nodes are joined, as far as the way over the sky ends at their sites.
struct Found {
    subject: usize,
    links: [Option<String>; 2],
}

/// The first way of each of these of which an end has a choice, in the order of time.
fn find(file: &File, plan: &SkyPlan, subjects: &[Subject<'_>]) -> Vec<Found> {
    let contacts = &plan.contacts;
    let sites_of = |node: &str| -> Vec<ContactNodeId> {
        pairs::sites_of(file, node).iter().filter_map(|site| contacts.node(site)).collect()
    };
    let mut waiting: Vec<(Instant, usize, Vec<ContactNodeId>, Vec<ContactNodeId>)> = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        if has_choice(file, &subject.from) || has_choice(file, &subject.to) {
            let begins = match subject.begins {
                Begins::Once { from, .. } => from,
                Begins::Again => Instant::START,
            };
            waiting.push((begins, place, sites_of(&subject.from), sites_of(&subject.to)));
        }
    }
    if waiting.is_empty() {
        return Vec::new();
    }
    waiting.sort_by_key(|&(begins, place, ..)| (begins, place));
    let mut destinations: Vec<ContactNodeId> = waiting.iter().flat_map(|(.., to)| to).copied().collect();
    destinations.sort_unstable();
    destinations.dedup();
    let mut router =
        Router::within(contacts, &destinations, route::RouteConfig::default(), &cables::carried(file, plan));
    let mut found = Vec::new();
    loop {
        let now = router.now();
        waiting.retain(|(begins, subject, from, to)| {
            let path = (*begins <= now).then(|| shortest(&router, from, to)).flatten();
            if let Some(path) = &path {
                let ends = [subjects[*subject].from.as_str(), subjects[*subject].to.as_str()];
                found.push(Found { subject: *subject, links: links_at_ends(file, plan, path, ends) });
            }
            path.is_none()
        });
        let has_begun = waiting.iter().any(|&(begins, ..)| begins <= now);
        let change = router.next_change().filter(|_| has_begun);
        let next = waiting.iter().map(|&(begins, ..)| begins).filter(|&begins| begins > now).min();
        let next = change.into_iter().chain(next).min().filter(|&next| next < end_of_run(file));
        let Some(next) = next else { return found };
        router.advance(next);
    }
}

/// The shortest way at present from any of some sites to any of others.
fn shortest(router: &Router<'_>, from: &[ContactNodeId], to: &[ContactNodeId]) -> Option<Path> {
    let place = |to: &ContactNodeId| router.destinations().iter().position(|known| known == to);
    let paths = to.iter().filter_map(place).flat_map(|place| {
        from.iter().filter_map(move |&from| router.path(from, place)).filter(|path| !path.contacts.is_empty())
    });
    let nanos = |path: &Path| path.delay_nanos(router.plan(), router.now());
    paths.min_by(|one, other| nanos(one).total_cmp(&nanos(other)))
}

/// The links of two nodes by which a path begins and ends; none of a node that does not stand there.
fn links_at_ends(file: &File, plan: &SkyPlan, path: &Path, ends: [&str; 2]) -> [Option<String>; 2] {
    let sites = [path.nodes.first(), path.nodes.last()];
    let contacts = [path.contacts.first(), path.contacts.last()];
    core::array::from_fn(|end| {
        let node = file.nodes.find(ends[end])?;
        let (site, contact) = (*sites[end]?, plan.contacts.contact(*contacts[end]?));
        if plan.contacts.node(node.site.as_ref()?) != Some(site) {
            return None;
        }
        match contact.kind {
            ContactKind::Ground { antenna } => node.antennas.as_ref()?.get(usize::from(antenna)).cloned(),
            ContactKind::Terrestrial => cables::link_of(file, plan, contact),
            ContactKind::InterSatellite => None,
        }
    })
}

fn is_cable(link: &crate::link::schema::Link) -> bool {
    link.cable.is_some_and(|cable| *cable)
}

/// True if the sky reaches a node by several links, a cable among them.
fn has_choice(file: &File, node: &str) -> bool {
    let of_sky = |name: &&str| file.links.find(name).is_none_or(is_cable);
    let has_cable =
        file.links.iter().any(|(_, link)| is_cable(link) && (link.ends.0 == node || link.ends.1 == node));
    has_cable && file.wiring().links_of(node).filter(of_sky).count() > 1
}

/// The primary links of all subjects, in their order.
fn primaries(file: &mut File) -> Vec<&mut Setting<String>> {
    let mut all: Vec<&mut Setting<String>> = Vec::new();
    all.extend(file.flows.iter_mut().map(|(_, flow)| &mut flow.primary));
    all.extend(file.sessions.iter_mut().map(|(_, sessions)| &mut sessions.primary));
    if let Some(signalling) = file.signalling.whole_mut() {
        for (_, link) in signalling.links.iter_mut() {
            if let Carrier::M2pa(m2pa) = &mut link.carrier.0 {
                all.push(&mut m2pa.primary);
            }
        }
        all.extend(signalling.associations.iter_mut().map(|(_, table)| &mut table.primary));
    }
    all
}
