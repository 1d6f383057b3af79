//! Restriction of the traffic towards a congested node (Q.714, sections 2.6 and 5.2.8).
//!
//! Each MTP-STATUS of congestion, but for those within Ta after one that counted, raises the restriction by a sublevel;
//! each Td without one lowers it. Messages less important than the level stay back, of those just as important a share
//! as large as the sublevel.

use slantpath_base::{Duration, Instant};

use crate::sccp::timers::Timers;

/// Restriction levels: a message of this importance always passes.
const LEVELS: u8 = 8;
/// Sublevels of a level.
const SUBLEVELS: u8 = 4;

/// The restriction towards one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Restriction {
    level: u8,
    sublevel: u8,
    /// Congestion level that SSC told, and when it decays.
    remote: u8,
    /// Until when MTP-STATUS does not count.
    attack_ends: Option<Instant>,
    decays: Option<Instant>,
    remote_decays: Option<Instant>,
    /// Counts the messages that are just as important as the level.
    borderline: u8,
}

impl Restriction {
    /// MTP-STATUS: the network towards the node is congested. Returns whether the level changed.
    pub(super) fn mtp_congestion(&mut self, now: Instant, timers: &Timers) -> bool {
        if self.attack_ends.is_some_and(|ends| now < ends) {
            return false;
        }
        self.attack_ends = Some(now + timers.attack);
        self.decays = Some(now + timers.decay);
        let before = self.restricted_importance();
        if self.level < LEVELS {
            self.sublevel += 1;
            if self.sublevel == SUBLEVELS {
                (self.level, self.sublevel) = (self.level + 1, 0);
            }
        }
        before != self.restricted_importance()
    }

    /// SSC: SCCP at the node is congested. Returns whether the level changed.
    pub(super) fn remote_congestion(&mut self, now: Instant, level: u8, decay: Duration) -> bool {
        let before = self.restricted_importance();
        if level >= self.remote {
            self.remote = level.min(LEVELS);
            self.remote_decays = (self.remote > 0).then(|| now + decay);
        }
        before != self.restricted_importance()
    }

    /// The node is reachable again, or no longer: nothing is known of congestion.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Messages below this importance are held back.
    pub(super) fn restricted_importance(&self) -> u8 {
        self.level.max(self.remote)
    }

    /// Tells if a message of this importance passes.
    pub(super) fn passes(&mut self, importance: u8) -> bool {
        let level = self.restricted_importance();
        if importance != level || level != self.level || self.sublevel == 0 {
            return importance >= level;
        }
        self.borderline = (self.borderline + 1) % SUBLEVELS;
        self.borderline >= self.sublevel
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        [self.decays, self.remote_decays].into_iter().flatten().min()
    }

    /// Decays what is due. Returns whether the level changed.
    pub(super) fn handle_deadline(&mut self, now: Instant, timers: &Timers) -> bool {
        let before = self.restricted_importance();
        while let Some(due) = self.decays.filter(|due| *due <= now) {
            (self.level, self.sublevel) = match (self.level, self.sublevel) {
                (0, 0 | 1) => (0, 0),
                (level, 0) => (level - 1, SUBLEVELS - 1),
                (level, sublevel) => (level, sublevel - 1),
            };
            self.decays = ((self.level, self.sublevel) != (0, 0)).then(|| due + timers.decay);
        }
        while let Some(due) = self.remote_decays.filter(|due| *due <= now) {
            self.remote -= 1;
            self.remote_decays = (self.remote > 0).then(|| due + timers.decay);
        }
        before != self.restricted_importance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn congested(times: u64) -> (Restriction, Timers) {
        let (mut restriction, timers) = (Restriction::default(), Timers::default());
        for at in 0..times {
            restriction.mtp_congestion(Instant::from_secs(at), &timers);
        }
        (restriction, timers)
    }

    #[test]
    fn four_steps_make_a_level_and_what_comes_within_ta_counts_once() {
        let (restriction, _) = congested(4);
        assert_eq!((restriction.level, restriction.sublevel), (1, 0));
        let (mut restriction, timers) = congested(1);
        assert!(!restriction.mtp_congestion(Instant::from_millis(399), &timers));
        assert_eq!((restriction.level, restriction.sublevel), (0, 1));
    }

    #[test]
    fn less_important_messages_stay_back_and_borderline_ones_in_proportion() {
        let (mut restriction, _) = congested(4 * 4 + 1);
        assert!(!restriction.passes(3));
        assert!(restriction.passes(5));
        assert_eq!((0..100).filter(|_| restriction.passes(4)).count(), 75);
    }

    #[test]
    fn the_restriction_decays_to_nothing() {
        let (mut restriction, timers) = congested(100);
        assert_eq!(restriction.restricted_importance(), LEVELS);
        assert!(restriction.handle_deadline(Instant::from_secs(1_000), &timers));
        assert_eq!(restriction.restricted_importance(), 0);
        assert_eq!(restriction.deadline(), None);
        assert!(restriction.passes(0));
    }

    #[test]
    fn the_peers_word_counts_when_it_is_the_worse() {
        let (mut restriction, timers) = congested(4);
        assert!(restriction.remote_congestion(Instant::from_secs(4), 5, timers.decay));
        assert_eq!(restriction.restricted_importance(), 5);
        assert!(!restriction.passes(4));
        assert!(!restriction.remote_congestion(Instant::from_secs(4), 3, timers.decay));
        restriction.handle_deadline(Instant::from_secs(100), &timers);
        assert_eq!(restriction.restricted_importance(), 0);
    }
}
