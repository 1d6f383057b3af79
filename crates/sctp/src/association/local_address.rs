//! An address of ours that is back, or its link: what was given up for it is asked for at once.

use std::net::IpAddr;

use slantpath_base::Instant;

use super::Association;
use super::output::PollStage;
use crate::path::{Link, PathId};

impl Association {
    /// Packets can leave from an address of ours again, which had gone, or whose link had: each path from there that has
    /// HEARTBEATs is sent one at once, but not within RTO.Initial of the last one, so that a link that comes and goes is
    /// no flood. An answer brings the path back, and what was sent there into the void is sent again an RTO behind it,
    /// however far T3-rtx had been backed off. `false` if there is no such path.
    //
    //= https://www.rfc-editor.org/rfc/rfc9260#section-8.3
    //# D)  Request the sending of an on-demand HEARTBEAT chunk on a specific
    //# destination transport address of a given association.
    // The user who knows of the link is the host. RTO.Initial, since the RTO is what the missing link has made of it.
    pub fn local_address_is_back(&mut self, now: Instant, address: IpAddr) -> bool {
        if !self.state.may_send_heartbeats() {
            return false;
        }
        let mut is_any = false;
        for id in self.paths.ids() {
            let path = &mut self.paths[id];
            if path.source != address {
                continue;
            }
            is_any = true;
            path.heartbeat.hasten(now, self.config.rto_initial);
            path.link = Link::Back;
            if path.heartbeat.deadline().is_some_and(|deadline| deadline <= now) {
                self.on_heartbeat_deadline(now, id);
            }
        }
        if is_any {
            self.poll_stage = PollStage::Packets;
        }
        is_any
    }

    /// A HEARTBEAT to `path` has been answered, whose round trip is measured.
    pub(super) fn follow_link(&mut self, now: Instant, path: PathId) {
        let path = &mut self.paths[path];
        if std::mem::replace(&mut path.link, Link::Unchanged) == Link::Back {
            path.hasten_t3_rtx(now);
        }
    }
}
