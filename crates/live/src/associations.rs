//! The associations of the SCTP endpoints of a host, held for applications that come for them when they like.
//!
//! [`PortAssociations`] is the program below an interface with push-back: it accepts, connects, sends and receives
//! without ever waiting, says so where its user would have to wait, and tells by [`Concern`]s when to try again. It
//! knows no reactor and no thread, and runs on a simulated network as any program does; who waits, and how, is its
//! user's.
//!
//! What is held is bounded: callers that nobody has accepted, by [`AssociationsConfig::backlog`]; messages that nobody
//! has taken, by [`AssociationsConfig::read_ahead_bytes`] and the receive buffer, whose window closes behind them; and
//! what is told of an association, by [`NOTIFICATIONS_MAX`].

mod entry;
mod outcome;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_applications::{Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs};
use slantpath_base::{Instant, Stream};
use slantpath_host::{Peer, SocketId};
use slantpath_sctp as sctp;

use crate::by_socket::BySocket;
use crate::program::Program;
pub use entry::{Concern, NOTIFICATIONS_MAX, Notification};
use entry::{Entry, Holder, Standing};
pub use outcome::{ConnectRefused, Lost, Received, SendRefused};

/// Settings of the associations of an endpoint.
#[derive(Clone, Debug)]
pub struct AssociationsConfig {
    /// Number of callers that may be queued to be accepted; one more is aborted. Zero: nobody may call.
    pub backlog: usize,
    /// From how many bytes of messages on that nobody has taken an association takes no more from SCTP, so that the
    /// receive buffer fills and its window closes.
    pub read_ahead_bytes: usize,
}

impl Default for AssociationsConfig {
    /// 128 callers, as listening sockets have it on most systems; 64 KiB, some dozens of packets, so that SCTP is not
    /// halted for each message.
    fn default() -> Self {
        Self { backlog: 128, read_ahead_bytes: 65_536 }
    }
}

/// Readiness of a port to begin further associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Phase in which nothing more is begun and the existing associations come to their end.
    Closing,
}

/// The associations of the endpoints of a host, each a port of SCTP.
#[derive(Debug, Default)]
pub struct PortAssociations {
    /// By what names them.
    ports: BTreeMap<SocketId, Port>,
    entries: BySocket<Entry>,
    /// Queue of associations with the concern of each, each pair at most once.
    concerns: VecDeque<(SocketId, Concern)>,
    /// True if the host may have something to do because of a command.
    is_touched: bool,
    /// True if an association has come to its end.
    has_ended: bool,
}

/// One SCTP endpoint of the host.
#[derive(Debug)]
struct Port {
    config: AssociationsConfig,
    phase: Phase,
    /// Number of its associations that are not over.
    alive: usize,
    /// Associations that have come and that nobody has accepted, oldest first.
    callers: VecDeque<SocketId>,
}

impl PortAssociations {
    /// Opens a port, which listens unless `config` lets nobody call. All its chance comes from `stream`. What is given
    /// back names it to the other calls.
    ///
    /// # Panics
    /// If the port is in use at the host, or if `port` has a peer.
    pub fn open(
        &mut self,
        config: AssociationsConfig,
        port: &ProgramConfig,
        host: &mut Host,
        stream: Stream,
    ) -> SocketId {
        assert!(port.peer.is_none(), "whom to connect to is said later");
        let socket = host.add_program(port, stream);
        if config.backlog == 0 {
            host.refuse_callers(socket);
        }
        let port = Port { config, phase: Phase::Open, alive: 0, callers: VecDeque::new() };
        self.ports.insert(socket, port);
        self.is_touched = true;
        socket
    }

    /// Begins an association of a port, which is its user's until [`PortAssociations::release`]. Where it is refused
    /// because one with that peer has not ended yet ([`ConnectRefused::is_ending`]), it may be tried again once one
    /// has ([`PortAssociations::take_ended`]).
    pub fn connect(
        &mut self,
        now: Instant,
        host: &mut Host,
        port: SocketId,
        peer: &Peer,
    ) -> Result<SocketId, ConnectRefused> {
        let Some(own) = self.ports.get_mut(&port).filter(|own| own.phase == Phase::Open) else {
            return Err(ConnectRefused::Closing);
        };
        let id = host.connect(now, port, peer)?;
        own.alive += 1;
        self.is_touched = true;
        self.entries.insert(id, Entry::opening(port));
        Ok(id)
    }

    /// The association that has come to a port first of those that nobody has accepted; it is its user's from now on.
    pub fn accept(&mut self, port: SocketId) -> Option<SocketId> {
        let id = self.ports.get_mut(&port)?.callers.pop_front()?;
        if let Some(entry) = self.entries.get_mut(id) {
            entry.holder = Holder::User;
        }
        Some(id)
    }

    /// State of an association: `None` while it is being set up, then whether it is up, or how it has ended.
    pub fn standing(&self, id: SocketId) -> Option<Result<(), Lost>> {
        match &self.entries.get(id)?.standing {
            Standing::Opening => None,
            Standing::Up | Standing::Over(None) => Some(Ok(())),
            Standing::Over(Some(lost)) => Some(Err(lost.clone())),
        }
    }

    /// Tells if an association has ended, in whatever way, or is not known.
    pub fn is_ended(&self, id: SocketId) -> bool {
        self.entries.get(id).is_none_or(|entry| matches!(entry.standing, Standing::Over(_)))
    }

    /// The peer's first address and its port, once the association has been up.
    pub fn peer(&self, id: SocketId) -> Option<SocketAddr> {
        self.entries.get(id)?.peer
    }

    /// Number of messages that had not been acknowledged when an association ended: whether they have arrived is not
    /// known. Zero before.
    pub fn unacknowledged(&self, id: SocketId) -> u64 {
        self.entries.get(id).map_or(0, |entry| entry.unacknowledged)
    }

    /// Number of streams that can be sent on; zero before the association is up.
    pub fn outbound_streams(&self, id: SocketId) -> u16 {
        self.entries.get(id).map_or(0, |entry| entry.outbound_streams)
    }

    /// Hands a message over to be sent. Where it is refused for want of room ([`SendRefused::is_full`]) there is a
    /// [`Concern::Writable`] once there is some.
    pub fn send(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        message: ProgramMessage,
    ) -> Result<(), SendRefused> {
        match self.entries.get(id).map(|entry| &entry.standing) {
            None => Err(SendRefused::Ended(None)),
            Some(Standing::Over(lost)) => Err(SendRefused::Ended(lost.clone())),
            // It would be kept for ever, and nobody would know.
            Some(Standing::Up) if is_limited(&message) && !gives_up(host, id) => {
                Err(SendRefused::NotAgreed(sctp::Extension::PartialReliability))
            }
            Some(Standing::Opening | Standing::Up) => {
                host.send_sctp(now, id, message).map_err(SendRefused::Message)?;
                self.is_touched = true;
                Ok(())
            }
        }
    }

    /// The next message of an association. What has come before its end is received before the end is told.
    pub fn receive(&mut self, now: Instant, host: &mut Host, id: SocketId) -> Received {
        let Some(entry) = self.entries.get_mut(id) else { return Received::Ended(None) };
        let Some(message) = entry.take_message() else {
            return match &entry.standing {
                Standing::Opening | Standing::Up => Received::Nothing,
                Standing::Over(lost) => Received::Ended(lost.clone()),
            };
        };
        let read_ahead_bytes = self.ports.get(&entry.port).map_or(0, |port| port.config.read_ahead_bytes);
        if entry.is_paused && entry.waiting_bytes < read_ahead_bytes {
            entry.is_paused = false;
            self.is_touched = true;
            host.resume(now, id);
        }
        Received::Message(message)
    }

    /// Takes the next event of an association or its paths, oldest first.
    pub fn poll_notification(&mut self, id: SocketId) -> Option<Notification> {
        self.entries.get_mut(id)?.poll_notification()
    }

    /// Takes the next thing that a user may try again, with its association: for a caller that has come, the caller's.
    pub fn poll_concern(&mut self) -> Option<(SocketId, Concern)> {
        let (id, concern) = self.concerns.pop_front()?;
        if let Some(entry) = self.entries.get_mut(id) {
            entry.reported.remove(concern);
        }
        Some((id, concern))
    }

    /// Tells if there is a concern, or an association has ended since [`PortAssociations::take_ended`] was last asked.
    pub fn has_news(&self) -> bool {
        self.has_ended || !self.concerns.is_empty()
    }

    /// Tells if the host may have something to send because of commands since this was last asked.
    pub const fn take_touched(&mut self) -> bool {
        std::mem::replace(&mut self.is_touched, false)
    }

    /// Has SCTP itself do what extensions and paths have of commands: streams reset or added, addresses, keys, the
    /// primary path, a HEARTBEAT. `None` unless the association is up.
    pub fn command<R>(
        &mut self,
        host: &mut Host,
        id: SocketId,
        act: impl FnOnce(&mut sctp::Endpoint, sctp::AssociationId) -> R,
    ) -> Option<R> {
        if self.entries.get(id)?.standing != Standing::Up {
            return None;
        }
        self.is_touched = true;
        let (sctp, association) = host.sctp_association(id)?;
        Some(act(sctp, association))
    }

    /// Ends an association once all that was sent has been delivered.
    pub fn shut_down(&mut self, now: Instant, host: &mut Host, id: SocketId) {
        if !self.is_ended(id) {
            self.is_touched = true;
            host.shut_down(now, id);
        }
    }

    /// Ends an association at once, and tells the peer why.
    pub fn abort(&mut self, now: Instant, host: &mut Host, id: SocketId, reason: Bytes) {
        if !self.is_ended(id) {
            self.is_touched = true;
            host.abort_because(now, id, reason);
        }
    }

    /// Lets go of an association that its user has no more to do with: it is shut down in order, and messages that
    /// arrive meanwhile are discarded, so that the peer can end as well. One that is still being set up is given up.
    pub fn release(&mut self, now: Instant, host: &mut Host, id: SocketId) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        self.is_touched = true;
        entry.holder = Holder::Nobody;
        entry.discard();
        let was_paused = std::mem::take(&mut entry.is_paused);
        match entry.standing {
            Standing::Opening => {
                host.abort(now, id);
            }
            Standing::Up => {
                if was_paused {
                    host.resume(now, id);
                }
                host.shut_down(now, id);
            }
            Standing::Over(_) => self.forget(host, id),
        }
    }

    /// Lets nobody call a port any more; who waits to be accepted is aborted.
    pub fn stop_accepting(&mut self, now: Instant, host: &mut Host, port: SocketId) {
        let Some(own) = self.ports.get_mut(&port) else { return };
        self.is_touched = true;
        host.refuse_callers(port);
        for id in std::mem::take(&mut own.callers) {
            self.turn_away(now, host, id);
        }
    }

    /// Begins nothing more at a port, and shuts down what there is; who waits to be accepted is aborted.
    pub fn close(&mut self, now: Instant, host: &mut Host, port: SocketId) {
        self.begin_closing(now, host, port);
        for (id, entry) in self.entries.iter().filter(|(_, entry)| entry.port == port) {
            match (&entry.standing, entry.holder) {
                (Standing::Opening, _) => {
                    host.abort(now, id);
                }
                (Standing::Up, Holder::User | Holder::Nobody) => {
                    host.shut_down(now, id);
                }
                (Standing::Up, Holder::Listener) | (Standing::Over(_), _) => {}
            }
        }
    }

    /// Variant of [`PortAssociations::close`] that ends the associations at once.
    pub fn abort_all(&mut self, now: Instant, host: &mut Host, port: SocketId) {
        self.begin_closing(now, host, port);
        for (id, entry) in self.entries.iter().filter(|(_, entry)| entry.port == port) {
            if !matches!(entry.standing, Standing::Over(_)) {
                host.abort(now, id);
            }
        }
    }

    fn begin_closing(&mut self, now: Instant, host: &mut Host, port: SocketId) {
        if let Some(own) = self.ports.get_mut(&port) {
            own.phase = Phase::Closing;
        }
        self.stop_accepting(now, host, port);
    }

    /// Tells if a port begins nothing more.
    pub fn is_closing(&self, port: SocketId) -> bool {
        self.ports.get(&port).is_none_or(|own| own.phase == Phase::Closing)
    }

    /// Number of associations of a port that are not over, whoever holds them.
    pub fn alive(&self, port: SocketId) -> usize {
        self.ports.get(&port).map_or(0, |own| own.alive)
    }

    /// Tells if an association has come to its end since this was last asked: whoever waits for that of a port's last
    /// one, or to call the same peer again, has to look.
    pub const fn take_ended(&mut self) -> bool {
        std::mem::replace(&mut self.has_ended, false)
    }

    /// Number of associations of all ports that are known, with those that are over and that a user still holds.
    pub fn held(&self) -> usize {
        self.entries.len()
    }

    /// Aborts one that nobody will accept.
    fn turn_away(&mut self, now: Instant, host: &mut Host, id: SocketId) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        entry.holder = Holder::Nobody;
        entry.discard();
        if matches!(entry.standing, Standing::Over(_)) {
            self.forget(host, id);
        } else {
            host.abort_because(now, id, Bytes::from_static(TURNED_AWAY));
        }
    }

    /// An association is up; one that has come, at the port `listener`.
    fn connected(
        &mut self,
        now: Instant,
        host: &mut Host,
        id: SocketId,
        listener: Option<SocketId>,
        streams: u16,
    ) {
        let known = self.entries.remove(id);
        // A peer that begins anew from another address takes its association over.
        let is_caller = listener.is_some() && known.is_none();
        let Some(port) = known.as_ref().map(|entry| entry.port).or(listener) else { return };
        let Some(own) = self.ports.get_mut(&port) else { return };
        let mut entry = known.unwrap_or_else(|| {
            own.alive += 1;
            Entry::caller(port)
        });
        entry.standing = Standing::Up;
        entry.outbound_streams = streams;
        entry.peer = host.peer(id);
        let is_released = entry.holder == Holder::Nobody;
        self.entries.insert(id, entry);
        if is_released {
            host.shut_down(now, id);
        } else if !is_caller {
            self.tell(id, Concern::Standing);
        } else if own.phase == Phase::Open && own.callers.len() < own.config.backlog {
            own.callers.push_back(id);
            self.tell(id, Concern::Caller);
        } else {
            self.turn_away(now, host, id);
        }
    }

    fn message(&mut self, now: Instant, host: &mut Host, id: SocketId, message: ProgramMessage) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if entry.holder == Holder::Nobody {
            return;
        }
        entry.put_message(message);
        let read_ahead_bytes = self.ports.get(&entry.port).map_or(0, |port| port.config.read_ahead_bytes);
        if !entry.is_paused && entry.waiting_bytes >= read_ahead_bytes {
            entry.is_paused = true;
            host.pause(now, id);
        }
        self.tell(id, Concern::Readable);
    }

    fn ended(&mut self, host: &mut Host, id: SocketId, lost: Option<Lost>) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if let Some(port) = self.ports.get_mut(&entry.port) {
            port.alive -= 1;
            self.has_ended = true;
        }
        let lost = match (&entry.standing, lost) {
            // Whoever has an association says why it ends it.
            (Standing::Opening, Some(Lost::PeerAborted(causes))) if causes.is_empty() => Some(Lost::Nobody),
            (_, lost) => lost,
        };
        entry.standing = Standing::Over(lost);
        if entry.holder == Holder::Nobody {
            self.forget(host, id);
        } else {
            self.tell(id, Concern::Standing);
        }
    }

    /// Gives the socket of an association back that is over and that nobody holds.
    fn forget(&mut self, host: &mut Host, id: SocketId) {
        self.entries.remove(id);
        host.release(id);
    }

    fn notify(&mut self, id: SocketId, notification: Notification) {
        let Some(entry) = self.entries.get_mut(id) else { return };
        if entry.holder != Holder::Nobody {
            entry.put_notification(notification);
            self.tell(id, Concern::Notified);
        }
    }

    fn tell(&mut self, id: SocketId, concern: Concern) {
        if self.entries.get_mut(id).is_some_and(|entry| entry.reported.insert(concern)) {
            self.concerns.push_back((id, concern));
        }
    }
}

/// Tells if a message is to be given up at some time.
fn is_limited(message: &ProgramMessage) -> bool {
    message.options.as_ref().is_some_and(|options| options.reliability != sctp::Reliability::Full)
}

/// Tells if messages of an association can be given up (RFC 3758).
fn gives_up(host: &Host, id: SocketId) -> bool {
    host.sctp_extensions(id).contain(sctp::Extension::PartialReliability)
}

/// Reason for the abort that a caller is given for whom there is no place.
const TURNED_AWAY: &[u8] = b"nobody accepts";

impl Program for PortAssociations {
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent) {
        match event {
            ProgramEvent::Connected { listener, outbound_streams } => {
                self.connected(now, host, socket, listener, outbound_streams);
            }
            ProgramEvent::Message(message) => self.message(now, host, socket, message),
            ProgramEvent::Writable => self.tell(socket, Concern::Writable),
            ProgramEvent::Ended { failure, reason, unacknowledged } => {
                if let Some(entry) = self.entries.get_mut(socket) {
                    entry.unacknowledged = unacknowledged;
                }
                let lost = Lost::of_end(failure, reason);
                self.ended(host, socket, lost);
            }
            ProgramEvent::Path { address, kind } => self.notify(socket, Notification::Path { address, kind }),
            ProgramEvent::Restarted => self.notify(socket, Notification::Restarted),
            ProgramEvent::Abandoned => self.notify(socket, Notification::Abandoned),
            ProgramEvent::Sctp(event) => self.notify(socket, Notification::Sctp(event)),
            ProgramEvent::Transmitted(_) => {}
        }
    }

    fn handle_deadline(&mut self, _: Instant, _: &mut Host) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        let ports: Vec<(SocketId, Phase)> = self.ports.iter().map(|(id, port)| (*id, port.phase)).collect();
        for (id, phase) in ports {
            match phase {
                Phase::Open => self.close(now, host, id),
                Phase::Closing => self.abort_all(now, host, id),
            }
        }
    }

    fn is_over(&self) -> bool {
        self.ports.values().all(|port| port.phase == Phase::Closing && port.alive == 0)
    }
}

#[cfg(test)]
mod tests;
