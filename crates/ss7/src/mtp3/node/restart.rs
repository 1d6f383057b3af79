//! MTP restart (Q.704, section 9; TPRC): after isolation, links and routing information come first, traffic later.

use slantpath_base::{Instant, StateMachine, Transition};

use crate::mtp3::node::config::{Function, Procedure};
use crate::mtp3::node::schedule::Key;
use crate::mtp3::node::timers::Timer;
use crate::mtp3::node::{DiscardReason, LinkSetId, ManagementEvent, Node};
use crate::mtp3::{ManagementMessage, Slc};

/// States of the restart of this point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestartState {
    /// A transfer point has told what it cannot reach, and waits for T20.
    Announced,
    /// A transfer point brings up links and receives the state of routes (T18).
    Gathering,
    /// No link is available.
    #[default]
    Isolated,
    /// Traffic flows: no restart is under way.
    Running,
    /// An end point waits for the adjacent points or T20.
    Waiting,
}

/// Events that the restart of this point reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartInput {
    /// Every adjacent point is there and has sent TRA.
    AllRestarted,
    /// The first link is available at an end point.
    FirstLinkOfEndPoint,
    /// The first link is available at a transfer point.
    FirstLinkOfTransferPoint,
    /// The first link is available where networks leave the procedure out.
    FirstLinkWithoutProcedure,
    /// The last link is gone.
    LastLinkLost,
    /// T18 expired.
    T18,
    /// T20 expired.
    T20,
}

/// Actions of a restart's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartAction {
    /// Send TFP for what cannot be reached.
    SendProhibited,
    /// Send TRA to all adjacent points.
    SendRestartAllowed,
    /// Start T18.
    StartT18,
    /// Start T20.
    StartT20,
    /// Let traffic flow, and tell the users.
    StartTraffic,
    /// Stop T18.
    StopT18,
    /// Stop T20.
    StopT20,
    /// End all inhibition.
    Uninhibit,
}

type Row = Transition<RestartState, RestartInput, RestartAction>;

const fn row(
    from: RestartState,
    on: RestartInput,
    to: RestartState,
    actions: &'static [RestartAction],
) -> Row {
    Transition { from, on, to, actions }
}

/// The restart of this point.
pub const RESTART: StateMachine<RestartState, RestartInput, RestartAction> = {
    use RestartAction as A;
    use RestartInput as I;
    use RestartState as S;
    StateMachine {
        name: "Signalling point restart",
        source: "Q.704, section 9.2 (TPRC)",
        initial: S::Isolated,
        transitions: &[
            row(S::Isolated, I::FirstLinkOfEndPoint, S::Waiting, &[A::Uninhibit, A::StartT20]),
            row(
                S::Isolated,
                I::FirstLinkOfTransferPoint,
                S::Gathering,
                &[A::Uninhibit, A::StartT18, A::StartT20],
            ),
            row(S::Isolated, I::FirstLinkWithoutProcedure, S::Running, &[A::Uninhibit, A::StartTraffic]),
            row(
                S::Waiting,
                I::AllRestarted,
                S::Running,
                &[A::StopT20, A::StartTraffic, A::SendRestartAllowed],
            ),
            row(S::Waiting, I::T20, S::Running, &[A::StartTraffic, A::SendRestartAllowed]),
            row(S::Waiting, I::LastLinkLost, S::Isolated, &[A::StopT20]),
            row(S::Gathering, I::T18, S::Announced, &[A::SendProhibited]),
            row(
                S::Gathering,
                I::AllRestarted,
                S::Running,
                &[A::StopT18, A::StopT20, A::StartTraffic, A::SendProhibited, A::SendRestartAllowed],
            ),
            row(S::Gathering, I::LastLinkLost, S::Isolated, &[A::StopT18, A::StopT20]),
            row(
                S::Announced,
                I::AllRestarted,
                S::Running,
                &[A::StopT20, A::StartTraffic, A::SendRestartAllowed],
            ),
            row(S::Announced, I::T20, S::Running, &[A::StartTraffic, A::SendRestartAllowed]),
            row(S::Announced, I::LastLinkLost, S::Isolated, &[A::StopT20]),
            row(S::Running, I::LastLinkLost, S::Isolated, &[]),
        ],
    }
};

/// States of the restart of an adjacent point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdjacentState {
    /// Adjacent point that can be used.
    Accessible,
    /// No way leads there.
    #[default]
    Isolated,
    /// Adjacent point that has a link, and whose TRA is awaited (T21, or this point's own restart).
    Restarting,
}

/// Events that the restart of an adjacent point reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjacentInput {
    /// The link set is available while this point restarts itself.
    LinkSetUpInRestart,
    /// The link set is available, and the point was reached otherwise, or networks leave the procedure out.
    LinkSetUpKnown,
    /// The link set is available, and the point was cut off.
    LinkSetUpUnknown,
    /// The last link is gone and no other way leads there.
    Lost,
    /// Restart of this point is over.
    RestartOver,
    /// T21 expired.
    T21,
    /// TRA.
    Tra,
    /// TRA, and T19 runs: it is an echo.
    TraEchoed,
}

/// Actions of an adjacent restart's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjacentAction {
    /// Look again which routes to use.
    Reroute,
    /// Send TFP for what it must not send here.
    SendProhibited,
    /// Send TRA.
    SendRestartAllowed,
    /// Start T19.
    StartT19,
    /// Start T21.
    StartT21,
    /// Stop T21.
    StopT21,
}

type AdjacentRow = Transition<AdjacentState, AdjacentInput, AdjacentAction>;

const fn adjacent(
    from: AdjacentState,
    on: AdjacentInput,
    to: AdjacentState,
    actions: &'static [AdjacentAction],
) -> AdjacentRow {
    Transition { from, on, to, actions }
}

/// The restart of an adjacent point.
pub const ADJACENT_RESTART: StateMachine<AdjacentState, AdjacentInput, AdjacentAction> = {
    use AdjacentAction as A;
    use AdjacentInput as I;
    use AdjacentState as S;
    StateMachine {
        name: "Restart of an adjacent point",
        source: "Q.704, section 9.3 (TPRC)",
        initial: S::Isolated,
        transitions: &[
            adjacent(S::Isolated, I::LinkSetUpInRestart, S::Restarting, &[]),
            adjacent(S::Isolated, I::LinkSetUpKnown, S::Accessible, &[A::Reroute, A::SendProhibited]),
            adjacent(
                S::Isolated,
                I::LinkSetUpUnknown,
                S::Restarting,
                &[A::StartT21, A::SendProhibited, A::SendRestartAllowed],
            ),
            adjacent(S::Restarting, I::Tra, S::Accessible, &[A::StopT21, A::StartT19, A::Reroute]),
            adjacent(S::Restarting, I::TraEchoed, S::Accessible, &[A::StopT21, A::Reroute]),
            adjacent(S::Restarting, I::T21, S::Accessible, &[A::Reroute]),
            adjacent(S::Restarting, I::RestartOver, S::Accessible, &[A::Reroute]),
            adjacent(S::Restarting, I::Lost, S::Isolated, &[A::StopT21]),
            adjacent(
                S::Accessible,
                I::Tra,
                S::Accessible,
                &[A::SendProhibited, A::SendRestartAllowed, A::StartT19],
            ),
            // It answers ours.
            adjacent(S::Accessible, I::TraEchoed, S::Accessible, &[]),
            adjacent(S::Accessible, I::Lost, S::Isolated, &[A::Reroute]),
        ],
    }
};

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
        let is_echo = self.schedule.is_running(Key::LinkSet(from, Timer::T19));
        let input = if is_echo { AdjacentInput::TraEchoed } else { AdjacentInput::Tra };
        if !self.adjacent_input(now, from, input) {
            self.counters.discard(DiscardReason::Unexpected);
        }
        self.check_all_restarted(now);
    }

    fn check_all_restarted(&mut self, now: Instant) {
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
                RestartAction::StartT18 => self.start(now, Key::Node(Timer::T18), Timer::T18),
                RestartAction::StartT20 => {
                    self.counters.restarts += 1;
                    self.report(ManagementEvent::RestartBegun);
                    self.start(now, Key::Node(Timer::T20), Timer::T20);
                }
                RestartAction::StopT18 => self.schedule.stop(Key::Node(Timer::T18)),
                RestartAction::StopT20 => self.schedule.stop(Key::Node(Timer::T20)),
                RestartAction::SendProhibited => {
                    for to in self.link_set_ids() {
                        self.send_all_prohibited(to);
                    }
                }
                RestartAction::SendRestartAllowed => {
                    for to in self.link_set_ids() {
                        let adjacent = self.link_set(to).adjacent;
                        self.send_direct(adjacent, to, ManagementMessage::Tra);
                        self.start(now, Key::LinkSet(to, Timer::T19), Timer::T19);
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
                AdjacentAction::StartT19 => self.start(now, Key::LinkSet(link_set, Timer::T19), Timer::T19),
                AdjacentAction::StartT21 => self.start(now, Key::LinkSet(link_set, Timer::T21), Timer::T21),
                AdjacentAction::StopT21 => self.schedule.stop(Key::LinkSet(link_set, Timer::T21)),
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
