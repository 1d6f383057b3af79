//! Signalling network management (Q.704, section 15) and test (Q.707, section 2.2) messages.

use slantpath_wire::{Reader, WireError};

use crate::mtp3::{Slc, Sls};
use crate::{PointCode, PointCodeFormat};

/// The layout of management and test messages. TTC networks have their own, with lists of point codes and another link
/// test, which is not provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ManagementLayout {
    /// T1.111.4 and T1.111.7.
    Ansi,
    /// Q.704 and Q.707.
    Itu,
}

impl ManagementLayout {
    /// Gives the layout of a network with such point codes; none for TTC networks.
    pub const fn of(format: PointCodeFormat) -> Option<Self> {
        match format {
            PointCodeFormat::Ansi => Some(Self::Ansi),
            PointCodeFormat::Itu => Some(Self::Itu),
            PointCodeFormat::Ttc => None,
        }
    }

    const fn bits(self) -> u32 {
        match self {
            Self::Ansi => PointCodeFormat::Ansi.bits(),
            Self::Itu => PointCodeFormat::Itu.bits(),
        }
    }
}

/// A forward sequence number: 7 bits of level 2, 24 of M2PA's extended changeover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fsn(pub u32);

/// Code that ties a changeback acknowledgement to its declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangebackCode(pub u8);

/// The identity of a signalling data link: 12 bits, 14 in ANSI networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignallingDataLink(pub u16);

/// A management message behind its label, by its three-letter name. The signalling link code that many of
/// them speak of is the label's SLS in ITU-T networks, and a field of four bits behind the heading in ANSI
/// networks, where the fields follow it without a gap (T1.111.4, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagementMessage {
    /// Changeover order: the last FSN accepted.
    Coo(Fsn),
    /// Changeover acknowledgement: the last FSN accepted.
    Coa(Fsn),
    /// Extended changeover order, 24 bits of FSN.
    Xco(Fsn),
    /// Extended changeover acknowledgement.
    Xca(Fsn),
    /// Changeback declaration, with its code.
    Cbd(ChangebackCode),
    /// Changeback acknowledgement, with the code of the declaration.
    Cba(ChangebackCode),
    /// Emergency changeover order.
    Eco,
    /// Emergency changeover acknowledgement.
    Eca,
    /// Signalling route set congestion test.
    Rct,
    /// Transfer controlled: the congested destination and its status, 0 to 3.
    Tfc(PointCode, u8),
    /// Transfer prohibited to this destination.
    Tfp(PointCode),
    /// Transfer restricted to this destination.
    Tfr(PointCode),
    /// Transfer allowed to this destination.
    Tfa(PointCode),
    /// Signalling route set test for a prohibited destination.
    Rst(PointCode),
    /// Signalling route set test for a restricted destination.
    Rsr(PointCode),
    /// Transfer prohibited for a cluster (ANSI).
    Tcp(PointCode),
    /// Transfer restricted for a cluster (ANSI).
    Tcr(PointCode),
    /// Transfer allowed for a cluster (ANSI).
    Tca(PointCode),
    /// Signalling route set test for a prohibited cluster (ANSI).
    Rcp(PointCode),
    /// Signalling route set test for a restricted cluster (ANSI).
    Rcr(PointCode),
    /// Link inhibit request.
    Lin,
    /// Link uninhibit request.
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
    /// Traffic restart waiting (ANSI).
    Trw,
    /// Signalling data link connection order.
    Dlc(SignallingDataLink),
    /// Connection successful, in answer to a connection order.
    Css,
    /// Connection not successful.
    Cns,
    /// Connection not possible.
    Cnp,
    /// User part unavailable: the destination, the user part, the cause.
    Upu {
        /// Point at which the user part is missing.
        destination: PointCode,
        /// Service indicator of the user part.
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
    pub(super) const TCP: u8 = 0x24;
    pub(super) const TFR: u8 = 0x34;
    pub(super) const TCR: u8 = 0x44;
    pub(super) const TFA: u8 = 0x54;
    pub(super) const TCA: u8 = 0x64;
    pub(super) const RST: u8 = 0x15;
    pub(super) const RSR: u8 = 0x25;
    pub(super) const RCP: u8 = 0x35;
    pub(super) const RCR: u8 = 0x45;
    pub(super) const LIN: u8 = 0x16;
    pub(super) const LUN: u8 = 0x26;
    pub(super) const LIA: u8 = 0x36;
    pub(super) const LUA: u8 = 0x46;
    pub(super) const LID: u8 = 0x56;
    pub(super) const LFU: u8 = 0x66;
    pub(super) const LLT: u8 = 0x76;
    pub(super) const LRT: u8 = 0x86;
    pub(super) const TRA: u8 = 0x17;
    pub(super) const TRW: u8 = 0x27;
    pub(super) const DLC: u8 = 0x18;
    pub(super) const CSS: u8 = 0x28;
    pub(super) const CNS: u8 = 0x38;
    pub(super) const CNP: u8 = 0x48;
    pub(super) const UPU: u8 = 0x1a;
}

/// Messages about destinations, which points that are not adjacent send as well: name and heading code. Those about
/// links and the restart belong to the two ends of a link set alone.
pub const ABOUT_DESTINATIONS: [(&str, u8); 13] = [
    ("RCT", heading::RCT),
    ("TFC", heading::TFC),
    ("TFP", heading::TFP),
    ("TCP", heading::TCP),
    ("TFR", heading::TFR),
    ("TCR", heading::TCR),
    ("TFA", heading::TFA),
    ("TCA", heading::TCA),
    ("RST", heading::RST),
    ("RSR", heading::RSR),
    ("RCP", heading::RCP),
    ("RCR", heading::RCR),
    ("UPU", heading::UPU),
];

impl ManagementMessage {
    /// Gives the name of the message in the Recommendation.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Coo(_) => "COO",
            Self::Coa(_) => "COA",
            Self::Xco(_) => "XCO",
            Self::Xca(_) => "XCA",
            Self::Cbd(_) => "CBD",
            Self::Cba(_) => "CBA",
            Self::Eco => "ECO",
            Self::Eca => "ECA",
            Self::Rct => "RCT",
            Self::Tfc(..) => "TFC",
            Self::Tfp(_) => "TFP",
            Self::Tfr(_) => "TFR",
            Self::Tfa(_) => "TFA",
            Self::Rst(_) => "RST",
            Self::Rsr(_) => "RSR",
            Self::Tcp(_) => "TCP",
            Self::Tcr(_) => "TCR",
            Self::Tca(_) => "TCA",
            Self::Rcp(_) => "RCP",
            Self::Rcr(_) => "RCR",
            Self::Lin => "LIN",
            Self::Lun => "LUN",
            Self::Lia => "LIA",
            Self::Lua => "LUA",
            Self::Lid => "LID",
            Self::Lfu => "LFU",
            Self::Llt => "LLT",
            Self::Lrt => "LRT",
            Self::Tra => "TRA",
            Self::Trw => "TRW",
            Self::Dlc(_) => "DLC",
            Self::Css => "CSS",
            Self::Cns => "CNS",
            Self::Cnp => "CNP",
            Self::Upu { .. } => "UPU",
        }
    }

    /// Reads a message behind a label with that SLS, and the signalling link code that it speaks of. Spare bits
    /// are ignored.
    pub fn parse(octets: &[u8], layout: ManagementLayout, sls: Sls) -> Result<(Self, Slc), WireError> {
        let mut reader = Reader::new(octets);
        let heading = reader.u8()?;
        let mut fields = Fields { reader, layout, slc: Slc(sls.0 & 0xf) };
        let message = match heading {
            heading::COO => Self::Coo(Fsn(fields.of_link(7)?)),
            heading::COA => Self::Coa(Fsn(fields.of_link(7)?)),
            heading::XCO => Self::Xco(Fsn(fields.of_link(24)?)),
            heading::XCA => Self::Xca(Fsn(fields.of_link(24)?)),
            heading::CBD => Self::Cbd(fields.changeback_code()?),
            heading::CBA => Self::Cba(fields.changeback_code()?),
            heading::ECO => fields.about_link(Self::Eco)?,
            heading::ECA => fields.about_link(Self::Eca)?,
            heading::RCT => Self::Rct,
            heading::TFC => fields.controlled()?,
            heading::TFP => Self::Tfp(fields.destination()?),
            heading::TFR => Self::Tfr(fields.destination()?),
            heading::TFA => Self::Tfa(fields.destination()?),
            heading::RST => Self::Rst(fields.destination()?),
            heading::RSR => Self::Rsr(fields.destination()?),
            heading::LIN => fields.about_link(Self::Lin)?,
            heading::LUN => fields.about_link(Self::Lun)?,
            heading::LIA => fields.about_link(Self::Lia)?,
            heading::LUA => fields.about_link(Self::Lua)?,
            heading::LID => fields.about_link(Self::Lid)?,
            heading::LFU => fields.about_link(Self::Lfu)?,
            heading::LLT => fields.about_link(Self::Llt)?,
            heading::LRT => fields.about_link(Self::Lrt)?,
            heading::TRA => Self::Tra,
            heading::DLC => Self::Dlc(fields.data_link()?),
            heading::CSS => fields.about_link(Self::Css)?,
            heading::CNS => fields.about_link(Self::Cns)?,
            heading::CNP => fields.about_link(Self::Cnp)?,
            heading::UPU => fields.user_part_unavailable()?,
            other if layout == ManagementLayout::Ansi => match other {
                heading::TCP => Self::Tcp(fields.destination()?),
                heading::TCR => Self::Tcr(fields.destination()?),
                heading::TCA => Self::Tca(fields.destination()?),
                heading::RCP => Self::Rcp(fields.destination()?),
                heading::RCR => Self::Rcr(fields.destination()?),
                heading::TRW => Self::Trw,
                _ => return Err(unknown(other)),
            },
            other => return Err(unknown(other)),
        };
        Ok((message, fields.slc))
    }

    /// Appends the message behind its label. In ITU-T networks the signalling link code is the label's SLS,
    /// which the caller writes; clusters are ANSI's and are written alike in every layout.
    pub fn emit(&self, layout: ManagementLayout, slc: Slc, out: &mut Vec<u8>) {
        let mut fields = Emit { out, layout, slc };
        match *self {
            Self::Coo(Fsn(fsn)) => fields.of_link(heading::COO, 7, fsn),
            Self::Coa(Fsn(fsn)) => fields.of_link(heading::COA, 7, fsn),
            Self::Xco(Fsn(fsn)) => fields.of_link(heading::XCO, 24, fsn),
            Self::Xca(Fsn(fsn)) => fields.of_link(heading::XCA, 24, fsn),
            Self::Cbd(ChangebackCode(code)) => fields.of_link(heading::CBD, 8, code.into()),
            Self::Cba(ChangebackCode(code)) => fields.of_link(heading::CBA, 8, code.into()),
            Self::Eco => fields.about_link(heading::ECO),
            Self::Eca => fields.about_link(heading::ECA),
            Self::Rct => fields.out.push(heading::RCT),
            Self::Tfc(destination, status) => fields.controlled(destination, status),
            Self::Tfp(destination) => fields.destination(heading::TFP, destination),
            Self::Tfr(destination) => fields.destination(heading::TFR, destination),
            Self::Tfa(destination) => fields.destination(heading::TFA, destination),
            Self::Rst(destination) => fields.destination(heading::RST, destination),
            Self::Rsr(destination) => fields.destination(heading::RSR, destination),
            Self::Tcp(cluster) => fields.destination(heading::TCP, cluster),
            Self::Tcr(cluster) => fields.destination(heading::TCR, cluster),
            Self::Tca(cluster) => fields.destination(heading::TCA, cluster),
            Self::Rcp(cluster) => fields.destination(heading::RCP, cluster),
            Self::Rcr(cluster) => fields.destination(heading::RCR, cluster),
            Self::Lin => fields.about_link(heading::LIN),
            Self::Lun => fields.about_link(heading::LUN),
            Self::Lia => fields.about_link(heading::LIA),
            Self::Lua => fields.about_link(heading::LUA),
            Self::Lid => fields.about_link(heading::LID),
            Self::Lfu => fields.about_link(heading::LFU),
            Self::Llt => fields.about_link(heading::LLT),
            Self::Lrt => fields.about_link(heading::LRT),
            Self::Tra => fields.out.push(heading::TRA),
            Self::Trw => fields.out.push(heading::TRW),
            Self::Dlc(SignallingDataLink(link)) => fields.data_link(link),
            Self::Css => fields.about_link(heading::CSS),
            Self::Cns => fields.about_link(heading::CNS),
            Self::Cnp => fields.about_link(heading::CNP),
            Self::Upu { destination, user, cause } => {
                fields.destination(heading::UPU, destination);
                fields.out.push(cause << 4 | user & 0xf);
            }
        }
    }
}

fn unknown(heading: u8) -> WireError {
    WireError::Unsupported { field: "heading code", value: heading.into() }
}

/// Fields behind the heading, read in the network's layout.
struct Fields<'a> {
    reader: Reader<'a>,
    layout: ManagementLayout,
    slc: Slc,
}

impl Fields<'_> {
    /// A number of so many bits about a link: behind four bits of SLC in ANSI networks.
    fn of_link(&mut self, bits: u32) -> Result<u32, WireError> {
        let in_front = if self.layout == ManagementLayout::Ansi { 4 } else { 0 };
        let mut value = 0;
        for (at, octet) in self.reader.take((in_front + bits).div_ceil(8) as usize)?.iter().enumerate() {
            value |= u32::from(*octet) << (8 * at);
        }
        if in_front > 0 {
            self.slc = Slc((value & 0xf) as u8);
        }
        Ok(value >> in_front & ((1 << bits) - 1))
    }

    fn changeback_code(&mut self) -> Result<ChangebackCode, WireError> {
        Ok(ChangebackCode((self.of_link(8)? & 0xff) as u8))
    }

    /// A message that only names a link.
    fn about_link(&mut self, message: ManagementMessage) -> Result<ManagementMessage, WireError> {
        self.of_link(0)?;
        Ok(message)
    }

    fn data_link(&mut self) -> Result<SignallingDataLink, WireError> {
        let bits = if self.layout == ManagementLayout::Ansi { 14 } else { 12 };
        Ok(SignallingDataLink((self.of_link(bits)? & 0xffff) as u16))
    }

    /// A point code in whole octets, with what its upper bits hold in ITU-T networks.
    fn destination_and_rest(&mut self) -> Result<(PointCode, u8), WireError> {
        let (code, spare) = match self.layout {
            ManagementLayout::Ansi => {
                let [low, middle, high] = self.reader.array()?;
                (u32::from_le_bytes([low, middle, high, 0]), 0)
            }
            ManagementLayout::Itu => {
                let bits = u16::from_le_bytes(self.reader.array()?);
                (u32::from(bits & 0x3fff), (bits >> 14) as u8)
            }
        };
        Ok((PointCode(code), spare))
    }

    fn destination(&mut self) -> Result<PointCode, WireError> {
        Ok(self.destination_and_rest()?.0)
    }

    fn controlled(&mut self) -> Result<ManagementMessage, WireError> {
        let (destination, spare) = self.destination_and_rest()?;
        let status = if self.layout == ManagementLayout::Itu { spare } else { self.reader.u8()? & 3 };
        Ok(ManagementMessage::Tfc(destination, status))
    }

    fn user_part_unavailable(&mut self) -> Result<ManagementMessage, WireError> {
        let destination = self.destination()?;
        let octet = self.reader.u8()?;
        Ok(ManagementMessage::Upu { destination, user: octet & 0xf, cause: octet >> 4 })
    }
}

/// Fields behind the heading, written in the network's layout.
struct Emit<'a> {
    out: &'a mut Vec<u8>,
    layout: ManagementLayout,
    slc: Slc,
}

impl Emit<'_> {
    fn of_link(&mut self, heading: u8, bits: u32, value: u32) {
        self.out.push(heading);
        let value = value & ((1 << bits) - 1);
        let (value, bits) = match self.layout {
            ManagementLayout::Ansi => (value << 4 | u32::from(self.slc.0 & 0xf), bits + 4),
            ManagementLayout::Itu => (value, bits),
        };
        self.out.extend_from_slice(&value.to_le_bytes()[..bits.div_ceil(8) as usize]);
    }

    fn about_link(&mut self, heading: u8) {
        self.of_link(heading, 0, 0);
    }

    fn data_link(&mut self, link: u16) {
        let bits = if self.layout == ManagementLayout::Ansi { 14 } else { 12 };
        self.of_link(heading::DLC, bits, link.into());
    }

    fn destination(&mut self, heading: u8, code: PointCode) {
        self.out.push(heading);
        self.code(code);
    }

    fn code(&mut self, PointCode(code): PointCode) {
        let code = code & ((1 << self.layout.bits()) - 1);
        self.out.extend_from_slice(&code.to_le_bytes()[..self.layout.bits().div_ceil(8) as usize]);
    }

    fn controlled(&mut self, destination: PointCode, status: u8) {
        self.out.push(heading::TFC);
        self.code(destination);
        match (self.layout, self.out.last_mut()) {
            (ManagementLayout::Itu, Some(high)) => *high |= (status & 3) << 6,
            _ => self.out.push(status & 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_layout() -> impl Strategy<Value = ManagementLayout> {
        prop_oneof![Just(ManagementLayout::Ansi), Just(ManagementLayout::Itu)]
    }

    fn any_message(layout: ManagementLayout) -> impl Strategy<Value = ManagementMessage> {
        use ManagementMessage as M;
        let code = move || (0_u32..1 << layout.bits()).prop_map(PointCode);
        let links = if layout == ManagementLayout::Ansi { 1_u16 << 14 } else { 1 << 12 };
        let about_link = vec![
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
        ];
        let everywhere = prop_oneof![
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
            (0..links).prop_map(|link| M::Dlc(SignallingDataLink(link))),
            (code(), 0_u8..16, 0_u8..16).prop_map(|(destination, user, cause)| M::Upu {
                destination,
                user,
                cause
            }),
            proptest::sample::select(about_link),
        ];
        let clusters = prop_oneof![
            code().prop_map(M::Tcp),
            code().prop_map(M::Tcr),
            code().prop_map(M::Tca),
            code().prop_map(M::Rcp),
            code().prop_map(M::Rcr),
            Just(M::Trw),
        ];
        let share = u32::from(layout == ManagementLayout::Ansi);
        prop_oneof![5 => everywhere, share => clusters]
    }

    #[test]
    fn an_unknown_heading_is_an_error() {
        let parsed = ManagementMessage::parse(&[0xff], ManagementLayout::Itu, Sls(0));
        assert_eq!(parsed, Err(WireError::Unsupported { field: "heading code", value: 0xff }));
    }

    #[test]
    fn clusters_and_waiting_are_unknown_outside_ansi_networks() {
        for heading in [heading::TCP, heading::TCR, heading::TCA, heading::RCP, heading::RCR, heading::TRW] {
            let octets = [heading, 0, 0, 0];
            assert!(ManagementMessage::parse(&octets, ManagementLayout::Itu, Sls(0)).is_err());
            assert!(ManagementMessage::parse(&octets, ManagementLayout::Ansi, Sls(0)).is_ok());
        }
    }

    #[test]
    fn ansi_puts_the_link_code_before_the_sequence_number() {
        let mut octets = Vec::new();
        ManagementMessage::Coo(Fsn(0x55)).emit(ManagementLayout::Ansi, Slc(3), &mut octets);
        assert_eq!(octets, [0x11, 0x53, 0x05]);
        let read = ManagementMessage::parse(&octets, ManagementLayout::Ansi, Sls(9));
        assert_eq!(read, Ok((ManagementMessage::Coo(Fsn(0x55)), Slc(3))));
    }

    #[test]
    fn the_congestion_status_stands_above_an_itu_point_code_and_behind_an_ansi_one() {
        let tfc = ManagementMessage::Tfc(PointCode(5), 2);
        let written = |layout| {
            let mut octets = Vec::new();
            tfc.emit(layout, Slc(0), &mut octets);
            octets
        };
        assert_eq!(written(ManagementLayout::Itu), [0x23, 5, 0x80]);
        assert_eq!(written(ManagementLayout::Ansi), [0x23, 5, 0, 0, 2]);
    }

    proptest! {
        #[test]
        fn management_messages_round_trip(
            (layout, message) in any_layout().prop_flat_map(|layout| (Just(layout), any_message(layout))),
            slc in 0_u8..16,
        ) {
            let mut octets = Vec::new();
            message.emit(layout, Slc(slc), &mut octets);
            prop_assert_eq!(ManagementMessage::parse(&octets, layout, Sls(slc)), Ok((message, Slc(slc))));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>, layout in any_layout()) {
            let _ = ManagementMessage::parse(&octets, layout, Sls(0));
        }
    }
}
