//! A gateway and its nodal interworking function: what MTP3 and the gateway's process tell one another (RFC 4666,
//! section 1.4.3.2).

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::m3ua::Sgp;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, CongestionMethod};
use slantpath_ss7::transfer::{StatusCause, TransferIndication};

use crate::signalling::config::PointId;

/// How long a destination counts as congested after MTP-STATUS has told of it, before MTP3 is asked again: it does not
/// tell of the end. An international network keeps no such status (RFC 4666, section 4.5.3).
const CONGESTION_LASTS: Duration = Duration::from_secs(10);

/// A signalling gateway.
#[derive(Debug)]
pub(in crate::signalling) struct Gateway {
    pub(in crate::signalling) point: PointId,
    own: PointCode,
    pub(super) sgp: Sgp,
    network: Option<u32>,
    served: BTreeSet<PointCode>,
    congestion: CongestionMethod,
    /// Until when destinations count as congested.
    congested: BTreeMap<PointCode, Instant>,
    pub(super) deadline: Option<Instant>,
}

impl Gateway {
    pub(super) fn new(
        point: PointId,
        mtp3: &node::Config,
        mut sgp: Sgp,
        network: Option<u32>,
        served: BTreeSet<PointCode>,
    ) -> Self {
        // Its own users are there whatever happens to its links.
        let own = mtp3.point_code;
        sgp.handle_indication(network, TransferIndication::Resume(own));
        let congestion = mtp3.congestion;
        Self { point, own, sgp, network, served, congestion, congested: BTreeMap::new(), deadline: None }
    }

    pub(super) const fn own(&self) -> PointCode {
        self.own
    }

    /// Takes what MTP3 tells. Whether it was for the processes alone, and not for users of the gateway's point.
    pub(in crate::signalling) fn handle_mtp3(
        &mut self,
        now: Instant,
        indication: &TransferIndication,
    ) -> bool {
        match indication {
            TransferIndication::Transfer(transfer) if !self.served.contains(&transfer.label.dpc) => {
                return false;
            }
            TransferIndication::Transfer(transfer) => {
                self.sgp.transfer(self.network, transfer.clone());
                return true;
            }
            // What lies behind the gateway its process knows best.
            TransferIndication::Pause(code) | TransferIndication::Resume(code)
                if self.served.contains(code) =>
            {
                return false;
            }
            TransferIndication::Pause(code) => drop(self.congested.remove(code)),
            TransferIndication::Status { affected, cause: StatusCause::Congestion(level) }
                if *level > 0 && self.congestion == CongestionMethod::National =>
            {
                self.congested.insert(*affected, now + CONGESTION_LASTS);
            }
            TransferIndication::Resume(_) | TransferIndication::Status { .. } => {}
        }
        self.sgp.handle_indication(self.network, indication.clone());
        false
    }

    /// Does what is due by now. `status` is what MTP3 knows of the congestion of a destination, where networks have
    /// that.
    pub(super) fn handle_deadline(&mut self, now: Instant, status: impl Fn(PointCode) -> u8) {
        self.sgp.handle_timeout(now);
        let due: Vec<_> =
            self.congested.extract_if(.., |_, until| *until <= now).map(|(code, _)| code).collect();
        for code in due {
            match status(code) {
                0 => self.sgp.set_congestion((self.network, code), 0),
                _ => drop(self.congested.insert(code, now + CONGESTION_LASTS)),
            }
        }
    }

    pub(super) fn congestion_ends(&self) -> Option<Instant> {
        self.congested.values().copied().min()
    }
}
