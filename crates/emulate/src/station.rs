//! The station behind an Ethernet port whose link carries IP: its MAC address is that which its frames show.
//!
//! It is asked for by ARP (RFC 826) or neighbour solicitation (RFC 4861), at most once a second, until it is known. A
//! station that is replaced by another one of its addresses is followed.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_wire::Reader;
use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;
use slantpath_wire::ethernet::ether_type::{ARP, IPV4, IPV6};
use slantpath_wire::ip::IpHeader;

use crate::frames::MacAddress;
use crate::neighbours::{ARP_OF_ETHERNET, advertised, arp_request, solicitation};

/// Time between two questions for one that has not answered.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// A station of which the IP addresses are known.
#[derive(Clone, Debug)]
pub struct PortStation {
    /// Address of whoever asks.
    own: MacAddress,
    addresses: Vec<IpAddr>,
    /// Addresses in whose name it is asked: those of the link's other end.
    other_end: Vec<IpAddr>,
    known: Option<MacAddress>,
    asked: Option<Instant>,
}

impl PortStation {
    /// A station that nothing is known of but its addresses: `own` asks for it, in the name of `other_end`.
    pub const fn new(own: MacAddress, addresses: Vec<IpAddr>, other_end: Vec<IpAddr>) -> Self {
        Self { own, addresses, other_end, known: None, asked: None }
    }

    /// MAC address of the station, once it is known.
    pub const fn address(&self) -> Option<MacAddress> {
        self.known
    }

    /// Looks who has sent a frame.
    pub fn learn(&mut self, frame: &[u8]) {
        if let Some(found) = self.sender(frame).filter(|found| !found.is_group()) {
            self.known = Some(found);
        }
    }

    /// The MAC address that a frame of the station shows.
    fn sender(&self, frame: &[u8]) -> Option<MacAddress> {
        let (header, behind) = frame.split_first_chunk::<ETHERNET_HEADER_LEN>()?;
        let source = MacAddress(*header[6..].first_chunk()?);
        let is_own = |address: IpAddr| self.addresses.contains(&address);
        match u16::from_be_bytes([header[12], header[13]]) {
            ARP => {
                let mut reader = Reader::new(behind);
                let is_of_ethernet = reader.array().ok()? == ARP_OF_ETHERNET;
                reader.take(2).ok()?;
                let hardware = MacAddress(reader.array().ok()?);
                let sender = IpAddr::from(reader.array::<4>().ok()?);
                (is_of_ethernet && is_own(sender)).then_some(hardware)
            }
            IPV4 | IPV6 => {
                let (header, header_len) = IpHeader::parse_header(behind).ok()?;
                if is_own(header.source) {
                    return Some(source);
                }
                // An answer may come from an address of the link alone.
                let (target, hardware) = advertised(&header, behind.get(header_len..)?)?;
                is_own(target.into()).then_some(hardware.unwrap_or(source))
            }
            _ => None,
        }
    }

    /// Frames that ask for it now: none if it is known, or was asked for less than a second ago.
    pub fn questions(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let is_early = self.asked.is_some_and(|asked| now < asked + ASK_EVERY);
        if self.known.is_some() || is_early {
            return Vec::new();
        }
        self.asked = Some(now);
        let question = |target: &IpAddr| {
            let asks = self.other_end.iter().find(|own| own.is_ipv4() == target.is_ipv4());
            match (target, asks) {
                (IpAddr::V4(target), Some(IpAddr::V4(own))) => Some(arp_request(self.own, *own, *target)),
                (IpAddr::V6(target), Some(IpAddr::V6(own))) => solicitation(self.own, *own, *target),
                _ => None,
            }
        };
        self.addresses.iter().filter_map(question).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::neighbours::answer;

    const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    const THERE: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);

    fn addresses(texts: [&str; 2]) -> Vec<IpAddr> {
        texts.map(|text| text.parse().unwrap()).to_vec()
    }

    fn station() -> PortStation {
        PortStation::new(OWN, addresses(["10.0.0.2", "fd00::2"]), addresses(["10.0.0.1", "fd00::1"]))
    }

    #[test]
    fn a_question_is_answered_by_whoever_has_the_address_and_the_answer_shows_it() {
        for place in [0, 1] {
            let mut station = station();
            let questions = station.questions(Instant::START);
            assert_eq!((questions.len(), station.address()), (2, None));
            // Whoever answers has every address but those of the asking end.
            let answer = answer(&questions[place], THERE, &addresses(["10.0.0.1", "fd00::1"])).unwrap();
            station.learn(&answer);
            assert_eq!(station.address(), Some(THERE), "{place}");
        }
    }

    /// Address that is learned of an advertisement that no address of the station has sent, once it was changed.
    fn learned_of(change: fn(&mut Vec<u8>)) -> Option<MacAddress> {
        let mut station = station();
        let question = &station.questions(Instant::START)[1];
        let mut frame = answer(question, THERE, &addresses(["10.0.0.1", "fd00::1"])).unwrap();
        // Between two other addresses, whose sum stays as it is.
        frame[37] += 1;
        frame[53] -= 1;
        change(&mut frame);
        station.learn(&frame);
        station.address()
    }

    #[test]
    fn an_advertisement_from_another_address_shows_it_whole_and_padded_and_not_in_a_fragment() {
        assert_eq!(learned_of(|_| {}), Some(THERE));
        assert_eq!(learned_of(|frame| frame.extend([7; 9])), Some(THERE));
        assert_eq!(learned_of(|frame| frame[60] ^= 1), None);
        let in_a_fragment = |frame: &mut Vec<u8>| {
            frame[19] += 8;
            frame[20] = 44;
            frame.splice(54..54, [58, 0, 0, 0, 0, 0, 0, 1]);
        };
        assert_eq!(learned_of(in_a_fragment), None);
    }

    #[test]
    fn it_is_asked_for_once_a_second_until_it_is_known() {
        let mut station = station();
        let mut asked = |millis| station.questions(Instant::from_millis(millis)).len();
        assert_eq!([0, 1, 999, 1_000, 1_999, 5_000].map(&mut asked), [2, 0, 0, 2, 0, 2]);
        station.known = Some(THERE);
        assert_eq!(station.questions(Instant::from_millis(9_000)).len(), 0);
    }

    #[test]
    fn a_packet_of_its_own_shows_it_and_one_of_another_does_not() {
        let header = [&OWN.0[..], &THERE.0, &[0x08, 0x00]].concat();
        let packet = |source: [u8; 4]| {
            let mut packet = vec![0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0];
            packet.extend(source);
            packet.extend([10, 0, 0, 1]);
            [&header[..], &packet].concat()
        };
        let mut station = station();
        station.learn(&packet([10, 0, 0, 3]));
        assert_eq!(station.address(), None);
        station.learn(&packet([10, 0, 0, 2]));
        assert_eq!(station.address(), Some(THERE));
        let mut of_another = packet([10, 0, 0, 2]);
        of_another[11] = 7;
        station.learn(&of_another);
        assert_eq!(station.address(), Some(MacAddress([2, 0, 0, 0, 0, 7])), "it was replaced");
        of_another[6] |= 1;
        of_another[11] = 8;
        station.learn(&of_another);
        assert_eq!(station.address(), Some(MacAddress([2, 0, 0, 0, 0, 7])), "a group sends nothing");
    }

    proptest! {
        #[test]
        fn any_frame_is_looked_at(frame in prop::collection::vec(any::<u8>(), 0..100), kind in 0..4_u8) {
            let mut frame = frame;
            if let Some(place) = frame.get_mut(12..14) {
                place.copy_from_slice(&[[8, 6], [8, 0], [0x86, 0xdd], [0x88, 0xcc]][usize::from(kind)]);
            }
            let mut station = station();
            station.learn(&frame);
            prop_assert!(station.address().is_none_or(|address| !address.is_group()));
        }
    }
}
