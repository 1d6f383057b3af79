//! The unit of a column, read off the end of its name.

use core::fmt;

/// Unit in which the numbers of a column count or measure.
///
/// A column's name ends in its unit (`delay_s`, `cwnd_bytes`), so the two cannot disagree: the unit is
/// derived from the name. Results are in base units only: seconds, bytes, bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnUnit {
    /// Bits, `_bits`.
    Bits,
    /// Bits per second, `_bit_per_s`.
    BitsPerSecond,
    /// Bytes, `_bytes`.
    Bytes,
    /// Bytes per second, `_bytes_per_s`.
    BytesPerSecond,
    /// Decibels, `_db`.
    Decibels,
    /// Degrees of an angle, `_deg`.
    Degrees,
    /// Kilometres, `_km`.
    Kilometres,
    /// A plain number, a flag or a string: no suffix, or one that names no unit.
    None,
    /// Packets, `_packets`.
    Packets,
    /// A share of one, `_ratio`.
    Ratio,
    /// Seconds, `_s`.
    Seconds,
}

/// Longest suffix first where one ends in another.
const SUFFIXES: &[(&str, ColumnUnit)] = &[
    ("_bytes_per_s", ColumnUnit::BytesPerSecond),
    ("_bit_per_s", ColumnUnit::BitsPerSecond),
    ("_bits", ColumnUnit::Bits),
    ("_bytes", ColumnUnit::Bytes),
    ("_db", ColumnUnit::Decibels),
    ("_deg", ColumnUnit::Degrees),
    ("_km", ColumnUnit::Kilometres),
    ("_packets", ColumnUnit::Packets),
    ("_ratio", ColumnUnit::Ratio),
    ("_s", ColumnUnit::Seconds),
];

impl ColumnUnit {
    /// The unit that the end of a column's name says.
    pub fn of_name(name: &str) -> Self {
        SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)).map_or(Self::None, |(_, unit)| *unit)
    }

    /// As printed behind a number: `s`, `bit/s`; empty for [`ColumnUnit::None`] and [`ColumnUnit::Ratio`].
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Bits => "bit",
            Self::BitsPerSecond => "bit/s",
            Self::Bytes => "B",
            Self::BytesPerSecond => "B/s",
            Self::Decibels => "dB",
            Self::Degrees => "°",
            Self::Kilometres => "km",
            Self::None | Self::Ratio => "",
            Self::Packets => "packets",
            Self::Seconds => "s",
        }
    }
}

impl fmt::Display for ColumnUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_end_of_the_name() {
        assert_eq!(ColumnUnit::of_name("delay_s"), ColumnUnit::Seconds);
        assert_eq!(ColumnUnit::of_name("throughput_bytes_per_s"), ColumnUnit::BytesPerSecond);
        assert_eq!(ColumnUnit::of_name("rate_bit_per_s"), ColumnUnit::BitsPerSecond);
        assert_eq!(ColumnUnit::of_name("cwnd_bytes"), ColumnUnit::Bytes);
        assert_eq!(ColumnUnit::of_name("losses"), ColumnUnit::None);
        assert_eq!(ColumnUnit::of_name("flow"), ColumnUnit::None);
    }

    #[test]
    fn every_suffix_is_found_by_its_own_unit() {
        for (suffix, unit) in SUFFIXES {
            assert_eq!(ColumnUnit::of_name(&format!("x{suffix}")), *unit, "{suffix}");
        }
    }
}
