//! The script of a scenario as what is done to its signalling network.

use slantpath_base::Instant;
use slantpath_reader::Setting;
use slantpath_signalling::network::{AspId, LinkChange, ManagementChange, Side, SignallingLinkId};
use slantpath_signalling::{LinkEndChange, PointChange, ProcessChange};
use slantpath_ss7::sccp::Ssn;

use crate::names::{Unresolved, known, point_id};
use crate::schema::{Signalling, SignallingAction, SignallingEvent};

/// Everything that is done, in the order of the file.
pub(crate) fn changes(signalling: &Signalling) -> Result<Vec<(Instant, ManagementChange)>, Unresolved> {
    let mut changes = Vec::new();
    for event in &signalling.script {
        let at = Instant::START + *event.at;
        changes.extend(changes_of(signalling, event)?.into_iter().map(|change| (at, change)));
    }
    Ok(changes)
}

fn changes_of(signalling: &Signalling, event: &SignallingEvent) -> Result<Vec<ManagementChange>, Unresolved> {
    if let Some(asp) = &event.asp {
        let asp = AspId(known(signalling.asps.position(asp), asp)?);
        let change = match *event.action {
            SignallingAction::Activate => ProcessChange::Activate,
            SignallingAction::Deactivate => ProcessChange::Deactivate,
            SignallingAction::Fail => ProcessChange::Fail,
            SignallingAction::Restore => ProcessChange::Restore,
            // A check refuses the rest.
            _ => return Ok(Vec::new()),
        };
        return Ok(vec![ManagementChange::Process(asp, change)]);
    }
    let link_id = |name: &Setting<String>| known(signalling.links.position(name), name).map(SignallingLinkId);
    let link = event.link.as_ref().map(link_id).transpose()?;
    let point = event.point.as_ref().map(|name| known(point_id(signalling, name), name)).transpose()?;
    let ssn = event.subsystem.map(|subsystem| Ssn(*subsystem));
    let whole = |change| link.map(|link| ManagementChange::Link(link, change)).into_iter().collect();
    let of_point = |change| point.map(|point| ManagementChange::Point(point, change)).into_iter().collect();
    let of_subsystem = |change: fn(Ssn) -> PointChange| ssn.map(change).map(of_point).unwrap_or_default();
    let at_end = |change| ends(signalling, event, change);
    Ok(match *event.action {
        SignallingAction::Activate => whole(LinkChange::Activate),
        SignallingAction::Deactivate => whole(LinkChange::Deactivate),
        SignallingAction::Emergency => at_end(LinkEndChange::Emergency),
        SignallingAction::EmergencyCeases => at_end(LinkEndChange::EmergencyCeases),
        SignallingAction::Fail => whole(LinkChange::Fail),
        SignallingAction::Inhibit => at_end(LinkEndChange::Inhibit),
        SignallingAction::ProcessorOutage => at_end(LinkEndChange::ProcessorOutage),
        SignallingAction::ProcessorRecovered => at_end(LinkEndChange::ProcessorRecovered),
        SignallingAction::Restart => of_point(PointChange::Restart),
        SignallingAction::Restore => whole(LinkChange::Restore),
        SignallingAction::SubsystemAsks => of_subsystem(PointChange::SubsystemAsks),
        SignallingAction::SubsystemComes => of_subsystem(PointChange::SubsystemComes),
        SignallingAction::SubsystemGoes => of_subsystem(PointChange::SubsystemGoes),
        SignallingAction::Uninhibit => at_end(LinkEndChange::Uninhibit),
    })
}

/// A change at the point's end of the link, or of all its links.
fn ends(signalling: &Signalling, event: &SignallingEvent, change: LinkEndChange) -> Vec<ManagementChange> {
    let Some(point) = &event.point else { return Vec::new() };
    let mut changes = Vec::new();
    for (number, (name, link)) in signalling.links.iter().enumerate() {
        if event.link.as_ref().is_some_and(|wanted| wanted.as_str() != name) {
            continue;
        }
        for (side, end) in Side::BOTH.into_iter().zip([&link.between.0, &link.between.1]) {
            if *end == **point {
                changes.push(ManagementChange::LinkEnd(SignallingLinkId(number), side, change));
            }
        }
    }
    changes
}
