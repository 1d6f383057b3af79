//! The signalling link test (Q.707, section 2): a pattern sent over the link must come back in time.

use slantpath_base::{Instant, StateMachine, Transition};

use crate::link::LinkRequest;
use crate::mtp3::node::link::LinkActivityInput;
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Timer;
use crate::mtp3::node::{DiscardReason, LinkId, ManagementEvent, Node, Procedure};
use crate::mtp3::{
    ManagementLayout, Msu, RoutingLabel, ServiceIndicator, ServiceInformation, Sls, TestMessage,
};

/// States of a link's test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkTestState {
    /// The first SLTM is under way.
    First,
    /// The link is not tested.
    #[default]
    Idle,
    /// The last test passed; T2 runs to the next.
    Passed,
    /// The second SLTM is under way.
    Second,
}

/// Events that a link's test reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTestInput {
    /// An SLTA with the pattern, the code and the points that were asked.
    Answered,
    /// The link came into service.
    Start,
    /// The link left.
    Stop,
    /// Q.707's T1 expired.
    T1,
    /// Q.707's T2 expired.
    T2,
}

/// Actions of a link test's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkTestAction {
    /// Tell link activity control that the link fails.
    Fail,
    /// Tell link activity control that the link is good.
    Pass,
    /// Send an SLTM.
    SendSltm,
    /// Start T1 of Q.707.
    StartT1,
    /// Start T2 of Q.707.
    StartT2,
    /// Stop T1 of Q.707.
    StopT1,
    /// Stop T2 of Q.707.
    StopT2,
}

type Row = Transition<LinkTestState, LinkTestInput, LinkTestAction>;

const fn row(
    from: LinkTestState,
    on: LinkTestInput,
    to: LinkTestState,
    actions: &'static [LinkTestAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// Signalling link test control. An answer that does not fit is no answer: the timer decides.
pub const LINK_TEST: StateMachine<LinkTestState, LinkTestInput, LinkTestAction> = {
    use LinkTestAction as A;
    use LinkTestInput as I;
    use LinkTestState as S;
    StateMachine {
        name: "Signalling link test",
        source: "Q.707, section 2 and figure 3 (SLTC)",
        initial: S::Idle,
        transitions: &[
            row(S::Idle, I::Start, S::First, &[A::SendSltm, A::StartT1]),
            row(S::First, I::Answered, S::Passed, &[A::StopT1, A::StartT2, A::Pass]),
            row(S::First, I::T1, S::Second, &[A::SendSltm, A::StartT1]),
            row(S::First, I::Stop, S::Idle, &[A::StopT1]),
            row(S::Second, I::Answered, S::Passed, &[A::StopT1, A::StartT2, A::Pass]),
            row(S::Second, I::T1, S::Idle, &[A::Fail]),
            row(S::Second, I::Stop, S::Idle, &[A::StopT1]),
            row(S::Passed, I::T2, S::First, &[A::SendSltm, A::StartT1]),
            row(S::Passed, I::Stop, S::Idle, &[A::StopT2]),
        ],
    }
};

/// A link's test.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkTest {
    pub(super) state: LinkTestState,
    /// The pattern of the SLTM under way, so that an old answer is not taken for a new one.
    number: u32,
}

impl Node {
    pub(super) fn link_test(&mut self, now: Instant, link: LinkId, input: LinkTestInput) {
        let Some(row) = LINK_TEST.next(self.link(link).test.state, input) else { return };
        self.link_mut(link).test.state = row.to;
        if input == LinkTestInput::T1 {
            self.link_mut(link).measured.unanswered_tests += 1;
        }
        for action in row.actions {
            match action {
                LinkTestAction::SendSltm => {
                    let number = self.link(link).test.number.wrapping_add(1);
                    self.link_mut(link).test.number = number;
                    self.send_test(link, TestMessage::Sltm(&number.to_be_bytes()));
                }
                LinkTestAction::StartT1 => self.start(now, Key::Link(link, Timer::TestT1), Timer::TestT1),
                LinkTestAction::StartT2 => {
                    if self.config.periodic_link_test == Procedure::Used {
                        self.start(now, Key::Link(link, Timer::TestT2), Timer::TestT2);
                    }
                }
                LinkTestAction::StopT1 => self.schedule.stop(Key::Link(link, Timer::TestT1)),
                LinkTestAction::StopT2 => self.schedule.stop(Key::Link(link, Timer::TestT2)),
                LinkTestAction::Pass => self.link_activity_input(now, link, LinkActivityInput::TestPassed),
                LinkTestAction::Fail => {
                    self.link_mut(link).measured.test_failures += 1;
                    self.report(ManagementEvent::LinkTestFailed(link));
                    self.link_activity_input(now, link, LinkActivityInput::TestFailed);
                }
            }
        }
    }

    /// A test message that came over a link and is for this point.
    pub(super) fn test_message(&mut self, now: Instant, link: LinkId, msu: &Msu<'_>) {
        let parsed = TestMessage::parse(msu.user_part, self.layout, msu.label.sls);
        let Ok((message, slc)) = parsed else {
            return self.counters.discard(DiscardReason::Malformed);
        };
        let fits = slc == self.link(link).slc && msu.label.opc == self.adjacent(link);
        match message {
            // An SLTM that belongs to another link is not answered: its sender's test shall fail.
            TestMessage::Sltm(pattern) if fits => self.send_test(link, TestMessage::Slta(pattern)),
            TestMessage::Slta(pattern) if fits && pattern == self.link(link).test.number.to_be_bytes() => {
                self.link_test(now, link, LinkTestInput::Answered);
            }
            _ => self.counters.discard(DiscardReason::UnknownSubject),
        }
    }

    /// Gives the service indicator of test messages: ANSI networks keep the other value for tests of routes.
    pub(super) const fn test_indicator(&self) -> ServiceIndicator {
        match self.layout {
            ManagementLayout::Ansi => ServiceIndicator::TEST_SPECIAL,
            ManagementLayout::Itu => ServiceIndicator::TEST,
        }
    }

    /// Test messages go over the link that they test, whatever its state.
    fn send_test(&mut self, link: LinkId, message: TestMessage<'_>) {
        let slc = self.link(link).slc;
        let mut user_part = Vec::new();
        message.emit(self.layout, slc, &mut user_part);
        let indicator = self.test_indicator();
        let msu = Msu {
            service: ServiceInformation {
                indicator,
                network: self.config.network,
                priority: self.top_priority(),
            },
            label: RoutingLabel { dpc: self.adjacent(link), opc: self.config.point_code, sls: Sls(slc.0) },
            user_part: &user_part,
        };
        let octets = self.emit(&msu);
        self.request(link, LinkRequest::Transmit(octets));
    }
}
