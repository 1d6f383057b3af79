//! `DataRate`: bits per second, decimal prefixes as the field writes them.

use core::fmt;
use core::str::FromStr;

use crate::quantity::{QuantityError, Unit, parse_quantity, write_scaled};
use crate::{DataSize, Duration};

const UNITS: &[Unit] = &[
    Unit { name: "bit/s", scale: 1 },
    Unit { name: "kbit/s", scale: 1_000 },
    Unit { name: "Mbit/s", scale: 1_000_000 },
    Unit { name: "Gbit/s", scale: 1_000_000_000 },
    Unit { name: "Tbit/s", scale: 1_000_000_000_000 },
    Unit { name: "byte/s", scale: 8 },
    Unit { name: "kbyte/s", scale: 8_000 },
    Unit { name: "Mbyte/s", scale: 8_000_000 },
    Unit { name: "Kibyte/s", scale: 8 * 1_024 },
    Unit { name: "Mibyte/s", scale: 8 * 1_024 * 1_024 },
];

/// A rate of data in whole bits per second. Written `"1.536 Mbit/s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataRate(u64);

impl DataRate {
    /// From bits per second.
    pub const fn from_bits_per_sec(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// Time that `size` takes to send at this rate, rounded up to the nanosecond so that a link never sends faster than
    /// its rate. A rate of zero takes for ever: [`Duration::MAX`].
    pub fn time_to_send(self, size: DataSize) -> Duration {
        const BITS_NANOS: u64 = 8 * 1_000_000_000;
        if self.0 == 0 {
            return Duration::MAX;
        }
        if let Some(scaled) = size.as_bytes().checked_mul(BITS_NANOS) {
            return Duration::from_nanos(scaled.div_ceil(self.0));
        }
        let nanos = (u128::from(size.as_bytes()) * u128::from(BITS_NANOS)).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Amount of data that this rate carries in `time`, rounded down to the byte.
    pub fn size_in(self, time: Duration) -> DataSize {
        const BITS_NANOS: u64 = 8 * 1_000_000_000;
        if let Some(scaled) = self.0.checked_mul(time.as_nanos()) {
            return DataSize::from_bytes(scaled / BITS_NANOS);
        }
        let bytes = u128::from(self.0) * u128::from(time.as_nanos()) / u128::from(BITS_NANOS);
        DataSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for DataRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scale, unit) = match self.0 {
            n if n < 1_000 => (1, "bit/s"),
            n if n < 1_000_000 => (1_000, "kbit/s"),
            n if n < 1_000_000_000 => (1_000_000, "Mbit/s"),
            _ => (1_000_000_000, "Gbit/s"),
        };
        write_scaled(f, self.0, scale)?;
        write!(f, " {unit}")
    }
}

impl FromStr for DataRate {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_quantity(text, "a data rate", "2 Mbit/s", UNITS).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_kilobyte_takes_64_ms_on_128_kbit() {
        let rate: DataRate = "128 kbit/s".parse().unwrap();
        assert_eq!(rate.time_to_send(DataSize::from_bytes(1_024)), Duration::from_millis(64));
        assert_eq!(rate.size_in(Duration::from_millis(64)), DataSize::from_bytes(1_024));
    }

    #[test]
    fn a_rate_is_not_a_time() {
        assert!(matches!("10 ms".parse::<DataRate>(), Err(QuantityError::WrongUnit { .. })));
    }

    #[test]
    fn a_unit_as_others_write_it_is_told_as_it_is_written_here() {
        let rates = [
            ("Mbps", "Mbit/s"),
            ("mbps", "Mbit/s"),
            ("kb/s", "kbit/s"),
            ("Kbit/s", "kbit/s"),
            ("Gbits/s", "Gbit/s"),
            ("Mbit", "Mbit/s"),
            ("Mb", "Mbit/s"),
            ("KB", "kbyte/s"),
            ("bps", "bit/s"),
            ("MBps", "Mbyte/s"),
            ("MB/s", "Mbyte/s"),
            ("KiB/s", "Kibyte/s"),
        ];
        for (given, meant) in rates {
            let error = format!("2 {given}").parse::<DataRate>().unwrap_err().to_string();
            assert_eq!(error, format!("`{given}` is no unit of a data rate: did you mean `{meant}`?"));
        }
        for (given, meant) in
            [("sec", "s"), ("MS", "ms"), ("m", "min"), ("Hours", "h"), ("\u{3bc}S", "\u{b5}s")]
        {
            let error = format!("2 {given}").parse::<Duration>().unwrap_err().to_string();
            assert_eq!(error, format!("`{given}` is no unit of a time: did you mean `{meant}`?"));
        }
        for (given, meant) in [("KB", "kB"), ("mib", "MiB"), ("octets", "B")] {
            let error = format!("2 {given}").parse::<DataSize>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("did you mean `{meant}`?")), "{error}");
        }
        for wrong in ["ms", "ps", "Mfoo", "m"] {
            assert!(matches!(format!("2 {wrong}").parse::<DataRate>(), Err(QuantityError::WrongUnit { .. })));
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(bits: u64) {
            let rate = DataRate::from_bits_per_sec(bits);
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }

        #[test]
        fn what_a_rate_carries_is_their_product_however_large(bits: u64, nanos: u64, shift in 0_u32..64) {
            let (bits, nanos) = (bits >> shift, nanos >> (shift / 2));
            let exact = u128::from(bits) * u128::from(nanos) / 8_000_000_000;
            let size = DataRate::from_bits_per_sec(bits).size_in(Duration::from_nanos(nanos));
            prop_assert_eq!(u128::from(size.as_bytes()), exact.min(u128::from(u64::MAX)));
        }

        #[test]
        fn never_faster_than_the_rate(bits in 1_u64..=u64::MAX, bytes in 0_u64..1 << 40) {
            let rate = DataRate::from_bits_per_sec(bits);
            let size = DataSize::from_bytes(bytes);
            prop_assert!(rate.size_in(rate.time_to_send(size)) >= size);
        }
    }
}
