//! A message signal unit as MTP3 sees it: service information, routing label, the user part's octets.

use slantpath_wire::{Reader, WireError};

use crate::PointCodeFormat;
use crate::mtp3::{RoutingLabel, ServiceInformation};

/// A message without the octets of level 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msu<'a> {
    /// Service information octet.
    pub service: ServiceInformation,
    /// Routing label of the message.
    pub label: RoutingLabel,
    /// Octets that follow the label.
    pub user_part: &'a [u8],
}

impl<'a> Msu<'a> {
    /// Reads a message from its service information octet on.
    pub fn parse(octets: &'a [u8], format: PointCodeFormat) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let service = ServiceInformation::from_octet(reader.u8()?);
        let label = RoutingLabel::parse(&mut reader, format)?;
        Ok(Self { service, label, user_part: reader.rest() })
    }

    /// Appends the message from its service information octet on.
    pub fn emit(&self, format: PointCodeFormat, out: &mut Vec<u8>) {
        out.push(self.service.to_octet());
        self.label.emit(format, out);
        out.extend_from_slice(self.user_part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PointCode;
    use crate::mtp3::Sls;
    use proptest::prelude::*;

    #[test]
    fn a_captured_itu_label_reads_as_its_bits_say() {
        let octets = [0x83, 0x5c, 0x40, 0x00, 0xc0, 0x09];
        let msu = Msu::parse(&octets, PointCodeFormat::Itu).unwrap();
        assert_eq!((msu.label.dpc, msu.label.opc, msu.label.sls), (PointCode(92), PointCode(1), Sls(12)));
        assert_eq!(msu.user_part, [0x09]);
    }

    proptest! {
        #[test]
        fn any_octets_give_a_message_that_emits_as_it_was_or_an_error(octets: Vec<u8>) {
            if let Ok(msu) = Msu::parse(&octets, PointCodeFormat::Itu) {
                let mut emitted = Vec::new();
                msu.emit(PointCodeFormat::Itu, &mut emitted);
                prop_assert_eq!(emitted, octets);
            }
        }
    }
}
