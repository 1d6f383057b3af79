//! Signalling route management (Q.704, section 13; RTPC, RTAC, RTRC, RSRT): what adjacent points say of destinations,
//! and what this point says to them.

use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::node::config::{Function, Procedure};
use crate::mtp3::node::id::LinkSetId;
use crate::mtp3::node::machines::restart::RestartState;
use crate::mtp3::node::machines::routes::{ROUTE, RouteAction, RouteInput, RouteState};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::table::{Bundle, NOWHERE, RestrictedTo};
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, Node};
use crate::mtp3::{ManagementMessage, Slc};
use crate::transfer::TransferIndication;

impl Node {
    /// Gives what the point at the end of a link set says of a destination, if there is such a route.
    pub fn route_state(&self, destination: PointCode, link_set: LinkSetId) -> Option<RouteState> {
        let index = self.table.find(destination)?;
        let mut routes = self.table.destination(index).routes.iter();
        routes.find(|route| route.link_set == link_set).map(|route| route.state)
    }

    /// A TFP, TFR or TFA from the point at the end of a link set.
    pub(super) fn transfer_message(
        &mut self,
        now: Instant,
        from: LinkSetId,
        code: PointCode,
        input: RouteInput,
    ) {
        let is_used = input != RouteInput::Tfr || self.config.transfer_restricted == Procedure::Used;
        // The direct route to a point does not depend on what that point says.
        match self.table.find(code) {
            Some(destination) if is_used && code != self.link_set(from).adjacent => {
                self.route_input(now, destination, from, input);
                if input == RouteInput::Tfp {
                    self.check_adjacents(now);
                }
            }
            _ => self.counters.discard(DiscardReason::UnknownSubject),
        }
    }

    pub(super) fn route_input(&mut self, now: Instant, destination: u32, over: LinkSetId, input: RouteInput) {
        let routes = &mut self.table.destination_mut(destination).routes;
        let Some(route) = routes.iter_mut().find(|route| route.link_set == over) else {
            // An adjacent point need not know which routes this one has.
            return self.counters.discard(DiscardReason::UnknownSubject);
        };
        let Some(row) = ROUTE.next(route.state, input) else { return };
        route.state = row.to;
        route.prohibited.follow(now, row.to == RouteState::Prohibited);
        route.restricted.follow(now, row.to == RouteState::Restricted);
        let (code, adjacent) = (self.table.destination(destination).code, self.link_set(over).adjacent);
        for action in row.actions {
            match action {
                RouteAction::Reroute => self.is_unsettled = true,
                RouteAction::SendRst => self.send_direct(adjacent, over, ManagementMessage::Rst(code)),
                RouteAction::SendRsr => self.send_direct(adjacent, over, ManagementMessage::Rsr(code)),
                RouteAction::StartT10 => self.start(now, Key::Route(destination, over), Mtp3Timer::T10),
                RouteAction::StopT10 => self.schedule.stop(Key::Route(destination, over)),
            }
        }
    }

    /// A route set test: answered only if the truth is not what the asking point believes (section 13.5).
    pub(super) fn route_set_test(&mut self, from: LinkSetId, code: PointCode, believes: RouteState) {
        if self.config.function == Function::EndPoint {
            return self.counters.discard(DiscardReason::Unexpected);
        }
        if let Some(truth) = self.status_of_served(code) {
            if truth != believes {
                self.say_of_served(code, from);
            }
            return;
        }
        let Some(destination) = self.table.find(code) else {
            return self.counters.discard(DiscardReason::UnknownSubject);
        };
        let truth = self.status_for(destination, from);
        if truth != believes {
            self.say(destination, from, truth);
        }
    }

    /// Gives what the point at the end of a link set is to believe of a destination: a destination that is reached over
    /// that very link set is prohibited to it, or messages would go to and fro.
    fn status_for(&self, destination: u32, to: LinkSetId) -> RouteState {
        let known = self.table.destination(destination);
        let bundle = match self.restart {
            RestartState::Running => self.table.bundles[usize::from(known.bundle)],
            _ => self.prospective_bundle(destination),
        };
        if bundle.first.is_none() || bundle.link_sets().any(|used| used == to) {
            RouteState::Prohibited
        } else if known.restricted == RestrictedTo::Adjacent {
            RouteState::Restricted
        } else {
            RouteState::Allowed
        }
    }

    /// Tells the point at the end of a link set what it is to believe.
    pub(super) fn say_truth(&mut self, destination: u32, to: LinkSetId) {
        self.say(destination, to, self.status_for(destination, to));
    }

    fn say(&mut self, destination: u32, to: LinkSetId, state: RouteState) {
        let code = self.table.destination(destination).code;
        let message = match state {
            RouteState::Allowed => ManagementMessage::Tfa(code),
            RouteState::Prohibited => ManagementMessage::Tfp(code),
            RouteState::Restricted => ManagementMessage::Tfr(code),
        };
        let adjacent = self.link_set(to).adjacent;
        // A point that cannot be reached gets the state of routes when it restarts.
        if adjacent != code && self.management_link(adjacent, Slc(0)).is_some() {
            self.send_management(adjacent, Slc(0), message);
        }
    }

    /// A message for a destination that cannot be reached from here: its sender is told, once a T8.
    pub(super) fn respond_prohibited(&mut self, now: Instant, destination: u32, to: LinkSetId) {
        let key = Key::Prohibited(destination, to);
        if !self.schedule.is_running(key) {
            self.start(now, key, Mtp3Timer::T8);
            self.say(destination, to, RouteState::Prohibited);
        }
    }

    /// Everything that the point at the end of a link set must not send here, at the restart of either.
    pub(super) fn send_all_prohibited(&mut self, to: LinkSetId) {
        if self.config.function == Function::EndPoint {
            return;
        }
        for index in 0..self.table.destinations.len() {
            let Ok(destination) = u32::try_from(index) else { return };
            if self.status_for(destination, to) == RouteState::Prohibited {
                self.say(destination, to, RouteState::Prohibited);
            }
        }
        self.send_served_prohibited(to);
    }

    /// A destination takes other link sets from now on, or none: users and adjacent points hear of it before the first
    /// message takes the new way.
    pub(super) fn set_bundle(&mut self, now: Instant, destination: u32, to: u16) {
        let known = self.table.destination_mut(destination);
        let from = core::mem::replace(&mut known.bundle, to);
        if from == to {
            return;
        }
        let code = known.code;
        if to == NOWHERE {
            known.cut = self.stamp;
        }
        if from == NOWHERE || to == NOWHERE {
            self.table.measured_mut(destination).inaccessible.follow(now, to == NOWHERE);
        }
        let (was, is) = (self.table.bundles[usize::from(from)], self.table.bundles[usize::from(to)]);
        if self.config.function == Function::TransferPoint && !self.is_announcing_restart() {
            self.announce(now, destination, was, is);
        }
        if from == NOWHERE {
            self.indicate_all(&TransferIndication::Resume(code));
        } else if to == NOWHERE {
            self.indicate_all(&TransferIndication::Pause(code));
            self.congestion_forgotten(destination);
        }
    }

    fn announce(&mut self, now: Instant, destination: u32, was: Bundle, is: Bundle) {
        self.announce_restriction(now, destination);
        let changed_reach = was.first.is_none() != is.first.is_none();
        for to in self.link_set_ids() {
            let (used, uses) = (
                was.link_sets().any(|link_set| link_set == to),
                is.link_sets().any(|link_set| link_set == to),
            );
            // Reached over that point now: it must not send here. Reached otherwise: it may again. When the
            // destination is lost or found, all adjacent points are informed.
            if used != uses || changed_reach {
                self.say_truth(destination, to);
            }
        }
    }

    /// T11 runs while a destination is reached by an alternative only.
    fn announce_restriction(&mut self, now: Instant, destination: u32) {
        if self.config.transfer_restricted == Procedure::Omitted {
            return;
        }
        let key = Key::Destination(destination, Mtp3Timer::T11);
        let known = self.table.destination(destination);
        let normal = known.routes.first().map(|route| route.link_set);
        let bundle = self.table.bundles[usize::from(known.bundle)];
        if known.bundle == NOWHERE || bundle.link_sets().any(|used| Some(used) == normal) {
            self.schedule.stop(key);
            if known.restricted == RestrictedTo::Adjacent {
                self.table.destination_mut(destination).restricted = RestrictedTo::Nobody;
                self.say_to_all(destination);
            }
        } else if known.restricted == RestrictedTo::Nobody && !self.schedule.is_running(key) {
            self.start(now, key, Mtp3Timer::T11);
        }
    }

    /// T11 expired: the destination is reached by an alternative for long enough to tell.
    pub(super) fn restricted(&mut self, destination: u32) {
        self.table.destination_mut(destination).restricted = RestrictedTo::Adjacent;
        self.say_to_all(destination);
    }

    fn say_to_all(&mut self, destination: u32) {
        for to in self.link_set_ids() {
            self.say_truth(destination, to);
        }
    }
}
