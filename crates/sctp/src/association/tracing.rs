//! Report of an association's state to a trace when nothing more can leave.

use super::state::State;
use super::{Association, turn};
use crate::event::Event;
use crate::trace::TraceEvent;
use crate::tx::Turn;

impl Association {
    /// Tells something that only a trace does, if there is one.
    #[inline]
    pub(super) fn trace(&mut self, event: impl FnOnce() -> TraceEvent) {
        if self.config.trace {
            self.events.push_back(Event::Trace(Box::new(event())));
        }
    }

    /// Tells what has changed since nothing could leave the last time.
    #[cold]
    pub(super) fn report_changes(&mut self) {
        let mut tracer = self.tracer.take().unwrap_or_default();
        let state = self.state();
        // Nobody waits for anything once the last is acknowledged.
        let waiting = self.state.may_send_data().then(|| {
            let now = self.burst_at.unwrap_or_default();
            let turn = turn!(self, now);
            self.sender.wait_reason(&turn)
        });
        let peer_rwnd = self.sender.peer_rwnd();
        let is_recovering = self.sender.in_fast_recovery();
        let events = &mut self.events;
        let mut tell = |event: TraceEvent| events.push_back(Event::Trace(Box::new(event)));
        tracer.compare_state(state, &mut tell);
        tracer.compare_paths(&self.paths, is_recovering, &mut tell);
        if let Some(reason) = waiting {
            tracer.compare_waiting(reason, peer_rwnd, &mut tell);
        }
        self.tracer = Some(tracer);
    }
}
