//! `mtp3` and its companions for links, link sets, destinations and routes: what MTP3 of each point has counted and
//! measured.

use slantpath_base::Instant;
use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::{PointId, SignallingNetwork};
use slantpath_ss7::mtp3::node::{DiscardReason, LinkSetId, Mtp3LinkId, RouteState, Spells};

use super::signalling::name_of;
use crate::columns::{Count, Family, Number, Text, columns, family, push_each};
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Management messages that have columns of their own.
const MANAGEMENT: [&str; 25] = [
    "TFP", "TFR", "TFA", "TFC", "RST", "RSR", "RCT", "TRA", "UPU", "COO", "COA", "XCO", "XCA", "ECO", "ECA",
    "CBD", "CBA", "LIN", "LUN", "LIA", "LUA", "LID", "LFU", "LLT", "LRT",
];

/// All five, at the end of a run.
pub(super) fn tables(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> [Table; 5] {
    [
        points(scenario, network),
        links(scenario, network, end),
        link_sets(scenario, network, end),
        destinations(scenario, network, end),
        routes(scenario, network, end),
    ]
}

fn named(scenario: &Scenario) -> impl Iterator<Item = (PointId, &str)> {
    with_mtp3(&scenario.signalling)
}

columns! {
    /// Columns of `mtp3`.
    pub(super) struct PointColumns {
        /// Name of the signalling point.
        point: Text,
        /// Messages of users that MTP3 accepted.
        accepted_messages: Count,
        /// Messages that it delivered to users.
        delivered_messages: Count,
        /// Messages that it transferred to another point.
        transferred_messages: Count,
        /// Messages that it sent on links, of users and of management.
        sent_messages: Count,
        /// Messages that it retrieved from a failed link at a changeover.
        retrieved_messages: Count,
        /// Messages that wait at the end of the run.
        waiting_messages: Count,
        /// Messages that it discarded, for whatever reason.
        discarded_messages: Count,
        /// Changeovers in sequence, with retrieval.
        sequenced_changeovers: Count,
        /// Changeovers without retrieval, by an emergency changeover.
        unsequenced_changeovers: Count,
        /// Changeovers that a timer ended, without an answer.
        timed_changeovers: Count,
        /// Changebacks that were not acknowledged.
        unacknowledged_changebacks: Count,
        /// Links whose messages were flushed.
        flushed_links: Count,
        /// Restarts of the point.
        restarts: Count,
        /// Messages of management by their names.
        management: Vec<Count> = management(),
        /// Discarded messages by reason.
        discarded: Vec<Count> = family(DiscardReason::ALL, |reason| {
            let name = reason.name();
            (format!("discarded_{}_messages", name.replace('-', "_")), format!("Messages discarded for `{name}`."))
        }),
    }
}

/// Messages of management, sent and received: those that have columns of their own, and the others.
fn management() -> Family {
    let ways = ["sent", "received"];
    let named = MANAGEMENT.iter().flat_map(|message| {
        ways.map(|way| {
            (
                format!("{way}_{}_messages", message.to_lowercase()),
                format!("{message} messages that were {way}."),
            )
        })
    });
    let others = ways.map(|way| {
        (format!("{way}_other_management_messages"), format!("Other messages of management that were {way}."))
    });
    named.chain(others).collect()
}

columns! {
    /// Columns of `mtp3_links`. Times and spells are those of Q.752.
    pub(super) struct LinkColumns {
        /// Name of the signalling point.
        point: Text,
        /// Name of the signalling link.
        link: Text,
        /// Point at the other end.
        adjacent: Text,
        /// Message signal units that were sent.
        sent_messages: Count,
        /// Octets of these units.
        sent_bytes: Count,
        /// Message signal units that were received.
        received_messages: Count,
        /// Octets of these units.
        received_bytes: Count,
        /// Failures of the link.
        failures: Count,
        /// Alignments that failed.
        alignment_failures: Count,
        /// Tests (SLTM) that were not answered.
        unanswered_tests: Count,
        /// Tests that failed.
        failed_tests: Count,
        /// Changeovers from the link.
        changeovers: Count,
        /// Changebacks to the link.
        changebacks: Count,
        /// Messages discarded because the link was congested.
        congestion_discarded_messages: Count,
        /// Number of times that the link became unavailable.
        times_unavailable: Count,
        /// Number of times that it was inhibited at this point.
        times_inhibited_here: Count,
        /// Number of times that it was inhibited at the other end.
        times_inhibited_there: Count,
        /// Number of processor outages at this point.
        times_processor_out_here: Count,
        /// Number of processor outages at the other end.
        times_processor_out_there: Count,
        /// Number of times that it became congested.
        times_congested: Count,
        /// Time for which the link was unavailable.
        unavailable_s: Number,
        /// Time for which it was inhibited at this point.
        inhibited_here_s: Number,
        /// Time for which it was inhibited at the other end.
        inhibited_there_s: Number,
        /// Time of processor outages at this point.
        processor_out_here_s: Number,
        /// Time of processor outages at the other end.
        processor_out_there_s: Number,
        /// Time for which it was congested.
        congested_s: Number,
    }
}

columns! {
    /// Columns of `mtp3_link_sets`.
    pub(super) struct LinkSetColumns {
        /// Name of the signalling point.
        point: Text,
        /// Point to which the link set leads.
        adjacent: Text,
        /// Links of the set.
        links: Count,
        /// Number of times that none of them was available.
        times_unavailable: Count,
        /// Time for which none of them was available.
        unavailable_s: Number,
    }
}

columns! {
    /// Columns of `mtp3_destinations`.
    pub(super) struct DestinationColumns {
        /// Name of the signalling point.
        point: Text,
        /// Point that is the destination.
        destination: Text,
        /// State at the end of the run: `accessible` or `inaccessible`.
        state: Text,
        /// Message signal units that were sent there.
        sent_messages: Count,
        /// Number of times that it became inaccessible.
        times_inaccessible: Count,
        /// Number of times that the route set became congested.
        times_congested: Count,
        /// Time for which it was inaccessible.
        inaccessible_s: Number,
        /// Time for which the route set was congested.
        congested_s: Number,
    }
}

columns! {
    /// Columns of `mtp3_routes`.
    pub(super) struct RouteColumns {
        /// Name of the signalling point.
        point: Text,
        /// Point that is the destination.
        destination: Text,
        /// Adjacent point by which the route leads.
        via: Text,
        /// State at the end of the run: `allowed`, `restricted` or `prohibited`.
        state: Text,
        /// Priority of the route, 0 first.
        priority: Count,
        /// Number of times that it was prohibited.
        times_prohibited: Count,
        /// Number of times that it was restricted.
        times_restricted: Count,
        /// Time for which it was prohibited.
        prohibited_s: Number,
        /// Time for which it was restricted.
        restricted_s: Number,
    }
}

fn points(scenario: &Scenario, network: &SignallingNetwork) -> Table {
    let mut columns = PointColumns::new();
    for (point, name) in named(scenario) {
        let counters = network.mtp3_counters(point);
        columns.point.push(name);
        columns.accepted_messages.push(counters.accepted);
        columns.delivered_messages.push(counters.delivered);
        columns.transferred_messages.push(counters.transferred);
        columns.sent_messages.push(counters.sent);
        columns.retrieved_messages.push(counters.retrieved);
        columns.waiting_messages.push(network.mtp3(point).waiting() as u64);
        columns.discarded_messages.push(counters.discarded_in_all());
        columns.sequenced_changeovers.push(counters.sequenced_changeovers);
        columns.unsequenced_changeovers.push(counters.unsequenced_changeovers);
        columns.timed_changeovers.push(counters.timed_changeovers);
        columns.unacknowledged_changebacks.push(counters.unacknowledged_changebacks);
        columns.flushed_links.push(counters.flushed_links);
        columns.restarts.push(counters.restarts);
        let ways = [&counters.management_sent, &counters.management_received];
        let of = |message: &str| ways.map(|way| way.get(message).copied().unwrap_or_default());
        let others = ways.map(|way| {
            way.iter().filter(|(message, _)| !MANAGEMENT.contains(message)).map(|(_, count)| count).sum()
        });
        let management = MANAGEMENT.iter().flat_map(|message| of(message)).chain(others);
        push_each(&mut columns.management, management.map(Some));
        push_each(&mut columns.discarded, DiscardReason::ALL.map(|reason| Some(counters.discarded(reason))));
    }
    columns.finish(TableKind::Mtp3)
}

fn links(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let mut columns = LinkColumns::new();
    let links: Vec<_> = scenario.signalling.links.iter().collect();
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (number, (link, side)) in (0_u16..).zip(network.links_at(point)) {
            let (link, table) = links[link.0];
            let ends = [&table.between.0, &table.between.1];
            let measured = mtp3.link_measurements(Mtp3LinkId(number));
            columns.point.push(name);
            columns.link.push(link);
            columns.adjacent.push(ends[side.far() as usize]);
            columns.sent_messages.push(measured.sent_msus);
            columns.sent_bytes.push(measured.sent_octets);
            columns.received_messages.push(measured.received_msus);
            columns.received_bytes.push(measured.received_octets);
            columns.failures.push(measured.failures);
            columns.alignment_failures.push(measured.alignment_failures);
            columns.unanswered_tests.push(measured.unanswered_tests);
            columns.failed_tests.push(measured.test_failures);
            columns.changeovers.push(measured.changeovers);
            columns.changebacks.push(measured.changebacks);
            columns.congestion_discarded_messages.push(measured.congestion_discards);
            let spells = |spells: &Spells, times: &mut Count, lasted: &mut Number| {
                times.push(spells.times());
                lasted.push_duration(spells.lasted(end));
            };
            spells(&measured.unavailable, &mut columns.times_unavailable, &mut columns.unavailable_s);
            spells(
                &measured.inhibited_here,
                &mut columns.times_inhibited_here,
                &mut columns.inhibited_here_s,
            );
            spells(
                &measured.inhibited_there,
                &mut columns.times_inhibited_there,
                &mut columns.inhibited_there_s,
            );
            spells(
                &measured.processor_out_here,
                &mut columns.times_processor_out_here,
                &mut columns.processor_out_here_s,
            );
            spells(
                &measured.processor_out_there,
                &mut columns.times_processor_out_there,
                &mut columns.processor_out_there_s,
            );
            spells(&measured.congested, &mut columns.times_congested, &mut columns.congested_s);
        }
    }
    columns.finish(TableKind::Mtp3Links)
}

fn link_sets(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let mut columns = LinkSetColumns::new();
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (number, link_set) in (0_u16..).zip(&mtp3.config().link_sets) {
            let unavailable = mtp3.link_set_unavailable(LinkSetId(number));
            columns.point.push(name);
            columns.adjacent.push(&link_set.name);
            columns.links.push(link_set.links.len() as u64);
            columns.times_unavailable.push(unavailable.times());
            columns.unavailable_s.push_duration(unavailable.lasted(end));
        }
    }
    columns.finish(TableKind::Mtp3LinkSets)
}

fn destinations(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let mut columns = DestinationColumns::new();
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (destination, measured) in mtp3.destination_measurements() {
            columns.point.push(name);
            columns.destination.push(&name_of(scenario, destination));
            columns.state.push(if mtp3.is_accessible(destination) { "accessible" } else { "inaccessible" });
            columns.sent_messages.push(measured.sent_msus);
            columns.times_inaccessible.push(measured.inaccessible.times());
            columns.times_congested.push(measured.congested.times());
            columns.inaccessible_s.push_duration(measured.inaccessible.lasted(end));
            columns.congested_s.push_duration(measured.congested.lasted(end));
        }
    }
    columns.finish(TableKind::Mtp3Destinations)
}

fn routes(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let mut columns = RouteColumns::new();
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for route in mtp3.route_measurements() {
            columns.point.push(name);
            columns.destination.push(&name_of(scenario, route.destination));
            columns.via.push(&name_of(scenario, mtp3.adjacent_of(route.link_set)));
            columns.state.push(match route.state {
                RouteState::Allowed => "allowed",
                RouteState::Prohibited => "prohibited",
                RouteState::Restricted => "restricted",
            });
            columns.priority.push(u64::from(route.priority));
            columns.times_prohibited.push(route.prohibited.times());
            columns.times_restricted.push(route.restricted.times());
            columns.prohibited_s.push_duration(route.prohibited.lasted(end));
            columns.restricted_s.push_duration(route.restricted.lasted(end));
        }
    }
    columns.finish(TableKind::Mtp3Routes)
}
