//! Queues against closed formulas: Poisson arrivals of packets of one length.

use slantpath_base::{DataRate, DataSize, Duration, Instant, Seed, Stream};
use slantpath_net::{
    DirectionConfig, DropReason, EndSystem, InterfaceId, LinkId, Network, NetworkBuilder, QueueConfig,
    QueueLimit, SendingConfig, ShaperConfig,
};
use slantpath_wire::Packet;

use crate::fixture::{address, packet};

/// Sends one packet again and again, at exponential intervals; or only receives.
struct Poisson {
    source: Option<(Stream, InterfaceId, Packet)>,
    mean: Duration,
    next: Instant,
}

impl EndSystem for Poisson {
    fn handle_packet(&mut self, _now: Instant, _interface: InterfaceId, _packet: &mut Packet) {}

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let (stream, interface, template) = self.source.as_mut()?;
        if self.next > now {
            return None;
        }
        self.next += stream.exponential(self.mean);
        packet.clone_from(template);
        Some(*interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.source.as_ref().map(|_| self.next)
    }
}

/// A packet of 1,000 bytes takes 1 ms.
const SERVICE: Duration = Duration::from_millis(1);

/// A link that serves packets so.
fn link(limit: QueueLimit) -> DirectionConfig {
    let rate = DataRate::from_bits_per_sec(8_000_000);
    DirectionConfig::new(rate, Duration::from_millis(250), QueueConfig::DropTail(limit))
}

/// A link a thousand times as fast, before which packets wait for tokens that come at that rate.
fn shaped_link(limit: QueueLimit) -> DirectionConfig {
    let link = link(limit);
    let sending = SendingConfig::Shaped(ShaperConfig { rate: link.rate, burst: DataSize::from_bytes(1_000) });
    let rate = DataRate::from_bits_per_sec(1_000 * link.rate.as_bits_per_sec());
    DirectionConfig { rate, sending, mtu_bytes: 1_000, ..link }
}

fn network(load: f64, config: DirectionConfig, seed: Seed) -> (Network<Poisson>, LinkId) {
    let mut builder = NetworkBuilder::new();
    let (first, second) = (builder.host("source"), builder.host("sink"));
    let link = builder.link("wire", first, second, config.clone(), config);
    builder.address(link.first(), address(1)).address(link.second(), address(2));
    let mean = Duration::from_secs_f64(SERVICE.as_secs_f64() / load);
    let packet = packet(address(1), address(2), 1_000, 0);
    let source = Some((seed.stream("hosts/source"), link.first(), packet));
    let hosts = vec![
        Poisson { source, mean, next: Instant::START },
        Poisson { source: None, mean, next: Instant::FAR_FUTURE },
    ];
    (Network::new(builder.build().expect("a sound plan"), seed, hosts), link)
}

/// Result of `measure` over 20 replications, each of a minute after one of warm-up: the mean, and half the width of its
/// 99 % interval by Student's t with 19 degrees of freedom.
fn replicate(
    load: f64,
    link: &DirectionConfig,
    measure: impl Fn(&mut Network<Poisson>, LinkId) -> f64,
) -> (f64, f64) {
    let outcomes: Vec<f64> = (0..20)
        .map(|run| {
            let (mut network, link) = network(load, link.clone(), Seed::new(2026, run));
            network.run_until(Instant::from_secs(60));
            network.restart_statistics();
            network.run_until(Instant::from_secs(120));
            measure(&mut network, link)
        })
        .collect();
    let mean = outcomes.iter().sum::<f64>() / 20.0;
    let variance = outcomes.iter().map(|outcome| (outcome - mean).powi(2)).sum::<f64>() / 19.0;
    (mean, 2.861 * (variance / 20.0).sqrt())
}

#[test]
fn mean_waiting_time_is_that_of_m_d_1() {
    let links = [link(QueueLimit::Unlimited), shaped_link(QueueLimit::Unlimited)];
    for (load, link) in
        [0.2, 0.5, 0.8].into_iter().flat_map(|load| links.iter().map(move |link| (load, link)))
    {
        let waiting_ms = |network: &mut Network<Poisson>, link: LinkId| {
            let statistics = network.queue_statistics(link.forward());
            let packets = network.counters(link.forward()).offered.packets as f64;
            statistics.mean_packets * statistics.span.as_millis_f64() / packets
        };
        let (mean, half_width) = replicate(load, link, waiting_ms);
        // Pollaczek and Khinchine with a constant service time.
        let exact = load / (2.0 * (1.0 - load)) * SERVICE.as_millis_f64();
        assert!((mean - exact).abs() < half_width, "load {load}: {mean} ± {half_width}, exactly {exact} ms");
        assert!(half_width < 0.05 * exact, "load {load}: the interval ± {half_width} says something");
    }
}

#[test]
fn the_transmitter_is_busy_as_much_as_is_offered() {
    let busy = |network: &mut Network<Poisson>, link: LinkId| {
        let statistics = network.queue_statistics(link.forward());
        statistics.busy.as_secs_f64() / statistics.span.as_secs_f64()
    };
    let (mean, half_width) = replicate(0.5, &link(QueueLimit::Unlimited), busy);
    assert!((mean - 0.5).abs() < half_width, "{mean} ± {half_width}");
}

#[test]
fn without_room_to_wait_packets_are_blocked_by_erlangs_formula() {
    for load in [0.3, 1.0, 3.0] {
        let blocked = |network: &mut Network<Poisson>, link: LinkId| {
            let counters = network.counters(link.forward());
            counters.dropped(DropReason::QueueFull).packets as f64 / counters.offered.packets as f64
        };
        let (mean, half_width) = replicate(load, &link(QueueLimit::Packets(0)), blocked);
        let exact = load / (1.0 + load);
        assert!((mean - exact).abs() < half_width, "load {load}: {mean} ± {half_width}, exactly {exact}");
    }
}
