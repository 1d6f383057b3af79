//! SCCP of one node, sans-IO: routing control, connectionless and connection-oriented control, management
//! (Q.714, figure 1).
//!
//! MTP3 or M3UA hands over its [`TransferIndication`]s and takes [`Transfer`]s; users give requests and take
//! indications. Mutate, then drain [`Node::poll_output`] until it says [`Output::Wait`].

mod connectionless;
mod connections;
mod routing;
mod scmg;
mod succession;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::{RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use crate::sccp::config::{ConfigError, NodeConfig, Remote};
use crate::sccp::connection::Connection;
use crate::sccp::connection::references::References;
use crate::sccp::counters::{Counters, Discard};
use crate::sccp::gtt::Shared;
use crate::sccp::primitive::Indication;
use crate::sccp::reassembly::{Key, Reassembly};
use crate::sccp::status::{LocalSubsystem, RemoteNode};
use crate::sccp::unitdata::{Sorted, Unitdata};
use crate::sccp::{ConnectionId, LocalReference, Message, Ssn};
use crate::transfer::{Transfer, TransferIndication};

/// Outputs of a node, for its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// For a user of this node.
    Indication {
        /// Subsystem of the user.
        ssn: Ssn,
        /// Indication that it is given.
        indication: Indication,
    },
    /// For MTP3 or M3UA.
    Transfer(Transfer),
    /// Nothing until then, or until something comes in.
    Wait(Option<Instant>),
}

/// SCCP of one node.
#[derive(Debug)]
pub struct Node {
    config: NodeConfig,
    counters: Counters,
    outputs: VecDeque<Output>,
    /// Messages of connections between two users of this node.
    loopback: VecDeque<Transfer>,
    remotes: BTreeMap<PointCode, RemoteNode>,
    /// Instants at which something is due at a remote.
    remote_deadlines: BTreeSet<(Instant, PointCode)>,
    subsystems: BTreeMap<Ssn, LocalSubsystem>,
    /// Record of what each group of entities has shared so far.
    shared: Vec<Shared>,
    /// The link selection of the next message of class 0.
    next_sls: u8,
    /// Of each message the first segment without its data, and its label if it came from another node.
    reassembly: Reassembly<Key, (Unitdata, Option<RoutingLabel>)>,
    next_segmentation: u32,
    references: References,
    connections: BTreeMap<u32, Connection>,
    connection_deadlines: BTreeSet<(Instant, u32)>,
    references_by_id: BTreeMap<ConnectionId, LocalReference>,
    next_connection: u64,
    /// Until when no connection is made after a restart.
    guarded_until: Option<Instant>,
    /// Congestion level that this node reports: 0 not congested, to 8.
    congestion_level: u8,
}

impl Node {
    /// A node that has never been there before: its subsystems are out of service until their users say otherwise.
    pub fn new(config: NodeConfig) -> Result<Self, ConfigError> {
        let config = config.completed()?;
        let remotes = config.remotes.iter().map(|(code, remote)| (*code, RemoteNode::new(remote))).collect();
        let subsystems = config.subsystems.keys().map(|ssn| (*ssn, LocalSubsystem::NEW)).collect();
        Ok(Self {
            counters: Counters::default(),
            outputs: VecDeque::new(),
            loopback: VecDeque::new(),
            remotes,
            remote_deadlines: BTreeSet::new(),
            subsystems,
            shared: vec![Shared::default(); config.translator.groups().len()],
            next_sls: 0,
            reassembly: Reassembly::new(config.reassembly),
            next_segmentation: 0,
            references: References::new(config.connections.references),
            connections: BTreeMap::new(),
            connection_deadlines: BTreeSet::new(),
            references_by_id: BTreeMap::new(),
            next_connection: 0,
            guarded_until: None,
            congestion_level: 0,
            config,
        })
    }

    /// A node that has failed and forgotten its connections: it makes none until T(guard) has expired, by when the
    /// peers have found out (Q.714, section 3.8).
    pub fn restarted(now: Instant, config: NodeConfig) -> Result<Self, ConfigError> {
        let mut node = Self::new(config)?;
        node.guarded_until = Some(now + node.config.timers.guard);
        Ok(node)
    }

    /// Gives the counters of the messages so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Connections that are not idle.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Octets of segments that wait for others.
    pub const fn reassembly_octets(&self) -> usize {
        self.reassembly.octets()
    }

    /// MTP-TRANSFER, MTP-PAUSE, MTP-RESUME and MTP-STATUS indications.
    pub fn handle_indication(&mut self, now: Instant, indication: TransferIndication) {
        match indication {
            TransferIndication::Transfer(transfer) => {
                self.counters.received += 1;
                self.counters.received_types.count(&transfer.user_data);
                self.handle_transfer(now, &transfer);
            }
            TransferIndication::Pause(affected) => self.handle_pause(now, affected),
            TransferIndication::Resume(affected) => self.handle_resume(now, affected),
            TransferIndication::Status { affected, cause } => self.handle_status(now, affected, cause),
        }
        self.drain_loopback(now);
    }

    /// Does what is due.
    pub fn handle_deadline(&mut self, now: Instant) {
        if self.guarded_until.is_some_and(|until| until <= now) {
            self.guarded_until = None;
        }
        self.expire_segments(now);
        self.expire_connections(now);
        self.expire_subsystems(now);
        self.drain_loopback(now);
    }

    /// Gives the next output of the node.
    pub fn poll_output(&mut self, now: Instant) -> Output {
        if let Some(output) = self.outputs.pop_front() {
            return output;
        }
        let deadline = self.deadline();
        if deadline.is_some_and(|deadline| deadline <= now) {
            self.handle_deadline(now);
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            return Output::Wait(self.deadline());
        }
        Output::Wait(deadline)
    }

    fn deadline(&self) -> Option<Instant> {
        let deadlines = [
            self.guarded_until,
            self.reassembly.deadline(),
            self.connection_deadlines.first().map(|(due, _)| *due),
            self.remote_deadlines.first().map(|(due, _)| *due),
            self.subsystems.values().filter_map(|subsystem| subsystem.due).min(),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn handle_transfer(&mut self, now: Instant, transfer: &Transfer) {
        if transfer.service.indicator != ServiceIndicator::SCCP {
            self.counters.discard(Discard::NotForSccp);
            return;
        }
        self.report_congestion(transfer.label.opc);
        match Message::parse(&transfer.user_data) {
            // What cannot be read cannot be answered either (Q.714, section 4.4).
            Err(_) => self.counters.discard(Discard::Malformed),
            Ok(message) => match Unitdata::sort(message) {
                Sorted::Connectionless(unitdata) => self.route_unitdata(now, unitdata, Some(transfer.label)),
                Sorted::Connection(message) => self.handle_connection_message(now, transfer.label, message),
            },
        }
    }

    fn drain_loopback(&mut self, now: Instant) {
        while let Some(transfer) = self.loopback.pop_front() {
            self.handle_transfer(now, &transfer);
        }
    }

    fn indicate(&mut self, ssn: Ssn, indication: Indication) {
        self.outputs.push_back(Output::Indication { ssn, indication });
    }

    /// Sends octets to a node, or to this one.
    fn transmit(&mut self, destination: PointCode, sls: Sls, octets: Vec<u8>) {
        let service = ServiceInformation {
            indicator: ServiceIndicator::SCCP,
            network: self.config.network,
            priority: 0,
        };
        let label = RoutingLabel { dpc: destination, opc: self.config.point_code, sls };
        let transfer = Transfer { service, label, user_data: Bytes::from(octets) };
        if destination == self.config.point_code {
            self.loopback.push_back(transfer);
        } else {
            self.counters.sent += 1;
            self.counters.sent_types.count(&transfer.user_data);
            self.outputs.push_back(Output::Transfer(transfer));
        }
    }

    /// The link selection of a message that needs no sequence.
    const fn any_sls(&mut self) -> Sls {
        self.next_sls = (self.next_sls + 1) & 0xf;
        Sls(self.next_sls)
    }

    fn remote(&self, code: PointCode) -> Option<&Remote> {
        self.config.remotes.get(&code)
    }
}
