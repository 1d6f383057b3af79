//! Ends of a site's network.

use slantpath_base::Instant;
use slantpath_gateway::TrafficBench;
use slantpath_interface::{EndSystem, InterfaceId, Journey};
use slantpath_wire::Packet;

use crate::recorded::Recorded;

/// An end of the network: a gateway, or the traffic simulator.
pub(super) enum Kind {
    Bench(Box<TrafficBench>),
    Gateway(Box<Recorded>),
}

/// An end of the network, whose own interfaces are numbered from zero.
pub(super) struct End {
    pub(super) kind: Kind,
    pub(super) interfaces: Vec<InterfaceId>,
}

impl EndSystem for End {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        let own = self.interfaces.iter().position(|own| *own == interface).unwrap();
        let own = InterfaceId::new(u32::try_from(own).unwrap());
        match &mut self.kind {
            Kind::Bench(bench) => bench.handle_packet(now, own, packet),
            Kind::Gateway(station) => station.handle_packet(now, own, packet),
        }
    }

    fn note_journey(&mut self, journey: Journey) {
        match &mut self.kind {
            Kind::Bench(bench) => bench.note_journey(journey),
            Kind::Gateway(station) => station.note_journey(journey),
        }
    }

    fn handle_deadline(&mut self, now: Instant) {
        match &mut self.kind {
            Kind::Bench(bench) => bench.handle_deadline(now),
            Kind::Gateway(station) => station.handle_deadline(now),
        }
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let own = match &mut self.kind {
            Kind::Bench(bench) => bench.poll_transmit(now, packet),
            Kind::Gateway(station) => station.poll_transmit(now, packet),
        };
        own.map(|own| self.interfaces[own.index()])
    }

    fn deadline(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Bench(bench) => bench.deadline(),
            Kind::Gateway(station) => station.deadline(),
        }
    }
}
