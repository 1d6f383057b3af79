//! The operating system's sockets: opened, waited for, read and written in batches.
//!
//! Each address of the host has a socket of its own, which receives what is for that address and sends from it. Raw
//! sockets are handed whole IP packets and send whole ones, header and all; sockets of UDP are spared the header, which
//! is put in front of what comes in and becomes options of the socket for what goes out.

pub(crate) mod chance;
mod claim;
mod inquiries;
pub(crate) mod local;
pub(crate) mod readiness;
mod receive;
pub(crate) mod reports;
pub(crate) mod routes;
mod transmit;
pub(crate) mod watch;

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::path::Path;

use nix::sys::socket::{setsockopt, sockopt};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ip_recvtos, set_ipv6_mtu_discover,
    set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force,
};
use slantpath_base::{Duration, Instant};
use slantpath_wire::ip::protocol;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use crate::config::{Carriage, LiveConfig, OpenError, check_addresses};
use claim::Claim;
use inquiries::Inquiries;
use readiness::Readiness;
use receive::Batch;
pub(crate) use receive::{MOST_IN_BATCH, Received, Receiver};
pub(crate) use reports::Report;
pub(crate) use transmit::{Transmitter, Unsent};
use watch::Watch;

/// The sockets of a live host.
#[derive(Debug)]
pub(crate) struct Sockets {
    pub(crate) ends: Vec<End>,
    pub(crate) carriage: Carriage,
    /// They take nothing in, so that the kernel has somebody for every packet; one for each IP version.
    guards: Vec<(Domain, Socket)>,
    /// Claims on ports: one for each address.
    claims: BTreeMap<u16, Vec<Claim>>,
    /// For each address, whether this program answers what is of no port there.
    answers: Vec<Answers>,
    inquiries: Inquiries,
    pub(crate) watch: Watch,
}

/// Program that answers packets for no port at an address.
#[derive(Debug)]
enum Answers {
    /// This program, in UDP to whatever comes.
    Ours { _claim: Option<Claim> },
    /// Another program, which may have ended: that is not asked again before then.
    Another { ask_at: Instant },
}

impl Answers {
    /// At an address of a raw socket.
    fn claim(now: Instant, address: IpAddr) -> io::Result<Self> {
        let claim = Claim::out_of_the_blue(address)?;
        let ask_at = now.saturating_add(ASKED_AGAIN_AFTER);
        Ok(claim.map_or(Self::Another { ask_at }, |claim| Self::Ours { _claim: Some(claim) }))
    }
}

/// Time after which a place that another program has is asked for again. An INIT that is not answered is retransmitted
/// much later.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// The socket of one address.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) socket: Socket,
    pub(crate) address: IpAddr,
    /// Options with which the socket is set to send.
    options: Options,
    /// True if the socket takes many packets as one of UDP.
    cuts_into_segments: bool,
    batch: Batch,
}

/// Values that a socket of UDP puts into the headers of what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Options {
    traffic_class: u8,
    hop_limit: u8,
    /// True if what it sends may be fragmented on its way.
    may_be_cut: bool,
}

impl Options {
    /// Options with which a socket is opened.
    const FIRST: Self = Self { traffic_class: 0, hop_limit: 64, may_be_cut: false };
}

/// Socket that is ready, and what can be read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) end: usize,
    pub(crate) packets: bool,
    pub(crate) errors: bool,
}

impl Sockets {
    pub(crate) fn open(config: &LiveConfig) -> Result<Self, OpenError> {
        check_addresses(&config.addresses)?;
        let is_raw = config.carriage == Carriage::Raw;
        if is_raw && Path::new("/proc/net/sctp").exists() {
            return Err(OpenError::KernelSctp);
        }
        let watch = Watch::open(&config.addresses, config.binding).map_err(|error| OpenError::System {
            what: "listening for what becomes of addresses".to_owned(),
            error,
        })?;
        let (carriage, ends) = (config.carriage, Vec::new());
        let (guards, claims, answers) = (Vec::new(), BTreeMap::new(), Vec::new());
        let inquiries = Inquiries::default();
        let mut sockets = Self { ends, carriage, guards, claims, answers, inquiries, watch };
        for &address in &config.addresses {
            sockets.add(address, config)?;
        }
        Ok(sockets)
    }

    /// Opens a socket for one more address, with all ports there, and gives its place. Nothing is kept of what cannot
    /// be opened.
    pub(crate) fn add(&mut self, address: IpAddr, config: &LiveConfig) -> Result<usize, OpenError> {
        let is_raw = self.carriage == Carriage::Raw;
        let version = Domain::for_address((address, 0).into());
        if is_raw && self.guards.iter().all(|(guarded, _)| *guarded != version) {
            self.guards.push((version, guard(version)?));
        }
        // Any free port: that of the first at all, so that a peer finds each address by what it knows of another.
        let first = self.ends.first().and_then(|end| end.socket.local_addr().ok()?.as_socket());
        let like_first = first.map(|first| with_port(config, first.port()));
        let end = match (config.carriage, like_first) {
            (Carriage::Udp { local_port: 0, .. }, Some(alike)) => {
                open_end(address, &alike).or_else(|_| open_end(address, config))
            }
            _ => open_end(address, config),
        }?;
        let failed =
            |error| OpenError::System { what: format!("claiming what has no port at {address}"), error };
        let answers = if is_raw {
            Answers::claim(Instant::START, address).map_err(failed)?
        } else {
            Answers::Ours { _claim: None }
        };
        let ports = if is_raw { &config.ports[..] } else { &[] };
        let claims = claimed(&[address], ports).into_iter().collect::<Result<Vec<_>, OpenError>>()?;
        for (port, claims) in ports.iter().zip(claims) {
            self.claims.entry(*port).or_default().extend(claims);
        }
        self.answers.push(answers);
        self.ends.push(end);
        Ok(self.ends.len() - 1)
    }

    /// Claims SCTP ports at every address, and gives what has become of each. In UDP nobody else has the socket.
    pub(crate) fn claim(&mut self, ports: &[u16]) -> Vec<Result<(), OpenError>> {
        if self.carriage != Carriage::Raw {
            return ports.iter().map(|_| Ok(())).collect();
        }
        let addresses: Vec<IpAddr> = self.ends.iter().map(|end| end.address).collect();
        let claimed = ports.iter().zip(claimed(&addresses, ports));
        claimed.map(|(port, claims)| claims.map(|claims| drop(self.claims.insert(*port, claims)))).collect()
    }

    /// Gives the claims on an SCTP port back.
    pub(crate) fn release(&mut self, port: u16) {
        self.claims.remove(&port);
    }

    /// The address and port of each socket; the port is that of UDP, or zero.
    pub(crate) fn bound(&self) -> io::Result<Vec<SocketAddr>> {
        let bound = |end: &End| match self.carriage {
            Carriage::Raw => Ok(SocketAddr::new(end.address, 0)),
            Carriage::Udp { .. } => {
                end.socket.local_addr()?.as_socket().ok_or_else(|| io::Error::other("no address of IP"))
            }
        };
        self.ends.iter().map(bound).collect()
    }

    /// One descriptor for all of them.
    pub(crate) fn readiness(&self) -> io::Result<Readiness> {
        let sockets = self.ends.iter().map(|end| &end.socket).chain([&self.watch.socket]);
        Readiness::of(sockets.map(AsFd::as_fd))
    }

    /// Tells if a packet that came to this address for `port`, which is none of the host's, is the host's to answer: it
    /// is if no program has the port, and the one that answered before, if it was another, has ended.
    pub(crate) fn answers_for(&mut self, now: Instant, end: usize, port: u16) -> bool {
        if self.carriage != Carriage::Raw {
            // Nobody else has the UDP port.
            return true;
        }
        let address = self.ends[end].address;
        let answers = &mut self.answers[end];
        if let Answers::Another { ask_at } = answers {
            if now < *ask_at {
                return false;
            }
            // What cannot be claimed is another's.
            *answers = Answers::claim(now, address)
                .unwrap_or(Answers::Another { ask_at: now.saturating_add(ASKED_AGAIN_AFTER) });
        }
        let is_free = || Claim::port(address, port).is_ok_and(|claim| claim.is_some());
        matches!(answers, Answers::Ours { .. }) && self.inquiries.is_free(now, (end, port), is_free)
    }

    /// Waits until a socket has something, or for so long; `ready` then has what it is, and no socket that has nothing.
    /// Also ends when a signal comes, or when something has become of an address: then this is `true`.
    ///
    /// They are named with each wait. The system keeps those of an epoll instance, and then asks it about each packet
    /// that comes, and about each that has left, while nobody waits: 4 % of what a sender takes.
    pub(crate) fn wait(&self, at_most: Duration, ready: &mut Vec<Ready>) -> io::Result<bool> {
        ready.clear();
        let nanos = at_most.as_nanos();
        #[expect(clippy::cast_possible_wrap, reason = "584 years at most")]
        let timeout =
            Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
        let sockets = [&self.watch.socket].into_iter().chain(self.ends.iter().map(|end| &end.socket));
        let mut fds: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let (watch, ends) = fds.split_first().expect("that of the watch is there in any case");
        ready.extend(ends.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty()).map(|(end, fd)| {
            Ready {
                end,
                packets: fd.revents().contains(PollFlags::IN),
                errors: fd.revents().contains(PollFlags::ERR),
            }
        }));
        let has_changed = !watch.revents().is_empty();
        Ok(has_changed)
    }
}

/// Claims each of these SCTP ports at all of these addresses.
fn claimed(addresses: &[IpAddr], ports: &[u16]) -> Vec<Result<Vec<Claim>, OpenError>> {
    let places: Vec<(IpAddr, u16)> =
        ports.iter().flat_map(|port| addresses.iter().map(|address| (*address, *port))).collect();
    let mut claims = match Claim::ports(&places) {
        Ok(claims) => claims.into_iter(),
        Err(error) => return ports.iter().map(|port| Err(not_claimed(*port, &error))).collect(),
    };
    let of_port = |port: &u16| {
        let claims: Vec<Option<Claim>> = claims.by_ref().take(addresses.len()).collect();
        let one = |(address, claim): (&IpAddr, Option<Claim>)| {
            claim.ok_or(OpenError::PortInUse { protocol: "SCTP", address: *address, port: *port })
        };
        addresses.iter().zip(claims).map(one).collect()
    };
    ports.iter().map(of_port).collect()
}

fn not_claimed(port: u16, error: &io::Error) -> OpenError {
    let alike = error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
    OpenError::System { what: format!("claiming port {port}"), error: alike }
}

/// Settings that differ from `config` in this own UDP port alone.
fn with_port(config: &LiveConfig, port: u16) -> LiveConfig {
    let carriage = match config.carriage {
        Carriage::Raw => Carriage::Raw,
        Carriage::Udp { remote_port, .. } => Carriage::Udp { local_port: port, remote_port },
    };
    LiveConfig { carriage, ..config.clone() }
}

fn open_end(address: IpAddr, config: &LiveConfig) -> Result<End, OpenError> {
    let (kind, number, port) = match config.carriage {
        Carriage::Raw => (Type::RAW, protocol::SCTP, 0),
        Carriage::Udp { local_port, .. } => (Type::DGRAM, protocol::UDP, local_port),
    };
    let domain = Domain::for_address(SocketAddr::new(address, 0));
    let socket = new_socket(domain, kind, number)?;
    let failed = |what: &'static str| {
        move |error: io::Error| OpenError::System { what: format!("{what} at {address}"), error }
    };
    if domain == Domain::IPV6 && config.carriage != Carriage::Raw {
        socket.set_only_v6(true).map_err(failed("only IPv6"))?;
    }
    if let Err(error) = socket.bind(&SocketAddr::new(address, port).into()) {
        return Err(match error.kind() {
            io::ErrorKind::AddrNotAvailable => OpenError::NotOurs { address, own: local::own_addresses() },
            io::ErrorKind::AddrInUse => OpenError::PortInUse { protocol: "UDP", address, port },
            io::ErrorKind::PermissionDenied => OpenError::PrivilegedPort { port },
            _ => failed("a socket")(error),
        });
    }
    // The system binds a socket to the broadcast address of a network as well, but refuses to say a way there.
    let is_broadcast =
        local::source_towards(address).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    if is_broadcast {
        return Err(OpenError::NotOurs { address, own: local::own_addresses() });
    }
    let size = config.socket_buffer_bytes;
    // Beyond the system's limit only with a privilege: less than was asked for does as well.
    let _ = set_socket_recv_buffer_size_force(&socket, size)
        .or_else(|_| rustix::net::sockopt::set_socket_recv_buffer_size(&socket, size));
    let _ = set_socket_send_buffer_size_force(&socket, size)
        .or_else(|_| rustix::net::sockopt::set_socket_send_buffer_size(&socket, size));
    let options = set_options(&socket, domain, config.carriage == Carriage::Raw);
    options.map_err(failed("the options of a socket"))?;
    let is_udp = config.carriage != Carriage::Raw;
    // What came as one is read as one; a kernel that knows nothing of it does without.
    let _ = is_udp.then(|| setsockopt(&socket, sockopt::UdpGroSegment, &true));
    Ok(End { socket, address, options: Options::FIRST, cuts_into_segments: is_udp, batch: Batch::FIRST })
}

fn set_options(socket: &Socket, domain: Domain, is_raw: bool) -> io::Result<()> {
    if domain == Domain::IPV4 {
        setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
        if is_raw {
            socket.set_header_included_v4(true)?;
        } else {
            set_ip_recvtos(socket, true)?;
            setsockopt(socket, sockopt::Ipv4RecvTtl, &true)?;
        }
        // The path MTU is SCTP's affair: what the kernel has heard of it does not count.
        set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE)?;
    } else {
        setsockopt(socket, sockopt::Ipv6RecvErr, &true)?;
        if is_raw {
            socket.set_header_included_v6(true)?;
        }
        socket.set_recv_tclass_v6(true)?;
        socket.set_recv_hoplimit_v6(true)?;
        set_ipv6_mtu_discover(socket, Ipv6PathMtuDiscovery::PROBE)?;
    }
    Ok(())
}

/// A raw socket whose filter drops all. The kernel answers a packet of a protocol that nobody takes with "protocol
/// unreachable", on which SCTP ends an association (RFC 9260, section 10), and so it does where the buffer of the only
/// socket is full. A filter's drop is none of that.
fn guard(domain: Domain) -> Result<Socket, OpenError> {
    let socket = new_socket(domain, Type::RAW, protocol::SCTP)?;
    let drop_all = [SockFilter::new(RETURN, 0, 0, 0)];
    let failed = |error| OpenError::System { what: "a filter of a raw socket".to_owned(), error };
    socket.attach_filter(&drop_all).map_err(failed)?;
    Ok(socket)
}

/// BPF's instruction to keep so many bytes of a packet: BPF_RET | BPF_K.
const RETURN: u16 = 0x06;

fn new_socket(domain: Domain, kind: Type, number: u8) -> Result<Socket, OpenError> {
    let socket = Socket::new(domain, kind.nonblocking().cloexec(), Some(Protocol::from(i32::from(number))));
    socket.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => OpenError::NoPrivilege { program: own_program() },
        _ => OpenError::System { what: "opening a socket".to_owned(), error },
    })
}

fn own_program() -> String {
    std::env::current_exe().map_or_else(|_| "PROGRAM".to_owned(), |path| path.display().to_string())
}
