//! Closing, resetting, dying.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_tcp::{ConnectionState, Event, Flags, Options, ResetCause, Segment, TcpConfig};

use crate::pair::{Pair, pattern};

fn close_left(pair: &mut Pair) {
    let id = pair.left.id();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
}

fn close_right(pair: &mut Pair) {
    let id = pair.right.id();
    pair.right.endpoint.close(pair.now, id).unwrap();
    pair.drain();
}

#[test]
fn each_side_closes_its_own_stream() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(10_000));
    close_left(&mut pair);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.right.received == pattern(10_000));
    assert_eq!(pair.right.events, [Event::Connected, Event::PeerClosed]);
    assert_eq!(pair.left.snapshot().state, ConnectionState::FinWait2);
    assert_eq!(pair.right.snapshot().state, ConnectionState::CloseWait);
    // Half closed, the other stream goes on.
    pair.write_right(pattern(5_000));
    close_right(&mut pair);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.left.received == pattern(5_000));
    assert_eq!(pair.left.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
    assert_eq!(pair.right.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
    assert!(matches!(pair.left.snapshot().state, ConnectionState::TimeWait { .. }));
    let start = pair.now;
    pair.run_to_end(Duration::from_secs(3_600));
    assert!(pair.now - start <= Duration::from_secs(240));
    assert_eq!(pair.left.snapshot().state, ConnectionState::Closed);
}

/// RFC 9293, section 3.10.7.4: a FIN that comes again, or anything else that is new, shows that the peer waits.
#[test]
fn what_comes_in_time_wait_is_acknowledged_and_starts_the_wait_anew() {
    for (offset, len, has_fin) in [(0, 0, true), (-5, 10, false), (1, 10, false)] {
        let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
        close_left(&mut pair);
        close_right(&mut pair);
        pair.run_for(Duration::from_secs(100));
        let fin = pair.right.sent.iter().find(|traced| traced.segment.flags.contains(Flags::FIN)).unwrap();
        let mut segment = Segment { flags: Flags::ACK, ..pair.right.sent.last().unwrap().segment };
        segment.sequence = fin.segment.sequence.plus(i32::cast_unsigned(offset));
        if has_fin {
            segment.flags = Flags::ACK | Flags::FIN;
        }
        let before = pair.left.sent.len();
        pair.inject_left(&segment, pattern(len));
        assert_eq!(pair.left.sent.len() - before, 1, "{len} bytes at {offset}");
        let until = pair.now + Duration::from_secs(240);
        assert_eq!(pair.left.snapshot().state, ConnectionState::TimeWait { until });
    }
}

#[test]
fn both_sides_may_close_at_once() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    close_left(&mut pair);
    close_right(&mut pair);
    pair.run_for(Duration::from_secs(1));
    for side in [&pair.left, &pair.right] {
        assert!(matches!(side.snapshot().state, ConnectionState::TimeWait { .. }));
        assert_eq!(side.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
    }
}

#[test]
fn a_lost_fin_and_a_lost_last_ack_are_repaired() {
    for lost_from_right in [false, true] {
        let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
        if lost_from_right {
            pair.leftwards.lose(pair.leftwards.sent() + 1);
        } else {
            pair.rightwards.lose(pair.rightwards.sent());
        }
        close_left(&mut pair);
        close_right(&mut pair);
        pair.run_to_end(Duration::from_secs(600));
        for side in [&pair.left, &pair.right] {
            assert_eq!(side.events, [Event::Connected, Event::PeerClosed, Event::Closed]);
        }
    }
}

#[test]
fn nothing_can_be_written_after_a_close() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    close_left(&mut pair);
    let id = pair.left.id();
    assert!(pair.left.endpoint.write(pair.now, id, pattern(1)).is_err());
}

#[test]
fn an_abort_resets_the_peer() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let id = pair.left.id();
    pair.left.endpoint.abort(pair.now, id).unwrap();
    pair.drain();
    pair.run_to_end(Duration::from_secs(600));
    assert_eq!(pair.right.events, [Event::Connected, Event::Reset(ResetCause::ByPeer)]);
    assert_eq!(pair.left.events, [Event::Connected]);
    assert!(pair.left.endpoint.write(pair.now, id, pattern(1)).is_err());
}

#[test]
fn a_dead_path_is_given_up_after_the_limit_of_timeouts() {
    let config = TcpConfig { data_retransmission_limit: 5, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, TcpConfig::default());
    pair.rightwards.cut();
    pair.write_left(pattern(1_000));
    let start = pair.now;
    pair.run_to_end(Duration::from_secs(3_600));
    assert_eq!(pair.left.events, [Event::Connected, Event::Reset(ResetCause::TimedOut)]);
    // 1 + 2 + 4 + 8 + 16 + 32 s.
    assert_eq!(pair.now - start, Duration::from_secs(63));
}

fn forged(pair: &Pair, flags: Flags, ahead: u32) -> Segment {
    let last = pair.right.sent.last().unwrap().segment;
    Segment { sequence: last.sequence.plus(1 + ahead), flags, options: Options::default(), ..last }
}

#[test]
fn only_an_exact_reset_is_believed() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let sent = pair.left.sent.len();
    pair.inject_left(&forged(&pair, Flags::RST, 10), Bytes::new());
    assert_eq!(pair.left.snapshot().state, ConnectionState::Established);
    assert_eq!(pair.left.sent.len(), sent + 1, "a challenge");
    pair.inject_left(&forged(&pair, Flags::RST, 1 << 30), Bytes::new());
    assert_eq!(pair.left.sent.len(), sent + 1, "outside of the window: silence");
    pair.inject_left(&forged(&pair, Flags::RST, 0), Bytes::new());
    assert_eq!(pair.left.events, [Event::Connected, Event::Reset(ResetCause::ByPeer)]);
}

#[test]
fn a_syn_or_an_impossible_ack_on_a_standing_connection_is_challenged() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let sent = pair.left.sent.len();
    pair.inject_left(&forged(&pair, Flags::SYN, 0), Bytes::new());
    assert_eq!(pair.left.sent.len(), sent + 1);
    let mut early = forged(&pair, Flags::ACK, 0);
    early.acknowledgment = early.acknowledgment.plus(100_000);
    pair.inject_left(&early, Bytes::from_static(b"no"));
    assert_eq!(pair.left.sent.len(), sent + 2);
    assert_eq!(pair.left.snapshot().state, ConnectionState::Established);
    assert!(pair.left.received.is_empty());
}

#[test]
fn a_flipped_bit_is_dropped() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (source, destination) = (pair.right.address, pair.left.address);
    let segment = forged(&pair, Flags::ACK, 0);
    let policy = slantpath_tcp::ChecksumPolicy::Complete;
    let mut packet = segment.emit(Bytes::from_static(b"data"), source, destination, policy);
    packet.head_mut()[4] ^= 1;
    pair.left.endpoint.handle_input(
        pair.now,
        slantpath_tcp::Input::Packet {
            source,
            destination,
            ip: slantpath_wire::ip::IpFields::default(),
            packet: &mut packet,
        },
    );
    pair.drain();
    assert_eq!(pair.left.endpoint.statistics().malformed, 1);
    assert!(pair.left.received.is_empty());
}
