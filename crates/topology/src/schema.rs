//! The topology file, table by table. What stands here is what may stand in a file; [`mod@super::check`] says which
//! of it makes sense together.

pub use super::constellation::schema::{
    ArrangementName, ChecksumPolicy, ConstellationTable, Elements, InvalidSets, IslTable, LongestRange,
    Pattern, PayloadName, Perturbing, PresetShell, SatelliteSource, SeamName, Shell, ShellDetails, Slots,
};
pub use super::ground::schema::{
    AntennaTable, GroundTable, HandoverKind, MeasuredBy, RelayName, ReselectWhen, SiteTable,
};
pub use super::head::{
    CableTable, CableTime, Followed, MapTable, OutageOrFile, PathTable, Positions, RouteSelection,
    TopologyHead, ValidityTable,
};
pub use super::values::{CutOff, Date, PhasingMost, PhasingText, PresetName, RefreshText};

use slantpath_reader::{Model, Named, Part, Tables, Written, section};

section! {
    /// A Slantpath topology: satellites, sites and the questions about them. All that the answer depends on,
    /// but the files of elements, tracks and outages that it names.
    pub struct TopologyFile<S> {
        /// Name, epoch and span of the topology, and the sampling of its tables.
        topology: Part<TopologyHead<S>>;
        /// Sets of satellites by name.
        constellations: Tables<ConstellationTable<S>>;
        /// Places on the ground, at sea or in the air by name.
        sites: Tables<SiteTable<S>>;
        /// Rules by which antennas choose their satellites, where an antenna does not say otherwise.
        ground: Part<Model<GroundTable<Written>>>;
        /// The questions: how one site reaches another.
        paths: Tables<PathTable<S>>;
        /// Cables between sites.
        cables: Vec<Named<CableTable>>;
        /// Outages of nodes and links, from when to when.
        outages: Vec<Named<OutageOrFile>>;
        /// Times from their epoch for which element sets may be used.
        validity: Part<ValidityTable>;
        /// Instant and ground tracks that the map shows.
        map: Part<MapTable>;
    }
}
