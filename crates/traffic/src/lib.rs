//! Users of signalling points: loads, each a generator at one point with an account for each of its links.
//!
//! A load sends as a user part and reads what arrives, wherever that is. It stands above points and processes, which
//! know nothing of it. Nor does it know what drives them: a simulation has the loads of all points together, a
//! traffic simulator those of one that is live.
//!
//! [`Loads`] finds the load that something concerns. [`number_links`] tells the links of loads apart whose messages
//! look alike where they arrive. [`Loads::follow`] keeps the account of a load that another program sends.

mod following;

use std::collections::BTreeMap;

use slantpath_base::{Duration, Instant, Seed};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{self, Account, Generator, GeneratorError, LinkNumber, LoadStamp, Report};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication};

use slantpath_signalling::network::{LoadConfig, NetworkConfigError, UserPlace};

pub use following::Clocks;
use following::{Following, MOST_AHEAD};

/// Counts of what the sending end of a load has been told by MTP-STATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusCounts {
    /// Congestion towards one of its destinations.
    pub congested: u64,
    /// A user part that is not there.
    pub no_user: u64,
}

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
    /// Instant at which it ends.
    stop: Instant,
    give_up_after: Duration,
    heard: StatusCounts,
    /// Another program's load has this, and nothing is sent here.
    following: Option<Following>,
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
            stop: generator.stop,
            give_up_after,
            heard: StatusCounts::default(),
            following: None,
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
        self.poll_stamped(now, None)
    }

    /// Variant of [`Load::poll`] whose message says the nanoseconds of the sender's clock, if it has room for them.
    ///
    /// # Panics
    /// As [`Load::poll`] does.
    pub fn poll_stamped(&mut self, now: Instant, clock: Option<u64>) -> Option<load::Message> {
        let message = self.generator.poll_stamped(now, clock)?;
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
            TransferIndication::Status { affected, cause } => {
                if self.begun == Progress::Begun && self.towards.contains(affected) {
                    match cause {
                        StatusCause::Congestion(_) => self.heard.congested += 1,
                        StatusCause::UserPartUnavailable { .. } => self.heard.no_user += 1,
                    }
                }
                return;
            }
            TransferIndication::Transfer(_) => return,
        };
        if self.begun == Progress::Begun && self.towards.contains(affected) {
            for account in &mut self.accounts {
                account.handle(now, indication);
            }
        }
    }

    /// Takes a message with this load's label, if it has a stamp of one of its links.
    fn arrived(&mut self, now: Instant, transfer: &Transfer) -> bool {
        if self.following.is_some()
            && let Some(stamp) = LoadStamp::of_transfer(transfer)
        {
            self.catch_up(now, stamp);
        }
        let account = LinkNumber::of_transfer(transfer).and_then(|link| self.account(link));
        account.map(|account| account.arrived(now, transfer)).is_some()
    }

    /// Variant of [`arrived`](Self::arrived) for a unitdata that came to this load's subsystem.
    fn arrived_unitdata(&mut self, now: Instant, at: PointCode, data: &[u8]) -> bool {
        if self.following.is_some()
            && let Some(stamp) = LoadStamp::of_unitdata(data)
        {
            self.catch_up(now, stamp);
        }
        let account = LinkNumber::of_unitdata(data).and_then(|link| self.account(link));
        account.map(|account| account.arrived_unitdata(now, at, data)).is_some()
    }

    /// Account of the link which a stamp names, if it is one of this load's.
    fn account(&mut self, link: LinkNumber) -> Option<&mut Account> {
        self.accounts.get_mut(usize::from(link.0.checked_sub(self.first_link)?))
    }

    /// Another program's message has come: what was due before it has been sent, too.
    fn catch_up(&mut self, now: Instant, stamp: LoadStamp) {
        let Some(mut following) = self.following else { return };
        let Some(next) = self.generator.next_number(stamp.link) else { return };
        let Some(number) = stamp.number_near(next) else { return };
        if number >= next.saturating_add(MOST_AHEAD) {
            return;
        }
        let mut last_due = None;
        while self.generator.next_number(stamp.link).is_some_and(|next| next <= number) {
            let Some(due) = self.send_elsewhere(&following, Instant::FAR_FUTURE, now) else { break };
            last_due = Some(due);
        }
        let counts_from = following.counts_from(now, last_due, stamp);
        self.following = Some(following);
        if let (Some(from), Some(account)) = (counts_from, self.account(stamp.link)) {
            account.sent_at(stamp.link, number, from);
        }
    }

    /// Takes the next message that another program was to send until an instant of its schedule as sent.
    fn send_elsewhere(&mut self, following: &Following, until: Instant, now: Instant) -> Option<Instant> {
        let due = self.generator.next_due().filter(|due| *due <= until)?;
        let message = self.generator.poll(due)?;
        self.account(message.link)?.sent(following.sent(due, now), &message);
        Some(due)
    }

    /// All that another program was to send has been sent, once its load has ended.
    fn end_elsewhere(&mut self, now: Instant) {
        let Some(following) = self.following else { return };
        if following.schedule(now).is_some_and(|schedule| schedule >= self.stop) {
            while self.send_elsewhere(&following, self.stop, now).is_some() {}
        }
    }

    /// Tells if what was sent has arrived or been given up. Of another program's load: if it has ended, too.
    fn is_settled(&mut self, now: Instant) -> bool {
        if let Some(following) = &self.following {
            let last = self.stop.saturating_add(self.give_up_after);
            return following.schedule(now).is_some_and(|schedule| schedule >= last);
        }
        self.reports(now).iter().all(|link| link.report.outstanding == 0)
    }

    fn reports(&mut self, now: Instant) -> Vec<LinkLoadReport> {
        self.end_elsewhere(now);
        let began = self.following.map_or(Duration::ZERO, |following| following.begins());
        let begin = self.start.saturating_add(began).min(now);
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

    /// Instant at which a load is to be polled next.
    pub fn deadline(&self, number: usize) -> Option<Instant> {
        self.all.get(number)?.deadline()
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

    /// Has a load's account kept here though another program sends it: what arrives says when, at a clock that read
    /// `epoch` nanoseconds at the start.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn follow(&mut self, number: usize, clocks: Clocks, epoch: u64) {
        self.all[number].following = Some(Following::new(clocks, epoch));
    }

    /// Counts of what the sending end of a load has been told by MTP-STATUS.
    pub fn heard(&self, number: usize) -> StatusCounts {
        self.all.get(number).map_or_else(StatusCounts::default, |load| load.heard)
    }

    /// Tells if what was sent of a load has arrived or been given up; of another program's, if it has ended, too.
    pub fn is_settled(&mut self, now: Instant, number: usize) -> bool {
        self.all.get_mut(number).is_none_or(|load| load.is_settled(now))
    }

    /// Reports on a load's messages up to `now`, one for each of its links.
    pub fn reports(&mut self, now: Instant, number: usize) -> Vec<LinkLoadReport> {
        self.all.get_mut(number).map(|load| load.reports(now)).unwrap_or_default()
    }
}
