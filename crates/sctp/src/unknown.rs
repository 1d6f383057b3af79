//! Request to the receiver in the two highest bits of an unknown type.

/// The treatment of a chunk or parameter whose type is not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownAction {
    /// 00: discard it and whatever follows it.
    Stop,
    /// 01: discard it and whatever follows it, and report it to the peer.
    StopAndReport,
    /// 10: skip it and go on.
    Skip,
    /// 11: skip it and go on, and report it to the peer.
    SkipAndReport,
}

impl UnknownAction {
    /// For a chunk of this type (RFC 9260, table 2).
    pub const fn of_chunk(kind: u8) -> Self {
        Self::of_bits(kind >> 6)
    }

    /// For a parameter of this type (RFC 9260, table 3).
    pub const fn of_parameter(kind: u16) -> Self {
        Self::of_bits((kind >> 14) as u8)
    }

    const fn of_bits(bits: u8) -> Self {
        match bits {
            0 => Self::Stop,
            1 => Self::StopAndReport,
            2 => Self::Skip,
            _ => Self::SkipAndReport,
        }
    }

    /// Tells if processing ends here.
    pub const fn stops(self) -> bool {
        matches!(self, Self::Stop | Self::StopAndReport)
    }

    /// Tells if the peer is told.
    pub const fn reports(self) -> bool {
        matches!(self, Self::StopAndReport | Self::SkipAndReport)
    }
}

#[cfg(test)]
mod tests {
    use super::UnknownAction::{self, Skip, SkipAndReport, Stop, StopAndReport};

    #[test]
    fn the_two_highest_bits_decide() {
        let chunks = [0x3e, 0x7e, 0x84, 0xc1].map(UnknownAction::of_chunk);
        let parameters = [0x000d, 0x4000, 0x8008, 0xc000].map(UnknownAction::of_parameter);
        assert_eq!(chunks, [Stop, StopAndReport, Skip, SkipAndReport]);
        assert_eq!(parameters, chunks);
        assert_eq!(chunks.map(UnknownAction::stops), [true, true, false, false]);
        assert_eq!(chunks.map(UnknownAction::reports), [false, true, false, true]);
    }
}
