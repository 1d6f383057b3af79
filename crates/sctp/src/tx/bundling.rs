//! New DATA that does not fill a packet may wait for more.
//!
//! RFC 9260, section 6.10, lets a sender bundle what waits at one time; signalling gateways let it wait so that there
//! is something to bundle, for a time that begins with the message that finds nothing waiting.

use slantpath_base::{Instant, Timer};

use super::{Sender, Turn};
use crate::path::PathId;

/// State of DATA that fills no packet: held for bundling, or free to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Bundling {
    /// Due, after a wait that was long enough.
    Due,
    /// Nothing has waited since the last packet.
    #[default]
    Idle,
    /// More may come until then.
    Until(Instant),
}

impl Bundling {
    pub(super) const fn deadline(self) -> Timer {
        match self {
            Self::Until(at) => Timer::set(at),
            Self::Due | Self::Idle => Timer::OFF,
        }
    }

    pub(super) fn handle_deadline(&mut self, now: Instant) {
        if matches!(self, Self::Until(at) if *at <= now) {
            *self = Self::Due;
        }
    }
}

impl Sender {
    /// Tells if new DATA, which the windows would let out to `path`, waits for more that fits into the same packet.
    #[inline(never)]
    pub(super) fn waits_for_more(&mut self, turn: &mut Turn<'_>, path: PathId) -> bool {
        if self.bundling == Bundling::Due
            || turn.is_shutting_down
            || self.queue.fills(turn.paths.amdcs(), self.outstanding.header_len())
        {
            return false;
        }
        if self.bundling == Bundling::Idle {
            self.bundling = Bundling::Until(turn.now.saturating_add(turn.config.bundling_delay));
        }
        turn.paths[path].limit_by_application();
        true
    }
}
