//! Access systems: frames that carry something, and terminals that can have what they ask for.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_net::FrameConfig;
use slantpath_orbit::ContactNetwork;
use slantpath_orbit::ground::{GroundPolicy, Handover};
use slantpath_profiles::fault::positive;
use slantpath_reader::{Fault, Faults, Named, Origin, Place, Setting, Stage, Tables, Written};

use super::build::rate;
use super::schema::{AccessSystem, AskFor, DRAIN, RequestChannel, TerminalAccess, rate_of, slots_for};
use crate::link::wiring::Wiring;
use crate::schema::{self, Action, Event, Node, Which};
use crate::sky_links::port::SkyPort;
use crate::sky_links::tables::access_table;
use crate::written::{Link, LinkParameters, SkyDirection, SkyTable};
use slantpath_reader::resolve;

/// The frames of systems whose slots carry something, by name.
type FramesByName = BTreeMap<String, FrameConfig>;

fn frames(systems: &Tables<AccessSystem>) -> FramesByName {
    systems.iter().filter_map(|(name, system)| Some((name.to_owned(), system.frame_config()?))).collect()
}

/// Writes down the highest rate of every transmitter, as far as it can be known.
pub(crate) fn rates(systems: &Tables<AccessSystem>, links: &mut Tables<Link>, sky: Option<&mut SkyTable>) {
    for (_, link) in links.iter_mut() {
        for parameters in [&mut link.forward.0, &mut link.reverse.0] {
            let rate = rate(systems, parameters.rate, parameters.access.as_ref());
            parameters.port.0.top_rate.resolve(rate);
        }
    }
    let Some(sky) = sky else { return };
    let access = sky.access.iter_mut().flat_map(|(_, table)| [&mut table.uplink.0, &mut table.downlink.0]);
    let isls = sky.isls.iter_mut().map(|(_, table)| &mut table.both.0);
    for direction in access.chain(isls) {
        let rate = rate(systems, direction.rate, direction.access.as_ref());
        if let SkyPort::Sends(port) = &mut direction.port.0 {
            port.top_rate.resolve(rate);
        }
    }
}

/// `bodies` are known where the sky, if there is one, is sound.
pub(crate) fn check(
    systems: &Tables<AccessSystem>,
    wiring: Wiring<'_, Written>,
    sky: Option<&SkyTable>,
    events: &[Named<Event>],
    bodies: Option<&ContactNetwork>,
    faults: &mut Faults,
) {
    let frames = frames(systems);
    let mut permanent = BTreeMap::<&str, u64>::new();
    let mut has_slots = |access, count: u64, faults: &mut Faults| {
        one(systems, access, &frames, faults);
        if let Some(frame) = frames.get(&*access.system) {
            let slots = u64::from(slots_for(frame, *access.permanent));
            *permanent.entry(access.system.as_str()).or_default() += slots.saturating_mul(count);
        }
    };
    for (name, link) in wiring.links.iter() {
        for (which, parameters) in [(Which::Forward, &link.forward), (Which::Reverse, &link.reverse)] {
            let Some(access) = &parameters.access else { continue };
            has_slots(&access.0, 1, faults);
            alone(parameters, &access.0, faults);
            rate_not_set(events, name, which, faults);
            not_faded(parameters, faults);
        }
    }
    for (table, antennas) in antennas(wiring.nodes, sky, bodies) {
        let Some(access) = &table.uplink.access else { continue };
        has_slots(&access.0, antennas.len() as u64, faults);
        alone_under_sky(&table.uplink, &access.0, faults);
        for (name, policy) in antennas {
            if let Handover::MakeBeforeBreak { .. } = policy.handover {
                let message =
                    format!("`{name}` sends to two satellites at a time, and a terminal by one carrier");
                let help = "write `handover = \"break-before-make\"` for this antenna";
                faults.report(access.0.system.place(), Fault::new(message).help(help));
            }
            rate_not_set(events, name, Which::Forward, faults);
            sky_not_faded(sky, name, faults);
        }
    }
    for (name, system) in systems.iter() {
        carriers(system, faults);
        let (Some(frame), Some(&slots)) = (frames.get(name), permanent.get(name)) else {
            // Who sends under a sky that is at fault is not known.
            let is_known = sky.is_none() || bodies.is_some();
            if is_known && !permanent.contains_key(name) && frames.contains_key(name) {
                let fault = Fault::new(format!("no link sends on the carriers of `{name}`"));
                let help = format!("write `access = {{ system = \"{name}\" }}` into a direction of a link");
                faults.report(system.place(), fault.help(help));
            }
            continue;
        };
        let requests = match system.requests.as_ref().map(|requests| &requests.0) {
            Some(RequestChannel::Contention(rooms)) => u64::from(*rooms.slots),
            _ => 0,
        };
        let all = u64::from(frame.slots) * u64::from(*system.carriers);
        let capacity = all.saturating_sub(requests);
        if slots > capacity {
            let message = format!(
                "terminals have {slots} slots of each frame for good, and the carriers {capacity} for them: {} of {}",
                rate_of(frame, u32::try_from(slots).unwrap_or(u32::MAX)),
                rate_of(frame, u32::try_from(capacity).unwrap_or(u32::MAX)),
            );
            let help = "let less be `permanent`, or give the system more `carriers`";
            faults.report(system.carriers.place(), Fault::new(message).help(help));
        }
    }
}

/// Tables of links, each with its antennas: what one is called, and how it changes satellites.
type AntennasByTable<'a, S> = Vec<(&'a schema::AccessTable<S>, Vec<(&'a str, GroundPolicy)>)>;

/// Antennas by the table of their links: what each is called, and how it changes satellites.
fn antennas<'a, S: Stage>(
    nodes: &'a Tables<Node>,
    sky: Option<&'a schema::SkyTable<S>>,
    bodies: Option<&'a ContactNetwork>,
) -> AntennasByTable<'a, S> {
    let (Some(sky), Some(bodies)) = (sky, bodies) else { return Vec::new() };
    let tables: Vec<&schema::AccessTable<S>> = sky.access.iter().map(|(_, table)| &**table).collect();
    let mut all: Vec<_> = tables.into_iter().map(|table| (table, Vec::new())).collect();
    for (_, node) in nodes.iter() {
        let (Some(site), Some(names)) = (&node.site, &node.antennas) else { continue };
        let Some(known) = bodies.sites.iter().find(|known| known.name == **site) else { continue };
        for (name, antenna) in names.iter().zip(&known.antennas) {
            let table = access_table(sky, &known.name, antenna.constellation.as_deref());
            if let Some(table) = table {
                all[table].1.push((name.as_str(), antenna.policy));
            }
        }
    }
    all
}

/// A terminal by itself, wherever it sends.
fn one(systems: &Tables<AccessSystem>, access: &TerminalAccess, frames: &FramesByName, faults: &mut Faults) {
    resolve(systems, &access.system, "access system", access.system.place(), faults);
    let gives_free_slots = systems.find(&access.system).is_some_and(|system| *system.free_capacity);
    terminal(access, gives_free_slots, faults);
    if let Some(frame) = frames.get(&*access.system) {
        fits(access, frame, faults);
    }
    if let Some(system) = systems.find(&access.system) {
        can_ask(access, system, faults);
    }
}

/// Reports a terminal that asks in its bursts, and may never have one.
fn can_ask(access: &TerminalAccess, system: &AccessSystem, faults: &mut Faults) {
    let requests = system.requests.as_ref().map(|requests| &requests.0);
    let is_piggybacked = matches!(requests, Some(RequestChannel::Piggybacked(_)));
    let has_bursts = access.permanent.as_bits_per_sec() > 0 || *system.free_capacity;
    if is_piggybacked && !has_bursts && *access.ask != AskFor::Nothing {
        let fault = Fault::new("it asks in its bursts, and has no slot to ask for the first one in");
        let help = "give it something `permanent`, or write `free_capacity = true` into the system";
        faults.report(access.system.place(), fault.help(help));
    }
    if *system.free_capacity && !access.interruption.is_zero() {
        let fault = Fault::new("free slots are another's with each plan, each of which would interrupt it");
        faults.report(access.interruption.place(), fault.help("remove `interruption`, or `free_capacity`"));
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
    if let Some(RequestChannel::Contention(rooms)) = system.requests.as_ref().map(|requests| &requests.0) {
        for (setting, what) in [
            (&rooms.per_frame, "room for a request"),
            (&rooms.slots, "a slot for requests"),
            (&rooms.backoff, "a frame to repeat a request in"),
        ] {
            if **setting == 0 {
                let fault = Fault::new(format!("without {what} nobody is ever heard"));
                faults.report(setting.place(), fault.help("let it be 1 at least"));
            }
        }
        if *rooms.slots > *system.slots {
            let message =
                format!("requests take {} slots of a frame that has {}", *rooms.slots, *system.slots);
            let help = "they are all on the first carrier: let them take less";
            faults.report(rooms.slots.place(), Fault::new(message).help(help));
        }
    }
    if !system.frame.is_zero() && *system.slots > 0 && system.frame_config().is_none() {
        let message = format!(
            "no byte fits into a slot: {} of {} each, of which {} are lost, at {}",
            *system.slots, *system.frame, *system.slot_overhead, *system.carrier_rate
        );
        let help = "let there be fewer slots, a longer frame, a higher rate or less overhead";
        faults.report(system.slots.place(), Fault::new(message).help(help));
    }
}

fn terminal(access: &TerminalAccess, gives_free_slots: bool, faults: &mut Faults) {
    let is_zero = access.permanent.as_bits_per_sec() == 0;
    if *access.ask == AskFor::Nothing && is_zero && !gives_free_slots {
        let fault = Fault::new("it has nothing for good and asks for nothing: it never sends");
        let help = "give `permanent`, write `ask = \"rbdc\"`, or `free_capacity = true` into the system";
        faults.report(access.ask.place(), fault.help(help));
    }
    if let Some(most) = access.most.filter(|most| **most < *access.permanent) {
        let message = format!("it has {} for good, and {} at most", *access.permanent, *most);
        faults.report(most.place(), Fault::new(message).help("let `most` be `permanent` or more"));
    }
    if *access.ask == AskFor::Rbdc {
        positive(&access.drain, "a time to send the backlog in", faults);
    } else {
        // The form with all defaults written out is a scenario, too.
        for (key, setting, usual) in
            [("drain", &access.drain, DRAIN), ("release_after", &access.release_after, Duration::ZERO)]
        {
            if setting.origin() == Origin::Given && **setting != usual {
                let fault = Fault::new(format!("`{key}` is about what asks for a rate"));
                faults.report(
                    setting.place(),
                    fault.help(format!("remove `{key}`, or write `ask = \"rbdc\"`")),
                );
            }
        }
    }
    if [AskFor::Vbdc, AskFor::Avbdc].contains(&access.ask) && !access.interruption.is_zero() {
        let fault = Fault::new(
            "what asks for volumes has other slots with each plan, and would be interrupted by each",
        );
        faults.report(
            access.interruption.place(),
            fault.help("remove `interruption`, or write `ask = \"rbdc\"`"),
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
    let others = [
        ("arq", parameters.channel.arq.is_some()),
        ("header_compression", parameters.channel.header_compression.is_some()),
        ("shaper", parameters.shaper.is_some()),
    ];
    not_beside(access.system.place(), &others, faults);
}

/// Reports keys of an antenna's uplink that cannot stand beside `access`.
fn alone_under_sky(uplink: &SkyDirection, access: &TerminalAccess, faults: &mut Faults) {
    let others = [
        ("rate", uplink.rate.is_some()),
        ("arq", uplink.channel.arq.is_some()),
        ("header_compression", uplink.channel.header_compression.is_some()),
    ];
    not_beside(access.system.place(), &others, faults);
}

fn not_beside(place: Place, others: &[(&str, bool)], faults: &mut Faults) {
    for (key, _) in others.iter().filter(|(_, is_there)| *is_there) {
        let fault = Fault::new(format!("a direction with `access` has no `{key}`"));
        faults.report(place, fault.help("leave one of them out, or put it on the link before"));
    }
}

/// Reports events that change a rate which a terminal does not have.
pub(crate) fn check_events<S: Stage>(
    wiring: Wiring<'_, S>,
    sky: Option<&schema::SkyTable<S>>,
    events: &[Named<Event>],
    bodies: Option<&ContactNetwork>,
    faults: &mut Faults,
) {
    for (name, link) in wiring.links.iter() {
        for (which, parameters) in [(Which::Forward, &link.forward), (Which::Reverse, &link.reverse)] {
            if parameters.access.is_some() {
                rate_not_set(events, name, which, faults);
            }
        }
    }
    for (table, antennas) in antennas(wiring.nodes, sky, bodies) {
        if table.uplink.access.is_some() {
            for (name, _) in antennas {
                rate_not_set(events, name, Which::Forward, faults);
            }
        }
    }
}

/// Reports events that change the rate of a direction.
fn rate_not_set(events: &[Named<Event>], name: &str, which: Which, faults: &mut Faults) {
    for event in events {
        let is_of_it = *event.link == name && [which, Which::Both].contains(&event.direction);
        if let Some(rate) = event.rate.filter(|_| is_of_it && *event.action == Action::Set) {
            no_rate(rate.place(), faults);
        }
    }
}

/// Reports fades of a rate that an antenna does not have.
fn sky_not_faded(sky: Option<&SkyTable>, antenna: &str, faults: &mut Faults) {
    let fades = sky.into_iter().flat_map(|sky| sky.fades.iter());
    for (_, fade) in fades.filter(|(_, fade)| *fade.link == *antenna && *fade.direction != Which::Reverse) {
        no_rate(fade.trace.0.file.place(), faults);
    }
}

fn no_rate(place: Place, faults: &mut Faults) {
    let message = "what a direction with `access` sends follows from its slots, not from a `rate`";
    let help = "let it have other slots, or let the carriers fade by `loss` and `bit_error_rate`";
    faults.report(place, Fault::new(message).help(help));
}

/// Reports fades of a rate that it does not have.
fn not_faded(parameters: &LinkParameters, faults: &mut Faults) {
    if let Some(trace) = &parameters.fade_trace {
        // A trace of losses alone would do, but whether it is one is not known before it has been read.
        no_rate(trace.0.file.place(), faults);
    }
}
