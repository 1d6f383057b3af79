//! Configuration of a node: itself and its neighbours.

use std::collections::{BTreeMap, BTreeSet};

use crate::PointCode;
use crate::mtp3::NetworkIndicator;
use crate::sccp::gtt::Translator;
use crate::sccp::reassembly::ReassemblyLimits;
use crate::sccp::timers::{TimerError, Timers};
use crate::sccp::unitdata::{Capability, NARROWBAND_OCTETS};
use crate::sccp::{Ssn, gtt::RouteOn};

/// A node's configuration.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// Point code of the node itself.
    pub point_code: PointCode,
    /// The network whose point codes these are.
    pub network: NetworkIndicator,
    /// Subsystems of the node itself.
    pub subsystems: BTreeMap<Ssn, Subsystem>,
    /// The nodes that it knows. Those that its translations lead to are added with what is usual.
    pub remotes: BTreeMap<PointCode, Remote>,
    /// Translations of global titles at this node.
    pub translator: Translator,
    /// Timers of the node.
    pub timers: Timers,
    /// Limits of the messages that are put together at one time.
    pub reassembly: ReassemblyLimits,
    /// Limits of the connections, and of what they hold.
    pub connections: ConnectionLimits,
}

/// One of the node's own subsystems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subsystem {
    /// The nodes that are told when it comes and goes: concerned signalling points.
    pub concerned: BTreeSet<PointCode>,
    /// The node where the same subsystem takes over in a coordinated change.
    pub backup: Option<PointCode>,
}

/// Another node that is known here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// Capability of the node, and of the network towards it.
    pub capability: Capability,
    /// Subsystems of the node whose state is kept.
    pub subsystems: BTreeSet<Ssn>,
}

/// Bounds of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at one time, with the references that are frozen.
    pub references: usize,
    /// Octets of one message of the user, when it comes in parts and while it waits for the window.
    pub message_octets: usize,
    /// Messages that wait for the window of a connection of class 3. The user is told of congestion from half of it on,
    /// and of its end at a quarter.
    pub queued_messages: usize,
    /// The window that is granted in class 3, 1 to 127.
    pub credit: u8,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { references: 65_536, message_octets: 65_536, queued_messages: 1_024, credit: 8 }
    }
}

/// Faults of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The backup of a subsystem, or one of its concerned nodes, is not among the remotes.
    #[error("subsystem {} names node {}, which is no remote: add it to the remotes", .ssn.0, .point_code.0)]
    UnknownNode {
        /// Subsystem that is configured.
        ssn: Ssn,
        /// Node that it names.
        point_code: PointCode,
    },
    /// A window that the seven bits of P(S) do not allow.
    #[error("a credit of {0} is not possible: it is 1 to 127 messages")]
    Credit(u8),
    /// The node is its own remote.
    #[error("node {} is its own remote: remove it from the remotes", .0.0)]
    OwnRemote(PointCode),
    /// Congestion could not be told before a message is refused: the longest one must fit in half of the queue.
    #[error(
        "{queued} messages may wait on a connection, and the longest of its user makes {parts}: allow for {}",
        .parts * 2
    )]
    QueueTooShort {
        /// Number of messages that may wait.
        queued: usize,
        /// In how many messages the user's longest one is sent.
        parts: usize,
    },
    /// A subsystem that nobody may have.
    #[error("subsystem {} cannot be a user: 0 is unknown, 1 is SCCP management", .0.0)]
    ReservedSubsystem(Ssn),
    /// A rule sends titles back to this node to be translated again.
    #[error(
        "group `{0}` sends titles back to this node to be translated again: route on the subsystem number there"
    )]
    SelfTranslation(String),
    /// A message must have room for its addresses and a segment.
    #[error("{octets} octets towards node {} are too few for SCCP: it needs {LEAST_OCTETS}", .point_code.0)]
    TooFewOctets {
        /// Node to which the messages go.
        point_code: PointCode,
        /// Number of octets that is configured.
        octets: usize,
    },
    /// A timer.
    #[error(transparent)]
    Timer(#[from] TimerError),
}

/// Two addresses of 24 digits and some data.
const LEAST_OCTETS: usize = 64;

/// User data of one DT1 or DT2: what its length can say.
const MOST_PART: usize = 255;
/// Type, reference, sequencing, pointer and length of DT2, which is the longer of the two.
const PART_OVERHEAD: usize = 8;

/// Gives the number of octets of a user's message that one message of so many octets carries.
pub(super) fn octets_of_part(message_octets: usize) -> usize {
    message_octets.saturating_sub(PART_OVERHEAD).clamp(1, MOST_PART)
}

/// SCCP management.
pub(super) const MANAGEMENT: Ssn = Ssn(1);

impl NodeConfig {
    /// A node of its own with what is usual: no subsystem, no remote, no translation.
    pub fn new(point_code: PointCode, network: NetworkIndicator) -> Self {
        Self {
            point_code,
            network,
            subsystems: BTreeMap::new(),
            remotes: BTreeMap::new(),
            translator: Translator::default(),
            timers: Timers::default(),
            reassembly: ReassemblyLimits::default(),
            connections: ConnectionLimits::default(),
        }
    }

    /// Checks everything, and adds the nodes that translations lead to.
    pub(super) fn completed(mut self) -> Result<Self, ConfigError> {
        self.timers.check()?;
        if !(1..=127).contains(&self.connections.credit) {
            return Err(ConfigError::Credit(self.connections.credit));
        }
        let (queued, octets) = (self.connections.queued_messages, self.connections.message_octets);
        let parts = octets.div_ceil(octets_of_part(NARROWBAND_OCTETS)).max(1);
        if queued < parts * 2 {
            return Err(ConfigError::QueueTooShort { queued, parts });
        }
        if self.remotes.contains_key(&self.point_code) {
            return Err(ConfigError::OwnRemote(self.point_code));
        }
        for group in self.translator.groups() {
            for entity in &group.entities {
                if entity.point_code == self.point_code {
                    if entity.routing == RouteOn::GlobalTitle {
                        return Err(ConfigError::SelfTranslation(group.name.clone()));
                    }
                    continue;
                }
                let remote = self.remotes.entry(entity.point_code).or_default();
                remote.subsystems.extend(entity.ssn);
            }
        }
        for (ssn, subsystem) in &self.subsystems {
            if ssn.0 < 2 {
                return Err(ConfigError::ReservedSubsystem(*ssn));
            }
            let named = subsystem.concerned.iter().chain(&subsystem.backup);
            if let Some(point_code) = named.copied().find(|code| !self.remotes.contains_key(code)) {
                return Err(ConfigError::UnknownNode { ssn: *ssn, point_code });
            }
        }
        for (point_code, remote) in &self.remotes {
            let octets = remote.capability.message_octets;
            if octets < LEAST_OCTETS {
                return Err(ConfigError::TooFewOctets { point_code: *point_code, octets });
            }
        }
        Ok(self)
    }
}
