//! SCTP's send buffer of an association against the timers that count what waits in it.
//!
//! What a full buffer holds leaves at the rate of the slowest link. Acknowledgements of M2PA and tests of the link wait
//! behind it, so that a link which works fails once more comes than it carries. It is told where that may be: the
//! loads of the file are more, or a point is live and its traffic comes from elsewhere.

use std::collections::BTreeMap;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::{InterfaceId, LinkEnd, Routes};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::schema::signalling::{Carrier, M2pa, PeriodicLinkTest, Signalling, SignallingLink};
use slantpath_scenario::schema::{self, SctpProfile};
use slantpath_scenario::signalling::node_of;
use slantpath_sigtran::m2pa::T7From;
use slantpath_ss7::mtp3::node::Mtp3Timer;

use super::reading::rounded;
use super::scene::{Scene, place_or};
use super::waiting::BEYOND_LINE;
use crate::path::{slowest, way_over};

/// Octets of M2PA's headers, with that of the priority (RFC 4165, section 2.3.1).
const M2PA_OCTETS: u64 = 17;
/// Part of a packet of small messages that the buffer counts: the rest is headers of SCTP and IP.
const COUNTED: f64 = 0.75;

/// A buffer that is full, in one direction.
struct Full<'a> {
    over: &'a str,
    rate: DataRate,
    /// Until the last of it has left.
    lasts: Duration,
}

/// Warns of a buffer whose content outlasts T7, where that counts it, or the test of the link.
pub(super) fn check(
    scene: &Scene<'_>,
    routes: &mut Routes,
    (name, link): (&str, &SignallingLink),
    (m2pa, profile): (&M2pa, &SctpProfile),
    round_trip: Duration,
    faults: &mut Faults,
) {
    let of_messages = u64::from(*m2pa.window) * (u64::from(*m2pa.longest_msu) + M2PA_OCTETS);
    let holds = profile.send_buffer.as_bytes().min(of_messages);
    let Some(full) = longest(scene, routes, (name, link), &m2pa.primary, holds) else { return };
    let Some((timer, limit)) = least_timer(scene, link, m2pa) else { return };
    if full.lasts <= limit || limit <= round_trip {
        return;
    }
    let Full { over, rate, lasts } = full;
    let message = format!(
        "`{name}`: what fills a `send_buffer` of {} takes {} over `{over}` at {rate}, and {timer} of {limit} counts \
         it: the link fails whenever more comes than that carries",
        *profile.send_buffer,
        rounded(lasts),
    );
    // Where both ends have filled theirs, a message waits here, and its acknowledgement there.
    let both = limit.saturating_add(round_trip).as_secs_f64() / 2.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
    let would_do = (both * rate.as_bits_per_sec() as f64 / 8.0 * COUNTED) as u64;
    let help = if would_do >= 1 << 10 {
        let would_do = DataSize::from_bytes(would_do >> 10 << 10);
        format!(
            "write `send_buffer = \"{would_do}\"` in `[sctp.{}]`: what does not fit waits in `buffer` of M2PA, which \
             tells users of congestion",
            *m2pa.profile
        )
    } else {
        "no send buffer is small enough: let the timer be longer, or the link faster".to_owned()
    };
    let place = place_or(profile.send_buffer.place(), link);
    faults.warn_of_kind("send buffer", place, Fault::new(message).help(help));
}

/// The buffer that takes longest to leave, of those that may fill.
fn longest<'a>(
    scene: &Scene<'a>,
    routes: &mut Routes,
    (name, link): (&str, &SignallingLink),
    primary: &str,
    holds: u64,
) -> Option<Full<'a>> {
    let points = [link.between.0.as_str(), link.between.1.as_str()];
    let nodes = points.map(|point| node_of(scene.signalling, point));
    let is_live = nodes.iter().any(|node| scene.live.find(node).is_some());
    let [first, second] = nodes.map(|node| scene.built.nodes[node.as_str()]);
    let way = way_over(scene.built, routes, first, second, primary)?;
    let back: Vec<InterfaceId> = way.iter().rev().map(|interface| interface.peer()).collect();
    let shares = scene.shares.get(primary).copied().unwrap_or(1);
    let mut longest: Option<Full<'_>> = None;
    for (from, way) in [(points[0], &way), (points[1], &back)] {
        let Some((over, rate)) = least_rate(scene, way) else { continue };
        let rate = DataRate::from_bits_per_sec(rate.as_bits_per_sec() / shares);
        let offered = scene.offered.most(scene.offered.on(name, from), BEYOND_LINE);
        let is_beyond = offered.is_some_and(|(bits, _)| bits > rate.as_bits_per_sec() as f64);
        if !(is_live || is_beyond) || rate.as_bits_per_sec() == 0 {
            continue;
        }
        let lasts = Duration::from_secs_f64(holds as f64 * 8.0 / rate.as_bits_per_sec() as f64);
        if longest.as_ref().is_none_or(|longest| lasts > longest.lasts) {
            longest = Some(Full { over, rate, lasts });
        }
    }
    longest
}

/// Numbers of the associations that share the rate of a link which they use first, by that link.
pub(super) fn shares(signalling: &Signalling) -> BTreeMap<&str, u64> {
    let mut shares = BTreeMap::new();
    for (_, link) in signalling.links.iter().filter(|(_, link)| !*link.backup) {
        if let Carrier::M2pa(m2pa) = &*link.carrier {
            *shares.entry(m2pa.primary.as_str()).or_default() += 1;
        }
    }
    shares
}

/// The slowest link of a way with the least rate that it has, as a script may have it.
fn least_rate<'a>(scene: &Scene<'a>, way: &[InterfaceId]) -> Option<(&'a str, DataRate)> {
    let graph = &scene.built.graph;
    let mut least = slowest(scene.built, way)?;
    let changes = scene.file.script.iter().filter(|event| *event.action == schema::Action::Set);
    for (link, rate) in changes.filter_map(|event| Some((event.link.as_str(), *event.rate?))) {
        let is_on = way.iter().any(|interface| graph.link_name(interface.link()) == link);
        if is_on && rate < least.1 {
            least = (link, rate);
        }
    }
    Some(least)
}

/// The shortest timer that takes a link out of service, of those that count what waits in SCTP.
fn least_timer(scene: &Scene<'_>, link: &SignallingLink, m2pa: &M2pa) -> Option<(String, Duration)> {
    let counts = matches!(m2pa.t7_from.policy(), T7From::Given | T7From::HandOver);
    let own = counts.then(|| ("M2PA T7".to_owned(), *m2pa.t7));
    let tested = [&link.between.0, &link.between.1].into_iter().filter_map(|name| {
        let point = scene.signalling.points.find(name)?;
        let is_tested = point.periodic_link_test.as_deref() != Some(&PeriodicLinkTest::Omitted);
        is_tested.then(|| (format!("Q.707 T1 at `{name}`"), **point.timers.setting(Mtp3Timer::TestT1)))
    });
    own.into_iter().chain(tested).min_by_key(|(_, timer)| *timer)
}
