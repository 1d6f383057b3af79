//! A message as it lies: its type and its addresses, without reading the rest, for whoever only looks at it.

use slantpath_wire::Reader;

use super::kind;
use super::parts::Pointers;
use crate::sccp::{AddressFormat, Parameter, PartyAddress};

/// A message of SCCP from its type on, of which nothing has been read yet.
#[derive(Clone, Copy, Debug)]
pub struct MessageView<'a> {
    format: AddressFormat,
    octets: &'a [u8],
}

impl<'a> MessageView<'a> {
    /// A look at octets of a network with such addresses.
    pub const fn new(format: AddressFormat, octets: &'a [u8]) -> Self {
        Self { format, octets }
    }

    /// Gives the code of the type (Q.713, table 1); none without an octet.
    pub fn code(&self) -> Option<u8> {
        self.octets.first().copied()
    }

    /// Reads the called party address; none if the type has none or it cannot be read.
    pub fn called(&self) -> Option<PartyAddress> {
        self.address(0)
    }

    /// Reads the calling party address; none if the message has none or it cannot be read.
    pub fn calling(&self) -> Option<PartyAddress> {
        self.address(1)
    }

    /// The address behind the pointer of that number.
    fn address(&self, number: usize) -> Option<PartyAddress> {
        let code = self.code()?;
        let (fixed, is_long) = match code {
            kind::UDT | kind::UDTS => (2, false),
            kind::XUDT | kind::XUDTS => (3, false),
            kind::LUDT | kind::LUDTS => (3, true),
            kind::CR => (5, false),
            _ => return None,
        };
        let mut reader = Reader::new(self.octets);
        reader.take(fixed).ok()?;
        let mut pointers = Pointers::at(self.octets, &reader);
        let mut target = None;
        for _ in 0..=number {
            target = if is_long { pointers.long().ok()? } else { pointers.short().ok()? };
        }
        if code == kind::CR && number == 1 {
            return self.optional_calling(target?);
        }
        PartyAddress::parse_as(self.format, pointers.variable(target).ok()?).ok()
    }

    /// The calling party among the optional parameters of a request for a connection.
    fn optional_calling(&self, start: usize) -> Option<PartyAddress> {
        let mut reader = Reader::new(self.octets.get(start..)?);
        loop {
            let name = reader.u8().ok().filter(|name| *name != 0)?;
            let length = usize::from(reader.u8().ok()?);
            let value = reader.take(length).ok()?;
            if name == Parameter::CALLING {
                return PartyAddress::parse_as(self.format, value).ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sccp::codec::tests::any_message;
    use crate::sccp::{Message, OptionalParameters};
    use proptest::prelude::*;

    fn addresses(message: &Message) -> (Option<PartyAddress>, Option<PartyAddress>) {
        let of = |optional: &OptionalParameters| {
            optional.value(Parameter::CALLING).and_then(|value| PartyAddress::parse(value).ok())
        };
        match message {
            Message::Cr { called, optional, .. } => (Some(called.clone()), of(optional)),
            Message::Udt { called, calling, .. }
            | Message::Udts { called, calling, .. }
            | Message::Xudt { called, calling, .. }
            | Message::Xudts { called, calling, .. }
            | Message::Ludt { called, calling, .. }
            | Message::Ludts { called, calling, .. } => (Some(called.clone()), Some(calling.clone())),
            _ => (None, None),
        }
    }

    proptest! {
        #[test]
        fn a_look_finds_the_addresses_that_reading_the_whole_finds(message in any_message()) {
            let mut octets = Vec::new();
            if message.emit(&mut octets).is_ok() {
                let view = MessageView::new(AddressFormat::Itu, &octets);
                let read = Message::parse(&octets).unwrap();
                prop_assert_eq!((view.called(), view.calling()), addresses(&read));
                prop_assert_eq!(view.code(), octets.first().copied());
            }
        }

        #[test]
        fn any_octets_give_an_address_or_none(octets: Vec<u8>) {
            for format in [AddressFormat::Ansi, AddressFormat::Itu] {
                let view = MessageView::new(format, &octets);
                _ = (view.called(), view.calling());
            }
        }
    }
}
