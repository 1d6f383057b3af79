//! `failovers`: moves of new messages to another path, since the one that carried them did not answer; of flows, and of
//! associations that carry signalling.

use std::net::IpAddr;

use slantpath_applications::Failover;
use slantpath_base::Instant;
use slantpath_net::OutageCause;
use slantpath_scenario::build::PlannedLink;

use crate::columns::{Count, Number, Text, columns};

columns! {
    /// Columns of `failovers`.
    pub(in crate::run) struct Columns {
        /// Name of the flow, or of the end of the association that carries signalling: `atlantic@london`.
        flow: Text,
        /// Time at which the first new message left by the other path.
        at_s: Number,
        /// Path that had carried new messages, by its link.
        from_path: Text,
        /// Path that carries them from then on, by its link.
        to_path: Text,
        /// Number of that first message. Missing of signalling, whose messages have none.
        message: Count,
        /// Reason for which the former path carried nothing: `link down`, `all packets lost`, `no contact` or
        /// `no route`. `spurious` if it carried packets, on both ways.
        cause: Text,
        /// Time from which on it carried nothing. Missing of a spurious failover.
        failed_s: Number,
        /// Failover time: from then until the first new message left by the other path.
        failover_s: Number,
        /// Part of it until an answer was first due and did not come: T3-rtx or a HEARTBEAT. Missing if the host knew
        /// of its own link.
        first_timeout_s: Number,
        /// Part of it until another path was decided on.
        decision_s: Number,
        /// Time from the failure until that first message was delivered. Missing if it was not, and of messages without
        /// stamps.
        first_arrival_s: Number,
        /// Time until the first new message left by the other path, since the last packet left that the former one has
        /// answered: all that an end can know. Missing if it has answered none.
        unanswered_s: Number,
    }
}

/// Links by their addresses: what a path is called.
pub(in crate::run) fn link_of(links: &[PlannedLink], address: IpAddr) -> Option<&str> {
    links.iter().find(|link| link.addresses.contains(&Some(address))).map(|link| link.name.as_str())
}

/// Failover with what the network knows of it.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct ToldFailover {
    pub(in crate::run) failover: Failover,
    /// Instant from which on the former path carried nothing, and why; `None` if it carried packets.
    pub(in crate::run) failed: Option<(Instant, OutageCause)>,
    /// Instant at which the first message by the other path was delivered.
    pub(in crate::run) arrived: Option<Instant>,
}

impl Columns {
    pub(in crate::run) fn push(&mut self, flow: &str, paths: [Option<&str>; 2], told: &ToldFailover) {
        let ToldFailover { failover, failed, arrived } = *told;
        let since_failure = |at: Option<Instant>| {
            let (failed, _) = failed?;
            Some(at?.saturating_since(failed).as_secs_f64())
        };
        let [from, to] = paths;
        self.flow.push(flow);
        self.at_s.push_instant(failover.at);
        self.from_path.push_optional(from);
        self.to_path.push_optional(to);
        self.message.push_optional(failover.message.map(u64::from));
        self.cause.push(failed.map_or("spurious", |(_, cause)| cause.name()));
        self.failed_s.push_optional(failed.map(|(at, _)| at.since_start().as_secs_f64()));
        self.failover_s.push_optional(since_failure(Some(failover.at)));
        self.first_timeout_s.push_optional(since_failure(failover.first_timeout));
        self.decision_s.push_optional(since_failure(failover.decided));
        self.first_arrival_s.push_optional(since_failure(arrived));
        let unanswered = failover.answered.map(|answered| failover.at.saturating_since(answered));
        self.unanswered_s.push_optional(unanswered.map(slantpath_base::Duration::as_secs_f64));
    }
}
