//! Messages that nobody on this project wrote decode, and re-encode octet for octet.

use slantpath_sigtran_adaptations::{m2ua, sua};
use slantpath_testkit::vectors;

#[test]
fn m2ua_vectors_re_encode_octet_for_octet() {
    let Some(vectors) = vectors::of("m2ua") else { return };
    for octets in vectors {
        let message =
            m2ua::Message::receive(&octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
        assert_eq!(message.to_bytes(), octets, "{message:?}");
    }
}

#[test]
fn sua_vectors_re_encode_octet_for_octet() {
    let Some(vectors) = vectors::of("sua") else { return };
    for octets in vectors {
        // One of them lacks its destination address: a receiver refuses it, and it is read all the same.
        let message = sua::Message::parse(&octets).unwrap_or_else(|error| panic!("{octets:02x?}: {error}"));
        assert_eq!(message.to_bytes(), octets, "{message:?}");
    }
}
