//! Side of a program: memory, descriptors and signals of a thread that calls.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, PidfdGetfdFlags};

/// Most pieces of memory that one call of the kernel takes (`UIO_MAXIOV`).
const PIECES: usize = 1_024;

/// Process of a thread that calls.
#[derive(Debug)]
pub struct Task {
    /// Id of the process: of its first thread.
    pub process: u32,
    handle: OwnedFd,
}

/// Signals that wait for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingSignals {
    /// None that it would take.
    None,
    /// One that it will take.
    Own,
    /// One that it or another thread of its process will take.
    Shared,
}

impl Task {
    /// Opens the process of a thread.
    pub fn of_thread(thread: u32) -> io::Result<Self> {
        let process =
            field(&Self::status_of(thread, thread)?, "Tgid:").and_then(|number| number.parse().ok());
        let process: u32 = process.ok_or(io::ErrorKind::InvalidData)?;
        let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
        let id = id.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { process, handle: rustix::process::pidfd_open(id, PidfdFlags::empty())? })
    }

    /// Words of the system about a thread of a process.
    pub(crate) fn status_of(process: u32, thread: u32) -> io::Result<String> {
        std::fs::read_to_string(format!("/proc/{process}/task/{thread}/status"))
    }

    /// Copy of the process's descriptor; `EBADF` if it has none of that number.
    pub fn descriptor(&self, number: u32) -> io::Result<OwnedFd> {
        let number = i32::try_from(number).map_err(|_| Errno::EBADF)?;
        Ok(rustix::process::pidfd_getfd(&self.handle, number, PidfdGetfdFlags::empty())?)
    }

    /// Numbers of the process's open descriptors from this one on.
    pub fn descriptors(&self, first: u32) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/{}/fd", self.process))? {
            let number: Option<u32> = entry?.file_name().to_str().and_then(|name| name.parse().ok());
            numbers.extend(number.filter(|number| *number >= first));
        }
        Ok(numbers)
    }

    /// Tells if the process loses a descriptor once another program takes it over (`FD_CLOEXEC`).
    ///
    /// # Errors
    /// If it has none of that number.
    pub fn closes_on_exec(&self, number: u32) -> io::Result<bool> {
        let told = std::fs::read_to_string(format!("/proc/{}/fdinfo/{number}", self.process))?;
        let flags = field(&told, "flags:").and_then(|flags| u32::from_str_radix(flags, 8).ok());
        Ok(flags.ok_or(io::ErrorKind::InvalidData)? & O_CLOEXEC != 0)
    }

    /// Sends the process a signal.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        crate::process::send(&self.handle, number)
    }

    /// Reads the memory of a thread at one address; gives how much could be read.
    pub fn read(thread: u32, address: u64, place: &mut [u8]) -> io::Result<usize> {
        if place.is_empty() {
            return Ok(0);
        }
        let length = place.len();
        let (base, id) = (pointer(address)?, pid(thread)?);
        Ok(process_vm_readv(id, &mut [IoSliceMut::new(place)], &[RemoteIoVec { base, len: length }])?)
    }

    /// Reads pieces of memory of a thread, one behind the other; gives how much could be read.
    pub fn read_pieces(thread: u32, pieces: &[(u64, usize)], place: &mut [u8]) -> io::Result<usize> {
        let id = pid(thread)?;
        let mut done = 0;
        for pieces in pieces.chunks(PIECES) {
            let (remote, length) = remote(pieces, place.len() - done)?;
            if length == 0 {
                continue;
            }
            let local = &mut place[done..done + length];
            let read = process_vm_readv(id, &mut [IoSliceMut::new(local)], &remote)?;
            done += read;
            if read < length {
                break;
            }
        }
        Ok(done)
    }

    /// Writes into pieces of memory of a thread, one behind the other; gives how much could be written.
    pub fn write_pieces(thread: u32, pieces: &[(u64, usize)], octets: &[u8]) -> io::Result<usize> {
        let id = pid(thread)?;
        let mut done = 0;
        for pieces in pieces.chunks(PIECES) {
            let (remote, length) = remote(pieces, octets.len() - done)?;
            if length == 0 {
                continue;
            }
            let written = process_vm_writev(id, &[IoSlice::new(&octets[done..done + length])], &remote)?;
            done += written;
            if written < length {
                break;
            }
        }
        Ok(done)
    }

    /// Tells of signals that wait for a thread of the process.
    pub fn pending_signals(&self, thread: u32) -> io::Result<PendingSignals> {
        Ok(pending(&Self::status_of(self.process, thread)?))
    }
}

impl AsFd for Task {
    /// Descriptor that can be read once the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

fn pid(thread: u32) -> io::Result<Pid> {
    i32::try_from(thread).map(Pid::from_raw).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn pointer(address: u64) -> Result<usize, Errno> {
    usize::try_from(address).map_err(|_| Errno::EFAULT)
}

/// Pieces up to a length, and their length.
fn remote(pieces: &[(u64, usize)], most: usize) -> Result<(Vec<RemoteIoVec>, usize), Errno> {
    let mut length = 0;
    let mut remote = Vec::with_capacity(pieces.len());
    for &(address, len) in pieces {
        let len = len.min(most - length);
        if len > 0 {
            remote.push(RemoteIoVec { base: pointer(address)?, len });
            length += len;
        }
    }
    Ok((remote, length))
}

/// `O_CLOEXEC`, which both architectures have alike.
const O_CLOEXEC: u32 = 0o2_000_000;

pub(crate) fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn pending(status: &str) -> PendingSignals {
    let set = |name| field(status, name).and_then(|number| u64::from_str_radix(number, 16).ok()).unwrap_or(0);
    let stopped_for = !(set("SigBlk:") | (set("SigIgn:") & !set("SigCgt:")));
    let is_alone = field(status, "Threads:") == Some("1");
    if set("SigPnd:") & stopped_for != 0 || (is_alone && set("ShdPnd:") & stopped_for != 0) {
        PendingSignals::Own
    } else if set("ShdPnd:") & stopped_for != 0 {
        PendingSignals::Shared
    } else {
        PendingSignals::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_a_thread_is_read_and_written_by_pieces() {
        let own = rustix::thread::gettid().as_raw_pid().unsigned_abs();
        let from = *b"abcdef";
        let address = |octets: &[u8]| u64::try_from(octets.as_ptr().addr()).unwrap();
        let mut place = [0; 4];
        assert_eq!(Task::read(own, address(&from[1..]), &mut place).unwrap(), 4);
        assert_eq!(&place, b"bcde");
        let pieces = [(address(&from[4..]), 2), (0, 0), (address(&from), 3)];
        assert_eq!(Task::read_pieces(own, &pieces, &mut place).unwrap(), 4);
        assert_eq!(&place, b"efab");
        let error = Task::read(own, 16, &mut place).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EFAULT as i32));
        assert_eq!(
            Task::read_pieces(own, &[(address(&from), 1), (16, 2)], &mut place).unwrap(),
            1,
            "as far as"
        );
        let mut to = [0_u8; 6];
        let base = u64::try_from(to.as_mut_ptr().expose_provenance()).unwrap();
        assert_eq!(Task::write_pieces(own, &[(base + 3, 1), (base, 2)], b"xyz").unwrap(), 3);
        assert_eq!(std::hint::black_box(&to), b"yz\0x\0\0");
        assert!(Task::write_pieces(own, &[(16, 2)], b"xy").is_err());
    }

    #[test]
    fn signals_wait_unless_they_are_blocked_or_ignored() {
        let told = |threads: &str, own: &str, shared: &str, blocked: &str, ignored: &str| {
            pending(&format!(
                "Tgid:\t7\nThreads:\t{threads}\nSigPnd:\t{own}\nShdPnd:\t{shared}\nSigBlk:\t{blocked}\n\
                 SigIgn:\t{ignored}\nSigCgt:\t0000000000000002\n"
            ))
        };
        assert_eq!(told("1", "0", "0", "0", "0"), PendingSignals::None);
        assert_eq!(told("1", "0", "2", "0", "0"), PendingSignals::Own);
        assert_eq!(told("2", "0", "2", "0", "0"), PendingSignals::Shared);
        assert_eq!(told("2", "4", "2", "2", "0"), PendingSignals::Own);
        assert_eq!(told("2", "4", "2", "6", "0"), PendingSignals::None);
        assert_eq!(told("2", "4", "0", "0", "4"), PendingSignals::None);
        assert_eq!(pending(""), PendingSignals::None);
    }

    #[test]
    fn a_process_is_known_by_its_thread_and_gives_its_descriptors() {
        let (reader, _writer) = io::pipe().unwrap();
        let own = rustix::thread::gettid().as_raw_pid().unsigned_abs();
        let task = Task::of_thread(own).unwrap();
        assert_eq!(task.process, std::process::id());
        let number = u32::try_from(std::os::fd::AsRawFd::as_raw_fd(&reader)).unwrap();
        assert!(task.descriptors(number).unwrap().contains(&number));
        assert!(!task.descriptors(number + 1).unwrap().contains(&number));
        task.descriptor(number).unwrap();
        let error = task.descriptor(1 << 20).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EBADF as i32));
    }
}
