//! Load: generators at points, each with an account for each of its links.
//!
//! A load sends as a user part and reads what arrives, wherever that is: it stands above the points, which know nothing
//! of it.

use std::collections::BTreeMap;

use slantpath_base::{Instant, Seed};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{Account, Generator, GeneratorError, LinkNumber, Report, Routing};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::config::{LoadConfig, NetworkConfigError, UserPlace};

/// What became of the messages of one of a load's links.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoadReport {
    /// Which of the load's links.
    pub link: LinkNumber,
    /// What became of its messages.
    pub report: Report,
}

#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) from: UserPlace,
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
    fn new(config: LoadConfig, seed: Seed) -> Result<Self, GeneratorError> {
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

    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.begun {
            Progress::NotBegun => Some(self.start),
            Progress::Begun => self.generator.next_due(),
        }
    }

    /// Once the load begins: the points that it goes towards, which may be unreachable from the outset.
    pub(crate) fn begin(&mut self, now: Instant) -> Option<Vec<PointCode>> {
        (self.begun == Progress::NotBegun && self.start <= now).then(|| {
            self.begun = Progress::Begun;
            self.towards.clone()
        })
    }

    /// The next message that is due. One that the layer below refuses is to be given to `refused`.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<slantpath_ss7::load::Message> {
        let message = self.generator.poll(now)?;
        self.accounts[usize::from(message.link.0)].sent(now, &message);
        Some(message)
    }

    pub(crate) fn refused(&mut self, message: &slantpath_ss7::load::Message) {
        self.accounts[usize::from(message.link.0)].refused(message);
    }

    /// What MTP indicates to the sending end: reachability counts from the start of the load.
    pub(crate) fn indicate(&mut self, now: Instant, indication: &TransferIndication) {
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

    /// Takes a message with this load's label, if it has a stamp of one of its links.
    fn arrived(&mut self, now: Instant, transfer: &Transfer) -> bool {
        let account = LinkNumber::of_transfer(transfer).and_then(|link| self.account(link));
        account.map(|account| account.arrived(now, transfer)).is_some()
    }

    /// The same for a unitdata that came to this load's subsystem.
    fn arrived_unitdata(&mut self, now: Instant, at: PointCode, data: &[u8]) -> bool {
        let account = LinkNumber::of_unitdata(data).and_then(|link| self.account(link));
        account.map(|account| account.arrived_unitdata(now, at, data)).is_some()
    }

    fn account(&mut self, link: LinkNumber) -> Option<&mut Account> {
        self.accounts.get_mut(usize::from(link.0))
    }

    fn reports(&mut self, now: Instant) -> Vec<LoadReport> {
        let begin = self.start.min(now);
        let accounts = (0_u8..=u8::MAX).zip(&mut self.accounts);
        accounts
            .map(|(link, account)| LoadReport { link: LinkNumber(link), report: account.report(begin, now) })
            .collect()
    }
}

/// All loads of a network, found by what concerns them.
#[derive(Debug)]
pub(crate) struct Loads {
    all: Vec<Load>,
    /// Those that send from a place.
    by_place: BTreeMap<UserPlace, Vec<usize>>,
    /// Those whose messages may have an origin, a destination and a service indicator.
    by_label: BTreeMap<(PointCode, PointCode, u8), Vec<usize>>,
    /// Those whose unitdata may come to a subsystem.
    by_subsystem: BTreeMap<(PointCode, Ssn), Vec<usize>>,
}

impl Loads {
    /// Random streams derive from `seed` and the loads' names.
    pub(crate) fn new(configs: Vec<LoadConfig>, seed: Seed) -> Result<Self, NetworkConfigError> {
        let mut loads = Self {
            all: Vec::new(),
            by_place: BTreeMap::new(),
            by_label: BTreeMap::new(),
            by_subsystem: BTreeMap::new(),
        };
        for (number, config) in configs.into_iter().enumerate() {
            let name = config.name.clone();
            let load = Load::new(config, seed)
                .map_err(|error| NetworkConfigError::Generator { load: name, error })?;
            loads.by_place.entry(load.from).or_default().push(number);
            for destination in &load.destinations {
                let own = if let Some(ssn) = load.subsystem {
                    loads.by_subsystem.entry((*destination, ssn)).or_default()
                } else {
                    let label = (load.origin, *destination, load.service.value());
                    loads.by_label.entry(label).or_default()
                };
                if own.last() != Some(&number) {
                    own.push(number);
                }
            }
            loads.all.push(load);
        }
        Ok(loads)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn load_mut(&mut self, number: usize) -> &mut Load {
        &mut self.all[number]
    }

    /// MTP indicates something to a user part at a place; above M3UA, to all user parts there.
    pub(crate) fn indicate(
        &mut self,
        now: Instant,
        place: UserPlace,
        user: Option<ServiceIndicator>,
        indication: &TransferIndication,
    ) {
        for number in self.by_place.get(&place).into_iter().flatten() {
            let load = &mut self.all[*number];
            if user.is_none_or(|user| user == load.service) {
                load.indicate(now, indication);
            }
        }
    }

    /// A message came to a user part. Whether it is one of a load.
    pub(crate) fn arrived(&mut self, now: Instant, transfer: &Transfer) -> bool {
        let label = (transfer.label.opc, transfer.label.dpc, transfer.service.indicator.value());
        let candidates = self.by_label.get(&label).into_iter().flatten();
        candidates.into_iter().any(|number| self.all[*number].arrived(now, transfer))
    }

    /// A unitdata came to a subsystem of the point of that code. Whether it is one of a load.
    pub(crate) fn arrived_unitdata(&mut self, now: Instant, at: PointCode, ssn: Ssn, data: &[u8]) -> bool {
        let candidates = self.by_subsystem.get(&(at, ssn)).into_iter().flatten();
        candidates.into_iter().any(|number| self.all[*number].arrived_unitdata(now, at, data))
    }

    pub(crate) fn reports(&mut self, now: Instant, number: usize) -> Vec<LoadReport> {
        self.all.get_mut(number).map(|load| load.reports(now)).unwrap_or_default()
    }
}
