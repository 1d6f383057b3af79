//! Looks at associations with something to send: whether their peers take it.

use slantpath_applications::Host;
use slantpath_base::Instant;

use super::{Seat, WATCH};
use crate::standstill::{LOOK, Seen};

impl Seat {
    /// Something has been sent: from now on it is looked at until nothing waits.
    pub(super) fn begin_watch(&mut self, now: Instant) {
        if !self.is_watching {
            self.is_watching = true;
            self.deadlines.set(WATCH, Some(now.saturating_add(LOOK)));
        }
    }

    /// Looks at all associations.
    pub(super) fn watch(&mut self, now: Instant, host: &mut Host) {
        let mut something_waits = false;
        for place in 0..self.associations.len() {
            let end = &mut self.associations[place];
            let socket = end.socket().filter(|_| end.is_up());
            let seen = socket.and_then(|socket| {
                let round_trips = host.sctp_paths(now, socket).into_iter().filter_map(|path| path.srtt);
                let own = host.sctp_snapshot(socket)?;
                Some(Seen {
                    acknowledged: own.cumulative_tsn_acked.0,
                    buffered: own.send_buffered,
                    window: own.peer_rwnd,
                    unanswered: own.error_count,
                    round_trip: round_trips.max().unwrap_or_default(),
                })
            });
            something_waits |= seen.is_some_and(|seen| seen.buffered > 0);
            if let Some(begins) = end.standstill.look(now, seen) {
                let name = end.config.name.clone();
                let event = if begins { "peer-takes-nothing" } else { "peer-takes-again" };
                self.tell(now, vec![("association", name)], event, None);
            }
        }
        self.is_watching = false;
        if something_waits {
            self.begin_watch(now);
        }
    }
}
