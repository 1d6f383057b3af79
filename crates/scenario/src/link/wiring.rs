//! Nodes and the links that join them, as far as other tables name them.

use std::collections::BTreeMap;

use slantpath_points::PacketNetwork;
use slantpath_reader::{Complete, Fault, Faults, Lookup, Place, Setting, Stage, Tables, resolve, suggest};

use super::schema::Link;
use crate::network::node::{Node, NodeKind};

/// The nodes of a scenario, and the links and antennas that join them.
#[derive(Clone, Copy, Debug)]
pub struct Wiring<'a, S: Stage = Complete> {
    /// Hosts and routers.
    pub nodes: &'a Tables<Node>,
    /// Links between two nodes each.
    pub links: &'a Tables<Link<S>>,
}

impl<S: Stage> Link<S> {
    /// Tells if both ends are attached nodes: under `slantpath emulate` it carries frames.
    pub fn joins_attached(&self, nodes: &Tables<Node>) -> bool {
        let is_attached = |name: &str| nodes.find(name).is_some_and(|node| *node.kind == NodeKind::Attached);
        is_attached(&self.ends.0) && is_attached(&self.ends.1)
    }
}

impl<'a, S: Stage> Wiring<'a, S> {
    /// The links that end at each node, in alphabetical order, and after them those of its antennas.
    pub fn links_by_node(self) -> BTreeMap<&'a str, Vec<&'a str>> {
        let mut links = BTreeMap::<&str, Vec<&str>>::new();
        for (name, link) in self.links.iter() {
            for end in [&link.ends.0, &link.ends.1] {
                links.entry(end).or_default().push(name);
            }
        }
        for (node, _) in self.nodes.iter() {
            let own: Vec<&str> = self.antennas_of(node).collect();
            if !own.is_empty() {
                links.entry(node).or_default().extend(own);
            }
        }
        links
    }

    /// The links that end at a node, in alphabetical order, and after them those of its antennas.
    pub fn links_of(self, node: &'a str) -> impl Iterator<Item = &'a str> {
        let own = move |link: &Link<S>| link.ends.0 == node || link.ends.1 == node;
        let links = self.links.iter().filter(move |(_, link)| own(link)).map(|(name, _)| name);
        links.chain(self.antennas_of(node))
    }

    /// The link of each node by which it is reached first: of those that end at it the first. A node at a site with
    /// neither antenna nor cable has the link that an antenna would have: that no way leads there is told when contacts
    /// are known, with its cure.
    pub(crate) fn first_links(self) -> BTreeMap<&'a str, String> {
        let at_sites = self.nodes.iter().filter_map(|(name, node)| Some((name, node.site.as_ref()?)));
        let mut first: BTreeMap<&str, String> =
            at_sites.map(|(name, site)| (name, format!("sky.{}", **site))).collect();
        for (node, links) in self.links_by_node() {
            first.extend(links.first().map(|link| (node, (*link).to_owned())));
        }
        first
    }

    /// Reports a link that does not end at a node.
    pub(crate) fn must_end_at(self, link: &Setting<String>, node: &str, faults: &mut Faults) {
        if self.antennas_of(node).any(|antenna| antenna == link.as_str()) {
            return;
        }
        let Some(found) = self.resolve(link, faults) else { return };
        if found.ends.0 == node || found.ends.1 == node {
            return;
        }
        let candidates: Vec<&str> = self.links_of(node).collect();
        let message = format!("link `{}` does not end at `{node}`", **link);
        let help = suggest(link, &format!("links of `{node}`"), &candidates);
        faults.report(link.place(), Fault::new(message).help(help));
    }

    /// The link of a name that ends at two nodes; reports a name that nothing has. That of an antenna ends at one.
    fn resolve(self, link: &Setting<String>, faults: &mut Faults) -> Option<&'a Link<S>> {
        let is_antenna = |node: &str| self.antennas_of(node).any(|antenna| antenna == link.as_str());
        if let Some((node, _)) = self.nodes.iter().find(|(name, _)| is_antenna(name)) {
            let message = format!("link `{}` is an antenna of `{node}`", **link);
            let help = "name a link of the node that is meant";
            faults.report(link.place(), Fault::new(message).help(help));
            return None;
        }
        resolve(self.links, link, "link", link.place(), faults)
    }

    /// Checks that a name is that of a link, or of an antenna; reports one that nothing has.
    pub(crate) fn check_is_link(self, link: &str, place: Place, faults: &mut Faults) {
        let antennas: Vec<&str> = self.nodes.iter().flat_map(|(name, _)| self.antennas_of(name)).collect();
        if antennas.is_empty() {
            resolve(self.links, link, "link", place, faults);
        } else if matches!(self.links.lookup(link), Lookup::Unknown) && !antennas.contains(&link) {
            let known: Vec<&str> = self.links.names().into_iter().chain(antennas).collect();
            let help = suggest(link, "links and antennas", &known);
            faults.report(place, Fault::new(format!("there is no link `{link}`")).help(help));
        }
    }

    /// Names of the links of a node's antennas, in their order.
    fn antennas_of(self, node: &str) -> impl Iterator<Item = &'a str> + use<'a, S> {
        let antennas = self.nodes.find(node).and_then(|node| node.antennas.as_ref());
        antennas.into_iter().flat_map(|antennas| antennas.iter().map(String::as_str))
    }
}

impl<S: Stage> PacketNetwork for Wiring<'_, S> {
    fn has_node(&self, name: &str) -> bool {
        self.nodes.find(name).is_some()
    }

    fn must_be_node(&self, node: &Setting<String>, faults: &mut Faults) {
        resolve(self.nodes, node, "node", node.place(), faults);
    }

    fn must_end_at(&self, link: &Setting<String>, node: &str, faults: &mut Faults) {
        Wiring::must_end_at(*self, link, node, faults);
    }

    fn links_of<'a>(&'a self, node: &'a str) -> Vec<&'a str> {
        Wiring::links_of(*self, node).collect()
    }

    fn ends_at(&self, link: &str, node: &str) -> bool {
        self.links.find(link).is_some_and(|link| link.ends.0 == node || link.ends.1 == node)
    }
}
