//! `handovers`, `inter_satellite_links`, `shared_downlinks` and `sky_paths`: what happened in the sky.

use slantpath_net::{DropReason, SharedPortStatistics};
use slantpath_orbit::NodeId;
use slantpath_orbit::constellation::Payload;
use slantpath_results::{Table, TextColumn, TypedColumn};
use slantpath_sat::{Sky, Way};

use super::between_satellites;
use crate::network::PlannedLink;
use crate::network::source::RunNetwork;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// The tables of a sky.
pub(crate) fn tables(
    scenario: &Scenario,
    sky: &Sky,
    network: &mut RunNetwork<'_>,
    links: &[PlannedLink],
    ways: &[(String, String, Way)],
) -> [Table; 4] {
    let between = between_satellites(links);
    let isls = super::network::links(TableKind::InterSatelliteLinks, scenario, network, between);
    let shared = shared_downlinks(scenario, sky, network);
    [handovers(scenario, sky, network), isls, shared, paths(scenario, network, ways)]
}

/// `shared_downlinks`: one row for each transmitter of a satellite that antennas share and to which something was
/// offered, counted after the warm-up. Large constellations have thousands that see no packet.
fn shared_downlinks(scenario: &Scenario, sky: &Sky, network: &mut RunNetwork<'_>) -> Table {
    const DROPS: [DropReason; 5] = [
        DropReason::Down,
        DropReason::Early,
        DropReason::Forced,
        DropReason::Handover,
        DropReason::QueueFull,
    ];
    let plan = &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts;
    let tables: Vec<&str> =
        scenario.sky.iter().flat_map(|sky| sky.access.iter()).map(|(name, _)| name).collect();
    let [mut satellite, mut access] = ["satellite", "access"].map(TextColumn::new);
    let [mut packets, mut bytes, mut handed_over, mut marked, mut queue_max] =
        ["offered_packets", "offered_bytes", "handed_over_packets", "marked_packets", "queue_max_packets"]
            .map(TypedColumn::<u64>::new);
    let dropped = |reason: DropReason| format!("dropped_{}_packets", reason.name().replace(' ', "_"));
    let mut drops = DROPS.map(|reason| TypedColumn::<u64>::new(dropped(reason)));
    let [mut queue_mean, mut wait, mut utilisation] =
        ["queue_mean_packets", "wait_mean_s", "utilisation_ratio"].map(TypedColumn::<f64>::new);
    for (body, table, port) in sky.shared_downlinks() {
        if plan.payload(body) == Some(Payload::BentPipe) {
            continue;
        }
        let SharedPortStatistics { counters, queue, mean_wait, .. } = network.shared_port(port);
        if counters.offered.packets == 0 {
            continue;
        }
        satellite.push(&plan.names()[body.index()]);
        access.push(tables[table]);
        packets.push(counters.offered.packets);
        bytes.push(counters.offered.bytes);
        for (column, reason) in drops.iter_mut().zip(DROPS) {
            column.push(counters.dropped(reason).packets);
        }
        handed_over.push(counters.handed_over.packets);
        marked.push(counters.marked.packets);
        queue_mean.push(queue.mean_packets);
        queue_max.push(queue.max_packets);
        wait.push_optional(mean_wait.map(slantpath_base::Duration::as_secs_f64));
        utilisation.push(queue.busy.as_secs_f64() / queue.span.as_secs_f64());
    }
    let head = [satellite.into(), access.into(), packets.into(), bytes.into()];
    let tail = [
        handed_over.into(),
        marked.into(),
        queue_mean.into(),
        queue_max.into(),
        wait.into(),
        utilisation.into(),
    ];
    let columns = head.into_iter().chain(drops.map(Into::into)).chain(tail);
    TableKind::SharedDownlinks.table(columns)
}

/// `sky_paths`: by which satellites a flow reaches an address of its receiver, from when on.
fn paths(scenario: &Scenario, network: &mut RunNetwork<'_>, ways: &[(String, String, Way)]) -> Table {
    let plan = &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts;
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut flow, mut link, mut satellites] = ["flow", "link", "satellites"].map(TextColumn::new);
    let mut count = TypedColumn::<u64>::new("satellite_count");
    let mut delay = TypedColumn::<f64>::new("propagation_s");
    let mut shared = TypedColumn::<u64>::new("shared_satellite_count");
    for change in network.source_mut().inner_mut().take_path_changes() {
        let (flow_name, link_name, _) = &ways[change.way];
        at.push_instant(change.at);
        flow.push(flow_name);
        link.push(link_name);
        let names = |path: &Vec<NodeId>| {
            path.iter().map(|body| plan.names()[body.index()].as_str()).collect::<Vec<_>>().join(" > ")
        };
        satellites.push_optional(change.path.as_ref().map(names).as_deref());
        count.push_optional(change.path.as_ref().map(|path| path.len() as u64));
        delay.push_optional(change.path.map(|_| change.delay.as_secs_f64()));
        shared.push_optional(change.shared.map(u64::from));
    }
    let columns =
        [at.into(), flow.into(), link.into(), satellites.into(), count.into(), delay.into(), shared.into()];
    TableKind::SkyPaths.table(columns)
}

/// `handovers`: an antenna gets another satellite, its first one, or none; and what had waited.
fn handovers(scenario: &Scenario, sky: &Sky, network: &mut RunNetwork<'_>) -> Table {
    let plan = &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts;
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut link, mut site, mut from, mut to, mut cause] =
        ["link", "site", "from", "to", "cause"].map(TextColumn::new);
    let mut counts = [
        "uplink_lost_packets",
        "uplink_held_packets",
        "downlink_lost_packets",
        "downlink_handed_over_packets",
    ]
    .map(TypedColumn::<u64>::new);
    let name = |body: NodeId| plan.names()[body.index()].as_str();
    for handover in network.source_mut().inner_mut().take_handovers() {
        let antenna = &sky.antennas()[handover.antenna];
        at.push_instant(handover.at);
        link.push(&antenna.name);
        site.push(name(NodeId::new(plan.satellite_count() + antenna.site)));
        from.push_optional(handover.from.map(name));
        to.push_optional(handover.to.map(name));
        cause.push(handover.cause.as_str());
        let cells = [
            handover.uplink.lost,
            handover.uplink.held,
            handover.downlink.lost,
            handover.downlink.handed_over,
        ];
        for (column, cell) in counts.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    let texts = [link.into(), site.into(), from.into(), to.into(), cause.into()];
    let columns = [at.into()].into_iter().chain(texts).chain(counts.map(Into::into));
    TableKind::Handovers.table(columns)
}
