//! ERROR (RFC 9260, section 3.3.10).

use slantpath_wire::WireError;

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::cause::{self, Cause};

/// An ERROR chunk: something is wrong, the association lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Causes of the error: one or more.
    pub causes: Vec<Cause>,
}

impl Error {
    /// An ERROR with one cause.
    pub fn because(cause: Cause) -> Self {
        Self { causes: vec![cause] }
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        framing::write_fields(out, kind::ERROR, 0, |out| cause::write_all(&self.causes, out));
    }

    pub(super) fn parse(value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { causes: cause::parse_all(value)? })
    }
}
