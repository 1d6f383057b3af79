//! A host whose packets somebody sees, and a capture of them as they are in IP, whatever carries them: for a run that
//! is repeated, of which no interface saw any, and for one whose packets are in UDP.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_interface::{AddressNews, EndSystem, InterfaceId, Journey};
use slantpath_wire::Packet;
use slantpath_wire::pcapng::{CaptureInterface, Direction, Writer};

/// Whoever sees the packets of a host.
pub trait Observer {
    /// One comes in, or has just gone out.
    fn see(&mut self, now: Instant, interface: InterfaceId, packet: &Packet, direction: Direction);

    /// The host has another address, at this interface.
    fn note_address(&mut self, _address: IpAddr, _interface: InterfaceId) {}
}

/// A host, and who sees all that it is told and sends.
#[derive(Debug)]
pub struct Tap<H, O> {
    /// Host whose packets are seen.
    pub host: H,
    /// Observer of its packets.
    pub observer: O,
}

/// A capture of a host's packets.
#[derive(Debug)]
pub struct HostCapture {
    writer: Writer,
    interfaces: Vec<CaptureInterface>,
}

impl HostCapture {
    /// Of a host with these addresses, each at the interface with the number of its place.
    pub fn of(addresses: &[IpAddr]) -> Self {
        let mut writer = Writer::new();
        let interfaces = addresses.iter().map(|address| writer.interface(&address.to_string())).collect();
        Self { writer, interfaces }
    }

    /// Takes what has been captured since this was last asked: the next part of a pcapng file.
    pub fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }
}

impl Observer for HostCapture {
    fn see(&mut self, now: Instant, interface: InterfaceId, packet: &Packet, direction: Direction) {
        if let Some(interface) = self.interfaces.get(interface.index()) {
            self.writer.packet(*interface, now, &packet.observed(), direction, None);
        }
    }

    fn note_address(&mut self, address: IpAddr, interface: InterfaceId) {
        // One that has gone and is added again has its interface already.
        if interface.index() == self.interfaces.len() {
            self.interfaces.push(self.writer.interface(&address.to_string()));
        }
    }
}

/// A capture, if somebody wants one.
#[derive(Debug, Default)]
pub(crate) struct Capturing(pub(crate) Option<HostCapture>);

impl Observer for Capturing {
    fn see(&mut self, now: Instant, interface: InterfaceId, packet: &Packet, direction: Direction) {
        if let Some(capture) = &mut self.0 {
            capture.see(now, interface, packet, direction);
        }
    }

    fn note_address(&mut self, address: IpAddr, interface: InterfaceId) {
        if let Some(capture) = &mut self.0 {
            capture.note_address(address, interface);
        }
    }
}

impl<H: EndSystem, O: Observer> EndSystem for Tap<H, O> {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.observer.see(now, interface, packet, Direction::Inbound);
        self.host.handle_packet(now, interface, packet);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.host.note_journey(journey);
    }

    fn verified_peer_tag(&self) -> Option<u32> {
        self.host.verified_peer_tag()
    }

    fn handle_address(&mut self, now: Instant, news: AddressNews) {
        if let AddressNews::Added(address, interface) = news {
            self.observer.note_address(address, interface);
        }
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
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let interface = self.host.poll_transmit(now, packet)?;
        self.observer.see(now, interface, packet, Direction::Outbound);
        Some(interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.host.deadline()
    }
}
