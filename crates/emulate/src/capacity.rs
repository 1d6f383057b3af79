//! Capacity of this machine: the processor time that a packet takes on its way from one door to another.

use core::num::NonZeroU16;
use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use slantpath_base::DataRate;
use slantpath_system::clock::{monotonic, thread_time};
use slantpath_system::netlink::{Netlink, Veth};
use slantpath_system::network::NetNamespace;
use slantpath_system::packet::PacketSocket;
use slantpath_wire::checksum;
use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;
use slantpath_wire::ip::protocol;

use crate::doors::{FRAME_BYTES, JOINED_BYTES_MAX};
use crate::lab::{CARRIER_TIMEOUT, PlaceError, step};
use crate::offload::{
    LeavingPacket, Offload, PacketMemory, PartialChecksum, Segmentation, SegmentationKind, join, views,
};

/// Time for which it is measured.
const TIME: Duration = Duration::from_millis(60);
/// Frames that are under way at one time.
const BATCH: usize = 16;
const RING_BYTES: usize = 1 << 20;
/// Times that a packet of TCP takes in an emulation what is measured here: a network lies between, and its sending has
/// the receiver's kernel work. 2.6 us and 0.7 us on one machine.
const IN_ALL: u128 = 4;
const MTU: u32 = 1_500;
const HEADERS_LEN: usize = 40;
const SEGMENT: u16 = 1_460;
/// Packets of a frame, as many as an attached interface joins.
const SEGMENTS: usize = 10;

/// Estimates the rate that the calling thread, had it a processor for itself, would carry in packets of 1,500 bytes
/// through a network of one link: from what reading and writing them is measured to take.
///
/// # Errors
/// At the first step that the system refuses.
pub fn capacity() -> Result<DataRate, PlaceError> {
    const MEASURED: &str = "what this machine carries";
    let network = step(MEASURED, NetNamespace::new)?;
    let mut near = step(MEASURED, Netlink::open)?;
    let ends = ["measure0", "measure1"];
    step(MEASURED, || {
        near.add_veth(&Veth {
            name: ends[0],
            address: [2, 1, 0, 0, 0, 1],
            peer: ends[1],
            peer_address: [2, 1, 0, 0, 0, 2],
            peer_namespace: network.as_fd(),
            mtu: MTU,
            gso_max_size: JOINED_BYTES_MAX,
        })?;
        near.set_up(ends[0])
    })?;
    let open = |name: &str| PacketSocket::open(name, RING_BYTES, FRAME_BYTES, false);
    let far = step(MEASURED, || {
        network.run(|| {
            let mut link = step(MEASURED, Netlink::open)?;
            step(MEASURED, || link.set_up(ends[1]))?;
            step(MEASURED, || open(ends[1]))
        })
    })?;
    let mut far = far?;
    step(MEASURED, || near.wait_until_running(ends[0], CARRIER_TIMEOUT))?;
    let mut door = step(MEASURED, || open(ends[0]))?;
    let (packets, used) = step(MEASURED, || carried(&mut far, &mut door))?;
    let bits = u128::from(packets) * u128::from(MTU) * 8 * 1_000_000_000;
    let rate = bits / (IN_ALL * used.as_nanos().max(1));
    Ok(DataRate::from_bits_per_sec(u64::try_from(rate).unwrap_or(u64::MAX)))
}

/// Sends frames from `far` to a door and back, and gives the number of packets and the time that the door took.
fn carried(far: &mut PacketSocket, door: &mut PacketSocket) -> io::Result<(u64, Duration)> {
    let (offload, frame) = frame();
    let (offload_bytes, begin) = (offload.to_bytes(), monotonic());
    let (mut packets, mut used) = (0, Duration::ZERO);
    let (mut memory, mut leaving) = (PacketMemory::default(), Vec::new());
    while monotonic().saturating_sub(begin) < TIME {
        for _ in 0..BATCH {
            far.send(&offload_bytes, &frame)?;
        }
        let before = thread_time();
        while let Some(frame) = door.receive() {
            let Ok((offload, _)) = Offload::parse(&frame.offload()) else { continue };
            let before: [u8; ETHERNET_HEADER_LEN] = *frame.bytes().first_chunk().unwrap_or(&[0; 14]);
            let _ = views(&offload, frame.bytes(), MTU as usize, &mut memory, |packet| {
                leaving.push((before, packet));
            });
        }
        packets += leaving.len() as u64;
        let going = leaving.iter().map(|(before, packet)| LeavingPacket { before, packet });
        let mut outcome = Ok(());
        join(going, JOINED_BYTES_MAX as usize, |_, pieces, _| {
            if let Err(error) = door.send_pieces(pieces) {
                outcome = Err(error);
            }
        });
        outcome?;
        leaving.clear();
        used += thread_time().saturating_sub(before);
        while far.receive().is_some() {}
    }
    Ok((packets, used))
}

/// A long segment of TCP between two addresses of nobody (RFC 5737), with the work that is left on it.
fn frame() -> (Offload, Vec<u8>) {
    let len = HEADERS_LEN + SEGMENTS * usize::from(SEGMENT);
    let mut frame = vec![0; ETHERNET_HEADER_LEN + len];
    frame[..6].copy_from_slice(&[2, 1, 0, 0, 0, 3]);
    frame[6..14].copy_from_slice(&[2, 1, 0, 0, 0, 4, 0x08, 0x00]);
    let addresses = [[192, 0, 2, 1], [198, 51, 100, 1]];
    let packet = &mut frame[ETHERNET_HEADER_LEN..];
    packet[0] = 0x45;
    let [high, low] = u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes();
    packet[2..4].copy_from_slice(&[high, low]);
    packet[6..10].copy_from_slice(&[0x40, 0, 64, protocol::TCP]);
    packet[12..20].copy_from_slice(addresses.as_flattened());
    let sum = checksum::internet([&packet[..20]]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[32..34].copy_from_slice(&[0x50, 0x10]);
    // Zeros instead of the segment add nothing to the sum of the pseudo-header.
    let zeros = vec![0; len - 20];
    let [from, to] = addresses.map(Into::into);
    let sum = !checksum::with_pseudo_header(from, to, protocol::TCP, &[&zeros]);
    packet[36..38].copy_from_slice(&sum.to_be_bytes());
    let size = NonZeroU16::new(SEGMENT).unwrap_or(NonZeroU16::MIN);
    let kind = SegmentationKind::TcpV4 { has_ecn: false };
    let checksum = Some(PartialChecksum { start: 34, offset: 16 });
    (Offload { checksum, segmentation: Some(Segmentation { kind, size }), header_len: 54 }, frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_is_cut_and_joined_as_packets_of_programs_are() {
        let (offload, frame) = frame();
        let (mut memory, mut packets) = (PacketMemory::default(), Vec::new());
        let made = views(&offload, &frame, 1_500, &mut memory, |packet| packets.push(packet));
        assert_eq!((made, packets.len()), (Some(Ok(())), 10));
        assert!(packets.iter().all(|packet| packet.len() == 1_500));
        let mut joined = Vec::new();
        let before = &frame[..14];
        let going = packets.iter().map(|packet| LeavingPacket { before, packet });
        join(going, 15_872, |offload, pieces, packets| {
            joined.push((*offload, pieces[1..].iter().map(|piece| piece.len()).sum::<usize>(), packets));
        });
        assert_eq!(joined, [(offload, frame.len(), 10)]);
    }
}
