//! Adaptation layers.

use slantpath_sigtran::m3ua::Message;

/// A message that is read is written as one that reads the same.
pub fn m3ua(data: &[u8]) {
    let Ok(message) = Message::parse(data) else { return };
    let mut written = Vec::new();
    message.emit(&mut written);
    assert_eq!(Message::parse(&written), Ok(message));
}
