//! Signal units (Q.703, section 2): fill-in, link status and message.

use bytes::Bytes;
use slantpath_wire::{Reader, WireError};

/// Octets of a unit that are not its information: one flag, two of sequence numbers, the length indicator, two of the
/// frame check (Q.703, figure 3). Stuffed bits are not counted.
const OVERHEAD_OCTETS: usize = 6;

/// The largest value of the length indicator: "63 or more" (Q.703, section 2.3.3).
const LONG: u8 = 63;

/// The longest signalling information field with its service information octet (Q.703, section 2.3.8).
const MAX_BODY: usize = 273;

/// Sequence numbers and indicator bits of every unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// Backward sequence number, 7 bits: the last message accepted.
    pub bsn: u8,
    /// Backward indicator bit: inverted to ask for retransmission.
    pub bib: bool,
    /// Forward sequence number, 7 bits: this message's, or the last one's.
    pub fsn: u8,
    /// Forward indicator bit: inverted at the start of a retransmission.
    pub fib: bool,
}

/// Status indications of a link status signal unit (Q.703, section 11.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkStatus {
    /// SIO: out of alignment.
    OutOfAlignment,
    /// SIN: normal alignment.
    Normal,
    /// SIE: emergency alignment.
    Emergency,
    /// SIOS: out of service.
    OutOfService,
    /// SIPO: processor outage.
    ProcessorOutage,
    /// SIB: busy.
    Busy,
}

impl LinkStatus {
    const fn from_octet(octet: u8) -> Option<Self> {
        Some(match octet & 7 {
            0 => Self::OutOfAlignment,
            1 => Self::Normal,
            2 => Self::Emergency,
            3 => Self::OutOfService,
            4 => Self::ProcessorOutage,
            5 => Self::Busy,
            _ => return None,
        })
    }
}

/// A signal unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignalUnit {
    /// FISU: nothing to say but the sequence numbers.
    FillIn(Header),
    /// LSSU.
    Status(Header, LinkStatus),
    /// MSU.
    Message {
        /// Sequence numbers of the unit.
        header: Header,
        /// The two bits before the length indicator: spare in ITU-T networks, the priority in TTC networks.
        spare: u8,
        /// From the service information octet on; 2 to 273 octets.
        body: Bytes,
    },
}

/// Why octets are no signal unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// Fewer octets than a header has.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// The length indicator does not fit what follows.
    #[error("length indicator {indicator} before {octets} octets")]
    Length {
        /// Value of the length indicator.
        indicator: u8,
        /// Number of octets that follow it.
        octets: usize,
    },
    /// A status field of no meaning (Q.703, section 11.1.3: spare).
    #[error("status {0} has no meaning")]
    Status(u8),
}

impl SignalUnit {
    /// Reads a unit between its flags, without the frame check.
    pub fn parse(octets: &[u8]) -> Result<Self, UnitError> {
        let mut reader = Reader::new(octets);
        let [backward, forward, length] = reader.array()?;
        let header = Header {
            bsn: backward & 0x7f,
            bib: backward >> 7 == 1,
            fsn: forward & 0x7f,
            fib: forward >> 7 == 1,
        };
        let indicator = length & 0x3f;
        let body = reader.rest();
        let fits = if indicator == LONG {
            (usize::from(LONG)..=MAX_BODY).contains(&body.len())
        } else {
            body.len() == usize::from(indicator)
        };
        if !fits {
            return Err(UnitError::Length { indicator, octets: body.len() });
        }
        match body {
            [] => Ok(Self::FillIn(header)),
            [status] | [status, _] => LinkStatus::from_octet(*status)
                .map(|status| Self::Status(header, status))
                .ok_or(UnitError::Status(*status)),
            _ => Ok(Self::Message { header, spare: length >> 6, body: Bytes::copy_from_slice(body) }),
        }
    }

    /// Appends the unit between its flags, without the frame check; a status field has one octet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let header = self.header();
        out.push(header.bsn & 0x7f | u8::from(header.bib) << 7);
        out.push(header.fsn & 0x7f | u8::from(header.fib) << 7);
        match self {
            Self::FillIn(_) => out.push(0),
            Self::Status(_, status) => out.extend_from_slice(&[1, *status as u8]),
            Self::Message { spare, body, .. } => {
                let indicator = u8::try_from(body.len()).unwrap_or(LONG).min(LONG);
                out.push(indicator | spare << 6);
                out.extend_from_slice(body);
            }
        }
    }

    /// The sequence numbers.
    pub const fn header(&self) -> Header {
        match self {
            Self::FillIn(header) | Self::Status(header, _) | Self::Message { header, .. } => *header,
        }
    }

    /// Octets that the unit takes on the line, with one flag and the frame check.
    pub fn octets_on_line(&self) -> usize {
        match self {
            Self::FillIn(_) => octets_on_line(0),
            Self::Status(..) => octets_on_line(1),
            Self::Message { body, .. } => octets_on_line(body.len()),
        }
    }
}

/// Octets on the line of a unit whose information, from the service information octet on, has so many.
pub const fn octets_on_line(body: usize) -> usize {
    OVERHEAD_OCTETS + body
}

/// The 16 check bits of a unit in the order of the line (Q.703, section 4.2): the complement of the remainder by
/// x^16 + x^12 + x^5 + 1, low octet first.
pub fn frame_check(octets: &[u8]) -> [u8; 2] {
    let mut crc = u16::MAX;
    for octet in octets {
        crc ^= u16::from(*octet);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x8408 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header = Header { bsn: 1, bib: true, fsn: 2, fib: false };

    #[test]
    fn the_check_value_of_the_polynomial_is_the_known_one() {
        assert_eq!(u16::from_le_bytes(frame_check(b"123456789")), 0x906e);
    }

    #[test]
    fn a_fill_in_unit_takes_six_octets() {
        assert_eq!(SignalUnit::FillIn(HEADER).octets_on_line(), 6);
    }

    #[test]
    fn a_length_that_does_not_fit_is_refused() {
        assert_eq!(
            SignalUnit::parse(&[0, 0, 4, 1, 2, 3]),
            Err(UnitError::Length { indicator: 4, octets: 3 })
        );
        assert_eq!(
            SignalUnit::parse(&[0, 0, 63, 1, 2, 3]),
            Err(UnitError::Length { indicator: 63, octets: 3 })
        );
        let endless = [&[0, 0, 63][..], &[0; 274]].concat();
        assert_eq!(SignalUnit::parse(&endless), Err(UnitError::Length { indicator: 63, octets: 274 }));
    }

    #[test]
    fn a_spare_status_is_refused() {
        assert_eq!(SignalUnit::parse(&[0, 0, 1, 6]), Err(UnitError::Status(6)));
    }

    proptest! {
        #[test]
        fn messages_round_trip(bsn in 0_u8..128, fsn in 0_u8..128, bib: bool, fib: bool, spare in 0_u8..4,
                               body in prop::collection::vec(any::<u8>(), 3..=MAX_BODY)) {
            let unit = SignalUnit::Message { header: Header { bsn, bib, fsn, fib }, spare, body: body.into() };
            let mut octets = Vec::new();
            unit.emit(&mut octets);
            prop_assert_eq!(octets.len() + 3, unit.octets_on_line());
            prop_assert_eq!(SignalUnit::parse(&octets), Ok(unit));
        }

        #[test]
        fn any_octets_give_a_unit_or_an_error(octets: Vec<u8>) {
            if let Ok(unit) = SignalUnit::parse(&octets) {
                let mut emitted = Vec::new();
                unit.emit(&mut emitted);
                prop_assert_eq!(SignalUnit::parse(&emitted), Ok(unit));
            }
        }
    }
}
