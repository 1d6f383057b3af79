//! `DataSize`: bytes. `kB` is 1,000 and `KiB` 1,024; the papers' "KByte" is written as what it means.

use core::fmt;
use core::str::FromStr;

use crate::quantity::{QuantityError, Unit, parse_quantity, write_scaled};

const UNITS: &[Unit] = &[
    Unit { name: "B", scale: 1 },
    Unit { name: "bytes", scale: 1 },
    Unit { name: "byte", scale: 1 },
    Unit { name: "kB", scale: 1_000 },
    Unit { name: "MB", scale: 1_000_000 },
    Unit { name: "GB", scale: 1_000_000_000 },
    Unit { name: "KiB", scale: 1 << 10 },
    Unit { name: "MiB", scale: 1 << 20 },
    Unit { name: "GiB", scale: 1 << 30 },
];

/// An amount of data in whole bytes. Written `"64 KiB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataSize(u64);

impl DataSize {
    /// Size of zero bytes.
    pub const ZERO: Self = Self(0);

    /// Size of so many bytes.
    pub const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Value in bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DataSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            n if n >= 1 << 20 && n % (1 << 20) == 0 => (1 << 20, "MiB"),
            n if n >= 1 << 10 && n % (1 << 10) == 0 => (1 << 10, "KiB"),
            n if n >= 1_000_000 && n % 1_000_000 == 0 => (1_000_000, "MB"),
            n if n >= 1_000 && n % 1_000 == 0 => (1_000, "kB"),
            _ => (1, "B"),
        };
        write_scaled(f, self.0, scale)?;
        write!(f, " {unit}")
    }
}

impl FromStr for DataSize {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_quantity(text, "an amount of data", "64 KiB", UNITS).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimal_and_binary_kilobytes_differ() {
        assert_eq!("1 kB".parse(), Ok(DataSize::from_bytes(1_000)));
        assert_eq!("1 KiB".parse(), Ok(DataSize::from_bytes(1_024)));
        assert!("1.5 B".parse::<DataSize>().is_err());
    }

    proptest! {
        #[test]
        fn text_round_trips(bytes: u64) {
            let size = DataSize::from_bytes(bytes);
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }
    }
}
