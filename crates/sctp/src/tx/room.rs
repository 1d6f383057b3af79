//! Part of the send buffer that may be used, since all of an endpoint have a limit together, too.

use std::collections::VecDeque;

use super::{Backlog, Sender};
use crate::config::{SctpConfig, held};
use crate::event::Event;

impl Sender {
    /// Bytes that the send buffer counts with among those of the endpoint.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        held(self.buffered_bytes, self.buffered_messages)
    }

    /// The send buffer takes no more than `room` beyond what it holds, until [`lift_limit`](Self::lift_limit).
    pub(crate) fn limit(&mut self, room: u64, config: &SctpConfig) {
        let most = self.held().saturating_add(room);
        self.most_bytes = config.send_buffer_bytes.min(most);
        self.most_messages = config.most_messages().min(most / held(0, 1));
    }

    /// The send buffer takes what its settings say.
    pub(crate) fn lift_limit(&mut self, config: &SctpConfig) {
        self.most_bytes = config.send_buffer_bytes;
        self.most_messages = config.most_messages();
    }

    /// Notes that a message of `len` bytes has been refused.
    pub(super) fn note_refusal(&mut self, len: u64, config: &SctpConfig) {
        if let Backlog::RefusedByAll { .. } = self.backlog {
            return;
        }
        let has_room = self.buffered_bytes + len <= config.send_buffer_bytes
            && self.buffered_messages < config.most_messages();
        self.backlog = if has_room {
            Backlog::RefusedByAll { wanted: held(len, 1), is_known: false }
        } else {
            Backlog::Refused { buffered_bytes: self.buffered_bytes }
        };
    }

    /// Bytes that a message would take that was refused although the buffer has room for it; told once.
    pub(crate) fn take_refused_by_all(&mut self) -> Option<u64> {
        match &mut self.backlog {
            Backlog::RefusedByAll { wanted, is_known } if !*is_known => {
                *is_known = true;
                Some(*wanted)
            }
            Backlog::Open | Backlog::Refused { .. } | Backlog::RefusedByAll { .. } => None,
        }
    }

    /// The buffers of the endpoint have `room` for what was refused. `false` if nothing waits for that any more.
    pub(crate) fn announce_shared_room(
        &mut self,
        room: u64,
        config: &SctpConfig,
        events: &mut VecDeque<Event>,
    ) -> bool {
        let is_waiting = matches!(self.backlog, Backlog::RefusedByAll { .. });
        if is_waiting {
            self.backlog = Backlog::Open;
            let free = (config.send_buffer_bytes - self.buffered_bytes).min(room);
            events.push_back(Event::SendBufferDrained { free });
        }
        is_waiting
    }
}
