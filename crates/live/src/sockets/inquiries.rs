//! Bound of the questions that packets for ports of nobody cause: the kernel is asked if another program has the port,
//! and walks over all sockets of the machine for that. Peers choose how many such packets come.

use std::collections::BTreeSet;

use slantpath_base::{Duration, Instant};

/// Ports that were asked about of late.
#[derive(Debug, Default)]
pub(crate) struct Inquiries {
    since: Instant,
    asked: usize,
    /// Ports of other programs, each at the address of this place.
    taken: BTreeSet<(usize, u16)>,
}

impl Inquiries {
    /// Tells if a port is free, as `ask` says, which is asked only so often. A port of another program is not asked
    /// about twice; one beyond the bound counts as another's, so that its packet is not answered. An INIT comes again.
    pub(crate) fn is_free(&mut self, now: Instant, at: (usize, u16), ask: impl FnOnce() -> bool) -> bool {
        if now.saturating_since(self.since) >= PERIOD {
            (self.since, self.asked) = (now, 0);
            self.taken.clear();
        }
        if self.asked == MOST || self.taken.contains(&at) {
            return false;
        }
        self.asked += 1;
        let is_free = ask();
        if !is_free {
            self.taken.insert(at);
        }
        is_free
    }
}

/// Time for which answers and their number count.
const PERIOD: Duration = Duration::from_millis(50);
/// Questions in such a time: 1,280 a second.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_packets_come_the_kernel_is_asked_so_often_and_once_about_another_s_port() {
        let mut inquiries = Inquiries::default();
        let mut asked = 0;
        let mut is_free = |millis, port, answer| {
            let before = asked;
            let ask = || {
                asked += 1;
                answer
            };
            let now = Instant::START + Duration::from_millis(millis);
            (inquiries.is_free(now, (0, port), ask), asked - before)
        };
        assert_eq!([is_free(0, 7, false), is_free(49, 7, true)], [(false, 1), (false, 0)]);
        let free = (0..100).map(|_| is_free(49, 8, true)).collect::<Vec<_>>();
        assert_eq!(free, [vec![(true, 1); MOST - 1], vec![(false, 0); 101 - MOST]].concat());
        assert_eq!([is_free(50, 7, true), is_free(50, 8, true)], [(true, 1), (true, 1)]);
    }
}
