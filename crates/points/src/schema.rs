//! `[signalling]`: signalling points of SS7, the links between them and the load on them.

pub use crate::link::schema::{
    Carrier, ErrorCorrection, M2pa, Mtp2, Proving, SignallingLink, T7FromChoice, TimerRanges,
};
pub use crate::load::schema::{Arrivals, LengthMix, Load, LoadRouting, LoadSelection, LoadStep};
pub use crate::point::processing::Processing;
pub use crate::point::sccp::{Sccp, UnitdataForm};
pub use crate::point::schema::{
    Congestion, FunctionChoice, NetworkIndicatorChoice, PeriodicLinkTest, Point, PointCodeFormatChoice,
    Restart, Spread, TransferRestricted,
};
pub use crate::point::timers::Mtp3Timers;
pub use crate::route::schema::{Route, RouteOnChoice, SharingChoice, Translation};
pub use crate::screening::schema::{Screening, ScreeningChoice, SignallingRate};
pub(crate) use crate::script::schema::Need;
pub use crate::script::schema::{SignallingAction, SignallingEvent};
pub use crate::server::schema::{
    ApplicationServer, Asp, Association, AssociationAdaptation, Gateway, RegistrationChoice,
    ServerTrafficMode,
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
        /// Rules of gateway screening for what comes to points.
        screening: Vec<Named<Screening>>;
        /// Rates of messages that points take.
        rates: Vec<Named<SignallingRate>>;
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
