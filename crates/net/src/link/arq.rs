//! Repetition by the link itself: selective repeat.
//!
//! The receiver tells the transmitter of every packet that an error has hit, over a way back that is as long as the way
//! there and free of errors. The transmitter then sends the packet again, before what waits, until it has tried as
//! often as it may. A link that keeps order holds packets back at the receiver until all before them have come or have
//! been given up.
//!
//! What becomes of a packet is known when it is sent, so that nothing happens at the receiver: a packet that is held
//! back is put on its way, with the instant at which it is let go, when the one that it waits for is sent at last.

use std::collections::VecDeque;

use slantpath_base::Instant;

use crate::link::flight::Transit;
use crate::link::lane::{Lane, Outlet};
use crate::link::service::Transmission;
use crate::parcel::{Fate, Parcel};

/// Repetition by a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArqConfig {
    /// Greatest number of times that a packet is sent; not zero. With 1 it is not repeated: what an error hits is
    /// dropped.
    pub tries: u32,
    /// In which order packets leave the link.
    pub order: ArqOrder,
}

/// The order in which a link that repeats hands packets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArqOrder {
    /// As they come: one that is repeated is overtaken.
    AsReceived,
    /// As they were sent: what comes behind one that is repeated is held back.
    InOrder,
}

/// A packet with what the link has put on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    parcel: Parcel,
    /// Number of times that it has been sent.
    tried: u32,
    /// Place of the packet in the order, if that is kept.
    number: u64,
}

impl Frame {
    pub(crate) const fn length(&self) -> u32 {
        self.parcel.length()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Arq {
    tries: u32,
    /// Packets to be retransmitted, by the instant at which the transmitter learns of it.
    repeats: VecDeque<(Instant, Frame)>,
    receiver: Receiver,
}

#[derive(Clone, Debug)]
enum Receiver {
    AsReceived,
    InOrder(HeldBack),
}

/// Packets sent since the first one that is to be retransmitted.
#[derive(Clone, Debug)]
struct HeldBack {
    /// The number of the first of them.
    first: u64,
    slots: VecDeque<Slot>,
    /// Instant at which the last packet is let go that has been put on its way.
    released: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The packet is to be retransmitted.
    Open,
    /// The packet will not come, and nothing waits for it.
    Gone,
    /// The packet comes, or is given up.
    Settled(Transit),
}

impl Arq {
    pub(crate) fn new(config: ArqConfig) -> Self {
        let held_back = HeldBack { first: 0, slots: VecDeque::new(), released: Instant::START };
        Self {
            tries: config.tries,
            repeats: VecDeque::new(),
            receiver: match config.order {
                ArqOrder::AsReceived => Receiver::AsReceived,
                ArqOrder::InOrder => Receiver::InOrder(held_back),
            },
        }
    }

    /// Instant at which the first retransmission is possible; [`Instant::FAR_FUTURE`] if none is due.
    #[inline]
    pub(crate) fn next_due(&self) -> Instant {
        self.repeats.front().map_or(Instant::FAR_FUTURE, |&(due, _)| due)
    }

    /// Takes a packet out that is to be retransmitted.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Frame> {
        self.repeats.pop_front_if(|(due, _)| *due <= now).map(|(_, frame)| frame)
    }

    /// A packet that is sent for the first time.
    pub(crate) fn first(&mut self, parcel: Parcel) -> Frame {
        Frame { parcel, tried: 0, number: self.receiver.expect() }
    }

    /// Sends a packet, and notes whether it has to be retransmitted.
    pub(crate) fn send(&mut self, mut frame: Frame, transmission: Transmission, outlet: &mut Outlet<'_>) {
        frame.tried += 1;
        if frame.tried > 1 {
            outlet.counters.repeated.add(frame.parcel.length());
        }
        let attempt = outlet.lane.attempt(transmission, frame.parcel);
        let (departure, arrival) = (transmission.end, attempt.arrival);
        if frame.tried > 1 {
            outlet.packets.note_repetition(frame.parcel, transmission, arrival);
        } else {
            outlet.packets.note_hop(frame.parcel, transmission, arrival);
        }
        if attempt.is_hit && frame.tried < self.tries {
            // The way back is as long as the way there was.
            self.put_back(arrival.saturating_add(arrival - departure), frame);
            return;
        }
        let fate = if attempt.is_hit { Fate::Lost } else { Fate::Arrives };
        let transit = Transit { arrival, departure, parcel: frame.parcel.with_fate(fate) };
        self.receiver.settle(frame.number, transit, outlet.lane);
    }

    /// News come in the order of sending, but where a delay has fallen.
    fn put_back(&mut self, due: Instant, frame: Frame) {
        let place = self.repeats.partition_point(|&(other, _)| other <= due);
        self.repeats.insert(place, (due, frame));
    }

    /// Packets that are to be retransmitted, and their bytes.
    pub(crate) fn waiting(&self) -> (u64, u64) {
        let bytes = self.repeats.iter().map(|(_, frame)| u64::from(frame.parcel.length())).sum();
        (self.repeats.len() as u64, bytes)
    }

    /// Takes out what is held back and leaves after `now`, as the packet does that is being sent.
    pub(crate) fn cut_off(&mut self, now: Instant) -> Option<Parcel> {
        let Receiver::InOrder(HeldBack { slots, .. }) = &mut self.receiver else { return None };
        let is_cut = |slot: &Slot| matches!(slot, Slot::Settled(transit) if transit.departure > now);
        let cut = slots.iter_mut().find(|slot| is_cut(slot))?;
        let Slot::Settled(transit) = core::mem::replace(cut, Slot::Gone) else { unreachable!("just seen") };
        Some(transit.parcel.with_fate(Fate::Arrives))
    }

    /// Takes out what is to be retransmitted; nothing waits for it any longer.
    pub(crate) fn take_repeats(&mut self, now: Instant, lane: &mut Lane) -> impl Iterator<Item = Parcel> {
        self.receiver.let_all_go(now, lane);
        core::mem::take(&mut self.repeats).into_iter().map(|(_, frame)| frame.parcel)
    }

    /// Has another receiver get what is to be retransmitted, as if it had not been sent yet. What the one before holds
    /// back is let go.
    pub(crate) fn change_receiver(&mut self, now: Instant, lane: &mut Lane) {
        self.receiver.let_all_go(now, lane);
        for (_, frame) in &mut self.repeats {
            *frame = Frame { parcel: frame.parcel, tried: 0, number: self.receiver.expect() };
        }
    }
}

impl Receiver {
    /// Has it wait for one packet more, and returns its number.
    fn expect(&mut self) -> u64 {
        let Self::InOrder(HeldBack { first, slots, .. }) = self else { return 0 };
        slots.push_back(Slot::Open);
        *first + slots.len() as u64 - 1
    }

    /// Notes what comes of a packet, and puts on its way what nothing holds back.
    fn settle(&mut self, number: u64, transit: Transit, lane: &mut Lane) {
        match self {
            Self::AsReceived => lane.land(transit),
            Self::InOrder(held_back) => {
                let place = usize::try_from(number - held_back.first).expect("it has a slot");
                held_back.slots[place] = Slot::Settled(transit);
                held_back.let_go(lane);
            }
        }
    }

    /// Waits for nothing more.
    fn let_all_go(&mut self, now: Instant, lane: &mut Lane) {
        if let Self::InOrder(held_back) = self {
            held_back.released = held_back.released.max(now);
            let is_open = |slot: &&mut Slot| matches!(slot, Slot::Open);
            held_back.slots.iter_mut().filter(is_open).for_each(|slot| *slot = Slot::Gone);
            held_back.let_go(lane);
        }
    }
}

impl HeldBack {
    fn let_go(&mut self, lane: &mut Lane) {
        while let Some(slot) = self.slots.pop_front_if(|slot| !matches!(slot, Slot::Open)) {
            self.first += 1;
            if let Slot::Settled(transit) = slot {
                self.released = self.released.max(transit.arrival);
                lane.land(Transit { arrival: self.released, ..transit });
            }
        }
    }
}
