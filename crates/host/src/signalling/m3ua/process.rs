//! An application server process with its part in each application server.
//!
//! It comes up whenever an association does. In override mode the first process of an application server takes the
//! traffic when it comes up; the others stand by, and take it when the gateway tells that there is nobody.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{AspState, ServerName, Status, TrafficMode};
use slantpath_sigtran::m3ua::{Asp, Availability, NetworkPoint};
use slantpath_sigtran::transport::TransportInput;

use super::config::{AspId, M3uaConfig, ServedPointId, ServerId, association};
use crate::signalling::config::AdaptationId;

/// An application server process.
#[derive(Debug)]
pub(in crate::signalling) struct Process {
    asp: Asp,
    associations: Vec<AdaptationId>,
    points: Vec<ServedPointId>,
    roles: Vec<Role>,
    /// When it takes traffic that nobody has, by association and routing context.
    takeovers: BTreeMap<(AdaptationId, u32), Instant>,
    /// How long an answer may take: the first process has as long to come up before the next one takes its place.
    patience: Duration,
    management: Management,
    pub(in crate::signalling) deadline: Option<Instant>,
}

/// What a process is for an application server.
#[derive(Clone, Copy, Debug)]
struct Role {
    routing_context: u32,
    /// How many stand before it: 0 takes traffic at once.
    place: u32,
}

/// What management wants of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Management {
    /// Traffic.
    Active,
    /// No traffic.
    Inactive,
}

impl Process {
    pub(super) fn new(id: AspId, asp: Asp, config: &M3uaConfig) -> Self {
        let own = config.associations.iter().enumerate().filter(|(_, own)| own.asp == id);
        let servers = || config.servers.iter().filter(move |server| server.asps.contains(&id));
        let role = |server: &super::ServerConfig| {
            let place = match server.traffic_mode {
                TrafficMode::Override => server.asps.iter().position(|asp| *asp == id).unwrap_or_default(),
                TrafficMode::Broadcast | TrafficMode::Loadshare => 0,
            };
            Role { routing_context: server.routing_context, place: u32::try_from(place).unwrap_or(u32::MAX) }
        };
        let mut points: Vec<_> = servers().map(|server| server.point).collect();
        points.sort_unstable();
        points.dedup();
        Self {
            associations: own.map(|(number, _)| AdaptationId(number)).collect(),
            points,
            roles: servers().map(role).collect(),
            takeovers: BTreeMap::new(),
            patience: config.asps[id.0].process.acknowledgement,
            management: Management::Active,
            asp,
            deadline: None,
        }
    }

    pub(in crate::signalling) const fn asp(&self) -> &Asp {
        &self.asp
    }

    pub(in crate::signalling) const fn asp_mut(&mut self) -> &mut Asp {
        &mut self.asp
    }

    pub(in crate::signalling) fn associations(&self) -> &[AdaptationId] {
        &self.associations
    }

    pub(super) fn serves(&self, point: ServedPointId) -> bool {
        self.points.contains(&point)
    }

    pub(super) fn reaches(&self, place: NetworkPoint) -> bool {
        self.asp.destination(place).availability != Availability::Unavailable
    }

    /// Whether it carries the traffic of an application server, at any gateway, and is to go on with it.
    pub(super) fn is_active(&self, config: &M3uaConfig, server: ServerId) -> bool {
        if self.management == Management::Inactive {
            return false;
        }
        let name = ServerName::Named(config.servers[server.0].routing_context);
        let state = |own: &AdaptationId| self.asp.state(association(*own), &name);
        self.associations.iter().any(|own| state(own) == AspState::Active)
    }

    pub(super) fn handle_transport(&mut self, now: Instant, from: AdaptationId, input: TransportInput) {
        let (is_up, is_down) =
            (matches!(input, TransportInput::Up { .. }), matches!(input, TransportInput::Down));
        self.asp.handle_input(now, association(from), input);
        if is_up {
            self.asp.up(now, association(from));
        }
        if is_down {
            // It stands by again when it comes back.
            self.takeovers.retain(|(own, _), _| *own != from);
            let standing_by: Vec<_> = self
                .roles
                .iter()
                .filter(|role| role.place > 0)
                .map(|role| ServerName::Named(role.routing_context))
                .collect();
            if !standing_by.is_empty() {
                self.asp.deactivate(now, association(from), &standing_by);
            }
        }
    }

    /// The gateway has granted ASP Up.
    pub(super) fn came_up(&mut self, now: Instant, at: AdaptationId) {
        if self.management == Management::Inactive {
            return;
        }
        let first = self.roles.iter().filter(|role| role.place == 0);
        let names: Vec<_> = first.map(|role| ServerName::Named(role.routing_context)).collect();
        if !names.is_empty() {
            self.asp.activate(now, association(at), &names);
        }
    }

    /// NTFY: whoever stands by takes what nobody has, at once after a failure, and after its turn at the start.
    pub(super) fn notified(&mut self, now: Instant, at: AdaptationId, status: Status, contexts: &[u32]) {
        let standing_by = self.roles.iter().filter(|role| role.place > 0);
        for role in standing_by.filter(|role| contexts.is_empty() || contexts.contains(&role.routing_context))
        {
            let key = (at, role.routing_context);
            match status {
                Status::AS_INACTIVE => {
                    let turn = now + self.patience * u64::from(role.place);
                    self.takeovers.entry(key).or_insert(turn);
                }
                Status::AS_PENDING => {
                    let turn = now + self.patience * u64::from(role.place - 1);
                    self.takeovers.insert(key, turn);
                }
                Status::AS_ACTIVE | Status::ALTERNATE_ASP_ACTIVE => {
                    self.takeovers.remove(&key);
                }
                _ => {}
            }
        }
    }

    /// Does what is due by now.
    pub(super) fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_timeout(now);
        let due: Vec<_> = self.takeovers.extract_if(.., |_, turn| *turn <= now).map(|(key, _)| key).collect();
        for (at, context) in due {
            if self.management == Management::Active {
                self.asp.activate(now, association(at), &[ServerName::Named(context)]);
            }
        }
    }

    pub(super) fn next_takeover(&self) -> Option<Instant> {
        self.takeovers.values().copied().min()
    }

    /// Management takes its traffic away.
    pub(super) fn deactivate(&mut self, now: Instant) {
        self.management = Management::Inactive;
        for own in self.associations.clone() {
            self.asp.deactivate(now, association(own), &[]);
        }
    }

    /// Management lets it take traffic.
    pub(super) fn activate(&mut self, now: Instant) {
        self.management = Management::Active;
        for own in self.associations.clone() {
            self.asp.activate(now, association(own), &[]);
        }
    }
}
