//! An association as a row of the tables of the SCTP MIB (RFC 3873, section 4): `sctpAssocTable`, and what
//! `sctpAssocLocalAddrTable` and `sctpAssocRemAddrTable` have of its addresses.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};

use super::{Association, AssociationState};
use crate::path::PathState;

/// A row of `sctpAssocTable` (RFC 3873, section 4), each field named as there without `sctpAssoc`, with the rows of its
/// addresses. What only the system knows is left out: `PrimProcess`; and what is always the same: `RemHostName`, which
/// is empty, since RFC 9260 takes no host name, and `DiscontinuityTime`, which is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MibAssociation {
    /// `sctpAssocLocalPort`.
    pub local_port: u16,
    /// `sctpAssocRemPort`.
    pub rem_port: u16,
    /// `sctpAssocRemPrimAddr`; `None` before the association is established.
    pub rem_prim_addr: Option<IpAddr>,
    /// `sctpAssocHeartBeatInterval`: HB.interval as the association began with it; zero: no HEARTBEATs.
    pub heart_beat_interval: Duration,
    /// `sctpAssocState`.
    pub state: MibState,
    /// `sctpAssocInStreams`, as agreed on in the setup; zero before.
    pub in_streams: u16,
    /// `sctpAssocOutStreams`; the same.
    pub out_streams: u16,
    /// `sctpAssocMaxRetr`: Association.Max.Retrans.
    pub max_retr: u32,
    /// `sctpAssocT1expireds`: expirations of T1-init and T1-cookie. None where the peer has begun.
    pub t1expireds: u64,
    /// `sctpAssocT2expireds`: expirations of T2-shutdown.
    pub t2expireds: u64,
    /// `sctpAssocRtxChunks`: DATA chunks retransmitted because T3-rtx had expired. Those that gap reports have shown
    /// missing are none of them.
    pub rtx_chunks: u64,
    /// `sctpAssocStartTime`: when it was established; `None` before.
    pub start_time: Option<Instant>,
    /// The rows of `sctpAssocLocalAddrTable`; none before it is established.
    pub local_addresses: Vec<MibLocalAddress>,
    /// The rows of `sctpAssocRemAddrTable`; the same.
    pub rem_addresses: Vec<MibRemAddress>,
}

/// A row of `sctpAssocLocalAddrTable`: an address of ours that the peer may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MibLocalAddress {
    /// `sctpAssocLocalAddr`.
    pub addr: IpAddr,
    /// `sctpAssocLocalAddrStartTime`: when the association was established, or the peer took the address.
    pub start_time: Instant,
}

/// A row of `sctpAssocRemAddrTable`: an address of the peer, each field named as there without `sctpAssocRemAddr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MibRemAddress {
    /// `sctpAssocRemAddr`.
    pub addr: IpAddr,
    /// `sctpAssocRemAddrActive`: whether it has answered, or not been silent too often.
    pub active: bool,
    /// `sctpAssocRemAddrHBActive`: whether HEARTBEATs go there.
    pub hb_active: bool,
    /// `sctpAssocRemAddrRTO`, backed off as it may be.
    pub rto: Duration,
    /// `sctpAssocRemAddrMaxPathRtx`: Path.Max.Retrans.
    pub max_path_rtx: u32,
    /// `sctpAssocRemAddrRtx`: DATA chunks that were retransmitted to this address, for whatever reason.
    pub rtx: u64,
    /// `sctpAssocRemAddrStartTime`: when the association was established, or the peer added the address.
    pub start_time: Instant,
}

/// The values of `sctpAssocState` that an association of ours can have; `deleteTCB` is a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MibState {
    /// `closed(1)`.
    Closed,
    /// `cookieWait(2)`.
    CookieWait,
    /// `cookieEchoed(3)`.
    CookieEchoed,
    /// `established(4)`.
    Established,
    /// `shutdownPending(5)`.
    ShutdownPending,
    /// `shutdownSent(6)`.
    ShutdownSent,
    /// `shutdownReceived(7)`.
    ShutdownReceived,
    /// `shutdownAckSent(8)`.
    ShutdownAckSent,
}

impl MibState {
    /// Name of the state in the RFC.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::CookieWait => "cookieWait",
            Self::CookieEchoed => "cookieEchoed",
            Self::Established => "established",
            Self::ShutdownPending => "shutdownPending",
            Self::ShutdownSent => "shutdownSent",
            Self::ShutdownReceived => "shutdownReceived",
            Self::ShutdownAckSent => "shutdownAckSent",
        }
    }
}

impl From<AssociationState> for MibState {
    fn from(state: AssociationState) -> Self {
        match state {
            AssociationState::Established => Self::Established,
            AssociationState::ShutdownPending => Self::ShutdownPending,
            AssociationState::ShutdownSent => Self::ShutdownSent,
            AssociationState::ShutdownReceived => Self::ShutdownReceived,
            AssociationState::ShutdownAckSent => Self::ShutdownAckSent,
            AssociationState::Closed => Self::Closed,
        }
    }
}

/// A value of a row, in the unit that the RFC has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MibValue {
    /// An address; `None` if there is none yet.
    Address(Option<IpAddr>),
    /// A count, or a time: intervals in milliseconds, instants (`TimeStamp`) in hundredths of a second from the start
    /// of the clock, rounded down; zero if it has not come.
    Number(u64),
    /// A `TruthValue`.
    Truth(bool),
    /// The name of an enumerated value.
    Word(&'static str),
}

/// Value of type `TimeStamp`.
fn time_stamp(at: Instant) -> MibValue {
    MibValue::Number(at.since_start().as_millis() / 10)
}

impl MibAssociation {
    /// Every value with its name of RFC 3873, in its order, but for the rows of addresses.
    pub fn named(&self) -> [(&'static str, MibValue); 12] {
        [
            ("sctpAssocLocalPort", MibValue::Number(self.local_port.into())),
            ("sctpAssocRemPort", MibValue::Number(self.rem_port.into())),
            ("sctpAssocRemPrimAddr", MibValue::Address(self.rem_prim_addr)),
            ("sctpAssocHeartBeatInterval", MibValue::Number(self.heart_beat_interval.as_millis())),
            ("sctpAssocState", MibValue::Word(self.state.name())),
            ("sctpAssocInStreams", MibValue::Number(self.in_streams.into())),
            ("sctpAssocOutStreams", MibValue::Number(self.out_streams.into())),
            ("sctpAssocMaxRetr", MibValue::Number(self.max_retr.into())),
            ("sctpAssocT1expireds", MibValue::Number(self.t1expireds)),
            ("sctpAssocT2expireds", MibValue::Number(self.t2expireds)),
            ("sctpAssocRtxChunks", MibValue::Number(self.rtx_chunks)),
            ("sctpAssocStartTime", self.start_time.map_or(MibValue::Number(0), time_stamp)),
        ]
    }
}

impl MibLocalAddress {
    /// Every value with its name of RFC 3873.
    pub fn named(&self) -> [(&'static str, MibValue); 2] {
        [
            ("sctpAssocLocalAddr", MibValue::Address(Some(self.addr))),
            ("sctpAssocLocalAddrStartTime", time_stamp(self.start_time)),
        ]
    }
}

impl MibRemAddress {
    /// Every value with its name of RFC 3873.
    pub fn named(&self) -> [(&'static str, MibValue); 7] {
        [
            ("sctpAssocRemAddr", MibValue::Address(Some(self.addr))),
            ("sctpAssocRemAddrActive", MibValue::Truth(self.active)),
            ("sctpAssocRemAddrHBActive", MibValue::Truth(self.hb_active)),
            ("sctpAssocRemAddrRTO", MibValue::Number(self.rto.as_millis())),
            ("sctpAssocRemAddrMaxPathRtx", MibValue::Number(self.max_path_rtx.into())),
            ("sctpAssocRemAddrRtx", MibValue::Number(self.rtx)),
            ("sctpAssocRemAddrStartTime", time_stamp(self.start_time)),
        ]
    }
}

impl Association {
    /// Notes that the association is established now, after so many expirations of T1.
    pub(crate) const fn begin_row(&mut self, now: Instant, t1_expiries: u32) {
        self.established_at = now;
        self.t1_expiries = t1_expiries;
    }

    /// Rows of the association in the tables of the MIB.
    pub fn mib(&self) -> MibAssociation {
        let stats = self.stats();
        let start_of = |address: IpAddr| {
            let changed = self.addresses.as_ref().and_then(|state| state.start_of(address));
            changed.unwrap_or(self.established_at)
        };
        let local_addresses = self.tcb.local_addresses.iter();
        let rem_addresses = self.paths.iter().map(|path| MibRemAddress {
            addr: path.destination,
            active: matches!(path.state, PathState::Active | PathState::PotentiallyFailed),
            hb_active: path.heartbeat_interval.is_some(),
            rto: path.rtt.rto(),
            max_path_rtx: self.config.path_max_retrans,
            rtx: path.stats().retransmissions,
            start_time: start_of(path.destination),
        });
        MibAssociation {
            local_port: self.tcb.local_port,
            rem_port: self.tcb.peer_port,
            rem_prim_addr: Some(self.paths[self.paths.primary()].destination),
            heart_beat_interval: self.config.heartbeat_interval.unwrap_or(Duration::ZERO),
            state: self.state().into(),
            in_streams: self.tcb.inbound_streams,
            out_streams: self.tcb.outbound_streams,
            max_retr: self.config.association_max_retrans,
            t1expireds: stats.t1_expiries,
            t2expireds: stats.t2_expiries,
            rtx_chunks: self.path_stats().timeout_retransmissions,
            start_time: Some(self.established_at),
            local_addresses: local_addresses
                .map(|&addr| MibLocalAddress { addr, start_time: start_of(addr) })
                .collect(),
            rem_addresses: rem_addresses.collect(),
        }
    }
}
