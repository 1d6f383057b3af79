//! Events of a signalling network, handed over as they happen, and what the tables of its end need of them.

use std::collections::BTreeMap;
use std::io;

use slantpath_results::Table;
use slantpath_scenario::build::RunNetwork;
use slantpath_signalling::M3uaEventKind;
use slantpath_simulation::{
    Carried, GatewayId, LinkAvailability, ServerId, Side, SignallingLinkId, SignallingProcess,
    SignallingSimulation,
};

use super::diversions_record::DiversionsRecord;
use super::failover_sums::FailoverSums;
use super::path_failovers::PathFailovers;
use super::service_record::ServiceRecord;
use super::tables::servers::{self, Served};
use super::tables::signalling::{self, SignallingTable};
use crate::observer::Observer;
use crate::scenario::Scenario;

/// Record of the events of a signalling network.
pub(super) struct SignallingRecord<'a> {
    names: signalling::Names<'a>,
    /// The place of `signalling_events` among the tables that were announced.
    events: usize,
    /// If there are gateways and processes: what they are called, and the place of `signalling_server_events`.
    servers: Option<(servers::Names<'a>, usize)>,
    /// Of both ends of each link.
    availabilities: Vec<LinkAvailability>,
    served: BTreeMap<(GatewayId, ServerId), Served>,
    diversions: DiversionsRecord<'a>,
    paths: Option<PathFailovers<'a>>,
}

impl<'a> SignallingRecord<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        events: usize,
        server_events: Option<usize>,
        diversions: DiversionsRecord<'a>,
        paths: Option<PathFailovers<'a>>,
    ) -> Self {
        let links = scenario.signalling.links.iter().count();
        Self {
            names: signalling::Names::new(scenario),
            events,
            servers: server_events.map(|table| (servers::Names::new(&scenario.signalling), table)),
            availabilities: vec![LinkAvailability::default(); 2 * links],
            served: BTreeMap::new(),
            diversions,
            paths,
        }
    }

    /// Hands over the moves of associations to other paths.
    pub(super) fn collect_paths(
        &mut self,
        network: &mut RunNetwork<'_>,
        is_over: bool,
        service: Option<&ServiceRecord<'_>>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        match &mut self.paths {
            Some(paths) => paths.collect(network, is_over, service, observer),
            None => Ok(()),
        }
    }

    /// Hands over what has happened since the last time.
    pub(super) fn collect(
        &mut self,
        simulation: &mut SignallingSimulation,
        service: Option<&ServiceRecord<'_>>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let network = simulation.signalling_mut();
        let events = network.take_events();
        for event in &events {
            self.diversions.observe(event);
            if let Some((link, side)) = event.link {
                self.availabilities[2 * link.0 + side as usize].observe(event);
            }
        }
        if !events.is_empty() {
            observer.rows(self.events, 0, signalling::event_rows(&self.names, &events))?;
        }
        let events = network.take_adaptation_events();
        for event in &events {
            self.diversions.observe_process(event);
            if let (SignallingProcess::Gateway(gateway), Some(server), M3uaEventKind::As(state)) =
                (event.process, event.server, event.kind)
            {
                self.served.entry((gateway, server)).or_default().observe(event.at, state);
            }
        }
        let diverted = network.take_diversions();
        if !diverted.is_empty() {
            observer.rows(self.diversions.table, 0, self.diversions.rows(&diverted, service))?;
        }
        match &self.servers {
            Some((names, table)) if !events.is_empty() => {
                observer.rows(*table, 0, servers::event_rows(names, &events))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the failovers since this was asked last.
    pub(super) fn take_recent_failovers(&mut self) -> BTreeMap<(Carried, Side), FailoverSums> {
        self.diversions.take_recent()
    }

    /// The table `signalling_service`.
    pub(super) fn service(&self) -> Table {
        self.diversions.service(self.paths.iter().flat_map(PathFailovers::sums))
    }

    pub(super) fn events_table(&self) -> SignallingTable {
        let columns = signalling::event_rows(&self.names, &[]).columns().len();
        SignallingTable::HandedOver { table: self.events, columns }
    }

    pub(super) fn server_events_table(&self) -> Option<SignallingTable> {
        let (names, table) = self.servers.as_ref()?;
        let columns = servers::event_rows(names, &[]).columns().len();
        Some(SignallingTable::HandedOver { table: *table, columns })
    }

    /// Availability of an end of a link so far.
    pub(super) fn availability(&self, link: SignallingLinkId, side: Side) -> LinkAvailability {
        self.availabilities[2 * link.0 + side as usize]
    }

    /// Service of an application server at a gateway so far.
    pub(super) fn served(&self, gateway: GatewayId, server: ServerId) -> Served {
        self.served.get(&(gateway, server)).copied().unwrap_or_default()
    }
}
