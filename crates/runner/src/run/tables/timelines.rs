//! `timelines`: what happened to the paths of each flow that is watched, step by step.

use slantpath_applications::timeline::PathEvent;
use slantpath_base::Duration;
use slantpath_results::Table;

use super::path_name;
use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `timelines`.
    pub(super) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Time of the step.
        at_s: Number,
        /// Path, by its link.
        path: Text,
        /// Step that was taken.
        event: Text,
        /// Retransmission timeout of the path, of steps that concern it.
        rto_s: Number,
        /// Bytes outstanding on the path, of steps that concern them.
        outstanding_bytes: Count,
        /// Number of the message, of steps that concern one.
        message: Count,
    }
}

/// Rows of one flow.
pub(crate) fn rows(flow: &str, paths: &[Option<String>], steps: &[PathEvent]) -> Table {
    let mut columns = Columns::new();
    for step in steps {
        columns.flow.push(flow);
        columns.at_s.push_instant(step.at);
        columns.path.push_optional(path_name(paths, step.path));
        columns.event.push(step.kind.name());
        columns.rto_s.push_optional(step.kind.rto().map(Duration::as_secs_f64));
        columns.outstanding_bytes.push_optional(step.kind.outstanding_bytes());
        columns.message.push_optional(step.kind.message().map(u64::from));
    }
    columns.finish(TableKind::Timelines)
}
