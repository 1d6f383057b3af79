//! `signalling_discards`: every message that went no further, by the point, the layer and the reason.

use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::{Side, SignallingLinkId, SignallingNetwork};
use slantpath_ss7::mtp3::node::DiscardReason;

use crate::columns::{Count, Text, columns};
use crate::output::TableKind;
use crate::scenario::Scenario;

columns! {
    /// Columns of `signalling_discards`.
    pub(super) struct Columns {
        /// Name of the signalling point.
        point: Text,
        /// Layer that discarded them: `user`, `screening`, `processor`, `sccp`, `mtp3`, or that of the link.
        layer: Text,
        /// Name of the signalling link, if a link discarded them.
        link: Text,
        /// Reason for which they went no further; of `screening` the rule or the rate.
        reason: Text,
        /// Messages that were discarded for it.
        messages: Count,
    }
}

/// One row for each reason that occurred.
pub(super) fn table(scenario: &Scenario, network: &SignallingNetwork) -> Table {
    let mut columns = Columns::new();
    let mut push = |point: &str, layer: &str, link: Option<&str>, reason: &str, count: u64| {
        if count > 0 {
            columns.point.push(point);
            columns.layer.push(layer);
            columns.link.push_optional(link);
            columns.reason.push(reason);
            columns.messages.push(count);
        }
    };
    for (id, point) in with_mtp3(&scenario.signalling) {
        push(point, "user", None, "of-no-load", network.messages_of_no_load_at(id));
        for (rule, counts) in network.screening_counts(id) {
            push(point, "screening", None, rule, counts.refused);
        }
        if let Some(counters) = network.processor_counters(id) {
            push(point, "processor", None, "queue-full", counters.queue_full);
        }
        if let Some(counters) = network.sccp_counters(id) {
            for (discard, count) in &counters.discarded {
                push(point, "sccp", None, &discard.name(), *count);
            }
        }
        for reason in DiscardReason::ALL {
            push(point, "mtp3", None, reason.name(), network.mtp3_counters(id).discarded(reason));
        }
    }
    for (number, (link, table)) in scenario.signalling.links.iter().enumerate() {
        for (side, point) in Side::BOTH.into_iter().zip([&table.between.0, &table.between.1]) {
            let (layer, reasons) = network.link_discards(SignallingLinkId(number), side);
            for (reason, count) in reasons {
                push(point, layer, Some(link), reason, count);
            }
        }
    }
    columns.finish(TableKind::SignallingDiscards)
}
