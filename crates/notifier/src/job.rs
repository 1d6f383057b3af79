//! One call on its way to an answer.

use std::os::fd::OwnedFd;
use std::rc::{Rc, Weak};
use std::time::Duration;

use slantpath_door::Pending;
use slantpath_requests::{self as requests, Errno, OpenRequest, SendInfo};
use slantpath_system::notify::{CallAnswer, NotifiedCall};

use crate::calls::SocketCall;
use crate::processes::{Place, SendTarget};

/// Call that is being answered, with what has been done of it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) notified: NotifiedCall,
    pub(crate) call: SocketCall,
    /// Process that calls.
    pub(crate) process: u32,
    /// Time at which it is given up, once it has begun to wait.
    pub(crate) deadline: Option<Duration>,
    /// Parts that are done: messages of a call for several, bytes of a long one, descriptors that were marked.
    pub(crate) done: usize,
    /// Bytes of the message under way that are sent.
    pub(crate) sent: usize,
    /// True once the daemon has said that the message under way may be sent.
    pub(crate) is_checked: bool,
    /// True once the association of the message under way has begun as that says.
    pub(crate) has_begun: bool,
    /// Options that the socket has for messages that say none, once they were asked for.
    pub(crate) defaults: Option<SendInfo>,
    /// True once a signal was seen that another thread may take.
    pub(crate) has_seen_signal: bool,
}

/// State of a call after a try.
#[derive(Debug)]
pub(crate) enum Step {
    /// Answer that it has.
    Done(CallAnswer),
    /// End of a call that was answered on the way, or is no more.
    Over,
    /// The daemon is asked about a socket.
    Ask(Rc<OwnedFd>, requests::Request, Purpose),
    /// The daemon is asked for a socket.
    Open(OpenRequest),
    /// Something has to come.
    Come(Rc<OwnedFd>),
    /// There has to be room.
    Room(Rc<OwnedFd>),
}

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Purpose of the call itself.
    Call,
    /// An association begins as a message says.
    Begin,
    /// The options of messages that say none.
    Defaults,
    /// The end of what comes has been read: an error may be the cause.
    End,
    /// Socket that takes associations.
    Listens,
    /// A receive would wait: the style of the socket says if it may.
    Style,
    /// A socket of one association waits if it has a peer.
    Peer,
    /// A socket of many waits if it takes callers,
    Callers,
    /// or has associations.
    Associations,
    /// A message may be sent.
    MaySend {
        /// Association or peer to which it goes.
        target: SendTarget,
        /// Length of the message.
        length: u32,
    },
    /// A message may end its association.
    MayEnd,
    /// The program wants control messages: by the old option.
    WantsEvents,
    /// Wish for them by the newer one.
    WantsInfo {
        /// True if the old option wants them.
        sndrcv: bool,
    },
    /// Wish for what is known of the message behind.
    WantsNext {
        /// True if the old option wants control messages.
        sndrcv: bool,
        /// True if the newer one does.
        rcvinfo: bool,
    },
}

/// Reason for which a call is kept.
#[derive(Debug)]
pub(crate) enum Wait {
    /// The reply to a request comes; without a purpose a socket of the daemon's.
    Reply(Pending, Option<Purpose>),
    /// Something comes, or there is room: a copy of this pair for this call alone.
    Ready(OwnedFd, Weak<OwnedFd>),
}

/// Call that is kept until it can be tried.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) job: Job,
    pub(crate) wait: Wait,
}

impl Job {
    pub(crate) fn new(notified: NotifiedCall, call: SocketCall, process: u32) -> Self {
        Self {
            notified,
            call,
            process,
            deadline: None,
            done: 0,
            sent: 0,
            is_checked: false,
            has_begun: false,
            defaults: None,
            has_seen_signal: false,
        }
    }

    /// Begins with the next message of the call.
    pub(crate) fn begin_next(&mut self) {
        (self.sent, self.is_checked, self.has_begun, self.defaults) = (0, false, false, None);
    }

    pub(crate) fn argument(&self, index: usize) -> u64 {
        self.notified.arguments[index]
    }

    /// Argument that is an `int` or `unsigned int`.
    pub(crate) fn number(&self, index: usize) -> u32 {
        u32::try_from(self.argument(index) & u64::from(u32::MAX)).expect("32 bits")
    }

    pub(crate) fn signed(&self, index: usize) -> i32 {
        self.number(index).cast_signed()
    }

    /// Descriptor of the call.
    pub(crate) fn place(&self) -> Place {
        (self.process, self.number(0))
    }

    /// True if a signal breaks it off while it waits.
    pub(crate) fn is_interruptible(&self) -> bool {
        use SocketCall::{
            Accept, Accept4, Connect, Read, ReadV, RecvFrom, RecvMMsg, RecvMsg, SendMMsg, SendMsg, SendTo,
            Write, WriteV,
        };
        matches!(
            self.call,
            Accept
                | Accept4
                | Connect
                | Read
                | ReadV
                | RecvFrom
                | RecvMMsg
                | RecvMsg
                | SendMMsg
                | SendMsg
                | SendTo
                | Write
                | WriteV
        )
    }
}

impl Step {
    pub(crate) fn value(value: impl TryInto<i64>) -> Self {
        Self::Done(CallAnswer::Value(value.try_into().unwrap_or(i64::MAX)))
    }

    pub(crate) fn failed(error: Errno) -> Self {
        Self::Done(CallAnswer::Failed(error.0))
    }
}
