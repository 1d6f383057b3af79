//! Whatever programs ask, of a socket in whatever state: an answer or one of Linux's errors, and no socket but that one
//! is changed.

use proptest::prelude::*;

use super::*;

/// Sockets of the first host: fresh, bound, listening, connected, accepted, and of both styles where that differs.
fn sockets_of_all_states(pair: &mut Pair) -> Vec<SocketNumber> {
    let (_, [caller, _]) = pair.connected();
    let mut sockets = vec![caller];
    for (style, port) in [(Style::OneToOne, 6_000), (Style::OneToMany, 6_100)] {
        for (family, port) in [(requests::Family::V4, port), (requests::Family::V6, port + 10)] {
            sockets.push(pair.open(0, style, family));
            let ip = if family == requests::Family::V4 { address(0) } else { "2001:db8::1".parse().unwrap() };
            for listens in [false, true] {
                let socket = pair.open(0, style, family);
                let own = SocketAddr::new(ip, port + u16::from(listens));
                pair.done(0, socket, requests::Request::Bind(own)).unwrap();
                if listens {
                    pair.done(0, socket, requests::Request::Listen { backlog: 2 }).unwrap();
                }
                sockets.push(socket);
            }
        }
    }
    sockets
}

fn any_value() -> impl Strategy<Value = Vec<u8>> {
    // Numbers that mean something, and lengths that are nearly right.
    let word = prop_oneof![Just(0_u32), Just(1), Just(2), Just(3), Just(4), any::<u32>(), Just(u32::MAX)];
    let words = proptest::collection::vec(word, 0..50);
    (words, 0_usize..4).prop_map(|(words, cut)| {
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        bytes.truncate(bytes.len().saturating_sub(cut));
        bytes
    })
}

fn any_at() -> impl Strategy<Value = SocketAddr> {
    let ip = prop_oneof![
        Just("10.0.0.1"),
        Just("10.0.0.2"),
        Just("0.0.0.0"),
        Just("192.0.2.1"),
        Just("::"),
        Just("::ffff:10.0.0.2"),
        Just("2001:db8::2"),
        Just("ff02::1"),
        Just("255.255.255.255")
    ];
    (ip, prop_oneof![Just(0), Just(PORT), any::<u16>()])
        .prop_map(|(ip, port)| SocketAddr::new(ip.parse().unwrap(), port))
}

fn any_request() -> impl Strategy<Value = requests::Request> {
    use requests::Request;
    let level = prop_oneof![8 => Just(SCTP), 2 => Just(1), 1 => Just(0), 1 => Just(41), 1 => any::<i32>()];
    let name = prop_oneof![20 => 0..140_i32, 1 => any::<i32>()];
    let option = (level, name, any_value(), any::<bool>()).boxed();
    let half =
        prop_oneof![Just(requests::Half::Read), Just(requests::Half::Write), Just(requests::Half::Both)];
    prop_oneof![
        6 => option.clone().prop_map(|(level, name, value, waits)| Request::SetOption { level, name, value, waits }),
        6 => (option, 0..400_u32).prop_map(|((level, name, value, waits), room)| {
            Request::GetOption { level, name, room, value, waits }
        }),
        1 => any_at().prop_map(Request::Bind),
        1 => (any_at(), any::<bool>()).prop_map(|(peer, waits)| Request::Connect { peer, waits }),
        1 => (0..4_u32).prop_map(|backlog| Request::Listen { backlog }),
        1 => Just(Request::LocalName),
        1 => Just(Request::PeerName),
        1 => half.prop_map(Request::Shutdown),
        1 => any::<bool>().prop_map(|waits| Request::Ended { waits }),
        1 => (any::<i32>(), proptest::option::of(any_at()), any::<bool>()).prop_map(
            |(association, destination, is_for_all)| Request::MayEnd { association, destination, is_for_all }
        ),
        1 => (any::<u16>(), any::<i32>(), any::<u32>(), proptest::option::of(any_at())).prop_map(
            |(stream, association, length, destination)| {
                Request::MaySend { stream, association, length, destination }
            }
        ),
    ]
}

fn any_info() -> impl Strategy<Value = Option<SendInfo>> {
    let info = (0..20_u16, any::<u16>(), 0..6_i32, any::<u16>(), any::<u32>()).prop_map(
        |(stream, flags, association, policy, policy_value)| SendInfo {
            stream,
            flags,
            association,
            policy,
            policy_value,
            ..SendInfo::default()
        },
    );
    proptest::option::of(info)
}

/// Place of a socket, and a request and a message of its program.
fn any_act() -> impl Strategy<Value = (usize, requests::Request, Option<SendInfo>, Option<SocketAddr>)> {
    (0..20_usize, any_request(), any_info(), proptest::option::of(any_at()))
}

proptest! {
    #[test]
    fn any_request_and_any_message_has_an_answer(
        acts in proptest::collection::vec(any_act(), 1..30)
    ) {
        let mut pair = Pair::new();
        let sockets = sockets_of_all_states(&mut pair);
        let (listener, witness) = (pair.listener_at(1, 7_000), pair.open(0, Style::OneToOne, requests::Family::V4));
        let connect = requests::Request::Connect { peer: SocketAddr::new(address(1), 7_000), waits: true };
        prop_assert_eq!(pair.ask(0, witness, connect), None);
        pair.exchange();
        for (place, request, info, destination) in acts {
            let socket = sockets[place % sockets.len()];
            if let Some(answer) = pair.ask(0, socket, request) {
                if let Some(peeled) = answer.socket {
                    pair.close(0, peeled, Closing::InOrder);
                }
                let error = answer.reply.error.map_or(0, |error| error.0);
                prop_assert!(error < 134, "Linux has no such error: {}", error);
            }
            let header = FromProgram::Data { is_more: place % 7 == 0, info, destination };
            pair.act(0, |sockets, host, now| sockets.take(now, host, socket, header, b"any"));
            pair.exchange();
            pair.news(0);
        }
        // One who has done nothing of that is where it was.
        prop_assert_eq!(pair.send(0, witness, SendInfo::default(), b"as before"), Taken::Taken);
        pair.exchange();
        let accepted = pair.next(1, listener).and_then(|piece| piece.socket).unwrap();
        let (_, came) = pair.message(1, accepted).unwrap();
        prop_assert_eq!(&came[..], &b"as before"[..]);
        for socket in sockets {
            pair.close(0, socket, Closing::Killed);
        }
        pair.pass(Duration::from_secs(1));
    }
}
