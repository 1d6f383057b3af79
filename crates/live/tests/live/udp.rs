//! SCTP in UDP over the loopback: no privilege is needed.

use std::net::IpAddr;

use slantpath_base::{DataSize, Duration};
use slantpath_instruments::{LoadClientConfig, MessageClass, Workload};
use slantpath_live::record::Replay;
use slantpath_live::{Carriage, Live, OpenError, Peer, Reliability, SctpSendOptions, Station, host_of};

use crate::fixture::{
    PATIENCE, PORT, client, echo_station, every, free_udp_port, ip, ips, live_config, load, load_station,
    run, server, turn,
};

/// A server's carriage at these addresses, and a client's that leads there.
fn carriages(server: &[IpAddr]) -> [Carriage; 2] {
    let port = free_udp_port(server[0]);
    [Carriage::Udp { local_port: port, remote_port: 9 }, Carriage::Udp { local_port: 0, remote_port: port }]
}

#[test]
fn every_message_comes_back_once_over_ipv4_and_over_ipv6() {
    for [own, peer] in [["127.0.0.1", "127.0.0.1"], ["::1", "::1"]] {
        let (own, peer) = (ips(&[own]), ips(&[peer]));
        let [to_server, to_client] = carriages(&peer);
        let mut server = server(&peer, to_server).unwrap();
        let mut client = client(&own, &peer, to_client, &load(3_000, 1_000)).unwrap();
        let report = run(&mut server, &mut client, |_, _| {});
        assert_eq!((report.sent, report.echoed, report.foreign), (3_000, 3_000, 0), "{report:?}");
        assert_eq!(report.failures, Vec::<String>::new());
        assert!(report.latency.is_some() && report.throughput_bit_per_s > 0.0);
        let served = *server.host().program.report();
        assert_eq!((served.associations, served.messages, served.bytes), (1, 3_000, 3_000_000));
        let counters = client.counters();
        assert!(counters.receive_calls < counters.packets_received, "batches");
        assert!(counters.send_calls * 3 < counters.packets_sent, "segments: {counters:?}");
    }
}

#[test]
fn a_peer_that_comes_back_from_another_udp_port_is_served_whether_or_not_it_had_ended() {
    for address in ["127.0.0.1", "::1"] {
        let address = ips(&[address]);
        let [to_server, to_client] = carriages(&address);
        let mut server = server(&address, to_server).unwrap();
        let call = |config: &LoadClientConfig| client(&address, &address, to_client, config).unwrap();
        for _ in 0..2 {
            let mut client = call(&load(10, 100));
            let report = run(&mut server, &mut client, |_, _| {});
            assert_eq!((report.sent, report.echoed, report.failures.len()), (10, 10, 0), "{report:?}");
        }
        // One that dies with its association up.
        let config = LoadClientConfig { workload: every(Duration::from_millis(1), 100), ..load(1_000, 100) };
        let mut dying = call(&config);
        let last = dying.now().saturating_add(PATIENCE);
        while server.host().program.report().messages < 25 {
            assert!(dying.now() < last);
            turn(&mut server);
            dying.step(dying.now().saturating_add(Duration::from_micros(200))).unwrap();
        }
        drop(dying);
        let mut client = call(&load(10, 100));
        let report = run(&mut server, &mut client, |_, _| {});
        assert_eq!((report.sent, report.echoed, report.failures.len()), (10, 10, 0), "{report:?}");
        assert_eq!(server.host().host.sctp_stats().wrong_tags, 0);
    }
}

#[test]
fn messages_longer_than_a_packet_and_many_associations_share_one_udp_port() {
    let address = ips(&["127.0.0.1"]);
    let [to_server, to_client] = carriages(&address);
    let mut server = server(&address, to_server).unwrap();
    let config = LoadClientConfig { associations: 50, ..load(20, 20_000) };
    let mut client = client(&address, &address, to_client, &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!((report.sent, report.echoed), (1_000, 1_000), "{report:?}");
    assert_eq!(server.host().program.report().associations, 50);
}

#[test]
fn what_left_after_the_last_was_handed_over_is_counted_of_its_path() {
    let address = ips(&["127.0.0.1"]);
    let [to_server, to_client] = carriages(&address);
    let mut server = server(&address, to_server).unwrap();
    let config = LoadClientConfig { is_echoed: false, associations: 2, ..load(1_000, 1_000) };
    let mut client = client(&address, &address, to_client, &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!((report.sent, report.failures.len(), report.paths.len()), (2_000, 0, 1), "{report:?}");
    let path = &report.paths[0];
    assert_eq!(path.data_chunks - path.retransmissions, 1_000);
    assert_eq!(report.associations.len(), 2);
}

#[test]
fn two_addresses_at_each_end_are_two_paths() {
    let (own, peer) = (ips(&["127.0.1.2", "127.0.2.2"]), ips(&["127.0.1.1", "127.0.2.1"]));
    let [to_server, to_client] = carriages(&peer);
    let mut server = server(&peer, to_server).unwrap();
    let config = LoadClientConfig { workload: every(Duration::from_millis(1), 500), ..load(300, 500) };
    let mut client = client(&own, &peer, to_client, &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!((report.sent, report.echoed), (300, 300), "{report:?}");
    let paths: Vec<_> = report.paths.iter().map(|path| (path.source, path.destination, path.state)).collect();
    assert_eq!(paths, [(own[0], peer[0], "active"), (own[1], peer[1], "active")]);
}

/// Workloads whose messages differ: in size, in their intervals, in kind.
fn varied() -> [Workload; 3] {
    let bytes = DataSize::from_bytes;
    let ms = Duration::from_millis;
    let line = |number: u64| (Duration::from_micros(300 * number), bytes(16 + 997 * (number % 7)));
    let class = |stream, size, messages, interval, reliability| MessageClass {
        stream,
        message: bytes(size),
        messages,
        interval,
        options: SctpSendOptions { reliability, ..SctpSendOptions::default() },
        unordered: stream == 1,
    };
    let classes = vec![
        class(2, 5_000, 3, ms(7), Reliability::Full),
        class(0, 16, 1, ms(1), Reliability::Lifetime(Duration::from_secs(100))),
        class(1, 300, 2, ms(3), Reliability::Full),
    ];
    [
        Workload::Trace { messages: (0..500).map(line).collect() },
        Workload::Bursts { message: bytes(200), messages_per_burst: 4, interval: ms(1), jitter: ms(1) },
        Workload::Mixed { classes },
    ]
}

#[test]
fn messages_of_varying_sizes_instants_and_kinds_come_back_whole_and_are_sent_again_in_a_repetition() {
    let address = ips(&["127.0.0.1"]);
    for workload in varied() {
        let [to_server, to_client] = carriages(&address);
        let mut server = server(&address, to_server).unwrap();
        // A trace comes to an end by itself.
        let messages = (!workload.has_end()).then_some(500);
        let config = LoadClientConfig { workload, messages, ..load(0, 16) };
        let mut client = client(&address, &address, to_client, &config).unwrap();
        let report = run(&mut server, &mut client, |_, _| {});
        assert_eq!((report.sent, report.echoed, report.foreign), (500, 500, 0), "{report:?}");
        assert_eq!(server.host().program.report().bytes, report.sent_bytes);
        let (kinds, all): (Vec<_>, _) = (report.kinds.iter().map(|kind| kind.sent).collect(), 500);
        let classes = config.workload.classes();
        assert_eq!(kinds.len(), classes.len());
        if !classes.is_empty() {
            assert_eq!(kinds.iter().sum::<u64>(), all);
            let bytes = kinds.iter().zip(classes).map(|(count, class)| count * class.message.as_bytes());
            assert_eq!(bytes.sum::<u64>(), report.sent_bytes);
            assert!(report.kinds.iter().all(|kind| kind.echoed == kind.sent && kind.latency.is_some()));
        }
        let (record, live) = (client.take_record(), *client.digest().unwrap());
        let replay = Replay::new(&record).unwrap();
        let mut station = load_station(&address, &address, to_client, &config, replay.secret());
        assert_eq!(replay.run(&mut station, |station, now, _, _| station.stop(now)).unwrap(), live);
        let Station { mut host, program } = station;
        let again = program.report(&mut host, slantpath_base::Instant::FAR_FUTURE);
        assert_eq!((again.latency, again.kinds), (report.latency, report.kinds));
    }
}

#[test]
fn both_ends_of_a_run_are_repeated_in_virtual_time_packet_for_packet() {
    let (own, peer) = (ips(&["127.0.1.2", "127.0.2.2"]), ips(&["127.0.1.1", "127.0.2.1"]));
    let [to_server, to_client] = carriages(&peer);
    let mut server = server(&peer, to_server).unwrap();
    let config = LoadClientConfig { workload: every(Duration::from_micros(300), 700), ..load(2_000, 700) };
    let mut client = client(&own, &peer, to_client, &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    let (record, live) = (client.take_record(), *client.digest().unwrap());
    assert!(live.packets() > 200, "{live}");

    let replay = Replay::new(&record).unwrap();
    let mut station = load_station(&own, &peer, to_client, &config, replay.secret());
    let stop = |station: &mut Station<_>, now, _, _: &[u8]| station.stop(now);
    assert_eq!(replay.run(&mut station, stop).unwrap(), live);
    let Station { mut host, program } = station;
    let now = slantpath_base::Instant::FAR_FUTURE;
    let again = program.report(&mut host, now);
    assert_eq!(
        (again.latency, again.longest_gap, again.span),
        (report.latency, report.longest_gap, report.span)
    );

    let (record, live) = (server.take_record(), *server.digest().unwrap());
    let replay = Replay::new(&record).unwrap();
    let mut station = echo_station(&peer, to_server, replay.secret());
    assert_eq!(replay.run(&mut station, |station, now, _, _| station.stop(now)).unwrap(), live);
    assert_eq!(station.program.report(), server.host().program.report());

    // Another secret, another run.
    let mut other = load_station(&own, &peer, to_client, &load(2_000, 700), [1; 32]);
    let replayed = Replay::new(&record).unwrap().run(&mut other, |_, _, _, _| {}).unwrap();
    assert_ne!(replayed, *client.digest().unwrap());
}

#[test]
fn what_cannot_be_opened_is_said_by_name() {
    let address = ip("127.0.0.1");
    let port = free_udp_port(address);
    let udp = Carriage::Udp { local_port: port, remote_port: 9_899 };
    let _first = server(&[address], udp).unwrap();
    let error = server(&[address], udp).unwrap_err();
    assert!(
        matches!(error, OpenError::PortInUse { protocol: "UDP", port: used, .. } if used == port),
        "{error}"
    );
    let error = server(&ips(&["192.0.2.77"]), udp).unwrap_err();
    assert!(error.to_string().starts_with("192.0.2.77 is no address of this machine; it has "), "{error}");
    let unused = live_config(&[], udp, &[]);
    assert!(matches!(Live::open(&unused, host_of(&[])).unwrap_err(), OpenError::NoAddress));
}

#[test]
fn a_peer_where_nobody_listens_is_told_at_once() {
    let address = ips(&["127.0.0.1"]);
    let [to_server, to_client] = carriages(&address);
    let mut server = server(&address, to_server).unwrap();
    let mut config = load(1, 100);
    config.port.peer = Some(Peer { addresses: address.clone(), port: PORT + 1 });
    let mut client = client(&address, &address, to_client, &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!(report.failures, ["nobody takes associations at that port of the server"]);
    assert_eq!(server.host().host.sctp_stats().out_of_the_blue, 1);
}
