//! `timelines`: what happened to the paths of each flow that is watched, step by step.

use slantpath_base::Duration;
use slantpath_host::timeline::PathEvent;
use slantpath_results::{Table, TextColumn, TypedColumn};

use super::path_name;
use crate::output::TableKind;

/// The table without rows.
pub(crate) fn header() -> Table {
    rows("", &[], &[])
}

/// Rows of one flow.
pub(crate) fn rows(flow: &str, paths: &[Option<String>], steps: &[PathEvent]) -> Table {
    let [mut flow_name, mut path, mut event] = ["flow", "path", "event"].map(TextColumn::new);
    let [mut at, mut rto] = ["at_s", "rto_s"].map(TypedColumn::<f64>::new);
    let [mut outstanding, mut message] = ["outstanding_bytes", "message"].map(TypedColumn::<u64>::new);
    for step in steps {
        flow_name.push(flow);
        at.push_instant(step.at);
        path.push_optional(path_name(paths, step.path));
        event.push(step.kind.name());
        rto.push_optional(step.kind.rto().map(Duration::as_secs_f64));
        outstanding.push_optional(step.kind.outstanding_bytes());
        message.push_optional(step.kind.message().map(u64::from));
    }
    let columns = [
        flow_name.into(),
        at.into(),
        path.into(),
        event.into(),
        rto.into(),
        outstanding.into(),
        message.into(),
    ];
    TableKind::Timelines.table(columns)
}
