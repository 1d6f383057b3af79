//! Estimate, from a trace, of the network that it was taken over: of each path its round trips, when it carried
//! nothing, which share of the rest was lost, and what it carried. A network that is made of that can be asked again,
//! which the real one cannot.
//!
//! A trace is one end's view: of a round trip it does not know which way took how long, of what was not acknowledged
//! not whether DATA or SACK was lost, and of a path nothing while nothing was sent over it.

mod timeline;

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{Notice, Unanswered, WaitReason};

use crate::field::Evidence;
use crate::record::{Record, What};
use timeline::Timeline;

/// Greatest number of paths that are told apart.
const PATHS_MAX: usize = 32;
/// Of how many chunks that are on their way it is kept when and where they were sent.
const CHUNKS_MAX: usize = 1_000_000;

/// Estimate of the network below a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkEstimate {
    /// Paths of the network, in the order in which they were met.
    pub paths: Vec<PathEstimate>,
    /// The one that was the primary path first.
    pub primary: Option<IpAddr>,
    /// The instant of the last record.
    pub until: Instant,
}

/// Estimate of a path.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PathEstimate {
    /// The peer's address, by which the path is called.
    pub address: IpAddr,
    /// Our address, once known.
    pub source: Option<IpAddr>,
    /// The least round trip from an instant on, until the next one; empty if none was measured.
    pub round_trips: Vec<(Instant, Duration)>,
    /// The longest of the least round trips of each second.
    pub longest_round_trip: Option<Duration>,
    /// Outages, in which nothing came through: each from the middle between the last packet that did and the first that
    /// did not, to the middle between the last that did not and the first that did again; `None`: nothing did any more.
    pub outages: Vec<(Instant, Option<Instant>)>,
    /// DATA chunks and HEARTBEATs that were sent outside of these and whose fate is known.
    pub sent: u64,
    /// Number of the sent ones that were not answered.
    pub lost: u64,
    /// Number of the lost that were sent while round trips were nearly as long as they ever were: there was a queue,
    /// which may have been full.
    pub lost_in_queue: u64,
    /// DATA chunks a second that were acknowledged, in the seconds of which a quarter had more; `None` if none were.
    pub acknowledged_per_s: Option<f64>,
}

impl PathEstimate {
    /// The least of all round trips.
    pub fn least_round_trip(&self) -> Option<Duration> {
        self.round_trips.iter().map(|(_, round_trip)| *round_trip).min()
    }
}

/// Follows the records of a trace to estimate its network. What it keeps is bounded.
#[derive(Debug)]
pub struct Estimator {
    waits_for_pairs: bool,
    skips_held_up: bool,
    paths: Vec<Path>,
    primary: Option<IpAddr>,
    /// Chunks that are on their way.
    chunks: HashMap<(u32, u32), Chunk>,
    /// The chunks of messages that are on their way, by their number.
    messages: HashMap<(u32, u64), Vec<u32>>,
    /// Associations whose peer has no room.
    closed: HashSet<u32>,
    /// The message that was acknowledged last.
    acknowledged: Option<Acknowledged>,
    until: Instant,
}

#[derive(Debug)]
struct Path {
    address: IpAddr,
    source: Option<IpAddr>,
    timeline: Timeline,
    /// HEARTBEATs that are on their way; the last one first.
    heartbeat: Option<Instant>,
    /// The least round trip of DATA until now.
    least: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    at: Instant,
    path: usize,
    transmission: u32,
    is_lost: bool,
    /// Instant and path of the transmission before, if it counted as lost then.
    before: Option<(Instant, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Acknowledged {
    association: u32,
    at: Instant,
    /// True if one that was acknowledged at the same instant had to be retransmitted.
    is_held_up: bool,
}

impl Estimator {
    /// Nothing yet. A peer that sends nothing back holds the acknowledgement of a single packet back for SACK.Delay,
    /// which is no property of the path: then only messages count for round trips that another one was acknowledged
    /// together with.
    pub fn new(peer_is_silent: bool) -> Self {
        Self {
            waits_for_pairs: peer_is_silent,
            skips_held_up: false,
            paths: Vec::new(),
            primary: None,
            chunks: HashMap::new(),
            messages: HashMap::new(),
            closed: HashSet::new(),
            acknowledged: None,
            until: Instant::START,
        }
    }

    /// Nothing yet of a sender that one point has seen. Nobody knows whether its peer holds SACKs back. What has
    /// arrived behind a loss is told when the lost chunk has arrived, too, which is no round trip.
    pub fn of_captured() -> Self {
        Self { skips_held_up: true, ..Self::new(true) }
    }

    /// Follows the next record.
    pub fn follow(&mut self, record: &Record) {
        let (at, association) = (record.at, record.association);
        self.until = at;
        match record.what {
            What::Path { path, source, primary, .. } => {
                if primary {
                    self.primary.get_or_insert(path);
                }
                if let Some(place) = self.path(path) {
                    self.paths[place].source = Some(source);
                }
            }
            What::Sent { message, tsn, path, transmission } => {
                let Some(path) = self.path(path) else { return };
                if self.chunks.len() >= CHUNKS_MAX && !self.chunks.contains_key(&(association, tsn)) {
                    return;
                }
                let known = self.chunks.get(&(association, tsn));
                let before = known.filter(|known| known.is_lost).map(|known| (known.at, known.path));
                let chunk = Chunk { at, path, transmission, is_lost: false, before };
                let is_new = self.chunks.insert((association, tsn), chunk).is_none();
                if let Some(number) = message.filter(|_| is_new) {
                    self.messages.entry((association, number)).or_default().push(tsn);
                }
            }
            // What probes a closed window and is thrown away for want of room was not lost on the way.
            What::Lost { evidence: Evidence::TimedOut, .. } if self.closed.contains(&association) => {}
            What::Lost { tsn, evidence, .. } if is_silence(evidence) => {
                if let Some(chunk) = self.chunks.get_mut(&(association, tsn)) {
                    chunk.is_lost = true;
                    let (at, path) = (chunk.at, chunk.path);
                    self.paths[path].timeline.at(at).lost += 1;
                }
            }
            What::Restored { tsn, .. } => {
                if let Some(chunk) = self.chunks.get_mut(&(association, tsn))
                    && std::mem::take(&mut chunk.is_lost)
                {
                    let (at, path) = (chunk.at, chunk.path);
                    let slot = self.paths[path].timeline.at(at);
                    slot.lost = slot.lost.saturating_sub(1);
                }
            }
            What::Waiting { reason: WaitReason::PeerWindow, .. } if self.closed.len() < CHUNKS_MAX => {
                self.closed.insert(association);
            }
            What::Waiting { .. } | What::Closed { .. } => {
                self.closed.remove(&association);
            }
            What::Acknowledged { message: Some(number) } => self.acknowledge(at, association, number),
            What::Failed { message: Some(number) }
            | What::Notice(Notice::Abandoned { message: Some(number), .. }) => {
                for tsn in self.messages.remove(&(association, number)).into_iter().flatten() {
                    self.chunks.remove(&(association, tsn));
                }
            }
            What::HeartbeatSent { path } => {
                let Some(place) = self.path(path) else { return };
                self.paths[place].heartbeat = Some(at);
            }
            What::HeartbeatAnswered { path, round_trip_ns } => {
                let Some(place) = self.path(path) else { return };
                let path = &mut self.paths[place];
                path.heartbeat = None;
                let sent = Instant::START + at.since_start().saturating_sub(round_trip_ns);
                let slot = path.timeline.at(sent);
                slot.arrived += 1;
                slot.measure(round_trip_ns);
            }
            What::PathError { path, unanswered: Unanswered::Heartbeat, .. } => {
                let Some(place) = self.path(path) else { return };
                let path = &mut self.paths[place];
                if let Some(sent) = path.heartbeat.take() {
                    path.timeline.at(sent).lost += 1;
                }
            }
            _ => {}
        }
    }

    /// Ends the trace and gives the estimate: nothing follows.
    pub fn finish(self) -> NetworkEstimate {
        let until = self.until;
        let paths = self.paths.into_iter().map(|path| path.estimate(until)).collect();
        NetworkEstimate { paths, primary: self.primary, until }
    }

    /// A message has got there: so has each of its chunks when it was sent last, unless that had been given up before.
    fn acknowledge(&mut self, at: Instant, association: u32, number: u64) {
        let tsns = self.messages.remove(&(association, number)).unwrap_or_default();
        let is_pair = self.acknowledged.is_some_and(|last| last.association == association && last.at == at);
        let was_held_up = is_pair && self.acknowledged.is_some_and(|last| last.is_held_up);
        let mut latest: Option<Chunk> = None;
        let mut is_first = true;
        for tsn in tsns {
            let Some(chunk) = self.chunks.remove(&(association, tsn)) else { continue };
            let path = &mut self.paths[chunk.path];
            path.timeline.at(at).acknowledged += 1;
            let is_too_soon = path.least.is_some_and(|least| at.saturating_since(chunk.at) < half(least));
            match chunk.before.filter(|_| is_too_soon) {
                // What had counted as lost has arrived: this is no answer to what was sent last.
                Some((at, path)) => {
                    let slot = self.paths[path].timeline.at(at);
                    slot.lost = slot.lost.saturating_sub(1);
                    slot.arrived += 1;
                }
                None if !chunk.is_lost => path.timeline.at(chunk.at).arrived += 1,
                None => {}
            }
            is_first &= chunk.transmission <= 1 && !chunk.is_lost;
            if latest.is_none_or(|latest| latest.at <= chunk.at) {
                latest = Some(chunk);
            }
        }
        let is_held_up = was_held_up || !is_first;
        self.acknowledged = Some(Acknowledged { association, at, is_held_up });
        // Of what was sent more than once nobody knows which one was answered.
        if let Some(chunk) = latest.filter(|_| is_first && !(self.skips_held_up && is_held_up)) {
            let round_trip = at.saturating_since(chunk.at);
            let path = &mut self.paths[chunk.path];
            path.least = Some(path.least.map_or(round_trip, |least| least.min(round_trip)));
            let slot = path.timeline.at(chunk.at);
            if is_pair || !self.waits_for_pairs {
                slot.measure(round_trip);
            } else {
                slot.measure_held_back(round_trip);
            }
        }
    }

    /// The place of the path to an address; `None` if there are too many.
    fn path(&mut self, address: IpAddr) -> Option<usize> {
        let known = self.paths.iter().position(|path| path.address == address);
        if known.is_none() && self.paths.len() < PATHS_MAX {
            let timeline = Timeline::default();
            self.paths.push(Path { address, source: None, timeline, heartbeat: None, least: None });
            return Some(self.paths.len() - 1);
        }
        known
    }
}

impl Path {
    fn estimate(self, until: Instant) -> PathEstimate {
        let timeline = self.timeline;
        let outages = timeline.outages();
        let round_trips = timeline.round_trips(until);
        let least = round_trips.iter().map(|(_, round_trip)| *round_trip).min().unwrap_or_default();
        let longest = timeline.longest_round_trip();
        let [sent, lost, lost_in_queue] = timeline.counts(&outages, least, longest.unwrap_or_default());
        PathEstimate {
            address: self.address,
            source: self.source,
            round_trips,
            longest_round_trip: longest,
            outages,
            sent,
            lost,
            lost_in_queue,
            acknowledged_per_s: timeline.acknowledged_per_s(least),
        }
    }
}

const fn half(time: Duration) -> Duration {
    Duration::from_nanos(time.as_nanos() / 2)
}

/// Tells whether a chunk is to be retransmitted because nothing came back for it. One that was too long for a link was
/// no loss on the way, nor was one that the peer had no room for; and what is retransmitted as a probe need not be
/// lost.
fn is_silence(evidence: Evidence) -> bool {
    match evidence {
        Evidence::LinkDown | Evidence::MissIndications | Evidence::Overtaken | Evidence::TimedOut => true,
        Evidence::Probed | Evidence::Refused | Evidence::TooBig | Evidence::Unknown => false,
    }
}
