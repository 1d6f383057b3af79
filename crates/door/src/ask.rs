//! Requests about a socket, and the replies that come by a channel of their own.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno as KernelErrno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use slantpath_requests::{Errno, FromProgram, OPTION_MAX, Reply};

use crate::failure::errno;

/// Bytes of a reply in front of its value, at most.
const BESIDE_VALUE: usize = 64;

/// Reply, with the descriptor that came beside it.
#[derive(Debug)]
pub struct Replied {
    /// Reply of the daemon.
    pub reply: Reply,
    /// Socket that was made or peeled off.
    pub descriptor: Option<OwnedFd>,
}

/// Reply that is awaited. Its descriptor becomes readable once the reply is there; it may be dropped before.
#[derive(Debug)]
pub struct Pending {
    channel: OwnedFd,
}

impl AsFd for Pending {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

impl Pending {
    pub(crate) fn on(channel: OwnedFd) -> Self {
        Self { channel }
    }

    /// Takes the reply, if it is there.
    ///
    /// # Errors
    /// If the daemon is no more, or answers what is no reply.
    pub fn take(&self) -> Result<Option<Replied>, Errno> {
        let mut bytes = vec![0; OPTION_MAX + BESIDE_VALUE];
        let came =
            receive_with_descriptor(&self.channel, &mut [IoSliceMut::new(&mut bytes)], RecvFlags::DONTWAIT);
        match came {
            Err(Errno::EAGAIN) => Ok(None),
            Err(error) => Err(error),
            Ok((0, _)) => Err(Errno::ECONNRESET),
            Ok((len, descriptor)) => {
                let reply = Reply::decode(&bytes[..len]).map_err(|_| Errno::EIO)?;
                Ok(Some(Replied { reply, descriptor }))
            }
        }
    }

    /// Waits for the reply.
    ///
    /// # Errors
    /// If the daemon is no more. By a signal only if the call is one that a signal breaks off: the request itself goes
    /// on then.
    pub fn wait(&self, is_interruptible: bool) -> Result<Replied, Errno> {
        loop {
            match poll(&mut [PollFd::new(&self.channel, PollFlags::IN)], None) {
                Err(KernelErrno::INTR) if is_interruptible => return Err(Errno::EINTR),
                Ok(_) | Err(KernelErrno::INTR) => {}
                Err(error) => return Err(errno(error)),
            }
            if let Some(answer) = self.take()? {
                return Ok(answer);
            }
        }
    }
}

/// Asks the daemon about a socket. The request stands in the order of the messages that were sent before.
///
/// # Errors
/// If the daemon is no more, or there is no room for the request at this moment (`EAGAIN`, unless it may wait for it).
pub fn ask(pair: impl AsFd, request: &slantpath_requests::Request, may_wait: bool) -> Result<Pending, Errno> {
    let made = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
    let (channel, theirs) = made.map_err(errno)?;
    let header = FromProgram::Request.header();
    let bytes = request.encode();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let descriptors = [theirs.as_fd()];
    let flags = if may_wait { SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL | SendFlags::DONTWAIT };
    loop {
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        match sendmsg(&pair, &[IoSlice::new(&header), IoSlice::new(&bytes)], &mut control, flags) {
            Ok(_) => return Ok(Pending::on(channel)),
            Err(KernelErrno::INTR) => {}
            // No association's end is meant: whoever asks is told so by the reply, and there is none.
            Err(KernelErrno::PIPE) => return Err(Errno::ECONNRESET),
            Err(error) => return Err(errno(error)),
        }
    }
}

/// Receives with a descriptor, which a program's `exec` closes.
pub(crate) fn receive_with_descriptor(
    socket: impl AsFd,
    buffers: &mut [IoSliceMut<'_>],
    flags: RecvFlags,
) -> Result<(usize, Option<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let came = recvmsg(socket, buffers, &mut control, flags | RecvFlags::CMSG_CLOEXEC).map_err(errno)?;
    let mut descriptor = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            descriptor = descriptors.last().or(descriptor);
        }
    }
    Ok((came.bytes, descriptor))
}
