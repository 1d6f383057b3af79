//! What `net` and `sat` make of access systems.

use slantpath_base::{DataRate, Duration};
use slantpath_net::{DirectionId, FrameConfig};
use slantpath_sat::{Access, AccessConfig, Ask, TerminalConfig};

use super::schema::{AskFor, TerminalAccess, rate_of, slots_for};
use crate::network::PlannedLink;
use crate::scenario::Scenario;
use crate::schema::{File, LinkParameters};

/// The frames in which a direction sends, if it does.
pub(crate) fn frames(file: &File, parameters: &LinkParameters) -> Option<FrameConfig> {
    file.access.find(&parameters.access.as_ref()?.0.system)?.frame_config()
}

/// What a direction sends at most: at its own rate, or in the slots that it may have.
pub(crate) fn rate(file: &File, parameters: &LinkParameters) -> Option<DataRate> {
    let of_slots = || {
        let access = &parameters.access.as_ref()?.0;
        let frame = frames(file, parameters)?;
        let most = access.most.map_or(frame.slots, |most| slots_for(&frame, *most));
        Some(rate_of(&frame, most.min(frame.slots)))
    };
    parameters.rate.map(|rate| *rate).or_else(of_slots)
}

/// The systems of a scenario, in the order of their names; their terminals in the order of their links.
pub(crate) fn systems(scenario: &Scenario, links: &[PlannedLink]) -> Vec<Access> {
    let systems = scenario.access.iter().filter_map(|(name, system)| {
        let frame = system.frame_config()?;
        let mut terminals = Vec::new();
        for link in links {
            let Some(table) = scenario.links.find(&link.name) else { continue };
            for (direction, parameters) in
                [(link.id.forward(), &table.forward), (link.id.reverse(), &table.reverse)]
            {
                let access = parameters.access.as_ref().map(|access| &access.0);
                terminals.extend(
                    access
                        .filter(|access| *access.system == name)
                        .map(|access| terminal(access, &frame, direction)),
                );
            }
        }
        let mut access = Access::new(AccessConfig {
            frame,
            carriers: *system.carriers,
            ask_every: *system.ask_every,
            hop: *system.hop,
            plan_every: *system.plan_every,
            processing: *system.processing,
            lead: *system.lead,
            terminals,
        });
        if scenario.probes.access.is_some_and(|probe| *probe) {
            access.record();
        }
        Some(access)
    });
    systems.collect()
}

fn terminal(access: &TerminalAccess, frame: &FrameConfig, direction: DirectionId) -> TerminalConfig {
    TerminalConfig {
        direction,
        permanent_slots: slots_for(frame, *access.permanent),
        most_slots: access.most.map_or(frame.slots, |most| slots_for(frame, *most)),
        ask: match *access.ask {
            AskFor::Nothing => Ask::Never,
            AskFor::Rate => Ask::Rate { drain: *access.drain },
            AskFor::Volume => Ask::Volume,
        },
        release_after: if *access.ask == AskFor::Rate { *access.release_after } else { Duration::ZERO },
        interruption: *access.interruption,
    }
}
