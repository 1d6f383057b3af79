//! `host_pairs`: the packets that hosts sent to each other, if that is asked for.

use slantpath_base::Duration;
use slantpath_net::Delays;
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::RunNetwork;

use crate::output::TableKind;

const COUNTS: [&str; 4] = ["sent_packets", "sent_bytes", "received_packets", "received_bytes"];
const DELAYS: [&str; 6] = ["mean", "change_mean", "first", "last", "min", "max"];

/// One row for each host and each to which it has sent, counted after the warm-up.
pub(in crate::run) fn table(network: &RunNetwork<'_>) -> Table {
    let (mut from, mut to) = (TextColumn::new("from"), TextColumn::new("to"));
    let mut counts: [TypedColumn<u64>; COUNTS.len()] = COUNTS.map(TypedColumn::new);
    let mut delays: [TypedColumn<f64>; DELAYS.len()] =
        DELAYS.map(|name| TypedColumn::new(format!("delay_{name}_s")));
    for ((sender, receiver), pair) in network.host_pairs() {
        from.push(network.graph().node_name(*sender));
        to.push(network.graph().node_name(*receiver));
        let values = [pair.sent.packets, pair.sent.bytes, pair.received.packets, pair.received.bytes];
        counts.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        delays.iter_mut().zip(seconds(&pair.delays)).for_each(|(column, value)| column.push_optional(value));
    }
    let columns = [Column::from(from), Column::from(to)];
    let counts = counts.into_iter().map(Column::from);
    TableKind::HostPairs.table(columns.into_iter().chain(counts).chain(delays.into_iter().map(Column::from)))
}

fn seconds(delays: &Delays) -> [Option<f64>; DELAYS.len()] {
    let (first, last) = delays.first_and_last().unzip();
    let (least, most) = delays.least_and_most().unzip();
    let [first, last, least, most] = [first, last, least, most].map(|delay| delay.map(Duration::as_secs_f64));
    [delays.mean_s(), delays.change_mean_s(), first, last, least, most]
}
