//! Access systems: frames that carry something, and terminals that can have what they ask for.

use std::collections::BTreeMap;

use slantpath_net::FrameConfig;
use slantpath_reader::{Fault, Faults, Named, Origin, Setting};

use super::schema::{AccessSystem, AskFor, TerminalAccess, rate_of, slots_for};
use crate::check::{positive, resolve};
use crate::schema::{Action, File, LinkParameters, Which};

/// The frames of systems whose slots carry something, by name.
type FramesByName = BTreeMap<String, FrameConfig>;

fn frames(file: &File) -> FramesByName {
    let systems = file.access.iter();
    systems.filter_map(|(name, system)| Some((name.to_owned(), system.frame_config()?))).collect()
}

pub(crate) fn check(file: &File, faults: &mut Faults) {
    let frames = frames(file);
    let mut permanent = BTreeMap::<&str, u64>::new();
    for (name, link) in file.links.iter() {
        for (which, parameters) in [(Which::Forward, &link.forward), (Which::Reverse, &link.reverse)] {
            let Some(access) = &parameters.access else { continue };
            let access = &access.0;
            resolve(&file.access, &access.system, "access system", access.system.place(), faults);
            terminal(access, faults);
            alone(parameters, access, faults);
            not_scripted(file, name, which, parameters, faults);
            if let Some(frame) = frames.get(&*access.system) {
                fits(access, frame, faults);
                let slots = slots_for(frame, *access.permanent);
                *permanent.entry(access.system.as_str()).or_default() += u64::from(slots);
            }
        }
    }
    for (name, system) in file.access.iter() {
        carriers(system, faults);
        let (Some(frame), Some(&slots)) = (frames.get(name), permanent.get(name)) else {
            if !permanent.contains_key(name) && frames.contains_key(name) {
                let fault = Fault::new(format!("no link sends on the carriers of `{name}`"));
                let help = format!("write `access = {{ system = \"{name}\" }}` into a direction of a link");
                faults.report(system.place(), fault.help(help));
            }
            continue;
        };
        let capacity = u64::from(frame.slots) * u64::from(*system.carriers);
        if slots > capacity {
            let message = format!(
                "terminals have {slots} slots of each frame for good, and the carriers {capacity}: {} of {}",
                rate_of(frame, u32::try_from(slots).unwrap_or(u32::MAX)),
                rate_of(frame, u32::try_from(capacity).unwrap_or(u32::MAX)),
            );
            let help = "let less be `permanent`, or give the system more `carriers`";
            faults.report(system.carriers.place(), Fault::new(message).help(help));
        }
    }
}

fn carriers(system: &Named<AccessSystem>, faults: &mut Faults) {
    positive(&system.frame, "a frame", faults);
    for interval in [&system.ask_every, &system.plan_every] {
        if **interval < *system.frame {
            let message = format!("{} is less than a frame of {}", **interval, *system.frame);
            let help = "a plan holds from the beginning of a frame on: let it be a frame at least";
            faults.report(interval.place(), Fault::new(message).help(help));
        } else {
            positive(interval, "an interval", faults);
        }
    }
    let mut none = |setting: &Setting<u32>, what: &str| {
        if **setting == 0 {
            let fault = Fault::new(format!("without {what} nothing is ever sent"));
            faults.report(setting.place(), fault.help("let there be 1 at least"));
        }
    };
    none(&system.slots, "slots");
    none(&system.carriers, "carriers");
    if !system.frame.is_zero() && *system.slots > 0 && system.frame_config().is_none() {
        let message = format!(
            "no byte fits into a slot: {} of {} each, of which {} are lost, at {}",
            *system.slots, *system.frame, *system.slot_overhead, *system.carrier_rate
        );
        let help = "let there be fewer slots, a longer frame, a higher rate or less overhead";
        faults.report(system.slots.place(), Fault::new(message).help(help));
    }
}

fn terminal(access: &TerminalAccess, faults: &mut Faults) {
    let is_zero = access.permanent.as_bits_per_sec() == 0;
    if *access.ask == AskFor::Nothing && is_zero {
        let fault = Fault::new("it has nothing for good and asks for nothing: it never sends");
        faults.report(
            access.ask.place(),
            fault.help("give `permanent`, or let it ask for a `rate` or a `volume`"),
        );
    }
    if let Some(most) = access.most.filter(|most| **most < *access.permanent) {
        let message = format!("it has {} for good, and {} at most", *access.permanent, *most);
        faults.report(most.place(), Fault::new(message).help("let `most` be `permanent` or more"));
    }
    if *access.ask == AskFor::Rate {
        positive(&access.drain, "a time to send the backlog in", faults);
    } else {
        for (key, setting) in [("drain", &access.drain), ("release_after", &access.release_after)] {
            if setting.origin() == Origin::Given {
                let fault = Fault::new(format!("`{key}` is about what asks for a rate"));
                faults.report(
                    setting.place(),
                    fault.help(format!("remove `{key}`, or write `ask = \"rate\"`")),
                );
            }
        }
    }
    if *access.ask == AskFor::Volume && !access.interruption.is_zero() {
        let fault = Fault::new(
            "what asks for volumes has other slots with each plan, and would be interrupted by each",
        );
        faults.report(
            access.interruption.place(),
            fault.help("remove `interruption`, or let it ask for a `rate`"),
        );
    }
}

/// Reports what a terminal cannot have: it sends on one carrier at a time.
fn fits(access: &TerminalAccess, frame: &FrameConfig, faults: &mut Faults) {
    for rate in [Some(access.permanent), access.most].into_iter().flatten() {
        if slots_for(frame, *rate) > frame.slots {
            let message =
                format!("{} is more than a carrier carries: {}", *rate, rate_of(frame, frame.slots));
            let help =
                "a terminal sends on one carrier at a time: let it have less, or the carrier a higher rate";
            faults.report(rate.place(), Fault::new(message).help(help));
        }
    }
}

/// Reports what a direction that sends in bursts does not do as well.
fn alone(parameters: &LinkParameters, access: &TerminalAccess, faults: &mut Faults) {
    let place = access.system.place();
    let others = [
        ("arq", parameters.arq.is_some()),
        ("header_compression", parameters.header_compression.is_some()),
        ("shaper", parameters.shaper.is_some()),
    ];
    for (key, _) in others.iter().filter(|(_, is_there)| *is_there) {
        let fault = Fault::new(format!("a direction with `access` has no `{key}`"));
        faults.report(place, fault.help("leave one of them out, or put it on the link before"));
    }
    if parameters.discipline.as_ref().is_some_and(|discipline| discipline.0.is_settled_on_arrival()) {
        let message = "RED knows when a packet leaves as it comes, which no direction with `access` does";
        let help = "leave `discipline` out, or take one of kind `codel`, `fq-codel`, `drr` or `priority`";
        faults.report(place, Fault::new(message).help(help));
    }
}

/// Reports changes of a rate that it does not have.
fn not_scripted(file: &File, name: &str, which: Which, parameters: &LinkParameters, faults: &mut Faults) {
    let message = "what a direction with `access` sends follows from its slots, not from a `rate`";
    let help = "let it have other slots, or let the carriers fade by `loss` and `bit_error_rate`";
    for event in &file.script {
        let is_of_it = *event.link == name && [which, Which::Both].contains(&event.direction);
        if let Some(rate) = event.rate.filter(|_| is_of_it && *event.action == Action::Set) {
            faults.report(rate.place(), Fault::new(message).help(help));
        }
    }
    if let Some(trace) = &parameters.fade_trace {
        // A trace of losses alone would do, but whether it is one is not known before it has been read.
        faults.report(trace.0.file.place(), Fault::new(message).help(help));
    }
}
