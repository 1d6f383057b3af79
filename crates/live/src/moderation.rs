//! Pauses between turns when packets come one by one, faster than it is worth to be woken for each: the host then
//! pauses before it looks for more, as network cards do before they interrupt (`rx-usecs` of ethtool). A wake costs
//! several times what a packet does, and costs the sender as well where that is the same machine.
//!
//! Only a stream in one direction is met so, at either end: of data there, of SACKs here, of which there is one for two
//! packets. Requests and answers, which somebody waits for, are about as many as each other.

use slantpath_base::{Duration, Instant};

use crate::sockets::MOST_IN_BATCH;

/// Duration of a pause, but for what the system's timers add to it (50 µs on Linux).
const PAUSE: Duration = Duration::from_micros(50);
/// So many packets are judged together.
const JUDGED: u64 = 64;
/// They come in less than this: 25 µs apart in the mean, half a pause.
const FAST: Duration = Duration::from_micros(25 * JUDGED);
/// A turn that has read so many, what one call reads at most, is followed by another at once: more may be there.
const MANY: u64 = MOST_IN_BATCH as u64;

/// Rates of incoming and outgoing packets, and whether they call for pauses.
#[derive(Debug, Default)]
pub(crate) struct Moderation {
    /// Since when packets are counted.
    since: Instant,
    received: u64,
    sent: u64,
    is_stream: bool,
    /// Number of packets that the last turn has read.
    last: u64,
}

impl Moderation {
    /// A turn has read and sent so many packets by now.
    pub(crate) const fn note(&mut self, now: Instant, received: u64, sent: u64) {
        self.last = received;
        self.received += received;
        self.sent += sent;
        let lasted = now.saturating_since(self.since);
        if self.received < JUDGED && lasted.as_nanos() < FAST.as_nanos() {
            return;
        }
        let is_one_way = 4 * self.received >= 7 * self.sent || 4 * self.sent >= 7 * self.received;
        self.is_stream = self.received >= JUDGED && lasted.as_nanos() < FAST.as_nanos() && is_one_way;
        (self.since, self.received, self.sent) = (now, 0, 0);
    }

    /// Time to pause before the next turn.
    pub(crate) fn pause(&self) -> Option<Duration> {
        (self.is_stream && (1..MANY).contains(&self.last)).then_some(PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells if a host pauses after so many turns, each so long after the last, that have read a packet each and sent
    /// `sent` for four of them, one by one.
    fn pauses(moderation: &mut Moderation, turns: u64, micros: u64, sent: u64) -> bool {
        let mut now = moderation.since;
        for turn in 0..turns {
            now = now.saturating_add(Duration::from_micros(micros));
            moderation.note(now, 1, (turn + 1) * sent / 4 - turn * sent / 4);
        }
        moderation.pause().is_some()
    }

    #[test]
    fn a_fast_stream_is_met_with_pauses_from_the_first_64_packets_on() {
        for sent in [2, 8] {
            assert!(!pauses(&mut Moderation::default(), 63, 12, sent));
            let mut moderation = Moderation::default();
            assert!(pauses(&mut moderation, 64, 12, sent), "{sent} for four");
            assert_eq!(moderation.pause(), Some(PAUSE));
        }
    }

    #[test]
    fn packets_that_are_far_apart_are_not_nor_any_that_are_answers() {
        assert!(!pauses(&mut Moderation::default(), 640, 25, 2), "as far apart as half a pause");
        assert!(pauses(&mut Moderation::default(), 640, 24, 2));
        let paused = |sent: &u64| pauses(&mut Moderation::default(), 640, 12, *sent);
        let met: Vec<u64> = (0..10).filter(paused).collect();
        assert_eq!(met, [0, 1, 2, 7, 8, 9], "for four");
    }

    #[test]
    fn a_turn_that_has_read_many_or_none_is_not_followed_by_one() {
        let mut moderation = Moderation::default();
        assert!(pauses(&mut moderation, 64, 12, 2));
        for (received, is_paused) in [(0, false), (1, true), (31, true), (32, false)] {
            moderation.last = received;
            assert_eq!(moderation.pause().is_some(), is_paused, "{received}");
        }
    }

    #[test]
    fn the_first_packet_after_a_stream_is_not_met_with_one_nor_are_those_that_follow() {
        let mut moderation = Moderation::default();
        assert!(pauses(&mut moderation, 64, 12, 2));
        assert!(!pauses(&mut moderation, 1, 1_600, 2));
        assert!(!pauses(&mut moderation, 60, 12, 2));
    }
}
