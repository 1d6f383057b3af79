//! Streams under loss, duplication, reordering and damage, over many seeds.

use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_cc::Algorithm;
use slantpath_tcp::{
    DelayedAck, Event, LossDetection, LossRecovery, RttSampling, SackRecovery, TcpConfig, WindowLimit,
};
use slantpath_testkit::WireFaults;

use crate::pair::{Pair, pattern};

const SEEDS: u64 = 500;

fn chance(draw: f64, most: f64) -> Probability {
    Probability::new(draw * most).unwrap()
}

/// One random world: configurations, faults, amounts.
fn swarm(seed: u64) {
    let mut stream = Seed::new(seed, 0).stream("swarm");
    let mut pick = |count: u64| stream.below(count);
    let configs = [(); 2].map(|()| TcpConfig {
        mss_bytes: [100, 536, 1_000, 1_460][pick(4) as usize],
        window_limit: [None, Some(WindowLimit::Segments(30)), Some(WindowLimit::Bytes(5_000))]
            [pick(3) as usize],
        receive_buffer_bytes: [3_000, 20_000, 65_535, 1 << 20][pick(4) as usize],
        delayed_ack: [
            DelayedAck::Off,
            DelayedAck::EverySecondSegment { timeout: Duration::from_millis(200) },
        ][pick(2) as usize],
        sack: pick(3) > 0,
        timestamps: pick(3) == 0,
        window_scaling: pick(4) > 0,
        loss_recovery: [LossRecovery::NewReno, LossRecovery::Reno][pick(2) as usize],
        limited_transmit: pick(2) == 0,
        nagle: pick(3) == 0,
        rtt_sampling: [RttSampling::EveryAck, RttSampling::OncePerRoundTrip][pick(2) as usize],
        loss_detection: [LossDetection::Rfc6675, LossDetection::Rack][pick(2) as usize],
        sack_recovery: [SackRecovery::Rfc6675, SackRecovery::Proportional][pick(2) as usize],
        duplicate_reports: pick(2) == 0,
        congestion_control: [
            Algorithm::Standard,
            Algorithm::Cubic,
            Algorithm::Hybla,
            Algorithm::Bbr,
            Algorithm::Bbr3,
            Algorithm::Backlog,
            Algorithm::Westwood,
        ][pick(7) as usize],
        data_retransmission_limit: 40,
        ..TcpConfig::default()
    });
    let mut uniform = || stream.uniform();
    let hardness = uniform();
    let faults = WireFaults {
        delay: Duration::from_millis(5 + (uniform() * 300.0) as u64),
        loss: chance(uniform() * hardness, 0.25),
        duplication: chance(uniform() * hardness, 0.1),
        reordering: chance(uniform() * hardness, 0.3),
        extra_delay_max: Duration::from_millis(1 + (uniform() * 100.0) as u64),
        corruption: chance(uniform() * hardness, 0.05),
    };
    let amounts = [(uniform() * 200_000.0) as usize, (uniform() * 60_000.0) as usize];
    let mut pair = Pair::calling(seed, faults, configs[0], configs[1]);
    let connected = |pair: &Pair| pair.right.events.contains(&Event::Connected);
    while !connected(&pair) && pair.step() && pair.now < Instant::from_secs(1_000) {}
    if !connected(&pair) {
        assert!(
            pair.left.events.iter().any(|event| matches!(event, Event::Reset(_))),
            "seed {seed}: no connection, and no reason told",
        );
        return;
    }
    let streams = amounts.map(pattern);
    let chunk = 300 + (uniform() * 10_000.0) as usize;
    let mut at = [0, 0];
    let mut is_closed = [false, false];
    while pair.now < Instant::from_secs(40_000) {
        for (side, (stream, at)) in
            [&mut pair.left, &mut pair.right].into_iter().zip(streams.iter().zip(&mut at))
        {
            let Some(id) = side.id else { continue };
            let end = (*at + chunk).min(stream.len());
            if end > *at && side.endpoint.write(pair.now, id, stream.slice(*at..end)).is_ok() {
                *at = end;
            }
        }
        for (number, side) in [&mut pair.left, &mut pair.right].into_iter().enumerate() {
            if let Some(id) = side.id
                && at[number] == streams[number].len()
                && !is_closed[number]
            {
                let done =
                    side.events.contains(&Event::Connected) && side.endpoint.close(pair.now, id).is_ok();
                is_closed[number] = done;
            }
        }
        pair.drain();
        if !pair.step() {
            break;
        }
    }
    for (side, expected) in [(&pair.left, &streams[1]), (&pair.right, &streams[0])] {
        let context = || {
            format!(
                "seed {seed}: {} of {} bytes, {:?}, {:?} at {}",
                side.received.len(),
                expected.len(),
                side.events,
                side.id.map(|id| side.endpoint.snapshot(id)),
                pair.now
            )
        };
        let is_prefix = expected.starts_with(&side.received);
        assert!(is_prefix, "{}", context());
        let was_reset = side.events.iter().any(|event| matches!(event, Event::Reset(_)));
        assert!(was_reset || side.received.len() == expected.len(), "{}", context());
        assert!(was_reset || side.events.last() == Some(&Event::Closed), "{}", context());
        // Whose last ACK is lost may time out, but no stream may be cut off in this little loss.
        let peer_is_done = side.received.len() == expected.len();
        assert!(peer_is_done, "{}", context());
    }
}

#[test]
fn every_stream_arrives_whole_whatever_the_wires_do() {
    for seed in 0..SEEDS {
        swarm(seed);
    }
}
