//! Loads that are offered to each signalling link while all is in service, by the routes and the link selections of
//! their messages.

mod traced;

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_scenario::schema::signalling::{Carrier, Signalling};
use slantpath_scenario::signalling::{ByPoint, SignallingPlan, is_served};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{self, ByTitle, GeneratorConfig, Selection};
use slantpath_ss7::mtp3::Sls;
use slantpath_ss7::mtp3::node;
use slantpath_ss7::sccp::gtt::{Outcome, Translator, follow};

/// Points that a message passes at most before it is no longer followed.
const HOPS: usize = 32;

/// A part of a load that takes one link, in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Number of the load, counted by name.
    pub(crate) load: usize,
    /// Number of the load's links: a fraction of them where messages go to several points in turn.
    pub(crate) links: f64,
}

/// A load over time.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// Octets of a message on a line, on average.
    pub(crate) octets: f64,
    /// Bits per second that one Erlang is.
    line_rate: f64,
    start: Duration,
    stop: Duration,
    /// Changes of the load: the beginning, the duration, and the load after it.
    steps: Vec<(Duration, Duration, f64)>,
}

/// Loads that are offered to all links.
#[derive(Clone, Debug)]
pub(crate) struct Offered<'a> {
    /// Names and courses of loads, by name. One whose trace has no message in time has none.
    pub(crate) loads: Vec<(&'a str, Option<Offer>)>,
    /// By link and by the point that sends on it.
    parts: BTreeMap<&'a str, BTreeMap<&'a str, Vec<Part>>>,
}

/// A point with its links while all is in service.
struct Node<'a> {
    config: &'a node::Config,
    usual: node::UsualLinks,
}

impl<'a> Node<'a> {
    fn of(config: &'a node::Config) -> Self {
        Self { config, usual: node::UsualLinks::new(config) }
    }
}

impl Offer {
    fn of(config: &GeneratorConfig) -> Option<Self> {
        let since_start = |at: slantpath_base::Instant| at - slantpath_base::Instant::START;
        let (start, stop) = (since_start(config.start), since_start(config.stop));
        let line_rate = config.line_rate.as_bits_per_sec() as f64;
        // A trace brings its own load, and may bring its own lengths.
        if let load::Arrivals::Trace(messages) = &config.arrivals {
            let traced = traced::course(config, messages, stop.saturating_sub(start))?;
            let step = |(since, octets): (Duration, f64)| {
                (start.saturating_add(since), Duration::ZERO, octets * 8.0 / line_rate)
            };
            let steps = traced.steps.into_iter().map(step).collect();
            return Some(Self { octets: traced.octets, line_rate, start, stop, steps });
        }
        let mut steps = vec![(start, Duration::ZERO, config.erlang_per_link)];
        steps.extend(config.steps.iter().map(|step| (since_start(step.at), step.over, step.erlang_per_link)));
        Some(Self { octets: config.lengths.mean(), line_rate, start, stop, steps })
    }

    /// Erlang per link at a time.
    fn erlang_at(&self, at: Duration) -> f64 {
        if at < self.start || at >= self.stop {
            return 0.0;
        }
        let mut erlang = 0.0;
        for (since, over, next) in self.steps.iter().take_while(|(since, ..)| *since <= at) {
            let part = if over.is_zero() { 1.0 } else { (at - *since).as_secs_f64() / over.as_secs_f64() };
            erlang += (next - erlang) * part.min(1.0);
        }
        erlang
    }

    /// Bits per second on a line that one of its links offers.
    pub(crate) fn bits_at(&self, at: Duration) -> f64 {
        self.erlang_at(at) * self.line_rate
    }

    /// Times at which the load changes: the beginning and the end of each step.
    fn changes(&self) -> impl Iterator<Item = Duration> {
        self.steps.iter().flat_map(|(since, over, _)| [*since, since.saturating_add(*over)])
    }
}

impl<'a> Offered<'a> {
    /// Called when all else is right.
    pub(crate) fn new(signalling: &'a Signalling, plan: &'a SignallingPlan) -> Self {
        let network = &plan.network;
        let nodes: BTreeMap<PointCode, Node<'a>> =
            network.points.iter().map(|point| (point.mtp3.point_code, Node::of(&point.mtp3))).collect();
        let of_points = network.points.iter().map(|point| &point.sccp);
        let with_sccp = of_points.chain(network.m3ua.points.iter().map(|point| &point.sccp)).flatten();
        let translators: BTreeMap<PointCode, Translator> =
            with_sccp.map(|sccp| (sccp.point_code, sccp.translator.clone())).collect();
        let by_point = ByPoint::new(signalling);
        let mut offered = Self { loads: Vec::new(), parts: BTreeMap::new() };
        for (number, ((name, load), planned)) in signalling.load.iter().zip(&network.loads).enumerate() {
            let config = &planned.generator;
            let offer = Offer::of(config);
            if offer.is_some() && !is_served(signalling, &load.from) {
                for (sls, links) in selections(config) {
                    for (way, share) in ways(config, sls, &translators) {
                        for leg in way.windows(2) {
                            offered.follow(
                                (signalling, &by_point),
                                &nodes,
                                (leg[0], leg[1], sls),
                                number,
                                links * share,
                            );
                        }
                    }
                }
            }
            offered.loads.push((name, offer));
        }
        offered
    }

    /// Adds a part of a load to the links on its way from one point to another.
    fn follow(
        &mut self,
        (signalling, by_point): (&'a Signalling, &ByPoint<'a>),
        nodes: &BTreeMap<PointCode, Node<'a>>,
        (from, to, sls): (PointCode, PointCode, Sls),
        load: usize,
        links: f64,
    ) {
        let (mut at, mut chosen) = (from, sls.0);
        for _ in 0..HOPS {
            let Some(Node { config, usual }) = nodes.get(&at).filter(|_| at != to) else { return };
            let Some(link) = usual.link(to, chosen) else { return };
            let known = by_point.links(&config.name);
            let Some(&(far, link)) = known.get(usize::from(link.0)) else { return };
            let parts = self.parts.entry(link).or_default().entry(config.name.as_str()).or_default();
            match parts.iter_mut().find(|part| part.load == load) {
                Some(part) => part.links += links,
                None => parts.push(Part { load, links }),
            }
            let Some(next) = signalling.points.find(far) else { return };
            at = next.code.0;
            let line = signalling.links.find(link).filter(|link| matches!(*link.carrier, Carrier::Mtp2(_)));
            let slc = line.map(|line| line.slc);
            let by_code = nodes.get(&at).is_some_and(|node| node.config.spread == node::Spread::LinkCode);
            chosen = if by_code { slc.map_or(sls.0, |slc| *slc) } else { sls.0 };
        }
    }

    /// Parts of loads that a point sends on a link.
    pub(crate) fn on(&self, link: &str, from: &str) -> &[Part] {
        self.parts.get(link).and_then(|link| link.get(from)).map(Vec::as_slice).unwrap_or_default()
    }

    fn offer(&self, part: &Part) -> Option<&Offer> {
        self.loads.get(part.load).and_then(|(_, offer)| offer.as_ref())
    }

    /// Bits per second of parts together at a time, each message so many octets longer than on a line.
    pub(crate) fn bits_at(&self, parts: &[Part], at: Duration, longer: f64) -> f64 {
        let of = |part: &Part| {
            let offer = self.offer(part)?;
            Some(offer.bits_at(at) * part.links * (offer.octets + longer) / offer.octets)
        };
        parts.iter().filter_map(of).sum()
    }

    /// Octets of a message on a line, on average over parts.
    pub(crate) fn octets(&self, parts: &[Part]) -> Option<f64> {
        let (mut links, mut sum) = (0.0, 0.0);
        for (part, offer) in parts.iter().filter_map(|part| Some((part, self.offer(part)?))) {
            links += part.links;
            sum += part.links * offer.octets;
        }
        (links > 0.0).then(|| sum / links)
    }

    /// Times at which parts change, in order.
    pub(crate) fn changes(&self, parts: &[Part]) -> Vec<Duration> {
        let offers = parts.iter().filter_map(|part| self.offer(part));
        let mut changes: Vec<Duration> =
            offers.flat_map(|offer| offer.changes().chain([offer.stop])).collect();
        changes.sort();
        changes.dedup();
        changes
    }

    /// The most that parts offer together, and since when; a load is the highest where it changes.
    pub(crate) fn most(&self, parts: &[Part], longer: f64) -> Option<(f64, Duration)> {
        let at = |at: &Duration| (self.bits_at(parts, *at, longer), *at);
        let changes = self.changes(parts);
        let all = changes.iter().map(at);
        all.reduce(|most, other| if other.0 > most.0 { other } else { most })
    }
}

/// The link selections of a load's messages, each with how many of its links have it.
fn selections(config: &GeneratorConfig) -> Vec<(Sls, f64)> {
    if let (Selection::Trace, load::Arrivals::Trace(messages)) = (config.selection, &config.arrivals) {
        let shares = traced::selections(config, messages);
        return shares.into_iter().map(|(sls, share)| (sls, share * f64::from(config.links))).collect();
    }
    // Link n has n modulo 16.
    let links = |sls: u16| (config.links.saturating_sub(sls)).div_ceil(16);
    let all = (0..16_u8).map(|sls| (Sls(sls), f64::from(links(u16::from(sls)))));
    all.filter(|(_, links)| *links > 0.0).collect()
}

/// The points that messages of a selection go over where MTP3 or SCCP sends them on, each way with its share.
fn ways(
    config: &GeneratorConfig,
    sls: Sls,
    translators: &BTreeMap<PointCode, Translator>,
) -> Vec<(Vec<PointCode>, f64)> {
    let mut ways = Vec::new();
    if let Some((code, part)) = config.routing.code() {
        let share = part / code.destinations.len() as f64;
        ways.extend(code.destinations.iter().map(|to| (vec![config.origin, *to], share)));
    }
    let Some((ByTitle { translator, called, calling }, part)) = config.routing.title() else { return ways };
    for party in called {
        let followed = follow(translators, *translator, party, calling, &[sls]);
        let usual = followed.endings.into_iter().filter(|ending| !ending.is_backup);
        let usual: Vec<_> = usual.filter(|ending| matches!(ending.outcome, Outcome::Arrives(_))).collect();
        let share = part / called.len() as f64 / usual.len().max(1) as f64;
        for ending in usual {
            let mut way = vec![config.origin, *translator];
            way.extend(ending.path.iter().map(|(at, _)| *at).filter(|at| at != translator));
            way.push(ending.at);
            ways.push((way, share));
        }
    }
    ways
}
