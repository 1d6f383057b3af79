//! `signalling_load`, `signalling_links` and rows of `signalling_events`: what became of messages and of links.

use slantpath_base::{Duration, Instant};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{code, side_name, with_mtp3};
use slantpath_signalling::PointEventKind;
use slantpath_simulation::{Event, Side, SignallingLinkId, SignallingSimulation};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{Limit, Verdict};
use slantpath_ss7::mtp3::node::InhibitError;

use super::{discards, mtp3, sccp, servers};
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
    let found = points.find(|(name, _)| code(&scenario.signalling, name) == wanted);
    found.map_or_else(|| format!("point code {}", wanted.0), |(name, _)| name.to_owned())
}

const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Exceeded => "exceeded",
        Verdict::Kept => "kept",
        Verdict::Inconclusive => "inconclusive",
    }
}

const fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Loss => "loss",
        Limit::MisSequence => "missequence",
        Limit::Unavailability => "unavailability",
    }
}

/// One row for each link of each load, with the limits of Q.706 beside it.
fn load(scenario: &Scenario, simulation: &mut SignallingSimulation, end: Instant) -> Table {
    let mut name = TextColumn::new("load");
    let mut link = TypedColumn::<u64>::new("link");
    let mut counts = [
        "sent_messages",
        "delivered_messages",
        "late_messages",
        "lost_messages",
        "refused_messages",
        "outstanding_messages",
        "repeated_messages",
        "out_of_sequence_messages",
    ]
    .map(TypedColumn::<u64>::new);
    let mut delays =
        ["delay_min_s", "delay_mean_s", "delay_p50_s", "delay_p95_s", "delay_p99_s", "delay_max_s"]
            .map(TypedColumn::<f64>::new);
    let mut unavailable = TypedColumn::<f64>::new("unavailable_s");
    let limits = [Limit::Loss, Limit::MisSequence, Limit::Unavailability].map(limit_name);
    let mut measured = limits.map(|limit| TypedColumn::<f64>::new(format!("{limit}_ratio")));
    let mut allowed = limits.map(|limit| TypedColumn::<f64>::new(format!("{limit}_allowed_ratio")));
    let mut verdicts = limits.map(|limit| TextColumn::new(format!("{limit}_verdict")));
    for (number, (load, _)) in scenario.signalling.load.iter().enumerate() {
        for report in simulation.signalling_mut().load_reports(end, number) {
            let (load_link, report) = (report.link, report.report);
            name.push(load);
            link.push(u64::from(load_link.0));
            let cells = [
                report.sent,
                report.delivered,
                report.late,
                report.lost,
                report.refused,
                report.outstanding,
                report.repeated,
                report.out_of_sequence,
            ];
            counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
            let cells = [
                report.delay_min,
                report.delay_mean,
                report.delay_p50,
                report.delay_p95,
                report.delay_p99,
                report.delay_max,
            ];
            for (column, cell) in delays.iter_mut().zip(cells) {
                column.push_optional(cell.map(Duration::as_secs_f64));
            }
            unavailable.push_duration(report.unavailable);
            for (place, comparison) in report.compare().into_iter().enumerate() {
                measured[place].push(comparison.measured);
                allowed[place].push(comparison.allowed);
                verdicts[place].push(verdict_name(comparison.verdict));
            }
        }
    }
    let mut columns: Vec<Column> = vec![name.into(), link.into()];
    columns.extend(counts.map(Column::from));
    columns.extend(delays.map(Column::from));
    columns.push(unavailable.into());
    for ((measured, allowed), verdict) in measured.into_iter().zip(allowed).zip(verdicts) {
        columns.extend([measured.into(), allowed.into(), verdict.into()]);
    }
    TableKind::SignallingLoad.table(columns)
}

/// One row for each end of each link.
fn links(
    scenario: &Scenario,
    simulation: &SignallingSimulation,
    record: &SignallingRecord<'_>,
    end: Instant,
) -> Table {
    let signalling = simulation.signalling();
    let [mut name, mut point] = ["link", "point"].map(TextColumn::new);
    let mut counts = [
        "given_messages",
        "refused_messages",
        "sent_messages",
        "repeated_messages",
        "received_messages",
        "discarded_messages",
        "errored_units",
        "times_available",
        "times_unavailable",
    ]
    .map(TypedColumn::<u64>::new);
    let [mut first, mut outage, mut outage_max] =
        ["available_at_s", "outage_s", "outage_max_s"].map(TypedColumn::<f64>::new);
    for (number, (link, table)) in scenario.signalling.links.iter().enumerate() {
        for (side, at) in Side::BOTH.into_iter().zip([&table.between.0, &table.between.1]) {
            let id = SignallingLinkId(number);
            let counters = signalling.link_counters(id, side);
            let availability = record.availability(id, side).until(end);
            name.push(link);
            point.push(at);
            let cells = [
                counters.given,
                counters.refused,
                counters.sent,
                counters.repeated,
                counters.received,
                counters.discarded,
                counters.errored,
                availability.times_available,
                availability.times_unavailable,
            ];
            counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
            first.push_optional(availability.first.map(|at| (at - Instant::START).as_secs_f64()));
            outage.push_duration(availability.outage);
            outage_max.push_duration(availability.outage_max);
        }
    }
    let mut columns: Vec<Column> = vec![name.into(), point.into()];
    columns.extend(counts.map(Column::from));
    columns.extend([first.into(), outage.into(), outage_max.into()]);
    TableKind::SignallingLinks.table(columns)
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
pub(in crate::run) fn event_rows(names: &Names<'_>, events: &[Event]) -> Table {
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut point, mut link, mut end, mut event, mut detail] =
        ["point", "link", "end", "event", "detail"].map(TextColumn::new);
    let mut status = TypedColumn::<u64>::new("congestion_status");
    for happened in events {
        at.push_instant(happened.at);
        point.push(names.points[happened.point.0]);
        link.push_optional(happened.link.map(|(link, _)| names.links[link.0]));
        end.push_optional(happened.link.map(|(_, side)| side_name(side)));
        event.push(happened.kind.name());
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
        detail.push_optional(about.as_deref());
        status.push_optional(match happened.kind {
            PointEventKind::Congestion(status) => Some(u64::from(status)),
            _ => None,
        });
    }
    let columns =
        [at.into(), point.into(), link.into(), end.into(), event.into(), status.into(), detail.into()];
    TableKind::SignallingEvents.table(columns)
}
