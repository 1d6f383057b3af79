//! Whatever chunks a peer sends, well formed but in any order and state.

use std::net::IpAddr;

use proptest::prelude::*;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_wire::Packet;

use super::{Acceptance, ConnectError, ConnectOptions, Endpoint, Input, Output, PortConfig};
use crate::chunk::Chunk;
use crate::chunk::tests::any_chunk;
use crate::config::SctpConfig;
use crate::event::Message;
use crate::packet::{ChecksumPolicy, CommonHeader, PacketBuilder, ParsedPacket};
use crate::types::{Ppid, StreamId, VerificationTag};

const ADDRESSES: [IpAddr; 2] =
    [IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2))];

/// Step of a test case.
#[derive(Clone, Debug)]
enum Step {
    /// A packet to one side: with its tag, with the peer's, with none, or with another.
    Packet {
        to: usize,
        tag: Tag,
        chunks: Vec<Chunk>,
    },
    /// Packets under way arrive.
    Deliver,
    /// Packets under way are lost.
    Lose,
    /// Time goes by.
    Wait {
        millis: u64,
    },
    /// A message is sent.
    Send {
        from: usize,
        len: usize,
    },
    Shutdown {
        side: usize,
    },
    Abort {
        side: usize,
    },
    Connect {
        side: usize,
    },
}

#[derive(Clone, Copy, Debug)]
enum Tag {
    Own,
    Peer,
    Zero,
    Other(u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    let tag = prop_oneof![
        4 => Just(Tag::Own),
        2 => Just(Tag::Peer),
        2 => Just(Tag::Zero),
        1 => any::<u32>().prop_map(Tag::Other),
    ];
    let chunks = proptest::collection::vec(any_chunk(), 1..4);
    prop_oneof![
        6 => (0..2_usize, tag, chunks).prop_map(|(to, tag, chunks)| Step::Packet { to, tag, chunks }),
        6 => Just(Step::Deliver),
        1 => Just(Step::Lose),
        3 => (0..5_000_u64).prop_map(|millis| Step::Wait { millis }),
        3 => (0..2_usize, 1..5_000_usize).prop_map(|(from, len)| Step::Send { from, len }),
        1 => (0..2_usize).prop_map(|side| Step::Shutdown { side }),
        1 => (0..2_usize).prop_map(|side| Step::Abort { side }),
        2 => (0..2_usize).prop_map(|side| Step::Connect { side }),
    ]
}

struct Pair {
    now: Instant,
    endpoints: [Endpoint; 2],
    under_way: Vec<(usize, Packet)>,
    /// The tag that packets to each side carry, as seen last.
    tags: [VerificationTag; 2],
    ids: [Option<super::AssociationId>; 2],
    deadlines: [Option<Instant>; 2],
}

impl Pair {
    fn new() -> Self {
        let endpoint = |side: usize| {
            let config = SctpConfig { max_associations: 4, ..SctpConfig::default() };
            let port = PortConfig { port: 5_000, addresses: vec![ADDRESSES[side]], config };
            let mut endpoint = Endpoint::default();
            endpoint.bind(port, Seed::new(side as u64, 0).stream("endpoint")).unwrap();
            endpoint.listen(5_000, Acceptance::ByPeer);
            endpoint
        };
        Self {
            now: Instant::START,
            endpoints: [endpoint(0), endpoint(1)],
            under_way: Vec::new(),
            tags: [VerificationTag::ZERO; 2],
            ids: [None; 2],
            deadlines: [None; 2],
        }
    }

    fn drain(&mut self, side: usize) {
        for outputs in 0.. {
            assert!(outputs < 10_000, "output without end");
            let mut packet = Packet::default();
            match self.endpoints[side].poll_output(self.now, &mut packet) {
                Output::Transmit { destination, .. } => {
                    assert_eq!(destination, ADDRESSES[1 - side]);
                    let parsed = ParsedPacket::parse(&packet).expect("what is sent can be read");
                    assert!(parsed.chunks().all(|chunk| chunk.is_ok()), "what is sent can be read");
                    if parsed.header.verification_tag != VerificationTag::ZERO {
                        self.tags[1 - side] = parsed.header.verification_tag;
                    }
                    self.under_way.push((1 - side, packet));
                }
                Output::Event(id, _) => self.ids[side] = Some(id),
                Output::Wait(deadline) => {
                    self.deadlines[side] = deadline;
                    return;
                }
            }
        }
    }

    fn input(&mut self, to: usize, packet: Packet) {
        let input = Input::Packet {
            source: ADDRESSES[1 - to],
            destination: ADDRESSES[to],
            ip: slantpath_wire::ip::IpFields::default(),
            packet,
        };
        self.endpoints[to].handle_input(self.now, input);
        self.drain(to);
    }

    fn deliver(&mut self) {
        for _ in 0..20 {
            for (to, packet) in core::mem::take(&mut self.under_way) {
                self.input(to, packet);
            }
        }
    }

    fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        for _ in 0..1_000 {
            let next = self.deadlines.iter().flatten().min().copied();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            for side in 0..2 {
                if self.deadlines[side].is_some_and(|deadline| deadline <= self.now) {
                    self.endpoints[side].handle_input(self.now, Input::Deadline);
                    self.drain(side);
                }
            }
        }
        assert!(
            self.deadlines.iter().flatten().all(|deadline| *deadline > self.now),
            "a deadline that has come is not acted upon"
        );
        self.now = end;
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Packet { to, tag, chunks } => {
                let verification_tag = match tag {
                    Tag::Own => self.tags[to],
                    Tag::Peer => self.tags[1 - to],
                    Tag::Zero => VerificationTag::ZERO,
                    Tag::Other(tag) => VerificationTag(tag),
                };
                let mut builder = PacketBuilder::default();
                builder.start(
                    CommonHeader { source_port: 5_000, destination_port: 5_000, verification_tag },
                    usize::MAX,
                );
                for chunk in &chunks {
                    builder.push(chunk);
                }
                let packet = builder.finish(ChecksumPolicy::Compute);
                self.input(to, packet);
            }
            Step::Deliver => self.deliver(),
            Step::Lose => self.under_way.clear(),
            Step::Wait { millis } => self.wait(Duration::from_millis(millis)),
            Step::Send { from, len } => {
                let Some(id) = self.ids[from] else { return };
                let message = Message {
                    stream: StreamId(0),
                    ppid: Ppid(0),
                    payload: vec![0; len].into(),
                    is_unordered: len % 3 == 0,
                    context: 0,
                    options: None,
                };
                let _ = self.endpoints[from].send(self.now, id, message);
                self.drain(from);
            }
            Step::Shutdown { side } => {
                let Some(id) = self.ids[side] else { return };
                self.endpoints[side].shutdown(self.now, id);
                self.drain(side);
            }
            Step::Abort { side } => {
                let Some(id) = self.ids[side] else { return };
                self.endpoints[side].abort(self.now, id, bytes::Bytes::new());
                self.drain(side);
            }
            Step::Connect { side } => {
                let options = ConnectOptions {
                    peer_addresses: vec![ADDRESSES[1 - side]],
                    peer_port: 5_000,
                    local_port: 5_000,
                    ..ConnectOptions::default()
                };
                if let Ok(id) = self.endpoints[side].connect(self.now, &options) {
                    self.ids[side] = Some(id);
                }
                self.drain(side);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_order_of_chunks_and_commands_does_harm(
        has_association: bool,
        steps in proptest::collection::vec(any_step(), 1..60),
    ) {
        let mut pair = Pair::new();
        if has_association {
            pair.take(Step::Connect { side: 0 });
            pair.deliver();
        }
        for step in steps {
            pair.take(step);
        }
        // Left alone, and with every packet lost, all of it comes to an end or to rest.
        pair.under_way.clear();
        for _ in 0..50 {
            pair.wait(Duration::from_secs(20));
            pair.under_way.clear();
        }
        for endpoint in &pair.endpoints {
            prop_assert!(endpoint.association_count() <= 1);
        }
    }
}

#[test]
fn peers_at_addresses_of_two_families_with_the_same_bits_are_two() {
    // 10.0.0.9 and ::10.0.0.9.
    let bits = 0x0a00_0009_u32;
    let peers = [IpAddr::V4(bits.into()), IpAddr::V6(u128::from(bits).into())];
    let mut endpoint = Endpoint::default();
    let own = vec![IpAddr::from([10, 0, 0, 1]), IpAddr::V6(1_u128.wrapping_shl(125).into())];
    let port = PortConfig { port: 5_000, addresses: own, config: SctpConfig::default() };
    endpoint.bind(port, Seed::new(1, 0).stream("endpoint")).unwrap();
    let options = peers.map(|peer| ConnectOptions {
        peer_addresses: vec![peer],
        peer_port: 5_000,
        local_port: 5_000,
        ..ConnectOptions::default()
    });
    for options in &options {
        endpoint.connect(Instant::START, options).unwrap();
    }
    for (options, peer) in options.iter().zip(peers) {
        let again = endpoint.connect(Instant::START, options);
        assert_eq!(again, Err(ConnectError::AlreadyAssociated(peer)));
    }
}

/// Tells if a bundle of messages that have been acknowledged is still held by its sender, which has this many
/// associations.
fn holds_buffers(associations: u16) -> bool {
    let mut pair = Pair::new();
    for local_port in (5_000..).take(usize::from(associations)) {
        if local_port > 5_000 {
            let config =
                PortConfig { port: local_port, addresses: vec![ADDRESSES[0]], config: SctpConfig::default() };
            pair.endpoints[0].bind(config, Seed::new(2, 0).stream("another port")).unwrap();
        }
        let options = ConnectOptions {
            peer_addresses: vec![ADDRESSES[1]],
            peer_port: 5_000,
            local_port,
            ..ConnectOptions::default()
        };
        pair.ids[0] = Some(pair.endpoints[0].connect(pair.now, &options).unwrap());
        pair.drain(0);
        pair.deliver();
    }
    let message = Message {
        stream: StreamId(0),
        ppid: Ppid(0),
        payload: vec![0; 100].into(),
        is_unordered: false,
        context: 0,
        options: None,
    };
    for _ in 0..12 {
        pair.endpoints[0].send(pair.now, pair.ids[0].unwrap(), message.clone()).unwrap();
    }
    pair.drain(0);
    let [(1, packet)] = &pair.under_way[..] else { panic!("one bundle: {:?}", pair.under_way) };
    let bundle = packet.tail().clone();
    assert!(bundle.len() > 1_200);
    pair.deliver();
    // SACK.Delay.
    pair.wait(Duration::from_secs(1));
    pair.deliver();
    let id = pair.ids[0].unwrap();
    assert_eq!(pair.endpoints[0].association(id).unwrap().snapshot().outstanding_chunks, 0);
    !bundle.is_unique()
}

#[test]
fn an_endpoint_with_nothing_under_way_keeps_no_buffers() {
    assert!(!holds_buffers(1));
}

#[test]
fn the_end_of_one_transfer_does_not_take_the_buffers_of_others() {
    assert!(holds_buffers(2));
}
