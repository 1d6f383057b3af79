//! A host with users of sockets that the tests bring with them: what it asks of them, and what their sockets become.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Instant, Seed};
use slantpath_host::{
    Application, Offer, Opener, Others, OutgoingMessage, Peer, Peers, Protocol, Reaction, Reports, Served,
    Socket, SocketEvent, SocketHost, SocketId, TransportConfig,
};
use slantpath_interface::{EndSystem as _, InterfaceId};
use slantpath_wire::Packet;

const NOW: Instant = Instant::START;
const PORT: u16 = 5_000;

/// Something that a user of a socket has done or been told.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Noted {
    Over,
    Said(Bytes),
    Served,
}

#[derive(Debug, PartialEq, Eq)]
enum User {
    /// Opens an association, says one thing and closes.
    Caller { is_up: bool, has_opened: bool },
    /// Has a socket for each who calls.
    Listener,
    /// Hears what a caller says, until that closes.
    Callee { has_ended: bool },
    /// Does nothing at all.
    Idler { is_first: bool },
}

impl Application for User {
    type Shared = Vec<(SocketId, Noted)>;

    fn handle_event(
        &mut self,
        _now: Instant,
        own: SocketId,
        event: SocketEvent,
        _socket: &mut Socket<'_>,
        shared: &mut Self::Shared,
    ) -> Reaction {
        match (self, event) {
            (Self::Caller { is_up, .. }, SocketEvent::Connected { .. }) => *is_up = true,
            (Self::Callee { .. }, SocketEvent::Message { payload, .. }) => {
                shared.push((own, Noted::Said(payload)));
            }
            (Self::Callee { has_ended }, SocketEvent::Ended { failure: None, .. }) => *has_ended = true,
            _ => return Reaction::None,
        }
        Reaction::Serve
    }

    fn serve(&mut self, now: Instant, _others: Others, socket: &mut Socket<'_>) -> Served {
        match self {
            Self::Caller { has_opened: has_opened @ false, .. } => {
                *has_opened = true;
                socket.open(now).unwrap();
            }
            Self::Caller { is_up: is_up @ true, .. } => {
                *is_up = false;
                assert_eq!(socket.send(now, message()), Offer::Accepted);
                socket.close(now);
            }
            _ => return Served::Idle(None),
        }
        Served::Again
    }

    fn note_served(&mut self, own: SocketId, shared: &mut Self::Shared) {
        if let Self::Idler { .. } = self {
            shared.push((own, Noted::Served));
        }
    }

    fn retire(
        &mut self,
        _now: Instant,
        own: SocketId,
        _socket: &mut Socket<'_>,
        shared: &mut Self::Shared,
    ) -> bool {
        let is_over = *self == Self::Callee { has_ended: true };
        if is_over {
            shared.push((own, Noted::Over));
        }
        is_over
    }

    fn accept(&self, _own: SocketId) -> Option<Self> {
        (*self == Self::Listener).then_some(Self::Callee { has_ended: false })
    }

    fn is_served_first(&self) -> bool {
        *self == Self::Idler { is_first: true }
    }
}

impl Opener for User {}

fn message() -> OutgoingMessage {
    let payload = Bytes::from_static(b"hello");
    OutgoingMessage { number: None, stream: 0, unordered: false, payload_protocol: 0, payload, options: None }
}

fn address(end: usize) -> IpAddr {
    [[10, 0, 0, 1], [10, 0, 0, 2]][end].into()
}

fn hosts() -> [SocketHost<User>; 2] {
    [0, 1].map(|end| {
        let interface = InterfaceId::new(0);
        let mut host = SocketHost::new(vec![(address(end), interface)]);
        host.add_route(address(1 - end), interface).unwrap();
        host
    })
}

fn add(hosts: &mut [SocketHost<User>; 2], end: usize, local_port: u16, user: User) -> SocketId {
    let peer =
        matches!(user, User::Caller { .. }).then(|| Peer { addresses: vec![address(1 - end)], port: PORT });
    let peers = (user == User::Listener).then_some(Peers::Many);
    let transport = TransportConfig {
        protocol: Protocol::Sctp(Box::default()),
        local_addresses: vec![address(end)],
        local_port,
        peer,
    };
    let stream = Seed::new(1, 0).stream(&format!("{end}/{local_port}"));
    hosts[end].add(transport, peers, Reports::default(), stream, user)
}

/// Carries packets until there are none.
fn exchange(hosts: &mut [SocketHost<User>; 2]) {
    loop {
        let mut is_quiet = true;
        for from in [0, 1] {
            let mut packet = Packet::default();
            while let Some(interface) = hosts[from].poll_transmit(NOW, &mut packet) {
                is_quiet = false;
                hosts[1 - from].handle_packet(NOW, interface, &mut packet);
            }
        }
        if is_quiet {
            return;
        }
    }
}

#[test]
fn who_calls_is_a_socket_of_its_own_until_its_user_is_over_and_another_takes_its_place() {
    let mut hosts = hosts();
    let listener = add(&mut hosts, 1, PORT, User::Listener);
    let mut names = Vec::new();
    for port in [20_000, 20_001, 20_002] {
        add(&mut hosts, 0, port, User::Caller { is_up: false, has_opened: false });
        exchange(&mut hosts);
        let told = std::mem::take(hosts[1].shared_mut());
        let [(callee, Noted::Said(said)), (over, Noted::Over)] = &told[..] else { panic!("{told:?}") };
        assert_eq!((callee, &said[..]), (over, &b"hello"[..]));
        assert_ne!(*callee, listener);
        assert_eq!(hosts[1].application(*callee), None);
        assert_eq!(hosts[1].applications().collect::<Vec<_>>(), [&User::Listener]);
        assert!(hosts[1].command(*callee).is_none() && !hosts[1].give_back(*callee));
        names.push(*callee);
    }
    assert_eq!(names[0], names[2], "{names:?}");
    let sctp = Protocol::Sctp(Box::default());
    assert_eq!([PORT, PORT + 1].map(|port| hosts[1].is_port_free(&sctp, port)), [false, true]);
}

#[test]
fn sockets_are_served_in_an_order_that_no_packet_decides() {
    let mut hosts = hosts();
    for (port, is_first) in [(1, false), (2, true), (3, false), (4, true)] {
        add(&mut hosts, 0, port, User::Idler { is_first });
    }
    exchange(&mut hosts);
    let served: Vec<u32> = hosts[0].shared().iter().map(|(socket, _)| socket.0).collect();
    assert_eq!(served, [1, 3, 2, 0]);
    assert_eq!(hosts[0].deadline(), None);
}
