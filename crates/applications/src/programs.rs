//! Sockets of a host that a program outside of it holds.

use slantpath_base::{Instant, Stream};
use slantpath_host::{MessageReports, Peer, Peers, Reports, SocketId};
use slantpath_sctp as sctp;

use crate::application::{Application, Host, Kind};
use crate::program::{GivenBack, Program, ProgramConfig, ProgramEvent, ProgramMessage, Refused};

/// Host with sockets that a program holds.
pub trait Programs {
    /// Opens a port for a program. All its chance, the secret of its cookies among it, comes from `stream`.
    ///
    /// # Panics
    /// If its port is in use.
    fn add_program(&mut self, config: &ProgramConfig, stream: Stream) -> SocketId;

    /// Variant of [`Programs::add_program`] for a program that is told what becomes of its associations in SCTP's own
    /// words, messages included: all but their beginning and end is [`ProgramEvent::Sctp`].
    fn add_program_told_all(&mut self, config: &ProgramConfig, stream: Stream) -> SocketId;

    /// Opens an association from a program's port, whether that listens or not, to a peer with which it has none.
    ///
    /// # Errors
    /// Why it cannot be opened.
    fn connect(&mut self, now: Instant, port: SocketId, peer: &Peer) -> Result<SocketId, sctp::ConnectError>;

    /// Variant of [`Programs::connect`] from one of the ports of SCTP that have the number of a program's.
    ///
    /// # Errors
    /// Why it cannot be opened.
    fn connect_from(
        &mut self,
        now: Instant,
        from: (SocketId, sctp::PortId),
        peer: &Peer,
    ) -> Result<SocketId, sctp::ConnectError>;

    /// Gives back the socket of an association that came to a program's port, or was opened from it, and whose end has
    /// been told: another will have its name. `false` if there is no such socket, or its end has not.
    fn release(&mut self, id: SocketId) -> bool;

    /// Takes the next event for a program: all of one socket, oldest first, before the next.
    fn next_program_event(&mut self) -> Option<(SocketId, ProgramEvent)>;

    /// Takes the messages that were not acknowledged, once the end of a program's association or its beginning anew has
    /// been told, and before it is released.
    fn take_given_back(&mut self, id: SocketId) -> GivenBack;

    /// Sends a message on a program's association.
    ///
    /// # Errors
    /// Why it is not taken.
    fn send(&mut self, now: Instant, id: SocketId, message: ProgramMessage) -> Result<(), Refused>;

    /// Sends a message on a program's association. Gives its number there, by which [`ProgramEvent::Transmitted`] knows
    /// it, or says in SCTP's own words why it is not taken; that there is room in a full buffer again is told by
    /// [`ProgramEvent::Writable`].
    ///
    /// # Errors
    /// Why it is not taken.
    fn send_sctp(
        &mut self,
        now: Instant,
        id: SocketId,
        message: ProgramMessage,
    ) -> Result<u32, sctp::SendError>;
}

impl Programs for Host {
    fn add_program(&mut self, config: &ProgramConfig, stream: Stream) -> SocketId {
        let peers = config.peer.is_none().then_some(Peers::Many);
        let messages = MessageReports::all_if(config.sctp.trace_messages);
        let reports = Reports { messages, ..Reports::default() };
        self.add(config.transport(), peers, reports, stream, application(Program::new(config)))
    }

    fn add_program_told_all(&mut self, config: &ProgramConfig, stream: Stream) -> SocketId {
        let peers = config.peer.is_none().then_some(Peers::Many);
        let reports = Reports { verbatim: true, ..Reports::default() };
        self.add(config.transport(), peers, reports, stream, application(Program::new(config)))
    }

    fn connect(&mut self, now: Instant, port: SocketId, peer: &Peer) -> Result<SocketId, sctp::ConnectError> {
        if !is_programs(self, port) {
            return Err(sctp::ConnectError::NotBound(0));
        }
        self.call(now, port, peer, application(Program::opened()))
    }

    fn connect_from(
        &mut self,
        now: Instant,
        from: (SocketId, sctp::PortId),
        peer: &Peer,
    ) -> Result<SocketId, sctp::ConnectError> {
        if !is_programs(self, from.0) {
            return Err(sctp::ConnectError::NotBound(0));
        }
        self.call_from(now, from, peer, application(Program::opened()))
    }

    fn release(&mut self, id: SocketId) -> bool {
        is_programs(self, id) && self.give_back(id)
    }

    fn next_program_event(&mut self) -> Option<(SocketId, ProgramEvent)> {
        loop {
            let id = self.shared().with_events.first()?;
            if let Some((Application(Kind::Program(program)), _)) = self.application_mut(id)
                && let Some(event) = program.poll_event()
            {
                return Some((id, event));
            }
            self.shared_mut().with_events.pop();
        }
    }

    fn take_given_back(&mut self, id: SocketId) -> GivenBack {
        match self.application_mut(id) {
            Some((Application(Kind::Program(program)), _)) => program.take_given_back(),
            _ => GivenBack::default(),
        }
    }

    fn send(&mut self, now: Instant, id: SocketId, message: ProgramMessage) -> Result<(), Refused> {
        match self.command(id) {
            Some((Application(Kind::Program(program)), mut socket, _)) => {
                program.send(now, message, &mut socket)
            }
            _ => Err(Refused::Never(format!("no program has a socket {}", id.0))),
        }
    }

    fn send_sctp(
        &mut self,
        now: Instant,
        id: SocketId,
        message: ProgramMessage,
    ) -> Result<u32, sctp::SendError> {
        match self.command(id) {
            Some((Application(Kind::Program(program)), mut socket, _)) => {
                program.send_sctp(now, message, &mut socket)
            }
            _ => Err(sctp::SendError::NoAssociation),
        }
    }
}

fn application(program: Program) -> Application {
    Application(Kind::Program(Box::new(program)))
}

fn is_programs(host: &Host, id: SocketId) -> bool {
    matches!(host.application(id), Some(Application(Kind::Program(_))))
}
