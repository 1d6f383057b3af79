//! Between `fork` and `exec` of the program that is started anew: its namespaces, and the process in the middle.

use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::FdFlags;
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::SIGNALLED;
use crate::descriptors;
use crate::failure::SystemStep;
use crate::identity::IdentityMaps;
use crate::report::Report;

/// All that is needed, made before the fork.
#[derive(Debug)]
pub(super) struct Middle {
    /// Process that has forked this one.
    pub(super) parent: Pid,
    /// Maps of a user namespace, if there is to be one.
    pub(super) maps: Option<IdentityMaps>,
    /// Network namespace and directory of processes that the inner process is handed.
    pub(super) handed: [OwnedFd; 2],
    /// Mask of signals that the inner process has.
    pub(super) mask: SigSet,
    pub(super) report: Report,
}

impl Middle {
    /// Makes the namespaces and a process in them, in which alone it returns. It allocates nothing.
    pub(super) fn divide(&self) -> io::Result<()> {
        let report = &self.report;
        if let Some(maps) = &self.maps {
            report.step(SystemStep::UserNamespace, unshare(CloneFlags::CLONE_NEWUSER))?;
            maps.write(report)?;
        }
        // One by one, so that a refusal names its namespace.
        for (step, namespace) in [
            (SystemStep::NetworkNamespace, CloneFlags::CLONE_NEWNET),
            (SystemStep::MountNamespace, CloneFlags::CLONE_NEWNS),
            (SystemStep::IpcNamespace, CloneFlags::CLONE_NEWIPC),
            (SystemStep::PidNamespace, CloneFlags::CLONE_NEWPID),
        ] {
            report.step(step, unshare(namespace))?;
        }
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        report.step(SystemStep::Propagation, rustix::mount::mount_change(c"/", private))?;
        // Behind the user namespace: with new rights the kernel forgets it.
        report.step(SystemStep::ParentDeath, end_with_parent())?;
        if rustix::process::getppid() != Some(self.parent) {
            // The parent has ended before that: nobody waits for this process.
            return report.step(SystemStep::ParentDeath, Err(Errno::ESRCH));
        }
        let middle = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty());
        let middle = report.step(SystemStep::ParentDeath, middle)?;
        match report.step(SystemStep::Fork, fork())? {
            Some(inner) => {
                let told = report.process(inner.as_raw_pid());
                wait(inner, told.is_ok())
            }
            None => self.be_inner(&middle),
        }
    }

    /// Makes the inner process ready for its program.
    fn be_inner(&self, middle: &OwnedFd) -> io::Result<()> {
        let report = &self.report;
        report.step(SystemStep::ParentDeath, end_with_parent())?;
        if has_ended(middle) {
            return report.step(SystemStep::ParentDeath, Err(Errno::ESRCH));
        }
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        // Refused where a part of the present one is hidden, as in a container; that one shows more processes.
        let _ = rustix::mount::mount(c"proc", c"/proc", c"proc", flags, None);
        for handed in &self.handed {
            report.step(SystemStep::Descriptors, rustix::io::fcntl_setfd(handed, FdFlags::empty()))?;
        }
        report.step(SystemStep::Signals, self.mask.thread_set_mask())
    }
}

/// Waits for the inner process, and ends as it did.
fn wait(inner: Pid, is_told: bool) -> ! {
    if !is_told {
        // Its parent is gone, or cannot pass signals on: it ends as if it were killed.
        let _ = rustix::process::kill_process(inner, Signal::KILL);
    }
    // A signal of the terminal is for the inner process, which decides about its end.
    let _ = SigSet::all().thread_set_mask();
    #[expect(unsafe_code, reason = "descriptors that the parent and the inner process have, too")]
    // SAFETY: Nothing that owns a descriptor is used or dropped from here on: the process ends by `_exit`.
    let _ = unsafe { descriptors::close_all() };
    let code = loop {
        match rustix::process::waitpid(Some(inner), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                let signal = status.terminating_signal().map(|signal| i32::from(SIGNALLED) + signal);
                break status.exit_status().or(signal).unwrap_or(i32::from(u8::MAX));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break i32::from(u8::MAX),
        }
    };
    #[expect(unsafe_code, reason = "no library has a safe call")]
    // SAFETY: It takes a number, ends the process at once and runs no code of it.
    unsafe {
        libc::_exit(code)
    }
}

/// Has the kernel end this process when its parent ends.
fn end_with_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut ready = [PollFd::new(process, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut ready, Some(&at_once)).is_ok_and(|number| number > 0)
}

/// Forks without what the C library does about it: locks may be held by threads that are not here. The parent is told
/// the child.
fn fork() -> io::Result<Option<Pid>> {
    let none = 0_usize;
    #[expect(unsafe_code, reason = "the process divides itself")]
    // SAFETY: Without a stack and flags it is `fork`: the child has a copy of all memory, and shares none. The calling
    // process has one thread, and neither of the two uses what the C library knows of the own thread.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, none, none, none, none) };
    let child = Errno::result(child)?;
    Ok(i32::try_from(child).ok().and_then(Pid::from_raw))
}
