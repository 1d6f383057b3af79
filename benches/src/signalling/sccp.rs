//! Decoding and encoding of SCCP messages: ours, and the crate `sccp`.
//!
//! Both read the same octets into their own message and write that message again; what they write is compared with
//! what they read before anything is timed.

use sccp::SccpMessage;
use slantpath_ss7::sccp::{Digits, GlobalTitle, OptionalParameters, PartyAddress, ProtocolClass, Ssn};

use crate::rounds::Failure;

/// A message of each kind that both know, by name.
///
/// # Errors
/// A message that cannot be written.
pub fn vectors() -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let on_ssn = |ssn| PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(ssn)), ..PartyAddress::default() };
    let titled = |digits: &str, ssn| {
        let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse(digits)?);
        let address =
            PartyAddress { ssn: Some(Ssn(ssn)), global_title: Some(title), ..PartyAddress::default() };
        Ok::<_, Failure>(address)
    };
    let class = ProtocolClass { class: 0, handling: 8 };
    let (called, calling) = (titled("491712345678", 6)?, titled("336123456789", 7)?);
    let importance =
        slantpath_ss7::sccp::Parameter { name: slantpath_ss7::sccp::Parameter::IMPORTANCE, value: vec![4] };
    let (hop_counter, optional) = (15, OptionalParameters(vec![importance]));
    let messages = [
        (
            "UDT on SSN, 5 octets",
            slantpath_ss7::sccp::Message::Udt {
                class,
                called: on_ssn(6),
                calling: on_ssn(7),
                data: vec![0x62, 0x40, 1, 2, 3],
            },
        ),
        (
            "UDT on titles, 100 octets",
            slantpath_ss7::sccp::Message::Udt {
                class,
                called: called.clone(),
                calling: calling.clone(),
                data: vec![0x62; 100],
            },
        ),
        (
            "XUDT on titles, 100 octets",
            slantpath_ss7::sccp::Message::Xudt {
                class,
                hop_counter,
                called: called.clone(),
                calling: calling.clone(),
                data: vec![0x62; 100],
                optional,
            },
        ),
        (
            "UDTS on titles, 100 octets",
            slantpath_ss7::sccp::Message::Udts { cause: 1, called, calling, data: vec![0x62; 100] },
        ),
    ];
    let mut vectors = Vec::new();
    for (name, message) in messages {
        let mut octets = Vec::new();
        message.emit(&mut octets)?;
        let theirs = SccpMessage::decode(&octets)?.encode()?;
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
    let mut written = 0;
    let mut out = Vec::new();
    for _ in 0..times {
        let message = slantpath_ss7::sccp::Message::parse(core::hint::black_box(octets))?;
        out.clear();
        message.emit(&mut out)?;
        written += core::hint::black_box(&out).len();
    }
    Ok(written)
}

/// Variant of [`ours`] with the crate `sccp`.
///
/// # Errors
/// Octets that are no message.
pub fn theirs(octets: &[u8], times: usize) -> Result<usize, Failure> {
    let mut written = 0;
    for _ in 0..times {
        let message = SccpMessage::decode(core::hint::black_box(octets))?;
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
