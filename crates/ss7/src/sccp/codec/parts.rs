//! The variable and optional parts of a message, and the pointers that lead to them (Q.713, section 1).

use slantpath_wire::{Reader, WireError};

use crate::sccp::{AddressFormat, NotAnsi, OptionalParameters, PartyAddress};

/// A length that its field does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a parameter of {len} octets does not fit its length field or pointer")]
pub struct TooLong {
    /// Octets of the parameter.
    pub len: usize,
}

/// Why a message cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// An address is none of ANSI.
    #[error(transparent)]
    NotAnsi(#[from] NotAnsi),
    /// A parameter is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// A parameter part: pointers relative to their own place, as wide as the message has them.
pub(super) struct Pointers<'a> {
    octets: &'a [u8],
    /// Place of the next pointer among the octets.
    at: usize,
}

impl<'a> Pointers<'a> {
    pub(super) fn at(octets: &'a [u8], reader: &Reader<'_>) -> Self {
        Self { octets, at: octets.len() - reader.left() }
    }

    pub(super) fn address(
        &self,
        target: Option<usize>,
        format: AddressFormat,
    ) -> Result<PartyAddress, WireError> {
        PartyAddress::parse_as(format, self.variable(target)?)
    }

    pub(super) fn short(&mut self) -> Result<Option<usize>, WireError> {
        let missing = WireError::Truncated { wanted: 1, left: 0 };
        let pointer = usize::from(*self.octets.get(self.at).ok_or(missing)?);
        let target = (pointer != 0).then(|| self.at + pointer);
        self.at += 1;
        Ok(target)
    }

    pub(super) fn long(&mut self) -> Result<Option<usize>, WireError> {
        let missing = WireError::Truncated { wanted: 2, left: self.octets.len().saturating_sub(self.at) };
        let octets = self.octets.get(self.at..self.at + 2).ok_or(missing)?;
        let pointer = usize::from(u16::from_le_bytes([octets[0], octets[1]]));
        // The pointer counts from its own second octet (Q.713, section 1.5).
        let target = (pointer != 0).then(|| self.at + 1 + pointer);
        self.at += 2;
        Ok(target)
    }

    pub(super) fn variable(&self, target: Option<usize>) -> Result<&'a [u8], WireError> {
        let mut reader = self.reader(target)?;
        let len = usize::from(reader.u8()?);
        reader.take(len)
    }

    pub(super) fn long_variable(&self, target: Option<usize>) -> Result<&'a [u8], WireError> {
        let mut reader = self.reader(target)?;
        let len = usize::from(u16::from_le_bytes(reader.array()?));
        reader.take(len)
    }

    pub(super) fn optional(&self, target: Option<usize>) -> Result<OptionalParameters, WireError> {
        match target {
            None => Ok(OptionalParameters::default()),
            Some(_) => OptionalParameters::parse(self.reader(target)?.rest()),
        }
    }

    fn reader(&self, target: Option<usize>) -> Result<Reader<'a>, WireError> {
        let start = target.ok_or(WireError::BadValue { field: "pointer", value: 0 })?;
        let rest =
            self.octets.get(start..).ok_or(WireError::BadValue { field: "pointer", value: start as u64 })?;
        Ok(Reader::new(rest))
    }
}

/// The pointers of a message that is being written: they are filled in as what they point to is appended.
pub(super) struct Parts {
    /// Place of the next pointer among the octets.
    at: usize,
    /// Octets of a pointer, and of the length of data.
    width: usize,
    format: AddressFormat,
}

impl Parts {
    /// Leaves room for so many pointers.
    pub(super) fn reserve(count: usize, width: usize, format: AddressFormat, out: &mut Vec<u8>) -> Self {
        let at = out.len();
        out.resize(at + count * width, 0);
        Self { at, width, format }
    }

    /// Lets the next pointer point to where the next octet will stand.
    fn point(&mut self, out: &mut [u8]) -> Result<(), TooLong> {
        let distance = out.len() - self.at - (self.width - 1);
        put(&mut out[self.at..self.at + self.width], distance)?;
        self.at += self.width;
        Ok(())
    }

    pub(super) fn address(&mut self, address: &PartyAddress, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.point(out)?;
        let at = out.len();
        out.push(0);
        address.emit_as(self.format, out)?;
        let len = out.len() - at - 1;
        Ok(put(&mut out[at..=at], len)?)
    }

    pub(super) fn data(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.point(out)?;
        let at = out.len();
        out.resize(at + self.width, 0);
        put(&mut out[at..], data.len())?;
        out.extend_from_slice(data);
        Ok(())
    }

    /// An empty optional part is left out with a pointer of zero.
    pub(super) fn optional(
        &mut self,
        optional: &OptionalParameters,
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        if optional.is_empty() {
            return Ok(());
        }
        self.point(out)?;
        Ok(optional.emit(out)?)
    }
}

/// Writes a length or a pointer into its one or two octets, the low one first.
fn put(field: &mut [u8], value: usize) -> Result<(), TooLong> {
    match (field, u16::try_from(value)) {
        ([octet], Ok(value)) => *octet = u8::try_from(value).map_err(|_| TooLong { len: value.into() })?,
        ([low, high], Ok(value)) => [*low, *high] = value.to_le_bytes(),
        _ => return Err(TooLong { len: value }),
    }
    Ok(())
}
