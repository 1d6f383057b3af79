//! Explicit congestion notification between two ends that have agreed on it (RFC 4960, appendix A; RFC 9260 only
//! reserves its chunks): which packets may be marked, marks of what arrives, which every SACK tells of until the peer
//! says that it has slowed down, and what is answered when the peer tells of marks.

use slantpath_base::Instant;
use slantpath_wire::ip;
use smallvec::SmallVec;

use super::state::State;
use super::{Association, Turn, turn};
use crate::chunk::{Chunk, Cwr, Ecne};
use crate::packet::PacketBuilder;
use crate::path::PathId;
use crate::types::Tsn;

/// A mark that the peer has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The path that the packet came on.
    path: Option<PathId>,
    /// Lowest TSN of the marked packet.
    lowest: Tsn,
}

/// State of an association that uses ECN.
#[derive(Clone, Debug)]
pub(super) struct Ecn {
    /// Of each path the latest.
    unanswered: SmallVec<[Mark; 2]>,
    /// The lowest TSN of the packet at hand, if that is marked.
    at_hand: Option<Tsn>,
    /// TSN of the ECNEs in the packet at hand that a CWR is to answer: the highest of them.
    to_answer: Option<Tsn>,
    /// ECN field for the IP header of the packet that is being made.
    departing: ip::Ecn,
}

impl Ecn {
    pub(super) fn new() -> Self {
        Self { unanswered: SmallVec::new(), at_hand: None, to_answer: None, departing: ip::Ecn::NotCapable }
    }

    /// An address of the peer is deleted.
    pub(super) fn forget_path(&mut self, path: PathId) {
        self.unanswered.retain(|mark| mark.path != Some(path));
    }

    /// TSNs of the peer begin anew, and ours may.
    pub(super) fn forget_numbers(&mut self) {
        self.unanswered.clear();
        (self.at_hand, self.to_answer) = (None, None);
    }

    /// Tells if every mark has been answered.
    #[cfg(test)]
    pub(super) fn is_settled(&self) -> bool {
        self.unanswered.is_empty()
    }
}

impl Association {
    /// A DATA chunk has come in a packet with a mark. What has come before may be an attacker's copy.
    //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.5
    //# the TCP data receiver SHOULD
    //# ignore the ECN field on arriving data packets that are outside of the
    //# receiver's current window.
    #[cold]
    pub(super) fn on_marked_data(&mut self, tsn: Tsn) {
        if let Some(ecn) = &mut self.ecn
            && tsn.is_after(self.receiver.cumulative_tsn())
        {
            ecn.at_hand = ecn.at_hand.filter(|lowest| lowest.is_before(tsn)).or(Some(tsn));
        }
    }

    /// The peer says that a packet of ours was marked.
    pub(super) fn on_ecne(&mut self, now: Instant, ecne: Ecne) {
        let Some(ecn) = &mut self.ecn else { return };
        let lowest = ecne.lowest_tsn;
        let mut turn = turn!(self, now);
        if self.state.may_send_data() && self.sender.on_marked(&mut turn, lowest) {
            ecn.to_answer = ecn.to_answer.filter(|other| other.is_after(lowest)).or(Some(lowest));
        }
    }

    /// The peer says that it has slowed down since what was marked.
    //= https://www.rfc-editor.org/rfc/rfc4960#appendix-A
    //# This element represents the lowest TSN number in
    //# the datagram that was originally marked with the CE bit.
    pub(super) fn on_cwr(&mut self, cwr: Cwr) {
        if let Some(ecn) = &mut self.ecn {
            ecn.unanswered.retain(|mark| mark.lowest.is_after(cwr.lowest_tsn));
        }
    }

    /// All chunks of a packet have been read.
    pub(super) fn settle_marks(&mut self, from: Option<PathId>) {
        let Some(ecn) = &mut self.ecn else { return };
        if let Some(lowest) = ecn.at_hand.take() {
            let mark = Mark { path: from, lowest };
            match ecn.unanswered.iter_mut().find(|known| known.path == from) {
                Some(known) if lowest.is_after(known.lowest) => *known = mark,
                Some(_) => {}
                None => ecn.unanswered.push(mark),
            }
        }
        // However many there were in the packet: the highest answers them all.
        if let Some(lowest_tsn) = ecn.to_answer.take() {
            let path = self.reply_path(from);
            self.control.push_back((path, Chunk::Cwr(Cwr { lowest_tsn })));
        }
    }

    /// Length of the ECNEs that go in front of a SACK, in bytes.
    #[inline]
    pub(super) fn echo_len(&self) -> usize {
        self.ecn.as_ref().map_or(0, |ecn| ecn.unanswered.len() * Ecne::WIRE_LEN)
    }

    /// Puts them into the packet.
    #[inline]
    pub(super) fn put_echoes(&mut self, builder: &mut PacketBuilder) {
        if let Some(ecn) = &self.ecn {
            for mark in &ecn.unanswered {
                builder.push(&Chunk::Ecne(Ecne { lowest_tsn: mark.lowest }));
                self.stats.control_chunks_sent += 1;
            }
        }
    }

    /// Says of the packet that is being made whether it may be marked.
    #[inline]
    pub(super) fn set_departing(&mut self, departing: ip::Ecn) {
        if let Some(ecn) = &mut self.ecn {
            ecn.departing = departing;
        }
    }

    /// IP header fields of the packet that has been made.
    #[inline]
    pub(super) fn departing_fields(&self) -> ip::IpFields {
        match &self.ecn {
            Some(ecn) => ip::IpFields { ecn: ecn.departing, ..self.config.ip },
            None => self.config.ip_fields(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_an_address_that_is_deleted_need_no_answer() {
        let mark = |path: Option<u16>| Mark { path: path.map(PathId), lowest: Tsn(7) };
        let mut ecn = Ecn::new();
        ecn.unanswered.extend([mark(Some(0)), mark(Some(1)), mark(None)]);
        ecn.forget_path(PathId(1));
        assert_eq!(ecn.unanswered[..], [mark(Some(0)), mark(None)]);
    }
}
