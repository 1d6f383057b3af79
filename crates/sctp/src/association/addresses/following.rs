//! Our addresses become those that the host has: what that asks of the peer (RFC 5061).

use std::net::IpAddr;

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::{AddressChange, Association, source_for};

impl Association {
    /// Asks the peer for what makes our addresses `wanted`, in one request: what is added comes first, so that an
    /// address that takes the place of the only one can. While another request is under way it waits, and what the host
    /// has by then counts: addresses that come and go cost one request for each answer. `false` if nothing is to be
    /// asked, or the ends have not agreed to change addresses.
    //
    //= https://www.rfc-editor.org/rfc/rfc6458#section-8.1.23
    //# This option will enable or disable the use of the automatic
    //# generation of ASCONF chunks to add and delete addresses to an
    //# existing association.  Note that this option has two caveats, namely
    //# a) it only affects sockets that are bound to all addresses available
    //# to the SCTP stack
    pub(crate) fn follow_addresses(&mut self, now: Instant, wanted: &[IpAddr]) -> bool {
        let Some(state) = self.addresses.as_mut().filter(|state| !state.is_refused) else { return false };
        if state.in_flight.is_some() || !state.waiting.is_empty() {
            state.wanted = Some(wanted.into());
            return false;
        }
        let ours = &self.tcb.local_addresses;
        let reaches_peer = self.paths.iter().any(|path| source_for(path.destination, wanted).is_some());
        // One of a version that the peer has no address of is no way to it.
        let is_of_peer =
            |address: IpAddr| self.paths.iter().any(|path| path.destination.is_ipv4() == address.is_ipv4());
        let added = wanted.iter().filter(|address| !ours.contains(address) && is_of_peer(**address));
        // A peer that none of those that are left reaches could not be asked.
        let deleted = ours.iter().filter(|address| reaches_peer && !wanted.contains(address));
        let changes: SmallVec<[AddressChange; 4]> = added
            .map(|one| AddressChange::Add(*one))
            .chain(deleted.map(|one| AddressChange::Delete(*one)))
            .collect();
        !changes.is_empty() && self.change_addresses(now, &changes).is_ok()
    }

    /// The peer has answered a request: what the host has had to wait with is asked for.
    pub(super) fn follow_wanted(&mut self, now: Instant) {
        if let Some(wanted) = self.addresses.as_mut().and_then(|state| state.wanted.take()) {
            self.follow_addresses(now, &wanted);
        }
    }
}
