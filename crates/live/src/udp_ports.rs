//! The UDP ports of peers, as their packets show them (RFC 6951, section 5.1).

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

/// Whose port it is: a peer's address and SCTP port, and the own SCTP port. Behind a translator of addresses two peers
/// with one address differ in their SCTP ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) address: IpAddr,
    pub(crate) peer_port: u16,
    pub(crate) own_port: u16,
}

impl Key {
    /// Key of the association at no certain address.
    const fn anywhere(self) -> Self {
        Self { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), ..self }
    }
}

/// Number of ports that are kept for sure, more than two for each association of a host; at most twice as many are
/// kept.
const KEPT: usize = 524_288;

/// UDP ports that have been learned, for each association: the tag that packets to its peer bear tells it from others
/// of the same addresses and ports, above all from those before it. Bounded: a port that has not been heard of while so
/// many others were is forgotten, and so, in time, is that of an association that ended.
#[derive(Debug)]
pub(crate) struct UdpPorts {
    default: u16,
    young: Learned,
    old: Learned,
    /// Origin of the packet at hand, to which the answer goes whoever sent it.
    at_hand: Option<(Key, u16)>,
}

/// The tag of packets to a peer that is being called.
const NO_TAG: u32 = 0;

/// Ports of peers, by the tag that packets to them bear.
//
//= https://www.rfc-editor.org/rfc/rfc6951#section-5.1
//# An SCTP implementation supporting UDP encapsulation MUST maintain a
//# remote UDP encapsulation port number per destination address for each
//# SCTP association.
#[derive(Debug, Default)]
struct Learned {
    ports: HashMap<(Key, u32), u16>,
    /// Number of them that are not the default port: while all are, nothing has to be looked up to send.
    elsewhere: usize,
}

impl UdpPorts {
    pub(crate) fn new(default: u16) -> Self {
        Self { default, young: Learned::default(), old: Learned::default(), at_hand: None }
    }

    /// A packet has come from this port; what is sent before the next answers it.
    pub(crate) const fn take_in_hand(&mut self, key: Key, port: u16) {
        self.at_hand = Some((key, port));
    }

    /// The packet at hand has been answered.
    pub(crate) const fn put_down(&mut self) {
        self.at_hand = None;
    }

    /// The packet at hand has proved to come from its peer, to whom packets bear this tag.
    //
    //= https://www.rfc-editor.org/rfc/rfc6951#section-5.4
    //# After finding the SCTP association (which
    //# includes checking the verification tag), the UDP source port MUST be
    //# stored as the encapsulation port for the destination address the SCTP
    //# packet is received from (see Section 5.1).
    pub(crate) fn learn(&mut self, tag: u32) {
        let Some((key, port)) = self.at_hand else { return };
        if self.set(key, tag, port) != Some(port) {
            self.set(key.anywhere(), tag, port);
        }
    }

    /// A peer is called behind this port, or behind the default one, and its association is there until it proves to be
    /// behind another.
    pub(crate) fn call(&mut self, key: Key, port: Option<u16>) {
        if port.is_some() || self.learned(key, NO_TAG).is_some() {
            self.set(key, NO_TAG, port.unwrap_or(self.default));
        }
    }

    /// Gives what was known of it and is young.
    fn set(&mut self, key: Key, tag: u32, port: u16) -> Option<u16> {
        let before = self.young.ports.insert((key, tag), port);
        self.young.elsewhere += usize::from(port != self.default);
        self.young.elsewhere -= usize::from(before.is_some_and(|before| before != self.default));
        if before.is_none() && self.young.ports.len() >= KEPT {
            self.old = std::mem::take(&mut self.young);
        }
        before
    }

    /// Tells if a peer has proved to have this port.
    pub(crate) fn has_learned(&self, key: Key, tag: u32, port: u16) -> bool {
        self.learned(key, tag) == Some(port)
    }

    /// The UDP port that a packet with this tag goes to. An address from which nothing has come yet has the port of the
    /// others of its association. Where nothing has been learned at all, the packet answers the one at hand, if that
    /// was of the same peer.
    //
    //= https://www.rfc-editor.org/rfc/rfc6951#section-5.1
    //# Each SCTP stack uses a single local UDP encapsulation port number as
    //# the destination port for all its incoming SCTP packets.
    pub(crate) fn towards(&self, key: Key, tag: u32) -> u16 {
        let is_answer = |(from, _): &(Key, u16)| *from == key && tag != NO_TAG;
        let answered = self.at_hand.filter(is_answer).map(|(_, port)| port);
        if answered.unwrap_or(self.default) == self.default && self.young.elsewhere + self.old.elsewhere == 0
        {
            return self.default;
        }
        let elsewhere = || if tag == NO_TAG { None } else { self.learned(key.anywhere(), tag) };
        let learned =
            self.learned(key, tag).or(answered).or_else(|| self.learned(key, NO_TAG)).or_else(elsewhere);
        learned.unwrap_or(self.default)
    }

    fn learned(&self, key: Key, tag: u32) -> Option<u16> {
        let place = (key, tag);
        self.young.ports.get(&place).or_else(|| self.old.ports.get(&place)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u16) -> Key {
        Key { address: [10, 0, 0, 1].into(), peer_port: number, own_port: 7 }
    }

    /// The tags that packets to the peer of an association bear, and of the one after it.
    const TAG: u32 = 70;
    const NEXT: u32 = 71;

    #[test]
    fn a_strangers_packet_is_answered_where_it_came_from_and_teaches_nothing() {
        let mut ports = UdpPorts::new(9_899);
        ports.take_in_hand(key(1), 40_000);
        assert_eq!(ports.towards(key(1), TAG), 40_000);
        assert_eq!(ports.towards(key(1), NO_TAG), 9_899, "a call is no answer");
        assert_eq!(ports.towards(key(2), TAG), 9_899);
        ports.put_down();
        assert_eq!(ports.towards(key(1), TAG), 9_899);
    }

    #[test]
    fn what_a_peer_has_proved_holds_for_its_association_until_it_proves_another_whoever_claims_to_be_it() {
        let mut ports = UdpPorts::new(9_899);
        ports.take_in_hand(key(1), 40_000);
        ports.learn(TAG);
        ports.put_down();
        ports.take_in_hand(key(1), 50_000);
        assert_eq!(ports.towards(key(1), TAG), 40_000, "not proved");
        assert_eq!(ports.towards(key(1), NEXT), 50_000, "whoever it is, is answered");
        assert!(ports.has_learned(key(1), TAG, 40_000) && !ports.has_learned(key(1), TAG, 50_000));
        assert!(!ports.has_learned(key(1), NEXT, 40_000), "the next one has proved nothing");
        ports.learn(TAG);
        assert_eq!(ports.towards(key(1), TAG), 50_000);
        ports.put_down();
        assert_eq!(ports.towards(key(1), NEXT), 9_899);
    }

    #[test]
    fn a_peer_is_called_where_it_is_said_to_be_and_at_the_usual_port_when_nothing_is_said() {
        let mut ports = UdpPorts::new(9_899);
        ports.call(key(1), None);
        assert!(ports.young.ports.is_empty(), "nothing is kept of what goes without saying");
        ports.call(key(1), Some(40_000));
        assert_eq!([NO_TAG, TAG].map(|tag| ports.towards(key(1), tag)), [40_000; 2]);
        ports.take_in_hand(key(1), 40_001);
        ports.learn(TAG);
        ports.put_down();
        assert_eq!([NO_TAG, TAG, NEXT].map(|tag| ports.towards(key(1), tag)), [40_000, 40_001, 40_000]);
        ports.call(key(1), None);
        assert_eq!([NO_TAG, TAG, NEXT].map(|tag| ports.towards(key(1), tag)), [9_899, 40_001, 9_899]);
    }

    #[test]
    fn an_address_that_is_only_listed_is_behind_the_port_of_its_association_until_it_proves_another() {
        let listed = |number| Key { address: "fd00::2".parse().expect("an address"), ..key(number) };
        let mut ports = UdpPorts::new(9_899);
        ports.take_in_hand(key(1), 40_000);
        ports.learn(TAG);
        assert_eq!(ports.towards(listed(1), TAG), 40_000);
        ports.put_down();
        assert_eq!(ports.towards(listed(1), TAG), 40_000);
        assert_eq!(
            [NO_TAG, NEXT].map(|tag| ports.towards(listed(1), tag)),
            [9_899; 2],
            "another association"
        );
        assert_eq!(ports.towards(listed(2), TAG), 9_899, "another peer");
        assert!(!ports.has_learned(listed(1), TAG, 40_000), "a guess is no proof");
        ports.take_in_hand(listed(1), 50_000);
        ports.learn(TAG);
        ports.put_down();
        assert_eq!([key(1), listed(1)].map(|key| ports.towards(key, TAG)), [40_000, 50_000]);
        ports.call(listed(1), Some(60_000));
        assert_eq!([NO_TAG, TAG].map(|tag| ports.towards(listed(1), tag)), [60_000, 50_000]);
    }

    #[test]
    fn an_association_that_is_heard_of_keeps_the_port_of_its_listed_addresses() {
        let listed = Key { address: [10, 0, 0, 2].into(), ..key(1) };
        let mut ports = UdpPorts::new(9_899);
        for _ in 0..3 {
            ports.take_in_hand(key(1), 40_000);
            ports.learn(TAG);
            ports.put_down();
            ports.old = std::mem::take(&mut ports.young);
            assert_eq!(ports.towards(listed, TAG), 40_000);
        }
    }

    #[test]
    fn how_many_are_elsewhere_is_known_at_any_time() {
        let mut ports = UdpPorts::new(9_899);
        let mut after = |number, port| {
            ports.set(key(number), TAG, port);
            ports.young.elsewhere
        };
        let counts = [(1, 9_899), (1, 40_000), (2, 40_001), (1, 40_002), (1, 9_899), (2, 40_001)];
        assert_eq!(counts.map(|(number, port)| after(number, port)), [0, 1, 2, 2, 1, 1]);
        assert_eq!([1, 2, 3].map(|number| ports.towards(key(number), TAG)), [9_899, 40_001, 9_899]);
    }

    #[test]
    fn what_is_old_is_found_and_what_answers_from_elsewhere_though_all_are_at_the_default_port() {
        let mut ports = UdpPorts::new(9_899);
        ports.set(key(1), TAG, 40_000);
        ports.old = std::mem::take(&mut ports.young);
        assert_eq!((ports.towards(key(1), TAG), ports.towards(key(2), TAG)), (40_000, 9_899));
        let mut ports = UdpPorts::new(9_899);
        ports.set(key(1), TAG, 9_899);
        for (number, goes_to) in [(1, 9_899), (2, 50_000)] {
            ports.take_in_hand(key(number), 50_000);
            assert_eq!(ports.towards(key(number), TAG), goes_to);
        }
    }

    #[test]
    fn as_many_are_kept_as_that_and_never_more_than_twice() {
        let mut ports = UdpPorts::new(9_899);
        for own_port in 0..12 {
            for number in 0..=u16::MAX {
                ports.take_in_hand(Key { own_port, ..key(number) }, 1);
                ports.learn(TAG);
                ports.put_down();
            }
            assert!(ports.young.ports.len() + ports.old.ports.len() <= 2 * KEPT);
        }
        assert_eq!(ports.towards(Key { own_port: 11, ..key(9) }, TAG), 1);
        assert_eq!(ports.towards(Key { own_port: 0, ..key(9) }, TAG), 9_899);
    }
}
