//! A point whose user parts are above M3UA: its SCCP, and what its users know of destinations.
//!
//! Its messages come and go by application server processes, which the driver knows: several may serve one point.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::{self, Indication, Ssn};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

/// A point whose user parts are above M3UA.
#[derive(Clone, Debug)]
pub struct ServedPointConfig {
    /// Point code of the point.
    pub code: PointCode,
    /// Settings of its SCCP, if it has one, which all processes of the point share.
    pub sccp: Option<sccp::NodeConfig>,
}

/// Requests of a served point to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedPointOutput {
    /// For a user part. What SCCP takes itself is not among it, but what processes say of destinations is.
    Indication(TransferIndication),
    /// For a process that serves the point.
    Transfer(Transfer),
    /// A unitdata for a subsystem.
    Unitdata {
        /// Number of the subsystem.
        ssn: Ssn,
        /// The user's data.
        data: Bytes,
    },
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

/// A point whose user parts are above M3UA.
#[derive(Debug)]
pub struct ServedPoint {
    code: PointCode,
    sccp: Option<sccp::Node>,
    /// The destinations that users have had an indication of, with whether they can be reached.
    accessible: BTreeMap<PointCode, bool>,
    outputs: VecDeque<ServedPointOutput>,
}

impl ServedPoint {
    /// A point that knows of no destination.
    ///
    /// # Errors
    /// What is wrong with its SCCP.
    pub fn new(now: Instant, config: ServedPointConfig) -> Result<Self, sccp::ConfigError> {
        let ServedPointConfig { code, sccp } = config;
        let sccp = sccp.map(|sccp| sccp_node(now, sccp)).transpose()?;
        Ok(Self { code, sccp, accessible: BTreeMap::new(), outputs: VecDeque::new() })
    }

    /// Gives the point code.
    pub const fn code(&self) -> PointCode {
        self.code
    }

    /// Gives the counts of SCCP, if there is one.
    pub fn sccp_counters(&self) -> Option<&sccp::Counters> {
        self.sccp.as_ref().map(sccp::Node::counters)
    }

    /// A process that serves the point indicates something. `is_accessible` is whether a destination can be reached
    /// over any of them: the point has lost it when none of its processes reaches it.
    pub fn handle_indication(
        &mut self,
        now: Instant,
        indication: &TransferIndication,
        is_accessible: impl FnOnce(PointCode) -> bool,
    ) {
        let indication = match indication {
            TransferIndication::Pause(code) | TransferIndication::Resume(code) => {
                let is_accessible = is_accessible(*code);
                if self.accessible.insert(*code, is_accessible) == Some(is_accessible) {
                    return;
                }
                if is_accessible {
                    TransferIndication::Resume(*code)
                } else {
                    TransferIndication::Pause(*code)
                }
            }
            TransferIndication::Transfer(transfer) if self.code != transfer.label.dpc => return,
            TransferIndication::Status { .. } | TransferIndication::Transfer(_) => indication.clone(),
        };
        if let Some(sccp) = &mut self.sccp {
            let is_for_sccp = match &indication {
                TransferIndication::Transfer(transfer) => {
                    transfer.service.indicator == ServiceIndicator::SCCP
                }
                _ => true,
            };
            if is_for_sccp {
                sccp.handle_indication(now, indication.clone());
                if matches!(indication, TransferIndication::Transfer(_)) {
                    return;
                }
            }
        }
        self.outputs.push_back(ServedPointOutput::Indication(indication));
    }

    /// Does all there is to do by `now`, and says what to do with it, or until when nothing is to be done.
    pub fn poll_output(&mut self, now: Instant) -> ServedPointOutput {
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            let Some(sccp) = self.sccp.as_mut() else { return ServedPointOutput::Wait(None) };
            match sccp.poll_output(now) {
                sccp::Output::Transfer(transfer) => return ServedPointOutput::Transfer(transfer),
                sccp::Output::Indication { ssn, indication: Indication::Unitdata { data, .. } } => {
                    return ServedPointOutput::Unitdata { ssn, data };
                }
                sccp::Output::Indication { .. } => {}
                sccp::Output::Wait(deadline) => return ServedPointOutput::Wait(deadline),
            }
        }
    }
}

/// SCCP with its subsystems in service.
pub(crate) fn sccp_node(now: Instant, config: sccp::NodeConfig) -> Result<sccp::Node, sccp::ConfigError> {
    let subsystems: Vec<_> = config.subsystems.keys().copied().collect();
    let mut node = sccp::Node::new(config)?;
    for ssn in subsystems {
        let is_known = node.set_subsystem(now, ssn, true);
        debug_assert_eq!(is_known, Ok(()), "the subsystems are the node's own");
    }
    Ok(node)
}
