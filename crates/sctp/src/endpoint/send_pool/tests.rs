use std::net::IpAddr;

use proptest::prelude::*;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpFields;

use super::*;
use crate::endpoint::{Acceptance, ConnectOptions, Input, Output, PortConfig};
use crate::event::Event;
use crate::types::{Ppid, StreamId};

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2))];
const SERVER: usize = 0;
const CLIENT: usize = 1;
const PORT: u16 = 5_000;

/// A user of the server's, which hands over the next message when it hears of room.
#[derive(Clone, Copy, Debug, Default)]
struct User {
    id: Option<AssociationId>,
    /// The message that was refused.
    refused: Option<usize>,
    taken: u64,
    is_deaf: bool,
}

/// A server on one port, and a client with a port for each association.
struct Net {
    now: Instant,
    endpoints: [Endpoint; 2],
    under_way: Vec<(usize, Packet)>,
    deadlines: [Option<Instant>; 2],
    users: Vec<User>,
    /// Users that were told of room in the buffer, in order.
    told: Vec<usize>,
}

fn config(send_buffer_bytes: u64, total: u64) -> SctpConfig {
    SctpConfig { send_buffer_bytes, total_send_buffer_bytes: Some(total), ..SctpConfig::default() }
}

fn client(ports: usize, seed: u64) -> Endpoint {
    let mut endpoint = Endpoint::default();
    for port in (PORT..).take(ports) {
        let port = PortConfig { port, addresses: vec![ADDRESSES[CLIENT]], config: SctpConfig::default() };
        endpoint.bind(port, Seed::new(seed, 0).stream("client")).unwrap();
    }
    endpoint
}

impl Net {
    fn new(users: usize, config: SctpConfig) -> Self {
        let mut server = Endpoint::default();
        let port = PortConfig { port: PORT, addresses: vec![ADDRESSES[SERVER]], config };
        server.bind(port, Seed::new(7, 0).stream("server")).unwrap();
        server.listen(PORT, Acceptance::ByPeer);
        let mut net = Self {
            now: Instant::START,
            endpoints: [server, client(users, 8)],
            under_way: Vec::new(),
            deadlines: [None; 2],
            users: vec![User::default(); users],
            told: Vec::new(),
        };
        (0..users).for_each(|user| net.connect(user));
        net.deliver();
        net
    }

    fn connect(&mut self, user: usize) {
        let options = ConnectOptions {
            peer_addresses: vec![ADDRESSES[SERVER]],
            peer_port: PORT,
            local_port: PORT + u16::try_from(user).unwrap(),
            ..ConnectOptions::default()
        };
        let _ = self.endpoints[CLIENT].connect(self.now, &options);
        self.drain(CLIENT);
    }

    fn pool(&self) -> &SendPool {
        &self.endpoints[SERVER].ports[0].pool
    }

    /// Bytes that the associations of the server hold, summed over them one by one.
    fn held(&self) -> u64 {
        self.endpoints[SERVER].table.entries().map(|entry| entry.state.held_for_sending()).sum()
    }

    fn send(&mut self, user: usize, len: usize) -> Option<SendError> {
        let id = self.users[user].id?;
        let message = Message {
            stream: StreamId(0),
            ppid: Ppid(0),
            payload: vec![0; len].into(),
            is_unordered: false,
            context: 0,
            options: None,
        };
        let result = self.endpoints[SERVER].send(self.now, id, message);
        assert!(self.held() <= self.pool().most, "{} {:?}", self.held(), self.pool());
        match result {
            Ok(()) => {
                self.users[user].taken += 1;
                self.users[user].refused = None;
                None
            }
            Err(error) => {
                if let SendError::BufferFull { .. } = error {
                    self.users[user].refused = Some(len);
                }
                Some(error)
            }
        }
    }

    fn drain(&mut self, side: usize) {
        for outputs in 0.. {
            assert!(outputs < 100_000, "output without end");
            let mut packet = Packet::default();
            match self.endpoints[side].poll_output(self.now, &mut packet) {
                Output::Transmit { .. } => self.under_way.push((1 - side, packet)),
                Output::Event(id, event) if side == SERVER => self.hear(id, &event),
                Output::Event(..) => {}
                Output::Wait(deadline) => {
                    self.deadlines[side] = deadline;
                    break;
                }
            }
        }
        if side == SERVER {
            assert_eq!(self.pool().held, self.held());
        }
    }

    fn hear(&mut self, id: AssociationId, event: &Event) {
        let user = match self.endpoints[SERVER].peer(id) {
            Some(peer) => usize::from(peer.port - PORT),
            None => match self.users.iter().position(|user| user.id == Some(id)) {
                Some(user) => user,
                None => return,
            },
        };
        match event {
            Event::Established { .. } => self.users[user] = User { id: Some(id), ..self.users[user] },
            Event::Closed(_) if self.users[user].id == Some(id) => {
                self.users[user] = User { id: None, refused: None, ..self.users[user] };
            }
            Event::SendBufferDrained { .. } => {
                self.told.push(user);
                let User { refused, is_deaf, .. } = self.users[user];
                match refused {
                    Some(len) if !is_deaf => drop(self.send(user, len)),
                    _ => self.users[user].refused = None,
                }
            }
            _ => {}
        }
    }

    fn input(&mut self, to: usize, packet: Packet) {
        let (source, destination) = (ADDRESSES[1 - to], ADDRESSES[to]);
        let input = Input::Packet { source, destination, ip: IpFields::default(), packet };
        self.endpoints[to].handle_input(self.now, input);
        self.drain(to);
    }

    fn deliver(&mut self) {
        while !self.under_way.is_empty() {
            for (to, packet) in core::mem::take(&mut self.under_way) {
                self.input(to, packet);
            }
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(next) = self.deadlines.iter().flatten().min().copied().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            for side in [SERVER, CLIENT] {
                self.endpoints[side].handle_input(self.now, Input::Deadline);
                self.drain(side);
            }
        }
        self.now = end;
    }

    fn rest(&mut self) {
        for _ in 0..200 {
            self.deliver();
            self.wait(Duration::from_secs(1));
        }
    }

    /// Forgets all associations of the client's host, and begins anew.
    fn restart(&mut self, seed: u64) {
        self.endpoints[CLIENT] = client(self.users.len(), seed);
        (0..self.users.len()).for_each(|user| self.connect(user));
    }
}

#[test]
fn who_was_refused_first_hears_first_of_room_that_others_have_freed() {
    let mut net = Net::new(4, config(6_000, 10_000));
    let full = |wanted, free| Some(SendError::BufferFull { wanted, free });
    // In flight or not: what is not acknowledged is held.
    assert_eq!(net.send(0, 3_000), None);
    assert_eq!(net.send(0, 3_000), None);
    assert_eq!(net.send(1, 3_500), None);
    // 500 are left. Its own buffer has room.
    assert_eq!(net.send(1, 600), full(600, 500));
    // It stands in line: nobody passes it.
    assert_eq!(net.send(2, 100), full(100, 0));
    assert_eq!(net.send(3, 100), full(100, 0));
    assert_eq!(net.pool().held, 9_500);
    // Another try does not change the order.
    assert_eq!(net.send(1, 600), full(600, 0));
    net.drain(SERVER);
    assert_eq!(net.told, []);
    net.rest();
    assert_eq!((net.told.as_slice(), net.pool().held), ([1, 2, 3].as_slice(), 0));
    assert_eq!(net.users.iter().map(|user| user.taken).collect::<Vec<_>>(), [2, 2, 1, 1]);
    assert!(net.pool().is_calm() && !net.endpoints[SERVER].is_crowded);
    // One association does not fill the whole.
    assert_eq!(net.send(0, 6_000), None);
    assert_eq!(net.send(0, 1), full(1, 0));
}

#[test]
fn short_messages_count_as_what_they_take() {
    let mut net = Net::new(3, config(6_000, 9_000));
    // A buffer of 6,000 bytes holds 100 messages.
    let counts = [0, 1, 2].map(|user| (0..1_000).take_while(|_| net.send(user, 1).is_none()).count());
    assert_eq!((counts, net.pool().held), ([100, 50, 0], 9_000));
}

#[test]
fn what_ends_or_begins_anew_gives_its_room_to_others() {
    for end in ["abort", "abort of the peer", "restart"] {
        let mut net = Net::new(2, config(10_000, 10_000));
        assert_eq!(net.send(0, 10_000), None);
        assert!(net.send(1, 5_000).is_some());
        // Nothing of it arrives.
        net.drain(SERVER);
        net.under_way.clear();
        match end {
            "abort" => {
                let id = net.users[0].id.unwrap();
                net.endpoints[SERVER].abort(net.now, id, bytes::Bytes::new());
                net.drain(SERVER);
            }
            "abort of the peer" => {
                let id = net.endpoints[CLIENT].table.id(0);
                net.endpoints[CLIENT].abort(net.now, id, bytes::Bytes::new());
                net.drain(CLIENT);
            }
            _ => {
                net.endpoints[CLIENT] = client(1, 9);
                net.connect(0);
            }
        }
        net.deliver();
        assert_eq!((net.told.as_slice(), net.users[1].taken), ([1].as_slice(), 1), "{end}");
        net.rest();
        assert!(net.pool().is_calm(), "{end}");
    }
}

#[test]
fn who_does_not_take_what_is_offered_keeps_nobody_out() {
    let mut net = Net::new(3, config(8_000, 10_000));
    net.users[1].is_deaf = true;
    assert_eq!(net.send(0, 8_000), None);
    assert!(net.send(1, 8_000).is_some());
    assert!(net.send(2, 3_000).is_some());
    net.rest();
    assert_eq!((net.told.as_slice(), net.users[2].taken, net.pool().held), ([1, 2].as_slice(), 1, 0));
}

#[test]
fn a_buffer_above_the_total_is_within_it() {
    let mut net = Net::new(1, SctpConfig { send_buffer_bytes: 20_000, ..config(0, 10_000) });
    assert_eq!(net.send(0, 10_001), Some(SendError::TooLong { len: 10_001, limit: 10_000 }));
    assert_eq!(net.send(0, 10_000), None);
    let totals = [(None, 1_000), (None, 1 << 30), (Some(0), 1_000), (Some(5_000), 1_000)].map(
        |(total_send_buffer_bytes, send_buffer_bytes)| {
            SctpConfig { send_buffer_bytes, total_send_buffer_bytes, ..SctpConfig::default() }
                .total_send_buffer()
        },
    );
    assert_eq!(totals, [1 << 28, 1 << 32, 3_840, 5_000]);
}

#[test]
fn what_waits_for_an_association_counts_as_well() {
    let mut net = Net::new(1, config(8_000, 10_000));
    assert_eq!(net.send(0, 8_000), None);
    let options = ConnectOptions {
        peer_addresses: vec![ADDRESSES[CLIENT]],
        peer_port: 9,
        local_port: PORT,
        ..ConnectOptions::default()
    };
    let early = net.endpoints[SERVER].connect(net.now, &options).unwrap();
    let message = |len: usize| Message {
        stream: StreamId(0),
        ppid: Ppid(0),
        payload: vec![0; len].into(),
        is_unordered: false,
        context: 0,
        options: None,
    };
    let server = &mut net.endpoints[SERVER];
    assert_eq!(server.send(net.now, early, message(1_500)), Ok(()));
    assert_eq!(
        server.send(net.now, early, message(1_500)),
        Err(SendError::BufferFull { wanted: 1_500, free: 500 })
    );
    assert_eq!(server.send(net.now, early, message(0)), Err(SendError::Empty));
    assert_eq!((net.pool().held, net.held()), (9_500, 9_500));
    net.endpoints[SERVER].abort(net.now, early, bytes::Bytes::new());
    assert_eq!(net.pool().held, 8_000);
}

#[derive(Clone, Debug)]
enum Step {
    Send { user: usize, len: usize, count: usize },
    Deliver,
    Lose,
    Wait { millis: u64 },
    Abort { side: usize, user: usize },
    Shutdown { user: usize },
    Restart,
    Connect { user: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    let user = 0..5_usize;
    prop_oneof![
        10 => (user.clone(), prop_oneof![1..100_usize, 100..6_000_usize], 1..40_usize)
            .prop_map(|(user, len, count)| Step::Send { user, len, count }),
        4 => Just(Step::Deliver),
        2 => Just(Step::Lose),
        3 => (0..2_000_u64).prop_map(|millis| Step::Wait { millis }),
        1 => (0..2_usize, user.clone()).prop_map(|(side, user)| Step::Abort { side, user }),
        1 => user.clone().prop_map(|user| Step::Shutdown { user }),
        1 => Just(Step::Restart),
        1 => user.prop_map(|user| Step::Connect { user }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn all_together_hold_no_more_than_the_total_and_nobody_starves(
        total in 3_840..20_000_u64,
        buffer in 500..8_000_u64,
        deaf in prop::collection::vec(any::<bool>(), 5),
        steps in prop::collection::vec(any_step(), 1..50),
    ) {
        let mut net = Net::new(5, config(buffer, total));
        for (user, is_deaf) in net.users.iter_mut().zip(deaf) {
            user.is_deaf = is_deaf;
        }
        for (seed, step) in (20..).zip(steps) {
            match step {
                Step::Send { user, len, count } => {
                    for _ in 0..count {
                        if net.send(user, len).is_some() {
                            break;
                        }
                    }
                    net.drain(SERVER);
                }
                Step::Deliver => net.deliver(),
                Step::Lose => net.under_way.clear(),
                Step::Wait { millis } => net.wait(Duration::from_millis(millis)),
                Step::Abort { side: SERVER, user } => {
                    if let Some(id) = net.users[user].id {
                        net.endpoints[SERVER].abort(net.now, id, bytes::Bytes::new());
                        net.drain(SERVER);
                    }
                }
                Step::Abort { user, .. } => {
                    let taken: Vec<u32> = net.endpoints[CLIENT].table.occupied().collect();
                    if let Some(slot) = taken.get(user) {
                        let id = net.endpoints[CLIENT].table.id(*slot);
                        net.endpoints[CLIENT].abort(net.now, id, bytes::Bytes::new());
                        net.drain(CLIENT);
                    }
                }
                Step::Shutdown { user } => {
                    if let Some(id) = net.users[user].id {
                        net.endpoints[SERVER].shutdown(net.now, id);
                        net.drain(SERVER);
                    }
                }
                Step::Restart => net.restart(seed),
                Step::Connect { user } => net.connect(user),
            }
        }
        net.rest();
        prop_assert_eq!(net.pool().held, 0);
        prop_assert!(net.pool().waiting.is_empty(), "{:?}", net.pool());
        for user in &net.users {
            prop_assert_eq!(user.refused, None, "{:?}", user);
        }
    }
}
