//! Results of a run.

use slantpath_base::Duration;
use slantpath_results::{CellValue, Column, Table};

/// Declares the tables that a run can give, in alphabetical order of their names.
macro_rules! tables {
    ($( $(#[doc = $doc:literal])+ $Variant:ident = $name:literal keyed by $keys:expr, given $given:literal, )+) => {
        /// A table that a run can give. Every table of a run is made as one of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TableKind {
            $( $(#[doc = $doc])+ $Variant, )+
        }

        /// Names of all tables that a run can give.
        pub const TABLES: &[&str] = &[$($name),+];

        impl TableKind {
            /// All of them, in alphabetical order of their names.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// Name of the table.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Variant => $name, )+ }
            }

            /// Thing that a row stands for: the meaning of the kind.
            pub fn row(self) -> &'static str {
                match self { $( Self::$Variant => concat!($($doc),+).trim(), )+ }
            }

            /// Condition under which a run gives the table.
            pub const fn given(self) -> &'static str {
                match self { $( Self::$Variant => $given, )+ }
            }

            /// The columns that tell its rows apart within a run, if they do: then a row of one run is the same thing
            /// as a row of another, and there are means.
            pub const fn keys(self) -> &'static [&'static str] {
                match self { $( Self::$Variant => &$keys, )+ }
            }
        }
    };
}

tables! {
    /// The messages of a stream that were given up by a policy.
    Abandonments = "abandonments" keyed by ["flow", "stream", "policy"],
        given "for flows that may give messages up",
    /// A look of a terminal at what it has to send.
    Access = "access" keyed by [],
        given "with `probes.access`",
    /// An antenna under a sky.
    Antennas = "antennas" keyed by ["link", "site"],
        given "with `[sky]`",
    /// Something that an end of an association was told to do.
    AssociationCommands = "association_commands" keyed by [],
        given "for flows with a `script`",
    /// An end of an association that carries signalling, in an interval.
    AssociationIntervals = "association_intervals" keyed by [],
        given "with `probes.intervals`, for associations that carry signalling",
    /// A sample of a path of an association that carries signalling.
    AssociationPaths = "association_paths" keyed by [],
        given "with `probes.paths`, for associations that carry signalling",
    /// An interface of an attached node.
    AttachedInterfaces = "attached_interfaces" keyed by ["node", "link"],
        given "by `slantpath emulate`",
    /// A flow of datagrams.
    Datagrams = "datagrams" keyed by ["flow"],
        given "for flows over UDP and ICMP, if their messages are stamped",
    /// A bin of the histogram of a flow's delays.
    DelayBins = "delay_bins" keyed by [],
        given "with `probes.delays`",
    /// The delays of a flow, counted in a histogram.
    Delays = "delays" keyed by ["flow"],
        given "with `probes.delays`",
    /// A packet that was dropped.
    Drops = "drops" keyed by [],
        given "with `probes.drops`",
    /// A failover of a flow, or of an association that carries signalling: new messages go by another path, since the
    /// former one has not answered.
    Failovers = "failovers" keyed by [],
        given "for flows and signalling over SCTP to a host with several addresses",
    /// A flow in an interval.
    FlowIntervals = "flow_intervals" keyed by [],
        given "with `probes.intervals`",
    /// A flow.
    Flows = "flows" keyed by ["flow"],
        given "always",
    /// A handover of an antenna.
    Handovers = "handovers" keyed by [],
        given "with `[sky]`",
    /// Two hosts, of which one has sent packets to the other.
    HostPairs = "host_pairs" keyed by ["from", "to"],
        given "with `probes.host_pairs`",
    /// A path between two hosts of a flow, or of an association that carries signalling.
    HostPaths = "host_paths" keyed by ["from", "to", "path"],
        given "for flows and for signalling over SCTP, if links change: with `[[script]]`, `[sky]`, a `delay_trace`, \
               a `fade_trace` or `emulate --control`",
    /// A host.
    Hosts = "hosts" keyed by ["host"],
        given "always",
    /// A direction of a link between satellites.
    InterSatelliteLinks = "inter_satellite_links" keyed by ["link", "direction"],
        given "with `[sky]`",
    /// A direction of a link in an interval.
    LinkIntervals = "link_intervals" keyed by [],
        given "with `probes.intervals`",
    /// A direction of a link.
    Links = "links" keyed by ["link", "direction"],
        given "always",
    /// A message.
    Messages = "messages" keyed by [],
        given "with `probes.messages`",
    /// A signalling point.
    Mtp3 = "mtp3" keyed by ["point"],
        given "with `[signalling]`",
    /// A destination at a signalling point.
    Mtp3Destinations = "mtp3_destinations" keyed by ["point", "destination"],
        given "with `[signalling]`",
    /// A link set at a signalling point.
    Mtp3LinkSets = "mtp3_link_sets" keyed by ["point", "adjacent"],
        given "with `[signalling]`",
    /// A signalling link at a point.
    Mtp3Links = "mtp3_links" keyed by ["point", "link"],
        given "with `[signalling]`",
    /// A route at a signalling point.
    Mtp3Routes = "mtp3_routes" keyed by ["point", "destination", "via"],
        given "with `[signalling]`",
    /// An outage of a path between two hosts of a flow, or of an association that carries signalling.
    Outages = "outages" keyed by [],
        given "for flows and for signalling over SCTP, if links change: with `[[script]]`, `[sky]`, a `delay_trace`, \
               a `fade_trace` or `emulate --control`",
    /// A sample of a path of a flow.
    Paths = "paths" keyed by [],
        given "with `probes.paths`",
    /// A sample of a queue.
    Queues = "queues" keyed by [],
        given "with `probes.queues`",
    /// The requests of a table of sessions.
    RequestSources = "request_sources" keyed by ["sessions"],
        given "for sessions that ask",
    /// A request of a session.
    Requests = "requests" keyed by [],
        given "for sessions that ask",
    /// A flow of echo requests.
    RoundTrips = "round_trips" keyed by ["flow"],
        given "for flows over ICMP, if their messages are stamped",
    /// A signalling point with SCCP.
    Sccp = "sccp" keyed by ["point"],
        given "with `[signalling]`",
    /// An event of a script.
    Script = "script" keyed by [],
        given "with `[[script]]`, of flows and of signalling too, and of changes while a network runs",
    /// The sessions of a table.
    SessionSources = "session_sources" keyed by ["sessions"],
        given "with `[sessions]`",
    /// A session.
    Sessions = "sessions" keyed by [],
        given "with `[sessions]`",
    /// A transmitter of a satellite that antennas share, in an interval.
    SharedDownlinkIntervals = "shared_downlink_intervals" keyed by [],
        given "with `probes.intervals`, for transmitters that antennas share",
    /// A transmitter of a satellite that antennas share.
    SharedDownlinks = "shared_downlinks" keyed by [],
        given "with `[sky]`",
    /// An end of an association of M3UA.
    SignallingAssociations = "signalling_associations" keyed by ["association", "at"],
        given "with associations of M3UA",
    /// A reason for which messages went no further.
    SignallingDiscards = "signalling_discards" keyed by [],
        given "with `[signalling]`",
    /// A reason for which a gateway or an ASP dropped messages.
    SignallingDrops = "signalling_drops" keyed by [],
        given "with associations of M3UA",
    /// Something that management of a point heard.
    SignallingEvents = "signalling_events" keyed by [],
        given "with `[signalling]`",
    /// Traffic of a signalling link, or of an ASP, that goes by another one, since the former carries it no longer.
    SignallingFailovers = "signalling_failovers" keyed by [],
        given "with `[signalling]`",
    /// An end of a signalling link in an interval.
    SignallingLinkIntervals = "signalling_link_intervals" keyed by [],
        given "with `probes.intervals`, for signalling links",
    /// An end of a signalling link.
    SignallingLinks = "signalling_links" keyed by ["link", "point"],
        given "with `[signalling]`",
    /// A link of a load.
    SignallingLoad = "signalling_load" keyed by ["load", "link"],
        given "with `[signalling]`",
    /// A gateway or an ASP.
    SignallingProcesses = "signalling_processes" keyed by ["process"],
        given "with associations of M3UA",
    /// A screening rule or a rate of a point.
    SignallingScreening = "signalling_screening" keyed by ["point", "rule"],
        given "with `[[signalling.screening]]` or `[[signalling.rates]]`",
    /// Something that a gateway or an ASP told of its associations and application servers.
    SignallingServerEvents = "signalling_server_events" keyed by [],
        given "with associations of M3UA",
    /// An end of a signalling link, of an association to an ASP, or of the paths below either, with its failovers.
    SignallingService = "signalling_service" keyed by ["point", "kind", "name"],
        given "with `[signalling]`",
    /// An application server.
    SignallingServers = "signalling_servers" keyed by ["application_server", "gateway"],
        given "with associations of M3UA",
    /// A contact between two nodes of a sky.
    SkyContacts = "sky_contacts" keyed by [],
        given "with `probes.sky`; of an emulation as far as its sky was planned at its start",
    /// A satellite or site of a sky.
    SkyNodes = "sky_nodes" keyed by ["node"],
        given "with `probes.sky`; of an emulation as far as its sky was planned at its start",
    /// A path of a flow over satellites, from when on.
    SkyPaths = "sky_paths" keyed by [],
        given "with `[sky]`",
    /// A sample of where a satellite, or a site that travels, is.
    SkyPositions = "sky_positions" keyed by [],
        given "with `probes.sky`; of an emulation as far as its sky was planned at its start",
    /// A step of a flow's failover.
    Timelines = "timelines" keyed by [],
        given "with `probes.timelines`",
}

impl TableKind {
    /// The table of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// A table of this kind.
    ///
    /// # Panics
    /// If the columns differ in length or two have one name.
    pub(crate) fn table(self, columns: impl IntoIterator<Item = Column>) -> Table {
        Table::new(self.name(), columns).expect("columns of one length and different names")
    }
}

/// Results of one run. Equal runs have equal outputs, byte for byte, on any machine and any number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutput {
    /// The seed that all random streams derived from.
    pub seed: u64,
    /// The number of the replication.
    pub run: u64,
    /// A hash over every event of the run, in hexadecimal.
    pub digest: String,
    /// Events that happened.
    pub events: u64,
    /// Number of times that a packet came to the end of a link.
    pub packet_hops: u64,
    /// Flows that failed, in the order of the flows.
    pub failures: Vec<FlowFailure>,
    /// Tables in alphabetical order: `flows`, `hosts` and `links` always, those of probes as the scenario asks for
    /// them, those of signalling if it has signalling points.
    pub tables: Vec<Table>,
    /// Captured links, in alphabetical order.
    pub captures: Vec<Capture>,
}

/// A flow that did not do what it was to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFailure {
    /// Name of the flow.
    pub flow: String,
    /// Reason for which it failed.
    pub reason: String,
    /// Time of the failure, from the start of the run.
    pub at: Option<Duration>,
}

/// The packets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Name of the link.
    pub link: String,
    /// A pcapng file.
    pub pcapng: Vec<u8>,
}

impl FlowFailure {
    /// Gives the failures that a table of flows tells of.
    pub(crate) fn all(tables: &[Table]) -> Vec<Self> {
        let flows = tables.iter().find(|table| table.name() == TableKind::Flows.name());
        let columns = ["flow", "failure", "ended_s"].map(|name| flows.and_then(|flows| flows.column(name)));
        let [Some(names), Some(reasons), Some(ended)] = columns else { return Vec::new() };
        let failure = |row| match (names.at(row), reasons.at(row)) {
            (CellValue::Text(flow), CellValue::Text(reason)) => {
                let at = match ended.at(row) {
                    CellValue::F64(seconds) => Some(Duration::from_secs_f64(seconds)),
                    _ => None,
                };
                Some(Self { flow: flow.to_owned(), reason: reason.to_owned(), at })
            }
            _ => None,
        };
        (0..names.len()).filter_map(failure).collect()
    }
}

impl RunOutput {
    /// Only the tables of these names, and no captures.
    pub(crate) fn select(self, names: &[String]) -> Self {
        let mut tables = self.tables;
        tables.retain(|table| names.iter().any(|name| name == table.name()));
        Self { tables, captures: Vec::new(), ..self }
    }

    /// The table of that name, if it was asked for.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}
