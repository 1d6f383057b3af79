//! Sine and cosine together, without branches: what a loop over thousands of satellites spends its time on.

/// 1.5 · 2⁵²: adding and taking it away rounds to a whole number, and leaves that number in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
const TWO_OVER_PI: f64 = core::f64::consts::FRAC_2_PI;
/// π/2 in three parts of 33 bits, so that a multiple of each is exact (Cody and Waite 1980).
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// Sine and cosine of an angle, right to 2e-16 up to some 10⁵ radians.
#[inline]
pub(crate) fn sincos(angle: f64) -> (f64, f64) {
    let shifted = angle * TWO_OVER_PI + ROUNDER;
    let quadrant = shifted.to_bits();
    let turns = shifted - ROUNDER;
    let x = ((angle - turns * HALF_PI[0]) - turns * HALF_PI[1]) - turns * HALF_PI[2];
    let z = x * x;
    // Taylor's series to where the next term is below half a unit of the last place on ±π/4, summed in pairs
    // (Estrin): the chain of dependent steps is half as long as Horner's.
    let (z2, z4) = (z * z, (z * z) * (z * z));
    let series =
        |k: &[f64; 7]| ((k[0] + z * k[1]) + z2 * (k[2] + z * k[3])) + z4 * ((k[4] + z * k[5]) + z2 * k[6]);
    let sine = x + x * z * series(&S);
    let cosine = 1.0 - 0.5 * z + z2 * series(&C);
    // An odd quadrant swaps the two; the sign bits follow the quadrant.
    let swap = (quadrant & 1).wrapping_neg();
    let (s, c) = (sine.to_bits(), cosine.to_bits());
    let mixed = (s ^ c) & swap;
    let sine_sign = (quadrant & 2) << 62;
    let cosine_sign = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits((s ^ mixed) ^ sine_sign), f64::from_bits((c ^ mixed) ^ cosine_sign))
}

const S: [f64; 7] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];
const C: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_library(angle in -1e5..1e5_f64) {
            let ((s, c), (sine, cosine)) = (sincos(angle), libm::sincos(angle));
            prop_assert!((s - sine).abs() < 3e-16 && (c - cosine).abs() < 3e-16, "{s} {sine} {c} {cosine}");
        }
    }
}
