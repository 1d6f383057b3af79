//! `sccp`: what SCCP of each point that has one has counted.

use std::collections::BTreeMap;

use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::SignallingNetwork;
use slantpath_ss7::sccp::{Counters, MESSAGE_TYPES, ReturnCause};

use super::rows::Rows;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Messages of management.
const MANAGEMENT: [&str; 6] = ["SSA", "SSP", "SST", "SOR", "SOG", "SSC"];

/// Why a title cannot be translated, or its translation not be reached.
const UNTRANSLATED: [ReturnCause; 8] = [
    ReturnCause::NO_TRANSLATION_FOR_ADDRESS,
    ReturnCause::NO_TRANSLATION_FOR_NATURE,
    ReturnCause::SUBSYSTEM_FAILURE,
    ReturnCause::UNEQUIPPED_USER,
    ReturnCause::MTP_FAILURE,
    ReturnCause::NETWORK_CONGESTION,
    ReturnCause::SCCP_FAILURE,
    ReturnCause::UNQUALIFIED,
];

/// One row for each point with SCCP.
pub(super) fn table(scenario: &Scenario, network: &SignallingNetwork) -> Table {
    let mut rows = Rows::new(TableKind::Sccp, &["point"], &columns(), &[]);
    for (id, name) in with_mtp3(&scenario.signalling) {
        if let Some(counters) = network.sccp_counters(id) {
            rows.push([name], cells(counters), []);
        }
    }
    rows.finish()
}

fn columns() -> Vec<String> {
    let mut columns: Vec<String> = [
        "received_messages",
        "sent_messages",
        "delivered_messages",
        "relayed_messages",
        "returned_messages",
        "refused_connections",
        "discarded_messages",
        "translated_messages",
        "untranslated_messages",
        "hop_counter_violations",
        "segmented_messages",
        "sent_segments",
        "received_segments",
        "reassembled_messages",
        "failed_reassemblies",
        "unconfirmed_releases",
    ]
    .map(str::to_owned)
    .to_vec();
    let both =
        |message: &str| ["sent", "received"].map(|way| format!("{way}_{}_messages", message.to_lowercase()));
    columns.extend(MESSAGE_TYPES.into_iter().flat_map(both));
    columns.extend(MANAGEMENT.into_iter().flat_map(both));
    let untranslated = |cause: ReturnCause| format!("untranslated_{}_messages", cause.name("_"));
    columns.extend(UNTRANSLATED.map(untranslated));
    columns.extend(causes().map(|cause| format!("returned_{}_messages", cause.name("_"))));
    columns
}

fn causes() -> impl Iterator<Item = ReturnCause> {
    ReturnCause::ALL.iter().map(|(cause, _)| *cause)
}

fn cells(counters: &Counters) -> Vec<u64> {
    let sum = |counts: &BTreeMap<ReturnCause, u64>| counts.values().sum::<u64>();
    let mut cells = vec![
        counters.received,
        counters.sent,
        counters.delivered,
        counters.relayed,
        sum(&counters.returned),
        counters.refused.values().sum(),
        counters.discards(),
        counters.translated,
        sum(&counters.untranslated),
        counters.hop_counter_violations,
        counters.segmented,
        counters.segments_sent,
        counters.segments_received,
        counters.reassembled,
        sum(&counters.reassembly_failures),
        counters.unconfirmed_releases,
    ];
    let types = counters.sent_types.iter().zip(counters.received_types.iter());
    cells.extend(types.flat_map(|((_, sent), (_, received))| [sent, received]));
    let ways = [&counters.management_sent, &counters.management_received];
    let of = |message: &str| ways.map(|way| way.get(message).copied().unwrap_or_default());
    cells.extend(MANAGEMENT.into_iter().flat_map(of));
    let count = |counts: &BTreeMap<ReturnCause, u64>, cause| counts.get(&cause).copied().unwrap_or_default();
    cells.extend(UNTRANSLATED.map(|cause| count(&counters.untranslated, cause)));
    cells.extend(causes().map(|cause| count(&counters.returned, cause)));
    cells
}
