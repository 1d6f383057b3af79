//! Memory of associations that have ended, for the sake of their last packets, which may still be in flight.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};

use crate::types::VerificationTag;

/// Number of ended associations that are remembered: the memory that peers can have us keep is bounded, to some 350 kB.
const MOST: usize = 8_192;

/// Time for which a packet can be in flight: the maximum segment lifetime of RFC 9293, section 3.4.1.
const LIFETIME: Duration = Duration::from_secs(120);

/// The associations that ended last, by our tags. Those are drawn at random and name nothing else meanwhile.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// Local tags, oldest association first.
    order: VecDeque<VerificationTag>,
    /// Instants at which associations were shut down; `None` for those that ended otherwise.
    in_order_at: FxHashMap<VerificationTag, Option<Instant>>,
}

impl Ended {
    /// An association with this tag of ours has ended; in order, then.
    pub(super) fn push(&mut self, local_tag: VerificationTag, in_order_at: Option<Instant>) {
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.in_order_at.remove(&oldest);
        }
        self.order.push_back(local_tag);
        self.in_order_at.insert(local_tag, in_order_at);
    }

    /// Tells if an association with this tag of ours has ended lately. A cookie of it begins no other.
    pub(super) fn contains(&self, local_tag: VerificationTag) -> bool {
        self.in_order_at.contains_key(&local_tag)
    }

    /// Tells if a packet with this tag of ours comes late, for an association that has ended in order.
    pub(super) fn is_late(&self, now: Instant, local_tag: VerificationTag) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.4
        //= type=exception
        //= reason=A peer that has not had our SHUTDOWN COMPLETE would take an ABORT that overtakes it for its end.
        //# 8)  The receiver SHOULD respond to the sender of the OOTB packet with
        //# an ABORT chunk.
        let ended = self.in_order_at.get(&local_tag).copied().flatten();
        ended.is_some_and(|ended| now < ended.saturating_add(LIFETIME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_secs(secs: u64) -> Instant {
        Instant::START + Duration::from_secs(secs)
    }

    #[test]
    fn packets_of_an_association_that_ended_in_order_are_late_for_two_minutes() {
        let mut ended = Ended::default();
        ended.push(VerificationTag(1), Some(at_secs(10)));
        ended.push(VerificationTag(2), None);
        for (tag, secs, is_late) in
            [(1, 10, true), (1, 129, true), (1, 130, false), (2, 10, false), (3, 10, false)]
        {
            assert_eq!(ended.is_late(at_secs(secs), VerificationTag(tag)), is_late, "{tag} at {secs} s");
        }
        assert_eq!([1, 2, 3].map(|tag| ended.contains(VerificationTag(tag))), [true, true, false]);
    }

    #[test]
    fn the_oldest_is_forgotten_and_what_is_kept_is_bounded() {
        let mut ended = Ended::default();
        let most = u32::try_from(MOST).unwrap();
        for tag in 0..3 * most {
            ended.push(VerificationTag(tag), Some(at_secs(1)));
            assert!(ended.contains(VerificationTag(tag)));
            assert!(!ended.contains(VerificationTag(tag.wrapping_sub(most))), "{tag}");
            assert!(ended.contains(VerificationTag(tag.saturating_sub(most - 1))));
        }
        assert_eq!((ended.order.len(), ended.in_order_at.len()), (MOST, MOST));
    }
}
