//! Message discrimination and distribution (Q.704, section 2.4): what a link brought is for a user part here, for
//! management, for another point, or for nobody.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::node::config::{Function, SequenceNumbers, Spread};
use crate::mtp3::node::held::Origin;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::routes::{RouteInput, RouteState};
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{ManagementMessage, Msu, RoutingLabel, ServiceIndicator, Slc};
use crate::transfer::{Transfer, TransferIndication};

/// The cause "unequipped remote user" (section 15.17.5).
const UNEQUIPPED: u8 = 1;

impl Node {
    pub(super) fn received(&mut self, now: Instant, link: Mtp3LinkId, octets: &Bytes) {
        let measured = &mut self.link_mut(link).measured;
        measured.received_msus += 1;
        measured.received_octets += octets.len() as u64;
        let Ok(msu) = Msu::parse(octets, self.config.format) else {
            return self.counters.discard(DiscardReason::Malformed);
        };
        if msu.service.network != self.config.network {
            return self.counters.discard(DiscardReason::WrongNetwork);
        }
        if msu.label.dpc != self.config.point_code {
            if self.served.contains_key(&msu.label.dpc) {
                self.received_for_served(now, link, &msu, octets);
            } else {
                self.transit(link, &msu, octets);
            }
            return;
        }
        let is_test = self.test_indicator();
        match msu.service.indicator {
            ServiceIndicator::MANAGEMENT => self.management_message(now, &msu),
            indicator if indicator == is_test => self.test_message(now, link, &msu),
            user if self.config.users.contains(&user) => {
                self.counters.delivered += 1;
                let user_data = octets.slice_ref(msu.user_part);
                let transfer = Transfer { service: msu.service, label: msu.label, user_data };
                self.indicate(user, TransferIndication::Transfer(transfer));
            }
            user => self.refuse_for_user(now, msu.label, user),
        }
    }

    /// A message is for a user part that its destination lacks, which is here or behind this point: its origin is told
    /// by user part unavailable (section 11.2.7).
    pub fn refuse_for_user(&mut self, now: Instant, label: RoutingLabel, user: ServiceIndicator) {
        self.now = now;
        self.counters.discard(DiscardReason::UserPartUnavailable);
        let message =
            ManagementMessage::Upu { destination: label.dpc, user: user.value(), cause: UNEQUIPPED };
        self.send_management(label.opc, Slc(0), message);
    }

    fn transit(&mut self, link: Mtp3LinkId, msu: &Msu<'_>, octets: &Bytes) {
        if self.config.function == Function::EndPoint {
            return self.counters.discard(DiscardReason::NotForThisPoint);
        }
        if !self.is_running() {
            return self.counters.discard(DiscardReason::Restarting);
        }
        if msu.label.opc == self.config.point_code {
            self.report(ManagementEvent::CircularRoute(msu.label.dpc));
            return self.counters.discard(DiscardReason::CircularRoute);
        }
        let Some(destination) = self.table.find(msu.label.dpc) else {
            return self.counters.discard(DiscardReason::UnknownDestination);
        };
        let origin = Origin::Transit { from: self.link(link).set, opc: msu.label.opc };
        let came_by = self.link(link);
        let sls = match (self.config.spread, came_by.sequence) {
            (Spread::LinkCode, SequenceNumbers::Bits7) => came_by.slc.0,
            (Spread::LinkCode, SequenceNumbers::Bits24) | (Spread::Selection, _) => msu.label.sls.0,
        };
        self.transferred(destination, sls, origin, octets.clone());
    }

    fn management_message(&mut self, now: Instant, msu: &Msu<'_>) {
        use ManagementMessage as M;
        let Some((message, slc)) = self.read_management(msu) else { return };
        if self.told_by_any_point(now, msu.label.dpc, message) {
            return;
        }
        let mut link_sets = self.link_set_ids();
        let Some(from) = link_sets.find(|id| self.link_set(*id).adjacent == msu.label.opc) else {
            return self.counters.discard(DiscardReason::UnknownSubject);
        };
        match message {
            M::Tfp(code) => self.transfer_message(now, from, code, RouteInput::Tfp),
            M::Tfr(code) => self.transfer_message(now, from, code, RouteInput::Tfr),
            M::Tfa(code) => self.transfer_message(now, from, code, RouteInput::Tfa),
            M::Rst(code) => self.route_set_test(from, code, RouteState::Prohibited),
            M::Rsr(code) => self.route_set_test(from, code, RouteState::Restricted),
            M::Tra => self.traffic_restart_allowed(now, from),
            // Destinations are points here, and no restart waits for another.
            M::Tcp(_) | M::Tcr(_) | M::Tca(_) | M::Rcp(_) | M::Rcr(_) | M::Trw => {
                self.counters.discard(DiscardReason::UnknownSubject);
            }
            about_link => self.link_message(now, from, slc, about_link),
        }
    }

    /// A message of management for a point code behind this point, which stands for it in the SS7 network.
    pub(super) fn management_for_served(&mut self, now: Instant, msu: &Msu<'_>) {
        let Some((message, _)) = self.read_management(msu) else { return };
        if !self.told_by_any_point(now, msu.label.dpc, message) {
            // All else is between adjacent points, and nobody is adjacent to what lies behind this one.
            self.counters.discard(DiscardReason::UnknownSubject);
        }
    }

    fn read_management(&mut self, msu: &Msu<'_>) -> Option<(ManagementMessage, Slc)> {
        let Ok(read) = ManagementMessage::parse(msu.user_part, self.layout, msu.label.sls) else {
            self.counters.discard(DiscardReason::Malformed);
            return None;
        };
        self.counters.management_received(read.0);
        Some(read)
    }

    /// Takes a message that any point may send to one here, not only an adjacent point. False if it is none of these.
    fn told_by_any_point(&mut self, now: Instant, told: PointCode, message: ManagementMessage) -> bool {
        use ManagementMessage as M;
        match message {
            M::Tfc(code, status) => self.transfer_controlled(now, code, status),
            M::Upu { destination, user, cause } => self.user_part_unavailable(told, destination, user, cause),
            // Its way here was free: that is all it asks.
            M::Rct => {}
            _ => return false,
        }
        true
    }

    fn link_message(&mut self, now: Instant, from: LinkSetId, slc: Slc, message: ManagementMessage) {
        use ManagementMessage as M;
        let links = &self.link_set(from).links;
        let Some(link) = links.iter().copied().find(|id| self.link(*id).slc == slc) else {
            return self.counters.discard(DiscardReason::UnknownSubject);
        };
        match message {
            M::Coo(_) | M::Coa(_) | M::Xco(_) | M::Xca(_) | M::Eco | M::Eca => {
                self.changeover_message(now, link, message);
            }
            M::Cbd(code) => self.changeback_declared(link, code),
            M::Cba(code) => self.changeback_acknowledged(now, link, code),
            // Data links are wired to their links here: none can be connected on demand (section 12.6).
            M::Dlc(_) => self.send_about_link(link, M::Cnp),
            M::Css | M::Cns | M::Cnp => self.counters.discard(DiscardReason::Unexpected),
            inhibiting => self.inhibiting_message(now, link, inhibiting),
        }
    }
}
