//! `flows`: one row for each flow.

use slantpath_base::{Duration, Instant};
use slantpath_host::record::{ReceiverReport, SenderReport};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{PlannedFlow, RunNetwork};
use slantpath_scenario::schema::{Content, Transport};

use super::{AtWarmUp, FlowCounts, receiver_report, sender_report};
use crate::output::TableKind;
use crate::run::parts;
use crate::run::recorder::DelaySummary;
use crate::scenario::Scenario;

/// Counts are those after the warm-up; delays are those of messages that were sent after it.
pub(super) fn table(
    scenario: &Scenario,
    network: &RunNetwork<'_>,
    flows: &[PlannedFlow],
    at_warm_up: &AtWarmUp,
    delays: &[DelaySummary],
) -> Table {
    let warm_up = *scenario.scenario.warm_up;
    let end = Instant::START + *scenario.scenario.duration;
    let mut columns = Columns::default();
    for (place, (flow, delays)) in flows.iter().zip(delays).enumerate() {
        let (sender, receiver) = (sender_report(network, flow), receiver_report(network, flow));
        columns.push_identity(flow);
        let counts = (at_warm_up.flow(place), FlowCounts::of(sender, receiver));
        columns.push_counts(counts, counts_messages(flow));
        let begin = Instant::START + warm_up.max(*flow.flow.start);
        let bytes = receiver.bytes_delivered - at_warm_up.flow(place).bytes_delivered;
        columns.push_throughput(bytes, begin, finish(flow, sender, receiver, end));
        columns.push_delays(delays);
        columns.push_state(sender);
    }
    columns.table()
}

/// The instant at which a flow was finished: its end, or the last delivery if that is later, where all that was sent
/// was delivered or given up. Another one goes on, or would, until the run ends.
fn finish(flow: &PlannedFlow, sender: &SenderReport, receiver: &ReceiverReport, end: Instant) -> Instant {
    let done_with = receiver.messages_delivered + sender.messages_abandoned();
    let is_all =
        receiver.bytes_delivered >= sender.bytes_sent || done_with >= sender.messages_sent && done_with > 0;
    let ended = sender.ended.or(flow.flow.end.map(|end| Instant::START + *end));
    match ended.filter(|_| is_all && sender.failure.is_none()) {
        Some(ended) => receiver.last_delivery.unwrap_or(end).max(ended).min(end),
        None => end,
    }
}

/// Tells whether a receiver can tell messages apart: a stream of bytes without their numbers has no bounds.
pub(crate) fn counts_messages(flow: &PlannedFlow) -> bool {
    *flow.flow.transport == Transport::Sctp || *flow.flow.content == Content::Stamped
}

/// The columns, in their order in the table.
struct Columns {
    flow: TextColumn,
    transport: TextColumn,
    from: TextColumn,
    to: TextColumn,
    counts: [TypedColumn<u64>; 7],
    throughput: TypedColumn<f64>,
    delays: [TypedColumn<f64>; 6],
    retransmitted: TypedColumn<u64>,
    parts: [TypedColumn<f64>; parts::COUNT],
    connected: TypedColumn<f64>,
    ended: TypedColumn<f64>,
    failure: TextColumn,
}

impl Default for Columns {
    fn default() -> Self {
        let counts = [
            "messages_sent",
            "messages_delivered",
            "messages_corrupt",
            "messages_out_of_order",
            "messages_abandoned",
            "sent_bytes",
            "delivered_bytes",
        ];
        let delays = [
            "delay_mean_s",
            "delay_median_s",
            "delay_p99_s",
            "delay_max_s",
            "delay_deviation_s",
            "retransmitted_delay_mean_s",
        ];
        Self {
            flow: TextColumn::new("flow"),
            transport: TextColumn::new("transport"),
            from: TextColumn::new("from"),
            to: TextColumn::new("to"),
            counts: counts.map(TypedColumn::new),
            throughput: TypedColumn::new("throughput_bit_per_s"),
            delays: delays.map(TypedColumn::new),
            retransmitted: TypedColumn::new("messages_retransmitted"),
            parts: parts::NAMES.map(|name| TypedColumn::new(format!("{name}_mean_s"))),
            connected: TypedColumn::new("connected_s"),
            ended: TypedColumn::new("ended_s"),
            failure: TextColumn::new("failure"),
        }
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
        let counts = [
            Some(now.messages_sent - before.messages_sent),
            counts_messages.then(|| now.messages_delivered - before.messages_delivered),
            Some(now.messages_corrupt - before.messages_corrupt),
            Some(now.messages_out_of_order - before.messages_out_of_order),
            Some(now.messages_abandoned - before.messages_abandoned),
            Some(now.bytes_sent - before.bytes_sent),
            Some(now.bytes_delivered - before.bytes_delivered),
        ];
        for (column, count) in self.counts.iter_mut().zip(counts) {
            column.push_optional(count);
        }
    }

    /// From the start of the flow, or the end of the warm-up, until it was [finished](finish).
    fn push_throughput(&mut self, bytes: u64, begin: Instant, finish: Instant) {
        let time = finish.saturating_since(begin);
        let per_second = (time > Duration::ZERO).then(|| 8.0 * bytes as f64 / time.as_secs_f64());
        self.throughput.push_optional(per_second);
    }

    fn push_delays(&mut self, delays: &DelaySummary) {
        let cells =
            [delays.mean, delays.median, delays.p99, delays.max, delays.deviation, delays.retransmitted_mean];
        for (column, cell) in self.delays.iter_mut().zip(cells) {
            column.push_optional(cell);
        }
        self.retransmitted.push_optional(delays.retransmitted);
        for (column, cell) in self.parts.iter_mut().zip(delays.parts) {
            column.push_optional(cell);
        }
    }

    fn push_state(&mut self, sender: &SenderReport) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        self.connected.push_optional(sender.connected.map(seconds));
        self.ended.push_optional(sender.ended.map(seconds));
        self.failure.push_optional(sender.failure.as_deref());
    }

    fn table(self) -> Table {
        let mut columns: Vec<Column> =
            vec![self.flow.into(), self.transport.into(), self.from.into(), self.to.into()];
        columns.extend(self.counts.map(Column::from));
        columns.push(self.throughput.into());
        columns.extend(self.delays.map(Column::from));
        columns.push(self.retransmitted.into());
        columns.push(self.connected.into());
        columns.push(self.ended.into());
        columns.push(self.failure.into());
        columns.extend(self.parts.map(Column::from));
        TableKind::Flows.table(columns)
    }
}

#[cfg(test)]
mod tests {
    use slantpath_results::Value;

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
        let mut columns = Columns::default();
        columns.push_counts((before, now), true);
        let counts = columns.counts.map(Column::from);
        let counts = counts.each_ref().map(|column| column.at(0));
        assert_eq!(counts, [6, 5, 2, 3, 0, 600, 500].map(Value::U64));
    }
}
