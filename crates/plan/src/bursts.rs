//! Bounds of bursts: messages of many independent sources are a Poisson stream, and both how many of them are on their
//! way at once and how long they wait for a line have bounds that are exceeded as rarely as one likes.

/// ln 10⁶: a bound is exceeded once in a million looks.
const RARE: f64 = 13.815_510_557_964_274;
/// Bisections: a double has no more bits.
const STEPS: u32 = 64;

/// Gives the value that a Poisson number of this mean exceeds once in a million looks at most. Chernoff's bound: P(N ≥
/// n) ≤ exp(−(n·ln(n/m) − n + m)) for n above the mean m.
pub fn poisson_most(mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let exponent = |n: f64| n * libm::log(n / mean) - n + mean;
    // By n = m + 2·RARE + √(2·m·RARE) it is rare enough (Bernstein's inequality).
    let (low, high) = (mean, mean + 2.0 * RARE + (2.0 * mean * RARE).sqrt());
    bisect(low, high, |n| exponent(n) < RARE)
}

/// Gives the wait of a message that is exceeded once in a million times, in seconds, where so many a second come one by
/// one to a line that takes `service` seconds for each. Lundberg's bound for M/D/1: P(W > t) ≤ exp(−θt) with
/// e^(θ·service)·λ = λ + θ. A line that is full all the time has no bound.
pub fn longest_wait(per_second: f64, service: f64) -> f64 {
    let load = per_second * service;
    if load <= 0.0 {
        return 0.0;
    }
    if load >= 1.0 {
        return f64::INFINITY;
    }
    // With x = θ·service: e^x·ρ = ρ + x, whose root above nothing lies below 2·ln(1/ρ) + 2.
    let high = 2.0 * libm::log(1.0 / load) + 2.0;
    let low = libm::log(1.0 / load);
    let x = bisect(low, high, |x| load * libm::exp(x) < load + x);
    RARE * service / x
}

/// Longest wait of the messages of so many seconds, with hardly a doubt. A line that is nearly full forgets what waited
/// after `service/(1 − ρ)²`: in so many independent looks half of the bound for as many of them is reached.
pub fn ordinary_wait(per_second: f64, service: f64, within: f64) -> f64 {
    let load = per_second * service;
    if load <= 0.0 || load >= 1.0 {
        return 0.0;
    }
    let looks = within * (1.0 - load) * (1.0 - load) / service * load;
    longest_wait(per_second, service) * 0.5 * libm::log(looks.max(1.0)).min(RARE) / RARE
}

/// The share of the fullest of so many associations, over which messages of so many lines are spread by signalling
/// link selection: those of line n have n modulo 16.
pub fn largest_share(lines: u32, associations: u32) -> f64 {
    let mut counts = [0_u32; 16];
    let associations = associations.clamp(1, 16);
    for line in 0..lines.min(4_096) {
        counts[(line % 16 % associations) as usize] += 1;
    }
    let most = counts.into_iter().max().unwrap_or(0);
    f64::from(most) / f64::from(lines.clamp(1, 4_096))
}

/// Finds the place at which `is_below` ends, between `low` and `high`.
fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poisson_number_hardly_exceeds_its_bound_and_the_bound_is_no_luxury() {
        for mean in [0.01, 0.5, 3.0, 24.0, 640.0, 20_000.0] {
            let most = poisson_most(mean);
            // The tail itself, summed: within the millionth, and no less than a thousandth of it.
            let ln_term = |n: f64| n * libm::log(mean) - mean - libm::lgamma(n + 1.0);
            let first = most.ceil();
            let tail: f64 = (0..200).map(|more| libm::exp(ln_term(first + f64::from(more)))).sum();
            assert!(tail <= 1e-6, "{mean}: {most}, {tail}");
            assert!(tail >= 1e-9, "{mean}: {most}, {tail}");
        }
        assert_eq!(poisson_most(0.0), 0.0);
    }

    #[test]
    fn the_longest_wait_grows_without_end_as_a_line_fills() {
        // Half full: x of e^x = 1 + 2x is 1.2564.
        assert!((longest_wait(500.0, 0.001) - RARE * 0.001 / 1.256_431).abs() < 1e-8);
        // Nearly full, a diffusion: 2(1 − ρ)/ρ.
        let nearly = longest_wait(990.0, 0.001);
        assert!((nearly / (RARE * 0.001 * 0.99 / 0.02) - 1.0).abs() < 0.02, "{nearly}");
        assert_eq!(longest_wait(1_000.0, 0.001), f64::INFINITY);
        assert_eq!(longest_wait(0.0, 0.001), 0.0);
        let mut last = 0.0;
        for per_second in [1.0, 10.0, 100.0, 300.0, 700.0, 900.0, 999.0] {
            let wait = longest_wait(per_second, 0.001);
            assert!(wait > last && wait.is_finite(), "{per_second}: {wait}");
            last = wait;
        }
    }

    #[test]
    fn thirty_lines_over_eight_associations_are_four_or_three_each() {
        assert_eq!(largest_share(30, 8), 4.0 / 30.0);
        assert_eq!(largest_share(16, 8), 1.0 / 8.0);
        assert_eq!(largest_share(30, 1), 1.0);
        // Sixteen selections leave more associations empty.
        assert_eq!(largest_share(32, 40), 1.0 / 16.0);
        assert_eq!(largest_share(1, 8), 1.0);
    }
}
