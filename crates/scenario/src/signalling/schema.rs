//! `[signalling]`: signalling points of SS7, the links between them and the load on them.

pub use super::link::schema::{
    Carrier, ErrorCorrection, M2pa, Mtp2, Proving, SignallingLink, T7FromChoice, TimerRanges,
};
pub use super::load::schema::{Arrivals, LengthMix, Load, LoadRouting, LoadSelection, LoadStep};
pub use super::point::processing::Processing;
pub use super::point::sccp::{Sccp, UnitdataForm};
pub use super::point::schema::{
    Congestion, FunctionChoice, NetworkIndicatorChoice, PeriodicLinkTest, Point, PointCodeFormatChoice,
    Restart, Spread, TransferRestricted,
};
pub use super::point::timers::Mtp3Timers;
pub use super::route::schema::{Route, RouteOnChoice, SharingChoice, Translation};
pub(crate) use super::script::schema::Need;
pub use super::script::schema::{SignallingAction, SignallingEvent};
pub use super::server::schema::{
    ApplicationServer, Asp, Association, AssociationAdaptation, Gateway, ServerTrafficMode,
};

use slantpath_reader::{Named, Tables, section};

section! {
    /// A network of signalling points.
    pub struct Signalling<S> {
        /// Signalling points by name.
        points: Tables<Point<S>>;
        /// Links between two points each. All links between two points are one link set.
        links: Tables<SignallingLink<S>>;
        /// Routes to points that are not adjacent, or over others than the link set of an adjacent one.
        routes: Vec<Named<Route>>;
        /// Global title translations.
        translations: Vec<Named<Translation>>;
        /// Signalling gateways by name.
        gateways: Tables<Gateway<S>>;
        /// Application server processes.
        asps: Tables<Asp<S>>;
        /// Associations between gateways and ASPs.
        associations: Tables<Association<S>>;
        /// Application servers by name.
        application_servers: Tables<ApplicationServer>;
        /// Loads: messages from one point to others.
        load: Tables<Load<S>>;
        /// Events at links, points and ASPs while the scenario runs.
        script: Vec<Named<SignallingEvent>>;
    }
}
