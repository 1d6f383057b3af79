//! Holders of a host's sockets: a program, and the host together with it.

use std::net::IpAddr;

use slantpath_applications::{Host, ProgramEvent, Programs};
use slantpath_base::Instant;
use slantpath_host::SocketId;
use slantpath_interface::{AddressNews, EndSystem, InterfaceId, Journey};
use slantpath_wire::Packet;

/// A host that has these addresses of the machine, each at the interface with the number of its place, whose routes are
/// the operating system's, and who answers what comes for none of its ports.
///
/// # Panics
/// If there are 2^32 addresses.
pub fn host_of(addresses: &[IpAddr]) -> Host {
    host_from(0, addresses)
}

/// Variant of [`host_of`] for one of several hosts behind the same sockets: its interfaces have numbers from `first`
/// on.
///
/// # Panics
/// If there are 2^32 addresses.
pub fn host_from(first: u32, addresses: &[IpAddr]) -> Host {
    let numbered =
        addresses.iter().zip(first..).map(|(address, number)| (*address, InterfaceId::new(number)));
    let mut host = Host::new(numbered.collect());
    host.route_by_source();
    host.answer_out_of_the_blue();
    host
}

/// A program above a host. It reads no clock and draws no chance but from streams that it was handed: what it does
/// follows from what it is told.
pub trait Program {
    /// Something has happened to one of its sockets.
    fn handle_event(&mut self, now: Instant, host: &mut Host, socket: SocketId, event: ProgramEvent);

    /// The host has taken a packet in, before anything is told of it: an association that ends by it is still there.
    fn note_packet(&mut self, _now: Instant, _host: &mut Host) {}

    /// All has been told that had happened, as by one packet with many messages. A program that does its work here does
    /// it once for all of them.
    fn handle_all_told(&mut self, _now: Instant, _host: &mut Host) {}

    /// The time has come that [`Program::deadline`] named, or has not yet.
    fn handle_deadline(&mut self, now: Instant, host: &mut Host);

    /// Instant at which it wants to be called.
    fn deadline(&self) -> Option<Instant>;

    /// Tells the program to come to its end in order; asked a second time, at once.
    fn stop(&mut self, now: Instant, host: &mut Host);

    /// Tells if it has come to its end.
    fn is_over(&self) -> bool;
}

/// A host with the program that holds its sockets: to whoever moves its packets, a host.
#[derive(Debug)]
pub struct Station<P> {
    /// Host whose sockets the program holds.
    pub host: Host,
    /// Program that holds the sockets.
    pub program: P,
}

impl<P: Program> Station<P> {
    /// Tells the program to stop.
    pub fn stop(&mut self, now: Instant) {
        self.program.stop(now, &mut self.host);
    }

    /// Tells the program what there is to tell; `false` if there was nothing.
    fn tell(&mut self, now: Instant) -> bool {
        let mut is_any = false;
        while let Some((socket, event)) = self.host.next_program_event() {
            is_any = true;
            self.program.handle_event(now, &mut self.host, socket, event);
        }
        if is_any {
            self.program.handle_all_told(now, &mut self.host);
        }
        is_any
    }
}

impl<P: Program> EndSystem for Station<P> {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.host.handle_packet(now, interface, packet);
        self.program.note_packet(now, &mut self.host);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.host.note_journey(journey);
    }

    fn verified_peer_tag(&self) -> Option<u32> {
        self.host.verified_peer_tag()
    }

    fn handle_address(&mut self, now: Instant, news: AddressNews) {
        self.host.handle_address(now, news);
    }

    fn ask_for_routes(&mut self) {
        self.host.ask_for_routes();
    }

    fn route_question(&self) -> Option<&[IpAddr]> {
        self.host.route_question()
    }

    fn answer_routes(&mut self, now: Instant, sources: &[Vec<IpAddr>]) {
        self.host.answer_routes(now, sources);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.host.handle_deadline(now);
        if self.program.deadline().is_some_and(|deadline| deadline <= now) {
            self.program.handle_deadline(now, &mut self.host);
        }
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        loop {
            if let Some(interface) = self.host.poll_transmit(now, packet) {
                return Some(interface);
            }
            if !self.tell(now) {
                return None;
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match (self.host.deadline(), self.program.deadline()) {
            (Some(host), Some(program)) => Some(host.min(program)),
            (host, program) => host.or(program),
        }
    }
}
