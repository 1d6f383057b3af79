//! Sockets that have one port: at addresses of their own, or at those of another.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use slantpath_requests::{self as requests, Errno, Style, ToProgram};

use super::{PORT, Pair, address};
use crate::{Closing, ForProgram, SocketNumber};

const SOL_SOCKET: i32 = 1;
const SO_REUSEADDR: i32 = 2;
const IPPROTO_IPV6: i32 = 41;
const IPV6_V6ONLY: i32 = 26;
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

fn six(end: usize) -> IpAddr {
    format!("2001:db8::{}", end + 1).parse().unwrap()
}

/// A socket at the second host, with a switch set, and what binding it gives.
fn bound(pair: &mut Pair, own: IpAddr, switch: Option<(i32, i32)>) -> (SocketNumber, Result<(), Errno>) {
    let family = if own.is_ipv4() { requests::Family::V4 } else { requests::Family::V6 };
    let socket = pair.open(1, Style::OneToOne, family);
    if let Some((level, name)) = switch {
        let value = 1_i32.to_ne_bytes().to_vec();
        let request = requests::Request::SetOption { level, name, value, waits: false };
        pair.done(1, socket, request).unwrap();
    }
    let done = pair.done(1, socket, requests::Request::Bind(SocketAddr::new(own, PORT)));
    (socket, done.map(|_| ()))
}

fn listens(pair: &mut Pair, socket: SocketNumber) -> Result<(), Errno> {
    pair.done(1, socket, requests::Request::Listen { backlog: 5 }).map(|_| ())
}

/// A socket of the first host that has called an address of the second.
fn called(pair: &mut Pair, to: IpAddr) -> SocketNumber {
    let family = if to.is_ipv4() { requests::Family::V4 } else { requests::Family::V6 };
    let caller = pair.open(0, Style::OneToOne, family);
    let request = requests::Request::Connect { peer: SocketAddr::new(to, PORT), waits: true };
    assert_eq!(pair.ask(0, caller, request), None);
    pair.exchange();
    caller
}

fn accepted(pair: &mut Pair, listener: SocketNumber) -> Option<SocketNumber> {
    match pair.next(1, listener)? {
        ForProgram { header: ToProgram::Accepted { .. }, socket, .. } => socket,
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_listeners_have_one_port_at_different_addresses_and_each_is_called_at_its_own() {
    let only = Some((IPPROTO_IPV6, IPV6_V6ONLY));
    for [one, other] in [[address(1), six(1)], ANY] {
        let mut pair = Pair::new();
        let (four, done) = bound(&mut pair, one, None);
        assert_eq!((done, listens(&mut pair, four)), (Ok(()), Ok(())));
        let (sixth, done) = bound(&mut pair, other, only);
        assert_eq!((done, listens(&mut pair, sixth)), (Ok(()), Ok(())));
        called(&mut pair, address(1));
        assert!(accepted(&mut pair, four).is_some() && accepted(&mut pair, sixth).is_none());
        called(&mut pair, six(1));
        assert!(accepted(&mut pair, four).is_none() && accepted(&mut pair, sixth).is_some());
        // One ends, and the other goes on.
        pair.close(1, four, Closing::InOrder);
        called(&mut pair, six(1));
        assert!(accepted(&mut pair, sixth).is_some());
        called(&mut pair, address(1));
        pair.exchange();
        assert_eq!(pair.associations()[1], 3, "nobody listens there");
    }
}

#[test]
fn one_peer_and_port_have_an_association_with_each_of_two_at_one_port() {
    let mut pair = Pair::new();
    let both = [address(1), six(1)].map(|own| {
        let (listener, _) =
            bound(&mut pair, own, Some((IPPROTO_IPV6, IPV6_V6ONLY)).filter(|_| own.is_ipv6()));
        listens(&mut pair, listener).unwrap();
        listener
    });
    // One socket of both versions calls them from one port.
    let caller = pair.open(0, Style::OneToMany, requests::Family::V6);
    for to in [address(1), six(1)] {
        let to = match to {
            IpAddr::V4(four) => four.to_ipv6_mapped().into(),
            six @ IpAddr::V6(_) => six,
        };
        let request = requests::Request::Connect { peer: SocketAddr::new(to, PORT), waits: true };
        assert_eq!(pair.ask(0, caller, request), None);
        pair.exchange();
    }
    assert_eq!(pair.associations(), [2, 2]);
    for listener in both {
        assert!(accepted(&mut pair, listener).is_some());
    }
}

#[test]
fn addresses_that_overlap_are_in_use() {
    for (one, other) in [(ANY[0], address(1)), (ANY[1], address(1)), (ANY[1], ANY[0]), (six(1), ANY[1])] {
        let mut pair = Pair::new();
        assert_eq!(bound(&mut pair, one, None).1, Ok(()));
        assert_eq!(bound(&mut pair, other, None).1, Err(Errno::EADDRINUSE), "{one} {other}");
    }
}

#[test]
fn an_address_is_shared_if_both_ask_for_it_and_one_of_them_listens() {
    let reuse = Some((SOL_SOCKET, SO_REUSEADDR));
    let mut pair = Pair::new();
    let (first, done) = bound(&mut pair, address(1), reuse);
    assert_eq!(done, Ok(()));
    assert_eq!(bound(&mut pair, address(1), None).1, Err(Errno::EADDRINUSE), "only one has asked");
    let (second, done) = bound(&mut pair, address(1), reuse);
    assert_eq!((done, listens(&mut pair, first)), (Ok(()), Ok(())));
    assert_eq!(listens(&mut pair, second), Err(Errno::EADDRINUSE));
    assert_eq!(bound(&mut pair, address(1), reuse).1, Err(Errno::EADDRINUSE), "it listens");
    // Once more is no other.
    assert_eq!(listens(&mut pair, first), Ok(()));
}

#[test]
fn an_address_that_another_has_is_not_added() {
    let mut pair = Pair::new();
    assert_eq!(bound(&mut pair, six(1), Some((IPPROTO_IPV6, IPV6_V6ONLY))).1, Ok(()));
    let socket = pair.open(1, Style::OneToOne, requests::Family::V6);
    let mapped = SocketAddr::new("::ffff:10.0.0.2".parse().unwrap(), PORT);
    pair.done(1, socket, requests::Request::Bind(mapped)).unwrap();
    let mut added = vec![10, 0];
    added.extend(PORT.to_be_bytes());
    added.extend([0; 4]);
    added.extend(six(1).to_string().parse::<Ipv6Addr>().unwrap().octets());
    added.extend([0; 4]);
    assert_eq!(pair.set(1, socket, BINDX_ADD, &added), Err(Errno::EADDRINUSE));
    assert_eq!(pair.done(1, socket, requests::Request::LocalName).unwrap().address, Some(mapped));
}

/// `SCTP_SOCKOPT_BINDX_ADD`.
const BINDX_ADD: i32 = 100;

#[test]
fn the_port_that_a_request_names_is_known_if_nothing_else_is_wrong_with_it() {
    let mut pair = Pair::new();
    let socket = pair.open(1, Style::OneToOne, requests::Family::V4);
    let named = |pair: &mut Pair, request| pair.act(1, |sockets, _, _| sockets.port_named(socket, &request));
    let bind = |ip: &str, port| requests::Request::Bind(SocketAddr::new(ip.parse().unwrap(), port));
    assert_eq!(named(&mut pair, bind("10.0.0.2", 700)), Some(700));
    assert_eq!(named(&mut pair, bind("0.0.0.0", 700)), Some(700));
    assert_eq!(named(&mut pair, bind("10.0.0.2", 0)), None, "any");
    assert_eq!(named(&mut pair, bind("192.0.2.1", 700)), None, "an address that is not here is said first");
    assert_eq!(named(&mut pair, bind("::1", 700)), None);
    let bindx = |name| {
        let value = crate::layout::Told::default().address(SocketAddr::new(address(1), 701)).0;
        requests::Request::SetOption { level: 132, name, value, waits: false }
    };
    assert_eq!(named(&mut pair, bindx(100)), Some(701));
    assert_eq!(named(&mut pair, bindx(101)), None, "it takes an address away");
    assert_eq!(named(&mut pair, requests::Request::Listen { backlog: 1 }), None);
    pair.done(1, socket, bind("10.0.0.2", 5_000)).unwrap();
    assert_eq!(named(&mut pair, bind("10.0.0.2", 700)), None, "it has one");
}
