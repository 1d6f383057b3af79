//! `[signalling]`: signalling points of SS7, the links between them and the load on them.

pub mod link;
pub mod load;
pub mod point;
pub mod route;
pub mod sccp;
pub mod script;
pub mod server;
pub mod timers;

pub use link::{Carrier, ErrorCorrection, M2pa, Mtp2, Proving, SignallingLink, TimerRanges};
pub use load::{Arrivals, LengthMix, Load, LoadRouting, LoadSelection};
pub use point::{Congestion, Format, Function, NetworkName, Point, Restart, TransferRestricted};
pub use route::{Route, RouteOn, Sharing, Translation};
pub use sccp::{Sccp, UnitdataForm};
pub(crate) use script::Need;
pub use script::{SignallingAction, SignallingEvent};
pub use server::{ApplicationServer, Asp, Association, AssociationAdaptation, Gateway, ServerTrafficMode};
pub use timers::Mtp3Timers;

use crate::section::{Named, Tables, section};

section! {
    /// A network of signalling points.
    pub struct Signalling {
        /// Signalling points.
        points: Tables<Point>;
        /// Links between two points each. All links between two points are one link set.
        links: Tables<SignallingLink>;
        /// Routes to points that are not adjacent, or over others than the link set of an adjacent one.
        routes: Vec<Named<Route>>;
        /// Global title translations.
        translations: Vec<Named<Translation>>;
        /// Signalling gateways.
        gateways: Tables<Gateway>;
        /// Application server processes.
        asps: Tables<Asp>;
        /// Associations between gateways and ASPs.
        associations: Tables<Association>;
        /// Application servers.
        application_servers: Tables<ApplicationServer>;
        /// Who sends what to whom.
        load: Tables<Load>;
        /// What happens to links, points and ASPs while the scenario runs.
        script: Vec<Named<SignallingEvent>>;
    }
}
