//! Succession: a node that is made from a new configuration takes the place of a running one, with all that this one
//! knows of other nodes and has under way.

use std::collections::BTreeMap;

use slantpath_base::Instant;

use crate::PointCode;
use crate::sccp::Ssn;
use crate::sccp::config::NodeConfig;
use crate::sccp::gtt::Shared;
use crate::sccp::node::Node;
use crate::sccp::status::{LocalInput, RemoteNode, RemoteState, Tested};

impl NodeConfig {
    /// Names the first setting that a running node keeps as it is, of those that differ from another configuration's.
    pub fn fixed_difference(&self, to: &Self) -> Option<&'static str> {
        let differs = [
            (self.point_code != to.point_code, "point code"),
            (self.network != to.network, "network indicator"),
            (self.reassembly != to.reassembly, "limits of reassembly"),
            (self.connections != to.connections, "limits of connections"),
        ];
        differs.into_iter().find(|(differs, _)| *differs).map(|(_, name)| name)
    }
}

impl Node {
    /// Takes the place of a running node. Settings of which [`NodeConfig::fixed_difference`] tells are alike. Its own
    /// tables are ready by now: that takes as long as there are nodes and groups, however many rules there are.
    ///
    /// Subsystems that are gone are told of as prohibited; those that are new are out of service until their users say
    /// otherwise.
    pub fn take_over(&mut self, now: Instant, mut former: Self) {
        let gone = former.subsystems.keys().copied().filter(|ssn| !self.subsystems.contains_key(ssn));
        for ssn in gone.collect::<Vec<_>>() {
            former.step_local(now, ssn, LocalInput::UserOutOfService);
        }
        former.drain_loopback(now);
        for (ssn, own) in &mut self.subsystems {
            if let Some(before) = former.subsystems.get(ssn) {
                *own = *before;
            }
        }
        for (code, own) in &mut self.remotes {
            if let Some(before) = former.remotes.remove(code) {
                let subsystems = std::mem::take(&mut own.subsystems);
                *own = before;
                own.know(subsystems);
            }
        }
        let due = |(code, remote): (&PointCode, &RemoteNode)| remote.deadline().map(|due| (due, *code));
        self.remote_deadlines = self.remotes.iter().filter_map(due).collect();
        let groups = former.config.translator.groups().iter().zip(former.shared);
        let mut known: BTreeMap<&str, _> =
            groups.map(|(group, shared)| (group.name.as_str(), (group, shared))).collect();
        let own = |group: &crate::sccp::gtt::Group| match known.remove(group.name.as_str()) {
            Some((before, shared)) if before == group => shared,
            _ => Shared::default(),
        };
        self.shared = self.config.translator.groups().iter().map(own).collect();
        self.counters = former.counters;
        self.outputs = former.outputs;
        self.loopback = former.loopback;
        self.next_sls = former.next_sls;
        self.reassembly = former.reassembly;
        self.next_segmentation = former.next_segmentation;
        self.references = former.references;
        self.connections = former.connections;
        self.connection_deadlines = former.connection_deadlines;
        self.references_by_id = former.references_by_id;
        self.next_connection = former.next_connection;
        self.guarded_until = former.guarded_until;
        self.congestion_level = former.congestion_level;
    }

    /// Gives its configuration, with the nodes that translations lead to.
    pub const fn config(&self) -> &NodeConfig {
        &self.config
    }
}

impl RemoteNode {
    /// Keeps the state of these subsystems from now on. One that is new is as reachable as the node.
    fn know(&mut self, subsystems: BTreeMap<Ssn, Tested>) {
        let known = std::mem::take(&mut self.subsystems);
        let is_reached = !self.is_inaccessible && self.sccp.state == RemoteState::Allowed;
        let new = || {
            let state = if is_reached { RemoteState::Allowed } else { RemoteState::Inaccessible };
            Tested { state, ..Tested::default() }
        };
        let own = |ssn: Ssn| (ssn, known.get(&ssn).cloned().unwrap_or_else(new));
        self.subsystems = subsystems.into_keys().map(own).collect();
    }
}
