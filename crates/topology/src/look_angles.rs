//! Look angles: where a satellite stands in a site's sky.

use slantpath_base::{Duration, Instant};
use slantpath_results::{Table, TypedColumn};

use super::Topology;

/// Why there are no look angles.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LookAngleError {
    /// An instant that no run has.
    #[error("{0} s is no time after the start: give seconds from 0 to the end of the span")]
    NoInstant(f64),
    /// A name that no satellite has.
    #[error("there is no satellite `{0}`")]
    NoSatellite(String),
    /// A name that no site has.
    #[error("there is no site `{0}`")]
    NoSite(String),
    /// The satellite cannot be placed.
    #[error("{satellite}: {fault}")]
    Propagation {
        /// Name of the satellite.
        satellite: String,
        /// Reason for which it cannot be placed.
        fault: slantpath_orbit::sgp4::PropagationFault,
    },
}

impl Topology {
    /// Azimuth (from north through east), geometric elevation and range of a satellite at times in seconds
    /// after the start, as the table `look_angles`. Below the horizon the elevation is negative.
    pub fn look_angles(&self, site: &str, satellite: &str, seconds: &[f64]) -> Result<Table, LookAngleError> {
        let network = self.network();
        let place = network.sites.iter().find(|known| known.name == site);
        let place = &place.ok_or_else(|| LookAngleError::NoSite(site.to_owned()))?.place;
        let found = network.satellites().find(|known| known.name == satellite);
        let found = found.ok_or_else(|| LookAngleError::NoSatellite(satellite.to_owned()))?;
        let [mut at, mut azimuth, mut elevation, mut range] =
            ["at_s", "azimuth_deg", "elevation_deg", "range_km"].map(TypedColumn::<f64>::new);
        for &second in seconds {
            if !(0.0..=self.topology.span.as_secs_f64()).contains(&second) {
                return Err(LookAngleError::NoInstant(second));
            }
            let now = Instant::START + Duration::from_secs_f64(second);
            let state = found
                .orbit
                .fixed(network.epoch.at(now))
                .map_err(|fault| LookAngleError::Propagation { satellite: satellite.to_owned(), fault })?;
            let look = place.at(now).look(state.position);
            at.push(second);
            azimuth.push(look.azimuth.to_degrees());
            elevation.push(look.elevation.to_degrees());
            range.push(look.range_m / 1e3);
        }
        let columns = [at, azimuth, elevation, range].map(Into::into);
        Ok(Table::new("look_angles", columns).expect("four columns of one length and four names"))
    }
}
