//! Options of sockets: read, set, and refused as Linux refuses them.

mod ends;
mod generic;
mod keys;
mod messages;
mod paths;
mod settings;
mod streams;
mod table;

use std::sync::Arc;

use slantpath_base::Instant;
use slantpath_live::{Host, SocketId};
use slantpath_requests::{Errno, Reply};
use slantpath_sctp::{self as sctp, SctpConfig};

use crate::association::{AssociationNumber, LAST_WORD, Stage};
use crate::layout::{Given, Told};
use crate::news::{Answered, SocketNumber, Token};
use crate::sockets::Sockets;
use table::SctpOption;
pub use table::{DeclaredOption, OptionAccess, declared_options};

const IPPROTO_SCTP: i32 = 132;
/// `SCTP_FUTURE_ASSOC`.
const FUTURE: i32 = 0;
/// `SCTP_CURRENT_ASSOC`.
const CURRENT: i32 = 1;
/// `SCTP_ALL_ASSOC`.
const ALL: i32 = LAST_WORD;

/// Call about an option, and what it works on.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) now: Instant,
    pub(crate) host: &'a mut Host,
    pub(crate) number: SocketNumber,
    pub(crate) given: Given<'a>,
    pub(crate) token: Token,
    /// Token of the request, if its answer may wait for an association.
    pub(crate) waiting: Option<Token>,
}

/// Associations that an option is set for.
#[derive(Debug, Default)]
struct Targets {
    /// True if it is for those that begin later.
    is_future: bool,
    ids: Vec<SocketId>,
}

impl Sockets {
    /// Reads an option.
    pub(crate) fn get_option(
        &mut self,
        call: &mut Call<'_>,
        level: i32,
        name: i32,
        room: u32,
    ) -> Option<Answered> {
        if level != IPPROTO_SCTP {
            return Some(read(self.get_generic(call, level, name), room));
        }
        let Some(option) = SctpOption::of(name, OptionAccess::Get) else {
            return Some(Answered::failed(Errno::ENOPROTOOPT));
        };
        match option {
            SctpOption::PeelOff | SctpOption::PeelOffFlags => Some(self.peel_off(call)),
            SctpOption::Connectx3 => self.connectx3(call),
            option => Some(read(self.get_sctp(call, option), room)),
        }
    }

    fn get_sctp(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Vec<u8>, Errno> {
        let told = match option {
            SctpOption::AuthActiveKey
            | SctpOption::HmacIdent
            | SctpOption::LocalAuthChunks
            | SctpOption::PeerAuthChunks => self.get_keys(call, option)?,
            SctpOption::GetPeerAddrInfo
            | SctpOption::PeerAddrParams
            | SctpOption::PrimaryAddr
            | SctpOption::Status => self.get_path(call, option)?,
            SctpOption::GetPeerAddrs
            | SctpOption::GetLocalAddrs
            | SctpOption::GetAssocNumber
            | SctpOption::GetAssocIdList
            | SctpOption::GetAssocStats => self.get_ends(call, option)?,
            SctpOption::PrAssocStatus | SctpOption::PrStreamStatus | SctpOption::StreamSchedulerValue => {
                self.get_streams(call, option)?
            }
            SctpOption::AutoAsconf
            | SctpOption::AutoClose
            | SctpOption::Context
            | SctpOption::DefaultPrInfo
            | SctpOption::DefaultSendParam
            | SctpOption::DefaultSndInfo
            | SctpOption::DisableFragments
            | SctpOption::Event
            | SctpOption::Events
            | SctpOption::FragmentInterleave
            | SctpOption::MappedAddr
            | SctpOption::NoDelay
            | SctpOption::RecvNxtInfo
            | SctpOption::RecvRcvInfo
            | SctpOption::ReusePort => self.get_message(call, option)?,
            option => self.get_setting(call, option)?,
        };
        Ok(told.0)
    }

    /// Sets an option.
    pub(crate) fn set_option(&mut self, call: &mut Call<'_>, level: i32, name: i32) -> Option<Answered> {
        let done = if level == IPPROTO_SCTP {
            match SctpOption::of(name, OptionAccess::Set) {
                None => Err(Errno::ENOPROTOOPT),
                Some(SctpOption::Connectx | SctpOption::ConnectxOld) => return self.connectx(call),
                Some(SctpOption::BindxAdd) => return self.bind_more(call, true),
                Some(SctpOption::BindxRem) => return self.bind_more(call, false),
                Some(option) => self.set_sctp(call, option),
            }
        } else {
            self.set_generic(call, level, name)
        };
        Some(done.map_or_else(Answered::failed, |()| Answered::done()))
    }

    /// Sets how a socket's later associations begin: a `struct sctp_initmsg` is given.
    pub(crate) fn set_initiation(&mut self, call: &mut Call<'_>) -> Result<(), Errno> {
        self.set_setting(call, SctpOption::InitMsg)
    }

    fn set_sctp(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        match option {
            SctpOption::AuthActiveKey
            | SctpOption::AuthChunk
            | SctpOption::AuthDeactivateKey
            | SctpOption::AuthDeleteKey
            | SctpOption::AuthKey
            | SctpOption::HmacIdent => self.set_keys(call, option),
            SctpOption::PeerAddrParams | SctpOption::PrimaryAddr | SctpOption::SetPeerPrimaryAddr => {
                self.set_path(call, option)
            }
            SctpOption::AddStreams
            | SctpOption::ResetAssoc
            | SctpOption::ResetStreams
            | SctpOption::StreamSchedulerValue => self.set_streams(call, option),
            SctpOption::AutoAsconf
            | SctpOption::AutoClose
            | SctpOption::Context
            | SctpOption::DefaultPrInfo
            | SctpOption::DefaultSendParam
            | SctpOption::DefaultSndInfo
            | SctpOption::DisableFragments
            | SctpOption::Event
            | SctpOption::Events
            | SctpOption::FragmentInterleave
            | SctpOption::MappedAddr
            | SctpOption::NoDelay
            | SctpOption::RecvNxtInfo
            | SctpOption::RecvRcvInfo
            | SctpOption::ReusePort => self.set_message(call, option),
            option => self.set_setting(call, option),
        }
    }

    /// The association that a program names; `None`: those that begin later.
    fn named(&self, number: SocketNumber, association: i32) -> Result<Option<SocketId>, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.is_one_to_one() {
            return Ok(socket.association());
        }
        if association == FUTURE {
            return Ok(None);
        }
        let id = self.by_number.get(&AssociationNumber(association)).copied();
        id.filter(|id| socket.associations.contains(id)).map(Some).ok_or(Errno::EINVAL)
    }

    /// The association that a program names, which has to be there.
    fn existing(&self, number: SocketNumber, association: i32) -> Result<SocketId, Errno> {
        self.named(number, association)?.ok_or(Errno::EINVAL)
    }

    /// The association that a program names, which has to be up.
    fn up(&self, number: SocketNumber, association: i32) -> Result<SocketId, Errno> {
        let id = self.existing(number, association)?;
        let is_up = self.associations.get(id).is_some_and(|one| one.stage != Stage::Opening);
        if is_up { Ok(id) } else { Err(Errno::EINVAL) }
    }

    /// Associations for which a program sets an option.
    fn targets(&self, number: SocketNumber, association: i32) -> Result<Targets, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let all = || socket.associations.iter().copied().collect();
        if socket.is_one_to_one() {
            return Ok(Targets { is_future: socket.association().is_none(), ids: all() });
        }
        Ok(match association {
            FUTURE => Targets { is_future: true, ids: Vec::new() },
            CURRENT => Targets { is_future: false, ids: all() },
            ALL => Targets { is_future: true, ids: all() },
            _ => Targets { is_future: false, ids: vec![self.existing(number, association)?] },
        })
    }

    /// Settings of the association that a program names, or of those that begin later.
    fn config_of(
        &self,
        host: &mut Host,
        number: SocketNumber,
        association: i32,
    ) -> Result<Arc<SctpConfig>, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let Some(id) = self.named(number, association)? else { return Ok(Arc::clone(&socket.config)) };
        let (endpoint, id) = host.sctp_association(id).ok_or(Errno::EINVAL)?;
        endpoint.settings(id).map(|config| Arc::new(config.clone())).ok_or(Errno::EINVAL)
    }

    /// Changes the settings of the associations that a program names.
    fn change_config(
        &mut self,
        host: &mut Host,
        number: SocketNumber,
        association: i32,
        mut change: impl FnMut(&mut SctpConfig),
    ) -> Result<(), Errno> {
        let targets = self.targets(number, association)?;
        for id in targets.ids {
            let (endpoint, id) = host.sctp_association(id).ok_or(Errno::EINVAL)?;
            if !endpoint.change_settings(id, &mut change) {
                return Err(Errno::EINVAL);
            }
        }
        if targets.is_future {
            self.change_future(host, number, change)?;
        }
        Ok(())
    }

    /// Changes the settings of a socket's later associations.
    fn change_future(
        &mut self,
        host: &mut Host,
        number: SocketNumber,
        mut change: impl FnMut(&mut SctpConfig),
    ) -> Result<(), Errno> {
        let socket = self.open.get_mut(&number).ok_or(Errno::EBADF)?;
        let mut config = (*socket.config).clone();
        change(&mut config);
        if config.check().iter().any(|finding| finding.severity() == sctp::Severity::Error) {
            return Err(Errno::EINVAL);
        }
        socket.config = Arc::new(config);
        if socket.backlog.is_some() {
            self.configure_port(host, number);
        }
        Ok(())
    }
}

/// Tells if an option adds addresses to a socket.
pub(crate) fn is_bindx_add(level: i32, name: i32) -> bool {
    level == IPPROTO_SCTP && matches!(SctpOption::of(name, OptionAccess::Set), Some(SctpOption::BindxAdd))
}

/// Answer that has the value of an option, as far as there is room for it.
fn read(value: Result<Vec<u8>, Errno>, room: u32) -> Answered {
    match value {
        Ok(mut value) => {
            value.truncate(room as usize);
            Reply { value, ..Reply::default() }.into()
        }
        Err(error) => Answered::failed(error),
    }
}

/// A `struct sctp_assoc_value`.
fn assoc_value(association: i32, value: u32) -> Told {
    Told::default().i32(association).u32(value)
}
