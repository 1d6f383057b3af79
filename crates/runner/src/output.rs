//! Results of a run.

use slantpath_base::Duration;
use slantpath_results::{Column, Table, Value};

/// Declares the tables that a run can give, in alphabetical order of their names.
macro_rules! tables {
    ($( $(#[doc = $doc:literal])+ $Variant:ident = $name:literal keyed by $keys:expr, )+) => {
        /// A table that a run can give. Every table of a run is made as one of these.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum TableKind {
            $( $(#[doc = $doc])+ $Variant, )+
        }

        /// Names of all tables that a run can give.
        pub const TABLES: &[&str] = &[$($name),+];

        impl TableKind {
            const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// Name of the table.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Variant => $name, )+ }
            }

            /// The columns that tell its rows apart within a run, if they do: then a row of one run is the same thing
            /// as a row of another, and there are means.
            pub(crate) const fn keys(self) -> &'static [&'static str] {
                match self { $( Self::$Variant => &$keys, )+ }
            }
        }
    };
}

tables! {
    /// The messages of a stream that were given up by a policy.
    Abandonments = "abandonments" keyed by ["flow", "stream", "policy"],
    /// A look of a terminal at what it has to send.
    Access = "access" keyed by [],
    /// An antenna under a sky.
    Antennas = "antennas" keyed by ["link", "site"],
    /// Something that an end of an association was told to do.
    AssociationCommands = "association_commands" keyed by [],
    /// An end of an association that carries signalling, in an interval.
    AssociationIntervals = "association_intervals" keyed by [],
    /// A sample of a path of an association that carries signalling.
    AssociationPaths = "association_paths" keyed by [],
    /// A bin of the histogram of a flow's delays.
    DelayBins = "delay_bins" keyed by [],
    /// The delays of a flow, counted in a histogram.
    Delays = "delays" keyed by ["flow"],
    /// A flow in an interval.
    FlowIntervals = "flow_intervals" keyed by [],
    /// A flow.
    Flows = "flows" keyed by ["flow"],
    /// A handover of an antenna.
    Handovers = "handovers" keyed by [],
    /// Two hosts, of which one has sent packets to the other.
    HostPairs = "host_pairs" keyed by ["from", "to"],
    /// A host.
    Hosts = "hosts" keyed by ["host"],
    /// A direction of a link between satellites.
    InterSatelliteLinks = "inter_satellite_links" keyed by ["link", "direction"],
    /// A direction of a link in an interval.
    LinkIntervals = "link_intervals" keyed by [],
    /// A direction of a link.
    Links = "links" keyed by ["link", "direction"],
    /// A message.
    Messages = "messages" keyed by [],
    /// A signalling point.
    Mtp3 = "mtp3" keyed by ["point"],
    /// A destination at a signalling point.
    Mtp3Destinations = "mtp3_destinations" keyed by ["point", "destination"],
    /// A link set at a signalling point.
    Mtp3LinkSets = "mtp3_link_sets" keyed by ["point", "adjacent"],
    /// A signalling link at a point.
    Mtp3Links = "mtp3_links" keyed by ["point", "link"],
    /// A route at a signalling point.
    Mtp3Routes = "mtp3_routes" keyed by ["point", "destination", "via"],
    /// A sample of a path of a flow.
    Paths = "paths" keyed by [],
    /// A sample of a queue.
    Queues = "queues" keyed by [],
    /// The requests of a table of sessions.
    RequestSources = "request_sources" keyed by ["sessions"],
    /// A request of a session.
    Requests = "requests" keyed by [],
    /// A signalling point with SCCP.
    Sccp = "sccp" keyed by ["point"],
    /// The sessions of a table.
    SessionSources = "session_sources" keyed by ["sessions"],
    /// A session.
    Sessions = "sessions" keyed by [],
    /// A transmitter of a satellite that antennas share, in an interval.
    SharedDownlinkIntervals = "shared_downlink_intervals" keyed by [],
    /// A transmitter of a satellite that antennas share.
    SharedDownlinks = "shared_downlinks" keyed by [],
    /// An end of an association of M3UA.
    SignallingAssociations = "signalling_associations" keyed by ["association", "at"],
    /// A reason for which messages went no further.
    SignallingDiscards = "signalling_discards" keyed by [],
    /// A reason for which a gateway or an ASP dropped messages.
    SignallingDrops = "signalling_drops" keyed by [],
    /// Something that management of a point heard.
    SignallingEvents = "signalling_events" keyed by [],
    /// An end of a signalling link in an interval.
    SignallingLinkIntervals = "signalling_link_intervals" keyed by [],
    /// An end of a signalling link.
    SignallingLinks = "signalling_links" keyed by ["link", "point"],
    /// A link of a load.
    SignallingLoad = "signalling_load" keyed by ["load", "link"],
    /// A gateway or an ASP.
    SignallingProcesses = "signalling_processes" keyed by ["process"],
    /// Something that a gateway or an ASP told of its associations and application servers.
    SignallingServerEvents = "signalling_server_events" keyed by [],
    /// An application server.
    SignallingServers = "signalling_servers" keyed by ["application_server", "gateway"],
    /// A path of a flow over satellites, from when on.
    SkyPaths = "sky_paths" keyed by [],
    /// A step of a flow's failover.
    Timelines = "timelines" keyed by [],
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
            (Value::Text(flow), Value::Text(reason)) => {
                let at = match ended.at(row) {
                    Value::F64(seconds) => Some(Duration::from_secs_f64(seconds)),
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
