//! Changeover (Q.704, section 5; TCOC of figure 30): traffic leaves a link in sequence, with nothing lost or repeated
//! where the far end can say what it has.

use bytes::Bytes;
use slantpath_base::{Instant, StateMachine, Transition};

use crate::link::LinkRequest;
use crate::mtp3::node::config::SequenceNumbers;
use crate::mtp3::node::diversion::DiversionInput;
use crate::mtp3::node::link::{Ends, LinkActivityInput};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Timer;
use crate::mtp3::node::{DiscardReason, Held, LinkId, ManagementEvent, Node, Origin};
use crate::mtp3::{Fsn, ManagementMessage, Msu, ServiceIndicator};

/// States of the changeover from a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeoverState {
    /// An order was sent; T2 runs.
    AwaitingAcknowledgement,
    /// Level 2 was asked for the last number that it accepted.
    AwaitingBsnt,
    /// Level 2 was asked for that number, and the far end's order has come already.
    AwaitingBsntOrdered,
    /// The link cannot be used and has not failed: T1 runs.
    Blocked,
    /// The link failed, and traffic has left it.
    Completed,
    /// The link cannot be used and has not failed: traffic has left it by time.
    Diverted,
    /// Traffic uses the link, or never did.
    #[default]
    Idle,
    /// Messages come back from level 2.
    Retrieving,
    /// The link failed and no other way leads to its far end: T1 runs.
    TimeControlled,
    /// The link failed in its first test: level 2 was asked for the last number that it accepted.
    Untested,
    /// Level 2 was asked after a failed first test, and the far end's order has come already.
    UntestedOrdered,
}

/// Events that a changeover reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeoverInput {
    /// COA, XCA or ECA.
    Acknowledgement,
    /// Level 2 said what it accepted last, or that it does not know.
    BsntAnswered,
    /// A processor outage or an inhibition: the link itself works.
    LinkBlocked,
    /// The link failed, and another way leads to its far end.
    LinkFailed,
    /// The link failed before its first test had passed: no traffic of this end used it.
    LinkFailedInTest,
    /// The link failed, and no other way leads to its far end.
    LinkFailedIsolated,
    /// The link is in service again after a failure.
    LinkRestored,
    /// The processor outage or the inhibition is over.
    LinkUnblocked,
    /// COO, XCO or ECO.
    Order,
    /// The processor outages of a link are over, and level 2 goes on.
    OutageOver,
    /// Level 2 has handed back what it could.
    RetrievalOver,
    /// T1 expired.
    T1,
    /// T2 expired.
    T2,
}

/// Actions of a changeover's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeoverAction {
    /// Have level 2 throw away what it holds, if a processor outage is why it holds it.
    Flush,
    /// Forget both numbers.
    Forget,
    /// Let the link restart.
    FreeLink,
    /// Let the held traffic go.
    Release,
    /// Ask level 2 for the last number that it accepted.
    RequestBsnt,
    /// Start T1 anew.
    RestartT1,
    /// Ask for what follows the far end's number, or, without one, for what was never sent.
    Retrieve,
    /// Ask for what was never sent.
    RetrieveUnsent,
    /// Send COA or XCA with the own number, ECA without one.
    SendAcknowledgement,
    /// Send COO or XCO with the own number, ECO without one.
    SendOrder,
    /// Start T1.
    StartT1,
    /// Start T2.
    StartT2,
    /// Stop T1.
    StopT1,
    /// Stop T2.
    StopT2,
}

type Row = Transition<ChangeoverState, ChangeoverInput, ChangeoverAction>;

const fn row(
    from: ChangeoverState,
    on: ChangeoverInput,
    to: ChangeoverState,
    actions: &'static [ChangeoverAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Changeover control, one for each link.
pub const CHANGEOVER: StateMachine<ChangeoverState, ChangeoverInput, ChangeoverAction> = {
    use ChangeoverAction as A;
    use ChangeoverInput as I;
    use ChangeoverState as S;
    StateMachine {
        name: "Changeover",
        source: "Q.704, section 5 and figure 30 (TCOC)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::LinkFailed, S::AwaitingBsnt, &[A::RequestBsnt]),
            row(S::Idle, I::LinkFailedIsolated, S::TimeControlled, &[A::StartT1]),
            row(S::Idle, I::LinkBlocked, S::Blocked, &[A::StartT1]),
            row(S::Idle, I::Order, S::Idle, &[A::SendAcknowledgement]),
            row(S::AwaitingBsnt, I::BsntAnswered, S::AwaitingAcknowledgement, &[A::SendOrder, A::StartT2]),
            row(S::AwaitingBsnt, I::Order, S::AwaitingBsntOrdered, &[]),
            row(
                S::AwaitingBsntOrdered,
                I::BsntAnswered,
                S::Retrieving,
                &[A::SendAcknowledgement, A::Retrieve],
            ),
            row(S::AwaitingAcknowledgement, I::Acknowledgement, S::Retrieving, &[A::StopT2, A::Retrieve]),
            row(
                S::AwaitingAcknowledgement,
                I::Order,
                S::Retrieving,
                &[A::StopT2, A::SendAcknowledgement, A::Retrieve],
            ),
            row(S::AwaitingAcknowledgement, I::T2, S::Retrieving, &[A::RetrieveUnsent]),
            row(S::Retrieving, I::Order, S::Retrieving, &[A::SendAcknowledgement]),
            // Behind an order that served as one.
            row(S::Retrieving, I::Acknowledgement, S::Retrieving, &[]),
            row(S::Retrieving, I::RetrievalOver, S::Completed, &[A::Release, A::FreeLink]),
            row(S::Completed, I::Order, S::Completed, &[A::SendAcknowledgement]),
            row(S::Completed, I::Acknowledgement, S::Completed, &[]),
            row(S::Completed, I::LinkRestored, S::Idle, &[A::Forget]),
            // The far end may have found the link tested already and have used it: an order asks for the numbers of
            // this life, and not of the last.
            row(S::Idle, I::LinkFailedInTest, S::Untested, &[A::RequestBsnt]),
            row(S::Completed, I::LinkFailedInTest, S::Untested, &[A::RequestBsnt]),
            row(S::Untested, I::BsntAnswered, S::Completed, &[]),
            row(S::Untested, I::Order, S::UntestedOrdered, &[]),
            row(S::UntestedOrdered, I::BsntAnswered, S::Completed, &[A::SendAcknowledgement]),
            row(S::TimeControlled, I::T1, S::Retrieving, &[A::RetrieveUnsent]),
            row(S::TimeControlled, I::Order, S::AwaitingBsntOrdered, &[A::StopT1, A::RequestBsnt]),
            // Nothing that level 2 still holds may follow what goes elsewhere now.
            row(S::Blocked, I::T1, S::Diverted, &[A::Flush, A::Release]),
            // The link stays inhibited: what level 2 held goes only now, and has T1 from now on.
            row(S::Blocked, I::OutageOver, S::Blocked, &[A::RestartT1]),
            row(S::Blocked, I::LinkUnblocked, S::Idle, &[A::StopT1, A::Release]),
            row(S::Blocked, I::LinkFailed, S::AwaitingBsnt, &[A::StopT1, A::RequestBsnt]),
            row(S::Blocked, I::LinkFailedIsolated, S::TimeControlled, &[]),
            row(S::Diverted, I::LinkUnblocked, S::Idle, &[]),
            row(S::Diverted, I::LinkFailed, S::Completed, &[A::FreeLink]),
            row(S::Diverted, I::LinkFailedIsolated, S::Completed, &[A::FreeLink]),
        ],
    }
};

/// A link's changeover.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Changeover {
    pub(super) state: ChangeoverState,
    /// The diversion that holds the link's traffic, while there is one.
    pub(super) diversion: Option<u32>,
    /// The count of messages at which the link was lost.
    lost_at: u64,
    /// Number of messages that have come back since.
    returned: u64,
    /// The last number that this end accepted.
    own: Option<Fsn>,
    /// The last number that the far end accepted.
    far: Option<Fsn>,
}

impl Node {
    /// Gives the state of the changeover from a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn changeover_state(&self, link: LinkId) -> ChangeoverState {
        self.link(link).changeover.state
    }

    /// Messages that come back from a link were accepted before it was lost.
    pub(super) fn note_loss(&mut self, link: LinkId) {
        let lost_at = self.next_stamp();
        let changeover = &mut self.link_mut(link).changeover;
        (changeover.lost_at, changeover.returned) = (lost_at, 0);
    }

    pub(super) fn changeover(&mut self, now: Instant, link: LinkId, input: ChangeoverInput) {
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

    fn changeover_action(&mut self, now: Instant, link: LinkId, action: ChangeoverAction) {
        match action {
            ChangeoverAction::RequestBsnt => self.request(link, LinkRequest::RetrieveBsnt),
            ChangeoverAction::RestartT1 => self.start(now, Key::Link(link, Timer::T1), Timer::T1),
            ChangeoverAction::StartT1 => {
                self.counters.timed_changeovers += 1;
                self.start(now, Key::Link(link, Timer::T1), Timer::T1);
            }
            ChangeoverAction::StartT2 => self.start(now, Key::Link(link, Timer::T2), Timer::T2),
            ChangeoverAction::StopT1 => self.schedule.stop(Key::Link(link, Timer::T1)),
            ChangeoverAction::StopT2 => self.schedule.stop(Key::Link(link, Timer::T2)),
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
    pub(super) fn flush_if_diverted(&mut self, link: LinkId) {
        if self.link(link).changeover.state == ChangeoverState::Diverted {
            self.request(link, LinkRequest::FlushBuffers);
        }
    }

    /// Retrieves what was never sent. Messages that were sent and not acknowledged are lost if they did not arrive;
    /// repeating them could double them.
    fn retrieve_unsent(&mut self, link: LinkId) {
        self.counters.unsequenced_changeovers += 1;
        self.report(ManagementEvent::ChangeoverWithoutSequence(link));
        self.request(link, LinkRequest::RetrieveUnsent);
    }

    /// Level 2 answered with the last number that it accepted.
    pub(super) fn bsnt(&mut self, now: Instant, link: LinkId, own: Option<Fsn>) {
        self.link_mut(link).changeover.own = own;
        self.changeover(now, link, ChangeoverInput::BsntAnswered);
    }

    /// A changeover order or acknowledgement for a link. A 7-bit number says nothing about a link that counts in 24
    /// bits, and the other way round.
    pub(super) fn changeover_message(&mut self, now: Instant, link: LinkId, message: ManagementMessage) {
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
    pub(super) fn retrieved(&mut self, link: LinkId, octets: &Bytes) {
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
