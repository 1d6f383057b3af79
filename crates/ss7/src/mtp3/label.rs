//! Routing labels (Q.704, section 2.2; ANSI T1.111.4; JT-Q704).

use slantpath_wire::{Reader, WireError};

use crate::{PointCode, PointCodeFormat};

/// Signalling link selection: what a message is shared over links by. Four bits in ITU-T and TTC networks,
/// eight in ANSI networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sls(pub u8);

/// Signalling link code, 0 to 15: which link of a link set, agreed between its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slc(pub u8);

/// Destination of a message, its origin, and the link that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RoutingLabel {
    /// Destination point code.
    pub dpc: PointCode,
    /// Originating point code.
    pub opc: PointCode,
    /// Signalling link selection; the signalling link code in management messages.
    pub sls: Sls,
}

impl RoutingLabel {
    /// Reads a label off the front of a signalling information field.
    pub fn parse(reader: &mut Reader<'_>, format: PointCodeFormat) -> Result<Self, WireError> {
        match format {
            PointCodeFormat::Itu => {
                let bits = u32::from_le_bytes(reader.array()?);
                let (dpc, opc) = (PointCode(bits & 0x3fff), PointCode(bits >> 14 & 0x3fff));
                Ok(Self { dpc, opc, sls: Sls((bits >> 28) as u8) })
            }
            PointCodeFormat::Ansi => {
                let [d0, d1, d2, o0, o1, o2, sls] = reader.array()?;
                let dpc = PointCode(u32::from_le_bytes([d0, d1, d2, 0]));
                let opc = PointCode(u32::from_le_bytes([o0, o1, o2, 0]));
                Ok(Self { dpc, opc, sls: Sls(sls) })
            }
            PointCodeFormat::Ttc => {
                let [d0, d1, o0, o1, sls] = reader.array()?;
                let dpc = PointCode(u32::from(u16::from_le_bytes([d0, d1])));
                let opc = PointCode(u32::from(u16::from_le_bytes([o0, o1])));
                Ok(Self { dpc, opc, sls: Sls(sls & 0xf) })
            }
        }
    }

    /// Appends the label. Bits that the format does not have are cut off.
    pub fn emit(&self, format: PointCodeFormat, out: &mut Vec<u8>) {
        match format {
            PointCodeFormat::Itu => {
                let bits =
                    self.dpc.0 & 0x3fff | (self.opc.0 & 0x3fff) << 14 | u32::from(self.sls.0 & 0xf) << 28;
                out.extend_from_slice(&bits.to_le_bytes());
            }
            PointCodeFormat::Ansi => {
                out.extend_from_slice(&self.dpc.0.to_le_bytes()[..3]);
                out.extend_from_slice(&self.opc.0.to_le_bytes()[..3]);
                out.push(self.sls.0);
            }
            PointCodeFormat::Ttc => {
                out.extend_from_slice(&self.dpc.0.to_le_bytes()[..2]);
                out.extend_from_slice(&self.opc.0.to_le_bytes()[..2]);
                out.push(self.sls.0 & 0xf);
            }
        }
    }

    /// The label of an answer: point codes exchanged, the same link.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { dpc: self.opc, opc: self.dpc, sls: self.sls }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_label(format: PointCodeFormat) -> impl Strategy<Value = RoutingLabel> {
        let codes = 1_u32 << format.bits();
        let sls = if format == PointCodeFormat::Ansi { u8::MAX } else { 0xf };
        (0..codes, 0..codes, 0..=sls).prop_map(|(dpc, opc, sls)| RoutingLabel {
            dpc: PointCode(dpc),
            opc: PointCode(opc),
            sls: Sls(sls),
        })
    }

    proptest! {
        #[test]
        fn labels_round_trip((format, label) in prop_oneof![
            Just(PointCodeFormat::Ansi), Just(PointCodeFormat::Itu), Just(PointCodeFormat::Ttc),
        ].prop_flat_map(|format| (Just(format), any_label(format)))) {
            let mut bytes = Vec::new();
            label.emit(format, &mut bytes);
            let mut reader = Reader::new(&bytes);
            prop_assert_eq!(RoutingLabel::parse(&mut reader, format), Ok(label));
            prop_assert!(reader.is_empty());
        }
    }
}
