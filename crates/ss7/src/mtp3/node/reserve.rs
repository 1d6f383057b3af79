//! Links in reserve (Q.704, section 12.2): a link set has a number of links in service, and beside them links that are
//! activated when one of those has failed, and deactivated when it is back.

use slantpath_base::Instant;

use crate::mtp3::node::Node;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::link::{Link, LinkActivity, LinkActivityInput};

impl Node {
    /// Tells if a link is a backup: activated only while another one of its link set has failed.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn is_backup(&self, link: Mtp3LinkId) -> bool {
        assert!(usize::from(link.0) < self.links.len(), "the node has no link {}", link.0);
        self.config.backups.contains(&link)
    }

    /// Something has gone out of service or could not be brought into it: the next link in reserve is activated if
    /// there are more links to replace than replacements.
    pub(super) fn replace_link(&mut self, now: Instant, set: LinkSetId) {
        if self.config.backups.is_empty() {
            return;
        }
        let activity = |link: &Mtp3LinkId| self.link(*link).activity;
        let lost = self.links_in(set, |own| !own).filter(|link| activity(link) != LinkActivity::Available);
        let helps = |link: &Mtp3LinkId| {
            matches!(activity(link), LinkActivity::Aligning | LinkActivity::Available | LinkActivity::Testing)
        };
        let lost = lost.count();
        let (helping, waiting): (Vec<Mtp3LinkId>, Vec<Mtp3LinkId>) =
            self.links_in(set, |own| own).partition(helps);
        let next = waiting.into_iter().find(|link| activity(link) == LinkActivity::Inactive);
        if let Some(next) = next.filter(|_| helping.len() < lost) {
            self.link_activity_input(now, next, LinkActivityInput::Activate);
        }
    }

    /// Deactivates a link in reserve that replaces nothing any more, once no traffic is on its way from one link to
    /// another. Says whether there was one.
    pub(super) fn retire_backup(&mut self, now: Instant) -> bool {
        if self.config.backups.is_empty() || !self.diversions.is_empty() {
            return false;
        }
        let is_active = |activity| !matches!(activity, LinkActivity::Inactive | LinkActivity::Deactivating);
        let surplus = self.config.backups.iter().copied().rev().find(|link| {
            let Link { set, activity, .. } = *self.link(*link);
            let is_available = |link: &Mtp3LinkId| self.link(*link).activity == LinkActivity::Available;
            let lost = self.links_in(set, |own| !own).filter(|link| !is_available(link)).count();
            let helping = self.links_in(set, |own| own).filter(is_available).count();
            is_active(activity) && helping + usize::from(activity != LinkActivity::Available) > lost
        });
        if let Some(link) = surplus {
            self.link_activity_input(now, link, LinkActivityInput::Deactivate);
        }
        surplus.is_some()
    }

    /// The links of a link set that are in reserve, or are not.
    fn links_in(&self, set: LinkSetId, wanted: impl Fn(bool) -> bool) -> impl Iterator<Item = Mtp3LinkId> {
        let links = self.link_set(set).links.iter().copied();
        links.filter(move |link| wanted(self.config.backups.contains(link)))
    }
}
