//! Answers to ARP (RFC 826) and to neighbour solicitations (RFC 4861), in the name of a simulated network.
//!
//! The network at an interface's other end has no link layer. Whoever asks for an address gets one given MAC
//! address, and sends its packets there. No answer gets whoever asks for its own addresses, or if an address is free:
//! an answer would tell it that the address is taken. Router solicitations get none.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slantpath_wire::ethernet::ETHERNET_HEADER_LEN;
use slantpath_wire::ethernet::ether_type::{ARP, IPV6};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::{Reader, WireError, checksum};

use crate::frames::{MacAddress, ethernet};
use crate::ip::IpExtent;

/// The answer to a frame that asks for the MAC address of an IP address, as a whole frame: `own` has it. `None`
/// to any other frame, and to one that asks for one of `attached`, the addresses of the node at the interface.
pub fn answer(frame: &[u8], own: MacAddress, attached: &[IpAddr]) -> Option<Vec<u8>> {
    let (header, behind) = frame.split_first_chunk::<ETHERNET_HEADER_LEN>()?;
    let mut reader = Reader::new(header);
    let destination = MacAddress(reader.array().ok()?);
    let source = MacAddress(reader.array().ok()?);
    let ether_type = reader.u16().ok()?;
    if !(destination.is_group() || destination == own) || source.is_group() {
        return None;
    }
    let may_ask_for = |address: IpAddr| !attached.contains(&address) && is_of_a_node(address);
    match ether_type {
        ARP => {
            let request = ArpRequest::parse(behind).ok()??;
            may_ask_for(request.target.into()).then(|| request.reply(own))
        }
        IPV6 => {
            let solicitation = Solicitation::parse(behind, source).ok()??;
            may_ask_for(solicitation.target.into()).then(|| solicitation.advertisement(own))?
        }
        _ => None,
    }
}

/// Tells if a node on a link may have this address.
fn is_of_a_node(address: IpAddr) -> bool {
    let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
    !(address.is_unspecified() || address.is_multicast() || address.is_loopback() || is_broadcast)
}

/// A request of ARP for IPv4 over Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArpRequest {
    sender_hardware: MacAddress,
    sender: Ipv4Addr,
    target: Ipv4Addr,
}

/// Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses.
pub(crate) const ARP_OF_ETHERNET: [u8; 6] = [0, 1, 0x08, 0x00, 6, 4];
const ARP_REQUEST: u16 = 1;
const ARP_REPLY: u16 = 2;

impl ArpRequest {
    /// Reads what stands behind a frame's header; `None` if it is no request, a probe or an announcement.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, WireError> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != ARP_OF_ETHERNET || reader.u16()? != ARP_REQUEST {
            return Ok(None);
        }
        let sender_hardware = MacAddress(reader.array()?);
        let sender = Ipv4Addr::from(reader.array::<4>()?);
        reader.take(6)?;
        let target = Ipv4Addr::from(reader.array::<4>()?);
        // RFC 5227, section 1.1: an "ARP Probe" has an all-zero sender address; an "ARP Announcement" has its own
        // address in both fields. An answer to either would be a conflict.
        let asks = !sender.is_unspecified() && sender != target && !sender_hardware.is_group();
        Ok(asks.then_some(Self { sender_hardware, sender, target }))
    }

    fn reply(&self, own: MacAddress) -> Vec<u8> {
        let [r0, r1] = ARP_REPLY.to_be_bytes();
        let [t0, t1] = ARP.to_be_bytes();
        [
            &self.sender_hardware.0[..],
            &own.0,
            &[t0, t1],
            &ARP_OF_ETHERNET,
            &[r0, r1],
            &own.0,
            &self.target.octets(),
            &self.sender_hardware.0,
            &self.sender.octets(),
        ]
        .concat()
    }
}

/// A neighbour solicitation (RFC 4861, section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Solicitation {
    sender_hardware: MacAddress,
    sender: Ipv6Addr,
    target: Ipv6Addr,
}

const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const SOURCE_LINK_LAYER_ADDRESS: u8 = 1;
const TARGET_LINK_LAYER_ADDRESS: u8 = 2;
/// Proof that no router has forwarded the packet (RFC 4861, section 7.1.1).
const UNFORWARDED: u8 = 255;
/// Flags "solicited" and "override". The flag "router" is not set: nothing here is found by router advertisements.
const SOLICITED_OVERRIDE: u8 = 0x60;

impl Solicitation {
    /// Reads a packet that came from the station `source`; `None` if it is no solicitation, or no valid one, or a
    /// probe for duplicates (RFC 4862, section 5.4.2).
    fn parse(bytes: &[u8], source: MacAddress) -> Result<Option<Self>, WireError> {
        let Ok(IpExtent { header, header_len, len }) = IpExtent::of(bytes) else { return Ok(None) };
        let (IpAddr::V6(sender), IpAddr::V6(destination)) = (header.source, header.destination) else {
            return Ok(None);
        };
        let is_whole = header.fragmentation == Fragmentation::Forbidden;
        if header.protocol != protocol::ICMPV6 || header.hop_limit != UNFORWARDED || !is_whole {
            return Ok(None);
        }
        let message = &bytes[header_len..len];
        let mut reader = Reader::new(message);
        let is_solicitation = reader.array()? == [NEIGHBOUR_SOLICITATION, 0];
        // Checksum and reserved field.
        reader.take(6)?;
        let target = Ipv6Addr::from(reader.array::<16>()?);
        let source = link_layer_address(reader, SOURCE_LINK_LAYER_ADDRESS)?.unwrap_or(source);
        let sum =
            checksum::with_pseudo_header(sender.into(), destination.into(), protocol::ICMPV6, &[message]);
        let asks = is_solicitation && sum == 0 && !sender.is_unspecified() && !sender.is_multicast();
        Ok((asks && !source.is_group()).then_some(Self { sender_hardware: source, sender, target }))
    }

    fn advertisement(&self, own: MacAddress) -> Option<Vec<u8>> {
        let message = message(
            [NEIGHBOUR_ADVERTISEMENT, SOLICITED_OVERRIDE, TARGET_LINK_LAYER_ADDRESS],
            self.target,
            own,
        );
        discovery(self.sender_hardware, own, self.target, self.sender, message)
    }
}

/// The length of a solicitation or an advertisement with a link-layer address.
const DISCOVERY_LEN: u16 = 32;
type Message = [u8; DISCOVERY_LEN as usize];

/// A message of neighbour discovery about an address, with a link-layer address as its option. Its type, its flags and
/// the kind of that option are given.
fn message([kind, flags, option]: [u8; 3], target: Ipv6Addr, hardware: MacAddress) -> Message {
    let mut message = [0; DISCOVERY_LEN as usize];
    message[0] = kind;
    message[4] = flags;
    message[8..24].copy_from_slice(&target.octets());
    message[24..26].copy_from_slice(&[option, 1]);
    message[26..].copy_from_slice(&hardware.0);
    message
}

/// The frame of such a message, between these stations and addresses.
fn discovery(
    destination: MacAddress,
    own: MacAddress,
    from: Ipv6Addr,
    to: Ipv6Addr,
    mut message: Message,
) -> Option<Vec<u8>> {
    let (from, to) = (from.into(), to.into());
    let sum = checksum::with_pseudo_header(from, to, protocol::ICMPV6, &[&message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = IpHeader {
        source: from,
        destination: to,
        protocol: protocol::ICMPV6,
        hop_limit: UNFORWARDED,
        traffic_class: 0,
        payload_len: DISCOVERY_LEN,
        fragmentation: Fragmentation::Forbidden,
    };
    let mut packet = vec![0; header.header_len()];
    header.emit(&mut packet);
    packet.extend_from_slice(&message);
    let frame_header = ethernet(destination, own, &packet)?;
    Some([&frame_header[..], &packet].concat())
}

/// The frame by which `own` asks for the MAC address of `target`, in the name of the address `from`.
pub(crate) fn solicitation(own: MacAddress, from: Ipv6Addr, target: Ipv6Addr) -> Option<Vec<u8>> {
    let group = solicited_group(target);
    let [.., a, b, c, d] = group.octets();
    let message = message([NEIGHBOUR_SOLICITATION, 0, SOURCE_LINK_LAYER_ADDRESS], target, own);
    discovery(MacAddress([0x33, 0x33, a, b, c, d]), own, from, group, message)
}

/// Group that everybody with an address listens to who may be asked for it (RFC 4291, section 2.7.1).
fn solicited_group(target: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = target.octets();
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}

/// The frame by which `own` asks for an address of IPv4.
pub(crate) fn arp_request(own: MacAddress, from: Ipv4Addr, target: Ipv4Addr) -> Vec<u8> {
    let [r0, r1] = ARP_REQUEST.to_be_bytes();
    let [t0, t1] = ARP.to_be_bytes();
    let all = [0xff; 6];
    [
        &all[..],
        &own.0,
        &[t0, t1],
        &ARP_OF_ETHERNET,
        &[r0, r1],
        &own.0,
        &from.octets(),
        &[0; 6],
        &target.octets(),
    ]
    .concat()
}

/// Address that a neighbour advertisement is about, and the MAC address that it names. `message` is behind `header`.
pub(crate) fn advertised(header: &IpHeader, message: &[u8]) -> Option<(Ipv6Addr, Option<MacAddress>)> {
    // RFC 6980: neighbours void fragments.
    let is_whole = header.fragmentation == Fragmentation::Forbidden;
    let is_one = header.protocol == protocol::ICMPV6 && header.hop_limit == UNFORWARDED && is_whole;
    // What lies behind is a frame's padding.
    let message = message.get(..usize::from(header.payload_len))?;
    let mut reader = Reader::new(message);
    let is_advertisement = is_one && reader.array().ok()? == [NEIGHBOUR_ADVERTISEMENT, 0];
    // Checksum, flags and reserved field.
    reader.take(6).ok()?;
    let target = Ipv6Addr::from(reader.array::<16>().ok()?);
    let sum = checksum::with_pseudo_header(header.source, header.destination, protocol::ICMPV6, &[message]);
    let hardware = link_layer_address(reader, TARGET_LINK_LAYER_ADDRESS).ok()?;
    (is_advertisement && sum == 0).then_some((target, hardware))
}

/// Looks for a link-layer address of this kind among the options of a message.
fn link_layer_address(mut options: Reader<'_>, wanted: u8) -> Result<Option<MacAddress>, WireError> {
    let mut found = None;
    while !options.is_empty() {
        let [kind, words] = options.array()?;
        // An option of no length makes the whole message void (RFC 4861, section 4.6).
        let Some(len) = (usize::from(words) * 8).checked_sub(2) else {
            return Err(WireError::BadValue { field: "option length", value: 0 });
        };
        let mut value = Reader::new(options.take(len)?);
        if kind == wanted && words == 1 {
            found = Some(MacAddress(value.array()?));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 9]);
    const HOST: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const ALL: MacAddress = MacAddress([0xff; 6]);

    fn arp(operation: u8, sender: [u8; 4], target: [u8; 4]) -> Vec<u8> {
        [
            &ALL.0[..],
            &HOST.0,
            &[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, operation],
            &HOST.0,
            &sender,
            &[0; 6],
            &target,
        ]
        .concat()
    }

    fn attached() -> [IpAddr; 2] {
        [IpAddr::from([10, 0, 0, 1]), address(1).into()]
    }

    fn address(last: u16) -> Ipv6Addr {
        Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last)
    }

    fn asked(frame: &[u8]) -> Option<Vec<u8>> {
        answer(frame, OWN, &attached())
    }

    #[test]
    fn whoever_asks_by_arp_is_told_the_given_address() {
        let mut request = arp(1, [10, 0, 0, 1], [192, 0, 2, 7]);
        let expected = [
            2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 9, 192, 0,
            2, 7, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1,
        ];
        assert_eq!(asked(&request).as_deref(), Some(&expected[..]));
        request.resize(60, 0);
        assert_eq!(asked(&request).as_deref(), Some(&expected[..]), "padded");
        request[..6].copy_from_slice(&OWN.0);
        assert_eq!(asked(&request).as_deref(), Some(&expected[..]), "a unicast poll (RFC 1122)");
        request[..6].copy_from_slice(&[2, 0, 0, 0, 0, 8]);
        assert_eq!(asked(&request), None, "to another station");
    }

    #[test]
    fn the_reply_goes_to_the_hardware_address_in_the_request() {
        let mut request = arp(1, [10, 0, 0, 1], [192, 0, 2, 7]);
        request[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 5]);
        let reply = asked(&request).unwrap();
        assert_eq!((&reply[..6], &reply[32..38]), (&HOST.0[..], &HOST.0[..]));
    }

    #[test]
    fn probes_announcements_and_own_addresses_get_no_answer_by_arp() {
        assert!(asked(&arp(1, [10, 0, 0, 1], [10, 0, 0, 2])).is_some());
        assert_eq!(asked(&arp(1, [0; 4], [10, 0, 0, 2])), None, "a probe");
        assert_eq!(asked(&arp(1, [10, 0, 0, 2], [10, 0, 0, 2])), None, "an announcement");
        assert_eq!(asked(&arp(1, [10, 0, 0, 5], [10, 0, 0, 1])), None, "for an attached address");
        assert_eq!(asked(&arp(2, [10, 0, 0, 1], [10, 0, 0, 2])), None, "a reply");
        for target in [[0; 4], [255; 4], [224, 0, 0, 1], [127, 0, 0, 1]] {
            assert_eq!(asked(&arp(1, [10, 0, 0, 1], target)), None, "{target:?}");
        }
    }

    #[test]
    fn requests_that_are_not_of_ipv4_over_ethernet_get_no_answer() {
        let request = arp(1, [10, 0, 0, 1], [10, 0, 0, 2]);
        for at in 14..22 {
            let mut other = request.clone();
            other[at] ^= 0x10;
            assert_eq!(asked(&other), None, "octet {at}");
        }
        for len in 0..request.len() {
            assert_eq!(asked(&request[..len]), None, "{len} octets");
        }
        let mut from_a_group = request.clone();
        from_a_group[6] |= 1;
        assert_eq!(asked(&from_a_group), None);
        let mut of_a_group = request.clone();
        of_a_group[22] |= 1;
        assert_eq!(asked(&of_a_group), None);
        let mut tagged = request;
        tagged[12] = 0x81;
        assert_eq!(asked(&tagged), None);
    }

    /// A solicitation for `target` with these options.
    fn solicitation(sender: Ipv6Addr, destination: Ipv6Addr, target: Ipv6Addr, options: &[u8]) -> Vec<u8> {
        let mut message = vec![135, 0, 0, 0, 0, 0, 0, 0];
        message.extend_from_slice(&target.octets());
        message.extend_from_slice(options);
        icmpv6(sender, destination, 255, message)
    }

    fn icmpv6(sender: Ipv6Addr, destination: Ipv6Addr, hop_limit: u8, mut message: Vec<u8>) -> Vec<u8> {
        let sum = checksum::with_pseudo_header(sender.into(), destination.into(), 58, &[&message]);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let length = u8::try_from(message.len()).unwrap();
        [
            &[0x33, 0x33, 0xff, 0, 0, 2][..],
            &HOST.0,
            &[0x86, 0xdd, 0x60, 0, 0, 0, 0, length, 58, hop_limit],
            &sender.octets(),
            &destination.octets(),
            &message,
        ]
        .concat()
    }

    const SOLICITED_NODE: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 2);
    const SOURCE_OPTION: [u8; 8] = [1, 1, 2, 0, 0, 0, 0, 1];

    fn is_the_advertisement(frame: &[u8], to: MacAddress, target: Ipv6Addr) {
        assert_eq!(frame[..6], to.0);
        assert_eq!(frame[6..14], [2, 0, 0, 0, 0, 9, 0x86, 0xdd]);
        let (header, header_len) = IpHeader::parse(&frame[14..]).unwrap();
        assert_eq!((header.source, header.destination), (target.into(), address(1).into()));
        assert_eq!((header.hop_limit, header.protocol, header.payload_len), (255, 58, 32));
        let message = &frame[14 + header_len..];
        assert_eq!(message.len(), 32);
        assert_eq!((&message[..2], &message[4..8]), (&[136, 0][..], &[0x60, 0, 0, 0][..]));
        assert_eq!(message[8..24], target.octets());
        assert_eq!(message[24..], [2, 1, 2, 0, 0, 0, 0, 9]);
        let sum = checksum::with_pseudo_header(header.source, header.destination, 58, &[message]);
        assert_eq!(sum, 0);
    }

    #[test]
    fn whoever_solicits_a_neighbour_is_told_the_given_address() {
        let frame = solicitation(address(1), SOLICITED_NODE, address(2), &SOURCE_OPTION);
        is_the_advertisement(&asked(&frame).unwrap(), HOST, address(2));
        // A probe of reachability goes to the address itself, and may leave the option out.
        let mut unicast = solicitation(address(1), address(2), address(2), &[]);
        unicast[..6].copy_from_slice(&OWN.0);
        is_the_advertisement(&asked(&unicast).unwrap(), HOST, address(2));
        // The option counts before the frame's source, whatever stands around it.
        let nonce = [14, 1, 9, 9, 9, 9, 9, 9];
        let options = [&nonce[..], &[1, 1, 2, 0, 0, 0, 0, 7], &nonce].concat();
        let frame = solicitation(address(1), SOLICITED_NODE, address(2), &options);
        is_the_advertisement(&asked(&frame).unwrap(), MacAddress([2, 0, 0, 0, 0, 7]), address(2));
        let mut padded = solicitation(address(1), SOLICITED_NODE, address(2), &SOURCE_OPTION);
        padded.extend([0; 9]);
        is_the_advertisement(&asked(&padded).unwrap(), HOST, address(2));
    }

    #[test]
    fn duplicate_address_detection_and_own_addresses_get_no_advertisement() {
        let none = |sender, target, options: &[u8]| {
            assert_eq!(
                asked(&solicitation(sender, SOLICITED_NODE, target, options)),
                None,
                "{sender} {target}"
            );
        };
        none(Ipv6Addr::UNSPECIFIED, address(2), &[]);
        none(address(1), address(1), &SOURCE_OPTION);
        none(SOLICITED_NODE, address(2), &[]);
        none(address(1), SOLICITED_NODE, &SOURCE_OPTION);
        none(address(1), Ipv6Addr::UNSPECIFIED, &SOURCE_OPTION);
        none(address(1), Ipv6Addr::LOCALHOST, &SOURCE_OPTION);
    }

    #[test]
    fn what_is_no_valid_solicitation_gets_no_advertisement() {
        let message = |kind: u8, code: u8, options: &[u8]| {
            let mut message = vec![kind, code, 0, 0, 0, 0, 0, 0];
            message.extend_from_slice(&address(2).octets());
            message.extend_from_slice(options);
            message
        };
        let asked = |hop_limit, message| asked(&icmpv6(address(1), SOLICITED_NODE, hop_limit, message));
        assert!(asked(255, message(135, 0, &[])).is_some());
        assert!(asked(254, message(135, 0, &[])).is_none());
        for kind in [133, 134, 136, 137] {
            assert!(asked(255, message(kind, 0, &[])).is_none(), "{kind}");
        }
        assert!(asked(255, message(135, 1, &[])).is_none());
        assert!(asked(255, message(135, 0, &[1, 0, 0, 0, 0, 0, 0, 0])).is_none(), "an option of no octets");
        assert!(asked(255, message(135, 0, &[1, 2, 0, 0, 0, 0, 0, 0])).is_none(), "an option cut off");
        assert!(asked(255, message(135, 0, &[1, 1, 1, 0, 0, 0, 0, 1])).is_none(), "a group's address");
        assert!(asked(255, message(135, 0, &[])[..23].to_vec()).is_none());
        // An address of another length is not ours to read.
        let other = asked(255, message(135, 0, &[[1, 2].as_slice(), &[7; 14]].concat())).unwrap();
        assert_eq!(other[..6], HOST.0);
    }

    #[test]
    fn a_damaged_solicitation_gets_no_advertisement() {
        let frame = solicitation(address(1), SOLICITED_NODE, address(2), &SOURCE_OPTION);
        for at in 14 + 8..frame.len() {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x40;
            assert_eq!(asked(&damaged), None, "octet {at}");
        }
    }

    #[test]
    fn the_octets_of_a_solicitation_in_another_protocol_get_no_advertisement() {
        let mut frame = solicitation(address(1), SOLICITED_NODE, address(2), &SOURCE_OPTION);
        frame[20] = 17;
        assert_eq!(asked(&frame), None);
    }

    #[test]
    fn a_solicitation_in_a_fragment_gets_no_advertisement() {
        let frame = solicitation(address(1), SOLICITED_NODE, address(2), &[]);
        let mut fragment = frame[..54].to_vec();
        fragment[19] += 8;
        fragment[20] = 44;
        fragment.extend([58, 0, 0, 0, 0, 0, 0, 1]);
        fragment.extend_from_slice(&frame[54..]);
        assert_eq!(asked(&fragment), None);
    }

    #[test]
    fn a_group_has_the_last_octets_of_its_address() {
        let target = "2001:db8::12:3456:789a".parse().unwrap();
        assert_eq!(solicited_group(target), "ff02::1:ff56:789a".parse::<Ipv6Addr>().unwrap());
    }

    proptest! {
        #[test]
        fn any_frame_has_an_answer_or_none(mut frame: Vec<u8>, kind in prop::sample::select(vec![ARP, IPV6])) {
            if let Some(field) = frame.get_mut(12..14) {
                field.copy_from_slice(&kind.to_be_bytes());
            }
            let _ = asked(&frame);
        }

        #[test]
        fn any_change_of_a_solicitation_is_survived(at: prop::sample::Index, octet: u8, len: prop::sample::Index) {
            let mut frame = solicitation(address(1), SOLICITED_NODE, address(2), &SOURCE_OPTION);
            let at = at.index(frame.len());
            frame[at] = octet;
            frame.truncate(len.index(frame.len() + 1));
            let _ = asked(&frame);
        }

        #[test]
        fn every_address_but_the_attached_nodes_is_answered(target: [u8; 4], own: [u8; 6]) {
            let own = MacAddress(own);
            let target_address = IpAddr::from(target);
            prop_assume!(is_of_a_node(target_address) && !attached().contains(&target_address));
            let reply = answer(&arp(1, [10, 0, 0, 1], target), own, &attached()).unwrap();
            prop_assert_eq!(&reply[22..28], &own.0[..]);
            prop_assert_eq!(&reply[28..32], &target[..]);
        }
    }
}
