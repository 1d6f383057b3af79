//! `antennas`, `handovers`, `inter_satellite_links`, `shared_downlinks` and `sky_paths`: what happened in the sky.

use slantpath_net::{self as net, SharedPortStatistics, Way};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::constellation::Payload;
use slantpath_orbit::contact::ContactPlan;
use slantpath_results::Table;
use slantpath_sat::{AntennaHandover, AntennaLink, PathChange, Sky};
use slantpath_scenario::build::{PlannedLink, RunNetwork};

use super::between_satellites;
use super::network::drops_by;
use crate::columns::{Count, Number, Text, columns, push_each};
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

columns! {
    /// Columns of `shared_downlinks`.
    pub(super) struct SharedDownlinkColumns {
        /// Name of the satellite.
        satellite: Text,
        /// Table of access links that makes antennas share the transmitter.
        access: Text,
        /// Packets that were offered to the transmitter. The antennas that they were for, `links` has.
        offered_packets: Count,
        /// Bytes of these packets.
        offered_bytes: Count,
        /// Packets that were dropped, by reason.
        dropped: Vec<Count> = drops_by(|reason| DROPS.contains(&reason)),
        /// Packets that waited when a contact ended and went on by another way.
        handed_over_packets: Count,
        /// Packets that the queue marked where it would have dropped others.
        marked_packets: Count,
        /// Mean number of packets in the queue over time.
        queue_mean_packets: Number,
        /// Most packets in the queue at once.
        queue_max_packets: Count,
        /// Mean wait of the packets that the queue took.
        wait_mean_s: Number,
        /// Share of the time in which the transmitter was sending.
        utilisation_ratio: Number,
    }
}

/// Reasons for which a transmitter that is shared drops, in the order of all.
const DROPS: [net::DropReason; 5] = [
    net::DropReason::Down,
    net::DropReason::Early,
    net::DropReason::Forced,
    net::DropReason::Handover,
    net::DropReason::QueueFull,
];

columns! {
    /// Columns of `sky_paths`.
    pub(in crate::run) struct PathColumns {
        /// Time from which on the path holds.
        at_s: Number,
        /// Name of the flow.
        flow: Text,
        /// Link that has the address of the receiver.
        link: Text,
        /// Satellites, and sites that relay, in order. Missing while there is no path, also at 0.
        satellites: Text,
        /// Number of satellites and sites that relay. Missing likewise.
        satellite_count: Count,
        /// Propagation delay of the whole way at that time. Missing likewise.
        propagation_s: Number,
        /// Number of satellites that the other of two disjoint routes uses, too. Missing without such routes.
        shared_satellite_count: Count,
    }
}

columns! {
    /// Columns of packets that waited at a handover, by their fate.
    pub(in crate::run) struct LeftBehindColumns {
        /// Packets that waited at the antenna and were lost.
        uplink_lost_packets: Count,
        /// Packets that waited at the antenna and went on waiting.
        uplink_held_packets: Count,
        /// Packets that waited at the satellite and were lost.
        downlink_lost_packets: Count,
        /// Packets that waited at the satellite and went on by another way.
        downlink_handed_over_packets: Count,
    }
}

columns! {
    /// Columns of `handovers`.
    pub(in crate::run) struct HandoverColumns {
        /// Time of the change. The first row of an antenna is at 0.
        at_s: Number,
        /// Link of the antenna.
        link: Text,
        /// Site of the antenna.
        site: Text,
        /// Satellite before. Missing for the first, and after a gap.
        from: Text,
        /// Satellite after. Missing in a gap, also at 0 where a run begins in one. An antenna that never holds a
        /// satellite has that row alone.
        to: Text,
        /// Cause of the change.
        cause: Text,
        /// Packets that waited.
        left_behind: LeftBehindColumns = (),
    }
}

columns! {
    /// Columns of `antennas`.
    pub(in crate::run) struct AntennaColumns {
        /// Link of the antenna.
        link: Text,
        /// Site of the antenna.
        site: Text,
        /// Changes of its satellite over the whole run; the first one is a change, too.
        handovers: Count,
        /// Packets that waited at all of them.
        left_behind: LeftBehindColumns = (),
    }
}

/// `shared_downlinks`: one row for each transmitter of a satellite that antennas share and to which something was
/// offered, counted after the warm-up. Large constellations have thousands that see no packet.
fn shared_downlinks(scenario: &Scenario, sky: &Sky, network: &mut RunNetwork<'_>) -> Table {
    let plan = &scenario.sky_plan().expect("a scenario with a sky has its contacts").contacts;
    let tables: Vec<&str> =
        scenario.sky.iter().flat_map(|sky| sky.access.iter()).map(|(name, _)| name).collect();
    let mut columns = SharedDownlinkColumns::new();
    for (body, table, port) in sky.shared_downlinks() {
        if plan.payload(body) == Some(Payload::BentPipe) {
            continue;
        }
        let SharedPortStatistics { counters, queue, mean_wait, .. } = network.shared_port(port);
        if counters.offered.packets == 0 {
            continue;
        }
        columns.satellite.push(&plan.names()[body.index()]);
        columns.access.push(tables[table]);
        columns.offered_packets.push(counters.offered.packets);
        columns.offered_bytes.push(counters.offered.bytes);
        push_each(&mut columns.dropped, DROPS.map(|reason| Some(counters.dropped(reason).packets)));
        columns.handed_over_packets.push(counters.handed_over.packets);
        columns.marked_packets.push(counters.marked.packets);
        columns.queue_mean_packets.push(queue.mean_packets);
        columns.queue_max_packets.push(queue.max_packets);
        columns.wait_mean_s.push_optional(mean_wait.map(slantpath_base::Duration::as_secs_f64));
        columns.utilisation_ratio.push(queue.busy.as_secs_f64() / queue.span.as_secs_f64());
    }
    columns.finish(TableKind::SharedDownlinks)
}

/// `sky_paths`: by which satellites a flow reaches an address of its receiver, from when on.
pub(in crate::run) fn paths(
    names: &[String],
    ways: &[(String, String, Way)],
    changes: Vec<PathChange>,
) -> Table {
    let mut columns = PathColumns::new();
    for change in changes {
        let (flow_name, link_name, _) = &ways[change.way];
        columns.at_s.push_instant(change.at);
        columns.flow.push(flow_name);
        columns.link.push(link_name);
        let names = |path: &Vec<ContactNodeId>| {
            path.iter().map(|body| names[body.index()].as_str()).collect::<Vec<_>>().join(" > ")
        };
        columns.satellites.push_optional(change.path.as_ref().map(names).as_deref());
        columns.satellite_count.push_optional(change.path.as_ref().map(|path| path.len() as u64));
        columns.propagation_s.push_optional(change.path.map(|_| change.delay.as_secs_f64()));
        columns.shared_satellite_count.push_optional(change.shared.map(u64::from));
    }
    columns.finish(TableKind::SkyPaths)
}

/// Packets that waited at handovers, by their fate.
#[derive(Clone, Copy, Debug, Default)]
struct LeftBehind {
    uplink_lost: u64,
    uplink_held: u64,
    downlink_lost: u64,
    downlink_handed_over: u64,
}

impl LeftBehind {
    fn add(&mut self, AntennaHandover { uplink, downlink, .. }: &AntennaHandover) {
        self.uplink_lost += uplink.lost;
        self.uplink_held += uplink.held;
        self.downlink_lost += downlink.lost;
        self.downlink_handed_over += downlink.handed_over;
    }
}

impl LeftBehindColumns {
    fn push(&mut self, packets: LeftBehind) {
        self.uplink_lost_packets.push(packets.uplink_lost);
        self.uplink_held_packets.push(packets.uplink_held);
        self.downlink_lost_packets.push(packets.downlink_lost);
        self.downlink_handed_over_packets.push(packets.downlink_handed_over);
    }
}

/// The site of an antenna.
fn site(plan: &ContactPlan, antenna: &AntennaLink) -> ContactNodeId {
    ContactNodeId::new(plan.satellite_count() + antenna.site)
}

/// `handovers`: an antenna gets another satellite, its first one, or none; and what had waited.
pub(in crate::run) fn handovers(plan: &ContactPlan, sky: &Sky, handovers: &[AntennaHandover]) -> Table {
    let mut columns = HandoverColumns::new();
    let name = |body: ContactNodeId| plan.names()[body.index()].as_str();
    for handover in handovers {
        let antenna = &sky.antennas()[handover.antenna];
        columns.at_s.push_instant(handover.at);
        columns.link.push(&antenna.name);
        columns.site.push(name(site(plan, antenna)));
        columns.from.push_optional(handover.from.map(name));
        columns.to.push_optional(handover.to.map(name));
        columns.cause.push(handover.cause.as_str());
        let mut packets = LeftBehind::default();
        packets.add(handover);
        columns.left_behind.push(packets);
    }
    columns.finish(TableKind::Handovers)
}

/// Counts of the events at an antenna.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct AntennaTotals {
    handovers: u64,
    left_behind: LeftBehind,
}

impl AntennaTotals {
    pub(in crate::run) fn add(&mut self, handover: &AntennaHandover) {
        // An antenna that begins without a satellite has a row, too, and has changed nothing.
        self.handovers += u64::from(handover.from.is_some() || handover.to.is_some());
        self.left_behind.add(handover);
    }
}

/// `antennas`: one row for each, of the whole run.
pub(in crate::run) fn antennas(plan: &ContactPlan, sky: &Sky, totals: &[AntennaTotals]) -> Table {
    let mut columns = AntennaColumns::new();
    for (antenna, totals) in sky.antennas().iter().zip(totals) {
        columns.link.push(&antenna.name);
        columns.site.push(&plan.names()[site(plan, antenna).index()]);
        columns.handovers.push(totals.handovers);
        columns.left_behind.push(totals.left_behind);
    }
    columns.finish(TableKind::Antennas)
}
