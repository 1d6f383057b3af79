//! The end of a load: what is asked of its associations, and what is kept of them.

use slantpath_applications::Host;
use slantpath_base::Instant;
use slantpath_host::SocketId;

use super::{Caller, LoadClient, Phase, Standing};

impl LoadClient {
    /// Ends what has not ended yet, and fails it for this reason.
    pub(super) fn abort_all(&mut self, now: Instant, host: &mut Host, why: &str) {
        self.phase = Phase::Over;
        for (&socket, caller) in &mut self.callers {
            if std::mem::replace(&mut caller.standing, Standing::Over) != Standing::Over {
                self.measure.failed(why.to_owned());
            }
            host.abort(now, socket);
        }
    }

    pub(super) fn close(&mut self, now: Instant, host: &mut Host) {
        self.phase = Phase::Closing(now.saturating_add(self.config.patience));
        let all: Vec<SocketId> = self.callers.keys().copied().collect();
        for &socket in &all {
            if self.callers.get(&socket).is_some_and(Caller::is_up) {
                self.look_at(now, host, socket);
            }
            host.shut_down(now, socket);
        }
    }

    /// Keeps how an association is now, if it is one of those that are kept.
    pub(super) fn look_at(&mut self, now: Instant, host: &mut Host, socket: SocketId) {
        if self.measure.keeps_paths_of(socket) {
            self.measure.keep_paths(socket, &host.sctp_paths(now, socket));
        }
        if self.measure.keeps_row_of(socket) {
            self.measure.keep_row(socket, host.sctp_mib_association(socket));
        }
    }
}
