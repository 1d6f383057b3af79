//! One rule of a translation: what an address must be, and what becomes of it.

use crate::sccp::gtt::{DigitPattern, Entity, RouteOn};
use crate::sccp::{Digits, GlobalTitle, PartyAddress, Ssn};

/// A rule: for titles like that, go to one of that group with the title changed so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule in messages and diagnostics.
    pub name: String,
    /// The digits of the called party's title.
    pub digits: DigitPattern,
    /// Conditions that must hold beside the digits.
    pub conditions: Conditions,
    /// Change of the title as it leaves.
    pub change: TitleChange,
    /// The name of the group of entities that the message goes to.
    pub group: String,
}

/// Conditions of a rule beside the digits; `None` asks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conditions {
    /// Translation type that is asked for.
    pub translation_type: Option<u8>,
    /// Numbering plan that is asked for.
    pub plan: Option<u8>,
    /// Nature of address indicator.
    pub nature: Option<u8>,
    /// Subsystem number of the called party.
    pub ssn: Option<Ssn>,
    /// Digits of the calling party's title.
    pub calling: Option<DigitPattern>,
}

/// Changes of the digits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DigitChange {
    /// Some digits are cut off the front and others put before the rest. What grows beyond the limit loses its end.
    Edit {
        /// Number of leading digits that are cut off.
        delete: usize,
        /// Digits that are put in their place.
        insert: Digits,
        /// The most digits of the result.
        limit: usize,
    },
    /// Digits that stay as they are.
    #[default]
    Keep,
    /// Others take their place.
    Replace(Digits),
}

/// Changes of a title. A title gets the indicator that has room for what is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TitleChange {
    /// Of its digits.
    pub digits: DigitChange,
    /// The new translation type, if it changes.
    pub translation_type: Option<u8>,
    /// The new numbering plan, if it changes.
    pub plan: Option<u8>,
    /// The new nature of address, if it changes.
    pub nature: Option<u8>,
}

/// Numbering plans (Q.713, section 3.4.2.3.3).
pub mod numbering_plan {
    /// ISDN and telephony, E.164.
    pub const E164: u8 = 1;
    /// Land mobile, E.212: an IMSI.
    pub const E212: u8 = 6;
    /// ISDN and mobile, E.214: a mobile global title.
    pub const E214: u8 = 7;
}

/// Nature of address (Q.713, section 3.4.2.3.1): an international number.
pub const INTERNATIONAL: u8 = 4;

/// The most digits of E.164, E.212 and E.214.
const LONGEST_NUMBER: usize = 15;

impl TitleChange {
    /// The mobile global title of an IMSI (E.214; 3GPP TS 23.003, section 13): the mobile country and network
    /// codes, 5 or 6 digits, give way to the country code and the network's national destination code, and the
    /// result is cut after 15 digits.
    pub fn e214_from_e212(country_and_network_digits: usize, country_and_destination: Digits) -> Self {
        let digits = DigitChange::Edit {
            delete: country_and_network_digits,
            insert: country_and_destination,
            limit: LONGEST_NUMBER,
        };
        Self { digits, translation_type: None, plan: Some(numbering_plan::E214), nature: Some(INTERNATIONAL) }
    }

    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The title as it leaves.
    pub fn apply(&self, title: &GlobalTitle) -> GlobalTitle {
        if self.is_none() {
            return title.clone();
        }
        let old = title.digits();
        let digits = match &self.digits {
            DigitChange::Edit { delete, insert, limit } => {
                let rest = old.values().get(*delete..).unwrap_or_default();
                Digits::from_values(insert.values().iter().chain(rest).copied().take(*limit))
            }
            DigitChange::Keep => old.into_owned(),
            DigitChange::Replace(digits) => digits.clone(),
        };
        let attributes = title.attributes();
        let translation_type = self.translation_type.or(attributes.translation_type);
        let plan = self.plan.or(attributes.plan);
        let nature = self.nature.or(attributes.nature);
        GlobalTitle::with(translation_type, plan, nature, digits)
    }
}

impl Rule {
    /// The called party address with which a message leaves for an entity.
    pub fn address(&self, called: &PartyAddress, entity: &Entity) -> PartyAddress {
        PartyAddress {
            routes_on_ssn: entity.routing == RouteOn::Ssn,
            national: called.national,
            point_code: None,
            spare: 0,
            ssn: entity.ssn.or(called.ssn),
            global_title: called.global_title.as_ref().map(|title| self.change.apply(title)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Digits {
        Digits::parse(text).unwrap()
    }

    fn title(plan: u8, text: &str) -> GlobalTitle {
        GlobalTitle::with(Some(0), Some(plan), Some(INTERNATIONAL), digits(text))
    }

    #[test]
    fn an_imsi_becomes_a_mobile_global_title() {
        let change = TitleChange::e214_from_e212(5, digits("49171"));
        let changed = change.apply(&title(numbering_plan::E212, "262011234567890"));
        assert_eq!(changed, title(numbering_plan::E214, "491711234567890"));
        let longer = TitleChange::e214_from_e212(5, digits("4917100"));
        assert_eq!(longer.apply(&title(6, "262011234567890")), title(7, "491710012345678"));
    }

    #[test]
    fn digits_are_cut_put_before_and_replaced() {
        let edit = |delete, insert: &str| TitleChange {
            digits: DigitChange::Edit { delete, insert: digits(insert), limit: 255 },
            ..TitleChange::default()
        };
        assert_eq!(edit(1, "0049").apply(&title(1, "01712345")), title(1, "00491712345"));
        assert_eq!(edit(9, "1").apply(&title(1, "017")), title(1, "1"));
        let replace = TitleChange { digits: DigitChange::Replace(digits("5")), ..TitleChange::default() };
        assert_eq!(replace.apply(&title(1, "017")), title(1, "5"));
    }

    #[test]
    fn a_title_gets_the_indicator_that_has_room_for_what_is_set() {
        let short = GlobalTitle::with(Some(9), None, None, digits("1234"));
        assert!(matches!(short, GlobalTitle::Translation { translation_type: 9, .. }));
        let change = TitleChange { plan: Some(1), ..TitleChange::default() };
        let changed = change.apply(&short);
        assert_eq!(changed, GlobalTitle::with(Some(9), Some(1), None, digits("1234")));
        assert!(matches!(changed, GlobalTitle::TranslationPlan { translation_type: 9, plan: 1, .. }));
    }
}
