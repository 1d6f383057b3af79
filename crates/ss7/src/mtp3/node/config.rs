//! Configuration of a node, and everything that may be wrong with it.

use core::fmt;
use slantpath_base::Duration;
use std::collections::{BTreeMap, BTreeSet};

use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::routes::RouteState;
use crate::mtp3::node::measurements::Spells;
use crate::mtp3::node::table::Route;
use crate::mtp3::node::timers::{Mtp3Timer, Timers};
use crate::mtp3::{ManagementLayout, NetworkIndicator, ServiceIndicator, Slc};
use crate::{PointCode, PointCodeFormat};

/// A signalling point with its links and routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Name of the point, for messages to people.
    pub name: String,
    /// Point code of the node itself.
    pub point_code: PointCode,
    /// The size and label of the network's point codes.
    pub format: PointCodeFormat,
    /// The network that its messages carry.
    pub network: NetworkIndicator,
    /// Function of the point: an end point, or one that transfers messages for others.
    pub function: Function,
    /// Method by which congestion is told.
    pub congestion: CongestionMethod,
    /// Use of transfer restricted (a national option; Q.704, section 13.4).
    pub transfer_restricted: Procedure,
    /// Use of the restart procedure (Q.704, section 9), which traffic waits for after isolation.
    pub restart: Procedure,
    /// Use of periodic tests of links in service, by T2 of Q.707; links are tested when they come into service in any
    /// case.
    pub periodic_link_test: Procedure,
    /// Bit of the SLS that shares traffic over the two link sets of a combined link set. Points in a row must not use
    /// the same bit: the second would see it constant.
    pub sharing_bit: u8,
    /// By what messages that pass this point are spread over links.
    pub spread: Spread,
    /// Values of the timers.
    pub timers: Timers,
    /// Link sets of the node. A route to each adjacent point over its own link set goes without saying.
    pub link_sets: Vec<LinkSetConfig>,
    /// Links in reserve (Q.704, section 12.2), counted over all link sets: each is activated only while another one of
    /// its link set has failed. Both ends of a link must agree on it.
    pub backups: Vec<Mtp3LinkId>,
    /// Destinations beyond the adjacent points, and further routes to those.
    pub destinations: Vec<DestinationConfig>,
    /// Point codes that lie behind this point, as those of application servers behind a signalling gateway: messages
    /// for them go to the interworking function above.
    pub served: Vec<PointCode>,
    /// The user parts that are there.
    pub users: Vec<ServiceIndicator>,
    /// Greatest number of messages that may be held for a changeover, changeback or rerouting to end. Users are told of
    /// congestion at three quarters of it; beyond it messages are discarded and counted.
    pub held_limit: usize,
}

/// By what a transfer point chooses the link of a message among those of a link set. What the point itself sends goes
/// by its signalling link selection, and so does what a failed link has given back, and what has come over an
/// association: one is for many lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// By the signalling link code of the line that it came by, as the gateways of the trial of SS7 over IP over
    /// satellite do. Messages of one line stay in sequence, whatever their selections, and the sizes of link sets
    /// decide how even the shares are.
    LinkCode,
    /// By its signalling link selection (Q.704, section 2.3.2).
    #[default]
    Selection,
}

/// Use of a procedure of the Recommendation that networks may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Procedure that is not used.
    Omitted,
    /// Procedure that is used.
    Used,
}

/// Functions of a signalling point for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Nothing: it originates and receives.
    EndPoint,
    /// Transfer of messages between others (STP).
    TransferPoint,
}

/// Methods by which congestion of a signalling route set is told (Q.704, section 11.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionMethod {
    /// One level without priorities, in the international network: transfer controlled and MTP-STATUS for the first
    /// and every eighth message.
    International,
    /// Three levels and message priorities, in national networks: with route set congestion test.
    National,
}

/// The links to one adjacent point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSetConfig {
    /// Name of the link set.
    pub name: String,
    /// The point at the other end.
    pub adjacent: PointCode,
    /// Links of the set.
    pub links: Vec<LinkConfig>,
}

/// One signalling link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// Name of the link.
    pub name: String,
    /// Code of the link within the link set.
    pub slc: Slc,
    /// Size of the link's sequence numbers.
    pub sequence: SequenceNumbers,
}

/// The size of a link's sequence numbers, which decides the changeover messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceNumbers {
    /// MTP2: changeover order and acknowledgement.
    Bits7,
    /// M2PA: extended changeover order and acknowledgement (RFC 4165, section 4.2.1).
    Bits24,
}

/// A destination and the ways to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestinationConfig {
    /// Point code of the destination.
    pub point_code: PointCode,
    /// Routes to the destination.
    pub routes: Vec<RouteConfig>,
}

/// Route of a destination over one link set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteConfig {
    /// The name of its link set.
    pub link_set: String,
    /// 0 is the normal route, higher numbers are alternatives. Two routes of one priority are a combined link set
    /// and share the load.
    pub priority: u8,
}

/// A fault in a node's configuration, with the names and values that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Two link sets end at the same point.
    #[error("link sets `{first}` and `{second}` both end at {adjacent}: make them one")]
    AdjacentTwice {
        /// The earlier link set.
        first: String,
        /// The later one.
        second: String,
        /// Point at which both end.
        adjacent: Point,
    },
    /// A destination is listed twice.
    #[error("destination {0} is listed twice: join its routes")]
    DestinationTwice(Point),
    /// The node's own point code is listed as a destination or as an adjacent point.
    #[error("{0} is the own point code of `{1}` and cannot be a destination")]
    OwnPointCode(Point, String),
    /// A point code lies behind a point that transfers nothing.
    #[error("{0} lies behind `{1}`, which is no transfer point")]
    ServedByEndPoint(Point, String),
    /// A link set has no link.
    #[error("link set `{link_set}` to {adjacent} has no link: add one")]
    NoLinks {
        /// The link set.
        link_set: String,
        /// Point at which the link set would end.
        adjacent: Point,
    },
    /// All links of a link set are in reserve.
    #[error(
        "all links of link set `{link_set}` to {adjacent} are backups: none of them would ever be activated"
    )]
    OnlyBackups {
        /// The link set.
        link_set: String,
        /// Point at which the link set would end.
        adjacent: Point,
    },
    /// A destination has no route.
    #[error("{0} cannot be reached: it has no route")]
    NoRoute(Point),
    /// A destination has more than two routes of one priority.
    #[error(
        "{destination} has routes over `{first}`, `{second}` and `{third}` with priority {priority}: a combined link \
         set has two"
    )]
    TooManyOfOnePriority {
        /// Destination of the routes.
        destination: Point,
        /// Priority that the routes share.
        priority: u8,
        /// The first link set.
        first: String,
        /// Link set of the second route.
        second: String,
        /// The one too many.
        third: String,
    },
    /// A destination has two routes over the same link set.
    #[error("{destination} has two routes over `{link_set}`, of priority {first} and {second}")]
    RouteTwice {
        /// Destination of the routes.
        destination: Point,
        /// The link set.
        link_set: String,
        /// The earlier priority.
        first: u8,
        /// The later one.
        second: u8,
    },
    /// A route leads over a link set that is not there.
    #[error("the route to {destination} leads over `{link_set}`, and there is no link set of that name")]
    UnknownLinkSet {
        /// Destination of the route.
        destination: Point,
        /// The name that nothing bears.
        link_set: String,
    },
    /// Two links of a link set have the same code.
    #[error("links `{first}` and `{second}` of link set `{link_set}` both have code {}", slc.0)]
    SlcTwice {
        /// The link set.
        link_set: String,
        /// The earlier link.
        first: String,
        /// The later one.
        second: String,
        /// Code that both links have.
        slc: Slc,
    },
    /// A link's code needs more than four bits.
    #[error("link `{link}` has code {}: codes go from 0 to 15", slc.0)]
    SlcTooLarge {
        /// Name of the link.
        link: String,
        /// Code of the link.
        slc: Slc,
    },
    /// Two link sets have one name.
    #[error("two link sets are named `{0}`")]
    NameTwice(String),
    /// A point code needs more bits than the network's have.
    #[error("{0} does not fit the network's {1} bits")]
    PointCodeTooLarge(Point, u32),
    /// A timer is outside its range.
    #[error("{timer} is {value}: the Recommendation has {least} to {most}")]
    TimerOutOfRange {
        /// Timer that is outside its range.
        timer: Mtp3Timer,
        /// Value that was asked for.
        value: Duration,
        /// The least that it may be.
        least: Duration,
        /// Greatest value that it may have.
        most: Duration,
    },
    /// A user part is MTP3's own.
    #[error("service indicator {} is MTP3's own: it cannot be a user part", _0.value())]
    UserIsOwn(ServiceIndicator),
    /// The bit that shares traffic is none of the SLS's.
    #[error("bit {bit} shares traffic over combined link sets: the SLS has {bits} bits")]
    SharingBit {
        /// Number of the bit that was asked for.
        bit: u8,
        /// Number of bits that the SLS has.
        bits: u8,
    },
    /// The management messages of TTC networks are not provided.
    #[error(
        "`{0}` is in a TTC network, whose management messages are not provided: use ITU-T or ANSI point codes"
    )]
    NoManagement(String),
    /// No message may wait.
    #[error("held_limit is 0: a changeover needs to hold messages back")]
    NothingMayWait,
    /// More links or link sets than identifiers.
    #[error("{0} links: a node has at most 4096")]
    TooManyLinks(usize),
}

/// A point code as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point(pub PointCode, pub PointCodeFormat);

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "point code {} ({})", self.0.display(self.1), self.0.0)
    }
}

impl Config {
    /// A signalling end point without links: ITU-T, international, everything at its default.
    pub fn new(name: &str, point_code: PointCode) -> Self {
        Self {
            name: name.to_owned(),
            point_code,
            format: PointCodeFormat::Itu,
            network: NetworkIndicator::International,
            function: Function::EndPoint,
            congestion: CongestionMethod::International,
            transfer_restricted: Procedure::Omitted,
            restart: Procedure::Used,
            periodic_link_test: Procedure::Used,
            sharing_bit: 3,
            spread: Spread::default(),
            timers: Timers::default(),
            link_sets: Vec::new(),
            backups: Vec::new(),
            destinations: Vec::new(),
            served: Vec::new(),
            users: vec![ServiceIndicator::SCCP, ServiceIndicator::ISUP],
            held_limit: 65_536,
        }
    }

    /// Gives the number of values that the SLS has.
    pub(super) const fn sls_values(&self) -> usize {
        match self.format {
            PointCodeFormat::Ansi => 256,
            PointCodeFormat::Itu | PointCodeFormat::Ttc => 16,
        }
    }

    /// Everything that is wrong with it, in the order in which it stands there.
    pub fn faults(&self) -> Vec<ConfigError> {
        let mut faults = Vec::new();
        self.check_link_sets(&mut faults);
        self.check_destinations(&mut faults);
        self.check_served(&mut faults);
        for (range, value) in self.timers.out_of_range() {
            let (least, most) = (range.least, range.most);
            faults.push(ConfigError::TimerOutOfRange { timer: range.timer, value, least, most });
        }
        let reserved = [ServiceIndicator::MANAGEMENT, ServiceIndicator::TEST, ServiceIndicator::TEST_SPECIAL];
        let own = self.users.iter().filter(|user| reserved.contains(user));
        faults.extend(own.map(|&user| ConfigError::UserIsOwn(user)));
        let bits = if self.format == PointCodeFormat::Ansi { 8 } else { 4 };
        if self.sharing_bit >= bits {
            faults.push(ConfigError::SharingBit { bit: self.sharing_bit, bits });
        }
        if self.held_limit == 0 {
            faults.push(ConfigError::NothingMayWait);
        }
        let links = self.link_sets.iter().map(|link_set| link_set.links.len()).sum::<usize>();
        if links.max(self.link_sets.len()) > 4_096 {
            faults.push(ConfigError::TooManyLinks(links));
        }
        if ManagementLayout::of(self.format).is_none() {
            faults.push(ConfigError::NoManagement(self.name.clone()));
        }
        faults
    }

    /// Every destination with its routes, best first, adjacent points and their own link sets included. Names that
    /// nothing bears are left out: `faults` tells of them.
    pub(super) fn routes(&self) -> BTreeMap<PointCode, Vec<Route>> {
        let mut all: BTreeMap<PointCode, Vec<Route>> = BTreeMap::new();
        let route = |link_set, priority| Route {
            link_set,
            priority,
            state: RouteState::default(),
            prohibited: Spells::default(),
            restricted: Spells::default(),
        };
        let mut by_name: BTreeMap<&str, u16> = BTreeMap::new();
        for (link_set, id) in self.link_sets.iter().zip(0_u16..) {
            by_name.entry(&link_set.name).or_insert(id);
        }
        for destination in &self.destinations {
            let routes = all.entry(destination.point_code).or_default();
            for RouteConfig { link_set, priority } in &destination.routes {
                if let Some(id) = by_name.get(link_set.as_str()) {
                    routes.push(route(LinkSetId(*id), *priority));
                }
            }
        }
        for (link_set, id) in self.link_sets.iter().zip(0_u16..) {
            let routes = all.entry(link_set.adjacent).or_default();
            if !routes.iter().any(|route| route.link_set == LinkSetId(id)) {
                routes.push(route(LinkSetId(id), 0));
            }
        }
        for routes in all.values_mut() {
            routes.sort_by_key(|route| route.priority);
        }
        all
    }

    fn point(&self, code: PointCode) -> Point {
        Point(code, self.format)
    }

    fn check_point(&self, code: PointCode, faults: &mut Vec<ConfigError>) {
        if code.0 >> self.format.bits() != 0 {
            faults.push(ConfigError::PointCodeTooLarge(self.point(code), self.format.bits()));
        }
        if code == self.point_code {
            faults.push(ConfigError::OwnPointCode(self.point(code), self.name.clone()));
        }
    }

    fn check_link_sets(&self, faults: &mut Vec<ConfigError>) {
        for (at, link_set) in self.link_sets.iter().enumerate() {
            self.check_point(link_set.adjacent, faults);
            let earlier = &self.link_sets[..at];
            if let Some(first) = earlier.iter().find(|first| first.adjacent == link_set.adjacent) {
                faults.push(ConfigError::AdjacentTwice {
                    first: first.name.clone(),
                    second: link_set.name.clone(),
                    adjacent: self.point(link_set.adjacent),
                });
            }
            if earlier.iter().any(|first| first.name == link_set.name) {
                faults.push(ConfigError::NameTwice(link_set.name.clone()));
            }
            if link_set.links.is_empty() {
                let adjacent = self.point(link_set.adjacent);
                faults.push(ConfigError::NoLinks { link_set: link_set.name.clone(), adjacent });
            } else if self.links_of(earlier.len()).all(|link| self.backups.contains(&link)) {
                let adjacent = self.point(link_set.adjacent);
                faults.push(ConfigError::OnlyBackups { link_set: link_set.name.clone(), adjacent });
            }
            check_links(link_set, faults);
        }
    }

    /// The links of a link set, by its place among all.
    fn links_of(&self, place: usize) -> impl Iterator<Item = Mtp3LinkId> {
        let first: usize = self.link_sets[..place].iter().map(|link_set| link_set.links.len()).sum();
        let links = first..first + self.link_sets[place].links.len();
        links.filter_map(|link| u16::try_from(link).ok().map(Mtp3LinkId))
    }

    fn check_destinations(&self, faults: &mut Vec<ConfigError>) {
        let mut seen = BTreeSet::new();
        for destination in &self.destinations {
            let code = destination.point_code;
            self.check_point(code, faults);
            if !seen.insert(code) {
                faults.push(ConfigError::DestinationTwice(self.point(code)));
            }
            let direct = self.link_sets.iter().find(|link_set| link_set.adjacent == code);
            if destination.routes.is_empty() && direct.is_none() {
                faults.push(ConfigError::NoRoute(self.point(code)));
            }
            let mut with_direct = destination.clone();
            if let Some(LinkSetConfig { name, .. }) = direct
                && !destination.routes.iter().any(|route| route.link_set == *name)
            {
                with_direct.routes.push(RouteConfig { link_set: name.clone(), priority: 0 });
            }
            self.check_routes(&with_direct, faults);
        }
    }

    fn check_served(&self, faults: &mut Vec<ConfigError>) {
        let mut known: BTreeSet<PointCode> =
            self.destinations.iter().map(|destination| destination.point_code).collect();
        known.extend(self.link_sets.iter().map(|link_set| link_set.adjacent));
        for &code in &self.served {
            self.check_point(code, faults);
            if !known.insert(code) {
                faults.push(ConfigError::DestinationTwice(self.point(code)));
            }
            if self.function == Function::EndPoint {
                faults.push(ConfigError::ServedByEndPoint(self.point(code), self.name.clone()));
            }
        }
    }

    fn check_routes(&self, destination: &DestinationConfig, faults: &mut Vec<ConfigError>) {
        let code = self.point(destination.point_code);
        for (at, route) in destination.routes.iter().enumerate() {
            let earlier = &destination.routes[..at];
            if !self.link_sets.iter().any(|link_set| link_set.name == route.link_set) {
                let link_set = route.link_set.clone();
                faults.push(ConfigError::UnknownLinkSet { destination: code, link_set });
            }
            if let Some(first) = earlier.iter().find(|first| first.link_set == route.link_set) {
                faults.push(ConfigError::RouteTwice {
                    destination: code,
                    link_set: route.link_set.clone(),
                    first: first.priority,
                    second: route.priority,
                });
            }
            let mut same = earlier.iter().filter(|first| first.priority == route.priority);
            if let (Some(first), Some(second)) = (same.next(), same.next()) {
                faults.push(ConfigError::TooManyOfOnePriority {
                    destination: code,
                    priority: route.priority,
                    first: first.link_set.clone(),
                    second: second.link_set.clone(),
                    third: route.link_set.clone(),
                });
            }
        }
    }
}

/// Of a combined link set: whether messages of a signalling link selection go over the second one, and what is left of
/// the selection to choose a link of it.
pub(super) fn share(sharing_bit: u8, sls: u8) -> (bool, usize) {
    let rest =
        usize::from(sls >> sharing_bit >> 1) << sharing_bit | usize::from(sls) & ((1 << sharing_bit) - 1);
    (sls >> sharing_bit & 1 == 1, rest)
}

fn check_links(link_set: &LinkSetConfig, faults: &mut Vec<ConfigError>) {
    for (at, link) in link_set.links.iter().enumerate() {
        if link.slc.0 > 15 {
            faults.push(ConfigError::SlcTooLarge { link: link.name.clone(), slc: link.slc });
        }
        if let Some(first) = link_set.links[..at].iter().find(|first| first.slc == link.slc) {
            faults.push(ConfigError::SlcTwice {
                link_set: link_set.name.clone(),
                first: first.name.clone(),
                second: link.name.clone(),
                slc: link.slc,
            });
        }
    }
}
