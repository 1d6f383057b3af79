//! Management inhibiting (Q.704, section 10; part of TLAC, figure 38): links kept free of users' traffic for tests.

use slantpath_base::Instant;

use crate::mtp3::ManagementMessage;
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::machines::changeover::ChangeoverInput;
use crate::mtp3::node::machines::inhibiting::{
    InhibitError, LOCAL_INHIBITION, LocalInhibition, LocalInhibitionAction, LocalInhibitionInput,
    REMOTE_INHIBITION, RemoteInhibition, RemoteInhibitionAction, RemoteInhibitionInput,
};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};

impl Node {
    /// Asks the far end to keep traffic off a link, and does so too once it agrees.
    ///
    /// # Errors
    /// If a destination would be cut off, or the link is inhibited from here already.
    pub fn inhibit(&mut self, now: Instant, link: Mtp3LinkId) -> Result<(), InhibitError> {
        if self.link(link).inhibition.local != LocalInhibition::Uninhibited {
            return Err(InhibitError::UnderWay);
        }
        if let Some(cut_off) = self.would_cut_off(link) {
            return Err(InhibitError::CutsOff(cut_off));
        }
        self.local_inhibition(now, link, LocalInhibitionInput::Inhibit);
        self.settle(now);
        Ok(())
    }

    /// Lets traffic use a link again that was inhibited from here.
    pub fn uninhibit(&mut self, now: Instant, link: Mtp3LinkId) {
        self.local_inhibition(now, link, LocalInhibitionInput::Uninhibit);
        self.settle(now);
    }

    /// Gives the states of this end's and of the far end's inhibition of a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn inhibition(&self, link: Mtp3LinkId) -> (LocalInhibition, RemoteInhibition) {
        let inhibition = self.link(link).inhibition;
        (inhibition.local, inhibition.remote)
    }

    pub(super) fn inhibiting_message(&mut self, now: Instant, link: Mtp3LinkId, message: ManagementMessage) {
        use ManagementMessage as M;
        let is_expected = match message {
            M::Lia => self.local_inhibition(now, link, LocalInhibitionInput::Accepted),
            M::Lid => self.local_inhibition(now, link, LocalInhibitionInput::Denied),
            M::Lua => self.local_inhibition(now, link, LocalInhibitionInput::Released),
            M::Lfu => self.local_inhibition(now, link, LocalInhibitionInput::ForceUninhibit),
            M::Lrt => self.local_inhibition(now, link, LocalInhibitionInput::RemoteTest),
            M::Lin if self.would_cut_off(link).is_none() => {
                self.remote_inhibition(now, link, RemoteInhibitionInput::InhibitAllowed)
            }
            M::Lin => self.remote_inhibition(now, link, RemoteInhibitionInput::InhibitRefused),
            M::Lun => self.remote_inhibition(now, link, RemoteInhibitionInput::Uninhibit),
            M::Llt => self.remote_inhibition(now, link, RemoteInhibitionInput::LocalTest),
            _ => false,
        };
        if !is_expected {
            self.counters.discard(DiscardReason::Unexpected);
        }
    }

    /// A destination is cut off: links that are only inhibited come back (Q.704, section 10.2).
    pub(super) fn force_uninhibit(&mut self, now: Instant, link: Mtp3LinkId) {
        self.local_inhibition(now, link, LocalInhibitionInput::Uninhibit);
        self.remote_inhibition(now, link, RemoteInhibitionInput::ForceUninhibit);
    }

    pub(super) fn forget_inhibition(&mut self, now: Instant, link: Mtp3LinkId) {
        self.local_inhibition(now, link, LocalInhibitionInput::Restart);
        self.remote_inhibition(now, link, RemoteInhibitionInput::Restart);
    }

    /// Says whether the input means anything in the state.
    pub(super) fn local_inhibition(
        &mut self,
        now: Instant,
        link: Mtp3LinkId,
        input: LocalInhibitionInput,
    ) -> bool {
        let Some(row) = LOCAL_INHIBITION.next(self.link(link).inhibition.local, input) else { return false };
        self.link_mut(link).inhibition.local = row.to;
        for action in row.actions {
            match action {
                LocalInhibitionAction::Mark => {
                    self.report(ManagementEvent::LinkInhibited(link));
                    self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| {
                        link.inhibited = link.inhibited.with_local(true);
                    });
                }
                LocalInhibitionAction::Unmark => {
                    self.report(ManagementEvent::LinkUninhibited(link));
                    self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| {
                        link.inhibited = link.inhibited.with_local(false);
                    });
                }
                LocalInhibitionAction::SendLin => self.send_about_link(link, ManagementMessage::Lin),
                LocalInhibitionAction::SendLlt => self.send_about_link(link, ManagementMessage::Llt),
                LocalInhibitionAction::SendLun => self.send_about_link(link, ManagementMessage::Lun),
                LocalInhibitionAction::StartT12 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T12), Mtp3Timer::T12);
                }
                LocalInhibitionAction::StartT14 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T14), Mtp3Timer::T14);
                }
                LocalInhibitionAction::StartT22 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T22), Mtp3Timer::T22);
                }
                LocalInhibitionAction::StopT12 => self.schedule.stop(Key::Link(link, Mtp3Timer::T12)),
                LocalInhibitionAction::StopT14 => self.schedule.stop(Key::Link(link, Mtp3Timer::T14)),
                LocalInhibitionAction::StopT22 => self.schedule.stop(Key::Link(link, Mtp3Timer::T22)),
                LocalInhibitionAction::ReportDenied => self.report(ManagementEvent::InhibitionDenied(link)),
                LocalInhibitionAction::ReportUnanswered => {
                    self.report(ManagementEvent::InhibitionUnanswered(link));
                }
            }
        }
        true
    }

    /// Says whether the input means anything in the state.
    pub(super) fn remote_inhibition(
        &mut self,
        now: Instant,
        link: Mtp3LinkId,
        input: RemoteInhibitionInput,
    ) -> bool {
        let Some(row) = REMOTE_INHIBITION.next(self.link(link).inhibition.remote, input) else {
            return false;
        };
        self.link_mut(link).inhibition.remote = row.to;
        for action in row.actions {
            match action {
                RemoteInhibitionAction::Mark => {
                    self.report(ManagementEvent::LinkInhibited(link));
                    self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| {
                        link.inhibited = link.inhibited.with_remote(true);
                    });
                }
                RemoteInhibitionAction::Unmark => {
                    self.report(ManagementEvent::LinkUninhibited(link));
                    self.change_link(now, link, ChangeoverInput::LinkBlocked, |link| {
                        link.inhibited = link.inhibited.with_remote(false);
                    });
                }
                RemoteInhibitionAction::SendLfu => self.send_about_link(link, ManagementMessage::Lfu),
                RemoteInhibitionAction::SendLia => self.send_about_link(link, ManagementMessage::Lia),
                RemoteInhibitionAction::SendLid => self.send_about_link(link, ManagementMessage::Lid),
                RemoteInhibitionAction::SendLrt => self.send_about_link(link, ManagementMessage::Lrt),
                RemoteInhibitionAction::SendLua => self.send_about_link(link, ManagementMessage::Lua),
                RemoteInhibitionAction::StartT13 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T13), Mtp3Timer::T13);
                }
                RemoteInhibitionAction::StartT23 => {
                    self.start(now, Key::Link(link, Mtp3Timer::T23), Mtp3Timer::T23);
                }
                RemoteInhibitionAction::StopT13 => self.schedule.stop(Key::Link(link, Mtp3Timer::T13)),
                RemoteInhibitionAction::StopT23 => self.schedule.stop(Key::Link(link, Mtp3Timer::T23)),
                RemoteInhibitionAction::ReportUnanswered => {
                    self.report(ManagementEvent::InhibitionUnanswered(link));
                }
            }
        }
        true
    }
}
