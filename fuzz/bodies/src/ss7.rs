//! Signalling System No. 7.

use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::{ManagementMessage, Msu, TestMessage};
use slantpath_ss7::sccp::{Message, ScmgMessage};

/// The first byte chooses the format of point codes. What is read is written as what reads the same.
pub fn mtp3(data: &[u8]) {
    let Some((choice, octets)) = data.split_first() else { return };
    let format = [PointCodeFormat::Ansi, PointCodeFormat::Itu, PointCodeFormat::Ttc][usize::from(choice % 3)];
    let Ok(msu) = Msu::parse(octets, format) else { return };
    let mut written = Vec::new();
    msu.emit(format, &mut written);
    assert_eq!(Msu::parse(&written, format), Ok(msu));
    if let Ok(message) = ManagementMessage::parse(msu.user_part) {
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(ManagementMessage::parse(&written), Ok(message));
    }
    if let Ok(message) = TestMessage::parse(msu.user_part) {
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(TestMessage::parse(&written), Ok(message));
    }
}

/// A message that is read is written as one that reads the same, unless it is longer than its pointers reach:
/// a received one may let several pointers share octets.
pub fn sccp(data: &[u8]) {
    if let Ok(message) = Message::parse(data) {
        let mut written = Vec::new();
        if message.emit(&mut written).is_ok() {
            assert_eq!(Message::parse(&written), Ok(message));
        }
    }
    if let Ok(message) = ScmgMessage::parse(data) {
        let mut written = Vec::new();
        message.emit(&mut written);
        assert_eq!(ScmgMessage::parse(&written), Ok(message));
    }
}
