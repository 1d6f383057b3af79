//! T(ack), T(r) and T(beat) of M3UA against the round trips of their associations.

use slantpath_base::Duration;
use slantpath_net::Routes;
use slantpath_reader::{Fault, Faults, Named, Place};
use slantpath_scenario::network::{Built, find_link};
use slantpath_scenario::schema::File;
use slantpath_scenario::schema::signalling::{self, Signalling};
use slantpath_scenario::signalling::{asp_node, gateway_point, node_of};

use crate::path::{capacity_fits, hops_fit, path, round_trip, source_fits};

/// Called when all else is right.
pub(crate) fn check(file: &File, built: &Built, routes: &mut Routes, faults: &mut Faults) {
    let Some(signalling) = file.signalling.whole() else { return };
    for (name, table) in signalling.associations.iter() {
        association(file, built, routes, signalling, name, table, faults);
    }
}

/// A timer that waits for an answer of the far end.
struct Waiting {
    name: &'static str,
    value: Duration,
    place: Place,
    /// Consequence when the answer always comes too late.
    always: &'static str,
    /// Consequence when a packet is lost.
    after_a_loss: &'static str,
}

fn association(
    file: &File,
    built: &Built,
    routes: &mut Routes,
    signalling: &Signalling,
    name: &str,
    table: &Named<signalling::Association>,
    faults: &mut Faults,
) {
    let (primary, profile) = (&table.primary, &table.profile);
    let gateway_node = node_of(signalling, gateway_point(signalling, &table.gateway));
    let nodes = [asp_node(signalling, &table.asp), gateway_node.as_str()].map(|node| built.nodes[node]);
    let Some(planned) = find_link(&built.links, primary) else { return };
    let is_second = built.graph.node_of(planned.id.second()) == nodes[1];
    let Some(address) = planned.addresses[usize::from(is_second)] else { return };
    let Some(way) = path(&built.graph, routes, nodes[0], nodes[1], address) else {
        let message = format!(
            "`{name}`: no route leads from ASP `{}` to gateway `{}` over link `{}`",
            *table.asp, *table.gateway, **primary
        );
        let help = "name another link of the gateway's host as `primary`";
        faults.report(primary.place(), Fault::new(message).help(help));
        return;
    };
    let what = format!("association `{name}`");
    hops_fit(built, routes, &what, (nodes[0], nodes[1]), &way, primary.place(), faults);
    source_fits(built, routes, &what, (nodes[0], nodes[1]), primary, false, faults);
    let (Some(gateway), Some(asp), Some(profile)) =
        (signalling.gateways.find(&table.gateway), signalling.asps.find(&table.asp), file.sctp.find(profile))
    else {
        return;
    };
    let mut timers = vec![Waiting {
        name: "T(ack)",
        value: *asp.t_ack,
        place: asp.t_ack.place(),
        always: "lets every request be repeated before its answer can come",
        after_a_loss: "lets requests be repeated",
    }];
    // Zero keeps nothing waiting, as somebody may want.
    if !gateway.t_r.is_zero() {
        timers.push(Waiting {
            name: "T(r)",
            value: *gateway.t_r,
            place: gateway.t_r.place(),
            always: "is over before an ASP that hears of it can become active",
            after_a_loss: "throws away what waits",
        });
    }
    for beat in [&gateway.t_beat, &asp.t_beat].into_iter().flatten() {
        timers.push(Waiting {
            name: "T(beat)",
            value: **beat,
            place: beat.place(),
            always: "takes a peer for gone before its BEAT ACK can come",
            after_a_loss: "takes the peer for gone",
        });
    }
    capacity_fits(built, &way, &profile.known_capacity, &what, faults);
    let there_and_back = round_trip(&built.graph, &way);
    for timer in timers {
        judge(name, &timer, there_and_back, *profile.rto_min, faults);
    }
}

fn judge(name: &str, timer: &Waiting, round_trip: Duration, rto_min: Duration, faults: &mut Faults) {
    let Waiting { name: timer_name, value, place, always, after_a_loss } = timer;
    if *value <= round_trip {
        let message = format!("`{name}`: {timer_name} of {value} over a round trip of {round_trip} {always}");
        faults.report(*place, Fault::new(message).help("let the timer be longer, or the path shorter"));
    } else if *value <= round_trip + rto_min {
        let message = format!(
            "`{name}`: {timer_name} of {value} over a round trip of {round_trip} {after_a_loss} after one lost packet, \
             with `rto_min` of {rto_min}"
        );
        let help = "let the timer be longer, or `rto_min` of the SCTP profile shorter";
        faults.warn_of_kind(*timer_name, *place, Fault::new(message).help(help));
    }
}
