//! Calls that send.

use std::fs::File;
use std::io::{IoSlice, Seek as _, SeekFrom};
use std::mem;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;

use slantpath_door::SendControl;
use slantpath_requests::{self as requests, Errno, FromProgram, PIECE_MAX};
use slantpath_system::notify::Task;

use crate::calls::SocketCall;
use crate::job::{Job, Purpose, Step};
use crate::layout::{COUNT_AT, COUNTED_HEADER, PIECES};
use crate::notifier::Notifier;
use crate::receiving::MSG_DONTWAIT;

const MSG_NOSIGNAL: u32 = 0x4000;
const SIGPIPE: i32 = 13;
/// `SCTP_EOF`.
const SCTP_EOF: u16 = 0x200;
/// Flags of a message that may be empty: `SCTP_ABORT`, `SCTP_EOF`.
const MAY_BE_EMPTY: u16 = 0x4 | SCTP_EOF;
/// `SCTP_SENDALL`.
const SCTP_SENDALL: u16 = 0x40;
/// Longest message that is read.
const MESSAGE_MOST: usize = 1 << 24;
/// Longest control messages, as Linux has it by default (`net.core.optmem_max`).
const CONTROL_MOST: u64 = 131_072;

/// Message in a program's memory.
#[derive(Debug, Default)]
struct SendPlace {
    pieces: Vec<(u64, usize)>,
    total: usize,
    destination: Option<SocketAddr>,
    control: SendControl,
    flags: u32,
}

/// State of one message of a call.
enum Sent {
    Bytes(usize),
    Not(Step),
}

impl Notifier {
    pub(crate) fn send(&mut self, job: &mut Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let message = match job.call {
            SocketCall::Write => flat(job)?,
            SocketCall::SendTo => {
                let destination = match job.argument(4) {
                    0 => None,
                    at => Self::read_name(job, at, job.number(5))?,
                };
                SendPlace { destination, flags: job.number(3), ..flat(job)? }
            }
            SocketCall::WriteV => {
                let (pieces, total) =
                    Self::read_pieces(job, job.argument(1), job.argument(2), Errno::EINVAL)?;
                SendPlace { pieces, total, ..SendPlace::default() }
            }
            _ => Self::message_of(job, job.argument(1), job.number(2))?,
        };
        Ok(match self.send_from_memory(job, pair, &message)? {
            Sent::Bytes(length) => Step::value(length),
            Sent::Not(step) => step,
        })
    }

    /// Sends messages one by one, each from a header of its own.
    pub(crate) fn send_several(&mut self, job: &mut Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let most = usize::try_from(job.number(2).min(PIECES)).unwrap_or(0);
        while job.done < most {
            let header = job.argument(1).wrapping_add(COUNTED_HEADER * job.done as u64);
            let sent = Self::message_of(job, header, job.number(3))
                .and_then(|message| self.send_from_memory(job, pair, &message));
            match sent {
                Ok(Sent::Bytes(length)) => {
                    let told = u32::try_from(length).unwrap_or(u32::MAX);
                    Self::write_memory(job, header.wrapping_add(COUNT_AT), &told.to_ne_bytes())?;
                    job.done += 1;
                }
                Ok(Sent::Not(step)) => return Ok(step),
                Err(_) if job.done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Step::value(job.done))
    }

    /// Sends a part of a file as one message.
    pub(crate) fn send_file(&mut self, job: &mut Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let task = self.processes.task(job.process).ok_or(Errno::EBADF)?;
        let mut file = File::from(task.descriptor(job.number(1)).map_err(|_| Errno::EBADF)?);
        // Another kind of file may have to be waited for.
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(Errno::EINVAL);
        }
        let offset_at = job.argument(2);
        let offset = if offset_at == 0 {
            file.stream_position().map_err(|_| Errno::EINVAL)?
        } else {
            let mut octets = [0; 8];
            Self::read_memory(job, offset_at, &mut octets)?;
            u64::from_ne_bytes(octets)
        };
        let most = usize::try_from(job.argument(3)).unwrap_or(usize::MAX).min(PIECE_MAX);
        let mut octets = vec![0; most];
        let length = file.read_at(&mut octets, offset).map_err(|_| Errno::EIO)?;
        if length == 0 {
            return Ok(Step::value(0));
        }
        let message = SendPlace { total: length, ..SendPlace::default() };
        match self.send_message(job, pair, &message, &octets[..length])? {
            Sent::Not(step) => Ok(step),
            Sent::Bytes(length) => {
                let behind = offset + length as u64;
                if offset_at == 0 {
                    file.seek(SeekFrom::Start(behind)).map_err(|_| Errno::EIO)?;
                } else {
                    Self::write_memory(job, offset_at, &behind.to_ne_bytes())?;
                }
                Ok(Step::value(length))
            }
        }
    }

    fn send_from_memory(
        &mut self,
        job: &mut Job,
        pair: &Rc<OwnedFd>,
        message: &SendPlace,
    ) -> Result<Sent, Errno> {
        if message.total > MESSAGE_MOST {
            return Err(Errno::EMSGSIZE);
        }
        let mut octets = mem::take(&mut self.place);
        if octets.len() < message.total {
            octets.resize(message.total, 0);
        }
        let read = Task::read_pieces(job.notified.thread, &message.pieces, &mut octets[..message.total]);
        let sent = if matches!(read, Ok(length) if length == message.total) {
            self.send_message(job, pair, message, &octets[..message.total])
        } else {
            Err(Errno::EFAULT)
        };
        self.place = octets;
        sent
    }

    /// Sends a message that has been read, or goes on with it.
    fn send_message(
        &mut self,
        job: &mut Job,
        pair: &Rc<OwnedFd>,
        message: &SendPlace,
        octets: &[u8],
    ) -> Result<Sent, Errno> {
        if message.control.needs_defaults() && job.defaults.is_none() {
            let request = slantpath_door::defaults_question();
            return Ok(Sent::Not(Step::Ask(Rc::clone(pair), request, Purpose::Defaults)));
        }
        if let Some(request) = message.control.beginning(message.destination).filter(|_| !job.has_begun) {
            return Ok(Sent::Not(Step::Ask(Rc::clone(pair), request, Purpose::Begin)));
        }
        let defaults = job.defaults.unwrap_or_default();
        let info = message.control.whole(|| defaults);
        let own = info.unwrap_or_default();
        let is_end = own.flags & MAY_BE_EMPTY != 0;
        if octets.is_empty() && !is_end || !octets.is_empty() && own.flags & SCTP_EOF != 0 {
            return Err(Errno::EINVAL);
        }
        let (target, length) = ((own.association, message.destination), octets.len());
        let length = u32::try_from(length).map_err(|_| Errno::EMSGSIZE)?;
        let remembered = self.processes.remembered(job.place());
        let is_for_all = own.flags & SCTP_SENDALL != 0;
        if is_end && !job.is_checked {
            let request = requests::Request::MayEnd {
                association: own.association,
                destination: message.destination,
                is_for_all,
            };
            return Ok(Sent::Not(Step::Ask(Rc::clone(pair), request, Purpose::MayEnd)));
        }
        // Who of all cannot be sent to is passed over.
        if !is_for_all && !job.is_checked && !remembered.is_possible(target, own.stream, length) {
            let request = requests::Request::MaySend {
                stream: own.stream,
                association: own.association,
                length,
                destination: message.destination,
            };
            let purpose = Purpose::MaySend { target, length };
            return Ok(Sent::Not(Step::Ask(Rc::clone(pair), request, purpose)));
        }
        let (place, id) = (job.place(), job.notified.id);
        if self.sending.get(&place).is_some_and(|other| *other != id) {
            // Another thread's message is under way, and would be cut.
            return Ok(Sent::Not(Step::Room(Rc::clone(pair))));
        }
        // Only now it is certain that it was the program's own memory.
        if !self.is_waiting(job) {
            self.sending.remove(&place);
            return Ok(Sent::Not(Step::Over));
        }
        loop {
            let rest = &octets[job.sent..];
            let part = &rest[..rest.len().min(PIECE_MAX)];
            let is_more = part.len() < rest.len();
            let piece = FromProgram::Data { is_more, info, destination: message.destination };
            match slantpath_door::send_piece(pair, &piece, &[IoSlice::new(part)]) {
                Ok(()) if is_more => {
                    job.sent += part.len();
                    self.sending.insert(place, id);
                }
                Ok(()) => break,
                Err(Errno::EAGAIN)
                    if job.sent > 0 || self.may_wait(pair, message.flags & MSG_DONTWAIT != 0) =>
                {
                    return Ok(Sent::Not(Step::Room(Rc::clone(pair))));
                }
                Err(error) => {
                    self.sending.remove(&place);
                    return self.not_sent_by(job, error, message.flags);
                }
            }
        }
        self.sending.remove(&place);
        job.begin_next();
        Ok(Sent::Bytes(octets.len()))
    }

    /// Answers a call whose message the daemon has refused.
    pub(crate) fn not_sent(&mut self, job: &Job, error: Errno) -> Result<Step, Errno> {
        let flags = match job.call {
            SocketCall::SendTo | SocketCall::SendMMsg => job.number(3),
            SocketCall::SendMsg => job.number(2),
            _ => 0,
        };
        if job.done > 0 {
            return Ok(Step::value(job.done));
        }
        self.not_sent_by(job, error, flags).map(|_| Step::Over)
    }

    fn not_sent_by(&self, job: &Job, error: Errno, flags: u32) -> Result<Sent, Errno> {
        if error == Errno::EPIPE
            && flags & MSG_NOSIGNAL == 0
            && let Some(task) = self.processes.task(job.process)
        {
            let _ = task.signal(SIGPIPE);
        }
        Err(error)
    }

    /// Message that a header in a program's memory says.
    fn message_of(job: &Job, at: u64, flags: u32) -> Result<SendPlace, Errno> {
        let header = Self::read_header(job, at)?;
        let (pieces, total) = Self::read_pieces(job, header.pieces, header.piece_count, Errno::EMSGSIZE)?;
        let destination = match header.name {
            0 => None,
            _ if header.name_len == 0 => None,
            name => Self::read_name(job, name, header.name_len)?,
        };
        if header.control_len > CONTROL_MOST {
            return Err(Errno::ENOBUFS);
        }
        let control = if header.control_len == 0 {
            SendControl::default()
        } else {
            let mut octets = vec![0; usize::try_from(header.control_len).expect("at most the longest")];
            Self::read_memory(job, header.control, &mut octets)?;
            SendControl::read(&octets)?
        };
        Ok(SendPlace { pieces, total, destination, control, flags })
    }
}

/// Message that the second and third argument say.
fn flat(job: &Job) -> Result<SendPlace, Errno> {
    let total = usize::try_from(job.argument(2)).map_err(|_| Errno::EINVAL)?;
    Ok(SendPlace { pieces: vec![(job.argument(1), total)], total, ..SendPlace::default() })
}
