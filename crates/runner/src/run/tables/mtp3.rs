//! `mtp3` and its companions for links, link sets, destinations and routes: what MTP3 of each point has counted and
//! measured.

use slantpath_base::Instant;
use slantpath_results::Table;
use slantpath_scenario::build::with_mtp3;
use slantpath_simulation::{PointId, SignallingNetwork};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{DiscardReason, LinkId, LinkSetId, RouteState, Spells};

use super::rows::Rows;
use super::signalling::name_of;
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

fn points(scenario: &Scenario, network: &SignallingNetwork) -> Table {
    let own = [
        "accepted_messages",
        "delivered_messages",
        "transferred_messages",
        "sent_messages",
        "retrieved_messages",
        "waiting_messages",
        "discarded_messages",
        "sequenced_changeovers",
        "unsequenced_changeovers",
        "timed_changeovers",
        "unacknowledged_changebacks",
        "flushed_links",
        "restarts",
    ];
    let mut columns: Vec<String> = own.map(str::to_owned).to_vec();
    columns.extend(MANAGEMENT.iter().flat_map(|message| {
        let message = message.to_lowercase();
        [format!("sent_{message}_messages"), format!("received_{message}_messages")]
    }));
    columns.extend(["sent", "received"].map(|way| format!("{way}_other_management_messages")));
    let reason = |reason: &DiscardReason| format!("discarded_{}_messages", reason.name().replace('-', "_"));
    columns.extend(DiscardReason::ALL.iter().map(reason));
    let mut rows = Rows::new(TableKind::Mtp3, &["point"], &columns, &[]);
    for (point, name) in named(scenario) {
        let counters = network.mtp3_counters(point);
        let own = [
            counters.accepted,
            counters.delivered,
            counters.transferred,
            counters.sent,
            counters.retrieved,
            network.mtp3(point).waiting() as u64,
            counters.discarded_in_all(),
            counters.sequenced_changeovers,
            counters.unsequenced_changeovers,
            counters.timed_changeovers,
            counters.unacknowledged_changebacks,
            counters.flushed_links,
            counters.restarts,
        ];
        let ways = [&counters.management_sent, &counters.management_received];
        let of = |message: &str| ways.map(|way| way.get(message).copied().unwrap_or_default());
        let management = MANAGEMENT.iter().flat_map(|message| of(message));
        let others = ways.map(|way| {
            way.iter().filter(|(message, _)| !MANAGEMENT.contains(message)).map(|(_, count)| count).sum()
        });
        let discarded = DiscardReason::ALL.map(|reason| counters.discarded(reason));
        rows.push([name], own.into_iter().chain(management).chain(others).chain(discarded), []);
    }
    rows.finish()
}

fn links(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let counts = [
        "sent_messages",
        "sent_bytes",
        "received_messages",
        "received_bytes",
        "failures",
        "alignment_failures",
        "unanswered_tests",
        "failed_tests",
        "changeovers",
        "changebacks",
        "congestion_discarded_messages",
        "times_unavailable",
        "times_inhibited_here",
        "times_inhibited_there",
        "times_processor_out_here",
        "times_processor_out_there",
        "times_congested",
    ];
    let seconds = [
        "unavailable_s",
        "inhibited_here_s",
        "inhibited_there_s",
        "processor_out_here_s",
        "processor_out_there_s",
        "congested_s",
    ];
    let mut rows =
        Rows::new(TableKind::Mtp3Links, &["point", "link", "adjacent"], &counts.map(str::to_owned), &seconds);
    let links: Vec<_> = scenario.signalling.links.iter().collect();
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (number, (link, side)) in (0_u16..).zip(network.links_at(point)) {
            let (link, table) = links[link.0];
            let ends = [&table.between.0, &table.between.1];
            let measured = mtp3.link_measurements(LinkId(number));
            let spells = [
                measured.unavailable,
                measured.inhibited_here,
                measured.inhibited_there,
                measured.processor_out_here,
                measured.processor_out_there,
                measured.congested,
            ];
            let counts = [
                measured.sent_msus,
                measured.sent_octets,
                measured.received_msus,
                measured.received_octets,
                measured.failures,
                measured.alignment_failures,
                measured.unanswered_tests,
                measured.test_failures,
                measured.changeovers,
                measured.changebacks,
                measured.congestion_discards,
            ];
            rows.push(
                [name, link, ends[side.far() as usize]],
                counts.into_iter().chain(spells.iter().map(Spells::times)),
                spells.iter().map(|spells| spells.lasted(end)),
            );
        }
    }
    rows.finish()
}

fn link_sets(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let counts = ["links", "times_unavailable"].map(str::to_owned);
    let mut rows = Rows::new(TableKind::Mtp3LinkSets, &["point", "adjacent"], &counts, &["unavailable_s"]);
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (number, link_set) in (0_u16..).zip(&mtp3.config().link_sets) {
            let unavailable = mtp3.link_set_unavailable(LinkSetId(number));
            let counts = [link_set.links.len() as u64, unavailable.times()];
            rows.push([name, &link_set.name], counts, [unavailable.lasted(end)]);
        }
    }
    rows.finish()
}

fn destinations(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let counts = ["sent_messages", "times_inaccessible", "times_congested"].map(str::to_owned);
    let seconds = ["inaccessible_s", "congested_s"];
    let mut rows =
        Rows::new(TableKind::Mtp3Destinations, &["point", "destination", "state"], &counts, &seconds);
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for (destination, measured) in mtp3.destination_measurements() {
            let spells = [measured.inaccessible, measured.congested];
            let state = if mtp3.is_accessible(destination) { "accessible" } else { "inaccessible" };
            let counts = [measured.sent_msus].into_iter().chain(spells.iter().map(Spells::times));
            let destination = name_of(scenario, destination);
            rows.push([name, &destination, state], counts, spells.iter().map(|spells| spells.lasted(end)));
        }
    }
    rows.finish()
}

fn routes(scenario: &Scenario, network: &SignallingNetwork, end: Instant) -> Table {
    let counts = ["priority", "times_prohibited", "times_restricted"].map(str::to_owned);
    let seconds = ["prohibited_s", "restricted_s"];
    let mut rows =
        Rows::new(TableKind::Mtp3Routes, &["point", "destination", "via", "state"], &counts, &seconds);
    for (point, name) in named(scenario) {
        let mtp3 = network.mtp3(point);
        for route in mtp3.route_measurements() {
            let spells = [route.prohibited, route.restricted];
            let via: PointCode = mtp3.adjacent_of(route.link_set);
            let state = match route.state {
                RouteState::Allowed => "allowed",
                RouteState::Prohibited => "prohibited",
                RouteState::Restricted => "restricted",
            };
            let counts = [u64::from(route.priority)].into_iter().chain(spells.iter().map(Spells::times));
            let [destination, via] = [route.destination, via].map(|code| name_of(scenario, code));
            rows.push(
                [name, &destination, &via, state],
                counts,
                spells.iter().map(|spells| spells.lasted(end)),
            );
        }
    }
    rows.finish()
}
