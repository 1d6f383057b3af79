//! Screening of what comes to a point, over a link or from an application server, and what is answered to a refusal.
//!
//! MTP3 answers by transfer controlled (Q.704, section 13.8), M3UA by SCON (RFC 4666, section 3.4.4), SCCP by a service
//! message or a refusal of the connection. Nothing else has an answer; all is counted.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::mtp3::node::{LinkSetId, Mtp3LinkId};
use slantpath_ss7::mtp3::{self, Msu};
use slantpath_ss7::sccp::{ReturnCause, answer_refused};
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication};

use super::{PointOutput, SignallingPoint};
use crate::screening::{Decision, Gate, Screen, ScreenedCopy, ScreeningConfig, ScreeningCounts, Seen};

/// Screening at a point with the gates of its links.
#[derive(Debug)]
pub(super) struct Screened {
    screen: Screen,
    /// Link set of each link of MTP3.
    link_sets: Vec<LinkSetId>,
    /// Number of the gate of each link set.
    gates: Vec<usize>,
}

impl Screened {
    /// Screening of a point with that MTP3, and these application servers behind it; none if there is nothing to ask.
    pub(super) fn new(
        config: ScreeningConfig,
        mtp3: &mtp3::node::Config,
        servers: impl Iterator<Item = u32>,
    ) -> Option<Self> {
        if config.is_empty() {
            return None;
        }
        let sets = || (0_u16..).map(LinkSetId).zip(&mtp3.link_sets);
        let addresses = match mtp3.format {
            slantpath_ss7::PointCodeFormat::Ansi => slantpath_ss7::sccp::AddressFormat::Ansi,
            _ => slantpath_ss7::sccp::AddressFormat::Itu,
        };
        let gates = sets().map(|(id, _)| Gate::LinkSet(id)).chain(servers.map(Gate::Server)).collect();
        let screen = Screen::new(config, addresses, gates);
        let gates = sets().map(|(id, _)| screen.gate(Gate::LinkSet(id))).collect();
        let link_sets = sets().flat_map(|(id, set)| set.links.iter().map(move |_| id)).collect();
        Some(Self { screen, link_sets, gates })
    }
}

impl Screened {
    /// Goes on counting where that of a former configuration was.
    pub(super) fn go_on_from(&mut self, former: &Self) {
        self.screen.go_on_from(&former.screen);
    }
}

impl SignallingPoint {
    /// Gives the counts of each screening rule and rate, by name, in their order.
    pub fn screening_counts(&self) -> impl Iterator<Item = (&str, ScreeningCounts)> {
        self.screened.iter().flat_map(|own| own.screen.counts())
    }

    /// Tells if a message that a link brought may go on to MTP3.
    pub(super) fn passes_from_link(&mut self, now: Instant, link: Mtp3LinkId, octets: &Bytes) -> bool {
        let Some(own) = &mut self.screened else { return true };
        let link_set = own.link_sets[usize::from(link.0)];
        let gate = own.gates[usize::from(link_set.0)];
        if !octets.first().is_some_and(|service| own.screen.may_concern(gate, *service)) {
            return true;
        }
        // What cannot be read MTP3 counts.
        let Ok(msu) = Msu::parse(octets, self.mtp3.config().format) else { return true };
        let seen = Seen { service: msu.service, label: msu.label, user_part: msu.user_part };
        let (mtp3, sets) = (&self.mtp3, &own.link_sets);
        let gateway = self.gateway.as_ref();
        let leaves = || {
            let server = gateway.and_then(|gateway| gateway.server_of(&msu.label, msu.service.indicator));
            server.map(Gate::Server).or_else(|| leaving_link_set(mtp3, sets, &msu))
        };
        let (decision, copier) = own.screen.judge(now, gate, &seen, leaves);
        if let Some(rule) = copier {
            let arrival = Gate::LinkSet(link_set);
            let copy = ScreenedCopy { rule, arrival, octets: octets.clone() };
            self.outputs.push_back(PointOutput::Copied(copy));
        }
        let (entry, cause) = match decision {
            Decision::Pass => return true,
            Decision::Discard(_) => return false,
            Decision::Reject(entry, cause) => (entry, cause),
            Decision::Over(entry, is_time) => {
                if is_time {
                    self.mtp3.refuse_for_load(now, msu.label);
                    self.count(entry).transfer_controlled += 1;
                    self.work.mark(self.upper_part());
                }
                (entry, ReturnCause::NETWORK_CONGESTION)
            }
        };
        let user_data = octets.slice_ref(msu.user_part);
        let refused = Transfer { service: msu.service, label: msu.label, user_data };
        self.answer(now, entry, &refused, cause);
        false
    }

    /// A message of an application server is examined. It goes on, or ends here.
    pub(super) fn examine(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        routing_context: u32,
        network: Option<u32>,
        message: Transfer,
    ) {
        let is_admitted = self.passes_from_server(now, routing_context, &message);
        let Some(gateway) = &mut self.gateway else { return };
        if is_admitted {
            gateway.sgp.admit(from, network, message);
        } else {
            gateway.sgp.refuse();
        }
    }

    fn passes_from_server(&mut self, now: Instant, routing_context: u32, message: &Transfer) -> bool {
        let Some(own) = &mut self.screened else { return true };
        let arrival = Gate::Server(routing_context);
        let gate = own.screen.gate(arrival);
        let Transfer { service, label, user_data } = message;
        if !own.screen.may_concern(gate, service.to_octet()) {
            return true;
        }
        let (mtp3, sets) = (&self.mtp3, &own.link_sets);
        let gateway = self.gateway.as_ref();
        let msu = Msu { service: *service, label: *label, user_part: user_data };
        let leaves = || {
            let server = gateway.and_then(|gateway| gateway.server_of(label, service.indicator));
            server.map(Gate::Server).or_else(|| leaving_link_set(mtp3, sets, &msu))
        };
        let seen = Seen { service: *service, label: *label, user_part: user_data };
        let (decision, copier) = own.screen.judge(now, gate, &seen, leaves);
        if let Some(rule) = copier {
            let mut octets = Vec::new();
            msu.emit(self.mtp3.config().format, &mut octets);
            let copy = ScreenedCopy { rule, arrival, octets: octets.into() };
            self.outputs.push_back(PointOutput::Copied(copy));
        }
        let (entry, cause) = match decision {
            Decision::Pass => return true,
            Decision::Discard(_) => return false,
            Decision::Reject(entry, cause) => (entry, cause),
            Decision::Over(entry, is_time) => {
                if let (true, Some(gateway)) = (is_time, &mut self.gateway) {
                    let cause = StatusCause::Congestion(1);
                    gateway.tell(now, &TransferIndication::Status { affected: label.dpc, cause });
                    self.count(entry).congestion_indicated += 1;
                }
                (entry, ReturnCause::NETWORK_CONGESTION)
            }
        };
        self.answer(now, entry, message, cause);
        false
    }

    /// SCCP's answer to a refused message, if there is one.
    fn answer(&mut self, now: Instant, entry: usize, refused: &Transfer, cause: ReturnCause) {
        let Some(own) = &self.screened else { return };
        let code = self.mtp3.config().point_code;
        let Some(answer) = answer_refused(own.screen.addresses(), code, refused, cause) else { return };
        // What MTP3 refuses it has counted under its reason.
        if self.mtp3.transfer(now, &answer).is_ok() {
            self.count(entry).returned += 1;
        }
        self.work.mark(self.upper_part());
    }

    fn count(&mut self, entry: usize) -> &mut ScreeningCounts {
        self.screened.as_mut().expect("a decision is by one of its entries").screen.count_mut(entry)
    }
}

/// The link set by which MTP3 sends a message on now.
fn leaving_link_set(mtp3: &mtp3::Node, sets: &[LinkSetId], msu: &Msu<'_>) -> Option<Gate> {
    let link = mtp3.link_for(msu.label.dpc, msu.label.sls)?;
    sets.get(usize::from(link.0)).copied().map(Gate::LinkSet)
}
