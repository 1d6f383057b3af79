//! Packets and hosts of several tests, and the skies that they use.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_net::{EndSystem, InterfaceId};
use slantpath_orbit::constellation::Constellation;
use slantpath_orbit::constellation::presets::Preset;
use slantpath_orbit::contact::{ContactPlan, Planner};
use slantpath_orbit::ground::Antenna;
use slantpath_orbit::outage::Outage;
use slantpath_orbit::site::{Horizon, Relay, SitePosition};
use slantpath_orbit::{ContactNetwork, Geodetic, Site, Utc};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::{Checksum, Packet};

/// Record that a host keeps of a packet that has arrived.
pub(crate) trait Arrival {
    fn of(now: Instant, packet: &Packet) -> Self;
}

/// Sends at set times, and keeps what arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scripted<A> {
    pub(crate) to_send: VecDeque<(Instant, InterfaceId, Packet)>,
    pub(crate) received: Vec<A>,
}

impl<A: Arrival> EndSystem for Scripted<A> {
    fn handle_packet(&mut self, now: Instant, _interface: InterfaceId, packet: &mut Packet) {
        self.received.push(A::of(now, packet));
    }

    fn handle_deadline(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let (_, interface, sent) = self.to_send.pop_front_if(|(at, _, _)| *at <= now)?;
        *packet = sent;
        Some(interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.to_send.front().map(|(at, _, _)| *at)
    }
}

/// ICMP's "unreachable": a router says nothing about a packet of it, so that no packets are on the links but those that
/// a host sends.
pub(crate) const UNREACHABLE: u8 = 3;

pub(crate) fn address(number: u8) -> IpAddr {
    [10, 0, 0, number].into()
}

/// A packet of `length` bytes whose payload begins with the bytes of `front`: of ICMP if that says "unreachable", else
/// of UDP.
pub(crate) fn packet(source: IpAddr, destination: IpAddr, length: usize, front: u64) -> Packet {
    let front = front.to_be_bytes();
    let mut payload = vec![0; length - 20];
    let front_len = payload.len().min(front.len());
    payload[..front_len].copy_from_slice(&front[..front_len]);
    let header = IpHeader {
        source,
        destination,
        protocol: if front[0] == UNREACHABLE { protocol::ICMP } else { protocol::UDP },
        hop_limit: 64,
        traffic_class: 0,
        payload_len: u16::try_from(payload.len()).unwrap(),
        fragmentation: Fragmentation::Forbidden,
    };
    let mut packet = Packet::shared(payload.into(), Checksum::Complete);
    header.emit(packet.prepend(20));
    packet
}

fn epoch() -> Utc {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

pub(crate) fn iridium() -> Vec<Constellation> {
    Preset::Iridium.build(epoch()).unwrap()
}

pub(crate) fn site(name: &str, latitude: f64, longitude: f64, antennas: Vec<Antenna>) -> Site {
    Site {
        name: name.into(),
        place: SitePosition::Fixed(Geodetic::new(latitude, longitude, 0.0)),
        antennas,
        horizon: Horizon::default(),
        relay: Relay::None,
    }
}

pub(crate) fn london_and_boston(antennas: &[Antenna]) -> Vec<Site> {
    vec![site("london", 51.53, 0.0, antennas.to_vec()), site("boston", 42.3, -71.1, antennas.to_vec())]
}

pub(crate) fn plan(
    constellations: Vec<Constellation>,
    sites: Vec<Site>,
    outages: Vec<Outage>,
    span: Duration,
) -> ContactPlan {
    let mut bodies = ContactNetwork::new(epoch(), constellations);
    bodies.sites = sites;
    bodies.outages = outages;
    Planner::new(&bodies, span).unwrap().plan(&mut |_, _| {}).unwrap()
}
