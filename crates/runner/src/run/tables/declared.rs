//! Declaration of every table that there is.

use slantpath_results::Table;

use super::{
    abandonments, association_commands, delays, discards, flows, host_pairs, hosts, intervals, messages,
    mtp3, network, requests, sccp, servers, sessions, signalling, sky, timelines,
};
use crate::columns::{ColumnDeclaration, Field, declared};
use crate::output::TableKind;
use crate::run::access_record;

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
        TableKind::Access => of::<access_record::Columns>(),
        TableKind::Antennas => of::<sky::AntennaColumns>(),
        TableKind::AssociationCommands => of::<association_commands::Columns>(),
        TableKind::AssociationIntervals => of::<intervals::AssociationIntervals>(),
        TableKind::AssociationPaths => of::<network::AssociationPathColumns>(),
        TableKind::DelayBins => of::<delays::BinColumns>(),
        TableKind::Delays => of::<delays::DelayColumns>(),
        TableKind::FlowIntervals => of::<intervals::FlowIntervals>(),
        TableKind::Flows => of::<flows::Columns>(),
        TableKind::Handovers => of::<sky::HandoverColumns>(),
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
        TableKind::Paths => of::<network::PathColumns>(),
        TableKind::Queues => of::<network::QueueColumns>(),
        TableKind::RequestSources => of::<requests::RequestSums>(),
        TableKind::Requests => of::<requests::RequestRows>(),
        TableKind::Sccp => of::<sccp::Columns>(),
        TableKind::SessionSources => of::<sessions::SourceColumns>(),
        TableKind::Sessions => of::<sessions::Rows>(),
        TableKind::SharedDownlinkIntervals => of::<intervals::SharedDownlinkIntervals>(),
        TableKind::SharedDownlinks => of::<sky::SharedDownlinkColumns>(),
        TableKind::SignallingAssociations => of::<servers::AssociationColumns>(),
        TableKind::SignallingDiscards => of::<discards::Columns>(),
        TableKind::SignallingDrops => of::<servers::DropColumns>(),
        TableKind::SignallingEvents => of::<signalling::EventColumns>(),
        TableKind::SignallingLinkIntervals => of::<intervals::SignallingLinkIntervals>(),
        TableKind::SignallingLinks => of::<signalling::LinkColumns>(),
        TableKind::SignallingLoad => of::<signalling::LoadColumns>(),
        TableKind::SignallingProcesses => of::<servers::ProcessColumns>(),
        TableKind::SignallingServerEvents => of::<servers::EventColumns>(),
        TableKind::SignallingServers => of::<servers::ServerColumns>(),
        TableKind::SkyPaths => of::<sky::PathColumns>(),
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
