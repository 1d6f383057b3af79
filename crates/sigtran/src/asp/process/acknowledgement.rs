//! Answers, notifications and refusals of the gateway.

use slantpath_base::Instant;

use crate::asp::process::{Process, ProcessEvent, Request, ServerName};
use crate::asp::{AdaptationLayer, AspAction, AspInput, AspMessage, AspState, ErrorCode, Key, Scope, Status};

impl<L: AdaptationLayer> Process<L> {
    /// Handles an input that concerns the ASP as a whole.
    pub(super) fn put_to_all(&mut self, now: Instant, input: AspInput, octets: &[u8]) {
        let Some((to, actions)) = Self::row(self.overall(), input) else { return };
        let keys: Vec<ServerName<Key<L>>> = self.servers.keys().cloned().collect();
        // Up first on the way up, last on the way down: whoever listens sees no active ASP that is down.
        if to != AspState::Down {
            self.set_up(true);
        }
        for key in keys {
            if let Some((to, _)) = Self::row(self.state(&key), input) {
                self.set_state(&key, to);
            }
            if let Some(served) = self.servers.get_mut(&key)
                && to == AspState::Down
            {
                served.pending = None;
            }
        }
        self.set_up(to != AspState::Down);
        for action in actions {
            match action {
                AspAction::StopAcknowledgementTimer => self.stop_timer(input),
                AspAction::SendUnexpectedMessage => {
                    let error = AspMessage::error(ErrorCode::UNEXPECTED_MESSAGE, L::Scope::default(), octets);
                    self.send(error);
                }
                // What management wants by now may be more than what it has got.
                AspAction::ReturnToPrevious | AspAction::ConfirmDown | AspAction::ConfirmUp => {
                    self.pursue(now);
                }
                _ => {}
            }
        }
    }

    /// Stops T(ack) of what an input answers or makes void.
    fn stop_timer(&mut self, input: AspInput) {
        let is_kept = match input {
            // ASP Down that crosses a late ASP Up Ack still waits for its own.
            AspInput::AspUpAck => self.is_pending(Request::Down),
            // An isolated gateway's ASP Down Ack is no answer to ASP Up.
            _ => false,
        };
        if !is_kept {
            self.pending = None;
        }
    }

    pub(super) fn handle_traffic_ack(
        &mut self,
        now: Instant,
        request: Request,
        scope: &L::Scope,
        octets: &[u8],
    ) {
        if !self.is_up {
            let error = AspMessage::error(ErrorCode::UNEXPECTED_MESSAGE, scope.clone(), octets);
            self.send(error);
            return;
        }
        let (keys, unknown) = self.named(scope);
        if !unknown.is_empty() {
            self.send(AspMessage::error(L::INVALID_SCOPE, unknown, octets));
        }
        let is_asked = |process: &Self, key: &ServerName<Key<L>>| {
            let pending = process.servers.get(key).and_then(|served| served.pending);
            pending.is_some_and(|pending| pending.request == request)
        };
        // An Ack that names nothing answers what was asked; one that was not asked for concerns everything.
        let asked: Vec<ServerName<Key<L>>> = keys.iter().filter(|key| is_asked(self, key)).cloned().collect();
        let meant = if scope.is_empty() && !asked.is_empty() { asked } else { keys };
        let mut is_answered = false;
        for key in meant {
            let input = match (request, is_asked(self, &key)) {
                (Request::Active, _) => AspInput::AspActiveAck,
                (_, true) => AspInput::AspInactiveAck,
                (_, false) => AspInput::AspInactiveAckUnasked,
            };
            let Some((to, actions)) = Self::row(self.state(&key), input) else { continue };
            self.set_state(&key, to);
            if let Some(served) = self.servers.get_mut(&key)
                && served.pending.is_some_and(|pending| pending.request == request)
            {
                served.pending = None;
            }
            // What management wants by now may be other than what it has got.
            is_answered |= actions
                .iter()
                .any(|action| matches!(action, AspAction::ReturnToPrevious | AspAction::ConfirmInactive));
        }
        if is_answered {
            self.pursue(now);
        }
    }

    pub(super) fn handle_notify(
        &mut self,
        status: Status,
        asp_identifier: Option<u32>,
        scope: &L::Scope,
        octets: &[u8],
    ) {
        let (keys, unknown) = self.named(scope);
        if !unknown.is_empty() {
            self.send(AspMessage::error(L::INVALID_SCOPE, unknown, octets));
        }
        if status == Status::ALTERNATE_ASP_ACTIVE {
            for key in &keys {
                let Some((to, _)) = Self::row(self.state(key), AspInput::AlternateAspActive) else {
                    continue;
                };
                self.set_state(key, to);
                // The other ASP is to keep the traffic: asking for it again would start a quarrel. What management has
                // asked for since, and waits for an Ack, the other has not overridden.
                if let Some(served) = self.servers.get_mut(key) {
                    served.wants_traffic &= served.pending.is_some();
                }
            }
        }
        self.event(ProcessEvent::Notified(status, keys, asp_identifier));
    }

    /// An ERR: what it refuses is not asked for again by itself.
    pub(super) fn handle_error(&mut self, now: Instant, code: ErrorCode, scope: &L::Scope) {
        let refuses_up = [
            ErrorCode::INVALID_VERSION,
            ErrorCode::REFUSED_MANAGEMENT_BLOCKING,
            ErrorCode::ASP_IDENTIFIER_REQUIRED,
            ErrorCode::INVALID_ASP_IDENTIFIER,
        ];
        let refuses_traffic = [
            ErrorCode::INVALID_VERSION,
            ErrorCode::REFUSED_MANAGEMENT_BLOCKING,
            ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE,
            ErrorCode::NO_CONFIGURED_AS_FOR_ASP,
            ErrorCode::MISSING_PARAMETER,
            L::INVALID_SCOPE,
        ];
        if !self.is_up {
            if refuses_up.contains(&code) && self.is_pending(Request::Up) {
                self.pending = None;
                self.wants_up = false;
            }
        } else if refuses_traffic.contains(&code) {
            let (keys, _) = self.named(scope);
            let mut is_wanted_again = false;
            for key in keys {
                let Some(served) = self.servers.get_mut(&key) else { continue };
                is_wanted_again |= served.is_wanted_again();
                // Whoever is refused ASP Inactive still wants the traffic to be gone.
                if served.pending.take().is_some_and(|pending| pending.request == Request::Active) {
                    served.wants_traffic = served.state == AspState::Active;
                }
            }
            if is_wanted_again {
                self.pursue(now);
            }
        }
        self.event(ProcessEvent::PeerError(code));
    }
}
