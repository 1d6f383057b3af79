//! `sccp`: what SCCP of each point that has one has counted.

use std::collections::BTreeMap;

use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::SignallingNetwork;
use slantpath_ss7::sccp::{self, MESSAGE_TYPES, ReturnCause};

use crate::columns::{Count, Family, Text, columns, family, push_each};
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

columns! {
    /// Columns of `sccp`.
    pub(super) struct Columns {
        /// Name of the signalling point.
        point: Text,
        /// Messages that SCCP received.
        received_messages: Count,
        /// Messages that it sent.
        sent_messages: Count,
        /// Messages that it delivered to subsystems.
        delivered_messages: Count,
        /// Messages that it relayed to another point.
        relayed_messages: Count,
        /// Messages that it returned to their sender, for whatever cause.
        returned_messages: Count,
        /// Connections that it refused.
        refused_connections: Count,
        /// Messages that it discarded.
        discarded_messages: Count,
        /// Messages whose global title it translated.
        translated_messages: Count,
        /// Messages whose title it could not translate, or not reach, for whatever cause.
        untranslated_messages: Count,
        /// Messages whose hop counter was used up.
        hop_counter_violations: Count,
        /// Messages that it segmented.
        segmented_messages: Count,
        /// Segments that it sent.
        sent_segments: Count,
        /// Segments that it received.
        received_segments: Count,
        /// Messages that it reassembled.
        reassembled_messages: Count,
        /// Reassemblies that failed.
        failed_reassemblies: Count,
        /// Releases of connections that were not confirmed.
        unconfirmed_releases: Count,
        /// Messages by type, sent and received.
        types: Vec<Count> = both(&MESSAGE_TYPES),
        /// Messages of management by their names, sent and received.
        management: Vec<Count> = both(&MANAGEMENT),
        /// Messages whose title was not translated, or not reached, by cause.
        untranslated: Vec<Count> = family(UNTRANSLATED, |cause| {
            (format!("untranslated_{}_messages", cause.name("_")), format!("Untranslated: {}.", cause.name(" ")))
        }),
        /// Returned messages by cause.
        returned: Vec<Count> = family(causes(), |cause| {
            (format!("returned_{}_messages", cause.name("_")), format!("Returned: {}.", cause.name(" ")))
        }),
    }
}

/// Messages of these names, sent and received.
fn both(messages: &[&str]) -> Family {
    let ways = |message: &&str| {
        ["sent", "received"].map(|way| {
            (
                format!("{way}_{}_messages", message.to_lowercase()),
                format!("{message} messages that were {way}."),
            )
        })
    };
    messages.iter().flat_map(ways).collect()
}

fn causes() -> impl Iterator<Item = ReturnCause> {
    ReturnCause::ALL.iter().map(|(cause, _)| *cause)
}

/// One row for each point with SCCP.
pub(super) fn table(scenario: &Scenario, network: &SignallingNetwork) -> Table {
    let mut columns = Columns::new();
    for (id, name) in with_mtp3(&scenario.signalling) {
        if let Some(counters) = network.sccp_counters(id) {
            columns.point.push(name);
            columns.push(counters);
        }
    }
    columns.finish(TableKind::Sccp)
}

impl Columns {
    fn push(&mut self, counters: &sccp::Counters) {
        let sum = |counts: &BTreeMap<ReturnCause, u64>| counts.values().sum::<u64>();
        self.received_messages.push(counters.received);
        self.sent_messages.push(counters.sent);
        self.delivered_messages.push(counters.delivered);
        self.relayed_messages.push(counters.relayed);
        self.returned_messages.push(sum(&counters.returned));
        self.refused_connections.push(counters.refused.values().sum());
        self.discarded_messages.push(counters.discards());
        self.translated_messages.push(counters.translated);
        self.untranslated_messages.push(sum(&counters.untranslated));
        self.hop_counter_violations.push(counters.hop_counter_violations);
        self.segmented_messages.push(counters.segmented);
        self.sent_segments.push(counters.segments_sent);
        self.received_segments.push(counters.segments_received);
        self.reassembled_messages.push(counters.reassembled);
        self.failed_reassemblies.push(sum(&counters.reassembly_failures));
        self.unconfirmed_releases.push(counters.unconfirmed_releases);
        let types = counters.sent_types.iter().zip(counters.received_types.iter());
        push_each(&mut self.types, types.flat_map(|((_, sent), (_, received))| [Some(sent), Some(received)]));
        let ways = [&counters.management_sent, &counters.management_received];
        let of = |message: &str| ways.map(|way| Some(way.get(message).copied().unwrap_or_default()));
        push_each(&mut self.management, MANAGEMENT.into_iter().flat_map(of));
        let count = |counts: &BTreeMap<ReturnCause, u64>, cause| {
            Some(counts.get(&cause).copied().unwrap_or_default())
        };
        push_each(&mut self.untranslated, UNTRANSLATED.map(|cause| count(&counters.untranslated, cause)));
        push_each(&mut self.returned, causes().map(|cause| count(&counters.returned, cause)));
    }
}
