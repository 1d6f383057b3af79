//! `hosts`: what became of packets at each host's IP layer.

use slantpath_host::{FragmentDrop, Host};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::RunNetwork;

use super::AtWarmUp;
use crate::output::TableKind;

/// Counts of one host, in the order of [`columns`].
pub(super) type HostCounts = [u64; 8 + FragmentDrop::ALL.len()];

fn columns() -> impl Iterator<Item = String> {
    let dropped = ["bad_header", "no_port", "no_route", "not_ours"];
    let dropped = dropped.map(|reason| format!("dropped_{reason}_packets")).into_iter();
    let fragments = ["sent", "received", "used"].map(|what| format!("fragments_{what}_packets"));
    let of_reason = |reason: FragmentDrop| format!("fragments_{}_packets", reason.name().replace(' ', "_"));
    dropped
        .chain(fragments)
        .chain(["reassembled_packets".to_owned()])
        .chain(FragmentDrop::ALL.into_iter().map(of_reason))
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
    let mut name = TextColumn::new("host");
    let mut columns: Vec<TypedColumn<u64>> = columns().map(TypedColumn::new).collect();
    let nodes = network.graph().hosts();
    for (place, (host, node)) in network.hosts().iter().zip(nodes).enumerate() {
        name.push(network.graph().node_name(*node));
        let before = at_warm_up.host(place);
        for ((column, count), before) in columns.iter_mut().zip(counts(host)).zip(before) {
            column.push(count - before);
        }
    }
    let columns = [Column::from(name)].into_iter().chain(columns.into_iter().map(Column::from));
    TableKind::Hosts.table(columns)
}
