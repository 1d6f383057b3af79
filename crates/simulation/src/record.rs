//! What happened to links, and for how long they were out of service.

use slantpath_base::{Duration, Instant};

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::InhibitError;
use slantpath_ss7::sccp::Ssn;

use super::config::{PointId, Side, SignallingLinkId};

/// Something that happened at a point, as it saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Instant,
    /// Where.
    pub point: PointId,
    /// To which link, and at which end of it; none if it happened to the point.
    pub link: Option<(SignallingLinkId, Side)>,
    /// What.
    pub kind: EventKind,
}

impl Event {
    /// Whether it happened to an end of a link.
    pub fn is_at(&self, link: SignallingLinkId, side: Side) -> bool {
        self.link == Some((link, side))
    }
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It is in service and tested: traffic may use it.
    Available,
    /// Traffic came back to it by time: the far end did not acknowledge the changeback.
    ChangebackUnacknowledged,
    /// Traffic left it without the far end's number: messages may be lost.
    ChangeoverWithoutSequence,
    /// Its congestion status, 0 to 3.
    Congestion(u8),
    /// The backup of this subsystem takes over: it may go.
    CoordinatedChangeGranted(Ssn),
    /// The backup of this subsystem has not answered, or it cannot go now.
    CoordinatedChangeRefused(Ssn),
    /// The far end does not let the link be inhibited: somebody would be cut off there.
    InhibitionDenied,
    /// This end does not let the link be inhibited.
    InhibitionRefused(InhibitError),
    /// The far end does not answer about the link's inhibition.
    InhibitionUnanswered,
    /// It is kept free of users' traffic.
    Inhibited,
    /// The link set to that point has its first available link.
    LinkSetAvailable(PointCode),
    /// The link set to that point has no available link any more.
    LinkSetUnavailable(PointCode),
    /// The point restarts: no traffic yet.
    RestartBegun,
    /// Traffic flows.
    RestartOver,
    /// Its test failed twice.
    TestFailed,
    /// It is open to users' traffic again.
    Uninhibited,
    /// It has failed or was deactivated.
    Unavailable,
}

impl EventKind {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::ChangebackUnacknowledged => "changeback-unacknowledged",
            Self::ChangeoverWithoutSequence => "changeover-without-sequence",
            Self::Congestion(_) => "congestion",
            Self::CoordinatedChangeGranted(_) => "coordinated-change-granted",
            Self::CoordinatedChangeRefused(_) => "coordinated-change-refused",
            Self::InhibitionDenied => "inhibition-denied",
            Self::InhibitionRefused(_) => "inhibition-refused",
            Self::InhibitionUnanswered => "inhibition-unanswered",
            Self::Inhibited => "inhibited",
            Self::LinkSetAvailable(_) => "link-set-available",
            Self::LinkSetUnavailable(_) => "link-set-unavailable",
            Self::RestartBegun => "restart-begun",
            Self::RestartOver => "restart-over",
            Self::TestFailed => "test-failed",
            Self::Uninhibited => "uninhibited",
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
                _ => {}
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
        let link = Some((SignallingLinkId(0), Side::First));
        Event { at: Instant::from_secs(at), point: PointId(0), link, kind }
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
