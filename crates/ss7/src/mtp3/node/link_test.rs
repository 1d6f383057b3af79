//! The signalling link test (Q.707, section 2): a pattern sent over the link must come back in time.

use slantpath_base::Instant;

use crate::link::LinkRequest;
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::machines::link::LinkActivityInput;
use crate::mtp3::node::machines::link_test::{LINK_TEST, LinkTestAction, LinkTestInput};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node, Procedure};
use crate::mtp3::{
    ManagementLayout, Msu, RoutingLabel, ServiceIndicator, ServiceInformation, Sls, TestMessage,
};

impl Node {
    pub(super) fn link_test(&mut self, now: Instant, link: Mtp3LinkId, input: LinkTestInput) {
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
                LinkTestAction::StartT1 => {
                    self.start(now, Key::Link(link, Mtp3Timer::TestT1), Mtp3Timer::TestT1);
                }
                LinkTestAction::StartT2 => {
                    if self.config.periodic_link_test == Procedure::Used {
                        self.start(now, Key::Link(link, Mtp3Timer::TestT2), Mtp3Timer::TestT2);
                    }
                }
                LinkTestAction::StopT1 => self.schedule.stop(Key::Link(link, Mtp3Timer::TestT1)),
                LinkTestAction::StopT2 => self.schedule.stop(Key::Link(link, Mtp3Timer::TestT2)),
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
    pub(super) fn test_message(&mut self, now: Instant, link: Mtp3LinkId, msu: &Msu<'_>) {
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
    fn send_test(&mut self, link: Mtp3LinkId, message: TestMessage<'_>) {
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
