//! `[sites.<name>]` and `[ground]`: places, antennas, and how they choose their satellites.

use slantpath_base::{Angle, Duration, Length};
use slantpath_orbit::ground::Criterion;
use slantpath_orbit::site::Relay;
use slantpath_reader::{Counted, Flat, Later, Pair, Setting, choice, policy, section};

use crate::bounds::{ANGLE, HANDOVER, LENGTH};

section! {
    /// A place with antennas: fixed, or on a journey.
    pub struct SiteTable<S> {
        /// Geodetic latitude (WGS-84), north positive.
        latitude: Option<Setting<Angle>>, at most ANGLE;
        /// Longitude, east positive.
        longitude: Option<Setting<Angle>>, at most ANGLE;
        /// Height above the ellipsoid. 0 m if absent.
        altitude: Option<Setting<Length>>, at most LENGTH;
        /// A journey, in place of latitude, longitude and altitude: a file, relative to the topology, of lines
        /// of `time, latitude, longitude, height` such as `90 s, 51.5, -0.1, 10000`.
        track: Option<Setting<String>>;
        /// BLAKE3 of the track file, written by `--show`. If it is given, the file must still have it.
        track_digest: Option<Setting<String>>;
        /// Horizon that the surroundings hide: pairs of azimuth (from north through east, rising) and elevation.
        /// Between the given azimuths it runs straight.
        horizon: Setting<Vec<Pair<Angle>>> = Vec::new(), at most ANGLE;
        /// Role of the site in paths between other sites, which may pass through a gateway.
        relay: Setting<RelayName> = RelayName::of(Relay::None);
        /// Antennas of the site, or the number of equal ones; each holds one satellite at a time. One for any
        /// constellation if absent, and none where a cable ends that is no gateway.
        antennas: Counted<AntennaTable<S>>;
    }
}

section! {
    /// One antenna. What it leaves out is as `[ground]` says.
    pub struct AntennaTable<S> {
        /// The constellation that it follows, or `any`.
        constellation: Setting<String> = "any".to_owned();
        /// Rules by which it chooses its satellite.
        ground: Flat<GroundTable<S>>;
    }
}

section! {
    /// Rules by which an antenna chooses its satellite and changes it.
    pub struct GroundTable<S> {
        /// Satellites below this elevation are not used. The preset's if absent.
        min_elevation: Later<S, Setting<Angle>>, at most ANGLE;
        /// Criterion by which one of the visible satellites is best. `nearest` if absent.
        criterion: Later<S, Setting<MeasuredBy>>;
        /// Times at which the choice is made. `on-loss` if absent.
        reselect: Later<S, Setting<ReselectWhen>>;
        /// Time between choices on a grid, or periodic ones.
        grid_period: Option<Setting<Duration>>, at most HANDOVER;
        /// The first choice on a grid, or the first periodic one. 0 s if absent.
        grid_offset: Option<Setting<Duration>>, at most HANDOVER;
        /// Transition from the old satellite to the new one. `break-before-make` if absent.
        handover: Later<S, Setting<HandoverKind>>;
        /// The pause of break-before-make, or the overlap of make-before-break. 0 s if absent.
        handover_time: Later<S, Setting<Duration>>, at most HANDOVER;
    }
}

policy! {
    /// Criterion by which one of the visible satellites is best. Equals are decided for the first by name.
    pub struct MeasuredBy of Criterion {
        /// The highest above the horizon.
        Highest = "highest",
        /// The one that serves the fewest antennas; among equals the highest.
        LeastLoaded = "least-loaded",
        /// The one that stays visible longest.
        LongestRemaining = "longest-remaining",
        /// The shortest distance.
        Nearest = "nearest",
    }
}

choice! {
    /// Times at which a satellite is chosen.
    pub enum ReselectWhen {
        /// As soon as another is better.
        Always = "always",
        /// At fixed times only, `grid_period` apart. Starlink reconfigures every 15 s.
        Grid = "grid",
        /// As ns-2 does: at times `grid_period` apart. A satellite is kept until one of them finds that it has set;
        /// then the one behind it in its plane is taken if it is in sight, otherwise the best, which is the
        /// `highest` in ns-2.
        Periodic = "periodic",
        /// Instant at which the last one sets.
        OnLoss = "on-loss",
    }
}

choice! {
    /// Transition from the old satellite to the new one.
    pub enum HandoverKind {
        /// The old link ends, and the new one carries traffic after `handover_time`.
        BreakBeforeMake = "break-before-make",
        /// Both links stand for `handover_time`, as far as both satellites are visible.
        MakeBeforeBreak = "make-before-break",
    }
}

policy! {
    /// Role of a site in paths between other sites.
    pub struct RelayName of Relay {
        /// The site takes a path down and up again.
        Gateway = "gateway",
        /// Paths only begin and end here.
        None = "none",
    }
}
