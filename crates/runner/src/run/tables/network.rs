//! `links`, `paths` and `queues`: what the network and the probes saw.

use slantpath_base::{Duration, Instant};
use slantpath_host::PathSample;
use slantpath_net::{
    self as net, Colour, DirectionConfig, DirectionCounters, DirectionId, QueueSample, SendingConfig,
};
use slantpath_results::Table;
use slantpath_scenario::build::{PlannedLink, RunNetwork};

use super::path_name;
use crate::columns::{Count, Family, Number, Text, columns, family, push_each};
use crate::output::TableKind;
use crate::scenario::Scenario;

/// Both directions of a link with their names.
pub(crate) fn directions(link: &PlannedLink) -> [(&'static str, DirectionId); 2] {
    [("forward", link.id.forward()), ("reverse", link.id.reverse())]
}

columns! {
    /// Columns of `links` and of `inter_satellite_links`.
    pub(super) struct LinkColumns {
        /// Name of the link.
        link: Text,
        /// Direction: `forward` from the link's first end to its second, or `reverse`.
        direction: Text,
        /// Packets that the sender handed to the direction.
        offered_packets: Count,
        /// Bytes of these packets.
        offered_bytes: Count,
        /// Packets that arrived at the far end, whole or damaged, copies included.
        carried_packets: Count,
        /// Bytes of these packets.
        carried_bytes: Count,
        /// Packets dropped by reasons that any link has.
        dropped: Vec<Count> = drops_by(net::DropReason::is_of_any_link),
        /// Carried packets with a flipped bit.
        damaged_packets: Count,
        /// Copies that the link made.
        duplicated_packets: Count,
        /// Carried bits a second of the time from the end of the warm-up to the end of the run.
        throughput_bit_per_s: Number,
        /// Share of that time in which the transmitter [was sending](#how-much-a-link-is-used). Missing where there is
        /// no transmitter.
        utilisation_ratio: Number,
        /// Mean number of packets in the queue over time. Missing where there is no queue of the direction's own.
        queue_mean_packets: Number,
        /// Most packets in the queue at once. Missing likewise.
        queue_max_packets: Count,
        /// Packets that the sender cut for the direction's MTU: not offered, while their fragments are.
        fragmented_packets: Count,
        /// Fragments that were made of them.
        fragments_packets: Count,
        /// Packets dropped by a queue that is managed; missing for other queues.
        dropped_by_queue: Vec<Count> = drops_by(net::DropReason::is_of_managed_queue),
        /// Packets that the queue marked where it would have dropped others (RFC 3168), but for those that came
        /// marked. Missing where the queue marks none.
        marked_packets: Count,
        /// Packets dropped for want of a contact; missing for links that are no contact of a sky.
        dropped_by_contact: Vec<Count> = drops_by(net::DropReason::is_of_contacts),
        /// Packets that waited when a contact ended and went on by another way. Missing likewise.
        handed_over_packets: Count,
        /// Packets that waited when a contact ended and went on waiting for the next, each time counted. Missing
        /// likewise.
        held_packets: Count,
        /// Repetitions by the link, each time counted. Missing where it repeats nothing (`arq`).
        repeated_packets: Count,
        /// Packets that the link gave up repeating; missing likewise.
        dropped_by_repetition: Vec<Count> = drops_by(net::DropReason::is_of_repetition),
        /// Packets that came through with a compressed header. Missing where the link compresses none.
        compressed_packets: Count,
        /// Packets whose compressed header could not be read; missing likewise.
        dropped_by_compression: Vec<Count> = drops_by(net::DropReason::is_of_header_compression),
        /// Packets of each colour; missing where no rule conditions packets.
        coloured: Vec<Count> = family(COLOURS, |colour| {
            (format!("{colour}_packets"), format!("Packets that a conditioner made {colour}. {WITHOUT_CONDITIONER}"))
        }),
        /// Packets that a conditioner dropped; missing likewise.
        dropped_by_conditioner: Vec<Count> = drops_by(net::DropReason::is_of_conditioner),
    }
}

/// Names of [`Colour::ALL`].
const COLOURS: [&str; Colour::ALL.len()] = ["green", "yellow", "red"];
const WITHOUT_CONDITIONER: &str = "Missing where no rule conditions packets.";

/// Columns of packets dropped for each reason that is wanted.
pub(super) fn drops_by(is_wanted: impl Fn(net::DropReason) -> bool) -> Family {
    family(net::DropReason::ALL.into_iter().filter(|&reason| is_wanted(reason)), |reason| {
        let name = format!("dropped_{}_packets", reason.name().replace(' ', "_"));
        (name, format!("Packets dropped: {}.", cause(reason)))
    })
}

const fn cause(reason: net::DropReason) -> &'static str {
    match reason {
        net::DropReason::BitError => "a bit error broke the IP header",
        net::DropReason::CoDel => {
            "they had waited for too long for CoDel. Missing where the queue is not managed"
        }
        net::DropReason::Down => "the direction was or went down",
        net::DropReason::Early => {
            "the queue drops at random before it is full. Missing where it is not managed"
        }
        net::DropReason::Forced => "the queue has been too long on average. Missing where it is not managed",
        net::DropReason::GivenUp => {
            "an error hit each repetition by the link. Missing where it repeats nothing"
        }
        net::DropReason::Handover => {
            "the contact ended while they waited or were being sent. Missing for links that are no contact"
        }
        net::DropReason::HeaderContext => {
            "the far end could not read the compressed header. Missing where the link compresses none"
        }
        net::DropReason::HopLimit => "the TTL or hop limit was used up",
        net::DropReason::Loss => "they were lost on the way",
        net::DropReason::Mtu => "they were longer than the MTU, and not to be cut",
        net::DropReason::NoContact => {
            "there was no contact to leave by. Missing for links that are no contact"
        }
        net::DropReason::Policed => {
            "a conditioner found them out of profile. Missing where no rule conditions packets"
        }
        net::DropReason::QueueFull => "the queue was full",
        net::DropReason::Unreachable => "no route leads to the destination",
    }
}

/// Devices that a direction has: without one, what it counts means nothing.
#[derive(Clone, Copy)]
struct Devices<'a> {
    config: &'a DirectionConfig,
    is_contact: bool,
}

impl Devices<'_> {
    const fn repeats(&self) -> bool {
        matches!(self.config.sending, SendingConfig::Repeated(_))
    }

    const fn compresses(&self) -> bool {
        matches!(self.config.sending, SendingConfig::Compressed(_))
    }

    fn conditions(&self) -> bool {
        !self.config.conditioner.is_empty()
    }

    fn drop_for(&self, reason: net::DropReason) -> bool {
        reason.is_of_any_link()
            || self.config.queue.is_managed() && reason.is_of_managed_queue()
            || self.is_contact && reason.is_of_contacts()
            || self.repeats() && reason.is_of_repetition()
            || self.compresses() && reason.is_of_header_compression()
            || self.conditions() && reason.is_of_conditioner()
    }
}

/// `links` or `inter_satellite_links`: one row for each direction, counted after the warm-up.
pub(super) fn links(
    kind: TableKind,
    scenario: &Scenario,
    network: &mut RunNetwork<'_>,
    links: &[PlannedLink],
) -> Table {
    let begin = Instant::START + *scenario.scenario.warm_up;
    let observed = network.now().saturating_since(begin).as_secs_f64();
    let mut columns = LinkColumns::new();
    for link in links {
        let kinds = link.has_queue.into_iter().zip(link.has_transmitter);
        for ((direction_name, id), (has_queue, has_transmitter)) in directions(link).into_iter().zip(kinds) {
            let queue = has_queue.then(|| network.queue_statistics(id));
            let busy = has_transmitter.then(|| network.busy(id).as_secs_f64());
            let is_contact = link.antenna.is_some() || !link.ends_at_node;
            let has = Devices { config: network.graph().direction(id), is_contact };
            let counters = network.counters(id);
            columns.link.push(&link.name);
            columns.direction.push(direction_name);
            columns.push_counts(counters);
            columns.push_drops(counters, &has);
            let coloured = Colour::ALL.map(|colour| counters.coloured(colour).packets);
            push_each(&mut columns.coloured, coloured.map(|packets| has.conditions().then_some(packets)));
            let packets = |has: bool, count: slantpath_net::PacketCount| has.then_some(count.packets);
            columns.marked_packets.push_optional(packets(has.config.queue.marks(), counters.marked));
            columns.handed_over_packets.push_optional(packets(has.is_contact, counters.handed_over));
            columns.held_packets.push_optional(packets(has.is_contact, counters.held));
            columns.repeated_packets.push_optional(packets(has.repeats(), counters.repeated));
            columns.compressed_packets.push_optional(packets(has.compresses(), counters.compressed));
            columns.throughput_bit_per_s.push(8.0 * counters.carried.bytes as f64 / observed);
            columns.utilisation_ratio.push_optional(busy.map(|busy| busy / observed));
            columns.queue_mean_packets.push_optional(queue.as_ref().map(|queue| queue.mean_packets));
            columns.queue_max_packets.push_optional(queue.map(|queue| queue.max_packets));
        }
    }
    columns.finish(kind)
}

impl LinkColumns {
    /// Counts that every direction has.
    fn push_counts(&mut self, counters: &DirectionCounters) {
        self.offered_packets.push(counters.offered.packets);
        self.offered_bytes.push(counters.offered.bytes);
        self.carried_packets.push(counters.carried.packets);
        self.carried_bytes.push(counters.carried.bytes);
        self.damaged_packets.push(counters.damaged.packets);
        self.duplicated_packets.push(counters.duplicated.packets);
        self.fragmented_packets.push(counters.fragmented.packets);
        self.fragments_packets.push(counters.fragments.packets);
    }

    fn push_drops(&mut self, counters: &DirectionCounters, has: &Devices) {
        type Kind = fn(net::DropReason) -> bool;
        let kinds: [(&mut Vec<Count>, Kind); 6] = [
            (&mut self.dropped, net::DropReason::is_of_any_link),
            (&mut self.dropped_by_queue, net::DropReason::is_of_managed_queue),
            (&mut self.dropped_by_contact, net::DropReason::is_of_contacts),
            (&mut self.dropped_by_repetition, net::DropReason::is_of_repetition),
            (&mut self.dropped_by_compression, net::DropReason::is_of_header_compression),
            (&mut self.dropped_by_conditioner, net::DropReason::is_of_conditioner),
        ];
        for (columns, is_wanted) in kinds {
            let reasons = net::DropReason::ALL.into_iter().filter(|&reason| is_wanted(reason));
            let cell = |reason| has.drop_for(reason).then(|| counters.dropped(reason).packets);
            push_each(columns, reasons.map(cell));
        }
    }
}

columns! {
    /// Columns of a sample of a path.
    pub(super) struct SampleColumns {
        /// Path, by its link.
        path: Text,
        /// Time of the sample.
        at_s: Number,
        /// Congestion window of the path.
        cwnd_bytes: Count,
        /// Slow-start threshold of the path.
        ssthresh_bytes: Count,
        /// Bytes outstanding on the path: sent there and not acknowledged.
        outstanding_bytes: Count,
        /// Retransmission timeout of the path.
        rto_s: Number,
        /// Smoothed round-trip time of the path. Missing before the first measurement.
        srtt_s: Number,
    }
}

columns! {
    /// Columns of `paths`.
    pub(super) struct PathColumns {
        /// Name of the flow.
        flow: Text,
        /// Sample of the path.
        sample: SampleColumns = (),
    }
}

columns! {
    /// Columns of `association_paths`.
    pub(super) struct AssociationPathColumns {
        /// Name of the association, or of the link that it carries.
        association: Text,
        /// Host at this end.
        host: Text,
        /// Sample of the path.
        sample: SampleColumns = (),
    }
}

columns! {
    /// Columns of `queues`.
    pub(super) struct QueueColumns {
        /// Name of the link.
        link: Text,
        /// Direction: `forward` or `reverse`.
        direction: Text,
        /// Time of the sample.
        at_s: Number,
        /// Packets that wait, the one that is being sent left out.
        queued_packets: Count,
        /// Bytes of these packets.
        queued_bytes: Count,
    }
}

impl SampleColumns {
    fn push(&mut self, names: &[Option<String>], sample: &PathSample) {
        self.path.push_optional(path_name(names, sample.path));
        self.at_s.push_instant(sample.at);
        self.cwnd_bytes.push(sample.cwnd_bytes);
        self.ssthresh_bytes.push(sample.ssthresh_bytes);
        self.outstanding_bytes.push(sample.outstanding_bytes);
        self.rto_s.push_duration(sample.rto);
        self.srtt_s.push_optional(sample.srtt.map(Duration::as_secs_f64));
    }
}

/// `paths`: samples of each path of a flow.
pub(crate) fn paths(flow: &str, names: &[Option<String>], samples: &[PathSample]) -> Table {
    let mut columns = PathColumns::new();
    for sample in samples {
        columns.flow.push(flow);
        columns.sample.push(names, sample);
    }
    columns.finish(TableKind::Paths)
}

/// `association_paths`: the same of an end of an association that carries signalling, by its name and its host.
pub(crate) fn association_paths(
    [association, host]: [&str; 2],
    names: &[Option<String>],
    samples: &[PathSample],
) -> Table {
    let mut columns = AssociationPathColumns::new();
    for sample in samples {
        columns.association.push(association);
        columns.host.push(host);
        columns.sample.push(names, sample);
    }
    columns.finish(TableKind::AssociationPaths)
}

/// `queues`: samples of the queue of a direction.
pub(crate) fn queues(link: &str, direction: &str, samples: &[QueueSample]) -> Table {
    let mut columns = QueueColumns::new();
    for sample in samples {
        columns.link.push(link);
        columns.direction.push(direction);
        columns.at_s.push_instant(sample.time);
        columns.queued_packets.push(sample.packets);
        columns.queued_bytes.push(sample.bytes);
    }
    columns.finish(TableKind::Queues)
}
