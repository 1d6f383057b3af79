//! Buffers of the kernel's TCP at attached nodes, and the ways that they have to fill.

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::Routes;
use slantpath_reader::{Fault, Faults, Setting};
use slantpath_scenario::network::Built;
use slantpath_scenario::schema::{self, File, KERNEL_BUFFER, NodeKind};

use crate::path::{path, round_trip, slowest};

/// Most that Linux keeps of a connection unless it is told otherwise: of what has come, and of what is sent.
const DEFAULTS: [DataSize; 2] = [DataSize::from_bytes(6 << 20), DataSize::from_bytes(4 << 20)];
/// Rate that stands for none: more than a machine carries.
const UNLIMITED: DataRate = DataRate::from_bits_per_sec(10_000_000_000);

/// A way, by what it holds.
struct Filled<'a> {
    bytes: u128,
    link: &'a str,
    rate: DataRate,
    round_trip: Duration,
    to: &'a str,
}

/// Warns of ways of attached nodes that hold more than a connection may have under way.
pub(crate) fn check(file: &File, built: &Built, routes: &mut Routes, faults: &mut Faults) {
    // What exists has settings of its own, which nobody knows here.
    let is_made = |node: &schema::Node| {
        *node.kind == NodeKind::Attached && node.namespace.is_none() && node.device.is_none()
    };
    for (name, node) in file.nodes.iter().filter(|(_, node)| is_made(node)) {
        let Some(most) = longest_way(file, built, routes, name) else { continue };
        let given = [("tcp_rmem", &node.tcp_rmem), ("tcp_wmem", &node.tcp_wmem)];
        for ((key, size), default) in given.into_iter().zip(DEFAULTS) {
            let buffer = size.as_ref().map_or(default, |size| **size);
            if most.bytes <= u128::from(buffer.as_bytes()) {
                continue;
            }
            let (held, Filled { link, rate, round_trip, to, .. }) = (most.bytes as f64 / 1e6, &most);
            let has = if size.is_some() { "keeps" } else { "of Linux keeps" };
            let message = format!(
                "the way from `{name}` to `{to}` holds {held:.1} MB ({rate} of link `{link}` times {round_trip}), and \
                 `{key}` {has} {buffer} of a connection: one alone does not fill it"
            );
            let help = if buffer < KERNEL_BUFFER.most {
                format!("write `{key} = \"{} MiB\"` in `[nodes.{name}]`", mebibytes(most.bytes))
            } else {
                format!("let several connections share it: {}", KERNEL_BUFFER.why)
            };
            let place = size.as_ref().map_or(node.place(), Setting::place);
            faults.warn(place, Fault::new(message).help(help));
        }
    }
}

/// Twice what a way holds, which leaves room for what the kernel counts beside the data; no more than may be written.
fn mebibytes(bytes: u128) -> u128 {
    (2 * bytes).min(KERNEL_BUFFER.most.as_bytes().into()).div_ceil(1 << 20)
}

/// The way from a node to another at which something ends that holds the most.
fn longest_way<'a>(file: &'a File, built: &'a Built, routes: &mut Routes, name: &str) -> Option<Filled<'a>> {
    let graph = &built.graph;
    let from = built.nodes[name];
    let others = file.nodes.iter().filter(|(other, node)| *other != name && node.kind.ends_flows());
    let mut ways = Vec::new();
    for (to, _) in others {
        let node = built.nodes[to];
        for address in graph.interfaces(node).iter().flat_map(|own| graph.addresses(*own)) {
            let Some(way) = path(graph, routes, from, node, *address) else { continue };
            let Some((link, rate)) = slowest(built, &way) else { continue };
            let round_trip = round_trip(graph, &way);
            let bits = u128::from(rate.as_bits_per_sec()) * u128::from(round_trip.as_nanos());
            ways.push(Filled { bytes: bits / 8_000_000_000, link, rate, round_trip, to });
        }
    }
    ways.into_iter().filter(|way| way.rate < UNLIMITED).max_by_key(|way| way.bytes)
}
