//! TCP segments and their options.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use slantpath_tcp::{self as tcp, Options, Segment};
use slantpath_wire::{Checksum, Packet};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const MAX_OPTIONS_LEN: usize = 40;

/// The first byte says where the segment is cut into an inline part and a shared part: however it lies in memory, it
/// reads the same. A segment that is read is written as one that reads the same.
pub fn segment(data: &[u8]) {
    let Some((&cut, bytes)) = data.split_first() else { return };
    let cut = usize::from(cut).min(Packet::HEAD_CAPACITY).min(bytes.len());
    let bytes = Bytes::copy_from_slice(bytes);
    let whole = Packet::shared(bytes.clone(), Checksum::Omitted);
    let split = Packet::with_tail(&bytes[..cut], bytes.slice(cut..), 0, Checksum::Omitted);
    let parsed = Segment::parse(&whole, HERE, THERE);
    assert_eq!(parsed, Segment::parse(&split, HERE, THERE));
    let _verified = Segment::parse(&Packet::shared(bytes, Checksum::Complete), HERE, THERE);
    let Ok((segment, payload)) = parsed else { return };
    if padded_len(&segment.options) <= MAX_OPTIONS_LEN {
        let written = segment.emit(payload.clone(), HERE, THERE, tcp::ChecksumPolicy::Complete);
        assert_eq!(Segment::parse(&written, HERE, THERE), Ok((segment, payload)));
    }
}

/// Length of the options when each is padded to four bytes, as ours are; a peer may pack them closer.
fn padded_len(options: &Options) -> usize {
    let Options { mss_bytes, window_shift, sack_permitted, sack, timestamps } = options;
    let blocks = sack.iter().count();
    let fixed = 4 * (usize::from(mss_bytes.is_some()) + usize::from(window_shift.is_some()));
    let sack_len = if blocks == 0 { 0 } else { 4 + 8 * blocks };
    fixed + 4 * usize::from(*sack_permitted) + 12 * usize::from(timestamps.is_some()) + sack_len
}
