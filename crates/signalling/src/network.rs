//! Configuration of a signalling network: its points, what joins them, and what each of them is made of.
//!
//! Everything has its number, by which associations, loads and scripts name it. [`NetworkConfig`] says for each point
//! and each process what that one is made of, so that a driver may have all of them or a single one.

mod change;
mod entity;
mod m3ua;
mod parts;

pub use change::{LinkChange, ManagementChange};
pub use entity::SignallingEntity;
pub use m3ua::{
    AdaptationConfig, AspConfig, AspId, GatewayConfig, GatewayId, M3uaConfig, ServedPointConfig,
    ServedPointId, ServerConfig, ServerId, ServerRegistration, SignallingProcess,
};

use slantpath_base::Duration;
use slantpath_sigtran::{asp, m2pa};
use slantpath_ss7::load::{GeneratorConfig, GeneratorError};
use slantpath_ss7::mtp3::node::{self, Mtp3LinkId};
use slantpath_ss7::sccp::{self, Ssn};
use slantpath_ss7::{PointCode, mtp2};

use crate::point;
use crate::processor::{ProcessorConfig, ProcessorError};
use crate::screening::ScreeningConfig;

/// A point: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointId(pub usize);

/// A link: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignallingLinkId(pub usize);

/// One of the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The one that is named first.
    First,
    /// The end that is named second.
    Second,
}

impl Side {
    /// Both, in their order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The other one.
    #[must_use]
    pub const fn far(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// An association between a gateway and an application server process: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdaptationId(pub usize);

/// Signalling that an association carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carried {
    /// M3UA, between the gateway, its first end, and a process.
    Adaptation(AdaptationId),
    /// A link of M2PA.
    Link(SignallingLinkId),
}

/// One end of an association that carries signalling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationSide {
    /// Signalling that the association carries.
    pub carried: Carried,
    /// End of the association.
    pub side: Side,
}

/// Place of user parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserPlace {
    /// At a point, above MTP3.
    Point(PointId),
    /// At a point that application server processes serve, above M3UA.
    Served(ServedPointId),
}

/// Everything that signals.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// Signalling points of the network.
    pub points: Vec<PointConfig>,
    /// Links between them, each end known to its point's MTP3.
    pub links: Vec<LinkConfig>,
    /// Gateways and application servers.
    pub m3ua: M3uaConfig,
    /// Loads, each a generator at one point.
    pub loads: Vec<LoadConfig>,
}

/// A signalling point.
#[derive(Clone, Debug)]
pub struct PointConfig {
    /// Message transfer part of the point.
    pub mtp3: node::Config,
    /// SCCP of the point, if it has one. All its subsystems are put into service at the start.
    pub sccp: Option<sccp::NodeConfig>,
    /// Delays and limits of the point's processor, if messages have to pass one.
    pub processor: Option<ProcessorConfig>,
    /// Screening of what comes to the point.
    pub screening: ScreeningConfig,
}

/// A link between two points.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Name of the link, by which its random streams are derived.
    pub name: String,
    /// Ends of the link, first and second.
    pub ends: [PointEnd; 2],
    /// Carrier of the link.
    pub carrier: LinkCarrier,
}

/// A link's end at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointEnd {
    /// Point at which the link ends.
    pub point: PointId,
    /// Number by which the point's MTP3 knows the link.
    pub link: Mtp3LinkId,
}

/// Carrier of a link: an association or a line.
#[derive(Clone, Debug)]
pub enum LinkCarrier {
    /// An association, with M2PA at both ends.
    Association(m2pa::LinkConfig),
    /// A line, with MTP2 at both ends.
    Line(LineConfig),
}

/// A line between two terminals.
#[derive(Clone, Debug)]
pub struct LineConfig {
    /// Settings of both terminals.
    pub terminal: mtp2::Config,
    /// Delay of the line, one way.
    pub delay: Duration,
    /// Probability that a bit arrives wrong, 0 or more and below 1.
    pub bit_error_rate: f64,
}

/// A generator at one point, and where its messages are expected.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// Name of the load, by which its random streams are derived.
    pub name: String,
    /// The user part that sends.
    pub from: UserPlace,
    /// Generator of its messages.
    pub generator: GeneratorConfig,
    /// The points that its messages are for. With routing by point code, those of the generator.
    pub destinations: Vec<PointCode>,
    /// With routing by global title: the subsystem that receives. Loads to one point that are alike in it, or with
    /// routing by point code in origin and service, have links of other numbers.
    pub subsystem: Option<Ssn>,
    /// Time after which a message that has not arrived is lost.
    pub give_up_after: Duration,
}

/// Why a network cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkConfigError {
    /// A generator.
    #[error("load `{load}`: {error}")]
    Generator {
        /// The load's name.
        load: String,
        /// Fault in the generator's settings.
        error: GeneratorError,
    },
    /// A link of a point's MTP3 that no link of the network has its end at, or several have.
    #[error("signalling point `{point}`: no one link has its end at link {} of MTP3", .link.0)]
    Links {
        /// The point's name.
        point: String,
        /// Number by which MTP3 knows the link.
        link: Mtp3LinkId,
    },
    /// A gateway or an application server process.
    #[error("`{name}`: {error}")]
    M3ua {
        /// The name of the point or the process.
        name: String,
        /// Fault in the settings of the gateway or the process.
        error: asp::ConfigError,
    },
    /// A terminal of MTP2.
    #[error("link `{link}`: {error}")]
    Mtp2 {
        /// The link's name.
        link: String,
        /// Fault in the terminal's settings.
        error: mtp2::ConfigError,
    },
    /// An end of M2PA.
    #[error("link `{link}`: {error}")]
    M2pa {
        /// The link's name.
        link: String,
        /// Fault in the settings of M2PA.
        error: m2pa::ConfigError,
    },
    /// The processor of a point.
    #[error("processor of signalling point `{point}`: {error}")]
    Processor {
        /// The point's name.
        point: String,
        /// Fault in the processor's settings.
        error: ProcessorError,
    },
    /// MTP3 of a point.
    #[error("signalling point `{point}`: {error}")]
    Mtp3 {
        /// The point's name.
        point: String,
        /// The first fault.
        error: node::ConfigError,
    },
    /// SCCP of a point.
    #[error("SCCP of signalling point `{point}`: {error}")]
    Sccp {
        /// The point's name.
        point: String,
        /// Fault in the settings of SCCP.
        error: sccp::ConfigError,
    },
}

impl NetworkConfigError {
    /// Why a point of that name cannot be made; `link` names its links.
    fn of_point(
        error: point::ConfigError,
        point: String,
        gateway: Option<String>,
        link: impl Fn(Mtp3LinkId) -> String,
    ) -> Self {
        use point::ConfigError as E;
        match error {
            E::Gateway(error) => Self::M3ua { name: gateway.unwrap_or(point), error },
            E::Links(link) => Self::Links { point, link },
            E::M2pa { link: own, error } => Self::M2pa { link: link(own), error },
            E::Mtp2 { link: own, error } => Self::Mtp2 { link: link(own), error },
            E::Mtp3(error) => Self::Mtp3 { point, error },
            E::Processor(error) => Self::Processor { point, error },
            E::Sccp(error) => Self::Sccp { point, error },
        }
    }
}
