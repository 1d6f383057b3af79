//! Changeover (Q.704, section 5; TCOC of figure 30): traffic leaves a link in sequence, with nothing lost or repeated
//! where the far end can say what it has.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::link::LinkRequest;
use crate::mtp3::node::config::SequenceNumbers;
use crate::mtp3::node::held::{Held, Origin};
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::machines::changeover::{
    CHANGEOVER, ChangeoverAction, ChangeoverInput, ChangeoverState,
};
use crate::mtp3::node::machines::diversion::DiversionInput;
use crate::mtp3::node::machines::link::{Ends, LinkActivityInput};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{Fsn, ManagementMessage, Msu, ServiceIndicator};

impl Node {
    /// Gives the state of the changeover from a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn changeover_state(&self, link: Mtp3LinkId) -> ChangeoverState {
        self.link(link).changeover.state
    }

    /// Messages that come back from a link were accepted before it was lost.
    pub(super) fn note_loss(&mut self, link: Mtp3LinkId) {
        let lost_at = self.next_stamp();
        let changeover = &mut self.link_mut(link).changeover;
        (changeover.lost_at, changeover.returned) = (lost_at, 0);
    }

    pub(super) fn changeover(&mut self, now: Instant, link: Mtp3LinkId, input: ChangeoverInput) {
        let input = match input {
            ChangeoverInput::LinkFailed if !self.has_way_around(link) => ChangeoverInput::LinkFailedIsolated,
            other => other,
        };
        let Some(row) = CHANGEOVER.next(self.link(link).changeover.state, input) else {
            if matches!(input, ChangeoverInput::Order | ChangeoverInput::Acknowledgement) {
                self.counters.discard(DiscardReason::Unexpected);
            }
            return;
        };
        self.link_mut(link).changeover.state = row.to;
        if row.from == ChangeoverState::Idle
            && !matches!(row.to, ChangeoverState::Idle | ChangeoverState::Untested)
        {
            self.link_mut(link).measured.changeovers += 1;
        }
        match (row.from, input) {
            (_, ChangeoverInput::LinkFailed | ChangeoverInput::LinkFailedIsolated)
            | (ChangeoverState::Blocked, ChangeoverInput::T1) => {
                self.drive_followers(now, link, DiversionInput::OriginLost);
            }
            (ChangeoverState::Blocked, ChangeoverInput::LinkUnblocked) => {
                self.drive_followers(now, link, DiversionInput::OriginResumed);
            }
            _ => {}
        }
        for action in row.actions {
            self.changeover_action(now, link, *action);
        }
    }

    fn changeover_action(&mut self, now: Instant, link: Mtp3LinkId, action: ChangeoverAction) {
        match action {
            ChangeoverAction::RequestBsnt => self.request(link, LinkRequest::RetrieveBsnt),
            ChangeoverAction::RestartT1 => self.start(now, Key::Link(link, Mtp3Timer::T1), Mtp3Timer::T1),
            ChangeoverAction::StartT1 => {
                self.counters.timed_changeovers += 1;
                self.start(now, Key::Link(link, Mtp3Timer::T1), Mtp3Timer::T1);
            }
            ChangeoverAction::StartT2 => self.start(now, Key::Link(link, Mtp3Timer::T2), Mtp3Timer::T2),
            ChangeoverAction::StopT1 => self.schedule.stop(Key::Link(link, Mtp3Timer::T1)),
            ChangeoverAction::StopT2 => self.schedule.stop(Key::Link(link, Mtp3Timer::T2)),
            ChangeoverAction::SendOrder => {
                let message = match (self.link(link).changeover.own, self.link(link).sequence) {
                    (Some(fsn), SequenceNumbers::Bits7) => ManagementMessage::Coo(fsn),
                    (Some(fsn), SequenceNumbers::Bits24) => ManagementMessage::Xco(fsn),
                    (None, _) => ManagementMessage::Eco,
                };
                self.send_about_link(link, message);
            }
            ChangeoverAction::SendAcknowledgement => {
                let message = match (self.link(link).changeover.own, self.link(link).sequence) {
                    (Some(fsn), SequenceNumbers::Bits7) => ManagementMessage::Coa(fsn),
                    (Some(fsn), SequenceNumbers::Bits24) => ManagementMessage::Xca(fsn),
                    (None, _) => ManagementMessage::Eca,
                };
                self.send_about_link(link, message);
            }
            ChangeoverAction::Retrieve => {
                if let Some(fsn) = self.link(link).changeover.far {
                    self.counters.sequenced_changeovers += 1;
                    self.request(link, LinkRequest::RetrieveMessagesAfter(fsn));
                } else {
                    self.retrieve_unsent(link);
                }
            }
            ChangeoverAction::RetrieveUnsent => self.retrieve_unsent(link),
            ChangeoverAction::Release => {
                if let Some(diversion) = self.link_mut(link).changeover.diversion.take() {
                    self.diversion_over(now, diversion);
                }
            }
            ChangeoverAction::Flush => {
                if self.link(link).blocked != Ends::Neither {
                    self.counters.flushed_links += 1;
                    self.request(link, LinkRequest::FlushBuffers);
                }
            }
            ChangeoverAction::FreeLink => {
                self.link_activity_input(now, link, LinkActivityInput::RetrievalOver);
            }
            ChangeoverAction::Forget => {
                let changeover = &mut self.link_mut(link).changeover;
                (changeover.own, changeover.far) = (None, None);
            }
        }
    }

    /// Traffic has gone elsewhere in the meantime: what level 2 holds would come behind newer messages.
    pub(super) fn flush_if_diverted(&mut self, link: Mtp3LinkId) {
        if self.link(link).changeover.state == ChangeoverState::Diverted {
            self.request(link, LinkRequest::FlushBuffers);
        }
    }

    /// Retrieves what was never sent. Messages that were sent and not acknowledged are lost if they did not arrive;
    /// repeating them could double them.
    fn retrieve_unsent(&mut self, link: Mtp3LinkId) {
        self.counters.unsequenced_changeovers += 1;
        self.report(ManagementEvent::ChangeoverWithoutSequence(link));
        self.request(link, LinkRequest::RetrieveUnsent);
    }

    /// Level 2 answered with the last number that it accepted.
    pub(super) fn bsnt(&mut self, now: Instant, link: Mtp3LinkId, own: Option<Fsn>) {
        self.link_mut(link).changeover.own = own;
        self.changeover(now, link, ChangeoverInput::BsntAnswered);
    }

    /// A changeover order or acknowledgement for a link. A 7-bit number says nothing about a link that counts in 24
    /// bits, and the other way round.
    pub(super) fn changeover_message(&mut self, now: Instant, link: Mtp3LinkId, message: ManagementMessage) {
        let sequence = self.link(link).sequence;
        let (input, far) = match message {
            ManagementMessage::Coo(fsn) if sequence == SequenceNumbers::Bits7 => {
                (ChangeoverInput::Order, Some(fsn))
            }
            ManagementMessage::Xco(fsn) if sequence == SequenceNumbers::Bits24 => {
                (ChangeoverInput::Order, Some(fsn))
            }
            ManagementMessage::Coa(fsn) if sequence == SequenceNumbers::Bits7 => {
                (ChangeoverInput::Acknowledgement, Some(fsn))
            }
            ManagementMessage::Xca(fsn) if sequence == SequenceNumbers::Bits24 => {
                (ChangeoverInput::Acknowledgement, Some(fsn))
            }
            ManagementMessage::Coo(_) | ManagementMessage::Xco(_) | ManagementMessage::Eco => {
                (ChangeoverInput::Order, None)
            }
            _ => (ChangeoverInput::Acknowledgement, None),
        };
        if input == ChangeoverInput::Order {
            // The far end gives the link up: so does this one.
            self.link_activity_input(now, link, LinkActivityInput::ChangeoverOrdered);
        }
        let changeover = &mut self.link_mut(link).changeover;
        if CHANGEOVER.next(changeover.state, input).is_some()
            && !matches!(changeover.state, ChangeoverState::Retrieving | ChangeoverState::Completed)
        {
            changeover.far = far;
        }
        self.changeover(now, link, input);
    }

    /// A message came back: it waits for the changeover to end before all that was accepted since.
    pub(super) fn retrieved(&mut self, link: Mtp3LinkId, octets: &Bytes) {
        self.counters.retrieved += 1;
        let Ok(msu) = Msu::parse(octets, self.config.format) else {
            return self.counters.discard(DiscardReason::Malformed);
        };
        if msu.service.indicator == ServiceIndicator::MANAGEMENT {
            return self.retrieved_management(&msu, octets);
        }
        if matches!(msu.service.indicator, ServiceIndicator::TEST | ServiceIndicator::TEST_SPECIAL) {
            return self.counters.discard(DiscardReason::RetrievedManagement);
        }
        let Some(destination) = self.table.find(msu.label.dpc) else {
            return self.counters.discard(DiscardReason::UnknownDestination);
        };
        let changeover = &mut self.link_mut(link).changeover;
        // Older than whatever waits for the same link set and selection: that was accepted after these were sent.
        let (stamp, order) = (changeover.lost_at, changeover.returned);
        changeover.returned += 1;
        let origin = Origin::Retrieved;
        let held = Held { stamp, order, destination, sls: msu.label.sls.0, origin, octets: octets.clone() };
        match self.link(link).changeover.diversion {
            Some(diversion) => self.hold(diversion, held),
            None => self.route(held),
        }
    }

    /// Sends retrieved management messages. Those about routes are written anew, since their routes may have changed;
    /// the rest goes as it was.
    fn retrieved_management(&mut self, msu: &Msu<'_>, octets: &Bytes) {
        use ManagementMessage as M;
        let parsed = ManagementMessage::parse(msu.user_part, self.layout, msu.label.sls);
        match parsed {
            Ok((M::Tfp(code) | M::Tfr(code) | M::Tfa(code), _)) => {
                let mut link_sets = self.link_set_ids();
                let to = link_sets.find(|id| self.link_set(*id).adjacent == msu.label.dpc);
                if let (Some(to), Some(destination)) = (to, self.table.find(code)) {
                    self.say_truth(destination, to);
                }
            }
            Ok((_, slc)) => {
                self.transmit_management(msu.label.dpc, slc, octets.clone());
            }
            Err(_) => self.counters.discard(DiscardReason::RetrievedManagement),
        }
    }
}
