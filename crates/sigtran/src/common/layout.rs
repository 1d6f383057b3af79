//! Layout of a message, beyond its meaning: the order of its parameters, parameters that nobody knows, spare bits. With
//! it a message that was read is written again octet for octet.
//!
//! Whoever only wants the meaning does not need it: reading a message does not make one.

use slantpath_wire::{Reader, tlv};

use crate::common::{Frame, HEADER_LEN, MessageParseError};

/// Layout in which one message was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageLayout {
    /// The octet of the header that is reserved.
    reserved: u8,
    /// Octets of the last padding that the length leaves out.
    uncounted: u32,
    fields: Vec<Field>,
}

/// One parameter of the message, in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    /// As we would write it.
    Known(u16),
    /// Of a tag that the message's own form leaves out.
    Unknown(Vec<u8>),
    /// Of the same meaning as what we would write, and written in another way.
    Variant { canonical: Vec<u8>, received: Vec<u8> },
}

impl MessageLayout {
    /// Compares a message as it was received with what the layer writes for it.
    ///
    /// # Errors
    /// If either is no message.
    pub fn of(received: &[u8], written: &[u8]) -> Result<Self, MessageParseError> {
        Frame::parse(received)?;
        Frame::parse(written)?;
        let length = |octets: &[u8]| u32::from_be_bytes([octets[4], octets[5], octets[6], octets[7]]);
        let counted = usize::try_from(length(received)).unwrap_or(usize::MAX);
        let uncounted = u32::try_from(received.len().saturating_sub(counted)).unwrap_or(0);
        let mut canonical = fields(written);
        let fields = fields(received)
            .into_iter()
            .map(|field| {
                let alike = canonical.iter().position(|ours| tag(ours) == tag(field));
                let same = canonical.iter().position(|ours| *ours == field);
                match (same, alike) {
                    (Some(at), _) => Field::Known(tag(canonical.remove(at))),
                    (None, Some(at)) => {
                        let canonical = canonical.remove(at).to_vec();
                        Field::Variant { canonical, received: field.to_vec() }
                    }
                    (None, None) => Field::Unknown(field.to_vec()),
                }
            })
            .collect();
        Ok(Self { reserved: received[1], uncounted, fields })
    }

    /// Tells whether nothing but the order of the parameters differs from what the layer writes.
    pub fn is_order_only(&self) -> bool {
        let known = self.fields.iter().all(|field| matches!(field, Field::Known(_)));
        known && self.reserved == 0 && self.uncounted == 0
    }

    /// Puts what the layer writes for a message, perhaps changed since, into this layout. Parameters that are new come
    /// last; the place of those that are gone closes.
    ///
    /// # Errors
    /// If `written` is no message.
    pub fn apply(&self, written: &[u8]) -> Result<Vec<u8>, MessageParseError> {
        Frame::parse(written)?;
        let mut canonical = fields(written);
        let mut out = written[..HEADER_LEN].to_vec();
        let mut take = |wanted: &dyn Fn(&[u8]) -> bool| {
            canonical.iter().position(|ours| wanted(ours)).map(|at| canonical.remove(at))
        };
        for field in &self.fields {
            match field {
                Field::Known(known) => {
                    out.extend_from_slice(take(&|ours| tag(ours) == *known).unwrap_or_default());
                }
                Field::Unknown(octets) => out.extend_from_slice(octets),
                Field::Variant { canonical, received } => {
                    if take(&|ours| ours == canonical).is_some() {
                        out.extend_from_slice(received);
                    } else {
                        let changed = take(&|ours| tag(ours) == tag(canonical));
                        out.extend_from_slice(changed.unwrap_or_default());
                    }
                }
            }
        }
        for new in canonical {
            out.extend_from_slice(new);
        }
        let counted = u32::try_from(out.len()).unwrap_or(u32::MAX).saturating_sub(self.uncounted);
        out[1] = self.reserved;
        out[4..HEADER_LEN].copy_from_slice(&counted.to_be_bytes());
        Ok(out)
    }
}

fn tag(field: &[u8]) -> u16 {
    u16::from_be_bytes([field[0], field[1]])
}

/// The parameters of a message that is known to be whole, each with header and padding.
fn fields(message: &[u8]) -> Vec<&[u8]> {
    let mut reader = Reader::new(&message[HEADER_LEN..]);
    let mut fields = Vec::new();
    loop {
        let rest = reader.rest();
        match tlv::read(&mut reader) {
            Ok(Some(_)) => fields.push(&rest[..rest.len() - reader.left()]),
            Ok(None) | Err(_) => return fields,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::{self, MessageKind};
    use proptest::prelude::*;

    fn message(parameters: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut octets = Vec::new();
        common::emit(MessageKind { class: 1, kind: 1 }, &mut octets, |out| {
            for (tag, value) in parameters {
                common::emit_octets(*tag, value, out);
            }
        });
        octets
    }

    #[test]
    fn another_order_is_kept_when_a_value_changes() {
        let received = message(&[(2, vec![2]), (1, vec![1]), (9, vec![9])]);
        let layout = MessageLayout::of(&received, &message(&[(1, vec![1]), (2, vec![2])])).unwrap();
        let changed = layout.apply(&message(&[(1, vec![7]), (2, vec![2]), (3, vec![3])])).unwrap();
        assert_eq!(changed, message(&[(2, vec![2]), (1, vec![7]), (9, vec![9]), (3, vec![3])]));
        assert!(!layout.is_order_only());
    }

    proptest! {
        #[test]
        fn what_was_received_comes_back_whatever_the_layer_writes(
            received: Vec<(u16, Vec<u8>)>, written: Vec<(u16, Vec<u8>)>, cut in 0_usize..4,
        ) {
            let mut received = message(&received);
            received.truncate(received.len().max(HEADER_LEN + cut) - cut);
            let len = u32::try_from(received.len()).unwrap();
            received[4..8].copy_from_slice(&len.to_be_bytes());
            if Frame::parse(&received).is_ok() {
                // What the layer writes and the received message lacks would be new: only what both have is written.
                let tags: Vec<u16> = fields(&received).into_iter().map(tag).collect();
                let written: Vec<_> = written.into_iter().zip(tags).map(|((_, v), tag)| (tag, v)).collect();
                let written = message(&written);
                let layout = MessageLayout::of(&received, &written).unwrap();
                prop_assert_eq!(layout.apply(&written), Ok(received));
            }
        }
    }
}
