//! Coverage: when a place sees any satellite at all, its gaps, and how much of the Earth is served.

use slantpath_base::{Angle, Duration, Instant};

use crate::contact::{ContactPlan, Planner};
use crate::earth::Geodetic;
use crate::ground::Antenna;
use crate::network::{ContactNetwork, NetworkError};
use crate::site::{Horizon, Relay, Site, SitePosition};
use crate::utc::Utc;
use crate::vector::Vec3;

/// Coverage of a place over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// Stretches with at least one satellite in sight, in order.
    pub covered: Vec<(Instant, Instant)>,
    /// The stretches between them, and before the first and after the last.
    pub gaps: Vec<(Instant, Instant)>,
    /// Covered time over the whole.
    pub share: f64,
}

/// The coverage of a site of a plan: what its antennas could see, whatever they chose. A gap is an answer,
/// not an error.
pub fn of_site(plan: &ContactPlan, site: usize) -> Coverage {
    of_intervals(plan.site_passes(site), plan.span())
}

fn of_intervals(passes: &[(f64, f64)], span: Duration) -> Coverage {
    let instant = |seconds: f64| Instant::START + Duration::from_secs_f64(seconds).min(span);
    let covered: Vec<(Instant, Instant)> =
        passes.iter().map(|&(start, end)| (instant(start), instant(end))).collect();
    let end = Instant::START + span;
    let mut gaps = Vec::new();
    let mut here = Instant::START;
    for &(start, until) in &covered {
        if start > here {
            gaps.push((here, start));
        }
        here = until;
    }
    if here < end {
        gaps.push((here, end));
    }
    // A sum of nothing is minus zero.
    let seconds = covered.iter().fold(0.0, |sum, (start, until)| sum + (*until - *start).as_secs_f64());
    Coverage { covered, gaps, share: seconds / span.as_secs_f64() }
}

/// Satellites that a place sees at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoverageCell {
    /// The place: the middle of a cell, on the ellipsoid.
    pub place: Geodetic,
    /// Number of satellites that stand above their least elevation.
    pub satellites: usize,
    /// Elevation of the highest of them.
    pub highest: Option<Angle>,
}

/// View that the Earth has of a network at a date, in cells of so many degrees from the south-west to the north-east.
/// `least` is the elevation from which a constellation is used; one without it is not counted.
pub fn cells(
    network: &ContactNetwork,
    date: Utc,
    least: &dyn Fn(&str) -> Option<Angle>,
    cell_deg: u32,
) -> Vec<CoverageCell> {
    let mut above: Vec<(Vec3, f64)> = Vec::new();
    for constellation in &network.constellations {
        let Some(least) = least(&constellation.name) else { continue };
        let sine = libm::sin(least.as_radians());
        let states = constellation.satellites.iter().filter_map(|satellite| satellite.orbit.fixed(date).ok());
        above.extend(states.map(|state| (state.position, sine)));
    }
    let middles = |from: f64, degrees: u32| {
        let cell = f64::from(cell_deg);
        (0..degrees / cell_deg.max(1)).map(move |index| from + cell * (f64::from(index) + 0.5))
    };
    let look = |place: Geodetic| {
        let stance = SitePosition::Fixed(place).at(Instant::START);
        let sines = above.iter().filter_map(|&(position, least)| {
            let line = position - stance.position;
            let sine = line.dot(stance.up) / line.norm();
            (sine >= least).then_some(sine)
        });
        let (satellites, best) = sines.fold((0, -1.0_f64), |(count, best), sine| (count + 1, best.max(sine)));
        let highest = (satellites > 0).then(|| Angle::from_radians(libm::asin(best.clamp(-1.0, 1.0))));
        CoverageCell { place, satellites, highest }
    };
    let places = middles(-90.0, 180).flat_map(|latitude| {
        middles(-180.0, 360).map(move |longitude| Geodetic::new(latitude, longitude, 0.0))
    });
    places.map(look).collect()
}

/// One row of a coverage by latitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatitudeBand {
    /// Geodetic latitude of the row.
    pub latitude: Angle,
    /// Covered time over the whole, averaged over the longitudes.
    pub share: f64,
    /// The longest gap at any of the longitudes.
    pub longest_gap: Duration,
}

/// Coverage from pole to pole: at `bands` latitudes and as many longitudes as make a square grid, each solved
/// as a site.
pub fn by_latitude(
    network: &ContactNetwork,
    min_elevation: Angle,
    span: Duration,
    bands: usize,
) -> Result<Vec<LatitudeBand>, NetworkError> {
    let mut probe = network.clone();
    probe.sites.clear();
    let bands = bands.max(2);
    let latitude = |band: usize| -90.0 + 180.0 * band as f64 / (bands - 1) as f64;
    let longitudes = |band: usize| {
        let circle = 2.0 * (bands - 1) as f64 * libm::cos(latitude(band).to_radians());
        (0..).map_while(move |k| {
            let share = f64::from(k) / libm::ceil(circle).max(1.0);
            (share < 1.0).then_some(share * 360.0 - 180.0)
        })
    };
    for band in 0..bands {
        for (index, longitude) in longitudes(band).enumerate() {
            probe.sites.push(Site {
                name: format!("latitude {} longitude {index}", latitude(band)),
                place: SitePosition::Fixed(Geodetic::new(latitude(band), longitude, 0.0)),
                antennas: vec![Antenna::new(min_elevation)],
                horizon: Horizon::default(),
                relay: Relay::None,
            });
        }
    }
    let planner = Planner::new(&probe, span)?;
    let mut rows = Vec::with_capacity(bands);
    let mut site = 0;
    for band in 0..bands {
        let (mut share, mut longest_gap, mut count) = (0.0, Duration::ZERO, 0);
        for _ in longitudes(band) {
            let coverage = match planner.passes(site) {
                Ok(passes) => of_intervals(&passes.union(), span),
                // A place that is never covered is a row of the answer here.
                Err(NetworkError::NeverSees { .. }) => of_intervals(&[], span),
                Err(error) => return Err(error),
            };
            share += coverage.share;
            count += 1;
            let gaps = coverage.gaps.iter().map(|(start, end)| *end - *start);
            longest_gap = gaps.fold(longest_gap, Duration::max);
            site += 1;
        }
        let latitude = Angle::from_degrees(latitude(band));
        rows.push(LatitudeBand { latitude, share: share / f64::from(count.max(1)), longest_gap });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_sees_nothing_is_covered_for_nothing_and_not_for_less() {
        let span = Duration::from_secs(600);
        let (start, end) = (Instant::START, Instant::START + span);
        let dark = of_intervals(&[], span);
        assert_eq!((dark.share.to_bits(), dark.gaps), (0.0_f64.to_bits(), vec![(start, end)]));
        let at = Instant::from_secs;
        let twice = of_intervals(&[(60.0, 120.0), (300.0, 600.0)], span);
        assert_eq!((twice.share, twice.gaps), (0.6, vec![(start, at(60)), (at(120), at(300))]));
        assert_eq!(twice.covered, [(at(60), at(120)), (at(300), end)]);
        let first = of_intervals(&[(0.0, 150.0)], span);
        assert_eq!((first.share, first.gaps), (0.25, vec![(at(150), end)]));
    }
}
