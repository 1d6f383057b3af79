//! Messages that nobody on this project wrote decode, and re-encode octet for octet. The order of parameters is the
//! sender's choice, and one of the vectors has the routing context last: that order, and nothing else, is remembered.
use slantpath_sigtran::common::MessageLayout;
use slantpath_sigtran::m3ua::Message;
use slantpath_testkit::vectors;

/// Reads a message and writes it again in the order in which it was written.
fn re_encode(octets: &[u8]) -> Vec<u8> {
    let message =
        Message::parse(&octets.to_vec().into()).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
    let mut written = Vec::new();
    message.emit(&mut written);
    let layout = MessageLayout::of(octets, &written).unwrap();
    assert!(layout.is_order_only(), "{message:?}");
    layout.apply(&written).unwrap()
}

#[test]
fn m3ua_vectors_re_encode_octet_for_octet() {
    let Some(vectors) = vectors::of("m3ua") else { return };
    for octets in vectors {
        assert_eq!(re_encode(&octets), octets);
    }
}
