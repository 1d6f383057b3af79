//! Point codes that lie behind this point: a signalling gateway reaches them through its interworking function, over
//! M3UA, and the SS7 network sees the gateway as the transfer point in front of them (RFC 4666, sections 1.4.1 and
//! 1.4.3).
//!
//! Messages for them leave as indications whose destination is not this point's own code. Whether they can be reached
//! is told by [`Node::set_served`], and told on as transfer prohibited and allowed. What points elsewhere tell them by
//! management (TFC, UPU) this point takes in their place, and indicates: M3UA carries no management of MTP3.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::node::config::CongestionMethod;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::congestion::MESSAGES_PER_INDICATION;
use crate::mtp3::node::machines::routes::RouteState;
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{ManagementMessage, Msu, ServiceIndicator, Slc};
use crate::transfer::{Transfer, TransferIndication};

/// A point code behind this point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    is_available: bool,
    /// The congestion on the way there, 0 to 3.
    congestion: u8,
    /// Messages since an originating point was last told of it.
    since_transfer_controlled: u8,
}

impl Node {
    /// A point code that lies behind this point can be reached, or no more: adjacent points are told. One that is not
    /// configured is passed over. None is available before this says so.
    pub fn set_served(&mut self, now: Instant, code: PointCode, is_available: bool) {
        self.now = now;
        let Some(served) = self.served.get_mut(&code) else { return };
        if std::mem::replace(&mut served.is_available, is_available) == is_available {
            return;
        }
        if !is_available {
            served.congestion = 0;
        }
        if self.is_running() {
            for to in self.link_set_ids() {
                self.say_of_served(code, to);
            }
        }
        self.indicate_all(&if is_available {
            TransferIndication::Resume(code)
        } else {
            TransferIndication::Pause(code)
        });
    }

    /// The way to a point code behind this point is congested: 0 not at all, to 3. Points that send there are told by
    /// transfer controlled, for the first and every eighth message.
    pub fn set_served_congestion(&mut self, code: PointCode, level: u8) {
        if let Some(served) = self.served.get_mut(&code) {
            (served.congestion, served.since_transfer_controlled) = (level, 0);
        }
    }

    /// Gives the route state that the point at the end of a link set is to believe of a point code behind this one.
    pub(super) fn status_of_served(&self, code: PointCode) -> Option<RouteState> {
        let served = self.served.get(&code)?;
        Some(if served.is_available { RouteState::Allowed } else { RouteState::Prohibited })
    }

    pub(super) fn say_of_served(&mut self, code: PointCode, to: LinkSetId) {
        let Some(state) = self.status_of_served(code) else { return };
        let adjacent = self.link_set(to).adjacent;
        if self.management_link(adjacent, Slc(0)).is_some() {
            let message = match state {
                RouteState::Allowed | RouteState::Restricted => ManagementMessage::Tfa(code),
                RouteState::Prohibited => ManagementMessage::Tfp(code),
            };
            self.send_management(adjacent, Slc(0), message);
        }
    }

    /// At the restart of either, the point at the end of a link set is sent transfer prohibited for what it must not
    /// send here.
    pub(super) fn send_served_prohibited(&mut self, to: LinkSetId) {
        let codes: Vec<PointCode> = self.served.keys().copied().collect();
        for code in codes {
            if self.status_of_served(code) == Some(RouteState::Prohibited) {
                self.say_of_served(code, to);
            }
        }
    }

    /// A message of another point for one behind this.
    pub(super) fn received_for_served(
        &mut self,
        now: Instant,
        link: Mtp3LinkId,
        msu: &Msu<'_>,
        octets: &Bytes,
    ) {
        let (code, opc) = (msu.label.dpc, msu.label.opc);
        if !self.is_running() {
            return self.counters.discard(DiscardReason::Restarting);
        }
        if opc == self.config.point_code {
            self.report(ManagementEvent::CircularRoute(code));
            return self.counters.discard(DiscardReason::CircularRoute);
        }
        let Some(served) = self.served.get_mut(&code) else { return };
        if !served.is_available {
            self.counters.discard(DiscardReason::InaccessibleDestination);
            let from = self.link(link).set;
            let key = Key::ServedProhibited(code, from);
            if !self.schedule.is_running(key) {
                self.start(self.now, key, Mtp3Timer::T8);
                self.say_of_served(code, from);
            }
            return;
        }
        if msu.service.indicator == ServiceIndicator::MANAGEMENT {
            return self.management_for_served(now, msu);
        }
        if served.congestion > 0 {
            let is_time = served.since_transfer_controlled == 0;
            served.since_transfer_controlled =
                (served.since_transfer_controlled + 1) % MESSAGES_PER_INDICATION;
            let level = match self.config.congestion {
                CongestionMethod::International => 0,
                CongestionMethod::National => served.congestion,
            };
            if is_time {
                self.send_management(opc, Slc(0), ManagementMessage::Tfc(code, level));
            }
        }
        self.counters.delivered += 1;
        let user_data = octets.slice_ref(msu.user_part);
        let transfer = Transfer { service: msu.service, label: msu.label, user_data };
        self.indicate(msu.service.indicator, TransferIndication::Transfer(transfer));
    }

    /// A message of a user part here for a point behind this.
    pub(super) fn accept_for_served(&mut self, transfer: &Transfer) -> Result<(), DiscardReason> {
        match self.status_of_served(transfer.label.dpc) {
            None => Err(DiscardReason::UnknownDestination),
            Some(RouteState::Prohibited) => Err(DiscardReason::InaccessibleDestination),
            Some(RouteState::Allowed | RouteState::Restricted) => {
                let indication = TransferIndication::Transfer(transfer.clone());
                self.counters.delivered += 1;
                self.indicate(transfer.service.indicator, indication);
                Ok(())
            }
        }
    }
}
