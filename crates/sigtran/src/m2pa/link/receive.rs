//! Handling of messages from the peer.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::link::{LinkIndication, OutOfServiceReason};

use super::{EarlierLife, Flow, GoAhead, LINK_STATUS_STREAM, Link, Period, T6, USER_DATA_STREAM};
use crate::m2pa::{
    AlignmentInput, AlignmentState, Body, LinkInput, LinkState, LinkStatus, Message, OutageInput,
    PAYLOAD_PROTOCOL, Proving, SequenceNumber, UserData,
};
use crate::transport::StreamNumber;

impl Link {
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# If M2PA receives a message from SCTP with an invalid Message Class or
    //# unsupported Message Type in the Common Message Header, M2PA SHALL
    //# discard the message.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        stream: StreamNumber,
        payload_protocol: u32,
        octets: &Bytes,
    ) {
        if payload_protocol != PAYLOAD_PROTOCOL {
            self.counters.discarded.payload_protocol += 1;
            return;
        }
        let Ok(message) = Message::parse(octets) else {
            self.counters.discarded.malformed += 1;
            return;
        };
        let Message { bsn, fsn, body } = message;
        match (stream, body) {
            (USER_DATA_STREAM, Body::Acknowledgement) => self.receive_user_data(now, bsn, fsn, None),
            (USER_DATA_STREAM, Body::UserData(data)) => self.receive_user_data(now, bsn, fsn, Some(data)),
            // Some peers send Processor Outage on the wrong one of the two, which does no harm.
            (LINK_STATUS_STREAM | USER_DATA_STREAM, Body::LinkStatus(status)) => {
                if !self.receive_status(now, stream, bsn, &status) {
                    self.counters.discarded.status_ignored += 1;
                }
                if status == LinkStatus::OutOfService {
                    self.earlier_life = EarlierLife::Over;
                }
            }
            _ => self.counters.discarded.wrong_stream += 1,
        }
    }

    /// Says whether the status means anything in this state.
    fn receive_status(
        &mut self,
        now: Instant,
        stream: StreamNumber,
        bsn: SequenceNumber,
        status: &LinkStatus,
    ) -> bool {
        if self.state == LinkState::InitialAlignment {
            return self.receive_status_aligning(now, stream, bsn, status);
        }
        let is_aligned = matches!(self.state, LinkState::AlignedNotReady | LinkState::AlignedReady);
        let lost = OutOfServiceReason::PeerOutOfService;
        match status {
            LinkStatus::Alignment => self.drive_link(now, LinkInput::PeerAligns, lost),
            LinkStatus::OutOfService => self.drive_link(now, LinkInput::PeerOutOfService, lost),
            LinkStatus::Ready if is_aligned => {
                // What was sent at the end of our own proving, and reached a peer that was proving still, is sent
                // again; had the peer taken it, it throws the second away.
                self.send_again_after(now, bsn);
                self.drive_link(now, LinkInput::PeerReady, lost)
            }
            // On the other stream it is a late one of the alignment.
            LinkStatus::Ready if stream == USER_DATA_STREAM => {
                self.drive_outage(now, OutageInput::Ready, Some(bsn))
            }
            LinkStatus::ProvingNormal(_) | LinkStatus::ProvingEmergency(_) | LinkStatus::Ready => false,
            LinkStatus::ProcessorOutage if self.state == LinkState::ProcessorOutage => {
                self.drive_outage(now, OutageInput::RemoteOutage, Some(bsn))
            }
            LinkStatus::ProcessorOutage => self.drive_link(now, LinkInput::PeerOutage, lost),
            LinkStatus::ProcessorRecovered => self.drive_outage(now, OutageInput::RemoteRecovered, Some(bsn)),
            LinkStatus::Busy => self.receive_busy(now),
            LinkStatus::BusyEnded => self.receive_busy_ended(now),
        }
    }

    fn receive_status_aligning(
        &mut self,
        now: Instant,
        stream: StreamNumber,
        bsn: SequenceNumber,
        status: &LinkStatus,
    ) -> bool {
        let omits_proving =
            self.config.proving == Proving::Omitted && self.alignment == AlignmentState::NotAligned;
        let input = match status {
            LinkStatus::Alignment | LinkStatus::ProvingNormal(_) | LinkStatus::ProvingEmergency(_)
                if omits_proving =>
            {
                AlignmentInput::PeerHeardProvingOmitted
            }
            // A peer that omits proving as well has heard our Alignment, though we missed its own.
            LinkStatus::Ready if omits_proving && self.earlier_life == EarlierLife::Over => {
                self.drive_alignment(now, AlignmentInput::PeerHeardProvingOmitted);
                return self.receive_status(now, stream, bsn, status);
            }
            LinkStatus::Alignment => AlignmentInput::Alignment,
            LinkStatus::ProvingNormal(_) => AlignmentInput::ProvingNormal,
            LinkStatus::ProvingEmergency(_)
                if self.alignment == AlignmentState::Proving && self.period == Period::Normal =>
            {
                AlignmentInput::ProvingEmergencyInNormalPeriod
            }
            LinkStatus::ProvingEmergency(_) => AlignmentInput::ProvingEmergency,
            LinkStatus::OutOfService => AlignmentInput::OutOfService,
            _ => return false,
        };
        // While both prove, more of the peer's proving messages are what is wanted, not a surprise.
        let is_expected = self.alignment == AlignmentState::Proving
            && matches!(status, LinkStatus::ProvingNormal(_) | LinkStatus::ProvingEmergency(_));
        self.drive_alignment(now, input) || is_expected
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.5
    //# When the peer M2PA receives the first Link Status Busy message, it
    //# SHALL start the Remote Congestion timer T6 if there are messages in
    //# the retransmission buffer awaiting acknowledgement (i.e., T7 is
    //# running).
    fn receive_busy(&mut self, now: Instant) -> bool {
        if !self.carries_messages() {
            return false;
        }
        if self.peer == Flow::Free {
            self.peer = Flow::Congested;
            if self.transmission.outstanding() > 0 {
                self.timers.start(T6, now.saturating_add(self.config.timers.t6));
            }
        }
        true
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.5
    //# When the peer M2PA receives the Link Status Busy Ended message and T6
    //# has not expired, it SHALL stop T6 (if T6 is running) and start T7 (if
    //# there are messages awaiting acknowledgement in the retransmission
    //# buffer).
    fn receive_busy_ended(&mut self, now: Instant) -> bool {
        if self.peer == Flow::Free {
            return false;
        }
        self.peer = Flow::Free;
        self.timers.stop(T6);
        self.acknowledgements_due_from = now;
        true
    }

    fn receive_user_data(
        &mut self,
        now: Instant,
        bsn: SequenceNumber,
        fsn: SequenceNumber,
        data: Option<UserData>,
    ) {
        match self.state {
            LinkState::AlignedReady | LinkState::AlignedNotReady => {
                // What is left of an earlier life of the link must not bring this one into service.
                if !self.reception.is_in_sequence(fsn, data.is_some()) {
                    self.counters.discarded.out_of_sequence += 1;
                    return;
                }
                let is_unreasonable = !self.send_again_after(now, bsn);
                if self.reception.note_backward(is_unreasonable) {
                    self.drive_link(now, LinkInput::LinkFailure, OutOfServiceReason::AbnormalSequence);
                    return;
                }
                if is_unreasonable {
                    self.counters.discarded.out_of_sequence += 1;
                    return;
                }
                self.drive_link(now, LinkInput::PeerReady, OutOfServiceReason::PeerOutOfService);
            }
            LinkState::InService | LinkState::ProcessorOutage => {
                let acknowledged = self.transmission.acknowledge(now, bsn);
                self.counters.acknowledged += acknowledged.unwrap_or(0);
                self.counters.unreasonable_bsn += u64::from(acknowledged.is_err());
                // Q.703, section 5.3.2: two of three that explain nothing are a failure of the link.
                if self.reception.note_backward(acknowledged.is_err()) {
                    self.drive_link(now, LinkInput::LinkFailure, OutOfServiceReason::AbnormalSequence);
                    return;
                }
            }
            _ => {
                self.counters.discarded.user_data_out_of_service += 1;
                return;
            }
        }
        self.take(fsn, data);
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# If M2PA receives a User Data message with an FSN that is out of
    //# order, M2PA SHALL discard the message.
    fn take(&mut self, fsn: SequenceNumber, data: Option<UserData>) {
        let is_in_sequence = self.reception.is_in_sequence(fsn, data.is_some());
        let discarded = &mut self.counters.discarded;
        let Some(UserData { msu, .. }) = data else {
            let is_agreed = !self.outage.is_recovering() && !self.reception.is_flushed();
            discarded.out_of_sequence += u64::from(is_agreed && !is_in_sequence);
            return;
        };
        if msu.len() > self.config.longest_msu {
            discarded.too_long += 1;
        } else if self.outage.is_recovering() {
            discarded.resynchronizing += 1;
        } else if self.reception.is_flushed() {
            discarded.flushed_received += 1;
        } else if !is_in_sequence {
            discarded.out_of_sequence += 1;
        } else if self.delivering == GoAhead::Awaited
            || self.outage.is_local()
            || self.receiver == Flow::Congested
        {
            //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
            //# (a) Any User Data messages received from the peer MUST NOT be
            //# acknowledged and MUST be buffered.
            if self.reception.held() < self.config.held_max {
                self.reception.hold(msu);
            } else {
                discarded.held_too_many += 1;
            }
        } else {
            self.reception.deliver();
            self.counters.delivered += 1;
            self.indicate(LinkIndication::Received(msu));
        }
    }
}
