//! The keys by which an association authenticates chunks (RFC 4895), by the number of the association.

use super::table::{Entry, State};
use super::{AssociationId, Endpoint};
use crate::association::{Association, KeyError};
use crate::authentication::SharedKey;

impl Endpoint {
    /// Adds an endpoint pair shared key, or replaces it: see [`Association::add_key`].
    pub fn add_key(&mut self, id: AssociationId, key_id: u16, key: &SharedKey) -> Result<(), KeyError> {
        self.with_keys(id, |association| association.add_key(key_id, key))
    }

    /// Authenticates what is sent by another key: see [`Association::activate_key`].
    pub fn activate_key(&mut self, id: AssociationId, key_id: u16) -> Result<(), KeyError> {
        self.with_keys(id, |association| association.activate_key(key_id))
    }

    /// Takes a key away: see [`Association::delete_key`].
    pub fn delete_key(&mut self, id: AssociationId, key_id: u16) -> Result<(), KeyError> {
        self.with_keys(id, |association| association.delete_key(key_id))
    }

    fn with_keys(
        &mut self,
        id: AssociationId,
        act: impl FnOnce(&mut Association) -> Result<(), KeyError>,
    ) -> Result<(), KeyError> {
        match self.table.find_mut(id) {
            Some(Entry { state: State::Established(association), .. }) => act(association),
            Some(_) | None => Err(KeyError::NotSupported),
        }
    }
}
