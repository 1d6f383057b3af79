//! Message routing (Q.704, section 2.3): users' and transferred messages to their links, management messages to theirs.

use bytes::Bytes;

use crate::PointCode;
use crate::link::LinkRequest;
use crate::mtp3::node::held::{Held, Origin};
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::routes::RouteState;
use crate::mtp3::node::table::NOWHERE;
use crate::mtp3::node::{DiscardReason, Node};
use crate::mtp3::{
    ChangebackCode, ManagementMessage, Msu, RoutingLabel, ServiceIndicator, ServiceInformation, Slc, Sls,
};
use crate::transfer::Transfer;

/// Behind all that may come back from a link.
const FIRST_ORDER: u64 = 1 << 32;

impl Node {
    pub(super) fn accept(&mut self, transfer: &Transfer) -> Result<(), DiscardReason> {
        let Some(destination) = self.table.find(transfer.label.dpc) else {
            return self.accept_for_served(transfer);
        };
        if self.table.destination(destination).bundle == NOWHERE {
            return Err(DiscardReason::InaccessibleDestination);
        }
        let msu = Msu { service: transfer.service, label: transfer.label, user_part: &transfer.user_data };
        let octets = self.emit(&msu);
        let (stamp, origin) = (self.next_stamp(), Origin::Local);
        let sls = transfer.label.sls.0;
        let held = Held { stamp, order: FIRST_ORDER + stamp, destination, sls, origin, octets };
        self.route(held);
        Ok(())
    }

    pub(super) fn transferred(&mut self, destination: u32, sls: u8, origin: Origin, octets: Bytes) {
        let stamp = self.next_stamp();
        self.route(Held { stamp, order: FIRST_ORDER + stamp, destination, sls, origin, octets });
    }

    pub(super) fn next_stamp(&mut self) -> u64 {
        let stamp = self.stamp;
        self.stamp += 1;
        stamp
    }

    /// Sends a message to its link, or to where it has to wait, or discards and counts it.
    pub(super) fn route(&mut self, message: Held) {
        let destination = self.table.destination(message.destination);
        if destination.bundle == NOWHERE || message.stamp < destination.cut {
            return self.inaccessible(&message);
        }
        let slot = self.table.slot(destination.bundle, message.sls);
        if let Some(diversion) = destination.held.or(slot.held) {
            return self.hold(diversion, message);
        }
        let link = match (slot.link, message.origin) {
            (Some(link), Origin::Transit { from, .. }) if self.link(link).set == from => {
                self.other_way(&message, from)
            }
            (link, _) => link,
        };
        let Some(link) = link else { return self.inaccessible(&message) };
        if self.pass_congestion(link, &message) {
            self.counters.sent += 1;
            self.table.measured_mut(message.destination).sent_msus += 1;
            if matches!(message.origin, Origin::Transit { .. }) {
                self.counters.transferred += 1;
            }
            if !self.lost_traffic.is_empty() {
                self.note_handed(link, &message);
            }
            self.request(link, LinkRequest::Transmit(message.octets));
        } else {
            self.link_mut(link).measured.congestion_discards += 1;
            self.counters.discard(DiscardReason::CongestedLink);
        }
    }

    /// A message must not go back where it came from: the other link set of a combined one may take it.
    fn other_way(&self, message: &Held, from: LinkSetId) -> Option<Mtp3LinkId> {
        let bundle = self.table.bundles[usize::from(self.table.destination(message.destination).bundle)];
        let other = bundle.link_sets().find(|link_set| *link_set != from)?;
        let links: Vec<_> = self.available_links(other).collect();
        links.get(usize::from(message.sls).checked_rem(links.len())?).copied()
    }

    fn inaccessible(&mut self, message: &Held) {
        match message.origin {
            Origin::Transit { from, .. } => {
                let bundle = self.table.destination(message.destination).bundle;
                self.respond_prohibited(self.now, message.destination, from);
                self.counters.discard(if bundle == NOWHERE {
                    DiscardReason::InaccessibleDestination
                } else {
                    DiscardReason::BackWhereItCameFrom
                });
            }
            Origin::Local | Origin::Retrieved => {
                self.counters.discard(DiscardReason::InaccessibleDestination);
            }
        }
    }

    pub(super) fn emit(&self, msu: &Msu<'_>) -> Bytes {
        let mut octets = Vec::with_capacity(8 + msu.user_part.len());
        msu.emit(self.config.format, &mut octets);
        octets.into()
    }

    /// A message about a link, to its far end over another link where there is one.
    pub(super) fn send_about_link(&mut self, link: Mtp3LinkId, message: ManagementMessage) {
        let slc = self.link(link).slc;
        self.send_management(self.adjacent(link), slc, message);
    }

    pub(super) fn send_management(&mut self, to: PointCode, slc: Slc, message: ManagementMessage) {
        let octets = self.management(to, slc, message, self.top_priority());
        if self.transmit_management(to, slc, octets) {
            self.counters.management_sent(message);
        }
    }

    fn management(&self, to: PointCode, slc: Slc, message: ManagementMessage, priority: u8) -> Bytes {
        let mut user_part = Vec::with_capacity(8);
        message.emit(self.layout, slc, &mut user_part);
        let indicator = ServiceIndicator::MANAGEMENT;
        self.emit(&Msu {
            service: ServiceInformation { indicator, network: self.config.network, priority },
            label: RoutingLabel { dpc: to, opc: self.config.point_code, sls: Sls(slc.0) },
            user_part: &user_part,
        })
    }

    /// Management messages do not wait for the traffic that they manage. Whether there was a link for it.
    pub(super) fn transmit_management(&mut self, to: PointCode, slc: Slc, octets: Bytes) -> bool {
        let link = self.management_link(to, slc);
        match link {
            Some(link) => self.request(link, LinkRequest::Transmit(octets)),
            None => self.counters.discard(DiscardReason::InaccessibleDestination),
        }
        link.is_some()
    }

    /// A changeback declaration follows the traffic over the link that it leaves (section 6.3).
    pub(super) fn send_declaration(&mut self, over: Mtp3LinkId, about: Mtp3LinkId, code: ChangebackCode) {
        let (to, slc) = (self.adjacent(about), self.link(about).slc);
        let octets = self.management(to, slc, ManagementMessage::Cbd(code), self.top_priority());
        self.request(over, LinkRequest::Transmit(octets));
        self.counters.management_sent(ManagementMessage::Cbd(code));
    }

    /// A signalling route set congestion test goes where traffic to the destination goes, with the priority that it
    /// asks about.
    pub(super) fn send_test_of_congestion(&mut self, to: PointCode, priority: u8) {
        let octets = self.management(to, Slc(0), ManagementMessage::Rct, priority);
        if self.transmit_management(to, Slc(0), octets) {
            self.counters.management_sent(ManagementMessage::Rct);
        }
    }

    /// The link for a management message: of the direct link set if one is available, else of the best route, else
    /// one that is only inhibited (section 10.5).
    pub(super) fn management_link(&self, to: PointCode, slc: Slc) -> Option<Mtp3LinkId> {
        let destination = self.table.find(to)?;
        let routes = &self.table.destination(destination).routes;
        let direct = routes.iter().filter(|route| self.link_set(route.link_set).adjacent == to);
        let others = routes.iter().filter(|route| {
            self.link_set(route.link_set).adjacent != to && route.state != RouteState::Prohibited
        });
        for route in direct.clone().chain(others) {
            let links: Vec<_> = self.available_links(route.link_set).collect();
            if let Some(at) = usize::from(slc.0).checked_rem(links.len()) {
                return links.get(at).copied();
            }
        }
        let mut inhibited = direct.flat_map(|route| self.link_set(route.link_set).links.iter().copied());
        inhibited.find(|id| self.link(*id).works())
    }

    /// Tells if the far end of a link can be told something without that link.
    pub(super) fn has_way_around(&self, link: Mtp3LinkId) -> bool {
        let link_set = self.link(link).set;
        self.available_links(link_set).any(|other| other != link) || self.is_adjacent_reached(link_set)
    }

    /// Tells if the point at the end of a link set can be reached over another one.
    pub(super) fn is_adjacent_reached(&self, link_set: LinkSetId) -> bool {
        let Some(destination) = self.table.find(self.link_set(link_set).adjacent) else { return false };
        self.table.destination(destination).routes.iter().any(|route| {
            route.link_set != link_set
                && route.state != RouteState::Prohibited
                && self.available_links(route.link_set).next().is_some()
        })
    }
}
