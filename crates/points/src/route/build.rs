//! The global title translations of a point, once their names are resolved.

use slantpath_ss7::sccp::gtt::{
    Conditions, DigitChange, DigitPattern, Entity, Group, GttError, Rule, TitleChange, Translator,
};
use slantpath_ss7::sccp::{Digits, Ssn};

use crate::by_point::ByPoint;
use crate::names::{Unresolved, code, known};
use crate::schema::Signalling;

/// The most digits of a title that a translation makes longer.
const MOST_DIGITS: usize = 15;

/// The name of a translation in messages: its place in the list, as `--set` counts.
pub(crate) fn translation_name(number: usize) -> String {
    format!("signalling.translations.{number}")
}

/// Why the translations of a point make no table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoTranslator {
    /// They contradict each other.
    Contradictory(GttError),
    /// Something that one of them names or dials is nothing.
    Unresolved(Unresolved),
}

impl From<Unresolved> for NoTranslator {
    fn from(unresolved: Unresolved) -> Self {
        Self::Unresolved(unresolved)
    }
}

/// The translations of a point.
pub(crate) fn translator(
    signalling: &Signalling,
    by_point: &ByPoint<'_>,
    point: &str,
) -> Result<Translator, NoTranslator> {
    let (mut rules, mut groups) = (Vec::new(), Vec::new());
    for (number, translation) in by_point.translations(point) {
        let name = translation_name(*number);
        let weight = |place: usize| translation.weights.as_ref()?.get(place).copied();
        let entity = |(place, to): (usize, &String)| {
            Ok::<_, Unresolved>(Entity {
                point_code: code(signalling, to)?,
                ssn: translation.to_subsystem.map(|ssn| Ssn(*ssn)),
                routing: translation.route_on.policy(),
                weight: weight(place).unwrap_or(1),
            })
        };
        groups.push(Group {
            name: name.clone(),
            sharing: translation.sharing.policy(),
            entities: translation.to.iter().enumerate().map(entity).collect::<Result<_, _>>()?,
        });
        let pattern = |text: &str| known(DigitPattern::parse(text).ok(), text);
        let insert = known(Digits::parse(&translation.insert).ok(), &translation.insert)?;
        let digits = if *translation.delete == 0 && translation.insert.is_empty() {
            DigitChange::Keep
        } else {
            DigitChange::Edit { delete: usize::from(*translation.delete), insert, limit: MOST_DIGITS }
        };
        rules.push(Rule {
            name: name.clone(),
            digits: pattern(&translation.digits)?,
            conditions: Conditions {
                translation_type: translation.translation_type.map(|value| *value),
                plan: translation.plan.map(|value| *value),
                nature: translation.nature.map(|value| *value),
                ssn: translation.subsystem.map(|ssn| Ssn(*ssn)),
                calling: translation.calling.as_ref().map(|text| pattern(text)).transpose()?,
            },
            change: TitleChange {
                digits,
                translation_type: translation.to_translation_type.map(|value| *value),
                plan: translation.to_plan.map(|value| *value),
                nature: translation.to_nature.map(|value| *value),
            },
            group: name,
        });
    }
    Translator::new(rules, groups).map_err(NoTranslator::Contradictory)
}
