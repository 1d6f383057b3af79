//! Decoding and encoding of M2PA messages: ours, and the crate `m2pa`.
//!
//! Both read the same octets into their own message and write that message again; what they write is compared with
//! what they read before anything is timed.

use bytes::Bytes;
use m2pa::M2paMessage;
use slantpath_sigtran::m2pa::{Body, UserData};

use crate::rounds::Failure;

/// A message of each kind that both know, by name. The lengths are those of the MSUs that signalling links are
/// dimensioned for.
///
/// # Errors
/// A message that the two write differently.
pub fn vectors() -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let user_data = |len| {
        Body::UserData(UserData {
            priority: slantpath_sigtran::m2pa::Priority::default(),
            msu: vec![0x83; len].into(),
        })
    };
    let messages = [
        ("acknowledgement", Body::Acknowledgement),
        ("Link Status Ready", Body::LinkStatus(slantpath_sigtran::m2pa::LinkStatus::Ready)),
        ("User Data, 60 octets", user_data(60)),
        ("User Data, 120 octets", user_data(120)),
        ("User Data, 270 octets", user_data(270)),
    ];
    let number =
        |number| slantpath_sigtran::m2pa::SequenceNumber::new(number).ok_or("a number of more than 24 bits");
    let mut vectors = Vec::new();
    for (name, body) in messages {
        let mut octets = Vec::new();
        slantpath_sigtran::m2pa::Message { bsn: number(0x0012_3456)?, fsn: number(0x0065_4321)?, body }
            .emit(&mut octets);
        let theirs = M2paMessage::decode(&octets)?.encode()?;
        if theirs != octets {
            return Err(format!("{name}: the peer writes {theirs:02x?} for {octets:02x?}").into());
        }
        vectors.push((name, octets));
    }
    Ok(vectors)
}

/// Reads and writes a message so many times, and returns how many octets were written.
///
/// # Errors
/// Octets that are no message.
pub fn ours(octets: &[u8], times: usize) -> Result<usize, Failure> {
    let octets = Bytes::copy_from_slice(octets);
    let mut written = 0;
    for _ in 0..times {
        let message = slantpath_sigtran::m2pa::Message::parse(core::hint::black_box(&octets))?;
        // As a link does: a message of its own for the transport, not a buffer that is used again.
        let mut out = Vec::with_capacity(message.emitted_len());
        message.emit(&mut out);
        written += core::hint::black_box(&out).len();
    }
    Ok(written)
}

/// Variant of [`ours`] with the crate `m2pa`.
///
/// # Errors
/// Octets that are no message.
pub fn theirs(octets: &[u8], times: usize) -> Result<usize, Failure> {
    let mut written = 0;
    for _ in 0..times {
        let message = M2paMessage::decode(core::hint::black_box(octets))?;
        written += core::hint::black_box(message.encode()?).len();
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_read_and_write_every_message() {
        for (name, octets) in vectors().expect("both know them") {
            assert_eq!(ours(&octets, 2).expect("ours"), 2 * octets.len(), "{name}");
            assert_eq!(theirs(&octets, 2).expect("theirs"), 2 * octets.len(), "{name}");
        }
    }
}
