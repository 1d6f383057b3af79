//! A program from its start to its end.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, WaitId, WaitIdOptions};
use slantpath_system::clock;
use slantpath_system::notify::{self, CallFilter, NotifiedProgram, StartedProgram};
use slantpath_system::poll::Poll;
use slantpath_system::process::wait_any;
use slantpath_system::signals::{Signal, Signals};
use slantpath_system::{SystemFailure, SystemStep};

use crate::calls;
use crate::notifier::Notifier;
use crate::range;

/// Signals that are passed on to the program.
const FORWARDED: [Signal; 7] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGCHLD,
];
/// Exit code of a program that a signal has ended, less the signal.
const SIGNALLED: u8 = 128;

/// Time that other processes have to end once the program has: they see the ends of their sockets in it.
const GRACE: Duration = Duration::from_secs(2);

const PROGRAM: u64 = 0;
const SIGNALS: u64 = 1;

/// Reason for which a program is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotifierFailure {
    /// The machine is of another kind.
    #[error("calls of static programs are answered on x86-64 and aarch64 alone")]
    Architecture,
    /// The variable of the daemon is not set.
    #[error("{} is not set: the command `slantpath sctp` sets it", slantpath_door::DAEMON)]
    Daemon,
    /// There are too few numbers of descriptors.
    #[error("the limit of open files has no room for SCTP's descriptors: raise it (`ulimit -n 4096`)")]
    Files,
    /// The kernel has no notifications, or somebody forbids them.
    #[error(
        "{0}: notified calls need Linux 5.19 with seccomp, and a container that allows it; a program of glibc takes \
         `--door preload`"
    )]
    Filter(SystemFailure),
    /// The program was not started.
    #[error("{0}")]
    Start(SystemFailure),
    /// The system has failed in the midst of it.
    #[error("cannot serve the program: {0}")]
    System(#[from] io::Error),
}

/// Starts a program, answers its calls on SCTP sockets until it ends, and gives its exit code: 128 and the number of
/// the signal if one has ended it. The variable [`slantpath_door::DAEMON`] says where the daemon is. Signals that end
/// programs are passed on; the calling thread is to be its process's only one, and the program ends with it.
///
/// # Errors
/// If the program cannot be started so.
pub fn serve(program: &OsStr, arguments: &[OsString]) -> Result<u8, NotifierFailure> {
    if !CallFilter::IS_KNOWN {
        return Err(NotifierFailure::Architecture);
    }
    let daemon = env::var_os(slantpath_door::DAEMON).ok_or(NotifierFailure::Daemon)?;
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let range = range::choose(limit.current, limit.maximum).ok_or(NotifierFailure::Files)?;
    // Whatever is left by its parent stays a descendant, whose memory may be read.
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own)).map_err(io::Error::from)?;
    let signals = Signals::open(&FORWARDED)?;
    let filter = calls::filter(&range.numbers);
    let mut command = Command::new(program);
    command.args(arguments);
    let started = notify::start(NotifiedProgram { command, filter: &filter, open_files: range.limit });
    let (program, listener) = started.map_err(refused)?;
    // Copies of descriptors of all programs are this process's own.
    let _ = rustix::process::setrlimit(
        Resource::Nofile,
        Rlimit { current: limit.maximum, maximum: limit.maximum },
    );
    let poll = Poll::new()?;
    poll.add(&program, PROGRAM)?;
    poll.add(&signals, SIGNALS)?;
    let mut notifier = Notifier::new(listener, poll, range.numbers, daemon.as_bytes().to_vec());
    let mut ended: Option<(u8, Duration)> = None;
    loop {
        let told = notifier.turn(ended.is_some())?;
        if told.contains(&SIGNALS) {
            pass_on(&signals, &program)?;
        }
        // One that has ended is told of by its descriptor, or by SIGCHLD.
        while !told.is_empty()
            && let Some((process, status)) = wait_any()?
        {
            if process == program.process {
                notifier.wait_no_more(&program)?;
                ended = Some((code(status), clock::monotonic() + GRACE));
            }
        }
        // Without a process behind the filter, the listener is at its end, and nobody is left to be waited for.
        if let Some((code, until)) = ended
            && (clock::monotonic() >= until || has_no_child())
        {
            return Ok(code);
        }
    }
}

fn has_no_child() -> bool {
    let options = WaitIdOptions::NOHANG | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, options).is_err_and(|errno| errno == rustix::io::Errno::CHILD)
}

/// Passes signals on. Those of the terminal reach the program by themselves.
fn pass_on(signals: &Signals, program: &StartedProgram) -> io::Result<()> {
    while let Some(signal) = signals.read()? {
        if signal.is_from_program && signal.number != Signal::SIGCHLD as i32 {
            program.signal(signal.number)?;
        }
    }
    Ok(())
}

fn refused(failure: SystemFailure) -> NotifierFailure {
    match failure.step {
        SystemStep::Filter | SystemStep::Listener | SystemStep::NoNewPrivileges => {
            NotifierFailure::Filter(failure)
        }
        _ => NotifierFailure::Start(failure),
    }
}

/// Exit code as a shell tells it.
fn code(status: ExitStatus) -> u8 {
    let signalled =
        |signal: i32| u8::try_from(signal).map_or(u8::MAX, |signal| SIGNALLED.saturating_add(signal));
    let exited = status.code().map(|code| u8::try_from(code).unwrap_or(u8::MAX));
    exited.or_else(|| status.signal().map(signalled)).unwrap_or(u8::MAX)
}
