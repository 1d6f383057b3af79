//! `sessions` and `session_sources`: each session, and what came of those of a table.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};
use slantpath_host::record::{ReceivedSession, SentSession, SessionRecords};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use super::build::PlannedSessions;
use super::requests::RequestTables;
use crate::network::source::RunNetwork;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// A session as both ends know it.
struct Session {
    sent: SentSession,
    /// Nothing if none of it has come.
    received: Option<ReceivedSession>,
}

/// How a session stands at the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Completed,
    Failed,
    /// It was not opened: not admitted, or without a port.
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
    /// What was delivered to the receiver, or answered.
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

/// Both tables, of the sessions that began after the warm-up, and those of requests if any ask.
pub(crate) fn tables(
    scenario: &Scenario,
    network: &mut RunNetwork<'_>,
    planned: &[PlannedSessions],
) -> Vec<Table> {
    let now = network.now();
    let begin = Instant::START + *scenario.scenario.warm_up;
    let mut records = BTreeMap::new();
    let mut sources = Sources::default();
    let mut rows = Rows::default();
    let mut requests = None;
    for of_table in planned {
        for node in [of_table.from, of_table.to] {
            records.entry(node).or_insert_with(|| {
                let host = network.host_mut(node);
                let (mut over, others) = (host.take_sessions(), host.unfinished_sessions(now));
                over.sent.extend(others.sent);
                over.received.extend(others.received);
                over
            });
        }
        let mut sessions = join(of_table, &records[&of_table.from], &records[&of_table.to]);
        sessions.retain(|session| session.sent.begun >= begin);
        sources.push(&of_table.name, &sessions);
        for session in &sessions {
            rows.push(&of_table.name, session);
        }
        if scenario.sessions.find(&of_table.name).is_some_and(|table| table.requests.is_some()) {
            let requests = requests.get_or_insert_with(RequestTables::default);
            requests.push(&of_table.name, sessions.iter().map(|session| &session.sent));
        }
    }
    let mut tables = vec![sources.table(), rows.table()];
    tables.extend(requests.into_iter().flat_map(RequestTables::tables));
    tables
}

/// Sessions of a table in their order, each with what its receiver knows of it: what the server has accepted from its
/// port after it had begun, and before the next one from there.
fn join(planned: &PlannedSessions, from: &SessionRecords, to: &SessionRecords) -> Vec<Session> {
    let mut accepted = BTreeMap::<(u16, Instant), &ReceivedSession>::new();
    for received in to.received.iter().filter(|received| received.server == planned.server) {
        if let (Some(peer), Some(at)) = (received.peer, received.accepted) {
            accepted.insert((peer.port(), at), received);
        }
    }
    let mut sent: Vec<SentSession> =
        from.sent.iter().filter(|sent| sent.source == planned.source).cloned().collect();
    // The last one from a port first: it leaves the others those that came before it.
    sent.sort_by_key(|sent| core::cmp::Reverse(sent.number));
    let find = |sent: SentSession| {
        let key = sent.port.and_then(|port| {
            let later = accepted.range((port, sent.begun)..=(port, Instant::FAR_FUTURE));
            later.map(|(key, _)| *key).next()
        });
        let received = key.and_then(|key| accepted.remove(&key)).cloned();
        Session { sent, received }
    };
    let mut sessions: Vec<Session> = sent.into_iter().map(find).collect();
    sessions.reverse();
    sessions
}

/// The columns of `sessions`.
struct Rows {
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
    fn push(&mut self, name: &str, session: &Session) {
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

    fn table(self) -> Table {
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

/// The columns of `session_sources`.
struct Sources {
    name: TextColumn,
    begun: TypedColumn<u64>,
    outcomes: [TypedColumn<u64>; Outcome::ALL.len()],
    offered: TypedColumn<u64>,
    delivered: TypedColumn<u64>,
    retransmissions: TypedColumn<u64>,
    throughput: TypedColumn<f64>,
    duration: TypedColumn<f64>,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            name: TextColumn::new("sessions"),
            begun: TypedColumn::new("begun_sessions"),
            outcomes: Outcome::ALL.map(|outcome| TypedColumn::new(format!("{}_sessions", outcome.name()))),
            offered: TypedColumn::new("offered_bytes"),
            delivered: TypedColumn::new("delivered_bytes"),
            retransmissions: TypedColumn::new("retransmissions"),
            throughput: TypedColumn::new("throughput_mean_bit_per_s"),
            duration: TypedColumn::new("duration_mean_s"),
        }
    }
}

impl Sources {
    fn push(&mut self, name: &str, sessions: &[Session]) {
        let mean =
            |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        self.name.push(name);
        self.begun.push(sessions.len() as u64);
        for (column, outcome) in self.outcomes.iter_mut().zip(Outcome::ALL) {
            column.push(sessions.iter().filter(|session| session.outcome() == outcome).count() as u64);
        }
        self.offered.push(sessions.iter().map(|session| session.sent.size.as_bytes()).sum());
        self.delivered.push(sessions.iter().map(Session::delivered_bytes).sum());
        self.retransmissions.push(sessions.iter().filter_map(Session::retransmissions).sum());
        self.throughput.push_optional(mean(sessions.iter().filter_map(Session::throughput).collect()));
        let durations = sessions.iter().filter_map(Session::duration).map(Duration::as_secs_f64);
        self.duration.push_optional(mean(durations.collect()));
    }

    fn table(self) -> Table {
        let mut columns: Vec<Column> = vec![self.name.into(), self.begun.into()];
        columns.extend(self.outcomes.map(Column::from));
        columns.extend([self.offered.into(), self.delivered.into(), self.retransmissions.into()]);
        columns.extend([self.throughput.into(), self.duration.into()]);
        TableKind::SessionSources.table(columns)
    }
}
