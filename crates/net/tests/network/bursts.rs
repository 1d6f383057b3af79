//! Errors in bursts, over whole links: as much as the chain has it, at instants of the link's own.

use proptest::prelude::*;
use slantpath_base::{DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{
    Change, ChannelState, DirectionConfig, DropReason, GilbertElliott, QueueConfig, QueueLimit,
};

use crate::fixture::{Pair, byte_a_millisecond, millis};

const fn state(mean: Duration, loss: Probability) -> ChannelState {
    ChannelState { mean, loss, bit_errors: Probability::NEVER }
}

/// Nothing passes in bursts of 10 ms in 50, all else does.
const IN_BURSTS: GilbertElliott = GilbertElliott {
    good: state(Duration::from_millis(40), Probability::NEVER),
    bad: state(Duration::from_millis(10), Probability::ALWAYS),
};

fn config(rate: DataRate) -> DirectionConfig {
    let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
    DirectionConfig { bursts: Some(IN_BURSTS), ..DirectionConfig::new(rate, Duration::ZERO, queue) }
}

/// Sends a short packet so often, for 20 s; returns in which of them it was lost.
fn losses_every(pause: Duration) -> Vec<Instant> {
    let mut pair = Pair::new(&config(DataRate::from_bits_per_sec(1_000_000_000_000)));
    let sent: Vec<Instant> = (0..Duration::from_secs(20).as_nanos() / pause.as_nanos())
        .map(|number| Instant::START + Duration::from_nanos(number * pause.as_nanos()))
        .collect();
    for &at in &sent {
        pair.send(at, 125, 0);
    }
    assert!(pair.network.run_to_rest(1_000_000));
    let sending = Duration::from_nanos(1);
    let arrived: std::collections::BTreeSet<_> =
        pair.network.host(pair.second).arrivals().into_iter().collect();
    let lost: Vec<Instant> = sent.into_iter().filter(|&at| !arrived.contains(&(at + sending))).collect();
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!(counters.dropped(DropReason::Loss).packets, lost.len() as u64);
    lost
}

#[test]
fn as_much_is_lost_as_the_channel_is_bad() {
    let lost = losses_every(Duration::from_millis(1)).len() as f64 / 20_000.0;
    // The states are alike for 1 / (1/40 + 1/10) = 8 ms, and the variance of their mean over a time T is
    // 2 * 0.2 * 0.8 * 8 ms / T. Four standard deviations.
    let deviation = f64::sqrt(2.0 * 0.2 * 0.8 * 8.0 / 20_000.0);
    assert!((lost - 0.2).abs() < 4.0 * deviation, "{lost}");
}

#[test]
fn a_burst_lasts_as_long_however_many_packets_it_hits() {
    let seldom = losses_every(Duration::from_millis(1));
    let often = losses_every(Duration::from_micros(250));
    let of_both: Vec<Instant> = often.iter().copied().filter(|at| at.as_nanos() % 1_000_000 == 0).collect();
    assert_eq!(of_both, seldom);
    assert!(often.len() > 3 * seldom.len(), "{} of {}", often.len(), seldom.len());
}

#[test]
fn what_is_withdrawn_and_sent_anew_meets_the_same_bursts() {
    let arrivals = |changes: &[u64]| {
        let mut pair = Pair::with(&config(byte_a_millisecond()), Seed::new(8, 0), |builder, link| {
            for &at in changes {
                // The rate that it has.
                builder.change(millis(at), link.forward(), Change::Rate(byte_a_millisecond()));
            }
        });
        (0..200).for_each(|_| pair.send(millis(0), 21, 0));
        assert!(pair.network.run_to_rest(10_000));
        pair.network.host(pair.second).arrivals()
    };
    let undisturbed = arrivals(&[]);
    assert!((100..190).contains(&undisturbed.len()), "{}", undisturbed.len());
    assert_eq!(arrivals(&[10, 500, 501, 2_000]), undisturbed);
}

proptest! {
    #[test]
    fn every_packet_is_lost_or_arrives_whatever_changes(
        sends in proptest::collection::vec((0_u64..3_000, 21_usize..300), 1..60),
        changes in proptest::collection::vec((0_u64..3_000, 0_usize..3), 0..6),
        seed in any::<u64>(),
    ) {
        let mut pair = Pair::with(&config(byte_a_millisecond()), Seed::new(seed, 0), |builder, link| {
            for &(at, change) in &changes {
                let change = [Change::Down, Change::Up, Change::Rate(DataRate::from_bits_per_sec(16_000))][change];
                builder.change(millis(at), link.forward(), change);
            }
        });
        let mut sends = sends;
        sends.sort_unstable();
        for &(at, length) in &sends {
            pair.send(millis(at), length, 0);
        }
        prop_assert!(pair.network.run_to_rest(10_000));
        let counters = *pair.network.counters(pair.link.forward());
        prop_assert_eq!(counters.offered.packets, sends.len() as u64);
        prop_assert_eq!(counters.carried.packets + counters.dropped_in_all().packets, counters.offered.packets);
        prop_assert_eq!(pair.network.host(pair.second).received.len() as u64, counters.carried.packets);
    }
}
