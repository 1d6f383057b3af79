//! `access`, `sky_limits`, `sky_tracks`, `coverage_map` and `map_journeys`: what people point antennas by, and what sky
//! plots and maps of coverage are drawn from.

use std::collections::BTreeSet;

use slantpath_base::{Angle, Duration, Instant};
use slantpath_orbit::constellation::Satellite;
use slantpath_orbit::contact::{Pass, SitePasses};
use slantpath_orbit::earth::SPEED_OF_LIGHT;
use slantpath_orbit::site::{Look, SitePosition};
use slantpath_orbit::{Geodetic, Site, coverage};
use slantpath_results::{Table, TableError};

use super::Answer;
use super::declared;
use super::rows::Rows;

/// The table `access` is left out where it would have more rows, unless it is asked for.
const ACCESS_ROWS: usize = 200_000;
/// A way over the sky is drawn with points this far apart.
const SKY_STEP: Duration = Duration::from_secs(20);
/// A journey is drawn with this many points.
const JOURNEY_POINTS: u64 = 500;
/// The coverage map has a cell every so many degrees.
const CELL_DEG: u32 = 5;

/// Position of a satellite over a site, and the rate at which its distance grows, m/s.
fn sight(site: &Site, satellite: &Satellite, answer: &Answer<'_>, now: Instant) -> Option<(Look, f64)> {
    let state = satellite.orbit.fixed(answer.topology.network().epoch.at(now)).ok()?;
    let stance = site.place.at(now);
    let (line, motion) = (state.position - stance.position, state.velocity - stance.velocity);
    Some((stance.look(state.position), line.dot(motion) / line.norm()))
}

fn instant(seconds: f64) -> Instant {
    Instant::START + Duration::from_secs_f64(seconds)
}

impl Answer<'_> {
    fn satellites(&self) -> Vec<&Satellite> {
        self.topology.network().satellites().collect()
    }

    /// `access`: each pass of a satellite over a site as antennas are pointed by it. The shift by Doppler is a share of
    /// the carrier, positive while the satellite comes nearer.
    pub(super) fn access(&self) -> Result<Option<Table>, TableError> {
        let count: usize = self.passes.iter().flat_map(SitePasses::skies).map(|(_, sky)| sky.len()).sum();
        let wanted = self.topology.topology.access.as_deref().copied();
        if !wanted.unwrap_or(count <= ACCESS_ROWS) {
            return Ok(None);
        }
        let mut rows = Rows::of(&declared::ACCESS);
        let (network, satellites) = (self.topology.network(), self.satellites());
        for (index, (site, passes)) in network.sites.iter().zip(self.passes).enumerate() {
            for (antenna, pass) in
                passes.skies().flat_map(|(antenna, sky)| sky.iter().map(move |pass| (antenna, pass)))
            {
                let satellite = satellites[pass.satellite as usize];
                let seconds =
                    [pass.start_seconds(), self.planner.culmination(index, pass).0, pass.end_seconds()];
                let dates = seconds.map(|at| network.epoch.at(instant(at)).to_string());
                let sights = seconds.map(|at| sight(site, satellite, self, instant(at)));
                let [rise, highest, set] = sights.map(|sight| {
                    let look = sight.map(|(look, _)| look);
                    [
                        look.map(|look| look.azimuth.to_degrees()).into(),
                        look.map(|look| look.elevation.to_degrees()).into(),
                        look.map(|look| look.range_m / 1e3).into(),
                        sight.map(|(_, range_rate)| -range_rate / SPEED_OF_LIGHT).into(),
                    ]
                });
                rows.push([
                    site.name.as_str().into(),
                    (antenna + 1).into(),
                    satellite.name.as_str().into(),
                    dates[0].as_str().into(),
                    dates[1].as_str().into(),
                    dates[2].as_str().into(),
                    seconds[0].into(),
                    seconds[1].into(),
                    seconds[2].into(),
                    (seconds[2] - seconds[0]).into(),
                    rise[0],
                    rise[1],
                    rise[2],
                    rise[3],
                    highest[0],
                    highest[1],
                    highest[2],
                    highest[3],
                    set[0],
                    set[1],
                    set[2],
                    set[3],
                ]);
            }
        }
        rows.finish().map(Some)
    }

    /// `sky_limits`: what the antennas of each site do not see: the corners of the site's mask, and the lowest
    /// elevation of those that follow a constellation, or any.
    pub(super) fn sky_limits(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::SKY_LIMITS);
        for site in &self.topology.network().sites {
            let mut told = BTreeSet::new();
            for antenna in &site.antennas {
                let constellation = antenna.constellation.as_deref();
                let least = antenna.min_elevation.as_degrees();
                if !told.insert((constellation, least.to_bits())) {
                    continue;
                }
                let mut push = |corner: Option<(f64, f64)>| {
                    rows.push([
                        site.name.as_str().into(),
                        constellation.into(),
                        least.into(),
                        corner.map(|(azimuth, _)| azimuth.to_degrees()).into(),
                        corner.map(|(_, elevation)| elevation.to_degrees()).into(),
                    ]);
                };
                let corners = site.horizon.corners();
                if corners.is_empty() {
                    push(None);
                }
                for &corner in corners {
                    push(Some(corner));
                }
            }
        }
        rows.finish()
    }

    /// `sky_tracks`: the ways over the sky of each site of the satellites that are in sight at the instant of the map.
    pub(super) fn sky_tracks(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::SKY_TRACKS);
        let (network, satellites) = (self.topology.network(), self.satellites());
        let instant_of_map = self.map_instant();
        let now = instant_of_map.since_start().as_secs_f64();
        for (site, passes) in network.sites.iter().zip(self.passes) {
            // Antennas that see another part of the sky see some of the passes again.
            let Some((_, sky)) = passes.skies().max_by_key(|(_, sky)| sky.len()) else { continue };
            let in_sight = |pass: &&Pass| pass.start_seconds() <= now && now < pass.end_seconds();
            for (number, pass) in sky.iter().filter(in_sight).enumerate() {
                let satellite = satellites[pass.satellite as usize];
                let mut push = |at: Instant| {
                    let look = sight(site, satellite, self, at).map(|(look, _)| look);
                    rows.push([
                        site.name.as_str().into(),
                        satellite.name.as_str().into(),
                        number.into(),
                        at.into(),
                        (at == instant_of_map).into(),
                        look.map(|look| look.azimuth.to_degrees()).into(),
                        look.map(|look| look.elevation.to_degrees()).into(),
                        look.map(|look| look.range_m / 1e3).into(),
                    ]);
                };
                // What never sets is drawn around the instant, like ground tracks.
                let reach = self.topology.map.tracks.as_secs_f64();
                let (first, last) =
                    (pass.start_seconds().max(now - reach), pass.end_seconds().min(now + reach));
                let mut times = vec![instant_of_map, instant(last)];
                let mut at = instant(first);
                while at < instant(last) {
                    times.push(at);
                    at += SKY_STEP;
                }
                times.sort_unstable();
                times.dedup();
                times.into_iter().for_each(&mut push);
            }
        }
        rows.finish()
    }

    /// `coverage_map`: how many satellites stand above their minimum elevation over each cell of the Earth at the
    /// instant of the map, and how high the highest does.
    pub(super) fn coverage_map(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::COVERAGE_MAP);
        let network = self.topology.network();
        let date = network.epoch.at(self.map_instant());
        for cell in coverage::cells(network, date, &|name| self.least_elevation(name), CELL_DEG) {
            rows.push([
                cell.place.latitude.as_degrees().into(),
                cell.place.longitude.as_degrees().into(),
                cell.satellites.into(),
                cell.highest.map(Angle::as_degrees).into(),
            ]);
        }
        rows.finish()
    }

    /// The lowest elevation at which any antenna uses a constellation; that of `[ground]` or of the preset where no
    /// antenna does.
    fn least_elevation(&self, constellation: &str) -> Option<Angle> {
        let antennas = self.topology.network().sites.iter().flat_map(|site| &site.antennas);
        let following = antennas
            .filter(|antenna| antenna.constellation.as_deref().is_none_or(|name| name == constellation));
        let lowest = following
            .map(|antenna| antenna.min_elevation)
            .min_by(|a, b| a.as_radians().total_cmp(&b.as_radians()));
        let shared = || self.topology.ground.min_elevation.as_deref().copied();
        let preset = || {
            let found = self.topology.constellations.iter().find(|(name, _)| *name == constellation);
            found.and_then(|(_, table)| crate::constellation::check::preset_elevation(table))
        };
        lowest.or_else(shared).or_else(preset)
    }

    /// `map_journeys`: the ways of the sites that travel, over the whole span.
    pub(super) fn map_journeys(&self) -> Result<Table, TableError> {
        let mut rows = Rows::of(&declared::MAP_JOURNEYS);
        let end = Instant::START + self.plan.span();
        let step = Duration::from_nanos(self.plan.span().as_nanos().div_ceil(JOURNEY_POINTS).max(1));
        for site in &self.topology.network().sites {
            let SitePosition::Track(_) = &site.place else { continue };
            // Its corners, too, so that no short cut is drawn.
            let mut times: Vec<Instant> = site.place.corners().into_iter().filter(|at| *at < end).collect();
            times.extend(
                (0..JOURNEY_POINTS).map(|count| Instant::START + step * count).filter(|at| *at < end),
            );
            times.push(end);
            times.sort_unstable();
            times.dedup();
            for at in times {
                let place = Geodetic::from_fixed(site.place.at(at).position);
                rows.push([
                    site.name.as_str().into(),
                    at.into(),
                    place.latitude.as_degrees().into(),
                    place.longitude.as_degrees().into(),
                    (place.height_m / 1e3).into(),
                ]);
            }
        }
        rows.finish()
    }
}
