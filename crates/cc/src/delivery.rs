//! How fast data arrives at the peer, and what counts as a round trip: the delivery rate of
//! draft-cheng-iccrg-delivery-rate-estimation-02, whose names are in brackets.
//!
//! Whatever is outstanding keeps the [`Departure`] of its last transmission; the [`DeliveryMeter`] of the path turns
//! those that an acknowledgement delivers into one sample.

use slantpath_base::{DataRate, Duration, Instant};

/// When something was sent, and what had been delivered by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When it was sent last (P.sent_time).
    pub sent_at: Instant,
    /// Bytes delivered by then (P.delivered).
    delivered: u64,
    /// When the last of them were (P.delivered_time).
    delivered_at: Instant,
    /// When what began the sample was sent (P.first_sent_time).
    first_sent_at: Instant,
    is_application_limited: bool,
}

/// What one acknowledgement says of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySample {
    /// Bytes delivered while the interval lasted.
    pub delivered: u64,
    /// The longer of the time that they took to be sent and the time that they took to be acknowledged. Not zero.
    pub interval: Duration,
    /// Whether the application had nothing to send at times, so that the path may be faster.
    pub is_application_limited: bool,
}

impl DeliverySample {
    /// The rate at which the bytes were delivered.
    pub fn rate(&self) -> DataRate {
        const BITS_NANOS: u128 = 8 * 1_000_000_000;
        let bits = u128::from(self.delivered) * BITS_NANOS / u128::from(self.interval.as_nanos());
        DataRate::from_bits_per_sec(u64::try_from(bits).unwrap_or(u64::MAX))
    }
}

/// What one acknowledgement says of rate and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The rate, unless the acknowledgement came too early to tell.
    pub sample: Option<DeliverySample>,
    /// Whether something has arrived that was sent after the last round began: a new one begins.
    pub starts_round: bool,
    /// Bytes that it told of for the first time.
    pub delivered: u64,
}

/// Counts what is delivered over one path (C in the draft).
#[derive(Clone, Debug)]
pub struct DeliveryMeter {
    /// Bytes delivered (C.delivered).
    delivered: u64,
    /// When the last of them were (C.delivered_time).
    delivered_at: Instant,
    /// When the newest of what is delivered was sent (C.first_sent_time).
    first_sent_at: Instant,
    /// Once so much is delivered, nothing is in flight that was sent while the application was the limit
    /// (C.app_limited); zero is never.
    limited_until: u64,
    /// What is sent from this count of delivered bytes on belongs to the round after the current one.
    round_ends_at: u64,
    least_round_trip: Duration,
    /// Bytes delivered at the last reading.
    delivered_before: u64,
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
            delivered_before: 0,
            newest: None,
            latest: None,
        }
    }
}

impl DeliveryMeter {
    /// Something is sent, for the first time or again. `is_alone`: nothing else is in flight.
    pub const fn depart(&mut self, now: Instant, is_alone: bool) -> Departure {
        if is_alone {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Departure {
            sent_at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
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

    /// The application has nothing more to send although the window would let it out; so much is in flight.
    pub fn limit_by_application(&mut self, in_flight: u64) {
        self.limited_until = (self.delivered + in_flight).max(1);
    }

    /// What the acknowledgement at hand says, of which everything delivered has been told. `round_trip`: what it took
    /// the newest that was sent only once.
    pub fn read(&mut self, now: Instant, round_trip: Option<Duration>) -> Reading {
        if let Some(round_trip) = round_trip {
            self.least_round_trip = self.least_round_trip.min(round_trip);
        }
        let Some(newest) = self.newest.take() else {
            return Reading { sample: None, starts_round: false, delivered: 0 };
        };
        let delivered = self.delivered - self.delivered_before;
        self.delivered_before = self.delivered;
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
        let is_credible = !interval.is_zero()
            && (interval >= self.least_round_trip || self.least_round_trip == Duration::MAX);
        let sample = is_credible.then(|| DeliverySample {
            delivered: self.delivered - newest.delivered,
            interval,
            is_application_limited: newest.is_application_limited,
        });
        self.latest = sample.or(self.latest);
        Reading { sample, starts_round, delivered }
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
            let first = meter.depart(at(0), true);
            let second = meter.depart(at(10), false);
            meter.deliver(1_000, &first);
            meter.read(at(100), None);
            let third = meter.depart(at(100), false);
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
    fn a_burst_is_measured_by_the_pace_of_its_acknowledgements_and_not_by_that_of_its_departure() {
        let mut meter = DeliveryMeter::default();
        let burst = [true, false, false].map(|is_alone| meter.depart(at(0), is_alone));
        for (index, departure) in (1..).zip(&burst) {
            meter.deliver(1_000, departure);
            let now = at(100 + 10 * index);
            let sample = meter.read(now, Some(ms(100 + 10 * index))).sample.unwrap();
            assert_eq!((sample.delivered, sample.interval), (1_000 * index, ms(100 + 10 * index)));
        }
        // One more a round trip later: 2,000 bytes were delivered since the first acknowledgement.
        let mut meter = DeliveryMeter::default();
        let first = [true, false].map(|is_alone| meter.depart(at(0), is_alone));
        meter.deliver(1_000, &first[0]);
        meter.read(at(100), Some(ms(100)));
        let second = meter.depart(at(100), false);
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
        let sent: Vec<_> = (0..5).map(|index| meter.depart(at(40 * index), index == 0)).collect();
        meter.deliver(1_000, &sent[0]);
        meter.read(at(161), Some(ms(161)));
        // The others come together, 1 ms later: they took 160 ms to leave.
        for departure in &sent[1..] {
            meter.deliver(1_000, departure);
        }
        let reading = meter.read(at(162), Some(ms(2)));
        let sample = reading.sample.unwrap();
        assert_eq!((sample.delivered, sample.interval, reading.delivered), (5_000, ms(162), 4_000));
    }

    #[test]
    fn an_acknowledgement_sooner_than_any_round_trip_gives_no_sample_and_neither_does_an_empty_one() {
        let mut meter = DeliveryMeter::default();
        let first = meter.depart(at(0), true);
        meter.deliver(1_000, &first);
        assert!(meter.read(at(100), Some(ms(100))).sample.is_some());
        assert_eq!(meter.read(at(101), None), Reading { sample: None, starts_round: false, delivered: 0 });
        let again = meter.depart(at(200), true);
        meter.deliver(1_000, &again);
        assert_eq!(meter.read(at(299), None).sample, None);
        let once_more = meter.depart(at(300), true);
        meter.deliver(1_000, &once_more);
        assert_eq!(meter.read(at(400), None).sample.unwrap().delivered, 1_000);
    }

    #[test]
    fn what_is_sent_while_the_application_pauses_is_marked_until_all_of_it_is_delivered() {
        let mut meter = DeliveryMeter::default();
        let before = meter.depart(at(0), true);
        meter.limit_by_application(1_000);
        let during = meter.depart(at(10), false);
        meter.deliver(1_000, &before);
        assert!(!meter.read(at(100), Some(ms(100))).sample.unwrap().is_application_limited);
        let still = meter.depart(at(100), false);
        meter.deliver(1_000, &during);
        assert!(meter.read(at(110), Some(ms(100))).sample.unwrap().is_application_limited);
        let after = meter.depart(at(110), false);
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
        let first = [true, false].map(|is_alone| meter.depart(at(0), is_alone));
        assert!(starts(&mut meter, &first[0], 100));
        let second = [100, 105].map(|now| meter.depart(at(now), false));
        assert!(!starts(&mut meter, &first[1], 110));
        let third = meter.depart(at(200), false);
        assert!(starts(&mut meter, &second[0], 200));
        assert!(!starts(&mut meter, &second[1], 205));
        assert!(!starts(&mut meter, &third, 300), "it left before the round began");
        let fourth = meter.depart(at(300), true);
        assert!(starts(&mut meter, &fourth, 400));
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
                    let departure = meter.depart(at(now), flight.is_empty());
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
