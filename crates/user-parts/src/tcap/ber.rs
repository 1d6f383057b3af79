//! Elements of the basic encoding rules (X.690) as Q.773 uses them: tags of one or two octets, definite and indefinite
//! lengths read, definite ones written.

use slantpath_wire::{Reader, WireError};

/// Depth to which elements of indefinite length may be nested: they are the only ones that must be looked into to be
/// skipped.
const MAX_DEPTH: usize = 16;

/// Why octets are no element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BerError {
    /// They end too soon.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// A tag of more than two octets, or a length of more than four.
    #[error("a tag or a length has more octets than any that Q.773 knows")]
    TooLarge,
    /// An indefinite length in an element that is not constructed, or too deep.
    #[error("an indefinite length stands where none may")]
    Indefinite,
}

/// A tag and its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element<'a> {
    /// The octets of the tag: one, or two as a number.
    pub tag: u16,
    /// The contents, without an end-of-contents.
    pub contents: &'a [u8],
    /// The element as it was on the wire.
    pub whole: &'a [u8],
}

/// Forms in which a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthForm {
    /// Not at all: an end-of-contents ends the contents.
    Indefinite,
    /// In so many octets behind their number, 1 to 4.
    Long(u8),
    /// In one octet, below 128.
    Short,
}

impl<'a> Element<'a> {
    /// The octets of the tag.
    pub(super) fn tag_octets(&self) -> &'a [u8] {
        &self.whole[..if self.tag > 0xff { 2 } else { 1 }]
    }

    /// Gives the form in which the length was written.
    pub(super) fn length_form(&self) -> LengthForm {
        match self.whole[self.tag_octets().len()] {
            0x80 => LengthForm::Indefinite,
            first @ 0x81.. => LengthForm::Long(first & 0x7f),
            _ => LengthForm::Short,
        }
    }
}

/// Reads the next element; `None` at the end.
pub(super) fn next<'a>(reader: &mut Reader<'a>) -> Result<Option<Element<'a>>, BerError> {
    if reader.is_empty() { Ok(None) } else { element(reader, 0).map(Some) }
}

fn element<'a>(reader: &mut Reader<'a>, depth: usize) -> Result<Element<'a>, BerError> {
    let start = reader.rest();
    let first = reader.u8()?;
    let tag = if first & 0x1f == 0x1f {
        let second = reader.u8()?;
        if second >> 7 == 1 {
            return Err(BerError::TooLarge);
        }
        u16::from_be_bytes([first, second])
    } else {
        u16::from(first)
    };
    let contents = match reader.u8()? {
        len @ 0..=0x7f => reader.take(usize::from(len))?,
        0x80 => {
            if first & 0x20 == 0 || depth >= MAX_DEPTH {
                return Err(BerError::Indefinite);
            }
            until_end_of_contents(reader, depth)?
        }
        len => {
            let count = usize::from(len & 0x7f);
            if count > 4 {
                return Err(BerError::TooLarge);
            }
            let len = reader.take(count)?.iter().fold(0_usize, |len, octet| len << 8 | usize::from(*octet));
            reader.take(len)?
        }
    };
    Ok(Element { tag, contents, whole: &start[..start.len() - reader.left()] })
}

fn until_end_of_contents<'a>(reader: &mut Reader<'a>, depth: usize) -> Result<&'a [u8], BerError> {
    let start = reader.rest();
    loop {
        let here = start.len() - reader.left();
        if reader.rest().starts_with(&[0, 0]) {
            reader.take(2)?;
            return Ok(&start[..here]);
        }
        element(reader, depth + 1)?;
    }
}

/// Appends an element of a one-octet tag whose contents `write` appends.
pub(super) fn emit(tag: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut contents = Vec::new();
    write(&mut contents);
    emit_octets(tag, &contents, out);
}

/// Appends an element of a one-octet tag.
pub(super) fn emit_octets(tag: u8, contents: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    emit_contents(LengthForm::Short, contents, out);
}

/// Appends the length of an element in that form, or in the shortest one that holds it, and the contents.
pub(super) fn emit_contents(form: LengthForm, contents: &[u8], out: &mut Vec<u8>) {
    let octets = contents.len().to_be_bytes();
    let needed = octets.len() - octets.iter().position(|octet| *octet != 0).unwrap_or(octets.len() - 1);
    match (form, contents.len()) {
        (LengthForm::Indefinite, _) => out.push(0x80),
        (LengthForm::Short, len @ 0..=0x7f) => out.push(u8::try_from(len).expect("below 128")),
        (LengthForm::Long(_) | LengthForm::Short, _) => {
            let count =
                if let LengthForm::Long(count) = form { usize::from(count).max(needed) } else { needed };
            out.push(0x80 | u8::try_from(count).expect("at most 8"));
            out.extend_from_slice(&octets[octets.len() - count..]);
        }
    }
    out.extend_from_slice(contents);
    if form == LengthForm::Indefinite {
        out.extend_from_slice(&[0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_indefinite_length_ends_at_its_end_of_contents() {
        let octets = [0x30, 0x80, 0x30, 0x80, 0x02, 0x01, 0x05, 0, 0, 0, 0, 0x04, 0];
        let mut reader = Reader::new(&octets);
        let first = next(&mut reader).unwrap().unwrap();
        assert_eq!((first.tag, first.contents), (0x30, &octets[2..9]));
        assert_eq!(first.whole, &octets[..11]);
        assert_eq!(next(&mut reader).unwrap().unwrap().tag, 0x04);
        assert_eq!(next(&mut reader), Ok(None));
    }

    #[test]
    fn indefinite_lengths_are_not_followed_for_ever() {
        let mut reader = Reader::new(&[0x30, 0x80].repeat(100_000).leak()[..]);
        assert_eq!(next(&mut reader), Err(BerError::Indefinite));
    }

    proptest! {
        #[test]
        fn elements_round_trip(tag in 0_u8..0x1f, contents in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut octets = Vec::new();
            emit_octets(tag, &contents, &mut octets);
            let mut reader = Reader::new(&octets);
            let element = next(&mut reader).unwrap().unwrap();
            let read = (element.tag, element.contents, element.whole);
            prop_assert_eq!(read, (u16::from(tag), &contents[..], &octets[..]));
        }
    }
}
