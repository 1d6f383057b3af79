//! Every M3UA message of the shared captures decodes and re-encodes octet for octet. The checksums of the packets are
//! not looked at: those of `isup.pcap` are of the obsolete kind, which SCTP refuses, and the messages in it are sound.
use slantpath_sigtran::common::{self, Frame, MessageLayout, MessageParseError};
use slantpath_sigtran::m3ua::Message;
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};
use slantpath_testkit::{pcap, shared};

/// The user messages of payload protocol 3 in an SCTP packet.
fn m3ua_messages(packet: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    let mut rest = &packet[12..];
    while let [kind, flags, high, low, ..] = *rest {
        let len = usize::from(u16::from_be_bytes([high, low]));
        assert!(len >= 4 && len <= rest.len(), "a chunk fits its packet");
        if kind == 0 && rest[12..16] == [0, 0, 0, 3] {
            assert_eq!(flags & 3, 3, "the message is whole");
            messages.push(rest[16..len].to_vec());
        }
        rest = &rest[len.next_multiple_of(4).min(rest.len())..];
    }
    messages
}

fn check_message(message: &Message, octets: &[u8]) {
    let mut written = Vec::new();
    message.emit(&mut written);
    let layout = MessageLayout::of(octets, &written).unwrap();
    assert!(layout.is_order_only(), "{message:?}");
    assert_eq!(layout.apply(&written).as_deref(), Ok(octets));
}

const PROTOCOL_DATA: u16 = 0x0210;

/// DATA of a draft before RFC 3332, which the RFCs refuse for want of Protocol Data: tag 2 holds the whole MSU. Its
/// frame and the MSU in it come back octet for octet.
fn check_draft(octets: &[u8]) {
    let frame = Frame::parse(octets).unwrap();
    let msu = Msu::parse(frame.required(2).unwrap(), PointCodeFormat::Itu).unwrap();
    assert_eq!(msu.service.indicator, ServiceIndicator::ISUP);
    let mut written = Vec::new();
    common::emit(frame.kind, &mut written, |out| {
        for parameter in frame.parameters() {
            let mut value = parameter.value.to_vec();
            if parameter.kind == 2 {
                value.clear();
                msu.emit(PointCodeFormat::Itu, &mut value);
            }
            common::emit_octets(parameter.kind, &value, out);
        }
    });
    assert_eq!(written, octets);
}

/// Checks every message of a capture; how many there are, `None` where the file is missing.
fn check(name: &str) -> Option<usize> {
    let file = shared::octets(&format!("pcap/{name}"))?;
    let mut count = 0;
    for packet in pcap::sctp_packets(&file).into_iter().flatten() {
        for octets in m3ua_messages(packet) {
            match Message::parse(&octets.clone().into()) {
                Ok(message) => check_message(&message, &octets),
                Err(MessageParseError::MissingParameter(PROTOCOL_DATA)) => check_draft(&octets),
                Err(error) => panic!("{octets:02x?}: {error}"),
            }
            count += 1;
        }
    }
    Some(count)
}

#[test]
fn m3ua_under_obsolete_checksums_re_encodes_octet_for_octet() {
    if let Some(count) = check("isup.pcap") {
        assert!(count > 0, "there is M3UA");
    }
}

#[test]
fn the_start_of_m3ua_on_a_multihomed_association_re_encodes_octet_for_octet() {
    if let Some(count) = check("sctp-keywords.pcap") {
        assert!(count > 0, "there is M3UA");
    }
}
