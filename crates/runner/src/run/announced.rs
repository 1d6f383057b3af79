//! The tables that grow with the length of a run: which there are, and where each stands among those that are
//! announced.

use slantpath_net::Way;
use slantpath_sat::Sky;
use slantpath_scenario::build::{PlannedFlow, PlannedLink, PlannedPath, PlannedSessions};
use slantpath_scenario::schema::Transport;
use slantpath_simulation::SignallingSimulation;

use super::sessions_record::any_asks;
use super::{intervals, path_failovers};
use crate::observer::{GrowingTable, Reading};
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Parts of a run of which results come.
#[derive(Clone, Copy)]
pub(super) struct Recorded<'a> {
    pub(super) scenario: &'a Scenario,
    /// Links that are looked at over time.
    pub(super) links: &'a [PlannedLink],
    pub(super) flows: &'a [PlannedFlow],
    pub(super) sessions: &'a [PlannedSessions],
    pub(super) sky: Option<&'a Sky>,
    /// The ways of flows under the sky, with the names of the flow and of the link at its end.
    pub(super) ways: &'a [(String, String, Way)],
    /// The paths between the hosts of flows.
    pub(super) paths: &'a [PlannedPath],
    /// True if links change while the network runs.
    pub(super) links_change: bool,
}

/// Number of each table, if it is kept.
pub(super) struct TablePlaces {
    pub(super) access: Option<usize>,
    pub(super) association_paths: Option<usize>,
    pub(super) drops: Option<usize>,
    pub(super) failovers: Option<usize>,
    pub(super) intervals: Option<intervals::Places>,
    pub(super) messages: Option<usize>,
    pub(super) outages: Option<usize>,
    pub(super) paths: Option<usize>,
    pub(super) queues: Option<usize>,
    pub(super) requests: Option<usize>,
    pub(super) sessions: Option<usize>,
    pub(super) signalling_events: Option<usize>,
    pub(super) signalling_failovers: Option<usize>,
    pub(super) signalling_server_events: Option<usize>,
    /// Of `handovers` and `sky_paths`.
    pub(super) sky: Option<[usize; 2]>,
    pub(super) timelines: Option<usize>,
}

/// All of them in alphabetical order, and where each stands. The paths of so many ends of associations are sampled.
pub(super) fn announced(
    of: &Recorded<'_>,
    signalling: Option<&SignallingSimulation>,
    sampled_ends: usize,
) -> (Vec<GrowingTable>, TablePlaces) {
    let Recorded { scenario, links, flows, sessions, sky, paths, links_change, .. } = *of;
    let probes = &scenario.probes;
    let (of_flows, of_directions, of_sessions) = (flows.len(), 2 * links.len(), sessions.len());
    let mut tables = Tables::default();
    let period = probes.intervals.quantity();
    let kinds = period.map(|_| intervals::kinds(signalling, scenario)).unwrap_or_default();
    let [associations, flow_intervals, link_intervals, shared_downlinks, signalling_links] =
        kinds.map(|kind| kind.map(|kind| tables.add(kind, 1, Reading::Once)));
    let of_signalling = path_failovers::count(signalling, paths);
    let may_fail_over = of_signalling > 0 || flows.iter().any(|flow| has_several_paths(flow, paths));
    let failovers = tables.keep(may_fail_over, TableKind::Failovers, of_flows + of_signalling);
    let outages = tables.keep(links_change && !paths.is_empty(), TableKind::Outages, 1);
    let drops = tables.keep(keeps_drops(scenario), TableKind::Drops, 1);
    let messages = tables.keep(*probes.messages, TableKind::Messages, of_flows);
    let is_sampled = probes.paths.quantity().is_some();
    let path_samples = tables.keep(is_sampled, TableKind::Paths, of_flows);
    let association_paths = tables.keep(sampled_ends > 0, TableKind::AssociationPaths, sampled_ends);
    let is_sampled = probes.queues.0.is_some();
    let queues = tables.keep(is_sampled, TableKind::Queues, of_directions);
    let is_watched = !probes.timelines.is_empty();
    let timelines = tables.keep(is_watched, TableKind::Timelines, of_flows);
    let events = signalling.map(|_| tables.add(TableKind::SignallingEvents, 1, Reading::Again));
    let signalling_failovers = tables.keep(signalling.is_some(), TableKind::SignallingFailovers, 1);
    let has_servers = !scenario.signalling.associations.is_empty();
    let server_events = signalling.filter(|_| has_servers);
    let server_events =
        server_events.map(|_| tables.add(TableKind::SignallingServerEvents, 1, Reading::Again));
    let of_sky = sky
        .map(|_| [TableKind::Handovers, TableKind::SkyPaths].map(|kind| tables.add(kind, 1, Reading::Once)));
    let sessions = tables.keep(of_sessions > 0, TableKind::Sessions, of_sessions);
    let requests = tables.keep(any_asks(scenario), TableKind::Requests, of_sessions);
    let is_probed = probes.access.is_some_and(|probe| *probe);
    let access = tables.keep(is_probed, TableKind::Access, scenario.access.iter().count());
    let (tables, places) = tables.sorted();
    let at = |table: Option<usize>| table.map(|table| places[table]);
    let intervals = at(flow_intervals).zip(at(link_intervals)).map(|(flows, links)| intervals::Places {
        associations: at(associations),
        flows,
        links,
        shared_downlinks: at(shared_downlinks),
        signalling_links: at(signalling_links),
    });
    let places = TablePlaces {
        access: at(access),
        association_paths: at(association_paths),
        drops: at(drops),
        failovers: at(failovers),
        intervals,
        messages: at(messages),
        outages: at(outages),
        paths: at(path_samples),
        queues: at(queues),
        requests: at(requests),
        sessions: at(sessions),
        signalling_events: at(events),
        signalling_failovers: at(signalling_failovers),
        signalling_server_events: at(server_events),
        sky: of_sky.map(|both| both.map(|table| places[table])),
        timelines: at(timelines),
    };
    (tables, places)
}

/// Tells if each packet that is dropped is recorded.
pub(super) fn keeps_drops(scenario: &Scenario) -> bool {
    scenario.probes.drops.is_some_and(|probe| *probe)
}

/// Tells if a flow may go by one of several paths.
pub(super) fn has_several_paths(flow: &PlannedFlow, paths: &[PlannedPath]) -> bool {
    let ends = (flow.from, flow.to);
    // Paths come in the order of their hosts.
    let first = paths.partition_point(|path| (path.from, path.to) < ends);
    let second = paths.get(first + 1);
    *flow.flow.transport == Transport::Sctp && second.is_some_and(|path| (path.from, path.to) == ends)
}

/// Tables in the order in which they were added.
#[derive(Default)]
struct Tables(Vec<GrowingTable>);

impl Tables {
    fn add(&mut self, kind: TableKind, subjects: usize, reading: Reading) -> usize {
        self.0.push(GrowingTable { kind, header: kind.header(), subjects, reading });
        self.0.len() - 1
    }

    fn keep(&mut self, is_kept: bool, kind: TableKind, subjects: usize) -> Option<usize> {
        is_kept.then(|| self.add(kind, subjects, Reading::Once))
    }

    /// In alphabetical order, with where each stands by the order in which they were added.
    fn sorted(self) -> (Vec<GrowingTable>, Vec<usize>) {
        let mut tables: Vec<(usize, GrowingTable)> = self.0.into_iter().enumerate().collect();
        tables.sort_by_key(|(_, table)| table.kind.name());
        let mut places = vec![0; tables.len()];
        for (place, (added, _)) in tables.iter().enumerate() {
            places[*added] = place;
        }
        (tables.into_iter().map(|(_, table)| table).collect(), places)
    }
}
