//! Capture files of link types that the simulator has no links of, and those of others. The simulator's own are
//! written by `slantpath_wire::pcapng`.

use slantpath_wire::ip::{IpHeader, protocol};

/// LINKTYPE_ETHERNET.
const ETHERNET: u32 = 1;
/// LINKTYPE_LINUX_SLL: a socket's view of any link.
const LINUX_COOKED: u32 = 113;
/// LINKTYPE_MTP2: signal units with their check bits.
pub const MTP2: u32 = 140;
/// LINKTYPE_MTP3: messages from the service information octet on.
pub const MTP3: u32 = 141;
/// LINKTYPE_IPV4.
const IPV4: u32 = 228;

const MAGIC: u32 = 0xa1b2_c3d4;
const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;
/// Version 2.4, its fields in the order of a little-endian file.
const VERSION: u32 = 0x0004_0002;
const SNAP_LEN: u32 = 65_535;

/// A classic capture file, one packet a second.
///
/// # Panics
/// If a packet has 4 GiB.
pub fn write<P: AsRef<[u8]>>(link_type: u32, packets: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut file = [MAGIC, VERSION, 0, 0, SNAP_LEN, link_type].map(u32::to_le_bytes).concat();
    for (second, packet) in (0..).zip(packets) {
        let packet = packet.as_ref();
        let len = u32::try_from(packet.len()).expect("a packet is short");
        file.extend([second, 0, len, len].map(u32::to_le_bytes).concat());
        file.extend_from_slice(packet);
    }
    file
}

/// The link type and the packets of a classic capture file of either byte order; `None` if it is another file.
///
/// # Panics
/// If it is cut off.
pub fn read(file: &[u8]) -> Option<(u32, Vec<&[u8]>)> {
    let magic: [u8; 4] = file.get(..4)?.try_into().expect("four octets");
    let read_word = match () {
        () if magic == MAGIC.to_le_bytes() => u32::from_le_bytes,
        () if magic == MAGIC.to_be_bytes() => u32::from_be_bytes,
        () => return None,
    };
    let word = |at: usize| read_word(file[at..at + 4].try_into().expect("four octets"));
    let (mut packets, mut at) = (Vec::new(), FILE_HEADER_LEN);
    while at < file.len() {
        let end = at + RECORD_HEADER_LEN + word(at + 8) as usize;
        packets.push(&file[at + RECORD_HEADER_LEN..end]);
        at = end;
    }
    Some((word(20), packets))
}

/// The SCTP packet in each frame of a classic capture, from the common header on; `None` for a frame without one. A
/// file of another format, and one of a link type that carries no IP, have no frames.
pub fn sctp_packets(file: &[u8]) -> Vec<Option<&[u8]>> {
    let (link_type, frames) = read(file).unwrap_or_default();
    frames.into_iter().map(|frame| sctp(ip(link_type, frame)?)).collect()
}

/// Bytes behind the header of the link, if they are an IP packet.
fn ip(link_type: u32, frame: &[u8]) -> Option<&[u8]> {
    match link_type {
        ETHERNET => match *frame.get(12..14)? {
            [0x08, 0x00] | [0x86, 0xdd] => frame.get(14..),
            // A tag of a virtual LAN before the type.
            [0x81, 0x00] => frame.get(18..),
            _ => None,
        },
        LINUX_COOKED => frame.get(16..),
        IPV4 => Some(frame),
        _ => None,
    }
}

fn sctp(ip: &[u8]) -> Option<&[u8]> {
    let (header, len) = IpHeader::parse_unverified(ip).ok()?;
    let payload = ip.get(len..len + usize::from(header.payload_len))?;
    (header.protocol == protocol::SCTP).then_some(payload)
}

/// The packets of the enhanced packet blocks of a little-endian pcapng file.
///
/// # Panics
/// If it is cut off.
pub fn read_pcapng(file: &[u8]) -> Vec<&[u8]> {
    const ENHANCED_PACKET: usize = 6;
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four octets")) as usize;
    let (mut packets, mut at) = (Vec::new(), 0);
    while at < file.len() {
        if word(at) == ENHANCED_PACKET {
            packets.push(&file[at + 28..at + 28 + word(at + 20)]);
        }
        at += word(at + 4);
    }
    packets
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use slantpath_base::Instant;
    use slantpath_wire::ip::Fragmentation;
    use slantpath_wire::pcapng::{Direction, Writer};

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let packets = [&[1_u8, 2, 3][..], &[]];
        assert_eq!(read(&write(MTP3, packets)), Some((MTP3, packets.to_vec())));
        assert_eq!(read(b"neither"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn a_big_endian_file_is_read() {
        let words = [MAGIC, VERSION, 0, 0, SNAP_LEN, IPV4, 0, 0, 2, 2].map(u32::to_be_bytes);
        let file = [&words.concat()[..], &[7, 8]].concat();
        assert_eq!(read(&file), Some((IPV4, vec![&[7, 8][..]])));
    }

    fn packet(protocol: u8) -> Vec<u8> {
        let [source, destination] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        let header = IpHeader {
            source,
            destination,
            protocol,
            hop_limit: 1,
            traffic_class: 0,
            payload_len: 3,
            fragmentation: Fragmentation::Forbidden,
        };
        let mut packet = vec![0; header.header_len()];
        header.emit(&mut packet);
        packet.extend([5, 6, 7]);
        packet
    }

    #[test]
    fn sctp_is_found_behind_every_link_header() {
        let behind = |header: &[u8]| [header, &packet(protocol::SCTP)].concat();
        let mut ethernet = [0; 14];
        ethernet[12..].copy_from_slice(&[8, 0]);
        let mut tagged = [0; 18];
        tagged[12..].copy_from_slice(&[0x81, 0, 0, 5, 8, 0]);
        let sctp = [5, 6, 7];
        let expected = vec![Some(&sctp[..])];
        assert_eq!(sctp_packets(&write(IPV4, [behind(&[])])), expected);
        assert_eq!(sctp_packets(&write(ETHERNET, [behind(&ethernet)])), expected);
        assert_eq!(sctp_packets(&write(ETHERNET, [behind(&tagged)])), expected);
        assert_eq!(sctp_packets(&write(LINUX_COOKED, [behind(&[0; 16])])), expected);
        // Address resolution, UDP, a frame that is cut, a link without IP, and what is no capture.
        ethernet[13] = 6;
        assert_eq!(sctp_packets(&write(ETHERNET, [behind(&ethernet)])), [None]);
        assert_eq!(sctp_packets(&write(IPV4, [packet(protocol::UDP)])), [None]);
        assert_eq!(sctp_packets(&write(IPV4, [&packet(protocol::SCTP)[..22]])), [None]);
        assert_eq!(sctp_packets(&write(MTP2, [[0; 3]])), [None]);
        assert_eq!(sctp_packets(b"neither"), Vec::<Option<&[u8]>>::new());
    }

    #[test]
    fn packets_of_pcapng_are_found_between_its_other_blocks() {
        let mut writer = Writer::new();
        let link = writer.interface("link");
        for packet in [&[1_u8, 2, 3][..], &[4]] {
            writer.packet(link, Instant::from_millis(1), packet, Direction::Outbound, Some("a comment"));
        }
        assert_eq!(read_pcapng(&writer.take()), [&[1, 2, 3][..], &[4]]);
    }
}
