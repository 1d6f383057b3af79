//! `signalling_screening`: messages by the screening rule or the rate that decided about them.

use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::SignallingNetwork;

use crate::columns::{Count, Text, columns};
use crate::output::TableKind;
use crate::scenario::Scenario;

columns! {
    /// Columns of `signalling_screening`.
    pub(super) struct Columns {
        /// Name of the signalling point.
        point: Text,
        /// Rule or rate: its place in the file.
        rule: Text,
        /// Messages that it fitted, and that no earlier rule had decided about.
        matched_messages: Count,
        /// Messages among these that went no further.
        refused_messages: Count,
        /// Answers of SCCP to these: UDTS, XUDTS, LUDTS and CREF.
        returned_messages: Count,
        /// Transfer controlled messages (TFC) that told their origins.
        sent_tfc_messages: Count,
        /// Indications of congestion (SCON) to application servers.
        sent_scon_messages: Count,
        /// Copies for whoever captures.
        copied_messages: Count,
    }
}

/// One row for each rule and each rate, if there is any.
pub(super) fn table(scenario: &Scenario, network: &SignallingNetwork) -> Option<Table> {
    let signalling = &scenario.signalling;
    if signalling.screening.is_empty() && signalling.rates.is_empty() {
        return None;
    }
    let mut columns = Columns::new();
    for (id, point) in with_mtp3(signalling) {
        for (rule, counts) in network.screening_counts(id) {
            columns.point.push(point);
            columns.rule.push(rule);
            columns.matched_messages.push(counts.matched);
            columns.refused_messages.push(counts.refused);
            columns.returned_messages.push(counts.returned);
            columns.sent_tfc_messages.push(counts.transfer_controlled);
            columns.sent_scon_messages.push(counts.congestion_indicated);
            columns.copied_messages.push(counts.copied);
        }
    }
    Some(columns.finish(TableKind::SignallingScreening))
}
