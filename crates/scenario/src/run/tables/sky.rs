//! `handovers`, `inter_satellite_links` and `sky_paths`: what happened in the sky.

use slantpath_orbit::NodeId;
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
) -> [Table; 3] {
    let between = between_satellites(links);
    let isls = super::network::links(TableKind::InterSatelliteLinks, scenario, network, between);
    [handovers(scenario, sky, network), isls, paths(scenario, network, ways)]
}

/// `sky_paths`: by which satellites a flow reaches an address of its receiver, from when on.
fn paths(scenario: &Scenario, network: &mut RunNetwork<'_>, ways: &[(String, String, Way)]) -> Table {
    let plan = &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts;
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut flow, mut link, mut satellites] = ["flow", "link", "satellites"].map(TextColumn::new);
    let mut count = TypedColumn::<u64>::new("satellite_count");
    let mut delay = TypedColumn::<f64>::new("propagation_s");
    let mut shared = TypedColumn::<u64>::new("shared_satellite_count");
    for change in network.source_mut().take_path_changes() {
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
    for handover in network.source_mut().take_handovers() {
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
