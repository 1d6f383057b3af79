//! Copies of messages that screening rules ask for, until a sink takes them.

use std::collections::VecDeque;

use slantpath_base::Instant;
use slantpath_signalling::ScreenedCopy;

/// Number of copies that wait for their sink.
const COPIES_MAX: usize = 4_096;

/// A copy with its instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedMessage {
    /// Instant at which the message came.
    pub at: Instant,
    /// The message, with the rule that asked.
    pub copy: ScreenedCopy,
}

/// Copies for a sink. Nothing is kept before there is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    is_wanted: bool,
    waiting: VecDeque<CopiedMessage>,
    dropped: u64,
}

impl Copies {
    /// A sink comes, or goes.
    pub fn want(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted;
        if !is_wanted {
            self.waiting.clear();
        }
    }

    /// Takes the oldest.
    pub fn take(&mut self) -> Option<CopiedMessage> {
        self.waiting.pop_front()
    }

    /// Gives the number of copies that a slow sink has missed.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn keep(&mut self, at: Instant, copy: ScreenedCopy) {
        if !self.is_wanted {
            return;
        }
        if self.waiting.len() < COPIES_MAX {
            self.waiting.push_back(CopiedMessage { at, copy });
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_signalling::Gate;

    #[test]
    fn copies_are_kept_for_a_sink_alone_and_up_to_a_limit() {
        let copy = |rule| ScreenedCopy { rule, arrival: Gate::Server(1), octets: bytes::Bytes::new() };
        let mut copies = Copies::default();
        copies.keep(Instant::START, copy(0));
        assert_eq!(copies.take(), None);
        copies.want(true);
        (0..=COPIES_MAX).for_each(|rule| copies.keep(Instant::START, copy(rule)));
        assert_eq!((copies.take().unwrap().copy.rule, copies.dropped()), (0, 1));
        copies.want(false);
        assert_eq!(copies.take(), None);
    }
}
