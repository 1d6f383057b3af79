//! The contact plan of a run: worked out when a scenario is read, and shared by all its runs.

use slantpath_base::Duration;
use slantpath_orbit::contact::{ContactPlan, Planner};
use slantpath_orbit::elements::Stale;
use slantpath_orbit::pair::SitePair;
use slantpath_orbit::{ContactNetwork, ContactNodeId, NetworkError};

use slantpath_workers::Progress;

use crate::watch::{SkyInPieces, Watch};

/// The contacts of a sky over a run, and what they are of.
#[derive(Clone, Debug)]
pub struct SkyPlan {
    /// The bodies from the start of the run on.
    pub bodies: ContactNetwork,
    /// Passes, and contacts between satellites.
    pub contacts: ContactPlan,
    /// Element sets that are used further from their epoch than is wise.
    pub stale: Vec<Stale>,
    /// Pairs of satellites that may have a link, if this is only the first piece of a plan.
    pub(crate) neighbours: Option<Vec<(ContactNodeId, ContactNodeId)>>,
    /// Basis on which the plan depends.
    of: Basis,
}

/// Basis on which a contact plan depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    /// The hash of the topology.
    pub(crate) topology: String,
    /// Time after the topology's epoch at which the run starts.
    pub(crate) start: Duration,
    /// Length of the run.
    pub(crate) duration: Duration,
    /// The sites that flows need joined, besides those of the topology's own paths.
    pub(crate) pairs: Vec<SitePair>,
    /// Pieces in which it is planned, if it is not planned at once.
    pub(crate) pieces: Option<SkyInPieces>,
}

impl Basis {
    /// Span of the whole plan, and end of what of it is worked out before the run.
    fn span(&self, bodies: &ContactNetwork) -> (Duration, Duration) {
        let own = self.duration.saturating_add(SkyPlan::BEYOND);
        let Some(pieces) = self.pieces else { return (own, own) };
        let span = own.max(pieces.whole);
        // Plans are followed through their first half: the other has the end of each pass that begins in it.
        let as_orbits_ask = || bodies.longest_period().clamp(FIRST_PIECE.0, FIRST_PIECE.1);
        (span, pieces.first.unwrap_or_else(as_orbits_ask).min(span))
    }
}

/// Shortest and longest first piece of a plan.
const FIRST_PIECE: (Duration, Duration) = (Duration::from_secs(40 * 60), Duration::from_secs(12 * 3_600));

impl SkyPlan {
    /// The plan goes on for so long after the run, so that nothing ends with it.
    pub(crate) const BEYOND: Duration = Duration::from_secs(1);

    /// Works contacts out.
    pub(crate) fn new(bodies: &ContactNetwork, of: Basis, watch: Watch<'_>) -> Result<Self, NetworkError> {
        let mut bodies = bodies.starting_after(of.start);
        for pair in &of.pairs {
            if !bodies.pairs.contains(pair) {
                bodies.pairs.push(pair.clone());
            }
        }
        // Orbits are worked out before the first site.
        let progress = watch.progress;
        progress(Progress { done: 0, all: bodies.sites.len(), share: 0.0 });
        let planner = Planner::part(&bodies, of.span(&bodies), watch.stop)?;
        let contacts = planner
            .plan(&mut |done, all| progress(Progress { done, all, share: done as f64 / all as f64 }))?;
        let stale = planner.warnings().to_vec();
        let neighbours = of.pieces.map(|_| planner.neighbours());
        drop(planner);
        Ok(Self { bodies, contacts, stale, neighbours, of })
    }

    /// Span of the whole plan, and end of what is worked out, if this is only the first piece.
    pub(crate) fn in_pieces(&self) -> Option<(Duration, Duration)> {
        self.of.pieces.map(|_| self.of.span(&self.bodies))
    }

    /// The contacts of the same run if nothing were out of service.
    pub fn without_outages(&self, watch: Watch<'_>) -> Option<ContactPlan> {
        let bodies = ContactNetwork { outages: Vec::new(), ..self.bodies.clone() };
        let planner = Planner::part(&bodies, self.of.span(&bodies), watch.stop).ok()?;
        let progress = watch.progress;
        planner.plan(&mut |done, all| progress(Progress { done, all, share: done as f64 / all as f64 })).ok()
    }

    /// Tells whether it is the plan of this basis.
    pub(crate) fn is_of(&self, of: &Basis) -> bool {
        self.of == *of
    }

    /// The constellation of a satellite.
    pub fn constellation_of(&self, satellite: usize) -> &str {
        let mut first = 0;
        for constellation in &self.bodies.constellations {
            first += constellation.satellites.len();
            if satellite < first {
                return &constellation.name;
            }
        }
        ""
    }
}
