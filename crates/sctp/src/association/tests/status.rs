//! Contents of STATUS: counts and amounts, exactly.

use super::*;
use crate::event::SendOptions;
use crate::reliability::Reliability;

/// End 0, whose packets vanish.
fn end(paths: usize, config: SctpConfig) -> Wire {
    let mut wire = Wire::new(paths, config);
    wire.decide(|_| is_lost());
    wire
}

#[test]
fn what_is_buffered_and_what_the_peer_has_room_for() {
    let mut wire = end(1, quiet());
    wire.send(0, 0..5, 1_400);
    let room = u64::from(quiet().receive_buffer_bytes);
    let snapshot = wire.ends[0].snapshot();
    // The initial window lets four out.
    assert_eq!((snapshot.send_buffered, snapshot.outstanding_chunks), (7_000, 4));
    assert_eq!(snapshot.peer_rwnd, room - 5_600);
    wire.inject(0, 0, &[sack(2, &[])]);
    let snapshot = wire.ends[0].snapshot();
    assert_eq!((snapshot.send_buffered, snapshot.outstanding_chunks), (4_200, 3));
    assert_eq!(snapshot.peer_rwnd, 100_000 - 4_200);
}

#[test]
fn a_chunk_whose_length_is_less_than_its_header_is_counted() {
    let mut wire = end(1, quiet());
    let mut builder = PacketBuilder::default();
    let header = crate::packet::CommonHeader {
        source_port: wire.ends[0].tcb.peer_port,
        destination_port: wire.ends[0].tcb.local_port,
        verification_tag: wire.ends[0].tcb.local_tag,
    };
    builder.start(header, usize::MAX);
    assert!(builder.push(&sack(0, &[])));
    let mut bytes = builder.finish(ChecksumPolicy::Omit).contiguous().to_vec();
    bytes.extend([0, 3, 0, 3]);
    let packet = Packet::copied(&bytes, slantpath_wire::Checksum::Omitted);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    wire.ends[0].handle_packet(wire.now, &parsed, address(1, 0), ip::IpFields::default());
    assert_eq!(wire.ends[0].snapshot().stats.malformed_chunks, 1);
    assert_eq!(wire.ends[0].snapshot().stats.sacks_received, 1);
}

#[test]
fn what_has_come_and_gone_is_counted() {
    let mut wire = end(1, quiet());
    wire.send(0, 0..2, 1_400);
    // A SACK whose blocks are not there.
    let torn = Chunk::Unknown { kind: 3, flags: 0, value: bytes::Bytes::from_static(&[0; 4]) };
    wire.inject(0, 0, &[data(6, b"one"), data(7, b"two"), torn.clone()]);
    wire.inject(0, 0, &[sack(1, &[]), torn]);
    wire.inject(0, 0, &[sack(2, &[])]);
    wire.inject(0, 0, &[data(8, b"three")]);
    wire.run_until(Instant::from_millis(200));
    let expected = AssociationStats {
        packets_received: 4,
        data_chunks_received: 3,
        sacks_received: 2,
        sacks_sent: 1,
        malformed_chunks: 2,
        // Two SACKs that count, and two torn ones that do not.
        control_chunks_received: 2,
        control_chunks_sent: 1,
        ..AssociationStats::default()
    };
    assert_eq!(wire.ends[0].snapshot().stats, expected);
    assert_eq!(wire.log.len(), 3);
    let stats = wire.path(0, 0).stats;
    assert_eq!((stats.packets_sent, stats.data_chunks_sent, stats.retransmissions), (3, 2, 0));
}

#[test]
fn what_comes_out_of_its_turn_or_twice_is_counted_at_both_ends() {
    let mut wire = end(1, quiet());
    wire.send(0, 0..4, 1_400);
    wire.inject(
        0,
        0,
        &[data(8, b"three"), data(8, b"three"), data(6, b"one"), data(7, b"two"), data(6, b"one")],
    );
    wire.inject(0, 0, &[sack(1, &[(2, 2), (4, 4)])]);
    let stats = wire.ends[0].snapshot().stats;
    assert_eq!((stats.chunks_ahead_received, stats.duplicates_received), (1, 2));
    assert_eq!(stats.gap_ack_blocks_received, 2);
}

#[test]
fn the_primary_is_told_apart() {
    let mut wire = end(3, quiet());
    let primaries = |wire: &Wire| -> Vec<bool> {
        wire.ends[0].path_snapshots(wire.now).map(|path| path.is_primary).collect()
    };
    assert_eq!(primaries(&wire), [true, false, false]);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    assert_eq!(primaries(&wire), [false, true, false]);
}

/// Whatever brings them about: probes of the path MTU, FORWARD TSNs, answers.
#[test]
fn each_control_chunk_that_leaves_is_counted_once() {
    let extensions = crate::extension::Extensions::of(&[Extension::PartialReliability]);
    let config =
        SctpConfig { path_mtu_discovery: crate::policy::PathMtuDiscovery::Probing, extensions, ..quiet() };
    let mut wire = Wire::new(1, config);
    wire.run_until(Instant::from_secs(1));
    wire.decide(|sent| if sent.has_data() { is_lost() } else { arrives() });
    let options = SendOptions { reliability: Reliability::Retransmissions(0), ..SendOptions::default() };
    let limited = Message { options: Some(options.into()), ..message(0, 0, 100) };
    wire.ends[0].send(wire.now, limited).unwrap();
    wire.drain();
    wire.run_to_rest();
    for end in [0, 1] {
        let chunks = wire.log.iter().filter(|sent| sent.from == end).flat_map(|sent| &sent.chunks);
        let control = chunks.filter(|chunk| !matches!(chunk, Chunk::Data(_))).count() as u64;
        let stats = wire.ends[end].snapshot().stats;
        assert_eq!((stats.control_chunks_sent, stats.forward_tsns_sent), (control, 1 - end as u64));
    }
}
