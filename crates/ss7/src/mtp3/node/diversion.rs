//! Traffic that moves from one link or route to another waits here, in order, until what it left behind is out of
//! its way.
//!
//! A diversion holds what is accepted for some slots of bundles, or for some destinations. It ends when its own
//! procedure is over and those that hold older messages of the same traffic have ended. Messages carry their order, so
//! that what comes from several diversions falls into its old one.

use slantpath_base::Instant;
use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::mtp3::node::config::share;
use crate::mtp3::node::held::Held;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::changeover::ChangeoverInput;
use crate::mtp3::node::machines::diversion::{
    DIVERSION, Diversion, DiversionAction, DiversionInput, DiversionState, Subject,
};
use crate::mtp3::node::machines::restart::{AdjacentInput, AdjacentState, RestartInput};
use crate::mtp3::node::machines::routes::{RouteInput, RouteState};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::table::{Bundle, NOWHERE, Slot};
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{ChangebackCode, ManagementMessage, ServiceInformation};

impl Node {
    fn new_diversion(
        &mut self,
        subject: Subject,
        origins: BTreeSet<Mtp3LinkId>,
        after: BTreeSet<u32>,
    ) -> u32 {
        let id = self.next_diversion;
        self.next_diversion = self.next_diversion.wrapping_add(1);
        let state = DIVERSION.initial;
        self.diversions.insert(id, Diversion { state, subject, origins, after, held: Vec::new() });
        id
    }

    /// Keeps a message back, unless too many wait already.
    pub(super) fn hold(&mut self, diversion: u32, message: Held) {
        let Some(waiting) = self.diversions.get_mut(&diversion) else { return self.route(message) };
        if self.held >= self.config.held_limit {
            return self.counters.discard(DiscardReason::TooManyHeld);
        }
        self.held += 1;
        let is_crowded = self.held > self.config.held_limit / 4 * 3;
        let service = ServiceInformation::from_octet(message.octets.first().copied().unwrap_or_default());
        if is_crowded {
            let copy = message.clone();
            waiting.held.push(message);
            self.indicate_congestion(&copy, service, 1);
        } else {
            waiting.held.push(message);
        }
    }

    /// A link can be used no longer: its traffic waits for the changeover.
    pub(super) fn link_lost(&mut self, now: Instant, link: Mtp3LinkId, cause: ChangeoverInput) {
        self.is_unsettled = true;
        let diversion = self.new_diversion(Subject::Changeover, BTreeSet::from([link]), BTreeSet::new());
        self.link_mut(link).changeover.diversion = Some(diversion);
        self.note_loss(link);
        self.note_lost_traffic(link);
        for (bundle, sls) in self.table.positions() {
            let slot = self.table.slot_mut(bundle, sls);
            if slot.link == Some(link) && slot.held.is_none() {
                slot.held = Some(diversion);
            }
        }
        let later = self.diversions.iter_mut().filter(|(id, _)| **id != diversion);
        for (_, later) in later.filter(|(_, later)| later.origins.contains(&link)) {
            later.after.insert(diversion);
        }
        let link_set = self.link(link).set;
        if self.available_links(link_set).next().is_none() {
            self.link_set_mut(link_set).unavailable.follow(now, true);
            self.report(ManagementEvent::LinkSetUnavailable(link_set));
        }
        self.check_isolation(now, link_set);
        self.changeover(now, link, cause);
    }

    /// The changeover of a link says what it does with the messages that other diversions have left it for.
    pub(super) fn drive_followers(&mut self, now: Instant, link: Mtp3LinkId, input: DiversionInput) {
        let follows = |diversion: &Diversion| match input {
            // The order is the changeover's now, unless the traffic leaves other links as well.
            DiversionInput::OriginLost => diversion.origins.len() == 1,
            _ => true,
        };
        let followers: Vec<_> = self
            .diversions
            .iter()
            .filter(|(_, diversion)| diversion.subject != Subject::Changeover)
            .filter(|(_, diversion)| diversion.origins.contains(&link) && follows(diversion))
            .map(|(id, _)| *id)
            .collect();
        for follower in followers {
            self.diversion_input(now, follower, input);
        }
    }

    /// A link set may have lost its last link. Links that are only inhibited count: they can be called back.
    pub(super) fn check_isolation(&mut self, now: Instant, link_set: LinkSetId) {
        if self.has_working_link(link_set) {
            return;
        }
        for index in 0..self.table.destinations.len() {
            let Ok(destination) = u32::try_from(index) else { return };
            let routes = &self.table.destination(destination).routes;
            if routes.iter().any(|route| route.link_set == link_set && route.state != RouteState::Allowed) {
                self.route_input(now, destination, link_set, RouteInput::LinkSetLost);
            }
        }
        if !self.link_set_ids().any(|id| self.has_working_link(id)) {
            for id in self.link_set_ids() {
                self.adjacent_input(now, id, AdjacentInput::Lost);
            }
            self.restart_input(now, RestartInput::LastLinkLost);
        } else if !self.is_adjacent_reached(link_set)
            || self.link_set(link_set).state == AdjacentState::Restarting
        {
            self.adjacent_input(now, link_set, AdjacentInput::Lost);
        }
        self.check_adjacents(now);
    }

    /// The last way to an adjacent point may have gone, by a failure elsewhere or by a TFP: when its own links come
    /// back, it restarts, and takes no traffic before it says so (section 9.3).
    pub(super) fn check_adjacents(&mut self, now: Instant) {
        for id in self.link_set_ids() {
            if !self.has_working_link(id) && !self.is_adjacent_reached(id) {
                self.adjacent_input(now, id, AdjacentInput::Lost);
            }
        }
    }

    fn has_working_link(&self, link_set: LinkSetId) -> bool {
        self.link_set(link_set).links.iter().any(|link| self.link(*link).works())
    }

    /// A link can be used again.
    pub(super) fn link_gained(&mut self, now: Instant, link: Mtp3LinkId) {
        self.is_unsettled = true;
        self.forget_lost_traffic(link);
        let link_set = self.link(link).set;
        let is_first = self.available_links(link_set).count() == 1;
        self.changeover(now, link, ChangeoverInput::LinkUnblocked);
        if is_first {
            self.link_set_up(now, link_set);
        }
    }

    /// Starts what the present state of links and routes asks for, until nothing is left to start.
    pub(super) fn settle(&mut self, now: Instant) {
        self.now = now;
        while core::mem::take(&mut self.is_unsettled) || self.retire_backup(now) {
            self.reconcile(now);
            for index in 0..self.table.destinations.len() {
                let Ok(destination) = u32::try_from(index) else { return };
                if self.table.destination(destination).bundle == NOWHERE && self.is_running() {
                    self.call_back_inhibited(now, destination);
                }
            }
        }
    }

    /// A destination is cut off while links to it are only inhibited.
    fn call_back_inhibited(&mut self, now: Instant, destination: u32) {
        let link_sets: Vec<_> =
            self.table.destination(destination).routes.iter().map(|route| route.link_set).collect();
        for link_set in link_sets {
            for link in self.link_set(link_set).links.clone() {
                self.force_uninhibit(now, link);
            }
        }
    }

    /// Compares where traffic goes with where it ought to go.
    pub(super) fn reconcile(&mut self, now: Instant) {
        self.reconcile_slots(now);
        self.reconcile_destinations(now);
        self.release_all(now);
    }

    fn reconcile_slots(&mut self, now: Instant) {
        let mut moves: BTreeMap<(Mtp3LinkId, Mtp3LinkId), Vec<(u16, u8)>> = BTreeMap::new();
        for (bundle, sls) in self.table.positions() {
            let slot = self.table.slot(bundle, sls);
            let wanted = self.wanted_link(bundle, sls);
            match (slot.link, wanted) {
                _ if slot.held.is_some() || slot.link == wanted => {}
                (Some(from), Some(to)) if self.link(from).is_available() => {
                    moves.entry((from, to)).or_default().push((bundle, sls));
                }
                _ => self.table.slot_mut(bundle, sls).link = wanted,
            }
        }
        for ((from, to), slots) in moves {
            let code = ChangebackCode(self.next_changeback);
            self.next_changeback = self.next_changeback.wrapping_add(1);
            let subject = Subject::Changeback { from, to, code };
            self.link_mut(to).measured.changebacks += 1;
            let diversion = self.new_diversion(subject, BTreeSet::from([from]), BTreeSet::new());
            for (bundle, sls) in slots {
                self.table.slot_mut(bundle, sls).held = Some(diversion);
            }
            // Over another link set the declaration would not follow the traffic (section 6.4).
            let input = if self.link(from).set == self.link(to).set {
                DiversionInput::Changeback
            } else {
                DiversionInput::ChangebackElsewhere
            };
            self.diversion_input(now, diversion, input);
        }
    }

    fn reconcile_destinations(&mut self, now: Instant) {
        let mut moves: BTreeMap<(u16, bool), Vec<u32>> = BTreeMap::new();
        for index in 0..self.table.destinations.len() {
            let Ok(destination) = u32::try_from(index) else { return };
            let wanted = self.wanted_bundle(destination);
            let known = self.table.destination(destination);
            let from = known.bundle;
            if known.held.is_some() || from == wanted {
                continue;
            }
            if from == NOWHERE || wanted == NOWHERE {
                self.set_bundle(now, destination, wanted);
            } else {
                let is_forced = !self.is_usable_for(destination, self.table.bundles[usize::from(from)]);
                moves.entry((from, is_forced)).or_default().push(destination);
            }
        }
        for ((from, is_forced), destinations) in moves {
            let slots = self.table.slots_of(from);
            let after = slots.iter().filter_map(|slot| slot.held).collect();
            let origins = slots.iter().filter_map(|slot| slot.link).collect();
            let diversion = self.new_diversion(Subject::Rerouting, origins, after);
            for destination in destinations {
                self.table.destination_mut(destination).held = Some(diversion);
            }
            let input = if is_forced { DiversionInput::Forced } else { DiversionInput::Controlled };
            self.diversion_input(now, diversion, input);
        }
    }

    /// The link that a slot ought to name: its own link of the link set that its sharing bit says, as long as that is
    /// available, and otherwise one of the others by what is left of the SLS.
    pub(super) fn wanted_link(&self, bundle: u16, sls: u8) -> Option<Mtp3LinkId> {
        let Bundle { first, second } = self.table.bundles[usize::from(bundle)];
        let (Some(first), Some(second)) = (first, second) else {
            return self.link_of(first?, usize::from(sls));
        };
        let (is_second, rest) = share(self.config.sharing_bit, sls);
        let (one, other) = if is_second { (second, first) } else { (first, second) };
        self.link_of(one, rest).or_else(|| self.link_of(other, rest))
    }

    fn link_of(&self, link_set: LinkSetId, sls: usize) -> Option<Mtp3LinkId> {
        if !self.is_running() || self.link_set(link_set).state != AdjacentState::Accessible {
            return None;
        }
        let links = &self.link_set(link_set).links;
        let own = links[sls % links.len()];
        if self.link(own).is_available() {
            return Some(own);
        }
        let count = self.available_links(link_set).count();
        let at = sls / links.len() + sls % links.len();
        self.available_links(link_set).nth(at.checked_rem(count)?)
    }

    /// The bundle that a destination ought to have: of its routes that are open, those of the best priority.
    fn wanted_bundle(&mut self, destination: u32) -> u16 {
        if !self.is_running() {
            return NOWHERE;
        }
        let open = |node: &Self, link_set: LinkSetId| {
            node.link_set(link_set).state == AdjacentState::Accessible
                && node.available_links(link_set).next().is_some()
        };
        let wanted = self.best_routes(destination, open);
        let known = self.table.bundles.len();
        let bundle = self.table.bundle(wanted);
        // A new bundle names no links yet.
        self.is_unsettled |= self.table.bundles.len() > known;
        bundle
    }

    /// Gives the routes that a destination would use by availability of links alone, whatever restart holds up.
    pub(super) fn prospective_bundle(&self, destination: u32) -> Bundle {
        self.best_routes(destination, |node, link_set| node.available_links(link_set).next().is_some())
    }

    /// The routes of the best priority that has one open. Among equals, restricted ones give way; a link set that is
    /// down stays beside an open one of its priority, so that its traffic moves and returns link by link.
    fn best_routes(&self, destination: u32, is_open: impl Fn(&Self, LinkSetId) -> bool) -> Bundle {
        let routes = &self.table.destination(destination).routes;
        let open =
            || routes.iter().filter(|r| r.state != RouteState::Prohibited && is_open(self, r.link_set));
        let Some(best) = open().map(|route| route.priority).min() else {
            return Bundle { first: None, second: None };
        };
        let is_allowed = open().any(|route| route.priority == best && route.state == RouteState::Allowed);
        let state = if is_allowed { RouteState::Allowed } else { RouteState::Restricted };
        let mut chosen = routes.iter().filter(|r| r.state == state && r.priority == best).map(|r| r.link_set);
        Bundle { first: chosen.next(), second: chosen.next() }
    }

    /// Tells if a destination may still go on over a bundle: none of its routes is prohibited, and one has a link.
    fn is_usable_for(&self, destination: u32, bundle: Bundle) -> bool {
        let routes = &self.table.destination(destination).routes;
        let is_prohibited = |link_set| {
            routes.iter().any(|route| route.link_set == link_set && route.state == RouteState::Prohibited)
        };
        !bundle.link_sets().any(is_prohibited)
            && bundle.link_sets().any(|link_set| self.available_links(link_set).next().is_some())
    }

    /// The first destination that would be cut off without a link.
    pub(super) fn would_cut_off(&self, link: Mtp3LinkId) -> Option<PointCode> {
        let link_set = self.link(link).set;
        if !self.link(link).is_available() || self.available_links(link_set).count() > 1 {
            return None;
        }
        let remains =
            |node: &Self, other: LinkSetId| other != link_set && node.available_links(other).next().is_some();
        let mut reached = self.table.destinations.iter().zip(0_u32..);
        reached
            .find(|(known, index)| {
                known.bundle != NOWHERE && self.best_routes(*index, remains).first.is_none()
            })
            .map(|(known, _)| known.code)
    }

    pub(super) fn diversion_input(&mut self, now: Instant, id: u32, input: DiversionInput) {
        let Some(diversion) = self.diversions.get_mut(&id) else { return };
        let Some(row) = DIVERSION.next(diversion.state, input) else { return };
        diversion.state = row.to;
        let subject = diversion.subject;
        let key = |timer| Key::Diversion(id, timer);
        for action in row.actions {
            match (action, subject) {
                (DiversionAction::Release, _) => self.is_unsettled = true,
                (DiversionAction::SendDeclaration, Subject::Changeback { from, to, code }) => {
                    self.send_declaration(from, to, code);
                }
                (DiversionAction::ReportUnacknowledged, Subject::Changeback { to, .. }) => {
                    self.counters.unacknowledged_changebacks += 1;
                    self.report(ManagementEvent::ChangebackUnacknowledged(to));
                }
                // Only changebacks send and await declarations.
                (DiversionAction::SendDeclaration | DiversionAction::ReportUnacknowledged, _) => {}
                (DiversionAction::StartT3, _) => self.start(now, key(Mtp3Timer::T3), Mtp3Timer::T3),
                (DiversionAction::StartT4, _) => self.start(now, key(Mtp3Timer::T4), Mtp3Timer::T4),
                (DiversionAction::StartT5, _) => self.start(now, key(Mtp3Timer::T5), Mtp3Timer::T5),
                (DiversionAction::StartT6, _) => self.start(now, key(Mtp3Timer::T6), Mtp3Timer::T6),
                (DiversionAction::StopT3, _) => self.schedule.stop(key(Mtp3Timer::T3)),
                (DiversionAction::StopT4, _) => self.schedule.stop(key(Mtp3Timer::T4)),
                (DiversionAction::StopT5, _) => self.schedule.stop(key(Mtp3Timer::T5)),
                (DiversionAction::StopT6, _) => self.schedule.stop(key(Mtp3Timer::T6)),
            }
        }
    }

    /// A changeback acknowledgement for the link that became available.
    pub(super) fn changeback_acknowledged(&mut self, now: Instant, link: Mtp3LinkId, code: ChangebackCode) {
        let found = self.diversions.iter().find(|(_, diversion)| {
            diversion.state != DiversionState::Over
                && matches!(diversion.subject, Subject::Changeback { to, code: own, .. } if to == link && own == code)
        });
        match found.map(|(id, _)| *id) {
            Some(id) => self.diversion_input(now, id, DiversionInput::Acknowledged),
            None => self.counters.discard(DiscardReason::Unexpected),
        }
    }

    /// A changeback declaration: acknowledged at once, whatever is known of the link.
    pub(super) fn changeback_declared(&mut self, link: Mtp3LinkId, code: ChangebackCode) {
        self.send_about_link(link, ManagementMessage::Cba(code));
    }

    /// A changeover says that nothing older comes from its link.
    pub(super) fn diversion_over(&mut self, _now: Instant, id: u32) {
        if let Some(diversion) = self.diversions.get_mut(&id) {
            diversion.state = DiversionState::Over;
            self.is_unsettled = true;
        }
    }

    fn release_all(&mut self, now: Instant) {
        loop {
            let ready = self
                .diversions
                .iter()
                .find(|(_, diversion)| diversion.state == DiversionState::Over && diversion.after.is_empty());
            let Some(id) = ready.map(|(id, _)| *id) else { return };
            self.release(now, id);
        }
    }

    fn release(&mut self, now: Instant, id: u32) {
        let Some(mut diversion) = self.diversions.remove(&id) else { return };
        self.is_unsettled = true;
        for (bundle, sls) in self.table.positions() {
            if self.table.slot(bundle, sls).held == Some(id) {
                let taken = self.table.slot(bundle, sls).link;
                // A link that was only blocked may hold older messages still: the traffic stays, or changes back from
                // it in order.
                let stays = diversion.subject == Subject::Changeover
                    && taken.is_some_and(|link| {
                        diversion.origins.contains(&link) && self.link(link).is_available()
                    });
                let link = if stays { taken } else { self.wanted_link(bundle, sls) };
                *self.table.slot_mut(bundle, sls) = Slot { link, held: None };
            }
        }
        for index in 0..self.table.destinations.len() {
            let Ok(destination) = u32::try_from(index) else { return };
            if self.table.destination(destination).held == Some(id) {
                self.table.destination_mut(destination).held = None;
                let wanted = self.wanted_bundle(destination);
                self.set_bundle(now, destination, wanted);
            }
        }
        // Bundles that were made just now name no links yet.
        self.reconcile_slots(now);
        self.held -= diversion.held.len();
        diversion.held.sort_by_key(|message| message.order);
        for message in diversion.held {
            self.route(message);
        }
        for later in self.diversions.values_mut() {
            later.after.remove(&id);
        }
    }
}
