//! Slots for requests that terminals choose at random: slotted ALOHA.
//!
//! A frame has room for so many requests. Of two in one room none is heard; their terminals find that out when an
//! answer could have been there, and choose again among the rooms of the next frames. Each has one request under way at
//! a time.

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_net::FrameConfig;

/// Room for requests in each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentionConfig {
    /// For how many requests a frame has room; not none.
    pub per_frame: u32,
    /// Slots of the first carrier that they take, in front.
    pub slots: u32,
    /// Over how many frames a terminal spreads the repetition of a request that was not heard; not none.
    pub backoff_frames: u32,
}

/// The rooms for requests in a run, which are numbered through from the beginning.
#[derive(Clone, Debug)]
pub(super) struct RequestSlots {
    config: ContentionConfig,
    frame: FrameConfig,
    /// After which time who asked knows whether it was heard.
    answer_time: Duration,
    chance: Vec<Stream>,
    /// Terminals that send a request, by the room that they chose.
    chosen: BTreeMap<u64, Vec<usize>>,
    /// Until when each terminal's request is under way; it sends no other before.
    busy_until: Vec<Instant>,
}

impl RequestSlots {
    pub(super) fn new(
        config: ContentionConfig,
        frame: FrameConfig,
        answer_time: Duration,
        chance: Vec<Stream>,
    ) -> Self {
        assert!(config.per_frame > 0 && config.backoff_frames > 0, "there is room for requests");
        let busy_until = vec![Instant::START; chance.len()];
        Self { config, frame, answer_time, chance, chosen: BTreeMap::new(), busy_until }
    }

    /// Gives the instant at which a request is sent next.
    pub(super) fn next(&self) -> Instant {
        self.chosen.first_key_value().map_or(Instant::FAR_FUTURE, |(&room, _)| self.begins(room))
    }

    /// Gives the instant at which a room for a request begins.
    fn begins(&self, room: u64) -> Instant {
        let per_frame = u64::from(self.config.per_frame);
        let frame = self.frame.length.as_nanos().saturating_mul(room / per_frame);
        let slot = self.frame.length.as_nanos() / u64::from(self.frame.slots.max(1));
        let all = slot.saturating_mul(u64::from(self.config.slots));
        let within = u128::from(all) * u128::from(room % per_frame) / u128::from(per_frame);
        let within = u64::try_from(within).unwrap_or(u64::MAX);
        Instant::START.saturating_add(Duration::from_nanos(frame.saturating_add(within)))
    }

    /// Has a terminal send its request in the next frame, unless one of its own is under way.
    pub(super) fn choose(&mut self, now: Instant, place: usize) {
        if self.busy_until[place] <= now {
            self.choose_among(now, place, 1);
        }
    }

    /// Has a terminal whose request of `at` was not heard send it again, when it has found that out.
    pub(super) fn repeat(&mut self, at: Instant, place: usize) {
        let known = at.saturating_add(self.answer_time);
        self.choose_among(known, place, self.config.backoff_frames);
    }

    /// Chooses among the rooms of so many frames that begin after `from`: those of that very moment are over.
    fn choose_among(&mut self, from: Instant, place: usize, frames: u32) {
        let after = from.saturating_add(Duration::from_nanos(1));
        let frame =
            self.frame.next_frame(after).since_start().as_nanos() / self.frame.length.as_nanos().max(1);
        let per_frame = u64::from(self.config.per_frame);
        let chosen = self.chance[place].below(u64::from(frames) * per_frame);
        let room = frame.saturating_mul(per_frame).saturating_add(chosen);
        self.chosen.entry(room).or_default().push(place);
        self.busy_until[place] = self.begins(room).saturating_add(self.answer_time);
    }

    /// The first room that begins by `now`, and who chose it.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Instant, Vec<usize>)> {
        if self.next() > now {
            return None;
        }
        let (room, contending) = self.chosen.pop_first()?;
        Some((self.begins(room), contending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    /// Frames of 10 ms with ten slots, of which two have room for four requests; an answer takes 200 ms.
    fn rooms(terminals: usize) -> RequestSlots {
        let config = ContentionConfig { per_frame: 4, slots: 2, backoff_frames: 3 };
        let frame = FrameConfig {
            length: Duration::from_millis(10),
            slots: 10,
            slot_overhead: Duration::ZERO,
            slot_payload_bytes: 100,
        };
        let chance =
            (0..terminals).map(|place| Seed::new(1, 0).stream(&format!("terminal {place}"))).collect();
        RequestSlots::new(config, frame, Duration::from_millis(200), chance)
    }

    /// Counts the choices that fall into each room, in half milliseconds of the frames that begin at `begin_ms`, one
    /// choice after another.
    fn fallen(begin_ms: u64, frames: u64, mut choose: impl FnMut(&mut RequestSlots, usize)) -> Vec<u64> {
        let terminals = 600;
        let mut rooms = rooms(terminals);
        (0..terminals).for_each(|place| choose(&mut rooms, place));
        let mut count = vec![0; usize::try_from(frames * 4).unwrap()];
        while let Some((at, contending)) = rooms.take_due(Instant::from_millis(begin_ms + frames * 10)) {
            let since = at.saturating_since(Instant::from_millis(begin_ms)).as_nanos();
            let (frame, within) = (since / 10_000_000, since % 10_000_000);
            assert_eq!(within % 500_000, 0, "rooms begin every half millisecond");
            count[usize::try_from(frame * 4 + within / 500_000).unwrap()] += contending.len() as u64;
        }
        assert_eq!(count.iter().sum::<u64>(), terminals as u64);
        count
    }

    #[test]
    fn the_first_attempt_is_in_the_next_frame_and_a_repetition_in_those_after_the_answer() {
        // Of 600 each room has 150, give or take four standard deviations of 10.6.
        let first = fallen(20, 1, |rooms, place| rooms.choose(Instant::from_millis(13), place));
        assert!(first.iter().all(|&count| count.abs_diff(150) < 43), "{first:?}");
        // What is sent as a frame begins was chosen before.
        fallen(30, 1, |rooms, place| rooms.choose(Instant::from_millis(20), place));
        // Sent at 1 ms, it could have been answered at 201: 50 in each of twelve, of which the deviation is 6.8.
        let again = fallen(210, 3, |rooms, place| rooms.repeat(Instant::from_millis(1), place));
        assert!(again.iter().all(|&count| count.abs_diff(50) < 28), "{again:?}");
    }

    #[test]
    fn a_terminal_has_one_request_under_way() {
        let mut rooms = rooms(2);
        rooms.choose(Instant::from_millis(5), 0);
        rooms.choose(Instant::from_millis(6), 0);
        let (at, contending) = rooms.take_due(Instant::from_millis(20)).unwrap();
        assert_eq!(contending, [0]);
        assert_eq!(rooms.next(), Instant::FAR_FUTURE);
        // Until it could have been answered.
        let answered = at.saturating_add(Duration::from_millis(200));
        rooms.choose(Instant::from_nanos(answered.since_start().as_nanos() - 1), 0);
        assert_eq!(rooms.next(), Instant::FAR_FUTURE);
        rooms.choose(answered, 0);
        assert!(rooms.next() > answered && rooms.next() < answered.saturating_add(Duration::from_millis(12)));
    }

    /// Abramson, The ALOHA System, 1970; Roberts, ALOHA Packet System With and Without Slots and Capture, 1975: with as
    /// many requests as rooms, a share of 1/e is heard.
    #[test]
    fn with_as_many_requests_as_rooms_a_share_of_one_in_e_is_alone() {
        let mut rooms = rooms(2_000);
        rooms.config.per_frame = 2_000;
        (0..2_000).for_each(|place| rooms.choose(Instant::from_millis(5), place));
        let mut alone = 0;
        while let Some((_, contending)) = rooms.take_due(Instant::from_millis(20)) {
            alone += u32::from(contending.len() == 1);
        }
        // Four standard deviations are 43.
        assert!((693..779).contains(&alone), "{alone} of 2,000");
    }

    #[test]
    fn who_chooses_one_room_is_told_together() {
        let mut rooms = rooms(40);
        (0..40).for_each(|place| rooms.choose(Instant::from_millis(5), place));
        let together: Vec<usize> =
            std::iter::from_fn(|| rooms.take_due(Instant::from_millis(20)).map(|(_, all)| all.len()))
                .collect();
        assert_eq!((together.len(), together.iter().sum::<usize>()), (4, 40));
    }
}
