//! A network: constellations, sites and outages under one clock, with every node numbered.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};

use crate::constellation::planes::semi_major_axis_m;
use crate::constellation::{Arrangement, Constellation, Contradiction, Payload, Satellite};
use crate::contact::ephemeris::{MOST_STATES, states_of};
use crate::earth::{EQUATORIAL_RADIUS, SPEED_OF_LIGHT, great_circle_m};
use crate::elements::{ElementSet, ElementSource, Stale, Validity};
use crate::orbit::{ALTITUDE_MAX, Orbit};
use crate::outage::{Outage, OutageError};
use crate::pair::{Cable, CableDelay, FIBRE_SPEED_RATIO, SitePair};
use crate::sgp4::PropagationError;
use crate::site::{Relay, Site};
use crate::utc::Utc;
use crate::vector::State;

/// A node of the network: satellites first, constellation by constellation, then the sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactNodeId(pub u32);

impl ContactNodeId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// From an index.
    ///
    /// # Panics
    /// Beyond four thousand million nodes.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("too many nodes"))
    }
}

/// Everything that contacts are worked out from.
#[derive(Clone, Debug)]
pub struct ContactNetwork {
    /// The date of [`Instant::START`].
    pub epoch: Utc,
    /// Constellations of the network.
    pub constellations: Vec<Constellation>,
    /// Sites on the ground.
    pub sites: Vec<Site>,
    /// Outages of nodes and links, and their times.
    pub outages: Vec<Outage>,
    /// The sites that are to be joined, in the order in which they choose satellites together.
    pub pairs: Vec<SitePair>,
    /// Cables between sites.
    pub cables: Vec<Cable>,
    /// Distance from their epoch at which element sets may be used.
    pub validity: Validity,
}

/// Why a network has no contact plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Request to stop, which came while its contacts were being worked out.
    #[error("it was stopped before its contacts were worked out")]
    Stopped,
    /// A constellation contradicts itself.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// Two nodes of one name.
    #[error("two nodes are called `{0}`: give each satellite and site its own name")]
    DuplicateName(String),
    /// An antenna points at a constellation that is not there.
    #[error(
        "antenna {antenna} of site `{site}` follows constellation `{constellation}`, which is not in the \
         network: it has {known}"
    )]
    NoConstellation {
        /// Name of the site.
        site: String,
        /// The antenna, from 1.
        antenna: usize,
        /// Constellation that the antenna asks for.
        constellation: String,
        /// Constellations of the network.
        known: String,
    },
    /// A site without an antenna or a cable.
    #[error("site `{0}` has no antenna: give it at least one, or a cable")]
    NoAntenna(String),
    /// A pair or a cable that names no site.
    #[error("a pair or a cable names `{0}`, which is no site of the network")]
    NoSite(String),
    /// A cable of which no end forwards, or with a length that nobody can know.
    #[error("the cable between `{}` and `{}` {why}", ends[0], ends[1])]
    Cable {
        /// Ends of the cable.
        ends: [String; 2],
        /// Fault of the cable, and its cure.
        why: &'static str,
    },
    /// A site that never sees a satellite.
    #[error(
        "site `{site}` never sees a satellite of {constellation} above {elevation_deg:.1} deg: the highest comes to \
         {best_deg:.1} deg; lower the minimum elevation or the mask, move the site, or choose another constellation"
    )]
    NeverSees {
        /// Name of the site.
        site: String,
        /// The constellation, or `any constellation`.
        constellation: String,
        /// Least elevation that was asked for.
        elevation_deg: f64,
        /// The highest elevation found, sampled every minute.
        best_deg: f64,
    },
    /// An outage of something that is not there.
    #[error(transparent)]
    Outage(#[from] OutageError),
    /// A satellite cannot be placed.
    #[error(transparent)]
    Propagation(#[from] PropagationError),
    /// An empty span.
    #[error("the span is empty: its end must be after its start")]
    EmptySpan,
    /// An element set leads farther out than routes reach.
    #[error(
        "{file}:{line}: {object}: it goes out to {altitude_km:.0} km, and routes are worked out up to \
         {limit_km:.0} km; leave the object out"
    )]
    TooHigh {
        /// Name of the file.
        file: String,
        /// Line of the set.
        line: usize,
        /// Name of the object.
        object: String,
        /// Height of its apogee over the equatorial radius.
        altitude_km: f64,
        /// Greatest height to which routes are worked out.
        limit_km: f64,
    },
    /// A span over which the ways of so many satellites do not fit into memory.
    #[error(
        "a span of {span} is too long for {satellites} satellites, whose ways take {states} states of at most \
         {limit}: make it shorter, or take fewer satellites"
    )]
    SpanTooLong {
        /// Length of the span.
        span: Duration,
        /// Number of satellites.
        satellites: usize,
        /// The states that their ways take.
        states: usize,
        /// Greatest number of states.
        limit: usize,
    },
    /// An element set is too old or too new for the span.
    #[error(transparent)]
    Stale(#[from] Stale),
}

/// Height over the equatorial radius to which an element set leads, metres, if that is farther than routes reach.
pub fn apogee_beyond_routes(set: &ElementSet) -> Option<f64> {
    let apogee = semi_major_axis_m(set) * (1.0 + set.eccentricity) - EQUATORIAL_RADIUS;
    Some(apogee).filter(|&apogee| apogee > ALTITUDE_MAX)
}

impl ContactNetwork {
    /// The longest time in which a satellite goes around the Earth, about; those that stand still do not count.
    pub fn longest_period(&self) -> Duration {
        let moving = self.satellites().filter(|satellite| !matches!(satellite.orbit, Orbit::Slot(_)));
        let slowest =
            moving.map(|satellite| satellite.orbit.bounds().angular_rate_max).min_by(f64::total_cmp);
        slowest.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(core::f64::consts::TAU / rate))
    }

    /// A network without sites or outages.
    pub fn new(epoch: Utc, constellations: Vec<Constellation>) -> Self {
        Self {
            epoch,
            constellations,
            sites: Vec::new(),
            outages: Vec::new(),
            pairs: Vec::new(),
            cables: Vec::new(),
            validity: Validity::default(),
        }
    }

    /// Network with a later start: its outages and journeys, and the times at which antennas choose, stay at the dates
    /// at which they are.
    #[must_use]
    pub fn starting_after(&self, time: Duration) -> Self {
        let mut later = self.clone();
        later.epoch = self.epoch.at(Instant::START + time);
        later.outages = self.outages.iter().filter_map(|outage| outage.after(time)).collect();
        for site in &mut later.sites {
            site.place = site.place.after(time);
            for antenna in &mut site.antennas {
                antenna.policy.reselect = antenna.policy.reselect.after(time);
            }
        }
        later
    }

    /// The number of satellites.
    pub fn satellite_count(&self) -> usize {
        self.constellations.iter().map(|constellation| constellation.satellites.len()).sum()
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.satellite_count() + self.sites.len()
    }

    /// All satellites in order of their nodes.
    pub fn satellites(&self) -> impl Iterator<Item = &Satellite> {
        self.constellations.iter().flat_map(|constellation| &constellation.satellites)
    }

    /// The node of a site.
    pub fn site_node(&self, site: usize) -> ContactNodeId {
        ContactNodeId::new(self.satellite_count() + site)
    }

    /// The first node of a constellation.
    pub fn first_node(&self, constellation: usize) -> usize {
        self.constellations[..constellation].iter().map(|before| before.satellites.len()).sum()
    }

    /// The names of all nodes, by node.
    pub fn names(&self) -> Vec<String> {
        let satellites = self.satellites().map(|satellite| satellite.name.clone());
        satellites.chain(self.sites.iter().map(|site| site.name.clone())).collect()
    }

    /// The payload of each satellite, by node.
    pub fn payloads(&self) -> Vec<Payload> {
        let of = |constellation: &Constellation| vec![constellation.payload; constellation.satellites.len()];
        self.constellations.iter().flat_map(of).collect()
    }

    /// Satellite that comes behind each in its plane, by node: where the plane is a ring of at least two.
    pub(crate) fn followers(&self) -> Vec<Option<u32>> {
        let mut followers = vec![None; self.satellite_count()];
        for (index, constellation) in self.constellations.iter().enumerate() {
            let first = self.first_node(index);
            let planes =
                if constellation.arrangement == Arrangement::Loose { 0 } else { constellation.plane_count() };
            for plane in (0..planes).map(|plane| constellation.plane(plane)).filter(|plane| plane.len() > 1) {
                for (place, &member) in plane.iter().enumerate() {
                    let behind = plane[(place + plane.len() - 1) % plane.len()];
                    followers[first + member] = Some(ContactNodeId::new(first + behind).0);
                }
            }
        }
        followers
    }

    /// Of each satellite, by node, whether it is of the constellation of a name.
    pub fn is_of(&self, name: &str) -> Vec<bool> {
        let of =
            |constellation: &Constellation| vec![constellation.name == name; constellation.satellites.len()];
        self.constellations.iter().flat_map(of).collect()
    }

    /// Number of antennas on the ground that each satellite serves at once, by node.
    pub(crate) fn beams(&self) -> Vec<u32> {
        let of = |constellation: &Constellation| {
            vec![constellation.beams.unwrap_or(u32::MAX); constellation.satellites.len()]
        };
        self.constellations.iter().flat_map(of).collect()
    }

    /// Nodes by name; an error if two share one.
    pub fn nodes_by_name(&self) -> Result<BTreeMap<String, ContactNodeId>, NetworkError> {
        let mut nodes = BTreeMap::new();
        for (index, name) in self.names().into_iter().enumerate() {
            if nodes.insert(name.clone(), ContactNodeId::new(index)).is_some() {
                return Err(NetworkError::DuplicateName(name));
            }
        }
        Ok(nodes)
    }

    /// The state of every satellite in the fixed frame at a date, by node: one pass over all, with the
    /// sidereal time taken once.
    pub fn fixed_states(&self, date: Utc, states: &mut Vec<State>) -> Result<(), PropagationError> {
        states.clear();
        states.reserve(self.satellite_count());
        let sidereal = libm::sincos(date.sidereal_time());
        for satellite in self.satellites() {
            match satellite.orbit.fixed_at(date, sidereal) {
                Ok(state) => states.push(state),
                Err(fault) => {
                    let none = ElementSource::default();
                    let (name, source) = satellite.orbit.source().unwrap_or((&satellite.name, &none));
                    return Err(fault.of(name, source));
                }
            }
        }
        Ok(())
    }

    /// The site of a name, by index.
    pub fn site_index(&self, name: &str) -> Option<usize> {
        self.sites.iter().position(|site| site.name == name)
    }

    /// Distance that light in the void travels while it crosses a cable, metres.
    pub fn cable_metres(&self, cable: &Cable) -> f64 {
        let great_circle = || {
            let place = |name: &String| self.site_index(name).and_then(|site| self.sites[site].place.fixed());
            let [a, b] = cable.ends.each_ref().map(place);
            a.zip(b).map_or(0.0, |(a, b)| great_circle_m(a, b) / FIBRE_SPEED_RATIO)
        };
        match cable.delay {
            CableDelay::Fixed(time) => time.as_secs_f64() * SPEED_OF_LIGHT,
            CableDelay::GreatCircle => great_circle(),
        }
    }

    fn check_joins(&self) -> Result<(), NetworkError> {
        let site = |name: &String| self.site_index(name).ok_or_else(|| NetworkError::NoSite(name.clone()));
        for pair in &self.pairs {
            site(&pair.from)?;
            site(&pair.to)?;
        }
        for cable in &self.cables {
            let [a, b] = [site(&cable.ends[0])?, site(&cable.ends[1])?].map(|site| &self.sites[site]);
            let fail = |why| Err(NetworkError::Cable { ends: cable.ends.clone(), why });
            if a.name == b.name {
                return fail("leads nowhere: name two sites");
            }
            if a.relay != Relay::Gateway && b.relay != Relay::Gateway {
                return fail("has no gateway at either end: let one forward for others");
            }
            if cable.delay == CableDelay::GreatCircle
                && (a.place.fixed().is_none() || b.place.fixed().is_none())
            {
                return fail("has an end that travels, so that its length is unknown: give its delay");
            }
        }
        Ok(())
    }

    /// Checks all that can be known before any contact is solved, and returns what deserves a warning.
    pub fn check(&self, span: Duration) -> Result<Vec<Stale>, NetworkError> {
        if span.is_zero() {
            return Err(NetworkError::EmptySpan);
        }
        let (states, limit) = (states_of(self, span), MOST_STATES);
        if states > limit {
            return Err(NetworkError::SpanTooLong {
                span,
                satellites: self.satellite_count(),
                states,
                limit,
            });
        }
        self.nodes_by_name()?;
        for constellation in &self.constellations {
            constellation.check()?;
        }
        for site in &self.sites {
            let has_cable = self.cables.iter().any(|cable| cable.ends.contains(&site.name));
            if site.antennas.is_empty() && !has_cable {
                return Err(NetworkError::NoAntenna(site.name.clone()));
            }
            for (index, antenna) in site.antennas.iter().enumerate() {
                let Some(wanted) = &antenna.constellation else { continue };
                if !self.constellations.iter().any(|constellation| constellation.name == *wanted) {
                    let known: Vec<&str> =
                        self.constellations.iter().map(|known| known.name.as_str()).collect();
                    return Err(NetworkError::NoConstellation {
                        site: site.name.clone(),
                        antenna: index + 1,
                        constellation: wanted.clone(),
                        known: known.join(", "),
                    });
                }
            }
        }
        self.check_joins()?;
        let (from, to) = (self.epoch, self.epoch.at(Instant::START + span));
        let mut warnings = Vec::new();
        for satellite in self.satellites() {
            if let Orbit::ElementSet(set, _) = &satellite.orbit {
                if let Some(apogee) = apogee_beyond_routes(set) {
                    return Err(NetworkError::TooHigh {
                        file: set.source.file.clone(),
                        line: set.source.line,
                        object: set.name.clone(),
                        altitude_km: apogee / 1e3,
                        limit_km: ALTITUDE_MAX / 1e3,
                    });
                }
                warnings.extend(self.validity.check(set, from, to)?);
            }
        }
        Ok(warnings)
    }
}
