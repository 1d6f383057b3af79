//! Flows and sessions that cannot be opened, or are refused a message: they end, and the first reason is told.

use slantpath_applications::record::SessionRecords;
use slantpath_applications::{
    Flows, Host, HostSessions, RequestsConfig, SessionArrivals, SessionLoad, SessionSizes,
};
use slantpath_base::{Duration, Instant, Seed};
use slantpath_host::{Peer, Protocol, TransportConfig};
use slantpath_interface::{EndSystem, InterfaceId};
use slantpath_sctp::SctpConfig;
use slantpath_wire::Packet;

use crate::fixture::{addresses, bulk, direction, run, sender};
use crate::requests::{requests, second};
use crate::sessions::{MESSAGE, PORT, Server, source, transport, world_of};
use crate::{sctp, tcp};

/// Work of sessions that send, and of those that ask, with its server.
fn works() -> [(Option<RequestsConfig>, Server); 2] {
    [(None, Server::Receives), (Some(requests(1, second())), Server::Answers)]
}

/// A message at each interval.
fn every(interval: Duration) -> SessionLoad {
    SessionLoad::Drawn {
        arrivals: SessionArrivals::Constant { interval },
        sizes: SessionSizes::Fixed { size: MESSAGE },
    }
}

/// A host, and the transport of one that knows no address of its peer.
fn alone(protocol: &Protocol) -> (Host, TransportConfig) {
    let [own, _] = addresses(0);
    let nobody = Peer { addresses: Vec::new(), port: PORT };
    (Host::new(vec![(own, InterfaceId::new(0))]), transport(protocol, own, 40_000, Some(nobody)))
}

/// Has a host do what is due, which sends nothing.
fn serve(host: &mut Host, now: Instant) {
    host.handle_deadline(now);
    assert_eq!(host.poll_transmit(now, &mut Packet::default()), None);
}

#[test]
fn a_session_that_cannot_be_opened_is_over_at_once_and_leaves_its_port_to_the_next() {
    for protocol in [tcp(), sctp()] {
        for (requests, _) in works() {
            let (mut host, transport) = alone(&protocol);
            let (port, begun) = (20_000, [0, 1, 2].map(Instant::from_secs));
            let source = source(transport, every(Duration::from_secs(1)), port..=port, requests);
            host.add_session_source(source, Seed::new(1, 0), "sessions/test");
            for now in begun {
                serve(&mut host, now);
            }
            let over = host.take_sessions().sent;
            let fates: Vec<_> = over.iter().map(|sent| (sent.begun, sent.ended, sent.port)).collect();
            assert_eq!(fates, begun.map(|begun| (begun, Some(begun), Some(port))), "{requests:?}");
            assert!(over.iter().all(|sent| sent.connected.is_none() && sent.failure.is_some()), "{over:?}");
        }
    }
}

#[test]
fn a_flow_that_cannot_be_opened_has_ended_at_once_with_the_reason() {
    for protocol in [tcp(), sctp()] {
        let (mut host, transport) = alone(&protocol);
        let connect = Instant::from_secs(1);
        let config = slantpath_applications::SenderConfig { connect, ..sender(bulk(100, 1_000)) };
        let id = host.add_sender(transport, config, Seed::new(1, 0), "flows/test");
        let reported = |host: &Host| {
            let report = host.sender_report(id).unwrap();
            (report.ended, report.failure.is_some())
        };
        serve(&mut host, Instant::START);
        assert_eq!(reported(&host), (None, false));
        serve(&mut host, connect);
        assert_eq!(reported(&host), (Some(connect), true));
    }
}

/// SCTP whose send buffer has no room for any message of these tests, and what it says of them.
fn tight() -> (Protocol, &'static str) {
    let config = SctpConfig { send_buffer_bytes: 50, ..SctpConfig::default() };
    (Protocol::Sctp(Box::new(config)), "exceeds the send buffer")
}

#[test]
fn a_session_whose_message_is_refused_closes_and_the_reason_stays_when_it_is_over() {
    let (protocol, refusal) = tight();
    for (requests, server) in works() {
        let (link, load) = (direction("1 Mbit/s", "100 ms"), every(Duration::from_secs(1_000)));
        let mut world = world_of(&protocol, &link, load, 20_000..=20_000, requests, server);
        let [over, others] = world.records(Instant::from_secs(10));
        assert_eq!(others, SessionRecords::default());
        let [sent] = &over.sent[..] else { panic!("{over:?}") };
        assert!(sent.failure.as_ref().is_some_and(|failure| failure.contains(refusal)), "{sent:?}");
        assert!(sent.connected.is_some() && sent.connected < sent.ended, "{sent:?}");
        assert_eq!(sent.bytes_sent, 0);
    }
}

#[test]
fn a_flow_whose_message_is_refused_closes_and_the_reason_stays_when_it_has_ended() {
    let (protocol, refusal) = tight();
    let link = [direction("1 Mbit/s", "100 ms"), direction("1 Mbit/s", "100 ms")];
    let outcome = run(&[link], protocol, sender(bulk(100, 1_000)), Seed::new(1, 0), Duration::from_secs(10));
    let sent = &outcome.sent;
    assert!(sent.failure.as_ref().is_some_and(|failure| failure.contains(refusal)), "{:?}", sent.failure);
    assert!(sent.connected.is_some() && sent.connected < sent.ended, "{:?}", sent.ended);
    assert_eq!(outcome.received.ended.map(|(_, reason)| reason).as_deref(), Some("closed"));
}
