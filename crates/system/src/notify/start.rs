//! Start of a program behind a filter.

use std::ffi::{CStr, CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::{io, iter};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::SigSet;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use super::filter::CallFilter;
use super::listener::Listener;
use crate::failure::{SystemFailure, SystemStep};
use crate::process::{pidfd, send};
use crate::report::{self, Report};

/// Program that is started behind a filter.
#[derive(Debug)]
pub struct NotifiedProgram<'a> {
    /// Program with its arguments and streams. It has the caller's environment.
    pub command: Command,
    /// Calls that are notified.
    pub filter: &'a CallFilter,
    /// Limit of its open files, if another than the caller's.
    pub open_files: Option<u64>,
}

/// Program that was started. It ends when the thread that has started it does.
#[derive(Debug)]
#[non_exhaustive]
pub struct StartedProgram {
    /// Id of its process.
    pub process: u32,
    handle: OwnedFd,
}

impl StartedProgram {
    /// Sends it a signal. One that has ended is left alone.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        match send(&self.handle, number) {
            Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => Ok(()),
            other => other,
        }
    }
}

impl AsFd for StartedProgram {
    /// Descriptor of its process, which can be read once it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// All that is needed between fork and exec, made before.
#[derive(Debug)]
struct Entry {
    parent: Option<Pid>,
    program: Vec<libc::sock_filter>,
    open_files: Option<u64>,
    /// End of the pair by which the listener goes to the parent.
    pair: UnixStream,
    report: Report,
    /// Places at which the program is looked for, in their order.
    places: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

/// Fourth argument of the `execve` by which a program is started; others have none. A filter of that call lets it
/// pass: nobody answers yet.
pub const START_MARK: u32 = 0x51a9_7a01;

/// Starts a program; gives it and the listener of its calls. It and whatever it starts gain no rights by `exec` any
/// more: a set-user-ID program among them runs without its owner's.
///
/// # Errors
/// The step [`SystemStep::Exec`] is the program's own: it is not found, as a rule.
pub fn start(program: NotifiedProgram<'_>) -> Result<(StartedProgram, Listener), SystemFailure> {
    let NotifiedProgram { mut command, filter, open_files } = program;
    let (reports, report) = report::reports().map_err(|error| SystemStep::Fork.failed(error))?;
    let (own, pair) = UnixStream::pair().map_err(|error| SystemStep::Fork.failed(error))?;
    let parent = Some(rustix::process::getpid());
    let words = || iter::once(command.get_program()).chain(command.get_args());
    let words: Result<Vec<CString>, _> = words().map(|word| CString::new(word.as_bytes())).collect();
    let arguments = words.map_err(|error| SystemStep::Exec.failed(error))?;
    let environment =
        std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    let environment: Vec<CString> = environment.filter_map(|word| CString::new(word).ok()).collect();
    let places = places_of(&arguments[0], std::env::var_os("PATH").as_deref().map(OsStr::as_bytes));
    let program_of_filter = filter.program().to_vec();
    let program = program_of_filter;
    let entry = Entry { parent, program, open_files, pair, report, places, arguments, environment };
    #[expect(unsafe_code, reason = "the filter is set between fork and exec")]
    // SAFETY: `enter` makes system calls on values that were made before, and does not lock. What it allocates is for
    // `exec` alone, which the C library permits behind its own fork.
    unsafe {
        command.pre_exec(move || entry.enter());
    }
    let spawned = command.spawn();
    // With it the own ends are closed.
    drop(command);
    let child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let told = reports.read().unwrap_or_default();
            return Err(told.refused.unwrap_or(SystemStep::Exec).failed(error));
        }
    };
    let told = reports.read().unwrap_or_default();
    if let Some(step) = told.refused {
        let mut child = child;
        let _ = child.wait();
        return Err(step.failed(io::Error::from_raw_os_error(told.error.unwrap_or_default())));
    }
    let process = child.id();
    let handle = pidfd(process).map_err(|error| SystemStep::Wait.failed(error));
    let listener = received(&own).and_then(Listener::new).map_err(|error| SystemStep::Listener.failed(error));
    match (handle, listener) {
        (Ok(handle), Ok(listener)) => Ok((StartedProgram { process, handle }, listener)),
        (Err(failure), _) | (_, Err(failure)) => {
            // Its calls would fail one by one.
            let mut child = child;
            let _ = child.kill().and_then(|()| child.wait());
            Err(failure)
        }
    }
}

impl Entry {
    /// Sets the filter, hands its listener over, and becomes the program.
    fn enter(&self) -> io::Result<()> {
        let report = &self.report;
        // Those that the calling process reads by a descriptor would otherwise not reach the program.
        report.step(SystemStep::Signals, SigSet::empty().thread_set_mask())?;
        let dies = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        report.step(SystemStep::ParentDeath, dies)?;
        if rustix::process::getppid() != self.parent {
            // The parent has ended before that.
            return report.step(SystemStep::ParentDeath, Err(Errno::ESRCH));
        }
        if let Some(most) = self.open_files {
            let before = rustix::process::getrlimit(Resource::Nofile);
            let limit = Rlimit { current: Some(most), maximum: before.maximum };
            report.step(SystemStep::OpenFiles, rustix::process::setrlimit(Resource::Nofile, limit))?;
        }
        report.step(SystemStep::NoNewPrivileges, rustix::thread::set_no_new_privs(true))?;
        let listener = report.step(SystemStep::Filter, self.filter())?;
        let result = report
            .step(SystemStep::Listener, handed_over(&self.pair, &listener))
            .and_then(|()| report.step(SystemStep::Exec, self.exec()));
        // From here on its calls are notified, its own end among them, and nobody answers yet.
        let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
        result
    }

    /// Becomes the program, as `execvp` does. It comes back with the reason why it cannot.
    fn exec(&self) -> Result<(), Errno> {
        let mut refused = Errno::ENOENT;
        for place in &self.places {
            let mut error = self.exec_at(place, &self.arguments);
            if error == Errno::ENOEXEC {
                // A script whose first line names no program.
                let script =
                    [SHELL.to_owned(), place.clone()].into_iter().chain(self.arguments[1..].to_vec());
                error = self.exec_at(SHELL, &script.collect::<Vec<_>>());
            }
            match error {
                Errno::ENOENT | Errno::ENOTDIR => {}
                Errno::EACCES => refused = error,
                _ => return Err(error),
            }
        }
        Err(refused)
    }

    fn exec_at(&self, place: &CStr, arguments: &[CString]) -> Errno {
        let pointers = |words: &[CString]| -> Vec<*const libc::c_char> {
            words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, environment) = (pointers(arguments), pointers(&self.environment));
        #[expect(unsafe_code, reason = "no library passes the mark")]
        // SAFETY: The words live until the call returns, if it does, and a null pointer ends each list.
        unsafe {
            libc::syscall(
                libc::SYS_execve,
                place.as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::c_ulong::from(START_MARK),
            );
        }
        Errno::last()
    }

    fn filter(&self) -> io::Result<OwnedFd> {
        let length = u16::try_from(self.program.len()).map_err(|_| Errno::EINVAL)?;
        let program = libc::sock_fprog { len: length, filter: self.program.as_ptr().cast_mut() };
        // A call that has been taken is broken off by a fatal signal alone: what it has done would be done twice.
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The call reads the program, which lives until it returns. It gives a descriptor that nobody owns.
        unsafe {
            let result =
                libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program);
            let number = i32::try_from(Errno::result(result)?).map_err(|_| Errno::EBADF)?;
            Ok(std::os::fd::FromRawFd::from_raw_fd(number))
        }
    }
}

const SHELL: &CStr = c"/bin/sh";
/// Directories of programs where the environment names none.
const USUAL_DIRECTORIES: &[u8] = b"/bin:/usr/bin";

/// Places at which a program of this name is looked for.
fn places_of(name: &CStr, directories: Option<&[u8]>) -> Vec<CString> {
    let name = name.to_bytes();
    let place = |directory: &[u8]| {
        let parts: &[&[u8]] = if directory.is_empty() { &[name] } else { &[directory, b"/", name] };
        CString::new(parts.concat()).ok()
    };
    if name.contains(&b'/') {
        return place(b"").into_iter().collect();
    }
    directories.unwrap_or(USUAL_DIRECTORIES).split(|octet| *octet == b':').filter_map(place).collect()
}

fn handed_over(pair: &UnixStream, descriptor: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor.as_fd()];
    control.push(SendAncillaryMessage::ScmRights(&descriptors));
    rustix::net::sendmsg(pair, &[io::IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn received(pair: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut octet = [0];
    let place = &mut [io::IoSliceMut::new(&mut octet)];
    rustix::net::recvmsg(pair, place, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::time::Duration;

    use super::super::{CallAnswer, CallTest, NotifiedCall, Task};
    use super::*;
    use crate::poll::Poll;

    /// Runs a program of which each call of `uname` and `umask` is answered so, and gives its exit status.
    fn with_calls(script: &str, mut answer: impl FnMut(&Listener, NotifiedCall)) -> i32 {
        let filter = CallFilter::new(
            [libc::SYS_uname, libc::SYS_umask]
                .map(|number| (u32::try_from(number).unwrap(), vec![CallTest::Always])),
        );
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
        let (started, mut listener) =
            start(NotifiedProgram { command, filter: &filter, open_files: Some(200) }).unwrap();
        let mut poll = Poll::new().unwrap();
        poll.add(&started, 0).unwrap();
        poll.add(&listener, 1).unwrap();
        loop {
            let ready = poll.wait(Some(Duration::from_secs(20))).unwrap();
            assert!(!ready.is_empty(), "it neither calls nor ends");
            if ready.contains(&0) {
                let id = i32::try_from(started.process).unwrap();
                let (_, status) =
                    rustix::process::waitpid(Pid::from_raw(id), rustix::process::WaitOptions::empty())
                        .unwrap()
                        .unwrap();
                return status.as_raw();
            }
            if let Some(call) = listener.receive().unwrap() {
                answer(&listener, call);
            }
        }
    }

    #[test]
    fn a_program_is_looked_for_as_a_shell_looks_for_it() {
        let told = |name: &CStr, directories: Option<&[u8]>| -> Vec<String> {
            places_of(name, directories).into_iter().map(|place| place.into_string().unwrap()).collect()
        };
        assert_eq!(told(c"./x", Some(b"/a")), ["./x"]);
        assert_eq!(told(c"x", Some(b"/a::/b/")), ["/a/x", "x", "/b//x"]);
        assert_eq!(told(c"x", None), ["/bin/x", "/usr/bin/x"]);
    }

    #[test]
    fn calls_are_answered_or_run_as_they_are() {
        let mut calls = 0;
        let status = with_calls("uname && exit 3", |listener, call| {
            calls += 1;
            assert!(listener.is_waiting(call.id) && !listener.is_waiting(call.id + 1));
            assert!(listener.answer(call.id, CallAnswer::Continue).unwrap());
            assert!(!listener.answer(call.id, CallAnswer::Continue).unwrap(), "it has had its answer");
        });
        assert_eq!((status >> 8, calls), (3, 1));
        let refused = |listener: &Listener, call: NotifiedCall| {
            listener.answer(call.id, CallAnswer::Failed(1)).unwrap();
        };
        assert_eq!(with_calls("uname || exit $(ulimit -n)", refused) >> 8, 200);
    }

    #[test]
    fn a_descriptor_is_put_at_its_number() {
        let (reader, writer) = io::pipe().unwrap();
        let status = with_calls("umask 22; echo told >/proc/self/fd/150", |listener, call| {
            let task = Task::of_thread(call.thread).unwrap();
            assert!(listener.put_descriptor(call.id, &writer, 150, false, false).unwrap());
            task.descriptor(150).unwrap();
            let error = listener.put_descriptor(call.id, &writer, 200, false, false).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::EBADF as i32), "beyond its limit");
            listener.answer(call.id, CallAnswer::Value(0)).unwrap();
        });
        assert_eq!(status, 0);
        drop(writer);
        assert_eq!(io::read_to_string(reader).unwrap(), "told\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_told_as_its_own_fault() {
        // Its own end is notified, too.
        let end = u32::try_from(libc::SYS_exit_group).unwrap();
        let filter = CallFilter::new([(end, vec![CallTest::Always])]);
        let command = Command::new("/nonexistent/program");
        let failure = start(NotifiedProgram { command, filter: &filter, open_files: None }).unwrap_err();
        assert_eq!(failure.step, SystemStep::Exec);
        assert_eq!(failure.source.kind(), io::ErrorKind::NotFound);
        let command = Command::new("/bin/true");
        let failure =
            start(NotifiedProgram { command, filter: &filter, open_files: Some(u64::MAX - 1) }).unwrap_err();
        assert_eq!(failure.step, SystemStep::OpenFiles);
    }
}
