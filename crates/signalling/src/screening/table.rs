//! Rules and rates in tables, by where a message comes from and by its service indicator.

use std::collections::BTreeMap;

use slantpath_base::Instant;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation};
use slantpath_ss7::sccp::{AddressFormat, MessageView, PartyAddress, ReturnCause};

use super::bucket::Bucket;
use super::{Gate, ScreenedType, ScreeningAction, ScreeningConfig, ScreeningCounts, ScreeningCriteria};

/// Messages refused for one indication of congestion, as for congested links (Q.704, section 11.2.3).
const REFUSALS_PER_INDICATION: u64 = 8;

/// A message as rules see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) service: ServiceInformation,
    pub(crate) label: RoutingLabel,
    pub(crate) user_part: &'a [u8],
}

/// Decision about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Message goes on.
    Pass,
    /// Message goes no further, by the entry of that number.
    Discard(usize),
    /// Message goes no further, and SCCP answers where it can.
    Reject(usize, ReturnCause),
    /// Message goes no further, since the rate of that number is used up. True if it is time to tell of it.
    Over(usize, bool),
}

#[derive(Clone, Debug)]
struct Rate {
    bucket: Bucket,
    /// Number of its gate towards which messages belong to it.
    towards: Option<Gate>,
}

/// Entries that may fit messages of one service indicator from one gate, by their numbers.
#[derive(Clone, Debug, Default)]
struct Candidates {
    rules: Box<[usize]>,
    rates: Box<[usize]>,
}

/// Rules and rates of a point at work. Rates are numbered behind rules.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    config: ScreeningConfig,
    addresses: AddressFormat,
    /// Gates that a message may come by, in their order.
    gates: Vec<Gate>,
    /// By gate and service indicator; the last is for any other gate, as of servers that processes register.
    candidates: Vec<[Candidates; 16]>,
    rates: Vec<Rate>,
    /// Rates that the message at hand belongs to: kept for its room alone.
    belongs_to: Vec<usize>,
    counts: Vec<ScreeningCounts>,
}

/// Addresses of a message, read when they are first asked for.
struct Addresses<'a> {
    view: MessageView<'a>,
    called: Party,
    calling: Party,
}

/// An address of a message, or none that it has.
enum Party {
    Unread,
    Read(Option<PartyAddress>),
}

impl Party {
    fn read(&mut self, read: impl FnOnce() -> Option<PartyAddress>) -> Option<&PartyAddress> {
        if matches!(self, Self::Unread) {
            *self = Self::Read(read());
        }
        match self {
            Self::Read(party) => party.as_ref(),
            Self::Unread => None,
        }
    }
}

impl Addresses<'_> {
    fn called(&mut self) -> Option<&PartyAddress> {
        self.called.read(|| self.view.called())
    }

    fn calling(&mut self) -> Option<&PartyAddress> {
        self.calling.read(|| self.view.calling())
    }
}

impl Screen {
    /// The tables for messages that come by these gates.
    pub(crate) fn new(config: ScreeningConfig, addresses: AddressFormat, mut gates: Vec<Gate>) -> Self {
        gates.sort_unstable();
        let criteria = |gate: Option<Gate>, si: usize| {
            let fits = move |criteria: &ScreeningCriteria| {
                (criteria.arrivals.is_empty() || gate.is_some_and(|gate| criteria.arrivals.contains(&gate)))
                    && criteria.services() & 1 << si != 0
            };
            let rules = config.rules.iter().enumerate().filter(move |(_, rule)| fits(&rule.criteria));
            let rates = config.rates.iter().enumerate().filter(move |(_, rate)| fits(&rate.criteria));
            Candidates {
                rules: rules.map(|(number, _)| number).collect(),
                rates: rates.map(|(number, _)| number).collect(),
            }
        };
        let known = gates.iter().copied().map(Some).chain([None]);
        let candidates = known.map(|gate| core::array::from_fn(|si| criteria(gate, si))).collect();
        let rates = config.rates.iter().map(|rate| Rate {
            bucket: Bucket::new(rate.messages_per_second, rate.burst),
            towards: rate.towards,
        });
        Self {
            addresses,
            candidates,
            gates,
            rates: rates.collect(),
            belongs_to: Vec::with_capacity(config.rates.len()),
            counts: vec![ScreeningCounts::default(); config.rules.len() + config.rates.len()],
            config,
        }
    }

    /// Number of a gate that messages come by; one behind all for those that nothing names.
    pub(crate) fn gate(&self, gate: Gate) -> usize {
        self.gates.binary_search(&gate).unwrap_or(self.gates.len())
    }

    /// Tells if any rule or rate may be about a message of this service information from that gate.
    pub(crate) fn may_concern(&self, gate: usize, service: u8) -> bool {
        let candidates = &self.candidates[gate][usize::from(service & 0xf)];
        !candidates.rules.is_empty() || !candidates.rates.is_empty()
    }

    pub(crate) const fn addresses(&self) -> AddressFormat {
        self.addresses
    }

    /// Goes on counting where a former table with rules and rates of the same names was. What rates had left they have.
    pub(crate) fn go_on_from(&mut self, former: &Self) {
        for (own, rate) in self.config.rates.iter().zip(&mut self.rates) {
            let place = former.config.rates.iter().position(|before| before.name == own.name);
            if let Some(before) = place.and_then(|place| former.rates.get(place)) {
                rate.bucket.go_on_from(&before.bucket);
            }
        }
        let before: BTreeMap<&str, ScreeningCounts> = former.counts().collect();
        let known: Vec<_> = self.counts().map(|(name, own)| *before.get(name).unwrap_or(&own)).collect();
        self.counts = known;
    }

    /// Rules and rates by name, each with its counts.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&str, ScreeningCounts)> {
        let rules = self.config.rules.iter().map(|rule| rule.name.as_str());
        let rates = self.config.rates.iter().map(|rate| rate.name.as_str());
        rules.chain(rates).zip(self.counts.iter().copied())
    }

    pub(crate) fn count_mut(&mut self, entry: usize) -> &mut ScreeningCounts {
        &mut self.counts[entry]
    }

    /// Decides about a message. Gives the rule that wants a copy of it as well. `leaves` is where it leaves the point,
    /// as far as that is known.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        gate: usize,
        seen: &Seen<'_>,
        leaves: impl Fn() -> Option<Gate>,
    ) -> (Decision, Option<usize>) {
        let candidates = &self.candidates[gate][usize::from(seen.service.indicator.value())];
        let view = MessageView::new(self.addresses, seen.user_part);
        let mut addresses = Addresses { view, called: Party::Unread, calling: Party::Unread };
        let mut copier = None;
        for number in candidates.rules.iter().copied() {
            let rule = &self.config.rules[number];
            if !fits(&rule.criteria, seen, &mut addresses) {
                continue;
            }
            let counts = &mut self.counts[number];
            counts.matched += 1;
            if rule.copies {
                counts.copied += 1;
                copier = Some(number);
            }
            match rule.action {
                ScreeningAction::Allow => break,
                ScreeningAction::Discard => {
                    counts.refused += 1;
                    return (Decision::Discard(number), copier);
                }
                ScreeningAction::Reject(cause) => {
                    counts.refused += 1;
                    return (Decision::Reject(number, cause), copier);
                }
            }
        }
        if candidates.rates.is_empty() {
            return (Decision::Pass, copier);
        }
        // Nothing is taken from any rate before all have something.
        let first = self.config.rules.len();
        self.belongs_to.clear();
        let mut leaving = None;
        for number in candidates.rates.iter().copied() {
            let rate = &mut self.rates[number];
            let is_towards =
                rate.towards.is_none_or(|gate| *leaving.get_or_insert_with(&leaves) == Some(gate));
            if !is_towards || !fits(&self.config.rates[number].criteria, seen, &mut addresses) {
                continue;
            }
            let counts = &mut self.counts[first + number];
            counts.matched += 1;
            if !rate.bucket.has_token(now) {
                counts.refused += 1;
                let is_time = (counts.refused - 1).is_multiple_of(REFUSALS_PER_INDICATION);
                return (Decision::Over(first + number, is_time), copier);
            }
            self.belongs_to.push(number);
        }
        for number in &self.belongs_to {
            self.rates[*number].bucket.take();
        }
        (Decision::Pass, copier)
    }
}

/// Tells if a message from the right gate and of the right service is as criteria say.
fn fits(criteria: &ScreeningCriteria, seen: &Seen<'_>, addresses: &mut Addresses<'_>) -> bool {
    let has = |wanted: &[slantpath_ss7::PointCode], code| wanted.is_empty() || wanted.contains(&code);
    has(&criteria.opcs, seen.label.opc)
        && has(&criteria.dpcs, seen.label.dpc)
        && criteria.network.is_none_or(|network| network == seen.service.network)
        && fits_type(&criteria.types, seen)
        && (!criteria.looks_at_addresses() || fits_addresses(criteria, addresses))
}

fn fits_type(types: &[ScreenedType], seen: &Seen<'_>) -> bool {
    let service = seen.service.indicator.value();
    types.is_empty()
        || seen.user_part.first().is_some_and(|code| types.contains(&ScreenedType { service, code: *code }))
}

fn fits_addresses(criteria: &ScreeningCriteria, addresses: &mut Addresses<'_>) -> bool {
    let ScreeningCriteria { called_ssns, calling_ssns, called, .. } = criteria;
    let is_among = |wanted: &[_], party: Option<&PartyAddress>| {
        wanted.is_empty() || party.and_then(|party| party.ssn).is_some_and(|ssn| wanted.contains(&ssn))
    };
    if !is_among(called_ssns, addresses.called()) {
        return false;
    }
    if !calling_ssns.is_empty() && !is_among(calling_ssns, addresses.calling()) {
        return false;
    }
    let Some(pattern) = called else { return true };
    let title = addresses.called().and_then(|party| party.global_title.as_ref());
    title.filter(|title| !title.is_opaque()).is_some_and(|title| pattern.matches(title.digits().values()))
}
