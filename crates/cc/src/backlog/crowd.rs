//! Why a round trip stays long although the window yields: the path itself has become longer, or others keep the queue.

use slantpath_base::Duration;

use super::path::Round;
use crate::windowed::WindowedMax;

/// Rounds, beyond those without, of a queue of half the round trip, until a flow competes.
const CROWDED_ROUNDS: u32 = 16;
/// As many where little is left of the greatest window of late, and of a queue of a third.
const STARVED_ROUNDS: u32 = 8;
/// So many times as many where nothing has been lost of late.
const PATIENCE: u32 = 12;
/// Part of the greatest window of late that counts as little, as a divisor.
const STARVED: u64 = 4;
/// Rounds that the greatest window is remembered for.
const HELD_ROUNDS: u64 = 512;
/// Signs of a longer path that convince: a window of half is two, of seven eighths is one.
const SIGNS: u32 = 2;
/// Up to which spread round trips count as equal, as a divisor of them.
const EQUAL: u64 = 64;
const LEAST_SPREAD: Duration = Duration::from_millis(1);

#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    /// Bytes in flight in the round that the next one is held against, and its least round trip.
    reference: Option<(u64, Duration)>,
    signs: u32,
    crowded: u32,
    starved: u32,
    /// The greatest window of late.
    held: WindowedMax,
    /// The last round with a loss.
    lost_in: Option<u64>,
    rounds: u64,
}

/// Finding of a round about the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing else than the flow's own backlog.
    Alone,
    /// Others keep a queue.
    Crowded,
    /// The round trip without queue has become this.
    LongerPath(Duration),
}

impl Crowd {
    /// The window before the flow yielded.
    pub(super) const fn window_held(&self) -> u64 {
        self.held.get()
    }

    /// Tells if next to no queue is left.
    pub(super) fn is_empty(round: &Round, base: Option<Duration>) -> bool {
        base.zip(round.least()).is_some_and(|(base, (_, round_trip))| round_trip - base < base / 8)
    }

    /// Gives the part of this state that holds however long the path is.
    pub(super) fn renewed(&self) -> Self {
        Self { held: self.held, lost_in: self.lost_in, rounds: self.rounds, ..Self::default() }
    }

    pub(super) fn observe(
        &mut self,
        round: &Round,
        base: Option<Duration>,
        cwnd: u64,
        has_lost: bool,
    ) -> Finding {
        let (Some(base), Some((in_flight, round_trip))) = (base, round.least()) else {
            return Finding::Alone;
        };

        let queue = round_trip - base;
        self.rounds += 1;
        self.held.update(HELD_ROUNDS, self.rounds, cwnd);
        let is_starved = in_flight < self.held.get() / STARVED;
        let count = |rounds: u32, counts: bool| if counts { rounds + 1 } else { rounds.saturating_sub(1) };
        self.crowded = count(self.crowded, queue >= base / 2);
        self.starved = count(self.starved, queue >= base / 3 && is_starved);
        if has_lost {
            self.lost_in = Some(self.rounds);
        }
        // Flows that yield to each other lose nothing, however many they are, and agree in time.
        let has_overflowed = self.lost_in.is_some_and(|round| self.rounds - round <= HELD_ROUNDS);
        let patience = if has_overflowed { 1 } else { PATIENCE };
        if self.crowded >= patience * CROWDED_ROUNDS || self.starved >= patience * STARVED_ROUNDS {
            *self = self.renewed();
            return Finding::Crowded;
        }
        if queue < base / 8 {
            self.reference = None;
            self.signs = 0;
            return Finding::Alone;
        }
        let Some((before, trip_before)) = self.reference else {
            self.reference = Some((in_flight, round_trip));
            return Finding::Alone;
        };
        if in_flight > before - before / 8 {
            return Finding::Alone;
        }
        // With less of it in flight, a flow that waits for itself takes less time.
        let spread = (round_trip / EQUAL).max(LEAST_SPREAD);
        let is_flat = round_trip.abs_diff(trip_before) <= spread && round.greatest() - round_trip <= spread;
        self.reference = Some((in_flight, round_trip));
        if !is_flat {
            self.signs = 0;
            return Finding::Alone;
        }
        self.signs += if in_flight <= before / 2 { 2 } else { 1 };
        if self.signs < SIGNS {
            return Finding::Alone;
        }
        *self = self.renewed();
        Finding::LongerPath(round_trip.min(trip_before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many rounds of a round trip of so many milliseconds, where 100 have no queue, a flow competes whose
    /// window was 100,000 bytes and of which so much is in flight.
    fn crowded_after(millis: u64, in_flight: u64, has_lost: bool) -> Option<u32> {
        let mut crowd = Crowd::default();
        let observe = |crowd: &mut Crowd, millis, in_flight, has_lost| {
            let round = Round::of(in_flight, Duration::from_millis(millis));
            crowd.observe(&round, Some(Duration::from_millis(100)), in_flight, has_lost)
        };
        observe(&mut crowd, 100, 100_000, has_lost);
        (1..1_000).find(|_| observe(&mut crowd, millis, in_flight, false) == Finding::Crowded)
    }

    #[test]
    fn a_queue_of_half_the_round_trip_that_stays_is_that_of_others_and_sooner_where_something_was_lost() {
        assert_eq!([149, 150].map(|millis| crowded_after(millis, 90_000, true)), [None, Some(16)]);
        assert_eq!(crowded_after(150, 90_000, false), Some(192));
    }

    #[test]
    fn a_queue_of_a_third_is_where_less_than_a_quarter_of_the_window_is_left() {
        assert_eq!([133, 134].map(|millis| crowded_after(millis, 24_000, true)), [None, Some(8)]);
        assert_eq!(crowded_after(134, 25_000, true), None);
        assert_eq!(crowded_after(134, 24_000, false), Some(96));
    }

    #[test]
    fn a_loss_makes_impatient_for_512_rounds() {
        let crowded_after = |waited: u32| {
            let mut crowd = Crowd::default();
            let observe = |crowd: &mut Crowd, millis, has_lost| {
                let round = Round::of(90_000, Duration::from_millis(millis));
                crowd.observe(&round, Some(Duration::from_millis(100)), 90_000, has_lost)
            };
            observe(&mut crowd, 100, true);
            for _ in 0..waited {
                observe(&mut crowd, 100, false);
            }
            crowd = crowd.renewed();
            (1..1_000).find(|_| observe(&mut crowd, 150, false) == Finding::Crowded)
        };
        assert_eq!([0, 496, 497].map(crowded_after), [Some(16), Some(16), Some(192)]);
    }

    #[test]
    fn the_greatest_window_is_known_however_long_the_path_is() {
        let mut crowd = Crowd::default();
        let round = Round::of(1_000, Duration::from_millis(100));
        crowd.observe(&round, Some(Duration::from_millis(100)), 70_000, false);
        crowd.observe(&round, Some(Duration::from_millis(100)), 60_000, false);
        assert_eq!((crowd.window_held(), crowd.renewed().window_held()), (70_000, 70_000));
    }

    #[test]
    fn less_than_an_eighth_of_the_round_trip_is_no_queue() {
        let is_empty = |millis| {
            Crowd::is_empty(&Round::of(1, Duration::from_millis(millis)), Some(Duration::from_millis(80)))
        };
        assert_eq!([80, 89, 90, 91].map(is_empty), [true, true, false, false]);
        assert!(!Crowd::is_empty(&Round::of(1, Duration::from_millis(80)), None));
    }

    #[test]
    fn a_path_is_longer_once_a_window_of_half_or_two_of_seven_eighths_have_taken_as_long() {
        let findings = |in_flight: &[u64]| {
            let mut crowd = Crowd::default();
            let observe = |in_flight: &u64| {
                let round = Round::of(*in_flight, Duration::from_millis(90));
                crowd.observe(&round, Some(Duration::from_millis(80)), 0, false)
            };
            in_flight.iter().map(observe).collect::<Vec<_>>()
        };
        let longer = Finding::LongerPath(Duration::from_millis(90));
        assert_eq!(findings(&[100, 50]), [Finding::Alone, longer]);
        assert_eq!(findings(&[80, 70, 62]), [Finding::Alone, Finding::Alone, longer]);
        assert_eq!(findings(&[80, 71, 70, 63]), [Finding::Alone; 4]);
    }
}
