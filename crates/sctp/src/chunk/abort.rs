//! ABORT (RFC 9260, section 3.3.7).

use slantpath_wire::WireError;

use super::{framing, kind};
use crate::bytes_view::BytesView;
use crate::cause::{self, Cause};

/// T: the packet's verification tag is the one that was received, not the one that the peer expects.
pub(super) const T_BIT: u8 = 1;

/// An ABORT chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The T bit: whether the packet carries the tag of the packet that it answers.
    pub is_tag_reflected: bool,
    /// Causes of the abort.
    pub causes: Vec<Cause>,
}

impl Abort {
    /// An ABORT with the tag that the peer expects.
    pub fn because(cause: Cause) -> Self {
        Self { is_tag_reflected: false, causes: vec![cause] }
    }

    /// Appends the chunk with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let flags = if self.is_tag_reflected { T_BIT } else { 0 };
        framing::write_fields(out, kind::ABORT, flags, |out| cause::write_all(&self.causes, out));
    }

    pub(super) fn parse(flags: u8, value: BytesView<'_>) -> Result<Self, WireError> {
        Ok(Self { is_tag_reflected: flags & T_BIT != 0, causes: cause::parse_all(value)? })
    }
}
