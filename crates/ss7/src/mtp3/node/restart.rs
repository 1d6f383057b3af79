//! MTP restart (Q.704, section 9; TPRC): after isolation, links and routing information come first, traffic later.

use slantpath_base::Instant;

use crate::mtp3::node::config::{Function, Procedure};
use crate::mtp3::node::id::LinkSetId;
use crate::mtp3::node::machines::restart::{
    ADJACENT_RESTART, AdjacentAction, AdjacentInput, AdjacentState, RESTART, RestartAction, RestartInput,
    RestartState,
};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Mtp3Timer;
use crate::mtp3::node::{DiscardReason, ManagementEvent, Node};
use crate::mtp3::{ManagementMessage, Slc};

impl Node {
    /// Gives the state of this point's own restart.
    pub const fn restart_state(&self) -> RestartState {
        self.restart
    }

    /// Gives the state of an adjacent point's restart.
    ///
    /// # Panics
    /// If the node has no such link set.
    pub fn adjacent_state(&self, link_set: LinkSetId) -> AdjacentState {
        self.link_set(link_set).state
    }

    /// Tells if traffic may flow.
    pub(super) fn is_running(&self) -> bool {
        self.restart == RestartState::Running
    }

    /// At the end of a restart everybody learns what is allowed from TRA: TFA for each destination would flood.
    pub(super) const fn is_announcing_restart(&self) -> bool {
        self.is_restart_ending
    }

    /// A link set has its first available link.
    pub(super) fn link_set_up(&mut self, now: Instant, link_set: LinkSetId) {
        self.link_set_mut(link_set).unavailable.follow(now, false);
        self.report(ManagementEvent::LinkSetAvailable(link_set));
        if self.restart == RestartState::Isolated {
            let first = match (self.config.restart, self.config.function) {
                (Procedure::Omitted, _) => RestartInput::FirstLinkWithoutProcedure,
                (Procedure::Used, Function::EndPoint) => RestartInput::FirstLinkOfEndPoint,
                (Procedure::Used, Function::TransferPoint) => RestartInput::FirstLinkOfTransferPoint,
            };
            self.restart_input(now, first);
        }
        let input = if !self.is_running() {
            AdjacentInput::LinkSetUpInRestart
        } else if self.config.restart == Procedure::Omitted || self.is_adjacent_reached(link_set) {
            AdjacentInput::LinkSetUpKnown
        } else {
            AdjacentInput::LinkSetUpUnknown
        };
        self.adjacent_input(now, link_set, input);
    }

    pub(super) fn traffic_restart_allowed(&mut self, now: Instant, from: LinkSetId) {
        if self.config.restart == Procedure::Omitted {
            return self.counters.discard(DiscardReason::Unexpected);
        }
        let is_echo = self.schedule.is_running(Key::LinkSet(from, Mtp3Timer::T19));
        let input = if is_echo { AdjacentInput::TraEchoed } else { AdjacentInput::Tra };
        if !self.adjacent_input(now, from, input) {
            self.counters.discard(DiscardReason::Unexpected);
        }
        self.check_all_restarted(now);
    }

    pub(super) fn check_all_restarted(&mut self, now: Instant) {
        let mut link_sets = self.link_set_ids();
        if link_sets.all(|id| self.link_set(id).state == AdjacentState::Accessible) {
            self.restart_input(now, RestartInput::AllRestarted);
        }
    }

    pub(super) fn restart_input(&mut self, now: Instant, input: RestartInput) {
        let Some(row) = RESTART.next(self.restart, input) else { return };
        self.restart = row.to;
        self.is_unsettled = true;
        for action in row.actions {
            match action {
                RestartAction::StartT18 => self.start(now, Key::Node(Mtp3Timer::T18), Mtp3Timer::T18),
                RestartAction::StartT20 => {
                    self.counters.restarts += 1;
                    self.report(ManagementEvent::RestartBegun);
                    self.start(now, Key::Node(Mtp3Timer::T20), Mtp3Timer::T20);
                }
                RestartAction::StopT18 => self.schedule.stop(Key::Node(Mtp3Timer::T18)),
                RestartAction::StopT20 => self.schedule.stop(Key::Node(Mtp3Timer::T20)),
                RestartAction::SendProhibited => {
                    for to in self.link_set_ids() {
                        self.send_all_prohibited(to);
                    }
                }
                RestartAction::SendRestartAllowed => {
                    for to in self.link_set_ids() {
                        let adjacent = self.link_set(to).adjacent;
                        self.send_direct(adjacent, to, ManagementMessage::Tra);
                        self.start(now, Key::LinkSet(to, Mtp3Timer::T19), Mtp3Timer::T19);
                    }
                }
                RestartAction::StartTraffic => {
                    for id in self.link_set_ids() {
                        self.adjacent_input(now, id, AdjacentInput::RestartOver);
                    }
                    self.is_restart_ending = true;
                    self.reconcile(now);
                    self.is_restart_ending = false;
                    self.report(ManagementEvent::RestartOver);
                }
                RestartAction::Uninhibit => {
                    for link in self.link_ids() {
                        self.forget_inhibition(now, link);
                    }
                }
            }
        }
    }

    /// Says whether the input means anything in the state.
    pub(super) fn adjacent_input(&mut self, now: Instant, link_set: LinkSetId, input: AdjacentInput) -> bool {
        let Some(row) = ADJACENT_RESTART.next(self.link_set(link_set).state, input) else { return false };
        self.link_set_mut(link_set).state = row.to;
        for action in row.actions {
            match action {
                AdjacentAction::Reroute => self.is_unsettled = true,
                AdjacentAction::SendProhibited => self.send_all_prohibited(link_set),
                AdjacentAction::SendRestartAllowed => {
                    let adjacent = self.link_set(link_set).adjacent;
                    self.send_direct(adjacent, link_set, ManagementMessage::Tra);
                }
                AdjacentAction::StartT19 => {
                    self.start(now, Key::LinkSet(link_set, Mtp3Timer::T19), Mtp3Timer::T19);
                }
                AdjacentAction::StartT21 => {
                    self.start(now, Key::LinkSet(link_set, Mtp3Timer::T21), Mtp3Timer::T21);
                }
                AdjacentAction::StopT21 => self.schedule.stop(Key::LinkSet(link_set, Mtp3Timer::T21)),
            }
        }
        true
    }

    /// T10's question and TRA go over the link set itself: the point may not be reached otherwise yet.
    pub(super) fn send_direct(&mut self, to: crate::PointCode, over: LinkSetId, message: ManagementMessage) {
        if self.available_links(over).next().is_some() {
            self.send_management(to, Slc(0), message);
        }
    }
}
