//! Ids of users and groups in a user namespace.

use std::ffi::CStr;
use std::io;

use rustix::fs::{Mode, OFlags};

use crate::failure::SystemStep;
use crate::report::Report;

/// Maps of one id each, written out before the process that writes them is forked.
#[derive(Debug)]
pub(crate) struct IdentityMaps {
    users: String,
    groups: String,
}

impl IdentityMaps {
    /// Shows the caller's own user and group as these within the namespace.
    pub(crate) fn of_caller(user: u32, group: u32) -> Self {
        let (own_user, own_group) = (rustix::process::geteuid(), rustix::process::getegid());
        Self {
            users: format!("{user} {} 1", own_user.as_raw()),
            groups: format!("{group} {} 1", own_group.as_raw()),
        }
    }

    /// Writes the maps of the calling process, which has just entered its user namespace. It allocates nothing.
    pub(crate) fn write(&self, report: &Report) -> io::Result<()> {
        // An unprivileged process may map its group only once it has given up to change its others.
        report.step(SystemStep::IdentityMap, write(c"/proc/self/setgroups", "deny"))?;
        report.step(SystemStep::IdentityMap, write(c"/proc/self/uid_map", &self.users))?;
        report.step(SystemStep::IdentityMap, write(c"/proc/self/gid_map", &self.groups))
    }
}

fn write(path: &CStr, text: &str) -> rustix::io::Result<()> {
    let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text.as_bytes()).map(|_| ())
}
