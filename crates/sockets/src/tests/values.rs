//! Values of options: each that is declared is served, and any bytes are.

use proptest::prelude::*;

use super::*;
use crate::layout::Told;
use crate::{OptionAccess, declared_options};

/// Options that need more than a value: they name an association, an address, or what has been agreed on.
const OF_ASSOCIATIONS: &[i32] = &[6, 14, 15, 24, 26, 28, 29, 102, 108, 109, 111, 112, 115, 116, 122];

#[test]
fn each_option_that_can_be_read_is_read_and_each_other_is_unknown() {
    let mut pair = Pair::new();
    let socket = pair.open(0, Style::OneToOne, requests::Family::V4);
    for option in declared_options() {
        let read = pair.get(0, socket, option.number, &[0; 256]);
        match option.access {
            OptionAccess::Set => assert_eq!(read, Err(Errno::ENOPROTOOPT), "{option:?}"),
            _ if OF_ASSOCIATIONS.contains(&option.number) => assert!(read.is_err(), "{option:?}"),
            // Of one-to-many sockets, and of a kind of notification.
            _ if [4, 127].contains(&option.number) => assert!(read.is_err(), "{option:?}"),
            _ => assert!(read.is_ok(), "{option:?}: {read:?}"),
        }
    }
    for unknown in [103, 104, 126, 132, 133, 134, -1, i32::MAX] {
        assert_eq!(pair.get(0, socket, unknown, &[0; 256]), Err(Errno::ENOPROTOOPT));
        assert_eq!(pair.set(0, socket, unknown, &[0; 256]), Err(Errno::ENOPROTOOPT));
    }
}

#[test]
fn settings_that_were_made_are_read_and_hold_for_what_is_connected_then() {
    let mut pair = Pair::new();
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let rto = Told::default().i32(0).u32(700).u32(9_000).u32(300).0;
    pair.set(0, caller, 0, &rto).unwrap();
    assert_eq!(pair.get(0, caller, 0, &[0; 16]), Ok(rto));
    let init = Told::default().u16(5).u16(7).u16(3).u16(0).0;
    pair.set(0, caller, 2, &init).unwrap();
    assert_eq!(pair.get(0, caller, 2, &[0; 8]).unwrap()[..6], init[..6]);
    pair.listener(1, Style::OneToOne);
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let status = pair.get(0, caller, 14, &[0; 176]).unwrap();
    assert_eq!(status[16..20], Told::default().u16(7).u16(5).0, "streams");
    // Of the association now, and not what contradicts itself.
    let later = Told::default().i32(0).u32(800).u32(8_000).u32(400).0;
    pair.set(0, caller, 0, &later).unwrap();
    assert_eq!(pair.get(0, caller, 0, &[0; 16]).unwrap()[4..], later[4..]);
    let wrong = Told::default().i32(0).u32(800).u32(100).u32(400).0;
    assert_eq!(pair.set(0, caller, 0, &wrong), Err(Errno::EINVAL));
    let asked = requests::Request::MaySend { stream: 5, association: 0, length: 1, destination: None };
    assert_eq!(pair.done(0, caller, asked), Err(Errno::EINVAL), "the sixth of five streams");
}

#[test]
fn sockets_of_all_kinds_have_what_the_system_has() {
    let mut pair = Pair::new();
    let one = pair.open(0, Style::OneToOne, requests::Family::V4);
    let many = pair.open(0, Style::OneToMany, requests::Family::V6);
    let read = |pair: &mut Pair, socket, name| {
        let value = vec![0; 8];
        let request = requests::Request::GetOption { level: 1, name, room: 4, value, waits: false };
        pair.done(0, socket, request).map(|reply| i32::from_le_bytes(reply.value.try_into().unwrap()))
    };
    // SO_TYPE, SO_PROTOCOL, SO_DOMAIN, SO_ERROR, SO_ACCEPTCONN.
    assert_eq!([3, 38, 39, 4, 30].map(|name| read(&mut pair, one, name)), [1, 132, 2, 0, 0].map(Ok));
    assert_eq!([3, 38, 39].map(|name| read(&mut pair, many, name)), [5, 132, 10].map(Ok));
    let value = 100_000_u32.to_le_bytes().to_vec();
    let sndbuf = requests::Request::SetOption { level: 1, name: 7, value, waits: false };
    pair.done(0, one, sndbuf).unwrap();
    assert_eq!(read(&mut pair, one, 7), Ok(200_000));
    let asked = requests::Request::MaySend { stream: 0, association: 0, length: 100_001, destination: None };
    assert_eq!(pair.done(0, one, asked), Err(Errno::EMSGSIZE));
}

#[test]
fn both_ends_that_have_a_key_authenticate_data_and_know_what_the_other_wants() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V4);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let key = Told::default().i32(0).u16(5).u16(6).bytes(b"secret").0;
    let id = Told::default().i32(0).u16(5).padded_to(8).0;
    for (end, socket) in [(0, caller), (1, listener)] {
        // SCTP_AUTH_CHUNK of DATA, SCTP_AUTH_KEY, SCTP_AUTH_ACTIVE_KEY.
        assert_eq!(pair.set(end, socket, 24, &id), Err(Errno::EACCES), "not before it is offered");
        pair.set(end, socket, 21, &[0]).unwrap();
        assert_eq!(pair.set(end, socket, 21, &[1]), Err(Errno::EINVAL), "INIT");
        assert_eq!(pair.set(end, socket, 24, &id), Err(Errno::EINVAL), "no such key");
        pair.set(end, socket, 23, &key).unwrap();
        pair.set(end, socket, 24, &id).unwrap();
        assert_eq!(pair.set(end, socket, 25, &id), Err(Errno::EINVAL), "it is the active one");
    }
    pair.done(1, listener, requests::Request::Bind(at(1))).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let accepted = pair.next(1, listener).unwrap().socket.unwrap();
    assert_eq!(pair.send(0, caller, SendInfo::default(), b"signed"), Taken::Taken);
    pair.exchange();
    assert_eq!(pair.message(1, accepted).unwrap().1, "signed");
    let chunks = Told::default().i32(0).u32(1).u8(0).0;
    for option in [26, 27] {
        assert_eq!(pair.get(0, caller, option, &[0; 16]).as_ref(), Ok(&chunks));
    }
    assert_eq!(pair.get(0, caller, 24, &[0; 8]), Ok(id));
}

#[test]
fn a_key_that_was_taken_out_of_use_is_told_to_be_free_and_comes_back_only_if_it_is_given_anew() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V4);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let id = |number: u16| Told::default().i32(0).u16(number).padded_to(8).0;
    let key = Told::default().i32(0).u16(5).u16(6).bytes(b"secret").0;
    for (end, socket) in [(0, caller), (1, listener)] {
        pair.set(end, socket, 21, &[0]).unwrap();
        pair.set(end, socket, 23, &key).unwrap();
    }
    pair.done(1, listener, requests::Request::Bind(at(1))).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    pair.set(0, caller, 127, &Told::default().i32(0).u16(0x8008).u8(1).u8(0).0).unwrap();
    let (active, delete, deactivate) = (24, 25, 35);
    assert_eq!(pair.set(0, caller, deactivate, &id(0)), Err(Errno::EINVAL), "it is the active one");
    assert_eq!(pair.set(0, caller, deactivate, &id(9)), Err(Errno::EINVAL), "there is none");
    pair.set(0, caller, deactivate, &id(5)).unwrap();
    let (kind, bytes) = pair.notification(0, caller).unwrap();
    assert_eq!((kind, &bytes[8..16]), (0x8008, &[5, 0, 0, 0, 1, 0, 0, 0][..]), "SCTP_AUTH_FREE_KEY");
    assert_eq!(pair.set(0, caller, active, &id(5)), Err(Errno::EINVAL));
    pair.set(0, caller, deactivate, &id(5)).unwrap();
    assert_eq!(pair.next(0, caller), None, "told once");
    pair.set(0, caller, 23, &key).unwrap();
    pair.set(0, caller, active, &id(5)).unwrap();
    pair.set(0, caller, delete, &id(0)).unwrap();
    // Of later associations.
    pair.set(1, listener, deactivate, &id(5)).unwrap();
    assert_eq!(pair.set(1, listener, active, &id(5)), Err(Errno::EINVAL));
    pair.set(1, listener, delete, &id(5)).unwrap();
    assert_eq!(pair.set(1, listener, deactivate, &id(5)), Err(Errno::EINVAL));
}

#[test]
fn algorithms_of_digests_are_listed_as_the_program_has_them() {
    let mut pair = Pair::new();
    let socket = pair.open(0, Style::OneToOne, requests::Family::V4);
    let list = |idents: &[u16]| {
        idents
            .iter()
            .fold(Told::default().u32(crate::layout::narrowed(idents.len() as u64)), |told, one| {
                told.u16(*one)
            })
            .0
    };
    assert_eq!(pair.get(0, socket, 22, &[0; 8]), Ok(list(&[3, 1])));
    for listed in [&[1, 3][..], &[1], &[3, 1]] {
        pair.set(0, socket, 22, &list(listed)).unwrap();
        assert_eq!(pair.get(0, socket, 22, &[0; 8]), Ok(list(listed)));
    }
    assert_eq!(pair.set(0, socket, 22, &list(&[3])), Err(Errno::EINVAL), "without SHA-1");
    assert_eq!(pair.set(0, socket, 22, &list(&[1, 2])), Err(Errno::EOPNOTSUPP), "an unknown one");
    assert_eq!(pair.set(0, socket, 22, &list(&[1, 3])[..6]), Err(Errno::EINVAL), "cut");
    assert_eq!(pair.set(0, socket, 22, &list(&[1, 3, 1, 3, 1])), Err(Errno::EINVAL), "too many");
}

#[test]
fn a_message_has_the_tsn_of_its_first_chunk() {
    let mut pair = Pair::with(Sockets::usual_settings());
    let (_, [caller, accepted]) = pair.connected();
    let tsns: Vec<u32> = [&b"one"[..], &[7; 4_000], b"two"]
        .into_iter()
        .map(|payload| {
            assert_eq!(pair.send(0, caller, SendInfo::default(), payload), Taken::Taken);
            pair.exchange();
            pair.message(1, accepted).unwrap().0.tsn
        })
        .collect();
    // The second has three chunks.
    assert_eq!([1, 2].map(|place: usize| tsns[place].wrapping_sub(tsns[0])), [1, 4]);
}

#[test]
fn status_tells_the_state_of_an_association_that_is_set_up_and_shut_down() {
    let mut pair = Pair::new();
    pair.listener(1, Style::OneToOne);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    assert_eq!(pair.get(0, caller, 14, &[0; 176]), Err(Errno::EINVAL), "there is none");
    let state = |pair: &mut Pair| pair.get(0, caller, 14, &[0; 176]).unwrap()[4];
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    assert_eq!(state(&mut pair), 2, "COOKIE_WAIT");
    pair.exchange();
    assert_eq!(state(&mut pair), 4, "ESTABLISHED");
    pair.is_silent = [true, true];
    pair.done(0, caller, requests::Request::Shutdown(requests::Half::Write)).unwrap();
    assert_eq!(state(&mut pair), 6, "SHUTDOWN_SENT");
}

#[test]
fn who_has_all_addresses_may_have_peers_told_of_more() {
    let mut pair = Pair::new();
    let socket = pair.open(0, Style::OneToOne, requests::Family::V4);
    let (on, off) = (1_u32.to_le_bytes(), 0_u32.to_le_bytes());
    assert_eq!(pair.set(0, socket, 30, &on), Err(Errno::EINVAL), "it is not bound");
    pair.set(0, socket, 30, &off).unwrap();
    let any = SocketAddr::new([0, 0, 0, 0].into(), 0);
    pair.done(0, socket, requests::Request::Bind(any)).unwrap();
    pair.set(0, socket, 30, &on).unwrap();
    assert_eq!(pair.get(0, socket, 30, &[0; 4]), Ok(on.to_vec()));
}

/// Options of `linux/sctp.h` beside those that are declared.
const OTHERS_OF_LINUX: [&str; 2] = ["SCTP_REMOTE_UDP_ENCAPS_PORT", "SCTP_PLPMTUD_PROBE_INTERVAL"];

#[test]
fn the_page_names_each_option_of_linux_that_is_refused_and_no_other() {
    let page = include_str!("../../../../docs/do/sctp-programs.md");
    let at = page.find("- Options that this stack has not").expect("the page has a list");
    let list = page[at..].split("\n- ").next().unwrap_or_default();
    let named: Vec<&str> = list.split('`').filter(|word| word.starts_with("SCTP_")).collect();
    assert_eq!(named, OTHERS_OF_LINUX);
    assert!(declared_options().all(|option| !OTHERS_OF_LINUX.contains(&option.name)));
}

#[test]
fn streams_are_reset_and_added_where_both_ends_permit_it_and_both_are_told() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V4);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let all = Told::default().i32(0).u32(7).0;
    for (end, socket) in [(0, caller), (1, listener)] {
        pair.set(end, socket, 118, &all).unwrap();
        assert_eq!(pair.get(end, socket, 118, &[0; 8]).as_ref(), Ok(&all));
        pair.set(end, socket, 11, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]).unwrap();
    }
    pair.done(1, listener, requests::Request::Bind(at(1))).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let accepted = pair.next(1, listener).unwrap().socket.unwrap();
    let request = Told::default().i32(0).u16(2).u16(2).u16(1).u16(3).0;
    pair.set(0, caller, 119, &request).unwrap();
    pair.exchange();
    let told = |flags: u8| [&[0x0a, 0x80, flags, 0, 16, 0, 0, 0][..], &[1, 0, 3, 0]].concat();
    for (end, socket, flags) in [(0, caller, 2), (1, accepted, 1)] {
        let (_, bytes) = pair.notification(end, socket).unwrap();
        assert_eq!([&bytes[..8], &bytes[12..]].concat(), told(flags));
    }
    pair.set(0, caller, 121, &Told::default().i32(0).u16(0).u16(4).0).unwrap();
    pair.exchange();
    let (kind, bytes) = pair.notification(0, caller).unwrap();
    assert_eq!((kind, bytes[14]), (0x800c, 4), "outbound streams that were added");
    let asked = requests::Request::MaySend { stream: 19, association: 0, length: 1, destination: None };
    assert_eq!(pair.done(0, caller, asked).map(|reply| reply.number), Ok(20));
    assert_eq!(pair.set(0, caller, 119, &request[..8]), Err(Errno::EINVAL), "without its list");
}

#[test]
fn a_message_that_was_worth_no_time_is_given_up_and_counted() {
    let mut pair = Pair::with(Sockets::usual_settings());
    let (_, [caller, _]) = pair.connected();
    let worthless = SendInfo { stream: 2, policy: 0x10, policy_value: 0, context: 9, ..SendInfo::default() };
    pair.set(0, caller, 11, &[0, 0, 0, 1]).unwrap();
    assert_eq!(pair.send(0, caller, worthless, b"late"), Taken::Taken);
    pair.exchange();
    let (kind, bytes) = pair.notification(0, caller).unwrap();
    assert_eq!((kind, &bytes[24..28], &bytes[48..]), (0x8003, &[9, 0, 0, 0][..], &b"late"[..]));
    let asked = Told::default().i32(0).u16(2).u16(0x10).u64(0).u64(0).0;
    let status = pair.get(0, caller, 116, &asked).unwrap();
    assert_eq!(status[8..], Told::default().u64(1).u64(0).0);
}

#[test]
fn fields_of_the_ip_header_and_the_scheduler_are_those_that_were_set() {
    let mut pair = Pair::new();
    let (_, [caller, _]) = pair.connected();
    let value = 0xb8_u32.to_le_bytes().to_vec();
    let tos = requests::Request::SetOption { level: 0, name: 1, value, waits: false };
    pair.done(0, caller, tos).unwrap();
    let config = &pair.ends[0].program.open[&caller].config;
    assert_eq!(config.ip.dscp, slantpath_live::Dscp::new(46).unwrap());
    let round_robin = Told::default().i32(0).u32(2).0;
    assert_eq!(pair.set(0, caller, 123, &round_robin), Err(Errno::EOPNOTSUPP), "it is up");
    let other = pair.open(0, Style::OneToOne, requests::Family::V4);
    pair.set(0, other, 123, &round_robin).unwrap();
    assert_eq!(pair.get(0, other, 123, &[0; 8]), Ok(round_robin));
}

fn any_option() -> impl Strategy<Value = (i32, i32)> {
    let number = prop_oneof![4 => 0..134_i32, 1 => any::<i32>()];
    (prop_oneof![8 => Just(SCTP), 1 => Just(1), 1 => Just(41), 1 => any::<i32>()], number)
}

/// Values whose first number often is one that stands for associations.
fn any_value() -> impl Strategy<Value = Vec<u8>> {
    let head =
        prop_oneof![Just(vec![0, 0, 0, 0]), Just(vec![2, 0, 0, 0]), Just(vec![3, 0, 0, 0]), Just(vec![])];
    let tail = proptest::collection::vec(prop_oneof![2 => Just(0_u8), 1 => any::<u8>()], 0..170);
    (head, tail).prop_map(|(head, tail)| [head, tail].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_of_any_option_are_answered(
        asked in proptest::collection::vec((any_option(), any_value(), any::<bool>(), 0..3_usize), 1..40),
    ) {
        let mut pair = Pair::new();
        let (_, [caller, accepted]) = pair.connected();
        let many = pair.open(0, Style::OneToMany, requests::Family::V6);
        for ((level, name), value, is_set, which) in asked {
            let (end, socket) = [(0, caller), (1, accepted), (0, many)][which];
            let request = if is_set {
                requests::Request::SetOption { level, name, value, waits: false }
            } else {
                requests::Request::GetOption { level, name, room: 512, value, waits: false }
            };
            prop_assert!(pair.ask(end, socket, request).is_some());
            pair.exchange();
        }
    }
}

#[test]
fn a_key_that_the_peer_begins_to_use_is_told_once() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToOne, requests::Family::V4);
    let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
    let key = Told::default().i32(0).u16(5).u16(6).bytes(b"secret").0;
    for (end, socket) in [(0, caller), (1, listener)] {
        pair.set(end, socket, 21, &[0]).unwrap();
        pair.set(end, socket, 23, &key).unwrap();
    }
    pair.set(1, listener, 127, &Told::default().i32(0).u16(0x8008).u8(1).u8(0).0).unwrap();
    pair.done(1, listener, requests::Request::Bind(at(1))).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 1 }).unwrap();
    assert_eq!(pair.ask(0, caller, requests::Request::Connect { peer: at(1), waits: true }), None);
    pair.exchange();
    let accepted = pair.next(1, listener).unwrap().socket.unwrap();
    let said = |pair: &mut Pair, bytes: &[u8]| {
        assert_eq!(pair.send(0, caller, SendInfo::default(), bytes), Taken::Taken);
        pair.exchange();
    };
    said(&mut pair, b"by the first key");
    assert_eq!(pair.message(1, accepted).unwrap().1, "by the first key");
    pair.set(0, caller, 24, &Told::default().i32(0).u16(5).padded_to(8).0).unwrap();
    said(&mut pair, b"by another");
    let (kind, bytes) = pair.notification(1, accepted).unwrap();
    assert_eq!((kind, &bytes[8..16]), (0x8008, &[5, 0, 0, 0, 0, 0, 0, 0][..]), "SCTP_AUTH_NEW_KEY");
    assert_eq!(pair.message(1, accepted).unwrap().1, "by another");
    said(&mut pair, b"by the same");
    assert_eq!(pair.message(1, accepted).unwrap().1, "by the same");
}
