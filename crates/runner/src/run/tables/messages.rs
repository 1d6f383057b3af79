//! `messages`: every message of every flow that is recorded.

use slantpath_base::Instant;
use slantpath_host::record::{DeliveredMessage, SentMessage};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use super::path_name;
use crate::output::TableKind;
use crate::run::parts::{self, Parts};

/// The table without rows.
pub(crate) fn header() -> Table {
    Columns::default().table()
}

/// The columns, in their order in the table but for the number of transmissions, which stands before the time of the
/// last one.
pub(crate) struct Columns {
    flow: TextColumn,
    number: TypedColumn<u64>,
    size: TypedColumn<u64>,
    /// Sent, first transmitted, delivered, delay, retransmitted.
    seconds: [TypedColumn<f64>; 5],
    transmissions: TypedColumn<u64>,
    /// First and last.
    paths: [TextColumn; 2],
    parts: [TypedColumn<f64>; parts::COUNT],
}

impl Default for Columns {
    fn default() -> Self {
        let seconds = ["sent_s", "first_transmitted_s", "delivered_s", "delay_s", "retransmitted_s"];
        Self {
            flow: TextColumn::new("flow"),
            number: TypedColumn::new("number"),
            size: TypedColumn::new("size_bytes"),
            seconds: seconds.map(TypedColumn::new),
            transmissions: TypedColumn::new("transmissions"),
            paths: ["first_path", "last_path"].map(TextColumn::new),
            parts: parts::NAMES.map(|name| TypedColumn::new(format!("{name}_s"))),
        }
    }
}

impl Columns {
    pub(crate) fn push(
        &mut self,
        flow: &str,
        number: u64,
        message: &SentMessage,
        delivery: Option<DeliveredMessage>,
        paths: &[Option<String>],
    ) {
        let delivered = delivery.map(|delivery| delivery.delivered);
        self.flow.push(flow);
        self.number.push(number);
        self.size.push(message.size.into());
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let cells = [
            Some(seconds(message.sent)),
            message.first_transmitted.map(seconds),
            delivered.map(seconds),
            delivered.map(|at| at.saturating_since(message.sent).as_secs_f64()),
            message.retransmitted.map(seconds),
        ];
        for (column, cell) in self.seconds.iter_mut().zip(cells) {
            column.push_optional(cell);
        }
        let transmissions = message.first_transmitted.map_or(0, |_| 1 + u64::from(message.retransmissions));
        self.transmissions.push(transmissions);
        let path = |path| message.first_transmitted.and_then(|_| path_name(paths, path));
        for (column, cell) in self.paths.iter_mut().zip([message.first_path, message.last_path].map(path)) {
            column.push_optional(cell);
        }
        let parts = delivery.and_then(|delivery| Parts::of(message, delivery.delivered, delivery.journey));
        let cells =
            parts.map_or([None; parts::COUNT], |Parts(parts)| parts.map(|part| Some(part.as_secs_f64())));
        for (column, cell) in self.parts.iter_mut().zip(cells) {
            column.push_optional(cell);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.number.is_empty()
    }

    pub(crate) fn table(self) -> Table {
        let [sent, first_transmitted, delivered, delay, retransmitted] = self.seconds.map(Column::from);
        let [first_path, last_path] = self.paths.map(Column::from);
        let columns = vec![
            self.flow.into(),
            self.number.into(),
            self.size.into(),
            sent,
            first_transmitted,
            delivered,
            delay,
            self.transmissions.into(),
            retransmitted,
            first_path,
            last_path,
        ];
        TableKind::Messages.table(columns.into_iter().chain(self.parts.map(Column::from)))
    }
}
