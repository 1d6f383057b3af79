//! The three tables at work: which input each gets, and what its actions do.

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::link::{LinkIndication, OutOfServiceReason};

use super::{
    EarlierLife, Flow, GoAhead, LINK_STATUS_STREAM, Level3, Link, PROVING_INTERVAL, Period, Processor,
    Service, T1, T2, T3, T4, T5, T6, T7, USER_DATA_STREAM,
};
use crate::m2pa::transmission::Unreasonable;
use crate::m2pa::{
    ALIGNMENT_MACHINE, AlignmentAction, AlignmentInput, LINK_MACHINE, LinkAction, LinkInput, LinkState,
    LinkStatus, OUTAGE_MACHINE, OutageAction, OutageInput, OutageState, Proving, SequenceNumber,
};

impl Link {
    /// Link state control. `reason` is what MTP3 is told if the link goes out of service by it. Says whether the
    /// input means anything in this state.
    pub(super) fn drive_link(&mut self, now: Instant, input: LinkInput, reason: OutOfServiceReason) -> bool {
        let Some(row) = LINK_MACHINE.next(self.state, input) else { return false };
        self.state = row.to;
        for action in row.actions {
            self.perform(now, *action, reason);
        }
        true
    }

    fn perform(&mut self, now: Instant, action: LinkAction, reason: OutOfServiceReason) {
        match action {
            LinkAction::BeginLocalOutage => {
                self.drive_outage(now, OutageInput::LocalOutage, None);
            }
            LinkAction::BeginRemoteOutage => {
                self.drive_outage(now, OutageInput::RemoteOutage, None);
            }
            LinkAction::EndLocalOutage => {
                self.drive_outage(now, OutageInput::LocalRecoveredBeforeService, None);
            }
            LinkAction::IndicateInService => {
                self.service = Service::Indicated;
                self.acknowledgements_due_from = now;
                self.indicate(LinkIndication::InService);
            }
            LinkAction::IndicateOutOfService => self.indicate(LinkIndication::OutOfService(reason)),
            LinkAction::Release => self.release(now),
            LinkAction::RepeatProcessorOutage => {
                self.send_status(USER_DATA_STREAM, LinkStatus::ProcessorOutage);
            }
            LinkAction::ResetBuffers => {
                self.counters.discarded.not_retrieved += self.transmission.reset();
                self.reception = super::Reception::new();
            }
            LinkAction::SendOutOfService => self.send_status(LINK_STATUS_STREAM, LinkStatus::OutOfService),
            LinkAction::SendReady => self.send_status(LINK_STATUS_STREAM, LinkStatus::Ready),
            LinkAction::StartAlignment => {
                self.drive_alignment(now, AlignmentInput::Start);
            }
            LinkAction::StartT1 => self.timers.start(T1, now.saturating_add(self.config.timers.t1)),
            LinkAction::StopT1 => self.timers.stop(T1),
        }
    }

    fn release(&mut self, now: Instant) {
        for timer in [T1, T5, T6, T7] {
            self.timers.stop(timer);
        }
        self.drive_alignment(now, AlignmentInput::Stop);
        self.drive_outage(now, OutageInput::Stop, None);
        self.level3 = Level3 { period: Period::Normal, processor: Processor::Working };
        self.service = Service::NotIndicated;
        self.peer = Flow::Free;
        self.receiver_signalled = Flow::Free;
        self.earlier_life = EarlierLife::MayArrive;
        self.sending = GoAhead::Given;
        self.delivering = GoAhead::Given;
        self.counters.discarded.held_at_failure += self.reception.rewind();
    }

    /// Initial alignment control. Says whether the input means anything in its state.
    pub(super) fn drive_alignment(&mut self, now: Instant, input: AlignmentInput) -> bool {
        let Some(row) = ALIGNMENT_MACHINE.next(self.alignment, input) else { return false };
        self.alignment = row.to;
        for action in row.actions {
            self.align(now, *action);
        }
        true
    }

    fn align(&mut self, now: Instant, action: AlignmentAction) {
        let timers = self.config.timers;
        match action {
            AlignmentAction::Complete => {
                let input = if self.level3.processor == Processor::Out {
                    LinkInput::AlignmentCompleteLocalOutage
                } else if self.transmission.has_waiting() {
                    LinkInput::AlignmentCompleteTrafficWaits
                } else {
                    LinkInput::AlignmentComplete
                };
                self.drive_link(now, input, OutOfServiceReason::AlignmentNotPossible);
            }
            AlignmentAction::NotPossible => {
                let reason = OutOfServiceReason::AlignmentNotPossible;
                self.drive_link(now, LinkInput::AlignmentNotPossible, reason);
            }
            AlignmentAction::SendAlignment => self.send_status(LINK_STATUS_STREAM, LinkStatus::Alignment),
            AlignmentAction::SendProving => self.send_proving(now),
            AlignmentAction::StartT2 => self.timers.start(T2, now.saturating_add(timers.t2)),
            AlignmentAction::StartT3 => self.timers.start(T3, now.saturating_add(timers.t3)),
            AlignmentAction::StartT4 => self.timers.start(T4, now.saturating_add(self.proving_period())),
            AlignmentAction::StopProving => self.timers.stop(PROVING_INTERVAL),
            AlignmentAction::StopT2 => self.timers.stop(T2),
            AlignmentAction::StopT3 => self.timers.stop(T3),
            AlignmentAction::StopT4 => self.timers.stop(T4),
            AlignmentAction::UseEmergencyPeriod => self.period = Period::Emergency,
            AlignmentAction::UseRequestedPeriod => self.period = self.level3.period,
        }
    }

    fn proving_period(&self) -> Duration {
        match self.period {
            Period::Emergency => self.config.timers.t4_emergency,
            Period::Normal => self.config.timers.t4_normal,
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-2.3.2.1
    //# It is RECOMMENDED that the filler field contain a number pattern that
    //# varies among the Link Status Proving messages, and that allows the
    //# SCTP checksum [RFC3309] to be used to verify the accuracy of
    //# transmission.
    fn send_proving(&mut self, now: Instant) {
        let Proving::Every { interval, filler_octets } = self.config.proving else { return };
        self.timers.start(PROVING_INTERVAL, now.saturating_add(interval));
        // A load that the association does not take is proved no better by a queue of it.
        if self.transport == Flow::Congested {
            return;
        }
        let pattern = self.proved.to_be_bytes();
        self.proved += 1;
        let filler: Bytes = pattern.iter().rev().copied().cycle().take(filler_octets).collect();
        let status = match self.level3.period {
            Period::Emergency => LinkStatus::ProvingEmergency(filler),
            Period::Normal => LinkStatus::ProvingNormal(filler),
        };
        self.send_status(LINK_STATUS_STREAM, status);
    }

    /// Processor outage control; `bsn` is that of the message that is the input. Says whether the input means anything
    /// in its state.
    pub(super) fn drive_outage(
        &mut self,
        now: Instant,
        input: OutageInput,
        bsn: Option<SequenceNumber>,
    ) -> bool {
        let Some(row) = OUTAGE_MACHINE.next(self.outage, input) else { return false };
        self.outage = row.to;
        for action in row.actions {
            match action {
                OutageAction::IndicateRemoteOutage => {
                    self.sending = GoAhead::Awaited;
                    self.indicate(LinkIndication::RemoteProcessorOutage);
                }
                OutageAction::IndicateRemoteRecovered => {
                    // What MTP3 has said during the outage is not what it says of its end.
                    self.sending = GoAhead::Awaited;
                    self.indicate(LinkIndication::RemoteProcessorRecovered);
                }
                OutageAction::Resynchronize => {
                    if let Some(bsn) = bsn
                        && !self.resynchronize(now, bsn)
                    {
                        self.drive_link(now, LinkInput::LinkFailure, OutOfServiceReason::AbnormalSequence);
                        return true;
                    }
                }
                OutageAction::SendProcessorOutage => {
                    self.delivering = GoAhead::Awaited;
                    self.send_status(USER_DATA_STREAM, LinkStatus::ProcessorOutage);
                }
                OutageAction::SendProcessorRecovered => self.send_agreement(LinkStatus::ProcessorRecovered),
                OutageAction::SendReady => self.send_agreement(LinkStatus::Ready),
            }
        }
        self.settle_outages_over(now);
        true
    }

    /// Messages flow again once neither end has an outage and MTP3 has said how to go on.
    pub(super) fn settle_outages_over(&mut self, now: Instant) {
        let may_go_on = self.sending == GoAhead::Given && self.delivering == GoAhead::Given;
        if self.outage == OutageState::NoOutage && self.state == LinkState::ProcessorOutage && may_go_on {
            let over = match self.service {
                Service::Indicated => LinkInput::OutagesOver,
                Service::NotIndicated => LinkInput::OutagesOverFirstService,
            };
            self.drive_link(now, over, OutOfServiceReason::PeerOutOfService);
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
    //# The BSN in the Link Status Ready message is set to the
    //# FSN of the last User Data message received (and not discarded) from
    //# the peer M2PA.
    fn send_agreement(&mut self, status: LinkStatus) {
        // What could not be delivered is thrown away, and the peer sends it again: so nothing that the peer takes
        // for received can be lost if the link fails.
        self.counters.discarded.resynchronizing += self.reception.rewind();
        self.reception.acknowledged();
        self.send_status(USER_DATA_STREAM, status);
    }

    /// Goes on sending after what the peer says it has taken; says whether it can have taken that.
    fn resynchronize(&mut self, now: Instant, bsn: SequenceNumber) -> bool {
        let taken = self.transmission.resynchronize(now, bsn);
        self.count_taken(taken)
    }

    /// Goes on sending after what the peer says at alignment that it has taken; says whether it can have taken that.
    pub(super) fn send_again_after(&mut self, now: Instant, bsn: SequenceNumber) -> bool {
        let taken = self.transmission.send_again_after(now, bsn);
        self.count_taken(taken)
    }

    fn count_taken(&mut self, taken: Result<u64, Unreasonable>) -> bool {
        self.counters.acknowledged += taken.unwrap_or(0);
        self.counters.unreasonable_bsn += u64::from(taken.is_err());
        taken.is_ok()
    }

    /// Delivers the held messages, if nothing is in their way any more.
    pub(super) fn deliver_held(&mut self) {
        if self.receiver == Flow::Congested || self.delivering == GoAhead::Awaited {
            return;
        }
        for msu in self.reception.release_held() {
            self.counters.delivered += 1;
            self.indicate(LinkIndication::Received(msu));
        }
    }

    /// Puts MTP3's last word on the local processor into effect as soon as the states allow: an outage that begins
    /// before the end of the last has been agreed waits for that.
    pub(super) fn settle_local_outage(&mut self, now: Instant) {
        let input = match self.level3.processor {
            Processor::Out if !self.outage.is_local() && !self.outage.is_recovering() => {
                OutageInput::LocalOutage
            }
            Processor::Working if self.outage.is_local() => OutageInput::LocalRecovered,
            _ => return,
        };
        if self.state == LinkState::ProcessorOutage {
            self.drive_outage(now, input, None);
        } else {
            let input = match input {
                OutageInput::LocalOutage => LinkInput::LocalOutage,
                _ => LinkInput::LocalRecovered,
            };
            self.drive_link(now, input, OutOfServiceReason::PeerOutOfService);
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.5
    //# M2PA SHALL send a
    //# Link Status Busy message to its peer at the beginning of a receive
    //# congestion condition where MTP2 would send SIB.
    pub(super) fn settle_receive_congestion(&mut self, now: Instant) {
        if !self.carries_messages() || self.receiver == self.receiver_signalled {
            return;
        }
        self.receiver_signalled = self.receiver;
        match self.receiver {
            Flow::Congested => self.send_busy(now),
            Flow::Free => {
                self.timers.stop(T5);
                self.deliver_held();
                self.send_status(LINK_STATUS_STREAM, LinkStatus::BusyEnded);
            }
        }
    }

    /// Sends Busy, and again after T5 if that was chosen.
    pub(super) fn send_busy(&mut self, now: Instant) {
        self.send_status(LINK_STATUS_STREAM, LinkStatus::Busy);
        if let Some(t5) = self.config.timers.t5 {
            self.timers.start(T5, now.saturating_add(t5));
        }
    }
}
