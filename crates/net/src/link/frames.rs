//! Frames of time slots in which a transmitter has bursts: time division multiple access.
//!
//! Frames follow one another from the beginning of the run on. Of each, a transmitter has the slots that it was
//! allocated; in each of its slots, after guard time and preamble, so many bytes are sent. A packet goes on in the next
//! slot where one is too short for it. Allocations change from a frame on, which is said beforehand.

use std::collections::VecDeque;

use slantpath_base::{DataRate, Duration, Instant};

use crate::parcel::Parcel;

/// The frame of a carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameConfig {
    /// Length of a frame.
    pub length: Duration,
    /// Number of slots in a frame, all equally long; not zero. What they leave of the frame, less than a nanosecond
    /// each, is at its end.
    pub slots: u32,
    /// The part of each slot that carries no bytes, in front: guard time, preamble, headers. Shorter than a slot.
    pub slot_overhead: Duration,
    /// Number of bytes that the rest of a slot carries; not zero.
    pub slot_payload_bytes: u32,
}

/// Slots of a frame, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotRun {
    /// The first, from 0 on.
    pub first: u32,
    /// Number of slots in the run.
    pub slots: u32,
}

/// The slots that a transmitter has in every frame: two runs at most, the earlier one first. Where they lie on two
/// carriers, they do not overlap in time.
pub type SlotRuns = [SlotRun; 2];

impl FrameConfig {
    fn slot_nanos(&self) -> u64 {
        (self.length.as_nanos() / u64::from(self.slots.max(1))).max(1)
    }

    /// Beginning of the frame that is under way at `now`.
    pub fn frame_at(&self, now: Instant) -> Instant {
        let since = now.since_start().as_nanos();
        Instant::START + Duration::from_nanos(since - since % self.length.as_nanos().max(1))
    }

    /// Beginning of the first frame that begins at `now` or later.
    pub fn next_frame(&self, now: Instant) -> Instant {
        let begun = self.frame_at(now);
        if begun == now { now } else { begun.saturating_add(self.length) }
    }

    /// Bytes that these slots carry in a frame.
    pub fn payload_bytes(&self, bursts: &SlotRuns) -> u64 {
        slots(bursts) * u64::from(self.slot_payload_bytes)
    }

    /// Bytes that have been sent `since` the beginning of a frame, and those that have begun to.
    fn payload_until(&self, bursts: &SlotRuns, since: Duration) -> (u64, u64) {
        let [(gone, begun), (more_gone, more_begun)] = bursts.map(|run| self.of_run_until(run, since));
        (gone + more_gone, begun + more_begun)
    }

    fn of_run_until(&self, run: SlotRun, since: Duration) -> (u64, u64) {
        if run.slots == 0 {
            return (0, 0);
        }
        let slot = since.as_nanos() / self.slot_nanos();
        let whole = slot.saturating_sub(u64::from(run.first)).min(u64::from(run.slots));
        let payload = u64::from(self.slot_payload_bytes);
        let is_inside = (u64::from(run.first)..u64::from(run.first) + u64::from(run.slots)).contains(&slot);
        if !is_inside {
            return (whole * payload, whole * payload);
        }
        let in_slot = Duration::from_nanos(since.as_nanos() % self.slot_nanos());
        let sending = in_slot.saturating_sub(self.slot_overhead).as_nanos();
        let of_slot = [scaled, scaled_up].map(|scaled| scaled(sending, payload, self.sending_nanos()));
        (whole * payload + of_slot[0], whole * payload + of_slot[1])
    }

    /// The part of a slot in which bytes go.
    fn sending_nanos(&self) -> u64 {
        self.slot_nanos().saturating_sub(self.slot_overhead.as_nanos()).max(1)
    }

    /// After the beginning of a frame, when so many bytes of those that go in it have gone, one at least.
    fn gone(&self, bursts: &SlotRuns, bytes: u64) -> Duration {
        let payload = u64::from(self.slot_payload_bytes.max(1));
        // What fills a slot has gone at the end of that one.
        let (slots_before, in_slot) = match (bytes / payload, bytes % payload) {
            (slots, 0) => (slots - 1, payload),
            both => both,
        };
        self.in_slot(bursts, slots_before, scaled_up(in_slot, self.sending_nanos(), payload))
    }

    /// After the beginning of a frame, when the byte begins that so many go before.
    fn begun(&self, bursts: &SlotRuns, bytes: u64) -> Duration {
        let payload = u64::from(self.slot_payload_bytes.max(1));
        self.in_slot(bursts, bytes / payload, scaled_up(bytes % payload, self.sending_nanos(), payload))
    }

    /// So many nanoseconds into the sending part of the slot that so many of these are before.
    fn in_slot(&self, [first, second]: &SlotRuns, slots_before: u64, nanos: u64) -> Duration {
        let slot = match slots_before.checked_sub(u64::from(first.slots)) {
            None => u64::from(first.first) + slots_before,
            Some(of_second) => u64::from(second.first) + of_second,
        };
        Duration::from_nanos(slot * self.slot_nanos() + self.slot_overhead.as_nanos() + nanos)
    }
}

/// `value` times `numerator` over `denominator`, which is not zero; rounded down.
fn scaled(value: u64, numerator: u64, denominator: u64) -> u64 {
    match value.checked_mul(numerator) {
        Some(product) => product / denominator,
        None => wide(u128::from(value) * u128::from(numerator) / u128::from(denominator)),
    }
}

/// Variant of [`scaled`] that rounds up.
fn scaled_up(value: u64, numerator: u64, denominator: u64) -> u64 {
    match value.checked_mul(numerator) {
        Some(product) => product.div_ceil(denominator),
        None => wide((u128::from(value) * u128::from(numerator)).div_ceil(u128::from(denominator))),
    }
}

#[cold]
fn wide(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

fn slots(bursts: &SlotRuns) -> u64 {
    bursts.iter().map(|run| u64::from(run.slots)).sum()
}

/// The frames of a transmitter in a run, and the packet that it is sending in them.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    config: FrameConfig,
    /// From when on it has which slots, in the order of time; the first one holds now. Each is from a frame on.
    pieces: VecDeque<(Instant, SlotRuns)>,
    sending: Option<Sending>,
    /// Place at which the next packet can begin, if the allocation that holds decides that.
    place: Option<Place>,
}

/// Place at which a packet can begin.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// From when on the transmitter is free.
    free: Instant,
    /// Instant at which the next byte can be sent.
    open: Instant,
    /// Bytes that have been sent by then, were the slots always those of the allocation.
    gone: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    parcel: Parcel,
    /// Instant at which its first bit left.
    start: Instant,
    /// Number of bytes that had not been sent at `counted`.
    left_bytes: u64,
    counted: Instant,
    /// Instant at which all of it has been sent, as far as allocations are known.
    completion: Instant,
    /// Bytes that will have been sent by then, were the slots always those of the first allocation; if it is sent under
    /// that one.
    gone: Option<u64>,
}

impl Frames {
    /// Without a slot.
    pub(crate) fn new(config: FrameConfig) -> Self {
        Self {
            config,
            pieces: VecDeque::from([(Instant::START, SlotRuns::default())]),
            sending: None,
            place: None,
        }
    }

    /// Rate of the slots that it has at `now`, over whole frames.
    pub(crate) fn rate_at(&self, now: Instant) -> DataRate {
        let holds = self.pieces.iter().rev().find(|(from, _)| *from <= now);
        let bytes = holds.map_or(0, |(_, bursts)| self.config.payload_bytes(bursts));
        let bits = u128::from(bytes) * 8 * u128::from(Duration::from_secs(1).as_nanos());
        let rate = bits / u128::from(self.config.length.as_nanos().max(1));
        DataRate::from_bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Bytes that have been sent from the beginning of the run until `at`, and those that have begun to, were the slots
    /// always these.
    fn payload_until(&self, bursts: &SlotRuns, at: Instant) -> (u64, u64) {
        let frame = self.config.frame_at(at);
        let frames = frame.since_start().as_nanos() / self.config.length.as_nanos().max(1);
        let before = frames.saturating_mul(self.config.payload_bytes(bursts));
        let (gone, begun) = self.config.payload_until(bursts, at.saturating_since(frame));
        (before.saturating_add(gone), before.saturating_add(begun))
    }

    /// Instant at which so many bytes, one at least, have been sent since the beginning of the run, were the slots
    /// always these. There has to be a slot among them.
    fn gone(&self, bursts: &SlotRuns, bytes: u64) -> Instant {
        let of_frame = self.config.payload_bytes(bursts);
        // What fills a frame has gone in that one.
        let (frames, in_frame) = match (bytes / of_frame, bytes % of_frame) {
            (frames, 0) => (frames - 1, of_frame),
            both => both,
        };
        self.frame_start(frames).saturating_add(self.config.gone(bursts, in_frame))
    }

    /// Instant at which the byte begins that so many bytes go before.
    fn begun(&self, bursts: &SlotRuns, bytes: u64) -> Instant {
        let of_frame = self.config.payload_bytes(bursts);
        let start = self.frame_start(bytes / of_frame);
        start.saturating_add(self.config.begun(bursts, bytes % of_frame))
    }

    fn frame_start(&self, frames: u64) -> Instant {
        Instant::START
            .saturating_add(Duration::from_nanos(frames.saturating_mul(self.config.length.as_nanos())))
    }

    /// The allocations that hold from `from` on, each with when it begins to count and when it ends.
    fn pieces_from(&self, from: Instant) -> impl Iterator<Item = (Instant, Instant, &SlotRuns)> {
        let ends = self.pieces.iter().skip(1).map(|&(start, _)| start);
        let ends = ends.chain(core::iter::once(Instant::FAR_FUTURE));
        let pieces = self.pieces.iter().zip(ends);
        pieces
            .filter(move |(_, end)| *end > from)
            .map(move |((start, bursts), end)| ((*start).max(from), end, bursts))
    }

    /// The allocation under which byte `number` goes of those that go from `from` on, counted from 1, and how many of
    /// its own go before and with it; `None` if it never goes, as far as allocations are known.
    fn find(&self, from: Instant, mut number: u64) -> Option<(&SlotRuns, u64)> {
        for (start, end, bursts) in self.pieces_from(from) {
            if slots(bursts) == 0 {
                continue;
            }
            // A byte that has begun to go is another's.
            let (_, before) = self.payload_until(bursts, start);
            if end == Instant::FAR_FUTURE {
                return Some((bursts, before.saturating_add(number)));
            }
            let here = self.payload_until(bursts, end).0.saturating_sub(before);
            if number <= here {
                return Some((bursts, before + number));
            }
            number -= here;
        }
        None
    }

    /// Instant from `from` on at which the transmitter can send next; [`Instant::FAR_FUTURE`] without a slot.
    pub(crate) fn opportunity(&self, from: Instant) -> Instant {
        if let Some(place) = self.place.filter(|place| place.free == from) {
            return place.open;
        }
        let found = self.find(from, 1);
        found.map_or(Instant::FAR_FUTURE, |(bursts, number)| self.begun(bursts, number - 1).max(from))
    }

    /// Begins to send a packet that takes so many bytes.
    pub(crate) fn begin(&mut self, now: Instant, parcel: Parcel, bytes: u64) {
        debug_assert!(self.sending.is_none(), "one packet is sent at a time");
        let known = self.place.filter(|place| place.open == now);
        // Most packets follow another, under the allocation that holds.
        let here = known.zip(self.pieces.front()).and_then(|(place, (_, bursts))| {
            let gone = place.gone + bytes;
            let completion = self.gone(bursts, gone);
            (completion <= self.first_ends()).then_some((completion, Some(gone)))
        });
        let (completion, gone) = here.unwrap_or_else(|| (self.completion_of(now, bytes), None));
        self.place = None;
        self.sending =
            Some(Sending { parcel, start: now, left_bytes: bytes, counted: now, completion, gone });
    }

    /// Instant at which so many bytes have been sent, the first of them from `from` on.
    fn completion_of(&self, from: Instant, bytes: u64) -> Instant {
        if bytes == 0 {
            return from;
        }
        self.find(from, bytes).map_or(Instant::FAR_FUTURE, |(bursts, number)| self.gone(bursts, number))
    }

    /// Instant at which the packet at hand has been sent, if there is one.
    pub(crate) fn completion(&self) -> Option<Instant> {
        self.sending.as_ref().map(|sending| sending.completion)
    }

    /// Tells if a packet is being sent.
    pub(crate) const fn is_sending(&self) -> bool {
        self.sending.is_some()
    }

    /// Duration of the slots that so many bytes fill, with the part of them that carries no bytes.
    pub(crate) fn time_of(&self, bytes: u64) -> Duration {
        let payload = u64::from(self.config.slot_payload_bytes.max(1));
        Duration::from_nanos(scaled(bytes, self.config.slot_nanos(), payload))
    }

    /// Takes the packet that has been sent, with when that began.
    pub(crate) fn take_sent(&mut self) -> Option<(Parcel, Instant)> {
        let sending = self.sending.take()?;
        let gone = sending.gone.filter(|_| sending.completion < self.first_ends());
        let free = sending.completion;
        match gone {
            // Within a slot the next byte follows at once.
            Some(gone) if gone % u64::from(self.config.slot_payload_bytes.max(1)) != 0 => {
                self.place = Some(Place { free, open: free, gone });
            }
            _ => {
                self.forget_past(free);
                self.note_place(free, gone);
            }
        }
        Some((sending.parcel, sending.start))
    }

    /// Takes the packet that is being sent, which has not been sent whole.
    pub(crate) fn cut_off(&mut self) -> Option<Parcel> {
        self.sending.take().map(|sending| sending.parcel)
    }

    /// Finds out when the transmitter can send next, from `now` on, for those who ask.
    pub(crate) fn seek(&mut self, now: Instant) {
        if self.sending.is_none() && self.place.is_none_or(|place| place.free != now) {
            self.forget_past(now);
            self.note_place(now, None);
        }
    }

    /// Notes when the next byte can go from `free` on, and how many have `gone` by then, if one allocation decides
    /// that.
    fn note_place(&mut self, free: Instant, gone: Option<u64>) {
        self.place = match self.pieces.front() {
            Some((_, bursts)) if slots(bursts) > 0 => {
                let gone = gone.unwrap_or_else(|| self.payload_until(bursts, free).1);
                let open = self.begun(bursts, gone).max(free);
                (open < self.first_ends()).then_some(Place { free, open, gone })
            }
            _ => None,
        };
    }

    /// Instant at which the allocation that holds now ends.
    fn first_ends(&self) -> Instant {
        self.pieces.get(1).map_or(Instant::FAR_FUTURE, |&(next, _)| next)
    }

    /// Number of bytes of the packet at hand that have not been sent.
    pub(crate) fn left_bytes(&self, now: Instant) -> u64 {
        self.sending.as_ref().map_or(0, |sending| sending.left_bytes - self.sent_by(sending, now))
    }

    fn sent_by(&self, sending: &Sending, now: Instant) -> u64 {
        let mut sent = 0;
        for (start, end, bursts) in self.pieces_from(sending.counted) {
            if start < now {
                let (gone, _) = self.payload_until(bursts, end.min(now));
                sent += gone.saturating_sub(self.payload_until(bursts, start).1);
            }
        }
        sent.min(sending.left_bytes)
    }

    /// Instant at which so many bytes have been sent beside those of the packet at hand.
    pub(crate) fn sent_at(&self, now: Instant, bytes: u64) -> Instant {
        self.completion_of(now, self.left_bytes(now) + bytes)
    }

    /// Forgets the allocations that no longer hold at `now`.
    fn forget_past(&mut self, now: Instant) {
        while self.pieces.get(1).is_some_and(|&(next, _)| next <= now) {
            self.pieces.pop_front();
        }
    }

    /// Has the transmitter have these slots from `from` on, a frame's beginning. What was to hold later no longer does.
    pub(crate) fn allocate(&mut self, now: Instant, from: Instant, bursts: SlotRuns) {
        let left_bytes = self.left_bytes(now);
        self.place = None;
        while self.pieces.back().is_some_and(|&(later, _)| later >= from) {
            self.pieces.pop_back();
        }
        self.pieces.push_back((from, bursts));
        self.forget_past(now);
        if let Some(sending) = self.sending {
            let completion = self.completion_of(now, left_bytes);
            self.sending = Some(Sending { left_bytes, counted: now, completion, gone: None, ..sending });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::PacketStore;
    use crate::parcel::DestinationId;
    use proptest::prelude::*;
    use slantpath_wire::Packet;

    /// Frames of 10 ms with ten slots, of which 0.1 ms is guard time; a byte takes 9 µs in the rest.
    const CONFIG: FrameConfig = FrameConfig {
        length: Duration::from_millis(10),
        slots: 10,
        slot_overhead: Duration::from_micros(100),
        slot_payload_bytes: 100,
    };

    const fn run(first: u32, slots: u32) -> SlotRun {
        SlotRun { first, slots }
    }

    fn micros(micros: u64) -> Instant {
        Instant::START + Duration::from_micros(micros)
    }

    impl Frames {
        /// Instants at which byte `number` of those sent from `from` on begins and ends.
        fn byte_from(&self, from: Instant, number: u64) -> (Instant, Instant) {
            let never = (Instant::FAR_FUTURE, Instant::FAR_FUTURE);
            let found = self.find(from, number);
            found
                .map_or(never, |(bursts, number)| (self.begun(bursts, number - 1), self.gone(bursts, number)))
        }
    }

    fn frames(bursts: SlotRuns) -> Frames {
        let mut frames = Frames::new(CONFIG);
        frames.allocate(Instant::START, Instant::START, bursts);
        frames
    }

    #[test]
    fn bytes_go_in_the_slots_that_are_allocated() {
        let frames = frames([run(2, 2), run(7, 1)]);
        // The first byte goes after the guard time of slot 2, and a packet of 250 bytes ends in the middle of slot 7.
        assert_eq!(frames.byte_from(micros(0), 1), (micros(2_100), micros(2_109)));
        assert_eq!(frames.byte_from(micros(0), 100).1, micros(3_000));
        assert_eq!(frames.byte_from(micros(0), 101), (micros(3_100), micros(3_109)));
        assert_eq!(frames.byte_from(micros(0), 250).1, micros(7_550));
        // Three hundred a frame.
        assert_eq!(frames.byte_from(micros(0), 301), (micros(12_100), micros(12_109)));
        assert_eq!(frames.byte_from(micros(2_550), 50).1, micros(3_000));
        let opportunities =
            [0, 2_100, 2_550, 3_000, 4_000, 7_950, 8_000].map(|at| frames.opportunity(micros(at)));
        assert_eq!(opportunities, [2_100, 2_100, 2_550, 3_100, 7_100, 7_955, 12_100].map(micros));
    }

    #[test]
    fn a_packet_goes_on_under_another_allocation_and_waits_for_one() {
        let mut frames = frames([run(0, 1), run(0, 0)]);
        assert_eq!(frames.completion(), None);
        let parcel =
            Parcel::new(PacketStore::default().insert(Packet::default()), DestinationId(0), 250, 64, 0);
        frames.begin(micros(100), parcel, 250);
        assert_eq!(frames.completion(), Some(micros(20_550)));
        // From the second frame on it has none, and from the fourth on two.
        frames.allocate(micros(500), micros(10_000), SlotRuns::default());
        assert_eq!(frames.completion(), Some(Instant::FAR_FUTURE));
        // 44 bytes have gone in 400 µs; the one that is going does so again, and fills the slot with 54 others.
        assert_eq!(frames.left_bytes(micros(500)), 206);
        assert_eq!(frames.left_bytes(micros(9_000)), 151);
        frames.allocate(micros(12_000), micros(30_000), [run(4, 2), run(0, 0)]);
        assert_eq!(frames.completion(), Some(micros(35_559)));
        assert_eq!(frames.opportunity(micros(12_000)), micros(34_100));
        assert_eq!(frames.take_sent(), Some((parcel, micros(100))));
    }

    #[test]
    fn a_share_is_exact_however_wide_the_product() {
        for (value, numerator, denominator, down) in [
            (7, 3, 4, 5),
            (8, 3, 4, 6),
            (u64::MAX, 3, 6, u64::MAX / 2),
            (u64::MAX - 1, 2, 4, u64::MAX / 2),
            (u64::MAX, 2, 1, u64::MAX),
        ] {
            let is_whole = u128::from(value) * u128::from(numerator) % u128::from(denominator) == 0;
            assert_eq!(scaled(value, numerator, denominator), down);
            let up = if is_whole { down } else { down + 1 };
            assert_eq!(scaled_up(value, numerator, denominator), up);
        }
    }

    #[test]
    fn a_packet_is_sent_under_two_allocations_one_after_the_other() {
        let mut frames = frames([run(0, 1), run(0, 0)]);
        frames.allocate(Instant::START, micros(20_000), [run(5, 1), run(0, 0)]);
        // A hundred bytes in each of two frames, and 50 in the third.
        assert_eq!(frames.sent_at(Instant::START, 250), micros(25_550));
        assert_eq!(frames.sent_at(Instant::START, 200), micros(11_000));
        assert_eq!(frames.sent_at(Instant::START, 201), micros(25_109));
        assert_eq!(frames.sent_at(micros(7), 0), micros(7));
    }

    #[test]
    fn what_was_to_hold_later_no_longer_does() {
        let mut frames = frames([run(0, 1), run(0, 0)]);
        frames.allocate(micros(1), micros(50_000), [run(1, 1), run(0, 0)]);
        frames.allocate(micros(2), micros(40_000), [run(2, 1), run(0, 0)]);
        assert_eq!(frames.opportunity(micros(40_000)), micros(42_100));
        assert_eq!(frames.opportunity(micros(52_100)), micros(52_100));
    }

    fn any_bursts() -> impl Strategy<Value = SlotRuns> {
        (0_u32..5, 0_u32..5, 0_u32..5, 0_u32..5).prop_map(|(gap, first, between, second)| {
            let start = gap.min(10 - (first + second).min(10));
            let later = (start + first + between).min(10 - second.min(10 - start - first));
            [run(start, first), run(later, second.min(10 - later))]
        })
    }

    proptest! {
        #[test]
        fn bytes_end_where_as_many_have_gone(
            bursts in any_bursts(),
            from in 0_u64..50_000_000,
            number in 1_u64..5_000,
        ) {
            let frames = frames(bursts);
            let from = Instant::START + Duration::from_nanos(from);
            let (begin, end) = frames.byte_from(from, number);
            if slots(&bursts) == 0 {
                prop_assert_eq!(end, Instant::FAR_FUTURE);
                return Ok(());
            }
            let gone = |at| frames.payload_until(&bursts, at).0.saturating_sub(frames.payload_until(&bursts, from).1);
            prop_assert_eq!(gone(end), number);
            prop_assert_eq!(gone(end - Duration::from_nanos(1)), number - 1);
            prop_assert!(from <= begin && begin < end && gone(begin) == number - 1);
            // Never in a slot that it does not have, nor in guard time.
            let in_frame = begin.saturating_since(CONFIG.frame_at(begin));
            let slot = u32::try_from(in_frame.as_nanos() / 1_000_000).unwrap();
            prop_assert!(bursts.iter().any(|run| (run.first..run.first + run.slots).contains(&slot)));
            prop_assert!(in_frame - Duration::from_millis(slot.into()) >= CONFIG.slot_overhead);
        }

        /// Comparison of the place noted where the last packet ended with a search from there.
        #[test]
        fn a_packet_after_another_goes_when_it_would_by_itself(
            allocations in prop::collection::vec((1_u64..6, 1_u64..4, any_bursts()), 0..12),
            packets in prop::collection::vec((1_u64..700, 0_u64..20_000_000), 1..40),
        ) {
            let mut frames = frames([run(0, 3), run(6, 1)]);
            let mut frame = 0;
            // One that is made in some frame, and holds some frames later.
            let mut allocations = allocations.into_iter().map(|(after, later, bursts)| {
                frame += after;
                let begins = |frame: u64| Instant::from_millis(10 * frame);
                (begins(frame) + Duration::from_micros(300), begins(frame + later), bursts)
            }).peekable();
            let parcel = Parcel::new(PacketStore::default().insert(Packet::default()), DestinationId(0), 9, 64, 0);
            let mut now = Instant::START;
            for (bytes, pause) in packets {
                let came = if pause % 3 == 0 { now + Duration::from_nanos(pause) } else { now };
                while let Some((at, from, bursts)) = allocations.next_if(|(at, ..)| *at <= came) {
                    frames.allocate(at, from, bursts);
                }
                frames.seek(came);
                let mut start = frames.opportunity(came);
                while let Some((at, from, bursts)) = allocations.next_if(|(at, ..)| *at <= start) {
                    frames.allocate(at, from, bursts);
                    start = frames.opportunity(came.max(at));
                }
                prop_assert_eq!(start, Frames { place: None, ..frames.clone() }.opportunity(start));
                if start == Instant::FAR_FUTURE {
                    break;
                }
                frames.begin(start, parcel, bytes);
                prop_assert_eq!(frames.completion().unwrap(), frames.completion_of(start, bytes));
                while let Some((at, from, bursts)) =
                    allocations.next_if(|(at, ..)| *at <= frames.completion().unwrap())
                {
                    frames.allocate(at, from, bursts);
                }
                now = frames.completion().unwrap();
                if now == Instant::FAR_FUTURE {
                    break;
                }
                prop_assert_eq!(frames.take_sent(), Some((parcel, start)));
                prop_assert_eq!(frames.opportunity(now), Frames { place: None, ..frames.clone() }.opportunity(now));
            }
        }

        #[test]
        fn a_frame_carries_what_its_slots_do(bursts in any_bursts(), frame in 0_u64..1_000) {
            let frames = frames(bursts);
            let at = |frame: u64| Instant::from_millis(10 * frame);
            let gone = frames.payload_until(&bursts, at(frame + 1)).0 - frames.payload_until(&bursts, at(frame)).1;
            prop_assert_eq!(gone, 100 * slots(&bursts));
        }
    }
}
