//! Associations of a host that an adaptation layer outside of it drives.

use std::net::IpAddr;

use slantpath_base::{Instant, Seed};
use slantpath_host::{MessageReports, PathSample, Peers, Reports, Socket, SocketId};
use slantpath_wire::transport::{Transmit, TransportInput};

use crate::application::{Application, Host, Kind};
use crate::carrier::{AssociationConfig, AssociationCounters, Carrier};
use crate::carrier_records::CarrierRecords;

/// Host with associations that it keeps up for an adaptation layer above.
pub trait Associations {
    /// Adds an end of an association that an adaptation layer drives. `path` names it for its stream of chance.
    ///
    /// # Panics
    /// If its port is in use.
    fn add_association(&mut self, config: &AssociationConfig, seed: Seed, path: &str) -> SocketId;

    /// Tells if any association has an input for the layer above.
    fn has_association_inputs(&self) -> bool;

    /// Takes the next input of an association for the layer above: all of one association, oldest first, before the
    /// next.
    fn next_association_input(&mut self) -> Option<(SocketId, TransportInput)>;

    /// Sends a message on an association, in order on its stream. One that is down throws it away and counts it.
    ///
    /// # Panics
    /// If the host has no such association.
    fn send_on_association(&mut self, now: Instant, id: SocketId, transmit: Transmit);

    /// Ends an association at once. The end that opened it opens it again.
    ///
    /// # Panics
    /// If the host has no such association.
    fn abort_association(&mut self, now: Instant, id: SocketId);

    /// Ends an association at once, and leaves it closed until [`Associations::reopen_association`].
    ///
    /// # Panics
    /// If the host has no such association.
    fn close_association(&mut self, now: Instant, id: SocketId);

    /// Opens an association that was closed, if this end opens it.
    ///
    /// # Panics
    /// If the host has no such association.
    fn reopen_association(&mut self, now: Instant, id: SocketId);

    /// Counters of an association; `None` if there is no such association.
    fn association_counters(&self, id: SocketId) -> Option<AssociationCounters>;

    /// Messages of an association that wait for SCTP's buffer; `None` if there is no such association.
    fn association_waiting(&self, id: SocketId) -> Option<usize>;

    /// Takes the samples of an association's paths that were kept since this was last asked, and the addresses that the
    /// paths lead to, which they are numbered by; `None` if there is no such association.
    fn take_association_samples(&mut self, id: SocketId) -> Option<(Vec<PathSample>, &[IpAddr])>;

    /// Keeps failovers of an association and arrivals of messages from now on, for somebody who takes them.
    fn keep_records(&mut self, id: SocketId);

    /// Takes what was recorded of an association since this was last asked; `None` if there is no such association.
    fn take_carrier_records(&mut self, id: SocketId) -> Option<CarrierRecords>;
}

impl Associations for Host {
    fn add_association(&mut self, config: &AssociationConfig, seed: Seed, path: &str) -> SocketId {
        let reports = Reports {
            messages: match (config.sctp.trace_messages, config.measures_delay) {
                (true, _) => MessageReports::All,
                (false, true) => MessageReports::Acknowledged,
                (false, false) => MessageReports::Nothing,
            },
            timers: config.sctp.trace_timers,
            ..Reports::default()
        };
        let peers = config.peer.is_none().then_some(Peers::One);
        let carrier = Application(Kind::Carrier(Box::new(Carrier::new(config))));
        self.add(config.transport(), peers, reports, seed.stream(path), carrier)
    }

    fn has_association_inputs(&self) -> bool {
        !self.shared().with_inputs.is_empty()
    }

    fn next_association_input(&mut self) -> Option<(SocketId, TransportInput)> {
        loop {
            let id = self.shared().with_inputs.first()?;
            if let Some((Application(Kind::Carrier(carrier)), _)) = self.application_mut(id)
                && let Some(input) = carrier.inputs().poll()
            {
                return Some((id, input));
            }
            self.shared_mut().with_inputs.pop();
        }
    }

    fn send_on_association(&mut self, now: Instant, id: SocketId, transmit: Transmit) {
        act(self, id, |carrier, socket| carrier.send(now, transmit, socket));
    }

    fn abort_association(&mut self, now: Instant, id: SocketId) {
        act(self, id, |_, socket| socket.abort(now));
    }

    fn close_association(&mut self, now: Instant, id: SocketId) {
        act(self, id, |carrier, socket| carrier.close(now, socket));
    }

    fn reopen_association(&mut self, now: Instant, id: SocketId) {
        act(self, id, |carrier, _| carrier.open_again(now));
    }

    fn association_counters(&self, id: SocketId) -> Option<AssociationCounters> {
        carrier(self, id).map(Carrier::counters)
    }

    fn association_waiting(&self, id: SocketId) -> Option<usize> {
        carrier(self, id).map(Carrier::waiting)
    }

    fn take_association_samples(&mut self, id: SocketId) -> Option<(Vec<PathSample>, &[IpAddr])> {
        let Kind::Carrier(carrier) = &mut self.application_mut(id)?.0.0 else { return None };
        let samples = carrier.take_samples();
        Some((samples, self.paths(id)?))
    }

    fn keep_records(&mut self, id: SocketId) {
        if let Some((Application(Kind::Carrier(carrier)), _)) = self.application_mut(id) {
            carrier.keep_records();
        }
    }

    fn take_carrier_records(&mut self, id: SocketId) -> Option<CarrierRecords> {
        let Kind::Carrier(carrier) = &mut self.application_mut(id)?.0.0 else { return None };
        Some(carrier.take_records())
    }
}

fn carrier(host: &Host, id: SocketId) -> Option<&Carrier> {
    match &host.application(id)?.0 {
        Kind::Carrier(carrier) => Some(carrier),
        _ => None,
    }
}

fn act(host: &mut Host, id: SocketId, act: impl FnOnce(&mut Carrier, &mut Socket<'_>)) {
    let Some((Application(Kind::Carrier(carrier)), mut socket, shared)) = host.command(id) else {
        panic!("the host has no association {}", id.0)
    };
    act(carrier, &mut socket);
    shared.with_inputs.note(id, carrier.inputs());
}
