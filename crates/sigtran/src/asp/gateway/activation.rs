//! Traffic of application servers: ASP Active, ASP Inactive, registration, and what follows for the state of the
//! application server.

use slantpath_base::Instant;

use crate::asp::gateway::{Gateway, GatewayEvent, Key};
use crate::asp::{
    AS_MACHINE, AdaptationLayer, AsAction, AsInput, AsState, AspMessage, AspState, ErrorCode,
    REMOTE_ASP_MACHINE, RemoteAspAction, RemoteAspInput, Scope, Status, TrafficMode,
};
use crate::transport::AssociationNumber;

impl<L: AdaptationLayer> Gateway<L> {
    /// The application servers that a message names, as far as the ASP is a member; an ERR answers for the others.
    ///
    /// RFC 4666 contradicts itself about ASP Active: its section 4.3.4.3 gives the two codes the other way round than
    /// their definitions in section 3.8.1, its rule for ASP Inactive in 4.3.4.4, and TS 102 381. The latter three hold.
    fn named(&mut self, association: AssociationNumber, scope: &L::Scope, octets: &[u8]) -> Vec<Key<L>> {
        let own = self.keys_of(association);
        if scope.is_empty() {
            if own.is_empty() {
                //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
                //# The "No Configured AS for ASP" error is sent if a message is received
                //# from a peer without a Routing Context parameter and it is not known
                //# by configuration data which Application Servers are referenced.
                let code = ErrorCode::NO_CONFIGURED_AS_FOR_ASP;
                self.send_error(association, code, L::Scope::default(), octets);
            }
            return own;
        }
        let (named, unknown) = scope.select(own.iter());
        if !unknown.is_empty() {
            //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.1
            //# The "Invalid Routing Context" error is sent if a message is received
            //# from a peer with an invalid (unconfigured) Routing Context value.
            self.send_error(association, L::INVALID_SCOPE, unknown, octets);
        }
        named
    }

    pub(super) fn handle_asp_active(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        asked: Option<TrafficMode>,
        scope: &L::Scope,
        octets: &[u8],
    ) {
        if !self.is_up(association) {
            self.send_error(association, ErrorCode::UNEXPECTED_MESSAGE, scope.clone(), octets);
            return;
        }
        let keys = self.named(association, scope, octets);
        let (mut granted, mut refused, mut wrong_mode) = (Vec::new(), Vec::new(), Vec::new());
        for key in keys {
            let Some(server) = self.servers.get_mut(&key) else { continue };
            if asked.is_some() && server.known_mode().is_some_and(|mode| asked != Some(mode)) {
                wrong_mode.push(key);
                continue;
            }
            let input =
                if server.is_blocked { RemoteAspInput::AspActiveRefused } else { RemoteAspInput::AspActive };
            let state = server.state_of(association);
            let Some(row) = REMOTE_ASP_MACHINE.next(state, input) else { continue };
            if row.actions.contains(&RemoteAspAction::SendAspActiveAck) {
                server.asked_mode = server.known_mode().or(asked);
                self.set_state(association, &key, row.to);
                granted.push(key);
            } else {
                refused.push(key);
            }
        }
        if !granted.is_empty() {
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3
            //# The Routing Context parameter MUST be included in the ASP
            //# Active Ack message(s) if the received ASP Active message contained
            //# any Routing Contexts.
            let scope = if scope.is_empty() { L::Scope::default() } else { L::Scope::of(&granted) };
            self.send(association, AspMessage::AspActiveAck { traffic_mode: asked, scope, info: None });
        }
        if !wrong_mode.is_empty() {
            let code = ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE;
            self.send_error(association, code, L::Scope::of(&wrong_mode), octets);
        }
        if !refused.is_empty() {
            let code = ErrorCode::REFUSED_MANAGEMENT_BLOCKING;
            self.send_error(association, code, L::Scope::of(&refused), octets);
        }
        for key in granted {
            self.override_others(association, &key);
            self.settle(now, &key);
        }
    }

    /// In override mode, an ASP that becomes active takes the traffic from the one that had it.
    fn override_others(&mut self, association: AssociationNumber, key: &Key<L>) {
        if self.traffic_mode(key) != Some(TrafficMode::Override) {
            return;
        }
        let others: Vec<AssociationNumber> =
            self.active(key).iter().copied().filter(|other| *other != association).collect();
        for other in others {
            let input = RemoteAspInput::OverriddenByOther;
            let Some(row) = REMOTE_ASP_MACHINE.next(AspState::Active, input) else { continue };
            self.set_state(other, key, row.to);
            if row.actions.contains(&RemoteAspAction::NotifyAlternateAspActive) {
                //= https://www.rfc-editor.org/rfc/rfc4666#section-3.8.2
                //# The ASP Identifier (if available) of the
                //# Alternate ASP MUST be placed in the message.
                self.notify(other, Status::ALTERNATE_ASP_ACTIVE, Some(association), key);
            }
        }
    }

    pub(super) fn handle_asp_inactive(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        scope: &L::Scope,
        octets: &[u8],
    ) {
        if !self.is_up(association) {
            self.send_error(association, ErrorCode::UNEXPECTED_MESSAGE, scope.clone(), octets);
            return;
        }
        let keys = self.named(association, scope, octets);
        self.withdraw(now, association, &keys, RemoteAspInput::AspInactive, scope.is_empty());
    }

    /// Takes the traffic of some application servers off an ASP, and tells it.
    pub(super) fn withdraw(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        keys: &[Key<L>],
        input: RemoteAspInput,
        is_unnamed: bool,
    ) {
        let mut withdrawn = Vec::new();
        for key in keys {
            let state = self.asp_state(association, key);
            let Some(row) = REMOTE_ASP_MACHINE.next(state, input) else { continue };
            self.set_state(association, key, row.to);
            if row.actions.contains(&RemoteAspAction::SendAspInactiveAck) {
                withdrawn.push(key.clone());
            }
        }
        if !withdrawn.is_empty() {
            let scope = if is_unnamed { L::Scope::default() } else { L::Scope::of(&withdrawn) };
            self.send(association, AspMessage::AspInactiveAck { scope, info: None });
        }
        for key in withdrawn {
            if !self.settle(now, &key) {
                self.notify_shortage(&key);
            }
        }
    }

    /// Takes the traffic of an application server off all its ASPs for management; ASP Active is refused until it is
    /// unblocked.
    pub fn block(&mut self, now: Instant, key: &Key<L>) {
        let Some(server) = self.servers.get_mut(key) else { return };
        server.is_blocked = true;
        for association in server.active.clone() {
            let keys = std::slice::from_ref(key);
            self.withdraw(now, association, keys, RemoteAspInput::LockoutOfTraffic, false);
        }
    }

    /// Grants ASP Active again.
    pub fn unblock(&mut self, key: &Key<L>) {
        if let Some(server) = self.servers.get_mut(key) {
            server.is_blocked = false;
        }
    }

    /// Makes an ASP a member by registration. False if it is one already, or there is no such application server.
    pub fn register(&mut self, now: Instant, association: AssociationNumber, key: &Key<L>) -> bool {
        let is_new = self.servers.get_mut(key).is_some_and(|server| server.register(association));
        if is_new && !self.settle(now, key) {
            self.notify_state(association, key);
        }
        is_new
    }

    /// Tells whether an ASP is a member by registration.
    pub fn is_registered(&self, association: AssociationNumber, key: &Key<L>) -> bool {
        self.servers.get(key).is_some_and(|server| server.is_registered(association))
    }

    /// Ends a membership by registration. False if there is none.
    pub fn deregister(&mut self, now: Instant, association: AssociationNumber, key: &Key<L>) -> bool {
        let is_registered = self.is_registered(association, key);
        if is_registered && let Some(server) = self.servers.get_mut(key) {
            server.deregister(association);
            self.event(GatewayEvent::Deregistered(association, key.clone()));
            self.settle(now, key);
        }
        is_registered
    }

    /// Ends all memberships by registration of an ASP that is no longer active.
    pub(super) fn deregister_all(&mut self, association: AssociationNumber) {
        let mut gone = Vec::new();
        for (key, server) in &mut self.servers {
            if server.is_registered(association) {
                server.deregister(association);
                gone.push(key.clone());
            }
        }
        for key in gone {
            self.event(GatewayEvent::Deregistered(association, key));
        }
    }

    /// Takes over that an ASP is up or down: with single exchange, our own request was granted.
    pub fn adopt_up(&mut self, now: Instant, association: AssociationNumber, is_up: bool) {
        for key in self.keys_of(association) {
            let state = self.asp_state(association, &key);
            let state = if is_up { state.max(AspState::Inactive) } else { AspState::Down };
            self.set_state(association, &key, state);
        }
        self.set_up(association, is_up);
        for key in self.keys_of(association) {
            self.settle(now, &key);
        }
    }

    /// Takes over the state of an ASP within an application server: with single exchange, our own request was granted.
    pub fn adopt(&mut self, now: Instant, association: AssociationNumber, key: &Key<L>, state: AspState) {
        self.set_state(association, key, state);
        self.settle(now, key);
    }

    pub(super) fn set_state(&mut self, association: AssociationNumber, key: &Key<L>, state: AspState) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.state_of(association) != state {
            server.set_state(association, state);
            self.event(GatewayEvent::Asp(association, key.clone(), state));
        }
    }

    /// Moves an application server to the state that its ASPs' states ask for. Whether its ASPs were notified.
    pub(super) fn settle(&mut self, now: Instant, key: &Key<L>) -> bool {
        let mut is_notified = false;
        while let Some(input) = self.servers.get(key).and_then(|server| {
            let (up, active) = (server.up().len(), server.active.len());
            match server.state {
                AsState::Down => (up > 0).then_some(AsInput::AspUp),
                AsState::Inactive if up == 0 => Some(AsInput::LastAspDown),
                AsState::Inactive => (active >= server.needed_active()).then_some(AsInput::EnoughActive),
                AsState::Active => (active == 0).then_some(AsInput::LastActiveLost),
                AsState::Pending => (active > 0).then_some(AsInput::AspActive),
            }
        }) {
            is_notified |= self.take(now, key, input);
        }
        is_notified
    }

    /// Ends the waiting of an application server whose T(r) has expired.
    pub(super) fn expire_recovery(&mut self, now: Instant, key: &Key<L>) {
        let Some(server) = self.servers.get_mut(key) else { return };
        if server.recovery_deadline.is_some_and(|deadline| deadline <= now) {
            server.recovery_deadline = None;
            let is_down = server.up().is_empty();
            let input =
                if is_down { AsInput::RecoveryExpiredAllDown } else { AsInput::RecoveryExpiredAspInactive };
            self.take(now, key, input);
        }
    }

    /// Takes one row of the application server's machine. Whether the ASPs were notified.
    fn take(&mut self, now: Instant, key: &Key<L>, input: AsInput) -> bool {
        let recovery = self.config.recovery;
        let Some(server) = self.servers.get_mut(key) else { return false };
        let Some(row) = AS_MACHINE.next(server.state, input) else { return false };
        server.state = row.to;
        if matches!(row.to, AsState::Down | AsState::Inactive) {
            server.asked_mode = None;
        }
        for action in row.actions {
            match action {
                AsAction::StartRecoveryTimer => server.recovery_deadline = Some(now + recovery),
                AsAction::StopRecoveryTimer => server.recovery_deadline = None,
                AsAction::DiscardQueue
                | AsAction::FlushQueue
                | AsAction::NotifyActive
                | AsAction::NotifyInactive
                | AsAction::NotifyPending => {}
            }
        }
        self.event(GatewayEvent::As(key.clone(), row.to));
        let mut is_notified = false;
        for action in row.actions {
            match action {
                AsAction::DiscardQueue => self.event(GatewayEvent::DiscardQueue(key.clone())),
                AsAction::FlushQueue => self.event(GatewayEvent::FlushQueue(key.clone())),
                AsAction::NotifyActive | AsAction::NotifyInactive | AsAction::NotifyPending => {
                    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.5
                    //# A Notify message reflecting a change in the AS state MUST be sent to
                    //# all ASPs in the AS, except those in the ASP-DOWN state
                    for asp in self.members_up(key) {
                        self.notify_state(asp, key);
                    }
                    is_notified = true;
                }
                AsAction::StartRecoveryTimer | AsAction::StopRecoveryTimer => {}
            }
        }
        is_notified
    }

    /// Tells an ASP the state of an application server.
    pub(super) fn notify_state(&mut self, to: AssociationNumber, key: &Key<L>) {
        let status = match self.as_state(key) {
            Some(AsState::Active) => Status::AS_ACTIVE,
            Some(AsState::Inactive) => Status::AS_INACTIVE,
            Some(AsState::Pending) => Status::AS_PENDING,
            Some(AsState::Down) | None => return,
        };
        self.notify(to, status, None, key);
    }

    /// Tells the other ASPs that one has failed.
    pub(super) fn notify_failure(&mut self, failed: AssociationNumber, key: &Key<L>) {
        for other in self.members_up(key) {
            self.notify(other, Status::ASP_FAILURE, Some(failed), key);
        }
        self.notify_shortage(key);
    }

    /// Tells inactive ASPs that those left do not suffice.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.4
    //# A Notify message
    //# ("Insufficient ASP resources active in AS") MAY be sent to all
    //# inactive ASPs, if required.
    fn notify_shortage(&mut self, key: &Key<L>) {
        let Some(server) = self.servers.get(key) else { return };
        let is_short = !server.active.is_empty() && server.active.len() < server.needed_active();
        if server.state == AsState::Active && is_short {
            for inactive in server.inactive() {
                self.notify(inactive, Status::INSUFFICIENT_ASP_RESOURCES, None, key);
            }
        }
    }
}
