//! Measurements of links, link sets, destinations and routes, after Q.752: how often something was so, and for how
//! long.

use slantpath_base::{Duration, Instant};

use crate::PointCode;
use crate::mtp3::node::id::LinkSetId;
use crate::mtp3::node::machines::link::Ends;
use crate::mtp3::node::machines::routes::RouteState;

/// Number of times that something held, and the time that it held in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spells {
    times: u64,
    over: Duration,
    since: Option<Instant>,
}

impl Spells {
    /// Gives the number of times that it began.
    pub const fn times(&self) -> u64 {
        self.times
    }

    /// Gives the time for which it has held until `now`, all times together.
    pub fn lasted(&self, now: Instant) -> Duration {
        self.since.map_or(self.over, |since| self.over + (now - since))
    }

    /// Notes whether it holds from `now` on.
    pub(super) fn follow(&mut self, now: Instant, holds: bool) {
        match (self.since, holds) {
            (None, true) => (self.times, self.since) = (self.times + 1, Some(now)),
            (Some(since), false) => (self.over, self.since) = (self.over + (now - since), None),
            _ => {}
        }
    }
}

/// Measurements of a link at this end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkMeasurements {
    /// Messages given to level 2, those of management and tests among them.
    pub sent_msus: u64,
    /// Their octets, from the service information octet on.
    pub sent_octets: u64,
    /// Messages that level 2 gave.
    pub received_msus: u64,
    /// Their octets.
    pub received_octets: u64,
    /// Number of times that the link went out of service without management wanting so.
    pub failures: u64,
    /// Number of times that the link could not be aligned, or proved.
    pub alignment_failures: u64,
    /// Signalling link tests without an answer.
    pub unanswered_tests: u64,
    /// Number of times that the link's test failed, for two in a row without an answer.
    pub test_failures: u64,
    /// Number of times that traffic left the link, for a failure, an inhibition or an outage of a processor.
    pub changeovers: u64,
    /// Number of times that traffic came back to the link from another one.
    pub changebacks: u64,
    /// Messages discarded for its congestion.
    pub congestion_discards: u64,
    /// Traffic could not use it, since it first could.
    pub unavailable: Spells,
    /// Spells in which the link was inhibited from this end.
    pub inhibited_here: Spells,
    /// Spells in which the link was inhibited from the far end.
    pub inhibited_there: Spells,
    /// The processor of this end was out.
    pub processor_out_here: Spells,
    /// The processor of the far end was out.
    pub processor_out_there: Spells,
    /// Spells in which its transmit queue was congested, at any status.
    pub congested: Spells,
}

impl LinkMeasurements {
    pub(super) fn follow(&mut self, now: Instant, inhibited: Ends, blocked: Ends, congestion: u8) {
        let here = |ends| matches!(ends, Ends::Both | Ends::Local);
        let there = |ends| matches!(ends, Ends::Both | Ends::Remote);
        self.inhibited_here.follow(now, here(inhibited));
        self.inhibited_there.follow(now, there(inhibited));
        self.processor_out_here.follow(now, here(blocked));
        self.processor_out_there.follow(now, there(blocked));
        self.congested.follow(now, congestion > 0);
    }
}

/// Measurements of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationMeasurements {
    /// Messages of users and other points handed to links for it.
    pub sent_msus: u64,
    /// Spells in which the destination could not be reached, since it first could.
    pub inaccessible: Spells,
    /// The route set was congested, as transfer controlled told; only where there are levels.
    pub congested: Spells,
}

/// Measurements of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteMeasurements {
    /// Destination of the route.
    pub destination: PointCode,
    /// Over which link set.
    pub link_set: LinkSetId,
    /// Priority of the route; 0 is the normal route.
    pub priority: u8,
    /// State of the route: what the point at the end of the link set says of the destination now.
    pub state: RouteState,
    /// The time in which it said that it does not transfer.
    pub prohibited: Spells,
    /// The time in which it said that it does so with difficulty.
    pub restricted: Spells,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spell_is_counted_when_it_begins_and_lasts_until_it_is_over() {
        let mut spells = Spells::default();
        for (second, holds) in [(1, false), (2, true), (3, true), (5, false), (5, false), (8, true)] {
            spells.follow(Instant::from_secs(second), holds);
        }
        assert_eq!(spells.times(), 2);
        assert_eq!(spells.lasted(Instant::from_secs(10)), Duration::from_secs(3 + 2));
    }
}
