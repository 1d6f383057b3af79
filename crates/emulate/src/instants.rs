//! Times of reception, which a kernel reads from its realtime clock, as instants of the run.
//!
//! The realtime clock may be set while a run goes on, and then jumps by any amount. The run's clock is
//! monotonic. Both are read before and after each turn of reading packets, so that a jump moves no packet out
//! of the turn that it was read in.

use slantpath_base::{Duration, Instant};

/// Both clocks, read one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Nanoseconds since 1970 by the realtime clock, as in the kernel's times of reception.
    pub realtime_nanos: i64,
    /// Instant of the run, by the monotonic clock.
    pub monotonic: Instant,
}

impl ClockReading {
    /// Converts a time of the realtime clock, if that clock has not jumped since: nanoseconds since the start of the
    /// run, which may lie before it.
    fn converted(self, realtime_nanos: i64) -> i128 {
        i128::from(self.monotonic.as_nanos()) + i128::from(realtime_nanos) - i128::from(self.realtime_nanos)
    }
}

/// Turns times of reception into instants.
///
/// A packet that is read in a turn came in after the turn before had ended, and before this one does. A time
/// that lies elsewhere is moved to the nearest end of that range, and counted.
#[derive(Clone, Debug)]
pub struct Stamps {
    /// End of the turn before.
    earliest: Instant,
    before: ClockReading,
    after: ClockReading,
    /// Latest instant that each door has had.
    doors: Vec<Instant>,
    clamped: u64,
}

impl Stamps {
    /// Begins a run with `doors` places at which packets come in, such as devices. `start` is read before the
    /// first turn.
    pub fn new(start: ClockReading, doors: usize) -> Self {
        let doors = vec![Instant::START; doors];
        Self { earliest: start.monotonic, before: start, after: start, doors, clamped: 0 }
    }

    /// Ends a turn of reading, whose packets are converted next. The clocks were read `before` its first packet and
    /// `after` its last.
    pub fn handle_turn(&mut self, before: ClockReading, after: ClockReading) {
        self.earliest = self.after.monotonic;
        self.before = before;
        self.after = after;
    }

    /// The instant at which a packet of the last turn came in at a door, by the kernel's time of reception.
    /// Packets of one door are converted in the order in which they were read, and keep it.
    ///
    /// # Panics
    /// If there is no such door.
    pub fn instant(&mut self, door: usize, realtime_nanos: i64) -> Instant {
        let latest = self.after.monotonic.max(self.earliest);
        let range = i128::from(self.earliest.as_nanos())..=i128::from(latest.as_nanos());
        // A jump during the turn: most of its packets came in before it, the others after.
        let by_either = [self.before, self.after].map(|reading| reading.converted(realtime_nanos));
        let within = by_either.into_iter().find(|nanos| range.contains(nanos));
        let nanos = within.unwrap_or_else(|| {
            self.clamped += 1;
            by_either[1].clamp(*range.start(), *range.end())
        });
        let instant = u64::try_from(nanos).map_or(latest, Instant::from_nanos);
        let door = &mut self.doors[door];
        *door = instant.max(*door);
        *door
    }

    /// Number of packets whose time lay outside of their turn.
    pub const fn clamped(&self) -> u64 {
        self.clamped
    }
}

/// Time for which the machine was suspended, found by two clocks: one counts it, and the other does not.
#[derive(Clone, Copy, Debug)]
pub struct Suspension {
    /// Most by which the clock that counts it was ahead when this was last looked at.
    ahead: Duration,
}

/// Readings of the clock that counts suspension, and of the one that does not before and after.
#[derive(Clone, Copy, Debug)]
pub struct SuspensionReading {
    /// Monotonic clock, before.
    pub before: Duration,
    /// Clock that counts suspension.
    pub counting: Duration,
    /// Monotonic clock, after.
    pub after: Duration,
}

/// Shortest suspension: clocks that are adjusted differ by less.
const SUSPENDED_AT_LEAST: Duration = Duration::from_millis(1);

impl Suspension {
    /// Begins to look.
    pub fn new(start: SuspensionReading) -> Self {
        Self { ahead: start.counting.saturating_sub(start.before) }
    }

    /// Gives the time for which the machine was suspended since the last look, if it was. A thread that is held up
    /// between the readings only makes it seem shorter.
    pub fn look(&mut self, reading: SuspensionReading) -> Option<Duration> {
        let slept = reading.counting.saturating_sub(reading.after).saturating_sub(self.ahead);
        if slept < SUSPENDED_AT_LEAST {
            return None;
        }
        self.ahead += slept;
        Some(slept)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000_000_000;
    /// Some moment of 2026.
    const EPOCH: i64 = 1_790_000_000_000_000_000;

    fn reading(monotonic: u64, step: i64) -> ClockReading {
        let realtime_nanos = EPOCH + i64::try_from(monotonic).unwrap() + step;
        ClockReading { realtime_nanos, monotonic: Instant::from_nanos(monotonic) }
    }

    /// Two turns, of which the second reads from 2,100 to 2,300, with these steps of the clock at its readings.
    fn second_turn(before: i64, after: i64) -> Stamps {
        let mut stamps = Stamps::new(reading(1_000, 0), 2);
        stamps.handle_turn(reading(1_500, 0), reading(2_000, 0));
        stamps.handle_turn(reading(2_100, before), reading(2_300, after));
        stamps
    }

    fn nanos(stamps: &mut Stamps, realtime: i64) -> u64 {
        stamps.instant(0, EPOCH + realtime).as_nanos()
    }

    #[test]
    fn a_time_of_reception_is_kept_to_the_nanosecond() {
        let mut stamps = second_turn(0, 0);
        for time in [2_000, 2_001, 2_100, 2_299, 2_300] {
            assert_eq!(nanos(&mut stamps, time), u64::try_from(time).unwrap());
        }
        assert_eq!(stamps.clamped(), 0);
    }

    #[test]
    fn a_time_outside_of_its_turn_is_moved_to_the_nearest_end_and_counted() {
        assert_eq!(nanos(&mut second_turn(0, 0), 1_999), 2_000);
        let mut stamps = second_turn(0, 0);
        assert_eq!([nanos(&mut stamps, -DAY), nanos(&mut stamps, 2_301)], [2_000, 2_300]);
        assert_eq!(stamps.clamped(), 2);
    }

    #[test]
    fn a_step_before_the_turn_costs_nothing_once_packets_come_in() {
        for step in [DAY, -DAY] {
            let mut stamps = second_turn(step, step);
            assert_eq!(nanos(&mut stamps, 2_050 + step), 2_050);
            assert_eq!(stamps.clamped(), 0);
        }
    }

    #[test]
    fn a_step_during_the_turn_costs_nothing_on_either_side_of_it() {
        for step in [DAY, -DAY] {
            let mut stamps = second_turn(0, step);
            assert_eq!([nanos(&mut stamps, 2_120), nanos(&mut stamps, 2_250 + step)], [2_120, 2_250]);
            assert_eq!(stamps.clamped(), 0);
        }
        // Too late by the one reading and too early by the other: the later one decides.
        assert_eq!(nanos(&mut second_turn(0, DAY), 2_400), 2_000);
    }

    #[test]
    fn a_step_between_reception_and_the_turn_keeps_the_packet_in_its_range() {
        let mut stamps = second_turn(DAY, DAY);
        assert_eq!(nanos(&mut stamps, 2_050), 2_000);
        let mut stamps = second_turn(-DAY, -DAY);
        assert_eq!(nanos(&mut stamps, 2_050), 2_300);
        assert_eq!(stamps.clamped(), 1);
    }

    #[test]
    fn doors_keep_their_own_order() {
        let mut stamps = second_turn(0, 0);
        let mut at = |door, time| stamps.instant(door, EPOCH + time).as_nanos();
        assert_eq!([at(0, 2_200), at(0, 2_150), at(1, 2_150), at(0, 2_210)], [2_200, 2_200, 2_150, 2_210]);
        assert_eq!(stamps.clamped(), 0);
    }

    #[test]
    fn the_first_turn_begins_with_the_run() {
        let mut stamps = Stamps::new(reading(1_000, 0), 1);
        stamps.handle_turn(reading(1_500, 0), reading(2_000, 0));
        assert_eq!([nanos(&mut stamps, 900), nanos(&mut stamps, 1_100)], [1_000, 1_100]);
        assert_eq!(stamps.clamped(), 1);
    }

    /// Clocks of a machine that has been up for so long, and was suspended for so long.
    fn clocks(up: Duration, suspended: Duration, held_up: Duration) -> SuspensionReading {
        SuspensionReading { before: up, counting: up + suspended, after: up + held_up }
    }

    #[test]
    fn a_suspension_is_told_once_and_with_its_length() {
        let [up, slept] = [100, 7].map(Duration::from_secs);
        let none = Duration::ZERO;
        let mut suspension = Suspension::new(clocks(up, slept, none));
        let later = up + Duration::from_secs(1);
        assert_eq!(suspension.look(clocks(later, slept, none)), None);
        let more = Duration::from_millis(1_500);
        assert_eq!(suspension.look(clocks(later, slept + more, none)), Some(more));
        assert_eq!(suspension.look(clocks(later + more, slept + more, none)), None);
        let again = more + Duration::from_millis(1);
        assert_eq!(suspension.look(clocks(later, slept + again, none)), Some(Duration::from_millis(1)));
    }

    #[test]
    fn a_thread_that_is_held_up_is_no_suspension() {
        let [up, held_up] = [100, 3].map(Duration::from_secs);
        let none = Duration::ZERO;
        // Before and after the clock is read that counts.
        let late = SuspensionReading { before: up, counting: up + held_up, after: up + held_up };
        let mut suspension = Suspension::new(clocks(up, none, none));
        assert_eq!([suspension.look(clocks(up, none, held_up)), suspension.look(late)], [None; 2]);
        // A start that was held up hides a shorter suspension, and no longer one.
        let mut suspension = Suspension::new(late);
        assert_eq!(suspension.look(clocks(up, Duration::from_secs(2), none)), None);
        assert_eq!(suspension.look(clocks(up, Duration::from_secs(4), none)), Some(Duration::from_secs(1)));
    }

    proptest! {
        #[test]
        fn no_step_moves_a_packet_by_more_than_its_turn(
            // Lengths: the wait before a turn, and the turn itself.
            turns in prop::collection::vec((0_u64..2_000_000, 1_u64..1_000_000), 1..20),
            steps in prop::collection::vec((0_u64..40_000_000, prop::sample::select(vec![-DAY, DAY])), 0..4),
            packets in prop::collection::vec((0_usize..20, 0_usize..3, 0_u64..3_000_000), 0..60),
        ) {
            let step_at = |now: u64| steps.iter().filter(|(at, _)| *at <= now).map(|(_, step)| step).sum::<i64>();
            let mut stamps = Stamps::new(reading(0, 0), 3);
            let mut latest = [Instant::START; 3];
            let mut earliest = 0;
            for (number, (wait, len)) in turns.iter().enumerate() {
                let (before, after) = (earliest + wait, earliest + wait + len);
                stamps.handle_turn(reading(before, step_at(before)), reading(after, step_at(after)));
                let mut own: Vec<(u64, usize)> = packets
                    .iter()
                    .filter(|(turn, ..)| *turn % turns.len() == number)
                    .map(|(_, door, at)| (earliest + at % (after - earliest), *door))
                    .collect();
                own.sort_unstable();
                let clamped = stamps.clamped();
                let is_steady = !steps.iter().any(|(at, _)| (earliest + 1..=after).contains(at));
                for (at, door) in own {
                    let instant = stamps.instant(door, reading(at, step_at(at)).realtime_nanos);
                    prop_assert!((earliest..=after).contains(&instant.as_nanos()), "{} of {}", instant, at);
                    prop_assert!(instant >= latest[door]);
                    if is_steady {
                        prop_assert_eq!(instant.as_nanos(), at);
                    }
                    latest[door] = instant;
                }
                prop_assert!(!is_steady || stamps.clamped() == clamped);
                earliest = after;
            }
        }

        #[test]
        fn any_numbers_give_an_instant_of_the_turn(
            readings in prop::collection::vec((any::<i64>(), any::<u64>()), 3),
            stamp: i64,
        ) {
            let at = |number: usize| {
                let (realtime_nanos, monotonic) = readings[number];
                ClockReading { realtime_nanos, monotonic: Instant::from_nanos(monotonic) }
            };
            let mut stamps = Stamps::new(at(0), 1);
            stamps.handle_turn(at(1), at(2));
            let instant = stamps.instant(0, stamp);
            prop_assert!(instant >= at(0).monotonic && instant <= at(0).monotonic.max(at(2).monotonic));
        }
    }
}
