//! A gateway's process and its nodal interworking function: what MTP3 and the process have for one another (RFC 4666,
//! section 1.4.3.2).

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp;
use slantpath_sigtran::m3ua::{self, Sgp, SgpConfig};
use slantpath_sigtran::transport::{AssociationNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, CongestionMethod};
use slantpath_ss7::mtp3::{RoutingLabel, ServiceIndicator};
use slantpath_ss7::transfer::{StatusCause, TransferIndication};

use crate::m3ua::Tallies;

/// Time that a destination counts as congested after an MTP-STATUS, before MTP3 is asked again: it does not indicate
/// the end. An international network keeps no such status (RFC 4666, section 4.5.3).
const CONGESTION_LASTS: Duration = Duration::from_secs(10);

/// Settings that make a point a signalling gateway.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Settings of the process towards the ASPs.
    pub sgp: SgpConfig,
    /// The network of its point codes, where messages name it.
    pub network: Option<u32>,
    /// Associations with the ASPs.
    pub associations: Vec<AssociationNumber>,
}

/// The process and the interworking function of a gateway.
#[derive(Debug)]
pub(crate) struct Gateway {
    pub(crate) sgp: Sgp,
    pub(crate) tallies: Tallies,
    network: Option<u32>,
    /// Point codes of application servers.
    served: BTreeSet<PointCode>,
    congestion: CongestionMethod,
    /// Until when destinations count as congested.
    congested: BTreeMap<PointCode, Instant>,
    /// Status that MTP3 has indicated last, to which user, and when. It gives all users the same, and the processes
    /// need it once.
    indicated: Option<(Instant, ServiceIndicator, TransferIndication)>,
}

impl Gateway {
    pub(crate) fn new(config: GatewayConfig, mtp3: &node::Config) -> Result<Self, asp::ConfigError> {
        let GatewayConfig { sgp, network, associations } = config;
        let destinations = sgp.servers.iter().flat_map(|server| &server.key.destinations);
        let served = destinations.map(|destination| destination.dpc).collect();
        let mut sgp = Sgp::new(sgp)?;
        // Its own users are there whatever happens to its links.
        sgp.handle_indication(network, TransferIndication::Resume(mtp3.point_code));
        Ok(Self {
            sgp,
            tallies: Tallies::new(associations),
            network,
            served,
            congestion: mtp3.congestion,
            congested: BTreeMap::new(),
            indicated: None,
        })
    }

    /// Names the first setting that a running gateway keeps as it is, of those that differ from another one's.
    pub(crate) fn fixed_difference(&self, to: &Self) -> Option<&'static str> {
        if self.network != to.network {
            return Some("network appearance");
        }
        self.sgp.config().fixed_difference(to.sgp.config())
    }

    /// Takes the place of a running gateway.
    pub(crate) fn take_over(&mut self, now: Instant, former: Self) {
        let config = self.sgp.config().clone();
        self.sgp = former.sgp;
        for gone in former.tallies.associations().filter(|known| self.tallies.of(*known).is_none()) {
            self.sgp.forget(gone);
        }
        let taken = self.sgp.reconfigure(now, config);
        debug_assert_eq!(taken, Ok(()), "it was checked when the successor was made");
        self.tallies.take_over(&former.tallies);
        self.congested = former.congested;
    }

    pub(crate) fn counters(&self) -> (&m3ua::Counters, usize) {
        (self.sgp.counters(), self.sgp.waiting())
    }

    pub(crate) fn handle_transport(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        input: TransportInput,
    ) {
        self.tallies.received(association, &input);
        self.sgp.handle_input(now, association, input);
    }

    /// Takes an indication of MTP3 to a user. Whether it was for the processes alone, and not for users of the
    /// gateway's point.
    pub(crate) fn handle_mtp3(
        &mut self,
        now: Instant,
        user: ServiceIndicator,
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
            TransferIndication::Status { .. } if self.is_of_another_user(now, user, indication) => {}
            _ => self.tell(now, indication),
        }
        false
    }

    /// Tells whether another user has been given a status just now. The same user is given a new one.
    fn is_of_another_user(
        &mut self,
        now: Instant,
        user: ServiceIndicator,
        status: &TransferIndication,
    ) -> bool {
        let is_so = self
            .indicated
            .as_ref()
            .is_some_and(|(at, first, indicated)| *at == now && *first != user && indicated == status);
        if !is_so {
            self.indicated = Some((now, user, status.clone()));
        }
        is_so
    }

    /// Tells the processes what MTP3 or screening says of a destination.
    pub(crate) fn tell(&mut self, now: Instant, indication: &TransferIndication) {
        match indication {
            TransferIndication::Pause(code) => drop(self.congested.remove(code)),
            TransferIndication::Status { affected, cause: StatusCause::Congestion(level) }
                if *level > 0 && self.congestion == CongestionMethod::National =>
            {
                self.congested.insert(*affected, now + CONGESTION_LASTS);
            }
            _ => {}
        }
        self.sgp.handle_indication(self.network, indication.clone());
    }

    /// The application server that a message is for, by its routing context.
    pub(crate) fn server_of(&self, label: &RoutingLabel, user: ServiceIndicator) -> Option<u32> {
        self.served.contains(&label.dpc).then(|| self.sgp.server_of(self.network, label, user)).flatten()
    }

    /// Tells whether a message is for a point behind the gateway, of which no application server takes that user part
    /// from that origin.
    pub(crate) fn lacks_server_of(&self, label: &RoutingLabel, user: ServiceIndicator) -> bool {
        let is_test = [ServiceIndicator::TEST, ServiceIndicator::TEST_SPECIAL].contains(&user);
        !is_test
            && self.served.contains(&label.dpc)
            && self.sgp.server_of(self.network, label, user).is_none()
    }

    /// Does what is due by now. `status` is what MTP3 knows of the congestion of a destination, where networks have
    /// that.
    pub(crate) fn handle_deadline(&mut self, now: Instant, status: impl Fn(PointCode) -> u8) {
        self.sgp.handle_deadline(now);
        let due: Vec<_> =
            self.congested.extract_if(.., |_, until| *until <= now).map(|(code, _)| code).collect();
        for code in due {
            match status(code) {
                0 => self.sgp.set_congestion((self.network, code), 0),
                _ => drop(self.congested.insert(code, now + CONGESTION_LASTS)),
            }
        }
    }

    pub(crate) fn congestion_ends(&self) -> Option<Instant> {
        self.congested.values().copied().min()
    }
}
