//! Links that flip bits below profiles without SCTP's checksum (RFC 9653).

use core::slice;

use slantpath_reader::{Fault, Faults, Named, Nested, Stage, Tables};

use crate::link::arq::Arq;
use crate::link::fade_step::FadeStep;
use crate::schema::{self, SctpProfile};
use crate::script::schema::Event;
use crate::written::{FadeTrace, Link, LinkParameters, SkyDirection, SkyTable};

/// Reports profiles whose packets have no checksum where a link flips bits: DTLS is not simulated, and packets that it
/// would throw away would be taken for whole.
pub(crate) fn check(
    profiles: &Tables<SctpProfile>,
    links: &Tables<Link>,
    sky: Option<&SkyTable>,
    events: &[Named<Event>],
    faults: &mut Faults,
) {
    let Some(method) = profiles.iter().find_map(|(_, profile)| profile.zero_checksum) else { return };
    let by_links = links.iter().find_map(|(name, link)| {
        let flips = [&link.forward.0, &link.reverse.0].into_iter().any(link_flips);
        flips.then(|| format!("`links.{name}`"))
    });
    let by_sky = || sky.and_then(of_sky);
    let by_script = || by_script(links, sky, events);
    let Some(link) = by_links.or_else(by_sky).or_else(by_script) else { return };
    let help = "give it `loss` in place of `bit_error_rate`, as DTLS throws a broken record away, or `arq`; or leave \
                `zero_checksum` out";
    faults.report(method.place(), flips_bits(&link).help(help));
}

/// Reports events that let a link flip bits below such a profile, where they are asked for.
pub(crate) fn check_events(
    profiles: &Tables<SctpProfile>,
    links: &Tables<schema::Link>,
    sky: Option<&schema::SkyTable>,
    events: &[Named<Event>],
    faults: &mut Faults,
) {
    if profiles.iter().all(|(_, profile)| profile.zero_checksum.is_none()) {
        return;
    }
    for event in events {
        if let Some((link, place)) = by_script(links, sky, slice::from_ref(event)).zip(event.bit_error_rate) {
            let help = "set `loss` in place of `bit_error_rate`, as DTLS throws a broken record away";
            faults.report(place.place(), flips_bits(&link).help(help));
        }
    }
}

fn flips_bits(link: &str) -> Fault {
    Fault::new(format!("{link} flips bits, which nothing would find in a packet without checksum"))
}

fn link_flips(own: &LinkParameters) -> bool {
    let fades_flip =
        own.channel.arq.is_none() && own.fade_trace.as_ref().is_some_and(|trace| fade_flips(&trace.0));
    fades_flip || own.channel.flips_bits()
}

fn fade_flips(trace: &FadeTrace) -> bool {
    trace.steps.as_ref().is_some_and(|steps| steps.iter().any(FadeStep::flips_bits))
}

/// A link of the sky that hands on packets with bit errors at some time.
fn of_sky(sky: &SkyTable) -> Option<String> {
    let errs = |own: &SkyDirection| own.channel.flips_bits();
    let access = sky.access.iter().find(|(_, table)| errs(&table.uplink.0) || errs(&table.downlink.0));
    if let Some((name, _)) = access {
        return Some(format!("`sky.access.{name}`"));
    }
    if let Some((name, _)) = sky.isls.iter().find(|(_, table)| errs(&table.both.0)) {
        return Some(format!("`sky.isls.{name}`"));
    }
    let fade = sky.fades.iter().find(|(_, fade)| fade_flips(&fade.trace.0) && !sky_repeats(sky));
    fade.map(|(name, _)| format!("`sky.fades.{name}`"))
}

/// Tells whether every link of the sky repeats what an error hits.
fn sky_repeats<S: Stage>(sky: &schema::SkyTable<S>) -> bool {
    let repeats = |arq: &Option<Nested<Arq>>| arq.is_some();
    let access = sky
        .access
        .iter()
        .all(|(_, table)| repeats(&table.uplink.0.channel.arq) && repeats(&table.downlink.0.channel.arq));
    access && sky.isls.iter().all(|(_, table)| repeats(&table.both.0.channel.arq))
}

/// An event that lets a link flip bits which does not repeat.
fn by_script<S: Stage>(
    links: &Tables<schema::Link<S>>,
    sky: Option<&schema::SkyTable<S>>,
    events: &[Named<Event>],
) -> Option<String> {
    let sets_errors = |event: &&Event| event.bit_error_rate.is_some_and(|rate| !rate.is_never());
    let repeats = |name: &str| match links.find(name) {
        Some(link) => link.forward.0.channel.arq.is_some() && link.reverse.0.channel.arq.is_some(),
        None => sky.is_some_and(sky_repeats),
    };
    let event = events.iter().map(|event| &**event).filter(sets_errors);
    let event = event.into_iter().find(|event| !repeats(&event.link))?;
    Some(format!("`{}`, as the script has it,", *event.link))
}
