//! One end of a measurement, in a process of its own: sends, reads, or does neither but write packets.

use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration as StdDuration, Instant};

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use slantpath_base::{DataSize, Duration, Stream};
use slantpath_instruments::{
    Echo, EchoConfig, EchoMode, LoadClient, LoadClientConfig, WhenBlocked, Workload,
};
use slantpath_live::{
    Binding, Carriage, Live, LiveConfig, LiveCounters, Peer, Program, ProgramConfig, SctpConfig,
    SctpSendOptions, Station, host_of, secret,
};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::usage::Mark;

/// Work of one end of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) role: String,
    pub(crate) local: IpAddr,
    pub(crate) peer: IpAddr,
    pub(crate) port: u16,
    pub(crate) associations: u16,
    pub(crate) messages: u64,
    pub(crate) length: usize,
    /// Zero: in IP.
    pub(crate) udp_port: u16,
    /// Number of packets that the end acknowledges with one SACK.
    pub(crate) sack_frequency: u32,
    /// Packets a second that are written; zero: as many as can be.
    pub(crate) rate: u64,
}

/// Number of programs of which a crowd is made.
pub(crate) const CROWDS: usize = 2;
/// The first port of those who send.
const FIRST_PORT: u16 = 20_000;
/// For how long a crowd sends before it is measured: two messages of each of 100,000, whose memory is taken once.
const SETTLING: Duration = Duration::from_secs(10);
/// No run takes as long.
const PATIENCE: Duration = Duration::from_secs(300);

impl Task {
    pub(crate) fn words(&self) -> [String; 10] {
        [
            self.role.clone(),
            self.local.to_string(),
            self.peer.to_string(),
            self.port.to_string(),
            self.associations.to_string(),
            self.messages.to_string(),
            self.length.to_string(),
            self.udp_port.to_string(),
            self.sack_frequency.to_string(),
            self.rate.to_string(),
        ]
    }

    pub(crate) fn read(words: &[String]) -> Self {
        let [role, local, peer, port, associations, messages, length, udp_port, sack_frequency, rate] = words
        else {
            panic!("an end has ten words: {words:?}");
        };
        Self {
            role: role.clone(),
            local: local.parse().unwrap(),
            peer: peer.parse().unwrap(),
            port: port.parse().unwrap(),
            associations: associations.parse().unwrap(),
            messages: messages.parse().unwrap(),
            length: length.parse().unwrap(),
            udp_port: udp_port.parse().unwrap(),
            sack_frequency: sack_frequency.parse().unwrap(),
            rate: rate.parse().unwrap(),
        }
    }

    /// Does it, and prints what it took.
    pub(crate) fn run(&self) {
        match self.role.as_str() {
            "send" => self.send(),
            "receive" => self.receive(),
            "write" => self.write(),
            "crowd" => self.send_at_a_rate(),
            "serve" => self.serve_a_crowd(),
            role => panic!("{role}"),
        }
    }

    fn carriage(&self) -> Carriage {
        match self.udp_port {
            0 => Carriage::Raw,
            port => Carriage::Udp { local_port: port, remote_port: port },
        }
    }

    /// RFC 9260's, for a link without delay.
    fn program(&self, local_port: u16, peer: Option<Peer>) -> ProgramConfig {
        let overhead = u16::try_from(self.carriage().overhead_bytes()).unwrap();
        let sctp = SctpConfig {
            initial_path_mtu: 1_500 - overhead,
            max_associations: 200_000,
            sack_frequency: self.sack_frequency,
            timer_granularity: LiveConfig::TIMER_GRANULARITY,
            ..SctpConfig::default()
        };
        ProgramConfig { sctp: Box::new(sctp), local_addresses: vec![self.local], local_port, peer }
    }

    fn open<P: Program>(
        &self,
        ports: Vec<u16>,
        program: impl FnOnce(&mut slantpath_live::Host) -> P,
    ) -> Live<Station<P>> {
        let mut host = host_of(&[self.local]);
        let program = program(&mut host);
        let config = LiveConfig {
            addresses: vec![self.local],
            binding: Binding::Listed,
            carriage: self.carriage(),
            ports,
            socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
        };
        Live::open(&config, Station { host, program }).unwrap()
    }

    const fn message(&self) -> DataSize {
        DataSize::from_bytes(self.length as u64)
    }

    fn load(&self) -> LoadClientConfig {
        let peer = Peer { addresses: vec![self.peer], port: self.port };
        LoadClientConfig {
            port: self.program(FIRST_PORT, Some(peer)),
            associations: self.associations,
            workload: Workload::Bulk { message: self.message(), total: None },
            draws: Vec::new(),
            when_blocked: WhenBlocked::Queue,
            streams: 1,
            is_unordered: false,
            options: SctpSendOptions::default(),
            messages: Some(self.messages / u64::from(self.associations)),
            duration: None,
            is_echoed: false,
            waits_for_all: false,
            // usrsctp's raw socket has a buffer of some fifty packets: of a thousand associations that begin at once
            // one may lose the same packet time and again, and T3-rtx doubles.
            patience: PATIENCE,
        }
    }

    fn open_load(&self, config: LoadClientConfig) -> Live<Station<LoadClient>> {
        let first = config.port.local_port;
        let ports = (first..).take(usize::from(self.associations)).collect();
        let stream = Stream::secret(secret().unwrap());
        self.open(ports, |host| LoadClient::open(config, host, stream))
    }

    fn send(&self) {
        let mut live = self.open_load(self.load());
        let mark = Mark::now(live.counters());
        let last = live.now().saturating_add(PATIENCE);
        while !live.host().program.is_over() {
            assert!(live.now() < last, "no end: {:?}", live.host().program.progress());
            live.step(last).unwrap();
        }
        let now = live.now();
        let (sent, _) = live.host().program.progress();
        let Station { host, program } = live.host_mut();
        let report = program.report(host, now);
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        mark.report(sent, live.counters());
    }

    fn receive(&self) {
        let config = EchoConfig {
            port: self.program(self.port, None),
            mode: EchoMode::Discard,
            associations: Some(self.associations.into()),
            patience: Duration::from_secs(5),
        };
        let stream = Stream::secret(secret().unwrap());
        let mut live = self.open(vec![self.port], |host| Echo::open(config, host, stream));
        println!("{{\"ready\":true}}");
        let last = live.now().saturating_add(PATIENCE);
        // What is before the first packet is none of it.
        live.step(last).unwrap();
        let mark = Mark::now(live.counters());
        while !live.host().program.is_over() {
            assert!(live.now() < last, "no end: {:?}", live.host().program.report());
            live.step(last).unwrap();
        }
        mark.report(live.host().program.report().messages, live.counters());
    }

    /// A part of a crowd: `messages` a second over all associations, until the server is gone.
    fn send_at_a_rate(&self) {
        let interval =
            Duration::from_nanos(u64::from(self.associations) * 1_000_000_000 / self.messages.max(1));
        let mut config = self.load();
        config.port.local_port = 10_000;
        config.workload = Workload::Poisson { message: self.message(), mean_interval: interval };
        config.messages = None;
        config.waits_for_all = true;
        config.patience = Duration::ZERO;
        let mut live = self.open_load(config);
        // The bench ends it.
        loop {
            let until = live.now().saturating_add(Duration::from_secs(1));
            live.step(until).unwrap();
        }
    }

    /// Serves a crowd: prints what an association holds, once all are there, and then what a message takes.
    fn serve_a_crowd(&self) {
        let all = usize::from(self.associations) * CROWDS;
        let config = EchoConfig {
            port: self.program(self.port, None),
            mode: EchoMode::Discard,
            associations: None,
            patience: Duration::ZERO,
        };
        let stream = Stream::secret(secret().unwrap());
        let mut live = self.open(vec![self.port], |host| Echo::open(config, host, stream));
        println!("{{\"ready\":true}}");
        let before = resident_bytes();
        let last = live.now().saturating_add(PATIENCE);
        while live.host().program.open_associations() < all {
            assert!(live.now() < last, "{} of {all} are there", live.host().program.open_associations());
            live.step(last).unwrap();
        }
        println!("{{\"bytes\":{}}}", (resident_bytes() - before) / all);
        let settled = live.now().saturating_add(SETTLING);
        while live.now() < settled {
            live.step(settled).unwrap();
        }
        assert!(live.host().program.report().messages > 0, "no message has come");
        let (mark, first) = (Mark::now(live.counters()), live.host().program.report().messages);
        while live.host().program.report().messages < first + self.messages {
            assert!(live.now() < last, "no end: {:?}", live.host().program.report());
            live.step(last).unwrap();
        }
        mark.report(live.host().program.report().messages - first, live.counters());
    }

    /// Writes packets as long as those of a message each, 64 with one call, and nothing else: what the system takes for
    /// that alone, and for a sleep between two calls where there is a rate.
    fn write(&self) {
        const BATCH: usize = 64;
        // Of IP, SCTP and DATA.
        let length = 20 + 12 + 16 + self.length;
        let socket = Socket::new(Domain::IPV4, Type::RAW.nonblocking(), Some(Protocol::from(132))).unwrap();
        socket.set_header_included_v4(true).unwrap();
        socket.bind(&std::net::SocketAddr::new(self.local, 0).into()).unwrap();
        socket.set_send_buffer_size(LiveConfig::SOCKET_BUFFER_BYTES).unwrap();
        socket.attach_filter(&[SockFilter::new(0x06, 0, 0, 0)]).unwrap();
        let mut packet = vec![0; length];
        packet[..20].copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 132, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        packet[2..4].copy_from_slice(&u16::try_from(length).unwrap().to_be_bytes());
        let octets = |address: IpAddr| match address {
            IpAddr::V4(address) => address.octets(),
            IpAddr::V6(_) => unreachable!("measured over IPv4"),
        };
        packet[12..16].copy_from_slice(&octets(self.local));
        packet[16..20].copy_from_slice(&octets(self.peer));
        // For the reader's port, without a checksum: it is read, found wanting and not answered.
        packet[20..22].copy_from_slice(&FIRST_PORT.to_be_bytes());
        packet[22..24].copy_from_slice(&self.port.to_be_bytes());
        let to: Vec<Option<SockaddrStorage>> =
            vec![Some(std::net::SocketAddr::new(self.peer, 0).into()); BATCH];
        let slices: Vec<[std::io::IoSlice<'_>; 1]> =
            (0..BATCH).map(|_| [std::io::IoSlice::new(&packet)]).collect();
        let mut headers = MultiHeaders::preallocate(BATCH, None);
        let mut counters = LiveCounters::default();
        let mark = Mark::now(&counters);
        let start = Instant::now();
        while counters.packets_sent < self.messages {
            if let Some(due) = (counters.packets_sent * 1_000_000_000).checked_div(self.rate)
                && let Some(wait) = StdDuration::from_nanos(due).checked_sub(start.elapsed())
            {
                let _ = rustix::thread::nanosleep(&wait.try_into().unwrap());
            }
            let flags = MsgFlags::empty();
            let none: [nix::sys::socket::ControlMessage<'_>; 0] = [];
            let sent = sendmmsg(socket.as_raw_fd(), &mut headers, slices.iter(), &to, none, flags).unwrap();
            counters.packets_sent += sent.count() as u64;
            counters.send_calls += 1;
        }
        mark.report(counters.packets_sent, &counters);
    }
}

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4_096
}
