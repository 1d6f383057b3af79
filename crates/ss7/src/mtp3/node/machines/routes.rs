//! Machine of a signalling route (Q.704).

use slantpath_base::{StateMachine, Transition};

/// States of a route, as the point at its end tells of the destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteState {
    /// Messages are transferred.
    #[default]
    Allowed,
    /// Messages are not transferred.
    Prohibited,
    /// Messages are transferred with difficulty: other routes are better.
    Restricted,
}

/// Events that a route reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteInput {
    /// The link set failed: what was said before holds no longer.
    LinkSetLost,
    /// T10 expired.
    T10,
    /// Transfer allowed was received.
    Tfa,
    /// Transfer prohibited was received.
    Tfp,
    /// Transfer restricted was received.
    Tfr,
}

/// Actions of a route's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteAction {
    /// Look again which routes to use.
    Reroute,
    /// Ask whether the restriction still holds.
    SendRsr,
    /// Ask whether the prohibition still holds.
    SendRst,
    /// Start T10.
    StartT10,
    /// Stop T10.
    StopT10,
}

type Row = Transition<RouteState, RouteInput, RouteAction>;

const fn row(from: RouteState, on: RouteInput, to: RouteState, actions: &'static [RouteAction]) -> Row {
    Transition { from, on, to, actions }
}

/// A route's status and its test.
pub const ROUTE: StateMachine<RouteState, RouteInput, RouteAction> = {
    use RouteAction as A;
    use RouteInput as I;
    use RouteState as S;
    StateMachine {
        name: "Signalling route and its test",
        source: "Q.704, section 13 and figures 44 to 46 (RTPC, RTAC, RSRT)",
        initial: S::Allowed,
        transitions: &[
            row(S::Allowed, I::Tfp, S::Prohibited, &[A::StartT10, A::Reroute]),
            row(S::Allowed, I::Tfr, S::Restricted, &[A::StartT10, A::Reroute]),
            row(S::Prohibited, I::T10, S::Prohibited, &[A::SendRst, A::StartT10]),
            row(S::Prohibited, I::Tfr, S::Restricted, &[A::StartT10, A::Reroute]),
            row(S::Prohibited, I::Tfa, S::Allowed, &[A::StopT10, A::Reroute]),
            row(S::Prohibited, I::LinkSetLost, S::Allowed, &[A::StopT10]),
            row(S::Restricted, I::T10, S::Restricted, &[A::SendRsr, A::StartT10]),
            row(S::Restricted, I::Tfp, S::Prohibited, &[A::StartT10, A::Reroute]),
            row(S::Restricted, I::Tfa, S::Allowed, &[A::StopT10, A::Reroute]),
            row(S::Restricted, I::LinkSetLost, S::Allowed, &[A::StopT10]),
        ],
    }
};
