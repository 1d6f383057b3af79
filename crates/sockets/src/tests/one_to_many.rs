//! One-to-many sockets: associations that a message begins, peeling off, flags that end them, notifications.

use super::*;
use crate::layout::Told;

const EVENTS: i32 = 11;
const EVENT: i32 = 127;
const PEELOFF: i32 = 102;
const GET_ASSOC_ID_LIST: i32 = 29;
const AUTOCLOSE: i32 = 4;

/// All kinds but that of data.
fn subscribe(pair: &mut Pair, end: usize, socket: SocketNumber) {
    pair.set(end, socket, EVENTS, &[0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1]).unwrap();
}

/// Two sockets, an association that a message from the first has begun, and its numbers.
fn joined(pair: &mut Pair) -> ([SocketNumber; 2], [i32; 2]) {
    let sockets = [pair.open(0, Style::OneToMany, requests::Family::V4), pair.listener(1, Style::OneToMany)];
    for end in [0, 1] {
        subscribe(pair, end, sockets[end]);
    }
    let info = SendInfo::default();
    assert_eq!(pair.send_to(0, sockets[0], info, Some(at(1)), b"begins it"), Taken::Taken);
    pair.exchange();
    let numbers = [0, 1].map(|end| {
        let (kind, bytes) = pair.notification(end, sockets[end]).unwrap();
        assert_eq!((kind, &bytes[8..10]), (0x8001, &[0, 0][..]), "SCTP_COMM_UP");
        let (kind, bytes_of_key) = pair.notification(end, sockets[end]).unwrap();
        assert_eq!((kind, &bytes_of_key[12..16]), (0x8008, &[2, 0, 0, 0][..]), "SCTP_AUTH_NO_AUTH");
        i32::from_le_bytes(bytes[16..20].try_into().unwrap())
    });
    (sockets, numbers)
}

#[test]
fn a_message_begins_an_association_which_both_ends_are_told_and_can_name() {
    let mut pair = Pair::new();
    let (sockets, numbers) = joined(&mut pair);
    assert!(numbers.iter().all(|number| *number > 2), "{numbers:?}");
    let (info, bytes) = pair.message(1, sockets[1]).unwrap();
    assert_eq!((info.association, &bytes[..]), (numbers[1], &b"begins it"[..]));
    let answer = SendInfo { association: numbers[1], stream: 2, ..SendInfo::default() };
    assert_eq!(pair.send(1, sockets[1], answer, b"answer"), Taken::Taken);
    let nobody = SendInfo { association: 99, ..SendInfo::default() };
    assert_eq!(pair.send(1, sockets[1], nobody, b"lost"), Taken::Refused(Errno::EPIPE));
    pair.exchange();
    let (info, bytes) = pair.message(0, sockets[0]).unwrap();
    assert_eq!((info.association, info.stream, &bytes[..]), (numbers[0], 2, &b"answer"[..]));
    let list = Told::default().u32(1).i32(numbers[0]).0;
    assert_eq!(pair.get(0, sockets[0], GET_ASSOC_ID_LIST, &[0; 64]), Ok(list));
    let more = pair.send_to(0, sockets[0], SendInfo::default(), Some(at(1)), b"the same");
    assert_eq!(more, Taken::Taken);
    pair.exchange();
    assert_eq!(pair.associations(), [1, 1]);
}

#[test]
fn a_flag_shuts_an_association_down_and_another_aborts_it_with_a_reason() {
    for (flags, payload, change, code) in [(0x200, &b""[..], 3, 0), (4, b"too much!", 1, 12)] {
        let mut pair = Pair::new();
        let (sockets, numbers) = joined(&mut pair);
        pair.message(1, sockets[1]).unwrap();
        let end = SendInfo { flags, association: numbers[0], ..SendInfo::default() };
        assert_eq!(pair.send(0, sockets[0], end, payload), Taken::Ended);
        pair.exchange();
        let mut seen = Vec::new();
        while let Some((kind, bytes)) = pair.notification(1, sockets[1]) {
            seen.push((kind, bytes));
        }
        let (kind, last) = seen.pop().unwrap();
        assert_eq!((kind, u16::from_le_bytes([last[8], last[9]])), (0x8001, change));
        assert_eq!(u16::from_be_bytes([last[10], last[11]]), code);
        assert!(last.ends_with(payload));
        assert_eq!(seen.iter().any(|(kind, _)| *kind == 0x8005), flags == 0x200, "SCTP_SHUTDOWN_EVENT");
        assert_eq!(pair.associations(), [0, 0]);
    }
}

#[test]
fn an_association_that_is_peeled_off_takes_what_was_not_read_along() {
    let mut pair = Pair::new();
    let (sockets, numbers) = joined(&mut pair);
    let asked = Told::default().i32(numbers[1]).i32(0).0;
    let request =
        requests::Request::GetOption { level: SCTP, name: PEELOFF, room: 8, value: asked, waits: false };
    let peeled = pair.ask(1, sockets[1], request.clone()).unwrap().socket.unwrap();
    assert_eq!(pair.next(1, sockets[1]), None);
    assert_eq!(pair.message(1, peeled).unwrap().1, "begins it");
    assert_eq!(pair.send(1, peeled, SendInfo::default(), b"from there"), Taken::Taken);
    pair.exchange();
    assert_eq!(pair.message(0, sockets[0]).unwrap().1, "from there");
    assert_eq!(pair.done(1, sockets[1], request), Err(Errno::EINVAL), "it has no such association");
    pair.close(1, peeled, Closing::InOrder);
    assert_eq!(pair.associations(), [0, 0]);
}

#[test]
fn a_peer_is_known_by_each_confirmed_address_and_what_was_peeled_off_is_not_begun_again() {
    let mut pair = Pair::new();
    let [caller, listener] = [0, 1].map(|end| pair.open(end, Style::OneToMany, requests::Family::V6));
    let any = SocketAddr::new("::".parse().unwrap(), PORT);
    pair.done(1, listener, requests::Request::Bind(any)).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    let [first, second] =
        ["::ffff:10.0.0.2", "2001:db8::2"].map(|ip| SocketAddr::new(ip.parse().unwrap(), PORT));
    for peer in [first, second, first] {
        assert_eq!(pair.send_to(0, caller, SendInfo::default(), Some(peer), b"to one"), Taken::Taken);
        // Its other address is confirmed.
        pair.pass(Duration::from_secs(60));
    }
    assert_eq!(pair.associations(), [1, 1]);
    let number = (0..3).map(|_| pair.message(1, listener).unwrap().0.association).max().unwrap();
    let connect = |peer| requests::Request::Connect { peer, waits: true };
    for peer in [first, second] {
        assert_eq!(pair.done(0, caller, connect(peer)), Err(Errno::EISCONN), "{peer}");
    }
    let value = Told::default().i32(number).i32(0).0;
    let request = requests::Request::GetOption { level: SCTP, name: PEELOFF, room: 8, value, waits: false };
    pair.ask(1, listener, request).unwrap().socket.unwrap();
    let own = pair.done(0, caller, requests::Request::LocalName).unwrap().address.unwrap();
    let back = SocketAddr::new("::ffff:10.0.0.1".parse().unwrap(), own.port());
    assert_eq!(pair.done(1, listener, connect(back)), Err(Errno::EADDRNOTAVAIL));
}

#[test]
fn an_association_that_cannot_be_begun_is_told_as_such() {
    let mut pair = Pair::new();
    let socket = pair.open(0, Style::OneToMany, requests::Family::V4);
    subscribe(&mut pair, 0, socket);
    assert_eq!(pair.send_to(0, socket, SendInfo::default(), Some(at(1)), b"hello"), Taken::Taken);
    pair.exchange();
    let mut kinds = Vec::new();
    while let Some((kind, bytes)) = pair.notification(0, socket) {
        kinds.push((kind, u16::from_le_bytes([bytes[8], bytes[9]])));
    }
    // SCTP_CANT_STR_ASSOC, and behind it SCTP_SEND_FAILED in both its forms, with the message.
    assert_eq!(kinds, [(0x8001, 4), (0x8003, 0), (0x800d, 0)]);
}

#[test]
fn a_sender_is_told_when_all_is_acknowledged_and_at_once_if_nothing_is_not() {
    let mut pair = Pair::new();
    let (sockets, numbers) = joined(&mut pair);
    let wish = Told::default().i32(numbers[0]).u16(0x8009).u8(1).padded_to(8).0;
    pair.set(0, sockets[0], EVENT, &wish).unwrap();
    assert_eq!(pair.notification(0, sockets[0]).map(|(kind, _)| kind), Some(0x8009));
    let info = SendInfo { association: numbers[0], ..SendInfo::default() };
    pair.send(0, sockets[0], info, b"one");
    assert_eq!(pair.notification(0, sockets[0]), None);
    pair.exchange();
    pair.pass(Duration::from_millis(250));
    assert_eq!(pair.notification(0, sockets[0]).map(|(kind, _)| kind), Some(0x8009));
    assert_eq!(pair.get(0, sockets[0], EVENT, &wish), Ok(wish));
}

#[test]
fn an_association_that_idles_is_shut_down_after_the_time_that_was_set() {
    let mut pair = Pair::new();
    let (sockets, numbers) = joined(&mut pair);
    pair.set(0, sockets[0], AUTOCLOSE, &5_u32.to_le_bytes()).unwrap();
    let info = SendInfo { association: numbers[0], ..SendInfo::default() };
    pair.send(0, sockets[0], info, b"last");
    pair.exchange();
    pair.pass(Duration::from_millis(4_900));
    assert_eq!(pair.associations(), [1, 1]);
    pair.pass(Duration::from_millis(200));
    assert_eq!(pair.associations(), [0, 0]);
}

#[test]
fn an_association_begins_as_its_first_message_says_and_others_as_the_socket_does() {
    let mut pair = Pair::new();
    pair.listener(1, Style::OneToMany);
    let caller = pair.open(0, Style::OneToMany, requests::Family::V4);
    // Three streams, and four inbound ones.
    let begin = || requests::Request::Begin { init: Some([3, 0, 4, 0, 0, 0, 0, 0]), peers: vec![at(1)] };
    let before = pair.get(0, caller, INITMSG, &[]).unwrap();
    pair.done(0, caller, begin()).unwrap();
    pair.exchange();
    let may_send = |stream| requests::Request::MaySend {
        stream,
        association: FIRST_ASSOCIATION,
        length: 1,
        destination: None,
    };
    assert_eq!(pair.done(0, caller, may_send(2)).unwrap().number, 3);
    assert_eq!(pair.done(0, caller, may_send(3)), Err(Errno::EINVAL));
    assert_eq!(pair.get(0, caller, INITMSG, &[]).unwrap(), before);
    // There is one with that peer: no other begins.
    pair.done(0, caller, begin()).unwrap();
    assert_eq!(pair.associations(), [1, 1]);
}

#[test]
fn a_message_to_an_address_on_a_stream_that_is_not_there_is_refused() {
    let mut pair = Pair::new();
    pair.listener(1, Style::OneToMany);
    let caller = pair.open(0, Style::OneToMany, requests::Family::V4);
    let streams = pair.ends[0].program.open[&caller].config.outbound_streams;
    let may_send =
        |stream| requests::Request::MaySend { stream, association: 0, length: 1, destination: Some(at(1)) };
    // The association that it would begin has so many.
    assert_eq!(pair.done(0, caller, may_send(streams - 1)).unwrap().number, 0);
    assert_eq!(pair.done(0, caller, may_send(streams)), Err(Errno::EINVAL));
    assert_eq!(pair.send_to(0, caller, SendInfo::default(), Some(at(1)), b"begins"), Taken::Taken);
    pair.exchange();
    assert_eq!(pair.done(0, caller, may_send(0)).unwrap().number, i32::from(streams));
    assert_eq!(pair.done(0, caller, may_send(streams)), Err(Errno::EINVAL));
}

/// `SCTP_INITMSG`.
const INITMSG: i32 = 2;
/// Number that the first association of a host has.
const FIRST_ASSOCIATION: i32 = 3;
