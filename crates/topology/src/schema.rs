//! The topology file, table by table. What stands here is what may stand in a file; [`super::check`] says which
//! of it makes sense together.

pub use super::constellation::schema::{
    ArrangementName, ChecksumPolicy, ConstellationTable, Elements, InvalidSets, IslTable, LongestRange,
    Pattern, PayloadName, Perturbing, PresetShell, SatelliteSource, SeamName, Shell, ShellDetails, Slots,
};
pub use super::ground::schema::{
    AntennaTable, GroundTable, HandoverKind, MeasuredBy, RelayName, ReselectWhen, SiteTable,
};
pub use super::head::{
    CableTable, CableTime, Head, MapTable, Outage, PathTable, Positions, RouteSelection, ValidityTable,
};
pub use super::values::{CutOff, Date, PhasingMost, PhasingText, PresetName, RefreshText};

use slantpath_reader::{Named, Part, Tables, section};

section! {
    /// A Slantpath topology: satellites, sites and the questions about them. All that the answer depends on,
    /// but the files of elements, tracks and outages that it names.
    pub struct TopologyFile {
        /// What is asked, from when and for how long.
        topology: Part<Head>;
        /// Sets of satellites by name.
        constellations: Tables<ConstellationTable>;
        /// Places on the ground, at sea or in the air by name.
        sites: Tables<SiteTable>;
        /// How antennas choose their satellites, where an antenna does not say otherwise.
        ground: Part<GroundTable>;
        /// The questions: how one site reaches another.
        paths: Tables<PathTable>;
        /// Cables between sites.
        cables: Vec<Named<CableTable>>;
        /// What is out of service, from when to when.
        outages: Vec<Named<Outage>>;
        /// How far from their epoch element sets may be used.
        validity: Part<ValidityTable>;
        /// What the map shows.
        map: Part<MapTable>;
    }
}
