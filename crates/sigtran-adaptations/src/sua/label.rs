//! Loadsharing labels (RFC 3868, section 4.7.2): bits of transaction identifiers and of reference numbers that say
//! which process owns a transaction or a connection.

use slantpath_sigtran::asp::Parameters;
use slantpath_sigtran::common::{Frame, MessageParseError};
use slantpath_wire::{Reader, tlv};

use crate::message::Vocabulary;
use crate::sua::parameter::tag;
use crate::sua::{Label, SuaParameter};

/// The highest bit of a transaction identifier.
pub(super) const TID_BITS: u8 = 32;
/// The highest bit of a reference number.
pub(super) const DRN_BITS: u8 = 24;

/// The labels that an ASP gives as it becomes active (RFC 3868, section 3.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// TID Label: of the transactions that are its own.
    pub transaction: Option<Label>,
    /// DRN Label: of the connections that are its own.
    pub reference: Option<Label>,
}

impl Parameters for Labels {
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let mut labels = Self::default();
        for (tag, place) in
            [(tag::TID_LABEL, &mut labels.transaction), (tag::DRN_LABEL, &mut labels.reference)]
        {
            if let Some(value) = frame.value(tag) {
                *place = Some(Label::read(tag, value)?);
            }
        }
        Ok(labels)
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let labels =
            [self.transaction.map(SuaParameter::TidLabel), self.reference.map(SuaParameter::DrnLabel)];
        for label in labels.into_iter().flatten() {
            tlv::write(out, label.tag(), |out| label.write(out));
        }
    }
}

impl Label {
    /// Tells whether the place is a valid one (RFC 3868, section 4.7.2.1): within so many bits, and at most 16 long.
    pub(super) fn is_plausible(self, bits: u8) -> bool {
        self.start < bits && self.end <= self.start && self.start - self.end < 16
    }

    /// Gives the value that stands at the place in a number.
    pub(super) fn extract(self, number: u32) -> u32 {
        let len = u32::from(self.start.saturating_sub(self.end)) + 1;
        number.checked_shr(self.end.into()).unwrap_or(0) & (u32::MAX >> (32 - len.min(32)))
    }

    /// Tells whether a number has the label's value there.
    pub(super) fn owns(self, number: u32) -> bool {
        self.extract(number) == u32::from(self.value)
    }
}

/// The destination transaction identifier of a TCAP message (Q.773, section 4.2.1), if it has one: continue, end and
/// abort do.
pub(super) fn destination_transaction(tcap: &[u8]) -> Option<u32> {
    const DESTINATION: u8 = 0x49;
    let mut reader = Reader::new(tcap);
    let message = reader.u8().ok()?;
    if !matches!(message, 0x64 | 0x65 | 0x67) {
        return None;
    }
    element_len(&mut reader)?;
    loop {
        let tag = reader.u8().ok()?;
        let len = element_len(&mut reader)?;
        let value = reader.take(len).ok()?;
        if tag == DESTINATION {
            let is_whole = (1..=4).contains(&value.len());
            return is_whole.then(|| value.iter().fold(0, |number, octet| number << 8 | u32::from(*octet)));
        }
    }
}

/// A length of BER in its short form, or the long one of up to two octets; the indefinite form counts as nothing.
fn element_len(reader: &mut Reader<'_>) -> Option<usize> {
    match reader.u8().ok()? {
        short @ ..=0x80 => Some(usize::from(short & 0x7f)),
        0x81 => Some(usize::from(reader.u8().ok()?)),
        0x82 => Some(usize::from(reader.u16().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sua::Message;
    use proptest::prelude::*;
    use slantpath_sigtran::asp::{AspMessage, RoutingContexts, TrafficMode};

    #[test]
    fn a_label_is_read_at_its_place() {
        let label = Label { start: 31, end: 28, value: 0xa };
        assert!(label.is_plausible(TID_BITS));
        assert!(label.owns(0xa123_4567));
        assert!(!label.owns(0xb123_4567));
        assert!(!label.is_plausible(DRN_BITS));
        assert!(!Label { start: 16, end: 0, value: 0 }.is_plausible(TID_BITS));
        assert!(!Label { start: 1, end: 2, value: 0 }.is_plausible(TID_BITS));
    }

    #[test]
    fn a_continue_has_a_destination_and_a_begin_has_none() {
        let carried = [0x65, 0x0c, 0x48, 0x04, 1, 2, 3, 4, 0x49, 0x04, 5, 6, 7, 8];
        assert_eq!(destination_transaction(&carried), Some(0x0506_0708));
        assert_eq!(destination_transaction(&[0x62, 0x06, 0x48, 0x04, 1, 2, 3, 4]), None);
    }

    fn any_label() -> impl Strategy<Value = Option<Label>> {
        proptest::option::of(any::<(u8, u8, u16)>().prop_map(|(start, end, value)| Label {
            start,
            end,
            value,
        }))
    }

    #[test]
    fn asp_active_has_its_labels_between_routing_context_and_info() {
        let octets: Vec<u8> = [
            [1, 0, 4, 1, 0, 0, 0, 48].as_slice(),
            &[0, 0x0b, 0, 8, 0, 0, 0, 2],
            &[0, 0x06, 0, 8, 0, 0, 0, 7],
            &[1, 0x10, 0, 8, 31, 28, 0, 5],
            &[1, 0x0f, 0, 8, 23, 20, 0, 6],
            &[0, 0x04, 0, 8, b't', b'e', b's', b't'],
        ]
        .concat();
        let labels = Labels {
            transaction: Some(Label { start: 31, end: 28, value: 5 }),
            reference: Some(Label { start: 23, end: 20, value: 6 }),
        };
        let message = Message::Asp(AspMessage::AspActive {
            traffic_mode: Some(TrafficMode::Loadshare),
            scope: RoutingContexts(vec![7]),
            labels,
            info: Some(b"test".to_vec()),
        });
        assert_eq!(Message::receive(&octets).as_ref(), Ok(&message));
        assert_eq!(message.to_bytes(), octets);
    }

    #[test]
    fn a_label_of_another_length_is_a_field_error() {
        let octets = [1, 0, 4, 1, 0, 0, 0, 16, 1, 0x10, 0, 6, 31, 28, 0, 0];
        assert_eq!(Message::parse(&octets), Err(MessageParseError::ParameterField(tag::TID_LABEL)));
    }

    proptest! {
        #[test]
        fn asp_active_is_written_as_it_was_read(
            transaction in any_label(), reference in any_label(), contexts: Vec<u32>,
        ) {
            let labels = Labels { transaction, reference };
            let scope = RoutingContexts(contexts);
            let message =
                Message::Asp(AspMessage::AspActive { traffic_mode: None, scope, labels, info: None });
            let octets = message.to_bytes();
            let read = Message::parse(&octets).unwrap();
            prop_assert_eq!(read.to_bytes(), octets);
            prop_assert_eq!(read, message);
        }

        #[test]
        fn any_octets_have_a_transaction_or_none(octets: Vec<u8>, start: u8, end: u8, value: u16, number: u32) {
            let _ = destination_transaction(&octets);
            let label = Label { start, end, value };
            if label.is_plausible(TID_BITS) {
                prop_assert!(u16::try_from(label.extract(number)).is_ok());
            }
        }
    }
}
