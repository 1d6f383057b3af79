//! Records of a run's events, and of the time for which links were out of service.

use slantpath_base::{Duration, Instant};
use slantpath_signalling::network::{
    AdaptationId, Carried, PointId, ServerId, Side, SignallingLinkId, SignallingProcess,
};
use slantpath_signalling::{M3uaEventKind, PointEventKind};

/// Something that happened at a point, as it saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Instant of the event.
    pub at: Instant,
    /// Point at which it happened.
    pub point: PointId,
    /// To which link, and at which end of it; none if it happened to the point.
    pub link: Option<(SignallingLinkId, Side)>,
    /// Kind of the event.
    pub kind: PointEventKind,
}

/// Traffic that has lost its link or its process, and of which the first message has been handed to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivertedTraffic {
    /// Instant at which it was.
    pub at: Instant,
    /// Link of MTP3 that was lost, or association to the process that serves no longer.
    pub from: Carried,
    /// End of it at which this happened: of an association the gateway's, its first.
    pub side: Side,
    /// Link or association that carries the message.
    pub to: Carried,
    /// Instant at which the newest packet left that the far end of the former's association has answered. `None` of a
    /// line, and if none was.
    pub answered: Option<Instant>,
}

/// Something that happened above M3UA, as a gateway or a process saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptationEvent {
    /// Instant of the event.
    pub at: Instant,
    /// Process that saw it.
    pub process: SignallingProcess,
    /// On which association, if on one.
    pub association: Option<AdaptationId>,
    /// To which application server, if to one.
    pub server: Option<ServerId>,
    /// Kind of the event.
    pub kind: M3uaEventKind,
}

impl Event {
    /// Tells if it happened to this end of this link.
    pub fn is_at(&self, link: SignallingLinkId, side: Side) -> bool {
        self.link == Some((link, side))
    }
}

/// Availability of a link's end over a span of time. Times out of service count from the first time in service on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkAvailability {
    /// Number of times that it became available.
    pub times_available: u64,
    /// Number of times that it became unavailable.
    pub times_unavailable: u64,
    /// Instant at which it became available first.
    pub first: Option<Instant>,
    /// Time since then in which it was not.
    pub outage: Duration,
    /// The longest of these times.
    pub outage_max: Duration,
    /// Since when it is out of service, if it is.
    since: Option<Instant>,
}

impl LinkAvailability {
    /// The next event of the end.
    pub fn observe(&mut self, event: &Event) {
        match event.kind {
            PointEventKind::Available => {
                self.times_available += 1;
                self.first.get_or_insert(event.at);
                self.end_outage(event.at);
            }
            PointEventKind::Unavailable => {
                self.times_unavailable += 1;
                if self.first.is_some() {
                    self.since.get_or_insert(event.at);
                }
            }
            _ => {}
        }
    }

    /// Availability with an outage that lasts counted up to `end`.
    #[must_use]
    pub fn until(mut self, end: Instant) -> Self {
        self.end_outage(end);
        self
    }

    fn end_outage(&mut self, at: Instant) {
        let Some(since) = self.since.take() else { return };
        let outage = at - since;
        self.outage += outage;
        self.outage_max = self.outage_max.max(outage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, kind: PointEventKind) -> Event {
        let link = Some((SignallingLinkId(0), Side::First));
        Event { at: Instant::from_secs(at), point: PointId(0), link, kind }
    }

    #[test]
    fn outages_count_from_the_first_time_in_service_to_the_end() {
        use PointEventKind::{Available, Unavailable};
        let events = [event(1, Unavailable), event(10, Available), event(20, Unavailable)];
        let events = [&events[..], &[event(23, Available), event(40, Unavailable)]].concat();
        let mut availability = LinkAvailability::default();
        for event in &events {
            availability.observe(event);
        }
        let availability = availability.until(Instant::from_secs(45));
        assert_eq!((availability.times_available, availability.times_unavailable), (2, 3));
        assert_eq!(availability.first, Some(Instant::from_secs(10)));
        assert_eq!(availability.outage, Duration::from_secs(8));
        assert_eq!(availability.outage_max, Duration::from_secs(5));
    }

    #[test]
    fn the_longest_outage_is_not_the_last_and_one_that_is_told_twice_is_one() {
        use PointEventKind::{Available, Unavailable};
        let events =
            [(10, Available), (20, Unavailable), (25, Available), (30, Unavailable), (31, Unavailable)];
        let mut availability = LinkAvailability::default();
        for (at, kind) in events.into_iter().chain([(33, Available), (40, Available)]) {
            availability.observe(&event(at, kind));
        }
        let availability = availability.until(Instant::from_secs(50));
        assert_eq!((availability.times_available, availability.times_unavailable), (4, 3));
        assert_eq!(
            (availability.outage, availability.outage_max),
            (Duration::from_secs(8), Duration::from_secs(5))
        );
    }
}
