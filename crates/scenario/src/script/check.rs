//! The script: events that can happen.

use slantpath_base::Duration;
use slantpath_reader::{Fault, Faults, Named, Place, Stage, Tables};

use crate::link::schema::{Link, LinkParameters};
use crate::link::wiring::Wiring;
use crate::schema::{Action, Event, Which};
use crate::sky_links::changes::is_of_sky;
use slantpath_profiles::fault::before_the_end;

/// `has_sky` tells whether links between satellites may be meant.
pub(crate) fn check<S: Stage>(
    events: &[Named<Event>],
    wiring: Wiring<'_, S>,
    has_sky: bool,
    duration: Option<Duration>,
    faults: &mut Faults,
) {
    for event in events {
        if !is_of_sky(wiring.nodes, has_sky, &event.link) {
            wiring.check_is_link(&event.link, event.link.place(), faults);
        }
        before_the_end(duration, &event.at, "this event", faults);
        let parameters = parameters(event);
        match (*event.action, parameters.first()) {
            (Action::Set, None) => {
                let help =
                    "give at least one of `rate`, `delay`, `loss`, `bit_error_rate`, `duplicate`, `reorder`";
                faults.report(event.action.place(), Fault::new("nothing is set").help(help));
            }
            (Action::Down | Action::Up, Some((key, place))) => {
                let message = format!("`{key}` has no meaning with `action = \"{}\"`", *event.action);
                let help = "write an event of its own with `action = \"set\"`";
                faults.report(*place, Fault::new(message).help(help));
            }
            _ => {}
        }
        on_a_link_that_keeps_order(wiring.links, event, faults);
        let lone = match (event.reorder, event.reorder_delay) {
            (Some(reorder), None) => Some((reorder.place(), "reorder", "reorder_delay")),
            (None, Some(delay)) => Some((delay.place(), "reorder_delay", "reorder")),
            _ => None,
        };
        if let Some((place, given, missing)) = lone {
            let fault = Fault::new(format!("`{given}` is set without `{missing}`"));
            faults.report(place, fault.help("set both: they are one change"));
        }
        if let Some(rate) = event.rate.filter(|rate| rate.as_bits_per_sec() == 0) {
            let help = "write `action = \"down\"` for a link that carries nothing";
            faults.report(rate.place(), Fault::new("a link of rate zero never sends").help(help));
        }
    }
}

fn on_a_link_that_keeps_order<S: Stage>(links: &Tables<Link<S>>, event: &Event, faults: &mut Faults) {
    let Some(link) = links.find(&event.link) else { return };
    let changed = [(Which::Forward, &link.forward), (Which::Reverse, &link.reverse)];
    let mut changed =
        changed.into_iter().filter(|(which, _)| [*which, Which::Both].contains(&event.direction));
    let keeps_order = |parameters: &LinkParameters<S>| parameters.channel.keeping_order().next().is_some();
    if !changed.any(|(_, parameters)| keeps_order(parameters)) {
        return;
    }
    for (key, chance) in [("duplicate", event.duplicate), ("reorder", event.reorder)] {
        if let Some(chance) = chance.filter(|chance| !chance.is_never()) {
            let fault =
                Fault::new(format!("`{key}` has no meaning on a link with `arq` or `header_compression`"));
            faults.report(chance.place(), fault.help("such a link numbers its packets"));
        }
    }
}

fn parameters(event: &Event) -> Vec<(&'static str, Place)> {
    let rate = event.rate.map(|setting| ("rate", setting.place()));
    let delay = event.delay.map(|setting| ("delay", setting.place()));
    let loss = event.loss.map(|setting| ("loss", setting.place()));
    let errors = event.bit_error_rate.map(|setting| ("bit_error_rate", setting.place()));
    let duplicate = event.duplicate.map(|setting| ("duplicate", setting.place()));
    let reorder = event.reorder.map(|setting| ("reorder", setting.place()));
    let reorder_delay = event.reorder_delay.map(|setting| ("reorder_delay", setting.place()));
    [rate, delay, loss, errors, duplicate, reorder, reorder_delay].into_iter().flatten().collect()
}
