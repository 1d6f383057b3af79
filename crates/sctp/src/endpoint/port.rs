//! A port on one or more addresses, which is what RFC 9260 calls an endpoint: its settings, its chance, the secret of
//! its cookies.

use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::{Instant, Stream, StreamFamily};
use smallvec::SmallVec;

use super::outbox::Sender;
use super::receive::Received;
use super::send_pool::SendPool;
use crate::authentication::RANDOM_LEN;
use crate::config::SctpConfig;
use crate::cookie::{Cookie, CookieSigner};
use crate::extension::Extension;
use crate::handshake::LocalStart;
use crate::types::{Tsn, VerificationTag};
use bytes::Bytes;

/// A port that is to be used.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Port number; not zero.
    pub port: u16,
    /// Addresses of the port, at least one; the first is preferred where nothing else decides.
    pub addresses: Vec<IpAddr>,
    /// The settings of its associations, unless one is opened with settings of its own.
    pub config: SctpConfig,
}

/// Name of a bound port. Several ports may have one number, at different addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub(super) u32);

/// Why a port cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// Port that is already in use.
    #[error("port {0} is in use")]
    InUse(u16),
}

/// Treatment of the INITs of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// Associations are accepted. Each draws from a stream that its peer's address, port and tag name, so that none
    /// changes what another draws: for a port that serves many.
    ByPeer,
    /// Associations are accepted, and draw from the port's stream one after the other: for a port that has one peer.
    InTurn,
    /// They are refused.
    #[default]
    Refused,
    /// INITs are answered as before, and each COOKIE ECHO that would begin an association is refused: those that were
    /// accepted wait for their user.
    QueueFull,
}

#[derive(Debug)]
enum Accepting {
    ByPeer(Box<StreamFamily>),
    InTurn,
    Nobody,
}

/// Degree to which a port has the addresses that its host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// Addresses of the host.
    Host,
    /// Addresses of the host and this one, the port's last: the host has it no more, and has no other yet.
    HostBut(IpAddr),
    /// Addresses that the port was bound with, or was given one by one.
    Nobody,
}

#[derive(Debug)]
pub(super) struct Port {
    pub(super) number: u16,
    /// Place of the next port of the same number.
    pub(super) beside: Option<u32>,
    pub(super) addresses: SmallVec<[IpAddr; 2]>,
    /// Addresses that it has been given since it was bound, and the times from which on INIT ACKs list them.
    added: Vec<(IpAddr, Option<Instant>)>,
    pub(super) following: Following,
    pub(super) config: Arc<SctpConfig>,
    /// Number of associations of the port.
    pub(super) associations: usize,
    /// Pool of what its associations hold to be sent.
    pub(super) pool: SendPool,
    pub(super) stream: Stream,
    accepting: Accepting,
    /// True if associations that were accepted wait, so that no other is.
    is_queue_full: bool,
    signer: CookieSigner,
}

impl Port {
    pub(super) fn new(config: PortConfig, mut stream: Stream) -> Self {
        let PortConfig { port, addresses, config } = config;
        let signer = CookieSigner::new(Instant::START, &mut stream);
        let pool = SendPool::new(config.total_send_buffer());
        Self {
            number: port,
            beside: None,
            addresses: addresses.into(),
            added: Vec::new(),
            following: Following::Nobody,
            config: pool.within(Arc::new(config)),
            pool,
            associations: 0,
            stream,
            accepting: Accepting::Nobody,
            is_queue_full: false,
            signer,
        }
    }

    /// Gives the port other settings, and other addresses, for associations that are set up from now on.
    pub(super) fn configure(&mut self, config: SctpConfig, addresses: &[IpAddr]) {
        self.config = self.pool.within(Arc::new(config));
        let gone: Vec<IpAddr> =
            self.addresses.iter().copied().filter(|one| !addresses.contains(one)).collect();
        for address in addresses {
            self.add_address(*address);
        }
        for address in gone {
            self.remove_address(address);
        }
    }

    pub(super) fn accept(&mut self, acceptance: Acceptance) {
        let was_full = std::mem::replace(&mut self.is_queue_full, acceptance == Acceptance::QueueFull);
        match (acceptance, &self.accepting) {
            (Acceptance::QueueFull, _) => {}
            // INITs have been answered meanwhile.
            (Acceptance::ByPeer, Accepting::ByPeer(_)) if was_full => {}
            (Acceptance::ByPeer, _) => {
                self.accepting = Accepting::ByPeer(Box::new(StreamFamily::new(&mut self.stream)));
            }
            (Acceptance::InTurn, _) => self.accepting = Accepting::InTurn,
            (Acceptance::Refused, _) => self.accepting = Accepting::Nobody,
        }
    }

    /// True if a COOKIE ECHO may begin an association.
    pub(super) const fn takes_cookies(&self) -> bool {
        self.is_listening() && !self.is_queue_full
    }

    pub(super) const fn is_listening(&self) -> bool {
        !matches!(self.accepting, Accepting::Nobody)
    }

    pub(super) fn has_room(&self) -> bool {
        self.associations < self.config.max_associations
    }

    /// Sender for the packets of the port itself.
    pub(super) fn sender(&self) -> Sender {
        Sender { port: self.number, checksum: self.config.checksum, ip: self.config.ip_fields() }
    }

    /// The numbers that an association with a peer that has sent an INIT would begin with.
    pub(super) fn start_for(&mut self, received: Received<'_>, peer_tag: VerificationTag) -> LocalStart {
        match &self.accepting {
            Accepting::ByPeer(family) => {
                LocalStart::draw(&mut family.member(&name("INIT", received, peer_tag)), &self.config)
            }
            Accepting::InTurn | Accepting::Nobody => LocalStart::draw(&mut self.stream, &self.config),
        }
    }

    /// The stream of an association that a peer's cookie begins; `None` if it draws from the port's.
    pub(super) fn stream_for(&self, received: Received<'_>, peer_tag: VerificationTag) -> Option<Stream> {
        match &self.accepting {
            Accepting::ByPeer(family) => Some(family.member(&name("association", received, peer_tag))),
            Accepting::InTurn | Accepting::Nobody => None,
        }
    }

    /// Takes packets to another address.
    pub(super) fn add_address(&mut self, address: IpAddr) {
        if !self.addresses.contains(&address) {
            self.addresses.push(address);
            self.added.push((address, None));
        }
    }

    /// Takes packets to an address no more.
    pub(super) fn remove_address(&mut self, address: IpAddr) {
        self.addresses.retain(|one| *one != address);
        self.added.retain(|(one, _)| *one != address);
    }

    /// The host has another address.
    pub(super) fn follow_arrival(&mut self, address: IpAddr) {
        self.add_address(address);
        if let Following::HostBut(last) = self.following
            && last != address
        {
            self.remove_address(last);
        }
        self.following = Following::Host;
    }

    /// The host has an address no more. The last one stays until there is another: without any a port is nowhere.
    pub(super) fn follow_departure(&mut self, address: IpAddr) {
        if self.addresses[..] == [address] {
            self.following = Following::HostBut(address);
            return;
        }
        self.following = Following::Host;
        self.remove_address(address);
    }

    /// The addresses that an INIT ACK has told of which was made at some time.
    pub(super) fn addresses_told(&self, at: Instant) -> SmallVec<[IpAddr; 2]> {
        let is_later = |address: &IpAddr| {
            self.added.iter().any(|(one, since)| one == address && since.is_none_or(|since| since > at))
        };
        self.addresses.iter().copied().filter(|address| !is_later(address)).collect()
    }

    pub(super) fn sign(&mut self, now: Instant, cookie: &Cookie) -> Bytes {
        for (_, since) in &mut self.added {
            since.get_or_insert(now);
        }
        self.signer.sign(now, cookie, &mut self.stream)
    }

    pub(super) fn open(&self, cookie: &[u8]) -> Option<Cookie> {
        self.signer.open(cookie)
    }
}

/// Name of a peer that has come by itself, made of its address and port, and the tag that it has drawn for this
/// association.
fn name(use_: &str, received: Received<'_>, peer_tag: VerificationTag) -> Vec<u8> {
    let mut name = use_.as_bytes().to_vec();
    match received.source {
        IpAddr::V4(address) => name.extend(address.octets()),
        IpAddr::V6(address) => name.extend(address.octets()),
    }
    name.extend(received.peer_port().to_be_bytes());
    name.extend(peer_tag.0.to_be_bytes());
    name
}

impl LocalStart {
    /// A random tag and a random initial TSN, and what else is random where chunks are authenticated.
    pub(super) fn draw(stream: &mut Stream, config: &SctpConfig) -> Self {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-3.3.2
        //# Defines the TSN that the sender of the INIT chunk will use
        //# initially.  The valid range is from 0 to 4294967295 and the
        //# Initial TSN SHOULD be set to a random value in that range.
        let (tag, initial_tsn) = (VerificationTag::random(stream), Tsn(stream.next_u32()));
        let mut random = [0; RANDOM_LEN];
        if config.extensions.contain(Extension::Authentication) {
            stream.fill(&mut random);
        }
        Self { tag, initial_tsn, random }
    }
}
