//! The tables of gateways, ASPs and application servers.

use slantpath_base::{Duration, Instant};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{code, gateways_of};
use slantpath_scenario::schema::Signalling;
use slantpath_signalling::M3uaEventKind as Kind;
use slantpath_sigtran::asp::AsState;
use slantpath_sigtran::m3ua::DropReason;
use slantpath_simulation::{
    AdaptationEvent, AdaptationId, AspId, GatewayId, ServerId, Side, SignallingNetwork, SignallingProcess,
};
use slantpath_ss7::PointCode;

use crate::output::TableKind;
use crate::run::signalling_record::SignallingRecord;
use crate::scenario::Scenario;

/// All of them but for events; none for a scenario without associations.
pub(super) fn tables(
    scenario: &Scenario,
    network: &SignallingNetwork,
    record: &SignallingRecord<'_>,
    end: Instant,
) -> Vec<Table> {
    let signalling = &*scenario.signalling;
    if signalling.associations.is_empty() {
        return Vec::new();
    }
    vec![
        associations(signalling, network),
        processes(signalling, network),
        drops(signalling, network),
        servers(signalling, record, end),
    ]
}

/// Gateways and ASPs with their names.
fn processes_named(signalling: &Signalling) -> Vec<(SignallingProcess, &'static str, &str)> {
    let gateways = signalling.gateways.iter().enumerate();
    let gateways =
        gateways.map(|(number, (name, _))| (SignallingProcess::Gateway(GatewayId(number)), "gateway", name));
    let asps = signalling.asps.iter().enumerate();
    let asps = asps.map(|(number, (name, _))| (SignallingProcess::Asp(AspId(number)), "asp", name));
    gateways.chain(asps).collect()
}

/// One row for each end of each association.
fn associations(signalling: &Signalling, network: &SignallingNetwork) -> Table {
    let [mut name, mut at, mut adaptation] = ["association", "at", "adaptation"].map(TextColumn::new);
    let mut counts = [
        "data_sent_messages",
        "data_received_messages",
        "other_sent_messages",
        "other_received_messages",
        "times_up",
        "times_lost",
    ]
    .map(TypedColumn::<u64>::new);
    for (number, (association, table)) in signalling.associations.iter().enumerate() {
        for (side, end) in Side::BOTH.into_iter().zip([&table.gateway, &table.asp]) {
            let tally = network.adaptation_tally(AdaptationId(number), side);
            name.push(association);
            at.push(end.as_str());
            adaptation.push(&table.adaptation.to_string());
            let cells = [
                tally.data_sent,
                tally.data_received,
                tally.other_sent,
                tally.other_received,
                tally.times_up,
                tally.times_lost,
            ];
            counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        }
    }
    let mut columns: Vec<Column> = vec![name.into(), at.into(), adaptation.into()];
    columns.extend(counts.map(Column::from));
    TableKind::SignallingAssociations.table(columns)
}

/// One row for each gateway and each ASP: what came is what went, was dropped, or waits.
fn processes(signalling: &Signalling, network: &SignallingNetwork) -> Table {
    let [mut name, mut kind] = ["process", "kind"].map(TextColumn::new);
    let mut counts = [
        "received_messages",
        "requested_messages",
        "forwarded_messages",
        "indicated_messages",
        "dropped_messages",
        "waiting_messages",
        "data_sent_messages",
        "errors_sent",
        "errors_received",
        "malformed_messages",
        "ignored_messages",
    ]
    .map(TypedColumn::<u64>::new);
    for (id, role, process) in processes_named(signalling) {
        let (counters, waiting) = network.m3ua_counters(id);
        name.push(process);
        kind.push(role);
        let cells = [
            counters.received,
            counters.requested,
            counters.forwarded,
            counters.indicated,
            counters.dropped_in_all(),
            u64::try_from(waiting).unwrap_or(u64::MAX),
            counters.data_sent,
            counters.errors_sent,
            counters.errors_received,
            counters.malformed,
            counters.ignored,
        ];
        counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
    }
    let mut columns: Vec<Column> = vec![name.into(), kind.into()];
    columns.extend(counts.map(Column::from));
    TableKind::SignallingProcesses.table(columns)
}

/// One row for each reason for which a gateway or an ASP dropped messages.
fn drops(signalling: &Signalling, network: &SignallingNetwork) -> Table {
    let [mut name, mut kind, mut why] = ["process", "kind", "reason"].map(TextColumn::new);
    let mut dropped = TypedColumn::<u64>::new("dropped_messages");
    for (id, role, process) in processes_named(signalling) {
        let (counters, _) = network.m3ua_counters(id);
        for reason in DropReason::ALL.into_iter().filter(|reason| counters.dropped(*reason) > 0) {
            name.push(process);
            kind.push(role);
            why.push(reason.name());
            dropped.push(counters.dropped(reason));
        }
    }
    let columns = [name.into(), kind.into(), why.into(), dropped.into()];
    TableKind::SignallingDrops.table(columns)
}

/// Service of an application server at a gateway. Traffic that is held is not served yet.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Served {
    times_active: u64,
    times_pending: u64,
    first: Option<Instant>,
    outage: Duration,
    outage_max: Duration,
    /// Since when it is not served, if it is not and was before.
    since: Option<Instant>,
}

impl Served {
    /// The next change of its state.
    pub(in crate::run) fn observe(&mut self, at: Instant, state: AsState) {
        match state {
            AsState::Active => {
                self.times_active += 1;
                self.first.get_or_insert(at);
                self.end_outage(at);
            }
            AsState::Down | AsState::Inactive | AsState::Pending => {
                self.times_pending += u64::from(state == AsState::Pending);
                if self.first.is_some() {
                    self.since.get_or_insert(at);
                }
            }
        }
    }

    /// Gives this service with an outage that lasts counted up to `end`.
    fn until(mut self, end: Instant) -> Self {
        self.end_outage(end);
        self
    }

    fn end_outage(&mut self, at: Instant) {
        let Some(since) = self.since.take() else { return };
        self.outage += at - since;
        self.outage_max = self.outage_max.max(at - since);
    }
}

/// One row for each application server at each of its gateways.
fn servers(signalling: &Signalling, record: &SignallingRecord<'_>, end: Instant) -> Table {
    let [mut name, mut at] = ["application_server", "gateway"].map(TextColumn::new);
    let mut counts = ["times_active", "times_pending"].map(TypedColumn::<u64>::new);
    let [mut first, mut outage, mut outage_max] =
        ["active_at_s", "outage_s", "outage_max_s"].map(TypedColumn::<f64>::new);
    for (number, (server, table)) in signalling.application_servers.iter().enumerate() {
        for gateway in gateways_of(signalling, table) {
            let id = GatewayId(signalling.gateways.position(gateway).expect("a check resolves gateways"));
            let served = record.served(id, ServerId(number)).until(end);
            name.push(server);
            at.push(gateway);
            let cells = [served.times_active, served.times_pending];
            counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
            first.push_optional(served.first.map(|at| (at - Instant::START).as_secs_f64()));
            outage.push_duration(served.outage);
            outage_max.push_duration(served.outage_max);
        }
    }
    let mut columns: Vec<Column> = vec![name.into(), at.into()];
    columns.extend(counts.map(Column::from));
    columns.extend([first.into(), outage.into(), outage_max.into()]);
    TableKind::SignallingServers.table(columns)
}

/// Names of processes, associations, application servers and points.
#[derive(Clone, Debug)]
pub(in crate::run) struct Names<'a> {
    processes: Vec<(SignallingProcess, &'static str, &'a str)>,
    associations: Vec<&'a str>,
    servers: Vec<&'a str>,
    points: Vec<(PointCode, &'a str)>,
}

impl<'a> Names<'a> {
    pub(in crate::run) fn new(signalling: &'a Signalling) -> Self {
        Self {
            processes: processes_named(signalling),
            associations: signalling.associations.iter().map(|(name, _)| name).collect(),
            servers: signalling.application_servers.iter().map(|(name, _)| name).collect(),
            points: signalling.points.iter().map(|(name, _)| (code(signalling, name), name)).collect(),
        }
    }
}

/// Rows of `signalling_server_events`: what happened to associations, ASPs, application servers and destinations, as
/// each end saw it.
pub(in crate::run) fn event_rows(names: &Names<'_>, events: &[AdaptationEvent]) -> Table {
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut seen_by, mut association, mut server, mut event, mut destination] =
        ["process", "association", "application_server", "event", "destination"].map(TextColumn::new);
    let mut level = TypedColumn::<u64>::new("congestion_level");
    for happened in events {
        at.push_instant(happened.at);
        let process = names.processes.iter().find(|(id, ..)| *id == happened.process);
        seen_by.push(process.map_or("", |(.., name)| *name));
        association.push_optional(happened.association.map(|own| names.associations[own.0]));
        server.push_optional(happened.server.map(|own| names.servers[own.0]));
        event.push(happened.kind.name());
        let point = happened.kind.destination().and_then(|affected| {
            names.points.iter().find(|(code, _)| *code == affected).map(|(_, name)| *name)
        });
        destination.push_optional(point);
        level.push_optional(match happened.kind {
            Kind::Congestion(_, level) => Some(u64::from(level)),
            _ => None,
        });
    }
    let columns = [
        at.into(),
        seen_by.into(),
        association.into(),
        server.into(),
        event.into(),
        destination.into(),
        level.into(),
    ];
    TableKind::SignallingServerEvents.table(columns)
}
