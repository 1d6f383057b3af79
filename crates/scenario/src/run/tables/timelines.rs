//! `timelines`: what happened to the paths of each flow that is watched, step by step.

use slantpath_base::Duration;
use slantpath_host::Host;
use slantpath_net::Network;
use slantpath_results::{Table, TextColumn, TypedColumn};

use super::{path_name, sender_report};
use crate::flow::build::PlannedFlow;
use crate::network::PlannedLink;
use crate::output::TableKind;

pub(super) fn table(network: &Network<Host>, links: &[PlannedLink], flows: &[PlannedFlow]) -> Table {
    let [mut flow_name, mut path, mut event] = ["flow", "path", "event"].map(TextColumn::new);
    let [mut at, mut rto] = ["at_s", "rto_s"].map(TypedColumn::<f64>::new);
    let [mut outstanding, mut message] = ["outstanding_bytes", "message"].map(TypedColumn::<u64>::new);
    for flow in flows {
        let report = sender_report(network, flow);
        for step in &report.timeline {
            flow_name.push(&flow.name);
            at.push_instant(step.at);
            path.push_optional(path_name(links, report, step.path));
            event.push(step.kind.name());
            rto.push_optional(step.kind.rto().map(Duration::as_secs_f64));
            outstanding.push_optional(step.kind.outstanding_bytes());
            message.push_optional(step.kind.message().map(u64::from));
        }
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
