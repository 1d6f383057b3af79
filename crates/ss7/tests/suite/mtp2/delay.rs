//! The queueing delay of messages against the formulas of Q.706, section 4.2: an M/G/1 queue whose server takes fill-in
//! units when it is idle, and repeats what the line has damaged.

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::link::LinkRequest;
use slantpath_ss7::mtp2::{Config, ErrorCorrection, octets_on_line};

use super::line::Line;

const BITS_PER_SECOND: f64 = 64_000.0;

/// One octet lengths' share of the traffic.
type Mix = &'static [(usize, f64)];

struct Case {
    mix: Mix,
    /// Erlang of messages sent for the first time.
    load: f64,
    bit_error_rate: f64,
    delay: Duration,
    error_correction: ErrorCorrection,
}

fn seconds(octets: usize) -> f64 {
    (octets_on_line(octets) * 8) as f64 / BITS_PER_SECOND
}

/// Mean queueing delay in seconds with disturbance (Q.706, section 4.2.1): `Qt`, from the arrival of a message to the
/// start of its successful emission.
fn q706(case: &Case) -> f64 {
    let moment =
        |power| case.mix.iter().map(|(octets, share)| share * seconds(*octets).powi(power)).sum::<f64>();
    let tm = moment(1);
    let k1 = moment(2) / (tm * tm);
    let tf = seconds(0) / tm;
    // The loop: both ways; the emission of the damaged message and of the unit behind it, which reveals the gap; in the
    // other direction, which is idle, the rest of a fill-in unit and the one that asks; the rest of the unit that is
    // being sent when it is read. A unit is a message as often as the line is loaded.
    let unit = case.load * tm + (1.0 - case.load) * seconds(0);
    let loop_time = 2.0 * case.delay.as_secs_f64() + tm + 1.5 * unit + 1.5 * seconds(0);
    let tl = loop_time / tm;
    let errored = 1.0 - libm::pow(1.0 - case.bit_error_rate, tm * BITS_PER_SECOND);
    let e1 = 1.0 + errored * tl;
    let e2 = k1 + errored * tl * (tl + 2.0);
    let a = case.load;
    tm * (tf / 2.0 + a * e2 / (2.0 * (1.0 - e1 * a)) + e1 - 1.0)
}

/// Mean of the simulated queueing delay and half its 99 % interval, from replications.
fn simulated(case: &Case) -> (f64, f64) {
    const RUNS: u64 = 8;
    const MESSAGES: usize = 20_000;
    let means: Vec<f64> = (0..RUNS).map(|run| one_run(case, run, MESSAGES).0).collect();
    let mean = means.iter().sum::<f64>() / RUNS as f64;
    let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64;
    // Student's t for seven degrees of freedom.
    (mean, 3.499 * (variance / RUNS as f64).sqrt())
}

/// The mean queueing delay of one run, and the share of idle time that was spent on repetitions.
fn one_run(case: &Case, run: u64, messages: usize) -> (f64, f64) {
    let config = Config {
        error_correction: case.error_correction,
        transmit_buffer: 100_000,
        congestion_onset: [50_000, 60_000, 70_000],
        proving_errors_emergency: 1_000,
        ..Config::default()
    };
    let mut line = Line::in_service(&config, case.delay, case.bit_error_rate, run);
    let (mut gaps, mut lengths) = (Seed::new(7, run).stream("arrivals"), Seed::new(7, run).stream("lengths"));
    let tm: f64 = case.mix.iter().map(|(octets, share)| share * seconds(*octets)).sum();
    let mean_gap = Duration::from_secs_f64(tm / case.load);
    let started = line.now;
    let mut arrivals: Vec<Instant> = Vec::new();
    for number in 0..messages {
        line.advance(gaps.exponential(mean_gap));
        let mut draw = lengths.uniform();
        let fits = |(_, share): &&(usize, f64)| {
            draw -= share;
            draw < 0.0
        };
        let (octets, _) = case.mix.iter().find(fits).unwrap_or(&case.mix[0]);
        let mut body = vec![0; *octets];
        body[..4].copy_from_slice(&u32::try_from(number).unwrap().to_be_bytes());
        arrivals.push(line.now);
        line.ends[0].request(line.now, LinkRequest::Transmit(Bytes::from(body)));
    }
    let repeated_by_the_last = line.ends[0].counters().messages_repeated;
    line.advance(Duration::from_secs(60));
    let received = line.received(1);
    assert_eq!(received.len(), messages);
    let total: f64 = received
        .iter()
        .zip(&arrivals)
        .map(|((at, body), arrived)| {
            (*at - *arrived).as_secs_f64() - seconds(body.len()) - case.delay.as_secs_f64()
        })
        .sum();
    let counters = line.ends[0].counters();
    let elapsed = (*arrivals.last().unwrap() - started).as_secs_f64();
    let repeating = repeated_by_the_last as f64 * tm;
    let idle = elapsed - counters.messages_sent as f64 * tm;
    (total / messages as f64, repeating / idle)
}

fn assert_agrees(case: &Case, formula: f64) {
    let (mean, interval) = simulated(case);
    assert!(
        (mean - formula).abs() <= interval,
        "{:.3} ms ± {:.3} beside {:.3} ms of Q.706",
        mean * 1e3,
        interval * 1e3,
        formula * 1e3
    );
}

#[test]
fn undisturbed_messages_of_one_length_wait_as_q706_says() {
    for load in [0.2, 0.5, 0.8] {
        assert_basic(&Case {
            mix: &[(60, 1.0)],
            load,
            bit_error_rate: 0.0,
            delay: Duration::from_millis(5),
            error_correction: ErrorCorrection::Basic,
        });
    }
}

#[test]
fn undisturbed_messages_of_three_lengths_wait_as_q706_says() {
    let mix: Mix = &[(60, 0.5), (120, 0.3), (270, 0.2)];
    assert_basic(&Case {
        mix,
        load: 0.4,
        bit_error_rate: 0.0,
        delay: Duration::from_millis(5),
        error_correction: ErrorCorrection::Basic,
    });
}

#[test]
fn messages_on_a_line_with_errors_wait_as_q706_says() {
    for load in [0.1, 0.3] {
        assert_basic(&Case {
            mix: &[(60, 1.0)],
            load,
            bit_error_rate: 1e-5,
            delay: Duration::from_millis(10),
            error_correction: ErrorCorrection::Basic,
        });
    }
}

fn assert_basic(case: &Case) {
    assert_agrees(case, q706(case));
}

/// With cyclic retransmission a message that finds the line without new ones waits for the rest of a repetition. Where
/// the loop is long there is always something to repeat, and the mean is `k1 / (2 (1 - a))` in units of `Tm` (Q.706,
/// section 4.2.2): the server never idles.
#[test]
fn cyclic_repetition_over_a_satellite_waits_as_q706_says() {
    for load in [0.2, 0.4] {
        let case = cyclic(&[(60, 1.0)], load, Duration::from_millis(250));
        assert_agrees(&case, always_repeating(&case));
    }
}

/// With several lengths the formula is the limit of long loops: behind long messages a loop has less time to repeat
/// them, so that shorter ones are repeated more, and the wait is a little less than it says.
#[test]
fn cyclic_repetition_of_three_lengths_comes_closer_to_q706_with_the_loop() {
    let mix: Mix = &[(60, 0.5), (120, 0.3), (270, 0.2)];
    let case = |delay_ms| cyclic(mix, 0.3, Duration::from_millis(delay_ms));
    let formula = always_repeating(&case(0));
    let [(short, _), (long, interval)] = [250, 450].map(|delay_ms| simulated(&case(delay_ms)));
    assert!(short < long && long < formula, "{short} s, {long} s, {formula} s");
    assert!(formula - long < 0.02 * formula + interval, "{long} ± {interval} s beside {formula} s");
}

fn cyclic(mix: Mix, load: f64, delay: Duration) -> Case {
    let error_correction = ErrorCorrection::PreventiveCyclic { messages: 127, octets: 50_000 };
    Case { mix, load, bit_error_rate: 0.0, delay, error_correction }
}

fn always_repeating(case: &Case) -> f64 {
    let moment =
        |power| case.mix.iter().map(|(octets, share)| share * seconds(*octets).powi(power)).sum::<f64>();
    moment(2) / moment(1) / (2.0 * (1.0 - case.load))
}

/// Over a short loop the line is sometimes without anything to repeat, and fills in: the same queue with another mean
/// of the server's vacations. How often it is a repetition is measured, in a run of its own.
#[test]
fn cyclic_repetition_costs_the_rest_of_a_repeated_message() {
    for (load, delay_ms) in [(0.1, 5), (0.4, 40)] {
        let case = cyclic(&[(60, 1.0)], load, Duration::from_millis(delay_ms));
        let (_, repeating) = one_run(&case, 99, 20_000);
        assert!(repeating > 0.1 && repeating < 1.0, "{repeating}");
        let tm = seconds(60);
        let busy = load * tm / (2.0 * (1.0 - load));
        let rest = repeating * tm / 2.0 + (1.0 - repeating) * seconds(0) / 2.0;
        assert_agrees(&case, busy + rest);
    }
}
