//! Copies of messages that screening rules ask for, until a sink takes them.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::Instant;

/// Number of copies that wait for their sink.
const COPIES_MAX: usize = 4_096;

/// A copy of a message with its instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedMessage {
    /// Instant at which the message came.
    pub at: Instant,
    /// Name of the rule that asked for it.
    pub rule: String,
    /// The message from its service information octet on.
    pub octets: Bytes,
}

/// Copies for a sink. Nothing is kept before there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    is_wanted: bool,
    waiting: VecDeque<CopiedMessage>,
    dropped: u64,
}

impl Copies {
    /// A sink comes.
    pub const fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Takes the oldest.
    pub fn take(&mut self) -> Option<CopiedMessage> {
        self.waiting.pop_front()
    }

    /// Gives the number of copies that a slow sink has missed.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn keep(&mut self, copy: impl FnOnce() -> CopiedMessage) {
        if !self.is_wanted {
            return;
        }
        if self.waiting.len() < COPIES_MAX {
            self.waiting.push_back(copy());
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_kept_for_a_sink_alone_and_up_to_a_limit() {
        let copy = |rule: usize| {
            move || CopiedMessage { at: Instant::START, rule: rule.to_string(), octets: Bytes::new() }
        };
        let mut copies = Copies::default();
        copies.keep(copy(0));
        assert_eq!(copies.take(), None);
        copies.want();
        (0..=COPIES_MAX).for_each(|rule| copies.keep(copy(rule)));
        assert_eq!((copies.take().unwrap().rule.as_str(), copies.dropped()), ("0", 1));
    }
}
