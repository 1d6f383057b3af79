//! Messages and the send buffer: one that is longer than all of it would wait for room for ever.

use slantpath_base::DataSize;
use slantpath_reader::{Fault, Faults, Setting, Written};

use crate::flow::application::Application;
use crate::scene::Scene;
use crate::schema::Transport;
use crate::written::Flow;

/// The longest message of a flow, but for one that sends by a trace.
fn longest(application: &Application<Written>) -> Option<DataSize> {
    match application {
        Application::Mixed(mixed) => mixed.classes.iter().map(|(_, class)| *class.message_size).max(),
        other => other.message_size().map(|size| **size),
    }
}

/// Refuses a buffer that does not hold the longest message of a flow.
pub(crate) fn check(flow: &Flow, scene: Scene<'_>, faults: &mut Faults) {
    if let Some(longest) = longest(&flow.application.0) {
        holds(scene, *flow.transport, flow.profile.as_ref(), longest, faults);
    }
}

/// Refuses a profile whose buffer does not hold a message of this length.
pub(crate) fn holds(
    scene: Scene<'_>,
    transport: Transport,
    profile: Option<&Setting<String>>,
    message: DataSize,
    faults: &mut Faults,
) {
    let buffer = scene.send_buffer(transport, profile);
    let Some(buffer) = buffer.filter(|buffer| ***buffer < message) else { return };
    let fault = Fault::new(format!("a send buffer of {} never holds a message of {message}", **buffer));
    let help = format!("let `send_buffer` be at least {message}, or the messages shorter");
    faults.report(buffer.place(), fault.help(help));
}
