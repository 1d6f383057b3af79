//! Record of the traffic of signalling that leaves a link, or an ASP, for another, and of why.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_net::NodeId;
use slantpath_results::Table;
use slantpath_scenario::schema::signalling::{self, SignallingAction, SignallingEvent, SignallingLink};
use slantpath_signalling::{M3uaEventKind, PointEventKind};
use slantpath_sigtran::asp::AspState;
use slantpath_simulation::{
    self as simulation, AdaptationEvent, AdaptationId, Carried, DivertedTraffic, Side, SignallingLinkId,
    SignallingProcess, SignallingSimulation,
};

use super::failover_sums::FailoverSums;
use super::service_record::ServiceRecord;
use super::tables::signalling_failovers::{Columns, ServiceColumns, ToldDiversion};
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Record of all links and associations that carry signalling.
pub(super) struct DiversionsRecord<'a> {
    scenario: &'a Scenario,
    /// The place of `signalling_failovers` among the tables that were announced.
    pub(super) table: usize,
    /// Hosts of those that SCTP carries.
    hosts: BTreeMap<Carried, [NodeId; 2]>,
    /// Since when an end carries traffic, and since when it does so no longer.
    states: BTreeMap<(Carried, Side), ServiceOfEnd>,
    /// Failovers after the warm-up.
    sums: BTreeMap<(Carried, Side), FailoverSums>,
    /// Failovers since they were taken last.
    recent: BTreeMap<(Carried, Side), FailoverSums>,
    warm_up: Instant,
}

#[derive(Clone, Copy, Debug, Default)]
struct ServiceOfEnd {
    available: Option<Instant>,
    unavailable: Option<Instant>,
}

impl<'a> DiversionsRecord<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        simulation: &SignallingSimulation,
        table: usize,
        warm_up: Instant,
    ) -> Self {
        let mut hosts: BTreeMap<Carried, [NodeId; 2]> = BTreeMap::new();
        for place in simulation.places() {
            hosts.entry(place.end.carried).or_insert([place.node; 2])[place.end.side as usize] = place.node;
        }
        Self {
            scenario,
            table,
            hosts,
            states: BTreeMap::new(),
            sums: BTreeMap::new(),
            recent: BTreeMap::new(),
            warm_up,
        }
    }

    /// Follows what management of a point heard of its links.
    pub(super) fn observe(&mut self, event: &simulation::Event) {
        let Some((link, side)) = event.link else { return };
        let is_available = match event.kind {
            PointEventKind::Available => true,
            PointEventKind::Unavailable => false,
            _ => return,
        };
        self.follow((Carried::Link(link), side), event.at, is_available);
    }

    /// Follows what a gateway tells of its ASPs.
    pub(super) fn observe_process(&mut self, event: &AdaptationEvent) {
        let (SignallingProcess::Gateway(_), Some(association)) = (event.process, event.association) else {
            return;
        };
        let is_available = match event.kind {
            M3uaEventKind::Asp(state) => state == AspState::Active,
            M3uaEventKind::AssociationDown => false,
            _ => return,
        };
        self.follow((Carried::Adaptation(association), Side::First), event.at, is_available);
    }

    fn follow(&mut self, end: (Carried, Side), at: Instant, is_available: bool) {
        let state = self.states.entry(end).or_default();
        if is_available {
            *state = ServiceOfEnd { available: Some(at), unavailable: None };
        } else {
            state.unavailable.get_or_insert(at);
        }
    }

    /// Rows of traffic that was diverted.
    pub(super) fn rows(
        &mut self,
        diverted: &[DivertedTraffic],
        service: Option<&ServiceRecord<'_>>,
    ) -> Table {
        let mut columns = Columns::new();
        for diverted in diverted {
            let state_of = |carried| self.states.get(&(carried, diverted.side)).copied().unwrap_or_default();
            let state = state_of(diverted.from);
            let since = state.available.unwrap_or(Instant::START);
            let scripted = self.scripted(diverted, since);
            let unavailable = state.unavailable.filter(|at| *at <= diverted.at);
            let outage = || {
                let hosts = *self.hosts.get(&diverted.from)?;
                let (at, cause) = service?.outage(hosts, unavailable.unwrap_or(diverted.at))?;
                Some((at, cause.name()))
            };
            let failed = scripted.or_else(outage);
            // A backup that is no longer needed has not failed, nor has an ASP that another one takes over from.
            let is_backup = self.link(diverted.from).is_some_and(|(_, link)| *link.backup);
            let is_taken_over = unavailable.is_some() && state_of(diverted.to).available == unavailable;
            if failed.is_none() && (is_backup || is_taken_over) {
                continue;
            }
            let (end, failed_at) = ((diverted.from, diverted.side), failed.map(|(at, _)| at));
            self.recent.entry(end).or_default().add(failed_at, diverted.at);
            if diverted.at >= self.warm_up {
                self.sums.entry(end).or_default().add(failed_at, diverted.at);
            }
            columns.push(&ToldDiversion {
                at: diverted.at,
                point: self.point(diverted.from, diverted.side),
                kind: kind(diverted.from),
                names: [diverted.from, diverted.to].map(|carried| self.name(carried)),
                failed,
                unavailable,
                answered: diverted.answered,
            });
        }
        columns.finish(TableKind::SignallingFailovers)
    }

    /// Takes the failovers since this was asked last.
    pub(super) fn take_recent(&mut self) -> BTreeMap<(Carried, Side), FailoverSums> {
        std::mem::take(&mut self.recent)
    }

    /// The latest event of the script since then that takes away what carried the traffic, and what it did.
    fn scripted(&self, diverted: &DivertedTraffic, since: Instant) -> Option<(Instant, &'static str)> {
        let (link, association) = (self.link(diverted.from), self.association(diverted.from));
        let cause = |event: &SignallingEvent| {
            let named =
                [&event.asp, &event.link, &event.point].map(|name| name.as_ref().map(|name| name.as_str()));
            let [asp, of_link, point] = named;
            let is_asp = association.is_some_and(|(_, association)| asp == Some(association.asp.as_str()));
            let is_link = link.is_some_and(|(name, _)| of_link == Some(name));
            let is_at_an_end = of_link.is_none()
                && link.is_some_and(|(_, link)| {
                    [&link.between.0, &link.between.1].into_iter().any(|end| point == Some(end.as_str()))
                });
            match *event.action {
                SignallingAction::Fail if is_asp => Some("asp failed"),
                SignallingAction::Fail if is_link => Some("line failed"),
                SignallingAction::Inhibit if is_link => Some("inhibited"),
                SignallingAction::Deactivate if is_asp || is_link => Some("deactivated"),
                SignallingAction::ProcessorOutage if is_link || is_at_an_end => Some("processor outage"),
                SignallingAction::Restart if is_at_an_end => Some("point restarted"),
                _ => None,
            }
        };
        let events = self.scenario.signalling.script.iter().filter_map(|event| {
            let at = Instant::START + *event.at;
            Some((at, cause(event)?))
        });
        events.filter(|(at, _)| (since..=diverted.at).contains(at)).max_by_key(|(at, _)| *at)
    }

    fn link(&self, carried: Carried) -> Option<(&'a str, &'a SignallingLink)> {
        let Carried::Link(link) = carried else { return None };
        self.scenario.signalling.links.iter().nth(link.0).map(|(name, link)| (name, &**link))
    }

    fn association(&self, carried: Carried) -> Option<(&'a str, &'a signalling::Association)> {
        let Carried::Adaptation(association) = carried else { return None };
        let found = self.scenario.signalling.associations.iter().nth(association.0);
        found.map(|(name, association)| (name, &**association))
    }

    fn name(&self, carried: Carried) -> &'a str {
        let link = self.link(carried).map(|(name, _)| name);
        link.or_else(|| self.association(carried).map(|(name, _)| name)).unwrap_or_default()
    }

    fn point(&self, carried: Carried, side: Side) -> &'a str {
        let of_link = self.link(carried).map(|(_, link)| match side {
            Side::First => link.between.0.as_str(),
            Side::Second => link.between.1.as_str(),
        });
        let of_association =
            || self.association(carried).map(|(_, association)| association.gateway.as_str());
        of_link.or_else(of_association).unwrap_or_default()
    }

    /// `signalling_service`: a row for each end of a link, and for each association at its gateway; and for each end
    /// that has several paths.
    pub(super) fn service<'p>(&self, paths: impl Iterator<Item = ([&'p str; 2], FailoverSums)>) -> Table {
        let signalling = &self.scenario.signalling;
        let links = (0..signalling.links.iter().count()).map(|link| Carried::Link(SignallingLinkId(link)));
        let ends = links.flat_map(|link| Side::BOTH.map(|side| (link, side)));
        let associations = (0..signalling.associations.iter().count())
            .map(|association| (Carried::Adaptation(AdaptationId(association)), Side::First));
        let mut columns = ServiceColumns::new();
        for (carried, side) in ends.chain(associations) {
            let sums = self.sums.get(&(carried, side)).copied().unwrap_or_default();
            columns.push([self.point(carried, side), kind(carried), self.name(carried)], sums);
        }
        for ([at, name], sums) in paths {
            columns.push([at, "path", name], sums);
        }
        columns.finish(TableKind::SignallingService)
    }
}

const fn kind(carried: Carried) -> &'static str {
    match carried {
        Carried::Adaptation(_) => "association",
        Carried::Link(_) => "link",
    }
}
