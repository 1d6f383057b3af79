//! An association between us and a peer, both of which send and read, to its end.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU16, Ordering};

use slantpath_base::{Duration, Stream};
use slantpath_live::{
    Binding, Carriage, Extension, Extensions, Live, LiveConfig, Peer as PeerAddress, Program as _,
    ProgramConfig, Reliability, SctpConfig, Station, Tap, host_of,
};
use slantpath_sctp::AssociationStats;

use crate::network::Network;
use crate::partner::{Found, Partner, Plan};
use crate::peer::{Peer, Programs, Stack};
use crate::wire::Wire;

/// Our end of an exchange.
pub(crate) type Us = Live<Tap<Station<Partner>, Wire>>;

/// Far more than any case takes: nothing depends on it unless it fails.
const PATIENCE: Duration = Duration::from_secs(45);

/// Versions of IP of which the ends have addresses on each link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
    Both,
}

/// Sender of the first INIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Us,
    Peer,
}

/// Task of both ends, and the links that it goes over.
#[derive(Clone)]
pub(crate) struct Exchange<'a> {
    pub(crate) network: &'a Network,
    pub(crate) programs: &'a Programs,
    pub(crate) stack: Stack,
    pub(crate) links: &'a [usize],
    pub(crate) family: Family,
    pub(crate) caller: Caller,
    pub(crate) carriage: Carriage,
    pub(crate) ours: Plan,
    pub(crate) theirs: Plan,
    pub(crate) sctp: SctpConfig,
    /// The peer's send and receive buffer, in bytes.
    pub(crate) peer_buffer: usize,
    /// Longest packet that the peer is told to send, in bytes.
    pub(crate) peer_path_mtu: Option<u16>,
    /// Further options of the peer, each with its value.
    pub(crate) peer_options: Vec<(&'static str, String)>,
    /// Number of links that each end says at first that it is on; `None`: all.
    pub(crate) known_links: Option<usize>,
    /// Of us, and of the peer.
    ports: [u16; 2],
}

/// Outcome of an exchange.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) found: Found,
    /// The path MTU of each path at the end, before it was closed, with its destination.
    pub(crate) mtus: Vec<(IpAddr, u16)>,
    /// Counters of the association, as they were when it was closed.
    pub(crate) stats: AssociationStats,
    /// The extensions that were used.
    pub(crate) extensions: Extensions,
    /// Packets that have passed.
    pub(crate) wire: Wire,
    pub(crate) peer: Peer,
}

/// Each exchange has ports of its own.
static NEXT_PORT: AtomicU16 = AtomicU16::new(10_000);

impl<'a> Exchange<'a> {
    /// Two paths in IPv4, called by us, with so many messages either way.
    pub(crate) fn new(network: &'a Network, programs: &'a Programs, stack: Stack, messages: u64) -> Self {
        let plan = Plan {
            send: messages,
            expect: messages,
            lengths: vec![16, 1_000, 1_452, 4_000],
            streams: 4,
            block: 1,
            directed_to: None,
            hold_after: None,
            later_streams: 4,
            partial: None,
            sack_immediately: false,
            pause: Duration::ZERO,
            every: Duration::ZERO,
            closes: false,
        };
        let port = NEXT_PORT.fetch_add(2, Ordering::Relaxed);
        Self {
            network,
            programs,
            stack,
            links: &[0, 1],
            family: Family::V4,
            caller: Caller::Us,
            carriage: Carriage::Raw,
            ours: Plan { closes: true, ..plan.clone() },
            theirs: plan,
            sctp: SctpConfig {
                rto_initial: Duration::from_millis(300),
                rto_min: Duration::from_millis(250),
                path_max_retrans: 2,
                heartbeat_interval: Some(Duration::from_millis(300)),
                ..SctpConfig::default()
            },
            peer_buffer: 1_048_576,
            peer_path_mtu: None,
            peer_options: Vec::new(),
            known_links: None,
            ports: [port, port + 1],
        }
    }

    /// Both ends have timers that outlast a guest that stands still for a moment, which happens: for exchanges in which
    /// nothing is lost.
    pub(crate) fn have_long_timers(&mut self) {
        self.sctp.rto_initial = Duration::from_secs(3);
        self.sctp.rto_min = Duration::from_secs(3);
        self.peer_options.extend([("rto-initial-ms", "3000".to_owned()), ("rto-min-ms", "3000".to_owned())]);
    }

    /// Both ends do the same of this plan, but that one closes.
    pub(crate) fn with_plans(mut self, change: impl Fn(&mut Plan)) -> Self {
        change(&mut self.ours);
        change(&mut self.theirs);
        self
    }

    /// Each end has agreed to these extensions.
    pub(crate) fn agree(&mut self, extensions: &[Extension]) {
        self.sctp.extensions = Extensions::of(extensions);
        for extension in extensions {
            self.peer_options.push(("extension", extension.name().to_owned()));
        }
    }

    fn addresses(&self, v4: impl Fn(usize) -> String, v6: impl Fn(usize) -> String) -> Vec<IpAddr> {
        let on_link = |&link: &usize| match self.family {
            Family::V4 => vec![v4(link)],
            Family::V6 => vec![v6(link)],
            Family::Both => vec![v4(link), v6(link)],
        };
        self.links.iter().flat_map(on_link).map(|text| text.parse().unwrap()).collect()
    }

    pub(crate) fn our_addresses(&self) -> Vec<IpAddr> {
        self.addresses(|link| format!("10.82.{link}.1"), |link| format!("fd82:{link}:0:1::1"))
    }

    pub(crate) fn peer_addresses(&self) -> Vec<IpAddr> {
        self.addresses(|link| self.stack.v4(link), |link| self.stack.v6(link))
    }

    /// Number of addresses, of so many, that an end says at first that it has.
    fn known(&self, addresses: usize) -> usize {
        self.known_links.map_or(addresses, |links| links * addresses / self.links.len())
    }

    fn known_peer_addresses(&self) -> Vec<IpAddr> {
        let mut addresses = self.peer_addresses();
        addresses.truncate(self.known(addresses.len()));
        addresses
    }

    /// The ports: ours, and the peer's.
    pub(crate) const fn ports(&self) -> [u16; 2] {
        self.ports
    }

    /// Opens our end: to the peer, or to whoever comes.
    pub(crate) fn open(&self, calls: bool) -> Us {
        let addresses = self.our_addresses();
        let known = &addresses[..self.known(addresses.len())];
        let mut host = host_of(&addresses);
        let overhead = u16::try_from(self.carriage.overhead_bytes()).unwrap();
        let sctp = SctpConfig {
            outbound_streams: self.ours.streams,
            inbound_streams: self.ours.streams.max(self.ours.later_streams),
            initial_path_mtu: self.sctp.initial_path_mtu - overhead,
            max_path_mtu: self.sctp.max_path_mtu - overhead,
            ..self.sctp.clone()
        };
        let peer = calls.then(|| PeerAddress { addresses: self.known_peer_addresses(), port: self.ports[1] });
        let config = ProgramConfig {
            sctp: Box::new(sctp),
            local_addresses: known.to_vec(),
            local_port: self.ports[0],
            peer,
        };
        let stream = Stream::secret(slantpath_live::secret().unwrap());
        let program = Partner::open(self.ours.clone(), &config, &mut host, stream);
        let config = LiveConfig {
            addresses,
            binding: Binding::Listed,
            carriage: self.carriage,
            ports: vec![self.ports[0]],
            socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
        };
        Live::open(&config, Tap { host: Station { host, program }, observer: Wire::default() }).unwrap()
    }

    /// Starts the peer, which calls us or listens.
    pub(crate) fn start(&self, calls: bool) -> Peer {
        let mut options = Vec::new();
        let mut add = |name: &str, value: &dyn std::fmt::Display| {
            options.extend([format!("--{name}"), value.to_string()]);
        };
        for address in self.known_peer_addresses() {
            add("local", &address);
        }
        if calls {
            let addresses = self.our_addresses();
            for address in &addresses[..self.known(addresses.len())] {
                add("peer", &address);
            }
        }
        add("port", &self.ports[1]);
        add("peer-port", &self.ports[0]);
        if let (Carriage::Udp { local_port, remote_port }, Stack::Usrsctp) = (self.carriage, self.stack) {
            add("udp-local", &remote_port);
            add("udp-remote", &local_port);
        }
        let plan = &self.theirs;
        add("send", &plan.send);
        add("expect", &plan.expect);
        for length in &plan.lengths {
            add("length", length);
        }
        add("streams", &plan.streams);
        add("block", &plan.block);
        if let Some(address) = &plan.directed_to {
            add("direct-to", address);
        }
        add("pause-ms", &plan.pause.as_millis());
        add("every-us", &plan.every.as_micros());
        add("rto-initial-ms", &300);
        add("rto-min-ms", &250);
        add("path-max-retrans", &2);
        add("heartbeat-ms", &300);
        add("buffer", &self.peer_buffer);
        if let Some(mtu) = &self.peer_path_mtu {
            add("path-mtu", mtu);
        }
        if let Some(hold_after) = &plan.hold_after {
            add("hold-after", hold_after);
            add("later-streams", &plan.later_streams);
        }
        match plan.partial {
            None | Some(Reliability::Full) => {}
            Some(Reliability::Lifetime(lifetime)) => add("lifetime-ms", &lifetime.as_millis()),
            Some(Reliability::Retransmissions(most)) => add("retransmissions", &most),
            Some(Reliability::Priority(priority)) => add("priority", &priority),
        }
        if plan.sack_immediately {
            add("sack-immediately", &1);
        }
        for (name, value) in &self.peer_options {
            add(name, value);
        }
        if plan.closes {
            options.push("--close".to_owned());
        }
        let mut peer = self.programs.start(self.network, self.stack, self.links[0], &options);
        peer.wait_for("ready");
        peer
    }

    /// From the first INIT until both ends say that it is over. `watch` is called after each turn.
    pub(crate) fn run(&self, watch: impl FnMut(&mut Us, &mut Peer)) -> Outcome {
        match self.caller {
            Caller::Us => {
                let peer = self.start(false);
                Self::to_its_end(&mut self.open(true), peer, watch)
            }
            Caller::Peer => {
                let mut us = self.open(false);
                Self::to_its_end(&mut us, self.start(true), watch)
            }
        }
    }

    /// Variant of [`Exchange::run`] for ends that have been opened.
    pub(crate) fn to_its_end(
        us: &mut Us,
        mut peer: Peer,
        mut watch: impl FnMut(&mut Us, &mut Peer),
    ) -> Outcome {
        let (mut mtus, mut stats, mut extensions) = Default::default();
        turns(us, &mut peer, |us, peer| {
            watch(us, peer);
            let now = us.now();
            let Station { host, program } = &mut us.host_mut().host;
            if let Some(socket) = program.socket().filter(|_| program.found.end.is_none()) {
                let paths = host.sctp_paths(now, socket);
                mtus = paths.iter().map(|path| (path.destination, path.mtu)).collect();
                if let Some(snapshot) = host.sctp_snapshot(socket) {
                    stats = snapshot.stats;
                    extensions = host.sctp_extensions(socket);
                }
            }
            us.host().host.program.is_over() && peer.said("end").is_some()
        });
        let Tap { host, observer: wire } = us.host();
        Outcome { found: host.program.found.clone(), mtus, stats, extensions, wire: wire.clone(), peer }
    }
}

/// Reason for which a case says nothing of us: the peer's program waits for itself. Places where its threads wait, and
/// what was seen until then.
pub(crate) struct StandsStill(pub(crate) String);

/// Lets both ends act until `is_over`.
pub(crate) fn turns(us: &mut Us, peer: &mut Peer, mut is_over: impl FnMut(&mut Us, &mut Peer) -> bool) {
    let last = us.now().saturating_add(PATIENCE);
    while !is_over(us, peer) {
        peer.poll();
        assert!(peer.said("error").is_none(), "{:?}", peer.seen);
        if us.now() >= last {
            let stands_still = peer.stands_still();
            let found = &us.host().host.program.found;
            let packets = us.host().observer.last_packets();
            let told = format!("no end: {found:?}, the peer: {:?}, the last packets:\n{packets}", peer.seen);
            match stands_still {
                Some(threads) => std::panic::panic_any(StandsStill(format!("{threads}\n{told}"))),
                None => panic!("{told}"),
            }
        }
        let until = us.now().saturating_add(Duration::from_millis(10));
        us.step(until).unwrap();
    }
}

impl Outcome {
    /// Holds both ends to their plans: every message whole, once, in order, and an end in order.
    pub(crate) fn is_whole(&self, exchange: &Exchange<'_>) -> &Self {
        let Found { sent, messages, wrong, disordered, ref end, .. } = self.found;
        let ours = &exchange.ours;
        assert_eq!(
            (sent, messages, wrong, disordered, end.clone()),
            (ours.send, ours.expect, 0, 0, Some(Ok(()))),
            "{:?}, the peer: {:?}, the last packets:\n{}",
            self.found,
            self.peer.seen,
            self.wire.last_packets()
        );
        let theirs = &exchange.theirs;
        let end = self.peer.said("end").unwrap();
        let numbers = ["sent", "received", "wrong", "disordered"].map(|name| end[name].as_u64());
        assert_eq!(numbers, [theirs.send, theirs.expect, 0, 0].map(Some), "{:?}", self.peer.seen);
        assert!(
            end["how"] == "shutdown",
            "{:?}, the last packets:\n{}",
            self.peer.seen,
            self.wire.last_packets()
        );
        self
    }

    /// Tells if we have found a path to fail.
    pub(crate) fn has_failed(&self, address: IpAddr) -> bool {
        let failed = |(at, what): &(IpAddr, &str)| {
            *at == address && matches!(*what, "inactive" | "potentially failed")
        };
        self.found.paths.iter().any(failed)
    }
}
