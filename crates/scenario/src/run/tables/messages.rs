//! `messages`: every message of every flow that is recorded.

use slantpath_base::Instant;
use slantpath_host::Host;
use slantpath_host::record::{ReceiverReport, SenderReport};
use slantpath_net::Network;
use slantpath_results::{Table, TextColumn, TypedColumn};

use super::{path_name, receiver_report, sender_report};
use crate::flow::build::PlannedFlow;
use crate::network::PlannedLink;
use crate::output::TableKind;

/// When each message of a flow was delivered, by number. A receiver that counts on its transport to deliver
/// once would hide that it did not: the first delivery stands, and the receiver's own counters tell the rest.
pub(super) fn deliveries(sender: &SenderReport, receiver: &ReceiverReport) -> Vec<Option<Instant>> {
    let mut deliveries = vec![None; sender.messages.len()];
    for message in &receiver.messages {
        if let Some(delivery) = deliveries.get_mut(message.number as usize) {
            delivery.get_or_insert(message.delivered);
        }
    }
    deliveries
}

pub(super) fn table(network: &Network<Host>, links: &[PlannedLink], flows: &[PlannedFlow]) -> Table {
    let mut flow_name = TextColumn::new("flow");
    let mut number = TypedColumn::<u64>::new("number");
    let mut size = TypedColumn::<u64>::new("size_bytes");
    let [mut sent, mut first_transmitted, mut delivered, mut delay, mut retransmitted] =
        ["sent_s", "first_transmitted_s", "delivered_s", "delay_s", "retransmitted_s"]
            .map(TypedColumn::<f64>::new);
    let mut transmissions = TypedColumn::<u64>::new("transmissions");
    let [mut first_path, mut last_path] = ["first_path", "last_path"].map(TextColumn::new);
    for flow in flows {
        let report = sender_report(network, flow);
        let deliveries = deliveries(report, receiver_report(network, flow));
        for (place, (message, delivery)) in report.messages.iter().zip(deliveries).enumerate() {
            flow_name.push(&flow.name);
            number.push(place as u64);
            size.push(message.size.into());
            sent.push_instant(message.sent);
            let seconds = |instant: Instant| instant.since_start().as_secs_f64();
            first_transmitted.push_optional(message.first_transmitted.map(seconds));
            delivered.push_optional(delivery.map(seconds));
            delay.push_optional(delivery.map(|at| at.saturating_since(message.sent).as_secs_f64()));
            retransmitted.push_optional(message.retransmitted.map(seconds));
            let path = |path| message.first_transmitted.and_then(|_| path_name(links, report, path));
            transmissions
                .push(message.first_transmitted.map_or(0, |_| 1 + u64::from(message.retransmissions)));
            first_path.push_optional(path(message.first_path));
            last_path.push_optional(path(message.last_path));
        }
    }
    let columns = [
        flow_name.into(),
        number.into(),
        size.into(),
        sent.into(),
        first_transmitted.into(),
        delivered.into(),
        delay.into(),
        transmissions.into(),
        retransmitted.into(),
        first_path.into(),
        last_path.into(),
    ];
    TableKind::Messages.table(columns)
}
