//! Gateway screening: rules for messages that come to a point, and rates of what it takes (Q.705, section 8; GR-82).
//!
//! Rules are asked in their order, and the first that fits a message decides. What rules let pass then takes from every
//! rate that it belongs to, or is refused by the first that has nothing left. Rules about user parts alone are
//! meant for management, too, only where they name a message of it: a rule for everything keeps links up.
//!
//! [`Screen`] has the rules in tables by arrival and service indicator, so that a message meets those alone which may
//! fit. It allocates nothing for a message, but for a global title of indicator 2.

mod bucket;
mod table;

use bytes::Bytes;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::mtp3::node::LinkSetId;
use slantpath_ss7::sccp::gtt::DigitPattern;
use slantpath_ss7::sccp::{PartyAddress, ReturnCause, Ssn};

pub(crate) use table::{Decision, Screen, Seen};

/// Screening of a point. Nothing in it lets everything pass, at no cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreeningConfig {
    /// Rules, in the order in which they are asked.
    pub rules: Vec<ScreeningRule>,
    /// Rates of what is taken.
    pub rates: Vec<RateLimit>,
}

/// A rule of screening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreeningRule {
    /// Name of the rule in results.
    pub name: String,
    /// Messages that it fits.
    pub criteria: ScreeningCriteria,
    /// Action on these.
    pub action: ScreeningAction,
    /// True if a copy of each is given to whoever captures.
    pub copies: bool,
}

/// Action on a message that a rule fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreeningAction {
    /// Message goes on.
    Allow,
    /// Message is thrown away and counted.
    Discard,
    /// Message is thrown away, and SCCP answers with this cause where it has an answer.
    Reject(ReturnCause),
}

/// A rate of messages that a point takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// Name of the rate in results.
    pub name: String,
    /// Messages that belong to it.
    pub criteria: ScreeningCriteria,
    /// Messages that belong to it by where they leave; all if absent.
    pub towards: Option<Gate>,
    /// Messages a second in the long run.
    pub messages_per_second: u32,
    /// Messages that may come at once after a pause.
    pub burst: u32,
}

/// Gate of a point through which messages come and leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A link set of its MTP3.
    LinkSet(LinkSetId),
    /// The application server of that routing context, behind the gateway at the point.
    Server(u32),
}

/// A type of message of a service indicator: the first octet behind the label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScreenedType {
    /// Service indicator of the message.
    pub service: u8,
    /// Message type of SCCP, or heading code of MTP3's management.
    pub code: u8,
}

/// Criteria for messages. An empty list asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreeningCriteria {
    /// Gates that they come by.
    pub arrivals: Vec<Gate>,
    /// Originating point codes.
    pub opcs: Vec<PointCode>,
    /// Destination point codes.
    pub dpcs: Vec<PointCode>,
    /// Service indicators; those of user parts, 3 to 15, if no type is given either.
    pub services: Vec<u8>,
    /// Network indicator, if one is asked for.
    pub network: Option<NetworkIndicator>,
    /// Types of messages.
    pub types: Vec<ScreenedType>,
    /// Subsystems of the called party.
    pub called_ssns: Vec<Ssn>,
    /// Subsystems of the calling party.
    pub calling_ssns: Vec<Ssn>,
    /// Digits of the called party's global title.
    pub called: Option<DigitPattern>,
}

/// Counts of a rule or a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScreeningCounts {
    /// Messages that it fitted, and that no earlier rule had decided about.
    pub matched: u64,
    /// Messages among these that went no further.
    pub refused: u64,
    /// Answers of SCCP to these: UDTS, XUDTS, LUDTS, CREF.
    pub returned: u64,
    /// Answers of MTP3 to these: TFC.
    pub transfer_controlled: u64,
    /// Indications of congestion to application servers: SCON.
    pub congestion_indicated: u64,
    /// Copies that were given out.
    pub copied: u64,
}

/// A copy of a message that a rule asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenedCopy {
    /// Number of the rule at its point.
    pub rule: usize,
    /// Gate that the message came by.
    pub arrival: Gate,
    /// The message from its service information octet on.
    pub octets: Bytes,
}

/// Service indicator of SCCP.
const SCCP: u8 = 3;
/// Service indicator of MTP3's management.
const MANAGEMENT: u8 = 0;

impl ScreeningCriteria {
    /// Tells if a message of that service indicator may fit: bit by bit.
    fn services(&self) -> u16 {
        const USERS: u16 = 0xfff8;
        let asked =
            |services: &mut dyn Iterator<Item = u8>| services.fold(0, |all, si| all | 1 << (si & 0xf));
        let by_service = asked(&mut self.services.iter().copied());
        let by_type = asked(&mut self.types.iter().map(|own| own.service));
        let services = match (by_service, by_type) {
            (0, 0) => USERS,
            (services, 0) | (0, services) => services,
            (by_service, by_type) => by_service & by_type,
        };
        if self.looks_at_addresses() { services & 1 << SCCP } else { services }
    }

    /// Tells if addresses of SCCP have to be read for it.
    const fn looks_at_addresses(&self) -> bool {
        self.called.is_some() || !self.called_ssns.is_empty() || !self.calling_ssns.is_empty()
    }

    /// Tells if SCCP alone is asked for.
    pub fn is_of_sccp(&self) -> bool {
        self.services() == 1 << SCCP
    }

    /// Tells if no message can fit it.
    pub fn is_empty(&self) -> bool {
        self.services() == 0
    }

    /// Tells if it asks for messages of MTP3's management.
    pub fn asks_for_management(&self) -> bool {
        self.services() & 1 << MANAGEMENT != 0
    }

    /// Tells if they may fit unitdata for that called party at the point of that code: true if they fit all of it. None
    /// if they fit nothing of it.
    pub fn concerns_title(&self, dpc: PointCode, called: &PartyAddress) -> Option<bool> {
        let title = called.global_title.as_ref().filter(|title| !title.is_opaque());
        let fits_digits = self
            .called
            .as_ref()
            .is_none_or(|pattern| title.is_some_and(|title| pattern.matches(title.digits().values())));
        let fits_ssn =
            self.called_ssns.is_empty() || called.ssn.is_some_and(|ssn| self.called_ssns.contains(&ssn));
        let is_for_point = self.dpcs.is_empty() || self.dpcs.contains(&dpc);
        let is_possible = self.services() & 1 << SCCP != 0 && fits_digits && fits_ssn && is_for_point;
        is_possible.then(|| {
            self.arrivals.is_empty()
                && self.opcs.is_empty()
                && self.network.is_none()
                && self.types.is_empty()
                && self.calling_ssns.is_empty()
        })
    }

    /// Tells if every message that other criteria fit is fitted by these, too.
    pub fn covers(&self, other: &Self) -> bool {
        fn all<T: PartialEq>(own: &[T], other: &[T]) -> bool {
            own.is_empty() || !other.is_empty() && other.iter().all(|one| own.contains(one))
        }
        let fits_digits = match (&self.called, &other.called) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => own.covers(other),
        };
        other.services() & !self.services() == 0
            && all(&self.arrivals, &other.arrivals)
            && all(&self.opcs, &other.opcs)
            && all(&self.dpcs, &other.dpcs)
            && (self.network.is_none() || self.network == other.network)
            && all(&self.types, &other.types)
            && all(&self.called_ssns, &other.called_ssns)
            && all(&self.calling_ssns, &other.calling_ssns)
            && fits_digits
    }
}

impl ScreeningConfig {
    /// Tells if there is nothing to be asked.
    pub const fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.rates.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_cover_those_that_ask_for_more_of_the_same() {
        let all = ScreeningCriteria::default();
        let from = |codes: &[u32]| ScreeningCriteria {
            opcs: codes.iter().copied().map(PointCode).collect(),
            ..ScreeningCriteria::default()
        };
        let title = |digits| ScreeningCriteria {
            called: Some(DigitPattern::parse(digits).unwrap()),
            ..ScreeningCriteria::default()
        };
        let of_network =
            ScreeningCriteria { network: Some(NetworkIndicator::National), ..ScreeningCriteria::default() };
        let to_caller =
            ScreeningCriteria { called_ssns: vec![Ssn(6)], calling_ssns: vec![Ssn(8)], ..all.clone() };
        let to_all = ScreeningCriteria { called_ssns: vec![Ssn(6)], ..all.clone() };
        assert!(to_all.covers(&to_caller) && !to_caller.covers(&to_all));
        for (one, other) in [
            (&all, &from(&[1])),
            (&from(&[1, 2]), &from(&[2])),
            (&all, &title("49*")),
            (&title("4*"), &title("49*")),
            (&all, &of_network),
            (&all, &to_caller),
        ] {
            assert!(one.covers(other), "{one:?} {other:?}");
            assert!(!other.covers(one), "{one:?} {other:?}");
        }
    }

    #[test]
    fn management_is_asked_for_by_name_alone() {
        let all = ScreeningCriteria::default();
        let transfer_prohibited = ScreeningCriteria {
            types: vec![ScreenedType { service: 0, code: 0x14 }],
            ..ScreeningCriteria::default()
        };
        assert!(!all.asks_for_management() && !all.covers(&transfer_prohibited));
        assert!(transfer_prohibited.asks_for_management());
        let ssn = ScreeningCriteria { called_ssns: vec![Ssn(6)], ..transfer_prohibited };
        assert!(ssn.is_empty() && !all.is_of_sccp());
    }

    #[test]
    fn services_and_types_are_both_asked_for() {
        let udt = ScreenedType { service: 3, code: 9 };
        let own = |services: &[u8]| ScreeningCriteria {
            services: services.to_vec(),
            types: vec![udt],
            ..ScreeningCriteria::default()
        };
        assert!(own(&[3, 5]).is_of_sccp() && own(&[]).is_of_sccp());
        assert!(own(&[5]).is_empty());
    }

    #[test]
    fn a_title_is_concerned_for_certain_by_what_its_called_party_says() {
        let digits = slantpath_ss7::sccp::Digits::parse("4912").unwrap();
        let title = slantpath_ss7::sccp::GlobalTitle::with(Some(0), Some(1), Some(4), digits);
        let party = PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() };
        let told = |own: ScreeningCriteria| own.concerns_title(PointCode(2), &party);
        let all = ScreeningCriteria::default;
        assert_eq!(told(all()), Some(true));
        assert_eq!(told(ScreeningCriteria { dpcs: vec![PointCode(2)], ..all() }), Some(true));
        assert_eq!(told(ScreeningCriteria { dpcs: vec![PointCode(1)], ..all() }), None);
        assert_eq!(told(ScreeningCriteria { called_ssns: vec![Ssn(7)], ..all() }), None);
        assert_eq!(told(ScreeningCriteria { services: vec![5], ..all() }), None);
        for uncertain in [
            ScreeningCriteria { calling_ssns: vec![Ssn(8)], ..all() },
            ScreeningCriteria { opcs: vec![PointCode(1)], ..all() },
            ScreeningCriteria { network: Some(NetworkIndicator::National), ..all() },
            ScreeningCriteria { arrivals: vec![Gate::Server(1)], ..all() },
            ScreeningCriteria { types: vec![ScreenedType { service: 3, code: 9 }], ..all() },
        ] {
            assert_eq!(told(uncertain.clone()), Some(false), "{uncertain:?}");
        }
    }
}
