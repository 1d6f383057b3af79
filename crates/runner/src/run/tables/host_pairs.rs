//! `host_pairs`: the packets that hosts sent to each other, if that is asked for.

use slantpath_base::Duration;
use slantpath_net::Delays;
use slantpath_results::Table;
use slantpath_scenario::build::RunNetwork;

use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `host_pairs`.
    pub(in crate::run) struct Columns {
        /// Host that sends.
        from: Text,
        /// Host to which it sends.
        to: Text,
        /// Packets that were sent after the warm-up; each fragment counts.
        sent_packets: Count,
        /// Bytes of these packets.
        sent_bytes: Count,
        /// Packets of these that arrived undamaged; a copy that a link made counts, too.
        received_packets: Count,
        /// Bytes of the packets that arrived.
        received_bytes: Count,
        /// Mean one-way delay of the packets that arrived.
        delay_mean_s: Number,
        /// Mean absolute difference between a packet's delay and that of the packet that arrived before it.
        delay_change_mean_s: Number,
        /// Delay of the first packet that arrived.
        delay_first_s: Number,
        /// Delay of the last packet that arrived.
        delay_last_s: Number,
        /// Shortest of the delays.
        delay_min_s: Number,
        /// Longest of the delays.
        delay_max_s: Number,
    }
}

/// One row for each host and each to which it has sent, counted after the warm-up.
pub(in crate::run) fn table(network: &RunNetwork<'_>) -> Table {
    let mut columns = Columns::new();
    for ((sender, receiver), pair) in network.host_pairs() {
        columns.from.push(network.graph().node_name(*sender));
        columns.to.push(network.graph().node_name(*receiver));
        columns.sent_packets.push(pair.sent.packets);
        columns.sent_bytes.push(pair.sent.bytes);
        columns.received_packets.push(pair.received.packets);
        columns.received_bytes.push(pair.received.bytes);
        columns.push_delays(&pair.delays);
    }
    columns.finish(TableKind::HostPairs)
}

impl Columns {
    fn push_delays(&mut self, delays: &Delays) {
        let (first, last) = delays.first_and_last().unzip();
        let (least, most) = delays.least_and_most().unzip();
        let seconds = |delay: Option<Duration>| delay.map(Duration::as_secs_f64);
        self.delay_mean_s.push_optional(delays.mean_s());
        self.delay_change_mean_s.push_optional(delays.change_mean_s());
        self.delay_first_s.push_optional(seconds(first));
        self.delay_last_s.push_optional(seconds(last));
        self.delay_min_s.push_optional(seconds(least));
        self.delay_max_s.push_optional(seconds(most));
    }
}
