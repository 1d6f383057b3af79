//! Packets that are longer than a link on their way carries: loss without congestion.

use super::*;
use crate::chunk::CookieEcho;
use crate::packet::CommonHeader;
use crate::path::PathSnapshot;

/// Loses what end 0 sends to a path with "don't fragment" and more than so many bytes.
fn narrow(wire: &mut Wire, mtu_bytes: [usize; 2]) {
    wire.decide(move |sent| {
        let header_len = if sent.destination.is_ipv6() { 40 } else { 20 };
        let is_too_big = sent.from == 0
            && sent.fragmentation == IpFragmentation::Forbidden
            && sent.packet.len() + header_len > mtu_bytes[sent.path];
        if is_too_big { is_lost() } else { arrives() }
    });
}

/// ICMP reports the MTU of a path to end 0; gives what is sent at that moment.
fn report(wire: &mut Wire, path: usize, mtu_bytes: u16) -> Vec<Sent> {
    let destination = wire.ends[0].paths.iter().nth(path).unwrap().destination;
    let before = wire.log.len();
    wire.ends[0].handle_packet_too_big(wire.now, destination, mtu_bytes);
    wire.drain();
    wire.log[before..].to_vec()
}

/// The lengths of IPv4 packets, and whether IP may cut them.
fn lengths(sent: &[Sent]) -> Vec<(usize, IpFragmentation)> {
    sent.iter().map(|sent| (sent.packet.len() + 20, sent.fragmentation)).collect()
}

const ALLOWED_1300: IpFragmentation = IpFragmentation::Allowed { source_mtu: 1_300 };

/// Values that the loss of a packet for want of an MTU must leave alone.
fn kept(snapshot: PathSnapshot) -> (u64, u64, u64, u64, u32, Duration, u64) {
    let PathSnapshot { cwnd, ssthresh, partial_bytes_acked, flight_size, error_count, rto, .. } = snapshot;
    (cwnd, ssthresh, partial_bytes_acked, flight_size, error_count, rto, snapshot.stats.timeouts)
}

#[test]
fn a_chunk_that_alone_is_too_long_is_sent_again_at_once_and_may_be_cut_by_ip() {
    let mut wire = Wire::new(1, quiet());
    narrow(&mut wire, [1_300; 2]);
    wire.send(0, 0..2, 1_400);
    assert_eq!(lengths(&wire.log), [(1_448, IpFragmentation::Forbidden); 2]);
    wire.run_until(Instant::from_millis(20));
    let before = wire.path(0, 0);
    let again = report(&mut wire, 0, 1_300);
    assert_eq!(lengths(&again), [(1_448, ALLOWED_1300); 2]);
    let after = wire.path(0, 0);
    assert_eq!(kept(after), kept(before));
    assert_eq!((after.mtu, after.stats.retransmissions), (1_300, 2));
    assert_eq!(wire.ends[0].error_count, 0);
    assert_eq!(wire.ends[0].paths.iter().next().unwrap().t3_rtx(), Some(wire.now + after.rto));
    // What is cut from now on fits.
    wire.send(0, 2..3, 1_400);
    wire.run_to_rest();
    let last = wire.log.iter().rfind(|sent| sent.from == 0).unwrap();
    assert_eq!((last.fragmentation, wire.received(1)), (IpFragmentation::Forbidden, vec![0, 1, 2]));
    assert_eq!(wire.path(0, 0).stats.timeouts, 0);
}

/// Changes of the path MTU that end 0 was told of: the path, the MTU and that before.
pub(super) fn told_of_mtu(wire: &Wire) -> Vec<(IpAddr, u16, u16)> {
    let told = wire.events[0].iter().filter_map(|event| match event.notice() {
        Some(Notice::PathMtuChanged { path, mtu_bytes, before_bytes }) => {
            Some((path, mtu_bytes, before_bytes))
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn a_reported_mtu_is_told_once_and_one_that_is_no_news_is_not() {
    let mut wire = Wire::new(2, quiet());
    let destination = wire.ends[0].paths.iter().nth(1).unwrap().destination;
    for reported in [1_300, 1_300, 1_400, 1_200] {
        report(&mut wire, 1, reported);
    }
    assert_eq!(told_of_mtu(&wire), [(destination, 1_300, 1_500), (destination, 1_200, 1_300)]);
}

#[test]
fn a_bundle_that_is_too_long_is_split() {
    let mut wire = Wire::new(1, quiet());
    narrow(&mut wire, [700; 2]);
    for context in 0..2 {
        wire.ends[0].send(wire.now, message(0, context, 600)).unwrap();
    }
    wire.drain();
    assert_eq!(lengths(&wire.log), [(1_264, IpFragmentation::Forbidden)]);
    let again = report(&mut wire, 0, 700);
    assert_eq!(lengths(&again), [(648, IpFragmentation::Forbidden); 2]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1]);
}

#[test]
fn what_passes_is_not_sent_again_and_neither_is_what_was_reported_before() {
    let mut wire = Wire::new(1, quiet());
    narrow(&mut wire, [1_300; 2]);
    wire.send(0, 0..1, 1_400);
    wire.send(0, 1..2, 1_252);
    wire.send(0, 2..3, 1_256);
    // The second is of 1,300 bytes.
    let again = report(&mut wire, 0, 1_300);
    let tsns: Vec<_> = again.iter().flat_map(Sent::tsns).collect();
    assert_eq!(tsns, [u32::MAX - 3, u32::MAX - 1]);
    assert_eq!(report(&mut wire, 0, 1_300).len(), 0, "no news");
    assert_eq!(report(&mut wire, 0, 1_400).len(), 0, "an increase is not believed");
    // Routers cut what may be cut; of the others, one is too long again.
    let again = report(&mut wire, 0, 1_299);
    assert_eq!(again.iter().flat_map(Sent::tsns).collect::<Vec<_>>(), [u32::MAX - 2]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2]);
}

#[test]
fn below_the_least_mtu_of_ipv4_every_packet_may_be_cut() {
    for reported in [0, 300, 575] {
        let mut wire = Wire::new(1, quiet());
        wire.decide(
            |sent| if sent.fragmentation == IpFragmentation::Forbidden { is_lost() } else { arrives() },
        );
        wire.send(0, 0..1, 560);
        let again = report(&mut wire, 0, reported);
        let allowed = IpFragmentation::Allowed { source_mtu: 576 };
        assert_eq!(lengths(&again), [(608, allowed)], "{reported}");
        assert_eq!(wire.path(0, 0).mtu, 576);
        wire.send(0, 1..2, 8);
        assert_eq!(wire.log.last().unwrap().fragmentation, allowed);
    }
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..1, 560);
    assert_eq!(lengths(&report(&mut wire, 0, 576)), [(608, IpFragmentation::Allowed { source_mtu: 576 })]);
    wire.send(0, 1..2, 8);
    assert_eq!(wire.log.last().unwrap().fragmentation, IpFragmentation::Forbidden, "576 bytes are enough");
}

#[test]
fn an_ipv6_source_cuts_to_what_was_reported_last_and_never_below_the_least() {
    let own: [IpAddr; 2] = ["fd00::1".parse().unwrap(), "fd00::2".parse().unwrap()];
    let tcbs = [0, 1].map(|end: usize| {
        let mut tcb = tcb(end, 1, &quiet());
        tcb.local_addresses = std::iter::once(own[end]).collect();
        tcb.peer_addresses =
            std::iter::once(PeerAddress { address: own[1 - end], is_confirmed: true }).collect();
        tcb.primary = own[1 - end];
        tcb
    });
    let mut wire = Wire::with_tcbs(tcbs, [quiet(), quiet()]);
    wire.send(0, 0..1, 1_400);
    assert_eq!(report(&mut wire, 0, 1_279).len(), 0);
    assert_eq!(wire.path(0, 0).mtu, 1_500, "no IPv6 link carries less than 1,280 bytes");
    for mtu in [1_400, 1_280] {
        let again = report(&mut wire, 0, mtu);
        let sent: Vec<_> = again.iter().map(|sent| sent.fragmentation).collect();
        assert_eq!(sent, [IpFragmentation::Allowed { source_mtu: mtu }], "fragments of {mtu} bytes");
    }
}

#[test]
fn a_greater_mtu_is_not_believed_and_a_lesser_one_than_the_least_is_news_although_the_mtu_stays() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    // 568 bytes with IP.
    wire.send(0, 0..1, 520);
    for (reported, mtu, is_sent_again) in
        [(1_300, 1_300, false), (1_400, 1_300, false), (576, 576, false), (500, 576, true), (500, 576, false)]
    {
        let again = report(&mut wire, 0, reported);
        assert_eq!((wire.path(0, 0).mtu, !again.is_empty()), (mtu, is_sent_again), "{reported}");
    }
}

#[test]
fn a_window_grows_and_closes_by_the_chunks_of_the_lower_mtu() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..8, 1_400);
    let before = wire.path(0, 0).cwnd;
    report(&mut wire, 0, 1_300);
    // 1,300 bytes without 20 of IP and 12 of SCTP.
    wire.inject(0, 0, &[sack(2, &[])]);
    assert_eq!(wire.path(0, 0).cwnd, before + 1_268);
    wire.run_until(Instant::from_secs(1));
    assert_eq!((wire.path(0, 0).cwnd, wire.path(0, 0).ssthresh), (1_268, 4 * 1_268));
}

#[test]
fn what_a_cookie_echo_takes_along_is_not_too_big_because_the_next_packet_is() {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.ends[0].send(wire.now, message(0, 0, 100)).unwrap();
    let mut builder = PacketBuilder::default();
    let header = CommonHeader {
        source_port: wire.ends[0].tcb.local_port,
        destination_port: wire.ends[0].tcb.peer_port,
        verification_tag: wire.ends[0].tcb.peer_tag,
    };
    builder.start(header, 1_480);
    assert!(builder.push(&Chunk::CookieEcho(CookieEcho { cookie: vec![7; 40].into() })));
    wire.ends[0].bundle_data(wire.now, &mut builder, address(1, 0));
    assert_eq!(builder.len(), 12 + 44 + 116);
    wire.send(0, 1..2, 1_400);
    assert_eq!(lengths(&wire.log), [(1_448, IpFragmentation::Forbidden)]);
    let again = report(&mut wire, 0, 1_300);
    assert_eq!(lengths(&again), [(1_448, ALLOWED_1300)]);
}

#[test]
fn what_was_too_big_is_sent_again_to_the_same_address() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..2, 1_400);
    let again = report(&mut wire, 0, 1_300);
    assert_eq!(again.iter().map(|sent| sent.path).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn only_the_path_that_was_reported_is_concerned() {
    let mut wire = Wire::new(2, quiet());
    narrow(&mut wire, [1_500, 1_300]);
    wire.send(0, 0..2, 1_400);
    let again = report(&mut wire, 1, 1_300);
    assert_eq!(lengths(&again), [], "all is in flight to the other");
    assert_eq!((wire.path(0, 0).mtu, wire.path(0, 1).mtu), (1_500, 1_300));
    // What was cut for the wide path and is lost there may be cut by IP on the narrow one.
    wire.decide(|sent| if sent.path == 0 && sent.from == 0 { is_lost() } else { arrives() });
    wire.send(0, 2..3, 1_400);
    wire.run_to_rest();
    wire.decide(|_| arrives());
    let moved = wire.log.iter().filter(|sent| sent.from == 0 && sent.path == 1 && sent.has_data());
    let moved: Vec<_> = moved.cloned().collect();
    assert!(
        lengths(&moved)
            .iter()
            .all(|&(len, fragmentation)| { (len > 1_300) == (fragmentation == ALLOWED_1300) })
    );
    assert!(!moved.is_empty());
    assert_eq!(wire.received(1), [0, 1, 2]);
}

#[test]
fn a_report_to_an_association_that_is_over_does_nothing() {
    let mut wire = Wire::new(1, quiet());
    wire.send(0, 0..1, 1_400);
    wire.ends[0].abort(wire.now, Cause::UserInitiatedAbort(bytes::Bytes::new()));
    wire.drain();
    assert_eq!(report(&mut wire, 0, 1_300).len(), 0);
}

#[test]
fn a_heartbeat_answer_that_does_not_fit_may_be_cut() {
    let mut wire = Wire::new(1, quiet());
    report(&mut wire, 0, 700);
    let heartbeat = crate::chunk::Heartbeat::new(vec![7; 1_000].into());
    wire.inject(0, 0, &[Chunk::Heartbeat(heartbeat)]);
    let answer = wire.log.last().unwrap();
    assert!(matches!(answer.chunks[..], [Chunk::HeartbeatAck(_)]));
    assert_eq!(answer.fragmentation, IpFragmentation::Allowed { source_mtu: 700 });
}
