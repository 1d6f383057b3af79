//! Rate at which data arrives at the peer, and round trips: the delivery rate of
//! draft-cheng-iccrg-delivery-rate-estimation-02, whose names are in brackets.
//!
//! Whatever is outstanding keeps the [`Departure`] of its last transmission; the [`DeliveryMeter`] of the path turns
//! those that an acknowledgement delivers into one sample.

use slantpath_base::{DataRate, Duration, Instant};

/// Time of a transmission, and what had been delivered by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Instant at which it was sent last (P.sent_time).
    pub sent_at: Instant,
    /// Bytes delivered by then (P.delivered).
    delivered: u64,
    /// Instant at which the last of them were delivered (P.delivered_time).
    delivered_at: Instant,
    /// Instant at which the beginning of the sample was sent (P.first_sent_time).
    first_sent_at: Instant,
    /// Bytes in flight with it (P.tx_in_flight); what a record of each segment keeps is to be short.
    in_flight: u32,
    /// The low half of the bytes lost by then (P.lost).
    lost: u32,
    is_application_limited: bool,
}

impl Departure {
    /// Bytes that had been delivered when it was sent.
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes in flight once it was sent, itself included.
    pub const fn in_flight(&self) -> u64 {
        self.in_flight as u64
    }

    /// Of so many bytes lost on the path by now, those that were found lost after it was sent.
    #[expect(clippy::cast_possible_truncation, reason = "the low halves differ by what is in flight at most")]
    pub const fn lost_since(&self, lost: u64) -> u64 {
        (lost as u32).wrapping_sub(self.lost) as u64
    }

    /// Tells if the application had nothing more to send at the time.
    pub const fn is_application_limited(&self) -> bool {
        self.is_application_limited
    }
}

/// Sample of the delivery rate, from one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySample {
    /// Bytes delivered while the interval lasted.
    pub delivered: u64,
    /// The longer of the time that they took to be sent and the time that they took to be acknowledged. Not zero.
    pub interval: Duration,
    /// True if the application had nothing to send at times, so that the path may be faster.
    pub is_application_limited: bool,
}

impl DeliverySample {
    /// The rate at which the bytes were delivered.
    pub fn rate(&self) -> DataRate {
        rate_of(self.delivered, self.interval)
    }
}

/// The rate of so many bytes in a time, of a nanosecond at least.
pub(crate) fn rate_of(bytes: u64, interval: Duration) -> DataRate {
    const BITS_NANOS: u64 = 8 * 1_000_000_000;
    let nanos = interval.as_nanos().max(1);
    // Up to two gigabytes.
    if let Some(scaled) = bytes.checked_mul(BITS_NANOS) {
        return DataRate::from_bits_per_sec(scaled / nanos);
    }
    let bits = u128::from(bytes) * u128::from(BITS_NANOS) / u128::from(nanos);
    DataRate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
}

/// Reading of rate and round from one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The rate, unless the acknowledgement came too early to tell.
    pub sample: Option<DeliverySample>,
    /// True if something has arrived that was sent after the last round began: a new one begins.
    pub starts_round: bool,
    /// Counts of the bytes that have been delivered and lost by it.
    pub counts: Counts,
}

/// Counts of the bytes that a path has delivered and lost by an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes that the acknowledgement told of for the first time, cumulatively or selectively (RS.newly_acked).
    pub newly_delivered: u64,
    /// Bytes found lost since the acknowledgement before it, which told of them after it was told of itself.
    pub newly_lost: u64,
    /// All bytes delivered (C.delivered).
    pub delivered: u64,
    /// All bytes found lost, those that arrived after all among them (C.lost).
    pub lost: u64,
    /// The newest of what it delivers, if anything.
    pub newest: Option<Departure>,
}

/// A segment that is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSegment {
    /// Length of the segment in bytes.
    pub bytes: u64,
    /// Record of its last transmission: the time, and what was in flight then.
    pub departure: Departure,
    /// All bytes delivered by now.
    pub delivered: u64,
    /// All bytes lost by now, with it.
    pub lost: u64,
}

/// Counts what is delivered over one path (C in the draft).
#[derive(Clone, Debug)]
// In this order in memory: what a departure reads, then what an acknowledgement does.
#[repr(C)]
pub struct DeliveryMeter {
    /// Bytes delivered (C.delivered).
    delivered: u64,
    /// Once so much is delivered, nothing is in flight that was sent while the application was the limit
    /// (C.app_limited); zero is never.
    limited_until: u64,
    /// Instant at which the last of the delivered data was delivered (C.delivered_time).
    delivered_at: Instant,
    /// Instant at which the newest of the delivered data was sent (C.first_sent_time).
    first_sent_at: Instant,
    /// Bytes lost (C.lost).
    lost: u64,
    /// Count of delivered bytes from which on whatever is sent belongs to the round after the current one.
    round_ends_at: u64,
    least_round_trip: Duration,
    /// Of what was sent before so much was delivered no sample is taken.
    trusted_from: u64,
    /// Bytes delivered at the last reading.
    delivered_before: u64,
    /// Bytes lost at the last reading.
    lost_before: u64,
    /// The newest of what has been delivered since the last reading.
    newest: Option<Departure>,
    latest: Option<DeliverySample>,
}

impl Default for DeliveryMeter {
    fn default() -> Self {
        Self {
            delivered: 0,
            delivered_at: Instant::START,
            first_sent_at: Instant::START,
            limited_until: 0,
            round_ends_at: 0,
            least_round_trip: Duration::MAX,
            trusted_from: 0,
            delivered_before: 0,
            lost: 0,
            lost_before: 0,
            newest: None,
            latest: None,
        }
    }
}

impl DeliveryMeter {
    /// Something is sent, for the first time or again. `is_alone`: nothing else is in flight. `in_flight`: what is with
    /// it.
    #[expect(clippy::cast_possible_truncation, reason = "the low half is what a departure keeps")]
    pub fn depart(&mut self, now: Instant, is_alone: bool, in_flight: u64) -> Departure {
        if is_alone {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Departure {
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: u32::try_from(in_flight).unwrap_or(u32::MAX),
            lost: self.lost as u32,
            is_application_limited: self.limited_until != 0,
        }
    }

    /// So many bytes, sent last with `departure`, have arrived. To be followed by [`read`](Self::read).
    pub fn deliver(&mut self, bytes: u64, departure: &Departure) {
        self.delivered += bytes;
        if self.newest.is_none_or(|newest| newest.sent_at <= departure.sent_at) {
            self.newest = Some(*departure);
        }
    }

    /// So many bytes, sent last with `departure`, are taken for lost. To be told to the controller.
    pub const fn lose(&mut self, bytes: u64, departure: &Departure) -> LostSegment {
        self.lost += bytes;
        LostSegment { bytes, departure: *departure, delivered: self.delivered, lost: self.lost }
    }

    /// Some of what has been told to be delivered arrived before, unseen: what is in flight tells no rate.
    pub const fn distrust(&mut self) {
        self.trusted_from = self.delivered;
    }

    /// The application has nothing more to send although the window would let it out; so much is in flight.
    pub fn limit_by_application(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// Reads rate and round from the acknowledgement at hand, of which everything delivered has been told.
    /// `round_trip`: the time that the newest segment that was sent only once took.
    #[inline]
    pub fn read(&mut self, now: Instant, round_trip: Option<Duration>) -> Reading {
        if let Some(round_trip) = round_trip {
            self.least_round_trip = self.least_round_trip.min(round_trip);
        }
        let newest = self.newest.take();
        let counts = Counts {
            newly_delivered: self.delivered - self.delivered_before,
            newly_lost: self.lost - self.lost_before,
            delivered: self.delivered,
            lost: self.lost,
            newest,
        };
        self.delivered_before = self.delivered;
        self.lost_before = self.lost;
        let Some(newest) = newest else {
            return Reading { sample: None, starts_round: false, counts };
        };
        self.delivered_at = now;
        self.first_sent_at = newest.sent_at;
        if self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        let starts_round = newest.delivered >= self.round_ends_at;
        if starts_round {
            self.round_ends_at = self.delivered;
        }
        let to_send = newest.sent_at.saturating_since(newest.first_sent_at);
        let to_acknowledge = now.saturating_since(newest.delivered_at);
        let interval = to_send.max(to_acknowledge);
        // What is acknowledged in less than a round trip was sent twice, and the first copy has arrived after all.
        let is_credible = newest.delivered >= self.trusted_from
            && !interval.is_zero()
            && (interval >= self.least_round_trip || self.least_round_trip == Duration::MAX);
        let sample = is_credible.then(|| DeliverySample {
            delivered: self.delivered - newest.delivered,
            interval,
            is_application_limited: newest.is_application_limited,
        });
        self.latest = sample.or(self.latest);
        Reading { sample, starts_round, counts }
    }

    /// The last sample, once there is one.
    pub const fn latest(&self) -> Option<DeliverySample> {
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn what_was_sent_last_tells_the_rate_in_whatever_order_it_is_told_of() {
        let sample = |is_newest_first: bool| {
            let mut meter = DeliveryMeter::default();
            let first = meter.depart(at(0), true, 1_000);
            let second = meter.depart(at(10), false, 1_000);
            meter.deliver(1_000, &first);
            meter.read(at(100), None);
            let third = meter.depart(at(100), false, 1_000);
            let told = if is_newest_first { [third, second] } else { [second, third] };
            for departure in &told {
                meter.deliver(1_000, departure);
            }
            meter.read(at(210), None).sample
        };
        // The second chunk alone would tell of three in 210 ms.
        let expected = DeliverySample { delivered: 2_000, interval: ms(110), is_application_limited: false };
        assert_eq!([sample(true), sample(false)], [Some(expected); 2]);
    }

    #[test]
    fn of_what_was_in_flight_when_late_news_came_no_sample_is_taken() {
        let mut meter = DeliveryMeter::default();
        let [first, hidden, last] = [true, false, false].map(|is_alone| meter.depart(at(0), is_alone, 1_000));
        meter.deliver(1_000, &first);
        meter.read(at(100), None);
        let next = meter.depart(at(100), false, 1_000);
        meter.deliver(1_000, &hidden);
        meter.distrust();
        assert_eq!(meter.read(at(150), None).sample, None);
        let after = meter.depart(at(150), false, 1_000);
        for departure in [last, next] {
            meter.deliver(1_000, &departure);
            let reading = meter.read(at(200), None);
            assert_eq!((reading.sample, reading.counts.newly_delivered), (None, 1_000));
        }
        meter.deliver(1_000, &after);
        let expected = DeliverySample { delivered: 3_000, interval: ms(150), is_application_limited: false };
        assert_eq!(meter.read(at(250), None).sample, Some(expected));
    }

    #[test]
    fn a_burst_is_measured_by_the_pace_of_its_acknowledgements_and_not_by_that_of_its_departure() {
        let mut meter = DeliveryMeter::default();
        let burst = [true, false, false].map(|is_alone| meter.depart(at(0), is_alone, 1_000));
        for (index, departure) in (1..).zip(&burst) {
            meter.deliver(1_000, departure);
            let now = at(100 + 10 * index);
            let sample = meter.read(now, Some(ms(100 + 10 * index))).sample.unwrap();
            assert_eq!((sample.delivered, sample.interval), (1_000 * index, ms(100 + 10 * index)));
        }
        // One more a round trip later: 2,000 bytes were delivered since the first acknowledgement.
        let mut meter = DeliveryMeter::default();
        let first = [true, false].map(|is_alone| meter.depart(at(0), is_alone, 1_000));
        meter.deliver(1_000, &first[0]);
        meter.read(at(100), Some(ms(100)));
        let second = meter.depart(at(100), false, 1_000);
        meter.deliver(1_000, &first[1]);
        meter.read(at(108), Some(ms(108)));
        meter.deliver(1_000, &second);
        let sample = meter.read(at(200), Some(ms(100))).sample.unwrap();
        assert_eq!((sample.delivered, sample.interval), (2_000, ms(100)));
        assert_eq!(sample.rate(), DataRate::from_bits_per_sec(160_000));
        assert_eq!(meter.latest(), Some(sample));
    }

    #[test]
    fn acknowledgements_that_come_at_once_are_measured_by_the_pace_of_what_they_acknowledge() {
        let mut meter = DeliveryMeter::default();
        let sent: Vec<_> = (0..5).map(|index| meter.depart(at(40 * index), index == 0, 1_000)).collect();
        meter.deliver(1_000, &sent[0]);
        meter.read(at(161), Some(ms(161)));
        // The others come together, 1 ms later: they took 160 ms to leave.
        for departure in &sent[1..] {
            meter.deliver(1_000, departure);
        }
        let reading = meter.read(at(162), Some(ms(2)));
        let sample = reading.sample.unwrap();
        assert_eq!(
            (sample.delivered, sample.interval, reading.counts.newly_delivered),
            (5_000, ms(162), 4_000)
        );
    }

    #[test]
    fn an_acknowledgement_sooner_than_any_round_trip_gives_no_sample_and_neither_does_an_empty_one() {
        let mut meter = DeliveryMeter::default();
        let first = meter.depart(at(0), true, 1_000);
        meter.deliver(1_000, &first);
        assert!(meter.read(at(100), Some(ms(100))).sample.is_some());
        let counts = Counts { delivered: 1_000, ..Counts::default() };
        assert_eq!(meter.read(at(101), None), Reading { sample: None, starts_round: false, counts });
        let again = meter.depart(at(200), true, 1_000);
        meter.deliver(1_000, &again);
        assert_eq!(meter.read(at(299), None).sample, None);
        let once_more = meter.depart(at(300), true, 1_000);
        meter.deliver(1_000, &once_more);
        assert_eq!(meter.read(at(400), None).sample.unwrap().delivered, 1_000);
    }

    #[test]
    fn what_is_sent_while_the_application_pauses_is_marked_until_all_of_it_is_delivered() {
        let mut meter = DeliveryMeter::default();
        let before = meter.depart(at(0), true, 1_000);
        meter.limit_by_application(1_000);
        let during = meter.depart(at(10), false, 1_000);
        meter.deliver(1_000, &before);
        assert!(!meter.read(at(100), Some(ms(100))).sample.unwrap().is_application_limited);
        let still = meter.depart(at(100), false, 1_000);
        meter.deliver(1_000, &during);
        assert!(meter.read(at(110), Some(ms(100))).sample.unwrap().is_application_limited);
        let after = meter.depart(at(110), false, 1_000);
        meter.deliver(1_000, &still);
        assert!(meter.read(at(200), Some(ms(100))).sample.unwrap().is_application_limited);
        meter.deliver(1_000, &after);
        assert!(!meter.read(at(210), Some(ms(100))).sample.unwrap().is_application_limited);
    }

    #[test]
    fn a_round_begins_with_the_first_arrival_of_what_was_sent_in_the_last_one() {
        let mut meter = DeliveryMeter::default();
        let starts = |meter: &mut DeliveryMeter, departure: &Departure, now| {
            meter.deliver(1_000, departure);
            meter.read(at(now), None).starts_round
        };
        let first = [true, false].map(|is_alone| meter.depart(at(0), is_alone, 1_000));
        assert!(starts(&mut meter, &first[0], 100));
        let second = [100, 105].map(|now| meter.depart(at(now), false, 1_000));
        assert!(!starts(&mut meter, &first[1], 110));
        let third = meter.depart(at(200), false, 1_000);
        assert!(starts(&mut meter, &second[0], 200));
        assert!(!starts(&mut meter, &second[1], 205));
        assert!(!starts(&mut meter, &third, 300), "it left before the round began");
        let fourth = meter.depart(at(300), true, 1_000);
        assert!(starts(&mut meter, &fourth, 400));
    }

    #[test]
    fn what_is_lost_is_counted_and_each_departure_knows_what_was_lost_since() {
        let mut meter = DeliveryMeter::default();
        let first = meter.depart(at(0), true, 1_000);
        let second = meter.depart(at(1), false, 2_000);
        let lost = meter.lose(700, &first);
        assert_eq!((lost.bytes, lost.departure, lost.delivered, lost.lost), (700, first, 0, 700));
        let third = meter.depart(at(2), false, 2_300);
        meter.lose(u64::from(u32::MAX), &second);
        meter.deliver(1_000, &third);
        let counts = meter.read(at(100), None).counts;
        assert_eq!((counts.newly_lost, counts.lost), (4_294_967_995, 4_294_967_995));
        let newest = counts.newest.unwrap();
        assert_eq!((newest.in_flight(), newest.delivered()), (2_300, 0));
        assert_eq!(newest.lost_since(counts.lost), 4_294_967_295, "the low halves of the counts wrap");
        assert_eq!(second.lost_since(700), 700);
        assert_eq!(meter.read(at(101), None).counts.newly_lost, 0);
    }

    proptest! {
        /// A link that takes `gap` for each packet, behind which a window of any size waits.
        #[test]
        fn the_rate_of_a_bottleneck_is_never_overestimated(
            gap in 1_u64..50, round_trip in 1_u64..400, window in 1_usize..60, count in 1_usize..300,
        ) {
            let mut meter = DeliveryMeter::default();
            let mut flight = std::collections::VecDeque::new();
            let mut free = 0;
            let mut now = 0;
            let mut sent = 0;
            while sent < count || !flight.is_empty() {
                if sent < count && flight.len() < window {
                    let departure = meter.depart(at(now), flight.is_empty(), 1_000);
                    free = free.max(now) + gap;
                    flight.push_back((free + round_trip, departure));
                    sent += 1;
                    continue;
                }
                let (arrives, departure) = flight.pop_front().unwrap();
                now = arrives;
                meter.deliver(1_000, &departure);
                let trip = at(now).saturating_since(departure.sent_at);
                if let Some(sample) = meter.read(at(now), Some(trip)).sample {
                    prop_assert!(sample.rate().as_bits_per_sec() <= 8_000 * 1_000 / gap + 1, "{sample:?}");
                }
            }
        }
    }
}
