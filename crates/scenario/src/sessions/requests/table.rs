//! `requests` and `request_sources`: each request, and how long answers took.

use slantpath_base::{Duration, Instant};
use slantpath_host::record::{Request, SentSession};
use slantpath_results::{Column, Table, TextColumn, TypedColumn, quantile};

use crate::output::TableKind;

/// The columns of both tables.
pub(crate) struct RequestTables {
    name: TextColumn,
    session: TypedColumn<u64>,
    number: TypedColumn<u64>,
    asked: TypedColumn<f64>,
    size: TypedColumn<u64>,
    first_delivery: TypedColumn<f64>,
    answered: TypedColumn<f64>,
    response: TypedColumn<f64>,
    sources: Sources,
}

struct Sources {
    name: TextColumn,
    asked: TypedColumn<u64>,
    answered: TypedColumn<u64>,
    first_delivery_mean: TypedColumn<f64>,
    response_mean: TypedColumn<f64>,
    response_quantiles: [TypedColumn<f64>; QUANTILES.len()],
}

/// Which quantiles of response times there are, with their names.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

impl Default for RequestTables {
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
            sources: Sources {
                name: TextColumn::new("sessions"),
                asked: TypedColumn::new("asked_requests"),
                answered: TypedColumn::new("answered_requests"),
                first_delivery_mean: TypedColumn::new("first_delivery_mean_s"),
                response_mean: TypedColumn::new("response_mean_s"),
                response_quantiles: QUANTILES.map(|(name, _)| TypedColumn::new(format!("response_{name}_s"))),
            },
        }
    }
}

/// From when it was made to the last byte of the answer, if that has come.
fn response_s(request: &Request) -> Option<f64> {
    Some(since(request, request.answered?))
}

/// The same to an instant.
fn since(request: &Request, at: Instant) -> f64 {
    Duration::as_secs_f64(at.saturating_since(request.asked))
}

impl RequestTables {
    /// Adds the requests of a table's sessions, in their order.
    pub(crate) fn push<'a>(&mut self, name: &str, sessions: impl Iterator<Item = &'a SentSession>) {
        let seconds = |instant: Instant| instant.since_start().as_secs_f64();
        let (mut asked, mut first, mut responses) = (0, Vec::new(), Vec::new());
        for session in sessions {
            let requests = session.answers.iter().flat_map(|answers| &answers.requests);
            for (number, request) in (0..).zip(requests) {
                asked += 1;
                first.extend(request.first_delivery.map(|at| since(request, at)));
                responses.extend(response_s(request));
                self.name.push(name);
                self.session.push(u64::from(session.number));
                self.number.push(number);
                self.asked.push(seconds(request.asked));
                self.size.push(request.size.as_bytes());
                self.first_delivery.push_optional(request.first_delivery.map(seconds));
                self.answered.push_optional(request.answered.map(seconds));
                self.response.push_optional(response_s(request));
            }
        }
        let mean =
            |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let sources = &mut self.sources;
        sources.name.push(name);
        sources.asked.push(asked);
        sources.answered.push(responses.len() as u64);
        sources.first_delivery_mean.push_optional(mean(&first));
        sources.response_mean.push_optional(mean(&responses));
        for (column, (_, share)) in sources.response_quantiles.iter_mut().zip(QUANTILES) {
            column.push_optional(quantile(responses.iter().copied(), share));
        }
    }

    pub(crate) fn tables(self) -> [Table; 2] {
        let rows: [Column; 8] = [
            self.name.into(),
            self.session.into(),
            self.number.into(),
            self.asked.into(),
            self.size.into(),
            self.first_delivery.into(),
            self.answered.into(),
            self.response.into(),
        ];
        let Sources { name, asked, answered, first_delivery_mean, response_mean, response_quantiles } =
            self.sources;
        let mut sources: Vec<Column> = vec![
            name.into(),
            asked.into(),
            answered.into(),
            first_delivery_mean.into(),
            response_mean.into(),
        ];
        sources.extend(response_quantiles.map(Column::from));
        [TableKind::RequestSources.table(sources), TableKind::Requests.table(rows)]
    }
}
