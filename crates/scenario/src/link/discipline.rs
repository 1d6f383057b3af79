//! `discipline` of a link: which of the packets that wait are sent next, and which are dropped early.

use std::collections::BTreeMap;

use slantpath_base::{DataSize, Duration, Probability};
use slantpath_net::{
    self as net, BeyondMax, CoDelConfig, CongestionSignal, DrrConfig, FqCoDelConfig, PieConfig, Precedence,
    QueueConfig, QueueLimit, QueueMeasure, RedConfig, RedThresholds,
};
use slantpath_profiles::fault::positive;
use slantpath_reader::{Fault, Faults, Flat, Named, Nested, Place, Setting, Tables, section, tagged};

use super::queue_size::QueueSize;
use crate::bounds::{AVERAGE_WEIGHT, DELAY, PACKET, QUEUE};
use crate::network::node::NamedDscp;

tagged! {
    /// Order in which queued packets are sent, and rule by which some are dropped early. `queue` limits what is queued
    /// in any case.
    pub enum Discipline {
        /// First in, first out; packets are dropped when they leave, if all have waited for too long (RFC 8289).
        Codel = "codel",
        /// Classes by the DSCP, which share the transmitter in proportion to their quanta (deficit round robin).
        Drr = "drr",
        /// Flows share the transmitter alike, each with CoDel; one that has just begun or sends little goes first
        /// (RFC 8290).
        FqCodel = "fq-codel",
        /// First in, first out; packets are dropped at random as they come, with a probability that leads the wait to a
        /// target (RFC 8033).
        Pie = "pie",
        /// Eight classes by the upper three bits of the DSCP, the highest first, each with a `queue` of its own.
        Priority = "priority",
        /// First in, first out; packets are dropped at random as the average queue grows (RED).
        Red = "red",
        /// RED with thresholds for each drop precedence, over an average of the packets that wait with it or a lower
        /// one.
        RioC = "rio-c",
        /// RED with thresholds for each drop precedence, over the average of all packets.
        Wred = "wred",
    }
}

section! {
    /// Parameters of CoDel.
    pub struct Codel {
        /// The wait that may stand.
        target: Setting<Duration> = Duration::from_millis(5), at most DELAY;
        /// Time for which packets wait longer than `target` before one is dropped: the longest usual round-trip time.
        interval: Setting<Duration> = Duration::from_millis(100), at most DELAY;
        /// Marks packets of transports that use ECN in place of dropping them (RFC 3168).
        ecn: Setting<bool> = false;
    }
}

section! {
    /// Deficit round robin.
    pub struct Drr {
        /// Classes by name. A packet is of the first, in alphabetical order, that names its codepoint; else of the one
        /// that names none.
        classes: Tables<DrrClass>;
    }
}

section! {
    /// A class of deficit round robin.
    pub struct DrrClass {
        /// The codepoints of its packets. All that no other class names if absent, as one class must have it.
        dscp: Option<Setting<Vec<NamedDscp>>>;
        /// Bytes that the class may send in a turn: its share of the rate is its quantum over the sum of those of all
        /// classes in which packets are queued. No less than the link's `mtu`, so that a turn is never idle.
        quantum: Setting<DataSize>, at most PACKET;
        /// Largest queue of the class. The link's `queue` if absent.
        queue: Option<Setting<QueueSize>>, at most QUEUE;
    }
}

section! {
    /// FQ-CoDel. The link's `queue` limits what waits in all queues together.
    pub struct FqCodel {
        /// The wait that may stand in each queue.
        target: Setting<Duration> = Duration::from_millis(5), at most DELAY;
        /// Time for which packets of a queue wait longer than `target` before one is dropped: the longest usual
        /// round-trip time.
        interval: Setting<Duration> = Duration::from_millis(100), at most DELAY;
        /// Bytes that a queue may send in a turn: a frame of Ethernet in RFC 8290.
        quantum: Setting<DataSize> = DataSize::from_bytes(1_514), at most PACKET;
        /// Number of queues to which flows are hashed.
        queues: Setting<u16> = 1_024;
        /// Marks packets of transports that use ECN in place of dropping them (RFC 3168).
        ecn: Setting<bool> = true;
    }
}

section! {
    /// Parameters of PIE.
    pub struct Pie {
        /// The wait that the queue is led to (QDELAY_REF).
        target: Setting<Duration> = Duration::from_millis(15), at most DELAY;
        /// Time from one update of the probability to the next (T_UPDATE), 1 us at least.
        update_interval: Setting<Duration> = Duration::from_millis(15), at most DELAY;
        /// Time for which a queue that forms drops nothing (MAX_BURST).
        max_burst: Setting<Duration> = Duration::from_millis(150), at most DELAY;
        /// Marks packets of transports that use ECN in place of dropping them (RFC 3168), as long as the probability is
        /// `mark_threshold` at most.
        ecn: Setting<bool> = false;
        /// Greatest probability at which packets are marked (mark_ecnth).
        mark_threshold: Setting<Probability> = tenth();
    }
}

section! {
    /// Strict priority. It has no keys of its own.
    pub struct Priority {}
}

section! {
    /// Random early detection.
    pub struct Red {
        /// Thresholds of early drops.
        thresholds: Flat<Thresholds>;
        /// Average of the queue.
        average: Flat<Average>;
    }
}

section! {
    /// RED with three drop precedences and coupled averages.
    pub struct RioC {
        /// Packets of low drop precedence: AF11 to AF41, and all that is neither of AF nor best effort.
        low: Nested<Thresholds>;
        /// Packets of medium drop precedence: AF12 to AF42.
        medium: Nested<Thresholds>;
        /// Packets of high drop precedence: AF13 to AF43, and best effort.
        high: Nested<Thresholds>;
        /// Averages of the queue.
        average: Flat<Average>;
    }
}

section! {
    /// RED with three drop precedences and one average.
    pub struct Wred {
        /// Packets of low drop precedence: AF11 to AF41, and all that is neither of AF nor best effort.
        low: Nested<Thresholds>;
        /// Packets of medium drop precedence: AF12 to AF42.
        medium: Nested<Thresholds>;
        /// Packets of high drop precedence: AF13 to AF43, and best effort.
        high: Nested<Thresholds>;
        /// Average of the queue.
        average: Flat<Average>;
    }
}

section! {
    /// Average queues at which early drops begin and end.
    pub struct Thresholds {
        /// The average queue from which on packets are dropped.
        min: Setting<QueueSize>, at most QUEUE;
        /// The average queue from which on all packets are dropped, in the unit of `min`.
        max: Setting<QueueSize>, at most QUEUE;
        /// The chance to be dropped just below `max`.
        max_probability: Setting<Probability> = tenth();
    }
}

section! {
    /// Rule by which the average of a queue follows it.
    pub struct Average {
        /// The weight of the queue that a packet finds in the average.
        weight: Setting<f64> = 0.002, at most AVERAGE_WEIGHT;
        /// The length of a typical packet: an idle transmitter lets the average fall by as many as it could have sent.
        typical_packet: Setting<DataSize> = DataSize::from_bytes(1_000), at most PACKET;
        /// Lets the chance to be dropped grow from `max` on to one at twice `max`, in place of being one from `max` on.
        gentle: Setting<bool> = false;
        /// Marks packets of transports that use ECN in place of dropping them (RFC 3168), as long as the average is
        /// below `max`.
        ecn: Setting<bool> = false;
    }
}

/// The least chance that Floyd's note on parameters of RED (1997) recommends, and the greatest at which PIE marks
/// (RFC 8033, section 5.1).
fn tenth() -> Probability {
    Probability::new(0.1).expect("it lies between 0 and 1")
}

impl Discipline {
    /// Tells whether it decides about a packet on its arrival, so that it is known at once when the packet will leave.
    pub(crate) const fn is_settled_on_arrival(&self) -> bool {
        match self {
            Self::Codel(_) | Self::Drr(_) | Self::FqCodel(_) | Self::Pie(_) | Self::Priority(_) => false,
            Self::Red(_) | Self::RioC(_) | Self::Wred(_) => true,
        }
    }

    /// Configuration of it in `net`, with a limit of the queue.
    pub(crate) fn config(&self, limit: QueueLimit) -> QueueConfig {
        match self {
            Self::Codel(codel) => {
                let (target, interval) = (*codel.target, *codel.interval);
                QueueConfig::CoDel(CoDelConfig { limit, target, interval, signal: signal(*codel.ecn) })
            }
            Self::Drr(drr) => QueueConfig::Drr(drr.config(limit)),
            Self::FqCodel(fair) => {
                let (target, interval) = (*fair.target, *fair.interval);
                QueueConfig::FqCoDel(FqCoDelConfig {
                    codel: CoDelConfig { limit, target, interval, signal: signal(*fair.ecn) },
                    quantum_bytes: u32::try_from(fair.quantum.as_bytes()).unwrap_or(u32::MAX),
                    queues: *fair.queues,
                })
            }
            Self::Pie(pie) => QueueConfig::Pie(PieConfig {
                limit,
                target: *pie.target,
                update_interval: *pie.update_interval,
                max_burst: *pie.max_burst,
                mark_threshold: *pie.mark_threshold,
                signal: signal(*pie.ecn),
            }),
            Self::Priority(_) => QueueConfig::Priority(limit),
            Self::Red(red) => {
                let precedence = Precedence::Ignored(red.thresholds.config());
                QueueConfig::Red(red.average.config(limit, red.thresholds.measure(), precedence))
            }
            Self::RioC(rio) => {
                let levels = [&rio.low, &rio.medium, &rio.high].map(|level| level.config());
                QueueConfig::Red(rio.average.config(limit, rio.low.measure(), Precedence::Coupled(levels)))
            }
            Self::Wred(wred) => {
                let levels = [&wred.low, &wred.medium, &wred.high].map(|level| level.config());
                QueueConfig::Red(wred.average.config(limit, wred.low.measure(), Precedence::Weighted(levels)))
            }
        }
    }

    /// Reports what makes no sense.
    pub(crate) fn check(&self, place: Place, mtu: DataSize, faults: &mut Faults) {
        let (levels, average): (Vec<&Thresholds>, &Average) = match self {
            Self::Codel(codel) => return law(&codel.target, &codel.interval, faults),
            Self::Drr(drr) => return drr.check(place, mtu, faults),
            Self::FqCodel(fair) => return fair.check(faults),
            Self::Pie(pie) => return pie.check(faults),
            Self::Priority(_) => return,
            Self::Red(red) => (vec![&red.thresholds], &red.average),
            Self::RioC(rio) => (vec![&rio.low, &rio.medium, &rio.high], &rio.average),
            Self::Wred(wred) => (vec![&wred.low, &wred.medium, &wred.high], &wred.average),
        };
        average.check(faults);
        let unit = levels[0].measure();
        for level in levels {
            level.check(unit, faults);
        }
    }
}

/// Reports times of CoDel that are none.
fn law(target: &Setting<Duration>, interval: &Setting<Duration>, faults: &mut Faults) {
    positive(target, "`target`", faults);
    positive(interval, "`interval`", faults);
}

impl Drr {
    /// As `net` has it: the class that names no codepoint stands last.
    fn config(&self, limit: QueueLimit) -> DrrConfig {
        let class = |(_, class): (&str, &Named<DrrClass>)| net::DrrClass {
            dscps: class.dscp.iter().flat_map(|dscps| dscps.iter()).map(|dscp| dscp.wire()).collect(),
            quantum_bytes: u32::try_from(class.quantum.as_bytes()).unwrap_or(u32::MAX),
            limit: class.queue.map_or(limit, |queue| queue.0),
        };
        let (named, rest): (Vec<_>, Vec<_>) =
            self.classes.iter().partition(|(_, class)| class.dscp.is_some());
        DrrConfig { classes: named.into_iter().chain(rest).map(class).collect() }
    }

    fn check(&self, place: Place, mtu: DataSize, faults: &mut Faults) {
        let mut rest = self.classes.iter().filter(|(_, class)| class.dscp.is_none());
        match (rest.next(), rest.next()) {
            (Some((first, _)), Some((second, class))) => {
                let message =
                    format!("`{first}` and `{second}` both have the packets that no other class names");
                faults.report(class.place(), Fault::new(message).help("give all classes but one a `dscp`"));
            }
            (None, _) => {
                let help = "add a class without `dscp`: `classes.rest = { quantum = \"1500 B\" }`";
                faults.report(place, Fault::new("no class has the packets whose DSCP none names").help(help));
            }
            (Some(_), None) => {}
        }
        let mut named = BTreeMap::<NamedDscp, &str>::new();
        for (name, class) in self.classes.iter() {
            if let Some(dscps) = &class.dscp {
                for &dscp in dscps.iter() {
                    if let Some(other) = named.insert(dscp, name) {
                        let fault = Fault::new(format!("{dscp} is of `{other}` and of `{name}`"));
                        faults.report(dscps.place(), fault.help("a codepoint is of one class"));
                    }
                }
            }
            if *class.quantum < mtu {
                let message = format!("a `quantum` of {} is less than a packet", *class.quantum);
                let help =
                    format!("let it be the link's `mtu` at least, {mtu}: only their ratio shares the rate");
                faults.report(class.quantum.place(), Fault::new(message).help(help));
            }
            if let Some(queue) = class.queue.filter(|queue| queue.is_zero()) {
                let help = "a packet waits for its turn in the queue: let it hold one at least";
                faults.report(
                    queue.place(),
                    Fault::new("a queue of zero lets no packet wait: of two that meet, one is dropped")
                        .help(help),
                );
            }
        }
    }
}

impl FqCodel {
    fn check(&self, faults: &mut Faults) {
        law(&self.target, &self.interval, faults);
        if self.quantum.as_bytes() == 0 {
            let fault =
                Fault::new("with a `quantum` of nothing no turn comes").help("write `quantum = \"1514 B\"`");
            faults.report(self.quantum.place(), fault);
        }
        if *self.queues == 0 {
            let fault = Fault::new("without queues no packet waits").help("write `queues = 1024`");
            faults.report(self.queues.place(), fault);
        }
    }
}

/// A fast link sends a packet in less, but a queue is not led by single packets, and a run makes every update.
const SHORTEST_UPDATE_INTERVAL: Duration = Duration::from_micros(1);

impl Pie {
    fn check(&self, faults: &mut Faults) {
        positive(&self.target, "`target`", faults);
        positive(&self.update_interval, "`update_interval`", faults);
        let interval = *self.update_interval;
        if !interval.is_zero() && interval < SHORTEST_UPDATE_INTERVAL {
            let message =
                format!("an `update_interval` of {interval} is shorter than {SHORTEST_UPDATE_INTERVAL}");
            let help = "let it be as long as some packets take: each update is computed; RFC 8033 has 15 ms";
            faults.report(self.update_interval.place(), Fault::new(message).help(help));
        }
    }
}

impl Thresholds {
    fn measure(&self) -> QueueMeasure {
        match self.min.0 {
            QueueLimit::Bytes(_) => QueueMeasure::Bytes,
            QueueLimit::Packets(_) | QueueLimit::Unlimited => QueueMeasure::Packets,
        }
    }

    fn config(&self) -> RedThresholds {
        let [min, max] = [&self.min, &self.max].map(|threshold| amount(threshold.0));
        RedThresholds { min, max, max_probability: *self.max_probability }
    }

    fn check(&self, unit: QueueMeasure, faults: &mut Faults) {
        for threshold in [&self.min, &self.max] {
            let is_in_unit = match threshold.0 {
                QueueLimit::Bytes(_) => unit == QueueMeasure::Bytes,
                QueueLimit::Packets(_) => unit == QueueMeasure::Packets,
                QueueLimit::Unlimited => false,
            };
            if !is_in_unit {
                let message = format!("a threshold of {} cannot be compared with the others", **threshold);
                let help = "write all thresholds in packets, or all as an amount of data";
                faults.report(threshold.place(), Fault::new(message).help(help));
                return;
            }
        }
        if amount(self.min.0) >= amount(self.max.0) {
            let message = format!("`min` is {}, `max` is {}: nothing lies between", *self.min, *self.max);
            faults.report(self.max.place(), Fault::new(message).help("let `max` be thrice `min`, or so"));
        }
    }
}

/// Signal by which a queue slows a sender down: a mark or a drop.
const fn signal(ecn: bool) -> CongestionSignal {
    if ecn { CongestionSignal::Mark } else { CongestionSignal::Drop }
}

fn amount(threshold: QueueLimit) -> u64 {
    match threshold {
        QueueLimit::Bytes(size) => size.as_bytes(),
        QueueLimit::Packets(count) => u64::from(count),
        QueueLimit::Unlimited => u64::MAX,
    }
}

impl Average {
    fn config(&self, limit: QueueLimit, measure: QueueMeasure, precedence: Precedence) -> RedConfig {
        RedConfig {
            limit,
            measure,
            precedence,
            weight: *self.weight,
            typical_bytes: u32::try_from(self.typical_packet.as_bytes()).unwrap_or(u32::MAX),
            beyond_max: if *self.gentle { BeyondMax::Gentle } else { BeyondMax::Drop },
            signal: signal(*self.ecn),
        }
    }

    fn check(&self, faults: &mut Faults) {
        if *self.weight <= 0.0 {
            let fault = Fault::new("an average of such a weight never moves").help("write `weight = 0.002`");
            faults.report(self.weight.place(), fault);
        }
        if self.typical_packet.as_bytes() == 0 {
            let fault = Fault::new("no packet has no bytes").help("write `typical_packet = \"1000 B\"`");
            faults.report(self.typical_packet.place(), fault);
        }
    }
}
