//! A generator at one point with an account for each of its links.

use slantpath_base::{Instant, Seed};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{Account, Generator, GeneratorError, LinkNumber, Report, Routing};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::config::{LoadConfig, UserPlace};

/// What became of the messages of one of a load's links.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadReport {
    /// Which of the load's links.
    pub link: LinkNumber,
    /// What became of its messages.
    pub report: Report,
}

#[derive(Debug)]
pub(super) struct Load {
    pub(super) from: UserPlace,
    origin: PointCode,
    destinations: Vec<PointCode>,
    service: ServiceIndicator,
    subsystem: Option<Ssn>,
    /// Where messages leave for: the destinations, or the node that translates.
    towards: Vec<PointCode>,
    start: Instant,
    begun: Progress,
    generator: Generator,
    accounts: Vec<Account>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    NotBegun,
    Begun,
}

impl Load {
    pub(super) fn new(config: LoadConfig, seed: Seed) -> Result<Self, GeneratorError> {
        let LoadConfig { name, from, generator, destinations, subsystem, give_up_after } = config;
        let (service, towards) = match &generator.routing {
            Routing::GlobalTitle { translator, .. } => (ServiceIndicator::SCCP, vec![*translator]),
            Routing::PointCode { destinations, service } => (*service, destinations.clone()),
        };
        let accounts = vec![Account::new(give_up_after); usize::from(generator.links)];
        Ok(Self {
            from,
            origin: generator.origin,
            destinations,
            service,
            subsystem,
            towards,
            start: generator.start,
            begun: Progress::NotBegun,
            generator: Generator::new(generator, seed, &format!("signalling/load/{name}"))?,
            accounts,
        })
    }

    /// The user part that sends.
    pub(super) const fn service(&self) -> ServiceIndicator {
        self.service
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.begun {
            Progress::NotBegun => Some(self.start),
            Progress::Begun => self.generator.next_due(),
        }
    }

    /// Once the load begins: the points that it goes towards, which may be unreachable from the outset.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Vec<PointCode>> {
        (self.begun == Progress::NotBegun && self.start <= now).then(|| {
            self.begun = Progress::Begun;
            self.towards.clone()
        })
    }

    /// The next message that is due. What becomes of it below is told by `refused`.
    pub(super) fn poll(&mut self, now: Instant) -> Option<slantpath_ss7::load::Message> {
        let message = self.generator.poll(now)?;
        self.accounts[usize::from(message.link.0)].sent(now, &message);
        Some(message)
    }

    pub(super) fn refused(&mut self, message: &slantpath_ss7::load::Message) {
        self.accounts[usize::from(message.link.0)].refused(message);
    }

    /// What MTP tells the sending end: reachability counts from the start of the load.
    pub(super) fn tell(&mut self, now: Instant, indication: &TransferIndication) {
        let affected = match indication {
            TransferIndication::Pause(affected) | TransferIndication::Resume(affected) => affected,
            TransferIndication::Status { .. } | TransferIndication::Transfer(_) => return,
        };
        if self.begun == Progress::Begun && self.towards.contains(affected) {
            for account in &mut self.accounts {
                account.handle(now, indication);
            }
        }
    }

    /// Takes a message that came to a user part, if it is one of this load's.
    pub(super) fn arrived(&mut self, now: Instant, transfer: &Transfer) -> bool {
        let is_ours = self.subsystem.is_none()
            && transfer.label.opc == self.origin
            && transfer.service.indicator == self.service
            && self.destinations.contains(&transfer.label.dpc);
        let link = LinkNumber::of_transfer(transfer).filter(|_| is_ours);
        let account = link.and_then(|link| self.accounts.get_mut(usize::from(link.0)));
        account.map(|account| account.arrived(now, transfer)).is_some()
    }

    /// The same for a unitdata that came to a subsystem.
    pub(super) fn arrived_unitdata(&mut self, now: Instant, at: PointCode, ssn: Ssn, data: &[u8]) -> bool {
        let is_ours = self.subsystem == Some(ssn) && self.destinations.contains(&at);
        let link = LinkNumber::of_unitdata(data).filter(|_| is_ours);
        let account = link.and_then(|link| self.accounts.get_mut(usize::from(link.0)));
        account.map(|account| account.arrived_unitdata(now, at, data)).is_some()
    }

    pub(super) fn reports(&mut self, now: Instant) -> Vec<LoadReport> {
        let begin = self.start.min(now);
        let accounts = (0_u8..=u8::MAX).zip(&mut self.accounts);
        accounts
            .map(|(link, account)| LoadReport { link: LinkNumber(link), report: account.report(begin, now) })
            .collect()
    }
}
