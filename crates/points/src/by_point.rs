//! Entries of a file by the point that has them, gathered in one pass over each list.
//!
//! A file may have a thousand links and ten thousand translations: what is asked for each of them must not read the
//! lists once more.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_reader::{Named, Stage};
use slantpath_signalling::network::PointId;

use crate::names::{gateway_point, gateways_of, with_mtp3};
use crate::schema::{Route, Signalling, Translation};

/// Links, routes, translations and application servers of every point.
#[derive(Clone, Debug)]
pub struct ByPoint<'a>(BTreeMap<&'a str, Own<'a>>);

/// Entries of one point.
#[derive(Clone, Debug, Default)]
struct Own<'a> {
    /// Number of the point, if it has MTP3.
    id: Option<PointId>,
    /// Links by the far end, both by name.
    link_sets: BTreeMap<&'a str, Vec<&'a str>>,
    /// Far end and name of each link, in the order of MTP3: link set by link set.
    links: Vec<(&'a str, &'a str)>,
    /// Places of links in that order.
    numbers: BTreeMap<&'a str, usize>,
    routes: Vec<&'a Route>,
    /// With their numbers in the file.
    translations: Vec<(usize, &'a Translation)>,
    /// Points whose users are above M3UA, behind the gateway here.
    behind: BTreeSet<&'a str>,
}

impl<'a> ByPoint<'a> {
    /// Gathers the entries of a file.
    pub fn new<S: Stage>(signalling: &'a Signalling<S>) -> Self {
        let mut all: BTreeMap<&str, Own<'_>> = BTreeMap::new();
        for (id, point) in with_mtp3(signalling) {
            all.entry(point).or_default().id = Some(id);
        }
        for (name, link) in signalling.links.iter() {
            let (first, second) = (link.between.0.as_str(), link.between.1.as_str());
            for (near, far) in [(first, second), (second, first)] {
                all.entry(near).or_default().link_sets.entry(far).or_default().push(name);
            }
        }
        for own in all.values_mut() {
            let links = own.link_sets.iter().flat_map(|(far, links)| links.iter().map(|link| (*far, *link)));
            own.links = links.collect();
            // A link of a point to itself, which is refused, stands there twice: its first place counts.
            own.numbers = own.links.iter().enumerate().rev().map(|(at, (_, link))| (*link, at)).collect();
        }
        for route in &signalling.routes {
            all.entry(&route.from).or_default().routes.push(route);
        }
        for (number, translation) in signalling.translations.iter().enumerate() {
            let translation: &Named<Translation> = translation;
            all.entry(&translation.at).or_default().translations.push((number, translation));
        }
        for (_, server) in signalling.application_servers.iter() {
            for gateway in gateways_of(signalling, server) {
                all.entry(gateway_point(signalling, gateway)).or_default().behind.insert(&server.dpc);
            }
        }
        Self(all)
    }

    /// The number of a point; none for one whose users are above M3UA.
    pub(crate) fn id(&self, point: &str) -> Option<PointId> {
        self.0.get(point)?.id
    }

    /// Links of a point by the far end, in the order of MTP3.
    pub(crate) fn link_sets(&self, point: &str) -> impl Iterator<Item = (&'a str, &[&'a str])> {
        let sets = self.0.get(point).into_iter().flat_map(|own| &own.link_sets);
        sets.map(|(far, links)| (*far, links.as_slice()))
    }

    /// Links of the link set between two points, by name.
    pub(crate) fn link_set(&self, point: &str, far: &str) -> &[&'a str] {
        self.0.get(point).and_then(|own| own.link_sets.get(far)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Links of a point with their far ends, in the order of MTP3.
    pub fn links(&self, point: &str) -> &[(&'a str, &'a str)] {
        self.0.get(point).map(|own| own.links.as_slice()).unwrap_or_default()
    }

    /// The place of a link in that order.
    pub(crate) fn link_number(&self, point: &str, link: &str) -> Option<usize> {
        self.0.get(point)?.numbers.get(link).copied()
    }

    /// Routes of a point, in the order of the file.
    pub(crate) fn routes(&self, point: &str) -> &[&'a Route] {
        self.0.get(point).map(|own| own.routes.as_slice()).unwrap_or_default()
    }

    /// Translations of a point with their numbers, in the order of the file.
    pub(crate) fn translations(&self, point: &str) -> &[(usize, &'a Translation)] {
        self.0.get(point).map(|own| own.translations.as_slice()).unwrap_or_default()
    }

    /// Points behind the gateway at a point, if there is one.
    pub(crate) fn behind(&self, point: &str) -> impl Iterator<Item = &'a str> {
        self.0.get(point).into_iter().flat_map(|own| own.behind.iter().copied())
    }
}
