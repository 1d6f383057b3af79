//! Datagrams of UDP and echoes of ICMP that come and go.

use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_interface::InterfaceId;
use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::{Envelope, Fragmentation, IpFields, IpHeader, protocol};
use slantpath_wire::udp::UdpHeader;
use slantpath_wire::{Checksum, Packet};

use super::SocketHost;
use crate::application::Application;
use crate::datagrams::{Binding, Service, read_udp};
use crate::interfaces::HOP_LIMIT;
use crate::socket::event::{ArrivedPart, MessagePlace, SocketEvent};

/// MTU that every link of IPv6 has (RFC 8200, section 5), in bytes.
const IPV6_LEAST_MTU: u16 = 1_280;

impl<A: Application> SocketHost<A> {
    /// The next datagram that goes out; what sockets of datagrams are told goes up on the way.
    #[inline(never)]
    pub(super) fn poll_datagrams(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        while !self.stack.datagrams.is_idle() {
            let mut sent = None;
            if let Some(departure) = self.stack.datagrams.poll_transmit(packet) {
                let (envelope, fragmentation) = (&departure.envelope, departure.fragmentation);
                sent = self.interfaces.encapsulate(envelope, fragmentation, departure.protocol, packet);
                self.drops.no_route += u64::from(sent.is_none());
            }
            while let Some((binding, event)) = self.stack.datagrams.poll_event() {
                self.sockets.handle_datagram(now, &mut self.stack, binding, event);
            }
            if sent.is_some() {
                return sent;
            }
        }
        None
    }

    /// Takes in a datagram of UDP, from its header on.
    #[inline(never)]
    pub(super) fn handle_udp(&mut self, now: Instant, envelope: &Envelope, packet: &mut Packet) {
        let Some((header, payload)) = read_udp(envelope, packet) else {
            self.drops.bad_header += 1;
            return;
        };
        let (local, remote) = (header.destination_port, header.source_port);
        let binding = Binding { service: Service::Udp, local, remote };
        if remote == 0 || self.sockets.datagram(binding).is_none() {
            return self.answer_or_refuse(now, envelope, header, payload);
        }
        self.deliver(now, binding, envelope.fields, payload);
    }

    /// Takes in a datagram that is for no socket that knows its sender.
    fn answer_or_refuse(&mut self, now: Instant, envelope: &Envelope, header: UdpHeader, payload: Bytes) {
        let from = SocketAddr::new(envelope.source, header.source_port);
        let local = SocketAddr::new(envelope.destination, header.destination_port);
        let open = self.sockets.datagram(Binding::open_to_all(local.port()));
        let Some((socket, fields)) = open.map(|(id, state)| (id, (state.fields, state.source_mtu))) else {
            self.drops.no_port += 1;
            return self.report_unreachable(now, envelope, header, &payload);
        };
        let Some((application, _)) = self.sockets.application_mut(socket) else { return };
        // Who has no port awaits no answer (RFC 768).
        if let Some(answer) = application.answer(from, payload).filter(|_| from.port() != 0) {
            self.stack.datagrams.answer(fields, local, from, answer);
        }
    }

    /// Tells the sender of a datagram that nobody has its port.
    //= https://www.rfc-editor.org/rfc/rfc1122#section-4.1.3.1
    //# If a datagram arrives addressed to a UDP port for which
    //# there is no pending LISTEN call, UDP SHOULD send an ICMP
    //# Port Unreachable message.
    fn report_unreachable(&mut self, now: Instant, envelope: &Envelope, header: UdpHeader, payload: &Bytes) {
        if !self.unbound_ports.may_report(now) {
            return;
        }
        let &Envelope { source, destination, fields } = envelope;
        let ports = header.emit(&[payload], source, destination, Checksum::Complete);
        let header = IpHeader {
            source,
            destination,
            protocol: protocol::UDP,
            hop_limit: fields.hop_limit,
            traffic_class: fields.traffic_class(),
            payload_len: u16::try_from(ports.len() + payload.len()).unwrap_or(u16::MAX),
            fragmentation: Fragmentation::Forbidden,
        };
        let mut about = vec![0; header.header_len()];
        header.emit(&mut about);
        about.extend_from_slice(&ports);
        about.extend_from_slice(payload);
        let error = IcmpError::Unreachable(Unreachable::Port);
        if let Some(mut report) = error.report(destination, &about, HOP_LIMIT) {
            report.strip(header.header_len());
            self.stack.datagrams.report([destination, source], report);
        }
    }

    /// Takes in an echo request, which is answered if a socket has its identifier, or a reply; `false` if the message
    /// of ICMP is another.
    pub(super) fn handle_echo(&mut self, now: Instant, header: &IpHeader, packet: &Packet) -> bool {
        let bytes = packet.contiguous();
        let Ok(parsed) = EchoHeader::parse(header, &bytes) else {
            self.drops.bad_header += 1;
            return true;
        };
        let Some((echo, data)) = parsed else { return false };
        let data = bytes.slice_ref(data);
        let binding = Binding { service: Service::Echo, local: echo.identifier, remote: echo.identifier };
        if echo.kind == EchoKind::Request {
            // It comes from the address that was asked.
            let ends = [header.destination, header.source];
            let Some((_, socket)) = self.sockets.datagram(binding) else {
                // Every host answers, whether or not a flow counts what it does (RFC 1122, section 3.2.2.6).
                self.stack.datagrams.reply((IpFields::default(), IPV6_LEAST_MTU), echo, ends, data);
                return true;
            };
            self.stack.datagrams.reply((socket.fields, socket.source_mtu), echo, ends, data.clone());
        }
        self.deliver(now, binding, IpFields::of(header), data);
        true
    }

    /// Hands what a datagram carries to its socket.
    fn deliver(&mut self, now: Instant, binding: Binding, ip: IpFields, payload: Bytes) {
        let Some((socket, state)) = self.sockets.datagram(binding) else {
            self.drops.no_port += 1;
            return;
        };
        // Whoever counts tells by the numbers of messages which came behind later ones.
        let place = MessagePlace::Ordered { stream: 0, sequence: 0 };
        if state.reports_arrivals {
            let arrived = SocketEvent::Arrived(ArrivedPart::Message(place));
            self.sockets.handle_datagram(now, &mut self.stack, binding, arrived);
        }
        let message = SocketEvent::Message { stream: 0, place, payload_protocol: 0, payload, ip };
        self.sockets.handle_datagram(now, &mut self.stack, binding, message);
        self.sockets.note_packet(now, socket);
    }
}
