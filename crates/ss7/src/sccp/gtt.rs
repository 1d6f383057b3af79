//! Global title translation (Q.714, section 2.4): from an address that people dial to a node and a subsystem.
//!
//! A [`Translator`] is one node's table of rules. Which entity of a group is taken depends on what can be reached,
//! which the caller knows. [`find_loops`] looks at the tables of all nodes together, before anything runs.

mod follow;
mod group;
mod loops;
mod pattern;
mod rule;
mod signals;
mod trie;

use std::collections::{BTreeMap, BTreeSet};

use trie::{Candidate, Trie};

use crate::sccp::{GlobalTitle, PartyAddress, Ssn};

pub use follow::{DeadEnd, Ending, Followed, Outcome, find_dead_ends, follow};
pub use group::{Entity, Group, RouteOn, Share, Shared, Sharing};
pub use loops::{LoopSearch, TranslationLoop, find_loops};
pub use pattern::{DigitPattern, PatternError, PatternPlace};
pub use rule::{Conditions, DigitChange, INTERNATIONAL, Rule, TitleChange, numbering_plan};

/// The rules of one node, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Translator {
    rules: Vec<Rule>,
    groups: Vec<Group>,
    /// The place of each rule's group.
    targets: Vec<u32>,
    /// Conditions of the rules beside the digits, each combination once.
    conditions: Vec<Wanted>,
    trie: Trie,
}

/// Conditions of a rule beside the digits, in a form that is quickly checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    /// Translation type, numbering plan, nature and subsystem, a byte each, where `mask` has ones.
    values: u32,
    mask: u32,
    has_calling: bool,
}

/// Outcome of translating an address.
#[derive(Clone, Copy, Debug)]
pub struct Translation<'a> {
    /// Rule that fits the address.
    pub rule: &'a Rule,
    /// Group of entities that the message may go to.
    pub group: &'a Group,
    /// Place of that group among the translator's.
    pub group_number: usize,
}

/// Why there is no translation (Q.713, section 3.12, causes 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTranslation {
    /// There are rules for such addresses, and none for this.
    Address,
    /// There is no rule for that translation type, numbering plan and nature at all.
    Nature,
}

/// Faults of a table of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GttError {
    /// Two rules ask for the same.
    #[error(
        "the rules `{first}` and `{second}` ask for the same: the second would never be taken; remove one"
    )]
    Contradiction {
        /// The rule that would be taken.
        first: String,
        /// The rule that would not.
        second: String,
    },
    /// Two groups have one name.
    #[error("there are two groups named `{0}`: rename one")]
    DoubleGroup(String),
    /// A group without entities.
    #[error("the group `{0}` has no entity: give it one, or remove the group")]
    EmptyGroup(String),
    /// More combinations of conditions than can be told apart.
    #[error("the rules ask for more than 65536 combinations of translation type, plan, nature and subsystem")]
    TooManyConditions,
    /// A rule names a group that does not exist.
    #[error("the rule `{rule}` goes to `{group}`, which is no group")]
    UnknownGroup {
        /// Name of the rule.
        rule: String,
        /// The name that it gives.
        group: String,
    },
    /// An entity that would never get anything.
    #[error("an entity of the group `{0}` has weight 0: give it at least 1, or remove it")]
    ZeroWeight(String),
}

impl Translator {
    /// Checks the rules and prepares them.
    pub fn new(rules: Vec<Rule>, groups: Vec<Group>) -> Result<Self, GttError> {
        let mut numbers = BTreeMap::new();
        for (number, group) in (0_u32..).zip(&groups) {
            if group.entities.is_empty() {
                return Err(GttError::EmptyGroup(group.name.clone()));
            }
            if group.entities.iter().any(|entity| entity.weight == 0) {
                return Err(GttError::ZeroWeight(group.name.clone()));
            }
            if numbers.insert(group.name.as_str(), number).is_some() {
                return Err(GttError::DoubleGroup(group.name.clone()));
            }
        }
        let mut targets = Vec::with_capacity(rules.len());
        let mut seen = BTreeMap::new();
        for rule in &rules {
            let unknown = || GttError::UnknownGroup { rule: rule.name.clone(), group: rule.group.clone() };
            targets.push(*numbers.get(rule.group.as_str()).ok_or_else(unknown)?);
            if let Some(first) = seen.insert((&rule.digits, &rule.conditions), rule) {
                let (first, second) = (first.name.clone(), rule.name.clone());
                return Err(GttError::Contradiction { first, second });
            }
        }
        let wanted: Vec<Wanted> = rules.iter().map(|rule| Wanted::new(&rule.conditions)).collect();
        let conditions: Vec<Wanted> = wanted.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let numbers: BTreeMap<Wanted, u16> = conditions.iter().copied().zip(0..=u16::MAX).collect();
        let mut patterns = Vec::with_capacity(rules.len());
        for (((rule, wanted), group), number) in rules.iter().zip(&wanted).zip(&targets).zip(0_u32..) {
            let conditions = *numbers.get(wanted).ok_or(GttError::TooManyConditions)?;
            patterns.push((&rule.digits, Candidate { rule: number, group: *group, conditions }));
        }
        // The rule that asks for more goes first; the sort keeps the order of the table among equals.
        patterns.sort_by_key(|(_, candidate)| {
            let wanted = conditions[usize::from(candidate.conditions)];
            core::cmp::Reverse((wanted.has_calling, wanted.mask.count_ones()))
        });
        let trie = Trie::new(&patterns);
        drop(patterns);
        Ok(Self { rules, groups, targets, conditions, trie })
    }

    /// The rules, in the order in which they were given.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The groups, in the order in which they were given.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Finds the translation of a called party address. Among rules that fit, the most specific pattern wins; among
    /// rules with the same pattern, that which asks for the calling party, then that which asks for more.
    pub fn translate(
        &self,
        called: &PartyAddress,
        calling: Option<&PartyAddress>,
    ) -> Result<Translation<'_>, NoTranslation> {
        let title = called.global_title.as_ref().filter(|title| !title.is_opaque());
        let title = title.ok_or(NoTranslation::Nature)?;
        let given = Given::new(title, called.ssn);
        let fits = |candidate: Candidate| {
            let wanted = self.conditions[usize::from(candidate.conditions)];
            (given.values & wanted.mask) == wanted.values
                && wanted.mask & !given.mask == 0
                && (!wanted.has_calling || self.fits_calling(candidate, calling))
        };
        let Some(found) = self.trie.find(title.digits().values(), &fits) else {
            return Err(self.why_not(title.attributes()));
        };
        let rule = found.rule as usize;
        let group_number = found.group as usize;
        Ok(Translation { rule: &self.rules[rule], group: &self.groups[group_number], group_number })
    }

    fn fits_calling(&self, candidate: Candidate, calling: Option<&PartyAddress>) -> bool {
        let wanted = self.rules[candidate.rule as usize].conditions.calling.as_ref();
        let title =
            calling.and_then(|calling| calling.global_title.as_ref()).filter(|title| !title.is_opaque());
        match (wanted, title) {
            (Some(wanted), Some(title)) => wanted.matches(title.digits().values()),
            (wanted, _) => wanted.is_none(),
        }
    }

    fn why_not(&self, title: crate::sccp::TitleAttributes) -> NoTranslation {
        let knows_nature = self.rules.iter().any(|Rule { conditions, .. }| {
            let fits = |wanted: Option<u8>, given: Option<u8>| wanted.is_none() || wanted == given;
            fits(conditions.translation_type, title.translation_type)
                && fits(conditions.plan, title.plan)
                && fits(conditions.nature, title.nature)
        });
        if knows_nature { NoTranslation::Address } else { NoTranslation::Nature }
    }
}

impl Wanted {
    fn new(conditions: &Conditions) -> Self {
        let asked = [
            conditions.translation_type,
            conditions.plan,
            conditions.nature,
            conditions.ssn.map(|ssn| ssn.0),
        ];
        let values = u32::from_be_bytes(asked.map(|value| value.unwrap_or(0)));
        let mask = u32::from_be_bytes(asked.map(|value| if value.is_some() { u8::MAX } else { 0 }));
        Self { values, mask, has_calling: conditions.calling.is_some() }
    }
}

/// Attributes of an address beside its digits, in the form of [`Wanted`].
#[derive(Clone, Copy, Debug)]
struct Given {
    values: u32,
    mask: u32,
}

impl Given {
    #[inline]
    const fn new(title: &GlobalTitle, ssn: Option<Ssn>) -> Self {
        let (values, mask) = match *title {
            GlobalTitle::Opaque(_) => ([0, 0, 0], 0),
            GlobalTitle::Nature { nature, .. } => ([0, 0, nature], 0x0000_ff00),
            GlobalTitle::Translation { translation_type, .. } => ([translation_type, 0, 0], 0xff00_0000),
            GlobalTitle::TranslationPlan { translation_type, plan, .. } => {
                ([translation_type, plan, 0], 0xffff_0000)
            }
            GlobalTitle::TranslationPlanNature { translation_type, plan, nature, .. } => {
                ([translation_type, plan, nature & 0x7f], 0xffff_ff00)
            }
        };
        let [translation_type, plan, nature] = values;
        let (ssn, ssn_mask) = match ssn {
            Some(Ssn(ssn)) => (ssn, 0xff),
            None => (0, 0),
        };
        Self { values: u32::from_be_bytes([translation_type, plan, nature, ssn]), mask: mask | ssn_mask }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::PointCode;
    use crate::sccp::Digits;
    use proptest::prelude::*;

    pub(crate) fn entity(code: u32, routing: RouteOn) -> Entity {
        Entity { point_code: PointCode(code), ssn: None, routing, weight: 1 }
    }

    pub(crate) fn group(name: &str, entities: Vec<Entity>) -> Group {
        Group { name: name.into(), sharing: Sharing::Dominant, entities }
    }

    pub(crate) fn rule(name: &str, digits: &str, group: &str) -> Rule {
        Rule {
            name: name.into(),
            digits: DigitPattern::parse(digits).unwrap(),
            conditions: Conditions::default(),
            change: TitleChange::default(),
            group: group.into(),
        }
    }

    pub(crate) fn titled(digits: &str) -> PartyAddress {
        let digits = Digits::parse(digits).unwrap();
        let title = GlobalTitle::with(Some(0), Some(1), Some(INTERNATIONAL), digits);
        PartyAddress { ssn: Some(Ssn(6)), global_title: Some(title), ..PartyAddress::default() }
    }

    /// Every condition, asking for that value; nobody's title has it that is not asked.
    pub(crate) fn conditions_of(value: u8) -> [Conditions; 5] {
        let nothing = Conditions::default;
        [
            Conditions { translation_type: Some(value), ..nothing() },
            Conditions { plan: Some(value), ..nothing() },
            Conditions { nature: Some(value), ..nothing() },
            Conditions { ssn: Some(Ssn(value)), ..nothing() },
            Conditions { calling: Some(DigitPattern::parse(&format!("{value}*")).unwrap()), ..nothing() },
        ]
    }

    fn chosen(
        rules: Vec<Rule>,
        called: &PartyAddress,
        calling: Option<&PartyAddress>,
    ) -> Result<String, NoTranslation> {
        let groups = vec![group("g", vec![entity(1, RouteOn::Ssn)])];
        let translator = Translator::new(rules, groups).unwrap();
        translator.translate(called, calling).map(|translation| translation.rule.name.clone())
    }

    #[test]
    fn a_rule_that_asks_for_more_goes_before_one_with_the_same_digits() {
        let with = |name: &str, conditions| Rule { conditions, ..rule(name, "49*", "g") };
        let rules = || {
            vec![
                rule("plain", "49*", "g"),
                with("ssn", Conditions { ssn: Some(Ssn(6)), ..Conditions::default() }),
                with(
                    "calling",
                    Conditions {
                        calling: Some(DigitPattern::parse("33*").unwrap()),
                        ..Conditions::default()
                    },
                ),
            ]
        };
        let called = titled("49123");
        assert_eq!(chosen(rules(), &called, None), Ok("ssn".into()));
        assert_eq!(chosen(rules(), &called, Some(&titled("3311"))), Ok("calling".into()));
        assert_eq!(chosen(rules(), &called, Some(&titled("4411"))), Ok("ssn".into()));
        let other = PartyAddress { ssn: Some(Ssn(7)), ..called };
        assert_eq!(chosen(rules(), &other, None), Ok("plain".into()));
    }

    #[test]
    fn a_failure_says_whether_the_nature_or_the_address_is_unknown() {
        let conditions = Conditions { plan: Some(numbering_plan::E212), ..Conditions::default() };
        let rules = || vec![Rule { conditions: conditions.clone(), ..rule("imsi", "262*", "g") }];
        assert_eq!(chosen(rules(), &titled("262"), None), Err(NoTranslation::Nature));
        let imsi = |digits: &str| {
            let title = GlobalTitle::with(Some(0), Some(6), Some(4), Digits::parse(digits).unwrap());
            PartyAddress { global_title: Some(title), ..PartyAddress::default() }
        };
        assert_eq!(chosen(rules(), &imsi("301"), None), Err(NoTranslation::Address));
        assert_eq!(chosen(rules(), &imsi("26201"), None), Ok("imsi".into()));
    }

    #[test]
    fn a_title_without_an_attribute_does_not_fit_a_rule_that_asks_for_it() {
        let conditions = Conditions { nature: Some(0), ..Conditions::default() };
        let rules = vec![Rule { conditions, ..rule("a", "1*", "g") }];
        let title = GlobalTitle::with(Some(0), Some(1), None, Digits::parse("1").unwrap());
        let called = PartyAddress { global_title: Some(title), ..PartyAddress::default() };
        assert_eq!(chosen(rules, &called, None), Err(NoTranslation::Nature));
    }

    #[test]
    fn tables_that_cannot_be_meant_are_refused() {
        let one = || vec![group("g", vec![entity(1, RouteOn::Ssn)])];
        let refused = |rules, groups| Translator::new(rules, groups).unwrap_err().to_string();
        let twice = vec![rule("a", "4*", "g"), rule("b", "4*", "g")];
        assert!(refused(twice, one()).contains("`a` and `b` ask for the same"));
        assert!(refused(vec![rule("a", "4*", "h")], one()).contains("`h`, which is no group"));
        assert!(refused(vec![], vec![group("g", vec![])]).contains("has no entity"));
        let idle = Entity { weight: 0, ..entity(1, RouteOn::Ssn) };
        assert!(refused(vec![], vec![group("g", vec![idle])]).contains("weight 0"));
        assert!(refused(vec![], [one(), one()].concat()).contains("two groups"));
    }

    proptest! {
        #[test]
        fn the_rule_that_is_found_fits(
            patterns in proptest::collection::btree_set("[0-2?]{0,5}[*]?", 1..20),
            digits in "[0-2]{0,7}",
        ) {
            let rules: Vec<Rule> = patterns.iter().map(|pattern| rule(pattern, pattern, "g")).collect();
            let called = titled(&digits);
            let fits = rules.iter().any(|rule| rule.digits.matches(
                called.global_title.as_ref().unwrap().digits().values()));
            prop_assert_eq!(chosen(rules, &called, None).is_ok(), fits);
        }
    }
}
