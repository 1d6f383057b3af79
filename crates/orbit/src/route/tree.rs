//! One tree of shortest paths towards a destination, and its repair.
//!
//! Repair rests on two facts. Distances along the old tree under the new weights are lengths of real paths,
//! so they are upper bounds; and they are shortest as soon as no link joins two nodes whose distances differ
//! by more than its weight. One pass down the tree and one over the links therefore either prove the tree or
//! find where to begin.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::buckets::Buckets;
use super::graph::{Access, Graph, UNREACHABLE};

/// Link by which a node reaches the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// Over the destination's own access link of this contact.
    Access(u32),
    /// Over the core link in this slot.
    Core(u32),
    /// Not at all, or it is the destination.
    Nowhere,
}

/// A [`Via`] in one word, so that a hundred trees stay in the cache: a slot, or a contact with the highest bit, or
/// all ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way(u32);

impl Way {
    const NOWHERE: Self = Self(u32::MAX);
    const ACCESS: u32 = 1 << 31;

    fn core(slot: usize) -> Self {
        debug_assert!(slot < Self::ACCESS as usize);
        Self(u32::try_from(slot).unwrap_or(u32::MAX))
    }

    /// The slot, if it is over a core link.
    #[inline]
    fn slot(self) -> Option<u32> {
        (self.0 < Self::ACCESS).then_some(self.0)
    }
}

/// Shortest paths of all core nodes to one destination. Distances are not kept: they are worked out from the
/// weights of the moment, one by one where they are asked for and all together for a repair.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The destination: a core node, or a site with access links.
    pub(super) root: Root,
    way: Vec<Way>,
    /// The nodes that have a way, each after the one that it goes by.
    order: Vec<u32>,
    /// Place of each of them in the order.
    place: Vec<u32>,
}

/// End of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A relaying node.
    Core(u32),
    /// A site of this number, reached over its access links only; by one of its antennas, if one is named.
    Site(usize, Option<u16>),
}

impl Root {
    /// The access links by which the destination is reached, if it is a site.
    pub(super) fn access<'a>(self, graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Access> {
        let (links, wanted) = match self {
            Self::Core(_) => (&[][..], None),
            Self::Site(site, antenna) => (&graph.access[site][..], antenna),
        };
        let is_wanted = move |access: &&Access| wanted.is_none() || access.antenna == wanted;
        links.iter().filter(|access| !access.is_superseded).filter(is_wanted)
    }
}

/// A place in the order that has been left, while a repair lasts.
const HOLE: u32 = u32::MAX;

/// A node in a queue, by its distance.
fn queued(distance: u32, node: u32) -> Reverse<u64> {
    Reverse(u64::from(distance) << 32 | u64::from(node))
}

/// The distance and the node of [`queued`].
#[expect(clippy::cast_possible_truncation, reason = "the two halves of a word")]
fn unqueued(entry: u64) -> (u32, u32) {
    ((entry >> 32) as u32, entry as u32)
}

/// Memory that all trees share.
pub(super) struct Workshop {
    buckets: Buckets,
    weight_max: u32,
    hand: Vec<u32>,
    expanded: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
    /// The distances of the tree in hand.
    distance: Vec<u32>,
    is_seen: Vec<bool>,
    /// Nodes that have lost their way.
    lost: Vec<u32>,
}

impl Workshop {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            buckets: Buckets::new(0),
            weight_max: 0,
            hand: Vec::new(),
            expanded: vec![UNREACHABLE; nodes],
            heap: BinaryHeap::new(),
            distance: vec![UNREACHABLE; nodes],
            is_seen: vec![false; nodes],
            lost: Vec::new(),
        }
    }

    /// Makes room for the heaviest link of a graph.
    pub(super) fn fit(&mut self, graph: &Graph<'_>) {
        let weight_max = graph.weight_max();
        if weight_max > self.weight_max {
            self.buckets = Buckets::new(weight_max);
            self.weight_max = weight_max;
        }
    }
}

impl Tree {
    pub(super) fn new(root: Root, nodes: usize) -> Self {
        let (way, place) = (vec![Way::NOWHERE; nodes], vec![0; nodes]);
        Self { root, way, order: Vec::with_capacity(nodes), place }
    }

    /// Link by which a node reaches the next one.
    pub(super) fn via(&self, node: u32) -> Via {
        match self.way[node as usize] {
            Way::NOWHERE => Via::Nowhere,
            Way(word) if word & Way::ACCESS != 0 => Via::Access(word & !Way::ACCESS),
            Way(slot) => Via::Core(slot),
        }
    }

    /// Builds the tree from nothing.
    pub(super) fn build(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        shop.distance.fill(UNREACHABLE);
        self.way.fill(Way::NOWHERE);
        self.order.clear();
        shop.expanded.fill(UNREACHABLE);
        let mut nearest = UNREACHABLE;
        match self.root {
            Root::Core(node) => {
                shop.distance[node as usize] = 0;
                nearest = 0;
                shop.buckets.start_at(0);
                shop.buckets.push(node, 0);
            }
            Root::Site(..) => {
                for access in self.root.access(graph) {
                    nearest = nearest.min(access.weight);
                }
                shop.buckets.start_at(nearest);
                for access in self.root.access(graph) {
                    if self.improve_by_access(access, &mut shop.distance) {
                        shop.buckets.push(access.satellite, access.weight);
                    }
                }
            }
        }
        if nearest == UNREACHABLE {
            return;
        }
        let mut hand = core::mem::take(&mut shop.hand);
        let mut is_twice = false;
        while let Some(bucket) = shop.buckets.next(&mut hand) {
            for &node in &hand {
                let distance = shop.distance[node as usize];
                // Reached on a shorter way since it was put here, or put here twice.
                if shop.buckets.bucket_of(distance) != bucket || shop.expanded[node as usize] == distance {
                    continue;
                }
                is_twice |= shop.expanded[node as usize] != UNREACHABLE;
                self.order.push(node);
                shop.expanded[node as usize] = distance;
                for arc in graph.arcs(node) {
                    let beyond = distance + graph.weights[arc.slot as usize];
                    if beyond < shop.distance[arc.peer as usize] {
                        shop.distance[arc.peer as usize] = beyond;
                        self.way[arc.peer as usize] = Way(arc.slot);
                        shop.buckets.push(arc.peer, beyond);
                    }
                }
            }
        }
        shop.hand = hand;
        if is_twice {
            self.keep_last_places(&mut shop.is_seen);
        }
        self.close_holes(0);
    }

    /// Of a node that stands in the order more than once only the last place counts: the one at which it spread
    /// its final distance.
    fn keep_last_places(&mut self, is_seen: &mut [bool]) {
        self.order.reverse();
        self.order.retain(|&node| !core::mem::replace(&mut is_seen[node as usize], true));
        self.order.reverse();
        for &node in &self.order {
            is_seen[node as usize] = false;
        }
    }

    /// Moves the nodes after a place together.
    fn close_holes(&mut self, from: usize) {
        let mut end = from;
        for index in from..self.order.len() {
            let node = self.order[index];
            if node != HOLE {
                self.order[end] = node;
                self.place[node as usize] = u32::try_from(end).unwrap_or(u32::MAX);
                end += 1;
            }
        }
        self.order.truncate(end);
    }

    /// Leaves a node's place in the order, if it has one, and says which that was.
    fn leave_place(&mut self, node: u32) -> usize {
        let place = self.place[node as usize] as usize;
        if self.order.get(place) == Some(&node) {
            self.order[place] = HOLE;
        }
        place
    }

    fn improve_by_access(&mut self, access: &Access, distance: &mut [u32]) -> bool {
        let node = access.satellite as usize;
        let better = access.weight < distance[node];
        if better {
            distance[node] = access.weight;
            self.way[node] = Way(access.contact.0 | Way::ACCESS);
        }
        better
    }

    /// A core node's distance under the weights of the moment.
    pub(super) fn distance(&self, graph: &Graph<'_>, node: u32) -> u32 {
        let mut sum = 0_u32;
        let mut at = node;
        while let Some(slot) = self.way[at as usize].slot() {
            sum = (sum + graph.weights[slot as usize]).min(UNREACHABLE);
            at ^= graph.across[slot as usize];
        }
        (sum + self.last_step(graph, at)).min(UNREACHABLE)
    }

    /// From a node that goes by no other to the destination.
    fn last_step(&self, graph: &Graph<'_>, node: u32) -> u32 {
        match (self.via(node), self.root) {
            (Via::Access(contact), Root::Site(..)) => {
                let own = |access: &&Access| access.contact.0 == contact;
                self.root.access(graph).find(own).map_or(UNREACHABLE, |access| access.weight)
            }
            (_, Root::Core(root)) if root == node => 0,
            (_, Root::Core(_) | Root::Site(..)) => UNREACHABLE,
        }
    }

    /// Tells if the tree uses the link in a slot.
    pub(super) fn uses(&self, graph: &Graph<'_>, slot: u32) -> bool {
        let (a, b) = graph.ends[slot as usize];
        [a, b].iter().any(|&node| self.way[node as usize] == Way(slot))
    }

    /// Tells if the link in a slot would shorten a path.
    pub(super) fn gains(&self, graph: &Graph<'_>, slot: u32) -> bool {
        let (a, b) = graph.ends[slot as usize];
        self.distance(graph, a).abs_diff(self.distance(graph, b)) > graph.weights[slot as usize]
    }

    /// Makes the tree shortest again after weights have changed, links have gone (their weight is
    /// unreachable) or come.
    pub(super) fn repair(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        self.walk_down(graph, shop);
        // Most of the tree hung on what is gone: begin again.
        if 4 * shop.lost.len() > self.order.len() {
            shop.lost.clear();
            self.build(graph, shop);
            return;
        }
        for access in self.root.access(graph) {
            if self.improve_by_access(access, &mut shop.distance) {
                shop.heap.push(queued(access.weight, access.satellite));
            }
        }
        let Workshop { heap, distance, .. } = shop;
        graph.sweep().find_shortcuts(distance, |distance, slot, (a, b)| {
            let (from, to) = if distance[a as usize] < distance[b as usize] { (a, b) } else { (b, a) };
            self.relax(graph, slot, (from, to), distance, heap);
        });
        self.settle(graph, shop);
    }

    fn relax(
        &mut self,
        graph: &Graph<'_>,
        slot: usize,
        (from, to): (u32, u32),
        distance: &mut [u32],
        heap: &mut BinaryHeap<Reverse<u64>>,
    ) {
        let beyond = distance[from as usize] + graph.weights[slot];
        if beyond < distance[to as usize] {
            distance[to as usize] = beyond;
            self.way[to as usize] = Way::core(slot);
            heap.push(queued(beyond, to));
        }
    }

    /// Spreads what has become shorter. All that hangs on a node becomes shorter with it, and settles after it:
    /// the order stays one in which nobody stands before the node that it goes by.
    fn settle(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        let Workshop { heap, distance, lost, .. } = shop;
        let mut first = self.order.len();
        for node in lost.drain(..) {
            first = first.min(self.leave_place(node));
        }
        while let Some(Reverse(entry)) = heap.pop() {
            let (here, node) = unqueued(entry);
            if here > distance[node as usize] {
                continue;
            }
            first = first.min(self.leave_place(node));
            self.place[node as usize] = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
            self.order.push(node);
            for arc in graph.arcs(node) {
                self.relax(graph, arc.slot as usize, (node, arc.peer), distance, heap);
            }
        }
        self.close_holes(first);
    }

    /// Works out every distance along the tree as it stands, and notes the nodes that hang on nothing any more.
    fn walk_down(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        shop.distance.fill(UNREACHABLE);
        // Slices of the stack: a store into one of them cannot move another.
        let (distance, across, weights) = (&mut shop.distance[..], &graph.across[..], &graph.weights[..]);
        let way = &self.way[..];
        for &node in &self.order {
            let there = match way[node as usize].slot() {
                Some(slot) => distance[(node ^ across[slot as usize]) as usize] + weights[slot as usize],
                None => self.last_step(graph, node),
            };
            distance[node as usize] = there.min(UNREACHABLE);
            if there >= UNREACHABLE {
                shop.lost.push(node);
            }
        }
        for &node in &shop.lost {
            self.way[node as usize] = Way::NOWHERE;
        }
    }
}
