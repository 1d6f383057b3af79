//! `sessions` and `session_sources`: each session, and what came of those of a table.

use slantpath_applications::record::{ReceivedSession, SentSession};
use slantpath_base::{Duration, Instant};
use slantpath_results::Table;

use crate::columns::{Count, Number, Text, columns, family, push_each};
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

    const fn meaning(self) -> &'static str {
        match self {
            Self::Completed => "were completed: all was delivered",
            Self::Failed => "failed",
            Self::Refused => "were not admitted, or had no port",
            Self::Unfinished => "were neither at the end of the run",
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

columns! {
    /// Columns of `sessions`.
    pub(in crate::run) struct Rows {
        /// Name of the table of sessions.
        sessions: Text,
        /// Number of the session.
        number: Count,
        /// Time at which it began.
        begun_s: Number,
        /// Size of what is to be delivered.
        size_bytes: Count,
        /// Time at which it was opened. Missing if it was refused or still waits.
        admitted_s: Number,
        /// Time at which its association or connection was established.
        connected_s: Number,
        /// Time of the last delivery.
        last_delivery_s: Number,
        /// Time from its beginning to the last delivery. Missing unless it was completed.
        duration_s: Number,
        /// Bytes that were delivered.
        delivered_bytes: Count,
        /// Delivered bits over that duration. Missing unless it was completed, and for sessions that ask.
        throughput_bit_per_s: Number,
        /// Retransmitted DATA chunks or segments, of answers too.
        retransmissions: Count,
        /// Time of its end as its sender saw it. What the server receives two minutes later is not of it.
        ended_s: Number,
        /// Outcome: `completed`, `failed`, `refused` (not admitted, or without a port) or `unfinished`.
        outcome: Text,
        /// Reason for which it failed, if it did.
        failure: Text,
    }
}

impl Rows {
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.number.is_empty()
    }

    pub(in crate::run) fn push(&mut self, name: &str, session: &Session) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let sent = &session.sent;
        self.sessions.push(name);
        self.number.push(u64::from(sent.number));
        self.begun_s.push(seconds(sent.begun));
        self.size_bytes.push(sent.size.as_bytes());
        self.admitted_s.push_optional(sent.admitted.map(seconds));
        self.connected_s.push_optional(sent.connected.map(seconds));
        self.last_delivery_s.push_optional(session.last_delivery().map(seconds));
        self.duration_s.push_optional(session.duration().map(Duration::as_secs_f64));
        self.delivered_bytes.push(session.delivered_bytes());
        self.throughput_bit_per_s.push_optional(session.throughput());
        self.retransmissions.push_optional(session.retransmissions());
        self.ended_s.push_optional(sent.ended.map(seconds));
        self.outcome.push(session.outcome().name());
        self.failure.push_optional(sent.failure.as_deref());
    }

    pub(in crate::run) fn table(self) -> Table {
        self.finish(TableKind::Sessions)
    }
}

columns! {
    /// Columns of `session_sources`.
    pub(in crate::run) struct SourceColumns {
        /// Name of the table of sessions.
        sessions: Text,
        /// Sessions that began after the warm-up.
        begun_sessions: Count,
        /// Sessions of these by their outcome.
        outcomes: Vec<Count> = family(Outcome::ALL, |outcome| {
            (format!("{}_sessions", outcome.name()), format!("Sessions of these that {}.", outcome.meaning()))
        }),
        /// Bytes that were to be delivered.
        offered_bytes: Count,
        /// Bytes that were delivered.
        delivered_bytes: Count,
        /// Retransmitted DATA chunks or segments.
        retransmissions: Count,
        /// Mean throughput of completed sessions.
        throughput_mean_bit_per_s: Number,
        /// Mean duration of completed sessions.
        duration_mean_s: Number,
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
    let mut columns = SourceColumns::new();
    for (table, totals) in tables {
        columns.sessions.push(table);
        columns.begun_sessions.push(totals.begun);
        push_each(&mut columns.outcomes, totals.outcomes.map(Some));
        columns.offered_bytes.push(totals.offered);
        columns.delivered_bytes.push(totals.delivered);
        columns.retransmissions.push(totals.retransmissions);
        columns.throughput_mean_bit_per_s.push_optional(totals.throughput.get());
        columns.duration_mean_s.push_optional(totals.duration.get());
    }
    columns.finish(TableKind::SessionSources)
}
