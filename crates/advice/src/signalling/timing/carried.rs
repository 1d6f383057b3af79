//! Loads against what lines and windows carry, and windows against what M2PA keeps of messages.

use std::collections::BTreeSet;

use slantpath_base::{DataRate, Duration};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::schema::SctpProfile;
use slantpath_scenario::schema::signalling::{M2pa, Mtp2, SignallingLink};

use super::reading::window;
use super::scene::{Scene, place_or};
use super::waiting::BEYOND_LINE;
use crate::signalling::offered::Part;

/// Limit of what one direction of a link carries, and its reason.
struct Limit {
    bits: f64,
    /// As in "carries 64 kbit/s".
    text: String,
    /// Fate of messages beyond the limit.
    then: &'static str,
}

/// Loads that say of themselves that they are beyond what links carry, and are.
pub(super) type Meant = BTreeSet<usize>;

/// A line, in both directions.
pub(super) fn line(
    scene: &Scene<'_>,
    (name, link): (&str, &SignallingLink),
    mtp2: &Mtp2,
    meant: &mut Meant,
    faults: &mut Faults,
) {
    for from in [&link.between.0, &link.between.1] {
        let limit = Limit {
            bits: mtp2.rate.as_bits_per_sec() as f64,
            text: format!("the line carries {}", *mtp2.rate),
            then: "what is beyond waits, and is refused once `transmit_buffer` is full",
        };
        let parts = scene.offered.on(name, from);
        carries(scene, (name, from), parts, (0.0, &limit), meant, faults);
    }
}

/// An association, in both directions: its window over the round trip, and the messages that M2PA keeps for it.
pub(super) fn association(
    scene: &Scene<'_>,
    (name, link): (&str, &SignallingLink),
    (m2pa, profile): (&M2pa, &SctpProfile),
    round_trip: Duration,
    meant: &mut Meant,
    faults: &mut Faults,
) {
    let most = window(profile).most;
    let config = m2pa.config();
    for from in [&link.between.0, &link.between.1] {
        let parts = scene.offered.on(name, from);
        let Some(octets) = scene.offered.octets(parts).map(|octets| octets + BEYOND_LINE) else { continue };
        let kept = config.outstanding_max.min(config.buffer_max) as f64 * octets;
        if is_given(profile) && most > kept {
            let (key, place, count) = if config.outstanding_max <= config.buffer_max {
                ("window", m2pa.window.place(), config.outstanding_max)
            } else {
                ("buffer", m2pa.buffer.place(), config.buffer_max)
            };
            let message = format!(
                "`{name}`: a cwnd of {most:.0} bytes is never filled: `{key}` of M2PA keeps {count} messages, with \
                 this load {kept:.0} bytes"
            );
            let needed = (most / octets).ceil();
            let help = format!("let `{key}` be {needed:.0} or more, or the window smaller");
            faults.warn_of_kind("window of messages", place_or(place, link), Fault::new(message).help(help));
        }
        if round_trip.is_zero() {
            continue;
        }
        let window = most.min(kept);
        let bits = window * 8.0 / round_trip.as_secs_f64();
        let limit = Limit {
            bits,
            text: format!(
                "a window of {window:.0} bytes over a round trip of {round_trip} carries {}",
                rate(bits)
            ),
            then: "what is beyond waits above the association, and is refused once its queue is full",
        };
        carries(scene, (name, from), parts, (BEYOND_LINE, &limit), meant, faults);
    }
}

/// Checks that queued messages find room: the queue is a part of the buffer.
pub(super) fn queue(name: &str, link: &SignallingLink, m2pa: &M2pa, faults: &mut Faults) {
    let Some(queue) = m2pa.transmission_queue.filter(|queue| **queue > *m2pa.buffer) else { return };
    let message = format!(
        "`{name}`: a transmission queue of {} messages is never filled: `buffer` keeps {} with those that are \
         unacknowledged",
        *queue, *m2pa.buffer
    );
    let help = "let `buffer` hold the queue and what is unacknowledged, or the queue be shorter";
    faults.warn_of_kind("queue", place_or(queue.place(), link), Fault::new(message).help(help));
}

/// Tells whether somebody limits or fixes the window.
fn is_given(profile: &SctpProfile) -> bool {
    let congestion = profile.config(1).congestion;
    congestion.max_cwnd.is_some() || congestion.window != slantpath_cc::sctp::WindowPolicy::Adaptive
}

/// Warns of parts of loads that are together beyond a limit, at the load that is most of it.
fn carries(
    scene: &Scene<'_>,
    (name, from): (&str, &str),
    parts: &[Part],
    (longer, limit): (f64, &Limit),
    meant: &mut Meant,
    faults: &mut Faults,
) {
    let offered = scene.offered;
    let Some((bits, at)) = offered.most(parts, longer).filter(|(bits, _)| *bits > limit.bits * 1.000_001)
    else {
        return;
    };
    let of = |part: &Part| offered.bits_at(std::slice::from_ref(part), at, longer);
    let is_meant = |part: &&Part| {
        let load = offered.loads.get(part.load).and_then(|(load, _)| scene.signalling.load.find(load));
        load.is_some_and(|load| load.overload.is_some_and(|overload| *overload))
    };
    let there = || parts.iter().filter(|part| of(part) > 0.0);
    let own: Vec<usize> = there().filter(is_meant).map(|part| part.load).collect();
    if !own.is_empty() {
        meant.extend(own);
        return;
    }
    let Some(most) = there().max_by(|one, other| of(one).total_cmp(&of(other))) else { return };
    let Some((load, _)) = offered.loads.get(most.load) else { return };
    let Some(table) = scene.signalling.load.find(load) else { return };
    let together = if there().count() > 1 { " with the others" } else { "" };
    let share = 100.0 * limit.bits / bits;
    let message = format!(
        "load `{load}`{together} offers {} to `{name}` at `{from}` from {at} on, and {}: {}",
        rate(bits),
        limit.text,
        limit.then
    );
    let help = format!(
        "{share:.0} % of the load would do, or more links between the two points; write `overload = true` in the load \
         if that is meant"
    );
    faults.warn_of_kind(
        format!("overload {load} {}", limit.then),
        table.erlang_per_link.place(),
        Fault::new(message).help(help),
    );
}

/// Warns of loads that say that they are beyond what links carry, and are not.
pub(super) fn nothing_meant(scene: &Scene<'_>, meant: &Meant, faults: &mut Faults) {
    for (number, (load, offer)) in scene.offered.loads.iter().enumerate() {
        let table = scene.signalling.load.find(load);
        let overload = table.and_then(|load| load.overload).filter(|overload| **overload);
        let Some(overload) = overload.filter(|_| offer.is_some() && !meant.contains(&number)) else {
            continue;
        };
        let message = format!("load `{load}` has `overload`, and no link has more of it than it carries");
        faults.warn(overload.place(), Fault::new(message).help("leave `overload` out, or offer more"));
    }
}

/// A rate in whole kbit/s, or bit/s below one.
fn rate(bits: f64) -> DataRate {
    let unit = if bits < 10_000.0 { 1.0 } else { 1_000.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let rounded = ((bits / unit).round() * unit) as u64;
    DataRate::from_bits_per_sec(rounded)
}
