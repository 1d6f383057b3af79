//! Handle of one association: messages, notifications, paths and its end.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use slantpath_live::{
    Instant, Lost, MessageOptions, Notification, ProgramMessage, Received, SendRefused, SocketId,
};
use slantpath_sctp as sctp;

use crate::error::{AssociationError, SendError, TryReceiveError};
use crate::shared::{Bell, Shared, wait_for};

/// An association with another endpoint. Clones are the same association, for several tasks: each message is received
/// by one of them.
///
/// Once all are dropped it is shut down in order: what was sent is delivered, what comes meanwhile is thrown away.
#[derive(Clone, Debug)]
pub struct Association {
    held: Arc<Held>,
}

/// An association as long as somebody holds it.
#[derive(Debug)]
struct Held {
    shared: Arc<Shared>,
    id: SocketId,
    bell: Arc<Bell>,
}

impl Association {
    pub(crate) fn new(shared: Arc<Shared>, id: SocketId, bell: Arc<Bell>) -> Self {
        Self { held: Arc::new(Held { shared, id, bell }) }
    }

    /// Waits until it is up.
    pub(crate) async fn established(&self) -> Result<(), AssociationError> {
        wait_for(&self.held.bell.standing, || {
            let state = self.held.shared.lock();
            match state.live.host().program.standing(self.held.id) {
                Some(outcome) => Some(outcome.map_err(AssociationError::Lost)),
                None => state.check().err().map(|error| Err(error.into())),
            }
        })
        .await
    }

    /// The peer's first address, and its SCTP port.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.held.shared.lock().live.host().program.peer(self.held.id)
    }

    /// Number of messages that had not been acknowledged when it ended: whether they have arrived is not known. Zero
    /// before.
    pub fn unacknowledged(&self) -> u64 {
        self.held.shared.lock().live.host().program.unacknowledged(self.held.id)
    }

    /// Number of streams that can be sent on: messages take those from 0 to one less.
    pub fn outbound_streams(&self) -> u16 {
        self.held.shared.lock().live.host().program.outbound_streams(self.held.id)
    }

    /// Hands a message over to be sent on a stream, and waits while the send buffer has no room for it. It is sent
    /// whole or not at all. Who waits here waits in order.
    ///
    /// Dropped before it is ready, it has sent nothing.
    pub async fn send(
        &self,
        stream: u16,
        payload: impl Into<Bytes>,
        options: MessageOptions,
    ) -> Result<(), SendError> {
        let payload = payload.into();
        let _turn = self.held.bell.turn.lock().await;
        wait_for(&self.held.bell.writable, || match self.offer(stream, payload.clone(), options) {
            Err(error) if error.is_full() => None,
            outcome => Some(outcome),
        })
        .await
    }

    /// Variant of [`Association::send`] that does not wait: where the send buffer has no room it fails with
    /// [`BufferFull`](sctp::SendError::BufferFull). Its message may overtake those queued in [`Association::send`].
    pub fn try_send(
        &self,
        stream: u16,
        payload: impl Into<Bytes>,
        options: MessageOptions,
    ) -> Result<(), SendError> {
        self.offer(stream, payload.into(), options)
    }

    /// Hands a message over unless somebody waits to, or there is no room: then nothing has been done.
    pub(crate) fn send_in_turn(
        &self,
        stream: u16,
        payload: Bytes,
        options: MessageOptions,
    ) -> Option<Result<(), SendError>> {
        let _turn = self.held.bell.turn.try_lock().ok()?;
        Some(self.offer(stream, payload, options))
            .filter(|sent| !sent.as_ref().is_err_and(SendError::is_full))
    }

    fn offer(&self, stream: u16, payload: Bytes, options: MessageOptions) -> Result<(), SendError> {
        self.held.shared.lock().check()?;
        let message = options.message(stream, payload);
        let sent = self.held.shared.act(|program, host, now| program.send(now, host, self.held.id, message));
        sent.map_err(|refused| match refused {
            SendRefused::Ended(Some(lost)) => SendError::Lost(lost),
            SendRefused::Message(error) => SendError::Refused(error),
            SendRefused::NotAgreed(extension) => SendError::NotAgreed(extension),
            _ => SendError::Ended,
        })
    }

    /// Waits for the next message: of each stream in order, but for unordered ones. `None` once the association has
    /// ended in order, and all that came has been received.
    ///
    /// Dropped before it is ready, it has taken nothing.
    pub async fn receive(&self) -> Result<Option<ProgramMessage>, AssociationError> {
        wait_for(&self.held.bell.readable, || self.next()).await
    }

    /// A message that has come. Where none is there now, the error tells it from the end.
    pub fn try_receive(&self) -> Result<ProgramMessage, TryReceiveError> {
        match self.next() {
            Some(Ok(Some(message))) => Ok(message),
            Some(Ok(None)) => Err(TryReceiveError::Ended),
            Some(Err(error)) => Err(TryReceiveError::Failed(error)),
            None => Err(TryReceiveError::Nothing),
        }
    }

    /// Takes the next outcome for [`Association::receive`]; nothing while it has to wait.
    fn next(&self) -> Option<Result<Option<ProgramMessage>, AssociationError>> {
        match self.held.shared.act(|program, host, now| program.receive(now, host, self.held.id)) {
            Received::Message(message) => Some(Ok(Some(message))),
            Received::Ended(None) => Some(Ok(None)),
            Received::Ended(Some(lost)) => Some(Err(lost.into())),
            Received::Nothing => self.held.shared.lock().check().err().map(|error| Err(error.into())),
        }
    }

    /// Waits for the next notification: what has happened to paths, or that the peer has begun anew. `None` once the
    /// association has ended. Who never asks misses the oldest, and nothing else.
    pub async fn notification(&self) -> Option<Notification> {
        wait_for(&self.held.bell.notified, || {
            let mut state = self.held.shared.lock();
            let is_failed = state.failure.is_some();
            let program = &mut state.live.host_mut().program;
            match program.poll_notification(self.held.id) {
                Some(notification) => Some(Some(notification)),
                None => (is_failed || program.is_ended(self.held.id)).then_some(None),
            }
        })
        .await
    }

    /// The paths of the association as they are now: RTT, RTO, windows, path MTU, counts. None once it has ended.
    pub fn paths(&self) -> Vec<sctp::PathSnapshot> {
        let mut state = self.held.shared.lock();
        let now = state.live.now();
        state.live.host_mut().host.sctp_paths(now, self.held.id)
    }

    /// Values of the association in the tables of the SCTP MIB ([RFC 3873]) now: state, streams, expirations of its
    /// timers, retransmissions, the addresses of both ends. `None` once it has ended.
    ///
    /// [RFC 3873]: https://www.rfc-editor.org/rfc/rfc3873
    pub fn mib(&self) -> Option<sctp::MibAssociation> {
        self.held.shared.lock().live.host().host.sctp_mib_association(self.held.id)
    }

    /// Ends the association once all that was sent has been delivered, and waits until it has ended. What comes
    /// meanwhile can still be received.
    ///
    /// Dropped before it is ready, the association ends all the same.
    pub async fn shutdown(&self) -> Result<(), AssociationError> {
        self.held.shared.act(|program, host, now| program.shut_down(now, host, self.held.id));
        self.ended().await
    }

    /// Waits until the association has ended, by whichever end.
    pub async fn ended(&self) -> Result<(), AssociationError> {
        wait_for(&self.held.bell.standing, || {
            let state = self.held.shared.lock();
            let program = &state.live.host().program;
            if program.is_ended(self.held.id) {
                let outcome: Option<Result<(), Lost>> = program.standing(self.held.id);
                return Some(outcome.unwrap_or(Ok(())).map_err(AssociationError::Lost));
            }
            state.check().err().map(|error| Err(error.into()))
        })
        .await
    }

    /// Has SCTP itself do what extensions and paths have of commands: streams reset or added ([RFC 6525]), addresses
    /// added or deleted ([RFC 5061]), keys, the primary path, a HEARTBEAT. What comes of it is told as a
    /// [`Notification`]. `None` unless the association is up.
    ///
    /// ```no_run
    /// # fn add(association: &slantpath_tokio::Association) {
    /// let added = association.command(|sctp, id, now| sctp.add_streams(now, id, 4, 0));
    /// assert_eq!(added, Some(Ok(())));
    /// # }
    /// ```
    ///
    /// [RFC 6525]: https://www.rfc-editor.org/rfc/rfc6525
    /// [RFC 5061]: https://www.rfc-editor.org/rfc/rfc5061
    pub fn command<R>(
        &self,
        act: impl FnOnce(&mut sctp::Endpoint, sctp::AssociationId, Instant) -> R,
    ) -> Option<R> {
        self.held
            .shared
            .act(|program, host, now| program.command(host, self.held.id, |sctp, id| act(sctp, id, now)))
    }

    /// Ends the association at once: what was sent and has not been acknowledged may be lost. The peer is told why.
    pub fn abort(&self, reason: impl Into<Bytes>) {
        let reason = reason.into();
        self.held.shared.act(|program, host, now| program.abort(now, host, self.held.id, reason));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Before its name can be another's.
        self.shared.lock().take_bell(self.id);
        self.shared.act(|program, host, now| program.release(now, host, self.id));
    }
}
