//! Sockets of programs over the loopback, in UDP: the programs are doors in the test's own process.

use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;
use std::time::Duration;

use slantpath_door::{Accepted, Claim, Pending, Replied};
use slantpath_live::{Binding, Carriage, LiveConfig, SctpConfig};
use slantpath_requests::{self as requests, Errno, OpenRequest, Reply, Style, ToProgram};
use slantpath_system::poll::Poll;

use crate::{Daemon, DaemonConfig};

const V4: &str = "127.0.0.1";
const V6: &str = "::1";

/// A daemon, and programs that ask it.
struct Bench {
    daemon: Daemon,
    name: String,
}

/// Turns within which everything here comes about: each waits as long as nothing is to do, up to its time.
const TURNS: usize = 2_000;

impl Bench {
    fn new(name: &str) -> Self {
        let free = UdpSocket::bind((V4, 0)).unwrap().local_addr().unwrap().port();
        let carriage = Carriage::Udp { local_port: free, remote_port: free };
        let live = LiveConfig {
            addresses: [V4, V6].map(|address| address.parse().unwrap()).to_vec(),
            binding: Binding::Listed,
            carriage,
            ports: Vec::new(),
            socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
        };
        let sctp = carriage.settings(SctpConfig::default());
        let mut daemon = Daemon::open(DaemonConfig { live, sctp, secret: [7; 32] }).unwrap();
        let name = format!("@slantpath-daemon-test-{}-{name}", std::process::id());
        daemon.listen(&name).unwrap();
        Self { daemon, name }
    }

    fn until<T>(&mut self, mut done: impl FnMut(&mut Daemon) -> Option<T>) -> T {
        for _ in 0..TURNS {
            if let Some(done) = done(&mut self.daemon) {
                return done;
            }
            self.daemon.turn(Some(Duration::from_millis(10))).unwrap();
        }
        panic!("it does not come about: {:?}", self.daemon);
    }

    fn replied(&mut self, pending: &Pending) -> Replied {
        self.until(|_| pending.take().unwrap())
    }

    fn open(&mut self, style: Style, address: &str) -> OwnedFd {
        let family = if address == V6 { requests::Family::V6 } else { requests::Family::V4 };
        let pending =
            slantpath_door::ask_to_open(self.name.as_bytes(), OpenRequest { style, family }).unwrap();
        let Replied { reply, descriptor } = self.replied(&pending);
        assert_eq!(reply, Reply::default());
        descriptor.unwrap()
    }

    fn ask(&mut self, socket: &OwnedFd, request: &requests::Request) -> Reply {
        let pending = slantpath_door::ask(socket, request, false).unwrap();
        self.replied(&pending).reply
    }

    fn listener(&mut self, at: SocketAddr, style: Style) -> OwnedFd {
        let listener = self.open(style, &at.ip().to_string());
        assert_eq!(self.ask(&listener, &requests::Request::Bind(at)), Reply::default());
        assert_eq!(self.ask(&listener, &requests::Request::Listen { backlog: 5 }), Reply::default());
        listener
    }

    fn accepted(&mut self, listener: &OwnedFd) -> Accepted {
        self.until(|_| match slantpath_door::accept(listener) {
            Ok(accepted) => Some(accepted),
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                None
            }
        })
    }

    /// A connected socket, and that which was accepted.
    fn connected(&mut self, at: SocketAddr) -> [OwnedFd; 2] {
        let listener = self.listener(at, Style::OneToOne);
        let caller = self.open(Style::OneToOne, &at.ip().to_string());
        let connect = requests::Request::Connect { peer: at, waits: true };
        assert_eq!(self.ask(&caller, &connect), Reply::default());
        let Accepted { descriptor, peer } = self.accepted(&listener);
        assert_eq!(peer.ip(), at.ip());
        [caller, descriptor]
    }

    fn send(&mut self, socket: &OwnedFd, message: &[u8]) {
        self.until(|_| match slantpath_door::send(socket, None, None, &[IoSlice::new(message)], false) {
            Ok(sent) => {
                assert_eq!(sent, message.len());
                Some(())
            }
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                None
            }
        });
    }

    /// Bytes that come next, and if a message ends with them; `None` at the end.
    fn receive(&mut self, socket: &OwnedFd, claim: &mut Claim) -> Option<(Vec<u8>, bool)> {
        let mut place = vec![0; 70_000];
        self.until(|_| {
            match slantpath_door::receive(socket, claim, &mut [IoSliceMut::new(&mut place)], false) {
                Ok(came) => Some(came.map(|came| {
                    assert!(matches!(came.piece, ToProgram::Data { .. }), "{came:?}");
                    (place[..came.len].to_vec(), came.is_end)
                })),
                Err(error) => {
                    assert_eq!(error, Errno::EAGAIN);
                    None
                }
            }
        })
    }

    fn is_over(&mut self) {
        self.until(|daemon| (daemon.association_count() == 0).then_some(()));
    }
}

fn at(address: &str, port: u16) -> SocketAddr {
    SocketAddr::new(address.parse::<IpAddr>().unwrap(), port)
}

#[test]
fn programs_reach_one_another_in_both_versions_and_end_in_order() {
    for (address, port) in [(V4, 5_001), (V6, 5_002)] {
        let mut bench = Bench::new(&format!("reach-{port}"));
        let [caller, accepted] = bench.connected(at(address, port));
        let mut claim = Claim::default();
        let long = vec![7; 60_000];
        for message in [&b"one"[..], &long, b"three"] {
            bench.send(&caller, message);
            assert_eq!(bench.receive(&accepted, &mut claim), Some((message.to_vec(), true)));
            bench.send(&accepted, message);
            assert_eq!(bench.receive(&caller, &mut claim), Some((message.to_vec(), true)));
        }
        slantpath_door::close(&caller);
        drop(caller);
        assert_eq!(bench.receive(&accepted, &mut claim), None, "the end");
        slantpath_door::close(&accepted);
        drop(accepted);
        bench.is_over();
    }
}

#[test]
fn a_program_that_writes_faster_than_its_peer_reads_is_held_up_and_nothing_is_lost() {
    let mut bench = Bench::new("fast");
    let [caller, accepted] = bench.connected(at(V4, 5_003));
    let message = |number: u32| number.to_be_bytes().repeat(5_000);
    let mut sent = 0_u32;
    // Until several turns have made no room.
    let mut refused = 0;
    while refused < 20 {
        let bytes = message(sent);
        match slantpath_door::send(&caller, None, None, &[IoSlice::new(&bytes)], false) {
            Ok(_) => (sent, refused) = (sent + 1, 0),
            Err(error) => {
                assert_eq!(error, Errno::EAGAIN);
                refused += 1;
                bench.daemon.turn(Some(Duration::from_millis(10))).unwrap();
            }
        }
    }
    assert!(sent > 40 && sent < 1_000, "{sent}");
    let mut claim = Claim::default();
    let mut caller = Some(caller);
    for number in 0..sent {
        // By then there is room for the mark, and much is still under way.
        if let Some(caller) = caller.take_if(|_| number == sent - 10) {
            slantpath_door::close(&caller);
        }
        let received = bench.receive(&accepted, &mut claim);
        assert!(received == Some((message(number), true)), "{number} of {sent}: {}", received.is_some());
    }
    assert_eq!(bench.receive(&accepted, &mut claim), None);
    drop(accepted);
    bench.is_over();
}

#[test]
fn a_program_that_is_killed_has_its_association_aborted() {
    let mut bench = Bench::new("killed");
    let [caller, accepted] = bench.connected(at(V4, 5_004));
    bench.send(&caller, b"last");
    let mut claim = Claim::default();
    assert_eq!(bench.receive(&accepted, &mut claim), Some((b"last".to_vec(), true)));
    drop(caller);
    assert_eq!(bench.receive(&accepted, &mut claim), None);
}

#[test]
fn a_connect_to_nobody_is_refused_and_a_port_is_one_sockets() {
    let mut bench = Bench::new("nobody");
    let caller = bench.open(Style::OneToOne, V4);
    let connect = requests::Request::Connect { peer: at(V4, 5_005), waits: true };
    assert_eq!(bench.ask(&caller, &connect), Reply::failed(Errno::ECONNREFUSED));
    let _listener = bench.listener(at(V4, 5_005), Style::OneToOne);
    let other = bench.open(Style::OneToOne, V4);
    assert_eq!(bench.ask(&other, &requests::Request::Bind(at(V4, 5_005))), Reply::failed(Errno::EADDRINUSE));
    assert_eq!(
        bench.ask(&other, &requests::Request::Bind(at("192.0.2.1", 0))),
        Reply::failed(Errno::EADDRNOTAVAIL)
    );
}

#[test]
fn the_port_of_a_socket_that_was_closed_just_before_is_free_for_one_that_was_opened_before_it() {
    let mut bench = Bench::new("closed");
    let earlier = bench.open(Style::OneToOne, V4);
    let listener = bench.listener(at(V4, 5_007), Style::OneToOne);
    for _ in 0..100 {
        let asked = requests::Request::LocalName;
        slantpath_door::ask(&listener, &asked, false).unwrap();
    }
    slantpath_door::close(&listener);
    drop(listener);
    assert_eq!(bench.ask(&earlier, &requests::Request::Bind(at(V4, 5_007))), Reply::default());
}

#[test]
fn when_it_is_stopped_nobody_asks_any_more_and_associations_end() {
    let mut bench = Bench::new("stopped");
    let [_caller, accepted] = bench.connected(at(V4, 5_006));
    bench.daemon.stop();
    assert_eq!(bench.receive(&accepted, &mut Claim::default()), None);
    bench.until(|daemon| daemon.is_over().then_some(()));
    let wish = OpenRequest { style: Style::OneToOne, family: requests::Family::V4 };
    assert!(slantpath_door::ask_to_open(bench.name.as_bytes(), wish).is_err());
}

#[test]
fn what_is_told_of_a_caller_before_it_is_accepted_waits_for_whoever_accepts_it() {
    let mut bench = Bench::new("before");
    let listener = bench.listener(at(V4, 5_007), Style::OneToOne);
    // Of associations, as `SCTP_EVENT` has it: their beginning is told before the program can take the socket.
    let event = [0, 0, 0, 0, 0x01, 0x80, 1, 0].to_vec();
    let wanted = requests::Request::SetOption { level: 132, name: 127, value: event, waits: false };
    assert_eq!(bench.ask(&listener, &wanted), Reply::default());
    let caller = bench.open(Style::OneToOne, V4);
    let connect = requests::Request::Connect { peer: at(V4, 5_007), waits: true };
    assert_eq!(bench.ask(&caller, &connect), Reply::default());
    bench.send(&caller, b"first");
    let accepted = bench.accepted(&listener).descriptor;
    let mut claim = Claim::default();
    let mut place = [0; 100];
    let told = bench.until(|_| {
        slantpath_door::receive(&accepted, &mut claim, &mut [IoSliceMut::new(&mut place)], false).ok()
    });
    assert!(matches!(told.unwrap().piece, ToProgram::Notification { .. }), "{told:?}");
    assert_eq!(bench.receive(&accepted, &mut claim), Some((b"first".to_vec(), true)));
}

#[test]
fn a_connect_that_does_not_wait_is_answered_once_its_peer_here_can_accept_it() {
    let mut bench = Bench::new("settled");
    let listener = bench.listener(at(V4, 5_008), Style::OneToOne);
    let caller = bench.open(Style::OneToOne, V4);
    let connect = requests::Request::Connect { peer: at(V4, 5_008), waits: false };
    assert_eq!(bench.ask(&caller, &connect), Reply::failed(Errno::EINPROGRESS));
    assert!(slantpath_door::accept(&listener).is_ok(), "without another turn");
    assert_eq!(bench.ask(&caller, &connect), Reply::failed(Errno::EISCONN));
}

#[test]
fn a_listener_is_never_writable() {
    let mut bench = Bench::new("listener");
    let listener = bench.listener(at(V4, 5_009), Style::OneToOne);
    let mut poll = Poll::new().unwrap();
    poll.add(&listener, 1).unwrap();
    poll.wait_for_room(&listener, 1, true).unwrap();
    assert_eq!(poll.wait(Some(Duration::ZERO)).unwrap(), [0_u64; 0]);
}

#[test]
fn what_follows_an_end_finds_it_at_its_peer_here() {
    let may_send = requests::Request::MaySend { stream: 0, association: 0, length: 1, destination: None };
    let refused = Reply::failed(Errno::EPIPE);
    for (name, port) in [("shutdown", 5_010), ("close", 5_011)] {
        let mut bench = Bench::new(name);
        let [caller, accepted] = bench.connected(at(V4, port));
        assert_eq!(bench.ask(&accepted, &may_send).error, None);
        if name == "close" {
            slantpath_door::close(&caller);
            drop(caller);
        } else {
            let shutdown = requests::Request::Shutdown(requests::Half::Write);
            assert_eq!(bench.ask(&caller, &shutdown), Reply::default());
        }
        assert_eq!(bench.ask(&accepted, &may_send), refused, "{name}");
    }
}
