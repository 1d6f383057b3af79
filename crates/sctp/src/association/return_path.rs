//! Destination of SACKs: the address that the DATA came from, unless SACKs get lost on that way (RFC 9260, section
//! 6.4).

use crate::path::PathId;
use crate::types::Tsn;

/// A SACK that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SentSack {
    path: PathId,
    cumulative_tsn_ack: Tsn,
}

/// SACKs that would go to one path go by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detour {
    of: PathId,
    by: PathId,
}

/// The way back, as far as what arrives tells of it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReturnPath {
    last: Option<SentSack>,
    detour: Option<Detour>,
}

impl ReturnPath {
    /// Path of a SACK that answers DATA from `data_path`.
    pub(super) fn toward(&self, data_path: PathId) -> PathId {
        self.detour.filter(|detour| detour.of == data_path).map_or(data_path, |detour| detour.by)
    }

    /// A SACK leaves by `path`.
    pub(super) const fn on_sack_sent(&mut self, path: PathId, cumulative_tsn_ack: Tsn) {
        self.last = Some(SentSack { path, cumulative_tsn_ack });
    }

    /// Nothing leaves by `path` any more: SACKs go by another. Gives whether the last one left there, which then may be
    /// lost.
    pub(super) fn leave(&mut self, path: PathId, by: PathId) -> bool {
        self.detour = Some(Detour { of: path, by });
        self.last.is_some_and(|last| last.path == path)
    }

    /// An address of the peer is deleted.
    pub(super) fn forget_path(&mut self, path: PathId) {
        self.last = self.last.filter(|last| last.path != path);
        self.detour = self.detour.filter(|detour| detour.of != path && detour.by != path);
    }

    /// The peer's TSNs begin anew.
    pub(super) const fn forget_numbers(&mut self) {
        self.last = None;
    }

    /// DATA has come by `path`. Gives the path that SACKs leave because of it, if they went there until now: whether it
    /// is broken is to be asked there, as the peer may have sent the chunk again without need.
    pub(super) fn on_data(&mut self, path: PathId, tsn: Tsn) -> Option<PathId> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4
        //# When a receiver of a duplicate DATA chunk sends a SACK chunk to a
        //# multi-homed endpoint, it MAY be beneficial to vary the destination
        //# address and not use the source address of the DATA chunk.  The reason
        //# is that receiving a duplicate from a multi-homed endpoint might
        //# indicate that the return path (as specified in the source address of
        //# the DATA chunk) for the SACK chunk is broken.
        // The return path that is broken is that of the SACK before, which the peer cannot have received when it
        // sent the chunk again to another address. The way by which the duplicate has come is at hand.
        if let Some(last) = self.last
            && last.path != path
            && tsn.is_at_or_before(last.cumulative_tsn_ack)
        {
            let detour = Some(Detour { of: last.path, by: path });
            let is_new = self.detour.map(|known| known.of) != Some(last.path);
            self.detour = detour;
            return is_new.then_some(last.path);
        }
        None
    }

    /// A HEARTBEAT to `path` has been answered there: both directions work.
    pub(super) fn on_heartbeat_ack(&mut self, path: PathId) {
        self.detour = self.detour.filter(|detour| detour.of != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: PathId = PathId(0);
    const SECOND: PathId = PathId(1);

    #[test]
    fn what_a_sack_has_acknowledged_and_comes_again_elsewhere_turns_the_sacks_there() {
        let mut back = ReturnPath::default();
        back.on_data(FIRST, Tsn(9));
        back.on_sack_sent(FIRST, Tsn(10));
        for (path, tsn) in [(FIRST, 10), (SECOND, 11)] {
            assert_eq!(back.on_data(path, Tsn(tsn)), None);
            assert_eq!(back.toward(FIRST), FIRST, "TSN {tsn} says nothing of the way back");
        }
        let asked = [(); 2].map(|()| back.on_data(SECOND, Tsn(10)));
        assert_eq!(asked, [Some(FIRST), None], "whether the first is broken is asked once");
        assert_eq!([FIRST, SECOND].map(|path| back.toward(path)), [SECOND, SECOND]);
        back.on_heartbeat_ack(SECOND);
        assert_eq!(back.toward(FIRST), SECOND);
        back.on_heartbeat_ack(FIRST);
        assert_eq!(back.toward(FIRST), FIRST);
    }

    #[test]
    fn an_address_that_is_deleted_is_no_way_back_and_tells_of_none() {
        let third = PathId(2);
        let mut detour = ReturnPath::default();
        detour.on_sack_sent(FIRST, Tsn(10));
        detour.on_data(SECOND, Tsn(10));
        for (gone, by) in [(third, SECOND), (FIRST, FIRST), (SECOND, FIRST)] {
            let mut back = detour.clone();
            back.forget_path(gone);
            assert_eq!(back.toward(FIRST), by, "{gone:?} goes");
        }
        for (gone, by) in [(third, SECOND), (FIRST, FIRST)] {
            let mut back = ReturnPath::default();
            back.on_sack_sent(FIRST, Tsn(10));
            back.forget_path(gone);
            back.on_data(SECOND, Tsn(10));
            assert_eq!(back.toward(FIRST), by, "{gone:?} goes");
        }
    }
}
