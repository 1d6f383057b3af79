//! Record of associations that carry signalling and move to another path, below a link or an ASP that stays in service.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::net::IpAddr;

use slantpath_applications::{Associations, CarrierRecords, Failover};
use slantpath_base::Instant;
use slantpath_host::{MessagePlace, SocketId};
use slantpath_net::{NodeId, OutageCause};
use slantpath_scenario::build::{PlannedLink, PlannedPath, RunNetwork, SignallingEnd, signalling_ends};
use slantpath_simulation::SignallingSimulation;

use super::failover_sums::FailoverSums;
use super::service_record::ServiceRecord;
use super::tables::failovers::{Columns, ToldFailover, link_of};
use crate::observer::Observer;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Record of all associations of which an end has several paths.
pub(super) struct PathFailovers<'a> {
    /// The place of `failovers` among the tables that were announced.
    table: usize,
    links: &'a [PlannedLink],
    associations: Vec<[AssociationEnd<'a>; 2]>,
    warm_up: Instant,
}

/// An end of an association.
struct AssociationEnd<'a> {
    node: NodeId,
    socket: SocketId,
    /// If the end has several paths.
    moving: Option<Moving<'a>>,
}

/// An end that may move to another path.
struct Moving<'a> {
    end: SignallingEnd<'a>,
    /// Number among the subjects of `failovers`.
    subject: usize,
    /// Failovers that have not been told, in order of time.
    waiting: VecDeque<Waiting>,
    sums: FailoverSums,
}

/// Failover whose first message has not come yet.
struct Waiting {
    failover: Failover,
    failed: Option<(Instant, OutageCause)>,
    first: Option<MessagePlace>,
    arrival: Arrival,
}

/// State of a first message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Awaited,
    Arrived(Instant),
    /// The association has begun anew, or nobody can tell the message.
    Unknown,
}

/// Places in `simulation` of the associations of which an end has several paths, with which of their ends do.
fn moving_ends(simulation: &SignallingSimulation, paths: &[PlannedPath]) -> Vec<(usize, [bool; 2])> {
    let mut addresses: BTreeMap<(NodeId, NodeId), BTreeSet<IpAddr>> = BTreeMap::new();
    for path in paths {
        addresses.entry((path.from, path.to)).or_default().insert(path.address);
        addresses.entry((path.to, path.from)).or_default().insert(path.own);
    }
    let has_several = |from, to| addresses.get(&(from, to)).is_some_and(|addresses| addresses.len() > 1);
    // Both ends of an association stand one behind the other, the first one first.
    let both = simulation.places().chunks_exact(2).enumerate();
    let moving = both.map(|(place, ends)| {
        let [first, second] = [ends[0].node, ends[1].node];
        (place, [has_several(first, second), has_several(second, first)])
    });
    moving.filter(|(_, moving)| moving.contains(&true)).collect()
}

/// Number of ends of associations that carry signalling and may move to another path.
pub(super) fn count(simulation: Option<&SignallingSimulation>, paths: &[PlannedPath]) -> usize {
    let moving = simulation.map(|simulation| moving_ends(simulation, paths)).unwrap_or_default();
    moving.iter().flat_map(|(_, ends)| ends).filter(|moves| **moves).count()
}

impl<'a> PathFailovers<'a> {
    /// Begins a record, for which hosts keep records of their own. Subjects of the table are numbered from `first` on.
    pub(super) fn new(
        (scenario, links, paths): (&'a Scenario, &'a [PlannedLink], &[PlannedPath]),
        simulation: &SignallingSimulation,
        (table, first): (usize, usize),
        network: &mut RunNetwork<'_>,
    ) -> Self {
        let mut subjects = first..;
        let associations =
            moving_ends(simulation, paths).into_iter().map(|(place, moving)| {
                [0, 1].map(|side| {
                    let place = &simulation.places()[2 * place + side];
                    network.host_mut(place.node).keep_records(place.association);
                    let mut ends = signalling_ends(&scenario.signalling).into_iter();
                    let end = ends.find(|end| (end.carried, end.side) == (place.end.carried, place.end.side));
                    let moving = end.filter(|_| moving[side]).zip(subjects.next()).map(|(end, subject)| {
                        Moving { end, subject, waiting: VecDeque::new(), sums: FailoverSums::default() }
                    });
                    AssociationEnd { node: place.node, socket: place.association, moving }
                })
            });
        let associations = associations.collect();
        Self { table, links, associations, warm_up: Instant::START + *scenario.scenario.warm_up }
    }

    /// Takes what has happened since the last time. A failover is handed over once its first message has come, or as
    /// the run is over.
    pub(super) fn collect(
        &mut self,
        network: &mut RunNetwork<'_>,
        is_over: bool,
        service: Option<&ServiceRecord<'_>>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        for ends in &mut self.associations {
            let nodes = [ends[0].node, ends[1].node];
            let records = [0, 1].map(|side| {
                let taken = network.host_mut(ends[side].node).take_carrier_records(ends[side].socket);
                taken.expect("the association was put there")
            });
            for (side, far) in [(0, 1), (1, 0)] {
                let Some(moving) = &mut ends[side].moving else { continue };
                let failure = |failover: &Failover| service?.failure([nodes[side], nodes[far]], failover);
                moving.add(&records[side], failure, self.warm_up);
                moving.arrive(&records[far]);
                let told = moving.take_told(is_over);
                if told.is_empty() {
                    continue;
                }
                let mut rows = Columns::new();
                for told in told {
                    let name = |address| link_of(self.links, address);
                    let names = [name(told.failover.from), name(told.failover.to)];
                    rows.push(&moving.end.full_name(), names, &told);
                }
                observer.rows(self.table, moving.subject, rows.finish(TableKind::Failovers))?;
            }
        }
        Ok(())
    }

    /// Sums of each end: the point or process there, the name of the link or association, its failovers.
    pub(super) fn sums(&self) -> impl Iterator<Item = ([&str; 2], FailoverSums)> {
        let moving = self.associations.iter().flatten().filter_map(|end| end.moving.as_ref());
        moving.map(|moving| ([moving.end.at, moving.end.name], moving.sums))
    }
}

impl Moving<'_> {
    fn add(
        &mut self,
        records: &CarrierRecords,
        failure: impl Fn(&Failover) -> Option<(Instant, OutageCause)>,
        warm_up: Instant,
    ) {
        for (failover, first) in &records.failovers {
            let failed = failure(failover);
            if failover.at >= warm_up {
                self.sums.add(failed.map(|(at, _)| at), failover.at);
            }
            let arrival = if first.is_some() { Arrival::Awaited } else { Arrival::Unknown };
            self.waiting.push_back(Waiting { failover: *failover, failed, first: *first, arrival });
        }
    }

    fn arrive(&mut self, records: &CarrierRecords) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.arrival == Arrival::Awaited) {
            let since = records.deliveries.iter().filter(|(at, _)| *at > waiting.failover.at);
            let found = since.clone().find(|(_, place)| place.is_none() || *place == waiting.first);
            waiting.arrival = match found {
                None => Arrival::Awaited,
                Some((_, None)) => Arrival::Unknown,
                Some((at, Some(_))) => Arrival::Arrived(*at),
            };
        }
    }

    /// Takes the failovers whose first message has come; all if the run is over. One whose message has not come holds
    /// up those behind it.
    fn take_told(&mut self, is_over: bool) -> Vec<ToldFailover> {
        let is_told = |waiting: &&Waiting| is_over || waiting.arrival != Arrival::Awaited;
        let count = self.waiting.iter().take_while(is_told).count();
        let told = self.waiting.drain(..count).map(|waiting| ToldFailover {
            failover: waiting.failover,
            failed: waiting.failed,
            arrived: if let Arrival::Arrived(at) = waiting.arrival { Some(at) } else { None },
        });
        told.collect()
    }
}
