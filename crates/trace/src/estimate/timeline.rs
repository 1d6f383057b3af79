//! Timeline of a path: what became of its packets, by the instant at which they were sent.

use slantpath_base::{Duration, Instant};

/// Number of spans of time that are told apart. If a trace lasts longer, each becomes twice as long.
const SLOTS_MAX: usize = 65_536;
/// Duration of a span at first.
const FIRST_STEP: Duration = Duration::from_millis(1);
/// The least time from the first to the last of packets in a row that were lost for which the path counts as down: a
/// full queue drops many in a shorter one.
const OUTAGE_LEAST: Duration = Duration::from_millis(500);
/// Number of outages by chance alone that are accepted in a trace.
const FALSE_OUTAGES: f64 = 0.01;
/// Distance in time between values of the round trip.
const ROUND_TRIP_STEP: Duration = Duration::from_secs(1);
/// Greatest number of values of the round trip.
const ROUND_TRIPS_MAX: u64 = 1_000;
/// The share of the longest queue from which on it may have been full.
const NEARLY_FULL: f64 = 0.8;
/// The least time over which acknowledged chunks are counted: behind a loss many are acknowledged at once.
const COUNTED_OVER: Duration = Duration::from_secs(1);

/// A row of spans of equal length, from the start of the trace on.
#[derive(Debug)]
pub(super) struct Timeline {
    step: Duration,
    slots: Vec<Slot>,
}

/// Counts and least round trips of one span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Packets that were answered.
    pub(super) arrived: u32,
    /// Packets that were not.
    pub(super) lost: u32,
    /// Chunks that were acknowledged in it, whenever they had been sent.
    pub(super) acknowledged: u32,
    least: Duration,
    least_held_back: Duration,
}

impl Default for Slot {
    fn default() -> Self {
        Self { arrived: 0, lost: 0, acknowledged: 0, least: Duration::MAX, least_held_back: Duration::MAX }
    }
}

impl Slot {
    /// A round trip was measured.
    pub(super) fn measure(&mut self, round_trip: Duration) {
        self.least = self.least.min(round_trip);
    }

    /// Variant of `measure` for a round trip that may include a time for which the peer held its answer back.
    pub(super) fn measure_held_back(&mut self, round_trip: Duration) {
        self.least_held_back = self.least_held_back.min(round_trip);
    }

    fn merged(one: Self, other: Self) -> Self {
        Self {
            arrived: one.arrived.saturating_add(other.arrived),
            lost: one.lost.saturating_add(other.lost),
            acknowledged: one.acknowledged.saturating_add(other.acknowledged),
            least: one.least.min(other.least),
            least_held_back: one.least_held_back.min(other.least_held_back),
        }
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self { step: FIRST_STEP, slots: Vec::new() }
    }
}

/// Spans in a row in which packets were lost and none arrived.
#[derive(Clone, Copy, Debug)]
struct Silence {
    /// The last span before them in which one arrived.
    before: Option<usize>,
    first: usize,
    last: usize,
    /// The first behind them.
    behind: Option<usize>,
    packets: u64,
}

impl Timeline {
    /// The span of an instant.
    pub(super) fn at(&mut self, at: Instant) -> &mut Slot {
        while self.place(at) >= SLOTS_MAX {
            let pairs = self.slots.chunks(2);
            self.slots =
                pairs.map(|pair| pair.iter().copied().reduce(Slot::merged).unwrap_or_default()).collect();
            self.step = self.step.saturating_add(self.step);
        }
        let place = self.place(at);
        if self.slots.len() <= place {
            self.slots.resize(place + 1, Slot::default());
        }
        &mut self.slots[place]
    }

    fn place(&self, at: Instant) -> usize {
        usize::try_from(at.as_nanos() / self.step.as_nanos()).unwrap_or(usize::MAX)
    }

    fn begin_of(&self, place: usize) -> Instant {
        Instant::from_nanos(self.step.as_nanos().saturating_mul(place as u64))
    }

    /// Gives the number of spans that a time has, at least one.
    fn spans(&self, time: Duration) -> usize {
        usize::try_from(time.as_nanos().div_ceil(self.step.as_nanos())).unwrap_or(usize::MAX).max(1)
    }

    fn silences(&self) -> Vec<Silence> {
        let mut all = Vec::new();
        let mut before = None;
        let mut current: Option<Silence> = None;
        for (place, slot) in self.slots.iter().enumerate() {
            if slot.arrived > 0 {
                if let Some(silence) = current.take() {
                    all.push(Silence { behind: Some(place), ..silence });
                }
                before = Some(place);
            } else if slot.lost > 0 {
                let silence = current.get_or_insert(Silence {
                    before,
                    first: place,
                    last: place,
                    behind: None,
                    packets: 0,
                });
                silence.last = place;
                silence.packets += u64::from(slot.lost);
            }
        }
        all.extend(current);
        all
    }

    /// Times in which so many packets in a row were lost that chance does not explain it.
    pub(super) fn outages(&self) -> Vec<(Instant, Option<Instant>)> {
        let silences = self.silences();
        let sum = |count: fn(&Slot) -> u32| self.slots.iter().map(|slot| u64::from(count(slot))).sum::<u64>();
        let all = (sum(|slot| slot.arrived) + sum(|slot| slot.lost)) as f64;
        // The share of losses is taken from those that stand alone, with one more, since there may just have been none.
        let single = silences.iter().filter(|silence| silence.packets == 1).count() as f64;
        let share = (single + 1.0) / (all + 2.0);
        let is_outage = |silence: &&Silence| {
            let lasts = self.begin_of(silence.last).saturating_since(self.begin_of(silence.first));
            let chance = (0..silence.packets.min(1_000)).fold(all, |chance, _| chance * share);
            lasts >= OUTAGE_LEAST && chance <= FALSE_OUTAGES
        };
        let middle = |one: usize, other: usize| {
            let [one, other] = [one, other].map(|place| self.begin_of(place).as_nanos());
            Instant::from_nanos(u64::midpoint(one, other))
        };
        let between = |silence: &Silence| {
            let from = middle(silence.before.unwrap_or(silence.first), silence.first);
            (from, silence.behind.map(|behind| middle(silence.last, behind)))
        };
        silences.iter().filter(is_outage).map(between).collect()
    }

    /// Packets outside of outages whose fate is known, those that were lost, and those of them that were sent while the
    /// round trip was nearly the longest.
    pub(super) fn counts(
        &self,
        outages: &[(Instant, Option<Instant>)],
        least: Duration,
        longest: Duration,
    ) -> [u64; 3] {
        let queue = longest.saturating_sub(least).as_nanos() as f64 * NEARLY_FULL;
        let mut outages = outages.iter().peekable();
        let mut round_trip = Duration::ZERO;
        let mut counts = [0; 3];
        for (place, slot) in self.slots.iter().enumerate() {
            let at = self.begin_of(place);
            if let Some(measured) = slot.round_trip() {
                round_trip = measured;
            }
            while outages.next_if(|(_, to)| to.is_some_and(|to| to <= at)).is_some() {}
            if outages.peek().is_some_and(|(from, _)| *from <= at) {
                continue;
            }
            let lost = u64::from(slot.lost);
            counts[0] += u64::from(slot.arrived) + lost;
            counts[1] += lost;
            if queue > 0.0 && round_trip.saturating_sub(least).as_nanos() as f64 >= queue {
                counts[2] += lost;
            }
        }
        counts
    }

    /// The least round trip from an instant on. A value stands where it differs from the one before it.
    pub(super) fn round_trips(&self, until: Instant) -> Vec<(Instant, Duration)> {
        let coarse = Duration::from_nanos(until.as_nanos() / ROUND_TRIPS_MAX);
        let spans = self.spans(ROUND_TRIP_STEP.max(coarse));
        let measured: Vec<(usize, Duration)> =
            self.windows(spans).filter_map(|(place, least)| Some((place, least?))).collect();
        let mut values: Vec<(Instant, Duration)> = Vec::new();
        for (number, (place, own)) in measured.iter().copied().enumerate() {
            // One that stands alone is no property of the path, but DATA that was answered over another one.
            let [before, behind] = [number.saturating_sub(1), (number + 1).min(measured.len() - 1)];
            let least = median(measured[before].1, own, measured[behind].1);
            let at = if values.is_empty() { Instant::START } else { self.begin_of(place) };
            if values.last().is_none_or(|(_, before)| differ(*before, least)) {
                values.push((at, least));
            }
        }
        values
    }

    /// The longest of the least round trips of each second.
    pub(super) fn longest_round_trip(&self) -> Option<Duration> {
        let spans = self.spans(ROUND_TRIP_STEP);
        self.windows(spans).filter_map(|(_, least)| least).max()
    }

    /// Of so many spans in turn the least round trip. If any was measured that nothing was held back for, only such.
    fn windows(&self, spans: usize) -> impl Iterator<Item = (usize, Option<Duration>)> {
        let is_prompt = self.slots.iter().any(|slot| slot.least < Duration::MAX);
        let of = move |slot: &Slot| if is_prompt { slot.least } else { slot.least_held_back };
        let least = move |slots: &[Slot]| slots.iter().map(of).min().filter(|least| *least < Duration::MAX);
        self.slots.chunks(spans).enumerate().map(move |(number, slots)| (number * spans, least(slots)))
    }

    /// Chunks a second that were acknowledged, over some round trips each, in the span of which a quarter had more.
    pub(super) fn acknowledged_per_s(&self, round_trip: Duration) -> Option<f64> {
        let spans = self.spans(round_trip.saturating_mul(4).max(COUNTED_OVER));
        let rate = |slots: &[Slot]| {
            let count = slots.iter().map(|slot| u64::from(slot.acknowledged)).sum::<u64>();
            count as f64 / (self.step.as_secs_f64() * slots.len() as f64)
        };
        let mut rates: Vec<f64> = self.slots.chunks(spans).map(rate).filter(|rate| *rate > 0.0).collect();
        rates.sort_unstable_by(f64::total_cmp);
        rates.get(rates.len().checked_sub(1)? * 3 / 4).copied()
    }
}

impl Slot {
    fn round_trip(&self) -> Option<Duration> {
        Some(self.least.min(self.least_held_back)).filter(|least| *least < Duration::MAX)
    }
}

/// The middle one of three.
fn median(one: Duration, two: Duration, three: Duration) -> Duration {
    one.max(two).min(one.min(two).max(three))
}

/// Tells whether two round trips are more than a hundredth and 0.1 ms apart.
fn differ(one: Duration, other: Duration) -> bool {
    let apart = one.max(other).saturating_sub(one.min(other));
    apart > Duration::from_micros(100) && apart.as_nanos() > one.as_nanos() / 100
}
