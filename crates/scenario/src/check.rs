//! Checks of the parts of a scenario against each other. They complete what is left to defaults and assignment, so that
//! the merged form says everything, and report all that cannot be. Each check has its own part of the file, and of the
//! others what it has to know.

use std::sync::Arc;

use slantpath_reader::{AllKnown, Entries, Faults, FileKind, Files, Part, Section, Written, finished};

use crate::draft::Draft;
use crate::link::wiring::Wiring;
use crate::own_kinds::OwnKinds;
use crate::scene::Scene;
use crate::schema::{self, Signalling};
use crate::signalling::SignallingPlan;
use crate::sky_links::topology::{self, Bodies};
use crate::{access, flow, head, link, network, probes, script, sessions, sky_links, zero_checksum};

/// The whole file as it is written. Nobody else has it: what is handed on is complete.
type File = schema::File<Written>;

/// Reads the entries of a file, checks and completes them. `None` if anything is at fault.
pub fn read(entries: &Entries, files: &Files, own: &OwnKinds, faults: &mut Faults) -> Option<Draft> {
    let (mut file, all_known) = File::read_root(entries, FileKind::Scenario.words(), faults)?;
    let live = core::mem::take(&mut *file.live);
    crate::live::check(&live, &file.nodes, faults);
    let (signalling, plan, bodies) = check(&mut file, all_known, files, own, faults);
    if !faults.is_empty() {
        return None;
    }
    let file = schema::File { signalling, ..finished(file, "", faults)? };
    Some(Draft::new(file, plan.map(Arc::new), bodies, live))
}

/// Checks and completes a scenario. Gives its signalling network with the plan of it, and the bodies of its sky, if
/// it has one.
fn check(
    file: &mut File,
    all_known: AllKnown,
    files: &Files,
    own: &OwnKinds,
    faults: &mut Faults,
) -> (Part<Signalling>, Option<SignallingPlan>, Option<Bodies>) {
    let schema::File {
        scenario,
        nodes,
        links,
        wan_emulators,
        access,
        sky,
        sctp,
        tcp,
        flows,
        sessions,
        script,
        signalling,
        probes,
        live: _,
    } = file;
    let has_emulators = wan_emulators.all_whole();
    link::wan_emulator::expand(wan_emulators, links, faults);
    let head = scenario.whole();
    let duration = head.map(|head| *head.duration);
    if let Some(head) = head {
        head::check(head, faults);
        let is_signalling = signalling.whole().is_none_or(|signalling| !signalling.load.is_empty());
        let is_attached = nodes.iter().any(|(_, node)| *node.kind == schema::NodeKind::Attached);
        if flows.is_empty() && sessions.is_empty() && !is_signalling && !is_attached {
            head::nothing_sent(head, faults);
        }
    }
    let mut sky = sky.as_mut().map(|sky| &mut sky.0);
    link::own_discipline::resolve_all(links, sky.as_deref_mut(), own, faults);
    if sky.is_none() {
        sky_links::check::no_sky(nodes, links, faults);
    }
    let bodies = sky.as_mut().and_then(|sky| topology::load(sky, head, all_known, files, faults));
    let network = bodies.as_ref().map(|bodies| &bodies.network);
    if let (Some(sky), Some(network)) = (&mut sky, network) {
        sky_links::check::check(sky, network, nodes, links, flows, faults);
    }
    slantpath_profiles::sctp::check(sctp, own.controllers(), faults);
    slantpath_profiles::tcp::check(tcp, own.controllers(), faults);
    let joined = link::check::check(links, nodes, flows, faults);
    access::check::check(access, Wiring { nodes, links }, sky.as_deref(), script, network, faults);
    access::check::rates(access, links, sky.as_deref_mut());
    // Where a node or a link is in doubt, nothing can be said about what is not joined.
    if joined && has_emulators && all_known.0 && nodes.all_whole() && links.all_whole() {
        network::graph::check(Wiring { nodes, links }, flows, sessions, faults);
        network::existing::check(Wiring { nodes, links }, faults);
    }
    flow::check::add_default_profiles(sctp, tcp, nodes, flows, sessions);
    let scene = Scene { wiring: Wiring { nodes, links }, sctp, tcp, duration };
    flow::check::check(flows, scene, files, faults);
    sessions::check::check(sessions, scene, files, faults);
    link::delay_trace::check(links, duration, files, faults);
    link::fade_trace::check(links, sky.as_deref_mut(), duration, files, faults);
    let wiring = Wiring { nodes, links };
    script::check::check(script, wiring, sky.is_some(), duration, faults);
    zero_checksum::check(sctp, links, sky.as_deref(), script, faults);
    if let (Some(sky), Some(network)) = (&sky, network) {
        sky_links::changes::check(sky, network, wiring, script, faults);
    }
    let (signalling, plan) = slantpath_points::check(signalling, sctp, (&wiring, duration), files, faults);
    if let Some(probes) = probes.whole() {
        probes::check::check(probes, (wiring, sky.is_some()), flows, faults);
    }
    (signalling, plan, bodies)
}
