//! Succession: a node that is made from a new configuration takes the place of a running one, with all that this one
//! knows. What both have goes on: links in service, diversions and the messages that wait, states of routes, timers.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::Instant;

use crate::mtp3::node::config::Config;
use crate::mtp3::node::held::{Held, Origin};
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::diversion::{Diversion, Subject};
use crate::mtp3::node::machines::link::{Link, LinkActivity, LinkActivityInput};
use crate::mtp3::node::schedule::{Key, Schedule};
use crate::mtp3::node::table::NOWHERE;
use crate::mtp3::node::{DiscardReason, LinkSet, ManagementEvent, Node, Output};
use crate::transfer::TransferIndication;

/// Numbers that a successor has for what its former self had; none for what is gone.
#[derive(Debug, Default)]
pub(super) struct Renumbering {
    links: Vec<Option<Mtp3LinkId>>,
    link_sets: Vec<Option<LinkSetId>>,
    destinations: Vec<Option<u32>>,
}

impl Renumbering {
    pub(super) fn link(&self, former: Mtp3LinkId) -> Option<Mtp3LinkId> {
        self.links.get(usize::from(former.0)).copied().flatten()
    }

    pub(super) fn link_set(&self, former: LinkSetId) -> Option<LinkSetId> {
        self.link_sets.get(usize::from(former.0)).copied().flatten()
    }

    fn destination(&self, former: u32) -> Option<u32> {
        self.destinations.get(usize::try_from(former).ok()?).copied().flatten()
    }

    fn key(&self, former: Key) -> Option<Key> {
        Some(match former {
            Key::Destination(index, timer) => Key::Destination(self.destination(index)?, timer),
            Key::Link(link, timer) => Key::Link(self.link(link)?, timer),
            Key::LinkSet(link_set, timer) => Key::LinkSet(self.link_set(link_set)?, timer),
            Key::Prohibited(index, to) => Key::Prohibited(self.destination(index)?, self.link_set(to)?),
            Key::Route(index, over) => Key::Route(self.destination(index)?, self.link_set(over)?),
            Key::ServedProhibited(code, to) => Key::ServedProhibited(code, self.link_set(to)?),
            Key::Diversion(..) | Key::Node(_) => former,
        })
    }

    fn diversion(&self, former: Diversion) -> Diversion {
        let subject = match former.subject {
            Subject::Changeback { from, to, code } => match (self.link(from), self.link(to)) {
                (Some(from), Some(to)) => Subject::Changeback { from, to, code },
                // Nobody is there to declare it to, or to acknowledge it: it ends by time.
                _ => Subject::Rerouting,
            },
            other => other,
        };
        let origins = former.origins.iter().filter_map(|link| self.link(*link)).collect();
        let held = former.held.into_iter().filter_map(|message| self.held(message)).collect();
        Diversion { subject, origins, held, ..former }
    }

    fn held(&self, former: Held) -> Option<Held> {
        let origin = match former.origin {
            Origin::Transit { from, opc } => match self.link_set(from) {
                Some(from) => Origin::Transit { from, opc },
                // Nobody is there to be told of what becomes of it.
                None => Origin::Retrieved,
            },
            other => other,
        };
        Some(Held { destination: self.destination(former.destination)?, origin, ..former })
    }

    fn output(&self, former: Output) -> Option<Output> {
        use ManagementEvent as M;
        Some(match former {
            Output::Link(link, request) => Output::Link(self.link(link)?, request),
            Output::Management(event) => Output::Management(match event {
                M::ChangebackUnacknowledged(link) => M::ChangebackUnacknowledged(self.link(link)?),
                M::ChangeoverWithoutSequence(link) => M::ChangeoverWithoutSequence(self.link(link)?),
                M::InhibitionDenied(link) => M::InhibitionDenied(self.link(link)?),
                M::InhibitionUnanswered(link) => M::InhibitionUnanswered(self.link(link)?),
                M::LinkAvailable(link) => M::LinkAvailable(self.link(link)?),
                M::LinkCongestion(link, status) => M::LinkCongestion(self.link(link)?, status),
                M::LinkInhibited(link) => M::LinkInhibited(self.link(link)?),
                M::LinkSetAvailable(link_set) => M::LinkSetAvailable(self.link_set(link_set)?),
                M::LinkSetUnavailable(link_set) => M::LinkSetUnavailable(self.link_set(link_set)?),
                M::LinkTestFailed(link) => M::LinkTestFailed(self.link(link)?),
                M::LinkUnavailable(link) => M::LinkUnavailable(self.link(link)?),
                M::LinkUninhibited(link) => M::LinkUninhibited(self.link(link)?),
                M::TrafficDiverted { from, to } => {
                    M::TrafficDiverted { from: self.link(from)?, to: self.link(to)? }
                }
                M::CircularRoute(_) | M::RestartBegun | M::RestartOver => event,
            }),
            Output::Indication(..) | Output::Wait(_) => former,
        })
    }
}

impl Config {
    /// Names the first setting that a running node keeps as it is, of those that differ from another configuration's.
    pub fn fixed_difference(&self, to: &Self) -> Option<&'static str> {
        let differs = [
            (self.point_code != to.point_code, "point code"),
            (self.format != to.format, "format of point codes"),
            (self.network != to.network, "network indicator"),
            (self.function != to.function, "function"),
            (self.congestion != to.congestion, "method of congestion"),
            (self.transfer_restricted != to.transfer_restricted, "use of transfer restricted"),
            (self.restart != to.restart, "use of the restart procedure"),
            (self.periodic_link_test != to.periodic_link_test, "use of periodic link tests"),
            (self.sharing_bit != to.sharing_bit, "bit that shares traffic"),
            (self.spread != to.spread, "spread over links"),
        ];
        differs.into_iter().find(|(differs, _)| *differs).map(|(_, name)| name)
    }
}

impl Node {
    /// Takes the place of a running node, of which it keeps these links: the former number of each, and its own.
    ///
    /// A link that is kept has the same code and the same far end in both. Settings of which
    /// [`Config::fixed_difference`] tells are alike. Links that are not kept ought to be out of service by now: what
    /// waits for their changeover goes on without it. Links that are new are activated, and destinations that are new
    /// are reached as soon as a route to them is open; those that are gone are told of to users and adjacent points as
    /// prohibited.
    pub fn take_over(&mut self, now: Instant, mut former: Self, kept: &[(Mtp3LinkId, Mtp3LinkId)]) {
        let mut links = vec![None; former.links.len()];
        for (before, own) in kept {
            links[usize::from(before.0)] = Some(*own);
        }
        former.retire(now, self, &links);
        let own = self.link_sets.iter().zip(0_u16..).map(|(own, id)| (own.adjacent, LinkSetId(id)));
        let own: BTreeMap<_, _> = own.collect();
        let link_sets = former.link_sets.iter().map(|before| own.get(&before.adjacent).copied()).collect();
        let mut numbers = Renumbering { links, link_sets, destinations: Vec::new() };
        let was_backup: BTreeSet<Mtp3LinkId> =
            former.config.backups.iter().filter_map(|link| numbers.link(*link)).collect();
        let known_users = std::mem::take(&mut former.config.users);

        for (before, id) in former.links.into_iter().zip(0_u16..) {
            if let Some(own) = numbers.link(Mtp3LinkId(id)) {
                let set = self.link(own).set;
                *self.link_mut(own) = Link { set, ..before };
            }
        }
        for (before, id) in former.link_sets.into_iter().zip(0_u16..) {
            if let Some(own) = numbers.link_set(LinkSetId(id)) {
                let own = self.link_set_mut(own);
                let links = std::mem::take(&mut own.links);
                *own = LinkSet { links, ..before };
            }
        }
        numbers.destinations = self.table.take_over(former.table, &numbers);
        for (code, own) in &mut self.served {
            if let Some(before) = former.served.get(code) {
                *own = *before;
            }
        }
        let waited = former.held;
        let diversions = former.diversions.into_iter();
        self.diversions = diversions.map(|(id, before)| (id, numbers.diversion(before))).collect();
        self.held = self.diversions.values().map(|diversion| diversion.held.len()).sum();
        self.schedule = Schedule::default();
        for (key, deadline) in former.schedule.running() {
            if let Some(key) = numbers.key(key) {
                self.schedule.start(key, deadline);
            }
        }
        let before = std::mem::take(&mut former.outputs).into_iter();
        self.outputs = before.filter_map(|output| numbers.output(output)).collect();
        self.next_diversion = former.next_diversion;
        self.next_changeback = former.next_changeback;
        self.stamp = former.stamp;
        self.restart = former.restart;
        self.overload = former.overload;
        self.counters = former.counters;
        (self.held..waited).for_each(|_| self.counters.discard(DiscardReason::UnknownDestination));

        self.now = now;
        self.tell_new_users(&known_users);
        let kept: BTreeSet<Mtp3LinkId> = kept.iter().map(|(_, own)| *own).collect();
        for link in self.link_ids() {
            let is_wanted = !kept.contains(&link) || was_backup.contains(&link);
            if is_wanted && !self.is_backup(link) && self.link(link).activity == LinkActivity::Inactive {
                self.link_activity_input(now, link, LinkActivityInput::Activate);
            }
        }
        for link_set in self.link_set_ids() {
            self.replace_link(now, link_set);
        }
        self.check_adjacents(now);
        self.check_all_restarted(now);
        self.is_unsettled = true;
        self.settle(now);
    }

    /// Tells of everything that the successor does not have.
    fn retire(&mut self, now: Instant, successor: &Self, links: &[Option<Mtp3LinkId>]) {
        self.now = now;
        for (link, _) in self.link_ids().zip(links).filter(|(_, own)| own.is_none()) {
            self.link_activity_input(now, link, LinkActivityInput::Deactivate);
            if let Some(diversion) = self.link_mut(link).changeover.diversion.take() {
                self.diversion_over(now, diversion);
            }
        }
        self.settle(now);
        for index in 0..self.table.destinations.len() {
            let Ok(destination) = u32::try_from(index) else { break };
            if successor.table.find(self.table.destination(destination).code).is_none() {
                self.set_bundle(now, destination, NOWHERE);
            }
        }
        let gone = self.served.keys().copied().filter(|code| !successor.served.contains_key(code));
        for code in gone.collect::<Vec<_>>() {
            self.set_served(now, code, false);
        }
        self.lost_traffic.clear();
    }

    /// A user part that is new learns of what can be reached.
    fn tell_new_users(&mut self, known: &[crate::mtp3::ServiceIndicator]) {
        let users = self.config.users.iter().copied();
        let new: Vec<_> = users.filter(|user| !known.contains(user)).collect();
        for user in new {
            for index in 0..self.table.destinations.len() {
                let known = &self.table.destinations[index];
                if known.bundle != NOWHERE {
                    let resume = TransferIndication::Resume(known.code);
                    self.indicate(user, resume);
                }
            }
        }
    }
}
