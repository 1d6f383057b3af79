//! TCP between a hundred cities under a moving sky, beside the same network frozen at its first instant.
//!
//! What a run takes in which each connection sends one message is what setting up takes, and contacts that begin and
//! end, and the repair of the routes to all cities: it is told apart from what a packet-hop takes.
//!
//! The case is that of Hypatia (Kassing et al., "Exploring the Internet from space with Hypatia", IMC 2020): large
//! cities in random pairs, both directions, one NewReno connection each; links of 10 Mbit/s with queues of 100 packets.

use core::cell::Cell;
use core::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_runner::{Files, RunOptions, Scenario, Workers, run};
use slantpath_topology::{Topology, follow};

use crate::rounds::{Contestant, Failure, Work, medians};

/// Sky of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sky {
    /// The first shell of Kuiper: 34 planes of 34.
    Kuiper,
    /// The first shell of Starlink: 72 planes of 22.
    Starlink,
}

impl Sky {
    /// Name of the sky.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kuiper => "kuiper",
            Self::Starlink => "starlink",
        }
    }

    fn constellation(self) -> &'static str {
        match self {
            Self::Kuiper => {
                "satellites = { kind = \"shell\", arrangement = \"delta\", planes = 34, per_plane = 34, \
                 altitude = \"630 km\", inclination = \"51.9 deg\" }\nisl.pattern = \"grid\""
            }
            Self::Starlink => "satellites = { kind = \"preset\", preset = \"starlink-shell-1\" }",
        }
    }

    /// The topology file.
    pub fn topology(self) -> String {
        let mut text = format!(
            "[topology]\nname = \"{}\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"200 s\"\n\
             [constellations.leo]\n{}\n[ground]\nmin_elevation = \"25 deg\"\n",
            self.name(),
            self.constellation()
        );
        for (city, latitude, longitude) in CITIES {
            let _ = writeln!(
                text,
                "[sites.{city}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\""
            );
        }
        text
    }
}

/// Amount that each connection sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// As much as it can.
    Unlimited,
    /// One message a connection.
    OneMessage,
}

/// The scenario file, whose sky is in `sky.toml`.
pub fn scenario(duration: Duration, load: Load) -> String {
    let mut text = head(duration, load);
    text.push_str(
        "[sky]\ntopology = \"sky.toml\"\n[sky.access.all]\nrate = \"10 Mbit/s\"\nqueue = \"100 packets\"\n\
         [sky.isls.all]\nrate = \"10 Mbit/s\"\nqueue = \"100 packets\"\n",
    );
    for (city, ..) in CITIES {
        let _ = writeln!(text, "[nodes.{city}]\nkind = \"host\"\nsite = \"{city}\"");
    }
    text
}

/// Head of the scenario, without nodes and links: connections between the cities of each pair, both ways.
fn head(duration: Duration, load: Load) -> String {
    let total = match load {
        Load::Unlimited => "unlimited",
        Load::OneMessage => "1380 B",
    };
    let mut text = format!(
        "[scenario]\nname = \"cities\"\nduration = \"{duration}\"\n[probes]\nmessages = false\n[tcp.default]\n\
         mss = \"1380 B\"\n"
    );
    let mut order: Vec<usize> = (0..CITIES.len()).collect();
    let mut stream = Seed::new(1, 0).stream("pairs");
    for place in (1..order.len()).rev() {
        let other = usize::try_from(stream.below(place as u64 + 1)).unwrap_or(place);
        order.swap(place, other);
    }
    for pair in order.chunks_exact(2) {
        for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            let (from, to) = (CITIES[from].0, CITIES[to].0);
            let _ = writeln!(
                text,
                "[flows.{from}-{to}]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"tcp\"\n\
                 application = {{ kind = \"bulk\", message_size = \"1380 B\", total = \"{total}\" }}"
            );
        }
    }
    text
}

/// Variant of [`scenario`] with the contacts of the first instant as links, as long as they are then.
///
/// # Errors
/// If the sky cannot be followed.
pub fn frozen(sky: Sky, duration: Duration, load: Load) -> Result<String, Failure> {
    let none: Files = Arc::new(|name| Err(std::io::Error::other(name.to_owned())));
    let topology = Topology::parse("sky.toml", &sky.topology(), &["topology.span=1 s".to_owned()], none)
        .map_err(|faults| Failure::from(faults.to_string()))?;
    let stop = AtomicBool::new(false);
    let workers = Workers { threads: 1, stop: &stop, progress: &|_| {} };
    let answer =
        follow(&topology, None, workers, &|_| {}).map_err(|error| Failure::from(error.to_string()))?;
    let plan = answer.expect("nobody stops it").plan;
    let mut text = head(duration, load);
    for (city, ..) in CITIES {
        let _ = writeln!(text, "[nodes.{city}]\nkind = \"host\"");
    }
    for satellite in &plan.names()[..plan.satellite_count()] {
        let _ = writeln!(text, "[nodes.{satellite}]\nkind = \"router\"");
    }
    for (number, change) in plan.changes().iter().take_while(|change| change.at == Instant::START).enumerate()
    {
        let contact = plan.contact(change.contact);
        let [one, other] = [contact.b, contact.a].map(|body| plan.names()[body.index()].as_str());
        let delay = plan.delay(change.contact).at(Instant::START);
        let _ = writeln!(
            text,
            "[links.l{number}]\nends = [\"{one}\", \"{other}\"]\nrate = \"10 Mbit/s\"\n\
             queue = \"100 packets\"\ndelay = \"{} ns\"",
            delay.as_nanos()
        );
    }
    Ok(text)
}

/// Cost of a packet-hop over a sky, in nanoseconds of CPU time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// Cost of the hop by itself.
    own: f64,
    /// Share of the hop in setting up, in contacts and in route repair.
    shared: f64,
}

impl Cost {
    /// From packet-hops and from runs of one message a connection, both a CPU second, and the packet-hops of a run.
    fn new(hops_per_sec: f64, set_ups_per_sec: f64, hops: f64) -> Self {
        let shared = 1e9 / (set_ups_per_sec * hops);
        Self { own: 1e9 / hops_per_sec - shared, shared }
    }
}

/// Skies as they move, beside the same frozen.
#[derive(Clone, Debug)]
pub struct Costs(Vec<(Sky, [Cost; 2])>);

impl core::fmt::Display for Costs {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        writeln!(
            f,
            "nanoseconds of CPU time a packet-hop, its share of setting up and route repair told apart"
        )?;
        writeln!(
            f,
            "{:<28} {:>7} {:>7} {:>7}  {:>7} {:>7}",
            "case", "moving", "frozen", "more", "share", "frozen"
        )?;
        for (sky, [moving, frozen]) in &self.0 {
            let case = format!("100 cities over {}", sky.name());
            let more = moving.own - frozen.own;
            writeln!(
                f,
                "{case:<28} {:>7.0} {:>7.0} {more:>7.0}  {:>7.0} {:>7.0}",
                moving.own, frozen.own, moving.shared, frozen.shared
            )?;
        }
        Ok(())
    }
}

/// Packet-hops over the sky as it moves, beside the same sky frozen.
///
/// # Errors
/// If a scenario cannot be read or run.
pub fn moving_and_frozen() -> Result<Costs, Failure> {
    const DURATION: Duration = Duration::from_secs(10);
    const ROUNDS: usize = 5;
    let mut costs = Vec::new();
    for sky in [Sky::Kuiper, Sky::Starlink] {
        let topology = sky.topology();
        let files: Files = Arc::new(move |_| Ok(topology.clone()));
        let hops = [Cell::new(0.0), Cell::new(0.0)];
        let mut contestants = Vec::new();
        for load in [Load::Unlimited, Load::OneMessage] {
            let texts = [("moving", scenario(DURATION, load)), ("frozen", frozen(sky, DURATION, load)?)];
            for ((name, text), hops) in texts.into_iter().zip(&hops) {
                let scenario = Scenario::parse("cities.toml", &text, &[], Arc::clone(&files))
                    .map_err(|faults| Failure::from(faults.to_string()))?;
                let work = move || {
                    let output = run(&scenario, &RunOptions::default());
                    let output = output.map_err(|error| Failure::from(error.to_string()))?;
                    if load == Load::OneMessage {
                        return Ok(Work::Here { units: 1.0 });
                    }
                    hops.set(output.packet_hops as f64);
                    Ok(Work::Here { units: output.packet_hops as f64 })
                };
                contestants.push(Contestant { name, work: Box::new(work) });
            }
        }
        let speeds = medians(&mut contestants, ROUNDS)?;
        let cost = |place: usize| Cost::new(speeds[place], speeds[place + 2], hops[place].get());
        costs.push((sky, [cost(0), cost(1)]));
    }
    Ok(Costs(costs))
}

/// A hundred of the largest cities, with latitude and longitude in degrees.
const CITIES: [(&str, f64, f64); 100] = [
    ("tokyo", 35.69, 139.69),
    ("delhi", 28.61, 77.21),
    ("shanghai", 31.23, 121.47),
    ("saopaulo", -23.55, -46.63),
    ("mexicocity", 19.43, -99.13),
    ("cairo", 30.04, 31.24),
    ("mumbai", 19.08, 72.88),
    ("beijing", 39.90, 116.41),
    ("dhaka", 23.81, 90.41),
    ("osaka", 34.69, 135.50),
    ("newyork", 40.71, -74.01),
    ("karachi", 24.86, 67.00),
    ("buenosaires", -34.60, -58.38),
    ("chongqing", 29.56, 106.55),
    ("istanbul", 41.01, 28.98),
    ("kolkata", 22.57, 88.36),
    ("manila", 14.60, 120.98),
    ("lagos", 6.52, 3.38),
    ("rio", -22.91, -43.17),
    ("tianjin", 39.13, 117.20),
    ("kinshasa", -4.32, 15.31),
    ("guangzhou", 23.13, 113.26),
    ("losangeles", 34.05, -118.24),
    ("moscow", 55.76, 37.62),
    ("shenzhen", 22.54, 114.06),
    ("lahore", 31.55, 74.34),
    ("bangalore", 12.97, 77.59),
    ("paris", 48.86, 2.35),
    ("bogota", 4.71, -74.07),
    ("jakarta", -6.21, 106.85),
    ("chennai", 13.08, 80.27),
    ("lima", -12.05, -77.04),
    ("bangkok", 13.76, 100.50),
    ("seoul", 37.57, 126.98),
    ("nagoya", 35.18, 136.91),
    ("hyderabad", 17.39, 78.49),
    ("london", 51.51, -0.13),
    ("tehran", 35.69, 51.39),
    ("chicago", 41.88, -87.63),
    ("chengdu", 30.57, 104.07),
    ("nanjing", 32.06, 118.80),
    ("wuhan", 30.59, 114.31),
    ("hochiminh", 10.82, 106.63),
    ("luanda", -8.84, 13.23),
    ("ahmedabad", 23.02, 72.57),
    ("kualalumpur", 3.15, 101.69),
    ("xian", 34.34, 108.94),
    ("hongkong", 22.32, 114.17),
    ("dongguan", 23.02, 113.75),
    ("hangzhou", 30.27, 120.16),
    ("foshan", 23.02, 113.12),
    ("shenyang", 41.81, 123.43),
    ("riyadh", 24.71, 46.68),
    ("baghdad", 33.31, 44.37),
    ("santiago", -33.45, -70.67),
    ("surat", 21.17, 72.83),
    ("madrid", 40.42, -3.70),
    ("suzhou", 31.30, 120.58),
    ("pune", 18.52, 73.86),
    ("harbin", 45.80, 126.53),
    ("houston", 29.76, -95.37),
    ("dallas", 32.78, -96.80),
    ("toronto", 43.65, -79.38),
    ("daressalaam", -6.79, 39.21),
    ("miami", 25.76, -80.19),
    ("belohorizonte", -19.92, -43.94),
    ("singapore", 1.35, 103.82),
    ("philadelphia", 39.95, -75.17),
    ("atlanta", 33.75, -84.39),
    ("fukuoka", 33.59, 130.40),
    ("khartoum", 15.50, 32.56),
    ("barcelona", 41.39, 2.17),
    ("johannesburg", -26.20, 28.05),
    ("stpetersburg", 59.93, 30.34),
    ("qingdao", 36.07, 120.38),
    ("dalian", 38.91, 121.61),
    ("washington", 38.91, -77.04),
    ("yangon", 16.87, 96.20),
    ("alexandria", 31.20, 29.92),
    ("jinan", 36.65, 117.12),
    ("guadalajara", 20.66, -103.35),
    ("boston", 42.36, -71.06),
    ("zhengzhou", 34.75, 113.63),
    ("ankara", 39.93, 32.86),
    ("nairobi", -1.29, 36.82),
    ("chittagong", 22.36, 91.78),
    ("sydney", -33.87, 151.21),
    ("melbourne", -37.81, 144.96),
    ("phoenix", 33.45, -112.07),
    ("casablanca", 33.57, -7.59),
    ("monterrey", 25.69, -100.32),
    ("portoalegre", -30.03, -51.22),
    ("recife", -8.05, -34.88),
    ("salvador", -12.97, -38.50),
    ("abidjan", 5.36, -4.01),
    ("kano", 12.00, 8.52),
    ("rome", 41.90, 12.50),
    ("kabul", 34.56, 69.21),
    ("jeddah", 21.49, 39.19),
    ("capetown", -33.92, 18.42),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_told_apart() {
        // 10 s for 50 million hops, of which 1 s is the set-up's.
        let cost = Cost::new(5e6, 1.0, 50e6);
        assert!((cost.shared - 20.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.own - 180.0).abs() < 1e-9, "{cost:?}");
    }
}
