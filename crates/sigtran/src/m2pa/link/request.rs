//! Handling of requests from MTP3.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

use super::{GoAhead, Link, Period, Processor};
use crate::m2pa::{AlignmentInput, LinkInput, LinkState, SHORTEST_MSU, SequenceNumber};

impl Link {
    /// MTP3 asks for something. What means nothing in the link's state is ignored and counted.
    pub fn handle_request(&mut self, now: Instant, request: LinkRequest) {
        let is_meant = match request {
            LinkRequest::Start => self.drive_link(now, LinkInput::Start, OutOfServiceReason::Stopped),
            LinkRequest::Stop => self.drive_link(now, LinkInput::Stop, OutOfServiceReason::Stopped),
            LinkRequest::Emergency => self.request_period(now, Period::Emergency),
            LinkRequest::EmergencyCeases => self.request_period(now, Period::Normal),
            LinkRequest::LocalProcessorOutage => self.note_processor(Processor::Out),
            LinkRequest::LocalProcessorRecovered => self.note_processor(Processor::Working),
            LinkRequest::FlushBuffers => self.flush(now),
            LinkRequest::Continue => self.go_on(now),
            LinkRequest::RetrieveBsnt => self.retrieve_bsnt(),
            LinkRequest::RetrieveMessagesAfter(Fsn(fsnc)) => self.retrieve(now, SequenceNumber::new(fsnc)),
            LinkRequest::RetrieveUnsent => self.retrieve(now, None),
            LinkRequest::Transmit(msu) => self.queue(now, msu),
        };
        self.counters.discarded.request_ignored += u64::from(!is_meant);
        self.settle(now);
    }

    /// Has a meaning until alignment is complete.
    fn request_period(&mut self, now: Instant, period: Period) -> bool {
        let is_aligning = self.state == LinkState::InitialAlignment;
        if self.level3.period == period || !(is_aligning || self.is_out_of_service()) {
            return false;
        }
        self.level3.period = period;
        if period == Period::Emergency && is_aligning {
            self.drive_alignment(now, AlignmentInput::Emergency);
        }
        true
    }

    fn note_processor(&mut self, processor: Processor) -> bool {
        let is_new = self.level3.processor != processor;
        self.level3.processor = processor;
        is_new
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
    //# (a) M2PA SHALL discard any incoming messages that were queued and
    //# unacknowledged during the processor outage condition.
    fn flush(&mut self, now: Instant) -> bool {
        if self.state != LinkState::ProcessorOutage {
            return false;
        }
        self.counters.discarded.flushed_to_send += self.transmission.flush();
        if self.outage.is_local() {
            self.counters.discarded.flushed_received += self.reception.flush();
        }
        self.go_on(now)
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.1.4
    //# If M2PA receives a Continue command from MTP3, M2PA SHALL begin
    //# processing the incoming messages that were queued and unacknowledged
    //# during the processor outage condition.
    fn go_on(&mut self, now: Instant) -> bool {
        if self.state != LinkState::ProcessorOutage {
            return false;
        }
        self.sending = GoAhead::Given;
        self.delivering = GoAhead::Given;
        self.deliver_held();
        self.settle_outages_over(now);
        true
    }

    fn retrieve_bsnt(&mut self) -> bool {
        let is_known = self.is_out_of_service();
        self.indicate(if is_known {
            LinkIndication::Bsnt(self.reception.backward().into())
        } else {
            LinkIndication::BsntNotRetrievable
        });
        is_known
    }

    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.3
    //# If M2PA receives a Retrieval Request and FSNC request from MTP3, M2PA
    //# SHALL retrieve from its buffers and deliver to MTP3 in order:
    fn retrieve(&mut self, now: Instant, fsnc: Option<SequenceNumber>) -> bool {
        if !self.is_out_of_service() {
            self.indicate(LinkIndication::RetrievalNotPossible);
            return false;
        }
        let (taken, messages) = self.transmission.retrieve_after(now, fsnc);
        self.counters.acknowledged += taken;
        for msu in messages {
            self.counters.retrieved += 1;
            self.indicate(LinkIndication::Retrieved(msu));
        }
        self.indicate(LinkIndication::RetrievalComplete);
        true
    }

    /// Takes a message in any state, so that what MTP3 gives before it knows of a failure can be retrieved.
    fn queue(&mut self, now: Instant, msu: Bytes) -> bool {
        if !(SHORTEST_MSU..=self.config.longest_msu).contains(&msu.len()) {
            self.counters.discarded.unsuitable_to_send += 1;
        } else if self.transmission.len() >= self.config.buffer_max {
            self.counters.discarded.buffer_full += 1;
        } else if self.config.waiting_max.is_some_and(|most| self.transmission.waiting() >= most) {
            self.counters.discarded.queue_full += 1;
        } else {
            self.counters.accepted += 1;
            self.transmission.push(now, msu);
        }
        true
    }
}
