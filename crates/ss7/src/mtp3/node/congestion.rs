//! Congestion (Q.704, section 11.2; RTCC, RCAT): users and originating points are told first, and only what a national
//! network marks as least important is discarded.

use slantpath_base::{Instant, StateMachine, Transition};

use crate::PointCode;
use crate::mtp3::node::config::CongestionMethod;
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Timer;
use crate::mtp3::node::{DiscardReason, Held, LinkId, ManagementEvent, Node, Origin};
use crate::mtp3::{ManagementMessage, ServiceInformation, Slc};
use crate::transfer::{StatusCause, TransferIndication};

/// Users and originating points are told for the first and then for every so many messages (section 11.2.3).
pub(super) const MESSAGES_PER_INDICATION: u8 = 8;

/// States of the test of a congested route set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionTestState {
    /// T15 runs to the next test.
    Congested,
    /// Route set that is not congested.
    #[default]
    Idle,
    /// A test was sent: T16 runs.
    Testing,
}

/// Events that the test reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionTestInput {
    /// The destination cannot be reached any more.
    Inaccessible,
    /// T15 expired.
    T15,
    /// T16 expired, and the status one lower is not congested.
    T16Ended,
    /// T16 expired, and the status one lower is still congested.
    T16Lowered,
    /// Transfer controlled was received.
    Tfc,
}

/// Actions of the test's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionTestAction {
    /// Take the status one lower and tell the users.
    Lower,
    /// Send a signalling route set congestion test of the priority one below the status.
    SendRct,
    /// Start T15.
    StartT15,
    /// Start T16.
    StartT16,
    /// Stop T15.
    StopT15,
    /// Stop T16.
    StopT16,
}

type Row = Transition<CongestionTestState, CongestionTestInput, CongestionTestAction>;

const fn row(
    from: CongestionTestState,
    on: CongestionTestInput,
    to: CongestionTestState,
    actions: &'static [CongestionTestAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// The signalling route set congestion test of national networks.
pub const CONGESTION_TEST: StateMachine<CongestionTestState, CongestionTestInput, CongestionTestAction> = {
    use CongestionTestAction as A;
    use CongestionTestInput as I;
    use CongestionTestState as S;
    StateMachine {
        name: "Signalling route set congestion test",
        source: "Q.704, sections 11.2.4 and 13.9 (RTCC, RCAT)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::Tfc, S::Congested, &[A::StartT15]),
            row(S::Congested, I::Tfc, S::Congested, &[A::StartT15]),
            row(S::Congested, I::T15, S::Testing, &[A::SendRct, A::StartT16]),
            row(S::Congested, I::Inaccessible, S::Idle, &[A::StopT15]),
            row(S::Testing, I::Tfc, S::Congested, &[A::StopT16, A::StartT15]),
            row(S::Testing, I::T16Lowered, S::Testing, &[A::Lower, A::SendRct, A::StartT16]),
            row(S::Testing, I::T16Ended, S::Idle, &[A::Lower]),
            row(S::Testing, I::Inaccessible, S::Idle, &[A::StopT16]),
        ],
    }
};

/// Knowledge of the congestion on the way to a destination.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RouteSetCongestion {
    pub(super) state: CongestionTestState,
    /// 0, not congested, to 3.
    pub(super) status: u8,
}

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

    /// The priority of management messages: the highest, where there are priorities.
    pub(super) fn top_priority(&self) -> u8 {
        match self.config.congestion {
            CongestionMethod::International => 0,
            CongestionMethod::National => 3,
        }
    }

    pub(super) fn link_congestion(&mut self, now: Instant, link: LinkId, status: u8) {
        if self.link(link).congestion != status {
            self.link_mut(link).congestion = status;
            self.measure(now, link);
            self.report(ManagementEvent::LinkCongestion(link, status));
        }
    }

    /// A message is about to take a link: tells whoever sends too much. Whether it may go.
    pub(super) fn pass_congestion(&mut self, link: LinkId, message: &Held) -> bool {
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
                CongestionTestAction::StartT15 => self.start(now, key(Timer::T15), Timer::T15),
                CongestionTestAction::StartT16 => self.start(now, key(Timer::T16), Timer::T16),
                CongestionTestAction::StopT15 => self.schedule.stop(key(Timer::T15)),
                CongestionTestAction::StopT16 => self.schedule.stop(key(Timer::T16)),
            }
        }
    }
}
