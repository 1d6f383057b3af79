//! Messages that nobody on this project wrote decode and re-encode byte for byte.
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::{Msu, ServiceIndicator};
use slantpath_ss7::sccp::Message;
use slantpath_testkit::vectors;

fn assert_sccp_round_trips(octets: &[u8]) {
    let message = Message::parse(octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
    let mut emitted = Vec::new();
    message.emit(&mut emitted).unwrap();
    assert_eq!(emitted, octets, "{message:?}");
}

#[test]
fn sccp_vectors_re_encode() {
    let Some(vectors) = vectors::of("sccp") else { return };
    for octets in vectors {
        assert_sccp_round_trips(&octets);
    }
}

#[test]
fn mtp3_vectors_re_encode() {
    let Some(vectors) = vectors::of("mtp3") else { return };
    for octets in vectors {
        let msu = Msu::parse(&octets, PointCodeFormat::Itu).unwrap();
        let mut emitted = Vec::new();
        msu.emit(PointCodeFormat::Itu, &mut emitted);
        assert_eq!(emitted, octets);
        if msu.service.indicator == ServiceIndicator::SCCP {
            assert_sccp_round_trips(msu.user_part);
        }
    }
}
