//! T7 of M2PA in the reading that a link has, against what an acknowledgement takes with all that is known to wait: for
//! more to be bundled with, for slots of a frame, and for the window, as the loads of the link have it.
//!
//! SACK.Delay is not part of it: M2PA acknowledges with messages of its own, which no SACK holds back.

use std::collections::BTreeMap;

use slantpath_base::Duration;
use slantpath_cc::sctp::WindowPolicy;
use slantpath_net::{InterfaceId, LinkEnd, Routes, SendingConfig};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::schema::SctpProfile;
use slantpath_scenario::schema::signalling::{M2pa, SignallingLink, T7FromChoice};
use slantpath_scenario::signalling::node_of;
use slantpath_sigtran::m2pa::T7From;

use super::scene::{Scene, place_or};
use super::waiting::{Answers, BEYOND_LINE, Direction, Window, answers};
use crate::path::{slowest, way_over};

/// Readings in the order in which they begin to count.
const READINGS: [T7From; 4] =
    [T7From::Given, T7From::HandOver, T7From::LastAcknowledgement, T7From::FirstTransmission];

/// IPv4 and common header of SCTP.
const HEADERS: u16 = 20 + 12;

/// Answers by all that they follow from: links that are alike are many, and each course takes its time.
pub(super) type Known = BTreeMap<Vec<u64>, Answers>;

/// Window of both ends, as it opens without a loss.
pub(super) fn window(profile: &SctpProfile) -> Window {
    let config = profile.config(1);
    let mtu = f64::from(config.initial_path_mtu);
    // RFC 9260, section 7.2.1.
    let usual = (4.0 * mtu).min((2.0 * mtu).max(4_404.0));
    let initial = config.initial_cwnd_bytes.map_or(usual, |bytes| bytes as f64);
    let most = config.congestion.max_cwnd.map_or(f64::INFINITY, |bytes| bytes as f64);
    let most = most.min(f64::from(config.receive_buffer_bytes));
    let step = f64::from(config.initial_path_mtu.saturating_sub(HEADERS));
    match config.congestion.window {
        WindowPolicy::Fixed { cwnd } => {
            let cwnd = (cwnd as f64).min(most);
            Window { initial: cwnd, slow_start_until: 0.0, most: cwnd, step }
        }
        WindowPolicy::Adaptive => {
            let until = config.initial_ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
            Window { initial, slow_start_until: until, most, step }
        }
    }
}

/// Warns if T7 cannot hold although it is longer than the round trip.
pub(super) fn check(
    scene: &Scene<'_>,
    routes: &mut Routes,
    (name, link): (&str, &SignallingLink),
    (m2pa, profile): (&M2pa, &SctpProfile),
    round_trip: Duration,
    known: &mut Known,
    faults: &mut Faults,
) {
    let primary = &m2pa.primary;
    let [first, second] = [&link.between.0, &link.between.1]
        .map(|point| scene.built.nodes[node_of(scene.signalling, point).as_str()]);
    let Some(way) = way_over(scene.built, routes, first, second, primary) else { return };
    let graph = &scene.built.graph;
    let back: Vec<InterfaceId> = way.iter().rev().map(|interface| interface.peer()).collect();
    // A packet waits for its slot for a frame at most.
    let frames =
        way.iter().chain(&back).map(|interface| match graph.direction(interface.outbound()).sending {
            SendingConfig::InFrames(frame) => frame.length,
            _ => Duration::ZERO,
        });
    let frames = frames.fold(Duration::ZERO, Duration::saturating_add);
    let bundling = profile.bundling_delay.map(|delay| *delay).unwrap_or_default();
    let plain = round_trip.saturating_add(frames).saturating_add(bundling);
    let points = [link.between.0.as_str(), link.between.1.as_str()];
    let mut worst: Option<(Answers, &str)> = None;
    let reading = m2pa.t7_from.policy();
    for (from, to, way) in [(points[0], points[1], &way), (points[1], points[0], &back)] {
        let answers = of_loads(scene, (name, m2pa, profile), (from, to), way, plain, known);
        let Some(answers) = answers else { continue };
        if worst.as_ref().is_none_or(|(worst, _)| answers.of(reading) > worst.of(reading)) {
            worst = Some((answers, from));
        }
    }
    let idle =
        Answers { given: plain, hand_over: plain, first_transmission: plain, last_acknowledgement: plain };
    let (longest, from) = worst.unwrap_or((idle, points[0]));
    // The message itself may wait to be bundled, too, once it is handed over.
    let takes = |reading: T7From| {
        let own = if reading == T7From::FirstTransmission { Duration::ZERO } else { bundling };
        rounded(longest.of(reading).saturating_add(own))
    };
    let answer = takes(reading);
    if *m2pa.t7 > answer || *m2pa.t7 <= round_trip {
        return;
    }
    let all = READINGS.map(|reading| format!("`{}` {}", T7FromChoice::of(reading), takes(reading)));
    let waiting = rounded(answer.saturating_sub(round_trip));
    let message = format!(
        "`{name}`: M2PA T7 of {} with `t7_from = \"{}\"` expires in service: what `{from}` sends is acknowledged after \
         up to {answer}, the round trip of {round_trip} and {waiting} of waiting",
        *m2pa.t7, *m2pa.t7_from,
    );
    let help = format!(
        "let `t7` be longer than that, with `timer_ranges = \"free\"` if need be, or open the window faster; by where \
         T7 runs from it takes {}",
        all.join(", ")
    );
    let place = place_or(m2pa.t7.place(), link);
    faults.warn_of_kind(format!("T7 {}", *m2pa.t7_from), place, Fault::new(message).help(help));
}

/// With the loads that cross the link, if any does in this direction.
fn of_loads(
    scene: &Scene<'_>,
    (name, m2pa, profile): (&str, &M2pa, &SctpProfile),
    (from, to): (&str, &str),
    way: &[InterfaceId],
    round_trip: Duration,
    known: &mut Known,
) -> Option<Answers> {
    let offered = scene.offered;
    let parts = [offered.on(name, from), offered.on(name, to)];
    let octets = offered.octets(parts[0])? + BEYOND_LINE;
    let changes = offered.changes(parts[0]);
    let span = (*changes.first()?, changes.last()?.saturating_add(Duration::from_secs(60)));
    let bytes = |parts| move |at: Duration| offered.bits_at(parts, at, BEYOND_LINE) / 8.0;
    let of = [bytes(parts[0]), bytes(parts[1])];
    let config = m2pa.config();
    let messages = |count: usize| count as f64 * octets;
    let (_, rate) = slowest(scene.built, way)?;
    let direction = |offered| Direction {
        offered,
        window: window(profile),
        unacknowledged: messages(config.outstanding_max),
        send_buffer: profile.send_buffer.as_bytes() as f64,
        queue: messages(config.waiting_max.unwrap_or(config.buffer_max)),
        rate: rate.as_bits_per_sec() as f64 / 8.0,
    };
    let directions = [direction(&of[0]), direction(&of[1])];
    let numbers = directions.iter().flat_map(Direction::numbers).map(f64::to_bits);
    let loads = parts.iter().flat_map(|parts| {
        let each = parts.iter().flat_map(|part| [part.load as u64, part.links.to_bits()]);
        [parts.len() as u64].into_iter().chain(each)
    });
    let key: Vec<u64> = numbers.chain(loads).chain([round_trip.as_nanos()]).collect();
    Some(*known.entry(key).or_insert_with(|| answers(&directions[0], &directions[1], round_trip, span)))
}

/// To milliseconds below a second, to tenths of a second above: what is estimated is told no finer.
pub(super) fn rounded(duration: Duration) -> Duration {
    let to = if duration < Duration::from_secs(1) { 1 } else { 100 };
    let millis = duration.as_nanos().div_ceil(1_000_000 * to);
    Duration::from_millis(millis * to)
}
