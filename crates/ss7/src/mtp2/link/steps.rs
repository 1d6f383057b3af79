//! The steps of link state control and of initial alignment: a row of each table, and what it orders.

use slantpath_base::Instant;

use super::transmission::Fill;
use super::{Link, Timer};
use crate::link::LinkIndication;
use crate::mtp2::alignment::{ALIGNMENT, AlignmentAction, AlignmentInput};
use crate::mtp2::link_state::{LINK_STATE, LinkAction, LinkInput};
use crate::mtp2::receiver::Receiver;
use crate::mtp2::sender::Sender;
use crate::mtp2::unit::LinkStatus;

impl Link {
    pub(super) fn link_input(&mut self, now: Instant, input: LinkInput) {
        let Some(row) = LINK_STATE.next(self.state, input) else { return };
        let has_changed = self.state != row.to;
        self.state = row.to;
        for action in row.actions {
            self.act_on_link(now, *action);
        }
        if has_changed {
            self.read_repeating_again(now);
        }
    }

    fn act_on_link(&mut self, now: Instant, action: LinkAction) {
        match action {
            LinkAction::IndicateOutOfService(reason) => {
                self.indications.push_back(LinkIndication::OutOfService(reason));
            }
            LinkAction::IndicateFailure => {
                self.indications.push_back(LinkIndication::OutOfService(self.failure));
            }
            LinkAction::IndicateInService => self.indications.push_back(LinkIndication::InService),
            LinkAction::IndicateRemoteOutage => {
                if !self.outages.remote {
                    self.outages.remote = true;
                    self.timers.stop(Timer::T7 as usize);
                    self.indications.push_back(LinkIndication::RemoteProcessorOutage);
                }
            }
            LinkAction::IndicateRemoteRecovered => {
                if self.outages.remote {
                    self.outages.remote = false;
                    self.indications.push_back(LinkIndication::RemoteProcessorRecovered);
                }
            }
            LinkAction::SendFillIn => {
                self.fill = Fill::FillIn;
                self.await_acknowledgement(now);
            }
            LinkAction::SendSios => self.fill = Fill::Status(LinkStatus::OutOfService),
            LinkAction::SendSipo => {
                self.timers.stop(Timer::T7 as usize);
                self.fill = Fill::Status(LinkStatus::ProcessorOutage);
            }
            LinkAction::StartAlignment => self.start_alignment(now),
            LinkAction::StopAlignment => self.alignment_input(now, AlignmentInput::Stop),
            LinkAction::StartMonitor => self.monitor.start_in_service(),
            LinkAction::StopMonitor => {
                self.monitor.stop();
                for timer in [Timer::T5, Timer::T6, Timer::T7] {
                    self.timers.stop(timer as usize);
                }
                self.busy_since = None;
                self.is_sib_due = false;
                self.outages.remote = false;
            }
            LinkAction::StartT1 => self.start(now, Timer::T1, self.config.t1),
            LinkAction::StopT1 => self.timers.stop(Timer::T1 as usize),
        }
    }

    fn start_alignment(&mut self, now: Instant) {
        self.counters.flushed += self.sender.flush() as u64;
        let sent = self.sender.history();
        let asked = self.receiver.negative_acknowledgements();
        self.sender = Sender::new(self.config.error_correction).with_history(sent);
        self.receiver = Receiver::new(self.config.error_correction).with_history(asked);
        self.outages.remote = false;
        self.is_emergency = self.wants_emergency;
        self.proving_attempts_left = self.config.proving_attempts;
        self.indicate_congestion();
        self.alignment_input(now, AlignmentInput::Start);
    }

    pub(super) fn alignment_input(&mut self, now: Instant, input: AlignmentInput) {
        let Some(row) = ALIGNMENT.next(self.alignment, input) else { return };
        let has_changed = self.alignment != row.to;
        // A peer that goes on saying SIE changes nothing more once its wish is known.
        if !has_changed && input == AlignmentInput::Sie && self.is_emergency {
            return;
        }
        self.alignment = row.to;
        for action in row.actions {
            self.act_on_alignment(now, *action);
        }
        if has_changed {
            self.read_repeating_again(now);
        }
    }

    fn act_on_alignment(&mut self, now: Instant, action: AlignmentAction) {
        match action {
            AlignmentAction::Complete => {
                let input = if self.outages.local {
                    LinkInput::AlignmentCompleteLocalOutage
                } else {
                    LinkInput::AlignmentComplete
                };
                self.link_input(now, input);
            }
            AlignmentAction::NotPossible => self.link_input(now, LinkInput::AlignmentNotPossible),
            AlignmentAction::SendSinOrSie => {
                let status = if self.wants_emergency { LinkStatus::Emergency } else { LinkStatus::Normal };
                self.fill = Fill::Status(status);
            }
            AlignmentAction::SendSio => self.fill = Fill::Status(LinkStatus::OutOfAlignment),
            AlignmentAction::UseEmergencyPeriod => self.is_emergency = true,
            AlignmentAction::StartT2 => self.start(now, Timer::T2, self.config.t2),
            AlignmentAction::StartT3 => self.start(now, Timer::T3, self.config.t3),
            AlignmentAction::StartProving => {
                let (period, limit) = if self.is_emergency {
                    (self.config.t4_emergency, self.config.proving_errors_emergency)
                } else {
                    (self.config.t4_normal, self.config.proving_errors_normal)
                };
                self.start(now, Timer::T4, period);
                self.monitor.start_proving(limit);
            }
            AlignmentAction::StopT2 => self.timers.stop(Timer::T2 as usize),
            AlignmentAction::StopT3 => self.timers.stop(Timer::T3 as usize),
            AlignmentAction::StopProving => {
                self.timers.stop(Timer::T4 as usize);
                self.monitor.stop();
            }
        }
    }
}
