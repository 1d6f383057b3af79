//! Knowledge of other nodes' subsystems, and states of the own ones (Q.714, section 5.3).

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant, StateMachine, Transition};

use crate::sccp::config::Remote;
use crate::sccp::congestion::Restriction;
use crate::sccp::{RemoteSccpStatus, Ssn};

/// A subsystem of another node, or SCCP there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteState {
    /// In service, as far as is known.
    Allowed,
    /// The node, or SCCP there, cannot be reached.
    Inaccessible,
    /// Out of service: it is asked again and again.
    Testing,
    /// There is none: it is not asked.
    Unequipped,
}

/// Events that are heard of a remote subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteInput {
    /// SSA came.
    Allowed,
    /// MTP-STATUS: there is no such user part.
    NotEquipped,
    /// The node, or SCCP there, can no longer be reached.
    Paused,
    /// SSP came, or MTP-STATUS: the user part is unavailable.
    Prohibited,
    /// The node, or SCCP there, can be reached again.
    Resumed,
    /// T(stat info) expired.
    StatusInformationExpired,
}

/// Actions of a remote subsystem's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAction {
    /// Double T(stat info), up to its longest, and start it.
    GrowStatusInformation,
    /// Send SST.
    SendTest,
    /// Start T(stat info).
    StartStatusInformation,
    /// Stop T(stat info).
    StopStatusInformation,
    /// Tell the users that it has come: N-STATE, or N-PCSTATE for SCCP itself.
    IndicateInService,
    /// Tell the users that it has gone.
    IndicateOutOfService,
}

/// One of the node's own subsystems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalState {
    /// Subsystem that takes messages.
    InService,
    /// Subsystem that has gone with its backup's consent; SST is not answered for a while.
    Leaving,
    /// Subsystem that takes no messages.
    OutOfService,
    /// Subsystem that asks its backup whether it may go.
    WaitForGrant,
}

/// Events that an own subsystem reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalInput {
    /// N-COORD request.
    CoordRequest,
    /// T(coord chg) expired.
    CoordinatedChangeExpired,
    /// SOG came.
    Granted,
    /// T(ignore SST) expired.
    IgnoreStatusTestExpired,
    /// N-STATE request: user in service.
    UserInService,
    /// N-STATE request: user out of service.
    UserOutOfService,
}

/// Actions of an own subsystem's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalAction {
    /// Send SSA to the concerned nodes, and tell the other users.
    BroadcastAllowed,
    /// Send SSP to the concerned nodes, and tell the other users.
    BroadcastProhibited,
    /// N-COORD confirmation.
    ConfirmCoord,
    /// Tell the user that the backup has not answered.
    RefuseCoord,
    /// Send SOR to the backup.
    SendSor,
    /// Start T(coord chg).
    StartCoordinatedChange,
    /// Start T(ignore SST).
    StartIgnoreStatusTest,
    /// Stop the timer that runs.
    StopTimer,
}

type RemoteRow = Transition<RemoteState, RemoteInput, RemoteAction>;
type LocalRow = Transition<LocalState, LocalInput, LocalAction>;

const fn remote(
    from: RemoteState,
    on: RemoteInput,
    to: RemoteState,
    actions: &'static [RemoteAction],
) -> RemoteRow {
    Transition { from, on, to, actions }
}

const fn local(
    from: LocalState,
    on: LocalInput,
    to: LocalState,
    actions: &'static [LocalAction],
) -> LocalRow {
    Transition { from, on, to, actions }
}

use LocalAction as LocalDo;
use LocalInput as LocalOn;
use LocalState::{InService, Leaving, OutOfService, WaitForGrant};
use RemoteAction as Do;
use RemoteInput as On;
use RemoteState::{Allowed, Inaccessible, Testing, Unequipped};

/// Table of the states of a subsystem elsewhere, and of SCCP there, which is tested as subsystem 1.
pub static REMOTE_SUBSYSTEM: StateMachine<RemoteState, RemoteInput, RemoteAction> = StateMachine {
    name: "Subsystem of another node, and SCCP there",
    source: "Q.714, sections 5.2 and 5.3",
    initial: Allowed,
    transitions: &[
        remote(Allowed, On::Prohibited, Testing, &[Do::IndicateOutOfService, Do::StartStatusInformation]),
        remote(Allowed, On::Paused, Inaccessible, &[Do::IndicateOutOfService]),
        remote(Allowed, On::NotEquipped, Unequipped, &[Do::IndicateOutOfService]),
        remote(Testing, On::StatusInformationExpired, Testing, &[Do::SendTest, Do::GrowStatusInformation]),
        remote(Testing, On::Allowed, Allowed, &[Do::StopStatusInformation, Do::IndicateInService]),
        remote(Testing, On::Paused, Inaccessible, &[Do::StopStatusInformation]),
        remote(Testing, On::NotEquipped, Unequipped, &[Do::StopStatusInformation]),
        remote(Inaccessible, On::Resumed, Allowed, &[Do::IndicateInService]),
        remote(Inaccessible, On::Allowed, Allowed, &[Do::IndicateInService]),
        remote(Inaccessible, On::Prohibited, Testing, &[Do::StartStatusInformation]),
        remote(Unequipped, On::Resumed, Allowed, &[Do::IndicateInService]),
        remote(Unequipped, On::Allowed, Allowed, &[Do::IndicateInService]),
        remote(Unequipped, On::Paused, Inaccessible, &[]),
        remote(Unequipped, On::Prohibited, Testing, &[Do::StartStatusInformation]),
    ],
};

/// One of the node's own subsystems.
pub static LOCAL_SUBSYSTEM: StateMachine<LocalState, LocalInput, LocalAction> = StateMachine {
    name: "Own subsystem",
    source: "Q.714, sections 5.3.2 to 5.3.5",
    initial: OutOfService,
    transitions: &[
        local(OutOfService, LocalOn::UserInService, InService, &[LocalDo::BroadcastAllowed]),
        local(InService, LocalOn::UserOutOfService, OutOfService, &[LocalDo::BroadcastProhibited]),
        local(
            InService,
            LocalOn::CoordRequest,
            WaitForGrant,
            &[LocalDo::SendSor, LocalDo::StartCoordinatedChange],
        ),
        local(
            WaitForGrant,
            LocalOn::Granted,
            Leaving,
            &[
                LocalDo::StopTimer,
                LocalDo::BroadcastProhibited,
                LocalDo::StartIgnoreStatusTest,
                LocalDo::ConfirmCoord,
            ],
        ),
        local(WaitForGrant, LocalOn::CoordinatedChangeExpired, InService, &[LocalDo::RefuseCoord]),
        local(
            WaitForGrant,
            LocalOn::UserOutOfService,
            OutOfService,
            &[LocalDo::StopTimer, LocalDo::BroadcastProhibited],
        ),
        local(Leaving, LocalOn::IgnoreStatusTestExpired, OutOfService, &[]),
        local(Leaving, LocalOn::UserInService, InService, &[LocalDo::StopTimer, LocalDo::BroadcastAllowed]),
        local(Leaving, LocalOn::UserOutOfService, OutOfService, &[LocalDo::StopTimer]),
    ],
};

/// Knowledge of one subsystem elsewhere, or of SCCP there.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    pub(super) state: RemoteState,
    pub(super) interval: Duration,
    pub(super) due: Option<Instant>,
}

impl Default for Tested {
    fn default() -> Self {
        Self { state: Allowed, interval: Duration::ZERO, due: None }
    }
}

/// Knowledge of another node.
#[derive(Clone, Debug, Default)]
pub(super) struct RemoteNode {
    pub(super) is_inaccessible: bool,
    pub(super) sccp: Tested,
    /// Why SCCP there does not answer, if it does not.
    pub(super) sccp_status: Option<RemoteSccpStatus>,
    pub(super) subsystems: BTreeMap<Ssn, Tested>,
    pub(super) restriction: Restriction,
    /// Messages that have come from it since this node was congested.
    pub(super) received_in_congestion: u64,
}

impl RemoteNode {
    pub(super) fn new(remote: &Remote) -> Self {
        let subsystems = remote.subsystems.iter().map(|ssn| (*ssn, Tested::default())).collect();
        Self { subsystems, ..Self::default() }
    }

    pub(super) fn tested(&mut self, ssn: Ssn) -> Option<&mut Tested> {
        if ssn == super::config::MANAGEMENT { Some(&mut self.sccp) } else { self.subsystems.get_mut(&ssn) }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let tests = self.subsystems.values().chain([&self.sccp]).filter_map(|tested| tested.due);
        tests.chain(self.restriction.deadline()).min()
    }
}

/// One of the node's own subsystems as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalSubsystem {
    pub(super) state: LocalState,
    pub(super) due: Option<Instant>,
}

impl LocalSubsystem {
    pub(super) const NEW: Self = Self { state: OutOfService, due: None };

    pub(super) const fn is_available(self) -> bool {
        matches!(self.state, InService | WaitForGrant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        assert_eq!(REMOTE_SUBSYSTEM.ambiguous(), None);
        assert_eq!(REMOTE_SUBSYSTEM.unreachable(), []);
        assert_eq!(LOCAL_SUBSYSTEM.ambiguous(), None);
        assert_eq!(LOCAL_SUBSYSTEM.unreachable(), []);
    }
}
