//! Attacks on somebody else, by way of the endpoint (RFC 5062, sections 5 to 9).

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::Duration;
use slantpath_sctp::{Chunk, Parameter, SctpConfig};

use crate::tester::{Tester, abort, own, packet, peer};

/// An address of the victim.
fn victim(host: u8) -> IpAddr {
    [10, 9, 9, host].into()
}

/// The attacker lists fifteen addresses of the victim; its cookie, as a packet.
fn camped() -> (Tester, slantpath_wire::Packet) {
    let mut tester = Tester::listening(SctpConfig::default());
    let listed = (1..=15).map(|host| Parameter::Address(victim(host))).collect();
    tester.receive_tagged(0, &[tester.init(listed)]);
    let cookie = packet(tester.tag.0, &[tester.take_cookie()]);
    tester.receive_packet(0, cookie.clone());
    tester.expect("COOKIE-ACK");
    tester.skip();
    (tester, cookie)
}

#[test]
fn addresses_that_a_peer_has_listed_get_nothing_but_heartbeats_and_few_of_them() {
    let (mut tester, _) = camped();
    // A large transfer, of which the attacker acknowledges nothing.
    for _ in 0..100 {
        tester.send(1_000);
    }
    let mut packets: BTreeMap<IpAddr, usize> = BTreeMap::new();
    let mut bytes = 0;
    for _ in 0..3_600 {
        tester.wait(Duration::from_secs(1));
        while let Some(sent) = tester.take_any() {
            if sent.destination != peer(0) {
                assert!(matches!(sent.chunks[..], [Chunk::Heartbeat(_)]), "{:?}", sent.chunks);
                *packets.entry(sent.destination).or_default() += 1;
                bytes += sent.len;
            }
        }
    }
    // The association is given up when the attacker has answered nothing for 363 s (Association.Max.Retrans).
    assert_eq!(tester.endpoint.association_count(), 0);
    assert_eq!(packets.len(), 15);
    assert!(packets.values().all(|count| *count <= 12), "{packets:?}");
    assert!(bytes <= 15 * 12 * 32, "{bytes} bytes");
}

#[test]
fn an_attacker_that_keeps_the_association_has_each_listed_address_probed_once_in_90_s() {
    let (mut tester, _) = camped();
    let mut packets: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for _ in 0..3_600 {
        tester.wait(Duration::from_secs(1));
        while let Some(sent) = tester.take_any() {
            if sent.destination == peer(0) {
                if let Some(Chunk::Heartbeat(heartbeat)) = sent.chunks.into_iter().next() {
                    tester.receive(&[Chunk::HeartbeatAck(heartbeat.into_ack())]);
                }
            } else {
                *packets.entry(sent.destination).or_default() += 1;
            }
        }
    }
    // Six within the first two minutes (Path.Max.Retrans), then one per HB.interval and RTO.Max of 60 s.
    assert!(packets.values().all(|count| *count <= 6 + 3_600 / 60), "{packets:?}");
    assert_eq!(tester.endpoint.association_count(), 1);
}

#[test]
fn a_cookie_that_is_sent_again_when_the_victim_has_ended_its_association_begins_no_other() {
    let (mut tester, cookie) = camped();
    // The victim's host knows no such association: its ABORT reflects the tag that the HEARTBEAT had.
    tester.wait_ms(0);
    let probe = tester.next_sent();
    assert_eq!(probe.destination, victim(1));
    let Chunk::Abort(mut answer) = abort() else { unreachable!() };
    answer.is_tag_reflected = true;
    tester.receive_from(victim(1), own(0), packet(probe.tag.0, &[Chunk::Abort(answer)]));
    assert_eq!(tester.endpoint.association_count(), 0);
    tester.skip();
    for _ in 0..1_000 {
        tester.receive_packet(0, cookie.clone());
        tester.expect("ABORT");
        tester.expect_silence();
    }
    assert_eq!(tester.endpoint.association_count(), 0);
}
