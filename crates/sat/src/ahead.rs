//! The time ahead of a source: a longer plan to follow, and the handovers that come next.

use slantpath_base::Instant;
use slantpath_net::Links;
use slantpath_orbit::contact::ContactPlan;

use crate::handover::AntennaHandover;
use crate::sky::{ContactLink, Sky};
use crate::source::SkySource;

impl<'p> SkySource<'p> {
    /// Follows a longer plan from now on, which [agrees](ContactPlan::agrees_with) with the present one up to now. The
    /// sky is [that one](Sky::under) under it.
    pub fn go_on_over(&mut self, plan: &'p ContactPlan, sky: &'p Sky, links: &mut Links<'_>) {
        (self.plan, self.sky) = (plan, sky);
        self.router.go_on_over(plan, &|contact| sky.carries(contact));
        for (antenna, held) in self.held.iter().enumerate() {
            for &id in held {
                if let ContactLink::Ground { link, .. } = sky.contacts[id.index()] {
                    links.go_on_with_contact(link.reverse(), self.delay(id));
                }
            }
            if let Some(&last) = held.last() {
                links.go_on_with_contact(self.uplink(antenna), self.delay(last));
            }
        }
        let mut joined: Vec<_> = self.joined.iter().map(|(&link, &id)| (link, id)).collect();
        joined.sort_unstable();
        for (link, id) in joined {
            for direction in [link.forward(), link.reverse()] {
                links.go_on_with_contact(direction, self.delay(id));
            }
        }
    }

    /// Keeps handovers for whoever wants to be told of them soon.
    pub fn tell_handovers(&mut self) {
        self.told.get_or_insert_default();
    }

    /// Takes those that are to be told.
    pub fn take_told_handovers(&mut self) -> Vec<AntennaHandover> {
        self.told.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Instant at which one of some antennas begins or ends a contact next, as far as the plan goes, and which.
    pub fn next_handover(&self, is_meant: &dyn Fn(usize) -> bool) -> Option<(Instant, usize)> {
        self.plan.changes().get(self.changes_made..)?.iter().find_map(|change| {
            let ContactLink::Ground { antenna, .. } = self.sky.contacts[change.contact.index()] else {
                return None;
            };
            is_meant(antenna as usize).then_some((change.at, antenna as usize))
        })
    }
}
