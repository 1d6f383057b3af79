//! Calls that receive.

use std::io::IoSliceMut;
use std::mem;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use slantpath_door::{Begun, Came, ControlOut, NextInfo, bytes_of};
use slantpath_requests::{self as requests, Errno, ToProgram};
use slantpath_system::notify::Task;

use crate::asking::{IPPROTO_SCTP_LEVEL, SCTP_EVENTS, SO_TYPE, SOL_SOCKET, option_of};
use crate::calls::SocketCall;
use crate::job::{Job, Purpose, Step};
use crate::layout::{
    self, CONTROL_LENGTH_AT, COUNT_AT, COUNTED_HEADER, FLAGS_AT, MESSAGE_HEADER, MessageHeader,
    NAME_LENGTH_AT, PIECE, PIECES,
};
use crate::notifier::Notifier;

const MSG_PEEK: u32 = 0x2;
const MSG_CTRUNC: u32 = 0x8;
pub(crate) const MSG_DONTWAIT: u32 = 0x40;
const MSG_EOR: u32 = 0x80;
const MSG_NOTIFICATION: u32 = 0x8000;
const MSG_WAITFORONE: u32 = 0x1_0000;

/// Most bytes that one call takes: a longer message stays in part for the next.
const MOST: usize = 1 << 20;
/// Longest place of control messages that is used.
const CONTROL_MOST: usize = 512;

/// Place of a message in a program's memory.
#[derive(Debug, Default)]
struct ReceivePlace {
    pieces: Vec<(u64, usize)>,
    total: usize,
    /// Header that says the name, the control messages and the flags.
    header: Option<(u64, MessageHeader)>,
    /// Name beside its length (`recvfrom`).
    name: Option<(u64, u64)>,
}

/// State of one message of a call.
enum Received {
    Bytes(usize),
    Not(Step),
}

impl Notifier {
    pub(crate) fn receive(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let (place, flags) = match job.call {
            SocketCall::Read => (flat(job)?, 0),
            SocketCall::RecvFrom => {
                let name = Some((job.argument(4), job.argument(5))).filter(|(at, _)| *at != 0);
                (ReceivePlace { name, ..flat(job)? }, job.number(3))
            }
            SocketCall::ReadV => {
                let (pieces, total) =
                    Self::read_pieces(job, job.argument(1), job.argument(2), Errno::EINVAL)?;
                (ReceivePlace { pieces, total, ..ReceivePlace::default() }, 0)
            }
            _ => (Self::with_header(job, job.argument(1))?, job.number(2)),
        };
        if place.total == 0 && matches!(job.call, SocketCall::Read | SocketCall::ReadV) {
            return Ok(Step::value(0));
        }
        match self.receive_one(job, pair, &place, flags)? {
            Received::Bytes(length) => Ok(Step::value(length)),
            Received::Not(step) => Ok(step),
        }
    }

    /// Receives messages one by one, each into a header of its own.
    pub(crate) fn receive_several(&mut self, job: &mut Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let most = usize::try_from(job.number(2).min(PIECES)).unwrap_or(0);
        let flags = job.number(3);
        while job.done < most {
            let header = job.argument(1).wrapping_add(COUNTED_HEADER * job.done as u64);
            let one_is_enough = job.done > 0 && flags & MSG_WAITFORONE != 0;
            let flags = flags & !MSG_WAITFORONE | if one_is_enough { MSG_DONTWAIT } else { 0 };
            let received =
                Self::with_header(job, header).and_then(|place| self.receive_one(job, pair, &place, flags));
            match received {
                Ok(Received::Bytes(length)) => {
                    let told = u32::try_from(length).unwrap_or(u32::MAX);
                    Self::write_memory(job, header.wrapping_add(COUNT_AT), &told.to_ne_bytes())?;
                    job.done += 1;
                }
                // The next call tells of the end, or the error.
                Ok(Received::Not(Step::Ask(_, _, Purpose::End))) | Err(_) if job.done > 0 => break,
                Ok(Received::Not(step)) => return Ok(step),
                Err(error) => return Err(error),
            }
        }
        Ok(Step::value(job.done))
    }

    fn receive_one(
        &mut self,
        job: &Job,
        pair: &Rc<OwnedFd>,
        place: &ReceivePlace,
        flags: u32,
    ) -> Result<Received, Errno> {
        let remembered = self.processes.remembered(job.place());
        // Without room for what it wants it is told so, too.
        if place.header.is_some() && remembered.wanted.is_none() {
            let request = option_of(IPPROTO_SCTP_LEVEL, SCTP_EVENTS, 1);
            return Ok(Received::Not(Step::Ask(Rc::clone(pair), request, Purpose::WantsEvents)));
        }
        let room = place.total.min(MOST);
        let mut octets = mem::take(&mut self.place);
        if octets.len() < room {
            octets.resize(room, 0);
        }
        let buffers = &mut [IoSliceMut::new(&mut octets[..room])];
        let leaves = flags & MSG_PEEK != 0;
        let came = if leaves {
            slantpath_door::receive(pair, &mut remembered.claim, buffers, true)
        } else {
            // All programs that have the socket have their calls answered here, one by one.
            let begun = if self.seen.parts { Begun::Perhaps } else { Begun::No };
            slantpath_door::receive_alone(pair, &mut remembered.claim, buffers, begun)
        };
        self.seen.parts |= leaves || remembered.claim.is_unfinished();
        let received = match came {
            // Only who is killed waits no longer, and its memory may be another's by now.
            Ok(_) if !self.listener.is_waiting(job.notified.id) => Ok(Received::Not(Step::Over)),
            Ok(Some(came)) => {
                let remembered = self.processes.remembered(job.place());
                let wants_next = remembered.wanted.is_some_and(|wanted| wanted.nxtinfo);
                let is_taken = came.is_end && flags & MSG_PEEK == 0;
                let next = if wants_next && is_taken && place.header.is_some() {
                    slantpath_door::peek_next(pair, &remembered.claim)
                } else {
                    None
                };
                self.hand_over(job, place, (came, next), &octets[..came.len]).map(Received::Bytes)
            }
            Ok(None) => {
                if let Some((at, _)) = place.header {
                    Self::write_header(job, at, &[], 0, 0)?;
                }
                let request =
                    requests::Request::Ended { waits: self.may_wait(pair, flags & MSG_DONTWAIT != 0) };
                Ok(Received::Not(Step::Ask(Rc::clone(pair), request, Purpose::End)))
            }
            Err(Errno::EAGAIN) if self.may_wait(pair, flags & MSG_DONTWAIT != 0) => {
                let remembered = self.processes.remembered(job.place());
                let pair = Rc::clone(pair);
                Ok(Received::Not(if remembered.may_come {
                    Step::Come(pair)
                } else {
                    Step::Ask(pair, option_of(SOL_SOCKET, SO_TYPE, 4), Purpose::Style)
                }))
            }
            Err(error) => Err(error),
        };
        self.place = octets;
        received
    }

    /// Writes what has come into a program's memory.
    fn hand_over(
        &mut self,
        job: &Job,
        place: &ReceivePlace,
        (came, next): (Came, Option<NextInfo>),
        octets: &[u8],
    ) -> Result<usize, Errno> {
        let written = Task::write_pieces(job.notified.thread, &place.pieces, octets);
        if !matches!(written, Ok(length) if length == octets.len()) {
            return Err(Errno::EFAULT);
        }
        let name = match came.piece {
            ToProgram::Data { source, .. }
            | ToProgram::Notification { source, .. }
            | ToProgram::Accepted { peer: source } => bytes_of(source),
        };
        if let Some((at, length_at)) = place.name {
            Self::write_name(job, &name, at, length_at)?;
        }
        let Some((at, header)) = place.header else { return Ok(came.len) };
        let mut flags = if came.is_end { MSG_EOR } else { 0 };
        let mut control = [0; CONTROL_MOST];
        let room = if header.control == 0 { 0 } else { header.control_len };
        let room = usize::try_from(room).unwrap_or(CONTROL_MOST).min(CONTROL_MOST);
        let mut out = ControlOut::new(&mut control[..room]);
        match came.piece {
            ToProgram::Data { info, .. } => {
                let wanted = self.processes.remembered(job.place()).wanted.unwrap_or_default();
                out.put(info, next, wanted);
            }
            ToProgram::Notification { .. } => flags |= MSG_NOTIFICATION,
            ToProgram::Accepted { .. } => {}
        }
        let (length, is_cut) = out.done();
        if is_cut {
            flags |= MSG_CTRUNC;
        }
        if length > 0 {
            Self::write_memory(job, header.control, &control[..length])?;
        }
        if header.name != 0 && !name.is_empty() {
            let room = usize::try_from(header.name_len).unwrap_or(0).min(name.len());
            Self::write_memory(job, header.name, &name[..room])?;
        }
        let name = if header.name == 0 { &[][..] } else { &name };
        Self::write_header(job, at, name, length, flags)?;
        Ok(came.len)
    }

    /// Writes the lengths and flags of a header.
    fn write_header(job: &Job, at: u64, name: &[u8], control: usize, flags: u32) -> Result<(), Errno> {
        let name = u32::try_from(name.len()).expect("an address is short");
        Self::write_memory(job, at.wrapping_add(NAME_LENGTH_AT), &name.to_ne_bytes())?;
        Self::write_memory(job, at.wrapping_add(CONTROL_LENGTH_AT), &(control as u64).to_ne_bytes())?;
        Self::write_memory(job, at.wrapping_add(FLAGS_AT), &flags.to_ne_bytes())
    }

    fn with_header(job: &Job, at: u64) -> Result<ReceivePlace, Errno> {
        let header = Self::read_header(job, at)?;
        let (pieces, total) = Self::read_pieces(job, header.pieces, header.piece_count, Errno::EMSGSIZE)?;
        Ok(ReceivePlace { pieces, total, header: Some((at, header)), name: None })
    }

    pub(crate) fn read_header(job: &Job, at: u64) -> Result<MessageHeader, Errno> {
        let mut octets = [0; MESSAGE_HEADER];
        Self::read_memory(job, at, &mut octets)?;
        Ok(MessageHeader::read(&octets))
    }

    /// Reads the places of a message, and their length in all.
    pub(crate) fn read_pieces(
        job: &Job,
        at: u64,
        count: u64,
        too_many: Errno,
    ) -> Result<(Vec<(u64, usize)>, usize), Errno> {
        if count > u64::from(PIECES) {
            return Err(too_many);
        }
        let mut octets = vec![0; usize::try_from(count).expect("few") * PIECE];
        Self::read_memory(job, at, &mut octets)?;
        layout::pieces(&octets)
    }
}

/// Place that the second and third argument say.
fn flat(job: &Job) -> Result<ReceivePlace, Errno> {
    let total = usize::try_from(job.argument(2)).map_err(|_| Errno::EINVAL)?;
    Ok(ReceivePlace { pieces: vec![(job.argument(1), total)], total, ..ReceivePlace::default() })
}
