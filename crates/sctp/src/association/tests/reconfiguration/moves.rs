//! The peer deletes an address that a change of streams is under way at (RFC 5061 and RFC 6525 together).

use super::*;
use crate::chunk::{AddressChange, Asconf, AsconfRequest, AsconfSerial, Heartbeat};

/// An association over so many addresses, which may change.
fn moving_wire(paths: usize) -> Wire {
    let extensions = Extensions::of(&[Extension::Reconfiguration, Extension::DynamicAddresses]);
    let config = SctpConfig { extensions, unauthenticated_addresses: true, ..config() };
    Wire::new(paths, config)
}

/// End 1 says on path `by` that its address of path `gone` is none any more.
fn delete(wire: &mut Wire, gone: usize, by: usize) {
    let change = AddressChange::Delete(address(1, gone));
    let asconf = Asconf {
        serial: AsconfSerial(first_request(1).0),
        address: address(1, by),
        requests: vec![AsconfRequest { correlation: 1, change }],
    };
    wire.inject(0, by, &[Chunk::Asconf(asconf)]);
    assert_eq!(wire.ends[0].paths.find(address(1, gone)), None);
}

#[test]
fn a_request_is_repeated_elsewhere_if_the_address_that_it_was_sent_to_is_deleted() {
    for (gone, by, repeated_on) in [(0, 1, 1), (1, 0, 0)] {
        let mut wire = moving_wire(2);
        wire.decide(|_| is_lost());
        reset(&mut wire, 0, ResetDirection::Outbound, &[1]);
        delete(&mut wire, gone, by);
        wire.run_until(Instant::from_millis(1_500));
        let of = |sent: &&Sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::ReConfig(_)));
        let on: Vec<_> = wire.log.iter().filter(of).map(|sent| sent.path).collect();
        assert_eq!(on, [0, repeated_on], "path {gone} goes");
        // That nobody has answered counts against the address that is left, to which it was moved.
        assert_eq!(wire.ends[0].snapshot().error_count, 1);
        assert_eq!(
            wire.ends[0].path_snapshots(wire.now).map(|path| path.error_count).collect::<Vec<_>>(),
            [1]
        );
    }
}

#[test]
fn what_came_early_by_an_address_that_is_deleted_is_acknowledged_elsewhere() {
    let mut wire = moving_wire(2);
    let reset = Parameter::OutgoingSsnReset {
        request: first_request(1),
        response: first_request(0).minus(1),
        last_assigned_tsn: Tsn(6),
        streams: vec![StreamId(0)],
    };
    inject(&mut wire, 0, vec![reset]);
    let Chunk::Data(early) = data(7, b"12345678") else { unreachable!() };
    wire.inject(0, 0, &[Chunk::Data(Data { sequence: StreamSequence(0), ..early })]);
    delete(&mut wire, 0, 1);
    wire.log.clear();
    wire.inject(0, 1, &[data(6, b"12345678")]);
    wire.run_until(wire.now + Duration::from_secs(1));
    assert_eq!(wire.messages(0).len(), 2);
    let sacks = wire.log.iter().filter_map(|sent| Some((sent.path, sent.sack()?.cumulative_tsn_ack)));
    assert_eq!(sacks.last(), Some((1, Tsn(7))));
}

/// The HEARTBEATs that end 0 has sent by `path`, as the peer would answer them.
fn heartbeat_acks(wire: &Wire, path: usize) -> Vec<Chunk> {
    let sent = wire.log.iter().filter(|sent| sent.from == 0 && sent.path == path);
    let heartbeats = sent.flat_map(|sent| &sent.chunks).filter_map(|chunk| match chunk {
        Chunk::Heartbeat(heartbeat) => Some(Heartbeat::new(heartbeat.info.clone()).into_ack()),
        _ => None,
    });
    heartbeats.map(Chunk::HeartbeatAck).collect()
}

#[test]
fn new_numbers_are_confirmed_by_no_heartbeat_that_left_before_them_where_an_address_is_deleted() {
    let mut wire = moving_wire(2);
    wire.decide(|_| is_lost());
    assert!(wire.ends[0].request_heartbeat(wire.now, address(1, 1)));
    wire.drain();
    let [before] = &heartbeat_acks(&wire, 1)[..] else { panic!("one HEARTBEAT") };
    let before = before.clone();
    inject(&mut wire, 0, vec![Parameter::SsnTsnReset { request: first_request(1) }]);
    assert_eq!(outcomes(&wire, 0), [Outcome::Performed]);
    // The answer may have been lost with the address, so that the peer knows no new numbers yet.
    delete(&mut wire, 0, 1);
    wire.inject(0, 1, &[before]);
    wire.send(0, 0..1, 100);
    assert!(data_packets(&wire, 0).is_empty());
    wire.run_until(Instant::from_millis(1_500));
    assert_eq!(outcomes(&wire, 0), [Outcome::Performed; 2], "it is told again where the peer is now");
    let behind = heartbeat_acks(&wire, 1).pop().unwrap();
    wire.inject(0, 1, &[behind]);
    assert_eq!(data_packets(&wire, 0).len(), 1);
}
