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

/// How a node reaches the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// Over the destination's own access link of this contact.
    Access(u32),
    /// Over the core link in this slot, to this node.
    Core {
        /// Slot of the link.
        slot: u32,
        /// Next node.
        next: u32,
    },
    /// Not at all, or it is the destination.
    Nowhere,
}

/// Shortest paths of all core nodes to one destination.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The destination: a core node, or a site with access links.
    pub(super) root: Root,
    pub(super) distance: Vec<u32>,
    pub(super) via: Vec<Via>,
    /// Nodes about in order of distance: a tree is walked in this order, parents mostly first.
    order: Vec<u32>,
    in_order: Vec<bool>,
    /// The round in which a node's distance was last worked out.
    round_of: Vec<u32>,
    round: u32,
}

/// Where a tree ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A relaying node.
    Core(u32),
    /// A site of this number, reached over its access links only.
    Site(usize),
}

/// Memory that all trees share.
pub(super) struct Workshop {
    buckets: Buckets,
    weight_max: u32,
    hand: Vec<u32>,
    expanded: Vec<u32>,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    chain: Vec<u32>,
}

impl Workshop {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            buckets: Buckets::new(0),
            weight_max: 0,
            hand: Vec::new(),
            expanded: vec![UNREACHABLE; nodes],
            heap: BinaryHeap::new(),
            chain: Vec::new(),
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
        Self {
            root,
            distance: vec![UNREACHABLE; nodes],
            via: vec![Via::Nowhere; nodes],
            order: Vec::with_capacity(nodes),
            in_order: vec![false; nodes],
            round_of: vec![0; nodes],
            round: 0,
        }
    }

    /// From nothing.
    pub(super) fn build(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        self.distance.fill(UNREACHABLE);
        self.via.fill(Via::Nowhere);
        self.order.clear();
        self.in_order.fill(false);
        shop.expanded.fill(UNREACHABLE);
        let mut nearest = UNREACHABLE;
        match self.root {
            Root::Core(node) => {
                self.distance[node as usize] = 0;
                nearest = 0;
                shop.buckets.start_at(0);
                shop.buckets.push(node, 0);
            }
            Root::Site(site) => {
                for access in &graph.access[site] {
                    nearest = nearest.min(access.weight);
                }
                shop.buckets.start_at(nearest);
                for access in &graph.access[site] {
                    if self.improve_by_access(access) {
                        shop.buckets.push(access.satellite, access.weight);
                    }
                }
            }
        }
        if nearest == UNREACHABLE {
            return;
        }
        let mut hand = core::mem::take(&mut shop.hand);
        while let Some(bucket) = shop.buckets.next(&mut hand) {
            for &node in &hand {
                let distance = self.distance[node as usize];
                // Reached on a shorter way since it was put here, or put here twice.
                if shop.buckets.bucket_of(distance) != bucket || shop.expanded[node as usize] == distance {
                    continue;
                }
                if shop.expanded[node as usize] == UNREACHABLE {
                    self.in_order[node as usize] = true;
                    self.order.push(node);
                }
                shop.expanded[node as usize] = distance;
                for arc in &graph.arcs[node as usize] {
                    let beyond = distance.saturating_add(graph.weights[arc.slot as usize]);
                    if beyond < self.distance[arc.peer as usize] {
                        self.distance[arc.peer as usize] = beyond;
                        self.via[arc.peer as usize] = Via::Core { slot: arc.slot, next: node };
                        shop.buckets.push(arc.peer, beyond);
                    }
                }
            }
        }
        shop.hand = hand;
    }

    fn improve_by_access(&mut self, access: &Access) -> bool {
        let node = access.satellite as usize;
        let better = access.weight < self.distance[node];
        if better {
            self.distance[node] = access.weight;
            self.via[node] = Via::Access(access.contact.0);
        }
        better
    }

    /// Whether the tree uses the link in a slot.
    pub(super) fn uses(&self, graph: &Graph<'_>, slot: u32) -> bool {
        let (a, b) = graph.ends[slot as usize];
        [a, b]
            .iter()
            .any(|&node| matches!(self.via[node as usize], Via::Core { slot: used, .. } if used == slot))
    }

    /// Whether the link in a slot would shorten a path.
    pub(super) fn gains(&self, graph: &Graph<'_>, slot: u32) -> bool {
        let (a, b) = graph.ends[slot as usize];
        let (a, b) = (self.distance[a as usize], self.distance[b as usize]);
        a.abs_diff(b) > graph.weights[slot as usize]
    }

    /// Makes the tree shortest again after weights have changed, links have gone (their weight is
    /// unreachable) or come.
    pub(super) fn repair(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        let lost = self.walk_down(graph, shop);
        // Most of the tree hung on what is gone: begin again.
        if 4 * lost > self.order.len() {
            self.build(graph, shop);
            return;
        }
        shop.heap.clear();
        if let Root::Site(site) = self.root {
            for access in &graph.access[site] {
                if self.improve_by_access(access) {
                    if !self.in_order[access.satellite as usize] {
                        self.in_order[access.satellite as usize] = true;
                        self.order.push(access.satellite);
                    }
                    shop.heap.push(Reverse((access.weight, access.satellite)));
                }
            }
        }
        for (slot, (&(a, b), &weight)) in graph.ends.iter().zip(&graph.weights).enumerate() {
            let (near, far) = (self.distance[a as usize], self.distance[b as usize]);
            if near.abs_diff(far) > weight {
                let (from, to) = if near < far { (a, b) } else { (b, a) };
                self.relax(slot, weight, from, to, shop);
            }
        }
        self.settle(graph, shop);
    }

    fn relax(&mut self, slot: usize, weight: u32, from: u32, to: u32, shop: &mut Workshop) {
        let beyond = self.distance[from as usize].saturating_add(weight);
        if beyond < self.distance[to as usize] {
            if !self.in_order[to as usize] {
                self.in_order[to as usize] = true;
                self.order.push(to);
            }
            let slot = u32::try_from(slot).unwrap_or(u32::MAX);
            self.distance[to as usize] = beyond;
            self.via[to as usize] = Via::Core { slot, next: from };
            shop.heap.push(Reverse((beyond, to)));
        }
    }

    fn settle(&mut self, graph: &Graph<'_>, shop: &mut Workshop) {
        while let Some(Reverse((distance, node))) = shop.heap.pop() {
            if distance > self.distance[node as usize] {
                continue;
            }
            for arc in &graph.arcs[node as usize] {
                self.relax(arc.slot as usize, graph.weights[arc.slot as usize], node, arc.peer, shop);
            }
        }
    }

    /// Works out every distance along the tree as it stands, and counts the nodes that hang on nothing any
    /// more.
    fn walk_down(&mut self, graph: &Graph<'_>, shop: &mut Workshop) -> usize {
        self.round = self.round.wrapping_add(1);
        let round = self.round;
        let mut lost = 0;
        for index in 0..self.order.len() {
            let node = self.order[index];
            // A parent that comes later in the order is worked out first.
            let mut at = node;
            while self.round_of[at as usize] != round {
                match self.via[at as usize] {
                    Via::Core { next, .. } if self.round_of[next as usize] != round => {
                        shop.chain.push(at);
                        at = next;
                    }
                    Via::Access(_) | Via::Core { .. } | Via::Nowhere => {
                        lost += usize::from(self.work_out(at, graph));
                        at = match shop.chain.pop() {
                            Some(waiting) => waiting,
                            None => break,
                        };
                    }
                }
            }
            shop.chain.clear();
        }
        lost
    }

    /// One node's distance from its parent's; whether it has lost its way.
    fn work_out(&mut self, node: u32, graph: &Graph<'_>) -> bool {
        let index = node as usize;
        self.round_of[index] = self.round;
        let distance = match self.via[index] {
            Via::Core { slot, next } => {
                self.distance[next as usize].saturating_add(graph.weights[slot as usize])
            }
            Via::Access(contact) => match self.root {
                Root::Site(site) => {
                    let own = |access: &&Access| access.contact.0 == contact;
                    graph.access[site].iter().find(own).map_or(UNREACHABLE, |access| access.weight)
                }
                Root::Core(_) => UNREACHABLE,
            },
            Via::Nowhere if self.root == Root::Core(node) => 0,
            Via::Nowhere => UNREACHABLE,
        };
        self.distance[index] = distance;
        if distance == UNREACHABLE {
            self.via[index] = Via::Nowhere;
        }
        distance == UNREACHABLE
    }
}
