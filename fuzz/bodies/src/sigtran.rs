//! Messages of the adaptation layers.

use bytes::Bytes;
use slantpath_sigtran::common::MessageLayout;
use slantpath_sigtran::m2pa;
use slantpath_sigtran::m3ua;
use slantpath_sigtran_adaptations::iua::IuaParameter;
use slantpath_sigtran_adaptations::m2ua::M2uaParameter;
use slantpath_sigtran_adaptations::message::{self, Vocabulary};
use slantpath_sigtran_adaptations::sua::SuaParameter;

/// A message that is read is written as one that reads the same, and with its layout as it was.
pub fn m3ua(data: &[u8]) {
    let Ok(message) = m3ua::Message::parse(&Bytes::copy_from_slice(data)) else { return };
    let mut written = Vec::new();
    message.emit(&mut written);
    let layout = MessageLayout::of(data, &written).expect("both are messages");
    assert_eq!(layout.apply(&written).as_deref(), Ok(data));
    assert_eq!(m3ua::Message::parse(&written.into()), Ok(message));
}

/// A message of M2PA that is read is written octet for octet, but for the spare octets of its headers.
pub fn m2pa(data: &[u8]) {
    let Ok(message) = m2pa::Message::parse(&Bytes::copy_from_slice(data)) else { return };
    let mut written = Vec::new();
    message.emit(&mut written);
    assert_eq!(written.len(), message.emitted_len());
    let mut expected = data.to_vec();
    for spare in [1, 8, 12] {
        expected[spare] = 0;
    }
    assert_eq!(written, expected);
    assert_eq!(m2pa::Message::parse(&written.into()), Ok(message));
}

/// A message that is read is written as one that reads the same; a receiver takes or refuses it.
fn round_trip<V: Vocabulary>(data: &[u8]) {
    let _ = message::Message::<V>::receive(data);
    let Ok(message) = message::Message::<V>::parse(data) else { return };
    assert_eq!(message::Message::parse(&message.to_bytes()), Ok(message));
}

/// Messages of M2UA.
pub fn m2ua(data: &[u8]) {
    round_trip::<M2uaParameter>(data);
}

/// Messages of SUA.
pub fn sua(data: &[u8]) {
    round_trip::<SuaParameter>(data);
}

/// Messages of IUA.
pub fn iua(data: &[u8]) {
    round_trip::<IuaParameter>(data);
}
