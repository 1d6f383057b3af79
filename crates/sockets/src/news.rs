//! Names of sockets, and what their user is told of them.

use slantpath_requests::{Errno, Reply};

/// Name of a socket, which no other ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketNumber(pub u64);

/// Name that the user of [`Sockets`](crate::Sockets) has given a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// Answered to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Reply to the program.
    pub reply: Reply,
    /// Socket that has been peeled off: its descriptor goes beside the reply.
    pub socket: Option<SocketNumber>,
}

impl Answered {
    /// Answered that says no more than that all is well.
    pub(crate) fn done() -> Self {
        Self::default()
    }

    pub(crate) fn failed(error: Errno) -> Self {
        Reply::failed(error).into()
    }
}

impl From<Reply> for Answered {
    fn from(reply: Reply) -> Self {
        Self { reply, socket: None }
    }
}

/// Event that the user of a socket is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A connect has been successful: the program may write.
    Connected,
    /// All that was to be read has been taken, and nothing follows: the program reads the end.
    Ended,
    /// A connect has failed: the program may write, and gets an error. `SO_ERROR` says it, too.
    Failed(Errno),
    /// There is something to read ([`Sockets::next`](crate::Sockets::next)).
    Readable,
    /// The answer to a request that had to wait.
    Replied(Token, Answered),
    /// After [`Taken::Full`](crate::Taken::Full): pieces are taken again.
    Writable,
}
