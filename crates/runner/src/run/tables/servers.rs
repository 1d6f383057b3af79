//! The tables of gateways, ASPs and application servers.

use slantpath_base::{Duration, Instant};
use slantpath_results::Table;
use slantpath_scenario::build::gateways_of;
use slantpath_scenario::schema::Signalling;
use slantpath_signalling::M3uaEventKind as Kind;
use slantpath_sigtran::asp::AsState;
use slantpath_sigtran::m3ua;
use slantpath_simulation::{
    AdaptationEvent, AdaptationId, AspId, GatewayId, ServerId, Side, SignallingNetwork, SignallingProcess,
};
use slantpath_ss7::PointCode;

use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;
use crate::run::signalling_record::SignallingRecord;
use crate::scenario::Scenario;

columns! {
    /// Columns of `signalling_associations`.
    pub(super) struct AssociationColumns {
        /// Name of the association.
        association: Text,
        /// Gateway or ASP at this end.
        at: Text,
        /// Adaptation layer that it carries.
        adaptation: Text,
        /// DATA messages that were sent.
        data_sent_messages: Count,
        /// DATA messages that were received.
        data_received_messages: Count,
        /// Other messages that were sent.
        other_sent_messages: Count,
        /// Other messages that were received.
        other_received_messages: Count,
        /// Number of times that the association came up.
        times_up: Count,
        /// Number of times that it was lost.
        times_lost: Count,
    }
}

columns! {
    /// Columns of `signalling_processes`. What was received or requested was forwarded, indicated or dropped, or waits.
    pub(super) struct ProcessColumns {
        /// Name of the gateway or the ASP.
        process: Text,
        /// Kind: `gateway` or `asp`.
        kind: Text,
        /// Messages that came from the far end.
        received_messages: Count,
        /// Messages that users or MTP3 asked it to send.
        requested_messages: Count,
        /// Messages that it sent on.
        forwarded_messages: Count,
        /// Messages that it gave to users or MTP3.
        indicated_messages: Count,
        /// Messages that it dropped, for whatever reason.
        dropped_messages: Count,
        /// Messages that wait at the end of the run.
        waiting_messages: Count,
        /// DATA messages that it sent; one for several ASPs counts for each (broadcast).
        data_sent_messages: Count,
        /// ERR messages that it sent.
        errors_sent: Count,
        /// ERR messages that it received.
        errors_received: Count,
        /// Messages that could not be read.
        malformed_messages: Count,
        /// Messages that were read and mean nothing in its state.
        ignored_messages: Count,
    }
}

columns! {
    /// Columns of `signalling_drops`.
    pub(super) struct DropColumns {
        /// Name of the gateway or the ASP.
        process: Text,
        /// Kind: `gateway` or `asp`.
        kind: Text,
        /// Reason for which messages were dropped.
        reason: Text,
        /// Messages that were dropped for it.
        dropped_messages: Count,
    }
}

columns! {
    /// Columns of `signalling_servers`.
    pub(super) struct ServerColumns {
        /// Name of the application server.
        application_server: Text,
        /// Gateway that serves it.
        gateway: Text,
        /// Number of times that it became active (AS-ACTIVE).
        times_active: Count,
        /// Number of times that it became pending (AS-PENDING).
        times_pending: Count,
        /// Time at which it first became active. Missing if it never did.
        active_at_s: Number,
        /// Time for which it was not active after that.
        outage_s: Number,
        /// Longest of these outages.
        outage_max_s: Number,
    }
}

columns! {
    /// Columns of `signalling_server_events`.
    pub(in crate::run) struct EventColumns {
        /// Time of the event.
        at_s: Number,
        /// Gateway or ASP that tells it.
        process: Text,
        /// Name of the association, of events that concern one.
        association: Text,
        /// Name of the application server, of events that concern one.
        application_server: Text,
        /// Event that was told.
        event: Text,
        /// Point that is concerned, of events of a destination.
        destination: Text,
        /// Level of congestion, of events that tell one.
        congestion_level: Count,
    }
}

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
    let mut columns = AssociationColumns::new();
    for (number, (association, table)) in signalling.associations.iter().enumerate() {
        for (side, end) in Side::BOTH.into_iter().zip([&table.gateway, &table.asp]) {
            let tally = network.adaptation_tally(AdaptationId(number), side);
            columns.association.push(association);
            columns.at.push(end.as_str());
            columns.adaptation.push(&table.adaptation.to_string());
            columns.data_sent_messages.push(tally.data_sent);
            columns.data_received_messages.push(tally.data_received);
            columns.other_sent_messages.push(tally.other_sent);
            columns.other_received_messages.push(tally.other_received);
            columns.times_up.push(tally.times_up);
            columns.times_lost.push(tally.times_lost);
        }
    }
    columns.finish(TableKind::SignallingAssociations)
}

/// One row for each gateway and each ASP: what came is what went, was dropped, or waits.
fn processes(signalling: &Signalling, network: &SignallingNetwork) -> Table {
    let mut columns = ProcessColumns::new();
    for (id, role, process) in processes_named(signalling) {
        let (counters, waiting) = network.m3ua_counters(id);
        columns.process.push(process);
        columns.kind.push(role);
        columns.received_messages.push(counters.received);
        columns.requested_messages.push(counters.requested);
        columns.forwarded_messages.push(counters.forwarded);
        columns.indicated_messages.push(counters.indicated);
        columns.dropped_messages.push(counters.dropped_in_all());
        columns.waiting_messages.push(u64::try_from(waiting).unwrap_or(u64::MAX));
        columns.data_sent_messages.push(counters.data_sent);
        columns.errors_sent.push(counters.errors_sent);
        columns.errors_received.push(counters.errors_received);
        columns.malformed_messages.push(counters.malformed);
        columns.ignored_messages.push(counters.ignored);
    }
    columns.finish(TableKind::SignallingProcesses)
}

/// One row for each reason for which a gateway or an ASP dropped messages.
fn drops(signalling: &Signalling, network: &SignallingNetwork) -> Table {
    let mut columns = DropColumns::new();
    for (id, role, process) in processes_named(signalling) {
        let (counters, _) = network.m3ua_counters(id);
        for reason in m3ua::DropReason::ALL.into_iter().filter(|reason| counters.dropped(*reason) > 0) {
            columns.process.push(process);
            columns.kind.push(role);
            columns.reason.push(reason.name());
            columns.dropped_messages.push(counters.dropped(reason));
        }
    }
    columns.finish(TableKind::SignallingDrops)
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
    let mut columns = ServerColumns::new();
    for (number, (server, table)) in signalling.application_servers.iter().enumerate() {
        let own = gateways_of(signalling, table);
        let gateways = signalling.gateways.iter().enumerate().filter(|(_, (name, _))| own.contains(name));
        for (place, (gateway, _)) in gateways {
            let served = record.served(GatewayId(place), ServerId(number)).until(end);
            columns.application_server.push(server);
            columns.gateway.push(gateway);
            columns.times_active.push(served.times_active);
            columns.times_pending.push(served.times_pending);
            columns.active_at_s.push_optional(served.first.map(|at| (at - Instant::START).as_secs_f64()));
            columns.outage_s.push_duration(served.outage);
            columns.outage_max_s.push_duration(served.outage_max);
        }
    }
    columns.finish(TableKind::SignallingServers)
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
            points: signalling.points.iter().map(|(name, point)| (point.code.0, name)).collect(),
        }
    }
}

/// Rows of `signalling_server_events`: what happened to associations, ASPs, application servers and destinations, as
/// each end saw it.
pub(in crate::run) fn event_rows(names: &Names<'_>, events: &[AdaptationEvent]) -> Table {
    let mut columns = EventColumns::new();
    for happened in events {
        let process = names.processes.iter().find(|(id, ..)| *id == happened.process);
        columns.at_s.push_instant(happened.at);
        columns.process.push(process.map_or("", |(.., name)| *name));
        columns.association.push_optional(happened.association.map(|own| names.associations[own.0]));
        columns.application_server.push_optional(happened.server.map(|own| names.servers[own.0]));
        columns.event.push(happened.kind.name());
        let point = happened.kind.destination().and_then(|affected| {
            names.points.iter().find(|(code, _)| *code == affected).map(|(_, name)| *name)
        });
        columns.destination.push_optional(point);
        columns.congestion_level.push_optional(match happened.kind {
            Kind::Congestion(_, level) => Some(u64::from(level)),
            _ => None,
        });
    }
    columns.finish(TableKind::SignallingServerEvents)
}
