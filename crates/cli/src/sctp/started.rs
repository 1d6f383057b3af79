//! The program that is served: started with its door, told of signals, and asked for its exit status.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use slantpath_system::reentry;
use slantpath_system::signals::Signals;

use super::executable::Executable;
use super::library::Library;
use super::serving::say;
use crate::arguments::Door;
use crate::failure::Failure;

/// Variable by which a door knows where the daemon is.
pub(super) const DAEMON: &str = "SLANTPATH_SCTP";
const PRELOAD: &str = "LD_PRELOAD";
/// Exit code of a program that a signal has ended, less the signal.
const SIGNALLED: i32 = 128;

/// Program that runs.
#[derive(Debug)]
pub(super) struct Started {
    child: Child,
    /// Descriptor of its process.
    handle: OwnedFd,
    /// True if the child is the notifier, whose child is the program.
    is_behind_notifier: bool,
    /// File that its door needs.
    _library: Option<Library>,
}

impl Started {
    /// Starts a program whose door knows the daemon by this name.
    pub(super) fn start(
        line: &[OsString],
        executable: &Executable,
        daemon: &str,
        signals: &Signals,
    ) -> Result<Self, Failure> {
        let Some((program, arguments)) = line.split_first() else {
            return Err(Failure::Misused("name a program behind `--`".to_owned()));
        };
        let mut command;
        let mut library = None;
        match executable.door {
            Door::Preload => {
                let written = written_library()?;
                command = Command::new(program);
                command.args(arguments).env(PRELOAD, in_front(&written));
                library = Some(written);
            }
            Door::Notify => {
                // Processes that a killed notifier leaves are ended here.
                let _ = slantpath_system::process::adopt_orphans();
                let own = reentry::own_command("sctp").map_err(|error| Failure::Failed(error.to_string()))?;
                command = own.ok_or_else(|| {
                    Failure::Failed(
                        "--door notify needs a process of its own: start `slantpath sctp` as one".to_owned(),
                    )
                })?;
                command.arg("sctp-notifier").arg("--").args(line);
            }
        }
        command.env(DAEMON, daemon);
        let started = signals.let_through(|| command.spawn()).and_then(|started| started);
        let is_behind_notifier = executable.door == Door::Notify;
        let child = started
            .map_err(|error| Failure::Failed(format!("cannot start `{}`: {error}", program.display())))?;
        let handle = slantpath_system::process::handle_of(&child);
        let handle = handle.map_err(|error| Failure::Failed(format!("waiting for the program: {error}")))?;
        Ok(Self { child, handle, is_behind_notifier, _library: library })
    }

    /// Sends the program a signal.
    pub(super) fn signal(&self, number: i32) {
        let (Ok(signal), Ok(id)) = (Signal::try_from(number), i32::try_from(self.child.id())) else { return };
        // The number is its own until it has been waited for. One that has ended hears nothing.
        let sent = kill(Pid::from_raw(id), signal);
        debug_assert!(matches!(sent, Ok(()) | Err(Errno::ESRCH | Errno::EPERM)), "{sent:?}");
    }

    /// Exit code of the program as a shell tells it, if it has ended.
    pub(super) fn ended(&mut self) -> io::Result<Option<u8>> {
        Ok(self.child.try_wait()?.map(|status| {
            // A program that a signal has ended is told by the notifier's exit code.
            if let Some(signal) = status.signal().filter(|_| self.is_behind_notifier) {
                let _ = slantpath_system::process::end_children();
                say(&format!(
                    "signal {signal} has ended the notifier of --door notify, which answers the program's calls: the \
                     program was ended with it"
                ));
            }
            let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
            code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }))
    }
}

impl AsFd for Started {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Writes the library out that this program carries.
pub(super) fn written_library() -> Result<Library, Failure> {
    let bytes = slantpath_carried::PRELOAD;
    if bytes.is_empty() {
        return Err(Failure::Failed(
            "this slantpath carries no library for programs of glibc: it was built for another system; --door notify \
             needs none"
                .to_owned(),
        ));
    }
    Library::write(bytes).map_err(|error| Failure::Failed(format!("the library of --door preload: {error}")))
}

/// The library in front of others that stand in front of the C library already.
fn in_front(library: &Library) -> OsString {
    let mut all = library.path().as_os_str().to_owned();
    if let Some(others) = std::env::var_os(PRELOAD).filter(|others| !others.is_empty()) {
        all.push(OsStr::new(":"));
        all.push(others);
    }
    all
}
