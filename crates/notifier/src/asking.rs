//! Calls that are requests to the daemon: names, options, connecting.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use slantpath_door::{Replied, address_of, bytes_of};
use slantpath_requests::{self as requests, Errno, Half, OPTION_MAX};
use slantpath_system::notify::{CallAnswer, Task};

use crate::calls::SocketCall;
use crate::descriptors::{O_CLOEXEC, O_NONBLOCK};
use crate::job::{Job, Purpose, Step};
use crate::layout::NAME_MAX;
use crate::notifier::Notifier;

/// Level of SCTP's options.
pub(crate) const IPPROTO_SCTP_LEVEL: i32 = 132;
/// Option of the notifications and control messages that a program wants.
pub(crate) const SCTP_EVENTS: i32 = 11;
/// Option of the newer control message.
pub(crate) const SCTP_RECVRCVINFO: i32 = 32;
/// Option of what is known of the message behind.
pub(crate) const SCTP_RECVNXTINFO: i32 = 33;
/// Option that says how many associations a socket has.
pub(crate) const SCTP_GET_ASSOC_NUMBER: i32 = 28;
/// Level of options of all sockets.
pub(crate) const SOL_SOCKET: i32 = 1;
/// Option that says the type of a socket.
pub(crate) const SO_TYPE: i32 = 3;
/// Option that says if a socket takes associations.
pub(crate) const SO_ACCEPTCONN: i32 = 30;

const SCTP_EVENT: i32 = 127;
const SCTP_SOCKOPT_BINDX_ADD: i32 = 100;
const SCTP_SOCKOPT_PEELOFF: i32 = 102;
const SCTP_SOCKOPT_PEELOFF_FLAGS: i32 = 122;
const SCTP_SOCKOPT_CONNECTX3: i32 = 111;
/// Longest addresses of one call, in bytes.
const ADDRESSES_MOST: usize = 4_096;
/// Options of `SOL_SOCKET` that the pair itself has: time limits of receiving and sending, by both layouts.
const OF_THE_PAIR: [i32; 4] = [20, 21, 66, 67];
/// Place of the descriptor in the structures of peeling off, and of the flags in the second.
const PEELED_AT: usize = 4;
const PEELED_FLAGS_AT: usize = 8;

/// Question for an option's value.
pub(crate) fn option_of(level: i32, name: i32, room: u32) -> requests::Request {
    requests::Request::GetOption { level, name, room, value: Vec::new(), waits: false }
}

impl Notifier {
    /// Makes a call a request.
    pub(crate) fn ask(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let waits = || self.may_wait(pair, false);
        let (level, name) = (job.signed(1), job.signed(2));
        let is_of_the_pair = level == SOL_SOCKET && OF_THE_PAIR.contains(&name);
        let request = match job.call {
            SocketCall::Bind => {
                let own = named(job)?.ok_or(Errno::EINVAL)?;
                self.check_right(job, own.port())?;
                requests::Request::Bind(own)
            }
            SocketCall::Connect => {
                requests::Request::Connect { peer: named(job)?.ok_or(Errno::EOPNOTSUPP)?, waits: waits() }
            }
            SocketCall::Listen => requests::Request::Listen { backlog: job.number(1) },
            SocketCall::Shutdown => requests::Request::Shutdown(match job.number(1) {
                0 => Half::Read,
                1 => Half::Write,
                2 => Half::Both,
                _ => return Err(Errno::EINVAL),
            }),
            SocketCall::GetSockName => requests::Request::LocalName,
            SocketCall::GetPeerName => requests::Request::PeerName,
            SocketCall::GetSockOpt | SocketCall::SetSockOpt if is_of_the_pair => {
                self.seen.limits |= job.call == SocketCall::SetSockOpt;
                return Ok(Step::Done(CallAnswer::Continue));
            }
            SocketCall::GetSockOpt => {
                let room = Self::read_number(job, job.argument(4))?;
                let length = usize::try_from(room.cast_signed()).map_err(|_| Errno::EINVAL)?;
                let mut value = vec![0; length.min(OPTION_MAX)];
                let read = Task::read(job.notified.thread, job.argument(3), &mut value).unwrap_or(0);
                if read == 0 && length > 0 {
                    return Err(Errno::EFAULT);
                }
                value.truncate(read);
                if (level, name) == (IPPROTO_SCTP_LEVEL, SCTP_SOCKOPT_CONNECTX3) {
                    Self::append_addresses(job, &mut value)?;
                }
                requests::Request::GetOption { level, name, room, value, waits: waits() }
            }
            SocketCall::SetSockOpt => {
                let length = usize::try_from(job.signed(4)).map_err(|_| Errno::EINVAL)?;
                if length > OPTION_MAX {
                    return Err(Errno::EINVAL);
                }
                let mut value = vec![0; length];
                Self::read_memory(job, job.argument(3), &mut value)?;
                // The port stands behind the family, whichever that is.
                if (level, name) == (IPPROTO_SCTP_LEVEL, SCTP_SOCKOPT_BINDX_ADD)
                    && let Some(port) = value.get(2..).and_then(|rest| rest.first_chunk())
                {
                    self.check_right(job, u16::from_be_bytes(*port))?;
                }
                requests::Request::SetOption { level, name, value, waits: waits() }
            }
            _ => return Ok(Step::Done(CallAnswer::Continue)),
        };
        if !self.is_waiting(job) {
            return Ok(Step::Over);
        }
        Ok(Step::Ask(Rc::clone(pair), request, Purpose::Call))
    }

    /// Refuses a port that the program may not have: the daemon sees the rights of this process alone.
    fn check_right(&self, job: &Job, port: u16) -> Result<(), Errno> {
        let is_free = port == 0 || port >= self.first_free_port;
        if is_free || Task::may_have_all_ports(job.notified.thread).unwrap_or(false) {
            Ok(())
        } else {
            Err(Errno::EACCES)
        }
    }

    /// Puts the addresses behind a `struct sctp_getaddrs_old`, which points to them.
    fn append_addresses(job: &Job, value: &mut Vec<u8>) -> Result<(), Errno> {
        let (head, rest) = value.split_at_checked(8).ok_or(Errno::EINVAL)?;
        let length = u32::from_ne_bytes(*head[4..].first_chunk().ok_or(Errno::EINVAL)?);
        let address = u64::from_ne_bytes(*rest.first_chunk().ok_or(Errno::EINVAL)?);
        let length = usize::try_from(length).ok().filter(|length| *length <= ADDRESSES_MOST);
        let mut addresses = vec![0; length.ok_or(Errno::EINVAL)?];
        Self::read_memory(job, address, &mut addresses)?;
        value.truncate(16);
        value.extend(addresses);
        Ok(())
    }

    /// Gives a call what the daemon has replied.
    pub(crate) fn asked(&mut self, job: &Job, answer: Replied) -> Result<Step, Errno> {
        let Replied { reply, descriptor } = answer;
        let (level, name) = (job.signed(1), job.signed(2));
        match job.call {
            SocketCall::GetSockOpt => {
                let mut value = reply.value;
                let is_peeling = level == IPPROTO_SCTP_LEVEL
                    && [SCTP_SOCKOPT_PEELOFF, SCTP_SOCKOPT_PEELOFF_FLAGS].contains(&name);
                let mut number = i64::from(reply.number);
                if let (None, true, Some(descriptor)) = (reply.error, is_peeling, descriptor) {
                    let flags = value.get(PEELED_FLAGS_AT..).and_then(|rest| rest.first_chunk());
                    let flags = flags.map_or(0, |octets| u32::from_ne_bytes(*octets));
                    if flags & O_NONBLOCK != 0 {
                        self.set_nonblocking(&descriptor);
                    }
                    let first = self.numbers.start;
                    let Some(peeled) = self.put(job, &descriptor, first, flags & O_CLOEXEC != 0, false)?
                    else {
                        return Ok(Step::Over);
                    };
                    if let Some(place) = value.get_mut(PEELED_AT..PEELED_AT + 4) {
                        place.copy_from_slice(&peeled.to_ne_bytes());
                    }
                    number = i64::from(peeled);
                }
                let room = Self::read_number(job, job.argument(4))?;
                let length = value.len().min(usize::try_from(room).unwrap_or(usize::MAX));
                if reply.error.is_none() || length > 0 {
                    Self::write_memory(job, job.argument(3), &value[..length])?;
                    let told = u32::try_from(length).expect("at most what the program has said");
                    Self::write_memory(job, job.argument(4), &told.to_ne_bytes())?;
                }
                match reply.error {
                    Some(error) => Err(error),
                    None => Ok(Step::value(number)),
                }
            }
            _ if reply.error.is_some() => Err(reply.error.unwrap_or(Errno::EIO)),
            SocketCall::GetSockName | SocketCall::GetPeerName => {
                let address = reply.address.ok_or(Errno::EIO)?;
                Self::write_name(job, &bytes_of(address), job.argument(1), job.argument(2))?;
                Ok(Step::value(0))
            }
            SocketCall::SetSockOpt => {
                if level == IPPROTO_SCTP_LEVEL
                    && [SCTP_EVENTS, SCTP_RECVRCVINFO, SCTP_RECVNXTINFO, SCTP_EVENT].contains(&name)
                {
                    self.processes.forget_wanted();
                }
                Ok(Step::value(reply.number))
            }
            SocketCall::Listen => {
                self.processes.remembered(job.place()).listens = job.number(1) > 0;
                Ok(Step::value(reply.number))
            }
            _ => Ok(Step::value(reply.number)),
        }
    }

    /// Writes a name, and its length, as far as the program has room (`sockaddr` and `socklen_t *`).
    pub(crate) fn write_name(job: &Job, name: &[u8], at: u64, length_at: u64) -> Result<(), Errno> {
        let room = Self::read_number(job, length_at)?;
        let room = usize::try_from(room.cast_signed()).map_err(|_| Errno::EINVAL)?;
        Self::write_memory(job, at, &name[..name.len().min(room)])?;
        let length = u32::try_from(name.len()).expect("an address is short");
        Self::write_memory(job, length_at, &length.to_ne_bytes())
    }

    /// Reads a name of a program.
    pub(crate) fn read_name(job: &Job, at: u64, length: u32) -> Result<Option<std::net::SocketAddr>, Errno> {
        if length > NAME_MAX {
            return Err(Errno::EINVAL);
        }
        let mut octets = [0; NAME_MAX as usize];
        let octets = &mut octets[..usize::try_from(length).expect("at most the longest")];
        Self::read_memory(job, at, octets)?;
        address_of(octets)
    }
}

/// Name that a call gives by its second and third argument.
fn named(job: &Job) -> Result<Option<std::net::SocketAddr>, Errno> {
    Notifier::read_name(job, job.argument(1), job.number(2))
}
