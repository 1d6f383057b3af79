//! Signalling network management (Q.704, section 15) and test (Q.707, section 2.2) messages.

use slantpath_wire::{Reader, WireError};

use crate::PointCode;

/// A forward sequence number: 7 bits of level 2, 24 of M2PA's extended changeover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fsn(pub u32);

/// What ties a changeback acknowledgement to its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangebackCode(pub u8);

/// The identity of a signalling data link, 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignallingDataLink(pub u16);

/// A management message behind its label, by its three-letter name. The signalling link code that many of
/// them speak of is in the label's SLS. Field layouts are those of ITU-T networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementMessage {
    /// Changeover order: the last FSN accepted.
    Coo(Fsn),
    /// Changeover acknowledgement.
    Coa(Fsn),
    /// Extended changeover order, 24 bits of FSN.
    Xco(Fsn),
    /// Extended changeover acknowledgement.
    Xca(Fsn),
    /// Changeback declaration.
    Cbd(ChangebackCode),
    /// Changeback acknowledgement.
    Cba(ChangebackCode),
    /// Emergency changeover order.
    Eco,
    /// Emergency changeover acknowledgement.
    Eca,
    /// Signalling route set congestion test.
    Rct,
    /// Transfer controlled: the congested destination and its status, 0 to 3.
    Tfc(PointCode, u8),
    /// Transfer prohibited.
    Tfp(PointCode),
    /// Transfer restricted.
    Tfr(PointCode),
    /// Transfer allowed.
    Tfa(PointCode),
    /// Signalling route set test for a prohibited destination.
    Rst(PointCode),
    /// Signalling route set test for a restricted destination.
    Rsr(PointCode),
    /// Link inhibit.
    Lin,
    /// Link uninhibit.
    Lun,
    /// Link inhibit acknowledgement.
    Lia,
    /// Link uninhibit acknowledgement.
    Lua,
    /// Link inhibit denied.
    Lid,
    /// Link force uninhibit.
    Lfu,
    /// Link local inhibit test.
    Llt,
    /// Link remote inhibit test.
    Lrt,
    /// Traffic restart allowed.
    Tra,
    /// Signalling data link connection order.
    Dlc(SignallingDataLink),
    /// Connection successful.
    Css,
    /// Connection not successful.
    Cns,
    /// Connection not possible.
    Cnp,
    /// User part unavailable: the destination, the user part, the cause.
    Upu {
        /// Where the user part is missing.
        destination: PointCode,
        /// Its service indicator.
        user: u8,
        /// 0 unknown, 1 unequipped remote user, 2 inaccessible remote user.
        cause: u8,
    },
}

/// Heading codes: H0 in the low four bits, H1 in the high four.
mod heading {
    pub(super) const COO: u8 = 0x11;
    pub(super) const COA: u8 = 0x21;
    pub(super) const XCO: u8 = 0x31;
    pub(super) const XCA: u8 = 0x41;
    pub(super) const CBD: u8 = 0x51;
    pub(super) const CBA: u8 = 0x61;
    pub(super) const ECO: u8 = 0x12;
    pub(super) const ECA: u8 = 0x22;
    pub(super) const RCT: u8 = 0x13;
    pub(super) const TFC: u8 = 0x23;
    pub(super) const TFP: u8 = 0x14;
    pub(super) const TFR: u8 = 0x34;
    pub(super) const TFA: u8 = 0x54;
    pub(super) const RST: u8 = 0x15;
    pub(super) const RSR: u8 = 0x25;
    pub(super) const LIN: u8 = 0x16;
    pub(super) const LUN: u8 = 0x26;
    pub(super) const LIA: u8 = 0x36;
    pub(super) const LUA: u8 = 0x46;
    pub(super) const LID: u8 = 0x56;
    pub(super) const LFU: u8 = 0x66;
    pub(super) const LLT: u8 = 0x76;
    pub(super) const LRT: u8 = 0x86;
    pub(super) const TRA: u8 = 0x17;
    pub(super) const DLC: u8 = 0x18;
    pub(super) const CSS: u8 = 0x28;
    pub(super) const CNS: u8 = 0x38;
    pub(super) const CNP: u8 = 0x48;
    pub(super) const UPU: u8 = 0x1a;
}

impl ManagementMessage {
    /// Reads a message behind its label. Spare bits are ignored.
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let heading = reader.u8()?;
        let message = match heading {
            heading::COO => Self::Coo(fsn7(&mut reader)?),
            heading::COA => Self::Coa(fsn7(&mut reader)?),
            heading::XCO => Self::Xco(fsn24(&mut reader)?),
            heading::XCA => Self::Xca(fsn24(&mut reader)?),
            heading::CBD => Self::Cbd(ChangebackCode(reader.u8()?)),
            heading::CBA => Self::Cba(ChangebackCode(reader.u8()?)),
            heading::ECO => Self::Eco,
            heading::ECA => Self::Eca,
            heading::RCT => Self::Rct,
            heading::TFC => {
                let (destination, status) = destination(&mut reader)?;
                Self::Tfc(destination, status)
            }
            heading::TFP => Self::Tfp(destination(&mut reader)?.0),
            heading::TFR => Self::Tfr(destination(&mut reader)?.0),
            heading::TFA => Self::Tfa(destination(&mut reader)?.0),
            heading::RST => Self::Rst(destination(&mut reader)?.0),
            heading::RSR => Self::Rsr(destination(&mut reader)?.0),
            heading::LIN => Self::Lin,
            heading::LUN => Self::Lun,
            heading::LIA => Self::Lia,
            heading::LUA => Self::Lua,
            heading::LID => Self::Lid,
            heading::LFU => Self::Lfu,
            heading::LLT => Self::Llt,
            heading::LRT => Self::Lrt,
            heading::TRA => Self::Tra,
            heading::DLC => Self::Dlc(SignallingDataLink(u16::from_le_bytes(reader.array()?) & 0xfff)),
            heading::CSS => Self::Css,
            heading::CNS => Self::Cns,
            heading::CNP => Self::Cnp,
            heading::UPU => {
                let (destination, _) = destination(&mut reader)?;
                let octet = reader.u8()?;
                Self::Upu { destination, user: octet & 0xf, cause: octet >> 4 }
            }
            other => return Err(WireError::Unsupported { field: "heading code", value: other.into() }),
        };
        Ok(message)
    }

    /// Appends the message behind its label.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Coo(Fsn(fsn)) => out.extend_from_slice(&[heading::COO, (fsn & 0x7f) as u8]),
            Self::Coa(Fsn(fsn)) => out.extend_from_slice(&[heading::COA, (fsn & 0x7f) as u8]),
            Self::Xco(fsn) => emit_fsn24(heading::XCO, fsn, out),
            Self::Xca(fsn) => emit_fsn24(heading::XCA, fsn, out),
            Self::Cbd(ChangebackCode(code)) => out.extend_from_slice(&[heading::CBD, code]),
            Self::Cba(ChangebackCode(code)) => out.extend_from_slice(&[heading::CBA, code]),
            Self::Eco => out.push(heading::ECO),
            Self::Eca => out.push(heading::ECA),
            Self::Rct => out.push(heading::RCT),
            Self::Tfc(destination, status) => emit_destination(heading::TFC, destination, status, out),
            Self::Tfp(destination) => emit_destination(heading::TFP, destination, 0, out),
            Self::Tfr(destination) => emit_destination(heading::TFR, destination, 0, out),
            Self::Tfa(destination) => emit_destination(heading::TFA, destination, 0, out),
            Self::Rst(destination) => emit_destination(heading::RST, destination, 0, out),
            Self::Rsr(destination) => emit_destination(heading::RSR, destination, 0, out),
            Self::Lin => out.push(heading::LIN),
            Self::Lun => out.push(heading::LUN),
            Self::Lia => out.push(heading::LIA),
            Self::Lua => out.push(heading::LUA),
            Self::Lid => out.push(heading::LID),
            Self::Lfu => out.push(heading::LFU),
            Self::Llt => out.push(heading::LLT),
            Self::Lrt => out.push(heading::LRT),
            Self::Tra => out.push(heading::TRA),
            Self::Dlc(SignallingDataLink(link)) => {
                out.push(heading::DLC);
                out.extend_from_slice(&(link & 0xfff).to_le_bytes());
            }
            Self::Css => out.push(heading::CSS),
            Self::Cns => out.push(heading::CNS),
            Self::Cnp => out.push(heading::CNP),
            Self::Upu { destination, user, cause } => {
                emit_destination(heading::UPU, destination, 0, out);
                out.push(cause << 4 | user & 0xf);
            }
        }
    }
}

fn fsn7(reader: &mut Reader<'_>) -> Result<Fsn, WireError> {
    Ok(Fsn(u32::from(reader.u8()? & 0x7f)))
}

fn fsn24(reader: &mut Reader<'_>) -> Result<Fsn, WireError> {
    let [low, middle, high] = reader.array()?;
    Ok(Fsn(u32::from_le_bytes([low, middle, high, 0])))
}

fn emit_fsn24(heading: u8, Fsn(fsn): Fsn, out: &mut Vec<u8>) {
    out.push(heading);
    out.extend_from_slice(&fsn.to_le_bytes()[..3]);
}

fn destination(reader: &mut Reader<'_>) -> Result<(PointCode, u8), WireError> {
    let bits = u16::from_le_bytes(reader.array()?);
    Ok((PointCode(u32::from(bits & 0x3fff)), (bits >> 14) as u8))
}

fn emit_destination(heading: u8, PointCode(code): PointCode, status: u8, out: &mut Vec<u8>) {
    out.push(heading);
    let bits = (code & 0x3fff) | u32::from(status & 3) << 14;
    out.extend_from_slice(&bits.to_le_bytes()[..2]);
}

/// A signalling link test message or its acknowledgement, behind its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMessage<'a> {
    /// SLTM, with its test pattern of 1 to 15 octets.
    Sltm(&'a [u8]),
    /// SLTA, with the pattern that it returns.
    Slta(&'a [u8]),
}

impl<'a> TestMessage<'a> {
    const SLTM: u8 = 0x11;
    const SLTA: u8 = 0x21;

    /// Reads a message behind its label.
    pub fn parse(octets: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let heading = reader.u8()?;
        let len = reader.u8()? >> 4;
        if len == 0 {
            return Err(WireError::BadValue { field: "test pattern length", value: 0 });
        }
        let pattern = reader.take(usize::from(len))?;
        match heading {
            Self::SLTM => Ok(Self::Sltm(pattern)),
            Self::SLTA => Ok(Self::Slta(pattern)),
            other => Err(WireError::Unsupported { field: "heading code", value: other.into() }),
        }
    }

    /// Appends the message behind its label.
    ///
    /// # Panics
    /// If the pattern is empty or longer than 15 octets.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (heading, pattern) = match self {
            Self::Sltm(pattern) => (Self::SLTM, pattern),
            Self::Slta(pattern) => (Self::SLTA, pattern),
        };
        assert!((1..=15).contains(&pattern.len()), "a test pattern has 1 to 15 octets");
        #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
        let len = pattern.len() as u8;
        out.extend_from_slice(&[heading, len << 4]);
        out.extend_from_slice(pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_message() -> impl Strategy<Value = ManagementMessage> {
        use ManagementMessage as M;
        let code = || (0_u32..1 << 14).prop_map(PointCode);
        prop_oneof![
            (0_u32..128).prop_map(|fsn| M::Coo(Fsn(fsn))),
            (0_u32..128).prop_map(|fsn| M::Coa(Fsn(fsn))),
            (0_u32..1 << 24).prop_map(|fsn| M::Xco(Fsn(fsn))),
            (0_u32..1 << 24).prop_map(|fsn| M::Xca(Fsn(fsn))),
            any::<u8>().prop_map(|code| M::Cbd(ChangebackCode(code))),
            any::<u8>().prop_map(|code| M::Cba(ChangebackCode(code))),
            (code(), 0_u8..4).prop_map(|(code, status)| M::Tfc(code, status)),
            code().prop_map(M::Tfp),
            code().prop_map(M::Tfr),
            code().prop_map(M::Tfa),
            code().prop_map(M::Rst),
            code().prop_map(M::Rsr),
            (0_u16..1 << 12).prop_map(|link| M::Dlc(SignallingDataLink(link))),
            (code(), 0_u8..16, 0_u8..16).prop_map(|(destination, user, cause)| M::Upu {
                destination,
                user,
                cause
            }),
            proptest::sample::select(vec![
                M::Eco,
                M::Eca,
                M::Rct,
                M::Lin,
                M::Lun,
                M::Lia,
                M::Lua,
                M::Lid,
                M::Lfu,
                M::Llt,
                M::Lrt,
                M::Tra,
                M::Css,
                M::Cns,
                M::Cnp,
            ]),
        ]
    }

    #[test]
    fn an_unknown_heading_is_an_error() {
        let parsed = ManagementMessage::parse(&[0xff]);
        assert_eq!(parsed, Err(WireError::Unsupported { field: "heading code", value: 0xff }));
    }

    proptest! {
        #[test]
        fn management_messages_round_trip(message in any_message()) {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(ManagementMessage::parse(&octets), Ok(message));
        }

        #[test]
        fn test_messages_round_trip(pattern in proptest::collection::vec(any::<u8>(), 1..16), answer: bool) {
            let message = if answer { TestMessage::Slta(&pattern) } else { TestMessage::Sltm(&pattern) };
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(TestMessage::parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = ManagementMessage::parse(&octets);
            let _ = TestMessage::parse(&octets);
        }
    }
}
