//! SCTP in IP, on raw sockets in network namespaces: skipped, loudly, without root.

use std::net::IpAddr;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use slantpath_base::Duration;
use slantpath_instruments::{LoadClientConfig, LoadReport, PathReport};
use slantpath_live::record::{Recorder, Replay};
use slantpath_live::{
    Binding, Carriage, Extension, Extensions, Live, LiveConfig, OpenError, Program as _, SctpConfig,
    SocketId, Station, Woken,
};
use slantpath_sctp::PathState;

use crate::fixture::{
    PATIENCE, PORT, client, client_with, echo_station_with, every, ips, live_config, load, load_station_with,
    run, sctp, server, server_with, turn,
};
use crate::namespaces::Namespaces;

/// A load over these addresses: the client's end of each link is the first.
fn over(
    namespaces: &Namespaces,
    links: &[&str],
    carriage: [Carriage; 2],
    config: &LoadClientConfig,
) -> LoadReport {
    let own: Vec<String> = links.iter().map(|link| link.replace('*', "1")).collect();
    let peer: Vec<String> = links.iter().map(|link| link.replace('*', "2")).collect();
    let [own, peer] = [own, peer].map(|all| ips(&all.iter().map(String::as_str).collect::<Vec<_>>()));
    namespaces.enter(1);
    let mut server = server(&peer, carriage[1]).unwrap();
    namespaces.enter(0);
    let mut client = client(&own, &peer, carriage[0], config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!(client.counters().packets_not_sent, 0);
    report
}

const RAW: [Carriage; 2] = [Carriage::Raw, Carriage::Raw];

/// The addresses of the client's end and of the server's on these links, in each version: what one hears, finds and
/// loses, the other does.
fn versions(links: &[usize]) -> [[Vec<IpAddr>; 2]; 2] {
    [false, true].map(|is_v6| {
        [1, 2].map(|end| {
            let address = |link: &usize| {
                let text = if is_v6 { format!("fd82:{link}::{end}") } else { format!("10.82.{link}.{end}") };
                text.parse().unwrap()
            };
            links.iter().map(address).collect()
        })
    })
}

#[test]
fn every_message_comes_back_once_over_ipv4_ipv6_and_both_at_once() {
    let Some(namespaces) = Namespaces::new("raw", 1) else { return };
    for links in [&["10.82.0.*"][..], &["fd82:0::*"], &["10.82.0.*", "fd82:0::*"]] {
        let report = over(&namespaces, links, RAW, &load(2_000, 3_000));
        assert_eq!((report.sent, report.echoed, report.foreign), (2_000, 2_000, 0), "{links:?}: {report:?}");
        assert_eq!(report.paths.len(), links.len());
        assert!(report.paths.iter().all(|path| path.state == "active"), "{report:?}");
    }
}

#[test]
fn a_packet_longer_than_the_link_is_cut_by_what_the_system_says_of_the_link() {
    let Some(namespaces) = Namespaces::new("mtu", 1) else { return };
    namespaces.set_link_mtu(0, 1_300);
    for (carriage, mtu) in [(RAW, 1_300), (UDP, 1_292)] {
        for link in ["10.82.0.*", "fd82:0::*"] {
            let report = over(&namespaces, &[link], carriage, &load(200, 5_000));
            assert_eq!((report.sent, report.echoed), (200, 200), "{link}: {report:?}");
            assert_eq!(report.paths[0].mtu_bytes, mtu, "{link}, {carriage:?}");
        }
    }
}

/// SCTP in UDP, to a port that the server has to learn.
const UDP: [Carriage; 2] = [
    Carriage::Udp { local_port: 40_000, remote_port: 9_899 },
    Carriage::Udp { local_port: 9_899, remote_port: 9_899 },
];
/// The ends of a network with a router, in both versions.
const ROUTED: [[&str; 2]; 2] = [["10.83.1.1", "10.83.2.1"], ["fd83:1::1", "fd83:2::1"]];

#[test]
fn a_packet_longer_than_a_link_behind_a_router_is_cut_by_what_the_router_says() {
    let Some(namespaces) = Namespaces::routed("router", 1_300) else { return };
    for (carriage, mtu) in [(RAW, 1_300), (UDP, 1_292)] {
        for ends in ROUTED {
            let [own, peer] = ends.map(|end| ips(&[end]));
            namespaces.enter(1);
            let mut server = server(&peer, carriage[1]).unwrap();
            namespaces.enter(0);
            let mut client = client(&own, &peer, carriage[0], &load(100, 5_000)).unwrap();
            let report = run(&mut server, &mut client, |_, _| {});
            assert_eq!((report.sent, report.echoed), (100, 100), "{ends:?}, {carriage:?}: {report:?}");
            assert_eq!(report.paths[0].mtu_bytes, mtu, "{ends:?}, {carriage:?}");
            assert!(client.counters().reports > 0);
        }
    }
}

#[test]
fn who_is_called_where_nobody_can_be_is_told_by_whoever_knows_in_both_versions() {
    let Some(namespaces) = Namespaces::routed("nobody", 1_500) else { return };
    namespaces.enter(0);
    // Nobody has the address, and a kernel has nobody for protocol 132.
    for (ends, nobody) in ROUTED.into_iter().zip(["10.83.2.9", "fd83:2::9"]) {
        for peer in [nobody, ends[1]] {
            let config = LoadClientConfig { patience: Duration::from_secs(20), ..load(1, 100) };
            let mut client = client(&ips(&ends[..1]), &ips(&[peer]), Carriage::Raw, &config).unwrap();
            let last = client.now().saturating_add(Duration::from_secs(60));
            while client.counters().reports == 0 {
                assert!(client.now() < last, "nothing was heard of {peer}");
                client.step(client.now().saturating_add(Duration::from_millis(1))).unwrap();
            }
            if peer != nobody {
                client.step(client.now()).unwrap();
                assert!(client.host().program.is_over(), "{peer}");
            }
        }
    }
}

#[test]
fn a_link_of_less_than_576_bytes_gets_packets_in_pieces() {
    let Some(namespaces) = Namespaces::new("small", 1) else { return };
    for mtu in [300, 100] {
        namespaces.set_link_mtu(0, mtu);
        for carriage in [RAW, UDP] {
            let report = over(&namespaces, &["10.82.0.*"], carriage, &load(20, 5_000));
            assert_eq!((report.sent, report.echoed), (20, 20), "{mtu}, {carriage:?}: {report:?}");
        }
    }
}

#[test]
fn the_primarys_own_link_goes_down_and_the_other_path_takes_over() {
    for [own, peer] in versions(&[0, 1]) {
        let Some(namespaces) = Namespaces::new("failover", 2) else { return };
        namespaces.enter(1);
        // Both ends see the link go. Time-outs alone would never end a path, and carry a few messages each.
        let rto = Duration::from_secs(5);
        let sctp = || SctpConfig {
            rto_initial: rto,
            rto_min: rto,
            rto_max: rto,
            path_max_retrans: 100,
            ..sctp(Carriage::Raw)
        };
        let station = echo_station_with(sctp(), &peer, slantpath_live::secret().unwrap());
        let mut server = Live::open(&live_config(&peer, Carriage::Raw, &[PORT]), station).unwrap();
        namespaces.enter(0);
        let config = LoadClientConfig { workload: every(Duration::from_millis(2), 400), ..load(2_000, 400) };
        let mut client = client_with(sctp(), &own, &peer, Carriage::Raw, &config).unwrap();
        let mut is_down = false;
        let report = run(&mut server, &mut client, |_, client| {
            if !is_down && client.host().program.progress().1 > 300 {
                is_down = true;
                namespaces.set_link(0, "down");
            }
        });
        assert_eq!((report.sent, report.echoed, report.foreign), (2_000, 2_000, 0), "{report:?}");
        assert_eq!(report.failures, Vec::<String>::new());
        let first = report.path_events.iter().find(|(_, address, _)| *address == peer[0]);
        assert!(first.is_some(), "{report:?}");
        // Our own link has gone: no answer was waited for, but an answered packet was the last.
        assert_eq!(report.failovers, 1, "{report:?}");
        let (took, at) = report.longest_failover.expect("a packet that was answered");
        assert!(took < at && at <= report.span, "{report:?}");
    }
}

#[test]
fn a_full_buffer_loses_packets_and_ends_no_association() {
    for [own, peer] in versions(&[0]) {
        let Some(namespaces) = Namespaces::new("full", 1) else { return };
        namespaces.enter(1);
        let mut server = server_with(&peer, Carriage::Raw, 4_096).unwrap();
        namespaces.enter(0);
        let mut client = client(&own, &peer, Carriage::Raw, &load(3_000, 100)).unwrap();
        let report = run(&mut server, &mut client, |_, client| {
            // More is sent than the server's buffer holds before it has its turn.
            for _ in 0..20 {
                let now = client.now();
                client.step(now).unwrap();
            }
        });
        assert_eq!((report.sent, report.echoed), (3_000, 3_000), "{report:?}");
        assert_eq!((client.counters().reports, report.failures.len()), (0, 0));
        turn(&mut server);
    }
}

#[test]
fn an_sctp_port_is_one_programs_and_a_packet_to_anothers_is_left_to_it() {
    for [own, peer] in versions(&[0]) {
        let Some(namespaces) = Namespaces::new("ports", 1) else { return };
        namespaces.enter(1);
        let mut first = server(&peer, Carriage::Raw).unwrap();
        let error = server(&peer, Carriage::Raw).unwrap_err();
        assert!(matches!(error, OpenError::PortInUse { protocol: "SCTP", .. }), "{error}");
        // Another program at the same address, with another port: it sees every packet, too.
        let other_config = load(1, 100);
        let mut other = client(&peer, &own, Carriage::Raw, &other_config).unwrap();
        namespaces.enter(0);
        let config = LoadClientConfig {
            port: slantpath_live::ProgramConfig { local_port: 30_000, ..load(1, 1).port },
            ..load(500, 100)
        };
        let mut client = client(&own, &peer, Carriage::Raw, &config).unwrap();
        namespaces.enter(1);
        let report = run(&mut first, &mut client, |_, _| {
            let now = other.now();
            other.step(now).unwrap();
        });
        assert_eq!((report.sent, report.echoed, report.failures.len()), (500, 500, 0), "{report:?}");
        assert!(other.counters().packets_of_others > 0);
        // A port that a host leaves is free for others, and for itself.
        first.remove_port(PORT);
        let mut next = server(&peer, Carriage::Raw).unwrap();
        assert!(matches!(first.add_port(PORT), Err(OpenError::PortInUse { .. })));
        next.remove_port(PORT);
        first.add_port(PORT).unwrap();
    }
}

#[test]
fn what_is_of_no_port_is_answered_by_one_program_and_after_its_end_by_the_other() {
    for [own, peer] in versions(&[0]) {
        let Some(namespaces) = Namespaces::new("answers", 1) else { return };
        namespaces.enter(1);
        let first = server(&peer, Carriage::Raw).unwrap();
        // At another port.
        let mut second = client(&peer, &own, Carriage::Raw, &load(1, 100)).unwrap();
        drop(first);
        namespaces.enter(0);
        let mut config = load(1, 100);
        config.port.local_port = 30_000;
        let mut client = client(&own, &peer, Carriage::Raw, &config).unwrap();
        let last = client.now().saturating_add(PATIENCE);
        while !client.host().program.is_over() {
            assert!(client.now() < last, "nobody answers");
            second.step(second.now()).unwrap();
            client.step(client.now().saturating_add(Duration::from_micros(200))).unwrap();
        }
        assert_eq!(second.host().host.sctp_stats().out_of_the_blue, 1);
    }
}

#[test]
fn an_address_that_goes_is_said_at_once_and_what_was_under_way_takes_the_other_path() {
    for [own, peer] in versions(&[0, 1]) {
        let Some(namespaces) = Namespaces::new("gone", 2) else { return };
        namespaces.enter(1);
        let mut server = server(&peer, Carriage::Raw).unwrap();
        namespaces.enter(0);
        let config = LoadClientConfig { workload: every(Duration::from_millis(2), 400), ..load(1_500, 400) };
        let mut client = client(&own, &peer, Carriage::Raw, &config).unwrap();
        let mut told = Vec::new();
        let mut step = 0;
        let report = run(&mut server, &mut client, |_, client| {
            told.extend(std::iter::from_fn(|| client.poll_change()).map(|change| change.to_string()));
            let back = client.host().program.progress().1;
            if (step, back) == (0, back.max(200)) {
                step = 1;
                namespaces.set_address(own[0], 0, "del");
            } else if (step, back) == (1, back.max(1_000)) {
                step = 2;
                namespaces.set_address(own[0], 0, "add");
            } else if (step, back) == (2, back.max(1_300)) {
                step = 3;
                namespaces.set_link(1, "down");
            }
        });
        assert_eq!((report.sent, report.echoed, report.foreign), (1_500, 1_500, 0), "{report:?}");
        // The namespace's links may have come up after the client began.
        let since: Vec<_> = told.iter().skip_while(|change| !change.contains(" is no longer ")).collect();
        let [gone, back, down] = &since[..] else { panic!("{told:?}") };
        assert!(gone.starts_with(&format!("{} is no longer an address of this machine: ", own[0])), "{gone}");
        assert!(back.starts_with(&format!("{} is back", own[0])), "{back}");
        assert!(down.starts_with(&format!("the link of {} is down: ", own[1])), "{down}");
    }
}

#[test]
fn a_link_that_is_back_is_asked_at_once_and_so_again_in_a_repetition() {
    for [own, peer] in versions(&[0, 1]) {
        let Some(namespaces) = Namespaces::new("back", 2) else { return };
        namespaces.enter(1);
        let mut server = server(&peer, Carriage::Raw).unwrap();
        namespaces.enter(0);
        // The first time-out ends a path, and no HEARTBEAT of its own ever brings it back.
        let sctp = || SctpConfig {
            path_max_retrans: 0,
            heartbeat_interval: Some(Duration::from_secs(3_600)),
            ..sctp(Carriage::Raw)
        };
        let config = LoadClientConfig { workload: every(Duration::from_millis(2), 400), ..load(1_500, 400) };
        let mut client = client_with(sctp(), &own, &peer, Carriage::Raw, &config).unwrap();
        let mut step = 0;
        let report = run(&mut server, &mut client, |_, client| {
            let now = client.now();
            let Station { host, program } = client.host_mut();
            let state = host.sctp_paths(now, SocketId(0)).first().map(|path| path.state);
            if step == 0 && program.progress().1 > 200 {
                step = 1;
                namespaces.set_link(0, "down");
            } else if step == 1 && state == Some(PathState::Inactive) {
                step = 2;
                namespaces.set_link(0, "up");
            } else if step == 2 && state == Some(PathState::Active) {
                step = 3;
            }
        });
        assert_eq!((report.sent, report.echoed, step), (1_500, 1_500, 3), "{report:?}");

        let (record, live) = (client.take_record(), *client.digest().unwrap());
        let replay = Replay::new(&record).unwrap();
        let mut station = load_station_with(sctp(), &own, &peer, &config, replay.secret());
        assert_eq!(replay.run(&mut station, |station, now, _, _| station.stop(now)).unwrap(), live);
    }
}

#[test]
fn an_address_that_comes_later_is_added_and_one_that_goes_deleted_and_so_again_in_a_repetition() {
    for [servers, clients] in versions(&[0, 1]) {
        let Some(namespaces) = Namespaces::new("later", 2) else { return };
        comes_later_and_goes(&namespaces, &servers, &clients);
    }
}

/// The server begins with the first of its addresses.
fn comes_later_and_goes(namespaces: &Namespaces, servers: &[IpAddr], own: &[IpAddr]) {
    namespaces.set_address(servers[1], 1, "del");
    let [peer, later] = [vec![servers[0]], vec![servers[1]]];
    let udp = [
        Carriage::Udp { local_port: 9_899, remote_port: 9_899 },
        Carriage::Udp { local_port: 40_000, remote_port: 9_899 },
    ];
    for carriage in [RAW, udp] {
        let sctp = |end: usize| SctpConfig {
            extensions: Extensions::of(&[Extension::DynamicAddresses, Extension::Authentication]),
            ..sctp(carriage[end])
        };
        namespaces.enter(0);
        let key = slantpath_live::secret().unwrap();
        let station = echo_station_with(sctp(0), &peer, key);
        let config = live_config(&peer, carriage[0], &[PORT]);
        let config = LiveConfig { binding: Binding::AllOfMachine, ..config };
        let mut server = Live::open(&config, station).unwrap();
        server.record(Recorder::new(key));
        let readiness = server.readiness().unwrap();
        namespaces.enter(1);
        let config = LoadClientConfig { workload: every(Duration::from_millis(2), 400), ..load(3_000, 400) };
        let mut client = client_with(sctp(1), own, &peer, carriage[1], &config).unwrap();
        // Where the server opens another socket.
        namespaces.enter(0);
        let mut told = Vec::new();
        let mut step = 0;
        let report = run(&mut server, &mut client, |server, client| {
            told.extend(std::iter::from_fn(|| server.poll_change()).map(|change| change.to_string()));
            let now = client.now();
            let Station { host, program } = client.host_mut();
            let paths = host.sctp_paths(now, SocketId(0));
            let destinations: Vec<_> = paths.iter().map(|path| path.destination).collect();
            let are_active = paths.iter().all(|path| path.state == PathState::Active);
            if step == 0 && program.progress().1 > 200 {
                step = 1;
                namespaces.set_address(servers[1], 1, "add");
            } else if step == 1 && are_active && destinations == [peer[0], later[0]] {
                step = 2;
                namespaces.set_address(servers[0], 0, "del");
            } else if step == 2 && destinations == later {
                step = 3;
                namespaces.set_address(servers[0], 0, "add");
            } else if step == 3 && are_active && destinations == [later[0], peer[0]] {
                step = 4;
            }
        });
        assert_eq!(
            (report.sent, report.echoed, step),
            (3_000, 3_000, 4),
            "{carriage:?}: {told:?} {report:?}"
        );
        // The links of the namespace, and what IPv6 has there, may have come up after the server began.
        let of_test =
            told.iter().filter(|change| servers.iter().any(|own| change.contains(&own.to_string())));
        let since: Vec<_> = of_test.skip_while(|change| !change.contains(" is new")).collect();
        let [added, gone, back] = &since[..] else { panic!("{told:?}") };
        assert!(back.starts_with(&format!("{} is back", servers[0])), "{back}");
        assert_eq!(**added, format!("{} is new, and is used from now on", servers[1]));
        assert!(
            gone.starts_with(&format!("{} is no longer an address of this machine: ", servers[0])),
            "{gone}"
        );

        let error = crate::fixture::server(&later, carriage[0]).unwrap_err();
        assert!(matches!(error, OpenError::PortInUse { .. }), "{error}");
        namespaces.enter(1);
        // Who calls the address that has come is taken in, by an event loop that was there before as well.
        let config = LoadClientConfig {
            port: slantpath_live::ProgramConfig { local_port: 30_000, ..load(1, 1).port },
            ..load(100, 400)
        };
        let carriage = [
            carriage[0],
            match carriage[1] {
                Carriage::Raw => Carriage::Raw,
                Carriage::Udp { remote_port, .. } => Carriage::Udp { local_port: 40_001, remote_port },
            },
        ];
        let mut second = client_with(sctp(1), own, &later, carriage[1], &config).unwrap();
        while server.turn().unwrap() == Woken::Worked {}
        let now = second.now();
        second.step(now).unwrap();
        let mut waits = [PollFd::new(&readiness, PollFlags::IN)];
        assert_eq!(poll(&mut waits, Some(&Timespec { tv_sec: 60, tv_nsec: 0 })), Ok(1));
        let report = run(&mut server, &mut second, |_, _| {});
        assert_eq!((report.sent, report.echoed), (100, 100), "{report:?}");

        let (record, live) = (server.take_record(), *server.digest().unwrap());
        let replay = Replay::new(&record).unwrap();
        let mut station = echo_station_with(sctp(0), &peer, replay.secret());
        assert_eq!(replay.run(&mut station, |station, now, _, _| station.stop(now)).unwrap(), live);
        namespaces.set_address(servers[1], 1, "del");
    }
}

/// The pairs of addresses that the paths of a client with these addresses take, in a run that is repeated.
fn pairs(namespaces: &Namespaces, own: &[&str], peer: &[&str], carriage: [Carriage; 2]) -> Vec<[String; 2]> {
    let (own, peer) = (ips(own), ips(peer));
    namespaces.enter(1);
    let mut server = server(&peer, carriage[1]).unwrap();
    namespaces.enter(0);
    let config = load(50, 400);
    let mut client = client(&own, &peer, carriage[0], &config).unwrap();
    let report = run(&mut server, &mut client, |_, _| {});
    assert_eq!((report.sent, report.echoed), (50, 50), "{report:?}");
    let (record, live) = (client.take_record(), *client.digest().unwrap());
    let replay = Replay::new(&record).unwrap();
    let mut station = load_station_with(sctp(carriage[0]), &own, &peer, &config, replay.secret());
    assert_eq!(replay.run(&mut station, |station, now, _, _| station.stop(now)).unwrap(), live);
    let pair = |path: &PathReport| [path.source, path.destination].map(|address| address.to_string());
    report.paths.iter().map(pair).collect()
}

#[test]
fn paths_leave_from_where_the_routes_lead_and_from_different_addresses_as_far_as_they_can() {
    let Some(namespaces) = Namespaces::new("routes", 2) else { return };
    // An address of the server's that the prefixes would have reached by the first link, and the routes by the second.
    namespaces.ip(1, "address add 10.83.0.2/32 dev lo");
    namespaces.ip(0, "route add 10.83.0.2 via 10.82.1.2");
    namespaces.ip(1, "address add fd83::2/128 dev lo nodad");
    namespaces.ip(0, "-6 route add fd83::2 via fd82:1::2");
    // Two more addresses at the first link.
    namespaces.ip(0, "address add 10.82.0.3/24 dev v0");
    namespaces.ip(1, "address add 10.82.0.4/24 dev v0");
    for carriage in [RAW, UDP] {
        let found = pairs(&namespaces, &["10.82.0.1", "10.82.1.1"], &["10.83.0.2"], carriage);
        assert_eq!(found, [["10.82.1.1", "10.83.0.2"]], "{carriage:?}");
        let found = pairs(&namespaces, &["fd82:0::1", "fd82:1::1"], &["fd83::2"], carriage);
        assert_eq!(found, [["fd82:1::1", "fd83::2"]], "{carriage:?}");
        // The routes have the first for both, and lead from the second as well.
        let (own, peer) = (["10.82.0.1", "10.82.0.3"], ["10.82.0.2", "10.82.0.4"]);
        let found = pairs(&namespaces, &own, &peer, carriage);
        assert_eq!(found, [["10.82.0.1", "10.82.0.2"], ["10.82.0.3", "10.82.0.4"]], "{carriage:?}");
        // What the routes have decides, and neither the prefixes nor the order.
        let found = pairs(&namespaces, &["10.82.0.3", "10.82.0.1"], &["10.82.0.2"], carriage);
        assert_eq!(found, [["10.82.0.1", "10.82.0.2"]], "{carriage:?}");
        // Both by the second link: from the first nothing leads there, and the sources cannot differ.
        let peer = ["10.82.1.2", "10.83.0.2"];
        let found = pairs(&namespaces, &["10.82.0.1", "10.82.1.1"], &peer, carriage);
        assert_eq!(found, [["10.82.1.1", "10.82.1.2"], ["10.82.1.1", "10.83.0.2"]], "{carriage:?}");
        // A rule for what bears the first address makes it a way of its own.
        namespaces.ip(0, "rule add from 10.82.0.1 table 100");
        namespaces.ip(0, "route add 10.83.0.2 via 10.82.0.2 table 100");
        let found = pairs(&namespaces, &["10.82.0.1", "10.82.1.1"], &peer, carriage);
        assert_eq!(found, [["10.82.1.1", "10.82.1.2"], ["10.82.0.1", "10.83.0.2"]], "{carriage:?}");
        namespaces.ip(0, "rule del from 10.82.0.1 table 100");
        namespaces.ip(0, "route flush table 100");
    }
}

#[test]
fn raw_sockets_without_the_privilege_are_refused_with_what_to_grant() {
    let Some(namespaces) = Namespaces::new("privilege", 1) else { return };
    namespaces.enter(0);
    // This thread's own: another user has none of root's privileges.
    let nobody = rustix::thread::Uid::from_raw(65_534);
    let error = std::thread::scope(|scope| {
        let as_nobody = scope.spawn(move || {
            rustix::thread::set_thread_uid(nobody).unwrap();
            server(&ips(&["10.82.0.1"]), Carriage::Raw).unwrap_err()
        });
        as_nobody.join().unwrap()
    });
    assert!(matches!(error, OpenError::NoPrivilege { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("sudo setcap cap_net_raw+ep ") && text.contains("(--udp) needs no privilege"),
        "{text}"
    );
    assert!(!text.contains('\n'));
}
