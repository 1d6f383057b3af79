//! Two paths that share no relaying node, with the least sum of lengths.
//!
//! Suurballe's algorithm (Networks 4, 1974), on nodes split in two. Taking the shortest path first and then the
//! shortest that avoids it may find a worse pair, or none where there is one. Here the second search may go back
//! along the first path and so take it apart: what both go along in opposite directions is left out, and the rest
//! falls into two paths.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::graph::{Graph, UNREACHABLE};
use super::router::Path;
use super::search::{Step, links};
use crate::contact::ContactId;
use crate::network::ContactNodeId;

/// The pair, the shorter path first.
pub(super) fn pair(graph: &Graph<'_>, from: ContactNodeId, to: ContactNodeId) -> Option<(Path, Path)> {
    pair_by(graph, from, to, &|_, _| true)
}

/// Variant of [`pair`] by some of the links that leave `from` and that lead to `to` only.
pub(super) fn pair_by(
    graph: &Graph<'_>,
    from: ContactNodeId,
    to: ContactNodeId,
    is_usable: &dyn Fn(ContactNodeId, ContactId) -> bool,
) -> Option<(Path, Path)> {
    if from == to {
        return None;
    }
    let search = Search::new(graph, from, to, is_usable);
    let (first, distance) = search.first()?;
    let moves = search.second(&first, &distance)?;
    // The arcs of both searches without those that both go along, in opposite directions.
    let is_kept = |(_, step): &(ContactNodeId, Step)| {
        !moves.iter().any(|step_back| matches!(step_back, Move::Undo(undone) if undone == &step.contact))
    };
    let taken = moves.iter().filter_map(|taken| match taken {
        Move::Take(node, step) => Some((*node, *step)),
        Move::Undo(_) | Move::Within => None,
    });
    let mut onward: BTreeMap<ContactNodeId, Vec<Step>> = BTreeMap::new();
    for (node, step) in first.iter().copied().filter(is_kept).chain(taken) {
        onward.entry(node).or_default().push(step);
    }
    let mut paths = [search.follow(&mut onward)?, search.follow(&mut onward)?];
    paths.sort_by(|a, b| (a.0, &a.1.nodes).cmp(&(b.0, &b.1.nodes)));
    let [(_, shorter), (_, longer)] = paths;
    Some((shorter, longer))
}

/// The path that passes the fewest of some nodes, and of these the shortest.
pub(super) fn least_shared(
    graph: &Graph<'_>,
    from: ContactNodeId,
    to: ContactNodeId,
    is_usable: &dyn Fn(ContactNodeId, ContactId) -> bool,
    avoided: &[ContactNodeId],
) -> Option<Path> {
    if from == to {
        return None;
    }
    let search = Search::new(graph, from, to, is_usable);
    let mut least = vec![u64::MAX; graph.node_count()];
    let mut before: Vec<Option<(ContactNodeId, Step)>> = vec![None; least.len()];
    let mut queue = BinaryHeap::from([Reverse((0, from))]);
    least[from.index()] = 0;
    while let Some(Reverse((here, node))) = queue.pop() {
        if node == to || here > least[node.index()] {
            continue;
        }
        for step in search.leaving(node) {
            let is_avoided = step.peer != to && avoided.contains(&step.peer);
            let beyond = here + u64::from(step.weight) + if is_avoided { SHARED } else { 0 };
            if beyond < least[step.peer.index()] {
                least[step.peer.index()] = beyond;
                before[step.peer.index()] = Some((node, step));
                queue.push(Reverse((beyond, step.peer)));
            }
        }
    }
    let mut path = Path { nodes: vec![to], contacts: Vec::new() };
    let mut at = to;
    while at != from {
        let (node, step) = before[at.index()]?;
        path.nodes.push(node);
        path.contacts.push(step.contact);
        at = node;
    }
    path.nodes.reverse();
    path.contacts.reverse();
    Some(path)
}

/// Cost of passing a node that is to be avoided: more than any path is long.
const SHARED: u64 = 1 << 40;

struct Search<'g> {
    graph: &'g Graph<'g>,
    is_usable: &'g dyn Fn(ContactNodeId, ContactId) -> bool,
    from: ContactNodeId,
    to: ContactNodeId,
    /// The links of a destination that does not relay: it is entered only as the end.
    closing: Vec<Step>,
}

/// The steps of a path, each with the node that it leaves.
type Trail = Vec<(ContactNodeId, Step)>;

/// Meaning of one step of the second search.
#[derive(Clone, Copy)]
enum Move {
    /// A link is taken from a node.
    Take(ContactNodeId, Step),
    /// A link of the first path is gone back along.
    Undo(ContactId),
    /// From one half of a node to the other.
    Within,
}

/// A half of a node: where links end, or where they begin.
fn half(node: ContactNodeId, leaves: bool) -> usize {
    2 * node.index() + usize::from(leaves)
}

impl<'g> Search<'g> {
    fn new(
        graph: &'g Graph<'g>,
        from: ContactNodeId,
        to: ContactNodeId,
        is_usable: &'g dyn Fn(ContactNodeId, ContactId) -> bool,
    ) -> Self {
        let closing = if graph.is_core(to) { Vec::new() } else { links(graph, to) };
        Self { graph, is_usable, from, to, closing }
    }

    fn leaving(&self, node: ContactNodeId) -> impl Iterator<Item = Step> + '_ {
        let closing = self.closing.iter().filter(move |step| step.peer == node);
        let steps =
            links(self.graph, node).into_iter().chain(closing.map(|step| Step { peer: self.to, ..*step }));
        steps.filter(move |step| {
            let is_of = |end: ContactNodeId| (self.is_usable)(end, step.contact);
            (node != self.from || is_of(self.from)) && (step.peer != self.to || is_of(self.to))
        })
    }

    /// The shortest path, as the steps from its nodes, and the distances of all nodes.
    fn first(&self) -> Option<(Trail, Vec<u32>)> {
        let count = self.graph.node_count();
        let mut distance = vec![UNREACHABLE; count];
        let mut before: Vec<Option<(ContactNodeId, Step)>> = vec![None; count];
        let mut queue = BinaryHeap::from([Reverse((0, self.from))]);
        distance[self.from.index()] = 0;
        while let Some(Reverse((here, node))) = queue.pop() {
            if node == self.to || here > distance[node.index()] {
                continue;
            }
            for step in self.leaving(node) {
                let beyond = here + step.weight;
                if beyond < distance[step.peer.index()] {
                    distance[step.peer.index()] = beyond;
                    before[step.peer.index()] = Some((node, step));
                    queue.push(Reverse((beyond, step.peer)));
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = self.to;
        while at != self.from {
            let step = before[at.index()]?;
            steps.push(step);
            at = step.0;
        }
        steps.reverse();
        Some((steps, distance))
    }

    /// The moves of the shortest way through what the first path leaves. Lengths are taken less the difference of
    /// the first search's distances, so that none is negative, and going back along the first path costs nothing.
    fn second(&self, first: &[(ContactNodeId, Step)], distance: &[u32]) -> Option<Vec<Move>> {
        // The step by which the first path comes to each of its inner nodes.
        let inner: BTreeMap<ContactNodeId, (ContactNodeId, Step)> = first
            .iter()
            .map(|&(node, step)| (step.peer, (node, step)))
            .filter(|&(node, _)| node != self.to)
            .collect();
        let is_first = |step: &Step| first.iter().any(|(_, own)| own.contact == step.contact);
        let mut least = vec![u32::MAX; 2 * distance.len()];
        let mut before: Vec<Option<(usize, Move)>> = vec![None; least.len()];
        let (start, end) = (half(self.from, true), half(self.to, false));
        let mut queue = BinaryHeap::from([Reverse((0_u32, start))]);
        least[start] = 0;
        let mut next: Vec<(usize, u32, Move)> = Vec::new();
        while let Some(Reverse((here, state))) = queue.pop() {
            if here > least[state] {
                continue;
            }
            if state == end {
                break;
            }
            let (node, leaves) = (ContactNodeId::new(state / 2), state % 2 == 1);
            next.clear();
            match (leaves, inner.get(&node)) {
                (false, Some(&(previous, step))) => {
                    next.push((half(previous, true), 0, Move::Undo(step.contact)));
                }
                (false, None) => next.push((half(node, true), 0, Move::Within)),
                (true, came) => {
                    if came.is_some() {
                        next.push((half(node, false), 0, Move::Within));
                    }
                    for step in self.leaving(node).filter(|step| step.peer != self.from && !is_first(step)) {
                        let cost = distance[node.index()] + step.weight - distance[step.peer.index()];
                        next.push((half(step.peer, false), cost, Move::Take(node, step)));
                    }
                }
            }
            for &(to, cost, step) in &next {
                let beyond = here.saturating_add(cost);
                if beyond < least[to] {
                    least[to] = beyond;
                    before[to] = Some((state, step));
                    queue.push(Reverse((beyond, to)));
                }
            }
        }
        let mut moves = Vec::new();
        let mut at = end;
        while at != start {
            let (previous, step) = before[at]?;
            moves.push(step);
            at = previous;
        }
        Some(moves)
    }

    /// One path along steps that are used up, and its length.
    fn follow(&self, onward: &mut BTreeMap<ContactNodeId, Vec<Step>>) -> Option<(u64, Path)> {
        let mut path = Path { nodes: vec![self.from], contacts: Vec::new() };
        let (mut at, mut length) = (self.from, 0);
        while at != self.to {
            let step = onward.get_mut(&at)?.pop()?;
            length += u64::from(step.weight);
            path.nodes.push(step.peer);
            path.contacts.push(step.contact);
            at = step.peer;
        }
        Some((length, path))
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Metric, Overlap};
    use super::*;
    use crate::contact::ContactPlan;
    use proptest::prelude::*;
    use slantpath_base::Instant;

    const SATELLITES: u32 = 7;

    /// Satellites linked to each other, and two sites linked to some of them.
    fn plan(links: &[(u32, u32, u32)]) -> ContactPlan {
        ContactPlan::of_constant_delays((SATELLITES, 2), links)
    }

    /// All simple paths: lengths and inner nodes, by trying everything.
    fn paths(links: &[(u32, u32, u32)], at: u32, to: u32, inner: &[u32]) -> Vec<(u64, Vec<u32>)> {
        let mut found = Vec::new();
        for &(a, b, weight) in links {
            let peer = if a == at {
                b
            } else if b == at {
                a
            } else {
                continue;
            };
            if peer == to {
                found.push((u64::from(weight), inner.to_vec()));
            } else if peer < SATELLITES && !inner.contains(&peer) {
                let beyond = paths(links, peer, to, &[inner, &[peer]].concat());
                found.extend(beyond.into_iter().map(|(length, inner)| (length + u64::from(weight), inner)));
            }
        }
        found
    }

    fn length(links: &[(u32, u32, u32)], path: &Path) -> u64 {
        let weight = |pair: &[ContactNodeId]| {
            let joins = |link: &&(u32, u32, u32)| {
                (link.0, link.1) == (pair[0].0, pair[1].0) || (link.1, link.0) == (pair[0].0, pair[1].0)
            };
            u64::from(links.iter().find(joins).unwrap().2)
        };
        path.nodes.windows(2).map(weight).sum()
    }

    #[test]
    fn a_shortest_path_that_blocks_every_other_is_taken_apart() {
        let (from, to) = (SATELLITES, SATELLITES + 1);
        // 0 - 1 - 2 - 3 is shortest, and both of 4 and 5 need one of its nodes.
        let links = [
            (0, from, 1),
            (4, from, 4),
            (0, 1, 1),
            (1, 2, 1),
            (2, 3, 1),
            (3, to, 1),
            (2, 4, 5),
            (1, 5, 5),
            (5, to, 5),
        ];
        let links = links.map(|(a, b, weight)| (a, b, weight * 1_000));
        let plan = plan(&links);
        let mut graph = Graph::new(&plan, Metric::Delay, Overlap::Either);
        for change in plan.changes().iter().filter(|change| change.begins) {
            graph.begin(change.contact, Instant::START);
        }
        graph.prepare();
        let (shorter, longer) = pair(&graph, ContactNodeId(from), ContactNodeId(to)).unwrap();
        assert_eq!(shorter.nodes, [from, 4, 2, 3, to].map(ContactNodeId).to_vec());
        assert_eq!(longer.nodes, [from, 0, 1, 5, to].map(ContactNodeId).to_vec());
    }

    proptest! {
        #[test]
        fn the_pair_is_the_best_there_is(
            core in prop::collection::btree_map((0..SATELLITES, 0..SATELLITES), 1..40_u32, 0..18),
            access in prop::collection::btree_map((0..SATELLITES, SATELLITES..SATELLITES + 2), 1..40_u32, 1..8),
        ) {
            let core = core.into_iter().filter(|((a, b), _)| a < b);
            let links: Vec<(u32, u32, u32)> =
                core.chain(access).map(|((a, b), weight)| (a, b, weight * 1_000)).collect();
            let (from, to) = (SATELLITES, SATELLITES + 1);
            let plan = plan(&links);
            let mut graph = Graph::new(&plan, Metric::Delay, Overlap::Either);
            for change in plan.changes().iter().filter(|change| change.begins) {
                graph.begin(change.contact, Instant::START);
            }
            graph.prepare();
            let all = paths(&links, from, to, &[]);
            let mut best = None;
            for (index, a) in all.iter().enumerate() {
                for b in &all[..index] {
                    if a.1.iter().all(|node| !b.1.contains(node)) {
                        best = Some(best.map_or(a.0 + b.0, |best: u64| best.min(a.0 + b.0)));
                    }
                }
            }
            // Of the nodes of the shortest path as few as can be, and then the shortest.
            let inner_of = |path: &Path| path.nodes[1..path.nodes.len() - 1].to_vec();
            let beside = |avoided: &[ContactNodeId]| {
                least_shared(&graph, ContactNodeId(from), ContactNodeId(to), &|_, _| true, avoided)
            };
            if let Some(first) = beside(&[]) {
                let avoided = inner_of(&first);
                let shared = |inner: &[ContactNodeId]| inner.iter().filter(|node| avoided.contains(node)).count();
                let of = |(length, inner): &(u64, Vec<u32>)| {
                    (shared(&inner.iter().copied().map(ContactNodeId).collect::<Vec<_>>()), *length)
                };
                let second = beside(&avoided).expect("the first, if no other");
                let found = (shared(&inner_of(&second)), length(&links, &second));
                prop_assert_eq!(Some(found), all.iter().map(of).min());
                prop_assert_eq!(Some(length(&links, &first)), all.iter().map(|(length, _)| *length).min());
            }
            let found = pair(&graph, ContactNodeId(from), ContactNodeId(to));
            prop_assert_eq!(found.is_some(), best.is_some());
            if let (Some((shorter, longer)), Some(best)) = (found, best) {
                prop_assert_eq!(length(&links, &shorter) + length(&links, &longer), best);
                prop_assert!(length(&links, &shorter) <= length(&links, &longer));
                let inner = |path: &Path| path.nodes[1..path.nodes.len() - 1].to_vec();
                prop_assert!(inner(&shorter).iter().all(|node| !inner(&longer).contains(node)));
            }
        }
    }
}
