//! Errors as Linux numbers them.

/// Number of an error of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Errno(pub u16);

macro_rules! errors {
    ($($name:ident = $number:literal: $about:literal;)*) => {
        impl Errno {
            $(#[doc = $about] pub const $name: Self = Self($number);)*
        }
    };
}

errors! {
    EPERM = 1: "Operation that is not permitted.";
    EINTR = 4: "Call that a signal broke off.";
    EIO = 5: "Failure of the daemon.";
    EBADF = 9: "Descriptor that is closed.";
    EAGAIN = 11: "Call that would have to wait.";
    ENOMEM = 12: "Memory that is not there.";
    EACCES = 13: "Access that is denied: a port below 1024.";
    EFAULT = 14: "Address that is not the program's.";
    EBUSY = 16: "Address that is the last one.";
    EINVAL = 22: "Argument that is not valid.";
    EMFILE = 24: "Limit of open files that is reached.";
    EPIPE = 32: "Association that takes nothing more.";
    EMSGSIZE = 90: "Message that is too long.";
    ENOPROTOOPT = 92: "Option that is not known.";
    EPROTONOSUPPORT = 93: "Protocol that is not known.";
    ESOCKTNOSUPPORT = 94: "Type of socket that is not known.";
    EOPNOTSUPP = 95: "Operation that a socket of this kind has not.";
    EAFNOSUPPORT = 97: "Family of addresses that a socket has not.";
    EADDRINUSE = 98: "Port that another socket has.";
    EADDRNOTAVAIL = 99: "Address that the machine has not.";
    ENETUNREACH = 101: "Network that is not reached.";
    ECONNABORTED = 103: "Association that was aborted here.";
    ECONNRESET = 104: "Association that the peer has aborted.";
    ENOBUFS = 105: "Buffer that is not there.";
    EISCONN = 106: "Socket that is connected already.";
    ENOTCONN = 107: "Socket that is not connected.";
    ESHUTDOWN = 108: "Association that is being shut down.";
    ETIMEDOUT = 110: "Peer that does not answer.";
    ECONNREFUSED = 111: "Peer that refuses.";
    EHOSTUNREACH = 113: "Host that is not reached.";
    EALREADY = 114: "Connecting that is under way already.";
    EINPROGRESS = 115: "Connecting that has begun.";
}
