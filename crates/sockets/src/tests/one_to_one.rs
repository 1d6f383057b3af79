//! One-to-one sockets: bind, listen, accept, connect, send, receive, close.

use super::*;

#[test]
fn a_program_connects_sends_and_closes_and_the_other_accepts_receives_and_reads_the_end() {
    let mut pair = Pair::new();
    let listener = pair.listener(1, Style::OneToOne);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let news = pair.news(0);
    assert_eq!(news, [(caller, News::Connected), (caller, News::Replied(Token(3), Answered::default()))]);
    assert_eq!(pair.news(1), [(listener, News::Readable)]);
    let piece = pair.next(1, listener).unwrap();
    let accepted = piece.socket.unwrap();
    let own = pair.done(0, caller, requests::Request::LocalName).unwrap().address.unwrap();
    assert!(own.ip() == address(0) && own.port() >= 0xc000, "{own}");
    let peer = SocketAddr::new(address(0), own.port());
    assert_eq!(piece.header, ToProgram::Accepted { peer });
    assert_eq!(pair.done(1, accepted, requests::Request::PeerName).unwrap().address, Some(peer));
    assert_eq!(pair.done(0, caller, requests::Request::PeerName).unwrap().address, Some(at(1)));
    assert_eq!(pair.done(1, accepted, requests::Request::LocalName).unwrap().address, Some(at(1)));

    let info = SendInfo { stream: 3, payload_protocol: 0x0102_0304, ..SendInfo::default() };
    assert_eq!(pair.send(0, caller, info, b"one"), Taken::Taken);
    assert_eq!(pair.send(0, caller, info, b"two"), Taken::Taken);
    pair.exchange();
    assert_eq!(pair.news(1), [(accepted, News::Readable)], "once, for both");
    for (ssn, bytes) in [(0, &b"one"[..]), (1, b"two")] {
        let (got, payload) = pair.message(1, accepted).unwrap();
        assert_eq!((got.stream, got.ssn, got.payload_protocol, &payload[..]), (3, ssn, 0x0102_0304, bytes));
    }
    assert_eq!(pair.next(1, accepted), None);

    pair.close(0, caller, Closing::InOrder);
    assert_eq!(pair.news(1), [(accepted, News::Ended)]);
    assert_eq!(pair.associations(), [0, 0]);
    let asked = requests::Request::MaySend { stream: 0, association: 0, length: 1, destination: None };
    assert_eq!(pair.done(1, accepted, asked), Err(Errno::EPIPE));
}

#[test]
fn a_connect_to_port_zero_is_refused_and_one_to_no_address_is_invalid() {
    let mut pair = Pair::new();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let connect = |peer: &str| requests::Request::Connect { peer: peer.parse().unwrap(), waits: true };
    assert_eq!(pair.done(0, caller, connect("127.0.0.1:0")), Err(Errno::ECONNREFUSED));
    assert_eq!(pair.done(0, caller, connect("0.0.0.0:0")), Err(Errno::EINVAL));
}

#[test]
fn a_connect_to_nobody_is_refused_and_one_that_does_not_wait_is_told_later() {
    let mut pair = Pair::new();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let refused = Answered::from(Reply::failed(Errno::ECONNREFUSED));
    let news = pair.news(0);
    let failed = News::Failed(Errno::ECONNREFUSED);
    assert_eq!(news, [(caller, failed.clone()), (caller, News::Replied(Token(1), refused))]);

    let connect = requests::Request::Connect { peer: at(1), waits: false };
    assert_eq!(pair.done(0, caller, connect.clone()), Err(Errno::EINPROGRESS), "it may be tried again");
    assert_eq!(pair.done(0, caller, connect), Err(Errno::EALREADY));
    pair.exchange();
    assert_eq!(pair.news(0), [(caller, failed)]);
}

#[test]
fn a_killed_program_and_one_that_has_not_read_abort_and_the_peer_is_reset() {
    for closing in [Closing::Killed, Closing::Unread] {
        let mut pair = Pair::new();
        let (_, [caller, accepted]) = pair.connected();
        pair.close(1, accepted, closing);
        assert_eq!(pair.associations(), [0, 0]);
        assert_eq!(pair.news(0), [(caller, News::Ended)]);
        assert_eq!(pair.ends[0].program.open[&caller].error, Some(Errno::ECONNRESET));
    }
}

#[test]
fn a_port_is_one_sockets_until_it_is_closed() {
    let mut pair = Pair::new();
    let first = pair.listener(1, Style::OneToOne);
    let second = pair.open(1, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.done(1, second, requests::Request::Bind(at(1))), Err(Errno::EADDRINUSE));
    let elsewhere = SocketAddr::new([192, 0, 2, 1].into(), PORT);
    assert_eq!(pair.done(1, second, requests::Request::Bind(elsewhere)), Err(Errno::EADDRNOTAVAIL));
    pair.close(1, first, Closing::InOrder);
    pair.done(1, second, requests::Request::Bind(at(1))).unwrap();
    assert_eq!(pair.done(1, second, requests::Request::Bind(at(1))), Err(Errno::EINVAL));
    pair.done(1, second, requests::Request::Listen { backlog: 1 }).unwrap();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    assert_eq!(pair.news(1), [(second, News::Readable)]);
}

#[test]
fn a_port_is_given_back_once_nothing_of_it_is_left_and_a_caller_takes_another_until_then() {
    let mut pair = Pair::new();
    let (listener, [caller, accepted]) = pair.connected();
    let own = pair.done(0, caller, requests::Request::LocalName).unwrap().address.unwrap().port();
    // The peer does not answer: it is on its way to its end.
    pair.is_silent[1] = true;
    pair.close(0, caller, Closing::InOrder);
    let next = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, next, requests::Request::Connect { peer: at(1), waits: true }), None);
    let other = pair.done(0, next, requests::Request::LocalName).unwrap().address.unwrap().port();
    assert_ne!(own, other);
    pair.is_silent[1] = false;
    pair.pass(Duration::from_secs(4));
    assert_eq!(pair.associations(), [1, 1]);
    assert_eq!(pair.act(1, |sockets, _, _| sockets.poll_release()), None);
    for socket in [listener, accepted] {
        pair.close(1, socket, Closing::Killed);
    }
    assert_eq!(pair.associations(), [0, 0]);
    assert_eq!(pair.act(1, |sockets, _, _| sockets.poll_release()), Some(PORT));
    pair.listener(1, Style::OneToOne);
}

#[test]
fn a_long_message_comes_in_parts_and_what_follows_it_comes_behind_its_end() {
    let config = SctpConfig {
        receive_buffer_bytes: 20_000,
        partial_delivery_point_bytes: Some(5_000),
        ..SctpConfig::default()
    };
    let mut pair = Pair::with(config);
    let (_, [caller, accepted]) = pair.connected();
    let long: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
    assert_eq!(pair.send(0, caller, SendInfo { stream: 1, ..SendInfo::default() }, &long), Taken::Taken);
    assert_eq!(pair.send(0, caller, SendInfo { stream: 2, ..SendInfo::default() }, b"short"), Taken::Taken);
    let mut got = Vec::new();
    let mut parts = 0;
    loop {
        match pair.next(1, accepted) {
            None => pair.pass(Duration::from_millis(50)),
            Some(ForProgram { header: ToProgram::Data { is_end, info, .. }, bytes, .. }) => {
                parts += 1;
                assert_eq!(info.stream, 1);
                got.extend_from_slice(&bytes);
                if is_end {
                    break;
                }
            }
            Some(other) => panic!("{other:?}"),
        }
    }
    assert!(parts > 3 && got == long, "{parts} parts of {} bytes", got.len());
    pair.exchange();
    pair.pass(Duration::from_secs(2));
    assert_eq!(pair.message(1, accepted).unwrap().1, "short");
}

#[test]
fn what_has_no_room_is_held_and_goes_first_once_there_is_some() {
    let mut pair = Pair::new();
    let (_, [caller, accepted]) = pair.connected();
    let mut sent = 0_u32;
    let mut is_full = false;
    while !is_full {
        let bytes = sent.to_be_bytes().repeat(10_000);
        is_full = pair.send(0, caller, SendInfo::default(), &bytes) == Taken::Full;
        sent += 1;
        pair.exchange();
    }
    let mut received = 0_u32;
    let mut first = Vec::new();
    while received < sent {
        match pair.next(1, accepted) {
            Some(ForProgram { header: ToProgram::Data { is_end, .. }, bytes, .. }) => {
                first.extend_from_slice(&bytes);
                if is_end {
                    assert_eq!((first.len(), &first[..4]), (40_000, &received.to_be_bytes()[..]));
                    first.clear();
                    received += 1;
                }
            }
            Some(other) => panic!("{other:?}"),
            None => pair.pass(Duration::from_millis(250)),
        }
        pair.exchange();
    }
    assert_eq!(pair.news(0), [(caller, News::Writable)]);
}

#[test]
fn a_socket_of_ipv6_has_ipv4_mapped() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V6);
    let any = SocketAddr::new("::".parse().unwrap(), PORT);
    pair.done(1, listener, requests::Request::Bind(any)).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let Some(ForProgram { header: ToProgram::Accepted { peer }, .. }) = pair.next(1, listener) else {
        panic!()
    };
    assert_eq!(peer.ip(), "::ffff:10.0.0.1".parse::<IpAddr>().unwrap());
}

#[test]
fn a_caller_is_refused_while_the_queue_is_full_and_no_longer_once_one_is_accepted() {
    let mut pair = Pair::new();
    let listener = pair.listener_of(1, 1);
    let call = |pair: &mut Pair| {
        pair.news(0);
        let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
        assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
        pair.exchange();
        let news = pair.news(0);
        assert!(news.len() == 2, "{news:?}");
        news[0].1.clone()
    };
    // As Linux counts, one more than was asked for.
    assert_eq!([call(&mut pair), call(&mut pair)], [News::Connected, News::Connected]);
    assert_eq!(call(&mut pair), News::Failed(Errno::ECONNREFUSED));
    let [first, second] = [0, 1].map(|_| pair.next(1, listener).unwrap().socket.unwrap());
    assert_eq!(
        call(&mut pair),
        News::Failed(Errno::ECONNREFUSED),
        "nobody has accepted those that are handed over"
    );
    pair.act(1, |sockets, host, _| sockets.accepted(host, first));
    assert_eq!(call(&mut pair), News::Connected);
    assert_eq!(call(&mut pair), News::Failed(Errno::ECONNREFUSED));
    pair.close(1, second, Closing::Killed);
    assert_eq!(call(&mut pair), News::Connected, "one that waited is no more");
    pair.done(1, listener, requests::Request::Listen { backlog: 2 }).unwrap();
    assert_eq!(call(&mut pair), News::Connected, "there is more room");
    assert_eq!(call(&mut pair), News::Failed(Errno::ECONNREFUSED));
}

#[test]
fn a_caller_whose_init_finds_the_queue_full_is_accepted_if_there_is_room_by_its_cookie() {
    let mut pair = Pair::new();
    let listener = pair.listener_of(1, 1);
    for _ in 0..2 {
        let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
        assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
        pair.exchange();
    }
    let waiting = pair.next(1, listener).unwrap().socket.unwrap();
    let late = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.ask(0, late, requests::Request::Connect { peer: at(1), waits: true }), None);
    // The INIT and its answer.
    pair.carry(0);
    pair.carry(1);
    pair.act(1, |sockets, host, _| sockets.accepted(host, waiting));
    pair.news(0);
    pair.exchange();
    assert!(pair.news(0).contains(&(late, News::Connected)));
}

#[test]
fn a_message_that_names_its_peer_begins_the_association_of_a_one_to_one_socket_too() {
    let mut pair = Pair::new();
    let listener = pair.listener(1, Style::OneToOne);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let asked =
        |destination| requests::Request::MaySend { stream: 0, association: 0, length: 1, destination };
    assert_eq!(pair.done(0, caller, asked(None)), Err(Errno::EPIPE), "to nobody");
    assert_eq!(pair.done(0, caller, asked(Some(at(1)))).map(|reply| reply.number), Ok(0));
    assert_eq!(pair.send_to(0, caller, SendInfo::default(), Some(at(1)), b"first"), Taken::Taken);
    pair.exchange();
    let accepted = pair.next(1, listener).unwrap().socket.unwrap();
    assert_eq!(pair.message(1, accepted).unwrap().1, "first");
}

#[test]
fn a_receive_that_would_wait_behind_its_own_shutdown_is_told_that_nothing_is_there() {
    let mut pair = Pair::new();
    let (_, [caller, accepted]) = pair.connected();
    pair.done(0, caller, requests::Request::Shutdown(requests::Half::Write)).unwrap();
    pair.exchange();
    assert_eq!(pair.associations(), [0, 0]);
    let ended = |waits| requests::Request::Ended { waits };
    assert_eq!(pair.done(0, caller, ended(true)).map(|_| ()), Err(Errno::ENOTCONN));
    assert_eq!(pair.done(0, caller, ended(false)).map(|_| ()), Ok(()));
    // The peer said that nothing follows.
    assert_eq!(pair.done(1, accepted, ended(true)).map(|_| ()), Ok(()));
}

#[test]
fn what_failed_is_told_behind_the_end_with_its_cause_and_the_end_has_no_streams() {
    let mut pair = Pair::new();
    let (_, [caller, accepted]) = pair.connected();
    for kind in [0x8001_u16, 0x800d] {
        let wish = [&[0; 4][..], &kind.to_le_bytes(), &[1, 0]].concat();
        pair.set(0, caller, EVENT, &wish).unwrap();
    }
    pair.send(0, caller, SendInfo::default(), b"never");
    pair.close(1, accepted, Closing::Killed);
    pair.exchange();
    let (kind, change) = pair.notification(0, caller).unwrap();
    assert_eq!(kind, 0x8001);
    // COMM_LOST for a cause of code 12, without streams, and the cause as it was on the wire.
    assert_eq!(change[8..16], [1, 0, 0, 12, 0, 0, 0, 0]);
    assert_eq!(change[20..], [0, 12, 0, 4]);
    let (kind, failed) = pair.notification(0, caller).unwrap();
    assert_eq!((kind, &failed[8..12], &failed[32..]), (0x800d, &[0, 12, 0, 0][..], &b"never"[..]));
}

/// `SCTP_EVENT`.
const EVENT: i32 = 127;

#[test]
fn a_socket_of_all_addresses_is_told_the_one_from_which_it_reaches_its_peer() {
    let mut pair = Pair::new();
    let any = SocketAddr::new("0.0.0.0".parse().unwrap(), PORT);
    let listener = pair.open(1, Style::OneToOne, requests::Family::V4);
    pair.done(1, listener, requests::Request::Bind(any)).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V6);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    let told =
        |pair: &mut Pair, end, socket| pair.done(end, socket, requests::Request::LocalName).unwrap().address;
    assert!(told(&mut pair, 0, caller).unwrap().ip().is_unspecified(), "it has no peer yet");
    pair.exchange();
    let accepted = pair.next(1, listener).unwrap().socket.unwrap();
    assert_eq!(told(&mut pair, 0, caller).unwrap().ip(), "::ffff:10.0.0.1".parse::<IpAddr>().unwrap());
    assert_eq!(told(&mut pair, 1, accepted), Some(at(1)));
    assert_eq!(told(&mut pair, 1, listener), Some(any));
    pair.close(0, caller, Closing::InOrder);
    assert_eq!(told(&mut pair, 1, accepted), Some(at(1)), "behind its end, too");
}

#[test]
fn an_end_by_a_message_is_for_sockets_of_many_associations_and_those_that_were_peeled_off() {
    let mut pair = Pair::new();
    let (_, [caller, _]) = pair.connected();
    let asked = |association, destination, is_for_all| requests::Request::MayEnd {
        association,
        destination,
        is_for_all,
    };
    for is_for_all in [false, true] {
        assert_eq!(pair.done(0, caller, asked(0, None, is_for_all)), Err(Errno::EINVAL));
    }
    let many = pair.open(0, Style::OneToMany, requests::Family::V4);
    let may_send = requests::Request::MaySend { stream: 0, association: 0, length: 1, destination: None };
    assert_eq!(pair.done(0, many, may_send), Err(Errno::EPIPE), "to nobody");
    assert_eq!(pair.done(0, many, asked(0, Some(at(1)), false)), Err(Errno::EINVAL), "it begins none");
    assert_eq!(pair.done(0, many, asked(77, None, false)), Err(Errno::EPIPE));
    assert!(pair.done(0, many, asked(0, None, true)).is_ok());
    assert_eq!(pair.send_to(0, many, SendInfo::default(), Some(at(1)), b"begins"), Taken::Taken);
    pair.exchange();
    let number = pair.ends[0].program.associations.iter().map(|(_, one)| one.number.0).max().unwrap();
    for (association, destination) in [(0, Some(at(1))), (number, None)] {
        assert!(pair.done(0, many, asked(association, destination, false)).is_ok(), "{association}");
    }
    let of_the_caller = number - 1;
    assert_eq!(pair.done(0, many, asked(of_the_caller, None, false)), Err(Errno::EPIPE), "of another socket");
    let end = SendInfo { flags: 0x200, association: number, ..SendInfo::default() };
    assert_eq!(pair.send(0, many, end, b""), Taken::Ended);
}

#[test]
fn who_is_told_of_changes_reads_that_an_association_is_over_before_the_end() {
    for is_told in [false, true] {
        let mut pair = Pair::new();
        let listener = pair.listener(1, Style::OneToOne);
        if is_told {
            // Changes of the association, and the peer's SHUTDOWN.
            for kind in [0x8001_u16, 0x8005] {
                let [low, high] = kind.to_le_bytes();
                pair.set(1, listener, 127, &[0, 0, 0, 0, low, high, 1, 0]).unwrap();
            }
        }
        let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
        assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
        pair.exchange();
        let accepted = pair.next(1, listener).unwrap().socket.unwrap();
        let mut kinds = Vec::new();
        let mut read = |pair: &mut Pair| {
            while let Some((kind, _)) = pair.notification(1, accepted) {
                kinds.push(kind);
            }
        };
        read(&mut pair);
        pair.news(1);
        pair.done(0, caller, requests::Request::Shutdown(requests::Half::Write)).unwrap();
        // The SHUTDOWN and the answer: the association is not over.
        pair.carry(0);
        pair.carry(1);
        read(&mut pair);
        let ended = (accepted, News::Ended);
        assert_eq!(pair.news(1).contains(&ended), !is_told, "{is_told}");
        pair.exchange();
        read(&mut pair);
        assert_eq!(pair.news(1).contains(&ended), is_told, "{is_told}");
        assert_eq!(kinds, if is_told { &[0x8001, 0x8005, 0x8001][..] } else { &[] });
        assert_eq!(pair.done(1, accepted, requests::Request::Ended { waits: true }).map(|_| ()), Ok(()));
    }
}
