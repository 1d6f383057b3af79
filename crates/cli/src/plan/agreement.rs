//! Questions at random, answered and simulated: whether what is promised is kept, and what is refused is not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use slantpath_plan::{Answer, Measure, PromiseStanding, Question, plan};

use super::measured::{Measured, PathBreak, Variant, measure};
use super::verify::Kept;
use crate::failure::Failure;

/// The seed of all questions.
const SEED: u64 = 1;

/// The seed of those of all carriers.
const SEED_OF_CARRIERS: u64 = 2;

/// A sequence of numbers that is the same for a seed (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Each factor as often as any other.
    fn spread(&mut self, least: f64, most: f64) -> f64 {
        least * libm::pow(most / least, self.unit())
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        let place = self.next() % of.len() as u64;
        of[usize::try_from(place).expect("a place in a list")]
    }

    fn happens(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

/// A question on the ground, over low satellites or, as often as both, over geostationary ones. The band is drawn
/// around what the load takes, so that every second question or so is near a limit.
fn drawn(number: u64) -> Vec<String> {
    let mut draw = Draw(SEED.wrapping_mul(1_000_003).wrapping_add(number));
    let (least, most) = draw.one(&[(5.0, 60.0), (30.0, 180.0), (540.0, 700.0), (540.0, 700.0)]);
    let octets = draw.one(&[60_u32, 120, 270]);
    let links = draw.spread(1.0, 60.0).round();
    let erlang = draw.between(0.05, 0.8);
    let step = if draw.happens(0.5) { draw.between(0.02, 0.25).min(0.95 - erlang) } else { 0.0 };
    let load = (erlang + step) * links * 64_000.0 * draw.one(&[1.5, 2.0, 3.0]);
    let band = (load * draw.between(0.6, 2.0)).max(64_000.0);
    let mut sets = vec![
        format!("path.round_trip={:.0} ms", draw.between(least, most)),
        format!("signalling.octets={octets}"),
        format!("signalling.links={links}"),
        format!("signalling.erlang_per_link={erlang:.3}"),
        format!("signalling.step_erlang={step:.3}"),
        format!("signalling.associations={}", draw.one(&[1, 1, 2, 4])),
        format!("signalling.bundling_delay={} ms", draw.one(&[0, 0, 5])),
    ];
    if draw.happens(0.5) {
        let permanent = draw.between(0.4, 0.9);
        sets.push(format!("band.permanent={:.0} kbit/s", (band * permanent / 1e3).max(32.0)));
        sets.push(format!("band.on_demand={:.0} kbit/s", band * (1.0 - permanent) / 1e3));
        sets.push(format!("band.allocation_time={:.0} ms", draw.between(700.0, 3_000.0)));
    } else {
        sets.push(format!("band.permanent={:.0} kbit/s", band / 1e3));
    }
    if draw.happens(0.2) {
        sets.push(format!("path.loss={} %", draw.one(&[0.01, 0.1, 0.5])));
    }
    if draw.happens(0.1) {
        sets.push(format!("limits.queue={}", draw.one(&[50, 200, 1_000])));
    }
    if draw.happens(0.1) {
        sets.push(format!("limits.cwnd={:.0} B", draw.spread(4_000.0, 400_000.0)));
    }
    sets
}

/// A question of any carrier, told in Erlang or in messages a second, over one path or two, where a path may fade for a
/// time, and a terminal stand still while its allocation changes.
fn drawn_of_carriers(number: u64) -> Vec<String> {
    let mut draw = Draw(SEED_OF_CARRIERS.wrapping_mul(1_000_003).wrapping_add(number));
    let (least, most) = draw.one(&[(5.0, 60.0), (30.0, 180.0), (540.0, 700.0), (540.0, 700.0)]);
    let carrier = draw.one(&["m3ua", "m3ua", "sctp", "sctp", "m2pa"]);
    let octets = draw.one(if carrier == "sctp" { &[40_u32, 200, 1_000] } else { &[60, 120, 270] });
    let messages = draw.spread(5.0, 1_500.0);
    let step = if carrier != "sctp" && draw.happens(0.4) { messages * draw.between(0.05, 0.5) } else { 0.0 };
    let load = (messages + step) * 8.0 * f64::from(octets) * draw.one(&[1.5, 2.0, 3.0]);
    let band = (load * draw.between(0.6, 2.0)).max(64_000.0);
    let mut sets = vec![
        format!("path.round_trip={:.0} ms", draw.between(least, most)),
        format!("signalling.carrier={carrier}"),
        format!("signalling.octets={octets}"),
        format!("signalling.links={}", draw.one(&[8, 16, 30])),
        format!("signalling.associations={}", draw.one(&[1, 1, 2, 4])),
        format!("signalling.bundling_delay={} ms", draw.one(&[0, 0, 5])),
    ];
    if carrier == "sctp" || draw.happens(0.7) {
        sets.push(format!("signalling.messages_per_second={messages:.1}"));
        sets.push(format!("signalling.step_messages_per_second={step:.1}"));
    } else {
        let lines = 30.0 * 64_000.0 / 8.0 / f64::from(octets);
        let erlang = (messages / lines).min(0.6);
        sets.extend(["signalling.links=30".to_owned(), format!("signalling.erlang_per_link={erlang:.3}")]);
    }
    if draw.happens(0.4) {
        let permanent = draw.between(0.4, 0.9);
        sets.push(format!("band.permanent={:.0} kbit/s", (band * permanent / 1e3).max(32.0)));
        sets.push(format!("band.on_demand={:.0} kbit/s", band * (1.0 - permanent) / 1e3));
        sets.push(format!("band.allocation_time={:.0} ms", draw.between(700.0, 3_000.0)));
        if draw.happens(0.5) {
            sets.push(format!("band.interruption={} ms", draw.one(&[50, 200, 1_000])));
        }
    } else {
        sets.push(format!("band.permanent={:.0} kbit/s", band / 1e3));
    }
    if draw.happens(0.2) {
        sets.push(format!("path.loss={} %", draw.one(&[0.01, 0.1, 0.5])));
    }
    if draw.happens(0.3) {
        sets.push(format!("path.backup_round_trip={:.0} ms", draw.between(least, most)));
    }
    if draw.happens(0.5) {
        sets.push(format!("path.fade={:.0} s", draw.spread(2.0, 300.0)));
    }
    sets
}

/// A question, its answer, and what its run showed.
struct Asked {
    number: u64,
    sets: Vec<String>,
    answer: Answer,
    measured: Measured,
    /// Measured where the path fades, or else where it does not.
    faded: Measured,
    /// Measured where the first of two paths fails, or else where it does not.
    failed: Measured,
}

impl Asked {
    fn of(number: u64, drawn: fn(u64) -> Vec<String>) -> Self {
        let sets = drawn(number);
        let question = Question::parse("at random", "", &sets).unwrap_or_else(|faults| panic!("{faults}"));
        let answer = plan(&question);
        let run = |breaks| {
            let variant = Variant { breaks, ..Variant::ANSWERED };
            measure(&question, &answer, variant).unwrap_or_else(|failure| {
                let mut text = Vec::new();
                Failure::report(&failure, &mut text).expect("a string takes everything");
                panic!("{number}: {}", String::from_utf8_lossy(&text))
            })
        };
        let measured = run(PathBreak::None);
        let fade = question.path.whole().and_then(|path| path.fade);
        let faded = fade.map_or(measured, |fade| run(PathBreak::Fades(fade.as_secs_f64())));
        let is_of_two = answer.setting("sctp.pf_max_retrans").is_some();
        let failed = if is_of_two { run(PathBreak::Fails) } else { measured };
        Self { number, sets, answer, measured, faded, failed }
    }

    fn kept(&self) -> impl Iterator<Item = Kept> {
        let of = |promise: &slantpath_plan::Promise| {
            let run = match promise.measure {
                Measure::Ended => &self.faded,
                Measure::Standstill => &self.failed,
                _ => &self.measured,
            };
            run.of(promise.measure)
        };
        self.answer.promises.iter().map(move |promise| Kept { promise: *promise, measured: of(promise) })
    }

    /// Promises that were given and not kept, and refusals that the run did not bear out.
    fn contradictions(&self) -> Vec<&'static str> {
        self.kept().filter(|kept| !kept.is_borne_out()).map(|kept| kept.promise.name).collect()
    }

    fn line(&self) -> String {
        let mut line = format!("{} {:?}: {}\n   ", self.number, self.contradictions(), self.sets.join(" "));
        for name in ["sctp.cwnd", "sctp.rto_min", "m2pa.t7", "gateway.transmission_queue"] {
            if let Some(setting) = self.answer.setting(name) {
                let _ = write!(line, " {name}={:.3}", setting.value);
            }
        }
        for kept in self.kept() {
            let (range, most) = (kept.promise.expected, kept.promise.most);
            let (name, standing) = (kept.promise.name, kept.promise.standing);
            let _ = write!(
                line,
                "\n    {name:<14} {:.3} of {most:.3}, expected {:.3} to {:.3}, {standing:?}",
                kept.measured, range.least, range.most
            );
        }
        line
    }
}

/// Asks so many, several at a time, and gives them in order.
fn asked(numbers: std::ops::Range<u64>, drawn: fn(u64) -> Vec<String>) -> Vec<Asked> {
    let (next, found) = (AtomicU64::new(numbers.start), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    let asked = Asked::of(number, drawn);
                    found.lock().expect("no other thread has failed").push(asked);
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no thread has failed");
    found.sort_by_key(|asked| asked.number);
    found
}

/// As many questions, or as many as `SLANTPATH_QUESTIONS` says.
fn questions(count: u64) -> std::ops::Range<u64> {
    0..std::env::var("SLANTPATH_QUESTIONS").map_or(count, |count| count.parse().expect("a number"))
}

#[test]
fn random_questions_run_as_they_were_answered() {
    agree(&asked(questions(30), drawn));
}

#[test]
fn random_questions_of_all_carriers_run_as_they_were_answered() {
    agree(&asked(questions(12), drawn_of_carriers));
}

/// Prints a table of agreement: for each promise how often it was given, left open or refused, and what the run showed.
/// Fails on a contradiction.
fn agree(all: &[Asked]) {
    let mut contradicted = Vec::new();
    let mut table = BTreeMap::<&str, [[u32; 2]; 3]>::new();
    let (mut agreeing, mut whole) = (0, 0);
    for asked in all {
        let contradictions = asked.contradictions();
        if contradictions.is_empty() {
            agreeing += 1;
            whole += u32::from(asked.kept().all(|kept| kept.promise.standing != PromiseStanding::Open));
        } else {
            contradicted.push(asked.line());
        }
        for kept in asked.kept() {
            let row = table.entry(kept.promise.name).or_default();
            row[kept.promise.standing as usize][usize::from(kept.holds())] += 1;
        }
    }
    println!(
        "\n| promise | given: held, broken | open: held, broken | refused: broken, held |\n|---|---|---|---|"
    );
    for (name, [given, open, refused]) in table {
        println!(
            "| `{name}` | {}, {} | {}, {} | {}, {} |",
            given[1], given[0], open[1], open[0], refused[0], refused[1]
        );
    }
    println!("\n{agreeing} of {} questions without a contradiction, {whole} with nothing open", all.len());
    assert!(contradicted.is_empty(), "{}", contradicted.join("\n"));
}
