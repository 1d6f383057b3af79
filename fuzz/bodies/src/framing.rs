//! Headers in front of datagrams: RTP and GTP-U.

use slantpath_applications::{GTP_U_HEADER_LEN, GtpUHeader, RTP_HEADER_LEN, RtpHeader};

/// A header that is read is written as it stood there, and all behind it is the payload.
pub fn rtp(data: &[u8]) {
    let Ok((header, payload)) = RtpHeader::parse(data) else { return };
    let (head, rest) = data.split_at(RTP_HEADER_LEN);
    assert_eq!((&header.emit()[..], payload), (head, rest));
}

/// A header that is read is written as it stood there, and the packet behind it is as long as it says.
pub fn gtp_u(data: &[u8]) {
    let Ok((header, packet)) = GtpUHeader::parse(data) else { return };
    let (head, rest) = data.split_at(GTP_U_HEADER_LEN);
    assert_eq!(&header.emit()[..], head);
    assert_eq!(packet.len(), usize::from(header.payload_len));
    assert!(rest.starts_with(packet));
}
