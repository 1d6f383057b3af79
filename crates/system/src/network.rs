//! Namespaces of networks, work within them, and their settings.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::fs::{Mode, OFlags};

use crate::failure::{SystemFailure, SystemStep};

/// Path of the network namespace of the thread that opens it. The thread and not the process: another may be elsewhere.
pub(crate) const OWN: &str = "/proc/thread-self/ns/net";
/// Number of a file system whose files are namespaces (`NSFS_MAGIC`).
const NAMESPACES: i64 = 0x6e73_6673;

/// Network namespace, which lives as long as this or a process within it does.
#[derive(Debug)]
pub struct NetNamespace(OwnedFd);

impl NetNamespace {
    /// Makes one that has no link but its loopback, which is down.
    pub fn new() -> Result<Self, SystemFailure> {
        let made = on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN)
        });
        let file = made.flatten().map_err(|error| SystemStep::NetworkNamespace.failed(error))?;
        Ok(Self(file.into()))
    }

    /// Opens that of the calling thread.
    pub fn own() -> io::Result<Self> {
        Self::open(OWN)
    }

    /// Opens that of a process, by its id.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Self::open(format!("/proc/{pid}/ns/net"))
    }

    /// Opens that of a process by its id in a directory of processes, as `/proc`.
    pub fn of_process_in(processes: &File, pid: u32) -> io::Result<Self> {
        let told = |error: io::Error| io::Error::new(error.kind(), format!("process {pid}: {error}"));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(processes, format!("{pid}/ns/net"), flags, Mode::empty());
        Ok(Self(file.map_err(|errno| told(errno.into()))?))
    }

    /// Opens the one that is found at a path, as those of `ip netns` at `/run/netns/NAME`.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let file = File::open(path).map_err(told)?;
        let system = rustix::fs::fstatfs(&file).map_err(|errno| told(errno.into()))?;
        if i128::from(system.f_type) != i128::from(NAMESPACES) {
            let message = format!("{} is no namespace: it is found at /run/netns/NAME", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self(file.into()))
    }

    /// Does work within it, on a thread that ends with the work. Sockets and files stay what they are outside.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, SystemFailure> {
        let done = on_thread(|| -> io::Result<R> {
            setns(&self.0, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        });
        done.flatten().map_err(|error| SystemStep::NetworkNamespace.failed(error))
    }

    /// Another handle of it.
    pub fn same(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Number by which the kernel knows it while it lives; equal numbers are one namespace.
    pub fn number(&self) -> io::Result<u64> {
        let file = File::from(self.0.try_clone()?);
        Ok(file.metadata()?.ino())
    }
}

impl AsFd for NetNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn on_thread<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Writes a setting below `/proc/sys/net`, as `ipv4/ip_forward`, of the calling thread's network namespace.
pub fn write_setting(setting: &str, value: &str) -> io::Result<()> {
    let relative = Path::new(setting);
    if setting.is_empty() || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        let message = format!(
            "`{setting}` is no setting of a network: a path below /proc/sys/net, as `ipv4/ip_forward`"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let path = Path::new("/proc/sys/net").join(relative);
    std::fs::write(&path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("{} = {value}: {error}", path.display())))
}

/// Packets that an interface has dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceDrops {
    /// Packets that were received.
    pub received: u64,
    /// Packets that were to be sent.
    pub sent: u64,
}

/// Packets that each interface of the calling thread's network namespace has dropped, by its name.
pub fn interface_drops() -> io::Result<BTreeMap<String, InterfaceDrops>> {
    Ok(drops_in(&std::fs::read_to_string("/proc/thread-self/net/dev")?))
}

/// Reads the table of interfaces: a name, and eight numbers each for what was received and sent, the fourth drops.
fn drops_in(table: &str) -> BTreeMap<String, InterfaceDrops> {
    let row = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let numbers: Vec<u64> = numbers.split_whitespace().map_while(|number| number.parse().ok()).collect();
        let drops = InterfaceDrops { received: *numbers.get(3)?, sent: *numbers.get(11)? };
        Some((name.trim().to_owned(), drops))
    };
    table.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_stand_in_the_fourth_and_the_twelfth_column() {
        let table = "\
Inter-|   Receive                                                | Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo:     100       2    0    0    0     0          0         0 100 2 0 0 0 0 0 0
  n0i0: 1234567    9999    1    7    0     0          0         0 7654321 8888 0 12 0 0 0 0
 short:       1       2    3    4
";
        let expected = [
            ("lo".to_owned(), InterfaceDrops::default()),
            ("n0i0".to_owned(), InterfaceDrops { received: 7, sent: 12 }),
        ];
        assert_eq!(drops_in(table), BTreeMap::from(expected));
        assert!(interface_drops().unwrap().contains_key("lo"));
    }

    #[test]
    fn what_is_no_namespace_is_refused_with_its_path() {
        for (path, told) in [
            ("/proc/self/status", "/proc/self/status is no namespace: it is found at /run/netns/NAME"),
            ("/nowhere/at/all", "/nowhere/at/all: No such file or directory (os error 2)"),
        ] {
            assert_eq!(NetNamespace::open(path).unwrap_err().to_string(), told);
        }
        let own = NetNamespace::own().unwrap().number().unwrap();
        assert_eq!(NetNamespace::of_process(std::process::id()).unwrap().number().unwrap(), own);
        let processes = File::open("/proc").unwrap();
        let of_process = NetNamespace::of_process_in(&processes, std::process::id());
        assert_eq!(of_process.unwrap().number().unwrap(), own);
        let nobody = NetNamespace::of_process_in(&processes, u32::MAX).unwrap_err();
        assert_eq!(nobody.to_string(), "process 4294967295: No such file or directory (os error 2)");
    }

    #[test]
    fn a_setting_stays_below_its_directory() {
        for setting in ["", "/etc/hosts", "../kernel/hostname", "ipv4/../../kernel/hostname"] {
            let error = write_setting(setting, "1").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{setting}");
        }
    }
}
