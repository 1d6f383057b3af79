//! `requests` and `request_sources`: each request, and how long answers took.

use slantpath_base::{Duration, Instant};
use slantpath_host::record::SentSession;
use slantpath_results::{Column, Table, TextColumn, TypedColumn};

use super::sessions::Mean;
use crate::output::TableKind;

/// The columns of `requests`.
pub(in crate::run) struct RequestRows {
    name: TextColumn,
    session: TypedColumn<u64>,
    number: TypedColumn<u64>,
    asked: TypedColumn<f64>,
    size: TypedColumn<u64>,
    first_delivery: TypedColumn<f64>,
    answered: TypedColumn<f64>,
    response: TypedColumn<f64>,
}

/// Totals of the requests of a table of sessions; the times that answers took are handed over.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct RequestTotals {
    asked: u64,
    first_delivery: Mean,
    response: Mean,
}

/// The columns of `request_sources`.
pub(in crate::run) struct RequestSums {
    name: TextColumn,
    asked: TypedColumn<u64>,
    answered: TypedColumn<u64>,
    first_delivery_mean: TypedColumn<f64>,
    response_mean: TypedColumn<f64>,
    response_quantiles: [TypedColumn<f64>; QUANTILES.len()],
}

/// Quantiles of response times, with their names.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

impl Default for RequestRows {
    fn default() -> Self {
        Self {
            name: TextColumn::new("sessions"),
            session: TypedColumn::new("session"),
            number: TypedColumn::new("number"),
            asked: TypedColumn::new("asked_s"),
            size: TypedColumn::new("size_bytes"),
            first_delivery: TypedColumn::new("first_delivery_s"),
            answered: TypedColumn::new("answered_s"),
            response: TypedColumn::new("response_s"),
        }
    }
}

impl RequestRows {
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.number.is_empty()
    }

    /// Adds the requests of a session, in their order; `delays` are from when they were made to the last byte of the
    /// answer, of those that have been answered.
    pub(in crate::run) fn push(
        &mut self,
        name: &str,
        session: &SentSession,
        totals: &mut RequestTotals,
        delays: &mut Vec<Duration>,
    ) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let requests = session.answers.iter().flat_map(|answers| &answers.requests);
        for (number, request) in (0..).zip(requests) {
            let since = |at: Instant| at.saturating_since(request.asked);
            let response = request.answered.map(since);
            totals.asked += 1;
            if let Some(first) = request.first_delivery {
                totals.first_delivery.add(since(first).as_secs_f64());
            }
            if let Some(response) = response {
                totals.response.add(response.as_secs_f64());
                delays.push(response);
            }
            self.name.push(name);
            self.session.push(u64::from(session.number));
            self.number.push(number);
            self.asked.push(seconds(request.asked));
            self.size.push(request.size.as_bytes());
            self.first_delivery.push_optional(request.first_delivery.map(seconds));
            self.answered.push_optional(request.answered.map(seconds));
            self.response.push_optional(response.map(Duration::as_secs_f64));
        }
    }

    pub(in crate::run) fn table(self) -> Table {
        let columns: [Column; 8] = [
            self.name.into(),
            self.session.into(),
            self.number.into(),
            self.asked.into(),
            self.size.into(),
            self.first_delivery.into(),
            self.answered.into(),
            self.response.into(),
        ];
        TableKind::Requests.table(columns)
    }
}

impl Default for RequestSums {
    fn default() -> Self {
        Self {
            name: TextColumn::new("sessions"),
            asked: TypedColumn::new("asked_requests"),
            answered: TypedColumn::new("answered_requests"),
            first_delivery_mean: TypedColumn::new("first_delivery_mean_s"),
            response_mean: TypedColumn::new("response_mean_s"),
            response_quantiles: QUANTILES.map(|(name, _)| TypedColumn::new(format!("response_{name}_s"))),
        }
    }
}

impl RequestSums {
    /// The shares of which there are quantiles.
    pub(in crate::run) const SHARES: [f64; QUANTILES.len()] =
        [QUANTILES[0].1, QUANTILES[1].1, QUANTILES[2].1, QUANTILES[3].1];

    /// Adds a table of sessions, with the quantiles of its response times.
    pub(in crate::run) fn push(&mut self, name: &str, totals: &RequestTotals, quantiles: &[Option<f64>]) {
        self.name.push(name);
        self.asked.push(totals.asked);
        self.answered.push(totals.response.count());
        self.first_delivery_mean.push_optional(totals.first_delivery.get());
        self.response_mean.push_optional(totals.response.get());
        for (place, column) in self.response_quantiles.iter_mut().enumerate() {
            column.push_optional(quantiles.get(place).copied().flatten());
        }
    }

    pub(in crate::run) fn table(self) -> Table {
        let mut columns: Vec<Column> = vec![
            self.name.into(),
            self.asked.into(),
            self.answered.into(),
            self.first_delivery_mean.into(),
            self.response_mean.into(),
        ];
        columns.extend(self.response_quantiles.map(Column::from));
        TableKind::RequestSources.table(columns)
    }
}
