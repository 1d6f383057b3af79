//! The tester: an endpoint under test, and a peer of it that says what a script tells it to, packet by packet.
//!
//! What the endpoint sends is written as one line a packet, with TSNs counted from the initial TSN of their sender, so
//! that a script compares whole packets. Time stands still but where a script moves it.

use std::collections::VecDeque;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_sctp::chunk::{
    Abort, CookieAck, CookieEcho, Data, DataFlags, Error, GapAckBlock, Heartbeat, Init, InitAck, InitFields,
    Sack, Shutdown, ShutdownAck, ShutdownComplete,
};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{
    Acceptance, AssociationId, Cause, ChecksumPolicy, Chunk, CloseReason, CommonHeader, ConnectOptions,
    Endpoint, Event, Input, Message, Notice, Output, PacketBuilder, Parameter, PathSnapshot, PathState,
    PortConfig, Ppid, SctpConfig, SendError, StreamId, StreamSequence, Tsn, VerificationTag,
};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpFields;

/// The port of the endpoint under test, and of the tester.
pub(crate) const PORT: u16 = 2_905;
/// The tag by which the tester wants to be spoken to.
pub(crate) const PEER_TAG: u32 = 0x7e57;
/// The number of the tester's first DATA chunk.
pub(crate) const PEER_TSN: u32 = 1_000;
/// Cookie of the tester.
pub(crate) const COOKIE: &[u8] = b"cake";
/// The least time: so long before a timer expires, it has not expired.
const MOMENT: Duration = Duration::from_nanos(1);

/// The address of the endpoint under test in a network.
pub(crate) fn own(network: u8) -> IpAddr {
    [10, 0, network, 1].into()
}

/// The tester's address in a network.
pub(crate) fn peer(network: u8) -> IpAddr {
    [10, 0, network, 2].into()
}

/// A packet of the endpoint under test.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) tag: VerificationTag,
    pub(crate) chunks: Vec<Chunk>,
    /// Length from the common header on, in bytes.
    pub(crate) len: usize,
}

/// The endpoint under test, what it has said, and what the tester knows of it.
pub(crate) struct Tester {
    pub(crate) endpoint: Endpoint,
    pub(crate) now: Instant,
    pub(crate) id: Option<AssociationId>,
    /// The fields of the tester's INIT or INIT ACK.
    pub(crate) offer: InitFields,
    /// The tester's addresses: the first is where it speaks from.
    pub(crate) networks: u8,
    /// The tag that the endpoint wants to see.
    pub(crate) tag: VerificationTag,
    /// The number of its first DATA chunk.
    pub(crate) initial_tsn: Tsn,
    sent: VecDeque<Sent>,
    events: VecDeque<Event>,
    deadline: Option<Instant>,
}

/// No HEARTBEATs, so that nothing is sent but for what a script does.
pub(crate) fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

impl Tester {
    /// An endpoint that neither listens nor connects, with one address.
    pub(crate) fn new(config: SctpConfig) -> Self {
        Self::with_networks(config, 1)
    }

    /// Variant of [`new`](Self::new) with an address in each of so many networks, as the tester has.
    pub(crate) fn with_networks(config: SctpConfig, networks: u8) -> Self {
        let mut endpoint = Endpoint::default();
        let addresses = (0..networks).map(own).collect();
        endpoint.bind(PortConfig { port: PORT, addresses, config }, stream()).unwrap();
        Self {
            endpoint,
            now: Instant::START,
            id: None,
            offer: InitFields {
                initiate_tag: VerificationTag(PEER_TAG),
                a_rwnd: 100_000,
                outbound_streams: 4,
                inbound_streams: 4,
                initial_tsn: Tsn(PEER_TSN),
            },
            networks,
            tag: VerificationTag::ZERO,
            initial_tsn: Tsn(0),
            sent: VecDeque::new(),
            events: VecDeque::new(),
            deadline: None,
        }
    }

    /// An endpoint that listens.
    pub(crate) fn listening(config: SctpConfig) -> Self {
        let mut tester = Self::new(config);
        tester.listen();
        tester
    }

    /// An endpoint in COOKIE-WAIT, whose INIT has been seen.
    pub(crate) fn cookie_wait(config: SctpConfig) -> Self {
        let mut tester = Self::new(config);
        tester.connect();
        tester.skip();
        tester
    }

    /// An endpoint in COOKIE-ECHOED, whose COOKIE ECHO has been seen.
    pub(crate) fn cookie_echoed(config: SctpConfig) -> Self {
        let mut tester = Self::cookie_wait(config);
        let init_ack = tester.init_ack(Vec::new());
        tester.receive(&[init_ack]);
        tester.expect("COOKIE-ECHO(4)");
        tester
    }

    /// An endpoint that has set an association up by itself.
    pub(crate) fn active(config: SctpConfig) -> Self {
        Self::active_over(config, 1)
    }

    /// Variant of [`active`](Self::active) over so many networks, all of whose addresses were named by its user.
    pub(crate) fn active_over(config: SctpConfig, networks: u8) -> Self {
        let mut tester = Self::with_networks(config, networks);
        tester.connect();
        tester.skip();
        let addresses = (1..networks).map(|network| Parameter::Address(peer(network)));
        let init_ack = tester.init_ack(addresses.collect());
        tester.receive(&[init_ack]);
        tester.expect("COOKIE-ECHO(4)");
        tester.receive(&[Chunk::CookieAck(CookieAck)]);
        tester.skip_event();
        tester.expect_silence();
        tester
    }

    /// An endpoint with which the tester has set an association up.
    pub(crate) fn passive(config: SctpConfig) -> Self {
        let mut tester = Self::listening(config);
        tester.set_up();
        tester
    }

    /// The four packets by which the tester sets an association up with an endpoint that listens.
    pub(crate) fn set_up(&mut self) {
        let init = self.init(Vec::new());
        self.receive_tagged(0, &[init]);
        let cookie = self.take_cookie();
        self.receive(&[cookie]);
        self.expect("COOKIE-ACK");
        self.skip_event();
        self.expect_silence();
    }

    pub(crate) fn listen(&mut self) {
        assert!(self.endpoint.listen(PORT, Acceptance::ByPeer));
    }

    /// The user of the endpoint connects to all addresses of the tester.
    pub(crate) fn connect(&mut self) {
        let options = ConnectOptions {
            local_port: PORT,
            peer_addresses: (0..self.networks).map(peer).collect(),
            peer_port: PORT,
            ..ConnectOptions::default()
        };
        self.id = Some(self.endpoint.connect(self.now, &options).unwrap());
        self.drain();
    }

    /// The user of the endpoint sends a message on stream 0.
    pub(crate) fn send(&mut self, len: usize) {
        self.try_send(len).unwrap();
    }

    pub(crate) fn try_send(&mut self, len: usize) -> Result<(), SendError> {
        let message = Message {
            stream: StreamId(0),
            ppid: Ppid(0),
            payload: vec![0x5a; len].into(),
            is_unordered: false,
            context: 0,
            options: None,
        };
        let taken = self.endpoint.send(self.now, self.id.unwrap(), message);
        self.drain();
        taken
    }

    pub(crate) fn shut_down(&mut self) {
        assert!(self.endpoint.shutdown(self.now, self.id.unwrap()));
        self.drain();
    }

    /// The tester sends chunks in one packet, with the tag of the endpoint.
    pub(crate) fn receive(&mut self, chunks: &[Chunk]) {
        self.receive_tagged(self.tag.0, chunks);
    }

    /// Variant of [`receive`](Self::receive) with another tag.
    pub(crate) fn receive_tagged(&mut self, tag: u32, chunks: &[Chunk]) {
        self.receive_packet(0, packet(tag, chunks));
    }

    /// Variant of [`receive`](Self::receive) from and to the addresses in a network.
    pub(crate) fn receive_over(&mut self, network: u8, chunks: &[Chunk]) {
        self.receive_packet(network, packet(self.tag.0, chunks));
    }

    pub(crate) fn receive_packet(&mut self, network: u8, packet: Packet) {
        self.receive_from(peer(network), own(network), packet);
    }

    pub(crate) fn receive_from(&mut self, source: IpAddr, destination: IpAddr, packet: Packet) {
        let input = Input::Packet { source, destination, ip: IpFields::default(), packet };
        self.endpoint.handle_input(self.now, input);
        self.drain();
    }

    /// Takes what a command to the endpoint has brought about.
    pub(crate) fn poll(&mut self) {
        self.drain();
    }

    /// Moves time on; whatever falls due meanwhile is done.
    pub(crate) fn wait(&mut self, span: Duration) {
        let end = self.now + span;
        while let Some(deadline) = self.deadline.filter(|deadline| *deadline <= end) {
            self.now = self.now.max(deadline);
            self.endpoint.handle_input(self.now, Input::Deadline);
            self.drain();
        }
        self.now = end;
    }

    pub(crate) fn wait_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis));
    }

    /// Moves time on by so much, and fails if anything was sent before the last nanosecond of it.
    pub(crate) fn expire_after_ms(&mut self, millis: u64) {
        self.wait(Duration::from_millis(millis).saturating_sub(MOMENT));
        assert_eq!(self.lines(), Vec::<String>::new(), "a moment before {millis} ms have passed");
        self.wait(MOMENT);
    }

    fn drain(&mut self) {
        for outputs in 0.. {
            assert!(outputs < 100_000, "the endpoint has output without end");
            let mut packet = Packet::default();
            match self.endpoint.poll_output(self.now, &mut packet) {
                Output::Transmit { source, destination, .. } => {
                    let parsed = ParsedPacket::parse(&packet).expect("what is sent can be read");
                    let chunks: Vec<Chunk> =
                        parsed.chunks().map(|chunk| chunk.expect("so can each chunk")).collect();
                    self.learn(&chunks);
                    let tag = parsed.header.verification_tag;
                    let len = packet.len();
                    self.sent.push_back(Sent { source, destination, tag, chunks, len });
                }
                Output::Event(id, event) => {
                    self.id = Some(id);
                    self.events.push_back(event);
                }
                Output::Wait(deadline) => {
                    self.deadline = deadline;
                    return;
                }
            }
        }
    }

    /// Notes what the endpoint tells of itself when an association begins; an answer to an INIT later on tells of
    /// another association.
    fn learn(&mut self, chunks: &[Chunk]) {
        let is_established = self.id.is_some_and(|id| self.endpoint.association(id).is_some());
        if !is_established
            && let [Chunk::Init(Init { fields, .. }) | Chunk::InitAck(InitAck { fields, .. })] = chunks
        {
            self.tag = fields.initiate_tag;
            self.initial_tsn = fields.initial_tsn;
        }
    }

    /// The next packet of the endpoint.
    #[track_caller]
    pub(crate) fn next_sent(&mut self) -> Sent {
        self.sent.pop_front().expect("a packet is sent")
    }

    /// The next packet of the endpoint, if there is one.
    pub(crate) fn take_any(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    /// The next packet of the endpoint is this one.
    #[track_caller]
    pub(crate) fn expect(&mut self, line: &str) {
        match self.sent.pop_front() {
            Some(sent) => assert_eq!(self.describe(&sent), line),
            None => panic!("nothing is sent in place of {line}"),
        }
    }

    /// The next packet of the endpoint in words.
    pub(crate) fn next_line(&mut self) -> Option<String> {
        self.sent.pop_front().map(|sent| self.describe(&sent))
    }

    /// All packets of the endpoint that have not been looked at are these.
    #[track_caller]
    pub(crate) fn expect_all(&mut self, lines: &[&str]) {
        assert_eq!(self.lines(), lines);
        self.sent.clear();
    }

    /// Nothing has been sent, and nothing told to the user.
    #[track_caller]
    pub(crate) fn expect_silence(&self) {
        assert_eq!(self.lines(), Vec::<String>::new());
        assert_eq!(self.events, []);
    }

    /// The user is told this next.
    #[track_caller]
    pub(crate) fn expect_event(&mut self, event: &Event) {
        assert_eq!(self.events.pop_front().as_ref(), Some(event));
    }

    /// The association has ended for this reason, and the user is told nothing else.
    #[track_caller]
    pub(crate) fn expect_end(&mut self, reason: CloseReason) {
        assert_eq!(self.events.drain(..).collect::<Vec<_>>(), [Event::Closed(reason)]);
        assert_eq!(self.endpoint.association_count(), 0);
    }

    /// The user is told of a message on stream 0 with this number and so many bytes.
    #[track_caller]
    pub(crate) fn expect_message(&mut self, sequence: u16, len: usize) {
        match self.events.pop_front() {
            Some(Event::Received(message)) => {
                let found = (message.stream, message.sequence, message.payload.len());
                assert_eq!(found, (StreamId(0), StreamSequence(sequence), len));
            }
            other => panic!("no message but {other:?}"),
        }
    }

    #[track_caller]
    pub(crate) fn skip_event(&mut self) -> Event {
        self.events.pop_front().expect("the user is told something")
    }

    /// Forgets what was sent and told.
    pub(crate) fn skip(&mut self) {
        self.sent.clear();
        self.events.clear();
    }

    /// The COOKIE ECHO that answers the INIT ACK that is sent next.
    #[track_caller]
    pub(crate) fn take_cookie(&mut self) -> Chunk {
        let Sent { chunks, .. } = self.next_sent();
        let [Chunk::InitAck(InitAck { parameters, .. })] = &chunks[..] else {
            panic!("no INIT ACK: {chunks:?}")
        };
        let cookie = parameters.iter().find_map(|parameter| match parameter {
            Parameter::StateCookie(cookie) => Some(cookie.clone()),
            _ => None,
        });
        Chunk::CookieEcho(CookieEcho { cookie: cookie.expect("an INIT ACK has a cookie") })
    }

    /// The answer to the HEARTBEAT that is sent next, alone, to the tester's address in a network.
    #[track_caller]
    pub(crate) fn take_heartbeat(&mut self, network: u8) -> Chunk {
        let Sent { destination, chunks, .. } = self.next_sent();
        assert_eq!(destination, peer(network));
        match chunks.into_iter().next() {
            Some(Chunk::Heartbeat(heartbeat)) => Chunk::HeartbeatAck(heartbeat.into_ack()),
            other => panic!("no HEARTBEAT: {other:?}"),
        }
    }

    /// The state of the path over a network has changed, and the user is told so.
    #[track_caller]
    pub(crate) fn expect_path(&mut self, network: u8, state: PathState) {
        self.expect_event(&Event::PathChanged { address: peer(network), state });
        assert_eq!(self.path(network).state, state);
    }

    /// New DATA has moved from the first network to the second, since nothing was answered there.
    #[track_caller]
    pub(crate) fn expect_failover(&mut self) {
        let event = self.events.pop_front().expect("the user is told something");
        let Some(Notice::FailedOver { path, former, .. }) = event.notice() else { panic!("{event:?}") };
        assert_eq!((former, path), (peer(0), peer(1)));
    }

    /// The association is there still: it answers a HEARTBEAT, and nothing else has been sent.
    #[track_caller]
    pub(crate) fn expect_alive(&mut self) {
        self.expect_silence();
        self.receive(&[heartbeat()]);
        self.expect("HEARTBEAT-ACK(4)");
        self.expect_silence();
    }

    /// The association is gone: its packets are out of the blue.
    #[track_caller]
    pub(crate) fn expect_gone(&mut self) {
        self.expect_silence();
        let VerificationTag(tag) = self.tag;
        self.receive(&[heartbeat()]);
        self.expect(&format!("[tag {tag}] ABORT(T)"));
        self.expect_silence();
    }

    /// The association has ended in order: its SHUTDOWN ACK is answered, and what else comes late is not, for two
    /// minutes.
    #[track_caller]
    pub(crate) fn expect_gone_in_order(&mut self) {
        self.expect_silence();
        let (VerificationTag(tag), before) = (self.tag, self.endpoint.stats().out_of_the_blue);
        self.receive(&[heartbeat()]);
        self.receive(&[message(0, 0)]);
        self.expect_silence();
        self.receive(&[shutdown_ack()]);
        self.expect(&format!("[tag {tag}] SHUTDOWN-COMPLETE(T)"));
        assert_eq!(self.endpoint.stats().out_of_the_blue, before + 3);
        self.wait_ms(120_000);
        self.expect_gone();
    }

    /// A path, by its network.
    pub(crate) fn path(&mut self, network: u8) -> PathSnapshot {
        let (now, id) = (self.now, self.id.unwrap());
        let mut paths = self.endpoint.path_snapshots(now, id);
        paths.find(|path| path.destination == peer(network)).expect("a path to that address")
    }

    /// An INIT of the tester.
    pub(crate) fn init(&self, parameters: Vec<Parameter>) -> Chunk {
        Chunk::Init(Init { fields: self.offer, parameters })
    }

    /// An INIT ACK of the tester, with its cookie in front of these parameters.
    pub(crate) fn init_ack(&self, mut parameters: Vec<Parameter>) -> Chunk {
        parameters.insert(0, Parameter::StateCookie(Bytes::from_static(COOKIE)));
        Chunk::InitAck(InitAck { fields: self.offer, parameters })
    }

    /// A SACK of the tester.
    pub(crate) fn sack(&self, cumulative: i32, a_rwnd: u32, gaps: &[(u16, u16)]) -> Chunk {
        Chunk::Sack(Sack {
            cumulative_tsn_ack: self.own_tsn(cumulative),
            a_rwnd,
            gap_ack_blocks: gaps.iter().map(|&(start, end)| GapAckBlock { start, end }).collect(),
            duplicates: [].into_iter().collect(),
        })
    }

    /// A SHUTDOWN of the tester.
    pub(crate) fn shutdown(&self, cumulative: i32) -> Chunk {
        Chunk::Shutdown(Shutdown { cumulative_tsn_ack: self.own_tsn(cumulative) })
    }

    fn own_tsn(&self, place: i32) -> Tsn {
        Tsn(self.initial_tsn.0.wrapping_add_signed(place))
    }

    fn lines(&self) -> Vec<String> {
        self.sent.iter().map(|sent| self.describe(sent)).collect()
    }

    /// A packet in one line. Its tag and its destination are told where they are not the tester's first.
    pub(crate) fn describe(&self, sent: &Sent) -> String {
        let mut words = Vec::new();
        if sent.destination != peer(0) {
            words.push(format!("> {}", sent.destination));
        }
        if sent.tag != VerificationTag(PEER_TAG) {
            words.push(format!("[tag {}]", sent.tag.0));
        }
        words.extend(sent.chunks.iter().map(|chunk| self.describe_chunk(chunk)));
        words.join(" ")
    }

    fn describe_chunk(&self, chunk: &Chunk) -> String {
        let own = |tsn: Tsn| tsn.0.wrapping_sub(self.initial_tsn.0).cast_signed();
        let peers = |tsn: Tsn| tsn.0.wrapping_sub(PEER_TSN).cast_signed();
        match chunk {
            Chunk::Data(data) => {
                let Data { flags, tsn, stream, sequence, payload, .. } = data;
                let mut name = String::new();
                for (flag, letter) in [
                    (DataFlags::UNORDERED, 'U'),
                    (DataFlags::BEGINNING, 'B'),
                    (DataFlags::ENDING, 'E'),
                    (DataFlags::IMMEDIATE, 'I'),
                ] {
                    name.extend(flags.contain(flag).then_some(letter));
                }
                format!("DATA({name} tsn {} sid {stream} ssn {sequence} len {})", own(*tsn), payload.len())
            }
            Chunk::Init(Init { fields, parameters }) => {
                format!("INIT({})", describe_offer(fields, parameters))
            }
            Chunk::InitAck(InitAck { fields, parameters }) => {
                format!("INIT-ACK({})", describe_offer(fields, parameters))
            }
            Chunk::Sack(sack) => {
                let gaps =
                    sack.gap_ack_blocks.iter().map(|block| format!(" gap {}-{}", block.start, block.end));
                let duplicates = sack.duplicates.iter().map(|tsn| format!(" dup {}", peers(*tsn)));
                let more: String = gaps.chain(duplicates).collect();
                format!("SACK(cum {} rwnd {}{more})", peers(sack.cumulative_tsn_ack), sack.a_rwnd)
            }
            Chunk::Heartbeat(_) => "HEARTBEAT".into(),
            Chunk::HeartbeatAck(answer) => format!("HEARTBEAT-ACK({})", answer.info.len()),
            Chunk::Abort(abort) => {
                let reflected = if abort.is_tag_reflected { "(T)" } else { "" };
                format!("ABORT{reflected}{}", describe_causes(&abort.causes))
            }
            Chunk::Shutdown(shutdown) => format!("SHUTDOWN(cum {})", peers(shutdown.cumulative_tsn_ack)),
            Chunk::ShutdownAck(_) => "SHUTDOWN-ACK".into(),
            Chunk::Error(error) => format!("ERROR{}", describe_causes(&error.causes)),
            Chunk::CookieEcho(echo) => format!("COOKIE-ECHO({})", echo.cookie.len()),
            Chunk::CookieAck(_) => "COOKIE-ACK".into(),
            Chunk::ShutdownComplete(complete) => {
                format!("SHUTDOWN-COMPLETE{}", if complete.is_tag_reflected { "(T)" } else { "" })
            }
            other => format!("CHUNK({})", other.kind()),
        }
    }
}

fn describe_offer(fields: &InitFields, parameters: &[Parameter]) -> String {
    let InitFields { a_rwnd, outbound_streams, inbound_streams, .. } = fields;
    let kinds: Vec<u16> = parameters.iter().map(Parameter::kind).collect();
    format!("rwnd {a_rwnd} os {outbound_streams} mis {inbound_streams} {kinds:?}")
}

fn describe_causes(causes: &[Cause]) -> String {
    causes.iter().fold(String::new(), |words, cause| words + " cause " + &cause.code().to_string())
}

/// Stream of random numbers that the endpoint under test draws from.
fn stream() -> Stream {
    Seed::new(369, 0).stream("endpoint under test")
}

/// A packet of the tester.
pub(crate) fn packet(tag: u32, chunks: &[Chunk]) -> Packet {
    let header =
        CommonHeader { source_port: PORT, destination_port: PORT, verification_tag: VerificationTag(tag) };
    let mut builder = PacketBuilder::default();
    builder.start(header, usize::MAX);
    for chunk in chunks {
        builder.push(chunk);
    }
    builder.finish(ChecksumPolicy::Compute)
}

/// A DATA chunk of the tester with a whole message of 100 bytes on stream 0.
pub(crate) fn data(place: u32, sequence: u16) -> Data {
    Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn(PEER_TSN.wrapping_add(place)),
        stream: StreamId(0),
        sequence: StreamSequence(sequence),
        ppid: Ppid(0),
        payload: vec![0xa5; 100].into(),
    }
}

/// Chunk with the DATA of `data`.
pub(crate) fn message(place: u32, sequence: u16) -> Chunk {
    Chunk::Data(data(place, sequence))
}

pub(crate) fn heartbeat() -> Chunk {
    Chunk::Heartbeat(Heartbeat::new(Bytes::from_static(b"ping")))
}

/// An ABORT without causes.
pub(crate) fn abort() -> Chunk {
    Chunk::Abort(Abort { is_tag_reflected: false, causes: Vec::new() })
}

pub(crate) fn error(cause: Cause) -> Chunk {
    Chunk::Error(Error::because(cause))
}

pub(crate) fn cookie_ack() -> Chunk {
    Chunk::CookieAck(CookieAck)
}

pub(crate) fn shutdown_ack() -> Chunk {
    Chunk::ShutdownAck(ShutdownAck)
}

pub(crate) fn shutdown_complete() -> Chunk {
    Chunk::ShutdownComplete(ShutdownComplete { is_tag_reflected: false })
}
