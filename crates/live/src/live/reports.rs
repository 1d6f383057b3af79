//! Reports of routers and of the system about packets that were sent.

use slantpath_base::Instant;
use slantpath_interface::EndSystem;
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::IpHeader;

use super::Live;
use crate::config::Carriage;
use crate::sockets::{Report, reports};
use crate::udp_ports::Key;

impl<H: EndSystem> Live<H> {
    /// Reads what has been reported of packets of an end.
    pub(super) fn read_reports(&mut self, end: usize) {
        let mut reported = std::mem::take(&mut self.reported);
        reports::read(&self.sockets.ends[end], self.sockets.carriage, &mut reported);
        for report in reported.drain(..) {
            // What the system itself refuses is told where it is sent.
            if let Report::Icmp { .. } = report {
                let now = self.now();
                self.hand_over_report(now, end, report);
            }
        }
        self.reported = reported;
    }

    /// Tells the host what a router has said, as the ICMP message that it was.
    fn hand_over_report(&mut self, now: Instant, end: usize, report: Report) {
        let Report::Icmp { router, mut error, about, udp_port } = report else { return };
        self.counters.reports += 1;
        let is_port = error == IcmpError::Unreachable(Unreachable::Port);
        if is_port && self.sockets.carriage != Carriage::Raw && self.speaks_for_the_peer(&about, udp_port) {
            //= https://www.rfc-editor.org/rfc/rfc6951#section-5.5
            //# ICMP messages with type 'Destination Unreachable' and code 'Port
            //# Unreachable' SHOULD be treated as ICMP messages with type
            //# 'Destination Unreachable' and code 'Protocol Unreachable'.
            error = IcmpError::Unreachable(Unreachable::Protocol);
        }
        if let Some(packet) = error.report(router, &about, 64) {
            self.hand_over(now, end, packet);
            self.drain(now);
        }
    }

    /// Tells if nobody at a UDP port means no SCTP at the peer: it has been heard of from there, or is called there. At
    /// an address that it has only listed the port is a guess, and that nobody is there says nothing of the peer.
    fn speaks_for_the_peer(&self, about: &[u8], udp_port: u16) -> bool {
        let Ok((header, header_len)) = IpHeader::parse_header(about) else { return false };
        let segment = about.get(header_len..header_len + 8).and_then(|segment| segment.first_chunk());
        let Some(&[o0, o1, p0, p1, ref tag @ ..]): Option<&[u8; 8]> = segment else { return false };
        let [own_port, peer_port] = [[o0, o1], [p0, p1]].map(u16::from_be_bytes);
        let tag = u32::from_be_bytes(*tag);
        let key = Key { address: header.destination, peer_port, own_port };
        tag == 0 || self.udp_ports.has_learned(key, tag, udp_port)
    }

    /// Tells the host that a packet of its own was longer than the link carries.
    pub(super) fn report_too_long(&mut self, now: Instant, end: usize, bytes: &[u8]) {
        let mut reported = Vec::new();
        reports::read(&self.sockets.ends[end], self.sockets.carriage, &mut reported);
        let mut mtu = None;
        for report in reported {
            match report {
                Report::LinkMtu(bytes) => mtu = Some(bytes),
                Report::Icmp { .. } => self.hand_over_report(now, end, report),
            }
        }
        let overhead = u32::try_from(self.sockets.carriage.overhead_bytes()).expect("a small number");
        // Without a word of the system's it is at least too long by one.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mtu_bytes = mtu.map_or(length - 1, |mtu| mtu.saturating_sub(overhead));
        let own = self.sockets.ends[end].address;
        if let Some(packet) = (IcmpError::PacketTooBig { mtu_bytes }).report(own, bytes, 64) {
            self.hand_over(now, end, packet);
        }
    }
}
