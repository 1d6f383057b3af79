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
        let mut point = Self::prepared(config)?;
        if let Some(sccp) = &mut point.sccp {
            put_into_service(now, sccp, |_| true);
        }
        Ok(point)
    }

    /// A point that does nothing before it takes over from another one, or begins.
    ///
    /// # Errors
    /// What is wrong with its SCCP.
    pub fn prepared(config: ServedPointConfig) -> Result<Self, sccp::ConfigError> {
        let ServedPointConfig { code, sccp } = config;
        let sccp = sccp.map(sccp::Node::new).transpose()?;
        Ok(Self { code, sccp, accessible: BTreeMap::new(), outputs: VecDeque::new() })
    }

    /// Takes the place of a running point of the same code, or begins where there was none.
    pub fn take_over(&mut self, now: Instant, former: Option<Self>) {
        let former = former.map(|former| {
            self.accessible = former.accessible;
            self.outputs = former.outputs;
            former.sccp
        });
        if let Some(own) = &mut self.sccp {
            let accessible = &self.accessible;
            take_over(now, own, former.flatten(), |code| accessible.get(&code) == Some(&false));
        }
    }

    /// Names the first setting that a running point keeps as it is, of those that differ from another one's.
    pub fn fixed_difference(&self, to: &Self) -> Option<&'static str> {
        fixed_difference(self.sccp.as_ref(), to.sccp.as_ref())
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

/// Puts subsystems into service, those that are asked for.
pub(crate) fn put_into_service(now: Instant, node: &mut sccp::Node, is_meant: impl Fn(Ssn) -> bool) {
    let subsystems = node.config().subsystems.keys().copied().filter(|ssn| is_meant(*ssn));
    for ssn in subsystems.collect::<Vec<_>>() {
        let is_known = node.set_subsystem(now, ssn, true);
        debug_assert_eq!(is_known, Ok(()), "the subsystems are the node's own");
    }
}

/// SCCP takes over from a running one, if there is one; `is_lost` says of a point code that it cannot be reached.
pub(crate) fn take_over(
    now: Instant,
    own: &mut sccp::Node,
    former: Option<sccp::Node>,
    is_lost: impl Fn(PointCode) -> bool,
) {
    let known = former.as_ref().map(sccp::Node::config).cloned();
    if let Some(former) = former {
        own.take_over(now, former);
    }
    put_into_service(now, own, |ssn| known.as_ref().is_none_or(|known| !known.subsystems.contains_key(&ssn)));
    let remotes = own.config().remotes.keys().copied();
    let is_new = |code: &PointCode| known.as_ref().is_none_or(|known| !known.remotes.contains_key(code));
    for code in remotes.filter(is_new).filter(|code| is_lost(*code)).collect::<Vec<_>>() {
        own.handle_indication(now, TransferIndication::Pause(code));
    }
}

/// Names the first setting of SCCP that is kept, of those that differ.
pub(crate) fn fixed_difference(from: Option<&sccp::Node>, to: Option<&sccp::Node>) -> Option<&'static str> {
    from?.config().fixed_difference(to?.config())
}
