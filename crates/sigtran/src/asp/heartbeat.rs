//! Heartbeats of an adaptation layer (RFC 4666, section 4.3.4.6), for transports that have none of their own.

use slantpath_base::{Duration, Instant};

/// The heartbeats of one association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// T(beat), the interval between heartbeats.
    interval: Duration,
    next: Instant,
    received_at: Instant,
}

/// Action that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatDue {
    /// Nothing came for twice T(beat): the peer is considered unavailable.
    PeerUnavailable,
    /// A BEAT is to be sent.
    Send,
}

impl Heartbeat {
    /// Begins when the association comes up.
    pub fn new(now: Instant, interval: Duration) -> Self {
        Self { interval, next: now + interval, received_at: now }
    }

    /// Any message of the peer shows that it is there.
    pub const fn handle_message(&mut self, now: Instant) {
        self.received_at = now;
    }

    /// Gives the instant at which the next action is due.
    pub fn deadline(&self) -> Instant {
        self.next.min(self.received_at + self.interval * 2)
    }

    /// Gives the action that is due by now.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.6
    //# If no Heartbeat Ack message (or any other M3UA message) is received
    //# from the M3UA peer within 2*T(beat), the remote M3UA peer is
    //# considered unavailable.
    pub fn take_due(&mut self, now: Instant) -> Option<HeartbeatDue> {
        if now >= self.received_at + self.interval * 2 {
            return Some(HeartbeatDue::PeerUnavailable);
        }
        if now >= self.next {
            self.next = now + self.interval;
            return Some(HeartbeatDue::Send);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_peer_is_unavailable_after_two_intervals_and_a_speaking_one_is_not() {
        let at = Instant::from_millis;
        let mut beat = Heartbeat::new(at(0), Duration::from_millis(100));
        assert_eq!(beat.deadline(), at(100));
        assert_eq!(beat.take_due(at(100)), Some(HeartbeatDue::Send));
        assert_eq!(beat.take_due(at(100)), None);
        beat.handle_message(at(150));
        assert_eq!(beat.take_due(at(200)), Some(HeartbeatDue::Send));
        assert_eq!(beat.take_due(at(300)), Some(HeartbeatDue::Send));
        assert_eq!(beat.deadline(), at(350));
        assert_eq!(beat.take_due(at(350)), Some(HeartbeatDue::PeerUnavailable));
    }
}
