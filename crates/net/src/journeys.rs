//! Times that the parts of packets' journeys take, beside the packets: kept only if somebody asks for them.
//!
//! A link may take a packet back and send it again under other rules, so that what a hop takes is written over until
//! the packet has come to its end.

use slantpath_base::{Duration, Instant};
use slantpath_interface::Journey;

use crate::link::Transmission;

/// By the places of packets in their store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journeys {
    travels: Vec<Travel>,
}

/// A journey so far, up to the last node.
#[derive(Clone, Copy, Debug)]
struct Travel {
    sent: Instant,
    transmission: Duration,
    propagation: Duration,
    repetition: Duration,
    /// The link that the packet is on, if that has sent it.
    hop: Hop,
}

#[derive(Clone, Copy, Debug)]
struct Hop {
    /// Instant at which it was first sent.
    first_start: Instant,
    /// As it was sent last.
    transmission: Transmission,
    /// Instant at which it is at the far end, unless it is held back there.
    arrival: Instant,
}

impl Travel {
    const fn new(sent: Instant) -> Self {
        let zero = Duration::ZERO;
        let hop =
            Hop { first_start: sent, transmission: Transmission { start: sent, end: sent }, arrival: sent };
        Self { sent, transmission: zero, propagation: zero, repetition: zero, hop }
    }
}

impl Journeys {
    pub(crate) fn begin(&mut self, place: usize, now: Instant) {
        self.put(place, Travel::new(now));
    }

    fn put(&mut self, place: usize, travel: Travel) {
        if self.travels.len() <= place {
            self.travels.resize(place + 1, Travel::new(Instant::START));
        }
        self.travels[place] = travel;
    }

    pub(crate) fn note_hop(&mut self, place: usize, transmission: Transmission, arrival: Instant) {
        self.travels[place].hop = Hop { first_start: transmission.start, transmission, arrival };
    }

    pub(crate) fn note_repetition(&mut self, place: usize, transmission: Transmission, arrival: Instant) {
        let hop = &mut self.travels[place].hop;
        *hop = Hop { first_start: hop.first_start, transmission, arrival };
    }

    pub(crate) fn end_hop(&mut self, place: usize, now: Instant) {
        let travel = &mut self.travels[place];
        let Hop { first_start, transmission: Transmission { start, end }, arrival } = travel.hop;
        travel.transmission += end - start;
        travel.propagation += arrival - end;
        travel.repetition += (start - first_start) + (now - arrival);
    }

    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        self.put(to, self.travels[from]);
    }

    pub(crate) fn read(&self, place: usize, now: Instant) -> Journey {
        let Travel { sent, transmission, propagation, repetition, .. } = self.travels[place];
        Journey { sent, arrived: now, transmission, propagation, repetition }
    }
}
