//! Many sockets and associations, by counts; and a program that does not read.

use super::*;
use crate::receiving::INBOX_BYTES_MAX;

const MANY: usize = 600;

#[test]
fn many_sockets_have_ports_by_few_batches_and_all_are_given_back() {
    let mut pair = Pair::new();
    let listener = pair.open(1, Style::OneToMany, requests::Family::V4);
    pair.done(1, listener, requests::Request::Bind(at(1))).unwrap();
    pair.done(1, listener, requests::Request::Listen { backlog: 5 }).unwrap();
    let before = pair.batches;
    let callers: Vec<SocketNumber> =
        (0..MANY).map(|_| pair.open(0, Style::OneToOne, requests::Family::V4)).collect();
    for caller in &callers {
        let request = requests::Request::Connect { peer: at(1), waits: true };
        assert_eq!(pair.ask(0, *caller, request), None, "it waits");
    }
    pair.exchange();
    assert_eq!(pair.associations(), [MANY, MANY]);
    assert!(pair.batches - before < MANY / 10, "{} batches of claims", pair.batches - before);
    // Each is found by its number, and by its peer.
    for caller in &callers {
        pair.send(0, *caller, SendInfo::default(), b"to one of many");
    }
    pair.exchange();
    for _ in 0..MANY {
        let (info, _) = pair.message(1, listener).unwrap();
        let answer = SendInfo { association: info.association, ..SendInfo::default() };
        assert_eq!(pair.send(1, listener, answer, b"to the one"), Taken::Taken);
    }
    pair.exchange();
    pair.news(0);
    for caller in callers {
        assert!(pair.message(0, caller).is_some());
        pair.act(0, |sockets, host, now| sockets.close(now, host, caller, Closing::Killed));
    }
    pair.exchange();
    assert_eq!(pair.associations(), [0, 0]);
    let released = std::iter::from_fn(|| pair.act(0, |sockets, _, _| sockets.poll_release())).count();
    assert!(released >= MANY, "{released} of {MANY} ports");
}

#[test]
fn sockets_that_ask_at_once_have_a_port_each() {
    let mut pair = Pair::new();
    pair.listener(1, Style::OneToMany);
    let callers: Vec<SocketNumber> =
        (0..50).map(|_| pair.open(0, Style::OneToOne, requests::Family::V4)).collect();
    let before = pair.batches;
    pair.act(0, |sockets, _, _| sockets.foresee(&callers));
    assert_eq!(pair.batches - before, 1);
    // No claim is answered between them.
    let config = requests::Request::Connect { peer: at(1), waits: true };
    let Station { host, program } = &mut pair.ends[0];
    for (token, caller) in (1_000..).zip(&callers) {
        assert_eq!(program.request(pair.now, host, *caller, Token(token), &config), None);
    }
    pair.exchange();
    assert_eq!(pair.associations(), [50, 50]);
}

#[test]
fn a_machine_that_has_no_more_is_not_asked_for_ever() {
    let own = vec![address(0)];
    let mut sockets = Sockets::new(own.clone(), Seed::new(1, 0).stream("0"));
    let mut host = host_of(&own);
    let mut claims = 0;
    while let Some(port) = sockets.poll_claim() {
        claims += 1;
        sockets.port_claimed(Instant::START, &mut host, port, Err(Errno::EMFILE));
    }
    assert_eq!(claims, 2);
}

#[test]
fn a_program_that_never_reads_fills_no_memory_however_many_peers_come_and_go() {
    let mut pair = Pair::new();
    let listener = pair.listener(1, Style::OneToMany);
    let message = vec![7; 50_000];
    let mut refused = 0;
    for _ in 0..150 {
        let caller = pair.open(0, Style::OneToOne, requests::Family::V4);
        let request = requests::Request::Connect { peer: at(1), waits: true };
        pair.ask(0, caller, request);
        pair.exchange();
        pair.send(0, caller, SendInfo::default(), &message);
        pair.pass(Duration::from_millis(100));
        refused += usize::from(pair.associations()[1] == 0);
        pair.close(0, caller, Closing::Killed);
        pair.news(0);
        pair.news(1);
    }
    assert!(refused > 10, "{refused} callers were refused");
    let held = pair.ends[1].program.open[&listener].inbox.held_bytes();
    assert!((INBOX_BYTES_MAX..INBOX_BYTES_MAX + 100_000).contains(&held), "{held} bytes");
    // What was kept is read whole, and then others may come.
    let mut read = 0;
    while let Some((_, bytes)) = pair.message(1, listener) {
        assert_eq!(bytes.len(), message.len());
        read += 1;
    }
    assert_eq!(read + refused, 150);
    assert_eq!(pair.ends[1].program.open[&listener].inbox.held_bytes(), 0);
    pair.open(0, Style::OneToOne, requests::Family::V4);
}
