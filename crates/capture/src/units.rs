//! Signal units of MTP2: their messages, and which of them a line has repeated.
//!
//! Basic error correction repeats what was lost, and preventive cyclic retransmission whatever is not acknowledged. A
//! unit is a repetition if one of its number and of the same octets came before, and fewer than 127 others since: no
//! more can be without an acknowledgement.

use bytes::Bytes;
use slantpath_ss7::mtp2::{SignalUnit, frame_check};

/// Numbers of signal units.
const NUMBERS: usize = 128;

/// Message of a line: number and octets, from the service information octet on.
pub(crate) fn message(octets: &Bytes) -> Unit {
    let without_check = octets.len().checked_sub(2).map(|len| octets.split_at(len));
    let parsed = match without_check {
        // Captures have check bits or not, and their link type does not say.
        Some((unit, check)) if frame_check(unit) == check => SignalUnit::parse(unit),
        _ => SignalUnit::parse(octets),
    };
    match parsed {
        Ok(SignalUnit::Message { header, body, .. }) => Unit::Message { number: header.fsn, body },
        Ok(SignalUnit::FillIn(_) | SignalUnit::Status(..)) => Unit::OfTheLine,
        Err(_) => Unit::Malformed,
    }
}

/// Kind of a signal unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Fill-in or status of the link.
    OfTheLine,
    Malformed,
    Message {
        number: u8,
        body: Bytes,
    },
}

/// Messages of one direction of a line.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// For each number, a sum over the octets that came with it last, and the count of messages then.
    last: Box<[Option<(u64, u64)>; NUMBERS]>,
    messages: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { last: Box::new([None; NUMBERS]), messages: 0 }
    }
}

impl Numbers {
    /// Takes a message; true if it is the first time.
    pub(crate) fn is_first(&mut self, number: u8, body: &[u8]) -> bool {
        let place = usize::from(number) % NUMBERS;
        let sum = sum(body);
        let is_repeated = self.last[place]
            .is_some_and(|(before, count)| before == sum && self.messages - count < NUMBERS as u64 - 1);
        if is_repeated {
            return false;
        }
        self.messages += 1;
        self.last[place] = Some((sum, self.messages));
        true
    }
}

/// Sum by which octets are known again (FNV-1a).
fn sum(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, octet| (sum ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_ss7::mtp2::Header;

    use super::*;

    #[test]
    fn a_unit_is_read_with_its_check_bits_or_without() {
        let header = Header { bsn: 1, bib: true, fsn: 77, fib: true };
        for len in [5, 200] {
            let body = Bytes::from(vec![9; len]);
            let mut octets = Vec::new();
            SignalUnit::Message { header, spare: 0, body: body.clone() }.emit(&mut octets);
            let expected = Unit::Message { number: 77, body };
            assert_eq!(message(&octets.clone().into()), expected);
            octets.extend(frame_check(&octets));
            assert_eq!(message(&octets.into()), expected);
        }
        assert_eq!(message(&Bytes::from_static(&[1, 1, 0])), Unit::OfTheLine);
        assert_eq!(message(&Bytes::from_static(&[1, 1, 9])), Unit::Malformed);
    }

    #[test]
    fn a_repetition_has_number_and_octets_of_one_before() {
        let mut numbers = Numbers::default();
        assert!(numbers.is_first(5, b"one"));
        assert!(!numbers.is_first(5, b"one"));
        assert!(numbers.is_first(6, b"one"));
        assert!(!numbers.is_first(5, b"one") && !numbers.is_first(6, b"one"));
        // After all numbers have been used, an equal message is another one.
        for number in 7..=132 {
            assert!(numbers.is_first(number, b"one"), "{number}");
        }
        assert!(numbers.is_first(5, b"one") && !numbers.is_first(5, b"one"));
    }

    proptest! {
        #[test]
        fn any_octets_are_a_unit_or_none(octets: Vec<u8>) {
            let _ = message(&octets.into());
        }
    }
}
