//! Succession: a process that is made from a new configuration takes the place of a running one.

use slantpath_base::Instant;
use slantpath_sigtran::asp::AspState;
use slantpath_sigtran::transport::AssociationNumber;

use super::{Management, Role, ServerProcess};

impl ServerProcess {
    /// Says which application servers the process serves no longer, or in another way, when another one, made for that,
    /// takes its place. It ought to leave them before ([`ServerProcess::leave`]).
    pub fn leaving(&self, successor: &Self) -> Vec<u32> {
        let (own, other) = (self.asp.config(), successor.asp.config());
        let served = own.servers.iter().filter(|served| !other.servers.contains(served));
        let configured = served.filter_map(|served| served.name.key().copied());
        configured.chain(self.registrations.not_in(&successor.registrations)).collect()
    }

    /// Leaves application servers in order (ASP Inactive).
    pub fn leave(&mut self, now: Instant, contexts: &[u32]) {
        if contexts.is_empty() {
            return;
        }
        for association in self.tallies.associations().collect::<Vec<_>>() {
            let names: Vec<_> =
                contexts.iter().filter_map(|context| self.name_at(association, *context)).collect();
            if !names.is_empty() {
                self.asp.deactivate(now, association, &names);
            }
        }
        self.takeovers.retain(|(_, context), _| !contexts.contains(context));
    }

    /// Tells if it has left these application servers at all gateways.
    pub fn has_left(&self, contexts: &[u32]) -> bool {
        let is_active = |association: AssociationNumber| {
            contexts.iter().any(|context| self.state(association, *context) == AspState::Active)
        };
        !self.tallies.associations().any(is_active)
    }

    /// Tells if a gateway has granted ASP Up.
    pub fn is_up(&self, association: AssociationNumber) -> bool {
        self.asp.is_up(association)
    }

    /// Goes down at one gateway in order (ASP Down), before the association is closed for good.
    pub fn leave_gateway(&mut self, now: Instant, association: AssociationNumber) {
        self.asp.down(now, association);
        self.takeovers.retain(|(at, _), _| *at != association);
    }

    /// Takes the place of a running process, which has nothing more to do by now, and has left what it serves no
    /// longer. It comes up, and takes the traffic that is new, as at a start.
    pub fn take_over(&mut self, now: Instant, former: Self) {
        let leaving = former.leaving(self);
        let is_new = |role: &&Role| {
            let context = role.routing_context;
            leaving.contains(&context) || !former.roles.iter().any(|known| known.routing_context == context)
        };
        let first = self.roles.iter().filter(|role| role.place == 0).filter(is_new);
        let new: Vec<u32> = first.map(|role| role.routing_context).collect();
        let config = self.asp.config().clone();
        self.asp = former.asp;
        let taken = self.asp.reconfigure(now, config);
        debug_assert_eq!(taken, Ok(()), "it was checked when the successor was made");
        self.tallies.take_over(&former.tallies);
        self.takeovers = former.takeovers;
        self.takeovers.retain(|(at, context), _| {
            self.tallies.of(*at).is_some()
                && self.roles.iter().any(|role| role.place > 0 && role.routing_context == *context)
        });
        self.management = former.management;
        self.outputs = former.outputs;
        let associations: Vec<_> = self.tallies.associations().collect();
        let up: Vec<_> = associations.into_iter().filter(|at| self.asp.is_up(*at)).collect();
        for at in up.iter().copied() {
            let gone = leaving.iter().filter(|context| former.registrations.is_registered(**context));
            let gone: Vec<u32> =
                gone.filter_map(|context| former.registrations.given(at, *context)).collect();
            if !gone.is_empty() {
                let asked = self.asp.deregister(at, gone);
                debug_assert_eq!(asked, Ok(()), "the process is up there");
            }
        }
        self.registrations.take_over(former.registrations);
        for at in up {
            self.register(now, at);
            if self.management == Management::Active {
                self.activate(now, at, &new);
            }
        }
    }
}
