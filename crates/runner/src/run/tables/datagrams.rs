//! `datagrams` and `round_trips`: what became of the datagrams of a flow, and of requests for echoes.

use slantpath_results::Table;

use super::delays::seconds;
use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;
use crate::run::datagrams::DatagramMeasures;

columns! {
    /// Columns of `datagrams`.
    pub(super) struct Columns {
        /// Name of the flow.
        flow: Text,
        /// Datagrams that were sent after the warm-up. All other columns are of these.
        sent_datagrams: Count,
        /// Datagrams that were delivered, each counted once.
        delivered_datagrams: Count,
        /// Datagrams that were not delivered; those among them that were on their way when the run ended.
        lost_datagrams: Count,
        /// Part of the datagrams that was not delivered. Missing if none was sent.
        lost_ratio: Number,
        /// Copies of datagrams that were delivered before.
        duplicate_datagrams: Count,
        /// Datagrams that came behind a later one (RFC 4737, section 3.3).
        reordered_datagrams: Count,
        /// Part of the delivered ones. Missing if none was delivered.
        reordered_ratio: Number,
        /// Greatest reordering extent (RFC 4737, section 4.2): how many datagrams came between the one that it should
        /// have come before and a reordered one, and that one itself.
        reordering_extent_max_datagrams: Count,
        /// Shortest of their delays.
        delay_min_s: Number,
        /// Mean of their delays.
        delay_mean_s: Number,
        /// Median of their delays.
        delay_median_s: Number,
        /// Delay that 99 % of them do not exceed.
        delay_p99_s: Number,
        /// Longest of their delays.
        delay_max_s: Number,
        /// Standard deviation of their delays.
        delay_deviation_s: Number,
        /// Interarrival jitter after the last datagram (RFC 3550, section 6.4.1), copies among them.
        jitter_s: Number,
        /// Greatest value that it ever had.
        jitter_max_s: Number,
    }
}

columns! {
    /// Columns of `round_trips`.
    pub(super) struct RoundTripColumns {
        /// Name of the flow.
        flow: Text,
        /// Requests that were sent after the warm-up. All other columns are of these.
        sent_requests: Count,
        /// Requests whose reply came.
        answered_requests: Count,
        /// Requests whose reply did not come before the run ended: one of both was lost, or is on its way.
        lost_requests: Count,
        /// Part of the requests that was not answered. Missing if none was sent.
        lost_ratio: Number,
        /// Replies that came again.
        duplicate_replies: Count,
        /// Shortest round-trip time.
        round_trip_min_s: Number,
        /// Mean of round-trip times.
        round_trip_mean_s: Number,
        /// Median of round-trip times.
        round_trip_median_s: Number,
        /// Round-trip time that 99 % of them do not exceed.
        round_trip_p99_s: Number,
        /// Longest round-trip time.
        round_trip_max_s: Number,
        /// Standard deviation of round-trip times.
        round_trip_deviation_s: Number,
    }
}

/// A row for each flow of echo requests; `None` without one.
pub(in crate::run) fn round_trips<'a>(
    flows: impl Iterator<Item = (&'a str, &'a DatagramMeasures)>,
) -> Option<Table> {
    let mut columns = RoundTripColumns::new();
    for (flow, measures) in flows {
        let DatagramMeasures { sent, delivered, duplicates, delays, .. } = measures;
        let quantile = |share| delays.quantile(share).map(seconds);
        columns.flow.push(flow);
        columns.sent_requests.push(*sent);
        columns.answered_requests.push(*delivered);
        columns.lost_requests.push(measures.lost());
        let lost = (*sent > 0).then(|| measures.lost() as f64 / *sent as f64);
        columns.lost_ratio.push_optional(lost);
        columns.duplicate_replies.push(*duplicates);
        columns.round_trip_min_s.push_optional(delays.least().map(|least| seconds(least as f64)));
        columns.round_trip_mean_s.push_optional(delays.mean().map(seconds));
        columns.round_trip_median_s.push_optional(quantile(0.5));
        columns.round_trip_p99_s.push_optional(quantile(0.99));
        columns.round_trip_max_s.push_optional(delays.greatest().map(|greatest| seconds(greatest as f64)));
        columns.round_trip_deviation_s.push_optional(delays.standard_deviation().map(seconds));
    }
    (!columns.flow.is_empty()).then(|| columns.finish(TableKind::RoundTrips))
}

/// A row for each flow of datagrams that can be told apart; `None` without one.
pub(in crate::run) fn table<'a>(
    flows: impl Iterator<Item = (&'a str, &'a DatagramMeasures)>,
) -> Option<Table> {
    let mut columns = Columns::new();
    for (flow, measures) in flows {
        let DatagramMeasures { sent, delivered, duplicates, delays, jitter, reordering, .. } = measures;
        let ratio = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let quantile = |share| delays.quantile(share).map(seconds);
        columns.flow.push(flow);
        columns.sent_datagrams.push(*sent);
        columns.delivered_datagrams.push(*delivered);
        columns.lost_datagrams.push(measures.lost());
        columns.lost_ratio.push_optional(ratio(measures.lost(), *sent));
        columns.duplicate_datagrams.push(*duplicates);
        columns.reordered_datagrams.push(reordering.reordered);
        columns.reordered_ratio.push_optional(ratio(reordering.reordered, *delivered));
        columns.reordering_extent_max_datagrams.push(reordering.extent_max);
        columns.delay_min_s.push_optional(delays.least().map(|least| seconds(least as f64)));
        columns.delay_mean_s.push_optional(delays.mean().map(seconds));
        columns.delay_median_s.push_optional(quantile(0.5));
        columns.delay_p99_s.push_optional(quantile(0.99));
        columns.delay_max_s.push_optional(delays.greatest().map(|greatest| seconds(greatest as f64)));
        columns.delay_deviation_s.push_optional(delays.standard_deviation().map(seconds));
        columns.jitter_s.push_optional(jitter.last_s());
        columns.jitter_max_s.push_optional(jitter.max_s());
    }
    (!columns.flow.is_empty()).then(|| columns.finish(TableKind::Datagrams))
}
