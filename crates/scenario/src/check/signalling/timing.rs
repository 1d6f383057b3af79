//! Timers of links against the round trips that the scenario gives them, and against SCTP's retransmission timeout.

use slantpath_base::Duration;
use slantpath_net::{Routes, Topology};
use slantpath_sigtran::m2pa::{PathFault, PathFinding, PathTiming, WaitingTimer, check_path};
use slantpath_ss7::mtp3::node::Timer;

use super::node_of;
use crate::check::paths::path;
use crate::diagnostic::{Fault, Faults, Place};
use crate::schema::File;
use crate::schema::signalling::{Carrier, ErrorCorrection, M2pa, Mtp2, Point, Signalling, SignallingLink};
use crate::topology::Built;

/// Up to which one-way delay Q.703, section 1.4, has the basic error correction.
const BASIC_UP_TO: Duration = Duration::from_millis(15);

/// Called when all else is right.
pub(in crate::check) fn check(file: &File, built: &Built, routes: &Routes, faults: &mut Faults) {
    let Some(signalling) = file.signalling.whole() else { return };
    for (name, link) in signalling.links.iter() {
        match &*link.carrier {
            Carrier::M2pa(m2pa) => association(file, built, routes, signalling, name, link, m2pa, faults),
            Carrier::Mtp2(mtp2) => line(name, link, mtp2, faults),
        }
    }
}

fn line(name: &str, link: &SignallingLink, mtp2: &Mtp2, faults: &mut Faults) {
    let round_trip = *mtp2.delay * 2;
    if *mtp2.t7 <= round_trip {
        let message = format!(
            "`{name}`: T7 of {} over a round trip of {round_trip} takes the link out with every message",
            *mtp2.t7
        );
        let help = "let `t7` be longer than twice `delay`";
        faults.report(place_or(mtp2.t7.place(), link), Fault::new(message).help(help));
    }
    if *mtp2.error_correction == ErrorCorrection::Basic && *mtp2.delay > BASIC_UP_TO {
        let message = format!(
            "`{name}`: basic error correction over a delay of {}, beyond the {BASIC_UP_TO} that it is made for",
            *mtp2.delay
        );
        let help = "write `error_correction = \"preventive-cyclic\"`";
        faults.warn(place_or(mtp2.error_correction.place(), link), Fault::new(message).help(help));
    }
}

/// A place in a link's table, or that of the link where nobody wrote the value.
fn place_or(place: Place, link: &SignallingLink) -> Place {
    if place == Place::default() { link.between.place() } else { place }
}

#[expect(clippy::too_many_arguments, reason = "a link, and all that says where it leads")]
fn association(
    file: &File,
    built: &Built,
    routes: &Routes,
    signalling: &Signalling,
    name: &str,
    link: &SignallingLink,
    m2pa: &M2pa,
    faults: &mut Faults,
) {
    let (from, to) = (&link.between.0, &link.between.1);
    let Some(primary) = &m2pa.primary else { return };
    let nodes = [from, to].map(|point| built.nodes[node_of(signalling, point).as_str()]);
    let Some(planned) = built.links.iter().find(|planned| planned.name == **primary) else { return };
    let is_second = built.topology.node_of(planned.id.second()) == nodes[1];
    let address = planned.addresses[usize::from(is_second)];
    let Some(way) = path(&built.topology, routes, nodes[0], nodes[1], address) else {
        let message = format!("`{name}`: no route leads from `{from}` to `{to}` over link `{}`", **primary);
        let help = "name another link of the second point's host as `primary`";
        faults.report(place_or(primary.place(), link), Fault::new(message).help(help));
        return;
    };
    let profile = m2pa.profile.as_ref().and_then(|profile| file.sctp.find(profile));
    let (Some(profile), Some(point)) = (profile, signalling.points.find(from)) else { return };
    let delay = |topology: &Topology| {
        let both = way.iter().map(|interface| {
            let forward = topology.direction(interface.outbound()).delay;
            forward + topology.direction(interface.peer().outbound()).delay
        });
        both.fold(Duration::ZERO, |sum, delay| sum + delay)
    };
    let timing = PathTiming {
        round_trip: delay(&built.topology),
        rto_min: *profile.rto_min,
        rto_max: *profile.rto_max,
    };
    let config = m2pa.config();
    let others =
        [("Q.704 T2", *point.timers.t2), ("Q.704 T4", *point.timers.t4), ("Q.704 T5", *point.timers.t5)];
    let others = [&others[..], &[("Q.707 T1", *point.timers.link_test_t1)]].concat();
    for finding in check_path(&config.timers, config.proving, &others, timing) {
        let place = place_or(place_of(&finding, m2pa, point), link);
        let message = match finding.fault {
            PathFault::ExpiresAfterOneLoss => {
                format!("`{name}`: {finding} with `rto_min` of {}", *profile.rto_min)
            }
            _ => format!("`{name}`: {finding}"),
        };
        let help = match finding.fault {
            PathFault::ExpiresAfterOneLoss => {
                "let the timer be longer, or `rto_min` of the SCTP profile shorter"
            }
            _ => "let the timer be longer, or the path shorter",
        };
        let fault = Fault::new(message).help(help);
        match finding.fault {
            PathFault::ExpiresAlways | PathFault::ExpiresWhileThePeerProves => faults.report(place, fault),
            PathFault::ExpiresAfterOneLoss | PathFault::ProvesNothing => faults.warn(place, fault),
        }
    }
}

fn place_of(finding: &PathFinding, m2pa: &M2pa, point: &Point) -> Place {
    match finding.timer {
        WaitingTimer::M2pa(timer) => m2pa.timer_place(timer),
        WaitingTimer::Other(name) => {
            let timer = match name {
                "Q.704 T2" => Timer::T2,
                "Q.704 T4" => Timer::T4,
                "Q.704 T5" => Timer::T5,
                _ => Timer::TestT1,
            };
            point.timers.setting(timer).place()
        }
    }
}
