//! Student's t: its distribution and its quantiles, from the regularised incomplete beta function.

/// The probability that Student's t with `degrees` of freedom is at most `t`.
///
/// # Panics
/// If `degrees` is not positive.
pub fn student_t_cdf(t: f64, degrees: f64) -> f64 {
    assert!(degrees > 0.0, "Student's t has a positive number of degrees of freedom");
    let square = t * t;
    if square < degrees {
        // P(|T| ≤ |t|) = I(y; 1/2, degrees/2) with y = t²/(degrees + t²). Near t = 0 the other form would take
        // its argument so close to 1 that the digits of t are lost.
        let middle = incomplete_beta(square / (degrees + square), 0.5, degrees / 2.0);
        return 0.5 + libm::copysign(middle, t) / 2.0;
    }
    // P(|T| > |t|) = I(x; degrees/2, 1/2) with x = degrees/(degrees + t²).
    let both_tails = incomplete_beta(degrees / (degrees + square), degrees / 2.0, 0.5);
    if t > 0.0 { 1.0 - both_tails / 2.0 } else { both_tails / 2.0 }
}

/// The value that Student's t with `degrees` of freedom does not exceed with the given probability.
///
/// # Panics
/// If `probability` does not lie between 0 and 1, ends excluded, or `degrees` is not positive.
pub fn student_t_quantile(probability: f64, degrees: f64) -> f64 {
    assert!(probability > 0.0 && probability < 1.0, "a probability lies between 0 and 1");
    if probability < 0.5 {
        return -student_t_quantile(1.0 - probability, degrees);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_t_cdf(high, degrees) < probability {
        (low, high) = (high, high * 2.0);
    }
    // Bisection: slow and sure, and nobody asks for more than a few quantiles.
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if student_t_cdf(middle, degrees) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularised incomplete beta function I(x; a, b).
pub(super) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let log_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    let front = libm::exp(log_front);
    // The continued fraction converges fast on the side of the mean where x is small.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of I(x; a, b), NIST Digital Library of Mathematical Functions 8.17.22, by the
/// modified method of Lentz.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut numerator = 1.0;
    let mut denominator = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = denominator;
    for step in 1..=MAX_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            fraction *= denominator * numerator;
        }
        if (denominator * numerator - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

const TINY: f64 = 1e-300;
const MAX_STEPS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two-sided 95 % and 99 % points, NIST/SEMATECH e-Handbook, section 1.3.6.7.2.
    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (degrees, at_975, at_995) in [
            (1.0, 12.706, 63.657),
            (2.0, 4.303, 9.925),
            (3.0, 3.182, 5.841),
            (5.0, 2.571, 4.032),
            (9.0, 2.262, 3.250),
            (19.0, 2.093, 2.861),
            (29.0, 2.045, 2.756),
            (39.0, 2.023, 2.708),
            (99.0, 1.984, 2.626),
        ] {
            assert!((student_t_quantile(0.975, degrees) - at_975).abs() < 6e-4, "{degrees}");
            assert!((student_t_quantile(0.995, degrees) - at_995).abs() < 6e-4, "{degrees}");
        }
    }

    #[test]
    fn one_and_two_degrees_have_closed_forms() {
        for probability in [0.6, 0.75, 0.9, 0.99, 0.999_9] {
            let cauchy = libm::tan(core::f64::consts::PI * (probability - 0.5));
            assert!((student_t_quantile(probability, 1.0) / cauchy - 1.0).abs() < 1e-10);
            let distance = 2.0 * probability - 1.0;
            let two = distance * libm::sqrt(2.0 / (1.0 - distance * distance));
            assert!((student_t_quantile(probability, 2.0) / two - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn many_degrees_approach_the_normal_distribution() {
        assert!((student_t_quantile(0.975, 1e7) - 1.959_963_985).abs() < 1e-6);
    }

    /// With one degree of freedom P(0 ≤ T ≤ t) = atan(t)/π, which for small t is t/π.
    #[test]
    fn the_middle_of_the_distribution_keeps_its_digits() {
        for t in [1e-3, 1e-5, 1e-7] {
            for (signed, sign) in [(t, 1.0), (-t, -1.0)] {
                let beyond_half = (student_t_cdf(signed, 1.0) - 0.5) * sign;
                assert!((beyond_half - libm::atan(t) / core::f64::consts::PI).abs() < 2e-16, "{signed}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_distribution(probability in 0.001..0.999_f64, degrees in 1_u32..500) {
            let degrees = f64::from(degrees);
            let t = student_t_quantile(probability, degrees);
            prop_assert!((student_t_cdf(t, degrees) - probability).abs() < 1e-11);
        }
    }
}
