//! From which address of ours each path leaves, where the routes are known.

use std::net::IpAddr;

use slantpath_base::Instant;
use smallvec::SmallVec;

use super::Association;
use crate::address::spread;
use crate::path::{Link, PathId};

/// Rule that decides from which address of ours a path leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sources {
    /// The prefixes of the addresses (RFC 6724, rule 8).
    ByPrefix,
    /// Routes of the host.
    ByRoute,
}

impl Association {
    /// The peer's addresses, in the order of the paths.
    pub(crate) fn destinations(&self) -> SmallVec<[IpAddr; 2]> {
        self.paths.iter().map(|path| path.destination).collect()
    }

    /// Tells if addresses have changed since the routes were asked for, and takes that as asked.
    pub(crate) const fn takes_other_routes(&mut self) -> bool {
        core::mem::replace(&mut self.wants_routes, false)
    }

    /// Lets each path leave from an address of ours from which the routes lead to its destination, as far as there is
    /// one, and different paths from different ones, as far as the routes allow. A path that is in use stays where it
    /// is if it can.
    //
    //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4.1
    //# When retransmitting data that timed out, if the endpoint is
    //# multi-homed, it needs to consider each source-destination address
    //# pair in its retransmission selection policy.
    // Pairs that differ in both are had beforehand.
    pub(crate) fn choose_sources(&mut self, now: Instant, destinations: &[IpAddr], allowed: &[Vec<IpAddr>]) {
        // Until the peer has answered, nothing but the request that names the only address that is left may leave.
        if self.only_source().is_some() {
            return;
        }
        let ours = &self.tcb.local_addresses;
        let of_path = |destination: IpAddr| {
            let place = destinations.iter().position(|one| *one == destination);
            let allowed = place.and_then(|place| allowed.get(place)).into_iter().flatten();
            let is_usable = |address: &IpAddr| ours.contains(address) && !self.down.contains(address);
            allowed.copied().filter(is_usable).collect()
        };
        let allowed: Vec<SmallVec<[IpAddr; 2]>> =
            self.paths.iter().map(|path| of_path(path.destination)).collect();
        if allowed.iter().all(SmallVec::is_empty) {
            return;
        }
        let current: SmallVec<[IpAddr; 2]> = self.paths.iter().map(|path| path.source).collect();
        let is_first = self.sources == Sources::ByPrefix;
        self.sources = Sources::ByRoute;
        let kept = (!is_first).then_some(&current[..]);
        let chosen = spread(&allowed, kept);
        for (id, source) in self.paths.ids().zip(chosen) {
            match source {
                // Nothing has been sent yet from where the prefixes would have it.
                Some(source) if is_first && self.paths[id].link == Link::Unchanged => {
                    self.paths[id].source = source;
                }
                Some(source) => self.set_source(now, id, source),
                None => {}
            }
        }
    }

    /// Has a path leave from an address of ours. Whether it works by this way is asked at once if the link of the one
    /// before has gone.
    pub(super) fn set_source(&mut self, now: Instant, path: PathId, source: IpAddr) {
        let was_without_link = self.paths[path].link == Link::Down && self.paths[path].source != source;
        self.paths[path].set_source(now, source, &self.config);
        if self.down.contains(&source) {
            self.paths[path].link = Link::Down;
        }
        if was_without_link {
            self.ask_at_once(now, path);
        }
    }
}
