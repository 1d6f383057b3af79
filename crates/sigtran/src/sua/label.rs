//! Loadsharing labels (RFC 3868, section 4.7.2): bits of transaction identifiers and of reference numbers that say
//! which process owns a transaction or a connection.

use slantpath_wire::Reader;

use crate::sua::Label;

/// The highest bit of a transaction identifier.
pub(super) const TID_BITS: u8 = 32;
/// The highest bit of a reference number.
pub(super) const DRN_BITS: u8 = 24;

impl Label {
    /// Whether the place is one (RFC 3868, section 4.7.2.1): within so many bits, and at most 16 long.
    pub(super) fn is_plausible(self, bits: u8) -> bool {
        self.start < bits && self.end <= self.start && self.start - self.end < 16
    }

    /// What stands at the place in a number.
    pub(super) fn extract(self, number: u32) -> u32 {
        let len = u32::from(self.start.saturating_sub(self.end)) + 1;
        number.checked_shr(self.end.into()).unwrap_or(0) & (u32::MAX >> (32 - len.min(32)))
    }

    /// Whether a number has the label's value there.
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
    use proptest::prelude::*;

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

    proptest! {
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
