//! Options about authentication (RFC 4895).

use bytes::Bytes;
use slantpath_requests::Errno;
use slantpath_sctp::{Extension, HmacAlgorithm, SharedKey};

use super::Call;
use super::table::SctpOption;
use crate::layout::{Told, narrowed};
use crate::outcome;
use crate::sockets::Sockets;

/// Algorithms of a socket whose program lists none.
const USUAL: [HmacAlgorithm; 2] = [HmacAlgorithm::Sha256, HmacAlgorithm::Sha1];
/// Algorithms that a program may list, as Linux has it (`SCTP_AUTH_NUM_HMACS`).
const MOST_ALGORITHMS: usize = 4;
/// Types of chunks that cannot be authenticated: INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH.
const NEVER: [u8; 4] = [1, 2, 14, 15];

impl Sockets {
    /// Reads an option about authentication.
    pub(super) fn get_keys(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        if option == SctpOption::HmacIdent {
            let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
            let listed = &socket.config.authentication.algorithms;
            let listed: &[_] = if listed.is_empty() { &USUAL } else { listed };
            let told = Told::default().u32(narrowed(listed.len() as u64));
            return Ok(listed.iter().fold(told, |told, one| told.u16(one.identifier())));
        }
        let association = call.given.at_least(8)?.i32(0)?;
        let config = self.config_of(call.host, call.number, association)?;
        if option == SctpOption::AuthActiveKey {
            if !config.extensions.contain(Extension::Authentication) {
                return Err(Errno::EACCES);
            }
            return Ok(Told::default().i32(association).u16(config.authentication.active_key).padded_to(8));
        }
        let id = self.named(call.number, association)?;
        let agreed = match id.and_then(|id| call.host.sctp_association(id)) {
            Some((endpoint, id)) => endpoint.association(id).and_then(|one| one.authenticated_chunks()),
            None => None,
        };
        let chunks = match (option, agreed) {
            (SctpOption::PeerAuthChunks, Some([_, peers])) => peers,
            (SctpOption::PeerAuthChunks, None) if id.is_none() => return Err(Errno::EINVAL),
            (SctpOption::PeerAuthChunks, None) => &[],
            (_, Some([own, _])) => own,
            (_, None) => &config.authentication.chunks,
        };
        Ok(Told::default().i32(association).u32(narrowed(chunks.len() as u64)).bytes(chunks))
    }

    /// Sets an option about authentication. It is offered from then on.
    pub(super) fn set_keys(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<(), Errno> {
        let given = call.given;
        match option {
            SctpOption::AuthChunk => {
                let kind = given.exactly(1)?.u8(0)?;
                if NEVER.contains(&kind) {
                    return Err(Errno::EINVAL);
                }
                self.change_future(call.host, call.number, |config| {
                    config.extensions = config.extensions.with(Extension::Authentication);
                    if !config.authentication.chunks.contains(&kind) {
                        config.authentication.chunks.push(kind);
                    }
                })
            }
            SctpOption::HmacIdent => {
                let count = given.at_least(6)?.u32(0)? as usize;
                if count > MOST_ALGORITHMS {
                    return Err(Errno::EINVAL);
                }
                let listed: Option<Vec<HmacAlgorithm>> =
                    given.numbers(4, count)?.into_iter().map(HmacAlgorithm::of_identifier).collect();
                let listed = listed.ok_or(Errno::EOPNOTSUPP)?;
                if !listed.contains(&HmacAlgorithm::Sha1) {
                    return Err(Errno::EINVAL);
                }
                self.change_future(call.host, call.number, |config| {
                    config.authentication.algorithms.clone_from(&listed);
                })
            }
            SctpOption::AuthKey => {
                let (association, key_id, length) =
                    (given.at_least(8)?.i32(0)?, given.u16(4)?, usize::from(given.u16(6)?));
                let secret = given.tail(8)?;
                let secret = if length == 0 { secret } else { secret.get(..length).ok_or(Errno::EINVAL)? };
                let key = SharedKey::new(Bytes::copy_from_slice(secret));
                let targets = self.targets(call.number, association)?;
                for id in targets.ids {
                    let (endpoint, of) = call.host.sctp_association(id).ok_or(Errno::EINVAL)?;
                    endpoint.add_key(of, key_id, &key).map_err(outcome::of_key)?;
                    if let Some(association) = self.associations.get_mut(id) {
                        association.retired_keys.remove(&key_id);
                    }
                }
                if targets.is_future {
                    let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
                    socket.choices.retired_keys.remove(&key_id);
                    self.change_future(call.host, call.number, |config| {
                        config.extensions = config.extensions.with(Extension::Authentication);
                        let keys = &mut config.authentication.keys;
                        keys.entry(0).or_insert_with(|| SharedKey::new(Bytes::new()));
                        keys.insert(key_id, key.clone());
                    })?;
                }
                Ok(())
            }
            _ => {
                let (association, key_id) = (given.exactly(8)?.i32(0)?, given.u16(4)?);
                self.use_key(call, option, association, key_id)
            }
        }
    }

    fn use_key(
        &mut self,
        call: &mut Call<'_>,
        option: SctpOption,
        association: i32,
        key_id: u16,
    ) -> Result<(), Errno> {
        let targets = self.targets(call.number, association)?;
        for socket_id in targets.ids {
            let association = self.associations.get_mut(socket_id).ok_or(Errno::EINVAL)?;
            let (endpoint, id) = call.host.sctp_association(socket_id).ok_or(Errno::EINVAL)?;
            let done = match option {
                // What was taken out of use stays so until it is given anew.
                SctpOption::AuthActiveKey if association.retired_keys.contains(&key_id) => {
                    return Err(Errno::EINVAL);
                }
                SctpOption::AuthActiveKey => {
                    let done = endpoint.activate_key(id, key_id);
                    if done.is_ok() {
                        endpoint.change_settings(id, |config| config.authentication.active_key = key_id);
                    }
                    done
                }
                // What arrives by it is still read until it is deleted.
                SctpOption::AuthDeactivateKey => {
                    let active = endpoint.settings(id).map_or(0, |config| config.authentication.active_key);
                    let is_known = endpoint.association(id).is_some_and(|of| of.has_key(key_id));
                    if active == key_id || !is_known {
                        return Err(Errno::EINVAL);
                    }
                    // What is queued is authenticated by the active key when it leaves, so that this one is free.
                    if association.retired_keys.insert(key_id) {
                        self.note_free_key(socket_id, key_id);
                    }
                    Ok(())
                }
                _ => {
                    association.retired_keys.remove(&key_id);
                    endpoint.delete_key(id, key_id)
                }
            };
            done.map_err(outcome::of_key)?;
        }
        if targets.is_future {
            let config = self.config_of(call.host, call.number, super::FUTURE)?;
            let keys = &config.authentication;
            let is_known = keys.keys.contains_key(&key_id) || (key_id == 0 && keys.keys.is_empty());
            if !config.extensions.contain(Extension::Authentication) {
                return Err(Errno::EACCES);
            }
            if !is_known || (option != SctpOption::AuthActiveKey && keys.active_key == key_id) {
                return Err(Errno::EINVAL);
            }
            let retired = &mut self.open.get_mut(&call.number).ok_or(Errno::EBADF)?.choices.retired_keys;
            match option {
                SctpOption::AuthActiveKey if retired.contains(&key_id) => return Err(Errno::EINVAL),
                SctpOption::AuthActiveKey => {}
                SctpOption::AuthDeactivateKey => _ = retired.insert(key_id),
                _ => _ = retired.remove(&key_id),
            }
            self.change_future(call.host, call.number, |config| match option {
                SctpOption::AuthActiveKey => config.authentication.active_key = key_id,
                SctpOption::AuthDeleteKey => {
                    config.authentication.keys.remove(&key_id);
                }
                _ => {}
            })?;
        }
        Ok(())
    }
}
