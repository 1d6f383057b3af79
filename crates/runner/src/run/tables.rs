//! The tables of a run: the columns of each, and those that every run gives.

mod abandonments;
mod association_commands;
pub(super) mod attached;
pub(super) mod datagrams;
pub(super) mod delays;
mod discards;
pub(super) mod drops;
pub(super) mod failovers;
pub(super) mod flows;
pub(super) mod host_pairs;
mod hosts;
pub(super) mod intervals;
pub(super) mod messages;
mod mtp3;
pub(super) mod network;
pub(super) mod outages;
pub(super) mod requests;
mod sccp;
mod screening;
pub(super) mod script;
pub(super) mod servers;
pub(super) mod sessions;
pub(super) mod signalling;
pub(super) mod signalling_failovers;
pub(super) mod sky;
pub(super) mod sky_places;
pub(super) mod timelines;

use slantpath_applications::Flows;
use slantpath_applications::record::{ReceiverReport, SenderReport};
use slantpath_reader::Named;
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedFlow, PlannedLink, RunNetwork};
use slantpath_scenario::schema;

use super::failover_sums::FailoverSums;
use super::recorder::DelaySummary;
use crate::columns::{ColumnDeclaration, Field, declared};
use crate::output::TableKind;
use crate::scenario::Scenario;
use hosts::HostCounts;

/// Functions that follow from the columns of a table.
struct Shape {
    columns: fn() -> Vec<ColumnDeclaration>,
    header: fn(TableKind) -> Table,
}

const fn of<F: Field<Names = ()>>() -> Shape {
    fn header<F: Field<Names = ()>>(kind: TableKind) -> Table {
        let mut columns = Vec::new();
        F::empty(&()).give(&mut columns);
        kind.table(columns)
    }
    Shape { columns: declared::<F>, header: header::<F> }
}

const fn shape(kind: TableKind) -> Shape {
    match kind {
        TableKind::Abandonments => of::<abandonments::Columns>(),
        TableKind::Access => of::<super::access_record::Columns>(),
        TableKind::Antennas => of::<sky::AntennaColumns>(),
        TableKind::AssociationCommands => of::<association_commands::Columns>(),
        TableKind::AssociationIntervals => of::<intervals::AssociationIntervals>(),
        TableKind::AssociationPaths => of::<network::AssociationPathColumns>(),
        TableKind::AttachedInterfaces => of::<attached::Columns>(),
        TableKind::Datagrams => of::<datagrams::Columns>(),
        TableKind::DelayBins => of::<delays::BinColumns>(),
        TableKind::Delays => of::<delays::DelayColumns>(),
        TableKind::Drops => of::<drops::Columns>(),
        TableKind::Failovers => of::<failovers::Columns>(),
        TableKind::FlowIntervals => of::<intervals::FlowIntervals>(),
        TableKind::Flows => of::<flows::Columns>(),
        TableKind::Handovers => of::<sky::HandoverColumns>(),
        TableKind::HostPaths => of::<outages::HostPathColumns>(),
        TableKind::HostPairs => of::<host_pairs::Columns>(),
        TableKind::Hosts => of::<hosts::Columns>(),
        TableKind::InterSatelliteLinks | TableKind::Links => of::<network::LinkColumns>(),
        TableKind::LinkIntervals => of::<intervals::LinkIntervals>(),
        TableKind::Messages => of::<messages::Columns>(),
        TableKind::Mtp3 => of::<mtp3::PointColumns>(),
        TableKind::Mtp3Destinations => of::<mtp3::DestinationColumns>(),
        TableKind::Mtp3LinkSets => of::<mtp3::LinkSetColumns>(),
        TableKind::Mtp3Links => of::<mtp3::LinkColumns>(),
        TableKind::Mtp3Routes => of::<mtp3::RouteColumns>(),
        TableKind::Outages => of::<outages::OutageColumns>(),
        TableKind::Paths => of::<network::PathColumns>(),
        TableKind::Queues => of::<network::QueueColumns>(),
        TableKind::RequestSources => of::<requests::RequestSums>(),
        TableKind::Requests => of::<requests::RequestRows>(),
        TableKind::RoundTrips => of::<datagrams::RoundTripColumns>(),
        TableKind::Sccp => of::<sccp::Columns>(),
        TableKind::Script => of::<script::Columns>(),
        TableKind::SessionSources => of::<sessions::SourceColumns>(),
        TableKind::Sessions => of::<sessions::Rows>(),
        TableKind::SharedDownlinkIntervals => of::<intervals::SharedDownlinkIntervals>(),
        TableKind::SharedDownlinks => of::<sky::SharedDownlinkColumns>(),
        TableKind::SignallingAssociations => of::<servers::AssociationColumns>(),
        TableKind::SignallingDiscards => of::<discards::Columns>(),
        TableKind::SignallingDrops => of::<servers::DropColumns>(),
        TableKind::SignallingEvents => of::<signalling::EventColumns>(),
        TableKind::SignallingFailovers => of::<signalling_failovers::Columns>(),
        TableKind::SignallingLinkIntervals => of::<intervals::SignallingLinkIntervals>(),
        TableKind::SignallingLinks => of::<signalling::LinkColumns>(),
        TableKind::SignallingLoad => of::<signalling::LoadColumns>(),
        TableKind::SignallingProcesses => of::<servers::ProcessColumns>(),
        TableKind::SignallingScreening => of::<screening::Columns>(),
        TableKind::SignallingServerEvents => of::<servers::EventColumns>(),
        TableKind::SignallingService => of::<signalling_failovers::ServiceColumns>(),
        TableKind::SignallingServers => of::<servers::ServerColumns>(),
        TableKind::SkyContacts => of::<sky_places::ContactColumns>(),
        TableKind::SkyNodes => of::<sky_places::NodeColumns>(),
        TableKind::SkyPaths => of::<sky::PathColumns>(),
        TableKind::SkyPositions => of::<sky_places::PositionColumns>(),
        TableKind::Timelines => of::<timelines::Columns>(),
    }
}

impl TableKind {
    /// Columns of the table, in their order. Every run that gives the table gives all of them.
    pub fn columns(self) -> Vec<ColumnDeclaration> {
        (shape(self).columns)()
    }

    /// Table without rows.
    pub(crate) fn header(self) -> Table {
        (shape(self).header)(self)
    }
}

/// Counts of flows and hosts when the warm-up ended, in their order; nothing without a warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct AtWarmUp {
    flows: Vec<FlowCounts>,
    hosts: Vec<HostCounts>,
    abandoned: Vec<abandonments::Counts>,
}

/// Counters of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCounts {
    messages_sent: u64,
    bytes_sent: u64,
    messages_delivered: u64,
    bytes_delivered: u64,
    messages_corrupt: u64,
    messages_out_of_order: u64,
    messages_abandoned: u64,
}

impl AtWarmUp {
    pub(super) fn observe(network: &RunNetwork<'_>, flows: &[PlannedFlow]) -> Self {
        let counts =
            |flow: &PlannedFlow| FlowCounts::of(sender_report(network, flow), receiver_report(network, flow));
        Self {
            flows: flows.iter().map(counts).collect(),
            hosts: network.hosts().iter().map(hosts::counts).collect(),
            abandoned: flows.iter().map(|flow| abandonments::counts(sender_report(network, flow))).collect(),
        }
    }

    fn host(&self, place: usize) -> HostCounts {
        self.hosts.get(place).copied().unwrap_or_default()
    }

    fn abandoned(&self, place: usize) -> &abandonments::Counts {
        const NONE: &abandonments::Counts = &abandonments::Counts::new();
        self.abandoned.get(place).unwrap_or(NONE)
    }

    fn flow(&self, place: usize) -> FlowCounts {
        self.flows.get(place).copied().unwrap_or_default()
    }
}

impl FlowCounts {
    fn of(sender: &SenderReport, receiver: &ReceiverReport) -> Self {
        Self {
            messages_sent: sender.messages_sent,
            bytes_sent: sender.bytes_sent,
            messages_delivered: receiver.messages_delivered,
            bytes_delivered: receiver.bytes_delivered,
            messages_corrupt: receiver.messages_corrupt,
            messages_out_of_order: receiver.messages_out_of_order,
            messages_abandoned: sender.messages_abandoned(),
        }
    }
}

/// Statistics of a flow: of its delays, and of its failovers if it may have any.
type FlowSums = (DelaySummary, Option<FailoverSums>);

/// The tables that do not grow with the length of the run, but for those of signalling.
pub(super) fn tables(
    scenario: &Scenario,
    network: &mut RunNetwork<'_>,
    links: &[PlannedLink],
    flows: &[PlannedFlow],
    (at_warm_up, asked): (&AtWarmUp, &[Named<schema::Event>]),
    sums: &[FlowSums],
) -> Vec<Table> {
    let mut tables = vec![
        flows::table(scenario, network, flows, at_warm_up, sums),
        hosts::table(network, at_warm_up),
        network::links(TableKind::Links, scenario, network, of_nodes(links)),
    ];
    tables.extend(abandonments::table(network, flows, at_warm_up));
    tables.extend(association_commands::table(network, flows));
    tables.extend(script::table(scenario, asked));
    tables
}

pub(super) fn sender_report<'a>(network: &'a RunNetwork<'_>, flow: &PlannedFlow) -> &'a SenderReport {
    network.host(flow.from).sender_report(flow.sender).expect("the flow's sender was put there")
}

pub(super) fn receiver_report<'a>(network: &'a RunNetwork<'_>, flow: &PlannedFlow) -> &'a ReceiverReport {
    network.host(flow.to).receiver_report(flow.receiver).expect("the flow's receiver was put there")
}

/// Gives the links that end at a node of the scenario.
pub(super) fn of_nodes(links: &[PlannedLink]) -> &[PlannedLink] {
    &links[..first_between_satellites(links)]
}

/// Gives the links between satellites.
pub(super) fn between_satellites(links: &[PlannedLink]) -> &[PlannedLink] {
    &links[first_between_satellites(links)..]
}

/// They come last, and no node of the scenario has an address on them.
fn first_between_satellites(links: &[PlannedLink]) -> usize {
    links.partition_point(|link| link.ends_at_node)
}

/// The name of one of a flow's paths, which may have none.
fn path_name(paths: &[Option<String>], path: u8) -> Option<&str> {
    paths.get(usize::from(path))?.as_deref()
}
