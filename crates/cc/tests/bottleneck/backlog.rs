//! Backlog over long paths, whose loss is random, and beside others.

use slantpath_base::{DataRate, Duration, Instant};

use crate::controllers::{backlog, backlog_with, cubic, new_reno};
use crate::model::{Change, Loss, PACKET, PAYLOAD, PathSpec, Run, alone};

const fn at(seconds: u64) -> Instant {
    Instant::from_secs(seconds)
}

/// Of 96.8 % of the link that payload can have, and what loss leaves of them.
#[test]
fn random_loss_takes_from_the_goodput_what_it_destroys_and_a_hundredth_part() {
    for (path, least) in [(PathSpec::geo(), [96.2, 96.0, 95.0]), (PathSpec::leo(), [96.5, 96.2, 95.0])] {
        for (loss, least) in [0.0, 1e-3, 1e-2].into_iter().zip(least) {
            for seed in 1..4 {
                let found = alone(path.losing(loss), seed, backlog());
                assert!(found.goodput > least, "{path:?} {loss} {seed}: {found:?}");
                assert_eq!(found.queue_losses, 0, "{path:?} {loss} {seed}: {found:?}");
                assert!(found.ramp.is_some_and(|ramp| ramp < 7.5), "{path:?} {loss} {seed}: {found:?}");
            }
        }
    }
}

#[test]
fn loss_in_bursts_of_ten_packets_costs_no_more() {
    for path in [PathSpec::geo(), PathSpec::leo()] {
        let found =
            alone(PathSpec { loss: Loss::Bursts { mean: 1e-2, packets: 10.0 }, ..path }, 1, backlog());
        assert!(found.goodput > 94.5, "{found:?}");
    }
}

#[test]
fn a_queue_of_a_tenth_of_the_product_is_enough_and_one_of_four_stays_empty() {
    for path in [PathSpec::geo(), PathSpec::leo()] {
        let found = alone(path.queue_percent(10), 1, backlog());
        assert!(found.goodput > 96.2 && found.queue_losses < 20, "{found:?}");
        let run = Run::new(path.queue_percent(400), 1).with_flow(at(0), backlog()).until(at(60));
        assert!(run.mean_queue() < 10.0, "{} % of the product", run.mean_queue());
    }
}

#[test]
fn an_initial_window_of_three_segments_takes_two_round_trips_more_and_a_known_capacity_saves_four() {
    let ramp = |control| alone(PathSpec::geo(), 1, control).ramp.expect("it gets there");
    let usual = ramp(backlog());
    let small = ramp(backlog_with(3, None));
    let known = ramp(backlog_with(10, Some(DataRate::from_bits_per_sec(10_000_000 / PACKET * PAYLOAD))));
    assert!(small < 9.6 && known < usual - 3.5, "{usual} {small} {known}");
}

#[test]
fn a_handover_to_a_path_three_times_as_long_and_back_is_over_in_two_seconds() {
    let run = Run::new(PathSpec::new(20_000_000, 40), 1)
        .with_flow(at(0), backlog())
        .with_change(at(20), Change::RoundTrip(Duration::from_millis(120)))
        .with_change(at(30), Change::RoundTrip(Duration::from_millis(40)))
        .until(at(40));
    assert!(run.goodput(0, 20, 22) > 70.0, "{}", run.goodput(0, 20, 22));
    assert!(run.goodput(0, 22, 30) > 96.0, "{}", run.goodput(0, 22, 30));
    assert!(run.goodput(0, 30, 40) > 96.0, "{}", run.goodput(0, 30, 40));
    // What was in flight on the long path does not fit into the queue of the short one.
    assert!(run.accounts[0].queue_losses < 120, "{}", run.accounts[0].queue_losses);
}

#[test]
fn after_a_fade_of_three_seconds_the_path_is_filled_again_in_five() {
    let run = Run::new(PathSpec::geo(), 1)
        .with_flow(at(0), backlog())
        .with_change(at(30), Change::Fade(true))
        .with_change(at(33), Change::Fade(false))
        .until(at(50));
    assert!(run.goodput(0, 34, 39) > 70.0, "{}", run.goodput(0, 34, 39));
    assert!(run.goodput(0, 39, 50) > 96.0, "{}", run.goodput(0, 39, 50));
    assert_eq!(run.accounts[0].queue_losses, 0);
}

#[test]
fn a_capacity_that_doubles_is_used_and_one_that_halves_is_not_exceeded_for_long() {
    let rate = |megabits: u64| Change::Rate(DataRate::from_bits_per_sec(megabits * 1_000_000));
    let run = Run::new(PathSpec::geo(), 1)
        .with_flow(at(0), backlog())
        .with_change(at(30), rate(20))
        .with_change(at(60), rate(10))
        .until(at(80));
    assert!(run.goodput(0, 36, 60) > 190.0, "{}", run.goodput(0, 36, 60));
    assert!(run.goodput(0, 65, 80) > 96.0, "{}", run.goodput(0, 65, 80));
    assert!(run.accounts[0].queue_losses < 100, "{}", run.accounts[0].queue_losses);
}

#[test]
fn two_flows_have_shares_of_the_same_order_and_twenty_lose_nothing() {
    let run = |flows: u64| {
        let run = Run::new(PathSpec::leo(), 1);
        (0..flows)
            .fold(run, |run, flow| run.with_flow(Instant::from_millis(300 * flow), backlog()))
            .until(at(60))
    };
    let two = run(2);
    assert!((0..2).all(|flow| two.goodput(flow, 30, 60) > 38.0));
    let twenty = run(20);
    let shares: Vec<_> = (0..20).map(|flow| twenty.goodput(flow, 30, 60)).collect();
    let total: f64 = shares.iter().sum();
    assert!(total > 96.0 && shares.iter().all(|share| *share > 2.0), "{shares:.1?}");
    assert!(twenty.accounts.iter().all(|account| account.queue_losses == 0));
    assert!(twenty.mean_queue() < 30.0, "{}", twenty.mean_queue());
}

/// Backlog takes less than half of a path whose queue others fill; beside one NewReno flow next to nothing.
#[test]
fn where_others_fill_a_queue_of_one_product_it_takes_less_than_they() {
    for other in [cubic(), new_reno()] {
        let run =
            Run::new(PathSpec::leo(), 1).with_flow(at(0), other).with_flow(at(10), backlog()).until(at(120));
        let (theirs, own) = (run.goodput(0, 30, 120), run.goodput(1, 30, 120));
        assert!(theirs > own && own > 1.0 && theirs + own > 96.0, "{theirs} {own}");
    }
}

#[test]
fn when_others_leave_the_queue_they_filled_is_emptied() {
    let run = Run::new(PathSpec::leo(), 1)
        .with_flow(at(0), backlog())
        .with_flow(at(2), backlog())
        .with_flow(at(10), cubic())
        .with_end(2, at(60))
        .until(at(120));
    let shares = [0, 1].map(|flow| run.goodput(flow, 70, 120));
    assert!(shares.iter().all(|share| (40.0..57.0).contains(share)), "{shares:?}");
    assert!(run.goodput(2, 20, 60) > 45.0, "{}", run.goodput(2, 20, 60));
}
