//! The network as a whole, and its run.

use slantpath_base::{Duration, Instant, RunDigest, Seed};
use slantpath_wire::Packet;
use slantpath_wire::pcapng::CapturedKind;

use crate::capture::CaptureId;
use crate::drops::DroppedPacket;
use crate::fabric::{Delivery, Fabric, Refusal};
use crate::graph::{NetworkGraph, NodeKind};
use crate::host_pairs::{HostPair, HostPairs};
use crate::link::{Asked, CarriageTerms, DirectionCounters, QueueStatistics, SharedPortStatistics};
use crate::outside::{InjectError, OutsidePacket};
use crate::parcel::Parcel;
use crate::planned::Planned;
use crate::probe::{QueueProbe, QueueSample, Sampling};
use crate::sampler::Sampler;
use crate::script::Change;
use crate::slots::{Component, Slots};
use crate::source::{Changeable, Links, Source};
use crate::ways::{WatchedWays, Way, WayChange};
use crate::{DirectionId, EndSystem, InterfaceId, NodeId, SharedPortId};

/// A network in a run: links, routers and end systems of one kind, and where its changes and routes come from.
#[derive(Clone, Debug)]
pub struct Network<H, S = Planned> {
    fabric: Fabric,
    source: S,
    hosts: Vec<H>,
    drained: Drained,
    sampler: Sampler,
    progress: Progress,
    /// Instant at which a host was last called for its deadline, and number of calls since without time passing.
    calls: (Instant, u32),
}

/// Hosts that something has happened to, until they are asked for.
#[derive(Clone, Debug)]
struct Drained {
    hosts: Vec<usize>,
    is_listed: Vec<bool>,
}

/// Tells a host that its own link has refused a packet, if there is a message for the reason.
#[cold]
fn tell_of_refusal(host: &mut impl EndSystem, fabric: &mut Fabric, refusal: Refusal) {
    let interface = refusal.interface;
    if let Some(mut report) = fabric.discard_at_sender(refusal) {
        host.handle_packet(fabric.now(), interface, &mut report);
    }
}

/// Greatest number of times that a host may ask to be called at one instant before it is taken to be stuck.
const CALLS_MAX: u32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// The hosts have not been drained for the first time.
    AtStart,
    Running,
}

impl<H: EndSystem> Network<H> {
    /// Puts hosts into a graph, whose changes and routes hold. There must be one for each of
    /// [`NetworkGraph::hosts`], in that order.
    ///
    /// # Panics
    /// If there are more hosts or fewer than the graph has.
    pub fn new(graph: NetworkGraph, seed: Seed, hosts: Vec<H>) -> Self {
        let planned = Planned::new(&graph);
        Self::with_source(graph, seed, hosts, planned)
    }
}

impl<H: EndSystem, S: Changeable> Network<H, S> {
    /// Changes a direction of a link at `at`, or at once if that is past. The change is an event like those that were
    /// [declared](crate::NetworkBuilder::change): it comes before all else that is still to happen at its instant.
    pub fn change(&mut self, at: Instant, direction: DirectionId, change: Change) {
        let at = at.max(self.now());
        self.source.add_change(&self.fabric.graph, at, direction, change);
        self.fabric.kernel.schedule(Slots::SOURCE, self.source.next_change());
    }
}

impl<H: EndSystem, S: Source> Network<H, S> {
    /// Variant of [`Network::new`] with changes and routes from elsewhere; those of the plan do not count.
    ///
    /// # Panics
    /// If there are more hosts or fewer than the plan has.
    pub fn with_source(graph: NetworkGraph, seed: Seed, hosts: Vec<H>, mut source: S) -> Self {
        assert_eq!(hosts.len(), graph.hosts.len(), "one host for each that was declared");
        let mut fabric = Fabric::new(graph, seed);
        fabric.start(&mut source);
        Self {
            fabric,
            source,
            drained: Drained { hosts: Vec::new(), is_listed: vec![false; hosts.len()] },
            hosts,
            sampler: Sampler::default(),
            progress: Progress::AtStart,
            calls: (Instant::START, 0),
        }
    }

    /// Runs up to and including `end`, as fast as it can.
    pub fn run_until(&mut self, end: Instant) {
        self.start();
        while self.step(end) {}
    }

    /// Runs up to and including `end`, but for no more than so many events. Returns whether it came to the end; if
    /// not, the same call goes on where this one stopped.
    pub fn run_at_most(&mut self, events: u64, end: Instant) -> bool {
        self.start();
        (0..events).any(|_| !self.step(end))
    }

    /// Runs until nothing will ever happen again, or until after `limit` events. Returns whether it came to
    /// rest.
    pub fn run_to_rest(&mut self, limit: u64) -> bool {
        self.start();
        let last = self.fabric.kernel.events().saturating_add(limit);
        while let Some(time) = self.next_event() {
            if self.fabric.kernel.events() >= last {
                return false;
            }
            self.step(time);
        }
        true
    }

    fn start(&mut self) {
        if self.progress == Progress::AtStart {
            self.progress = Progress::Running;
            for host in 0..self.hosts.len() {
                self.drain(host);
            }
        }
    }

    /// Lets the next event up to `end` happen; `false` if there is none.
    #[inline]
    fn step(&mut self, end: Instant) -> bool {
        let Some(slot) = self.fabric.kernel.advance(end) else { return false };
        match self.fabric.slots.component(slot) {
            Component::Direction(index) => {
                if let Some(Delivery { host, interface, parcel }) =
                    self.fabric.run_direction(index, &mut self.source)
                {
                    let now = self.fabric.now();
                    if self.fabric.packets.is_observed() {
                        self.note_received(host, parcel);
                    }
                    self.hosts[host].handle_packet(now, interface, self.fabric.unpack(parcel));
                    self.fabric.packets.remove(parcel.packet());
                    self.drain(host);
                }
            }
            Component::Host(host) => {
                self.fabric.kernel.record(slot, 0);
                self.count_call(host);
                self.hosts[host].handle_deadline(self.fabric.now());
                self.drain(host);
            }
            Component::Outside => self.fabric.let_in(&mut self.source),
            Component::Sampler => {
                let next = self.sampler.run(self.fabric.now(), &mut self.fabric.directions);
                self.fabric.kernel.schedule(slot, next);
            }
            Component::Source => self.fabric.apply_changes(&mut self.source),
        }
        true
    }

    /// Tells observers that a packet has come to a host, and the host what its journey took.
    #[inline(never)]
    fn note_received(&mut self, host: usize, parcel: Parcel) {
        let (now, node) = (self.fabric.now(), self.fabric.graph.hosts[host]);
        if let Some(journey) = self.fabric.packets.note_received(now, parcel, node) {
            self.hosts[host].note_journey(journey);
        }
    }

    /// # Panics
    /// If hosts are called for ever while time stands still: a run that hangs would say nothing.
    fn count_call(&mut self, host: usize) {
        let now = self.fabric.now();
        let calls = if self.calls.0 == now { self.calls.1 + 1 } else { 0 };
        self.calls = (now, calls);
        assert!(
            calls < CALLS_MAX,
            "`{}` wants to be called at {now} again and again",
            self.fabric.graph.node_name(self.fabric.graph.hosts[host])
        );
    }

    /// Sends what a host has to send and notes when it wants to be called.
    #[inline]
    fn drain(&mut self, host: usize) {
        let now = self.fabric.now();
        if !std::mem::replace(&mut self.drained.is_listed[host], true) {
            self.drained.hosts.push(host);
        }
        let (drained, fabric, source) = (&mut self.hosts[host], &mut self.fabric, &mut self.source);
        while let Some(interface) = drained.poll_transmit(now, fabric.packets.vacant()) {
            debug_assert_eq!(
                fabric.graph.node_of(interface),
                fabric.graph.hosts[host],
                "a host sends by an interface of its own"
            );
            let sent = fabric.packets.take_vacant();
            if let Err(refusal) = fabric.send(interface, sent, source) {
                tell_of_refusal(drained, fabric, refusal);
            }
        }
        let deadline = drained.deadline().map_or(Instant::FAR_FUTURE, |deadline| deadline.max(now));
        fabric.kernel.schedule(fabric.slots.host(host), deadline);
    }

    /// Lets `command` act on a host at the present, and sends what comes of it.
    ///
    /// # Panics
    /// If `node` is no host.
    pub fn command<R>(&mut self, node: NodeId, command: impl FnOnce(&mut H, Instant) -> R) -> R {
        let host = self.host_index(node);
        let outcome = command(&mut self.hosts[host], self.fabric.now());
        if self.progress == Progress::Running {
            self.drain(host);
        }
        outcome
    }

    /// A host that something has happened to since it was last given here: a packet, a deadline, a command. Whoever
    /// stands above hosts need not look at all of them.
    pub fn next_drained_host(&mut self) -> Option<NodeId> {
        let host = self.drained.hosts.pop()?;
        self.drained.is_listed[host] = false;
        Some(self.fabric.graph.hosts[host])
    }

    fn host_index(&self, node: NodeId) -> usize {
        match self.fabric.graph.nodes[node.index()].kind {
            NodeKind::Host(host) => host,
            NodeKind::Outside | NodeKind::Repeater | NodeKind::Router => {
                panic!("`{}` is no host", self.fabric.graph.node_name(node))
            }
        }
    }

    /// A host.
    ///
    /// # Panics
    /// If `node` is no host.
    pub fn host(&self, node: NodeId) -> &H {
        &self.hosts[self.host_index(node)]
    }

    /// A host whose records are to be taken. What it has to send is not asked for: [`Self::command`] has it act.
    ///
    /// # Panics
    /// If `node` is no host.
    pub fn host_mut(&mut self, node: NodeId) -> &mut H {
        let host = self.host_index(node);
        &mut self.hosts[host]
    }

    /// All hosts, in the order of [`NetworkGraph::hosts`].
    pub fn hosts(&self) -> &[H] {
        &self.hosts
    }

    /// The hosts, in the order of [`NetworkGraph::hosts`], once all is over.
    pub fn into_hosts(self) -> Vec<H> {
        self.hosts
    }

    /// Present instant of the run.
    pub fn now(&self) -> Instant {
        self.fabric.now()
    }

    /// Instant of the next event, if there is one. At the start of a run the hosts have not been asked yet.
    pub fn next_event(&mut self) -> Option<Instant> {
        match self.progress {
            Progress::AtStart => Some(self.now()),
            Progress::Running => self.fabric.kernel.next_event(),
        }
    }

    /// Variant of [`next_event`](Self::next_event) for whoever waits for what comes to outside nodes. Nothing does
    /// before this instant, and nothing changes, unless a packet comes from there: what happens within the network may
    /// be run when this is due. It is at most `most` later than the next event, and no later if that matters.
    pub fn next_outside(&mut self, most: Duration) -> Option<Instant> {
        match self.progress {
            Progress::AtStart => Some(self.now()),
            Progress::Running => self.fabric.next_outside(most),
        }
    }

    /// Time after which a packet that comes from outside leaves at the earliest, by the last link before outside nodes.
    /// It is zero if that is not known.
    pub fn quiet(&self) -> Duration {
        self.fabric.quiet()
    }

    /// Number of events that have happened: arrivals, deadlines, changes and samples.
    pub fn events(&self) -> u64 {
        self.fabric.kernel.events()
    }

    /// Number of times that a packet has come to the end of a link, the lost ones included.
    pub fn packet_hops(&self) -> u64 {
        self.fabric.packet_hops
    }

    /// Number of packets on the links.
    pub fn packets_under_way(&self) -> usize {
        self.fabric.packets.len()
    }

    /// The digest of the run so far.
    pub fn digest(&self) -> RunDigest {
        self.fabric.kernel.digest()
    }

    /// Plan of the network.
    pub fn graph(&self) -> &NetworkGraph {
        &self.fabric.graph
    }

    /// Source of changes and next hops.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Variant of [`source`](Self::source) that gives it mutably, for what it records to be taken.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Tells the source something between two events. What it does to links counts as done at the present.
    pub fn tell_source(&mut self, tell: impl FnOnce(&mut S, &mut Links<'_>)) {
        let Self { fabric, source, .. } = self;
        tell(source, &mut fabric.links());
        fabric.kernel.schedule(Slots::SOURCE, source.next_change());
    }

    /// A direction's counters.
    pub fn counters(&self, direction: DirectionId) -> &DirectionCounters {
        &self.fabric.directions[direction.index()].counters
    }

    /// Statistics of a direction's queue up to now.
    pub fn queue_statistics(&mut self, direction: DirectionId) -> QueueStatistics {
        let now = self.now();
        self.fabric.directions[direction.index()].queue_statistics(now)
    }

    /// Time for which packets of a direction were being sent up to now since its statistics were started, whether by
    /// its own transmitter or by one that others share; no longer than that time.
    pub fn busy(&mut self, direction: DirectionId) -> Duration {
        let now = self.now();
        let Fabric { directions, shared_ports, .. } = &mut self.fabric;
        let direction = &mut directions[direction.index()];
        let shared = direction.shared_port().map(|port| &shared_ports[port.index()]);
        direction.busy(now, shared)
    }

    /// Rate, delay and loss that a direction has at present.
    pub fn carriage_terms(&self, direction: DirectionId) -> CarriageTerms {
        self.fabric.directions[direction.index()].terms_at(self.now())
    }

    /// Statistics of a direction's queue since this was last asked, or since they were started. It changes nothing of
    /// those since the start.
    pub fn end_queue_window(&mut self, direction: DirectionId) -> QueueStatistics {
        let now = self.now();
        self.fabric.directions[direction.index()].end_queue_window(now)
    }

    /// Statistics of a shared transmitter up to now.
    pub fn shared_port(&mut self, port: SharedPortId) -> SharedPortStatistics {
        let now = self.now();
        self.fabric.shared_ports[port.index()].statistics(now)
    }

    /// As [`Self::shared_port`], but how full the queue was since this was last asked, or since its statistics were
    /// started. It changes nothing of them.
    pub fn end_shared_queue_window(&mut self, port: SharedPortId) -> SharedPortStatistics {
        let now = self.now();
        self.fabric.shared_ports[port.index()].end_queue_window(now)
    }

    /// Starts all counters and queue statistics anew, as at the end of a warm-up. What is on the links at that
    /// moment will be counted as carried without having been offered.
    pub fn restart_statistics(&mut self) {
        let now = self.now();
        let Fabric { directions, shared_ports, .. } = &mut self.fabric;
        for direction in directions {
            let shared = direction.shared_port().map(|port| &shared_ports[port.index()]);
            direction.restart_statistics(now, shared);
        }
        for port in shared_ports {
            port.restart_statistics(now);
        }
        if self.fabric.packets.is_observed()
            && let Some(pairs) = &mut self.fabric.packets.observers_mut().host_pairs
        {
            pairs.restart(now);
        }
    }

    /// Counts the packets that hosts send to each other from now on, with their delays.
    pub fn count_host_pairs(&mut self) {
        let now = self.now();
        self.fabric.packets.observers_mut().host_pairs = Some(HostPairs::new(now));
    }

    /// Counts and delays of the packets of each host that sent to another, in the order of hosts: if they were [asked
    /// for](Self::count_host_pairs).
    pub fn host_pairs(&self) -> &[((NodeId, NodeId), HostPair)] {
        let pairs = self.fabric.packets.observers().and_then(|observers| observers.host_pairs.as_ref());
        pairs.map_or(&[], HostPairs::all)
    }

    /// Records each packet that is dropped from now on.
    pub fn record_drops(&mut self) {
        self.fabric.packets.observers_mut().drops.get_or_insert_default();
    }

    /// Takes the drops that were [recorded](Self::record_drops) since they were last taken, in the order in which they
    /// happened.
    pub fn take_drops(&mut self) -> Vec<DroppedPacket> {
        // Nobody is observed for that alone: without observers there is nothing to take.
        if !self.fabric.packets.is_observed() {
            return Vec::new();
        }
        self.fabric.packets.observers_mut().drops.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Tells hosts, with each packet that is sent from now on, [what its journey took](EndSystem::note_journey).
    pub fn watch_journeys(&mut self) {
        self.fabric.packets.observers_mut().journeys.get_or_insert_default();
        self.fabric.directions.iter_mut().for_each(|direction| direction.ask(Asked::JOURNEYS));
    }

    /// Watches ways from now on: [`Self::take_way_changes`] tells when nothing gets through any more.
    pub fn watch_ways(&mut self, ways: Vec<Way>) {
        self.fabric.watched_ways = Some(Box::new(WatchedWays::new(ways)));
        self.fabric.look_at_ways(&mut self.source);
    }

    /// Takes what has happened to the [watched](Self::watch_ways) ways since this was last asked, in the order of time.
    /// A way that carries nothing at first has a change at that instant.
    pub fn take_way_changes(&mut self) -> Vec<WayChange> {
        self.fabric.watched_ways.as_mut().map_or_else(Vec::new, |watched| watched.take_changes())
    }

    /// Switches the recording of a queue's length on, from now on.
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn probe_queue(&mut self, direction: DirectionId, sampling: Sampling) {
        let now = self.now();
        self.fabric.directions[direction.index()].set_queue_probe(QueueProbe::new(sampling));
        if let Sampling::Every(interval) = sampling {
            let next = self.sampler.add(direction, interval, now);
            self.fabric.kernel.schedule(self.fabric.slots.sampler(), next);
        }
    }

    /// Record of a queue's length up to now, if one was kept.
    pub fn queue_probe(&mut self, direction: DirectionId) -> Option<&QueueProbe> {
        let now = self.now();
        self.fabric.directions[direction.index()].queue_probe(now)
    }

    /// Takes what was recorded of a queue's length since it was last taken, but for the latest sample, which is not
    /// settled. It changes nothing of what will be recorded.
    pub fn take_queue_samples(&mut self, direction: DirectionId) -> Vec<QueueSample> {
        self.fabric.directions[direction.index()].take_queue_samples()
    }

    /// Has a packet come from outside: an IP packet, or over a [link of frames](crate::NetworkBuilder::carry_frames) a
    /// frame, that an outside node sends from `interface` at `at`, which may be the present. It comes after all else
    /// that happens at that instant; of one instant, packets come in the order in which they were injected. One that
    /// the node's own link cannot carry for its length is answered with ICMP, as a host's is; one to nobody's address
    /// is counted as unreachable. A frame goes to the other end, or is dropped.
    ///
    /// # Errors
    /// If the instant is over, the interface is not one of an outside node, or the bytes are no IP packet and no frame:
    /// nothing has happened then.
    pub fn inject(
        &mut self,
        at: Instant,
        interface: InterfaceId,
        packet: impl Into<Packet>,
    ) -> Result<(), InjectError> {
        self.fabric.announce(at, interface, packet.into())
    }

    /// The next packet that has come to an outside node, in the order of time. They are kept until they are asked for.
    pub fn poll_outside(&mut self) -> Option<OutsidePacket> {
        self.fabric.outside.poll()
    }

    /// Captures directions into one pcapng file, from now on: every packet as its sender offers it to the
    /// link, with a comment on what becomes of it. An interface of the file is a direction, named by its
    /// path.
    pub fn capture(&mut self, directions: &[DirectionId]) -> CaptureId {
        let graph = &self.fabric.graph;
        let named = directions.iter().map(|&direction| {
            let is_of_frames = graph.carries_frames(direction.sender());
            let link_type = if is_of_frames { CapturedKind::Ethernet } else { CapturedKind::Ip };
            (direction, link_type, graph.direction_path(direction))
        });
        let capture = self.fabric.packets.observers_mut().captures.add(named);
        for direction in directions {
            self.fabric.directions[direction.index()].ask(Asked::CAPTURES);
        }
        capture
    }

    /// The part of a capture's file that was written since it was last asked for.
    pub fn take_capture(&mut self, capture: CaptureId) -> Vec<u8> {
        self.fabric.packets.observers_mut().captures.take(capture)
    }
}
