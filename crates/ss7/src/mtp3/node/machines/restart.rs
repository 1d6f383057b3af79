//! Machines of MTP restart (Q.704): of this point, and of the adjacent ones.

use slantpath_base::{StateMachine, Transition};

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
