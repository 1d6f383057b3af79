//! Congestion (Q.704, section 11.2; RTCC, RCAT): users and originating points are told first, and only what a national
//! network marks as least important is discarded.

use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::node::config::CongestionMethod;
use crate::mtp3::node::held::{Held, Origin};
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::machines::congestion::{
    CONGESTION_TEST, CongestionTestAction, CongestionTestInput, MESSAGES_PER_INDICATION,
};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{ManagementMessage, RoutingLabel, ServiceIndicator, ServiceInformation, Slc};
use crate::transfer::{StatusCause, TransferIndication};

impl Node {
    /// The congestion status of a destination's route set, 0 to 3, as transfer controlled messages have it. 0 for what
    /// is not known here.
    pub fn congestion_status(&self, destination: PointCode) -> u8 {
        self.table.find(destination).map_or(0, |index| self.table.destination(index).congestion.status)
    }

    /// This point itself is congested: 0 not at all, to 3. The origins of messages that it transfers are told as if the
    /// link were that each takes; Q.704 leaves it to the implementation where a point is congested.
    pub const fn set_overload(&mut self, status: u8) {
        self.overload = status;
    }

    /// A message of another point is not taken, for the load that there is already: its origin is told by transfer
    /// controlled, if there is a way to it.
    pub fn refuse_for_load(&mut self, now: Instant, label: RoutingLabel) {
        self.now = now;
        let status = match self.config.congestion {
            CongestionMethod::International => 0,
            CongestionMethod::National => 1,
        };
        self.send_management(label.opc, Slc(0), ManagementMessage::Tfc(label.dpc, status));
    }

    /// A user part that is not here was called by a message that no link brought. Whether it is missing.
    pub fn lacks_user(&mut self, user: ServiceIndicator) -> bool {
        let is_missing = !self.config.users.contains(&user);
        if is_missing {
            self.counters.discard(DiscardReason::UserPartUnavailable);
        }
        is_missing
    }

    /// The priority of management messages: the highest, where there are priorities.
    pub(super) fn top_priority(&self) -> u8 {
        match self.config.congestion {
            CongestionMethod::International => 0,
            CongestionMethod::National => 3,
        }
    }

    pub(super) fn link_congestion(&mut self, now: Instant, link: Mtp3LinkId, status: u8) {
        if self.link(link).congestion != status {
            self.link_mut(link).congestion = status;
            self.measure(now, link);
            self.report(ManagementEvent::LinkCongestion(link, status));
        }
    }

    /// A message is about to take a link: tells whoever sends too much. Whether it may go.
    pub(super) fn pass_congestion(&mut self, link: Mtp3LinkId, message: &Held) -> bool {
        let on_link = self.link(link).congestion;
        let destination = self.table.destination_mut(message.destination);
        let level = match message.origin {
            Origin::Local => on_link.max(destination.congestion.status),
            Origin::Transit { .. } => on_link.max(self.overload),
            Origin::Retrieved => on_link,
        };
        if level == 0 {
            (destination.since_status, destination.since_transfer_controlled) = (0, 0);
            return true;
        }
        let service = ServiceInformation::from_octet(message.octets.first().copied().unwrap_or_default());
        match self.config.congestion {
            CongestionMethod::International => {
                self.indicate_congestion(message, service, 1);
                true
            }
            CongestionMethod::National if service.priority >= level => true,
            CongestionMethod::National => {
                self.indicate_congestion(message, service, level);
                // The level below the status is the one from which on messages are discarded.
                service.priority + 1 >= on_link
            }
        }
    }

    /// Tells the user or the originating point of a message that its destination is congested, now and then.
    pub(super) fn indicate_congestion(&mut self, message: &Held, service: ServiceInformation, status: u8) {
        let destination = self.table.destination_mut(message.destination);
        let affected = destination.code;
        let since = match message.origin {
            Origin::Local => &mut destination.since_status,
            Origin::Transit { .. } => &mut destination.since_transfer_controlled,
            Origin::Retrieved => return,
        };
        let is_time = *since == 0;
        *since = (*since + 1) % MESSAGES_PER_INDICATION;
        match message.origin {
            _ if !is_time => {}
            Origin::Local => {
                let cause = StatusCause::Congestion(status);
                self.indicate(service.indicator, TransferIndication::Status { affected, cause });
            }
            Origin::Transit { opc, .. } => {
                let level = match self.config.congestion {
                    CongestionMethod::International => 0,
                    CongestionMethod::National => status,
                };
                self.send_management(opc, Slc(0), ManagementMessage::Tfc(affected, level));
            }
            Origin::Retrieved => {}
        }
    }

    /// Transfer controlled for a destination.
    pub(super) fn transfer_controlled(&mut self, now: Instant, code: PointCode, status: u8) {
        let Some(destination) = self.table.find(code) else {
            return self.counters.discard(DiscardReason::UnknownSubject);
        };
        match self.config.congestion {
            CongestionMethod::International => {
                let cause = StatusCause::Congestion(1);
                self.indicate_all(&TransferIndication::Status { affected: code, cause });
            }
            CongestionMethod::National if status == 0 => {
                self.counters.discard(DiscardReason::Unexpected);
            }
            CongestionMethod::National => {
                self.set_congestion(destination, status);
                self.congestion_test(now, destination, CongestionTestInput::Tfc);
            }
        }
    }

    fn set_congestion(&mut self, destination: u32, status: u8) {
        self.table.measured_mut(destination).congested.follow(self.now, status > 0);
        let known = self.table.destination_mut(destination);
        if known.congestion.status != status {
            known.congestion.status = status;
            let (affected, cause) = (known.code, StatusCause::Congestion(status));
            self.indicate_all(&TransferIndication::Status { affected, cause });
        }
    }

    /// T16 expired: nobody objected to a test of the priority one below the status.
    pub(super) fn congestion_unconfirmed(&mut self, now: Instant, destination: u32) {
        let input = match self.table.destination(destination).congestion.status {
            0 | 1 => CongestionTestInput::T16Ended,
            _ => CongestionTestInput::T16Lowered,
        };
        self.congestion_test(now, destination, input);
    }

    /// A destination that cannot be reached is not congested: its users are told to pause anyway.
    pub(super) fn congestion_forgotten(&mut self, destination: u32) {
        self.table.destination_mut(destination).congestion.status = 0;
        self.table.measured_mut(destination).congested.follow(self.now, false);
        self.congestion_test(self.now, destination, CongestionTestInput::Inaccessible);
    }

    pub(super) fn congestion_test(&mut self, now: Instant, destination: u32, input: CongestionTestInput) {
        let known = self.table.destination_mut(destination);
        let Some(row) = CONGESTION_TEST.next(known.congestion.state, input) else { return };
        known.congestion.state = row.to;
        let code = known.code;
        let key = |timer| Key::Destination(destination, timer);
        for action in row.actions {
            match action {
                CongestionTestAction::Lower => {
                    let status = self.table.destination(destination).congestion.status;
                    self.set_congestion(destination, status.saturating_sub(1));
                }
                CongestionTestAction::SendRct => {
                    let status = self.table.destination(destination).congestion.status;
                    self.send_test_of_congestion(code, status.saturating_sub(1));
                }
                CongestionTestAction::StartT15 => self.start(now, key(Mtp3Timer::T15), Mtp3Timer::T15),
                CongestionTestAction::StartT16 => self.start(now, key(Mtp3Timer::T16), Mtp3Timer::T16),
                CongestionTestAction::StopT15 => self.schedule.stop(key(Mtp3Timer::T15)),
                CongestionTestAction::StopT16 => self.schedule.stop(key(Mtp3Timer::T16)),
            }
        }
    }
}
