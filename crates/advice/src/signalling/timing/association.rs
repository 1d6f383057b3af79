//! An association: timers of M2PA and of both points against its paths, and against the time that SCTP takes to leave
//! one of them for another.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::Duration;
use slantpath_net::Routes;
use slantpath_reader::{Fault, Faults, Place};
use slantpath_scenario::schema::signalling::{M2pa, SignallingLink};
use slantpath_scenario::schema::{SctpProfile, Threshold};
use slantpath_scenario::signalling::{M2PA_STREAMS, node_of};
use slantpath_sigtran::m2pa::{PathFault, PathFinding, PathTiming, WaitingTimer, check_path};

use super::Noted;
use super::carried;
use super::round_trip::{RoundTrip, longest, of_association};
use super::scene::{Scene, place_or};
use crate::path::{capacity_fits, hops_fit, source_fits, way_over};

pub(crate) fn check(
    scene: &Scene<'_>,
    routes: &mut Routes,
    (name, link): (&str, &SignallingLink),
    m2pa: &M2pa,
    noted: &mut Noted,
    faults: &mut Faults,
) {
    let primary = &m2pa.primary;
    let round_trips = of_association(scene, routes, link, primary);
    let (Some(usual), Some(longest)) = (round_trips.first(), longest(&round_trips)) else {
        let (from, to) = (&link.between.0, &link.between.1);
        let message = format!("`{name}`: no route leads from `{from}` to `{to}` over link `{}`", **primary);
        let help = "name another link of the second point's host as `primary`";
        faults.report(place_or(primary.place(), link), Fault::new(message).help(help));
        return;
    };
    let [first, second] = [&link.between.0, &link.between.1]
        .map(|point| scene.built.nodes[node_of(scene.signalling, point).as_str()]);
    if let Some(way) = way_over(scene.built, routes, first, second, primary) {
        let place = place_or(primary.place(), link);
        hops_fit(scene.built, routes, &format!("`{name}`"), (first, second), &way, place, faults);
        source_fits(scene.built, routes, &format!("`{name}`"), (first, second), primary, false, faults);
    }
    let Some(profile) = scene.file.sctp.find(&m2pa.profile) else { return };
    if *profile.inbound_streams < M2PA_STREAMS && *profile.inbound_streams > 0 {
        let message = format!(
            "`{name}`: M2PA sends on {M2PA_STREAMS} streams, and this takes {}",
            *profile.inbound_streams
        );
        let help = format!("write `inbound_streams = {M2PA_STREAMS}`, or more");
        faults.report(profile.inbound_streams.place(), Fault::new(message).help(help));
    }
    let mut gravest: BTreeMap<String, PathFault> = BTreeMap::new();
    for round_trip in [usual, longest] {
        let is_usual = core::ptr::eq(round_trip, usual);
        let when = if is_usual { None } else { Some(round_trip.when(primary, faults)) };
        for (subject, place, finding, is_vital) in findings(scene, name, link, m2pa, profile, round_trip) {
            let is_reported = gravest.get(&subject).is_some_and(|known| *known <= finding.fault);
            if !is_reported {
                report(&subject, place_or(place, link), profile, &finding, is_vital, when.as_deref(), faults);
                gravest.insert(subject, finding.fault);
            }
        }
    }
    carried::queue(name, link, m2pa, faults);
    carried::association(scene, (name, link), (m2pa, profile), usual.length, &mut noted.meant, faults);
    super::reading::check(
        scene,
        routes,
        (name, link),
        (m2pa, profile),
        usual.length,
        &mut noted.answers,
        faults,
    );
    super::send_buffer::check(scene, routes, (name, link), (m2pa, profile), usual.length, faults);
    failover(name, link, m2pa, profile, &round_trips, faults);
    let links: BTreeSet<&str> = round_trips.iter().filter_map(|each| each.over.as_deref()).collect();
    for over in links {
        if let Some(way) = way_over(scene.built, routes, first, second, over) {
            capacity_fits(scene.built, &way, &profile.known_capacity, &format!("`{name}`"), faults);
        }
    }
}

/// Findings against one round trip: of whom each is reported, where, and whether the link cannot do without.
fn findings(
    scene: &Scene<'_>,
    name: &str,
    link: &SignallingLink,
    m2pa: &M2pa,
    profile: &SctpProfile,
    round_trip: &RoundTrip,
) -> Vec<(String, Place, PathFinding, bool)> {
    let config = m2pa.config();
    let timing =
        PathTiming { round_trip: round_trip.length, rto_min: *profile.rto_min, rto_max: *profile.rto_max };
    let with =
        |others: &[(&'static str, Duration)]| check_path(&config.timers, config.proving, others, timing);
    let mut found = Vec::new();
    for finding in with(&[]) {
        if let WaitingTimer::M2pa(timer) = finding.timer {
            found.push((format!("`{name}`: {}", finding.timer), m2pa.timer_place(timer), finding, true));
        }
    }
    for waiting in scene.waiting(link) {
        let subject = format!("`{name}` at `{}`: {}", waiting.point, waiting.timer);
        let findings = with(&[(waiting.timer, **waiting.setting)]).into_iter();
        let own = findings.filter(|finding| finding.timer == WaitingTimer::Other(waiting.timer));
        found
            .extend(own.map(|finding| (subject.clone(), waiting.setting.place(), finding, waiting.is_vital)));
    }
    found
}

/// Refuses what the usual path never lets pass; what comes with a loss, another path or a later delay is a doubt.
fn report(
    subject: &str,
    place: Place,
    profile: &SctpProfile,
    finding: &PathFinding,
    is_vital: bool,
    when: Option<&str>,
    faults: &mut Faults,
) {
    // The finding begins with its timer, as the subject ends with it.
    let text = finding.to_string();
    let what = text.strip_prefix(&finding.timer.to_string()).unwrap_or(&text);
    let after_loss = finding.fault == PathFault::ExpiresAfterOneLoss;
    let with = if after_loss { format!(" with `rto_min` of {}", *profile.rto_min) } else { String::new() };
    let help = match (after_loss, when) {
        (true, _) => "let the timer be longer, or `rto_min` of the SCTP profile shorter",
        (false, None) => "let the timer be longer, or the path shorter",
        (false, Some(_)) => "let the timer be longer, or the delay in that line shorter",
    };
    let fault = Fault::new(format!("{subject}{what}{with}{}", when.unwrap_or_default())).help(help);
    let is_certain = matches!(finding.fault, PathFault::ExpiresAlways | PathFault::ExpiresWhileThePeerProves);
    if is_certain && is_vital && when.is_none() {
        faults.report(place, fault);
    } else {
        let since = if when.is_some() { " later" } else { "" };
        faults.warn_of_kind(format!("{} {:?}{since}", finding.timer, finding.fault), place, fault);
    }
}

/// Checks, where there is another path, that T7 outlasts the time that a message waits while SCTP leaves the primary
/// one. Each timeout retransmits, over the other path, what was sent since the one before; so the last of them is the
/// longest wait (RFC 9260, sections 6.3.3, 6.4.1 and 8.2).
fn failover(
    name: &str,
    link: &SignallingLink,
    m2pa: &M2pa,
    profile: &SctpProfile,
    round_trips: &[RoundTrip],
    faults: &mut Faults,
) {
    let Some(usual) = round_trips.first() else { return };
    let others = round_trips.iter().filter(|other| other.over != usual.over);
    let Some(other) = others.max_by_key(|other| other.length) else { return };
    let limit = match *profile.potentially_failed_max_retrans {
        Threshold::Above(limit) => limit.min(*profile.path_max_retrans),
        Threshold::Off => *profile.path_max_retrans,
    };
    let rto_max = profile.rto_max.max(*profile.rto_min);
    let mut last = usual.length.max(*profile.rto_min).min(rto_max);
    let mut total = last;
    for _ in 0..limit.min(MOST_TIMEOUTS) {
        let next = u128::from(last.as_nanos()) * u128::from(*profile.rto_back_off_percent) / 100;
        last = Duration::from_nanos(u64::try_from(next).unwrap_or(u64::MAX)).min(rto_max);
        total = total.saturating_add(last);
    }
    let wait = last.saturating_add(other.length);
    if *m2pa.t7 > wait {
        return;
    }
    let timeouts = limit.saturating_add(1);
    let over = other.over.as_deref().unwrap_or_default();
    let message = format!(
        "`{name}`: M2PA T7 of {} expires while SCTP fails over to `{over}`: that takes {timeouts} timeout{} and \
         {total} with `path_max_retrans` of {} and `rto_min` of {}, and messages wait up to {wait}",
        *m2pa.t7,
        if timeouts == 1 { "" } else { "s" },
        *profile.path_max_retrans,
        *profile.rto_min,
    );
    let help = "let `path_max_retrans` or `rto_min` of the SCTP profile be smaller, or leave it to MTP3's changeover";
    faults.warn_of_kind("failover", place_or(m2pa.t7.place(), link), Fault::new(message).help(help));
}

/// Timeouts are counted up to here; more of them take hours, and say no more.
const MOST_TIMEOUTS: u32 = 64;
