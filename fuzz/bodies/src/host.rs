//! Streams that applications read.

use slantpath_applications::message::{Deframer, MAX_MESSAGE_LEN, STAMP_LEN, verify};

/// Any stream is cut into messages of possible lengths, or its framing is lost; where it is cut on the way in
/// changes nothing.
pub fn stream(data: &[u8]) {
    let mut whole = Vec::new();
    let outcome = Deframer::default().push(data, |message| whole.push(message.to_vec()));
    for message in &whole {
        assert!((STAMP_LEN..=MAX_MESSAGE_LEN).contains(&message.len()));
        let _number = verify(message);
    }
    let mut pieces = Vec::new();
    let mut deframer = Deframer::default();
    let pieced =
        data.chunks(7).try_for_each(|chunk| deframer.push(chunk, |message| pieces.push(message.to_vec())));
    assert_eq!(outcome, pieced);
    assert_eq!(whole, pieces);
}
