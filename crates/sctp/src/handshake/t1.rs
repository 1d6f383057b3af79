//! T1-init and T1-cookie: one timer, with a timeout of its own for each address of the peer.

use slantpath_base::{Duration, Instant};
use smallvec::SmallVec;

use crate::config::SctpConfig;

/// Repeats a chunk to one address after another until it is answered.
#[derive(Clone, Debug)]
pub(crate) struct T1 {
    //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
    //# If the application provided multiple IP
    //# addresses of the peer, there SHOULD be a T1-init and T1-cookie timer
    //# for each address of the peer.
    timeouts: SmallVec<[Duration; 2]>,
    /// The address that the chunk went to last.
    current: usize,
    retransmissions: u32,
    sent_at: Instant,
}

impl T1 {
    /// The chunk has just been sent to the first of `addresses` addresses.
    pub(crate) fn start(now: Instant, addresses: usize, config: &SctpConfig) -> Self {
        let timeouts = core::iter::repeat_n(config.rto_initial, addresses).collect();
        Self { timeouts, current: 0, retransmissions: 0, sent_at: now }
    }

    /// Instant at which the timer expires.
    pub(crate) fn deadline(&self) -> Instant {
        self.sent_at.saturating_add(self.timeouts[self.current])
    }

    /// The address that the chunk went to last.
    pub(crate) const fn current(&self) -> usize {
        self.current
    }

    /// Tells if the chunk has not been retransmitted.
    pub(crate) const fn is_first(&self) -> bool {
        self.retransmissions == 0
    }

    /// The timer has expired, and the chunk is repeated: to which address, unless it was often enough.
    pub(crate) fn expire(&mut self, now: Instant, config: &SctpConfig) -> Option<usize> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.6
        //# This is repeated 'Max.Init.Retransmits' times
        //# before "A" considers "Z" unreachable
        if self.retransmissions >= config.max_init_retransmits {
            return None;
        }
        self.retransmissions += 1;
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.3.3
        //# E2)  For the destination address for which the timer expires, set RTO
        //# = RTO * 2 ("back off the timer").
        let timeout = &mut self.timeouts[self.current];
        *timeout = timeout.saturating_mul(2).min(config.rto_max);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
        //# Retransmissions of INIT chunks and
        //# COOKIE ECHO chunks SHOULD use all addresses of the peer similar to
        //# retransmissions of DATA chunks.
        self.current = (self.current + 1) % self.timeouts.len();
        self.sent_at = now;
        Some(self.current)
    }

    /// The round trip if the chunk is answered now; `None` if it was repeated, and so may answer either.
    pub(crate) fn round_trip(&self, now: Instant) -> Option<Duration> {
        (self.retransmissions == 0).then(|| now.saturating_since(self.sent_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_backs_off_on_its_own_until_the_limit() {
        let config = SctpConfig { max_init_retransmits: 4, ..SctpConfig::default() };
        let mut t1 = T1::start(Instant::START, 2, &config);
        let mut waits = Vec::new();
        loop {
            let deadline = t1.deadline();
            waits.push((t1.current(), deadline.saturating_since(t1.sent_at).as_nanos() / 1_000_000_000));
            if t1.expire(deadline, &config).is_none() {
                break;
            }
        }
        assert_eq!(waits, [(0, 1), (1, 1), (0, 2), (1, 2), (0, 4)]);
    }

    #[test]
    fn the_timeout_never_exceeds_rto_max_and_a_repeated_chunk_is_not_timed() {
        let config = SctpConfig { rto_max: Duration::from_millis(1_500), ..SctpConfig::default() };
        let mut t1 = T1::start(Instant::START, 1, &config);
        assert_eq!(t1.round_trip(Instant::from_millis(7)), Some(Duration::from_millis(7)));
        t1.expire(Instant::from_secs(1), &config);
        assert_eq!(t1.deadline(), Instant::from_millis(2_500));
        assert_eq!(t1.round_trip(Instant::from_millis(1_100)), None);
    }
}
