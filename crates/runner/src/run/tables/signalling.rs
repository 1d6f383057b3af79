//! `signalling_load`, `signalling_links` and rows of `signalling_events`: what became of messages and of links.

use slantpath_base::{Duration, Instant};
use slantpath_results::Table;
use slantpath_scenario::build::{side_name, with_mtp3};
use slantpath_signalling::PointEventKind;
use slantpath_simulation::{
    self as simulation, LinkLoadReport, Side, SignallingLinkId, SignallingSimulation,
};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{Comparison, Verdict};
use slantpath_ss7::mtp3::node::InhibitError;

use super::{discards, mtp3, sccp, screening, servers};
use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;
use crate::run::signalling_record::SignallingRecord;
use crate::scenario::Scenario;

/// A table of a signalling network at the end of a run.
pub(in crate::run) enum SignallingTable {
    /// Table that is held here.
    Held(Table),
    /// Table whose rows were handed over while the run went on.
    HandedOver {
        /// Number of the table among those that were announced.
        table: usize,
        /// Number of its columns.
        columns: usize,
    },
}

/// All of them: loads and links, MTP3, SCCP and discards, and application servers. In this order they stand in the
/// run's digest.
pub(in crate::run) fn tables(
    scenario: &Scenario,
    simulation: &mut SignallingSimulation,
    record: &SignallingRecord<'_>,
    end: Instant,
) -> Vec<SignallingTable> {
    let network = simulation.signalling();
    let mut tables = mtp3::tables(scenario, network, end).to_vec();
    tables.extend([sccp::table(scenario, network), discards::table(scenario, network)]);
    tables.extend(screening::table(scenario, network));
    let mut tables: Vec<SignallingTable> = tables.into_iter().map(SignallingTable::Held).collect();
    tables.push(record.events_table());
    tables.push(SignallingTable::Held(links(scenario, simulation, record, end)));
    tables.push(SignallingTable::Held(load(scenario, simulation, end)));
    let servers = servers::tables(scenario, simulation.signalling(), record, end);
    tables.extend(servers.into_iter().map(SignallingTable::Held));
    tables.extend(record.server_events_table());
    tables
}

/// The name of the point with that code.
pub(super) fn name_of(scenario: &Scenario, wanted: PointCode) -> String {
    let mut points = scenario.signalling.points.iter();
    let found = points.find(|(_, point)| point.code.0 == wanted);
    found.map_or_else(|| format!("point code {}", wanted.0), |(name, _)| name.to_owned())
}

const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exceeded => "exceeded",
        Verdict::Kept => "kept",
        Verdict::Inconclusive => "inconclusive",
    }
}

columns! {
    /// Columns of `signalling_load`.
    pub(super) struct LoadColumns {
        /// Name of the load.
        load: Text,
        /// Number of the link of the load.
        link: Count,
        /// Messages that were sent.
        sent_messages: Count,
        /// Messages that were delivered.
        delivered_messages: Count,
        /// Messages that were delivered too late to count.
        late_messages: Count,
        /// Messages that were lost.
        lost_messages: Count,
        /// Messages that the layer below refused.
        refused_messages: Count,
        /// Messages that are on their way at the end of the run.
        outstanding_messages: Count,
        /// Messages that were delivered more than once.
        repeated_messages: Count,
        /// Messages that were delivered behind a later one.
        out_of_sequence_messages: Count,
        /// Shortest of the delays.
        delay_min_s: Number,
        /// Mean of the delays.
        delay_mean_s: Number,
        /// Median of the delays.
        delay_p50_s: Number,
        /// Delay that 95 % of messages do not exceed.
        delay_p95_s: Number,
        /// Delay that 99 % of messages do not exceed.
        delay_p99_s: Number,
        /// Longest of the delays.
        delay_max_s: Number,
        /// Time for which the destination was not available.
        unavailable_s: Number,
        /// Share of messages that were lost.
        loss_ratio: Number,
        /// Share that Q.706 allows.
        loss_allowed_ratio: Number,
        /// Verdict on it: `kept`, `exceeded` or `inconclusive`.
        loss_verdict: Text,
        /// Share of messages out of sequence or repeated.
        missequence_ratio: Number,
        /// Share that Q.706 allows.
        missequence_allowed_ratio: Number,
        /// Verdict on it.
        missequence_verdict: Text,
        /// Share of the time for which the destination was not available.
        unavailability_ratio: Number,
        /// Share that Q.706 allows.
        unavailability_allowed_ratio: Number,
        /// Verdict on it.
        unavailability_verdict: Text,
    }
}

columns! {
    /// Columns of `signalling_links`.
    pub(super) struct LinkColumns {
        /// Name of the signalling link.
        link: Text,
        /// Signalling point at this end.
        point: Text,
        /// Messages that MTP3 gave to the link.
        given_messages: Count,
        /// Messages that the link refused.
        refused_messages: Count,
        /// Messages that were sent.
        sent_messages: Count,
        /// Messages that were retransmitted, each time counted.
        repeated_messages: Count,
        /// Messages that were received.
        received_messages: Count,
        /// Messages that the link discarded.
        discarded_messages: Count,
        /// Signal units that were received with an error.
        errored_units: Count,
        /// Number of times that the link became available.
        times_available: Count,
        /// Number of times that it became unavailable.
        times_unavailable: Count,
        /// Time at which it first became available. Missing if it never did.
        available_at_s: Number,
        /// Time for which it was unavailable after that.
        outage_s: Number,
        /// Longest of these outages.
        outage_max_s: Number,
    }
}

columns! {
    /// Columns of `signalling_events`.
    pub(in crate::run) struct EventColumns {
        /// Time of the event.
        at_s: Number,
        /// Signalling point whose management hears it.
        point: Text,
        /// Name of the link, of events that concern one.
        link: Text,
        /// End of the link: `first` or `second`.
        end: Text,
        /// Event that was heard.
        event: Text,
        /// Congestion status of the link set, of events that tell one.
        congestion_status: Count,
        /// Detail of the event: a point or a subsystem, or the reason of a refusal.
        detail: Text,
    }
}

/// One row for each link of each load, with the limits of Q.706 beside it.
fn load(scenario: &Scenario, simulation: &mut SignallingSimulation, end: Instant) -> Table {
    let loads = scenario.signalling.load.iter().enumerate();
    let reports =
        loads.map(|(number, (load, _))| (load, simulation.signalling_mut().load_reports(end, number)));
    signalling_load_table(reports)
}

/// Table `signalling_load` of loads by their names, whoever has sent them: a run, or a traffic simulator.
pub fn signalling_load_table<'a>(loads: impl Iterator<Item = (&'a str, Vec<LinkLoadReport>)>) -> Table {
    let mut columns = LoadColumns::new();
    for (load, reports) in loads {
        for report in reports {
            let (load_link, report) = (report.link, report.report);
            columns.load.push(load);
            columns.link.push(u64::from(load_link.0));
            columns.sent_messages.push(report.sent);
            columns.delivered_messages.push(report.delivered);
            columns.late_messages.push(report.late);
            columns.lost_messages.push(report.lost);
            columns.refused_messages.push(report.refused);
            columns.outstanding_messages.push(report.outstanding);
            columns.repeated_messages.push(report.repeated);
            columns.out_of_sequence_messages.push(report.out_of_sequence);
            let seconds = |delay: Option<Duration>| delay.map(Duration::as_secs_f64);
            columns.delay_min_s.push_optional(seconds(report.delay_min));
            columns.delay_mean_s.push_optional(seconds(report.delay_mean));
            columns.delay_p50_s.push_optional(seconds(report.delay_p50));
            columns.delay_p95_s.push_optional(seconds(report.delay_p95));
            columns.delay_p99_s.push_optional(seconds(report.delay_p99));
            columns.delay_max_s.push_optional(seconds(report.delay_max));
            columns.unavailable_s.push_duration(report.unavailable);
            columns.push_limits(report.compare());
        }
    }
    columns.finish(TableKind::SignallingLoad)
}

impl LoadColumns {
    /// Adds what was measured beside what Q.706 allows: loss, missequence and unavailability.
    fn push_limits(&mut self, [loss, missequence, unavailability]: [Comparison; 3]) {
        let limits = [
            (loss, &mut self.loss_ratio, &mut self.loss_allowed_ratio, &mut self.loss_verdict),
            (
                missequence,
                &mut self.missequence_ratio,
                &mut self.missequence_allowed_ratio,
                &mut self.missequence_verdict,
            ),
            (
                unavailability,
                &mut self.unavailability_ratio,
                &mut self.unavailability_allowed_ratio,
                &mut self.unavailability_verdict,
            ),
        ];
        for (comparison, measured, allowed, verdict) in limits {
            measured.push(comparison.measured);
            allowed.push(comparison.allowed);
            verdict.push(verdict_name(comparison.verdict));
        }
    }
}

/// One row for each end of each link.
fn links(
    scenario: &Scenario,
    simulation: &SignallingSimulation,
    record: &SignallingRecord<'_>,
    end: Instant,
) -> Table {
    let signalling = simulation.signalling();
    let mut columns = LinkColumns::new();
    for (number, (link, table)) in scenario.signalling.links.iter().enumerate() {
        for (side, at) in Side::BOTH.into_iter().zip([&table.between.0, &table.between.1]) {
            let id = SignallingLinkId(number);
            let counters = signalling.link_counters(id, side);
            let availability = record.availability(id, side).until(end);
            columns.link.push(link);
            columns.point.push(at);
            columns.given_messages.push(counters.given);
            columns.refused_messages.push(counters.refused);
            columns.sent_messages.push(counters.sent);
            columns.repeated_messages.push(counters.repeated);
            columns.received_messages.push(counters.received);
            columns.discarded_messages.push(counters.discarded);
            columns.errored_units.push(counters.errored);
            columns.times_available.push(availability.times_available);
            columns.times_unavailable.push(availability.times_unavailable);
            let first = availability.first.map(|at| (at - Instant::START).as_secs_f64());
            columns.available_at_s.push_optional(first);
            columns.outage_s.push_duration(availability.outage);
            columns.outage_max_s.push_duration(availability.outage_max);
        }
    }
    columns.finish(TableKind::SignallingLinks)
}

/// Names of points and links.
#[derive(Clone, Debug)]
pub(in crate::run) struct Names<'a> {
    scenario: &'a Scenario,
    points: Vec<&'a str>,
    links: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(in crate::run) fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            points: with_mtp3(&scenario.signalling).map(|(_, name)| name).collect(),
            links: scenario.signalling.links.iter().map(|(name, _)| name).collect(),
        }
    }
}

/// Rows of `signalling_events`: what management of a point heard, and what it was refused.
pub(in crate::run) fn event_rows(names: &Names<'_>, events: &[simulation::Event]) -> Table {
    let mut columns = EventColumns::new();
    for happened in events {
        columns.at_s.push_instant(happened.at);
        columns.point.push(names.points[happened.point.0]);
        columns.link.push_optional(happened.link.map(|(link, _)| names.links[link.0]));
        columns.end.push_optional(happened.link.map(|(_, side)| side_name(side)));
        columns.event.push(happened.kind.name());
        let about = match happened.kind {
            PointEventKind::CoordinatedChangeGranted(ssn) | PointEventKind::CoordinatedChangeRefused(ssn) => {
                Some(format!("subsystem {}", ssn.0))
            }
            PointEventKind::InhibitionRefused(InhibitError::CutsOff(code)) => {
                Some(format!("would cut off {}", name_of(names.scenario, code)))
            }
            PointEventKind::InhibitionRefused(InhibitError::UnderWay) => Some("inhibited already".to_owned()),
            PointEventKind::LinkSetAvailable(code) | PointEventKind::LinkSetUnavailable(code) => {
                Some(name_of(names.scenario, code))
            }
            _ => None,
        };
        columns.congestion_status.push_optional(match happened.kind {
            PointEventKind::Congestion(status) => Some(u64::from(status)),
            _ => None,
        });
        columns.detail.push_optional(about.as_deref());
    }
    columns.finish(TableKind::SignallingEvents)
}
