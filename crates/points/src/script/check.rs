//! The script: links, points and subsystems that exist, and what can be done to them.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Named, Place, Setting};

use crate::names::is_served;
use crate::names::point;
use crate::schema::{Carrier, Need, SignallingAction, SignallingEvent};
use crate::written::Signalling;
use slantpath_profiles::fault::before_the_end;
use slantpath_reader::resolve;

pub(crate) fn names(signalling: &Signalling, duration: Option<Duration>, faults: &mut Faults) {
    for event in &signalling.script {
        before_the_end(duration, &event.at, "this event", faults);
        if event.asp.is_some() {
            crate::server::check::event(signalling, event, faults);
        } else if needs(event, faults) {
            exist(signalling, event, faults);
        }
    }
}

/// Tells whether the action has the keys that it needs, and no other.
fn needs(event: &Named<SignallingEvent>, faults: &mut Faults) -> bool {
    let keys: [(&str, Option<Place>); 3] = [
        ("link", event.link.as_ref().map(Setting::place)),
        ("point", event.point.as_ref().map(Setting::place)),
        ("subsystem", event.subsystem.as_ref().map(Setting::place)),
    ];
    let before = faults.len();
    for ((key, place), need) in keys.into_iter().zip(event.action.needs()) {
        match (need, place) {
            (Need::Must, None) => {
                let message = format!("`{}` needs `{key}`", *event.action);
                let help = match key {
                    "link" => {
                        "write `link = \"…\"`, the link that it happens to, or `asp = \"…\"` with some actions"
                    }
                    "point" => "write `point = \"…\"`, the point that does it",
                    _ => "write `subsystem = …`, the number of one of the point's subsystems",
                };
                faults.report(event.action.place(), Fault::new(message).help(help));
            }
            (Need::MustNot, Some(place)) => {
                let message = format!("`{key}` has no meaning with `action = \"{}\"`", *event.action);
                faults.report(place, Fault::new(message).help("remove it"));
            }
            _ => {}
        }
    }
    faults.len() == before
}

fn exist(signalling: &Signalling, event: &SignallingEvent, faults: &mut Faults) {
    if let Some(name) = &event.point {
        point(signalling, name, name.place(), faults);
        if is_served(signalling, name) {
            let message = format!("`{}` is above M3UA: it has no MTP3 that this could happen to", **name);
            let help = "name its gateway's point, or write `asp` in place of `point`";
            faults.report(name.place(), Fault::new(message).help(help));
        }
    }
    if let Some(name) = &event.link {
        let link = resolve(&signalling.links, name, "signalling link", name.place(), faults);
        let Some(link) = link else { return };
        let breaks = matches!(*event.action, SignallingAction::Fail | SignallingAction::Restore);
        if breaks && matches!(*link.carrier, Carrier::M2pa(_)) {
            let message = format!("link `{}` is an association: it has no line that fails", **name);
            let help =
                "let a link of the packet network below it go `down` in `[[script]]`, or write `deactivate`";
            faults.report(event.action.place(), Fault::new(message).help(help));
        }
        let (first, second) = (&link.between.0, &link.between.1);
        if let Some(at) = event.point.as_ref().filter(|at| at.as_str() != first && at.as_str() != second)
            && signalling.points.find(at).is_some()
        {
            let message = format!("link `{}` does not end at `{}`", **name, **at);
            faults.report(at.place(), Fault::new(message).help(format!("it joins `{first}` and `{second}`")));
        }
    }
    if let (Some(name), Some(subsystem)) = (&event.point, &event.subsystem)
        && let Some(point) = signalling.points.find(name)
    {
        if !point.subsystems.contains(subsystem) {
            let message = format!("`{}` has no subsystem {}", **name, **subsystem);
            let help = format!("add it to `subsystems` in `[signalling.points.{}]`", **name);
            faults.report(subsystem.place(), Fault::new(message).help(help));
        }
        let has_backup = point.sccp.as_ref().is_some_and(|sccp| sccp.backup.is_some());
        if *event.action == SignallingAction::SubsystemAsks && !has_backup {
            let message = format!("the subsystems of `{}` have no backup to ask", **name);
            let help = format!("name a point as `backup` in `[signalling.points.{}.sccp]`", **name);
            faults.report(event.action.place(), Fault::new(message).help(help));
        }
    }
}
