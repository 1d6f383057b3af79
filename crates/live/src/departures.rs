//! Own addresses that have gone: when they are gone for good.
//!
//! An interface that is set up anew takes its addresses away and gives them back at once. Linux waits 500 ms before it
//! tells peers of changed addresses (`SCTP_ADDRESS_TICK_DELAY`, with SCTP_AUTO_ASCONF of RFC 6458, section 8.1.23), and
//! so does this. Where another address comes first, it takes the place of those that have gone.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};

/// Time for which an address may be away before it counts as gone for good: 500 ms, as with Linux.
const PATIENCE: Duration = Duration::from_millis(500);

/// Addresses that are away, and those that are gone for good.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    /// Oldest first, and when each is gone for good.
    away: Vec<(IpAddr, Instant)>,
    gone: Vec<IpAddr>,
}

/// Kind of absence of an address that is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    /// Away for a while, or not at all.
    Short,
    /// Gone for good.
    Final,
}

impl Departures {
    /// An address has gone.
    pub(crate) fn leave(&mut self, now: Instant, address: IpAddr) {
        self.away.push((address, now.saturating_add(PATIENCE)));
    }

    /// An address is back.
    pub(crate) fn come_back(&mut self, address: IpAddr) -> Absence {
        self.away.retain(|(one, _)| *one != address);
        let Some(place) = self.gone.iter().position(|one| *one == address) else { return Absence::Short };
        self.gone.swap_remove(place);
        Absence::Final
    }

    /// Instant at which the next address is gone for good.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.away.first().map(|(_, at)| *at)
    }

    /// Takes the addresses that are gone for good by now, each once.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<IpAddr> {
        self.take(|(_, at)| *at <= now)
    }

    /// Another address takes the place of all of its IP version that are away.
    pub(crate) fn take_replaced(&mut self, by: IpAddr) -> Vec<IpAddr> {
        self.take(|(address, _)| address.is_ipv4() == by.is_ipv4())
    }

    fn take(&mut self, is_gone: impl Fn(&(IpAddr, Instant)) -> bool) -> Vec<IpAddr> {
        let (taken, left): (Vec<_>, Vec<_>) = self.away.drain(..).partition(is_gone);
        self.away = left;
        let taken: Vec<IpAddr> = taken.into_iter().map(|(address, _)| address).collect();
        self.gone.extend(&taken);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> IpAddr {
        [10, 0, 0, number].into()
    }

    #[test]
    fn an_address_that_is_back_within_half_a_second_was_never_gone() {
        let at = Instant::from_millis;
        let mut departures = Departures::default();
        assert_eq!(departures.deadline(), None);
        departures.leave(at(1_000), address(1));
        departures.leave(at(1_200), address(2));
        assert_eq!(departures.deadline(), Some(at(1_500)));
        assert_eq!(departures.come_back(address(1)), Absence::Short);
        assert_eq!(departures.deadline(), Some(at(1_700)));
        assert!(departures.take_due(at(1_699)).is_empty());
        assert_eq!(departures.take_due(at(1_700)), [address(2)]);
        assert!(departures.take_due(at(9_000)).is_empty(), "once");
        assert_eq!(departures.come_back(address(2)), Absence::Final);
        assert_eq!(departures.come_back(address(2)), Absence::Short);
    }

    #[test]
    fn another_address_takes_the_place_of_those_that_are_away() {
        let mut departures = Departures::default();
        departures.leave(Instant::from_millis(1_000), address(1));
        assert!(departures.take_replaced("fd00::1".parse().unwrap()).is_empty());
        assert_eq!(departures.take_replaced(address(2)), [address(1)]);
        assert_eq!(departures.deadline(), None);
        assert_eq!(departures.come_back(address(1)), Absence::Final);
    }
}
