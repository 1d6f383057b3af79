use super::*;
use proptest::prelude::*;
use slantpath_base::Seed;

const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Discovery up to 9,000 bytes over a path that carries `mtu`, until it rests, or for ten minutes.
fn over(mtu: u16, is_reported: bool, destination: IpAddr, lost: &[bool]) -> Discovery {
    let config = SctpConfig { max_path_mtu: 9_000, ..SctpConfig::default() };
    let mut discovery = Discovery::new(destination, &config);
    let mut random = Seed::new(1, 0).stream("discovery");
    let mut lost = lost.iter().copied();
    let mut now = Instant::START;
    discovery.start();
    while discovery.state() != DiscoveryState::Complete && now < Instant::from_secs(600) {
        if let Some(probe) = discovery.send(now, ROUND_TRIP, &mut random) {
            assert!(probe.size % 4 == 0 && probe.size >= discovery.plpmtu());
            if lost.next().unwrap_or(false) {
                continue;
            }
            now += ROUND_TRIP;
            if probe.size <= mtu {
                assert!(discovery.on_answered(now, probe.nonce).is_some());
                assert_eq!(discovery.plpmtu(), probe.size);
            } else if is_reported {
                discovery.on_too_big(now, mtu);
            }
        } else {
            now = discovery.deadline().expect("it goes on");
            discovery.handle_deadline(now, Some(now));
        }
    }
    discovery
}

fn v4() -> IpAddr {
    [192, 0, 2, 1].into()
}

proptest! {
    /// Whatever a path carries, and whichever single probes are lost, what is found passes and is as good as all
    /// of it.
    #[test]
    fn what_is_found_passes_and_little_more_would(
        mtu in 1_200_u16..9_100,
        is_reported: bool,
        lost in proptest::collection::vec(any::<bool>(), 0..20),
    ) {
        // Of three probes of a size one gets through.
        let lost: Vec<bool> = lost.chunks(2).flat_map(|pair| pair.iter().copied().chain([false])).collect();
        let discovery = over(mtu, is_reported, v4(), &lost);
        let most = mtu.min(9_000);
        prop_assert_eq!(discovery.state(), DiscoveryState::Complete);
        prop_assert!(discovery.plpmtu() <= most, "{} over {}", discovery.plpmtu(), mtu);
        prop_assert!(most - discovery.plpmtu() < LEAST_GAIN + 4, "{} over {}", discovery.plpmtu(), mtu);
        prop_assert!(discovery.probes_sent <= 60, "{} probes", discovery.probes_sent);
    }

    /// Nothing that comes, in whatever order, leaves the sizes out of their bounds or the machine without a next
    /// step.
    #[test]
    fn any_events_leave_the_sizes_in_their_bounds(
        events in proptest::collection::vec((0_u8..6, any::<u16>(), 0_u64..5_000), 0..200),
        is_v6: bool,
    ) {
        let destination = if is_v6 { IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]) } else { v4() };
        let mut discovery = Discovery::new(destination, &SctpConfig::default());
        let mut random = Seed::new(1, 0).stream("discovery");
        let (mut now, mut nonce) = (Instant::START, 0);
        for (event, value, wait) in events {
            now += Duration::from_millis(wait);
            match event {
                0 => discovery.start(),
                1 => drop(discovery.on_answered(now, nonce)),
                2 => drop(discovery.on_too_big(now, value)),
                3 => {
                    let long = if value % 2 == 0 { Long::AboveBase } else { Long::UpToBase };
                    discovery.on_long_lost(now, now, long);
                }
                4 if value % 16 == 0 => discovery.stop(),
                4 if value % 16 == 1 => discovery.fail(),
                _ => discovery.handle_deadline(now, Some(now)),
            }
            if let Some(probe) = discovery.send(now, ROUND_TRIP, &mut random) {
                nonce = probe.nonce;
                prop_assert!((discovery.least..=discovery.most).contains(&probe.size));
            }
            prop_assert!((discovery.least..=discovery.most).contains(&discovery.plpmtu));
            let rests = discovery.state() == DiscoveryState::Disabled || discovery.plpmtu == discovery.most;
            prop_assert!(rests || discovery.deadline().is_some(), "{:?}", discovery);
        }
    }
}

#[test]
fn a_path_below_the_base_size_is_found_if_icmp_tells_and_else_an_error() {
    let found = |mtu, is_reported| {
        let discovery = over(mtu, is_reported, v4(), &[]);
        (discovery.state(), discovery.plpmtu(), discovery.is_cut())
    };
    assert_eq!(found(1_003, true), (DiscoveryState::Complete, 1_000, false));
    assert_eq!(found(1_003, false), (DiscoveryState::Error, 576, true));
    assert_eq!(found(400, true), (DiscoveryState::Error, 576, true));
}

#[test]
fn losses_beside_the_probes_of_the_base_size_do_not_keep_them_from_an_answer() {
    let mut discovery = Discovery::new(v4(), &SctpConfig::default());
    let mut random = Seed::new(1, 0).stream("discovery");
    discovery.start();
    for second in 1..=3 {
        let now = Instant::from_secs(second);
        assert!(discovery.send(now, ROUND_TRIP, &mut random).is_some());
        let deadline = discovery.deadline().unwrap();
        assert!(!discovery.on_long_lost(deadline, now, Long::UpToBase));
        discovery.handle_deadline(deadline, Some(now));
    }
    assert_eq!(
        (discovery.state(), discovery.plpmtu(), discovery.black_holes),
        (DiscoveryState::Error, 576, 0)
    );
}

#[test]
fn a_probe_in_the_error_state_waits_twice_as_long_each_time() {
    let discovery = over(400, false, v4(), &[]);
    // Three of BASE, then after 2, 4, 8, ... 512 s.
    assert_eq!(discovery.probes_sent, 3 + 9);
}
