//! Layout of a message, beyond what it says: the forms of its lengths. With it a message that was read is written again
//! octet for octet.
//!
//! Whoever only wants the meaning does not need it: reading a message does not make one.

use slantpath_wire::Reader;

use super::ber::{self, BerError, Element, LengthForm};
use super::component;
use super::message::tag;

/// Layout in which one message was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The form of every length that [`Message::emit`](super::Message::emit) writes, from the outside in.
    /// Parameters and dialogue portions are kept as they came, with all that is in them.
    lengths: Vec<LengthForm>,
}

/// Place of an element in a message.
#[derive(Clone, Copy)]
enum Level {
    Message,
    Portions,
    Components,
    /// Of a component, or of the sequence in a result.
    Fields,
    /// Of a result, whose operation and parameter are in a sequence.
    ResultFields,
}

impl Level {
    /// Gives the place of what stands in an element, if that is no opaque octets.
    const fn within(self, element: &Element<'_>) -> Option<Self> {
        match (self, element.tag) {
            (Self::Message, _) => Some(Self::Portions),
            (Self::Portions, tag::COMPONENTS) => Some(Self::Components),
            (Self::Components, component::tag::RESULT_LAST | component::tag::RESULT_NOT_LAST) => {
                Some(Self::ResultFields)
            }
            (Self::Components, _) | (Self::ResultFields, component::tag::SEQUENCE) => Some(Self::Fields),
            (Self::Fields | Self::Portions | Self::ResultFields, _) => None,
        }
    }
}

impl Layout {
    /// The layout of a message as it was received.
    ///
    /// # Errors
    /// If the octets are no elements. Those of a message that was read are.
    pub fn of(received: &[u8]) -> Result<Self, BerError> {
        let mut lengths = Vec::new();
        note(Level::Message, received, &mut lengths)?;
        Ok(Self { lengths })
    }

    /// Puts what [`Message::emit`](super::Message::emit) writes for that message into this layout.
    ///
    /// # Errors
    /// If `written` is no message.
    pub fn apply(&self, written: &[u8]) -> Result<Vec<u8>, BerError> {
        let mut out = Vec::with_capacity(written.len());
        write(Level::Message, written, &mut self.lengths.iter().copied(), &mut out)?;
        Ok(out)
    }
}

fn note(level: Level, octets: &[u8], lengths: &mut Vec<LengthForm>) -> Result<(), BerError> {
    let mut reader = Reader::new(octets);
    while let Some(element) = ber::next(&mut reader)? {
        lengths.push(element.length_form());
        if let Some(inner) = level.within(&element) {
            note(inner, element.contents, lengths)?;
        }
    }
    Ok(())
}

fn write(
    level: Level,
    octets: &[u8],
    lengths: &mut impl Iterator<Item = LengthForm>,
    out: &mut Vec<u8>,
) -> Result<(), BerError> {
    let mut reader = Reader::new(octets);
    while let Some(element) = ber::next(&mut reader)? {
        let form = lengths.next().unwrap_or_else(|| element.length_form());
        let mut contents = Vec::new();
        match level.within(&element) {
            Some(inner) => write(inner, element.contents, lengths, &mut contents)?,
            None => contents.extend_from_slice(element.contents),
        }
        out.extend_from_slice(element.tag_octets());
        ber::emit_contents(form, &contents, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcap::message::tests::any_message;
    use crate::tcap::{Code, Component, Message};
    use proptest::prelude::*;

    fn again(octets: &[u8]) -> Vec<u8> {
        let mut written = Vec::new();
        Message::parse(octets).unwrap().emit(&mut written);
        Layout::of(octets).unwrap().apply(&written).unwrap()
    }

    #[test]
    fn indefinite_lengths_are_written_as_they_were_read() {
        // A begin, its components, an invoke and its parameter, each up to an end-of-contents.
        let octets = [
            0x62, 0x80, 0x48, 0x01, 0x07, 0x6c, 0x80, 0xa1, 0x80, 0x02, 0x01, 0x01, 0x02, 0x01, 0x2d, 0x30,
            0x80, 0x04, 0x01, 0xff, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let Message::Begin { components, .. } = Message::parse(&octets).unwrap() else { panic!("a begin") };
        assert!(matches!(&components[..], [Component::Invoke { operation: Code::Local(45), .. }]));
        assert_eq!(again(&octets), octets);
        let mut written = Vec::new();
        Message::parse(&octets).unwrap().emit(&mut written);
        assert_eq!(written[..2], [0x62, 20]);
    }

    #[test]
    fn long_lengths_are_written_as_they_were_read() {
        // An end whose lengths have one, two and four octets, and a result in a sequence.
        let octets = [
            0x64, 0x81, 29, 0x49, 0x01, 0x07, 0x6c, 0x82, 0, 22, 0xa2, 0x84, 0, 0, 0, 16, 0x02, 0x01, 0x01,
            0x30, 0x81, 10, 0x02, 0x81, 1, 0x2d, 0x04, 0x82, 0, 2, 0xaa, 0xbb,
        ];
        assert_eq!(again(&octets), octets);
    }

    /// Writes each length in the next of these forms. None is indefinite, which primitive elements cannot be.
    fn disguised(message: &Message, forms: &[LengthForm]) -> Vec<u8> {
        let mut written = Vec::new();
        message.emit(&mut written);
        let mut out = Vec::new();
        write(Level::Message, &written, &mut forms.iter().copied().cycle(), &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn whatever_forms_lengths_have_the_octets_come_back(
            message in any_message(),
            forms in prop::collection::vec((1_u8..5).prop_map(LengthForm::Long), 1..9),
        ) {
            let octets = disguised(&message, &forms);
            prop_assert_eq!(again(&octets), octets);
        }

        #[test]
        fn any_octets_that_are_a_message_come_back(message in any_message(), at: prop::sample::Index, value: u8) {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            let at = at.index(octets.len());
            octets[at] = value;
            if Message::parse(&octets).is_ok() {
                prop_assert_eq!(again(&octets), octets);
            }
        }
    }
}
