//! `hosts`: what became of packets at each host's IP layer.

use slantpath_applications::Host;
use slantpath_host::FragmentDrop;
use slantpath_results::Table;
use slantpath_scenario::build::RunNetwork;

use super::AtWarmUp;
use crate::columns::{Count, Family, Text, columns, push_each};
use crate::output::TableKind;

columns! {
    /// Columns of `hosts`.
    pub(super) struct Columns {
        /// Name of the host.
        host: Text,
        /// Counts of packets and fragments.
        counts: Vec<Count> = counts_declared(),
    }
}

/// Counts of one host, in the order of [`counts_declared`].
pub(super) type HostCounts = [u64; 8 + FragmentDrop::ALL.len()];

/// Packets and fragments that have counts, by their fate.
const FATES: [(&str, &str); 8] = [
    ("dropped_bad_header", "Packets dropped: their IP header was broken."),
    ("dropped_no_port", "Packets dropped: no socket has their port."),
    ("dropped_no_route", "Packets dropped: no interface leads to their destination."),
    ("dropped_not_ours", "Packets dropped: their destination is no address of the host."),
    ("fragments_sent", "Fragments sent, of IPv6 packets. Those of IPv4 packets are counted at the link."),
    ("fragments_received", "Fragments received."),
    ("fragments_used", "Fragments that became part of a packet."),
    ("reassembled", "Packets that were put together of fragments."),
];

fn counts_declared() -> Family {
    let fates = FATES.map(|(name, meaning)| (format!("{name}_packets"), meaning.to_owned()));
    let drops = FragmentDrop::ALL.map(|reason| {
        let name = format!("fragments_{}_packets", reason.name().replace(' ', "_"));
        (name, format!("Fragments dropped: {}.", cause(reason)))
    });
    fates.into_iter().chain(drops).collect()
}

const fn cause(reason: FragmentDrop) -> &'static str {
    match reason {
        FragmentDrop::Duplicate => "they were there already",
        FragmentDrop::Malformed => "their length or offset is impossible",
        FragmentDrop::NoRoom => "their packet had to make room for others",
        FragmentDrop::Overlap => "they overlap or contradict others of their packet",
        FragmentDrop::TimedOut => "the rest of their packet did not come in time",
    }
}

/// Counts of a host since the start of the run.
pub(super) fn counts(host: &Host) -> HostCounts {
    let (drops, fragments) = (host.drops(), host.reassembly());
    let mut counts = HostCounts::default();
    let first = [
        drops.bad_header,
        drops.no_port,
        drops.no_route,
        drops.not_ours,
        host.fragments_sent(),
        fragments.received,
        fragments.used,
        fragments.packets,
    ];
    let dropped = FragmentDrop::ALL.map(|reason| fragments.dropped(reason));
    for (count, value) in counts.iter_mut().zip(first.into_iter().chain(dropped)) {
        *count = value;
    }
    counts
}

/// `hosts`: one row for each, counted after the warm-up.
pub(super) fn table(network: &RunNetwork<'_>, at_warm_up: &AtWarmUp) -> Table {
    let mut columns = Columns::new();
    let nodes = network.graph().hosts();
    for (place, (host, node)) in network.hosts().iter().zip(nodes).enumerate() {
        columns.host.push(network.graph().node_name(*node));
        let since =
            counts(host).into_iter().zip(at_warm_up.host(place)).map(|(now, before)| Some(now - before));
        push_each(&mut columns.counts, since);
    }
    columns.finish(TableKind::Hosts)
}
