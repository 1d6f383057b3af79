//! Messages of netlink: a header, a fixed part and attributes, in the machine's byte order.

use std::net::Ipv6Addr;

/// Kind of an answer that says if a request was done (NLMSG_ERROR).
const ERROR: u16 = 2;
/// Flags of a request: NLM_F_REQUEST and NLM_F_ACK.
const REQUEST: u16 = 0x1 | 0x4;
/// Flags of an answer: it quotes the header of the request alone (NLM_F_CAPPED); attributes follow (NLM_F_ACK_TLVS).
const CAPPED: u16 = 0x100;
const WITH_ATTRIBUTES: u16 = 0x200;
/// Attribute of an answer that has the kernel's words (NLMSGERR_ATTR_MSG).
const WORDS: u16 = 1;
const HEADER: usize = 16;

/// Request under construction.
#[derive(Debug)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Begins a request of a kind with its fixed part; an answer is asked for.
    pub(super) fn new(kind: u16, flags: u16, fixed: &[u8]) -> Self {
        let mut octets = vec![0; HEADER];
        octets[4..6].copy_from_slice(&kind.to_ne_bytes());
        octets[6..8].copy_from_slice(&(flags | REQUEST).to_ne_bytes());
        octets.extend(fixed);
        Self(octets)
    }

    /// Adds an attribute.
    pub(super) fn attribute(&mut self, kind: u16, value: &[u8]) -> &mut Self {
        self.nested(kind, |message| message.0.extend(value))
    }

    /// Adds an attribute that is a string.
    pub(super) fn string(&mut self, kind: u16, text: &str) -> &mut Self {
        self.nested(kind, |message| {
            message.0.extend(text.as_bytes());
            message.0.push(0);
        })
    }

    /// Adds an attribute that `fill` writes: a fixed part or other attributes.
    pub(super) fn nested(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) -> &mut Self {
        let start = self.0.len();
        self.0.extend([0; 2]);
        self.0.extend(kind.to_ne_bytes());
        fill(self);
        let len = u16::try_from(self.0.len() - start).expect("names and numbers alone");
        self.0[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Adds octets that are no attribute.
    pub(super) fn fixed(&mut self, octets: &[u8]) {
        self.0.extend(octets);
    }

    /// Gives the whole message, with the number that its answer will quote.
    pub(super) fn finish(mut self, sequence: u32) -> Vec<u8> {
        let len = u32::try_from(self.0.len()).expect("names and numbers alone");
        self.0[..4].copy_from_slice(&len.to_ne_bytes());
        self.0[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.0
    }
}

/// Outcome of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The kernel has done it.
    Done,
    /// The kernel has refused it, perhaps with words.
    Refused { errno: i32, detail: Option<String> },
}

/// Message of the kernel, of which the body begins with a fixed part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    pub(super) kind: u16,
    flags: u16,
    sequence: u32,
    body: &'a [u8],
}

/// Messages among what was read at one time, as far as they can be read.
pub(super) fn messages(octets: &[u8]) -> impl Iterator<Item = Heard<'_>> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        let (len, kind, flags) = (u32_at(rest, 0)?, u16_at(rest, 4)?, u16_at(rest, 6)?);
        let (sequence, len) = (u32_at(rest, 8)?, usize::try_from(len).ok()?);
        let body = rest.get(HEADER..len)?;
        // The last one need not be filled up.
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some(Heard { kind, flags, sequence, body })
    })
}

/// The answer to the request of this number, if it is among what was read at one time.
pub(super) fn answer(octets: &[u8], sequence: u32) -> Option<Answer> {
    let heard = messages(octets).find(|heard| heard.kind == ERROR && heard.sequence == sequence)?;
    let errno = i32::from_ne_bytes(*heard.body.first_chunk()?).checked_neg()?;
    if errno == 0 {
        return Some(Answer::Done);
    }
    Some(Answer::Refused { errno, detail: words(heard.body.get(4..)?, heard.flags) })
}

impl Heard<'_> {
    /// Tells if this is the news of a link, by its number, that is up and has a carrier (`struct ifinfomsg`).
    pub(super) fn is_running(&self, index: u32) -> bool {
        /// RTM_NEWLINK, and the flags IFF_UP and IFF_RUNNING.
        const NEW_LINK: u16 = 16;
        const RUNNING: u32 = 0x1 | 0x40;
        let flags = u32_at(self.body, 8).unwrap_or_default();
        self.kind == NEW_LINK && u32_at(self.body, 4) == Some(index) && flags & RUNNING == RUNNING
    }

    /// State of a link, by its number: its flags, its MTU, and whether it is a port of another link.
    pub(super) fn state(&self, index: u32) -> Option<(u32, u32, bool)> {
        /// RTM_NEWLINK, IFLA_MTU, IFLA_MASTER and the length of `struct ifinfomsg`.
        const NEW_LINK: u16 = 16;
        const MTU: u16 = 4;
        const MASTER: u16 = 10;
        const FIXED: usize = 16;
        let (own, flags) = (u32_at(self.body, 4)?, u32_at(self.body, 8)?);
        let attributes = self.body.get(FIXED..)?;
        let mtu = u32_at(attribute(attributes, MTU)?, 0)?;
        let is_it = self.kind == NEW_LINK && own == index;
        is_it.then(|| (flags, mtu, attribute(attributes, MASTER).is_some()))
    }

    /// Tells if this is the news of a route by which the machine takes packets to an address of IPv6 as its own
    /// (`struct rtmsg`).
    pub(super) fn is_own(&self, address: Ipv6Addr) -> bool {
        /// RTM_NEWROUTE, RTN_LOCAL and RTA_DST.
        const NEW_ROUTE: u16 = 24;
        const LOCAL: u8 = 2;
        const DESTINATION: u16 = 1;
        let is_local = matches!(self.body, [_, 128, _, _, _, _, _, LOCAL, ..]);
        let attributes = self.body.get(12..).unwrap_or_default();
        self.kind == NEW_ROUTE && is_local && attribute(attributes, DESTINATION) == Some(&address.octets())
    }
}

/// Value of the first attribute of a kind.
fn attribute(octets: &[u8], kind: u16) -> Option<&[u8]> {
    let mut rest = octets;
    loop {
        let (len, found) = (usize::from(u16_at(rest, 0)?), u16_at(rest, 2)?);
        let value = rest.get(4..len)?;
        if found == kind {
            return Some(value);
        }
        rest = rest.get(len.next_multiple_of(4)..)?;
    }
}

/// The kernel's words behind what it quotes of the request.
fn words(quoted: &[u8], flags: u16) -> Option<String> {
    if flags & WITH_ATTRIBUTES == 0 {
        return None;
    }
    let quoted_len =
        if flags & CAPPED == 0 { usize::try_from(u32_at(quoted, 0)?).ok()?.max(HEADER) } else { HEADER };
    let value = attribute(quoted.get(quoted_len.checked_next_multiple_of(4)?..)?, WORDS)?;
    let end = value.iter().position(|&octet| octet == 0).unwrap_or(value.len());
    Some(String::from_utf8_lossy(&value[..end]).into_owned())
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().copied().map(u16::from_ne_bytes)
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer to the request 7.
    fn said(errno: i32, flags: u16, behind: &[u8]) -> Vec<u8> {
        let quoted = Message::new(16, 0, &[]).finish(7);
        let mut message = Message::new(ERROR, flags, &(-errno).to_ne_bytes());
        message.fixed(&quoted);
        message.fixed(behind);
        message.finish(7)
    }

    fn words_of_the_kernel() -> Vec<u8> {
        let mut message = Message(Vec::new());
        message.attribute(2, &[1, 2, 3, 4]).string(WORDS, "no such thing");
        message.0
    }

    #[test]
    fn a_message_is_laid_out_as_the_kernel_reads_it() {
        let mut message = Message::new(0x0102, 0x400, &[9, 9, 9, 9]);
        message.string(3, "ab").nested(5, |inner| {
            inner.attribute(6, &[1]);
        });
        let octets = message.finish(0x0a0b_0c0d);
        let mut expected = Vec::new();
        expected.extend(40_u32.to_ne_bytes());
        expected.extend(0x0102_u16.to_ne_bytes());
        expected.extend(0x405_u16.to_ne_bytes());
        expected.extend(0x0a0b_0c0d_u32.to_ne_bytes());
        expected.extend([0, 0, 0, 0, 9, 9, 9, 9]);
        expected.extend([7_u16, 3].map(u16::to_ne_bytes).concat());
        expected.extend(*b"ab\0\0");
        expected.extend([12_u16, 5, 5, 6].map(u16::to_ne_bytes).concat());
        expected.extend([1, 0, 0, 0]);
        assert_eq!(octets, expected);
    }

    #[test]
    fn news_are_of_one_link_or_address() {
        let heard = |kind, fixed: &[u8]| Message::new(kind, 0, fixed).finish(0);
        let link = |index: u32, flags: u32| {
            heard(16, &[[0; 4], index.to_ne_bytes(), flags.to_ne_bytes(), [0; 4]].concat())
        };
        for (octets, expected) in [
            (link(3, 0x41), true),
            (link(4, 0x41), false),
            (link(3, 0x01), false),
            (link(3, 0x40), false),
            (heard(17, &link(3, 0x41)[16..]), false),
            (heard(16, &[0; 7]), false),
        ] {
            assert_eq!(messages(&octets).any(|heard| heard.is_running(3)), expected, "{octets:?}");
        }
        let route = |kind, prefix, local, last| {
            let mut message = Message::new(kind, 0, &[10, prefix, 0, 0, 255, 2, 0, local, 0, 0, 0, 0]);
            message.attribute(4, &[1, 0, 0, 0]).attribute(1, &Ipv6Addr::from([last; 16]).octets());
            message.finish(0)
        };
        for (octets, expected) in [
            (route(24, 128, 2, 7), true),
            (route(25, 128, 2, 7), false),
            (route(24, 64, 2, 7), false),
            (route(24, 128, 1, 7), false),
            (route(24, 128, 2, 8), false),
            (route(24, 128, 2, 7)[..40].to_vec(), false),
        ] {
            let is_own = |heard: Heard<'_>| heard.is_own([7; 16].into());
            assert_eq!(messages(&octets).any(is_own), expected, "{octets:?}");
        }
    }

    #[test]
    fn the_state_of_a_link_is_in_its_attributes() {
        let link = |master: &[u16]| {
            let mut message =
                Message::new(16, 0, &[[0; 4], 3_u32.to_ne_bytes(), 1_u32.to_ne_bytes(), [0; 4]].concat());
            message.string(3, "eth1").attribute(4, &1_400_u32.to_ne_bytes());
            for kind in master {
                message.attribute(*kind, &7_u32.to_ne_bytes());
            }
            message.finish(0)
        };
        let state = |octets: &[u8], index| messages(octets).next().and_then(|heard| heard.state(index));
        assert_eq!(state(&link(&[]), 3), Some((1, 1_400, false)));
        assert_eq!(state(&link(&[9, 10]), 3), Some((1, 1_400, true)));
        assert_eq!(state(&link(&[]), 4), None);
        assert_eq!(state(&link(&[])[..36], 3), None);
    }

    #[test]
    fn an_answer_is_found_by_its_number_with_the_kernel_s_words() {
        let words = words_of_the_kernel();
        let detail = Some("no such thing".to_owned());
        for flags in [WITH_ATTRIBUTES, WITH_ATTRIBUTES | CAPPED] {
            let answered = answer(&said(19, flags, &words), 7);
            assert_eq!(answered, Some(Answer::Refused { errno: 19, detail: detail.clone() }));
        }
        assert_eq!(answer(&said(19, 0, &words), 7), Some(Answer::Refused { errno: 19, detail: None }));
        assert_eq!(answer(&said(0, CAPPED, &[]), 7), Some(Answer::Done));
        assert_eq!(answer(&said(0, CAPPED, &[]), 8), None);
        let others = Message::new(16, 0, &[0; 5]).finish(7);
        let behind = [&others[..], &[0; 3], &said(0, CAPPED, &[])].concat();
        assert_eq!(answer(&behind, 7), Some(Answer::Done));
    }

    proptest::proptest! {
        #[test]
        fn what_is_said_is_read_wherever_it_stands(
            errno in 0..4_096,
            sequence: u32,
            before in proptest::collection::vec(proptest::num::u8::ANY, 0..40),
            (words, is_capped) in ("[ -~]{0,40}", proptest::bool::ANY),
        ) {
            let mut attributes = Message(Vec::new());
            attributes.string(WORDS, &words);
            let flags = WITH_ATTRIBUTES | if is_capped { CAPPED } else { 0 };
            let mut said = Message::new(ERROR, flags, &i32::wrapping_neg(errno).to_ne_bytes());
            said.fixed(&Message::new(16, 0, &[]).finish(sequence));
            said.fixed(&attributes.0);
            let mut other = Message::new(16, 0, &before).finish(sequence);
            other.resize(other.len().next_multiple_of(4), 0);
            let octets = [other, said.finish(sequence)].concat();
            let expected =
                if errno == 0 { Answer::Done } else { Answer::Refused { errno, detail: Some(words) } };
            proptest::prop_assert_eq!(answer(&octets, sequence), Some(expected));
        }

        #[test]
        fn octets_of_nobody_are_no_answer_or_one(
            octets in proptest::collection::vec(proptest::num::u8::ANY, 0..120), sequence: u32,
        ) {
            let _ = answer(&octets, sequence);
            for heard in messages(&octets) {
                let _ = (heard.is_running(1), heard.is_own(Ipv6Addr::LOCALHOST));
            }
        }
    }

    #[test]
    fn any_octets_are_read_to_an_end() {
        let whole = said(19, WITH_ATTRIBUTES, &words_of_the_kernel());
        for len in 0..whole.len() {
            assert_eq!(answer(&whole[..len], 7), None, "{len}");
        }
        for at in (0..whole.len() - 3).step_by(2) {
            for value in [0_u32, 3, 17, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
                let mut octets = whole.clone();
                octets[at..at + 4].copy_from_slice(&value.to_ne_bytes());
                let _ = answer(&octets, 7);
            }
        }
    }
}
