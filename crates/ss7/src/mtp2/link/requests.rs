//! Requests of level 3 to a terminal, and the transmit buffer that they fill.

use bytes::Bytes;
use slantpath_base::Instant;

use super::{Link, Outages, Timer};
use crate::link::{LinkIndication, LinkRequest};
use crate::mtp2::alignment::AlignmentInput;
use crate::mtp2::link_state::{LinkInput, LinkState};
use crate::mtp3::Fsn;

impl Link {
    /// Level 3 asks for something.
    pub fn request(&mut self, now: Instant, request: LinkRequest) {
        match request {
            LinkRequest::Start => self.link_input(now, LinkInput::Start),
            LinkRequest::Stop => self.link_input(now, LinkInput::Stop),
            LinkRequest::Emergency => {
                self.wants_emergency = true;
                self.is_emergency = true;
                self.alignment_input(now, AlignmentInput::Emergency);
            }
            LinkRequest::EmergencyCeases => self.wants_emergency = false,
            LinkRequest::LocalProcessorOutage => {
                self.outages.local = true;
                self.link_input(now, LinkInput::LocalOutage);
            }
            LinkRequest::LocalProcessorRecovered => {
                self.outages.local = false;
                let is_alone = !self.outages.remote;
                self.link_input(
                    now,
                    if is_alone { LinkInput::LocalRecoveredAlone } else { LinkInput::LocalRecovered },
                );
            }
            LinkRequest::Continue => self.go_on(now),
            LinkRequest::FlushBuffers => {
                self.counters.flushed += self.sender.flush() as u64;
                self.timers.stop(Timer::T7 as usize);
                self.indicate_congestion();
                self.go_on(now);
            }
            LinkRequest::RetrieveBsnt => {
                self.indications.push_back(LinkIndication::Bsnt(Fsn(self.receiver.bsn().into())));
            }
            LinkRequest::RetrieveMessagesAfter(Fsn(fsn)) => {
                let taken = u8::try_from(fsn).ok().filter(|fsn| *fsn < 128);
                let messages = taken.and_then(|fsn| self.sender.take_after(fsn));
                // Behind a number that was never sent nothing is known of what was, but what was not cannot be doubled.
                let messages = messages.unwrap_or_else(|| self.sender.take_waiting());
                self.hand_back(messages);
            }
            LinkRequest::RetrieveUnsent => {
                let messages = self.sender.take_waiting();
                self.hand_back(messages);
            }
            LinkRequest::Transmit(body) => self.transmit(now, body),
        }
    }

    fn hand_back(&mut self, messages: Vec<Bytes>) {
        self.indications.extend(messages.into_iter().map(LinkIndication::Retrieved));
        self.indications.push_back(LinkIndication::RetrievalComplete);
        self.indicate_congestion();
    }

    fn go_on(&mut self, now: Instant) {
        if self.outages == Outages::default() {
            self.link_input(now, LinkInput::ContinueNoOutage);
        }
    }

    fn transmit(&mut self, now: Instant, body: Bytes) {
        self.counters.messages_given += 1;
        if !matches!(self.state, LinkState::InService | LinkState::ProcessorOutage) {
            self.counters.refused_out_of_service += 1;
        } else if self.sender.waiting() >= self.config.transmit_buffer {
            self.counters.refused_buffer_full += 1;
        } else {
            self.sender.queue(now, body);
            self.indicate_congestion();
        }
    }

    /// Tells a congestion level that has changed: onset at the thresholds, abatement at three quarters of them.
    pub(super) fn indicate_congestion(&mut self) {
        let queued = self.sender.queued();
        let onset = self.config.congestion_onset;
        let mut level = usize::from(self.congestion);
        while level < onset.len() && queued >= onset[level] {
            level += 1;
        }
        while level > 0 && queued < onset[level - 1] - onset[level - 1] / 4 {
            level -= 1;
        }
        let level = u8::try_from(level).expect("there are three levels");
        if level != self.congestion {
            self.congestion = level;
            self.indications.push_back(LinkIndication::Congestion(level));
        }
    }
}
