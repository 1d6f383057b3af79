//! UDP (RFC 768) and the echoes of ICMP: packets that stand for themselves, without a connection below them.
//!
//! Both ends of a flow know each other's ports, so that a socket is found by both, as a connected socket of UDP is. A
//! port that is open to all answers whoever asks. An echo has one number for both ends, its identifier. Nothing is kept
//! of a datagram once it has left.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_sctp::IpFragmentation;
use slantpath_wire::icmp::echo::{EchoHeader, EchoKind};
use slantpath_wire::ip::{Envelope, IpFields, protocol};
use slantpath_wire::udp::{UDP_HEADER_LEN, UdpHeader};
use slantpath_wire::{Checksum, Packet};

use crate::reports::{MessageReports, Reports};
use crate::socket::event::{AcknowledgedPart, SentPart, SocketEvent};
use crate::socket::outgoing::{Offer, OutgoingMessage};
use crate::transport::DatagramConfig;

/// Longest message that one packet of IPv4 carries behind a header of 8 bytes.
pub const LONGEST_DATAGRAM: usize = 65_535 - 20 - UDP_HEADER_LEN;

/// Name of a datagram socket at its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Binding {
    pub(crate) service: Service,
    /// The host's own port, or the identifier of echoes.
    pub(crate) local: u16,
    /// The peer's port; the identifier of echoes, too. Zero, which no port is, for a port that is open to all.
    pub(crate) remote: u16,
}

impl Binding {
    /// The binding of a port of UDP to which anybody may send.
    pub(crate) const fn open_to_all(local: u16) -> Self {
        Self { service: Service::Udp, local, remote: 0 }
    }
}

/// Protocol that carries a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    /// Echo requests and replies of ICMP or ICMPv6.
    Echo,
    Udp,
}

impl Service {
    /// The protocol's number in an IP header towards this address.
    pub(crate) const fn protocol(self, destination: IpAddr) -> u8 {
        match (self, destination) {
            (Self::Udp, _) => protocol::UDP,
            (Self::Echo, IpAddr::V4(_)) => protocol::ICMP,
            (Self::Echo, IpAddr::V6(_)) => protocol::ICMPV6,
        }
    }
}

/// A datagram socket, apart from what all sockets have.
#[derive(Debug)]
pub(crate) struct DatagramState {
    pub(crate) binding: Binding,
    pub(crate) local: IpAddr,
    pub(crate) fields: IpFields,
    /// Greatest length of an IPv6 packet that is not cut.
    pub(crate) source_mtu: u16,
    /// True if what becomes of each message is reported.
    pub(crate) reports_messages: bool,
    /// True if arrivals are reported.
    pub(crate) reports_arrivals: bool,
    pub(crate) is_open: bool,
}

impl DatagramState {
    pub(crate) fn new(binding: Binding, local: IpAddr, config: DatagramConfig, reports: Reports) -> Self {
        let DatagramConfig { ip: fields, source_mtu, peer_port: _ } = config;
        let reports_messages = reports.messages == MessageReports::All;
        let reports_arrivals = reports.arrivals;
        Self { binding, local, fields, source_mtu, reports_messages, reports_arrivals, is_open: false }
    }

    /// Opens the socket towards a peer: there is nobody to ask.
    pub(crate) fn open(&mut self, peer: &[IpAddr], datagrams: &mut Datagrams) -> Result<(), String> {
        let paths: Vec<IpAddr> = peer.first().copied().into_iter().collect();
        if paths.is_empty() {
            return Err("the peer has no address".to_owned());
        }
        self.is_open = true;
        datagrams.tell(self.binding, SocketEvent::Connected { paths, outbound_streams: 1 });
        Ok(())
    }

    /// Closes the socket: what has been sent is on its way.
    pub(crate) fn close(&mut self, datagrams: &mut Datagrams) {
        if core::mem::take(&mut self.is_open) {
            datagrams.tell(self.binding, SocketEvent::Ended { failure: None, reason: None });
        }
    }
}

/// Datagram packets on their way out, without IP headers.
#[derive(Debug)]
struct Departing {
    envelope: Envelope,
    fragmentation: IpFragmentation,
    protocol: u8,
    /// Socket and number of the message, if its departure is reported.
    reported: Option<(Binding, u32)>,
    packet: Packet,
}

/// A datagram that goes out, as IP needs to know it.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) envelope: Envelope,
    pub(crate) fragmentation: IpFragmentation,
    pub(crate) protocol: u8,
}

/// Datagrams and events of a host that wait to be taken.
#[derive(Debug, Default)]
pub(crate) struct Datagrams {
    departing: VecDeque<Departing>,
    events: VecDeque<(Binding, SocketEvent)>,
}

impl Datagrams {
    /// Tells if there is nothing to send or tell.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.departing.is_empty() && self.events.is_empty()
    }

    /// Queues a message of a socket as a packet to its peer, whose address is the first of these.
    #[inline(never)]
    pub(crate) fn offer(
        &mut self,
        socket: &DatagramState,
        peer: &[IpAddr],
        message: OutgoingMessage,
    ) -> Offer {
        let Some(destination) = peer.first().filter(|_| socket.is_open) else {
            return Offer::Refused("nothing has been opened".to_owned());
        };
        if message.payload.len() > LONGEST_DATAGRAM {
            let len = message.payload.len();
            return Offer::Refused(format!("a datagram of {len} bytes is longer than {LONGEST_DATAGRAM}"));
        }
        self.send(socket, *destination, message.number, message.payload);
        Offer::Accepted
    }

    /// Queues a message of a socket as a packet to `destination`.
    fn send(&mut self, socket: &DatagramState, destination: IpAddr, number: Option<u32>, payload: Bytes) {
        let &DatagramState { binding, local: source, fields, source_mtu, .. } = socket;
        let packet = match binding.service {
            Service::Udp => {
                let header = UdpHeader { source_port: binding.local, destination_port: binding.remote };
                let header = header.emit(&[&payload], source, destination, Checksum::Omitted);
                Packet::with_tail(&header, payload, 0, Checksum::Omitted)
            }
            Service::Echo => {
                #[expect(clippy::cast_possible_truncation, reason = "the field is as short as that")]
                let sequence = number.unwrap_or(0) as u16;
                let header = EchoHeader { kind: EchoKind::Request, identifier: binding.local, sequence };
                header.packet(payload, source, destination)
            }
        };
        self.departing.push_back(Departing {
            envelope: Envelope { source, destination, fields },
            fragmentation: IpFragmentation::Allowed { source_mtu },
            protocol: binding.service.protocol(destination),
            reported: number.filter(|_| socket.reports_messages).map(|number| (binding, number)),
            packet,
        });
    }

    /// Queues the reply to an echo request, in packets with these fields, of which those of IPv6 are cut if they are
    /// longer than `source_mtu`.
    pub(crate) fn reply(
        &mut self,
        (fields, source_mtu): (IpFields, u16),
        request: EchoHeader,
        [source, destination]: [IpAddr; 2],
        data: Bytes,
    ) {
        let header = EchoHeader { kind: EchoKind::Reply, ..request };
        self.departing.push_back(Departing {
            envelope: Envelope { source, destination, fields },
            fragmentation: IpFragmentation::Allowed { source_mtu },
            protocol: Service::Echo.protocol(destination),
            reported: None,
            packet: header.packet(data, source, destination),
        });
    }

    /// Queues an answer of a port that is open to all, from the address that was asked.
    pub(crate) fn answer(
        &mut self,
        (fields, source_mtu): (IpFields, u16),
        local: SocketAddr,
        to: SocketAddr,
        payload: Bytes,
    ) {
        let (source, destination) = (local.ip(), to.ip());
        let header = UdpHeader { source_port: local.port(), destination_port: to.port() };
        let header = header.emit(&[&payload], source, destination, Checksum::Omitted);
        self.departing.push_back(Departing {
            envelope: Envelope { source, destination, fields },
            fragmentation: IpFragmentation::Allowed { source_mtu },
            protocol: protocol::UDP,
            reported: None,
            packet: Packet::with_tail(&header, payload, 0, Checksum::Omitted),
        });
    }

    /// Queues a message of ICMP, or of ICMPv6, without its IP header.
    pub(crate) fn report(&mut self, [source, destination]: [IpAddr; 2], packet: Packet) {
        self.departing.push_back(Departing {
            envelope: Envelope { source, destination, fields: IpFields::default() },
            fragmentation: IpFragmentation::Allowed { source_mtu: u16::MAX },
            protocol: if source.is_ipv4() { protocol::ICMP } else { protocol::ICMPV6 },
            reported: None,
            packet,
        });
    }

    /// Queues an event for a socket.
    pub(crate) fn tell(&mut self, binding: Binding, event: SocketEvent) {
        self.events.push_back((binding, event));
    }

    /// Writes the next datagram over `packet`.
    pub(crate) fn poll_transmit(&mut self, packet: &mut Packet) -> Option<Departure> {
        let Departing { envelope, fragmentation, protocol, reported, packet: next } =
            self.departing.pop_front()?;
        *packet = next;
        if let Some((binding, number)) = reported {
            let sent = SentPart::Message(number);
            self.tell(binding, SocketEvent::Transmitted { sent, path: 0, again: false });
            // Nothing more happens to it at this end.
            self.tell(binding, SocketEvent::Acknowledged(AcknowledgedPart::Message(number)));
        }
        Some(Departure { envelope, fragmentation, protocol })
    }

    /// The next event, and whose it is.
    pub(crate) fn poll_event(&mut self) -> Option<(Binding, SocketEvent)> {
        self.events.pop_front()
    }
}

/// Reads a datagram that came in, with the ports of its sender and its receiver; `None` if it is broken. The payload of
/// a packet as it was sent is not copied.
pub(crate) fn read_udp(envelope: &Envelope, packet: &mut Packet) -> Option<(UdpHeader, Bytes)> {
    if let (Checksum::Omitted, Ok(header)) =
        (packet.checksum(), <&[u8; UDP_HEADER_LEN]>::try_from(packet.head()))
    {
        let [s0, s1, d0, d1, l0, l1, ..] = *header;
        let is_whole = usize::from(u16::from_be_bytes([l0, l1])) == packet.len() && packet.padding() == 0;
        let [source_port, destination_port] = [[s0, s1], [d0, d1]].map(u16::from_be_bytes);
        return is_whole.then(|| (UdpHeader { source_port, destination_port }, packet.take_tail()));
    }
    let bytes = packet.contiguous();
    let Envelope { source, destination, .. } = *envelope;
    let (header, payload) = UdpHeader::parse(&bytes, source, destination, packet.checksum()).ok()?;
    Some((header, bytes.slice_ref(payload)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(service: Service) -> DatagramState {
        DatagramState {
            binding: Binding { service, local: 20_000, remote: 2_152 },
            local: "10.0.0.1".parse().unwrap(),
            fields: IpFields::default(),
            source_mtu: 1_500,
            reports_messages: true,
            reports_arrivals: false,
            is_open: true,
        }
    }

    fn sent(service: Service, payload: &'static [u8]) -> (Departure, Packet, Datagrams) {
        let mut datagrams = Datagrams::default();
        let payload = Bytes::from_static(payload);
        datagrams.send(&socket(service), "10.0.0.2".parse().unwrap(), Some(70_000), payload);
        let mut packet = Packet::default();
        let departure = datagrams.poll_transmit(&mut packet).unwrap();
        (departure, packet, datagrams)
    }

    #[test]
    fn a_datagram_is_read_as_it_was_written_in_parts_or_in_one_piece() {
        let (Departure { envelope, protocol, .. }, packet, _) = sent(Service::Udp, b"hello");
        assert_eq!(protocol, 17);
        let header = UdpHeader { source_port: 20_000, destination_port: 2_152 };
        let whole = Packet::shared(packet.contiguous(), Checksum::Omitted);
        for mut packet in [packet, whole] {
            let read = read_udp(&envelope, &mut packet).unwrap();
            assert_eq!(read, (header, Bytes::from_static(b"hello")));
        }
    }

    #[test]
    fn a_datagram_with_a_wrong_checksum_or_length_is_broken() {
        let (Departure { envelope, .. }, packet, _) = sent(Service::Udp, b"hello");
        let bytes = packet.contiguous().to_vec();
        let long = [&bytes[..], &[0]].concat();
        let mut long =
            Packet::with_tail(&long[..8], Bytes::copy_from_slice(&long[8..]), 0, Checksum::Omitted);
        assert_eq!(read_udp(&envelope, &mut long), None);
        let mut wrong = bytes;
        wrong[7] = 1;
        assert_eq!(read_udp(&envelope, &mut Packet::shared(wrong.into(), Checksum::Complete)), None);
    }

    #[test]
    fn a_datagram_that_has_left_is_told_once_and_for_good() {
        let (_, _, mut datagrams) = sent(Service::Echo, b"hello");
        let told: Vec<_> = core::iter::from_fn(|| datagrams.poll_event()).map(|(_, event)| event).collect();
        assert!(matches!(
            told[..],
            [
                SocketEvent::Transmitted { sent: SentPart::Message(70_000), path: 0, again: false },
                SocketEvent::Acknowledged(AcknowledgedPart::Message(70_000)),
            ]
        ));
        assert!(datagrams.is_idle());
    }

    #[test]
    fn an_echo_bears_the_lower_half_of_its_number() {
        let (Departure { envelope, protocol, .. }, packet, _) = sent(Service::Echo, b"hello");
        assert_eq!(protocol, 1);
        let header = slantpath_wire::ip::IpHeader {
            source: envelope.source,
            destination: envelope.destination,
            protocol,
            hop_limit: 1,
            traffic_class: 0,
            payload_len: 13,
            fragmentation: slantpath_wire::ip::Fragmentation::Forbidden,
        };
        let bytes = packet.contiguous();
        let (echo, data) = EchoHeader::parse(&header, &bytes).unwrap().unwrap();
        let expected = EchoHeader { kind: EchoKind::Request, identifier: 20_000, sequence: 4_464 };
        assert_eq!((echo, data), (expected, &b"hello"[..]));
    }
}
