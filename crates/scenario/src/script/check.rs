//! The script: events that can happen.

use slantpath_reader::{Fault, Faults, Place};

use crate::check::{before_the_end, resolve};
use crate::schema::{Action, Event, File};

pub(crate) fn check(file: &File, faults: &mut Faults) {
    for event in &file.script {
        resolve(&file.links, &event.link, "link", event.link.place(), faults);
        before_the_end(file, &event.at, "this event", faults);
        let parameters = parameters(event);
        match (*event.action, parameters.first()) {
            (Action::Set, None) => {
                let help = "give at least one of `rate`, `delay`, `loss`, `bit_error_rate`";
                faults.report(event.action.place(), Fault::new("nothing is set").help(help));
            }
            (Action::Down | Action::Up, Some((key, place))) => {
                let message = format!("`{key}` has no meaning with `action = \"{}\"`", *event.action);
                let help = "write an event of its own with `action = \"set\"`";
                faults.report(*place, Fault::new(message).help(help));
            }
            _ => {}
        }
        if let Some(rate) = event.rate.filter(|rate| rate.as_bits_per_sec() == 0) {
            let help = "write `action = \"down\"` for a link that carries nothing";
            faults.report(rate.place(), Fault::new("a link of rate zero never sends").help(help));
        }
    }
}

fn parameters(event: &Event) -> Vec<(&'static str, Place)> {
    let rate = event.rate.map(|setting| ("rate", setting.place()));
    let delay = event.delay.map(|setting| ("delay", setting.place()));
    let loss = event.loss.map(|setting| ("loss", setting.place()));
    let errors = event.bit_error_rate.map(|setting| ("bit_error_rate", setting.place()));
    [rate, delay, loss, errors].into_iter().flatten().collect()
}
