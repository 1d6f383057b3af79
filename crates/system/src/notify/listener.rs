//! Listener of a filter: calls that wait, and their answers.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;

/// Call that waits for its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotifiedCall {
    /// Number of the notification, of which there is no second.
    pub id: u64,
    /// Thread that calls, as the listener's process numbers it.
    pub thread: u32,
    /// Number of the call.
    pub number: u32,
    /// Arguments of the call.
    pub arguments: [u64; 6],
}

/// CallAnswer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallAnswer {
    /// The kernel runs the call as it is.
    Continue,
    /// The call fails with this number of an error.
    Failed(u16),
    /// The call is broken off for a signal's sake: it starts anew or fails, as the signal's handler says. Only for a
    /// thread for which one waits.
    Interrupted,
    /// The call gives this back.
    Value(i64),
}

/// Listener at which calls arrive.
#[derive(Debug)]
pub struct Listener {
    descriptor: OwnedFd,
    /// Place of a notification, as long as the kernel's own. Zero between two calls.
    place: Vec<u64>,
}

/// ERESTARTSYS of linux/errno.h, which no program sees.
const RESTART: i32 = 512;
/// SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP of linux/seccomp.h.
const WAKE_IN_PLACE: u64 = 1;
/// SECCOMP_ADDFD_FLAG_SETFD of linux/seccomp.h.
const SET: u32 = 1;
/// Both SECCOMP_ADDFD_FLAG_SETFD and SECCOMP_ADDFD_FLAG_SEND.
const SET_AND_SEND: u32 = 3;

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let mut sizes =
            libc::seccomp_notif_sizes { seccomp_notif: 0, seccomp_notif_resp: 0, seccomp_data: 0 };
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The call writes the three numbers of its last argument, which live until it returns.
        let result =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0, &raw mut sizes) };
        Errno::result(result)?;
        if usize::from(sizes.seccomp_notif_resp) > size_of::<libc::seccomp_notif_resp>() {
            return Err(io::Error::from(Errno::EOVERFLOW));
        }
        let octets = usize::from(sizes.seccomp_notif).max(size_of::<libc::seccomp_notif>());
        Ok(Self { descriptor, place: vec![0; octets.div_ceil(size_of::<u64>())] })
    }

    /// Has whoever is answered run on the caller's own processor, which it then leaves. True if the kernel can do that
    /// (Linux 6.6). For a caller that waits after each answer.
    pub fn wake_in_place(&self) -> bool {
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: This request takes a number, no pointer.
        let result = unsafe {
            libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, WAKE_IN_PLACE)
        };
        result == 0
    }

    /// Takes a call that has arrived. It waits for one: [`crate::poll::Poll`] tells that one is there. `None` if it has
    /// gone in the meantime.
    pub fn receive(&mut self) -> io::Result<Option<NotifiedCall>> {
        self.place.fill(0);
        let place = self.place.as_mut_ptr();
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The place is as long as the kernel's structure, and is borrowed alone until the call returns.
        let result =
            unsafe { libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, place) };
        match Errno::result(result) {
            Ok(_) => {}
            Err(Errno::ENOENT | Errno::EINTR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        #[expect(unsafe_code, reason = "the kernel has written the structure")]
        // SAFETY: The place is at least as long as the structure, has at least its alignment, and was written to: it
        // has numbers alone, so that any bytes are one.
        let told = unsafe { place.cast::<libc::seccomp_notif>().read() };
        Ok(Some(NotifiedCall {
            id: told.id,
            thread: told.pid,
            number: told.data.nr.cast_unsigned(),
            arguments: told.data.args,
        }))
    }

    /// True if the call waits for its answer still. What was read of its thread before that was its own.
    pub fn is_waiting(&self, id: u64) -> bool {
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The call reads the number, which lives until it returns.
        let result = unsafe {
            libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id)
        };
        result == 0
    }

    /// Answers a call; false if it waits no longer.
    pub fn answer(&self, id: u64, answer: CallAnswer) -> io::Result<bool> {
        let mut response = libc::seccomp_notif_resp { id, val: 0, error: 0, flags: 0 };
        match answer {
            CallAnswer::Continue => response.flags = 1,
            CallAnswer::Failed(number) => response.error = -i32::from(number),
            CallAnswer::Interrupted => response.error = -RESTART,
            CallAnswer::Value(value) => response.val = value,
        }
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The call reads the structure, which lives until it returns.
        let result = unsafe {
            libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response)
        };
        answered(result).map(|answered| answered.is_some())
    }

    /// Puts a copy of a descriptor at this number of the calling process; whatever it had there is closed. If it
    /// `answers`, the call gives the number back. False if the call waits no longer.
    ///
    /// # Errors
    /// `EBADF` if the process may have no such number.
    pub fn put_descriptor(
        &self,
        id: u64,
        descriptor: impl AsFd,
        number: u32,
        closes_on_exec: bool,
        answers: bool,
    ) -> io::Result<bool> {
        let mut wish = libc::seccomp_notif_addfd {
            id,
            flags: if answers { SET_AND_SEND } else { SET },
            srcfd: descriptor.as_fd().as_raw_fd().cast_unsigned(),
            newfd: number,
            newfd_flags: if closes_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
        };
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The call reads the structure, which lives until it returns. Descriptors of this process stay.
        let result = unsafe {
            libc::ioctl(self.descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut wish)
        };
        answered(result).map(|answered| answered.is_some())
    }
}

fn answered(result: libc::c_int) -> io::Result<Option<libc::c_int>> {
    match Errno::result(result) {
        Ok(number) => Ok(Some(number)),
        // In progress: it has had an answer that it has not seen yet.
        Err(Errno::ENOENT | Errno::EINPROGRESS) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

impl AsFd for Listener {
    /// Descriptor that can be read once a call is there, and is at its end once nobody is behind the filter.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
