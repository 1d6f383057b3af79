//! Changes of an association's streams (RFC 6525), by the number of the association.

use slantpath_base::Instant;

use super::table::{Entry, State};
use super::{AssociationId, Endpoint};
use crate::association::Association;
use crate::reconfiguration::{ReconfigurationError, ResetDirection};
use crate::types::StreamId;

impl Endpoint {
    /// Resets streams: see [`Association::reset_streams`].
    pub fn reset_streams(
        &mut self,
        now: Instant,
        id: AssociationId,
        direction: ResetDirection,
        streams: &[StreamId],
    ) -> Result<(), ReconfigurationError> {
        self.reconfigure(id, |association| association.reset_streams(now, direction, streams))
    }

    /// Resets an association: see [`Association::reset_association`].
    pub fn reset_association(&mut self, now: Instant, id: AssociationId) -> Result<(), ReconfigurationError> {
        self.reconfigure(id, |association| association.reset_association(now))
    }

    /// Adds streams: see [`Association::add_streams`].
    pub fn add_streams(
        &mut self,
        now: Instant,
        id: AssociationId,
        outbound: u16,
        inbound: u16,
    ) -> Result<(), ReconfigurationError> {
        self.reconfigure(id, |association| association.add_streams(now, outbound, inbound))
    }

    fn reconfigure(
        &mut self,
        id: AssociationId,
        act: impl FnOnce(&mut Association) -> Result<(), ReconfigurationError>,
    ) -> Result<(), ReconfigurationError> {
        let Some(Entry { state: State::Established(association), .. }) = self.table.find_mut(id) else {
            return Err(ReconfigurationError::NotEstablished);
        };
        let result = act(association);
        self.wake(id.slot());
        result
    }
}
