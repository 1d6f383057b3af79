//! The octets by which a message is known again: the link that it was generated for, its number there, and, of a load
//! on real clocks, the instant at which it was sent.

use crate::mtp3::ServiceIndicator;
use crate::sccp;
use crate::transfer::Transfer;

/// One of the generator's links, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkNumber(pub u8);

/// Octets of a stamp.
pub(super) const STAMP_LEN: usize = 4;

/// Numbers have so many bits on the wire.
const BITS: u32 = 24;

/// Octets of an instant behind a stamp.
const INSTANT_LEN: usize = 8;

/// Octets that fill messages, and stand where no instant is: as an instant, one of the year 2164.
pub(super) const FILL: u8 = 0x55;

/// Words of a message that has arrived about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadStamp {
    /// Link that the message was generated for.
    pub link: LinkNumber,
    /// Low 24 bits of its number on that link.
    low: u32,
    /// Nanoseconds of the sender's clock when it was sent, if it says so.
    pub sent: Option<u64>,
}

impl LoadStamp {
    /// LoadStamp of a generated message: in front of the user part, or of the data of a unitdata message.
    pub fn of_transfer(transfer: &Transfer) -> Option<Self> {
        if transfer.service.indicator != ServiceIndicator::SCCP {
            return parse(&transfer.user_data);
        }
        match sccp::Message::parse(&transfer.user_data) {
            Ok(
                sccp::Message::Udt { data, .. }
                | sccp::Message::Xudt { data, .. }
                | sccp::Message::Ludt { data, .. },
            ) => parse(&data),
            _ => None,
        }
    }

    /// LoadStamp of the data of a unitdata.
    pub fn of_unitdata(data: &[u8]) -> Option<Self> {
        parse(data)
    }

    /// Number of the message on its link: the nearest to `next` that has these low bits.
    pub fn number_near(&self, next: u64) -> Option<u64> {
        const HALF: u64 = 1 << (BITS - 1);
        let ahead = u64::from(self.low).wrapping_sub(next) & ((1 << BITS) - 1);
        if ahead < HALF { next.checked_add(ahead) } else { next.checked_sub((1 << BITS) - ahead) }
    }

    /// The whole number: the greatest one with these low bits that is below `next`.
    pub(super) fn number_below(&self, next: u64) -> Option<u64> {
        widen(self.low, next)
    }
}

/// Writes a stamp, and behind it the sender's clock where it is to be told and `room` octets have room for it.
pub(super) fn emit(link: LinkNumber, number: u64, clock: Option<u64>, room: usize, out: &mut Vec<u8>) {
    let [.., high, middle, low] = number.to_be_bytes();
    out.extend_from_slice(&[link.0, high, middle, low]);
    if let Some(nanos) = clock.filter(|_| room >= STAMP_LEN + INSTANT_LEN) {
        out.extend_from_slice(&nanos.to_be_bytes());
    }
}

/// Reads a stamp.
pub(super) fn parse(octets: &[u8]) -> Option<LoadStamp> {
    let ([link, high, middle, low], behind) = octets.split_first_chunk::<STAMP_LEN>()?;
    let sent = behind.first_chunk::<INSTANT_LEN>().filter(|instant| **instant != [FILL; INSTANT_LEN]);
    let sent = sent.map(|instant| u64::from_be_bytes(*instant));
    Some(LoadStamp { link: LinkNumber(*link), low: u32::from_be_bytes([0, *high, *middle, *low]), sent })
}

/// The whole number behind its low bits: the greatest one that is below `next`.
pub(super) fn widen(low: u32, next: u64) -> Option<u64> {
    let last = next.checked_sub(1)?;
    let behind = (last & ((1 << BITS) - 1)).wrapping_sub(u64::from(low)) & ((1 << BITS) - 1);
    last.checked_sub(behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_known_again_across_16_million(number in 0_u64..1 << 40, ahead in 1_u64..1 << 20, link: u8) {
            let mut octets = Vec::new();
            emit(LinkNumber(link), number, None, 60, &mut octets);
            let stamp = parse(&octets).expect("four octets");
            prop_assert_eq!((stamp.link, stamp.sent), (LinkNumber(link), None));
            prop_assert_eq!(stamp.number_below(number + ahead), Some(number));
            for next in [number + ahead, number.saturating_sub(ahead)] {
                prop_assert_eq!(stamp.number_near(next), Some(number));
            }
        }

        #[test]
        fn the_senders_clock_is_told_where_there_is_room(link: u8, nanos: u64, room in 4_usize..20) {
            let (mut octets, number) = (Vec::new(), 7);
            emit(LinkNumber(link), number, Some(nanos), room, &mut octets);
            octets.resize(room, FILL);
            let told = parse(&octets).expect("four octets").sent;
            prop_assert_eq!(told, Some(nanos).filter(|nanos| room >= 12 && *nanos != u64::from_be_bytes([FILL; 8])));
        }
    }

    #[test]
    fn a_number_that_was_never_given_is_none() {
        assert_eq!(widen(5, 3), None);
        assert_eq!(widen(0, 0), None);
    }
}
