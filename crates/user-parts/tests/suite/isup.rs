//! ISUP messages that nobody on this project wrote: they decode, re-encode octet for octet, and say what tshark prints.
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp2::SignalUnit;
use slantpath_ss7::mtp3::Msu;
use slantpath_testkit::{Tshark, pcap, shared, vectors};
use slantpath_user_parts::isup::{CalledPartyNumber, CallingPartyNumber, Message, ParameterCode};

fn assert_re_encodes(octets: &[u8]) -> Message {
    let message = Message::parse(octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
    let mut emitted = Vec::new();
    message.emit(&mut emitted).unwrap();
    assert_eq!(emitted, octets, "{message:?}");
    message
}

#[test]
fn isup_vectors_re_encode() {
    let Some(vectors) = vectors::of("isup") else { return };
    assert_eq!(vectors.len(), 7);
    for octets in vectors {
        assert_re_encodes(&octets);
    }
}

#[test]
fn captured_calls_read_as_tshark_prints_them() {
    let Some(path) = shared::path("pcap/isup_load_generator.pcap") else { return };
    let fields =
        ["mtp3.opc", "mtp3.dpc", "mtp3.sls", "isup.cic", "isup.message_type", "isup.called", "isup.calling"];
    let Some(printed) = Tshark::of_file(&path).rows(&fields) else { return };
    let file = std::fs::read(&path).unwrap();
    let units = pcap::read_pcapng(&file);
    assert_eq!((units.len(), printed.len()), (5_265, 5_265));
    for (octets, printed) in units.into_iter().zip(printed) {
        let (unit, _check_bits) = octets.split_last_chunk::<2>().unwrap();
        let SignalUnit::Message { body, .. } = SignalUnit::parse(unit).unwrap() else { panic!("a message") };
        let msu = Msu::parse(&body, PointCodeFormat::Itu).unwrap();
        let message = assert_re_encodes(msu.user_part);
        let called = message.value(ParameterCode::CALLED_PARTY_NUMBER);
        let called = called.map(|value| CalledPartyNumber::parse(value).unwrap().digits.to_string());
        let calling = message.value(ParameterCode::CALLING_PARTY_NUMBER);
        let calling = calling.map(|value| CallingPartyNumber::parse(value).unwrap().digits.to_string());
        let read = [
            msu.label.opc.0.to_string(),
            msu.label.dpc.0.to_string(),
            msu.label.sls.0.to_string(),
            message.circuit.0.to_string(),
            message.kind.0.to_string(),
            called.unwrap_or_default(),
            calling.unwrap_or_default(),
        ];
        assert_eq!(printed, read);
    }
}
