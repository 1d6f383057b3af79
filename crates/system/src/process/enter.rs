//! Between `fork` and `exec` of a program: it enters its network, and sees files and ids of its own.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::SigSet;
use rustix::fs::{Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};

use super::Identity;
use crate::descriptors;
use crate::failure::SystemStep;
use crate::identity::IdentityMaps;
use crate::network::NetNamespace;
use crate::report::Report;

/// Directories of which one is covered for the moment in which the files are made, each with their places there.
const PLACES: [(&CStr, &CStr, &CStr); 3] = [
    (c"/mnt", c"/mnt/hosts", c"/mnt/resolv.conf"),
    (c"/run", c"/run/hosts", c"/run/resolv.conf"),
    (c"/opt", c"/opt/hosts", c"/opt/resolv.conf"),
];
const HOSTS: &CStr = c"/etc/hosts";
const RESOLVER: &CStr = c"/etc/resolv.conf";
/// Resolver of a network that has no name servers: whoever asks for another name is refused at once, and waits for
/// nobody.
const NO_SERVERS: &[u8] =
    b"# Names stand in /etc/hosts.\nnameserver 127.0.0.1\noptions attempts:1 timeout:1\n";

/// All that is needed, made before the fork.
#[derive(Debug)]
pub(super) struct Entry {
    network: OwnedFd,
    maps: Option<IdentityMaps>,
    hosts: Option<HostsFile>,
}

#[derive(Debug)]
struct HostsFile {
    content: String,
    /// Options of its file system.
    options: CString,
}

impl Entry {
    pub(super) fn prepare(
        network: &NetNamespace,
        identity: Identity,
        hosts: Option<&str>,
    ) -> io::Result<Self> {
        let maps = match identity {
            Identity::Caller { uid, gid } => Some(IdentityMaps::of_caller(uid, gid)),
            Identity::NamespaceRoot => None,
        };
        let hosts =
            hosts.map(|content| HostsFile { content: content.to_owned(), options: options(content.len()) });
        Ok(Self { network: network.as_fd().try_clone_to_owned()?, maps, hosts })
    }

    /// Enters. It allocates nothing.
    pub(super) fn enter(&self, report: &Report) -> io::Result<()> {
        // Those that the calling process reads by a descriptor would otherwise not reach the program.
        report.step(SystemStep::Signals, SigSet::empty().thread_set_mask())?;
        report.step(SystemStep::Descriptors, descriptors::close_on_exec())?;
        report.step(SystemStep::NetworkNamespace, setns(&self.network, CloneFlags::CLONE_NEWNET))?;
        report.step(SystemStep::MountNamespace, unshare(CloneFlags::CLONE_NEWNS))?;
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        report.step(SystemStep::Propagation, rustix::mount::mount_change(c"/", private))?;
        if let Some(hosts) = &self.hosts {
            report.step(SystemStep::HostsFile, hosts.put())?;
        }
        if let Some(maps) = &self.maps {
            report.step(SystemStep::UserNamespace, unshare(CloneFlags::CLONE_NEWUSER))?;
            maps.write(report)?;
        }
        Ok(())
    }
}

fn options(len: usize) -> CString {
    // Some pages more than the file needs.
    let options = format!("mode=0755,size={}", len.saturating_add(1 << 16));
    CString::new(options).expect("letters and digits")
}

impl HostsFile {
    /// Puts the file over the machine's, in the mount namespace of the calling process.
    fn put(&self) -> rustix::io::Result<()> {
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        let mut last = rustix::io::Errno::NOENT;
        for (directory, path, resolver) in PLACES {
            match rustix::mount::mount(c"tmpfs", directory, c"tmpfs", flags, &*self.options) {
                Ok(()) => {
                    write(path, self.content.as_bytes())?;
                    rustix::mount::mount_bind(path, HOSTS)?;
                    write(resolver, NO_SERVERS)?;
                    match rustix::mount::mount_bind(resolver, RESOLVER) {
                        // A machine without the file asks nobody either.
                        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
                        Err(errno) => return Err(errno),
                    }
                    // The file stays by what is bound to it.
                    return rustix::mount::unmount(directory, UnmountFlags::DETACH);
                }
                Err(errno) => last = errno,
            }
        }
        Err(last)
    }
}

fn write(path: &CStr, content: &[u8]) -> rustix::io::Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let file = rustix::fs::open(path, flags, mode)?;
    let mut rest = content;
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest)?;
        rest = &rest[written..];
    }
    Ok(())
}
