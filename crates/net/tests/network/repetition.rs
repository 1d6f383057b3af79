//! Links that repeat what an error hits: when, how often, in which order, and what becomes of it at an end.

use proptest::prelude::*;
use slantpath_base::{DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{
    ArqConfig, ArqOrder, BeyondMax, Change, CoDelConfig, CongestionSignal, DirectionConfig,
    DirectionCounters, DropReason, DrrClass, DrrConfig, FqCoDelConfig, PieConfig, Precedence, QueueConfig,
    QueueLimit, QueueMeasure, RedConfig, RedThresholds, SendingConfig, WhileDown,
};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis, tag};

/// A byte takes a millisecond, the way 100 ms.
fn config(tries: u32, order: ArqOrder) -> DirectionConfig {
    let sending = SendingConfig::Repeated(ArqConfig { tries, order });
    DirectionConfig { sending, ..clean(byte_a_millisecond(), Duration::from_millis(100), 100) }
}

/// Sends packets at so many milliseconds, of so many bytes; all that starts within these milliseconds is lost.
fn run(
    config: &DirectionConfig,
    sends: &[(u64, usize)],
    lossy: &[(u64, u64)],
    changes: &[(u64, Change)],
) -> Pair {
    // What is sent at the start comes before the first change.
    let is_lossy = lossy.first().is_some_and(|&(from, _)| from == 0);
    let loss = if is_lossy { Probability::ALWAYS } else { Probability::NEVER };
    let config = DirectionConfig { loss, ..config.clone() };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        for &(from, until) in lossy {
            builder.change(millis(from), link.forward(), Change::Loss(Probability::ALWAYS));
            builder.change(millis(until), link.forward(), Change::Loss(Probability::NEVER));
        }
        for &(at, change) in changes {
            builder.change(millis(at), link.forward(), change);
        }
    });
    for (number, &(at, length)) in (0..).zip(sends) {
        pair.send(millis(at), length, number);
    }
    assert!(pair.network.run_to_rest(10_000));
    assert_eq!(pair.network.packets_under_way(), 0);
    pair
}

fn arrivals(pair: &Pair) -> Vec<(u64, u8)> {
    let received = &pair.network.host(pair.second).received;
    received.iter().map(|(at, _, packet)| (at.since_start().as_millis(), tag(packet))).collect()
}

fn counters(pair: &Pair) -> DirectionCounters {
    *pair.network.counters(pair.link.forward())
}

/// The first two packets are hit: sent until 100 and 150 ms, they are asked for again at 300 and 350. The third is sent
/// from 260 to 360, the first again until 460, the second until 510.
const SENDS: [(u64, usize); 3] = [(0, 100), (10, 50), (260, 100)];

#[test]
fn a_packet_is_sent_again_a_round_trip_after_it_was_hit_and_before_what_waits() {
    let pair =
        run(&config(2, ArqOrder::AsReceived), &[(0, 100), (10, 50), (260, 100), (270, 40)], &[(0, 200)], &[]);
    assert_eq!(arrivals(&pair), [(460, 2), (560, 0), (610, 1), (650, 3)]);
    assert_eq!((counters(&pair).repeated.packets, counters(&pair).repeated.bytes), (2, 150));
}

#[test]
fn a_link_that_keeps_order_holds_back_what_comes_before_its_turn() {
    let pair = run(&config(2, ArqOrder::InOrder), &SENDS, &[(0, 200)], &[]);
    assert_eq!(arrivals(&pair), [(560, 0), (610, 1), (610, 2)]);
}

#[test]
fn what_is_hit_as_often_as_it_may_be_sent_is_given_up_and_holds_nothing_back_any_longer() {
    // The first is hit again from 360 to 460, the second from 460 on comes through.
    let pair = run(&config(2, ArqOrder::InOrder), &SENDS, &[(0, 200), (355, 400)], &[]);
    assert_eq!(arrivals(&pair), [(610, 1), (610, 2)]);
    let counters = counters(&pair);
    assert_eq!((counters.repeated.packets, counters.dropped(DropReason::GivenUp).packets), (2, 1));
    assert_eq!(counters.dropped(DropReason::Loss).packets, 0);
    // As does one that may be sent only once.
    let pair = run(&config(1, ArqOrder::InOrder), &SENDS, &[(0, 200)], &[]);
    assert_eq!(arrivals(&pair), [(460, 2)]);
    assert_eq!(self::counters(&pair).dropped(DropReason::GivenUp).packets, 2);
}

#[test]
fn a_damaged_packet_is_repeated_as_a_lost_one_is() {
    let noisy = DirectionConfig { bit_errors: Probability::ALWAYS, ..config(2, ArqOrder::AsReceived) };
    let pair = run(&noisy, &SENDS, &[], &[(200, Change::BitErrors(Probability::NEVER))]);
    assert_eq!(arrivals(&pair), [(460, 2), (560, 0), (610, 1)]);
    assert_eq!(counters(&pair).damaged.packets, 0);
}

#[test]
fn the_round_trip_is_that_of_the_delay_with_which_a_packet_was_sent() {
    let far = [(120, Change::Delay(Duration::from_millis(400)))];
    let pair = run(&config(2, ArqOrder::AsReceived), &[(0, 100)], &[(0, 50)], &far);
    assert_eq!(arrivals(&pair), [(800, 0)], "asked for at 300, sent until 400");
}

#[test]
fn going_down_ends_repetition_or_puts_it_off() {
    // The first is to be repeated, the second is held back, the third is being sent, the fourth waits.
    let sends = [(0, 100), (10, 50), (110, 100), (120, 30)];
    let changes = [(200, Change::Down), (1_000, Change::Up)];
    let pair = run(&config(9, ArqOrder::InOrder), &sends, &[(0, 50)], &changes);
    assert_eq!(arrivals(&pair), [(250, 1)], "nothing is held back for what will not come");
    assert_eq!(counters(&pair).dropped(DropReason::Down).packets, 3);
    let holding = DirectionConfig { while_down: WhileDown::Hold, ..config(9, ArqOrder::InOrder) };
    let pair = run(&holding, &sends, &[(0, 50)], &changes);
    assert_eq!(arrivals(&pair), [(1_200, 0), (1_200, 1), (1_230, 3)], "what was being sent is cut off");
    assert_eq!(counters(&pair).dropped(DropReason::Down).packets, 1);
}

#[test]
fn as_many_are_repeated_and_given_up_as_the_loss_has_it() {
    let loss = Probability::new(0.3).expect("a probability");
    let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
    let fast =
        DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(10), queue);
    let sending = SendingConfig::Repeated(ArqConfig { tries: 3, order: ArqOrder::InOrder });
    let mut pair = Pair::new(&DirectionConfig { loss, sending, ..fast });
    let packets = 20_000_u32;
    for number in 0..packets {
        pair.send(millis(u64::from(number / 10)), 125, u8::try_from(number % 251).expect("below 251"));
    }
    assert!(pair.network.run_to_rest(1_000_000));
    let (n, counters) = (f64::from(packets), counters(&pair));
    // Binomial: a packet is given up with 0.3³, repeated once with 0.3 and once more with 0.3²; four deviations.
    let given_up = counters.dropped(DropReason::GivenUp).packets as f64;
    assert!((given_up - n * 0.027).abs() < 4.0 * (n * 0.027 * 0.973).sqrt(), "{given_up}");
    let repeated = counters.repeated.packets as f64;
    let deviation = (n * (0.3 * 0.7 + 0.09 * 0.91 + 2.0 * (0.09 - 0.3 * 0.09))).sqrt();
    assert!((repeated - n * 0.39).abs() < 4.0 * deviation, "{repeated}");
    let tags: Vec<u8> = pair.network.host(pair.second).received.iter().map(|(_, _, p)| tag(p)).collect();
    let steps = tags.windows(2).map(|two| (u32::from(two[1]) + 251 - u32::from(two[0])) % 251);
    assert!(steps.max() < Some(10), "none is overtaken");
}

/// A queue that drops early once more than a packet waits, by the precedence of all of them.
fn early(limit: QueueLimit) -> RedConfig {
    let thresholds = RedThresholds { min: 1, max: 4, max_probability: Probability::ALWAYS };
    RedConfig {
        limit,
        measure: QueueMeasure::Packets,
        precedence: Precedence::Coupled([thresholds; 3]),
        weight: 0.5,
        typical_bytes: 1_000,
        beyond_max: BeyondMax::Gentle,
        signal: CongestionSignal::Drop,
    }
}

fn any_queue() -> impl Strategy<Value = QueueConfig> {
    let limit = prop_oneof![(0_u32..6).prop_map(QueueLimit::Packets), Just(QueueLimit::Unlimited)];
    (limit, 0_usize..7).prop_map(|(limit, discipline)| {
        let (target, interval) = (Duration::from_millis(1), Duration::from_millis(20));
        let impatient = CoDelConfig { limit, target, interval, signal: CongestionSignal::Drop };
        let class = DrrClass { dscps: Vec::new(), quantum_bytes: 100, limit };
        [
            QueueConfig::CoDel(impatient),
            QueueConfig::DropTail(limit),
            QueueConfig::Drr(DrrConfig { classes: vec![class; 2] }),
            QueueConfig::FqCoDel(FqCoDelConfig { codel: impatient, quantum_bytes: 100, queues: 4 }),
            QueueConfig::Pie(PieConfig {
                target,
                update_interval: Duration::from_millis(5),
                max_burst: Duration::ZERO,
                ..PieConfig::new(limit)
            }),
            QueueConfig::Priority(limit),
            QueueConfig::Red(early(limit)),
        ][discipline]
            .clone()
    })
}

proptest! {
    #[test]
    fn every_packet_arrives_once_or_is_counted_whatever_happens(
        sends in proptest::collection::vec((0_u64..3_000, 21_usize..300), 1..60),
        changes in proptest::collection::vec((0_u64..3_000, 0_usize..5), 0..8),
        queue in any_queue(),
        tries in 1_u32..5,
        (keeps_order, holds) in any::<(bool, bool)>(),
        loss in 0.0..0.9,
        seed in any::<u64>(),
    ) {
        let config = DirectionConfig {
            queue,
            loss: Probability::new(loss).expect("a probability"),
            while_down: if holds { WhileDown::Hold } else { WhileDown::Drop },
            ..config(tries, if keeps_order { ArqOrder::InOrder } else { ArqOrder::AsReceived })
        };
        let mut pair = Pair::with(&config, Seed::new(seed, 0), |builder, link| {
            for &(at, change) in &changes {
                let change = [
                    Change::Down,
                    Change::Up,
                    Change::Rate(DataRate::from_bits_per_sec(16_000)),
                    Change::Delay(Duration::from_millis(10)),
                    Change::BitErrors(Probability::new(1e-3).expect("a probability")),
                ][change];
                builder.change(millis(at), link.forward(), change);
            }
            builder.change(millis(60_000), link.forward(), Change::Up);
        });
        let mut sends = sends;
        sends.sort_unstable();
        for (number, &(at, length)) in (0..).zip(&sends) {
            pair.send(millis(at), length, number);
        }
        prop_assert!(pair.network.run_to_rest(100_000));
        prop_assert_eq!(pair.network.packets_under_way(), 0);
        let counters = counters(&pair);
        prop_assert_eq!(counters.carried.packets + counters.dropped_in_all().packets, sends.len() as u64);
        prop_assert_eq!((counters.damaged.packets, counters.dropped(DropReason::Loss).packets), (0, 0));
        prop_assert!(counters.repeated.packets <= sends.len() as u64 * u64::from(tries - 1));
        let received = &pair.network.host(pair.second).received;
        prop_assert_eq!(received.len() as u64, counters.carried.packets);
        let mut tags: Vec<u8> = received.iter().map(|(_, _, packet)| tag(packet)).collect();
        let is_fifo = !matches!(config.queue, QueueConfig::FqCoDel(_) | QueueConfig::Priority(_));
        let delay_falls = changes.iter().any(|&(_, change)| change == 3);
        if keeps_order && is_fifo {
            prop_assert!(delay_falls || tags.is_sorted(), "{tags:?}");
        }
        tags.sort_unstable();
        tags.dedup();
        prop_assert_eq!(tags.len(), received.len());
        prop_assert!(received.iter().all(|&(at, _, _)| at > Instant::START));
    }
}
