//! What happened to links, and for how long they were out of service.

use slantpath_base::{Duration, Instant};

use super::config::{Side, SignallingLinkId};

/// Something that happened to a link, as one of its points saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// To which link.
    pub link: SignallingLinkId,
    /// At which end.
    pub side: Side,
    /// What.
    pub kind: EventKind,
}

/// What may happen to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It is in service and tested: traffic may use it.
    Available,
    /// Traffic left it without the far end's number: messages may be lost.
    ChangeoverWithoutSequence,
    /// Its congestion status, 0 to 3.
    Congestion(u8),
    /// Its test failed twice.
    TestFailed,
    /// It has failed or was deactivated.
    Unavailable,
}

impl EventKind {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::ChangeoverWithoutSequence => "changeover-without-sequence",
            Self::Congestion(_) => "congestion",
            Self::TestFailed => "test-failed",
            Self::Unavailable => "unavailable",
        }
    }
}

/// How a link's end was available over a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Availability {
    /// How often it became available.
    pub times_available: u64,
    /// How often it became unavailable.
    pub times_unavailable: u64,
    /// When it became available first.
    pub first: Option<Instant>,
    /// Time since then in which it was not.
    pub outage: Duration,
    /// The longest of these times.
    pub outage_max: Duration,
}

impl Availability {
    /// From the events of one end, in order, up to `end`.
    pub fn of<'a>(events: impl Iterator<Item = &'a Event>, end: Instant) -> Self {
        let mut availability = Self::default();
        let mut since = None;
        for event in events {
            match event.kind {
                EventKind::Available => {
                    availability.times_available += 1;
                    availability.first.get_or_insert(event.at);
                    availability.add_outage(since.take(), event.at);
                }
                EventKind::Unavailable => {
                    availability.times_unavailable += 1;
                    if availability.first.is_some() {
                        since.get_or_insert(event.at);
                    }
                }
                EventKind::ChangeoverWithoutSequence | EventKind::Congestion(_) | EventKind::TestFailed => {}
            }
        }
        availability.add_outage(since, end);
        availability
    }

    fn add_outage(&mut self, since: Option<Instant>, until: Instant) {
        let Some(since) = since else { return };
        let outage = until - since;
        self.outage += outage;
        self.outage_max = self.outage_max.max(outage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, kind: EventKind) -> Event {
        Event { at: Instant::from_secs(at), link: SignallingLinkId(0), side: Side::First, kind }
    }

    #[test]
    fn outages_count_from_the_first_time_in_service_to_the_end() {
        use EventKind::{Available, Unavailable};
        let events = [event(1, Unavailable), event(10, Available), event(20, Unavailable)];
        let events = [&events[..], &[event(23, Available), event(40, Unavailable)]].concat();
        let availability = Availability::of(events.iter(), Instant::from_secs(45));
        assert_eq!((availability.times_available, availability.times_unavailable), (2, 3));
        assert_eq!(availability.first, Some(Instant::from_secs(10)));
        assert_eq!(availability.outage, Duration::from_secs(8));
        assert_eq!(availability.outage_max, Duration::from_secs(5));
    }
}
