//! The program starts itself anew, as process 1 of namespaces of its own.
//!
//! Three processes: the caller waits; one in the middle waits, since a process does not enter the PID namespace that it
//! makes; the inner one is the program anew. Each ends when its parent does, whatever ended that, and with the
//! inner one all of its namespace ends.

mod middle;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};

use rustix::event::{PollFd, PollFlags};
use rustix::thread::CapabilitySet;

use crate::failure::{SystemFailure, SystemStep};
use crate::identity::IdentityMaps;
use crate::network::{self, NetNamespace};
use crate::process::{pidfd, send};
use crate::report;
use crate::signals::{Signal, Signals};
use middle::Middle;

/// Signals that end a program, and are passed on.
const FORWARDED: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];
/// Rights without which a network can be made in a user namespace alone.
const NEEDED: CapabilitySet =
    CapabilitySet::SYS_ADMIN.union(CapabilitySet::NET_ADMIN).union(CapabilitySet::NET_RAW);
/// Exit code of a program that a signal has ended, less the signal.
const SIGNALLED: u8 = 128;

/// Starts this program anew with its arguments, in network, mount, PID and IPC namespaces of its own, and waits for its
/// end. It gives the exit code: 128 and the number of the signal if one has ended it.
///
/// A caller who may not do that is given a user namespace as well, in which it is root. In the new program
/// the variable `marker` is set, and [`entered`] tells from where it came. It is process 1: it receives signals only if
/// it has a handler or [`Signals`], and [`crate::process::wait_any`] has to be asked for orphans.
///
/// Signals that end a program are passed on, but for those of the terminal, which reach all processes there themselves.
/// One that is sent to the whole process group comes twice. The calling thread waits, and the program ends with it.
pub fn reenter(marker: &str) -> Result<u8, SystemFailure> {
    let failed = |error| SystemStep::OwnProgram.failed(error);
    let mut arguments = own_arguments().map_err(failed)?.into_iter();
    let network = own_network().map_err(failed)?;
    let maps = needs_user_namespace().map_err(failed)?.then(|| IdentityMaps::of_caller(0, 0));
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let processes = File::open("/proc").and_then(beside_the_streams).map_err(failed)?;
    let origin = format!("{} {uid} {gid} {}", network.as_raw_fd(), processes.as_raw_fd());
    let signals = Signals::open(&FORWARDED).map_err(|error| SystemStep::Signals.failed(error))?;
    let (reports, report) = report::reports().map_err(|error| SystemStep::Fork.failed(error))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(arguments.next().unwrap_or_default()).args(arguments);
    command.env(marker, "1").env(origin_variable(marker), origin);
    let mask = signals.before();
    let handed = [network, processes];
    let middle = Middle { parent: rustix::process::getpid(), maps, handed, mask, report };
    #[expect(unsafe_code, reason = "namespaces are made between fork and exec")]
    // SAFETY: `divide` makes system calls alone, on values that were made before: it neither allocates nor locks. In
    // the process in the middle it does not return.
    unsafe {
        command.pre_exec(move || middle.divide());
    }
    let spawned = command.spawn();
    // With it the own end of the reports is closed.
    drop(command);
    let told = reports.read().unwrap_or_default();
    let mut child = spawned.map_err(|error| told.refused.unwrap_or(SystemStep::Exec).failed(error))?;
    let inner = told.process.and_then(|pid| pidfd(pid.unsigned_abs()).ok());
    let status = forward(&signals, &mut child, inner.as_ref()).inspect_err(|_| {
        // With the process in the middle all others end. It may have ended by itself.
        let _ = child.kill();
    });
    let status = status.and_then(|()| child.wait()).map_err(|error| SystemStep::Wait.failed(error))?;
    Ok(code(status))
}

/// Entered of a program that [`reenter`] has started.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entered {
    /// Network namespace of the caller.
    pub network: NetNamespace,
    /// Id of the caller's user, as the caller sees it.
    pub uid: u32,
    /// Id of the caller's group, as the caller sees it.
    pub gid: u32,
    /// Directory of processes as the caller sees them.
    pub processes: File,
}

/// Tells from where the program came, if [`reenter`] with this marker has started it.
pub fn entered(marker: &str) -> io::Result<Option<Entered>> {
    if env::var_os(marker).is_none() {
        return Ok(None);
    }
    let invalid = |told: String| io::Error::new(io::ErrorKind::InvalidInput, told);
    if std::process::id() != 1 {
        return Err(invalid(format!("{marker} is set, and this is no process 1: unset it")));
    }
    let variable = origin_variable(marker);
    let value = env::var(&variable).unwrap_or_default();
    let [descriptor, uid, gid, processes] = origin(&value).ok_or_else(|| {
        invalid(format!("{variable}={value}: a descriptor, a user, a group and a descriptor are right"))
    })?;
    // Opened anew, so that whoever asks twice has two. Programs are not given the first.
    let network = NetNamespace::open(format!("/proc/self/fd/{descriptor}"))?;
    let processes = File::open(format!("/proc/self/fd/{processes}"))?;
    Ok(Some(Entered { network, uid, gid, processes }))
}

/// Variables that [`reenter`] has set, for whoever does not want to hand them on.
pub fn variables(marker: &str) -> [String; 2] {
    [marker.to_owned(), origin_variable(marker)]
}

fn origin_variable(marker: &str) -> String {
    format!("{marker}_ORIGIN")
}

fn origin(value: &str) -> Option<[u32; 4]> {
    let numbers: Option<Vec<u32>> = value.split(' ').map(|number| number.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// Command that starts this program anew, as far as it was named before this subcommand of its own: behind an
/// interpreter stands what that runs. `None` if it was not started by that subcommand.
pub fn own_command(subcommand: &str) -> io::Result<Option<Command>> {
    Ok(before(&own_arguments()?, subcommand).map(|(own, others)| {
        let mut command = Command::new("/proc/self/exe");
        command.arg0(own).args(others);
        command
    }))
}

/// The first word of a command, and those between it and its subcommand.
fn before<'a>(words: &'a [OsString], subcommand: &str) -> Option<(&'a OsString, &'a [OsString])> {
    let (own, others) = words.split_first()?;
    let place = others.iter().position(|word| word == subcommand)?;
    Some((own, &others[..place]))
}

fn own_arguments() -> io::Result<Vec<OsString>> {
    Ok(arguments(&std::fs::read("/proc/self/cmdline")?))
}

/// Arguments, each of which ends with a zero byte.
fn arguments(octets: &[u8]) -> Vec<OsString> {
    let octets = octets.strip_suffix(b"\0").unwrap_or(octets);
    octets.split(|&octet| octet == 0).map(|argument| OsStr::from_bytes(argument).to_owned()).collect()
}

/// Descriptor of the own network namespace, beside the standard streams.
fn own_network() -> io::Result<OwnedFd> {
    beside_the_streams(File::open(network::OWN)?)
}

/// A descriptor of the file that is none of the standard streams'.
#[expect(clippy::needless_pass_by_value, reason = "the file is closed")]
fn beside_the_streams(file: File) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(file.as_fd(), 3)?)
}

fn needs_user_namespace() -> io::Result<bool> {
    Ok(!rustix::thread::capabilities(None)?.effective.contains(NEEDED))
}

/// Passes signals on to the inner process, until the child has ended.
fn forward(signals: &Signals, child: &mut Child, inner: Option<&OwnedFd>) -> io::Result<()> {
    let child = pidfd(child.id())?;
    loop {
        let mut ready = [PollFd::new(&child, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        match rustix::event::poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let has_ended = !ready[0].revents().is_empty();
        while let Some(signal) = signals.read()? {
            if let Some(inner) = inner.filter(|_| signal.is_from_program) {
                // It may have ended just now.
                let _ = send(inner, signal.number);
            }
        }
        if has_ended {
            return Ok(());
        }
    }
}

/// Exit code as a shell tells it.
fn code(status: ExitStatus) -> u8 {
    let signalled =
        |signal: i32| u8::try_from(signal).map_or(u8::MAX, |signal| SIGNALLED.saturating_add(signal));
    let exited = status.code().map(|code| u8::try_from(code).unwrap_or(u8::MAX));
    exited.or_else(|| status.signal().map(signalled)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_four_numbers() {
        assert_eq!(origin("3 1000 100 4"), Some([3, 1_000, 100, 4]));
        for value in
            ["", "3", "3 1000 100", "3 1000 100 4 1", "3 1000 100 x", "-3 1000 100 4", "3  1000 100 4"]
        {
            assert_eq!(origin(value), None, "{value}");
        }
    }

    #[test]
    fn arguments_end_with_a_zero_byte_each() {
        for (octets, expected) in
            [(&b"a\0b c\0"[..], &["a", "b c"][..]), (b"a\0\0", &["a", ""]), (b"a", &["a"]), (b"", &[""])]
        {
            assert_eq!(arguments(octets), expected);
        }
    }

    #[test]
    fn a_command_is_named_by_all_that_stands_before_its_subcommand() {
        for (line, expected) in [
            ("slantpath sctp -- sctp", Some("slantpath")),
            ("python3 -m slantpath sctp --udp", Some("python3 -m slantpath")),
            ("sctp bin/slantpath sctp", Some("sctp bin/slantpath")),
            ("python3 -c main()", None),
            ("sctp", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found =
                before(&words, "sctp").map(|(own, others)| [std::slice::from_ref(own), others].concat());
            let expected = expected.map(|named| named.split(' ').map(OsString::from).collect());
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn an_exit_code_is_that_of_a_shell() {
        for (raw, expected) in [(0, 0), (7 << 8, 7), (255 << 8, 255), (9, 137), (15, 143)] {
            assert_eq!(code(ExitStatus::from_raw(raw)), expected);
        }
    }

    #[test]
    fn a_program_that_was_not_started_anew_has_no_origin() {
        assert!(entered("SLANTPATH_SYSTEM_TEST_NOT_SET").unwrap().is_none());
    }
}
