//! Window, load and capacity: equations 1 to 7 of "SS7 over IP over satellite", and the bounds that they leave open.
//!
//! Windows count DATA chunks, rates of the band count Ethernet; `k` is Ethernet octets for each octet of the window
//! ([`Framing::ethernet_per_window`](crate::framing::Framing::ethernet_per_window)). The paper counts SS7 in both and
//! has `1 + α` between them: its own numbers follow with `k = 1 + α`.

use slantpath_base::{DataRate, DataSize, Duration};

/// Rates at which a terminal may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// For good (PAMA).
    pub permanent: DataRate,
    /// Beyond that, when it has been asked for (DAMA).
    pub on_demand: DataRate,
}

/// The working cases of equation 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkingCase {
    /// The window lets out more than the whole band: what exceeds it piles up in front of the terminal.
    A,
    /// The window lets out less than what is permanent: what exceeds it is refused before the terminal sees it.
    B,
    /// Between both: steps that are small enough are case B, larger ones case A.
    C,
}

impl Band {
    /// B_S: all of it.
    pub fn total(self) -> DataRate {
        rate(bits(self.permanent) + bits(self.on_demand))
    }
}

/// T_ACK (equation 1): the round trip, the time that an allocation takes, and what waits at the receiving lines.
pub fn acknowledgement_time(
    round_trip: Duration,
    allocation: Duration,
    receiving_queue: Duration,
) -> Duration {
    round_trip.saturating_add(allocation).saturating_add(receiving_queue)
}

/// OUTSTAND (equation 1): what a load keeps unacknowledged.
pub fn outstanding(load: DataRate, acknowledgement_time: Duration) -> DataSize {
    size(bits(load) * acknowledgement_time.as_secs_f64() / 8.0)
}

/// B_IN (equation 2), and with the window in place of what is outstanding B_IN,max (equation 3).
pub fn injected_most(cwnd: DataSize, acknowledgement_time: Duration) -> DataRate {
    rate(bytes(cwnd) * 8.0 / acknowledgement_time.as_secs_f64())
}

/// OUTSTAND after the load has grown by a step: with `allocation` of nothing equation 4, else equation 5. It is exact
/// if the time to allocate counts from the step to the grant.
pub fn outstanding_after_step(
    load: DataRate,
    step: DataRate,
    round_trip: Duration,
    allocation: Duration,
) -> DataSize {
    let trip = round_trip.as_secs_f64();
    size((bits(load) * trip + bits(step) * (trip + allocation.as_secs_f64())) / 8.0)
}

/// Gives the case that a window is in (equation 6). `k` is Ethernet for each octet of what the window injects.
pub fn working_case(injected_most: DataRate, k: f64, band: Band) -> WorkingCase {
    let ethernet = bits(injected_most) * k;
    if ethernet > bits(band.total()) {
        WorkingCase::A
    } else if ethernet < bits(band.permanent) {
        WorkingCase::B
    } else {
        WorkingCase::C
    }
}

/// B_IN,MAX of so many associations (equation 7): as of one with so many windows.
pub fn injected_most_of(associations: u32, cwnd: DataSize, acknowledgement_time: Duration) -> DataRate {
    rate(bytes(cwnd) * f64::from(associations) * 8.0 / acknowledgement_time.as_secs_f64())
}

/// The smallest window that fills a band: C·RTT / (8k).
pub fn least_window(band: DataRate, round_trip: Duration, k: f64) -> DataSize {
    size((bits(band) * round_trip.as_secs_f64() / (8.0 * k)).ceil())
}

/// The window from which on a time-out lasts for ever where it repeats the whole window: T_W reaches RTO.Max at
/// C·RTO.Max / (8k), for the duplicates wait behind the originals.
pub fn window_of_collapse(band: DataRate, rto_max: Duration, k: f64) -> DataSize {
    size(bits(band) * rto_max.as_secs_f64() / (8.0 * k))
}

/// T_W: how long a window takes to be sent at a rate.
pub fn window_time(cwnd: DataSize, band: DataRate, k: f64) -> Duration {
    Duration::from_secs_f64(bytes(cwnd) * 8.0 * k / bits(band))
}

/// ΔB_max: the largest step of load that is accepted while capacity is allocated. Beyond the first of its two bounds
/// the window fills and traffic is refused; beyond the second a message waits longer than a timer of its own (RTO,
/// T7) allows. Rates are of what the window counts.
pub fn largest_step(
    load: DataRate,
    cwnd: DataSize,
    round_trip: Duration,
    allocation: Duration,
    timer: Duration,
) -> (DataRate, DataRate) {
    let (trip, allocation) = (round_trip.as_secs_f64(), allocation.as_secs_f64());
    let by_window = (8.0 * bytes(cwnd) - bits(load) * trip) / (trip + allocation);
    let spare = timer.as_secs_f64() - trip;
    let by_timer = if allocation > 0.0 { bits(load) * spare / allocation } else { f64::INFINITY };
    (rate(by_window), rate(by_timer))
}

/// T_c of a window that opens by `increment` each round trip, from `initial` on, until it holds what a load needs:
/// how long a start without slow start is congested.
pub fn opening_time(
    needed: DataSize,
    initial: DataSize,
    increment: DataSize,
    round_trip: Duration,
) -> Duration {
    let trips = (bytes(needed) - bytes(initial)).max(0.0) / bytes(increment).max(1.0);
    Duration::from_secs_f64(trips * round_trip.as_secs_f64())
}

fn bits(rate: DataRate) -> f64 {
    rate.as_bits_per_sec() as f64
}

fn bytes(size: DataSize) -> f64 {
    size.as_bytes() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, at 0 and at the top"
)]
fn rate(bits_per_second: f64) -> DataRate {
    DataRate::from_bits_per_sec(bits_per_second as u64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, at 0 and at the top"
)]
fn size(bytes: f64) -> DataSize {
    DataSize::from_bytes(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBIT: u64 = 1_000;

    fn kbit(rate: u64) -> DataRate {
        DataRate::from_bits_per_sec(rate * KBIT)
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    const CWND_384: DataSize = DataSize::from_bytes(384_000);
    const CWND_154: DataSize = DataSize::from_bytes(154_000);

    /// Rounds a rate to whole kbit/s.
    fn whole(rate: DataRate) -> u64 {
        (rate.as_bits_per_sec() + KBIT / 2) / KBIT
    }

    #[test]
    fn the_suggested_window_is_case_a_for_both_permanent_bands() {
        // Section 4.1: "about 4600 Kb/s", case A.
        let most = injected_most(CWND_384, millis(650));
        assert_eq!(whole(most), 4_726);
        for permanent in [2_048, 1_024] {
            let band = Band { permanent: kbit(permanent), on_demand: kbit(2_150 - permanent) };
            assert_eq!(working_case(most, 1.16, band), WorkingCase::A);
        }
    }

    #[test]
    fn the_smaller_window_is_case_b_where_the_round_trip_grows_and_case_c_where_it_does_not() {
        // "≈ 1650" and "≈ 1910": the round trip is 750 ms near what is permanent, and nothing comes on demand.
        let most = injected_most(CWND_154, millis(750));
        assert_eq!((whole(most), whole(rate(bits(most) * 1.16))), (1_643, 1_905));
        let band = Band { permanent: kbit(2_048), on_demand: kbit(0) };
        assert_eq!(working_case(most, 1.16, band), WorkingCase::B);
        // "≈ 1850" and "≈ 2150": 250 kbit/s on demand keep it at 650 ms.
        let most = injected_most(CWND_154, millis(650));
        assert_eq!((whole(most), whole(rate(bits(most) * 1.16))), (1_895, 2_199));
        let band = Band { permanent: kbit(2_048), on_demand: kbit(250) };
        assert_eq!(working_case(most, 1.16, band), WorkingCase::C);
    }

    #[test]
    fn with_1024_kbit_permanent_the_step_that_is_accepted_lies_between_the_two_of_the_trial_for_2_to_2_8_s() {
        // 190 kbit/s kept it in case B, 250 drove it to case A.
        let load = rate(1_024_000.0 / 1.16);
        let step =
            |allocation| largest_step(load, CWND_154, millis(650), millis(allocation), millis(60_000)).0;
        assert!(whole(step(1_900)) > 250 && whole(step(2_000)) < 250);
        assert!(whole(step(2_800)) > 190 && whole(step(2_850)) < 190);
    }

    #[test]
    fn associations_count_as_windows() {
        let most =
            |associations, cwnd| injected_most_of(associations, DataSize::from_bytes(cwnd), millis(650));
        assert_eq!(most(8, 64_000), most(1, 512_000));
        assert_eq!(whole(most(2, 64_000)), 2 * whole(most(1, 64_000)) - 1);
    }

    #[test]
    fn what_is_outstanding_follows_the_load_and_a_step_adds_what_comes_until_the_grant() {
        let load = kbit(1_000);
        let time = acknowledgement_time(millis(600), millis(300), millis(100));
        assert_eq!(time, millis(1_000));
        assert_eq!(outstanding(load, time).as_bytes(), 125_000);
        assert_eq!(outstanding_after_step(load, kbit(100), millis(600), millis(0)).as_bytes(), 82_500);
        assert_eq!(outstanding_after_step(load, kbit(100), millis(600), millis(1_000)).as_bytes(), 95_000);
    }

    #[test]
    fn a_window_lies_between_what_fills_the_band_and_what_a_timeout_repeats_for_ever() {
        let (band, k) = (kbit(2_000), 1.25);
        let least = least_window(band, millis(650), k);
        assert_eq!(least.as_bytes(), 130_000);
        assert_eq!(whole(rate(bits(injected_most(least, millis(650))) * k)), 2_000);
        let most = window_of_collapse(band, millis(1_000), k);
        assert_eq!(most.as_bytes(), 200_000);
        assert_eq!(window_time(most, band, k), millis(1_000));
        assert_eq!(window_time(least, band, k), millis(650));
    }

    #[test]
    fn a_step_is_bounded_by_the_window_and_by_the_timer() {
        let by = |cwnd, timer| {
            let (window, timer) = largest_step(
                kbit(1_000),
                DataSize::from_bytes(cwnd),
                millis(600),
                millis(1_400),
                millis(timer),
            );
            (whole(window), whole(timer))
        };
        assert_eq!(by(200_000, 1_000), (500, 286));
        assert_eq!(by(75_000, 2_000), (0, 1_000));
        // Less than the load needs: the cast ends at nothing.
        assert_eq!(by(10_000, 600), (0, 0));
        let none = largest_step(kbit(1_000), CWND_154, millis(600), millis(0), millis(1_000));
        assert_eq!(none.1.as_bits_per_sec(), u64::MAX);
    }

    #[test]
    fn a_window_of_two_packets_takes_a_round_trip_for_each_further_one() {
        let time = |needed| {
            let size = DataSize::from_bytes;
            opening_time(size(needed), size(1_152), size(576), millis(700))
        };
        assert_eq!(time(1_152 + 576 * 100), millis(70_000));
        assert_eq!(time(500), millis(0));
    }
}
