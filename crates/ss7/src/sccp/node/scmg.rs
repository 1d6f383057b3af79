//! SCCP management (Q.714, section 5): what MTP tells, what other nodes tell, what users tell.

use slantpath_base::{Duration, Instant};

use crate::PointCode;
use crate::mtp3::{RoutingLabel, ServiceIndicator};
use crate::sccp::config::MANAGEMENT;
use crate::sccp::counters::Discard;
use crate::sccp::node::Node;
use crate::sccp::primitive::{Indication, PointCodeStatus, RemoteSccpStatus, RequestError};
use crate::sccp::status::{
    LOCAL_SUBSYSTEM, LocalAction, LocalInput, LocalState, LocalSubsystem, REMOTE_SUBSYSTEM, RemoteAction,
    RemoteInput, RemoteNode, RemoteState,
};
use crate::sccp::unitdata::{Form, Purpose, Unitdata};
use crate::sccp::{Affected, OptionalParameters, PartyAddress, ProtocolClass, ReturnCause, ScmgMessage, Ssn};
use crate::transfer::{StatusCause, UserPartUnavailability};

/// While this node is congested, SSC goes to a node for the first of so many messages that come from it.
const MESSAGES_PER_SSC: u64 = 8;

impl Node {
    /// N-STATE request: a user comes into service or goes out of it.
    pub fn set_subsystem(&mut self, now: Instant, ssn: Ssn, in_service: bool) -> Result<(), RequestError> {
        if !self.subsystems.contains_key(&ssn) {
            return Err(RequestError::NotAUser);
        }
        let input = if in_service { LocalInput::UserInService } else { LocalInput::UserOutOfService };
        self.step_local(now, ssn, input);
        self.drain_loopback(now);
        Ok(())
    }

    /// N-COORD request: a user asks its backup to take over, before it goes.
    pub fn coord_request(&mut self, now: Instant, ssn: Ssn) -> Result<(), RequestError> {
        let subsystem = self.config.subsystems.get(&ssn).ok_or(RequestError::NotAUser)?;
        if subsystem.backup.is_none() {
            return Err(RequestError::NoBackup(ssn));
        }
        if !self.step_local(now, ssn, LocalInput::CoordRequest) {
            return Err(RequestError::NotNow);
        }
        Ok(())
    }

    /// N-COORD response: the user takes over from the one that has asked.
    pub fn coord_response(&mut self, now: Instant, ssn: Ssn, asking: PointCode) -> Result<(), RequestError> {
        if !self.subsystems.get(&ssn).copied().is_some_and(LocalSubsystem::is_available) {
            return Err(RequestError::NotNow);
        }
        self.send_management(now, asking, ScmgMessage::Sog(affected(ssn, asking)));
        Ok(())
    }

    /// Sets the congestion level of this node, 0 not congested, to 8: others are told while it is congested (SSC).
    pub fn set_congestion(&mut self, level: u8) {
        self.congestion_level = level.min(8);
        for remote in self.remotes.values_mut() {
            remote.received_in_congestion = 0;
        }
    }

    pub(super) fn report_congestion(&mut self, origin: PointCode) {
        let Some(remote) = self.remotes.get_mut(&origin).filter(|_| self.congestion_level > 0) else {
            return;
        };
        let is_due = remote.received_in_congestion.is_multiple_of(MESSAGES_PER_SSC);
        remote.received_in_congestion += 1;
        if is_due {
            let message =
                ScmgMessage::Ssc(affected(MANAGEMENT, self.config.point_code), self.congestion_level);
            self.transmit_management(origin, message);
        }
    }

    pub(super) fn handle_pause(&mut self, now: Instant, code: PointCode) {
        let Some(remote) = self.remotes.get_mut(&code) else { return };
        remote.is_inaccessible = true;
        remote.restriction.clear();
        let was_allowed = remote.sccp.state == RemoteState::Allowed;
        remote.sccp_status = Some(RemoteSccpStatus::Inaccessible);
        self.step_remote(now, code, MANAGEMENT, RemoteInput::Paused);
        if !was_allowed {
            // SCCP there was already gone: the users learn that now the whole node is.
            self.indicate_point_code(code);
        }
        self.step_subsystems(now, code, RemoteInput::Paused);
    }

    pub(super) fn handle_resume(&mut self, now: Instant, code: PointCode) {
        let Some(remote) = self.remotes.get_mut(&code) else { return };
        let was_inaccessible = core::mem::take(&mut remote.is_inaccessible);
        remote.restriction.clear();
        let was_allowed = remote.sccp.state == RemoteState::Allowed;
        self.step_remote(now, code, MANAGEMENT, RemoteInput::Resumed);
        if was_inaccessible && was_allowed {
            self.indicate_point_code(code);
        }
        self.step_subsystems(now, code, RemoteInput::Resumed);
        self.schedule_remote(code);
    }

    pub(super) fn handle_status(&mut self, now: Instant, code: PointCode, cause: StatusCause) {
        let timers = self.config.timers;
        let Some(remote) = self.remotes.get_mut(&code) else { return };
        match cause {
            // Where there are levels, this one says that there is no congestion any more.
            StatusCause::Congestion(0) => {
                let was_restricted = remote.restriction.restricted_importance() > 0;
                remote.restriction.clear();
                if was_restricted {
                    self.indicate_point_code(code);
                }
                self.schedule_remote(code);
            }
            StatusCause::Congestion(_) => {
                let changed = remote.restriction.mtp_congestion(now, &timers);
                if changed {
                    self.indicate_point_code(code);
                }
                self.schedule_remote(code);
            }
            StatusCause::UserPartUnavailable { user, reason } if user == ServiceIndicator::SCCP => {
                let (status, input) = match reason {
                    UserPartUnavailability::Unequipped => {
                        (RemoteSccpStatus::Unequipped, RemoteInput::NotEquipped)
                    }
                    UserPartUnavailability::Inaccessible => {
                        (RemoteSccpStatus::Inaccessible, RemoteInput::Prohibited)
                    }
                    UserPartUnavailability::Unknown => {
                        (RemoteSccpStatus::Unavailable, RemoteInput::Prohibited)
                    }
                };
                remote.sccp_status = Some(status);
                self.step_remote(now, code, MANAGEMENT, input);
                self.step_subsystems(now, code, RemoteInput::Paused);
            }
            StatusCause::UserPartUnavailable { .. } => {}
        }
    }

    fn step_subsystems(&mut self, now: Instant, code: PointCode, input: RemoteInput) {
        let Some(remote) = self.remotes.get(&code) else { return };
        let known: Vec<Ssn> = remote.subsystems.keys().copied().collect();
        for ssn in known {
            self.step_remote(now, code, ssn, input);
        }
    }

    /// A message of management that has come to this node.
    pub(super) fn handle_management(
        &mut self,
        now: Instant,
        unitdata: &Unitdata,
        from: Option<RoutingLabel>,
    ) {
        let origin = from.map_or(self.config.point_code, |label| label.opc);
        let Ok(message) = ScmgMessage::parse(&unitdata.data) else {
            return self.counters.discard(Discard::MalformedManagement);
        };
        self.counters.management_received(message);
        match message {
            ScmgMessage::Ssa(Affected { ssn, point_code, .. }) => {
                self.update_remote(now, point_code, ssn, RemoteInput::Allowed);
            }
            ScmgMessage::Ssp(Affected { ssn, point_code, .. }) => {
                self.update_remote(now, point_code, ssn, RemoteInput::Prohibited);
            }
            ScmgMessage::Sst(Affected { ssn, point_code, .. }) => {
                self.answer_test(now, origin, ssn, point_code);
            }
            ScmgMessage::Sor(Affected { ssn, .. }) => {
                if self.subsystems.get(&ssn).copied().is_some_and(LocalSubsystem::is_available) {
                    self.indicate(ssn, Indication::Coord { point_code: origin, ssn });
                } else {
                    self.counters.discard(Discard::UnexpectedInState);
                }
            }
            ScmgMessage::Sog(Affected { ssn, .. }) => {
                let is_backup =
                    self.config.subsystems.get(&ssn).is_some_and(|own| own.backup == Some(origin));
                if !is_backup {
                    self.counters.discard(Discard::ManagementUnknownSubsystem);
                } else if !self.step_local(now, ssn, LocalInput::Granted) {
                    self.counters.discard(Discard::UnexpectedInState);
                }
            }
            ScmgMessage::Ssc(Affected { point_code, .. }, level) => {
                let decay = self.config.timers.decay;
                let Some(remote) = self.remotes.get_mut(&point_code) else {
                    return self.counters.discard(Discard::ManagementUnknownSubsystem);
                };
                if remote.restriction.remote_congestion(now, level, decay) {
                    self.indicate_point_code(point_code);
                }
                self.schedule_remote(point_code);
            }
        }
    }

    fn update_remote(&mut self, now: Instant, code: PointCode, ssn: Ssn, input: RemoteInput) {
        let Some(remote) = self.remotes.get_mut(&code) else {
            return self.counters.discard(Discard::ManagementUnknownSubsystem);
        };
        if remote.tested(ssn).is_none() {
            return self.counters.discard(Discard::ManagementUnknownSubsystem);
        }
        // SCCP is never told to be prohibited by SSP: MTP says so.
        if ssn == MANAGEMENT && input == RemoteInput::Prohibited {
            return self.counters.discard(Discard::UnexpectedInState);
        }
        // What is already known, as an SSA that answers nothing, changes nothing.
        self.step_remote(now, code, ssn, input);
        if ssn == MANAGEMENT {
            self.step_subsystems(now, code, RemoteInput::Resumed);
        }
    }

    fn answer_test(&mut self, now: Instant, origin: PointCode, ssn: Ssn, point_code: PointCode) {
        let is_ours = point_code == self.config.point_code;
        let is_available =
            ssn == MANAGEMENT || self.subsystems.get(&ssn).copied().is_some_and(LocalSubsystem::is_available);
        if is_ours && is_available {
            self.send_management(now, origin, ScmgMessage::Ssa(affected(ssn, point_code)));
        } else {
            self.counters.discard(Discard::TestNotAnswered);
        }
    }

    /// A message came for a user that is out of service: its node is told (Q.714, section 5.3.2.2).
    pub(super) fn answer_prohibited(
        &mut self,
        unitdata: &Unitdata,
        cause: ReturnCause,
        from: Option<RoutingLabel>,
    ) {
        let (Some(label), Some(ssn)) = (from, unitdata.called.ssn) else { return };
        let is_out = self.subsystems.get(&ssn).is_some_and(|subsystem| !subsystem.is_available());
        if cause == ReturnCause::SUBSYSTEM_FAILURE && unitdata.called.routes_on_ssn && is_out {
            let message = ScmgMessage::Ssp(affected(ssn, self.config.point_code));
            self.transmit_management(label.opc, message);
        }
    }

    /// One step of what is known of a subsystem elsewhere.
    fn step_remote(&mut self, now: Instant, code: PointCode, ssn: Ssn, input: RemoteInput) {
        let timers = self.config.timers;
        let Some(tested) = self.remotes.get_mut(&code).and_then(|remote| remote.tested(ssn)) else { return };
        let Some(row) = REMOTE_SUBSYSTEM.next(tested.state, input) else { return };
        tested.state = row.to;
        for action in row.actions {
            let Some(tested) = self.remotes.get_mut(&code).and_then(|remote| remote.tested(ssn)) else {
                return;
            };
            match action {
                RemoteAction::StartStatusInformation => {
                    tested.interval = timers.status_information;
                    tested.due = Some(now + tested.interval);
                }
                RemoteAction::GrowStatusInformation => {
                    let longest = timers.status_information_longest;
                    tested.interval = tested.interval.saturating_mul(2).min(longest);
                    tested.due = Some(now + tested.interval);
                }
                RemoteAction::StopStatusInformation => (tested.interval, tested.due) = (Duration::ZERO, None),
                RemoteAction::SendTest => {
                    self.send_management(now, code, ScmgMessage::Sst(affected(ssn, code)));
                }
                RemoteAction::IndicateInService => self.indicate_remote(code, ssn, true),
                RemoteAction::IndicateOutOfService => self.indicate_remote(code, ssn, false),
            }
        }
        self.schedule_remote(code);
    }

    fn indicate_remote(&mut self, code: PointCode, ssn: Ssn, in_service: bool) {
        if ssn == MANAGEMENT {
            if in_service && let Some(remote) = self.remotes.get_mut(&code) {
                remote.sccp_status = None;
            }
            return self.indicate_point_code(code);
        }
        self.indicate_to_users(None, &Indication::SubsystemState { point_code: code, ssn, in_service });
    }

    fn indicate_point_code(&mut self, code: PointCode) {
        let Some(remote) = self.remotes.get(&code) else { return };
        let restricted_importance = remote.restriction.restricted_importance();
        let status = match (remote.is_inaccessible, restricted_importance) {
            (true, _) => PointCodeStatus::Inaccessible,
            (false, 0) => PointCodeStatus::Accessible,
            (false, _) => PointCodeStatus::Congested,
        };
        let remote_sccp = remote.sccp_status.unwrap_or(RemoteSccpStatus::Available);
        let indication =
            Indication::PointCodeState { point_code: code, status, remote_sccp, restricted_importance };
        self.indicate_to_users(None, &indication);
    }

    /// Local broadcast (Q.714, section 5.3.6).
    fn indicate_to_users(&mut self, except: Option<Ssn>, indication: &Indication) {
        let users = self.subsystems.iter().filter(|(_, subsystem)| subsystem.is_available());
        let users: Vec<Ssn> = users.map(|(ssn, _)| *ssn).filter(|ssn| Some(*ssn) != except).collect();
        for ssn in users {
            self.indicate(ssn, indication.clone());
        }
    }

    /// One step of an own subsystem. Returns whether the table has one.
    pub(super) fn step_local(&mut self, now: Instant, ssn: Ssn, input: LocalInput) -> bool {
        let Some(subsystem) = self.subsystems.get_mut(&ssn) else { return false };
        let Some(row) = LOCAL_SUBSYSTEM.next(subsystem.state, input) else { return false };
        subsystem.state = row.to;
        let own = self.config.point_code;
        for action in row.actions {
            match action {
                LocalAction::BroadcastAllowed => self.broadcast(now, ssn, true),
                LocalAction::BroadcastProhibited => self.broadcast(now, ssn, false),
                LocalAction::ConfirmCoord => self.indicate(ssn, Indication::CoordConfirm { ssn }),
                LocalAction::RefuseCoord => self.indicate(ssn, Indication::CoordRefused { ssn }),
                LocalAction::SendSor => {
                    if let Some(backup) = self.config.subsystems.get(&ssn).and_then(|own| own.backup) {
                        self.send_management(now, backup, ScmgMessage::Sor(affected(ssn, own)));
                    }
                }
                LocalAction::StartCoordinatedChange => {
                    self.set_due(ssn, Some(now + self.config.timers.coordinated_change));
                }
                LocalAction::StartIgnoreStatusTest => {
                    self.set_due(ssn, Some(now + self.config.timers.ignore_status_test));
                }
                LocalAction::StopTimer => self.set_due(ssn, None),
            }
        }
        true
    }

    fn set_due(&mut self, ssn: Ssn, due: Option<Instant>) {
        if let Some(subsystem) = self.subsystems.get_mut(&ssn) {
            subsystem.due = due;
        }
    }

    fn broadcast(&mut self, now: Instant, ssn: Ssn, in_service: bool) {
        let own = affected(ssn, self.config.point_code);
        let message = if in_service { ScmgMessage::Ssa(own) } else { ScmgMessage::Ssp(own) };
        let concerned: Vec<PointCode> = match self.config.subsystems.get(&ssn) {
            Some(subsystem) => subsystem.concerned.iter().copied().collect(),
            None => Vec::new(),
        };
        for code in concerned {
            self.send_management(now, code, message);
        }
        let point_code = self.config.point_code;
        self.indicate_to_users(Some(ssn), &Indication::SubsystemState { point_code, ssn, in_service });
    }

    fn send_management(&mut self, now: Instant, code: PointCode, message: ScmgMessage) {
        let unitdata = self.management(code, message);
        self.counters.management_sent(message);
        self.route_unitdata(now, unitdata, None);
    }

    /// Sends a message of management without a look at what is known of the node: an answer to what has just come from
    /// it.
    fn transmit_management(&mut self, code: PointCode, message: ScmgMessage) {
        let unitdata = self.management(code, message);
        let capability = self.remote(code).map(|remote| remote.capability).unwrap_or_default();
        let sls = self.any_sls();
        if let Ok(messages) = unitdata.fit(capability, crate::sccp::LocalReference(0)) {
            self.counters.management_sent(message);
            for octets in messages {
                self.transmit(code, sls, octets);
            }
        }
    }

    fn management(&self, code: PointCode, message: ScmgMessage) -> Unitdata {
        let address = |point_code| PartyAddress {
            routes_on_ssn: true,
            point_code: Some(point_code),
            ssn: Some(MANAGEMENT),
            ..PartyAddress::default()
        };
        let mut data = Vec::new();
        message.emit(&mut data);
        Unitdata {
            form: Form::Unitdata,
            purpose: Purpose::Data(ProtocolClass { class: 0, handling: 0 }),
            hop_counter: None,
            called: address(code),
            calling: address(self.config.point_code),
            data,
            segmentation: None,
            others: OptionalParameters::default(),
        }
    }

    fn schedule_remote(&mut self, code: PointCode) {
        self.remote_deadlines.retain(|(_, scheduled)| *scheduled != code);
        if let Some(due) = self.remotes.get(&code).and_then(RemoteNode::deadline) {
            self.remote_deadlines.insert((due, code));
        }
    }

    /// T(stat info), Td, T(coord chg) and T(ignore SST).
    pub(super) fn expire_subsystems(&mut self, now: Instant) {
        let timers = self.config.timers;
        while let Some((due, code)) = self.remote_deadlines.first().copied().filter(|(due, _)| *due <= now) {
            self.remote_deadlines.remove(&(due, code));
            let Some(remote) = self.remotes.get_mut(&code) else { continue };
            if remote.restriction.handle_deadline(now, &timers) {
                self.indicate_point_code(code);
            }
            let Some(remote) = self.remotes.get(&code) else { continue };
            let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
            let mut expired: Vec<Ssn> = remote
                .subsystems
                .iter()
                .filter(|(_, tested)| is_due(tested.due))
                .map(|(ssn, _)| *ssn)
                .collect();
            if is_due(remote.sccp.due) {
                expired.push(MANAGEMENT);
            }
            for ssn in expired {
                self.step_remote(now, code, ssn, RemoteInput::StatusInformationExpired);
            }
            self.schedule_remote(code);
        }
        let is_due = |subsystem: &LocalSubsystem| subsystem.due.is_some_and(|due| due <= now);
        let expired: Vec<(Ssn, LocalState)> = self
            .subsystems
            .iter()
            .filter(|(_, subsystem)| is_due(subsystem))
            .map(|(ssn, subsystem)| (*ssn, subsystem.state))
            .collect();
        for (ssn, state) in expired {
            self.set_due(ssn, None);
            let input = match state {
                LocalState::Leaving => LocalInput::IgnoreStatusTestExpired,
                _ => LocalInput::CoordinatedChangeExpired,
            };
            self.step_local(now, ssn, input);
        }
    }
}

const fn affected(ssn: Ssn, point_code: PointCode) -> Affected {
    Affected { ssn, point_code, multiplicity: 0 }
}
