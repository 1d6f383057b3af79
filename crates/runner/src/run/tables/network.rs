//! `links`, `paths` and `queues`: what the network and the probes saw.

use slantpath_host::record::PathSample;
use slantpath_net::{Colour, DirectionId, DropReason, QueueSample};
use slantpath_results::{Column, Table, TextColumn, TypedColumn};
use slantpath_scenario::build::{PlannedLink, RunNetwork};

use super::path_name;
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Both directions of a link with their names.
pub(crate) fn directions(link: &PlannedLink) -> [(&'static str, DirectionId); 2] {
    [("forward", link.id.forward()), ("reverse", link.id.reverse())]
}

/// `links` or `inter_satellite_links`: one row for each direction, counted after the warm-up. Drops of queues that are
/// managed have columns if there is such a queue, marks if one makes them, what links repeat if one does, and what
/// happens at handovers if there is a sky.
pub(super) fn links(
    kind: TableKind,
    scenario: &Scenario,
    network: &mut RunNetwork<'_>,
    links: &[PlannedLink],
) -> Table {
    let observed = scenario.scenario.duration.saturating_sub(*scenario.scenario.warm_up).as_secs_f64();
    let [mut name, mut direction] = ["link", "direction"].map(TextColumn::new);
    let mut counts =
        ["offered_packets", "offered_bytes", "carried_packets", "carried_bytes"].map(TypedColumn::<u64>::new);
    let mut drops = drops_by(DropReason::is_of_any_link);
    let has_sky = scenario.sky.is_some();
    let mut contact_drops = drops_by(|reason| has_sky && reason.is_of_contacts());
    let [mut handed_over, mut held] = ["handed_over_packets", "held_packets"].map(TypedColumn::<u64>::new);
    let is_managed = |&(_, id): &(_, DirectionId)| network.graph().direction(id).queue.is_managed();
    let any_managed = links.iter().any(|link| directions(link).iter().any(is_managed));
    let marks = |&(_, id): &(_, DirectionId)| network.graph().direction(id).queue.marks();
    let any_marks = links.iter().any(|link| directions(link).iter().any(marks));
    let mut marked = TypedColumn::<u64>::new("marked_packets");
    let mut managed_drops = drops_by(|reason| any_managed && reason.is_of_managed_queue());
    let repeats = |&(_, id): &(_, DirectionId)| network.graph().direction(id).arq.is_some();
    let any_repeats = links.iter().any(|link| directions(link).iter().any(repeats));
    let mut repeated_drops = drops_by(|reason| any_repeats && reason.is_of_repetition());
    let compresses = |&(_, id): &(_, DirectionId)| network.graph().direction(id).header_compression.is_some();
    let any_compresses = links.iter().any(|link| directions(link).iter().any(compresses));
    let mut context_drops = drops_by(|reason| any_compresses && reason.is_of_header_compression());
    let conditions = |&(_, id): &(_, DirectionId)| !network.graph().direction(id).conditioner.is_empty();
    let any_conditions = links.iter().any(|link| directions(link).iter().any(conditions));
    let mut policed = drops_by(|reason| any_conditions && reason.is_of_conditioner());
    let mut coloured = ["green_packets", "yellow_packets", "red_packets"].map(TypedColumn::<u64>::new);
    let mut compressed = TypedColumn::<u64>::new("compressed_packets");
    let mut repeated = TypedColumn::<u64>::new("repeated_packets");
    let [mut damaged, mut duplicated, mut queue_max] =
        ["damaged_packets", "duplicated_packets", "queue_max_packets"].map(TypedColumn::<u64>::new);
    let [mut fragmented, mut fragments] =
        ["fragmented_packets", "fragments_packets"].map(TypedColumn::<u64>::new);
    let [mut throughput, mut utilisation, mut queue_mean] =
        ["throughput_bit_per_s", "utilisation_ratio", "queue_mean_packets"].map(TypedColumn::<f64>::new);
    for link in links {
        let kinds = link.has_queue.into_iter().zip(link.has_transmitter);
        for ((direction_name, id), (has_queue, has_transmitter)) in directions(link).into_iter().zip(kinds) {
            let queue = has_queue.then(|| network.queue_statistics(id));
            let counters = network.counters(id);
            name.push(&link.name);
            direction.push(direction_name);
            let cells = [
                counters.offered.packets,
                counters.offered.bytes,
                counters.carried.packets,
                counters.carried.bytes,
            ];
            for (column, cell) in counts.iter_mut().zip(cells) {
                column.push(cell);
            }
            handed_over.push(counters.handed_over.packets);
            held.push(counters.held.packets);
            repeated.push(counters.repeated.packets);
            compressed.push(counters.compressed.packets);
            let of_some = managed_drops.iter_mut().chain(&mut contact_drops);
            let of_some = of_some.chain(&mut repeated_drops).chain(&mut context_drops).chain(&mut policed);
            for (reason, column) in drops.iter_mut().chain(of_some) {
                column.push(counters.dropped(*reason).packets);
            }
            for (column, colour) in coloured.iter_mut().zip(Colour::ALL) {
                column.push(counters.coloured(colour).packets);
            }
            marked.push(counters.marked.packets);
            damaged.push(counters.damaged.packets);
            duplicated.push(counters.duplicated.packets);
            fragmented.push(counters.fragmented.packets);
            fragments.push(counters.fragments.packets);
            let bits_per_second = 8.0 * counters.carried.bytes as f64 / observed;
            throughput.push(bits_per_second);
            let busy = has_transmitter.then(|| network.busy(id).as_secs_f64());
            utilisation.push_optional(busy.map(|busy| busy / observed));
            queue_mean.push_optional(queue.as_ref().map(|queue| queue.mean_packets));
            queue_max.push_optional(queue.map(|queue| queue.max_packets));
        }
    }
    let mut columns: Vec<Column> = vec![name.into(), direction.into()];
    columns.extend(counts.map(Column::from));
    columns.extend(drops.into_iter().map(|(_, column)| column.into()));
    columns.extend([damaged.into(), duplicated.into(), throughput.into(), utilisation.into()]);
    columns.extend([queue_mean.into(), queue_max.into(), fragmented.into(), fragments.into()]);
    columns.extend(managed_drops.into_iter().map(|(_, column)| column.into()));
    columns.extend(any_marks.then(|| marked.into()));
    columns.extend(contact_drops.into_iter().map(|(_, column)| column.into()));
    if has_sky {
        columns.extend([handed_over.into(), held.into()]);
    }
    if any_repeats {
        columns.push(repeated.into());
        columns.extend(repeated_drops.into_iter().map(|(_, column)| column.into()));
    }
    if any_compresses {
        columns.push(compressed.into());
        columns.extend(context_drops.into_iter().map(|(_, column)| column.into()));
    }
    if any_conditions {
        columns.extend(coloured.map(Column::from));
        columns.extend(policed.into_iter().map(|(_, column)| column.into()));
    }
    kind.table(columns)
}

/// A column of packets dropped for each reason that is wanted.
fn drops_by(is_wanted: impl Fn(DropReason) -> bool) -> Vec<(DropReason, TypedColumn<u64>)> {
    let column = |reason: DropReason| {
        (reason, TypedColumn::new(format!("dropped_{}_packets", reason.name().replace(' ', "_"))))
    };
    DropReason::ALL.into_iter().filter(|&reason| is_wanted(reason)).map(column).collect()
}

/// `paths` without rows.
pub(crate) fn paths_header() -> Table {
    paths("", &[], &[])
}

/// `paths`: samples of each path of a flow.
pub(crate) fn paths(flow: &str, names: &[Option<String>], samples: &[PathSample]) -> Table {
    let mut flow_name = TextColumn::new("flow");
    for _ in samples {
        flow_name.push(flow);
    }
    let columns = core::iter::once(flow_name.into()).chain(sampled(names, samples));
    TableKind::Paths.table(columns)
}

/// `association_paths` without rows.
pub(crate) fn association_paths_header() -> Table {
    association_paths(["", ""], &[], &[])
}

/// `association_paths`: the same of an end of an association that carries signalling, by its name and its host.
pub(crate) fn association_paths(
    called: [&str; 2],
    names: &[Option<String>],
    samples: &[PathSample],
) -> Table {
    let mut columns = ["association", "host"].map(TextColumn::new);
    for (column, text) in columns.iter_mut().zip(called) {
        for _ in samples {
            column.push(text);
        }
    }
    let columns = columns.map(Column::from).into_iter().chain(sampled(names, samples));
    TableKind::AssociationPaths.table(columns)
}

/// Columns of the samples of a path.
fn sampled(names: &[Option<String>], samples: &[PathSample]) -> [Column; 7] {
    let mut path = TextColumn::new("path");
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut cwnd, mut ssthresh, mut outstanding] =
        ["cwnd_bytes", "ssthresh_bytes", "outstanding_bytes"].map(TypedColumn::<u64>::new);
    let [mut rto, mut srtt] = ["rto_s", "srtt_s"].map(TypedColumn::<f64>::new);
    for sample in samples {
        path.push_optional(path_name(names, sample.path));
        at.push_instant(sample.at);
        cwnd.push(sample.cwnd_bytes);
        ssthresh.push(sample.ssthresh_bytes);
        outstanding.push(sample.outstanding_bytes);
        rto.push_duration(sample.rto);
        srtt.push_optional(sample.srtt.map(slantpath_base::Duration::as_secs_f64));
    }
    [path.into(), at.into(), cwnd.into(), ssthresh.into(), outstanding.into(), rto.into(), srtt.into()]
}

/// `queues` without rows.
pub(crate) fn queues_header() -> Table {
    queues("", "", &[])
}

/// `queues`: samples of the queue of a direction.
pub(crate) fn queues(link: &str, direction_name: &str, samples: &[QueueSample]) -> Table {
    let [mut name, mut direction] = ["link", "direction"].map(TextColumn::new);
    let mut at = TypedColumn::<f64>::new("at_s");
    let [mut packets, mut bytes] = ["queued_packets", "queued_bytes"].map(TypedColumn::<u64>::new);
    for sample in samples {
        name.push(link);
        direction.push(direction_name);
        at.push_instant(sample.time);
        packets.push(sample.packets);
        bytes.push(sample.bytes);
    }
    let columns = [name.into(), direction.into(), at.into(), packets.into(), bytes.into()];
    TableKind::Queues.table(columns)
}
