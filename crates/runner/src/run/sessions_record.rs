//! Sessions on their way to a run's observer: a row goes as soon as both ends have done with its session, and all those
//! before it have gone.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use slantpath_applications::record::{Finality, ReceivedSession, SentSession, SessionRecords};
use slantpath_applications::{HostSessions, SessionSourceId};
use slantpath_base::{Duration, Instant};
use slantpath_host::SocketId;
use slantpath_net::NodeId;
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedSessions, RunNetwork};

use super::tables::requests::{RequestRows, RequestSums, RequestTotals};
use super::tables::sessions::{Rows, Session, SourceTotals, sources};
use crate::observer::Observer;
use crate::scenario::Scenario;

/// For so long after its opener has given it up something of a session may still arrive: the maximum segment lifetime
/// of RFC 9293, section 3.4.2.
const LIFETIME: Duration = Duration::from_secs(120);

/// Places to which rows and delays go.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionPlaces {
    /// The place of `sessions` among the tables that were announced; each table of sessions is a subject.
    pub(super) sessions: usize,
    /// Place of `requests` among the tables that were announced, if any ask.
    pub(super) requests: Option<usize>,
    /// The first of those whose delays are handed over, one for each table of sessions.
    pub(super) delays: usize,
}

/// The sessions of all tables.
pub(super) struct SessionsRecord<'a> {
    places: SessionPlaces,
    /// Rows are of sessions that began then, or later.
    warm_up: Instant,
    tables: Vec<TableRecord<'a>>,
    nodes: Vec<NodeId>,
    by_source: HashMap<(NodeId, SessionSourceId), usize>,
    by_server: HashMap<(NodeId, SocketId), usize>,
}

/// The sessions of a table, from the first one on whose row may still change.
struct TableRecord<'a> {
    planned: &'a PlannedSessions,
    asks: bool,
    /// The number of that first one.
    first: u32,
    /// Sessions that their opener has done with, by their numbers.
    sent: BTreeMap<u32, SentSession>,
    /// Sessions that were opened, by their port and the instant of their opening.
    opened: BTreeMap<(u16, Instant), u32>,
    /// Sessions that the server has done with. It counts on its transport to tell sessions apart: the first one stands.
    received: HashMap<u32, ReceivedSession>,
    totals: SourceTotals,
    requests: RequestTotals,
}

/// Tells whether any of these tables asks.
pub(super) fn any_asks(scenario: &Scenario) -> bool {
    scenario.sessions.iter().any(|(_, table)| table.requests.is_some())
}

impl<'a> SessionsRecord<'a> {
    pub(super) fn new(scenario: &Scenario, planned: &'a [PlannedSessions], places: SessionPlaces) -> Self {
        let asks = |planned: &PlannedSessions| {
            scenario.sessions.find(&planned.name).is_some_and(|table| table.requests.is_some())
        };
        let tables: Vec<_> = planned.iter().map(|planned| TableRecord::new(planned, asks(planned))).collect();
        let mut nodes: Vec<NodeId> = planned.iter().flat_map(|table| [table.from, table.to]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let places_of = || planned.iter().enumerate();
        Self {
            places,
            warm_up: Instant::START + *scenario.scenario.warm_up,
            tables,
            nodes,
            by_source: places_of().map(|(place, table)| ((table.from, table.source), place)).collect(),
            by_server: places_of().map(|(place, table)| ((table.to, table.server), place)).collect(),
        }
    }

    /// Hands over the rows that are final, or all that are left.
    pub(super) fn collect(
        &mut self,
        network: &mut RunNetwork<'_>,
        finality: Finality,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let now = network.now();
        let mut taken: Vec<(NodeId, SessionRecords)> = Vec::new();
        for &node in &self.nodes {
            taken.push((node, network.host_mut(node).take_sessions()));
        }
        if finality == Finality::Over {
            for &node in &self.nodes {
                taken.push((node, network.host_mut(node).unfinished_sessions(now)));
            }
        }
        // All that were opened first: what has come in is told apart by them.
        for (node, records) in &mut taken {
            for opened in records.opened.drain(..) {
                let Some(&place) = self.by_source.get(&(*node, opened.source)) else { continue };
                self.tables[place].opened.insert((opened.port, opened.at), opened.number);
            }
            for sent in records.sent.drain(..) {
                let Some(&place) = self.by_source.get(&(*node, sent.source)) else { continue };
                self.tables[place].sent.insert(sent.number, sent);
            }
        }
        for (node, records) in taken {
            for received in records.received {
                let Some(&place) = self.by_server.get(&(node, received.server)) else { continue };
                self.tables[place].add_received(received);
            }
        }
        for place in 0..self.tables.len() {
            self.hand_over(place, network, finality, observer)?;
        }
        Ok(())
    }

    fn hand_over(
        &mut self,
        place: usize,
        network: &RunNetwork<'_>,
        finality: Finality,
        observer: &mut dyn Observer,
    ) -> io::Result<()> {
        let now = network.now();
        let table = &mut self.tables[place];
        let (mut rows, mut requests, mut delays) = (Rows::new(), RequestRows::new(), Vec::new());
        let mut live = None;
        loop {
            let is_final = |number| {
                let planned = table.planned;
                let live = live.get_or_insert_with(|| {
                    let host = network.host(planned.to);
                    let accepted = host.accepted_sessions().filter(|(server, ..)| *server == planned.server);
                    accepted
                        .filter_map(|(_, peer, at)| table.owner(peer.port(), at))
                        .collect::<HashSet<u32>>()
                });
                !live.contains(&number)
            };
            if !table.is_next_final(now, finality, is_final) {
                break;
            }
            let Some(session) = table.take_next() else { break };
            if session.sent.begun < self.warm_up {
                continue;
            }
            table.totals.add(&session);
            rows.push(&table.planned.name, &session);
            if table.asks {
                requests.push(&table.planned.name, &session.sent, &mut table.requests, &mut delays);
            }
        }
        if !rows.is_empty() {
            observer.rows(self.places.sessions, place, rows.table())?;
        }
        if let Some(table) = self.places.requests.filter(|_| !requests.is_empty()) {
            observer.rows(table, place, requests.table())?;
        }
        if !delays.is_empty() {
            observer.delays(self.places.delays + place, &delays)?;
        }
        Ok(())
    }

    /// `session_sources`, and `request_sources` if any ask, once everything has been handed over.
    pub(super) fn tables(&self, observer: &mut dyn Observer) -> io::Result<Vec<Table>> {
        let totals = self.tables.iter().map(|table| (table.planned.name.as_str(), &table.totals));
        let mut tables = vec![sources(totals)];
        if self.places.requests.is_some() {
            let mut sums = RequestSums::new();
            for (place, table) in self.tables.iter().enumerate().filter(|(_, table)| table.asks) {
                let quantiles = observer.delay_quantiles(self.places.delays + place, &RequestSums::SHARES)?;
                sums.push(&table.planned.name, &table.requests, &quantiles);
            }
            tables.push(sums.table());
        }
        Ok(tables)
    }
}

impl<'a> TableRecord<'a> {
    fn new(planned: &'a PlannedSessions, asks: bool) -> Self {
        Self {
            planned,
            asks,
            first: 0,
            sent: BTreeMap::new(),
            opened: BTreeMap::new(),
            received: HashMap::new(),
            totals: SourceTotals::default(),
            requests: RequestTotals::default(),
        }
    }

    /// The session that what came in from a port is of: the last one that had been opened from there.
    fn owner(&self, port: u16, accepted: Instant) -> Option<u32> {
        self.opened.range((port, Instant::START)..=(port, accepted)).next_back().map(|(_, number)| *number)
    }

    fn add_received(&mut self, received: ReceivedSession) {
        if let (Some(peer), Some(accepted)) = (received.peer, received.accepted)
            && let Some(number) = self.owner(peer.port(), accepted)
        {
            self.received.entry(number).or_insert(received);
        }
    }

    /// Tells whether nothing will change the row of the next session: both ends have done with it, or its opener has,
    /// so long ago that nothing of it can arrive where nothing has (`is_unknown` to its server).
    fn is_next_final(&self, now: Instant, finality: Finality, is_unknown: impl FnOnce(u32) -> bool) -> bool {
        let Some(sent) = self.sent.get(&self.first) else { return false };
        finality == Finality::Over
            || sent.port.is_none()
            || self.received.contains_key(&self.first)
            || sent.ended.is_some_and(|ended| now > ended.saturating_add(LIFETIME)) && is_unknown(self.first)
    }

    /// The next session, with what its server knows of it.
    fn take_next(&mut self) -> Option<Session> {
        let sent = self.sent.remove(&self.first)?;
        let received = self.received.remove(&self.first);
        if let (Some(port), Some(admitted)) = (sent.port, sent.admitted) {
            self.opened.remove(&(port, admitted));
        }
        self.first += 1;
        let is_in_time = |received: &ReceivedSession| match (received.accepted, sent.ended) {
            (Some(accepted), Some(ended)) => accepted <= ended.saturating_add(LIFETIME),
            _ => true,
        };
        let received = received.filter(is_in_time);
        Some(Session { sent, received })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::DataSize;

    const SERVER: SocketId = SocketId(7);

    fn at(seconds: u64) -> Instant {
        Instant::from_secs(seconds)
    }

    fn planned() -> PlannedSessions {
        let mut builder = slantpath_net::NetworkBuilder::new();
        let (from, to) = (builder.host("from"), builder.host("to"));
        PlannedSessions { name: "web".to_owned(), from, to, source: SessionSourceId(0), server: SERVER }
    }

    /// Sessions that were opened from such ports, each when it began, and ended ten seconds later.
    fn record<'a>(planned: &'a PlannedSessions, opened: &[(u64, u16)]) -> TableRecord<'a> {
        let mut table = TableRecord::new(planned, false);
        for (number, &(begun, port)) in (0..).zip(opened) {
            let mut sent = SentSession::new(planned.source, number, at(begun), DataSize::from_bytes(1));
            (sent.admitted, sent.port, sent.ended) = (Some(at(begun)), Some(port), Some(at(begun + 10)));
            table.opened.insert((port, at(begun)), number);
            table.sent.insert(number, sent);
        }
        table
    }

    fn received(port: u16, accepted: u64, bytes_delivered: u64) -> ReceivedSession {
        ReceivedSession {
            server: SERVER,
            peer: Some(([10, 0, 0, 1], port).into()),
            accepted: Some(at(accepted)),
            bytes_delivered,
            last_delivery: None,
            retransmissions: None,
        }
    }

    fn delivered(session: Option<Session>) -> Option<u64> {
        session?.received.map(|received| received.bytes_delivered)
    }

    #[test]
    fn what_comes_in_is_of_the_last_session_from_its_port_and_the_first_of_it_stands() {
        let planned = planned();
        let mut table = record(&planned, &[(0, 50_000), (5, 50_001), (20, 50_000)]);
        for (port, accepted, bytes) in [(50_000, 21, 1), (50_000, 19, 2), (50_000, 1, 3), (50_001, 4, 4)] {
            table.add_received(received(port, accepted, bytes));
        }
        table.add_received(ReceivedSession { accepted: None, ..received(50_001, 6, 5) });
        let all = [table.take_next(), table.take_next(), table.take_next()].map(delivered);
        assert_eq!(all, [Some(2), None, Some(1)]);
        // They have gone, and with them whose the ports were.
        table.add_received(received(50_000, 30, 6));
        assert!(table.received.is_empty() && table.take_next().is_none());
    }

    #[test]
    fn what_comes_in_two_minutes_after_a_session_has_ended_is_not_of_it() {
        let planned = planned();
        let bytes = [130, 131].map(|accepted| {
            let mut table = record(&planned, &[(0, 50_000)]);
            table.add_received(received(50_000, accepted, 9));
            delivered(table.take_next())
        });
        assert_eq!(bytes, [Some(9), None]);
    }

    #[test]
    fn a_session_is_final_when_both_ends_have_done_with_it_or_nothing_of_it_can_come_in() {
        let planned = planned();
        let is_final = |table: &TableRecord<'_>, now, is_unknown| {
            table.is_next_final(at(now), Finality::Settled, |_| is_unknown)
        };
        let mut table = record(&planned, &[(0, 50_000)]);
        assert_eq!([130, 131].map(|now| is_final(&table, now, true)), [false, true]);
        assert!(!is_final(&table, 1_000, false), "its server knows of it, and has not done with it");
        assert!(table.is_next_final(at(10), Finality::Over, |_| false));
        table.add_received(received(50_000, 1, 9));
        assert!(is_final(&table, 11, false));

        let mut refused = TableRecord::new(&planned, false);
        assert!(!is_final(&refused, 1_000, true), "nothing has begun");
        refused.sent.insert(0, SentSession::new(planned.source, 0, at(0), DataSize::from_bytes(1)));
        assert!(is_final(&refused, 0, false), "it was never opened");
    }
}
