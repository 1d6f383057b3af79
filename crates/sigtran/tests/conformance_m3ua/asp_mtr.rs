//! An ASP: messages of user parts.

use bytes::Bytes;
use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran::m3ua::{Data, Message};
use slantpath_ss7::mtp3::{RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::tester::{
    AVAILABLE, AspUnderTest, CONTEXT, POINT, Received, SERVICE, affected, data, is_error, octets_of, raw,
};

/// An active ASP that may send to a destination, and the DATA that it sends there.
fn sends_data(sls: u8) -> (Received, Data) {
    let mut test = AspUnderTest::active();
    test.send(&Message::Dava(affected(0, AVAILABLE)));
    assert_eq!(test.indications, [TransferIndication::Resume(AVAILABLE)]);
    let service = ServiceInformation::from_octet(0x40 | ServiceIndicator::new(SERVICE).unwrap().value());
    let label = RoutingLabel { dpc: AVAILABLE, opc: POINT, sls: Sls(sls) };
    let user_data = Bytes::from_static(&[11, 34, 45, 67, 67, 89]);
    test.asp.transfer(None, Transfer { service, label, user_data });
    test.collect();
    let received = test.wait_for(|message| matches!(message, Message::Data(_)));
    let Message::Data(data) = received.message.clone() else { panic!("{received:?}") };
    (received, data)
}

#[test]
fn m3ua_asp_mtr_v_001_data_has_the_routing_context() {
    let (_, data) = sends_data(0);
    assert_eq!(data.routing_context, Some(CONTEXT));
}

#[test]
fn m3ua_asp_mtr_v_002_data_has_the_user_parts_octets_and_the_label() {
    let (received, sent) = sends_data(7);
    assert_eq!(sent, data(POINT, AVAILABLE, 7));
    assert_eq!(received.octets[0], 1);
}

#[test]
fn m3ua_asp_mtr_v_003_data_takes_a_stream_that_is_not_0_and_that_its_selection_keeps() {
    for sls in 0..16 {
        let (received, _) = sends_data(sls);
        assert!(received.stream.0 > 0);
        assert_eq!(received.stream, sends_data(sls).0.stream);
    }
}

#[test]
fn m3ua_asp_mtr_i_001_data_of_another_version_is_invalid() {
    let mut test = AspUnderTest::active();
    let message = octets_of(&Message::Data(data(AVAILABLE, POINT, 0)));
    test.send_octets(1, raw(2, 1, 1, &message[8..]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert!(test.indications.is_empty());
}

#[test]
fn m3ua_asp_mtr_i_002_data_of_a_reserved_class_is_unsupported() {
    let mut test = AspUnderTest::active();
    let message = octets_of(&Message::Data(data(AVAILABLE, POINT, 0)));
    test.send_octets(1, raw(1, 12, 1, &message[8..]));
    test.wait_for(is_error(ErrorCode::UNSUPPORTED_MESSAGE_CLASS));
    assert!(test.indications.is_empty());
}

#[test]
fn m3ua_asp_mtr_i_003_data_of_a_reserved_type_is_unsupported() {
    let mut test = AspUnderTest::active();
    let message = octets_of(&Message::Data(data(AVAILABLE, POINT, 0)));
    test.send_octets(1, raw(1, 1, 2, &message[8..]));
    test.wait_for(is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
    assert!(test.indications.is_empty());
}
