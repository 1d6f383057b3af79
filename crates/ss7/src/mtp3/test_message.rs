//! Signalling link test messages (Q.707, section 2.2; T1.111.7).

use slantpath_wire::{Reader, WireError};

use crate::mtp3::{ManagementLayout, Slc, Sls};

/// A signalling link test message or its acknowledgement, behind its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMessage<'a> {
    /// SLTM, with its test pattern of 1 to 15 octets.
    Sltm(&'a [u8]),
    /// SLTA, with the pattern that it returns.
    Slta(&'a [u8]),
}

impl<'a> TestMessage<'a> {
    const SLTM: u8 = 0x11;
    const SLTA: u8 = 0x21;

    /// Reads a message behind a label with that SLS, and the code of the link that it tests: the label's SLS, or
    /// ANSI's four bits beside the length.
    pub fn parse(octets: &'a [u8], layout: ManagementLayout, sls: Sls) -> Result<(Self, Slc), WireError> {
        let mut reader = Reader::new(octets);
        let heading = reader.u8()?;
        let length = reader.u8()?;
        let len = length >> 4;
        let slc = Slc(if layout == ManagementLayout::Ansi { length & 0xf } else { sls.0 & 0xf });
        if len == 0 {
            return Err(WireError::BadValue { field: "test pattern length", value: 0 });
        }
        let pattern = reader.take(usize::from(len))?;
        match heading {
            Self::SLTM => Ok((Self::Sltm(pattern), slc)),
            Self::SLTA => Ok((Self::Slta(pattern), slc)),
            other => Err(WireError::Unsupported { field: "heading code", value: other.into() }),
        }
    }

    /// Appends the message behind its label.
    ///
    /// # Panics
    /// If the pattern is empty or longer than 15 octets.
    pub fn emit(&self, layout: ManagementLayout, slc: Slc, out: &mut Vec<u8>) {
        let (heading, pattern) = match self {
            Self::Sltm(pattern) => (Self::SLTM, pattern),
            Self::Slta(pattern) => (Self::SLTA, pattern),
        };
        assert!((1..=15).contains(&pattern.len()), "a test pattern has 1 to 15 octets");
        #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
        let len = pattern.len() as u8;
        let code = if layout == ManagementLayout::Ansi { slc.0 & 0xf } else { 0 };
        out.extend_from_slice(&[heading, len << 4 | code]);
        out.extend_from_slice(pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn test_messages_round_trip(
            pattern in proptest::collection::vec(any::<u8>(), 1..16),
            answer: bool,
            slc in 0_u8..16,
            layout in prop_oneof![
                Just(ManagementLayout::Ansi), Just(ManagementLayout::Itu)
            ],
        ) {
            let message = if answer { TestMessage::Slta(&pattern) } else { TestMessage::Sltm(&pattern) };
            let mut octets = Vec::new();
            message.emit(layout, Slc(slc), &mut octets);
            prop_assert_eq!(TestMessage::parse(&octets, layout, Sls(slc)), Ok((message, Slc(slc))));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = TestMessage::parse(&octets, ManagementLayout::Itu, Sls(0));
        }
    }
}
