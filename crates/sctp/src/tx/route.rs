//! Routing of DATA that has not been sent: to one path, unless several are used at once ([`spread`](super::spread)),
//! except for messages that are for a certain address.

use super::{Sender, Turn};
use crate::config::SctpConfig;
use crate::event::Message;
use crate::path::{PathId, PathState, Paths};

/// Need to look at the next message to know its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Routing {
    /// No: all goes to the current path, as with most associations.
    Current,
    /// Some message that waits may be for a certain address.
    Directed,
    /// All active paths are used at once, but for messages that are for a certain address.
    Spread,
}

impl Routing {
    pub(super) const fn new(config: &SctpConfig) -> Self {
        if config.multipath.is_on() { Self::Spread } else { Self::Current }
    }
}

impl Sender {
    /// A message with options is about to be queued.
    pub(super) fn note_destination(&mut self, message: &Message, config: &SctpConfig) {
        let is_directed = message.options.as_ref().is_some_and(|options| options.destination.is_some());
        self.has_directed |= is_directed;
        if is_directed && self.routing == Routing::Current {
            self.routing = Routing::Directed;
        } else if !is_directed && self.queue.is_empty() {
            self.routing = Routing::new(config);
        }
    }

    /// The path that the next new chunk takes, but for the one that `waits` for window to send again what was lost
    /// there.
    #[inline]
    pub(super) fn route_new(&mut self, turn: &mut Turn<'_>, waits: Option<PathId>) -> Option<PathId> {
        let path = match self.routing {
            Routing::Current => turn.paths.current(),
            Routing::Spread if self.queue.next_destination().is_none() => return self.spread(turn, waits),
            Routing::Directed | Routing::Spread => self.next_path(turn.paths),
        };
        (Some(path) != waits).then_some(path)
    }

    /// Tells if the next new DATA may go to `path`.
    pub(super) fn may_carry_new(&self, paths: &Paths, path: PathId, config: &SctpConfig) -> bool {
        match self.routing {
            Routing::Current => path == paths.current(),
            Routing::Spread if self.queue.next_destination().is_none() => {
                (paths[path].state == PathState::Active || path == paths.current())
                    && self.has_share(paths, path, config)
            }
            Routing::Directed | Routing::Spread => path == self.next_path(paths),
        }
    }

    /// Path of the next message that has not been sent.
    #[inline(never)]
    fn next_path(&self, paths: &Paths) -> PathId {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4.1
        //# or where the SCTP user explicitly
        //# requests to send data to an inactive destination transport address
        //# before reporting an error to its ULP, the SCTP endpoint SHOULD try to
        //# send the data to an alternate active destination transport address if
        //# one exists.
        //
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
        //# An endpoint MUST NOT send any chunks to an UNCONFIRMED address
        let wanted = self.queue.next_destination().and_then(|address| paths.find(address));
        let wanted = wanted.filter(|path| paths[*path].state == PathState::Active);
        wanted.unwrap_or_else(|| paths.current())
    }

    /// Variant of [`finds_nothing`](Self::finds_nothing) where messages may go to different paths.
    #[inline(never)]
    pub(super) fn has_nothing_to_route(&self, paths: &mut Paths) -> bool {
        let is_empty = self.queue.is_empty();
        if is_empty {
            self.limit_by_application(paths);
        }
        is_empty
    }

    /// There is nothing new to send.
    #[expect(clippy::inline_always, reason = "as a rule it is no longer than a call")]
    #[inline(always)]
    pub(super) fn limit_by_application(&self, paths: &mut Paths) {
        match self.routing {
            Routing::Current => {
                let current = paths.current();
                paths[current].limit_by_application();
            }
            Routing::Directed | Routing::Spread => paths.for_each(crate::path::Path::limit_by_application),
        }
    }
}
