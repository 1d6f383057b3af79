//! `flows`: one row for each flow.

use slantpath_applications::record::{ReceiverReport, SenderReport};
use slantpath_base::{Duration, Instant};
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, RunNetwork};
use slantpath_scenario::schema::{self, Transport};

use super::{AtWarmUp, FlowCounts, FlowSums, receiver_report, sender_report};
use crate::columns::{Count, Number, Text, columns, push_each};
use crate::output::TableKind;
use crate::run::failover_sums::FailoverSums;
use crate::run::parts;
use crate::run::recorder::DelaySummary;
use crate::scenario::Scenario;

/// Counts are those after the warm-up; delays are those of messages that were sent after it.
pub(super) fn table(
    scenario: &Scenario,
    network: &RunNetwork<'_>,
    flows: &[PlannedFlow],
    at_warm_up: &AtWarmUp,
    sums: &[FlowSums],
) -> Table {
    let warm_up = *scenario.scenario.warm_up;
    let end = network.now();
    let mut columns = Columns::new();
    for (place, (flow, (delays, failovers))) in flows.iter().zip(sums).enumerate() {
        let (sender, receiver) = (sender_report(network, flow), receiver_report(network, flow));
        columns.push_identity(flow);
        let counts = (at_warm_up.flow(place), FlowCounts::of(sender, receiver));
        columns.push_counts(counts, counts_messages(flow));
        let begin = Instant::START + warm_up.max(*flow.flow.start);
        let bytes = receiver.bytes_delivered - at_warm_up.flow(place).bytes_delivered;
        columns.push_throughput(bytes, begin, finish(flow, sender, receiver, end));
        columns.push_delays(delays);
        let last = receiver.last_delivery.unwrap_or(begin);
        let gap = finish(flow, sender, receiver, end).saturating_since(last.max(begin)).max(receiver.gap_max);
        columns.push_gaps(gap, *failovers);
        columns.push_state(sender, !flow.flow.transport.is_of_datagrams());
    }
    columns.finish(TableKind::Flows)
}

/// The instant at which a flow was finished: its end, or the last delivery if that is later, where all that was sent
/// was delivered or given up. Of datagrams nothing is on its way for long. Another one goes on, or would, until the
/// run ends.
fn finish(flow: &PlannedFlow, sender: &SenderReport, receiver: &ReceiverReport, end: Instant) -> Instant {
    let done_with = receiver.messages_delivered + sender.messages_abandoned();
    let is_all = flow.flow.transport.is_of_datagrams()
        || receiver.bytes_delivered >= sender.bytes_sent
        || done_with >= sender.messages_sent && done_with > 0;
    let ended = sender.ended.or(flow.flow.end.map(|end| Instant::START + *end));
    match ended.filter(|_| is_all && sender.failure.is_none()) {
        Some(ended) => receiver.last_delivery.unwrap_or(end).max(ended).min(end),
        None => end,
    }
}

/// Tells whether a receiver can tell messages apart: a stream of bytes without their numbers has no bounds.
pub(crate) fn counts_messages(flow: &PlannedFlow) -> bool {
    *flow.flow.transport != Transport::Tcp || *flow.flow.content == schema::Content::Stamped
}

columns! {
    /// Columns of `flows`.
    pub(super) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Transport: `sctp`, `tcp`, `udp` or `icmp`.
        transport: Text,
        /// Node that sends.
        from: Text,
        /// Node that receives.
        to: Text,
        /// Messages that the application sent after the warm-up.
        messages_sent: Count,
        /// Messages that were delivered after the warm-up. Missing of a TCP flow whose content has no bounds of
        /// messages (`content = "pattern"`).
        messages_delivered: Count,
        /// Messages that were delivered with other bytes than those that were sent, after the warm-up.
        messages_corrupt: Count,
        /// Messages that were delivered behind a later one, after the warm-up; of datagrams copies, too.
        messages_out_of_order: Count,
        /// Messages that the sender gave up by a policy, after the warm-up.
        messages_abandoned: Count,
        /// Bytes of messages that the application sent after the warm-up.
        sent_bytes: Count,
        /// Bytes of messages that were delivered after the warm-up.
        delivered_bytes: Count,
        /// Delivered bits over the time from the start of the flow, or the end of the warm-up, to its
        /// [finish](#how-fast-a-flow-was).
        throughput_bit_per_s: Number,
        /// Mean delay of messages that were sent after the warm-up.
        delay_mean_s: Number,
        /// Median of the same delays.
        delay_median_s: Number,
        /// Delay that 99 % of them do not exceed.
        delay_p99_s: Number,
        /// Longest of them.
        delay_max_s: Number,
        /// Standard deviation of them.
        delay_deviation_s: Number,
        /// Mean delay of messages of which something was retransmitted. Missing without records of messages.
        retransmitted_delay_mean_s: Number,
        /// Messages of which something was retransmitted, delivered or not. Missing without records of messages.
        messages_retransmitted: Count,
        /// Messages sent after the warm-up that were not delivered within `probes.deadline`. One whose time is not over
        /// when the run ends does not count. Missing without a deadline, and of messages without stamps.
        messages_late: Count,
        /// Longest time without a new message at the receiver: between two deliveries, or from the last one to the
        /// [finish](#how-fast-a-flow-was) of the flow. From its start, if nothing was delivered.
        gap_max_s: Number,
        /// Failovers after the warm-up of a path that carried nothing. Missing of a flow with one path.
        failovers: Count,
        /// Failovers after the warm-up of a path that carried packets: its answers were late or lost.
        spurious_failovers: Count,
        /// Longest [failover time](#how-long-a-failover-takes).
        failover_max_s: Number,
        /// Time at which the association or connection was established. Missing of datagrams.
        connected_s: Number,
        /// Time at which the sender's end was closed, in order or not.
        ended_s: Number,
        /// Reason for which the flow failed, if it did.
        failure: Text,
        /// Means of the parts of which delays consist.
        parts: Vec<Number> = parts::family("_mean_s"),
    }
}

impl Columns {
    fn push_identity(&mut self, flow: &PlannedFlow) {
        self.flow.push(&flow.name);
        self.transport.push(flow.flow.transport.as_str());
        self.from.push(&flow.flow.from);
        self.to.push(&flow.flow.to);
    }

    fn push_counts(&mut self, (before, now): (FlowCounts, FlowCounts), counts_messages: bool) {
        let delivered = counts_messages.then(|| now.messages_delivered - before.messages_delivered);
        self.messages_sent.push(now.messages_sent - before.messages_sent);
        self.messages_delivered.push_optional(delivered);
        self.messages_corrupt.push(now.messages_corrupt - before.messages_corrupt);
        self.messages_out_of_order.push(now.messages_out_of_order - before.messages_out_of_order);
        self.messages_abandoned.push(now.messages_abandoned - before.messages_abandoned);
        self.sent_bytes.push(now.bytes_sent - before.bytes_sent);
        self.delivered_bytes.push(now.bytes_delivered - before.bytes_delivered);
    }

    /// From the start of the flow, or the end of the warm-up, until it was [finished](finish).
    fn push_throughput(&mut self, bytes: u64, begin: Instant, finish: Instant) {
        let time = finish.saturating_since(begin);
        let per_second = (time > Duration::ZERO).then(|| 8.0 * bytes as f64 / time.as_secs_f64());
        self.throughput_bit_per_s.push_optional(per_second);
    }

    fn push_delays(&mut self, delays: &DelaySummary) {
        self.delay_mean_s.push_optional(delays.mean);
        self.delay_median_s.push_optional(delays.median);
        self.delay_p99_s.push_optional(delays.p99);
        self.delay_max_s.push_optional(delays.max);
        self.delay_deviation_s.push_optional(delays.deviation);
        self.retransmitted_delay_mean_s.push_optional(delays.retransmitted_mean);
        self.messages_retransmitted.push_optional(delays.retransmitted);
        self.messages_late.push_optional(delays.late);
        push_each(&mut self.parts, delays.parts);
    }

    fn push_gaps(&mut self, gap: Duration, failovers: Option<FailoverSums>) {
        self.gap_max_s.push(gap.as_secs_f64());
        self.failovers.push_optional(failovers.map(|sums| sums.real));
        self.spurious_failovers.push_optional(failovers.map(|sums| sums.spurious));
        let longest = failovers.and_then(|sums| sums.longest);
        self.failover_max_s.push_optional(longest.map(Duration::as_secs_f64));
    }

    fn push_state(&mut self, sender: &SenderReport, has_connection: bool) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        self.connected_s.push_optional(sender.connected.filter(|_| has_connection).map(seconds));
        self.ended_s.push_optional(sender.ended.map(seconds));
        self.failure.push_optional(sender.failure.as_deref());
    }
}

#[cfg(test)]
mod tests {
    use slantpath_results::{CellValue, Column};

    use super::*;

    #[test]
    fn every_count_is_of_what_was_after_the_warm_up() {
        let mut receiver = ReceiverReport::default();
        receiver.messages_delivered = 40;
        receiver.bytes_delivered = 4_000;
        receiver.messages_corrupt = 7;
        receiver.messages_out_of_order = 9;
        let before = FlowCounts::of(&SenderReport::default(), &receiver);
        receiver.messages_delivered += 5;
        receiver.bytes_delivered += 500;
        receiver.messages_corrupt += 2;
        receiver.messages_out_of_order += 3;
        let mut sender = SenderReport::default();
        sender.messages_sent = 6;
        sender.bytes_sent = 600;
        let now = FlowCounts::of(&sender, &receiver);
        let mut columns = Columns::new();
        columns.push_counts((before, now), true);
        let counts = [
            columns.messages_sent,
            columns.messages_delivered,
            columns.messages_corrupt,
            columns.messages_out_of_order,
            columns.messages_abandoned,
            columns.sent_bytes,
            columns.delivered_bytes,
        ];
        let counts = counts.map(Column::from);
        let counts = counts.each_ref().map(|column| column.at(0));
        assert_eq!(counts, [6, 5, 2, 3, 0, 600, 500].map(CellValue::U64));
    }
}
