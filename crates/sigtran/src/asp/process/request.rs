//! Requests of management to an ASP, and T(ack) of each request.

use std::collections::BTreeMap;

use slantpath_base::Instant;

use crate::asp::process::{Process, ProcessEvent, ServerName};
use crate::asp::{AdaptationLayer, AspAction, AspInput, AspMessage, AspState, Key, Scope};

/// A request that waits for its Ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Request {
    /// ASP Active.
    Active,
    /// ASP Down.
    Down,
    /// ASP Inactive.
    Inactive,
    /// ASP Up.
    Up,
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) request: Request,
    pub(super) deadline: Instant,
    tries: u32,
}

impl<L: AdaptationLayer> Process<L> {
    /// M-ASP_UP request: come up as soon as the association is there.
    pub fn up(&mut self, now: Instant) {
        self.wants_up = true;
        self.pursue(now);
    }

    /// M-ASP_DOWN request: go down, with all traffic; nothing of what was wanted is wanted any more.
    pub fn down(&mut self, now: Instant) {
        self.wants_up = false;
        for served in self.servers.values_mut() {
            served.wants_traffic = false;
            served.pending = None;
        }
        if self.is_connected() {
            self.ask(now, AspInput::RequestDown);
        }
    }

    /// M-ASP_ACTIVE request: take the traffic of these application servers, of all if none is named, as soon as the ASP
    /// is up, and ASP Inactive, if it was asked for before, is answered or its T(ack) has expired.
    pub fn activate(&mut self, now: Instant, keys: &[ServerName<Key<L>>]) {
        self.want_traffic(keys, true);
        self.pursue(now);
    }

    /// M-ASP_INACTIVE request: give the traffic of these application servers back, of all if none is named.
    pub fn deactivate(&mut self, now: Instant, keys: &[ServerName<Key<L>>]) {
        let keys = self.want_traffic(keys, false);
        if self.is_up && !self.is_pending(Request::Down) {
            self.ask_for_traffic(now, &keys, AspInput::RequestInactive);
        }
    }

    fn want_traffic(&mut self, keys: &[ServerName<Key<L>>], wants_traffic: bool) -> Vec<ServerName<Key<L>>> {
        let mut meant = Vec::new();
        for (key, served) in &mut self.servers {
            if keys.is_empty() || keys.contains(key) {
                served.wants_traffic = wants_traffic;
                meant.push(key.clone());
            }
        }
        meant
    }

    /// Asks for what is wanted and neither there nor asked for yet.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
    //# The ASP must wait for the ASP Up Ack message before sending any other
    //# M3UA messages (e.g., ASP Active or REG REQ).
    pub(super) fn pursue(&mut self, now: Instant) {
        // ASP Down is answered first, and ASP Inactive: what is wanted after them is asked for then.
        if !self.is_connected() || self.is_pending(Request::Down) {
            return;
        }
        if !self.is_up {
            if self.wants_up && !self.is_pending(Request::Up) {
                self.ask(now, AspInput::RequestUp);
            }
            return;
        }
        let idle: Vec<ServerName<Key<L>>> = self
            .servers
            .iter()
            .filter(|(_, served)| {
                served.wants_traffic && served.state == AspState::Inactive && served.pending.is_none()
            })
            .map(|(key, _)| key.clone())
            .collect();
        self.ask_for_traffic(now, &idle, AspInput::RequestActive);
    }

    /// Tells whether ASP Up or ASP Down waits for its Ack.
    pub(super) fn is_pending(&self, request: Request) -> bool {
        self.pending.is_some_and(|pending| pending.request == request)
    }

    fn ask(&mut self, now: Instant, input: AspInput) {
        let Some((_, actions)) = Self::row(self.overall(), input) else { return };
        for action in actions {
            match action {
                AspAction::SendAspUp => self.begin(now, Request::Up),
                AspAction::SendAspDown => self.begin(now, Request::Down),
                _ => {}
            }
        }
    }

    fn begin(&mut self, now: Instant, request: Request) {
        let deadline = now + self.config.acknowledgement;
        self.pending = Some(Pending { request, deadline, tries: 1 });
        self.send_request(request);
    }

    fn send_request(&mut self, request: Request) {
        let message = if request == Request::Up {
            AspMessage::AspUp { asp_identifier: self.config.identifier, info: None }
        } else {
            AspMessage::AspDown { info: None }
        };
        self.send(message);
    }

    fn ask_for_traffic(&mut self, now: Instant, keys: &[ServerName<Key<L>>], input: AspInput) {
        let deadline = now + self.config.acknowledgement;
        let mut asked = Vec::new();
        for key in keys {
            let Some(served) = self.servers.get_mut(key) else { continue };
            let Some((_, actions)) = Self::row(served.state, input) else { continue };
            let request = match actions {
                [AspAction::SendAspActive] => Request::Active,
                [AspAction::SendAspInactive] => Request::Inactive,
                _ => continue,
            };
            served.pending = Some(Pending { request, deadline, tries: 1 });
            asked.push((request, key.clone()));
        }
        self.send_traffic_requests(&asked);
    }

    /// Sends as few messages as do for these requests: one for each kind and traffic mode.
    fn send_traffic_requests(&mut self, asked: &[(Request, ServerName<Key<L>>)]) {
        let mut together: BTreeMap<_, Vec<ServerName<Key<L>>>> = BTreeMap::new();
        for (request, key) in asked {
            let mode = self.servers.get(key).and_then(|served| served.mode);
            let mode = mode.filter(|_| *request == Request::Active);
            together.entry((*request, mode)).or_default().push(key.clone());
        }
        for ((request, traffic_mode), keys) in together {
            let keys: Vec<Key<L>> = keys.iter().filter_map(|name| name.key().cloned()).collect();
            let scope = L::Scope::of(&keys);
            self.send(if request == Request::Active {
                AspMessage::AspActive { traffic_mode, scope, labels: L::Labels::default(), info: None }
            } else {
                AspMessage::AspInactive { scope, info: None }
            });
        }
    }

    /// Sends requests again whose T(ack) has expired, or what management has asked for since.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.1
    //# If the
    //# ASP does not receive a response to an ASP Up message within T(ack),
    //# the ASP MAY restart T(ack) and resend ASP Up messages until it
    //# receives an ASP Up Ack message.
    pub(super) fn repeat_requests(&mut self, now: Instant) {
        let (tries_max, deadline) = (self.config.tries_max, now + self.config.acknowledgement);
        let mut given_up = Vec::new();
        let mut next = |pending: &mut Option<Pending>| {
            let due = (*pending).filter(|due| due.deadline <= now)?;
            if tries_max.is_some_and(|max| due.tries >= max) {
                *pending = None;
                given_up.push(due.request);
                return None;
            }
            *pending = Some(Pending { deadline, tries: due.tries.saturating_add(1), ..due });
            Some(due.request)
        };
        let is_due = |pending: Option<Pending>| pending.is_some_and(|pending| pending.deadline <= now);
        let is_up_again = self.wants_up && self.is_pending(Request::Down) && is_due(self.pending);
        let own = if is_up_again { None } else { next(&mut self.pending) };
        let mut traffic: Vec<(Request, ServerName<Key<L>>)> = Vec::new();
        for (key, served) in &mut self.servers {
            if served.is_wanted_again() && is_due(served.pending) {
                served.pending = Some(Pending { request: Request::Active, deadline, tries: 1 });
                traffic.push((Request::Active, key.clone()));
            } else if let Some(request) = next(&mut served.pending) {
                traffic.push((request, key.clone()));
            }
        }
        given_up.sort_unstable();
        given_up.dedup();
        for request in given_up {
            self.event(ProcessEvent::NotAcknowledged(request));
        }
        if let Some(request) = own {
            self.send_request(request);
        }
        if is_up_again {
            // It takes what stood under it down, requests for traffic among them.
            self.put_to_all(now, AspInput::AspDownUnanswered, &[]);
        } else {
            self.send_traffic_requests(&traffic);
        }
    }
}
