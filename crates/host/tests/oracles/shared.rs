//! The shared captures, read packet by packet.

use std::io::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use slantpath_wire::ip::{IpHeader, protocol};

/// The folder of captures; nothing, loudly, where it is missing.
pub(crate) fn folder() -> Option<PathBuf> {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "shared", "data", "pcap"].iter().collect();
    if !path.exists() {
        writeln!(std::io::stderr(), "SKIPPED: there are no shared captures here").expect("stderr is open");
        return None;
    }
    Some(path)
}

/// The SCTP packet in each frame of a classic capture, from the common header on; `None` for a frame without one, and
/// for a file of another format or link type nothing at all.
pub(crate) fn sctp_packets(file: &[u8]) -> Vec<Option<Bytes>> {
    let is_little = match file[..4] {
        [0xd4, 0xc3, 0xb2, 0xa1] => true,
        [0xa1, 0xb2, 0xc3, 0xd4] => false,
        _ => return Vec::new(),
    };
    let word = |at: usize| {
        let octets = file[at..at + 4].try_into().unwrap();
        if is_little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) }
    };
    let link = word(20);
    let (mut packets, mut at) = (Vec::new(), 24);
    while at < file.len() {
        let len = word(at + 8) as usize;
        packets.push(sctp(link, &file[at + 16..at + 16 + len]));
        at += 16 + len;
    }
    packets
}

fn sctp(link: u32, frame: &[u8]) -> Option<Bytes> {
    let ip = match link {
        1 if frame[12..14] == [0x81, 0] => &frame[18..],
        1 => &frame[14..],
        113 => &frame[16..],
        228 => frame,
        _ => return None,
    };
    let (header, len) = IpHeader::parse_unverified(ip).ok()?;
    let payload = ip.get(len..len + usize::from(header.payload_len))?;
    (header.protocol == protocol::SCTP).then(|| Bytes::copy_from_slice(payload))
}
