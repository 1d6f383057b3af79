//! Runs whose attached nodes are real: packets come from them and go to them, at the pace of the real clock.

use std::io;
use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration, Instant};
use slantpath_net::{CarriageTerms, InjectError, InterfaceId, LinkEnd as _, NetworkGraph, Routes};
use slantpath_reader::Diagnostics;
use slantpath_scenario::build::PlannedLink;
use slantpath_scenario::network::leaving_for;
use slantpath_scenario::schema::NodeKind;
use slantpath_wire::Packet;

use super::tables::script::ScriptEvent;
use super::{Drive, Pace, RunError, RunOptions, run_at_pace};
use crate::observer::{Collector, Observer};
use crate::output::RunOutput;
use crate::scenario::Scenario;
use crate::spooled::{RunRecords, TransientSpool};
use crate::sweep::{Store, SweepError};

/// An attached node, as the network knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Name of the node.
    pub node: String,
    /// Interfaces of the node, in the order of their links.
    pub interfaces: Vec<AttachedInterface>,
    /// Addresses of all other nodes that it reaches, with their names, and the place of the interface that leads there.
    pub reaches: Vec<(IpAddr, String, usize)>,
}

/// An interface of an attached node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedInterface {
    /// Number of the interface in the network.
    pub id: InterfaceId,
    /// Name of its link.
    pub link: String,
    /// Addresses of the interface.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet of its link.
    pub mtu: DataSize,
    /// Addresses at the other end.
    pub other_end: Vec<IpAddr>,
    /// True if the other end is attached as well: the link carries frames of Ethernet then, else IP.
    pub carries_frames: bool,
    /// Rate of its link, away from the node.
    pub rate: DataRate,
}

/// Time between two stretches of a run: packets come in, and the next stretch is measured.
pub struct Turn<'a> {
    /// Present instant of the network.
    pub now: Instant,
    /// Instant at which the network has to go on, if nothing comes before: something may come to an attached node then,
    /// or change.
    pub next: Option<Instant>,
    /// Time within which nothing of a packet that comes reaches an attached node: it may be given so much later.
    pub quiet: Duration,
    pub(crate) inside: &'a mut dyn Inside,
}

/// Network as a turn reaches it.
pub(crate) trait Inside {
    fn inject(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> Result<(), InjectError>;

    fn change(&mut self, at: Instant, asked: &AskedChange<'_>) -> Result<Vec<ScriptEvent>, Diagnostics>;

    fn next_handover(&mut self) -> Option<(Instant, String)>;

    fn carriage_terms(&self, interface: InterfaceId) -> CarriageTerms;
}

/// An antenna that has taken another satellite, or lost the one that it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkyHandover {
    /// Instant at which it did.
    pub at: Instant,
    /// Name of the antenna.
    pub antenna: String,
    /// Satellite that it had.
    pub from: Option<String>,
    /// Satellite that it has.
    pub to: Option<String>,
    /// Reason in words.
    pub cause: &'static str,
}

/// Work that needs nothing of the network.
pub type Work = Box<dyn FnOnce() + Send>;

/// Change of links that somebody asks for while the network runs.
#[derive(Clone, Copy, Debug)]
pub enum AskedChange<'a> {
    /// Settings, each a path like `links.satellite.loss` and its value.
    Settings(&'a [(String, String)]),
    /// An event of `[[script]]` without `at`: its keys, each with its value as TOML.
    Event(&'a [(String, String)]),
}

impl Turn<'_> {
    /// Has an IP packet come from an interface of an attached node, or a frame where its link carries those. One that
    /// comes before the network's present comes at the present.
    ///
    /// # Errors
    /// If it is no IP packet, or no frame.
    pub fn inject(
        &mut self,
        at: Instant,
        interface: InterfaceId,
        packet: impl Into<Packet>,
    ) -> Result<(), InjectError> {
        self.inside.inject(at.max(self.now), interface, packet.into())
    }

    /// Instant at which an antenna gains or loses a satellite next, as far as the sky is planned, and its name. Those
    /// of attached nodes count; if they have none, all.
    pub fn next_handover(&mut self) -> Option<(Instant, String)> {
        self.inside.next_handover()
    }

    /// Rate, delay and loss that a packet has which leaves an attached node by this interface at present.
    pub fn carriage_terms(&self, interface: InterfaceId) -> CarriageTerms {
        self.inside.carriage_terms(interface)
    }

    /// Changes links as an event of the script at `at` does: before all else of that instant. If that instant has
    /// begun, it is the next. Gives the events that this is, as the table `script` will have them.
    ///
    /// # Errors
    /// If a script could not do it: nothing has changed then.
    pub fn change(&mut self, at: Instant, asked: &AskedChange<'_>) -> Result<Vec<ScriptEvent>, Diagnostics> {
        self.inside.change(at.max(self.now + Duration::from_nanos(1)), asked)
    }
}

/// Counts of what passed an interface of an attached node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// IP packets, or frames, that came from the node.
    pub packets_in: u64,
    /// Bytes of them, of frames those that they carry.
    pub bytes_in: u64,
    /// IP packets, or frames, that went to the node.
    pub packets_out: u64,
    /// Bytes of them, of frames those that they carry.
    pub bytes_out: u64,
    /// Packets that went later than allowed.
    pub late: u64,
    /// Packets that came when the network had gone on: they count from its present.
    pub overtaken: u64,
    /// Frames to all machines of a link.
    pub multicast: u64,
    /// Frames that are neither IP nor questions for neighbours, or whose packet is broken.
    pub unreadable: u64,
    /// Packets to a station behind an Ethernet port that has not shown its MAC address.
    pub unresolved: u64,
    /// Packets for which the interface had no room.
    pub refused: u64,
    /// Frames that were dropped before they were read.
    pub lost: u64,
}

/// Report of an interface at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceReport {
    /// Counts of what passed.
    pub counts: InterfaceCounts,
    /// Lateness of what went to the node, if anything did: median, 99 %, 99.9 % and greatest.
    pub lateness: Option<[Duration; 4]>,
}

/// Whatever stands outside of a network, and sets its pace.
pub trait Outside {
    /// Tells whether it may change links. Tables that tell what changes do to traffic are given then.
    fn changes_links(&self) -> bool {
        false
    }

    /// Is told once, before all else, what it stands for.
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()>;

    /// Waits until the network may go on, and gives the packets that have come. Gives the instant up to which it may
    /// run: nothing will come before that any more. `None` if the run is over.
    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>>;

    /// A packet has come to an attached node at `at`, by this interface: an IP packet or a frame. Checksums that its
    /// sender left out are left out.
    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()>;

    /// Has work done beside the network, which goes on meanwhile. Who is in no hurry does it at once.
    fn beside(&mut self, work: Work) {
        work();
    }

    /// Is told of handovers that have happened, in the order of time.
    fn handed_over(&mut self, _handovers: Vec<SkyHandover>) {}

    /// Is told why the run says nothing from an instant on.
    fn fail(&mut self, _at: Instant, _reason: String) {}

    /// Reports of all interfaces, in the order of [nodes](Attachment) and their interfaces, once the run is over.
    fn end(&mut self) -> io::Result<Vec<InterfaceReport>>;
}

/// Events after which packets that have come to attached nodes are handed out, at least.
const EVENTS_BETWEEN_DEPARTURES: u64 = 64;
/// Time by which events within the network may be run late, if nothing of them leaves it so soon.
pub(super) const EVENTS_LATE_MOST: Duration = Duration::from_millis(1);
/// Events between two collections of what has become final.
const EVENTS_BETWEEN_COLLECTIONS: u64 = 4_096;

/// Makes one run at the pace of what is outside: flows and sessions that end at attached nodes are left to them.
pub(crate) fn run_attached(
    scenario: &Scenario,
    options: &RunOptions,
    observer: &mut dyn Observer,
    outside: &mut dyn Outside,
) -> Result<RunOutput, RunError> {
    let pace = Pace { question: EVENTS_BETWEEN_DEPARTURES, collection: EVENTS_BETWEEN_COLLECTIONS };
    let output = run_at_pace(pace, scenario, options, observer, None, Drive::Outside(outside))?;
    Ok(output.expect("it is over when what is outside says so"))
}

/// Makes one run as [`run_attached`] does, and keeps what grows with its length in `store`.
pub fn run_attached_stored(
    scenario: &Scenario,
    options: &RunOptions,
    store: &Store,
    outside: &mut dyn Outside,
) -> Result<(RunOutput, RunRecords), SweepError> {
    let kept = store.keep("attached", |spool| {
        Ok::<_, SweepError>(Some(run_attached(scenario, options, spool, outside)?))
    })?;
    Ok(kept.expect("the run was made to its end"))
}

/// Makes one run as [`run_attached`] does, and holds in memory all that it gives.
///
/// # Errors
/// If the network cannot be made, or what is outside fails.
pub fn run_attached_collected(
    scenario: &Scenario,
    options: &RunOptions,
    outside: &mut dyn Outside,
) -> Result<RunOutput, RunError> {
    let mut collector = Collector::default();
    let output = run_attached(scenario, options, &mut collector, outside)?;
    Ok(collector.complete(output))
}

/// Makes one run as [`run_attached`] does, and gives only what does not grow with its length.
pub fn run_attached_without_records(
    scenario: &Scenario,
    options: &RunOptions,
    outside: &mut dyn Outside,
) -> Result<RunOutput, RunError> {
    let path = std::env::temp_dir().join(format!("slantpath-attached-{}", std::process::id()));
    run_attached(scenario, options, &mut TransientSpool::new(&path), outside)
}

/// The attached nodes of a scenario, in the order of names.
pub(super) fn attachments(
    scenario: &Scenario,
    links: &[PlannedLink],
    graph: &NetworkGraph,
) -> Vec<Attachment> {
    let mut routes = Routes::new(graph);
    let is_attached =
        |name: &str| scenario.nodes.find(name).is_some_and(|node| *node.kind == NodeKind::Attached);
    let attached = graph.nodes().filter(|node| is_attached(graph.node_name(*node)));
    let attachment = |node| {
        // What comes by further links of an antenna comes by its first: programs know no other.
        let own = graph.interfaces(node).iter().copied();
        let own: Vec<InterfaceId> = own.filter(|id| graph.receiving_interface(*id) == *id).collect();
        let interface = |id: &InterfaceId| AttachedInterface {
            id: *id,
            link: links[id.link().index()].name.clone(),
            addresses: graph.addresses(*id).to_vec(),
            mtu: DataSize::from_bytes(graph.direction(id.outbound()).mtu_bytes.into()),
            other_end: graph.addresses(id.peer()).to_vec(),
            carries_frames: graph.carries_frames(*id),
            rate: graph.direction(id.outbound()).rate,
        };
        let mut reaches = Vec::new();
        for other in graph.nodes().filter(|other| *other != node) {
            for address in graph.interfaces(other).iter().flat_map(|id| graph.addresses(*id)) {
                let leaving = leaving_for(graph, &mut routes, node, *address);
                let place = leaving.and_then(|leaving| own.iter().position(|id| *id == leaving));
                reaches.extend(place.map(|place| (*address, graph.node_name(other).to_owned(), place)));
            }
        }
        Attachment {
            node: graph.node_name(node).to_owned(),
            interfaces: own.iter().map(interface).collect(),
            reaches,
        }
    };
    attached.map(attachment).collect()
}
