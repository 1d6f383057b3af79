//! Type-length-value fields with 16-bit lengths, padded to four bytes: SCTP's parameters and error causes,
//! and the parameters of every SIGTRAN layer.

use crate::{Reader, WireError};

/// One field: its type and its value, without header and padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The field's type or cause code.
    pub kind: u16,
    /// The value, as long as the length field says less the four bytes of the header.
    pub value: &'a [u8],
}

/// Number of bytes of padding that follow a field of `len` bytes.
pub const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}

/// Reads the next field, and its padding as far as it is there: the last field of a chunk may lack it.
/// `Ok(None)` at the end of the bytes.
pub fn read<'a>(reader: &mut Reader<'a>) -> Result<Option<Tlv<'a>>, WireError> {
    if reader.is_empty() {
        return Ok(None);
    }
    let kind = reader.u16()?;
    let len = usize::from(reader.u16()?);
    let value_len = len.checked_sub(4).ok_or(WireError::BadValue { field: "length", value: len as u64 })?;
    let value = reader.take(value_len)?;
    let skip = padding(len).min(reader.left());
    reader.take(skip)?;
    Ok(Some(Tlv { kind, value }))
}

/// Appends a field with its padding: `write_value` appends the value, the length is filled in behind it.
///
/// # Panics
/// If the value is longer than 65,531 bytes.
pub fn write(out: &mut Vec<u8>, kind: u16, write_value: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    write_value(out);
    let len = out.len() - start;
    let field = u16::try_from(len).expect("a TLV is at most 65,535 bytes long");
    out[start + 2..start + 4].copy_from_slice(&field.to_be_bytes());
    out.resize(out.len() + padding(len), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_length_below_four_is_refused() {
        let mut reader = Reader::new(&[0, 1, 0, 3]);
        assert_eq!(read(&mut reader), Err(WireError::BadValue { field: "length", value: 3 }));
    }

    #[test]
    fn the_last_field_may_lack_its_padding() {
        let mut reader = Reader::new(&[0, 1, 0, 5, 9]);
        assert_eq!(read(&mut reader), Ok(Some(Tlv { kind: 1, value: &[9] })));
        assert_eq!(read(&mut reader), Ok(None));
    }

    proptest! {
        #[test]
        fn fields_round_trip(fields: Vec<(u16, Vec<u8>)>) {
            let mut bytes = Vec::new();
            for (kind, value) in &fields {
                write(&mut bytes, *kind, |out| out.extend_from_slice(value));
            }
            prop_assert_eq!(bytes.len() % 4, 0);
            let mut reader = Reader::new(&bytes);
            for (kind, value) in &fields {
                prop_assert_eq!(read(&mut reader), Ok(Some(Tlv { kind: *kind, value })));
            }
            prop_assert_eq!(read(&mut reader), Ok(None));
        }

        #[test]
        fn any_bytes_end_in_fields_or_an_error(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while let Ok(Some(_)) = read(&mut reader) {}
        }
    }
}
