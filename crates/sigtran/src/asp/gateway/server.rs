//! One application server: its ASPs and their states.

use std::collections::BTreeMap;

use slantpath_base::Instant;

use crate::asp::{AsState, AspState, TrafficMode};
use crate::transport::AssociationNumber;

/// Settings of an application server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Way of sharing the traffic among the ASPs; without it, the first ASP Active that makes the application server
    /// active says so, and override holds if it does not either.
    pub traffic_mode: Option<TrafficMode>,
    /// Number of ASPs that must be active before traffic starts: n of an n + k redundancy. In override mode one is
    /// enough.
    pub needed_active: usize,
    /// ASPs that may serve it.
    pub members: Members,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { traffic_mode: None, needed_active: 1, members: Members::Any }
    }
}

/// ASPs that may serve an application server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// All that come up.
    Any,
    /// These, and those that register.
    Only(Vec<AssociationNumber>),
}

/// An application server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    config: ServerConfig,
    pub(super) state: AsState,
    /// The mode that the first ASP Active asked for.
    pub(super) asked_mode: Option<TrafficMode>,
    pub(super) is_blocked: bool,
    pub(super) recovery_deadline: Option<Instant>,
    members: BTreeMap<AssociationNumber, Member>,
    /// The active members, by association.
    pub(super) active: Vec<AssociationNumber>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Member {
    state: AspState,
    is_registered: bool,
}

impl Server {
    pub(super) fn new(config: ServerConfig) -> Self {
        let listed = match &config.members {
            Members::Any => Vec::new(),
            Members::Only(asps) => asps.clone(),
        };
        Self {
            config,
            state: AsState::Down,
            asked_mode: None,
            is_blocked: false,
            recovery_deadline: None,
            members: listed.into_iter().map(|asp| (asp, Member::default())).collect(),
            active: Vec::new(),
        }
    }

    pub(super) const fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// Tells if an ASP might serve it with another configuration: what is registered stays.
    pub(super) fn would_admit(&self, config: &ServerConfig, asp: AssociationNumber) -> bool {
        match &config.members {
            Members::Any => true,
            Members::Only(asps) => asps.contains(&asp) || self.is_registered(asp),
        }
    }

    /// Takes another configuration. Gives the ASPs that were up and may serve it no longer.
    pub(super) fn reconfigure(&mut self, config: ServerConfig) -> Vec<AssociationNumber> {
        let goes = |asp: &AssociationNumber| !self.would_admit(&config, *asp);
        let mut gone: Vec<_> = self.members.keys().copied().filter(goes).collect();
        gone.retain(|asp| self.members.remove(asp).is_some_and(|member| member.state != AspState::Down));
        self.active.retain(|asp| self.members.contains_key(asp));
        if let Members::Only(asps) = &config.members {
            for asp in asps {
                self.members.entry(*asp).or_default();
            }
        }
        self.config = config;
        gone
    }

    pub(super) fn mode(&self) -> TrafficMode {
        self.known_mode().unwrap_or(TrafficMode::Override)
    }

    /// The mode, if it is settled already.
    pub(super) fn known_mode(&self) -> Option<TrafficMode> {
        self.config.traffic_mode.or(self.asked_mode)
    }

    pub(super) fn needed_active(&self) -> usize {
        if self.mode() == TrafficMode::Override { 1 } else { self.config.needed_active.max(1) }
    }

    pub(super) fn may_serve(&self, asp: AssociationNumber) -> bool {
        self.config.members == Members::Any || self.is_member(asp)
    }

    pub(super) fn is_member(&self, asp: AssociationNumber) -> bool {
        self.members.contains_key(&asp)
    }

    pub(super) fn member_count(&self) -> usize {
        self.members.len()
    }

    pub(super) fn state_of(&self, asp: AssociationNumber) -> AspState {
        self.members.get(&asp).map_or(AspState::Down, |member| member.state)
    }

    pub(super) fn set_state(&mut self, asp: AssociationNumber, state: AspState) {
        self.members.entry(asp).or_default().state = state;
        let active = self.members.iter().filter(|(_, member)| member.state == AspState::Active);
        self.active = active.map(|(asp, _)| *asp).collect();
    }

    /// Makes a member by registration; false if it was one already.
    pub(super) fn register(&mut self, asp: AssociationNumber) -> bool {
        if self.is_member(asp) {
            return false;
        }
        self.members.insert(asp, Member { state: AspState::Inactive, is_registered: true });
        true
    }

    pub(super) fn is_registered(&self, asp: AssociationNumber) -> bool {
        self.members.get(&asp).is_some_and(|member| member.is_registered)
    }

    /// Ends a membership that was registered.
    pub(super) fn deregister(&mut self, asp: AssociationNumber) {
        self.members.remove(&asp);
        self.active.retain(|active| *active != asp);
    }

    pub(super) fn up(&self) -> Vec<AssociationNumber> {
        let up = self.members.iter().filter(|(_, member)| member.state != AspState::Down);
        up.map(|(asp, _)| *asp).collect()
    }

    pub(super) fn inactive(&self) -> Vec<AssociationNumber> {
        let inactive = self.members.iter().filter(|(_, member)| member.state == AspState::Inactive);
        inactive.map(|(asp, _)| *asp).collect()
    }
}
