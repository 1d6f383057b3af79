//! `messages`: every message of every flow that is recorded.

use slantpath_applications::record::{DeliveredMessage, SentMessage};
use slantpath_base::Instant;
use slantpath_results::Table;

use super::path_name;
use crate::columns::{Count, Number, Text, columns, push_each};
use crate::output::TableKind;
use crate::run::parts::{self, Parts};

columns! {
    /// Columns of `messages`.
    pub(crate) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Number of the message in its flow, from 0.
        number: Count,
        /// Size of the message.
        size_bytes: Count,
        /// Time at which the application called SEND.
        sent_s: Number,
        /// Time at which something of it first went out.
        first_transmitted_s: Number,
        /// Time at which it was delivered.
        delivered_s: Number,
        /// Delay from SEND to delivery.
        delay_s: Number,
        /// Number of times that it was transmitted: 1 and its retransmissions, 0 before the first.
        transmissions: Count,
        /// Time at which something of it was last retransmitted.
        retransmitted_s: Number,
        /// Path of the first transmission, by its link.
        first_path: Text,
        /// Path of the last transmission, by its link.
        last_path: Text,
        /// Parts of which the delay consists.
        parts: Vec<Number> = parts::family("_s"),
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
        self.size_bytes.push(message.size.into());
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let delay = delivered.map(|at| at.saturating_since(message.sent).as_secs_f64());
        self.sent_s.push(seconds(message.sent));
        self.first_transmitted_s.push_optional(message.first_transmitted.map(seconds));
        self.delivered_s.push_optional(delivered.map(seconds));
        self.delay_s.push_optional(delay);
        let transmissions = message.first_transmitted.map_or(0, |_| 1 + u64::from(message.retransmissions));
        self.transmissions.push(transmissions);
        self.retransmitted_s.push_optional(message.retransmitted.map(seconds));
        let path = |path| message.first_transmitted.and_then(|_| path_name(paths, path));
        self.first_path.push_optional(path(message.first_path));
        self.last_path.push_optional(path(message.last_path));
        let parts = delivery.and_then(|delivery| Parts::of(message, delivery.delivered, delivery.journey));
        let cells =
            parts.map_or([None; parts::COUNT], |Parts(parts)| parts.map(|part| Some(part.as_secs_f64())));
        push_each(&mut self.parts, cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.number.is_empty()
    }

    pub(crate) fn table(self) -> Table {
        self.finish(TableKind::Messages)
    }
}
