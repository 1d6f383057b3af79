//! Messages that are for a certain address of the peer (RFC 9260, section 11.1.5, E).

use super::*;
use crate::event::SendOptions;

fn to(path: usize, context: u64, len: usize) -> Message {
    let options = SendOptions { destination: Some(address(1, path)), ..SendOptions::default() };
    Message { options: Some(Box::new(options)), ..message(0, context, len) }
}

/// Path of each DATA packet of end 0, and the number of its chunks.
fn ways(wire: &Wire) -> Vec<(usize, usize)> {
    data_packets(wire, 0).iter().map(|sent| (sent.path, sent.tsns().len())).collect()
}

#[test]
fn a_message_goes_where_it_is_for_and_all_others_to_the_primary() {
    let mut wire = Wire::new(3, quiet());
    let messages = [message(0, 0, 100), to(1, 1, 100), to(1, 2, 100), message(0, 3, 100), to(2, 4, 3_000)];
    for message in messages {
        wire.ends[0].send(wire.now, message).unwrap();
    }
    wire.drain();
    assert_eq!(ways(&wire), [(0, 1), (1, 2), (0, 1), (2, 1), (2, 1), (2, 1)]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1, 2, 3, 4]);
    // Nothing looks at messages any more once none is for a certain address.
    wire.send(0, 5..6, 100);
    assert_eq!(ways(&wire).last(), Some(&(0, 1)));
}

#[test]
fn a_message_does_not_wait_for_the_window_of_a_path_that_it_does_not_take() {
    let mut wire = Wire::new(2, quiet());
    for context in 0..2 {
        wire.ends[0].send(wire.now, to(1, context, 1_400)).unwrap();
    }
    wire.drain();
    let flights = [0, 1].map(|path| wire.path(0, path).flight_size);
    assert_eq!(flights, [0, 2 * 1_416]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1]);
}

#[test]
fn a_destination_that_has_failed_is_replaced_by_one_that_works() {
    let mut wire = Wire::new(2, SctpConfig { path_max_retrans: 0, ..quiet() });
    wire.decide(|sent| if sent.path == 1 { is_lost() } else { arrives() });
    wire.ends[0].send(wire.now, to(1, 0, 100)).unwrap();
    wire.drain();
    wire.run_to_rest();
    assert_eq!(wire.path(0, 1).state, PathState::Inactive);
    wire.ends[0].send(wire.now, to(1, 1, 100)).unwrap();
    wire.drain();
    assert_eq!(ways(&wire), [(1, 1), (0, 1), (0, 1)]);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0, 1]);
}

#[test]
fn an_address_that_is_not_the_peers_is_refused() {
    let mut wire = Wire::new(2, quiet());
    let refused = wire.ends[0].send(wire.now, to(2, 0, 100));
    assert_eq!(refused, Err(SendError::NoSuchDestination { address: address(1, 2) }));
}

#[test]
fn a_message_for_an_address_goes_there_once_that_is_confirmed_and_until_then_where_all_else_does() {
    let config = quiet();
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    tcbs[0].peer_addresses[1].is_confirmed = false;
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    for context in 0..2 {
        wire.ends[0].send(wire.now, to(1, context, 100)).unwrap();
        wire.drain();
        wire.run_to_rest();
    }
    assert_eq!(ways(&wire), [(0, 1), (1, 1)]);
    assert_eq!(wire.received(1), [0, 1]);
}

#[test]
fn what_arrives_over_another_path_does_not_say_that_a_message_is_missing() {
    let mut wire = Wire::new(2, quiet());
    // Path 0 takes half a second, path 1 hardly any time: all that goes there overtakes.
    wire.decide(|sent| {
        if sent.from == 0 && sent.path == 0 {
            Fate::from_elem(Duration::from_millis(500), 1)
        } else {
            arrives()
        }
    });
    wire.ends[0].send(wire.now, message(0, 0, 100)).unwrap();
    for context in 1..=8 {
        wire.ends[0].send(wire.now, to(1, context, 1_400)).unwrap();
        wire.drain();
    }
    wire.run_to_rest();
    assert_eq!(wire.received(1).len(), 9);
    assert_eq!(wire.path(0, 0).stats.retransmissions + wire.path(0, 1).stats.retransmissions, 0);
}

#[test]
fn what_was_sent_after_it_to_the_same_destination_says_that_a_message_is_missing() {
    let mut wire = Wire::new(2, quiet());
    let mut is_first = true;
    wire.decide(
        move |sent| {
            if sent.has_data() && std::mem::take(&mut is_first) { is_lost() } else { arrives() }
        },
    );
    for context in 0..=3 {
        wire.ends[0].send(wire.now, to(1, context, 1_400)).unwrap();
        wire.drain();
    }
    wire.run_to_rest();
    let path = wire.path(0, 1);
    assert_eq!((path.stats.retransmissions, path.stats.timeouts), (1, 0));
}
