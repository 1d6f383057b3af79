//! Users of signalling points: loads, each a generator at one point with an account for each of its links.
//!
//! A load sends as a user part and reads what arrives, wherever that is. It stands above points and processes, which
//! know nothing of it. Nor does it know what drives them: a simulation has the loads of all points together, a
//! traffic simulator those of one that is live.
//!
//! [`Loads`] finds the load that something concerns. [`number_links`] tells the links of loads apart whose messages
//! look alike where they arrive.

use std::collections::BTreeMap;

use slantpath_base::{Instant, Seed};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{self, Account, Generator, GeneratorError, LinkNumber, Report};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use slantpath_signalling::network::{LoadConfig, NetworkConfigError, UserPlace};

/// Report on the messages of one of a load's links.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkLoadReport {
    /// Number of the link among those of the load.
    pub link: LinkNumber,
    /// Report on its messages.
    pub report: Report,
}

/// A generator at one point, with the accounts of its links.
#[derive(Debug)]
pub struct Load {
    from: UserPlace,
    /// Service indicators with which its messages leave: that of messages by point code, and SCCP of those by global
    /// title.
    services: Vec<ServiceIndicator>,
    /// Point codes that they leave for: the destinations, and the node that translates.
    towards: Vec<PointCode>,
    /// The number of its first link in stamps.
    first_link: u8,
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
        let LoadConfig { name, from, generator, give_up_after, .. } = config;
        let (mut services, mut towards) = (Vec::new(), Vec::new());
        if let Some((title, _)) = generator.routing.title() {
            services.push(ServiceIndicator::SCCP);
            towards.push(title.translator);
        }
        if let Some((code, _)) = generator.routing.code() {
            services.push(code.service);
            towards.extend(
                code.destinations.iter().filter(|to| !towards.contains(to)).copied().collect::<Vec<_>>(),
            );
        }
        let accounts = vec![Account::new(give_up_after); usize::from(generator.links)];
        Ok(Self {
            from,
            services,
            towards,
            first_link: generator.first_link,
            start: generator.start,
            begun: Progress::NotBegun,
            generator: Generator::new(generator, seed, &format!("signalling/load/{name}"))?,
            accounts,
        })
    }

    /// Place of the user part that sends.
    pub const fn from(&self) -> UserPlace {
        self.from
    }

    /// Instant at which it is to be polled next.
    pub fn deadline(&self) -> Option<Instant> {
        match self.begun {
            Progress::NotBegun => Some(self.start),
            Progress::Begun => self.generator.next_due(),
        }
    }

    /// Once the load begins: the points that it goes towards, which may be unreachable from the outset.
    pub fn begin(&mut self, now: Instant) -> Option<Vec<PointCode>> {
        (self.begun == Progress::NotBegun && self.start <= now).then(|| {
            self.begun = Progress::Begun;
            self.towards.clone()
        })
    }

    /// The next message that is due. One that the layer below refuses is to be given to [`Load::refused`].
    ///
    /// # Panics
    /// If the generator gives a link that it does not have.
    pub fn poll(&mut self, now: Instant) -> Option<load::Message> {
        let message = self.generator.poll(now)?;
        self.account(message.link).expect("each link has an account").sent(now, &message);
        Some(message)
    }

    /// The layer below has refused a message.
    ///
    /// # Panics
    /// If the message is none of this load's.
    pub fn refused(&mut self, message: &load::Message) {
        self.account(message.link).expect("each link has an account").refused(message);
    }

    /// Takes an indication of MTP to the sending end: reachability counts from the start of the load.
    pub fn indicate(&mut self, now: Instant, indication: &TransferIndication) {
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

    /// Variant of [`arrived`](Self::arrived) for a unitdata that came to this load's subsystem.
    fn arrived_unitdata(&mut self, now: Instant, at: PointCode, data: &[u8]) -> bool {
        let account = LinkNumber::of_unitdata(data).and_then(|link| self.account(link));
        account.map(|account| account.arrived_unitdata(now, at, data)).is_some()
    }

    /// Account of the link which a stamp names, if it is one of this load's.
    fn account(&mut self, link: LinkNumber) -> Option<&mut Account> {
        self.accounts.get_mut(usize::from(link.0.checked_sub(self.first_link)?))
    }

    fn reports(&mut self, now: Instant) -> Vec<LinkLoadReport> {
        let begin = self.start.min(now);
        let accounts = (0_u8..=u8::MAX).zip(&mut self.accounts);
        accounts
            .map(|(link, account)| LinkLoadReport {
                link: LinkNumber(link),
                report: account.report(begin, now),
            })
            .collect()
    }
}

/// By what messages of a load are known where they arrive, beside their stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// Origin, destination and service indicator.
    Label(PointCode, PointCode, u8),
    /// The subsystem at a point.
    Subsystem(PointCode, Ssn),
}

fn arrivals_of(config: &LoadConfig) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    if let Some((code, _)) = config.generator.routing.code() {
        let label = |to: &PointCode| Arrival::Label(config.generator.origin, *to, code.service.value());
        arrivals.extend(config.destinations.iter().map(label));
    }
    if config.generator.routing.title().is_some()
        && let Some(ssn) = config.subsystem
    {
        arrivals.extend(config.destinations.iter().map(|to| Arrival::Subsystem(*to, ssn)));
    }
    arrivals
}

/// Numbers the links of loads whose messages nothing but their stamps tells apart where they arrive: each load begins
/// at a multiple of 16 behind those of all before it that are alike. The first load whose links have no number left is
/// the error.
///
/// # Errors
/// The number of that load.
pub fn number_links(loads: &mut [LoadConfig]) -> Result<(), usize> {
    let arrivals: Vec<Vec<Arrival>> = loads.iter().map(arrivals_of).collect();
    for number in 0..loads.len() {
        let alike = |other: &usize| arrivals[*other].iter().any(|arrival| arrivals[number].contains(arrival));
        let end = |other: usize| {
            let generator = &loads[other].generator;
            (u16::from(generator.first_link) + generator.links).next_multiple_of(16)
        };
        let first = (0..number).filter(alike).map(end).max().unwrap_or(0);
        let generator = &mut loads[number].generator;
        let is_numbered = first == 0 || first + generator.links <= 256;
        generator.first_link = u8::try_from(first).ok().filter(|_| is_numbered).ok_or(number)?;
    }
    Ok(())
}

/// All loads of a network, found by what concerns them.
#[derive(Debug)]
pub struct Loads {
    all: Vec<Load>,
    /// Loads that send from a place.
    by_place: BTreeMap<UserPlace, Vec<usize>>,
    /// Loads whose messages may have an origin, a destination and a service indicator.
    by_label: BTreeMap<(PointCode, PointCode, u8), Vec<usize>>,
    /// Loads whose unitdata may come to a subsystem.
    by_subsystem: BTreeMap<(PointCode, Ssn), Vec<usize>>,
}

impl Loads {
    /// Loads whose random streams derive from `seed` and their names.
    ///
    /// # Errors
    /// The first whose settings are wrong.
    pub fn new(configs: Vec<LoadConfig>, seed: Seed) -> Result<Self, NetworkConfigError> {
        let mut loads = Self {
            all: Vec::new(),
            by_place: BTreeMap::new(),
            by_label: BTreeMap::new(),
            by_subsystem: BTreeMap::new(),
        };
        for (number, config) in configs.into_iter().enumerate() {
            let name = config.name.clone();
            let arrivals = arrivals_of(&config);
            let load = Load::new(config, seed)
                .map_err(|error| NetworkConfigError::Generator { load: name, error })?;
            loads.by_place.entry(load.from).or_default().push(number);
            for arrival in arrivals {
                let own = match arrival {
                    Arrival::Label(origin, to, service) => {
                        loads.by_label.entry((origin, to, service)).or_default()
                    }
                    Arrival::Subsystem(to, ssn) => loads.by_subsystem.entry((to, ssn)).or_default(),
                };
                if own.last() != Some(&number) {
                    own.push(number);
                }
            }
            loads.all.push(load);
        }
        Ok(loads)
    }

    /// Number of loads.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Tells if there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The load of a number.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn load_mut(&mut self, number: usize) -> &mut Load {
        &mut self.all[number]
    }

    /// MTP indicates something to a user part at a place; above M3UA, to all user parts there.
    pub fn indicate(
        &mut self,
        now: Instant,
        place: UserPlace,
        user: Option<ServiceIndicator>,
        indication: &TransferIndication,
    ) {
        for number in self.by_place.get(&place).into_iter().flatten() {
            let load = &mut self.all[*number];
            if user.is_none_or(|user| load.services.contains(&user)) {
                load.indicate(now, indication);
            }
        }
    }

    /// A message came to a user part. Whether it is one of a load.
    pub fn arrived(&mut self, now: Instant, transfer: &Transfer) -> bool {
        let label = (transfer.label.opc, transfer.label.dpc, transfer.service.indicator.value());
        let candidates = self.by_label.get(&label).into_iter().flatten();
        candidates.into_iter().any(|number| self.all[*number].arrived(now, transfer))
    }

    /// A unitdata came to a subsystem of the point of that code. Whether it is one of a load.
    pub fn arrived_unitdata(&mut self, now: Instant, at: PointCode, ssn: Ssn, data: &[u8]) -> bool {
        let candidates = self.by_subsystem.get(&(at, ssn)).into_iter().flatten();
        candidates.into_iter().any(|number| self.all[*number].arrived_unitdata(now, at, data))
    }

    /// Reports on a load's messages up to `now`, one for each of its links.
    pub fn reports(&mut self, now: Instant, number: usize) -> Vec<LinkLoadReport> {
        self.all.get_mut(number).map(|load| load.reports(now)).unwrap_or_default()
    }
}
