//! The near-Earth half of SGP4 for small eccentricities, without a branch or a library call in its path.
//!
//! Equations and symbols are those of Hoots and Roehrich, Spacetrack Report No. 3 (1980), with the
//! corrections of Vallado et al., AIAA 2006-6753. Lengths are Earth radii and times minutes inside. Three
//! things make it quick: sine and cosine without branches, as few Newton steps as the eccentricity allows
//! (below 0.1), and the short-period corrections as small rotations instead of new angles.

use super::PropagationFault;
use crate::trig::sincos;
use crate::vector::{State, Vec3};

const KE: f64 = ::sgp4::WGS72.ke;
const RADIUS: f64 = super::WGS72_RADIUS;
const J2: f64 = ::sgp4::WGS72.j2;
const J3_OVER_J2: f64 = ::sgp4::WGS72.j3 / ::sgp4::WGS72.j2;
const J4: f64 = ::sgp4::WGS72.j4;
/// One orbit's coefficients.
#[derive(Clone, Debug)]
pub(super) struct NearEarth {
    mean_anomaly: f64,
    mean_anomaly_rate: f64,
    perigee: f64,
    perigee_rate: f64,
    node: f64,
    node_rate: f64,
    node_drag: f64,
    eccentricity: f64,
    semi_major_axis: f64,
    mean_motion: f64,
    inclination_sine: f64,
    inclination_cosine: f64,
    /// B* C₄ and B* C₅.
    c4: f64,
    c5: f64,
    sine_mean_anomaly: f64,
    eta: f64,
    perigee_drag: f64,
    anomaly_drag: f64,
    anomaly_drag_at_epoch: f64,
    /// Powers of time in the semi-major axis: C₁, D₂, D₃, D₄.
    axis_drag: [f64; 4],
    /// Powers 2 to 5 of time in the mean longitude.
    longitude_drag: [f64; 4],
    long_period_y: f64,
    long_period_longitude: f64,
    /// 3 cos² I − 1, 1 − cos² I, 7 cos² I − 1.
    con41: f64,
    x1mth2: f64,
    x7thm1: f64,
}

impl NearEarth {
    /// Tells if this half of the theory, in this form, serves an orbit: period below 225 minutes, e below 0.1.
    pub(super) fn serves(orbit: &::sgp4::Orbit) -> bool {
        orbit.mean_motion > core::f64::consts::TAU / 225.0 && (0.0..0.1).contains(&orbit.eccentricity)
    }

    /// The coefficients of an orbit that [`Self::serves`] accepts, from Brouwer elements.
    pub(super) fn new(orbit: &::sgp4::Orbit, bstar: f64) -> Self {
        let (e, n) = (orbit.eccentricity, orbit.mean_motion);
        let (sin_i, theta) = libm::sincos(orbit.inclination);
        let (theta2, beta2) = (theta * theta, 1.0 - e * e);
        let (con41, x1mth2, x7thm1) = (3.0 * theta2 - 1.0, 1.0 - theta2, 7.0 * theta2 - 1.0);
        let a = libm::pow(KE / n, 2.0 / 3.0);
        let perigee_height_km = (a * (1.0 - e) - 1.0) * (RADIUS / 1e3);
        // The atmosphere's lower bound s follows a low perigee down.
        let s_height_km = match perigee_height_km {
            h if h < 98.0 => 20.0,
            h if h < 156.0 => h - 78.0,
            _ => 78.0,
        };
        let s = s_height_km / (RADIUS / 1e3) + 1.0;
        let q0_minus_s_4 = fourth((120.0 - s_height_km) / (RADIUS / 1e3));
        let xi = 1.0 / (a - s);
        let eta = a * e * xi;
        let (eta2, e_eta) = (eta * eta, e * eta);
        let psi2 = libm::fabs(1.0 - eta2);
        let coef = q0_minus_s_4 * fourth(xi);
        let coef1 = coef / libm::pow(psi2, 3.5);
        let c2 = coef1
            * n
            * (a * (1.0 + 1.5 * eta2 + e_eta * (4.0 + eta2))
                + 0.375 * J2 * xi / psi2 * con41 * (8.0 + 3.0 * eta2 * (8.0 + eta2)));
        let c1 = bstar * c2;
        let c3 = if e > 1e-4 { -2.0 * coef * xi * J3_OVER_J2 * n * sin_i / e } else { 0.0 };
        let (_, cos_2_perigee) = libm::sincos(2.0 * orbit.argument_of_perigee);
        let c4 = 2.0
            * n
            * coef1
            * a
            * beta2
            * (eta * (2.0 + 0.5 * eta2) + e * (0.5 + 2.0 * eta2)
                - J2 * xi / (a * psi2)
                    * (-3.0 * con41 * (1.0 - 2.0 * e_eta + eta2 * (1.5 - 0.5 * e_eta))
                        + 0.75 * x1mth2 * (2.0 * eta2 - e_eta * (1.0 + eta2)) * cos_2_perigee));
        let c5 = 2.0 * coef1 * a * beta2 * (1.0 + 2.75 * (eta2 + e_eta) + e_eta * eta2);

        let theta4 = theta2 * theta2;
        let p_squared = 1.0 / ((a * beta2) * (a * beta2));
        let t1 = 1.5 * J2 * p_squared * n;
        let t2 = 0.5 * t1 * J2 * p_squared;
        let t3 = -0.46875 * J4 * p_squared * p_squared * n;
        let beta = beta2.sqrt();
        let mean_anomaly_rate =
            n + 0.5 * t1 * beta * con41 + 0.0625 * t2 * beta * (13.0 - 78.0 * theta2 + 137.0 * theta4);
        let perigee_rate = -0.5 * t1 * (1.0 - 5.0 * theta2)
            + 0.0625 * t2 * (7.0 - 114.0 * theta2 + 395.0 * theta4)
            + t3 * (3.0 - 36.0 * theta2 + 49.0 * theta4);
        let node_rate =
            -t1 * theta + (0.5 * t2 * (4.0 - 19.0 * theta2) + 2.0 * t3 * (3.0 - 7.0 * theta2)) * theta;

        let (sine_mean_anomaly, cosine_mean_anomaly) = libm::sincos(orbit.mean_anomaly);
        let (_, cosine_perigee) = libm::sincos(orbit.argument_of_perigee);
        let d2 = 4.0 * a * xi * c1 * c1;
        let d3 = (17.0 * a + s) * d2 * xi * c1 / 3.0;
        let d4 = 0.5 * (d2 * xi * c1 / 3.0) * a * xi * (221.0 * a + 31.0 * s) * c1;
        // Below 220 km the series are cut: their higher terms are then set to nothing.
        let whole = if perigee_height_km < 220.0 { 0.0 } else { 1.0 };
        let elliptic = if e > 1e-4 { whole } else { 0.0 };
        let anomaly_drag = if e > 1e-4 { -2.0 / 3.0 * coef * bstar / e_eta } else { 0.0 };
        let one_plus = |cosine: f64| cube(1.0 + eta * cosine);
        let tilt = if libm::fabs(1.0 + theta) > 1.5e-12 { 1.0 + theta } else { 1.5e-12 };
        Self {
            mean_anomaly: orbit.mean_anomaly,
            mean_anomaly_rate,
            perigee: orbit.argument_of_perigee,
            perigee_rate,
            node: orbit.right_ascension,
            node_rate,
            node_drag: 3.5 * beta2 * (-t1 * theta) * c1,
            eccentricity: e,
            semi_major_axis: a,
            mean_motion: n,
            inclination_sine: sin_i,
            inclination_cosine: theta,
            c4: bstar * c4,
            c5: whole * bstar * c5,
            sine_mean_anomaly,
            eta,
            perigee_drag: elliptic * bstar * c3 * cosine_perigee,
            anomaly_drag: elliptic * anomaly_drag,
            anomaly_drag_at_epoch: one_plus(cosine_mean_anomaly),
            axis_drag: [c1, whole * d2, whole * d3, whole * d4],
            longitude_drag: [
                1.5 * c1,
                whole * (d2 + 2.0 * c1 * c1),
                whole * 0.25 * (3.0 * d3 + c1 * (12.0 * d2 + 10.0 * c1 * c1)),
                whole
                    * 0.2
                    * (3.0 * d4 + 12.0 * c1 * d3 + 6.0 * d2 * d2 + 15.0 * c1 * c1 * (2.0 * d2 + c1 * c1)),
            ],
            long_period_y: -0.5 * J3_OVER_J2 * sin_i,
            long_period_longitude: -0.25 * J3_OVER_J2 * sin_i * (3.0 + 5.0 * theta) / tilt,
            con41,
            x1mth2,
            x7thm1,
        }
    }

    /// The state in TEME some minutes after the epoch, metres and metres per second.
    #[inline]
    pub(super) fn state(&self, t: f64) -> Result<State, PropagationFault> {
        // Secular effects of gravity and drag.
        let anomaly = self.mean_anomaly + self.mean_anomaly_rate * t;
        let (_, cosine_anomaly) = sincos(anomaly);
        let shift = self.perigee_drag * t
            + self.anomaly_drag * (cube(1.0 + self.eta * cosine_anomaly) - self.anomaly_drag_at_epoch);
        let anomaly = anomaly + shift;
        let perigee = self.perigee + self.perigee_rate * t - shift;
        let node = self.node + (self.node_rate + self.node_drag * t) * t;
        let (sine_anomaly, _) = sincos(anomaly);
        let [c1, d2, d3, d4] = self.axis_drag;
        let root = 1.0 - t * (c1 + t * (d2 + t * (d3 + t * d4)));
        let a = self.semi_major_axis * root * root;
        let drifted = self.eccentricity - (self.c4 * t + self.c5 * (sine_anomaly - self.sine_mean_anomaly));
        if !(-0.001..1.0).contains(&drifted) {
            return Err(PropagationFault::Eccentricity { eccentricity: drifted, minutes: t });
        }
        let e = if drifted < 1e-6 { 1e-6 } else { drifted };
        let [l2, l3, l4, l5] = self.longitude_drag;
        let anomaly = anomaly + self.mean_motion * (t * t * (l2 + t * (l3 + t * (l4 + t * l5))));

        // Long-period effects.
        let inverse_p = 1.0 / (a * (1.0 - e * e));
        let (sine_perigee, cosine_perigee) = sincos(perigee);
        let axn = e * cosine_perigee;
        let ayn = e * sine_perigee + inverse_p * self.long_period_y;

        // Kepler's equation for E + ω.
        let longitude = anomaly + perigee + inverse_p * self.long_period_longitude * axn;
        let (sine, cosine) = solve_kepler(longitude, axn, ayn, e);

        // Short-period effects.
        let e_squared = axn * axn + ayn * ayn;
        let p = a * (1.0 - e_squared);
        if p < 0.0 {
            return Err(PropagationFault::SemiLatusRectum { minutes: t });
        }
        let e_sine = axn * sine - ayn * cosine;
        let r = a * (1.0 - (axn * cosine + ayn * sine));
        let root_a = a.sqrt();
        let beta = (1.0 - e_squared).sqrt();
        let (inverse_r, inverse_p) = (1.0 / r, 1.0 / p);
        let r_rate = root_a * e_sine * inverse_r;
        let rf_rate = p.sqrt() * inverse_r;
        let fraction = e_sine / (1.0 + beta);
        let sin_u = a * inverse_r * (sine - ayn - axn * fraction);
        let cos_u = a * inverse_r * (cosine - axn + ayn * fraction);
        let (sin_2u, cos_2u) = (2.0 * cos_u * sin_u, 1.0 - 2.0 * sin_u * sin_u);
        let k = 0.5 * J2 * inverse_p;
        let k2 = k * inverse_p;
        let (sin_i, cos_i) = (self.inclination_sine, self.inclination_cosine);
        let radius = r * (1.0 - 1.5 * k2 * beta * self.con41) + 0.5 * k * self.x1mth2 * cos_2u;
        let (sin_u, cos_u) = turned(sin_u, cos_u, -0.25 * k2 * self.x7thm1 * sin_2u);
        let (sine_node, cosine_node) = sincos(node);
        let (sin_n, cos_n) = turned(sine_node, cosine_node, 1.5 * k2 * cos_i * sin_2u);
        let (sin_i, cos_i) = turned(sin_i, cos_i, 1.5 * k2 * cos_i * sin_i * cos_2u);
        let mean_motion = KE / (a * root_a);
        let radius_rate = r_rate - mean_motion * k * self.x1mth2 * sin_2u / KE;
        let along_rate = rf_rate + mean_motion * k * (self.x1mth2 * cos_2u + 1.5 * self.con41) / KE;
        if radius < 1.0 {
            return Err(PropagationFault::Decayed { minutes: t });
        }

        let outward = Vec3::new(
            cos_n * cos_u - sin_n * cos_i * sin_u,
            sin_n * cos_u + cos_n * cos_i * sin_u,
            sin_i * sin_u,
        );
        let along = Vec3::new(
            -sin_n * cos_i * cos_u - cos_n * sin_u,
            cos_n * cos_i * cos_u - sin_n * sin_u,
            sin_i * cos_u,
        );
        Ok(State {
            position: outward * (radius * RADIUS),
            velocity: (outward * radius_rate + along * along_rate) * (RADIUS * KE / 60.0),
        })
    }
}

/// Sine and cosine of E + ω: Newton's steps from the mean longitude. Each step squares the error, which begins at
/// about e²: two are enough for 1e-13 radian (a micrometre) where e is below 1.5e-3, and are so small there that
/// the angle need not be formed.
#[inline]
fn solve_kepler(longitude: f64, axn: f64, ayn: f64, e: f64) -> (f64, f64) {
    let (mut sine, mut cosine) = sincos(longitude);
    let correction = |gone: f64, sine: f64, cosine: f64| {
        (axn * sine - ayn * cosine - gone) / (1.0 - cosine * axn - sine * ayn)
    };
    if e < 1.5e-3 {
        let first = correction(0.0, sine, cosine);
        (sine, cosine) = turned(sine, cosine, first);
        let second = correction(first, sine, cosine);
        return turned(sine, cosine, second);
    }
    let steps = match e {
        e if e < 0.025 => 3,
        e if e < 0.101 => 4,
        // Drag has carried the orbit out of the range that is served.
        _ => 16,
    };
    let mut gone = 0.0;
    for _ in 0..steps {
        gone += correction(gone, sine, cosine);
        (sine, cosine) = sincos(longitude + gone);
    }
    (sine, cosine)
}

/// Sine and cosine of an angle after turning it by a small one (below 3e-3 here, where the series stops at
/// 1e-17).
#[inline]
fn turned(sine: f64, cosine: f64, small: f64) -> (f64, f64) {
    let square = small * small;
    let s = small * (1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0)));
    let c = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0)));
    (sine * c + cosine * s, cosine * c - sine * s)
}

fn cube(x: f64) -> f64 {
    x * x * x
}

fn fourth(x: f64) -> f64 {
    (x * x) * (x * x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_reference_crate(
            incl in 0.0..3.1_f64, node in 0.0..6.2_f64, e in prop_oneof![0.0..0.003_f64, 0.0..0.0999_f64],
            perigee in 0.0..6.2_f64,
            anomaly in 0.0..6.2_f64, rev in 6.5..15.8_f64, bstar in -1e-3..1e-3_f64, t in -14_400.0..14_400.0_f64,
        ) {
            let n = rev * core::f64::consts::PI / 720.0;
            let orbit =
                ::sgp4::Orbit::from_kozai_elements(&::sgp4::WGS72, incl, node, e, perigee, anomaly, n).unwrap();
            let reference =
                ::sgp4::Constants::new(::sgp4::WGS72, ::sgp4::iau_epoch_to_sidereal_time, 25.0, bstar, orbit.clone());
            let reference = reference.unwrap();
            let (ours, theirs) = (NearEarth::new(&orbit, bstar).state(t), super::super::full(&reference, t));
            match (ours, theirs) {
                (Ok(a), Ok(b)) => {
                    prop_assert!((a.position - b.position).norm() < 1e-3, "{a:?} {b:?}");
                    prop_assert!((a.velocity - b.velocity).norm() < 1e-6, "{a:?} {b:?}");
                }
                (a, b) => prop_assert_eq!(a.is_err(), b.is_err()),
            }
        }
    }
}
