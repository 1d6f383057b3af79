use std::net::IpAddr;

use slantpath_base::{Duration, Seed};
use slantpath_interface::{EndSystem, InterfaceId};
use slantpath_sctp::{Cause, CloseReason, SctpConfig};
use slantpath_wire::Packet;

use super::*;
use crate::endpoint::MessageOptions;
use crate::program::{Station, host_of};

const PORT: u16 = 5_000;
/// Identifier of the first port of a host.
const ID: SocketId = SocketId(0);

/// Two endpoints, joined without delay, and the time.
struct Pair {
    ends: [Station<PortAssociations>; 2],
    now: Instant,
}

fn address(end: usize) -> IpAddr {
    [[10, 0, 0, 1], [10, 0, 0, 2]][end].into()
}

fn peer(end: usize) -> Peer {
    Peer { addresses: vec![address(end)], port: PORT }
}

impl Pair {
    fn new(config: &AssociationsConfig) -> Self {
        let ends = [0, 1].map(|end| {
            let mut host = host_of(&[address(end)]);
            let port = ProgramConfig {
                sctp: Box::new(SctpConfig { receive_buffer_bytes: 50_000, ..SctpConfig::default() }),
                local_addresses: vec![address(end)],
                local_port: PORT,
                peer: None,
            };
            let stream = Seed::new(1, 0).stream(&format!("{end}"));
            let mut program = PortAssociations::default();
            assert_eq!(program.open(config.clone(), &port, &mut host, stream), ID);
            Station { host, program }
        });
        Self { ends, now: Instant::START }
    }

    /// Lets somebody act on the associations of one end.
    fn act<R>(&mut self, end: usize, act: impl FnOnce(&mut PortAssociations, &mut Host, Instant) -> R) -> R {
        let Station { host, program } = &mut self.ends[end];
        act(program, host, self.now)
    }

    /// Carries packets until there are none.
    fn exchange(&mut self) {
        loop {
            let mut is_any = false;
            for from in [0, 1] {
                let mut packet = Packet::default();
                while self.ends[from].poll_transmit(self.now, &mut packet).is_some() {
                    is_any = true;
                    self.ends[1 - from].handle_packet(self.now, InterfaceId::new(0), &mut packet);
                }
            }
            if !is_any {
                return;
            }
        }
    }

    /// Lets time pass, in steps of 50 ms.
    fn pass(&mut self, time: Duration) {
        let until = self.now.saturating_add(time);
        while self.now < until {
            self.now = self.now.saturating_add(Duration::from_millis(50));
            for end in &mut self.ends {
                if end.deadline().is_some_and(|deadline| deadline <= self.now) {
                    end.handle_deadline(self.now);
                }
            }
            self.exchange();
        }
    }

    /// An association that the first end has opened and the second has accepted.
    fn connected(&mut self) -> [SocketId; 2] {
        let call = self.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap();
        self.exchange();
        let accepted = self.ends[1].program.accept(ID).unwrap();
        self.concerns(0);
        self.concerns(1);
        [call, accepted]
    }

    fn send(&mut self, end: usize, id: SocketId, payload: &[u8]) -> Result<(), SendRefused> {
        let message = MessageOptions::default().message(0, Bytes::copy_from_slice(payload));
        self.act(end, |program, host, now| program.send(now, host, id, message))
    }

    fn receive(&mut self, end: usize, id: SocketId) -> Received {
        self.act(end, |program, host, now| program.receive(now, host, id))
    }

    fn concerns(&mut self, end: usize) -> Vec<(SocketId, Concern)> {
        std::iter::from_fn(|| self.ends[end].program.poll_concern()).collect()
    }

    fn alive(&self) -> [usize; 2] {
        [0, 1].map(|end| self.ends[end].program.alive(ID))
    }

    fn held(&self) -> [usize; 2] {
        [0, 1].map(|end| self.ends[end].program.held())
    }
}

fn payload(received: Received) -> Bytes {
    match received {
        Received::Message(message) => message.payload,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_is_accepted_messages_pass_and_each_user_is_told_once_what_to_try_again() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap();
    assert_eq!(pair.ends[0].program.standing(call), None);
    pair.exchange();
    assert_eq!(pair.concerns(0), [(call, Concern::Standing)]);
    assert_eq!(pair.ends[0].program.standing(call), Some(Ok(())));
    assert_eq!(pair.ends[0].program.peer(call), Some((address(1), PORT).into()));
    let concerns = pair.concerns(1);
    let accepted = pair.ends[1].program.accept(ID).unwrap();
    assert_eq!(concerns, [(accepted, Concern::Caller)]);
    assert_eq!(pair.ends[1].program.accept(ID), None);
    assert_eq!(pair.ends[1].program.outbound_streams(accepted), 16);

    assert_eq!(pair.receive(1, accepted), Received::Nothing);
    for text in [b"one", b"two"] {
        pair.send(0, call, text).unwrap();
    }
    pair.exchange();
    assert_eq!(pair.concerns(1), [(accepted, Concern::Readable)], "once, for both");
    assert_eq!([(); 2].map(|()| payload(pair.receive(1, accepted))), [&b"one"[..], b"two"]);
    assert_eq!(pair.receive(1, accepted), Received::Nothing);
    let again = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1)));
    let associated = slantpath_sctp::ConnectError::AlreadyAssociated(address(1));
    assert_eq!(again, Err(ConnectRefused::Refused(associated)));
}

#[test]
fn who_does_not_read_closes_the_window_and_holds_no_more_than_is_read_ahead_and_the_buffer() {
    let config = AssociationsConfig { read_ahead_bytes: 10_000, ..AssociationsConfig::default() };
    let mut pair = Pair::new(&config);
    let [call, accepted] = pair.connected();
    let mut sent = 0;
    for _ in 0..100 {
        while pair.send(0, call, &[7; 1_000]).is_ok() {
            sent += 1;
        }
        pair.exchange();
        pair.pass(Duration::from_millis(250));
    }
    let waiting = |pair: &Pair| pair.ends[1].program.entries.get(accepted).unwrap().waiting_bytes;
    // What was on its way to the program when the limit was reached is in, too.
    assert!((10_000..=13_000).contains(&waiting(&pair)), "{}", waiting(&pair));
    let full = pair.send(0, call, &[7; 1_000]).unwrap_err();
    assert!(full.is_full(), "{full:?}");
    pair.concerns(0);

    // When the messages that wait are fewer, all that was held back comes.
    let mut received = 0;
    let mut concerns = Vec::new();
    while received < sent {
        match pair.receive(1, accepted) {
            Received::Message(_) => received += 1,
            Received::Nothing => pair.pass(Duration::from_millis(250)),
            Received::Ended(lost) => panic!("{lost:?}"),
        }
        pair.exchange();
        assert!(waiting(&pair) < 10_000 + 50_000 + 1_500, "{}", waiting(&pair));
        concerns.extend(pair.concerns(0));
    }
    assert_eq!(concerns, [(call, Concern::Writable)]);
}

#[test]
fn what_came_before_the_end_is_received_before_it_and_the_peers_reason_is_told() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let [call, accepted] = pair.connected();
    pair.send(0, call, b"last words").unwrap();
    pair.act(0, |program, host, now| program.shut_down(now, host, call));
    pair.exchange();
    assert_eq!(pair.alive(), [0, 0]);
    assert!(pair.ends[1].program.is_ended(accepted));
    assert_eq!(payload(pair.receive(1, accepted)), "last words");
    assert_eq!(pair.receive(1, accepted), Received::Ended(None));
    assert_eq!(pair.send(1, accepted, b"too late"), Err(SendRefused::Ended(None)));
    assert_eq!(pair.held(), [1, 1]);
    pair.act(0, |program, host, now| program.release(now, host, call));
    pair.act(1, |program, host, now| program.release(now, host, accepted));
    assert_eq!(pair.held(), [0, 0]);

    let [call, accepted] = pair.connected();
    pair.act(0, |program, host, now| program.abort(now, host, call, Bytes::from_static(b"enough")));
    pair.exchange();
    let reason = Cause::UserInitiatedAbort(Bytes::from_static(b"enough"));
    let lost = Lost::PeerAborted(vec![reason.clone()]);
    assert_eq!(lost.to_string(), "the peer has aborted the association: by its user: enough");
    assert_eq!(pair.receive(1, accepted), Received::Ended(Some(lost)));
    assert_eq!(pair.ends[0].program.standing(call), Some(Err(Lost::Aborted(reason))));
}

#[test]
fn one_that_is_released_is_shut_down_and_what_comes_meanwhile_is_thrown_away() {
    let config = AssociationsConfig { read_ahead_bytes: 1, ..AssociationsConfig::default() };
    let mut pair = Pair::new(&config);
    let [call, accepted] = pair.connected();
    // More than the window: it is held up until the reader has gone.
    for _ in 0..80 {
        pair.send(0, call, &[1; 1_000]).unwrap();
    }
    pair.send(1, accepted, b"delivered").unwrap();
    pair.act(1, |program, host, now| program.release(now, host, accepted));
    pair.pass(Duration::from_secs(30));
    assert_eq!(pair.alive(), [0, 0]);
    assert_eq!(pair.held(), [1, 0], "the other is still its user's");
    assert_eq!(payload(pair.receive(0, call)), "delivered");
    assert_eq!(pair.receive(0, call), Received::Ended(None));
}

#[test]
fn callers_beyond_the_backlog_are_aborted_and_one_that_nobody_waits_for_any_more_is_given_up() {
    let mut pair = Pair::new(&AssociationsConfig { backlog: 1, ..AssociationsConfig::default() });
    // The second end calls from the first's port only once; others call from ports of their own.
    let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap();
    pair.exchange();
    let others = ProgramConfig {
        sctp: Box::default(),
        local_addresses: vec![address(0)],
        local_port: 6_000,
        peer: Some(peer(1)),
    };
    let host = &mut pair.ends[0].host;
    host.add_program(&others, Seed::new(2, 0).stream("other"));
    pair.exchange();
    // Nobody at the first end knows of that association: what the peer did to it shows there.
    assert_eq!(pair.ends[1].host.sctp_mib().curr_estab, 1);
    assert_eq!(pair.alive()[1], 1);
    let accepted = pair.ends[1].program.accept(ID).unwrap();
    assert_eq!(pair.ends[1].program.accept(ID), None);
    pair.act(0, |program, host, now| program.release(now, host, call));
    pair.exchange();
    assert_eq!(pair.receive(1, accepted), Received::Ended(None));

    // Nobody answers: it is given up at once.
    let nobody = Peer { addresses: vec!["10.0.0.9".parse().unwrap()], port: PORT };
    let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &nobody)).unwrap();
    pair.act(0, |program, host, now| program.release(now, host, call));
    pair.exchange();
    assert_eq!(pair.held()[0], 0, "nothing is kept of what no port of these has begun");
}

#[test]
fn one_that_is_closed_begins_nothing_more_and_is_over_once_all_has_ended() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let [call, accepted] = pair.connected();
    pair.send(1, accepted, b"delivered").unwrap();
    pair.act(1, PortAssociations::close_at);
    assert!(!pair.ends[1].program.is_over());
    pair.exchange();
    assert!(pair.ends[1].program.is_over());
    assert_eq!(payload(pair.receive(0, call)), "delivered");
    let refused = pair.act(1, |program, host, now| program.connect(now, host, ID, &peer(0)));
    assert_eq!(refused, Err(ConnectRefused::Closing));
    pair.act(0, |program, host, now| program.release(now, host, call));
    let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap();
    pair.exchange();
    assert_eq!(pair.receive(0, call), Received::Ended(Some(Lost::Nobody)));
}

#[test]
fn one_whose_peer_does_not_answer_is_lost_for_that_reason() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let nobody = Peer { addresses: vec!["10.0.0.9".parse().unwrap()], port: PORT };
    let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &nobody)).unwrap();
    // 1, 2, 4, 8, 16, 32 and three times 60 s.
    pair.pass(Duration::from_secs(242));
    assert_eq!(pair.ends[0].program.standing(call), None);
    pair.pass(Duration::from_secs(2));
    assert_eq!(pair.ends[0].program.standing(call), Some(Err(Lost::PeerUnreachable)));
    let stale = Lost::of_end(Some(String::new()), Some(Box::new(CloseReason::StaleCookie)));
    assert_eq!(stale, Some(Lost::StaleCookie));
}

#[test]
fn notifications_that_nobody_asks_for_push_out_the_oldest_and_are_counted() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let [call, _] = pair.connected();
    let program = &mut pair.ends[0].program;
    for _ in 0..NOTIFICATIONS_MAX + 3 {
        program.notify(call, Notification::Restarted);
    }
    assert_eq!(program.poll_notification(call), Some(Notification::Missed(3)));
    for _ in 0..NOTIFICATIONS_MAX {
        assert_eq!(program.poll_notification(call), Some(Notification::Restarted));
    }
    assert_eq!(program.poll_notification(call), None);
    assert_eq!(pair.concerns(0), [(call, Concern::Notified)]);
}

impl PortAssociations {
    fn close_at(&mut self, host: &mut Host, now: Instant) {
        self.close(now, host, ID);
    }
}

#[test]
fn what_has_happened_has_a_name_and_the_address_that_it_is_about() {
    use slantpath_sctp::chunk::AddressChange;
    use slantpath_sctp::{self as sctp, AddressEvent, Notice, StreamsChanged};
    let address = IpAddr::from([192, 0, 2, 1]);
    let of_sctp = |event| Notification::Sctp(Box::new(event));
    let answered =
        |change, is_accepted| of_sctp(sctp::Event::Addresses(AddressEvent::Answered { change, is_accepted }));
    let added = StreamsChanged::Added { outbound_streams: 4, inbound_streams: 6 };
    for (notification, what) in [
        (Notification::Missed(3), ("missed", None)),
        (Notification::Restarted, ("restarted", None)),
        (Notification::Abandoned, ("abandoned", None)),
        (of_sctp(sctp::Event::Addresses(AddressEvent::PeerAdded(address))), ("address added", Some(address))),
        (
            of_sctp(sctp::Event::Addresses(AddressEvent::PeerRemoved(address))),
            ("address deleted", Some(address)),
        ),
        (
            of_sctp(sctp::Event::Addresses(AddressEvent::PeerPrimary(address))),
            ("address preferred", Some(address)),
        ),
        (answered(AddressChange::Add(address), true), ("change accepted", Some(address))),
        (answered(AddressChange::SetPrimary(address), false), ("change refused", Some(address))),
        (of_sctp(sctp::Event::StreamsChanged(added)), ("streams added", None)),
        (of_sctp(sctp::Event::StreamsChanged(StreamsChanged::AssociationReset)), ("association reset", None)),
        (
            of_sctp(sctp::Event::StreamsChanged(StreamsChanged::InboundReset(Box::default()))),
            ("streams reset", None),
        ),
        (of_sctp(sctp::Event::PeerReported(Vec::new())), ("error reported", None)),
        (of_sctp(sctp::Event::ShutdownReceived), ("shutdown_received", None)),
        (of_sctp(Notice::AdaptationLayer { code: 7 }.event()), ("adaptation layer", None)),
    ] {
        assert_eq!(notification.what(), what);
    }
}

#[test]
fn events_of_paths_and_of_sctp_have_the_names_and_the_fields_of_the_dictionary() {
    use slantpath_host::PathEventKind as Kind;
    use slantpath_sctp::PathState;
    use slantpath_sctp::notice::{Notice, Value};
    let address = IpAddr::from([192, 0, 2, 1]);
    for (kind, state) in [
        (Kind::Active, PathState::Active),
        (Kind::Inactive, PathState::Inactive),
        (Kind::PotentiallyFailed, PathState::PotentiallyFailed),
    ] {
        let told = Notification::Path { address, kind };
        let fields = Notice::PathChanged { path: address, state }.fields();
        assert_eq!((told.what(), told.fields()), ((kind.name(), Some(address)), fields));
    }
    let told = Notification::Path { address, kind: Kind::Primary };
    assert_eq!(told.what(), (Kind::Primary.name(), Some(address)));
    let told = Notification::Sctp(Box::new(Notice::AdaptationLayer { code: 7 }.event()));
    assert_eq!(told.fields(), [("code", Value::Number(7))]);
    let names: Vec<_> = Notice::described().into_iter().flat_map(|entry| entry.called).collect();
    assert!(names.contains(&Notification::Abandoned.what().0));
    assert!(!names.contains(&Notification::MISSED));
}

#[test]
fn what_has_happened_to_streams_names_them_and_their_direction() {
    use slantpath_sctp::chunk::ReconfigurationResult as Outcome;
    use slantpath_sctp::{
        self as sctp, AuthenticationEvent, StreamChange, StreamId, StreamsChanged, WrongKey,
    };
    let of = |event| Notification::Sctp(Box::new(event));
    let streams = || -> Box<[StreamId]> { [StreamId(3), StreamId(9)].into() };
    let answered = |change, result| of(sctp::Event::ReconfigurationAnswered { change, result });
    let both = [StreamId(3), StreamId(9)];
    for (told, what, about) in [
        (
            of(sctp::Event::StreamsChanged(StreamsChanged::OutboundReset(streams()))),
            "streams reset",
            Some(("outbound", &both[..])),
        ),
        (
            of(sctp::Event::StreamsChanged(StreamsChanged::InboundReset(streams()))),
            "streams reset",
            Some(("inbound", &both[..])),
        ),
        (
            of(sctp::Event::StreamsChanged(StreamsChanged::InboundReset(Box::default()))),
            "streams reset",
            Some(("inbound", &[][..])),
        ),
        (
            answered(StreamChange::ResetOutbound(streams()), Outcome::Performed),
            "request accepted",
            Some(("outbound", &both[..])),
        ),
        (
            answered(StreamChange::ResetInbound(streams()), Outcome::NothingToDo),
            "request accepted",
            Some(("inbound", &both[..])),
        ),
        (answered(StreamChange::AddOutbound(1), Outcome::Denied), "request refused", None),
        (of(sctp::Event::StreamsChanged(StreamsChanged::AssociationReset)), "association reset", None),
        (of(sctp::Event::Authentication(AuthenticationEvent::NotOffered)), "not authenticated", None),
        (
            of(sctp::Event::Authentication(AuthenticationEvent::Failed(WrongKey::Unknown(1)))),
            "authentication failed",
            None,
        ),
        (Notification::Restarted, "restarted", None),
    ] {
        assert_eq!((told.what(), told.streams()), ((what, None), about));
    }
}

/// A second endpoint at an end.
fn second_port(pair: &mut Pair, end: usize, number: u16, backlog: usize) -> SocketId {
    let port = ProgramConfig {
        sctp: Box::default(),
        local_addresses: vec![address(end)],
        local_port: number,
        peer: None,
    };
    let config = AssociationsConfig { backlog, ..AssociationsConfig::default() };
    let stream = Seed::new(2, 0).stream("second");
    pair.act(end, |program, host, _| program.open(config, &port, host, stream))
}

#[test]
fn endpoints_of_a_host_have_their_callers_and_their_end_each_for_itself() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let second = second_port(&mut pair, 1, PORT + 1, 1);
    let there = |number| Peer { addresses: vec![address(1)], port: number };
    // Another call from the same port of ours to the same port of theirs would be the same association.
    let own = second_port(&mut pair, 0, PORT + 1, 0);
    let calls = [(ID, PORT), (ID, PORT + 1), (own, PORT + 1)].map(|(from, to)| {
        let id = pair.act(0, |program, host, now| program.connect(now, host, from, &there(to))).unwrap();
        pair.exchange();
        id
    });
    let program = |pair: &Pair, end: usize| [ID, second].map(|port| pair.ends[end].program.alive(port));
    // The third found the second port's backlog full.
    assert_eq!(program(&pair, 1), [1, 1]);
    assert!(matches!(pair.ends[0].program.standing(calls[2]), Some(Err(Lost::PeerAborted(_)))));
    let accepted = [ID, second].map(|port| pair.ends[1].program.accept(port).unwrap());
    assert_ne!(accepted[0], accepted[1]);
    assert_eq!([ID, second].map(|port| pair.ends[1].program.accept(port)), [None, None]);
    // One is closed: the other goes on, and still takes callers.
    pair.act(1, |program, host, now| program.close(now, host, second));
    pair.exchange();
    assert_eq!(program(&pair, 1), [1, 0]);
    assert!(pair.ends[1].program.take_ended() && !pair.ends[1].program.take_ended());
    assert_eq!([ID, second].map(|port| pair.ends[1].program.is_closing(port)), [false, true]);
    assert!(!pair.ends[1].program.is_over());
    let message = MessageOptions::default().message(0, Bytes::from_static(b"on"));
    pair.act(0, |program, host, now| program.send(now, host, calls[0], message)).unwrap();
    let again = pair.act(0, |program, host, now| program.connect(now, host, own, &there(PORT))).unwrap();
    pair.exchange();
    assert!(matches!(
        pair.act(1, |program, host, now| program.receive(now, host, accepted[0])),
        Received::Message(message) if message.payload == "on"
    ));
    assert_eq!(pair.ends[0].program.standing(again), Some(Ok(())));
    assert!(pair.ends[1].program.accept(ID).is_some());
    // Whoever stops the program stops all.
    pair.act(1, |program, host, now| program.stop(now, host));
    pair.exchange();
    pair.pass(Duration::from_secs(1));
    assert_eq!(program(&pair, 1), [0, 0]);
    assert!(pair.ends[1].program.is_over());
}

#[test]
fn one_that_is_given_up_leaves_nothing_behind_and_the_next_comes_up() {
    let mut pair = Pair::new(&AssociationsConfig::default());
    let dead = Peer { addresses: vec![[10, 0, 0, 9].into()], port: PORT };
    for round in 0..3 {
        let given_up = pair.act(0, |program, host, now| program.connect(now, host, ID, &dead)).unwrap();
        pair.act(0, |program, host, now| program.release(now, host, given_up));
        let call = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap();
        assert_ne!(call, given_up);
        pair.exchange();
        assert_eq!(pair.ends[0].program.standing(call), Some(Ok(())), "round {round}");
        assert_eq!(pair.concerns(0), [(call, Concern::Standing)]);
        assert_eq!((pair.alive(), pair.held()[0]), ([1, 1], 1));
        let accepted = pair.ends[1].program.accept(ID).unwrap();
        pair.act(0, |program, host, now| program.release(now, host, call));
        // The one before has not ended: it is waited for.
        let again = pair.act(0, |program, host, now| program.connect(now, host, ID, &peer(1))).unwrap_err();
        assert!(again.is_ending(), "{again}");
        pair.ends[0].program.take_ended();
        pair.exchange();
        assert!(pair.ends[0].program.take_ended() && !pair.ends[0].program.take_ended());
        pair.act(1, |program, host, now| program.release(now, host, accepted));
        assert_eq!((pair.alive(), pair.held()), ([0, 0], [0, 0]));
    }
}
