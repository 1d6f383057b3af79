//! A sky that is planned in pieces: while a run follows one plan, a longer one is worked out beside it.
//!
//! Each plan begins with the run and is twice as long as the one before, so that what is worked out in all is no more
//! than twice the last. A run follows a plan through its first half: what comes behind that may depend on what the plan
//! does not know, such as the end of a pass. That two plans agree so far is looked at, and not supposed.

use std::sync::{Arc, OnceLock};

use slantpath_base::{Duration, Instant};
use slantpath_orbit::contact::{ContactPlan, Planner};
use slantpath_sat::Sky;

use super::plan::SkyPlan;
use crate::checked::Checked;
use crate::watch::Watch;

/// Longer plan of a sky, with the links that its contacts are.
pub struct SkyPiece {
    pub(crate) contacts: ContactPlan,
    pub(crate) sky: Sky,
}

/// All plans of a run's sky, as far as they are worked out.
pub struct SkyPieces {
    first: Arc<SkyPlan>,
    /// Span of the whole, and end of the first piece.
    span: Duration,
    until: Duration,
    longer: Box<[OnceLock<Result<SkyPiece, String>>]>,
}

/// Number of times that a plan of minutes is doubled until it is one of thousands of years.
const DOUBLED_AT_MOST: usize = 32;
/// The second half of a plan is longer by this: pieces of a delay are that long, and twice as long each time.
const BEHIND_HALF: Duration = Duration::from_secs(60);

impl SkyPieces {
    /// The plans of a scenario whose sky is planned in pieces.
    pub fn of(scenario: &Checked) -> Option<Arc<Self>> {
        let first = Arc::clone(scenario.shared_sky_plan()?);
        let (span, until) = first.in_pieces()?;
        Some(Arc::new(Self {
            first,
            span,
            until,
            longer: (0..DOUBLED_AT_MOST).map(|_| OnceLock::new()).collect(),
        }))
    }

    fn end(&self, number: usize) -> Duration {
        let doubled = u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number));
        self.until.saturating_mul(doubled.unwrap_or(u64::MAX)).min(self.span)
    }

    /// Instant up to which a run may follow a plan. The first has the number 0.
    pub fn holds_until(&self, number: usize) -> Instant {
        let end = self.end(number);
        if end >= self.span {
            Instant::FAR_FUTURE
        } else {
            Instant::START + (end / 2).saturating_sub(BEHIND_HALF)
        }
    }

    /// Works a plan out behind the first, for a network in which the first was declared as `sky`. Those before it must
    /// be there.
    pub fn work_out(&self, number: usize, sky: &Sky) {
        let Some(place) = self.longer.get(number.wrapping_sub(1)) else { return };
        place.get_or_init(|| self.worked_out(number, sky));
    }

    fn worked_out(&self, number: usize, sky: &Sky) -> Result<SkyPiece, String> {
        let stop = Watch::new(&|_| {}).stop;
        let planner = Planner::part(&self.first.bodies, (self.span, self.end(number)), stop);
        let contacts =
            planner.and_then(|planner| planner.plan(&mut |_, _| {})).map_err(|error| error.to_string())?;
        let before = match number.checked_sub(1) {
            None | Some(0) => Some(&self.first.contacts),
            Some(before) => self.piece(before).and_then(Result::ok).map(|piece| &piece.contacts),
        };
        let until = self.holds_until(number - 1);
        match before {
            Some(before) if contacts.agrees_with(before, until) => {}
            _ => {
                let until = until.since_start();
                return Err(format!("a longer plan of the sky has other contacts before {until}"));
            }
        }
        let sky = sky.under(&contacts).map_err(|error| error.to_string())?;
        Ok(SkyPiece { contacts, sky })
    }

    /// A plan behind the first, if it is worked out.
    pub fn piece(&self, number: usize) -> Option<Result<&SkyPiece, &str>> {
        let worked_out = self.longer.get(number.wrapping_sub(1))?.get()?;
        Some(worked_out.as_ref().map_err(String::as_str))
    }
}
