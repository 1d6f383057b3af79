//! A cursor over received bytes that never reads past their end.

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A checksum does not match.
    #[error("the checksum is {found:#x}, the bytes give {computed:#x}")]
    BadChecksum {
        /// As found in the packet.
        found: u32,
        /// As computed over it.
        computed: u32,
    },
    /// A field holds a value that its standard does not allow.
    #[error("{field} holds {value}, which is not allowed")]
    BadValue {
        /// The field's name.
        field: &'static str,
        /// Value that the field held.
        value: u64,
    },
    /// Bytes end too early.
    #[error("{wanted} more bytes are needed, {left} are left")]
    Truncated {
        /// Bytes that the next field needs.
        wanted: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// Something valid that this stack does not speak.
    #[error("{field} {value} is not supported")]
    Unsupported {
        /// The field's name.
        field: &'static str,
        /// Value that the field held.
        value: u64,
    },
}

/// Reads big-endian fields off the front of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the first of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Bytes that have not been read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of bytes that have not been read yet.
    pub const fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Tells if everything has been read.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or(WireError::Truncated { wanted: count, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self
            .bytes
            .split_first_chunk::<N>()
            .ok_or(WireError::Truncated { wanted: N, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Result<u8, WireError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next two bytes, big-endian.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_be_bytes)
    }

    /// The next four bytes, big-endian.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next eight bytes, big-endian.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reading_past_the_end_says_what_is_missing_and_consumes_nothing() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u16(), Ok(0x0102));
        assert_eq!(reader.u32(), Err(WireError::Truncated { wanted: 4, left: 1 }));
        assert_eq!(reader.u8(), Ok(3));
        assert!(reader.is_empty());
    }

    proptest! {
        #[test]
        fn what_is_taken_and_what_is_left_make_the_whole(bytes: Vec<u8>, count in 0_usize..64) {
            let mut reader = Reader::new(&bytes);
            if let Ok(taken) = reader.take(count) {
                let joined = [taken, reader.rest()].concat();
                prop_assert_eq!(joined, bytes);
            } else {
                prop_assert!(count > bytes.len());
                prop_assert_eq!(reader.left(), bytes.len());
            }
        }
    }
}
