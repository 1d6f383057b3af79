//! `sessions` and `session_sources`: each session, and what came of those of a table.

use slantpath_base::{Duration, Instant};
use slantpath_host::record::{ReceivedSession, SentSession};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use crate::output::TableKind;

/// A session as both ends know it.
pub(in crate::run) struct Session {
    pub(in crate::run) sent: SentSession,
    /// Nothing if none of it has come.
    pub(in crate::run) received: Option<ReceivedSession>,
}

/// State of a session at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Completed,
    Failed,
    /// Session that was not opened: not admitted, or without a port.
    Refused,
    Unfinished,
}

impl Outcome {
    const ALL: [Self; 4] = [Self::Completed, Self::Failed, Self::Refused, Self::Unfinished];

    const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Unfinished => "unfinished",
        }
    }
}

impl Session {
    /// Bytes that were delivered to the receiver, or answered.
    fn delivered_bytes(&self) -> u64 {
        match (&self.sent.answers, &self.received) {
            (Some(answers), _) => answers.bytes_delivered,
            (None, Some(received)) => received.bytes_delivered,
            (None, None) => 0,
        }
    }

    fn last_delivery(&self) -> Option<Instant> {
        match &self.sent.answers {
            Some(answers) => answers.last_delivery,
            None => self.received.as_ref()?.last_delivery,
        }
    }

    /// By both ends, if the transport of the opener has not forgotten it.
    fn retransmissions(&self) -> Option<u64> {
        let of_answers = self.received.as_ref().and_then(|received| received.retransmissions);
        Some(self.sent.retransmissions? + of_answers.unwrap_or(0))
    }

    /// Completed when all of it has been delivered, whether or not the ends have closed.
    fn outcome(&self) -> Outcome {
        if self.delivered_bytes() >= self.sent.size.as_bytes() {
            Outcome::Completed
        } else if self.sent.failure.is_some() {
            if self.sent.admitted.is_some() { Outcome::Failed } else { Outcome::Refused }
        } else {
            Outcome::Unfinished
        }
    }

    /// From its beginning to the delivery of its last byte, if that has come.
    fn duration(&self) -> Option<Duration> {
        let last = self.last_delivery()?;
        (self.outcome() == Outcome::Completed).then(|| last.saturating_since(self.sent.begun))
    }

    /// Of one that thinks between it would mean nothing.
    fn throughput(&self) -> Option<f64> {
        if self.sent.answers.is_some() {
            return None;
        }
        let seconds = self.duration()?.as_secs_f64();
        (seconds > 0.0).then(|| 8.0 * self.delivered_bytes() as f64 / seconds)
    }
}

/// The columns of `sessions`.
pub(in crate::run) struct Rows {
    name: TextColumn,
    number: TypedColumn<u64>,
    begun: TypedColumn<f64>,
    size: TypedColumn<u64>,
    admitted: TypedColumn<f64>,
    connected: TypedColumn<f64>,
    last_delivery: TypedColumn<f64>,
    duration: TypedColumn<f64>,
    delivered: TypedColumn<u64>,
    throughput: TypedColumn<f64>,
    retransmissions: TypedColumn<u64>,
    ended: TypedColumn<f64>,
    outcome: TextColumn,
    failure: TextColumn,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            name: TextColumn::new("sessions"),
            number: TypedColumn::new("number"),
            begun: TypedColumn::new("begun_s"),
            size: TypedColumn::new("size_bytes"),
            admitted: TypedColumn::new("admitted_s"),
            connected: TypedColumn::new("connected_s"),
            last_delivery: TypedColumn::new("last_delivery_s"),
            duration: TypedColumn::new("duration_s"),
            delivered: TypedColumn::new("delivered_bytes"),
            throughput: TypedColumn::new("throughput_bit_per_s"),
            retransmissions: TypedColumn::new("retransmissions"),
            ended: TypedColumn::new("ended_s"),
            outcome: TextColumn::new("outcome"),
            failure: TextColumn::new("failure"),
        }
    }
}

impl Rows {
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.number.is_empty()
    }

    pub(in crate::run) fn push(&mut self, name: &str, session: &Session) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let sent = &session.sent;
        self.name.push(name);
        self.number.push(u64::from(sent.number));
        self.begun.push(seconds(sent.begun));
        self.size.push(sent.size.as_bytes());
        self.admitted.push_optional(sent.admitted.map(seconds));
        self.connected.push_optional(sent.connected.map(seconds));
        self.last_delivery.push_optional(session.last_delivery().map(seconds));
        self.duration.push_optional(session.duration().map(Duration::as_secs_f64));
        self.delivered.push(session.delivered_bytes());
        self.throughput.push_optional(session.throughput());
        self.retransmissions.push_optional(session.retransmissions());
        self.ended.push_optional(sent.ended.map(seconds));
        self.outcome.push(session.outcome().name());
        self.failure.push_optional(sent.failure.as_deref());
    }

    pub(in crate::run) fn table(self) -> Table {
        let columns: [Column; 14] = [
            self.name.into(),
            self.number.into(),
            self.begun.into(),
            self.size.into(),
            self.admitted.into(),
            self.connected.into(),
            self.last_delivery.into(),
            self.duration.into(),
            self.delivered.into(),
            self.throughput.into(),
            self.retransmissions.into(),
            self.ended.into(),
            self.outcome.into(),
            self.failure.into(),
        ];
        TableKind::Sessions.table(columns)
    }
}

/// Totals of the sessions of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct SourceTotals {
    begun: u64,
    outcomes: [u64; Outcome::ALL.len()],
    offered: u64,
    delivered: u64,
    retransmissions: u64,
    throughput: Mean,
    duration: Mean,
}

/// The mean of what is added to it, in the order in which it is.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    pub(in crate::run) fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub(in crate::run) fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    pub(in crate::run) const fn count(self) -> u64 {
        self.count
    }
}

impl SourceTotals {
    pub(in crate::run) fn add(&mut self, session: &Session) {
        let outcome = session.outcome();
        self.begun += 1;
        for (count, of) in self.outcomes.iter_mut().zip(Outcome::ALL) {
            *count += u64::from(of == outcome);
        }
        self.offered += session.sent.size.as_bytes();
        self.delivered += session.delivered_bytes();
        self.retransmissions += session.retransmissions().unwrap_or(0);
        if let Some(throughput) = session.throughput() {
            self.throughput.add(throughput);
        }
        if let Some(duration) = session.duration() {
            self.duration.add(duration.as_secs_f64());
        }
    }
}

/// Table `session_sources`: one row for each table of sessions.
pub(in crate::run) fn sources<'a>(tables: impl Iterator<Item = (&'a str, &'a SourceTotals)>) -> Table {
    let mut name = TextColumn::new("sessions");
    let mut begun = TypedColumn::<u64>::new("begun_sessions");
    let mut outcomes =
        Outcome::ALL.map(|outcome| TypedColumn::<u64>::new(format!("{}_sessions", outcome.name())));
    let [mut offered, mut delivered, mut retransmissions] =
        ["offered_bytes", "delivered_bytes", "retransmissions"].map(TypedColumn::<u64>::new);
    let [mut throughput, mut duration] =
        ["throughput_mean_bit_per_s", "duration_mean_s"].map(TypedColumn::<f64>::new);
    for (table, totals) in tables {
        name.push(table);
        begun.push(totals.begun);
        outcomes.iter_mut().zip(totals.outcomes).for_each(|(column, count)| column.push(count));
        offered.push(totals.offered);
        delivered.push(totals.delivered);
        retransmissions.push(totals.retransmissions);
        throughput.push_optional(totals.throughput.get());
        duration.push_optional(totals.duration.get());
    }
    let mut columns: Vec<Column> = vec![name.into(), begun.into()];
    columns.extend(outcomes.map(Column::from));
    columns.extend([offered.into(), delivered.into(), retransmissions.into()]);
    columns.extend([throughput.into(), duration.into()]);
    TableKind::SessionSources.table(columns)
}
