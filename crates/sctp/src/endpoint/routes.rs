//! From which of our addresses packets leave, where whoever carries them knows the routes.
//!
//! The endpoint asks of the peer's addresses, and is answered before it is polled on: for each the addresses of ours
//! from which the routes lead there. It asks before an INIT or a COOKIE ECHO, when an association is set up, when its
//! addresses change, and when an address is back. Nothing is kept here: routes may change.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::table::{Entry, State};
use super::{AssociationId, Endpoint};

/// Party that waits for the answer about routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    /// An INIT that is to leave.
    Init(AssociationId),
    /// A COOKIE ECHO that is to leave.
    CookieEcho(AssociationId),
    /// All paths of an established association.
    Paths(AssociationId),
}

/// Tells if the driver of the endpoint answers questions about routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Routes {
    Known,
    #[default]
    Unknown,
}

/// Questions that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct Questions {
    routes: Routes,
    waiting: VecDeque<(Asker, SmallVec<[IpAddr; 2]>)>,
}

impl Endpoint {
    /// Asks from now on from which addresses packets may leave, wherever a port has several: whoever drives the
    /// endpoint answers each [`route_question`](Self::route_question) before it polls on.
    pub const fn ask_for_routes(&mut self) {
        self.questions.routes = Routes::Known;
    }

    /// The addresses of a peer of which an answer is wanted.
    #[inline]
    pub fn route_question(&self) -> Option<&[IpAddr]> {
        self.questions.waiting.front().map(|(_, destinations)| &destinations[..])
    }

    /// Answers that question: for each of the addresses those of ours from which packets may leave to it, the one that
    /// the routes prefer first. Where there are none, RFC 6724, rule 8, decides.
    pub fn answer_routes(&mut self, now: Instant, sources: &[Vec<IpAddr>]) {
        let Some((asker, destinations)) = self.questions.waiting.pop_front() else { return };
        let (Asker::Init(id) | Asker::CookieEcho(id) | Asker::Paths(id)) = asker;
        if self.table.find(id).is_none() {
            return;
        }
        let first = sources.first().map_or(&[][..], Vec::as_slice);
        match asker {
            Asker::Init(_) => self.send_init_from(id.slot(), first),
            Asker::CookieEcho(_) => self.send_cookie_echo_from(now, id.slot(), first),
            Asker::Paths(_) => {
                if let Some(Entry { state: State::Established(association), .. }) = self.table.find_mut(id) {
                    association.choose_sources(now, &destinations, sources);
                    self.wake(id.slot());
                }
            }
        }
    }

    /// Asks for an INIT to this address; `false` if nobody answers, or there is no choice.
    pub(super) fn asks_for_init(&mut self, slot: u32, destination: IpAddr) -> bool {
        self.ask(slot, [destination].into_iter().collect(), Asker::Init)
    }

    /// Variant of [`asks_for_init`](Self::asks_for_init) for a COOKIE ECHO.
    pub(super) fn asks_for_cookie_echo(&mut self, slot: u32, destination: IpAddr) -> bool {
        self.ask(slot, [destination].into_iter().collect(), Asker::CookieEcho)
    }

    /// Asks for the paths of an established association.
    pub(super) fn ask_for_paths(&mut self, slot: u32) {
        if self.questions.routes == Routes::Known
            && let Some(Entry { state: State::Established(association), .. }) = self.table.get_mut(slot)
        {
            let destinations = association.destinations();
            self.ask(slot, destinations, Asker::Paths);
        }
    }

    fn ask(
        &mut self,
        slot: u32,
        destinations: SmallVec<[IpAddr; 2]>,
        asker: impl FnOnce(AssociationId) -> Asker,
    ) -> bool {
        let own = &self.ports[self.table[slot].port as usize].addresses;
        let has_choice = destinations
            .iter()
            .any(|to| own.iter().filter(|address| address.is_ipv4() == to.is_ipv4()).nth(1).is_some());
        let asks = self.questions.routes == Routes::Known && has_choice;
        if asks {
            self.questions.waiting.push_back((asker(self.table.id(slot)), destinations));
        }
        asks
    }
}
