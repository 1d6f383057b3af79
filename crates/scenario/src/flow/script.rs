//! `[[flows.<name>.script]]`: events that cannot be, and the commands that a host makes of them.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_host::AssociationCommand;
use slantpath_reader::{Fault, Faults, Named, Place, Setting, Stage, Written};
use slantpath_sctp::{Extension, ResetDirection, StreamId};

use super::event::{AssociationAction, AssociationEvent, End};
use crate::scene::Scene;
use crate::schema::{Adaptation, Flow, SctpProfile, Transport};

impl AssociationAction {
    /// The keys that say what is meant by it.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::AddStreams => &["outgoing", "incoming"],
            Self::ResetAssociation => &[],
            Self::ResetIncomingStreams | Self::ResetOutgoingStreams | Self::ResetStreams => &["streams"],
            Self::UseKey => &["key"],
        }
    }

    const fn extension(self) -> (Extension, &'static str) {
        match self {
            Self::UseKey => (Extension::Authentication, "authentication"),
            _ => (Extension::Reconfiguration, "stream-reconfiguration"),
        }
    }
}

/// Streams that come to be by the script on which the flow's sender sends.
pub(crate) fn streams_added<S: Stage>(flow: &Flow<S>) -> u32 {
    let added = flow.script.iter().filter(|event| *event.action == AssociationAction::AddStreams);
    let count = |event: &Named<AssociationEvent>| match *event.end {
        End::Sender => event.outgoing.map_or(0, |count| *count),
        End::Receiver => event.incoming.map_or(0, |count| *count),
    };
    added.map(|event| u32::from(count(event))).sum()
}

pub(crate) fn check(flow: &Flow<Written>, scene: Scene<'_>, faults: &mut Faults) {
    let profile = scene.sctp_profile(flow.profile.as_ref());
    for event in &flow.script {
        scene.before_the_end(&event.at, "this event", faults);
        if *flow.transport != Transport::Sctp || *flow.adaptation != Adaptation::None {
            let fault =
                Fault::new("only an association of SCTP with no adaptation above it is told what to do");
            faults
                .report(event.action.place(), fault.help("remove the event, or let the flow use SCTP alone"));
            continue;
        }
        let (extension, name) = event.action.extension();
        if let Some(profile) = profile
            && !profile.extensions().contain(extension)
        {
            let message = format!("`{}` needs an extension that the profile does not list", *event.action);
            let help = format!("add \"{name}\" to `extensions` of the flow's profile");
            faults.report(event.action.place(), Fault::new(message).help(help));
        }
        meanings(event, faults);
        if let (Some(key), Some(profile)) = (event.key, profile) {
            known_key(key, profile, faults);
        }
        known_streams(event, flow, faults);
    }
    let streams = u32::from(*flow.streams) + streams_added(flow);
    if let Some(last) = flow.script.last().filter(|_| streams > u32::from(u16::MAX)) {
        let fault = Fault::new(format!("{streams} streams are more than can be numbered"));
        faults.report(last.action.place(), fault.help("add fewer: there are 65535 at most"));
    }
}

/// Keys that belong to the action, and those that it cannot do without.
fn meanings(event: &AssociationEvent, faults: &mut Faults) {
    let given: BTreeMap<&str, Place> = [
        ("streams", event.streams.as_ref().map(Setting::place)),
        ("outgoing", event.outgoing.as_ref().map(Setting::place)),
        ("incoming", event.incoming.as_ref().map(Setting::place)),
        ("key", event.key.as_ref().map(Setting::place)),
    ]
    .into_iter()
    .filter_map(|(key, place)| Some((key, place?)))
    .collect();
    for (key, place) in given.iter().filter(|(key, _)| !event.action.keys().contains(key)) {
        let message = format!("`{key}` has no meaning with `action = \"{}\"`", *event.action);
        faults.report(*place, Fault::new(message).help("leave it out, or write an event of its own for it"));
    }
    let is_nothing = |count: Option<Setting<u16>>| count.is_none_or(|count| *count == 0);
    match *event.action {
        AssociationAction::AddStreams if is_nothing(event.outgoing) && is_nothing(event.incoming) => {
            let fault = Fault::new("no stream is added");
            faults.report(event.action.place(), fault.help("write `outgoing = 2`, `incoming = 2`, or both"));
        }
        AssociationAction::UseKey if event.key.is_none() => {
            let fault = Fault::new("nothing says by which key");
            faults
                .report(event.action.place(), fault.help("write `key = 1` for the second of `shared_keys`"));
        }
        _ => {}
    }
    if let Some(streams) = event.streams.as_ref().filter(|streams| streams.is_empty()) {
        let help = "leave `streams` out for all of them";
        faults.report(streams.place(), Fault::new("no stream is named").help(help));
    }
}

fn known_key(key: Setting<u16>, profile: &SctpProfile, faults: &mut Faults) {
    let count = profile.shared_keys.as_ref().map_or(0, |keys| keys.len());
    if usize::from(*key) >= count {
        let message = format!("key {} is not one of {count} in `shared_keys`", *key);
        let help =
            "the first has number 0; write more `shared_keys` in the flow's profile, or a lesser number";
        faults.report(key.place(), Fault::new(message).help(help));
    }
}

/// Streams of which a flow knows: both ends have as many at first.
fn known_streams(event: &AssociationEvent, flow: &Flow<Written>, faults: &mut Faults) {
    let Some(streams) = &event.streams else { return };
    let before = |other: &&Named<AssociationEvent>| *other.at < *event.at;
    let added: u32 = flow
        .script
        .iter()
        .filter(before)
        .flat_map(|other| [other.outgoing, other.incoming])
        .flatten()
        .map(|count| u32::from(*count))
        .sum();
    let count = u32::from(*flow.streams) + added;
    if let Some(unknown) = streams.iter().find(|stream| u32::from(**stream) >= count) {
        let message = format!("stream {unknown} is not one of {count}");
        let help = "the first has number 0; write more `streams` in the flow, or a lesser number";
        faults.report(streams.place(), Fault::new(message).help(help));
    }
}

/// Instant of an event, and the command that it gives the host.
pub(crate) fn command(event: &AssociationEvent) -> (Instant, AssociationCommand) {
    let count = |setting: Option<Setting<u16>>| setting.map_or(0, |count| *count);
    let reset = |direction| {
        let streams = event.streams.iter().flat_map(|streams| streams.iter());
        AssociationCommand::ResetStreams { direction, streams: streams.copied().map(StreamId).collect() }
    };
    let command = match *event.action {
        AssociationAction::AddStreams => {
            AssociationCommand::AddStreams { outbound: count(event.outgoing), inbound: count(event.incoming) }
        }
        AssociationAction::ResetAssociation => AssociationCommand::ResetAssociation,
        AssociationAction::ResetIncomingStreams => reset(ResetDirection::Inbound),
        AssociationAction::ResetOutgoingStreams => reset(ResetDirection::Outbound),
        AssociationAction::ResetStreams => reset(ResetDirection::Both),
        AssociationAction::UseKey => AssociationCommand::UseKey(count(event.key)),
    };
    (Instant::START + *event.at, command)
}

/// The word for a command that a host was given.
pub const fn action_of(command: &AssociationCommand) -> AssociationAction {
    match command {
        AssociationCommand::AddStreams { .. } => AssociationAction::AddStreams,
        AssociationCommand::ResetAssociation => AssociationAction::ResetAssociation,
        AssociationCommand::ResetStreams { direction, .. } => match direction {
            ResetDirection::Outbound => AssociationAction::ResetOutgoingStreams,
            ResetDirection::Inbound => AssociationAction::ResetIncomingStreams,
            ResetDirection::Both => AssociationAction::ResetStreams,
        },
        AssociationCommand::UseKey(_) => AssociationAction::UseKey,
    }
}
