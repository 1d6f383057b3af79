//! Record of the paths between hosts: since when each carries nothing, and why.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::IpAddr;

use slantpath_applications::Failover;
use slantpath_base::Instant;
use slantpath_net::{NodeId, OutageCause, WayChange, WayOutage};
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedPath, RunNetwork};

use super::tables::outages::{HostPathColumns, OutageColumns, OutageSpan, OutageSums, PathNames};
use crate::observer::Observer;
use crate::output::TableKind;

/// Outages of a path that are remembered for the failovers that follow from them.
const REMEMBERED: usize = 64;

/// Record of all paths of a run.
pub(super) struct ServiceRecord<'a> {
    paths: &'a [PlannedPath],
    /// The place of `outages` among the tables that were announced.
    table: usize,
    warm_up: Instant,
    states: Vec<PathState>,
    /// By hosts and address.
    places: BTreeMap<(NodeId, NodeId, IpAddr), usize>,
}

/// State of a path.
#[derive(Debug, Default)]
struct PathState {
    /// WayOutage of the way there, and of the way back.
    ways: [Option<WayOutage>; 2],
    /// The direction at which the present outage began.
    present: Option<WayOutage>,
    /// The latest outages, the present one last.
    spans: VecDeque<OutageSpan>,
    sums: OutageSums,
}

impl<'a> ServiceRecord<'a> {
    /// Begins a record of these paths, which the network is asked to watch. Time counts after the warm-up.
    pub(super) fn new(
        paths: &'a [PlannedPath],
        table: usize,
        warm_up: Instant,
        network: &mut RunNetwork<'_>,
    ) -> Self {
        network.watch_ways(paths.iter().flat_map(|path| path.ways).collect());
        // A path that answers take the other way round, fails with it. Those that stand there themselves come last.
        let answers =
            paths.iter().enumerate().rev().map(|(place, path)| ((path.to, path.from, path.own), place));
        let named = paths.iter().enumerate().map(|(place, path)| ((path.from, path.to, path.address), place));
        Self {
            paths,
            table,
            warm_up,
            states: paths.iter().map(|_| PathState::default()).collect(),
            places: answers.chain(named).collect(),
        }
    }

    /// Takes what has happened since the last time. Outages that are over are handed over.
    pub(super) fn collect(
        &mut self,
        network: &mut RunNetwork<'_>,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let changes = network.take_way_changes();
        if changes.is_empty() {
            return Ok(());
        }
        let mut rows = OutageColumns::new();
        let mut is_any = false;
        for WayChange { at, way, outage } in changes {
            let (place, side) = (way / 2, way % 2);
            let state = &mut self.states[place];
            state.ways[side] = outage;
            if let Some((outage, span)) = state.follow(at, self.warm_up) {
                rows.push(self.names(place, network), span, link_name(network, outage));
                is_any = true;
            }
        }
        if is_any { observer.rows(self.table, 0, rows.finish(TableKind::Outages)) } else { Ok(()) }
    }

    /// Ends the record with the run: hands over the outages that last, and gives `host_paths`.
    pub(super) fn finish(
        &mut self,
        end: Instant,
        network: &mut RunNetwork<'_>,
        observer: &mut dyn Observer,
    ) -> io::Result<Table> {
        self.collect(network, observer)?;
        let (mut rows, mut sums) = (OutageColumns::new(), HostPathColumns::new());
        let mut is_any = false;
        for place in 0..self.paths.len() {
            let names = self.names(place, network);
            let state = &self.states[place];
            let mut own = state.sums;
            if let (Some(outage), Some(span)) = (state.present, state.spans.back()) {
                rows.push(names, *span, link_name(network, outage));
                own.add(span.begin, end, self.warm_up);
                is_any = true;
            }
            sums.push(names, own, end.saturating_since(self.warm_up));
        }
        if is_any {
            observer.rows(self.table, 0, rows.finish(TableKind::Outages))?;
        }
        Ok(sums.finish(TableKind::HostPaths))
    }

    /// Instant from which on the path that a failover has left carried nothing, and why: of the outages since it has
    /// answered, the first.
    pub(super) fn failure(
        &self,
        [from, to]: [NodeId; 2],
        failover: &Failover,
    ) -> Option<(Instant, OutageCause)> {
        let place = *self.places.get(&(from, to, failover.from))?;
        let answered = failover.answered.unwrap_or(Instant::START);
        let mut spans = self.states[place].spans.iter();
        let first =
            spans.find(|span| span.end.is_none_or(|end| end > answered) && span.begin <= failover.at)?;
        Some((first.begin, first.cause))
    }

    /// Instant since when paths between two hosts carry nothing at an instant, and why: of the one that was the last to
    /// fail. `None` if all carry packets.
    pub(super) fn outage(&self, [one, other]: [NodeId; 2], at: Instant) -> Option<(Instant, OutageCause)> {
        let paths = self.paths.iter().zip(&self.states);
        let is_between =
            |path: &PlannedPath| (path.from, path.to) == (one, other) || (path.from, path.to) == (other, one);
        let spans = paths.filter(|(path, _)| is_between(path)).flat_map(|(_, state)| &state.spans);
        let lasting = spans.filter(|span| span.begin <= at && span.end.is_none_or(|end| end >= at));
        lasting.max_by_key(|span| span.begin).map(|span| (span.begin, span.cause))
    }

    fn names<'n>(&self, place: usize, network: &'n RunNetwork<'_>) -> PathNames<'n>
    where
        'a: 'n,
    {
        let path = &self.paths[place];
        [network.graph().node_name(path.from), network.graph().node_name(path.to), &path.link]
    }
}

fn link_name<'n>(network: &'n RunNetwork<'_>, outage: WayOutage) -> &'n str {
    use slantpath_net::LinkEnd as _;
    network.graph().link_name(outage.direction.sender().link())
}

impl PathState {
    /// Follows its ways at an instant. Returns the outage that has ended.
    fn follow(&mut self, at: Instant, warm_up: Instant) -> Option<(WayOutage, OutageSpan)> {
        let now = self.ways[0].or(self.ways[1]);
        match (self.present, now) {
            (None, Some(outage)) => {
                self.present = Some(outage);
                if self.spans.len() == REMEMBERED {
                    self.spans.pop_front();
                }
                self.spans.push_back(OutageSpan { begin: at, end: None, cause: outage.cause });
                None
            }
            (Some(outage), None) => {
                self.present = None;
                let span = self.spans.back_mut()?;
                span.end = Some(at);
                self.sums.add(span.begin, at, warm_up);
                Some((outage, *span))
            }
            _ => None,
        }
    }
}

impl OutageSums {
    fn add(&mut self, begin: Instant, end: Instant, warm_up: Instant) {
        self.outages += 1;
        self.longest = self.longest.max(end.saturating_since(begin));
        self.time += end.saturating_since(begin.max(warm_up));
    }
}
