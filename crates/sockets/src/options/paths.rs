//! Options about paths: their status and their settings.

use std::net::SocketAddr;

use slantpath_base::Duration;
use slantpath_live::SocketId;
use slantpath_requests::Errno;
use slantpath_sctp::{MibState, PathSnapshot, PathState};

use super::table::SctpOption;
use super::{Call, FUTURE};
use crate::layout::{Given, Told, narrowed, short};
use crate::sockets::Sockets;

/// Length of `struct sctp_paddrinfo`.
const PADDRINFO_LEN: usize = 152;
/// Length of `struct sctp_paddrparams`, and as it once was.
const PADDRPARAMS_LENS: [usize; 2] = [156, 152];
/// Length of `struct sctp_prim`.
const PRIM_LEN: usize = 132;

/// Flags of `SCTP_PEER_ADDR_PARAMS`.
mod flag {
    pub(super) const HB_ENABLE: u32 = 1;
    pub(super) const HB_DISABLE: u32 = 1 << 1;
    pub(super) const HB_DEMAND: u32 = 1 << 2;
    pub(super) const PMTUD_ENABLE: u32 = 1 << 3;
    pub(super) const PMTUD_DISABLE: u32 = 1 << 4;
    pub(super) const SACKDELAY_ENABLE: u32 = 1 << 5;
    pub(super) const SACKDELAY_DISABLE: u32 = 1 << 6;
    pub(super) const HB_TIME_IS_ZERO: u32 = 1 << 7;
}

impl Sockets {
    /// Reads an option about paths.
    pub(super) fn get_path(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        let given = call.given;
        match option {
            SctpOption::Status => {
                let association = given.at_least(4)?.i32(0)?;
                let id = self.existing(call.number, association)?;
                self.status(call, id)
            }
            SctpOption::GetPeerAddrInfo => {
                let id = self.existing(call.number, given.at_least(PADDRINFO_LEN)?.i32(0)?)?;
                let wanted = given.storage(4)?.ok_or(Errno::EINVAL)?;
                let path = self.path(call, id, wanted)?;
                Ok(path)
            }
            SctpOption::PrimaryAddr => {
                let association = given.at_least(PRIM_LEN)?.i32(0)?;
                let id = self.existing(call.number, association)?;
                let paths = call.host.sctp_paths(call.now, id);
                let primary = paths.iter().find(|path| path.is_primary).ok_or(Errno::EINVAL)?;
                let told = self.peer_address(call.number, id, primary)?;
                Ok(Told::default().i32(association).storage(Some(told)))
            }
            _ => self.path_settings(call),
        }
    }

    fn peer_address(
        &self,
        number: crate::SocketNumber,
        id: SocketId,
        path: &PathSnapshot,
    ) -> Result<SocketAddr, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let port = self.associations.get(id).map_or(0, |association| association.peer.port());
        Ok(socket.address_for(SocketAddr::new(path.destination, port)))
    }

    fn status(&self, call: &mut Call<'_>, id: SocketId) -> Result<Told, Errno> {
        let association = self.associations.get(id).ok_or(Errno::EINVAL)?;
        let snapshot = call.host.sctp_snapshot(id);
        let paths = call.host.sctp_paths(call.now, id);
        let state = call.host.sctp_mib_association(id).map_or(MibState::Closed, |row| row.state);
        let outstanding = snapshot.map_or(0, |now| now.outstanding_chunks as u64);
        let primary = paths.iter().find(|path| path.is_primary);
        let fragment = primary.map_or(0, |path| u32::from(path.mtu).saturating_sub(48));
        let told = Told::default()
            .i32(association.number.0)
            .i32(number_of(state))
            .u32(snapshot.map_or(0, |now| narrowed(now.peer_rwnd)))
            .u16(short(outstanding))
            .u16(snapshot.map_or(0, |now| short(now.receive_buffered.min(1))))
            .u16(association.inbound_streams)
            .u16(association.outbound_streams)
            .u32(fragment);
        Ok(match primary {
            Some(path) => {
                let address = self.peer_address(call.number, id, path)?;
                path_info(told, association.number.0, address, path)
            }
            None => told.padded_to(24 + PADDRINFO_LEN),
        })
    }

    fn path(&self, call: &mut Call<'_>, id: SocketId, wanted: SocketAddr) -> Result<Told, Errno> {
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        let wanted = socket.address_from(wanted)?;
        let association = self.associations.get(id).ok_or(Errno::EINVAL)?;
        if wanted.port() != association.peer.port() {
            return Err(Errno::EINVAL);
        }
        let (wanted, number) = (wanted.ip(), association.number.0);
        let paths = call.host.sctp_paths(call.now, id);
        let path = paths.iter().find(|path| path.destination == wanted).ok_or(Errno::EINVAL)?;
        Ok(path_info(Told::default(), number, self.peer_address(call.number, id, path)?, path))
    }

    fn path_settings(&mut self, call: &mut Call<'_>) -> Result<Told, Errno> {
        let given = call.given;
        let length =
            PADDRPARAMS_LENS.into_iter().find(|length| given.0.len() >= *length).ok_or(Errno::EINVAL)?;
        let (association, address) = (given.i32(0)?, given.storage(4)?);
        let id = self.named(call.number, association)?;
        let config = self.config_of(call.host, call.number, association)?;
        let mut interval = config.heartbeat_interval;
        let mut mtu = config.initial_path_mtu;
        let wanted = address.filter(|address| !address.ip().is_unspecified());
        if let Some(wanted) = wanted {
            let wanted = self.open.get(&call.number).ok_or(Errno::EBADF)?.address_from(wanted)?.ip();
            let id = id.ok_or(Errno::EINVAL)?;
            let paths = call.host.sctp_paths(call.now, id);
            let path = paths.iter().find(|path| path.destination == wanted).ok_or(Errno::EINVAL)?;
            mtu = path.mtu;
            if let Some((endpoint, id)) = call.host.sctp_association(id) {
                interval = endpoint.heartbeat_interval(id, wanted).unwrap_or(interval);
            }
        }
        let flags = if interval.is_some() { flag::HB_ENABLE } else { flag::HB_DISABLE }
            | flag::PMTUD_ENABLE
            | if config.sack_delay.is_zero() { flag::SACKDELAY_DISABLE } else { flag::SACKDELAY_ENABLE };
        let told = Told::default()
            .i32(association)
            .storage(address)
            .u32(interval.map_or(0, |interval| narrowed(interval.as_millis())))
            .u16(short(config.path_max_retrans.into()))
            .u32(mtu.into())
            .u32(narrowed(config.sack_delay.as_millis()))
            .u32(flags)
            .u32(0)
            .u8(0);
        let mut told = told.padded_to(PADDRPARAMS_LENS[0]);
        told.0.truncate(length);
        Ok(told)
    }

    /// Sets an option about paths.
    pub(super) fn set_path(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given;
        if option == SctpOption::PeerAddrParams {
            return self.set_path_settings(call);
        }
        let id = self.up(call.number, given.exactly(PRIM_LEN)?.i32(0)?)?;
        let wanted = given.storage(4)?.ok_or(Errno::EINVAL)?;
        let wanted = self.open.get(&call.number).ok_or(Errno::EBADF)?.address_from(wanted)?.ip();
        let (endpoint, id) = call.host.sctp_association(id).ok_or(Errno::EINVAL)?;
        if option == SctpOption::PrimaryAddr {
            let is_set = endpoint.set_primary(call.now, id, wanted);
            return if is_set { Ok(()) } else { Err(Errno::EINVAL) };
        }
        endpoint
            .request_peer_primary(call.now, id, wanted)
            .map_err(|error| crate::outcome::of_address(&error))
    }

    fn set_path_settings(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        let given = call.given;
        if !PADDRPARAMS_LENS.contains(&given.0.len()) {
            return Err(Errno::EINVAL);
        }
        let Wanted { association, address, interval, max_retrans, sack_delay, flags } = Wanted::of(given)?;
        let address = match address.filter(|address| !address.ip().is_unspecified()) {
            Some(address) => {
                Some(self.open.get(&call.number).ok_or(Errno::EBADF)?.address_from(address)?.ip())
            }
            None => None,
        };
        let id = if [FUTURE, super::CURRENT, super::ALL].contains(&association) {
            self.open.get(&call.number).ok_or(Errno::EBADF)?.association()
        } else {
            self.named(call.number, association)?
        };
        let heartbeat = (flags & flag::HB_ENABLE != 0).then_some(interval);
        let changes_heartbeat = flags & (flag::HB_ENABLE | flag::HB_DISABLE) != 0;
        let (now, number, host) = (call.now, call.number, &mut *call.host);
        if let Some(address) = address {
            let id = id.ok_or(Errno::EINVAL)?;
            let paths = host.sctp_paths(now, id);
            if !paths.iter().any(|path| path.destination == address) {
                return Err(Errno::EINVAL);
            }
            let (endpoint, id) = host.sctp_association(id).ok_or(Errno::EINVAL)?;
            if flags & flag::HB_DEMAND != 0 {
                endpoint.request_heartbeat(now, id, address);
            }
            if changes_heartbeat {
                let before = endpoint.heartbeat_interval(id, address).flatten();
                let wanted = heartbeat.map(|wanted| wanted.or(before).unwrap_or(HEARTBEAT));
                endpoint.set_heartbeat_interval(now, id, address, wanted);
            }
        } else if let Some(id) = id
            && flags & flag::HB_DEMAND != 0
        {
            let paths = host.sctp_paths(now, id);
            let (endpoint, id) = host.sctp_association(id).ok_or(Errno::EINVAL)?;
            for path in paths {
                endpoint.request_heartbeat(now, id, path.destination);
            }
        } else if flags & flag::HB_DEMAND != 0 {
            return Err(Errno::EINVAL);
        }
        self.change_config(host, number, association, |config| {
            if changes_heartbeat && address.is_none() {
                let before = config.heartbeat_interval;
                config.heartbeat_interval = heartbeat.map(|wanted| wanted.or(before).unwrap_or(HEARTBEAT));
            }
            if max_retrans != 0 {
                config.path_max_retrans = max_retrans.into();
            }
            if flags & flag::SACKDELAY_DISABLE != 0 {
                config.sack_frequency = 1;
            } else if sack_delay != 0 {
                config.sack_delay = Duration::from_millis(sack_delay.into());
            }
        })
    }
}

/// Least path MTU that may be asked for (`SCTP_DEFAULT_MINSEGMENT`).
const LEAST_MTU: u32 = 512;

/// State of an association, as `enum sctp_sstat_state` numbers it.
const fn number_of(state: MibState) -> i32 {
    match state {
        MibState::Closed => 1,
        MibState::CookieWait => 2,
        MibState::CookieEchoed => 3,
        MibState::Established => 4,
        MibState::ShutdownPending => 5,
        MibState::ShutdownSent => 6,
        MibState::ShutdownReceived => 7,
        MibState::ShutdownAckSent => 8,
    }
}

/// HEARTBEAT interval that is taken up where none was.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Value of `SCTP_PEER_ADDR_PARAMS` that is to be set.
struct Wanted {
    association: i32,
    address: Option<SocketAddr>,
    /// Interval of HEARTBEATs; `None`: as it is.
    interval: Option<Duration>,
    max_retrans: u16,
    sack_delay: u32,
    flags: u32,
}

impl Wanted {
    fn of(given: Given<'_>) -> Result<Self, Errno> {
        let flags = given.u32(146)?;
        let both = |one: u32, other: u32| flags & one != 0 && flags & other != 0;
        let sack_delay = given.u32(142)?;
        if both(flag::HB_ENABLE, flag::HB_DISABLE)
            || both(flag::PMTUD_ENABLE, flag::PMTUD_DISABLE)
            || both(flag::SACKDELAY_ENABLE, flag::SACKDELAY_DISABLE)
            || sack_delay > 500
            || (1..LEAST_MTU).contains(&given.u32(138)?)
        {
            return Err(Errno::EINVAL);
        }
        let interval = match given.u32(132)? {
            _ if flags & flag::HB_TIME_IS_ZERO != 0 => Some(Duration::ZERO),
            0 => None,
            millis => Some(Duration::from_millis(millis.into())),
        };
        let (association, address) = (given.i32(0)?, given.storage(4)?);
        Ok(Self { association, address, interval, max_retrans: given.u16(136)?, sack_delay, flags })
    }
}

/// Appends a `struct sctp_paddrinfo`.
fn path_info(told: Told, association: i32, address: SocketAddr, path: &PathSnapshot) -> Told {
    let state = match path.state {
        PathState::Inactive => 0,
        PathState::PotentiallyFailed => 1,
        PathState::Active => 2,
        PathState::Unconfirmed => 3,
    };
    told.i32(association)
        .storage(Some(address))
        .i32(state)
        .u32(narrowed(path.cwnd))
        .u32(path.srtt.map_or(0, |srtt| narrowed(srtt.as_millis())))
        .u32(narrowed(path.rto.as_millis()))
        .u32(path.mtu.into())
}
