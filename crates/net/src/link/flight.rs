//! Packets that have been given their departure and have not arrived, in the order of arrival.

use slantpath_base::Instant;

use crate::link::ring::Ring;
use crate::parcel::Parcel;

/// A packet on a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transit {
    /// Instant at which its last bit is at the far end; [`Instant::FAR_FUTURE`] while it waits for the link to come up.
    pub(crate) arrival: Instant,
    /// Instant at which its last bit leaves the transmitter.
    pub(crate) departure: Instant,
    pub(crate) parcel: Parcel,
}

// Thousands may be under way: two of them share a cache line.
const _: () = assert!(size_of::<Transit>() == 32);

/// The packets on a link, by arrival; those of equal arrival in the order in which they were sent.
#[derive(Clone, Debug)]
pub(crate) struct Flight {
    ring: Ring<Transit>,
    /// Instant at which the next packet arrives; [`Instant::FAR_FUTURE`] if none does.
    next: Instant,
    /// The last arrival of those in the ring, or an earlier one than any that can come.
    latest: Instant,
}

impl Default for Flight {
    fn default() -> Self {
        Self { ring: Ring::default(), next: Instant::FAR_FUTURE, latest: Instant::START }
    }
}

impl Flight {
    /// Adds a packet, and returns whether it is the next to arrive. On a link that keeps order its place is at the end;
    /// else it is looked for from there.
    #[inline]
    pub(crate) fn insert(&mut self, arrival: Instant, departure: Instant, parcel: Parcel) -> bool {
        if arrival < self.latest {
            return self.insert_out_of_order(arrival, departure, parcel);
        }
        self.latest = arrival;
        let is_next = self.ring.is_empty();
        if is_next {
            self.next = arrival;
        }
        self.ring.push(Transit { arrival, departure, parcel });
        is_next
    }

    #[cold]
    fn insert_out_of_order(&mut self, arrival: Instant, departure: Instant, parcel: Parcel) -> bool {
        let place = self.ring.partition_point(|other| other.arrival <= arrival);
        self.ring.insert(place, Transit { arrival, departure, parcel });
        self.find_next();
        place == 0
    }

    /// Instant at which the next packet arrives; [`Instant::FAR_FUTURE`] if none does.
    #[inline]
    pub(crate) const fn next_arrival(&self) -> Instant {
        self.next
    }

    #[inline]
    fn find_next(&mut self) {
        self.next = self.ring.front().map_or(Instant::FAR_FUTURE, |first| first.arrival);
    }

    #[inline]
    pub(crate) fn take_next(&mut self) -> Option<Transit> {
        let taken = self.ring.pop()?;
        self.find_next();
        Some(taken)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Transit> {
        self.ring.iter()
    }

    /// Instants at which the packets leave or left the transmitter.
    pub(crate) fn departures(&self) -> impl Iterator<Item = Instant> {
        self.iter().map(|transit| transit.departure)
    }

    /// Takes out the packets that leave the transmitter after `departure`, in the order in which they do.
    pub(crate) fn take_departing_after(&mut self, departure: Instant) -> Vec<Transit> {
        let (mut taken, kept) =
            self.ring.iter().partition::<Vec<_>, _>(|transit| transit.departure > departure);
        self.ring.truncate(0);
        for transit in kept {
            self.ring.push(transit);
        }
        self.find_next();
        self.latest = self.ring.back().map_or(Instant::START, |last| last.arrival);
        taken.sort_by_key(|transit| transit.departure);
        taken
    }
}
