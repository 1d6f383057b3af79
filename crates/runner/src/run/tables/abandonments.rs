//! `abandonments`: messages that were given up, by stream and policy.

use std::collections::BTreeMap;

use slantpath_applications::record::SenderReport;
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, RunNetwork, reliabilities};
use slantpath_sctp::{Reliability, ReliabilityPolicy};

use super::{AtWarmUp, sender_report};
use crate::columns::{Count, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `abandonments`.
    pub(super) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Number of the stream.
        stream: Count,
        /// Policy by which messages may be given up: `lifetime`, `max_retransmissions` or `priority`.
        policy: Text,
        /// Messages that were given up before any part of them was sent, after the warm-up.
        unsent_messages: Count,
        /// Messages that were given up after a part of them was sent, after the warm-up.
        sent_messages: Count,
    }
}

/// Unsent messages, and those of which a part had been sent, by stream and policy.
pub(super) type Counts = BTreeMap<(u16, ReliabilityPolicy), [u64; 2]>;

pub(super) fn counts(sender: &SenderReport) -> Counts {
    sender.abandoned_by_stream().collect()
}

/// A row for each stream and policy by which messages may be given up, so that runs have the same rows. `None` if no
/// flow gives messages up.
pub(in crate::run) fn table(
    network: &RunNetwork<'_>,
    flows: &[PlannedFlow],
    at_warm_up: &AtWarmUp,
) -> Option<Table> {
    let mut columns = Columns::new();
    for (place, planned) in flows.iter().enumerate() {
        let before = at_warm_up.abandoned(place);
        let mut rows: Counts = reliabilities(&planned.flow)
            .filter_map(|(stream, reliability)| Some(((stream, policy_of(reliability)?), [0; 2])))
            .collect();
        rows.extend(counts(sender_report(network, planned)));
        for (key, [now_unsent, now_sent]) in rows {
            let [unsent_before, sent_before] = before.get(&key).copied().unwrap_or_default();
            columns.flow.push(&planned.name);
            columns.stream.push(key.0.into());
            columns.policy.push(name(key.1));
            columns.unsent_messages.push(now_unsent - unsent_before);
            columns.sent_messages.push(now_sent - sent_before);
        }
    }
    (!columns.stream.is_empty()).then(|| columns.finish(TableKind::Abandonments))
}

const fn policy_of(reliability: Reliability) -> Option<ReliabilityPolicy> {
    match reliability {
        Reliability::Full => None,
        Reliability::Lifetime(_) => Some(ReliabilityPolicy::Lifetime),
        Reliability::Retransmissions(_) => Some(ReliabilityPolicy::Retransmissions),
        Reliability::Priority(_) => Some(ReliabilityPolicy::Priority),
    }
}

/// As the key of a flow that asks for it.
const fn name(policy: ReliabilityPolicy) -> &'static str {
    match policy {
        ReliabilityPolicy::Lifetime => "lifetime",
        ReliabilityPolicy::Retransmissions => "max_retransmissions",
        ReliabilityPolicy::Priority => "priority",
    }
}
