//! Programs within a network, and the ends of processes.

mod enter;

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use nix::unistd::Pid;
use rustix::process::{PidfdFlags, WaitOptions};

use crate::failure::{SystemFailure, SystemStep};
use crate::network::NetNamespace;
use crate::report;
use crate::signals::Signal;
use enter::Entry;

/// Program to be run within a network.
#[derive(Clone, Debug)]
pub struct NetworkProgram<'a> {
    /// Program with its arguments, or a line for the shell.
    pub command: ProgramCommand,
    /// Network namespace that it sees.
    pub network: &'a NetNamespace,
    /// Ids and rights that it has.
    pub identity: Identity,
    /// Content of its `/etc/hosts`, beside which it has no name servers; without it, it sees the machine's.
    pub hosts: Option<&'a str>,
    /// Variables that are set, or taken away if they have no value, in the environment of the calling process.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Source of its standard input.
    pub stdin: StandardStream,
    /// Destination of its standard output.
    pub stdout: StandardStream,
    /// Destination of its standard error.
    pub stderr: StandardStream,
    /// Puts it and what it starts into a process group of their own, which [`Running::signal`] then reaches. Ctrl-C
    /// does not reach it, and it cannot read from the terminal.
    pub has_own_group: bool,
}

/// Command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramCommand {
    /// Program, which is looked for in `PATH` unless it has a slash, and its arguments.
    Line(Vec<OsString>),
    /// Text for `sh -c`.
    Shell(OsString),
}

/// Ids and rights of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Shown to itself as this user and group, in a user namespace of its own: it has no power over the network.
    Caller {
        /// Id of the user.
        uid: u32,
        /// Id of the group.
        gid: u32,
    },
    /// All rights that the calling process has, as `ip` and `tcpdump` need them.
    NamespaceRoot,
}

/// Source or destination of a program's standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Stream of the calling process.
    Inherit,
    /// Nothing: `/dev/null`.
    Null,
    /// A pipe to the calling process.
    Pipe,
}

impl StandardStream {
    fn of_command(self) -> Stdio {
        match self {
            Self::Inherit => Stdio::inherit(),
            Self::Null => Stdio::null(),
            Self::Pipe => Stdio::piped(),
        }
    }
}

/// Program that was started. It runs on when this is dropped; [`wait_any`] tells that it has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Running {
    /// Id of its process in the namespace of the calling process.
    pub pid: u32,
    /// Standard input, if that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Standard output, if that is a pipe.
    pub stdout: Option<ChildStdout>,
    /// Standard error, if that is a pipe.
    pub stderr: Option<ChildStderr>,
    handle: OwnedFd,
    has_own_group: bool,
}

impl NetworkProgram<'_> {
    /// Starts it. An error with the step [`SystemStep::Exec`] is the program's own: it is not found, as a rule.
    pub fn spawn(&self) -> Result<Running, SystemFailure> {
        let (mut command, name) = self.command()?;
        let (reports, report) = report::reports().map_err(|error| SystemStep::Exec.failed(error))?;
        let entry = Entry::prepare(self.network, self.identity, self.hosts)
            .map_err(|error| SystemStep::NetworkNamespace.failed(error))?;
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .stdin(self.stdin.of_command())
            .stdout(self.stdout.of_command())
            .stderr(self.stderr.of_command());
        if self.has_own_group {
            command.process_group(0);
        }
        #[expect(unsafe_code, reason = "namespaces are entered between fork and exec")]
        // SAFETY: `enter` makes system calls alone, on values that were made before: it neither allocates nor locks.
        unsafe {
            command.pre_exec(move || entry.enter(&report));
        }
        let spawned = command.spawn();
        // With it the own end of the reports is closed.
        drop(command);
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                let told = reports.read().unwrap_or_default();
                let step = told.refused.unwrap_or(SystemStep::Exec);
                return Err(step.failed(if step == SystemStep::Exec {
                    self.not_started(&name, &error)
                } else {
                    error
                }));
            }
        };
        let pid = child.id();
        let handle = pidfd(pid).map_err(|error| {
            // Nobody could wait for it: it is not to run.
            let _ = child.kill().and_then(|()| child.wait());
            SystemStep::Wait.failed(error)
        })?;
        let has_own_group = self.has_own_group;
        let (stdin, stdout, stderr) = (child.stdin, child.stdout, child.stderr);
        Ok(Running { pid, stdin, stdout, stderr, handle, has_own_group })
    }

    /// The reason that a program was not started, with its name.
    fn not_started(&self, name: &OsStr, error: &io::Error) -> io::Error {
        let set = self.environment.iter().rev().find(|(variable, _)| variable == "PATH");
        let path = set.map_or_else(|| env::var_os("PATH"), |(_, value)| value.clone()).unwrap_or_default();
        // A directory that the caller cannot read would otherwise have it say that permission is denied.
        let is_sought = !name.as_bytes().contains(&b'/');
        if is_sought && !env::split_paths(&path).any(|directory| directory.join(name).exists()) {
            let told = format!("`{}` is in no directory of PATH", name.display());
            return io::Error::new(io::ErrorKind::NotFound, told);
        }
        io::Error::new(error.kind(), format!("`{}`: {error}", name.display()))
    }

    /// The command without its surroundings, and the name of its program.
    fn command(&self) -> Result<(Command, OsString), SystemFailure> {
        match &self.command {
            ProgramCommand::Line(line) => {
                let Some((program, arguments)) = line.split_first() else {
                    let error = io::Error::new(io::ErrorKind::InvalidInput, "the command line is empty");
                    return Err(SystemStep::Exec.failed(error));
                };
                let mut command = Command::new(program);
                command.args(arguments);
                Ok((command, program.clone()))
            }
            ProgramCommand::Shell(text) => {
                let mut command = Command::new("sh");
                command.arg("-c").arg(text);
                Ok((command, "sh".into()))
            }
        }
    }
}

impl Running {
    /// Sends it a signal, and the processes that it has started if it has a group of its own. One that has ended is
    /// left alone.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let result = if self.has_own_group {
            // The number of a group stays taken while a process is in it.
            let group = i32::try_from(self.pid).map_err(|_| io::ErrorKind::InvalidInput)?;
            nix::sys::signal::killpg(Pid::from_raw(group), signal).map_err(io::Error::from)
        } else {
            send(&self.handle, signal as i32)
        };
        match result {
            Err(error) if error.raw_os_error() == Some(nix::errno::Errno::ESRCH as i32) => Ok(()),
            other => other,
        }
    }
}

impl AsFd for Running {
    /// Descriptor of its process, which can be read once it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// Tells of a child of the calling process that has ended, if one has, by its id. Process 1 of a namespace is the
/// parent of all processes there whose own has ended, and they stay until they are asked for.
pub fn wait_any() -> io::Result<Option<(u32, ExitStatus)>> {
    match rustix::process::wait(WaitOptions::NOHANG) {
        Ok(ended) => Ok(ended
            .map(|(pid, status)| (pid.as_raw_pid().unsigned_abs(), ExitStatus::from_raw(status.as_raw())))),
        Err(rustix::io::Errno::CHILD) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Tells if a program's file gives whoever starts it capabilities: the loader then hears of no library before others.
pub fn has_capabilities(program: &Path) -> bool {
    rustix::fs::getxattr(program, "security.capability", &mut [0_u8; 64][..]).is_ok()
}

/// Id of the user whose rights the calling process has.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Descriptor of a child of the calling process, which can be read once it has ended.
pub fn handle_of(child: &Child) -> io::Result<OwnedFd> {
    pidfd(child.id())
}

/// Descriptor of a process.
pub(crate) fn pidfd(pid: u32) -> io::Result<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::pidfd_open(pid, PidfdFlags::empty())?)
}

/// Sends a signal to the process of a descriptor.
pub(crate) fn send(process: &OwnedFd, number: i32) -> io::Result<()> {
    let signal = rustix::process::Signal::from_named_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::pidfd_send_signal(process, signal)?)
}

/// Has processes whose own parent has ended become children of this one, instead of process 1's.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Ids of all children of the calling process, of which some may have ended.
///
/// # Errors
/// If `/proc` does not say.
pub fn children() -> io::Result<Vec<u32>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir("/proc/self/task")? {
        let listed = match std::fs::read_to_string(task?.path().join("children")) {
            // A thread has ended meanwhile, and another of the process has its children.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            listed => listed?,
        };
        children.extend(listed.split_whitespace().filter_map(|number| number.parse::<u32>().ok()));
    }
    Ok(children)
}

/// Kills all children of the calling process, and those that they leave to it, and waits for them; gives their number.
pub fn end_children() -> io::Result<usize> {
    let mut ended = 0;
    loop {
        let children = children()?.into_iter().filter_map(|pid| i32::try_from(pid).ok());
        let children: Vec<_> = children.filter_map(rustix::process::Pid::from_raw).collect();
        if children.is_empty() {
            return Ok(ended);
        }
        for child in children {
            // Nobody else waits for it: its number stays its own.
            let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            rustix::process::waitpid(Some(child), WaitOptions::empty())?;
            ended += 1;
        }
    }
}
