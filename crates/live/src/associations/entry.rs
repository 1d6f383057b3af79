//! State that is kept of one association.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use slantpath_applications::ProgramMessage;
use slantpath_host::{PathEventKind, SocketId};
use slantpath_sctp::notice::{Notice, Value};
use slantpath_sctp::{self as sctp, PathState, StreamChange, StreamId, StreamsChanged};

use super::outcome::Lost;

/// Number of notifications of an association that are kept while nobody asks for them; the oldest is dropped for the
/// newest.
pub const NOTIFICATIONS_MAX: usize = 64;

/// Events of an association besides messages and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notification {
    /// So many before this were dropped, since nobody asked for them.
    Missed(u64),
    /// Something has happened to the path to an address of the peer.
    Path {
        /// Address of the peer at the end of the path.
        address: IpAddr,
        /// Kind of the event on the path.
        kind: PathEventKind,
    },
    /// The peer has begun anew: what was sent and not acknowledged may be lost.
    Restarted,
    /// A message of this end has been given up, as its options asked.
    Abandoned,
    /// Event of an extension of SCTP.
    Sctp(Box<sctp::Event>),
}

impl Notification {
    /// The entry of SCTP's dictionary that it is; `None` for what only the holder of an association has to know.
    fn notice(&self) -> Option<Notice> {
        match *self {
            Self::Path { address: path, kind } => Some(match kind {
                PathEventKind::Active => Notice::PathChanged { path, state: PathState::Active },
                PathEventKind::Inactive => Notice::PathChanged { path, state: PathState::Inactive },
                PathEventKind::PotentiallyFailed => {
                    Notice::PathChanged { path, state: PathState::PotentiallyFailed }
                }
                PathEventKind::Primary => Notice::PrimaryChanged { path },
                // Of messages and timers, which no program is told.
                _ => return None,
            }),
            Self::Restarted => Some(Notice::Restarted {}),
            Self::Sctp(ref event) => event.notice(),
            Self::Abandoned | Self::Missed(_) => None,
        }
    }

    /// Names the event in a word or two, and gives the address that it is about, if any.
    pub fn what(&self) -> (&'static str, Option<IpAddr>) {
        match (self, self.notice()) {
            (_, Some(notice)) => (notice.called(), notice.address()),
            (Self::Missed(_), None) => (Self::MISSED, None),
            (Self::Abandoned, None) => ("abandoned", None),
            (Self::Path { address, kind }, None) => (kind.name(), Some(*address)),
            (Self::Restarted | Self::Sctp(_), None) => ("extension", None),
        }
    }

    /// Fields of the event by their names, as SCTP's dictionary has them; none where the event has no more to tell.
    pub fn fields(&self) -> Vec<(&'static str, Value)> {
        self.notice().map(|notice| notice.fields()).unwrap_or_default()
    }

    /// Name of the notification that tells of dropped ones, the one name that is not in SCTP's dictionary.
    pub const MISSED: &str = "missed";
}

impl Notification {
    /// The streams that it is about, and their direction: `outbound`, on which this end sends, or `inbound`. None:
    /// all of that direction. `None` if it is not about some.
    pub fn streams(&self) -> Option<(&'static str, &[StreamId])> {
        let Self::Sctp(event) = self else { return None };
        match &**event {
            sctp::Event::StreamsChanged(StreamsChanged::OutboundReset(streams))
            | sctp::Event::ReconfigurationAnswered { change: StreamChange::ResetOutbound(streams), .. } => {
                Some(("outbound", streams))
            }
            sctp::Event::StreamsChanged(StreamsChanged::InboundReset(streams))
            | sctp::Event::ReconfigurationAnswered { change: StreamChange::ResetInbound(streams), .. } => {
                Some(("inbound", streams))
            }
            _ => None,
        }
    }
}

/// Calls that the user of an association may try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A caller can be accepted.
    Caller,
    /// There is a notification.
    Notified,
    /// There is a message.
    Readable,
    /// An association is up, or has ended.
    Standing,
    /// There is room in its send buffer again.
    Writable,
}

/// A set of concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reported(u8);

impl Reported {
    /// Adds one; `false` if it was in.
    pub(super) const fn insert(&mut self, concern: Concern) -> bool {
        let bit = 1 << concern as u8;
        let is_new = self.0 & bit == 0;
        self.0 |= bit;
        is_new
    }

    pub(super) const fn remove(&mut self, concern: Concern) {
        self.0 &= !(1 << concern as u8);
    }
}

/// Stage that an association has reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Opening,
    Up,
    /// In order, or lost.
    Over(Option<Lost>),
}

/// Party that holds an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// Listener, until the association is accepted.
    Listener,
    /// No holder: the association only has to come to its end.
    Nobody,
    User,
}

/// One association, with its queued messages and notifications.
#[derive(Debug)]
pub(super) struct Entry {
    /// Whose it is: the endpoint that called or was called.
    pub(super) port: SocketId,
    pub(super) standing: Standing,
    pub(super) holder: Holder,
    pub(super) peer: Option<SocketAddr>,
    pub(super) outbound_streams: u16,
    /// Messages that had not been acknowledged when it ended.
    pub(super) unacknowledged: u64,
    pub(super) reported: Reported,
    /// True if SCTP has been asked to hold messages back.
    pub(super) is_paused: bool,
    /// Length of all queued messages, in bytes.
    pub(super) waiting_bytes: usize,
    messages: VecDeque<ProgramMessage>,
    /// Few have any.
    notifications: Option<Box<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    queue: VecDeque<Notification>,
    missed: u64,
}

impl Entry {
    pub(super) fn opening(port: SocketId) -> Self {
        Self::new(port, Standing::Opening, Holder::User)
    }

    pub(super) fn caller(port: SocketId) -> Self {
        Self::new(port, Standing::Up, Holder::Listener)
    }

    fn new(port: SocketId, standing: Standing, holder: Holder) -> Self {
        Self {
            port,
            standing,
            holder,
            peer: None,
            outbound_streams: 0,
            unacknowledged: 0,
            reported: Reported::default(),
            is_paused: false,
            waiting_bytes: 0,
            messages: VecDeque::new(),
            notifications: None,
        }
    }

    pub(super) fn put_message(&mut self, message: ProgramMessage) {
        self.waiting_bytes += message.payload.len();
        self.messages.push_back(message);
    }

    pub(super) fn take_message(&mut self) -> Option<ProgramMessage> {
        let message = self.messages.pop_front()?;
        self.waiting_bytes -= message.payload.len();
        if self.messages.is_empty() && self.messages.capacity() > KEPT_PLACES {
            // An association that is idle holds no more than one that was never busy.
            self.messages = VecDeque::new();
        }
        Some(message)
    }

    /// Throws away all that nobody will ask for.
    pub(super) fn discard(&mut self) {
        self.messages = VecDeque::new();
        self.waiting_bytes = 0;
        self.notifications = None;
    }

    pub(super) fn put_notification(&mut self, notification: Notification) {
        let kept = self.notifications.get_or_insert_default();
        if kept.queue.len() == NOTIFICATIONS_MAX {
            kept.queue.pop_front();
            kept.missed += 1;
        }
        kept.queue.push_back(notification);
    }

    pub(super) fn poll_notification(&mut self) -> Option<Notification> {
        let kept = self.notifications.as_mut()?;
        match std::mem::take(&mut kept.missed) {
            0 => {}
            missed => return Some(Notification::Missed(missed)),
        }
        let notification = kept.queue.pop_front();
        if kept.queue.is_empty() {
            self.notifications = None;
        }
        notification
    }
}

/// Number of places for messages that an association keeps while it has none.
const KEPT_PLACES: usize = 8;
