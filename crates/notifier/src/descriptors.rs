//! Calls that make, copy and close descriptors.

use std::io::IoSliceMut;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::OFlags;
use slantpath_door::{Replied, bytes_of};
use slantpath_requests::{self as requests, Errno, OpenRequest, PIECE_MAX, Style};
use slantpath_system::clock;
use slantpath_system::notify::CallAnswer;

use crate::asking::{SO_ACCEPTCONN, SOL_SOCKET, option_of};
use crate::calls::{IPPROTO_SCTP, SOCK_SEQPACKET, SocketCall, TYPE_MASK};
use crate::job::{Job, Purpose, Step};
use crate::notifier::Notifier;

/// Flags of new descriptors, which both architectures have alike.
pub(crate) const O_NONBLOCK: u32 = 0o4000;
pub(crate) const O_CLOEXEC: u32 = 0o2_000_000;

const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
pub(crate) const SOCK_STREAM: u32 = 1;
const F_DUPFD: u32 = 0;
const F_DUPFD_CLOEXEC: u32 = 1030;
const FIONREAD: u32 = 0x541b;
const CLOSE_RANGE_CLOEXEC: u32 = 4;

const ELSEWHERE: &str = "an SCTP socket cannot become a standard stream or another low descriptor of this program: \
                         `--door preload` has no such limit";

const FULL: &str = "the program has as many SCTP sockets as its limit of open files has room for: raise it \
                    (`ulimit -n`)";

impl Notifier {
    pub(crate) fn socket(job: &Job) -> Step {
        let (kind, protocol) = (job.number(1) & TYPE_MASK, job.number(2));
        let family = match job.number(0) {
            AF_INET => requests::Family::V4,
            AF_INET6 => requests::Family::V6,
            _ => return Step::Done(CallAnswer::Continue),
        };
        let style = match (kind, protocol) {
            (SOCK_STREAM, IPPROTO_SCTP) => Style::OneToOne,
            (SOCK_SEQPACKET, IPPROTO_SCTP | 0) => Style::OneToMany,
            // Linux says what is wrong.
            _ => return Step::Done(CallAnswer::Continue),
        };
        if job.number(1) & !(TYPE_MASK | O_NONBLOCK | O_CLOEXEC) != 0 {
            return Step::failed(Errno::EINVAL);
        }
        Step::Open(OpenRequest { style, family })
    }

    /// Gives a program the socket that the daemon has made.
    pub(crate) fn opened(&mut self, job: &Job, answer: Replied) -> Result<Step, Errno> {
        if let Some(error) = answer.reply.error {
            return Err(error);
        }
        let descriptor = answer.descriptor.ok_or(Errno::EMFILE)?;
        self.has_sockets = true;
        self.give(job, &descriptor, job.number(1))
    }

    pub(crate) fn accept(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let flags = if job.call == SocketCall::Accept4 { job.number(3) } else { 0 };
        if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
            return Err(Errno::EINVAL);
        }
        if !self.processes.remembered(job.place()).listens {
            // What comes to another socket is not to be taken.
            let request = option_of(SOL_SOCKET, SO_ACCEPTCONN, 4);
            return Ok(Step::Ask(Rc::clone(pair), request, Purpose::Listens));
        }
        if !self.is_waiting(job) {
            return Ok(Step::Over);
        }
        match slantpath_door::accept(pair) {
            Ok(accepted) => {
                if job.argument(1) != 0 {
                    Self::write_name(job, &bytes_of(accepted.peer), job.argument(1), job.argument(2))?;
                }
                self.give(job, &accepted.descriptor, flags)
            }
            Err(Errno::EAGAIN) if self.may_wait(pair, false) => Ok(Step::Come(Rc::clone(pair))),
            Err(error) => Err(error),
        }
    }

    /// Gives a program a new descriptor as the answer to its call.
    fn give(&mut self, job: &Job, descriptor: &OwnedFd, flags: u32) -> Result<Step, Errno> {
        if flags & O_NONBLOCK != 0 {
            self.set_nonblocking(descriptor);
        }
        let first = self.numbers.start;
        self.put(job, descriptor, first, flags & O_CLOEXEC != 0, true)?;
        Ok(Step::Over)
    }

    pub(crate) fn set_nonblocking(&mut self, descriptor: &OwnedFd) {
        self.seen.flags = true;
        if let Ok(flags) = rustix::fs::fcntl_getfl(descriptor) {
            let _ = rustix::fs::fcntl_setfl(descriptor, flags | OFlags::NONBLOCK);
        }
    }

    /// Puts a descriptor at a number of the range that the process does not use, from this one on; `None` if the call
    /// is no more.
    pub(crate) fn put(
        &mut self,
        job: &Job,
        descriptor: impl AsFd,
        first: u32,
        closes_on_exec: bool,
        answers: bool,
    ) -> Result<Option<u32>, Errno> {
        let all = first.max(self.numbers.start)..self.numbers.end;
        let from = if all.contains(&self.next_number) { self.next_number } else { all.start };
        let numbers = || (from..all.end).chain(all.start..from);
        // Each is asked for: what the process has there by itself, as by another process's copy, is not ours to know.
        // Those that were given are asked for last, since there may be thousands.
        let is_free = |number: &u32| self.processes.is_free((job.process, *number));
        let is_given = |number: &u32| self.processes.is_remembered((job.process, *number));
        let free =
            numbers().filter(|number| !is_given(number)).find(is_free).or_else(|| numbers().find(is_free));
        let Some(number) = free else {
            self.say(FULL);
            return Err(Errno::EMFILE);
        };
        self.next_number = number + 1;
        self.processes.forget((job.process, number));
        match self.listener.put_descriptor(job.notified.id, descriptor, number, closes_on_exec, answers) {
            Ok(is_waiting) => {
                self.processes.remembered((job.process, number));
                Ok(is_waiting.then_some(number))
            }
            // The program has lowered its limit.
            Err(_) => Err(Errno::EMFILE),
        }
    }

    pub(crate) fn duplicate(
        &mut self,
        job: &Job,
        pair: &Rc<OwnedFd>,
        first: u32,
        closes_on_exec: bool,
    ) -> Result<Step, Errno> {
        self.put(job, pair, first, closes_on_exec, true)?;
        Ok(Step::Over)
    }

    pub(crate) fn duplicate_to(&mut self, job: &Job) -> Result<Step, Errno> {
        let (from, to) = (job.number(0), job.number(1));
        if from == to {
            return Ok(Step::Done(CallAnswer::Continue));
        }
        let flags = if job.call == SocketCall::Dup3 { job.number(2) } else { 0 };
        let pair = self.processes.pair(job.place(), clock::monotonic());
        if flags & !O_CLOEXEC != 0 || pair.is_none() {
            if pair.is_none() && self.numbers.contains(&to) {
                self.mark_closed(job.process, to..to + 1);
            }
            return Ok(Step::Done(CallAnswer::Continue));
        }
        if !self.numbers.contains(&to) {
            self.say(ELSEWHERE);
            return Err(Errno::EBADF);
        }
        self.mark_closed(job.process, to..to + 1);
        let pair = pair.ok_or(Errno::EBADF)?;
        let id = job.notified.id;
        self.listener.put_descriptor(id, pair, to, flags & O_CLOEXEC != 0, true).map_err(|_| Errno::EBADF)?;
        Ok(Step::Over)
    }

    pub(crate) fn fcntl(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        let command = job.number(1);
        match command {
            F_DUPFD | F_DUPFD_CLOEXEC => {
                let first = job.number(2);
                if first >= self.numbers.end {
                    return Err(Errno::EINVAL);
                }
                self.duplicate(job, pair, first, command == F_DUPFD_CLOEXEC)
            }
            _ => {
                self.seen.flags = true;
                Ok(Step::Done(CallAnswer::Continue))
            }
        }
    }

    pub(crate) fn ioctl(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        if job.number(1) != FIONREAD {
            self.seen.flags = true;
            return Ok(Step::Done(CallAnswer::Continue));
        }
        let mut place = vec![0; PIECE_MAX];
        let claim = &mut self.processes.remembered(job.place()).claim;
        let length = match slantpath_door::receive(pair, claim, &mut [IoSliceMut::new(&mut place)], true) {
            Ok(came) => came.map_or(0, |came| came.len),
            Err(Errno::EAGAIN) => 0,
            Err(error) => return Err(error),
        };
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        Self::write_memory(job, job.argument(2), &length.to_ne_bytes())?;
        Ok(Step::value(0))
    }

    pub(crate) fn close(&mut self, job: &Job, pair: &Rc<OwnedFd>) -> Step {
        slantpath_door::close(pair);
        self.processes.forget(job.place());
        self.next_number = self.next_number.min(job.number(0));
        Step::Done(CallAnswer::Continue)
    }

    pub(crate) fn close_range(&mut self, job: &Job) -> Step {
        let (first, last) = (job.number(0), job.number(1));
        if job.number(2) & CLOSE_RANGE_CLOEXEC == 0 {
            self.mark_closed(job.process, first..last.saturating_add(1));
        }
        Step::Done(CallAnswer::Continue)
    }

    pub(crate) fn exit_group(&mut self, job: &Job) -> Step {
        self.mark_closed(job.process, self.numbers.clone());
        Step::Done(CallAnswer::Continue)
    }

    /// Another program is to take a process over. The kernel closes the sockets then that are marked so; the daemon is
    /// to know that nobody was killed, and no copy is to outlive them. What a child has not used is its parent's.
    pub(crate) fn exec(&mut self, job: &Job) -> Step {
        for number in self.processes.remembered_of(job.process) {
            let task = self.processes.task(job.process);
            if task.is_some_and(|task| task.closes_on_exec(number).unwrap_or(false)) {
                self.mark_closed(job.process, number..number + 1);
            }
        }
        Step::Done(CallAnswer::Continue)
    }

    /// Marks that a process closes its sockets of these numbers in order.
    fn mark_closed(&mut self, process: u32, numbers: Range<u32>) {
        if !self.has_sockets {
            return;
        }
        let Some(task) = self.processes.task(process) else { return };
        let numbers = numbers.start.max(self.numbers.start)..numbers.end.min(self.numbers.end);
        let open = if numbers.len() == 1 {
            vec![numbers.start]
        } else {
            task.descriptors(numbers.start).unwrap_or_default()
        };
        for number in open.into_iter().filter(|number| numbers.contains(number)) {
            if let Some(pair) = self.processes.pair((process, number), clock::monotonic()) {
                slantpath_door::close(&pair);
            }
            self.processes.forget((process, number));
            self.next_number = self.next_number.min(number);
        }
    }
}
