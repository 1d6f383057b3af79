//! Figures of a seat for Prometheus: one table of names, helps and samples ([`table`]), from which the page of them
//! follows.
//!
//! What is measured after Q.752 is also told as the increase in the last whole interval of 5 and of 30 minutes, as
//! metrics of the same name that end in `_last` in place of `_total`.

mod figures;
mod table;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use slantpath_applications::Host;
use slantpath_base::{Duration, Instant};
use slantpath_signalling::network::{Carried, SignallingEntity, SignallingLinkId};

use super::Seat;
use crate::delays::{BOUNDS, SeatDelays};
use crate::exposition::{Exposition, MetricKind, labels};

use figures::{Figures, Samples, count};
pub use table::METRICS;

/// A metric, with how its samples are made.
pub struct GatewayMetric {
    /// Name of the metric.
    pub name: &'static str,
    /// Kind of the metric.
    pub kind: MetricKind,
    /// Meaning of the metric, in words.
    pub help: &'static str,
    /// Labels of its samples.
    pub labels: &'static [&'static str],
    /// True if it is told by intervals, too.
    pub is_measured: bool,
    samples: fn(&Figures<'_>, &mut Samples<'_>),
}

/// Lengths of the intervals, in minutes.
const INTERVALS: [u64; 2] = [5, 30];

impl Figures<'_> {
    /// Samples of what is measured by intervals, by metric and labels.
    fn series(&self) -> Series {
        let mut series = Series::new();
        for (place, metric) in METRICS.iter().enumerate().filter(|(_, metric)| metric.is_measured) {
            (metric.samples)(self, &mut |values, value| {
                series.insert((place, labels(metric.labels, values)), value);
            });
        }
        series
    }
}

/// Values by the place of their metric, and by their labels.
type Series = BTreeMap<(usize, String), f64>;

/// Figures over time: what increased in whole intervals.
#[derive(Debug)]
pub struct Measuring {
    intervals: [Interval; INTERVALS.len()],
}

/// An interval that is under way, and the one before it.
#[derive(Clone, Debug, Default)]
struct Interval {
    begun: Instant,
    at_begin: Series,
    increased: Option<Series>,
}

impl Measuring {
    /// Begins with the first interval at `now`; what was before is no part of it. Delays are measured from now on.
    pub fn begin(now: Instant, seat: &mut Seat, host: &mut Host) -> Self {
        seat.measure_delays();
        let at_begin = Figures::of(now, seat, host).series();
        let interval = Interval { begun: now, at_begin, increased: None };
        Self { intervals: [interval.clone(), interval] }
    }

    /// Instant at which an interval ends.
    pub fn deadline(&self) -> Instant {
        let ends = self.intervals.iter().zip(INTERVALS).map(|(own, minutes)| own.begun + length(minutes));
        ends.min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Ends intervals that are over.
    pub fn follow(&mut self, now: Instant, seat: &Seat, host: &mut Host) {
        if now < self.deadline() {
            return;
        }
        let series = Figures::of(now, seat, host).series();
        for (interval, minutes) in self.intervals.iter_mut().zip(INTERVALS) {
            if now < interval.begun + length(minutes) {
                continue;
            }
            while now >= interval.begun + length(minutes) {
                interval.begun += length(minutes);
            }
            let before = std::mem::replace(&mut interval.at_begin, series.clone());
            let increase = |(key, value): (&(usize, String), &f64)| {
                (key.clone(), grown(before.get(key).copied(), *value))
            };
            interval.increased = Some(series.iter().map(increase).collect());
        }
    }

    /// Gives all figures as text for Prometheus.
    pub fn text(&self, now: Instant, seat: &Seat, host: &mut Host) -> String {
        let figures = Figures::of(now, seat, host);
        let mut out = Exposition::default();
        for (place, metric) in METRICS.iter().enumerate() {
            out.begin(metric.name, metric.kind, metric.help);
            if metric.kind == MetricKind::Histogram {
                delays(seat, metric.name, &mut out);
                continue;
            }
            (metric.samples)(&figures, &mut |values, value| {
                out.sample(metric.name, &labels(metric.labels, values), value);
            });
            if metric.is_measured {
                self.increases(place, metric, &mut out);
            }
        }
        out.into_text()
    }

    fn increases(&self, place: usize, metric: &GatewayMetric, out: &mut Exposition) {
        let name = last_name(metric.name);
        out.begin(&name, MetricKind::Gauge, &format!("{LAST} {}", metric.help));
        for (interval, minutes) in self.intervals.iter().zip(INTERVALS) {
            let from = (place, String::new())..(place + 1, String::new());
            for ((_, own), value) in interval.increased.iter().flat_map(|series| series.range(from.clone())) {
                out.sample(&name, &format!("{own},minutes=\"{minutes}\""), *value);
            }
        }
    }
}

impl Seat {
    /// Measures delays of messages through it from now on, by link sets and processes.
    fn measure_delays(&mut self) {
        self.passage.delays = Some(SeatDelays::new(self.code_format(), self.delay_groups()));
    }

    /// Goes on measuring with the associations that there are now.
    pub(super) fn regroup_delays(&mut self) {
        let groups = self.delay_groups();
        if let Some(delays) = &mut self.passage.delays {
            delays.regroup(groups);
        }
    }

    /// Name of the link set or the process of each association.
    fn delay_groups(&self) -> Vec<String> {
        let group = |end: &super::Association| match end.config.carried {
            Carried::Adaptation(id) => {
                let ends = self.network.m3ua.associations[id.0];
                match self.occupant {
                    SignallingEntity::Point(_) => self.network.m3ua.asps[ends.asp.0].name.clone(),
                    SignallingEntity::Process(_) => self.network.m3ua.gateways[ends.gateway.0].name.clone(),
                }
            }
            Carried::Link(id) => self.link_set_of(id).unwrap_or_else(|| end.config.name.clone()),
        };
        self.associations.iter().map(group).collect()
    }

    /// Name of the link set of a link that ends here.
    fn link_set_of(&self, id: SignallingLinkId) -> Option<String> {
        let place = self.links.iter().position(|link| *link == id)?;
        let sets = &self.entity.as_point()?.mtp3().config().link_sets;
        let mut names = sets.iter().flat_map(|set| set.links.iter().map(|_| &set.name));
        names.nth(place).cloned()
    }
}

/// Increase of a counter. One that is less than before has begun anew, as a link does that a reload changes.
fn grown(before: Option<f64>, value: f64) -> f64 {
    before.filter(|before| *before <= value).map_or(value, |before| value - before)
}

/// Words in front of the help of a metric by intervals.
const LAST: &str = "Increase in the last whole interval of so many minutes:";

/// Name of a metric by intervals.
fn last_name(name: &str) -> String {
    format!("{}_last", name.trim_end_matches("_total"))
}

const fn length(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// Histograms of delays: each bucket has what is in those below it, too.
fn delays(seat: &Seat, name: &str, out: &mut Exposition) {
    let Some(delays) = &seat.passage.delays else { return };
    for (from, to, histogram) in delays.pairs() {
        let pair = labels(&["from", "to"], &[from, to]);
        let mut below = 0;
        let bounds = BOUNDS.iter().map(|bound| bound.as_secs_f64().to_string()).chain(["+Inf".to_owned()]);
        for (bound, number) in bounds.zip(histogram.counts) {
            below += number;
            out.sample(&format!("{name}_bucket"), &format!("{pair},le=\"{bound}\""), count(below));
        }
        out.sample(&format!("{name}_sum"), &pair, histogram.sum.as_secs_f64());
        out.sample(&format!("{name}_count"), &pair, count(below));
    }
}

/// The page of all metrics.
pub fn metrics_page() -> String {
    let mut page = "# Figures of a live gateway\n\n\
        Written from the table in `crates/gateway/src/seat/metrics/table.rs`. `slantpath gateway --metrics` tells \
        them at `/metrics`, in Prometheus's text format ([gateway](gateway.md#figures)).\n\nA metric with *yes* is \
        also told as the increase in the last whole interval of 5 and of 30 minutes: `_last` stands in place of \
        `_total`, and the label `minutes` is `5` or `30`.\n\n\
        | metric | kind | labels | intervals | meaning |\n|---|---|---|---|---|\n"
        .to_owned();
    for GatewayMetric { name, kind, help, labels, is_measured, .. } in METRICS {
        let quoted: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let (labels, kind) = (quoted.join(", "), kind.name());
        let intervals = if *is_measured { "yes" } else { "" };
        let _ = writeln!(page, "| `{name}` | {kind} | {labels} | {intervals} | {help} |");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_metric() {
        slantpath_testkit::page::hold("docs/gateway-metrics.md", &metrics_page());
    }

    #[test]
    fn a_counter_that_begins_anew_has_grown_from_nothing() {
        let of = |before, value| grown(before, value).to_string();
        assert_eq!([of(None, 3.0), of(Some(2.0), 3.0), of(Some(9.0), 3.0)], ["3", "1", "3"]);
    }

    #[test]
    fn names_are_once_each_and_of_one_form() {
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        for name in &names {
            assert!(name.starts_with("slantpath_") && !name.contains(|letter: char| letter.is_uppercase()));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
        assert!(METRICS.iter().all(|metric| !metric.is_measured || metric.kind == MetricKind::Counter));
    }
}
