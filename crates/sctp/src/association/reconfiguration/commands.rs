//! Requests of the layer above: resets of streams and of the association, and additional streams.

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::{Change, Request};
use crate::association::Association;
use crate::association::state::State;
use crate::chunk::{CHUNK_HEADER_LEN, ReConfig};
use crate::reconfiguration::{ReconfigurationError, ResetDirection, StreamSet};
use crate::types::StreamId;

impl Association {
    /// Resets streams (RFC 6525): the next ordered message of each begins with Stream Sequence Number 0 again. No
    /// streams: all. It waits for the requests before it: one is sent at a time, and resets of streams that we send
    /// on are asked for together if they wait together. It is over when an
    /// [`Event::ReconfigurationAnswered`](crate::Event::ReconfigurationAnswered) says so for each direction.
    pub fn reset_streams(
        &mut self,
        now: Instant,
        direction: ResetDirection,
        streams: &[StreamId],
    ) -> Result<(), ReconfigurationError> {
        self.check_reconfiguration()?;
        let set = StreamSet::of(streams);
        let (outbound, inbound) = match direction {
            ResetDirection::Outbound => (true, false),
            ResetDirection::Inbound => (false, true),
            ResetDirection::Both => (true, true),
        };
        let counts =
            [outbound.then(|| self.sender.stream_count()), inbound.then(|| self.receiver.stream_count())];
        for available in counts.into_iter().flatten() {
            if let Some(stream) = set.beyond(available) {
                return Err(ReconfigurationError::NoSuchStream { stream, available });
            }
        }
        let most = self.longest_list();
        if set.listed().len() > most {
            return Err(ReconfigurationError::ListTooLong(most));
        }
        let mut changes: SmallVec<[Change; 2]> = SmallVec::new();
        if outbound {
            changes.push(Change::ResetOutbound { streams: set.clone(), answers: None });
        }
        if inbound {
            changes.push(Change::ResetInbound(set));
        }
        self.request(now, Request::new(changes));
        Ok(())
    }

    /// Resets the association (RFC 6525): all streams, and TSNs begin anew.
    pub fn reset_association(&mut self, now: Instant) -> Result<(), ReconfigurationError> {
        self.check_reconfiguration()?;
        let is_reset = |change: &Change| *change == Change::ResetAssociation;
        let is_asked_for = self.reconfiguration.as_ref().is_some_and(|state| state.is_asked_for(is_reset));
        if is_asked_for || self.has_old_numbers_under_way(now) {
            return Err(ReconfigurationError::TooSoon);
        }
        self.request(now, Request::new([Change::ResetAssociation]));
        Ok(())
    }

    /// Adds streams (RFC 6525): so many to send on, and so many for the peer.
    pub fn add_streams(
        &mut self,
        now: Instant,
        outbound: u16,
        inbound: u16,
    ) -> Result<(), ReconfigurationError> {
        self.check_reconfiguration()?;
        // Those that are asked for already count as if they were there.
        let asked = self.reconfiguration.as_ref().map_or([0, 0], |state| state.streams_asked_for());
        let counts = [self.sender.stream_count(), self.receiver.stream_count()];
        let [sent_on, received_on] =
            [0, 1].map(|place| u16::try_from(u32::from(counts[place]) + asked[place]));
        let has_room = sent_on.is_ok_and(|count| count.checked_add(outbound).is_some());
        let may_come = received_on.is_ok_and(|count| self.config.allows_streams(count, inbound));
        if !has_room || inbound > 0 && !may_come {
            return Err(ReconfigurationError::TooManyStreams);
        }
        let mut changes: SmallVec<[Change; 2]> = SmallVec::new();
        if outbound > 0 {
            changes.push(Change::AddOutbound { count: outbound, is_induced: false });
        }
        if inbound > 0 {
            changes.push(Change::AddInbound(inbound));
        }
        if changes.is_empty() {
            return Err(ReconfigurationError::Nothing);
        }
        self.request(now, Request::new(changes));
        Ok(())
    }

    fn check_reconfiguration(&self) -> Result<(), ReconfigurationError> {
        if self.state != State::Established {
            return Err(ReconfigurationError::NotEstablished);
        }
        match &self.reconfiguration {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.1
            //# If the chunk type of the RE-CONFIG chunk
            //# does not appear in the supported extension's list of chunks, then the
            //# sender MUST NOT send any re-configuration request to the peer, and
            //# any request by the application for such service SHOULD be responded
            //# to with an appropriate error indicating that the peer SCTP stack does
            //# not support the re-configuration extension.
            None => Err(ReconfigurationError::NotSupported),
            Some(_) => Ok(()),
        }
    }

    /// Number of streams that a request may name in each direction and still fit into a packet.
    pub(super) fn longest_list(&self) -> usize {
        let room = self.paths.amdcs().saturating_sub(CHUNK_HEADER_LEN);
        room.saturating_sub(ReConfig::RESETS_LEN) / 4
    }
}
