//! `antennas`, `handovers`, `inter_satellite_links`, `shared_downlinks` and `sky_paths`: what happened in the sky.

use slantpath_net::{DropReason, SharedPortStatistics};
use slantpath_orbit::NodeId;
use slantpath_orbit::constellation::Payload;
use slantpath_orbit::contact::ContactPlan;
use slantpath_results::{Table, TextColumn, TypedColumn};
use slantpath_sat::{AntennaLink, Handover, PathChange, Sky, Way};
use slantpath_scenario::build::{PlannedLink, RunNetwork};

use super::between_satellites;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Tables of the sky that do not grow with the length of the run, except that of antennas.
pub(crate) fn tables(
    scenario: &Scenario,
    sky: &Sky,
    network: &mut RunNetwork<'_>,
    links: &[PlannedLink],
) -> [Table; 2] {
    let between = between_satellites(links);
    let isls = super::network::links(TableKind::InterSatelliteLinks, scenario, network, between);
    [isls, shared_downlinks(scenario, sky, network)]
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
pub(in crate::run) fn paths(
    names: &[String],
    ways: &[(String, String, Way)],
    changes: Vec<PathChange>,
) -> Table {
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut flow, mut link, mut satellites] = ["flow", "link", "satellites"].map(TextColumn::new);
    let mut count = TypedColumn::<u64>::new("satellite_count");
    let mut delay = TypedColumn::<f64>::new("propagation_s");
    let mut shared = TypedColumn::<u64>::new("shared_satellite_count");
    for change in changes {
        let (flow_name, link_name, _) = &ways[change.way];
        at.push_instant(change.at);
        flow.push(flow_name);
        link.push(link_name);
        let names = |path: &Vec<NodeId>| {
            path.iter().map(|body| names[body.index()].as_str()).collect::<Vec<_>>().join(" > ")
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

/// Packets that waited at a handover, by their fate: columns of `handovers` and of `antennas`.
const LEFT_BEHIND: [&str; 4] =
    ["uplink_lost_packets", "uplink_held_packets", "downlink_lost_packets", "downlink_handed_over_packets"];

const fn left_behind(handover: &Handover) -> [u64; LEFT_BEHIND.len()] {
    let Handover { uplink, downlink, .. } = handover;
    [uplink.lost, uplink.held, downlink.lost, downlink.handed_over]
}

/// The site of an antenna.
fn site(plan: &ContactPlan, antenna: &AntennaLink) -> NodeId {
    NodeId::new(plan.satellite_count() + antenna.site)
}

/// `handovers`: an antenna gets another satellite, its first one, or none; and what had waited.
pub(in crate::run) fn handovers(plan: &ContactPlan, sky: &Sky, handovers: &[Handover]) -> Table {
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut link, mut of_site, mut from, mut to, mut cause] =
        ["link", "site", "from", "to", "cause"].map(TextColumn::new);
    let mut counts = LEFT_BEHIND.map(TypedColumn::<u64>::new);
    let name = |body: NodeId| plan.names()[body.index()].as_str();
    for handover in handovers {
        let antenna = &sky.antennas()[handover.antenna];
        at.push_instant(handover.at);
        link.push(&antenna.name);
        of_site.push(name(site(plan, antenna)));
        from.push_optional(handover.from.map(name));
        to.push_optional(handover.to.map(name));
        cause.push(handover.cause.as_str());
        counts.iter_mut().zip(left_behind(handover)).for_each(|(column, cell)| column.push(cell));
    }
    let texts = [link.into(), of_site.into(), from.into(), to.into(), cause.into()];
    let columns = [at.into()].into_iter().chain(texts).chain(counts.map(Into::into));
    TableKind::Handovers.table(columns)
}

/// Counts of the events at an antenna.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct AntennaTotals {
    handovers: u64,
    left_behind: [u64; LEFT_BEHIND.len()],
}

impl AntennaTotals {
    pub(in crate::run) fn add(&mut self, handover: &Handover) {
        // An antenna that begins without a satellite has a row, too, and has changed nothing.
        self.handovers += u64::from(handover.from.is_some() || handover.to.is_some());
        self.left_behind.iter_mut().zip(left_behind(handover)).for_each(|(sum, cell)| *sum += cell);
    }
}

/// `antennas`: one row for each, of the whole run.
pub(in crate::run) fn antennas(plan: &ContactPlan, sky: &Sky, totals: &[AntennaTotals]) -> Table {
    let [mut link, mut of_site] = ["link", "site"].map(TextColumn::new);
    let mut handovers = TypedColumn::<u64>::new("handovers");
    let mut counts = LEFT_BEHIND.map(TypedColumn::<u64>::new);
    for (antenna, totals) in sky.antennas().iter().zip(totals) {
        link.push(&antenna.name);
        of_site.push(&plan.names()[site(plan, antenna).index()]);
        handovers.push(totals.handovers);
        counts.iter_mut().zip(totals.left_behind).for_each(|(column, cell)| column.push(cell));
    }
    let columns = [link.into(), of_site.into(), handovers.into()];
    TableKind::Antennas.table(columns.into_iter().chain(counts.map(Into::into)))
}
