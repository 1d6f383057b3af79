//! Checks that the same seed gives the same run.

use slantpath_base::{Duration, Probability, RunDigest, Seed};
use slantpath_net::{DirectionConfig, Reordering, Sampling};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis};

fn run(seed: Seed, probe: Option<Sampling>, stops: &[u64]) -> (RunDigest, u64) {
    let half = Probability::new(0.5).expect("a probability");
    let config = DirectionConfig {
        loss: half,
        duplication: half,
        reordering: Reordering { probability: half, extra_delay_max: Duration::from_millis(50) },
        bit_errors: Probability::new(1e-3).expect("a probability"),
        ..clean(byte_a_millisecond(), Duration::from_millis(10), 5)
    };
    let mut pair = Pair::with(&config, seed, |_, _| {});
    if let Some(sampling) = probe {
        pair.network.probe_queue(pair.link.forward(), sampling);
    }
    for tag in 0..200 {
        pair.send(millis(u64::from(tag) * 60), 100, tag);
    }
    for &stop in stops {
        pair.network.run_until(millis(stop));
    }
    pair.network.run_until(millis(30_000));
    (pair.network.digest(), pair.network.packet_hops())
}

#[test]
fn the_same_seed_gives_the_same_digest() {
    assert_eq!(run(Seed::new(1, 0), None, &[]), run(Seed::new(1, 0), None, &[]));
}

#[test]
fn another_seed_or_another_replication_gives_another_digest() {
    let first = run(Seed::new(1, 0), None, &[]);
    assert_ne!(first.0, run(Seed::new(2, 0), None, &[]).0);
    assert_ne!(first.0, run(Seed::new(1, 1), None, &[]).0);
}

#[test]
fn neither_probes_nor_pauses_change_a_run() {
    let plain = run(Seed::new(1, 0), None, &[]);
    assert_eq!(plain, run(Seed::new(1, 0), Some(Sampling::OnChange), &[]));
    assert_eq!(plain, run(Seed::new(1, 0), Some(Sampling::Every(Duration::from_millis(7))), &[]));
    assert_eq!(plain, run(Seed::new(1, 0), None, &[1, 59, 60, 60, 61, 5_000]));
}

#[test]
fn a_run_in_stretches_of_events_is_the_same_run() {
    let build = || {
        let config = clean(byte_a_millisecond(), Duration::from_millis(10), 5);
        let mut pair = Pair::with(&config, Seed::new(1, 0), |_, _| {});
        for tag in 0..20 {
            pair.send(millis(u64::from(tag) * 60), 100, tag);
        }
        pair.network
    };
    let mut whole = build();
    whole.run_until(millis(5_000));
    let mut stretched = build();
    let (mut stretches, before) = (0, stretched.events());
    while !stretched.run_at_most(3, millis(5_000)) {
        stretches += 1;
        assert_eq!(stretched.events(), before + 3 * stretches);
    }
    assert!(stretches > 5, "{stretches}");
    assert_eq!((stretched.digest(), stretched.now()), (whole.digest(), millis(5_000)));
}
