//! State of one socket.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use bytes::BytesMut;
use slantpath_live::SocketId;
use slantpath_requests::{self as requests, Errno, FromProgram, Reply, SendInfo, Style};
use slantpath_sctp::{PortId, SctpConfig};

use crate::inbox::Inbox;
use crate::news::{SocketNumber, Token};
use crate::notifications::Kinds;

/// Port and addresses of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Place that it has at the host.
    pub(crate) place: PortId,
    pub(crate) port: u16,
    /// Addresses that were named; none: all of the host.
    pub(crate) addresses: Vec<IpAddr>,
}

/// A bind that waits for its port.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) token: Token,
    pub(crate) wanted: Wanted,
}

/// Addresses that a bind names.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// Addresses of `sctp_bindx`, as the program has them.
    More(Vec<u8>),
    /// Address of `bind`.
    One(SocketAddr),
}

/// A socket of a program.
#[expect(clippy::struct_excessive_bools, reason = "most are switches of the program's")]
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) style: Style,
    pub(crate) family: requests::Family,
    /// Settings of associations that it begins or accepts.
    pub(crate) config: Arc<SctpConfig>,
    pub(crate) bound: Option<Bound>,
    /// Own address on the primary path of the association of a one-to-one socket, once that is up.
    pub(crate) own_address: Option<IpAddr>,
    /// Number of callers that may be queued; `None`: it does not listen.
    pub(crate) backlog: Option<u32>,
    /// Number of callers that wait to be accepted.
    pub(crate) queued: u32,
    /// Listener in whose queue it waits to be accepted.
    pub(crate) queued_at: Option<SocketNumber>,
    /// Associations of the socket, by their sockets at the host; at most one of a one-to-one socket.
    pub(crate) associations: BTreeSet<SocketId>,
    pub(crate) inbox: Inbox,
    /// Bytes of a message of which more is to come, with the header of its first piece.
    pub(crate) unfinished: Option<(FromProgram, BytesMut)>,
    /// Requests that wait for an association to be up, with what is replied then.
    pub(crate) connecting: Vec<(Token, SocketId, Reply)>,
    /// A bind that waits for its port.
    pub(crate) binding: Option<Binding>,
    /// Error that `SO_ERROR` tells, once.
    pub(crate) error: Option<Errno>,
    /// True if the association of a one-to-one socket was up or has failed.
    pub(crate) is_over: bool,
    /// True if the program has shut the association down, and the peer has said no end of its own.
    pub(crate) is_end_own: bool,
    /// True if the peer has begun to shut the association of a one-to-one socket down.
    pub(crate) has_peer_ended: bool,
    pub(crate) is_reading_shut: bool,
    pub(crate) is_writing_shut: bool,
    /// True if the program has been told that nothing follows.
    pub(crate) is_end_told: bool,
    /// True if a piece has not been taken for want of room.
    pub(crate) is_full: bool,
    /// True if its user knows that there is something to read.
    pub(crate) is_readable_told: bool,
    /// True if it was peeled off from a one-to-many socket.
    pub(crate) is_peeled_off: bool,
    pub(crate) choices: Choices,
}

/// Options of a socket that are no settings of SCTP's.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the program's")]
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// Notifications that later associations tell.
    pub(crate) events: Kinds,
    /// Options of messages on later associations.
    pub(crate) defaults: SendInfo,
    /// Context of what is received on later associations.
    pub(crate) context: u32,
    pub(crate) autoclose_s: u32,
    /// Level of what may come between the parts of a message.
    pub(crate) interleave: u32,
    /// Longest fragment that was asked for; zero: as long as a packet allows.
    pub(crate) max_segment: u32,
    /// Numbers of keys that were taken out of use.
    pub(crate) retired_keys: BTreeSet<u16>,
    /// True if peers are to be told of addresses that the host gets.
    pub(crate) tells_own_addresses: bool,
    pub(crate) has_no_delay: bool,
    pub(crate) has_no_fragments: bool,
    pub(crate) maps_addresses: bool,
    pub(crate) wants_next_info: bool,
    pub(crate) wants_receive_info: bool,
    /// Time for which closing lasts, in seconds, if that was chosen: zero aborts.
    pub(crate) linger: Option<u32>,
    pub(crate) reuses_address: bool,
    pub(crate) reuses_port: bool,
    pub(crate) is_v6_only: bool,
    /// Buffers that were asked for, as they are told: for sending and for receiving, in bytes.
    pub(crate) told_buffers: [Option<u32>; 2],
    /// Options of IP that were set, by level and name.
    pub(crate) ip_options: BTreeMap<(i32, i32), i32>,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            events: Kinds::default(),
            defaults: SendInfo::default(),
            context: 0,
            autoclose_s: 0,
            interleave: 0,
            max_segment: 0,
            retired_keys: BTreeSet::new(),
            tells_own_addresses: false,
            has_no_delay: false,
            has_no_fragments: false,
            maps_addresses: true,
            wants_next_info: false,
            wants_receive_info: false,
            linger: None,
            reuses_address: false,
            reuses_port: false,
            is_v6_only: false,
            told_buffers: [None; 2],
            ip_options: BTreeMap::new(),
        }
    }
}

impl Socket {
    pub(crate) fn new(style: Style, family: requests::Family, config: Arc<SctpConfig>) -> Self {
        Self {
            style,
            family,
            config,
            bound: None,
            own_address: None,
            backlog: None,
            queued: 0,
            queued_at: None,
            associations: BTreeSet::new(),
            inbox: Inbox::default(),
            unfinished: None,
            connecting: Vec::new(),
            binding: None,
            error: None,
            is_over: false,
            is_end_own: false,
            has_peer_ended: false,
            is_reading_shut: false,
            is_writing_shut: false,
            is_end_told: false,
            is_full: false,
            is_readable_told: false,
            is_peeled_off: false,
            choices: Choices::default(),
        }
    }

    /// The socket of an association that has come to this one, or is peeled off from it.
    pub(crate) fn accepted(&self, association: SocketId) -> Self {
        Self {
            bound: self.bound.clone(),
            associations: BTreeSet::from([association]),
            choices: self.choices.clone(),
            ..Self::new(Style::OneToOne, self.family, Arc::clone(&self.config))
        }
    }

    pub(crate) fn is_one_to_one(&self) -> bool {
        self.style == Style::OneToOne
    }

    /// Tells if as many callers wait to be accepted as may: one more than was asked for, as Linux counts.
    pub(crate) fn has_full_queue(&self) -> bool {
        self.is_one_to_one() && self.backlog.is_some_and(|backlog| self.queued > backlog)
    }

    /// The association of a one-to-one socket.
    pub(crate) fn association(&self) -> Option<SocketId> {
        self.associations.first().copied().filter(|_| self.is_one_to_one())
    }

    /// An address of a program's, in the family that the host has it in.
    pub(crate) fn address_from(&self, address: SocketAddr) -> Result<SocketAddr, Errno> {
        let ip = match (self.family, address.ip()) {
            (requests::Family::V4, IpAddr::V6(_)) => return Err(Errno::EINVAL),
            (requests::Family::V6, IpAddr::V6(ip)) => match ip.to_ipv4_mapped() {
                Some(_) if self.choices.is_v6_only => return Err(Errno::EINVAL),
                Some(mapped) => IpAddr::V4(mapped),
                None => IpAddr::V6(ip),
            },
            (requests::Family::V6, IpAddr::V4(_)) if self.choices.is_v6_only => return Err(Errno::EINVAL),
            (_, ip) => ip,
        };
        Ok(SocketAddr::new(ip, address.port()))
    }

    /// An address of the host's, as the program is told it.
    pub(crate) fn address_for(&self, address: SocketAddr) -> SocketAddr {
        match (self.family, address.ip()) {
            (requests::Family::V6, IpAddr::V4(ip)) => {
                SocketAddr::new(ip.to_ipv6_mapped().into(), address.port())
            }
            _ => address,
        }
    }

    /// Address that stands for all of its family.
    pub(crate) fn any_address(&self) -> IpAddr {
        match self.family {
            requests::Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
            requests::Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// Tells if an address of the host is of a family that it has.
    pub(crate) fn has_family_of(&self, address: IpAddr) -> bool {
        match self.family {
            requests::Family::V4 => address.is_ipv4(),
            requests::Family::V6 => !self.choices.is_v6_only || address.is_ipv6(),
        }
    }
}

impl Place {
    /// Tells if nobody has the place, and nothing of it is left.
    pub(crate) fn is_free(&self) -> bool {
        self.users.is_empty() && self.alive == 0
    }
}

/// Sockets that have a port at addresses that they share. Those at other addresses of the same port have another place.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) port: u16,
    /// Socket at the host that has the port.
    pub(crate) id: SocketId,
    /// Addresses of all its sockets.
    pub(crate) addresses: BTreeSet<IpAddr>,
    /// Socket that listens there.
    pub(crate) listener: Option<SocketNumber>,
    /// Sockets that are bound to it, listener included.
    pub(crate) users: BTreeSet<SocketNumber>,
    /// Number of associations that are not over, of whichever socket, or of none any more.
    pub(crate) alive: usize,
}
