//! The answer: which case, which settings, why, and what cannot be.

mod carriers;
mod estimate;
mod loss;
mod paths;
mod promises;
mod step;
mod window_settings;

use slantpath_base::{DataRate, DataSize, Duration};

use self::window_settings::Window;
use crate::bursts::largest_share;
use crate::framing::{Framed, Framing};
use crate::question::{MessageCarrier, Question};
use crate::window::{self, Band, WorkingCase};
pub use estimate::Range;
use estimate::{Estimate, Load, lasting};
pub(crate) use estimate::{FRAME_S, access_loop};
pub use promises::{Measure, Promise, PromiseStanding};
pub use step::LargestStep;

/// Units of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    BitPerSecond,
    /// Bytes.
    Byte,
    /// Number of things.
    Count,
    /// Seconds.
    Second,
}

/// A setting, with the sentence that is its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Name of the setting, such as `sctp.rto_min`.
    pub name: &'static str,
    /// Value that is recommended.
    pub value: f64,
    /// In which unit.
    pub unit: Unit,
    /// Least value that it may have.
    pub least: Option<f64>,
    /// Bound that it must not reach.
    pub most: Option<f64>,
    /// Reason for the value.
    pub reason: String,
    /// By how much it changes, in percent, if a quantity is a tenth larger; those that change nothing are not there.
    pub sensitivity: Vec<(&'static str, f64)>,
}

/// A demand that nothing meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// Name of the setting or of the key that stands in the way, such as `m2pa.t7` or `path.loss`.
    pub concerns: &'static str,
    /// Name of the promise that is broken.
    pub breaks: &'static str,
    /// Demand that cannot be met.
    pub demand: String,
    /// Why it cannot be met.
    pub why: String,
    /// Value or change that would be possible.
    pub possible: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The case of the window that is recommended, or set already.
    pub case: WorkingCase,
    /// Meaning of that case here.
    pub case_reason: String,
    /// The octets of a message.
    pub framing: Framing,
    /// Subject of the load: signalling, or messages.
    pub carries: &'static str,
    /// B_SS7, in bits of signalling links.
    pub load: DataRate,
    /// Load in bits of Ethernet.
    pub ethernet: DataRate,
    /// B_IN,max on Ethernet with the recommended window.
    pub injected_most: DataRate,
    /// The largest step of load that these settings take.
    pub largest_step: LargestStep,
    /// Settings that are recommended.
    pub settings: Vec<Recommendation>,
    /// Promises that the settings keep.
    pub promises: Vec<Promise>,
    /// Demands that cannot be met.
    pub impossible: Vec<Impossible>,
}

impl Recommendation {
    /// Gives the distance of the value from the nearer of its bounds, as a part of the value.
    pub fn margin(&self) -> Option<f64> {
        let below = self.least.map(|least| (self.value - least) / self.value);
        let above = self.most.map(|most| (most - self.value) / self.value);
        [below, above].into_iter().flatten().reduce(f64::min)
    }
}

impl Answer {
    /// The setting of that name.
    pub fn setting(&self, name: &str) -> Option<&Recommendation> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The value of a setting that every answer has.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn value(&self, name: &str) -> f64 {
        self.setting(name).unwrap_or_else(|| panic!("no answer has a setting {name}")).value
    }
}

/// Values of a question in plain numbers: rates in bit/s, times in seconds.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    round_trip: f64,
    backup_round_trip: Option<f64>,
    loss: f64,
    permanent: f64,
    on_demand: f64,
    allocation: f64,
    interruption: f64,
    links: f64,
    line_rate: f64,
    erlang: f64,
    step: f64,
    associations: u32,
    bundling: f64,
    gateway_delay: f64,
    failover: Option<f64>,
    overhead: Option<f64>,
    carrier: MessageCarrier,
    octets: u32,
    framed: Framed,
    /// True if the load was told in messages a second.
    is_in_messages: bool,
    /// A fade that associations have to outlive.
    fade: Option<f64>,
    queue: Option<f64>,
    cwnd: Option<f64>,
    rto_max: Option<f64>,
}

/// Quantities whose uncertainty an engineer asks about.
const VARIED: [&str; 4] = ["round trip", "load", "step", "allocation time"];

/// Factor that is kept above a bound, or below it.
const MARGIN: f64 = 1.1;

/// Packets that a window has beyond what is under way: two wait for their SACK, one is begun, and one is a burst.
const SPARE_PACKETS: f64 = 4.0;

/// The part of a band that may be used for long without what waits growing.
const ENDURING: f64 = 0.9;

/// Longest time that a message may wait for others to share its packet, in milliseconds: if longer, the delay is no
/// longer the path's.
const BUNDLING_MOST_MS: u32 = 50;

/// Longest time for which messages of M3UA and of SCTP alone may wait, beside four round trips, in seconds: those that
/// come later are lost to whoever waits for them.
const WAITS_MOST_S: f64 = 3.0;

/// The share of messages whose loss is one.
const LOST_LEAST: f64 = 0.001;

/// DATA chunks of a full packet, in bytes: no window is smaller.
const PACKET: f64 = 1_468.0;

/// A whole number that was kept as another.
fn whole_links(links: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was one of 32 bits")]
    let links = links as u32;
    links
}

/// Answers a question.
pub fn plan(question: &Question) -> Answer {
    let numbers = Numbers::of(question);
    let mut answer = numbers.answer();
    answer.largest_step = numbers.largest_step(&answer);
    for quantity in VARIED {
        let varied = numbers.with_a_tenth_more(quantity).answer();
        for setting in &mut answer.settings {
            let Some(other) = varied.setting(setting.name).filter(|_| setting.value != 0.0) else { continue };
            let change = 100.0 * (other.value / setting.value - 1.0);
            if change.abs() >= 0.5 {
                setting.sensitivity.push((quantity, change));
            }
        }
    }
    answer
}

impl Numbers {
    fn of(question: &Question) -> Self {
        let (path, band) = (whole(question.path.whole()), whole(question.band.whole()));
        let (load, limits) = (whole(question.signalling.whole()), whole(question.limits.whole()));
        let lines = question.lines();
        Self {
            round_trip: path.round_trip.as_secs_f64(),
            backup_round_trip: path.backup_round_trip.map(|trip| trip.as_secs_f64()),
            loss: path.loss.as_f64(),
            permanent: band.permanent.as_bits_per_sec() as f64,
            on_demand: band.on_demand.as_bits_per_sec() as f64,
            allocation: band.allocation_time.as_secs_f64(),
            interruption: band.interruption.as_secs_f64(),
            links: f64::from(lines.count),
            line_rate: lines.rate as f64,
            erlang: lines.erlang,
            step: lines.step,
            carrier: *load.carrier,
            octets: *load.octets,
            framed: load.frame(),
            is_in_messages: load.messages_per_second.is_some(),
            fade: path.fade.map(|fade| fade.as_secs_f64()),
            associations: *load.associations,
            bundling: load.bundling_delay.as_secs_f64(),
            gateway_delay: load.gateway_delay.as_secs_f64(),
            failover: limits.failover.map(|within| within.as_secs_f64()),
            overhead: load.overhead.as_ref().map(|overhead| **overhead),
            queue: limits.queue.map(|most| f64::from(*most)),
            cwnd: limits.cwnd.map(|cwnd| cwnd.as_bytes() as f64),
            rto_max: limits.rto_max.map(|most| most.as_secs_f64()),
        }
    }

    fn with_a_tenth_more(mut self, quantity: &str) -> Self {
        let quantity = match quantity {
            "round trip" => &mut self.round_trip,
            "load" => &mut self.erlang,
            "step" => &mut self.step,
            _ => &mut self.allocation,
        };
        *quantity *= 1.1;
        self
    }

    fn answer(&self) -> Answer {
        let mut impossible = Vec::new();
        let associations = f64::from(self.associations);
        let signalling = self.links * self.line_rate * self.erlang;
        let load = self.load();
        let Load { alone, full, after, acknowledged, sack_delay, .. } = load;
        // What somebody has measured decides the case. What is promised is counted.
        let framing = self.overhead.map_or(alone, |overhead| Framing::measured(self.framed, overhead));
        let k = framing.ethernet_per_window();
        let total = self.permanent + self.on_demand;
        let band = Band { permanent: rate(self.permanent), on_demand: rate(self.on_demand) };
        let share = largest_share(whole_links(self.links), self.associations);

        let cwnd_least = self.cwnd_least(&load) * share;
        let cwnd = self.cwnd.unwrap_or_else(|| {
            up_to((self.cwnd_wanted(&load) * share).max(MARGIN * cwnd_least), 1.0).max(PACKET)
        });
        // A second of load at least, for what comes in bursts.
        // What is beyond the band waits for ever, and no queue is long enough for it.
        let by_window = cwnd / share / (load.shared.window * (acknowledged + self.pair(&load)));
        let carried = Load { after: after.min(ENDURING * self.band_takes(&load).min(by_window)), ..load };
        let carried = Load { before: load.before.min(carried.after), ..carried };
        let waiting = self.estimate(&carried, cwnd, f64::INFINITY).waiting;
        let queue = if self.carrier == MessageCarrier::M2pa {
            self.queue.unwrap_or_else(|| up_to(MARGIN * waiting.most.max(after), 100.0))
        } else {
            // Nothing is refused: what waits longer is late, and counts as lost.
            WAITS_MOST_S * after.min(self.band_takes(&load))
        };
        let mut estimate = self.estimate(&load, cwnd, queue);

        let rto_least = estimate.acknowledged.most + sack_delay;
        let rto_min = up_to(MARGIN * rto_least, 0.01).min(self.rto_max.unwrap_or(f64::INFINITY));
        let rto_initial = rto_min.max(up_to(2.0 * self.round_trip, 0.01));
        let window_time = cwnd * associations * 8.0 * k / self.permanent.max(1.0);
        let rto_max_least = (window_time + self.round_trip).max(rto_initial);
        let rto_max = self.rto_max.unwrap_or_else(|| up_to((MARGIN * rto_max_least).max(2.0 * rto_min), 0.1));
        let collapse = self.permanent * (rto_max - self.round_trip).max(0.0) / (8.0 * k * associations);

        let injected = window::injected_most_of(self.associations, bytes(cwnd), seconds(self.round_trip));
        let injected_ethernet = injected.as_bits_per_sec() as f64 * k;
        let case = window::working_case(injected, k, band);
        let ethernet = signalling * framing.ethernet_per_line();

        self.load_faults(&load, (cwnd, cwnd_least, queue), &estimate, &mut impossible);
        let mut settings = self.window_settings(&Window {
            cwnd,
            cwnd_least,
            collapse,
            estimate,
            load,
            total,
            bundled: self.bundled(after),
        });
        settings.extend([
            Recommendation::new("sctp.rto_min", rto_min, Unit::Second).within(Some(rto_least), None).because(format!(
                "a round trip of {}, a delayed SACK of {}, and {} of waiting for capacity and for each other, there \
                 and back: T3 must outlast them",
                time(self.round_trip),
                time(sack_delay),
                time((rto_least - sack_delay - self.round_trip).max(0.0)),
            )),
            Recommendation::new("sctp.rto_initial", rto_initial, Unit::Second)
                .within(Some(self.round_trip), None)
                .because("the first INIT must not be repeated before it can be answered"),
            Recommendation::new("sctp.rto_max", rto_max, Unit::Second)
                .within(Some(rto_max_least), None)
                .because(format!("a whole window takes {} at the permanent rate: a timer that expires sooner \
                 repeats it for ever where the window is fixed", time(window_time))),
            Recommendation::new("sctp.sack_delay", sack_delay, Unit::Second)
                .within(None, Some((self.round_trip).min(0.2)))
                .because("a part of the round trip, for it adds to RTO.Min; RFC 9260 allows 500 ms"),
        ]);
        if self.rto_max.is_some() && rto_max < estimate.acknowledged.least {
            impossible.push(Impossible {
                concerns: "sctp.rto_max",
                breaks: "sctp.rto",
                demand: format!("RTO.Max of {}", time(rto_max)),
                why: format!(
                    "an acknowledgement takes {} where most waits: T3 expires before it, and repeats what is under way",
                    between(&estimate.acknowledged)
                ),
                possible: time(rto_max_least.max(MARGIN * rto_least)),
            });
        }
        self.path_settings(rto_min, rto_max, &mut settings, &mut impossible);
        if self.carrier == MessageCarrier::M2pa {
            settings.push(self.queue_setting(&load, queue, &waiting));
        }
        let recovery = loss::Recovery {
            answered: estimate.standstill.least,
            round_trip: self.round_trip,
            rto_min,
            rto_max,
            is_found: cwnd / PACKET >= loss::FOUND_FROM,
        };
        // Packets that are not full are more, and what is refused has to break for certain.
        let found = cwnd * alone.packets / alone.window >= loss::FOUND_FROM;
        let at_best = loss::Recovery { is_found: found, ..recovery };
        let packets = alone.packets * after / associations;
        let outages = self.outages(&recovery, packets);
        match self.carrier {
            MessageCarrier::M2pa => {
                self.m2pa_settings(rto_min, &outages, &mut estimate, (&mut settings, &mut impossible));
            }
            MessageCarrier::M3ua => self.m3ua_settings(rto_min, after, &estimate, &mut settings),
            MessageCarrier::Sctp => {}
        }
        if self.loss > 0.0 {
            let at_cwnd =
                settings.iter().position(|setting| setting.name == "sctp.cwnd").map_or(0, |at| at + 1);
            let needed = 8.0 * alone.ethernet * after;
            settings.insert(at_cwnd, self.congestion_setting(alone.window, needed / k));
            self.loss_faults(&at_best, packets, (8.0 * full.ethernet * after, total), &mut impossible);
        }
        let may_be_a = self.cwnd.is_none().then(|| {
            format!(
                "It may: with bursts, and with what waits for capacity or for a SACK, the load has {} outstanding, and \
                 a smaller window refuses what the band takes; a whole window is sent in {}, before RTO.Max of {}, \
                 so that no time-out repeats it, which is what makes case A collapse",
                size(cwnd * associations),
                time(window_time),
                time(rto_max)
            )
        });
        let case_reason = case_reason(case, band, injected_ethernet, may_be_a);
        let promises = self.promises(&settings, &estimate, (rto_min, rto_max, &outages), &impossible);
        Answer {
            case,
            case_reason,
            framing,
            carries: self.carries(),
            load: rate(signalling),
            ethernet: rate(ethernet),
            injected_most: rate(injected_ethernet),
            largest_step: LargestStep::NONE,
            settings,
            promises,
            impossible,
        }
    }

    /// The shortest bundling delay with which so many messages a second fit the band, and what they are then.
    fn bundled(&self, per_second: f64) -> Option<(f64, f64)> {
        let total = self.permanent + self.on_demand;
        let each = per_second / f64::from(self.associations);
        (1..=BUNDLING_MOST_MS)
            .map(|ms| f64::from(ms) / 1e3)
            .filter(|delay| *delay > self.bundling)
            .map(|delay| (delay, 8.0 * per_second * Framing::new(self.framed, each, delay).ethernet))
            .find(|(_, ethernet)| MARGIN * ethernet <= total)
    }

    /// Subject of the load.
    fn carries(&self) -> &'static str {
        if self.carrier == MessageCarrier::Sctp { "messages" } else { "signalling" }
    }

    /// Delay beyond which a message of M3UA or of SCTP alone is lost to whoever waits for it, in seconds.
    fn late_after(&self) -> f64 {
        late_after(self.round_trip)
    }

    /// Messages a second that the whole band takes.
    fn band_takes(&self, load: &Load) -> f64 {
        (self.permanent + self.on_demand) / (8.0 * load.full.ethernet)
    }

    /// The window of all associations without which not all is carried that the band takes: messages that wait for it
    /// share packets.
    fn cwnd_least(&self, load: &Load) -> f64 {
        let per_second = load.after.min(self.band_takes(load));
        // Full packets come more rarely, and a SACK waits for the second one.
        let second = f64::from(self.associations) / (per_second * load.shared.packets).max(f64::MIN_POSITIVE);
        per_second * load.shared.window * (self.round_trip + self.bundling + second.min(load.sack_delay))
    }

    /// The window of all associations that is recommended: what is outstanding at most, with bursts. Where the band
    /// takes messages only as they share packets, no more than that needs: what is beyond waits longer, and no more is
    /// carried.
    fn cwnd_wanted(&self, load: &Load) -> f64 {
        let band = if self.is_on_demand(load) { self.permanent + self.on_demand } else { self.permanent };
        if 8.0 * load.alone.ethernet * lasting(load.after) >= band {
            return 1.25 * self.cwnd_least(load) + SPARE_PACKETS * PACKET * f64::from(self.associations);
        }
        let open = self.estimate(load, f64::INFINITY, f64::INFINITY);
        let under_way = load.after * (load.acknowledged + open.queueing);
        let burst =
            load.alone.outstanding_most(under_way) - load.alone.window * load.after * load.acknowledged;
        (open.outstanding.most + burst).max(MARGIN * open.outstanding.most)
    }

    /// Refuses what the band, the window or the queue does not hold, and says what would be held.
    fn load_faults(
        &self,
        load: &Load,
        (cwnd, cwnd_least, queue): (f64, f64, f64),
        estimate: &Estimate,
        impossible: &mut Vec<Impossible>,
    ) {
        let refused = estimate.lost.least;
        if refused < LOST_LEAST {
            return;
        }
        let lines = self.links * self.line_rate;
        let total = self.permanent + self.on_demand;
        let carried = load.full.ethernet_per_line() * lines * (self.erlang + self.step);
        let lost = if self.carrier == MessageCarrier::M2pa {
            format!("{:.1} % of the messages find the queue full", 100.0 * refused)
        } else {
            format!("{:.1} % of the messages come later than {}", 100.0 * refused, time(self.late_after()))
        };
        let most_load = |bits: f64| {
            if self.is_in_messages {
                format!("{:.0} messages a second with their step", bits / load.full.ethernet / 8.0)
            } else {
                format!("{:.2} Erlang a link with its step", bits / load.full.ethernet_per_line() / lines)
            }
        };
        impossible.push(if carried > total {
            Impossible {
                concerns: "band.permanent",
                breaks: "loss",
                demand: format!(
                    "{} of {}, which are {} on Ethernet in full packets",
                    kbit(lines * (self.erlang + self.step)),
                    self.carries(),
                    kbit(carried)
                ),
                why: format!("the terminal has {} in all: {lost}", kbit(total)),
                possible: most_load(total),
            }
        } else if self.cwnd.is_some() && cwnd < MARGIN * cwnd_least {
            Impossible {
                concerns: "sctp.cwnd",
                breaks: "loss",
                demand: format!(
                    "{} with a window of {}",
                    kbit(8.0 * load.alone.ethernet * load.after),
                    size(cwnd)
                ),
                why: format!("it is acknowledged after {} at the earliest: {lost}", time(load.acknowledged)),
                possible: format!("a window of {}", size((MARGIN * cwnd_least).ceil())),
            }
        } else if self.carrier != MessageCarrier::M2pa {
            Impossible {
                concerns: "band.on_demand",
                breaks: "loss",
                demand: "messages that arrive in time".to_owned(),
                why: format!(
                    "{:.0} wait while capacity is allocated: {:.1} % come later than {}",
                    estimate.waiting.least,
                    100.0 * refused,
                    time(self.late_after())
                ),
                possible: "a step that is smaller, or more that is permanent".to_owned(),
            }
        } else {
            Impossible {
                concerns: "gateway.transmission_queue",
                breaks: "loss",
                demand: format!("a queue of {queue:.0} messages"),
                why: format!(
                    "{:.0} wait while capacity is allocated: {lost}",
                    estimate.waiting.least.max(queue)
                ),
                possible: format!(
                    "a queue of {:.0}, or a step that is smaller",
                    up_to(self.estimate(load, cwnd, f64::INFINITY).waiting.most, 100.0)
                ),
            }
        });
    }
}

/// A sentence for the case; where a window is case A that nobody has set, why it may be.
fn case_reason(case: WorkingCase, band: Band, injected: f64, may_be_a: Option<String>) -> String {
    let (permanent, total) = (band.permanent.as_bits_per_sec() as f64, band.total().as_bits_per_sec() as f64);
    match case {
        WorkingCase::A => format!(
            "the window lets out {} on Ethernet, more than the {} that there are: what exceeds them waits in \
             front of the terminal, where only T3 limits it{}",
            kbit(injected),
            kbit(total),
            may_be_a.map_or(String::new(), |reason| format!(". {reason}"))
        ),
        WorkingCase::B => format!(
            "the window lets out {} on Ethernet, less than the {} that are permanent: what exceeds it is refused \
             at the gateway, and nothing collapses",
            kbit(injected),
            kbit(permanent)
        ),
        WorkingCase::C => format!(
            "the window lets out {} on Ethernet, between the permanent {} and {} in all: steps that are not too \
             large are carried",
            kbit(injected),
            kbit(permanent),
            kbit(total)
        ),
    }
}

impl Recommendation {
    fn new(name: &'static str, value: f64, unit: Unit) -> Self {
        Self { name, value, unit, least: None, most: None, reason: String::new(), sensitivity: Vec::new() }
    }

    fn within(mut self, least: Option<f64>, most: Option<f64>) -> Self {
        (self.least, self.most) = (least, most);
        self
    }

    fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}

/// Delay beyond which a message of M3UA or of SCTP alone is lost to whoever waits for it, in seconds, over a path with
/// this round trip.
pub(crate) fn late_after(round_trip: f64) -> f64 {
    WAITS_MOST_S + 4.0 * round_trip
}

fn whole<T>(part: Option<&T>) -> &T {
    part.expect("a question without fault is whole")
}

/// The next multiple.
fn up_to(value: f64, multiple: f64) -> f64 {
    // A product that a rounding has lifted above its multiple is that multiple.
    (value / multiple - 1e-9).ceil() * multiple
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn rate(bits: f64) -> DataRate {
    DataRate::from_bits_per_sec(bits as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn bytes(bytes: f64) -> DataSize {
    DataSize::from_bytes(bytes as u64)
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn kbit(bits: f64) -> String {
    format!("{:.0} kbit/s", bits / 1e3)
}

fn size(bytes: f64) -> String {
    format!("{bytes:.0} B")
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

/// A range of times.
fn between(range: &Range) -> String {
    if range.most < 1.05 * range.least {
        time(range.most)
    } else {
        format!("{} to {}", time(range.least), time(range.most))
    }
}
