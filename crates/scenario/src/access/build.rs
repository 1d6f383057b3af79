//! Configuration in `net` and `sat` of access systems.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, Duration, Seed, Stream};
use slantpath_net::{DirectionId, FrameConfig};
use slantpath_reader::{Nested, Setting, Tables};
use slantpath_sat::{Access, AccessConfig, AccessRequests, Ask, ContentionConfig, TerminalConfig};

use super::schema::{AccessSystem, AskFor, RequestChannel, TerminalAccess, rate_of, slots_for};
use crate::checked::Checked;
use crate::network::planned::PlannedLink;

/// The frames in which a terminal sends.
pub(crate) fn frames(systems: &Tables<AccessSystem>, access: &TerminalAccess) -> Option<FrameConfig> {
    systems.find(&access.system)?.frame_config()
}

/// Highest rate of a terminal, in the slots that it may have.
fn rate_of_slots(systems: &Tables<AccessSystem>, access: &TerminalAccess) -> Option<DataRate> {
    let frame = frames(systems, access)?;
    let most = access.most.map_or(frame.slots, |most| slots_for(&frame, *most));
    Some(rate_of(&frame, most.min(frame.slots)))
}

/// Highest rate of a direction: its own rate, or that of the slots that it may have.
pub(super) fn rate(
    systems: &Tables<AccessSystem>,
    own: Option<Setting<DataRate>>,
    access: Option<&Nested<TerminalAccess>>,
) -> Option<DataRate> {
    own.map(|rate| *rate).or_else(|| rate_of_slots(systems, &access?.0))
}

/// The systems of a scenario, in the order of their names; their terminals in the order of their links.
pub fn systems(scenario: &Checked, links: &[PlannedLink], seed: Seed) -> Vec<Access> {
    let mut terminals = Terminals::new();
    for link in links {
        for (direction, access) in
            [link.id.forward(), link.id.reverse()].into_iter().zip(asks(scenario, link))
        {
            if let Some(access) = access {
                terminals.entry(&access.system).or_default().push((&link.name, direction, access));
            }
        }
    }
    let systems = scenario.access.iter().filter_map(|(name, system)| {
        let own = terminals.get(name)?;
        let mut access = Access::new(config(system, own)?, chance(name, system, own, seed));
        if scenario.probes.access.is_some_and(|probe| *probe) {
            access.record();
        }
        Some(access)
    });
    systems.collect()
}

/// Directions that send on the carriers of a system, with the names of their links, by its name.
type Terminals<'a> = BTreeMap<&'a str, Vec<(&'a str, DirectionId, &'a TerminalAccess)>>;

/// Settings by which the two directions of a link ask for capacity, if they do; the first one of an antenna leads up.
fn asks<'a>(scenario: &'a Checked, link: &PlannedLink) -> [Option<&'a TerminalAccess>; 2] {
    if let Some(table) = link.access_table {
        let (_, table) = scenario.sky.iter().flat_map(|sky| sky.0.access.iter()).nth(table).unzip();
        return [table.and_then(|table| table.uplink.access.as_ref()).map(|access| &access.0), None];
    }
    let Some(table) = scenario.links.find(&link.name) else { return [None, None] };
    [&table.forward, &table.reverse].map(|parameters| parameters.access.as_ref().map(|access| &access.0))
}

fn config(system: &AccessSystem, terminals: &[(&str, DirectionId, &TerminalAccess)]) -> Option<AccessConfig> {
    let frame = system.frame_config()?;
    Some(AccessConfig {
        frame,
        carriers: *system.carriers,
        ask_every: *system.ask_every,
        hop: *system.hop,
        plan_every: *system.plan_every,
        processing: *system.processing,
        lead: *system.lead,
        requests: requests(system),
        gives_free_slots: *system.free_capacity,
        terminals: terminals
            .iter()
            .map(|(_, direction, access)| terminal(access, &frame, *direction))
            .collect(),
    })
}

fn requests(system: &AccessSystem) -> AccessRequests {
    match system.requests.as_ref().map(|requests| &requests.0) {
        None | Some(RequestChannel::Assigned(_)) => AccessRequests::Assigned,
        Some(RequestChannel::Contention(rooms)) => AccessRequests::Contention(ContentionConfig {
            per_frame: *rooms.per_frame,
            slots: *rooms.slots,
            backoff_frames: *rooms.backoff,
        }),
        Some(RequestChannel::Piggybacked(_)) => AccessRequests::Piggybacked,
    }
}

/// Random streams by which terminals choose rooms for their requests, one stream for each terminal.
fn chance(
    name: &str,
    system: &AccessSystem,
    terminals: &[(&str, DirectionId, &TerminalAccess)],
    seed: Seed,
) -> Vec<Stream> {
    if !matches!(requests(system), AccessRequests::Contention(_)) {
        return Vec::new();
    }
    let of_terminal = |(link, direction, _): &(&str, DirectionId, &TerminalAccess)| {
        seed.stream(&format!("access/{name}/{link}/{}", direction.name()))
    };
    terminals.iter().map(of_terminal).collect()
}

fn terminal(access: &TerminalAccess, frame: &FrameConfig, direction: DirectionId) -> TerminalConfig {
    TerminalConfig {
        direction,
        permanent_slots: slots_for(frame, *access.permanent),
        most_slots: access.most.map_or(frame.slots, |most| slots_for(frame, *most)),
        ask: match *access.ask {
            AskFor::Nothing => Ask::Never,
            AskFor::Rbdc => Ask::Rate { drain: *access.drain },
            AskFor::Vbdc => Ask::Volume,
            AskFor::Avbdc => Ask::AbsoluteVolume,
        },
        release_after: if *access.ask == AskFor::Rbdc { *access.release_after } else { Duration::ZERO },
        interruption: *access.interruption,
    }
}
