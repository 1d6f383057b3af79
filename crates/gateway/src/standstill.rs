//! A peer that lives and takes nothing: it answers, but its window stays closed while messages wait for it.

use slantpath_base::{Duration, Instant};

/// Interval at which an association with something to send is looked at, and the least time of a standstill over a path
/// of no longer round trip.
pub(crate) const LOOK: Duration = Duration::from_secs(1);
/// Octets of a window that has no room for a packet of usual length.
const CLOSED_BELOW: u64 = 1_500;

/// State of an association at one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Number of the last chunk that the peer has acknowledged.
    pub(crate) acknowledged: u32,
    /// Octets handed over and not acknowledged.
    pub(crate) buffered: u64,
    /// Octets that the peer has room for.
    pub(crate) window: u64,
    /// Retransmissions in a row without an answer.
    pub(crate) unanswered: u32,
    /// Longest round trip: for so long a window that is filled at once stays closed.
    pub(crate) round_trip: Duration,
}

impl Seen {
    /// Tells if messages wait for the window of a peer that answers.
    const fn waits_for_window(&self) -> bool {
        self.buffered > 0 && self.window < CLOSED_BELOW && self.unanswered == 0
    }
}

/// Standstills of an association: spells in which its peer has lived and taken nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standstill {
    /// Number of the TSN that had been acknowledged when the window was first seen closed, and that instant.
    closed: Option<(u32, Instant)>,
    /// True from when it has been told.
    is_on: bool,
    times: u64,
    lasted: Duration,
}

impl Standstill {
    /// Looks at the association, which may be down. Gives whether a standstill has begun or ended, if one has.
    pub(crate) fn look(&mut self, now: Instant, seen: Option<Seen>) -> Option<bool> {
        let Some(seen) = seen.filter(Seen::waits_for_window) else { return self.end(now) };
        match self.closed {
            Some((acknowledged, since)) if acknowledged == seen.acknowledged => {
                let begins = !self.is_on && now.saturating_since(since) >= LOOK.max(seen.round_trip);
                if begins {
                    self.is_on = true;
                    self.times += 1;
                }
                begins.then_some(true)
            }
            _ => {
                let ended = self.end(now);
                self.closed = Some((seen.acknowledged, now));
                ended
            }
        }
    }

    fn end(&mut self, now: Instant) -> Option<bool> {
        self.lasted = self.lasted(now);
        self.closed = None;
        std::mem::replace(&mut self.is_on, false).then_some(false)
    }

    /// Tells if the peer takes nothing now.
    pub(crate) const fn is_on(&self) -> bool {
        self.is_on
    }

    /// Number of standstills.
    pub(crate) const fn times(&self) -> u64 {
        self.times
    }

    /// Time of all standstills until `now`, each from when its window was first seen closed.
    pub(crate) fn lasted(&self, now: Instant) -> Duration {
        let on = self.closed.filter(|_| self.is_on);
        self.lasted + on.map_or(Duration::ZERO, |(_, since)| now.saturating_since(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: Seen = Seen {
        acknowledged: 7,
        buffered: 1,
        window: 0,
        unanswered: 0,
        round_trip: Duration::from_millis(20),
    };

    fn news(looks: &[Option<Seen>]) -> (Vec<Option<bool>>, Standstill) {
        let mut own = Standstill::default();
        let at = (0..).map(Instant::from_secs);
        (at.zip(looks).map(|(now, seen)| own.look(now, *seen)).collect(), own)
    }

    #[test]
    fn a_window_that_stays_closed_is_told_once_and_its_end_too() {
        let open = Seen { window: 9_000, ..CLOSED };
        let (told, own) = news(&[Some(CLOSED), Some(CLOSED), Some(CLOSED), Some(open), Some(open)]);
        assert_eq!(told, [None, Some(true), None, Some(false), None]);
        assert_eq!((own.times(), own.lasted(Instant::from_secs(9))), (1, Duration::from_secs(3)));
        let (told, own) = news(&[Some(CLOSED), Some(CLOSED), None]);
        assert_eq!((told, own.is_on()), (vec![None, Some(true), Some(false)], false));
    }

    #[test]
    fn over_a_long_path_a_window_is_closed_for_a_round_trip_before_it_is_told() {
        let far = Seen { round_trip: Duration::from_millis(2_600), ..CLOSED };
        let taken = Seen { acknowledged: 8, ..far };
        let (told, own) = news(&[far, far, far, taken, taken, taken, taken].map(Some));
        assert_eq!((told, own.times()), (vec![None, None, None, None, None, None, Some(true)], 1));
    }

    #[test]
    fn what_is_taken_slowly_or_not_answered_is_no_standstill() {
        let taken = Seen { acknowledged: 8, ..CLOSED };
        let silent = Seen { unanswered: 1, ..CLOSED };
        let idle = Seen { buffered: 0, ..CLOSED };
        let room_for_one = Seen { window: CLOSED_BELOW, ..CLOSED };
        for other in [taken, silent, idle, room_for_one] {
            let (told, own) = news(&[Some(CLOSED), Some(other), Some(CLOSED), Some(other)]);
            assert_eq!((told, own.times()), (vec![None; 4], 0), "{other:?}");
        }
    }
}
