//! Reads the classic pcap files among the shared data: the SCTP packets in them.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use slantpath_wire::ip::{IpHeader, protocol};

/// Whatever a capture holds from the SCTP header on, as long as IP says that it is.
pub(crate) fn sctp_packets(name: &str) -> Option<Vec<Bytes>> {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "..", "..", "..", "shared", "data", "pcap", name].iter().collect();
    let Ok(file) = fs::read(&path) else {
        writeln!(std::io::stderr(), "SKIPPED: the shared capture {name} is missing").expect("stderr is open");
        return None;
    };
    let packets: Vec<_> = frames(&file).into_iter().filter_map(|(link, frame)| sctp(link, frame)).collect();
    assert!(!packets.is_empty(), "{name} holds no SCTP packet");
    Some(packets)
}

fn frames(file: &[u8]) -> Vec<(u32, &[u8])> {
    let is_little = match file[..4] {
        [0xd4, 0xc3, 0xb2, 0xa1] => true,
        [0xa1, 0xb2, 0xc3, 0xd4] => false,
        _ => panic!("no classic pcap file"),
    };
    let word = |at: usize| {
        let bytes = file[at..at + 4].try_into().unwrap();
        if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    };
    let link = word(20);
    let mut frames = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let len = word(at + 8) as usize;
        frames.push((link, &file[at + 16..at + 16 + len]));
        at += 16 + len;
    }
    frames
}

fn sctp(link: u32, frame: &[u8]) -> Option<Bytes> {
    let ip = match link {
        1 => match frame[12..14] {
            [0x08, 0x00] | [0x86, 0xdd] => &frame[14..],
            [0x81, 0x00] => &frame[18..],
            _ => return None,
        },
        113 => &frame[16..],
        228 => frame,
        other => panic!("link type {other} is not read here"),
    };
    let (header, len) = IpHeader::parse_unverified(ip).ok()?;
    let payload = &ip[len..len + usize::from(header.payload_len)];
    (header.protocol == protocol::SCTP).then(|| Bytes::copy_from_slice(payload))
}
