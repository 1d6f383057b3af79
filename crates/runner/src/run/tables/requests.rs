//! `requests` and `request_sources`: each request, and how long answers took.

use slantpath_applications::record::SentSession;
use slantpath_base::{Duration, Instant};
use slantpath_results::Table;

use super::sessions::Mean;
use crate::columns::{Count, Number, Text, columns, family};
use crate::output::TableKind;

columns! {
    /// Columns of `requests`.
    pub(in crate::run) struct RequestRows {
        /// Name of the table of sessions.
        sessions: Text,
        /// Number of the session.
        session: Count,
        /// Number of the request in its session, from 0.
        number: Count,
        /// Time at which it was made.
        asked_s: Number,
        /// Size of the answer.
        size_bytes: Count,
        /// Time at which the first byte of the answer was delivered.
        first_delivery_s: Number,
        /// Time at which the last byte of the answer was delivered. Missing if it has not come.
        answered_s: Number,
        /// Time from the request to the last byte of its answer. Missing likewise.
        response_s: Number,
    }
}

/// Totals of the requests of a table of sessions; the times that answers took are handed over.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct RequestTotals {
    asked: u64,
    first_delivery: Mean,
    response: Mean,
}

columns! {
    /// Columns of `request_sources`.
    pub(in crate::run) struct RequestSums {
        /// Name of the table of sessions.
        sessions: Text,
        /// Requests that were made.
        asked_requests: Count,
        /// Requests that were answered.
        answered_requests: Count,
        /// Mean time from a request to the first byte of its answer.
        first_delivery_mean_s: Number,
        /// Mean time from a request to the last byte of its answer.
        response_mean_s: Number,
        /// Quantiles of response times.
        response_quantiles: Vec<Number> = family(QUANTILES, |(name, share)| {
            (format!("response_{name}_s"), format!("Time that {} % of responses do not exceed.", share * 100.0))
        }),
    }
}

/// Quantiles of response times, with their names.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

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
            self.sessions.push(name);
            self.session.push(u64::from(session.number));
            self.number.push(number);
            self.asked_s.push(seconds(request.asked));
            self.size_bytes.push(request.size.as_bytes());
            self.first_delivery_s.push_optional(request.first_delivery.map(seconds));
            self.answered_s.push_optional(request.answered.map(seconds));
            self.response_s.push_optional(response.map(Duration::as_secs_f64));
        }
    }

    pub(in crate::run) fn table(self) -> Table {
        self.finish(TableKind::Requests)
    }
}

impl RequestSums {
    /// The shares of which there are quantiles.
    pub(in crate::run) const SHARES: [f64; QUANTILES.len()] =
        [QUANTILES[0].1, QUANTILES[1].1, QUANTILES[2].1, QUANTILES[3].1];

    /// Adds a table of sessions, with the quantiles of its response times.
    pub(in crate::run) fn push(&mut self, name: &str, totals: &RequestTotals, quantiles: &[Option<f64>]) {
        self.sessions.push(name);
        self.asked_requests.push(totals.asked);
        self.answered_requests.push(totals.response.count());
        self.first_delivery_mean_s.push_optional(totals.first_delivery.get());
        self.response_mean_s.push_optional(totals.response.get());
        for (place, column) in self.response_quantiles.iter_mut().enumerate() {
            column.push_optional(quantiles.get(place).copied().flatten());
        }
    }

    pub(in crate::run) fn table(self) -> Table {
        self.finish(TableKind::RequestSources)
    }
}
