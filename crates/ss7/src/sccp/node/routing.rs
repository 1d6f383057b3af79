//! Routing control (Q.714, section 2): where an address leads, and whether one gets there.

use crate::PointCode;
use crate::mtp3::Sls;
use crate::sccp::config::MANAGEMENT;
use crate::sccp::gtt::{Entity, NoTranslation, RouteOn, Share};
use crate::sccp::node::Node;
use crate::sccp::status::{LocalSubsystem, RemoteState};
use crate::sccp::{PartyAddress, ReturnCause, Ssn};

/// Properties of a message that decide where it goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route<'a> {
    pub(super) called: &'a PartyAddress,
    pub(super) calling: Option<&'a PartyAddress>,
    pub(super) sls: Sls,
    pub(super) in_sequence: bool,
    /// True if the message came from another node.
    pub(super) is_from_network: bool,
    pub(super) importance: u8,
}

/// Destinations of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// To a user of this node, or to its management.
    Local(Ssn),
    /// To another node, with that called party address.
    Remote(PointCode, PartyAddress),
}

impl Node {
    /// Gives the destination of a message, or the cause for which it goes nowhere.
    pub(super) fn route(&mut self, route: Route<'_>) -> Result<Destination, ReturnCause> {
        let Route { called, .. } = route;
        if called.routes_on_ssn || called.global_title.is_none() {
            return self.route_on_ssn(route);
        }
        match self.translate(route) {
            Err(cause) => {
                self.counters.untranslated(cause);
                Err(cause)
            }
            Ok(destination) => {
                self.counters.translated += 1;
                Ok(destination)
            }
        }
    }

    /// Gives the destination that the translation of a global title leads to.
    fn translate(&mut self, route: Route<'_>) -> Result<Destination, ReturnCause> {
        let Route { called, .. } = route;
        let translation =
            self.config.translator.translate(called, route.calling).map_err(|error| match error {
                NoTranslation::Address => ReturnCause::NO_TRANSLATION_FOR_ADDRESS,
                NoTranslation::Nature => ReturnCause::NO_TRANSLATION_FOR_NATURE,
            })?;
        let number = translation.group_number;
        let share = Share { sls: route.sls, in_sequence: route.in_sequence };
        let mut shared = core::mem::take(&mut self.shared[number]);
        let reach = |entity: &Entity| self.can_reach(entity.point_code, self.target(entity, called));
        let chosen = translation.group.select(share, &mut shared, |entity| reach(entity).is_ok()).copied();
        let chosen = chosen.ok_or_else(|| {
            let first = &translation.group.entities[0];
            reach(first).err().unwrap_or(ReturnCause::UNQUALIFIED)
        });
        let translated = chosen.map(|entity| (entity, translation.rule.address(called, &entity)));
        self.shared[number] = shared;
        let (entity, address) = translated?;
        if entity.point_code == self.config.point_code {
            return self.local(address.ssn);
        }
        self.admit(entity.point_code, route.importance)?;
        Ok(Destination::Remote(entity.point_code, address))
    }

    fn route_on_ssn(&mut self, route: Route<'_>) -> Result<Destination, ReturnCause> {
        let Route { called, .. } = route;
        let elsewhere = called.point_code.filter(|code| *code != self.config.point_code);
        // What came from the network for this node is for this node, whatever its address says beside.
        match elsewhere.filter(|_| !route.is_from_network) {
            None => self.local(called.ssn),
            Some(code) => {
                self.can_reach(code, called.ssn)?;
                self.admit(code, route.importance)?;
                Ok(Destination::Remote(code, called.clone()))
            }
        }
    }

    /// The subsystem at an entity whose state matters here.
    fn target(&self, entity: &Entity, called: &PartyAddress) -> Option<Ssn> {
        match entity.routing {
            RouteOn::GlobalTitle if entity.point_code != self.config.point_code => None,
            _ => entity.ssn.or(called.ssn),
        }
    }

    fn local(&self, ssn: Option<Ssn>) -> Result<Destination, ReturnCause> {
        let ssn = ssn.ok_or(ReturnCause::UNEQUIPPED_USER)?;
        if ssn == MANAGEMENT {
            return Ok(Destination::Local(ssn));
        }
        match self.subsystems.get(&ssn).copied().map(LocalSubsystem::is_available) {
            None => Err(ReturnCause::UNEQUIPPED_USER),
            Some(false) => Err(ReturnCause::SUBSYSTEM_FAILURE),
            Some(true) => Ok(Destination::Local(ssn)),
        }
    }

    /// Tells whether a subsystem can be reached as far as is known, at another node or at this one.
    fn can_reach(&self, code: PointCode, ssn: Option<Ssn>) -> Result<(), ReturnCause> {
        if code == self.config.point_code {
            return self.local(ssn).map(drop);
        }
        let Some(remote) = self.remotes.get(&code) else { return Ok(()) };
        if remote.is_inaccessible {
            return Err(ReturnCause::MTP_FAILURE);
        }
        if ssn == Some(MANAGEMENT) {
            return Ok(());
        }
        if remote.sccp.state != RemoteState::Allowed {
            return Err(ReturnCause::SCCP_FAILURE);
        }
        let state = ssn.and_then(|ssn| remote.subsystems.get(&ssn)).map(|tested| tested.state);
        match state {
            None | Some(RemoteState::Allowed) => Ok(()),
            Some(_) => Err(ReturnCause::SUBSYSTEM_FAILURE),
        }
    }

    /// Tells whether the congestion towards a node lets a message of that importance pass.
    pub(super) fn admit(&mut self, code: PointCode, importance: u8) -> Result<(), ReturnCause> {
        let passes = self.remotes.get_mut(&code).is_none_or(|remote| remote.restriction.passes(importance));
        if passes { Ok(()) } else { Err(ReturnCause::NETWORK_CONGESTION) }
    }

    /// Gives the cause for which a subsystem is not reached now, as far as is known; none if it is.
    pub fn not_reached(&self, code: PointCode, ssn: Option<Ssn>) -> Option<ReturnCause> {
        self.can_reach(code, ssn).err()
    }

    /// Tells if MTP reaches a node, as far as is known.
    pub(super) fn is_accessible(&self, code: PointCode) -> bool {
        self.remotes.get(&code).is_none_or(|remote| !remote.is_inaccessible)
    }
}
