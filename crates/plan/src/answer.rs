//! The answer: which case, which settings, why, and what cannot be.

mod loss;
mod paths;

use slantpath_base::{DataRate, DataSize, Duration};

use crate::bursts::largest_share;
use crate::framing::Framing;
use crate::question::Question;
use crate::timers::{ANSWERS, AnswerTimer, M2PA_T7};
use crate::window::{self, Band, WorkingCase};

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bits a second.
    BitPerSecond,
    /// Bytes.
    Byte,
    /// Things.
    Count,
    /// Seconds.
    Second,
}

/// A setting, with the sentence that is its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// What is set, such as `sctp.rto_min`.
    pub name: &'static str,
    /// To what.
    pub value: f64,
    /// In which unit.
    pub unit: Unit,
    /// What it must not be below.
    pub least: Option<f64>,
    /// What it must not reach.
    pub most: Option<f64>,
    /// Why.
    pub reason: String,
    /// By how much it changes, in percent, if a quantity is a tenth larger; those that change nothing are not there.
    pub sensitivity: Vec<(&'static str, f64)>,
}

/// A demand that nothing meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    /// Name of the setting or of the key that stands in the way, such as `m2pa.t7` or `path.loss`.
    pub concerns: &'static str,
    /// What is demanded.
    pub demand: String,
    /// Why it cannot be met.
    pub why: String,
    /// What would be possible.
    pub possible: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The case of the window that is recommended, or set already.
    pub case: WorkingCase,
    /// What that means here.
    pub case_reason: String,
    /// The octets of a message.
    pub framing: Framing,
    /// B_SS7, in bits of signalling links.
    pub load: DataRate,
    /// The same on Ethernet.
    pub ethernet: DataRate,
    /// B_IN,max on Ethernet with the recommended window.
    pub injected_most: DataRate,
    /// The largest step of load that window and timers take, in bits of signalling links.
    pub largest_step: DataRate,
    /// Settings.
    pub settings: Vec<Recommendation>,
    /// What cannot be met.
    pub impossible: Vec<Impossible>,
}

impl Recommendation {
    /// How far the value lies from the nearer of its bounds, as a part of it.
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

/// What a question comes to, in plain numbers: rates in bit/s, times in seconds.
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
    octets: u32,
    associations: u32,
    bundling: f64,
    gateway_delay: f64,
    failover: Option<f64>,
    queue: Option<f64>,
    cwnd: Option<f64>,
    rto_max: Option<f64>,
}

/// Quantities whose uncertainty an engineer asks about.
const VARIED: [&str; 4] = ["round trip", "load", "step", "allocation time"];

/// What is kept above a bound, or below it.
const MARGIN: f64 = 1.1;

/// How long a message may wait for others to share its packet: longer, and the delay is no longer the path's.
const BUNDLING_MOST_MS: u32 = 50;

/// DATA chunks of a full packet, in bytes: no window is smaller.
const PACKET: f64 = 1_468.0;

/// Octets of Ethernet of a proving message of M2PA with 80 octets of filler: its headers and state of 20, those of the
/// DATA chunk of 16, of the packet of 50, and its part of SACKs.
const PROVING: f64 = 80.0 + 20.0 + 16.0 + 50.0 + 20.5;

/// How often proving messages go where nothing was said.
const PROVING_INTERVAL_S: f64 = 0.01;

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
        Self {
            round_trip: path.round_trip.as_secs_f64(),
            backup_round_trip: path.backup_round_trip.map(|trip| trip.as_secs_f64()),
            loss: path.loss.as_f64(),
            permanent: band.permanent.as_bits_per_sec() as f64,
            on_demand: band.on_demand.as_bits_per_sec() as f64,
            allocation: band.allocation_time.as_secs_f64(),
            interruption: band.interruption.as_secs_f64(),
            links: f64::from(*load.links),
            line_rate: load.line_rate.as_bits_per_sec() as f64,
            erlang: *load.erlang_per_link,
            step: *load.step_erlang,
            octets: *load.octets,
            associations: *load.associations,
            bundling: load.bundling_delay.as_secs_f64(),
            gateway_delay: load.gateway_delay.as_secs_f64(),
            failover: limits.failover.map(|within| within.as_secs_f64()),
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
        let load = self.links * self.line_rate * self.erlang;
        let per_second = load / 8.0 / f64::from(self.octets);
        let framing = Framing::new(self.octets, per_second / associations, self.bundling);
        let (per_line, k) = (framing.ethernet_per_line(), framing.ethernet_per_window());
        let (ethernet, step) = (load * per_line, self.links * self.line_rate * self.step * per_line);
        let band = Band { permanent: rate(self.permanent), on_demand: rate(self.on_demand) };
        let total = self.permanent + self.on_demand;
        self.band_faults(load, (ethernet, step), total, per_line, &mut impossible);

        // While capacity is allocated, what the step brings beyond the permanent band waits, and nothing goes while
        // an allocation changes.
        let excess = (ethernet + step - self.permanent).max(0.0);
        let is_on_demand = self.on_demand > 0.0 && excess > 0.0;
        let backlog =
            if is_on_demand { excess * self.allocation + (ethernet + step) * self.interruption } else { 0.0 };
        let wait = backlog / self.permanent.max(1.0);

        let sack_delay = if self.round_trip >= 0.4 { 0.1 } else { (self.round_trip / 2.0).clamp(0.01, 0.04) };
        let needed = (ethernet + step).min(total);
        // The window of each association.
        // It carries what is needed, and where it can be no more than the band, so that what exceeds that is refused at
        // the gateway: case B or C.
        let share = largest_share(whole_links(self.links), self.associations);
        let per_association = needed * share / (8.0 * framing.ethernet);
        let acknowledged = self.bundling
            + framing.acknowledged_after(self.round_trip, sack_delay, per_association, self.permanent);
        let fills_band = total * acknowledged / (8.0 * k * associations);
        let cwnd_of_band = fills_band.max(PACKET);
        let cwnd_least = needed * share * (acknowledged + wait) / (8.0 * k);
        // Messages come at random. What more are under way at once than fill the band waits at the gateway.
        let burst =
            framing.outstanding_most(per_association * acknowledged) + needed * share * wait / (8.0 * k);
        let wanted = (MARGIN * cwnd_least).max(burst).max(PACKET);
        let wanted = if cwnd_least <= cwnd_of_band { wanted.min(cwnd_of_band) } else { wanted };
        let cwnd = self.cwnd.unwrap_or_else(|| {
            if wanted < cwnd_of_band { up_to(wanted, 1_000.0).min(cwnd_of_band) } else { wanted }.ceil()
        });
        // What comes at random waits for each other on the way, no longer than a whole window takes.
        let rate_then = if is_on_demand { total } else { self.permanent };
        let queueing = framing
            .longest_queueing(needed / 8.0 / framing.ethernet, rate_then)
            .min(cwnd * associations * 8.0 * k / rate_then.max(1.0));
        // A message, and what answers it.
        let answered =
            self.round_trip + 2.0 * framing.sent_in(self.permanent) + self.bundling + queueing + wait;
        let rto_least = answered + sack_delay;
        let rto_min = up_to(MARGIN * rto_least, 0.01);
        let rto_initial = rto_min.max(up_to(2.0 * self.round_trip, 0.01));
        let window_time = cwnd * associations * 8.0 * k / self.permanent.max(1.0);
        let rto_max_least = (window_time + self.round_trip).max(rto_initial);
        let rto_max = self.rto_max.unwrap_or_else(|| up_to((MARGIN * rto_max_least).max(2.0 * rto_min), 0.1));
        let collapse = self.permanent * (rto_max - self.round_trip).max(0.0) / (8.0 * k * associations);

        let injected = window::injected_most_of(self.associations, bytes(cwnd), seconds(self.round_trip));
        let injected_ethernet = injected.as_bits_per_sec() as f64 * k;
        let case = window::working_case(injected, k, band);
        let line_per_window = 1.0 / framing.window_per_line();
        let (by_window, by_timer) = window::largest_step(
            rate((self.permanent / k).min(ethernet / k)),
            bytes(cwnd * associations),
            seconds(self.round_trip),
            seconds(self.allocation),
            seconds(rto_min),
        );
        let largest_step =
            by_window.as_bits_per_sec().min(by_timer.as_bits_per_sec()) as f64 * line_per_window;

        let mut settings = vec![
            Recommendation::new("sctp.associations", associations, Unit::Count)
                .because("windows add up: more associations are a larger window, and need no less of it \
                 (equation 7); a second one is for the failure of a host"),
            Recommendation::new("sctp.cwnd", cwnd, Unit::Byte)
                .within(Some(cwnd_least), (self.on_demand > 0.0 || self.cwnd.is_some()).then_some(collapse))
                .because(format!(
                    "it carries {} over {}, from a message to its acknowledgement, with bursts of messages that come \
                     at random, and what waits {} for capacity; {} would fill the whole band; it is \
                     sent within RTO.Max, so \
                     that no time-out repeats it for ever",
                    kbit(needed),
                    time(acknowledged),
                    time(wait),
                    size(fills_band),
                )),
            Recommendation::new("sctp.rto_min", rto_min, Unit::Second).within(Some(rto_least), None).because(format!(
                "a round trip of {}, a delayed SACK of {}, {} of packets that wait for each other and {} of waiting \
                 for capacity: T3 must outlast them",
                time(self.round_trip), time(sack_delay), time(queueing), time(wait)
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
        ];
        if self.rto_max.is_some() && rto_max < rto_max_least {
            impossible.push(Impossible {
                concerns: "sctp.rto_max",
                demand: format!("RTO.Max of {}", time(rto_max)),
                why: format!(
                    "a window of {} takes {} at {}, so that T3 expires while it is under way",
                    size(cwnd * associations),
                    time(window_time),
                    kbit(self.permanent)
                ),
                possible: format!("{}, or a window of {}", time(rto_max_least), size(collapse)),
            });
        }
        if self.cwnd.is_some() && cwnd < cwnd_least {
            impossible.push(Impossible {
                concerns: "sctp.cwnd",
                demand: format!("{} with a window of {}", kbit(needed), size(cwnd)),
                why: format!("it lets out {} of Ethernet: the rest is refused", kbit(injected_ethernet)),
                possible: format!("a window of {}", size(cwnd_least)),
            });
        }
        self.path_settings(rto_min, rto_max, &mut settings, &mut impossible);
        self.queue_settings(&framing, (ethernet, step), wait, &mut settings, &mut impossible);
        // In the worst case the answer is lost once.
        let answer_time = answered + 2.0 * self.gateway_delay;
        for timer in [M2PA_T7].into_iter().chain(ANSWERS) {
            timer_setting(&timer, answer_time, rto_min, &mut settings, &mut impossible);
        }
        settings.push(self.proving_setting());
        if self.loss > 0.0 {
            let at_cwnd =
                settings.iter().position(|setting| setting.name == "sctp.cwnd").map_or(0, |at| at + 1);
            settings.insert(at_cwnd, self.congestion_setting(framing.window, needed / k));
            let recovery =
                loss::Recovery { answered: answer_time, round_trip: self.round_trip, rto_min, rto_max };
            let packets = framing.packets * needed / 8.0 / framing.ethernet / associations;
            self.loss_faults(&recovery, packets, (needed, total), &mut impossible);
        }
        let case_reason = case_reason(case, band, injected_ethernet);
        Answer {
            case,
            case_reason,
            framing,
            load: rate(load),
            ethernet: rate(ethernet),
            injected_most: rate(injected_ethernet),
            largest_step: rate(largest_step),
            settings,
            impossible,
        }
    }

    /// How often a link that is proved sends a message, so that all at once leave half of the band.
    fn proving_setting(&self) -> Recommendation {
        let fills = 8.0 * PROVING * f64::from(self.associations) / self.permanent.max(1.0);
        let value = up_to(2.0 * fills, PROVING_INTERVAL_S).max(PROVING_INTERVAL_S);
        Recommendation::new("m2pa.proving_interval", value, Unit::Second).within(Some(fills), None).because(
            format!(
                "a proving message takes {PROVING:.0} octets of Ethernet: {} {}, and what exceeds the band waits until \
                 T3 repeats it",
                if self.associations == 1 {
                    "a link that is proved sends".to_owned()
                } else {
                    format!("{} links that are proved at once send", self.associations)
                },
                kbit(8.0 * PROVING * f64::from(self.associations) / value),
            ),
        )
    }

    /// What the band does not hold, and what it would.
    fn band_faults(
        &self,
        load: f64,
        (ethernet, step): (f64, f64),
        total: f64,
        per_line: f64,
        impossible: &mut Vec<Impossible>,
    ) {
        if ethernet + step <= total {
            return;
        }
        let lines = self.links * self.line_rate;
        let (demand, most) = if ethernet > total {
            let erlang = total / per_line / lines;
            let demand = format!("{} of signalling, which are {} on Ethernet", kbit(load), kbit(ethernet));
            (demand, format!("{erlang:.2} Erlang a link"))
        } else {
            let erlang = (total - ethernet) / per_line / lines;
            let demand = format!("a step to {} on Ethernet", kbit(ethernet + step));
            (demand, format!("a step of {erlang:.3} Erlang a link"))
        };
        let why = format!("the terminal has {} in all", kbit(total));
        // Messages that share packets take less.
        let after = load + self.step * lines;
        let per_second = after / 8.0 / f64::from(self.octets) / f64::from(self.associations);
        let bundled = (1..=BUNDLING_MOST_MS)
            .map(|ms| {
                (ms, after * Framing::new(self.octets, per_second, f64::from(ms) / 1e3).ethernet_per_line())
            })
            .find(|&(ms, ethernet)| f64::from(ms) / 1e3 > self.bundling && MARGIN * ethernet <= total);
        impossible.push(match bundled {
            Some((ms, ethernet)) => Impossible {
                concerns: "band.permanent",
                demand,
                why: format!("{why}, unless messages wait for each other and share packets"),
                possible: format!(
                    "a bundling delay of {ms} ms, which makes them {}; or {most}",
                    kbit(ethernet)
                ),
            },
            None => Impossible { concerns: "band.permanent", demand, why, possible: most },
        });
    }

    fn queue_settings(
        &self,
        framing: &Framing,
        (ethernet, step): (f64, f64),
        wait: f64,
        settings: &mut Vec<Recommendation>,
        impossible: &mut Vec<Impossible>,
    ) {
        let per_message = 8.0 * framing.ethernet;
        let waiting = (ethernet + step) * wait / per_message;
        // A second of load at least, for what comes in bursts.
        let least = waiting.max((ethernet + step) / per_message);
        let queue = self.queue.unwrap_or_else(|| up_to(MARGIN * least, 100.0));
        let full = queue * per_message / (self.permanent + self.on_demand).max(1.0);
        let reason = format!(
            "{waiting:.0} messages wait while capacity comes, and a second of load may come at once; a full queue \
             delays by {}",
            time(full)
        );
        let setting = Recommendation::new("gateway.transmission_queue", queue, Unit::Count);
        settings.push(setting.within(Some(least), None).because(reason));
        if self.queue.is_some() && queue < waiting {
            impossible.push(Impossible {
                concerns: "gateway.transmission_queue",
                demand: format!("a queue of {queue:.0} messages"),
                why: format!("{waiting:.0} wait while capacity is allocated: the rest is thrown away"),
                possible: format!("a queue of {:.0}, or a step that is smaller", up_to(waiting, 100.0)),
            });
        }
    }
}

/// A timer that waits for an answer: the middle between what it must outlast and what its standard allows, so that
/// both are far, and the most where one loss would let it expire.
fn timer_setting(
    timer: &AnswerTimer,
    answer_time: f64,
    rto_min: f64,
    settings: &mut Vec<Recommendation>,
    impossible: &mut Vec<Impossible>,
) {
    let (least, most) = (timer.least.as_secs_f64(), timer.most.as_secs_f64());
    let after_loss = answer_time + rto_min;
    if answer_time >= most {
        impossible.push(Impossible {
            concerns: timer.name,
            demand: format!("{} of {} at most ({})", timer.name, timer.most, timer.source),
            why: format!("{} takes {}", timer.waits_for, time(answer_time)),
            possible: format!(
                "a value of the equipment beyond the range: {}",
                time(up_to(MARGIN * after_loss, 0.1))
            ),
        });
    }
    let (value, clause) = if after_loss < most {
        (up_to((MARGIN * after_loss).min(most).max(least), 0.1).min(most), "and outlasts one loss")
    } else {
        (most, "which one loss exceeds: the answer then takes longer than the standard allows")
    };
    settings.push(
        Recommendation::new(timer.name, value, Unit::Second).within(Some(answer_time), None).because(
            format!(
                "{} takes {}, after one loss {}; {} allows {} to {}, {clause}",
                timer.waits_for,
                time(answer_time),
                time(after_loss),
                timer.source,
                timer.least,
                timer.most
            ),
        ),
    );
}

fn case_reason(case: WorkingCase, band: Band, injected: f64) -> String {
    let (permanent, total) = (band.permanent.as_bits_per_sec() as f64, band.total().as_bits_per_sec() as f64);
    match case {
        WorkingCase::A => format!(
            "the window lets out {} on Ethernet, more than the {} that there are: what exceeds them waits in \
             front of the terminal, where only T3 limits it",
            kbit(injected),
            kbit(total)
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
