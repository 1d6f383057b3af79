//! The sky of a run on its way: longer plans are followed once they are worked out, and handovers are told.

use std::sync::Arc;

use slantpath_base::{Duration, Instant};
use slantpath_net::LinkEnd as _;
use slantpath_sat::{AntennaHandover, Sky};
use slantpath_scenario::SkyPieces;
use slantpath_scenario::build::RunNetwork;

use super::attached::{Attachment, SkyHandover, Work};
use crate::scenario::Scenario;

/// Time before a plan holds no longer from which on the next is taken.
const LEAD: Duration = Duration::from_secs(10);

/// Plans that a run follows one after the other, and the names in them.
pub(super) struct SkyCourse<'p> {
    scenario: &'p Scenario,
    sky: Option<&'p Arc<Sky>>,
    pieces: Option<&'p Arc<SkyPieces>>,
    /// Number of the plan that is followed, and of the last that somebody was asked to work out.
    followed: usize,
    ordered: usize,
    /// True once the next plan has not been there in time.
    is_lost: bool,
    /// By antenna: true if it is one of those whose handovers are looked forward to.
    is_meant: Vec<bool>,
}

impl<'p> SkyCourse<'p> {
    pub(super) fn new(
        scenario: &'p Scenario,
        sky: Option<&'p Arc<Sky>>,
        pieces: Option<&'p Arc<SkyPieces>>,
    ) -> Self {
        Self { scenario, sky, pieces, followed: 0, ordered: 0, is_lost: false, is_meant: Vec::new() }
    }

    /// Looks forward to the handovers of attached nodes' antennas; to all, if they have none.
    pub(super) fn watch(&mut self, attachments: &[Attachment], network: &mut RunNetwork<'p>) {
        network.source_mut().inner_mut().tell_handovers();
        let Some(sky) = self.sky else { return };
        let own = attachments.iter().flat_map(|node| &node.interfaces);
        let own: Vec<_> = own.map(|interface| interface.id.link()).collect();
        self.is_meant = sky.antennas().iter().map(|antenna| own.contains(&antenna.links[0])).collect();
        if !self.is_meant.contains(&true) {
            self.is_meant.fill(true);
        }
    }

    /// Sees to it that the network follows a plan that holds up to an instant: it takes what is worked out, and has
    /// what comes behind that worked out beside it. Tells, once, why there is none.
    pub(super) fn prepare(
        &mut self,
        network: &mut RunNetwork<'p>,
        until: Instant,
        beside: &mut dyn FnMut(Work),
    ) -> Option<String> {
        let (Some(sky), Some(pieces)) = (self.sky, self.pieces) else { return None };
        loop {
            let holds_until = pieces.holds_until(self.followed);
            if self.is_lost || holds_until == Instant::FAR_FUTURE {
                return None;
            }
            let next = self.followed + 1;
            if self.ordered < next {
                self.ordered = next;
                let (pieces, sky) = (Arc::clone(pieces), Arc::clone(sky));
                beside(Box::new(move || pieces.work_out(next, &sky)));
            }
            if until.saturating_add(LEAD) < holds_until {
                return None;
            }
            let why = match pieces.piece(next) {
                Some(Ok(piece)) => {
                    network.tell_source(|source, links| source.inner_mut().go_on_over(piece, links));
                    self.followed = next;
                    continue;
                }
                Some(Err(reason)) => reason.to_owned(),
                None => format!("the sky was not worked out in time beyond {}", holds_until.since_start()),
            };
            if until <= holds_until {
                return None;
            }
            self.is_lost = true;
            return Some(why);
        }
    }

    /// Takes the handovers that have happened since the last time.
    pub(super) fn take_handovers(&self, network: &mut RunNetwork<'p>) -> Vec<SkyHandover> {
        let told = network.source_mut().inner_mut().take_told_handovers();
        told.iter().filter_map(|handover| self.named(handover)).collect()
    }

    fn named(&self, handover: &AntennaHandover) -> Option<SkyHandover> {
        let names = self.scenario.sky_plan()?.contacts.names();
        let name = |body: slantpath_orbit::ContactNodeId| names[body.index()].clone();
        Some(SkyHandover {
            at: handover.at,
            antenna: self.sky?.antennas()[handover.antenna].name.clone(),
            from: handover.from.map(name),
            to: handover.to.map(name),
            cause: handover.cause.as_str(),
        })
    }

    /// Instant at which an antenna gains or loses a satellite next, and its name.
    pub(super) fn next_handover(&self, network: &mut RunNetwork<'p>) -> Option<(Instant, String)> {
        let source = network.source_mut().inner_mut();
        let (at, antenna) = source.next_handover(&|antenna| self.is_meant.get(antenna) == Some(&true))?;
        Some((at, self.sky?.antennas()[antenna].name.clone()))
    }
}
