//! The adaptation layers in the captures of others: decoded, encoded again, and compared with what tshark prints.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_sctp::{Chunk, ParsedPacket};
use slantpath_sigtran::common::{Frame, MessageLayout, MessageParseError};
use slantpath_sigtran::m3ua;
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::Msu;
use slantpath_ss7::sccp::{self, ScmgMessage};
use slantpath_testkit::{Tshark, pcap, shared};
use slantpath_user_parts::isup::{self, CalledPartyNumber, ParameterCode};
use slantpath_wire::{Checksum, Packet, WireError};

const M3UA: u32 = 3;
/// Payload protocols of IUA, M2UA, M3UA, SUA and M2PA.
const SIGTRAN: std::ops::RangeInclusive<u32> = 1..=5;

/// Payload protocol and octets of the DATA chunks of a packet.
fn payloads(packet: &[u8], checksum: Checksum) -> Result<Vec<(u32, Bytes)>, WireError> {
    let packet = Packet::shared(Bytes::copy_from_slice(packet), checksum);
    let parsed = ParsedPacket::parse(&packet)?;
    let data = parsed.chunks().filter_map(|chunk| match chunk {
        Ok(Chunk::Data(data)) => Some((data.ppid.0, data.payload)),
        _ => None,
    });
    Ok(data.collect())
}

#[test]
fn the_captures_with_signalling_are_those_that_are_checked_here() {
    let Some(folder) = shared::path("pcap") else { return };
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for packet in pcap::sctp_packets(&std::fs::read(&path).unwrap()).into_iter().flatten() {
            // What is too small for a packet carries nothing.
            for (ppid, _) in payloads(packet, Checksum::Omitted).unwrap_or_default() {
                if SIGTRAN.contains(&ppid) {
                    *found.entry((name.clone(), ppid)).or_insert(0) += 1;
                }
            }
        }
    }
    let expected = [(("isup.pcap".to_owned(), M3UA), 6), (("sctp-keywords.pcap".to_owned(), M3UA), 15)];
    assert_eq!(found, BTreeMap::from(expected));
}

/// Fields that we read of a message, in the order of tshark's fields: of M3UA, of SCCP, of SCCP's management.
fn reading(payload: &Bytes) -> [String; 7] {
    let message = m3ua::Message::parse(payload).unwrap();
    let mut written = Vec::new();
    message.emit(&mut written);
    let layout = MessageLayout::of(payload, &written).unwrap();
    assert!(layout.is_order_only(), "{message:?}");
    assert_eq!(layout.apply(&written).unwrap(), payload[..]);
    let mut row = <[String; 7]>::default();
    row[0] = message.kind().class.to_string();
    row[1] = message.kind().kind.to_string();
    if let m3ua::Message::Data(data) = &message {
        let data = &data.protocol_data;
        row[2] = data.opc.0.to_string();
        row[3] = data.dpc.0.to_string();
        row[4] = data.sls.0.to_string();
        let unit = sccp::Message::parse(&data.user_data).unwrap();
        let mut octets = Vec::new();
        unit.emit(&mut octets).unwrap();
        assert_eq!(octets, data.user_data);
        row[5] = format!("{:#04x}", octets[0]);
        let sccp::Message::Udt { data, .. } = unit else { panic!("{unit:?}") };
        let management = ScmgMessage::parse(&data).unwrap();
        let mut octets = Vec::new();
        management.emit(&mut octets);
        assert_eq!(octets, data);
        row[6] = format!("{:#04x}", octets[0]);
    }
    row
}

#[test]
fn captured_m3ua_reads_as_tshark_prints_it() {
    let Some(path) = shared::path("pcap/sctp-keywords.pcap") else { return };
    let fields = [
        "m3ua.message_class",
        "m3ua.message_type",
        "m3ua.protocol_data_opc",
        "m3ua.protocol_data_dpc",
        "m3ua.protocol_data_sls",
        "sccp.message_type",
        "sccpmg.message_type",
    ];
    let Some(printed) = Tshark::of_file(&path).rows(&fields) else { return };
    let file = std::fs::read(&path).unwrap();
    let packets = pcap::sctp_packets(&file);
    assert_eq!(packets.len(), printed.len());
    for (packet, printed) in packets.iter().zip(printed) {
        let payloads = payloads(packet.unwrap(), Checksum::Complete).unwrap();
        let read: Vec<[String; 7]> = payloads.iter().map(|(_, payload)| reading(payload)).collect();
        let columns = (0..7).map(|at| {
            let column: Vec<&str> =
                read.iter().map(|row| row[at].as_str()).filter(|field| !field.is_empty()).collect();
            column.join(",")
        });
        assert_eq!(columns.collect::<Vec<_>>(), printed);
    }
}

/// Capture whose writer spoke a draft of M3UA, where parameter 2 held an MSU from its service information octet on, and
/// summed by Adler-32. Both are refused; the ISUP inside is read all the same.
#[test]
fn captured_isup_over_a_draft_reads_as_tshark_prints_it() {
    const DRAFT_PROTOCOL_DATA: u16 = 2;
    const PROTOCOL_DATA: u16 = 0x0210;
    let Some(path) = shared::path("pcap/isup.pcap") else { return };
    let fields = ["mtp3.opc", "mtp3.dpc", "mtp3.sls", "isup.cic", "isup.message_type", "isup.called"];
    let tshark = Tshark::of_file(&path).prefer("m3ua.version:Internet Draft version 6");
    let Some(printed) = tshark.rows(&fields) else { return };
    let mut read = Vec::new();
    for packet in pcap::sctp_packets(&std::fs::read(&path).unwrap()).into_iter().map(Option::unwrap) {
        let refused = payloads(packet, Checksum::Complete);
        assert!(matches!(refused, Err(WireError::BadChecksum { .. })), "{refused:?}");
        for (_, payload) in payloads(packet, Checksum::Omitted).unwrap() {
            assert_eq!(
                m3ua::Message::parse(&payload),
                Err(MessageParseError::MissingParameter(PROTOCOL_DATA))
            );
            let octets = Frame::parse(&payload).unwrap().octets(DRAFT_PROTOCOL_DATA).unwrap();
            let msu = Msu::parse(&octets, PointCodeFormat::Itu).unwrap();
            let message = isup::Message::parse(msu.user_part).unwrap();
            let mut written = Vec::new();
            message.emit(&mut written).unwrap();
            assert_eq!(written, msu.user_part);
            let mut written = Vec::new();
            msu.emit(PointCodeFormat::Itu, &mut written);
            assert_eq!(written, octets);
            let called = message
                .value(ParameterCode::CALLED_PARTY_NUMBER)
                .map(|value| CalledPartyNumber::parse(value).unwrap().digits.to_string().to_uppercase());
            read.push(vec![
                msu.label.opc.0.to_string(),
                msu.label.dpc.0.to_string(),
                msu.label.sls.0.to_string(),
                message.circuit.0.to_string(),
                message.kind.0.to_string(),
                called.unwrap_or_default(),
            ]);
        }
    }
    assert_eq!(read, printed);
}
