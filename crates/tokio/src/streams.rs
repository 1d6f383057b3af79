//! Messages and callers as the `Stream` and `Sink` of the crates `futures-core` and `futures-sink`.
//!
//! Waiting is boxed; a message that is there already, or finds room, is not.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::{FusedStream, Stream};
use futures_sink::Sink;
use slantpath_live::{MessageOptions, Notification, ProgramMessage};

use crate::association::Association;
use crate::endpoint::Endpoint;
use crate::error::{AssociationError, EndpointError, SendError};

/// Future of what is waited for.
type Waiting<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// State of a stream of items.
enum Stage<T> {
    /// The next one is asked for when somebody polls.
    Idle,
    /// The next one is waited for.
    Waiting(Waiting<T>),
    /// There is none any more.
    Ended,
}

impl<T> Stage<T> {
    const fn has_ended(&self) -> bool {
        matches!(self, Self::Ended)
    }

    /// Gives the item that has come. Where nothing is waited for, `wait` says what is.
    fn poll(&mut self, cx: &mut Context<'_>, wait: impl FnOnce() -> Option<Waiting<T>>) -> Poll<Option<T>> {
        if let Self::Idle = self {
            *self = wait().map_or(Self::Ended, Self::Waiting);
        }
        let Self::Waiting(waiting) = self else { return Poll::Ready(None) };
        let item = ready!(waiting.as_mut().poll(cx));
        *self = Self::Idle;
        Poll::Ready(Some(item))
    }
}

/// The messages of an association, in the order in which [`Association::receive`] gives them. An error is the last
/// item. Dropped, it has taken nothing that it has not given.
#[must_use = "nothing is received unless it is polled"]
pub struct Messages {
    association: Association,
    stage: Stage<Result<Option<ProgramMessage>, AssociationError>>,
}

/// The notifications of an association, as [`Association::notification`] gives them.
#[must_use = "nothing is heard unless it is polled"]
pub struct Notifications {
    association: Association,
    stage: Stage<Option<Notification>>,
}

/// The associations that peers have opened with an endpoint, as [`Endpoint::accept`] gives them. It ends when the
/// endpoint is closed; another error is the last item.
#[must_use = "nobody is accepted unless it is polled"]
pub struct Callers {
    endpoint: Endpoint,
    stage: Stage<Result<Association, EndpointError>>,
}

/// Sends each message that it is given on one stream of an association, whole and in their order.
///
/// It is ready when the message before has been handed over, as by [`Association::send`]: it is halted by a full send
/// buffer. Flushed, everything has been handed over, and not necessarily delivered. Closed, it has been, and the
/// association goes on: others may send on it. Dropped, it takes with it a message that waits for room.
#[must_use = "nothing is sent unless it is polled"]
pub struct Outgoing {
    association: Association,
    stream: u16,
    options: MessageOptions,
    /// A message that waits for room.
    waiting: Option<Waiting<Result<(), SendError>>>,
}

impl Association {
    /// The messages that come, as a `Stream`.
    pub fn messages(&self) -> Messages {
        Messages { association: self.clone(), stage: Stage::Idle }
    }

    /// The notifications that come, as a `Stream`.
    pub fn notifications(&self) -> Notifications {
        Notifications { association: self.clone(), stage: Stage::Idle }
    }

    /// A `Sink` of messages for a stream, all sent with the same options.
    pub fn outgoing(&self, stream: u16, options: MessageOptions) -> Outgoing {
        Outgoing { association: self.clone(), stream, options, waiting: None }
    }
}

impl Endpoint {
    /// Associations that peers open, as a `Stream`.
    pub fn callers(&self) -> Callers {
        Callers { endpoint: self.clone(), stage: Stage::Idle }
    }
}

impl Stream for Messages {
    type Item = Result<ProgramMessage, AssociationError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { association, stage } = self.get_mut();
        if let Stage::Idle = stage
            && let Ok(message) = association.try_receive()
        {
            return Poll::Ready(Some(Ok(message)));
        }
        let wait = || {
            let association = association.clone();
            Some(Box::pin(async move { association.receive().await }) as Waiting<_>)
        };
        let item = ready!(stage.poll(cx, wait)).and_then(Result::transpose);
        if !matches!(item, Some(Ok(_))) {
            *stage = Stage::Ended;
        }
        Poll::Ready(item)
    }
}

impl FusedStream for Messages {
    fn is_terminated(&self) -> bool {
        self.stage.has_ended()
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { association, stage } = self.get_mut();
        let wait = || {
            let association = association.clone();
            Some(Box::pin(async move { association.notification().await }) as Waiting<_>)
        };
        let item = ready!(stage.poll(cx, wait)).flatten();
        if item.is_none() {
            *stage = Stage::Ended;
        }
        Poll::Ready(item)
    }
}

impl FusedStream for Notifications {
    fn is_terminated(&self) -> bool {
        self.stage.has_ended()
    }
}

impl Stream for Callers {
    type Item = Result<Association, EndpointError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { endpoint, stage } = self.get_mut();
        let wait = || {
            let endpoint = endpoint.clone();
            Some(Box::pin(async move { endpoint.accept().await }) as Waiting<_>)
        };
        let item = ready!(stage.poll(cx, wait));
        if !matches!(item, Some(Ok(_))) {
            *stage = Stage::Ended;
        }
        // Who closes the endpoint wants no error.
        Poll::Ready(item.filter(|item| !matches!(item, Err(EndpointError::Closed))))
    }
}

impl FusedStream for Callers {
    fn is_terminated(&self) -> bool {
        self.stage.has_ended()
    }
}

impl Outgoing {
    /// Waits until the message before has been handed over.
    fn poll_handed_over(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        let Some(waiting) = &mut self.waiting else { return Poll::Ready(Ok(())) };
        let outcome = ready!(waiting.as_mut().poll(cx));
        self.waiting = None;
        Poll::Ready(outcome)
    }
}

impl Sink<Bytes> for Outgoing {
    type Error = SendError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        self.get_mut().poll_handed_over(cx)
    }

    /// # Panics
    /// If the message before has not been handed over: [`poll_ready`](Sink::poll_ready) says when it has.
    fn start_send(self: Pin<&mut Self>, payload: Bytes) -> Result<(), SendError> {
        let Self { association, stream, options, waiting } = self.get_mut();
        assert!(waiting.is_none(), "a message is begun only once the sink is ready");
        let (stream, options) = (*stream, *options);
        if let Some(outcome) = association.send_in_turn(stream, payload.clone(), options) {
            return outcome;
        }
        let association = association.clone();
        *waiting = Some(Box::pin(async move { association.send(stream, payload, options).await }));
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        self.get_mut().poll_handed_over(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        self.get_mut().poll_handed_over(cx)
    }
}

impl core::fmt::Debug for Messages {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Messages").field("association", &self.association).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Notifications {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Notifications").field("association", &self.association).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Callers {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Callers").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Outgoing").field("stream", &self.stream).finish_non_exhaustive()
    }
}
