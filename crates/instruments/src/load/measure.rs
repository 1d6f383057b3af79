//! Measurements of a load.

use std::collections::BTreeMap;
use std::net::IpAddr;

use hdrhistogram::Histogram;
use slantpath_applications::Failover;
use slantpath_base::{Duration, Instant};
use slantpath_host::SocketId;
use slantpath_sctp::{Extensions, MibAssociation, PathSnapshot, PathState};

/// Results of a load.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Time that it took to set the first association up, from the start of the run.
    pub setup: Option<Duration>,
    /// Messages given to SCTP.
    pub sent: u64,
    /// Bytes of these.
    pub sent_bytes: u64,
    /// Messages that came back.
    pub echoed: u64,
    /// Bytes of these.
    pub echoed_bytes: u64,
    /// Messages that were given up, as had been asked for; some of them may have come back all the same.
    pub abandoned: u64,
    /// Messages that had not been acknowledged when their associations ended: whether they have arrived is not known.
    pub unacknowledged: u64,
    /// The extensions that the first association uses.
    pub extensions: Extensions,
    /// True if packets go without a checksum in an association (RFC 9653).
    pub omits_checksums: bool,
    /// Messages that came and were none of those that had been sent.
    pub foreign: u64,
    /// From when the first association was up until the last message came back, or the last association had ended.
    pub span: Duration,
    /// Rate of the data that came back in that time, or went out where nothing comes back, in bits a second.
    pub throughput_bit_per_s: f64,
    /// From when a message was due until it came back: quantiles in the order of [`LoadReport::QUANTILES`]; none if
    /// nothing came back.
    pub latency: Option<[Duration; 6]>,
    /// The mean of these.
    pub latency_mean: Option<Duration>,
    /// Results of each kind of messages, in the order of the workload's; empty if there is one kind only.
    pub kinds: Vec<KindReport>,
    /// The longest time for which nothing came back although something was outstanding, and when it began, from when
    /// the association was up: the time for which a failover keeps an application waiting.
    pub longest_gap: Option<(Duration, Duration)>,
    /// Failovers of associations.
    pub failovers: u64,
    /// Longest failover, from when the last packet left that the former path has answered until a new message left by
    /// another, and when it ended, from when the association was up. An end alone cannot know when a path failed.
    pub longest_failover: Option<(Duration, Duration)>,
    /// Each failover by the same two times, in order: the first [`LoadReport::MOST_FAILOVERS`].
    pub each_failover: Vec<(Duration, Duration)>,
    /// Events of paths: each with its time since the association was up, its address and its name.
    pub path_events: Vec<(Duration, IpAddr, &'static str)>,
    /// The paths of the first association, as they were at its end.
    pub paths: Vec<PathReport>,
    /// The associations as the tables of the SCTP MIB (RFC 3873) had them when they were closed: the first
    /// [`LoadReport::MOST_ROWS`] of those that there were then.
    pub associations: Vec<MibAssociation>,
    /// Failures in words, one for each association that failed.
    pub failures: Vec<String>,
}

impl LoadReport {
    /// Quantiles of latencies that are reported.
    pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];
    /// Of how many associations there are rows: a file with those of all would be long, and is read for a few.
    pub const MOST_ROWS: usize = 100;
    /// Failovers of which each is kept: more are no measurement of a failover.
    pub const MOST_FAILOVERS: usize = 10_000;
}

/// Results of the messages of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindReport {
    /// Messages given to SCTP.
    pub sent: u64,
    /// Messages that came back.
    pub echoed: u64,
    /// Quantiles of latencies, as those of all messages.
    pub latency: Option<[Duration; 6]>,
    /// The mean of these.
    pub latency_mean: Option<Duration>,
}

/// A path at the end of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathReport {
    /// The own address.
    pub source: IpAddr,
    /// Address of the peer.
    pub destination: IpAddr,
    /// State of the path: `active`, `inactive`, `potentially failed` or `unconfirmed`.
    pub state: &'static str,
    /// True if it is the primary path.
    pub is_primary: bool,
    /// The smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// The retransmission time-out.
    pub rto: Duration,
    /// The congestion window in bytes.
    pub cwnd_bytes: u64,
    /// The path MTU in bytes.
    pub mtu_bytes: u16,
    /// DATA chunks that were sent, those that were retransmitted included.
    pub data_chunks: u64,
    /// DATA chunks that were retransmitted.
    pub retransmissions: u64,
}

impl From<&PathSnapshot> for PathReport {
    fn from(path: &PathSnapshot) -> Self {
        Self {
            source: path.source,
            destination: path.destination,
            state: match path.state {
                PathState::Active => "active",
                PathState::Inactive => "inactive",
                PathState::PotentiallyFailed => "potentially failed",
                PathState::Unconfirmed => "unconfirmed",
            },
            is_primary: path.is_primary,
            srtt: path.srtt,
            rto: path.rto,
            cwnd_bytes: path.cwnd,
            mtu_bytes: path.mtu,
            data_chunks: path.stats.data_chunks_sent,
            retransmissions: path.stats.retransmissions,
        }
    }
}

/// Counts that are kept while a load lasts.
#[derive(Debug)]
pub(super) struct Measure {
    report: LoadReport,
    /// True if messages are to come back.
    is_echoed: bool,
    latencies: Latencies,
    /// Of each kind, if there are several.
    kinds: Vec<Latencies>,
    up: Option<Instant>,
    /// Since when something is outstanding and nothing has come back.
    waiting_since: Option<Instant>,
    last: Instant,
    /// Whose paths are kept.
    paths_of: Option<SocketId>,
    /// Rows of associations in the MIB, as they were when they were last looked at.
    rows: BTreeMap<SocketId, MibAssociation>,
}

/// Distribution of the times that messages took to come back.
#[derive(Debug, Default)]
struct Latencies {
    /// Made for the first one: of many kinds few may come back.
    nanos: Option<Histogram<u64>>,
}

impl Latencies {
    fn note(&mut self, latency: Duration) {
        let nanos = self.nanos.get_or_insert_with(|| {
            Histogram::new_with_max(LONGEST_NANOS, 3).expect("three digits are possible")
        });
        nanos.saturating_record(latency.as_nanos());
    }

    fn quantiles(&self) -> Option<[Duration; 6]> {
        let nanos = self.nanos.as_ref()?;
        Some(LoadReport::QUANTILES.map(|share| Duration::from_nanos(nanos.value_at_quantile(share))))
    }

    fn mean(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(self.nanos.as_ref()?.mean() * 1e-9))
    }
}

impl Measure {
    /// Of messages of so many kinds, or of one if there are none.
    pub(super) fn new(kinds: usize, is_echoed: bool) -> Self {
        let report = LoadReport { kinds: vec![KindReport::default(); kinds], ..LoadReport::default() };
        Self {
            paths_of: None,
            rows: BTreeMap::new(),
            report,
            is_echoed,
            latencies: Latencies::default(),
            kinds: (0..kinds).map(|_| Latencies::default()).collect(),
            up: None,
            waiting_since: None,
            last: Instant::START,
        }
    }

    pub(super) fn connected(&mut self, now: Instant) {
        self.up.get_or_insert(now);
        self.report.setup.get_or_insert(now.since_start());
        self.last = now;
    }

    pub(super) fn since_connected(&self, now: Instant) -> Duration {
        now.saturating_since(self.up.unwrap_or(now))
    }

    /// An association uses these, and sends packets without checksums; of the first that is up it is reported.
    pub(super) fn agreed(&mut self, extensions: Extensions, omits_checksums: bool) {
        self.report.omits_checksums |= omits_checksums;
        if self.report.extensions.is_empty() {
            self.report.extensions = extensions;
        }
    }

    pub(super) const fn unacknowledged(&mut self, messages: u64) {
        self.report.unacknowledged += messages;
    }

    pub(super) const fn abandoned(&mut self) {
        self.report.abandoned += 1;
    }

    pub(super) fn sent(&mut self, now: Instant, bytes: usize, kind: usize) {
        if let Some(kind) = self.report.kinds.get_mut(kind) {
            kind.sent += 1;
        }
        self.report.sent += 1;
        self.report.sent_bytes += bytes as u64;
        self.waiting_since.get_or_insert(now);
    }

    pub(super) fn echoed(&mut self, now: Instant, due: Instant, bytes: usize, kind: usize) {
        let latency = now.saturating_since(due);
        if let (Some(report), Some(latencies)) = (self.report.kinds.get_mut(kind), self.kinds.get_mut(kind)) {
            report.echoed += 1;
            latencies.note(latency);
        }
        self.report.echoed += 1;
        self.report.echoed_bytes += bytes as u64;
        self.latencies.note(latency);
        let since = self.waiting_since.take().unwrap_or(now);
        let gap = now.saturating_since(since);
        if self.report.longest_gap.is_none_or(|(longest, _)| gap > longest) {
            self.report.longest_gap = Some((gap, self.since_connected(since)));
        }
        if self.report.sent > self.report.echoed {
            self.waiting_since = Some(now);
        }
        self.last = now;
    }

    pub(super) const fn progress(&self) -> (u64, u64) {
        (self.report.sent, self.report.echoed)
    }

    pub(super) const fn foreign(&mut self) {
        self.report.foreign += 1;
    }

    pub(super) fn failed(&mut self, failure: String) {
        self.report.failures.push(failure);
    }

    pub(super) fn ended(&mut self, now: Instant) {
        if self.report.echoed == 0 {
            self.last = now;
        }
    }

    pub(super) fn failed_over(&mut self, failover: &Failover) {
        self.report.failovers += 1;
        let Some(answered) = failover.answered else { return };
        let took = failover.at.saturating_since(answered);
        if self.report.each_failover.len() < LoadReport::MOST_FAILOVERS {
            self.report.each_failover.push((took, self.since_connected(failover.at)));
        }
        if self.report.longest_failover.is_none_or(|(longest, _)| took > longest) {
            self.report.longest_failover = Some((took, self.since_connected(failover.at)));
        }
    }

    pub(super) fn path_event(&mut self, now: Instant, address: IpAddr, what: &'static str) {
        if self.report.path_events.len() < PATH_EVENTS_MAX {
            let at = self.since_connected(now);
            self.report.path_events.push((at, address, what));
        }
    }

    /// Tells if the paths of an association are kept: those of the first are.
    pub(super) fn keeps_paths_of(&self, socket: SocketId) -> bool {
        self.paths_of.is_none_or(|kept| kept == socket)
    }

    pub(super) fn keep_paths(&mut self, socket: SocketId, paths: &[PathSnapshot]) {
        if !paths.is_empty() {
            self.paths_of = Some(socket);
            self.report.paths = paths.iter().map(PathReport::from).collect();
        }
    }

    /// Tells if there is a row for an association, or room for one.
    pub(super) fn keeps_row_of(&self, socket: SocketId) -> bool {
        self.rows.len() < LoadReport::MOST_ROWS || self.rows.contains_key(&socket)
    }

    pub(super) fn keep_row(&mut self, socket: SocketId, row: Option<MibAssociation>) {
        self.rows.extend(row.map(|row| (socket, row)));
    }

    /// The associations of which something is kept.
    pub(super) fn kept(&self) -> Vec<SocketId> {
        self.rows.keys().copied().collect()
    }

    pub(super) fn report(&self, paths: &[PathSnapshot]) -> LoadReport {
        let mut report = self.report.clone();
        report.associations = self.rows.values().cloned().collect();
        if report.paths.is_empty() {
            report.paths = paths.iter().map(PathReport::from).collect();
        }
        report.span = self.since_connected(self.last);
        let bytes = if self.is_echoed { report.echoed_bytes } else { report.sent_bytes };
        if !report.span.is_zero() {
            report.throughput_bit_per_s = bytes as f64 * 8.0 / report.span.as_secs_f64();
        }
        (report.latency, report.latency_mean) = (self.latencies.quantiles(), self.latencies.mean());
        for (kind, latencies) in report.kinds.iter_mut().zip(&self.kinds) {
            (kind.latency, kind.latency_mean) = (latencies.quantiles(), latencies.mean());
        }
        report
    }
}

/// Longest time that a distribution tells, an hour: longer ones count as that.
const LONGEST_NANOS: u64 = 3_600_000_000_000;
/// Number of events of paths that are kept.
const PATH_EVENTS_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_come_back_is_throughput_only_if_it_has() {
        let throughput = |is_echoed| {
            let mut measure = Measure::new(0, is_echoed);
            measure.connected(Instant::START);
            measure.sent(Instant::START, 1_000, 0);
            measure.ended(Instant::from_secs(1));
            measure.report(&[]).throughput_bit_per_s
        };
        assert_eq!([throughput(true), throughput(false)], [0.0, 8_000.0]);
    }
}
