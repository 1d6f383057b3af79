//! Frames of attached devices: offloads, and questions for neighbours.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slantpath_emulate::neighbours::answer;
use slantpath_emulate::offload::{LeavingPacket, OFFLOAD_LEN, PacketMemory, join, packets, views};
use slantpath_emulate::{DeviceLayer, FrameKind, MacAddress, Offload, frames};
use slantpath_wire::ethernet::{self, ETHERNET_HEADER_LEN};
use slantpath_wire::ip::{IpHeader, protocol};
use slantpath_wire::{Packet, checksum};

const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
const ATTACHED: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1))];

/// The first byte chooses between frames and packets, a header and a frame follow. Packets that are cut and joined are
/// the same when they are cut once more, and segments whose frame has no partial checksum are whole.
pub fn offload(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let layer = if choice & 1 == 0 { DeviceLayer::Ip } else { DeviceLayer::Ethernet };
    let Ok((offload, frame)) = Offload::parse(data) else { return };
    assert_eq!(frame.len(), data.len() - OFFLOAD_LEN);
    let Some(cut) = cut(&offload, layer, frame) else { return };
    assert!(cut.len() <= frame.len().div_ceil(8).max(128));
    if layer == DeviceLayer::Ip && offload.segmentation.is_some() && offload.checksum.is_none() {
        for packet in &cut {
            let mut completed = packet.clone();
            checksum::complete(&mut completed);
            assert_eq!(&completed, packet);
        }
    }
    if layer == DeviceLayer::Ethernet {
        view(&offload, frame, &cut);
        return;
    }
    let leaving: Vec<Packet> = cut.iter().map(|packet| packet.clone().into()).collect();
    let mut rest = &cut[..];
    join(
        leaving.iter().map(|packet| LeavingPacket { before: &[], packet }),
        65_549,
        |offload, pieces, number| {
            let frame: Vec<u8> = pieces[1..].iter().flat_map(|piece| piece.iter().copied()).collect();
            let again = self::cut(offload, layer, &frame).expect("what was joined can be cut");
            assert_eq!((again.len() as u64, &again[..]), (number, &rest[..again.len()]));
            rest = &rest[again.len()..];
        },
    );
    assert!(rest.is_empty());
}

/// Packets that share the bytes of a frame are those that are cut with a copy, as somebody sees them.
fn view(offload: &Offload, frame: &[u8], cut: &[Vec<u8>]) {
    let (mut rest, mut memory) = (cut, PacketMemory::default());
    let viewed = views(offload, frame, 1_500, &mut memory, |packet| {
        let (next, behind) = rest.split_first().expect("as many as are cut");
        assert!(next[ETHERNET_HEADER_LEN..].starts_with(&packet.observed()));
        rest = behind;
    });
    assert!(viewed.is_none() || rest.is_empty());
}

fn cut(offload: &Offload, layer: DeviceLayer, frame: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut cut, mut buffer) = (Vec::new(), Vec::new());
    packets(offload, layer, frame, 1_500, &mut buffer, |packet| cut.push(packet.to_vec())).ok()?;
    Some(cut)
}

/// An answer goes to one station, is whole, and needs no answer; only a frame of neighbours gets one.
pub fn neighbours(data: &[u8]) {
    let kind = frames::classify(data);
    let _class = ethernet::traffic_class(data);
    if let FrameKind::Ip { packet } = kind {
        assert!(data[ETHERNET_HEADER_LEN..].starts_with(packet));
    }
    let Some(reply) = answer(data, OWN, &ATTACHED) else { return };
    assert_eq!((kind, frames::classify(&reply)), (FrameKind::Neighbour, FrameKind::Neighbour));
    assert!(reply[0] & 1 == 0 && reply[6..12] == OWN.0);
    assert_eq!(answer(&reply, OWN, &ATTACHED), None);
    if let Ok((header, header_len)) = IpHeader::parse(&reply[ETHERNET_HEADER_LEN..]) {
        assert!(!ATTACHED.contains(&header.source));
        let message = &reply[ETHERNET_HEADER_LEN + header_len..];
        let sum =
            checksum::with_pseudo_header(header.source, header.destination, protocol::ICMPV6, &[message]);
        assert_eq!(sum, 0);
    }
}
