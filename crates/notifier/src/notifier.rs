//! The loop: calls arrive, are tried, are kept, and are answered.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSliceMut, Write as _};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::net::sockopt::{Timeout, socket_timeout};
use slantpath_door::{Pending, Replied};
use slantpath_requests::{self as requests, Errno, Reply};
use slantpath_system::clock;
use slantpath_system::notify::{CallAnswer, Listener, PendingSignals, Task};
use slantpath_system::poll::{Poll, PollCause};
use slantpath_system::rights;

use crate::asking::{
    IPPROTO_SCTP_LEVEL, SCTP_GET_ASSOC_NUMBER, SCTP_RECVNXTINFO, SCTP_RECVRCVINFO, SO_ACCEPTCONN, SOL_SOCKET,
    option_of,
};
use crate::calls::SocketCall;
use crate::descriptors::SOCK_STREAM;
use crate::job::{Job, Kept, Purpose, Step, Wait};
use crate::processes::{Place, Processes};

/// Time between two looks for signals and copies that are no longer used.
const LOOK: Duration = Duration::from_millis(20);
/// Calls whose signals are looked for at one time.
const LOOKED_AT: usize = 32;

/// Tokens of the loop: those below are its user's.
const PROCESS: u64 = 1 << 62;
const KEPT: u64 = 1 << 63;

/// Uses of sockets that have been seen: until then the kernel is not asked for what they change.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// A program has set flags of a socket (`O_NONBLOCK`).
    pub(crate) flags: bool,
    /// A program has set a time limit of a socket.
    pub(crate) limits: bool,
    /// A message was read in part, or looked at: before that each one begins at its front.
    pub(crate) parts: bool,
}

/// Answers the calls of programs.
#[derive(Debug)]
pub(crate) struct Notifier {
    pub(crate) listener: Listener,
    poll: Poll,
    /// Numbers of SCTP descriptors.
    pub(crate) numbers: Range<u32>,
    /// Number that is tried next for a new one: low ones are given first, since `select` knows no others.
    pub(crate) next_number: u32,
    /// Address of the daemon.
    pub(crate) daemon: Vec<u8>,
    pub(crate) processes: Processes,
    kept: BTreeMap<u64, Kept>,
    next_token: u64,
    last_looked: Duration,
    /// Token of the kept call that was looked at last.
    looked_at: u64,
    /// True once a socket was opened.
    pub(crate) has_sockets: bool,
    pub(crate) seen: Seen,
    /// First port for which a program needs no right.
    pub(crate) first_free_port: u16,
    /// Place of messages on their way.
    pub(crate) place: Vec<u8>,
    /// Sockets of which a message is sent in part, each with the call that sends it.
    pub(crate) sending: BTreeMap<Place, u64>,
    /// Lines that were said, each once.
    pub(crate) said: BTreeSet<&'static str>,
}

impl Notifier {
    pub(crate) fn new(listener: Listener, poll: Poll, numbers: Range<u32>, daemon: Vec<u8>) -> Self {
        listener.wake_in_place();
        Self {
            listener,
            poll,
            next_number: numbers.start,
            numbers,
            daemon,
            processes: Processes::default(),
            kept: BTreeMap::new(),
            next_token: 0,
            last_looked: Duration::ZERO,
            looked_at: 0,
            has_sockets: false,
            seen: Seen::default(),
            first_free_port: rights::first_free_port(),
            place: Vec::new(),
            sending: BTreeMap::new(),
            said: BTreeSet::new(),
        }
    }

    /// Waits for calls and other events, and serves what has come. It gives the tokens of others. If it looks often, it
    /// comes back without any.
    pub(crate) fn turn(&mut self, looks_often: bool) -> io::Result<Vec<u64>> {
        let has_to_look = looks_often || !self.kept.is_empty() || self.processes.has_copies();
        let is_call = self.poll.wait_beside(&self.listener, has_to_look.then_some(LOOK))?;
        let ready = self.poll.told().to_vec();
        if is_call {
            self.take_call()?;
        }
        let mut others = Vec::new();
        for token in ready {
            if token & KEPT != 0 {
                self.wake(token);
            } else if token & PROCESS != 0 {
                self.process_has_ended(token);
            } else {
                others.push(token);
            }
        }
        self.look();
        Ok(others)
    }

    /// Waits no longer for what its user has added.
    pub(crate) fn wait_no_more(&self, descriptor: impl AsFd) -> io::Result<()> {
        self.poll.remove(descriptor)
    }

    /// Takes a call that is there. It would wait for another one: only the poll says if there is one.
    fn take_call(&mut self) -> io::Result<()> {
        let Some(notified) = self.listener.receive()? else { return Ok(()) };
        let call = SocketCall::of_number(notified.number);
        // Processes that begin and end are many, and most trees of programs have no socket by then.
        let is_of_process =
            matches!(call, Some(SocketCall::Exec | SocketCall::ExecAt | SocketCall::ExitGroup));
        let is_passed = is_of_process && !self.has_sockets;
        let Some(call) = call.filter(|_| !is_passed) else {
            self.listener.answer(notified.id, CallAnswer::Continue)?;
            return Ok(());
        };
        match self.processes.of_thread(notified.thread, clock::monotonic()) {
            Ok((process, is_new)) => {
                if is_new && let Some(task) = self.processes.task(process) {
                    self.poll.add(task, PROCESS | u64::from(process))?;
                }
                self.run(Job::new(notified, call, process));
            }
            // It may have ended just now. If this process may not look at it, its calls run as they are.
            Err(_) => {
                self.listener.answer(notified.id, CallAnswer::Continue)?;
            }
        }
        Ok(())
    }

    /// Tries a call, and answers or keeps it.
    pub(crate) fn run(&mut self, mut job: Job) {
        let step = self.step(&mut job).unwrap_or_else(Step::failed);
        self.follow(job, step);
    }

    fn follow(&mut self, job: Job, step: Step) {
        // The daemon is to see the end of a socket before the program goes on.
        self.close_unused();
        let id = job.notified.id;
        match step {
            Step::Done(answer) => {
                // A call that is no more needs none.
                let _ = self.listener.answer(id, answer);
            }
            Step::Over => {}
            Step::Ask(pair, request, purpose) => match slantpath_door::ask(&pair, &request, false) {
                Ok(pending) => self.keep_for_reply(job, pending, Some(purpose)),
                Err(Errno::EAGAIN) => self.keep_for(job, &pair, PollCause::Room),
                Err(error) => {
                    let step = Self::unanswered(purpose, error);
                    self.follow(job, step);
                }
            },
            Step::Open(request) => match slantpath_door::ask_to_open(&self.daemon, request) {
                Ok(pending) => self.keep_for_reply(job, pending, None),
                Err(error) => self.follow(job, Step::failed(error)),
            },
            Step::Come(pair) => self.keep_for(job, &pair, PollCause::Input),
            Step::Room(pair) => self.keep_for(job, &pair, PollCause::Room),
        }
    }

    /// Keeps a call until its socket is ready, if it may wait.
    fn keep_for(&mut self, mut job: Job, pair: &Rc<OwnedFd>, cause: PollCause) {
        let now = clock::monotonic();
        if job.deadline.is_none() && self.seen.limits {
            let limit = if cause == PollCause::Room { Timeout::Send } else { Timeout::Recv };
            let limit = socket_timeout(pair, limit).ok().flatten();
            job.deadline = limit.map(|limit| now.saturating_add(limit));
        }
        let token = self.next_token();
        let awaited = match self.processes.take_watch(job.place(), pair) {
            Some(watch) => self.poll.await_again(&watch, token, cause).map(|()| watch),
            None => pair.try_clone().and_then(|copy| {
                self.poll.add_for_one(&copy, token, cause)?;
                Ok(copy)
            }),
        };
        match awaited {
            Ok(copy) => {
                self.kept.insert(token, Kept { job, wait: Wait::Ready(copy, Rc::downgrade(pair)) });
            }
            Err(_) => self.follow(job, Step::failed(Errno::ENOMEM)),
        }
    }

    /// Keeps a call until the daemon has replied. The descriptor of the reply is this process's alone: closed, it is
    /// out of the poll.
    fn keep_for_reply(&mut self, job: Job, pending: Pending, purpose: Option<Purpose>) {
        let token = self.next_token();
        if self.poll.add(&pending, token).is_err() {
            return self.follow(job, Step::failed(Errno::ENOMEM));
        }
        self.kept.insert(token, Kept { job, wait: Wait::Reply(pending, purpose) });
    }

    const fn next_token(&mut self) -> u64 {
        self.next_token += 1;
        KEPT | self.next_token
    }

    /// Takes a kept call, which is waited for no longer.
    fn release(&mut self, token: u64) -> Option<Job> {
        let Kept { job, wait } = self.kept.remove(&token)?;
        if let Wait::Ready(copy, pair) = wait {
            self.processes.keep_watch(job.place(), &pair, copy);
        }
        Some(job)
    }

    /// Closes copies that nobody needs. Their descriptions live on in programs: closing alone would not take them out
    /// of the poll.
    fn close_unused(&mut self) {
        for copy in self.processes.take_unused() {
            let removed = self.poll.remove(&copy);
            debug_assert!(removed.is_ok(), "it was added");
        }
    }

    /// Goes on with a kept call whose descriptor is ready.
    fn wake(&mut self, token: u64) {
        let Some(Kept { mut job, wait }) = self.kept.remove(&token) else { return };
        let (pending, purpose) = match wait {
            Wait::Ready(copy, pair) => {
                self.processes.keep_watch(job.place(), &pair, copy);
                return self.run(job);
            }
            Wait::Reply(pending, purpose) => (pending, purpose),
        };
        let step = match (pending.take(), purpose) {
            (Ok(None), _) => {
                self.kept.insert(token, Kept { job, wait: Wait::Reply(pending, purpose) });
                return;
            }
            (Ok(Some(answer)), None) => self.opened(&job, answer).unwrap_or_else(Step::failed),
            (Ok(Some(answer)), Some(purpose)) => {
                self.replied(&mut job, purpose, answer).unwrap_or_else(Step::failed)
            }
            (Err(error), None) => Step::failed(error),
            (Err(error), Some(purpose)) => Self::unanswered(purpose, error),
        };
        self.follow(job, step);
    }

    /// Replied to a call whose request has none: the daemon is no more.
    fn unanswered(purpose: Purpose, error: Errno) -> Step {
        if purpose == Purpose::End { Step::value(0) } else { Step::failed(error) }
    }

    fn process_has_ended(&mut self, token: u64) {
        let Ok(process) = u32::try_from(token & u64::from(u32::MAX)) else { return };
        if let Some(task) = self.processes.task(process) {
            let _ = self.poll.remove(task);
        }
        self.processes.ended(process);
        self.sending.retain(|place, _| place.0 != process);
        let ended: Vec<u64> = self
            .kept
            .iter()
            .filter(|(_, kept)| kept.job.process == process)
            .map(|(token, _)| *token)
            .collect();
        for token in ended {
            self.release(token);
        }
        self.close_unused();
    }

    /// Looks from time to time for calls to be given up and copies to be let go of.
    fn look(&mut self) {
        let now = clock::monotonic();
        if now.saturating_sub(self.last_looked) < LOOK {
            return;
        }
        self.last_looked = now;
        self.processes.let_go(now);
        self.close_unused();
        let over: Vec<u64> = self
            .kept
            .iter()
            .filter(|(_, kept)| kept.job.deadline.is_some_and(|deadline| deadline <= now))
            .map(|(token, _)| *token)
            .collect();
        for token in over {
            if let Some(job) = self.release(token) {
                let step = Self::gave_up(&job, Errno::EAGAIN);
                self.follow(job, step);
            }
        }
        let behind = self.kept.range(self.looked_at + 1..).map(|(token, _)| *token);
        let looked_at: Vec<u64> = behind.take(LOOKED_AT).collect();
        // From the front at the next time.
        self.looked_at = if looked_at.len() < LOOKED_AT { 0 } else { looked_at.last().copied().unwrap_or(0) };
        for token in looked_at {
            self.look_for_signals(token);
        }
    }

    fn look_for_signals(&mut self, token: u64) {
        let Some(Kept { job, .. }) = self.kept.get_mut(&token) else { return };
        if !self.listener.is_waiting(job.notified.id) {
            self.release(token);
            return;
        }
        if !job.is_interruptible() {
            return;
        }
        let signals = self.processes.task(job.process).map(|task| task.pending_signals(job.notified.thread));
        let step = match signals {
            // A call with a time limit does not start anew.
            Some(Ok(PendingSignals::Own)) if job.deadline.is_none() && job.done == 0 => {
                Step::Done(CallAnswer::Interrupted)
            }
            Some(Ok(PendingSignals::Own)) => Self::gave_up(job, Errno::EINTR),
            Some(Ok(PendingSignals::Shared)) if job.has_seen_signal => Self::gave_up(job, Errno::EINTR),
            Some(Ok(PendingSignals::Shared)) => {
                job.has_seen_signal = true;
                return;
            }
            Some(Ok(PendingSignals::None)) => {
                job.has_seen_signal = false;
                return;
            }
            Some(Err(_)) | None => return,
        };
        if let Some(job) = self.release(token) {
            self.follow(job, step);
        }
    }

    /// Replied of a call that waits no longer: what it has done, if it has done anything.
    fn gave_up(job: &Job, error: Errno) -> Step {
        match job.call {
            SocketCall::RecvMMsg | SocketCall::SendMMsg if job.done > 0 => Step::value(job.done),
            SocketCall::Connect if error == Errno::EAGAIN => Step::failed(Errno::EINPROGRESS),
            SocketCall::Close => Step::Done(CallAnswer::Continue),
            _ => Step::failed(error),
        }
    }

    /// Tries a call.
    fn step(&mut self, job: &mut Job) -> Result<Step, Errno> {
        match job.call {
            SocketCall::Socket => Ok(Self::socket(job)),
            SocketCall::Exec | SocketCall::ExecAt => Ok(self.exec(job)),
            SocketCall::ExitGroup => Ok(self.exit_group(job)),
            SocketCall::CloseRange => Ok(self.close_range(job)),
            SocketCall::PSelect6 | SocketCall::Select => self.select(job),
            SocketCall::Dup2 | SocketCall::Dup3 => self.duplicate_to(job),
            _ => {
                let Some(pair) = self.processes.pair(job.place(), clock::monotonic()) else {
                    return Ok(Step::Done(CallAnswer::Continue));
                };
                self.step_of_pair(job, &pair)
            }
        }
    }

    fn step_of_pair(&mut self, job: &mut Job, pair: &Rc<OwnedFd>) -> Result<Step, Errno> {
        match job.call {
            SocketCall::Accept | SocketCall::Accept4 => self.accept(job, pair),
            SocketCall::Close => Ok(self.close(job, pair)),
            SocketCall::Dup => self.duplicate(job, pair, self.numbers.start, false),
            SocketCall::Fcntl => self.fcntl(job, pair),
            SocketCall::Ioctl => self.ioctl(job, pair),
            SocketCall::Read | SocketCall::ReadV | SocketCall::RecvFrom | SocketCall::RecvMsg => {
                self.receive(job, pair)
            }
            SocketCall::RecvMMsg => self.receive_several(job, pair),
            SocketCall::Write | SocketCall::WriteV | SocketCall::SendTo | SocketCall::SendMsg => {
                self.send(job, pair)
            }
            SocketCall::SendMMsg => self.send_several(job, pair),
            SocketCall::SendFile => self.send_file(job, pair),
            SocketCall::Bind
            | SocketCall::Connect
            | SocketCall::GetPeerName
            | SocketCall::GetSockName
            | SocketCall::GetSockOpt
            | SocketCall::Listen
            | SocketCall::SetSockOpt
            | SocketCall::Shutdown => self.ask(job, pair),
            SocketCall::Socket
            | SocketCall::Exec
            | SocketCall::ExecAt
            | SocketCall::ExitGroup
            | SocketCall::CloseRange
            | SocketCall::Dup2
            | SocketCall::Dup3
            | SocketCall::PSelect6
            | SocketCall::Select => Ok(Step::Done(CallAnswer::Continue)),
        }
    }

    /// Goes on with a receive of a socket from which nothing can come: its end, or the last message, may have come
    /// since the daemon was asked.
    fn without_a_peer(&mut self, job: &mut Job) -> Result<Step, Errno> {
        let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
        let claim = &mut self.processes.remembered(job.place()).claim;
        match slantpath_door::receive(&pair, claim, &mut [IoSliceMut::new(&mut [0])], true) {
            Err(Errno::EAGAIN) => Err(Errno::ENOTCONN),
            _ => self.step(job),
        }
    }

    /// Goes on with the reply to a request.
    fn replied(&mut self, job: &mut Job, purpose: Purpose, answer: Replied) -> Result<Step, Errno> {
        match purpose {
            Purpose::Call => self.asked(job, answer),
            Purpose::Begin => {
                if let Some(error) = answer.reply.error {
                    return self.not_sent(job, error);
                }
                job.has_begun = true;
                self.step(job)
            }
            Purpose::Defaults => {
                job.defaults = Some(slantpath_door::sndinfo(&answer.reply.value)?);
                self.step(job)
            }
            Purpose::End => Ok(answer.reply.error.map_or_else(|| Step::value(0), Step::failed)),
            Purpose::Listens => {
                if !is_set(&answer.reply) {
                    return Err(Errno::EINVAL);
                }
                self.processes.remembered(job.place()).listens = true;
                self.step(job)
            }
            Purpose::Style => {
                let kind = answer.reply.value.first_chunk().map_or(0, |octets| u32::from_ne_bytes(*octets));
                if kind == SOCK_STREAM {
                    let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                    return Ok(Step::Ask(pair, requests::Request::PeerName, Purpose::Peer));
                }
                let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                Ok(Step::Ask(pair, option_of(SOL_SOCKET, SO_ACCEPTCONN, 4), Purpose::Callers))
            }
            Purpose::Callers => {
                if is_set(&answer.reply) {
                    self.processes.remembered(job.place()).may_come = true;
                    return self.step(job);
                }
                let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                let request = option_of(IPPROTO_SCTP_LEVEL, SCTP_GET_ASSOC_NUMBER, 4);
                Ok(Step::Ask(pair, request, Purpose::Associations))
            }
            Purpose::Associations => {
                if !is_set(&answer.reply) {
                    return self.without_a_peer(job);
                }
                // They may end, so that this holds for this call alone.
                let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                Ok(Step::Come(pair))
            }
            Purpose::Peer => {
                if answer.reply.error.is_some() {
                    return self.without_a_peer(job);
                }
                self.processes.remembered(job.place()).may_come = true;
                self.step(job)
            }
            Purpose::MaySend { target, length } => {
                if let Some(error) = answer.reply.error {
                    return self.not_sent(job, error);
                }
                job.is_checked = true;
                if let Some(streams) = u16::try_from(answer.reply.number).ok().filter(|number| *number > 0) {
                    self.processes.remembered(job.place()).note_possible(target, streams, length);
                }
                self.step(job)
            }
            Purpose::MayEnd => {
                if let Some(error) = answer.reply.error {
                    return self.not_sent(job, error);
                }
                job.is_checked = true;
                self.step(job)
            }
            Purpose::WantsEvents => {
                let sndrcv = answer.reply.value.first().is_some_and(|octet| *octet != 0);
                let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                let request = option_of(IPPROTO_SCTP_LEVEL, SCTP_RECVRCVINFO, 4);
                Ok(Step::Ask(pair, request, Purpose::WantsInfo { sndrcv }))
            }
            Purpose::WantsInfo { sndrcv } => {
                let rcvinfo = is_set(&answer.reply);
                let pair = self.processes.pair(job.place(), clock::monotonic()).ok_or(Errno::EBADF)?;
                let request = option_of(IPPROTO_SCTP_LEVEL, SCTP_RECVNXTINFO, 4);
                Ok(Step::Ask(pair, request, Purpose::WantsNext { sndrcv, rcvinfo }))
            }
            Purpose::WantsNext { sndrcv, rcvinfo } => {
                let nxtinfo = is_set(&answer.reply);
                let wanted = slantpath_door::Wanted { sndrcv, rcvinfo, nxtinfo };
                self.processes.remembered(job.place()).wanted = Some(wanted);
                self.step(job)
            }
        }
    }

    /// True if a call on this socket may wait, by its flags.
    pub(crate) fn may_wait(&self, pair: &Rc<OwnedFd>, is_told_not_to: bool) -> bool {
        if is_told_not_to || !self.seen.flags {
            return !is_told_not_to;
        }
        rustix::fs::fcntl_getfl(pair).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK))
    }

    /// Reads a program's memory whole.
    pub(crate) fn read_memory(job: &Job, address: u64, place: &mut [u8]) -> Result<(), Errno> {
        match Task::read(job.notified.thread, address, place) {
            Ok(length) if length == place.len() => Ok(()),
            _ => Err(Errno::EFAULT),
        }
    }

    /// Reads a number of 32 bits.
    pub(crate) fn read_number(job: &Job, address: u64) -> Result<u32, Errno> {
        let mut octets = [0; 4];
        Self::read_memory(job, address, &mut octets)?;
        Ok(u32::from_ne_bytes(octets))
    }

    /// Writes into a program's memory whole.
    pub(crate) fn write_memory(job: &Job, address: u64, octets: &[u8]) -> Result<(), Errno> {
        match Task::write_pieces(job.notified.thread, &[(address, octets.len())], octets) {
            Ok(length) if length == octets.len() => Ok(()),
            _ => Err(Errno::EFAULT),
        }
    }

    /// Says a line to whoever started the program, once.
    pub(crate) fn say(&mut self, line: &'static str) {
        if self.said.insert(line) {
            let _ = writeln!(io::stderr(), "slantpath: {line}");
        }
    }

    /// True if the call waits still, so that what was read was its own.
    pub(crate) fn is_waiting(&self, job: &Job) -> bool {
        self.listener.is_waiting(job.notified.id)
    }
}

fn is_set(reply: &Reply) -> bool {
    reply.value.first_chunk().is_some_and(|octets| i32::from_ne_bytes(*octets) != 0)
}
