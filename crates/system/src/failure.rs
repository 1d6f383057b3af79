//! Steps that the system may refuse, and the error that names one.

use std::{fmt, io};

use nix::errno::Errno;

/// Step of making a namespace, a process or a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum SystemStep {
    /// Bind a packet socket to its interface.
    Bind = 1,
    /// Close or mark inherited descriptors.
    Descriptors,
    /// Read the own program, its arguments and its namespace.
    OwnProgram,
    /// Start the program.
    Exec,
    /// Start the process that becomes process 1.
    Fork,
    /// Put the hosts file in place.
    HostsFile,
    /// Find the interface.
    Interface,
    /// Make a namespace of interprocess communication.
    IpcNamespace,
    /// Map the ids of the user and the group.
    IdentityMap,
    /// Map the ring of a packet socket into memory.
    MapRing,
    /// Make a mount namespace.
    MountNamespace,
    /// Make or enter a network namespace.
    NetworkNamespace,
    /// Have the process end with its parent.
    ParentDeath,
    /// Make a namespace of process ids.
    PidNamespace,
    /// Receive every frame of the interface, whoever it is for.
    Promiscuous,
    /// Keep mounts from spreading to the caller's namespace.
    Propagation,
    /// Make the ring of a packet socket.
    Ring,
    /// Choose the form of the ring's frames.
    RingVersion,
    /// Set or read the signals of the process.
    Signals,
    /// Open the socket.
    Socket,
    /// Have the socket leave out what this machine sends.
    IgnoreOutgoing,
    /// Have frames stamped as they arrive.
    Stamps,
    /// Make a user namespace.
    UserNamespace,
    /// Have each frame come with its offload header.
    OffloadHeader,
    /// Wait for a process.
    Wait,
    /// Set the limit of open files.
    OpenFiles,
    /// Have programs gain no rights.
    NoNewPrivileges,
    /// Put a filter before the program's calls.
    Filter,
    /// Hand over the listener of a filter.
    Listener,
}

impl SystemStep {
    /// Every step, in the order of its number.
    const ALL: [Self; 29] = [
        Self::Bind,
        Self::Descriptors,
        Self::OwnProgram,
        Self::Exec,
        Self::Fork,
        Self::HostsFile,
        Self::Interface,
        Self::IpcNamespace,
        Self::IdentityMap,
        Self::MapRing,
        Self::MountNamespace,
        Self::NetworkNamespace,
        Self::ParentDeath,
        Self::PidNamespace,
        Self::Promiscuous,
        Self::Propagation,
        Self::Ring,
        Self::RingVersion,
        Self::Signals,
        Self::Socket,
        Self::IgnoreOutgoing,
        Self::Stamps,
        Self::UserNamespace,
        Self::OffloadHeader,
        Self::Wait,
        Self::OpenFiles,
        Self::NoNewPrivileges,
        Self::Filter,
        Self::Listener,
    ];

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u32 == number)
    }

    pub(crate) fn failed(self, error: impl Into<io::Error>) -> SystemFailure {
        SystemFailure { step: self, source: error.into() }
    }
}

impl fmt::Display for SystemStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bind => "bind the packet socket to its interface",
            Self::Descriptors => "close inherited descriptors",
            Self::OwnProgram => "read the own program, its arguments and its namespace",
            Self::Exec => "start the program",
            Self::Fork => "start process 1 of the namespace",
            Self::HostsFile => "put the hosts file in place",
            Self::Interface => "find the interface",
            Self::IpcNamespace => "make an IPC namespace",
            Self::IdentityMap => "map the ids of user and group",
            Self::MapRing => "map the ring of the packet socket",
            Self::MountNamespace => "make a mount namespace",
            Self::NetworkNamespace => "make or enter a network namespace",
            Self::ParentDeath => "have the process end with its parent",
            Self::PidNamespace => "make a PID namespace",
            Self::Promiscuous => "receive every frame of the interface",
            Self::Propagation => "keep mounts from spreading",
            Self::Ring => "make the ring of the packet socket",
            Self::RingVersion => "choose the form of the ring",
            Self::Signals => "set the signals of the process",
            Self::Socket => "open the socket",
            Self::IgnoreOutgoing => "leave out what this machine sends",
            Self::Stamps => "have frames stamped as they arrive",
            Self::UserNamespace => "make a user namespace",
            Self::OffloadHeader => "have frames come with their offload headers",
            Self::Wait => "wait for the process",
            Self::OpenFiles => "set the limit of open files",
            Self::NoNewPrivileges => "have the program gain no rights",
            Self::Filter => "put a filter before the program's calls",
            Self::Listener => "hand over the filter's listener",
        })
    }
}

/// Refusal of a step by the system.
#[derive(Debug, thiserror::Error)]
#[error("cannot {step}: {source}")]
#[non_exhaustive]
pub struct SystemFailure {
    /// Step that was refused.
    pub step: SystemStep,
    /// Reason of the system.
    pub source: io::Error,
}

impl SystemFailure {
    /// Setting of the machine that refuses this step most often, as `sysctl` names it, where there is one.
    pub fn setting(&self) -> Option<&'static str> {
        let errno = self.source.raw_os_error().map(Errno::from_raw);
        Some(match (self.step, errno?) {
            (SystemStep::UserNamespace, Errno::ENOSPC) => "user.max_user_namespaces",
            (SystemStep::UserNamespace, Errno::EPERM) => "kernel.unprivileged_userns_clone",
            // AppArmor lets the namespace be made, and refuses what is done in it.
            (
                SystemStep::UserNamespace | SystemStep::IdentityMap | SystemStep::NetworkNamespace,
                Errno::EACCES | Errno::EPERM,
            ) => "kernel.apparmor_restrict_unprivileged_userns",
            (SystemStep::IpcNamespace, Errno::ENOSPC) => "user.max_ipc_namespaces",
            (SystemStep::MountNamespace, Errno::ENOSPC) => "user.max_mnt_namespaces",
            (SystemStep::NetworkNamespace, Errno::ENOSPC) => "user.max_net_namespaces",
            (SystemStep::PidNamespace, Errno::ENOSPC) => "user.max_pid_namespaces",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_known_by_its_number_and_no_other() {
        for (number, step) in (1..).zip(SystemStep::ALL) {
            assert_eq!(SystemStep::of_number(number), Some(step));
            assert_eq!(step as u32, number);
        }
        for number in [0, 30, u32::MAX] {
            assert_eq!(SystemStep::of_number(number), None, "{number}");
        }
    }

    #[test]
    fn a_failure_names_its_step_its_reason_and_the_setting() {
        let refused = |step: SystemStep, errno: Errno| step.failed(io::Error::from(errno));
        let failure = refused(SystemStep::UserNamespace, Errno::ENOSPC);
        let told = failure.to_string();
        assert_eq!(told, "cannot make a user namespace: No space left on device (os error 28)");
        for (step, errno, setting) in [
            (SystemStep::UserNamespace, Errno::ENOSPC, Some("user.max_user_namespaces")),
            (SystemStep::UserNamespace, Errno::EPERM, Some("kernel.unprivileged_userns_clone")),
            (SystemStep::UserNamespace, Errno::EACCES, Some("kernel.apparmor_restrict_unprivileged_userns")),
            (SystemStep::IdentityMap, Errno::EPERM, Some("kernel.apparmor_restrict_unprivileged_userns")),
            (
                SystemStep::NetworkNamespace,
                Errno::EPERM,
                Some("kernel.apparmor_restrict_unprivileged_userns"),
            ),
            (SystemStep::NetworkNamespace, Errno::ENOSPC, Some("user.max_net_namespaces")),
            (SystemStep::PidNamespace, Errno::ENOSPC, Some("user.max_pid_namespaces")),
            (SystemStep::Exec, Errno::ENOENT, None),
        ] {
            assert_eq!(refused(step, errno).setting(), setting, "{step:?} {errno:?}");
        }
    }
}
