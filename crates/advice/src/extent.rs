//! Size of a run: messages and samples, which follow from several values that are each within their bounds.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_net::Sampling;
use slantpath_orbit::ContactNetwork;
use slantpath_reader::{Fault, Faults, Place, Setting};
use slantpath_scenario::Draft;
use slantpath_scenario::schema::signalling::{self, Carrier};
use slantpath_scenario::schema::{self, File, Flow, Interval, Total};
use slantpath_scenario::sky_links::uplink_rate;

/// Messages of a run: at a million a second, which is fast, their simulation takes three hours.
const MOST_MESSAGES: f64 = 1e10;
/// Rows of one table: at a hundred bytes each they take ten gigabytes of memory.
const MOST_ROWS: f64 = 1e8;
/// Messages that prove one association.
const MOST_PROVING: f64 = 1e7;

/// Called when all else is right.
pub(crate) fn check(draft: &Draft, faults: &mut Faults) {
    let (file, bodies): (&File, _) = (draft, draft.bodies());
    let Some(head) = file.scenario.whole() else { return };
    let duration = *head.duration;
    let records = file.probes.whole().is_some_and(|probes| *probes.messages);
    let rates = Rates { links: file.wiring().links_by_node(), bodies };
    let mut messages = Sum::default();
    let mut recorded = Sum::default();
    for (name, flow) in file.flows.iter() {
        let count = of_flow(&rates, file, flow, duration);
        let place = flow.application.message_size().map_or(flow.from.place(), Setting::place);
        messages.add(count, place, || format!("flow `{name}`"));
        if records && *flow.content == schema::Content::Stamped {
            recorded.add(count, place, || format!("flow `{name}`"));
        }
    }
    if let Some(signalling) = file.signalling.whole() {
        let planned = draft.signalling_plan().into_iter().flat_map(|plan| &plan.network.loads);
        for ((name, load), planned) in signalling.load.iter().zip(planned) {
            let config = &planned.generator;
            let end = config.stop.min(Instant::START + duration);
            let bits = config.erlang_seconds(end) * config.line_rate.as_bits_per_sec() as f64;
            let count = match &config.arrivals {
                slantpath_ss7::load::Arrivals::Trace(trace) => trace.len() as f64,
                _ => bits / (config.lengths.mean() * 8.0),
            };
            let place = load.erlang_per_link.place();
            messages.add(count * f64::from(config.links), place, || format!("load `{name}`"));
        }
        for (name, link) in signalling.links.iter() {
            let Carrier::M2pa(m2pa) = &*link.carrier else { continue };
            let count = seconds(*m2pa.t4_normal) / seconds(*m2pa.proving_interval);
            if *m2pa.proving == signalling::Proving::Used && count > MOST_PROVING {
                let what = format!("`{name}`: {count:.0} messages prove the association each time");
                let help = format!("let `proving_interval` be longer: {MOST_PROVING:.0} are the most");
                faults.report(m2pa.proving_interval.place(), Fault::new(what).help(help));
            }
        }
    }
    messages.check(MOST_MESSAGES, "messages in all, of which most are of", faults);
    recorded.check(MOST_ROWS, "messages that are recorded, of which most are of", faults);
    samples(file, &rates, duration, faults);
}

/// Sources of the rates of a node's links.
struct Rates<'a> {
    links: LinksByNode<'a>,
    /// The sites and satellites of the sky, if there is one.
    bodies: Option<&'a ContactNetwork>,
}

/// The names of the links of each node, and of its antennas.
type LinksByNode<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Rows of the tables of samples.
fn samples(file: &File, Rates { links, bodies }: &Rates<'_>, duration: Duration, faults: &mut Faults) {
    let Some(probes) = file.probes.whole() else { return };
    if let (Interval::Every(interval), Some(bodies)) = (*probes.sky, bodies) {
        let mut rows = Sum::default();
        let count = seconds(duration) / seconds(interval) * bodies.satellites().count() as f64;
        rows.add(count, probes.sky.place(), || "every satellite".to_owned());
        rows.check(MOST_ROWS, "samples, one each time of", faults);
    }
    if let Interval::Every(interval) = *probes.paths {
        let count = |node: &str| links.get(node).map_or(0, Vec::len);
        let paths = |flow: &Flow| count(&flow.to) * *flow.count as usize;
        let paths: usize = file.flows.iter().map(|(_, flow)| paths(flow)).sum();
        let mut rows = Sum::default();
        let count = seconds(duration) / seconds(interval) * paths as f64;
        rows.add(count, probes.paths.place(), || "every path".to_owned());
        rows.check(MOST_ROWS, "samples, one each time of", faults);
    }
    if let Some(Sampling::Every(interval)) = probes.queues.0 {
        let antennas = file.nodes.iter().flat_map(|(_, node)| node.antennas.iter());
        let queues = 2 * file.links.iter().count() + antennas.map(|names| 2 * names.len()).sum::<usize>();
        let mut rows = Sum::default();
        let count = seconds(duration) / seconds(interval) * queues as f64;
        rows.add(count, probes.queues.place(), || "every queue".to_owned());
        rows.check(MOST_ROWS, "samples, one each time of", faults);
    }
}

/// The messages that a flow may send, all of its `count` together.
fn of_flow(rates: &Rates<'_>, file: &File, flow: &Flow, duration: Duration) -> f64 {
    let end = flow.end.map_or(duration, |end| *end).min(duration);
    let active = seconds(end.saturating_sub(*flow.start));
    let each = match &*flow.application {
        // Together they have no more than the sender's links carry.
        schema::Application::Bulk(bulk) => {
            let size = bulk.message_size.as_bytes().max(1) as f64;
            let carried = fastest(rates, file, &flow.from) / 8.0 * active / size;
            let wanted = match *bulk.total {
                Total::Bytes(total) => total.as_bytes() as f64 / size,
                Total::Unlimited => f64::INFINITY,
            };
            return carried.min(wanted * f64::from(*flow.count));
        }
        schema::Application::Bursts(bursts) => {
            let each = bursts.burst_size.as_bytes() / bursts.message_size.as_bytes().max(1);
            (active / seconds(*bursts.interval)).ceil() * each as f64
        }
        schema::Application::ConstantRate(source) => active / seconds(source.spacing()),
        schema::Application::Mixed(mixed) => {
            let classes = mixed.classes.iter();
            classes
                .map(|(_, class)| (active / seconds(*class.interval)).ceil() * f64::from(*class.messages))
                .sum()
        }
        schema::Application::Ping(ping) => {
            let count = ping.count.map_or(f64::INFINITY, |count| f64::from(*count));
            (active / seconds(*ping.interval)).ceil().min(count)
        }
        schema::Application::Poisson(source) => active / seconds(source.spacing()),
        schema::Application::Voice(voice) => {
            let talks =
                seconds(*voice.mean_talk) / seconds(voice.mean_talk.saturating_add(*voice.mean_silence));
            (active / seconds(*voice.interval) * talks).ceil()
        }
        schema::Application::Trace(trace) => trace.messages.len() as f64,
    };
    each * f64::from(*flow.count)
}

/// In bit/s, what all links of a node carry from it at most, antennas' among them, whatever the script sets them to.
fn fastest(rates: &Rates<'_>, file: &File, node: &str) -> f64 {
    let rate_of_link = |name: &str| {
        let own = match file.links.find(name) {
            Some(link) => {
                let parameters = if link.ends.0 == node { &link.forward } else { &link.reverse };
                Some(parameters.port.top_rate.0)
            }
            None => uplink_rate(file, rates.bodies?, name),
        };
        let set = file.script.iter().filter(|event| *event.link == name).filter_map(|event| event.rate);
        set.map(|rate| *rate).chain(own).map(DataRate::as_bits_per_sec).max()
    };
    let links = rates.links.get(node).into_iter().flatten();
    links.filter_map(|name| rate_of_link(name)).map(|rate| rate as f64).sum()
}

/// A time that divides: what is shorter than times are told apart is one nanosecond.
fn seconds(duration: Duration) -> f64 {
    duration.max(Duration::from_nanos(1)).as_secs_f64()
}

/// Something that many parts of a file add to, and who adds most.
#[derive(Default)]
struct Sum {
    total: f64,
    largest: Option<(f64, Place, String)>,
}

impl Sum {
    fn add(&mut self, count: f64, place: Place, of: impl Fn() -> String) {
        self.total += count;
        if self.largest.as_ref().is_none_or(|(largest, ..)| count > *largest) {
            self.largest = Some((count, place, of()));
        }
    }

    fn check(&self, most: f64, what: &str, faults: &mut Faults) {
        let Some((_, place, of)) = self.largest.as_ref().filter(|_| self.total > most) else { return };
        let message = format!("the run comes to {:.0} {what} {of}", self.total);
        let help = format!("{most:.0} are the most: let there be fewer, or make `scenario.duration` shorter");
        faults.report(*place, Fault::new(message).help(help));
    }
}
