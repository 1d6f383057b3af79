//! `flow_intervals`, `link_intervals`, `shared_downlink_intervals`, `signalling_link_intervals` and
//! `association_intervals`: what happened in each interval of a run.

use slantpath_base::Instant;
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use crate::output::TableKind;

/// The columns of one of them: names, then `start_s` and `end_s`, counts and measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) kind: TableKind,
    names: &'static [&'static str],
    counts: &'static [&'static str],
    measures: &'static [&'static str],
}

pub(crate) const FLOWS: Layout = Layout {
    kind: TableKind::FlowIntervals,
    names: &["flow"],
    counts: &[
        "messages_sent",
        "messages_delivered",
        "sent_bytes",
        "delivered_bytes",
        "retransmissions",
        "cwnd_bytes",
        "outstanding_bytes",
    ],
    measures: &["throughput_bit_per_s", "delay_mean_s", "delay_max_s", "srtt_s"],
};

pub(crate) const LINKS: Layout = Layout {
    kind: TableKind::LinkIntervals,
    names: &["link", "direction"],
    counts: &[
        "offered_packets",
        "offered_bytes",
        "carried_packets",
        "carried_bytes",
        "dropped_packets",
        "queue_max_packets",
        "marked_packets",
    ],
    measures: &["throughput_bit_per_s", "utilisation_ratio", "queue_mean_packets", "wait_mean_s"],
};

pub(crate) const SHARED_DOWNLINKS: Layout = Layout {
    kind: TableKind::SharedDownlinkIntervals,
    names: &["satellite", "access"],
    counts: &[
        "offered_packets",
        "offered_bytes",
        "dropped_packets",
        "handed_over_packets",
        "queue_max_packets",
        "marked_packets",
    ],
    measures: &["utilisation_ratio", "queue_mean_packets", "wait_mean_s"],
};

pub(crate) const SIGNALLING_LINKS: Layout = Layout {
    kind: TableKind::SignallingLinkIntervals,
    names: &["link", "point"],
    counts: &[
        "given_messages",
        "refused_messages",
        "sent_messages",
        "repeated_messages",
        "received_messages",
        "discarded_messages",
        "sent_bytes",
        "received_bytes",
        "queued_messages",
        "acknowledged_messages",
    ],
    measures: &["throughput_bit_per_s", "acknowledgement_delay_mean_s"],
};

pub(crate) const ASSOCIATIONS: Layout = Layout {
    kind: TableKind::AssociationIntervals,
    names: &["association", "host"],
    counts: &[
        "sent_messages",
        "received_messages",
        "discarded_messages",
        "sent_bytes",
        "received_bytes",
        "queued_messages",
        "times_lost",
        "retransmissions",
        "cwnd_bytes",
        "outstanding_bytes",
        "acknowledged_messages",
    ],
    measures: &["throughput_bit_per_s", "srtt_s", "acknowledgement_delay_mean_s"],
};

/// Rows of one interval, or of several.
pub(crate) struct Rows {
    kind: TableKind,
    names: Vec<TextColumn>,
    span: [TypedColumn<f64>; 2],
    counts: Vec<TypedColumn<u64>>,
    measures: Vec<TypedColumn<f64>>,
}

impl Layout {
    /// The table without rows.
    pub(crate) fn header(self) -> Table {
        self.rows().finish()
    }

    pub(crate) fn rows(self) -> Rows {
        Rows {
            kind: self.kind,
            names: self.names.iter().map(|name| TextColumn::new(*name)).collect(),
            span: ["start_s", "end_s"].map(TypedColumn::new),
            counts: self.counts.iter().map(|name| TypedColumn::new(*name)).collect(),
            measures: self.measures.iter().map(|name| TypedColumn::new(*name)).collect(),
        }
    }
}

impl Rows {
    pub(crate) fn push<const NAMES: usize, const COUNTS: usize, const MEASURES: usize>(
        &mut self,
        names: [&str; NAMES],
        span: (Instant, Instant),
        counts: [Option<u64>; COUNTS],
        measures: [Option<f64>; MEASURES],
    ) {
        self.names.iter_mut().zip(names).for_each(|(column, name)| column.push(name));
        self.span[0].push_instant(span.0);
        self.span[1].push_instant(span.1);
        self.counts.iter_mut().zip(counts).for_each(|(column, count)| column.push_optional(count));
        self.measures.iter_mut().zip(measures).for_each(|(column, measure)| column.push_optional(measure));
    }

    /// # Panics
    /// If a row had other cells than the table has columns.
    pub(crate) fn finish(self) -> Table {
        let mut columns: Vec<Column> = self.names.into_iter().map(Column::from).collect();
        columns.extend(self.span.map(Column::from));
        columns.extend(self.counts.into_iter().map(Column::from));
        columns.extend(self.measures.into_iter().map(Column::from));
        self.kind.table(columns)
    }
}
