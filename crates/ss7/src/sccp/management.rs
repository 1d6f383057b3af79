//! SCCP management messages (Q.713, section 5.3): the data of a UDT to subsystem 1.

use slantpath_wire::{Reader, WireError};

use crate::PointCode;
use crate::sccp::Ssn;

/// A message of SCCP management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScmgMessage {
    /// Subsystem allowed message.
    Ssa(Affected),
    /// Subsystem prohibited message.
    Ssp(Affected),
    /// Subsystem status test.
    Sst(Affected),
    /// Subsystem out-of-service request.
    Sor(Affected),
    /// Subsystem out-of-service grant.
    Sog(Affected),
    /// SCCP or subsystem congested, with the congestion level.
    Ssc(Affected, u8),
}

/// The subsystem that a management message speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affected {
    /// Affected subsystem number.
    pub ssn: Ssn,
    /// Affected point code.
    pub point_code: PointCode,
    /// Subsystem multiplicity indicator, two bits.
    pub multiplicity: u8,
}

impl ScmgMessage {
    /// Gives the name of the message in the Recommendation.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ssa(_) => "SSA",
            Self::Ssp(_) => "SSP",
            Self::Sst(_) => "SST",
            Self::Sor(_) => "SOR",
            Self::Sog(_) => "SOG",
            Self::Ssc(..) => "SSC",
        }
    }

    /// Reads a message from its format identifier on.
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let format = reader.u8()?;
        let ssn = Ssn(reader.u8()?);
        let point_code = PointCode(u32::from(u16::from_le_bytes(reader.array()?) & 0x3fff));
        let multiplicity = reader.u8()? & 3;
        let affected = Affected { ssn, point_code, multiplicity };
        match format {
            1 => Ok(Self::Ssa(affected)),
            2 => Ok(Self::Ssp(affected)),
            3 => Ok(Self::Sst(affected)),
            4 => Ok(Self::Sor(affected)),
            5 => Ok(Self::Sog(affected)),
            6 => Ok(Self::Ssc(affected, reader.u8()? & 0xf)),
            other => Err(WireError::Unsupported { field: "SCMG format identifier", value: other.into() }),
        }
    }

    /// Appends the message from its format identifier on.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (format, affected, level) = match self {
            Self::Ssa(affected) => (1, affected, None),
            Self::Ssp(affected) => (2, affected, None),
            Self::Sst(affected) => (3, affected, None),
            Self::Sor(affected) => (4, affected, None),
            Self::Sog(affected) => (5, affected, None),
            Self::Ssc(affected, level) => (6, affected, Some(level & 0xf)),
        };
        out.extend_from_slice(&[format, affected.ssn.0]);
        out.extend_from_slice(&(affected.point_code.0 & 0x3fff).to_le_bytes()[..2]);
        out.push(affected.multiplicity & 3);
        out.extend(level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_round_trip(
            kind in 0_u8..6, ssn: u8, code in 0_u32..1 << 14, multiplicity in 0_u8..4, level in 0_u8..16,
        ) {
            let affected = Affected { ssn: Ssn(ssn), point_code: PointCode(code), multiplicity };
            let message = match kind {
                0 => ScmgMessage::Ssa(affected),
                1 => ScmgMessage::Ssp(affected),
                2 => ScmgMessage::Sst(affected),
                3 => ScmgMessage::Sor(affected),
                4 => ScmgMessage::Sog(affected),
                _ => ScmgMessage::Ssc(affected, level),
            };
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(ScmgMessage::parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = ScmgMessage::parse(&octets);
        }
    }
}
